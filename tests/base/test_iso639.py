"""Codes of languages: which there are, against an independent list, and what files and tables say of them."""

import gzip
import json
from pathlib import Path

import pandas as pd
import pytest

from langdiff.base.iso639 import ISO_639_3, MACROLANGUAGES, english_names, iso639_3
from langdiff.corpora import read_multitext
from langdiff.errors import DataError, LangdiffWarning

DEBIAN = Path("/usr/share/iso-codes/json/iso_639-3.json")  # of the package iso-codes, made from the tables of SIL


@pytest.mark.skipif(not DEBIAN.exists(), reason="needs the package iso-codes")
def test_codes_against_the_tables_of_the_standard():
    languages = [one for one in json.loads(DEBIAN.read_text())["639-3"] if one["scope"] != "S"]
    assert [one["alpha_3"] for one in languages if iso639_3(one["alpha_3"]) != one["alpha_3"]] == []
    two = {one["alpha_2"]: one["alpha_3"] for one in languages if "alpha_2" in one}
    assert {code: iso639_3(code) for code in two} == two
    libraries = {one["bibliographic"]: one["alpha_3"] for one in languages if "bibliographic" in one}
    assert len(libraries) == 20
    assert {code: iso639_3(code) for code in libraries} == libraries
    assert {one["alpha_3"] for one in languages if one["scope"] == "M"} == MACROLANGUAGES


def test_what_is_no_code_of_a_language():
    for code in ("xyz", "xx", "the ", "und", "mul", "mis", "zxx", "quz1", "DEU", "", None, 3):
        assert iso639_3(code) is None
    assert [iso639_3(code) for code in ("qaa", "qtz", "iw", "scr")] == ["qaa", "qtz", "heb", "hrv"]
    assert all(iso639_3(code) == code for code in ISO_639_3.values())


@pytest.fixture
def folder(tmp_path):
    for name, header in {"deu-a": "eng", "fra-b": "und", "xyz-c": "zzz", "zho-d": "cmn", "ger-e": "deu"}.items():
        (tmp_path / f"{name}.txt").write_text(f"# closest ISO 639-3: {header}\n01001001\tx\n")
    return tmp_path


def test_headers_and_names(folder):
    with (
        pytest.warns(LangdiffWarning, match=r"headers of 1 edition\(s\) name another language.*'deu-a \(eng\)'"),
        pytest.warns(LangdiffWarning, match=r"headers of 1 edition\(s\) .* not a code of ISO 639: 'xyz-c \(zzz\)'"),
    ):
        info = read_multitext(folder).edition_info
    assert info["language"].fillna("").to_dict() == {
        "deu-a": "eng", "fra-b": "fra", "ger-e": "deu", "xyz-c": "", "zho-d": "cmn",
    }  # fmt: skip


def test_a_table_counts_more_and_undetermined_counts_nothing(folder):
    table = "file,iso639_3\ndeu-a.txt,deu\nfra-b.txt,und\nger-e.txt,ger\nxyz-c.txt,x-own\n"
    (folder / "metadata.csv").write_text(table)
    with pytest.warns(LangdiffWarning, match=r"'xyz-c \(zzz\)'"):  # that of deu-a is corrected by the table
        info = read_multitext(folder).edition_info
    languages = {"deu-a": "deu", "fra-b": "fra", "ger-e": "deu", "xyz-c": "x-own", "zho-d": "cmn"}
    assert info["language"].to_dict() == languages


@pytest.fixture
def plain(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.txt.gz").write_bytes(gzip.compress(b"01001001\tx\n"))
    return tmp_path


@pytest.mark.parametrize(
    "header", ["Filename,ISO_639-3,Name", "file,iso639_3,Name", "filename,iso,Name", "translationId,languageCode,Name"]
)
@pytest.mark.parametrize("row", ["a", "a.txt", "a.txt.gz"])
def test_columns_of_the_usual_corpora(plain, header, row):
    if header.startswith("translationId"):
        row = "a"  # an edition, not a file
    (plain / "about.csv").write_text(f"{header}\n{row},ger,Luther\n")
    info = read_multitext(plain, edition_info=plain / "about.csv").edition_info
    assert info.loc["a", ["language", "Name"]].tolist() == ["deu", "Luther"]
    assert pd.isna(info.loc["b", "language"])


def test_columns_that_are_named(plain):
    (plain / "about.csv").write_text("Datei,Sprache,language\na.txt,deu,German\n")
    read = {"Datei": "file", "Sprache": "language"}
    info = read_multitext(plain, edition_info=plain / "about.csv", edition_columns=read).edition_info
    assert info.loc["a", ["language", "language_name"]].tolist() == ["deu", "German"]
    frame = pd.DataFrame({"Sprache": ["deu", "eng"]}, index=["a", "b"])
    info = read_multitext(plain, edition_info=frame, edition_columns={"Sprache": "language"}).edition_info
    assert info["language"].tolist() == ["deu", "eng"]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (None, r"needs a column 'file' or 'edition', has 'Datei', 'iso', 'ISO'. If such a column has another name"),
        ({"File": "file"}, r"edition_columns: .*about.csv has no column 'File', but 'Datei'"),
        ({"Datei": "file", "iso": "x", "ISO": "x"}, r"two columns would have the same name: 'file', 'x', 'x'"),
    ],
)
def test_columns_that_do_not_fit(plain, columns, message):
    (plain / "about.csv").write_text("Datei,iso,ISO\na.txt,deu,deu\n")
    with pytest.raises(DataError, match=message):
        read_multitext(plain, edition_info=plain / "about.csv", edition_columns=columns)


KNOWN = {"deu": "German", "fi": "Finnish", "eng-x-bible": "English", "tur_Latn": "Turkish", "zho": "Chinese"}


def test_english_names():
    assert english_names(KNOWN) == KNOWN
    assert english_names(["eng-GB", "eng.US", "fra"]) == {
        "eng-GB": "English (eng-GB)",
        "eng.US": "English (eng.US)",
        "fra": "French",
    }
    assert english_names(["Vulgate", "DEU", "qaa", "e1"]) == {}  # neither codes, nor names of languages that are known


@pytest.mark.real_data
def test_names_are_those_of_glottolog(real_data):
    languages = pd.read_csv(real_data / "glottolog" / "languages.csv.gz", keep_default_na=False)
    known = languages[languages["ISO639P3code"] != ""].set_index("ISO639P3code")["Name"].to_dict()
    found = {code: english_names([code])[code] for code in known}
    assert len(found) > 8000
    assert found == known
