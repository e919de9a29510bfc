"""A table whose rows have sizes from one distribution: sums over rows, and the layout of the parameters."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import block_diag

from langdiff.base.types import Booleans, Floats, Integers
from langdiff.regression.kernel.two_way import TwoWay, solve_two_way


@dataclass(frozen=True, eq=False, repr=False)
class IntentTable:
    """Log surprisals with what is known of each intent beside them.

    Attributes
    ----------
    two_way : TwoWay
        Model 1 with fixed intents, fitted to the same table; rows of one cell have no residual there.
    attributes : ndarray, shape (I, 1 + K)
        The constant and the covariates: the mean size of an intent is a linear function of them.
    """

    two_way: TwoWay
    attributes: Floats

    @classmethod
    def build(cls, z: Floats, covariates: Floats | None, design: Floats | None) -> "IntentTable":
        """Make a table of log surprisals, shape (I, J), and of covariates, shape (I, K)."""
        constant = np.ones((len(z), 1))
        attributes = constant if covariates is None else np.hstack([constant, covariates])
        return cls(solve_two_way(z, design), attributes)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of intents and of editions."""
        intents, editions = self.two_way.residual.shape
        return intents, editions

    @property
    def cells(self) -> Floats:
        """Observed cells of each row, shape (I,)."""
        return self.two_way.cells_per_intent

    @cached_property
    def _squares(self) -> Floats:
        squares: Floats = np.einsum("ij,ij->i", self.two_way.residual, self.two_way.residual)
        return squares

    def mask(self, rows: slice | Integers) -> Floats:
        """Return 1.0 where a cell of some rows is observed and 0.0 elsewhere, shape (R, J)."""
        if self.two_way.mask is None:
            return np.ones_like(self.two_way.residual[rows])
        return self.two_way.mask[rows]

    def x(self, rows: slice | Integers, c: Floats) -> Floats:
        """Return z − c of some rows, shape (R, J); any number in missing cells."""
        table = self.two_way
        x: Floats = table.residual[rows] + table.intent_effect[rows, None] + (table.edition_effect - c)
        return x

    def over_rows(self, by_edition: Floats) -> Floats:
        """Return sums of numbers of editions over each row's observed cells, (J,) → (I,)."""
        if self.two_way.mask is None:
            return np.full(self.shape[0], by_edition.sum())
        sums: Floats = self.two_way.mask @ by_edition
        return sums

    def over_columns(self, by_intent: Floats) -> Floats:
        """Return sums of numbers of intents over each column's observed cells, (I, …) → (J, …)."""
        if self.two_way.mask is None:
            return np.broadcast_to(by_intent.sum(axis=0), (self.shape[1], *by_intent.shape[1:])).copy()
        sums: Floats = self.two_way.mask.T @ by_intent
        return sums

    def mean_and_spread(self, c: Floats) -> tuple[Floats, Floats]:
        """Return the mean of z − c in each row and the sum of squares around it, shapes (I,).

        As residuals of model 1 sum to 0 in each row, both need only two products of the table with a vector.
        """
        table, n = self.two_way, self.cells
        b = c - table.edition_effect
        level = b.mean()  # c may differ from model 1's by any constant, without which nothing cancels
        b = b - level
        row_b = self.over_rows(b)
        spread = self._squares - 2 * (table.residual @ b) + self.over_rows(b * b) - row_b**2 / n
        return table.intent_effect - level - row_b / n, np.maximum(spread, 0.0)

    def basis(self, others: Booleans | None = None) -> Floats:
        """Return the map from the free parameters to all, the design's for c and, for the others, those chosen.

        Parameters
        ----------
        others : ndarray of bool
            Which of the parameters behind c are free.

        Returns
        -------
        ndarray, shape (P, P')
        """
        editions = self.shape[1]
        of_c = np.eye(editions) if self.two_way.design is None else self.two_way.design
        chosen = np.ones(0, dtype=bool) if others is None else others
        basis: Floats = block_diag(of_c, np.eye(len(chosen))[:, chosen])
        return basis
