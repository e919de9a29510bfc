"""Tables of scores, made of judgements: one row per parser and target."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from langdiff.constructions.ordering import order_columns

LEVEL = 0.95
BANDS = ["1", "2", "3–5", "6–10", "> 10"]
EDGES = [1, 2, 5, 10]  # last distance of each band but the last; halves belong to the band above


def wilson(correct: int, targets: int) -> tuple[float, float]:
    """Return the 95 % Wilson interval of a recall.

    Examples
    --------
    >>> [round(end, 4) for end in wilson(1, 2)]
    [0.0945, 0.9055]
    """
    interval = binomtest(correct, targets).proportion_ci(LEVEL, method="wilson")
    return float(interval.low), float(interval.high)


def recall_by(judgements: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Return correct, targets, recall and its 95 % interval for each group, in order of appearance."""
    groups = judgements.groupby(list(keys), sort=False, observed=True)["correct"]
    table = groups.agg(correct="sum", targets="size").reset_index()
    table["recall"] = table["correct"] / table["targets"]
    ends = [wilson(*counts) for counts in table[["correct", "targets"]].astype(int).to_numpy().tolist()]
    table[["low", "high"]] = np.array(ends).reshape(-1, 2)
    return table


def recall_by_column(judgements: pd.DataFrame) -> pd.DataFrame:
    """Return recall by phenomenon, type and parser, in the order of `order_columns`."""
    table = recall_by(judgements, ["phenomenon", "type", "parser"])
    mapped = judgements.assign(mapped=judgements["outcome"] != "not mapped")
    shares = mapped.groupby(["phenomenon", "type", "parser"])["mapped"].any().rename("mapped")
    table = table.join(shares, on=["phenomenon", "type", "parser"])
    places = {column: place for place, column in enumerate(order_columns(table))}
    order = [places[cell] for cell in zip(table["phenomenon"], table["type"], strict=True)]
    return table.iloc[np.argsort(order, kind="stable")].reset_index(drop=True)


def recall_by_phenomenon(columns: pd.DataFrame, judgements: pd.DataFrame) -> pd.DataFrame:
    """Return the mean over types and the pooled recall, with its interval, by phenomenon and parser."""
    means = columns.groupby(["phenomenon", "parser"], sort=False)["recall"].mean().rename("mean")
    pooled = recall_by(judgements, ["phenomenon", "parser"]).rename(columns={"recall": "pooled"})
    return means.reset_index().merge(pooled, on=["phenomenon", "parser"])


def recall_by_parser(phenomena: pd.DataFrame, judgements: pd.DataFrame) -> pd.DataFrame:
    """Return macro (mean over phenomena) and micro (pooled) recall by parser, with the interval of the latter."""
    macro = phenomena.groupby("parser", sort=False)["mean"].mean().rename("macro")
    micro = recall_by(judgements, ["parser"]).rename(columns={"recall": "micro"})
    return macro.reset_index().merge(micro, on="parser")


def recall_by_distance(judgements: pd.DataFrame) -> pd.DataFrame:
    """Return recall of positive targets by parser and band of surface distance (words)."""
    positive = judgements[(judgements["polarity"] == 1) & judgements["distance"].notna()]
    if positive.empty:
        return pd.DataFrame(columns=["parser", "band", "correct", "targets", "recall", "low", "high"])
    edges = [-np.inf, *EDGES, np.inf]
    bands = pd.cut(positive["distance"], edges, labels=BANDS)
    table = recall_by(positive.assign(band=bands), ["parser", "band"])
    return table.sort_values(["parser", "band"], key=_places, kind="stable").reset_index(drop=True)


def _places(column: pd.Series) -> pd.Series:
    """Return numbers by which a column is sorted: bands from near to far, parsers as they come."""
    order = BANDS if column.name == "band" else list(dict.fromkeys(column))
    return column.astype(str).map({name: place for place, name in enumerate(order)})


def mcnemar(judgements: pd.DataFrame, first: str, second: str) -> pd.DataFrame:
    """Return McNemar's exact test between two parsers by phenomenon, then for all targets."""
    both = judgements.pivot(index=["target", "phenomenon"], columns="parser", values="correct")[[first, second]]
    rows = []
    parts = [(code, part) for code, part in both.groupby(level="phenomenon", sort=False)]
    for code, part in [*parts, ("all", both)]:
        only_first = int((part[first] & ~part[second]).sum())
        only_second = int((part[second] & ~part[first]).sum())
        discordant = only_first + only_second
        p_value = float(binomtest(only_first, discordant).pvalue) if discordant else 1.0
        rows.append((code, len(part), only_first, only_second, p_value))
    return pd.DataFrame(rows, columns=["phenomenon", "targets", f"only {first}", f"only {second}", "p_value"])
