"""With on_error="skip", the smallest unit that a fault touches is left out, and the rest is kept."""

import pytest

from langdiff.corpora import read_multitext
from langdiff.errors import ConfigError, FaultsError, LangdiffWarning


def skipped(path, **options):
    """Return the multitext without what is faulty; without faults there would be no warning."""
    with pytest.raises(FaultsError):
        read_multitext(path, **options)
    with pytest.warns(LangdiffWarning, match="is left out"):
        return read_multitext(path, on_error="skip", **options)


def verses(multitext, edition="eng"):
    """Return the texts by the last six digits of their verse ids."""
    return {intent[2:]: text for intent, text in multitext.text(edition).items()}


def levels(multitext):
    return list(zip(multitext.left_out["level"], multitext.left_out["what"], strict=True))


# --- USFM

FIVE = {"001001": "a", "001002": "b", "001003": "c", "002001": "d", "002002": "e"}
PARTS = {"1": "\\p\n\\v 1 a\n", "2": "\\v 2 b\n", "3": "\\p\n\\v 3 c\n", "4": "\\c 2\n\\p\n\\v 1 d\n", "5": "\\v 2 e\n"}


def usfm(folder, name="GEN", head="", **changed):
    """Write a book of five verses in two chapters, in which some parts are changed, beside a preface."""
    (folder / "eng").mkdir(exist_ok=True)
    (folder / "eng" / "FRT.usfm").write_text("\\id FRT\n\\mt1 Preface\n")
    content = head or f"\\id {name}\n\\c 1\n"
    content += "".join({**PARTS, **{key[1:]: text for key, text in changed.items()}}.values())
    (folder / "eng" / f"{name}.usfm").write_text(content, encoding="utf-8")
    return folder / "eng"


def test_a_book_without_faults(tmp_path):
    assert verses(read_multitext(usfm(tmp_path))) == FIVE


@pytest.mark.parametrize(
    ("changed", "gone", "what"),
    [
        ({"_2": "\\v 2 b \\untr x\\untr* y\n"}, ["001002"], "1 text (01001002)"),
        ({"_2": "\\v 2 b \\untr x\n\\q2 goes on\n"}, ["001002"], "1 text (01001002)"),
        ({"_2": "\\v 2 b\\f + \\ft note\n"}, ["001002"], "1 text (01001002)"),  # to the next \p
        ({"_1": "\\p\n\\v 1 a\\f + \\ft note\n"}, ["001001"], "1 text (01001001)"),  # to the next \v
        ({"_3": "\\p\n\\v 3 c\\f + \\ft note\n"}, ["001003"], "1 text (01001003)"),  # to the next \c
        ({"_5": "\\v 2 e\\f + \\ft note\n"}, ["002002"], "1 text (01002002)"),  # to the end
        ({"_2": "\\v 2 b\n\\esb\n\\p bar\n\\p bar\n"}, ["001002"], "1 text (01001002)"),
        ({"_2": "\\v 2 b \\fq c\n"}, ["001002"], "1 text (01001002)"),
        ({"_2": "\\v 2 b \\ c\n"}, ["001002"], "1 text (01001002)"),
        ({"_2": "\\v 2 b \\zx c\n"}, ["001002"], "1 text (01001002)"),
        ({"_2": "\\v two b\n"}, ["001002"], "1 text"),
        ({"_2": "\\v 3-2 b\n"}, ["001002"], "1 text"),
        ({"_2": "\\v 2\n\\v 2 b\n"}, ["001002"], "1 text (01001002)"),
        ({"_4": "\\c two\n\\p\n\\v 1 d\n"}, ["002001", "002002"], "1 chapter"),
        ({"head": "\\id GEN\n"}, ["001001", "001002", "001003"], "1 chapter"),
    ],
)
def test_of_a_book_the_verse_or_chapter_is_left_out(tmp_path, changed, gone, what):
    multitext = skipped(usfm(tmp_path, **changed))
    assert verses(multitext) == {verse: text for verse, text in FIVE.items() if verse not in gone}
    level = what.split()[1].rstrip("s")
    assert levels(multitext) == [(level, what)]


def test_one_fault_is_said_for_a_marker_that_a_verse_has_twice(tmp_path):
    multitext = skipped(usfm(tmp_path, _2="\\v 2 \\untr x\\untr* \\untr y\\untr* \\foo z\n"))
    assert [fault.split(",")[0] for fault in multitext.skipped["fault"]] == [
        "unknown marker \\untr", "unknown marker \\foo",
    ]  # fmt: skip
    assert set(multitext.skipped["intent"]) == {"01001002"}


