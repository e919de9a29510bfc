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


# --- XML


def osis_file(folder, body):
    """Write six verses of two chapters, of which the first two are milestones, with a body between them."""
    content = (
        '<?xml version="1.0"?>\n<osis><osisText>\n<verse sID="Gen.1.1" osisID="Gen.1.1"/>a<verse eID="Gen.1.1"/>\n'
        f'<verse sID="Gen.1.2" osisID="Gen.1.2"/>b<verse eID="Gen.1.2"/>\n{body}\n'
        '<verse osisID="Gen.2.1">x</verse>\n<verse osisID="Gen.2.2">y</verse>\n</osisText></osis>'
    )
    (folder / "eng.xml").write_bytes(content.encode("utf-8", "surrogateescape"))
    return folder / "eng.xml"


def start(verse, end=None):
    return f'<verse osisID="{verse}" sID="{end or verse}"/>'


def stop(end):
    return f'<verse eID="{end}"/>'


def element(verse, text):
    return f'<verse osisID="{verse}">{text}</verse>'


OTHERS = {"001001": "a", "001002": "b", "002001": "x", "002002": "y"}


@pytest.mark.parametrize(
    ("body", "kept", "what"),
    [
        (element("Gen.1", "c") + element("Gen.1.4", "d"), {"001004": "d"}, "1 text (Gen.1)"),
        (element("Gen.1.3 Gen.x", "c") + element("Gen.1.4", "d"), {"001004": "d"}, "1 text (Gen.x)"),
        ("<verse>c</verse>" + element("Gen.1.4", "d"), {"001004": "d"}, "1 text"),
        (element("Gen.1.77", "c") + element("Gen.1.4", "d"), {"001004": "d"}, "1 text (01001077)"),
        (element("Gen.1.3", "c" + element("Gen.1.4", "d") + "e"), {}, "2 texts (01001003, 01001004)"),
        (
            start("Gen.1.3")
            + "c"
            + start("Gen.1.4")
            + "d"
            + stop("Gen.1.4")
            + start("Gen.1.5")
            + "e"
            + stop("Gen.1.5"),
            {"001005": "e"},
            "2 texts (01001003, 01001004)",
        ),
        (  # two verses that cross: the late end is no further fault
            start("Gen.1.3") + "c" + start("Gen.1.4") + "d" + stop("Gen.1.3") + stop("Gen.1.4"),
            {},
            "2 texts (01001003, 01001004)",
        ),
        (
            start("Gen.1.3") + "c" + stop("Gen.1.30") + start("Gen.1.4") + "d" + stop("Gen.1.4"),
            {"001004": "d"},
            "2 texts (01001030, 01001003)",
        ),
        (stop("Gen.1.3") + element("Gen.1.4", "d"), {"001004": "d"}, "1 text (01001003)"),
        (element("Gen.1.3", "c" + stop("Gen.1.9") + "e"), {}, "2 texts (01001009, 01001003)"),
        (element("Gen.1.3", "c\x01") + element("Gen.1.4", "d"), {"001004": "d"}, "1 text (01001003)"),
        (element("Gen.1.3", "c\0") + element("Gen.1.4", "d"), {"001004": "d"}, "1 text (01001003)"),
        (element("Gen.1.3", "\udce9") + element("Gen.1.4", "d"), {"001004": "d"}, "1 text (01001003)"),
        (element("Gen.1.3", "c\uffff") + element("Gen.1.4", "d"), {"001004": "d"}, "1 text (01001003)"),
        (element("Gen.1.\x013", "c") + element("Gen.1.4", "d"), {"001004": "d"}, "1 text (Gen.1.\ufdd03)"),
    ],
)
def test_of_osis_the_verse_or_two_are_left_out(tmp_path, body, kept, what):
    multitext = skipped(osis_file(tmp_path, body))
    assert verses(multitext) == {**OTHERS, **kept}
    assert levels(multitext) == [("text", what)]


def test_a_verse_of_osis_without_end_costs_the_next_one_too(tmp_path):
    multitext = skipped(osis_file(tmp_path, start("Gen.1.3") + "c"))
    assert verses(multitext) == {verse: text for verse, text in OTHERS.items() if verse != "002001"}
    assert levels(multitext) == [("text", "2 texts (01001003, 01002001)")]


