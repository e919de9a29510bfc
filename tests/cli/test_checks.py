"""`langdiff compare-models` and `goodness`."""

import json

import pandas as pd
import pytest

import langdiff as ld

ROUNDING = 1e-9  # of a table of text


@pytest.fixture
def table(tmp_path):
    drawn = ld.simulate(60, 5, seed=3).surprisals
    drawn.save(tmp_path / "bits.csv")
    return tmp_path / "bits.csv"


def test_compare_prints_what_the_api_gives(langdiff, table, tmp_path):
    done = langdiff(
        "compare-models", table, "--model", "2", "--model", "2C", "--restricted", "--out", tmp_path / "fits.tsv"
    )
    assert (done.code, done.err) == (0, "")
    surprisals = ld.read_surprisals(table)
    fits = {model: ld.fit(surprisals, model=model, restricted=True) for model in ("2", "2C")}
    expected = ld.compare(fits)
    written = pd.read_csv(tmp_path / "fits.tsv", sep="\t", dtype={"model": str}).set_index("model")
    assert written["restricted"].tolist() == [True, True]
    numbers = ["log_likelihood", "sigma", "correlation", "largest_difference"]
    pd.testing.assert_frame_equal(written[numbers], expected[numbers], rtol=ROUNDING, check_names=False)
    assert f"{expected.loc['2C', 'log_likelihood']:,.1f}" in done.out
    assert f"[{fits['2C'].signature}]" in done.out
    assert "those with model 2" in done.out


def test_cross_validate_prints_what_the_api_gives(langdiff, table, tmp_path):
    options = ["--model", "1", "--model", "2", "--n-folds", 4, "--seed", 7]
    done = langdiff("compare-models", table, *options, "--out", tmp_path / "models.csv")
    assert (done.code, done.err) == (0, "")
    found = ld.cross_validate(ld.read_surprisals(table), ["1", "2"], n_folds=4, seed=7)
    assert done.out.strip() == found.summary()
    written = pd.read_csv(tmp_path / "models.csv", dtype={"model": str}).set_index("model")
    pd.testing.assert_frame_equal(written, found.to_frame(), rtol=ROUNDING, check_index_type=False)
    unrestricted = json.loads(langdiff("compare-models", table, *options, "--no-restricted", "--json").out)
    full = ld.cross_validate(ld.read_surprisals(table), ["1", "2"], n_folds=4, restricted=False, seed=7).to_frame()
    assert [row["model"] for row in unrestricted] == list(full.index)
    assert unrestricted[0]["log_density"] == pytest.approx(full["log_density"].iloc[0], abs=ROUNDING)


def test_the_command_writes_table_and_picture_and_goes_on(langdiff, tmp_path):
    ld.simulate(60, 5, seed=3).surprisals.save(tmp_path / "bits.csv")
    options = "--model 1 --model 2 --n-subsets 2 --held-out-sizes map --held-out-sizes posterior"
    arguments = ["goodness", tmp_path / "bits.csv", *options.split(), "--out", tmp_path / "out"]
    done = langdiff(*arguments).good
    assert "Goodness of 2 models over 2 subsets of intents, 2 setting(s)" in done.out
    assert len(pd.read_csv(tmp_path / "out" / "goodness.csv")) == 8
    assert b"<svg" in (tmp_path / "out" / "goodness.svg").read_bytes()
    stored = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").glob("goodness-*.json")}
    machine = langdiff(*arguments, "--json")
    assert {row["n"] for row in json.loads(machine.out)} == {"map", "posterior"}
    assert stored == {path: path.stat().st_mtime_ns for path in (tmp_path / "out").glob("goodness-*.json")}
    assert langdiff("goodness", tmp_path / "bits.csv", "--model", "9", "--out", tmp_path).code == 2
