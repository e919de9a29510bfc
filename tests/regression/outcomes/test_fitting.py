"""Fits of outcomes: worked numbers, other programs, errors by name, recovery of what was simulated."""

import warnings
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import comb, expit
from scipy.stats import norm
from statsmodels.discrete.conditional_models import ConditionalLogit

import langdiff as ld
from langdiff.errors import ConfigError, ConvergenceWarning, DataError, LangdiffWarning
from tests.helpers import refused
from tests.regression.outcomes.conftest import NAN, A, outcomes_of

WORKED = 1.5e-6  # of numbers given to six digits
SAME = 1e-5  # of two optimizers


@pytest.fixture(autouse=True)
def _few_items_are_meant():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*never beat", category=LangdiffWarning)
        warnings.filterwarnings("ignore", message=".*of which one never beats", category=LangdiffWarning)
        yield


def test_worked_table_a(table_a):
    """lme4 1.1-31 in R 4.2.2: glmer(right ~ 0 + system + (1 | item), binomial, nAGQ = 30)."""
    with pytest.warns(LangdiffWarning, match="rests on the normal distribution"):
        fit = ld.fit_outcomes(table_a)
    expected = np.array([1.216512, 0.067329, -0.758560])
    level = fit.parameters.loc[("difficulty", "all"), "estimate"]
    assert_allclose(fit.abilities.estimate - level, expected, atol=WORKED)
    point = fit.point
    assert_allclose(point.level[0], expected, atol=WORKED)
    assert fit.spread == pytest.approx(2.097219, abs=WORKED)
    assert fit.parameters.loc[("spread", "items"), "std_error"] == pytest.approx(1.63251, abs=1e-5)
    assert fit.log_likelihood == pytest.approx(-10.208427, abs=WORKED)
    assert fit.variation.statistic / 2 == pytest.approx(-10.208427 + 11.343026, abs=2 * WORKED)
    assert fit.predict(table_a).loc["i5", "s3"] == pytest.approx(0.293632, abs=WORKED)


def test_worked_table_b(table_b):
    fit = ld.fit_outcomes(table_b, model="rasch", by="construction", errors="information")
    assert_allclose(fit.abilities.estimate, [1.165128, 0.158796, -1.323924], atol=WORKED)
    assert_allclose(fit.abilities.std_error, [0.444033, 0.412622, 0.555683], atol=WORKED)
    assert_allclose(fit.difficulties.estimate, [-0.147359, 1.109662], atol=WORKED)
    assert_allclose(fit.difficulties.std_error, [0.493575, 0.553016], atol=WORKED)
    assert fit.parameters.loc[("spread", "items")].tolist() == pytest.approx([0.468448, 0.488078], abs=WORKED)
    assert fit.log_likelihood == pytest.approx(-18.058993, abs=WORKED)
    assert fit.variation.statistic == pytest.approx(2 * (18.253383 - 18.058993), abs=2 * WORKED)
    contrast = fit.abilities.contrast("s1", "s3")
    assert [contrast.estimate, contrast.std_error] == pytest.approx([2.489052, 0.917410], abs=WORKED)
    assert "odds × 12.05" in str(contrast)
    rates = [[0.777929, 0.572253, 0.245492], [0.513175, 0.287780, 0.087492]]
    assert_allclose(fit.expected_rates(), rates, atol=WORKED)
    assert fit.predict(table_b).loc["i2", "s3"] == pytest.approx(0.175873, abs=WORKED)
    assert fit.held_out_log_likelihood(table_b).sum() == pytest.approx(fit.log_likelihood, abs=1e-9)


def test_worked_conditional_estimates(table_b):
    """statsmodels' ConditionalLogit(method="newton") on trials as rows."""
    fit = ld.fit_outcomes(table_b, model="conditional", errors="information")
    for other, expected in {"s2": (-0.993923, 0.650586), "s3": (-2.804340, 0.921822)}.items():
        contrast = fit.abilities.contrast(other, "s1")
        assert [contrast.estimate, contrast.std_error] == pytest.approx(expected, abs=WORKED)
    assert fit.log_likelihood == pytest.approx(_by_enumeration(table_b, fit), abs=1e-9)


