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


@pytest.fixture
def documents(tmp_path):
    lines = ["line,document", *(f"{i},d{(i - 1) // 6}" for i in range(1, 61))]
    (tmp_path / "documents.csv").write_text("\n".join(lines))
    return tmp_path / "documents.csv"


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


def test_compare_refuses_models_without_a_restricted_likelihood(langdiff, table):
    done = langdiff("compare-models", table, "--model", "1", "--model", "2", "--restricted")
    assert done.code == 1
    assert "--restricted: no restricted likelihood of model(s) '1'. Leave --restricted out" in done.err
    rows = json.loads(langdiff("compare-models", table, "--restricted", "--json").out)
    assert [(row["model"], row["restricted"]) for row in rows] == [("2", True), ("2L", True)]


def test_compare_as_json_with_the_usual_models(langdiff, table):
    rows = json.loads(langdiff("compare-models", table, "--json").out)
    assert [row["model"] for row in rows] == ["1", "2", "2L"]
    assert rows[0]["largest_difference"] == 0


def test_model_3_alone_takes_the_scale(langdiff, table):
    done = langdiff("compare-models", table, "--model", "1", "--model", "3", "--laplace-scale", 0.03, "--json")
    assert [row["converged"] for row in json.loads(done.out)] == [True, True]
    assert "needs --laplace-scale" in langdiff("compare-models", table, "--model", "3").err


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


def test_cross_validate_by_document(langdiff, table, documents):
    options = ["--model", "1", "--n-folds", 3, "--seed", 1]
    done = langdiff("compare-models", table, *options, "--clusters", "document", "--intent-info", documents)
    assert done.code == 0
    surprisals = ld.read_surprisals(table, intent_info=documents)
    assert done.out.strip() == ld.cross_validate(surprisals, "1", n_folds=3, clusters="document", seed=1).summary()
    assert "10 of 6 to 6 intents (document)" in done.out
    surprisals.save(table)  # with its documents, so that the option is not needed
    assert langdiff("compare-models", table, *options, "--clusters", "document").out == done.out


@pytest.mark.parametrize(
    ("command", "options", "message"),
    [
        ("compare-models", ["--model", "1", "--model", "1"], "--model: '1' named twice"),
        (
            "compare-models",
            ["--clusters", "document", "--n-folds", "4"],
            "--clusters document: --intent-info has no such column. There is none",
        ),
    ],
)
def test_what_cannot_be_done_is_one_line(langdiff, table, command, options, message):
    done = langdiff(command, table, *options)
    assert done.code == (2 if "unknown kind of file" in message else 1)
    assert message in done.err
    assert done.err.count("\n") == 1


def test_an_unknown_model_is_a_wrong_option(langdiff, table):
    done = langdiff("compare-models", table, "--model", "4")
    assert done.code == 2
    assert "'4' is not one of '1', '2', '2L', '2L-rounded', '2C', '3'" in done.err


def test_the_command_writes_table_and_picture_and_goes_on(langdiff, tmp_path):
    ld.simulate(60, 5, seed=3).surprisals.save(tmp_path / "bits.csv")
    arguments = [
        "goodness",
        tmp_path / "bits.csv",
        "--model",
        "1",
        "--model",
        "2",
        "--n-subsets",
        "2",
        "--held-out-sizes",
        "map",
        "--held-out-sizes",
        "posterior",
    ]
    arguments += ["--out", tmp_path / "out"]
    done = langdiff(*arguments)
    assert done.code == 0, done.err
    assert "Goodness of 2 models over 2 subsets of intents, 2 setting(s)" in done.out
    assert len(pd.read_csv(tmp_path / "out" / "goodness.csv")) == 8
    assert b"<svg" in (tmp_path / "out" / "goodness.svg").read_bytes()
    stored = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").glob("goodness-*.json")}
    machine = langdiff(*arguments, "--json")
    assert {row["n"] for row in json.loads(machine.out)} == {"map", "posterior"}
    assert stored == {path: path.stat().st_mtime_ns for path in (tmp_path / "out").glob("goodness-*.json")}
    assert langdiff("goodness", tmp_path / "bits.csv", "--model", "9", "--out", tmp_path).code == 2
