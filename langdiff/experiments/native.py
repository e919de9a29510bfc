"""Dividing editions by the language in which each intent was first said."""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from langdiff.base.cells import guarded
from langdiff.base.io import as_path, atomic_path, read_table
from langdiff.corpora.edition_info import EditionInfo, languages_of
from langdiff.corpora.files import language_of
from langdiff.corpora.origin import align_origins
from langdiff.errors import ConfigError, DataError, listing, option, words
from langdiff.regression.kernel.two_way import edition_components
from langdiff.tables.long_tables import BESIDE
from langdiff.tables.surprisals import Surprisals

NATIVE, TRANSLATED = "native", "translated"
USUAL_MIN_NATIVE = 500  # Mielke et al. (2019), section 6

log = logging.getLogger(__name__)


class Origins(NamedTuple):
    """Origins of the cells of a table: native, translated or unknown.

    Attributes
    ----------
    source : Series of str, shape (I,)
        Original language of each intent; NaN where it is not known.
    language : Series of str, shape (J,)
        Language of each edition.
    native, translated : DataFrame of bool, shape (I, J)
        Cells that are observed and written in the original language; or in another, which is known.
    """

    source: pd.Series
    language: pd.Series
    native: pd.DataFrame
    translated: pd.DataFrame


def split_by_origin(
    surprisals: Surprisals,
    original_language: pd.Series | None = None,
    *,
    languages: Iterable[str] | None = None,
    min_native: int | None = None,
    edition_info: EditionInfo | None = None,
) -> Surprisals:
    """Divide editions into a native and a translated one (Mielke et al. 2019, section 6).

    A cell of a divided edition goes to ``EDITION:native`` if its intent was first said in the edition's
    language, else to ``EDITION:translated``, and is missing in the other.

    Parameters
    ----------
    surprisals : Surprisals, shape (I, J)
        Surprisals to divide.
    original_language : Series of str, optional
        Code of the original language of each intent; NaN, ``""`` or ``"und"`` where it is not known. Further
        intents are ignored. By default the column ``original_language`` of the surprisals' `intent_info`.
    languages : iterable of str, optional
        Languages whose editions are divided; others stay as they are. By default those of the editions
        that have at least `min_native` native intents.
    min_native : int, optional
        Least number of native intents of an edition that is divided. By default 500, or 1 if `languages` are given;
        where their editions have fewer, there is an error.
    edition_info : DataFrame, Series or mapping from edition to language, optional
        Languages of editions in the codes of `original_language`: a frame indexed by edition with a column
        ``language``, or the languages of some editions. For other editions, the code that is their name, such as
        ``fr``, or that their name begins with: ``deu-luther1912``.

    Returns
    -------
    Surprisals
        Surprisals of up to 2J editions. Intents of unknown origin are missing in divided editions, and left out if
        no other edition has them.

    Raises
    ------
    DataError
        If intents have no row in `original_language`, a language is unknown or has no native or no
        translated intent or fewer than `min_native`, none has enough, or the resulting editions cannot be compared.
    ConfigError
        If `min_native` is below 1.

    Examples
    --------
    >>> bits = pd.DataFrame({"deu": [9.0, 8.0, 7.0], "eng": [6.0, 5.0, 4.0]}, index=["a", "b", "c"])
    >>> origin = pd.Series({"a": "deu", "b": "eng", "c": "fra"})
    >>> split_by_origin(Surprisals(bits=bits), origin, languages=["deu"]).bits
    edition  deu:native  deu:translated  eng
    intent
    a               9.0             NaN  6.0
    b               NaN             8.0  5.0
    c               NaN             7.0  4.0
    """
    origins = find_origins(surprisals, original_language, edition_info)
    return divide_by_origin(surprisals, origins, choose_editions(origins, languages, min_native))


def choose_editions(origins: Origins, languages: Iterable[str] | None, min_native: int | None) -> list[str]:
    """Return the editions to be divided; see `split_by_origin`, also for the errors."""
    if min_native is None:
        min_native = USUAL_MIN_NATIVE if languages is None else 1
    if min_native < 1:
        raise ConfigError(f"{option('min_native')} must be at least 1, got {min_native!r}.")
    if languages is None:
        enough = (origins.native.sum() >= min_native) & origins.translated.any()
        if not enough.any():
            raise DataError(_too_few(origins, min_native))
        return list(origins.language.index[enough])
    chosen = _editions_of(origins, languages)
    for what, cells in ((NATIVE, origins.native), (TRANSLATED, origins.translated)):
        without = [edition for edition in chosen if not cells[edition].any()]
        if without:
            raise DataError(f"{len(without)} edition(s) without {what} intents: {listing(without)}. {_codes(origins)}")
    native = origins.native[chosen].sum()
    few = [f"{edition} {count:,}" for edition, count in native[native < min_native].items()]
    if few:
        raise DataError(
            f"{len(few)} edition(s) of the languages that are named have fewer than {min_native:,} native intents: "
            f"{', '.join(few[:5])}. Lower {option('min_native')}, or leave these languages out."
        )
    return chosen


