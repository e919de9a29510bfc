"""USX, USJ, USFX, Zefania and Beblia: the same verses in each, beside USFM."""

import json
import zipfile

import pytest

from langdiff.corpora import read_multitext
from langdiff.errors import FaultsError, LangdiffWarning
from tests.helpers import refused

VERSES = {"57001001": "Paul to Philemon, our friend", "57001002": "and Apphia", "57001003": "Grace and peace"}

USFM = """\\id PHM
\\h Philemon
\\c 1
\\s Greeting
\\p
\\v 1 Paul\\f + \\ft a note\\f* to \\nd Philemon\\nd*,
\\q1 our friend
\\v 2 and Apphia
\\p
\\v 3 Grace and peace
"""
USX = """<?xml version="1.0"?>
<usx version="3.0"><book code="PHM" style="id">about</book><para style="h">Philemon</para>
<chapter number="1" style="c" sid="PHM 1"/><para style="s">Greeting</para>
<para style="p"><verse number="1" style="v" sid="PHM 1:1"/>Paul<note caller="+" style="f"><char style="ft">a
note</char></note> to <char style="nd">Philemon</char>,</para><para style="q1">our friend<verse eid="PHM 1:1"/>
<verse number="2" style="v" sid="PHM 1:2"/>and Apphia<verse eid="PHM 1:2"/> left over</para>
<para style="p"><verse number="3" style="v" sid="PHM 1:3"/>Grace
<figure style="fig" file="x">a ship</figure>and<optbreak/>peace<verse eid="PHM 1:3"/></para><chapter eid="PHM 1"/></usx>
"""
USX2 = USX.replace(" left over", "").replace('<verse eid="PHM 1:1"/>', "").replace('<verse eid="PHM 1:2"/>', "")
USJ = json.dumps(
    {
        "type": "USJ",
        "version": "3.1",
        "content": [
            {"type": "book", "marker": "id", "code": "PHM", "content": ["about"]},
            {"type": "para", "marker": "h", "content": ["Philemon"]},
            {"type": "chapter", "marker": "c", "number": "1"},
            {"type": "para", "marker": "s", "content": ["Greeting"]},
            {
                "type": "para",
                "marker": "p",
                "content": [
                    {"type": "verse", "marker": "v", "number": "1"},
                    "Paul",
                    {"type": "note", "marker": "f", "content": [{"type": "char", "marker": "ft", "content": ["note"]}]},
                    " to ",
                    {"type": "char", "marker": "nd", "content": ["Philemon"]},
                    ",",
                ],
            },
            {
                "type": "para",
                "marker": "q1",
                "content": ["our friend ", {"type": "verse", "marker": "v", "number": "2"}, "and Apphia"],
            },
            {"type": "table", "content": [{"type": "table:row", "marker": "tr", "content": []}]},
            {
                "type": "para",
                "marker": "p",
                "content": [
                    {"type": "verse", "marker": "v", "number": "3"},
                    "Grace and",
                    {"type": "optbreak"},
                    "peace",
                ],
            },
        ],
    },
    indent=1,
)
USFX = """<?xml version="1.0"?><usfx><languageCode>eng</languageCode>
<book id="PHM"><id id="PHM">about</id><h>Philemon</h>
<c id="1"/><p sfm="s" style="Heading">Greeting</p><p><v id="1" bcv="PHM.1.1"/>Paul<f caller="+">a note</f> to
<nd>Philemon</nd>,</p><q level="1">our friend<ve/></q> between <p><v id="2"/>and Apphia<ve/></p>
<p><v id="3"/>Grace <w s="G1">and</w> peace<x>MAT 1:1</x><ve/></p></book></usfx>
"""
ZEFANIA = """\ufeff<?xml version="1.0"?><!-- usfx is another -->
<XMLBIBLE biblename="a"><INFORMATION><title>A Bible</title>
<language>SHU</language></INFORMATION><BIBLEBOOK bnumber="57" bname="Philemon"><CHAPTER cnumber="1">
<CAPTION vref="1">Greeting</CAPTION>
<VERS vnumber="1">Paul<NOTE>a <STYLE css="x">note</STYLE></NOTE> to <gr str="1">Philemon</gr>,
<BR art="x-nl"/><STYLE fs="italic">our</STYLE> friend</VERS><VERS vnumber="2">and <DIV><NOTE>x</NOTE></DIV>Apphia<XREF
fscope="Mt"/></VERS><VERS vnumber="3">Grace and peace</VERS><VERS vnumber="4"/></CHAPTER></BIBLEBOOK><BIBLEBOOK
bnumber="69" bname="Ecclesiasticus"><CHAPTER cnumber="1"><VERS vnumber="1">All wisdom</VERS></CHAPTER></BIBLEBOOK>
</XMLBIBLE>
"""
BEBLIA = """<?xml version="1.0" encoding="UTF-8"?>
<bible translation="A Bible" status="Public domain"><testament name="New"><book number="57"><chapter number="1">
<verse number="1">Paul to Philemon, our friend</verse><verse number="2">and Apphia</verse>
<verse number="3">Grace and peace</verse><verse number="4"></verse></chapter></book></testament>
<testament name="Other"><book number="70"><chapter number="1"><verse number="1">x</verse></chapter></book></testament>
</bible>
"""
SAMPLES = {
    "usfm": ("usfm", "a.usfm", USFM),
    "usx": ("usx", "a.usx", USX),
    "usx2": ("usx", "a.xml", USX2),
    "usj": ("usj", "a.json", USJ),
    "usj-line": ("usj", "a.usj", json.dumps(json.loads(USJ))),
    "usfx": ("usfx", "a.xml", USFX),
    "zefania": ("zefania", "a.xml", ZEFANIA),
    "beblia": ("beblia", "a.xml", BEBLIA),
}


