r"""What each row says of the difficulties, its size at the mode: scores and information.

For the cost of a row, :math:`F_i(\mu_i, c) = \sum_j f(z_{ij} - c_j, \mu_i)`, least in :math:`\mu_i`, the score is
:math:`s_{ij} = f_x`, and the information on c with :math:`\mu_i` eliminated

.. math:: B_i = \mathrm{diag}(f_{xx}) - f_{x\mu} f_{x\mu}^\top / H_i, \quad H_i = \partial^2 F_i / \partial\mu_i^2.

Model 1 is scaled by its common variance, of which the sandwich
:math:`B^+ (\sum_i s_i s_i^\top) B^+` is free: its scores are the residuals within rows and
:math:`B_i = \mathrm{diag}(M_i) - M_i M_i^\top / J_i`.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError
from scipy.special import expit

from langdiff.base.types import Floats
from langdiff.errors import ConfigError
from langdiff.regression.kernel.cell_likelihood import CellLikelihood
from langdiff.regression.kernel.cells import CauchyCells, CellModel, LaplaceCells, NormalCells, SparseCells
from langdiff.regression.kernel.two_way import TwoWay

if TYPE_CHECKING:
    from langdiff.regression.kernel.models import Estimate, Settings


class RowInformation(NamedTuple):
    """Scores and information of rows, all of shape (I, J) and 0 in missing cells.

    `score` is the derivative of the log-likelihood in c, whose columns sum to 0 at the optimum. The
    information of row i is diag(`weight[i]`) − `mixed[i]` `mixed[i]`ᵀ.
    """

    score: Floats
    weight: Floats
    mixed: Floats

    @property
    def total(self) -> Floats:
        """Information of all rows, shape (J, J)."""
        total: Floats = np.diag(self.weight.sum(axis=0)) - self.mixed.T @ self.mixed
        return total


def row_information(two_way: TwoWay, settings: "Settings", found: "Estimate") -> RowInformation:
    """Return the scores and the information of the rows at an estimate.

    Parameters
    ----------
    two_way : TwoWay
        Model 1 fitted to the table that the estimate is from.
    settings : Settings
        The model that was fitted, and how.
    found : Estimate
        The estimate.

    Raises
    ------
    ConfigError
        If model 2L was fitted to its kink, which has no second derivatives.
    numpy.linalg.LinAlgError
        If the log-likelihood is not concave in some μ there.
    """
    if settings.model == "1":
        return _of_model_1(two_way)
    likelihood = CellLikelihood(two_way, _cells(settings), settings.restricted)
    rows, _ = second_order(likelihood, found.sizes, found.c)
    return rows


def _of_model_1(two_way: TwoWay) -> RowInformation:
    mask = np.ones_like(two_way.residual) if two_way.mask is None else two_way.mask
    return RowInformation(two_way.residual, mask, mask / np.sqrt(two_way.cells_per_intent)[:, None])


def _cells(settings: "Settings") -> CellModel:
    if settings.laplace_scale is not None:
        return SparseCells(settings.laplace_scale)
    if settings.model == "2":
        return NormalCells()
    if settings.model == "2C":
        return CauchyCells()
    if settings.rounding == 0:
        raise ConfigError(
            "model 2L was fitted to its kink (rounding=0), where a sandwich has no information to divide by: its "
            "errors come from leaving out intents. Use rounding=0.3 for a sandwich."
        )
    return LaplaceCells(settings.rounding)


def second_order(likelihood: CellLikelihood, mu: Floats, c: Floats) -> tuple[RowInformation, Floats]:
    """Return the scores and the information of the rows, and the roots of H, shape (I,).

    H is infinite in rows that say nothing of μ: in model 3 those in which every cell has noise.

    Raises
    ------
    numpy.linalg.LinAlgError
        If some H is not positive.
    """
    shape, mask = likelihood.two_way.residual.shape, likelihood.two_way.mask
    score, weight, mixed, curvature = np.empty(shape), np.empty(shape), np.empty(shape), np.empty(len(mu))
    for rows in likelihood.blocks(c):
        x, size = likelihood.x(rows, c), mu[rows, None]
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
    return RowInformation(score, weight, mixed), root
