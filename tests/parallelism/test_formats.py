"""Every format gives back what was written, and what its makers meant; pyrallelism reads the exchange formats."""

import gzip
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyrallelism.primitives.loading.instantiations import TSVLoader, XMLLoader

from langdiff.errors import ConfigError, DataError, LangdiffWarning
from langdiff.parallelism import Parallelism, Section, make_document, read_parallelisms, write_parallelisms
from langdiff.parallelism.branches import split_words
from tests.helpers import refused

FORMATS = ["brat", "text-xml", "word-xml", "essay-xml", "tsv"]
WORDS = ["uenit", ",", "uidit", "et", "uicit", ";", "non", "fugit", ",", "non", "fuit", "&", "abest", "."]
BRAT_TEXT = "<7 1>\nVenit, uidit.\nUicit!\n<7 2>\nNon fugit non\nfuit; abest\n"
BRAT = (
    "T1\tParallelArm 6 12\tVenit,\nT2\tParallelArm 13 19\tuidit.\nR1\tParallel Arg1:T1 Arg2:T2\t\n"
    "T3\tParallelArm 20 26\tUicit!\nR2\tParallelism Arg1:T3 Arg2:T2\t\n"
    "T4\tChiasmA 33 42\tNon fugit\nT5\tChiasmB 43 46;47 52\tnon fuit;\nR3\tChiasm Arg1:T5 Arg2:T4\n"
    "#1\tAnnotatorNotes T1\tunclear\n"
)
TEXT_XML = """<?xml version="1.0" ?>
<sermon id="7">
 <section id="1"><parallelism id="2" part="1">Deus <parallelism id="1" part="1">dedit</parallelism>,
 <parallelism id="1" part="2">tulit.</parallelism></parallelism> <parallelism id="2" part="2">homo mansit</parallelism>
 &amp; cetera</section>
</sermon>
"""
ESSAY = """<doc><para id="4"><sent id="0" cont="ab"><word id="0" parallelism_id_1="0" branch_id_1="1">a</word>
<word id="1" cont="b" pos="n"><arg id="0"/></word></sent></para>
<para id="5"><sent id="0" cont="c"><word id="0" parallelism_id_1="0" branch_id_1="2">c</word></sent></para></doc>
"""


def branches(document):
    return [one.branches for one in document.parallelisms]


@st.composite
def documents(draw):
    """Draw a document of two sections and flat or nested parallelisms, none across the sections."""
    first, second = draw(st.integers(1, 12)), draw(st.integers(1, 12))
    cuts = sorted(draw(st.sets(st.integers(0, first + second), max_size=8)) | {0, first, first + second})
    spans = [(start, end) for start, end in pairwise(cuts) if draw(st.booleans())]
    outer = [Parallelism(tuple(spans[place : place + 2])) for place in range(0, len(spans) - 1, 2)]
    inner = [
        Parallelism(((start, start + 1), (start + 1, end)))
        for one in outer
        for start, end in one.branches[:1]
        if end - start > 2 and draw(st.booleans())
    ]
    tokens = [draw(st.sampled_from(["a", "uir", "好", "x2", "й"])) for _ in range(first + second)]
    sections = [Section("1", 0, first), Section("2", first, first + second)]
    return make_document("7", tokens, outer + inner, sections)


@pytest.mark.parametrize("format", FORMATS)
@given(document=documents())
def test_what_is_written_is_read(tmp_path_factory, format, document):
    folder = tmp_path_factory.mktemp("written")
    write_parallelisms({"7": document}, folder, format=format)
    again = read_parallelisms(folder)
    assert list(again) == ["7"]
    assert again["7"].tokens == document.tokens
    assert branches(again["7"]) == branches(document)
    if format != "tsv":  # which has no sections
        assert again["7"].sections == document.sections


def test_brat(tmp_path):
    (tmp_path / "7.txt").write_text(BRAT_TEXT)
    (tmp_path / "7.ann").write_text(BRAT)
    for source in (tmp_path, tmp_path / "7.txt", tmp_path / "7.ann"):
        document = read_parallelisms(source)["7"]
        assert " ".join(document.tokens) == "venit , uidit . uicit ! non fugit non fuit ; abest"
        assert document.parallelisms == (
            Parallelism(((0, 1), (2, 3), (4, 5)), "synchystic"),  # joined by way of T2
            Parallelism(((6, 8), (8, 10)), "chiastic"),  # two fragments; punctuation moved out
        )
        assert document.sections == (Section("1", 0, 6), Section("2", 6, 12))


def test_text_xml(tmp_path):
    (tmp_path / "7_annotated.xml").write_text(TEXT_XML)
    document = read_parallelisms(tmp_path)["7"]
    assert document.tokens == ("deus", "dedit", ",", "tulit", ".", "homo", "mansit", "&", "cetera")
    assert branches(document) == [((0, 4), (5, 7)), ((1, 2), (3, 4))]  # past the end of the nested branch, too


def test_essay(tmp_path):
    (tmp_path / "1.xml").write_text(ESSAY)
    document = read_parallelisms(tmp_path)["1"]
    assert document.tokens == ("a", "b", "c")
    assert branches(document) == [((0, 1), (2, 3))]
    assert document.sections == (Section("4", 0, 2), Section("5", 2, 3))


