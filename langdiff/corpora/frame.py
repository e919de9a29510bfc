"""Construction of a multitext from a pandas frame."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from langdiff.base.types import OnError
from langdiff.corpora.edition_info import with_language
from langdiff.corpora.faults import Faults
from langdiff.errors import DataError, Fault, listing
from langdiff.tables.multitext import Multitext, multitext_from_sources
from langdiff.tables.text_features import measure
from langdiff.tables.text_sources import InMemoryText

_LONG = ["intent", "edition", "text"]


def read_frame(
    frame: pd.DataFrame,
    *,
    edition_info: pd.DataFrame | None = None,
    intent_info: pd.DataFrame | None = None,
    on_error: OnError = "raise",
    trust: Sequence[str] = (),
) -> Multitext:
    """Return a multitext of the texts in a pandas frame.

    A text that is None, NaN, empty or white space is missing.

    Parameters
    ----------
    frame : DataFrame
        Long (columns ``intent``, ``edition`` and ``text``, one row per text) or wide (the index has the intents, one
        column per edition). Intents and editions are in the order of their first appearance; their names become str.
    edition_info, intent_info : DataFrame, optional
        Information on the editions and on the intents, indexed by them; other rows are ignored. A ``language`` that
        is not given is the ISO 639-3 code that begins the edition's name, if one does.
    on_error : {"raise", "skip"}
        Treatment of cells without intent or edition, cells that are neither text nor missing, and texts that are given
        twice, of which neither is used. ``"raise"``: they are one error, which has all of them. ``"skip"``: they are
        left out, and the attributes ``left_out`` and ``skipped`` of the multitext list them; there, the ``line`` is the
        number of the row of a long frame.
    trust : sequence of str
        Kinds of doubts that are not raised; see `langdiff.read_multitext`.

    Returns
    -------
    Multitext
        With the texts in memory.

    Raises
    ------
    DataError
        If a cell is neither text nor missing or is given twice (a `langdiff.errors.FaultsError` with all such cells),
        or the tables do not know an edition or intent.
    ConfigError
        If `on_error` has an unknown value.

    Warns
    -----
    LangdiffWarning
        If there are faults and `on_error` is ``"skip"``.

    Examples
    --------
    >>> frame = pd.DataFrame({"eng": ["a dog", "a cat"], "deu": ["ein Hund", None]}, index=["1", "2"])
    >>> read_frame(frame)
    Multitext: 2 intents × 2 editions (2 languages), 1 of 4 cells missing
    """
    if not isinstance(frame, pd.DataFrame):
        raise DataError(f"texts must be a DataFrame, long or one column per edition, not {type(frame).__name__}.")
    faults = Faults(on_error, trust)
    cells = _long(frame)
    texts = cells if cells.empty else _without_faults(cells, faults, is_long="text" in frame.columns)
    faults.refuse()
    intents, editions = texts["intent"].unique().tolist(), texts["edition"].unique().tolist()
    if not intents:
        raise DataError("the frame is empty; give columns intent, edition, text, or one column per edition.")
    have = texts[texts["text"].map(lambda text: isinstance(text, str) and bool(text.strip())).astype(bool)]
    by_edition = {edition: rows.set_index("intent")["text"] for edition, rows in have.groupby("edition")}
    nothing = pd.Series(dtype=object)
    sources = {edition: InMemoryText(by_edition.get(edition, nothing)) for edition in editions}
    multitext = multitext_from_sources(
        sources,
        {edition: source.texts.index for edition, source in sources.items()},
        intents=intents,
        edition_info=with_language(_rows(edition_info, "edition_info", editions)),
        intent_info=_rows(intent_info, "intent_info", intents),
        measured={edition: measure(source.texts) for edition, source in sources.items()},
    )
    return faults.applied(multitext)


def _long(frame: pd.DataFrame) -> pd.DataFrame:
    """Return one row per cell, with columns of dtype object."""
    given = [column for column in _LONG if column in frame.columns]
    if frame.columns.nlevels > 1 or frame.index.nlevels > 1:
        raise DataError("the frame has several levels of columns or rows; give one, such as frame.reset_index().")
    if given == _LONG:
        if twice := [column for column in _LONG if (frame.columns == column).sum() > 1]:
            raise DataError(f"the frame has several columns {listing(twice)}; keep one of each.")
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
    if isinstance(cell, str):
        return _is_unicode(cell)
    return cell is None or cell is pd.NA or (isinstance(cell, float) and math.isnan(cell))


def _is_name(cell: Any) -> bool:
    return _is_unicode(cell) if isinstance(cell, str) else pd.api.types.is_scalar(cell) and bool(pd.notna(cell))


def _is_unicode(text: str) -> bool:
    """Return whether a str can be encoded; a str may have lone surrogates, as ``errors="surrogateescape"`` leaves."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _without_faults(texts: pd.DataFrame, faults: Faults, *, is_long: bool) -> pd.DataFrame:
    """Return the named cells as str, once each and without faulty texts; add the faulty ones to the faults."""
    is_name = texts[["intent", "edition"]].map(_is_name).astype(bool)
    named = is_name.all(axis=1)
    names = texts.loc[named, ["intent", "edition"]].map(str)
    twice = names.duplicated(keep=False).reindex(texts.index, fill_value=False)
    is_text = texts["text"].map(_is_text_or_missing).astype(bool)
    for row in np.flatnonzero(~named | twice | ~is_text):
        intent, edition, text = texts.iloc[row]
        if not named[row]:
            which, name = ("edition", edition) if is_name["intent"][row] else ("intent", intent)
            no_name = pd.api.types.is_scalar(name) and pd.isna(name)
            what = f"a text without {which}" if no_name else f"a text whose {which} is not a name, {name!r:.40}"
        elif twice[row]:
            what = f"intent {intent!r}, edition {edition!r}: a text given twice, of which neither is used"
        else:
            reason = (
                "a text with half a character (a lone surrogate)" if isinstance(text, str) else "a cell without text"
            )
            what = f"intent {intent!r}, edition {edition!r}: {reason}; give str or None"
        line = int(row) + 1 if is_long else None
        faults.found.append(Fault("the frame", line, f"{what}: {text!r:.40}.", _name(intent), _name(edition)))
    texts = texts.assign(text=texts["text"].mask(twice | ~is_text, None))
    return texts[named].assign(**names).drop_duplicates(["intent", "edition"])


def _name(name: Any) -> str | None:
    return str(name) if _is_name(name) else None


def _rows(info: pd.DataFrame | None, what: str, names: Sequence[str]) -> pd.DataFrame:
    """Return the rows of `info` for the names, in their order."""
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
