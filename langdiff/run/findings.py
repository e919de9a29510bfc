"""Findings of a run in sentences, computed from its numbers, as titles of pictures."""

from collections.abc import Hashable, Iterable, Mapping

import numpy as np
import pandas as pd

from langdiff.regression import DifficultyFit

MOST_NAMED = 3
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


def hardest(difficulties: Mapping[str, pd.Series]) -> str:
    """Describe which editions are hardest, under all language models as far as these agree.

    Examples
    --------
    >>> known = pd.Series({"eng": -0.1, "deu": 0.1, "fin": 0.2, "fra": -0.2, "hun": 0.3, "vie": -0.3})
    >>> hardest({"a": known, "b": known})
    'hun and fin are hardest under both language models'
    >>> hardest({"a": known, "b": -known})
    'hun is hardest for a, vie for b'
    """
    orders = {lm: list(values.sort_values(ascending=False).index) for lm, values in difficulties.items()}
    most = min(MOST_NAMED, max(1, min(map(len, orders.values())) // 3))
    first, *others = orders.values()
    for count in range(most, 0, -1):
        if all(set(order[:count]) == set(first[:count]) for order in others):
            verb = "is" if count == 1 else "are"
            models = {1: f"for {next(iter(orders))}", 2: "under both language models"}
            under = models.get(len(orders), f"under all {len(orders)} language models")
            return f"{joined(first[:count])} {verb} hardest {under}"
    each = [f"{order[0]} for {lm}" for lm, order in orders.items()]
    return ", ".join(each).replace(" for ", " is hardest for ", 1)


def spread(fit: DifficultyFit, lm: str) -> str:
    """Describe how many more or fewer bits than the average the hardest and the easiest edition need."""
    percent = 100 * np.expm1(fit.difficulty.sort_values())
    return (
        f"For {lm}, {percent.index[-1]} needs {percent.iloc[-1]:.0f} % more bits than the average, "
        f"{percent.index[0]} {-percent.iloc[0]:.0f} % fewer"
    )


def order(shares: pd.DataFrame, lm: str) -> str:
    """Describe how certain the hardest edition and the other ranks are."""
    first = shares.iloc[:, 0]
    sure = int((shares.max(axis=1) >= 0.95).sum())
    share = f"{100 * first.max():.0f} % of draws"
    return f"{first.idxmax()} is hardest for {lm} in {share}; {sure} of {len(shares)} ranks are sure"


def agreement(x: pd.Series, y: pd.Series, names: tuple[str, str]) -> str:
    """Describe how well two language models agree, and on which edition least."""
    both = pd.concat([x, y], axis=1, join="inner")
    centred = both - both.mean()
    r = float(both.corr().to_numpy()[0, 1])
    how = "agree" if r >= AGREEING else "agree in part" if r >= ALIKE else "disagree"
    apart = (centred.iloc[:, 0] - centred.iloc[:, 1]).abs().idxmax()
    return f"{names[0]} and {names[1]} {how}, r = {r:.2f}; least on {apart}"


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
