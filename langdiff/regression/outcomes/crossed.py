r"""What a fit of outcomes says: expected rates, levels of languages and systems, differences and items at fault.

.. math:: c + (1 - c) \int \mathrm{logistic}\big(\theta - x^\top\beta - \sqrt{\sigma^2\lambda^2 + \tau^2}\, z\big)
    \varphi(z)\, dz
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
import pandas as pd
from scipy.special import expit

from langdiff.base.types import Floats
from langdiff.errors import ConfigError, DataError, listing, option, words
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
from langdiff.tables.contrasts import shares
from langdiff.tables.crossing import LEVELS, SIGN
from langdiff.tables.outcomes import Outcomes
from langdiff.tables.pairs import Adjustment, Pairs
from langdiff.tables.rule import JointTest
from langdiff.tables.two_way import TwoWay

if TYPE_CHECKING:
    from langdiff.regression.outcomes.result import OutcomeFit


NODES = 60


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
        abilities, profiles, low = self._fit.abilities, self._fit.profiles, self._at_chance()
        kept = ~self._fit.columns["system"].isin([column.split(SIGN)[1] for column in low]).to_numpy()
        if not kept.any():
            raise DataError(
                f"every system has a column at chance ({listing(low)}), so that there are no means over languages or "
                "systems: compare columns of one system, as by `abilities.contrast`."
            )
        columns, scale = self._fit.columns[kept], self._fit.structure.likelihood.scale
        harder = scale == ABILITIES  # levels are difficulties, and those of scores and counts as they are
        signed = (-1 if harder else 1) * np.eye(len(kept))[kept]
        return TwoWay(
            cells=abilities.linear(signed, columns.index, DIFFICULTIES if harder else scale),
            columns=columns,
            system_scale=scale,
            additive=self._fit.additive,
            interacts=None if profiles is None else JointTest(*profiles.loc[INTERACTION, list(JointTest._fields)]),
        )

    def _at_chance(self) -> list[str]:
        """Return the names of columns at chance whose system has others."""
        guessing, columns = self._fit.guessing, self._fit.columns
        if guessing is None or columns is None:
            return []
        low = guessing.index[guessing["at_chance"]]
        return [name for name in low if name.split(SIGN)[1] in set(columns["system"])]

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
        board = self.two_way.leaderboard(of, over=over, weights=weights)
        bounds = self._fit.bounds
        if of != "systems" or over is not None or weights is not None or bounds is None:
            return board
        rows = pd.DataFrame({"high": bounds, "kind": "bound"}).rename_axis("system")
        ranks = dict.fromkeys(board.columns.intersection(["rank", "rank_low", "rank_high"]), "Int64")
        found: pd.DataFrame = pd.concat([board.assign(kind="measured").astype(ranks), rows])
        return found

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
        rates = rates_of(self._fit)
        of_columns = np.stack([self._compared(one, other, of, over, weights) for one, other in found.frame.index])
        points = 100 * of_columns @ rates.values.mean(axis=0)
        slopes = np.einsum("mj,jp->mp", of_columns, rates.slopes.mean(axis=0))
        error = 100 * self._fit._all.linear(slopes, found.frame.index, found.scale).std_error
        return replace(found, frame=found.frame.assign(points=points, points_std_error=error))

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
        if columns is None:
            alone = self._fit.systems.index
            return np.array([float(name == one) - float(name == other) for name in alone])
        shown = "language" if of == "languages" else "system"
        if of not in ("languages", "systems"):
            shown = "language" if (columns["system"] == of).any() else "system"
            over = [of]
        averaged = LEVELS[shown == "language"]
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
