r"""How many intents a difference of difficulties takes, before a corpus is collected or language models are trained.

With D documents of m intents, R seeds of every language model and J editions, the variance of an estimated difference
of two difficulties is

.. math:: SE^2 = \frac{v\,(1 + (m - 1)\rho)}{D m} + \frac{2b}{R}

with v the variance that one intent gives, twice that of the noise of a cell, :math:`\rho` the correlation of intents
of one document and b the variance of a difficulty between seeds. For a true difference of x percent, :math:`\delta =
\ln(1 + x/100)`, the power is the probability that a noncentral t exceeds the critical value:

.. math:: P(|t_\nu(\delta / SE)| > t_{\nu, 1 - \alpha/2}), \quad
          \frac1\nu = \frac{(C / SE^2)^2}{D - 1} + \frac{(2b / R / SE^2)^2}{(R - 1)(J - 1)}

with C the first part of the variance (Satterthwaite 1946). If all pairs of J editions are compared, the critical value
is that of the largest of all differences, each with a variance estimate of its own.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd
from scipy.stats import chi2, norm, studentized_range
from scipy.stats import t as student

from langdiff.base.result import Drawn, Result
from langdiff.base.types import Floats
from langdiff.errors import ConfigError, option
from langdiff.regression.clustering import Clusters, one_clustering
from langdiff.regression.fitting.errors import Sandwich
from langdiff.regression.fitting.fit import fit
from langdiff.regression.result import DifficultyFit
from langdiff.regression.table import as_surprisals
from langdiff.tables.long_tables import LongTable
from langdiff.tables.surprisals import Surprisals

USUAL_PERCENTS = (1.0, 2.0, 5.0, 10.0)
MOST_DOCUMENTS = 10**12
MOST_SEEDS = 10_000
NODES = 200
NORMAL = 1e6  # degrees of freedom from which t is normal
CERTAIN = 30.0  # standard errors at which the power is 1
MANY = 1000.0  # degrees of freedom from which errors of pairs are as good as known
DRAWS, FEWEST_DRAWS, MOST_NUMBERS = 20_000, 4_000, 5e7  # of the largest difference


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Plan(Result):
    """Number of intents that a difference of difficulties takes.

    Attributes
    ----------
    percent : float
        Difference to be found, in percent of the bits.
    variance : float
        v, the variance of a difference of two editions in one intent, nats squared.
    per_document : float
        m, intents of a document; 1 if intents are independent.
    icc : float
        Correlation of the intents of a document.
    seed_variance : float
        b, the variance of a difficulty between seeds, nats squared.
    n_seeds, n_editions : int
        Seeds of each language model, and editions.
    all_pairs : bool
        Whether the largest of all differences is looked for, instead of one that is named beforehand.
    wanted, level : float
        Power to be reached, and level of the confidence interval that excludes 0.
    pilot : str
        Where the variance is from.
    frame : DataFrame
        See `to_frame`.
    """

    percent: float
    variance: float
    per_document: float
    icc: float
    seed_variance: float
    n_seeds: int
    n_editions: int
    all_pairs: bool
    wanted: float
    level: float
    pilot: str
    frame: pd.DataFrame

    plot = Drawn("plot_power")

    @property
    def n_documents(self) -> float:
        """Smallest number of documents with the power asked for; infinite if none has."""
        return float(self.frame.loc[self.percent, "n_documents"])

    @property
    def n_intents(self) -> float:
        """Number of intents of these documents."""
        return float(self.frame.loc[self.percent, "n_intents"])

    def to_frame(self) -> pd.DataFrame:
        """Return one row per difference in percent: those of 1, 2, 5 and 10 percent and the one asked for.

        Returns
        -------
        DataFrame
            Indexed by ``percent``: the smallest ``n_documents``, their ``n_intents`` and the ``power`` there;
            ``n_documents_low`` and ``n_documents_high``, a confidence interval by the errors of the variance of a
            pilot, and ``n_documents_worst`` for the pair of editions that varies most (NaN without a pilot). Where
            seeds alone leave too large an error, numbers are infinite, and ``seeds_needed`` says from how many seeds on
            they are not.
        """
        return self.frame.copy()

    def power(self, n_documents: float, percent: float | None = None) -> float:
        """Return the power that a number of documents has.

        Parameters
        ----------
        n_documents : float
            Number of documents; of intents if these are independent.
        percent : float, optional
            Difference in percent; by default that of the plan.
        """
        return _power(_Setting.of(self), n_documents, self.percent if percent is None else percent)

    def _lines(self) -> "list[str]":
        unit = "intents" if self.per_document == 1 else f"documents of {self.per_document:.4g} intents"
        seeds = f", {self.n_seeds} seeds of s.d. {self.seed_variance**0.5:.4g}" if self.seed_variance else ""
        pairs = f"the largest difference of {self.n_editions} editions" if self.all_pairs else "one difference"
        return [
            f"Number of {unit} with which {pairs} is found with power {self.wanted:g}, intervals of "
            f"{100 * self.level:g} %",
            f"Variance of a difference in one intent {self.variance:.4g} ({self.pilot}), intra-document correlation "
            f"{self.icc:.3g}{seeds}",
        ]

    def _table(self) -> pd.DataFrame:
        counts = [name for name in self.frame if name not in ("power", "seeds_needed")]
        shown = self.frame[counts].map(_count).assign(power=self.frame["power"].map("{:.3f}".format))
        return shown.loc[:, [name for name in self.frame.columns if name in shown and (shown[name] != "").any()]]

    def _notes(self) -> "list[str]":
        if np.isfinite(self.n_documents):
            return []
        error = (2 * self.seed_variance / self.n_seeds) ** 0.5
        enough = self.frame.loc[self.percent, "seeds_needed"]
        return [
            f"{self.percent:g} %: no number: seeds alone leave an error of {error:.4f}; "
            + (f"{enough:.0f} seeds would do." if np.isfinite(enough) else "no number of seeds would do.")
        ]

    def __repr__(self) -> str:
        """Return a one-line description."""
        unit = "intents" if self.per_document == 1 else f"documents ({_count(self.n_intents)} intents)"
        return f"Plan: {self.percent:g} % with power {self.wanted:g} takes {_count(self.n_documents)} {unit}"


def plan(
    percent: float,
    pilot: DifficultyFit | Surprisals | LongTable | None = None,
    *,
    clusters: Clusters | None = None,
    noise: float | None = None,
    per_document: float = 1,
    icc: float = 0,
    seed_sd: float = 0,
    n_seeds: int = 1,
    n_editions: int = 2,
    all_pairs: bool = False,
    power: float = 0.8,
    level: float = 0.95,
) -> Plan:
    """Compute the number of intents that it takes to find a difference between two editions.

    Parameters
    ----------
    percent : float
        Difference of the bits to be found, in percent.
    pilot : DifficultyFit or table that `fit` takes, optional
        Fit, or table of surprisals, that says how much intents vary. Without it, `noise` is needed.
    clusters : str, mapping or Series, optional
        Documents of the pilot, a table: a column of `Surprisals.intent_info`, or the document of each intent. They give
        the intents of a document and their correlation.
    noise : float, optional
        Standard deviation of ln bits of a cell around its mean, such as 0.17, instead of a pilot.
    per_document : float
        Number of intents of a document.
    icc : float
        Correlation of the noise of intents of one document, from 0 to below 1.
    seed_sd : float
        Standard deviation of a difficulty between seeds of the language model, nats.
    n_seeds : int
        Number of seeds of each language model.
    n_editions : int
        Number of editions, whose seeds are pooled, and all of whose pairs `all_pairs` compares.
    all_pairs : bool
        Take the critical value for the largest difference of all pairs of editions.
    power : float
        Probability with which the interval of the difference is to exclude 0.
    level : float
        Level of this interval.

    Returns
    -------
    Plan
        The smallest number of documents (of intents if these are independent), with its power, for this difference and
        for the usual ones.

    Raises
    ------
    ConfigError
        If neither a pilot nor the noise is given, or a number is out of its range.

    References
    ----------
    Satterthwaite (1946), "An approximate distribution of estimates of variance components".

    Examples
    --------
    >>> plan(5, noise=0.17)
    Plan: 5 % with power 0.8 takes 193 intents
    >>> plan(5, noise=0.17, per_document=8, icc=0.1)
    Plan: 5 % with power 0.8 takes 43 documents (344 intents)
    """
    _check(percent, per_document, icc, seed_sd, n_seeds, n_editions, power, level)
    if (pilot is None) == (noise is None):
        raise ConfigError(
            f"a plan needs {option('pilot')}, a fit or a table, or {option('noise', 0.17)}, the standard deviation of "
            "ln bits of one cell, and not both."
        )
    if pilot is None:
        if noise is None or not 0 < noise < np.inf:
            raise ConfigError(f"noise must be positive, got {noise!r}.")
        found = _Pilot(2 * noise**2, 2 * noise**2, np.inf, per_document, icc, f"noise {noise:g}")
    else:
        found = _of_pilot(pilot, clusters, per_document, icc)
    pooled = (int(n_seeds) - 1) * (int(n_editions) - 1)
    setting = _Setting(
        found.variance, found.per_document, found.icc, seed_sd**2, int(n_seeds), pooled, level, n_editions * all_pairs
    )
    percents = sorted({*USUAL_PERCENTS, float(percent)})
    frame = pd.DataFrame([_row(setting, found, x, power) for x in percents], pd.Index(percents, name="percent"))
    return Plan(
        percent=float(percent),
        variance=found.variance,
        per_document=float(found.per_document),
        icc=float(found.icc),
        seed_variance=float(seed_sd**2),
        n_seeds=int(n_seeds),
        n_editions=int(n_editions),
        all_pairs=bool(all_pairs),
        wanted=float(power),
        level=float(level),
        pilot=found.source,
        frame=frame,
    )


@dataclass(frozen=True)
class _Pilot:
    """What is known of intents and documents before they are collected."""

    variance: float
    worst: float
    freedom: float  # of the variance
    per_document: float
    icc: float
    source: str


@dataclass(frozen=True)
class _Setting:
    """All that the power depends on besides the numbers of documents and the difference."""

    variance: float
    per_document: float
    icc: float
    seed_variance: float
    n_seeds: int
    pooled: int  # degrees of freedom of the variance between seeds
    level: float
    compared: int  # editions whose pairs are all compared; 0 for one pair

    @classmethod
    def of(cls, made: Plan) -> "_Setting":
        """Return the setting of a plan."""
        pooled = (made.n_seeds - 1) * (made.n_editions - 1)
        compared = made.n_editions * made.all_pairs
        parts = (made.variance, made.per_document, made.icc, made.seed_variance, made.n_seeds)
        return cls(*parts, pooled, made.level, compared)


def _check(
    percent: float,
    per_document: float,
    icc: float,
    seed_sd: float,
    n_seeds: int,
    n_editions: int,
    power: float,
    level: float,
) -> None:
    """Check that all numbers of a plan are in their range."""
    for right, name, given, range_ in (
        (0 < percent < np.inf, "percent", percent, "positive"),
        (1 <= per_document < np.inf, "per_document", per_document, "at least 1"),
        (0 <= icc < 1, "icc", icc, "from 0 to below 1"),
        (0 <= seed_sd < np.inf, "seed_sd", seed_sd, "0 or positive"),
        (n_seeds >= 1, "n_seeds", n_seeds, "at least 1"),
        (n_editions >= 2, "n_editions", n_editions, "at least 2"),
        (0.5 < level < 1, "level", level, "between 0.5 and 1"),
        (1 - level < power < 1, "power", power, f"between {1 - level:.3g}, which chance reaches, and 1"),
    ):
        if not right:
            raise ConfigError(f"{option(name)} must be {range_}, got {given!r}.")
    if seed_sd > 0 and n_seeds < 2:
        raise ConfigError(
            f"{option('seed_sd', seed_sd)} needs {option('n_seeds', 2)} or more: one seed does not show how much seeds "
            "vary."
        )


def _of_pilot(pilot: object, clusters: Clusters | None, per_document: float, icc: float) -> _Pilot:
    """Return the variance of a difference in one intent, and documents where the pilot knows them."""
    if not isinstance(pilot, DifficultyFit):
        table = as_surprisals(pilot)
        documents = one_clustering(table, clusters)
        fitted = fit(table, errors=Sandwich(), clusters=None if clusters is None else documents)
        if documents is not None:
            counts = documents.value_counts().to_numpy(dtype=float)
            per_document = float(counts @ counts / counts.sum())
    elif clusters is not None:
        raise ConfigError(f"{option('clusters')} are those of a table; a fit has its own. Give the table.")
    else:
        fitted = pilot
        if np.isfinite(fitted.errors.design_effect):
            per_document = len(fitted.intent_size) / fitted.errors.n_clusters
    effect, n_intents = fitted.errors.design_effect, len(fitted.intent_size)
    if np.isfinite(effect) and per_document > 1:
        icc = min(max(0.0, (effect - 1) / (per_document - 1)), 1 - 1e-9)
    covariance = fitted.covariance.to_numpy() / (effect if np.isfinite(effect) else 1.0)
    own, (one, other) = np.diag(covariance), np.triu_indices(len(covariance), 1)
    of_pairs = n_intents * (own[one] + own[other] - 2 * covariance[one, other])
    of_pairs = of_pairs[of_pairs > 0]
    if not len(of_pairs) or not np.isfinite(of_pairs).all():
        raise ConfigError("the pilot has no standard errors, from which the variance of intents could be known.")
    source = f"median of {len(of_pairs):,} pairs over {n_intents:,} intents"
    return _Pilot(float(np.median(of_pairs)), float(of_pairs.max()), n_intents - 1.0, per_document, icc, source)


def _row(setting: _Setting, found: _Pilot, percent: float, wanted: float) -> dict[str, float]:
    """Return the numbers of documents for one difference."""
    needed = _documents(setting, percent, wanted)
    row = {"n_documents": needed, "n_intents": needed * setting.per_document}
    row["power"] = _power(setting, needed, percent)
    tails = [(1 + setting.level) / 2, (1 - setting.level) / 2]
    known = np.isfinite(found.freedom)
    for name, tail in zip(("n_documents_low", "n_documents_high"), tails, strict=True):
        of_variance = found.freedom / float(chi2.ppf(tail, found.freedom)) if known else np.nan
        row[name] = _documents(_with(setting, found.variance * of_variance), percent, wanted) if known else np.nan
    row["n_documents_worst"] = _documents(_with(setting, found.worst), percent, wanted) if known else np.nan
    row["seeds_needed"] = np.nan if np.isfinite(needed) else _seeds(setting, percent, wanted)
    return row


def _with(setting: _Setting, variance: float) -> _Setting:
    parts = (setting.per_document, setting.icc, setting.seed_variance, setting.n_seeds, setting.pooled)
    return _Setting(variance, *parts, setting.level, setting.compared)


def _documents(setting: _Setting, percent: float, wanted: float) -> float:
    """Return the smallest number of documents with a power; infinite if none has."""
    return _smallest(lambda count: _power(setting, count, percent) >= wanted, 2, MOST_DOCUMENTS)


def _seeds(setting: _Setting, percent: float, wanted: float) -> float:
    """Return the smallest number of seeds with which some number of documents has a power."""
    each = setting.pooled // (setting.n_seeds - 1)

    def enough(seeds: int) -> bool:
        parts = (setting.variance, setting.per_document, setting.icc, setting.seed_variance)
        more = _Setting(*parts, seeds, each * (seeds - 1), setting.level, setting.compared)
        return _power(more, np.inf, percent) > wanted

    return _smallest(enough, setting.n_seeds, MOST_SEEDS)


def _smallest(enough: Callable[[int], bool], least: int, most: int) -> float:
    """Return the smallest number from which a condition holds, by doubling and halving; infinite if it never does."""
    low, high = least - 1, least
    while not enough(high):
        if high >= most:
            return np.inf
        low, high = high, min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return float(high)


def _power(setting: _Setting, n_documents: float, percent: float) -> float:
    """Return the probability that the interval of a difference excludes 0."""
    of_document = setting.variance * (1 + (setting.per_document - 1) * setting.icc) / setting.per_document
    of_intents, of_seeds = of_document / n_documents, 2 * setting.seed_variance / setting.n_seeds
    total = of_intents + of_seeds
    if total == 0:
        return 1.0
    inverse = (of_intents / total) ** 2 / (n_documents - 1)
    if of_seeds:
        inverse += (of_seeds / total) ** 2 / setting.pooled
    freedom, away = 1 / inverse if inverse else np.inf, np.log1p(percent / 100) / np.sqrt(total)
    critical = _critical(freedom, setting.level, setting.compared)
    if away > critical + CERTAIN:
        return 1.0
    if freedom > NORMAL:
        return float(norm.sf(critical - away) + norm.cdf(-critical - away))
    shares, weights = _nodes()
    scale = np.sqrt(chi2.ppf(shares, freedom) / freedom)  # an integral, as SciPy's noncentral t is NaN at some points
    return float(weights @ (norm.sf(critical * scale - away) + norm.cdf(-critical * scale - away)))


@cache
def _nodes() -> tuple[Floats, Floats]:
    """Return the nodes and weights of an integral from 0 to 1."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    return (nodes + 1) / 2, weights / 2


@cache
def _critical(freedom: float, level: float, compared: int) -> float:
    """Return the critical value of one difference, or of the largest of all pairs of some editions."""
    if compared <= 2:
        return float(student.ppf((1 + level) / 2, freedom))
    if freedom > MANY:
        return float(studentized_range.ppf(level, compared, np.inf)) / 2**0.5
    one, other = np.triu_indices(compared, 1)
    draws = int(np.clip(MOST_NUMBERS / len(one), FEWEST_DRAWS, DRAWS))
    rng, largest = np.random.default_rng(0), np.empty(draws)
    for start in range(0, draws, 500):
        x = rng.standard_normal((min(500, draws - start), compared))
        errors = np.sqrt(rng.chisquare(freedom, (len(x), len(one))) / freedom)
        largest[start : start + len(x)] = (np.abs(x[:, one] - x[:, other]) / errors).max(axis=1)
    return float(np.quantile(largest, level)) / 2**0.5


def _count(number: float) -> str:
    """Return a number of documents in words: infinity is not one."""
    if np.isnan(number):
        return ""
    return f"{number:,.0f}" if np.isfinite(number) else "no number"
