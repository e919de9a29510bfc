"""The record: frames, text, and a file that gives everything back."""

import json
import re
from dataclasses import fields, is_dataclass, replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from numpy.testing import assert_allclose
from pandas.testing import assert_frame_equal, assert_series_equal
from scipy import stats

import langdiff as ld
from langdiff.errors import ConfigError, DataError
from langdiff.regression import Blunders, Bootstrap
from langdiff.tables.influences import Influence
from tests.helpers import refused

PERCENT = ["factor", "percent", "percent_std_error", "percent_low", "percent_high"]


@pytest.fixture(scope="module")
def fit():
    surprisals = ld.simulate(50, 4, missing=0.2, seed=0).surprisals
    return ld.fit(surprisals)


def test_frame_is_consistent_and_sorted(fit):
    frame = fit.to_frame()
    assert list(frame.columns) == ["difficulty", "std_error", "low", "high", *PERCENT, "rank", "rank_low", "rank_high"]
    assert frame.index.name == "edition"
    assert frame["difficulty"].is_monotonic_decreasing
    assert list(frame["rank"]) == [1, 2, 3, 4]
    assert frame["factor"].mean() == pytest.approx(1)
    assert_allclose(frame["percent"], 100 * (frame["factor"] - 1))
    quantile = stats.t.ppf(0.975, fit.cells - fit.single_cell_intents - (50 - fit.single_cell_intents) - 4 + 1)
    assert_allclose(frame["high"] - frame["low"], 2 * quantile * frame["std_error"], rtol=1e-6)
    assert_allclose(frame["std_error"] ** 2, np.diag(fit.covariance.loc[frame.index, frame.index]))


PERCENT_MONTE_CARLO = 0.01  # relative, of a standard deviation over 200,000 draws: six times its own error


def test_percent_has_its_own_error_and_interval(fit):
    frame = fit.to_frame()
    for edition, row in frame.iterrows():
        draws = np.random.default_rng(0).normal(
            row["difficulty"], 1e-3, 200_000
        )  # the delta method is for small errors
        spread = np.std(100 * (np.exp(draws) - 1)) * row["std_error"] / 1e-3
        assert row["percent_std_error"] == pytest.approx(spread, rel=PERCENT_MONTE_CARLO), edition
    for end in ("low", "high"):
        assert_allclose(np.log1p(frame[f"percent_{end}"] / 100), frame[end])
    assert (frame["percent_low"] < frame["percent"]).all()
    assert (frame["percent"] < frame["percent_high"]).all()


def test_covariance_is_that_of_factors_with_a_fixed_sum(fit):
    factors = np.exp(fit.difficulty.to_numpy())
    assert_allclose(fit.covariance.to_numpy() @ factors, 0, atol=1e-12)
    assert_allclose(fit.covariance, fit.covariance.T)


def test_the_variance_in_the_likelihood_of_model_1_is_the_smaller_one():
    surprisals = ld.simulate(30, 4, model="1", missing=0.1, seed=2).surprisals
    found = ld.fit(surprisals, model="1")
    cells = surprisals.to_frame().dropna()
    fixed = smf.ols("np.log(bits) ~ C(intent) + C(edition)", cells).fit()  # its llf is at the ML variance
    assert found.log_likelihood == pytest.approx(fixed.llf)
    assert found.sigma**2 == pytest.approx(fixed.scale)  # unbiased
    assert "of bits (at the maximum-likelihood variance; sigma is unbiased)" in found.summary()
    assert "maximum-likelihood variance" not in ld.fit(surprisals, model="2").summary()


def test_summary_and_repr_say_what_to_trust(fit):
    text = fit.summary()
    for part in (
        "Model 2 (newton, restricted likelihood), converged",
        "50 intents",
        "e1",
        "log-likelihood",
        fit.signature,
    ):
        assert part in text
    assert repr(fit).startswith("DifficultyFit: model 2, 50 intents × 4 editions, sigma ")
    assert "<table" in fit._repr_html_()
    bits = re.search(r"\|bits:[0-9a-f]{8}\|", fit.signature)[0]
    assert fit.signature == (
        f"model:2|method:newton|restricted:yes|errors:information|lm:simulated{bits}cells:{fit.cells}|intents:50|editions:4"
        f"|version:{ld.__version__}"
    )