def _by_enumeration(outcomes, fit):
    """Return the log-probability of all successes given the totals of items, from all tables with these totals."""
    total = 0.0
    for item in outcomes.items.index:
        t = outcomes.trials.loc[item].fillna(0).astype(int)
        s = outcomes.successes.loc[item].fillna(0).astype(int)
        every = [cells for cells in product(*(range(most + 1) for most in t)) if sum(cells) == s.sum()]
        weights = [np.exp(np.dot(cells, fit.abilities.estimate)) * np.prod(comb(t, cells)) for cells in every]
        total += np.log(weights[every.index(tuple(s))] / sum(weights))
    return total


def trials_as_rows(outcomes):
    long = outcomes.to_frame()
    rows = []
    for row in long.itertuples():
        rows += [(row.item, row.system, 1)] * row.successes + [(row.item, row.system, 0)] * (row.trials - row.successes)
    return pd.DataFrame(rows, columns=["item", "system", "right"])


@pytest.mark.parametrize(
    ("seed", "trials", "missing"),
    [(0, 1, 0.3), pytest.param(1, 1, 0.0, marks=pytest.mark.slow), pytest.param(2, 3, 0.2, marks=pytest.mark.slow)],
)
def test_conditional_estimates_are_those_of_statsmodels(seed, trials, missing):
    outcomes = ld.simulate_outcomes(60, 4, trials=trials, missing=missing, seed=seed).outcomes
    outcomes = outcomes.sel(items=outcomes.items.index[outcomes.observed.any(axis=1)])
    fit = ld.fit_outcomes(outcomes, model="conditional", errors="information")
    rows = trials_as_rows(outcomes)
    dummies = pd.get_dummies(rows["system"]).to_numpy(dtype=float)[:, 1:]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of items that are all right
        other = ConditionalLogit(rows["right"].to_numpy(), dummies, groups=rows["item"].to_numpy()).fit(
            method="newton", disp=0
        )
    ours = [fit.abilities.contrast(name, "s1") for name in ("s2", "s3", "s4")]
    assert_allclose([contrast.estimate for contrast in ours], other.params, atol=SAME)
    assert_allclose([contrast.std_error for contrast in ours], other.bse, atol=SAME)


def brute_force(outcomes):
    """Maximize the marginal likelihood on a grid of difficulties, by a method that knows no derivatives of ours."""
    s, t = np.nan_to_num(outcomes.successes.to_numpy()), np.nan_to_num(outcomes.trials.to_numpy())
    v = np.linspace(-8, 8, 801)

    def loss(z):
        p = np.clip(expit(z[:-1] - v[:, None] * z[-1]), 1e-300, 1 - 1e-16)  # (Q, J)
        values = s @ np.log(p).T + t @ np.log1p(-p).T - s @ np.log1p(-p).T
        return -np.log(np.trapezoid(np.exp(values) * norm.pdf(v), v, axis=1)).sum()

    start = np.append(np.zeros(s.shape[1]), 1.0)
    return minimize(loss, start, method="BFGS", options={"gtol": 1e-7}).x


def small_table(seed):
    """Return up to 6 items × 4 systems, of every other seed with missing cells."""
    rng = np.random.default_rng(seed)
    items, systems = rng.integers(4, 7), rng.integers(2, 5)
    abilities, trials = rng.normal(0, 0.5, systems), rng.integers(3, 6)
    outcomes = ld.simulate_outcomes(
        items, systems, abilities=abilities, trials=trials, spread=1.5, missing=0.2 * (seed % 2), seed=seed
    ).outcomes
    return outcomes.sel(items=outcomes.items.index[outcomes.observed.any(axis=1)])


SEEDS = [seed for seed in range(53) if seed not in (21, 37, 49)]  # there a system is all right or all wrong


@pytest.mark.parametrize("seed", [*SEEDS[:3], *(pytest.param(seed, marks=pytest.mark.slow) for seed in SEEDS[3:])])
def test_marginal_estimates_are_those_of_brute_force(seed):
    outcomes = small_table(seed)
    fit = ld.fit_outcomes(outcomes, model="rasch", errors="information")
    found = brute_force(outcomes)
    assert_allclose(fit.point.level[0], found[:-1], atol=1e-4)
    assert fit.spread == pytest.approx(abs(found[-1]), abs=1e-4)


