r"""What a fit of outcomes says: expected rates, levels of languages and systems, differences and items at fault.

.. math:: c + (1 - c) \int \mathrm{logistic}\big(\theta - x^\top\beta - \sqrt{\sigma^2\lambda^2 + \tau^2}\, z\big)
    \varphi(z)\, dz
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import pandas as pd
from scipy.special import expit

from langdiff.base.types import Floats
from langdiff.errors import ConfigError, DataError, en, listing, option, words
from langdiff.regression.outcomes.chance import chance_of
from langdiff.regression.outcomes.design import ItemDesign, rows_of
from langdiff.regression.outcomes.evaluation import row_levels
from langdiff.regression.outcomes.faults import ItemFaults, items_at_fault
from langdiff.regression.outcomes.inference import (
    ABILITY,
    DIFFICULTY,
    INTERACTION,
    ITEMS,
    LOADING,
    PROFILE,
    SPREAD,
    TERM,
    TRANSLATIONS,
    part_of,
)
from langdiff.regression.outcomes.integrals import patterns
from langdiff.regression.outcomes.likelihoods import ABILITIES, DIFFICULTIES
from langdiff.tables.crossing import LEVELS, SIGN
from langdiff.tables.effects import Effects
from langdiff.tables.outcomes import Outcomes
from langdiff.tables.pairs import Adjustment, Pairs
from langdiff.tables.rule import JointTest, shares
from langdiff.tables.two_way import TwoWay

if TYPE_CHECKING:
    from langdiff.regression.outcomes.result import OutcomeFit


NODES = 60
MOST_SAID = 3  # systems of which a sentence each is said
DIFFERENT = 0.05  # p of a profile that is said to differ


class Rates(NamedTuple):
    """Rates by group of items, (G, J), and their derivatives in the published parameters, (G, J, P)."""

    values: Floats
    slopes: Floats
    groups: pd.Index


def expected_rates(fit: "OutcomeFit", *, errors: bool = False) -> pd.DataFrame:
    """Return success rates over all items of each group; see `OutcomeFit.expected_rates`."""
    found = rates_of(fit)
    if not errors:
        return pd.DataFrame(found.values, index=found.groups, columns=fit.systems.index)
    names = pd.MultiIndex.from_product([found.groups, fit.systems.index])
    slopes = found.slopes.reshape(len(names), -1)
    rates = replace(fit._all.linear(slopes, names, shares("rate")), estimate=pd.Series(found.values.ravel(), names))
    low, high = rates._ends()
    return pd.DataFrame({"rate": rates.estimate, "std_error": rates.std_error, "low": low, "high": high})


def rates_of(fit: "OutcomeFit") -> Rates:
    """Return rates by group with their derivatives."""
    if fit.structure.conditional:
        raise ConfigError(
            f"model {fit.model!r} knows no rates over a distribution of items: use {option('model', 'rasch')}."
        )
    design, systems = fit.design(fit.items), fit.systems.index
    nothing = pd.DataFrame(np.nan, fit.items.index, systems)
    empty = Outcomes(successes=nothing, items=fit.items, systems=fit.systems, columns=fit.columns)
    rows = rows_of(empty, design, fit.structure, fit.chance_of(empty))
    merged, place = patterns(rows)  # without a formula, as many as there are groups
    level, chance = row_levels(merged, fit.point), merged.constant
    own = fit.point.spread * np.exp(fit.point.log_loading)
    loading = np.sqrt(own**2 + fit.point.translation**2)
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    mean = fit.structure.likelihood.mean
    values, slope, along = (np.zeros(level.shape) for _ in range(3))
    for z, weight in zip(nodes, weights / weights.sum(), strict=True):
        eta = level - loading * z
        values += weight * mean(eta, chance)
        density = weight * expit(eta) * expit(-eta) * (1 if chance is None else 1 - chance)
        slope += density
        along -= z * density
    groups = part_of(fit.parameters, DIFFICULTY).index
    group = np.zeros(len(place), dtype=int) if design.group is None else design.group
    shares = (group == np.arange(len(groups))[:, None]).astype(float)
    shares /= shares.sum(axis=1, keepdims=True)
    by_pattern = np.stack([np.bincount(place, one, minlength=len(values)) for one in shares]).astype(float)
    slopes = _chain(fit, design, by_pattern, (slope, along, own / np.where(loading > 0, loading, 1)), merged.x)
    named = groups.rename(fit.interaction or fit.by or "items")
    return Rates(by_pattern @ values, slopes, named)


def _chain(
    fit: "OutcomeFit", design: ItemDesign, shares: Floats, slopes: tuple[Floats, Floats, Floats], x: Floats
) -> Floats:
    """Return derivatives of rates in the published parameters, shape (G, J, P)."""
    slope, along, of_spread = slopes
    index = fit.parameters.index
    systems = len(fit.systems)
    found = np.zeros((len(shares), systems, len(index)))
    of_level, of_loading = shares @ slope, shares @ along
    place = {pair: k for k, pair in enumerate(index)}
    kind = index.get_level_values(0)
    ability = np.flatnonzero(kind == ABILITY)
    j = np.arange(systems)
    found[:, j, ability] = of_level
    groups = np.flatnonzero(kind == DIFFICULTY)
    for g, at in enumerate(groups):
        found[g, :, at] = -of_level[g]
    profile = np.flatnonzero(kind == PROFILE)
    if len(profile):
        for g, some in enumerate(profile.reshape(len(groups), systems)):
            found[g, j, some] = -of_level[g]
    for k, at in enumerate(np.flatnonzero(kind == TERM)):
        found[:, :, at] = -(shares * x[:, design.indicators + k]) @ slope
    loading = np.exp(fit.point.log_loading)
    if (SPREAD, ITEMS) in place:
        found[:, :, place[SPREAD, ITEMS]] = of_loading * of_spread * loading
    if (SPREAD, TRANSLATIONS) in place and fit.point.translation > 0:
        total = np.sqrt((fit.point.spread * loading) ** 2 + fit.point.translation**2)
        found[:, :, place[SPREAD, TRANSLATIONS]] = of_loading * (fit.point.translation / total)
    loadings = np.flatnonzero(kind == LOADING)
    if len(loadings):
        found[:, j, loadings] = of_loading * of_spread * fit.point.spread
    return found


def with_bounds(board: pd.DataFrame, guessing: pd.DataFrame | None) -> pd.DataFrame:
    """Return a leaderboard of columns with those at chance below, of which one end is known."""
    if guessing is None or not guessing["at_chance"].any():
        return board
    rows = pd.DataFrame({"high": -guessing.loc[guessing["at_chance"], "level_low"], "kind": "bound"})
    found: pd.DataFrame = pd.concat([board.assign(kind="measured"), rows]).rename_axis(str(board.index.name))
    return found


class Crossed:
    """Languages and systems of a fit of outcomes; see `langdiff.OutcomeFit`, which inherits it."""

    @property
    def _fit(self) -> "OutcomeFit":
        return cast("OutcomeFit", self)

    @cached_property
    def two_way(self) -> TwoWay:
        """Levels of the columns split into languages, systems and interaction, where there are several languages.

        Languages and interaction are difficulties, systems abilities, all in log odds; of scores all are on their
        scale, and of counts logarithms of rates. Systems with columns at chance
        are set aside, so that means are over the same systems; see `bounds`.

        Examples
        --------
        >>> import langdiff as ld
        >>> outcomes = ld.simulate_crossed_outcomes(100, 2, 3, seed=1).outcomes
        >>> ld.fit_outcomes(outcomes).two_way
        TwoWay: 2 languages × 3 systems, 6 columns (log odds)
        """
        if self._fit.columns is None:
            raise DataError("the outcomes have one level: give languages when they are read, to compare languages.")
        abilities, profiles, columns = self._fit.abilities, self._fit.profiles, self._fit.columns
        bounds = self._bounds()
        compared = ~columns["system"].isin(bounds["system"])
        if not self.split:
            raise DataError(
                f"every system has a column at chance ({listing(bounds.index)}), so that there are no means over "
                "languages or systems: compare columns of one system, as by `abilities.contrast`."
            )
        kept = columns["language"].isin(columns.loc[compared, "language"])
        if columns.loc[compared, "language"].isin(bounds["language"]).all():  # no language has all systems
            kept &= compared
        scale = self._fit.structure.likelihood.scale
        harder = scale == ABILITIES  # levels are difficulties, and those of scores and counts as they are
        signed = (-1 if harder else 1) * np.eye(len(kept))[kept]
        return TwoWay(
            cells=abilities.linear(signed, columns.index[kept], DIFFICULTIES if harder else scale),
            columns=columns[kept],
            system_scale=scale,
            additive=self._fit.additive,
            interacts=None if profiles is None else JointTest(*profiles.loc[INTERACTION, list(JointTest._fields)]),
            system_bounds=self._fit.bounds,
            bounds=bounds if len(bounds) and (kept & ~compared).any() else None,
            aside=aside if len(aside := self._at_chance(aside=True)) else None,
        )

    @property
    def split(self) -> bool:
        """Whether some system has no column at chance, so that levels can be split into languages and systems."""
        columns = self._fit.columns
        return columns is not None and not columns["system"].isin(self._bounds()["system"]).all()

    def _bounds(self) -> pd.DataFrame:
        return self._at_chance(aside=False)

    def _at_chance(self, *, aside: bool) -> pd.DataFrame:
        """Return the columns at chance, with their bounds, whose language and system have others, or have none."""
        guessing, columns = self._fit.guessing, self._fit.columns
        if guessing is None or columns is None:
            return pd.DataFrame(columns=[*LEVELS, "level_low", "interaction_low"])
        low = guessing[guessing["at_chance"]]
        names = [name.split(SIGN) for name in low.index]
        found = low.assign(**{level: [name[place] for name in names] for place, level in enumerate(LEVELS)})
        inside = found["language"].isin(columns["language"]) & found["system"].isin(columns["system"])
        bounds: pd.DataFrame = found.loc[inside != aside, [*LEVELS, "level_low", "interaction_low"]]
        return bounds

    def set_aside(self) -> dict[str, list[str]]:
        """Return languages and systems all of whose columns are at chance, so that only their bounds are known."""
        aside, columns = self._at_chance(aside=True), self._fit.columns
        gone = (
            {} if columns is None else {level: aside.loc[~aside[level].isin(columns[level]), level] for level in LEVELS}
        )
        return {f"{level}s": list(dict.fromkeys(own)) for level, own in gone.items() if len(own)}

    def sentences_of_chance(self) -> Iterator[str]:
        """Yield which languages and systems are at chance, or below it, where others are not."""
        guessing, aside = self._fit.guessing, self.set_aside()
        if guessing is None:
            return
        low = guessing[guessing["at_chance"]]
        names = [str(name).split(SIGN) if self._fit.columns is not None else [str(name)] for name in low.index]
        first, last = ([parts[place] for parts in names] for place in (0, -1))
        low = low.assign(language=first, system=last).rename_axis("column")
        if (languages := aside.get("languages")) and len(low) > 0:
            yield f"No system can be told from guessing in {en(languages)}."
            low = low[~low["language"].isin(languages)]
        for below, rows in low.groupby("below"):
            if rows["system"].nunique() > MOST_SAID:
                what = "below" if below else "at"
                yield f"{rows['system'].nunique()} systems are {what} chance in {len(rows)} columns."
                continue
            for system, own in rows.groupby("system", sort=False):
                yield self._of_guesses(str(system), own, below=bool(below), all_=system in aside.get("systems", ()))

    def sentences_of_profiles(self) -> Iterator[str]:
        """Yield which systems have profiles over languages that differ from the others'."""
        profiles, bounds = self._fit.profiles, self._bounds()
        if profiles is None:
            return
        differ = profiles["p_holm"][profiles["p_holm"] <= DIFFERENT]
        if differ.empty:
            yield "No system's profile over languages was shown to differ from the others'."
        elif len(differ) > MOST_SAID:
            yield f"Profiles over languages differ from the others' (Holm over systems): {en(differ.index)}."
        for system, p in differ.items() if len(differ) <= MOST_SAID else ():
            where = self._where(str(system), bounds[bounds["system"] == system])
            yield f"{system}'s profile over languages differs from the others' (p = {p:.2g}){where}."
        if len(bounds):
            yield "How much lower bounds are cannot be said: their answers set no lower end."

    def _of_guesses(self, system: str, rows: pd.DataFrame, *, below: bool, all_: bool) -> str:
        """Return a sentence on the columns of a system that are at chance, or below it; in all languages or in some."""
        columns, languages = self._fit.columns, rows["language"]
        rate, chance = rows["rate"].mean(), rows["chance"].mean()
        where = "" if columns is None else " in any language" if all_ else f" in {en(languages)}"
        if below:
            told = f"({rate:.3g} of {chance:.3g}, p = {rows['p_below'].max():.1g}): not guessing"
            where = where.replace(" any ", " every ")
            return f"{system} is below chance{where} {told}; look at extraction of answers, order of options, key."
        can: list[Any] = []
        if columns is not None and not all_:
            others = columns[columns["language"].isin(languages)]["system"].value_counts()
            can = [name for name, count in others.items() if count == len(languages)]
        where += f" ({100 * rate:.3g} % right, chance {100 * chance:.3g} %)"
        told = f", where {en(can[:MOST_SAID])} can" if can else ""
        return f"{system} cannot be told from guessing{where}{told}."

    def _where(self, system: str, bounds: pd.DataFrame) -> str:
        """Return where the profile of a system differs most, as the end of a sentence."""
        if len(bounds) and bounds["interaction_low"].notna().any():
            row = bounds.iloc[int(np.nanargmax(bounds["interaction_low"]))]
            least = row["interaction_low"]
            return f": in {row['language']} it " + (
                f"is lower by at least {least:.2f} log odds" if least > 0 else "was not shown to be lower"
            )
        flags = self.two_way.flags() if self.split and not self._fit.additive else pd.DataFrame()
        own = flags[flags.index.get_level_values("system") == system] if len(flags) else flags
        if not len(own) or not (own["flag"] != "").any():
            return ""
        place = int(np.nanargmax(own["estimate"].abs().where(own["flag"] != "")))
        row = own.iloc[place]
        how = "lower" if row["estimate"] > 0 else "higher"
        size = f"{abs(row['estimate']):.2f} ± {row['std_error']:.2f} log odds"
        return f": in {own.index[place][0]} it is {how} by {size}"

    def leaderboard(
        self,
        of: str = "systems",
        *,
        over: Iterable[str] | None = None,
        weights: Mapping[str, float] | None = None,
    ) -> pd.DataFrame:
        """Rank systems, or languages, with sets of ranks that hold together; see `langdiff.TwoWay.leaderboard`.

        Examples
        --------
        >>> import langdiff as ld
        >>> fit = ld.fit_outcomes(ld.simulate_crossed_outcomes(200, 2, 3, seed=1).outcomes)
        >>> fit.leaderboard().index[0]
        's3'
        """
        return self.two_way.leaderboard(of, over=over, weights=weights)

    def pairs(
        self,
        of: str = "languages",
        *,
        adjust: Adjustment | None = "max-t",
        baseline: str | None = None,
        level: float = 0.95,
        over: Iterable[str] | None = None,
        weights: Mapping[str, float] | None = None,
    ) -> Pairs:
        """Compare all pairs of languages, of systems, or of the languages of one system, also in percentage points.

        Examples
        --------
        >>> import langdiff as ld
        >>> fit = ld.fit_outcomes(ld.simulate_crossed_outcomes(200, 2, 3, seed=1).outcomes)
        >>> fit.pairs("systems").frame[["points", "points_std_error"]].shape
        (3, 2)
        """
        one_level = self._fit.columns is None
        effects = self._fit.abilities if one_level else self.two_way.effects(of, over=over, weights=weights)
        found = effects.pairs(adjust=adjust, baseline=baseline, level=level)
        if self._fit.structure.conditional or baseline in ("hardest", "easiest", "ablest", "weakest"):
            return found
        of_columns = [self._compared(one, other, of, over, weights) for one, other in found.frame.index]
        points, error = self._points(np.stack(of_columns))
        return replace(found, frame=found.frame.assign(points=points, points_std_error=error))

    def _points(self, of_columns: Floats) -> tuple[Floats, Floats]:
        """Return weighted sums of rates of columns, (M, J), in percentage points, and their errors."""
        rates = rates_of(self._fit)
        slopes = np.einsum("mj,jp->mp", of_columns, rates.slopes.mean(axis=0))
        error = self._fit._all.linear(slopes, pd.RangeIndex(len(slopes)), ABILITIES).std_error
        return 100 * of_columns @ rates.values.mean(axis=0), 100 * error.to_numpy()

    def contrasts(self, names: Iterable[str]) -> pd.DataFrame:
        """Compare two systems, languages or columns, in log odds of a right answer and in percentage points.

        Parameters
        ----------
        names : iterable of str
            Contrasts, such as ``"large - small"``, ``"fin - deu"`` or ``"fin@large - deu@large"``.

        Returns
        -------
        DataFrame
            Indexed by contrast: ``log_odds``, or of scores and counts ``difference``, on their scale or of logarithms
            of rates; ``std_error``, ``low`` and ``high`` (95 %), ``p``; ``points`` and ``points_std_error``, of the
            expected rates, but for models without them.

        Raises
        ------
        ConfigError
            If there are no such two, or one is at chance, so that its level is a bound.

        Examples
        --------
        >>> import langdiff as ld
        >>> fit = ld.fit_outcomes(ld.simulate_crossed_outcomes(200, 2, 3, seed=1).outcomes)
        >>> fit.contrasts(["s3 - s1"]).columns.tolist()
        ['log_odds', 'std_error', 'low', 'high', 'p', 'points', 'points_std_error']
        """
        found, weights = {}, []
        for text in names:
            one, _, other = map(str.strip, str(text).partition(" - "))
            of, effects = self._having(one, other, str(text))
            sign = -1 if effects.scale.quantity == "difficulty" else 1
            made = effects.contrast(*(one, other)[::sign])
            found[text] = made.estimate, made.std_error, made.low, made.high, made.p_value
            weights.append(self._compared(one, other, of, None, None))
        quantity = "log_odds" if self._fit.structure.likelihood.scale.unit == "log odds" else "difference"
        frame = pd.DataFrame.from_dict(found, orient="index", columns=[quantity, "std_error", "low", "high", "p"])
        if found and not self._fit.structure.conditional:
            frame["points"], frame["points_std_error"] = self._points(np.stack(weights))
        return frame.rename_axis("contrast")

    def _having(self, one: str, other: str, text: str) -> tuple[str, Effects]:
        """Return what two names are of, and its effects."""
        kinds = {"columns": self._fit.abilities}
        if self.split:
            kinds |= {of: self.two_way.effects(of) for of in ("systems", "languages")}
        for of, effects in kinds.items():
            if {one, other} <= set(effects.estimate.index) and one != other:
                return of, effects
        bounds, low = self._fit.bounds, self._fit.guessing
        guessed = {*([] if bounds is None else bounds.index), *([] if low is None else low.index[low["at_chance"]])}
        if named := [name for name in (one, other) if name in guessed]:
            raise ConfigError(
                f"{option('contrast', text)}: {listing(named)} cannot be told from guessing, so that only a bound is "
                "known. Leave it out."
            )
        known = [name for effects in reversed(kinds.values()) for name in effects.estimate.index]
        raise ConfigError(
            f"{option('contrast', text)}: two systems, languages or columns, as 'large - small'; there are "
            f"{listing(known, 9)}."
        )

    def _compared(
        self,
        one: str,
        other: str,
        of: str,
        over: Iterable[str] | None,
        weights: Mapping[str, float] | None,
    ) -> Floats:
        """Return the weights of columns in the difference of two languages or systems, shape (J,)."""
        columns = self._fit.columns
        if columns is None or of == "columns":
            alone = self._fit.systems.index
            return np.array([float(name == one) - float(name == other) for name in alone])
        shown = "language" if of == "languages" else "system"
        if of not in ("languages", "systems"):
            shown = "language" if (columns["system"] == of).any() else "system"
            over = [of]
        averaged = LEVELS[shown == "language"]
        if of == "languages" and over is None:
            over = set(columns["system"]) - set(self._bounds()["system"])
        names, shared = columns[shown], columns[averaged]
        first, second = ((names == name).to_numpy(dtype=bool) for name in (one, other))
        common = set(shared[first]) & set(shared[second])
        common &= set(common if over is None else [over] if isinstance(over, str) else over)
        weight: Floats = np.array(shared.isin(common), dtype=float)
        if weights is not None:
            weight = weight * shared.map(dict(weights)).fillna(0.0).to_numpy(dtype=float)
        signed = weight * (first.astype(float) - second.astype(float))
        total = weight[first].sum()
        return np.asarray(signed / total if total else signed * np.nan)

    def items_at_fault(self, q: float = 0.05, *, fewest: int | None = None) -> ItemFaults:
        """Find items whose answers suggest a wrong key, or a translation that is harder or easier than the item.

        Wrong keys, in all languages or in one, and odd translations are a mixture with right ones. Its shares, σ and τ
        are those of its highest likelihood; levels are those of the fit. Flags are of the most probable keys, as long
        as the mean probability that a key is right after all is at most `q`, and each is more probably wrong than
        right. A
        translation is judged by the total of its right answers given the answers in other languages (differential item
        functioning); flags are those of Benjamini and Hochberg's procedure whose shift is beyond .43 log odds.

        Keys can be found, in one language from the answers in others; single translations of moderate difference
        cannot, since a shift that a few answers tell has a standard error of 1 or more: see the table in the guide.

        Warns
        -----
        LangdiffWarning
            If there are too few systems for translations, so that only keys are examined.

        Examples
        --------
        >>> import langdiff as ld
        >>> fit = ld.fit_outcomes(ld.simulate_crossed_outcomes(60, 5, 3, seed=1).outcomes)
        >>> fit.items_at_fault(fewest=3)
        ItemFaults: 0 wrong keys, 0 translations
        """
        return items_at_fault(self._fit, q=q, fewest=fewest)

    def chance_of(self, outcomes: Outcomes) -> Floats | None:
        """Return the chance of a right answer in the cells of a table, as the fit takes it."""
        if self._fit.chance is None:
            return None
        languages = None if outcomes.columns is None else outcomes.columns["language"]
        found = chance_of(outcomes.items, outcomes.systems, languages, self._fit.chance).values
        if found is None:
            adding = words(python="by with_items", command="as a column of the table of items")
            raise DataError(
                f"the fit has {self._fit.chance_words}, and these outcomes have no such attribute. Add it {adding}."
            )
        return found
