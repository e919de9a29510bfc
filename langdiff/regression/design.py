"""Which difficulties are free: one per edition, one per group of editions, or one per term of a formula."""

import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.linalg import qr

from langdiff.base.cells import check_names
from langdiff.base.signature import short_hash
from langdiff.base.types import ROUNDING_OF_MEANS, Booleans, Floats, Integers
from langdiff.errors import ConfigError, listing, option
from langdiff.regression.formulas import columns_named, matrix_of

Groups = str | Mapping[str, object] | pd.Series

ALIASED = 1e-8  # of a column's length is left when those before it are taken out
TAKEN = (  # by columns of tables of results
    "edition",
    "difficulty",
    "std_error",
    "low",
    "high",
    "factor",
    "percent",
    "percent_std_error",
    "percent_low",
    "percent_high",
    "rank",
)
ESCAPES = re.compile("\x1b\\[[0-9;]*m|[⧛⧚]")  # formulaic brackets and colours the place of an error


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Design:
    """How the difficulties of editions depend on what is free.

    Attributes
    ----------
    units : Index, shape (U,)
        Names of what has a difficulty of its own in the result: editions, or groups of them.
    first : ndarray of int, shape (U,)
        An edition of each unit.
    basis : ndarray, shape (J, K), or None
        Orthonormal; the difficulties of editions are its combinations. None: each is free.
    terms : DataFrame, shape (J, T), or None
        Columns of a formula less their means, without the constant, which has no difficulty.
    """

    units: pd.Index
    first: Integers
    basis: Floats | None = None
    terms: pd.DataFrame | None = None

    @property
    def free(self) -> int:
        """How many difficulties are free, their common level included."""
        return len(self.units) if self.terms is None else self.terms.shape[1] + 1

    def observed(self, cells: Booleans) -> Booleans:
        """Return which units have which intents, shape (I, U), from that of editions."""
        if self.basis is None or self.terms is not None:
            return cells
        member = np.abs(self.basis @ self.basis[self.first].T) > 0
        return cells @ member


def make_design(
    editions: pd.Index, groups: Groups | None, formula: str | None, edition_info: pd.DataFrame | None
) -> Design:
    """Return the design that the arguments of `langdiff.fit` ask for."""
    if groups is not None and formula is not None:
        raise ConfigError("give groups or a formula, not both; a formula may name the groups as a term.")
    if groups is not None:
        return _grouped(labels_of(editions, groups, edition_info, "groups"))
    if formula is not None:
        return _from_formula(editions, formula, _info(editions, edition_info, "a formula"))
    return Design(units=editions, first=np.arange(len(editions)))


def _info(editions: pd.Index, edition_info: object, what: str) -> pd.DataFrame:
    if edition_info is None:
        raise ConfigError(
            f"{what} needs {option('edition_info')}, a table of the editions (such as multitext.edition_info)."
        )
    if not isinstance(edition_info, pd.DataFrame):
        raise ConfigError(
            f"{option('edition_info')} must be a DataFrame indexed by edition, not {type(edition_info).__name__}."
        )
    absent = editions.difference(edition_info.index)
    if len(absent):
        raise ConfigError(f"{len(absent)} edition(s) are not in {option('edition_info')}: {listing(absent)}.")
    _check_once(editions, edition_info.index, option("edition_info"))
    return edition_info.loc[editions]


def _check_once(editions: pd.Index, known: pd.Index, what: str) -> None:
    twice = known[known.duplicated()].unique().intersection(editions)
    if len(twice):
        raise ConfigError(f"{len(twice)} edition(s) are in {what} more than once: {listing(twice)}. Keep one row each.")


def labels_of(editions: pd.Index, labels: object, edition_info: pd.DataFrame | None, what: str) -> pd.Series:
    """Return the group of every edition, from a column of edition_info, a mapping or a Series."""
    found = _given_labels(editions, labels, edition_info, what)
    unusable = [label for label in found if not isinstance(label, Hashable)]
    if unusable:
        raise ConfigError(f"{what} are named by text or numbers, not by {listing(unusable)}.")
    missing = found.index[found.isna()]
    if len(missing):
        raise ConfigError(f"{len(missing)} edition(s) without a group in {what}: {listing(missing)}.")
    if found.nunique() < 2:
        raise ConfigError(f"{what}: all editions are of one group ({found.iloc[0]!r}): there is nothing to compare.")
    check_names(found, "group")
    name = "group" if found.name is None or found.name in TAKEN else str(found.name)
    return found.map(lambda label: str(label) if isinstance(label, bool | np.bool_) else label).rename(name)


