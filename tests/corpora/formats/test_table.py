"""Tables of texts: a row per intent, a column per edition."""

import csv
import gzip
import pickle
import zipfile
from functools import partial

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

from langdiff.corpora import read_frame, read_multitext
from langdiff.corpora.formats.table import TableText
from langdiff.errors import ConfigError, DataError
from tests.helpers import refused

read = partial(read_multitext, format="table")
TEXTS = "id,eng,deu-x\ns2,a dog,ein Hund\ns1,,eine e\u0301\n,,\n\ns3, ,\n"


@pytest.fixture
def table(tmp_path):
    (tmp_path / "texts.csv").write_text(TEXTS, encoding="utf-8")
    return tmp_path / "texts.csv"


def test_rows_are_intents_and_columns_editions(table):
    multitext = read_multitext(table)
    assert multitext.to_frame().fillna("-").to_dict("index") == {
        "s2": {"eng": "a dog", "deu-x": "ein Hund"},
        "s1": {"eng": "-", "deu-x": "eine \N{LATIN SMALL LETTER E WITH ACUTE}"},
        "s3": {"eng": "-", "deu-x": "-"},
    }
    assert multitext.edition_info["language"].to_dict() == {"eng": "eng", "deu-x": "deu"}
    assert read(table, nfc=False).text("deu-x")["s1"] == "eine e\u0301"
    source = TableText(table, "eng")
    assert pickle.loads(pickle.dumps(source)) == source


def test_editions_asked_for(table):
    table.write_text("id,eng,page,deu\ns1,a dog,7,ein Hund\n")
    assert list(read(table, editions=["deu", "eng"]).editions) == ["deu", "eng"]
    refused(DataError, r"edition\(s\): 'fin'\. Found: 'deu', 'eng', 'page'", read, table, editions=["fin"])
    (table.parent / "metadata.csv").write_text("edition,family\ndeu,Germanic\neng,Germanic\n")
    known = read(table.parent, editions=["eng", "deu"])  # metadata.csv is not a table of texts
    assert known.edition_info["family"].tolist() == ["Germanic", "Germanic"]


# what drawn texts may be
ODD = ("escaped", "markup", "recoded", "lost", "formula", "placeholder", "repeated", "invisible", "touching")
ids = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=4).filter(str.strip)
texts = (
    st.none() | st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6) | st.sampled_from(["1,5"])
)


@st.composite
def frames(draw):
    intents = draw(st.lists(ids, min_size=1, max_size=5, unique=True))
    editions = draw(st.lists(st.sampled_from(["eng", "deu-x", "\u05e2\u05d1\u05e8", 'a "b"']), min_size=1, unique=True))
    cells = {edition: [f"x{draw(texts)}", *(draw(texts) for _ in intents[1:])] for edition in editions}
    return pd.DataFrame(cells, index=intents, dtype=object)


