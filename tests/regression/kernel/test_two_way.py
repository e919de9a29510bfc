"""Model 1 against ordinary least squares that knows nothing of Laplacians."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import langdiff as ld
from langdiff.regression.kernel.two_way import edition_components, solve_two_way

SAME_ALGEBRA = 1e-8  # statsmodels solves the dummies by pseudo-inverse
ROUNDING = 1e-11


def ols(surprisals):
    frame = surprisals.to_frame()
    frame["z"] = np.log(frame["bits"])
    return smf.ols("z ~ C(intent) + C(edition)", frame).fit()


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_model_1_is_two_way_ols(missing):
    surprisals = ld.simulate(40, 5, model="1", sigma=0.2, missing=missing, seed=0).surprisals
    theirs = ols(surprisals)
    ours = ld.fit(surprisals, model="1")
    contrasts = ours.difficulty.iloc[1:] - ours.difficulty.iloc[0]
    assert_allclose(contrasts, theirs.params.filter(like="C(edition)"), atol=SAME_ALGEBRA)
    assert_allclose(ours.sigma**2, theirs.mse_resid, rtol=SAME_ALGEBRA)
    assert_allclose(ours.log_likelihood, theirs.llf, rtol=SAME_ALGEBRA)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_covariance_of_model_1_is_that_of_ols(missing):
    surprisals = ld.simulate(40, 5, model="1", sigma=0.2, missing=missing, seed=3).surprisals
    theirs = ols(surprisals)
    names = [name for name in theirs.params.index if name.startswith("C(edition)")]
    ours = ld.fit(surprisals, model="1").covariance.to_numpy()
    contrast = np.hstack([-np.ones((4, 1)), np.eye(4)])
    assert_allclose(contrast @ ours @ contrast.T, theirs.cov_params().loc[names, names], rtol=1e-6, atol=1e-12)


@given(shape=st.tuples(st.integers(2, 12), st.integers(2, 6)), share=st.floats(0, 0.6), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_normal_equations_hold_and_residuals_add_up(shape, share, seed):
    rng = np.random.default_rng(seed)
    z = rng.normal(5, 2, shape)
    gone = rng.random(shape) < share
    gone[0], gone[:, 0] = False, False  # keeps it connected
    z[gone] = np.nan
    fit = solve_two_way(z)
    assert_allclose(fit.residual.sum(axis=0), 0, atol=ROUNDING)
    assert_allclose(fit.residual.sum(axis=1), 0, atol=ROUNDING)
    rebuilt = fit.intent_effect[:, None] + fit.edition_effect + fit.residual
    assert_allclose(rebuilt[~gone], z[~gone], atol=ROUNDING)
    assert (fit.residual[gone] == 0).all()
    assert fit.edition_effect.sum() == pytest.approx(0, abs=ROUNDING)
    assert fit.degrees_of_freedom == (~gone).sum() - sum(shape) + 1


def test_multiplying_an_edition_shifts_its_difficulty_alone():
    surprisals = ld.simulate(60, 4, model="1", missing=0.2, seed=5).surprisals
    harder = surprisals.bits.copy()
    harder["e3"] *= 1.5
    before, after = ld.fit(surprisals, model="1"), ld.fit(harder, model="1")
    shift = after.difficulty - before.difficulty
    assert_allclose(shift["e3"] - shift.drop("e3"), np.log(1.5), atol=ROUNDING)
    assert np.exp(after.difficulty).mean() == pytest.approx(1, abs=ROUNDING)
    assert after.sigma == pytest.approx(before.sigma, rel=ROUNDING)


def brute_force_components(observed):
    """Grow sets of editions by every shared intent until nothing changes."""
    groups = [{j} for j in range(observed.shape[1])]
    for row in observed:
        have = set(np.flatnonzero(row))
        touched = [g for g in groups if g & have]
        groups = [g for g in groups if not g & have] + ([set().union(*touched)] if touched else [])
    return {frozenset(g) for g in groups}


@given(shape=st.tuples(st.integers(1, 6), st.integers(1, 6)), share=st.floats(0, 1), seed=st.integers(0, 10**6))
@settings(max_examples=100, deadline=None)
def test_components_match_brute_force(shape, share, seed):
    observed = np.random.default_rng(seed).random(shape) < share
    labels = edition_components(observed)
    groups = {frozenset(np.flatnonzero(labels == k)) for k in np.unique(labels)}
    assert groups == brute_force_components(observed)
    assert (np.diff(np.bincount(labels)) <= 0).all()  # the largest first


def test_weakly_connected_table_keeps_its_digits():
    """A chain of 60 editions, neighbours sharing three intents, is as badly conditioned as it gets."""
    rng = np.random.default_rng(0)
    n_editions = 60
    truth = rng.normal(0, 0.1, n_editions)
    z = np.full((3 * (n_editions - 1), n_editions), np.nan)
    for j in range(n_editions - 1):
        rows = slice(3 * j, 3 * j + 3)
        z[rows, j : j + 2] = rng.normal(5, 1, (3, 1)) + truth[j : j + 2] + rng.normal(0, 0.01, (3, 2))
    fit = solve_two_way(z)
    steps = np.array([np.nanmean(z[3 * j : 3 * j + 3, j + 1] - z[3 * j : 3 * j + 3, j]) for j in range(n_editions - 1)])
    assert_allclose(np.diff(fit.edition_effect), steps, atol=ROUNDING)


def test_frame_of_bits_is_taken_as_it_is():
    bits = pd.DataFrame({"a": [1.0, 2, 4], "b": [2.0, 4.1, 8]})
    assert_allclose(np.exp(ld.fit(bits, model="1").difficulty).to_numpy() @ [-2, 1], 0, atol=0.02)
