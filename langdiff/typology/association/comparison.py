"""Models of relatedness (tree, distance, both or neither): compared, and the levels of a category under them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from langdiff.base.grids import Shown
from langdiff.base.result import Result
from langdiff.base.signature import full_signature
from langdiff.base.types import Booleans, Floats
from langdiff.errors import ConfigError, listing, option
from langdiff.tables.effect_sources import Sources
from langdiff.tables.effects import Effects
from langdiff.tables.rule import f_p
from langdiff.typology.association.correlation import RELATED, Outcome, is_constant
from langdiff.typology.association.related import RelatedFit, describe, fit_related, obstacle, slopes, standard_design
from langdiff.typology.association.relatives import Relatives, Tree, find_relatives
from langdiff.typology.association.sample import (
    Averaging,
    PredictorTable,
    Sample,
    check_names,
    difficulty_table,
    gather,
    hash_sample,
    names_once,
)
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


INDEPENDENT = "independent"
FIGURES: tuple[str, ...] = (
    *(f"{part}_{figure}" for part in ("phylo", "area") for figure in ("share", "low", "high")),
    *("range_km", "log_likelihood", "aic"),
)
KEY = ("predictor", "language_model", "corpus", "model", "n")
COLUMNS: tuple[str, ...] = (*KEY, *FIGURES, "reason")


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class RelatednessComparison(Result):
    """Comparison of models in which related or neighbouring languages have similar difficulties.

    Attributes
    ----------
    models : DataFrame
        One row per language model and model of relatedness: ``predictor`` (those regressed on), ``language_model``,
        ``corpus``, ``model`` (``"independent"``, ``"phylo"``, ``"area"``, ``"phylo+area"``), ``n`` (languages, the same
        for all models of a language model); ``phylo_share`` (Pagel's λ: the share of the variance that
        follows the tree), ``phylo_low`` and ``phylo_high`` (95 % profile-likelihood interval); ``area_share``,
        ``area_low`` and ``area_high`` (share that follows distance); ``range_km`` (distance at which the covariance
        of neighbours has fallen to 1/e); ``log_likelihood`` (restricted); ``aic``, smaller for better models; and
        ``reason``, where a model could not be fitted.
    left_out : str
        Languages that are not in the tree or have no coordinates.
    signature : str
        Settings, to be quoted with the figures.
    """

    printing: ClassVar[Mapping[str, Any]] = {"index": False}

    models: pd.DataFrame
    left_out: str
    signature: str

    def _notes(self) -> Iterator[str]:
        if self.left_out:
            yield self.left_out

    def _table(self) -> pd.DataFrame:
        return format_models(self.models)

    def __repr__(self) -> str:
        """Name the model of the smallest AIC for each language model."""
        known = self.models.dropna(subset=["aic"])
        best = known.loc[known.groupby("language_model", sort=False)["aic"].idxmin()]
        found = ", ".join(f"{row['model']} for {row['language_model']}" for _, row in best.iterrows())
        return f"RelatednessComparison: {len(self.models)} models, smallest AIC: {found or 'none'}"


def compare_relatedness(
    difficulties: Sources,
    predictors: PredictorTable | None = None,
    *,
    edition_info: pd.DataFrame | None = None,
    corpus: str = "",
    tree: Tree | None = None,
    coordinates: pd.DataFrame | None = None,
    only: str | Iterable[str] = (),
    averaging: Averaging = "difficulty",
) -> RelatednessComparison:
    r"""Compare models in which relatives, neighbours, both or neither have similar difficulties.

    .. math:: y = X\beta + u_P + u_A + e, \quad \operatorname{cov}(u_P) = \sigma_P^2 P, \quad
              \operatorname{cov}(u_A) = \sigma_A^2 \exp(-d / \rho), \quad \operatorname{cov}(e) = \sigma^2 I

    Parameters
    ----------
    difficulties : fit, Effects, Series or DataFrame; or a mapping or sequence of them
        Difficulties by edition; see `langdiff.correlate`.
    predictors : Predictors, DataFrame or Series, optional
        Numeric predictors to regress on, together; by default only an intercept is fitted.
    edition_info : DataFrame, optional
        One row per edition with a column ``language``; see `langdiff.correlate`.
    corpus : str
        Name of the corpus in the table.
    tree : Glottolog, LanguageTree, str or Path, optional
        Family tree; see `langdiff.correlate`. Without it, only distance is examined.
    coordinates : DataFrame, optional
        Places of languages; see `langdiff.correlate`. Without any coordinates, only the tree is examined.
    only : str or iterable of str, optional
        Predictors to use; by default all.
    averaging : {"difficulty", "factor"}
        Mean over the editions of a language; see `langdiff.correlate`.

    Returns
    -------
    RelatednessComparison
        Shares of the variance and restricted likelihoods, which are comparable between models of one language model.

    Raises
    ------
    ConfigError
        If there is neither a tree nor coordinates, a predictor is unknown or a category, or `only` is given without
        `predictors`.
    DataError
        If no language is in the tree or has coordinates; or for the reasons given at `langdiff.correlate`.

    Examples
    --------
    >>> from langdiff.datasets import mielke2019
    >>> from langdiff.typology.family_tree import parse_newick
    >>> from langdiff.typology.family_tree import plant
    >>> figures = mielke2019()
    >>> tree = plant([parse_newick("((dan,swe)north,(deu,nld)west)germanic;"), parse_newick("((fra,por),ita)romance;")])
    >>> difficulty, info = figures.difficulties("europarl")["bpe"], figures.edition_info("europarl")
    >>> chosen = info["language"].isin(["dan", "swe", "deu", "nld", "fra", "por", "ita"])
    >>> compare_relatedness(difficulty[chosen], edition_info=info, tree=tree)
    RelatednessComparison: 2 models, smallest AIC: independent for bpe
    """
    bare = predictors is None
    if bare and names_once(only):
        raise ConfigError(
            f"only chooses among predictors, and there are none: give those with {listing(names_once(only))}."
        )
    if predictors is None:
        predictors = pd.DataFrame({"none": 0.0}, index=difficulty_table(difficulties).index)
    sample = gather(
        difficulties, predictors, edition_info=edition_info, corpus=corpus, averaging=averaging, unit="language"
    )
    names = [] if bare else check_names(sample, names_once(only))
    categories = [name for name in names if not is_numeric_dtype(sample.predictors[name])]
    if categories:
        raise ConfigError(
            f"only numbers can be regressed on; {listing(categories)} are categories. Choose by {option('only')}."
        )
    tests, relatives = _available(sample, tree, coordinates, edition_info)
    rows = [row for lm in sample.difficulty for row in compare_models(sample, relatives, str(lm), names, tests)]
    everything = np.ones(len(sample.difficulty), dtype=bool)
    return RelatednessComparison(
        models=pd.DataFrame(rows, columns=list(COLUMNS)),
        left_out=relatives.left_out(RELATED[-1], everything),
        signature=full_signature(
            {
                "relatedness": ",".join(tests),
                "averaging": averaging,
                "relatives": relatives.hash(),
                "data": f"{corpus}#{hash_sample(sample, names)}",
            }
        ),
    )


def _available(
    sample: Sample, tree: Tree | None, coordinates: pd.DataFrame | None, edition_info: pd.DataFrame | None
) -> tuple[tuple[str, ...], Relatives]:
    """Return the models for which there are data, the largest last, and the data."""
    languages = sample.difficulty.index
    if tree is None:
        return ("area",), find_relatives(languages, ["area"], tree, coordinates, edition_info)
    try:
        return RELATED, find_relatives(languages, RELATED, tree, coordinates, edition_info)
    except ConfigError:  # no coordinates anywhere
        return ("phylo",), find_relatives(languages, ["phylo"], tree, coordinates, edition_info)


def compare_models(
    sample: Sample,
    relatives: Relatives,
    lm: str,
    names: Sequence[str],
    tests: Sequence[str],
    min_level: int = 1,
) -> list[dict[str, object]]:
    """Fit the difficulties of a language model with independent residuals, and with those of some tests."""
    values = sample.predictors[list(names)].notna().all(axis=1) & sample.difficulty[lm].notna()
    rows = values.to_numpy(dtype=bool)
    for test in tests:
        rows = rows & relatives.known(test)
    if names and not is_numeric_dtype(sample.predictors[names[0]]):
        rows = kept_levels(sample.predictors[names[0]].where(rows), min_level)[0]
    y = sample.difficulty.loc[rows, lm].to_numpy(dtype=float)
    x = expanded(sample.predictors.loc[rows, list(names)])
    design, reason = (np.ones((len(y), 1)), "") if not names or len(y) < 2 or not x.shape[1] else standard_design(x)
    if not reason and len(y) and is_constant(y):
        reason = "all difficulties are equal"
    found = []
    for model in (INDEPENDENT, *tests):
        phylo, kilometres = relatives.take(model, rows)
        why = reason or obstacle(design, y, phylo)
        figures = dict.fromkeys(FIGURES, np.nan) if why else _figures(design, y, phylo, kilometres)
        key = dict(zip(KEY, (", ".join(names), lm, sample.corpus, model, len(y)), strict=True))
        found.append(key | figures | {"reason": why})
    return found


def _figures(design: Floats, y: Floats, phylo: Floats | None, kilometres: Floats | None) -> dict[str, float]:
    scaled = y / y.std(ddof=1)
    return describe(design, scaled, fit_related(design, scaled, phylo, kilometres))


def shown_models(models: pd.DataFrame) -> list[Shown]:
    """Return the table of models, unless there are none."""
    caption = "Shares of the variance that follow tree and distance"
    return [Shown(format_models(models), "shares", caption, printing={"index": False})] if len(models) else []


def format_models(models: pd.DataFrame) -> pd.DataFrame:
    """Format a table of models for reading: shares with their intervals, likelihoods relative to independence."""
    table = models[[name for name in ("predictor", "language_model", "corpus") if models[name].str.len().any()]].copy()
    table["model"], table["n"] = models["model"], models["n"]
    for part in ("phylo", "area"):
        share, low, high = (models[f"{part}_{figure}"].map("{:.2f}".format) for figure in ("share", "low", "high"))
        table[f"{part} share"] = (share + " (" + low + " to " + high + ")").where(models[f"{part}_share"].notna(), "")
    table["range, km"] = models["range_km"].map("{:.0f}".format).replace("nan", "")
    table["log-likelihood"] = models["log_likelihood"].map("{:.2f}".format).replace("nan", "")
    table["AIC"] = models["aic"].map("{:.2f}".format).replace("nan", "")
    if models["reason"].str.len().any():
        table["reason"] = models["reason"]
    return table