def test_two_systems_are_mcnemars_pairs():
    """Totals 30, 65 and 40, and 45 of the 65 for the first system."""
    cells = [[1, 1]] * 30 + [[1, 0]] * 45 + [[0, 1]] * 20 + [[0, 0]] * 40
    for model in ("rasch", "conditional"):
        contrast = ld.fit_outcomes(outcomes_of(cells), model=model).abilities.contrast("s1", "s2")
        assert [contrast.estimate, contrast.std_error] == pytest.approx([0.810930, 0.268742], abs=WORKED)


def test_order_does_not_matter():
    outcomes = ld.simulate_outcomes(80, 4, missing=0.2, groups={"a": 0, "b": 1}, seed=3).outcomes
    shuffled = outcomes.sel(items=outcomes.items.index[::-1], systems=["s3", "s1", "s4", "s2"])
    one, other = (ld.fit_outcomes(table, by="group") for table in (outcomes, shuffled))
    pd.testing.assert_series_equal(
        one.abilities.estimate, other.abilities.estimate[["s1", "s2", "s3", "s4"]], atol=1e-9
    )
    assert_allclose(one.difficulties.estimate["b"], other.difficulties.estimate["b"], atol=1e-9)
    turned = ld.Outcomes(successes=outcomes.trials - outcomes.successes, trials=outcomes.trials, items=outcomes.items)
    pd.testing.assert_series_equal(ld.fit_outcomes(turned, by="group").abilities.estimate, -one.abilities.estimate)


def covered(effects, name, truth):
    return abs(effects.estimate[name] - truth) < 4 * effects.std_error[name]


def test_simulated_truth_is_found_again():
    truth = ld.simulate_outcomes(
        2000, 4, groups={"plain": -0.5, "nested": 0.5}, spread=1.5, trials=4, correlation=0.2, seed=5
    )
    fit = ld.fit_outcomes(truth.outcomes, by="group", errors="information")
    assert fit.model == "beta-binomial"
    assert all(covered(fit.abilities, name, value) for name, value in truth.ability.items())
    assert covered(fit.difficulties, "nested", 0.5)
    for parameter, name, value in (("spread", "items", 1.5), ("correlation", "trials", 0.2)):
        estimate, std_error = fit.parameters.loc[(parameter, name)]
        assert abs(estimate - value) < 4 * std_error < 0.2
    assert fit.overdispersion.p_value < 1e-6
    plain = ld.fit_outcomes(truth.outcomes, model="rasch", by="group")
    assert plain.log_likelihood == pytest.approx(fit.log_likelihood - fit.overdispersion.statistic / 2)


@pytest.mark.slow
def test_loadings_are_found_again():
    loadings = np.array([2.0, 1.0, 1.0, 0.5])
    outcomes = ld.simulate_outcomes(3000, 4, loadings=loadings, spread=1.5, seed=7).outcomes
    fit = ld.fit_outcomes(outcomes, model="slopes")
    found = fit.parameters.loc["loading"]
    assert np.abs(found["estimate"] - loadings).le(4 * found["std_error"]).all()
    assert np.log(found["estimate"]).sum() == pytest.approx(0, abs=1e-9)
    assert found["std_error"].max() < 0.3
    assert fit.log_likelihood > ld.fit_outcomes(outcomes).log_likelihood + 20


def test_no_variation_is_a_result():
    outcomes = ld.simulate_outcomes(200, 3, spread=0.0, trials=5, seed=3).outcomes
    fit = ld.fit_outcomes(outcomes, errors="information")
    assert fit.spread == 0
    assert fit.correlation == 0
    assert fit.variation.p_value == fit.overdispersion.p_value == 1
    assert np.isnan(fit.parameters.loc[("spread", "items"), "std_error"])
    assert "no variation between items beyond chance" in fit.summary()
    rates = outcomes.totals()["rate"]
    assert_allclose(expit(fit.point.level[0]), rates, atol=1e-9)  # nothing but each system's own rate
    refused(DataError, "no variation between items beyond chance", ld.fit_outcomes, outcomes, model="slopes")


