import hashlib
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langdiff.base.checksums import CHECKSUMS, DamageError, is_whole, read_checksums, seal, write_checksums
from langdiff.errors import OutputError
from tests.helpers import refused


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "a.bin").write_bytes(bytes(range(256)))
    (tmp_path / "b.txt").write_text("ä\n")
    write_checksums(tmp_path, ["inner/a.bin", "b.txt"])
    return tmp_path


def test_hashes_are_those_of_hashlib(folder):
    kept = read_checksums(folder)
    assert kept.files == {
        "b.txt": hashlib.sha256("ä\n".encode()).hexdigest(),
        "inner/a.bin": hashlib.sha256(bytes(range(256))).hexdigest(),
    }
    assert kept.damage() == {}
    assert kept.read("b.txt") == "ä\n".encode()


@pytest.mark.parametrize("name", ["inner/a.bin", "b.txt"])
def test_every_single_flipped_bit_is_seen(folder, name):
    path = folder / name
    content = path.read_bytes()
    kept = read_checksums(folder)
    for place in range(8 * len(content)):
        flipped = bytearray(content)
        flipped[place // 8] ^= 1 << place % 8
        path.write_bytes(flipped)
        assert list(kept.damage()) == [name]
    path.unlink()
    assert kept.damage() == {name: f"{path}: missing."}


def test_every_flipped_bit_of_the_record_is_seen_or_changes_nothing(folder):
    path = folder / CHECKSUMS
    content, files = path.read_bytes(), read_checksums(folder).files
    seen = 0
    for place in range(8 * len(content)):
        flipped = bytearray(content)
        flipped[place // 8] ^= 1 << place % 8
        path.write_bytes(flipped)
        try:
            read = read_checksums(folder).files
        except DamageError:
            seen += 1
        else:
            assert read == files  # a bit of white space
    assert seen > 0.9 * 8 * len(content)


@pytest.mark.parametrize("content", ["", "[]", "3", "null", '{"files": {}}', '{"format_version": 1, "files": {}}'])
def test_what_is_no_record(tmp_path, content):
    (tmp_path / CHECKSUMS).write_text(content)
    refused(DamageError, rf"{CHECKSUMS}: damaged", read_checksums, tmp_path)


def test_another_version(tmp_path):
    (tmp_path / CHECKSUMS).write_text(json.dumps(seal({"format_version": 99, "files": {}})))
    refused(DamageError, "of another version", read_checksums, tmp_path)


def test_known_hashes_are_kept_as_they_are(folder):
    known = read_checksums(folder).files
    (folder / "b.txt").write_text("changed")
    (folder / "c.txt").write_text("new")
    kept = write_checksums(folder, ["c.txt"], known)
    assert list(kept.files) == ["b.txt", "c.txt", "inner/a.bin"]
    assert list(kept.damage()) == ["b.txt"]


def test_files_that_are_not_there(folder):
    with pytest.raises(OutputError, match=re.escape("none.txt: cannot be read again: No such file")):
        write_checksums(folder, ["none.txt"])
    refused(DamageError, "not recorded", read_checksums(folder).read, "none.txt")


documents = st.dictionaries(
    st.text(max_size=5).filter(lambda name: name != "sha256"),
    st.one_of(st.integers(), st.floats(allow_nan=False), st.text(max_size=5), st.none(), st.lists(st.booleans())),
    max_size=4,
)


@given(documents, documents)
def test_a_seal_tells_documents_apart(document, other):
    sealed = json.loads(json.dumps(seal(document)))
    assert is_whole(sealed)
    same = json.dumps(document, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert is_whole(other | {"sha256": sealed["sha256"]}) == same
    assert is_whole(document)


@pytest.mark.parametrize("name", ["../victim.txt", "a/../../victim.txt", "/etc/hostname", "a//b", "c:/x", "a\\b"])
def test_a_record_that_names_files_elsewhere_is_refused(tmp_path, name):
    document = seal({"format_version": 1, "files": {name: "0" * 64}})
    (tmp_path / CHECKSUMS).write_text(json.dumps(document))
    refused(DamageError, "not a file of this folder", read_checksums, tmp_path)


def test_a_folder_in_the_place_of_a_file_is_damage(folder):
    kept = read_checksums(folder)
    (folder / "b.txt").unlink()
    (folder / "b.txt").mkdir()
    assert kept.damage() == {"b.txt": f"{folder / 'b.txt'}: is a directory."}
    (folder / CHECKSUMS).unlink()
    (folder / CHECKSUMS).mkdir()
    refused(DamageError, rf"{re.escape(str(folder / CHECKSUMS))}: is a directory\.", read_checksums, folder)
