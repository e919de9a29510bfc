r"""Samples of log bits, joint over editions and sizes: intents drawn anew, and the spread between seeds.

Language models of seed r are off by :math:`l^r_k + a^r_{jk}` at size k: l for all editions, a for each. The sizes of a
seed are beginnings of one order, so that both go together over sizes. With R seeds the covariances between sizes are

.. math:: C^a = \frac{\sum_{r,j} a^r_j a^{r\top}_j}{(R - 1)(J - 1)}, \qquad C^l = \frac{\sum_r l^r l^{r\top}}{R - 1}

of one seed, and those of the mean over seeds an R-th of them.
"""

from typing import NamedTuple

import numpy as np

from langdiff.base.types import Floats


class SeedSpread(NamedTuple):
    """Covariances between sizes of what the mean over seeds is off by, shape (K, K): of each edition, and of all."""

    of_editions: Floats
    of_level: Floats


def seed_spread(by_seed: Floats) -> SeedSpread:
    """Return the spread of the mean over seeds; zeros for one seed.

    Parameters
    ----------
    by_seed : ndarray, shape (R, J, K)
        ln B from the tables of each seed.
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

    Parameters
    ----------
    log_bits : ndarray, shape (J, K)
        Estimates.
    influence : ndarray, shape (G, J, K)
        Influence of each cluster of intents.
    spread : SeedSpread
        Spread of the mean over seeds.
    n_draws : int
        Number of samples, D.
    rng : numpy.random.Generator
        Source of the samples.

    Returns
    -------
    ndarray, shape (D, J, K)
    """
    clusters = len(influence)
    times = rng.multinomial(clusters, np.full(clusters, 1 / clusters), size=n_draws) - 1.0
    draws: Floats = log_bits + (times @ influence.reshape(clusters, -1)).reshape(n_draws, *log_bits.shape)
    if spread.of_editions.any():
        own = rng.multivariate_normal(np.zeros(log_bits.shape[1]), spread.of_editions, (n_draws, len(log_bits)))
        draws += own - own.mean(axis=1, keepdims=True)
        draws += rng.multivariate_normal(np.zeros(log_bits.shape[1]), spread.of_level, (n_draws, 1))
    return draws
