"""Likelihood of intent sizes and difficulties under a model of cells; see `langdiff.regression.kernel.cells`."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from langdiff.base.types import Floats
from langdiff.regression.kernel.cells import CellModel, scale_of_cells
from langdiff.regression.kernel.likelihood import Gradient, ScaleFreeLikelihood, Scales, mu_at_mean
from langdiff.regression.kernel.two_way import TwoWay

CELLS_AT_A_TIME = 32768  # so that temporaries stay in the processor's cache
NEAR_QUANTILES = (0.0, 0.25, 0.5, 0.75, 1.0)  # of a row's z − c, where the first mode of an intent may lie
FAR_VARIANCES = np.geomspace(0.3, 100, 20)  # where the second mode of an intent lies, if it has one
LEAST_GAIN = 1e-3  # of log-likelihood, for an intent to be moved there: far above what rounding off a kink costs
LEAST_CURVATURE = 1e-3  # of what model 2 would have, so that no scale becomes extreme


@dataclass(frozen=True, eq=False, repr=False)
class CellLikelihood:
    """Likelihood of μ and c under a model of cells, for `langdiff.regression.kernel.lbfgs`.

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
        """Return the rows that are taken at a time."""
        rows = max(1, CELLS_AT_A_TIME // len(c))
        return [slice(start, start + rows) for start in range(0, len(self.two_way.intent_effect), rows)]

    def x(self, rows: slice, c: Floats) -> Floats:
        """Return z − c of some rows; any number in missing cells."""
        table = self.two_way
        x: Floats = table.residual[rows] + table.intent_effect[rows, None] + (table.edition_effect - c)
        return x

    def intent_values(self, mu: Floats, c: Floats) -> Floats:
        """Return minus the log-likelihood of each row of z, shape (I,)."""
        return self._sums(mu, c)[0]

    def value_and_gradient(self, mu: Floats, c: Floats, baseline: Floats) -> Gradient:
        """Return minus the log-likelihood less a baseline of each row, and its gradient."""
        values, of_mu, of_c = self._sums(mu, c)
        return Gradient(float(np.sum(values - baseline)), of_mu, of_c)

    def _sums(self, mu: Floats, c: Floats) -> tuple[Floats, Floats, Floats]:
        values, of_mu, of_c = np.empty_like(mu), np.empty_like(mu), np.zeros_like(c)
        mask = self.two_way.mask
        for rows in self.blocks(c):
            cells = self.model.cells(self.x(rows, c), mu[rows, None])
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
            curvature = self.model.curvature(self.x(rows, c), mu[rows, None])
            if mask is not None:
                curvature *= mask[rows]
            of_rows[rows] = curvature.sum(axis=1)
            of_columns += curvature.sum(axis=0)
        return of_rows, of_columns

    def scales(self, mu: Floats, c: Floats) -> Scales:
        """Return inverse square roots of the curvature."""
        v, _, slope, narrowing = scale_of_cells(mu)
        n, w = self.two_way.cells_per_intent, 1 / v
        normal_c = np.full(len(c), w.sum()) if self.two_way.mask is None else w @ self.two_way.mask
        of_rows, of_c = self.curvatures(mu, c)
        of_scale = 2 * n * narrowing**2
        of_mu = slope**2 * np.maximum(of_rows, LEAST_CURVATURE * n * w) + of_scale
        of_c = np.maximum(of_c, LEAST_CURVATURE * normal_c)
        if self.two_way.design is not None:
            of_c = of_c @ self.two_way.design**2
        of_k = float(np.sum((slope - 1) ** 2 * n * w + of_scale))
        return Scales(1 / np.sqrt(of_mu), 1 / np.sqrt(of_c), of_k**-0.5)

    def start(self) -> tuple[Floats, Floats]:
        """Return where model 2 starts."""
        return ScaleFreeLikelihood(self.two_way, self.restricted).start()

    def best_intents(self, mu: Floats, c: Floats) -> Floats:
        """Return μ with every intent moved to another mode if that is likelier, c held fixed.

        See `ScaleFreeLikelihood.best_intents`; here every candidate costs a pass over the table.
        """
        if not self.second_modes:
            return mu
        quantiles = np.empty((len(NEAR_QUANTILES), len(mu)))
        for rows in self.blocks(c):
            x = self.x(rows, c)
            if self.two_way.mask is not None:
                x[self.two_way.mask[rows] == 0] = np.nan
            quantiles[:, rows] = np.nanquantile(x, NEAR_QUANTILES, axis=1)
        best, least = mu, self.intent_values(mu, c) - LEAST_GAIN
        far = -np.log(np.expm1(FAR_VARIANCES))
        for candidate in [*map(mu_at_mean, quantiles), *(np.full_like(mu, u) for u in far)]:
            values = self.intent_values(candidate, c)
            best, least = np.where(values < least, candidate, best), np.minimum(values, least)
        return best
