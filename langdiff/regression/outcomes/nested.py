r"""Integrals over questions v and, within each of them, over translations u: once for each distinct set of answers.

.. math:: L_i = \int \varphi(v) \prod_l \Big[ \int \varphi(u) \prod_{m \in l} p_{lm}^{s} (1 - p_{lm})^{t - s}\, du
    \Big] dv, \qquad p = c + (1 - c)\, \mathrm{logistic}(m_{lm} - x^\top\beta - \sigma v - \tau u)

An inner integral depends on the language, the answers of its systems, the known chance c, the covariates and v. It is
therefore computed once for each of these *patterns* at nodes of v that all items share, and looked up. Both integrals
are sums over equidistant nodes, whose error falls exponentially with their number (Trefethen and Weideman 2014). With
τ = 0 there is one node of u; without languages each column is a group by itself.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from langdiff.base.types import Floats, Integers
from langdiff.regression.outcomes.integrals import (
    COARSER,
    NEGLIGIBLE,
    POLE_STEP,
    STEP,
    Nodes,
    Rows,
    hermite_nodes,
    kinds,
)

FARTHEST = 8.0  # of a node of u, standard deviations
WIDTH = float(np.sqrt(2 * NEGLIGIBLE))  # of half a normal distribution, of which less is left out
AT_ONCE = 2_000_000  # numbers of an array
LARGEST, TYPICAL_NODES = 50_000_000, 400  # numbers of the tables of items that are looked up together, nodes of v
FEWEST_ITEMS = 50  # that are
ROWS = 64  # items whose nodes are gathered at once


class Cells(NamedTuple):
    """Logarithms of right and wrong at nodes, (Q, U, J), and their first and second derivatives in the log odds."""

    log_right: Floats
    log_wrong: Floats
    right: Floats
    wrong: Floats
    of_right: Floats
    of_wrong: Floats


class Kind(NamedTuple):
    """Patterns of equal covariates and chance: their places, answers (K, J), and cells at the nodes are found from."""

    places: Integers
    s: Floats
    f: Floats  # failures
    level: Floats  # (J,)
    chance: Floats | None  # (J,)


@dataclass(frozen=True, eq=False)
class Group:
    """Columns whose answers share a translation: pattern of each item, (n,), and its kinds.

    `log` has the logarithm of the inner integral, (K, Q); `slope` its derivatives in the levels of the columns and in
    τ, (K, Q, J + 1), unless not asked for; `along` the second derivatives between these and a shift of all levels, None
    unless asked for. Without chance a pattern is a total: its tables are those of its first item, from whose answers
    others differ by `apart`, (n, J), which adds `linear`, (n,), to the logarithm.
    """

    columns: Integers
    pattern: Integers
    kinds: list[Kind]
    log: Floats
    slope: Floats
    along: Floats | None
    apart: Floats | None = None
    linear: Floats | None = None

    @property
    def log_of_items(self) -> Floats:
        """Logarithm of the inner integral of each item, shape (n, Q)."""
        found: Floats = self.log[self.pattern]
        return found if self.linear is None else found + self.linear[:, None]


def items_at_once(items: int, languages: Integers) -> int:
    """Return how many items may share tables of moderate size, where patterns are as many as items or answers."""
    systems = np.unique(languages, return_counts=True)[1].astype(float)
    while items > FEWEST_ITEMS and TYPICAL_NODES * (np.minimum(items, 2**systems) * systems).sum() > LARGEST:
        items = -(-items // 2)
    return items


def cells_at(level: Floats, chance: Floats | None, shift: Floats) -> Cells:
    """Return cells of columns with levels (J,) at nodes that lower their log odds by `shift`, (Q, U).

    With chance, p = c + (1 − c)F, the derivative of ln p is (1 − c)F(1 − F)/p, that of ln(1 − p) is −F.
    """
    eta = level - shift[:, :, None]
    e = np.exp(-np.abs(eta))
    q = 1 / (1 + e)
    large, small = q, e * q
    share, rest = np.where(eta >= 0, large, small), np.where(eta >= 0, small, large)
    log_rest = -np.maximum(eta, 0) - np.log1p(e)
    if chance is None:
        of = share * rest
        return Cells(log_rest + eta, log_rest, rest, -share, -of, -of)
    p = chance + (1 - chance) * share
    right = (1 - chance) * share * rest / p
    log_right = np.where(chance > 0, np.log(p), log_rest + eta)
    return Cells(log_right, np.log1p(-chance) + log_rest, right, -share, right * (1 - 2 * share - right), -share * rest)


def line(spread: float, trials: float, level: float, *, coarse: bool) -> Nodes:
    """Return equidistant nodes for an integral over a normal variable on which answers depend."""
    if spread == 0:
        return hermite_nodes(np.zeros(1), np.ones(1), 3)
    step = min(STEP / np.sqrt(1 + spread**2 * trials / 4), POLE_STEP / spread) * (COARSER if coarse else 1)
    mode = min(spread * trials, (level + np.log1p(spread**2 * trials) + 1) / spread)
    reach = max(WIDTH, mode + WIDTH / np.sqrt(1 + spread * mode))
    count = int(np.ceil(reach / step))
    nodes = step * np.arange(-count, count + 1)[None]
    return Nodes(nodes, -0.5 * nodes**2 + np.log(step / np.sqrt(2 * np.pi)))


class Inner(NamedTuple):
    """Nodes of u with the logarithms of their weights, (U,); one at 0 where τ = 0."""

    u: Floats
    log_weight: Floats


@dataclass(frozen=True, eq=False)
class Nest:
    """Integrals of the items of one block at a point.

    Attributes
    ----------
    v, log_weight : ndarray, shape (Q,)
        Nodes of v and the logarithms of their weights.
    inner : Inner
        Nodes of u.
    spread, translation : float
        σ and τ.
    groups : list of Group
        Columns by language, or one by one.
    """

    v: Floats
    log_weight: Floats
    inner: Inner
    spread: float
    translation: float
    groups: list[Group]

    @cached_property
    def log_f(self) -> Floats:
        """Logarithm of the integrand of each item at each node, its weight included, shape (n, Q)."""
        total = np.tile(self.log_weight, (len(self.groups[0].pattern), 1))
        for group in self.groups:
            total += group.log_of_items
        return total

    @cached_property
    def log_integral(self) -> Floats:
        """Log-likelihood of each item, shape (n,)."""
        highest = self.log_f.max(axis=1)
        found: Floats = highest + np.log(np.exp(self.log_f - highest[:, None]).sum(axis=1))
        return found

    @cached_property
    def share(self) -> Floats:
        """Probability of each node of v given the answers of each item, shape (n, Q)."""
        found: Floats = np.exp(self.log_f - self.log_integral[:, None])
        return found

    def cells(self, kind: Kind) -> Cells:
        """Return the cells of a kind at all nodes, shape (Q, U, J)."""
        return cells_at(kind.level, kind.chance, self.shift)

    @cached_property
    def shift(self) -> Floats:
        """Decrease of the log odds at nodes of v and u, shape (Q, U)."""
        found: Floats = self.spread * self.v[:, None] + self.translation * self.inner.u
        return found


def log_cells(kind: Kind, cells: Cells) -> Floats:
    """Return the logarithm of the probability of the answers of each pattern at all nodes, shape (K, Q, U)."""
    size = cells.log_right.shape
    columns = cells.log_right.reshape(-1, size[2]), cells.log_wrong.reshape(-1, size[2])
    found: Floats = (kind.s @ columns[0].T + kind.f @ columns[1].T).reshape(len(kind.s), *size[:2])
    return found


def integrate(kind: Kind, nest: Nest, cells: Cells) -> tuple[Floats, Floats]:
    """Return the logarithm of the inner integrals of patterns, (K, Q), and the share of each node, (K, Q, U)."""
    log_f = log_cells(kind, cells) + nest.inner.log_weight
    if log_f.shape[2] == 1:
        return log_f[:, :, 0], np.ones_like(log_f)
    highest = log_f.max(axis=2, keepdims=True)
    np.exp(log_f - highest, out=log_f)
    total = log_f.sum(axis=2, keepdims=True)
    log_f /= total
    return (np.log(total) + highest)[:, :, 0], log_f


def make_nest(
    rows: Rows,
    levels: Floats,
    languages: Integers,
    spread: float,
    translation: float,
    *,
    coarse: bool = False,
    shifting: bool = False,
    bare: bool = False,
) -> Nest:
    """Return the integrals of items of one block.

    Shapes: levels (n, J); languages (J,).
    """
    groups = [np.flatnonzero(languages == one) for one in np.unique(languages)]
    answers = np.stack([rows.t[:, columns].sum(axis=1) for columns in groups], axis=1)
    level = float(np.abs(levels).max(initial=0))
    informative = float((answers / (1 + translation**2 * answers / 4)).sum(axis=1).max())
    outer = line(spread, informative, level, coarse=coarse)
    inner = Inner(np.zeros(1), np.zeros(1))
    if translation > 0:
        inner = Inner(*(part[0] for part in line(translation, float(answers.max()), 0.0, coarse=coarse)))
    nest = Nest(outer.v[0], outer.log_weight[0], inner, spread, translation, [])
    of_rows = kinds(rows.x)
    for columns in groups:
        nest.groups.append(_group(nest, rows, levels, columns, of_rows, shifting=shifting, bare=bare))
    return nest


def _group(
    nest: Nest, rows: Rows, levels: Floats, columns: Integers, of_rows: Integers, *, shifting: bool, bare: bool
) -> Group:
    s, t = rows.s[:, columns], rows.t[:, columns]
    alike = of_rows
    guessed = rows.constant is not None and bool(rows.constant[:, columns].any())
    if guessed and rows.constant is not None:
        alike = kinds(np.column_stack([of_rows, rows.constant[:, columns]]))
    totals = not (guessed or bare)
    pattern = kinds(np.column_stack([alike, t, s.sum(axis=1) if totals else s]))
    first = np.zeros(pattern.max() + 1, dtype=int)
    first[pattern[::-1]] = np.arange(len(pattern))[::-1]
    count, nodes, size = len(first), len(nest.v), len(columns)
    log, slope = np.empty((count, nodes)), np.empty((0 if bare else count, nodes, size + 1))
    along = np.empty_like(slope) if shifting else None
    found = []
    for one in np.unique(alike[first]):
        places = np.flatnonzero(alike[first] == one)
        row = first[places[0]]
        chance = rows.constant[row, columns] if guessed and rows.constant is not None else None
        kind = Kind(places, s[first[places]], (t - s)[first[places]], levels[row, columns], chance)
        found.append(kind)
        cells = nest.cells(kind)
        step = max(1, AT_ONCE // (nodes * len(nest.inner.u)))
        for start in range(0, len(places), step):
            some = slice(start, start + step)
            part = kind._replace(places=places[some], s=kind.s[some], f=kind.f[some])
            log[part.places], share = integrate(part, nest, cells)
            if not bare:
                slope[part.places] = _slopes(part, cells, share, nest.inner.u)
            if along is not None:
                along[part.places] = _along(part, cells, share, nest.inner.u, slope[part.places])
    if not totals:
        return Group(columns, pattern, found, log, slope, along)
    apart = s - s[first[pattern]]
    linear = (apart * levels[:, columns]).sum(axis=1)
    return Group(columns, pattern, found, log, slope, along, apart, linear)


def _slopes(kind: Kind, cells: Cells, share: Floats, u: Floats) -> Floats:
    """Return derivatives of the inner integrals in the levels and in τ, shape (K, Q, J + 1)."""
    size = len(kind.level)
    both = np.concatenate([cells.right, cells.wrong], axis=2)
    if len(u) > 1:
        both = np.concatenate([both, u[:, None] * both], axis=2)
    expected = (share.transpose(1, 0, 2) @ both).transpose(1, 0, 2)  # (K, Q, 2J or 4J)
    s, f = kind.s[:, None], kind.f[:, None]
    found = np.zeros((*share.shape[:2], size + 1))
    found[:, :, :size] = s * expected[:, :, :size] + f * expected[:, :, size : 2 * size]
    if len(u) > 1:
        found[:, :, size] = -(s * expected[:, :, 2 * size : 3 * size] + f * expected[:, :, 3 * size :]).sum(axis=2)
    return found


def _derivatives(kind: Kind, cells: Cells) -> tuple[Floats, Floats]:
    """Return first and second derivatives of patterns in their log odds at all nodes, shape (K, Q, U, J)."""
    s, f = kind.s[:, None, None], kind.f[:, None, None]
    return s * cells.right + f * cells.wrong, s * cells.of_right + f * cells.of_wrong


def _along(kind: Kind, cells: Cells, share: Floats, u: Floats, slope: Floats) -> Floats:
    """Return second derivatives of the inner integrals between levels or τ and a shift of all levels."""
    r, second = _derivatives(kind, cells)
    total = r.sum(axis=3)
    weighted = share * total
    found = np.empty_like(slope)
    found[:, :, :-1] = (weighted[:, :, None] @ r)[:, :, 0] + (share[:, :, None] @ second)[:, :, 0]
    found[:, :, -1] = -((weighted * total + share * second.sum(axis=3)) @ u)
    found -= slope * slope[:, :, :-1].sum(axis=2, keepdims=True)
    return found


def inner_hessian(nest: Nest, weight: Floats) -> Floats:
    """Return the weighted sum over items of expected second derivatives given v, in levels, τ and σ.

    Shapes: weight (n,).
    """
    size = sum(len(group.columns) for group in nest.groups)
    hessian = np.zeros((size + 2, size + 2))
    at_nodes = weight[:, None] * nest.share
    for group in nest.groups:
        of_patterns = _sums(group.pattern, at_nodes)
        place = np.concatenate([group.columns, [size, size + 1]])
        total = np.zeros((len(place), len(place)))
        for kind in group.kinds:
            total += _of_kind(kind, nest, of_patterns[kind.places], group.slope[kind.places])
        hessian[np.ix_(place, place)] += total
    return hessian


def _sums(place: Integers, values: Floats) -> Floats:
    """Return sums of rows that have the same place, (K, Q)."""
    count = len(place)
    return np.asarray(csr_array((np.ones(count), (place, np.arange(count)))) @ values)


def _of_kind(kind: Kind, nest: Nest, weight: Floats, slope: Floats) -> Floats:
    """Return second derivatives of the patterns of a kind, summed with weights (K, Q), in levels, τ and σ.

    First derivatives of a cell are those of right and wrong, times the answers of the pattern. Their products are
    therefore summed over patterns by products of answers, before they meet the nodes.
    """
    u, v, size = nest.inner.u, nest.v, len(kind.level)
    cells, nodes = nest.cells(kind), len(nest.v) * len(nest.inner.u)
    right, wrong, of_right, of_wrong = (np.ascontiguousarray(part.reshape(nodes, size).T) for part in cells[2:])
    products = np.zeros((size, size, nodes))
    found = np.zeros((size + 2, size + 2))
    step = max(1, AT_ONCE // nodes)
    for start in range(0, len(kind.s), step):
        some = slice(start, start + step)
        part = kind._replace(places=kind.places[some], s=kind.s[some], f=kind.f[some])
        share = (integrate(part, nest, cells)[1] * weight[some, :, None]).reshape(len(part.s), nodes)
        for j in range(size):
            s, f = part.s[:, j, None], part.f[:, j, None]
            answers = np.concatenate(
                [s * part.s[:, j:], s * part.f[:, j:], f * part.s[:, j:], f * part.f[:, j:]], axis=1
            )
            both, s_f, f_s, neither = (answers.T @ share).reshape(4, size - j, nodes)
            products[j, j:] += (both * right[j] + f_s * wrong[j]) * right[j:] + (
                s_f * right[j] + neither * wrong[j]
            ) * wrong[j:]
            products[j, j] += (s.T @ share)[0] * of_right[j] + (f.T @ share)[0] * of_wrong[j]
        given = np.concatenate([slope[some], -v[:, None] * slope[some][:, :, :size].sum(axis=2, keepdims=True)], axis=2)
        flat = given.reshape(-1, size + 2)
        found -= (weight[some].reshape(-1, 1) * flat).T @ flat
    lower = np.tril_indices(size, -1)
    products[lower] = products.transpose(1, 0, 2)[lower]
    rows = products.sum(axis=1).reshape(size, len(v), len(u))  # with a shift of all levels
    found[:size, :size] += products.sum(axis=2)
    by_v, by_u = -(rows.sum(axis=2) @ v), -(rows.sum(axis=1) @ u)
    total = rows.sum(axis=0)
    squares = np.array([[u**2 @ total.sum(axis=0), v @ total @ u], [v @ total @ u, v**2 @ total.sum(axis=1)]])
    found[:size, size:] += np.column_stack([by_u, by_v])
    found[size:, :size] += np.stack([by_u, by_v])
    found[size:, size:] += squares
    return found


def gather(nest: Nest, places: Integers, start: Integers, width: int, *, along: bool = False) -> Floats:
    """Return derivatives of items at their nodes, shape (n, width, J + 2): levels, τ and σ.

    Shapes: places (n,); start (n,).
    """
    size = sum(len(group.columns) for group in nest.groups)
    nodes = start[:, None] + np.arange(width)
    found = np.zeros((len(places), width, size + 2))
    for group in nest.groups:
        table = group.along if along else group.slope
        if table is None:
            raise AssertionError("second derivatives were not asked for")
        of_group = table[group.pattern[places][:, None], nodes]
        found[:, :, group.columns] = of_group[:, :, :-1]
        found[:, :, size] += of_group[:, :, -1]
        if group.apart is not None and not along:
            found[:, :, group.columns] += group.apart[places, None]
    found[:, :, size + 1] = -nest.v[nodes] * found[:, :, :size].sum(axis=2)
    return found


def windows(nest: Nest) -> Iterator[tuple[Integers, Integers, int]]:
    """Yield items, the first of their nodes that matter, and how many of them do, few items at a time."""
    telling = nest.log_f > nest.log_f.max(axis=1, keepdims=True) - NEGLIGIBLE
    first = telling.argmax(axis=1)
    length = telling.shape[1] - telling[:, ::-1].argmax(axis=1) - first
    order = np.argsort(length, kind="stable")
    for begin in range(0, len(order), ROWS):
        places = order[begin : begin + ROWS]
        width = int(length[places].max())
        yield places, np.minimum(first[places], telling.shape[1] - width), width


def rates(nest: Nest) -> Floats:
    """Return the expected rate of success of each cell given all answers of its item, shape (n, J)."""
    size = sum(len(group.columns) for group in nest.groups)
    found = np.zeros((len(nest.share), size))
    for group in nest.groups:
        table = np.empty((*group.log.shape, len(group.columns)))
        for kind in group.kinds:
            cells = nest.cells(kind)
            share = integrate(kind, nest, cells)[1]
            table[kind.places] = (share.transpose(1, 0, 2) @ np.exp(cells.log_right)).transpose(1, 0, 2)
        for k in range(len(table)):
            inside = group.pattern == k
            found[np.ix_(inside, group.columns)] = nest.share[inside] @ table[k]
    return found
