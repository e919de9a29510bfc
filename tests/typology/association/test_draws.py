"""Errors of difficulties carried into correlations: known special cases, and coverage."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import xarray as xr
from numpy.testing import assert_allclose

import langdiff as ld
from langdiff.errors import ConfigError, DataError
from langdiff.tables.effects import Effects
from langdiff.typology import correlate, propagate_errors
from tests.helpers import refused


def problem(n=15, error=0.0, seed=0, rho=0.6):
    rng = np.random.default_rng(seed)
    names = [f"e{i}" for i in range(n)]
    x = pd.Series(rng.normal(size=n), index=names, name="x")
    true = rho * x + np.sqrt(1 - rho**2) * rng.normal(size=n)
    estimate = true + error * pd.Series(rng.normal(size=n), index=names)
    return ld.Effects.from_covariance(
        estimate, covariance=pd.DataFrame(error**2 * np.eye(n), names, names), title="lm"
    ), x


def test_without_errors_the_interval_is_fishers():
    fit, x = problem()
    frame = propagate_errors(fit, x, n_draws=20_000, seed=0).to_frame()
    plain = correlate(fit, x).to_frame()
    assert_allclose(frame["estimate"], plain["estimate"], rtol=1e-9)
    assert_allclose(frame[["sampling_low", "sampling_high"]], plain[["low", "high"]], rtol=1e-9)
    assert_allclose(frame[["low", "high"]], plain[["low", "high"]], atol=0.02)  # Monte Carlo
    assert_allclose(frame["measurement_low"], frame["measurement_high"], rtol=1e-6)
    assert_allclose(frame["reliability"], 1)


def test_reliability_and_disattenuation_find_what_errors_hid():
    found = [
        propagate_errors(*problem(n=400, error=0.7, seed=seed), n_draws=200, seed=0).to_frame().iloc[0]
        for seed in range(6)
    ]
    rows = pd.DataFrame(found)
    assert_allclose(rows["reliability"].astype(float).mean(), 1 / 1.49, atol=0.03)
    assert_allclose(rows["estimate"].astype(float).mean(), 0.6 / np.sqrt(1.49), atol=0.04)
    assert_allclose(rows["disattenuated"].astype(float).mean(), 0.6, atol=0.04)


def test_errors_common_to_all_languages_are_none():
    fit, x = problem()
    frame = propagate_errors(Effects.from_covariance(fit.estimate, fit.covariance + 100.0), x, seed=0).to_frame()
    assert_allclose(frame["reliability"], 1, atol=1e-6)


def test_measurement_interval_is_that_of_measuring_again():
    # correlations of difficulties measured again about the estimates, by a plain loop
    fit, x = problem(error=0.3)
    rng = np.random.default_rng(5)
    loop = [np.corrcoef(x, fit.estimate + 0.3 * rng.normal(size=15))[0, 1] for _ in range(8000)]
    row = propagate_errors(fit, x, n_draws=8000, tests=["pearson"], seed=0).to_frame().iloc[0]
    assert_allclose([row["measurement_low"], row["measurement_high"]], np.quantile(loop, [0.025, 0.975]), atol=0.02)
    assert row["low"] < row["sampling_low"]
    assert row["high"] > row["sampling_high"]


def test_interval_covers_the_correlation_of_what_is_measured():
    held, tables = 0, 100
    truth = 0.6 / np.sqrt(1 + 0.3**2)  # of estimates, errors included
    for seed in range(tables):
        row = (
            propagate_errors(*problem(n=25, error=0.3, seed=seed), n_draws=300, tests=["pearson"], seed=0)
            .to_frame()
            .iloc[0]
        )
        held += row["low"] < truth < row["high"]
    assert held / tables > 0.95 - 4 * np.sqrt(0.95 * 0.05 / tables)


def test_posterior_bootstrap_and_covariance_agree():
    surprisals = ld.simulate(300, 6, seed=2).surprisals
    fit = ld.fit(surprisals)
    x = pd.Series([3.0, 1, 4, 1, 5, 9], index=surprisals.editions, name="x")
    rng = np.random.default_rng(0)
    drawn = rng.multivariate_normal(fit.difficulty, fit.covariance.to_numpy(), size=(4, 1000), method="eigh")
    array = xr.DataArray(drawn, dims=("chain", "draw", "edition"), coords={"edition": list(fit.difficulty.index)})
    posterior = SimpleNamespace(posterior=xr.Dataset({"difficulty": array}))
    frames = [
        propagate_errors(source, x, seed=0).to_frame().set_index("test")
        for source in (fit, posterior, pd.DataFrame(drawn.reshape(-1, 6), columns=fit.difficulty.index))
    ]
    columns = ["estimate", "measurement_low", "measurement_high", "reliability"]
    for frame in frames[1:]:
        assert_allclose(
            frame.loc["pearson", columns].astype(float), frames[0].loc["pearson", columns].astype(float), atol=0.02
        )


def test_editions_of_a_language_are_averaged_in_every_draw():
    fit, x = problem(n=12, error=0.2)
    info = pd.DataFrame({"language": [f"l{i // 2}" for i in range(12)]}, index=x.index)
    row = propagate_errors(fit, x, edition_info=info, tests=["pearson"], seed=0).to_frame().iloc[0]
    assert row["n"] == 6
    expected = correlate(fit, x, edition_info=info, tests=["pearson"]).to_frame().iloc[0]
    assert_allclose(row["estimate"], expected["estimate"], rtol=1e-9)


def test_bad_input_is_named():
    fit, x = problem()
    refused(ConfigError, "tests", propagate_errors, fit, x, tests=["kendall"], seed=0)
    refused(ConfigError, "at least 99", propagate_errors, fit, x, n_draws=98, seed=0)
    refused(ConfigError, "draws come from", propagate_errors, [1], x, seed=0)
    refused(ConfigError, "no numeric predictor", propagate_errors, fit, x.map(str), seed=0)
    refused(DataError, "20 draws", propagate_errors, pd.DataFrame(np.zeros((20, 15)), columns=x.index), x, seed=0)
    fit.covariance.iloc[0, 0] = np.nan
    refused(DataError, "no covariance", propagate_errors, fit, x, seed=0)


def test_reasons_and_texts():
    fit, x = problem()
    table = pd.DataFrame({"x": x, "one": 1.0, "few": x.where(x.index.isin(x.index[:3]))})
    result = propagate_errors(fit, table, tests=["pearson"], seed=0)
    reasons = result.to_frame().set_index("predictor")["reason"]
    assert reasons["x"] == ""
    assert reasons["one"] == "the predictor is constant: 1"
    assert reasons["few"].startswith("3 languages")
    assert "disattenuated" in result.summary()
