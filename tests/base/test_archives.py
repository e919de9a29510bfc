"""Archives and compression that cannot be trusted."""

import bz2
import gzip
import itertools
import lzma
import struct
import tarfile
import warnings
import zipfile
from collections import deque
from io import BytesIO

import pytest

from langdiff.base import archives, io
from langdiff.base.archives import Member, members_of
from langdiff.base.io import read_lines
from langdiff.corpora import read_multitext
from langdiff.errors import DataError
from tests.helpers import refused

VERSE = b"01001001\tAm Anfang\n"
KIB = 1 << 10


def zipped(file, members, compression=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(file, "w", compression) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zipfile warns of names that are there twice
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content, compression)
    return file


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA])
def test_members_are_read_where_they_are(tmp_path, compression):
    members = [
        ("b/deu-a.txt", VERSE),
        ("eng-b.txt.gz", gzip.compress(VERSE)),
        ("notes.pdf", b""),
        ("._eng-b.txt", b"\0"),
    ]
    file = zipped(tmp_path / "bibles.zip", members, compression)
    bibles = read_multitext(file)
    assert list(bibles.editions) == ["deu-a", "eng-b"]
    assert bibles.text("eng-b").to_dict() == {"01001001": "Am Anfang"}
    assert bibles.edition_info.loc["deu-a", "path"] == f"{file}/b/deu-a.txt"
    assert [path.name for path in tmp_path.iterdir()] == ["bibles.zip"]  # nothing was unpacked


def test_an_archive_of_books_is_an_edition(tmp_path):
    books = [("a/GEN.usfm", "\\id GEN\n\\c 1\n\\v 1 x"), ("a/EXO.usfm", "\\id EXO\n\\c 1\n\\v 1 y")]
    zipped(tmp_path / "eng-web_usfm.zip", books)
    assert read_multitext(tmp_path).text("eng-web").to_dict() == {"02001001": "y", "01001001": "x"}


def test_archives_beside_the_files_they_hold_are_not_read_twice(tmp_path):
    (tmp_path / "deu-a.txt").write_bytes(VERSE)
    zipped(tmp_path / "all.zip", [("deu-a.txt", VERSE)])
    assert list(read_multitext(tmp_path).editions) == ["deu-a"]


@pytest.mark.parametrize(
    "name",
    [
        "../deu-a.txt",
        "a/../../deu-a.txt",
        "/etc/deu-a.txt",
        "C:/deu-a.txt",
        "a\\..\\deu-a.txt",
        "./deu-a.txt",
        "a//b.txt",
        "deu-\u202ea.txt",
    ],
)
def test_names_that_point_elsewhere_are_refused(tmp_path, name):
    zipped(tmp_path / "a.zip", [("eng-b.txt", VERSE), (name, VERSE)])
    with pytest.raises(DataError, match=r"a.zip: 1 member\(s\) have names that point outside of it"):
        read_multitext(tmp_path / "a.zip", format="pbc")


def test_names_there_twice_are_refused(tmp_path):
    zipped(tmp_path / "a.zip", [("eng-b.txt", VERSE), ("eng-b.txt", VERSE)])
    refused(DataError, r"a.zip: 1 name\(s\) are there twice: 'eng-b.txt'", members_of, tmp_path / "a.zip")


def test_archives_that_cannot_be_read(tmp_path):
    (tmp_path / "a.zip").write_bytes(b"PK no archive")
    refused(DataError, r"a.zip: cannot be read as a zip archive", read_multitext, tmp_path / "a.zip")
    zipped(tmp_path / "b.zip", [("notes.pdf", b"")])
    with pytest.raises(DataError, match=r"b.zip: no file in this archive is called \*.txt \(or compressed\)"):
        read_multitext(tmp_path / "b.zip", format="pbc")
    raw = bytearray(zipped(tmp_path / "c.zip", [("eng-b.txt", VERSE * 50)], zipfile.ZIP_STORED).read_bytes())
    raw[60] ^= 1
    (tmp_path / "c.zip").write_bytes(raw)
    with pytest.raises(DataError, match=r"c.zip/eng-b.txt: cannot be read( after line \d+)?: Bad CRC"):
        list(read_lines(Member(tmp_path / "c.zip", "eng-b.txt")))
    refused(DataError, r"c.zip/gone.txt: cannot be read", list, read_lines(Member(tmp_path / "c.zip", "gone.txt")))


