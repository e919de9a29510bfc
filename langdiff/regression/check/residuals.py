"""What a fit leaves unexplained."""

import numpy as np
import pandas as pd

from langdiff.base.signature import short_hash
from langdiff.base.types import Floats, Integers
from langdiff.errors import DataError, listing
from langdiff.regression.result import DifficultyFit
from langdiff.regression.table import as_surprisals
from langdiff.tables.surprisals import Surprisals


def standardized_residuals(fit: DifficultyFit, surprisals: Surprisals | pd.DataFrame | Floats) -> pd.DataFrame:
    r"""Return residuals of log bits over the standard deviation that the model gives them.

    .. math:: e_{ij} = \frac{z_{ij} - m_i - \delta_j - \tfrac12(\sigma^2 - v_i)}{\sqrt{v_i\,(1 - 1/J_i)\,f}}

    with :math:`v_i = \sigma^2` and no shift in model 1. :math:`1 - 1/J_i` makes up for the size of the intent,
    which is fitted to its J_i cells; f = 1 if the dispersion is free of bias (model 1, or restricted), else
    N / (N − I − J + 1), J being the number of free difficulties. In model 3 :math:`2b^2`, the variance of
    ν, is added to v; in 2C nothing is made up for.

    Parameters
    ----------
    fit : DifficultyFit
        Fit with one difficulty per edition, not per group.
    surprisals : Surprisals, DataFrame or array, shape (I, J)
        Bits of the table that was fitted; NaN where missing.

    Returns
    -------
    DataFrame, shape (I, J)
        If the model is right, about standard normal (models 1 and 2), Laplace of variance 1 (2L), or Cauchy
        (2C); NaN for missing cells and for intents with one cell, which are explained exactly.

    Raises
    ------
    DataError
        If intents or editions of the table are not in the fit, or it has all of them, in any order, with other bits.

    Examples
    --------
    >>> import langdiff as ld
    >>> surprisals = ld.simulate(400, 6, seed=0).surprisals
    >>> residuals = standardized_residuals(ld.fit(surprisals), surprisals)
    >>> bool(0.95 < residuals.to_numpy().std() < 1.05)
    True
    """
    table = as_surprisals(surprisals)
    for what, names, known in (
        ("intent", table.intents, fit.intent_size.index),
        ("edition", table.editions, fit.difficulty.index),
    ):
        unknown = [name for name in names if name not in known]
        if unknown:
            raise DataError(
                f"{len(unknown)} {what}(s) that the fit does not know: {listing(unknown)}. Give the table "
                "that was fitted; residuals need a fit with one difficulty per edition."
            )
    if table.bits.shape == (len(fit.intent_size), len(fit.difficulty)):
        in_order = table.bits.loc[list(fit.intent_size.index), list(fit.difficulty.index)]
        if f"bits:{short_hash(in_order)}" not in fit.signature:
            raise DataError("the bits are not those that were fitted. Give the table that was fitted.")
    z = np.log(table.bits.to_numpy())
    m = np.log(fit.intent_size[table.intents].to_numpy())[:, None]
    d = fit.difficulty[table.editions].to_numpy()
    deviation = z - m - d - 0.5 * (np.log1p(fit.dispersion) - model_variance(fit, np.exp(m)))
    cells = (~np.isnan(z)).sum(axis=1, keepdims=True)
    spread = (model_variance(fit, np.exp(m)) + 2 * (fit.laplace_scale or 0.0) ** 2) * _share_left(fit, cells)
    return pd.DataFrame(deviation / np.sqrt(spread), index=table.intents, columns=table.editions)


def _share_left(fit: DifficultyFit, cells: Integers) -> Floats:
    """Return the share of the variance that fitting leaves in the residuals of intents; NaN of those with one cell."""
    several = cells > 1
    if not fit.variant.has_variance:  # and so no correction
        return np.where(several, 1.0, np.nan)
    left: Floats = np.where(several, 1 - 1 / cells, np.nan)
    if fit.variant.common_variance or fit.restricted:
        return left
    total = int(cells[several].sum())
    return left * (total / (total - int(several.sum()) - fit.free_difficulties + 1))


def model_variance(fit: DifficultyFit, size: Floats) -> Floats:
    """Return v of intents of some size under a fit: the variance of z (2C: the square of its scale).

    Parameters
    ----------
    fit : DifficultyFit
        Fit whose model and dispersion are used.
    size : ndarray
        Intent sizes n, bits.
    """
    if fit.variant.common_variance:
        return np.full_like(size, np.log1p(fit.dispersion))
    variance: Floats = np.log1p(fit.dispersion / size)
    return variance
