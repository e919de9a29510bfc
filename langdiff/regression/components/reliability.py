r"""Reliability of difficulties, and numbers of intents, language models and seeds needed for it.

Difficulties are means of ln bits over intents, language models and seeds. What all editions share cancels in their
differences, so that the error of one is made of what goes together with the edition:

.. math:: \sigma^2_\Delta = \frac{\sigma^2_{e:c}}{C} + \frac{\sigma^2_{e:lm}}{L} + \frac{\sigma^2_{e:s}}{LS}
          + \frac{\sigma^2_{e:i}}{I} + \frac{\sigma^2_\epsilon}{I L S}, \qquad
          G = \frac{\sigma^2_e}{\sigma^2_e + \sigma^2_\Delta}

with C corpora, L language models, S seeds of each and I intents; where intents are in documents of m, as clusters are,
:math:`m\,\sigma^2_{e:d} / I` is added (Cronbach, Gleser, Nanda and Rajaratnam 1972; Brennan
2001, "Generalizability Theory"). With one table, e:i is part of the residual.

Editions differ by some hundredths and intents by much more, so that no estimator of the former may take in any of the
latter where cells are missing by intent: one table has restricted maximum likelihood with the intents fixed
(`langdiff.regression.components.variances`), several have equations of moments on rows from which the intent is taken
out (`langdiff.regression.components.variances`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pandas as pd

from langdiff.base.grids import Shown
from langdiff.base.result import Result
from langdiff.base.types import ROUNDING, Booleans, Floats, Integers
from langdiff.errors import ConfigError, DataError, listing, option
from langdiff.regression.clustering import AnyClusters, one_clustering
from langdiff.regression.components.numbers import Number, Spread, mean_size, spread_of
from langdiff.regression.components.variances import restricted_components, shared_components, swept_components
from langdiff.regression.table import as_surprisals, named_tables
from langdiff.tables.surprisals import Surprisals

FACETS = ("corpus", "lm", "seed")
# columns that make up the levels of each; intents and clusters belong to their corpus, seeds to their language model
EFFECTS = (
    ("edition", ["edition"]),
    ("intent", ["corpus", "intent"]),
    ("corpus", ["corpus"]),
    ("lm", ["lm"]),
    ("seed", ["lm", "seed"]),
    ("edition:corpus", ["edition", "corpus"]),
    ("edition:lm", ["edition", "lm"]),
    ("edition:seed", ["edition", "lm", "seed"]),
    ("intent:lm", ["corpus", "intent", "lm"]),
    ("edition:intent", ["edition", "corpus", "intent"]),
    ("edition:cluster", ["edition", "corpus", "cluster"]),
)


class Observations(NamedTuple):
    """Log bits of all cells of all tables, and the groups of rows by whose effects the tables can be told apart.

    A row holds an intent in one table.

    Attributes
    ----------
    z : ndarray, shape (R, J)
        Rows × editions, NaN where missing.
    shared : dict from str to ndarray of int, shape (R,)
        Level of each row by effect that its editions share, such as ``intent``.
    of_editions : dict from str to ndarray of int, shape (R,)
        Group of rows within which an edition has one level, by effect that belongs to editions: ``edition``, for which
        all rows are one group, and interactions such as ``edition:lm``.
    levels : dict from str to int
        Number of levels by effect, in the order of `EFFECTS`.
    """

    z: Floats
    shared: dict[str, Integers]
    of_editions: dict[str, Integers]
    levels: dict[str, int]

    def count(self, effect: str) -> int:
        """Return how many levels an effect has; 1 if it is not among them."""
        return self.levels.get(effect, 1)

    def take(self, rows: Booleans, editions: Booleans) -> "Observations":
        """Return some rows and editions, without rows that have no cell there."""
        z = self.z[:, editions]
        kept = rows & ~np.isnan(z).all(axis=1)

        def renumbered(groups: dict[str, Integers]) -> dict[str, Integers]:
            return {name: np.unique(codes[kept], return_inverse=True)[1] for name, codes in groups.items()}

        return Observations(z[kept], renumbered(self.shared), renumbered(self.of_editions), self.levels)


def observe(
    tables: Mapping[str, Surprisals],
    facets: pd.DataFrame | None,
    languages: Mapping[str, str] | pd.Series | None,
    clusters: AnyClusters | None,
) -> Observations:
    """Combine tables, leaving out effects with one level or with the levels of another."""
    if facets is not None and (bad := [name for name in facets.columns if name not in FACETS]):
        raise ConfigError(f"facets have columns {', '.join(FACETS)}, not {listing(bad)}.")
    if facets is not None and (absent := [name for name in tables if name not in facets.index]):
        raise ConfigError(f"facets lack {len(absent)} table(s): {listing(absent)}.")
    if facets is not None and (not facets.index.is_unique or facets.isna().to_numpy().any()):
        raise ConfigError("facets must have one row per table, and no missing values.")
    parts = []
    for name, table in tables.items():
        seed = None if table.provenance is None else table.provenance.seed
        known = {"corpus": "", "lm": table.lm, "seed": str(seed)}
        if facets is not None:
            known |= {str(column): str(value) for column, value in facets.loc[name].items()}
        labels = one_clustering(table, clusters)
        parts.append(_long(table, languages, labels).assign(**known))
    frame = pd.concat(parts, ignore_index=True)
    twice = frame.duplicated(["edition", "intent", *FACETS])
    if twice.any():
        row = frame.loc[twice].iloc[0]
        raise DataError(
            f"{int(twice.sum()):,} cell(s) are in several tables of one corpus, language model and seed, the first "
            f"{row['edition']!r}, intent {row['intent']!r}. Say in {option('facets')} how the tables differ."
        )
    return _grouped(frame)


def _grouped(frame: pd.DataFrame) -> Observations:
    """Arrange cells by rows and editions, and name the groups of rows."""
    row = frame.groupby([*FACETS, "intent"], sort=False).ngroup().to_numpy()
    edition = frame.groupby("edition", sort=False).ngroup().to_numpy()
    z = np.full((row.max() + 1, edition.max() + 1), np.nan)
    z[row, edition] = frame["z"]
    first = np.unique(row, return_index=True)[1]
    distinct: list[Integers] = []
    levels: dict[str, int] = {}
    shared: dict[str, Integers] = {}
    of_editions: dict[str, Integers] = {}
    for effect, columns in EFFECTS:
        codes = np.asarray(frame.groupby(columns, sort=False).ngroup(), dtype=np.int_)
        count = int(codes.max()) + 1
        if not 1 < count < len(frame) or any(np.array_equal(codes, other) for other in distinct):
            continue
        distinct.append(codes)
        levels[effect] = count
        if "edition" in columns:
            others = [column for column in columns if column != "edition"]
            groups = np.zeros_like(codes)
            if others:
                groups = np.asarray(frame.groupby(others, sort=False).ngroup(), dtype=np.int_)
            of_editions[effect] = groups[first]
        else:
            shared[effect] = codes[first]
    return Observations(z, shared, of_editions, levels)


def _long(table: Surprisals, languages: Mapping[str, str] | pd.Series | None, labels: pd.Series | None) -> pd.DataFrame:
    z = np.log(table.bits.to_numpy())
    rows, columns = np.nonzero(~np.isnan(z))
    editions = table.editions.astype(str)
    if languages is not None:
        known = dict(languages)
        if absent := [edition for edition in editions if edition not in known]:
            raise ConfigError(f"languages lack {len(absent)} edition(s): {listing(absent)}.")
        editions = pd.Index([known[edition] for edition in editions])
    intents = table.intents.astype(str)
    of_intents = intents if labels is None else pd.Index(labels.astype(str))
    return pd.DataFrame(
        {
            "edition": editions[columns],
            "intent": intents[rows],
            "cluster": of_intents[rows],
            "z": z[rows, columns],
        }
    )


MOST_GROUPS = 20  # left out one at a time, of intents and of editions
RESIDUAL = "residual"
USUAL_INTENTS = (25, 50, 100, 200, 400, 800)
USUAL_RELIABILITY = 0.95


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Generalizability(Result):
    """Variance components of ln bits.

    Attributes
    ----------
    frame : DataFrame
        See `to_frame`.
    n_editions, n_intents, n_corpora, n_lms, n_seeds : int
        Numbers of levels; `n_seeds` of each language model.
    per_document : float
        Mean number of intents in the cluster of an intent; 1 where intents are independent.
    spread : Spread
        Variances that the intervals are made of; NaN of several tables.
    """

    frame: pd.DataFrame
    n_editions: int
    n_intents: int
    n_corpora: int
    n_lms: int
    n_seeds: int
    per_document: float = 1.0
    spread: Spread = field(default_factory=Spread)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per component.

        Returns
        -------
        DataFrame
            Indexed by component: ``variance`` of ln bits (an estimate of 0 or below says that the component cannot be
            told from 0), ``share`` of the sum of all, negative ones counted as 0, ``share_std_error``, from leaving out
            groups of editions and of intents, and the number of ``levels``.
        """
        return self.frame.copy()

    def _variance(self, component: str) -> float:
        return max(float(self.frame["variance"].get(component, 0.0)), 0.0)

    def error_variance(
        self,
        n_intents: int | None = None,
        *,
        n_corpora: int | None = None,
        n_lms: int | None = None,
        n_seeds: int | None = None,
    ) -> float:
        """Return the variance of the error of a difficulty, nats squared, by numbers of levels; by default as measured.

        Parameters
        ----------
        n_intents, n_corpora, n_lms, n_seeds : int, optional
            Numbers of intents, corpora, language models and seeds.

        Raises
        ------
        ConfigError
            If a number is less than 1.
        """
        given = {"n_intents": n_intents, "n_corpora": n_corpora, "n_lms": n_lms, "n_seeds": n_seeds}
        counts = {name: getattr(self, name) if value is None else value for name, value in given.items()}
        if bad := [name for name, value in counts.items() if not value >= 1]:
            raise ConfigError(f"{bad[0]} must be at least 1, got {counts[bad[0]]!r}.")
        intents, corpora, lms, seeds = counts.values()
        return (
            self._variance("edition:corpus") / corpora
            + self._variance("edition:lm") / lms
            + self._variance("edition:seed") / (lms * seeds)
            + (self.per_document * self._variance("edition:cluster") + self._variance("edition:intent")) / intents
            + self._variance(RESIDUAL) / (intents * lms * seeds)
        )

    def reliability(self, n_intents: int | None = None, **counts: int | None) -> float:
        """Return G for given numbers of intents, corpora, language models and seeds.

        Parameters
        ----------
        n_intents : int, optional
            Number of intents; by default as measured.
        **counts
            Other numbers, as of `error_variance`.
        """
        edition = self._variance("edition")
        return edition / (edition + self.error_variance(n_intents, **counts))

    def intents_for(self, reliability: float, **counts: int | None) -> Number:
        """Return the number of intents, or of documents, with a given reliability G.

        Parameters
        ----------
        reliability : float
            G to reach, between 0 and 1.
        **counts
            Numbers of corpora, language models and seeds, as of `error_variance`.

        Returns
        -------
        Number
            Not rounded, with its interval for one table; infinite if no number of intents is enough, as with too few
            language models.

        Raises
        ------
        ConfigError
            If `reliability` is not between 0 and 1.
        """
        if not 0 < reliability < 1:
            raise ConfigError(f"reliability must be between 0 and 1, got {reliability!r}.")
        odds = reliability / (1 - reliability)
        ends = self.spread.intents_for(odds, self.n_editions, self.n_intents)
        return self._number(self._variance("edition") / odds, ends, counts)

    def intents_for_error(self, std_error: float, **counts: int | None) -> Number:
        """Return the number of intents, or of documents, with a given standard error of difficulties.

        Parameters
        ----------
        std_error : float
            Standard error to reach, nats.
        **counts
            Numbers of corpora, language models and seeds, as of `error_variance`.

        Returns
        -------
        Number
            As of `intents_for`.

        Raises
        ------
        ConfigError
            If `std_error` is not positive.
        """
        if not std_error > 0:
            raise ConfigError(f"std_error must be positive, got {std_error!r}.")
        return self._number(std_error**2, self.spread.intents_for_error(std_error, self.n_intents), counts)

    def _number(self, allowed: float, ends: Floats, counts: dict[str, int | None]) -> Number:
        """Return the number with a variance of errors, given the numbers of intents at the ends of its interval."""
        of_one = self.error_variance(1, **counts)
        fixed = 2 * self.error_variance(2, **counts) - of_one  # what no number of intents makes smaller
        estimate = (of_one - fixed) / (allowed - fixed) if allowed > fixed else np.inf
        m = self.per_document
        low, high = (float(end) / m for end in ends)
        unit = "intents" if m == 1 else f"documents of {m:.3g} intents"
        return Number(estimate=float(estimate) / m, low=low, high=high, unit=unit)

    def design(self, n_intents: Sequence[int] = USUAL_INTENTS, n_seeds: Sequence[int] = (1, 3, 5)) -> pd.DataFrame:
        """Return G and the standard error of a difficulty for numbers of intents and of seeds.

        Parameters
        ----------
        n_intents, n_seeds : sequence of int
            Numbers of intents and of seeds.

        Returns
        -------
        DataFrame
            One row per pair: ``n_intents``, ``n_seeds``, ``reliability`` and ``std_error`` (nats). Tables of one
            seed say nothing of others: `n_seeds` is then 1 in all rows.
        """
        seeds = n_seeds if self.n_seeds > 1 else (1,)
        rows = [
            {
                "n_intents": intents,
                "n_seeds": several,
                "reliability": self.reliability(intents, n_seeds=several),
                "std_error": float(np.sqrt(self.error_variance(intents, n_seeds=several))),
            }
            for several in seeds
            for intents in n_intents
        ]
        return pd.DataFrame(rows)

    def tables(self) -> list[Shown]:
        """Return the components, the design table and the number of intents for a reliability of .95."""
        number = f"Reliability {USUAL_RELIABILITY:g} takes {self.intents_for(USUAL_RELIABILITY)!r}."
        caption = "Reliability and standard error by number of intents and seeds"
        return [
            Shown(self.frame.round(4), "components"),
            Shown(self.design().round(4), "design", caption, (number,), {"index": False}),
        ]

    def __repr__(self) -> str:
        """Return a one-line description with G."""
        return (
            f"Generalizability: {self.n_editions} editions × {self.n_intents:,} intents, {self.n_lms} language "
            f"model(s), {self.n_seeds} seed(s), {self.n_corpora} corpus or corpora; G = {self.reliability():.3f}"
        )


