"""Downloads from a server on this machine, which can break off, change its mind and lie."""

import hashlib
import io
import tarfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from langdiff.corpora import download, fetch
from langdiff.corpora.download import SOURCES, CorpusSource
from langdiff.errors import ConfigError, DataError, OutputError
from tests.helpers import refused

TEXT = bytes(range(256)) * 20_000  # 5 MB that do not compress to nothing in tar


def tarball(files, packed=9):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz", compresslevel=packed) as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return stream.getvalue()


@pytest.fixture(autouse=True)
def _plain(monkeypatch):
    """Let the server of the tests be asked."""
    monkeypatch.setattr(download, "_REFUSED", ())


@pytest.fixture
def server():
    """Serve ``state["body"]``; the first ``state["breaks"]`` answers end half-way."""
    state = {"body": tarball({"corpus/a.txt": b"one\n"}), "breaks": 0, "ranges": True, "etag": '"v1"', "asked": []}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            body, start = state["body"], 0
            state["asked"].append(self.headers.get("Range"))
            if self.path == "/gone":
                self.send_error(404)
                return
            wanted = self.headers.get("Range")
            if wanted and state["ranges"] and self.headers.get("If-Range") == state["etag"]:
                start = int(wanted.removeprefix("bytes=").rstrip("-"))
                if start >= len(body):
                    self.send_error(416)
                    return
                self.send_response(206)
                self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
            else:
                self.send_response(200)
            self.send_header("Content-Length", str(len(body) - start))
            if state["etag"]:
                self.send_header("ETag", state["etag"])
            self.end_headers()
            end = len(body)
            if state["breaks"]:
                state["breaks"] -= 1
                end = (start + end) // 2
            self.wfile.write(body[start:end])

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as httpd:
        threading.Thread(target=httpd.serve_forever, daemon=True).start()
        state["url"] = f"http://127.0.0.1:{httpd.server_port}/corpus.tar.gz"
        yield state
        httpd.shutdown()


def source(server, **other):
    known = {"title": "Test", "licence": "CC0", "home": "https://example.org", "how": "read corpus/*.txt"}
    sha256 = hashlib.sha256(server["body"]).hexdigest()
    return {"test": CorpusSource(**(known | {"url": server["url"], "sha256": sha256} | other))}


def test_a_corpus_is_downloaded_once_and_unpacked(server, tmp_path):
    folder = fetch("test", directory=tmp_path, sources=source(server))
    assert folder == tmp_path / "test"
    assert (folder / "corpus" / "a.txt").read_text() == "one\n"
    assert [file.name for file in tmp_path.iterdir()] == ["test"]  # neither archive nor parts are left
    assert fetch("test", directory=tmp_path, sources=source(server)) == folder
    assert server["asked"] == [None]


@pytest.mark.parametrize("breaks", [1, 3])
def test_what_broke_off_goes_on(server, tmp_path, breaks):
    server["body"], server["breaks"] = tarball({"a.bin": TEXT}, packed=0), breaks
    for _ in range(breaks):
        with pytest.raises(DataError, match=r"cannot be downloaded: .* bytes are kept; the same call resumes"):
            fetch("test", directory=tmp_path, sources=source(server))
    kept = (tmp_path / "test.part").stat().st_size
    assert 0 < kept < len(server["body"])
    assert not (tmp_path / "test").exists()
    folder = fetch("test", directory=tmp_path, sources=source(server))
    assert (folder / "a.bin").read_bytes() == TEXT
    assert server["asked"][-1] == f"bytes={kept}-"


@pytest.mark.parametrize(
    ("first", "change"),
    [
        ('"v1"', {"ranges": False}),
        ('"v1"', {"etag": '"v2"'}),
        ('"v1"', {"etag": None}),
        (None, {}),
        ('W/"v1"', {}),  # a weak tag, which stays when bytes change
    ],
)
def test_another_file_is_not_glued_to_the_part(server, tmp_path, first, change):
    server["body"], server["breaks"], server["etag"] = tarball({"a.bin": TEXT}, packed=0), 1, first
    with pytest.raises(DataError):
        fetch("test", directory=tmp_path, sources=source(server))
    server["body"] = tarball({"a.bin": TEXT[::-1]}, packed=0)
    server.update(change)
    folder = fetch("test", directory=tmp_path, sources=source(server))
    assert (folder / "a.bin").read_bytes() == TEXT[::-1]


