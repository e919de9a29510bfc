"""How often draws of effects put each of them on each rank."""

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from langdiff.errors import DataError


def count_ranks(draws: pd.DataFrame) -> pd.DataFrame:
    """Return the share of draws in which each edition has each rank; see `rank_probabilities`.

    Parameters
    ----------
    draws : DataFrame, shape (draws, J)
        One draw per row, one edition per column.

    Returns
    -------
    DataFrame, shape (J, J)
        One row per edition, the highest mean rank first; one column per rank, 1 the highest.

    Raises
    ------
    DataError
        If draws are missing.

    Examples
    --------
    >>> count_ranks(pd.DataFrame({"eng": [0.0, 0.1], "fin": [0.2, 0.1]})).loc["fin"].to_dict()
    {1: 0.75, 2: 0.25}
    """
    values = draws.to_numpy(dtype=float)
    if not values.size or np.isnan(values).any():
        raise DataError("draws of difficulties are missing or not numbers; give a complete frame, draws × editions.")
    count = values.shape[1]
    first, last = (rankdata(-values, method=method, axis=1).astype(int) for method in ("min", "max"))
    shares = np.zeros((count, count))
    for further in range(int((last - first).max()) + 1):  # ranks that ties share; usually there are none
        place, edition = np.nonzero(first + further <= last)
        rank = first[place, edition] + further
        np.add.at(shares, (edition, rank - 1), 1 / (last - first + 1)[place, edition])
    shares /= len(values)
    order = np.argsort((first + last).sum(axis=0), kind="stable")
    names = draws.columns[order].rename("edition" if draws.columns.name is None else draws.columns.name)
    return pd.DataFrame(shares[order], index=names, columns=pd.RangeIndex(1, count + 1, name="rank"))
