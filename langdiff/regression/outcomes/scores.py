r"""Estimators of scores, ratings and counts: levels of columns with influences of units of items.

Scores are :math:`y_{ij} = m_i + d_j + e_{ij}` by least squares, errors CR2 as in model 1 of surprisals. Ratings are

.. math:: P(y_{ij} \le k) = \mathrm{logistic}(\tau_k - \theta_j - \sigma v_i), \qquad \tau_1 = 0, \quad
    v_i \sim \mathcal{N}(0, 1)

(McCullagh 1980; Hedeker and Gibbons 1994), by maximum likelihood with adaptive Gauss–Hermite quadrature. Counts are
Poisson with means :math:`x_{ij} e^{m_i + d_j}` for exposures x; given the totals of items they are multinomial.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.linalg import LinAlgError
from scipy.special import expit, xlogy

from langdiff.base.types import TOLERANCE_OF_ROOTS, Booleans, Floats, Integers
from langdiff.errors import DataError, SolverError, listing, option, warn
from langdiff.regression.kernel.clusters import RowClusters, adjusted_influences
from langdiff.regression.kernel.likelihood import RowInformation, Rows
from langdiff.regression.kernel.two_way import solve_two_way, two_way_premiums
from langdiff.regression.outcomes.design import ItemUnits
from langdiff.regression.outcomes.estimate import HALVINGS, improved
from langdiff.regression.outcomes.inference import ABILITY, DIFFICULTY, ITEMS, SPREAD
from langdiff.regression.outcomes.likelihoods import NORMAL, Counts, Ratings, Scores
from langdiff.regression.variants.normal import LogNormal
from langdiff.tables.influences import Influence, sums
from langdiff.tables.outcomes import Outcomes

THRESHOLD = "threshold"  # parameter of ratings
AT_AN_END = 0.95  # share of scores at 0 or 1 from which differences say little
MOST_EXACT = 200  # units up to which degrees of freedom are exact
MOST_STEPS = 100
NODES = 21
NO_SPREAD = 1e-3  # σ that is none


class ScoreEstimate(NamedTuple):
    """Parameters (P,), of which the first are levels of columns (J,), with influences and shares of units (G, P)."""

    names: list[tuple[str, str]]
    estimate: Floats
    values: Floats
    share: Floats
    log_likelihood: float
    n_iterations: int = 0
    raw: Floats | None = None  # of corrected values
    root: Floats | None = None  # (P, r), see `Influence`, as are parts
    parts: Floats | None = None

    def published(self, units: ItemUnits) -> tuple[pd.Series, Influence]:
        """Return abilities, which average 0, and further parameters, with their influences."""
        columns = sum(kind == ABILITY for kind, _ in self.names)
        centring = np.eye(len(self.names))
        centring[:columns, :columns] -= 1 / columns
        names, share = list(self.names), self.share
        if columns < len(names):
            names.insert(columns, (DIFFICULTY, "all"))  # of the median item, for the mean column
            centring = np.insert(centring, columns, 0.0, axis=0)
            centring[columns, :columns] = -1 / columns
            share = np.insert(share, columns, share[:, :columns].mean(axis=1), axis=1)
        index = pd.MultiIndex.from_tuples(names, names=["parameter", "name"])
        raw = None if self.raw is None else self.raw @ centring.T
        influence = Influence(
            rows=self.values @ centring.T,
            share=share,
            units=units.units,
            corrected=self.raw is not None,
            raw=raw,
            root=None if self.root is None else centring @ self.root,
            parts=self.parts,
        )
        return pd.Series(centring @ self.estimate, index), influence


def _by_clusters(
    outcomes: Outcomes, units: ItemUnits, rows: RowInformation, telling: Booleans, estimate: Floats, likelihood: float
) -> ScoreEstimate:
    """Return levels with influences of units (CR2), from scores and information of the rows that tell of them."""
    clusters, count = RowClusters(rows, units.code[telling]), len(units.units.names)
    there, columns = clusters.numbers, len(estimate)
    influences = np.zeros((2, count, columns))
    influences[:, there] = [adjusted_influences(clusters, kind) for kind in ("CR2", "CR0")]
    share = sums(rows.of(slice(None)).weight, units.code[telling], count)
    root = parts = None
    if len(there) <= MOST_EXACT:
        root, parts = clusters.root, np.zeros((count, *2 * clusters.root.shape[1:]))
        parts[there] = clusters.shares(np.arange(len(there)))
    names = [(ABILITY, str(name)) for name in outcomes.systems.index]
    share = share / share.sum(axis=0)
    return ScoreEstimate(names, estimate, influences[0], share, likelihood, 0, influences[1], root, parts)


def estimate_scores(outcomes: Outcomes, units: ItemUnits) -> ScoreEstimate:
    """Fit levels of columns and fixed effects of items by least squares, with influences (CR2) of units."""
    y, observed = outcomes.rates.to_numpy(dtype=float), outcomes.observed
    _warn_of_ends(outcomes.rates)
    shared = observed.sum(axis=1) > 1
    found = solve_two_way(y[shared])
    if found.degrees_of_freedom < 1 or found.sum_of_squares <= np.finfo(float).eps * np.nansum(y**2):
        raise DataError(
            "scores of columns differ by the same amount in every item, so that nothing tells an error of their "
            "differences. Are columns copies of one another?"
        )
    likelihood = -found.cells / 2 * (np.log(2 * np.pi * found.sum_of_squares / found.cells) + 1)
    rows = LogNormal().rows(found, None)  # type: ignore[arg-type]  # it needs no estimate
    return _by_clusters(outcomes, units, rows, shared, found.edition_effect, float(likelihood))


def _warn_of_ends(rates: pd.DataFrame) -> None:
    """Warn of columns of scores that are nearly all at an end of [0, 1]."""
    y = rates.to_numpy(dtype=float)
    if np.nanmin(y) < 0 or np.nanmax(y) > 1:
        return
    most = np.maximum((y == 0).sum(axis=0), (y == 1).sum(axis=0)) / (~np.isnan(y)).sum(axis=0)
    ends = rates.columns[most > AT_AN_END]
    if len(ends):
        warn(
            f"{len(ends)} column(s) have more than {100 * AT_AN_END:g} % of scores at 0 or at 1: {listing(ends)}. "
            "Differences from them are floors or ceilings of the score, not of the systems."
        )


def estimate_counts(outcomes: Outcomes, units: ItemUnits) -> ScoreEstimate:
    """Fit logarithms of rates to counts, given the totals of items."""
    counts, exposure = (np.nan_to_num(table.to_numpy(dtype=float)) for table in (outcomes.values, outcomes.trials))
    try:
        found = two_way_premiums(counts, exposure)
    except LinAlgError:
        raise DataError("rates of columns are infinite: some have counts only where others have none.") from None
    telling = counts.any(axis=1)
    counts, expected = counts[telling], found.expected[telling]
    total = counts.sum(axis=1, keepdims=True)
    likelihood = xlogy(counts, expected / total).sum()
    scores, mixed = counts - expected, expected / np.sqrt(total)
    rows = RowInformation(scores.shape, lambda some: Rows(scores[some], expected[some], mixed[some]))
    return _by_clusters(outcomes, units, rows, telling, found.logarithms, float(likelihood))


def estimate_ratings(outcomes: Outcomes, units: ItemUnits) -> ScoreEstimate:
    """Fit levels, common thresholds and the spread of items to ratings, with scores of units."""
    y = outcomes.values.to_numpy(dtype=float)
    categories = np.unique(y[~np.isnan(y)])
    place = np.where(np.isnan(y), -1, np.searchsorted(categories, y))
    _check_separated(outcomes.systems.index, place, len(categories))
    names = [(ABILITY, str(name)) for name in outcomes.systems.index]
    names += [(THRESHOLD, f"{a:g}|{b:g}") for a, b in pairwise(categories[1:])]
    names.append((SPREAD, ITEMS))
    found, n_iterations = _search(_Ratings(place, len(categories)))
    free = np.arange(len(names) - (found.point[-1] == 0))
    inverse = np.zeros((len(names), len(names)))
    inverse[np.ix_(free, free)] = np.linalg.inv(-found.hessian[np.ix_(free, free)])
    count, columns = len(units.units.names), y.shape[1]
    share = sums(~np.isnan(y), units.code, count)
    share = np.column_stack([share, np.repeat(share.sum(axis=1)[:, None], len(names) - columns, axis=1)])
    values = sums(found.scores, units.code, count) @ inverse
    return ScoreEstimate(names, found.point, values, share / share.sum(axis=0), found.log_likelihood, n_iterations)


def _check_separated(names: pd.Index, place: Integers, count: int) -> None:
    """Check that no column has the lowest or the highest rating alone."""
    lowest, highest = (((place == end) | (place < 0)).all(axis=0) for end in (0, count - 1))
    if (lowest | highest).any():
        raise DataError(
            f"{int((lowest | highest).sum())} level(s) would be infinite: all ratings of "
            f"{listing(names[lowest | highest])} are the lowest or the highest. Leave them out, or use "
            f"{option('model', NORMAL)}."
        )


class _Value(NamedTuple):
    """A point (θ, τ, σ), its log-likelihood, scores of rows (I, P) and Hessian (P, P)."""

    point: Floats
    log_likelihood: float
    scores: Floats
    hessian: Floats


class _Ratings:
    """Marginal likelihood of ratings, numbered from 0 and −1 where missing, (I, J)."""

    def __init__(self, place: Integers, count: int) -> None:
        self.place, self.there, self.most = place, place >= 0, count - 1
        self.mode = np.zeros(len(place))
        self.nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
        self.log_weights = np.log(weights) + self.nodes**2 / 2 - np.log(2 * np.pi) / 2

    def start(self) -> Floats:
        """Return a point from shares of ratings, with σ = 1."""
        above = [(self.place > k).sum(axis=0) + 0.5 for k in range(self.most)]
        odds = np.log(np.array(above)) - np.log(self.there.sum(axis=0) + 1 - np.array(above))
        return np.array([*odds[0], *(odds[0] - odds[1:]).mean(axis=1), 1.0])

    def at(self, point: Floats) -> _Value:
        """Return value, scores and Hessian at a point, of infinite loss where thresholds are not in order."""
        columns, sigma = self.place.shape[1], point[-1]
        thresholds = np.array([0.0, *point[columns:-1]])
        gaps = np.diff(thresholds)
        if not (gaps > 0).all():
            return _Value(point, -np.inf, np.zeros((len(self.place), len(point))), np.zeros((len(point), len(point))))
        upper = np.append(thresholds, np.inf)[self.place] - point[:columns]
        lower = np.insert(thresholds, 0, -np.inf)[self.place] - point[:columns]
        inside = np.array([0.0, *1 / np.expm1(gaps), 0.0])[self.place]  # (I, J)
        width = np.array([0.0, *np.log(-np.expm1(-gaps)), 0.0])[self.place]

        def ends(v: Floats) -> tuple[Floats, Floats]:
            shift = sigma * v[:, None]
            return expit(upper - shift), expit(lower - shift)

        for _ in range(MOST_STEPS):
            a, b = ends(self.mode)
            bend = 1 + sigma**2 * np.where(self.there, a * (1 - a) + b * (1 - b), 0.0).sum(axis=1)
            step = (sigma * np.where(self.there, a + b - 1, 0.0).sum(axis=1) - self.mode) / bend
            self.mode = self.mode + np.clip(step, -1, 1)
            if np.abs(step).max() < TOLERANCE_OF_ROOTS:
                break
        at_nodes = []
        for z, log_weight in zip(self.nodes, self.log_weights, strict=True):
            v = self.mode + z / np.sqrt(bend)
            a, b = ends(v)
            with np.errstate(divide="ignore"):
                cells = np.where(self.there, np.log(a) + np.log1p(-b) + width, 0.0)
            at_nodes.append((v, a, b, cells.sum(axis=1) - v**2 / 2 + log_weight - np.log(bend) / 2))
        logs = np.array([each[-1] for each in at_nodes])
        top = logs.max(axis=0)
        rows = top + np.log(np.exp(logs - top).sum(axis=0))
        scores, hessian = np.zeros((len(top), len(point))), np.zeros((len(point), len(point)))
        for v, a, b, log in at_nodes:
            weight = np.exp(log - rows)
            own, second = self._derivatives(v, a, b, inside, weight)
            scores += weight[:, None] * own
            hessian += second + (own * weight[:, None]).T @ own
        return _Value(point, float(rows.sum()), scores, hessian - scores.T @ scores)

    def _derivatives(self, v: Floats, a: Floats, b: Floats, inside: Floats, weight: Floats) -> tuple[Floats, Floats]:
        """Return derivatives of rows at nodes v, (I, P), and the weighted sum of their second ones, (P, P)."""
        columns, size = self.place.shape[1], self.place.shape[1] + self.most
        level = np.where(self.there, a + b - 1, 0.0)
        own = np.zeros((len(v), size))
        own[:, :columns], own[:, -1] = level, v * level.sum(axis=1)
        second = np.zeros((size, size))
        upper, lower = (np.where(self.there, end * (1 - end), 0.0) for end in (a, b))
        bend, along = upper + lower, weight * v
        second[np.arange(columns), np.arange(columns)] = -(weight @ bend)
        second[-1, :columns] = -(along @ bend)
        second[-1, -1] = -((along * v) @ bend.sum(axis=1))
        joint = inside * (1 + inside)
        for k in range(1, self.most):  # threshold k is above category k and below category k + 1
            at, below, above = columns + k - 1, self.place == k, self.place == k + 1
            own[:, at] = np.where(below, 1 - a + inside, 0.0).sum(axis=1) - np.where(above, b + inside, 0.0).sum(axis=1)
            mixed = np.where(below, upper, 0.0) + np.where(above, lower, 0.0)
            second[at, :columns] = weight @ mixed
            second[-1, at] = along @ mixed.sum(axis=1)
            second[at, at] = -(weight @ (mixed + np.where(below | above, joint, 0.0)).sum(axis=1))
            if k > 1:
                second[at, at - 1] = weight @ np.where(below, joint, 0.0).sum(axis=1)
        return own, np.tril(second) + np.tril(second, -1).T


def _moved(point: Floats, step: Floats) -> Floats:
    moved: Floats = point + step
    moved[-1] = abs(moved[-1])  # the likelihood is even in σ
    return moved


def _search(model: _Ratings) -> tuple[_Value, int]:
    """Return the maximum by Newton's method, with σ = 0 where the likelihood is largest there, and the steps taken."""
    found, free = model.at(model.start()), slice(None)
    for iteration in range(MOST_STEPS):
        gradient, hessian = found.scores.sum(axis=0)[free], found.hessian[free, free]
        values, axes = np.linalg.eigh(-hessian)
        step = axes @ ((axes.T @ gradient) / np.maximum(np.abs(values), np.finfo(float).eps * np.abs(values).max()))
        promise = float(gradient @ step)
        if promise < TOLERANCE_OF_ROOTS and values[0] > 0:
            return found, iteration
        whole, start = np.append(step, np.zeros(len(found.point) - len(step))), found.point
        moved = improved(lambda share: _moved(start, share * whole), model.at, found, promise, HALVINGS)  # noqa: B023
        if moved is None:
            break
        found = moved[1]
        if free == slice(None) and found.point[-1] < NO_SPREAD:
            found, free = model.at(np.append(found.point[:-1], 0.0)), slice(-1)
    raise SolverError("the likelihood of ratings was not maximized: thresholds or levels may be infinite.")


ESTIMATORS: dict[str, Callable[[Outcomes, ItemUnits], ScoreEstimate]] = {
    Scores.name: estimate_scores,
    Ratings.name: estimate_ratings,
    Counts.name: estimate_counts,
}