def test_a_profile_sums_to_zero_both_ways_and_is_tested():
    truth = ld.simulate_outcomes(600, 3, groups={"a": 0.0, "b": 0.5}, seed=3).outcomes
    flat = ld.fit_outcomes(truth, interaction="group")
    assert flat.interacts.df == 2
    assert flat.interacts.p > 0.01
    successes = truth.successes.copy()
    others = successes.loc[truth.items["group"] == "b", "s3"].to_numpy()
    successes.loc[truth.items["group"] == "b", "s3"] = others * (np.arange(len(others)) % 2)  # half are forgotten
    fit = ld.fit_outcomes(ld.Outcomes(successes=successes, items=truth.items), interaction="group")
    table = fit.profile.estimate.to_numpy().reshape(2, 3)
    assert_allclose(table.sum(axis=0), 0, atol=1e-9)
    assert_allclose(table.sum(axis=1), 0, atol=1e-9)
    assert fit.profile.estimate.idxmax() == "s3: b"
    assert fit.interacts.p < 1e-4
    null = ld.fit_outcomes(ld.Outcomes(successes=successes, items=truth.items), by="group")
    assert fit.interacts.statistic == pytest.approx(2 * (fit.log_likelihood - null.log_likelihood))
    conditional = ld.fit_outcomes(
        ld.Outcomes(successes=successes, items=truth.items), interaction="group", model="conditional"
    )
    assert_allclose(conditional.profile.estimate, fit.profile.estimate, atol=0.1)


@pytest.mark.parametrize(
    "settings", [{}, pytest.param({"errors": "bootstrap", "n_resamples": 99, "seed": 1}, marks=pytest.mark.slow)]
)
def test_a_profile_of_clusters_is_tested_by_their_errors(settings):
    truth = ld.simulate_outcomes(300, 3, documents=60, document_spread=0.7, document_noise=0.5, seed=7).outcomes
    half = truth.items["document"].str[1:].astype(int) % 3
    truth = truth.with_items(pd.DataFrame({"part": half.map({0: "a", 1: "b", 2: "c"})}))
    plain = ld.fit_outcomes(truth, interaction="part", clusters=None).interacts
    assert plain.by == "chi-squared"
    fit = ld.fit_outcomes(truth, interaction="part", clusters="document", **settings)
    profile = fit.profile
    if settings:  # of samples, a covariance
        pinv = np.linalg.pinv(profile.covariance.to_numpy(), rcond=1e-8, hermitian=True)
        squared, rest = profile.estimate @ pinv @ profile.estimate, fit.interacts.freedom
        assert fit.interacts.statistic == pytest.approx(squared * rest / (rest + 3) / 4)
    else:
        assert fit.interacts.statistic == pytest.approx(np.square(profile.estimate).sum())
    assert (fit.interacts.by, fit.interacts.df) == ("F" if settings else "sign flips", 4)
    assert fit.interacts.p > plain.p
    assert f"profile of systems over part: {fit.interacts.words}" in fit.summary()


def test_a_formula_with_groups_is_by():
    truth = ld.simulate_outcomes(300, 3, groups={"a": 0.0, "b": 0.5, "c": 1.0}, missing=0.1, seed=3).outcomes
    truth = truth.sel(items=truth.items.index[truth.observed.any(axis=1)])
    by, formula = ld.fit_outcomes(truth, by="group"), ld.fit_outcomes(truth, formula="group")
    terms = formula.parameters.loc["term", "estimate"].to_numpy()
    assert_allclose(terms, by.difficulties.estimate.iloc[1:] - by.difficulties.estimate.iloc[0], atol=1e-7)
    pd.testing.assert_series_equal(by.abilities.estimate, formula.abilities.estimate)
    assert by.difficulties.contrast("c", "a").std_error == pytest.approx(
        formula.parameters.loc[("term", "group[T.c]"), "std_error"]
    )


