"""Variance components agree with statsmodels and with the analysis of variance; spreads with the paper's."""

import warnings

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import langdiff as ld
from langdiff.datasets import mielke2019
from langdiff.errors import DataError
from langdiff.experiments import spread_within_languages
from tests.helpers import refused

SEARCH = 2e-3  # of a share: where statsmodels stops


def drawn(counts, between, within, seed):
    rng = np.random.default_rng(seed)
    language = np.repeat([f"l{i}" for i in range(len(counts))], counts)
    effects = dict(zip(dict.fromkeys(language), rng.normal(0, between, len(counts)), strict=True))
    names = [f"{name}-{i}" for i, name in enumerate(language)]
    y = [effects[name] + rng.normal(0, within) for name in language]
    return pd.Series(y, names), pd.Series(language, names)


def mixed(y, language):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of scipy's own changes
        return sm.MixedLM(y.to_numpy(), np.ones((len(y), 1)), groups=language.to_numpy()).fit(reml=True)


@pytest.mark.parametrize("seed", range(4))
def test_components_are_those_of_statsmodels(seed):
    y, language = drawn([5, 3, 1, 2, 8, 1, 4], 0.06, 0.03, seed)
    spread = spread_within_languages(y, language)
    theirs = mixed(y, language)
    assert spread.within_variance == pytest.approx(theirs.scale, rel=SEARCH)
    assert spread.between_variance == pytest.approx(float(np.squeeze(theirs.cov_re)), rel=SEARCH)


def test_the_ends_of_the_interval_are_where_the_likelihood_has_fallen():
    y, language = drawn([5, 3, 2, 8, 4], 0.06, 0.03, 1)
    spread = spread_within_languages(y, language)
    best = mixed(y, language)
    model = best.model
    for share in (spread.between_share_low, spread.between_share_high):
        ratio = share / (1 - share)
        params = type(best.params_object).from_components(fe_params=best.fe_params, cov_re=np.array([[ratio]]))
        assert 2 * (best.llf - model.loglike(params)) == pytest.approx(3.8415, abs=0.02)
    assert spread.between_share_low < spread.between_share < spread.between_share_high


@given(n=st.integers(2, 5), languages=st.integers(2, 6), seed=st.integers(0, 1000))
def test_balanced_components_are_those_of_the_analysis_of_variance(n, languages, seed):
    y, language = drawn([n] * languages, 0.05, 0.03, seed)
    spread = spread_within_languages(y, language)
    groups = y.groupby(language)
    within = groups.var(ddof=1).mean()
    between = groups.mean().var(ddof=1) - within / n
    if between > 0:
        assert_allclose([spread.between_variance, spread.within_variance], [between, within], rtol=1e-3, atol=1e-7)
    else:
        assert spread.between_share < 1e-4
        assert spread.within_variance == pytest.approx(y.var(ddof=1), rel=1e-3)
    assert spread.within_sd == pytest.approx(np.sqrt(within))
    assert spread.between_sd == pytest.approx(groups.mean().std(ddof=1))


def test_spreads_of_the_paper():
    figures = mielke2019()
    for lm, german, french, english in (("bpe", 0.05, 0.05, 0.02), ("char", 0.04, 0.04, 0.04)):
        spread = spread_within_languages(figures.difficulties("bibles")[lm], figures.edition_info("bibles"))
        sd = spread.to_frame()["sd"]
        assert [round(sd[name], 2) for name in ("deu", "fra", "eng")] == [german, french, english]
        assert spread.between_share > 0.5  # "style accounts for less than half the variance"


@pytest.mark.slow  # sixteen fits
def test_what_errors_of_the_estimates_alone_would_give():
    info = {f"e{j}": "same" if j <= 6 else f"l{j}" for j in range(1, 10)}
    found = []
    for seed in range(16):
        simulated = ld.simulate(60, 9, difficulties=np.zeros(9), seed=seed)  # all alike: only errors vary
        found.append(spread_within_languages(ld.fit(simulated.surprisals), info))
    ratio = np.mean([spread.within_sd**2 for spread in found]) / np.mean([spread.sampling_sd**2 for spread in found])
    assert ratio == pytest.approx(1, abs=0.5)  # 16 × 5 squares: standard error .16
    assert np.isnan(spread_within_languages(found[0].editions["difficulty"], info).sampling_sd)


def test_one_language_has_a_spread_but_no_components():
    y = pd.Series({"a": 0.01, "b": -0.01, "c": 0.0})
    spread = spread_within_languages(y, dict.fromkeys("abc", "eng"))
    assert spread.within_sd == pytest.approx(0.01)
    assert np.isnan([spread.between_share, spread.between_sd]).all()
    assert "variance components" not in spread.summary()


def test_refusals():
    y, language = drawn([2, 2], 0.05, 0.02, 0)
    refused(DataError, r"1 edition\(s\) without a language: 'l0-0'", spread_within_languages, y, language.iloc[1:])
    refused(DataError, "no language has two editions", spread_within_languages, y.iloc[1:3], language.iloc[1:3])
    for equal in (0 * y, y.groupby(language).transform("mean")):
        refused(DataError, "of each language are equally difficult", spread_within_languages, equal, language)
