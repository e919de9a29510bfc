r"""Outliers: translations that differ in content, found by several language models that agree.

The logarithms are averaged over the language models, of which two-way least squares leaves residuals :math:`e_{ij}`.
They vary more in short intents and in some editions: row i has a variance :math:`s_i^2` and column j a factor
:math:`c_j` of it, each estimated from a few cells only, so that they are drawn towards what all rows or columns have in
common (see `Moderated`). An outlier must not enlarge the variance that it is measured by, so that its row is taken
without it:

.. math:: t_{ij} = \frac{e_{ij}}{\sqrt{c_j h_{ij} \tilde s^2_{(ij)}}}, \quad h_{ij} = (1 - 1/n_i)(1 - 1/n_j)

with :math:`\tilde s^2_{(ij)}` the variance of the row without the cell, drawn towards the prior, and
:math:`d_0 + n_i - 2` degrees of freedom, :math:`n_i` cells in the row and :math:`n_j` in the column. The normal
quantiles u of the p-values of t are tested against Student's t with the scale and the tails that the middle of all |u|
has, so that a few outliers do not decide what is usual. Cells that are found leave the estimates, and all are tested
again.

The true variances are taken to be :math:`d_0 s_0^2` over a chi-square with :math:`d_0` degrees of freedom. The
logarithm of a sample variance with d degrees of freedom then has the variance :math:`\psi'(d/2) + \psi'(d_0/2)`
(trigamma), from which :math:`d_0` follows, and each variance becomes :math:`(d_0 s_0^2 + d s^2) / (d_0 + d)`. See Smyth
(2004), Stat. Appl. Genet. Mol. Biol. 3, section 6.2, and `squeezeVar` in Bioconductor's limma.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import digamma, polygamma
from scipy.stats import false_discovery_control, norm
from scipy.stats import t as student

from langdiff.base.types import ROUNDING, Booleans, Floats
from langdiff.errors import ConfigError, DataError, listing
from langdiff.regression.kernel.two_way import edition_components, solve_two_way
from langdiff.regression.table import named_tables
from langdiff.tables.surprisals import Surprisals

SMALLEST = 1e-5  # of the median: a sample variance of 0 has no logarithm
WIDEST = 1e7  # ψ' of half the degrees of freedom beyond which d₀ is as small as it gets
ALTERNATIONS = 6  # between the variances of rows and those of columns
ROUNDS = 4  # of leaving out what was found
FEWEST_ROWS, FEWEST_COLUMNS = 20, 10
MOST_FREEDOM = 200.0
INNER, OUTER = 0.5, 0.9  # quantiles of |u| that its usual distribution is fitted to


class Moderated(NamedTuple):
    """Variances drawn towards their prior, that prior, and its degrees of freedom, which may be infinite."""

    variances: Floats
    prior: float
    prior_freedom: float

    def moderate(self, variances: Floats, freedom: Floats) -> Floats:
        """Draw further variances towards the prior."""
        if np.isinf(self.prior_freedom):
            return np.full_like(variances, self.prior)
        drawn: Floats = (self.prior_freedom * self.prior + freedom * variances) / (self.prior_freedom + freedom)
        return drawn


def moderate_variances(variances: Floats, freedom: Floats) -> Moderated:
    """Estimate the prior of sample variances and draw them towards it.

    Shapes: variances (n,); freedom (n,).

    Examples
    --------
    >>> found = moderate_variances(np.array([0.5, 1.0, 2.0, 30.0]), np.full(4, 5.0))
    >>> round(found.prior_freedom, 2), round(found.prior, 2)
    (1.44, 1.25)
    """
    known = freedom > 0
    s, d = variances[known], freedom[known]
    s = np.maximum(s, SMALLEST * np.median(s))
    logs = np.log(s) - digamma(d / 2) + np.log(d / 2)
    excess = logs.var(ddof=1) - polygamma(1, d / 2).mean() if len(s) > 1 else 0.0
    if excess > 0:
        prior_freedom = 2 * _inverse_trigamma(min(float(excess), WIDEST))
        prior = float(np.exp(logs.mean() + digamma(prior_freedom / 2) - np.log(prior_freedom / 2)))
    else:
        prior_freedom, prior = np.inf, float(s.mean())
    result = Moderated(variances, prior, prior_freedom)
    return result._replace(variances=result.moderate(variances, freedom))


def _inverse_trigamma(value: float) -> float:
    # 1/x + 1/(2x²) < ψ'(x) < 1/x + 1/x²
    low, high = ((1 + np.sqrt(1 + power * value)) / (2 * value) for power in (2, 4))
    return float(brentq(lambda x: float(polygamma(1, x)) - value, low, high, xtol=1e-14, rtol=1e-14))


def flag_outliers(surprisals_by_lm: Mapping[str, Surprisals], *, q: float = 0.05) -> pd.DataFrame:
    """Test every cell for a translation that needs more or fewer bits than its intent and its edition explain.

    Parameters
    ----------
    surprisals_by_lm : mapping from str to Surprisals, shape (I, J)
        Surprisals of the same cells by two or more language models.
    q : float
        False discovery rate over all cells (Benjamini and Hochberg).

    Returns
    -------
    DataFrame
        One row per cell, the most suspect first: ``intent``, ``edition``; ``percent``, by how many percent it needs
        more (or fewer) bits than expected, on average over the language models; ``score``, that deviation in units of
        what is usual in its intent and edition; ``p``, ``p_adjusted`` and ``flagged``.

    Raises
    ------
    ConfigError
        If there are fewer than two language models or q is not between 0 and 1.
    DataError
        If the tables differ in intents, editions or missing cells, are smaller than 20 intents × 10 editions, have an
        intent without cells or editions that no shared intents link with the others, or most residuals are 0.

    Notes
    -----
    The only cell of its intent has no residual: its score is 0 and its p is 1.

    A cell that is flagged has other bits than expected; whether it is a fault, only a reader of the text can tell. A
    translation of another sentence of the same length is not found.

    Examples
    --------
    >>> import langdiff as ld
    >>> bits = ld.simulate(200, 20, seed=1).surprisals.bits
    >>> bits.iloc[17, 3] *= 8
    >>> noise = np.exp(np.random.default_rng(1).normal(0, 0.03, (2, *bits.shape)))
    >>> found = flag_outliers(
    ...     {"one": ld.Surprisals(bits=bits * noise[0]), "other": ld.Surprisals(bits=bits * noise[1])}
    ... )
    >>> found[["intent", "edition", "flagged"]].iloc[0].tolist() == [bits.index[17], bits.columns[3], True]
    True
    """
    by_lm = named_tables(surprisals_by_lm)
    if len(by_lm) < 2:
        raise ConfigError("give two or more language models: what one alone finds may be its own fault.")
    if not 0 < q < 1:
        raise ConfigError(f"q must be between 0 and 1, got {q!r}.")
    first = next(iter(by_lm.values()))
    _check(by_lm, first)
    logs = [np.log(table.bits.to_numpy()) for table in by_lm.values()]
    for name, z in zip(by_lm, logs, strict=True):
        if np.median(np.abs(solve_two_way(z).residual[~np.isnan(z)])) < ROUNDING:
            raise DataError(f"the residuals of {name!r} vanish in most cells: are the editions copies of one another?")
    residual, score, p = _tested(np.mean(logs, axis=0), q)
    rows, columns = np.nonzero(~np.isnan(score))
    p_adjusted = false_discovery_control(p[rows, columns])
    frame = pd.DataFrame(
        {
            "intent": first.intents[rows],
            "edition": first.editions[columns],
            "percent": 100 * np.expm1(residual[rows, columns]),
            "score": score[rows, columns],
            "p": p[rows, columns],
            "p_adjusted": p_adjusted,
            "flagged": p_adjusted <= q,
        }
    )
    return frame.sort_values("p", kind="stable").reset_index(drop=True)


def _check(by_lm: Mapping[str, Surprisals], first: Surprisals) -> None:
    """Check that all tables have the same cells and that these can be compared."""
    for name, table in by_lm.items():
        alike = table.intents.equals(first.intents) and table.editions.equals(first.editions)
        if not alike or (table.bits.isna() != first.bits.isna()).to_numpy().any():
            raise DataError(f"the table of {name!r} has other intents, editions or missing cells than the first.")
    intents, editions = first.bits.shape
    if intents < FEWEST_ROWS or editions < FEWEST_COLUMNS:
        raise DataError(
            f"{intents} intents × {editions} editions are too few to say what is usual: "
            f"at least {FEWEST_ROWS} intents × {FEWEST_COLUMNS} editions are needed."
        )
    known = first.bits.notna().to_numpy()
    if empty := list(first.intents[np.flatnonzero(~known.any(axis=1))]):
        raise DataError(f"{len(empty)} intent(s) without any surprisal: {listing(empty)}. Leave them out.")
    if apart := list(first.editions[np.flatnonzero(edition_components(known))]):
        raise DataError(
            f"{len(apart)} edition(s) share no intent with the others, directly or by way of further editions: "
            f"{listing(apart)}. Leave them out."
        )


def _tested(z: Floats, q: float) -> tuple[Floats, Floats, Floats]:
    """Return residuals, scores and p-values, (I, J), NaN where missing, with outliers left out of the estimates."""
    found = np.zeros(z.shape, dtype=bool)
    for _ in range(ROUNDS):
        residual, u = _standardized(z, found)
        score, p = _against_usual(u)
        known = ~np.isnan(p)
        now = np.zeros(z.shape, dtype=bool)
        now[known] = false_discovery_control(p[known]) <= q
        kept = known & ~now
        linked = kept.any(axis=1).all() and not edition_components(kept).any()
        if (now == found).all() or not linked:
            break
        found = now
    return residual, score, p


def _standardized(z: Floats, left_out: Booleans) -> tuple[Floats, Floats]:
    """Return residuals and u, both (I, J); u is standard normal if noise is normal and without outliers."""
    fit = solve_two_way(np.where(left_out, np.nan, z))
    residual = z - fit.intent_effect[:, None] - fit.edition_effect
    used = ~np.isnan(z) & ~left_out
    per_row, per_column = used.sum(axis=1, keepdims=True), used.sum(axis=0, keepdims=True)
    # the fit knows a cell that it used, and comes closer to it than to one left out
    sign = np.where(left_out, 1.0, -1.0)
    h = (1 + sign / per_row) * (1 + sign / per_column)
    alone = h <= 0  # the only cell of its row has no residual
    square = residual**2 / np.where(alone, 1.0, h)
    columns = np.ones(z.shape[1])
    for _ in range(ALTERNATIONS):
        rows = moderate_variances(_mean(square / columns, used, 1), per_row.ravel() - 1.0)
        columns = moderate_variances(
            _mean(square / rows.variances[:, None], used, 0), per_column.ravel() - 1.0
        ).variances
        columns /= np.exp(np.log(columns).mean())
    of_rows = _mean(square / columns, used, 1)[:, None]
    freedom = np.where(left_out, per_row - 1.0, np.maximum(per_row - 2.0, 0.0))
    without = (per_row - 1.0) * of_rows - np.where(left_out, 0.0, square / columns)
    variance = rows.moderate(np.maximum(without, 0.0) / np.maximum(freedom, 1.0), freedom)
    t = np.where(alone, 0.0, residual) / np.sqrt(np.where(alone, 1.0, h) * columns * variance)
    p = np.maximum(2 * student.sf(np.abs(t), rows.prior_freedom + freedom), np.finfo(float).tiny)
    return residual, np.sign(t) * norm.isf(p / 2)


def _mean(values: Floats, used: Booleans, axis: int) -> Floats:
    mean: Floats = np.where(used, values, 0.0).sum(axis=axis) / used.sum(axis=axis)
    return mean


def _against_usual(score: Floats) -> tuple[Floats, Floats]:
    """Return scores in units of the usual scale and their p-values, from the middle of their distribution."""
    inner, outer = np.nanquantile(np.abs(score), [INNER, OUTER])

    def excess(freedom: float) -> float:
        usual = np.asarray(student.ppf([(1 + INNER) / 2, (1 + OUTER) / 2], freedom))
        return float(usual[1] / usual[0] - outer / inner)

    if excess(MOST_FREEDOM) >= 0:
        freedom = MOST_FREEDOM
    elif excess(1.0) <= 0:
        freedom = 1.0
    else:
        freedom = float(brentq(excess, 1.0, MOST_FREEDOM))
    units = score / (inner / student.ppf((1 + INNER) / 2, freedom))
    return units, 2 * student.sf(np.abs(units), freedom)
