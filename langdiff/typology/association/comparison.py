"""Comparison of models of relatedness (tree, distance, both or neither) by restricted likelihood."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from langdiff import __version__
from langdiff.base.grids import Shown
from langdiff.base.result import Result
from langdiff.base.signature import join_signature
from langdiff.base.types import Floats
from langdiff.errors import ConfigError, listing, option
from langdiff.tables.effect_sources import Sources
from langdiff.typology.association.correlation import RELATED, is_constant
from langdiff.typology.association.levels import expanded, kept_levels
from langdiff.typology.association.related import describe, fit_related, obstacle, standard_design
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
        signature=join_signature(
            {
                "relatedness": ",".join(tests),
                "averaging": averaging,
                "relatives": relatives.hash(),
                "data": f"{corpus}#{hash_sample(sample, names)}",
                "version": __version__,
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
