"""Files elsewhere, from stores in memory and a server on this machine; nothing asks the network."""

import hashlib
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import fsspec
import pytest

import langdiff as ld
from langdiff.base import addresses, remote
from langdiff.base.addresses import address_of
from langdiff.base.io import as_path
from langdiff.errors import ConfigError, DataError, LangdiffWarning, MissingExtraError
from langdiff.run.directory import hash_editions
from langdiff.run.experiment_file import read_experiment
from tests.helpers import refused

DEU, ENG = b"01001001\teins\n01001002\tzwei\n", b"01001001\tone\n01001002\ttwo\n"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """Keep copies in a folder of the test, and take addresses of the stores of tests."""
    monkeypatch.setattr(remote, "user_cache_path", lambda *_, **__: tmp_path / "cache")
    monkeypatch.setattr(addresses, "PROTOCOLS", ("https", "hf", "memory", "http"))
    return tmp_path / "cache"


@pytest.fixture
def memory():
    """Return an empty store in memory."""
    store = fsspec.filesystem("memory")
    store.rm("/", recursive=True) if store.ls("/") else None
    store.pipe({"/bibles/deu-a.txt": DEU, "/bibles/eng-b.txt": ENG})
    yield store
    store.rm("/", recursive=True)


@pytest.fixture
def server(tmp_path):
    """Serve a folder, and return it with its address and the paths that were asked for."""
    folder = tmp_path / "served"
    folder.mkdir()
    asked = []

    class Handler(SimpleHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            super().do_GET()

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder))) as made:
        threading.Thread(target=made.serve_forever, daemon=True).start()
        yield folder, f"http://127.0.0.1:{made.server_address[1]}", asked
        made.shutdown()


def test_texts_of_a_glob_are_those_of_the_files_with_their_addresses_and_hashes(memory):
    found = ld.read_multitext("memory://bibles/*.txt")
    assert found.to_frame().to_dict("list") == {"deu-a": ["eins", "zwei"], "eng-b": ["one", "two"]}
    info = found.edition_info
    assert list(info["path"]) == ["memory://bibles/deu-a.txt", "memory://bibles/eng-b.txt"]
    assert list(info["sha256"]) == [hashlib.sha256(text).hexdigest() for text in (DEU, ENG)]
    assert hash_editions(found) == dict(info["sha256"])


def test_lists_and_mappings_may_mix_addresses_with_paths(memory, tmp_path):
    (tmp_path / "fra-c.txt").write_bytes(DEU)
    found = ld.read_multitext([tmp_path / "fra-c.txt", "memory://bibles/deu-a.txt"])
    assert set(found.editions) == {"fra-c", "deu-a"}
    assert "sha256" in found.edition_info
    named = ld.read_multitext({"x": "memory://bibles/deu-a.txt", "y": tmp_path / "fra-c.txt"})
    assert list(named.editions) == ["x", "y"]
    refused(DataError, "2 files match; name one", ld.read_multitext, {"x": "memory://bibles/*.txt"})


def test_a_file_of_the_web_is_asked_for_once_until_it_changes(server):
    folder, address, asked = server
    (folder / "s.csv").write_text("intent,eng,deu\n1,10.0,12.0\n2,20.0,21.5\n")
    first = ld.read_surprisals(f"{address}/s.csv")
    assert first.bits.to_numpy().tolist() == [[10, 12], [20, 21.5]]
    ld.read_surprisals(f"{address}/s.csv")
    assert len(asked) == 1
    (folder / "s.csv").write_text("intent,eng,deu\n1,10.0,12.0\n2,20.0,21.25\n")
    assert ld.read_surprisals(f"{address}/s.csv").bits.iloc[1, 1] == 21.25
    assert len(asked) == 2


def test_without_its_store_the_copy_is_read_with_a_note_of_its_date(server, monkeypatch):
    folder, address, _ = server
    (folder / "o.csv").write_text("item,system,successes\na,x,1\na,y,0\nb,x,0\nb,y,1\n")
    before = ld.read_outcomes(f"{address}/o.csv")

    def fail(*_, **__):
        raise ConnectionError("no network")

    monkeypatch.setattr(remote, "_marks", fail)
    with pytest.warns(LangdiffWarning, match=r"no network\); the copy of \d{4}-\d\d-\d\d is read"):
        after = ld.read_outcomes(f"{address}/o.csv")
    assert after.to_frame().equals(before.to_frame())
    refused(DataError, r"no network.*no copy of it is in the cache", ld.read_outcomes, f"{address}/other.csv")


def test_what_breaks_off_leaves_no_file(memory, cache, monkeypatch):
    def broken(self, source, target, **_):
        Path(target).write_bytes(b"half")
        raise ConnectionError("broke off")

    monkeypatch.setattr(type(memory), "get_file", broken)
    refused(DataError, "broke off", ld.read_multitext, "memory://bibles/*.txt")
    assert not [file for file in cache.rglob("*") if file.suffix in (".txt", ".part")]


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("ftp://example.org/a.txt", "ftp:// are not read"),
        ("file:///etc/passwd", "file:// are not read"),
        ("simplecache::https://example.org/a.txt", "chains of addresses"),
        ("https://u:secret@example.org/a.txt", "user's name or password"),
    ],
)
@pytest.mark.parametrize("kind", [str, Path])
def test_other_addresses_are_refused_by_name(address, message, kind):
    with pytest.raises(ConfigError, match=message) as caught:
        ld.read_multitext(kind(address))
    assert "secret" not in str(caught.value)


def test_plain_http_is_refused(monkeypatch):
    monkeypatch.undo()
    refused(ConfigError, "http:// are not read, only https://", ld.read_surprisals, "http://example.org/a.csv")


def test_paths_of_this_machine_are_no_addresses(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "odd:").mkdir()
    (tmp_path / "odd:" / "a").touch()
    assert address_of(Path("odd:/a")) is None
    assert address_of("C:/texts/a.txt") is None
    assert address_of(Path("C:/texts/a.txt")) is None


@pytest.mark.parametrize("kind", [str, Path])
def test_caches_runs_and_files_to_be_written_are_on_this_machine(kind):
    refused(ConfigError, "must be a path of this machine", as_path, kind("https://example.org/run"))


def test_folders_and_patterns_without_a_match_are_told(memory):
    with pytest.raises(DataError, match=r"is a folder; name its files by a pattern, such as memory://bibles/\*"):
        ld.read_multitext("memory://bibles")
    refused(DataError, "no file matches", ld.read_multitext, "memory://bibles/*.xml")


def test_a_missing_package_is_named(monkeypatch):
    def fail(*_, **__):
        raise ImportError

    monkeypatch.setattr(fsspec, "filesystem", fail)
    with pytest.raises(MissingExtraError, match=r"pip install 'langdiff\[remote\]' huggingface_hub"):
        ld.read_multitext("hf://datasets/a/b/c.txt")


def test_an_experiment_file_asks_for_nothing_unless_allowed(memory, tmp_path):
    file = tmp_path / "e.toml"
    file.write_text('name = "e"\n[corpus]\nformat = "pbc"\npath = "memory://bibles/*.txt"\n')
    refused(ConfigError, "is an address of the network", read_experiment, file)
    corpus = read_experiment(file, remote=True).corpus
    assert set(ld.read_multitext(corpus.path, format="pbc").edition_info["path"]) == {
        "memory://bibles/deu-a.txt",
        "memory://bibles/eng-b.txt",
    }
