"""The order of columns and of phenomena in tables and pictures: easy before hard."""

import numpy as np
import pandas as pd

from langdiff.errors import DataError

CELL = ["phenomenon", "type", "parser"]


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
    """Return over how many other types most parsers score higher on this one."""
    higher = [(part.loc[kind] > part.loc[other]).sum() for other in part.index]
    lower = [(part.loc[kind] < part.loc[other]).sum() for other in part.index]
    return sum(int(up > down) for up, down in zip(higher, lower, strict=True))
