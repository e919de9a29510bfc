"""Maxima, integrals and likelihoods of many peaked functions of one variable, such as those of new intents."""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from langdiff.base.types import Floats

if TYPE_CHECKING:
    from langdiff.regression.variants.variant import Variant


GRID = 17  # points per round: each round narrows the search eightfold
ROUNDS = 10  # to a 10^-9 of the interval
PANELS, NODES = 16, 10
MOST_STEPS = 100
FIRST_STEP, FINEST_STEP = 0.5, 1e-6  # of a search for a local maximum
FARTHEST = 9.0  # standard deviations of the prior; beyond lies 1e-19 of it


def peak_between(log_f: Callable[[Floats], Floats], low: Floats, high: Floats) -> Floats:
    """Find the maxima of functions in an interval by successively finer grids.

    Parameters
    ----------
    log_f : function
        Takes points, shape (K, P), row k being arguments of function k; returns the values there.
    low, high : ndarray, shape (K,)
        Ends of the intervals.

    Returns
    -------
    ndarray, shape (K,)
        To about 1e-9 of the interval; of several peaks one that the first, coarse grid finds highest.

    Examples
    --------
    >>> peak_between(lambda x: -((x - 1) ** 2), np.array([-5.0, 2.0]), np.array([9.0, 3.0])).round(6)
    array([1., 2.])
    """
    unit = np.linspace(0, 1, GRID)
    first, last = low, high
    best = low
    for _ in range(ROUNDS):
        points = low[:, None] + (high - low)[:, None] * unit
        chosen = np.argmax(log_f(points), axis=1)
        best = points[np.arange(len(points)), chosen]
        step = (high - low) / (GRID - 1)
        low, high = np.maximum(first, best - step), np.minimum(last, best + step)
    return best


def log_integral(log_f: Callable[[Floats], Floats], start: Floats, length: Floats, finest: Floats) -> Floats:
    r"""Return the logarithm of :math:`\int e^{f}` from a peak outwards.

    The rule is composite Gauss–Legendre: the first panel is as long as the finest scale at the start, those that follow
    grow geometrically, so that a narrow peak and a long tail are both resolved.

    Parameters
    ----------
    log_f : function
        Takes points, shape (K, P), row k being arguments of function k; returns f there.
    start : ndarray, shape (K,)
        Points where f is highest, or nearly so.
    length : ndarray, shape (K,)
        Length of the interval of integration; if negative, it lies to the left. The result is positive either way.
    finest : ndarray, shape (K,)
        Length of the first panel, positive.

    Returns
    -------
    ndarray, shape (K,)
        Minus infinity where the length is 0.

    Examples
    --------
    >>> half = log_integral(lambda x: -0.5 * x**2, np.zeros(1), np.array([40.0]), np.array([0.5]))
    >>> (np.exp(half) / np.sqrt(np.pi / 2)).round(10)
    array([1.])
    """
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    far = np.abs(length)
    finest = np.minimum(finest, far)
    with np.errstate(divide="ignore", invalid="ignore"):  # intervals without length have no panels
        ratio = np.where(far > 0, far / finest, 1.0)
    edges = finest[:, None] * ratio[:, None] ** (np.arange(PANELS) / (PANELS - 1))
    edges = np.concatenate([np.zeros((len(far), 1)), edges], axis=1)  # (K, PANELS + 1)
    half = 0.5 * np.diff(edges, axis=1)[:, :, None]
    points = (edges[:, :-1, None] + half * (1 + nodes)).reshape(len(far), -1)  # (K, PANELS · NODES)
    with np.errstate(divide="ignore"):
        log_weights = np.log(half * weights).reshape(len(far), -1)
    terms = log_f(start[:, None] + np.sign(length)[:, None] * points) + log_weights
    highest = terms.max(axis=1)
    highest = np.where(np.isfinite(highest), highest, 0.0)
    with np.errstate(divide="ignore"):
        total: Floats = highest + np.log(np.exp(terms - highest[:, None]).sum(axis=1))
    return total


def climb(f: Callable[[Floats], Floats], start: Floats) -> Floats:
    """Find a local maximum of each of many functions near its start.

    Steps to either side, then to the top of the parabola through the three points; smaller steps where
    nothing is gained. Kinks slow it down and do not mislead it.

    Parameters
    ----------
    f : function
        Takes points, shape (K,), and returns values, shape (K,).
    start : ndarray, shape (K,)
        Points at which the search begins.

    Returns
    -------
    ndarray, shape (K,)

    Examples
    --------
    >>> climb(lambda x: -np.abs(x - np.array([1.0, -4.0])), np.zeros(2)).round(5)
    array([ 1., -4.])
    """
    best, value = start.copy(), f(start)
    size = np.full_like(start, FIRST_STEP)
    for _ in range(MOST_STEPS):
        below, above = f(best - size), f(best + size)
        bend = below + above - 2 * value
        with np.errstate(divide="ignore", invalid="ignore"):
            top = best + np.clip(np.where(bend < 0, 0.5 * size * (below - above) / bend, 0.0), -size, size)
        candidates = np.stack([best, best - size, best + size, top])
        values = np.stack([value, below, above, f(top)])
        chosen = values.argmax(axis=0)
        best, value = candidates[chosen, np.arange(len(best))], values.max(axis=0)
        size = np.where((chosen == 1) | (chosen == 2), 2 * size, 0.25 * size)
        if size.max() < FINEST_STEP:
            break
    return best


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
    return np.where(values[0] >= values[1], *found)


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
    return np.logaddexp(log_integral(log_joint, peak, right, finest), log_integral(log_joint, peak, -left, finest))
