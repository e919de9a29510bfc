"""Regression of difficulty on a predictor where relatives or neighbours are alike (Galton's problem)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import gammaln

from langdiff.base.types import Floats, generator
from langdiff.tables.rule import drawn_p, t_interval, t_p
from langdiff.typology.association.correlation import NAN, PERFECT, Outcome, fisher_interval
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

    Shapes: design (n, p); y (n,); phylo (n, n); kilometres (n, n); known (n, n).
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


def slopes(
    design: Floats, y: Floats, fit: RelatedFit, known: Floats | None = None, *, zeros: bool = True
) -> Coefficients:
    """Return the coefficients of a fit, with errors and degrees of freedom; the range is taken as given."""
    return coefficients(design, y, fit.parts, fit.variances, known, zeros=zeros)


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

    Shapes: x, y (n,); phylo, kilometres (n, n); given (n, k); known (n, n).

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

    Shapes: x (n,); known (n, n).
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


MIN_FAMILIES = 4  # with fewer, how families differ can hardly be estimated
DISTINCT = 1e-12  # relative difference below which two permutations' statistics are one, but for rounding


def mixed_slope(x: Floats, y: Floats, family: pd.Series, language: pd.Series | None = None) -> Outcome:
    r"""Regress difficulty on a predictor, with a random intercept of family (and of language).

    .. math:: y_i = a + b\,x_i/s_x + u_{f(i)} [+ w_{l(i)}] + e_i

    with normal u, w, e, by restricted maximum likelihood. p and the 95 % interval of b are by Student's t with
    Satterthwaite's degrees of freedom (Giesbrecht and Burns 1985), which are near the number of families
    where relatives share the predictor's value, and near that of languages where they do not.

    Shapes: x, y (n,); family (n,); language (n,).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> family = pd.Series(np.repeat(list("abcdefgh"), 5))
    >>> x = rng.normal(size=40)
    >>> y = 0.1 * x + np.repeat(rng.normal(size=8), 5) + rng.normal(0, 0.01, size=40)  # families differ by much
    >>> bool(abs(mixed_slope(x, y, family).estimate - 0.1 * x.std(ddof=1)) < 0.01)
    True
    """
    symbol, n = "nats per SD", len(x)
    families = family.nunique()
    if families < MIN_FAMILIES:
        return Outcome(symbol, n, reason=f"{families} families; at least {MIN_FAMILIES} are needed")
    if (family if language is None else language).value_counts().max() < 2:
        return Outcome(symbol, n, reason="no two rows share a group: its effect cannot be told from the residual")
    scale = float(y.std(ddof=1))
    design = np.column_stack([np.ones(n), (x - x.mean()) / x.std(ddof=1)])
    if abs(np.corrcoef(x, y)[0, 1]) > PERFECT:
        return Outcome(symbol, n, reason="the predictor explains all of difficulty: nothing is left to judge it by")
    groups = [family] if language is None else [family, language]
    covers = [np.equal.outer(g.to_numpy(), g.to_numpy()).astype(float) for g in groups]
    if language is None:
        variances = OneEffect(design, y / scale, covers[0]).variances()
    else:
        variances = reml_variances(design, y / scale, covers)
    return slope_outcome(coefficients(design, y / scale, [*covers, np.eye(n)], variances), 1, scale, n)


def slope_outcome(found: Coefficients, place: int, scale: float, n: int) -> Outcome:
    """Return one coefficient with its t test and 95 % interval, times a scale."""
    slope, std_error, degrees = (float(column[place]) for column in found[:3])
    low, high = (scale * float(end) for end in t_interval(slope, std_error, degrees))
    p = float(t_p(slope, std_error, degrees))
    return Outcome("nats per SD", n, slope * scale, low, high, p, df=1.0, df_residual=degrees)


def permute_within_families(
    x: Floats | pd.Series, y: Floats, family: pd.Series, *, n_resamples: int, seed: int | np.random.Generator
) -> Outcome:
    r"""Permute difficulties among the languages of each family.

    Whatever makes families differ is the same in all permutations, so that it cannot make a correlation; only
    differences between relatives count. p is (1 + permutations with at least the statistic) / (1 +
    permutations). Exact if, without an effect, relatives are exchangeable (Good 2005).

    Shapes: x (n,); y (n,); family (n,).

    Examples
    --------
    >>> x = np.array([1.0, 2, 3, 11, 12, 13])
    >>> y = np.array([3.0, 2, 1, 33, 32, 31])  # the families differ one way, their members the other
    >>> family = pd.Series(["a"] * 3 + ["b"] * 3)
    >>> round(permute_within_families(x, y, family, n_resamples=99, seed=0).estimate, 6)
    -1.0
    """
    rng = generator(seed)
    numeric = isinstance(x, np.ndarray)
    symbol, n = ("r within families" if numeric else "R2 within families"), len(y)
    codes = family.astype("category").cat.codes.to_numpy()
    members = [np.flatnonzero(codes == code) for code in range(codes.max() + 1)]
    several = [rows for rows in members if len(rows) > 1]
    if not several:
        return Outcome(symbol, n, reason="no two languages share a family")
    columns = x[:, None] if isinstance(x, np.ndarray) else pd.get_dummies(x, dtype=float).to_numpy()
    basis = _orthonormal(_centered(columns, members))
    deviations = _centered(y[:, None], members)[:, 0]
    if basis.shape[1] == 0:
        return Outcome(symbol, n, reason="the predictor does not vary within any family")
    if not deviations.any():
        return Outcome(symbol, n, reason="difficulty does not vary within any family")
    observed = basis.T @ deviations
    drawn = np.zeros((n_resamples, basis.shape[1]))
    for rows in several:
        shuffled = rng.permuted(np.broadcast_to(deviations[rows], (n_resamples, len(rows))), axis=1)
        drawn += shuffled @ basis[rows]
    size = float(observed @ observed)
    hits = int(np.sum((drawn**2).sum(axis=1) >= size * (1 - DISTINCT)))
    share = size / float(deviations @ deviations)
    used = sum(map(len, several))
    alone = n - used
    reason = f"{alone} languages alone in their family say nothing" if alone else ""
    if (least := np.exp(-sum(gammaln(len(rows) + 1) for rows in several))) > 0.025:
        reason = f"only {round(1 / least)} permutations: p cannot be below {least:.2g}"
    p = float(drawn_p(hits, n_resamples))
    if not numeric:
        return Outcome(symbol, n, estimate=share, p=p, reason=reason)
    estimate = float(np.sign(_centered(columns, members)[:, 0] @ deviations) * np.sqrt(share))
    low, high = fisher_interval(estimate, used, "pearson", len(several) - 1)
    if np.isnan(low):
        low, high = NAN, NAN
    return Outcome(symbol, n, estimate, low, high, p, reason)


def _centered(columns: Floats, members: list[npt.NDArray[np.intp]]) -> Floats:
    left = columns.astype(float)
    for rows in members:
        left[rows] -= left[rows].mean(axis=0)
    rounding = 1e-12 * np.abs(columns).max(axis=0)
    left[np.abs(left) <= rounding] = 0.0
    return left


def _orthonormal(columns: Floats) -> Floats:
    """Return an orthonormal basis of the columns' space, shape (n, rank)."""
    left, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    basis: Floats = left[:, sizes > 1e-10 * max(float(sizes.max()), 1e-300)]
    return basis
