"""Construction of multitexts from text sources and the intents of each edition."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from langdiff.base.types import Booleans
from langdiff.errors import DataError, listing
from langdiff.tables.multitext import Multitext
from langdiff.tables.text_sources import TextSource


def multitext_from_sources(
    sources: Mapping[str, TextSource],
    present: Mapping[str, Iterable[Any]],
    *,
    intents: Iterable[Any],
    edition_info: pd.DataFrame,
    intent_info: pd.DataFrame | None = None,
) -> Multitext:
    """Return a multitext from the intents that each edition has.

    Parameters
    ----------
    sources : mapping from edition to TextSource
        In the order of the columns.
    present : mapping from edition to iterable of intents
        The intents that each edition has.
    intents : iterable
        All intents, in order.
    edition_info, intent_info : DataFrame
        Properties of editions and of intents, indexed by them.

    Returns
    -------
    Multitext

    Raises
    ------
    DataError
        If an edition has an intent that is not among `intents`.
    """
    rows = pd.Index(list(intents), name="intent")
    matrix = np.zeros((len(rows), len(sources)), dtype=bool)
    for j, edition in enumerate(sources):
        wanted = pd.Index(list(present[edition]))
        places = rows.get_indexer(wanted)
        if (places < 0).any():
            raise DataError(f"edition {edition!r} has intents that are not listed: {listing(wanted[places < 0])}.")
        matrix[places, j] = True
    return multitext_from_matrix(sources, matrix, intents=rows, edition_info=edition_info, intent_info=intent_info)


def multitext_from_matrix(
    sources: Mapping[str, TextSource],
    matrix: Booleans,
    *,
    intents: Iterable[Any],
    edition_info: pd.DataFrame,
    intent_info: pd.DataFrame | None = None,
) -> Multitext:
    """Return a multitext from a matrix of the intents present in each edition.

    Parameters
    ----------
    sources : mapping from edition to TextSource
        In the order of the columns.
    matrix : ndarray of bool, shape (I, J)
        Whether edition j has intent i; it is kept, not copied.
    intents, edition_info, intent_info
        See `multitext_from_sources`.

    Returns
    -------
    Multitext
    """
    rows = pd.Index(list(intents), name="intent")
    columns = pd.Index(list(sources), name="edition")
    return Multitext(
        presence=pd.DataFrame(matrix, index=rows, columns=columns, copy=False),
        edition_info=edition_info.reindex(columns),
        intent_info=pd.DataFrame(index=rows) if intent_info is None else intent_info.reindex(rows),
        sources=dict(sources),
    )
