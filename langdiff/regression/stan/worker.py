"""Sample with httpstan, PyStan's back end, in a separate process: ``python -m langdiff.regression.stan.worker FOLDER``.

httpstan compiles Stan programs to extension modules. PyStan reaches these through an HTTP server that passes all that
chains write through one process, for which the chains wait. Here every chain has a process, in which one thread
samples and another reads what it writes. The folder holds ``program.stan``, ``data.json`` and ``settings.json``;
``draws.npz`` comes back, or ``error.txt`` with one line.
"""

import asyncio
import json
import multiprocessing
import os
import select
import shutil
import socket
import subprocess
import sys
import warnings
from collections.abc import Mapping, Sequence
from multiprocessing.connection import wait
from multiprocessing.context import ForkProcess
from pathlib import Path
from threading import Thread
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
from filelock import FileLock

LAST_WRITTEN = ("stderr.log", "stanc.log")  # when a program is compiled, as PyStan does
METHOD = "hmc_nuts_diag_e_adapt"
WRITERS = 4  # connections of a chain: its log, starts, draws and diagnostics
CHUNK = 2**20  # bytes read at a time
# Names inside httpstan that `import_httpstan` replaces. Known to work: httpstan 4.13 on Python 3.11; 4.17 has the same
# algorithms with the same arguments.
REPLACED = (("httpstan.build_ext", "run_build_ext"), ("httpstan.compile", "subprocess"))


def import_httpstan() -> ModuleType:
    """Import httpstan without warnings about its own dependencies."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="pkg_resources is deprecated", category=UserWarning)
        warnings.filterwarnings("ignore", module=r"marshmallow|httpstan")
        import httpstan.build_ext
        import httpstan.cache
        import httpstan.compile
        import httpstan.models
        import httpstan.services.arguments
    _wait_for_the_compiler(httpstan.compile)
    _compile_services(httpstan.build_ext)
    module: ModuleType = httpstan
    return module


def _wait_for_the_compiler(stanc: Any) -> None:
    """Lift the limit of one second that translating a program to C++ has, too little on a busy machine."""

    def run(*arguments: Any, timeout: float | None = None, **settings: Any) -> Any:  # noqa: ARG001
        return subprocess.run(*arguments, check=False, **settings)

    stanc.subprocess = SimpleNamespace(**(vars(subprocess) | {"run": run}))


def _compile_services(builder: Any) -> None:
    """Have Stan's algorithms compiled with every program where httpstan's wheel has them for another Python.

    The wheel of httpstan 4.17 for Python 3.13 has an object file that was compiled for Python 3.10.
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
    """Remove what an interrupted compilation left, which would be taken for the program."""
    if model_folder.exists() and not all((model_folder / name).exists() for name in LAST_WRITTEN):
        shutil.rmtree(model_folder)


def compiled(httpstan: Any, program: str) -> Any:
    """Return the extension module of a program, from PyStan's cache or compiled into it."""
    name = httpstan.models.calculate_model_name(program)
    folder = httpstan.cache.model_directory(name)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.with_suffix(".lock")):  # whoever wants the same program waits
        remove_unfinished(folder)
        print("langdiff: building", file=sys.stderr, flush=True)  # noqa: T201
        if not folder.exists():
            _, messages = httpstan.compile.compile(program, f"model_{name.rpartition('/')[2]}")
            output = asyncio.run(httpstan.models.build_services_extension_module(program))
            httpstan.cache.dump_stanc_warnings(messages, name)
            httpstan.cache.dump_services_extension_module_compiler_output(output, name)
    return httpstan.models.import_services_extension_module(name)


def run(folder: Path) -> None:
    """Compile the program, or take it from PyStan's cache, and sample."""
    httpstan = import_httpstan()
    module = compiled(httpstan, (folder / "program.stan").read_text(encoding="utf-8"))
    data = json.loads((folder / "data.json").read_text(encoding="utf-8"))
    settings = json.loads((folder / "settings.json").read_text(encoding="utf-8"))
    arguments = httpstan.services.arguments
    names = arguments.function_arguments(METHOD, module)
    chains, starts = settings.pop("num_chains"), settings.pop("init")
    settings["random_seed"] = settings.pop("seed")
    for name in set(names) - {"socket_filename", "data", "init", "chain"} - settings.keys():
        settings[name] = arguments.lookup_default(arguments.Method.SAMPLE, name)
    quantities = dict(zip(module.get_param_names(data), module.get_dims(data), strict=True))
    print("langdiff: sampling", file=sys.stderr, flush=True)  # noqa: T201
    work = [
        {"data": data, "init": start, "chain": chain, **settings}
        for chain, start in enumerate(starts[:chains], start=1)
    ]
    _sample_all(module, work, folder)
    stats = json.loads((folder / "stats.json").read_text(encoding="utf-8"))
    flat = [np.load(folder / f"chain-{each['chain']}.npy", allow_pickle=False) for each in work]
    np.savez(folder / "draws.npz", allow_pickle=False, **_draws(np.array(flat), stats, quantities))


