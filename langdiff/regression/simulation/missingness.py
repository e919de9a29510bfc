"""Deleting cells of a complete table: at random, by what is observed, or by the very cell that goes.

The three mechanisms are those of appendix A of Mielke et al. (2019), after Rubin (1976), "Inference and
Missing Data".
"""

from typing import Literal

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, ndtri
from scipy.stats import rankdata

from langdiff.base.types import Booleans, Floats

Mechanism = Literal["MCAR", "MAR", "MNAR"]

SLOPE = 2.0  # log odds of going missing, for one standard deviation more of what it depends on


def draw_missing(z: Floats, residual: Floats, share: float, mechanism: Mechanism, rng: np.random.Generator) -> Booleans:
    r"""Draw which cells go missing.

    Under MCAR every cell of every edition may. Under the others the first edition stays complete, as that
    which the others were translated from, and a cell of another goes with chance

    .. math:: P = \operatorname{logit}^{-1}(a + 2 x)

    where x, the normal score of a rank within the edition, is that of ``z[i, 0]`` (MAR: long or difficult
    originals are skipped) or of ``residual[i, j]`` (MNAR: translations that came out difficult for what
    they say are lost), and a makes the average chance the one asked for.

    Parameters
    ----------
    z : ndarray, shape (I, J)
        Log surprisals, all of them.
    residual : ndarray, shape (I, J)
        Log surprisals less log intent size and difficulty, nats.
    share : float
        Average chance to go missing, of all cells (MCAR) or those of all editions but the first; in [0, 1).
    mechanism : {"MCAR", "MAR", "MNAR"}
        Mechanism by which cells go missing, as above.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray of bool, shape (I, J)
        True where a cell is missing; no row and no column is all True.

    Examples
    --------
    >>> z = np.arange(2000.0).reshape(1000, 2)  # larger intents below
    >>> gone = draw_missing(z, z, 0.5, "MAR", np.random.default_rng(0))[:, 1]
    >>> int(gone[:500].sum()), int(gone[500:].sum())
    (110, 382)
    """
    if mechanism == "MCAR":
        chance = np.full(z.shape, share)
    else:
        ranked = np.broadcast_to(z[:, :1], z.shape) if mechanism == "MAR" else residual
        chance = _chance(ranked, share)
        chance[:, 0] = 0.0
    return _spare_one(rng.random(z.shape) < chance, rng)


def _chance(ranked: Floats, share: float) -> Floats:
    """Return chances that rise with the rank within the column and average `share`."""
    rows = len(ranked)
    score = ndtri((rankdata(ranked, axis=0) - 0.5) / rows)
    ordinary = ndtri((np.arange(rows) + 0.5) / rows)  # the scores of any column without ties
    if share == 0:
        return np.zeros_like(score)
    low, high = np.log(share) - np.log1p(-share) + SLOPE * ordinary[-1] * np.array([-1.0, 1.0])
    level = brentq(lambda a: float(expit(a + SLOPE * ordinary).mean()) - share, low - 1, high + 1)
    chance: Floats = expit(level + SLOPE * score)
    return chance


def _spare_one(gone: Booleans, rng: np.random.Generator) -> Booleans:
    """Give back one cell, at random, to rows and columns that would lose all of theirs."""
    intents, editions = gone.shape
    rows = np.flatnonzero(gone.all(axis=1))
    gone[rows, rng.integers(editions, size=len(rows))] = False
    columns = np.flatnonzero(gone.all(axis=0))
    gone[rng.integers(intents, size=len(columns)), columns] = False
    return gone
