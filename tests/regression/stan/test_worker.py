"""The process in which PyStan runs, and PyStan's cache of compiled programs."""

import importlib
import inspect
import socket
import subprocess
import sys
from threading import Thread
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


def test_draws_come_back_in_shape():
    rng = np.random.default_rng(0)
    v, m = rng.normal(size=(2, 3, 2)), rng.normal(size=(2, 3, 2, 3))  # chain, draw, quantity
    flat = np.empty((2, 3, 1 + 1 + 6 + 2))  # matrices in column-major order
    for chain, draw in np.ndindex(2, 3):
        flat[chain, draw] = [10 * chain + draw, -1.0, *m[chain, draw].ravel(order="F"), *v[chain, draw]]
    arrays = worker_module._draws(flat, ["lp__"], {"x": [], "m": [2, 3], "nothing": [0, 0], "v": [2]})
    np.testing.assert_array_equal(arrays["lp__"], [[0, 1, 2], [10, 11, 12]])
    np.testing.assert_array_equal(arrays["x"], np.full((2, 3), -1.0))
    np.testing.assert_array_equal(arrays["m"], m)
    np.testing.assert_array_equal(arrays["v"], v)
    assert arrays["nothing"].shape == (2, 3, 0, 0)


def test_messages_are_read_in_whatever_pieces_they_come(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(worker_module, "CHUNK", 7)
    monkeypatch.chdir(tmp_path)
    draws = [b'{"version":1,"topic":"sample","values":{"lp__":-1.5,"x.1":%d,"x.2":NaN}}\n' % at for at in range(20)]
    sample = b'{"version":1,"topic":"sample","values":["Step size = 0.5"]}\n' + b"".join(draws)
    log = (
        b'{"version":1,"topic":"logger","values":["info:Iteration:  30 / 120 [ 25%]  (Warmup)"]}\n'
        b'{"version":1,"topic":"logger","values":["warn:beware"]}\n'
    )
    diagnostic = b'{"version":1,"topic":"diagnostic","values":{"lp__":-1.5}}\n' * 50
    reader = worker_module.Messages(2, 120)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        listener.listen(4)
        thread = Thread(target=reader.read, args=(listener,))
        thread.start()
        for text in (log, b"", sample, diagnostic):
            with socket.socket(socket.AF_UNIX) as writer:
                writer.connect("socket")
                writer.sendall(text)
        thread.join(20)
    assert not thread.is_alive()
    assert reader.names == ["lp__"]
    np.testing.assert_array_equal(reader.draws, [[-1.5, at, np.nan] for at in range(20)])
    assert reader.problems == ["beware"]
    assert "langdiff: chain 2: 25%" in capfd.readouterr().err


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
    "subprocess": "subprocess.run(run_args, capture_output=True, timeout=1)",
}


@pytest.mark.parametrize(("module", "name"), worker_module.REPLACED)
def test_what_is_replaced_inside_httpstan_is_there_and_used_as_we_think(module, name):
    loaded = importlib.import_module(module)
    assert hasattr(loaded, name)
    assert USES[name] in inspect.getsource(loaded)


def test_every_name_that_is_replaced_is_listed():
    report = (
        "import importlib, sys\n"
        "from langdiff.regression.stan import worker as worker_module\n"
        "import warnings; warnings.simplefilter('ignore')\n"
        "modules = [importlib.import_module(module) for module, _ in worker_module.REPLACED]\n"
        "before = [dict(vars(module)) for module in modules]\n"
        "worker_module.import_httpstan()\n"
        "changed = [(module.__name__, name) for module, old in zip(modules, before)\n"
        "           for name in old if vars(module)[name] is not old[name]]\n"
        "assert sorted(changed) == sorted(worker_module.REPLACED), changed\n"
    )
    subprocess.run([sys.executable, "-c", report], check=True)


def test_compiling_may_take_as_long_as_it_takes():
    stanc = SimpleNamespace()
    worker_module._wait_for_the_compiler(stanc)
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
