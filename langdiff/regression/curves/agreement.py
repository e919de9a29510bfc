"""Correlations between sizes, and pairs of editions that change places, as arrays."""

from typing import NamedTuple

import numpy as np
from scipy.stats import false_discovery_control, rankdata
from scipy.stats import t as student

from langdiff._types import Booleans, Floats, Integers

LARGEST = 1 - 1e-12  # correlation whose transform is finite


def correlations(values: Floats) -> Floats:
    """Return Pearson's correlations between sizes over editions, (..., J, K) → (..., K, K)."""
    centred = values - values.mean(axis=-2, keepdims=True)
    products = np.swapaxes(centred, -1, -2) @ centred
    scale = np.sqrt(np.diagonal(products, axis1=-2, axis2=-1))
    result: Floats = products / (scale[..., :, None] * scale[..., None, :])
    return result


def correlation_intervals(values: Floats, draws: Floats, *, ranks: bool) -> tuple[Floats, Floats, Floats]:
    """Return correlations between sizes with 95 % intervals, three of shape (K, K).

    Errors make estimates less alike than the truth is, and those of a draw come on top. The intervals are therefore
    reflected at the estimate (basic bootstrap): what a draw is below the estimate, the truth may be above it; Pearson's
    on Fisher's scale, and Spearman's, which take few values where editions are few, as they are.

    Parameters
    ----------
    values : ndarray, shape (J, K)
        Difficulties.
    draws : ndarray, shape (D, J, K)
        Their draws.
    ranks : bool
        Whether to take Spearman's correlations.
    """
    if ranks:
        values, draws = rankdata(values, axis=0), rankdata(draws, axis=1)
    found = correlations(values)
    if ranks:
        low, high = np.quantile(correlations(draws), [0.025, 0.975], axis=0)
        return found, np.clip(2 * found - high, -1, 1), np.clip(2 * found - low, -1, 1)
    centre = _transformed(found)
    low, high = np.quantile(_transformed(correlations(draws)), [0.025, 0.975], axis=0)
    return found, np.tanh(2 * centre - high), np.tanh(2 * centre - low)


def _transformed(correlation: Floats) -> Floats:
    result: Floats = np.arctanh(np.clip(correlation, -LARGEST, LARGEST))
    return result


class Changes(NamedTuple):
    """Pairs of editions, j before k, and whether they change places between two sizes; all of shape (P,)."""

    one: Integers
    other: Integers
    before: Floats  # difference of difficulties, one less other
    after: Floats
    p: Floats
    p_adjusted: Floats

    @property
    def observed(self) -> Booleans:
        """Whether the estimates change places."""
        changed: Booleans = self.before * self.after < 0
        return changed


def find_changes(before: Floats, after: Floats, covariances: tuple[Floats, Floats], freedom: float) -> Changes:
    """Test for every pair whether the one is harder at one size and the other at another.

    Both differences must be told from 0, and have opposite signs: p is the larger of the two two-sided p-values
    (intersection-union test), and 1 where the signs are alike. Adjusted by Benjamini and Hochberg over all pairs.

    Parameters
    ----------
    before, after : ndarray, shape (J,)
        Difficulties at the two sizes.
    covariances : pair of ndarray, shape (J, J)
        Their covariances.
    freedom : float
        Degrees of freedom of Student's t.
    """
    one, other = np.triu_indices(len(before), 1)
    differences, p_values = [], []
    for values, covariance in zip((before, after), covariances, strict=True):
        difference = values[one] - values[other]
        variance = np.diag(covariance)[one] + np.diag(covariance)[other] - 2 * covariance[one, other]
        with np.errstate(divide="ignore", invalid="ignore"):
            p = 2 * student.sf(np.abs(difference) / np.sqrt(variance), freedom)
        differences.append(difference)
        p_values.append(np.where(np.isnan(p), 1.0, p))
    p = np.where(differences[0] * differences[1] < 0, np.maximum(*p_values), 1.0)
    return Changes(one, other, differences[0], differences[1], p, false_discovery_control(p))
