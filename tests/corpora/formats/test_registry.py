"""Every format in one registry: recognized by content, with its own options."""

from inspect import signature
from typing import get_args

import pytest

from langdiff.base.types import FormatName
from langdiff.corpora import read_multitext
from langdiff.corpora.formats import registry
from langdiff.corpora.formats.registry import FORMATS, OPTIONS
from langdiff.errors import ConfigError, DataError
from tests.helpers import refused

SAMPLES = {
    "pbc": ("a.txt", "\ufeff# title: T\n\n01001001\tx\n"),
    "usfm": ("a.SFM", "\n\\id GEN\n"),
    "usx": ("a.usx", '<?xml version="1.0"?>\n<usx version="3.0">'),
    "usj": ("a.json", '{\n  "version": "3.1",\n  "type": "USJ"'),
    "usfx": ("a.xml", '<?xml version="1.0"?><usfx>'),
    "zefania": ("a.xml", '\ufeff<?xml version="1.0"?>\n<!--Visit-->\n<XMLBIBLE biblename="x">'),
    "beblia": ("a.xml", '<bible translation="x">\n<testament name="New">\n<book number="40">'),
    "tmx": ("a.tmx", '<?xml version="1.0"?>\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n<tmx version="1.4">'),
    "jsonl": ("a.jsonl", '{"text": "x"}\n'),
    "parquet": ("a.parquet", "PAR1"),
    "osis": ("a.xml", '<?xml version="1.0"?>\n<osis xmlns="x">\n'),
    "ces": ("a.xml", "<!-- <osis> is another -->\n".replace("<osis>", "osis") + '<cesDoc version="4">\n'),
    "mteval": ("a.sgm", "<!DOCTYPE mteval SYSTEM 'x'>\n<REFSET refid='a'>"),
    "costep": ("a.xml", '<session date="2000-01-17">'),
}


def guess_format(path):
    return registry.guess_format(path, list(FORMATS.values())).name


def test_a_format_declares_itself_once():
    assert tuple(FORMATS) == get_args(FormatName)
    assert [format.name for format in FORMATS.values()] == list(FORMATS)
    assert (
        set(OPTIONS)
        == {"ranges", "markers", "vref", "original_language", "columns", "split"}
        <= set(signature(read_multitext).parameters)
    )
    recognized = {format.name for format in FORMATS.values() if format.beginning or format.beside}
    assert recognized == {*SAMPLES, "ebible", "table"} == {*FORMATS} - {"moses"}


@pytest.mark.parametrize("format", SAMPLES)
def test_formats_are_recognized_by_their_beginning(tmp_path, format):
    name, text = SAMPLES[format]
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert guess_format(tmp_path) == format
    assert guess_format({"deu": tmp_path / name}) == format


@pytest.mark.parametrize("first", ["Am Anfang", "<range>", ""])
def test_lines_with_a_list_of_verses_are_ebible(tmp_path, first):
    (tmp_path / "deu-a.txt").write_text(f"{first}\nx\n")
    (tmp_path / "vref.txt").write_text("GEN 1:1\nGEN 1:2\n")
    assert guess_format(tmp_path) == guess_format(tmp_path / "deu-a.txt") == "ebible"


def test_what_comes_before_the_texts_does_not_hide_their_format(tmp_path):
    (tmp_path / "README.txt").write_text("This is about the files.\n")
    (tmp_path / "eng-a.usfm").write_text("\\id GEN\n\\c 1\n\\v 1 a\n")
    assert list(read_multitext(tmp_path).editions) == ["eng-a"]  # *.txt is no USFM
    assert list(read_multitext(path for path in tmp_path.glob("*.usfm")).editions) == ["eng-a"]


@pytest.mark.parametrize("text", ["", "Just a text.\n", "1001001\tx\n", "<html></html>", "# only a comment\n"])
def test_what_is_not_recognized_is_not_guessed(tmp_path, text):
    (tmp_path / "a.txt").write_text(text)
    refused(DataError, r"a.txt: the file begins as in none of the formats .* format='moses'", read_multitext, tmp_path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "pbc", "ranges": "merge"}, "format 'pbc' does not have the option ranges; ebible, usfm, usx, usj"),
        ({"format": "auto", "vref": "x"}, "format 'pbc' does not have the option vref; ebible has"),
        ({"format": "word"}, "unknown format 'word'; use one of auto, pbc, ebible, usfm, usx, usj, usfx, osis, ces"),
    ],
)
def test_options_that_a_format_does_not_have(tmp_path, options, message):
    (tmp_path / "a.txt").write_text("01001001\tx\n")
    refused(ConfigError, message, read_multitext, tmp_path, **options)


MIXED = {  # an element of another format comes later, in the file's own text
    "ces": '<cesDoc><cesHeader><osis version="2"/></cesHeader><text><body>'
    '<seg id="b.GEN.1.1" type="verse">one</seg></body></text></cesDoc>\n',
    "osis": '<osis><osisText><div type="book" osisID="Gen"><chapter osisID="Gen.1"><verse osisID="Gen.1.1">'
    '<seg type="verse">one</seg></verse></chapter></div></osisText></osis>\n',
    "mteval": '<refset setid="s" srclang="de" trglang="en" refid="r"><doc docid="d"><session>'
    '<seg id="1">one</seg></session></doc></refset>\n',
    "costep": '<session date="2000-01-01"><chapter id="1"><refset/></chapter></session>\n',
}


@pytest.mark.parametrize("format", MIXED)
def test_of_several_beginnings_the_shortest_decides(tmp_path, format):
    file = tmp_path / "eng-a.xml"
    file.write_text(MIXED[format])
    text = file.read_text()
    matching = [name for name, known in FORMATS.items() if known.beginning and known.beginning.match(text)]
    assert len(matching) == 2  # else the rule is not asked
    for formats in (list(FORMATS.values()), list(reversed(FORMATS.values()))):  # whatever their order
        assert registry.guess_format(file, formats).name == format
