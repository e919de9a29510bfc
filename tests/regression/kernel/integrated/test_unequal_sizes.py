"""Model 2 with unequal noise, against integrals by SciPy and against sums over cells."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.stats import norm

import langdiff as ld
from langdiff.regression.kernel.integrated import size_tables
from langdiff.regression.kernel.integrated.size_tables import SizeTables
from langdiff.regression.kernel.integrated.unequal import estimate_unequal
from langdiff.regression.kernel.integrated.unequal_rows import from_diagonals
from langdiff.regression.kernel.two_way import solve_two_way

INTEGRALS = 1e-8  # with enough nodes
TABLES = 1e-9  # of interpolants beside the functions themselves
MANY = 81
LEVELS = np.array([0.1, -0.2, 0.3, 0.05])
LOG_KAPPA = np.log([0.5, 2.0, 1.0, 4.0])
MEAN, TAU = 4.4, 0.7


def tables_of(z, **settings):
    return SizeTables(solve_two_way(z), **settings)


def table(intents=6, seed=0):
    rng = np.random.default_rng(seed)
    m = rng.normal(4.5, 0.5, (intents, 1))
    v = np.log1p(np.exp(LOG_KAPPA - m))
    z = m + LEVELS - v / 2 + np.sqrt(v) * rng.standard_normal((intents, 4))
    z[0, 2], z[1, :2], z[2, 0] = np.nan, np.nan, np.nan
    return z


def columns(normal):
    """Parameters by column; the prior is a column of level −a and log-variance 2 ln τ."""
    prior = [[-MEAN], [2 * np.log(TAU)]] if normal else [[], []]
    return np.concatenate([LEVELS, prior[0], LOG_KAPPA, prior[1]])


def whole_information(likelihood, x):
    """Sum over blocks of what they yield."""
    parts = []
    for block in likelihood.blocks(x):
        parts.append(from_diagonals(block.second.sum(axis=1)) - sum(root.T @ root for root in block.roots))
    return np.sum(parts, axis=0)


def joint(row, m, normal):
    """Density of a row and a size, from the formula of the model."""
    seen = ~np.isnan(row)
    v = np.log(1 + np.exp(LOG_KAPPA[seen]) / np.exp(m))
    density = np.prod(norm.pdf(row[seen], m + LEVELS[seen] - v / 2, np.sqrt(v)))
    return density * (norm.pdf(m, MEAN, TAU) if normal else 1)


@pytest.mark.parametrize("normal", [False, True])
def test_values_and_sizes_are_integrals(normal):
    z = table()
    found = tables_of(z, normal=normal, nodes=MANY).rows(columns(normal))
    for i, row in enumerate(z):
        points = {"epsabs": 0, "epsrel": 1e-11, "limit": 500, "points": [np.nanmean(row)]}
        total = quad(lambda m, row=row: joint(row, m, normal), -4, 12, **points)[0]
        mean = quad(lambda m, row=row: m * joint(row, m, normal), -4, 12, **points)[0] / total
        assert found.values[i] == pytest.approx(np.log(total), abs=INTEGRALS)
        assert found.sizes[i] == pytest.approx(mean, abs=INTEGRALS)


def test_fifteen_nodes_are_close():
    few, many = (tables_of(table(), normal=True, nodes=n).rows(columns(True)).values.sum() for n in (15, MANY))
    assert 1e-12 < abs(few - many) < 1e-5


@pytest.mark.parametrize("normal", [False, True])
def test_derivatives_are_differences(normal):
    likelihood, x = tables_of(table(), normal=normal, nodes=MANY), columns(normal)
    rows = likelihood.rows(x, terms=14)
    (block,) = likelihood.blocks(x)
    steps = 1e-4 * np.eye(len(x))
    values = [(likelihood.rows(x + h).values - likelihood.rows(x - h).values) / 2e-4 for h in steps]
    assert_allclose(block.scores, np.array(values)[:, block.rows].T, atol=1e-5, rtol=1e-6)
    assert_allclose(rows.gradient, block.scores.sum(axis=0), atol=1e-9)
    slopes = [(likelihood.rows(x + h).gradient - likelihood.rows(x - h).gradient) / 2e-4 for h in steps]
    assert_allclose(rows.information, -np.array(slopes), atol=2e-4, rtol=1e-5)
    likelihood.rows(x)
    assert_allclose(whole_information(likelihood, x), rows.information, rtol=1e-9, atol=1e-9)


def spread(m, cells=4):
    """Rows of sizes e^m with some cells at random places."""
    rng = np.random.default_rng(1)
    v = np.log1p(np.exp(LOG_KAPPA - m[:, None]))
    z = m[:, None] + LEVELS - v / 2 + np.sqrt(v) * rng.standard_normal(v.shape)
    z[rng.permuted(np.tile(np.arange(4), (len(m), 1)), axis=1) >= cells] = np.nan
    return z


UNUSUAL = {
    "usual": lambda: table(40),
    ".03 bits": lambda: table(40) - 8,
    "100,000 bits": lambda: table(40) + 7,
    "two cells": lambda: spread(np.linspace(3, 6, 60), cells=2),
    ".01 to 10,000 bits": lambda: spread(np.linspace(np.log(0.01), np.log(1e4), 60)),
    "both": lambda: spread(np.linspace(np.log(0.01), np.log(1e4), 60), cells=2),
    "two modes": lambda: np.vstack([table(40), [[1.0, 9, 1, 9], [12, 2, 12, 2]]]),
}


@pytest.mark.parametrize("normal", [False, True])
@pytest.mark.parametrize("kind", UNUSUAL)
def test_tables_are_the_functions_of_the_cells(monkeypatch, normal, kind):
    """Values by sums over cells and nodes, as the module gives the model; bins of many terms are halved."""
    z, x = UNUSUAL[kind](), columns(normal)
    likelihood, middle = tables_of(z, normal=normal, nodes=15), float(np.nanmean(z))
    if normal:
        x[4] = -middle
    found = likelihood.rows(x)
    v_of = lambda m, k: np.log1p(np.exp(k - m))  # noqa: E731
    for i, row in enumerate(z):
        nodes = likelihood.modes[i] + np.sqrt(2) * likelihood.deviations[i] * likelihood.t
        terms = likelihood.log_weights + np.log(np.sqrt(2) * likelihood.deviations[i])
        for value, level, k in zip(row, LEVELS, LOG_KAPPA, strict=True):
            if not np.isnan(value):
                v = v_of(nodes, k)
                terms = terms + norm.logpdf(value, nodes + level - v / 2, np.sqrt(v))
        if normal:
            terms = terms + norm.logpdf(nodes, middle, TAU)
        assert found.values[i] == pytest.approx(np.logaddexp.reduce(terms), abs=TABLES)
    terms = {len(part.rows): size_tables._order(part.middle, part.half, LOG_KAPPA) for part in likelihood._bins}
    assert max((most for rows, most in terms.items() if rows > 1), default=0) <= size_tables.MOST_TERMS
    monkeypatch.setattr(size_tables, "MOST_TERMS", size_tables.LARGEST_ORDER)
    whole = tables_of(z, normal=normal, nodes=15)
    whole.rows(x)
    assert (kind == "both" and not normal) == (len(whole._bins) < len(likelihood._bins))


def test_rows_of_bins_that_no_longer_fit_are_sorted_anew():
    likelihood = tables_of(table(40), normal=False, nodes=15)
    likelihood.rows(columns(False))
    moved = columns(False) + np.concatenate([np.full(4, -3.0), np.zeros(4)])
    again = likelihood.rows(moved, terms=14)
    fresh = tables_of(table(40) + 3, normal=False, nodes=15).rows(columns(False), terms=14)
    assert_allclose(again.values, fresh.values, atol=TABLES)
    assert_allclose(again.information, fresh.information, rtol=1e-9, atol=1e-8)


@pytest.mark.parametrize("t", [0.1, 7.0])
@pytest.mark.parametrize("normal", [False, True])
def test_the_unit_of_bits_is_unidentified(t, normal):
    """All n and κ times t, D lower by ln t."""
    z, x = table(), columns(normal)
    shift = np.log(t) * np.concatenate([-np.ones(4 + normal), np.ones(4), [0] * normal])
    here, there = (tables_of(z, normal=normal, nodes=15).rows(parameters) for parameters in (x, x + shift))
    assert_allclose(there.values, here.values, rtol=1e-11)
    assert_allclose(there.sizes, here.sizes + np.log(t), rtol=1e-9)


def test_bins_change_nothing(monkeypatch):
    x, z = columns(True), table(40)
    rows = tables_of(z, normal=True, nodes=15).rows(x, terms=14)
    monkeypatch.setattr(size_tables, "CELLS_OF_WINDOWS", 10)  # two rows
    parts = tables_of(z, normal=True, nodes=15)
    found = parts.rows(x, terms=14)
    assert len(parts._bins) >= 20
    assert_allclose(found.values, rows.values, atol=TABLES)
    assert_allclose(found.gradient, rows.gradient, atol=1e-8)
    assert_allclose(found.information, rows.information, rtol=1e-9, atol=1e-8)


def test_complete_information_is_the_expectation_with_known_sizes():
    """Of the squared derivative of the density of one cell, by quadrature over z."""
    likelihood, x = tables_of(table(), normal=True, nodes=15), columns(True)
    likelihood.rows(x)
    t, weights = np.polynomial.hermite_e.hermegauss(20)
    expected = np.zeros((2, 2))
    for mode, row in zip(likelihood.modes, table(), strict=True):
        if np.isnan(row[3]):
            continue

        def density(z, level, log_kappa, mode=mode):
            v = np.log1p(np.exp(log_kappa - mode))
            return norm.logpdf(z, mode + level - v / 2, np.sqrt(v))

        v = np.log1p(np.exp(LOG_KAPPA[3] - mode))
        z = mode + LEVELS[3] - v / 2 + np.sqrt(v) * t
        h = 1e-5
        slopes = np.array(
            [
                density(z, LEVELS[3] + h, LOG_KAPPA[3]) - density(z, LEVELS[3] - h, LOG_KAPPA[3]),
                density(z, LEVELS[3], LOG_KAPPA[3] + h) - density(z, LEVELS[3], LOG_KAPPA[3] - h),
            ]
        ) / (2 * h)
        expected += (slopes * weights / weights.sum()) @ slopes.T
    complete = likelihood.complete_information(x)
    assert_allclose(complete[np.ix_([3, 8], [3, 8])], expected, rtol=1e-6)
    assert_allclose(complete[np.ix_([4, 9], [4, 9])], 6 * np.diag([1 / TAU**2, 0.5]), rtol=1e-12)


WORKED = {
    "A": (
        [-0.12546168, 0.06930007, 0.05744039, 0.02588053, -0.03997631],
        [1.718030, 1.782934, 1.055689, 0.650935, 0.805124],
        [0.0210266, 0.0205181, 0.0156103, 0.0137898, 0.0146729],
        63.001003,
    ),
    "B": (
        [-0.12220328, 0.06260624, 0.06364261, 0.02735796, -0.04397601],
        [1.848389, 1.734308, 0.973476, 0.693360, 0.900866],
        [0.0232512, 0.0214532, 0.0161108, 0.0148177, 0.0164414],
        50.135587,
    ),
    "C": (
        [-0.10003354, 0.06385898, 0.04156791],
        [1.036949, 1.660900, 0.971869],
        [0.0034829, 0.0046489, 0.0033546],
        11187.195230,
    ),
}


@pytest.mark.parametrize("name", WORKED)
def test_worked_numbers(name):
    """By BFGS on a trapezoid of 1,601 points (A, B), and by sums over cells and nodes (C)."""
    bits = ld.datasets.testaments().bits.to_numpy()
    z = np.log(bits if name == "C" else bits[:60, :5])
    i, j = np.indices(z.shape)
    if name == "B":
        z[(7 * i + 3 * j) % 11 == 0] = np.nan
    levels, log_kappa, errors, log_likelihood = WORKED[name]
    found = estimate_unequal(z, model="2", group=np.arange(z.shape[1]))
    shown = len(levels)
    assert found.converged
    assert_allclose(found.c[:shown], levels, atol=6e-9)
    assert_allclose(found.log_variance[:shown], log_kappa, atol=6e-7)
    assert_allclose(np.sqrt(np.diag(found.covariance))[:shown], errors, atol=6e-8)
    assert found.log_likelihood == pytest.approx(log_likelihood, abs=6e-7)
