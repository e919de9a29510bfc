r"""Curves that fall to a floor as a power of the amount of training text, one exponent for all editions.

.. math:: B_j(n) = E_j + A_j n^{-\beta} \quad\text{(power)}, \qquad
          \ln B_j(n) = E_j + A_j n^{-\beta} \quad\text{(stretched)}

The second is the stretched exponential of Takahira, Tanaka-Ishii and Dębowski (2016, "Entropy rate estimates for
natural language - a new extrapolation of compressed large-scale corpora"), who find one exponent for six languages.
Given β, the others follow by weighted linear regression; what is left is a search for β alone (variable projection),
done for all samples of a bootstrap side by side.
"""

from typing import NamedTuple

import numpy as np

from langdiff.base.types import Floats

LEAST, MOST, STEPS = 0.02, 3.0, 40  # of β
NARROWINGS = 32  # of a bracket by the golden section: to 1e-7 of its width
GOLDEN = (np.sqrt(5) - 1) / 2


class PowerFit(NamedTuple):
    r"""Parameters of D samples: `floor` E and `gain` A at the smallest size, shape (D, J); `exponent` β, shape (D,).

    `misfit` and `misfit_of_constant` are weighted sums of squares, shape (D, J). The gain is :math:`A_j n_1^{-\beta}`,
    by how much the smallest size is above the floor, in the unit of the data.
    """

    floor: Floats
    gain: Floats
    exponent: Floats
    misfit: Floats
    misfit_of_constant: Floats


def fit_power(y: Floats, sizes: Floats, weights: Floats) -> PowerFit:
    """Fit floors, gains and their common exponent by weighted least squares.

    Parameters
    ----------
    y : ndarray, shape (D, J, K)
        Bits per intent, or their logarithms, of J editions at K sizes, in D samples.
    sizes : ndarray, shape (K,)
        Amounts of training text, rising.
    weights : ndarray, shape (J, K)
        Weight of each cell.

    Returns
    -------
    PowerFit
        With an exponent at an end of the range from .02 to 3 where the data do not tell one.

    Examples
    --------
    >>> n = np.array([1.0, 4.0, 16.0])
    >>> found = fit_power((2 + 3 * n**-0.5)[None, None], n, np.ones((1, 3)))
    >>> found.floor.item(), found.gain.item(), found.exponent.item()  # doctest: +ELLIPSIS
    (2.00000..., 2.99999..., 0.5000...)
    """
    shares = weights / weights.sum(axis=1, keepdims=True)
    centred = y - np.einsum("djk,jk->dj", y, shares)[..., None]
    log_ratio = np.log(sizes / sizes[0])
    left = _search(centred, weights, shares, log_ratio)
    x = np.exp(-left[:, None] * log_ratio)  # (D, K)
    x_centred, slope, misfit = _project(centred, weights, shares, x)
    mean = np.einsum("djk,jk->dj", y, shares) - slope * (x[:, None] - x_centred)[..., 0]
    return PowerFit(mean, slope, left, misfit, np.einsum("djk,jk->dj", centred**2, weights))


def _project(centred: Floats, weights: Floats, shares: Floats, x: Floats) -> tuple[Floats, Floats, Floats]:
    """Regress on x, shape (D, K): return x less its mean, (D, J, K), the slopes and the sums of squares, (D, J)."""
    x_centred = x[:, None] - (x @ shares.T)[..., None]
    slope = np.einsum("djk,djk,jk->dj", centred, x_centred, weights) / np.einsum("djk,jk->dj", x_centred**2, weights)
    misfit = np.einsum("djk,jk->dj", (centred - slope[..., None] * x_centred) ** 2, weights)
    return x_centred, slope, misfit


def _search(centred: Floats, weights: Floats, shares: Floats, log_ratio: Floats) -> Floats:
    """Return the exponent with the least sum of squares of each sample, shape (D,)."""

    def cost(exponent: Floats) -> Floats:
        total: Floats = _project(centred, weights, shares, np.exp(-exponent[:, None] * log_ratio))[2].sum(axis=1)
        return total

    grid = np.geomspace(LEAST, MOST, STEPS)
    on_grid = np.array([cost(np.full(len(centred), value)) for value in grid])  # (STEPS, D)
    best = on_grid.argmin(axis=0)
    low, high = grid[np.maximum(best - 1, 0)], grid[np.minimum(best + 1, STEPS - 1)]
    for _ in range(NARROWINGS):
        inner, outer = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        lower = cost(inner) < cost(outer)
        low, high = np.where(lower, low, inner), np.where(lower, outer, high)
    middle: Floats = (low + high) / 2
    return middle


def at_end(exponent: Floats) -> Floats:
    """Return of which samples the exponent is at an end of its range, shape (D,)."""
    grid = np.geomspace(LEAST, MOST, STEPS)
    ends: Floats = (exponent < (grid[0] + grid[1]) / 2) | (exponent > (grid[-2] + grid[-1]) / 2)
    return ends
