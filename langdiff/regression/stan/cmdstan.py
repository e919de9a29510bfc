"""The CmdStan engine, through CmdStanPy: faster than PyStan, but CmdStan comes from elsewhere than PyPI."""

import contextlib
import hashlib
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from filelock import FileLock
from platformdirs import user_cache_path

from langdiff.errors import ConfigError, SolverError
from langdiff.regression.stan.engine import Draws, Request

DIGITS = 9  # of every number that CmdStan writes
QUANTITIES = ("difficulty", "intent_size", "dispersion", "size_distribution", "log_lik", "bits")
OF_OUTCOMES = (
    *("ability", "level", "slope", "spread", "loading", "deviation"),
    *("correlation", "cluster_spread", "cell_spread"),
)


def why_no_cmdstan() -> str:
    """Return why CmdStanPy finds no CmdStan, and what to do; empty if it finds one."""
    import cmdstanpy

    try:
        cmdstanpy.cmdstan_path()
    except ValueError:
        named = os.environ.get("CMDSTAN")
        if not named:
            return "CmdStan is not installed: run `langdiff install-stan`"
        lacks = "has no makefile, so is not a CmdStan" if Path(named).is_dir() else "is not there"
        return f"CMDSTAN points to {named}, which {lacks}: correct that environment variable, or unset it"
    return ""


def cmdstan_is_installed() -> bool:
    """Tell whether CmdStanPy finds CmdStan."""
    return not why_no_cmdstan()


def import_cmdstanpy() -> ModuleType:
    """Import CmdStanPy, with CmdStan behind it.

    Raises
    ------
    ConfigError
        If CmdStan is not installed, or the environment variable CMDSTAN points to where it is not.
    """
    import cmdstanpy

    if why := why_no_cmdstan():
        raise ConfigError(f"{why}, or use engine='pystan'.")
    module: ModuleType = cmdstanpy
    return module


def compiled(program: Path) -> Any:
    """Return the compiled program, a ``cmdstanpy.CmdStanModel``.

    Compiled programs are kept in the user's cache, in a folder named by the content of the program and
    the CmdStan that compiled it, so that each is compiled once.

    Raises
    ------
    ConfigError
        If CmdStan is not installed.
    SolverError
        If the program cannot be compiled.
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
    """Sample with CmdStan.

    Raises
    ------
    ConfigError
        If CmdStan is not installed.
    SolverError
        If CmdStan fails; the message is CmdStan's own, on one line.
    """
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
        if name in QUANTITIES + OF_OUTCOMES
    }


@contextlib.contextmanager
def _talking_failures(what: str) -> Iterator[None]:
    """Turn CmdStanPy's errors into one line, and keep its log off stderr."""
    import cmdstanpy

    try:
        with cmdstanpy.disable_logging():
            yield
    except (RuntimeError, ValueError, OSError) as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        raise SolverError(f"CmdStan could not {what}: {' '.join(lines)}") from error


def install_cmdstan(*, version: str | None = None, folder: Path | None = None, cores: int = 1) -> Path:
    """Download and build CmdStan; this takes minutes, a network and a C++ compiler.

    Parameters
    ----------
    version : str, optional
        Release, such as ``"2.35.0"``; by default the latest.
    folder : Path, optional
        Directory to install to; by default where CmdStanPy looks for it.
    cores : int
        Number of processes to build with.

    Returns
    -------
    Path
        Directory of the installed CmdStan.

    Raises
    ------
    SolverError
        If it cannot be downloaded or built.
    """
    import cmdstanpy

    advice = "check the network connection, and that a C++ compiler and make are installed."
    try:
        with contextlib.redirect_stdout(sys.stderr):
            done = cmdstanpy.install_cmdstan(version=version, dir=None if folder is None else str(folder), cores=cores)
    except Exception as error:  # its own, urllib's, tarfile's, subprocess's
        raise SolverError(f"CmdStan could not be installed ({' '.join(str(error).split())}): {advice}") from error
    if not done:
        raise SolverError(f"CmdStan could not be installed: {advice} Its own messages are above.")
    return Path(cmdstanpy.cmdstan_path())
