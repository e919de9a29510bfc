"""The process in which PyStan runs, and PyStan's cache of compiled programs."""

import asyncio
import importlib
import inspect
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from langdiff.regression.stan import worker as worker_module
from langdiff.regression.stan.posterior import program_path


@pytest.fixture(autouse=True)
def _noises_of_importing_pystan():
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import httpstan.models  # noqa: F401

        yield


def test_an_interrupted_compilation_is_done_again(tmp_path):
    half, done = tmp_path / "half", tmp_path / "done"
    half.mkdir()
    (half / "stan_services.so").write_bytes(b"half")
    done.mkdir()
    for name in worker_module.LAST_WRITTEN:
        (done / name).touch()
    for folder in (half, done, tmp_path / "never"):
        worker_module.remove_unfinished(folder)
    assert not half.exists()
    assert done.exists()


def test_a_changed_program_is_compiled_under_another_name():
    from httpstan.models import calculate_model_name

    content = program_path("2").read_text()
    assert calculate_model_name(content) != calculate_model_name(content + "\n// changed\n")


class FakeFit:
    """Draws as PyStan keeps them: quantities in column-major order, then draws, then chains."""

    num_chains, num_samples = 2, 3
    sample_and_sampler_param_names = ("lp__",)
    param_names, dims = ("x", "m", "nothing", "v"), ([], [2, 3], [0, 0], [2])

    def __init__(self):
        rng = np.random.default_rng(0)
        self.v, self.m = rng.normal(size=(2, 3, 2)), rng.normal(size=(2, 3, 2, 3))  # chain, draw, quantity
        self._draws = np.empty((1 + 1 + 6 + 2, 3, 2))
        for chain in range(2):
            for draw in range(3):
                matrix = self.m[chain, draw].ravel(order="F")
                self._draws[:, draw, chain] = [10 * chain + draw, -1.0, *matrix, *self.v[chain, draw]]


def test_draws_come_back_in_shape():
    fit = FakeFit()
    arrays = worker_module._draws(fit)
    np.testing.assert_array_equal(arrays["lp__"], [[0, 1, 2], [10, 11, 12]])
    np.testing.assert_array_equal(arrays["x"], np.full((2, 3), -1.0))
    np.testing.assert_array_equal(arrays["m"], fit.m)
    np.testing.assert_array_equal(arrays["v"], fit.v)
    assert arrays["nothing"].shape == (2, 3, 0, 0)


def test_messages_nobody_reads_are_dropped_and_the_others_kept():
    import gzip
    import zlib

    kept, dropped = (worker_module._Messages(level=1, wbits=zlib.MAX_WBITS | 16) for _ in range(2))
    draw = b'{"version":1,"topic":"sample","values":{"lp__":1}}\n' * 9
    stored = kept.compress(draw[:100]) + kept.compress(draw[100:]) + kept.flush()
    gone = dropped.compress(b'{"version":1,"topic":"diagnostic","values":{"lp__":1}}') + dropped.flush()
    assert gzip.decompress(stored + gone) == draw


def test_a_failure_is_written_in_a_line(tmp_path, monkeypatch):
    def fail(folder):
        raise RuntimeError("first\n\nsecond")

    monkeypatch.setattr(worker_module, "run", fail)
    monkeypatch.setattr("sys.argv", ["worker", str(tmp_path)])
    with pytest.raises(RuntimeError):
        worker_module.main()
    assert (tmp_path / "error.txt").read_text() == "RuntimeError: first second"


USES = {  # how PyStan uses the names that are replaced; elsewhere the replacement would do nothing
    "run_build_ext": "def run_build_ext(extensions: List[setuptools.Extension], build_lib: str) -> str:",
    "fit_path": "path = fit_path(name)",
    "subprocess": "subprocess.run(run_args, capture_output=True, timeout=1)",
    "numbers": "isinstance(value, numbers.Number)",
    "zlib": "zlib.compressobj, level=zlib.Z_BEST_SPEED, wbits=zlib.MAX_WBITS | 16",
    "aiohttp": "aiohttp.ClientSession()",
}


@pytest.mark.parametrize(("module", "name"), worker_module.REPLACED)
def test_what_is_replaced_inside_pystan_is_there_and_used_as_we_think(module, name):
    loaded = importlib.import_module(module)
    assert hasattr(loaded, name)
    assert USES[name] in inspect.getsource(loaded)


def test_every_name_that_is_replaced_is_listed(tmp_path):
    report = (
        "import importlib, sys\n"
        "from pathlib import Path\n"
        "from langdiff.regression.stan import worker as worker_module\n"
        "import warnings; warnings.simplefilter('ignore')\n"
        "modules = [importlib.import_module(module) for module, _ in worker_module.REPLACED]\n"
        "before = [dict(vars(module)) for module in modules]\n"
        "worker_module.import_pystan(Path(sys.argv[1]))\n"
        "changed = [(module.__name__, name) for module, old in zip(modules, before)\n"
        "           for name in old if vars(module)[name] is not old[name]]\n"
        "assert sorted(changed) == sorted(worker_module.REPLACED), changed\n"
    )
    subprocess.run([sys.executable, "-c", report, tmp_path], check=True)


def test_compiling_may_take_as_long_as_it_takes():
    import aiohttp

    common, stanc = SimpleNamespace(), SimpleNamespace()
    worker_module._wait_for_the_compiler(common, stanc)

    async def limit():
        async with common.aiohttp.ClientSession() as session:
            return session.timeout.total

    assert asyncio.run(limit()) is None
    assert common.aiohttp.web is aiohttp.web
    slow = [sys.executable, "-c", "import time; time.sleep(0.2); print('done')"]
    assert stanc.subprocess.run(slow, capture_output=True, timeout=0.001).stdout.strip() == b"done"


@pytest.mark.parametrize("error", [TimeoutError(), TimeoutError("late")])
def test_a_time_out_says_what_happened(error):
    line = worker_module._in_a_line(error)
    assert line.startswith("TimeoutError: ")
    assert "PyStan waited too long for the compiler or the chains" in line
    assert "\n" not in line


@pytest.mark.parametrize(("version", "compiled"), [((3, 12, 1), False), ((3, 13, 0), True)])
def test_the_algorithms_are_compiled_where_the_object_file_is_of_another_python(monkeypatch, version, compiled):
    built = []
    builder = SimpleNamespace(
        run_build_ext=lambda extensions, folder: built.append((*extensions, folder)) or "messages"
    )
    monkeypatch.setattr(worker_module, "sys", SimpleNamespace(version_info=version))
    worker_module._compile_services(builder)
    extension = SimpleNamespace(sources=["model.cpp"], extra_objects=["httpstan/stan_services.o"])
    assert builder.run_build_ext([extension], "lib") == "messages"
    assert built == [(extension, "lib")]
    given = (["model.cpp", "httpstan/stan_services.cpp"], []) if compiled else (["model.cpp"], extension.extra_objects)
    assert (extension.sources, extension.extra_objects) == given
    assert compiled != bool(extension.extra_objects)
