"""Goodness of fit over subsets: the numbers of the library's own comparison, stored and gone on with."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import langdiff as ld
from langdiff.errors import CheckpointError, ConfigError, DataError
from langdiff.experiments import goodness_of_fit
from tests.helpers import refused

BOTH = {"n": ["map", "posterior"], "fix": ["difficulty+dispersion", "difficulty"]}


def simulated(n_intents=120, **settings):
    return ld.simulate(n_intents, 5, seed=3, **settings).surprisals


def test_every_cell_is_that_of_held_out_log_likelihood():
    surprisals = simulated()
    found = ld.goodness(surprisals, "2", n_subsets=3, held_out=0.25, n="posterior", seed=5)
    rows = []
    for _, train, test, _ in goodness_of_fit._subsets(surprisals, 3, 0.25, 5):
        fitted = ld.fit(train.bits, model="2", restricted=True)
        rows.append(ld.held_out_log_likelihood(fitted, test.bits, n="posterior", seed=99).per_cell)
    assert_allclose(found.results["per_cell"], rows, rtol=1e-8)


def test_subsets_are_disjoint_and_hold_out_their_share():
    surprisals = simulated(100)
    parts = list(goodness_of_fit._subsets(surprisals, 4, 0.2, 1))
    names = [name for _, train, test, _ in parts for name in [*train.intents, *test.intents]]
    assert sorted(names) == sorted(surprisals.intents)
    assert [(len(train.intents), len(test.intents)) for _, train, test, _ in parts] == [(20, 5)] * 4


def test_the_model_that_drew_the_data_is_best():
    sizes = np.exp(np.random.default_rng(0).normal(4.5, 1, 300))
    drawn = ld.simulate(300, 5, model="2", intent_sizes=sizes, seed=1).surprisals
    found = ld.goodness(drawn, ["1", "2"], n_subsets=3, seed=0, n=BOTH["n"])
    frame = found.to_frame()
    assert (frame.groupby(["n", "fix"])["model"].first() == "2").all()
    best, other = frame.iloc[0], frame.iloc[1]
    assert (best["difference"], best["subsets"], best["not_converged"]) == (0, 3, 0)
    scores = found.scores()
    assert other["difference"] == pytest.approx((scores["1"] - scores["2"]).mean())
    assert other["difference_std_error"] == pytest.approx((scores["1"] - scores["2"]).std(ddof=1) / np.sqrt(3))
    assert other["sd"] == pytest.approx(scores["1"].std(ddof=1))


def test_dispersion_is_fitted_anew_only_where_it_is_not_fixed():
    found = ld.goodness(simulated(), "2", n_subsets=2, seed=0, fix=BOTH["fix"]).results
    fixed, free = (found[found["fix"] == fix].set_index("subset") for fix in BOTH["fix"])
    assert (free["total"] > fixed["total"]).all()
    assert (free["dispersion"] != fixed["dispersion"]).all()


def test_stored_results_are_not_computed_again(tmp_path, monkeypatch):
    surprisals = simulated()
    calls = []

    def counted(*args, **kwargs):
        calls.append(kwargs["model"])
        if len(calls) == 4:
            raise KeyboardInterrupt
        return ld.fit(*args, **kwargs)

    monkeypatch.setattr(goodness_of_fit, "fit", counted)
    settings = {"models": ["1", "2"], "n_subsets": 3, "seed": 1, "cache": tmp_path}
    with pytest.raises(KeyboardInterrupt):
        ld.goodness(surprisals, **settings)
    assert len(list(tmp_path.iterdir())) == 3
    found = ld.goodness(surprisals, **settings)
    assert len(calls) == 4 + 3  # three were stored
    again = ld.goodness(surprisals, **settings)
    assert len(calls) == 7
    without = ld.goodness(surprisals, **(settings | {"cache": None}))
    for other in (again, without):
        pd.testing.assert_frame_equal(other.results, found.results)
        assert other.signature == found.signature
    ld.goodness(surprisals, **(settings | {"seed": 2}))
    assert len(list(tmp_path.iterdir())) == 12  # another seed is another result


def test_a_damaged_result_is_named(tmp_path):
    surprisals = simulated(40)
    ld.goodness(surprisals, "1", n_subsets=1, seed=0, cache=tmp_path)
    (path,) = tmp_path.iterdir()
    whole = path.read_text()
    digit = whole.index('"per_cell": ') + 15  # a number of which one digit is another
    for damaged in ('{"model": "1"}', f"{whole[:digit]}{(int(whole[digit]) + 1) % 10}{whole[digit + 1 :]}"):
        path.write_text(damaged)
        refused(CheckpointError, path.name, ld.goodness, surprisals, "1", n_subsets=1, seed=0, cache=tmp_path)


def test_one_setting_or_all_are_drawn():
    found = ld.goodness(simulated(40), ["1", "2"], n_subsets=2, seed=0, n=BOTH["n"])
    first = found.plot()
    panels = first.figure.axes
    assert [ax.get_title(loc="left") for ax in panels] == [f"{n}, {fix}" for n, fix in found.settings]
    ax = plt.subplots()[1]
    assert found.plot(ax, n="posterior") is ax
    middle = ax.containers[0][0].get_ydata()
    assert_allclose(middle, found.scores(n="posterior").mean())
    refused(ConfigError, "was not computed", found.plot, fix="difficulty")
    assert "2 models over 2 subsets" in found.summary()


def test_refusals():
    surprisals = simulated(30)
    for settings, message in (
        ({"models": ["2", "2"]}, "models must be named once"),
        ({"models": []}, "models must be named once"),
        ({"models": "4"}, "unknown model '4'"),
        ({"n": "mean"}, "unknown n 'mean'"),
        ({"held_out": 1.0}, "held_out is a share"),
        ({"n_subsets": 0}, "n_subsets must be at least 1"),
        ({"seed": None}, "seed must be a whole number"),
    ):
        refused(ConfigError, message, ld.goodness, surprisals, **{"seed": 0} | settings)
    refused(DataError, "3 each, of which 1 would be held out", ld.goodness, surprisals, n_subsets=10, seed=0)
    holes = surprisals.bits.copy()
    holes.iloc[:, 0] = holes.iloc[:, 0].where(holes.index == holes.index[-1])  # the others lack e1 altogether
    refused(DataError, r"subset \d of the intents cannot be fitted", ld.goodness, holes, "1", n_subsets=3, seed=0)
