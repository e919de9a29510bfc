r"""How many intents a difference of difficulties takes, before a corpus is collected or language models are trained.

With D documents of m intents, R seeds of every language model and J editions, the variance of an estimated difference
of two difficulties is

.. math:: SE^2 = \frac{v\,(1 + (m - 1)\rho)}{D m} + \frac{2b}{R}

with v the variance that one intent gives, twice that of the noise of a cell, :math:`\rho` the correlation of intents
of one document and b the variance of a difficulty between seeds. A true difference of x percent is
:math:`\delta = \ln(1 + x/100)`; `langdiff.regression.components.numbers` gives the power from these.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np
import pandas as pd

from langdiff.base.result import Drawn, Result
from langdiff.base.types import ROUNDING
from langdiff.errors import ConfigError, option
from langdiff.regression.clustering import Clusters, one_clustering
from langdiff.regression.components.numbers import (
    Setting,
    check_ranges,
    fewest_documents,
    fewest_seeds,
    mean_size,
    power_of,
)
from langdiff.regression.fitting.errors import Sandwich
from langdiff.regression.fitting.fit import fit
from langdiff.regression.kernel.two_way import information_on_pairs
from langdiff.regression.result import DifficultyFit
from langdiff.regression.seeds import SeedEffects, mean_over_seeds
from langdiff.regression.table import as_surprisals
from langdiff.tables.long_tables import LongTable
from langdiff.tables.rule import variance_ends
from langdiff.tables.surprisals import Surprisals

USUAL_PERCENTS = (1.0, 2.0, 5.0, 10.0)


@runtime_checkable
class Replicated(Protocol):
    """Surprisals by several seeds and their spread, such as `langdiff.replicate` returns."""

    @property
    def surprisals(self) -> Mapping[int, Surprisals]:
        """Table of each seed."""

    @property
    def combined(self) -> SeedEffects:
        """Difficulties of the mean over seeds, with the variance between seeds."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Plan(Result):
    """Number of intents that a difference of difficulties takes.

    Attributes
    ----------
    percent : float
        Difference to be found, in percent of the bits.
    variance : float
        v, the variance of a difference of two editions in one intent, nats squared.
    per_document : float
        m, intents of a document; 1 if intents are independent.
    icc : float
        Correlation of the intents of a document.
    seed_variance : float
        b, the variance of a difficulty between seeds, nats squared.
    n_seeds, n_editions : int
        Seeds of each language model, and editions.
    all_pairs : bool
        Whether the largest of all differences is looked for, instead of one that is named beforehand.
    wanted, level : float
        Power to be reached, and level of the confidence interval that excludes 0.
    pilot : str
        Where the variance is from.
    frame : DataFrame
        See `to_frame`.
    """

    percent: float
    variance: float
    per_document: float
    icc: float
    seed_variance: float
    n_seeds: int
    n_editions: int
    all_pairs: bool
    wanted: float
    level: float
    pilot: str
    frame: pd.DataFrame

    plot = Drawn("plot_power")

    @property
    def n_documents(self) -> float:
        """Smallest number of documents with the power asked for; infinite if none has."""
        return float(self.frame["n_documents"].loc[self.percent])

    @property
    def n_intents(self) -> float:
        """Number of intents of these documents."""
        return float(self.frame["n_intents"].loc[self.percent])

    def to_frame(self) -> pd.DataFrame:
        """Return one row per difference in percent: those of 1, 2, 5 and 10 percent and the one asked for.

        Returns
        -------
        DataFrame
            Indexed by ``percent``: the smallest ``n_documents``, their ``n_intents`` and the ``power`` there;
            ``n_documents_low`` and ``n_documents_high``, a confidence interval by the errors of the variance of a
            pilot, and ``n_documents_worst`` for the pair of editions that varies most (NaN without a pilot);
            ``n_documents_incomplete`` where cells are missing as in the pilot, and otherwise of complete tables. Where
            seeds alone leave too large an error, numbers are infinite, and ``seeds_needed`` says from how many seeds on
            they are not.
        """
        return self.frame.copy()

    def power(self, n_documents: float, percent: float | None = None) -> float:
        """Return the power that a number of documents has.

        Parameters
        ----------
        n_documents : float
            Number of documents; of intents if these are independent.
        percent : float, optional
            Difference in percent; by default that of the plan.

        Raises
        ------
        ConfigError
            If there is one document or fewer.
        """
        if not n_documents > 1:
            raise ConfigError(
                f"n_documents must be above 1, got {n_documents!r}: one does not show how much they vary."
            )
        pooled = (self.n_seeds - 1) * (self.n_editions - 1)
        parts = (self.variance, self.per_document, self.icc, self.seed_variance, self.n_seeds, pooled, self.level)
        setting = Setting(*parts, self.n_editions * self.all_pairs)
        return power_of(setting, n_documents, np.log1p((self.percent if percent is None else percent) / 100))

    def _lines(self) -> "list[str]":
        unit = "intents" if self.per_document == 1 else f"documents of {self.per_document:.4g} intents"
        seeds = f", {self.n_seeds} seeds of s.d. {self.seed_variance**0.5:.4g}" if self.seed_variance else ""
        pairs = f"the largest difference of {self.n_editions} editions" if self.all_pairs else "one difference"
        return [
            f"Number of {unit} with which {pairs} is found with power {self.wanted:g}, intervals of "
            f"{100 * self.level:g} %",
            f"Variance of a difference in one intent {self.variance:.4g} ({self.pilot}), intra-document correlation "
            f"{self.icc:.3g}{seeds}",
        ]

    def _table(self) -> pd.DataFrame:
        counts = [name for name in self.frame if name not in ("power", "seeds_needed")]
        shown = self.frame[counts].map(_count).assign(power=self.frame["power"].map("{:.3f}".format))
        return shown.loc[:, [name for name in self.frame.columns if name in shown and (shown[name] != "").any()]]

    def _notes(self) -> "list[str]":
        if np.isfinite(self.n_documents):
            return []
        error = (2 * self.seed_variance / self.n_seeds) ** 0.5
        enough = self.frame["seeds_needed"].loc[self.percent]
        return [
            f"{self.percent:g} %: no number: seeds alone leave an error of {error:.4f}; "
            + (f"{enough:.0f} seeds would do." if np.isfinite(enough) else "no number of seeds would do.")
        ]

    def __repr__(self) -> str:
        """Return a one-line description."""
        unit = "intents" if self.per_document == 1 else f"documents ({_count(self.n_intents)} intents)"
        return f"Plan: {self.percent:g} % with power {self.wanted:g} takes {_count(self.n_documents)} {unit}"


