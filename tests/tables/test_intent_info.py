"""Properties of intents: what a table of surprisals does with them, and their way through files."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import langdiff as ld
from langdiff.base.signature import short_hash
from langdiff.errors import DataError
from langdiff.regression.table import identify_table
from langdiff.tables.intent_info import read_intent_info
from langdiff.tables.surprisal_files import read_surprisals
from langdiff.tables.surprisals import Surprisals
from tests.helpers import refused

KINDS = ["csv", "tsv", "parquet"]
INTENTS = ["40001001", "40001002", "41001001"]
ABOUT = pd.DataFrame({"book": ["MAT", "MAT", "MRK"], "chapter": ["40001", "40001", "41001"]}, index=INTENTS)


def bits():
    return pd.DataFrame({"eng": [10.0, np.nan, 30.0], "deu": [np.nan, np.nan, 8.0]}, index=INTENTS)


@pytest.fixture
def table():
    return Surprisals(bits=bits(), intent_info=ABOUT)


def test_rows_must_be_those_of_the_bits(table):
    assert table.intent_info["book"].to_dict() == dict(zip(INTENTS, ["MAT", "MAT", "MRK"], strict=True))
    for wrong in (ABOUT.iloc[::-1], ABOUT.iloc[:2], ABOUT.rename({"40001001": "40001009"})):
        with pytest.raises(DataError, match=r"one row per intent of the table, in the same order; use intent_info"):
            Surprisals(bits=bits(), intent_info=wrong)
    with pytest.raises(DataError, match="must be a DataFrame indexed by intent, not dict"):
        Surprisals(bits=bits(), intent_info={"book": "MAT"})
    twice = pd.concat([ABOUT, ABOUT[["book"]]], axis=1)
    refused(DataError, "several columns 'book'", Surprisals, bits=bits(), intent_info=twice)


def test_neither_the_hash_of_bits_nor_a_signature_changes(table):
    plain = Surprisals(bits=bits())
    assert identify_table(table) == identify_table(plain)
    assert short_hash(table.bits) == short_hash(plain.bits)
    drawn = ld.simulate(40, 4, seed=1).surprisals
    known = drawn.with_intent_info(pd.DataFrame({"document": "x"}, index=drawn.intents))
    assert ld.fit(known).signature == ld.fit(drawn).signature


def test_the_columns_of_the_file_are_the_documented_ones(table, tmp_path):
    table.save(tmp_path / "bits.csv")
    lines = (tmp_path / "bits.csv").read_text().splitlines()
    assert lines[0] == "intent,edition,bits,intent_book,intent_chapter,lm"
    assert lines[1] == "40001001,eng,10.0,MAT,40001,unknown"
    assert list(table.to_frame()) == ["intent", "edition", "bits", "intent_book", "intent_chapter"]


@pytest.mark.parametrize("kind", KINDS)
def test_names_that_a_table_uses_itself_do_not_clash(tmp_path, kind):
    about = pd.DataFrame({"bits": [1.5, 2.5, np.nan], "lm": ["a", "", None], "intent": [7, "x", True]}, index=INTENTS)
    Surprisals(bits=bits(), intent_info=about, lm="mine").save(tmp_path / f"bits.{kind}")
    again = read_surprisals(tmp_path / f"bits.{kind}")
    assert again.lm == "mine"
    assert again.bits.equals(bits())
    assert again.intent_info["bits"].astype(float).fillna(0).tolist() == [1.5, 2.5, 0]
    assert again.intent_info["lm"].fillna("none").tolist() == ["a", "none", "none"]
    assert again.intent_info["intent"].tolist() == ["7", "x", "True"]


cells = st.none() | st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=5)


@given(values=st.lists(cells, min_size=3, max_size=3), kind=st.sampled_from(KINDS))
def test_any_text_comes_back(values, kind, tmp_path_factory):
    path = tmp_path_factory.mktemp("round") / f"bits.{kind}"
    about = pd.DataFrame({"document": values}, index=INTENTS, dtype=object)
    Surprisals(bits=bits(), intent_info=about).save(path)
    again = read_surprisals(path).intent_info["document"]
    assert [None if pd.isna(value) else value for value in again] == values


@pytest.mark.parametrize("column", ["document", "book", "chapter", "intent_speaker"])
def test_columns_of_a_table_made_elsewhere(tmp_path, column):
    path = tmp_path / "mine.csv"
    path.write_text(f"intent,{column},edition,bits,tokens\nb,y,eng,10,3\na,x,eng,9,4\na,x,deu,8,5\nb,y,deu,7,6\n")
    info = read_surprisals(path).intent_info
    assert info.to_dict() == {column.removeprefix("intent_"): {"b": "y", "a": "x"}}  # tokens is about cells
    path.write_text(f"intent,{column},edition,bits\nb,y,eng,10\na,x,eng,9\na,z,deu,8\nb,y,deu,7\n")
    with pytest.raises(DataError, match=rf"mine\.csv, column '{column}': intent 'a' has several values, 'x' and 'z'"):
        read_surprisals(path)
    path.write_text(f"intent,{column},edition,bits\na,x,eng,9\na,,deu,8\n")
    refused(DataError, "intent 'a' has several values", read_surprisals, path)


@pytest.mark.parametrize("name", ["about.csv", "about.tsv"])
def test_attributes_from_a_file_of_their_own(table, tmp_path, name):
    lines = ["verse,document,book", "41001001,x,M", "40001001,y,M", "40001002,,N", "66001001,z,Z"]
    (tmp_path / name).write_text("\n".join(lines).replace(",", "\t" if name.endswith("tsv") else ","))
    table.save(tmp_path / "bits.csv")
    info = read_surprisals(tmp_path / "bits.csv", intent_info=tmp_path / name).intent_info
    assert list(info) == ["chapter", "document", "book"]  # the file's book replaces that of the table
    assert info["book"].tolist() == ["M", "N", "M"]
    assert info["document"].fillna("none").tolist() == ["y", "none", "x"]
    assert read_intent_info(tmp_path / name).index.name == "intent"


def test_attributes_that_do_not_fit(table, tmp_path):
    with pytest.raises(DataError, match=r"intent_info: no row for 1 of 3 intents: '41001001'\. Intents there"):
        table.with_intent_info(ABOUT.iloc[:2])
    with pytest.raises(DataError, match=r"several rows for 1 intent\(s\): '40001001'"):
        table.with_intent_info(pd.concat([ABOUT, ABOUT.iloc[:1]]))
    (tmp_path / "about.csv").write_text("intent,book\n40001001,MAT\n")
    refused(DataError, r"about\.csv: no row for 2 of 3 intents", table.with_intent_info, tmp_path / "about.csv")


# --- from readers to tables


def bible(n=160):
    verses = [f"{40 + i // 80:02d}{1 + i % 80 // 20:03d}{1 + i % 20:03d}" for i in range(n)]
    words = ["the", "dog", "ran", "and", "a", "cat", "sat", "by", "it", "as", "we", "saw"]
    texts = [" ".join(words[(i * k) % 12] for k in range(1, 6)) for i in range(n)]
    frame = pd.DataFrame({"eng": texts, "deu": [text.replace("the", "der") for text in texts]}, index=verses)
    return ld.read_frame(frame, intent_info=pd.DataFrame({"chapter": [verse[:5] for verse in verses]}, index=verses))


def check_chapters(table):
    assert table.intent_info["chapter"].to_dict() == {verse: verse[:5] for verse in table.intents}


def test_they_go_from_a_multitext_through_selection_and_split_into_every_table(tmp_path):
    chosen = ld.select(bible(), progress=False).multitext
    parts = ld.split(chosen)
    assert list(parts.test.intents) != list(chosen.intents)
    trained = ld.compute_surprisals(parts, lm="kneser-ney-2", cache=tmp_path, max_replaced=1.0, progress=False)
    check_chapters(trained)
    check_chapters(ld.score_multitext(parts.dev, tmp_path, lm="kneser-ney-2", max_replaced=1.0, progress=False))

    class Bytes:
        def surprisal(self, texts):
            return [8.0 * len(text.encode()) for text in texts]

    check_chapters(ld.surprisals_of(Bytes(), parts.test))
    origin = pd.Series(["eng", "deu", "fra"] * 60, index=None)[: len(trained.intents)].set_axis(trained.intents)
    divided = ld.split_by_origin(trained, origin, languages=["eng"])
    check_chapters(divided)
    assert len(divided.intents) == len(trained.intents)
    unknown = origin.where(np.arange(len(origin)) > 3)
    some = ld.split_by_origin(trained, unknown, languages=["eng", "deu"])
    assert len(some.intents) == len(trained.intents) - 4
    check_chapters(some)


# --- real data
