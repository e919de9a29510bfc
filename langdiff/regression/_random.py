"""The one place where a seed becomes a source of randomness."""

import numpy as np

from langdiff.errors import ConfigError


def generator(seed: int | np.random.Generator | None) -> np.random.Generator:
    """Return the generator of a seed, or the one given.

    Raises
    ------
    ConfigError
        If the seed is none.

    Examples
    --------
    >>> int(generator(7).integers(100))
    94
    """
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"a seed is a whole number from 0 on, or a numpy Generator, not {seed!r}.") from error
