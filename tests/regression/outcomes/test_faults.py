"""Items at fault: keys and translations that were planted, tables without any, what few systems cannot tell."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit

import langdiff as ld
from langdiff.errors import ConfigError, DataError, LangdiffWarning
from langdiff.regression.outcomes import faults
from langdiff.regression.outcomes.faults import Shares
from tests.helpers import refused

pytestmark = pytest.mark.filterwarnings("ignore:.*cannot tell a bad translation")


def planted(systems, fault, chance=0.25, items=100, languages=6, seed=1, count=8):
    """Draw outcomes of which some items have a fault, and return them with these items."""
    rng = np.random.default_rng(seed)
    abilities = {f"s{j}": float(a) for j, a in enumerate(np.linspace(-1, 2, systems))}
    drawn = ld.simulate_crossed_outcomes(items, languages, abilities, translation_spread=0.3, chance=chance, seed=seed)
    right = drawn.outcomes.successes.to_numpy().copy()
    wrong = np.where(right == 1, 0.0, (rng.random(right.shape) < 1 / 3).astype(float))
    language = pd.factorize(drawn.outcomes.columns["language"])[0]
    bad = set()
    for i in range(count):
        if fault == "all":
            right[i] = wrong[i]
            bad.add((f"i{i + 1}", "all"))
        elif fault == "language":
            inside = language == i % languages
            right[i, inside] = wrong[i, inside]
            bad.add((f"i{i + 1}", f"l{i % languages + 1}"))
        elif fault == "translation":
            inside = language == i % languages
            eta = drawn.ability.to_numpy()[inside] - drawn.difficulty.iloc[i] - 4.0
            right[i, inside] = rng.random(inside.sum()) < chance + (1 - chance) * expit(eta)
            bad.add((f"i{i + 1}", f"l{i % languages + 1}"))
    return replace(drawn.outcomes, successes=drawn.outcomes.successes * 0 + right), bad


def named(found, kind):
    flagged = found.frame[found.frame["flag"]]
    assert set(flagged["kind"]) <= {kind}
    return set(zip(flagged["item"], flagged["language"], strict=True))


@pytest.mark.parametrize(("fault", "count", "least"), [("all", 8, 5), ("language", 30, 8)])
@pytest.mark.parametrize("chance", [0.0, 0.25])
def test_wrong_keys_are_found(fault, count, least, chance):
    outcomes, bad = planted(6, fault, chance, count=count)
    found = ld.fit_outcomes(outcomes).items_at_fault()
    flags = named(found, "key")
    assert len(flags & bad) >= least
    assert len(flags - bad) <= 0.2 * len(flags)
    probability = found.frame.set_index(["item", "language"])["probability"].fillna(0)
    assert probability[list(flags)].min() > 0.5
    assert found.summary().startswith(f"ItemFaults: {len(flags)} wrong keys")


@pytest.mark.slow
def test_translations_are_found_by_many_systems():
    outcomes, bad = planted(25, "translation", 0.0, items=80, languages=4)
    found = ld.fit_outcomes(outcomes).items_at_fault()
    flags = named(found, "translation")
    assert len(flags & bad) >= 4
    assert len(flags - bad) <= 1
    flagged = found.frame[found.frame["flag"]]
    assert (flagged["estimate"] > 0.64).all()
    assert set(flagged["size"]) == {"large"}


@pytest.mark.parametrize("systems", [3, 5])
def test_clean_tables_have_no_flags(systems):
    flags = [
        ld.fit_outcomes(planted(systems, "none", seed=seed)[0]).items_at_fault().frame["flag"].sum()
        for seed in range(2)
    ]
    assert flags == [0] * 2


def test_probabilities_are_those_of_bayes():
    """Against sums over a grid of v and u, for a few items, at the parameters of the fit."""
    outcomes, _ = planted(3, "language", items=40, languages=2)
    fit = ld.fit_outcomes(outcomes)
    rows = faults.rows_of(outcomes, fit.design(outcomes.items), fit.structure, fit.chance_of(outcomes))
    point = replace(fit.point, translation=0.4)
    (part,) = faults._parts(fit, rows, point, coarse=False)
    shares = Shares(0.02, 0.05, 0.03)
    everywhere, cells, _ = faults._posteriors(part, shares)
    v, u = np.linspace(-8, 8, 601), np.linspace(-8, 8, 601)
    weight_v, weight_u = np.exp(-(v**2) / 2), np.exp(-(u**2) / 2) / np.exp(-(u**2) / 2).sum()
    for i in range(6):
        tables = []
        for columns in (slice(0, 3), slice(3, 6)):
            y = rows.s[i, columns]
            of_hypothesis = []
            for spread, wrong in ((0.4, False), (0.4, True), (np.hypot(0.4, faults.ODD_SPREAD), False)):
                shift = point.spread * v[:, None, None] + spread * u[None, :, None]
                p = 0.25 + 0.75 * expit(point.level[0, columns] - shift)
                p = (1 - p) / 3 if wrong else p
                of_hypothesis.append(np.prod(np.where(y > 0, p, 1 - p), axis=2) @ weight_u)
            tables.append(of_hypothesis)
        mixed = [0.92 * one[0] + 0.05 * one[1] + 0.03 * one[2] for one in tables]
        right = (weight_v * mixed[0] * mixed[1]).sum()
        wrong = (weight_v * tables[0][1] * tables[1][1]).sum()
        of_all = 0.02 * wrong / (0.02 * wrong + 0.98 * right)
        assert everywhere[i] == pytest.approx(of_all, abs=1e-6)
        for k in (0, 1):
            of_key = 0.05 * (weight_v * tables[k][1] * mixed[1 - k]).sum() / right
            assert cells[0, i, k] == pytest.approx((1 - of_all) * of_key, abs=1e-6)


def test_probabilities_of_totals_are_sums_over_answers():
    outcomes, _ = planted(3, "none", items=40, languages=2)
    fit = ld.fit_outcomes(outcomes)
    rows = faults.rows_of(outcomes, fit.design(outcomes.items), fit.structure, fit.chance_of(outcomes))
    (part,) = faults._parts(fit, rows, replace(fit.point, translation=0.4), coarse=False)
    table, total, row = faults._of_totals(part.nest, part.nest.groups[0], part.rows)
    assert_allclose(table.sum(axis=2), np.exp(part.nest.inner.log_weight).sum(), atol=1e-9)
    assert (total == rows.s[:, :3].sum(axis=1)).all()
    p = 0.25 + 0.75 * expit(fit.point.level[0, :3] - part.nest.shift[:, :, None])
    none = np.prod(1 - p, axis=2) @ np.exp(part.nest.inner.log_weight)
    assert_allclose(table[row[0]][:, 0], none, atol=1e-12)


def test_what_few_systems_cannot_tell():
    few = ld.fit_outcomes(planted(2, "none", items=60)[0])
    refused(DataError, r"2 system\(s\) cannot tell a bad item from bad luck: 3 systems are needed", few.items_at_fault)
    assert len(few.items_at_fault(fewest=2).frame)
    one = ld.fit_outcomes(planted(9, "none", items=60, languages=1)[0])
    refused(DataError, "10 systems are needed", one.items_at_fault)
    single = ld.fit_outcomes(ld.simulate_crossed_outcomes(60, 6, 1, seed=1).outcomes)
    refused(DataError, "one system never can", single.items_at_fault, fewest=2)
    fit = ld.fit_outcomes(planted(4, "none", items=60)[0])
    for settings, message in (({"q": 0}, "q must be between"), ({"fewest": 1}, "fewest must be a whole number")):
        refused(ConfigError, message, fit.items_at_fault, **settings)
    conditional = ld.fit_outcomes(ld.simulate_outcomes(60, 10, seed=1).outcomes, model="conditional")
    refused(ConfigError, "by model='rasch' only", conditional.items_at_fault)


@pytest.mark.filterwarnings("default:.*cannot tell a bad translation")
def test_translations_that_cannot_be_judged_are_said():
    with pytest.warns(LangdiffWarning, match="4 systems cannot tell a bad translation from bad luck: 10 are needed"):
        ld.fit_outcomes(planted(4, "none", items=60)[0]).items_at_fault()


def test_items_below_chance_are_named():
    outcomes, _ = planted(6, "none", items=60)
    successes = outcomes.successes.copy()
    successes.iloc[0] = 0.0
    found = ld.fit_outcomes(replace(outcomes, successes=successes)).items_at_fault()
    assert "i1" in found.below_chance
    assert "right less often than guesses" in found.summary()


def test_one_level_and_files(tmp_path):
    drawn = ld.simulate_outcomes(100, 12, seed=1).outcomes
    fit = ld.fit_outcomes(drawn)
    found = fit.items_at_fault()
    assert set(found.frame["language"]) == {"all"}
    fit.save(tmp_path / "fit.json")
    again = ld.read(tmp_path / "fit.json").items_at_fault()
    pd.testing.assert_frame_equal(again.frame, found.frame)
    found.save(tmp_path / "faults.json")
    pd.testing.assert_frame_equal(ld.read(tmp_path / "faults.json").frame, found.frame)
