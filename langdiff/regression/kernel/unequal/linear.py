r"""Model 1 with unequal noise, sizes integrated out in closed form.

Each row says :math:`z_{ij} = m_i + c_j + \epsilon_{ij}`, :math:`\epsilon_{ij} \sim \mathcal N(0, s_j^2)`. With
:math:`r_{ij} = z_{ij} - c_j`, precisions :math:`p_j = s_j^{-2}`, :math:`P_i = \sum_j p_j` and the weighted mean
:math:`\bar r_i = \sum_j p_j r_{ij} / P_i`, all over the :math:`J_i` observed cells, integrating
:math:`m_i` over a flat prior leaves

.. math:: \ell_i = -\tfrac12\Bigl[(J_i - 1)\ln 2\pi + \sum_j \ln s_j^2 + \ln P_i
          + \sum_j p_j (r_{ij} - \bar r_i)^2\Bigr]

(Grubbs 1948, "On estimating precision of measuring instruments and product variability"). A normal prior
:math:`m_i \sim \mathcal N(a, \tau^2)` is one cell more in every row: the value 0 of a column of level
:math:`-a` and variance :math:`\tau^2`.
"""

import numpy as np

from langdiff.base.types import Floats, Integers
from langdiff.regression.kernel.unequal.rows import Rows


class LinearLikelihood:
    """Log-likelihood of model 1 with one variance per edition; see the module and `RowLikelihood`.

    Parameters
    ----------
    z : ndarray, shape (I, J)
        Log surprisals, NaN where missing.
    normal : bool
        Whether sizes have a normal prior; otherwise it is flat, and every row needs two cells.
    """

    def __init__(self, z: Floats, *, normal: bool) -> None:
        intents, editions = z.shape
        if normal:
            z = np.column_stack([z, np.zeros(intents)])
        observed = ~np.isnan(z)
        self.mask = observed.astype(float)
        self.z = np.where(observed, z, 0.0)
        self.columns = z.shape[1]
        # from the parameters by edition to levels and log-variances of all columns
        self.to_columns = np.zeros((2 * self.columns, 2 * self.columns))
        editions_of = np.arange(editions)
        self.to_columns[editions_of, editions_of] = 1
        self.to_columns[self.columns + editions_of, editions + editions_of] = 1
        if normal:
            self.to_columns[editions, -2] = -1
            self.to_columns[-1, -1] = 2  # ln τ² from ln τ

    def _errors(self, parameters: Floats, which: Integers | slice) -> tuple[Floats, Floats, Floats]:
        """Return precisions (R, C), their sums (R, 1) and what is left of cells (R, C), 0 where missing."""
        columns = self.to_columns @ parameters
        precision = self.mask[which] * np.exp(-columns[self.columns :])
        total = precision.sum(axis=1, keepdims=True)
        residual = self.mask[which] * (self.z[which] - columns[: self.columns])
        mean = (precision * residual).sum(axis=1, keepdims=True) / total
        return precision, total, self.mask[which] * (residual - mean)

    def rows(self, parameters: Floats) -> Rows:
        """Return the log-likelihood of each row with its derivatives."""
        precision, total, error = self._errors(parameters, slice(None))
        columns = self.to_columns @ parameters
        cells = self.mask.sum(axis=1)
        values = -0.5 * (
            (cells - 1) * np.log(2 * np.pi)
            + self.mask @ columns[self.columns :]
            + np.log(total[:, 0])
            + (precision * error**2).sum(axis=1)
        )
        scores = np.column_stack([precision * error, 0.5 * (precision * (error**2 + 1 / total) - self.mask)])
        sizes = (precision * (self.z - columns[: self.columns])).sum(axis=1) / total[:, 0]
        return Rows(values, scores @ self.to_columns, sizes)

    def information(self, parameters: Floats, which: Integers | slice) -> Floats:
        """Return minus the second derivative of the log-likelihood of the rows `which`, shape (E, E)."""
        precision, total, error = self._errors(parameters, which)
        scaled, share = precision / np.sqrt(total), precision / total
        pulled = scaled * error
        levels = np.diag(precision.sum(axis=0)) - scaled.T @ scaled
        mixed = np.diag((precision * error).sum(axis=0)) - scaled.T @ pulled
        spread = np.diag(0.5 * (precision * (error**2 + 1 / total)).sum(axis=0))
        variances = spread - pulled.T @ pulled - 0.5 * share.T @ share
        information: Floats = self.to_columns.T @ np.block([[levels, mixed], [mixed.T, variances]]) @ self.to_columns
        return information

    def complete_information(self, parameters: Floats) -> Floats:
        """Return the expected information if sizes were observed, shape (E, E); positive definite."""
        columns = self.to_columns @ parameters
        cells = self.mask.sum(axis=0)
        diagonal = np.concatenate([cells * np.exp(-columns[self.columns :]), 0.5 * cells])
        information: Floats = self.to_columns.T @ (diagonal[:, None] * self.to_columns)
        return information
