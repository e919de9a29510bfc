r"""Likelihoods of cells, with their derivatives in the log odds η of a success, and the models that are made of them.

Binomial coefficients are left out of the terms; see `Likelihood.coefficients`. A likelihood of one's own is a class
here or anywhere else: `langdiff.fit_outcomes` takes an object of it as its model.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np
import pandas as pd
from scipy.special import bernoulli, expit, gammaln

from langdiff.base.plugins import plugins
from langdiff.base.signature import name_of_number
from langdiff.base.types import Booleans, Floats, Integers
from langdiff.errors import ConfigError, DataError, option
from langdiff.regression.outcomes import OutcomeModel
from langdiff.tables.doubtful_cells import doubt_scores
from langdiff.tables.rule import Scale

RASCH, BETA_BINOMIAL, SLOPES, CONDITIONAL, NORMAL, ORDINAL, POISSON = get_args(OutcomeModel)
ABILITIES = Scale(quantity="ability", unit="log odds", first="ablest", centre="mean")
DIFFICULTIES = Scale(quantity="difficulty", unit="log odds", first="hardest", centre="mean")
MOST_VALUES = 11  # of ratings

FARTHEST = 300.0  # log odds beyond which p, of a beta-binomial cell, would underflow
MODERATE = 30.0  # log odds up to which as many as FACTORS of 1 + odds can be multiplied
FACTORS = 20
SINGLE = 64  # terms of a sum over trials that are taken one by one
LEGENDRE = 24  # nodes of the integral that stands for the others
OFFSETS = (-4, -3, -2, -1, 0, 1, 2, 3, 4)  # from its ends, where it is corrected
LEAST_RATIO = 1e-9


class CellTerms(NamedTuple):
    """Log-likelihoods of rows and derivatives of their cells; η stands for log odds, d for ρ/(1 − ρ).

    `value` is the sum over the last axis, the systems; the others are by cell: `of_eta`, `curvature`, which is
    −∂²/∂η², and `of_d`, `of_d2` and `of_eta_d`, None for binomial cells.
    """

    value: Any
    of_eta: Any
    curvature: Any
    of_d: Any = None
    of_d2: Any = None
    of_eta_d: Any = None


def binomial(eta: Floats, s: Floats, t: Floats) -> CellTerms:
    """Return the terms of binomial cells, whatever the size of η."""
    e = np.exp(-np.abs(eta))
    value = s * eta - t * (np.maximum(eta, 0) + np.log1p(e))
    q = 1 / (1 + e)
    return CellTerms(value.sum(axis=-1), s - t * np.where(eta >= 0, q, e * q), t * e * q**2)


def guessed_binomial(eta: Floats, s: Floats, t: Floats, chance: Floats) -> CellTerms:
    """Return the terms of binomial cells with p = c + (1 − c)·logistic(η)."""
    q = expit(eta)
    p = chance + (1 - chance) * q
    right = (1 - chance) * q * expit(-eta) / p
    log_rest = np.log1p(-chance) - np.maximum(eta, 0) - np.log1p(np.exp(-np.abs(eta)))
    value = np.where(s > 0, s * np.log(np.where(s > 0, p, 1.0)), 0.0) + (t - s) * log_rest
    return CellTerms(
        value.sum(axis=-1),
        s * right - (t - s) * q,
        s * right * (right - 1 + 2 * q) + (t - s) * q * expit(-eta),
    )


def binomial_outer(level: Floats, along: Any, s: Floats, t: Floats) -> CellTerms:
    """Return the terms of binomial cells with log odds level + along, of moduli within `MODERATE`.

    Shapes: level (n, J); along (n, Q); s, t (n, J).
    """
    single = t.max(initial=0) <= 1
    at_zero = np.exp(level) * t if single else np.exp(level)
    odds = at_zero[:, None, :] * np.exp(along)[:, :, None]
    whole = 1 + odds
    odds /= whole  # p, or 0 where there is no trial
    if single:
        expected = odds
        curvature = odds * (1 - odds)
        logs = sum(np.log(whole[:, :, j : j + FACTORS].prod(axis=2)) for j in range(0, level.shape[1], FACTORS))
    else:
        expected = t[:, None, :] * odds
        curvature = expected * (1 - odds)
        logs = (t[:, None, :] * np.log(whole)).sum(axis=2)
    value = (s * level).sum(axis=1)[:, None] + s.sum(axis=1)[:, None] * along - logs
    return CellTerms(value, s[:, None, :] - expected, curvature)


def beta_binomial(eta: Floats, s: Floats, t: Floats, d: float, chance: Floats | None = None) -> CellTerms:
    r"""Return the terms of beta-binomial cells with mean p = logistic(η) and correlation ρ = d/(1 + d) of trials.

    With chance c the mean is p = c + (1 − c)·logistic(η).

    .. math:: \sum_{k<s} \ln(p + kd) + \sum_{k<t-s} \ln(1 - p + kd) - \sum_{k<t} \ln(1 + kd)

    The sums need no gamma functions, so that nothing is lost where d is small or 0 (binomial cells). Their cost
    does not grow with the trials beyond `SINGLE`.
    """
    eta = np.clip(eta, -FARTHEST, FARTHEST)
    e = np.exp(-np.abs(eta))
    small, large = e / (1 + e), 1 / (1 + e)
    p, q = np.where(eta >= 0, large, small), np.where(eta >= 0, small, large)
    pq, bend = p * q, q - p  # dp/dη, and its own derivative over it
    if chance is not None:
        p, q, pq = chance + (1 - chance) * p, (1 - chance) * q, (1 - chance) * pq
    value, of_p, of_p2, of_d, of_d2, of_pd = (np.zeros(np.broadcast_shapes(eta.shape, s.shape)) for _ in range(6))
    for count, share, sign in ((s, p, 1.0), (t - s, q, -1.0)):
        for k, weight in _terms(count, share, d):
            inverse = 1 / (share + k * d)
            value += weight * np.log(share + k * d)
            of_p += sign * weight * (pq * inverse)  # times dp/dη = pq, which keeps 1/p in range
            of_p2 += weight * (pq * inverse) ** 2
            of_d += weight * (k * inverse)
            of_d2 -= weight * (k * inverse) ** 2
            of_pd -= sign * weight * (pq * inverse) * (k * inverse)
    for k, weight in _terms(t, 1.0, d):
        inverse = 1 / (1 + k * d)
        value -= weight * np.log1p(k * d)
        of_d -= weight * (k * inverse)
        of_d2 += weight * (k * inverse) ** 2
    return CellTerms(value.sum(axis=-1), of_p, of_p2 - of_p * bend, of_d, of_d2, of_pd)


def _terms(count: Floats, share: Any, d: float) -> Iterator[tuple[Any, Any]]:
    r"""Yield k and weights by which a function of share + kd, smooth in ln k, is summed over k < count.

    The first `SINGLE` terms are taken as they are. From K = `SINGLE` on the sum is an integral and a correction at each
    of its ends (Euler and Maclaurin), with values at neighbouring k in place of derivatives. The integral is by
    Gauss–Legendre over ln(share + kd), so that nothing is lost where d is small, however many trials there are.
    """
    for k in range(int(min(count.max(initial=0), SINGLE))):
        yield float(k), (count > k).astype(float)
    if count.max(initial=0) <= SINGLE:
        return
    rest = np.maximum(count - SINGLE, 0)
    ratio = np.maximum(rest * d / (share + SINGLE * d), LEAST_RATIO)
    length = np.log1p(ratio)
    x, legendre = np.polynomial.legendre.leggauss(LEGENDRE)
    for tau, weight in zip((x + 1) / 2, legendre / 2, strict=True):
        grown = np.expm1(length * tau)
        yield SINGLE + rest * (grown / ratio), weight * rest * (length / ratio) * (1 + grown)
    for offset, weight in zip(OFFSETS, _end_weights(), strict=True):
        yield SINGLE + offset, weight * (rest > 0)
        yield SINGLE + rest + offset, -weight * (rest > 0)


@lru_cache(maxsize=1)
def _end_weights() -> Floats:
    """Return weights of values at `OFFSETS` from where a sum starts, which make an integral from there the sum."""
    powers = np.arange(len(OFFSETS))
    corrections = -bernoulli(len(OFFSETS))[1:] / (powers + 1)  # of 1, k, k², …
    return np.asarray(np.linalg.solve(np.array(OFFSETS, dtype=float) ** powers[:, None], corrections), dtype=float)


class CellParameter(NamedTuple):
    """A parameter d that all cells share, and how it is published.

    Attributes
    ----------
    name, of : str
        Its name in the table of parameters, and what it belongs to, as in ``correlation`` of ``trials``.
    words, symbol : str
        What it measures, in the words and the symbol of summaries.
    start : float
        Where the search begins.
    low, high : float
        Bounds of d; at the lower one the likelihood is `Likelihood.without`.
    """

    name: str
    of: str
    words: str
    symbol: str
    start: float
    low: float = 0.0
    high: float = np.inf


class StanLines(NamedTuple):
    """Lines of the Stan program: declarations of parameters, and the statement on successes, trials and eta."""

    parameters: str
    model: str


@dataclass(frozen=True)
class Likelihood(ABC):
    """Distribution of the successes of a cell, given the log odds η of its system and item.

    Its fields are its own settings, plain numbers, which enter signatures and files.
    """

    name: ClassVar[str]
    """Name of the model, in summaries, signatures and files."""
    parameters: ClassVar[tuple[CellParameter, ...]] = ()
    """The parameter d that is estimated along with levels and spread; at most one."""
    totals_suffice: ClassVar[bool] = False
    """Whether successes of items matter through their totals alone, systems being alike; binomial terms only."""
    trials_depend: ClassVar[bool] = False
    """Whether trials of a cell depend on each other, given its log odds."""
    guessed: ClassVar[bool] = False
    """Whether constants of cells are chances that a guess is right, as `langdiff.fit_outcomes` takes them."""
    constant: ClassVar[str | None] = None
    """Attribute of items that holds a constant of their cells, such as a chance level; None for none."""
    stan: ClassVar[StanLines | None] = None
    """Lines of the Stan program; None where the likelihood cannot be sampled."""
    of_scores: ClassVar[bool] = False
    """Whether cells are scores, ratings or counts, whose estimators are in `langdiff.regression.outcomes.scores`."""
    scale: ClassVar[Scale] = ABILITIES
    """Quantity and unit of the levels of systems."""
    kinds: ClassVar[dict[str, type["Likelihood"]]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        """Enter the class under its name, by which saved fits are read."""
        super().__init_subclass__(**options)
        Likelihood.kinds[cls.name] = cls

    @abstractmethod
    def terms(
        self, eta: Any, s: Floats, t: Floats, d: float | None = None, constant: Floats | None = None
    ) -> CellTerms:
        """Return log-likelihoods and derivatives of s successes in t trials; derivatives in η are at most t in size.

        Shapes: eta (..., J); s, t (..., J); constant (..., J).

        Parameters
        ----------
        eta : ndarray, shape (..., J)
            Log odds η of a success.
        s : ndarray, shape (..., J)
            Successes of each cell.
        t : ndarray, shape (..., J)
            Trials; 0 where a cell is missing.
        d : float, optional
            The parameter of the cells, if there is one.
        constant : ndarray, optional
            Chance of a right guess of each cell.
        """

    def at_nodes(
        self, level: Floats, loading: Floats, v: Any, s: Floats, t: Floats, d: float | None, constant: Floats | None
    ) -> CellTerms:
        """Return the terms of rows at nodes, log odds being level − loading v; shapes (n, Q) and (n, Q, J).

        Shapes: level, s, t (n, J); loading (J,); v (n, Q).

        Parameters
        ----------
        level : ndarray, shape (n, J)
            Log odds of the systems on an average item.
        loading : ndarray, shape (n, J)
            Slopes of the systems.
        v : ndarray, shape (n, Q)
            Nodes of the difficulties.
        s : ndarray, shape (..., J)
            Successes of each cell.
        t : ndarray, shape (..., J)
            Trials; 0 where a cell is missing.
        d : float, optional
            The parameter of the cells, if there is one.
        constant : ndarray, optional
            Chance of a right guess of each cell.
        """
        eta = level[:, None, :] - v[:, :, None] * loading
        return self.terms(eta, s[:, None, :], t[:, None, :], d, None if constant is None else constant[:, None, :])

    def mean(self, eta: Floats, constant: Floats | None = None) -> Floats:
        """Return the expected share of successes.

        Parameters
        ----------
        eta : ndarray, shape (..., J)
            Log odds η of a success.
        constant : ndarray, optional
            Chance of a right guess of each cell.
        """
        share: Floats = expit(eta)
        return share if constant is None or not self.guessed else constant + (1 - constant) * share

    def coefficients(self, s: Floats, t: Floats) -> Floats:
        """Return ln C(t, s), by which counts are more probable than one order of their trials.

        Parameters
        ----------
        s : ndarray, shape (..., J)
            Successes of each cell.
        t : ndarray, shape (..., J)
            Trials; 0 where a cell is missing.
        """
        return np.asarray(gammaln(t + 1) - gammaln(s + 1) - gammaln(t - s + 1))

    def draw(
        self,
        rng: np.random.Generator,
        eta: Floats,
        trials: int,
        published: float | None = None,  # noqa: ARG002
    ) -> Floats:
        """Draw successes of cells; `published` is the parameter as it is published.

        Parameters
        ----------
        rng : Generator
            Source of draws.
        eta : ndarray, shape (..., J)
            Log odds η of a success.
        trials : int
            Trials of each cell.
        published : float, optional
            Published value of the parameter.
        """
        return np.asarray(rng.binomial(trials, self.mean(eta)), dtype=float)

    def publish(self, d: float) -> tuple[float, float]:
        """Return the published value of the parameter, and its derivative in d.

        Parameters
        ----------
        d : float, optional
            The parameter of the cells, if there is one.
        """
        return d, 1.0

    def without(self) -> "Likelihood":
        """Return the likelihood with the parameter at its lower bound."""
        return self

    def check_cells(self, values: pd.DataFrame, trials: pd.DataFrame) -> None:
        """Check that cells are what the model is of; an error names five that are not.

        Parameters
        ----------
        values, trials : DataFrame, shape (I, J)
            Successes, scores, ratings or counts, and what they are out of; NaN where a cell is missing.
        """
        s, t = values.to_numpy(dtype=float), trials.to_numpy(dtype=float)
        refuse_cells(values, (s < 0) | (s > t) | (s % 1 != 0), f"successes out of trials, as model {self.name!r} needs")

    def check(self, t: Floats) -> None:
        """Check that the trials identify their dependence.

        Parameters
        ----------
        t : ndarray, shape (..., J)
            Trials; 0 where a cell is missing.
        """
        if self.trials_depend and t.max() <= 1:
            raise DataError(
                "all cells have one trial, which says nothing of how trials of a cell agree; use "
                f"{option('model', 'rasch')}."
            )

    @property
    def settings(self) -> dict[str, float]:
        """Values of its fields."""
        return asdict(self)

    def __str__(self) -> str:
        """Return the name with all settings, for signatures."""
        given = ",".join(f"{name}={name_of_number(value)}" for name, value in self.settings.items())
        return f"{self.name}({given})" if given else self.name


def refuse_cells(values: pd.DataFrame, wrong: Booleans, what: str) -> None:
    """Refuse cells that are present and wrong, with the first five."""
    found = values.to_numpy(dtype=float)
    rows, columns = np.nonzero(wrong & ~np.isnan(found))
    if len(rows):
        first = ", ".join(
            f"({values.index[i]}, {values.columns[j]}) = {found[i, j]:g}"
            for i, j in zip(rows[:5], columns[:5], strict=True)
        )
        raise DataError(f"{len(rows):,} cell(s) are not {what}: {first}. For scores use {option('model', NORMAL)}.")


@dataclass(frozen=True)
class Binomial(Likelihood):
    """Independent trials: the model of Rasch (1960)."""

    name = RASCH
    totals_suffice = True
    guessed = True
    stan = StanLines("", "successes ~ binomial_logit(trials, eta);")

    def terms(
        self,
        eta: Any,
        s: Floats,
        t: Floats,
        d: float | None = None,  # noqa: ARG002
        constant: Floats | None = None,
    ) -> CellTerms:
        """Return the terms of binomial cells, with constants those of which a share is right by chance."""
        return binomial(eta, s, t) if constant is None else guessed_binomial(eta, s, t, constant)

    def at_nodes(
        self, level: Floats, loading: Floats, v: Any, s: Floats, t: Floats, d: float | None, constant: Floats | None
    ) -> CellTerms:
        """Return the terms of rows at nodes, which may be complex: these are at moderate log odds, loadings equal."""
        if constant is not None:
            return super().at_nodes(level, loading, v, s, t, d, constant)
        common = bool((loading == loading[0]).all())
        if common and np.abs(level).max(initial=0) + np.abs(loading[0] * v.real).max(initial=0) < MODERATE:
            return binomial_outer(level, -loading[0] * v, s, t)
        if not np.iscomplexobj(v):
            return super().at_nodes(level, loading, v, s, t, d, constant)
        odds = np.exp(eta := level[:, None, :] - v[:, :, None] * loading)
        p = odds / (1 + odds)
        value = (s[:, None, :] * eta - t[:, None, :] * np.log1p(odds)).sum(axis=2)
        return CellTerms(value, s[:, None, :] - t[:, None, :] * p, t[:, None, :] * p * (1 - p))


@dataclass(frozen=True)
class BetaBinomial(Likelihood):
    """Trials of a cell that are correlated, ρ = d/(1 + d)."""

    name = BETA_BINOMIAL
    parameters = (CellParameter("correlation", "trials", "correlation of trials in a cell", "rho", start=0.1),)
    trials_depend = True
    guessed = True
    stan = StanLines(
        "array[1] real<lower=0, upper=1> correlation;",
        "{ real precision = (1 - correlation[1]) / correlation[1];"
        " successes ~ beta_binomial(trials, precision * inv_logit(eta), precision * inv_logit(-eta)); }",
    )

    def terms(
        self,
        eta: Any,
        s: Floats,
        t: Floats,
        d: float | None = None,
        constant: Floats | None = None,
    ) -> CellTerms:
        """Return the terms of beta-binomial cells."""
        return beta_binomial(eta, s, t, d or 0.0, constant)

    def draw(self, rng: np.random.Generator, eta: Floats, trials: int, published: float | None = None) -> Floats:
        """Draw successes of cells whose trials have a correlation."""
        if not published:
            return super().draw(rng, eta, trials)
        p, total = self.mean(eta), 1 / published - 1
        drawn = rng.beta(np.maximum(p * total, 1e-12), np.maximum((1 - p) * total, 1e-12))
        return np.asarray(rng.binomial(trials, drawn), dtype=float)

    def publish(self, d: float) -> tuple[float, float]:
        """Return ρ and its derivative."""
        return d / (1 + d), 1 / (1 + d) ** 2

    def without(self) -> Likelihood:
        """Return the binomial likelihood."""
        return Binomial()


@dataclass(frozen=True)
class Scores(Likelihood):
    """Scores: levels and fixed effects of items, by least squares."""

    name: ClassVar[str] = NORMAL
    of_scores = True
    scale = Scale(quantity="score", unit="score", first="highest", centre="mean")

    def terms(self, *_: Any, **__: Any) -> CellTerms:
        """Refuse: these cells have no successes."""
        raise ConfigError(f"model {self.name!r} is of scores and has no likelihood of successes.")

    def check_cells(self, values: pd.DataFrame, trials: pd.DataFrame) -> None:  # noqa: ARG002 - as those of successes
        """Check that scores are finite, of one scale, and no marks."""
        refuse_cells(values, ~np.isfinite(values.to_numpy(dtype=float)), "finite scores")
        doubt_scores(values, whole=False)


@dataclass(frozen=True)
class Ratings(Scores):
    """Ratings: the cumulative logit model with common thresholds and normal items."""

    name: ClassVar[str] = ORDINAL
    scale = ABILITIES

    def check_cells(self, values: pd.DataFrame, trials: pd.DataFrame) -> None:
        """Check that ratings are 2 to 11 whole values, one for each cell, and no marks."""
        refuse_cells(values, (values % 1 != 0).to_numpy(), "whole numbers, as ratings are")
        refuse_cells(trials, (trials != 1).to_numpy(), "one rating each")
        count = values.stack().nunique()
        if not 2 <= count <= MOST_VALUES:
            raise DataError(
                f"ratings have {count} value(s), and model {ORDINAL!r} is of 2 to {MOST_VALUES}: use "
                f"{option('model', NORMAL)}."
            )
        doubt_scores(values, whole=True)


@dataclass(frozen=True)
class Counts(Scores):
    """Counts, given the totals of items; the trials of a cell are its exposure."""

    name: ClassVar[str] = POISSON
    scale = Scale(quantity="rate", unit="nats", first="highest", centre="mean")

    def check_cells(self, values: pd.DataFrame, trials: pd.DataFrame) -> None:  # noqa: ARG002 - any exposure
        """Check that counts are whole numbers from 0."""
        refuse_cells(values, ((values < 0) | (values % 1 != 0)).to_numpy(), "whole numbers from 0, as counts are")


class Structure(NamedTuple):
    """A model of outcomes: the likelihood of cells, and the effects of items on systems."""

    likelihood: Likelihood = Binomial()
    loadings: Literal["equal", "free"] = "equal"
    levels: Literal["marginal", "conditional"] = "marginal"
    languages: tuple[int, ...] = ()
    """Language of each column, whose answers to an item share a translation; empty without languages."""
    additive: tuple[int, ...] = ()
    """System of each column, where its level is a sum of effects of language and system; empty if levels are free."""

    @property
    def translated(self) -> bool:
        """Whether an item may be easier or harder in one language than in others, which needs two columns of one."""
        languages = len(set(self.languages))
        return self.totals_suffice and not self.conditional and 1 < languages < len(self.languages)

    def groups(self, columns: int) -> Integers:
        """Return the language of each column, each its own by default, shape (J,)."""
        return np.array(self.languages) if self.languages else np.arange(columns)

    @property
    def conditional(self) -> bool:
        """Whether the totals of items are conditioned on, so that their difficulties are not estimated."""
        return self.levels == "conditional"

    @property
    def totals_suffice(self) -> bool:
        """Whether items of equal totals differ by a linear term only."""
        return self.likelihood.totals_suffice and self.loadings == "equal"


MODELS: Mapping[str, Structure] = {
    RASCH: Structure(),
    BETA_BINOMIAL: Structure(BetaBinomial()),
    SLOPES: Structure(loadings="free"),
    CONDITIONAL: Structure(levels="conditional"),
    **{each.name: Structure(each(), levels="conditional") for each in (Scores, Ratings, Counts)},
}


def find_model(model: Any, *, several: bool, scores: bool = False) -> tuple[str, Structure]:
    """Return name and structure of a model; "auto" depends on whether cells are scores or have several trials."""
    if isinstance(model, Likelihood):
        return model.name, Structure(model)
    if model in Likelihood.kinds.values():
        raise ConfigError(f"model is the class {model.__name__}: write {model.__name__}().")
    usual = NORMAL if scores else BETA_BINOMIAL if several else RASCH
    name = usual if model == "auto" else model
    others = plugins("likelihoods", tuple(MODELS))
    if name in MODELS:
        return name, MODELS[name]
    if name not in others:
        raise ConfigError(f"unknown model {name!r}; use one of {', '.join(('auto', *MODELS, *others))}.")
    return name, Structure(others[name]())


def saved_model(name: str, settings: Mapping[str, float]) -> Structure:
    """Return the structure of a model that was saved."""
    if name in MODELS:
        return MODELS[name]
    plugins("likelihoods", tuple(MODELS))  # which enter themselves
    if name not in Likelihood.kinds:
        raise DataError(f"the fit is of model {name!r}, of which no class is known here. Import it before reading.")
    return Structure(Likelihood.kinds[name](**settings))
