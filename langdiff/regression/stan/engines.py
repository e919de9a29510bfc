"""The engines that sample with Stan: CmdStan and PyStan, with one interface.

CmdStan, through CmdStanPy, is faster than PyStan, but comes from elsewhere than PyPI. PyStan installs from PyPI alone
and compiles with g++; what it compiles runs in processes of its own, `langdiff.regression.stan.worker`.
"""

import contextlib
import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from filelock import FileLock
from platformdirs import user_cache_path

from langdiff.base.progress import progress_bar
from langdiff.base.types import Floats, naming_extra
from langdiff.errors import ConfigError, MissingExtraError, SolverError, option

# quantity, or Stan's own such as "divergent__", to an array of shape (chains, draws, *shape of the quantity)
Draws = dict[str, Floats]

DIGITS = 9  # of every number that CmdStan writes
OF_DIFFICULTIES = ("difficulty", "intent_size", "dispersion", "size_distribution")
OF_OUTCOMES = (
    *("ability", "level", "slope", "spread", "loading", "deviation"),
    *("correlation", "cluster_spread", "cell_spread"),
)
PERCENT = re.compile(r"langdiff: chain (\d+): (\d+)%")
REPORTS = 20  # of progress per chain; each costs PyStan a message


@dataclass(frozen=True, kw_only=True)
class Request:
    """One run of Hamiltonian Monte Carlo.

    Attributes
    ----------
    program : Path
        The Stan program.
    whitened : bool
        Whether its posterior has scale 1, so that warm-up need adapt the step size only.
    data : dict
        Data of the program.
    inits : list of dict
        One start per chain, by parameter.
    chains, iter_warmup, iter_sampling, seed : int
        Numbers of chains and of draws per chain, in warm-up and after it, and the seed.
    target_accept : float
        Acceptance rate that the step size is adapted to.
    max_treedepth : int
        A trajectory has less than two to the power of this many steps.
    progress : bool, optional
        Whether to draw a progress bar; by default only if stderr is a terminal.
    """

    program: Path
    whitened: bool
    data: dict[str, Any]
    inits: list[dict[str, Any]] = field(default_factory=list)
    chains: int
    iter_warmup: int
    iter_sampling: int
    seed: int
    target_accept: float
    max_treedepth: int
    progress: bool | None = None


def why_no_cmdstan() -> str:
    """Return why CmdStanPy finds no CmdStan, and what to do; empty if it finds one."""
    try:
        import cmdstanpy

        cmdstanpy.cmdstan_path()
    except ValueError:
        named = os.environ.get("CMDSTAN")
        if not named:
            return "CmdStan is not installed: run `langdiff install-stan`"
        lacks = "has no makefile, so is not a CmdStan" if Path(named).is_dir() else "is not there"
        return f"CMDSTAN points to {named}, which {lacks}: correct that environment variable, or unset it"
    except ModuleNotFoundError:
        return "CmdStanPy is not installed: pip install 'langdiff[stan]'"
    return ""


def import_cmdstanpy() -> ModuleType:
    """Import CmdStanPy, with CmdStan behind it."""
    with naming_extra("engine 'cmdstan'"):
        import cmdstanpy
    if why := why_no_cmdstan():
        raise ConfigError(f"{why}, or use {option('engine', 'pystan')}.")
    return cmdstanpy


def compiled(program: Path) -> Any:
    """Return the compiled program, a ``cmdstanpy.CmdStanModel``.

    Compiled programs are kept in the user's cache, in a folder named by the content of the program and
    the CmdStan that compiled it, so that each is compiled once.
    """
    cmdstanpy = import_cmdstanpy()
    folder = cache_folder(program, cmdstanpy.cmdstan_path())
    folder.mkdir(parents=True, exist_ok=True)
    copy = folder / program.name
    with _talking_failures(f"compile {program.name}"), FileLock(folder / "lock"):
        if not copy.exists():
            copy.write_text(program.read_text(encoding="utf-8"), encoding="utf-8")
        return cmdstanpy.CmdStanModel(stan_file=copy)  # compiles unless the executable is newer than the copy


