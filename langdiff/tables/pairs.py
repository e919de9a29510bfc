"""Comparisons of all pairs of effects, or of all with one, and the sets of ranks that follow from them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from langdiff.base.result import Result, rounded
from langdiff.base.signature import name_of_seed
from langdiff.base.types import Floats, Integers, check_choice, check_share, generator
from langdiff.errors import ConfigError, DataError, en, listing, option
from langdiff.tables.rule import Scale, falling
from langdiff.tables.simultaneous import Family, make_family, number_of_draws

Adjustment = Literal["max-t", "holm", "bh"]
MOST_NAMED = 5  # editions that a sentence names
MOST_RANKED = 60  # editions whose rank sets a summary lists
BEST: Mapping[str, tuple[str, str]] = MappingProxyType(
    {"hardest": ("hardest", "easiest"), "ablest": ("ablest", "weakest"), "highest": ("highest", "lowest")}
)  # names of the highest and the lowest, by the first of a scale


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Pairs(Result):
    """Differences of effects in pairs, with intervals that hold together.

    The intervals are those of the largest statistic of the family (max-t), so that with probability `level` all of
    them contain their difference; see `langdiff.tables.simultaneous`. Rank sets follow from the same intervals: an
    edition has rank 1 + the number of editions that are shown to be harder at best, and J less the number of those
    that are shown to be easier at worst. All rank sets hold together, too.

    Attributes
    ----------
    frame : DataFrame
        One row per pair, indexed by the names ``one`` and ``other``, the harder first: ``estimate``, ``std_error``,
        ``df``, ``low`` and ``high`` (simultaneous, in the unit of the scale); for nats also ``percent``,
        ``percent_low`` and ``percent_high``; ``p`` of the pair by itself and ``p_adjusted`` for the family;
        ``verdict``: ``"differ"``, ``"not shown to differ"``, or ``"identical"`` where the two are tied. With a
        baseline, one row per other effect, less the baseline. With ``"hardest"`` and the like, one row per effect, less
        the best of the others, with the intervals of Hsu (1996) and one-sided p of not being the best; ``verdict``
        ``"may be hardest"`` or ``"not hardest"``.
    critical : float
        Half the width of the intervals in standard errors; their median where degrees of freedom differ.
    adjust : {"max-t", "holm", "bh"} or None
        Adjustment of the p-values.
    baseline : str or None
        What the others are compared with; None for all pairs.
    level : float
        Probability that all intervals contain their difference.
    ranks : DataFrame or None
        ``rank``, ``rank_low`` and ``rank_high`` by name, rank 1 first; None with a baseline.
    n_draws : int
        Number of draws behind the intervals; 0 where none were needed.
    bound : str
        Reason why intervals and p-values are Bonferroni's, which are slightly longer; empty if they are not.
    scale : Scale
        Quantity and unit of the effects.
    title, signature : str
        Those of the effects; the signature with what was asked for.

    Examples
    --------
    >>> import langdiff as ld
    >>> pairs = ld.fit(ld.simulate(200, 3, difficulties=[0.0, 0.2, 0.0], seed=2).surprisals).pairs()
    >>> pairs.frame["verdict"].tolist()
    ['differ', 'differ', 'not shown to differ']
    >>> pairs.ranks[["rank_low", "rank_high"]].to_numpy().tolist()
    [[1, 1], [2, 3], [2, 3]]
    """

    printing: ClassVar[Mapping[str, Any]] = {"max_rows": 60}

    frame: pd.DataFrame
    critical: float
    adjust: Adjustment | None
    baseline: str | None
    level: float
    ranks: pd.DataFrame | None
    n_draws: int
    bound: str
    scale: Scale
    title: str
    signature: str

    @property
    def words(self) -> str:
        """The finding in one sentence: which effects may be highest, and how many pairs differ."""
        if self.ranks is not None:
            differ = int((self.frame["verdict"] == "differ").sum())
            count = f"{differ:,} of {len(self.frame):,} pairs differ"
            return f"{self.scale.first.capitalize()}: {self.first}; {count}."
        verdict = self.frame["verdict"]
        if (may := verdict.str.startswith("may be")).any():
            return f"{verdict[may].iloc[0].capitalize()}: {_either(self.frame.index.get_level_values(0)[may])}."
        differ = int((verdict == "differ").sum())
        return f"{differ:,} of {len(self.frame):,} differ from {self.baseline}."

    @property
    def first(self) -> str:
        """The effects whose rank sets contain rank 1, in words; empty with a baseline."""
        if self.ranks is None:
            return ""
        first = self.ranks[self.ranks["rank_low"] == 1]
        return _either(first.index, f" (rank {rank_set(*first[['rank_low', 'rank_high']].iloc[0])})")

    def _lines(self) -> Iterator[str]:
        yield repr(self)
        yield self.words

    def _table(self) -> pd.DataFrame:
        table = rounded(self.frame.drop(columns=["percent_low", "percent_high"], errors="ignore"), self.digits)
        looks = {"df": "{:.1f}", "percent": "{:+.1f}", "p": "{:.2g}", "p_adjusted": "{:.2g}"}
        for name in table.columns.intersection(list(looks)):
            table[name] = self.frame[name].map(looks[name].format)
        return table.set_axis([f"{one} - {other}" for one, other in self.frame.index])

    def _notes(self) -> Iterator[str]:
        if self.ranks is not None and len(self.ranks) <= MOST_RANKED:
            sets = (f"{name} {rank_set(row.rank_low, row.rank_high)}" for name, row in self.ranks.iterrows())
            yield f"Rank sets (1 is {self.scale.first}): {', '.join(sets)}"
        hold = "one by one" if self.adjust is None else "together"
        yield (
            f"Intervals hold {hold} with probability {self.level:g}: ±{self.critical:.3f} standard errors"
            + (f" ({self.n_draws:,} draws)" if self.n_draws and self.adjust is not None else "")
            + (f"; Bonferroni's, since {self.bound}" if self.bound else "")
        )

    def __repr__(self) -> str:
        """Return how many pairs are compared, and how p-values are adjusted, in one line."""
        of = f" of {self.title}" if self.title else ""
        how = f"adjusted by {self.adjust}" if self.adjust else "p-values not adjusted"
        against = f" with {self.baseline}" if self.baseline is not None else ""
        return f"Pairs{of}: {len(self.frame):,} comparisons{against}, {how}"


class Joint(NamedTuple):
    """Estimates with their joint distribution.

    Attributes
    ----------
    estimate : Series, shape (J,)
        Estimates by name.
    covariance, freedom : ndarray, shape (J, J)
        Their covariance, and degrees of freedom as `langdiff.Effects` has them.
    reference, shared
        See `langdiff.tables.simultaneous.Family`.
    scale, title, signature
        Those of the effects.
    """

    estimate: pd.Series
    covariance: Floats
    freedom: Floats
    reference: Floats | None
    shared: bool
    scale: Scale
    title: str
    signature: str

    def family(self, one: Integers, other: Integers, *, one_sided: bool = False) -> Family:
        """Return the family of differences of effects given by number, shape (M,) each."""
        rows, ones = np.arange(len(one)), np.ones(len(one))
        places = np.concatenate([rows, rows]), np.concatenate([one, other])
        weights = csr_array((np.concatenate([ones, -ones]), places), shape=(len(one), len(self.estimate)))
        return self._family(weights, self.freedom[one, other], one_sided=one_sided)

    def _family(self, weights: csr_array, freedom: Floats, *, one_sided: bool = False) -> Family:
        return make_family(
            weights,
            freedom,
            estimate=self.estimate.to_numpy(dtype=float),
            covariance=self.covariance,
            reference=self.reference,
            shared=self.shared,
            one_sided=one_sided,
        )

    @property
    def order(self) -> Integers:
        """Numbers of the effects, the highest first, equal ones by name."""
        return falling(self.estimate.to_numpy(dtype=float), self.estimate.index)

    @property
    def ends(self) -> tuple[Integers, Integers]:
        """Numbers of the higher and of the lower effect of all pairs, shape (M,) each."""
        higher, lower = np.triu_indices(len(self.estimate), 1)
        return self.order[higher], self.order[lower]

    def all_pairs(self) -> Family:
        """Return the family of all differences, higher less lower."""
        return self.family(*self.ends)

    def rank_sets(self, maxima: Floats, level: float = 0.95) -> pd.DataFrame:
        """Return the lowest and the highest rank of each effect that the intervals of all pairs allow."""
        family, (higher, lower) = self.all_pairs(), self.ends
        sure = family.interval(family.critical(maxima, level))[0] > 0
        sure &= ~(family.tied & (family.p_value > 0))
        count = len(self.estimate)
        first = 1 + np.bincount(lower[sure], minlength=count)
        last = count - np.bincount(higher[sure], minlength=count)
        return pd.DataFrame({"rank_low": first, "rank_high": last}, index=self.estimate.index)

    def against_mean(self, level: float) -> pd.DataFrame:
        """Return simultaneous intervals of the effects themselves, which are differences from their average."""
        family = self._of_mean()
        low, high = family.interval(family.critical(family.maxima(), level))
        return pd.DataFrame({"low": low, "high": high}, index=self.estimate.index)

    def largest_p(self) -> float:
        """Return the p-value of the largest of all effects, as differences from their average."""
        family = self._of_mean()
        return float(family.adjusted(family.maxima()).min()) if family.size else 1.0

    def _of_mean(self) -> Family:
        return self._family(csr_array(np.eye(len(self.estimate))), np.diag(self.freedom))


def rank_set(low: int, high: int) -> str:
    """Return a set of ranks as text.

    Examples
    --------
    >>> rank_set(1, 3), rank_set(4, 4)
    ('1–3', '4')
    """
    return f"{low}" if low == high else f"{low}–{high}"


def _either(names: pd.Index, after_first: str = "") -> str:
    """Return the first names as alternatives in words, with a note after the first."""
    shown = [str(name) for name in names[:MOST_NAMED]]
    shown[0] += after_first
    if more := len(names) - len(shown):
        shown.append(f"{more} others" if more > 1 else str(names[-1]))
    return en(shown, "or")


def compare_pairs(
    joint: Joint,
    usual: Callable[[], Floats],
    *,
    adjust: Adjustment | None,
    baseline: str | int | None,
    level: float,
    seed: int | np.random.Generator,
) -> Pairs:
    """Compare effects in pairs; see `langdiff.Effects.pairs`."""
    names = joint.estimate.index
    best = BEST[joint.scale.first]
    check_choice("adjust", adjust, (*get_args(Adjustment), None))
    check_share("level", level, above=0.5)
    if len(names) < 2:
        raise DataError(f"a comparison needs at least two effects; there is {len(names)}.")
    if baseline is not None and baseline not in names and baseline not in best:
        raise ConfigError(
            f"unknown baseline {baseline!r}; use {listing(best)} or one of {listing(sorted(names, key=str))}."
        )
    parts = [f"pairs:{adjust or 'single'}", f"level:{level:g}", f"seed:{name_of_seed(seed, generator(seed))}"]
    parts += [] if baseline is None else [f"baseline:{baseline}"]
    signature = "|".join(filter(None, [joint.signature, *parts]))
    known: dict[str, Any] = {"adjust": adjust, "baseline": None if baseline is None else str(baseline), "level": level}
    known |= {"scale": joint.scale, "title": joint.title, "signature": signature}
    if baseline is not None and baseline not in names:
        if adjust != "max-t":
            raise ConfigError(
                f"baseline={baseline!r} compares each with the best of the others, which has an adjustment of its own: "
                f"leave {option('adjust')} out."
            )
        return _with_best(joint, str(baseline), highest=baseline == best[0], level=level, seed=seed, known=known)
    if baseline is None:
        one, other = joint.ends
    else:
        one = joint.order[joint.order != names.get_loc(baseline)]
        other = np.full(len(one), names.get_loc(baseline))
    family = joint.family(one, other)
    asked = baseline is not None or isinstance(seed, np.random.Generator) or seed != 0
    maxima = family.maxima(seed) if asked else usual()
    ranks = None
    if baseline is None:
        ranks = joint.rank_sets(maxima, level).iloc[joint.order]
        ranks.insert(0, "rank", (-joint.estimate).rank(method="min").astype(int))
    critical = family.critical(None if adjust is None else maxima, level)
    frame = _frame(joint.scale, family, _names_of(joint, one, other), critical)
    frame["p_adjusted"] = _adjusted(family, maxima, adjust)
    frame["verdict"] = np.where(frame["p_adjusted"] <= 1 - level, "differ", "not shown to differ")
    frame.loc[family.tied & (family.p_value > 0), "verdict"] = "identical"
    if baseline is None:
        frame = frame.sort_values("estimate", ascending=False, kind="stable")
    middle = float(np.median(critical[~family.tied])) if family.size else float("nan")
    bound = family.bound if family.size > 1 else ""
    return Pairs(frame=frame, critical=middle, ranks=ranks, n_draws=len(maxima), bound=bound, **known)


def compare_contrasts(
    joint: Joint,
    weights: pd.DataFrame,
    *,
    adjust: Adjustment | None = "max-t",
    level: float = 0.95,
    seed: int | np.random.Generator = 0,
) -> pd.DataFrame:
    """Return contrasts of effects that are tested together, as `Pairs.frame` has pairs.

    Shapes: weights (M, J).
    """
    rows = weights[joint.estimate.index].to_numpy(dtype=float)
    order = falling(rows @ joint.estimate.to_numpy(dtype=float), weights.index)
    rows, freedom = rows[order], np.empty(len(rows))
    for place, row in enumerate(rows):
        above, below = np.flatnonzero(row > 0), np.flatnonzero(row < 0)
        both = len(above) > 0 and len(below) > 0
        own = joint.freedom[np.ix_(above, below)] if both else np.diag(joint.freedom)[row != 0]
        freedom[place] = own.min()
    family = joint._family(csr_array(rows), freedom)
    maxima = family.maxima(seed)
    critical = family.critical(None if adjust is None else maxima, level)
    frame = _frame(joint.scale, family, weights.index[order].rename("contrast"), critical)
    frame["p_adjusted"] = _adjusted(family, maxima, adjust)
    frame["verdict"] = np.where(frame["p_adjusted"] <= 1 - level, "differ", "not shown to differ")
    frame.loc[family.tied & (family.p_value > 0), "verdict"] = "identical"
    return frame.iloc[np.argsort(order)]


def _names_of(joint: Joint, one: Integers, other: Integers) -> pd.MultiIndex:
    names = joint.estimate.index
    return pd.MultiIndex.from_arrays([names[one], names[other]], names=["one", "other"])


def _frame(scale: Scale, family: Family, index: pd.Index, critical: Floats) -> pd.DataFrame:
    """Return the frame of differences but for adjusted p-values and verdicts."""
    low, high = family.interval(critical)
    columns = {
        "estimate": family.estimate,
        "std_error": family.std_error,
        "df": family.freedom,
        "low": low,
        "high": high,
    }
    if scale.unit == "nats":
        columns |= {"percent": 100 * np.expm1(family.estimate)}
        columns |= {f"percent_{end}": 100 * np.expm1(columns[end]) for end in ("low", "high")}
    return pd.DataFrame(columns | {"p": family.p_value}, index=index)


def _adjusted(family: Family, maxima: Floats, adjust: Adjustment | None) -> Floats:
    """Return the adjusted p-values of a family, shape (M,); those of tied contrasts are not adjusted."""
    from scipy.stats import false_discovery_control

    if adjust == "max-t":
        return family.adjusted(maxima)
    found, open_ = family.p_value.copy(), ~family.tied
    p = found[open_]
    if adjust == "bh" and len(p):
        found[open_] = false_discovery_control(p)
    elif adjust == "holm":
        found[open_] = holm(p)
    return found


def holm(p: Floats) -> Floats:
    """Return p-values adjusted by Holm's procedure, shape (M,).

    Examples
    --------
    >>> holm(np.array([0.04, 0.01])).tolist()
    [0.04, 0.02]
    """
    order, adjusted = np.argsort(p, kind="stable"), np.empty(len(p))
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1.0)
    return adjusted


def _with_best(
    joint: Joint,
    baseline: str,
    *,
    highest: bool,
    level: float,
    seed: int | np.random.Generator,
    known: dict[str, Any],
) -> Pairs:
    """Compare each effect with the best of the others, with constrained intervals (Hsu 1996, section 4.2)."""
    signed = joint if highest else joint._replace(estimate=-joint.estimate)
    count, order = len(joint.estimate), signed.order
    n_draws = number_of_draws(count * (count - 1))
    p, p_adjusted = np.empty((2, count))
    reach = np.zeros((count, count))  # critical value × standard error of k − i with i as control
    critical, drawn, bound = [], 0, ""
    for control in range(count):
        others = np.delete(np.arange(count), control)
        family = signed.family(others, np.full(count - 1, control), one_sided=True)
        maxima = family.maxima(seed, n_draws)
        values = family.critical(maxima, level)
        reach[control, others] = np.where(family.tied, 0.0, values * family.std_error)
        p[control], p_adjusted[control] = family.p_value.min(), family.adjusted(maxima).min()
        critical += values[~family.tied].tolist()
        drawn, bound = len(maxima), family.bound if family.size > 1 else bound
    d = signed.estimate.to_numpy(dtype=float)
    gap = d[:, None] - d  # of row from column
    np.fill_diagonal(reach, np.inf)  # not from itself
    upper = np.maximum((gap + reach).min(axis=1), 0.0)
    may = (gap + reach).min(axis=1) >= 0
    below = np.where(may & ~np.eye(count, dtype=bool), gap - reach.T, np.inf)
    lower = np.minimum(below.min(axis=1), 0.0)  # 0 if no other may be best
    best_other = np.where(np.arange(count) == order[0], order[1], order[0])
    sign = 1.0 if highest else -1.0
    family = joint.family(np.arange(count), best_other)
    frame = _frame(joint.scale, family, _names_of(joint, np.arange(count), best_other), np.zeros(count))
    ends = np.sort(sign * np.column_stack([lower, upper]), axis=1)
    frame["low"], frame["high"] = ends.T
    if "percent" in frame:
        frame["percent_low"], frame["percent_high"] = 100 * np.expm1(ends.T)
    frame["p"], frame["p_adjusted"] = p, p_adjusted
    frame["verdict"] = np.where(may, f"may be {baseline}", f"not {baseline}")
    middle = float(np.median(critical)) if critical else float("nan")
    return Pairs(frame=frame.iloc[order], critical=middle, ranks=None, n_draws=drawn, bound=bound, **known)