def written(folder, name, text):
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


@pytest.mark.parametrize("sample", SAMPLES)
def test_the_same_verses_in_every_format(tmp_path, sample):
    _, name, text = SAMPLES[sample]
    multitext = read_multitext(written(tmp_path, name, text))  # the format is recognized
    assert multitext.text("a").to_dict() == VERSES
    assert multitext.intent_info.loc["57001001"].tolist() == ["PHM", "57001"]


def test_what_a_file_says_of_its_edition(tmp_path):
    about = read_multitext(written(tmp_path, "a.xml", ZEFANIA)).edition_info.loc["a"]
    assert about[["title", "language", "left_out"]].tolist() == ["A Bible", "shu", "Ecclesiasticus"]
    about = read_multitext(written(tmp_path, "jiv-x.xml", ZEFANIA)).edition_info.loc["jiv-x"]
    assert about["language"] == "jiv"  # the file's name counts more
    about = read_multitext(written(tmp_path, "a.xml", ZEFANIA.replace("SHU", "XYZ"))).edition_info.loc["a"]
    assert about["language"] != about["language"]  # no such code
    about = read_multitext(written(tmp_path, "a.xml", BEBLIA)).edition_info.loc["a"]
    assert about[["title", "licence", "left_out"]].tolist() == ["A Bible", "Public domain", "70"]
    assert read_multitext(written(tmp_path, "a.xml", USFX)).edition_info.loc["a", "language"] == "eng"


def test_missing_verses_are_listed(tmp_path):
    for name, text in (("a.xml", ZEFANIA), ("b.xml", BEBLIA)):
        assert list(read_multitext(written(tmp_path, name, text)).intents) == [*VERSES, "57001004"]


@pytest.mark.parametrize("ending", ["usx", "json"])
def test_an_edition_is_a_folder_or_an_archive_of_books(tmp_path, ending):
    first = USX if ending == "usx" else USJ
    second = first.replace("PHM", "TIT")
    folder = tmp_path / "eng-x_usx"
    folder.mkdir()
    written(folder, f"57PHM.{ending}", first)
    written(folder, f"56TIT.{ending}", second)
    with zipfile.ZipFile(tmp_path / "eng-y.zip", "w") as archive:
        for file in folder.iterdir():
            archive.write(file, f"release/{file.name}")
    multitext = read_multitext([folder, tmp_path / "eng-y.zip"])
    assert list(multitext.editions) == ["eng-x", "eng-y"]
    assert multitext.text("eng-x").tolist() == multitext.text("eng-y").tolist() == [*VERSES.values()] * 2


def test_ranges_and_parts(tmp_path):
    text = ZEFANIA.replace('vnumber="2"', 'vnumber="2-3"').replace('<VERS vnumber="3">', '<VERS vnumber="4a">', 1)
    file = written(tmp_path, "a.xml", text.replace('<VERS vnumber="4"/>', '<VERS vnumber="4b">end</VERS>'))
    assert read_multitext(file).text("a").to_dict() == {
        "57001001": VERSES["57001001"],
        "57001004": "Grace and peace end",
    }
    assert read_multitext(file, ranges="merge").text("a")["57001002"] == "and Apphia"


def test_a_marker_of_ones_own(tmp_path):
    file = written(tmp_path, "a.usx", USX.replace('<char style="nd">', '<char style="mine">'))
    refused(FaultsError, r"line 5: unknown style 'mine'.*markers=\{'mine': 'char'\}", read_multitext, file)
    assert read_multitext(file, markers={"mine": "char"}).text("a").to_dict() == VERSES
    hidden = read_multitext(file, markers={"mine": "skip"}).text("a")
    assert hidden["57001001"] == "Paul to , our friend"


