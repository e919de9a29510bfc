"""What is free in the difficulties of items: groups, terms of a formula, and how groups bear on each system."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from langdiff.base.types import Floats, Integers
from langdiff.errors import ConfigError, DataError, listing
from langdiff.regression.design import columns_of_formula
from langdiff.regression.formulas import matrix_again, matrix_of
from langdiff.regression.outcomes.rows import Rows
from langdiff.tables.outcomes import Outcomes


@dataclass(frozen=True, kw_only=True, eq=False)
class ItemDesign:
    """Covariates and groups of items.

    Attributes
    ----------
    groups : Index or None
        Groups of items, named as their attribute; None if there are none.
    terms : tuple of str
        Terms of the formula.
    interacting : bool
        Whether each system has levels of its own in each group.
    x : ndarray, shape (I, K)
        Indicators of the groups but the first (unless they interact), then the terms less their means.
    block : ndarray of int, shape (I,)
        Group of each item if groups interact with systems, otherwise 0.
    group : ndarray of int, shape (I,), or None
        Group of each item.
    """

    groups: pd.Index | None
    terms: tuple[str, ...]
    interacting: bool
    x: Floats
    block: Integers
    group: Integers | None

    @property
    def indicators(self) -> int:
        """How many columns of `x` are indicators of groups."""
        return 0 if self.groups is None or self.interacting else len(self.groups) - 1


def design_items(
    items: pd.DataFrame,
    by: str | None,
    formula: str | None,
    interaction: str | None,
    *,
    known: pd.DataFrame | None = None,
) -> ItemDesign:
    """Return the design that arguments of `langdiff.fit_outcomes` ask for.

    Parameters
    ----------
    items : DataFrame
        Attributes of the items.
    by, interaction : str or None
        Attribute that groups items; `interaction` also lets each system have a level in each group.
    formula : str or None
        Terms over attributes.
    known : DataFrame, optional
        Attributes of the items that the model was fitted to, whose groups and coding of terms are kept.

    Raises
    ------
    ConfigError
        If there is no such attribute, arguments contradict one another, or a formula cannot be used.
    DataError
        If an item has no group, all have the same one, or a group is not among the known ones.
    """
    if by is not None and interaction is not None and by != interaction:
        raise ConfigError(f"by={by!r} and interaction={interaction!r} are two groupings; give one of them.")
    if by is not None and formula is not None:
        raise ConfigError("give by or a formula, not both; a formula may name the groups as a term.")
    codes, groups = None, None
    grouping = interaction or by
    if grouping is not None:
        codes, groups = _group(items, grouping, known)
    parts = []
    if groups is not None and codes is not None and interaction is None:
        parts.append((codes[:, None] == np.arange(1, len(groups))).astype(float))
    terms = _terms(items, formula, known) if formula is not None else pd.DataFrame(index=items.index)
    parts.append(terms.to_numpy(dtype=float))
    return ItemDesign(
        groups=groups,
        terms=tuple(map(str, terms.columns)),
        interacting=interaction is not None,
        x=np.column_stack(parts),
        block=np.zeros(len(items), dtype=int) if interaction is None or codes is None else codes,
        group=codes,
    )


def attribute_of(items: pd.DataFrame, name: str, what: str) -> pd.Series:
    """Return an attribute of items that every one of them has.

    Raises
    ------
    ConfigError
        If there is no such attribute.
    DataError
        If items have no value.
    """
    if name not in items:
        there = f"there are {listing(items.columns)}" if items.shape[1] else "the table has none"
        raise ConfigError(f"{what}={name!r} is not an attribute of the items: {there}. Add it by with_items.")
    column = items[name]
    missing = column.index[column.isna()]
    if len(missing):
        raise DataError(
            f"{len(missing):,} of {len(items):,} items have no {name}: {listing(missing)}. Give each one, or leave "
            "these items out with sel(items=...)."
        )
    return column


def clusters_of(items: pd.DataFrame, cluster: str | None) -> tuple[Integers, str]:
    """Return the cluster of each item, shape (I,), and what clusters are named by; each item its own by default.

    Raises
    ------
    ConfigError
        If there is no such attribute.
    DataError
        If items have no value, or all the same.
    """
    if cluster is None:
        return np.arange(len(items)), "item"
    codes, names = pd.factorize(attribute_of(items, cluster, "cluster"))
    if len(names) < 2:
        raise DataError(f"all items are in one cluster ({cluster} {names[0]!r}), which says nothing of their spread.")
    return codes.astype(int), cluster


def _group(items: pd.DataFrame, name: str, known: pd.DataFrame | None) -> tuple[Integers, pd.Index]:
    labels = attribute_of(items, name, "by")
    if known is None:
        codes, groups = pd.factorize(labels)
        if len(groups) < 2:
            raise DataError(f"all items have the same {name} ({groups[0]!r}): there are no groups to compare.")
        return codes.astype(int), pd.Index(groups, name=name)
    groups = pd.Index(pd.unique(known[name]), name=name)
    codes = groups.get_indexer(pd.Index(labels))
    unknown = labels.index[codes < 0]
    if len(unknown):
        raise DataError(f"{len(unknown):,} item(s) are of a {name} that was not in the fit: {listing(unknown)}.")
    return codes.astype(int), groups


def _terms(items: pd.DataFrame, formula: str, known: pd.DataFrame | None) -> pd.DataFrame:
    if known is None:
        return columns_of_formula(formula, items, "item")
    columns_of_formula(formula, known, "item")  # its messages
    fitted = matrix_of(formula, known)
    try:
        found = matrix_again(fitted, formula, items)
    except Exception as error:  # of formulaic, pandas or NumPy, for values that do not suit the formula
        raise DataError(f"formula {formula!r} cannot be used with these items: {error}") from error
    means = fitted.drop(columns="Intercept", errors="ignore").astype(float).mean()
    centred: pd.DataFrame = found.drop(columns="Intercept", errors="ignore").astype(float) - means
    return centred


def rows_of(outcomes: Outcomes, design: ItemDesign) -> Rows:
    """Return outcomes as arrays."""
    return Rows(
        s=np.nan_to_num(outcomes.successes.to_numpy(dtype=float)),
        t=np.nan_to_num(outcomes.trials.to_numpy(dtype=float)),
        x=design.x,
        block=design.block,
        weight=np.ones(len(outcomes.items)),
    )
