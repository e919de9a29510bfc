r"""How far fits with fixed and with random intents lie apart, and whether by more than chance.

Fixed intents are valid if cells are missing for the intent's sake, random ones if for the sake of observed cells; where
both are, :math:`D = \hat c_F - \hat c_R` is small beside its variance. This is estimated from what each row
contributes to either fit, :math:`V = \sum_i (\psi_i^F - \psi_i^R)(\psi_i^F - \psi_i^R)^\top`, which needs neither
model to be right.

Source: Hausman (1978), "Specification tests in econometrics"; V as in White (1982), "Maximum likelihood estimation of
misspecified models"; Hotelling (1931), "The generalization of Student's ratio".
"""

from typing import NamedTuple

import numpy as np
from scipy.stats import f as fisher

from langdiff.base.types import Floats
from langdiff.errors import ConfigError
from langdiff.regression.kernel.likelihood import ScaleFreeLikelihood
from langdiff.regression.kernel.two_way import TwoWay, inverse_information

SAME = 1e-8  # of the spread of influences: as little as two fits may differ by in rounding, and be the same
RANK_TOLERANCE = 1e-10


class Distance(NamedTuple):
    """D, shape (J,), with mean 0; DᵀV⁺D; the chance of a larger one if both fits are right; the rank of V."""

    difference: Floats
    statistic: float
    p_value: float
    rank: int


def distance_of_fits(c_fixed: Floats, influence_fixed: Floats, c_random: Floats, influence_random: Floats) -> Distance:
    """Test whether difficulties with fixed and with random intents differ by more than chance.

    With r the rank of V, J − 1 at most, the statistic is χ² with r degrees of freedom if there are many rows. As V is
    estimated from I of them, the p-value is that of Hotelling's T², an F distribution that tends to it: with 1,000 rows
    and 5 editions they agree, with 300 rows and 21 editions χ² would reject 17 % instead of 5, this 7 %. From 100 rows
    and 21 editions either rejects too much.

    The fixed fit of model 2 should be the restricted one: without it the many intent sizes bias c in incomplete tables,
    by little, but by more than D varies (1,000 rows, 5 editions, cells missing at random: 16 % of tests reject, with it
    7 %).

    A small p-value says that at least one of the two is biased, since cells are missing for reasons that it does not
    allow; it cannot say which.

    Parameters
    ----------
    c_fixed, c_random : ndarray, shape (J,)
        Difficulties up to a constant.
    influence_fixed, influence_random : ndarray, shape (I, J)
        What each row contributes to them; see `influence_of_fixed` and `RandomEstimate.influence`.

    Returns
    -------
    Distance
        With statistic 0 and p-value 1 if the fits are the same, as those of model 1 on complete tables are; the
        p-value is NaN if there are no more rows than r.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> fixed = rng.normal(size=(500, 3)) / 500
    >>> random = fixed + rng.normal(size=(500, 3)) / 5000
    >>> bool(distance_of_fits(fixed.sum(axis=0), fixed, random.sum(axis=0), random).p_value > 0.001)
    True
    """
    difference = c_fixed - c_random
    difference = difference - difference.mean()
    apart = influence_fixed - influence_random
    apart = apart - apart.mean(axis=1, keepdims=True)
    variance, axes = np.linalg.eigh(apart.T @ apart)
    scale = float(np.max(np.sum((influence_fixed - influence_fixed.mean(axis=1, keepdims=True)) ** 2, axis=0)))
    if variance[-1] <= SAME**2 * scale:
        return Distance(difference, 0.0, 1.0, 0)
    known = variance > RANK_TOLERANCE * variance[-1]
    along = axes[:, known].T @ difference
    statistic = float(np.sum(along**2 / variance[known]))
    rank, rows = int(known.sum()), len(apart)
    p_value = float(fisher.sf(statistic * (rows - rank) / (rank * (rows - 1)), rank, rows - rank))
    return Distance(difference, statistic, p_value, rank)


def influence_of_fixed(two_way: TwoWay, *, model: str, c: Floats, sizes: Floats, restricted: bool = False) -> Floats:
    """Return what each row contributes to c of a fit with fixed intents, B⁺s.

    Parameters
    ----------
    two_way : TwoWay
        Model 1 fitted to the table.
    model : {"1", "2"}
        Regression model.
    c, sizes : ndarray, shapes (J,) and (I,)
        The fit: in model 2 the scale-free c and μ, each row's at its mode.
    restricted : bool
        Whether the fit of model 2 is that of the restricted likelihood.

    Returns
    -------
    ndarray, shape (I, J)

    Raises
    ------
    ConfigError
        If the model is another.
    """
    if model not in ("1", "2"):
        raise ConfigError(f"influences of fixed intents are known for models '1' and '2', not {model!r}.")
    if model == "1":
        information = two_way.laplacian + two_way.cells_per_edition.mean() / len(c)
        scores = two_way.residual
    else:
        v = np.logaddexp(0.0, -sizes)
        location = sizes - 0.5 * v
        x = two_way.residual + two_way.intent_effect[:, None] + (two_way.edition_effect - c)
        scores = (x - location[:, None]) / v[:, None]
        if two_way.mask is not None:
            scores = scores * two_way.mask
        information = ScaleFreeLikelihood(two_way, restricted).information(sizes, c)
    influence: Floats = scores @ inverse_information(two_way, information)
    return influence