def test_an_end_of_a_verse_before_makes_that_verse_missing(tmp_path):
    multitext = skipped(osis_file(tmp_path, start("Gen.1.3") + "c" + stop("Gen.1.2")))
    assert verses(multitext) == {verse: text for verse, text in OTHERS.items() if verse != "001002"}
    assert levels(multitext) == [("text", "2 texts (01001002, 01001003)")]


def test_a_file_of_osis_in_which_no_end_fits(tmp_path):
    osis_file(tmp_path, "")
    body = "".join(start(f"Gen.1.{k}") + "c" + stop(f"x{k}") for k in range(1, 9))
    (tmp_path / "deu.xml").write_text(f"<osis>{body}{element('Gen.2.1', 'x')}</osis>")
    multitext = skipped(tmp_path, format="osis")
    assert levels(multitext) == [("file", str(tmp_path / "deu.xml"))]
    assert "none of the 8 ends of verses (eID) fits" in multitext.left_out["why"][0]


@pytest.mark.parametrize("where", ["header", "between", "attribute", "end"])
@pytest.mark.parametrize("damage", ["\0", "\x01", "\udce9", "\0\n\0 \n\0"])
def test_damage_in_xml_outside_texts_is_no_fault(tmp_path, where, damage):
    file = osis_file(tmp_path, f'<p type="{damage if where == "attribute" else ""}">{element("Gen.1.3", "c")}</p>')
    content = file.read_bytes()
    place = {"header": b"<osisText>", "between": b"<p type", "end": b"</osis>", "attribute": b""}[where]
    raw = damage.encode("utf-8", "surrogateescape")
    if place:
        content = content.replace(place, (b"" if where == "end" else raw) + place + (raw if where == "end" else b""))
    file.write_bytes(content)
    multitext = read_multitext(file)
    assert verses(multitext) == {**OTHERS, "001003": "c"}
    assert multitext.left_out.empty


def test_damage_before_more_of_the_file_is_no_end(tmp_path, monkeypatch):
    file = osis_file(tmp_path, element("Gen.1.3", "c\0\n\0") + "\0\n\0\n" * 40 + element("Gen.1.4", "d"))
    expected = {**OTHERS, "001004": "d"}
    assert verses(skipped(file)) == expected
    monkeypatch.setattr("langdiff.base.io.BLOCK", 16)  # so that the damage is in many blocks
    multitext = skipped(file)
    assert verses(multitext) == expected
    assert multitext.skipped["intent"].unique().tolist() == ["01001003"]


CES_SEG = '<seg id="b.GEN.{}" type="verse">{}</seg>\n'


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ("<seg id='b.GEN.1.3' type='verse'>c <b>d</seg>", "from GEN 1:3 on"),
        ("</wrong>", "after GEN 1:2"),
        ("<seg id='b.GEN.1.3' type='verse'>c &eacute; d</seg>", "from GEN 1:3 on"),
        ("<div", "after GEN 1:2"),
        ("</cesDoc>\0\0</seg>", ""),
    ],
)
def test_of_xml_that_is_not_well_formed_the_verses_before_are_kept(tmp_path, body, place):
    first = CES_SEG.format("1.1", "a") + CES_SEG.format("1.2", "b")
    (tmp_path / "eng.xml").write_text(f"<cesDoc>\n{first}{body}\n{CES_SEG.format('1.4', 'd')}</cesDoc>")
    (tmp_path / "deu.xml").write_text(f"<cesDoc>\n{body}{first}</cesDoc>")  # of which nothing was read
    multitext = skipped(tmp_path)
    assert verses(multitext) == {"001001": "a", "001002": "b"}
    assert levels(multitext) == [("file", str(tmp_path / "deu.xml")), ("rest", "the rest")]
    assert multitext.left_out["why"][1].startswith("line 4: not well-formed XML" if body != "<div" else "line 5: ")
    end = f"The verses {place} are lost." if place else "the document has ended before, and what follows is not read."
    assert multitext.left_out["why"][1].endswith(end)


def test_of_a_verse_in_a_verse_of_ces_both_are_left_out(tmp_path):
    inner = CES_SEG.format("1.2", "b")
    (tmp_path / "eng.xml").write_text(
        "".join(
            ["<cesDoc>", CES_SEG.format("1.1", "a"), CES_SEG.format("1.3", f"c {inner} d"), CES_SEG.format("1.4", "e")]
        )
        + "</cesDoc>"
    )
    multitext = skipped(tmp_path)
    assert verses(multitext) == {"001001": "a", "001004": "e"}
    assert levels(multitext) == [("text", "2 texts (01001003, 01001002)")]