def generalizability(
    surprisals: Surprisals | Mapping[str, Surprisals],
    *,
    facets: pd.DataFrame | None = None,
    languages: Mapping[str, str] | pd.Series | None = None,
    clusters: AnyClusters | None = "auto",
) -> Generalizability:
    """Estimate how much of ln bits varies by edition, intent, language model, seed and corpus.

    Parameters
    ----------
    surprisals : Surprisals, or mapping from str to Surprisals
        One table, or several by name, such as those of several language models, seeds or corpora. Cells may be missing.
        Frames and arrays that `langdiff.fit` takes serve as well.
    facets : DataFrame, optional
        Columns ``corpus``, ``lm`` and ``seed`` of the tables, indexed by their names. By default the language model and
        the seed that the tables know, and one corpus. Intents of one corpus with the same name are the same.
    languages : mapping or Series, optional
        Language of each edition, by which editions of several corpora are told to be of one; by default the edition.
    clusters : "auto", str, mapping, Series, DifficultyFit or None
        Clusters of intents, such as documents, whose noise may be alike: found as `langdiff.fit` finds them, a column
        of the attributes of intents, or the cluster of each intent. None for intents that are independent.

    Returns
    -------
    Generalizability
        Components with their shares, the reliability G, and how many intents a reliability takes.

    Raises
    ------
    ConfigError
        If there is no table, or `facets` or `languages` lack a table or an edition.
    DataError
        If there are fewer than two editions or intents, a cell is given twice, the editions are copies of one another,
        or the tables do not tell the components apart.

    Examples
    --------
    >>> import langdiff as ld
    >>> found = ld.generalizability(ld.simulate(200, 12, seed=1).surprisals)
    >>> found.frame["share"].round(2).to_dict()
    {'edition': 0.01, 'intent': 0.87, 'residual': 0.12}
    """
    several = isinstance(surprisals, Mapping)
    tables = named_tables(surprisals) if several else {"": as_surprisals(surprisals)}
    if not tables:
        raise ConfigError("give one table of surprisals or more.")
    observed = observe(tables, facets, languages, clusters)
    for what in ("edition", "intent"):
        if observed.count(what) < 2:
            raise DataError(f"there is only one {what}: variance components need at least two of each.")
    cells, fewest = int((~np.isnan(observed.z)).sum()), sum(observed.z.shape)
    if cells < fewest:
        raise DataError(
            f"{cells:,} cells for {len(observed.z):,} intents and {observed.count('edition'):,} editions: "
            f"at least {fewest:,} are needed to tell differences from noise. Add intents that several editions have."
        )
    variances = _components(observed)
    if abs(variances[-1]) <= ROUNDING * np.nanvar(observed.z):
        raise DataError("the residuals vanish: every edition is an exact multiple of every other. Are they copies?")
    frame = pd.DataFrame(
        {
            "variance": variances,
            "share": _shares(variances),
            "share_std_error": _share_errors(observed),
            "levels": [*observed.levels.values(), cells],
        },
        index=pd.Index([*observed.levels, RESIDUAL], name="component"),
    )
    table = next(iter(tables.values()))
    labels = one_clustering(table, clusters) if "edition:cluster" in observed.levels else None
    lms = observed.count("lm")
    runs = observed.count("seed") if "seed" in observed.levels else lms
    return Generalizability(
        frame=frame,
        n_editions=observed.count("edition"),
        n_intents=observed.count("intent"),
        n_corpora=observed.count("corpus"),
        n_lms=lms,
        n_seeds=max(runs // lms, 1),
        per_document=1.0 if labels is None else mean_size(labels),
        spread=spread_of(table, labels) if len(tables) == 1 else Spread(),
    )


def _components(observed: Observations) -> Floats:
    """Return the variance of each effect, in the order of the levels, and of the residual."""
    groupings = list(observed.of_editions.values())
    if not observed.of_editions.keys() - {"edition", "edition:cluster"}:  # one table
        found = restricted_components(observed.z, observed.of_editions.get("edition:cluster"))
        both = [found.edition, found.edition_cluster] if len(groupings) > 1 else [found.edition]
        of_editions = np.array([*both, found.residual])
    else:
        of_editions = swept_components(observed.z, groupings)
    shared = shared_components(
        observed.z, list(observed.shared.values()), groupings, of_editions[:-1].tolist(), float(of_editions[-1])
    )
    known = dict(zip([*observed.of_editions, *observed.shared], [*of_editions[:-1], *shared], strict=True))
    return np.array([*(known[effect] for effect in observed.levels), of_editions[-1]])


def _shares(variances: Floats) -> Floats:
    positive = np.maximum(variances, 0)
    shares: Floats = positive / positive.sum(axis=-1, keepdims=True)
    return shares


def _share_errors(observed: Observations) -> Floats:
    """Return standard errors of the shares: what leaving out editions and leaving out intents does, added."""
    total = np.zeros(len(observed.levels) + 1)
    editions = np.arange(observed.z.shape[1])
    rows = observed.of_editions.get("edition:cluster", observed.shared["intent"])
    for unit, codes in (("edition", editions), ("intent", rows)):
        groups = min(int(codes.max()) + 1, MOST_GROUPS)
        if groups < 3:
            return np.full_like(total, np.nan)
        parts = [
            observed.take(rows % groups != group, editions >= 0)
            if unit == "intent"
            else observed.take(rows >= 0, editions % groups != group)
            for group in range(groups)
        ]
        without = _shares(np.array([_components(part) for part in parts]))
        total += (groups - 1) * without.var(axis=0)
    errors: Floats = np.sqrt(total)
    return errors