@given(
    frame=frames(),
    kind=st.sampled_from([("csv", ","), ("csv", ";"), ("tsv", "\t")]),
    ending=st.sampled_from(["\n", "\r\n"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig"]),
    packed=st.booleans(),
)
def test_a_frame_that_is_saved_comes_back(frame, kind, ending, encoding, packed, tmp_path_factory):
    raw = frame.to_csv(None, sep=kind[1], lineterminator=ending, index_label="id", quoting=csv.QUOTE_ALL)
    file = tmp_path_factory.mktemp("table") / f"t.{kind[0]}{'.gz' if packed else ''}"
    file.write_bytes(gzip.compress(raw.encode(encoding), 1) if packed else raw.encode(encoding))
    expected, found = read_frame(frame, trust=ODD), read(file, nfc=False, trust=ODD)
    assert_frame_equal(found.to_frame(), expected.to_frame(), check_column_type=False)
    assert_frame_equal(found.presence, expected.presence, check_names=False)
    assert found.edition_info["language"].equals(expected.edition_info["language"].rename_axis("edition"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,eng\n1,a\n2,b\n1,c\n", r"t.csv, line 4: column 'id': '1' is there twice, first in line 2; neither"),
        ("id,eng\n,a\n", r"t.csv, line 2: column 'id': the id of this row is missing"),
        ("id,eng,eng\n1,a,b\n", r"t.csv, line 1: two columns have the same name: id, eng, eng"),
        ("id,eng,\n1,a,b\n", r"t.csv, line 1: column 3 has no name"),
        ("id\n1\n", r"t.csv, line 1: names one column only, 'id'"),
        ("id\teng\n1\ta\n", r"names one column only, 'id\\teng'; .* by tabs in .tsv"),
        ("1,a dog,ein Hund\n2,a cat,eine Katze\n", r"line 1: begins with '1', a number; .* must name the columns"),
        ("id,eng,deu\n1,a\n", r"t.csv, line 2: 2 cells, but line 1 names 3 columns"),
        ("id,eng,deu\n1,a,\n2,b, \n", r"t.csv: holds no text of edition 'deu'"),
        ("id,eng,fin\n1,a,2.5\n2,b,1e-3\n3,c,NA\n4,d,\n", r"line 1: column 'fin' holds nothing but .*`langdiff fit`"),
        ("intent,edition,bits\n1,eng,3.5\n", r"'intent' and 'edition', as a table with one row per cell; .*`langdiff"),
        ("id,eng\n1,f\0ur\n", r"t.csv, line 2: column 'eng': a NUL byte"),
        ('id,eng\n1,"a" dog\n', r"cannot be read as a table: in line 2, .* those inside are doubled"),
        (b"id,deu\n1,ein\n2,f\xfcnf\n", r"t.csv, line 3: column 'deu': not UTF-8. Save it as"),
        (b"id,d\xfc\n1,ein\n", r"t.csv: .* in line 1 it is not UTF-8. Save it as"),
        ("", r"t.csv: .*its first line is empty"),
    ],
)
def test_what_is_no_table_of_texts(tmp_path, text, message):
    (tmp_path / "t.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    for format in ("table", "auto"):
        refused(DataError, message, read_multitext, tmp_path / "t.csv", format=format)


def test_a_file_that_has_changed(table):
    multitext = read(table)
    table.write_text("id,eng\ns2,a dog\n")
    assert multitext.text("eng").tolist() == ["a dog"]
    refused(DataError, r"texts.csv: column 'deu-x' is gone. The file has changed", multitext.text, "deu-x")


def test_one_file_has_all_editions(table):
    refused(ConfigError, "path: a table has all editions", read, {"eng": table})
    (table.parent / "more.tsv").write_text(TEXTS.replace(",", "\t"))
    refused(DataError, r"2 tables \('.*more.tsv', '.*texts.csv'\); give one file", read, table.parent)
    with zipfile.ZipFile(table.parent / "texts.zip", "w") as archive:
        archive.write(table, "texts.csv")
    assert read(table.parent / "texts.zip").to_frame().equals(read(table).to_frame())


def test_several_tables_may_be_line_aligned_texts(tmp_path):
    for edition in ("deu", "eng"):
        (tmp_path / f"{edition}.tsv").write_text("a line\n")
    refused(DataError, r"pass format='moses'; a table with one column per edition", read_multitext, f"{tmp_path}/*")
    assert list(read_multitext(f"{tmp_path}/*", format="moses").editions) == ["deu", "eng"]


def test_other_formats_are_recognized_as_before(tmp_path):
    (tmp_path / "eng-a.tsv").write_text("01001001\tone\n")
    assert list(read_multitext(tmp_path / "eng-a.tsv").intents) == ["01001001"]  # Parallel Bible Corpus
    with zipfile.ZipFile(tmp_path / "bibles.zip", "w") as archive:
        archive.write(tmp_path / "eng-a.tsv", "deu-b.txt")
    (tmp_path / "metadata.csv").write_text("edition,family\ndeu-b,Germanic\n")
    assert list(read_multitext(tmp_path).editions) == ["deu-b"]  # of the archive, although tables lie beside it
    (tmp_path / "verses.csv").write_text("a line\n")
    (tmp_path / "vref.txt").write_text("GEN 1:1\n")
    assert list(read_multitext(tmp_path / "verses.csv").editions) == ["verses"]  # eBible corpus