def plan(
    percent: float,
    pilot: DifficultyFit | Replicated | Surprisals | LongTable | None = None,
    *,
    clusters: Clusters | None = "auto",
    noise: float | None = None,
    per_document: float | None = None,
    icc: float | None = None,
    seed_sd: float | None = None,
    n_seeds: int | None = None,
    n_editions: int = 2,
    all_pairs: bool = False,
    power: float = 0.8,
    level: float = 0.95,
) -> Plan:
    """Compute the number of intents that it takes to find a difference between two editions.

    Parameters
    ----------
    percent : float
        Difference of the bits to be found, in percent.
    pilot : DifficultyFit, Replicates or table that `fit` takes, optional
        Fit, table of surprisals or result of `langdiff.replicate` that shows how much intents, and seeds, vary. Without
        it, `noise` is needed.
    clusters : "auto", str, mapping, Series or None
        Documents of the pilot, where it is not a fit: found as `fit` finds them, a column of `Surprisals.intent_info`,
        or the document of each intent. None for intents that are independent.
    noise : float, optional
        Standard deviation of ln bits of a cell around its mean, such as 0.17, instead of a pilot.
    per_document : float, optional
        Number of intents of a document; by default that of the pilot, or 1.
    icc : float, optional
        Correlation of the noise of intents of one document, from 0 to below 1; by default that of the pilot, or 0.
    seed_sd : float, optional
        Standard deviation of a difficulty between seeds of the language model, nats; by default that of replicates as
        a pilot, or 0.
    n_seeds : int, optional
        Number of seeds of each language model; by default that of replicates as a pilot, or 1.
    n_editions : int
        Number of editions, whose seeds are pooled, and all of whose pairs `all_pairs` compares.
    all_pairs : bool
        Take the critical value for the largest difference of all pairs of editions.
    power : float
        Probability with which the interval of the difference is to exclude 0.
    level : float
        Level of this interval.

    Returns
    -------
    Plan
        The smallest number of documents (of intents if these are independent), with its power, for this difference and
        for the usual ones.

    Raises
    ------
    ConfigError
        If neither a pilot nor the noise is given, or a number is out of its range.

    Notes
    -----
    Without a pilot, these values are a guide. They are of the package's own fits of 6-gram models (``kneser-ney-6``)
    of seven languages, with v the variance of a difference in one intent, twice the square of `noise`:

    =================================================  =====  =====  ====
    corpus                                               v    noise  icc
    =================================================  =====  =====  ====
    Parallel Universal Dependencies, by document       .0208   .102  .054
    verses of Bibles, by chapter                       .0252   .112  .032
    verses of Bibles, by book                          .0252   .112  .011
    =================================================  =====  =====  ====

    References
    ----------
    Satterthwaite (1946), "An approximate distribution of estimates of variance components".

    Examples
    --------
    >>> plan(5, noise=0.17)
    Plan: 5 % with power 0.8 takes 193 intents
    >>> plan(5, noise=0.17, per_document=8, icc=0.1)
    Plan: 5 % with power 0.8 takes 43 documents (344 intents)
    """
    if (pilot is None) == (noise is None):
        raise ConfigError(
            f"a plan needs {option('pilot')}, a fit or a table, or {option('noise', 0.17)}, the standard deviation of "
            "ln bits of one cell, and not both."
        )
    given = {"noise": noise, "per_document": per_document, "icc": icc, "seed_sd": seed_sd, "n_seeds": n_seeds}
    check_ranges({"percent": percent, "n_editions": n_editions, "level": level, **given}, power)
    found = _of_noise(noise) if noise is not None else _of_pilot(pilot, clusters)
    found = replace(
        found,
        per_document=found.per_document if per_document is None else per_document,
        icc=found.icc if icc is None else icc,
        seed_sd=found.seed_sd if seed_sd is None else seed_sd,
        n_seeds=found.n_seeds if n_seeds is None else n_seeds,
    )
    if found.seed_sd > 0 and found.n_seeds < 2:
        raise ConfigError(
            f"{option('seed_sd', found.seed_sd)} needs {option('n_seeds', 2)} or more: one seed does not show how much "
            "seeds vary."
        )
    n_seeds, pooled = int(found.n_seeds), (int(found.n_seeds) - 1) * (int(n_editions) - 1)
    parts = (found.variance, found.per_document, found.icc, found.seed_sd**2, n_seeds, pooled, level)
    setting = Setting(*parts, int(n_editions) * all_pairs)
    percents = sorted({*USUAL_PERCENTS, float(percent)})
    frame = pd.DataFrame([_row(setting, found, x, power) for x in percents], pd.Index(percents, name="percent"))
    return Plan(
        percent=float(percent),
        variance=found.variance,
        per_document=float(found.per_document),
        icc=float(found.icc),
        seed_variance=float(found.seed_sd**2),
        n_seeds=n_seeds,
        n_editions=int(n_editions),
        all_pairs=bool(all_pairs),
        wanted=float(power),
        level=float(level),
        pilot=found.source,
        frame=frame,
    )


