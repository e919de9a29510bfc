r"""Likelihoods that are sums over cells: costs of cells and their derivatives, and information by row.

In the scale-free parameters of `langdiff.regression.kernel.likelihood`, with :math:`x_{ij} = z_{ij} - c_j`,
:math:`v = \ln(1 + e^{-\mu})` and :math:`h = \mu - v/2`, a cell costs minus its log-density in z; in model 2

.. math:: \tfrac12\ln 2\pi v + \tfrac12 t^2, \quad t = (x - h)/\sqrt v.

The fit of model 2 needs only sums over rows (`langdiff.regression.kernel.likelihood`); its cells serve the errors that
are robust. Costs of other models are in `langdiff.regression.variants`.

For the cost of a row, :math:`F_i(\mu_i, c) = \sum_j f(z_{ij} - c_j, \mu_i)`, least in :math:`\mu_i`, the score is
:math:`s_{ij} = f_x`, and the information on c with :math:`\mu_i` eliminated

.. math:: B_i = \mathrm{diag}(f_{xx}) - f_{x\mu} f_{x\mu}^\top / H_i, \quad H_i = \partial^2 F_i / \partial\mu_i^2.
"""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from scipy.linalg import LinAlgError
from scipy.special import expit

from langdiff.base.types import CELLS_WITH_TEMPORARIES, Floats
from langdiff.regression.kernel.likelihood import (
    Gradient,
    RowInformation,
    Rows,
    ScaleFreeLikelihood,
    Scales,
    mu_at_mean,
)
from langdiff.regression.kernel.two_way import TwoWay

NEAR_QUANTILES = (0.0, 0.25, 0.5, 0.75, 1.0)  # of a row's z − c, where the first mode of an intent may lie
FAR_VARIANCES = np.geomspace(0.3, 100, 20)  # where the second mode of an intent lies, if it has one
LEAST_GAIN = 1e-3  # of log-likelihood, for an intent to be moved there: far above what rounding off a kink costs
LEAST_CURVATURE = 1e-3  # of what model 2 would have, so that no scale becomes extreme


class Cells(NamedTuple):
    """Costs of a block of cells and their derivatives, all of the block's shape."""

    value: Floats
    of_mu: Floats
    of_x: Floats


class SecondDerivatives(NamedTuple):
    """Second derivatives of the costs of a block of cells, all of the block's shape."""

    of_x: Floats
    mixed: Floats
    of_mu: Floats


class CellModel(Protocol):
    """Cost (minus log-likelihood) of cells, given x = z − c of shape (R, J) and μ of shape (R, 1)."""

    def cells(self, x: Floats, mu: Floats) -> Cells:
        """Return costs and their derivatives in μ and x."""

    def curvature(self, x: Floats, mu: Floats) -> Floats:
        """Return the second derivative in x, or an upper bound of it; never negative."""

    def second_derivatives(self, x: Floats, mu: Floats) -> SecondDerivatives:
        """Return the second derivatives of the costs, of either sign."""

    def information(self) -> tuple[float, float]:
        """Return the expected information of a cell on its location, times v, and on the logarithm of its scale."""


@dataclass(frozen=True)
class NormalCells:
    r"""Cost of a cell in model 2, :math:`\tfrac12(\ln 2\pi v + t^2)`."""

    def cells(self, x: Floats, mu: Floats) -> Cells:
        """Return the cost of each cell and its derivatives; see `CellModel`."""
        v, scale, slope, narrowing = scale_of_cells(mu)
        t = (x - (mu - 0.5 * v)) / scale
        return chain(0.5 * (np.log(2 * np.pi * v) + t * t), t, t, scale, slope, narrowing)

    def curvature(self, x: Floats, mu: Floats) -> Floats:
        """Return the second derivative in x."""
        return 1 / np.logaddexp(0.0, -mu) + np.zeros_like(x)

    def second_derivatives(self, x: Floats, mu: Floats) -> SecondDerivatives:
        """Return the second derivatives of the costs; see `CellModel`."""
        t = standardized(x, mu)
        return chain_twice(t, np.ones_like(t), t, mu)

    def information(self) -> tuple[float, float]:
        """Return the information of a cell; see `CellModel`."""
        return 1.0, 0.5


