"""The Stan programs, package data beside this file."""

from pathlib import Path
from typing import get_args

from langdiff.errors import ConfigError, listing
from langdiff.regression.variants import StanModel

HERE = Path(__file__).parent


def program_path(model: str, *, plain: bool = False) -> Path:
    """Return the path of the Stan program of a model.

    Parameters
    ----------
    model : {"1", "2", "2L", "3"}
        Name of the model, as in `langdiff.fit`.
    plain : bool
        Whether to return the program as the paper writes the model, instead of the whitened one. Both have the same
        posterior; their data differ.

    Raises
    ------
    ConfigError
        If the model is unknown or has no Stan program.

    Examples
    --------
    >>> program_path("2", plain=True).name
    'plain_2.stan'
    """
    if model not in get_args(StanModel):
        raise ConfigError(f"no Stan program of model {model!r}; use one of {listing(get_args(StanModel))}.")
    return HERE / f"{'plain' if plain else 'model'}_{model}.stan"
