"""Findings of a run in sentences, computed from its numbers, as titles of pictures."""

from collections.abc import Hashable, Iterable, Mapping

import numpy as np
import pandas as pd

from langdiff.base.grids import MINUS
from langdiff.regression import DifficultyFit

AGREEING, ALIKE = 0.9, 0.5  # correlations from which models agree, or agree in part


def joined(names: Iterable[Hashable]) -> str:
    """Join names to a list in words.

    Examples
    --------
    >>> joined(["eng", "deu", "fin"])
    'eng, deu and fin'
    """
    *before, last = map(str, names)
    return f"{', '.join(before)} and {last}" if before else last


def spread(fit: DifficultyFit, lm: str) -> str:
    """Describe how many more or fewer bits than the average the hardest and the easiest edition need."""
    percent = 100 * np.expm1(fit.difficulty.sort_values())
    return (
        f"For {lm}, {percent.index[-1]} needs {percent.iloc[-1]:.0f} % more bits than the average, "
        f"{percent.index[0]} {-percent.iloc[0]:.0f} % fewer"
    )


def order(fit: DifficultyFit, lm: str) -> str:
    """Describe how many ranks are known, by the rank sets."""
    rows = fit.to_frame()
    return f"For {lm}, {int((rows['rank_low'] == rows['rank_high']).sum())} of {len(rows)} ranks are known"


def agreement(x: pd.Series, y: pd.Series, names: tuple[str, str]) -> str:
    """Describe how well two language models agree, and on which edition least."""
    both = pd.concat([x, y], axis=1, join="inner")
    centred = both - both.mean()
    r = float(both.corr().to_numpy()[0, 1])
    how = "agree" if r >= AGREEING else "agree in part" if r >= ALIKE else "disagree"
    apart = (centred.iloc[:, 0] - centred.iloc[:, 1]).abs().idxmax()
    return f"{names[0]} and {names[1]} {how}, r = {r:.2f}; least on {apart}".replace("r = -", f"r = {MINUS}")


def truth(fits: Mapping[str, DifficultyFit], known: pd.Series) -> str:
    """Describe how far estimates are from the true difficulties, in percent of bits."""
    gaps = {lm: 100 * np.expm1((fit.difficulty[known.index] - known).abs()).mean() for lm, fit in fits.items()}
    return "Estimates are off the truth by " + joined(f"{gap:.1f} % ({lm})" for lm, gap in gaps.items()) + " on average"


def residuals(values: pd.DataFrame, lm: str) -> str:
    """Describe how many residuals are larger than a normal distribution would give."""
    known = np.abs(values.to_numpy(dtype=float))
    share = float((known[~np.isnan(known)] > 1.96).mean())
    return f"{lm}: {100 * share:.1f} % of residuals are beyond ±1.96, of normal ones 5 % would be"


def training(logs: pd.DataFrame, lm: str) -> str:
    """Describe whether training stopped while language models were still improving."""
    runs = logs.groupby("edition")
    last = runs["epoch"].max()
    best = logs.loc[runs["dev_bits_per_character"].idxmin()].set_index("edition")["epoch"]
    improving = int((best == last).sum())
    if not improving:
        return f"No model of {lm} was still improving when its training ended"
    return f"{improving} of {len(last)} models of {lm} were still improving when their training ended"
