"""Designs of items (groups, terms, interactions), and checks for tables whose estimates are infinite or not unique."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import linprog
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from langdiff.base.types import Booleans, Floats, Integers
from langdiff.errors import ConfigError, DataError, listing, option, warn, words
from langdiff.regression.clustering import independent_units
from langdiff.regression.design import columns_of_formula
from langdiff.regression.formulas import matrix_again, matrix_of
from langdiff.regression.kernel.clusters import sums_by_cluster
from langdiff.regression.kernel.two_way import edition_components
from langdiff.regression.outcomes.integrals import Rows
from langdiff.regression.outcomes.likelihoods import Structure
from langdiff.tables.influences import Units
from langdiff.tables.intent_info import label_intents
from langdiff.tables.outcomes import Outcomes
from langdiff.tables.units import unit_of

ALIASED = 1e-9  # of the largest eigenvalue of the columns' products
SEPARATING = 1e-6  # gain of a linear programme whose variables are at most 1
LARGEST_PROGRAMME = 50_000  # rows
ADVICE = "Leave it out, or pool it with another."


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
        """Number of columns of `x` that are indicators of groups."""
        return 0 if self.groups is None or self.interacting else len(self.groups) - 1


def design_items(
    items: pd.DataFrame,
    by: str | None,
    formula: str | None,
    interaction: str | None,
    *,
    known: pd.DataFrame | None = None,
) -> ItemDesign:
    """Return the design of items given by arguments of `langdiff.fit_outcomes`."""
    if by is not None and interaction is not None and by != interaction:
        raise ConfigError(
            f"{option('by', by)} and {option('interaction', interaction)} are two groupings; give one of them."
        )
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
    """Return an attribute of items after checking that none is missing."""
    if name not in items:
        there = f"there are {listing(items.columns)}" if items.shape[1] else "the table has none"
        adding = words(python="by with_items", command="as a column of the table of items")
        raise ConfigError(f"{option(what, name)} is not an attribute of the items: {there}. Add it {adding}.")
    column = items[name]
    missing = column.index[column.isna()]
    if len(missing):
        raise DataError(
            f"{len(missing):,} of {len(items):,} items have no {name}: {listing(missing)}. Give each one, or leave "
            f"these items out{words(python=' with sel(items=...)', command='')}."
        )
    return column


class ItemUnits(NamedTuple):
    """Independent units of items, the unit of each item, shape (I,), and the attribute that names it, or "item"."""

    units: Units
    code: Integers
    name: str = "item"


def units_of(items: pd.DataFrame, clusters: str | pd.Series | None, source: str = "as given") -> ItemUnits:
    """Return the units of items: clusters by an attribute, by labels or found; by default each item is its own.

    Raises
    ------
    ConfigError
        If there is no such attribute.
    DataError
        If items have no value, or all the same.
    """
    if isinstance(clusters, str) and clusters == "auto":
        found = independent_units(items.index, items)
        clusters, source = found.labels if isinstance(found.labels, pd.Series) else None, found.source
    if clusters is None:
        return ItemUnits(*Units.of("item", items.index))
    if isinstance(clusters, str):
        labels = attribute_of(items, clusters, "clusters")
    else:
        labels = label_intents(items.index, None, clusters, "clusters")
    name = str(labels.name)
    units, code = Units.of(unit_of(name) or name, labels, source)
    if len(units.names) < 2:
        raise DataError(
            f"all items are in one cluster ({name} {labels.iloc[0]!r}), which says nothing of their spread."
        )
    return ItemUnits(units, code, name)


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


def rows_of(
    outcomes: Outcomes, design: ItemDesign, structure: Structure | None = None, chance: Floats | None = None
) -> Rows:
    """Return outcomes as arrays, with the constants that the likelihood of a model takes, or chance."""
    structure = Structure() if structure is None else structure
    own = structure.likelihood.constant
    if own is not None:
        of_items = attribute_of(outcomes.items, own, "constant").to_numpy(dtype=float)
        chance = np.repeat(of_items[:, None], outcomes.values.shape[1], axis=1)
    if outcomes.scores is not None:
        structure.likelihood.check_cells(outcomes.scores, outcomes.trials)
    return Rows(
        s=np.nan_to_num(outcomes.values.to_numpy(dtype=float)),
        t=np.nan_to_num(outcomes.trials.to_numpy(dtype=float)),
        x=design.x,
        block=design.block,
        weight=np.ones(len(outcomes.items)),
        constant=chance,
    )


def check_estimates(
    outcomes: Outcomes, design: ItemDesign, rows: Rows, structure: Structure, *, allow_unlinked: bool
) -> None:
    """Check that the estimates exist; warn if they depend on the distribution of items only.

    Warns
    -----
    LangdiffWarning
        If a marginal likelihood has its maximum only since items are drawn from a normal distribution.
    """
    conditional = structure.conditional
    check_size(outcomes, rows, structure)
    if structure.likelihood.of_scores:
        _check_linked(outcomes, allow_unlinked=False, random=False)
        return
    if not conditional:
        _check_aliased(outcomes, design, rows)
    _check_linked(outcomes, allow_unlinked=allow_unlinked and not conditional)
    if structure.additive:
        _check_sums(outcomes, rows, structure)
        return
    _check_separated(outcomes, design, rows)
    _check_beaten(outcomes, design, rows, conditional=conditional)


def check_size(outcomes: Outcomes, rows: Rows, structure: Structure) -> None:
    """Check that the table is large enough and that no item or system lacks outcomes."""
    items, systems = rows.t.shape
    column = "column" if structure.languages else "system"
    if items < 2 or systems < 2:
        raise DataError(f"{items} item(s) × {systems} {column}(s): at least two of each are needed.")
    for what, names, filled in (
        ("item", outcomes.items.index, rows.t.any(axis=1)),
        (column, outcomes.systems.index, rows.t.any(axis=0)),
    ):
        if not filled.all():
            empty = names[np.flatnonzero(~filled)]
            how = words(python=f" with sel({'items' if what == 'item' else 'systems'}=...)", command="")
            raise DataError(f"{len(empty):,} {what}(s) without any outcome: {listing(empty)}. Leave them out{how}.")
    total, trials = rows.s.sum(axis=1), rows.t.sum(axis=1)
    if structure.conditional and not structure.likelihood.of_scores and not ((total > 0) & (total < trials)).any():
        raise DataError("every item is all right or all wrong: none says which system is abler.")
    structure.likelihood.check(rows.t)


def _check_aliased(outcomes: Outcomes, design: ItemDesign, rows: Rows) -> None:
    """Check that the observed cells identify the effects of systems and groups (or terms)."""
    present = (rows.t > 0).astype(float)
    columns, names = _products(present, rows, design, outcomes.systems.index)
    scale = np.sqrt(np.maximum(np.diag(columns), 1e-300))
    eigenvalues, vectors = np.linalg.eigh(columns / np.outer(scale, scale))
    null = np.abs(vectors[:, eigenvalues < ALIASED * eigenvalues[-1]]).max(axis=1, initial=0)
    if null.max() > 0:
        together = [name for name, share in zip(names, null, strict=True) if share > 1e-3]
        raise DataError(
            f"the observed cells cannot tell apart {len(together)} systems and groups or terms: {listing(together)}. "
            "Some groups were tried on other systems only; leave them out, or run a system on both."
        )


def _products(present: Floats, rows: Rows, design: ItemDesign, systems: pd.Index) -> tuple[Floats, list[str]]:
    """Return the products of the columns of systems (in each block) and covariates over cells, and their names."""
    blocks = [present * (rows.block == b)[:, None] for b in range(int(rows.block.max()) + 1)]
    dummies = np.column_stack(blocks)
    with_x = dummies.T @ rows.x
    covariates = (rows.x * present.sum(axis=1)[:, None]).T @ rows.x
    names = [str(name) for name in systems] * len(blocks)
    if design.groups is not None and not design.interacting:
        names += [str(name) for name in design.groups[1:]]
    names += list(design.terms)
    return np.block([[np.diag(dummies.sum(axis=0)), with_x], [with_x.T, covariates]]), names


def _check_linked(outcomes: Outcomes, *, allow_unlinked: bool, random: bool = True) -> None:
    component = edition_components(outcomes.observed)
    if component.max() == 0:
        return
    parts = [listing(outcomes.systems.index[component == c], most=3) for c in range(min(5, component.max() + 1))]
    message = (
        f"systems are in {component.max() + 1} parts that share no item, not even through others: "
        f"{' | '.join(parts)}. Their difference says as much of their items."
    )
    if not allow_unlinked:
        if not random:
            raise DataError(f"{message} Run a system on items of both, or fit each part.")
        raise DataError(
            f"{message} Run a system on items of both, fit each part, or trust the items of all parts to be draws of "
            f"one population ({option('model', 'rasch')}, {option('allow_unlinked', True)})."
        )
    warn(f"{message} They are compared as if all items came from one population.")


def _check_sums(outcomes: Outcomes, rows: Rows, structure: Structure) -> None:
    """Check that no language and no system is all right or all wrong, where levels are sums of their effects."""
    if outcomes.columns is None:
        return
    found = []
    for what, codes in (("language", structure.languages), ("system", structure.additive)):
        for one in sorted(set(codes)):
            inside = np.array(codes) == one
            s, t = rows.s[:, inside].sum(), rows.t[:, inside].sum()
            if s in (0, t):
                found.append(f"{what} {outcomes.columns[what].to_numpy()[inside][0]!r} {_extreme(s, t)}")
    if found:
        raise DataError(f"{len(found)} estimate(s) would be infinite: {', '.join(found[:5])}. {ADVICE}")


def _check_separated(outcomes: Outcomes, design: ItemDesign, rows: Rows) -> None:
    """Check that no system, group or combination of terms has only successes or only failures."""
    found: list[str] = []
    blocks = int(rows.block.max()) + 1
    for b in range(blocks):
        inside = rows.block == b
        s, t = rows.s[inside].sum(axis=0), rows.t[inside].sum(axis=0)
        at = "" if blocks == 1 or design.groups is None else f" in {design.groups[b]}"
        found += [
            f"{'system' if outcomes.columns is None else 'column'} {name!r}{at} {_extreme(s[j], t[j])}"
            for j, name in enumerate(outcomes.systems.index)
            if s[j] in (0, t[j])
        ]
    if design.groups is not None and blocks == 1:
        for g, name in enumerate(design.groups):
            s, t = rows.s[design.group == g].sum(), rows.t[design.group == g].sum()
            if s in (0, t):
                found.append(f"{design.groups.name} {name!r} {_extreme(s, t)}")
    if found:
        raise DataError(f"{len(found)} estimate(s) would be infinite: {', '.join(found[:5])}. {ADVICE}")
    if rows.x.shape[1]:
        _check_terms(outcomes, design, rows)


def _extreme(s: float, t: float) -> str:
    if t == 0:
        return "has no outcome"
    return f"has all {t:g} right" if s else f"has all {t:g} wrong"


def _check_terms(outcomes: Outcomes, design: ItemDesign, rows: Rows) -> None:
    """Check that the likelihood does not increase forever in some direction of the parameters."""
    kinds, place = np.unique(np.column_stack([rows.block, rows.x]), axis=0, return_inverse=True)
    systems = rows.s.shape[1]
    s, t = (sums_by_cluster(cells, place.ravel()) for cells in (rows.s, rows.t))
    kind, system = np.nonzero(t)
    levels = (int(rows.block.max()) + 1) * systems
    columns = np.zeros((len(kind), levels + rows.x.shape[1]))
    columns[np.arange(len(kind)), kinds[kind, 0].astype(int) * systems + system] = 1
    columns[:, levels:] = -kinds[kind, 1:]
    right, wrong = s[kind, system] > 0, s[kind, system] < t[kind, system]
    mixed = right & wrong
    signed = columns[~mixed] * np.where(right, 1.0, -1.0)[~mixed, None]
    if not 0 < len(signed) <= LARGEST_PROGRAMME:  # in a larger one infinite estimates show as a search without end
        return
    found: Any = linprog(
        -signed.sum(axis=0),
        A_ub=-signed,
        b_ub=np.zeros(len(signed)),
        A_eq=columns[mixed] if mixed.any() else None,
        b_eq=np.zeros(int(mixed.sum())) if mixed.any() else None,
        bounds=(-1, 1),
        method="highs",
    )
    if found.status == 0 and -found.fun > SEPARATING:
        names = _products(rows.t * 0 + 1, rows, design, outcomes.systems.index)[1]
        along = [name for name, weight in zip(names, found.x, strict=True) if abs(weight) > SEPARATING]
        raise DataError(
            f"{len(along)} estimate(s) would be infinite: a combination of {listing(along)} separates what is right "
            f"from what is wrong. {ADVICE}"
        )


def _check_beaten(outcomes: Outcomes, design: ItemDesign, rows: Rows, *, conditional: bool) -> None:
    """Check that the conditional likelihood has a maximum; name systems that never beat others."""
    systems = outcomes.systems.index
    right, wrong = (rows.s > 0), (rows.s < rows.t)
    if not conditional:
        component = _strong(right, wrong)
        both = bool((right & wrong).any())
        if not both and component.max() + 1 == len(systems):
            raise DataError(
                "systems agree on all items, or each item that one has wrong all weaker ones have wrong too (a Guttman "
                "scale): their differences and those of items would be infinite. More items, or systems that fail on "
                "different items, are needed."
            )
        if component.max() > 0:
            warn(
                _never(systems, component, right, wrong)
                + (" The estimate of such a difference rests on the normal distribution of the items.")
            )
        return
    for b in range(int(rows.block.max()) + 1):
        inside = rows.block == b
        component = _strong(right[inside], wrong[inside])
        if component.max() > 0:
            at = "" if not design.interacting or design.groups is None else f" in {design.groups[b]}"
            raise DataError(
                _never(systems, component, right[inside], wrong[inside], at)
                + f" The conditional likelihood has no maximum; leave a system out, or use {option('model', 'rasch')}."
            )


def each_beats_all(rows: Rows) -> bool:
    """Return whether the conditional likelihood has a maximum: each system beats all others, directly or indirectly."""
    return bool(_strong(rows.s > 0, rows.s < rows.t).max() == 0)


def _strong(right: Booleans, wrong: Booleans) -> Any:
    """Return the strongly connected component of each system, where one beats another if it alone has an item."""
    beats = csr_matrix(right.astype(float).T @ wrong.astype(float) > 0)
    return connected_components(beats, directed=True, connection="strong")[1]


def _never(systems: pd.Index, component: Any, right: Booleans, wrong: Booleans, at: str = "") -> str:
    """Describe which systems never have an item right that others have wrong."""
    beats = right.astype(float).T @ wrong.astype(float) > 0
    sets = [np.flatnonzero(component == c) for c in range(component.max() + 1)]
    weakest = min(sets, key=lambda inside: int(np.delete(beats[inside], inside, axis=1).any(axis=1).sum()))
    others = np.setdiff1d(np.arange(len(systems)), weakest)
    parts = [listing(systems[inside], most=3) for inside in sets[:5]]
    if not beats[np.ix_(weakest, others)].any():
        return (
            f"{listing(systems[weakest], most=5)} never beat {listing(systems[others], most=5)}{at}: no item was right "
            f"for the former and wrong for the latter ({len(sets)} parts: {' | '.join(parts)})."
        )
    return f"systems{at} are in {len(sets)} parts of which one never beats another: {' | '.join(parts)}."
