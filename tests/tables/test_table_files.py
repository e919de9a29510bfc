"""Damaged tables: flipped digits and bits are errors of the package, and never other numbers."""

import json
import warnings
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

import langdiff as ld
from langdiff.errors import DataError, LangdiffError, LangdiffWarning
from langdiff.tables.long_tables import Provenance, read_table_file
from tests.helpers import refused

RECORD = Provenance(recipe="mine#1", seed=0)


@pytest.fixture
def table():
    return replace(ld.simulate(40, 5, model="1", sigma=0.2, seed=0).surprisals, provenance=RECORD)


def test_every_flipped_digit_is_noticed(table, tmp_path):
    """50 of 50: each is an error, or the number is the same in its last digit."""
    path = tmp_path / "s.csv"
    table.save(path)
    content, expected = path.read_bytes(), table.bits
    starts = [place + 1 for place in range(len(content)) if content[place : place + 1] == b"\n"][:-1]
    rng = np.random.default_rng(0)
    for start in rng.choice(starts, 50, replace=False):
        flipped = bytearray(content)
        place = content.index(b",", content.index(b",", start) + 1) + 1
        flipped[place] ^= 1  # the first digit of the bits becomes another
        path.write_bytes(flipped)
        refused(DataError, "not what was saved", ld.read_surprisals, path)
        assert not ld.read_surprisals(path, verify=False).bits.equals(expected)


def without(key):
    """Return a change of the notes that pandas leaves in a Parquet file: a key less, in each place."""

    def change(notes):
        return {
            name: [{k: v for k, v in each.items() if k != key} for each in part] if name == "columns" else part
            for name, part in notes.items()
            if name != key
        }

    return change


@pytest.mark.parametrize("key", ["columns", "name", "numpy_type", "pandas_type", "field_name", "index_columns"])
def test_damaged_notes_of_pandas_do_no_harm(table, tmp_path, key):
    path = tmp_path / "x.parquet"
    chapter = pd.array([None, *range(39)], dtype="Int64")
    table = replace(table, intent_info=pd.DataFrame({"chapter": chapter}, index=table.intents))
    table.save(path)
    whole = ld.read_surprisals(path)
    stored = parquet.read_table(path)
    notes = json.dumps(without(key)(json.loads(stored.schema.metadata[b"pandas"]))).encode()
    parquet.write_table(stored.replace_schema_metadata({**stored.schema.metadata, b"pandas": notes}), path)
    read = ld.read_surprisals(path)
    pd.testing.assert_frame_equal(read.bits, whole.bits, check_exact=True)
    assert read.provenance == RECORD
    pd.testing.assert_frame_equal(read.intent_info, whole.intent_info)


def test_flipped_bits_of_parquet_are_errors_of_ours(table, tmp_path):
    """310 flips, half of them in the footer: an error of the package, or the bits are right."""
    path = tmp_path / "x.parquet"
    table.save(path)
    content = path.read_bytes()
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    rng = np.random.default_rng(0)
    errors = 0
    for number in range(310):
        place = 8 * int(rng.integers(footer if number % 2 else 0, len(content))) + int(rng.integers(8))
        flipped = bytearray(content)
        flipped[place // 8] ^= 1 << (place % 8)
        path.write_bytes(flipped)
        with warnings.catch_warnings(record=True):
            warnings.simplefilter("always")
            try:
                read = ld.read_surprisals(path)
            except LangdiffError:
                errors += 1
            else:
                pd.testing.assert_frame_equal(read.bits, table.bits, check_exact=True)
    assert errors > 100


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())])
def test_tables_of_other_programs_are_read_as_pandas_reads_them(tmp_path, kind):
    """Polars writes large strings and no notes of pandas; pandas writes the numbers of rows if some were left out."""
    path = tmp_path / "x.parquet"
    names = {"intent": ["1", "1", "2"], "edition": ["eng", "deu", "eng"]}
    columns = {name: pa.array(values, pa.string()).cast(kind) for name, values in names.items()}
    parquet.write_table(pa.table(columns | {"bits": [1.0, 2.0, 3.0]}), path)
    pd.testing.assert_frame_equal(read_table_file(path), pd.read_parquet(path))
    assert ld.read_surprisals(path).bits.loc["1"].tolist() == [1.0, 2.0]
    frame = pd.read_parquet(path)
    frame[frame["edition"] == "eng"].to_parquet(path)
    assert read_table_file(path).columns.tolist() == ["intent", "edition", "bits"]
    assert ld.read_surprisals(path).bits["eng"].to_dict() == {"1": 1.0, "2": 3.0}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PAR1" + 100 * b"\0" + b"PAR1", "cannot be read as a table"),
        (b"", "cannot be read as a table"),
        (None, "cannot be read as a table"),
    ],
)
def test_what_is_not_a_table_is_one_error(tmp_path, content, message):
    path = tmp_path / "x.parquet"
    if content is not None:
        path.write_bytes(content)
    refused(DataError, message, ld.read_surprisals, path)


