"""What paths, directories and globs mean."""

from pathlib import Path

import pytest

from langdiff.corpora.files import edition_of, find_files, language_of
from langdiff.errors import DataError
from tests.helpers import refused

SUFFIXES = (".txt", ".txt.gz")


@pytest.fixture
def folder(tmp_path):
    for name in ("eng-a.txt", "deu-b.txt.gz", "README.md", ".hidden.txt"):
        (tmp_path / name).write_text("")
    (tmp_path / "folder.txt").mkdir()
    return tmp_path


def test_directory_gives_its_files_by_name(folder):
    assert find_files(folder, SUFFIXES, None) == {"deu-b": folder / "deu-b.txt.gz", "eng-a": folder / "eng-a.txt"}


def test_globs_and_lists_of_paths(folder):
    assert list(find_files(f"{folder}/*-*.txt*", SUFFIXES, None)) == ["deu-b", "eng-a"]
    assert list(find_files([folder / "eng-a.txt", f"{folder}/deu*"], SUFFIXES, None)) == ["deu-b", "eng-a"]
    assert list(find_files([folder, f"{folder}/*.gz"], SUFFIXES, None)) == ["deu-b", "eng-a"]  # one file, named twice


def test_globs_of_folders_mean_the_files_in_them(folder):
    (folder / "folder.txt" / "fra.txt").write_text("")
    assert list(find_files(f"{folder}/fol*", SUFFIXES, None)) == ["fra"]
    assert "fra" not in find_files(f"{folder}/*", SUFFIXES, None)  # where there are files, folders are not entered


@pytest.mark.parametrize("path", [None, 3, [None], ["a", 3]])
def test_what_is_no_path(path):
    refused(DataError, r"a path must be a str or Path, got (None|3)\.", find_files, path, SUFFIXES, None)


def test_a_name_with_brackets_is_a_name_first(tmp_path):
    (tmp_path / "a[1].txt").write_text("")
    assert list(find_files(tmp_path / "a[1].txt", SUFFIXES, None)) == ["a[1]"]


def test_relative_paths_become_absolute(folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert find_files("eng-a.txt", SUFFIXES, None)["eng-a"] == folder / "eng-a.txt"


def test_editions_in_the_order_asked_for(folder):
    assert list(find_files(folder, SUFFIXES, ["eng-a", "deu-b"])) == ["eng-a", "deu-b"]
    assert list(find_files(folder, SUFFIXES, "eng-a")) == ["eng-a"]


@pytest.mark.parametrize(
    ("path", "editions", "message"),
    [
        ("", ["fra"], r"no file for 1 edition\(s\): 'fra'. Found: 'deu-b', 'eng-a'"),
        ("", [], "editions is empty"),
        ("nothing.txt", None, r"nothing.txt: no such file or directory"),
        ("*.xml", None, r"\*.xml: no file matches this pattern"),
        ("x" * 5000, None, r"x: this path cannot be read: File name too long"),
        ("folder.txt", None, r"no file in this directory is called \*.txt \(or compressed\), or \*.zip, \*.tar"),
    ],
)
def test_what_is_not_there_is_named(folder, path, editions, message):
    refused(DataError, message, find_files, folder / path, SUFFIXES, editions)


def test_no_path_at_all():
    refused(DataError, "list of paths is empty", find_files, [], SUFFIXES, None)


def test_two_files_of_one_edition(folder):
    (folder / "eng-a.txt.gz").write_text("")
    with pytest.raises(DataError, match=r"two files are edition 'eng-a': .*eng-a.txt and .*eng-a.txt.gz"):
        find_files(folder, SUFFIXES, None)


@pytest.mark.parametrize(
    ("name", "edition"),
    [("a.txt", "a"), ("a.b.TXT.GZ", "a.b"), ("x.txt.txt", "x.txt"), ("a.tsv", "a"), (".txt", ".txt")],
)
def test_edition_of(name, edition):
    assert edition_of(Path("folder", name), SUFFIXES) == edition


@pytest.mark.parametrize(
    ("edition", "language"),
    [
        ("deu-luther", "deu"),
        ("deu", "deu"),
        ("deu-x-bible-a-v1", "deu"),
        ("deutsch", None),
        ("DEU-a", "deu"),
        ("de", "deu"),
        ("pt_BR", "por"),
        ("zh-TW", "zho"),
        ("xx-a", None),  # no code of ISO 639-1
        ("de1", None),
        ("", None),
    ],
)
def test_language_of(edition, language):
    assert language_of(edition) == language


def test_files_of_a_folder_that_are_not_read_are_named(folder, caplog):
    (folder / "fra-c.docx").write_text("")
    (folder / "metadata.csv").write_text("")
    assert len(find_files(folder, SUFFIXES, None)) == 2
    assert [record.getMessage() for record in caplog.records] == [
        f"{folder}: not read, as not called *.txt (or compressed): 'fra-c.docx'"
    ]
    caplog.clear()
    find_files([folder / "eng-a.txt"], SUFFIXES, None)
    assert not caplog.records
