"""What a file holds goes by the ending of its name; another ending is refused before any work is done."""

import csv

import pandas as pd
import pytest

import langdiff as ld
from langdiff.errors import DataError

PARTS = ("json", "csv", "tsv", "parquet")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = ld.simulate(60, 12, seed=3).surprisals
    table.save(tmp_path / "bits.csv")
    noise = ld.simulate(60, 12, seed=4).surprisals
    noise.save(tmp_path / "other.csv")
    answers = ld.simulate_outcomes(60, 3, seed=1).outcomes
    answers.save(tmp_path / "answers.csv")
    return tmp_path


def written(path):
    """Return the names and numbers of a table, those of text to the last digit."""
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    with path.open(newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file, delimiter={".csv": ",", ".tsv": "\t"}[path.suffix])
    frame = pd.DataFrame(rows, columns=head)
    return frame.apply(lambda column: column if column.str.contains("[a-z]").any() else column.map(float))


@pytest.mark.parametrize("ending", PARTS)
def test_a_fit_or_its_table(langdiff, folder, ending):
    out = folder / f"fit.{ending}"
    assert langdiff("fit", "bits.csv", "--model", "1", "--out", out).code == 0
    expected = ld.fit(ld.read_surprisals(folder / "bits.csv"), model="1")
    if ending == "json":
        assert ld.read(out).difficulty.equals(expected.difficulty)
        return
    with pytest.raises(DataError):
        ld.read(out)
    frame = expected.to_frame().reset_index()
    pd.testing.assert_frame_equal(written(out), frame, check_exact=True, check_dtype=False)


TABLE = "use .csv, .tsv or .parquet."
FIT = "use .json (the result), .csv, .tsv, .parquet (its table), .md, .tex, .html or .txt."


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "bits.csv", "--out", "x.cvs"], f"x.cvs: unknown kind of file '.cvs'; {FIT}"),
        (["fit", "bits.csv", "--out", "x"], f"x: unknown kind of file ''; {FIT}"),
        (["fit", "bits.csv", "--out", "x.feather"], f"x.feather: unknown kind of file '.feather'; {FIT}"),
        (["outcomes", "fit", "answers.csv", "--out", "x.nc"], f"x.nc: unknown kind of file '.nc'; {FIT}"),
        (["compare-models", "bits.csv", "--out", "x.json"], f"x.json: unknown kind of table '.json'; {TABLE}"),
        (["parity", "bits.csv", "--reference", "e1", "--out", "x.doc"], "unknown kind of file '.doc'; use .json"),
        (["parity", "bits.csv", "--reference", "e1", "--report", "x.md"], "unknown kind of page '.md'; use .html."),
        (["sample", "bits.csv", "--out", "x.csv"], "x.csv: draws are saved as NetCDF; use a name that ends in .nc."),
        (["constructions", "mine", "bits.csv", "--out", "x.csv"], "unknown kind of file '.csv'; use .tsv."),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_other_endings_are_refused(langdiff, folder, arguments, message):
    before = sorted(path.name for path in folder.iterdir())
    done = langdiff(*arguments)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert sorted(path.name for path in folder.iterdir()) == before
