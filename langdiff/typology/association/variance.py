"""Regression with correlated residuals: variances by restricted maximum likelihood, tests of slopes. Arrays only."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import optimize

from langdiff.base.types import Floats
from langdiff.tables.rule import DEVIANCE

MOST = 1e4  # times the residual variance: relatives are then equal but for rounding
NONE = 1e-7  # share of the variance that is taken as 0
LARGEST_SHARE = 1 - 1e-6  # of one effect: some residual is left, so that languages at one place can differ
LEAST = 1e-8  # residual variance, of a variable of variance 1, beside errors that are known
Curve = Callable[[float], float]
Criterion = Callable[[Floats], tuple[float, Floats]]  # and its gradient


class Coefficients(NamedTuple):
    """Coefficients of a regression, with what their tests need.

    Attributes
    ----------
    estimate, std_error, degrees : ndarray, shape (p,)
        Estimates, standard errors and Satterthwaite's degrees of freedom.
    covariance : ndarray, shape (p, p)
        Their covariance.
    gradients : ndarray, shape (K, p, p)
        Derivatives of the covariance by the variances of the model.
    of_variances : ndarray, shape (K, K)
        Covariance of the estimates of these variances.
    most : int
        n − p, the most degrees of freedom.
    """

    estimate: Floats
    std_error: Floats
    degrees: Floats
    covariance: Floats
    gradients: Floats
    of_variances: Floats
    most: int

    def freedom(self, contrasts: Floats) -> Floats:
        """Return Satterthwaite's degrees of freedom of contrasts, shape (q, p), each between 1 and n − p."""
        variances = np.einsum("qi,ij,qj->q", contrasts, self.covariance, contrasts)
        slopes = np.einsum("qi,kij,qj->qk", contrasts, self.gradients, contrasts)
        error = np.einsum("qk,kl,ql->q", slopes, self.of_variances, slopes)
        degrees: Floats = np.clip(2 * variances**2 / np.maximum(error, 1e-300), 1, self.most)
        return degrees

    def wald(self, contrasts: Floats) -> tuple[float, int, float]:
        r"""Test whether contrasts are all 0.

        .. math:: F = (L\hat\beta)' (L \hat C L')^{-1} (L\hat\beta) / q

        The denominator's degrees of freedom are those of Fai and Cornelius (1996): with :math:`\nu_m` of the contrasts
        along the eigenvectors of :math:`L \hat C L'` and :math:`E = \sum_{\nu_m > 2} \nu_m / (\nu_m - 2)`, they are
        :math:`2E / (E - q)`; where some :math:`\nu_m \le 2` or :math:`E \le q`, the least :math:`\nu_m`.

        Shapes: contrasts (q, p).
        """
        q = len(contrasts)
        sizes, vectors = np.linalg.eigh(contrasts @ self.covariance @ contrasts.T)
        rotated = vectors.T @ contrasts
        statistic = float(np.sum((rotated @ self.estimate) ** 2 / sizes)) / q
        each = self.freedom(rotated)
        expected = float((each[each > 2] / (each[each > 2] - 2)).sum())
        if q == 1 or (each <= 2).any() or expected <= q:
            return statistic, q, float(each.min())
        return statistic, q, 2 * expected / (expected - q)


def reml_variances(design: Floats, y: Floats, parts: list[Floats]) -> Floats:
    r"""Maximize the restricted likelihood of :math:`y \sim N(X\beta, \sigma^2(\sum_k s_k V_k + s_0 I))`, shares s.

    The model is that of ``statsmodels``' ``MixedLM``, and so are the estimates. It is written out since variances
    of 0 are common among a few families, where that warns and, with some of its optimizers, ends in singular
    matrices. Shares of the variance are searched, not ratios to the residual, since the residual may be 0, too.

    Shapes: design (n, p); y (n,); parts (n, n).
    """
    n, p = design.shape
    every = [*parts, np.eye(n)]
    shares = _lowest(_criterion(design, y, every), [(0.0, 1.0)] * len(parts) + [(1 - LARGEST_SHARE, 1.0)])[0]
    projected, _ = _project(np.linalg.inv(np.tensordot(shares, every, axes=1)), design)
    variances: Floats = shares * (float(y @ projected @ y) / (n - p))
    return variances


def profile_share(design: Floats, y: Floats, parts: list[Floats], place: int, share: float) -> float:
    """Maximize the restricted likelihood over all variances but one effect's share of their sum.

    Shapes: design (n, p); y (n,); parts (n, n).
    """
    n, p = design.shape
    bounds = [(0.0, 1.0)] * len(parts) + [(1 - LARGEST_SHARE, 1.0)]
    bounds[place] = (share, share)
    lowest = _lowest(_criterion(design, y, [*parts, np.eye(n)]), bounds)[1]
    return -0.5 * float((n - p) * (np.log(2 * np.pi / (n - p)) + 1) + lowest)


