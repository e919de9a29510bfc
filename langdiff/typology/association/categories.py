"""Whether difficulty differs between categories of a feature: Mood's median test, Kruskal and Wallis's."""

import numpy as np
import pandas as pd
from scipy import stats

from langdiff.errors import listing
from langdiff.typology.association.outcome import Outcome

SYMBOL = {"mood": "chi2", "kruskal": "H"}


def compare_categories(values: pd.Series, categories: pd.Series, test: str) -> Outcome:
    """Test whether values of all categories have one median (Mood) or one distribution (Kruskal–Wallis).

    Parameters
    ----------
    values : Series, shape (n,)
        Difficulties, nats; not all equal.
    categories : Series, shape (n,)
        Category of each value, in the same order; none missing.
    test : str
        ``"mood"``: a chi-squared test of the table *above the grand median or not* × category, values equal
        to the median counted as below (Mood 1950); with two categories Yates's correction is made.
        ``"kruskal"``: Kruskal and Wallis's H, corrected for ties.

    Returns
    -------
    Outcome
        The statistic as estimate, without an interval. Categories with fewer than two languages stay in the
        test, and are named in ``reason``; there is none if all are such.

    Examples
    --------
    >>> values = pd.Series([1.0, 2, 3, 7, 8, 9])
    >>> out = compare_categories(values, pd.Series(list("aaabbb")), "kruskal")
    >>> round(out.estimate, 3), round(out.p, 3)
    (3.857, 0.05)
    """
    groups = {str(name): part.to_numpy(dtype=float) for name, part in values.groupby(categories.array, observed=True)}
    symbol, n = SYMBOL[test], len(values)
    if len(groups) < 2:
        return Outcome(symbol, n, reason=f"one category only: {listing(groups)}")
    if len(groups) == n:
        return Outcome(symbol, n, reason="every category has one language; of numbers, make a column of numbers")
    single = [name for name, members in groups.items() if len(members) < 2]
    reason = f"categories with one language: {listing(single)}" if single else ""
    if test == "kruskal":
        ranks = stats.kruskal(*groups.values())
        return Outcome(symbol, n, estimate=float(ranks.statistic), p=float(ranks.pvalue), reason=reason)
    if not (values > np.median(values)).any():
        return Outcome(symbol, n, reason="no difficulty is above the median: too many are equal")
    medians = stats.median_test(*groups.values())
    return Outcome(symbol, n, estimate=float(medians.statistic), p=float(medians.pvalue), reason=reason)


def category_means(values: pd.Series, categories: pd.Series) -> pd.DataFrame:
    """Return n, mean and sample standard deviation of each category (Mielke et al. 2019, Table 2).

    Parameters
    ----------
    values : Series, shape (n,)
        Difficulties, nats.
    categories : Series, shape (n,)
        Their categories, in the same order; none missing.

    Returns
    -------
    DataFrame
        Indexed by ``category``, in their order: ``n``, ``mean`` and ``sd`` in nats; sd NaN for one language.

    Examples
    --------
    >>> category_means(pd.Series([1.0, 3, 5]), pd.Series(["SVO", "SVO", "SOV"]))
              n  mean        sd
    category
    SOV       1   5.0       NaN
    SVO       2   2.0  1.414214
    """
    grouped = values.groupby(categories.array, observed=True)
    table = pd.DataFrame({"n": grouped.size(), "mean": grouped.mean(), "sd": grouped.std(ddof=1)})
    return table.rename_axis("category")