def divide_by_origin(surprisals: Surprisals, origins: Origins, chosen: list[str]) -> Surprisals:
    """Divide the chosen editions; see `split_by_origin`, also for the errors."""
    parts = {e: {NATIVE: origins.native[e], TRANSLATED: origins.translated[e]} for e in chosen}
    divided = _divide(surprisals, parts)
    _check_connected(
        divided,
        "Two languages are not enough on their own: native intents of one are translations in the other. Keep "
        "intents first said in a third language, which are translations in both, or an edition that is not divided.",
    )
    return divided


def split_by_source(
    surprisals: Surprisals,
    original_language: pd.Series | None = None,
    *,
    languages: Iterable[str],
    edition_info: EditionInfo | None = None,
) -> Surprisals:
    """Divide editions by the language that each intent comes from (Mielke et al. 2019, footnote 23).

    A cell of a divided edition goes to ``EDITION:from-SOURCE``. Differences between these are relative to the
    editions that are not divided, which are assumed to be equally difficult whatever the source: if all editions
    were divided, no intent would connect one source to another.

    Parameters
    ----------
    surprisals : Surprisals, shape (I, J)
        Surprisals to divide.
    original_language : Series of str, optional
        Code of the original language of each intent; see `split_by_origin`.
    languages : iterable of str
        Languages whose editions are divided; at least one edition must be left whole.
    edition_info : DataFrame, Series or mapping from edition to language, optional
        Languages of editions in the codes of `original_language`; see `split_by_origin`.

    Returns
    -------
    Surprisals
        One edition for each source that a divided edition has intents from, its own language first, then
        those with more intents. Intents of unknown origin are treated as in `split_by_origin`.

    Raises
    ------
    DataError
        If intents have no row in `original_language`, a language is unknown, or the resulting editions
        cannot be compared.

    Examples
    --------
    >>> bits = pd.DataFrame({"deu": [9.0, 8.0, 7.0], "eng": [6.0, 5.0, 4.0]}, index=["a", "b", "c"])
    >>> origin = pd.Series({"a": "deu", "b": "eng", "c": "fra"})
    >>> list(split_by_source(Surprisals(bits=bits), origin, languages=["deu"]).editions)
    ['deu:from-deu', 'deu:from-eng', 'deu:from-fra', 'eng']
    """
    origins = find_origins(surprisals, original_language, edition_info)
    parts = {}
    for edition in _editions_of(origins, languages):
        observed = origins.native[edition] | origins.translated[edition]
        sources = list(origins.source[observed].value_counts().index)
        own = [source for source in sources if source == origins.language[edition]]
        sources = own + [source for source in sources if source not in own]
        parts[edition] = {f"from-{source}": observed & (origins.source == source) for source in sources}
    divided = _divide(surprisals, parts)
    _check_connected(divided, "Leave an edition whole: only there do intents of different sources meet.")
    return divided


def find_origins(surprisals: object, original_language: object, edition_info: EditionInfo | None) -> Origins:
    """Classify each cell as native, translated or unknown."""
    if not isinstance(surprisals, Surprisals):
        raise DataError(
            f"surprisals must be a Surprisals, not {type(surprisals).__name__}; Surprisals(bits=frame) makes one."
        )
    if original_language is None:
        if surprisals.intent_info is None or "original_language" not in surprisals.intent_info:
            raise DataError(
                "the table does not say the original language of its intents (no intent_info 'original_language'); "
                "give "
                f"{words(python='it, indexed by intent, as original_language', command='a table ORIGINS')}."
            )
        original_language = surprisals.intent_info["original_language"]
    source = align_origins(original_language, surprisals.intents)
    given = languages_of(edition_info, surprisals.editions)
    codes = set(source.dropna())
    language = {e: given.get(e) or (e if e in codes else language_of(str(e)) or e) for e in surprisals.editions}
    observed = surprisals.bits.notna()
    own = pd.DataFrame({e: source == language[e] for e in surprisals.editions}, columns=surprisals.editions)
    return Origins(
        source=source,
        language=pd.Series(language, index=surprisals.editions),
        native=observed & own,
        translated=(observed & ~own).mul(source.notna(), axis=0),
    )


def read_origins(path: str | Path) -> pd.Series:
    r"""Read the original language of intents.

    Parameters
    ----------
    path : str or Path
        Table (``.tsv`` with tabs, else with commas) whose first column names the intents, with a column
        ``original_language``; other columns are not read.

    Returns
    -------
    Series of str
        Code of the original language, indexed by intent.

    Raises
    ------
    DataError
        If the file cannot be read or has no such column.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "origins.csv"
    ...     _ = path.write_text("intent,original_language\n1,deu\n2,eng\n")
    ...     read_origins(path).to_dict()
    {'1': 'deu', '2': 'eng'}
    """
    path = as_path(path)
    header, rows = read_table(path, "\t" if path.suffix == ".tsv" else ",")
    if "original_language" not in header[1:]:
        raise DataError(
            f"{path}, line 1: no column 'original_language' after the first; found {listing(header)}. Origins are a "
            f"table, not a text: line 1 names the columns (intent, original_language), every other line an "
            "intent and the code of the language it was first said in (17, deu)."
        )
    column = header.index("original_language")
    intents = pd.Index([row[0] for _, row in rows], name="intent", dtype=object)
    return pd.Series([row[column] for _, row in rows], index=intents, name="original_language", dtype=object)


