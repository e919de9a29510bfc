"""At which size a curve reaches a value, by straight lines between the sizes, both on logarithmic scales."""

import numpy as np

from langdiff.base.types import Floats


def sizes_reached(log_bits: Floats, log_sizes: Floats, target: Floats) -> Floats:
    """Return the logarithm of the first size at which log bits are as low as a target.

    Parameters
    ----------
    log_bits : ndarray, shape (..., K)
        Logarithms of bits per intent at each size.
    log_sizes : ndarray, shape (K,)
        Logarithms of the sizes, rising.
    target : ndarray, shape (...)
        Logarithm of the bits to be reached.

    Returns
    -------
    ndarray, shape (...)
        Minus infinity where the smallest size has no more than the target, infinity where no size has as few.

    Examples
    --------
    >>> sizes_reached(np.array([2.0, 1.0, 0.0]), np.array([0.0, 1.0, 3.0]), np.array(0.5)).item()
    2.0
    """
    reached = np.where(log_bits[..., 0] <= target, -np.inf, np.inf)
    for k in range(1, len(log_sizes)):
        before, after = log_bits[..., k - 1], log_bits[..., k]
        here = np.isposinf(reached) & (after <= target)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = (before - target) / (before - after)
        reached = np.where(here, log_sizes[k - 1] + share * (log_sizes[k] - log_sizes[k - 1]), reached)
    return reached


def value_at(log_bits: Floats, log_sizes: Floats, log_size: float) -> Floats:
    """Return log bits at a size between the sizes, (..., K) → (...)."""
    k = int(np.clip(np.searchsorted(log_sizes, log_size) - 1, 0, len(log_sizes) - 2))
    share = (log_size - log_sizes[k]) / (log_sizes[k + 1] - log_sizes[k])
    value: Floats = (1 - share) * log_bits[..., k] + share * log_bits[..., k + 1]
    return value
