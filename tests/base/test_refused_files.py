"""Files that no reader opens, or that are refused before they are parsed: pipes, half characters, costly TOML."""

import importlib
import inspect
import os
import threading
import time
from contextlib import suppress

import pytest

import langdiff as ld
from langdiff.base.io import as_path, parse_json, strict_json
from langdiff.base.toml import parse_toml, read_toml
from langdiff.constructions.queries import read_queries
from langdiff.errors import ConfigError, DataError, LangdiffError
from langdiff.lm.checkpoint import read_model
from langdiff.parallelism.splitting import read_parts
from langdiff.parallelism.taggers.word_vectors import read_word_vectors
from langdiff.run import read_experiment
from tests.helpers import refused

PACKAGES = [
    "",
    *(f".{path.parent.name}" for path in sorted(importlib.resources.files("langdiff").glob("*/__init__.pyi"))),
]
ENDINGS = (".json", ".csv", ".zip")
OTHERS = {  # what the readers want beside a path
    "read_error_labels": {"sides": ("a", "b")},
    "read_gold": {"sentences": []},
    "read_models": {"editions": ["eng"]},
    "read_parts": {"documents": {}, "names": ["train"]},
    "read_word_vectors": {"words": ["a"]},
}


def readers():
    found = {}
    for package in PACKAGES:
        module = importlib.import_module(f"langdiff{package}")
        for name in module.__all__:
            if (name == "read" or name.startswith("read_")) and not inspect.isclass(getattr(module, name)):
                found.setdefault(getattr(module, name), f"{module.__name__}.{name}")
    found |= {read: read.__name__ for read in (read_model, read_parts, read_queries, read_word_vectors)}
    found.pop(ld.read_frame, None)  # takes no path
    return [pytest.param(function, id=name) for function, name in found.items()]


@pytest.fixture(scope="module")
def pipes(tmp_path_factory):
    """Yield pipes, and the list of those that were opened; whoever opens one reads its end at once."""
    folder, opened, done = tmp_path_factory.mktemp("pipes"), [], threading.Event()
    made = [folder / f"pipe{ending}" for ending in ENDINGS]
    for path in made:
        os.mkfifo(path)

    def watch():
        while not done.is_set():
            for path in made:
                with suppress(OSError):  # nobody reads
                    os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
                    opened.append(path.name)
            time.sleep(0.02)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    yield made, opened
    done.set()
    watcher.join()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("reader", readers())
def test_no_reader_opens_a_pipe(reader, pipes):
    made, opened = pipes
    opened.clear()
    for path in made:
        with pytest.raises(LangdiffError):
            reader(path, **OTHERS.get(reader.__name__, {}))
    time.sleep(0.05)
    assert opened == []


@pytest.mark.skipif(not os.path.isdir("/dev/shm"), reason="no memory file system")  # noqa: PTH112
def test_a_file_in_memory_is_a_file(tmp_path):
    path = as_path(f"/dev/shm/langdiff-{os.getpid()}.csv")
    try:
        path.write_text("intent,eng,deu\n1,10.0,12.0\n2,20.0,9.0\n")
        assert ld.read_surprisals(path).bits.shape == (2, 2)
    finally:
        path.unlink(missing_ok=True)


@pytest.mark.parametrize("device", ["/dev/null", "/dev/zero"])
def test_devices_are_refused(device):
    refused(DataError, "a device", as_path, device)


@pytest.mark.parametrize("parse", [parse_json, strict_json])
@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (r'"\ud83d\ude00 \\ud83d"', None),  # a pair; an escaped backslash
        (r'"\uD83D"', r"\\uD83D in line 1"),
        ('{"a": 1,\n' + r'"\udE00": 2}', r"\\udE00 in line 2"),
        (r'"\ud83d\ud83d\ude00"', r"\\ud83d"),
        (r'"\\\ude00"', r"\\ude00"),
        ("[" * 100_000, "nested"),
        ("9" * 5000, "digits"),
    ],
)
def test_json_holds_whole_characters(parse, text, wrong):
    if wrong is None:
        assert parse(text) == "😀 \\ud83d"
    else:
        refused(ValueError, wrong, parse, text)


def test_bytes_of_surrogates_are_no_json():
    refused(ValueError, "utf-8", parse_json, b'"\xed\xa0\x80"')


TOO_MUCH = {
    "digits": "seed = " + "9" * 5000,
    "key": "a." * 11 + "b = 1",
    "header": "[" + "a." * 11 + "b]",
    "spaces": "a . " * 11 + "b = 1",
    "quoted": "'a'.\"b\"." * 6 + "c = 1",
    "inline": "x = { y = 1, " + "a." * 11 + "b = 1 }",
    "line": "x = '" + "a" * 20_000 + "'",
    "size": "# comment\n" * 200_000,
    "nested": "x = " + "[" * 5_000 + "]" * 5_000,
    "bytes": b"name = '\xff'",
}


@pytest.mark.parametrize("read", [read_toml, read_experiment, ld.parallelism.read_settings, read_queries])
@pytest.mark.parametrize("name", TOO_MUCH)
def test_costly_toml_is_refused_before_it_is_parsed(read, name, tmp_path):
    path, content = tmp_path / "a.toml", TOO_MUCH[name]
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    before = time.process_time()
    refused((ConfigError, DataError), str(path), read, path)
    assert time.process_time() - before < 1


def test_dots_of_values_are_no_keys():
    text = "a.b.c = '1.2.3.4.5.6.7.8.9.10.11.12.13'\n# x.x.x.x.x.x.x.x.x.x.x.x.x = 1\nx = [1.5, 2.5]"
    assert parse_toml(text)["x"] == [1.5, 2.5]
