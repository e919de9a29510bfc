"""OSIS, with verses as elements and as milestones."""

from functools import partial

import pytest

from langdiff.corpora import read_multitext
from langdiff.errors import ConfigError, DataError, LangdiffWarning
from tests.helpers import refused

read = partial(read_multitext, format="osis")

BIBLE = """<?xml version="1.0" encoding="UTF-8"?>
<osis xmlns="http://www.bibletechnologies.net/2003/OSIS/namespace">
<osisText osisIDWork="TST" osisRefWork="Bible" xml:lang="deu-DE">
<header>
 <work osisWork="Other"><title>Not this</title></work>
 <work osisWork="TST"><title>A made-up
   Bible</title><rights>public domain</rights><date>1999</date></work>
</header>
<div type="book" osisID="Gen"><title>Genesis</title>
<chapter osisID="Gen.1">
 <verse osisID="Gen.1.1">Im <w lemma="strong:H1">Anfang</w><note>or: zu<q marker="!"/></note> <transChange
  type="added">war</transChange>.<title>A heading</title></verse>
 <verse osisID="TST:Gen.1.2"/>
 <p><verse sID="x" osisID="Gen.1.3 Gen.1.4"/>Zwei<lb/>in</p><p>einem.<verse eID="x"/></p>
 <verse osisID="Gen.1.5!a"><lg><l>Erste</l><l>Hälfte,</l></lg></verse>
 <verse osisID="Gen.1.5!b">zweite.</verse>
</chapter>
<chapter sID="c2" osisID="Gen.2"/>
 <verse sID="Gen.2.1" osisID="Gen.2.1"/>Er sagte:<q sID="q1" marker=" «"/>Ja.<q eID="q1" marker="»"/>
 <milestone type="cQuote" marker="“"/>x<figure src="a.jpg"><caption>no</caption></figure>
 <verse eID="Gen.2.1"/>
<chapter eID="c2"/>
</div>
<div type="book" osisID="1Macc"><verse osisID="1Macc.1.1">Es war</verse></div>
<div type="book" osisID="1En"><verse osisID="1En.1.1">of no number</verse></div>
</osisText></osis>
"""
TEXTS = {
    "01001001": "Im Anfang war.",
    "01001005": "Erste Hälfte, zweite.",
    "01002001": "Er sagte: «Ja.» “x",
    "77001001": "Es war",
}


@pytest.fixture
def file(tmp_path):
    (tmp_path / "deu-a.xml").write_text(BIBLE, encoding="utf-8")
    return tmp_path / "deu-a.xml"


def osis(body):
    return f"<osis>\n{body}\n</osis>"


def test_texts(file):
    multitext = read_multitext(file)
    assert multitext.text("deu-a").to_dict() == TEXTS
    assert list(multitext.intents) == [
        "01001001", "01001002", "01001003", "01001004", "01001005", "01002001", "77001001",
    ]  # fmt: skip
    assert multitext.intent_info.loc["77001001", "book"] == "1MA"


def test_header(file):
    info = read(file).edition_info.loc["deu-a"]
    assert info[["language", "title", "licence", "year", "left_out"]].tolist() == [
        "deu", "A made-up Bible", "public domain", "1999", "1En",
    ]  # fmt: skip


def test_ranges(file):
    merged = read_multitext(file, ranges="merge").text("deu-a")
    assert merged["01001003"] == "Zwei in einem."
    assert "01001004" not in merged
    refused(ConfigError, "ranges must be", read, file, ranges="drop")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('<verse osisID="Gen.1.1">a</verse>\n<verse osisID="Gen.1.1">b</verse>', r"line 3: verse 01001001 is there"),
        ('<verse osisID="Gen.1">a</verse>', r"a.xml, line 2: expected the id of a verse as 'Gen.1.1', got 'Gen.1'"),
        ('<verse osisID="Gen.1.1-Gen.1.3">a</verse>', r"line 2: expected the id"),
        ('<verse osisID="Gen.1.177">a</verse>', r"line 2: GEN 1 has at most 31 verses in any versification, here 177"),
        ("<verse>a</verse>", r"line 2: this verse has no osisID"),
        (
            '<verse osisID="Gen.1.1"><verse osisID="Gen.1.2"/></verse>',
            r"line 2: a verse inside .* line 2",
        ),
        ('<verse sID="a" osisID="Gen.1.1"/>\n', r"line 2: this verse has no end \(no <verse eID='a'/>\)"),
        ('<verse eID="a"/>', r"line 2: the end of verse 'a', which is not open"),
        ('<verse sID="a" osisID="Gen.1.1"/><verse eID="b"/>', r"line 2: the end of verse 'b', which is not open"),
        ('<verse osisID="1En.1.1">a</verse>', r"a.xml: holds no verse"),
    ],
)
def test_bad_files_are_refused_where_they_are_bad(tmp_path, body, message):
    (tmp_path / "a.xml").write_text(osis(body))
    refused(DataError, message, read, tmp_path / "a.xml")


def test_markers_of_paragraphs_are_no_text_and_markers_of_quotations_are(tmp_path):
    marks = '<milestone type="x-p" marker="¶"/>And <milestone type="cQuote" marker="“"/>he'
    (tmp_path / "a.xml").write_text(osis(f'<verse osisID="Gen.1.1">{marks}</verse>'), encoding="utf-8")
    assert read(tmp_path).text("a").tolist() == ["And “he"]


@pytest.mark.parametrize(("said", "language"), [("de", "deu"), ("de-AT", "deu"), ("grc", "grc"), ("German", None)])
def test_languages_in_codes_of_two_letters(tmp_path, said, language):
    text = f'<osis><osisText osisIDWork="W" xml:lang="{said}"><verse osisID="Gen.1.1">a</verse></osisText></osis>'
    (tmp_path / "a.xml").write_text(text)
    assert read(tmp_path).edition_info["language"].replace({float("nan"): None}).tolist() == [language]


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ('<title><verse osisID="Ps.3.1">A psalm.<note>n</note></verse></title>', "A psalm."),
        (
            '<title><verse sID="a" osisID="Ps.3.1"/>A psalm.</title><title>no</title><l>Lord</l><verse eID="a"/>',
            "A psalm. Lord",
        ),
        ('<title>Of David</title><verse osisID="Ps.3.1">Lord<title>no</title></verse>', "Lord"),
    ],
)
def test_a_verse_in_a_title_is_text_and_a_title_in_a_verse_is_not(tmp_path, body, text):
    (tmp_path / "a.xml").write_text(osis(body))
    assert read(tmp_path).text("a").to_dict() == {"19003001": text}


def test_books_that_osis_does_not_know_are_warned_about(tmp_path):
    verse = '<verse osisID="Gen.1.1">a</verse>'
    unknown = (
        '<verse osisID="Genesis.1.1">b</verse><verse osisID="Enoch.1.1">c</verse><verse osisID="1En.1.1">d</verse>'
    )
    (tmp_path / "deu-a.xml").write_text(osis(verse + unknown))
    (tmp_path / "deu-b.xml").write_text(osis(verse))
    with pytest.warns(LangdiffWarning, match=r"books of 1 edition.* left out.*: deu-a has 'Genesis', 'Enoch'\. Rename"):
        bibles = read(tmp_path)
    assert bibles.text("deu-a").to_dict() == {"01001001": "a"}
    assert bibles.edition_info["left_out"].tolist()[0] == "Genesis Enoch 1En"
