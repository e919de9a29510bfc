"""Properties of editions in words, such as the family of a language, that stay with bits and difficulties."""

from collections.abc import Iterable, Mapping

import pandas as pd

from langdiff.base.iso639 import english_names
from langdiff.errors import ConfigError, DataError, listing, option

PREFIX = "edition_"  # of these columns in a long table
KEPT = ("family", "genus", "macroarea", "script", "name")  # of the properties of a multitext, those of its surprisals


def check_edition_info(info: object, editions: pd.Index) -> pd.DataFrame | None:
    """Return properties of editions as words, after checking that they are those of a table; None without any.

    Examples
    --------
    >>> check_edition_info(pd.DataFrame({"family": ["Uralic"]}, index=["fin"]), pd.Index(["fin"]))
             family
    edition
    fin      Uralic
    """
    if info is None:
        return None
    if not isinstance(info, pd.DataFrame):
        raise DataError(f"{option('edition_info')} must be a DataFrame indexed by edition, not {type(info).__name__}.")
    if list(info.index) != list(editions):
        raise DataError(
            f"{option('edition_info')} must have one row per edition of bits, in the same order; it has "
            f"{listing(info.index)}."
        )
    return words_of(info)


def words_of(info: pd.DataFrame) -> pd.DataFrame | None:
    """Return the properties as text, empty where not known; None if nothing is."""
    words = info.astype(object).where(info.notna(), "").map(str)
    known = words.loc[:, (words != "").any()]
    return known.rename_axis("edition") if known.shape[1] else None


def kept_of(info: pd.DataFrame) -> pd.DataFrame | None:
    """Return those properties of the editions of a multitext that its surprisals keep; None without any."""
    return words_of(info[[name for name in KEPT if name in info]])


def long_editions(info: pd.DataFrame | None) -> dict[str, pd.Series]:
    """Return the properties under the names that they have in a long table."""
    return {} if info is None else {f"{PREFIX}{name}": values for name, values in info.items()}


def editions_of_long(frame: pd.DataFrame, editions: Iterable[object]) -> pd.DataFrame | None:
    """Return the properties of editions that a long table has; None if it has none.

    Examples
    --------
    >>> long = {"edition": ["fin", "fin"], "edition_family": ["Uralic", "Uralic"]}
    >>> editions_of_long(pd.DataFrame(long), ["fin"]).to_numpy().tolist()
    [['Uralic']]
    """
    own = [name for name in frame if isinstance(name, str) and name.startswith(PREFIX) and name != PREFIX]
    if not own:
        return None
    known = frame[["edition", *own]].drop_duplicates().set_index("edition")
    twice = known.index[known.index.duplicated()].unique()
    if len(twice):
        several = [name for name in own if (frame.groupby("edition")[name].nunique(dropna=False) > 1).any()]
        raise DataError(
            f"{listing(several)}: {len(twice)} edition(s) with several values: {listing(twice)}. A column that begins "
            "with edition_ is a property of the edition: rename it if it is not."
        )
    return known.loc[list(editions)].rename(columns=lambda name: str(name).removeprefix(PREFIX))


def joined_info(frames: Iterable[object]) -> pd.DataFrame | None:
    """Return the properties that several frames have of editions, the first of which count most; None without any."""
    joined: pd.DataFrame | None = None
    for frame in frames:
        if frame is None:
            continue
        if not isinstance(frame, pd.DataFrame):
            raise ConfigError(
                f"{option('edition_info')} must be a DataFrame indexed by edition, not {type(frame).__name__}."
            )
        if len(twice := frame.index[frame.index.duplicated()].unique()):
            raise ConfigError(
                f"{len(twice)} edition(s) are in {option('edition_info')} more than once: {listing(twice)}. Keep one "
                "row each."
            )
        own = frame.astype(object)
        joined = own if joined is None else joined.combine_first(own)
    return joined


def printed_names(
    info: pd.DataFrame | None, names: Mapping[str, str] | str | None, editions: Iterable[str]
) -> dict[str, str]:
    """Return the names to print by edition: those given, of a property, or English ones by codes of languages.

    Examples
    --------
    >>> printed_names(None, "english", ["deu", "Vulgate"])
    {'deu': 'German'}
    """
    if names is None:
        return {}
    if isinstance(names, Mapping):
        return {str(code): str(name) for code, name in names.items()}
    if info is not None and names in info:
        known = info[names].dropna().astype(str)
        counts = known.value_counts()
        several = {name for name in known if name and counts[name] > 1}  # told apart by their editions
        return {str(code): f"{name} ({code})" if name in several else name for code, name in known[known != ""].items()}
    if names == "english":
        editions = list(editions)
        if found := english_names(editions):
            return found
        raise ConfigError(
            f"{option('names', names)}: no edition is called by a code of ISO 639, or begins with one: "
            f"{listing(editions)}. Name a property of editions, or give the names."
        )
    there = "no properties of editions" if info is None else listing(info.columns)
    raise ConfigError(f"{option('names', names)}: no such column of the properties of editions; there are {there}.")
