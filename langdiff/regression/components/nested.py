r"""Variance components of observations that are nested in languages, by restricted maximum likelihood.

The observations of language l are :math:`y_l \sim N(X_l \beta,\; V_l = \sum_k \sigma_k^2 K_{kl} + E_l)`, E known. With
:math:`P = V^{-1} - V^{-1} X (X' V^{-1} X)^{-1} X' V^{-1}`, scoring solves

.. math:: F \sigma^2 = q, \quad F_{ij} = \mathrm{tr}\,P K_i P K_j, \quad
          q_i = y' P K_i P y - \mathrm{tr}\,P K_i P E

for components that are not negative (least squares in the metric of F) until they stay as they are (Harville 1977;
Searle, Casella and McCulloch 1992, "Variance Components", chapter 6). X alone couples languages, so that all products
are of the blocks of single languages. Languages with equally many observations are stacked, and so are replicates,
such as those without one language.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls

from langdiff.base.types import Booleans, Floats, Integers
from langdiff.errors import DataError

STILL = 1e-8  # movement of the components, as a share of their sum, at which the search ends
ROUGHLY = 1e-5  # the same of replicates
STEPS = 200
MOST_SEARCHED = 100  # languages without each of which the components are searched
SINGULAR = 1e-13  # eigenvalue of F, as a share of the largest, below which it is rounding
RATIOS = -0.95, 0.0  # of a step to the one before, between which steps that go to and fro are made shorter
DOWN = 1e-10  # fall of the likelihood, as a share of it, that is rounding
LEAST = 1e-9  # share of the sum that the last component is taken to be at least, so that V has an inverse
NUMBERS_AT_A_TIME = 2**22


class Block(NamedTuple):
    """Observations of one language.

    Shapes: y (n,); column (n,), the fixed mean of each; parts (K, n, n), the last of them the identity or close to it;
    errors (n, n).
    """

    y: Floats
    column: Integers
    parts: Floats
    errors: Floats

    def take(self, kept: Booleans) -> "Block":
        """Return some of the observations."""
        both = np.ix_(kept, kept)
        return Block(self.y[kept], self.column[kept], self.parts[:, both[0], both[1]], self.errors[both])


class Restricted(NamedTuple):
    """Components of R replicates.

    Shapes: variances and unconstrained (R, K); information (R, K, K), which is F; moved (R,), the last movement as a
    share of the sum.
    """

    variances: Floats
    unconstrained: Floats
    information: Floats
    moved: Floats


class _Stack(NamedTuple):
    """Languages with n observations: places (l,), y (l, n), design (l, n, G), parts (l, K + 1, n, n), errors last."""

    places: Integers
    y: Floats
    design: Floats
    parts: Floats


class Nested:
    """The model of some languages.

    Parameters
    ----------
    blocks : sequence of Block
        Languages.
    n_columns : int
        Number of fixed means, G.
    """

    def __init__(self, blocks: Sequence[Block], n_columns: int) -> None:
        self.count, self.n_columns, self.n_parts = len(blocks), n_columns, len(blocks[0].parts)
        sizes = np.array([len(block.y) for block in blocks])
        self._stacks = []
        for size in np.unique(sizes[sizes > 0]):
            places = np.flatnonzero(sizes == size)
            some = [blocks[place] for place in places.tolist()]
            self._stacks.append(
                _Stack(
                    places,
                    np.stack([block.y for block in some]),
                    np.eye(n_columns)[np.stack([block.column for block in some])],
                    np.stack([np.concatenate([block.parts, block.errors[None]]) for block in some]),
                )
            )
        of_columns = np.bincount(np.concatenate([block.column for block in blocks]), minlength=n_columns)
        sums = np.bincount(
            np.concatenate([block.column for block in blocks]),
            np.concatenate([block.y for block in blocks]),
            minlength=n_columns,
        )
        means = sums / np.maximum(of_columns, 1)
        left = sum(float(np.square(block.y - means[block.column]).sum()) for block in blocks)
        self.scale = left / max(sizes.sum() - n_columns, 1)

    def fit(self, used: Booleans | None = None, start: Floats | None = None, still: float = STILL) -> Restricted:
        """Estimate the components.

        Parameters
        ----------
        used : ndarray of bool, shape (R, L), optional
            Languages of each replicate; by default one with all.
        start : ndarray, shape (K,), optional
            Components to begin with; by default equal ones.
        still : float
            Movement at which the search ends.

        Raises
        ------
        DataError
            If the components cannot be told apart.
        """
        used = np.ones((1, self.count), dtype=bool) if used is None else used
        first = np.full(self.n_parts, self.scale / self.n_parts) if start is None else start
        tried = np.tile(first, (len(used), 1))
        variances, unconstrained = tried.copy(), np.empty_like(tried)
        moved, highest = np.full((2, len(used)), np.inf) * np.array([[1], [-1]])
        information = np.empty((len(used), self.n_parts, self.n_parts))
        moving, steps = np.arange(len(used)), np.zeros_like(tried)
        for _ in range(STEPS):
            f, q, heights = self._equations(tried[moving], used[moving])
            for place, replicate in enumerate(moving):
                if heights[place] < highest[replicate] - DOWN * max(1.0, abs(highest[replicate])):
                    tried[replicate] = (tried[replicate] + variances[replicate]) / 2  # the step was too long
                    continue
                highest[replicate], variances[replicate] = heights[place], tried[replicate]
                step = _not_negative(f[place], q[place]) - variances[replicate]
                total = max(float((variances[replicate] + step).sum()), np.finfo(float).tiny)
                moved[replicate] = float(np.abs(step).max()) / total
                before = float(steps[replicate] @ steps[replicate])
                ratio = float(step @ steps[replicate]) / before if before else 0.0
                tried[replicate] = np.maximum(variances[replicate] + step / (1 - np.clip(ratio, *RATIOS)), 0)
                steps[replicate] = step
                information[replicate] = f[place]
                unconstrained[replicate] = np.linalg.lstsq(f[place], q[place], rcond=None)[0]
            moving = moving[moved[moving] > still]
            if not len(moving):
                break
        return Restricted(np.where((moved <= still)[:, None], tried, variances), unconstrained, information, moved)

    def without_each(self, variances: Floats) -> Floats:
        """Return the components without each language, (L, K), to convergence or, of many languages, by one step."""
        if self.count <= MOST_SEARCHED:
            return self.fit(~np.eye(self.count, dtype=bool), variances, ROUGHLY).variances
        totals = [sum(part.sum(axis=0) for part in parts) for parts in zip(*self._statistics(variances), strict=True)]
        found = np.empty((self.count, self.n_parts))
        for stack, own in zip(self._stacks, self._statistics(variances), strict=True):
            normal, right, along, moved, crossed, products, squares = (
                total - part for total, part in zip(totals, own, strict=True)
            )
            spread = np.linalg.pinv(normal, hermitian=True)
            beta = (spread @ right[..., None])[..., 0]
            bent = spread[:, None] @ along
            products = products - 2 * np.einsum("lijgh,lhg->lij", crossed, spread)
            products += np.einsum("ligh,ljhg->lij", bent, bent)
            squares = squares - 2 * np.einsum("lkg,lg->lk", moved, beta)
            squares += np.einsum("lg,lkgh,lh->lk", beta, along, beta, optimize=True)
            q = squares[:, :-1] - products[:, :-1, -1]
            for place, f, right_side in zip(stack.places, products[:, :-1, :-1], q, strict=True):
                found[place] = _not_negative(f, right_side)
        return found

    def _statistics(self, variances: Floats) -> Iterator[tuple[Floats, ...]]:
        """Yield, for each stack, what each language adds to F and q at some components, at any fixed means.

        Shapes: X'V⁻¹X (l, G, G), X'V⁻¹y (l, G), X'V⁻¹KV⁻¹X (l, K + 1, G, G), X'V⁻¹KV⁻¹y (l, K + 1, G),
        X'V⁻¹KV⁻¹KV⁻¹X (l, K + 1, K + 1, G, G), tr V⁻¹KV⁻¹K (l, K + 1, K + 1), y'V⁻¹KV⁻¹y (l, K + 1).
        """
        weights = np.append(variances, 1.0)
        for stack in self._stacks:
            v = np.einsum("k,lknm->lnm", weights, stack.parts)
            v += LEAST * max(float(variances.sum()), self.scale) * np.eye(stack.y.shape[1])
            inverse = np.linalg.inv(v)
            carried, of_y = inverse @ stack.design, (inverse @ stack.y[..., None])[..., 0]
            moved = inverse[:, None] @ stack.parts
            of_design = stack.parts @ carried[:, None]
            turned = carried.swapaxes(-1, -2)
            yield (
                stack.design.swapaxes(-1, -2) @ carried,
                np.einsum("lng,ln->lg", carried, stack.y),
                turned[:, None] @ of_design,
                np.einsum("lkng,ln->lkg", of_design, of_y),
                of_design.swapaxes(-1, -2)[:, :, None] @ (inverse[:, None] @ of_design)[:, None],
                np.einsum("linm,ljmn->lij", moved, moved, optimize=True),
                np.einsum("ln,lknm,lm->lk", of_y, stack.parts, of_y, optimize=True),
            )

    def _equations(self, variances: Floats, used: Booleans) -> tuple[Floats, Floats, Floats]:
        """Return F, q and the restricted log-likelihood.

        Shapes: variances (R, K), used (R, L) → (R, K, K), (R, K), (R,).
        """
        replicates, columns, parts = len(variances), self.n_columns, self.n_parts + 1
        weights = np.concatenate([variances, np.ones((replicates, 1))], axis=1)  # of E, last, 1
        least = LEAST * np.maximum(variances.sum(axis=1), self.scale)
        normal = np.zeros((replicates, columns, columns))
        right = np.zeros((replicates, columns))
        heights = np.zeros(replicates)
        for some, inverse, present in self._inverses(weights, least, used):
            carried = inverse @ some.design  # (R, l, n, G)
            normal += np.einsum("rl,lng,rlnh->rgh", present, some.design, carried)
            right += np.einsum("rl,rlng,ln->rg", present, carried, some.y)
            weighed = np.einsum("ln,rlnm,lm->rl", some.y, inverse, some.y, optimize=True)
            heights += 0.5 * (present * (np.linalg.slogdet(inverse)[1] - weighed)).sum(axis=1)
        spread = np.linalg.pinv(normal, hermitian=True)  # a replicate may lack a table
        beta = (spread @ right[..., None])[..., 0]
        known = np.linalg.eigvalsh(normal)
        known = np.where(known > known[:, -1:] * np.finfo(float).eps * columns, known, 1.0)
        heights += 0.5 * ((beta * right).sum(axis=1) - np.log(known).sum(axis=1))
        products = np.zeros((replicates, parts, parts))
        along = np.zeros((replicates, parts, columns, columns))
        squares = np.zeros((replicates, parts))
        for some, inverse, present in self._inverses(weights, least, used):
            carried = inverse @ some.design
            left = (inverse @ (some.y - np.einsum("lng,rg->rln", some.design, beta))[..., None])[..., 0]
            moved = inverse[:, :, None] @ some.parts  # (R, l, K + 1, n, n)
            flat = moved.reshape(*moved.shape[:3], -1)
            turned = moved.swapaxes(-1, -2).reshape(flat.shape)
            products += np.einsum("rl,rlij->rij", present, flat @ turned.swapaxes(-1, -2))
            of_design = some.parts @ carried[:, :, None]  # (R, l, K + 1, n, G)
            along += np.einsum("rl,rlkgh->rkgh", present, carried[:, :, None].swapaxes(-1, -2) @ of_design)
            weighted = inverse[:, :, None] @ of_design @ spread[:, None, None]
            shape = (*of_design.shape[:3], -1)
            crossed = of_design.reshape(shape) @ weighted.reshape(shape).swapaxes(-1, -2)
            products -= 2 * np.einsum("rl,rlij->rij", present, crossed)
            squares += np.einsum("rl,rln,lknm,rlm->rk", present, left, some.parts, left, optimize=True)
        bent = spread[:, None] @ along  # (R, K + 1, G, G)
        shape = (*bent.shape[:2], -1)
        products += bent.reshape(shape) @ bent.swapaxes(-1, -2).reshape(shape).swapaxes(-1, -2)
        return products[:, :-1, :-1], squares[:, :-1] - products[:, :-1, -1], heights

    def _inverses(self, weights: Floats, least: Floats, used: Booleans) -> Iterator[tuple[_Stack, Floats, Floats]]:
        """Yield stacks, a part at a time, with V⁻¹ (R, l, n, n) and whether each replicate has the language (R, l)."""
        for whole in self._stacks:
            size = whole.y.shape[1]
            step = max(1, NUMBERS_AT_A_TIME // (len(weights) * size**2 * (self.n_parts + 1)))
            for first in range(0, len(whole.places), step):
                part = slice(first, first + step)
                some = _Stack(whole.places[part], whole.y[part], whole.design[part], whole.parts[part])
                v = np.einsum("rk,lknm->rlnm", weights, some.parts)
                v += least[:, None, None, None] * np.eye(size)
                yield some, np.linalg.inv(v), used[:, some.places].astype(float)


def _not_negative(f: Floats, q: Floats) -> Floats:
    """Return the components that minimize ½σ'Fσ − q'σ and are not negative. Shapes: f (K, K), q (K,) → (K,)."""
    scale = np.sqrt(np.diag(f))
    if not scale.all():
        raise DataError("a variance component has no observations that tell it from the others.")
    sizes, axes = np.linalg.eigh(f / scale / scale[:, None])
    root = np.sqrt(np.maximum(sizes, SINGULAR * sizes[-1]))
    found: Floats = nnls((axes * root).T, axes.T @ (q / scale) / root)[0] / scale
    return found
