r"""Tests that all groups of editions have the same dispersion.

The likelihood ratio is :math:`\chi^2` only if the noise is normal: with :math:`t_5` noise it rejects a true
hypothesis at the 5 % level in more than a third of tables. The Wald test on the log-dispersions takes their
covariance from the rows themselves (the sandwich of Huber 1967 and White 1982), and decides; with few
intents its distribution is to be had from samples of intents (`bootstrap_wald`).
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.stats import chi2
from scipy.stats import f as fisher

from langdiff.base.types import Floats, Integers
from langdiff.errors import ConfigError
from langdiff.regression.kernel.unequal.estimate import UnequalEstimate, pseudo_inverse

MOST_REFUSED = 0.1  # of the samples; more, and those that are left are not representative


class CommonDispersion(NamedTuple):
    """Tests of a common dispersion, with `degrees` of freedom.

    `wald_p` decides; `likelihood_ratio_p` is not robust to noise that is not normal. The Wald test is NaN if a
    dispersion is at the boundary, where its logarithm has no normal distribution.
    """

    wald: float
    wald_p: float
    likelihood_ratio: float
    likelihood_ratio_p: float
    degrees: int


def sandwich_covariance(found: UnequalEstimate, clusters: Integers | None = None) -> Floats:
    r"""Return the covariance of levels and log-dispersions that holds for noise of any distribution.

    .. math:: V = \frac{G}{G-1} B^+ \Bigl(\sum_g S_g S_g^\top\Bigr) B^+

    with B the observed information and :math:`S_g` the sum of the scores of cluster g.

    Parameters
    ----------
    found : UnequalEstimate
        Estimate under unequal noise.
    clusters : ndarray of int, shape (I,), optional
        Cluster of each row, numbered from 0; by default each row is its own.

    Returns
    -------
    ndarray, shape (J + G, J + G)
        Rows of dispersions at the floor are 0.

    Raises
    ------
    ConfigError
        If there are fewer than two clusters.

    Examples
    --------
    >>> from langdiff.regression.kernel.unequal.estimate import estimate_unequal
    >>> z = np.random.default_rng(1).normal(0, [0.1, 0.2, 0.4], (4000, 3))
    >>> found = estimate_unequal(z, model="1", group=np.arange(3))
    >>> ratio = np.diag(sandwich_covariance(found)) / np.diag(found.covariance)  # the noise is normal
    >>> bool(np.abs(ratio - 1).max() < 0.2)
    True
    """
    scores = found.scores
    if clusters is not None:
        sums = np.zeros((int(clusters.max()) + 1, scores.shape[1]))
        np.add.at(sums, clusters, scores)
        scores = sums
    n_clusters = len(scores)
    if n_clusters < 2:
        raise ConfigError("a sandwich covariance needs at least two clusters, got 1.")
    half = found.jacobian @ pseudo_inverse(found.information) @ scores.T
    covariance: Floats = n_clusters / (n_clusters - 1) * half @ half.T
    return covariance


def compare_dispersions(
    own: UnequalEstimate,
    common: UnequalEstimate,
    covariance: Floats | None = None,
    *,
    n_clusters: int | None = None,
) -> CommonDispersion:
    """Test whether all groups have the same dispersion.

    Parameters
    ----------
    own, common : UnequalEstimate
        Estimates from the same table, with one dispersion per group and with one for all editions.
    covariance : ndarray, shape (J + G, J + G), optional
        Covariance of the levels and log-dispersions of `own`; by default `sandwich_covariance`.
    n_clusters : int, optional
        Number of clusters that the covariance is from; by default that of the rows.

    Returns
    -------
    CommonDispersion
        The p of the Wald test is that of Hotelling's distribution, which allows for the covariance being estimated from
        few clusters; NaN if there are no more of them than dispersions.

    Raises
    ------
    ConfigError
        If `own` has fewer than two groups, or `common` more than one.

    Examples
    --------
    >>> from langdiff.regression.kernel.unequal.estimate import estimate_unequal
    >>> z = np.random.default_rng(1).normal(0, [0.1, 0.2, 0.4], (100, 3))
    >>> own, common = (estimate_unequal(z, model="1", group=np.array(group)) for group in ([0, 1, 2], [0, 0, 0]))
    >>> bool(compare_dispersions(own, common).wald_p < 1e-6)
    True
    """
    n_groups = len(own.log_variance)
    if n_groups < 2 or len(common.log_variance) != 1:
        raise ConfigError("the test compares two dispersions or more with a common one.")
    covariance = sandwich_covariance(own) if covariance is None else covariance
    wald = _wald(own.log_variance, own, covariance)
    ratio = max(0.0, 2 * (own.log_likelihood - common.log_likelihood))
    degrees, count = n_groups - 1, len(own.scores) if n_clusters is None else n_clusters
    wald_p = float("nan")
    if count > n_groups:
        wald_p = float(fisher.sf(wald * (count - degrees) / (degrees * (count - 1)), degrees, count - degrees))
    return CommonDispersion(wald, wald_p, ratio, float(chi2.sf(ratio, degrees)), degrees)


def bootstrap_wald(
    own: UnequalEstimate,
    resample: Callable[[], tuple[UnequalEstimate, Floats]],
    *,
    n_resamples: int,
) -> float:
    r"""Return the p-value of the Wald test from samples of intents, for tables of some 200 intents or fewer.

    The statistic of a sample measures the distance of its log-dispersions from those of the table, by the
    covariance of the sample itself (the bootstrap-t). With B samples, b of them no smaller than the statistic
    of the table, :math:`p = (1 + b) / (1 + B)`.

    Parameters
    ----------
    own : UnequalEstimate
        Estimate with one dispersion per group.
    resample : callable
        Draws intents (or whole clusters of them) with replacement, and returns the estimate and its robust
        covariance, as from `sandwich_covariance`, each time anew.
    n_resamples : int
        Number of samples, at least 19.

    Returns
    -------
    float
        NaN if a dispersion of `own` is at the boundary, or one of more than a tenth of the samples is; samples at
        the boundary count as larger than the statistic of the table, which can only make p larger.

    Raises
    ------
    ConfigError
        If `n_resamples` is less than 19, with which no p is below 5 %.

    Examples
    --------
    >>> from langdiff.regression.kernel.unequal.estimate import estimate_unequal
    >>> rng = np.random.default_rng(1)
    >>> z = rng.normal(0, [0.2, 0.2, 0.4, 0.4], (100, 4))
    >>> own = estimate_unequal(z, model="1", group=np.arange(4))
    >>> def resample():
    ...     again = estimate_unequal(z[rng.integers(100, size=100)], model="1", group=np.arange(4))
    ...     return again, sandwich_covariance(again)
    >>> bool(bootstrap_wald(own, resample, n_resamples=39) < 0.05)
    True
    """
    if n_resamples < 19:
        raise ConfigError(f"n_resamples must be at least 19, got {n_resamples}: with fewer, no p is below 5 %.")
    statistic = _wald(own.log_variance, own, sandwich_covariance(own))
    larger = refused = 0
    for _ in range(n_resamples):
        again, covariance = resample()
        drawn = _wald(again.log_variance - own.log_variance, again, covariance)
        refused += bool(np.isnan(drawn))
        larger += not drawn < statistic  # NaN too
    if np.isnan(statistic) or refused > MOST_REFUSED * n_resamples:
        return float("nan")
    return (1 + larger) / (1 + n_resamples)


def _wald(log_variance: Floats, found: UnequalEstimate, covariance: Floats) -> float:
    """Return the squared length of differences of log-dispersions in the metric of their covariance."""
    if found.boundary.any():
        return float("nan")
    n_groups = len(log_variance)
    differences = np.eye(n_groups)[1:] - np.eye(n_groups)[0]
    values = differences @ log_variance
    of_values = differences @ covariance[-n_groups:, -n_groups:] @ differences.T
    try:
        return float(values @ np.linalg.solve(of_values, values))
    except np.linalg.LinAlgError:  # fewer clusters than differences
        return float("nan")