def test_a_folder_names_its_tables(tmp_path):
    folder = tmp_path / "models.csv"  # whoever takes --out of `langdiff train` for a file
    (folder / "surprisals").mkdir(parents=True)
    refused(DataError, "a folder, where a table is asked for; there is no table in it", ld.read_surprisals, folder)
    ld.simulate(5, 2, seed=1).surprisals.save(folder / "surprisals" / "char.csv")
    refused(DataError, r"give one of its tables: '.*models.csv/surprisals/char.csv'", ld.read_surprisals, folder)


def test_columns_that_group_intents_are_found(tmp_path):
    made = ld.simulate(12, 3, seed=1).surprisals
    rows = made.to_frame().rename(columns={"intent": "item", "edition": "lang", "bits": "cost"})[
        ["item", "lang", "cost"]
    ]
    place = pd.factorize(rows["item"])[0]
    rows = rows.assign(doc=[f"d{k // 4}" for k in place], source=[f"text {k}" for k in place], constant="x")
    rows = rows.assign(family=rows["lang"].map(dict(zip(rows["lang"].unique(), "ABA", strict=True))))
    rows = rows.assign(noise=np.arange(len(rows)) % 2)  # differs within an intent
    rows.to_csv(tmp_path / "long.csv", index=False)
    table = ld.read_surprisals(tmp_path / "long.csv", intent="item", edition="lang", bits="cost")
    assert table.intent_info.to_dict("list") == {"doc": [f"d{k // 4}" for k in range(12)]}
    assert table.edition_info["family"].tolist() == ["A", "B", "A"]
    with pytest.warns(LangdiffWarning, match="3 clusters by doc"):
        ld.fit(table, clusters="doc")


def test_a_table_of_one_edition_has_no_columns_that_group_intents(tmp_path):
    pd.DataFrame({"intent": [1, 2, 3, 4], "edition": "eng", "bits": 5.0, "doc": list("aabb")}).to_csv(
        tmp_path / "long.csv", index=False
    )
    assert ld.read_surprisals(tmp_path / "long.csv").intent_info is None


def test_columns_of_lists_are_left_alone(tmp_path):
    rows = pd.DataFrame({"intent": [1, 1, 2, 2], "edition": ["deu", "eng"] * 2, "bits": [5.0, 4.0, 7.0, 6.0]})
    rows["tokens"] = [["a", "b"]] * 4
    rows.to_parquet(tmp_path / "long.parquet")
    assert ld.read_surprisals(tmp_path / "long.parquet").intent_info is None


