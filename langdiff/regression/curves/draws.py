r"""Draws of log bits, joint over editions and sizes, by resampling of intents and from the spread of seeds.

Language models of seed r are off by :math:`l^r_k + a^r_{jk}` at size k: l for all editions, a for each. The sizes of a
seed are beginnings of one order, so that both go together over sizes. With R seeds the covariances between sizes are

.. math:: C^a = \frac{\sum_{r,j} a^r_j a^{r\top}_j}{(R - 1)(J - 1)}, \qquad C^l = \frac{\sum_r l^r l^{r\top}}{R - 1}

of one seed, and those of the mean over seeds an R-th of them.

With them come correlations between sizes, pairs of editions that change places, and the size at which a curve reaches a
value.
"""

from typing import NamedTuple

import numpy as np
from scipy.stats import false_discovery_control, rankdata

from langdiff.base.types import Booleans, Floats, Integers
from langdiff.tables.rule import draw_interval, t_p


class SeedSpread(NamedTuple):
    """Covariances between sizes of the error of the mean over seeds, shape (K, K): per edition, and common to all."""

    of_editions: Floats
    of_level: Floats


def seed_spread(by_seed: Floats) -> SeedSpread:
    """Return the spread of the mean over seeds; zeros for one seed.

    Shapes: by_seed (R, J, K).
    """
    seeds, editions, sizes = by_seed.shape
    if seeds < 2:
        return SeedSpread(np.zeros((sizes, sizes)), np.zeros((sizes, sizes)))
    off = by_seed - by_seed.mean(axis=0)
    level = off.mean(axis=1)
    own = off - level[:, None]
    of_editions = np.einsum("rjk,rjl->kl", own, own) / ((seeds - 1) * (editions - 1))
    return SeedSpread(of_editions / seeds, level.T @ level / (seeds - 1) / seeds)


def joint_draws(
    log_bits: Floats, influence: Floats, spread: SeedSpread, n_draws: int, rng: np.random.Generator
) -> Floats:
    """Draw ln B from samples of clusters, with replacement, the same for all sizes, and from the spread of seeds.

    Shapes: log_bits (J, K); influence (G, J, K).
    """
    clusters = len(influence)
    times = rng.multinomial(clusters, np.full(clusters, 1 / clusters), size=n_draws) - 1.0
    draws: Floats = log_bits + (times @ influence.reshape(clusters, -1)).reshape(n_draws, *log_bits.shape)
    if spread.of_editions.any():
        own = rng.multivariate_normal(np.zeros(log_bits.shape[1]), spread.of_editions, (n_draws, len(log_bits)))
        draws += own - own.mean(axis=1, keepdims=True)
        draws += rng.multivariate_normal(np.zeros(log_bits.shape[1]), spread.of_level, (n_draws, 1))
    return draws


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

    Shapes: values (J, K); draws (D, J, K).
    """
    if ranks:
        values, draws = rankdata(values, axis=0), rankdata(draws, axis=1)
    found = correlations(values)
    if ranks:
        low, high = draw_interval(correlations(draws))
        return found, np.clip(2 * found - high, -1, 1), np.clip(2 * found - low, -1, 1)
    angle = np.arccos(np.clip(found, -1, 1))
    narrow, wide = draw_interval(np.arccos(np.clip(correlations(draws), -1, 1)))
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
    """Test for every pair of editions whether their order changes between two sizes.

    Both differences must be told from 0, and have opposite signs: p is the larger of the two two-sided p-values
    (intersection-union test), and 1 where the signs are alike. Adjusted by Benjamini and Hochberg over all pairs.

    Shapes: before, after (J,); covariances (J, J); freedom (J, J).
    """
    one, other = np.triu_indices(len(before), 1)
    differences, p_values = [], []
    for values, covariance, degrees in zip((before, after), covariances, freedom, strict=True):
        difference = values[one] - values[other]
        variance = np.diag(covariance)[one] + np.diag(covariance)[other] - 2 * covariance[one, other]
        p = t_p(difference, np.sqrt(np.maximum(variance, 0)), degrees[one, other])
        differences.append(difference)
        p_values.append(np.where(np.isnan(p), 1.0, p))
    p = np.where(differences[0] * differences[1] < 0, np.maximum(*p_values), 1.0)
    return Changes(one, other, differences[0], differences[1], p, false_discovery_control(p))


def sizes_reached(log_bits: Floats, log_sizes: Floats, target: Floats) -> Floats:
    """Return the logarithm of the first size at which log bits are as low as a target.

    Shapes: log_bits (..., K); log_sizes (K,); target (...).

    Examples
    --------
    >>> sizes_reached(np.array([2.0, 1.0, 0.0]), np.array([0.0, 1.0, 3.0]), np.array(0.5)).item()
    2.0
    """
    reached = np.where(log_bits[..., 0] <= target, -np.inf, np.inf)
    for k in range(1, len(log_sizes)):
        before, after = log_bits[..., k - 1], log_bits[..., k]
        here = np.isposinf(reached) & (after <= target)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = (before - target) / (before - after)
        reached = np.where(here, log_sizes[k - 1] + share * (log_sizes[k] - log_sizes[k - 1]), reached)
    return reached


def value_at(log_bits: Floats, log_sizes: Floats, log_size: float) -> Floats:
    """Return log bits at a size between the sizes, (..., K) → (...)."""
    k = int(np.clip(np.searchsorted(log_sizes, log_size) - 1, 0, len(log_sizes) - 2))
    share = (log_size - log_sizes[k]) / (log_sizes[k + 1] - log_sizes[k])
    value: Floats = (1 - share) * log_bits[..., k] + share * log_bits[..., k + 1]
    return value
