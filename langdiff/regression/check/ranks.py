"""How surely an edition is the hardest, the second hardest, and so on."""

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import rankdata

from langdiff._random import generator
from langdiff.errors import ConfigError, DataError
from langdiff.regression.result import DifficultyFit

Floats = npt.NDArray[np.float64]

ROUNDING = 1e-12  # nats, and of variances: by so much do tied difficulties come out different


def rank_probabilities(
    source: DifficultyFit | pd.DataFrame, *, draws: int = 4000, seed: int | np.random.Generator | None = None
) -> pd.DataFrame:
    """Return the probability of every rank of every edition.

    Difficulties are correlated, as their factors have a fixed sum, so that ranks are counted in draws of all
    difficulties together.

    Parameters
    ----------
    source : DifficultyFit or DataFrame
        A fit, whose joint normal sampling distribution is drawn from; or draws, shape (draws, J), columns
        named by edition: of a posterior, or of a bootstrap.
    draws : int
        How many to draw from a fit; 4,000 give a probability to within .016 (two standard errors at most).
    seed : int or numpy.random.Generator, optional
        Seed of the draws from a fit, which needs it; from draws that are given nothing is drawn.

    Returns
    -------
    DataFrame, shape (J, J)
        Rows: editions, that of the highest mean rank first; columns: ranks, 1 the hardest. Rows and
        columns sum to 1. Editions that are tied, as by a formula, share their ranks evenly.

    Raises
    ------
    DataError
        If the fit did not converge and so has no covariance, or draws are missing.
    ConfigError
        If `draws` is no number of draws, or a fit comes without a seed.

    Examples
    --------
    >>> draws = pd.DataFrame({"eng": [0.0, 0.1, 0.0, 0.0], "fin": [0.2, 0.0, 0.1, 0.3]})
    >>> rank_probabilities(draws)
    rank         1     2
    edition
    fin      0.75  0.25
    eng      0.25  0.75
    """
    if not isinstance(draws, int | np.integer) or draws < 1:
        raise ConfigError(f"draws must be a whole number, at least 1, got {draws!r}.")
    sample = (
        _draw(source, draws, generator(seed, "difficulties of a fit")) if isinstance(source, DifficultyFit) else source
    )
    values = sample.to_numpy(dtype=float)
    if not values.size or np.isnan(values).any():
        raise DataError("draws of difficulties are missing or not numbers; give a complete frame, draws × editions.")
    count = values.shape[1]
    first, last = (rankdata(-values, method=method, axis=1).astype(int) for method in ("min", "max"))
    shares = np.zeros((count, count))
    for further in range(int((last - first).max()) + 1):  # ranks that ties share; usually there are none
        draw, edition = np.nonzero(first + further <= last)
        rank = first[draw, edition] + further
        np.add.at(shares, (edition, rank - 1), 1 / (last - first + 1)[draw, edition])
    shares /= len(values)
    order = np.argsort((first + last).sum(axis=0), kind="stable")
    names = pd.Index(sample.columns[order], name="edition")
    return pd.DataFrame(shares[order], index=names, columns=pd.RangeIndex(1, count + 1, name="rank"))


def _draw(fit: DifficultyFit, draws: int, rng: np.random.Generator) -> pd.DataFrame:
    covariance = fit.covariance.to_numpy()
    if not np.isfinite(covariance).all():
        raise DataError("the fit has no covariance, as it did not converge; its ranks are not known.")
    # singular in one direction, to rounding; eigh does not mind
    values = rng.multivariate_normal(
        fit.difficulty.to_numpy(), covariance, size=draws, method="eigh", check_valid="ignore"
    )
    return pd.DataFrame(values[:, _first_tied(fit.difficulty.to_numpy(), covariance)], columns=fit.difficulty.index)


def _first_tied(difficulty: Floats, covariance: Floats) -> npt.NDArray[np.int_]:
    """Return for each edition the first that cannot differ from it, itself if there is none; shape (J,)."""
    variance = np.diag(covariance)
    together = variance[:, None] + variance
    tied = together - 2 * covariance <= ROUNDING * together + ROUNDING**2
    tied &= np.abs(difficulty[:, None] - difficulty) <= ROUNDING
    np.fill_diagonal(tied, True)
    first: npt.NDArray[np.int_] = tied.argmax(axis=1)
    return first
