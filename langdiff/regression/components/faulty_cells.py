r"""Cells that look faulty: translations that do not say the same, found by what language models agree on.

With residuals :math:`e^l_{ij} = z^l_{ij} - m^l_i - d^l_j` of language model l, the part that all L models share is
:math:`\nu_{ij}`. Residuals vary more in short intents and in some editions; each is divided by
:math:`s^l_i t^l_j`, robust scales of its row and its column, and

.. math:: \hat\nu_{ij} = \frac{L\,\sigma^2_\nu}{L\,\sigma^2_\nu + \sigma^2_\epsilon}\;\frac1L \sum_l
          \frac{e^l_{ij}}{s^l_i t^l_j}

is the best linear predictor of the shared part. Its p-values are of Student's t with the tails that the middle of all
cells has, so that a few faulty ones do not decide what is usual.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.stats import false_discovery_control
from scipy.stats import t as student

from langdiff._types import Floats
from langdiff.errors import ConfigError, DataError
from langdiff.regression.kernel.two_way import solve_two_way
from langdiff.regression.table import named_tables
from langdiff.surprisals import Surprisals

NORMAL_MEDIAN = 0.6744897501960817  # of |z| of a standard normal
ROUNDING = 1e-12  # residual that is none, nats
ROUNDS = 5  # of scaling rows and columns in turn
PULL = 10  # cells that the scale of all counts for beside those of a row or column
FEWEST_ROWS, FEWEST_COLUMNS = 20, 5
MOST_FREEDOM = 200.0
INNER, OUTER = 0.5, 0.9  # quantiles of |ν| that its usual distribution is fitted to


def flag_cells(surprisals_by_lm: Mapping[str, Surprisals], *, q: float = 0.05) -> pd.DataFrame:
    """Test every cell for a translation that needs more or fewer bits than its intent and its edition explain.

    Parameters
    ----------
    surprisals_by_lm : mapping from str to Surprisals, shape (I, J)
        Surprisals of the same cells by two or more language models.
    q : float
        False discovery rate over all cells (Benjamini and Hochberg).

    Returns
    -------
    DataFrame
        One row per cell, the most suspect first: ``intent``, ``edition``; ``percent``, by how many percent it needs
        more (or fewer) bits than expected, on average over the language models; ``score``, the shared part in units of
        its own scale; ``p``, ``p_adjusted`` and ``flagged``.

    Raises
    ------
    ConfigError
        If there are fewer than two language models or q is not between 0 and 1.
    DataError
        If the tables differ in intents, editions or missing cells, are smaller than 20 intents × 5 editions,
        or most residuals are 0.

    Notes
    -----
    A cell that is flagged has other bits than expected; whether it is a fault, only a reader of the text can tell. A
    translation of another sentence of the same length is not found.

    Examples
    --------
    >>> import langdiff as ld
    >>> bits = ld.simulate(200, 20, seed=1).surprisals.bits
    >>> bits.iloc[17, 3] *= 8
    >>> noise = np.exp(np.random.default_rng(1).normal(0, 0.03, (2, *bits.shape)))
    >>> found = flag_cells({"one": ld.Surprisals(bits=bits * noise[0]), "other": ld.Surprisals(bits=bits * noise[1])})
    >>> found[["intent", "edition", "flagged"]].iloc[0].tolist() == [bits.index[17], bits.columns[3], True]
    True
    """
    by_lm = named_tables(surprisals_by_lm)
    if len(by_lm) < 2:
        raise ConfigError("give two or more language models: what one alone finds may be its own fault.")
    if not 0 < q < 1:
        raise ConfigError(f"q must be between 0 and 1, got {q!r}.")
    tables = list(by_lm.values())
    first = tables[0]
    for name, table in by_lm.items():
        alike = table.intents.equals(first.intents) and table.editions.equals(first.editions)
        if not alike or (table.bits.isna() != first.bits.isna()).to_numpy().any():
            raise DataError(f"the table of {name!r} has other intents, editions or missing cells than the first.")
    if first.bits.shape[0] < FEWEST_ROWS or first.bits.shape[1] < FEWEST_COLUMNS:
        raise DataError(
            f"{first.bits.shape[0]} intents × {first.bits.shape[1]} editions are too few to say what is usual."
        )
    residuals = np.array([_residual(table) for table in tables])  # (L, I, J), NaN where missing
    for name, residual in zip(by_lm, residuals, strict=True):
        if np.nanmedian(np.abs(residual)) < ROUNDING:
            raise DataError(f"the residuals of {name!r} vanish in most cells: are the editions copies of one another?")
    score = shared_part(np.array([scaled(residual) for residual in residuals]))
    score, p = _tested(score)
    rows, columns = np.nonzero(~np.isnan(score))
    p_adjusted = false_discovery_control(p[rows, columns])
    frame = pd.DataFrame(
        {
            "intent": first.intents[rows],
            "edition": first.editions[columns],
            "percent": 100 * np.expm1(residuals.mean(axis=0)[rows, columns]),
            "score": score[rows, columns],
            "p": p[rows, columns],
            "p_adjusted": p_adjusted,
            "flagged": p_adjusted <= q,
        }
    )
    return frame.sort_values("p", kind="stable").reset_index(drop=True)


def _residual(table: Surprisals) -> Floats:
    z = np.log(table.bits.to_numpy())
    residual: Floats = np.where(np.isnan(z), np.nan, solve_two_way(z).residual)
    return residual


def scaled(residual: Floats) -> Floats:
    """Divide residuals by robust scales of their rows and columns, (I, J) → (I, J)."""
    result = residual - np.nanmedian(residual, axis=0)
    for _ in range(ROUNDS):
        for axis in (0, 1):
            result = result / (np.nanmedian(np.abs(result)) / NORMAL_MEDIAN)
            own = np.nanmedian(np.abs(result), axis=axis, keepdims=True) / NORMAL_MEDIAN
            cells = (~np.isnan(result)).sum(axis=axis, keepdims=True)
            result = result / own ** (cells / (cells + PULL))  # few cells say little of their scale
    return result


def shared_part(standardized: Floats) -> Floats:
    """Return the predictor of what language models share, (L, I, J) → (I, J)."""
    lms = len(standardized)
    mean = standardized.mean(axis=0)
    clipped = np.clip(standardized, -3, 3)  # faulty cells shall not decide how much is shared
    total, own = np.nanmean(clipped.mean(axis=0) ** 2), np.nanmean(clipped.var(axis=0, ddof=1))
    of_shared = max(total - own / lms, 0.0)
    result: Floats = mean * of_shared / max(total, np.finfo(float).tiny)
    return result


def _tested(score: Floats) -> tuple[Floats, Floats]:
    """Return scores in units of the usual scale and their p-values, from the middle of their distribution."""
    inner, outer = np.nanquantile(np.abs(score), [INNER, OUTER])

    def excess(freedom: float) -> float:
        usual = np.asarray(student.ppf([(1 + INNER) / 2, (1 + OUTER) / 2], freedom))
        return float(usual[1] / usual[0] - outer / inner)

    if excess(MOST_FREEDOM) >= 0:
        freedom = MOST_FREEDOM
    elif excess(1.0) <= 0:
        freedom = 1.0
    else:
        freedom = float(brentq(excess, 1.0, MOST_FREEDOM))
    units = score / (inner / student.ppf((1 + INNER) / 2, freedom))
    return units, 2 * student.sf(np.abs(units), freedom)
