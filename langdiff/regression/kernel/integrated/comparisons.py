r"""Comparisons of fits with integrated sizes: with fixed intents, of dispersions, and of estimands.

Test of the distance between fits with fixed and with random intents.

Fixed intents are valid if cells are missing for the intent's sake, random ones if for the sake of observed cells; where
both are, :math:`D = \hat c_F - \hat c_R` is small beside its variance. This is estimated from what each row
contributes to either fit, :math:`V = \sum_i (\psi_i^F - \psi_i^R)(\psi_i^F - \psi_i^R)^\top`, which needs neither
model to be right.

Source: Hausman (1978), "Specification tests in econometrics"; V as in White (1982), "Maximum likelihood estimation of
misspecified models"; Hotelling (1931), "The generalization of Student's ratio".

Tests that all groups of editions have the same dispersion.

The likelihood ratio is :math:`\chi^2` only if the noise is normal: with :math:`t_5` noise it rejects a true
hypothesis at the 5 % level in more than a third of tables. The Wald test on the log-dispersions takes their
covariance from the rows themselves (the sandwich of Huber 1967 and White 1982), and decides; with few
intents its distribution is to be had from samples of intents (`bootstrap_wald`).

What a comparison of two editions is about, if their noise is unequal.

Expected bits are what a long text takes: their ratio is that of total bits. In model 1 the mean of the bits of an
edition is :math:`n e^{c_j + s_j^2/2}`, in model 2 :math:`n e^{D_j}`.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from langdiff.base.types import Floats, Integers
from langdiff.errors import ConfigError, DataError
from langdiff.regression.kernel.integrated.unequal import UnequalEstimate, pseudo_inverse
from langdiff.regression.kernel.likelihood import ScaleFreeLikelihood
from langdiff.regression.kernel.two_way import TwoWay, inverse_information
from langdiff.tables.rule import drawn_p, hotelling

SAME = 1e-8  # of the spread of influences: as little as two fits may differ by in rounding, and be the same
RANK_TOLERANCE = 1e-10


class Distance(NamedTuple):
    """Difference D of two fits, shape (J,), with its statistic DᵀV⁺D, the p-value, and the rank of V."""

    difference: Floats
    statistic: float
    p_value: float
    rank: int


def distance_of_fits(c_fixed: Floats, influence_fixed: Floats, c_random: Floats, influence_random: Floats) -> Distance:
    """Test whether difficulties with fixed and with random intents differ by more than chance.

    With r the rank of V, J − 1 at most, the statistic is χ² with r degrees of freedom if there are many rows. As V is
    estimated from I of them, the p-value is that of Hotelling's T², an F distribution that tends to it: with 1,000 rows
    and 5 editions they agree, with 300 rows and 21 editions χ² would reject 17 % instead of 5, this 7 %. From 100 rows
    and 21 editions either rejects too much.

    The fixed fit of model 2 should be the restricted one: without it the many intent sizes bias c in incomplete tables,
    by little, but by more than D varies (1,000 rows, 5 editions, cells missing at random: 16 % of tests reject, with it
    7 %).

    A small p-value says that at least one of the two is biased, since cells are missing for reasons that it does not
    allow; it cannot say which.

    Parameters
    ----------
    c_fixed, c_random : ndarray, shape (J,)
        Difficulties up to a constant.
    influence_fixed, influence_random : ndarray, shape (I, J)
        What each row contributes to them; see `influence_of_fixed` and `RandomEstimate.influence`.

    Returns
    -------
    Distance
        With statistic 0 and p-value 1 if the fits are the same, as those of model 1 on complete tables are; the
        p-value is NaN if there are no more rows than r.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> fixed = rng.normal(size=(500, 3)) / 500
    >>> random = fixed + rng.normal(size=(500, 3)) / 5000
    >>> bool(distance_of_fits(fixed.sum(axis=0), fixed, random.sum(axis=0), random).p_value > 0.001)
    True
    """
    difference = c_fixed - c_random
    difference = difference - difference.mean()
    apart = influence_fixed - influence_random
    apart = apart - apart.mean(axis=1, keepdims=True)
    variance, axes = np.linalg.eigh(apart.T @ apart)
    scale = float(np.max(np.sum((influence_fixed - influence_fixed.mean(axis=1, keepdims=True)) ** 2, axis=0)))
    if variance[-1] <= SAME**2 * scale:
        return Distance(difference, 0.0, 1.0, 0)
    known = variance > RANK_TOLERANCE * variance[-1]
    along = axes[:, known].T @ difference
    statistic = float(np.sum(along**2 / variance[known]))
    rank, rows = int(known.sum()), len(apart)
    return Distance(difference, statistic, hotelling(statistic, rank, rows - 1).p, rank)


def influence_of_fixed(two_way: TwoWay, *, model: str, c: Floats, sizes: Floats, restricted: bool = False) -> Floats:
    """Return the influence of each row on c in a fit with fixed intents, B⁺s.

    Parameters
    ----------
    two_way : TwoWay
        Model 1 fitted to the table.
    model : {"1", "2"}
        Regression model.
    c, sizes : ndarray, shapes (J,) and (I,)
        The fit: in model 2 the scale-free c and μ, each row's at its mode.
    restricted : bool
        Whether the fit of model 2 is that of the restricted likelihood.

    Returns
    -------
    ndarray, shape (I, J)

    Raises
    ------
    ConfigError
        If the model is another.
    """
    if model not in ("1", "2"):
        raise ConfigError(f"influences of fixed intents are known for models '1' and '2', not {model!r}.")
    if model == "1":
        information = two_way.laplacian + two_way.cells_per_edition.mean() / len(c)
        scores = two_way.residual
    else:
        rows = ScaleFreeLikelihood(two_way, restricted).row_information(sizes, c)
        scores, information = rows.of(slice(None)).score, rows.total
    return scores @ inverse_information(two_way, information)


MOST_REFUSED = 0.1  # of the samples; more, and those that are left are not representative


class CommonDispersion(NamedTuple):
    """Robust test of a common dispersion, with `degrees` of freedom.

    NaN if a dispersion is at the boundary, where its logarithm has no normal distribution.
    """

    wald: float
    wald_p: float
    degrees: int


def sandwich_covariance(found: UnequalEstimate, sums: Floats | None = None) -> Floats:
    r"""Estimate the covariance of levels and log-dispersions by a sandwich, valid for noise of any distribution.

    .. math:: V = \frac{G}{G-1} B^+ \Bigl(\sum_g S_g S_g^\top\Bigr) B^+

    with B the observed information and :math:`S_g` the sum of the scores of cluster g.

    Parameters
    ----------
    found : UnequalEstimate
        Estimate under unequal noise.
    sums : ndarray, shape (G, P), optional
        Scores summed by cluster; by default each row is its own.

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
    >>> from langdiff.regression.kernel.integrated.unequal import estimate_unequal
    >>> z = np.random.default_rng(1).normal(0, [0.1, 0.2, 0.4], (4000, 3))
    >>> found = estimate_unequal(z, model="1", group=np.arange(3))
    >>> ratio = np.diag(sandwich_covariance(found)) / np.diag(found.covariance)  # the noise is normal
    >>> bool(np.abs(ratio - 1).max() < 0.2)
    True
    """
    n_clusters = found.n_rows if sums is None else len(sums)
    if n_clusters < 2:
        raise ConfigError("a sandwich covariance needs at least two clusters, got 1.")
    products = found.score_products if sums is None else sums.T @ sums
    half = found.jacobian @ pseudo_inverse(found.information)
    return n_clusters / (n_clusters - 1) * half @ products @ half.T


def compare_dispersions(
    own: UnequalEstimate,
    covariance: Floats | None = None,
    *,
    n_clusters: int | None = None,
) -> CommonDispersion:
    """Test whether all groups have the same dispersion.

    Parameters
    ----------
    own : UnequalEstimate
        Estimate with one dispersion per group.
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
        If it has fewer than two groups.

    Examples
    --------
    >>> from langdiff.regression.kernel.integrated.unequal import estimate_unequal
    >>> z = np.random.default_rng(1).normal(0, [0.1, 0.2, 0.4], (100, 3))
    >>> bool(compare_dispersions(estimate_unequal(z, model="1", group=np.arange(3))).wald_p < 1e-6)
    True
    """
    n_groups = len(own.log_variance)
    if n_groups < 2:
        raise ConfigError("the test compares two dispersions or more with a common one.")
    covariance = sandwich_covariance(own) if covariance is None else covariance
    wald = _wald(own.log_variance, own, covariance)
    degrees, count = n_groups - 1, own.n_rows if n_clusters is None else n_clusters
    wald_p = hotelling(wald, degrees, count - 1).p if count > n_groups else float("nan")
    return CommonDispersion(wald, wald_p, degrees)


def bootstrap_wald(
    own: UnequalEstimate,
    resample: Callable[[], tuple[UnequalEstimate, Floats]],
    *,
    n_resamples: int,
) -> float:
    r"""Compute the p-value of the Wald test by a bootstrap, for tables of up to some 200 intents.

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
        Number of samples.

    Returns
    -------
    float
        NaN if a dispersion of `own` is at the boundary, or one of more than a tenth of the samples is; samples at
        the boundary count as larger than the statistic of the table, which can only make p larger.

    Examples
    --------
    >>> from langdiff.regression.kernel.integrated.unequal import estimate_unequal
    >>> rng = np.random.default_rng(1)
    >>> z = rng.normal(0, [0.2, 0.2, 0.4, 0.4], (100, 4))
    >>> own = estimate_unequal(z, model="1", group=np.arange(4))
    >>> def resample():
    ...     again = estimate_unequal(z[rng.integers(100, size=100)], model="1", group=np.arange(4))
    ...     return again, sandwich_covariance(again)
    >>> bool(bootstrap_wald(own, resample, n_resamples=99) < 0.05)
    True
    """
    statistic = _wald(own.log_variance, own, sandwich_covariance(own))
    larger = refused = 0
    for _ in range(n_resamples):
        again, covariance = resample()
        drawn = _wald(again.log_variance - own.log_variance, again, covariance)
        refused += bool(np.isnan(drawn))
        larger += not drawn < statistic  # NaN too
    if np.isnan(statistic) or refused > MOST_REFUSED * n_resamples:
        return float("nan")
    return float(drawn_p(larger, n_resamples))


def _wald(log_variance: Floats, found: UnequalEstimate, covariance: Floats) -> float:
    """Return the Wald statistic: the squared length of differences of log-dispersions in their covariance's metric."""
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


class Difference(NamedTuple):
    """A difference of log bits, nats, and its standard error."""

    estimate: float
    std_error: float


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
