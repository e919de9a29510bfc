"""Quantities computed from posterior draws: replicated bits, and the log-density of each intent for leave-one-out."""

from typing import NamedTuple

import numpy as np

from langdiff.base.types import Floats
from langdiff.regression.kernel.integrated.quadrature import RowData, row_posterior
from langdiff.regression.stan.engines import Draws
from langdiff.regression.stan.posterior import Posterior
from langdiff.regression.variants.variant import Variant

MOST_CELLS = 200_000  # of a table of which bits are replicated
MOST_DRAWS = 400  # in which they are, of all chains together
NODES = 15  # of the quadrature over the size of an intent


class Replicated(NamedTuple):
    """Bits drawn from the posterior predictive distribution.

    Attributes
    ----------
    bits : ndarray of float32, shape (chains, draws, I, J)
        Replicated bits of the observed cells; NaN where the table has none.
    missing : ndarray of float32, shape (chains, draws, M)
        Predicted bits of the M missing cells, row by row.
    every : int
        Which draws were used: every first, second, ….
    """

    bits: np.ndarray
    missing: np.ndarray
    every: int

    @property
    def note(self) -> str:
        """Sentence on which draws were used."""
        if self.every == 1:
            return "bits of every draw"
        return f"bits of every {self.every}th draw of each chain, so that they take less memory"


def replicate_bits(draws: Draws, posterior: Posterior, rng: np.random.Generator) -> Replicated:
    """Draw bits of every cell given the parameters of at most 400 draws.

    Shapes: draws (chains, draws, ...).
    """
    chains, per_chain = draws["dispersion"].shape
    every = max(1, -(-per_chain * chains // MOST_DRAWS))
    chosen = {name: draws[name][:, ::every] for name in ("difficulty", "intent_size", "dispersion")}
    sigma, log_size = np.sqrt(np.log1p(chosen["dispersion"])), np.log(chosen["intent_size"])
    missing = posterior.bits.isna().to_numpy()
    bits = np.empty((*sigma.shape, *missing.shape), dtype=np.float32)
    for place in np.ndindex(sigma.shape):
        noise = posterior.variant.noise(rng, float(sigma[place]), log_size[place], missing.shape[1])
        bits[place] = np.exp(log_size[place][:, None] + chosen["difficulty"][place] + noise)
    predicted = bits[:, :, missing]
    bits[:, :, missing] = np.nan
    return Replicated(bits, predicted, every)


def log_density_of_intents(draws: Draws, posterior: Posterior) -> Floats:
    r"""Return the log-density of each row of z = ln(bits), its size integrated out, in every draw.

    With x = z − δ, S and Q its sum and sum of squares over the :math:`J_i` cells of row i after subtracting the mean a
    of ln n, model 1 has, with :math:`W_i = \sigma^2 + J_i\tau^2`,

    .. math:: -\tfrac12\bigl[J_i\ln 2\pi + (J_i - 1)\ln\sigma^2 + \ln W_i + (Q_i - \tau^2 S_i^2 / W_i)/\sigma^2\bigr]

    and model 2 is integrated by Gauss–Hermite quadrature with 15 nodes around the mode.

    Shapes: draws (chains, draws, ...).
    """
    z = np.log(posterior.bits.to_numpy())
    return log_density_of_draws(z, draws, common_variance=posterior.variant.common_variance)


def log_density_of_draws(z: Floats, draws: Draws, *, common_variance: bool) -> Floats:
    """Return the log-density of each row of log bits in every draw, in model 1 if the variance is common, or in 2.

    Shapes: z (I, J).
    """
    kappa, sizes = draws["dispersion"], draws["size_distribution"]
    density = np.empty((*kappa.shape, len(z)))
    for place in np.ndindex(kappa.shape):
        mean, spread = (float(value) for value in sizes[place])
        x = z - draws["difficulty"][place]
        if common_variance:
            density[place] = _of_model_1(x - mean, float(np.log1p(kappa[place])), spread)
        else:
            density[place] = _of_model_2(x, float(kappa[place]), mean, spread)
    return density


def _of_model_1(r: Floats, variance: float, spread: float) -> Floats:
    cells, sums, squares = (~np.isnan(r)).sum(axis=1), np.nansum(r, axis=1), np.nansum(r**2, axis=1)
    total = variance + cells * spread**2
    distance = (squares - spread**2 * sums**2 / total) / variance
    density: Floats = -0.5 * (cells * np.log(2 * np.pi) + (cells - 1) * np.log(variance) + np.log(total) + distance)
    return density


def _of_model_2(x: Floats, kappa: float, mean_size: float, sd_size: float) -> Floats:
    """Return log-densities; in scale-free parameters z − δ is around μ − v/2 + ln κ + σ²/2 with μ = ln(n/κ)."""
    x = x - np.log(kappa) - 0.5 * np.log1p(kappa)
    mean = np.nanmean(x, axis=1)
    spread = np.nansum((x - mean[:, None]) ** 2, axis=1)
    expected = np.full(len(x), mean_size - np.log(kappa))
    data = RowData((~np.isnan(x)).sum(axis=1).astype(float), mean, spread, expected)
    unknown = np.full(len(x), np.nan)  # a row may have two modes, of which either may be the higher in another draw
    return row_posterior(data, sd_size, unknown, NODES).values


def offers_log_density(variant: Variant) -> bool:
    """Return whether the log-density of an intent is known: in models 1 and 2, whose noise is normal."""
    return variant.has_information