def test_errors_of_clusters():
    truth = ld.simulate_outcomes(400, 3, documents=40, document_spread=0.7, document_noise=1.5, seed=4).outcomes
    plain = ld.fit_outcomes(truth, clusters=None)
    with pytest.warns(LangdiffWarning, match=r"standard errors of abilities are .* times those of the information"):
        robust = ld.fit_outcomes(truth, clusters="document")
    pd.testing.assert_series_equal(plain.abilities.estimate, robust.abilities.estimate)
    assert robust.errors.kind == "sandwich"
    assert robust.influence.count == 40
    given = truth.items["document"].sample(frac=1, random_state=1)
    with pytest.warns(LangdiffWarning, match="standard errors of abilities"):
        again = ld.fit_outcomes(truth, clusters=given)
    pd.testing.assert_series_equal(again.abilities.std_error, robust.abilities.std_error)
    with pytest.warns(LangdiffWarning, match="standard errors of abilities"):
        boot = ld.fit_outcomes(truth, clusters="document", errors="bootstrap", n_resamples=99, seed=1)
    # 99 samples: the standard deviation of a standard error is 7 % of it
    assert_allclose(boot.abilities.std_error, robust.abilities.std_error, rtol=0.25)
    assert boot.errors.n_resamples > 90
    assert robust.abilities.std_error.mean() > 1.5 * plain.abilities.std_error.mean()


def test_few_clusters_are_warned_of():
    truth = ld.simulate_outcomes(100, 3, documents=10, seed=4).outcomes
    with pytest.warns(LangdiffWarning, match="Few units: intervals are long and hang on single documents"):
        ld.fit_outcomes(truth, clusters="document")


def test_items_that_are_missing_by_difficulty_are_noticed():
    rng = np.random.default_rng(1)
    truth = ld.simulate_outcomes(1000, 3, abilities=[0, 0, 1], spread=1.5, seed=3)
    successes = truth.outcomes.successes.copy()
    easy = truth.difficulty < 0
    successes.loc[easy, "s3"] = NAN  # it was run on the harder half
    marginal = ld.fit_outcomes(ld.Outcomes(successes=successes))
    conditional = ld.fit_outcomes(ld.Outcomes(successes=successes), model="conditional")
    assert abs(conditional.abilities.contrast("s3", "s1").estimate - 1) < 0.35
    assert marginal.abilities.contrast("s3", "s1").estimate < 0.75 or (
        marginal.abilities.contrast("s3", "s1").estimate > 1.5
    )
    assert marginal.compared.test.p < 1e-6
    assert "trust model='conditional'" in marginal.summary()
    at_random = truth.outcomes.successes.mask(rng.random((1000, 3)) < 0.2)
    at_random = at_random[at_random.notna().any(axis=1)]
    assert ld.fit_outcomes(ld.Outcomes(successes=at_random)).compared.test.p > 0.01
    assert ld.fit_outcomes(truth.outcomes).compared is None  # nothing is missing


@pytest.mark.parametrize(
    ("trials", "settings", "why"),
    [
        pytest.param(4, {}, "model beta-binomial", marks=pytest.mark.slow),
        (1, {"model": "slopes"}, "model slopes"),
        (1, {"interaction": "group"}, "there is an interaction"),
        (1, {}, None),
        (1, {"model": "conditional"}, None),
    ],
)
def test_missing_cells_that_are_not_compared_are_said(trials, settings, why):
    truth = ld.simulate_outcomes(600, 4, groups={"a": 0.0, "b": 1.0}, trials=trials, missing=0.2, seed=3).outcomes
    truth = truth.sel(items=truth.items.index[truth.observed.any(axis=1)])
    words = "cells are missing; not compared with the conditional likelihood"
    summary = ld.fit_outcomes(truth, **settings).summary()
    assert (f"{words} ({why})" in summary) if why else (words not in summary)


def test_one_outcome_given_another_is_for_the_conditional_model():
    rng = np.random.default_rng(1)
    shared = rng.normal(0, 1.5, (4000, 1))
    names, systems = [f"i{i}" for i in range(4000)], ["a", "b", "c"]
    found = rng.random((4000, 3)) < expit(np.array([-1.5, 0, 1.5]) - shared)
    named = found & (rng.random((4000, 3)) < expit(-shared))  # all alike in naming
    spans, relations = (ld.Outcomes(successes=pd.DataFrame(1.0 * s, names, systems)) for s in (found, named))
    given = relations.given(spans)
    given = given.sel(items=given.items.index[given.observed.any(axis=1)])
    marginal, conditional = (
        ld.fit_outcomes(given, model=model).abilities.contrast("c", "a") for model in ("rasch", "conditional")
    )
    assert marginal.high < -0.3
    assert conditional.low < 0 < conditional.high


