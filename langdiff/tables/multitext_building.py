"""Construction of multitexts from text sources and the intents of each edition."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from langdiff.base.types import Booleans
from langdiff.errors import DataError, listing
from langdiff.tables.multitext import Multitext
from langdiff.tables.text_features import Measured, TextFeatures
from langdiff.tables.text_sources import TextSource


def multitext_from_sources(
    sources: Mapping[str, TextSource],
    present: Mapping[str, Iterable[Any]],
    *,
    intents: Iterable[Any],
    edition_info: pd.DataFrame,
    intent_info: pd.DataFrame | None = None,
    measured: Mapping[str, Measured] | None = None,
) -> Multitext:
    """Return a multitext from the intents that each edition has."""
    rows = pd.Index(list(intents), name="intent")
    matrix = np.zeros((len(rows), len(sources)), dtype=bool)
    in_order: dict[str, Measured] | None = None if measured is None else {}
    for j, edition in enumerate(sources):
        wanted = pd.Index(list(present[edition]))
        places = rows.get_indexer(wanted)
        if measured is not None and in_order is not None:
            in_order[edition] = measured[edition].take(np.argsort(places))
        if (places < 0).any():
            raise DataError(f"edition {edition!r} has intents that are not listed: {listing(wanted[places < 0])}.")
        matrix[places, j] = True
    return multitext_from_matrix(
        sources, matrix, intents=rows, edition_info=edition_info, intent_info=intent_info, measured=in_order
    )


def multitext_from_matrix(
    sources: Mapping[str, TextSource],
    matrix: Booleans,
    *,
    intents: Iterable[Any],
    edition_info: pd.DataFrame,
    intent_info: pd.DataFrame | None = None,
    measured: Mapping[str, Measured] | None = None,
) -> Multitext:
    """Return a multitext from a matrix of the intents present in each edition.

    Shapes: matrix (I, J).
    """
    rows = pd.Index(list(intents), name="intent")
    columns = pd.Index(list(sources), name="edition")
    presence = pd.DataFrame(matrix, index=rows, columns=columns, copy=False)
    return Multitext(
        presence=presence,
        edition_info=edition_info.reindex(columns),
        intent_info=pd.DataFrame(index=rows) if intent_info is None else intent_info.reindex(rows),
        sources=dict(sources),
        features=None if measured is None else TextFeatures.of(presence, measured),
    )
