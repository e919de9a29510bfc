"""Languages and cells with more difficulty than predictors suggest."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

import langdiff as ld
from langdiff.errors import ConfigError, DataError, LangdiffWarning
from langdiff.tables.column_levels import MEAN
from langdiff.tables.crossing import make_columns
from langdiff.tables.effects import Effects
from langdiff.tables.two_way import TwoWay
from tests.helpers import refused

FORMULA = "log(token_premium) + log(data)"


def draw(languages=40, systems=3, of_language=0.03, of_cell=0.03, error=0.012, planted=(), seed=0, **options):
    """Return levels with known parts, and their predictors: data by language, premiums by column."""
    rng = np.random.default_rng(seed)
    pairs = [(f"l{j}", f"m{k}") for j in range(languages) for k in range(systems)]
    columns = make_columns(pairs)
    data = pd.DataFrame({"data": np.exp(rng.normal(0, 2, languages))}, [f"l{j}" for j in range(languages)])
    premium = pd.DataFrame({"token_premium": np.exp(rng.normal(0, 0.3, len(pairs)))}, columns.index)
    level = -0.02 * np.log(data["data"].to_numpy()) + rng.normal(0, of_language, languages)
    d = level[:, None] + rng.normal(0, 0.1, systems) + rng.normal(0, of_cell, (languages, systems))
    d = pd.Series(d.ravel() + 0.1 * np.log(premium["token_premium"].to_numpy()), columns.index)
    d += rng.normal(0, error, len(d))
    for name, shift in dict(planted).items():
        d[name] += shift
    cells = Effects.from_covariance(d, pd.DataFrame(error**2 * np.eye(len(d)), d.index, d.index), scale=MEAN)
    return TwoWay(cells=cells, columns=columns, **options), [data, premium]


def test_a_planted_cell_and_a_planted_language_are_found():
    planted = {"l3@m1": 0.2} | {f"l7@m{k}": 0.25 for k in range(3)}
    two_way, predictors = draw(of_language=0.02, planted=planted)
    found = two_way.underserved(predictors, FORMULA)
    assert set(found.flagged.index) == {("l3", "m1"), ("l7", "all")}
    assert found.frame.loc[("l7", "all"), "flag"] == "language"
    row = found.frame.loc[("l3", "m1")]
    assert row["low"] < 0.2 < row["high"]
    assert row["percent"] == pytest.approx(100 * np.expm1(row["excess"]))
    assert_allclose(found.frame["observed"] - found.frame["expected"], found.frame["excess"], atol=1e-12)
    assert abs(found.terms.loc["log(token_premium)", "estimate"] - 0.1) < 4 * found.terms["std_error"].iloc[0]


def test_the_excess_is_that_of_a_fit_with_a_shift_of_the_cell():
    two_way, predictors = draw(languages=25, systems=2)
    found = two_way.underserved(predictors, FORMULA)
    columns = two_way.columns
    alike = columns["language"].to_numpy()[:, None] == columns["language"].to_numpy()
    v = two_way.cells.covariance.to_numpy() + found.tau_language**2 * alike + found.tau_cell**2 * np.eye(len(columns))
    premium = np.log(predictors[1]["token_premium"].to_numpy())
    data = np.log(predictors[0]["data"].reindex(columns["language"]).to_numpy())
    systems = [(columns["system"] == name).to_numpy(dtype=float) for name in ("m0", "m1")]
    weight = np.linalg.inv(v)
    for index, member in [(("l4", "m1"), columns.index == "l4@m1"), (("l4", "all"), columns["language"] == "l4")]:
        x = np.column_stack([*systems, premium, data, np.asarray(member, dtype=float)])
        bread = np.linalg.inv(x.T @ weight @ x)
        row = found.frame.loc[index]
        assert row["excess"] == pytest.approx((bread @ x.T @ weight @ two_way.levels)[-1], rel=1e-8)
        assert row["std_error"] == pytest.approx(np.sqrt(bread[-1, -1]), rel=1e-8)


def test_variances_are_at_the_maximum_of_the_restricted_likelihood():
    two_way, predictors = draw()
    found = two_way.underserved(predictors, FORMULA)
    columns, d = two_way.columns, two_way.levels.to_numpy()
    alike = (columns["language"].to_numpy()[:, None] == columns["language"].to_numpy()).astype(float)
    x = np.column_stack(
        [
            pd.get_dummies(columns["system"]).to_numpy(dtype=float),
            np.log(predictors[1]["token_premium"].to_numpy()),
            np.log(predictors[0]["data"].reindex(columns["language"]).to_numpy()),
        ]
    )
    contrasts = np.linalg.svd(x, full_matrices=True)[0][:, x.shape[1] :]  # their likelihood is the restricted one

    def loss(log_variance):
        v = (
            two_way.cells.covariance.to_numpy()
            + np.exp(log_variance[0]) * alike
            + np.exp(log_variance[1]) * np.eye(len(d))
        )
        of_contrasts = contrasts.T @ v @ contrasts
        left = contrasts.T @ d
        return np.linalg.slogdet(of_contrasts)[1] + left @ np.linalg.solve(of_contrasts, left)

    best = minimize(loss, np.log([1e-3, 1e-3]), method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-9})
    assert_allclose([found.tau_language, found.tau_cell], np.sqrt(np.exp(best.x)), rtol=1e-3)


def test_no_variation_is_zero_and_one_system_has_languages_only():
    two_way, predictors = draw(of_language=0.0, of_cell=0.0, error=0.05)
    assert two_way.underserved(predictors, FORMULA).tau_cell < 0.03
    alone, predictors = draw(systems=1)
    found = alone.underserved(predictors, FORMULA)
    assert set(found.frame.index.get_level_values("system")) == {"all"}


@pytest.mark.filterwarnings("ignore::langdiff.errors.LangdiffWarning")
def test_fits_of_bits_have_it_and_premiums_come_from_the_tokens_of_the_stack():
    tables = {}
    for seed, name in enumerate("ab"):
        table = ld.simulate(60, 20, seed=seed).surprisals
        tables[name] = ld.Surprisals(bits=table.bits, units=(table.bits / 3).round() + 1)
    stacked = ld.stack(tables)
    premium = ld.measure_parity(stacked).estimates[["token_premium"]]
    data = pd.DataFrame({"data": np.arange(1.0, 21)}, index=[f"e{j}" for j in range(1, 21)])
    found = ld.fit(stacked, clusters=None).underserved([data, premium], FORMULA)
    assert len(found.frame) == 60


def test_what_is_not_known_is_left_out_and_told():
    two_way, (data, premium) = draw()
    with pytest.warns(LangdiffWarning, match="3 column.* 'l5@m0', 'l5@m1', 'l5@m2'"):
        found = two_way.underserved([data.drop("l5"), premium], FORMULA)
    assert "l5" not in found.frame.index


def test_what_cannot_be_expected_is_refused():
    two_way, (data, premium) = draw(languages=19)
    refused(DataError, "19 languages are too few for 2 predictor", two_way.underserved, [data, premium], FORMULA)
    refused(ConfigError, "measure_parity", two_way.underserved, data, FORMULA)
    with pytest.raises(DataError, match="predictors are indexed by 'x'"):
        two_way.underserved(pd.DataFrame({"data": [1.0]}, ["x"]), "data")
    refused(ConfigError, "q must be between", two_way.underserved, data, "data", q=0)
    refused(DataError, "several rows", two_way.underserved, pd.concat([data, data]), "data")
    additive, (data, _) = draw(additive=True)
    refused(DataError, "at chance", additive.underserved, data, "data")
