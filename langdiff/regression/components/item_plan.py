r"""How many items a difference between two systems takes, in accuracy or in units of a score.

One item shows the difference of two systems with the variance :math:`\omega^2 = a + b + e`: a of the item in all
languages, b of the item in one language, e of one answer to it. With K answers to each, the mean over L languages has

.. math:: v = a + \frac{b}{L} + \frac{e}{L K}, \quad SE^2 = \frac{v\,(1 + (m - 1)\rho)}{D m}

of D documents of m items whose correlation is :math:`\rho`. Where every language is judged by itself, L is 1 and the
level that of Bonferroni. The power is that of `langdiff.regression.components.numbers`. Of answers that are right with
the probabilities p and p′ and the correlation r,

.. math:: \omega^2 = p(1 - p) + p'(1 - p') - 2 r \sqrt{p(1 - p)\,p'(1 - p')}.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import brentq

from langdiff.base.result import Result
from langdiff.base.types import Floats, Integers
from langdiff.errors import ConfigError, DataError, option
from langdiff.regression.components.numbers import Setting, check_ranges, fewest_documents, mean_size, power_of
from langdiff.regression.outcomes.design import units_of
from langdiff.tables.outcomes import Outcomes
from langdiff.tables.rule import LEVEL, variance_ends

USUAL = (0.01, 0.02, 0.05, 0.1)
TIMES = (0.5, 2, 5)  # the difference asked for, of scores, whose unit may be any
MOST = 1e9  # items


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ItemPlan(Result):
    """Number of items that a difference between two systems takes.

    Attributes
    ----------
    difference : float
        Difference to be found, in accuracy (0.03 are three points) or in the unit of the score.
    variance : float
        ω², the variance of the difference of two systems in one item of one language, answered once.
    shared, repeat_share : float
        Shares of ω² that are of the item in all languages, and of one answer to it.
    languages, n_answers : int
        Languages that each item is asked in, and answers of each system to an item.
    each : bool
        Whether the difference is to be found in each language, instead of their mean.
    per_document, icc : float
        Items of a document, and the correlation of their differences.
    wanted, level : float
        Power to be reached, and level of the confidence interval that excludes 0.
    source : str
        Where the variance is from.
    frame : DataFrame
        See `to_frame`.
    """

    difference: float
    variance: float
    shared: float
    repeat_share: float
    languages: int
    n_answers: int
    each: bool
    per_document: float
    icc: float
    wanted: float
    level: float
    source: str
    frame: pd.DataFrame

    @property
    def n_items(self) -> float:
        """Smallest number of items with the power asked for."""
        return float(self.frame["n_items"].loc[self.difference])

    def to_frame(self) -> pd.DataFrame:
        """Return one row per difference: the one asked for, and 1, 2, 5 and 10 points, or of scores its multiples.

        Returns
        -------
        DataFrame
            Indexed by ``difference``: the smallest ``n_documents`` (items, if these are independent), their
            ``n_items``, the ``answers`` to pay for (items × languages × two systems × n_answers) and the ``power``;
            of a pilot also ``n_items_low`` and ``n_items_high``, a confidence interval by the errors of its variance,
            and ``n_items_worst`` for the pair of systems that varies most (otherwise NaN).
        """
        return self.frame.copy()

    def power(self, n_items: float, difference: float | None = None) -> float:
        """Return the power that a number of items has.

        Parameters
        ----------
        n_items : float
            Number of items in every language, of at least two documents.
        difference : float, optional
            True difference; by default that of the plan.

        Raises
        ------
        ConfigError
            If there is one document or fewer.
        """
        count = n_items / self.per_document
        if not count > 1:
            raise ConfigError(f"n_items must be of more than one document, got {n_items!r} of {self.per_document:g}.")
        return power_of(self._setting, count, self.difference if difference is None else difference)

    def detectable(self, n_items: float) -> float:
        """Return the smallest difference that a number of items shows with the power asked for.

        Parameters
        ----------
        n_items : float
            Number of items in every language, of at least two documents.

        Examples
        --------
        >>> round(plan_items(rates=(0.73, 0.7), correlation=0.5).detectable(900), 4)
        0.0422
        """
        most = 100 * self.variance**0.5 * np.sqrt(self.per_document)
        return float(brentq(lambda x: self.power(n_items, x) - self.wanted, 0, most, xtol=1e-12))

    @property
    def _setting(self) -> Setting:
        over = 1 if self.each else self.languages
        b = 1 - self.shared - self.repeat_share
        v = self.variance * (self.shared + b / over + self.repeat_share / (over * self.n_answers))
        level = 1 - (1 - self.level) / (self.languages if self.each else 1)
        return Setting(v, self.per_document, self.icc, level=level)

    def _lines(self) -> "list[str]":
        unit = "items" if self.per_document == 1 else f"documents of {self.per_document:.4g} items"
        where = ""
        if self.languages > 1:
            where = f" in {'each' if self.each else 'the mean'} of {self.languages} languages"
        return [
            f"Number of {unit} with which a difference between two systems{where} is found with power {self.wanted:g}, "
            f"intervals of {100 * self.level:g} %",
            f"Variance of a difference in one item {self.variance:.4g} ({self.source}): {100 * self.shared:.3g} % in "
            f"all languages, {100 * self.repeat_share:.3g} % of one answer; correlation in documents {self.icc:.3g}",
        ]

    def _table(self) -> pd.DataFrame:
        counts = [name for name in self.frame if name != "power"]
        shown = self.frame[counts].map(lambda number: "" if np.isnan(number) else f"{number:,.0f}")
        shown["power"] = self.frame["power"].map("{:.3f}".format)
        alike = ["n_documents"] if self.per_document == 1 else []
        return shown.loc[:, [name for name in self.frame if name not in alike and (shown[name] != "").any()]]

    def __repr__(self) -> str:
        """Return a one-line description."""
        return f"Plan: a difference of {self.difference:g} with power {self.wanted:g} takes {self.n_items:,.0f} items"


def plan_items(
    difference: float | None = None,
    pilot: Outcomes | None = None,
    *,
    sd: float | None = None,
    rates: Sequence[float] | None = None,
    correlation: float | None = None,
    languages: int | None = None,
    shared: float | None = None,
    each: bool = False,
    n_answers: int = 1,
    repeat_share: float | None = None,
    per_document: float | None = None,
    icc: float | None = None,
    clusters: str | pd.Series | None = "auto",
    power: float = 0.8,
    level: float = LEVEL,
) -> ItemPlan:
    """Compute the number of items that it takes to find a difference between two systems.

    Parameters
    ----------
    difference : float, optional
        Difference to be found, in accuracy (0.03 are three points) or in the unit of the score; by default that of
        `rates`.
    pilot : Outcomes, optional
        Outcomes of two systems or more that show how much items, languages and answers vary. Otherwise `sd` or `rates`
        is needed.
    sd : float, optional
        Standard deviation of the difference of two systems in one item, such as 0.45.
    rates : sequence of float, optional
        Probabilities of both systems to be right.
    correlation : float, optional
        Correlation over items of being right, with `rates`; 0 by default, which takes the most items that are usual.
    languages : int, optional
        Languages that each item is asked in; by default those of the pilot, or 1.
    shared : float, optional
        Share of the variance that an item has in all languages; by default that of the pilot, or 0.
    each : bool
        Find the difference in each language, with a level divided by their number, instead of in their mean.
    n_answers : int
        Answers of each system to an item.
    repeat_share : float, optional
        Share of the variance that is of one answer, which several average out; by default that of the pilot, or 0.
    per_document : float, optional
        Number of items of a document; by default that of the pilot, or 1.
    icc : float, optional
        Correlation of the differences of items of one document; by default that of the pilot, or 0.
    clusters : "auto", str, Series or None
        Documents of the pilot, as of `langdiff.fit_outcomes`.
    power : float
        Probability with which the interval of the difference is to exclude 0.
    level : float
        Level of this interval.

    Returns
    -------
    ItemPlan
        The smallest number of items, with its power, for this difference and for the usual ones.

    Raises
    ------
    ConfigError
        If none or several of `pilot`, `sd` and `rates` are given, no difference is, or a number is out of its range.
    DataError
        If a pilot has no two systems with items in common.

    See Also
    --------
    langdiff.plan : The same for differences of difficulties, in bits.

    References
    ----------
    Miller (2024), "Adding Error Bars to Evals: A Statistical Approach to Language Model Evaluations"; Satterthwaite
    (1946), "An approximate distribution of estimates of variance components".

    Examples
    --------
    >>> plan_items(0.03, sd=1 / 3)
    Plan: a difference of 0.03 with power 0.8 takes 971 items
    >>> plan_items(rates=(0.73, 0.7), correlation=0.5, languages=5, shared=0.3)
    Plan: a difference of 0.03 with power 0.8 takes 784 items
    """
    if sum(one is not None for one in (pilot, sd, rates)) != 1:
        raise ConfigError(
            f"a plan needs one of {option('pilot')}, {option('sd', 0.45)} and {option('rates', (0.73, 0.7))}."
        )
    if pilot is None and not (isinstance(clusters, str) and clusters == "auto"):
        raise ConfigError(f"{option('clusters')} are of a pilot, which is not given; say {option('per_document', 8)}.")
    if correlation is not None and rates is None:
        raise ConfigError(f"{option('correlation', correlation)} is of rates, which are not given.")
    if rates is not None:
        found = _of_rates(rates, correlation or 0.0)
        difference = round(abs(rates[0] - rates[1]), 12) if difference is None else difference
    else:
        found = _of_pilot(pilot, clusters) if pilot is not None else _Pilot((sd or 0.0) ** 2, f"sd {sd:g}")
    given: dict[str, Any] = dict(zip(PARTS, (languages, shared, repeat_share, per_document, icc), strict=True))
    found = replace(found, **{name: value for name, value in given.items() if value is not None})
    if difference is None:
        raise ConfigError(f"a plan needs {option('difference', 0.03)}, in accuracy or in the unit of the score.")
    _check(found, difference, n_answers, power, level)
    plan = ItemPlan(
        difference=float(difference),
        variance=found.variance,
        n_answers=int(n_answers),
        each=bool(each),
        wanted=float(power),
        level=float(level),
        source=found.source,
        frame=pd.DataFrame(),
        **{name: type(usual)(getattr(found, name)) for name, usual in PARTS.items()},
    )
    usual = USUAL if pilot is None or pilot.scores is None else [difference * times for times in TIMES]
    sizes = sorted({*usual, float(difference)})
    frame = pd.DataFrame([_row(plan, found, x) for x in sizes], pd.Index(sizes, name="difference"))
    return replace(plan, frame=frame)


PARTS: dict[str, Any] = {"languages": 1, "shared": 0.0, "repeat_share": 0.0, "per_document": 1.0, "icc": 0.0}


@dataclass(frozen=True)
class _Pilot:
    """Variance of a difference in one item, and its parts."""

    variance: float
    source: str
    worst: float = np.nan
    freedom: float = np.nan  # of the variance, by the squares of documents
    languages: float = 1
    shared: float = 0.0
    repeat_share: float = 0.0
    per_document: float = 1.0
    icc: float = 0.0


def _check(found: _Pilot, difference: float, n_answers: int, power: float, level: float) -> None:
    """Check that all numbers of a plan are in their range."""
    given = {"difference": difference, "sd": found.variance, "languages": found.languages, "n_answers": n_answers}
    given |= {"shared": found.shared, "repeat_share": found.repeat_share, "per_document": found.per_document}
    check_ranges({**given, "icc": found.icc, "level": level}, power)
    if found.repeat_share > 1 - found.shared + 1e-12:
        raise ConfigError(f"{option('repeat_share')} must be from 0 to 1 - shared, got {found.repeat_share!r}.")


def _of_rates(rates: Sequence[float], correlation: float) -> _Pilot:
    """Return the variance of two rates whose successes have a correlation."""
    if len(rates) != 2 or not all(0 < rate < 1 for rate in rates):
        raise ConfigError(f"{option('rates')} must be two numbers between 0 and 1, got {list(rates)}.")
    one, other = rates
    root = float(np.sqrt(one * (1 - one) * other * (1 - other)))
    low, high = (max(0.0, one + other - 1) - one * other) / root, (min(one, other) - one * other) / root
    if not low - 1e-9 <= correlation <= high + 1e-9:
        raise ConfigError(
            f"{option('correlation', correlation)}: rates {one:g} and {other:g} allow {low:.3f} to {high:.3f}."
        )
    variance = one * (1 - one) + other * (1 - other) - 2 * correlation * root
    return _Pilot(variance, f"rates {one:g} and {other:g}, correlation {correlation:g}")


def _of_pilot(pilot: Outcomes, clusters: str | pd.Series | None) -> _Pilot:
    """Return what outcomes show of the differences between their systems."""
    rates, trials = pilot.rates, pilot.trials
    levels = (
        pilot.columns
        if pilot.columns is not None
        else pd.DataFrame({"language": "", "system": rates.columns}, rates.columns)
    )
    noise = rates * (1 - rates) * trials / (trials - 1).where(trials > 1)  # of one answer, by cell
    if pilot.scores is not None:
        noise = rates * np.nan  # answers to one item are known by their mean only
    documents = units_of(pilot.items, clusters).code
    pairs = []
    for one, other in combinations(pd.unique(levels["system"]), 2):
        sides = [levels.index[levels["system"] == system] for system in (one, other)]
        names = [pd.Index(levels["language"].loc[side]) for side in sides]
        both = names[0].intersection(names[1], sort=False)
        if len(both):
            at = [side[own.get_indexer(both)] for side, own in zip(sides, names, strict=True)]
            d, e, once = (_side(table, at, sign) for table, sign in ((rates, -1), (noise, 1), (noise / trials, 1)))
            if np.isfinite(d).sum() > 2:
                pairs.append(_parts(f"{one} and {other}", d, e, once, documents))
    if not pairs:
        raise DataError(
            "the pilot has no two systems with three items in common, from which a variance could be known."
        )
    variance, a, e, icc, freedom = np.array(pairs).T
    total, middle = float(np.median(variance)), np.median([a / variance, e / variance], axis=1)
    shared, repeat_share = np.clip(middle, 0, 1)
    return _Pilot(
        variance=total,
        worst=float(variance.max()),
        freedom=float(np.median(freedom)),
        source=f"median of {len(pairs):,} pair{'s' * (len(pairs) > 1)} over {len(rates):,} items",
        languages=levels["language"].nunique(),
        shared=float(shared),
        repeat_share=float(min(repeat_share, 1 - shared)),
        per_document=mean_size(pd.Series(documents)),
        icc=float(np.clip(np.median(icc), 0, 1 - 1e-9)),
    )


def _side(table: pd.DataFrame, at: list[pd.Index], sign: int) -> Floats:
    """Return the cells of one system plus or less those of another, (I, L)."""
    return np.asarray(table[at[0]].to_numpy() + sign * table[at[1]].to_numpy())


def _parts(names: str, d: Floats, noise: Floats, once: Floats, documents: Integers) -> tuple[float, ...]:
    """Return ω², a, e, the correlation within documents and the degrees of freedom of one pair of systems.

    Shapes: d, noise, once (I, L): differences, variance of one answer to each, and of the means over answers.
    """
    known = np.isfinite(d)
    centred = np.where(known, d - np.nanmean(d, axis=0), 0.0)
    counts = known.T.astype(float) @ known
    covariance = centred.T @ centred / np.maximum(counts - 1, 1)
    languages = len(covariance)
    apart = ~np.eye(languages, dtype=bool) & (counts > 2)
    a = float(covariance[apart].mean()) if apart.any() else 0.0
    measured = np.isfinite(noise)
    e = float(noise[measured].mean()) if measured.any() else 0.0
    averaged = float(once[measured].mean()) if measured.any() else 0.0
    variance = float(np.diag(covariance)[np.diag(counts) > 2].mean()) - averaged + e
    if not variance > 0:
        raise DataError(f"{names} do not differ in any item of the pilot: leave one out.")
    squared = np.where(known, (centred**2 - np.diag(covariance)) / np.maximum(np.diag(counts), 1), 0.0)
    squares = pd.DataFrame(squared[:, np.diag(counts) > 2])
    spread = (squares.mean(axis=1).groupby(documents).sum() ** 2).sum()  # squared error of the variance
    freedom = min(2 * variance**2 / max(float(spread), np.finfo(float).tiny), MOST)
    rows = known.any(axis=1)
    mean = centred[rows].sum(axis=1) / known[rows].sum(axis=1)
    return variance, max(a, 0.0), e, _likeness(mean, documents[rows]), freedom


def _likeness(values: Floats, documents: Integers) -> float:
    """Return the intraclass correlation of values, by the analysis of variance; 0 if each document has one."""
    frame = pd.DataFrame({"value": values, "document": documents}).groupby("document")["value"]
    sizes, within = frame.size().to_numpy(dtype=float), len(values) - frame.ngroups
    if within == 0 or frame.ngroups < 2:
        return 0.0
    inside = float(((values - frame.transform("mean")) ** 2).sum()) / within
    between = float((sizes * (frame.mean() - values.mean()) ** 2).sum()) / (len(sizes) - 1)
    usual = (sizes.sum() - (sizes**2).sum() / sizes.sum()) / (len(sizes) - 1)
    return float((between - inside) / (between + (usual - 1) * inside)) if between > 0 else 0.0


def _row(plan: ItemPlan, found: _Pilot, difference: float) -> dict[str, float]:
    """Return the numbers of items for one difference."""

    def items(variance: float) -> float:
        setting = replace(plan, variance=variance)._setting
        return fewest_documents(setting, difference, plan.wanted) * plan.per_document

    n_items, row = items(plan.variance), {}
    if np.isfinite(found.freedom):
        low, high = (items(found.variance * float(end)) for end in variance_ends(found.freedom, plan.level))
        row = {"n_items_low": low, "n_items_high": high, "n_items_worst": items(found.worst)}
    answers = n_items * plan.languages * 2 * plan.n_answers
    power = power_of(plan._setting, n_items / plan.per_document, difference)
    return {"n_documents": n_items / plan.per_document, "n_items": n_items, "answers": answers, "power": power, **row}
