"""The plain densities: against SciPy, against their own integrals, and the scale that the models leave free."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.optimize import minimize_scalar
from scipy.stats import cauchy, laplace, norm

from langdiff.regression import Blunders
from langdiff.regression.variants import find_variant
from tests.regression.kernel.joint_density import profile_log_density

ROUNDING = 1e-9  # both sides are the same algebra in another order
QUADRATURE = 1e-8  # promised of model 3
MODELS = ["1", "2", "2L", "2C", "3"]


def cell_log_density(z, m, d, kappa, *, model, laplace_scale=None):
    return find_variant(model, laplace_scale=laplace_scale).log_density_of_cells(z, m, d, kappa)


def scale_of(model, b=0.15):
    return {"laplace_scale": b} if model == "3" else {}


def moments(m, d, kappa):
    """Equations 1, 5 and 6, for numbers."""
    sigma2 = np.log1p(kappa)
    v = np.log1p(kappa / np.exp(m))
    return m + d + (sigma2 - v) / 2, v


@st.composite
def problems(draw):
    """Draw z with gaps, m, d, kappa and b: from tiny variances to huge ones, and cells far off."""
    shape = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    m, d = rng.normal(4, 2, shape[0]), rng.normal(0, 0.3, shape[1])
    kappa, b = np.exp(draw(st.floats(-6, 3))), np.exp(draw(st.floats(-5, 0.7)))
    mean, v = moments(m[:, None], d, kappa)
    z = mean + draw(st.sampled_from([0.1, 1, 5])) * np.sqrt(v) * rng.normal(size=shape) + rng.laplace(0, b, shape)
    z[rng.random(shape) < 0.2] = np.nan
    return z, m, d, kappa, b


@pytest.mark.parametrize(
    ("model", "published"),
    [
        ("1", lambda z, m, d, kappa: norm.logpdf(z, m + d, np.sqrt(np.log1p(kappa)))),
        ("2", lambda z, m, d, kappa: norm.logpdf(z, moments(m, d, kappa)[0], np.sqrt(moments(m, d, kappa)[1]))),
        ("2L", lambda z, m, d, kappa: laplace.logpdf(z, moments(m, d, kappa)[0], np.sqrt(moments(m, d, kappa)[1] / 2))),
        ("2C", lambda z, m, d, kappa: cauchy.logpdf(z, moments(m, d, kappa)[0], np.sqrt(moments(m, d, kappa)[1]))),
    ],
)
@given(problem=problems())
def test_density_is_the_one_published(problem, model, published):
    z, m, d, kappa, _ = problem
    ours = cell_log_density(z, m, d, kappa, model=model)
    expected = [[published(z[i, j], m[i], d[j], kappa) for j in range(len(d))] for i in range(len(m))]
    exact = ours > -700  # SciPy takes the logarithm of the Laplace density, which underflows below
    assert_allclose(ours[exact], np.array(expected)[exact], rtol=ROUNDING, atol=ROUNDING)


def joint(nu, z, m, d, kappa, b):
    mean, v = moments(m + nu, d, kappa)
    return laplace.logpdf(nu, 0, b) + norm.logpdf(z, mean, np.sqrt(v))


@pytest.mark.slow
@given(problem=problems())
def test_model_3_is_the_integral_over_sizes_of_the_cell(problem):
    """Adaptive quadrature, on pieces so short that no peak is missed."""
    z, m, d, kappa, b = problem
    ours = cell_log_density(z, m, d, kappa, model=Blunders(scale=b))
    assert (np.isnan(ours) == np.isnan(z)).all()
    for i, j in np.argwhere(~np.isnan(z))[:2]:
        cell = z[i, j], m[i], d[j], kappa, b
        grid = np.linspace(-40, 40, 400_001)
        values = joint(grid, *cell)
        top = values.max()
        within = grid[values > top - 45]
        edges = np.unique([0.0, grid[values.argmax()], *np.linspace(within[0] - 1e-3, within[-1] + 1e-3, 40)])
        mass = sum(
            quad(lambda nu, top=top, cell=cell: np.exp(joint(nu, *cell) - top), *pair, epsabs=1e-14, epsrel=1e-11)[0]
            for pair in pairwise(edges)
        )
        assert_allclose(ours[i, j], top + np.log(mass), atol=QUADRATURE)


@given(problem=problems())
@settings(max_examples=30)
def test_profile_is_the_largest_over_sizes_of_the_cell(problem):
    """Brent's method from the best of a fine grid, on both sides of the kink."""
    z, m, d, kappa, b = problem
    ours = profile_log_density(z, m, d, kappa, b)
    assert (np.isnan(ours) == np.isnan(z)).all()
    for i, j in np.argwhere(~np.isnan(z))[:3]:
        cell = z[i, j], m[i], d[j], kappa, b
        grid = np.linspace(-20, 20, 200_001)
        at = grid[joint(grid, *cell).argmax()]
        found = [
            minimize_scalar(
                lambda nu, cell=cell: -joint(nu, *cell), bounds=side, method="bounded", options={"xatol": 1e-10}
            )
            for side in [(at - 4e-4, at), (at, at + 4e-4)]
        ]
        best = max(joint(0.0, *cell), *(-result.fun for result in found))
        assert_allclose(ours[i, j], best, atol=1e-7)  # of a maximum found to 1e-9 of the search interval


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("m", "kappa"), [(5.0, 2.0), (0.5, 4.0), (8.0, 0.01)])
def test_density_integrates_to_one(model, m, kappa):
    mean, v = moments(m, 0.1, kappa)

    def density(z):
        return np.exp(
            cell_log_density(
                np.atleast_2d(z), np.array([m]), np.full(np.size(z), 0.1), kappa, model=model, **scale_of(model)
            )
        )[0]

    # z = mean + √v sinh(x) reaches as far as the tails of the Cauchy distribution ask
    x, step = np.linspace(-30, 30, 60_001, retstep=True) if model != "3" else np.linspace(-12, 12, 12_001, retstep=True)
    z = mean + np.sqrt(v) * np.sinh(x)
    assert np.sum(density(z) * np.sqrt(v) * np.cosh(x)) * step == pytest.approx(1, abs=1e-5)  # of the rule at a kink


