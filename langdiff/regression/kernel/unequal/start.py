"""Where a search under unequal noise begins."""

import numpy as np

from langdiff.base.types import Floats, Integers
from langdiff.errors import DataError
from langdiff.regression.kernel.two_way import solve_two_way
from langdiff.regression.kernel.unequal.search import Found, Problem

LEAST_START = 0.1  # of the mean variance, so that a search does not begin near the boundary


def start_of_model_1(z: Floats, group: Integers, normal: bool, design: Floats | None) -> Floats:
    """Return free parameters from least squares, the variances apart but none near the boundary, shape (P,).

    Raises
    ------
    DataError
        If least squares leave no residuals.
    """
    two_way = solve_two_way(z, design)
    if two_way.sum_of_squares <= 0:
        raise DataError("the residuals vanish: every edition is an exact multiple of every other. Are they copies?")
    pooled = two_way.sum_of_squares / max(two_way.degrees_of_freedom, 1)
    squares = np.bincount(group, (two_way.residual**2).sum(axis=0))
    own = squares / np.bincount(group, two_way.cells_per_edition)
    variance = pooled * np.maximum(own / own.mean(), LEAST_START)
    c = two_way.edition_effect
    levels = c if design is None else np.linalg.lstsq(design, c)[0]
    prior = np.empty(0)
    if normal:
        m = two_way.intent_effect
        total = float(np.var(m))
        between = total - pooled * float(np.mean(1 / two_way.cells_per_intent))
        prior = np.array([m.mean(), 0.5 * np.log(max(between, LEAST_START * total, pooled * LEAST_START))])
    return np.concatenate([levels, np.log(variance), prior])


def start_of_model_2(problem: Problem, found: Found, group: Integers) -> Floats:
    """Return free parameters with the variances of model 1 at the median row."""
    n_groups = int(group.max()) + 1
    levels = problem.spread.shape[1] - n_groups - 2 * (problem.spread.shape[0] > 2 * len(group))
    variance = np.exp(found.free[levels : levels + n_groups])
    variance = np.maximum(variance, LEAST_START * variance.mean())
    start = found.free.copy()
    # c + s²/2 is D; under a design, the nearest to it
    spread = problem.spread[: len(group), :levels]
    start[:levels] += np.linalg.lstsq(spread, 0.5 * variance[group])[0]
    start[levels : levels + n_groups] = np.median(found.rows.sizes) + np.log(np.expm1(variance))
    return start
