"""What makes estimates infinite or not unique, found before anything is fitted."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import linprog
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from langdiff.base.types import Booleans, Floats
from langdiff.errors import DataError, LangdiffWarning, listing
from langdiff.regression.kernel.connected import edition_components
from langdiff.regression.outcomes.design import ItemDesign
from langdiff.regression.outcomes.rows import Rows
from langdiff.tables.outcomes import Outcomes

ALIASED = 1e-9  # of the largest eigenvalue of the columns' products
SEPARATING = 1e-6  # gain of a linear programme whose variables are at most 1
LARGEST_PROGRAMME = 50_000  # rows
ADVICE = "Leave it out, or pool it with another."


def check_outcomes(
    outcomes: Outcomes, design: ItemDesign, rows: Rows, *, conditional: bool, overdispersed: bool, allow_unlinked: bool
) -> None:
    """Refuse tables whose estimates would not exist; warn of those that rest on the distribution of items only.

    Raises
    ------
    DataError
        If the table is too small, systems or groups are aliased, not linked or separated, systems agree on all items,
        or, for the conditional likelihood, some never beats another.

    Warns
    -----
    LangdiffWarning
        If a marginal likelihood has its maximum only since items are drawn from a normal distribution.
    """
    check_size(outcomes, rows, conditional=conditional, overdispersed=overdispersed)
    if not conditional:
        _check_aliased(outcomes, design, rows)
    _check_linked(outcomes, allow_unlinked=allow_unlinked and not conditional)
    _check_separated(outcomes, design, rows)
    _check_beaten(outcomes, design, rows, conditional=conditional)


def check_size(outcomes: Outcomes, rows: Rows, *, conditional: bool, overdispersed: bool) -> None:
    """Refuse tables that are too small, and items and systems without outcomes."""
    items, systems = rows.t.shape
    if items < 2 or systems < 2:
        raise DataError(f"{items} item(s) × {systems} system(s): at least two of each are needed.")
    for what, names, filled in (
        ("item", outcomes.items.index, rows.t.any(axis=1)),
        ("system", outcomes.systems.index, rows.t.any(axis=0)),
    ):
        if not filled.all():
            empty = names[np.flatnonzero(~filled)]
            raise DataError(
                f"{len(empty):,} {what}(s) without any outcome: {listing(empty)}. Leave them out with sel({what}s=...)."
            )
    total, trials = rows.s.sum(axis=1), rows.t.sum(axis=1)
    if conditional and not ((total > 0) & (total < trials)).any():
        raise DataError("every item is all right or all wrong: none says which system is abler.")
    if overdispersed and rows.t.max() <= 1:
        raise DataError(
            "all cells have one trial, which says nothing of how trials of a cell agree; use model='rasch'."
        )


def _check_aliased(outcomes: Outcomes, design: ItemDesign, rows: Rows) -> None:
    """Refuse systems and groups (or terms) that the observed cells cannot tell apart."""
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


def _check_linked(outcomes: Outcomes, *, allow_unlinked: bool) -> None:
    component = edition_components(outcomes.observed)
    if component.max() == 0:
        return
    parts = [listing(outcomes.systems.index[component == c], most=3) for c in range(min(5, component.max() + 1))]
    message = (
        f"systems are in {component.max() + 1} parts that share no item, not even through others: "
        f"{' | '.join(parts)}. Their difference says as much of their items."
    )
    if not allow_unlinked:
        raise DataError(
            f"{message} Run a system on items of both, fit each part, or trust the items of all parts to be draws of "
            "one population (model='rasch', allow_unlinked=True)."
        )
    warnings.warn(
        f"{message} They are compared as if all items came from one population.", LangdiffWarning, stacklevel=4
    )


def _check_separated(outcomes: Outcomes, design: ItemDesign, rows: Rows) -> None:
    """Refuse systems, groups, or combinations of terms on one side of which all is right or wrong."""
    found: list[str] = []
    blocks = int(rows.block.max()) + 1
    for b in range(blocks):
        inside = rows.block == b
        s, t = rows.s[inside].sum(axis=0), rows.t[inside].sum(axis=0)
        at = "" if blocks == 1 or design.groups is None else f" in {design.groups[b]}"
        found += [
            f"system {name!r}{at} {_extreme(s[j], t[j])}"
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
    """Refuse a direction of the parameters along which no cell becomes less probable and some more so."""
    kinds, place = np.unique(np.column_stack([rows.block, rows.x]), axis=0, return_inverse=True)
    count, systems = len(kinds), rows.s.shape[1]
    s, t = np.zeros((count, systems)), np.zeros((count, systems))
    np.add.at(s, place.ravel(), rows.s)
    np.add.at(t, place.ravel(), rows.t)
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
    """Refuse tables without any order of systems but one, and say who never beats whom."""
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
            warnings.warn(
                _never(systems, component, right, wrong)
                + (" The estimate of such a difference rests on the normal distribution of the items."),
                LangdiffWarning,
                stacklevel=4,
            )
        return
    for b in range(int(rows.block.max()) + 1):
        inside = rows.block == b
        component = _strong(right[inside], wrong[inside])
        if component.max() > 0:
            at = "" if not design.interacting or design.groups is None else f" in {design.groups[b]}"
            raise DataError(
                _never(systems, component, right[inside], wrong[inside], at)
                + " The conditional likelihood has no maximum; leave a system out, or use model='rasch'."
            )


def each_beats_all(rows: Rows) -> bool:
    """Return whether the conditional likelihood has a maximum: each system beats each other one, if through others."""
    return bool(_strong(rows.s > 0, rows.s < rows.t).max() == 0)


def _strong(right: Booleans, wrong: Booleans) -> Any:
    """Return the strongly connected component of each system, where one beats another if it alone has an item."""
    beats = csr_matrix(right.astype(float).T @ wrong.astype(float) > 0)
    return connected_components(beats, directed=True, connection="strong")[1]


def _never(systems: pd.Index, component: Any, right: Booleans, wrong: Booleans, at: str = "") -> str:
    """Say which systems never have an item right that others have wrong."""
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
