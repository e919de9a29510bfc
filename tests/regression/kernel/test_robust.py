"""Fits of models 2L, 2C and 3 where their densities leave the range of numbers."""

import numpy as np
import pytest

from langdiff.regression import Blunders
from langdiff.regression.kernel.optimizers import Optimizer, published_parameters
from langdiff.regression.kernel.two_way import solve_two_way

PAIRS = np.sqrt(0.5) * np.array([[1.0, 0], [1, 0], [0, 1], [0, 1]])  # two groups of two editions


@pytest.mark.parametrize("distance", [700.0, 740.0, 800.0])  # nats; exp(-746) is 0
@pytest.mark.parametrize("design", [None, PAIRS])
def test_a_search_that_leaves_the_range_of_numbers_ends_unconverged_with_numbers(design, distance):
    rng = np.random.default_rng(0)
    z = rng.normal(5, 0.5, (15, 1)) + rng.normal(0, 0.01, (15, 4))
    two_way = solve_two_way(z, design)
    vanishing = two_way.intent_effect + distance, two_way.edition_effect - distance  # the dispersion all but 0
    found = Blunders(scale=0.02).estimate(two_way, optimizer=Optimizer(max_iterations=50), start=vanishing)
    assert not found.converged
    parameters = published_parameters(found, np.arange(4))
    assert np.isfinite(parameters.difficulty).all()
    assert np.isfinite(parameters.log_intent_size).all()
    np.testing.assert_allclose(np.exp(parameters.difficulty).mean(), 1.0)
    assert "laplace_scale=0.02 is too large" in found.message
