"""Second derivatives of cells and information of rows: by differences, and as sums known from elsewhere."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import langdiff as ld
from langdiff.errors import ConfigError
from langdiff.regression.kernel.cells import CellLikelihood, NormalCells, second_order
from langdiff.regression.kernel.likelihood import ScaleFreeLikelihood
from langdiff.regression.kernel.optimizers import polish
from langdiff.regression.kernel.two_way import solve_two_way
from langdiff.regression.variants import find_variant
from langdiff.regression.variants.blunders import SparseCells
from langdiff.regression.variants.laplace import CauchyCells, Laplace, LaplaceCells

STEP = 1e-6
CENTRAL_DIFFERENCE = 1e-7  # relative to the largest entry, of analytic gradients
CELLS = {"2": NormalCells(), "2L-rounded": LaplaceCells(0.3), "2C": CauchyCells(), "3": SparseCells(0.1)}
MODELS = [
    ("2", False),
    ("2", True),
    ("2L-rounded", False),
    ("2L-rounded", True),
    ("2C", False),
    ("2C", True),
    ("3", False),
]


def variant_of(model):
    return find_variant(model, laplace_scale=0.03 if model == "3" else None)


def table(model="2", intents=60, editions=5, missing=0.3, seed=1):
    z = np.log(ld.simulate(intents, editions, model=variant_of(model), missing=missing, seed=seed).surprisals.bits)
    z = z.to_numpy()
    return z[(~np.isnan(z)).sum(axis=1) > 1]


def fitted(model, restricted, z, design=None):
    two_way = solve_two_way(z, design)
    variant = variant_of(model)
    found = variant.estimate(two_way, restricted=restricted)
    assert found.converged
    return two_way, variant, found


@pytest.mark.parametrize("model", list(CELLS))
def test_second_derivatives_of_cells_are_those_of_differences(model):
    cells, rng = CELLS[model], np.random.default_rng(0)
    mu = rng.uniform(-1, 5, (40, 1))
    v = np.logaddexp(0.0, -mu)
    x = mu - v / 2 + 2 * np.sqrt(v) * rng.normal(size=(40, 7))
    found = cells.second_derivatives(x, mu)
    of_x = (cells.cells(x + STEP, mu).of_x - cells.cells(x - STEP, mu).of_x) / (2 * STEP)
    mixed = (cells.cells(x, mu + STEP).of_x - cells.cells(x, mu - STEP).of_x) / (2 * STEP)
    of_mu = (cells.cells(x, mu + STEP).of_mu - cells.cells(x, mu - STEP).of_mu) / (2 * STEP)
    if model == "3":
        noisy = cells.noise(x, mu) != 0
        assert 0.2 < noisy.mean() < 0.9  # both forms are seen
    for ours, theirs in ((found.of_x, of_x), (found.mixed, mixed), (found.of_mu, of_mu)):
        assert_allclose(ours, theirs, atol=CENTRAL_DIFFERENCE * np.abs(theirs).max())


@pytest.mark.parametrize(("model", "restricted"), [*MODELS[:-1], pytest.param(*MODELS[-1], marks=pytest.mark.slow)])
def test_information_is_what_differences_of_profiles_are(model, restricted):
    """Scores change with c, each size going with its mode, by −B; sizes are moved there by a search of their own."""
    z = table(model)
    two_way, variant, found = fitted(model, restricted, z)
    rows = variant.rows(two_way, found, restricted=restricted)
    cells = SparseCells(0.03) if model == "3" else CELLS[model]
    likelihood = CellLikelihood(two_way, cells, restricted)

    def profile_scores(c):
        mu = found.sizes
        for _ in range(8):
            slope = likelihood.value_and_gradient(mu, c, np.zeros(len(mu))).mu
            mu = mu - slope / second_order(likelihood, mu, c)[1] ** 2
        return second_order(likelihood, mu, c)[0].of(slice(None)).score.sum(axis=0)

    step = 1e-5
    theirs = [(profile_scores(found.c - h) - profile_scores(found.c + h)) / (2 * step) for h in step * np.eye(5)]
    assert_allclose(rows.total, theirs, atol=1e-5 * np.abs(theirs).max())
    parts = rows.of(slice(None))
    assert_allclose(parts.score.sum(axis=0), 0, atol=1e-6 * np.sqrt(np.diag(rows.total).max()))
    assert all((part[np.isnan(z)] == 0).all() for part in parts)


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("restricted", [False, True])
def test_rows_of_model_2_sum_to_its_information(restricted, missing):
    two_way, variant, found = fitted("2", restricted, table(missing=missing))
    whole = ScaleFreeLikelihood(two_way, restricted).information(found.sizes, found.c)
    assert_allclose(variant.rows(two_way, found, restricted=restricted).total, whole, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_rows_of_model_1_sum_to_its_laplacian(missing):
    two_way, variant, found = fitted("1", False, table(missing=missing))
    rows = variant.rows(two_way, found)
    assert_allclose(rows.total, two_way.laplacian, atol=1e-12)
    for axis in (0, 1):
        assert_allclose(rows.of(slice(None)).score.sum(axis=axis), 0, atol=1e-12)


def test_the_kink_of_2l_has_no_information():
    two_way, _, found = fitted("2L", False, table("2L"))
    with pytest.raises(ConfigError, match="use model='2L-rounded'"):
        Laplace(rounding=0).rows(two_way, found)


@pytest.mark.parametrize("model", ["2L-rounded", "2C", "3"])
def test_polishing_ends_where_the_gradient_vanishes_in_free_difficulties_too(model):
    design = np.array([[1.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1]])
    two_way, _, found = fitted(model, False, table(model), design)
    cells = SparseCells(0.03) if model == "3" else CELLS[model]
    likelihood = CellLikelihood(two_way, cells)
    rng = np.random.default_rng(0)
    start = found.sizes + 1e-3 * rng.normal(size=len(found.sizes)), found.c + 1e-3
    mu, c = polish(likelihood, *start)
    gradient = likelihood.value_and_gradient(mu, c, np.zeros(len(mu)))
    assert_allclose(gradient.mu, 0, atol=1e-7)
    assert_allclose(two_way.gather(gradient.c), 0, atol=1e-7)
    assert_allclose(c, found.c, atol=1e-8)


def test_rounding_off_the_kink_hardly_moves_the_fit():
    """The exact kink is likelier in its own density; both are far within a standard error of one another."""
    z = table("2L", intents=400, missing=0.1)
    two_way, variant, rounded = fitted("2L-rounded", False, z)
    exact = Laplace(rounding=0).estimate(two_way)
    assert 0 < exact.log_likelihood - rounded.log_likelihood < 0.02 * two_way.cells
    error = np.sqrt(np.diag(np.linalg.inv(variant.rows(two_way, rounded).total)))
    assert (np.abs((exact.c - exact.c.mean()) - (rounded.c - rounded.c.mean())) < error).all()
