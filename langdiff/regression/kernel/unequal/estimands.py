r"""What a comparison of two editions is about, if their noise is unequal.

Expected bits are what a long text takes: their ratio is that of total bits. Median bits are those of a typical
intent. Under common noise, both ratios are the same. In model 1 the median of the bits of an edition
is :math:`n e^{c_j}` and their mean :math:`n e^{c_j + s_j^2/2}`; in model 2 their mean is
:math:`n e^{D_j}` and their median :math:`n e^{D_j - v_j(n)/2}`, which depends on the size n.
"""

from typing import Literal, NamedTuple

import numpy as np

from langdiff.base.types import Floats, Integers
from langdiff.errors import ConfigError, DataError
from langdiff.regression.kernel.unequal.estimate import UnequalEstimate

Estimand = Literal["median", "expected"]


class Levels(NamedTuple):
    """Levels of the editions up to a constant, nats, shape (J,), and their covariance, shape (J, J)."""

    values: Floats
    covariance: Floats


class Difference(NamedTuple):
    """A difference of log bits, nats, and its standard error."""

    estimate: float
    std_error: float


def estimand_levels(
    found: UnequalEstimate, estimand: Estimand, *, size: float | None = None, covariance: Floats | None = None
) -> Levels:
    """Return the levels whose differences are the logarithms of ratios of median or of expected bits.

    Parameters
    ----------
    found : UnequalEstimate
        Estimate under unequal noise.
    estimand : {"median", "expected"}
        Kind of bits to compare.
    size : float, optional
        Size n of the intents whose median is meant, in the unit of exp(`UnequalEstimate.sizes`); needed in model 2
        for ``"median"`` only.
    covariance : ndarray, shape (J + G, J + G), optional
        Covariance of levels and log-dispersions, such as `sandwich_covariance` returns; by default that
        of the estimate, by observed information.

    Returns
    -------
    Levels
        With covariance by the delta method.

    Raises
    ------
    ConfigError
        If the estimand is unknown, or `size` is missing, superfluous or not positive.

    Examples
    --------
    >>> from langdiff.regression.kernel.unequal.estimate import estimate_unequal
    >>> z = np.random.default_rng(1).normal(0, [0.1, 0.2, 0.8], (4000, 3))
    >>> found = estimate_unequal(z, model="1", group=np.arange(3))
    >>> for estimand in ("median", "expected"):
    ...     levels = estimand_levels(found, estimand)
    ...     print(f"{abs(difference(levels, 2, 0).estimate):.1f}")
    0.0
    0.3
    """
    if estimand not in ("median", "expected"):
        raise ConfigError(f"unknown estimand {estimand!r}; use 'median' or 'expected'.")
    at_size = found.model == "2" and estimand == "median"
    if at_size != (size is not None) or (size is not None and not 0 < size < np.inf):
        raise ConfigError(
            f"size={size!r} with estimand {estimand!r} of model {found.model!r}: the median of model 2 needs a size, "
            "positive; nothing else depends on it."
        )
    editions = len(found.c)
    dispersion = np.exp(found.log_variance)
    values, slope = found.c, np.zeros(len(dispersion))  # the derivative of a level in its log-dispersion
    if size is not None:
        values = values - 0.5 * np.log1p(dispersion / size)[found.group]
        slope = -0.5 * dispersion / (dispersion + size)
    elif found.model == "1" and estimand == "expected":
        slope = 0.5 * dispersion
        values = values + slope[found.group]
    jacobian = np.zeros((editions, editions + len(dispersion)))
    jacobian[:, :editions] = np.eye(editions)
    jacobian[np.arange(editions), editions + found.group] = slope[found.group]
    covariance = found.covariance if covariance is None else covariance
    return Levels(values, jacobian @ covariance @ jacobian.T)


def difference(levels: Levels, one: int, other: int) -> Difference:
    """Return the level of one edition less that of another.

    Parameters
    ----------
    levels : Levels
        Levels with their covariance.
    one, other : int
        Numbers of the editions.

    Returns
    -------
    Difference

    Examples
    --------
    >>> difference(Levels(np.array([0.5, 0.25]), np.diag([0.09, 0.16])), 0, 1)
    Difference(estimate=0.25, std_error=0.5)
    """
    covariance = levels.covariance
    variance = covariance[one, one] + covariance[other, other] - 2 * covariance[one, other]
    return Difference(float(levels.values[one] - levels.values[other]), float(np.sqrt(max(variance, 0.0))))


def log_total_ratio(bits: Floats, one: int, other: int, clusters: Integers | None = None) -> Difference:
    r"""Compare the total bits of two editions without a model, over the intents that both have.

    .. math:: \ln\frac{\sum_i y_{ij}}{\sum_i y_{ik}}, \quad
              \psi_i = \frac{y_{ij}}{\bar y_j} - \frac{y_{ik}}{\bar y_k}, \quad
              V = \frac{G}{G-1} \frac1{I^2} \sum_g \Bigl(\sum_{i \in g} \psi_i\Bigr)^2

    Parameters
    ----------
    bits : ndarray, shape (I, J)
        Surprisals y in bits, NaN where missing.
    one, other : int
        Numbers j and k of the editions.
    clusters : ndarray of int, shape (I,), optional
        Cluster of each row, numbered from 0; by default each row is its own.

    Returns
    -------
    Difference

    Raises
    ------
    DataError
        If the intents that both have are fewer than two, or of fewer than two clusters.

    Examples
    --------
    >>> log_total_ratio(np.array([[20.0, 10], [40.0, 20], [60.0, 30]]), 0, 1).estimate == np.log(2)
    np.True_
    """
    pair = bits[:, [one, other]]
    common = ~np.isnan(pair).any(axis=1)
    pair = pair[common]
    _, members = np.unique(np.arange(len(bits)) if clusters is None else clusters, return_inverse=True)
    present, members = np.unique(members[common], return_inverse=True)
    n_clusters = len(present)
    if n_clusters < 2:
        raise DataError(
            f"the two editions have {len(pair)} intents in common, of {n_clusters} cluster(s): at least two are needed."
        )
    influence = pair[:, 0] / pair[:, 0].mean() - pair[:, 1] / pair[:, 1].mean()
    sums = np.bincount(members, influence)
    variance = n_clusters / (n_clusters - 1) * float(sums @ sums) / len(pair) ** 2
    return Difference(float(np.log(pair[:, 0].sum() / pair[:, 1].sum())), float(np.sqrt(variance)))