@pytest.mark.parametrize(
    "head", ["", "\\c 1\n", "\\id XYZ\n\\c 1\n", "\\id\n\\c 1\n", "\\id EXO\n\\c 1\n\\v 9 x\n\\id\n\\c 1\n"]
)
def test_a_book_that_is_not_known_is_left_out_and_the_others_are_kept(tmp_path, head):
    folder = usfm(tmp_path)
    usfm(tmp_path, "EXO", head or "text\n\\p\n")
    multitext = skipped(folder, format="usfm")
    assert multitext.text("eng").index.str[:2].unique().tolist() == ["01"]
    assert verses(multitext) == FIVE
    assert levels(multitext) == [("book", "1 book (EXO.usfm)")]
    assert str(folder / "EXO.usfm") in multitext.left_out["why"][0]


def test_books_that_cannot_be_read_are_left_out(tmp_path):
    folder = usfm(tmp_path)
    (folder / "EXO.usfm").write_bytes("\\id EXO\n".encode("utf-16"))
    (folder / "LEV.usfm").write_text("\\id LEV\n\\c 1\n" + "".join(f"\\v {k} \\foo x\n" for k in range(1, 1002)))
    multitext = skipped(folder, format="usfm")
    assert verses(multitext) == FIVE
    assert levels(multitext) == [("book", "2 books (EXO.usfm, LEV.usfm)")]
    with pytest.warns(LangdiffWarning, match=r"Left out: eng \(2 books\)\Z"):
        read_multitext(folder, on_error="skip", format="usfm")


def test_an_edition_without_any_book_that_can_be_read_is_left_out(tmp_path):
    usfm(tmp_path)
    (tmp_path / "deu").mkdir()
    (tmp_path / "deu" / "GEN.usfm").write_text("\\id GEN\n\\c 1\n\\v 1 x \\foo y\n\\v 2 \\foo z")
    (tmp_path / "deu" / "EXO.usfm").write_text("\\id XYZ\n\\c 1\n\\v 1 x \\foo y")
    multitext = skipped(f"{tmp_path}/*", format="usfm")
    assert list(multitext.editions) == ["eng"]
    assert levels(multitext) == [("file", str(tmp_path / "deu"))]
    assert "holds no verse that can be used. First: " in multitext.left_out["why"][0]
    assert "EXO.usfm, line 1: \\id without the code" in multitext.left_out["why"][0]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("char", "one two three"), ("note", "one  three"), ("para", "one two three"), ("skip", "one  three")],
)
def test_markers_of_ones_own_are_what_is_said_of_them(tmp_path, kind, expected):
    folder = usfm(tmp_path, _2='\\v 2 one \\untr two|x="y"\\untr* three\n')
    multitext = read_multitext(folder, markers={"untr": kind})
    if kind == "para":  # attributes are those of styles
        expected = 'one two|x="y" three'
    assert verses(multitext) == {**FIVE, "001002": " ".join(expected.split())}
    assert multitext.skipped.empty


def test_paragraphs_of_ones_own(tmp_path):
    folder = usfm(tmp_path, _2="\\v 2 one\n\\own1 two\n\\p three\n")
    assert verses(read_multitext(folder, markers={"own": "para"}))["001002"] == "one two three"
    assert verses(read_multitext(folder, markers={"own": "skip"}))["001002"] == "one three"
    assert verses(read_multitext(folder, markers={"own1": "para", "own": "skip"}))["001002"] == "one two three"
    known = usfm(tmp_path, _2="\\v 2 one\n\\qa Aleph\n\\p three \\qs Selah\\qs*\n")
    assert verses(read_multitext(known))["001002"] == "one three Selah"
    assert verses(read_multitext(known, markers={"qa": "para", "qs": "note"}))["001002"] == "one Aleph three"


@pytest.mark.parametrize(
    ("markers", "message"),
    [
        ({"untr": "style"}, r"\\untr must be one of char, note, para, skip, got 'style'"),
        ({"\\untr": "char"}, r"'\\\\untr' is not a marker; write it without its backslash"),
        ({"v": "char"}, r"\\v begins a book, chapter or verse"),
    ],
)
def test_markers_are_checked(tmp_path, markers, message):
    with pytest.raises(ConfigError, match=message):
        read_multitext(usfm(tmp_path), markers=markers)
