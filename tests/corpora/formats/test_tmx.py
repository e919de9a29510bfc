"""Translation memories."""

from html import escape

import pytest

from langdiff.corpora import read_multitext
from langdiff.errors import FaultsError, LangdiffWarning
from tests.helpers import refused

HEAD = '<?xml version="1.0"?>\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n<tmx version="1.4"><header srclang="en"/><body>\n'
UNITS = """<tu tuid="a"><tuv xml:lang="en"><seg>a <bpt i="1">{b}</bpt><hi>big</hi><ept i="1">{/b}</ept> dog<ph>x<sub>
(note <it>y</it>)</sub>z</ph></seg></tuv><tuv xml:lang="de-AT"><seg>ein Hund</seg></tuv></tu>
<tu><tuv lang="en"><prop type="x">not text</prop><seg> a cat </seg></tuv><tuv lang="de-AT"><seg/></tuv></tu>
"""
END = "</body></tmx>\n"


def written(folder, units, name="a.tmx", encoding="utf-8"):
    (folder / name).write_text(f"{HEAD}{units}{END}", encoding=encoding)
    return folder / name


def test_units_and_languages(tmp_path):
    multitext = read_multitext(written(tmp_path, UNITS))  # the format is recognized, the DOCTYPE not followed
    assert list(multitext.intents) == ["a", "2"]
    assert multitext.text("en").to_dict() == {"a": "a big dog (note )", "2": "a cat"}
    assert multitext.text("de-AT").to_dict() == {"a": "ein Hund"}
    assert multitext.edition_info["language"].to_dict() == {"de-AT": "deu", "en": "eng"}


def test_utf16(tmp_path):
    for encoding in ("utf-16", "utf-16-le", "utf-16-be"):
        text = "" if encoding == "utf-16" else "\ufeff"
        file = tmp_path / "a.tmx"
        file.write_bytes(f"{text}{HEAD}{UNITS}{END}".encode(encoding))
        assert read_multitext(file, format="tmx").text("de-AT").to_dict() == {"a": "ein Hund"}
    file.write_bytes(file.read_bytes()[:-1])
    refused(FaultsError, "not UTF-16", read_multitext, file, format="tmx")


def test_files_number_their_units(tmp_path):
    unit = '<tu><tuv xml:lang="{}"><seg>{}</seg></tuv></tu>'
    files = [written(tmp_path, unit.format("en", name), f"{name}.tmx") for name in ("one", "two")]
    assert read_multitext(files).text("en").to_dict() == {"one/1": "one", "two/1": "two"}


def test_files_of_one_collection(tmp_path):
    unit = '<tu><tuv xml:lang="en"><seg>a dog</seg></tuv><tuv xml:lang="{}"><seg>x</seg></tuv></tu>'
    files = [written(tmp_path, unit.format(code), f"opus.en-{code}.tmx") for code in ("de", "fr")]
    multitext = read_multitext(files)
    assert multitext.text("en").to_dict() == {"opus.en-de/1": "a dog", "opus.en-fr/1": "a dog"}
    assert multitext.text("fr").to_dict() == {"opus.en-fr/1": "x"}


def test_languages_are_compared_without_case(tmp_path):
    unit = '<tu><tuv xml:lang="{}"><seg>a dog</seg></tuv></tu>'
    one = written(tmp_path, unit.format("en-GB") + unit.format("EN-gb"), "one.tmx")
    two = written(tmp_path, unit.format("EN-GB"), "two.tmx")
    multitext = read_multitext([one, two])
    assert list(multitext.editions) == ["en-GB"]
    assert list(multitext.text("en-GB").index) == ["one/1", "one/2", "two/1"]
    twice = written(tmp_path, unit.format("en").replace("</tu>", '<tuv xml:lang="EN"><seg>x</seg></tuv></tu>'))
    refused(FaultsError, "two segments in 'en'", read_multitext, twice)


@pytest.mark.parametrize(
    ("units", "message", "left"),
    [
        (UNITS.replace('lang="de-AT"><seg>ein', 'lang="en"><seg>ein'), "two segments in 'en'", {"2": "a cat"}),
        (UNITS.replace("<tu>", '<tu tuid="a">'), "the unit 'a' is there twice", {}),
        (UNITS.replace('<tuv lang="en">', "<tuv>"), "has no language", {"a": "a big dog (note )"}),
        (UNITS.replace("a cat", "a \x01cat"), "which XML cannot hold", {"a": "a big dog (note )"}),
    ],
)
def test_faults(tmp_path, units, message, left):
    file = written(tmp_path, units + '<tu tuid="c"><tuv xml:lang="en"><seg>end</seg></tuv></tu>')
    refused(FaultsError, message, read_multitext, file)
    with pytest.warns(LangdiffWarning, match="left out"):
        assert read_multitext(file, on_error="skip").text("en").to_dict() == {**left, "c": "end"}


def test_entities_are_refused(tmp_path):
    file = written(tmp_path, UNITS)
    file.write_text(file.read_text().replace('SYSTEM "tmx14.dtd"', '[<!ENTITY b "c">]'))
    refused(FaultsError, "defines entities", read_multitext, file)


@pytest.mark.real_data
def test_europarl_as_a_translation_memory(real_data, tmp_path):
    paths = {name: real_data / "europarl" / f"{name}.txt.gz" for name in ("en", "fr")}
    lines = read_multitext(paths, format="moses")
    units = "".join(
        "<tu>"
        + "".join(f'<tuv xml:lang="{name}"><seg>{escape(text)}</seg></tuv>' for name, text in row.items())
        + "</tu>"
        for _, row in lines.to_frame().iterrows()
    )
    memory = read_multitext(written(tmp_path, units))
    assert memory.presence.sum().tolist() == [5151, 5151]
    assert (memory.to_frame()[["en", "fr"]] == lines.to_frame().map(str.strip)).all(axis=None)
