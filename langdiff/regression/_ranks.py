"""How surely an edition is the hardest, the second hardest, and so on."""

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from langdiff.errors import DataError
from langdiff.regression.result import DifficultyFit


def rank_probabilities(
    source: DifficultyFit | pd.DataFrame, *, draws: int = 4000, seed: int | np.random.Generator = 0
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
    seed : int or numpy.random.Generator
        Of these draws.

    Returns
    -------
    DataFrame, shape (J, J)
        Rows: editions, that of the highest mean rank first; columns: ranks, 1 the hardest. Rows and
        columns sum to 1.

    Raises
    ------
    DataError
        If the fit did not converge and so has no covariance, or draws are missing.

    Examples
    --------
    >>> draws = pd.DataFrame({"eng": [0.0, 0.1, 0.0, 0.0], "fin": [0.2, 0.0, 0.1, 0.3]})
    >>> rank_probabilities(draws)
    rank         1     2
    edition
    fin      0.75  0.25
    eng      0.25  0.75
    """
    sample = _draw(source, draws, np.random.default_rng(seed)) if isinstance(source, DifficultyFit) else source
    values = sample.to_numpy(dtype=float)
    if not values.size or np.isnan(values).any():
        raise DataError("draws of difficulties are missing or not numbers; give a complete frame, draws × editions.")
    ranks = rankdata(-values, method="ordinal", axis=1)
    count = values.shape[1]
    shares = np.stack([np.bincount(column, minlength=count + 1)[1:] for column in ranks.T]) / len(values)
    order = np.argsort(ranks.mean(axis=0), kind="stable")
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
    return pd.DataFrame(values, columns=fit.difficulty.index)
