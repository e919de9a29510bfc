"""Kill whole runs at random moments: ``python benchmarks/kills.py [--kills N] [--seed S]``.

A small experiment (n-grams and a tiny network, three synthetic editions) is run once without disturbance. Then
``langdiff run`` is started again and again and killed (SIGKILL) after a time drawn between nothing and somewhat more
than the undisturbed run took; whenever a run ends by itself, its surprisals, fits and tables are compared with those of the
undisturbed run, bit by bit, and the next begins in an empty directory. Prints how many kills there were and where they
struck; the exit code is 1 if a file differs, or a run ends with an error.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

EXPERIMENT = """
name = "kills"
[corpus]
format = "synthetic"
n_intents = 240
n_languages = 3
[lm]
models = ["kneser-ney-3", "char-tiny"]
max_replaced = 0.5
workers = {workers}
"""
COMPARED = ("surprisals/*", "fits/*", "tables/*")


def command(experiment: Path, directory: Path) -> list[str]:
    """Return the command of a run."""
    return [sys.executable, "-m", "langdiff", "run", str(experiment), "--out", str(directory)]


def contents(directory: Path) -> dict[str, bytes]:
    """Return the results of a run, by name of file."""
    files = sorted(path for pattern in COMPARED for path in directory.glob(pattern))
    return {str(path.relative_to(directory)): path.read_bytes() for path in files}


def where(directory: Path) -> str:
    """Return the stage that a run was in."""
    log = directory / "run.jsonl"
    lines = log.read_text(encoding="utf-8").split("\n") if log.is_file() else []
    last = next((json.loads(line) for line in reversed(lines) if line.endswith("}")), {"event": "start"})
    if last["event"] in ("begin", "end"):
        return last["event"]
    return f"{last['event'].removeprefix('stage ')} {last.get('stage', '')}".strip()


def main() -> int:
    """Print the counts; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    rng = np.random.default_rng(arguments.seed)
    struck: Counter[str] = Counter()
    runs = failures = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        experiment = folder / "kills.toml"
        experiment.write_text(EXPERIMENT.format(workers=arguments.workers))
        start = time.monotonic()
        subprocess.run(command(experiment, folder / "undisturbed"), check=True, capture_output=True)
        longest = 1.2 * (time.monotonic() - start)
        expected = contents(folder / "undisturbed")
        while struck.total() < arguments.kills:
            directory = folder / f"run-{runs}"
            process = subprocess.Popen(
                command(experiment, directory), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
            )
            try:
                process.wait(rng.uniform(0, longest))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                struck[where(directory)] += 1
                continue
            finally:
                error = process.stderr.read().decode()
                process.stderr.close()
            runs += 1
            wrong = [file for file, content in expected.items() if contents(directory).get(file) != content]
            if process.returncode or wrong or contents(directory).keys() != expected.keys():
                failures += 1
                print(f"run {runs}: exit code {process.returncode}; different: {wrong}; {error}")
    print(f"{struck.total()} kills of {runs} runs (and one unfinished), {failures} with other results or an error")
    for place, count in sorted(struck.items(), key=lambda item: -item[1]):
        print(f"{count:4}  {place}")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
