"""Columns of crossed tables, and tables of several systems in one."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import langdiff as ld
from langdiff.errors import ConfigError, DataError, LangdiffWarning
from langdiff.tables.crossing import make_columns
from tests.helpers import refused


def table(seed, intents=("1", "2", "3"), editions=("eng", "fin"), **parts):
    rng = np.random.default_rng(seed)
    bits = pd.DataFrame(rng.uniform(50, 100, (len(intents), len(editions))), list(intents), list(editions))
    return ld.Surprisals(bits=bits, lm=f"lm{seed}", **parts)


def outcomes():
    columns = make_columns([("deu", "a"), ("fin", "a"), ("deu", "b")])
    cells = pd.DataFrame([[1, 0, 1], [0, 1, np.nan]], ["q1", "q2"], columns.index)
    return ld.Outcomes(successes=cells, columns=columns)


def test_intents_and_languages_are_joined_by_name_in_any_order():
    one, other = table(1), table(2, intents=("3", "1", "2"), editions=("fin", "eng"))
    stacked = ld.stack({"a": one, "b": other})
    assert stacked.bits.loc["2", "fin@b"] == other.bits.loc["2", "fin"]
    assert stacked.bits.loc["3", "eng@a"] == one.bits.loc["3", "eng"]
    assert stacked.columns.loc["fin@b"].to_dict() == {"language": "fin", "system": "b"}
    assert stacked.lm == "a+b"


def test_what_does_not_join_is_told_and_left_empty():
    with pytest.warns(LangdiffWarning) as told:
        stacked = ld.stack({"a": table(1), "b": table(2, intents=("2", "3", "4"), editions=("fin", "deu"))})
    text = " ".join(str(each.message) for each in told)
    assert "a lacks 1: '4'" in text
    assert "b lacks 1: '1'" in text
    assert "a lacks 1: 'deu'" in text
    assert stacked.bits.loc["4"].isna().tolist() == [True, True, False, False]


def test_numbers_and_texts_name_the_same_intents():
    other = table(2)
    numbered = ld.Surprisals(bits=other.bits.set_axis([1, 2, 3], axis=0))
    assert ld.stack({"a": table(1), "b": numbered}).bits.notna().all(axis=None)


@pytest.mark.parametrize(
    ("tables", "part"),
    [
        ({"a": table(1)}, "at least two systems"),
        ([table(1), table(2)], "mapping"),
        ({"a": table(1), "b": table(2, intents=("x", "y", "z"))}, "no intent is in all tables"),
        ({"a@b": table(1), "b": table(2)}, "sign '@'"),
        ({"a": table(1), "b": ld.stack({"c": table(2), "d": table(3)})}, "several systems already"),
    ],
)
def test_what_cannot_be_stacked_is_refused(tables, part):
    refused(DataError, part, ld.stack, tables)


def test_ends_that_only_some_tell_are_refused_dropped_or_kept():
    plain = table(1)
    ends = replace(table(2), eos_bits=plain.bits * 0 + 4.0)
    refused(DataError, "end='drop'", ld.stack, {"a": plain, "b": ends})
    dropped = ld.stack({"a": plain, "b": ends}, end="drop")
    assert (dropped.bits["fin@b"] == ends.bits["fin"] - 4).all()
    assert dropped.eos_bits is None
    kept = ld.stack({"a": plain, "b": ends}, end="keep")
    assert (kept.bits["fin@b"] == ends.bits["fin"]).all()
    both = ld.stack({"a": ends, "b": ends})
    assert (both.eos_bits == 4).all(axis=None)
    refused(ConfigError, "end is one of", ld.stack, {"a": plain, "b": plain}, end="off")


def test_other_texts_under_the_same_names_are_told():
    one = replace(table(1), characters=pd.DataFrame(7.0, ["1", "2", "3"], ["eng", "fin"]))
    other = replace(table(2), characters=one.characters.assign(fin=8.0))
    with pytest.warns(LangdiffWarning, match="characters of b differ from those of a in 6 of 6"):
        ld.stack({"a": one, "b": replace(other, characters=one.characters + 1)})
    ld.stack({"a": one, "b": other})  # half of the cells: one language was normalized otherwise


def test_attributes_of_intents_are_joined_and_must_agree():
    info = pd.DataFrame({"book": ["x", "x", "y"]}, index=["1", "2", "3"])
    one = table(1).with_intent_info(info)
    assert ld.stack({"a": table(2), "b": one}).intent_info["book"].tolist() == ["x", "x", "y"]
    with pytest.raises(DataError, match="book of intent '1' is 'x', and 'z'"):
        ld.stack({"a": one, "b": table(2).with_intent_info(info.replace("x", "z"))})


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
def test_columns_are_saved_and_read_with_surprisals(tmp_path, ending):
    stacked = ld.stack({"a": table(1), "b": table(2)})
    stacked.save(tmp_path / f"bits.{ending}")
    read = ld.read_surprisals(tmp_path / f"bits.{ending}")
    pd.testing.assert_frame_equal(read.columns, stacked.columns)
    pd.testing.assert_frame_equal(read.bits, stacked.bits, check_index_type=False, check_column_type=False)


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
def test_columns_are_saved_and_read_with_outcomes(tmp_path, ending):
    saved = outcomes()
    saved.save(tmp_path / f"right.{ending}")
    read = ld.read_outcomes(tmp_path / f"right.{ending}")
    pd.testing.assert_frame_equal(read.columns, saved.columns)
    assert read.items.shape[1] == 0
    assert ld.Outcomes(successes=saved.successes).columns is None
