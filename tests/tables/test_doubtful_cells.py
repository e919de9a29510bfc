"""Faults of tables of scores and ratings that show in the numbers: each alone in a table that passes as it is."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest

import langdiff as ld
from langdiff.errors import DataError, LangdiffWarning
from tests.helpers import refused


def scores(*, percent=False):
    rng = np.random.default_rng(3)
    found = np.clip(0.5 + 0.2 * rng.normal(size=(400, 1)) + 0.1 * rng.normal(size=(400, 4)), 0.01, 0.99)
    names = {"index": [f"q{i}" for i in range(400)], "columns": list("ABCD")}
    return pd.DataFrame(100 * found if percent else found, **names)


def with_cell(table, value):
    table.loc["q7", "C"] = value
    return table


def with_column(table, change):
    return table.assign(C=change(table["C"].to_numpy()))


def ratings():
    return pd.DataFrame(np.random.default_rng(0).integers(1, 6, (60, 3)), dtype=float, columns=list("ABC"))


@pytest.mark.parametrize("percent", [False, True])
@pytest.mark.parametrize("value", [-1, -99, 999, -9999, 9999, 1e6])
def test_a_mark_among_scores_is_refused_and_hundred_percent_is_none(value, percent):
    ld.fit_outcomes(ld.Outcomes(scores=with_cell(scores(percent=percent), 100.0 if percent else 1.0)))
    table = ld.Outcomes(scores=with_cell(scores(percent=percent), value))
    refused(DataError, re.escape(f"hold a mark for a missing value: (q7, C) = {value:.7g}"), ld.fit_outcomes, table)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (with_cell(scores(), 40.0), r"1 score\(s\) are over 20 times"),
        (
            with_column(scores(), lambda own: np.roll(own, 1)),
            r"C \(correlation -?0.0\d; moved by -1 row",
        ),
        (with_column(scores(), lambda own: 1 - own), r"C \(correlation -0.\d\d; against them\)"),
        (scores().assign(C=scores()["B"]), "outcomes are equal in all items: B = C"),
        (
            with_column(scores(percent=True), lambda own: own / 100),
            "scores of C are at most 0.99, others",
        ),
        (with_column(scores(), lambda own: 1.2 + own), "scores of 'C' reach 2.19, those of all others at most 1: are"),
    ],
)
def test_odd_columns_and_cells_of_scores_are_named(table, words):
    with pytest.warns(LangdiffWarning, match=words):
        ld.fit_outcomes(ld.Outcomes(scores=table))


def test_a_column_in_percent_among_scores_up_to_one_is_refused():
    refused(
        DataError, "on another scale", ld.fit_outcomes, ld.Outcomes(scores=with_column(scores(), lambda own: own * 100))
    )


@pytest.mark.parametrize(("value", "error"), [(99, True), (-1, True), (9, False), (-9, False)])
def test_marks_among_ratings_are_refused_or_named(value, error):
    table = ratings()
    ld.fit_outcomes(ld.Outcomes(scores=table), model="ordinal")
    table.iloc[3, 1] = value
    if error:
        refused(DataError, "mark for a missing value", ld.fit_outcomes, ld.Outcomes(scores=table), model="ordinal")
    else:
        with pytest.warns(LangdiffWarning, match="no rating lies between"):
            ld.fit_outcomes(ld.Outcomes(scores=table), model="ordinal")


@pytest.mark.parametrize(
    ("table", "model"),
    [
        ([[70, 75], [80.5, 100], [72, 78], [75, 79]], "normal"),
        (np.random.default_rng(0).choice([-1, 0, 3, 4], (60, 3)), "normal"),
        (10 * ratings().to_numpy(), "ordinal"),
        (-np.exp(3 + 3 * scores().to_numpy()), "normal"),
    ],
    ids=["percent of few items", "wrong answers cost a point", "steps of ten", "log-probabilities"],
)
def test_honest_scores_are_not_doubted(table, model):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "Few units")
        ld.fit_outcomes(ld.Outcomes(scores=pd.DataFrame(table, dtype=float).add_prefix("s")), model=model)


def test_two_editions_that_others_leave_alone_are_not_doubted():
    bits = pd.DataFrame(15 * np.exp(0.3 * np.random.default_rng(0).normal(size=(400, 5))), columns=list("ABCDE"))
    bits.iloc[:200, 2:] = np.nan  # whose columns say nothing there of how editions follow one another
    assert ld.fit(bits).converged


def test_right_and_wrong_exchanged_is_named_and_guesses_are_not():
    outcomes = ld.simulate_outcomes(800, 4, seed=1).outcomes
    cells = outcomes.successes
    name = cells.columns[1]
    ld.fit_outcomes(outcomes)
    guessed = cells.assign(**{name: np.random.default_rng(0).integers(0, 2, len(cells))})
    ld.fit_outcomes(ld.Outcomes(successes=guessed, trials=outcomes.trials))
    turned = ld.Outcomes(successes=cells.assign(**{name: 1 - cells[name]}), trials=outcomes.trials)
    with pytest.warns(LangdiffWarning, match=f"{name} .*against them"):
        ld.fit_outcomes(turned)


def test_means_below_scores_are_refused_and_truths_are_read(tmp_path):
    with_mean = scores()
    with_mean.loc["mean"] = scores().mean()
    with_mean.to_csv(tmp_path / "mean.csv", index_label="item")
    refused(DataError, "the last row, 'mean', is the mean of the others", ld.read_outcomes, tmp_path / "mean.csv")
    (scores() > 0.5).to_csv(tmp_path / "true.csv", index_label="item")
    assert ld.read_outcomes(tmp_path / "true.csv").successes.equals((scores() > 0.5).astype(float))


@pytest.mark.parametrize(
    ("cell", "error"),
    [
        (-9999.0, r"hold a mark for a missing value: \(deu-luther1912, x\) = -9999"),
        (999.0, "hold a mark for a missing value"),
        (100.0, ""),
        ("1,5", r"predictor 'x': 1 of 20 values are no numbers: '1,5' of 'deu-luther1912'"),
        ("?", "unknown"),
    ],
)
def test_values_of_languages_are_numbers_and_no_marks(cell, error):
    fit = ld.fit(ld.datasets.testaments(), model="1")
    x = pd.Series(np.random.default_rng(1).normal(size=20), fit.difficulty.index, name="x")
    table = pd.DataFrame({"x": x.astype(str) if isinstance(cell, str) else x})
    table.loc["deu-luther1912", "x"] = cell
    if error and error != "unknown":
        refused(DataError, error, ld.typology.correlate, fit, table)
    elif error:
        with pytest.warns(LangdiffWarning, match="1 of 20 values are '\\?'"):
            found = ld.typology.correlate(fit, table).to_frame()
        assert set(found["n"]) == {19}
        assert set(found["test"]) == {"pearson", "spearman"}
    else:
        ld.typology.correlate(fit, table)