def test_categories_of_two_models_and_rows_without_a_model(tmp_path):
    rows = pd.DataFrame({"intent": [1, 1, 2, 2] * 2, "edition": ["deu", "eng"] * 4, "bits": np.arange(4.0, 12.0)})
    rows["lm"] = ["a"] * 4 + ["b"] * 4
    rows.astype({"lm": "category", "edition": "category"}).to_parquet(tmp_path / "long.parquet")
    assert list(ld.read_surprisals(tmp_path / "long.parquet").editions) == ["deu@a", "eng@a", "deu@b", "eng@b"]
    rows.assign(lm=["a"] * 4 + [""] * 4).to_csv(tmp_path / "long.csv", index=False)
    refused(DataError, r"4 row\(s\) without a name of the lm", ld.read_surprisals, tmp_path / "long.csv")


def _surprisals(path):
    ld.simulate(60, 5).surprisals.save(path)
    return lambda: ld.read_surprisals(path).bits


def _surprisals_with_origin(path):
    table = replace(ld.simulate(60, 5).surprisals, provenance=Provenance(recipe="mine", seed=7))
    table.with_intent_info(pd.DataFrame({"document": [f"d{k // 5}" for k in range(60)]}, table.intents)).save(path)

    def read():
        found = ld.read_surprisals(path)
        return found.bits.join(found.intent_info).assign(seed=found.provenance.seed)

    return read


def _outcomes(path):
    ld.simulate_outcomes(40, 4).outcomes.save(path)
    return lambda: ld.read_outcomes(path).successes


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("beside", ["", ".json"], ids=["table", "manifest"])
@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet"])
@pytest.mark.parametrize("save", [_surprisals, _surprisals_with_origin, _outcomes])
def test_no_flipped_bit_is_read_as_another_number(save, kind, beside, tmp_path):
    read = save(tmp_path / f"x.{kind}")
    file = tmp_path / f"x.{kind}{beside}"
    if not file.exists():
        pytest.skip("the manifest of a Parquet file is in it")
    good, raw, silent, rng = read(), file.read_bytes(), 0, np.random.default_rng(1)
    entries = raw.find(b"\x18\x06pandas")  # the list of entries in the footer of a Parquet file
    for place in [*np.repeat(range(entries - 4, entries), 8 * (entries > 0)), *rng.integers(len(raw), size=200)]:
        bad = bytearray(raw)
        bad[place] ^= 1 << int(rng.integers(8))
        file.write_bytes(bad)
        with suppress(DataError):
            silent += not good.equals(read())
    assert silent == 0


def test_other_line_ends_are_another_file_which_can_be_read(tmp_path):
    read = _outcomes(tmp_path / "x.csv")
    good = read()
    (tmp_path / "x.csv").write_bytes((tmp_path / "x.csv").read_bytes().replace(b"\n", b"\r\n"))
    refused(DataError, r"remove x\.csv\.json", read)
    assert ld.read_outcomes(tmp_path / "x.csv", verify=False).successes.equals(good)
    (tmp_path / "x.csv.json").unlink()
    assert read().equals(good)


BITS = ld.simulate(12, 3, seed=1).surprisals.bits
ODD = {
    r"last row, 'Total', is the sum": pd.concat([BITS, BITS.sum().to_frame("Total").T]),
    r"last column, 'all', is the mean": BITS.assign(all=BITS.mean(axis=1).round(2)),
    r"'e4' counts the rows": BITS.assign(e4=range(1, 13)),
    r"the editions 'e1' and 'E1 ' differ in white space": BITS.assign(**{"E1 ": BITS["e2"][::-1].to_numpy()}),
}


@pytest.mark.parametrize("message", ODD)
def test_what_is_no_edition_and_no_intent_is_refused(tmp_path, message):
    ODD[message].to_csv(tmp_path / "x.csv", index_label="intent")
    refused(DataError, message, ld.read_surprisals, tmp_path / "x.csv")


def test_rows_and_columns_that_seem_exchanged_are_named(tmp_path):
    BITS.T.to_csv(tmp_path / "x.csv", index_label="edition")
    with pytest.warns(LangdiffWarning, match="do rows and columns have to change places"):
        ld.read_surprisals(tmp_path / "x.csv")