def with_replaced(surprisals, **replaced):
    """Add characters, ten in every cell, and how many of them were replaced in each cell of an edition."""
    ten = surprisals.bits.mask(surprisals.bits.notna(), 10.0)
    counts = pd.DataFrame({edition: ten[edition] * 0 + replaced.get(edition, 0) for edition in surprisals.editions})
    return replace(surprisals, characters=ten, replaced=counts)


def test_summary_tells_the_highest_rate_of_replaced_characters_where_it_is_known(fit, tmp_path):
    assert fit.replaced_percent is None
    assert "replaced" not in fit.summary()
    surprisals = ld.simulate(50, 4, missing=0.2, seed=0).surprisals
    known = ld.fit(with_replaced(surprisals, e2=1, e3=3))
    assert known.replaced_percent.to_dict() == pytest.approx({"e1": 0, "e2": 10, "e3": 30, "e4": 0})
    assert "\ncharacters replaced as too rare: at most 30.00 % (e3)\n" in known.summary()
    assert "as too rare: none\n" in ld.fit(with_replaced(surprisals)).summary()
    few = replace(known, replaced_percent=known.replaced_percent / 10_000)
    assert "as too rare: less than 0.01 % (e3)\n" in few.summary()
    known.save(tmp_path / "fit.json")
    assert_series_equal(ld.read(tmp_path / "fit.json").replaced_percent, known.replaced_percent)
    document = json.loads(known.to_json())
    del document["replaced_percent"], document["sha256"]  # as in files of older versions
    (tmp_path / "old.json").write_text(json.dumps(document))
    assert ld.read(tmp_path / "old.json").replaced_percent is None


def test_likelihoods_differ_by_the_jacobian():
    surprisals = ld.simulate(50, 4, missing=0.2, seed=0).surprisals
    fit = ld.fit(surprisals)
    compared = surprisals.bits.notna().sum(axis=1) > 1
    jacobian = np.log(surprisals.bits[compared]).sum().sum()
    assert fit.log_likelihood - fit.log_likelihood_bits == pytest.approx(jacobian)


def assert_same(before, after):
    """Compare values of any kind, to the last digit."""
    if isinstance(before, pd.Series):
        assert_series_equal(before, after, check_exact=True)
    elif isinstance(before, pd.DataFrame):
        assert_frame_equal(before, after, check_exact=True)
    elif isinstance(before, np.ndarray | pd.Index):
        np.testing.assert_array_equal(before, after)
    elif isinstance(before, Influence):  # computed when read
        for name in ("values", "share", "units", "raw", "freedom", "shape"):
            assert_same(getattr(before, name), getattr(after, name))
    elif is_dataclass(before):
        assert type(before) is type(after)
        for name in (field.name for field in fields(before)):
            assert_same(getattr(before, name), getattr(after, name))
    else:
        assert before == after or (before != before and after != after)  # NaN
        assert type(before) is type(after)


INFO = pd.DataFrame({"year": [1.0, 2, 4]}, index=["日本語 “ü”", "e2", "e3"])


@pytest.mark.parametrize(
    "settings",
    [
        {"model": "1"},
        {"model": "2", "restricted": True},
        {"model": "2L"},
        {"model": Blunders(scale=0.02)},
        {"groups": {"日本語 “ü”": "a", "e2": "a", "e3": "b"}, "errors": Bootstrap(99), "seed": 1},
        {"formula": "year", "edition_info": INFO},
        {"intents": "random"},
        {"dispersion": "edition"},
        {"clusters": pd.Series(np.arange(60) % 20, [str(k) for k in range(1, 61)], name="chapter")},
    ],
)
def test_file_gives_everything_back(tmp_path, settings):
    surprisals = ld.simulate(60, 3, missing=0.2, seed=0).surprisals
    saved = ld.fit(surprisals.bits.rename(columns={"e1": "日本語 “ü”"}), **settings)
    saved.save(tmp_path / "new" / "fit.json")
    loaded = ld.read(tmp_path / "new" / "fit.json")
    for name in (field.name for field in fields(saved)):
        before, after = getattr(saved, name), getattr(loaded, name)
        assert_same(before, after)
    assert list((tmp_path / "new").iterdir()) == [tmp_path / "new" / "fit.json"]


def test_nan_survives_the_file_as_null(tmp_path, fit):
    broken = replace(fit, **{"covariance": fit.covariance * np.nan, "converged": False})
    broken.save(tmp_path / "fit.json")
    assert "NaN" not in (tmp_path / "fit.json").read_text()
    assert ld.read(tmp_path / "fit.json").std_error.isna().all()


