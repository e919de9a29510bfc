"""Tables of several language models in one: intents × (language, system)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from langdiff.base.types import check_choice
from langdiff.errors import DataError, listing, option, warn
from langdiff.tables.crossing import column_name, make_columns
from langdiff.tables.long_tables import BESIDE, join_provenance
from langdiff.tables.surprisals import Surprisals

End = Literal["same", "drop", "keep"]
COUNTS = ("bytes", "characters")  # which all systems should have alike, since texts are the same


def stack(tables: Mapping[str, Surprisals], *, end: End = "same") -> Surprisals:
    """Return one table of several language models that scored the same texts: intents × (language, system).

    Intents are joined by name, and so are languages, which are the editions of each table. A language that a system
    lacks gives no column; an intent that it lacks gives missing cells. `langdiff.fit` of the table compares languages,
    systems, and what a system finds hard beyond both.

    Parameters
    ----------
    tables : mapping of str to Surprisals
        One table for each system, by the name of the system.
    end : {"same", "drop", "keep"}
        What becomes of the bits of end-of-intent symbols (`eos_bits`) where only some tables tell them. ``"same"`` is
        an error: the systems may have predicted different things. ``"drop"`` subtracts them in those tables, if the
        others scored texts only; ``"keep"`` takes the bits as they are, if the others have them without telling.

    Returns
    -------
    Surprisals
        Its editions are called ``language@system``; `Surprisals.columns` has both by name.

    Raises
    ------
    DataError
        If there are fewer than two tables, one is stacked already, a name has the sign ``@``, tables share no intent,
        an attribute of an intent has several values, or only some tables have `eos_bits`.
    ConfigError
        If `end` is unknown.

    Warns
    -----
    LangdiffWarning
        If a system lacks intents or languages of others, or counts of characters or bytes of the same text differ.

    Examples
    --------
    >>> llama = Surprisals(bits=pd.DataFrame({"eng": [10.0, 20.0], "fin": [12.0, 25.0]}, index=["1", "2"]))
    >>> gpt2 = Surprisals(bits=pd.DataFrame({"eng": [11.0, 19.0], "fin": [15.0, 29.0]}, index=["1", "2"]))
    >>> stacked = stack({"llama": llama, "gpt2": gpt2})
    >>> stacked.editions.tolist()
    ['eng@llama', 'fin@llama', 'eng@gpt2', 'fin@gpt2']
    """
    tables = _checked(tables, end)
    intents = _union(table.intents for table in tables.values())
    _tell_what_lacks(tables, intents)
    _compare_counts(tables)
    columns = make_columns((language, name) for name, table in tables.items() for language in table.editions)
    kept = [part for part in BESIDE if any(getattr(table, part) is not None for table in tables.values())]
    if end != "same" and not all(table.eos_bits is not None for table in tables.values()):
        kept = [part for part in kept if part != "eos_bits"]
    together = {part: _joined(tables, part, intents) for part in ["bits", *kept]}
    name = "+".join(tables)
    return Surprisals(
        **together,
        intent_info=_joined_info(tables, intents),
        edition_info=_joined_editions(tables, columns.index),
        columns=columns,
        lm=name,
        provenance=join_provenance((table.provenance for table in tables.values()), name),
    )


def _checked(tables: Mapping[str, Surprisals], end: End) -> dict[str, Surprisals]:
    """Return the tables with intents of one type, and without ends where these are dropped."""
    check_choice("end", end, get_args(End))
    if not isinstance(tables, Mapping) or not all(isinstance(table, Surprisals) for table in tables.values()):
        raise DataError("tables are given as a mapping from the name of each system to its Surprisals.")
    found = {str(name): table for name, table in tables.items()}
    if len(found) < max(len(tables), 2):
        raise DataError(
            f"a stack needs the tables of at least two systems, whose names differ as text; there is {listing(tables)}."
        )
    stacked = [name for name, table in found.items() if table.columns is not None]
    if stacked:
        raise DataError(f"tables of several systems already: {listing(stacked)}. Stack the table of each system.")
    with_end = [name for name, table in found.items() if table.eos_bits is not None]
    if with_end and len(with_end) < len(found):
        if end == "same":
            others = [name for name in found if name not in with_end]
            raise DataError(
                f"{listing(with_end)} have the bits of end-of-intent symbols, and {listing(others)} do not tell "
                f"theirs. If the others scored texts only, use {option('end', 'drop')}, which subtracts these bits; if "
                f"all have them, {option('end', 'keep')}."
            )
        if end == "drop":
            found = {name: _without_end(table) for name, table in found.items()}
    if not len(_shared(found)) and len(_shared(as_text := {n: _named_by_text(t) for n, t in found.items()})):
        found = as_text
    if not len(_shared(found)):
        shown = "; ".join(f"{name} has {listing(table.intents, 3)}" for name, table in found.items())
        raise DataError(f"no intent is in all tables: {shown}. Intents are joined by name: rename them alike.")
    return found


def _shared(tables: Mapping[str, Surprisals]) -> pd.Index:
    first, *others = (table.intents for table in tables.values())
    for index in others:
        first = first[first.isin(index)]
    return first


def _union(indices: object) -> pd.Index:
    """Return all names in order of appearance."""
    return pd.Index(list(dict.fromkeys(name for index in indices for name in index)))  # type: ignore[attr-defined]


def _named_by_text(table: Surprisals) -> Surprisals:
    """Return a table whose intents are named by text, where some are numbers in one file and text in another."""
    names = table.intents.map(str)
    frames = {name: frame.set_axis(names, axis=0) for name, frame in {"bits": table.bits, **table.beside()}.items()}
    info = None if table.intent_info is None else table.intent_info.set_axis(names, axis=0)
    return Surprisals(**frames, intent_info=info, lm=table.lm, provenance=table.provenance)


def _without_end(table: Surprisals) -> Surprisals:
    if table.eos_bits is None:
        return table
    beside = {name: frame for name, frame in table.beside().items() if name != "eos_bits"}
    bits = table.bits - table.eos_bits
    return Surprisals(bits=bits, **beside, intent_info=table.intent_info, lm=table.lm, provenance=table.provenance)


def _tell_what_lacks(tables: Mapping[str, Surprisals], intents: pd.Index) -> None:
    """Warn of intents and languages that are not in all tables."""
    languages = _union(table.editions for table in tables.values())
    for what, names, of in (("intent", intents, "intents"), ("language", languages, "editions")):
        lacking = {
            name: absent for name, table in tables.items() if len(absent := names[~names.isin(getattr(table, of))])
        }
        if lacking:
            parts = "; ".join(f"{name} lacks {len(absent):,}: {listing(absent, 3)}" for name, absent in lacking.items())
            note = "their cells are missing" if what == "intent" else "means are then by least squares"
            warn(f"not all {what}s are in all systems, so that {note}: {parts}.")


def _compare_counts(tables: Mapping[str, Surprisals]) -> None:
    """Warn if the same texts differ in length between systems in most cells, as where intents are named otherwise."""
    for part in COUNTS:
        known = {name: frame for name, table in tables.items() if (frame := getattr(table, part)) is not None}
        if len(known) < 2:
            continue
        (first, reference), *others = known.items()
        for name, frame in others:
            rows, languages = reference.index.intersection(frame.index), reference.columns.intersection(frame.columns)
            one, other = (each.loc[rows, languages].to_numpy() for each in (reference, frame))
            both = ~np.isnan(one) & ~np.isnan(other)
            differ = both & (one != other)
            if 2 * differ.sum() > both.sum():
                worst = languages[int(differ.sum(axis=0).argmax())]
                warn(
                    f"the {part} of {name} differ from those of {first} in {int(differ.sum()):,} of "
                    f"{int(both.sum()):,} cells, most often in {worst}: are intents of one name the same texts?"
                )
                return


def _joined(tables: Mapping[str, Surprisals], part: str, intents: pd.Index) -> pd.DataFrame:
    """Return one of the frames of all tables, joined; NaN for tables that lack it."""
    total = sum(len(table.editions) for table in tables.values())
    values, names, start = np.full((len(intents), total), np.nan), [], 0
    for name, table in tables.items():
        frame, stop = getattr(table, part), start + len(table.editions)
        if frame is not None:
            values[intents.get_indexer(table.intents), start:stop] = frame.to_numpy()
        names += [column_name(language, name) for language in table.editions]
        start = stop
    return pd.DataFrame(values, intents, names)


def _joined_info(tables: Mapping[str, Surprisals], intents: pd.Index) -> pd.DataFrame | None:
    """Return the attributes of intents of all tables; an intent has one value of each."""
    joined: pd.DataFrame | None = None
    for name, table in tables.items():
        if table.intent_info is None:
            continue
        info = table.intent_info.reindex(intents)
        if joined is None:
            joined = info
            continue
        for attribute, values in info.items():
            if attribute in joined:
                differ = joined[attribute].notna() & values.notna() & (joined[attribute] != values)
                if differ.any():
                    first = intents[differ.to_numpy()][0]
                    raise DataError(
                        f"{attribute} of intent {first!r} is {joined[attribute][first]!r}, and {values[first]!r} in "
                        f"the table of {name}. Intents of one name must be the same."
                    )
                values = joined[attribute].where(joined[attribute].notna(), values)
            joined = joined.assign(**{str(attribute): values})
    return joined


def _joined_editions(tables: Mapping[str, Surprisals], names: pd.Index) -> pd.DataFrame | None:
    """Return the properties of the editions of all tables; None without any."""
    if all(table.edition_info is None for table in tables.values()):
        return None
    empty = (pd.DataFrame(index=table.editions) for table in tables.values())
    known = (table.edition_info for table in tables.values())
    return pd.concat([none if info is None else info for none, info in zip(empty, known, strict=True)]).set_axis(names)


def unstack(table: Surprisals) -> dict[str, Surprisals]:
    """Return the table of each system of a stack, by the name of the system.

    Examples
    --------
    >>> llama = Surprisals(bits=pd.DataFrame({"eng": [10.0, 20.0], "fin": [12.0, 25.0]}, index=["1", "2"]))
    >>> unstack(stack({"llama": llama, "gpt2": llama}))["gpt2"].bits.equals(llama.bits)
    True
    """
    if table.columns is None:
        return {table.lm: table}
    found = {}
    for system, part in table.columns.groupby("system", sort=False):
        names = dict(zip(part.index, part["language"], strict=True))
        frames = {name: frame[list(names)].rename(columns=names) for name, frame in table.beside().items()}
        bits = table.bits[list(names)].rename(columns=names)
        there = bits.notna().any(axis=1)
        info = None if table.intent_info is None else table.intent_info[there]
        about = None if table.edition_info is None else table.edition_info.loc[list(names)].rename(index=names)
        kept: dict[str, Any] = {name: frame[there] for name, frame in frames.items()}
        found[str(system)] = replace(
            Surprisals(bits=bits[there], intent_info=info, edition_info=about, lm=str(system)), **kept
        )
    return found
