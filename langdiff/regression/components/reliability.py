r"""Reliability of difficulties, and numbers of intents, language models and seeds needed for it.

Difficulties are means of ln bits over intents, language models and seeds. What all editions share cancels in their
differences, so that the error of one is made of what goes together with the edition:

.. math:: \sigma^2_\Delta = \frac{\sigma^2_{e:c}}{C} + \frac{\sigma^2_{e:lm}}{L} + \frac{\sigma^2_{e:s}}{LS}
          + \frac{\sigma^2_{e:i}}{I} + \frac{\sigma^2_\epsilon}{I L S}, \qquad
          G = \frac{\sigma^2_e}{\sigma^2_e + \sigma^2_\Delta}

with C corpora, L language models, S seeds of each and I intents (Cronbach, Gleser, Nanda and Rajaratnam 1972; Brennan
2001, "Generalizability Theory"). With one table, e:i is part of the residual.

Editions differ by some hundredths and intents by much more, so that no estimator of the former may take in any of the
latter where cells are missing by intent: one table has restricted maximum likelihood with the intents fixed
(`langdiff.regression.components.variances`), several have equations of moments on rows from which the intent is taken
out (`langdiff.regression.components.variances`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from langdiff.base.result import Result
from langdiff.base.types import Booleans, Floats, Integers
from langdiff.errors import ConfigError, DataError, listing, option
from langdiff.regression.components.variances import restricted_components, shared_components, swept_components
from langdiff.regression.table import as_surprisals, named_tables
from langdiff.tables.surprisals import Surprisals

FACETS = ("corpus", "lm", "seed")
EFFECTS = (  # columns that make up the levels of each; intents belong to their corpus, seeds to their language model
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
)

MOST_GROUPS = 20  # left out one at a time, of intents and of editions
RESIDUAL = "residual"
ROUNDING = 1e-12  # share of the variance that is none
USUAL_INTENTS = (25, 50, 100, 200, 400, 800)


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
    tables: Mapping[str, Surprisals], facets: pd.DataFrame | None, languages: Mapping[str, str] | pd.Series | None
) -> Observations:
    """Combine tables, leaving out effects with one level or with the levels of another.

    Parameters
    ----------
    tables : mapping from str to Surprisals
        Tables by name.
    facets : DataFrame, optional
        Corpus, language model and seed of each table, indexed by its name, as columns ``corpus``, ``lm`` and ``seed``;
        what it lacks is taken from the table, the corpus being the same.
    languages : mapping or Series, optional
        What stands for an edition, by its name, so that editions of several corpora are told to be of one language.
    """
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
        parts.append(_long(table, languages).assign(**known))
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


def _long(table: Surprisals, languages: Mapping[str, str] | pd.Series | None) -> pd.DataFrame:
    z = np.log(table.bits.to_numpy())
    rows, columns = np.nonzero(~np.isnan(z))
    editions = table.editions.astype(str)
    if languages is not None:
        known = dict(languages)
        if absent := [edition for edition in editions if edition not in known]:
            raise ConfigError(f"languages lack {len(absent)} edition(s): {listing(absent)}.")
        editions = pd.Index([known[edition] for edition in editions])
    return pd.DataFrame(
        {"edition": editions[columns], "intent": table.intents[rows].astype(str), "z": z[rows, columns]}
    )


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Generalizability(Result):
    """Variance components of ln bits.

    Attributes
    ----------
    frame : DataFrame
        See `to_frame`.
    n_editions, n_intents, n_corpora, n_lms, n_seeds : int
        Numbers of levels; `n_seeds` of each language model.
    """

    frame: pd.DataFrame
    n_editions: int
    n_intents: int
    n_corpora: int
    n_lms: int
    n_seeds: int

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
            + self._variance("edition:intent") / intents
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

    def intents_for(self, reliability: float, **counts: int | None) -> float:
        """Return the smallest number of intents with a G of at least the given one.

        Parameters
        ----------
        reliability : float
            G to reach, between 0 and 1.
        **counts
            Numbers of corpora, language models and seeds, as of `error_variance`.

        Returns
        -------
        float
            A whole number; infinite if no number of intents is enough, as with too few language models.

        Raises
        ------
        ConfigError
            If `reliability` is not between 0 and 1.
        """
        if not 0 < reliability < 1:
            raise ConfigError(f"reliability must be between 0 and 1, got {reliability!r}.")
        allowed = self._variance("edition") * (1 - reliability) / reliability
        return self._fewest(allowed, counts)

    def intents_for_error(self, std_error: float, **counts: int | None) -> float:
        """Return the smallest number of intents with standard errors of difficulties up to the given one, nats.

        Parameters
        ----------
        std_error : float
            Standard error to reach, nats.
        **counts
            Numbers of corpora, language models and seeds, as of `error_variance`.

        Raises
        ------
        ConfigError
            If `std_error` is not positive.
        """
        if not std_error > 0:
            raise ConfigError(f"std_error must be positive, got {std_error!r}.")
        return self._fewest(std_error**2, counts)

    def _fewest(self, allowed: float, counts: dict[str, int | None]) -> float:
        of_one = self.error_variance(1, **counts)
        fixed = 2 * self.error_variance(2, **counts) - of_one  # what no number of intents makes smaller
        return float(np.ceil((of_one - fixed) / (allowed - fixed))) if allowed > fixed else np.inf

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

    def summary(self) -> str:
        """Format the components and the design table."""
        return f"{self!r}\n{self.frame.round(4).to_string()}\n\n{self.design().round(4).to_string(index=False)}"

    def __repr__(self) -> str:
        """Return a one-line description with G."""
        return (
            f"Generalizability: {self.n_editions} editions × {self.n_intents:,} intents, "
            f"{self.n_lms} language model(s), {self.n_seeds} seed(s), {self.n_corpora} corpus or "
            f"corpora; G = {self.reliability():.3f}"
        )


def generalizability(
    surprisals: Surprisals | Mapping[str, Surprisals],
    *,
    facets: pd.DataFrame | None = None,
    languages: Mapping[str, str] | pd.Series | None = None,
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
    observed = observe(tables, facets, languages)
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
    lms = observed.count("lm")
    runs = observed.count("seed") if "seed" in observed.levels else lms
    return Generalizability(
        frame=frame,
        n_editions=observed.count("edition"),
        n_intents=observed.count("intent"),
        n_corpora=observed.count("corpus"),
        n_lms=lms,
        n_seeds=max(runs // lms, 1),
    )


def _components(observed: Observations) -> Floats:
    """Return the variance of each effect, in the order of the levels, and of the residual."""
    groupings = list(observed.of_editions.values())
    if len(groupings) == 1:  # nothing but the edition itself belongs to editions
        found = restricted_components(observed.z)
        of_editions = np.array([found.edition, found.residual])
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
    rows, editions = observed.shared["intent"], np.arange(observed.z.shape[1])
    for unit in ("edition", "intent"):
        groups = min(observed.count(unit), MOST_GROUPS)
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