def _sample_all(module: Any, work: Sequence[Mapping[str, Any]], folder: Path) -> None:
    """Sample all chains, each in a process of its own, as many at a time as there are processors."""
    context = multiprocessing.get_context("fork")  # which inherits the data
    at_once = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    waiting, running = list(work), dict[int, ForkProcess]()
    while waiting or running:
        while waiting and len(running) < at_once:
            each = waiting.pop(0)
            process = context.Process(target=_sample_chain, args=(module, each, folder))
            process.start()
            running[each["chain"]] = process
        wait([process.sentinel for process in running.values()])
        for chain, process in list(running.items()):
            if process.exitcode is None:
                continue
            del running[chain]
            error = folder / f"error-{chain}.txt"
            if error.exists() or process.exitcode:
                for other in running.values():
                    other.terminate()
                ended = f"chain {chain} ended with code {process.exitcode}"
                raise RuntimeError(error.read_text(encoding="utf-8") if error.exists() else ended)


def _sample_chain(module: Any, arguments: Mapping[str, Any], folder: Path) -> None:
    """Sample one chain into a file of the folder, or write what went wrong."""
    chain = arguments["chain"]
    path = f"socket-{chain}"  # in the working directory, since addresses are short
    with socket.socket(socket.AF_UNIX, type=socket.SOCK_STREAM) as listener:
        listener.bind(path)
        listener.listen(WRITERS)
        reader = Messages(chain, arguments["num_warmup"] + arguments["num_samples"])
        thread = Thread(target=reader.read, args=(listener,))
        thread.start()
        try:
            code, failed = getattr(module, f"{METHOD}_wrapper")(path, **arguments), ""
        except Exception as error:
            code, failed = 1, str(error)
        if not failed:  # otherwise connections may never have been made
            thread.join()
    if code:
        (folder / f"error-{chain}.txt").write_text(" ".join([*reader.problems, failed]).strip(), encoding="utf-8")
        os._exit(0)  # the thread may wait for ever
    np.save(folder / f"chain-{chain}.npy", np.array(reader.draws), allow_pickle=False)
    if chain == 1:
        (folder / "stats.json").write_text(json.dumps(reader.names), encoding="utf-8")


class Messages:
    """Messages of one chain: lines of JSON on four connections.

    Parameters
    ----------
    chain, iterations : int
        Number of the chain, and of its iterations, for its progress.

    Attributes
    ----------
    draws : list of list of float
        Values of each draw.
    names : list of str
        Names of the first values, Stan's own.
    problems : list of str
        Errors and warnings of the log.
    """

    def __init__(self, chain: int, iterations: int) -> None:
        self.chain, self.iterations = chain, iterations
        self.draws: list[list[float]] = []
        self.names: list[str] = []
        self.problems: list[str] = []

    def read(self, listener: socket.socket) -> None:
        """Read until all four connections have been closed."""
        rest: dict[socket.socket, bytes] = {}
        unread: set[socket.socket] = set()  # diagnostics, which nobody needs
        closed = 0
        while closed < WRITERS:
            for ready in select.select([listener, *rest], [], [])[0]:
                if ready is listener:
                    rest[listener.accept()[0]] = b""
                    continue
                chunk = ready.recv(CHUNK)
                if not chunk:
                    closed += 1
                    ready.close()
                    del rest[ready]
                elif ready not in unread:
                    *lines, rest[ready] = (rest[ready] + chunk).split(b"\n")
                    if b'"topic":"diagnostic"' in (lines or [rest[ready]])[0][:100]:
                        unread.add(ready)
                        continue
                    for line in lines:
                        self.take(line)

    def take(self, line: bytes) -> None:
        """Store the content of one message."""
        message = json.loads(line)
        values = message["values"]
        if message["topic"] == "sample" and isinstance(values, dict):  # others tell the step size
            self.names = self.names or [name for name in values if name.endswith("__")]
            self.draws.append(list(values.values()))
        elif message["topic"] == "logger":
            kind, _, text = values[0].partition(":")
            if text.startswith("Iteration:"):
                done = 100 * int(text.split()[1]) // self.iterations
                print(f"langdiff: chain {self.chain}: {done}%", file=sys.stderr, flush=True)  # noqa: T201
            elif kind in ("error", "warn") and text.strip():
                self.problems.append(text.strip())


def _draws(
    flat: np.ndarray[Any, Any], stats: Sequence[str], quantities: Mapping[str, Sequence[int]]
) -> dict[str, np.ndarray[Any, Any]]:
    """Return arrays of shape (chains, draws, *shape of the quantity); Stan's own end in two underscores.

    Shapes: flat (chains, draws, numbers per draw).
    """
    arrays, start = {name: flat[:, :, place] for place, name in enumerate(stats)}, len(stats)
    for name, shape in quantities.items():
        size = int(np.prod(shape))
        values = flat[:, :, start : start + size].reshape(*flat.shape[:2], *reversed(shape))
        arrays[name] = values.transpose(0, 1, *range(len(shape) + 1, 1, -1))
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
    """Run, and put what went wrong into one line."""
    folder = Path(sys.argv[1])
    try:
        run(folder)
    except Exception as error:
        (folder / "error.txt").write_text(_in_a_line(error), encoding="utf-8")
        raise


if __name__ == "__main__":
    main()
