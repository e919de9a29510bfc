"""The outcome of a regression of successes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
import pandas as pd

from langdiff.base.grids import MISSING, Shown
from langdiff.base.result import Result, drawing
from langdiff.errors import ConfigError, DataError, en
from langdiff.regression.formulas import checked_formula
from langdiff.regression.outcomes import prediction
from langdiff.regression.outcomes.columns import words_of_chance
from langdiff.regression.outcomes.crossed import Crossed, expected_rates, with_bounds
from langdiff.regression.outcomes.design import ItemDesign, design_items
from langdiff.regression.outcomes.evaluation import Point
from langdiff.regression.outcomes.inference import (
    ABILITY,
    DIFFICULTY,
    PROFILE,
    SPREAD,
    TRANSLATIONS,
    ErrorRecord,
    LikelihoodRatio,
    LikelihoodsCompared,
    part_of,
)
from langdiff.regression.outcomes.likelihoods import DIFFICULTIES, Structure, saved_model
from langdiff.tables.crossing import LEVELS, SIGN, grid_of_board, table_of
from langdiff.tables.effects import Effects
from langdiff.tables.influences import Covariance, Influence
from langdiff.tables.outcomes import Outcomes
from langdiff.tables.rule import JointTest, Scale, t_interval
from langdiff.tables.two_way import rank_best

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NEVER_BELOW = ("spread", "loading", "correlation")  # 0


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class OutcomeFit(Crossed, Result):
    r"""Abilities of systems and difficulties of items, from successes out of trials.

    .. math:: \eta_{ij} = \theta_j - x_i^\top\beta - \lambda_j \sigma v_i

    Of a table of several languages, systems are columns, ``language@system``, and `two_way` has languages, systems and
    their interaction.

    Attributes
    ----------
    model : str
        ``"rasch"``, ``"beta-binomial"``, ``"slopes"`` or ``"conditional"``, or the name of another likelihood.
    name : str
        Name of the table of outcomes.
    parameters : DataFrame
        ``estimate`` and ``std_error`` of all parameters, in log odds but for ``loading`` λ and ``correlation`` ρ;
        indexed by (parameter, name).
    influence : Influence or Covariance
        Where their errors come from: influences of independent units, or the covariance of the information or of
        samples of units.
    errors : ErrorRecord
        Where the standard errors come from.
    items : DataFrame, I rows
        ``difficulty`` and ``std_dev``: mean and standard deviation of the difficulty of each item given its outcomes,
        log odds. The means are drawn towards those of their group, so that they are not to be ranked. Then the
        attributes that the model uses. Of the conditional model attributes only.
    systems : DataFrame, J rows
        Attributes of the systems.
    by, formula, interaction : str or None
        What the difficulties depend on, as given.
    log_likelihood : float
        Log-likelihood at the estimates, binomial coefficients included.
    variation : LikelihoodRatio or None
        Test that items do not differ beyond chance, σ = 0; None in the conditional model.
    translations : LikelihoodRatio or None
        Test that an item is as hard in all languages, τ = 0; None where no language has two columns, or the model is
        another than ``"rasch"``.
    overdispersion : LikelihoodRatio or None
        Test that trials of a cell are independent, ρ = 0; None but in the beta-binomial model. In general, that the
        parameter of the likelihood is at its lower bound.
    interacts : JointTest or None
        Test that the profile is flat, with errors from the information by the likelihood ratio; None without an
        interaction.
    bounds : Series or None
        Bound (95 %) of the mean ability of each system with columns at chance, less that of all other systems.
    profiles : DataFrame or None
        Where chance is known, score tests at the additive fit that levels are sums of languages and systems
        (``interaction``), and those of each system, whose ``p_holm`` is Holm's; columns as of `langdiff.Effects.test`.
    compared : LikelihoodsCompared or None
        Distance to the conditional abilities, if cells are missing, the model is ``"rasch"`` without an interaction,
        and they exist.
    cells, trials : int
        Observed cells and trials.
    converged : bool
        Whether the last Newton step was short, and the information positive definite.
    n_iterations : int
        Number of Newton steps.
    step : float
        Length of the last one, in standard errors.
    point : Point
        The estimates as the search has them.
    settings : mapping from str to float
        Settings of the likelihood; empty for those of langdiff.
    columns : DataFrame or None
        ``language`` and ``system`` of the columns of a crossed table.
    additive : bool
        Whether levels of columns are sums of effects of languages and systems.
    chance, chance_words : "auto", None, float, str or mapping; str
        Chance of a right answer, as given (None if it is 0), and where it is from.
    guessing : DataFrame or None
        Test of each column, also of those that were left out, that all its answers are guesses: ``rate``, ``chance``,
        ``p``, ``q`` (Benjamini and Hochberg) and ``at_chance``, whether the level is a bound; ``p_below``, that
        guesses have as few right, and ``below`` (the same procedure); and of columns at or near chance ``level``,
        ``level_low`` and ``level_high``, minus the ability, with the interval of the likelihood ratio (95 %), whose
        upper end is infinite where the answers set none. None without chance.
    outcomes : Outcomes or None
        Outcomes of the fit, where it keeps them.
    signature : str
        Everything the numbers depend on, to be quoted with them.

    Examples
    --------
    >>> import langdiff as ld
    >>> fit = ld.fit_outcomes(ld.simulate_outcomes(300, 4, seed=1).outcomes)
    >>> fit
    OutcomeFit: rasch, 300 items × 4 systems, sigma ..., converged
    >>> fit.abilities.contrast("s4", "s1").estimate > 0
    True
    """

    model: str
    name: str
    parameters: pd.DataFrame
    influence: Influence | Covariance
    errors: ErrorRecord
    items: pd.DataFrame
    systems: pd.DataFrame
    by: str | None = None
    formula: str | None = None
    interaction: str | None = None
    log_likelihood: float
    variation: LikelihoodRatio | None = None
    translations: LikelihoodRatio | None = None
    overdispersion: LikelihoodRatio | None = None
    interacts: JointTest | None = None
    compared: LikelihoodsCompared | None = None
    cells: int
    trials: int
    converged: bool
    n_iterations: int
    step: float
    point: Point
    signature: str
    settings: Mapping[str, float] = field(default_factory=dict)
    columns: pd.DataFrame | None = None
    additive: bool = False
    chance: Mapping[str, float] | float | str | None = None
    chance_words: str = ""
    guessing: pd.DataFrame | None = None
    profiles: pd.DataFrame | None = None
    bounds: pd.Series | None = None
    outcomes: Outcomes | None = None

    @property
    def structure(self) -> Structure:
        """Likelihood of cells, and the effects of items on systems."""
        found = saved_model(self.model, self.settings)
        if self.columns is None:
            return found
        languages, systems = (tuple(pd.factorize(self.columns[name])[0].tolist()) for name in ("language", "system"))
        return found._replace(languages=languages, additive=systems if self.additive else ())

    @property
    def abilities(self) -> Effects:
        """Abilities of the systems, log odds, averaging 0; of scores their levels, of counts logarithms of rates."""
        return self._effects(ABILITY, "system", self.structure.likelihood.scale)

    @property
    def difficulties(self) -> Effects | None:
        """Difficulties of the groups of items: log odds that the average system fails on the median item of a group.

        None without groups.
        """
        group = self.interaction or self.by
        if group is None or self.structure.conditional:
            return None
        return self._effects(DIFFICULTY, group, DIFFICULTIES)

    @property
    def profile(self) -> Effects | None:
        """Additional difficulty of each group for each system, beyond ability and difficulty, log odds.

        The effects, named ``"system: group"``, sum to 0 over the systems and over the groups. None without an
        interaction.
        """
        if self.interaction is None:
            return None
        return self._effects(PROFILE, f"system: {self.interaction}", DIFFICULTIES)

    def _effects(self, parameter: str, unit: str, scale: Scale) -> Effects:
        inside = np.flatnonzero(self.parameters.index.get_level_values(0) == parameter)
        names = self.parameters.index.get_level_values(1)[inside]
        index = self.systems.index if parameter == ABILITY else pd.Index(names, name=unit)
        return self._all.linear(np.eye(len(self.parameters))[inside], index, scale)

    @cached_property
    def _all(self) -> Effects:
        """All parameters with their errors."""
        return Effects(
            estimate=self.parameters["estimate"],
            influence=self.influence,
            title=f"{self.name}, {self.model}",
            converged=self.converged,
            signature=self.signature,
        )

    @property
    def covariance(self) -> pd.DataFrame:
        """Joint sampling covariance of the parameters; NaN of a variance that is estimated as 0."""
        unknown = self.parameters["std_error"].isna().to_numpy()
        return self._all.covariance.mask(unknown[:, None] | unknown)

    @property
    def spread(self) -> float:
        """σ, the standard deviation of difficulties of items within a group, log odds; NaN if conditioned on."""
        return self._one(SPREAD)

    @property
    def translation_spread(self) -> float:
        """τ, the standard deviation of difficulties of an item in different languages, log odds; NaN without them."""
        found = part_of(self.parameters, SPREAD)["estimate"]
        return float(found.get(TRANSLATIONS, np.nan))

    @property
    def correlation(self) -> float:
        """ρ, the correlation of trials in a cell; NaN but in the beta-binomial model."""
        return self._one("correlation")

    def _one(self, parameter: str) -> float:
        found = part_of(self.parameters, parameter)["estimate"]
        return float(found.iloc[0]) if len(found) else float("nan")

    def to_frame(self) -> pd.DataFrame:
        """Return one row per parameter.

        Returns
        -------
        DataFrame
            Columns ``parameter`` (``ability``, ``difficulty``, ``profile``, ``term``, ``spread``, ``loading``,
            ``correlation``), ``name``, for columns ``language`` and ``system``; ``estimate``, ``std_error``, ``low``
            and ``high`` (95 % interval); and ``kind``: ``"measured"``, or ``"bound"`` of an ability at chance, of which
            only the end ``high`` is known.

        Examples
        --------
        >>> import langdiff as ld
        >>> frame = ld.fit_outcomes(ld.simulate_outcomes(100, 3, seed=1).outcomes).to_frame()
        >>> frame["parameter"].tolist()
        ['ability', 'ability', 'ability', 'difficulty', 'spread']
        """
        estimate, error = self.parameters.to_numpy().T
        ends = t_interval(estimate, error, np.diag(self._all._freedom()))
        frame = self.parameters.assign(low=ends[0], high=ends[1], kind="measured").reset_index()
        frame["low"] = frame["low"].where(~frame["parameter"].isin(NEVER_BELOW), frame["low"].clip(lower=0))
        if self.guessing is not None and len(low := self.guessing[self.guessing["at_chance"]]):
            bounds = pd.DataFrame({"parameter": ABILITY, "name": low.index, "high": -low["level_low"], "kind": "bound"})
            place = int((frame["parameter"] == ABILITY).sum())
            frame = pd.concat([frame[:place], bounds, frame[place:]], ignore_index=True)
        if self.columns is not None:
            both = frame["name"].where(frame["parameter"] == ABILITY).str.split(SIGN, expand=True)
            frame[list(LEVELS)] = both.reindex(columns=range(len(LEVELS)))
            frame = frame[["parameter", "name", *LEVELS, "estimate", "std_error", "low", "high", "kind"]]
        return frame

    between: ClassVar[str] = " "

    def _lines(self) -> Iterator[str]:
        if not self.converged:
            yield "NOT CONVERGED: do not use it."
        effects = self._compared_alone
        if effects is None:
            yield from self.two_way._lines()
        elif len(effects.estimate) > 1 and effects.known:
            yield from table_of(effects).sentences()
        yield from self.sentences_of_chance()

    @property
    def _compared_alone(self) -> Effects | None:
        """Abilities of systems or columns where these are not split into languages and systems."""
        if self.columns is None or not self.converged:
            return self.abilities
        return None if self.split else self.abilities

    def tables(self) -> list[Shown]:
        """Return leaderboards, levels and interaction, difficulties of groups, other parameters, and details."""
        if (effects := self._compared_alone) is None:
            first, *others = self.two_way.tables()
            found = [first._replace(notes=(*self.sentences_of_profiles(), *first.notes)), *others]
        else:
            board = with_bounds(rank_best(effects), self.guessing)
            what = "systems" if self.columns is None else "columns"
            quantity = effects.scale.quantity.replace("_", " ").capitalize()
            caption = f"{quantity} of {what} ± standard error; intervals and ranks hold together (95 %)"
            found = [Shown(grid_of_board(board, effects.scale), "systems", caption)]
        if self.difficulties is not None:
            board = self.difficulties.to_frame().assign(ranks=lambda frame: frame["rank"])
            caption = f"Difficulty of {self.interaction or self.by}, the hardest first, ± standard error"
            found.append(Shown(grid_of_board(board, DIFFICULTIES), "difficulties", caption))
        rest = self.to_frame().drop(columns=["kind", *LEVELS], errors="ignore")
        rest = rest[~rest["parameter"].isin([ABILITY, DIFFICULTY])]
        if len(rest):
            found.append(
                Shown(
                    rest.round(self.digits), "parameters", "Other parameters", (), {"index": False, "na_rep": MISSING}
                )
            )
        return [*found, Shown(None, "details", "Details", tuple(self._details()))]

    def _details(self) -> Iterator[str]:
        yield (
            f"{self.name}: {'scores' if self.structure.likelihood.of_scores else f'{self.trials:,} trials'} in "
            f"{self.cells:,} of {len(self.items) * len(self.systems):,} cells, "
            f"{len(self.items):,} items × {self._width()}"
        )
        if self.outcomes is not None and self.outcomes.pairing is not None:
            yield from self.outcomes.pairing.lines()
        for level, names in self.set_aside().items():
            yield f"{level} set aside, since all their columns are at chance: {en(names)}"
        yield from words_of_chance(self.guessing, self.chance_words)
        yield from self._tests()
        yield f"standard errors from {self.errors.words}"
        state = "converged" if self.converged else "NOT CONVERGED"
        yield (
            f"Model {self.model}, {state}: {self.n_iterations} iterations, log-likelihood {self.log_likelihood:,.3f}"
        )

    def _width(self) -> str:
        if self.columns is None:
            return f"{len(self.systems):,} systems"
        languages, systems = (self.columns[level].nunique() for level in ("language", "system"))
        return f"{len(self.systems):,} columns ({languages:,} languages, {systems:,} system{'s' * (systems > 1)})"

    def _tests(self) -> Iterator[str]:
        if self.variation is not None:
            yield (
                f"variation between items: sigma {self.spread:.4f}, p = {self.variation.p_value:.2g}"
                if self.spread
                else "no variation between items beyond chance: sigma 0, p = 1"
            )
        yield from self._of_translations()
        if self.overdispersion is not None:
            (parameter,) = self.structure.likelihood.parameters
            value = self._one(parameter.name)
            yield (
                f"{parameter.words}: {parameter.symbol} {value:.4f}, p = {self.overdispersion.p_value:.2g}"
                if self.point.d != parameter.low
                else f"no {parameter.words}: {parameter.symbol} {value:g}, p = 1"
            )
        if self.interacts is not None:
            yield f"profile of systems over {self.interaction}: {self.interacts.words}"
        if self.compared is not None:
            yield self.compared.words
        elif not self.structure.conditional and self.cells < len(self.items) * len(self.systems):
            why = "it has no maximum, or the table is too large"
            if not self.structure.totals_suffice or self.interaction is not None:
                why = f"model {self.model}" if self.interaction is None else "there is an interaction"
            elif self.columns is not None or self.chance is not None:
                why = "it knows neither translations nor chance"
            yield f"cells are missing; not compared with the conditional likelihood ({why})"

    def _of_translations(self) -> Iterator[str]:
        tau = self.translation_spread
        if self.structure.likelihood.of_scores:
            return
        if self.translations is not None:
            yield (
                f"variation between translations of an item: tau {tau:.4f}, p = {self.translations.p_value:.2g}"
                if tau
                else "no variation between translations of an item beyond chance: tau 0, p = 1"
            )
        elif self.columns is not None and not self.columns["language"].duplicated().any():
            yield "one column in each language: translations cannot be told from chance, tau 0"
        elif self.columns is not None:
            yield f"model {self.model}: translations are taken to be as hard as their item, tau 0"

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw abilities and difficulties of items on one scale; see `langdiff.plots.plot_wright_map`.

        Of several languages, levels of all systems are drawn by language; see `langdiff.plots.plot_difficulties`.

        Parameters
        ----------
        ax : Axes, optional
            Axes to draw on; by default those of a new figure.

        Returns
        -------
        Axes
            The axes drawn on.

        Raises
        ------
        ConfigError
            If the model is conditional, so that items have no difficulties; `abilities` can be drawn.

        Examples
        --------
        >>> import langdiff as ld
        >>> ld.fit_outcomes(ld.simulate_outcomes(50, 3, seed=1).outcomes).plot().get_ylabel()
        'log odds'
        """
        if self.structure.conditional:
            raise ConfigError(f"model {self.model!r} has no difficulties of items; draw fit.abilities.plot().")
        if self.split and self.converged:
            return drawing("plot_difficulties")(self.two_way, ax)
        low = None if self.guessing is None else -self.guessing.loc[self.guessing["at_chance"], "level_low"]
        items = self.items["difficulty"]
        return drawing("plot_wright_map")(self.abilities, items, self.difficulties, ax, bounds=low)

    def design(self, items: pd.DataFrame) -> ItemDesign:
        """Return the design of items by their attributes, as the model was fitted.

        Parameters
        ----------
        items : DataFrame
            Attributes of items.

        Returns
        -------
        ItemDesign
            Groups and covariates.
        """
        return design_items(items, self.by, self.formula, self.interaction, known=self.items)

    def predict(self, outcomes: Outcomes) -> pd.DataFrame:
        r"""Predict the probability of a success in every cell, given all outcomes of its item.

        An observed cell is among them; `langdiff.cross_validate_outcomes` with ``over="cells"`` tells how well cells
        are predicted from the others.

        Parameters
        ----------
        outcomes : Outcomes
            Items, old or new, with what is known of them; systems are those of the fit.

        Returns
        -------
        DataFrame, shape (I, J)
            :math:`\int \mathrm{logistic}(\eta_{ij})\, p(v \mid \text{row } i)\, dv`; for a missing cell what its
            success rate may be expected to be. An item without outcomes is predicted from its group.

        Raises
        ------
        ConfigError
            If the model is conditional, so that it has no distribution of items.
        DataError
            If systems are others than those of the fit, or an item lacks an attribute.

        Examples
        --------
        >>> import langdiff as ld
        >>> outcomes = ld.simulate_outcomes(100, 3, seed=1).outcomes
        >>> ld.fit_outcomes(outcomes).predict(outcomes).shape
        (100, 3)
        """
        return prediction.predict(self, outcomes)

    def held_out_log_likelihood(self, held_out: Outcomes, *, given: Outcomes | None = None) -> pd.Series:
        """Return the log-probability of new outcomes of each item.

        Parameters
        ----------
        held_out : Outcomes
            Outcomes that the model was not fitted to, of the systems of the fit.
        given : Outcomes, optional
            Other outcomes of the same items, which say how hard they are.

        Returns
        -------
        Series, shape (I,)
            Natural logarithm of the probability of the successes of each item, one order of trials taken as another;
            0 without outcomes.

        Raises
        ------
        ConfigError
            If the model is conditional.
        DataError
            If systems or items differ.

        Examples
        --------
        >>> import langdiff as ld
        >>> outcomes = ld.simulate_outcomes(100, 3, seed=1).outcomes
        >>> fit = ld.fit_outcomes(outcomes)
        >>> bool(abs(fit.held_out_log_likelihood(outcomes).sum() - fit.log_likelihood) < 1e-9)
        True
        """
        return prediction.held_out_log_likelihood(self, held_out, given)

    def expected_rates(self, *, errors: bool = False) -> pd.DataFrame:
        r"""Return the success rate of each system if it had met every item of each group.

        Parameters
        ----------
        errors : bool
            Whether to return standard errors (by the delta method) and 95 % intervals, too.

        Returns
        -------
        DataFrame
            :math:`c + (1 - c)\int \mathrm{logistic}(\theta_j - x_i^\top\beta - z)\, dz` over normal z with the standard
            deviation :math:`\sqrt{\lambda_j^2\sigma^2 + \tau^2}`, averaged over the items of the fit; one row per group
            (``"all"`` without groups), one column per system. With errors one row per group and system: ``rate``,
            ``std_error``, ``low`` and ``high``.

        Raises
        ------
        ConfigError
            If the model is conditional.

        Examples
        --------
        >>> import langdiff as ld
        >>> fit = ld.fit_outcomes(ld.simulate_outcomes(100, 3, seed=1).outcomes)
        >>> fit.expected_rates().loc["all"].is_monotonic_increasing
        True
        >>> fit.expected_rates(errors=True).columns.tolist()
        ['rate', 'std_error', 'low', 'high']
        """
        return expected_rates(self, errors=errors)

    def __repr__(self) -> str:
        """Return a one-line description with the model and whether the search converged."""
        sigma = "" if np.isnan(self.spread) else f", sigma {self.spread:.4g}"
        tau = "" if np.isnan(self.translation_spread) else f", tau {self.translation_spread:.4g}"
        state = "converged" if self.converged else "NOT CONVERGED"
        return f"OutcomeFit: {self.model}, {len(self.items):,} items × {self._width()}{sigma}{tau}, {state}"

    @classmethod
    def _read(cls, path: Path) -> Self:
        fit = super()._read(path)
        try:
            saved_model(fit.model, fit.settings)
        except DataError as error:
            raise DataError(f"{path}: {error}") from error
        if fit.formula is not None:  # which `design` evaluates
            try:
                checked_formula(fit.formula, fit.items.columns)
            except ConfigError as error:
                raise DataError(f"{path}: {error}") from error
        return fit
