"""Levels of columns, split into languages, systems and their interaction; leaderboards and flags of cells."""

import importlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_args

import numpy as np
import pandas as pd

from langdiff.base.result import Drawn, Result, rounded
from langdiff.base.tolerances import ROUNDING
from langdiff.base.types import Floats
from langdiff.errors import ConfigError, option
from langdiff.tables.column_levels import MOST_COLUMNS, ColumnLevels, Of
from langdiff.tables.contrasts import Scale
from langdiff.tables.crossing import LEVELS
from langdiff.tables.effects import Effects
from langdiff.tables.influences import Covariance, Draws, Influence, joint_test
from langdiff.tables.pairs import Adjustment, Pairs, rank_set
from langdiff.tables.rule import ENOUGH, JointTest, falling
from langdiff.tables.simultaneous import Family, number_of_draws

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
        estimate, source = self._all.residual(self.levels.to_numpy(dtype=float)), self.cells.influence
        order = falling(estimate, self.levels.index)
        factor = self._all.residual(self._root)[:, order]
        error = np.sqrt(np.einsum("kp,kp->p", factor, factor))
        least = ROUNDING * np.sqrt(np.einsum("kp,kp->p", self._root, self._root))[order]
        drawn: Floats | None = factor
        if isinstance(source, Influence) and source.count < ENOUGH:
            drawn = None if source.shape is None else self._all.residual(factor_of(source.shape))[:, order]
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
            own[start : start + len(rows)] = source.freedom_along(self._all.residual(rows))
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
            family, test = self._cells, self._test_cells()
            of_family = family.adjusted(self._maxima) if family.size > 1 else family.p_value
            rows["interaction"] = *(self.interacts or test), float(of_family.min())
        elif self.interacts is not None:
            rows["interaction"] = *self.interacts, np.nan
        columns = [*JointTest._fields, "p_largest"]
        return pd.DataFrame.from_dict(rows, orient="index", columns=columns)

    def _test_cells(self) -> JointTest:
        """Test whether levels interact."""
        dummies, source = self._all.dummies, self.cells.influence
        count, df = len(self.levels), len(self.levels) - dummies.shape[1] + 1
        estimate, residual = self._all.residual(self.levels.to_numpy(dtype=float)), self._all.residual
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
            ``flag``: ``"harder"``, ``"easier"`` (of scores ``"higher"``, ``"lower"``) or empty.

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
        order = falling(self._all.residual(self.levels.to_numpy(dtype=float)), self.levels.index)
        return flag_cells(self._cells, self._index[order], self.scale, q=q, level=level, maxima=self._maxima)

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
            set, also as text (``ranks``).

        Examples
        --------
        >>> import langdiff as ld
        >>> tables = {name: ld.simulate(60, 3, seed=seed).surprisals for seed, name in enumerate(["llama", "gpt2"])}
        >>> ld.fit(tables).two_way.leaderboard()["ranks"].tolist()
        ['1–2', '1–2']
        """
        effects = self.effects(of, over=over, weights=weights)
        return rank_best(effects)

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
        error = self.cells.std_error.to_numpy()
        frame = pd.DataFrame({"level": levels, "std_error": error}, index=self._index)
        for of in get_args(Of):
            found = dict(zip(self._all.names(of), self._all.means(levels, of), strict=True))
            frame[f"{of[:-1]}_effect"] = self.columns[of[:-1]].map(found).to_numpy()
        frame["interaction"] = np.nan if self.additive else self._all.residual(levels)
        return frame

    plot = Drawn("plot_difficulties", lambda two_way: two_way.languages)

    def _lines(self) -> Iterator[str]:
        yield repr(self)
        yield from self.words_of_tests()

    def words_of_tests(self) -> Iterator[str]:
        """Yield a line for each test: the joint test, and the largest effect."""
        for *test, largest, name in self.test().assign(name=lambda frame: frame.index).itertuples(index=False):
            yield f"{name}: {JointTest(*test).words}" + (
                f"; largest effect p = {largest:.2g}" if largest == largest else ""
            )

    def _table(self) -> pd.DataFrame:
        return rounded(self.leaderboard(), self.digits)

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

    def _notes(self) -> Iterator[str]:
        if self.cells.words:
            yield self.cells.words
        board = self.leaderboard("languages")
        shown = [f"{name} {row['ranks'] if 'ranks' in board else row['rank']}" for name, row in board.iterrows()]
        if len(shown) > MOST_SHOWN:
            shown = [*shown[: MOST_SHOWN // 2], "…", *shown[-MOST_SHOWN // 2 :]]
        yield f"Languages, the best served first, with sets of ranks: {', '.join(shown)}"
        if self.additive:
            yield "No interaction, since the fit is additive"
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


FLAGS = {"hardest": ("harder", "easier")}  # of cells; others are higher or lower than the sum


def flag_cells(
    family: Family, names: pd.Index, scale: Scale, *, q: float, level: float, maxima: Floats
) -> pd.DataFrame:
    """Return one row per cell, with an interval that holds for all cells together, and a flag."""
    from scipy.stats import false_discovery_control

    half = np.where(family.tied, 0.0, family.critical(maxima, level)) * family.std_error
    columns = {
        "estimate": family.estimate,
        "std_error": family.std_error,
        "low": family.estimate - half,
        "high": family.estimate + half,
    }
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
