"""Reading lines of any compression; writing so that nothing is left half-written."""

import bz2
import errno
import gzip
import lzma
import os
import time
from functools import partial
from pathlib import Path
from unittest.mock import Mock

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import langdiff as ld
from langdiff.base import archives, io
from langdiff.base.io import (
    DEVICE,
    LockedError,
    atomic_path,
    is_locked,
    locked,
    read_blocks,
    read_lines,
    read_table,
    write_text,
)
from langdiff.constructions import read_gold, read_parses
from langdiff.discourse import read_discourse
from langdiff.errors import DataError, OutputError
from langdiff.experiments import read_origins
from langdiff.parallelism import Parallelism, make_document, read_parallelisms
from langdiff.parallelism.taggers.word_vectors import read_word_vectors
from langdiff.run import read_run
from langdiff.run.experiment_file import read_experiment
from langdiff.typology import read_tree, read_wals
from tests.helpers import refused

COMPRESS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


def write(tmp_path, content, ending=""):
    file = tmp_path / f"text.txt{ending}"
    file.write_bytes(COMPRESS[ending](content))
    return file


@pytest.mark.parametrize("ending", COMPRESS)
def test_lines(tmp_path, ending):
    content = "\ufeffa\r\nb\u2028c\x0b\x85d\n\n\ufeffe"
    file = write(tmp_path, content.encode(), ending)
    assert list(read_lines(file)) == [(1, "a"), (2, "b\u2028c\x0b\x85d"), (3, ""), (4, "\ufeffe")]


@given(
    st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n\r\0"), max_size=8)),
    st.sampled_from(list(COMPRESS)),
)
def test_lines_come_back(tmp_path_factory, lines, ending):
    lines = ["first", *lines]  # a first line may not begin with a byte order mark
    file = write(tmp_path_factory.mktemp("lines"), "".join(f"{line}\n" for line in lines).encode(), ending)
    assert list(read_lines(file)) == list(enumerate(lines, start=1))


@pytest.mark.parametrize("ending", COMPRESS)
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"ab\ncd\xc3\n", r"text.txt.*, line 2: not UTF-8 in byte 3 \(0xc3\)\. As Windows-1252"),
        (b"ab\n\xed\xa0\x80\n", r"line 2: not UTF-8 in byte 1"),  # half a surrogate pair
        (b"ab\nc\0d\n", r"text.txt.*, line 2: a NUL byte; this is a binary file"),
    ],
)
def test_what_is_no_text(tmp_path, content, message, ending):
    refused(DataError, message, list, read_lines(write(tmp_path, content, ending), errors="strict"))


def test_replacement(tmp_path):
    assert list(read_lines(write(tmp_path, b"a\xffb\n"), errors="replace")) == [(1, "a\ufffdb")]


def test_lines_that_are_no_text_are_told_and_marked(tmp_path):
    told = {}
    file = write(tmp_path, b"a\nb\xff\xfec\nd\0\0e\n\xe2\x82\nf")
    lines = dict(read_lines(file, on_fault=told.__setitem__))
    assert lines == {1: "a", 2: "b\ufdd0c", 3: "d\ufdd0e", 4: "\ufdd0", 5: "f"}
    assert {number: what.split(" (")[0].split(";")[0] for number, what in told.items()} == {
        2: "not UTF-8 in byte 2",
        3: "a NUL byte",
        4: "not UTF-8 in byte 1",
    }


@given(
    st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n\0"), max_size=30), max_size=30),
    st.integers(1, 40),
    st.booleans(),
)
def test_blocks_are_the_file(tmp_path_factory, lines, size, ends):
    content = "first\n" + "\n".join(lines) + "\n" * ends
    file = write(tmp_path_factory.mktemp("blocks"), content.encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(io, "BLOCK", size)
        blocks = list(read_blocks(file))
        numbered = list(read_lines(file))
    assert "".join(block.text for block in blocks) == content
    assert b"".join(block.raw for block in blocks) == content.encode()
    before = [sum(block.text.count("\n") for block in blocks[:k]) for k in range(len(blocks))]
    assert [block.first for block in blocks] == [1 + lines for lines in before]
    assert all(block.text.endswith("\n") for block in blocks[:-1])
    expected = [line.rstrip("\r") for line in content.removesuffix("\n").split("\n")]
    assert numbered == list(enumerate(expected, 1))


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz"])
def test_a_small_file_of_very_many_lines_is_refused_at_once(tmp_path, ending):
    file = write(tmp_path, b"\n" * (8 << 20), ending)
    assert file.stat().st_size < 10_000
    begin = time.process_time()
    refused(DataError, r"expands to more than 1,000,000 lines, far more than text of its size", list, read_lines(file))
    assert time.process_time() - begin < 3  # 17 s, once


def test_many_lines_in_a_large_file_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "MAX_FEW", 10)
    text = "".join(f"{number * number % 9973}\n" for number in range(2000)).encode()
    assert len(list(read_lines(write(tmp_path, text, ".gz")))) == 2000
    refused(DataError, "lines, far more", list, read_lines(write(tmp_path, b"\n" * 2000, ".gz")))


def test_pipes_and_devices_are_refused(tmp_path):
    os.mkfifo(tmp_path / "text.txt")
    for file in (tmp_path / "text.txt", type(tmp_path)("/dev/zero")):
        refused(DataError, "it is a pipe, a socket or a device", list, read_lines(file))
        refused(DataError, "it is a pipe, a socket or a device", read_table, file)


