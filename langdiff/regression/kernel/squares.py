"""Sums of squares of model 1 as a likelihood of known variance, for `langdiff.regression.kernel.lbfgs`."""

from dataclasses import dataclass

import numpy as np

from langdiff.base.types import Floats
from langdiff.regression.kernel.likelihood import Gradient, Scales
from langdiff.regression.kernel.two_way import TwoWay


@dataclass(frozen=True, eq=False, repr=False)
class Squares:
    """Half the squared residuals z − μ − c over their variance, the constants left out.

    Parameters
    ----------
    two_way : TwoWay
        The exact fit, from which z is had; it is not used otherwise.
    sd : float
        Standard deviation of the residuals, nats.
    """

    two_way: TwoWay
    sd: float

    def _residuals(self, mu: Floats, c: Floats) -> Floats:
        table = self.two_way
        mask = 1.0 if table.mask is None else table.mask
        residuals: Floats = table.residual + mask * (
            (table.intent_effect - mu)[:, None] + (table.edition_effect - c)[None, :]
        )
        return residuals / self.sd

    def start(self) -> tuple[Floats, Floats]:
        """Return values of μ and c to begin with: one size, and no differences."""
        table = self.two_way
        return np.full_like(table.intent_effect, table.intent_effect.mean()), np.zeros_like(table.edition_effect)

    def scales(self, mu: Floats, c: Floats) -> Scales:  # noqa: ARG002 (alike everywhere)
        """Return the scales in which the curvature is about 1; the level, of which nothing is known, has any."""
        table = self.two_way
        of_c = table.cells_per_edition
        if table.design is not None:
            of_c = of_c @ table.design**2
        return Scales(self.sd / np.sqrt(table.cells_per_intent), self.sd / np.sqrt(of_c), self.sd)

    def intent_values(self, mu: Floats, c: Floats) -> Floats:
        """Return half the scaled squares of each row, shape (I,)."""
        residuals = self._residuals(mu, c)
        values: Floats = 0.5 * np.einsum("ij,ij->i", residuals, residuals)
        return values

    def value_and_gradient(self, mu: Floats, c: Floats, baseline: Floats) -> Gradient:
        """Return half the scaled squares, less a baseline, and their gradient."""
        residuals = self._residuals(mu, c)
        values = 0.5 * np.einsum("ij,ij->i", residuals, residuals)
        return Gradient(
            float(np.sum(values - baseline)), -residuals.sum(axis=1) / self.sd, -residuals.sum(axis=0) / self.sd
        )

    def best_intents(self, mu: Floats, c: Floats) -> Floats:  # noqa: ARG002 (one mode)
        """Return μ as it is: squares have one mode."""
        return mu
