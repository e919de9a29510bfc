"""USFM: what is text of a verse and what is not; a library as an independent reading."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langdiff.corpora import read_multitext
from langdiff.corpora.faults import Damage, Faults
from langdiff.corpora.formats.bible import Verses
from langdiff.corpora.formats.usfm import UsfmBook
from langdiff.errors import DataError
from tests.helpers import refused

read = partial(read_multitext, format="usfm")

PSALMS = r"""\id PSA - a made-up edition
\ide UTF-8
\h Psalms
\toc1 The Psalms
\mt1 The Psalms
\ip Introduction, which \bk is\bk* no verse.
\c 1
\s1 Two ways
\r (Psa 2)
\q1
\v 1 Blessed is the man
\q2 who walks not\f + \fr 1:1 \ft Or: \fq goes\ft .\f* in the \w counsel|strong="H6098"\w* of the \add wicked\add*,
\b
\q1
\v 2 but his delight is in the law of the \nd Lord\nd*’s.\x - \xo 1:2 \xt Gen 1:1\x*
\s2 A heading in the middle of a verse
\p
\vp 2b\vp* It goes on~here.
\v 3-4 Two verses
\p in one.
\c 3
\d A Psalm by David.
\q1
\v 1
\q2 Lord, how many are \wj my \+nd foes\+nd*!\wj* \qs Selah\qs*
\v 2a First half
\v 2b second half.
\esb \cat People\cat*
\p A sidebar.
\esbe
\v 5,7 not six
\zaln-s |x-strong="H1" x-lemma="a"\*\v 8 \w Salvation\w*\zaln-e\*.
\zchunk ours
\p
\v 9 \rb BB|gloss="gg"\rb* // a\fig cap|src="a.jpg" size="col" ref="3:9"\fig* \k-s | x="y" \* b
"""
TEXTS = {
    "19001001": "Blessed is the man who walks not in the counsel of the wicked,",
    "19001002": "but his delight is in the law of the Lord’s. It goes on\N{NO-BREAK SPACE}here.",
    "19003001": "Lord, how many are my foes! Selah",
    "19003002": "First half second half.",
    "19003008": "Salvation.",
    "19003009": "BB a b",
}


def texts_of(content, ranges="missing", file="a.usfm"):
    faults = Faults()
    verses = Verses(ranges, faults)
    UsfmBook(file, content, verses, Damage(file, faults)).read()
    faults.check()
    return {one.verse: one.text or None for one in verses.items()}


def write(folder, files):
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
    return folder


def test_what_is_text_and_what_is_not():
    found = texts_of(PSALMS)
    assert {verse: text for verse, text in found.items() if text} == TEXTS
    assert [verse for verse, text in found.items() if text is None] == ["19001003", "19001004", "19003005", "19003007"]


def test_ranges_merged():
    found = texts_of(PSALMS, "merge")
    assert found["19001003"] == "Two verses in one."
    assert found["19001004"] is None
    assert (found["19003005"], found["19003007"]) == ("not six", None)


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ("3\u200f-\u200f4", {"01001003": "t", "01001004": None}),  # right-to-left marks, as in Arabic editions
        ("3\N{EN DASH}5", {"01001003": "t", "01001004": None, "01001005": None}),
        ("3a-4b", {"01001003": "t", "01001004": None}),
        ("0", {"01001000": "t"}),
    ],
)
def test_numbers(numbers, expected):
    assert texts_of(f"\\id GEN\n\\c 1\n\\p\n\\v {numbers} t", "merge") == expected


def test_a_part_of_which_the_rest_is_in_a_range():
    content = "\\id GEN\n\\c 1\n\\p\n\\v 2a x\n\\v 2b-3 y\n\\v 4 z"
    assert texts_of(content) == {"01001002": None, "01001003": None, "01001004": "z"}
    assert texts_of(content, "merge") == {"01001002": "x y", "01001003": None, "01001004": "z"}


def test_quotes_in_attributes_are_escaped():
    rows = ["\\id GEN", "\\c 1", "\\p"]
    rows.append(
        r'\v 1 before \fig A tree|alt="It says: \"here\"" src="a.jpg"\fig* and \w light|gloss="a \"lamp\""\w* after'
    )
    assert texts_of("\n".join(rows)) == {"01001001": "before and light after"}
    refused(DataError, "a backslash that begins no marker", texts_of, "\n".join([*rows, r"\v 2 an \" elsewhere"]))


def test_a_verse_that_begins_in_a_psalm_title_has_its_text_and_other_titles_are_hidden():
    content = (
        "\\id PSA\n\\c 3\n\\d\n\\v 1 A psalm.\n\\q1\nLord\n\\c 4\n\\d A psalm.\n\\q1\n\\v 1 Answer\n\\d Selah\n\\q1 me"
    )
    assert texts_of(content) == {"19003001": "A psalm. Lord", "19004001": "Answer me"}


def test_markers_on_one_line_part_words():
    content = "\\id GEN\\c 1\\p\\v 1 a\\q2 b\\s head\\m c\\v 2 \\w d\\w*e\\f + n\\f*f"
    assert texts_of(content) == {"01001001": "a b c", "01001002": "def"}


def test_markers_that_are_unknown_where_no_verse_is_are_passed_over():
    content = "\\id GEN\n\\cover x\n\\io1 Creation \\ior (1:1)\\ior*\n\\c 1\n\\foo\n\\v 1 a"
    assert texts_of(content) == {"01001001": "a"}


def test_right_to_left_combining_and_astral_text():
    text = "\u05d1\u05b0\u05bc\u05e8\u05b5\u05d0\u05e9\u05b4\u05c1\u05d9\u05ea \u202ba\u202c \U00010428e\u0301\u3000x"
    assert texts_of(f"\\id GEN\n\\c 1\n\\p\n\\v 1 {text}\n") == {"01001001": text}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("\\c 1\n\\v 1 a", r"a.usfm, line 1: a chapter before \\id"),
        ("\\id GEN\n\\v 1 a", r"line 2: a verse before \\c"),
        ("\\id\n\\c 1", r"line 1: \\id without the code"),
        ("Read me.\n", r"a.usfm: has no \\id, so that it is not a book"),
        ("\\id XYZ\n\\c 1", r"line 1: \\id without the code"),
        ("\\id GEN\n\\c\n\\p", r"line 2: \\c without a number"),
        ("\\id GEN\n\\c 1\n\\v one", r"line 3: expected the number of a verse after \\v, got 'one…'"),
        ('\\id GEN\n\\c 1\n\\v 2"Come', r"line 3: expected the number of a verse"),
        ("\\id GEN\n\\c 1\n\\v 4-2 a", r"line 3: '4-2' is not a range of verses"),
        ("\\id GEN\n\\c 1\n\\v 1 a\n\n\\v 1 b", r"a.usfm, line 5: verse 01001001 is there twice, first in line 3"),
        ("\\id GEN\n\\c 1\n\\v 1-3 a\n\\v 2 b", r"verse 01001002 is there twice"),
        ("\\id GEN\n\\c 1\n\\v 1 a \\foo b", r"line 3: unknown marker \\foo"),
        ("\\id GEN\n\\c 1\n\\v 1 a \\ b", r"line 3: a backslash that begins no marker"),
        ("\\id GEN\n\\c 1\n\\v 1 a\\f + \\ft n\n\\p\n\\v 2 b", r"line 3: \\f has no end \\f\*"),
        ("\\id GEN\n\\c 1\n\\v 1 a\\x - n", r"line 3: \\x has no end \\x\*"),
        ("\\id GEN\n\\c 1\n\\esb\n\\p a\n\\v 2 b", r"line 3: \\esb has no end \\esbe"),
        ("\\id GEN\n\\c 1\n\\v 1 a \\zx b", r"line 3: \\zx has no end \\zx\*"),
    ],
)
def test_bad_text_is_refused_where_it_is_bad(content, message):
    refused(DataError, message, texts_of, content)


def test_what_has_no_verses_or_no_number(tmp_path):
    files = {
        "eng-a/00-FRT.usfm": "\\id FRT\n\\mt1 Preface\n\\p It says.",
        "eng-a/01-GEN.usfm": "\\id GEN\n\\c 1\n\\p\n\\v 1 a",
        "eng-a/80-DAG.usfm": "\\id DAG\n\\c 1\n\\p\n\\v 1 greek",
    }
    bible = read(write(tmp_path, files) / "eng-a")
    assert bible.text("eng-a").to_dict() == {"01001001": "a"}
    assert bible.edition_info.loc["eng-a", ["language", "left_out"]].tolist() == ["eng", "DAG"]


def test_an_edition_is_a_folder_or_a_file_alone(tmp_path):
    genesis, exodus = "\\id GEN\n\\c 1\n\\v 1 a", "\\id EXO\n\\c 1\n\\v 1 b"
    write(tmp_path, {"eng-a/1.usfm": genesis, "eng-a/2.SFM": exodus, "deu-b/deu-c.usfm": genesis})
    bibles = read_multitext([tmp_path / "eng-a", f"{tmp_path}/deu-b/*"])
    assert bibles.presence.sum().to_dict() == {"deu-c": 1, "eng-a": 2}
    named = read({"fra-x": tmp_path / "eng-a", "spa-y": tmp_path / "deu-b"}, editions=["spa-y", "fra-x"])
    assert list(named.editions) == ["spa-y", "fra-x"]
    refused(DataError, "no file for 1 edition", read, tmp_path / "eng-a", editions="nld")
    write(tmp_path, {"other/eng-a/1.usfm": genesis, "other/eng-a/3.usfm": exodus})
    refused(DataError, "two places are edition 'eng-a'", read, [tmp_path / "eng-a", tmp_path / "other" / "eng-a"])


def test_lone_books_of_the_same_name_are_editions_of_their_folders(tmp_path):
    write(tmp_path, {"eng/MRK.usfm": "\\id MRK\n\\c 1\n\\v 1 a", "fin/MRK.usfm": "\\id MRK\n\\c 1\n\\v 1 b"})
    both = read_multitext(f"{tmp_path}/*")
    assert [(name, both.text(name).tolist()) for name in both.editions] == [("eng", ["a"]), ("fin", ["b"])]
    refused(DataError, r"For its directories \(eng/, fin/\), write .*/\*\.$", read, tmp_path)


def test_a_book_that_is_there_twice(tmp_path):
    write(tmp_path, {"eng-a/1.usfm": "\\id GEN\n\\c 1\n\\v 1 a", "eng-a/2.usfm": "\n\\id GEN\n\\c 1\n\\v 1 b"})
    with pytest.raises(DataError, match=r"2.usfm, line 4: verse 01001001 is there twice, first in .*1.usfm, line 3"):
        read(tmp_path / "eng-a")


# --- another reading of the same text: usfm-grammar, a parser generated from a grammar of USFM

words = st.text("abcäé\u05d0\u0301 ,.", min_size=1, max_size=12).map(lambda t: " ".join(t.split())).filter(bool)
inline = st.one_of(
    words,
    words.map(lambda t: f"x\\f + \\ft {t}\\f* y"),
    words.map(lambda t: f'\\w {t}|strong="H1"\\w*'),
    words.map(lambda t: f"\\add {t}\\add*"),
    words.map(lambda t: f"z\n\\q2 {t}"),
    words.map(lambda t: f"z\n\\s1 {t}\n\\p w"),
)


@given(st.lists(st.lists(inline, min_size=1, max_size=4).map(" ".join), min_size=1, max_size=5))
def test_a_grammar_reads_the_same(verses):
    usfm_grammar = pytest.importorskip("usfm_grammar", reason="usfm-grammar is not installed")
    content = "\\id GEN\n\\c 1\n\\p\n" + "\n".join(f"\\v {k} {text}" for k, text in enumerate(verses, start=1)) + "\n"
    parser = usfm_grammar.USFMParser(content)
    assert not parser.errors
    found: dict[str, list[str]] = {}
    for paragraph in parser.to_usj()["content"]:
        if paragraph["type"] == "para" and paragraph["marker"] in ("p", "q2"):
            gather(paragraph["content"], found)
    expected = {f"01001{int(number):03d}": " ".join("".join(pieces).split()) for number, pieces in found.items()}
    assert texts_of(content) == expected


def gather(content, found):
    """Add the text of each verse of a paragraph in USFM's JSON; notes left out."""
    if found:
        found[max(found, key=int)].append(" ")
    for piece in content:
        if isinstance(piece, str):
            found[max(found, key=int)].append(piece)
        elif piece["type"] == "verse":
            found[piece["number"]] = []
        elif piece["type"] == "char":
            found[max(found, key=int)] += piece["content"]
