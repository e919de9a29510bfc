"""Difficulties of nested subsets are those of their intents, and spread as standard errors say."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import langdiff as ld
from langdiff.errors import ConfigError, DataError
from langdiff.experiments import intent_stability
from langdiff.plots import plot_intent_stability
from tests.helpers import refused

SURPRISALS = ld.simulate(400, 5, missing=0.1, seed=2).surprisals


@pytest.fixture(scope="module")
def found():
    return intent_stability(SURPRISALS, n_intents=[50, 200], n_repeats=16, seed=4)


def test_subsets_are_the_beginnings_of_one_order_per_repeat(found):
    rng = np.random.default_rng(4)
    for repeat in (1, 2):
        order = rng.permutation(400)
        for size in (50, 200):
            rows = found.results.query(f"repeat == {repeat} and size == {size}").set_index("edition")
            fit = ld.fit(SURPRISALS.bits.iloc[np.sort(order[:size])], clusters=None, dispersion="common")
            assert_allclose(rows["difficulty"], fit.difficulty, atol=1e-8)
            assert_allclose(rows["std_error"], fit.std_error, rtol=1e-6)


def test_spread_is_what_standard_errors_predict(found):
    overall = found.overall()
    ratio = overall["sd"] / overall["expected_sd"]
    assert ratio.between(0.7, 1.4).all()  # 16 repeats × 4 free editions: about .09 of standard error
    assert overall["sd"][200] < 0.6 * overall["sd"][50]
    assert overall["rank_correlation"][200] > overall["rank_correlation"][50]


def test_frames_are_means_over_repeats(found):
    frame = found.to_frame().set_index(["size", "edition"])
    e2 = found.results.query("size == 50 and edition == 'e2'")["difficulty"]
    assert frame.loc[(50, "e2"), "difficulty"] == pytest.approx(e2.mean())
    assert frame.loc[(50, "e2"), "sd"] == pytest.approx(e2.std(ddof=1))
    assert_allclose(frame.loc[400, "difficulty"], found.whole.difficulty)
    wide = found.results.query("size == 200").pivot(index="edition", columns="repeat", values="difficulty")
    hardest = found.whole.difficulty.idxmax()
    assert found.overall()["same_hardest"][200] == pytest.approx((wide.idxmax() == hardest).mean())
    assert "50, 200 of 400 intents, 16 repeats" in found.summary()


def test_lines_end_at_the_difficulties_of_all_intents(found):
    ax = found.plot()
    ends = sorted(line.get_ydata()[-1] for line in ax.lines if line.get_marker() != "None")
    assert_allclose(ends, sorted(found.whole.difficulty))
    many = ld.simulate(60, 9, seed=0).surprisals
    ax = intent_stability(many, n_intents=[30], n_repeats=2, seed=0).plot()
    assert len(ax.texts) == 6  # names of the three hardest and the three easiest
    refused(DataError, "no column 'sd'", plot_intent_stability, found.to_frame().drop(columns="sd"))


@pytest.mark.filterwarnings("ignore:standard errors from")
def test_refusals():
    for settings, message in (
        ({"n_intents": [50, 40]}, "sizes must rise"),
        ({"n_intents": [400]}, "below the 400 intents"),
        ({"n_intents": []}, "sizes must rise"),
        ({"n_intents": [40.7]}, "sizes must rise"),
        ({"n_repeats": 0}, "n_repeats must be at least 1"),
        ({"seed": "x"}, "seed must be a whole number"),
    ):
        refused(ConfigError, message, intent_stability, SURPRISALS, **{"seed": 0} | settings)
    sparse = SURPRISALS.bits.copy()
    sparse.loc[sparse.index[10:], "e1"] = np.nan
    refused(DataError, "a subset of 5 intents cannot be fitted", intent_stability, sparse, n_intents=[5], seed=0)