def test_infinity_survives_the_file(tmp_path, fit):
    values = fit.intent_size.copy()
    values.iloc[:2] = np.inf, -np.inf
    broken = replace(fit, **{"intent_size": values, "dispersion": np.inf, "converged": False})
    broken.save(tmp_path / "fit.json")
    loaded = ld.read(tmp_path / "fit.json")
    assert loaded.dispersion == np.inf
    assert_series_equal(loaded.intent_size, values, check_exact=True)


def test_numbers_of_numpy_are_numbers_of_json(tmp_path, fit):
    settings = {"n_iterations": np.int64(5), "laplace_scale": np.float32(0.25), "converged": np.True_}
    names = pd.Index([np.int64(3), "b", "c", "d"], dtype=object, name="edition")
    named = {"difficulty": fit.difficulty.set_axis(names)}
    replace(fit, **settings, **named).save(tmp_path / "fit.json")
    loaded = ld.read(tmp_path / "fit.json")
    assert (loaded.n_iterations, loaded.laplace_scale, loaded.converged) == (5, 0.25, True)
    assert list(loaded.difficulty.index) == [3, "b", "c", "d"]


def test_contrast_of_means_has_the_variance_of_their_difference(fit):
    found = fit.contrast(["e1", "e2"], "e4")
    w = np.array([0.5, 0.5, 0, -1])
    assert found.estimate == pytest.approx(w @ fit.difficulty)
    assert found.std_error == pytest.approx(np.sqrt(w @ fit.covariance.to_numpy() @ w))


@pytest.mark.parametrize(
    ("one", "other", "message"),
    [
        (["e1", "e1"], "e2", "named twice on a side of the contrast: 'e1'"),
        ("e1", ["e2", "e3", "e2"], "named twice on a side of the contrast: 'e2'"),
        ("e1", ["e1", "e2"], "on both sides of the contrast: 'e1'"),
        ("e1", [], "needs a name on both sides"),
        ("e1", "x", "not in this fit: 'x'"),
    ],
)
def test_contrasts_that_compare_nothing_are_refused(fit, one, other, message):
    refused(ConfigError, message, fit.contrast, one, other)


@pytest.mark.parametrize("formula", ["side", "1"])
@pytest.mark.parametrize("model", ["1", "2"])
def test_editions_that_a_formula_ties_have_no_p_value(formula, model):
    surprisals = ld.simulate(60, 4, missing=0.2, seed=1).surprisals
    info = pd.DataFrame({"side": list("aabb")}, index=surprisals.editions)
    tied = ld.fit(surprisals, model=model, formula=formula, edition_info=info).contrast("e1", "e2")
    assert tied.estimate == pytest.approx(0, abs=1e-12)
    assert tied.std_error == 0
    assert np.isnan(tied.p_value)
    assert "p = nan" in str(tied)


def test_names_that_json_cannot_hold_are_refused(tmp_path, fit):
    names = [pd.Timestamp("2020-01-01"), "b", "c", "d"]
    odd = replace(fit, **{"difficulty": fit.difficulty.set_axis(names)})
    refused(DataError, r"1 name\(s\).*Timestamp", odd.save, tmp_path / "fit.json")
    assert not list(tmp_path.iterdir())


def unsealed(fit):
    document = json.loads(fit.to_json())
    del document["sha256"]
    return document


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "other"}, "not a saved DifficultyFit"),
        ({"format_version": 99}, "format version 99"),
        ({"converged": "yes"}, "converged is 'yes', not of type bool"),
        ({"covariance": [[1.0]]}, "damaged"),
        ({"difficulty": {"names": ["a"], "values": [1.0, 2.0]}}, "damaged"),
    ],
)
def test_damaged_files_are_refused(tmp_path, fit, change, message):
    path = tmp_path / "fit.json"
    path.write_text(json.dumps(unsealed(fit) | change))
    refused(DataError, message, ld.read, path, ld.regression.DifficultyFit)


def test_importing_the_package_imports_no_torch_or_matplotlib():
    import subprocess
    import sys

    code = (
        "import sys, langdiff as ld; ld.fit(ld.simulate(20, 3, seed=0).surprisals).summary(); "
        "sys.exit(any(name in sys.modules for name in ('torch', 'matplotlib')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