def _given_labels(editions: pd.Index, groups: object, edition_info: pd.DataFrame | None, what: str) -> pd.Series:
    if isinstance(groups, str):
        info = _info(editions, edition_info, option(what, groups))
        if groups not in info:
            raise ConfigError(f"{option('edition_info')} has no column {groups!r}; it has {listing(info.columns)}.")
        return info[groups].astype(object)
    if not isinstance(groups, Mapping | pd.Series):
        raise ConfigError(
            f"{option(what)} must be a column of {option('edition_info')}, or a mapping or Series from edition to "
            f"group, not {type(groups).__name__}."
        )
    labels = pd.Series(groups, dtype=object)
    _check_once(editions, labels.index, what)
    return labels.reindex(editions)


def _grouped(labels: pd.Series) -> Design:
    codes, units = pd.factorize(labels)
    indicators = (codes[:, None] == np.arange(len(units))).astype(float)
    first = indicators.argmax(axis=0)
    basis = indicators / np.sqrt(indicators.sum(axis=0))
    return Design(units=pd.Index(list(units), name=labels.name), first=first, basis=basis)


def _from_formula(editions: pd.Index, formula: str, info: pd.DataFrame) -> Design:
    terms = columns_of_formula(formula, info, "edition")
    columns = np.column_stack([np.ones(len(terms)), terms])
    basis, _ = np.linalg.qr(columns)
    return Design(units=editions, first=np.arange(len(editions)), basis=basis, terms=terms)


def columns_of_formula(formula: str, info: pd.DataFrame, what: str) -> pd.DataFrame:
    """Return the columns of a formula less their means, without the constant, which follows from no other."""
    try:
        with np.errstate(all="ignore"):  # what is not finite is refused below, by name
            matrix: pd.DataFrame = matrix_of(formula, info)
    except ConfigError:
        raise
    except Exception as error:  # of formulaic, pandas or NumPy, for values that do not suit the formula
        reason = " ".join(ESCAPES.sub("", str(error)).split())
        advice = _advice(formula, info, what)
        raise ConfigError(f"formula {formula!r} cannot be used with {what}_info: {reason}{advice}") from error
    terms: pd.DataFrame = matrix.drop(columns="Intercept", errors="ignore").astype(float)
    infinite = terms.columns[~np.isfinite(terms.to_numpy()).all(axis=0)]
    if len(infinite):
        raise ConfigError(
            f"{len(infinite)} term(s) of {formula!r} are not finite for every {what}: {listing(infinite)}."
        )
    aliased = [str(terms.columns[k]) for k in _dependent(terms.to_numpy())]
    if aliased:
        raise ConfigError(
            f"{len(aliased)} term(s) of {formula!r} follow from the constant and the terms before them: "
            f"{listing(aliased)}. Leave them out."
        )
    terms[:] = _centred(terms.to_numpy())  # the constant makes up for it; numbers such as years keep their digits
    return terms


def _advice(formula: str, info: pd.DataFrame, what: str) -> str:
    """Return what else is to be said of a formula that could not be used: its usual faults."""
    named = columns_named(formula, info.columns)
    gaps = {name: info.index[info[name].isna()] for name in named if info[name].isna().any()}
    if gaps:
        lacking = "; ".join(f"{name!r} of {listing(rows)}" for name, rows in gaps.items())
        return f" Missing are {lacking}: give these values, or leave the {what}s out."
    return ""


def _dependent(columns: Floats) -> list[int]:
    """Return which columns are combinations of the constant and of those before them."""
    centred = _centred(columns)
    length = np.linalg.norm(centred, axis=0)
    rounded = ROUNDING_OF_MEANS * np.linalg.norm(columns, axis=0) / np.where(length > 0, length, 1.0)
    share = np.maximum(ALIASED, rounded)  # of the length, that is no more than an error
    dependent: list[int] = []
    kept: list[int] = []
    for k in range(columns.shape[1]):
        left = centred[:, k]
        if kept:
            basis = qr(centred[:, kept], mode="economic")[0]
            left = left - basis @ (basis.T @ left)
        if np.linalg.norm(left) <= length[k] * share[[*kept, k]].max():
            dependent.append(k)
        else:
            kept.append(k)
    return dependent


def _centred(columns: Floats) -> Floats:
    """Return columns less their means, to the last digit: once more for what rounding left of the first."""
    centred: Floats = columns - columns.mean(axis=0)
    centred -= centred.mean(axis=0)
    return centred


def identify_design(design: Design) -> dict[str, str]:
    """Return what a signature says of groups or of a formula; nothing if each edition has its own difficulty."""
    if design.terms is not None:
        return {"formula": f"#{short_hash(design.terms)}"}
    if design.basis is None:
        return {}
    labels = [[type(label).__name__, str(label)] for label in design.units]
    member = (design.basis != 0).argmax(axis=1)
    return {"groups": f"{design.units.name}#{short_hash(labels, member)}"}