@pytest.mark.parametrize(("format", "loader"), [("tsv", TSVLoader), ("word-xml", XMLLoader)])
@given(document=documents())
def test_pyrallelism_reads_the_exchange_formats(tmp_path_factory, format, loader, document):
    [path] = write_parallelisms({"7": document}, tmp_path_factory.mktemp("exchange"), format=format)
    theirs = loader.load_parallelism_directory(str(path), stratum_count=None)
    assert theirs == {number: set(one.branches) for number, one in enumerate(document.parallelisms, 1)}


def test_a_branch_that_cuts_a_word_takes_it(tmp_path):
    (tmp_path / "7.xml").write_text(TEXT_XML.replace("tulit.</p", "tul</p").replace("sm></p", "sm>it.</p"))
    with pytest.warns(LangdiffWarning, match=r"7\.xml: 1 word\(s\) are cut by the end of a branch: 'tulit'"):
        assert branches(read_parallelisms(tmp_path)["7"]) == [((0, 4), (5, 7)), ((1, 2), (3, 4))]


def test_what_is_left_out_is_named(tmp_path):
    (tmp_path / "7.txt").write_text(BRAT_TEXT)
    (tmp_path / "7.ann").write_text(BRAT + "T9\tParallelArm 53 58\tabest\n")
    with pytest.warns(LangdiffWarning, match=r"7\.ann: 1 branch\(es\) are in no relation and are left out: 'T9'"):
        assert len(read_parallelisms(tmp_path)["7"].parallelisms) == 2
    (tmp_path / "7.ann").write_text(BRAT)
    (tmp_path / "8.txt").write_text("alone")
    with pytest.warns(LangdiffWarning, match=r"1 text\(s\) have no annotation and are not read: '8\.txt'"):
        assert list(read_parallelisms(tmp_path)) == ["7"]


def test_compressed_files_and_empty_sets(tmp_path):
    (tmp_path / "1.tsv.gz").write_bytes(gzip.compress(b"token\nhe\ncame\n"))
    (tmp_path / "2.xml").write_text("<sermon><section>he came</section></sermon>")
    (tmp_path / "3.txt").write_text("he came")
    (tmp_path / "3.ann.gz").write_bytes(gzip.compress(b""))
    found = read_parallelisms(tmp_path)
    assert {name: (one.tokens, one.parallelisms) for name, one in found.items()} == dict.fromkeys(
        "123", (("he", "came"), ())
    )


def test_words():
    words = split_words("Ecce (inquit)  «homo»… 好的2a\u2028x")
    assert [word.token for word in words] == ["ecce", "(", "inquit", ")", "«", "homo", "»", "…", "好", "的", "2a", "x"]
    assert all("Ecce (inquit)  «homo»… 好的2a\u2028x"[word.start : word.end].lower() == word.token for word in words)


@pytest.mark.parametrize(
    ("document", "format", "message"),
    [
        (make_document("7", ["v.", "a"], []), "brat", "token 0 \\('v.'\\) would be read back as other tokens"),
        (make_document("7", ["A", "b"], []), "text-xml", None),
        (make_document("7", WORDS, [Parallelism(((0, 2), (2, 3)))]), "text-xml", "ends in punctuation"),
        (make_document("7", WORDS, [Parallelism(((0, 1),))]), "brat", "has one branch, which brat cannot relate"),
        (make_document("7", ["a\ufffe"], []), "word-xml", r"U\+FFFE, which XML cannot"),
        (make_document("7", ["a", "b"], [], [Section("x", 0, 2)]), "brat", "number their sections.*'x'"),
        (
            make_document("7", list("abcd"), [Parallelism(((0, 1), (1, 3)))], [Section("1", 0, 2), Section("2", 2, 4)]),
            "text-xml",
            r"branch \(1, 3\) of parallelism 1 crosses the section's end at 2",
        ),
        (
            make_document("7", list("abcde"), [Parallelism(((0, 2), (3, 4))), Parallelism(((1, 3), (4, 5)))]),
            "tsv",
            r"branch \(0, 2\) 'a b' of parallelism 1 and branch \(1, 3\) 'b c' of parallelism 2 share tokens",
        ),
    ],
)
def test_formats_refuse_what_they_cannot_hold(tmp_path, document, format, message):
    if message is None:
        write_parallelisms({"7": document}, tmp_path, format=format)
        assert read_parallelisms(tmp_path)["7"].tokens == ("a", "b")  # texts are read in lower case
        return
    refused(DataError, message, write_parallelisms, {"7": document}, tmp_path / "out", format=format)
    assert not (tmp_path / "out").exists()


def test_formats_and_names_that_do_not_exist(tmp_path):
    refused(ConfigError, "format is None or one of brat", read_parallelisms, tmp_path, format="conll")
    refused(ConfigError, "format is one of brat", write_parallelisms, {}, tmp_path, format="conll")
    with pytest.raises(DataError, match=r"cannot be names of files: '\.\./x'"):
        write_parallelisms({"../x": make_document("x", ["a"], [])}, tmp_path)
    refused(DataError, "no files of annotated documents", read_parallelisms, tmp_path)
    refused(DataError, "no such file", read_parallelisms, tmp_path / "gone")
    (tmp_path / "1.csv").write_text("x")
    refused(DataError, r"the ending '\.csv' names no format", read_parallelisms, tmp_path / "1.csv")
    for name in ("1.tsv", "1_annotated.tsv"):
        (tmp_path / name).write_text("token\na\n")
    refused(DataError, "are both of document '1'", read_parallelisms, tmp_path)
