"""Levels of columns, split into languages, systems and their interaction; leaderboards and flags of cells."""

import importlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, get_args

import numpy as np
import pandas as pd

from langdiff.base.grids import Shown
from langdiff.base.result import Drawn, Result
from langdiff.base.types import ROUNDING, Floats, check_share
from langdiff.errors import en
from langdiff.tables.column_levels import MOST_COLUMNS, ColumnLevels, Of
from langdiff.tables.crossing import LEVELS, grid_of_board, grid_of_cells, table_of
from langdiff.tables.effects import Effects
from langdiff.tables.influences import Covariance, Draws, Influence, joint_test
from langdiff.tables.pairs import Adjustment, Pairs, rank_set
from langdiff.tables.rule import ENOUGH, JointTest, Scale, falling
from langdiff.tables.simultaneous import Family, number_of_draws

MOST_SHOWN = 40  # languages of the tables of cells in a summary
MOST_FLAGS = 20  # of them that a note names
BLOCK = 256  # rows of weights at once
MOST_DRAWS = 10_000  # of the largest statistic of the interaction


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class TwoWay(ColumnLevels, Result):
    r"""Levels of columns split into languages, systems and their interaction.

    The level :math:`d_{lm}` of system m in language l is a difficulty: larger is harder. Languages are its means over
    systems, systems its means over languages, without any assumption of additivity; the interaction is the rest. Where
    columns are missing, languages and systems are those of the unweighted least squares fit of
    :math:`\mu + \lambda_l + \theta_m` to the levels that there are. All effects are linear in the levels, :math:`A d`,
    with the joint errors of the levels.

    Attributes
    ----------
    cells : Effects
        Level of each column up to a constant, nats or log odds, with their joint errors.
    columns : DataFrame, P rows
        ``language`` and ``system`` of each column, indexed by name.
    system_scale : Scale
        Quantity and unit of systems; abilities are minus the means of levels.
    additive : bool
        Whether the levels come from a fit without interaction, so that there is none to show.
    interacts : JointTest or None
        Test of the interaction that was made otherwise, such as by scores at the additive fit; None for that of levels.
    bounds : DataFrame or None
        Columns at chance, by name: ``language`` and ``system``; ``level_low`` and ``interaction_low``, the least levels
        and interactions that their answers allow. Languages are then means over the other systems.
    aside : DataFrame or None
        Columns of languages or systems that are wholly at chance, of which the levels alone have an end: as `bounds`.
    system_bounds : Series or None
        Highest mean ability of each system with columns at chance, less that of all others.

    Raises
    ------
    DataError
        If no chain of columns connects some languages and systems, a level is not finite, or shapes differ.

    Examples
    --------
    >>> import langdiff as ld
    >>> tables = {name: ld.simulate(60, 3, seed=seed).surprisals for seed, name in enumerate(["llama", "gpt2"])}
    >>> two_way = ld.fit(tables).two_way
    >>> two_way
    TwoWay: 3 languages × 2 systems, 6 columns (nats)
    >>> two_way.interaction.estimate.unstack("system").sum().abs().round(6).tolist()
    [0.0, 0.0]
    """

    @cached_property
    def _root(self) -> Floats:
        """Matrix F whose product FᵀF is the covariance of the levels, shape (K, P): influences where there are any."""
        source = self.cells.influence
        return source.adjusted if isinstance(source, Influence) else factor_of(self.cells.covariance.to_numpy())

    @cached_property
    def _cells(self) -> Family:
        """The family of all cells of the interaction, in falling order."""
        self._has_interaction()
        estimate, source = self._residual(self.levels.to_numpy(dtype=float)), self.cells.influence
        order = falling(estimate, self.levels.index)
        factor = self._residual(self._root)[:, order]
        error = np.sqrt(np.einsum("kp,kp->p", factor, factor))
        least = ROUNDING * np.sqrt(np.einsum("kp,kp->p", self._root, self._root))[order]
        drawn: Floats | None = factor
        if isinstance(source, Influence) and source.count < ENOUGH:
            drawn = None if source.shape is None else self._residual(factor_of(source.shape))[:, order]
        elif isinstance(source, Influence):  # the order of units and their names change nothing
            drawn = factor[np.lexsort(np.round(factor[:, :3] / max(error.max(), ROUNDING), 8).T)]
        return Family(
            weights=None,
            estimate=estimate[order],
            std_error=np.where(error <= least, 0.0, error),
            freedom=self._cell_freedom()[order],
            reference=None,
            shared=not isinstance(source, Influence),
            factor=drawn,
        )

    def _cell_freedom(self) -> Floats:
        """Return the degrees of freedom of each cell of the interaction, shape (P,)."""
        source, count = self.cells.influence, len(self.levels)
        if isinstance(source, Draws | Covariance):
            return np.full(count, np.inf if isinstance(source, Draws) else float(np.min(source.freedom)))
        own = np.empty(count)
        for start in range(0, count, BLOCK):
            rows = np.zeros((min(BLOCK, count - start), count))
            rows[np.arange(len(rows)), start + np.arange(len(rows))] = 1.0
            own[start : start + len(rows)] = source.freedom_along(self._residual(rows))
        return own

    @cached_property
    def _maxima(self) -> Floats:
        """Largest statistics over the cells of the interaction, from seed 0."""
        return self._cells.maxima(0, min(MOST_DRAWS, number_of_draws(self._cells.size)))

    def test(self) -> pd.DataFrame:
        """Test whether languages are equal, whether systems are, and whether their effects add up.

        Returns
        -------
        DataFrame
            Rows ``languages``, ``systems``, ``interaction``: ``by``, ``statistic``, ``df``, ``freedom``, ``p`` and
            ``flips`` as `langdiff.Effects.test` has them; and ``p_largest``, that of the largest of all effects.

        Examples
        --------
        >>> import langdiff as ld
        >>> tables = {name: ld.simulate(60, 3, seed=seed).surprisals for seed, name in enumerate(["llama", "gpt2"])}
        >>> ld.fit(tables).two_way.test()["df"].to_dict()
        {'languages': 2, 'systems': 1, 'interaction': 2}
        """
        rows = {}
        for name in get_args(Of):
            effects = self.effects(name)
            rows[name] = *effects.test(), effects.largest_p()
        if not self.additive:
            family, test = self._cells, self.interacts or self._test_cells()
            of_family = family.adjusted(self._maxima) if family.size > 1 else family.p_value
            rows["interaction"] = *test, float(of_family.min())
        elif self.interacts is not None:
            rows["interaction"] = *self.interacts, np.nan
        columns = [*JointTest._fields, "p_largest"]
        return pd.DataFrame.from_dict(rows, orient="index", columns=columns)

    def _test_cells(self) -> JointTest:
        """Test whether levels interact."""
        dummies, source = self._all.dummies, self.cells.influence
        count, df = len(self.levels), len(self.levels) - dummies.shape[1] + 1
        estimate, residual = self._residual(self.levels.to_numpy(dtype=float)), self._residual
        if isinstance(source, Influence):
            share = source.share if source.share.ndim == 1 else source.share.mean(axis=1)
            raw = None if source.raw is None else residual(source.raw)
            rest = Influence(residual(source.values), share, source.units, source.corrected, raw)
            return joint_test(estimate, rest, df)
        if count > MOST_COLUMNS:
            return JointTest("", float("nan"), df, float("nan"), float("nan"))
        freedom = source.freedom if isinstance(source, Covariance) else float("inf")
        return joint_test(estimate, Covariance(self.interaction.covariance.to_numpy(), freedom), df)

    def flags(self, q: float = 0.05, *, level: float = 0.95) -> pd.DataFrame:
        """Return all cells of the interaction, and flag cells that differ from the sum of language and system.

        Parameters
        ----------
        q : float
            Rate of false discoveries among the flags (Benjamini and Hochberg 1995).
        level : float
            Probability that all intervals contain their effect.

        Returns
        -------
        DataFrame
            Indexed by ``language`` and ``system``, the hardest first: ``estimate``, ``std_error``, ``low`` and ``high``
            (simultaneous), for nats ``percent``; ``p`` of the cell by itself, ``p_adjusted`` (max-t), ``q``; and
            ``flag``: ``"harder"``, ``"easier"`` (of scores ``"higher"``, ``"lower"``) or empty. A cell without which
            its language or its system has none has no interaction: NaN. Where there are columns at chance, their rows
            come last, with the end ``low`` alone, and all have a ``kind``: ``"measured"`` or ``"bound"``.

        Raises
        ------
        ConfigError
            If `q` or `level` is out of range.
        DataError
            If the levels come from an additive fit.

        Examples
        --------
        >>> import langdiff as ld
        >>> tables = {name: ld.simulate(60, 3, seed=seed).surprisals for seed, name in enumerate(["llama", "gpt2"])}
        >>> ld.fit(tables).two_way.flags().shape
        (6, 9)
        """
        check_share("q", q)
        check_share("level", level)
        order = falling(self._residual(self.levels.to_numpy(dtype=float)), self.levels.index)
        found = flag_cells(self._cells, self._index[order], self.scale, q=q, level=level, maxima=self._maxima)
        alone = self._cells.tied & (np.abs(self._cells.estimate) <= ROUNDING)
        found.loc[self._index[order][alone], found.columns != "flag"] = np.nan
        return self._with_bounds(found, "interaction", self.bounds)

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
        """Compare all pairs of languages, of systems, or of the languages of one system.

        Parameters
        ----------
        of, over, weights
            Effects that are compared, and means they are; see `effects`.
        adjust, baseline, level
            Adjustment, name compared with, and probability; see `langdiff.Effects.pairs`.

        Returns
        -------
        Pairs
            Differences with simultaneous intervals, and rank sets.

        Raises
        ------
        ConfigError
            If an argument cannot be used.
        DataError
            If the errors are not known.

        Examples
        --------
        >>> import langdiff as ld
        >>> tables = {name: ld.simulate(60, 3, seed=seed).surprisals for seed, name in enumerate(["llama", "gpt2"])}
        >>> len(ld.fit(tables).two_way.pairs("llama").frame)
        3
        """
        return self.effects(of, over=over, weights=weights).pairs(adjust=adjust, baseline=baseline, level=level)

    def leaderboard(
        self, of: str = "systems", *, over: Iterable[str] | None = None, weights: Mapping[str, float] | None = None
    ) -> pd.DataFrame:
        """Rank systems, or languages, with sets of ranks that hold together.

        With few systems of equal quality, the first of them is best in many samples (.46 of them with eight): read the
        set of ranks, not the rank.

        Parameters
        ----------
        of, over, weights
            Effects that are ranked, and means they are; see `effects`.

        Returns
        -------
        DataFrame
            The best first (the least difficulty, or the highest ability): the estimate, ``std_error``, ``low`` and
            ``high`` (simultaneous), for nats ``percent``; ``rank`` and the ends ``rank_low`` and ``rank_high`` of its
            set, also as text (``ranks``). With `system_bounds`, these systems come last, with the end ``high`` alone;
            all have a ``kind``, ``"measured"`` or ``"bound"``.

        Examples
        --------
        >>> import langdiff as ld
        >>> tables = {name: ld.simulate(60, 3, seed=seed).surprisals for seed, name in enumerate(["llama", "gpt2"])}
        >>> ld.fit(tables).two_way.leaderboard()["ranks"].tolist()
        ['1–2', '1–2']
        """
        board = rank_best(self.effects(of, over=over, weights=weights))
        bounds = self.system_bounds
        if of != "systems" or over is not None or weights is not None or bounds is None:
            return board
        rows = pd.DataFrame({"high": bounds, "kind": "bound"}).rename_axis("system")
        ranks = dict.fromkeys(board.columns.intersection(["rank", "rank_low", "rank_high"]), "Int64")
        return pd.concat([board.assign(kind="measured").astype(ranks), rows])

    def underserved(self, predictors: pd.DataFrame | Sequence[pd.DataFrame], formula: str, *, q: float = 0.05) -> Any:
        """Find languages, and cells, that are served worse than predictors suggest.

        Levels are regressed on predictors, with a constant for each system and random deviations of languages and of
        cells; the excess of a cell is what it has beyond the prediction from all others. See
        `langdiff.regression.Underserved`.

        Parameters
        ----------
        predictors : DataFrame, or sequence of them
            What is known of languages, such as the size of their training data, indexed by language; or of columns,
            such as the premium of tokens, indexed by the name of the column, or by language and system.
        formula : str
            Predictors in Wilkinson's notation, such as ``"log(token_premium) + log(data)"``.
        q : float
            Rate of false discoveries of the flags (Benjamini and Hochberg 1995), among cells and among languages.

        Returns
        -------
        Underserved
            One row per cell, and one per language, with the excess, its interval and a flag.

        Raises
        ------
        ConfigError
            If the formula cannot be used with the predictors, or `q` is out of range.
        DataError
            If there are fewer than ten languages a predictor or more than 2,000 columns, or columns are at chance.

        Warns
        -----
        LangdiffWarning
            If a predictor is not known of some languages, which are then left out.

        Examples
        --------
        >>> import langdiff as ld
        >>> tables = {name: ld.simulate(60, 12, seed=seed).surprisals for seed, name in enumerate(["llama", "gpt2"])}
        >>> data = pd.DataFrame({"data": np.arange(1.0, 13)}, index=[f"e{j}" for j in range(1, 13)])
        >>> ld.fit(tables).two_way.underserved(data, "log(data)").frame.loc[("e1", "all"), "flag"]
        ''
        """
        find: Any = importlib.import_module("langdiff.regression.underserved")
        return find.find_underserved(self, predictors, formula, q=q)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per column.

        Returns
        -------
        DataFrame
            Indexed by ``language`` and ``system``: ``level``, centred, with its ``std_error``; and its parts:
            ``language_effect``, ``system_effect`` (both difficulties) and ``interaction``. Where there are columns at
            chance, their rows come last, with the end ``low`` alone, and all have a ``kind``: ``"measured"`` or
            ``"bound"``.
        """
        levels = self.levels.to_numpy(dtype=float)
        levels = levels - levels.mean()
        error = self.cells.std_error.to_numpy()
        frame = pd.DataFrame({"level": levels, "std_error": error}, index=self._index)
        for of in get_args(Of):
            found = dict(zip(self._all.names(of), self._all.means(levels[self._compared], of), strict=True))
            frame[f"{of[:-1]}_effect"] = self.columns[of[:-1]].map(found).to_numpy()
        frame["interaction"] = np.nan if self.additive else self._residual(levels)
        centre = float(self.levels.mean())
        return self._with_bounds(frame, "level", self.bounds, self.aside, centre=centre)

    def _with_bounds(
        self, measured: pd.DataFrame, of: str, *bounds: pd.DataFrame | None, centre: float = 0.0
    ) -> pd.DataFrame:
        """Return a frame of cells with those at chance below, of which one end is known."""
        known = [part for part in bounds if part is not None]
        if not known:
            return measured
        cells = pd.concat(known)
        ends = cells[f"{of}_low"].to_numpy() - centre
        rows = pd.DataFrame({"low": ends}, pd.MultiIndex.from_frame(cells[list(LEVELS)]))
        if "flag" in measured:
            rows["flag"] = np.where(rows["low"] > 0, FLAGS["hardest"][0], "")
        return pd.concat([measured.assign(kind="measured"), rows.assign(kind="bound")])

    plot = Drawn("plot_difficulties")
    between: ClassVar[str] = " "

    def _lines(self) -> Iterator[str]:
        bounds = pd.Series(dtype=float) if self.system_bounds is None else self.system_bounds
        if len(self.systems.estimate) > 1:
            told = " ".join(table_of(self.systems).sentences())
            some = set() if self.bounds is None else set(self.bounds["system"])
            kinds = [[name for name in bounds.index if (name in some) is part] for part in (False, True)]
            said = zip(kinds, (", at chance", ", at chance in part"), strict=True)
            apart = [en(names) + how for names, how in said if names]
            yield f"Without {', and '.join(apart)}: {told}" if apart else told
        for name, high in bounds.items():
            if high < 0:
                others = en(self.systems.estimate.index)
                yield f"{name} is behind the mean of {others} by at least {-high:.2f} {self.scale.unit}."

    def tables(self) -> list[Shown]:
        """Return leaderboards of systems and languages, the levels, and the interaction."""
        single = self.columns["system"].nunique() == 1
        if single and self.aside is None:
            return [self._board("languages")]
        found = [self._board(of) for of in ("systems", "languages") if self.columns[of[:-1]].nunique() > 1]
        cells, sign = self.to_frame(), -1 if self._abler else 1
        unit = "percent" if self.scale.unit == "nats" else self.scale.unit
        what = self.system_scale.quantity.replace("_", " ").capitalize()
        order = [self.leaderboard(of).index for of in ("languages", "systems")]
        shown = [names.append(pd.Index(self.without_level[of])) for names, of in zip(order, LEVELS, strict=True)]
        if len(shown[0]) == 1 or len(shown[0]) > MOST_SHOWN:
            return found
        less = " less the mean of all" if what == "Score" else ""
        level = grid_of_cells(cells.rename(columns={"level": "estimate"}), *shown, sign=sign, unit=unit)
        found.insert(
            1, Shown(level, "levels", f"{what} of each system in each language{less}, {unit} ± standard error")
        )
        if single:
            return found
        if self.additive:
            test = () if self.interacts is None else (f"Interaction: {self.interacts.words}.",)
            return [*found, Shown(name="interaction", notes=("No interaction, since the fit is additive.", *test))]
        caption = f"Interaction, {unit} ± standard error: {what.lower()} beyond language and system"
        grid = grid_of_cells(self.flags(), *order, sign=sign, unit=unit)
        return [*found, Shown(grid, "interaction", caption, tuple(self._of_interaction()))]

    @property
    def without_level(self) -> dict[str, list[str]]:
        """Languages, and systems, that are in no leaderboard, since all their columns are at chance."""
        boards = {level: self.leaderboard(f"{level}s").index for level in LEVELS}
        aside = pd.DataFrame(columns=list(LEVELS)) if self.aside is None else self.aside
        return {level: list(dict.fromkeys(aside.loc[~aside[level].isin(boards[level]), level])) for level in LEVELS}

    @property
    def _abler(self) -> bool:
        """Whether higher levels are shown as better ones."""
        return self.system_scale.quantity == "ability"

    def _board(self, of: str) -> Shown:
        effects = self.effects(of)
        what = f"{effects.scale.quantity.replace('_', ' ').capitalize()} of {of}"
        what += " less the mean of all" if effects.scale.quantity == "score" else ""  # whose unit has a zero of its own
        together = "intervals and ranks hold together (95 %)" if effects.known else "errors are not known"
        test = JointTest(*self.test().loc[of].iloc[:-1])
        notes = [f"{of.capitalize()}: {test.words}."] if test.df else []
        notes += [self.cells.words] if of == "systems" and self.cells.words else []
        gaps = self.without_level[of[:-1]]
        notes += [f"No level, since all columns are at chance: {en(gaps)}."] if gaps else []
        grid = grid_of_board(self.leaderboard(of), effects.scale)
        return Shown(grid, of, f"{what} ± standard error; {together}", notes)

    def _of_interaction(self) -> Iterator[str]:
        yield f"Interaction: {JointTest(*self.test().loc['interaction'].iloc[:-1]).words}."
        flags = self.flags()
        found = flags[flags["flag"] != ""]
        named = [f"{cell[0]} under {cell[1]} ({flag})" for cell, flag in zip(found.index, found["flag"], strict=True)]
        some = f": {', '.join(named[:MOST_FLAGS])}{', …' if len(named) > MOST_FLAGS else ''}" if named else ""
        yield f"Cells flagged at a rate of false discoveries of 5 %: {len(found):,} of {len(flags):,}{some}."
        if flags["estimate"].isna().sum() > (0 if self.bounds is None else len(self.bounds)):
            yield "–: no interaction can be told, since a language or a system has no other column to compare."
        if self.bounds is not None:
            yield "Bounds of the interaction hold together (95 %)."

    @property
    def converged(self) -> bool:
        """Whether the fit behind the levels converged."""
        return self.cells.converged

    @property
    def title(self) -> str:
        """Name of the source."""
        return self.cells.title

    @property
    def signature(self) -> str:
        """Everything the levels depend on."""
        return self.cells.signature

    def __repr__(self) -> str:
        """Return the numbers of languages, systems and columns in one line."""
        languages, systems = (self.columns[level].nunique() for level in LEVELS)
        return (
            f"TwoWay: {languages:,} languages × {systems:,} systems, {len(self.levels):,} columns ({self.scale.unit})"
        )


def factor_of(covariance: Floats) -> Floats:
    """Return a factor F of a covariance V = FᵀF, shape (P, P).

    Examples
    --------
    >>> factor_of(np.array([[4.0, 0.0], [0.0, 1.0]])).round(12).tolist()
    [[2.0, 0.0], [0.0, 1.0]]
    """
    values, vectors = np.linalg.eigh(covariance)
    root: Floats = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
    return root


FLAGS = {"hardest": ("harder", "easier")}  # of cells; others are higher or lower than the sum


def flag_cells(
    family: Family, names: pd.Index, scale: Scale, *, q: float, level: float, maxima: Floats
) -> pd.DataFrame:
    """Return one row per cell, with an interval that holds for all cells together, and a flag."""
    from scipy.stats import false_discovery_control

    low, high = family.interval(family.critical(maxima, level))
    columns = {"estimate": family.estimate, "std_error": family.std_error, "low": low, "high": high}
    if scale.unit == "nats":
        columns["percent"] = 100 * np.expm1(family.estimate)
    frame = pd.DataFrame(columns | {"p": family.p_value, "p_adjusted": family.adjusted(maxima)}, index=names)
    frame["q"] = false_discovery_control(family.p_value) if len(frame) else 1.0
    sign = np.where(family.estimate > 0, *FLAGS.get(scale.first, ("higher", "lower")))
    frame["flag"] = np.where(frame["q"] <= q, sign, "")
    return frame.sort_values("estimate", ascending=False, kind="stable")


def rank_best(effects: Effects) -> pd.DataFrame:
    """Return one row per effect, the best first: the least difficulty, or the highest ability.

    Examples
    --------
    >>> import langdiff as ld
    >>> fit = ld.fit(ld.simulate(100, 3, difficulties=[0.3, 0.0, 0.0], seed=1).surprisals)
    >>> rank_best(fit.effects)["ranks"].to_dict()["e1"]
    '3'
    """
    found = effects.to_frame()
    known = {"rank_low", "rank_high"} <= set(found.columns)
    together = effects.against_mean() if known else found[["low", "high"]]
    frame = found[[effects.scale.quantity, "std_error"]].join(together)
    if effects.scale.unit == "nats":
        frame["percent"] = found["percent"]
    count = len(frame)
    highest = effects.scale.first != "hardest"
    estimate = effects.estimate.reindex(frame.index)
    frame["rank"] = (-estimate if highest else estimate).rank(method="min").astype(int)
    if known:
        low, high = found["rank_low"], found["rank_high"]
        frame["rank_low"], frame["rank_high"] = (low, high) if highest else (count + 1 - high, count + 1 - low)
        frame["ranks"] = [rank_set(int(a), int(b)) for a, b in zip(frame["rank_low"], frame["rank_high"], strict=True)]
    return frame.sort_values("rank", kind="stable")
