"""Likelihoods of outcomes: worked numbers, derivatives against differences, quadrature and sums by brute force."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import betaln, expit, gammaln
from scipy.stats import binom, norm

from langdiff.regression.outcomes import evaluation
from langdiff.regression.outcomes.evaluation import Point
from langdiff.regression.outcomes.integrals import Rows, collapse
from langdiff.regression.outcomes.likelihoods import (
    BetaBinomial,
    Binomial,
    Structure,
    beta_binomial,
    binomial,
    binomial_outer,
)
from tests.regression.outcomes.conftest import B_TRIALS, A, B

WORKED = 1e-6  # of numbers given to six digits
ROUNDING = 1e-10
DIFFERENCES = 1e-6  # central differences with a step of 1e-5


def rows_of(cells, trials=None, x=None, block=None):
    s = np.array(cells, dtype=float)
    t = np.where(np.isnan(s), 0, 1.0 if trials is None else np.nan_to_num(np.array(trials, dtype=float)))
    count = len(s)
    return Rows(
        s=np.nan_to_num(s),
        t=t,
        x=np.zeros((count, 0)) if x is None else np.array(x, dtype=float),
        block=np.zeros(count, dtype=int) if block is None else np.array(block),
        weight=np.ones(count),
    )


def point_of(level, slope=(), spread=1.0, loading=None, d=None):
    level = np.atleast_2d(np.array(level, dtype=float))
    log_loading = np.zeros(level.shape[1]) if loading is None else np.log(loading)
    return Point(level=level, slope=np.array(slope, dtype=float), spread=spread, log_loading=log_loading, d=d)


def evaluate(rows, point, *, conditional=False, **settings):
    """Evaluate the model whose parameters the point has."""
    structure = Structure(
        likelihood=Binomial() if point.d is None else BetaBinomial(),
        loadings="free" if point.log_loading.any() else "equal",
        levels="conditional" if conditional else "marginal",
    )
    return evaluation.evaluate(rows, point, structure, **settings)


HARD = [[0], [0], [0], [1], [1], [1]]
ROWS_A, ROWS_B = rows_of(A), rows_of(B, B_TRIALS, HARD)
AT_A, AT_B = point_of([0.5, 0, -0.5]), point_of([1, 0, -1], [1.0], 0.8)
FREE = [0, 1, 2, 3, 5]  # levels, slope and σ; τ is 0
COEFFICIENTS = Binomial().coefficients(ROWS_B.s, ROWS_B.t).sum()


@pytest.mark.parametrize(
    ("nodes", "expected"), [(1, -10.682211), (3, -10.621534), (5, -10.619987), (9, -10.619903), (30, -10.619902)]
)
def test_worked_values_by_number_of_nodes(nodes, expected):
    assert evaluate(ROWS_A, AT_A, nodes=nodes).log_likelihood == pytest.approx(expected, abs=WORKED)


def test_worked_rows_and_other_models():
    by_row = evaluate(ROWS_A, AT_A, nodes=30).row_log_likelihoods
    assert_allclose(by_row, [-1.707485, -1.707485, -1.823841, -2.323841, -1.707485, -1.349764], atol=WORKED)
    loaded = evaluate(ROWS_A, point_of([0.5, 0, -0.5], loading=[1.25, 1, 0.8]), nodes=30).log_likelihood
    assert loaded == pytest.approx(-10.746911, abs=WORKED)
    found = evaluate(ROWS_B, AT_B, nodes=30)
    assert found.log_likelihood + COEFFICIENTS == pytest.approx(-18.790537, abs=WORKED)
    assert_allclose(found.gradient[FREE], [0.798689, 0.673365, -1.195958, 0.262009, -1.886896], atol=WORKED)
    diagonal = [-3.601918, -3.662408, -2.279835, -2.484399, -2.651157]
    assert_allclose(np.diag(found.hessian)[FREE], diagonal, atol=1e-5)  # the last digit of the source is rounded
    overdispersed = evaluate(ROWS_B, replace(AT_B, d=0.25), nodes=60).log_likelihood
    assert overdispersed + COEFFICIENTS == pytest.approx(-21.277539, abs=WORKED)


BLOCKED = rows_of(B, B_TRIALS, [[0.3], [1], [-1], [0.2], [0], [2]], block=[0, 0, 0, 1, 1, 1])


@pytest.mark.parametrize(
    ("rows", "point", "conditional"),
    [
        (ROWS_A, AT_A, False),
        (ROWS_B, AT_B, False),
        (ROWS_A, point_of([0.5, 0, -0.5], loading=[1.25, 1, 0.8]), False),
        (ROWS_B, replace(AT_B, d=0.25), False),
        (ROWS_B, point_of([1, 0, -1], [1.0], 0.8, [1.3, 1, 0.7], 0.25), False),
        (BLOCKED, point_of([[1, 0, -1], [0.5, 0, -0.2]], [0.4], 0.8, [1.3, 1, 0.7], 0.25), False),
        (replace(ROWS_B, x=np.zeros((6, 0))), point_of([1, 0, -1]), True),
        (replace(BLOCKED, x=np.zeros((6, 0))), point_of([[1, 0, -1], [0.5, 0, -0.2]]), True),
    ],
)
def test_derivatives_are_differences(rows, point, conditional):
    mixed = (rows.s.sum(axis=1) > 0) & (rows.s.sum(axis=1) < rows.t.sum(axis=1))
    rows = rows.take(mixed) if conditional else rows

    def at(vector):
        return evaluate(rows, point.from_vector(vector), nodes=60, conditional=conditional)

    z, h = point.to_vector(), 1e-5
    found = evaluate(rows, point, nodes=60, conditional=conditional, scores=True)
    free = np.abs(found.gradient) > 0  # what the model has
    steps = h * np.eye(len(z))[free]
    gradient = [(at(z + e).log_likelihood - at(z - e).log_likelihood) / (2 * h) for e in steps]
    hessian = [(at(z + e).gradient - at(z - e).gradient)[free] / (2 * h) for e in steps]
    assert_allclose(found.gradient[free], gradient, atol=DIFFERENCES)
    assert_allclose(found.hessian[np.ix_(free, free)], hessian, atol=DIFFERENCES)
    assert_allclose(rows.weight @ found.scores, found.gradient, atol=ROUNDING)


@st.composite
def problems(draw):
    items, systems = draw(st.integers(1, 6)), draw(st.integers(2, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    t = rng.integers(0, 4, (items, systems)).astype(float)
    s = rng.binomial(t.astype(int), 0.5).astype(float)
    x = rng.normal(size=(items, 1))
    rows = Rows(s=s, t=t, x=x, block=np.zeros(items, dtype=int), weight=np.ones(items))
    spread = draw(st.floats(0.1, 1.5))
    return rows, point_of(rng.normal(size=systems), rng.normal(size=1), spread, np.exp(0.3 * rng.normal(size=systems)))


@given(problem=problems(), d=st.one_of(st.none(), st.floats(0.01, 2)))
@settings(max_examples=25)
def test_quadrature_is_a_sum_over_a_fine_grid(problem, d):
    rows, point = problem
    v = np.linspace(-9, 9, 4001)
    eta = point.level - (rows.x @ point.slope)[:, None]
    p = expit(eta[:, None, :] - v[:, None] * point.spread * np.exp(point.log_loading))
    s, t = rows.s[:, None, :], rows.t[:, None, :]
    if not d:
        cells = binom.logpmf(s, t, p)
    else:
        a, b = p / d, (1 - p) / d
        coefficients = gammaln(t + 1) - gammaln(s + 1) - gammaln(t - s + 1)
        with np.errstate(invalid="ignore"):  # where p is 0 to rounding and nothing was tried
            cells = np.where(t > 0, coefficients + betaln(s + a, t - s + b) - betaln(a, b), 0.0)
    brute = np.log(np.trapezoid(np.exp(cells.sum(axis=2)) * norm.pdf(v), v, axis=1)).sum()
    found = evaluate(rows, replace(point, d=d), nodes=60).log_likelihood
    assert found + Binomial().coefficients(rows.s, rows.t).sum() == pytest.approx(brute, abs=1e-6)


@given(problem=problems())
def test_conditional_likelihood_is_a_sum_over_tables(problem):
    rows, point = problem
    total, trials = rows.s.sum(axis=1), rows.t.sum(axis=1)
    rows = replace(rows, x=np.zeros((len(rows.s), 0))).take((total > 0) & (total < trials))
    if not len(rows.s):
        return
    theta = point.level[0]
    brute = 0.0
    for s, t in zip(rows.s, rows.t, strict=True):
        every = [
            np.exp(np.array(cells) @ theta + Binomial().coefficients(np.array(cells), t).sum())
            for cells in itertools.product(*(range(int(most) + 1) for most in t))
            if sum(cells) == s.sum()
        ]
        brute += s @ theta - np.log(sum(every))
    plain = point_of(theta)
    assert evaluate(rows, plain, conditional=True).log_likelihood == pytest.approx(brute, abs=ROUNDING * 10)


@given(problem=problems())
def test_totals_suffice(problem):
    rows, point = problem
    point = replace(point, log_loading=np.zeros(len(point.log_loading)))
    rows = replace(rows, x=np.round(rows.x))
    merged = collapse(rows)
    whole, short = evaluate(rows, point), evaluate(merged, point)
    assert merged.weight.sum() == len(rows.s)
    assert_allclose(short.log_likelihood, whole.log_likelihood, atol=ROUNDING)
    assert_allclose(short.gradient, whole.gradient, atol=ROUNDING)
    assert_allclose(short.hessian, whole.hessian, atol=ROUNDING)


@given(problem=problems())
def test_right_and_wrong_are_symmetric(problem):
    rows, point = problem
    turned = point_of(-point.level, -point.slope, point.spread, np.exp(point.log_loading))
    other = evaluate(replace(rows, s=rows.t - rows.s), turned, nodes=40)
    assert_allclose(other.log_likelihood, evaluate(rows, point, nodes=40).log_likelihood, atol=1e-8)


def test_no_overdispersion_is_binomial():
    rng = np.random.default_rng(0)
    t = rng.integers(1, 6, (4, 3)).astype(float)
    s = rng.binomial(t.astype(int), 0.5).astype(float)
    eta = rng.normal(scale=5, size=(4, 3))
    one, other = beta_binomial(eta, s, t, 0.0), binomial(eta, s, t)
    assert_allclose(one.value, other.value, atol=ROUNDING)
    assert_allclose(one.of_eta, other.of_eta, atol=ROUNDING)
    assert_allclose(one.curvature, other.curvature, atol=ROUNDING)
    assert np.isfinite(beta_binomial(np.array([[900.0, -900.0]]), s[:1, :2], t[:1, :2], 0.1).value).all()


def summed(eta, s, t, d):
    """The definition, term by term, and its derivatives."""
    p, k = expit(eta), np.arange(t, dtype=float)
    up, down, whole = p + k[: int(s)] * d, 1 - p + k[: int(t - s)] * d, 1 + k * d
    i, j = k[: int(s)], k[: int(t - s)]
    pq = p * (1 - p)
    of_p = pq * ((1 / up).sum() - (1 / down).sum())
    return {
        "value": np.log(up).sum() + np.log(down).sum() - np.log(whole).sum(),
        "of_eta": of_p,
        "curvature": pq**2 * ((1 / up**2).sum() + (1 / down**2).sum()) - of_p * (1 - 2 * p),
        "of_d": (i / up).sum() + (j / down).sum() - (k / whole).sum(),
        "of_d2": -((i / up) ** 2).sum() - ((j / down) ** 2).sum() + ((k / whole) ** 2).sum(),
        "of_eta_d": -pq * ((i / up**2).sum() - (j / down**2).sum()),
    }


@pytest.mark.parametrize("d", [0.0, 1e-12, 1e-6, 1e-3, 0.1, 3.0])
@pytest.mark.parametrize(("s", "t"), [(70, 70), (64, 130), (65, 66), (700, 2000), (20_000, 90_000)])
def test_many_trials_are_summed_without_their_number(d, s, t):
    for eta in (-4.0, 0.3, 2.0):
        found = beta_binomial(np.array([[eta]]), np.array([[float(s)]]), np.array([[float(t)]]), d)
        for name, expected in summed(eta, s, t, d).items():
            scale = {"of_d2": t**3, "of_d": t**2, "of_eta_d": t**2}.get(name, t) if d < 1 / t else 1.0
            assert_allclose(np.ravel(getattr(found, name))[0], expected, rtol=1e-9, atol=1e-12 * scale, err_msg=name)


def test_cost_does_not_grow_with_trials():
    t = np.full((2, 2), 1e10)
    found = beta_binomial(np.zeros((2, 2)), t / 2, t, 0.1)
    assert_allclose(found.of_eta, 0, atol=1e-3)
    expected = 2 * (betaln(t / 2 + 5, t / 2 + 5) - betaln(5, 5))[:, 0]
    assert_allclose(found.value, expected, rtol=1e-12)


def test_outer_product_of_odds_is_the_same_likelihood():
    rng = np.random.default_rng(1)
    for t in (rng.integers(0, 2, (4, 30)), rng.integers(0, 5, (4, 30))):
        s = rng.binomial(t, 0.5).astype(float)
        level, v = rng.normal(size=(4, 30)), rng.normal(scale=5, size=(4, 7))
        one = binomial_outer(level, v, s, t.astype(float))
        other = binomial(level[:, None, :] + v[:, :, None], s[:, None, :], t[:, None, :].astype(float))
        for name in ("value", "of_eta", "curvature"):
            assert_allclose(getattr(one, name), getattr(other, name), atol=ROUNDING, rtol=ROUNDING)
