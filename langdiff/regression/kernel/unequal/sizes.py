r"""Model 2 with unequal noise, sizes integrated out by Gauss–Hermite quadrature.

With :math:`v_{ij} = \ln(1 + \kappa_j / n_i)` and :math:`m_i = \ln n_i` each row says

.. math:: z_{ij} \sim \mathcal N(m_i + D_j - \tfrac12 v_{ij},\; v_{ij}),

so that :math:`m_i + D_j` is the logarithm of the expected bits. Multiplying all n and κ by t and lowering all D
by ln t changes nothing: the level of D is a convention, here :math:`\sum_j e^{D_j} = J` once the search has ended,
which makes n the expected bits of an edition of factor 1. The parameters are D, λ = ln κ and, with a normal prior
:math:`m_i \sim \mathcal N(a, \tau^2)`, a and ln τ.

The nodes of a row are :math:`\hat m + \sqrt{2/H}\, t_q` around its mode. Posterior means over them give the score
(Fisher's identity) and the observed information (Louis 1982, "Finding the observed information matrix when
using the EM algorithm"). Cells of a row differ in variance, so that there are no sufficient statistics: a step
costs nodes × cells, in blocks of rows.
"""

from typing import NamedTuple

import numpy as np

from langdiff.base.types import Floats, Integers
from langdiff.regression.kernel.unequal.rows import Rows

CELLS_AT_A_TIME = 2**16  # times the nodes, so that temporaries stay in the processor's cache
MOST_STEPS = 50
TOLERANCE = 1e-8  # of a mode, in its standard errors
LONGEST_STEP = 2.0  # of a search for a mode, nats
LARGEST = 700.0  # argument of the exponential function


class _Cells(NamedTuple):
    """Log-densities of cells and their derivatives in D and λ, those in m being ∂D − ∂λ; 0 where missing."""

    value: Floats
    of_level: Floats
    of_dispersion: Floats
    level_level: Floats
    level_dispersion: Floats
    dispersion_dispersion: Floats


class _Nodes(NamedTuple):
    """Nodes of a block of rows, shape (R, Q), their posterior weights, and what cells say there, (R, Q, J)."""

    m: Floats
    weights: Floats
    log_likelihood: Floats  # (R,)
    cells: _Cells


