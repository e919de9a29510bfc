"""The outcome of a difficulty regression."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd

from langdiff.base.grids import Shown
from langdiff.base.result import Drawn, Result
from langdiff.base.types import check_choice
from langdiff.errors import ConfigError, DataError, option
from langdiff.regression.records import Audit, Dispersions, ErrorSource, IntentsCompared, SizeDistribution
from langdiff.regression.underserved import Predictors, Underserved, find_underserved
from langdiff.regression.variants import find_variant
from langdiff.regression.variants.variant import Variant
from langdiff.tables.column_levels import MOST_COLUMNS
from langdiff.tables.crossing import LEVELS, table_of
from langdiff.tables.effects import Effects, Names
from langdiff.tables.influences import Influence
from langdiff.tables.pairs import Adjustment, Pairs
from langdiff.tables.rule import Contrast, Scale
from langdiff.tables.two_way import TwoWay

Estimand = Literal["expected", "median"]

MANY = 100.0  # degrees of freedom at which intervals are within 1.3 % of those of the normal distribution


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class DifficultyFit(Result):
    r"""Difficulties by edition, normalized so that their factors average 1.

    Attributes
    ----------
    model : str
        ``"1"``, ``"2"``, ``"2L"``, ``"2C"`` or ``"3"``, the models of Mielke et al. (2019).
    method : str
        ``"exact"`` (linear least squares), ``"newton"``, ``"lbfgs"`` or ``"newton, then lbfgs"``.
    restricted : bool
        Whether the restricted likelihood was maximized.
    laplace_scale : float or None
        b of model 3, nats; None in the other models.
    lm : str
        The language model whose surprisals were fitted.
    difficulty : Series, shape (J,)
        δ, nats, indexed by edition, or by group where editions share difficulties:
        :math:`\delta_j = d_j - \ln\frac1J\sum_k e^{d_k}`. Its exponential is the factor: bits spent, over
        those of an edition of average difficulty.
    covariance : DataFrame, shape (J, J)
        Joint sampling covariance of `difficulty`; singular, since the factors have a fixed sum. Its source is told by
        `errors`. From the information it is multiplied by N / (N − I − J + 1) with fixed intents, unless
        `restricted`, to make up for the residual variation that fitting one size per intent uses up. NaN only if not
        `converged`.
    degrees_of_freedom : float or DataFrame, shape (J, J)
        Degrees of freedom of Student's t distribution behind intervals and tests: N − I − J + 1 with errors from the
        information; with a sandwich those of Bell and McCaffrey (for CR2, whatever the correction), of each difficulty
        on the diagonal and of differences elsewhere; one less than the number of clusters with resampling, and than
        that of intents in a sandwich of random intents or `dispersions` without clusters. 1 where one intent alone
        decides a comparison.
    errors : ErrorSource
        Where the standard errors come from: ``kind``, ``clusters``, ``n_clusters``, ``design_effect``, ….
    intents : {"fixed", "random"}
        Whether each intent has a size of its own, or sizes have a distribution.
    terms : DataFrame or None
        Coefficients of a formula, one row per term: ``estimate`` and ``std_error``, nats. None without a formula.
    intent_size : Series, shape (I,)
        n, in bits that an edition of average difficulty (factor 1) spends: their median in model 1; in
        model 2 the mean bits are n·exp(σ²/2). Where editions have `dispersions`, n is the mean bits in either.
    dispersion : float
        κ = exp(σ²) − 1: the squared coefficient of variation of the bits (model 1) or of those of one
        unit of an intent (the others). Unbiased σ² in model 1; in the others too small by about
        (N − I − J + 1) / N, unless `restricted`. The mean over editions where they have `dispersions` of their own.
    log_likelihood, log_likelihood_bits : float
        Log-likelihood at the estimates of the log surprisals z = ln y (as Mielke et al. 2019, Figure 6,
        show it) and of the surprisals y in bits, which is lower by Σz; of the intents with two cells
        or more. If `restricted`, with fixed intents, the maximum of the full likelihood near the estimates, so that it
        compares with that of other models. In model 1 the variance in it is the maximum-likelihood one, below the
        unbiased one of `dispersion`. In model 3 the joint log-density of z and the noise of all cells.
    converged : bool
        Whether `grad_norm` met the tolerance, and the covariance exists.
    n_iterations, n_evaluations : int
        Numbers of iterations and of evaluations of the likelihood; 0 in model 1, which needs none.
    grad_norm : float
        Largest component of the gradient of the log-likelihood, in variables scaled to unit curvature; NaN where
        editions have `dispersions` of their own.
    message : str
        Message of the optimizer on why it stopped.
    kinks : int or None
        In model 2L, the number of cells at the kink of their density, where their residual is 0; otherwise None.
    cells, free_difficulties, single_cell_intents : int
        Observed cells, N; difficulties that are free, their common level included (editions, groups, or
        terms and one); intents with only one cell, which say nothing of difficulties and are only given
        the size that explains their cell exactly.
    signature : str
        Everything the numbers depend on, to be quoted with them.
    replaced_percent : Series or None
        Share of the characters of each edition, in percent, that the language model saw as one symbol since they
        were too rare in training; None where the table does not tell.
    sizes : SizeDistribution or None
        Distribution of the sizes of random intents; None where they are fixed.
    dispersions : Dispersions or None
        Dispersions of editions, and tests that they are equal; None where they were taken to be.
    compared : IntentsCompared or None
        Distance between fixed and random intents, in models 1 and 2 if cells are missing, up to a million cells;
        otherwise None.
    audit : Audit or None
        What was found about the table, and done: independent units, noise, missing cells; ``fit.audit.words`` is the
        paragraph of `summary`. None where the fit was made without one.
    reference : DataFrame, shape (J, J), or None
        Covariance of full rank that comparisons of all pairs draw from: that of the information, or CR0 over intents
        where there is none. None with errors from the information, whose `covariance` has full rank.
    columns : DataFrame or None
        ``language`` and ``system`` of each edition of a crossed table; see `langdiff.stack`.
    influence : Influence or None
        Influences of the clusters on `difficulty`, by which fits to the same texts are compared; see `langdiff.table`.
        With a sandwich (CR2) their products are the `covariance`; above 200 columns of a crossed table that is left
        empty. None where there are none, as of a kink.
    edition_info : DataFrame or None
        Properties of the editions in words, such as their ``family``.
    own_variant : Variant or None
        The model, where its class is not one of the package; it must be imported before a saved fit is read.

    Examples
    --------
    >>> import langdiff as ld
    >>> truth = ld.simulate(500, 4, seed=1)
    >>> surprisals = truth.surprisals
    >>> fit = ld.fit(surprisals)
    >>> fit
    DifficultyFit: model 2, 500 intents × 4 editions, sigma ..., converged
    >>> bool((fit.difficulty - truth.difficulty).abs().max() < 4 * fit.std_error.max())
    True
    """

    model: str
    method: str
    restricted: bool
    laplace_scale: float | None
    lm: str
    difficulty: pd.Series
    covariance: pd.DataFrame
    degrees_of_freedom: float | pd.DataFrame
    errors: ErrorSource
    intents: str
    terms: pd.DataFrame | None
    intent_size: pd.Series
    dispersion: float
    log_likelihood: float
    log_likelihood_bits: float
    converged: bool
    n_iterations: int
    n_evaluations: int
    grad_norm: float
    message: str
    cells: int
    free_difficulties: int
    single_cell_intents: int
    signature: str
    replaced_percent: pd.Series | None = None
    sizes: SizeDistribution | None = None
    dispersions: Dispersions | None = None
    compared: IntentsCompared | None = None
    audit: Audit | None = None
    reference: pd.DataFrame | None = None
    columns: pd.DataFrame | None = None
    influence: Influence | None = None
    edition_info: pd.DataFrame | None = None
    own_variant: Variant | None = None
    kinks: int | None = None

    @cached_property
    def effects(self) -> Effects:
        """The difficulties with their covariance, as contrasts, ranks, tests and plots take them."""
        if self._wide and len(self.difficulty) > MOST_COLUMNS:
            raise DataError(
                f"the covariance of {len(self.difficulty):,} columns is not computed (most {MOST_COLUMNS:,}): use "
                "two_way, whose means, contrasts and flags need none."
            )
        return self._effects

    @cached_property
    def _effects(self) -> Effects:
        told: dict[str, Any] = {"scale": Scale(estimand=self._estimand), "title": self._title}
        told |= {"converged": self.converged, "signature": self.signature}
        if self.influence is not None and self._of_influence:
            shape = None if self.reference is None else self.reference.to_numpy(dtype=float)
            freedom = self.degrees_of_freedom
            if isinstance(freedom, float) and not self._wide:
                freedom = pd.DataFrame(freedom, self.difficulty.index, self.difficulty.index)
            exact = None if self._wide or isinstance(freedom, float) else freedom.to_numpy(dtype=float)
            known = None if self._wide else self.covariance.to_numpy(dtype=float)
            influence = replace(self.influence, shape=shape, freedom=exact, known=known)
            return Effects(estimate=self.difficulty, influence=influence, **told)
        return Effects.from_covariance(
            self.difficulty, self.covariance, self.degrees_of_freedom, shape=self.reference, **told
        )

    @property
    def _of_influence(self) -> bool:
        """Whether the products of the influences are the covariance."""
        integrated = self.intents == "random" or self.dispersions is not None
        plain = "CR1" if integrated and self.errors.clusters == "intent" else "CR2"
        return self.errors.kind == "sandwich" and not self.errors.strata and self.errors.correction == plain

    @cached_property
    def two_way(self) -> TwoWay:
        """Difficulties of languages, of systems, and their interaction, where the table has several systems.

        Raises
        ------
        DataError
            If the table has one language model, or its editions share difficulties.

        Examples
        --------
        >>> import langdiff as ld
        >>> tables = {name: ld.simulate(60, 3, seed=seed).surprisals for seed, name in enumerate(["llama", "gpt2"])}
        >>> ld.fit(tables).two_way
        TwoWay: 3 languages × 2 systems, 6 columns (nats)
        """
        if self.columns is None:
            raise DataError(
                "the table has one language model: fit several together, fit({'llama': table, 'gpt2': other}), to "
                "compare languages and systems."
            )
        scale = Scale(centre="mean", estimand=self._estimand)
        return TwoWay(cells=replace(self._effects, scale=scale), columns=self.columns, system_scale=scale)

    def underserved(self, predictors: Predictors, formula: str, *, q: float = 0.05) -> Underserved:
        """Find languages, and cells, that are served worse than predictors suggest; see `TwoWay.underserved`.

        Parameters
        ----------
        predictors, formula, q
            What is known of languages or columns, predictors in Wilkinson's notation, and rate of false discoveries;
            see `langdiff.TwoWay.underserved`.

        Returns
        -------
        Underserved
            One row per cell, and one per language, with the excess, its interval and a flag.

        Raises
        ------
        ConfigError, DataError
            See `langdiff.TwoWay.underserved`; or if the table has one language model.
        """
        return find_underserved(self.two_way, predictors, formula, q=q)

    @property
    def _wide(self) -> bool:
        """Whether errors are kept as a factor only."""
        return self.covariance.empty

    @property
    def _title(self) -> str:
        return f"{self.lm}, model {self.model}"

    @property
    def _estimand(self) -> str:
        return "" if self.estimand.startswith("expected and") else self.estimand

    @property
    def std_error(self) -> pd.Series:
        """Standard errors of `difficulty`, nats."""
        return self._effects.std_error

    @property
    def estimand(self) -> str:
        """Bits whose ratio `difficulty` is about: ``"expected bits"``, ``"median bits"`` or both.

        They are the same where noise is equal. Where it is not, model 2 and dispersions of editions are about expected
        bits; model 1 with one dispersion and the models with heavy tails are about medians.
        """
        if self.dispersions is not None:
            return "expected bits"
        if not self.variant.has_information:
            return "median bits"
        if self.audit is not None and self.audit.noise.tested and not self.audit.noise.unequal:
            return "expected and median bits"
        return "median bits" if self.variant.common_variance else "expected bits"

    @property
    def sigma(self) -> float:
        """σ, nats: √ln(1 + κ)."""
        return float(np.sqrt(np.log1p(self.dispersion)))

    @property
    def most_replaced(self) -> str:
        """The edition with the most characters replaced as too rare, in words; empty if not known."""
        if self.replaced_percent is None:
            return ""
        highest, edition = self.replaced_percent.max(), self.replaced_percent.idxmax()
        if highest == 0:
            return "characters replaced as too rare: none"
        most = "less than 0.01" if highest < 0.005 else f"at most {highest:.2f}"
        return f"characters replaced as too rare: {most} % ({edition})"

    @property
    def _few(self) -> str:
        """The degrees of freedom in words, where they are few enough to matter."""
        least = float(np.min(np.asarray(self.degrees_of_freedom)))
        return f", {least:.1f} degrees of freedom or more" if least < MANY else ""

    @property
    def _units(self) -> str:
        name = self.difficulty.index.name
        return "editions" if name in (None, "edition") else f"{name}s"

    def to_frame(self) -> pd.DataFrame:
        """Return one row per edition, hardest first.

        Returns
        -------
        DataFrame
            Indexed by edition; of several systems with ``language`` and ``system`` first. ``difficulty``,
            ``std_error``, ``low`` and ``high`` (95 % interval), in nats; ``factor`` = exp(difficulty); ``percent`` =
            100·(factor − 1), ``percent_std_error`` (to first order, 100·factor·std_error), ``percent_low`` and
            ``percent_high``; ``rank``, 1 the hardest, and, where errors are known, ``rank_low`` and ``rank_high``, the
            ends of the rank set; see `pairs`.

        Examples
        --------
        >>> import langdiff as ld
        >>> surprisals = ld.simulate(500, 3, difficulties=[0.0, 0.1, 0.0], seed=1).surprisals
        >>> ld.fit(surprisals).to_frame()["rank"].loc["e2"]
        np.int64(1)
        """
        if len(self.difficulty) > MOST_COLUMNS and self.columns is not None:
            return self.two_way.to_frame()
        frame = self.effects.to_frame()
        if self.columns is not None:
            for place, level in enumerate(LEVELS):
                frame.insert(place, level, self.columns[level].reindex(frame.index))
        return frame

    between: ClassVar[str] = " "

    @cached_property
    def _made(self) -> Any:
        """The table of difficulties, or of systems and languages."""
        return table_of(self) if self.columns is None else self.two_way

    def _lines(self) -> Iterator[str]:
        if self.columns is not None and not self.converged:
            yield f"NOT CONVERGED ({self.message})"
        else:
            yield from self._made._lines()

    def tables(self) -> list[Shown]:
        """Return the difficulties, terms of the formula if there is one, and details of the fit."""
        found = [] if self.columns is not None and not self.converged else self._made.tables()
        if self.terms is not None:
            found.append(Shown(self.terms.round(self.digits), "terms", "Terms of the formula, nats"))
        return [*found, Shown(None, "details", "Details", tuple(self._details()))]

    def _details(self) -> Iterator[str]:
        state = "converged" if self.converged else f"NOT CONVERGED ({self.message})"
        single = f" ({self.single_cell_intents:,} with one cell)" if self.single_cell_intents else ""
        how = f"{self.method}, restricted likelihood" if self.restricted else self.method
        plain = self.model == "1" and self.intents == "fixed" and self.dispersions is None
        variance = " (at the maximum-likelihood variance; sigma is unbiased)" if plain else ""
        gradient = "" if np.isnan(self.grad_norm) else f", gradient {self.grad_norm:.1e}"
        kinks = f"; {self.kinks:,} cells at their kinks, {self.message}" if self.kinks and self.converged else ""
        yield f"Model {self.model} ({how}), {state}: {self.n_iterations} iterations{kinks or gradient}"
        size = f"{len(self.intent_size):,} intents{single} × {len(self.difficulty):,} {self._units}"
        yield f"{self.cells:,} cells, {size}"
        if self.audit is not None:
            yield self.audit.words
        yield (
            f"sigma {self.sigma:.4f}, dispersion {self.dispersion:.4f}, "
            f"log-likelihood {self.log_likelihood:,.2f} of log bits, {self.log_likelihood_bits:,.2f} of bits{variance}"
        )
        yield f"difficulties are about {self.estimand}; standard errors from {self.errors.words}{self._few}"
        compared = self.compared if self.audit is None else None  # which the audit tells
        yield from (record.words for record in (self.sizes, self.dispersions, compared) if record is not None)
        yield from filter(None, [self.most_replaced])

    @property
    def variant(self) -> Variant:
        """The model as an object, with the numbers of its own that predictions depend on."""
        if self.own_variant is not None:
            return self.own_variant
        return find_variant(self.model, laplace_scale=self.laplace_scale)

    def contrast(
        self, one: Names, other: Names, *, estimand: Estimand = "expected", size: float | None = None
    ) -> Contrast:
        """Compare two editions, or the mean difficulties of two sets of them.

        The standard error is the difference's own, from the joint covariance.

        Parameters
        ----------
        one, other : str, or list of str
            Names of editions, or of groups where editions share difficulties.
        estimand : {"expected", "median"}
            Ratio that the difference is the logarithm of: that of expected bits, or the median ratio. They differ
            only if editions have `dispersions` of their own.
        size : float, optional
            Size of the intents, in the unit of `intent_size`, at which the median of model 2 is taken; by default
            their median size.

        Returns
        -------
        Contrast
            Difficulty of `one` less that of `other`, nats.

        Raises
        ------
        ConfigError
            If a name is unknown, named twice, or on both sides, `estimand` or `size` cannot be used, or median ratios
            are asked for where editions share difficulties or errors come from resampling.

        Examples
        --------
        >>> import langdiff as ld
        >>> surprisals = ld.simulate(500, 3, difficulties=[0.0, 0.1, 0.0], seed=1).surprisals
        >>> print(ld.fit(surprisals).contrast("e2", "e1"))
        e2 - e1: 0.1048 ± 0.0105 nats (+11.1 %), 95 % interval 0.0842 to 0.1254, p = 3.7e-21
        """
        check_choice("estimand", estimand, ("expected", "median"))
        if estimand == "expected" or self.dispersions is None:
            return self.effects.contrast(one, other)
        if not self.difficulty.index.equals(self.dispersions.level.index):
            raise ConfigError(
                f"{option('estimand', 'median')} compares editions; where they share difficulties use 'expected'."
            )
        if self.errors.kind in ("bootstrap", "jackknife"):
            raise ConfigError(f"errors from the {self.errors.kind} are those of 'expected' only; use a sandwich.")
        size = float(self.intent_size.median()) if size is None else size
        if not 0 < size < np.inf:
            raise ConfigError(f"size must be positive bits, got {size!r}.")
        level, covariance = self.dispersions.median(self.model, size)
        scale = Scale(estimand="median bits")
        medians = Effects.from_covariance(level, covariance, self.effects.degrees_of_freedom, scale=scale)
        return medians.contrast(one, other)

    def pairs(
        self,
        *,
        adjust: Adjustment | None = "max-t",
        baseline: str | int | None = None,
        level: float = 0.95,
        seed: int | np.random.Generator = 0,
    ) -> Pairs:
        """Compare all pairs of editions, or all editions with one, with intervals that hold together.

        Parameters
        ----------
        adjust, baseline, level, seed
            Adjustment, edition compared with, probability and seed; see `langdiff.Effects.pairs`.

        Returns
        -------
        Pairs
            Differences, nats, with simultaneous intervals and adjusted p-values, and the rank sets.

        Raises
        ------
        ConfigError
            If `adjust` or `baseline` is unknown, or `level` or `seed` is out of range.
        DataError
            If the covariance is not known, as where a fit did not converge, or there are fewer than two editions.

        Examples
        --------
        >>> import langdiff as ld
        >>> surprisals = ld.simulate(500, 3, difficulties=[0.0, 0.1, 0.0], seed=1).surprisals
        >>> print(ld.fit(surprisals).pairs(baseline="e1").words)
        1 of 2 differ from e1.
        """
        return self.effects.pairs(adjust=adjust, baseline=baseline, level=level, seed=seed)

    plot = Drawn("plot_difficulties")

    def __repr__(self) -> str:
        """Return what was fitted and whether it can be trusted."""
        state = "converged" if self.converged else "NOT CONVERGED"
        return (
            f"DifficultyFit: model {self.model}, {len(self.intent_size):,} intents × "
            f"{len(self.difficulty):,} {self._units}, sigma {self.sigma:.4g}, {state}"
        )
