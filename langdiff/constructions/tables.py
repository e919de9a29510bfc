"""Tables of scores, made of judgements (one row per parser and target), and their order: easy before hard."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from langdiff.base.types import Integers
from langdiff.errors import DataError

CELL = ["phenomenon", "type", "parser"]
LEVEL = 0.95
BANDS = ["1", "2", "3–5", "6–10", "> 10"]
EDGES = [1, 2, 5, 10]  # last distance of each band but the last; halves belong to the band above


def order_columns(table: pd.DataFrame) -> list[tuple[str, str]]:
    """Order the types of dependency for tables and pictures.

    Columns of a phenomenon are adjacent. Within it, the type on which more parsers score higher comes first; of two on
    which as many do, that of the higher mean, then of the name that comes first. Phenomena come in the order of
    their mean recall over parsers and types, the highest first; of equal ones, the code that comes first.

    Parameters
    ----------
    table : DataFrame
        One row per phenomenon, type and parser, in columns of these names, and ``recall``.

    Returns
    -------
    list of (str, str)
        Phenomenon and type of each column, from left to right.

    Raises
    ------
    DataError
        If a column is missing, or a cell is missing or comes twice.

    Examples
    --------
    >>> rows = [("rnr", "ARG2:second", 0.2), ("rnr", "ARG2:first", 0.8), ("vpart", "ARG2", 0.9)]
    >>> table = pd.DataFrame(rows, columns=["phenomenon", "type", "recall"]).assign(parser="mine")
    >>> order_columns(table)
    [('vpart', 'ARG2'), ('rnr', 'ARG2:first'), ('rnr', 'ARG2:second')]
    """
    recall = score_matrix(table)
    means = recall.groupby(level="phenomenon").mean().mean(axis=1).round(12)
    ordered: list[tuple[str, str]] = []
    for phenomenon in sorted(means.index, key=lambda code: (-means[code], code)):
        part = recall.loc[phenomenon]
        places = {kind: (-_majorities(part, kind), -round(part.loc[kind].mean(), 12), kind) for kind in part.index}
        ordered += [(str(phenomenon), str(kind)) for kind in sorted(places, key=places.__getitem__)]
    return ordered


def score_matrix(table: pd.DataFrame) -> pd.DataFrame:
    """Return recall as a matrix, phenomena and types × parsers.

    Raises
    ------
    DataError
        If a column is missing, or a cell is missing or comes twice.
    """
    if lacking := [name for name in (*CELL, "recall") if name not in table.columns]:
        raise DataError(f"a table of scores has the columns {', '.join(CELL)} and recall; it lacks {lacking[0]!r}.")
    if table.duplicated(CELL).any():
        first = table.loc[table.duplicated(CELL), CELL].iloc[0]
        raise DataError(f"the table of scores has {' '.join(first)} twice.")
    matrix = table.pivot(index=CELL[:2], columns="parser", values="recall").astype(float)
    if matrix.isna().to_numpy().any():
        row, column = np.argwhere(matrix.isna().to_numpy())[0]
        cell = " ".join(map(str, matrix.index[row]))
        raise DataError(f"the table of scores has no recall of {str(matrix.columns[column])!r} for {cell}.")
    return matrix


def _majorities(part: pd.DataFrame, kind: str) -> int:
    """Return the number of other types on which most parsers score lower than on this one."""
    higher = [(part.loc[kind] > part.loc[other]).sum() for other in part.index]
    lower = [(part.loc[kind] < part.loc[other]).sum() for other in part.index]
    return sum(int(up > down) for up, down in zip(higher, lower, strict=True))


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
    keys = ["phenomenon", "type", "parser"]
    table = recall_by(judgements, keys)
    outcome = judgements["outcome"]
    known = judgements.assign(mapped=outcome != "not mapped", no_parse=outcome == "no parse").groupby(keys)
    table = table.join(known.agg({"mapped": "any", "no_parse": "sum"}), on=keys)
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
    """Return sort keys of a column: bands from near to far, parsers in the order of appearance."""
    order = BANDS if column.name == "band" else list(dict.fromkeys(column))
    return column.astype(str).map({name: place for place, name in enumerate(order)})


def compare_parsers(judgements: pd.DataFrame, first: str, second: str) -> pd.DataFrame:
    """Return McNemar's exact test and the sign-flip test by sentences, by phenomenon, then for all targets."""
    both = judgements.pivot(index=["target", "item", "phenomenon"], columns="parser", values="correct")
    both = both[[first, second]].astype(int)
    rows = []
    parts = [(code, part) for code, part in both.groupby(level="phenomenon", sort=False)]
    for code, part in [*parts, ("all", both)]:
        difference = part[first] - part[second]
        only_first, only_second = int((difference > 0).sum()), int((difference < 0).sum())
        discordant = only_first + only_second
        of_targets = float(binomtest(only_first, discordant).pvalue) if discordant else 1.0
        of_sentences = sign_flip(difference.groupby(level="item").sum().to_numpy())
        rows.append((code, len(part), only_first, only_second, of_targets, of_sentences))
    columns = ["phenomenon", "targets", f"only {first}", f"only {second}", "p_mcnemar", "p_by_sentence"]
    return pd.DataFrame(rows, columns=columns)


def sign_flip(differences: Integers) -> float:
    """Return the exact two-sided p of a sum of differences under random signs.

    Parameters
    ----------
    differences : ndarray of shape (n,)
        Difference of each sentence, in targets.

    Returns
    -------
    float
        Share of the 2ⁿ choices of signs whose sum is at least as far from 0; McNemar's if all differences are ±1.

    Examples
    --------
    >>> sign_flip(np.array([1, 1, 1, 1, 1])), sign_flip(np.array([2, 3, 0]))
    (0.0625, 0.5)
    """
    sizes = np.abs(differences[differences != 0]).tolist()
    total = sum(sizes)
    shares = np.zeros(2 * total + 1)  # of the sums -total … total
    shares[total] = 1
    for size in sizes:
        shares = (np.roll(shares, size) + np.roll(shares, -size)) / 2
    sums = np.arange(-total, total + 1)
    return float(shares[np.abs(sums) >= abs(differences.sum())].sum())
