r"""Densities of log surprisals as the models state them: the slow, plain reference for everything fitted.

All are densities of z = ln(bits); that of the bits y is less by z, the logarithm of the Jacobian dy/dz = y.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from langdiff.base.types import Floats, Model
from langdiff.regression.kernel.quadrature import log_integral, peak_between

CELLS_AT_A_TIME = 4096  # bounds the memory of model 3, which needs hundreds of nodes per cell
LEAST_VARIANCE = 1e-100  # of an intent of 10^100 bits
NEGLIGIBLE = 45.0  # e^-45 is 3e-20


def cell_log_density(
    z: Floats, m: Floats, d: Floats, kappa: float, *, model: Model, laplace_scale: float | None = None
) -> Floats:
    r"""Log-density of each log surprisal under one of the models of Mielke et al. (2019).

    With :math:`\sigma^2 = \ln(1+\kappa)`, :math:`v_i = \ln(1 + \kappa/n_i)` and
    :math:`\lambda_{ij} = m_i + d_j + \tfrac12(\sigma^2 - v_i)`:

    .. math::
        \text{1:}\;& z_{ij} \sim \mathcal{N}(m_i + d_j, \sigma^2) \\
        \text{2:}\;& z_{ij} \sim \mathcal{N}(\lambda_{ij}, v_i) \\
        \text{2L:}\;& z_{ij} \sim \mathrm{Laplace}(\lambda_{ij}, \sqrt{v_i/2}) \\
        \text{2C:}\;& z_{ij} \sim \mathrm{Cauchy}(\lambda_{ij}, \sqrt{v_i}) \\
        \text{3:}\;& p(z_{ij}) = \int \mathrm{Laplace}(\nu; 0, b)\, p_2(z_{ij} \mid m_i + \nu, d_j, \kappa)\, d\nu

    Model 3 is model 2 with a size of its own, :math:`n_i e^{\nu_{ij}}`, in each cell; here ν is
    integrated out by Gauss–Legendre quadrature on both sides of the kink at ν = 0.

    Parameters
    ----------
    z : ndarray, shape (I, J)
        Log surprisals, ln(bits); NaN where edition j lacks intent i.
    m : ndarray, shape (I,)
        Log intent sizes, ln n.
    d : ndarray, shape (J,)
        Difficulties in nats; need not be normalized.
    kappa : float
        Dispersion, exp(σ²) − 1, positive.
    model : {"1", "2", "2L", "2C", "3"}
        Name of the model, as in the equations above.
    laplace_scale : float, optional
        b of model 3, nats, positive; refused for the other models.

    Returns
    -------
    ndarray, shape (I, J)
        Log-densities; NaN where z is. In model 3 the error is below 1e-8.

    Raises
    ------
    ValueError
        If kappa or the scale is not positive, the scale is missing or out of place, or the model unknown.

    References
    ----------
    Mielke, Cotterell, Gorman, Roark and Eisner (2019), "What Kind of Language Is Hard to
    Language-Model?": equations 1, 2, 5 and 6; 2L and 2C section 3 and footnote 14; 3 appendix B,
    equations 7 to 10.

    Examples
    --------
    >>> z, m, d = np.array([[0.0, 0.5]]), np.zeros(1), np.zeros(2)
    >>> cell_log_density(z, m, d, 1.0, model="2").round(3)
    array([[-0.736, -0.916]])
    >>> cell_log_density(z, m, d, 1.0, model="3", laplace_scale=0.1).round(3)
    array([[-0.756, -0.916]])
    """
    _check(kappa, model, laplace_scale)
    size = m[:, None]
    if model == "3":
        assert laplace_scale is not None  # noqa: S101 - `_check` has seen to it
        return _by_cell(_marginal, z, m, d, kappa, laplace_scale)
    sigma2 = np.log1p(kappa)
    v = np.full_like(size, sigma2) if model == "1" else _variance(size, kappa)
    r = z - (size + d + 0.5 * (sigma2 - v))
    density: Floats
    match model:
        case "1" | "2":
            density = -0.5 * (np.log(2 * np.pi * v) + r**2 / v)
        case "2L":
            density = -0.5 * np.log(2 * v) - np.abs(r) / np.sqrt(v / 2)
        case _:
            density = -np.log(np.pi) - 0.5 * np.log(v) - np.log1p(r**2 / v)
    return density


def profile_log_density(z: Floats, m: Floats, d: Floats, kappa: float, laplace_scale: float) -> Floats:
    r"""Largest joint log-density of z and ν under model 3, in each cell.

    .. math:: \max_\nu\; \ln \mathrm{Laplace}(\nu; 0, b) + \ln p_2(z_{ij} \mid m_i + \nu, d_j, \kappa)

    With b given, this has no maximum over κ: each ν explains its cell exactly at a price that stays
    bounded, :math:`|\nu|/b + \ln 2b`, while :math:`-\tfrac12\ln v` grows without limit as κ → 0. So
    model 3 has no joint maximum in (m, d, κ, ν) to be found; its marginal likelihood
    (`cell_log_density`), which tends to that of a Laplace distribution, has.

    Parameters
    ----------
    z, m, d, kappa, laplace_scale
        The same as in `cell_log_density`.

    Returns
    -------
    ndarray, shape (I, J)
        NaN where z is.

    Raises
    ------
    ValueError
        If kappa or the scale is not positive.

    Examples
    --------
    >>> z, m, d = np.array([[0.3]]), np.zeros(1), np.zeros(1)
    >>> np.array([profile_log_density(z, m, d, kappa, 0.1).item() for kappa in (1e-2, 1e-4, 1e-6)]).round(2)
    array([0.51, 2.45, 4.75])
    """
    _check(kappa, "3", laplace_scale)
    return _by_cell(_profile, z, m, d, kappa, laplace_scale)


def _check(kappa: float, model: str, laplace_scale: float | None) -> None:
    if not kappa > 0:  # catches NaN too
        raise ValueError(f"kappa must be positive, got {kappa!r}")
    if model not in ("1", "2", "2L", "2C", "3"):
        raise ValueError(f"unknown model {model!r}")
    if (model == "3") != (laplace_scale is not None):
        raise ValueError(
            f"laplace_scale is needed for model 3 and refused for the others, got {laplace_scale!r} for {model!r}"
        )
    if laplace_scale is not None and not laplace_scale > 0:
        raise ValueError(f"laplace_scale must be positive, got {laplace_scale!r}")


def _variance(size: Floats, kappa: float) -> Floats:
    """Return v = ln(1 + κ/n): no overflow however small the intent, and never 0."""
    v: Floats = np.maximum(np.logaddexp(0.0, np.log(kappa) - size), LEAST_VARIANCE)
    return v


def _by_cell(
    function: Callable[[Floats, Floats, float, float], Floats],
    z: Floats,
    m: Floats,
    d: Floats,
    kappa: float,
    laplace_scale: float,
) -> Floats:
    """Apply a function of z − d, m, κ and b to the observed cells, some at a time."""
    rows, columns = np.nonzero(~np.isnan(z))
    centred, sizes = z[rows, columns] - d[columns], m[rows]
    density = np.full(z.shape, np.nan)
    for start in range(0, len(rows), CELLS_AT_A_TIME):
        some = slice(start, start + CELLS_AT_A_TIME)
        density[rows[some], columns[some]] = function(centred[some], sizes[some], kappa, laplace_scale)
    return density


class _Side(NamedTuple):
    """The joint log-density of z and ν, for ν of one sign, as a function of s = |ν|."""

    log_joint: Callable[[Floats], Floats]  # (cells, nodes) to (cells, nodes)
    peaks: tuple[Floats, Floats]  # where it is highest in the near and in the far half, shape (cells,) each
    reach: Floats  # beyond it is negligible, shape (cells,)
    scale: Callable[[Floats], Floats]  # on which it varies there, (cells,) to (cells,)


def _side(z: Floats, m: Floats, kappa: float, b: float, sign: int) -> _Side:
    sigma2 = np.log1p(kappa)

    def log_joint(s: Floats) -> Floats:
        size = m[:, None] + sign * s
        v = _variance(size, kappa)
        r = z[:, None] - size - 0.5 * (sigma2 - v)
        density: Floats = -s / b - np.log(2 * b) - 0.5 * (np.log(2 * np.pi * v) + r**2 / v)
        return density

    def scale(s: Floats) -> Floats:
        v = _variance(m + sign * s, kappa)
        steepness = 1 / b + np.abs(z - m - sign * s) / v
        narrowest: Floats = 0.5 * np.minimum(np.sqrt(v), 1 / steepness)
        return narrowest

    exact = z - 0.5 * sigma2  # the m + ν whose mean is z less v/2
    v = _variance(exact, kappa)
    reach = np.abs(exact - m) + v + np.minimum(NEGLIGIBLE * b, 100 + 10 * np.sqrt(v))
    # below its exact explanation (ν < 0) a cell too large for its intent may be put down to a huge variance
    farthest = np.maximum(exact + 2 * v - m, 0.0) if sign > 0 else np.where(exact < m, m - exact, reach)
    near = peak_between(log_joint, np.zeros_like(reach), 0.5 * farthest)
    far = peak_between(log_joint, 0.5 * farthest, farthest)
    return _Side(log_joint, (near, far), reach, scale)


def _marginal(z: Floats, m: Floats, kappa: float, b: float) -> Floats:
    total = np.full(z.shape, -np.inf)
    for sign in (1, -1):
        side = _side(z, m, kappa, b, sign)
        anchors = [np.zeros_like(z), *side.peaks]  # there may be three peaks: at ν = 0 and one in each half
        ends = [0.5 * (one + other) for one, other in pairwise(anchors)] + [side.reach]
        pieces = list(zip(anchors, ends, strict=True)) + list(zip(anchors[1:], ends, strict=False))
        for start, end in pieces:  # from each anchor half-way to the next, on either hand
            total = np.logaddexp(total, log_integral(side.log_joint, start, end - start, side.scale(start)))
    return total


def _profile(z: Floats, m: Floats, kappa: float, b: float) -> Floats:
    best = np.full(z.shape, -np.inf)
    for sign in (1, -1):
        side = _side(z, m, kappa, b, sign)
        best = np.maximum(best, side.log_joint(np.column_stack(side.peaks)).max(axis=1))
    return best
