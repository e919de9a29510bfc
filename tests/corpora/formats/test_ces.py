"""The XML Bibles of Christodoulopoulos & Steedman."""

from functools import partial
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langdiff.base.suspicion import SUSPICIONS
from langdiff.corpora import read_multitext
from langdiff.errors import DataError
from tests.helpers import is_meant, refused

read = partial(read_multitext, format="ces")

CHAMORRO = """<?xml version="1.0" ?>
<!DOCTYPE cesDoc SYSTEM "nowhere.dtd">
<cesDoc version="4">
\t<cesHeader version="2">
\t\t<fileDesc><titleStmt><h.title>
\t\t\tBible(CHA)
\t\t</h.title></titleStmt>
\t\t<publicationStmt><availability>free</availability></publicationStmt></fileDesc>
\t\t<profileDesc><langUsage><language id="ch" iso639="cha">\n\t\tChamorro\n</language></langUsage></profileDesc>
\t</cesHeader>
\t<text><body id="Bible" lang="ch"><div id="b.PSA" type="book"><div id="b.PSA.1" type="chapter">
\t\t<seg id="b.PSA.1.1" type="verse">
\t\t\tDICHOSO   y taotao,
\t\t\tni &amp; <hi>ti</hi><note>a note</note>.
\t\t</seg>
\t\t<seg id="b.PSA.1.2" type="verse">
\t\t</seg></div></div>
\t\t<seg id="b.MAR.1.1" type="verse">x</seg><seg type="word" id="w1">not a verse</seg>
\t\t<seg id="b.DAG.1.1" type="verse">of no number</seg>
\t</body></text>
</cesDoc>
"""


def bible(*verses):
    segments = "".join(f'<seg id="{name}" type="verse">{text}</seg>\n' for name, text in verses)
    return f"<cesDoc>\n<text>\n{segments}</text></cesDoc>"


def test_verses_and_header(tmp_path):
    (tmp_path / "Chamorro-PART.xml").write_text(CHAMORRO, encoding="utf-8")
    multitext = read_multitext(tmp_path)
    assert multitext.text("Chamorro-PART").to_dict() == {"19001001": "DICHOSO y taotao, ni & ti.", "41001001": "x"}
    assert list(multitext.intents) == ["19001001", "19001002", "41001001"]  # what the file lists
    info = multitext.edition_info.loc["Chamorro-PART"]
    assert info[["language", "language_name", "title", "licence", "left_out"]].tolist() == [
        "cha", "Chamorro", "Bible(CHA)", "free", "DAG",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (bible(("b.GEN.1.1", "a"), ("b.GEN.1.1", "b")), r"a.xml, line 4: verse 01001001 is there twice, first in"),
        (bible(("GEN.1.1", "a")), r"a.xml, line 3: expected the id of a verse as 'b.GEN.1.1', got 'GEN.1.1'"),
        (bible(("b.XYZ.1.1", "a")), r"line 3: verse 'b.XYZ.1.1' is of an unknown book"),
        (bible(("b.GEN.1.177", "a")), r"line 3: GEN 1 has at most 31 verses in any versification, here 177"),
        (
            bible(("b.GEN.1.1", '<seg id="b.GEN.1.2" type="verse"/>')),
            r"line 3: a verse inside .* line 3",
        ),
        ("<cesDoc/>", r"a.xml: holds no verse"),
        ("<cesDoc>\n<a>\n</cesDoc>", r"a.xml, line 3: not well-formed XML in column 3: mismatched tag"),
        ("<cesDoc>&nbsp;</cesDoc>", r"line 1: not well-formed XML in column \d+: undefined entity"),
        ("<a>" * 300, r"line 1: more than 200 nested elements"),
        ("", r"not well-formed XML in column 1: no element found"),
    ],
)
def test_bad_files_are_refused_where_they_are_bad(tmp_path, content, message):
    (tmp_path / "a.xml").write_text(content)
    refused(DataError, message, read, tmp_path / "a.xml")


@pytest.mark.parametrize(
    "entities",
    [
        '<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;">',
        '<!ENTITY a SYSTEM "file:///etc/passwd">',
        '<!ENTITY % a SYSTEM "file:///etc/passwd"> %a;',
        '<!NOTATION n SYSTEM "n"><!ENTITY a SYSTEM "x" NDATA n>',
    ],
)
def test_entities_are_refused_whatever_they_do(tmp_path, entities):
    (tmp_path / "a.xml").write_text(f"<!DOCTYPE cesDoc [{entities}]>\n{bible(('b.GEN.1.1', '&a;'))}")
    refused(DataError, r"a.xml, line 1: defines entities or refers to another file", read, tmp_path / "a.xml")


texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"], exclude_characters="\ufffe\uffff"))


@given(texts.filter(lambda text: text.strip() and is_meant(text)))
def test_any_text_comes_through(tmp_path_factory, text):
    element = ET.Element("seg", id="b.GEN.1.1", type="verse")
    element.text = text
    file = tmp_path_factory.mktemp("ces") / "a.xml"
    file.write_bytes(b"<cesDoc>" + ET.tostring(element, encoding="utf-8") + b"</cesDoc>")
    if text.strip(" "):
        assert read(file, nfc=False, trust=SUSPICIONS).text("a").tolist() == [" ".join(filter(None, text.split(" ")))]


@pytest.mark.real_data
def test_a_real_bible_survives_the_format(real_data, tmp_path):
    source = read_multitext(real_data / "bible" / "cha-chamorropart.txt.gz").text("cha-chamorropart")
    codes = {"19": "PSA", "40": "MAT", "41": "MAR", "42": "LUK", "43": "JOH", "44": "ACT"}
    kept = source[source.index.str[:2].isin(codes)]
    assert len(kept) > 1000
    verses = [(f"b.{codes[v[:2]]}.{int(v[2:5])}.{int(v[5:])}", text.replace("&", "&amp;")) for v, text in kept.items()]
    (tmp_path / "cha-a.xml").write_text(bible(*verses), encoding="utf-8")
    assert read(tmp_path).text("cha-a").to_dict() == kept.to_dict()
