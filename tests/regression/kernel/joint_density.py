"""The joint density of log surprisals and noise under model 3, which has no maximum: for the tests."""

import numpy as np

from langdiff.base.types import Floats
from langdiff.regression.variants.blunders import _side


def profile_log_density(z: Floats, m: Floats, d: Floats, kappa: float, laplace_scale: float) -> Floats:
    r"""Largest joint log-density of z and ν under model 3, in each cell.

    .. math:: \max_\nu\; \ln \mathrm{Laplace}(\nu; 0, b) + \ln p_2(z_{ij} \mid m_i + \nu, d_j, \kappa)

    With b given, this has no maximum over κ: each ν explains its cell exactly at a price that stays
    bounded, :math:`|\nu|/b + \ln 2b`, while :math:`-\tfrac12\ln v` grows without limit as κ → 0. So
    model 3 has no joint maximum in (m, d, κ, ν) to be found; its marginal likelihood
    (`cell_log_density`), which tends to that of a Laplace distribution, has.
    """
    rows, columns = np.nonzero(~np.isnan(z))
    density = np.full(z.shape, np.nan)
    density[rows, columns] = _profile(z[rows, columns] - d[columns], m[rows], kappa, laplace_scale)
    return density


def _profile(z: Floats, m: Floats, kappa: float, b: float) -> Floats:
    best = np.full(z.shape, -np.inf)
    for sign in (1, -1):
        side = _side(z, m, kappa, b, sign)
        best = np.maximum(best, side.log_joint(np.column_stack(side.peaks)).max(axis=1))
    return best
