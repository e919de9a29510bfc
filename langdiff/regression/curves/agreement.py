"""Correlations between sizes, and pairs of editions that change places, as arrays."""

from typing import NamedTuple

import numpy as np
from scipy.stats import false_discovery_control, rankdata
from scipy.stats import t as student

from langdiff.base.types import Booleans, Floats, Integers


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
    reflected at the estimate (basic bootstrap): what a draw is below the estimate, the truth may be above it. Pearson's
    are reflected as angles between the vectors of difficulties, which errors turn by as much whether they are wide or
    narrow (Fisher's scale is for samples of editions); Spearman's, which take few values where editions are few, as
    they are.

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
    angle = np.arccos(np.clip(found, -1, 1))
    narrow, wide = np.quantile(np.arccos(np.clip(correlations(draws), -1, 1)), [0.025, 0.975], axis=0)
    return found, np.cos(np.minimum(2 * angle - narrow, np.pi)), np.cos(np.maximum(2 * angle - wide, 0))


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


def find_changes(
    before: Floats, after: Floats, covariances: tuple[Floats, Floats], freedom: tuple[Floats, Floats]
) -> Changes:
    """Test for every pair whether the one is harder at one size and the other at another.

    Both differences must be told from 0, and have opposite signs: p is the larger of the two two-sided p-values
    (intersection-union test), and 1 where the signs are alike. Adjusted by Benjamini and Hochberg over all pairs.

    Parameters
    ----------
    before, after : ndarray, shape (J,)
        Difficulties at the two sizes.
    covariances : pair of ndarray, shape (J, J)
        Their covariances.
    freedom : pair of ndarray, shape (J, J)
        Degrees of freedom of Student's t of their differences.
    """
    one, other = np.triu_indices(len(before), 1)
    differences, p_values = [], []
    for values, covariance, degrees in zip((before, after), covariances, freedom, strict=True):
        difference = values[one] - values[other]
        variance = np.diag(covariance)[one] + np.diag(covariance)[other] - 2 * covariance[one, other]
        with np.errstate(divide="ignore", invalid="ignore"):
            p = 2 * student.sf(np.abs(difference) / np.sqrt(variance), degrees[one, other])
        differences.append(difference)
        p_values.append(np.where(np.isnan(p), 1.0, p))
    p = np.where(differences[0] * differences[1] < 0, np.maximum(*p_values), 1.0)
    return Changes(one, other, differences[0], differences[1], p, false_discovery_control(p))
