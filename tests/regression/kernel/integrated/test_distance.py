"""The distance between fits with fixed and random intents, and the influences it is made of."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from langdiff.errors import ConfigError
from langdiff.regression.kernel.integrated.comparisons import distance_of_fits, influence_of_fixed
from langdiff.regression.kernel.integrated.random import estimate_random
from langdiff.regression.kernel.two_way import solve_two_way
from langdiff.regression.variants import find_variant

DELETED = 0.15  # of an influence, that leaving the row out says otherwise, at 60 rows


def draw(intents, editions, seed=0, *, by_first=False):
    """Return log surprisals of model 1; cells are missing at random, or where the first edition's are large."""
    rng = np.random.default_rng(seed)
    z = 4 + rng.normal(0, 0.6, (intents, 1)) + rng.normal(0, 0.17, (intents, editions))
    odds = 2 * (z[:, :1] - 4) / 0.6 - 1.5 if by_first else np.full((intents, 1), -1.0)
    gone = rng.random(z.shape) < 1 / (1 + np.exp(-odds))
    gone[:, 0] = False
    z[gone] = np.nan
    return z[(~gone).sum(axis=1) > 1]


def fit_fixed(z, model):
    """Of model 2 the restricted fit."""
    table, restricted = solve_two_way(z), model != "1"
    found = find_variant(model).estimate(table, restricted=restricted)
    return found.c, influence_of_fixed(table, model=model, c=found.c, sizes=found.sizes, restricted=restricted)


def fit_random(z, model):
    found = estimate_random(z, model=model, max_iterations=100)
    return found.c, found.influence()


def centred(c):
    return c - c.mean(axis=-1, keepdims=True)


@pytest.mark.parametrize("model", ["1", "2"])
@pytest.mark.parametrize("fit", [fit_fixed, fit_random])
def test_influence_is_what_leaving_a_row_out_does(fit, model):
    z = draw(60, 4)
    c, influence = fit(z, model)
    assert_allclose(influence.sum(axis=0), 0, atol=1e-6)
    for row in range(0, len(z), 7):
        moved = centred(c) - centred(fit(np.delete(z, row, axis=0), model)[0])
        size = np.abs(centred(influence)).max()
        assert_allclose(centred(influence[row]), moved, atol=DELETED * size)


def test_complete_tables_of_model_1_have_no_distance():
    z = np.random.default_rng(0).normal(size=(50, 4))
    found = distance_of_fits(*fit_fixed(z, "1"), *fit_random(z, "1"))
    assert_allclose(found.difference, 0, atol=1e-9)
    assert (found.statistic, found.p_value) == (0.0, 1.0)


@pytest.mark.parametrize("model", ["1", "2"])
def test_selection_on_an_observed_score_shows(model):
    z = draw(1000, 5, by_first=True)
    found = distance_of_fits(*fit_fixed(z, model), *fit_random(z, model))
    assert found.p_value < 1e-6
    at_random = draw(1000, 5)
    assert distance_of_fits(*fit_fixed(at_random, model), *fit_random(at_random, model)).p_value > 1e-3


def test_the_level_of_c_does_not_matter():
    z = draw(300, 4, by_first=True)
    fixed, random = fit_fixed(z, "1"), fit_random(z, "1")
    one = distance_of_fits(*fixed, *random)
    other = distance_of_fits(fixed[0] + 3.0, fixed[1], random[0], random[1] + 1e-3)
    assert one.statistic == pytest.approx(other.statistic, rel=1e-9)


def test_model_without_influences_is_refused():
    z = draw(50, 4)
    with pytest.raises(ConfigError, match="'1' and '2', not '2L'"):
        influence_of_fixed(solve_two_way(z), model="2L", c=np.zeros(4), sizes=np.zeros(len(z)))
