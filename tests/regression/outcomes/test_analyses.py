"""Predictions, cross-validation and regressions of abilities, against sums over a grid and on held-out outcomes."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from numpy.testing import assert_allclose
from scipy.special import expit
from scipy.stats import binom, norm

import langdiff as ld
from langdiff.errors import ConfigError, DataError
from langdiff.regression.outcomes import analyses
from tests.helpers import refused

GRID = 1e-6  # of quadrature against a sum over a fine grid


def fitted(n_systems, size, seed=1, n_items=400, abilities=None):
    outcomes = ld.simulate_outcomes(n_items, n_systems, abilities=abilities, seed=seed).outcomes
    frame = pd.DataFrame({"size": size}, index=outcomes.systems.index)
    return ld.fit_outcomes(outcomes.with_systems(frame))


def test_without_sampling_error_it_is_least_squares():
    size = np.array([1.0, 2, 3, 5, 8, 13])
    rng = np.random.default_rng(0)
    fit = fitted(6, size, n_items=10_000, abilities=0.1 * size + rng.normal(size=6))
    found = ld.explain(fit.abilities, "size", fit.systems)
    ols = sm.OLS(fit.abilities.estimate.to_numpy(), sm.add_constant(size)).fit()
    row = found.terms.loc["size"]
    assert_allclose(row[["estimate", "std_error"]].astype(float), [ols.params[1], ols.bse[1]], rtol=0.01)
    assert row["p_value"] == pytest.approx(ols.pvalues[1], rel=0.05)
    assert found.degrees_of_freedom == 4
    assert found.tau == pytest.approx(np.sqrt(ols.scale), rel=0.01)


@pytest.mark.slow
def test_intervals_hold_what_is_true_and_tests_reject_what_is_not():
    """Size says nothing; nine systems differ by .5: of 30 tests at 5 % no more than five reject (p < .01)."""
    rng = np.random.default_rng(3)
    rejected = 0
    for seed in range(30):
        fit = fitted(9, rng.normal(size=9), seed, n_items=100, abilities=0.5 * rng.normal(size=9))
        rejected += ld.explain(fit.abilities, "size", fit.systems).terms.loc["size", "p_value"] < 0.05
    assert rejected <= 5


def test_no_variation_between_systems_is_zero():
    fit = fitted(6, np.arange(6.0), abilities=0.2 * np.arange(6), n_items=200)
    found = ld.explain(fit.abilities, "size", fit.systems)
    assert found.scale >= 1
    assert 0 <= found.tau < 0.3
    assert "degrees of freedom" in found.summary()
    assert found.to_frame() is found.terms


def test_what_cannot_be_explained():
    fit = fitted(3, [1.0, 2, 3])
    refused(DataError, "3 systems are too few for 2 term", ld.explain, fit.abilities, "size + I(size**2)", fit.systems)
    refused(ConfigError, "'tokens' is not a column; there are 'size'", ld.explain, fit.abilities, "tokens", fit.systems)
    refused(DataError, "no row for 's2'", ld.explain, fit.abilities, "size", fit.systems.drop("s2"))


def test_difficulties_of_languages_are_explained():
    tables = {name: ld.simulate(80, 8, seed=seed).surprisals for seed, name in enumerate("ab")}
    two_way = ld.fit(tables, clusters=None).two_way
    vowels = pd.DataFrame({"vowels": np.arange(8.0)}, index=two_way.languages.estimate.index)
    found = ld.explain(two_way.languages, "vowels", vowels)
    assert found.unit == "nats"
    assert found.summary().startswith("difficulty ~ vowels: tau")


@pytest.fixture(scope="module")
def truth():
    return ld.simulate_outcomes(
        300, 4, groups={"a": 0.0, "b": 1.0}, loadings=[1.4, 1.0, 1.0, 0.7], documents=30, missing=0.2, seed=8
    )


@pytest.fixture(scope="module")
def fit(truth):
    return ld.fit_outcomes(truth.outcomes, model="slopes", by="group")


def test_cells_are_predicted_from_their_row(truth, fit):
    loading = fit.parameters.loc["loading", "estimate"].to_numpy()
    v = np.linspace(-8, 8, 4001)
    for item in ("i1", "i2", "i7"):
        group = truth.outcomes.items.loc[item, "group"]
        eta = fit.abilities.estimate.to_numpy() - fit.difficulties.estimate[group]
        p = expit(eta - v[:, None] * loading * fit.spread)
        s, t = (table.loc[item].fillna(0).to_numpy() for table in (truth.outcomes.successes, truth.outcomes.trials))
        density = binom.pmf(s, t, p).prod(axis=1) * norm.pdf(v)
        expected = (density[:, None] * p).sum(axis=0) / density.sum()
        assert_allclose(fit.predict(truth.outcomes).loc[item], expected, atol=GRID)
        b = fit.difficulties.estimate[group] + fit.spread * v
        mean = (density * b).sum() / density.sum()
        deviation = np.sqrt((density * (b - mean) ** 2).sum() / density.sum())
        assert_allclose(fit.items.loc[item, ["difficulty", "std_dev"]].astype(float), [mean, deviation], atol=GRID)


def test_items_without_outcomes_are_predicted_from_their_group(fit):
    empty = pd.DataFrame(np.nan, ["n1", "n2"], ["s1", "s2", "s3", "s4"])
    new = ld.Outcomes(successes=empty, items=pd.DataFrame({"group": ["b", "a"]}, index=["n1", "n2"]))
    rates = fit.expected_rates()
    assert_allclose(fit.predict(new), rates.loc[["b", "a"]], atol=GRID)
    assert_allclose(fit.predict(new.sel(systems=["s3", "s1", "s4", "s2"])), rates.loc[["b", "a"]], atol=GRID)
    assert (fit.held_out_log_likelihood(new) == 0).all()
    with pytest.raises(DataError, match=r"1 item\(s\) are of a group that was not in the fit: 'n2'"):
        fit.predict(new.with_items(pd.DataFrame({"group": ["a", "c"]}, index=["n1", "n2"])))
    refused(DataError, "other systems: 's4'", fit.predict, new.sel(systems=["s1", "s2", "s3"]))


def test_a_formula_is_coded_as_it_was_fitted(truth):
    items = truth.outcomes.items.assign(length=np.arange(300) % 11 + 1.0)
    outcomes = truth.outcomes.with_items(items)
    fit = ld.fit_outcomes(outcomes, formula="group + log(length)")
    part = outcomes.sel(items=["i2", "i1"])
    assert_allclose(fit.predict(part), fit.predict(outcomes).loc[["i2", "i1"]], atol=1e-12)
    one = outcomes.sel(items=["i2"])  # one value of each attribute says nothing of how they are coded
    renamed = replace(one, **{name: getattr(one, name).set_axis(["new"]) for name in ("successes", "trials", "items")})
    assert_allclose(fit.predict(renamed), fit.predict(one), atol=1e-12)


@pytest.mark.parametrize("interaction", [None, "half"])
def test_expected_rates_are_averages_over_items(interaction):
    rng = np.random.default_rng(4)
    length, names = rng.normal(0, 3, 600), [f"i{i}" for i in range(600)]
    p = expit(np.array([-0.5, 0.5]) - length[:, None] - 1.0)
    successes = pd.DataFrame((rng.random(p.shape) < p).astype(float), names, ["x", "y"])
    items = pd.DataFrame({"length": length, "half": np.arange(600) % 2}, names)
    fit = ld.fit_outcomes(ld.Outcomes(successes=successes, items=items), formula="length", interaction=interaction)
    rates = fit.expected_rates()
    by = pd.Series("all", names) if interaction is None else items["half"].map(str)
    assert_allclose(rates, successes.groupby(by).mean(), atol=0.01)
    empty = ld.Outcomes(successes=successes * np.nan, items=items)
    assert_allclose(rates, fit.predict(empty).groupby(by).mean(), atol=GRID)


def test_probabilities_of_what_was_held_out_multiply(truth):
    fit = ld.fit_outcomes(truth.outcomes, by="group")
    whole = fit.held_out_log_likelihood(truth.outcomes)
    assert whole.sum() == pytest.approx(fit.log_likelihood, abs=1e-9)
    first = truth.outcomes.successes.columns.isin(["s1", "s2"])
    cells = pd.DataFrame(np.tile(first, (300, 1)), truth.outcomes.items.index, truth.outcomes.systems.index)
    one, other = (
        replace(
            truth.outcomes, successes=truth.outcomes.successes.where(kept), trials=truth.outcomes.trials.where(kept)
        )
        for kept in (cells, ~cells)
    )
    chained = fit.held_out_log_likelihood(one) + fit.held_out_log_likelihood(other, given=one)
    assert_allclose(chained, whole, atol=1e-9)
    with pytest.raises(DataError, match="the same items, in the same order"):
        fit.held_out_log_likelihood(one, given=other.sel(items=["i1"]))


def test_the_conditional_model_predicts_nothing(truth):
    fit = ld.fit_outcomes(truth.outcomes, model="conditional")
    for call in (lambda: fit.predict(truth.outcomes), fit.expected_rates, fit.plot):
        refused(ConfigError, "model 'conditional'", call)
    assert fit.difficulties is None
    assert np.isnan(fit.spread)
    assert list(fit.items) == []


@pytest.mark.parametrize(
    "over", ["cells", *(pytest.param(over, marks=pytest.mark.slow) for over in ("items", "clusters"))]
)
def test_the_better_model_predicts_better(over):
    outcomes = ld.simulate_outcomes(300, 3, trials=6, correlation=0.3, documents=30, seed=3).outcomes
    scores = ld.cross_validate_outcomes(
        outcomes, ["rasch", "beta-binomial"], over=over, n_folds=3, clusters="document", seed=1
    )
    assert scores["trials"].tolist() == [5400, 5400]
    better = scores.loc["beta-binomial"]
    assert better["difference"] > 3 * better["difference_std_error"] > 0
    assert scores.loc["rasch", "difference"] == 0
    assert scores["score"].between(-1, 0).all()


def test_folds_are_those_of_the_seed(truth):
    some = truth.outcomes.sel(items=truth.outcomes.items.index[:60])
    one, same, other = (
        ld.cross_validate_outcomes(some, over="items", n_folds=2, seed=seed).loc["rasch", "score"] for seed in (1, 1, 2)
    )
    assert one == same != other


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"models": "conditional"}, ConfigError, "models to cross-validate are"),
        ({"over": "rows"}, ConfigError, "unknown over='rows'"),
        ({"over": "clusters"}, ConfigError, "needs the attribute that clusters share"),
        ({"n_folds": 1}, ConfigError, "at least 2, got 1"),
        ({"over": "clusters", "clusters": "document", "n_folds": 40}, ConfigError, "n_folds=40 folds of 30 clusters"),
        (
            {"over": "clusters", "clusters": "group", "by": "group", "n_folds": 2},
            DataError,
            "fold 1 of 2 cannot be fitted",
        ),
        ({"clusters": "task"}, DataError, "all items are in one cluster"),
    ],
)
def test_what_cannot_be_cross_validated(truth, settings, error, message, monkeypatch):
    if "task" in settings.values():  # said before anything is fitted
        monkeypatch.setattr(analyses, "fit_outcomes", None)
    outcomes = truth.outcomes.with_items(truth.outcomes.items[[]].assign(task="t"))
    refused(error, message, ld.cross_validate_outcomes, outcomes, **{"seed": 1} | settings)


@pytest.mark.parametrize("wide", [{"x": [1, 1, 1, 0], "y": [0, 1, 1, 1]}, {"x": [1, 1, 1], "y": [0, 1, 1]},
                                  {"x": [1, 0, 0], "y": [1, 1, 0]}])  # fmt: skip
@pytest.mark.filterwarnings("ignore::langdiff.errors.LangdiffWarning")
def test_a_check_says_what_a_fit_would_say(wide, tmp_path):
    frame = pd.DataFrame({"item": list("abcd")[: len(wide["x"])], **wide})
    frame.to_csv(tmp_path / "wide.csv", index=False)
    table = ld.read_outcomes(tmp_path / "wide.csv")
    checked = ld.check_outcomes(table)
    for kind, model in (("marginal", "rasch"), ("conditional", "conditional")):
        if checked.loc[kind, "finite"]:
            assert np.isfinite(ld.fit_outcomes(table, model=model).abilities.estimate).all()
        else:
            with pytest.raises(DataError) as error:
                ld.fit_outcomes(table, model=model)
            assert str(error.value) == checked.loc[kind, "message"]
    assert checked["finite"].tolist() == [min(wide["x"]) == 0 and wide["x"][0] != wide["y"][0]] * 2
