"""Differences of difficulties between the language models of several folds."""

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from langdiff.base.result import Drawn, Result
from langdiff.base.types import Floats, Integers, check_resamples, generator
from langdiff.errors import ConfigError, DataError, LangdiffWarning, warn
from langdiff.regression.check.held_out import standardized_residuals
from langdiff.regression.clustering import AnyClusters, OneClustering, one_clustering
from langdiff.regression.fitting.fit import fit
from langdiff.regression.kernel.clusters import sums_by_cluster
from langdiff.regression.result import DifficultyFit
from langdiff.regression.table import as_surprisals
from langdiff.tables.effects import Effects
from langdiff.tables.intent_info import label_intents
from langdiff.tables.rule import drawn_p
from langdiff.tables.surprisals import Surprisals
from langdiff.tables.units import nested

AT_A_TIME = 100  # permutations


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class FoldComparison(Result):
    r"""Difficulties in each fold, whose intents other models scored.

    Attributes
    ----------
    overall : DifficultyFit
        Fit of all intents.
    by_fold, std_errors : DataFrame, shape (J, F)
        Difficulties from the intents of each fold and their standard errors over samples of intents (or clusters),
        nats.
    p_values : Series, shape (J,)
        Probability that an edition's residuals would differ as much between folds whose models do not differ.
    p_value : float
        The same for all editions together.
    n_permutations : int
        Number of permutations that these are from.
    model_sd : float
        Standard deviation of a difficulty between the models of folds, beyond what intents explain, nats; pooled over
        editions. It is the root of

        .. math:: \frac{1}{J-1}\Bigl(\frac{\sum_f |\delta_f - \bar\delta|^2}{F-1}
                  - \frac{\sum_f \mathrm{tr}\,C_f}{F}\Bigr)

        with the difficulties of fold f relative to their mean and their covariance C, or 0 if that is negative.
    """

    overall: DifficultyFit
    by_fold: pd.DataFrame
    std_errors: pd.DataFrame
    p_values: pd.Series
    p_value: float
    n_permutations: int
    model_sd: float

    plot = Drawn("plot_line_follow", lambda comparison: comparison.by_fold.rename(columns="fold {}".format))

    @property
    def effects(self) -> Effects:
        r"""Difficulties from all intents, with errors of intents and of models.

        To the covariance of `overall` is added that of models whose difficulties have the standard deviation s of
        `model_sd`, :math:`\frac{s^2}{F} (I - 11^\top / J)`.
        """
        fitted, editions = self.overall.effects, len(self.by_fold)
        of_models = self.model_sd**2 / self.by_fold.shape[1] * (np.eye(editions) - 1 / editions)
        freedom, reference = fitted.degrees_of_freedom, fitted.reference
        return Effects.from_covariance(
            fitted.estimate,
            fitted.covariance + of_models,
            freedom,
            shape=None if reference is None or isinstance(freedom, float) else reference + of_models,
            scale=fitted.scale,
            converged=fitted.converged,
            title=f"{fitted.title}, errors of models too",
            signature=f"{fitted.signature}|fold-models:{self.by_fold.shape[1]}",
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row per edition, hardest first.

        Returns
        -------
        DataFrame
            Indexed by edition: ``difficulty`` from all intents, its ``std_error``, and ``total_std_error``, which
            allows for models, too (`effects`); ``fold_sd``, the standard deviation between folds of the difficulty from
            one fold, and ``expected_sd``, what the standard errors of the folds let one expect; all in nats; and
            ``p_value``.
        """
        columns = {
            "difficulty": self.overall.difficulty,
            "std_error": self.overall.std_error,
            "total_std_error": self.effects.std_error,
            "fold_sd": self.by_fold.std(axis=1, ddof=1),
            "expected_sd": np.sqrt((self.std_errors**2).mean(axis=1)),
            "p_value": self.p_values,
        }
        return pd.DataFrame(columns).rename_axis("edition").sort_values("difficulty", ascending=False)

    def _lines(self) -> Iterator[str]:
        yield (
            f"Difficulties in {self.by_fold.shape[1]} folds, nats: model {self.overall.model}, errors from "
            f"{self.overall.errors.words}"
        )

    def _notes(self) -> Iterator[str]:
        yield f"Standard deviation between the models of folds beyond what intents explain: {self.model_sd:.4f}"
        yield f"Test that the models of all folds agree: p = {self.p_value:.3f} ({self.n_permutations:,} permutations)"
        yield f"[{self.overall.signature}]"

    def __repr__(self) -> str:
        """Return the spread and the test."""
        return (
            f"FoldComparison: {self.by_fold.shape[1]} folds × {len(self.by_fold)} editions, standard deviation between "
            f"models {self.model_sd:.4f} nats, p = {self.p_value:.3f}"
        )


def compare_folds(
    surprisals: Surprisals,
    *,
    folds: OneClustering = "fold",
    clusters: AnyClusters | None = "auto",
    n_permutations: int = 999,
    seed: int | np.random.Generator = 0,
    **fit_settings: Any,
) -> FoldComparison:
    r"""Compare the difficulties in each fold of a table whose folds were scored by different models.

    The intents of each fold are fitted by themselves. The test is about the residuals r of the fit of all intents, in
    which folds share the difficulties: with the sums of the clusters c permuted among folds, its statistic is

    .. math:: \sum_{jf} \Bigl(\sum_{c \in f} \sum_{i \in c} r_{ij}\Bigr)^2 / N_{jf}

    where N is the number of cells of edition j in fold f.

    Parameters
    ----------
    surprisals : Surprisals
        Table of `langdiff.compute_surprisals` with folds.
    folds : str, mapping or Series
        Fold of each intent: a column of `Surprisals.intent_info`, or the folds.
    clusters : "auto", str, mapping, Series, DifficultyFit or None
        Intents that share errors, such as ``"document"``, none of them in two folds; see `langdiff.fit`. By
        default those found of which every fold has several, or else each intent is by itself.
    n_permutations : int
        Number of permutations of the test.
    seed : int or numpy.random.Generator
        Seed of the permutations.
    **fit_settings
        Settings of `langdiff.fit`, such as ``model="1"``; not ``groups`` or ``formula``, which tie difficulties.

    Returns
    -------
    FoldComparison
        Difficulties in each fold, their spread beyond what intents explain, and the test.

    Raises
    ------
    ConfigError
        If a setting ties difficulties, is out of range, or there is no such column.
    DataError
        If there are fewer than two folds or editions, a cluster is in several folds, or a fold cannot be fitted.

    Warns
    -----
    LangdiffWarning
        As `langdiff.fit`, of the fit of all intents or, once for all folds, of those of single folds.

    Notes
    -----
    Where folds take turns along the text, as those of `langdiff.split_into_folds`, they are more alike than folds of
    randomly chosen documents: the test then errs on the safe side. Models of different folds share most of their
    training text, and what that text makes all of them do is not seen between them.

    Examples
    --------
    >>> import langdiff as ld
    >>> table = ld.simulate(500, 4, seed=2).surprisals
    >>> fold = pd.Series(np.arange(500) % 5, index=table.intents)
    >>> found = compare_folds(table, folds=fold, seed=1)
    >>> found
    FoldComparison: 5 folds × 4 editions, standard deviation between models 0.0000 nats, p = 0.362
    >>> moved = table.bits.copy()
    >>> moved.loc[fold == 3, "e2"] *= 1.05
    >>> bool(compare_folds(ld.Surprisals(bits=moved), folds=fold, seed=1).p_values["e2"] < 0.01)
    True
    """
    tying = [name for name in ("groups", "formula") if fit_settings.get(name) is not None]
    if tying:
        raise ConfigError(f"compare_folds cannot take {' and '.join(tying)}: each edition needs its own difficulty.")
    check_resamples("n_permutations", n_permutations)
    rng = generator(seed, "permutations")
    table = as_surprisals(surprisals)
    fold = label_intents(table.intents, table.intent_info, folds, "folds")
    names = list(dict.fromkeys(fold))
    if len(names) < 2 or len(table.editions) < 2:
        raise DataError(
            f"{len(names)} fold(s) and {len(table.editions)} edition(s): two of each are needed to compare anything."
        )
    labels = one_clustering(table, clusters, usable=partial(_divide, fold))
    cluster = _clusters_within(fold, labels)
    settings = {"clusters": None if labels is None else cluster} | fit_settings
    overall, fits = _fit_all(table, fold, settings)
    observed, permuted = _permute(
        np.nan_to_num(standardized_residuals(overall, table).to_numpy()),
        table.bits.notna().to_numpy().astype(float),
        pd.factorize(cluster)[0],
        pd.factorize(fold)[0],
        n_permutations,
        rng,
    )
    reached = (permuted >= observed * (1 - 1e-12)).sum(axis=0)
    together = int((permuted.sum(axis=1) >= observed.sum() * (1 - 1e-12)).sum())
    return FoldComparison(
        overall=overall,
        by_fold=pd.DataFrame({name: found.difficulty for name, found in fits.items()}, index=table.editions),
        std_errors=pd.DataFrame({name: found.std_error for name, found in fits.items()}, index=table.editions),
        p_values=pd.Series(drawn_p(reached, n_permutations), index=table.editions),
        p_value=float(drawn_p(together, n_permutations)),
        n_permutations=n_permutations,
        model_sd=_model_sd(list(fits.values())),
    )


def _fit_all(
    table: Surprisals, fold: pd.Series, settings: dict[str, Any]
) -> tuple[DifficultyFit, dict[object, DifficultyFit]]:
    """Fit all intents, and each fold by itself.

    Warnings are given at the line that called `compare_folds`, those of several folds that differ in figures once.
    """
    overall, caught = _fit(table, settings)
    fits, of_folds = {}, []
    for name in dict.fromkeys(fold):
        fits[name], more = _fit(table.sel(intents=fold.index[fold == name]), settings)
        of_folds += more
    kinds: dict[str, tuple[str, type[Warning]]] = {}
    for prefix, found in (("", caught), ("in single folds: ", of_folds)):
        for warning in found:
            text = f"{prefix}{warning.message}"
            kinds.setdefault(re.sub("[0-9][0-9.,]*", "#", text), (text, warning.category))
    for text, category in kinds.values():
        warn(text, category)
    return overall, fits


def _fit(table: Surprisals, settings: dict[str, Any]) -> tuple[DifficultyFit, list[warnings.WarningMessage]]:
    """Return a fit and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", LangdiffWarning)
        given = dict(settings)
        if given.get("dispersion", "auto") == "auto":
            given["dispersion"] = "common"  # the same for all folds
        return fit(table, **given), caught


def _model_sd(fits: list[DifficultyFit]) -> float:
    """Return the standard deviation between language models, as `FoldComparison` defines it."""
    editions = len(fits[0].difficulty)
    centring = np.eye(editions) - 1 / editions
    centred = np.array([centring @ found.difficulty.to_numpy() for found in fits])  # (F, J)
    expected = np.mean([np.trace(centring @ found.covariance.to_numpy() @ centring) for found in fits])
    return float(np.sqrt(max(0.0, centred.var(axis=0, ddof=1).sum() - expected) / (editions - 1)))


def _divide(fold: pd.Series, cluster: pd.Series) -> bool:
    """Return whether every fold has several clusters of its own."""
    of_folds = cluster.groupby(fold.to_numpy()).nunique()
    return nested(cluster, fold) and bool((of_folds > 1).all())


def _clusters_within(fold: pd.Series, cluster: pd.Series | None) -> pd.Series:
    """Return the cluster of every intent, each of which must lie in one fold."""
    if cluster is None:
        return pd.Series(np.arange(len(fold)), index=fold.index, name="intent")
    spread = fold.groupby(cluster.to_numpy()).nunique()
    if (spread > 1).any():
        raise DataError(
            f"{int((spread > 1).sum()):,} of {len(spread):,} clusters ({cluster.name}) are in several folds. Divide "
            f"whole clusters into folds: split_into_folds(groups={cluster.name!r})."
        )
    return cluster


def _permute(
    residuals: Floats, cells: Floats, cluster: Integers, fold: Integers, count: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return the statistic of each edition, shape (J,), and its permutations, shape (P, J)."""
    first = np.unique(cluster, return_index=True)[1]
    of_cluster = fold[first]  # (G,)
    sums, counts = (sums_by_cluster(values, cluster) for values in (residuals, cells))  # (G, J)
    observed = _statistic(of_cluster[None], sums, counts)[0]
    blocks = []
    for start in range(0, count, AT_A_TIME):
        labels = rng.permuted(np.tile(of_cluster, (min(AT_A_TIME, count - start), 1)), axis=1)
        blocks.append(_statistic(labels, sums, counts))
    return observed, np.concatenate(blocks)


def _statistic(labels: Integers, sums: Floats, counts: Floats) -> Floats:
    """Return the statistic for each row of labels of clusters, (P, G) → (P, J)."""
    total = np.zeros((len(labels), sums.shape[1]))
    for number in range(int(labels.max()) + 1):
        inside = (labels == number).astype(float)  # (P, G)
        total += (inside @ sums) ** 2 / np.maximum(inside @ counts, 1)
    return total
