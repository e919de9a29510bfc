"""The table of bits: what it refuses, and its way through files."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from pandas.testing import assert_frame_equal

from langdiff.errors import ConfigError, DataError
from langdiff.tables.surprisal_files import read_surprisals
from langdiff.tables.surprisals import Surprisals
from tests.helpers import refused

KINDS = ["csv", "tsv", "parquet"]
ROUNDING = 1e-14  # one multiplication


def table(**columns):
    return pd.DataFrame(columns, index=["01001001", "01001002", "01001003"])


@pytest.fixture
def surprisals():
    return Surprisals(
        bits=table(eng=[10.0, 20.0, 30.1], deu=[12.0, np.nan, 1 / 3]),
        eos_bits=table(eng=[1.0, 2.0, 3.0], deu=[0.5, np.nan, 0.25]),
        characters=table(eng=[5.0, 10.0, 15.0], deu=[6.0, np.nan, 4.0]),
        bytes=table(eng=[5.0, 10.0, 16.0], deu=[7.0, np.nan, 5.0]),
        units=table(eng=[2.0, 4.0, 6.0], deu=[3.0, np.nan, 2.0]),
        replaced=table(eng=[0.0, 0.0, 0.0], deu=[0.0, np.nan, 1.0]),
        lm="char-lstm",
    )


@pytest.mark.parametrize(
    ("bits", "message"),
    [
        (table(a=[1.0, 0.0, -2.0], b=[np.nan, 1.0, np.inf]), r"3 of 5 surprisals .* \(01001002, a\) = 0, .* = inf\. "),
        (table(a=["x", True, "3"], b=[2, None, 4.0]), r"2 of 5 .* are not numbers: .*\(01001002, a\) = True\. "),
        (pd.DataFrame([[1.0, 2.0]], index=["1"], columns=["a", "a"]), r"1 edition\(s\) named twice: 'a'"),
        (pd.DataFrame({"a": [1.0, 2.0]}, index=["1", "1"]), r"1 intent\(s\) named twice: '1'"),
        (
            pd.DataFrame(np.ones((2, 4)), columns=pd.MultiIndex.from_product([["a", "b"], ["x", "y"]])),
            r"editions have names in 2 levels, such as \('a', 'x'\)",
        ),
        (
            pd.DataFrame(np.ones((4, 2)), index=pd.MultiIndex.from_product([["GEN", "EXO"], [1, 2]])),
            r"intents have names in 2 levels, such as \('GEN', 1\)",
        ),
    ],
)
def test_what_is_no_surprisal(bits, message):
    refused(DataError, message, Surprisals, bits=bits)


def test_of_a_table_of_objects_only_the_bad_cells_are_named():
    bits = pd.DataFrame(np.arange(1.0, 13).reshape(4, 3), columns=list("abc")).astype(object)
    bits.loc[2, "b"] = "n/a"
    with pytest.raises(DataError, match=r"^1 of 12 surprisals are not numbers: \(2, b\) = 'n/a'\. Give bits, and NaN"):
        Surprisals(bits=bits)
    for missing in (None, np.nan, pd.NA):
        bits.loc[2, "b"] = missing
        assert np.isnan(Surprisals(bits=bits).bits.to_numpy()).sum() == 1
    dates = pd.DataFrame({1: [1.0, 2.0], 2: pd.to_datetime(["2020-01-01", "2020-01-02"])})
    refused(DataError, r"2 of 4 surprisals are not numbers: \(0, 2\) = Timestamp", Surprisals, bits=dates)


def test_to_frame_has_a_row_an_observed_cell(surprisals):
    long = surprisals.to_frame()
    assert " ".join(long) == "intent edition bits eos_bits characters bytes units replaced"
    assert len(long) == 5
    assert long.iloc[1].tolist() == ["01001001", "deu", 12.0, 0.5, 6.0, 7.0, 3.0, 0.0]
    assert Surprisals(bits=surprisals.bits).to_frame().columns.tolist() == ["intent", "edition", "bits"]


def test_bits_per_character(surprisals):
    table = surprisals.bits_per_character().loc["deu"]
    bits = 12 + 1 / 3
    expected = {"intents": 2, "bits": bits, "characters": 10, "bytes": 12, "units": 5, "bits_per_intent": bits / 2}
    expected |= {"bits_per_character": bits / 10, "bits_per_symbol": bits / (10 + 2), "bits_per_byte": bits / 12}
    expected |= {"bits_per_unit": bits / 5, "units_per_character": 5 / 10, "units_per_byte": 5 / 12}
    expected |= {"replaced_percent": 10}  # one of ten characters
    assert table.index.tolist() == list(expected)
    assert_allclose(table.tolist(), list(expected.values()))
    without = Surprisals(bits=surprisals.bits).bits_per_character()
    assert without[["bits_per_character", "bits_per_symbol", "bits_per_byte", "bits_per_unit"]].isna().all(axis=None)


def test_a_rate_whose_divisor_is_not_known_of_all_intents_is_missing(surprisals):
    some = surprisals.characters.copy()
    some.loc["01001003", "eng"] = np.nan
    rates = replace(surprisals, characters=some).bits_per_character()["bits_per_character"]
    assert rates.notna().to_dict() == {"eng": False, "deu": True}
    nothing = replace(surprisals, bytes=surprisals.bytes * np.nan).bits_per_character()
    assert nothing["bits_per_byte"].isna().all()


@pytest.mark.parametrize("name", ["eos_bits", "characters", "bytes", "units", "replaced"])
def test_frames_in_another_order_are_refused(surprisals, name):
    frame = getattr(surprisals, name)
    for other in (frame.iloc[::-1], frame[["deu", "eng"]], frame.iloc[:2], frame.assign(fra=1.0)):
        refused(DataError, f"{name} must have the intents and editions of bits", replace, surprisals, **{name: other})


def test_sel(surprisals):
    chosen = surprisals.sel(intents=iter(["01001003", "01001001"]), editions=["deu"])
    assert chosen.bits.to_dict() == {"deu": {"01001003": 1 / 3, "01001001": 12.0}}
    assert chosen.eos_bits.shape == chosen.characters.shape == (2, 1)
    assert chosen.replaced.to_dict() == {"deu": {"01001003": 1.0, "01001001": 0.0}}
    assert chosen.bytes.to_dict() == {"deu": {"01001003": 5.0, "01001001": 7.0}}
    assert chosen.lm == "char-lstm"
    refused(DataError, r"1 unknown edition\(s\): 'fra'", surprisals.sel, editions=["fra"])
    refused(DataError, r"1 unknown intent\(s\): '9'", surprisals.sel, intents=["9"])


# --- files


@pytest.mark.parametrize("kind", KINDS)
def test_saved_and_read(surprisals, tmp_path, kind):
    file = tmp_path / "new" / f"table.{kind}"
    surprisals.save(file)
    again = read_surprisals(file)
    assert_frame_equal(again.bits, surprisals.bits, check_index_type=False, check_column_type=False)
    for name in ("eos_bits", "characters", "bytes", "replaced"):
        before, after = getattr(surprisals, name), getattr(again, name)
        assert_frame_equal(after, before, check_names=False, check_index_type=False, check_column_type=False)
    assert again.lm == "char-lstm"
    assert {path.name for path in file.parent.iterdir()} <= {
        file.name,
        f"{file.name}.json",
    }  # nothing temporary is left


@pytest.mark.parametrize(
    ("unit", "bits"),
    [("bits", [3.0, 1.0]), ("nats", [3 / np.log(2), 1 / np.log(2)]), ("log10", [9.965784284662087, np.log2(10)])],
)
@pytest.mark.parametrize("wide", [True, False])
def test_units(tmp_path, unit, bits, wide):
    if wide:
        (tmp_path / "t.csv").write_text("verse,eng\n0001,3\n0002,1\n")
    else:
        (tmp_path / "t.csv").write_text("edition,intent,bits,eos_bits,characters\neng,0001,3,1.5,7\neng,0002,1,.5,8\n")
    read = read_surprisals(tmp_path / "t.csv", unit=unit)
    assert list(read.intents) == ["0001", "0002"]  # ids, not numbers
    assert_allclose(read.bits["eng"], bits, rtol=ROUNDING)
    assert read.lm == "t"
    if not wide:
        assert_allclose(read.eos_bits["eng"], np.array(bits) / 2, rtol=ROUNDING)
        assert read.characters["eng"].tolist() == [7, 8]  # counts have no unit
        assert read.bytes is read.replaced is None  # tables of older versions have no such column


@pytest.mark.parametrize(
    ("name", "content", "error", "message"),
    [
        ("t.csv", "", DataError, r"t.csv: cannot be read as a table"),
        ("t.csv", b"\xff\xfe\0\1", DataError, r"t.csv: UTF-16, as its byte order mark says"),
        ("t.csv", "intent\n1\n", DataError, "only one column"),
        ("t.csv", "intent,eng\n1,2\n2,x\n", DataError, r"t.csv, line 3, column 'eng': 'x' is not a number"),
        ("t.csv", "intent,eng\n1,0\n", DataError, r"\(1, eng\) = 0"),
        ("t.csv", "intent,eng\n1,2\n1,3\n", DataError, r"intent\(s\) named twice: '1'"),
        ("t.csv", "intent,edition,bits\n1,a,2\n1,a,3\n", DataError, r"1 cell\(s\) given twice, .*'1', edition 'a'"),
        ("t.csv", "intent,edition,bits\n1,a,two\n", DataError, r"line 2, column 'bits': 'two' is not a number"),
        ("t.csv", "intent,edition,bits,lm\n1,a,2,x\n1,b,2,y\n", DataError, "surprisals of 2 language models"),
        ("t.parquet", b"PAR1 no parquet", DataError, r"t.parquet: cannot be read as a table"),
        ("t.xlsx", "", ConfigError, r"unknown kind of table '.xlsx'; use .csv, .tsv or .parquet"),
    ],
)
def test_files_that_cannot_be_used(tmp_path, name, content, error, message):
    file = tmp_path / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    refused(error, message, read_surprisals, file)


@pytest.mark.parametrize("kind", ["csv", "tsv"])
def test_names_that_look_like_missing_values(tmp_path, kind):
    bits = pd.DataFrame({"nan": [1.0, 2.0], "NA": [3.0, 4.0]}, index=["null", "None"])  # nan is ISO 639-3, Min Nan
    Surprisals(bits=bits).save(tmp_path / f"t.{kind}")
    assert read_surprisals(tmp_path / f"t.{kind}").bits.to_dict() == bits.to_dict()


@pytest.mark.parametrize("content", ["intent,a,b\n1,2,3,4\n", "intent,a,a\n1,2,3\n"])
def test_columns_that_do_not_fit(tmp_path, content):
    (tmp_path / "t.csv").write_text(content)
    with pytest.raises(DataError):
        read_surprisals(tmp_path / "t.csv")
