"""`fit` from the outside: recovery of simulated truth, invariances, bad input."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose

import langdiff as ld
from langdiff.errors import ConfigError, ConvergenceWarning, DataError, LangdiffWarning
from langdiff.regression import Optimizer
from langdiff.regression.kernel.optimizers import GRADIENT_TOLERANCE
from langdiff.regression.kernel.two_way import edition_components, weakly_joined
from tests.helpers import refused

OPTIMIZER = 1e-6  # nats; two runs of L-BFGS on one problem, far below any standard error here


def normalized_errors(fit, truth):
    return (fit.difficulty - truth.difficulty) / fit.std_error


@pytest.mark.slow
@pytest.mark.parametrize("model", ["1", "2"])
def test_intervals_cover_the_truth(model):
    """Of 200 data sets × 5 editions, 95 % intervals cover 92 to 98 %: five standard errors of a share near .95."""
    covered = []
    for seed in range(200):
        truth = ld.simulate(60, 5, model=model, missing=0.25, seed=seed)
        surprisals = truth.surprisals
        table = ld.fit(surprisals, model=model).to_frame()
        actual = truth.difficulty[table.index]
        covered.append(((table["low"] < actual) & (actual < table["high"])).mean())
    assert 0.92 < np.mean(covered) < 0.98


@pytest.mark.slow
def test_standard_errors_agree_with_a_bootstrap_of_intents():
    surprisals = ld.simulate(150, 4, missing=0.1, seed=11).surprisals
    rng = np.random.default_rng(0)
    draws = []
    for _ in range(300):
        rows = rng.integers(150, size=150)
        draws.append(ld.fit(surprisals.bits.iloc[rows].reset_index(drop=True)).difficulty)
    bootstrap = np.std(draws, axis=0, ddof=1)
    assert_allclose(ld.fit(surprisals).std_error, bootstrap, rtol=0.2)  # of 300 draws alone: 4 % a standard error


@pytest.mark.parametrize("model", ["1", "2"])
def test_error_falls_with_the_root_of_the_number_of_intents(model):
    def root_mean_square(intents):
        squares = []
        for seed in range(20):
            truth = ld.simulate(intents, 6, model=model, missing=0.2, seed=seed)
            surprisals = truth.surprisals
            squares.append(
                np.mean((ld.fit(surprisals, model=model, dispersion="common").difficulty - truth.difficulty) ** 2)
            )
        return np.sqrt(np.mean(squares))

    ratio = root_mean_square(50) / root_mean_square(800)
    assert ratio == pytest.approx(4, rel=0.3)  # √16; 100 independent errors on each side leave about 10 %


@pytest.mark.parametrize("model", ["1", "2"])
def test_truth_is_recovered(model):
    truth = ld.simulate(5000, 20, model=model, missing=0.2, seed=3)
    surprisals = truth.surprisals
    fit = ld.fit(surprisals, model=model)
    assert fit.converged
    assert np.abs(normalized_errors(fit, truth)).max() < 4
    bias = (fit.cells - 5000 - 20 + 1) / fit.cells if model == "2" else 1
    assert fit.sigma**2 == pytest.approx(np.log1p(np.expm1(truth.sigma**2) * bias), rel=0.05)
    log_error = np.log(fit.intent_size / truth.intent_size)
    assert abs(log_error.median()) < 0.05
    assert log_error.std() < 0.12  # about sqrt(v/J) = 0.2 / √16 = 0.05, and what κ adds


@pytest.mark.parametrize("model", ["1", "2"])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_order_of_rows_and_columns_does_not_matter(model, missing):
    surprisals = ld.simulate(80, 6, missing=missing, seed=4).surprisals
    rng = np.random.default_rng(0)
    shuffled = surprisals.bits.iloc[rng.permutation(80), rng.permutation(6)]
    one, other = ld.fit(surprisals, model=model), ld.fit(shuffled, model=model)
    assert_allclose(other.difficulty[one.difficulty.index], one.difficulty, atol=OPTIMIZER)
    editions = list(one.difficulty.index)
    assert_allclose(other.covariance.loc[editions, editions], one.covariance, rtol=1e-3, atol=1e-9)
    assert other.log_likelihood == pytest.approx(one.log_likelihood, rel=1e-9)


@given(factor=st.floats(0.5, 2), model=st.sampled_from(["1", "2"]))
def test_a_factor_on_an_edition_is_added_to_its_difficulty(factor, model):
    """Of model 2 too: c absorbs it, and nothing else moves."""
    surprisals = ld.simulate(60, 4, missing=0.2, seed=5).surprisals
    harder = surprisals.bits.assign(e2=surprisals.bits["e2"] * factor)
    before, after = ld.fit(surprisals, model=model), ld.fit(harder, model=model)
    shift = after.difficulty - before.difficulty
    assert_allclose(shift["e2"] - shift.drop("e2"), np.log(factor), atol=OPTIMIZER)
    assert after.log_likelihood == pytest.approx(before.log_likelihood, abs=1e-6)


def test_other_units_change_no_difficulty():
    surprisals = ld.simulate(60, 4, missing=0.2, seed=5).surprisals
    bits, nats = ld.fit(surprisals), ld.fit(surprisals.bits * np.log(2))
    assert_allclose(nats.difficulty, bits.difficulty, atol=OPTIMIZER)
    assert_allclose(nats.std_error, bits.std_error, rtol=1e-3)
    assert nats.log_likelihood == pytest.approx(bits.log_likelihood, abs=1e-6)
    expected = bits.log_likelihood_bits - (bits.cells - bits.single_cell_intents) * np.log(np.log(2))
    assert nats.log_likelihood_bits == pytest.approx(expected, abs=1e-6)


def test_model_2_weighs_long_intents_more():
    """Where variances differ tenfold, model 2 is nearer to the truth than model 1."""
    errors = {"1": [], "2": []}
    for seed in range(30):
        sizes = np.exp(np.random.default_rng(seed).normal(4, 1.5, 200))
        truth = ld.simulate(200, 5, intent_sizes=sizes, seed=seed)
        surprisals = truth.surprisals
        for model, found in errors.items():
            fit = ld.fit(surprisals, model=model, dispersion="common")
            found.append(np.mean((fit.difficulty - truth.difficulty) ** 2))
    assert np.mean(errors["2"]) < 0.8 * np.mean(errors["1"])


@pytest.mark.filterwarnings("ignore:.*over 20 times")
def test_a_corrupt_intent_reaches_its_likelier_mode():
    """One row of wild numbers: the fit explains it by a minute size, as the best of many starts does."""
    surprisals = ld.simulate(30, 5, sigma=0.5, seed=8).surprisals
    surprisals.bits.iloc[0] *= np.exp([3.0, -3, 2.5, -2, 0])
    fit = ld.fit(surprisals)
    assert fit.converged
    assert fit.intent_size.iloc[0] < 1e-2 * fit.intent_size.iloc[1:].min()
    clean = ld.fit(surprisals.sel(intents=surprisals.intents[1:]))
    assert_allclose(fit.difficulty, clean.difficulty, atol=0.1 * clean.std_error.max())


@pytest.mark.parametrize("model", ["1", "2"])
def test_a_missing_cell_in_every_row_is_no_obstacle(model):
    truth = ld.simulate(600, 5, model=model, seed=8)
    surprisals = truth.surprisals
    bits = surprisals.bits.copy()
    for i in range(len(bits)):
        bits.iloc[i, i % 5] = np.nan
    fit = ld.fit(bits, model=model)
    assert fit.converged
    assert fit.cells == 600 * 4
    assert ((fit.difficulty - truth.difficulty).abs() < 4 * fit.std_error).all()


def test_single_cells_are_kept_counted_and_say_nothing():
    surprisals = ld.simulate(60, 4, seed=6).surprisals
    extra = pd.DataFrame({"e2": [500.0, 3.0]}, index=["x", "y"])
    with_extra = pd.concat([surprisals.bits, extra])
    for model in ("1", "2"):
        fit, without = (ld.fit(table, model=model, restricted=False) for table in (with_extra, surprisals))
        assert fit.single_cell_intents == 2
        assert fit.cells == without.cells + 2
        assert len(fit.intent_size) == 62
        assert_allclose(fit.difficulty, without.difficulty, atol=1e-12)
        assert_allclose(fit.covariance, without.covariance, rtol=1e-9)
        assert fit.log_likelihood == pytest.approx(without.log_likelihood, rel=1e-12)
        # the size is the one that gives the cell's log bits as their mean
        n, d = fit.intent_size[["x", "y"]], fit.difficulty["e2"]
        shift = 0.0 if model == "1" else 0.5 * (fit.sigma**2 - np.log1p(fit.dispersion / n))
        assert_allclose(np.log(n) + d + shift, np.log([500.0, 3.0]), rtol=1e-9)


def test_convergence_facts():
    surprisals = ld.simulate(60, 4, seed=6).surprisals
    fit = ld.fit(surprisals)
    assert fit.converged
    assert fit.grad_norm <= GRADIENT_TOLERANCE
    assert 0 < fit.n_iterations <= fit.n_evaluations < 50
    exact = ld.fit(surprisals, model="1")
    assert exact.converged
    assert exact.n_iterations == 0
    assert exact.grad_norm < 1e-9


def test_not_converged_warns_with_advice():
    surprisals = ld.simulate(60, 4, missing=0.3, seed=6).surprisals
    with pytest.warns(ConvergenceWarning, match=r"did not converge in 1 iterations.*Raise max_iterations") as caught:
        fit = ld.fit(surprisals, optimizer=Optimizer(max_iterations=1))
    assert not fit.converged
    assert caught[0].filename == __file__
    assert "NOT CONVERGED" in fit.summary()
    assert "NOT CONVERGED" in repr(fit)


@pytest.mark.parametrize("scale", [1e300, 1e-300])
def test_numbers_out_of_all_proportion(scale):
    surprisals = ld.simulate(40, 4, sigma=0.5, seed=1).surprisals
    usual = ld.fit(surprisals)
    assert_allclose(ld.fit(surprisals.bits * scale).difficulty, usual.difficulty, atol=OPTIMIZER)


def test_never_nan_when_converged():
    """Sizes over 600 decades leave the range of floating point: either it works, or it says it did not."""
    rng = np.random.default_rng(0)
    bits = pd.DataFrame(10.0 ** np.linspace(-300, 300, 20)[:, None] * np.exp(0.1 * rng.normal(size=(20, 4))))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit = ld.fit(bits)
    assert {warning.category for warning in caught} <= {ConvergenceWarning}
    assert fit.converged == (not caught)
    assert fit.converged == (not fit.std_error.isna().any())
    assert not fit.difficulty.isna().any()


@pytest.mark.filterwarnings("ignore:.*over 20 times")
@pytest.mark.parametrize("model", ["1", "2"])
def test_an_infinite_dispersion_is_no_convergence(model):
    surprisals = ld.simulate(20, 3, seed=1).surprisals
    bits = surprisals.bits.copy()
    bits.iloc[0, 0] = 1e200
    with pytest.warns(ConvergenceWarning):
        assert not ld.fit(bits, model=model).converged


@pytest.mark.parametrize(
    "settings",
    [
        {"model": "1"},
        {"model": "2"},
        {"model": "2L"},
        {"model": "2C"},
        {"intents": "random"},
        {"dispersion": "edition"},
    ],
    ids=str,
)
@pytest.mark.parametrize("factor", [1e300, 1e-300, 1e4])
def test_difficulties_of_no_language_have_no_errors(settings, factor):
    bits = ld.simulate(60, 4, seed=1).surprisals.bits
    bits["e4"] *= factor
    message = r"more than 5 nats from the average.* is edition 'e4', for instance \(\d+, e4\) = [\d.e+-]+ bits"
    with pytest.warns(ConvergenceWarning, match=message):
        fit = ld.fit(bits, **settings)
    assert not fit.converged
    assert "NOT CONVERGED (difficulties beyond 5 nats)" in fit.summary()
    assert fit.std_error.isna().all()
    for estimand in ("expected", "median"):
        assert np.isnan(fit.contrast("e4", "e1", estimand=estimand).std_error)


@pytest.mark.filterwarnings("ignore:.*over 20 times")
@pytest.mark.parametrize("value", [1e300, 1e-300])
@pytest.mark.parametrize("model", ["1", "2"])
def test_one_impossible_cell_is_named(model, value):
    bits = ld.simulate(60, 4, seed=1).surprisals.bits
    bits.loc["7", "e2"] = value
    with pytest.warns(ConvergenceWarning, match=re.escape(f"edition 'e2', for instance (7, e2) = {value:g} bits")):
        assert ld.fit(bits, model=model).std_error.isna().all()


def test_a_language_of_a_hundred_times_the_bits_is_fitted():
    bits = ld.simulate(60, 4, seed=1).surprisals.bits
    bits["e4"] *= 100  # the others are 3.2 nats below the average
    assert (ld.fit(bits).std_error > 0).all()


@pytest.mark.filterwarnings("ignore:noise differs", "ignore:standard errors from")
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda own: np.roll(own, 2), r"e2 \(correlation -?0\.\d\d; moved by -2 row\(s\) 0\.9\d\)"),
        (lambda own: own[::-1], r"e2 \(correlation -?0\.\d\d\)\."),
        (lambda own: np.append(own[:600], np.roll(own[600:], 1)), r"e2 from 601 to 1200 .* moved by -1"),
    ],
)
def test_an_edition_whose_rows_are_of_other_intents_is_named(change, words):
    bits = ld.simulate(1200, 6, seed=1).surprisals.bits
    ld.fit(bits)  # warnings are errors: nothing is said of the table as it is
    bits["e2"] = change(bits["e2"].to_numpy())
    with pytest.warns(LangdiffWarning, match=words):
        ld.fit(bits)


@pytest.mark.parametrize("value", [9990.0, 9999, 1e4, 1e5, 9999 / np.log(2), 99999 / np.log(2)])
def test_a_number_far_from_its_row_and_edition_is_a_mark_or_named(value):
    bits = ld.simulate(60, 4, seed=1).surprisals.bits
    bits.loc["7", "e2"] = value
    if value == 9990:
        with pytest.warns(LangdiffWarning, match=re.escape("1 cell(s) have over 20 times")):
            ld.fit(bits)
    else:
        words = "1 cell(s) hold a mark for a missing value: (7, e2)"
        refused(DataError, re.escape(words), ld.fit, bits)


GOOD = {"a": [10.0, 20, 31], "b": [11.0, 25, 30], "c": [12.0, 24, 36]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"a": [10.0, -1, 31]}, r"1 of 9 surprisals are not positive finite bits: \(1, a\) = -1"),
        ({"a": [10.0, 0, 31]}, r"\(1, a\) = 0"),
        ({"a": [10.0, np.inf, 31]}, r"\(1, a\) = inf"),
        ({"a": ["x", "y", "z"]}, r"not numbers: .*, a\) = 'x'"),
        ({"a": [np.nan] * 3}, r"1 edition\(s\) without any surprisal: 'a'"),
        ({"a": [1.0, 2, np.nan], "b": [1.0, 3, np.nan], "c": [2.0, 3, np.nan]}, r"1 intent\(s\) without any.*: 2"),
        ({"c": [5.0, 5, 5]}, "surprisals are all equal: 'c'"),
        ({"b": [20.0, 40, 62], "c": [5.0, 10, 15.5]}, "residuals vanish.*'a', 'b', 'c'"),
        ({"a": [1.0, np.nan, np.nan], "b": [np.nan, 1, 2], "c": [np.nan, 2, 3]}, "of 2, 1 editions.*'b' to 'a'"),
        ({"a": [1.0, np.nan, 2], "b": [2.0, 4, np.nan], "c": [np.nan, np.nan, 2]}, "5 cells for 3 intents and 3 free"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("model", ["1", "2"])
def test_bad_tables_are_refused(change, message, model):
    ld.fit(pd.DataFrame(GOOD), model=model)  # the good one passes
    refused(DataError, message, ld.fit, pd.DataFrame(GOOD | change), model=model)


def test_too_small_or_twice_named_or_no_table():
    frame = pd.DataFrame(GOOD)
    refused(DataError, r"3 intent\(s\) × 1 edition\(s\)", ld.fit, frame[["a"]])
    refused(DataError, r"1 intent\(s\) × 3", ld.fit, frame.iloc[:1])
    refused(DataError, r"1 edition\(s\) named twice: 'a'", ld.fit, frame.set_axis(["a", "a", "b"], axis=1))
    refused(DataError, "not list", ld.fit, [[1.0, 2.0], [2.0, 3.0]])
    refused(DataError, r"two axes.*not shape \(9,\)", ld.fit, frame.to_numpy().ravel())
    refused(DataError, r"0 intent\(s\)", ld.fit, pd.DataFrame())


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"model": 2}, "unknown model 2; use one of '1', '2'"),
        ({"model": "4"}, "unknown model '4'"),
        ({"optimizer": Optimizer}, "optimizer is the class Optimizer: write Optimizer"),
        ({"optimizer": "adam"}, "optimizer='adam': must be 'auto' or langdiff.regression.Optimizer"),
    ],
)
def test_bad_settings_are_refused(setting, message):
    refused(ConfigError, message, ld.fit, pd.DataFrame(GOOD), **setting)


def test_copies_of_an_edition_are_warned_about():
    bits = ld.simulate(50, 4, missing=0.2, seed=0).surprisals.bits
    with pytest.warns(LangdiffWarning, match=r"^1 pair\(s\) of editions have equal surprisals .*'copy = e2'\. Copies"):
        ld.fit(bits.assign(copy=bits["e2"]), dispersion="common")
    for times in (1.3, 1 / 7):
        message = rf"^1 pair\(s\) of editions have equal .* or exact multiples: 'copy = {times:.6g} × e2'\. Copies"
        with pytest.warns(LangdiffWarning, match=message):
            ld.fit(bits.assign(copy=times * bits["e2"]), dispersion="common")
    with pytest.warns(LangdiffWarning, match="copy = 1.3 × e2"):  # in single precision
        ld.fit(bits.assign(copy=(1.3 * bits["e2"].astype("f4")).astype(float)), dispersion="common")
    partly = bits["e2"].where(np.arange(50) < 40, bits["e2"] * 1.1)
    ld.fit(bits.assign(copy=partly), dispersion="common")  # warnings are errors here: none


def test_editions_that_single_intents_join_are_warned_about():
    bits = ld.simulate(50, 4, seed=0).surprisals.bits
    bits.loc[bits.index[1:], "e4"] = np.nan
    with (
        pytest.warns(LangdiffWarning, match=r"^1 edition\(s\) are joined .* only: 'e4' \(joined by '1'\)\. Nothing"),
        pytest.warns(LangdiffWarning, match=r"^single intents \('1'\) decide how some editions compare"),
    ):
        ld.fit(bits, restricted=False, dispersion="common")


@given(arrays(bool, st.tuples(st.integers(2, 8), st.integers(2, 6))))
def test_weak_joins_are_those_that_one_intent_cuts(observed):
    """If pairs that share two intents connect all editions, leaving out any one intent leaves them connected."""
    if weakly_joined(observed).max() == 0:
        assert edition_components(observed).max() == 0
        for row in range(len(observed)):
            assert edition_components(np.delete(observed, row, axis=0)).max() == 0
