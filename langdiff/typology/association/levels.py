"""Difficulties of the levels of a category, whose residuals relatives, neighbours or both share."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from langdiff.base.types import Booleans, Floats
from langdiff.errors import ConfigError, listing, option
from langdiff.tables.effects import Effects
from langdiff.tables.rule import f_p
from langdiff.typology.association.correlation import Outcome
from langdiff.typology.association.related import RelatedFit, fit_related, obstacle, slopes, standard_design
from langdiff.typology.association.variance import LARGEST_SHARE

AT_BOUND = "λ at its upper bound: nothing varies beside kinship; see its interval"
MIN_LEVEL = 3  # languages in a level; the level of the test does not need it, but a conclusion about the level does


class Key(NamedTuple):
    """What level means are of: the columns that name a row of `Correlations.tests`."""

    predictor: str
    language_model: str
    corpus: str
    test: str


def kept_levels(categories: pd.Series, min_level: int) -> tuple[Booleans, str]:
    """Return which rows are in levels of enough languages, and a sentence that names the levels left out.

    Examples
    --------
    >>> rows, left_out = kept_levels(pd.Series(list("aaab"), index=["deu", "fra", "spa", "xho"]), 2)
    >>> rows.tolist(), left_out
    ([True, True, True, False], "left out b ('xho')")
    """
    sizes = categories.value_counts()
    small = [level for level in sizes.index if 0 < sizes[level] < min_level]
    rows = (categories.notna() & ~categories.isin(small)).to_numpy(dtype=bool)
    named = [f"{level} ({listing(categories.index[categories == level])})" for level in sorted(map(str, small))]
    return rows, f"left out {', '.join(named)}" if named else ""


def dummies(categories: pd.Series, reference: str | None = None) -> pd.DataFrame:
    """Return treatment coding: one column per level but the reference, by default the most frequent level.

    Examples
    --------
    >>> dummies(pd.Series(["SVO", "SOV", "SVO"])).to_numpy().T.tolist()
    [[0.0, 1.0, 0.0]]
    """
    coded = pd.get_dummies(categories.astype(str), dtype=float)
    if reference is not None and reference not in coded:
        raise ConfigError(f"{option('reference', reference)}: no such level; there are {listing(coded.columns, 12)}.")
    return coded.drop(columns=str(coded.sum().idxmax()) if reference is None else reference)


def expanded(frame: pd.DataFrame) -> Floats:
    """Return numbers as they are and categories by treatment coding, side by side, shape (n, k)."""
    columns = [
        frame[[name]].to_numpy(dtype=float) if is_numeric_dtype(frame[name]) else dummies(frame[name]).to_numpy()
        for name in frame
    ]
    return np.column_stack(columns) if columns else np.zeros((len(frame), 0))


def compare_levels(
    categories: pd.Series,
    y: Floats,
    phylo: Floats | None,
    kilometres: Floats | None,
    *,
    given: Floats | None = None,
    title: str = "",
) -> tuple[Outcome, Effects | None]:
    r"""Test whether the levels of a category have one mean, by generalized least squares with REML and an F test.

    .. math:: y = Z\mu + u_P + u_A + e

    with one column of Z per level, as `langdiff.typology.association.related.fit_related` has it for slopes. The
    contrasts are each level less the last by name, on which the denominator's degrees of freedom depend a little.

    Shapes: categories (n,); y (n,); phylo, kilometres (n, n); given (n, k).

    Examples
    --------
    >>> tree = np.kron(np.eye(10), np.full((3, 3), 0.8)) + 0.2 * np.eye(30)  # ten families of three languages
    >>> rng = np.random.default_rng(0)
    >>> order = pd.Series(rng.choice(["SOV", "SVO"], 30))
    >>> y = 0.3 * (order == "SOV") + 0.1 * np.linalg.cholesky(tree) @ rng.normal(size=30)
    >>> outcome, levels = compare_levels(order, y.to_numpy(), tree, None)
    >>> outcome.p < 0.001, round(levels.contrast("SOV", "SVO").estimate, 1)
    (True, 0.3)
    """
    n, scale = len(y), float(y.std(ddof=1))
    coded = pd.get_dummies(categories.astype(str), dtype=float)
    names, design = coded.columns.astype(str), coded.to_numpy()
    if len(names) < 2:
        return Outcome("F", n, reason=f"one level only: {listing(names)}"), None
    if given is not None:
        held, reason = standard_design(given)
        if reason:
            return Outcome("F", n, reason="what is held fixed is constant or determines itself"), None
        design = np.column_stack([design, held[:, 1:]])
    if np.linalg.matrix_rank(design) < design.shape[1]:
        return Outcome("F", n, reason="what is held fixed determines the predictor"), None
    if reason := obstacle(design, y, phylo):
        return Outcome("F", n, reason=reason), None
    fit = fit_related(design, y / scale, phylo, kilometres)
    found, each = slopes(design, y / scale, fit, zeros=False), np.eye(design.shape[1])[: len(names)]
    statistic, df, df_residual = found.wald(each[:-1] - each[-1])
    outcome = Outcome(
        statistic="F",
        n=n,
        estimate=statistic,
        p=f_p(statistic, df, df_residual),
        df=df,
        df_residual=df_residual,
    )
    degrees = np.diag(found.freedom(each))
    for i in range(len(names)):
        others = np.arange(len(names)) != i
        degrees[i, others] = found.freedom(each[i] - each[others])
    index = pd.Index(names, name="level")
    covariance = pd.DataFrame(found.covariance[: len(names), : len(names)] * scale**2, index, index)
    levels = Effects.from_covariance(
        pd.Series(found.estimate[: len(names)] * scale, index),
        covariance,
        pd.DataFrame(degrees, index, index),
        shape=covariance,
        title=title,
    )
    return with_shares(outcome, fit), levels


def with_shares(outcome: Outcome, fit: RelatedFit) -> Outcome:
    """Return an outcome with the shares of the variance that follow tree and distance, and a note at the bound."""
    shares = outcome._replace(phylo_share=fit.share("phylo"), area_share=fit.share("area"))
    at_bound = shares.phylo_share >= LARGEST_SHARE - 1e-7
    return shares._replace(reason="; ".join(filter(None, [outcome.reason, AT_BOUND if at_bound else ""])))
