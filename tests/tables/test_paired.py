"""Paired differences between language models: worked numbers with ten decimals, influences, simulated truth."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import langdiff as ld
from langdiff.regression.design import make_design
from langdiff.regression.fitting.errors import find_errors
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
WORKED = {  # differences, their standard errors, b - a with its error, and its error as if independent
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


def bits_of(rows):
    return pd.DataFrame(np.array(rows, float), columns=EDITIONS)


def fits_of(tables, model, clusters=None):
    options = {"errors": "sandwich", "dispersion": "common", "restricted": False, "clusters": clusters}
    return {name: ld.fit(bits, model=model, **options) for name, bits in tables.items()}


def scored(seed, intents=60, editions=4, noise=0.17, shared=0.0):
    """Bits by two language models of the same texts: log-normal noise, of which the models share a part."""
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
def test_the_worked_example_has_all_its_digits(model):
    differences, errors, (contrast, its_error, independent) = WORKED[model]
    fits = fits_of({"A": bits_of(A), "B": bits_of(B)}, model)
    made = ld.table(fits, paired=True, contrasts=["b - a"], scale="nats")
    shown = made.differences.set_index("row").loc[EDITIONS]
    np.testing.assert_allclose(shown["estimate"], differences, rtol=0, atol=DIGITS)
    np.testing.assert_allclose(shown["std_error"], errors, rtol=0, atol=DIGITS)
    row = made.contrasts[made.contrasts["column"] == "A − B"].iloc[0]
    assert (row["estimate"], row["std_error"]) == pytest.approx((contrast, its_error), abs=DIGITS)
    apart = np.hypot(*(fit.contrast("b", "a").std_error for fit in fits.values()))
    assert apart == pytest.approx(independent, abs=DIGITS)


@few
def test_model_1_is_the_fit_to_the_ratios():
    made = ld.table(fits_of({"A": bits_of(A), "B": bits_of(B)}, "1"), paired=True, contrasts=["b - a"])
    row = made.contrasts[made.contrasts["column"] == "A − B"].iloc[0]
    assert row["df"] == pytest.approx(7)
    assert row["p"] == pytest.approx(0.89978, abs=5e-6)
    same = fits_of({"ratios": 100 * bits_of(A) / bits_of(B)}, "1")["ratios"].contrast("b", "a")
    assert (row["estimate"], row["std_error"]) == pytest.approx((same.estimate, same.std_error), rel=1e-10)


def fitting_of(bits, model, *, own):
    surprisals = ld.Surprisals(bits=bits)
    design = make_design(surprisals.editions, None, None, None)
    settings = Settings(find_variant(model), own_dispersions=own)
    z = log_bits(surprisals, design)
    if own:
        return OwnDispersions(design, settings, surprisals, dispersion_groups("edition", surprisals, None))
    return Fixed(z, design, settings, surprisals)


@few
@pytest.mark.parametrize(
    ("model", "own"), [("1", False), ("2", False), ("2L", False), ("2L-rounded", False), ("1", True), ("2", True)]
)
@pytest.mark.parametrize("grouped", [False, True])
def test_products_of_influences_are_the_sandwich_of_the_fit(model, own, grouped):
    bits = scored(3)["A"]
    bits = bits.mask(np.random.default_rng(1).random(bits.shape) < 0.1)
    labels = pd.Series(np.arange(60) // 5, bits.index, name="document") if grouped else None
    sample = Sample(fitting_of(bits, model, own=own), [] if labels is None else [labels])
    found = influence_of(sample, find_errors(sample))
    dispersion = "edition" if own else "common"
    fit = ld.fit(bits, model=model, errors="sandwich", dispersion=dispersion, clusters=labels, restricted=False)
    np.testing.assert_allclose(found.values.T @ found.values, fit.covariance, rtol=1e-7, atol=1e-14)
    np.testing.assert_allclose(found.freedom, np.broadcast_to(fit.degrees_of_freedom, (4, 4)), rtol=1e-9)


def test_errors_are_those_of_correlated_noise():
    """Where the models share most of their noise, intervals of the paired difference cover 0 in 95 % of tables."""
    tables, covered, too_long = 50, 0, 0
    for seed in range(tables):
        fits = fits_of(scored(seed, intents=50, editions=3, shared=0.8), "1")
        row = ld.table(fits, paired=True).differences.iloc[0]
        covered += row["p"] > 0.05
        too_long += np.hypot(*(fit.std_error.iloc[0] for fit in fits.values())) > 1.5 * row["std_error"]
    low, high = binom.ppf([0.001, 0.999], tables, 0.95)
    assert low <= covered <= high
    assert too_long == tables


def stacked_cr2(tables, clusters):
    """Return estimates of all (fit, edition) and their CR2 covariance in one dense regression, by its definition.

    The regression is that of ln bits on fit × edition and fit × intent, with a working model of equal variances
    (Bell and McCaffrey 2002; Pustejovsky and Tipton 2018): the residuals of a cluster are multiplied by the symmetric
    root of the pseudo-inverse of its block of I − H.
    """
    rows = [
        (fit, edition, intent, clusters[intent], np.log(bits))
        for fit, table in enumerate(tables)
        for (intent, edition), bits in table.stack().dropna().items()
    ]
    editions, intents = list(tables[0].columns), list(tables[0].index)
    own = np.zeros((len(rows), 2 * len(editions)))
    of_intents = np.zeros((len(rows), 2 * len(intents)))
    for place, (fit, edition, intent, _, _) in enumerate(rows):
        own[place, fit * len(editions) + editions.index(edition)] = 1
        of_intents[place, fit * len(intents) + intents.index(intent)] = 1
    design = np.hstack([own, of_intents])
    z, cluster = np.array([row[4] for row in rows]), np.array([row[3] for row in rows])
    bread = np.linalg.pinv(design.T @ design)
    residual = np.eye(len(rows)) - design @ bread @ design.T
    meat = np.zeros_like(bread)
    for g in np.unique(cluster):
        here = np.flatnonzero(cluster == g)
        values, vectors = np.linalg.eigh(residual[np.ix_(here, here)])
        roots = np.where(values > 1e-9, 1 / np.sqrt(np.clip(values, 1e-9, None)), 0)
        score = design[here].T @ (vectors * roots @ vectors.T) @ (residual[here] @ z)
        meat += np.outer(score, score)
    count = 2 * len(editions)
    covariance = (bread @ meat @ bread)[:count, :count]
    return (bread @ design.T @ z)[:count], covariance


@pytest.mark.filterwarnings("ignore::langdiff.errors.LangdiffWarning")
@pytest.mark.parametrize("seed", range(20))
def test_paired_errors_are_those_of_one_stacked_regression(seed):
    """Pairs of editions, and editions relative to the average, of two fits with clusters and other missing cells."""
    rng = np.random.default_rng(seed)
    intents, count = int(rng.integers(9, 14)), int(rng.integers(3, 5))
    editions = list("abcd"[:count])
    clusters = np.concatenate([np.arange(5), rng.integers(0, 5, intents - 5)])
    size, shared = rng.normal(4, 0.5, (intents, 1)), rng.normal(0, 0.2, (intents, count))
    tables = []
    for _ in range(2):
        bits = pd.DataFrame(np.exp(size + shared + rng.normal(0, 0.1, shared.shape)), columns=editions)
        gaps = rng.random(bits.shape) < 0.1
        gaps[gaps.sum(axis=1) > count - 2] = False  # two cells at least in every intent
        tables.append(bits.mask(gaps))
    options = {"clusters": pd.Series(clusters, name="book"), "dispersion": "common", "errors": "sandwich"}
    fits = {name: ld.fit(table, model="1", **options) for name, table in zip("AB", tables, strict=True)}
    made = ld.table(fits, paired=True, contrasts="pairs", scale="nats")

    estimate, covariance = stacked_cr2(tables, clusters)
    by_fit = estimate.reshape(2, count)
    apart = np.hstack([np.eye(count), -np.eye(count)])  # the first fit less the second
    pairs = made.contrasts[made.contrasts["column"] == "A − B"]
    for row in pairs.itertuples():
        one, other = (editions.index(name) for name in row.row.split(" - "))
        weights = apart[one] - apart[other]
        assert row.estimate == pytest.approx(weights @ estimate, abs=1e-8)
        assert row.std_error == pytest.approx(np.sqrt(weights @ covariance @ weights), abs=1e-8)
    # relative to the average edition, whose factors have the mean 1: the logarithm of a mean moves by its shares
    shares = [np.exp(each) / np.exp(each).sum() for each in by_fit]
    moved = np.hstack([np.eye(count) - shares[0], -(np.eye(count) - shares[1])])
    found = made.differences.set_index("row").loc[editions]
    assert found["std_error"].to_numpy() == pytest.approx(np.sqrt(np.diag(moved @ covariance @ moved.T)), abs=1e-8)
    assert len(pairs) == count * (count - 1) / 2