def _criterion(design: Floats, y: Floats, parts: list[Floats]) -> Criterion:
    """Return minus twice the restricted log-likelihood of shares of the variance, but for a constant."""
    n, p = design.shape

    def criterion(shares: Floats) -> tuple[float, Floats]:
        covariance = np.tensordot(shares, parts, axes=1)
        factor = np.linalg.cholesky(covariance)
        projected, information = _project(np.linalg.inv(covariance), design)
        moved = projected @ y
        square = float(y @ moved)
        value = 2 * np.log(np.diag(factor)).sum() + np.linalg.slogdet(information)[1] + (n - p) * np.log(square)
        slopes = [np.sum(projected * part) - (n - p) * float(moved @ part @ moved) / square for part in parts]
        return float(value), np.array(slopes)

    return criterion


def _lowest(criterion: Criterion, bounds: list[tuple[float, float]]) -> tuple[Floats, float]:
    """Return the shares within bounds, of sum 1, at which a criterion is lowest, and its value there.

    The search begins in the middle of what is free and near each of its corners, since the likelihood can have several
    modes.
    """
    lows, highs = np.array(bounds).T
    free = highs > lows
    corners = np.eye(len(bounds))[free]
    starts = [free / free.sum(), *(0.9 * corner + 0.1 * free / free.sum() for corner in corners)]
    one: Any = {"type": "eq", "fun": lambda shares: shares.sum() - 1, "jac": np.ones_like}
    best, least = lows, np.inf
    for start in starts:
        found = optimize.minimize(
            criterion,
            lows + (1 - lows.sum()) * start,
            jac=True,
            bounds=bounds,
            constraints=[one],
            method="SLSQP",
            options={"ftol": 1e-11, "maxiter": 200},
        )
        shares = np.clip(found.x, lows, highs)
        value = criterion(shares / shares.sum())[0]
        if value < least:
            best, least = shares / shares.sum(), value
    return best, least


def reml_variances_beside(design: Floats, y: Floats, parts: list[Floats], known: Floats) -> Floats:
    r"""Maximize the restricted likelihood of :math:`y \sim N(X\beta, \sum_k \theta_k V_k + \theta_0 I + S)`, S known.

    Shapes: design (n, p); y (n,); parts (n, n); known (n, n).
    """
    every = [*parts, np.eye(len(y))]

    def criterion(variances: Floats) -> tuple[float, Floats]:
        covariance = known + np.tensordot(variances, every, axes=1)
        projected, _ = _project(np.linalg.inv(covariance), design)
        moved = projected @ y
        slopes = [np.sum(projected * part) - float(moved @ part @ moved) for part in every]
        return -2 * restricted_log_likelihood(design, y, covariance), np.array(slopes)

    bounds = [(0.0, MOST)] * len(parts) + [(LEAST, MOST)]
    starts = ([*[start] * len(parts), 1 - 0.9 * start] for start in (0.05, 0.5, 1.0))
    found = [optimize.minimize(criterion, start, jac=True, bounds=bounds, method="L-BFGS-B") for start in starts]
    best: Floats = min(found, key=lambda result: float(result.fun)).x
    return best


class OneEffect:
    r"""The model :math:`y \sim N(X\beta, \sigma^2(\lambda V + (1 - \lambda) I))`, by one eigen-decomposition of V.

    Parameters
    ----------
    design : ndarray, shape (n, p)
        X, of full rank.
    y : ndarray, shape (n,)
        Outcome.
    part : ndarray, shape (n, n)
        V, with unit diagonal.
    """

    def __init__(self, design: Floats, y: Floats, part: Floats) -> None:
        sizes, vectors = np.linalg.eigh(part)
        self.sizes = np.maximum(sizes, 0.0)
        self.design, self.y = vectors.T @ design, vectors.T @ y

    def profile(self, share: float) -> tuple[float, float]:
        """Return the restricted log-likelihood of a share λ, and its σ²."""
        n, p = self.design.shape
        spread = share * self.sizes + 1 - share
        weighted = self.design / spread[:, None]
        information = weighted.T @ self.design
        left = self.y - self.design @ np.linalg.solve(information, weighted.T @ self.y)
        variance = float(left @ (left / spread)) / (n - p)
        value = (n - p) * (np.log(2 * np.pi * variance) + 1) + np.log(spread).sum() + np.linalg.slogdet(information)[1]
        return -0.5 * float(value), variance

    def share(self) -> float:
        """Return the λ of the highest restricted likelihood, between 0 and 1."""
        return highest(lambda share: self.profile(share)[0], LARGEST_SHARE)

    def variances(self) -> Floats:
        """Return the variances of the effect and of the residual, shape (2,)."""
        share = self.share()
        return self.profile(share)[1] * np.array([share, 1 - share])


