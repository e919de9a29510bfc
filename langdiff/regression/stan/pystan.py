"""The PyStan engine: installs from PyPI alone, and compiles with g++."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from langdiff.base.progress import progress_bar
from langdiff.errors import MissingExtraError, SolverError
from langdiff.regression.stan.engine import Draws, Request

PERCENT = re.compile(r"Sampling:\s+(\d+)%")
REPORTS = 20  # of progress per chain; each costs PyStan a message


def check_pystan() -> None:
    """Refuse, before any work is done, if PyStan is not installed.

    Raises
    ------
    MissingExtraError
        With the command that installs it.
    """
    if find_spec("stan") is None or find_spec("httpstan") is None:
        raise MissingExtraError("PyStan is not installed: pip install 'langdiff[stan]'.")


def sample_pystan(request: Request) -> Draws:
    """Sample in a process of its own, so that a running event loop (Jupyter's) does not interfere.

    Raises
    ------
    MissingExtraError
        If PyStan is not installed.
    SolverError
        If PyStan fails; the message is PyStan's own, on one line.
    """
    check_pystan()
    with tempfile.TemporaryDirectory(prefix="langdiff-stan-") as name:
        folder = Path(name)
        (folder / "program.stan").write_text(request.program.read_text(encoding="utf-8"), encoding="utf-8")
        (folder / "data.json").write_text(json.dumps(request.data, default=_as_list), encoding="utf-8")
        (folder / "settings.json").write_text(json.dumps(_settings(request)), encoding="utf-8")
        code, last = _run_worker(folder, request)
        draws = folder / "draws.npz"
        if code or not draws.exists():
            error = folder / "error.txt"
            reason = error.read_text(encoding="utf-8") if error.exists() else f"it ended with code {code}: {last}"
            raise SolverError(f"PyStan could not sample {request.program.name}: {reason}")
        with np.load(draws, allow_pickle=False) as arrays:
            return dict(arrays)


def _settings(request: Request) -> dict[str, Any]:
    total = request.iter_warmup + request.iter_sampling
    settings: dict[str, Any] = {
        "seed": request.seed,
        "num_chains": request.chains,
        "num_warmup": request.iter_warmup,
        "num_samples": request.iter_sampling,
        "delta": request.target_accept,
        "max_depth": request.max_treedepth,
        "refresh": max(1, total // REPORTS),
        "init": [json.loads(json.dumps(init, default=_as_list)) for init in request.inits],
    }
    if request.whitened:  # warm-up adapts the step size alone: the metric is the identity already
        settings |= {"init_buffer": 0, "window": 0, "term_buffer": request.iter_warmup}
    return settings


def _run_worker(folder: Path, request: Request) -> tuple[int, str]:
    """Return exit code and last line of the worker, showing its progress."""
    command = [sys.executable, "-m", "langdiff.regression.stan.worker", str(folder)]
    package = Path(__file__).parents[3]
    path = os.pathsep.join([str(package), *filter(None, [os.environ.get("PYTHONPATH")])])
    process = subprocess.Popen(
        command,
        cwd=folder,  # the compiler leaves its intermediate files in the working directory
        env={**os.environ, "PYTHONPATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,  # Ctrl-C reaches us, and we end it
    )
    last = ""
    try:
        with progress_bar(progress=request.progress) as bar:
            task = bar.add_task("compiling", total=100, note="")
            for line in process.stderr or ():
                last = line.strip() or last
                if line.startswith("langdiff: sampling"):
                    bar.update(task, description="sampling")
                elif found := PERCENT.search(line):
                    bar.update(task, completed=int(found[1]))
            return process.wait(), last
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)  # the worker and its chains
            process.wait()
        if process.stderr:
            process.stderr.close()


def _as_list(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} cannot go to Stan")
