"""Which intents belong together, so that what happens to one may happen to others: clusters."""

from collections.abc import Mapping, Sequence

import pandas as pd

from langdiff.base.signature import short_hash
from langdiff.errors import ConfigError, DataError, listing, option
from langdiff.tables.intent_info import label_intents
from langdiff.tables.multitext import Multitext
from langdiff.tables.surprisals import Surprisals

OneClustering = str | Mapping[object, object] | pd.Series
Clusters = OneClustering | Sequence[OneClustering]


def resolve_clusters(table: Surprisals | Multitext, clusters: Clusters | None) -> pd.Series | pd.DataFrame | None:
    """Return the cluster of every intent of a table.

    Parameters
    ----------
    table : Surprisals or Multitext, shape (I, J)
        Table or text whose intents are wanted.
    clusters : str, mapping, Series, or sequence of two of these, optional
        A column of the table's `intent_info`, or the cluster of each intent, by intent; those of further intents are
        ignored. Where all intents are verse ids, ``"book"`` and ``"chapter"`` need no column. Two of them are crossed:
        intents that share either are dependent.

    Returns
    -------
    Series, DataFrame or None
        Clusters in the order of the table's intents, named as the column, or ``cluster``. For two crossed ones, a
        frame of two columns. None if `clusters` is None.

    Raises
    ------
    ConfigError
        If there is no such column, `clusters` is of another type, or two crossed ones are the same.
    DataError
        If intents have no cluster or several, or all have the same one.

    Examples
    --------
    >>> bits = pd.DataFrame({"eng": [9.0, 8.0, 7.0]}, index=["40001001", "40002001", "41001001"])
    >>> resolve_clusters(Surprisals(bits=bits), "chapter").tolist()
    ['40001', '40002', '41001']
    >>> resolve_clusters(Surprisals(bits=bits), {"40001001": "x", "40002001": "y", "41001001": "y"}).tolist()
    ['x', 'y', 'y']
    """
    return None if clusters is None else clusters_of(table.intents, table.intent_info, clusters)


def clusters_of(intents: pd.Index, intent_info: pd.DataFrame | None, clusters: Clusters) -> pd.Series | pd.DataFrame:
    """Return the cluster of every intent, of which there need be no surprisals yet; see `resolve_clusters`.

    Parameters
    ----------
    intents : Index
        Names of the intents.
    intent_info : DataFrame, I rows, or None
        Properties of the intents, in the same order.
    clusters : str, mapping, Series, or sequence of two of these
        See `resolve_clusters`, also for what is returned and for the errors.
    """
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


def one_clustering(table: Surprisals | Multitext, clusters: Clusters | None) -> pd.Series | None:
    """Return the cluster of every intent where crossed ones cannot be used; see `resolve_clusters`.

    Raises
    ------
    ConfigError
        Also if two clusterings are given.
    DataError
        As `resolve_clusters`.
    """
    labels = resolve_clusters(table, clusters)
    if isinstance(labels, pd.DataFrame):
        raise ConfigError(
            f"clusters: {labels.columns[0]!r} and {labels.columns[1]!r} are crossed, so that there are no whole "
            "clusters to keep together. Give one of them."
        )
    return labels


def strata_of(
    intents: pd.Index, intent_info: pd.DataFrame | None, clusters: pd.Series | pd.DataFrame, strata: OneClustering
) -> pd.Series:
    """Return the stratum of every intent, in which its whole cluster must be.

    Parameters
    ----------
    intents : Index
        Names of the intents.
    intent_info : DataFrame, I rows, or None
        Properties of the intents, in the same order.
    clusters : Series or DataFrame
        The cluster of every intent, as `resolve_clusters` returns it.
    strata : str, mapping or Series
        As one kind of clusters; see `resolve_clusters`.

    Raises
    ------
    ConfigError
        If there are two kinds of clusters, or strata are the clusters themselves; also as `resolve_clusters`.
    DataError
        If a cluster is in several strata, or every stratum has one cluster; also as `resolve_clusters`.

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