@pytest.mark.parametrize("model", ["2", "2L", "2C", "3"])
@given(problem=problems(), t=st.floats(0.1, 10))
@settings(max_examples=25)
def test_scale_of_intents_is_unidentified(model, problem, t):
    """Section "The scale is free" of docs/models.md."""
    z, m, d, kappa, b = problem
    shift = np.log(t) + 0.5 * (np.log1p(t * kappa) - np.log1p(kappa))
    before = cell_log_density(z, m, d, kappa, model=model, **scale_of(model, b))
    after = cell_log_density(z, m + np.log(t), d - shift, t * kappa, model=model, **scale_of(model, b))
    # model 3 integrates over other nodes, each time within 1e-8
    tolerance = QUADRATURE if model == "3" else ROUNDING
    assert_allclose(after, before, rtol=tolerance, atol=tolerance)


@given(problem=problems(), t=st.floats(0.1, 10))
def test_model_1_trades_size_for_difficulty_only(problem, t):
    z, m, d, kappa, _ = problem
    after = cell_log_density(z, m + np.log(t), d - np.log(t), kappa, model="1")
    assert_allclose(after, cell_log_density(z, m, d, kappa, model="1"), rtol=ROUNDING, atol=ROUNDING)


def test_model_3_nears_model_2_as_its_noise_vanishes_and_a_laplace_as_dispersion_does():
    z, m, d = np.array([[4.7, 5.0, 5.6]]), np.array([5.0]), np.zeros(3)
    near_2 = cell_log_density(z, m, d, 2.0, model=Blunders(scale=1e-6))
    assert_allclose(near_2, cell_log_density(z, m, d, 2.0, model="2"), atol=1e-8)
    near_laplace = cell_log_density(z, m, d, 1e-9, model=Blunders(scale=0.3))
    assert_allclose(near_laplace, laplace.logpdf(z - 5.0, 0, 0.3), atol=1e-4)  # √v = 3e-6 blurs the kink


def test_joint_density_of_model_3_is_unbounded_and_its_marginal_bounded():
    """As kappa falls a hundredfold, a hundred cells gain 100 · ½ ln 100 nats of joint density, for ever."""
    rng = np.random.default_rng(0)
    m, d = rng.normal(5, 0.5, 20), rng.normal(0, 0.1, 5)
    z = m[:, None] + d + rng.normal(0, 0.1, (20, 5))
    kappas = 10.0 ** np.arange(-4, -13, -2)
    joint_max = np.array([profile_log_density(z, m, d, kappa, 0.1).sum() for kappa in kappas])
    assert_allclose(np.diff(joint_max), 100 * 0.5 * np.log(100), rtol=0.02)
    marginal = np.array([cell_log_density(z, m, d, kappa, model=Blunders(scale=0.1)).sum() for kappa in kappas])
    assert np.abs(np.diff(marginal)).max() < 1e-2


def test_table_of_model_3_agrees_with_quadrature_inside_and_outside_its_range():
    rng = np.random.default_rng(0)
    m, d, kappa, b = rng.uniform(2, 6, 200), rng.normal(0, 0.1, 5), 2.0, 0.05
    mean, v = moments(m[:, None], d, kappa)
    z = mean + np.sqrt(v) * rng.normal(size=(200, 5)) + rng.laplace(0, b, (200, 5))
    z[rng.random(z.shape) < 0.2] = np.nan
    z[0, 0] = 400.0  # beyond the residuals of the table
    exact = cell_log_density(z, m, d, kappa, model=Blunders(scale=b))
    for sizes in [(2.0, 6.0), (4.5, 5.0)]:
        assert_allclose(Blunders(scale=b).log_density_of_cells(z, m, d, kappa, sizes), exact, atol=1e-5)
