"""Intervals of numbers of intents: worked numbers, restricted maximum likelihood of lme4, and coverage."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2, f

import langdiff as ld
from langdiff.regression import Number
from langdiff.regression.components import reliability

BITS = """100 120 90 104; 40 52 50 47; 220 230 180 215; 75 70 88 71; 150 190 140 168; 60 63 49 66; 310 355 300 298;
          95 110 92 101"""
TABLE = pd.DataFrame([row.split() for row in BITS.split(";")], columns=list("abcd")).astype(float)
TABLE.index = [f"i{number}" for number in range(8)]
CLUSTERS = pd.Series([1, 3, 1, 3, 1, 1, 2, 2], TABLE.index)
LME4 = 1e-4  # of variances below a hundredth


def test_worked_interval_of_a_complete_table():
    found = ld.generalizability(TABLE).intents_for(0.95)
    assert (found.estimate, found.low, found.high) == pytest.approx((48.41, 2.64, 1806.3), abs=0.06)
    assert found.estimate == pytest.approx(48.406, abs=5e-4)
    assert found.unit == "intents"


def test_the_interval_of_a_reliability_and_of_an_error_by_the_analysis_of_variance():
    z = np.log(TABLE.to_numpy())
    residual = z - z.mean(axis=0) - z.mean(axis=1, keepdims=True) + z.mean()
    error = (residual**2).sum() / 21 / 8
    found = ld.generalizability(TABLE)
    ratio = z.mean(axis=0).var(ddof=1) / error
    low, high = (8 * 9 / (ratio / f.ppf(tail, 3, 21) - 1) for tail in (0.025, 0.975))
    ninety = found.intents_for(0.9)
    assert (ninety.low, ninety.high) == pytest.approx((low, high))
    of_error = found.intents_for_error(0.02)
    ends = [8 * error * 21 / chi2.ppf(tail, 21) / 0.02**2 for tail in (0.975, 0.5, 0.025)]
    assert (of_error.low, of_error.high) == pytest.approx((ends[0], ends[2]))
    assert of_error.estimate == pytest.approx(8 * error / 0.02**2)


def test_clusters_add_their_component_and_are_the_units():
    found = ld.generalizability(TABLE, clusters=CLUSTERS)
    variance = found.frame["variance"]
    components = ["edition", "edition:cluster", "residual"]
    np.testing.assert_allclose(variance[components], [0.000538210, 0.006814183, 0.003936065], rtol=LME4)
    size = (16 + 4 + 4) / 8
    number = found.intents_for(0.95)
    own = variance["edition:cluster"] + variance["residual"] / size
    assert number.estimate == pytest.approx(19 * own / variance["edition"])
    assert number.unit == "documents of 3 intents"
    assert number.high == np.inf
    assert f"takes {number.estimate:.1f} documents of 3 intents" in found.summary()
    assert "to no number)" in found.summary()
    assert found.error_variance(30) == pytest.approx(own / 10)


def test_several_tables_have_clusters_and_no_intervals():
    rng = np.random.default_rng(1)
    of = np.repeat(np.arange(12), 5)
    z = 5 + rng.normal(0, 0.5, (60, 1)) + rng.normal(0, 0.1, 10) + 0.1 * rng.standard_normal((12, 10))[of]
    z = z + rng.normal(0, 0.1, z.shape)
    names = [f"doc{document}_s{place}" for place, document in enumerate(of)]
    tables = {
        name: pd.DataFrame(np.exp(z + rng.normal(0, 0.02, z.shape)), names, [f"e{j}" for j in range(10)])
        for name in ("one", "other")
    }
    facets = pd.DataFrame({"lm": list(tables)}, index=list(tables))
    found = ld.generalizability(tables, facets=facets)
    assert found.frame.loc["edition:cluster", "variance"] == pytest.approx(0.01, rel=0.5)
    assert found.frame.loc["edition:intent", "variance"] == pytest.approx(0.01, rel=0.3)
    number = found.intents_for(0.5)
    assert np.isnan([number.low, number.high]).all()
    assert repr(number).endswith("documents of 5 intents")


def test_no_number_is_enough_where_editions_do_not_differ():
    rng = np.random.default_rng(0)
    z = 5 + rng.normal(0, 0.5, (40, 1)) + rng.normal(0, 0.1, (40, 6))
    z -= (1 - 1e-3) * (z - z.mean(axis=1, keepdims=True)).mean(axis=0)
    number = ld.generalizability(np.exp(z)).intents_for(0.95)
    assert (number.estimate, number.high) == (np.inf, np.inf)
    assert repr(number).startswith("no number of intents")


def test_numbers_are_saved_and_read(tmp_path):
    number = ld.generalizability(TABLE).intents_for(0.95)
    number.save(tmp_path / "number.json")
    assert repr(ld.read(tmp_path / "number.json")) == repr(number)
    found = ld.generalizability(TABLE, clusters=CLUSTERS)
    found.save(tmp_path / "found.json")
    assert ld.read(tmp_path / "found.json").summary() == found.summary()
    assert isinstance(number, Number)


@pytest.mark.parametrize("clustered", [False, True])
def test_intervals_hold_the_truth(clustered, monkeypatch):
    monkeypatch.setattr(reliability, "MOST_GROUPS", 2)  # of the standard errors of shares, which take most of the time
    rng, held, tables = np.random.default_rng(7), 0, 60
    of = np.repeat(np.arange(15), 4)
    labels = pd.Series(of) if clustered else None
    within, between = (0.0176, 0.0020) if clustered else (0.0196, 0.0)
    truth = 19 * (between + within / 4) / 0.0064 if clustered else 19 * within / 0.0064
    for _ in range(tables):
        z = 5 + rng.normal(0, 0.6, (60, 1)) + rng.normal(0, 0.08, 8) + rng.normal(0, within**0.5, (60, 8))
        z += between**0.5 * rng.standard_normal((15, 8))[of]
        number = number_of(z, labels)
        held += number.low <= truth <= number.high
    assert held / tables == pytest.approx(0.95, abs=0.085)  # three standard errors


def number_of(z, labels):
    """Return the number for a reliability of .95."""
    table = pd.DataFrame(np.exp(z), [str(row) for row in range(len(z))])
    clusters = None if labels is None else labels.set_axis(table.index)
    return ld.generalizability(table, clusters=clusters).intents_for(0.95)
