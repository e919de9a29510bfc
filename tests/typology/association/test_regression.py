"""Several predictors at once: the normal equations, variance inflation by its definition, bad designs."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from statsmodels.stats.outliers_influence import variance_inflation_factor

from langdiff.datasets import mielke2019
from langdiff.errors import ConfigError, DataError
from langdiff.typology import regress


def table(n=20, seed=0):
    rng = np.random.default_rng(seed)
    names = [f"l{i}" for i in range(n)]
    x = pd.DataFrame(rng.normal(size=(n, 3)), index=names, columns=list("abc"))
    x["c"] += x["a"]
    return pd.Series(x["a"] - 0.5 * x["b"] + rng.normal(size=n), name="lm"), x


def test_estimates_solve_the_normal_equations():
    d, x = table()
    result = regress(d, x)
    design = np.column_stack([np.ones(20), (x - x.mean()) / x.std(ddof=1)])
    beta = np.linalg.solve(design.T @ design, design.T @ d)
    residuals = d - design @ beta
    errors = np.sqrt(residuals @ residuals / 16 * np.diag(np.linalg.inv(design.T @ design)))
    assert_allclose(result.terms["estimate"], beta[1:], rtol=1e-9)
    assert_allclose(result.terms["std_error"], errors[1:], rtol=1e-9)
    assert_allclose(result.terms["p"], 2 * stats.t.sf(np.abs(beta / errors)[1:], 16), rtol=1e-8)
    assert_allclose(result.r_squared, 1 - residuals @ residuals / ((d - d.mean()) ** 2).sum(), rtol=1e-9)
    assert (result.n, result.missing, result.language_model) == (20, 0, "lm")


def test_variance_inflation_is_that_of_statsmodels():
    d, x = table()
    design = np.column_stack([np.ones(20), x])
    expected = [variance_inflation_factor(design, k) for k in (1, 2, 3)]
    assert_allclose(regress(d, x).terms["vif"], expected, rtol=1e-9)
    assert_allclose(regress(d, x[["b"]]).terms["vif"], 1.0)


def test_published_figures_word_inventory_stands_beside_length():
    figures = mielke2019()
    result = regress(
        figures.difficulties("bibles")["bpe"],
        figures.predictors("bibles"),
        edition_info=figures.edition_info("bibles"),
        only=["word_types", "characters"],
    )
    assert result.terms["significant"].to_dict() == {"word_types": True, "characters": False}
    r = np.corrcoef(
        *figures.predictors("bibles")[["word_types", "characters"]]
        .groupby(figures.bibles["language"])
        .mean()
        .to_numpy()
        .T
    )[0, 1]
    assert_allclose(result.terms["vif"], 1 / (1 - r**2))
    assert "F test" in result.summary()


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda d, x: (d, x.assign(k=1.0)), DataError, "constant predictor.*'k'"),
        (lambda d, x: (d, x.assign(k=x["a"] - 2 * x["b"] + 7)), DataError, "'k' is determined by 'a', 'b', 'c'"),
        (lambda d, x: (d.iloc[:5], x), DataError, "5 languages have all 3 predictors; at least 6"),
        (
            lambda d, x: (d, pd.DataFrame({k: 1.0 * (np.arange(len(x)) % 3 == k) for k in range(3)}, x.index)),
            DataError,
            "A full set of dummies: pass the category itself",
        ),
        (lambda d, x: (pd.DataFrame({"one": d, "two": d}), x), ConfigError, "one language model are needed"),
    ],
)
def test_bad_designs_are_named(change, error, message):
    with pytest.raises(error, match=message):
        regress(*change(*table()))


def test_languages_without_all_predictors_are_counted():
    d, x = table()
    x.loc["l0", "b"] = np.nan
    result = regress(d, x)
    assert (result.n, result.missing) == (19, 1)
    assert "1 left out" in result.summary()
    assert "VIF above 10" not in result.summary()
