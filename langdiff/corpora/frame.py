"""A multitext from a pandas frame."""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from langdiff.corpora.edition_info import with_language
from langdiff.errors import DataError, listing
from langdiff.multitext import InMemoryText, Multitext, multitext_from_sources

_LONG = ["intent", "edition", "text"]


def read_frame(
    frame: pd.DataFrame,
    *,
    edition_info: pd.DataFrame | None = None,
    intent_info: pd.DataFrame | None = None,
) -> Multitext:
    """Make a multitext of texts held in a pandas frame.

    A text that is None, NaN, empty or white space is missing.

    Parameters
    ----------
    frame : DataFrame
        Long (columns ``intent``, ``edition`` and ``text``, one row per text) or wide (the index has the intents, one
        column per edition). Intents and editions are in the order of their first appearance; their names become str.
    edition_info, intent_info : DataFrame, optional
        Information on the editions and on the intents, indexed by them; other rows are ignored. A ``language`` that
        is not given is the ISO 639-3 code that begins the edition's name, if one does.

    Returns
    -------
    Multitext
        With the texts in memory.

    Raises
    ------
    DataError
        If a cell is neither text nor missing or is given twice, or the tables do not know an
        edition or intent.

    Examples
    --------
    >>> frame = pd.DataFrame({"eng": ["a dog", "a cat"], "deu": ["ein Hund", None]}, index=["1", "2"])
    >>> read_frame(frame)
    Multitext: 2 intents × 2 editions (2 languages), 1 of 4 cells missing
    """
    texts = _long(frame)
    for what in ("intent", "edition"):
        unnamed = np.flatnonzero(texts[what].isna())
        if len(unnamed):
            raise DataError(f"{len(unnamed):,} text(s) without {what}; the first is {texts['text'][unnamed[0]]!r}.")
        texts[what] = texts[what].map(str)
    _refuse(texts, texts.duplicated(["intent", "edition"]), "text(s) given twice; give each once")
    _refuse(texts, ~texts["text"].map(_is_text_or_missing).astype(bool), "cell(s) without text; give str or None")
    intents, editions = texts["intent"].unique().tolist(), texts["edition"].unique().tolist()
    if not intents:
        raise DataError("the frame is empty; give columns intent, edition, text, or one column per edition.")
    have = texts[texts["text"].map(lambda text: isinstance(text, str) and bool(text.strip())).astype(bool)]
    by_edition = {edition: rows.set_index("intent")["text"] for edition, rows in have.groupby("edition")}
    nothing = pd.Series(dtype=object)
    sources = {edition: InMemoryText(by_edition.get(edition, nothing)) for edition in editions}
    return multitext_from_sources(
        sources,
        {edition: source.texts.index for edition, source in sources.items()},
        intents=intents,
        edition_info=with_language(_rows(edition_info, "edition_info", editions)),
        intent_info=_rows(intent_info, "intent_info", intents),
    )


def _long(frame: pd.DataFrame) -> pd.DataFrame:
    """Return one row per cell, the columns of dtype object."""
    given = [column for column in _LONG if column in frame.columns]
    if frame.columns.nlevels > 1 or frame.index.nlevels > 1:
        raise DataError("the frame has several levels of columns or rows; give one, such as frame.reset_index().")
    if given == _LONG:
        return frame[_LONG].astype(object).reset_index(drop=True)
    if given:
        raise DataError(
            f"the frame has column(s) {listing(given)} but not {listing(c for c in _LONG if c not in given)}. A long "
            "frame has all three; a wide one has the intents as its index and one column per edition."
        )
    cells = {
        "intent": np.repeat(frame.index.to_numpy(dtype=object), frame.shape[1]),
        "edition": np.tile(frame.columns.to_numpy(dtype=object), frame.shape[0]),
        "text": frame.to_numpy(dtype=object).ravel(),
    }
    return pd.DataFrame(cells, dtype=object)


def _is_text_or_missing(cell: object) -> bool:
    return isinstance(cell, str) or cell is None or cell is pd.NA or (isinstance(cell, float) and math.isnan(cell))


def _refuse(texts: pd.DataFrame, bad: pd.Series, what: str) -> None:
    if bad.any():
        row = texts.loc[bad].iloc[0]
        raise DataError(
            f"{int(bad.sum()):,} {what}. The first: intent {row['intent']!r}, edition {row['edition']!r}, "
            f"{row['text']!r}."
        )


def _rows(info: pd.DataFrame | None, what: str, names: Sequence[str]) -> pd.DataFrame:
    """Return the rows of `info` that are about the names, in their order."""
    if info is None:
        return pd.DataFrame(index=list(names))
    info = info.set_axis(info.index.map(str))
    twice = info.index[info.index.duplicated()]
    if len(twice):
        raise DataError(f"{what} has several rows for {listing(twice)}; give one.")
    without = [name for name in names if name not in info.index]
    if without:
        raise DataError(f"{what} has no row for {len(without)} of {len(names)}: {listing(without)}.")
    return info.loc[list(names)]
