"""Priors of sampled models of outcomes: proper ones, so that separated tables have a posterior, too."""

from dataclasses import astuple, dataclass, fields

import numpy as np

from langdiff.base.signature import name_of_number
from langdiff.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class OutcomePriors:
    r"""Standard deviations of normal priors with mean 0, all in log odds; of σ and other spreads half of one.

    Attributes
    ----------
    level : float
        Of the difficulty of items on average over the groups.
    ability : float
        Of each system's ability, given that they average 0.
    term : float
        Of the slope of each term; of the difficulty of each group, given that they average the level.
    spread : float
        Of σ, and of the standard deviations of clusters and of cells.
    log_loading : float
        Of each system's ln λ, given that they average 0.

    Raises
    ------
    ConfigError
        If one is not positive and finite.

    Examples
    --------
    >>> str(OutcomePriors(spread=2.0))
    'level~1.5,ability~1.5,term~1,spread~2,log_loading~0.5'
    """

    level: float = 1.5
    ability: float = 1.5
    term: float = 1.0
    spread: float = 1.0
    log_loading: float = 0.5

    def __post_init__(self) -> None:
        """Refuse what makes no normal distribution."""
        for field, value in zip(fields(self), astuple(self), strict=True):
            if not 0 < value < np.inf:
                raise ConfigError(f"prior {field.name}={value!r}: a standard deviation must be positive and finite.")

    def to_data(self) -> dict[str, float]:
        """Return the scales by their names in the Stan program.

        Returns
        -------
        dict of float
            One scale per prior.

        Examples
        --------
        >>> OutcomePriors().to_data()["slope_scale"]
        1.0
        """
        names = ("level_scale", "ability_scale", "slope_scale", "spread_scale", "loading_scale")
        return dict(zip(names, map(float, astuple(self)), strict=True))

    def __str__(self) -> str:
        """Name all scales, for signatures."""
        return ",".join(
            f"{field.name}~{name_of_number(value)}" for field, value in zip(fields(self), astuple(self), strict=True)
        )
