"""Numbers of items against published arithmetic, simulated studies, and pilots with known components."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import nct, t

import langdiff as ld
from langdiff.errors import ConfigError, DataError
from tests.helpers import refused

HALF = {"rates": (0.73, 0.7), "correlation": 0.5}
REPEATED = 0.02519089 + 0.28421278  # variance of one item, of which the second part is of one answer
OF_ANSWERS = {"sd": REPEATED**0.5, "repeat_share": 0.28421278 / REPEATED}


@pytest.mark.parametrize(
    ("difference", "settings", "n_items"),
    [
        (0.03, {"sd": 1 / 3}, 971),
        (None, HALF, 1778),
        (None, HALF | {"correlation": None}, 3553),
        (None, {"rates": (0.53, 0.5), "correlation": 0.5}, 2179),
        (None, HALF | {"per_document": 8, "icc": 0.1}, 380 * 8),
        (None, HALF | {"languages": 5, "shared": 0.3}, 784),
        (None, HALF | {"languages": 5, "each": True}, 2647),
        (0.03133261, OF_ANSWERS, 2476),
        (0.03133261, OF_ANSWERS | {"n_answers": 4}, 772),
        (0.03133261, OF_ANSWERS | {"n_answers": 16}, 346),
    ],
)
def test_numbers_of_items(difference, settings, n_items):
    found = ld.plan_items(difference, **settings)
    assert found.n_items == n_items
    row = found.to_frame().loc[found.difference]
    assert row["answers"] == n_items * 2 * found.languages * found.n_answers
    assert row["power"] == pytest.approx(0.8, abs=0.005)


def test_power_and_differences_that_can_be_detected():
    found = ld.plan_items(0.03, sd=1 / 3)
    assert found.power(969) == pytest.approx(0.799223, abs=1e-6)
    critical, away = t.ppf(0.975, 399), 0.05 * 3 * 20
    assert found.power(400, 0.05) == pytest.approx(nct.sf(critical, 399, away), abs=1e-6)
    assert ld.plan_items(**HALF).variance == pytest.approx(0.203652218, abs=1e-9)
    rates = [ld.plan_items(**HALF).detectable(n) for n in (400, 900)]
    np.testing.assert_allclose(rates, [0.063367, 0.042188], atol=1e-6)
    several = ld.plan_items(**HALF, languages=5, shared=0.3)
    assert several.detectable(900) == pytest.approx(0.027984, abs=1e-6)
    assert several.power(900, several.detectable(900)) == pytest.approx(0.8, abs=1e-9)


@pytest.mark.parametrize(
    "settings", [HALF, HALF | {"per_document": 8, "icc": 0.1}, HALF | {"languages": 5, "shared": 0.3}]
)
def test_simulated_studies_find_the_difference_as_often_as_told(settings):
    found, rng, studies = ld.plan_items(**settings), np.random.default_rng(1), 4000
    m, a, over = int(found.per_document), found.variance * found.shared, found.languages
    documents = int(found.n_items) // m
    b = (found.variance - a) / over
    rho = found.icc
    document = rng.normal(0, (rho * (a + b)) ** 0.5, (studies, documents))
    mean = found.difference + document + rng.normal(0, ((1 - rho) * (a + b) / m) ** 0.5, (studies, documents))
    ratio = mean.mean(axis=1) / (mean.std(axis=1, ddof=1) / documents**0.5)
    assert (np.abs(ratio) > t.ppf(0.975, documents - 1)).mean() == pytest.approx(0.8, abs=0.02)


def pilot(seed=3, n_items=4000, trials=4):
    """Outcomes of two systems in three languages with known components of the difference of their rates."""
    rng = np.random.default_rng(seed)
    document = np.repeat(rng.normal(0, 0.05, n_items // 8), 8)
    shared = document + rng.normal(0, 0.08, n_items)
    cells, columns = {}, {}
    for language in ("deu", "fin", "tur"):
        own = rng.normal(0, 0.06, n_items)
        for system, sign in (("large", 1), ("small", -1)):
            rate = 0.6 + sign * (0.02 + shared + own) / 2
            cells[f"{language}@{system}"] = rng.binomial(trials, rate)
            columns[f"{language}@{system}"] = (language, system)
    names = [f"i{i}" for i in range(n_items)]
    successes = pd.DataFrame(cells, index=names, dtype=float)
    return ld.Outcomes(
        successes=successes,
        trials=successes * 0 + trials,
        items=pd.DataFrame({"document": np.arange(n_items) // 8}, index=names),
        columns=pd.DataFrame.from_dict(columns, orient="index", columns=["language", "system"]),
    )


def test_a_pilot_shows_what_its_differences_are_made_of():
    found = ld.plan_items(0.03, pilot())
    e = 2 * (0.24 - (0.05**2 + 0.08**2 + 0.06**2) / 4)  # of one answer of each system
    a, b = 0.05**2 + 0.08**2, 0.06**2
    assert found.variance == pytest.approx(a + b + e, rel=0.03)
    assert found.shared == pytest.approx(a / (a + b + e), abs=0.006)
    assert found.repeat_share == pytest.approx(e / (a + b + e), abs=0.015)
    assert (found.languages, found.per_document) == (3, 8)
    assert found.icc == pytest.approx(0.05**2 / (a + b / 3 + e / 12), abs=0.02)
    row = found.to_frame().loc[0.03]
    assert row["n_items_low"] < row["n_items"] == row["n_items_worst"] < row["n_items_high"]  # of one pair


def test_a_pilot_of_many_pairs_and_of_missing_cells():
    rng = np.random.default_rng(1)
    successes = pd.DataFrame(rng.random((300, 3)) < 0.6, columns=list("abc"), dtype=float)
    successes = successes.mask(rng.random(successes.shape) < 0.3)
    found = ld.plan_items(0.05, ld.Outcomes(successes=successes.set_axis(successes.index.map(str))), clusters=None)
    pairs = [(successes[x] - successes[y]).var() for x, y in ("ab", "ac", "bc")]
    assert found.variance == pytest.approx(np.median(pairs), rel=1e-9)
    assert found.to_frame().loc[0.05, "n_items_worst"] == ld.plan_items(0.05, sd=max(pairs) ** 0.5).n_items
    assert (found.shared, found.repeat_share, found.per_document) == (0, 0, 1)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"difference": 0.03}, "one of pilot"),
        ({"sd": 0.4, "rates": (0.5, 0.6)}, "one of pilot"),
        ({"sd": 0.4}, "needs difference"),
        ({"rates": (0.9, 0.5), "correlation": 0.9}, "allow -0.333 to 0.333"),
        ({"rates": (0.9,)}, "two numbers"),
        ({"difference": 0.03, "sd": 0.4, "correlation": 0.2}, "is of rates"),
        ({"difference": -0.03, "sd": 0.4}, "difference must be positive"),
        ({"difference": 0.03, "sd": 0.4, "shared": 0.7, "repeat_share": 0.5}, "repeat_share must be"),
        ({"difference": 0.03, "sd": 0.4, "icc": 1}, "icc must be"),
        ({"difference": 0.03, "sd": 0.4, "clusters": "book"}, "are of a pilot"),
        ({"difference": 0.03, "sd": 0.4, "n_answers": 1.5}, "n_answers must be a whole number"),
        ({"difference": 0.03, "sd": 0.4, "power": 0.01}, "power must be"),
    ],
)
def test_bad_plans(given, words):
    refused(ConfigError, words, ld.plan_items, **given)


def test_a_pilot_needs_two_systems_that_differ():
    with pytest.raises(DataError, match="two systems"):
        ld.plan_items(0.03, ld.Outcomes(successes=pd.DataFrame({"a": [1, 0, 1, 1]}, index=list("wxyz"))))
    same = ld.Outcomes(successes=pd.DataFrame({"a": [1, 0, 1, 1], "b": [1, 0, 1, 1]}, index=list("wxyz")))
    refused(DataError, "a and b do not differ", ld.plan_items, 0.03, same)


def test_the_interval_holds_where_few_answers_differ():
    rare, held = 0.05, []  # a normal theory of squares would cover half of the time: few differences are not 0
    true = ld.plan_items(0.03, sd=(rare - (0.4 * rare) ** 2) ** 0.5).n_items
    for seed in range(40):
        rng = np.random.default_rng(seed)
        right = rng.random(200) < 0.7
        answers = pd.DataFrame({"x": right, "y": right ^ (rng.random(200) < rare)}).astype(float)
        row = (
            ld.plan_items(0.03, ld.Outcomes(successes=answers.rename("i{}".format)), clusters=None).to_frame().loc[0.03]
        )
        held.append(row["n_items_low"] <= true <= row["n_items_high"])
    assert np.mean(held) >= 0.85
