"""Errors from the information: figures of other programs, and the classical analysis of variance."""

import warnings

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from numpy.testing import assert_allclose

import langdiff as ld
from langdiff.regression import Random

NAN = np.nan
A = pd.DataFrame([[100, 120, 90], [40, 52, 50], [220, 230, 180], [75, 70, 88], [150, 190, 140]], dtype=float)
B = pd.DataFrame(
    [
        [100, 120, 90, 110],
        [40, 52, NAN, 61],
        [220, NAN, 180, NAN],
        [75, 70, 88, NAN],
        [NAN, 190, 140, 150],
        [60, NAN, NAN, 66],
    ]
)
NINE_DIGITS = 1e-9  # where Newton's method stops is 1e-10 from the maximum; without the factor errors are off by .01


# Full likelihood in (ln n, d, ln κ) with Σd = 0: Newton and the Hessian by central differences at 40 digits (mpmath),
# the delta method to δ, then the covariance times N/(N − I − J + 1)
@pytest.mark.parametrize(
    ("bits", "factor", "difficulty", "std_error", "contrast", "log_likelihood"),
    [
        (
            A,
            15 / 8,
            [-0.0210950383, 0.1012236427, -0.0895418331],
            [0.0424654228, 0.0397719702, 0.0438569577],
            0.0726925227,
            14.9211168285,
        ),
        (
            B,
            17 / 8,
            [-0.0280479069, 0.0991575548, -0.1113119594, 0.0283525839],
            [0.0608531148, 0.0608459452, 0.0587594112, 0.0646296778],
            0.1022872670,
            15.7219802079,
        ),
    ],
    ids=["complete", "incomplete"],
)
def test_model_2_makes_up_for_the_sizes_that_it_fits(bits, factor, difficulty, std_error, contrast, log_likelihood):
    fit = ld.fit(bits, model="2", restricted=False, errors="information")
    assert_allclose(fit.difficulty, difficulty, rtol=0, atol=NINE_DIGITS)
    assert_allclose(fit.std_error, std_error, rtol=0, atol=NINE_DIGITS)
    assert fit.contrast(1, 0).std_error == pytest.approx(contrast, abs=NINE_DIGITS)
    assert fit.log_likelihood == pytest.approx(log_likelihood, abs=NINE_DIGITS)
    cells, parameters = int(bits.notna().sum().sum()), sum(bits.shape) - 1
    assert fit.degrees_of_freedom == cells - parameters
    assert cells / (cells - parameters) == factor


@pytest.fixture(scope="module")
def table():
    """Forty intents, a quarter of the cells missing, and one intent of one cell."""
    bits = ld.simulate(40, 5, model="1", missing=0.25, seed=8).surprisals.bits.copy()
    bits.iloc[0, 1:], bits.iloc[0, 0] = np.nan, 100.0
    info = pd.DataFrame({"length": np.log(bits.mean(axis=1)).to_numpy()}, index=bits.index)
    return ld.Surprisals(bits=bits, intent_info=info)


def least_squares(bits, edition="C(edition)"):
    """Return the regression of ln bits on indicators of all intents and of editions or groups of them."""
    cells = pd.DataFrame({name: np.log(bits[name]).to_numpy() for name in bits.columns})
    long = cells.reset_index(names="intent").melt("intent", var_name="edition", value_name="z").dropna()
    long["half"] = long["edition"].isin(["e1", "e2"]).map({True: "a", False: "b"})
    return smf.ols(f"z ~ C(intent) + {edition}", long).fit()


@pytest.mark.parametrize("model", ["1", "2"])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"intents": "random"},
        {"intents": Random(formula="length")},
        {"dispersion": "edition"},
        {"intents": "random", "dispersion": "edition"},
    ],
    ids=str,
)
def test_degrees_of_freedom_are_those_of_residuals_within_intents(table, model, settings):
    fit = ld.fit(table, model=model, errors="information", **settings)
    assert fit.degrees_of_freedom == least_squares(table.bits).df_resid


@pytest.mark.parametrize("settings", [{}, {"intents": "random"}], ids=str)
def test_groups_share_a_degree_of_freedom(table, settings):
    groups = dict(zip(table.editions, "aabbb", strict=True))
    fit = ld.fit(table, model="1", groups=groups, errors="information", **settings)
    assert fit.degrees_of_freedom == least_squares(table.bits, "C(half)").df_resid


@pytest.mark.parametrize("settings", [{}, {"intents": "random", "restricted": True}], ids=str)
def test_intervals_of_model_1_are_those_of_the_analysis_of_variance(settings):
    """Of a complete table: with random intents by the restricted likelihood, too."""
    bits = ld.simulate(12, 4, model="1", seed=3).surprisals.bits
    expected = least_squares(bits).conf_int().loc["C(edition)[T.e3]"]
    contrast = ld.fit(bits, model="1", errors="information", **settings).contrast("e3", "e1")
    assert (contrast.low, contrast.high) == pytest.approx(tuple(expected), abs=1e-7)  # λ is searched for


@pytest.mark.parametrize("settings", [{"intents": "random"}, {"dispersion": "edition"}])
@pytest.mark.parametrize("cells", [1, 5, 49, 50])
def test_an_edition_of_few_cells_has_no_sandwich_of_scores_that_it_fits(settings, cells):
    rng = np.random.default_rng(5)
    sizes = rng.normal(np.log(150), 0.6, size=(80, 1))
    bits = pd.DataFrame(np.exp(sizes + rng.normal(0, 0.2, size=(80, 6))), columns=list("abcdef"))
    bits.loc[cells:, "f"] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ld.errors.LangdiffWarning)  # of single intents that join editions
        found = ld.fit(bits, model="1", **settings)
    assert found.errors.kind == ("sandwich" if cells >= 50 else "information")
    # as of a mean of that many cells of noise .2; the sandwich of one cell had .003
    assert settings != {"intents": "random"} or found.std_error["f"] > 0.5 * 0.2 / np.sqrt(cells)