def test_a_part_that_is_all_of_it_is_fetched_anew(server, tmp_path):
    (tmp_path / "test.part").write_bytes(b"x" * 10**6)
    (tmp_path / "test.part-tag").write_text('"v1"')
    assert fetch("test", directory=tmp_path, sources=source(server)).is_dir()
    assert server["asked"] == ["bytes=1000000-", None]


def test_a_wrong_checksum_is_refused(server, tmp_path):
    wrong = source(server, sha256="0" * 64)
    with pytest.raises(DataError, match=r"the download is not the archive that was expected \(SHA-256 0000"):
        fetch("test", directory=tmp_path, sources=wrong)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("published", "given", "message"),
    [
        (None, None, r"test: its publisher gives no checksum.*sha256"),
        (None, "abc", "a SHA-256 has 64"),
        ("0" * 64, "1" * 64, "that of test is 0000"),
    ],
)
def test_a_checksum_is_needed_and_is_one(server, tmp_path, published, given, message):
    with pytest.raises(ConfigError, match=message):
        fetch("test", directory=tmp_path / "in", sha256=given, sources=source(server, sha256=published))
    assert list(tmp_path.iterdir()) == []


def test_a_checksum_that_the_user_gives_is_checked(server, tmp_path):
    digest = hashlib.sha256(server["body"]).hexdigest()
    with pytest.raises(DataError, match="SHA-256 1111"):
        fetch("test", directory=tmp_path, sha256="1" * 64, sources=source(server, sha256=None))
    assert list(tmp_path.iterdir()) == []
    assert fetch("test", directory=tmp_path, sha256=digest.upper(), sources=source(server, sha256=None)).is_dir()


def test_plain_http_is_refused_also_after_a_redirect(server, tmp_path, monkeypatch):
    monkeypatch.setattr(download, "_REFUSED", ("http://",))
    refused(DataError, "not encrypted", fetch, "test", directory=tmp_path / "in", sources=source(server))
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(download, "_with_checksum", lambda given, *_: given)  # as a redirect leads there
    with pytest.raises(DataError, match="cannot be downloaded: No connection adapters"):
        fetch("test", directory=tmp_path / "in", sources=source(server))
    assert list((tmp_path / "in").iterdir()) == []


def test_a_bomb_leaves_nothing(server, tmp_path):
    server["body"] = tarball({"corpus/eng.txt": bytes(70 << 20)})
    refused(DataError, "expands to more than", fetch, "test", directory=tmp_path, sources=source(server))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"<html>not found</html>", "test.tar.gz: cannot be read as a tar archive"),
        (tarball({"../../evil.txt": b"x"}), "names that point outside of it"),
        (tarball({"a.bin": TEXT})[:-2000], "test.tar.gz: cannot be read as a tar archive"),
    ],
    ids=["no-archive", "outside", "truncated"],  # archives hold the time: processes that collect would differ
)
def test_what_cannot_be_unpacked_leaves_nothing(server, tmp_path, body, message):
    server["body"] = body
    refused(DataError, message, fetch, "test", directory=tmp_path / "in", sources=source(server))
    assert list((tmp_path / "in").iterdir()) == []
    assert [file.name for file in tmp_path.iterdir()] == ["in"]


def test_what_is_not_there(server, tmp_path):
    with pytest.raises(ConfigError, match=r"unknown corpus 'tset'; known are test. Did you mean 'test'\?"):
        fetch("tset", directory=tmp_path, sources=source(server))
    gone = source(server, url=server["url"].replace("corpus.tar.gz", "gone"))
    refused(DataError, r"/gone: cannot be downloaded: 404", fetch, "test", directory=tmp_path, sources=gone)
    refused(DataError, r"Parallel Bible Corpus .*: no download .* ask its authors", fetch, "pbc", directory=tmp_path)
    (tmp_path / "file").write_text("")
    refused(OutputError, "cannot be written to", fetch, "test", directory=tmp_path / "file", sources=source(server))


def test_every_known_corpus_says_how_to_get_it():
    for entry in SOURCES.values():
        assert entry.licence
        assert entry.how
        assert entry.home.startswith("https://")
        assert entry.url is None or (entry.url.startswith("https://") and entry.url.endswith(".tar.gz"))
        assert entry.sha256 is None or len(bytes.fromhex(entry.sha256)) == 32