@pytest.mark.parametrize(
    ("cells", "settings", "message"),
    [
        ([[1], [0]], {}, r"2 item\(s\) × 1 system"),
        ([[1, 0]], {}, r"1 item\(s\) × 2 system"),
        ([[1, 0], [0, 1], [NAN, NAN]], {}, r"1 item\(s\) without any outcome: 'i2'"),
        ([[1, NAN], [0, NAN]], {}, r"1 system\(s\) without any outcome: 's2'"),
        ([[1, 0, 0], [1, 1, 0], [1, 0, 1]], {}, r"system 's1' has all 3 right"),
        ([[1, 0, 0], [0, 1, 0]], {}, r"system 's3' has all 2 wrong"),
        ([[1, 0, 1], [1, 1, 0], [0, 0, 0]], {"by": ["a", "a", "b"]}, r"group 'b' has all 3 wrong"),
        ([[1, 1, 1], [0, 0, 0]], {}, "systems agree on all items"),
        ([[1, 1, 1], [1, 1, 0], [1, 0, 0], [0, 0, 0]], {}, "Guttman"),
        ([[1, 0, NAN, NAN], [0, 1, NAN, NAN], [NAN, NAN, 1, 0], [NAN, NAN, 0, 1]], {}, "2 parts that share no item"),
        ([[1, 0, NAN, NAN], [0, 1, NAN, NAN], [NAN, NAN, 1, 0], [NAN, NAN, 0, 1]],
         {"by": ["a", "a", "b", "b"], "allow_unlinked": True},
         "cannot tell apart 3 systems and groups or terms: 's3', 's4', 'b'"),
        ([[1, 0, 1], [0, 1, 0]], {"model": "beta-binomial"}, "all cells have one trial"),
        (A, {"model": "conditional"}, r"'s3' never beat 's1', 's2'.* no maximum"),
        ([[1, 1], [0, 0]], {"model": "conditional"}, "every item is all right or all wrong"),
        ([[1, 0, NAN, NAN], [0, 1, NAN, NAN], [1, 0, NAN, NAN], [NAN, NAN, 1, 0], [NAN, NAN, 0, 1], [1, 1, 0, 1]],
         {"formula": "x", "x": [0, 1, 2, 3, 4, 5]}, None),
    ],
)  # fmt: skip
def test_tables_without_estimates_are_named(cells, settings, message):
    attributes = {"group": settings.pop("by")} if "by" in settings else {}
    by = "group" if attributes else None
    if "x" in settings:
        attributes["x"] = settings.pop("x")
    outcomes = outcomes_of(cells, **attributes)
    if message is None:
        ld.fit_outcomes(outcomes, by=by, **settings)
        return
    refused(DataError, message, ld.fit_outcomes, outcomes, by=by, **settings)


def test_a_term_that_separates_is_named():
    rng = np.random.default_rng(0)
    length = rng.permutation(40)
    right = rng.random((40, 3)) < 0.5
    right[length >= 30] = False  # long items are all wrong
    long = np.where(length >= 30, length - 25.0, 0.0)
    outcomes = outcomes_of(right.astype(float), long=long)
    refused(DataError, r"a combination of .*'long' separates what is right", ld.fit_outcomes, outcomes, formula="long")


