"""Kill whole runs at random moments: ``python benchmarks/kills.py [--kills N] [--seed S]``.

A small experiment (n-grams and a tiny network on synthetic editions) is run once without disturbance. Then ``langdiff
run`` is started again and again and killed (SIGKILL) after a time drawn between nothing and somewhat more than the
undisturbed run took; whenever a run ends by itself, its surprisals, fits and tables are compared with those of the
undisturbed run, bit by bit, and the next begins in an empty directory. Prints how many kills there were and where
they struck; the exit code is 1 if a file differs, or a run ends with an error.

Every run is a process forked from this one, which has imported all that a run needs: a kill while Python starts would
say nothing.
"""

import argparse
import json
import os
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

import numpy as np

from langdiff.cli import main as langdiff
from langdiff.run import run_experiment  # noqa: F401 imported for the children
from langdiff.run.report import write_pages  # noqa: F401

EXPERIMENT = """
name = "kills"
[corpus]
format = "synthetic"
n_intents = 90
n_languages = 2
[lm]
models = ["kneser-ney-2", "char-tiny"]
max_replaced = 1.0
"""
COMPARED = ("surprisals/*", "fits/*", "tables/*")


def start(experiment: Path, directory: Path) -> int:
    """Start the command in a process of its own; return the process."""
    process = os.fork()
    if process:
        return process
    code = 1
    try:
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        sys.argv = ["langdiff", "run", str(experiment), "--out", str(directory)]
        langdiff()
    except SystemExit as stop:
        code = int(stop.code or 0)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def ends(process: int, seconds: float) -> int | None:
    """Wait; return the exit code, or None if the process is still running then."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    return None


def contents(directory: Path) -> dict[str, bytes]:
    """Return the results of a run, by name of file."""
    files = sorted(path for pattern in COMPARED for path in directory.glob(pattern))
    return {str(path.relative_to(directory)): path.read_bytes() for path in files}


def where(directory: Path) -> str:
    """Return the stage that a run was in when it was killed."""
    log = directory / "run.jsonl"
    lines = log.read_text(encoding="utf-8").split("\n") if log.is_file() else []
    last = next((json.loads(line) for line in reversed(lines) if line.endswith("}")), {"event": "start"})
    return f"{last['event'].removeprefix('stage ')} {last.get('stage', '')}".strip()


def main() -> int:
    """Print the counts; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    rng = np.random.default_rng(arguments.seed)
    struck: Counter[str] = Counter()
    runs = failures = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        experiment = folder / "kills.toml"
        experiment.write_text(EXPERIMENT)
        began = time.monotonic()
        if ends(start(experiment, folder / "undisturbed"), 3600) != 0:
            raise RuntimeError("the undisturbed run failed")
        longest = 1.1 * (time.monotonic() - began)
        expected = contents(folder / "undisturbed")
        while struck.total() < arguments.kills:
            directory = folder / f"run-{runs}"
            process = start(experiment, directory)
            code = ends(process, rng.uniform(0, longest))
            if code is None:
                os.kill(process, signal.SIGKILL)
                os.waitpid(process, 0)
                struck[where(directory)] += 1
                print(f"kill {struck.total()}: {where(directory)}", file=sys.stderr, flush=True)
                continue
            runs += 1
            found = contents(directory)
            wrong = [file for file in expected.keys() | found.keys() if expected.get(file) != found.get(file)]
            failures += bool(code or wrong)
            print(f"run {runs}: exit code {code}, different: {wrong}", file=sys.stderr, flush=True)
    print(f"{struck.total()} kills, {runs} runs to the end, {failures} of them with other results or an error")
    for place, count in sorted(struck.items(), key=lambda item: -item[1]):
        print(f"{count:4}  {place}")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