FAULTS = {
    "usx": (USX, "<optbreak/>", "<foo>x</foo>", "57001003", "unknown element <foo>"),
    "usfx": (USFX, "<w s=", "<foo s=", "57001003", "unknown style 'foo'"),
    "zefania": (ZEFANIA, "<gr str=", "<foo str=", "57001001", "unknown element <foo>"),
    "beblia": (BEBLIA, "Apphia", "Apphia <foo/>", "57001002", "unknown element <foo>"),
    "number": (BEBLIA, 'verse number="2"', 'verse number="two"', "57001002", "expected the number of a verse"),
    "twice": (BEBLIA, 'verse number="2"', 'verse number="1"', "57001001 57001002", "is there twice"),
    "inside": (BEBLIA, "Apphia</verse>\n", "Apphia\n", "57001002 57001003", "a verse inside another verse"),
    "style in note": (USX, 'char style="nd"', 'char style="ft"', "57001001", "belongs into a note"),
    "damage": (USX, "Apphia", "Apph\x00ia", "57001002", "NUL"),
    "json": (USJ, "Apphia", "Apph\x00ia", "57001002", "not text"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_verse_is_left_out_alone(tmp_path, fault):
    text, old, new, gone, message = FAULTS[fault]
    assert text.count(old) == 1
    text = text.replace(old, new).replace('<foo s="G1">and</w>', "<foo>and</foo>")
    text = text.replace('<foo str="1">Philemon</gr>', "<foo>Philemon</foo>")
    if fault == "inside":
        text = text.replace("peace</verse>", "peace</verse></verse>")
    file = written(tmp_path, "a.json" if fault == "json" else "a.xml", text)
    refused(FaultsError, message, read_multitext, file)
    with pytest.warns(LangdiffWarning, match="left out"):
        multitext = read_multitext(file, on_error="skip")
    assert multitext.text("a").to_dict() == {verse: text for verse, text in VERSES.items() if verse not in gone}


def test_a_book_that_cannot_be_read_is_left_out_alone(tmp_path):
    for ending, text, broken in (("usx", USX, USX[:-20]), ("json", USJ, USJ[:-20])):
        folder = tmp_path / ending
        folder.mkdir()
        written(folder, f"1.{ending}", text)
        written(folder, f"2.{ending}", broken.replace("PHM", "TIT"))
        with pytest.warns(LangdiffWarning, match="book"):
            multitext = read_multitext(folder, on_error="skip")
        assert multitext.text(ending).to_dict() == VERSES


@pytest.mark.parametrize("sample", ["usfx", "zefania", "beblia"])
def test_verses_before_the_place_where_a_file_is_broken_are_kept(tmp_path, sample):
    _, name, text = SAMPLES[sample]
    file = written(tmp_path, name, text[: text.index("and") + 3])
    refused(FaultsError, "The verses from PHM 1:2 on are lost", read_multitext, file)
    with pytest.warns(LangdiffWarning, match="PHM 1:2"):
        multitext = read_multitext(file, on_error="skip")
    assert multitext.text("a").to_dict() == {"57001001": VERSES["57001001"]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"type": "USJ", "type": "USJ", "content": []}', "the name 'type' is there twice"),
        ('{"type": "USJ", "version": NaN, "content": []}', "NaN is not JSON"),
        (
            '{"type": "USJ", "content": ' + '[{"type": "para", "content": ' * 101 + "[]" + "}]" * 101 + "}",
            "more than 100",
        ),
        ('{"type": "USJ", "content": ' + "[" * 100_000, "nested too deeply"),
        ('{"type": "USJ", "content": "x"}', "is not a list"),
        ('{"type": "USJ", "content": [1]}', "1 is neither text nor an object"),
        ('{"type": "other"}', "must be one object whose type is 'USJ'"),
        ('{"type": "USJ", "content": [{"type": "verse", "number": "1"}]}', "a verse before"),
    ],
)
def test_json_that_is_not_usj(tmp_path, text, message):
    refused(FaultsError, message, read_multitext, written(tmp_path, "a.json", text), format="usj")


@pytest.mark.parametrize("sample", ["usx", "usfx", "zefania", "beblia"])
def test_entities_are_refused(tmp_path, sample):
    _, name, text = SAMPLES[sample]
    root = text.index("<", text.index("?>") + 2)
    text = text[:root] + '<!DOCTYPE a [<!ENTITY b "c">]>' + text[root:]
    refused(FaultsError, "defines entities", read_multitext, written(tmp_path, name, text), format=SAMPLES[sample][0])