def test_a_password_is_asked_for_in_vain(tmp_path):
    raw = bytearray(zipped(tmp_path / "a.zip", [("eng-b.txt", VERSE)]).read_bytes())
    central = raw.index(b"PK\x01\x02")
    for place in (6, central + 8):  # the flag "encrypted", in both headers
        raw[place : place + 2] = struct.pack("<H", 1)
    (tmp_path / "a.zip").write_bytes(raw)
    refused(DataError, r"eng-b.txt: cannot be read: .*password", read_multitext, tmp_path / "a.zip", format="pbc")


@pytest.mark.parametrize("ending", ["gz", "bz2", "xz", "zip"])
def test_bombs_are_refused_after_what_is_declared(tmp_path, ending, monkeypatch):
    monkeypatch.setattr("langdiff.base.archives.MAX_SMALL", 256 * KIB)
    line = b"0" * 1023 + b"\n"
    file = tmp_path / f"a.txt.{ending}"
    if ending == "zip":
        file = Member(zipped(tmp_path / "a.zip", [("a.txt", line * 4 * KIB)]), "a.txt")
    else:
        file.write_bytes({"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}[ending](line * 4 * KIB))
    counter = itertools.count()
    with pytest.raises(DataError, match=r"expands to more than [\d,]+ bytes, far more than text of its size"):
        deque(zip(read_lines(file), counter, strict=False), maxlen=0)
    assert 256 <= next(counter) < 4 * KIB  # read up to the limit, which a small file may always reach


def test_the_size_that_an_archive_tells_of_itself_is_not_believed(tmp_path, monkeypatch):
    monkeypatch.setattr("langdiff.base.archives.MAX_SMALL", 256 * KIB)
    file = zipped(tmp_path / "a.zip", [("a.txt", (b"0" * 1023 + b"\n") * 4 * KIB)])
    raw = bytearray(file.read_bytes())
    packed = raw.index(b"PK\x01\x02") + 20  # where the central directory says how long the compressed text is
    raw[packed : packed + 4] = struct.pack("<L", 1 << 30)
    file.write_bytes(raw)
    reason = "(it ends too early|Overlapped entries)"  # the second from newer versions of Python's own reader
    with pytest.raises(DataError, match=rf"a.zip/a.txt: cannot be read( after line \d+)?: {reason}"):
        deque(read_lines(Member(file, "a.txt")), maxlen=0)


def test_a_file_that_needs_more_memory_than_there_is_says_so(tmp_path, monkeypatch):
    def refuse(path):
        raise MemoryError  # as lzma does, without a message

    monkeypatch.setattr(io, "open_bytes", refuse)
    refused(DataError, r"a\.txt\.xz: cannot be read: not enough memory\.$", list, read_lines(tmp_path / "a.txt.xz"))


def test_a_bomb_of_one_line_is_not_held_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(io, "MAX_LINE", 64 * KIB)
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"0" * (1 << 20)))
    refused(DataError, r"line 1: longer than 0 MiB", list, read_lines(tmp_path / "a.txt.gz"))


def test_a_small_file_may_expand_at_any_ratio(tmp_path):
    raw = b"\n" * 40_000  # an edition of a few verses in the eBible corpus
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(raw))
    assert len(raw) > 100 * (tmp_path / "a.txt.gz").stat().st_size
    assert sum(1 for _ in read_lines(tmp_path / "a.txt.gz")) == 40_000


def tarred(file, members, mode="w"):
    with tarfile.open(file, mode) as archive:
        for name, content in members:
            about = tarfile.TarInfo(name)
            about.size = len(content)
            archive.addfile(about, BytesIO(content))
    return file


