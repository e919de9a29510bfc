"""Priors of the Stan programs: flat, or normal if asked."""

from dataclasses import dataclass

import numpy as np

from langdiff.base.signature import name_of_number
from langdiff.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class Priors:
    r"""Priors on the parameters under the convention that the factors exp(d) average 1.

    All are flat by default, so that the posterior is the normalized likelihood: flat in every
    :math:`m_i = \ln n_i`, in the contrasts :math:`d_j - \bar d`, and in :math:`\ln\kappa`. The plain and
    the whitened programs have this same measure, whatever they call their parameters.

    Attributes
    ----------
    log_size : (float, float), optional
        Mean and standard deviation, nats, of a normal prior on every :math:`\ln n_i`.
    difficulty : float, optional
        Standard deviation, nats, of the normal prior with mean 0 on d, given that its mean is 0.
    log_dispersion : (float, float), optional
        Mean and standard deviation of a normal prior on :math:`\ln\kappa`.

    Raises
    ------
    ConfigError
        If a mean is not finite or a standard deviation not positive and finite.

    Examples
    --------
    >>> Priors(difficulty=0.5).to_data()["difficulty_precision"]
    4.0
    """

    log_size: tuple[float, float] | None = None
    difficulty: float | None = None
    log_dispersion: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        """Refuse parameters that do not make a normal distribution."""
        given = {"log_size": self.log_size, "log_dispersion": self.log_dispersion}
        if self.difficulty is not None:
            given["difficulty"] = (0.0, self.difficulty)
        for name, prior in given.items():
            if prior is not None and not (np.isfinite(prior[0]) and 0 < prior[1] < np.inf):
                raise ConfigError(
                    f"prior {name}={getattr(self, name)!r}: the mean must be finite, the standard deviation positive "
                    "and finite. Leave the prior out for a flat one."
                )

    def to_data(self) -> dict[str, float]:
        """Return the data that the Stan programs take; a precision of 0 is flat.

        Returns
        -------
        dict of float
            Means and precisions (one over the variance) of the three priors, by their names in the programs.

        Examples
        --------
        >>> Priors().to_data()["log_size_precision"]
        0.0
        """
        size, dispersion = self.log_size or (0.0, np.inf), self.log_dispersion or (0.0, np.inf)
        return {
            "log_size_mean": float(size[0]),
            "log_size_precision": float(size[1]) ** -2,
            "difficulty_precision": 0.0 if self.difficulty is None else float(self.difficulty) ** -2,
            "log_dispersion_mean": float(dispersion[0]),
            "log_dispersion_precision": float(dispersion[1]) ** -2,
        }

    @property
    def proper(self) -> bool:
        """Whether all are given, so that data sets can be drawn from them."""
        return None not in (self.log_size, self.difficulty, self.log_dispersion)

    def __str__(self) -> str:
        """Name the priors that are not flat, for signatures."""
        parts = []
        if self.log_size:
            parts.append(f"log_size~N({','.join(map(name_of_number, self.log_size))})")
        if self.difficulty:
            parts.append(f"difficulty~N(0,{name_of_number(self.difficulty)})")
        if self.log_dispersion:
            parts.append(f"log_dispersion~N({','.join(map(name_of_number, self.log_dispersion))})")
        return ",".join(parts) or "flat"
