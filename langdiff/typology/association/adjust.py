"""Benjamini and Hochberg's procedure over all tests that one conclusion rests on."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from langdiff.base.signature import name_of_number
from langdiff.base.types import Booleans, Floats
from langdiff.errors import ConfigError, DataError
from langdiff.typology.association.result import Correlations


def benjamini_hochberg(p: Floats, alpha: float = 0.05) -> tuple[Floats, Booleans]:
    r"""Adjust p-values so that rejecting those up to `alpha` keeps the false discovery rate at `alpha`.

    .. math:: \tilde p_{(i)} = \min\Bigl(1, \min_{j \ge i} \frac{m}{j}\, p_{(j)}\Bigr)

    for the m values that are not NaN, sorted (Benjamini and Hochberg 1995). NaN stays NaN and is not counted.

    Parameters
    ----------
    p : ndarray, shape (N,)
        The p-values, between 0 and 1, or NaN.
    alpha : float
        False discovery rate, between 0 and 1.

    Returns
    -------
    p_adjusted : ndarray, shape (N,)
        Adjusted p-values.
    significant : ndarray of bool, shape (N,)
        Whether each hypothesis is rejected.

    Raises
    ------
    ConfigError
        If alpha is out of range.
    DataError
        If a p-value is out of range.

    Examples
    --------
    >>> benjamini_hochberg(np.array([0.01, 0.04, np.nan, 0.03]))
    (array([0.03, 0.04,  nan, 0.04]), array([ True,  True, False,  True]))
    """
    from statsmodels.stats.multitest import multipletests

    if not 0 < alpha < 1:
        raise ConfigError(f"alpha={alpha!r} must lie between 0 and 1.")
    p = np.asarray(p, dtype=float)
    known = ~np.isnan(p)
    if not ((p[known] >= 0) & (p[known] <= 1)).all():
        raise DataError(f"p-values must lie between 0 and 1; got {p[known].min():g} to {p[known].max():g}.")
    adjusted: Floats = np.full(len(p), np.nan)
    rejected: Booleans = np.zeros(len(p), dtype=bool)
    if known.any():
        rejected[known], adjusted[known] = multipletests(p[known], alpha=alpha, method="fdr_bh")[:2]
    return adjusted, rejected


def adjust(results: Iterable[Correlations], *, alpha: float = 0.05) -> Correlations:
    """Adjust the tests of several calls of `correlate` together, as one family.

    Two corpora or language models that are examined together make one family of tests, so their p-values
    must be adjusted together before any is called significant.

    Parameters
    ----------
    results : iterable of Correlations
        Results of any number of calls of `langdiff.correlate`.
    alpha : float
        False discovery rate.

    Returns
    -------
    Correlations
        All tests, in order, with ``p_adjusted`` and ``significant`` computed over all of them.

    Raises
    ------
    ConfigError
        If there is nothing to adjust, or alpha is out of range.
    DataError
        If a test occurs twice.

    Examples
    --------
    >>> from langdiff.datasets import mielke2019
    >>> from langdiff.typology import correlate
    >>> figures = mielke2019()
    >>> chinese = "cmn-sf_ncv-zefania"  # has no spaces to count words by
    >>> adjust(
    ...     correlate(
    ...         figures.difficulties(corpus)[["bpe", "char"]].drop(chinese, errors="ignore"),
    ...         figures.predictors(corpus),
    ...         edition_info=figures.edition_info(corpus),
    ...         corpus=corpus,
    ...         tests=["pearson"],
    ...     )
    ...     for corpus in ("europarl", "bibles")
    ... )
    Correlations: 32 tests (europarl, bibles), 8 significant at false discovery rate 0.05
    """
    results = list(results)
    if not results:
        raise ConfigError("there are no results to adjust.")
    tests = pd.concat([result.tests for result in results], ignore_index=True)
    key = ["predictor", "language_model", "corpus", "test", "given"]
    twice = tests[tests.duplicated(key)]
    if len(twice):
        first = "; ".join(" ".join(filter(None, map(str, row))) for row in twice[key].head(5).itertuples(index=False))
        raise DataError(f"{len(twice)} test(s) are in the family twice: {first}. Give each call its own corpus name.")
    tests["p_adjusted"], tests["significant"] = benjamini_hochberg(tests["p"].to_numpy(), alpha)
    return Correlations(
        tests=tests,
        samples=tuple({id(s): s for result in results for s in result.samples}.values()),
        relatedness=pd.concat([result.relatedness for result in results], ignore_index=True),
        alpha=alpha,
        signature=f"{' + '.join(result.signature for result in results)}|adjusted:{name_of_number(alpha)}",
    )
