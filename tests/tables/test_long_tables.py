"""Long tables of any library, under any names, in any unit."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose

import langdiff as ld
from langdiff.errors import ConfigError, DataError
from langdiff.tables.long_tables import as_bits
from tests.helpers import refused

LONG = pd.DataFrame(
    {
        "sentence": ["1", "1", "2", "2", "3", "3"],
        "language": ["eng", "deu"] * 3,
        "logprob": [-10.0, -12, -20, -25, -30, -33],
        "book": ["x", "x", "x", "x", "y", "y"],
    }
)
NAMES = {"intent": "sentence", "edition": "language", "bits": "logprob", "unit": "nats"}
BITS = LONG.pivot(index="sentence", columns="language", values="logprob")[["eng", "deu"]] / -np.log(2)


class OnlyArrow:
    """A table of a library that is not installed."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize(
    "table",
    [LONG, LONG.to_dict(orient="list"), pa.table(LONG), OnlyArrow(pa.table(LONG))],
    ids=["pandas", "lists", "pyarrow", "arrow"],
)
def test_tables_of_all_libraries(table):
    found = ld.Surprisals.from_long(table, **NAMES, lm="mine")
    assert_allclose(found.bits, BITS)
    assert list(found.editions) == ["eng", "deu"]
    assert found.intent_info["book"].tolist() == ["x", "x", "y"]
    assert found.lm == "mine"


@pytest.mark.parametrize(("unit", "base"), [("bits", 2), ("nats", np.e), ("log10", 10)])
@pytest.mark.parametrize("sign", [-1, 1])
def test_units_and_signs(unit, base, sign):
    numbers = pd.DataFrame({"eng": sign * np.log([2.0, 8.0, 1e9]) / np.log(base)})
    assert_allclose(as_bits(numbers, unit, "t")["eng"], np.log2([2.0, 8.0, 1e9]))


def test_log_probabilities_need_a_unit(tmp_path):
    with pytest.raises(DataError, match=r"all 6 numbers are 0 or less; these look like log-probabilities: pass unit="):
        ld.Surprisals.from_long(LONG, **NAMES | {"unit": None})
    mixed = LONG.assign(logprob=[-1, -2, 3, -4, -5, -6])
    refused(DataError, r"5 numbers are below 0, and 1 are above", ld.Surprisals.from_long, mixed, **NAMES)
    (tmp_path / "wide.csv").write_text("intent,eng,deu\n1,-3,-4\n2,-5,\n")
    refused(DataError, r"wide\.csv: all 3 numbers are 0 or less", ld.read_surprisals, tmp_path / "wide.csv")
    assert ld.read_surprisals(tmp_path / "wide.csv", unit="bits").bits.loc["1"].tolist() == [3, 4]


def test_fit_takes_long_tables():
    surprisals = ld.simulate(40, 3, seed=1).surprisals
    long = surprisals.to_frame()
    expected = ld.fit(surprisals).difficulty
    for table in (long, long.to_dict(orient="list"), pa.table(long)):
        assert_allclose(ld.fit(table).difficulty, expected)
    with pytest.raises(DataError, match=r"has text in 'language', 'book'.*from_long\(table, intent=") as caught:
        ld.fit(LONG.drop(columns="sentence"))
    assert "not numbers" in str(caught.value)


def test_refusals():
    with pytest.raises(DataError, match=r"no column 'intent', 'edition', 'bits'; there are 'sentence', 'language'"):
        ld.Surprisals.from_long(LONG)
    with pytest.raises(ConfigError, match="in different columns"):
        ld.Surprisals.from_long(LONG, intent="sentence", edition="sentence", bits="logprob")
    refused(ConfigError, "unknown unit 'x'", ld.Surprisals.from_long, LONG, **NAMES | {"unit": "x"})
    with pytest.raises(DataError, match="given twice, the first intent '1', edition 'eng'"):
        ld.Surprisals.from_long(pd.concat([LONG, LONG.head(1)]), **NAMES)
    with pytest.raises(DataError, match="without a name of the edition"):
        ld.Surprisals.from_long(LONG.assign(language=[None, *LONG["language"][1:]]), **NAMES)
    with pytest.raises(DataError, match="columns of a table have one length"):
        ld.Surprisals.from_long({"intent": [1, 2], "edition": ["a"]})
    refused(DataError, "not int", ld.Surprisals.from_long, 7)
    with pytest.raises(DataError, match="named twice: 'language'"):
        ld.Surprisals.from_long(pd.concat([LONG, LONG[["language"]]], axis=1), **NAMES)
    with pytest.raises(DataError, match="at least two systems, whose names differ as text; there is 'mine'"):
        ld.fit({"mine": ld.Surprisals.from_long(LONG, **NAMES)})


def test_numbers_of_arrow_in_frames():
    table = LONG.assign(logprob=pd.array([-10.0, None, -20, -25, -30, -33], dtype="float64[pyarrow]"))
    bits = ld.Surprisals.from_long(table, **NAMES).bits
    assert np.isnan(bits.loc["1", "deu"])
    assert bits.loc["3"].tolist() == BITS.loc["3"].tolist()


def test_files_with_other_names_semicolons_and_decimal_commas(tmp_path):
    path = tmp_path / "scores.csv"
    text = LONG.to_csv(index=False, sep=";", decimal=",")
    path.write_text(text.replace("-10,0", "-10,25"))
    found = ld.read_surprisals(path, intent="sentence", edition="language", bits="logprob", unit="nats")
    assert found.bits.loc["1", "eng"] == pytest.approx(10.25 / np.log(2))
    assert found.lm == "scores"
    refused(DataError, r"name its columns: intent=", ld.read_surprisals, path)
    wide = tmp_path / "wide.csv"
    wide.write_text("verse;eng;deu\n1,1;10,5;12\n1,2;20,25;\n")
    bits = ld.read_surprisals(wide).bits
    assert list(bits.index) == ["1,1", "1,2"]  # names stay as they are
    assert bits["eng"].tolist() == [10.5, 20.25]
    wide.write_text("verse;eng\n1;1,250\n2;2,500\n")
    with pytest.raises(DataError, match=r"line 2, column 'eng': '1,250' has either a decimal comma or a comma between"):
        ld.read_surprisals(wide)


def test_a_decimal_comma_beside_points_is_named(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('intent,eng\n1,"10,5"\n2,3.5\n')
    refused(DataError, r"line 2, column 'eng': '10,5' is not a number", ld.read_surprisals, path)