@dataclass(frozen=True)
class _Pilot:
    """Variance of intents, documents and seeds, as known before a corpus is collected."""

    variance: float
    worst: float
    freedom: float  # of the variance
    source: str
    per_document: float = 1
    icc: float = 0
    seed_sd: float = 0
    n_seeds: int = 1
    holes: float = (
        np.nan
    )  # variance of a pair per document, over that of one intent, with the missing cells of the pilot


def _of_noise(noise: float) -> _Pilot:
    return _Pilot(2 * noise**2, 2 * noise**2, np.inf, f"noise {noise:g}")


def _of_pilot(pilot: object, clusters: Clusters | None) -> _Pilot:
    """Return the variance of a difference in one intent, and documents and seeds where the pilot knows them."""
    if isinstance(pilot, Replicated):
        seeds = pilot.combined
        found = _of_pilot(mean_over_seeds(list(pilot.surprisals.values())), clusters)
        return replace(found, seed_sd=seeds.variance**0.5, n_seeds=seeds.n_seeds)
    if isinstance(pilot, DifficultyFit):
        if clusters != "auto":
            raise ConfigError(f"{option('clusters')} are those of a table; a fit has its own. Give the table.")
        return _of_fit(pilot)
    table = as_surprisals(pilot)
    labels = one_clustering(table, clusters)
    fitted = fit(table, errors=Sandwich(), clusters=labels)
    if labels is None or fitted.audit is None:
        return _of_fit(fitted)
    same = "common" if fitted.audit.noise.fitted == "common" else fitted.audit.noise.of
    return _of_fit(fitted, fit(table, errors=Sandwich(), clusters=None, dispersion=same))


