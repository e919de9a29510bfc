"""Uncertainty from what the fit becomes with other intents: the bootstrap, and leaving groups of them out."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from langdiff.errors import DataError
from langdiff.regression._connected import edition_components

Floats = npt.NDArray[np.float64]

DEVIATIONS = 100  # of difficulties, that the inflation is estimated from: 7 % of a standard error
FEWEST_GROUPS, MOST_GROUPS = 5, 50
MOST_REDRAWN = 0.1  # of the samples; more, and what is left is not a sample of samples


def bootstrap_draws(
    observed: npt.NDArray[np.bool_],
    estimate: Callable[[npt.NDArray[np.int_]], Floats],
    *,
    replicates: int,
    rng: np.random.Generator,
) -> Floats:
    """Estimate again from samples of intents, drawn with replacement.

    Intents are the clusters: all cells of an intent come and go together, as they share its size.

    Parameters
    ----------
    observed : ndarray of bool, shape (I, U)
        Which intents have which units (editions, or groups of them).
    estimate : callable
        Takes row numbers, returns difficulties, shape (U,).
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
        If more than a tenth of the samples leave editions without a common intent; fewer are drawn again.
    """
    intents = len(observed)
    draws = np.empty((replicates, observed.shape[1]))
    done = redrawn = 0
    while done < replicates:
        rows = rng.integers(intents, size=intents)
        sample = observed[rows]
        if not sample.any(axis=0).all() or edition_components(sample).max() > 0:
            redrawn += 1
            if redrawn > MOST_REDRAWN * replicates:
                raise DataError(
                    f"in {redrawn} of {done + redrawn} samples of intents some editions had no intent in common: "
                    "the table is too sparse for a bootstrap. Leave out the rarest editions, or use bootstrap=0."
                )
            continue
        draws[done] = estimate(rows)
        done += 1
    return draws


def jackknife_variances(
    observed: npt.NDArray[np.bool_], estimate: Callable[[npt.NDArray[np.int_]], Floats]
) -> Floats | None:
    """Estimate the variance of each difficulty by leaving out groups of intents, each in turn.

    Every k-th intent makes a group, so that no randomness is needed. Alone these variances are rough;
    their sum is not.

    Parameters
    ----------
    observed, estimate
        As for `bootstrap_draws`.

    Returns
    -------
    ndarray, shape (U,), or None
        None if some group cannot be spared: without it editions have no intent in common.

    References
    ----------
    Shao and Wu (1989), "A general theory for jackknife variance estimation": leaving out more than one
    observation at a time is right for medians too.
    """
    intents, units = observed.shape
    groups = min(intents // 2, MOST_GROUPS, max(FEWEST_GROUPS, -(-DEVIATIONS // (units - 1))))
    if groups < 2:
        return None
    draws = []
    for group in range(groups):
        rows = np.flatnonzero(np.arange(intents) % groups != group)
        sample = observed[rows]
        if not sample.any(axis=0).all() or edition_components(sample).max() > 0:
            return None
        draws.append(estimate(rows))
    variances: Floats = (groups - 1) * np.var(draws, axis=0)
    return variances
