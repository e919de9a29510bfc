r"""Maximum of the likelihood of model 2L at its kinks, with a certificate, and its derivatives by differences.

Up to a constant the model costs :math:`\sum_i \tfrac12 w_i \ln 2v_i + \sqrt2 \sum_{ij} |t_{ij}|`,
:math:`t_{ij} = (z_{ij} - c_j - h(\mu_i)) / \sqrt{v_i}`, whose minimum lies where many t are 0: cells at their kinks.

1. :math:`|t|` is rounded off to :math:`\sqrt{t^2 + \omega^2} - \omega`, and the cost is minimized by Newton's method,
   whose Hessian is diagonal in μ, through smaller and smaller widths ω.
2. Cells with the least :math:`|t|` are set to their kinks. In each row the first of them gives
   :math:`h(\mu_i) = z_{ij} - c_j`, so that μ is eliminated; each further one is a linear equation of c. On what these
   leave of c the cost is smooth as long as no t changes sign, and Newton's method finds its minimum.
3. 0 is a subgradient if some :math:`|u_{ij}| \le 1` of the cells at their kinks balance the gradient of the others:
   bounded least squares, over all cells with :math:`|t| < 10^{-9}`, also those that ties of whole bits put there. What
   is left is the certificate, of a local minimum. Cells whose u ends at a bound are let go, and step 2 is repeated.

The cost of a row at its best μ, as a function of c, has kinks too. Its derivative :math:`s_i(c)` is known wherever μ is
sought over kinks and the smooth points between them; the second derivative of the sum is taken from differences of
these, over a step in which many rows change their kink.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import lsq_linear, minimize
from scipy.special import expit

from langdiff.base.types import Floats, Integers
from langdiff.regression.kernel.cells import CellLikelihood, CellModel, scale_of_cells
from langdiff.regression.kernel.likelihood import mu_at_mean
from langdiff.regression.kernel.optimizers import Estimate
from langdiff.regression.kernel.two_way import TwoWay, add_products, whole

WIDTHS = (0.5, 0.1, 0.02, 5e-3, 1e-3, 2e-4, 4e-5, 1e-5, 2e-6, 4e-7)
WIDTHS_OF_SAMPLES = (0.03, 3e-3, 3e-4)
FIRST_TRIED = 4e-5  # width from which cells are set to their kinks
FEW_NEAR = 0.5  # cells within a width, about: of more, cells near their kinks are not told from cells at them
SMOOTHED = 1e-6  # decrement of a width at which the next begins
MOST_STEPS = 60  # of a width
LEAST_CURVATURE = 0.02  # in μ, of that of model 2
SHORTEST = 1e-6
NEAR = 30.0  # widths from which a cell is not taken for one at its kink
AT_KINK = 1e-9  # of t
CERTIFIED = 1e-8  # largest element of the best subgradient
MOST_ROUNDS, MOST_OF_FACE = 30, 12
MANY_CELLS = 100_000  # above which a fit without a certificate stands, at the width 1e-6
SAME_START = 1e-2  # nats within which two searches are one
GAIN = 1e-3  # of log-likelihood, for other modes of intents


class Kinked(NamedTuple):
    """An optimum, how many cells are at their kinks, and the largest element of the best subgradient."""

    optimum: Estimate
    kinks: int
    rest: float


class _Gradient(NamedTuple):
    """First and second derivatives in μ (I,), of both (I, J), and in c (J,), with the curvature of |t| there."""

    mu: Floats
    c: Floats
    mu_mu: Floats
    mu_c: Floats
    c_c: Floats


@dataclass(frozen=True)
class SignedCells:
    """Cost of cells in model 2L with given signs of t, 0 for those at their kinks: linear in t."""

    signs: Floats

    def derivatives(self, x: Floats, mu: Floats, rows: slice) -> tuple[Floats, ...]:
        """Return the derivatives of √2 s t: in μ, in x, in both, and the second in μ."""
        v, scale, slope, narrowing = scale_of_cells(mu)
        p, pull = expit(-mu), np.sqrt(2) * self.signs[rows]
        t = (x - (mu - 0.5 * v)) / scale
        of_t = t * narrowing - slope / scale
        steepening, narrower = -0.5 * p * (1 - p), 0.5 * p * (p / v - (1 - p)) / v
        of_of_t = of_t * narrowing + t * narrower - (steepening + slope * narrowing) / scale
        return pull * of_t, pull / scale, pull * narrowing / scale, pull * of_of_t


class Kinks:
    """Search for the maximum of the likelihood of model 2L; see the module.

    Parameters
    ----------
    two_way : TwoWay
        Model 1 fitted to the table.
    rounded : callable
        Cost of cells whose kink is rounded off to a width.
    restricted : bool
        Whether ½ ln v counts once less in each row.
    max_iterations : int
        Largest number of steps.
    """

    def __init__(
        self, two_way: TwoWay, rounded: Callable[[float], CellModel], *, restricted: bool, max_iterations: int = 1000
    ) -> None:
        self.table, self.rounded, self.restricted, self.most = two_way, rounded, restricted, max_iterations
        intents, editions = two_way.residual.shape
        self.basis = np.eye(editions) if two_way.design is None else two_way.design
        self.mask = two_way.mask
        self.weight = two_way.cells_per_intent - restricted
        rows = max(1, 2**16 // editions)
        self._blocks = [slice(start, start + rows) for start in range(0, intents, rows)]
        self.iterations = self.evaluations = 0

    def likelihood(self, width: float, *, second_modes: bool = False) -> CellLikelihood:
        """Return the likelihood with a rounded kink."""
        return CellLikelihood(self.table, self.rounded(width), self.restricted, second_modes=second_modes)

    def values(self, mu: Floats, c: Floats, width: float = 0.0) -> Floats:
        """Return the costs of rows, shape (I,)."""
        self.evaluations += 1
        return self.likelihood(width).intent_values(mu, c)

    def standardized(self, mu: Floats, c: Floats) -> Floats:
        """Return t of all cells, NaN where missing, shape (I, J)."""
        t = np.empty(self.table.residual.shape)
        for rows in self._blocks:
            v = np.logaddexp(0.0, -mu[rows, None])
            t[rows] = (self.table.less(rows, c) - (mu[rows, None] - 0.5 * v)) / np.sqrt(v)
        if self.mask is not None:
            t[~self.mask] = np.nan
        return t

    def smooth(self, mu: Floats, c: Floats, width: float) -> tuple[Floats, Floats]:
        """Return the minimum with a rounded kink from a point near it, by Newton's method."""
        values = self.values(mu, c, width)
        for _ in range(min(MOST_STEPS, self.most - self.iterations)):
            self.iterations += 1
            found = self._derivatives(mu, c, width)
            v, _, slope, narrowing = scale_of_cells(mu)
            least = self.table.cells_per_intent * (slope**2 / v + 2 * narrowing**2) * LEAST_CURVATURE
            curvature = np.maximum(found.mu_mu, least)
            across = found.mu_c / curvature[:, None]
            gram = whole(_products(found.mu_c / np.sqrt(curvature)[:, None]))
            step = self._step(np.diag(found.c_c) - gram, found.c - across.T @ found.mu)
            of_mu = -found.mu / curvature - across @ step
            promise = -float(found.mu @ of_mu + found.c @ step)
            if promise < SMOOTHED**2:
                break
            share = min(1.0, 1.0 / max(float(np.abs(of_mu).max()), 1e-300))
            while share > SHORTEST:
                candidate = mu + share * of_mu, c + share * step
                after = self.values(*candidate, width)
                if float(np.sum(after - values)) <= -1e-4 * share * promise:
                    break
                share /= 2
            else:
                break
            (mu, c), values = candidate, after
            if promise < SMOOTHED:
                break
        return mu, c

    def _step(self, hessian: Floats, gradient: Floats, basis: Floats | None = None) -> Floats:
        """Return a Newton step of c in a basis, with curvatures taken without their sign, shape (J,)."""
        basis = self.basis if basis is None else basis
        values, vectors = np.linalg.eigh(basis.T @ hessian @ basis)
        curvature = np.maximum(np.abs(values), 1e-6 * np.abs(values).max(initial=1e-300))
        step: Floats = -basis @ (vectors @ ((vectors.T @ (basis.T @ gradient)) / curvature))
        return step

    def _derivatives(self, mu: Floats, c: Floats, width: float, signs: Floats | None = None) -> _Gradient:
        """Return the derivatives of the cost with a rounded kink, or with given signs of t."""
        model, count = self.rounded(width), len(mu)
        of_mu, mu_mu, mu_c = np.empty(count), np.empty(count), np.empty(self.table.residual.shape)
        of_c, c_c = np.zeros(len(c)), np.zeros(len(c))
        for rows in self._blocks:
            x, size = self.table.less(rows, c), mu[rows, None]
            if signs is None:
                first, second = model.cells(x, size), model.second_derivatives(x, size)
                cells = [first.of_mu, first.of_x, second.mixed, second.of_mu, second.of_x]
            else:
                cells = [*SignedCells(signs).derivatives(x, size, rows)]
            if self.mask is not None:
                for part in cells:
                    part[~self.mask[rows]] = 0.0
            of_mu[rows], mu_mu[rows], mu_c[rows] = cells[0].sum(axis=1), cells[3].sum(axis=1), -cells[2]
            of_c -= cells[1].sum(axis=0)
            if signs is None:
                c_c += cells[4].sum(axis=0)
        v, p = np.logaddexp(0.0, -mu), expit(-mu)
        weight = self.weight if signs is not None else np.full(count, -float(self.restricted))
        return _Gradient(
            of_mu - 0.5 * weight * p / v, of_c, mu_mu + 0.5 * weight * p * ((1 - p) - p / v) / v, mu_c, c_c
        )

    def maximize(self, starts: list[tuple[Floats, Floats]]) -> Kinked:
        """Return the maximum that is found from some starts, with its certificate."""
        points = [self.smooth(*start, WIDTHS[0]) for start in starts]
        if all(
            max(np.abs(a - b).max() for a, b in zip(points[0], other, strict=True)) < SAME_START for other in points
        ):
            points = points[:1]
        best: tuple[float, Kinked] | None = None
        for point in points:
            found = self._from(point)
            for _ in range(2):  # intents may have a likelier size far from where the search is
                moved = self.likelihood(0.0, second_modes=True).best_intents(found.optimum.sizes, found.optimum.c)
                if (moved == found.optimum.sizes).all():
                    break
                other = self._from((moved, found.optimum.c), WIDTHS[2:])
                if not other.optimum.log_likelihood > found.optimum.log_likelihood + GAIN:
                    break
                found = other
            if best is None or found.optimum.log_likelihood > best[0] + CERTIFIED:
                best = found.optimum.log_likelihood, found
        if best is None:
            raise ValueError("no start")
        return best[1]

    def _from(self, point: tuple[Floats, Floats], widths: tuple[float, ...] = WIDTHS[1:]) -> Kinked:
        """Follow smaller and smaller widths until there is a certificate."""
        cost, before, rest, kinks = np.inf, np.inf, np.inf, 0
        best = point
        for width in widths:
            point = self.smooth(*point, width)
            if width > FIRST_TRIED or width * self.table.cells > FEW_NEAR:
                before, cost = cost, float(self.values(*point).sum())
                best = point
                continue
            before, cost = cost, float(self.values(*point).sum())
            mu, c, own = self.at_kinks(*point, width)
            kinks, of_kinks, _ = self.certificate(mu, c)
            if float(self.values(mu, c).sum()) <= cost + CERTIFIED:
                best, rest = (mu, c), of_kinks
            else:
                best, rest = point, min(rest, own)
            if rest <= CERTIFIED:
                break
        certified, message = rest <= CERTIFIED, f"a local maximum, certified to {rest:.1e}"
        if not certified:
            t = self.standardized(*best)
            kinks = int((np.abs(t) < WIDTHS[-1]).sum())
            message = f"stopped at a kink; rest {rest:.1e}"
            if self.table.cells > MANY_CELLS:
                apart = abs(before - cost)
                message = f"no certificate (rest {rest:.1e}); the last two widths differ by {apart:.2g} nats"
        enough = self.iterations < self.most
        value = -float(self.values(*best).sum())
        optimum = Estimate(
            sizes=best[0],
            c=best[1],
            log_likelihood=value,
            converged=certified or (enough and self.table.cells > MANY_CELLS),
            n_iterations=self.iterations,
            n_evaluations=self.evaluations,
            grad_norm=rest,
            message=message if certified or enough else "too many iterations",
        )
        return Kinked(optimum, kinks, rest)

    def medians(self) -> tuple[Floats, Floats]:
        """Return μ and c from the medians of rows, and of columns less these."""
        table = self.table
        z = table.residual + table.intent_effect[:, None] + table.edition_effect
        if self.mask is not None:
            z[~self.mask] = np.nan
        m = np.nanmedian(z, axis=1)
        c = np.nanmedian(z - m[:, None], axis=0)
        if table.design is not None:
            c = self.basis @ np.linalg.lstsq(self.basis, c)[0]
        variance = table.sum_of_squares / table.degrees_of_freedom
        k = float(np.median(m)) + np.log(np.expm1(variance))
        return mu_at_mean(m - k), c + k

    def near(self, mu: Floats, c: Floats) -> Estimate:
        """Return an optimum near a point, for samples of intents: with a rounded kink of little width."""
        for width in WIDTHS_OF_SAMPLES:
            mu, c = self.smooth(mu, c, width)
        value, finite = -float(self.values(mu, c).sum()), bool(np.isfinite(c).all())
        return Estimate(mu, c, value, finite, self.iterations, self.evaluations, float("nan"), "rounded off")

    def published(self, best: Estimate, max_iterations: int) -> Estimate:
        """Return where L-BFGS stops on the kinks themselves, from the means of rows, in m, d and ln κ."""
        table, exact = self.table, self.likelihood(0.0)
        intents, free = len(self.weight), self.basis.shape[1]
        variance = table.sum_of_squares / table.degrees_of_freedom
        m = (
            table.intent_effect
            + (table.edition_effect if self.mask is None else table.edition_effect * self.mask).sum(axis=-1)
            / table.cells_per_intent
        )
        start = np.concatenate([m, np.zeros(free), [float(np.median(m)) + np.log(np.expm1(variance))]])

        def at(point: Floats) -> tuple[Floats, Floats]:
            log_kappa = point[-1]
            shift = log_kappa + 0.5 * np.logaddexp(0.0, log_kappa)
            return point[:intents] - log_kappa, self.basis @ point[intents:-1] + shift

        def cost(point: Floats) -> tuple[float, Floats]:
            found = exact.value_and_gradient(*at(point), np.zeros(intents))
            of_kappa = -found.mu.sum() + (1 + 0.5 * expit(point[-1])) * found.c.sum()
            return found.value, np.concatenate([found.mu, self.basis.T @ found.c, [of_kappa]])

        found = minimize(cost, start, jac=True, method="L-BFGS-B", options={"maxiter": max_iterations})
        mu, c = at(found.x)
        value = -float(found.fun)
        return Estimate(
            sizes=mu,
            c=c,
            log_likelihood=value,
            converged=False,
            n_iterations=int(found.nit),
            n_evaluations=int(found.nfev),
            grad_norm=float(np.abs(found.jac).max()),
            message=f"L-BFGS stops at a kink, {best.log_likelihood - value:.2g} nats below the maximum",
        )

    def at_kinks(self, mu: Floats, c: Floats, width: float) -> tuple[Floats, Floats, float]:
        """Return the minimum with some cells at their kinks, from a point near it, and the rest of its gradient."""
        t = self.standardized(mu, c)
        signs = np.nan_to_num(np.sign(t))
        distance = np.where(np.abs(t) < NEAR * width, np.abs(t), np.inf)
        rest = np.inf
        for _ in range(MOST_ROUNDS):
            mu, c, signs, hit = self._on_face(mu, c, signs, distance)
            if hit is not None:
                distance[hit] = 0.0
                continue
            kinks, rest, u = self.certificate(mu, c)
            if rest <= CERTIFIED or not kinks:
                break
            free = np.abs(u) > 1 - AT_KINK  # also of cells that are not at a kink, whose u is infinite
            if not (free & np.isfinite(u)).any():
                break
            distance = np.where(free, np.inf, np.abs(u))
            signs = np.where(np.isfinite(u), np.where(free, np.sign(u), 0.0), signs)
        return mu, c, rest

    def _on_face(
        self, mu: Floats, c: Floats, signs: Floats, distance: Floats
    ) -> tuple[Floats, Floats, Floats, tuple[int, int] | None]:
        """Minimize with cells of finite distance at their kinks, the nearest first; stop where a t changes sign.

        Return the point, the signs, and the cell that it stopped at.
        """
        pivot = np.where(np.isfinite(distance).any(axis=1), distance.argmin(axis=1), -1)
        pinned = np.flatnonzero(pivot >= 0)
        along, c = self._constraints(c, distance, pivot)
        signs, fixed = signs.copy(), np.isfinite(distance)
        mu = mu.copy()

        def pin(c: Floats) -> None:
            column = pivot[pinned]
            mu[pinned] = mu_at_mean(self._z(pinned, column) - c[column])

        pin(c)
        t = self.standardized(mu, c)
        signs[fixed] = np.sign(t[fixed])  # of cells whose kinks the others do not let be met
        signs[np.abs(t) < AT_KINK] = 0.0
        crossed = (t * signs < 0) & (np.abs(t) > AT_KINK)
        signs[crossed] = np.sign(t[crossed])
        for _ in range(MOST_OF_FACE):
            self.iterations += 1
            found = self._derivatives(mu, c, 0.0, signs)
            p = expit(-mu)
            slope, steepening = 1 + 0.5 * p, -0.5 * p * (1 - p)
            free = pivot < 0
            gradient, hessian = found.c.copy(), np.zeros((len(c), len(c)))
            np.subtract.at(gradient, pivot[pinned], found.mu[pinned] / slope[pinned])
            curved = (
                found.mu_mu[pinned] / slope[pinned] ** 2 - found.mu[pinned] * steepening[pinned] / slope[pinned] ** 3
            )
            np.add.at(hessian, (pivot[pinned], pivot[pinned]), curved)
            mixed = np.zeros_like(hessian)
            np.subtract.at(mixed, pivot[pinned], found.mu_c[pinned] / slope[pinned, None])
            hessian += mixed + mixed.T
            if free.any():
                curvature = np.maximum(found.mu_mu[free], 1e-12)
                across = found.mu_c[free] / curvature[:, None]
                gradient -= across.T @ found.mu[free]
                hessian -= across.T @ found.mu_c[free]
            step = self._step(hessian, gradient, along) if along.shape[1] else np.zeros(len(c))
            of_mu = np.where(free, 0.0, -step[pivot] / slope)
            if free.any():
                of_mu[free] = -found.mu[free] / curvature - across @ step
            shorter = 1 / max(1.0, float(np.abs(of_mu).max()))
            of_mu, step = shorter * of_mu, shorter * step
            share, hit = self._until_crossing(mu, c, of_mu, step, signs)
            mu, c = mu + share * of_mu, c + share * step
            pin(c)
            if hit is not None:
                return mu, c, signs, hit
            if max(float(np.abs(step).max()), float(np.abs(of_mu[free]).max(initial=0.0))) < 1e-13:
                break
        return mu, c, signs, None

    def _until_crossing(
        self, mu: Floats, c: Floats, of_mu: Floats, step: Floats, signs: Floats
    ) -> tuple[float, tuple[int, int] | None]:
        """Return the share of a step up to which no t changes sign, and the cell whose t does."""
        before, after = self.standardized(mu, c), self.standardized(mu + of_mu, c + step)
        crossing = (signs != 0) & (after * signs < 0) & (np.abs(after) > AT_KINK)
        if not crossing.any():
            return 1.0, None
        i, j = np.nonzero(crossing)
        share = np.clip(before[i, j] / (before[i, j] - after[i, j]), 0.0, 1.0)
        first = int(share.argmin())
        return float(share[first]), (int(i[first]), int(j[first]))

    def _z(self, rows: Integers, columns: Integers) -> Floats:
        """Return single log surprisals."""
        table = self.table
        return table.residual[rows, columns] + table.intent_effect[rows] + table.edition_effect[columns]

    def _constraints(self, c: Floats, distance: Floats, pivot: Integers) -> tuple[Floats, Floats]:
        """Return a basis of the directions of c that further cells at kinks leave, (J, r), and c moved to meet them."""
        further = np.isfinite(distance)
        further[np.arange(len(pivot))[pivot >= 0], pivot[pivot >= 0]] = False
        i, j = np.nonzero(further)
        order = np.argsort(distance[i, j], kind="stable")
        i, j = i[order], j[order]
        apart = self._z(i, j) - self._z(i, pivot[i])
        q = np.zeros((0, self.basis.shape[1]))
        free = np.linalg.lstsq(self.basis, c)[0] if self.table.design is not None else c.copy()
        for one, other, value in zip(j, pivot[i], apart, strict=True):
            vector = self.basis[one] - self.basis[other]
            left = vector - q.T @ (q @ vector)
            left -= q.T @ (q @ left)
            length = float(np.linalg.norm(left))
            if length < 1e-9:
                continue  # met by the others, or not to be met
            free += left * (value - vector @ free) / length**2
            q = np.vstack([q, left / length])
            if len(q) == self.basis.shape[1] - 1:
                break
        along = np.linalg.svd(q, full_matrices=True)[2][len(q) :].T if len(q) else np.eye(self.basis.shape[1])
        return self.basis @ along, self.basis @ free

    def certificate(self, mu: Floats, c: Floats) -> tuple[int, float, Floats]:
        """Return the number of cells at their kinks, the largest element of the best subgradient, and u of cells.

        u is infinite for cells that are not at their kinks.
        """
        t = self.standardized(mu, c)
        at = np.abs(t) < AT_KINK
        found = self._derivatives(mu, c, 0.0, np.where(at, 0.0, np.nan_to_num(np.sign(t))))
        pull = np.sqrt(2 / np.logaddexp(0.0, -mu))  # of a cell at its kink on c; on μ it has a factor h'
        slope, count = 1 + 0.5 * expit(-mu), at.sum(axis=1)
        u = np.full(t.shape, np.inf)
        rest, of_c = np.where(count == 0, found.mu, 0.0), found.c.copy()
        rows, columns = np.nonzero(at & (count == 1)[:, None])
        u[rows, columns] = found.mu[rows] / (pull * slope)[rows]
        clipped = np.clip(u[rows, columns], -1, 1)
        rest[rows] = found.mu[rows] - (pull * slope)[rows] * clipped
        np.subtract.at(of_c, columns, pull[rows] * clipped)
        left = self.basis.T @ of_c
        rows, columns = np.nonzero(at & (count > 1)[:, None])
        if len(rows):
            several, place = np.unique(rows, return_inverse=True)
            matrix = np.zeros((len(several) + len(left), len(rows)))
            matrix[place, np.arange(len(rows))] = -(pull * slope)[rows]
            matrix[len(several) :] = -self.basis[columns].T * pull[rows]
            target = np.concatenate([found.mu[several], left])
            solved = lsq_linear(matrix, -target, bounds=(-1, 1), method="bvls", tol=1e-15)
            inside = np.abs(solved.x) < 1 - AT_KINK
            solved.x[inside] -= np.linalg.lstsq(matrix[:, inside], target + matrix @ solved.x)[0]  # to the last digit
            u[rows, columns] = solved.x
            residual = target + matrix @ np.clip(solved.x, -1, 1)
            rest[several], left = residual[: len(several)], residual[len(several) :]
        return int(at.sum()), float(max(np.abs(rest).max(), np.abs(left).max())), u


def _products(rows: Floats) -> Floats:
    return add_products(np.zeros((rows.shape[1], rows.shape[1]), order="F"), rows)