def _of_fit(fitted: DifficultyFit, plain: DifficultyFit | None = None) -> _Pilot:
    """Return what a fit shows of intents and their documents, from pairs of editions and the cells that both have.

    `plain` is the same fit without clusters; otherwise one design effect holds for all pairs.
    """
    clustered = fitted.effects.covariance.to_numpy(dtype=float)
    effect = fitted.errors.design_effect if np.isfinite(fitted.errors.design_effect) else 1.0
    one, other = np.triu_indices(len(clustered), 1)
    variances, without = (
        np.diag(v)[one] + np.diag(v)[other] - 2 * v[one, other]
        for v in (clustered, clustered / effect if plain is None else plain.effects.covariance.to_numpy(dtype=float))
    )
    shape = len(fitted.intent_size), len(clustered)
    texts = None if fitted.influence is None else fitted.influence.units.texts
    observed = np.ones(shape, dtype=bool) if texts is None else texts.observed
    columns = [] if fitted.audit is None else fitted.audit.clusters.columns
    code = pd.factorize(min(columns, key=lambda labels: labels.nunique()))[0] if columns else None
    variance = np.ones(shape[0])
    if not fitted.variant.common_variance:
        variance = np.log1p(np.mean(fitted.dispersion) / fitted.intent_size.to_numpy(dtype=float))
    tells = observed.sum(axis=1) > 1
    found = information_on_pairs(observed[tells], variance[tells], code if code is None else code[tells])
    known = (variances > 0) & (without > 0) & np.isfinite(variances) & np.isfinite(found.intents)
    if not known.any():
        raise ConfigError("the pilot has no standard errors, from which the variance of intents could be known.")
    of_pairs = (found.intents * without)[known]
    together, icc = float(np.median(found.per_cluster[known])), 0.0
    if together > 1 + ROUNDING:
        likeness = (variances / without - 1)[known] / (found.per_cluster[known] - 1)
        icc = min(max(0.0, float(np.median(likeness))), 1 - 1e-9)
    units = shape[0] if code is None else int(code.max()) + 1
    per_document = 1.0 if code is None else mean_size(pd.Series(code))
    freedom = np.broadcast_to(np.asarray(fitted.effects.degrees_of_freedom, dtype=float), clustered.shape)[one, other]
    return _Pilot(
        variance=float(np.median(of_pairs)),
        worst=float(of_pairs.max()),
        freedom=float(np.median(freedom[known])),
        source=f"median of {len(of_pairs):,} pairs over {shape[0]:,} intents",
        per_document=per_document,
        icc=icc,
        holes=np.nan if observed.all() else (1 + (together - 1) * icc) * units / float(np.median(found.intents[known])),
    )


def _row(setting: Setting, found: _Pilot, percent: float, wanted: float) -> dict[str, float]:
    """Return the numbers of documents for one difference."""
    known, difference = np.isfinite(found.freedom), float(np.log1p(percent / 100))

    def with_variance(variance: float) -> float:
        return fewest_documents(replace(setting, variance=variance), difference, wanted) if known else np.nan

    low, high = variance_ends(found.freedom, setting.level)
    needed = fewest_documents(setting, difference, wanted)
    holes, whole = found.holes, (1 + (setting.per_document - 1) * setting.icc) / setting.per_document
    return {
        "n_documents": needed,
        "n_intents": needed * setting.per_document,
        "power": power_of(setting, needed, difference),
        "n_documents_low": with_variance(found.variance * float(low)),
        "n_documents_high": with_variance(found.variance * float(high)),
        "n_documents_worst": with_variance(found.worst),
        "n_documents_incomplete": holes if np.isnan(holes) else with_variance(found.variance * holes / whole),
        "seeds_needed": np.nan if np.isfinite(needed) else fewest_seeds(setting, difference, wanted),
    }


def _count(number: float) -> str:
    """Return a number of documents in words: infinity is not one."""
    if np.isnan(number):
        return ""
    return f"{number:,.0f}" if np.isfinite(number) else "no number"
