"""The languages of a corpus, with their difficulties and their predictors."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from langdiff.base.cells import exact_numbers
from langdiff.base.signature import short_hash
from langdiff.base.suspicion import Doubts, known_values, report
from langdiff.errors import ConfigError, DataError, listing, option, words
from langdiff.tables.doubtful_cells import refuse_far_marks
from langdiff.tables.effect_sources import Sources, effects_by_source
from langdiff.tables.effects import Effects
from langdiff.typology.association.correlation import MIN_LANGUAGES

if TYPE_CHECKING:
    from langdiff.base.types import Floats

BESIDE = ("language", "family", "genus")  # columns that say what a row is, and are no predictors
# further such columns of tables of languages, as `langdiff predictors` writes them
OF_LANGUAGES = ("glottocode", "iso639_3", "name", "macroarea", "latitude", "longitude", "matched_by")
Averaging = Literal["difficulty", "factor"]
Unit = Literal["language", "edition"]


def name_of_unit(unit: Unit) -> str:
    """Name the option that makes languages or editions the units of observation, for messages."""
    python = "average=None" if unit == "edition" else "average='language'"
    return words(python=python, command=f"--average {unit}", experiment=f'average = "{unit}"')


class HasFrame(Protocol):
    """Predictors that can be turned into a frame, such as those of `langdiff.predictors`."""

    def to_frame(self) -> pd.DataFrame:
        """Return one row per edition or per language."""
        ...


PredictorTable = pd.DataFrame | pd.Series | HasFrame


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Sample:
    """Languages (or editions) with their difficulties and predictors, in one order.

    Attributes
    ----------
    corpus : str
        Name of the corpus; empty if none was given.
    difficulty : DataFrame, shape (n, L)
        Difficulties in nats, one column per language model; NaN where a model has no estimate.
    predictors : DataFrame, shape (n, P)
        Predictors, as floats or categories; missing values are NaN.
    language : Series, shape (n,)
        Language of each row; the row's own name if rows are languages.
    family : Series or None, shape (n,)
        Language family of each row, if known.
    unmatched : str
        Names that one of the two tables lacks; empty if none.
    has_errors : bool
        Whether difficulties were given as plain numbers with standard errors, which tests do not use.
    """

    corpus: str
    difficulty: pd.DataFrame
    predictors: pd.DataFrame
    language: pd.Series
    family: pd.Series | None
    unmatched: str = ""
    has_errors: bool = False

    def column(self, name: str) -> pd.Series:
        """Return a predictor."""
        if name not in self.predictors:
            near = get_close_matches(name, map(str, self.predictors), n=3)
            hint = f"did you mean {listing(near)}?" if near else f"there are {listing(self.predictors, 12)}."
            raise ConfigError(f"unknown predictor {name!r}; {hint}")
        return self.predictors[name]


def hash_sample(sample: Sample, tested: Iterable[str]) -> str:
    """Return a hash of the data of tests of some predictors, for signatures."""
    return short_hash(sample.difficulty, sample.predictors, sample.language, sample.family, list(map(str, tested)))


def gather(
    difficulties: Sources,
    predictors: PredictorTable,
    *,
    edition_info: pd.DataFrame | None,
    corpus: str,
    averaging: Averaging,
    unit: Unit,
) -> Sample:
    """Combine difficulties and predictors in one table; average over the editions of a language.

    See `langdiff.typology.correlate` for the arguments.
    """
    if averaging not in ("difficulty", "factor"):
        raise ConfigError(f"{option('averaging', averaging)}: must be 'difficulty' or 'factor'.")
    if unit == "edition" and averaging != "difficulty":
        raise ConfigError(
            f"{option('averaging', averaging)} is for {name_of_unit('language')}: with {name_of_unit('edition')}, "
            "nothing is averaged."
        )
    sources = effects_by_source(difficulties)
    by_edition = _difficulty_table(sources)
    table, info = _predictor_table(predictors, edition_info, by_edition.index)
    language, family = _languages(by_edition.index, info)
    difficulty = _average_difficulty(by_edition, language, averaging) if unit == "language" else by_edition
    rows = _average_predictors(table, language, unit)
    known = [name for name in difficulty.index if name in rows.index]
    if len(known) < MIN_LANGUAGES:
        raise DataError(
            f"{len(known)} {unit}s have both difficulties and predictors; at least {MIN_LANGUAGES} are needed. "
            f"Difficulties are of {listing(difficulty.index)}, predictors of {listing(table.index)}. If predictors are "
            f"by language, say which edition is in which: {option('edition_info')} with a column 'language'."
        )
    lacking = [name for name in difficulty.index if name not in rows.index]
    beyond = [name for name in table.index if name not in set(language) and name not in language.index]
    unmatched = [
        f"{what}: {listing(names, 20)}"
        for what, names in (("difficulties without predictors", lacking), ("predictors without difficulties", beyond))
        if names
    ]
    of_row = language if unit == "edition" else pd.Series(difficulty.index, index=difficulty.index)
    families = None
    if family is not None:
        of_language = family.groupby(language).first()
        families = of_row.map(of_language)
    return Sample(
        corpus=corpus,
        difficulty=difficulty,
        predictors=rows.reindex(difficulty.index),
        language=of_row,
        family=families,
        unmatched="; ".join(unmatched),
        has_errors=any(_of_plain_numbers(effects.covariance.to_numpy()) for _, effects in sources),
    )


def _of_plain_numbers(covariance: "Floats") -> bool:
    """Return whether errors are known and their covariances are not, as in a table with a column ``std_error``."""
    known = np.isfinite(covariance)
    return bool(np.diag(known).any() and not (known & ~np.eye(len(known), dtype=bool)).any())


def difficulty_table(difficulties: Sources) -> pd.DataFrame:
    """Return difficulties by edition (rows) and language model (columns)."""
    return _difficulty_table(effects_by_source(difficulties))


def _difficulty_table(sources: Iterable[tuple[str, Effects]]) -> pd.DataFrame:
    columns: dict[str, pd.Series] = {}
    for name, effects in sources:
        if name in columns:
            raise ConfigError(f"two sources of difficulties are called {name!r}; give a mapping from name to fit.")
        columns[name] = effects.estimate
    if not any(map(len, columns.values())):
        raise DataError("there are no difficulties; give at least one fit.")
    return pd.DataFrame(columns).astype(float).rename_axis(index="edition", columns="language_model")


def _predictor_table(
    predictors: PredictorTable, edition_info: pd.DataFrame | None, editions: pd.Index
) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    """Return the predictors, as floats or categories, and the information on editions."""
    given: Any = predictors
    if callable(getattr(type(given), "predictors", None)):  # a parity, whose frame has totals and intervals as well
        given = given.predictors()
    table = given if isinstance(given, pd.DataFrame) or not hasattr(given, "to_frame") else given.to_frame()
    if not isinstance(table, pd.DataFrame):
        raise ConfigError(f"predictors must be a table or a Series; got {predictors!r}.")
    for what, names in (("rows", table.index), ("columns", table.columns)):
        twice = names[names.duplicated()].unique()
        if len(twice):
            raise DataError(f"predictors have {len(twice)} {what} of the same name: {listing(twice)}.")
    if "matched_by" in table:
        edition_info = _of_languages(table, editions) if edition_info is None else edition_info
        table = table.drop(columns=[name for name in OF_LANGUAGES if name in table])
    beside = [name for name in BESIDE if name in table]
    if edition_info is None and "language" in beside:
        edition_info = table[beside]
    elif edition_info is None and "family" in beside:  # every row is a language of its own
        edition_info = table[beside].reindex(table.index.union(editions, sort=False))
        edition_info = edition_info.assign(language=edition_info.index)
    table = table.drop(columns=beside)
    if table.empty:
        raise DataError("there are no predictors; give a table with at least one column.")
    doubts = Doubts()
    clean = {name: _clean(str(name), table[name], doubts) for name in table}
    report(doubts.judged())
    return pd.DataFrame(clean).rename(columns=str), edition_info


def _of_languages(table: pd.DataFrame, editions: pd.Index) -> pd.DataFrame:
    """Return the information on editions that a table of languages holds: their codes as language, and families.

    A name that no code was found for, or that the table lacks, stands for itself.
    """
    names = table.index.union(editions, sort=False)
    language = pd.Series(names, names, dtype=object)
    for column in ("glottocode", "iso639_3"):
        codes = table[column].replace("", None).reindex(names) if column in table else pd.Series(None, names)
        language = codes.where(codes.notna(), language)
    info = pd.DataFrame({"language": language})
    return info.assign(family=table["family"].replace("", None).reindex(names)) if "family" in table else info


def _clean(name: str, column: pd.Series, doubts: Doubts) -> pd.Series:
    if np.iscomplexobj(column):
        exact_numbers(column.rename(name))  # refuses them
    if not is_numeric_dtype(column):
        known = known_values(doubts, name, column)
        column = _measured(name, known, mixed=known is not column)
    column = column.infer_objects()  # numbers among which None stands for a missing one
    if is_numeric_dtype(column) and not is_bool_dtype(column):
        column = column.astype(float)
        infinite = column.index[np.isinf(column)]
        if len(infinite):
            raise DataError(f"predictor {name!r}: {len(infinite)} value(s) are infinite: {listing(infinite)}.")
        refuse_far_marks(name, column)
        return column
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column
    return column.where(column.isna(), column.astype(str)).astype("category")


def _measured(name: str, column: pd.Series, *, mixed: bool) -> pd.Series:
    """Return text as numbers with decimals if other cells were unknown (`mixed`); refuse few others among numbers."""
    cells = column.dropna()
    if isinstance(column.dtype, pd.CategoricalDtype) or not cells.map(lambda cell: isinstance(cell, str)).all():
        return column
    numbers = pd.to_numeric(cells, errors="coerce")
    if not (numbers % 1 != 0)[numbers.notna()].any():
        return column
    others = cells[numbers.isna()]
    if len(others) > len(cells) / 2:
        return column
    if len(others):
        raise DataError(
            f"predictor {name!r}: {len(others)} of {len(cells)} values are no numbers: {listing(others.unique())} of "
            f"{listing(others.index)}. Write decimals with a point, and leave unknown values empty."
        )
    return numbers.reindex(column.index) if mixed else column


def _languages(editions: pd.Index, info: pd.DataFrame | None) -> tuple[pd.Series, pd.Series | None]:
    """Return the language of every edition, and its family if known."""
    if info is None:
        return pd.Series(editions, index=editions), None
    if "language" not in info:
        raise DataError(f"{option('edition_info')} needs a column 'language', one row per edition.")
    info = info[info.index.isin(editions)]
    twice = info.index[info.index.duplicated()].unique()
    if len(twice):
        raise DataError(f"{option('edition_info')} has {len(twice)} edition(s) in more than one row: {listing(twice)}.")
    known = info.index[info["language"].notna()]
    without = list(editions[~editions.isin(known)])
    if without:
        raise DataError(f"{len(without)} of {len(editions)} editions have no language: {listing(without)}.")
    language = info.loc[editions, "language"]
    if "family" not in info or info.loc[editions, "family"].isna().all():
        return language, None
    family = info.loc[editions, "family"]
    differ = family.groupby(language).nunique(dropna=False)
    differ = differ[differ > 1]
    if len(differ):
        raise DataError(f"{len(differ)} language(s) with editions of more than one family: {listing(differ.index)}.")
    return language, family


def _average_difficulty(table: pd.DataFrame, language: pd.Series, averaging: Averaging) -> pd.DataFrame:
    if averaging == "difficulty":
        means = table.groupby(language).mean()
    else:
        means = table.apply(np.exp).groupby(language).mean().apply(np.log)
    return means.rename_axis(index="language")


def _average_predictors(table: pd.DataFrame, language: pd.Series, unit: Unit) -> pd.DataFrame:
    """Return one row per unit; the rows of `table` are editions or languages."""
    editions = sum(name in language.index for name in table.index)
    languages = set(language)
    if editions >= sum(name in languages for name in table.index):
        table = table[table.index.isin(language.index)]
        if unit == "edition":
            return table
        of_row = language.loc[table.index]
        columns = {name: _average(str(name), table[name], of_row) for name in table}
        return pd.DataFrame(columns)
    if unit == "language":
        return table
    repeated = table.reindex(language.to_numpy())
    return repeated.set_axis(language.index)


def _average(name: str, column: pd.Series, language: pd.Series) -> pd.Series:
    grouped = column.groupby(language)
    if is_numeric_dtype(column):
        return grouped.mean()
    differ = grouped.nunique()
    differ = differ[differ > 1]
    if len(differ):
        raise DataError(
            f"predictor {name!r}: {len(differ)} language(s) have editions in different categories: "
            f"{listing(differ.index)}. Categories cannot be averaged; give one category per language."
        )
    return grouped.first()


def check_names(sample: Sample, names: Sequence[str]) -> list[str]:
    """Return the names given, or all of them, after checking that they are known."""
    for name in names:
        sample.column(name)
    return list(dict.fromkeys(names)) or [str(name) for name in sample.predictors]


def names_once(names: str | Iterable[str]) -> tuple[Any, ...]:
    """Return names without repetitions; a single name may be given as a string."""
    return (names,) if isinstance(names, str) else tuple(dict.fromkeys(names))
