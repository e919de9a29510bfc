"""The bits of two editions compared without a model."""

import numpy as np
import pandas as pd
from scipy.stats import t as student

from langdiff.base.types import Floats
from langdiff.errors import ConfigError, listing
from langdiff.regression.clustering import Clusters, one_clustering
from langdiff.regression.kernel.integrated.comparisons import log_total_ratio
from langdiff.regression.table import as_surprisals
from langdiff.tables.contrasts import Contrast
from langdiff.tables.surprisals import Surprisals


def compare_totals(
    surprisals: Surprisals | pd.DataFrame | Floats, one: str, other: str, *, clusters: Clusters | None = None
) -> Contrast:
    r"""Compare the total bits of two editions over the intents that both have, without a model.

    .. math:: \ln\frac{\sum_i y_{ij}}{\sum_i y_{ik}}

    This is what the contrast of expected bits in a fit estimates (`DifficultyFit.contrast`), with more noise: large
    intents count more here than a model lets them. A distance of many standard errors between the two says that the
    ratio depends on the size of the intent, which no model here allows for.

    Parameters
    ----------
    surprisals : Surprisals, DataFrame or array, shape (I, J)
        Bits of intent i in edition j; NaN where missing.
    one, other : str
        Names of the editions.
    clusters : str, mapping or Series, optional
        Intents that share errors; see `langdiff.fit`. By default each intent is by itself.

    Returns
    -------
    Contrast
        Logarithm of the total bits of `one` less that of `other`, nats, with an error from how intents (or clusters)
        vary and G − 1 degrees of freedom.

    Raises
    ------
    ConfigError
        If an edition is unknown, both are the same, or clusters cannot be used.
    DataError
        If the intents that both have are fewer than two, or of fewer than two clusters.

    Examples
    --------
    >>> import langdiff as ld
    >>> table = ld.simulate(500, 3, difficulties=[0.0, 0.1, 0.0], seed=1).surprisals
    >>> total = ld.regression.compare_totals(table, "e2", "e1")
    >>> print(round(total.estimate, 2), round(ld.fit(table).contrast("e2", "e1").estimate, 2))
    0.1 0.1
    """
    table = as_surprisals(surprisals)
    unknown = [name for name in (one, other) if name not in table.editions]
    if unknown:
        raise ConfigError(f"not in this table: {listing(unknown)}; it has {listing(table.editions)}.")
    if one == other:
        raise ConfigError(f"on both sides of the comparison: {one!r}.")
    labels = one_clustering(table, clusters)
    code = None if labels is None else np.asarray(pd.factorize(labels)[0])
    bits = table.bits[[one, other]].to_numpy(dtype=float)
    found = log_total_ratio(bits, 0, 1, code)
    common = ~np.isnan(bits).any(axis=1)
    freedom = float((common.sum() if code is None else len(np.unique(code[common]))) - 1)
    half = float(student.ppf(0.975, freedom)) * found.std_error
    return Contrast(
        name=f"{one} - {other}",
        estimate=found.estimate,
        std_error=found.std_error,
        low=found.estimate - half,
        high=found.estimate + half,
        degrees_of_freedom=freedom,
    )