def scale_of_cells(mu: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the variance v of cells, √v, the slope h' of their location in μ, and −(ln √v)'."""
    v = np.logaddexp(0.0, -mu)
    p = expit(-mu)
    return v, np.sqrt(v), 1 + 0.5 * p, 0.5 * p / v


def chain(value: Floats, pull: Floats, t: Floats, scale: Floats, slope: Floats, narrowing: Floats) -> Cells:
    """Return costs with derivatives in μ and x by the chain rule from `pull`, the derivative in t."""
    of_x = pull / scale
    return Cells(value, pull * t * narrowing - of_x * slope - narrowing, of_x)


def standardized(x: Floats, mu: Floats) -> Floats:
    """Return the standardized residual t = (x − h)/√v of cells."""
    v = np.logaddexp(0.0, -mu)
    return (x - (mu - 0.5 * v)) / np.sqrt(v)


def chain_twice(pull: Floats, bend: Floats, t: Floats, mu: Floats) -> SecondDerivatives:
    """Return second derivatives in μ and x from `pull` and `bend`, the first and second derivative in t."""
    v, scale, slope, narrowing = scale_of_cells(mu)
    p = expit(-mu)
    steepening, narrower = -0.5 * p * (1 - p), 0.5 * p * (p / v - (1 - p)) / v  # h'' and −(ln √v)''
    of_t = t * narrowing - slope / scale  # dt/dμ, and its derivative
    of_of_t = of_t * narrowing + t * narrower - (steepening + slope * narrowing) / scale
    return SecondDerivatives(
        of_x=bend / v,
        mixed=(bend * of_t + pull * narrowing) / scale,
        of_mu=bend * of_t**2 + pull * of_of_t - narrower,
    )


@dataclass(frozen=True, eq=False, repr=False)
class CellLikelihood:
    """Likelihood of μ and c under a model of cells, for `langdiff.regression.kernel.optimizers`.

    Parameters
    ----------
    two_way : TwoWay
        Model 1 fitted to the same table.
    model : CellModel
        Cost of a cell under the model.
    restricted : bool
        Count ½ ln v once less in each row; see `langdiff.regression.kernel.likelihood`.
    second_modes : bool
        Let `best_intents` look for likelier modes of intents.
    """

    two_way: TwoWay
    model: CellModel
    restricted: bool = False
    second_modes: bool = False

    def blocks(self, c: Floats) -> list[slice]:
        """Return slices of rows that are computed together, so that little memory is used."""
        rows = max(1, CELLS_WITH_TEMPORARIES // len(c))
        return [slice(start, start + rows) for start in range(0, len(self.two_way.intent_effect), rows)]

    def intent_values(self, mu: Floats, c: Floats) -> Floats:
        """Return minus the log-likelihood of each row of z, shape (I,)."""
        return self._sums(mu, c)[0]

    def value_and_gradient(self, mu: Floats, c: Floats, baseline: Floats) -> Gradient:
        """Return minus the log-likelihood, less a baseline of each row, and its gradient."""
        values, of_mu, of_c = self._sums(mu, c)
        return Gradient(float(np.sum(values - baseline)), of_mu, of_c)

    def _sums(self, mu: Floats, c: Floats) -> tuple[Floats, Floats, Floats]:
        values, of_mu, of_c = np.empty_like(mu), np.empty_like(mu), np.zeros_like(c)
        mask = self.two_way.mask
        for rows in self.blocks(c):
            cells = self.model.cells(self.two_way.less(rows, c), mu[rows, None])
            if mask is None:
                values[rows], of_mu[rows] = cells.value.sum(axis=1), cells.of_mu.sum(axis=1)
                of_c -= cells.of_x.sum(axis=0)
            else:
                values[rows] = np.einsum("ij,ij->i", cells.value, mask[rows])
                of_mu[rows] = np.einsum("ij,ij->i", cells.of_mu, mask[rows])
                of_c -= np.einsum("ij,ij->j", cells.of_x, mask[rows])
        if self.restricted:
            v = np.logaddexp(0.0, -mu)
            values -= 0.5 * np.log(v)
            of_mu += 0.5 * expit(-mu) / v
        return values, of_mu, of_c

    def curvatures(self, mu: Floats, c: Floats) -> tuple[Floats, Floats]:
        """Return the sums over rows and over columns of the curvature in x, shapes (I,) and (J,)."""
        of_rows, of_columns = np.empty_like(mu), np.zeros_like(c)
        mask = self.two_way.mask
        for rows in self.blocks(c):
            curvature = self.model.curvature(self.two_way.less(rows, c), mu[rows, None])
            if mask is not None:
                curvature *= mask[rows]
            of_rows[rows] = curvature.sum(axis=1)
            of_columns += curvature.sum(axis=0)
        return of_rows, of_columns

    def scales(self, mu: Floats, c: Floats) -> Scales:
        """Return inverse square roots of the curvature, as scales for L-BFGS."""
        v, _, slope, narrowing = scale_of_cells(mu)
        n, w = self.two_way.cells_per_intent, 1 / v
        normal_c = self.two_way.over_columns(w)
        of_rows, of_c = self.curvatures(mu, c)
        of_scale = 2 * n * narrowing**2
        of_mu = slope**2 * np.maximum(of_rows, LEAST_CURVATURE * n * w) + of_scale
        of_c = np.maximum(of_c, LEAST_CURVATURE * normal_c)
        if self.two_way.design is not None:
            of_c = of_c @ self.two_way.design**2
        of_k = float(np.sum((slope - 1) ** 2 * n * w + of_scale))
        return Scales(1 / np.sqrt(of_mu), 1 / np.sqrt(of_c), of_k**-0.5)

    def start(self) -> tuple[Floats, Floats]:
        """Return starting values of μ and c, those of model 2."""
        return ScaleFreeLikelihood(self.two_way, self.restricted).start()

    def best_intents(self, mu: Floats, c: Floats) -> Floats:
        """Return μ with every intent moved to another mode if that is likelier, at fixed c.

        See `ScaleFreeLikelihood.best_intents`; here every candidate costs a pass over the table.
        """
        if not self.second_modes:
            return mu
        quantiles = np.empty((len(NEAR_QUANTILES), len(mu)))
        for rows in self.blocks(c):
            x = self.two_way.less(rows, c)
            if self.two_way.mask is not None:
                x[~self.two_way.mask[rows]] = np.nan
            quantiles[:, rows] = np.nanquantile(x, NEAR_QUANTILES, axis=1)
        best, least = mu, self.intent_values(mu, c) - LEAST_GAIN
        far = -np.log(np.expm1(FAR_VARIANCES))
        for candidate in [*map(mu_at_mean, quantiles), *(np.full_like(mu, u) for u in far)]:
            values = self.intent_values(candidate, c)
            best, least = np.where(values < least, candidate, best), np.minimum(values, least)
        return best


def second_order(likelihood: CellLikelihood, mu: Floats, c: Floats) -> tuple[RowInformation, Floats]:
    """Return scores and information of rows, with the square root of their curvature in μ, H, of shape (I,).

    H is infinite in rows without information on μ: in model 3, rows in which every cell has noise.

    Raises
    ------
    numpy.linalg.LinAlgError
        If some H is not positive.
    """
    shape, mask = likelihood.two_way.residual.shape, likelihood.two_way.mask
    score, weight, mixed, curvature = np.empty(shape), np.empty(shape), np.empty(shape), np.empty(len(mu))
    for rows in likelihood.blocks(c):
        x, size = likelihood.two_way.less(rows, c), mu[rows, None]
        first, second = likelihood.model.cells(x, size), likelihood.model.second_derivatives(x, size)
        observed = 1.0 if mask is None else mask[rows]
        score[rows], weight[rows] = first.of_x * observed, second.of_x * observed
        mixed[rows] = second.mixed * observed
        curvature[rows] = (second.of_mu * observed).sum(axis=1)
    silent = (mixed == 0).all(axis=1) & (curvature == 0)
    if likelihood.restricted:
        v, p = np.logaddexp(0.0, -mu), expit(-mu)
        curvature -= 0.5 * p * ((1 - p) - p / v) / v
    if not (curvature[~silent] > 0).all():
        raise LinAlgError("the log-likelihood is not concave in an intent size")
    root = np.sqrt(np.where(silent, np.inf, curvature))
    mixed /= root[:, None]
    return Rows(score, weight, mixed).kept(), root