class SizeLikelihood:
    """Log-likelihood of model 2 with one dispersion per edition; see the module and `RowLikelihood`.

    Parameters
    ----------
    z : ndarray, shape (I, J)
        Log surprisals, NaN where missing.
    normal : bool
        Whether sizes have a normal prior; otherwise it is flat, and every row needs two cells.
    nodes : int
        Number of nodes of the quadrature.
    """

    def __init__(self, z: Floats, *, normal: bool, nodes: int) -> None:
        observed = ~np.isnan(z)
        self.mask = observed.astype(float)
        self.z = np.where(observed, z, 0.0)
        self.normal = normal
        self.t, weights = np.polynomial.hermite.hermgauss(nodes)
        self.log_weights = np.log(weights) + self.t**2
        self.modes: Floats = self.z.sum(axis=1) / self.mask.sum(axis=1)  # from which the next search for them begins

    def rows(self, parameters: Floats) -> Rows:
        """Return the log-likelihood of each row with its derivatives."""
        found = []
        for which in self._blocks(slice(None)):
            nodes = self._nodes(parameters, which)
            scores = np.einsum("rq,rqe->re", nodes.weights, self._scores(parameters, nodes))
            found.append(Rows(nodes.log_likelihood, scores, (nodes.weights * nodes.m).sum(axis=1)))
        return Rows(*(np.concatenate(part) for part in zip(*found, strict=True)))

    def information(self, parameters: Floats, which: Integers | slice) -> Floats:
        """Return minus the second derivative of the log-likelihood of the rows `which`, shape (E, E)."""
        editions = self.z.shape[1]
        information = np.zeros((len(parameters), len(parameters)))
        for block in self._blocks(which):
            nodes = self._nodes(parameters, block)
            score = self._scores(parameters, nodes)
            score -= np.einsum("rq,rqe->re", nodes.weights, score)[:, None]
            score *= np.sqrt(nodes.weights)[:, :, None]
            flat = score.reshape(-1, len(parameters))
            information -= flat.T @ flat
            of = [np.einsum("rq,rqj->j", nodes.weights, second) for second in nodes.cells[3:]]
            information[: 2 * editions, : 2 * editions] -= np.block(
                [[np.diag(of[0]), np.diag(of[1])], [np.diag(of[1]), np.diag(of[2])]]
            )
            if self.normal:
                information[-2:, -2:] -= self._prior_curvature(parameters, nodes)
        return information

    def complete_information(self, parameters: Floats) -> Floats:
        """Return the expected information if sizes were observed, shape (E, E); positive definite."""
        editions = self.z.shape[1]
        modes = self._find_modes(parameters, np.arange(len(self.z)))
        v, p = _variances(modes[:, None], parameters[editions : 2 * editions])
        levels = (self.mask / v).sum(axis=0)
        mixed = (-0.5 * self.mask * p / v).sum(axis=0)
        dispersions = (self.mask * p**2 * (0.5 / v**2 + 0.25 / v)).sum(axis=0)
        information = np.zeros((len(parameters), len(parameters)))
        information[: 2 * editions, : 2 * editions] = np.block(
            [[np.diag(levels), np.diag(mixed)], [np.diag(mixed), np.diag(dispersions)]]
        )
        if self.normal:
            information[-2, -2] = len(self.z) * np.exp(-2 * parameters[-1])
            information[-1, -1] = 2 * len(self.z)
        return information

    def _blocks(self, which: Integers | slice) -> list[Integers]:
        rows = np.arange(len(self.z))[which]
        size = max(1, CELLS_AT_A_TIME // (self.z.shape[1] * len(self.t)))
        return [rows[start : start + size] for start in range(0, len(rows), size)]

    def _nodes(self, parameters: Floats, which: Integers) -> _Nodes:
        modes = self._find_modes(parameters, which)
        _, curvature = self._slope(parameters, modes, which)
        scale = np.sqrt(2 / curvature)
        m = modes[:, None] + scale[:, None] * self.t  # (R, Q)
        cells = self._cells(parameters, m, which)
        log_joint = cells.value.sum(axis=2) + self.log_weights + np.log(scale)[:, None]
        if self.normal:
            a, log_tau = parameters[-2:]
            log_joint += -0.5 * np.log(2 * np.pi) - log_tau - 0.5 * ((m - a) * np.exp(-log_tau)) ** 2
        highest = log_joint.max(axis=1, keepdims=True)
        weights = np.exp(log_joint - highest)
        total = weights.sum(axis=1, keepdims=True)
        return _Nodes(m, weights / total, (highest + np.log(total))[:, 0], cells)

    def _scores(self, parameters: Floats, nodes: _Nodes) -> Floats:
        """Return the derivatives of the log-density of row and size together, shape (R, Q, E)."""
        parts = [nodes.cells.of_level, nodes.cells.of_dispersion]
        if self.normal:
            a, log_tau = parameters[-2:]
            deviation = (nodes.m - a) * np.exp(-log_tau)
            parts += [(deviation * np.exp(-log_tau))[:, :, None], (deviation**2 - 1)[:, :, None]]
        return np.concatenate(parts, axis=2)

    def _prior_curvature(self, parameters: Floats, nodes: _Nodes) -> Floats:
        """Return the posterior mean of the second derivative of the log-density of the prior, shape (2, 2)."""
        a, log_tau = parameters[-2:]
        deviation = (nodes.m - a) * np.exp(-log_tau)
        first = -2 * float((nodes.weights * deviation).sum()) * np.exp(-log_tau)
        second = -2 * float((nodes.weights * deviation**2).sum())
        return np.array([[-len(nodes.m) * np.exp(-2 * log_tau), first], [first, second]])

    def _cells(self, parameters: Floats, m: Floats, which: Integers) -> _Cells:
        """Return what the cells of rows say at points m of shape (R, Q)."""
        editions = self.z.shape[1]
        mask = self.mask[which][:, None]
        v, p = _variances(m[:, :, None], parameters[editions : 2 * editions])
        w = mask / v
        r = (self.z[which] - parameters[:editions])[:, None] - m[:, :, None] + 0.5 * v
        rw = r * w
        of_v = 0.5 * (rw * (r / v - 1) - w)
        level_v = 0.5 * w - rw / v
        v_v = 0.5 * w / v - 0.25 * w + rw * (1 - r / v) / v
        value = -0.5 * (mask * np.log(2 * np.pi * v) + r * rw)
        return _Cells(value, rw, p * of_v, -w, p * level_v, p * (1 - p) * of_v + p * p * v_v)

    def _slope(self, parameters: Floats, m: Floats, which: Integers) -> tuple[Floats, Floats]:
        """Return the derivative in each size, and a curvature: observed if positive enough, else expected."""
        editions = self.z.shape[1]
        cells = self._cells(parameters, m[:, None], which)
        v, p = _variances(m[:, None], parameters[editions : 2 * editions])
        slope = (cells.of_level - cells.of_dispersion).sum(axis=(1, 2))
        second = cells.level_level - 2 * cells.level_dispersion + cells.dispersion_dispersion
        expected = (self.mask[which] * ((1 + 0.5 * p) ** 2 / v + 0.5 * (p / v) ** 2)).sum(axis=1)
        observed = -second.sum(axis=(1, 2))
        curvature = np.where(observed > 0.1 * expected, observed, expected)
        if self.normal:
            precision = np.exp(-2 * parameters[-1])
            slope = slope - (m - parameters[-2]) * precision
            curvature = curvature + precision
        return slope, curvature

    def _find_modes(self, parameters: Floats, which: Integers) -> Floats:
        """Return the mode of the sizes of some rows, shape (R,), from where the last search for them ended."""
        m = self.modes[which]
        for _ in range(MOST_STEPS):
            slope, curvature = self._slope(parameters, m, which)
            step = np.clip(slope / curvature, -LONGEST_STEP, LONGEST_STEP)
            m = m + step
            if (np.abs(step) * np.sqrt(curvature)).max() < TOLERANCE:
                break
        self.modes[which] = m
        return m


def _variances(m: Floats, log_kappa: Floats) -> tuple[Floats, Floats]:
    """Return v = ln(1 + κ/n) and −dv/dm = κ/(κ + n)."""
    ratio = np.exp(np.minimum(log_kappa - m, LARGEST))
    return np.log1p(ratio), ratio / (1 + ratio)
