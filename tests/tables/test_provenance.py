"""The record of what surprisals depend on: it goes into files with them, and never to others."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import langdiff as ld
from langdiff.errors import DataError, LangdiffWarning, OutputError
from langdiff.tables.long_tables import Provenance, join_provenance
from tests.helpers import refused

KINDS = ["csv", "tsv", "parquet"]
RECORD = Provenance(
    recipe="char-small#3fa1c09b",
    scoring="unpriced",
    seed=7,
    texts="9c2e0000",
    preparation="reversible",
    split="train:4,dev:2,test:3",
    compute="cpu,float32",
    versions="langdiff:0.1.0",
)
BITS = pd.DataFrame({"日本": [10.0, 1 / 3, np.nan], "deu": [np.nan, 12.0, 7.1]}, index=["01", "02", "03"])


@pytest.fixture
def table():
    return ld.Surprisals(bits=BITS, lm="char-small", provenance=RECORD)


@pytest.mark.parametrize("kind", KINDS)
@given(bits=st.lists(st.floats(1e-300, 1e300), min_size=2, max_size=6), names=st.sets(st.text("aé1 ,\"'", min_size=1)))
def test_it_belongs_to_any_table_that_a_file_gives_back(tmp_path_factory, kind, bits, names):
    frame = pd.DataFrame(dict.fromkeys(["x", *sorted(names)], bits))
    path = tmp_path_factory.mktemp("tables") / f"x.{kind}"
    ld.Surprisals(bits=frame, provenance=RECORD).save(path)
    assert ld.read_surprisals(path).provenance == RECORD


@pytest.mark.parametrize("kind", ["csv", "tsv"])
def test_other_bits_than_were_saved_are_an_error(table, tmp_path, kind):
    path = tmp_path / f"x.{kind}"
    table.save(path)
    path.write_text(path.read_text(encoding="utf-8").replace("12.0", "12.5"), encoding="utf-8")
    with pytest.raises(DataError) as caught:
        ld.read_surprisals(path)
    assert str(caught.value) == (
        f"{path}: not what was saved: its SHA-256 is another than in its manifest. Restore the file, or remove "
        f"x.{kind}.json; verify=False, where it is offered, reads what is there without its provenance."
    )
    read = ld.read_surprisals(path, verify=False)
    assert read.provenance is None
    assert read.bits.loc["02", "deu"] == 12.5


def test_names_of_axes_are_no_part_of_counts(table, tmp_path):
    """Language models leave them without names; files give them some."""
    counts = table.bits.astype("Float64").rename_axis(index=None, columns="language")
    replace(table, eos_bits=counts, units=counts).save(tmp_path / "x.csv")
    assert ld.read_surprisals(tmp_path / "x.csv").provenance == RECORD


def test_a_table_of_ours_is_in_bits_and_in_its_own_columns(table, tmp_path):
    path = tmp_path / "x.csv"
    replace(table, eos_bits=table.bits / 4).save(path)
    refused(DataError, r"saved in bits, as its manifest says, not in nats", ld.read_surprisals, path, unit="nats")
    assert ld.read_surprisals(path, unit="bits", bits="bits").provenance == RECORD
    with pytest.warns(LangdiffWarning, match="it is of other columns than those named") as caught:
        assert ld.read_surprisals(path, bits="eos_bits").provenance is None
    assert caught[0].filename == __file__


def test_metadata_of_other_bits_are_an_error(table, tmp_path):
    import pyarrow as pa
    from pyarrow import parquet

    path = tmp_path / "x.parquet"
    table.save(path)
    stored = parquet.read_table(path)
    twice = stored.to_pandas().assign(bits=lambda frame: 2 * frame["bits"])
    parquet.write_table(pa.Table.from_pandas(twice).replace_schema_metadata(stored.schema.metadata), path)
    refused(DataError, "not what was saved", ld.read_surprisals, path)
    assert ld.read_surprisals(path, verify=False).provenance is None


DAMAGES = [
    lambda text: text[:40],
    lambda _: "[]",
    lambda text: text.replace("langdiff.Manifest", "other"),
    lambda text: json.dumps(json.loads(text) | {"format_version": 9}),
    lambda text: text.replace('"seed": 7', '"seed": "7"'),
    lambda text: text.replace('"seed"', '"sede"'),
    lambda text: text.replace("cpu,float32", "gpu,float32"),
    lambda text: text.replace('"outputs"', '"outputz"'),
]


@pytest.mark.parametrize("change", DAMAGES)
def test_a_damaged_manifest_is_an_error(table, tmp_path, change):
    table.save(tmp_path / "x.csv")
    beside = tmp_path / "x.csv.json"
    beside.write_text(change(beside.read_text(encoding="utf-8")), encoding="utf-8")
    refused(DataError, r"x\.csv\.json: not the manifest of x\.csv, or damaged", ld.read_surprisals, tmp_path / "x.csv")
    read = ld.read_surprisals(tmp_path / "x.csv", verify=False)
    assert read.provenance is None
    np.testing.assert_array_equal(read.bits.to_numpy(), table.bits.to_numpy())


def test_a_manifest_that_cannot_be_replaced(table, tmp_path):
    (tmp_path / "x.csv.json" / "in the way").mkdir(parents=True)
    for record in (RECORD, None):
        refused(OutputError, r"x.csv.json: cannot be", replace(table, provenance=record).save, tmp_path / "x.csv")


def test_selections_and_divisions_keep_it(table):
    assert table.sel(intents=["02"], editions=["deu"]).provenance == RECORD
    simulated = ld.simulate(40, 3, seed=1).surprisals
    origin = pd.Series(["e1", "e2"] * 20, index=simulated.intents)
    known = replace(simulated, provenance=RECORD)
    assert ld.split_by_origin(known, origin, min_native=5).provenance == RECORD
    assert simulated.provenance is None


def test_a_table_from_several_says_so():
    other = replace(RECORD, recipe="char-small#00000000", seed=8, compute="cuda,tf32")
    joined = join_provenance([RECORD, other, RECORD], "best")
    assert (joined.seed, joined.compute, joined.texts) == (None, "cpu,float32+cuda,tf32", RECORD.texts)
    assert joined.recipe.startswith("best#")
    assert joined.recipe != join_provenance([RECORD, RECORD, RECORD], "best").recipe
    assert join_provenance([RECORD, None], "best") is None
    many = join_provenance([replace(RECORD, texts=str(i)) for i in range(9)], "best")
    assert many.texts.startswith("9 of them#")


def test_a_fit_quotes_it(table):
    simulated = ld.simulate(40, 3, seed=1).surprisals
    signature = ld.fit(replace(simulated, provenance=RECORD)).signature
    assert "|lm:char-small#3fa1c09b|scoring:unpriced|lm-seed:7|texts:9c2e0000|bits:" in signature