def test_unlinked_systems_may_be_trusted():
    one = ld.simulate_outcomes(200, 2, abilities=[0.0, 0.5], seed=1).outcomes.successes
    other = ld.simulate_outcomes(200, 2, abilities=[0.0, 0.5], seed=2).outcomes.successes
    frame = pd.concat([one, other.set_axis(["s3", "s4"], axis=1).set_axis([f"j{i}" for i in range(200)])])
    with pytest.warns(LangdiffWarning, match="as if all items came from one population"):
        fit = ld.fit_outcomes(ld.Outcomes(successes=frame), allow_unlinked=True)
    assert abs(fit.abilities.contrast("s4", "s2").estimate) < 1
    with pytest.raises(DataError, match="share no item"):
        ld.fit_outcomes(ld.Outcomes(successes=frame), model="conditional", allow_unlinked=True)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": "2pl"}, "unknown model '2pl'"),
        ({"errors": "jackknife"}, "unknown errors"),
        ({"by": "construction", "formula": "construction"}, "by or a formula, not both"),
        ({"by": "length"}, "by='length' is not an attribute of the items: there are 'construction'"),
        ({"by": "construction", "model": "conditional"}, "need model='rasch'"),
        ({"formula": "length"}, "formula 'length': 'length' is not a column"),
        ({"errors": "information", "clusters": "construction"}, "takes items to be independent"),
        ({"errors": "bootstrap", "seed": None}, "seed must be a whole number"),
    ],
)
def test_options_that_do_not_fit_are_refused(table_b, settings, message):
    refused(ConfigError, message, ld.fit_outcomes, table_b, **settings)


@pytest.mark.parametrize("option", ["by", "formula", "interaction"])
def test_attributes_must_not_hide_estimates(table_b, option):
    named = replace(table_b, items=table_b.items.rename(columns={"construction": "difficulty"}))
    message = "an attribute called 'difficulty' would hide what is estimated"
    refused(ConfigError, message, ld.fit_outcomes, named, **{option: "difficulty"})
    two = ld.simulate_outcomes(50, 2, seed=1).outcomes
    refused(ConfigError, "at least 3 systems", ld.fit_outcomes, two, model="slopes")


def test_a_group_must_be_known(table_b):
    lacking = table_b.with_items(pd.DataFrame({"construction": ["easy"] * 5 + [None]}, index=table_b.items.index))
    refused(DataError, "1 of 6 items have no construction: 'i5'", ld.fit_outcomes, lacking, by="construction")


@pytest.mark.filterwarnings("ignore:Few units")
def test_signatures_tell_fits_apart(table_b):
    fits = [
        ld.fit_outcomes(table_b, **({"model": "rasch"} | settings))
        for settings in (
            {},
            {"by": "construction"},
            {"formula": "construction"},
            {"interaction": "construction"},
            {"errors": "information"},
            {"model": "conditional"},
        )
    ]
    assert len({fit.signature for fit in fits}) == len(fits)
    assert all(fit.converged for fit in fits)


def test_samples_have_a_seed():
    outcomes = ld.simulate_outcomes(60, 3, seed=1).outcomes
    one, same, other = (ld.fit_outcomes(outcomes, errors="bootstrap", n_resamples=99, seed=seed) for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(one.covariance, same.covariance)
    assert one.signature == same.signature != other.signature
    assert not one.covariance.equals(other.covariance)


@pytest.mark.filterwarnings("ignore:Few units")
def test_samples_that_cannot_be_fitted_are_counted(table_b):
    successes = table_b.successes.copy()
    successes["s3"] = [0, 0, NAN, 1, 0, 0]  # in a third of the samples it has nothing right
    with pytest.warns(LangdiffWarning, match=r"of 99 samples could not be fitted"):
        fit = ld.fit_outcomes(
            replace(table_b, successes=successes), model="rasch", errors="bootstrap", n_resamples=99, seed=1
        )
    assert 50 <= fit.errors.n_resamples < 99


def test_a_search_that_does_not_end_is_said(monkeypatch, table_b):
    monkeypatch.setattr("langdiff.regression.outcomes.estimate.MAX_ITERATIONS", 1)
    with pytest.warns(ConvergenceWarning, match="did not converge in 1 iterations"):
        fit = ld.fit_outcomes(table_b, model="rasch", errors="information")
    assert "NOT CONVERGED" in fit.summary()


@pytest.mark.slow
def test_a_steep_slope_is_found_with_more_nodes():
    outcomes = ld.simulate_outcomes(300, 3, groups={"a": 0.0, "b": 1.0}, seed=25).outcomes
    fit = ld.fit_outcomes(outcomes, model="slopes", by="group", errors="information")
    assert fit.converged
    assert fit.parameters.loc["loading", "estimate"].max() * fit.spread > 6
