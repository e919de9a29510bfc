"""Tables that compare many effects at once: leaderboards and flags of cells."""

import numpy as np
import pandas as pd
from scipy.stats import false_discovery_control

from langdiff.base.types import Floats
from langdiff.tables.effects import Effects
from langdiff.tables.pairs import rank_set
from langdiff.tables.simultaneous import Family

HARDER, EASIER = "harder", "easier"  # flags of cells


def flag_cells(
    family: Family, names: pd.Index, *, q: float, level: float, maxima: Floats, percent: bool
) -> pd.DataFrame:
    """Return one row per cell, with an interval that holds for all cells together, and a flag."""
    half = np.where(family.tied, 0.0, family.critical(maxima, level)) * family.std_error
    columns = {
        "estimate": family.estimate,
        "std_error": family.std_error,
        "low": family.estimate - half,
        "high": family.estimate + half,
    }
    if percent:
        columns["percent"] = 100 * np.expm1(family.estimate)
    frame = pd.DataFrame(columns | {"p": family.p_value, "p_adjusted": family.adjusted(maxima)}, index=names)
    frame["q"] = false_discovery_control(family.p_value) if len(frame) else 1.0
    sign = np.where(family.estimate > 0, HARDER, EASIER)
    frame["flag"] = np.where(frame["q"] <= q, sign, "")
    return frame.sort_values("estimate", ascending=False, kind="stable")


def rank_best(effects: Effects) -> pd.DataFrame:
    """Return one row per effect, the best first: the least difficulty, or the highest ability.

    Examples
    --------
    >>> import langdiff as ld
    >>> fit = ld.fit(ld.simulate(100, 3, difficulties=[0.3, 0.0, 0.0], seed=1).surprisals)
    >>> rank_best(fit.effects)["ranks"].to_dict()["e1"]
    '3'
    """
    found = effects.to_frame()
    known = {"rank_low", "rank_high"} <= set(found.columns)
    together = effects.against_mean() if known else found[["low", "high"]]
    frame = found[[effects.scale.quantity, "std_error"]].join(together)
    if effects.scale.unit == "nats":
        frame["percent"] = found["percent"]
    count = len(frame)
    highest = effects.scale.quantity == "ability"
    estimate = effects.estimate.reindex(frame.index)
    frame["rank"] = (-estimate if highest else estimate).rank(method="min").astype(int)
    if known:
        low, high = found["rank_low"], found["rank_high"]
        frame["rank_low"], frame["rank_high"] = (low, high) if highest else (count + 1 - high, count + 1 - low)
        frame["ranks"] = [rank_set(int(a), int(b)) for a, b in zip(frame["rank_low"], frame["rank_high"], strict=True)]
    return frame.sort_values("rank", kind="stable")
