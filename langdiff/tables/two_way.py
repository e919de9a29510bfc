"""Levels of columns, one system in one language each, split into languages, systems and their interaction."""

import importlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_args

import numpy as np
import pandas as pd

from langdiff.base.result import Drawn, Result, rounded
from langdiff.base.types import Floats
from langdiff.errors import ConfigError, listing, option
from langdiff.tables.column_levels import MOST_COLUMNS, ColumnLevels, Of
from langdiff.tables.crossing import LEVELS
from langdiff.tables.effects import Effects
from langdiff.tables.leaderboards import flag_cells, rank_best, wald
from langdiff.tables.pairs import Adjustment, Pairs
from langdiff.tables.simultaneous import ROUNDING, Family, number_of_draws

MOST_SHOWN = 20  # names in a line of a summary
BLOCK = 256  # rows of weights at once
MOST_DRAWS = 10_000  # of the largest statistic of the interaction


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class TwoWay(ColumnLevels, Result):
    r"""Levels of columns split into languages, systems and their interaction.

    The level :math:`d_{lm}` of system m in language l is a difficulty: larger is harder. Languages are its means over
    systems, systems its means over languages, without any assumption of additivity; the interaction is the rest. Where
    columns are missing, languages and systems are those of the unweighted least squares fit of
    :math:`\mu + \lambda_l + \theta_m` to the levels that there are. All effects are linear in the levels, :math:`A d`,
    with the standard errors :math:`\lVert F A^\top \rVert` of the joint covariance :math:`F^\top F` of the levels.

    Attributes
    ----------
    levels : Series, shape (P,)
        Level of each column up to a constant, nats or log odds, indexed by the names of columns.
    columns : DataFrame, P rows
        ``language`` and ``system`` of each column, indexed by name.
    factor : ndarray, shape (K, P)
        F, such as the influences of K clusters on the levels.
    reference : ndarray, shape (R, P), or None
        Factor of the covariance that simultaneous inference draws from; see `langdiff.Effects.reference`. None where
        one estimate of the variance is behind all errors.
    degrees_of_freedom : float or Series, shape (P,)
        Degrees of freedom of all contrasts, or those of each column.
    scale : Scale
        Quantity and unit of languages and interaction.
    system_scale : Scale
        Those of systems; abilities are minus the means of levels.
    additive : bool
        Whether the levels come from a fit without interaction, so that there is none to show.
    at_chance : tuple of str
        Names of columns whose answers are not told from guesses.
    converged : bool
        Whether the fit behind the levels converged.
    title, signature : str
        Name of the source, and everything the levels depend on.

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
    def _cells(self) -> Family:
        """The family of all cells of the interaction."""
        self._has_interaction()
        factor = self._all.residual(self.factor)
        estimate = self._all.residual(self.levels.to_numpy(dtype=float))
        if isinstance(self.degrees_of_freedom, pd.Series):
            freedom = self._cell_freedom()
        else:
            freedom = np.full(len(estimate), self.degrees_of_freedom)
        drawn = factor if self.reference is None else self._all.residual(self.reference)
        error = np.sqrt(np.einsum("kp,kp->p", factor, factor))
        return Family(
            weights=None,
            estimate=estimate,
            std_error=np.where(error <= ROUNDING * np.sqrt(self._variance), 0.0, error),
            freedom=freedom,
            reference=None,
            shared=self.reference is None,
            factor=drawn,
        )

    def _cell_freedom(self) -> Floats:
        """Return the degrees of freedom of each cell of the interaction, shape (P,)."""
        own, count = np.empty(len(self.levels)), len(self.levels)
        for start in range(0, count, BLOCK):
            rows = np.zeros((min(BLOCK, count - start), count))
            rows[np.arange(len(rows)), start + np.arange(len(rows))] = 1.0
            own[start : start + len(rows)] = self._own_freedom(self._all.residual(rows))
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
            Rows ``languages``, ``systems``, ``interaction``: Wald's ``statistic`` with its ``df`` and ``p``, which are
            NaN where the covariance has too low a rank, as with fewer clusters than effects, or there are more than
            2,000 columns; and ``p_largest``, that of the largest of all effects, which is always known.

        Examples
        --------
        >>> import langdiff as ld
        >>> tables = {name: ld.simulate(60, 3, seed=seed).surprisals for seed, name in enumerate(["llama", "gpt2"])}
        >>> ld.fit(tables).two_way.test()["df"].to_dict()
        {'languages': 2, 'systems': 1, 'interaction': 2}
        """
        rows = {name: self._test_means(self.effects(name)) for name in get_args(Of)}
        if not self.additive:
            rows["interaction"] = self._test_cells()
        return pd.DataFrame.from_dict(rows, orient="index", columns=["statistic", "df", "p", "p_largest"])

    def _test_means(self, effects: Effects) -> tuple[float, int, float, float]:
        count, freedom = len(effects.estimate), float(np.min(np.asarray(effects.degrees_of_freedom)))
        covariance = effects.covariance.to_numpy()
        shared = self.reference is None
        found = wald(effects.estimate.to_numpy(), covariance, np.ones((count, 1)), count - 1, freedom, shared=shared)
        return *found, effects.largest_p()

    def _test_cells(self) -> tuple[float, int, float, float]:
        family, dummies = self._cells, self._all.dummies
        count, freedom = len(self.levels), float(family.freedom.min())
        df = count - dummies.shape[1] + 1
        largest = float(family.adjusted(self._maxima).min()) if family.size > 1 else float(family.p_value.min())
        if count > MOST_COLUMNS or freedom < df:
            return float("nan"), df, float("nan"), largest
        covariance, shared = self.interaction.covariance.to_numpy(), self.reference is None
        found = wald(family.estimate, covariance, dummies.toarray(), df, freedom, shared=shared)
        return *found, largest

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
            ``flag``: ``"harder"``, ``"easier"`` or empty.

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
        for name, value in (("q", q), ("level", level)):
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1:
                raise ConfigError(f"{option(name)} must be between 0 and 1, got {value!r}.")
        percent = self.scale.unit == "nats"
        return flag_cells(self._cells, self._index, q=q, level=level, maxima=self._maxima, percent=percent)

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
            set, also as text (``ranks``); and ``at_chance``, the number of columns at chance, if there are any.

        Examples
        --------
        >>> import langdiff as ld
        >>> tables = {name: ld.simulate(60, 3, seed=seed).surprisals for seed, name in enumerate(["llama", "gpt2"])}
        >>> ld.fit(tables).two_way.leaderboard()["ranks"].tolist()
        ['1–2', '1–2']
        """
        effects = self.effects(of, over=over, weights=weights)
        at_chance = None
        level = effects.unit_name
        if self.at_chance:
            at_chance = self.columns.loc[list(self.at_chance), level].value_counts()
        return rank_best(effects, at_chance)

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
            ``language_effect``, ``system_effect`` (both difficulties) and ``interaction``.
        """
        levels = self.levels.to_numpy(dtype=float)
        levels = levels - levels.mean()
        error = np.sqrt(np.einsum("kp,kp->p", self.factor, self.factor))
        frame = pd.DataFrame({"level": levels, "std_error": error}, index=self._index)
        for of in get_args(Of):
            found = dict(zip(self._all.names(of), self._all.means(levels, of), strict=True))
            frame[f"{of[:-1]}_effect"] = self.columns[of[:-1]].map(found).to_numpy()
        frame["interaction"] = np.nan if self.additive else self._all.residual(levels)
        return frame

    plot = Drawn("plot_difficulties", lambda two_way: two_way.languages)

    def _lines(self) -> Iterator[str]:
        yield repr(self)
        tests = self.test()
        for name, row in tests.iterrows():
            shown = f"Wald {row['statistic']:.2f}, {row['df']:.0f} df, p = {row['p']:.2g}; "
            yield f"{name}: {shown if np.isfinite(row['p']) else ''}largest effect p = {row['p_largest']:.2g}"

    def _table(self) -> pd.DataFrame:
        return rounded(self.leaderboard(), self.digits)

    def _notes(self) -> Iterator[str]:
        board = self.leaderboard("languages")
        shown = [f"{name} {row['ranks'] if 'ranks' in board else row['rank']}" for name, row in board.iterrows()]
        if len(shown) > MOST_SHOWN:
            shown = [*shown[: MOST_SHOWN // 2], "…", *shown[-MOST_SHOWN // 2 :]]
        yield f"Languages, the best served first, with sets of ranks: {', '.join(shown)}"
        if self.additive:
            yield f"No interaction, since the fit is additive: columns at chance are {listing(self.at_chance, 20)}"
            return
        flags = self.flags()
        found = flags[flags["flag"] != ""]
        named = [f"{cell[0]} under {cell[1]} ({flag})" for cell, flag in zip(found.index, found["flag"], strict=True)]
        some = f": {', '.join(named[:MOST_SHOWN])}{', …' if len(named) > MOST_SHOWN else ''}" if named else ""
        yield f"Cells flagged at a rate of false discoveries of 5 %: {len(found):,} of {len(flags):,}{some}"

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