def test_tables_are_compressed_or_not(tmp_path):
    raw = '\ufeffa,b\r\n1,"x\ny"\r\n\r\n2,é\r\n'.encode()
    expected = ["a", "b"], [(3, ["1", "x\ny"]), (5, ["2", "é"])]
    for ending in COMPRESS:
        assert read_table(write(tmp_path, raw, ending)) == expected
    with pytest.raises(DataError, match=r"cannot be read as a table: in line 4 it is not UTF-8 \(the byte 0xe9"):
        read_table(write(tmp_path, b'a,b\n1,"x\ny"\nzwei,\xe9\n'))
    assert read_table(write(tmp_path, b"a,b\n1,\xe9\n"), errors="replace")[1] == [(2, ["1", "\ufffd"])]
    with pytest.raises(DataError, match=r"as a table: in line 2, ',' expected after '\"'\. A cell that begins"):
        read_table(write(tmp_path, b'a,b\n1,"x" y\n'))


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz"])
def test_damaged_archives(tmp_path, ending):
    whole = COMPRESS[ending]("".join(f"line {n * n}\n" for n in range(5000)).encode())
    file = tmp_path / f"text.txt{ending}"
    for damaged in (whole[: len(whole) // 2], b"no archive at all", whole[:20] + b"\x55" * 20 + whole[40:]):
        file.write_bytes(damaged)
        refused(DataError, rf"text.txt{ending}: cannot be read( after line \d+)?", list, read_lines(file))


def test_no_file_and_a_directory(tmp_path):
    refused(DataError, r"none.txt: cannot be read: No such file", list, read_lines(tmp_path / "none.txt"))
    refused(DataError, "cannot be read", list, read_lines(tmp_path))


def test_atomic_write_replaces_at_once(tmp_path):
    file = tmp_path / "new" / "folder" / "out.txt"
    with atomic_path(file) as temporary:
        temporary.write_text("first")
        assert not file.exists()
        assert temporary.parent == file.parent  # so that renaming is one step
    with atomic_path(file) as temporary:
        temporary.write_text("second")
        assert file.read_text() == "first"
    assert file.read_text() == "second"
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_nothing_is_left_of_a_failure(tmp_path, error):
    file = tmp_path / "out.txt"
    file.write_text("before")

    def fail():
        with atomic_path(file) as temporary:
            temporary.write_text("half")
            raise error

    with pytest.raises(error):
        fail()
    assert file.read_text() == "before"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EACCES])  # a full disk; Windows, if a program has the file open
def test_what_cannot_be_replaced(tmp_path, monkeypatch, code):
    monkeypatch.setattr(Path, "replace", Mock(side_effect=OSError(code, "for a reason")))
    with (
        pytest.raises(OutputError, match=r"out.txt: cannot be written: for a reason"),
        atomic_path(tmp_path / "out.txt") as half,
    ):
        half.write_text("half")
    assert list(tmp_path.iterdir()) == []


def test_errors_of_outputs_inside_keep_their_message(tmp_path):
    with pytest.raises(OutputError, match=r"^inner$"), atomic_path(tmp_path / "out.txt"):
        raise OutputError("inner")


def test_target_that_is_a_folder(tmp_path):
    (tmp_path / "out.txt").mkdir()
    refused(OutputError, r"out.txt: cannot be written", write_text, tmp_path / "out.txt", "x")
    assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]


@given(st.text(st.characters(codec="utf-8")))
def test_text_is_written_as_it_is(tmp_path_factory, text):
    file = tmp_path_factory.mktemp("text") / "out.txt"
    write_text(file, text)
    assert file.read_bytes() == text.encode()


def test_whether_a_folder_is_owned_may_be_asked_at_any_time(tmp_path):
    assert not is_locked(tmp_path)
    with locked(tmp_path, "at work."):
        assert is_locked(tmp_path)
        with pytest.raises(LockedError, match="another process is at work"), locked(tmp_path, "at work."):
            pass
    assert not is_locked(tmp_path)
    with locked(tmp_path, "at work."):  # asking left nothing behind
        pass


@pytest.mark.parametrize(
    "read",
    [
        ld.read,
        ld.read_outcomes,
        ld.read_surprisals,
        ld.read_treebank,
        partial(read_gold, sentences={}),
        partial(read_parses, shape="conllu"),
        partial(read_word_vectors, words=[]),
        read_discourse,
        read_experiment,
        read_origins,
        read_parallelisms,
        read_run,
        read_tree,
        read_wals,
    ],
)
@pytest.mark.parametrize("path", [None, 3, [3]])
def test_readers_say_what_is_no_path(read, path):
    kind = "list" if isinstance(path, list) else type(path).__name__
    refused(DataError, rf"^a path must be a str or Path, not ({kind}|int)\.$", read, path)


DEVICES = ["con", "AUX", "nul.a", "prn", "com1", "LPT9"]


@pytest.mark.parametrize("format", ["moses", "jsonl", "parquet", "brat", "spans"])
def test_no_file_has_the_name_of_a_device_of_windows(tmp_path, format):
    match format:
        case "brat":
            document = make_document("1", ["we", "sing", "they", "rest"], [Parallelism(((0, 2), (2, 4)))])
            ld.parallelism.write_parallelisms(dict.fromkeys(DEVICES, document), tmp_path, format=format)
            found = read_parallelisms(tmp_path)
        case "spans":
            tree = ld.discourse.parse_discourse("1 1 N span\n2 2 S cause\n", format="spans", document="1")
            ld.discourse.write_discourse(dict.fromkeys(DEVICES, tree), tmp_path, format=format)
            found = read_discourse(tmp_path)
        case _:
            ld.corpora.write_multitext(
                ld.read_frame(pd.DataFrame({name: ["a"] for name in DEVICES})), tmp_path, format=format
            )
            found = ld.read_multitext(tmp_path, format=format).editions
    assert sorted(found) == sorted(DEVICES)
    assert not any(DEVICE.fullmatch(path.name) for path in tmp_path.iterdir())