def write_origins(original_language: pd.Series, path: str | Path) -> None:
    r"""Write the original language of intents, for `read_origins`.

    Parameters
    ----------
    original_language : Series of str
        Code of the original language, indexed by intent; where it is not known, ``"und"`` is written.
    path : str or Path
        File to write, ending in ``.csv`` or ``.tsv``.

    Raises
    ------
    ConfigError
        If the name has another ending.
    DataError
        If it is not a Series, or an intent is named twice.
    OutputError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_origins(pd.Series({"1": "deu", "2": None}), Path(folder) / "origins.csv")
    ...     read_origins(Path(folder) / "origins.csv").to_dict()
    {'1': 'deu', '2': 'und'}
    """
    path = as_path(path)
    if path.suffix not in (".csv", ".tsv"):
        raise ConfigError(f"{path}: the name of a file of origins must end in .csv or .tsv.")
    if not isinstance(original_language, pd.Series):
        raise DataError(f"{option('original_language')} must be a Series, not {type(original_language).__name__}.")
    known = align_origins(original_language, original_language.index).fillna("und").rename_axis("intent")
    with atomic_path(path) as temporary:
        guarded(known.to_frame()).to_csv(temporary, sep="\t" if path.suffix == ".tsv" else ",")


def _editions_of(origins: Origins, languages: Iterable[str]) -> list[str]:
    wanted = [languages] if isinstance(languages, str) else list(languages)
    unknown = [language for language in wanted if language not in set(origins.language)]
    if unknown or not wanted:
        raise DataError(f"{len(unknown)} unknown language(s): {listing(unknown)}. {_codes(origins)}")
    return list(origins.language.index[origins.language.isin(wanted)])


def _codes(origins: Origins) -> str:
    if origins.source.isna().all():
        return f"The original language of none of {len(origins.source):,} intents is known."
    return (
        f"Editions are in {listing(origins.language.unique(), most=10)}, intents from "
        f"{listing(origins.source.value_counts().index, most=10)}; if these are other codes for the same languages, "
        "write the original languages in the codes of the "
        f"editions{words(python=', or give edition_info', command='')}."
    )


def _too_few(origins: Origins, min_native: int) -> str:
    most = origins.native.sum().sort_values(ascending=False, kind="stable")
    found = ", ".join(f"{edition} {count:,}" for edition, count in most.head(5).items())
    if not most.iloc[0]:
        return f"no edition has native intents. {_codes(origins)}"
    return (
        f"no edition has {min_native:,} native intents and translated ones; native are: {found}. Lower "
        f"{option('min_native')}, or name languages; the standard errors will be large."
    )


def _divide(surprisals: Surprisals, parts: Mapping[str, Mapping[str, pd.Series]]) -> Surprisals:
    """Replace editions by their parts, each with the cells that a mask of intents gives it."""

    def divide(frame: pd.DataFrame) -> pd.DataFrame:
        columns = []
        for edition in frame.columns:
            if edition in parts:
                columns += [frame[edition].where(cells).rename(f"{edition}:{p}") for p, cells in parts[edition].items()]
            else:
                columns.append(frame[edition])
        return pd.concat(columns, axis=1)

    bits = divide(surprisals.bits)
    # an intent that was empty before stays, so that the fit can report it
    lost = bits.isna().all(axis=1) & surprisals.bits.notna().any(axis=1)
    if lost.any():
        log.info("%d of %d intents are left out: their origin is not known", lost.sum(), len(lost))

    beside = {name: getattr(surprisals, name) for name in BESIDE}
    divided: dict[str, Any] = {name: divide(frame).loc[~lost] for name, frame in beside.items() if frame is not None}
    info = None if surprisals.intent_info is None else surprisals.intent_info.loc[~lost]
    return replace(surprisals, bits=bits.loc[~lost], intent_info=info, **divided)


def _check_connected(divided: Surprisals, advice: str) -> None:
    component = edition_components(divided.bits.notna().to_numpy())
    if not component.max():
        return
    groups = [divided.editions[component == group] for group in np.unique(component)[:2]]
    raise DataError(
        f"the divided editions fall into {component.max() + 1} groups that share no intent, such as "
        f"({listing(groups[0])}) and ({listing(groups[1])}), so they cannot be compared. {advice}"
    )


def counted(numbers: pd.Series) -> str:
    """Return editions with their numbers, for messages; the first ten."""
    shown = ", ".join(f"'{edition}' ({number:,})" for edition, number in numbers.head(10).items())
    return shown + (", …" if len(numbers) > 10 else "")
