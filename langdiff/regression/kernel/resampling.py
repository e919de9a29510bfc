"""Uncertainty from what the fit becomes with other intents: the bootstrap, and leaving groups of them out."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from langdiff._types import Booleans, Floats, Integers
from langdiff.errors import DataError
from langdiff.regression.kernel.connected import edition_components

DEVIATIONS = 100  # of difficulties, that the inflation is estimated from: 7 % of a standard error
PULL = 20  # groups that the pooled inflation counts for beside a unit's own
FEWEST_GROUPS, MOST_GROUPS = 5, 50
MOST_REDRAWN = 0.1  # of the samples; more, and those that are left are not representative


def bootstrap_draws(
    observed: Booleans,
    estimate: Callable[[Integers], Floats | None],
    *,
    replicates: int,
    rng: np.random.Generator,
) -> Floats:
    """Estimate again from samples of intents, drawn with replacement.

    Intents are the clusters: all cells of an intent come and go together, as they share its size.

    Parameters
    ----------
    observed : ndarray of bool, shape (I, U)
        Whether intent i is observed in unit u (an edition, or a group of editions).
    estimate : callable
        Takes row numbers, returns difficulties, shape (U,), or None if these rows cannot be fitted.
    replicates : int
        Number of samples.
    rng : numpy.random.Generator
        Source of all randomness.

    Returns
    -------
    ndarray, shape (replicates, U)

    Raises
    ------
    DataError
        If more than a tenth of the samples leave editions without a common intent, or no residuals;
        fewer are drawn again.
    """
    intents = len(observed)
    draws = np.empty((replicates, observed.shape[1]))
    done = redrawn = 0
    while done < replicates:
        rows = rng.integers(intents, size=intents)
        difficulties = estimate(rows) if _comparable(observed[rows]) else None
        if difficulties is None:
            redrawn += 1
            if redrawn > MOST_REDRAWN * replicates:
                raise DataError(
                    f"in {redrawn} of {done + redrawn} samples of intents some editions had no intent in common, or "
                    "no residuals: the table is too sparse for a bootstrap. Leave out the rarest editions, or use "
                    "bootstrap=0."
                )
            continue
        draws[done] = difficulties
        done += 1
    return draws


class Inflation(NamedTuple):
    """How much larger variances are than a model says, and from how many deviations that is known."""

    of_units: Floats
    pooled: float
    deviations: int


def jackknife_inflation(
    observed: Booleans,
    estimate: Callable[[Integers], Floats | None],
    covariance: Floats,
) -> Inflation:
    """Compare variances with what leaving out groups of intents, each in turn, does to the estimates.

    Every k-th intent makes a group, so that no randomness is needed. Difficulties are taken relative
    to their mean over cells, on which a rare edition has no influence. The factor of each unit is drawn
    towards the one pooled over all cells, as the few groups of a large table say little of each.

    Parameters
    ----------
    observed, estimate
        The same as for `bootstrap_draws`.
    covariance : ndarray, shape (U, U)
        Covariance of the difficulties according to a model.

    Returns
    -------
    Inflation
        With zero deviations if hardly any group can be left out, since editions would have no intent in common.

    References
    ----------
    Shao and Wu (1989), "A general theory for jackknife variance estimation": leaving out more than one
    observation at a time is right for medians too.
    """
    intents, units = observed.shape
    groups = min(intents // 2, MOST_GROUPS, max(FEWEST_GROUPS, -(-DEVIATIONS // (units - 1))))
    draws = []
    for group in range(groups):
        rows = np.flatnonzero(np.arange(intents) % groups != group)
        difficulties = estimate(rows) if _comparable(observed[rows]) else None
        if difficulties is not None:
            draws.append(difficulties)
    if len(draws) < 2:
        return Inflation(np.ones(units), 1.0, 0)
    cells = observed.sum(axis=0)
    relative = np.eye(units) - cells / cells.sum()
    variances = (groups - 1) ** 2 / groups * np.var(np.array(draws) @ relative.T, axis=0, ddof=1)
    own = variances / np.diag(relative @ covariance @ relative.T)
    pooled = float(np.average(own, weights=cells))
    freedom = len(draws) - 1
    return Inflation((freedom * own + PULL * pooled) / (freedom + PULL), pooled, freedom * (units - 1))


def _comparable(sample: Booleans) -> bool:
    return bool(sample.any(axis=0).all()) and edition_components(sample).max() == 0