def highest(curve: Curve, end: float, points: int = 21) -> float:
    """Return where a smooth curve between 0 and `end` is highest, the ends included; it may have several modes."""
    grid = np.linspace(0, end, points)
    heights = [curve(float(place)) for place in grid]
    best = int(np.argmax(heights))
    around = (float(grid[max(best - 1, 0)]), float(grid[min(best + 1, points - 1)]))

    def depth(place: float) -> float:
        return -curve(place)

    found = optimize.minimize_scalar(depth, bounds=around, method="bounded", options={"xatol": 1e-9})
    return float(found.x) if -float(found.fun) > heights[best] else float(grid[best])


def share_interval(curve: Curve, share: float, end: float) -> tuple[float, float]:
    """Return the 95 % profile-likelihood interval of a share, 0 and `end` where the curve does not fall enough.

    Examples
    --------
    >>> low, high = share_interval(lambda share: -50 * (share - 0.5) ** 2, 0.5, 1.0)
    >>> round(low, 3), round(high, 3)
    (0.304, 0.696)
    """
    floor = curve(share) - DEVIANCE / 2

    def above(place: float) -> float:
        return curve(place) - floor

    low = 0.0 if share == 0 or above(0.0) >= 0 else float(optimize.brentq(above, 0.0, share, xtol=1e-6))
    high = end if share == end or above(end) >= 0 else float(optimize.brentq(above, share, end, xtol=1e-6))
    return min(low, share), max(high, share)  # a share at the end may exceed it by rounding


def restricted_log_likelihood(design: Floats, y: Floats, covariance: Floats) -> float:
    r"""Return the restricted log-likelihood of :math:`y \sim N(X\beta, V)`.

    .. math:: -\tfrac12\bigl[(n - p)\ln 2\pi + \ln|V| + \ln|X'V^{-1}X| + (y - X\hat\beta)'V^{-1}(y - X\hat\beta)\bigr]

    Examples
    --------
    >>> round(restricted_log_likelihood(np.ones((3, 1)), np.array([-1.0, 0.0, 1.0]), np.eye(3)), 4)
    -3.3872
    """
    n, p = design.shape
    factor = np.linalg.cholesky(covariance)
    white_design, white = np.linalg.solve(factor, design), np.linalg.solve(factor, y)
    information = white_design.T @ white_design
    left = white - white_design @ np.linalg.solve(information, white_design.T @ white)
    value = (n - p) * np.log(2 * np.pi) + 2 * np.log(np.diag(factor)).sum() + np.linalg.slogdet(information)[1]
    return -0.5 * float(value + left @ left)


def coefficients(
    design: Floats,
    y: Floats,
    parts: list[Floats],
    variances: Floats,
    known: Floats | None = None,
    *,
    zeros: bool = True,
) -> Coefficients:
    r"""Return generalized least squares, given the variances of :math:`V = \sum_k \theta_k V_k\,[+ S]`.

    Degrees of freedom are Satterthwaite's: twice the squared variance of a coefficient over the variance that this
    variance has by the error of the :math:`\theta_k` (Giesbrecht and Burns 1985; their expected information).

    Shapes: design (n, p); y (n,); parts (n, n); variances (K,); known (n, n).
    """
    n, p = design.shape
    covariance = np.tensordot(variances, parts, axes=1) + (0.0 if known is None else known)
    inverse = np.linalg.inv(covariance)
    projected, information = _project(inverse, design)
    spread = np.linalg.inv(information)
    weights = spread @ design.T @ inverse  # (p, n): estimates from y
    present = [
        part for part, variance in zip(parts, variances, strict=True) if zeros or variance > NONE * variances.sum()
    ]
    moved = [projected @ part for part in present]
    found = Coefficients(
        estimate=weights @ y,
        std_error=np.sqrt(np.diag(spread)),
        degrees=np.full(p, float(n - p)),
        covariance=np.asarray(spread, dtype=np.float64),
        gradients=np.array([weights @ part @ weights.T for part in present]),
        of_variances=np.asarray(np.linalg.pinv(0.5 * np.array([[np.sum(a * b.T) for b in moved] for a in moved]))),
        most=n - p,
    )
    return found._replace(degrees=found.freedom(np.eye(p)))


def _project(inverse: npt.NDArray[np.floating], design: Floats) -> tuple[npt.NDArray[np.floating], Floats]:
    """Return V⁻¹ less its part along the design, and X'V⁻¹X."""
    carried: Floats = inverse @ design
    information = design.T @ carried
    return inverse - carried @ np.linalg.solve(information, carried.T), information
