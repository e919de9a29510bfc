"""Run PyStan on one program in a process of its own: ``python -m langdiff.regression.stan.worker FOLDER``.

PyStan runs an event loop, prints, forks, and warns when imported; here none of that meets the caller's
event loop, streams, threads or warning filters. The folder holds ``program.stan``, ``data.json`` and
``settings.json``; ``draws.npz`` comes back, or ``error.txt`` with one line.
"""

import json
import shutil
import subprocess
import sys
import warnings
import zlib
from functools import partial
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
from filelock import FileLock

LAST_WRITTEN = ("stderr.log", "stanc.log")  # when PyStan compiles a program
# Names inside PyStan that `import_pystan` replaces. Known to work: PyStan 3.10 with httpstan 4.13 on Python 3.11,
# PyStan 3.14 with httpstan 4.17 above.
REPLACED = (
    ("httpstan.build_ext", "run_build_ext"),
    ("httpstan.cache", "fit_path"),
    ("httpstan.compile", "subprocess"),
    ("httpstan.schemas", "numbers"),
    ("httpstan.services_stub", "zlib"),
    ("stan.common", "aiohttp"),
)


class _Messages:
    """A stream of one kind of Stan's messages, stored as it is, or dropped if nobody reads it."""

    def __init__(self, **settings: Any) -> None:
        self._stream = zlib.compressobj(**(settings | {"level": 0}))
        self._kept: bool | None = None

    def compress(self, message: bytes) -> bytes:
        if self._kept is None:
            self._kept = b'"topic":"diagnostic"' not in message[:100]
        return self._stream.compress(message) if self._kept else b""

    def flush(self) -> bytes:
        return self._stream.flush() if self._kept else b""


class _Uncompressed:
    """The part of zlib that PyStan uses, without compression, which takes half the time of sampling."""

    Z_BEST_SPEED, MAX_WBITS, compressobj = 0, zlib.MAX_WBITS, _Messages
    _Compress = _Messages


def import_pystan(folder: Path) -> ModuleType:
    """Import PyStan without warnings about its own dependencies, and keep its fits in `folder`.

    PyStan stores every fit with a seed in the user's cache for good; here fits vanish with the folder.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="pkg_resources is deprecated", category=UserWarning)
        warnings.filterwarnings("ignore", module=r"marshmallow|httpstan")
        import httpstan.build_ext
        import httpstan.cache
        import httpstan.compile
        import httpstan.schemas
        import httpstan.services_stub
        import stan
        import stan.common
    httpstan.services_stub.zlib = _Uncompressed
    # every number of the data is checked for every chain; against plain types that takes a tenth of the time
    httpstan.schemas.numbers = SimpleNamespace(Number=(int, float))
    httpstan.cache.fit_path = lambda name: folder / f"{name.rsplit('/', 1)[1]}.jsonlines.gz"
    _wait_for_the_compiler(stan.common, httpstan.compile)
    _compile_services(httpstan.build_ext)
    module: ModuleType = stan
    return module


def _wait_for_the_compiler(common: Any, stanc: Any) -> None:
    """Lift the limits of 5 minutes for compiling and 1 second for translating, too little on a busy machine.

    Parameters
    ----------
    common : module
        ``stan.common``, whose HTTP session has aiohttp's usual limit of 300 seconds.
    stanc : module
        ``httpstan.compile``, which gives Stan's compiler one second.
    """
    import aiohttp

    patient = partial(aiohttp.ClientSession, timeout=aiohttp.ClientTimeout(total=None))
    common.aiohttp = SimpleNamespace(**(vars(aiohttp) | {"ClientSession": patient}))

    def run(*arguments: Any, timeout: float | None = None, **settings: Any) -> Any:  # noqa: ARG001
        return subprocess.run(*arguments, check=False, **settings)

    stanc.subprocess = SimpleNamespace(**(vars(subprocess) | {"run": run}))


def _compile_services(builder: Any) -> None:
    """Compile Stan's algorithms with every program where httpstan's wheel has them for another Python.

    The wheel of httpstan 4.17 for Python 3.13 has an object file that was compiled for Python 3.10.

    Parameters
    ----------
    builder : module
        ``httpstan.build_ext``, which compiles the program and links it with the object file.
    """
    build = builder.run_build_ext

    def build_all(extensions: list[Any], build_lib: str) -> str:
        for extension in extensions if sys.version_info >= (3, 13) else ():
            extension.sources += [str(Path(name).with_suffix(".cpp")) for name in extension.extra_objects]
            extension.extra_objects = []
        messages: str = build(extensions, build_lib)
        return messages

    builder.run_build_ext = build_all


def remove_unfinished(model_folder: Path) -> None:
    """Remove the files of an interrupted compilation, on which PyStan would fail again."""
    if model_folder.exists() and not all((model_folder / name).exists() for name in LAST_WRITTEN):
        shutil.rmtree(model_folder)


def run(folder: Path) -> None:
    """Compile the program, or take it from PyStan's cache, and sample."""
    stan = import_pystan(folder)
    import httpstan.cache
    import httpstan.models

    program = (folder / "program.stan").read_text(encoding="utf-8")
    data = json.loads((folder / "data.json").read_text(encoding="utf-8"))
    settings = json.loads((folder / "settings.json").read_text(encoding="utf-8"))
    model_folder = httpstan.cache.model_directory(httpstan.models.calculate_model_name(program))
    model_folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(model_folder.with_suffix(".lock")):  # whoever wants the same program waits
        remove_unfinished(model_folder)
        print("langdiff: building", file=sys.stderr, flush=True)  # noqa: T201
        model = stan.build(program, data=data, random_seed=settings.pop("seed"))
    print("langdiff: sampling", file=sys.stderr, flush=True)  # noqa: T201
    fit = model.sample(**settings)
    if fit is None:  # PyStan's answer to an interrupt
        raise KeyboardInterrupt
    np.savez(folder / "draws.npz", allow_pickle=False, **_draws(fit))


def _draws(fit: Any) -> dict[str, np.ndarray[Any, Any]]:
    """Return arrays of shape (chains, draws, *shape of the quantity); Stan's own end in two underscores."""
    chains, draws = fit.num_chains, fit.num_samples
    flat = fit._draws  # (numbers per draw, draws, chains), quantities in column-major order
    arrays, start = {}, len(fit.sample_and_sampler_param_names)
    for row, name in enumerate(fit.sample_and_sampler_param_names):
        arrays[name] = flat[row].T
    for name, shape in zip(fit.param_names, fit.dims, strict=True):
        size = int(np.prod(shape))
        values = flat[start : start + size].transpose(2, 1, 0)
        arrays[name] = values.reshape(chains, draws, *reversed(shape)).transpose(0, 1, *range(len(shape) + 1, 1, -1))
        start += size
    return arrays


def _in_a_line(error: Exception) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    if isinstance(error, TimeoutError):  # most say nothing themselves
        lines.append(
            "PyStan waited too long for the compiler or the chains. If the machine is busy, run it again later."
        )
    return f"{type(error).__name__}: {' '.join(lines)}"


def main() -> None:
    """Run the program and write any error as one line."""
    folder = Path(sys.argv[1])
    try:
        run(folder)
    except Exception as error:
        (folder / "error.txt").write_text(_in_a_line(error), encoding="utf-8")
        raise


if __name__ == "__main__":
    main()
