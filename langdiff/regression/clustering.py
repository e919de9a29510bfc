"""Which intents belong together, so that what happens to one may happen to others: clusters."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pandas as pd

from langdiff.base.signature import short_hash
from langdiff.base.types import Floats, Integers
from langdiff.errors import ConfigError, DataError, listing, option
from langdiff.tables.influences import Units
from langdiff.tables.intent_info import label_intents
from langdiff.tables.units import (
    IndependentUnits,
    Level,
    first_copies,
    joined_by_copies,
    levels_of,
    nested,
    unit_of,
    words_of_copies,
)

FEWEST_CLUSTERS = 5  # found by default; below it, smaller ones within them are looked for
AS_ASKED = "as asked"  # where each intent is a unit by clusters=None
FEWEST_WITHIN = 10  # of these


class HasIntents(Protocol):
    """A table of intents, with what is known of them."""

    @property
    def intents(self) -> pd.Index:
        """Names of the intents, in order."""

    @property
    def intent_info(self) -> pd.DataFrame | None:
        """Attributes of the intents, in the same order."""


@runtime_checkable
class Audited(Protocol):
    """A fit, whose audit says which intents it took to be independent."""

    @property
    def audit(self) -> Any:
        """Audit of the fit, with the `IndependentUnits` as ``clusters``; None without one."""


OneClustering = str | Mapping[object, object] | pd.Series
Clusters = OneClustering | Sequence[OneClustering]
AnyClusters = Clusters | Audited  # "auto" is a str


def independent_units(
    intents: pd.Index,
    intent_info: pd.DataFrame | None,
    clusters: AnyClusters | None = "auto",
    *,
    bits: Floats | None = None,
    usable: Callable[[pd.Series], bool] | None = None,
) -> IndependentUnits:
    """Find what is independent in a table: clusters of intents that are given or found, or the intents.

    By default the first of these that divides the intents into several units: attributes such as ``book``,
    ``document``, ``Doc_ID`` or ``passage`` (see `langdiff.tables.units`); book and chapter of verse ids; names such as
    ``doc3_s12``, of which all have a number, at least five documents. Of each source the coarsest level is taken; if it
    has fewer than five units and a finer one within it has ten or more, the finer ones, with the coarse ones as strata.
    Copies of an intent are one unit, and units with copies of one another are joined unless that joins half of them.

    Shapes: bits (I, J).

    Examples
    --------
    >>> verses = pd.Index(["40001001", "40002001", "41001001"])
    >>> independent_units(verses, None).words
    '2 books (from verse ids)'
    >>> independent_units(verses, None, "chapter").labels.tolist()
    ['40001', '40002', '41001']
    >>> independent_units(pd.Index(["s1", "s2"]), None).words
    '2 intents'
    """
    if clusters is None:
        return IndependentUnits(count=len(intents), source=AS_ASKED)
    if isinstance(clusters, str) and clusters == "auto":
        found = _found(intents, intent_info, usable)
        return found if bits is None else join_copies(found, intents, first_copies(bits), usable)
    if isinstance(clusters, str) and clusters == "none":
        raise ConfigError(f"{option('clusters', 'none')} is for commands and experiment files; here it is None.")
    if isinstance(clusters, str | Mapping | pd.Series | list | tuple) or not isinstance(clusters, Audited):
        labels = clusters_of(intents, intent_info, clusters)
        return _given(labels, "as given")
    return _of_fit(intents, clusters)


def _of_fit(intents: pd.Index, fit: Audited) -> IndependentUnits:
    """Return the units of a fit for some of its intents."""
    if fit.audit is None:
        raise ConfigError("clusters are those of a fit that has no audit: fit again, or name them.")
    units: IndependentUnits = fit.audit.clusters
    if units.labels is None:
        return replace(units, count=len(intents))
    labels = clusters_of(intents, None, units.columns if len(units.columns) > 1 else units.columns[0])
    strata = None if units.strata is None else label_intents(intents, None, units.strata, "strata")
    return replace(_given(labels, units.source), kind=units.kind, strata=strata, notes=units.notes)


def _given(labels: pd.Series | pd.DataFrame, source: str) -> IndependentUnits:
    """Return clusters that were given as units."""
    columns = [labels] if isinstance(labels, pd.Series) else [labels[name] for name in labels]
    columns = [column.rename("cluster") if column.name == "intent" else column for column in columns]
    columns = [_savable(column) for column in columns]
    return IndependentUnits(
        kind="given",
        name=" and ".join(str(column.name) for column in columns),
        count=min(column.nunique() for column in columns),
        source=source,
        labels=columns[0] if len(columns) == 1 else pd.concat(columns, axis=1),
    )


def _savable(labels: pd.Series) -> pd.Series:
    """Return labels as text or whole numbers, which files can hold; as codes if that would merge some."""
    if labels.map(type).isin([str, int]).all():
        return labels
    as_text = labels.map(str)
    merged = as_text.nunique() < labels.nunique()
    return pd.Series(pd.factorize(labels)[0], labels.index, name=labels.name) if merged else as_text


def _found(
    intents: pd.Index, intent_info: pd.DataFrame | None, usable: Callable[[pd.Series], bool] | None
) -> IndependentUnits:
    """Return the units that are found by default."""
    levels, notes = list(levels_of(intents, intent_info)), _unused(intents, intent_info)
    dividing = [level for level in levels if 1 < level.size < len(intents)]
    refused: list[str] = []
    for place, level in enumerate(dividing):
        if usable is not None and not usable(level.labels):
            refused.append(level.name)
            continue
        notes = (*_of_refused(refused), *notes)
        finer = [one for one in dividing[place + 1 :] if one.size >= FEWEST_WITHIN and nested(one.labels, level.labels)]
        within = [one for one in finer if usable is None or usable(one.labels)]
        if level.size < FEWEST_CLUSTERS and within:
            return _units(within[0], level, notes)
        return _units(level, None, notes)
    one = next((level.name for level in levels if level.size == 1), None)
    if one is not None and not dividing:
        notes = (f"All intents are of one {one}; errors say nothing of other {one}s.", *notes)
    return IndependentUnits(count=len(intents), notes=(*_of_refused(refused), *notes))


def _of_refused(refused: list[str]) -> tuple[str, ...]:
    if not refused:
        return ()
    return (
        f"Without one {refused[0]} some editions could not be compared, so that {refused[0]}s are not the clusters.",
    )


def _units(level: Level, coarse: Level | None, notes: tuple[str, ...]) -> IndependentUnits:
    if level.missing:
        notes = (f"{level.missing:,} intents without a {level.name} are clusters of their own.", *notes)
    return IndependentUnits(
        kind="found",
        name=level.name,
        count=level.size,
        source=level.source,
        labels=level.labels,
        strata=None if coarse is None else coarse.labels,
        notes=notes,
    )


def join_copies(
    units: IndependentUnits, intents: pd.Index, first: Integers, usable: Callable[[pd.Series], bool] | None = None
) -> IndependentUnits:
    """Return units of which those that share copies of an intent are one."""
    labels = units.columns[0] if units.columns else None
    if len(np.unique(first)) == len(first):
        return units
    joined = joined_by_copies(labels, first, intents)
    copies = words_of_copies(first, intents)
    spared = joined is not None and joined.nunique() > 1 and (usable is None or usable(joined))
    if joined is None or not spared or (units.strata is not None and not nested(joined, units.strata)):
        note = f"{copies}, in {units.noun} that stay apart: without that, little would be independent."
        return replace(units, notes=(note, *units.notes))
    if labels is None:
        return replace(
            units,
            kind="copies",
            name="text",
            count=joined.nunique(),
            labels=joined,
            notes=(f"{copies}: one unit each.", *units.notes),
        )
    count = joined.nunique()
    if count == units.count:
        return units
    note = f"{copies}: {units.noun} that share them are one unit."
    return replace(units, count=count, labels=joined, notes=(note, *units.notes))


def _unused(intents: pd.Index, intent_info: pd.DataFrame | None) -> tuple[str, ...]:
    """Return a sentence that names attributes that could be clusters and are not named after a kind of unit."""
    columns = () if intent_info is None else intent_info.items()
    others = [str(name) for name, of in columns if unit_of(name) is None and 1 < of.nunique() < len(intents)]
    return (f"Not used: {', '.join(others)}.",) if others else ()


def clusters_of(intents: pd.Index, intent_info: pd.DataFrame | None, clusters: Clusters) -> pd.Series | pd.DataFrame:
    """Return the given cluster of every intent; see `independent_units`."""
    if isinstance(clusters, str | Mapping | pd.Series):
        return _one(intents, intent_info, clusters)
    if not isinstance(clusters, list | tuple):
        raise ConfigError(
            f"clusters must be a column of {option('intent_info')}, the cluster of each intent (a mapping or a Series "
            f"indexed by intent), or a list of two of these, not {type(clusters).__name__}."
        )
    if len(clusters) != 2:
        raise ConfigError(f"two clusterings can be crossed, not {len(clusters)}; give one, or a list of two.")
    first, second = (_one(intents, intent_info, one) for one in clusters)
    if name_of_clusters(first.rename(None)) == name_of_clusters(second.rename(None)):
        raise ConfigError(f"clusters: {first.name!r} and {second.name!r} divide the intents alike; give one of them.")
    if first.name == second.name:
        first, second = first.rename(f"{first.name} 1"), second.rename(f"{second.name} 2")
    return pd.concat([first, second], axis=1)


def one_clustering(
    table: HasIntents,
    clusters: AnyClusters | None,
    *,
    tables: Sequence[HasIntents] = (),
    usable: Callable[[pd.Series], bool] | None = None,
) -> pd.Series | None:
    """Return the cluster of every intent where crossed ones cannot be used; None where each intent is its own.

    Copies are those in all `tables` of the same intents, by default in this one.
    """
    automatic = isinstance(clusters, str) and clusters == "auto"
    found = [each.bits for each in (tables or [table] if automatic else ()) if hasattr(each, "bits")]
    cells = np.hstack([frame.to_numpy(dtype=float) for frame in found]) if found else None
    labels = independent_units(table.intents, table.intent_info, clusters, bits=cells, usable=usable).labels
    if isinstance(labels, pd.DataFrame):
        raise ConfigError(
            f"clusters: {labels.columns[0]!r} and {labels.columns[1]!r} are crossed, so that there are no whole "
            "clusters to keep together. Give one of them."
        )
    return labels


def units_of(table: HasIntents, clusters: AnyClusters | None) -> tuple[Units, Integers]:
    """Return the independent units of a table, and the number of the unit of every intent; see `one_clustering`."""
    bits = getattr(table, "bits", None) if isinstance(clusters, str) else None
    cells = None if bits is None else bits.to_numpy(dtype=float)
    found = independent_units(table.intents, table.intent_info, clusters, bits=cells)
    one = one_clustering(table, clusters) if isinstance(found.labels, pd.DataFrame) else found.labels
    labels = table.intents if one is None else one
    units, code = Units.of(found.name, labels, found.source)
    if found.strata is None:
        return units, code
    first = np.unique(code, return_index=True)[1]
    return replace(units, strata=pd.factorize(found.strata.to_numpy())[0][first]), code


def strata_of(
    intents: pd.Index, intent_info: pd.DataFrame | None, clusters: pd.Series | pd.DataFrame, strata: OneClustering
) -> pd.Series:
    """Return the stratum of every intent, in which its whole cluster must be.

    Examples
    --------
    >>> verses = pd.Index(["40001001", "40002001", "41001001"])
    >>> strata_of(verses, None, clusters_of(verses, None, "chapter"), "book").tolist()
    ['40', '40', '41']
    """
    if isinstance(clusters, pd.DataFrame):
        raise ConfigError(
            f"strata hold clusters of one kind, and {option('clusters')} names two that cross. Give one of them."
        )
    found = _one(intents, intent_info, strata, "strata")
    of_cluster = found.groupby(clusters.to_numpy()).nunique()
    spread = of_cluster.index[of_cluster > 1]
    if len(spread):
        raise DataError(
            f"{len(spread):,} of {len(of_cluster):,} clusters are in several strata ({found.name}): {listing(spread)}. "
            "Strata must hold whole clusters, as books hold chapters."
        )
    if found.nunique() == len(of_cluster):
        raise DataError(
            f"every stratum ({found.name}) has one cluster, which says nothing of how much clusters vary in it. Give "
            "smaller clusters, or leave strata out."
        )
    return found


def name_of_clusters(clusters: pd.Series) -> str:
    """Return what a signature says of clusters: their name, and a hash of which intents share one.

    Examples
    --------
    >>> one, other = pd.Series(["x", "x", "y"], name="book"), pd.Series([40, 40, 41], name="book")
    >>> name_of_clusters(one) == name_of_clusters(other)  # names of books do not matter
    True
    """
    return f"{clusters.name}#{short_hash(pd.factorize(clusters)[0])}"


def _one(intents: pd.Index, intent_info: pd.DataFrame | None, clusters: object, what: str = "clusters") -> pd.Series:
    """Return the labels of one clustering, checked."""
    labels = label_intents(intents, intent_info, clusters, what)
    if labels.nunique() < 2 and what == "strata":
        raise DataError(f"all intents are in one stratum ({labels.name} {labels.iloc[0]!r}): leave strata out.")
    if labels.nunique() < 2:
        raise DataError(
            f"all intents are in one cluster ({labels.name} {labels.iloc[0]!r}), which says nothing of how much "
            "clusters vary. Give at least two; where sentences of one document are all there is, clusters cannot help."
        )
    return labels