def cache_folder(program: Path, cmdstan: str) -> Path:
    """Return where a program compiled by a CmdStan is kept."""
    content = program.read_bytes() + b"\0" + str(Path(cmdstan).resolve()).encode()
    return user_cache_path("langdiff", appauthor=False) / "stan" / hashlib.sha256(content).hexdigest()[:16]


def sample_cmdstan(request: Request) -> Draws:
    """Sample with CmdStan."""
    model = compiled(request.program)
    adaptation = {}
    if request.whitened:  # warm-up adapts the step size alone: the metric is the identity already
        adaptation = {"adapt_init_phase": 0, "adapt_metric_window": 0, "adapt_step_size": request.iter_warmup}
    with tempfile.TemporaryDirectory(prefix="langdiff-stan-") as folder, _talking_failures(f"sample {model.name}"):
        fit = model.sample(
            data=request.data,
            chains=request.chains,
            parallel_chains=min(request.chains, os.cpu_count() or 1),
            seed=request.seed,
            inits=request.inits,
            iter_warmup=request.iter_warmup,
            iter_sampling=request.iter_sampling,
            max_treedepth=request.max_treedepth,
            adapt_delta=request.target_accept,
            **adaptation,
            output_dir=folder,
            sig_figs=DIGITS,
            show_progress=sys.stderr.isatty() if request.progress is None else request.progress,
        )
        shape = (request.chains, request.iter_sampling)
        stats = {name: values.reshape(shape[::-1]).T for name, values in fit.method_variables().items()}
        declared = fit.stan_variables()  # read before the folder goes
    return stats | {
        name: values.reshape(*shape, *values.shape[1:])  # chain after chain
        for name, values in declared.items()
        if name in OF_DIFFICULTIES + OF_OUTCOMES
    }


@contextlib.contextmanager
def _talking_failures(what: str) -> Iterator[None]:
    """Convert CmdStanPy's errors to one line, and keep its log off stderr."""
    import cmdstanpy

    try:
        with cmdstanpy.disable_logging():
            yield
    except (RuntimeError, ValueError, OSError) as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        raise SolverError(f"CmdStan could not {what}: {' '.join(lines)}") from error


def install_cmdstan(*, version: str | None = None, folder: Path | None = None) -> Path:
    """Download and build CmdStan; this takes minutes, a network and a C++ compiler."""
    import cmdstanpy

    advice = "check the network connection, and that a C++ compiler and make are installed."
    try:
        with contextlib.redirect_stdout(sys.stderr):
            done = cmdstanpy.install_cmdstan(version=version, dir=None if folder is None else str(folder), cores=2)
    except Exception as error:  # its own, urllib's, tarfile's, subprocess's
        raise SolverError(f"CmdStan could not be installed ({' '.join(str(error).split())}): {advice}") from error
    if not done:
        raise SolverError(f"CmdStan could not be installed: {advice} Its own messages are above.")
    return Path(cmdstanpy.cmdstan_path())


def check_pystan() -> None:
    """Check that PyStan is installed, before any work is done."""
    if find_spec("stan") is None or find_spec("httpstan") is None:
        raise MissingExtraError("PyStan is not installed: pip install 'langdiff[stan]'.")


def sample_pystan(request: Request) -> Draws:
    """Sample in a process of its own, so that a running event loop (Jupyter's) does not interfere."""
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
            task, done = bar.add_task("compiling", total=100, note=""), dict[str, int]()
            for line in process.stderr or ():
                last = line.strip() or last
                if line.startswith("langdiff: sampling"):
                    bar.update(task, description="sampling")
                elif found := PERCENT.search(line):
                    done[found[1]] = int(found[2])
                    bar.update(task, completed=sum(done.values()) / request.chains)
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