@pytest.mark.parametrize(("name", "mode"), [("a.tar", "w"), ("a.tgz", "w:gz"), ("a.tar.gz", "w:gz")])
@pytest.mark.parametrize("format", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_tar_archives_are_read_as_zip_archives_are(tmp_path, name, mode, format, monkeypatch):
    monkeypatch.setattr(tarfile, "DEFAULT_FORMAT", format)
    monkeypatch.setattr(tarfile.TarFile, "format", format)
    members = [
        ("./b/deu-a.txt", VERSE),
        ("eng-b.txt.gz", gzip.compress(VERSE)),
        ("é" * 40 + "/fra-c.txt", VERSE * 1),
        ("notes.pdf", b""),
        ("._eng-b.txt", b"\0"),
    ]
    bibles = read_multitext(tarred(tmp_path / name, members, mode))
    assert list(bibles.editions) == ["deu-a", "eng-b", "fra-c"]
    for edition in bibles.editions:
        assert bibles.text(edition).to_dict() == {"01001001": "Am Anfang"}
    assert bibles.edition_info.loc["deu-a", "path"] == f"{tmp_path}/{name}/b/deu-a.txt"
    assert [path.name for path in tmp_path.iterdir()] == [name]  # nothing was unpacked


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_in_tar_archives_are_refused(tmp_path, kind):
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        about = tarfile.TarInfo("deu-a.txt")
        about.type, about.linkname = kind, "/etc/passwd"
        archive.addfile(about)
    refused(DataError, r"'deu-a.txt' is a link, a device or a sparse file", read_multitext, tmp_path / "a.tar")


@pytest.mark.parametrize("name", ["../deu-a.txt", "/deu-a.txt", "a//deu-a.txt"])
def test_names_in_tar_archives_that_point_elsewhere_are_refused(tmp_path, name):
    refused(DataError, "names that point outside", members_of, tarred(tmp_path / "a.tar", [(name, VERSE)]))


def test_a_tar_archive_with_a_damaged_header_is_not_read_in_part(tmp_path):
    file = tarred(tmp_path / "a.tar", [("deu-a.txt", VERSE), ("eng-b.txt", VERSE)])
    raw = bytearray(file.read_bytes())
    raw[1024] ^= 1  # the first byte of the second header, at which tarfile would stop in silence
    file.write_bytes(raw)
    refused(DataError, "a header is damaged after 1 member", members_of, file)


@pytest.mark.parametrize("format", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_tar_archive_that_lost_its_end_is_refused(tmp_path, pack, format, monkeypatch):
    monkeypatch.setattr(tarfile.TarFile, "format", format)
    members = [("deu-a.txt", VERSE), ("é" * 60 + "/eng-b.txt", VERSE * 40), ("fra-c.txt", b"")]
    whole = tarred(tmp_path / "whole.tar", members).read_bytes()
    file = tmp_path / ("a.tar" if pack is bytes else "a.tgz")
    end = len(whole.rstrip(b"\0")) // 512 * 512 + 512  # after the last header
    for cut in range(0, end + 1, 512):
        file.write_bytes(pack(whole[:cut]))
        refused(DataError, r"cannot be read as a tar archive: .+\.", members_of, file)
    file.write_bytes(pack(whole[: end + 511]))
    refused(DataError, "it ends too early", members_of, file)
    for rest in (512, 1024, len(whole)):
        file.write_bytes(pack(whole[: end + rest]))
        assert len(members_of(file)) == 3
    for behind in (whole, bytes(1024) + b"x"):  # joined with itself, or with something else
        file.write_bytes(pack(whole + behind))
        refused(DataError, r"more data after its end, which comes after 3 member\(s\)", members_of, file)


def test_a_tar_archive_that_is_cut_off_or_expands_too_far_is_refused(tmp_path, monkeypatch):
    file = tarred(tmp_path / "a.tgz", [("deu-a.txt", VERSE * 10_000)], "w:gz")
    (tmp_path / "b.tgz").write_bytes(file.read_bytes()[:-20])
    refused(DataError, r"b.tgz: cannot be read as a tar archive", read_multitext, tmp_path / "b.tgz")
    monkeypatch.setattr(archives, "MAX_SMALL", 1 << 10)
    refused(DataError, r"a.tgz: expands to more than [0-9,]+ bytes", read_multitext, file)


def test_a_tar_archive_that_has_changed(tmp_path):
    file = tarred(tmp_path / "a.tar", [("deu-a.txt", VERSE)])
    bible = read_multitext(file)
    tarred(file, [("eng-another-name.txt", VERSE * 100)])
    refused(DataError, r"there is no deu-a.txt in the archive", bible.text, "deu-a")
