r"""Differences of difficulties between language models that scored the same intents.

Both fits have errors from the same intents, of which much cancels in a difference. With the influences
:math:`\psi^A_g, \psi^B_g` of cluster g on the normalized difficulties (`langdiff.regression.fitting.influence`), the
covariance of the differences is

.. math:: V = \sum_g (\psi^A_g - \psi^B_g)(\psi^A_g - \psi^B_g)^\top
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import t as student

from langdiff import __version__
from langdiff.base.result import Drawn, Result
from langdiff.base.signature import join_signature
from langdiff.errors import ConfigError
from langdiff.regression.check.joint_fits import common_cells, fit_audited
from langdiff.regression.clustering import AnyClusters, independent_units, name_of_clusters, one_clustering
from langdiff.regression.fitting.errors import Sandwich
from langdiff.regression.fitting.fixed import Settings
from langdiff.regression.table import identify_table, named_tables
from langdiff.regression.variants import Model, find_variant
from langdiff.regression.variants.variant import Variant
from langdiff.tables.contrasts import Contrast
from langdiff.tables.effects import Effects
from langdiff.tables.long_tables import LongTable
from langdiff.tables.surprisals import Surprisals


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class LmComparison(Result):
    r"""Differences between the difficulties by a first language model and those by others, on the same cells.

    Attributes
    ----------
    lms : tuple of str
        Names of the language models; the first is compared with each of the others.
    by_lm : dict from str to Effects
        For each other language model, :math:`\delta_j(\mathrm{first}) - \delta_j(\mathrm{other})` in nats, with the
        joint covariance: positive where an edition, relative to the average one, is harder for the first.
    levels : dict from str to Contrast
        For each other language model, the logarithm of the total bits of the first less that of the other, nats.
    ratio : dict from str to float
        Median, over pairs of editions, of the standard error that independent tables would give over the one here.
    model : str
        Regression model.
    dispersion : {"common", "edition"}
        Whether editions share a dispersion; ``"edition"`` if the noise differs in one of the tables.
    clusters : str
        Name of what was taken to be independent: ``"intent"``, or the clusters of intents.
    n_clusters, n_intents, cells : int
        Numbers of clusters, and of the intents and cells that all tables have.
    left_out : dict from str to int
        Numbers of ``intents``, ``editions`` and ``cells`` that only some of the tables have.
    converged : bool
        Whether all fits converged.
    signature : str
        Everything the numbers depend on.

    Examples
    --------
    >>> import langdiff as ld
    >>> bits = ld.simulate(200, 3, seed=1).surprisals.bits
    >>> found = ld.compare_lms({"A": bits, "B": bits**0.98})
    >>> found
    LmComparison: A against B, 200 intents × 3 editions, model 2
    >>> found.effects.contrast("e1", "e2").name
    'e1 - e2'
    """

    lms: tuple[str, ...]
    by_lm: dict[str, Effects]
    levels: dict[str, Contrast]
    ratio: dict[str, float]
    model: str
    dispersion: Literal["common", "edition"]
    clusters: str
    n_clusters: int
    n_intents: int
    cells: int
    left_out: dict[str, int]
    converged: bool
    signature: str

    printing: ClassVar[Mapping[str, Any]] = {"index": False}

    plot = Drawn("plot_lm_differences")

    @property
    def effects(self) -> Effects:
        """The differences between two language models, as contrasts, ranks, tests and plots take them.

        Raises
        ------
        ConfigError
            If more than two were compared.
        """
        return self.by_lm[self._only]

    @property
    def level(self) -> Contrast:
        """Logarithm of the ratio of the total bits of two language models.

        Raises
        ------
        ConfigError
            If more than two were compared.
        """
        return self.levels[self._only]

    @property
    def _only(self) -> str:
        if len(self.by_lm) > 1:
            raise ConfigError(
                f"{self.lms[0]!r} is compared with {len(self.by_lm)} language models: choose one, such as "
                f"by_lm[{self.lms[1]!r}] or levels[{self.lms[1]!r}]."
            )
        return self.lms[1]

    def to_frame(self) -> pd.DataFrame:
        """Return one row per edition and other language model, the largest difference first.

        Returns
        -------
        DataFrame
            ``edition``; ``against``, the other language model; ``difference``, the difficulty by the first language
            model less that by the other, ``std_error``, ``low`` and ``high`` (95 % interval), nats; ``percent`` =
            100·(exp(difference) − 1), ``percent_low`` and ``percent_high``; ``df``, degrees of freedom; ``p``, of no
            difference.
        """
        tables = []
        for name, effects in self.by_lm.items():
            table = effects.to_frame().rename_axis("edition").reset_index()
            table["against"] = name
            freedom = np.broadcast_to(np.asarray(effects.degrees_of_freedom, dtype=float), effects.covariance.shape)
            table["df"] = pd.Series(np.diag(freedom), effects.estimate.index).loc[table["edition"]].to_numpy()
            with np.errstate(divide="ignore", invalid="ignore"):
                t = (table["difference"] / table["std_error"]).abs()
            table["p"] = 2 * student.sf(t, table["df"])
            tables.append(table)
        columns = ["edition", "against", "difference", "std_error", "low", "high"]
        columns += ["percent", "percent_low", "percent_high", "df", "p"]
        return pd.concat(tables, ignore_index=True)[columns]

    def _lines(self) -> Iterator[str]:
        yield repr(self)
        of = "intents" if self.clusters == "intent" else f"clusters by {self.clusters}"
        own = ", a dispersion for each edition since the noise differs" if self.dispersion == "edition" else ""
        yield f"{self.cells:,} cells that all tables have; errors from a sandwich over {self.n_clusters:,} {of}{own}"
        left = [f"{count:,} {what}" for what, count in self.left_out.items() if count]
        yield f"left out, since not all tables have them: {', '.join(left)}" if left else "nothing was left out"

    def _notes(self) -> Iterator[str]:
        for name in self.lms[1:]:
            level = self.levels[name]
            yield (
                f"bits of all cells, {level.name}: {level.estimate:+.4f} ± {level.std_error:.4f} nats "
                f"({level.scale.read(level.estimate)}), 95 % interval {level.low:.4f} to {level.high:.4f}"
            )
            yield f"as if independent of {name}, errors of pairs would be {self.ratio[name]:.2f} times as long"

    def __repr__(self) -> str:
        """Return which language models were compared, on what, by which model."""
        state = "" if self.converged else ", NOT CONVERGED"
        editions = len(self.by_lm[self.lms[1]].estimate)
        return (
            f"LmComparison: {self.lms[0]} against {', '.join(self.lms[1:])}, {self.n_intents:,} intents × "
            f"{editions} editions, model {self.model}{state}"
        )


def compare_lms(
    surprisals_by_lm: Mapping[str, Surprisals | LongTable | npt.NDArray[np.floating]],
    *,
    model: Model | Variant = "2",
    clusters: AnyClusters | None = "auto",
) -> LmComparison:
    r"""Compare the difficulties by language models that scored the same intents.

    Difficulties by two language models have errors from the same intents, so that the standard error of a difference
    between them is not the root of the sum of their squares, but often much less. Here the first language model is
    compared with every other, by fits to the cells that all tables have. Where the noise of editions differs in one of
    the tables, all fits have dispersions of editions.

    Parameters
    ----------
    surprisals_by_lm : mapping from name to Surprisals, DataFrame or array, shape (I, J)
        Bits of intent i in edition j by each language model; NaN where missing. Intents and editions are matched by
        name.
    model : {"1", "2", "2L", "2C"} or Variant
        Regression model; see `langdiff.fit`.
    clusters : "auto", str, mapping, Series, DifficultyFit or None
        Intents that share errors, of one kind; see `langdiff.fit`. By default they are found in the first table with
        attributes of intents, or in verse ids and names, but not by the order of rows; those of a fit are its
        ``clusters=fit``. None takes intents to be independent.

    Returns
    -------
    LmComparison
        Differences of difficulties with their joint covariance, and the ratio of all bits.

    Raises
    ------
    ConfigError
        If there are fewer than two tables, or the model or the clusters cannot be used.
    DataError
        If fewer than 2 editions or 20 intents are in all tables, two tables have the same bits, or the cells that all
        have cannot be fitted.

    Warns
    -----
    ConvergenceWarning
        If a fit stopped before its criterion was met.
    LangdiffWarning
        If errors come from few clusters.

    Notes
    -----
    The covariance is that of the influences (CR2) of clusters on both fits. Degrees of freedom are the fewer of the
    two fits'. The errors are those of other intents, not of other training runs: with several seeds of each language
    model see `langdiff.replicate`.

    References
    ----------
    Bell and McCaffrey (2002), "Bias reduction in standard errors for linear regression with multi-stage samples".

    Examples
    --------
    >>> import langdiff as ld
    >>> bits = ld.simulate(300, 3, seed=1).surprisals.bits
    >>> better = bits * [0.9, 0.8, 0.9] * np.random.default_rng(0).lognormal(0, 0.02, bits.shape)
    >>> found = compare_lms({"plain": bits, "better": better})
    >>> found.to_frame()[["edition", "percent"]].round(1).values.tolist()
    [['e2', 8.1], ['e1', -3.6], ['e3', -3.9]]
    >>> print(found.effects.contrast("e2", "e1"))
    e2 - e1: 0.1142 ± 0.0017 nats (+12.1 %), 95 % interval 0.1107 to 0.1176, p = 2.6e-150
    """
    tables = named_tables(surprisals_by_lm)
    if len(tables) < 2:
        raise ConfigError(f"a comparison needs at least two language models, got {len(tables)}.")
    variant = find_variant(model)
    Sandwich().check(Settings(variant), clustered=clusters is not None)
    common, left_out = common_cells(tables)
    first, *others = common
    table = common[first]
    labels = one_clustering(table, clusters)
    fits = fit_audited(common, variant, independent_units(table.intents, table.intent_info, labels))
    cells = int(table.bits.notna().to_numpy().sum())
    parts = {
        "compare_lms": ",".join(common),
        "model": variant.name,
        **variant.signature(),
        "restricted": fits.restricted,
        "dispersion": None if fits.dispersion == "common" else fits.dispersion,
        "clusters": None if labels is None else name_of_clusters(labels),
        "bits": ",".join(str(identify_table(each)["bits"]) for each in common.values()),
        "cells": cells,
        "intents": len(table.intents),
        "editions": len(table.editions),
        "version": __version__,
    }
    signature = join_signature(parts)
    return LmComparison(
        lms=tuple(common),
        by_lm={other: fits.difference(first, other, signature) for other in others},
        levels={other: _level(common, (first, other), labels) for other in others},
        ratio={other: fits.ratio(first, other) for other in others},
        model=variant.name,
        dispersion=fits.dispersion,
        clusters="intent" if labels is None else str(labels.name),
        n_clusters=len(table.intents) if labels is None else int(labels.nunique()),
        n_intents=len(table.intents),
        cells=cells,
        left_out=left_out,
        converged=fits.converged,
        signature=signature,
    )


def _level(tables: Mapping[str, Surprisals], pair: tuple[str, str], labels: pd.Series | None) -> Contrast:
    """Return the logarithm of the ratio of the bits of all cells by two language models."""
    totals = [tables[name].bits.sum(axis=1).to_numpy() for name in pair]  # of intents
    code = np.arange(len(totals[0])) if labels is None else pd.factorize(labels)[0]
    apart = np.bincount(code, totals[0] / totals[0].sum() - totals[1] / totals[1].sum())
    n_clusters, estimate = len(apart), float(np.log(totals[0].sum() / totals[1].sum()))
    std_error = float(np.sqrt(n_clusters / (n_clusters - 1) * np.sum(apart**2)))
    half = float(student.ppf(0.975, n_clusters - 1)) * std_error
    return Contrast(
        name=" - ".join(pair),
        estimate=estimate,
        std_error=std_error,
        low=estimate - half,
        high=estimate + half,
        degrees_of_freedom=float(n_clusters - 1),
    )
