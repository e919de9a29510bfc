"""Regression of difficulty where relatives and neighbours are alike: along a family tree, over distance, or both."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from langdiff.base.types import Floats
from langdiff.typology.association.correlation import NAN, Outcome
from langdiff.typology.association.family import slope_outcome
from langdiff.typology.association.relatives import RANGES, exponential_kernel
from langdiff.typology.association.variance import (
    LARGEST_SHARE,
    Coefficients,
    OneEffect,
    coefficients,
    profile_share,
    reml_variances,
    reml_variances_beside,
    restricted_log_likelihood,
    share_interval,
)

MIN_FREE = 3  # languages more than coefficients
EXPLAINED = 1e-12  # share of the variance below which nothing is left to judge a slope by


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class RelatedFit:
    """A regression with residuals that relatives and neighbours share.

    Attributes
    ----------
    parts : list of ndarray, shape (n, n)
        Covariances of unit diagonal: along the tree, over distance, and the identity; those of the model.
    names : tuple of str
        ``"phylo"``, ``"area"`` and ``"residual"``; those of the model.
    variances : ndarray, shape (K,)
        Variances of the parts.
    range_km : float
        Distance at which the covariance over distance has fallen to 1/e; NaN without one.
    log_likelihood : float
        Restricted log-likelihood.
    """

    parts: list[Floats]
    names: tuple[str, ...]
    variances: Floats
    range_km: float
    log_likelihood: float

    def share(self, name: str) -> float:
        """Return the share of a part in the sum of the variances; NaN if it is not in the model."""
        if name not in self.names:
            return NAN
        return float(self.variances[self.names.index(name)] / self.variances.sum())


def fit_related(
    design: Floats, y: Floats, phylo: Floats | None, kilometres: Floats | None, known: Floats | None = None
) -> RelatedFit:
    r"""Fit :math:`y = X\beta + u_P + u_A + e` by restricted maximum likelihood.

    :math:`\operatorname{cov}(u_P) = \sigma_P^2 P` along the tree, :math:`\operatorname{cov}(u_A) = \sigma_A^2 K` with
    :math:`K = \exp(-d / \rho)` of the distances d. ρ is the one of `RANGES` with the highest likelihood.

    Parameters
    ----------
    design : ndarray, shape (n, p)
        X, of full rank.
    y : ndarray, shape (n,)
        Outcome, of variance near 1.
    phylo : ndarray, shape (n, n), optional
        P, with unit diagonal; without it there is no u_P.
    kilometres : ndarray, shape (n, n), optional
        Distances; without them there is no u_A.
    known : ndarray, shape (n, n), optional
        Covariance of errors of y, to be added to that of the model.

    Returns
    -------
    RelatedFit
        With one of `phylo` and `kilometres` and nothing known, by one eigen-decomposition per range.
    """
    identity = np.eye(len(y))
    fits = []
    for range_km in (NAN,) if kilometres is None else RANGES:
        effects = [] if phylo is None else [phylo]
        if kilometres is not None:
            effects.append(exponential_kernel(kilometres, range_km))
        variances = _variances(design, y, effects, known)
        parts = [*effects, identity]
        covariance = np.tensordot(variances, parts, axes=1) + (0.0 if known is None else known)
        likelihood = restricted_log_likelihood(design, y, covariance)
        names = ("phylo",) * (phylo is not None) + ("area",) * (kilometres is not None) + ("residual",)
        fits.append(
            RelatedFit(parts=parts, names=names, variances=variances, range_km=range_km, log_likelihood=likelihood)
        )
    return max(fits, key=lambda fit: fit.log_likelihood)


def _variances(design: Floats, y: Floats, effects: list[Floats], known: Floats | None) -> Floats:
    if known is not None:
        return reml_variances_beside(design, y, effects, known)
    if not effects:
        left = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
        return np.array([float(left @ left) / (len(y) - design.shape[1])])
    if len(effects) == 1:
        return OneEffect(design, y, effects[0]).variances()
    return reml_variances(design, y, effects)


def slopes(design: Floats, y: Floats, fit: RelatedFit, known: Floats | None = None) -> Coefficients:
    """Return the coefficients of a fit, with errors and degrees of freedom; the range is taken as given."""
    return coefficients(design, y, fit.parts, fit.variances, known)


def interval_of_share(design: Floats, y: Floats, fit: RelatedFit, name: str) -> tuple[float, float]:
    """Return the 95 % profile-likelihood interval of the share of an effect; NaN if it is not in the model.

    The range over distance is kept at its estimate.
    """
    if name not in fit.names[:-1]:  # the last is the residual
        return NAN, NAN
    place, share = fit.names.index(name), fit.share(name)
    effects = fit.parts[:-1]
    if len(effects) == 1:
        curve = OneEffect(design, y, effects[0])
        return share_interval(lambda share: curve.profile(share)[0], share, LARGEST_SHARE)
    return share_interval(lambda share: profile_share(design, y, effects, place, share), share, LARGEST_SHARE)


def related_slope(
    x: Floats,
    y: Floats,
    phylo: Floats | None,
    kilometres: Floats | None,
    *,
    given: Floats | None = None,
    known: Floats | None = None,
) -> tuple[Outcome, RelatedFit | None]:
    """Regress difficulty on a predictor, with residuals that relatives, neighbours or both share.

    Parameters
    ----------
    x, y : ndarray, shape (n,)
        Predictor, and difficulty in nats; neither may be constant.
    phylo, kilometres : ndarray, shape (n, n), optional
        Covariance along the tree, and distances; see `fit_related`.
    given : ndarray, shape (n, k), optional
        Predictors held fixed.
    known : ndarray, shape (n, n), optional
        Covariance of the errors of y, in squared nats.

    Returns
    -------
    outcome : Outcome
        Rise of difficulty in nats with one standard deviation of the predictor; p and the 95 % interval by Student's t
        with Satterthwaite's degrees of freedom.
    fit : RelatedFit or None
        Variances in units of the variance of y; None where no fit can be made.

    Examples
    --------
    >>> tree = np.kron(np.eye(10), np.full((3, 3), 0.8)) + 0.2 * np.eye(30)  # ten families of three languages
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=30)
    >>> y = 0.1 * x + rng.multivariate_normal(np.zeros(30), 0.01 * tree)
    >>> outcome, fit = related_slope(x, y, tree, None)
    >>> bool(outcome.low < 0.1 * x.std(ddof=1) < outcome.high)
    True
    """
    n = len(x)
    scale = float(y.std(ddof=1))
    design, reason = standard_design(x if given is None else np.column_stack([x, given]))
    reason = reason or obstacle(design, y, phylo)
    if reason:
        return Outcome("nats per SD", n, reason=reason), None
    known = None if known is None else known / scale**2
    fit = fit_related(design, y / scale, phylo, kilometres, known)
    return slope_outcome(slopes(design, y / scale, fit, known), 1, scale, n), fit


def standard_design(columns: Floats) -> tuple[Floats, str]:
    """Return an intercept with standardized columns, and a description of any problem with them."""
    columns = columns.reshape(len(columns), -1)
    spread = columns.std(axis=0, ddof=1)
    if not (spread > 0).all():
        return columns, "a predictor is constant"
    design = np.column_stack([np.ones(len(columns)), (columns - columns.mean(axis=0)) / spread])
    singular = np.linalg.matrix_rank(design) < design.shape[1]
    return design, "what is held fixed determines the predictor" if singular else ""


def obstacle(design: Floats, y: Floats, phylo: Floats | None) -> str:
    """Return the reason why a regression with related residuals cannot be fitted; empty if it can."""
    n, p = design.shape
    if n < p + MIN_FREE:
        return f"{n} languages are too few for {p} coefficients"
    left = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
    if float(left @ left) <= EXPLAINED * float(y.var() * n):
        return "the predictor explains all of difficulty: nothing is left to judge it by"
    if phylo is not None and not (phylo - np.diag(np.diag(phylo))).any():
        return "no two languages are related: what relatives share cannot be told from the residual"
    return ""


def slope_weights(x: Floats, fit: RelatedFit, known: Floats) -> Floats:
    """Return the weights of difficulties in the slope of a predictor, shape (n,).

    Parameters
    ----------
    x : ndarray, shape (n,)
        Predictor.
    fit : RelatedFit
        Fit with this predictor alone.
    known : ndarray, shape (n, n)
        Covariance of errors, in units of the variance of y.
    """
    design, _ = standard_design(x)
    weighted = np.linalg.solve(np.tensordot(fit.variances, fit.parts, axes=1) + known, design)
    weights: Floats = np.linalg.solve(design.T @ weighted, weighted.T)[1]
    return weights


def describe(design: Floats, y: Floats, fit: RelatedFit) -> dict[str, Any]:
    """Return the shares of a fit with their intervals, and its likelihood, for tables."""
    row: dict[str, Any] = {}
    for name in ("phylo", "area"):
        row[f"{name}_share"] = fit.share(name)
        row[f"{name}_low"], row[f"{name}_high"] = interval_of_share(design, y, fit, name)
    parameters = len(fit.names) + ("area" in fit.names)  # the range
    return row | {
        "range_km": fit.range_km,
        "log_likelihood": fit.log_likelihood,
        "aic": 2 * parameters - 2 * fit.log_likelihood,
    }
