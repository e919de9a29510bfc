r"""Model 2 with unequal noise, sizes integrated out: cells by tables of functions of size.

With :math:`v_{ij} = \ln(1 + \kappa_j / n_i)` and :math:`m_i = \ln n_i` each row says

.. math:: z_{ij} \sim \mathcal N(m_i + D_j - \tfrac12 v_{ij},\; v_{ij}),

so that :math:`m_i + D_j` is the logarithm of the expected bits. Multiplying all n and κ by t and lowering all D
by ln t changes nothing: the level of D is a convention, here :math:`\sum_j e^{D_j} = J` once the search has ended.

Rows alike in size make a bin with mid-point :math:`m_b`. With :math:`\delta = m - m_b`, :math:`x = z - D_j - m_b`,
:math:`a = 1/v`, :math:`p = -dv/dm`, :math:`q = p a^2` and :math:`h = \tfrac12 p(1-p)a^2 - p^2 a^3` the log-density of a
cell and its derivatives are polynomials of degree two in x, whose coefficients depend on j and m only:

.. math:: \ln f &= -\tfrac12 x^2 a + x(\delta a - \tfrac12) - \tfrac12\delta^2 a + \tfrac12\delta - \tfrac18 v
          - \tfrac12\ln 2\pi v \\
          \partial_D &= x a - \delta a + \tfrac12, \quad
          \partial_\lambda = \tfrac12 x^2 q - x\delta q + \tfrac12 p(\delta^2 a^2 - \tfrac14 - a)

and likewise the second derivatives. Each coefficient is its Chebyshev interpolant in m on the bin, so that all sums
over cells are products of matrices, and nothing has the shape of cells × nodes. As v is singular at
:math:`m = \lambda_j \pm i\pi`, the number of terms follows from the ellipses of Bernstein up to the nearest of these.

The nodes of a row are :math:`\hat m + \sqrt{2/H}\, t_q` around its mode. Posterior means over them give the score
(Fisher's identity). The information (Louis 1982, "Finding the observed information matrix when using the EM
algorithm") is what sizes would give if they were seen, less the posterior variance of the scores: as a score is a
function of m, that is :math:`\sum_r S^{r\top} S^r` with :math:`S^r` the posterior means of the scores times
:math:`\pi_r`, orthonormal polynomials of the row's posterior, of which a few are enough. A normal prior of sizes is one
cell more in every row: the value 0 of a column of level :math:`-a` and variance :math:`\tau^2`.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.polynomial import chebyshev

from langdiff.base.types import CELLS_OF_WINDOWS, Booleans, Floats, Integers
from langdiff.regression.kernel.integrated.unequal_rows import Block, Rows, from_diagonals
from langdiff.regression.kernel.two_way import TwoWay, add_products, whole

ROWS_AT_A_TIME = 2**12  # of a bin
WIDEST = 1.0  # nats between the modes of the rows of a bin
MARGIN = 0.05  # nats beyond the outermost nodes, for the modes to move
EXACT = 1e-14  # error of an interpolant
FEWEST_TERMS, MOST_TERMS = 6, 60  # with more a bin of several rows is halved
ELLIPSES = np.linspace(0.1, 1.0, 10)  # of Bernstein, up to the nearest singularity
LARGEST_ORDER = 400  # of the bin of a single row
FIRST_STEPS, MOST_STEPS = 2, 50  # to a mode: for the first bins, and at most
SIZE_TOLERANCE = 1e-8  # of a mode, in its standard errors
LONGEST_STEP = 2.0  # of a search for a mode, nats
LARGEST = 700.0  # argument of the exponential function
LAST_TERM = 1e-7  # of the information with sizes known, that the last posterior polynomial adds
MOST_BINNINGS = 4  # one is enough, unless a row has two modes


class _Bin(NamedTuple):
    rows: Integers
    middle: float
    half: float


class _Tables(NamedTuple):
    """Chebyshev coefficients of functions of size, each (C, K); of first letters see the module, d is a factor δ."""

    a: Floats
    da: Floats
    constant: Floats
    q: Floats
    dq: Floats
    g: Floats  # of ∂λ what has no x
    h: Floats
    dh: Floats
    ddh: Floats  # of ∂²λ what has no x
    expected: Floats  # information of a cell on m


class _Posterior(NamedTuple):
    """Posterior of the rows of a bin: values (R,), nodes and weights (R, Q), polynomials at the nodes (K, R, Q)."""

    values: Floats
    nodes: Floats
    weights: Floats
    polynomials: Floats


class SizeTables:
    """Log-likelihood of model 2 with one dispersion per column; see the module and `RowLikelihood`.

    Parameters
    ----------
    table : TwoWay
        Model 1 fitted to the table.
    normal : bool
        Whether sizes have a normal prior; otherwise it is flat, and every row needs two cells.
    nodes : int
        Number of nodes of the quadrature.
    """

    def __init__(self, table: TwoWay, *, normal: bool, nodes: int) -> None:
        self.count, editions = table.residual.shape
        self.table: TwoWay | None = table
        self.normal, self.columns = normal, editions + normal
        self.half = np.full(self.columns, 0.5)  # of ∂D what has no x
        self.half[editions:] = 0.0
        self.t, weights = np.polynomial.hermite.hermgauss(nodes)
        self.log_weights = np.log(weights) + self.t**2
        self.modes = np.zeros(self.count)  # from which the next search for them begins
        self.deviations = np.zeros(self.count)  # of the sizes around them
        self._bins: list[_Bin] = []

    def rows(self, columns: Floats, terms: int = 0) -> Rows:
        """Return the log-likelihood of each row with sums of its derivatives; see `RowLikelihood`."""
        width, count = self.columns, self.count
        for _ in range(MOST_BINNINGS):
            values, sizes, outside = np.empty(count), np.empty(count), np.zeros(count, dtype=bool)
            gradient, second, gram = (
                np.zeros(2 * width),
                np.zeros((3, width)),
                np.zeros((2 * width, 2 * width), order="F"),
            )
            for part in self._bins:
                x, mask, tables = self._block(part, columns)
                found = self._posterior(part, x, mask, tables, outside)
                values[part.rows] = found.values
                mean = np.einsum("kiq,iq->ik", found.polynomials, found.weights)
                sizes[part.rows] = part.middle + part.half * mean[:, 1]
                of_x, of_square = x.T @ mean, (x * x).T @ mean
                of_mask = np.broadcast_to(mean.sum(axis=0), of_x.shape) if mask is None else mask.T @ mean
                cells = len(x) if mask is None else mask.sum(axis=0)
                gradient[:width] += _dot(of_x, tables.a) - _dot(of_mask, tables.da) + self.half * cells
                gradient[width:] += 0.5 * _dot(of_square, tables.q) - _dot(of_x, tables.dq) + _dot(of_mask, tables.g)
                second[0] += _dot(of_mask, tables.a)
                second[1] += _dot(of_x, tables.q) - _dot(of_mask, tables.dq)
                second[2] -= _dot(of_square, tables.h) - 2 * _dot(of_x, tables.dh) + _dot(of_mask, tables.ddh)
                if terms:
                    for root in self._roots(found, x, mask, tables, terms):
                        gram = add_products(gram, root)
            if self._bins and not outside.any():
                break
            self._sort(columns, outside)
        else:
            values[:] = np.nan
        return Rows(values, gradient, sizes, from_diagonals(second) - whole(gram) if terms else None)

    def blocks(self, columns: Floats) -> Iterator[Block]:
        """Yield the parts of the scores and of the information of all rows, at the last parameters of `rows`."""
        outside = np.zeros(self.count, dtype=bool)
        for part in self._bins:
            x, mask, tables = self._block(part, columns)
            found = self._posterior(part, x, mask, tables, outside)
            mean = np.einsum("kiq,iq->ik", found.polynomials, found.weights)
            scores = self._linear(mean, x, mask, tables)
            scores[:, : self.columns] += self.half if mask is None else self.half * mask
            second = np.empty((3, *x.shape))
            np.matmul(mean, tables.a.T, out=second[0])
            second[1] = x * (mean @ tables.q.T) - mean @ tables.dq.T
            second[2] = (2 * (mean @ tables.dh.T) - x * (mean @ tables.h.T)) * x - mean @ tables.ddh.T
            if mask is not None:
                second *= mask
            yield Block(part.rows, scores, second, self._roots(found, x, mask, tables, len(self.t) - 1))

    def complete_information(self, columns: Floats) -> Floats:
        """Return the expected information if sizes were observed; see `RowLikelihood`."""
        width, second = self.columns, np.zeros((3, self.columns))
        for part in self._bins:
            v, p = _variances(self.modes[part.rows, None], columns[width:])
            _, mask = self._less(part.rows, columns[:width])
            of = np.stack([1 / v, -0.5 * p / v, p**2 * (0.5 / v**2 + 0.25 / v)])
            if self.normal:
                of[:, :, -1] = np.array([np.exp(-columns[-1]), 0.0, 0.5])[:, None]
            second += (of if mask is None else of * mask).sum(axis=1)
        return from_diagonals(second)

    def _block(self, part: _Bin, columns: Floats) -> tuple[Floats, Floats | None, _Tables]:
        """Return x of a bin, 0 where missing, its mask as numbers (None if all cells are there), and its tables."""
        x, mask = self._less(part.rows, columns[: self.columns] + part.middle)
        return x, mask, self._tables(part, columns[self.columns :])

    def _less(self, rows: Integers, levels: Floats) -> tuple[Floats, Floats | None]:
        """Return z less levels of some rows, 0 where missing, and the mask as numbers (None if all cells are there)."""
        if self.table is None:
            raise ValueError("the table was let go")
        editions, mask = self.columns - self.normal, self.table.mask
        x, there = self.table.less(rows, levels[:editions]), None if mask is None else mask[rows].astype(float)
        if there is not None:
            x *= there
        if self.normal:
            x = np.column_stack([x, np.full(len(x), -levels[-1])])
            there = None if there is None else np.column_stack([there, np.ones(len(x))])
        return x, there

    def _tables(self, part: _Bin, log_kappa: Floats) -> _Tables:
        """Return the coefficients of functions of size at given dispersions."""
        order = _order(part.middle, part.half, log_kappa[: self.columns - self.normal])
        angle = np.pi * (np.arange(order) + 0.5) / order
        transform = np.cos(np.outer(np.arange(order), angle)) * 2 / order
        transform[0] /= 2
        d = part.half * np.cos(angle)
        v, p = _variances(part.middle + d, log_kappa[:, None])
        a = 1 / v
        q, h = p * a**2, 0.5 * p * (1 - p) * a**2 - p**2 * a**3
        functions = _Tables(
            a=a,
            da=d * a,
            constant=-0.5 * d**2 * a + 0.5 * d - 0.125 * v - 0.5 * np.log(2 * np.pi * v),
            q=q,
            dq=d * q,
            g=0.5 * p * (d**2 * a**2 - 0.25 - a),
            h=h,
            dh=d * h,
            ddh=d**2 * h - 0.5 * p * (1 - p) * (0.25 + a) + 0.5 * p**2 * a**2,
            expected=(1 + 0.5 * p) ** 2 * a + 0.5 * (p * a) ** 2,
        )
        if self.normal:
            one, precision = np.ones(order), np.exp(-log_kappa[-1])
            of_prior = [one, d, -0.5 * d**2, one, d, 0.5 * d**2, -0.5 * one, -0.5 * d, -0.5 * d**2, one]
            for function, values in zip(functions, of_prior, strict=True):
                function[-1] = precision * values
            functions.constant[-1] -= 0.5 * np.log(2 * np.pi / precision)
            functions.g[-1] -= 0.5
        return _Tables(*(np.stack(functions) @ transform.T))

    def _posterior(self, part: _Bin, x: Floats, mask: Floats | None, tables: _Tables, outside: Booleans) -> _Posterior:
        """Return the posterior of the sizes of a bin's rows; mark rows whose nodes leave the bin in `outside`."""
        joint = x @ tables.da + (x * x) @ (-0.5 * tables.a)
        joint[:, 0] -= x @ self.half
        joint += tables.constant.sum(axis=0) if mask is None else mask @ tables.constant
        expected = tables.expected.sum(axis=0)[None] if mask is None else mask @ tables.expected
        slope = chebyshev.chebder(joint, axis=1)
        bend = chebyshev.chebder(slope, axis=1)
        t, longest = (self.modes[part.rows] - part.middle) / part.half, LONGEST_STEP / part.half
        for _ in range(MOST_STEPS):
            at = _polynomials(t, joint.shape[1])
            known = part.half**2 * np.einsum("ik,ki->i", np.broadcast_to(expected, joint.shape), at)
            curvature = -np.einsum("ik,ki->i", bend, at[:-2])
            curvature = np.where(curvature > 0.1 * known, curvature, known)
            step = np.clip(np.einsum("ik,ki->i", slope, at[:-1]) / curvature, -longest, longest)
            before, t = t, np.clip(t + step, -1.0, 1.0)
            if not (np.abs(t - before) * np.sqrt(curvature) >= SIZE_TOLERANCE).any():
                break
        self.modes[part.rows] = part.middle + part.half * t
        scale = np.sqrt(2 / curvature)[:, None]
        nodes = t[:, None] + scale * self.t
        self.deviations[part.rows] = part.half * scale[:, 0] / np.sqrt(2)
        outside[part.rows] = ~(np.abs(nodes).max(axis=1) <= 1)
        polynomials = _polynomials(nodes, joint.shape[1])
        terms = np.einsum("ik,kiq->iq", joint, polynomials) + self.log_weights + np.log(part.half * scale)
        highest = terms.max(axis=1, keepdims=True)
        weights = np.exp(terms - highest)
        total = weights.sum(axis=1, keepdims=True)
        return _Posterior((highest + np.log(total))[:, 0], nodes, weights / total, polynomials)

    def _linear(self, mean: Floats, x: Floats, mask: Floats | None, tables: _Tables) -> Floats:
        """Return the scores, without constants, for functionals of size with coefficients `mean`, (R, K) → (R, 2C)."""
        width, scores = self.columns, np.empty((len(x), 2 * self.columns))
        of_level, of_dispersion = scores[:, :width], scores[:, width:]
        np.multiply(mean @ tables.a.T, x, out=of_level)
        of_level -= mean @ tables.da.T
        np.multiply(mean @ (0.5 * tables.q).T, x, out=of_dispersion)
        of_dispersion -= mean @ tables.dq.T
        of_dispersion *= x
        of_dispersion += mean @ tables.g.T
        if mask is not None:
            of_level *= mask
            of_dispersion *= mask
        return scores

    def _roots(self, found: _Posterior, x: Floats, mask: Floats | None, tables: _Tables, most: int) -> Iterator[Floats]:
        """Yield S^r of a bin's rows, until one adds next to nothing to the information."""
        deviation = found.nodes - (found.weights * found.nodes).sum(axis=1, keepdims=True)
        known = [np.ones_like(deviation)]
        cells = float(len(x)) if mask is None else mask.sum(axis=0)
        least = LAST_TERM * 0.5 * cells  # ½ a cell is the information on ln κ of an edition of little noise
        for _ in range(most):
            power = deviation * known[-1]
            for _ in range(2):  # once more, for what rounding left
                for other in known:
                    power = power - (found.weights * power * other).sum(axis=1, keepdims=True) * other
            length = np.sqrt((found.weights * power**2).sum(axis=1, keepdims=True))
            known.append(power / np.maximum(length, np.finfo(float).tiny))
            weights = found.weights * known[-1]
            root = self._linear(np.einsum("kiq,iq->ik", found.polynomials, weights), x, mask, tables)
            yield root
            if (np.einsum("ij,ij->j", root[:, self.columns :], root[:, self.columns :]) <= least).all():
                break

    def _sort(self, columns: Floats, outside: Booleans) -> None:
        """Look for the modes of rows outside their bin without tables, and sort all rows into bins anew."""
        which, steps = (np.flatnonzero(outside), MOST_STEPS) if self._bins else (np.arange(len(outside)), FIRST_STEPS)
        for rows in np.array_split(which, 1 + len(which) * self.columns // CELLS_OF_WINDOWS):
            self._find_modes(columns, rows, steps)
        log_kappa = columns[self.columns : 2 * self.columns - self.normal]
        reach = self.deviations * (np.sqrt(2) * self.t[-1] + 0.15) + MARGIN
        order = np.argsort(self.modes, kind="stable")
        modes, start, self._bins = self.modes[order], 0, []
        most = max(1, min(CELLS_OF_WINDOWS // self.columns, ROWS_AT_A_TIME))
        while start < len(order):
            stop = min(int(np.searchsorted(modes, modes[start] + WIDEST, side="right")), start + most)
            stop = max(stop, start + 1)
            while True:
                rows = np.sort(order[start:stop])
                low = float((self.modes[rows] - reach[rows]).min())
                high = float((self.modes[rows] + reach[rows]).max())
                part = _Bin(rows, 0.5 * (low + high), 0.5 * (high - low))
                if len(rows) == 1 or _order(part.middle, part.half, log_kappa) <= MOST_TERMS:
                    break
                stop = start + len(rows) // 2
            self._bins.append(part)
            start = stop

    def _find_modes(self, columns: Floats, rows: Integers, steps: int) -> None:
        """Find the posterior modes of some rows and the deviations there from the cells themselves."""
        levels, log_kappa = columns[: self.columns], columns[self.columns :]
        z, there = self._less(rows, levels)
        mask, editions = np.ones_like(z) if there is None else there, self.columns - self.normal
        m = z[:, :editions].sum(axis=1) / mask[:, :editions].sum(axis=1)
        for _ in range(steps):
            v, p = _variances(m[:, None], log_kappa)
            r, w = z - m[:, None] + 0.5 * v, 1 / v
            slope = r * w * (1 + 0.5 * p) - 0.5 * p * w * (r**2 * w - 1)
            expected = (1 + 0.5 * p) ** 2 * w + 0.5 * (p * w) ** 2
            observed = expected - 0.5 * (p * w) ** 2 + r * w * (0.5 * p * (1 - p) - p * w * (2 + p))
            observed += 0.5 * p * (1 - p) * w * (1 - r**2 * w) - 0.5 * (p * w) ** 2 * (1 - 2 * r**2 * w)
            if self.normal:
                precision = np.exp(-log_kappa[-1])
                slope[:, -1] = precision * (z[:, -1] - m)
                expected[:, -1] = observed[:, -1] = precision
            along, known, curvature = (np.einsum("ij,ij->i", mask, each) for each in (slope, expected, observed))
            curvature = np.where(curvature > 0.1 * known, curvature, known)
            step = np.clip(along / curvature, -LONGEST_STEP, LONGEST_STEP)
            m = m + step
            if not (np.abs(step) * np.sqrt(curvature) >= SIZE_TOLERANCE).any():
                break
        self.modes[rows], self.deviations[rows] = m, 1 / np.sqrt(curvature)


def _variances(m: Floats, log_kappa: Floats) -> tuple[Floats, Floats]:
    """Return v = ln(1 + κ/n) and −dv/dm = κ/(κ + n)."""
    ratio = np.exp(np.minimum(log_kappa - m, LARGEST))
    return np.log1p(ratio), ratio / (1 + ratio)


def _order(middle: float, half: float, log_kappa: Floats) -> int:
    """Return the number of terms of interpolants on an interval of sizes."""
    nearest = (log_kappa - middle + 1j * np.pi) / half
    farthest = np.log(np.abs(nearest + np.sqrt(nearest - 1) * np.sqrt(nearest + 1)).min())
    # on an ellipse a function such as 1/v may be larger than on the interval, by that much
    log_ratio = farthest * ELLIPSES
    terms = 2 + (-np.log(EXACT) + half * (np.cosh(log_ratio) - 1)) / log_ratio  # two for δ²
    return int(np.clip(np.nan_to_num(np.ceil(terms.min())), FEWEST_TERMS, LARGEST_ORDER))


def _polynomials(t: Floats, order: int) -> Floats:
    """Return the Chebyshev polynomials T₀ … at some points, shape (order, …)."""
    found = np.empty((order, *t.shape))
    found[0], found[1] = 1.0, t
    for k in range(2, order):
        np.multiply(t, found[k - 1], out=found[k])
        found[k] *= 2
        found[k] -= found[k - 2]
    return found


def _dot(one: Floats, other: Floats) -> Floats:
    product: Floats = np.einsum("jk,jk->j", one, other)
    return product
