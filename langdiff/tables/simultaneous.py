r"""Inference that holds for a family of contrasts together, by draws of the largest statistic (max-t).

A sandwich over G clusters has rank G − 1, and every contrast has a variance estimate of its own. Contrasts are
therefore drawn from a reference covariance R of full rank, :math:`x \sim N(0, R)`, and the statistic of contrast l is

.. math:: t_l = \frac{|l^\top x|}{\sqrt{l^\top R l}\,\sqrt{\chi^2_l/\nu_l}}

with one χ² for each contrast; or with one for all where they share one estimate of the variance, as with errors from
the information. Statistics of unequal degrees of freedom are compared on the scale of Wallace (1959, Ann. Math. Stat.
30).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array
from scipy.special import stdtr, stdtrit

from langdiff.base.types import ROUNDING, Booleans, Floats, generator
from langdiff.tables.rule import drawn_p

MOST_DRAWS, FEWEST_DRAWS = 20_000, 4_000
MOST_VALUES = 5e7  # statistics drawn for a family, above which there are fewer draws
BLOCK, BLOCK_VALUES = 500, 2_500_000  # draws held in memory at once, and statistics
ROWS = 50  # contrasts whose statistics are computed at once
MOST_MEMBERS = 200  # of whose pairs statistics are drawn
MOST_DRAWN = 20_000  # contrasts that are drawn by a factor of their own
KNOWN = 1e6  # degrees of freedom from which a variance is as good as known


@dataclass(frozen=True, kw_only=True, eq=False)
class Family:
    """Contrasts that are tested together.

    Attributes
    ----------
    weights : csr_array, shape (M, J), or None
        Weights of the contrasts; None with a `factor`.
    estimate, std_error, freedom : ndarray, shape (M,)
        Contrasts with their standard errors and degrees of freedom.
    reference : ndarray, shape (J, J), or None
        Covariance of full rank that is drawn from; None if there is none, so that Bonferroni's bound is used.
    shared : bool
        Whether one estimate of the variance is behind all standard errors.
    one_sided : bool
        Whether only positive contrasts count.
    factor : ndarray, shape (K, M), or None
        E, with which the contrasts themselves are drawn as wE for K normal numbers w, where the covariance of what they
        are contrasts of is too large: with the influences of clusters as rows, the multiplier bootstrap.
    """

    weights: csr_array | None
    estimate: Floats
    std_error: Floats
    freedom: Floats
    reference: Floats | None
    shared: bool
    one_sided: bool = False
    factor: Floats | None = None

    @cached_property
    def tied(self) -> Booleans:
        """Whether each contrast is known without error, so that it does not belong to the family, shape (M,)."""
        tied: Booleans = self.std_error == 0
        return tied

    @cached_property
    def statistic(self) -> Floats:
        """T of each contrast, shape (M,); 0 if `tied`."""
        values = self.estimate if self.one_sided else np.abs(self.estimate)
        return np.where(self.tied, 0.0, values / np.where(self.tied, 1.0, self.std_error))

    @cached_property
    def p_value(self) -> Floats:
        """Single p-value of each contrast, shape (M,); if it is known without error 1 if it is 0, otherwise 0."""
        sides = 1 if self.one_sided else 2
        exact = (self.estimate <= ROUNDING) if self.one_sided else (np.abs(self.estimate) <= ROUNDING)
        return np.where(self.tied, exact.astype(float), sides * stdtr(self.freedom, -self.statistic))

    @property
    def size(self) -> int:
        """Number of contrasts that are not known without error."""
        return int((~self.tied).sum())

    @cached_property
    def bound(self) -> str:
        """Reason why Bonferroni's bound is used in place of draws; empty if it is not."""
        if self.factor is not None and self.size > MOST_DRAWN:
            return f"there are more than {MOST_DRAWN:,} contrasts"
        if self.factor is None and self.size > MOST_MEMBERS * (MOST_MEMBERS - 1) // 2:
            return f"there are more than {MOST_MEMBERS} effects"
        if self.factor is None and self.reference is None:
            return "the joint distribution is known for clusters only"
        open_ = ~self.tied
        if not np.isfinite(self._spread).all() or (self._spread[open_] == 0).any():
            return "the joint distribution is not known"
        return ""

    @cached_property
    def _spread(self) -> Floats:
        """Standard deviation of each contrast in draws, shape (M,)."""
        if self.factor is not None:
            squared: Floats = np.einsum("km,km->m", self.factor, self.factor)
            return np.sqrt(squared)
        if self.reference is None or self.weights is None:
            return np.ones(len(self.freedom))
        return spread(self.weights, self.reference)

    def _roots(self) -> list[Floats | csr_array]:
        """Return matrices whose product with normal numbers are contrasts of variance 1, the first applied first."""
        open_ = ~self.tied
        if self.factor is not None:
            return [(self.factor[:, open_] / self._spread[open_]).T]
        if self.weights is None or self.reference is None:
            return []
        values, vectors = np.linalg.eigh(self.reference)
        root = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T  # symmetric, so the same on every machine
        return [root, csr_array(self.weights[open_] / self._spread[open_, None])]

    def maxima(self, seed: int | np.random.Generator = 0, n_draws: int | None = None) -> Floats:
        """Draw the largest statistic of the family, on the normal scale."""
        if self.size < 2 or self.bound:
            return np.zeros(0)
        n_draws = n_draws or number_of_draws(self.size)
        rng, roots, freedom = generator(seed), self._roots(), self.freedom[~self.tied]
        found, block = np.empty(n_draws), min(BLOCK, max(1, BLOCK_VALUES // self.size))
        for start in range(0, n_draws, block):
            drawn = found[start : start + block]
            z = rng.standard_normal((roots[0].shape[1], len(drawn)))
            for root in roots:
                z = root @ z
            drawn[:] = self._largest(z, freedom, rng)
        found.sort()
        return found

    def _largest(self, z: Floats, freedom: Floats, rng: np.random.Generator) -> Floats:
        """Return the largest statistic of each column of normal contrasts z, shape (M, block), on the normal scale."""
        if self.one_sided:
            np.maximum(z, 0, out=z)
        np.square(z, out=z)
        if freedom.min() >= KNOWN:
            known: Floats = np.sqrt(z.max(axis=0))
            return known
        alike = bool((freedom == freedom[0]).all())
        if self.shared and alike:
            highest = z.max(axis=0) / (2 * rng.standard_gamma(freedom[0] / 2, z.shape[1]))
            return to_normal(np.sqrt(highest * freedom[0]), freedom[0])
        highest, chi = np.zeros(z.shape[1]), np.empty((ROWS, z.shape[1]))
        for start in range(0, len(z), ROWS):  # few rows at a time stay in the processor's cache
            rows, nu = z[start : start + ROWS], np.minimum(freedom[start : start + ROWS], KNOWN)
            for of_row, row in zip(nu, chi, strict=False):
                rng.standard_gamma(of_row / 2, out=row)
            rows /= 2 * chi[: len(rows)]
            if not alike:
                rows += 1
                np.log(rows, out=rows)
                rows *= (((8 * nu + 1) / (8 * nu + 3)) ** 2 * nu)[:, None]
            np.maximum(highest, rows.max(axis=0), out=highest)
        root: Floats = np.sqrt(highest)
        return to_normal(root * np.sqrt(freedom[0]), freedom[0]) if alike else root

    def critical(self, maxima: Floats | None, level: float) -> Floats:
        """Return half the width of each simultaneous interval in standard errors, shape (M,)."""
        alpha, sides = 1 - level, 1 if self.one_sided else 2
        single, most = (-stdtrit(self.freedom, alpha / sides / count) for count in (1, max(self.size, 1)))
        if maxima is None:
            return np.asarray(single)
        if not len(maxima):
            return np.asarray(most)
        allowed = int(np.floor(alpha * (len(maxima) + 1))) - 1  # draws beyond the quantile, as `adjusted` counts them
        quantile = maxima[-1 - allowed] if allowed >= 0 else np.inf
        return np.clip(from_normal(quantile, self.freedom), single, most)

    def interval(self, critical: Floats) -> tuple[Floats, Floats]:
        """Return the ends of intervals of some standard errors, shape (M,) each; those of `tied` are estimates."""
        half = np.where(self.tied, 0.0, critical) * self.std_error
        return self.estimate - half, self.estimate + half

    def adjusted(self, maxima: Floats) -> Floats:
        """Return p-values adjusted for the family, shape (M,): not below the single ones, nor above Bonferroni's."""
        most = np.minimum(self.p_value * max(self.size, 1), 1.0)
        if not len(maxima):
            return np.where(self.tied, self.p_value, most)
        beyond = len(maxima) - np.searchsorted(maxima, to_normal(np.maximum(self.statistic, 0), self.freedom), "left")
        return np.where(self.tied, self.p_value, np.clip(drawn_p(beyond, len(maxima)), self.p_value, most))


def make_family(
    weights: csr_array,
    freedom: Floats,
    *,
    estimate: Floats,
    covariance: Floats,
    reference: Floats | None,
    shared: bool,
    one_sided: bool = False,
) -> Family:
    """Return the family of contrasts of estimates with a joint covariance.

    Shapes: weights (M, J); freedom (M,); estimate (J,); covariance (J, J).
    """
    return Family(
        weights=weights,
        estimate=np.asarray(weights @ estimate),
        std_error=spread(weights, covariance),
        freedom=freedom,
        reference=reference,
        shared=shared,
        one_sided=one_sided,
    )


def largest_together(covariance: Floats, level: float = 0.95) -> float:
    """Return how many standard errors normal estimates with a joint covariance are all within.

    Examples
    --------
    >>> largest_together(np.ones((3, 3))) < largest_together(np.eye(3)) < 2.4  # that of one is 1.96
    True
    """
    count = len(covariance)
    known, nothing = np.full(count, np.inf), np.zeros(count)
    family = make_family(
        csr_array(np.eye(count)), known, estimate=nothing, covariance=covariance, reference=covariance, shared=False
    )
    return float(family.critical(family.maxima(0), level).max())


def spread(weights: csr_array, covariance: Floats) -> Floats:
    """Return the standard deviations of contrasts, shape (M,); 0 where a variance is nothing but rounding."""
    variance, most = (
        np.asarray((w.multiply(w @ c)).sum(axis=1)).ravel()
        for w, c in ((weights, covariance), (abs(weights), np.abs(covariance)))
    )
    tied = variance <= ROUNDING * most + ROUNDING**2
    return np.where(tied, 0.0, np.sqrt(np.maximum(variance, 0)))


def number_of_draws(size: int) -> int:
    """Return the number of draws for a family of some size.

    Examples
    --------
    >>> [number_of_draws(count) for count in (45, 4950, 19900)]
    [20000, 10101, 4000]
    """
    return int(np.clip(MOST_VALUES // max(size, 1), FEWEST_DRAWS, MOST_DRAWS))


def to_normal(t: Floats, freedom: Floats | float) -> Floats:
    r"""Return statistics of Student's t on the normal scale (Wallace 1959).

    .. math:: w = \frac{8\nu + 1}{8\nu + 3} \sqrt{\nu \ln(1 + t^2/\nu)}

    Examples
    --------
    >>> to_normal(np.array([3.3]), 9.7).round(5)
    array([2.63499])
    """
    nu = np.minimum(freedom, KNOWN)
    scaled: Floats = (8 * nu + 1) / (8 * nu + 3) * np.sqrt(nu * np.log1p(np.square(t) / nu))
    return scaled


def from_normal(w: Floats | float, freedom: Floats | float) -> Floats:
    """Return the statistics of Student's t that `to_normal` takes to w.

    Examples
    --------
    >>> from_normal(to_normal(np.array([3.3]), 9.7), 9.7).round(12)
    array([3.3])
    """
    nu = np.minimum(freedom, KNOWN)
    with np.errstate(over="ignore"):
        t: Floats = np.sqrt(nu * np.expm1(np.square(w * (8 * nu + 3) / (8 * nu + 1)) / nu))
    return t
