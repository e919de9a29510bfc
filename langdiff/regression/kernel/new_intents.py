"""Likelihood of intents outside a fit: difficulties and dispersion are known, only sizes are estimated."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from langdiff.base.types import Floats
from langdiff.regression.kernel.quadrature import climb, log_integral

if TYPE_CHECKING:
    from langdiff.regression.variants.variant import Variant

FARTHEST = 9.0  # standard deviations of the prior; beyond lies 1e-19 of it


class SizePrior(NamedTuple):
    """A normal distribution of ln n."""

    mean: float
    std: float

    def log_density(self, m: Floats) -> Floats:
        """Return the log-density of ln n."""
        density: Floats = -0.5 * (np.log(2 * np.pi * self.std**2) + ((m - self.mean) / self.std) ** 2)
        return density


class KnownEditions(NamedTuple):
    """Parameters of a fit that apply to intents outside it."""

    variant: "Variant"
    difficulty: Floats  # shape (J,)
    kappa: float | Floats  # of all editions, or shape (J,)
    sizes: tuple[float, float] = (0.0, 12.0)  # range of ln n to be expected

    @property
    def typical(self) -> float:
        """The dispersion, or the mean of those of the editions."""
        return float(np.mean(self.kappa))

    def cells(self, z: Floats, m: Floats) -> Floats:
        """Return the log-density of each cell, shape (I, J); NaN where z is."""
        return self.variant.log_density_of_cells(z, m, self.difficulty, self.kappa, self.sizes)

    def rows(self, z: Floats, m: Floats) -> Floats:
        """Return the log-density of each row's observed cells together, shape (I,); 0 where it has none."""
        density: Floats = np.nansum(self.cells(z, m), axis=1)
        return density


def most_likely_sizes(
    z: Floats, editions: KnownEditions, prior: SizePrior, rng: np.random.Generator, *, use_prior: bool = False
) -> Floats:
    """Fit ln n of every row by maximum likelihood from two starts, one of them random (appendix C).

    The sensible start is the size at which the row's mean bits, each over its edition's factor, are those
    that the fit expects; the random one is drawn from `prior`.

    Parameters
    ----------
    z : ndarray, shape (I, J)
        Log surprisals, NaN where missing.
    editions : KnownEditions
        The model, its difficulties and dispersion.
    prior : SizePrior
        Prior distribution of the sizes of intents.
    rng : numpy.random.Generator
        Source of the random start.
    use_prior : bool
        Find the peak of the posterior under `prior`, not under a flat prior of ln n.

    Returns
    -------
    ndarray, shape (I,)
    """

    def objective(m: Floats) -> Floats:
        values = editions.rows(z, m)
        return values + prior.log_density(m) if use_prior else values

    units = np.exp(z - editions.difficulty)
    common = editions.variant.common_variance  # then n is the median, not the mean
    growth = 0.0 if common else 0.5 * np.log1p(editions.typical)
    observed = ~np.isnan(z)
    mean = np.nansum(units, axis=1) / np.maximum(observed.sum(axis=1), 1)
    sensible = np.where(mean > 0, np.log(np.where(mean > 0, mean, 1.0)) - growth, prior.mean)
    found = [climb(objective, start) for start in (sensible, rng.normal(prior.mean, prior.std, len(z)))]
    values = [objective(m) for m in found]
    best: Floats = np.where(values[0] >= values[1], *found)
    return best


def log_marginal(z: Floats, editions: KnownEditions, prior: SizePrior, rng: np.random.Generator) -> Floats:
    r"""Return the log-density of each row with its size integrated out, :math:`\ln\int p(z_i \mid m)\, p(m)\, dm`.

    By quadrature from the peak of the posterior outwards, in panels that grow: it needs no smoothness
    at the peak, where model 2L has kinks, and it sees as far as the prior reaches.

    Parameters
    ----------
    z, editions, prior, rng
        The same as in `most_likely_sizes`.

    Returns
    -------
    ndarray, shape (I,)
        0 for a row without cells.
    """
    peak = most_likely_sizes(z, editions, prior, rng, use_prior=True)

    def log_joint(points: Floats) -> Floats:
        columns = [editions.rows(z, m) + prior.log_density(m) for m in points.T]
        return np.stack(columns, axis=1)

    common = editions.variant.common_variance
    v = np.log1p(editions.typical) if common else np.logaddexp(0.0, np.log(editions.typical) - peak)
    cells = np.maximum((~np.isnan(z)).sum(axis=1), 1)
    finest = 0.25 * np.minimum(np.sqrt(v / cells), prior.std)
    # as far as the prior reaches, and from a peak beyond it as far as the prior is wide
    right = np.maximum(prior.mean + FARTHEST * prior.std - peak, prior.std)
    left = np.maximum(peak - prior.mean + FARTHEST * prior.std, prior.std)
    total: Floats = np.logaddexp(
        log_integral(log_joint, peak, right, finest), log_integral(log_joint, peak, -left, finest)
    )
    return total
