"""Differences of difficulties between language models: worked numbers, simulated truth and bad input."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import langdiff as ld
from langdiff.errors import ConfigError, DataError
from langdiff.regression.check import joint_fits
from langdiff.regression.design import make_design
from langdiff.regression.fitting.fixed import Fixed, Settings
from langdiff.regression.fitting.influence import influence_of
from langdiff.regression.fitting.integrated import OwnDispersions, dispersion_groups
from langdiff.regression.fitting.sample import Sample
from langdiff.regression.table import log_bits
from langdiff.regression.variants import find_variant

DIGITS = 5e-10  # of numbers given with ten decimals
few = pytest.mark.filterwarnings("ignore:standard errors from:langdiff.errors.LangdiffWarning")
EDITIONS = list("abcd")
A = [
    *([100, 120, 90, 104], [40, 52, 50, 47], [220, 230, 180, 215], [75, 70, 88, 71]),
    *([150, 190, 140, 168], [60, 63, 49, 66], [310, 355, 300, 298], [95, 110, 92, 101]),
]
B = [
    *([110, 125, 92, 118], [43, 60, 49, 50], [231, 225, 190, 232], [71, 77, 86, 80]),
    *([166, 188, 146, 181], [62, 70, 50, 64], [322, 371, 290, 318], [99, 104, 99, 115]),
]
WORKED = {  # differences, their standard errors, b − a with its error, and its error as if independent
    "1": (
        [-0.0001956662, 0.0041730799, 0.0298701791, -0.0310917710],
        [0.0144112726, 0.0242809182, 0.0145146413, 0.0173289030],
        (0.004368746086, 0.033454831635, 0.0532761641),
    ),
    "2": (
        [-0.0075962540, 0.0177029993, 0.0280489878, -0.0368272613],
        [0.0114547367, 0.0215561899, 0.0182590970, 0.0095275330],
        (0.0252992532, 0.0289214830, 0.0483191260),
    ),
}


def table(rows):
    return pd.DataFrame(np.array(rows, float), columns=EDITIONS)


@pytest.fixture
def eight_intents(monkeypatch):
    monkeypatch.setattr(joint_fits, "FEWEST_INTENTS", 8)  # of the worked tables


def scored(seed, intents=60, editions=4, noise=0.17, shared=0.0):
    """Bits by two language models of the same texts: gamma noise, of which the models share a part."""
    rng = np.random.default_rng(seed)
    size = 150 * rng.lognormal(0, 0.6, (intents, 1))
    both = rng.normal(0, 1, (intents, editions))
    tables = {}
    for name in ("A", "B"):
        own = rng.normal(0, 1, (intents, editions))
        mixed = noise * (np.sqrt(shared) * both + np.sqrt(1 - shared) * own) * np.sqrt(150 / size)
        tables[name] = pd.DataFrame(size * np.exp(mixed), columns=EDITIONS[:editions])
    return tables


@few
@pytest.mark.parametrize("model", ["1", "2"])
def test_the_worked_example_has_all_its_digits(eight_intents, model):
    differences, errors, (contrast, its_error, independent) = WORKED[model]
    found = ld.compare_lms({"A": table(A), "B": table(B)}, model=model, clusters=None)
    effects = found.effects
    np.testing.assert_allclose(effects.estimate, differences, rtol=0, atol=DIGITS)
    np.testing.assert_allclose(effects.std_error, errors, rtol=0, atol=DIGITS)
    pair = effects.contrast("b", "a")
    assert pair.estimate == pytest.approx(contrast, abs=DIGITS)
    assert pair.std_error == pytest.approx(its_error, abs=DIGITS)
    fits = [ld.fit(table(rows), model=model, errors="sandwich", clusters=None) for rows in (A, B)]
    apart = [fit.contrast("b", "a").std_error for fit in fits]
    assert np.hypot(*apart) == pytest.approx(independent, abs=DIGITS)


@few
def test_model_1_is_the_fit_to_the_ratios(eight_intents):
    found = ld.compare_lms({"A": table(A), "B": table(B)}, model="1", clusters=None)
    pair = found.effects.contrast("b", "a")
    assert pair.degrees_of_freedom == pytest.approx(7)
    assert pair.p_value == pytest.approx(0.89978, abs=5e-6)
    ratios = ld.fit(100 * table(A) / table(B), model="1", errors="sandwich", clusters=None)
    same = ratios.contrast("b", "a")
    assert (pair.estimate, pair.std_error) == pytest.approx((same.estimate, same.std_error), rel=1e-10)
    bits_a, bits_b = (np.array(rows).sum(axis=1) for rows in (A, B))
    moved = bits_a / bits_a.sum() - bits_b / bits_b.sum()
    assert found.level.estimate == pytest.approx(np.log(bits_a.sum() / bits_b.sum()))
    assert found.level.std_error == pytest.approx(np.sqrt(8 / 7 * (moved**2).sum()))


def fitting_of(bits, model, *, own, clusters=None):
    surprisals = ld.Surprisals(bits=bits)
    design = make_design(surprisals.editions, None, None, None)
    settings = Settings(find_variant(model), own_dispersions=own)
    z = log_bits(surprisals, design)
    if own:
        return OwnDispersions(z, design, settings, surprisals, dispersion_groups("edition", surprisals, None))
    return Fixed(z, design, settings, surprisals)


@few
@pytest.mark.parametrize(("model", "own"), [("1", False), ("2", False), ("2L", False), ("1", True), ("2", True)])
@pytest.mark.parametrize("grouped", [False, True])
def test_products_of_influences_are_the_sandwich_of_the_fit(model, own, grouped):
    bits = scored(3)["A"]
    bits = bits.mask(np.random.default_rng(1).random(bits.shape) < 0.1)
    labels = pd.Series(np.arange(60) // 5, bits.index, name="document") if grouped else None
    found = influence_of(Sample(fitting_of(bits, model, own=own), [] if labels is None else [labels]))
    dispersion = "edition" if own else "common"
    fit = ld.fit(bits, model=model, errors="sandwich", dispersion=dispersion, clusters=labels, restricted=False)
    np.testing.assert_allclose(found.covariance, fit.covariance, rtol=1e-7, atol=1e-14)
    np.testing.assert_allclose(found.freedom, np.broadcast_to(fit.degrees_of_freedom, (4, 4)), rtol=1e-9)


def test_errors_are_those_of_correlated_noise():
    """Both language models have the same difficulties; noise is correlated by .6, as that of texts is."""
    pairs, ratios = [], []
    for seed in range(80):
        found = ld.compare_lms(scored(seed, shared=0.6), clusters=None)
        pairs.append(found.effects.contrast("a", "b"))
        ratios.append(found.ratio["B"])
    covered = sum(pair.low <= 0 <= pair.high for pair in pairs)
    assert binom.cdf(covered, len(pairs), 0.95) > 0.005
    t = [pair.estimate / pair.std_error for pair in pairs]
    assert 0.75 < np.std(t) < 1.3  # errors as if independent would give 0.63
    assert np.mean(ratios) == pytest.approx(0.4**-0.5, rel=0.05)


def test_clusters_matter():
    tables, documents = scored(5, intents=200), pd.Series(np.arange(200) // 10, name="document")
    shift = np.random.default_rng(0).normal(0, 0.1, (20, 4))[documents]
    tables["A"] = tables["A"] * np.exp(shift)
    alone = ld.compare_lms(tables, clusters=None)
    found = ld.compare_lms(tables, clusters=documents)
    assert (found.clusters, found.n_clusters, alone.n_clusters) == ("document", 20, 200)
    assert (found.effects.std_error > 1.3 * alone.effects.std_error).all()
    assert "20 clusters by document" in found.summary()
    assert found.level.degrees_of_freedom == 19


def test_only_cells_of_all_tables_count_and_the_others_are_counted():
    tables = scored(7)
    tables["A"] = tables["A"].drop(index=[0, 1]).assign(z=50.0 + np.arange(58))
    tables["B"].iloc[10, 2] = np.nan
    tables["A"].iloc[20, 1] = np.nan
    tables["B"] = tables["B"].iloc[::-1, ::-1]  # matched by name
    found = ld.compare_lms(tables, clusters=None)
    assert (found.n_intents, found.cells) == (58, 58 * 4 - 2)
    assert found.left_out == {"intents": 2, "editions": 1, "cells": 2}
    assert "left out, since not all tables have them: 2 intents, 1 editions, 2 cells" in found.summary()
    first, second = tables["A"].drop(columns="z"), tables["B"].drop(index=[0, 1])[EDITIONS].loc[tables["A"].index]
    known = first.notna() & second.notna()
    by_hand = [ld.fit(bits.where(known), restricted=True).difficulty for bits in (first, second)]
    np.testing.assert_allclose(found.effects.estimate, by_hand[0] - by_hand[1], atol=1e-9)


def test_several_are_compared_with_the_first(tmp_path):
    tables = scored(1) | {"C": scored(2)["A"]}
    found = ld.compare_lms(tables)
    assert list(found.by_lm) == ["B", "C"]
    two = ld.compare_lms({"A": tables["A"], "C": tables["C"]})
    np.testing.assert_allclose(found.by_lm["C"].covariance, two.effects.covariance)
    assert found.levels["C"].estimate == two.level.estimate
    frame = found.to_frame()
    assert frame.groupby("against")["edition"].nunique().to_dict() == {"B": 4, "C": 4}
    with pytest.raises(ConfigError, match=r"'A' is compared with 2 language models: choose one, such as by_lm\['B'\]"):
        _ = found.effects
    found.save(tmp_path / "found.json")
    pd.testing.assert_frame_equal(ld.read(tmp_path / "found.json").to_frame(), frame)
    assert "against" in found.to_latex()
    assert found.plot().get_legend() is not None
    assert two.plot().get_legend() is None


def test_bad_input_is_refused():
    tables = scored(0)
    with pytest.raises(ConfigError, match="at least two language models, got 1"):
        ld.compare_lms({"A": tables["A"]})
    with pytest.raises(DataError, match=r"2 edition\(s\) and 19 intent\(s\).*19 × 2 in 'B'.*at least 2 and 20"):
        ld.compare_lms({"A": tables["A"], "B": tables["B"].iloc[:19, :2]})
    with pytest.raises(DataError, match=r"1 edition\(s\) and 0 intent\(s\)"):
        ld.compare_lms({"A": tables["A"], "B": tables["B"][["a"]]})
    with pytest.raises(DataError, match="0 edition"):
        ld.compare_lms({"A": tables["A"], "B": tables["B"].add_prefix("x")})
    with pytest.raises(DataError, match="'A' and 'same' have the same bits"):
        ld.compare_lms({"A": tables["A"], "same": tables["A"]})
    labels = pd.DataFrame({"x": np.arange(60) // 3, "y": np.arange(60) % 20})
    with pytest.raises(ConfigError, match="crossed"):
        ld.compare_lms(tables, clusters=[labels["x"], labels["y"]])
    with pytest.raises(ConfigError, match="leaves a kink"):
        ld.compare_lms(tables, model=ld.regression.Laplace(rounding=0))


def test_books_and_unequal_noise_are_found():
    truth = ld.simulate(270, 5, seed=3).surprisals.bits
    rng = np.random.default_rng(8)
    verses = [f"{40 + k // 10:02}001{k % 10 + 1:03}" for k in range(270)]
    noise = np.array([0.02, 0.02, 0.05, 0.1, 0.1])
    tables = {name: (truth * rng.lognormal(0, noise, truth.shape)).set_axis(verses) for name in ("A", "B")}
    found = ld.compare_lms(tables)
    assert (found.clusters, found.n_clusters) == ("book", 27)
    assert found.dispersion == "edition"
    plain = ld.compare_lms(tables, clusters=None)
    assert plain.clusters == "intent"
