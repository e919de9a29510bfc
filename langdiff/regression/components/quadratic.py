r"""Variance components of crossed and nested random effects, by equating sums of squares with what they expect.

For an effect α with levels a of :math:`n_a` observations, :math:`T_\alpha = \sum_a (\sum_{k \in a} z_k)^2 / n_a`. In
:math:`z = \mu + \sum_\beta u_\beta`, the u independent with variances :math:`\sigma^2_\beta`,

.. math:: E\,T_\alpha = N\mu^2 + \sum_\beta \sigma^2_\beta \sum_{a,b} n_{ab}^2 / n_a

with :math:`n_{ab}` observations in level a of α and b of β (Henderson 1953, method 1; Searle, Casella and McCulloch
1992, "Variance Components", section 5.3). In a complete table these are the estimators of the analysis of variance;
with missing cells they stay unbiased.
"""

from collections.abc import Sequence

import numpy as np

from langdiff._types import Booleans, Floats, Integers
from langdiff.errors import DataError

SINGULAR = 1e10  # condition beyond which effects cannot be told apart


def components(z: Floats, effects: Sequence[Integers]) -> Floats:
    """Return the variance of each effect and, last, of the residual; estimates may be negative.

    Parameters
    ----------
    z : ndarray, shape (N,)
        Observations.
    effects : sequence of ndarray of int, shape (N,)
        Level of each observation, from 0 up, for each effect; the residual, with a level of each observation, left out.

    Raises
    ------
    DataError
        If the observations do not tell the effects apart.

    Examples
    --------
    >>> rows, columns = np.repeat([0, 1], 2), np.tile([0, 1], 2)
    >>> components(np.array([1.0, 2.0, 3.0, 6.0]), [rows, columns]).tolist()
    [4.0, 1.5, 1.0]
    """
    centred = z - z.mean()  # no estimate depends on the level, and digits are kept
    levels = [np.unique(effect, return_inverse=True)[1] for effect in effects]
    total = np.zeros(len(z), dtype=int)
    sums = np.array([_sum_of_squares(centred, each) for each in [*levels, np.arange(len(z))]])
    count = len(levels) + 1
    expected = np.empty((count, count))
    of_mean = np.array([*(_coefficient(total, each) for each in levels), 1.0])
    for row, one in enumerate(levels):
        expected[row] = [*(_coefficient(one, other) for other in levels), one.max() + 1]
    expected[-1] = len(z)
    system = expected - of_mean
    scale = np.sqrt(np.abs(np.diag(system)))
    if not scale.all() or np.linalg.cond(system / scale[:, None] / scale) > SINGULAR:
        raise DataError("the variance components cannot be told apart: some effects have the same levels.")
    found: Floats = np.linalg.solve(system, sums - _sum_of_squares(centred, total))
    return found


def _sum_of_squares(z: Floats, levels: Integers) -> float:
    sums, counts = np.bincount(levels, z), np.bincount(levels)
    return float((sums**2 / counts).sum())


def _coefficient(one: Integers, other: Integers) -> float:
    """Return the sum over levels a and b of n_ab² / n_a."""
    joint, counts = np.unique(one.astype(np.int64) * (int(other.max()) + 1) + other, return_counts=True)
    of_one = np.bincount(one)[joint // (int(other.max()) + 1)]
    return float((counts**2 / of_one).sum())


def jackknife(z: Floats, effects: Sequence[Integers], units: Integers, groups: int) -> Floats:
    """Return components without each of some groups of units, such as editions, shape (groups, effects + 1).

    Parameters
    ----------
    z, effects
        The same as for `components`.
    units : ndarray of int, shape (N,)
        Unit of each observation; unit u is in group u modulo `groups`.
    groups : int
        Number of groups.
    """
    found = []
    for group in range(groups):
        kept: Booleans = units % groups != group
        found.append(components(z[kept], [effect[kept] for effect in effects]))
    return np.array(found)
