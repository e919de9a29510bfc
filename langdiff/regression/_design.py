"""Which difficulties are free: one an edition, one a group of editions, or terms of a formula."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.linalg import qr

from langdiff.errors import ConfigError, listing

Floats = npt.NDArray[np.float64]
Groups = str | Mapping[str, object] | pd.Series

ALIASED = 1e-8  # of a column's length is left when those before it are taken out


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Design:
    """How the difficulties of editions depend on what is free.

    Attributes
    ----------
    units : Index, shape (U,)
        What has a difficulty of its own in the result: editions, or groups of them.
    first : ndarray of int, shape (U,)
        An edition of each unit.
    basis : ndarray, shape (J, K), or None
        Orthonormal; the difficulties of editions are its combinations. None: each is free.
    terms : DataFrame, shape (J, T), or None
        Columns of a formula, without the constant, which has no difficulty.
    """

    units: pd.Index
    first: npt.NDArray[np.int_]
    basis: Floats | None = None
    terms: pd.DataFrame | None = None

    def observed(self, cells: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Return which units have which intents, shape (I, U), from that of editions."""
        if self.basis is None or self.terms is not None:
            return cells
        member = np.abs(self.basis @ self.basis[self.first].T) > 0
        return cells @ member


def make_design(
    editions: pd.Index, groups: Groups | None, formula: str | None, edition_info: pd.DataFrame | None
) -> Design:
    """Return the design that the arguments of `langdiff.fit` ask for.

    Raises
    ------
    ConfigError
        If they contradict one another, an edition has no value, or terms are aliased.
    """
    if groups is not None and formula is not None:
        raise ConfigError("give groups or a formula, not both; a formula may name the groups as a term.")
    if groups is not None:
        return _grouped(_labels(editions, groups, edition_info))
    if formula is not None:
        return _from_formula(editions, formula, _info(editions, edition_info, "a formula"))
    return Design(units=editions, first=np.arange(len(editions)))


def _info(editions: pd.Index, edition_info: pd.DataFrame | None, what: str) -> pd.DataFrame:
    if edition_info is None:
        raise ConfigError(f"{what} needs edition_info, a table of the editions (such as multitext.edition_info).")
    absent = editions.difference(edition_info.index)
    if len(absent):
        raise ConfigError(f"{len(absent)} edition(s) are not in edition_info: {listing(absent)}.")
    return edition_info.loc[editions]


def _labels(editions: pd.Index, groups: Groups, edition_info: pd.DataFrame | None) -> pd.Series:
    if isinstance(groups, str):
        info = _info(editions, edition_info, f"groups={groups!r}")
        if groups not in info:
            raise ConfigError(f"edition_info has no column {groups!r}; it has {listing(info.columns)}.")
        labels = info[groups]
    else:
        labels = pd.Series(groups, dtype=object).reindex(editions).rename(getattr(groups, "name", None) or "group")
    missing = labels.index[labels.isna()]
    if len(missing):
        raise ConfigError(f"{len(missing)} edition(s) without a group: {listing(missing)}.")
    if labels.nunique() < 2:
        raise ConfigError(f"all editions are of one group ({labels.iloc[0]!r}): there is nothing to compare.")
    return labels


def _grouped(labels: pd.Series) -> Design:
    codes, units = pd.factorize(labels)
    indicators = (codes[:, None] == np.arange(len(units))).astype(float)
    first = indicators.argmax(axis=0)
    basis = indicators / np.sqrt(indicators.sum(axis=0))
    return Design(units=pd.Index(list(units), name=labels.name), first=first, basis=basis)


def _from_formula(editions: pd.Index, formula: str, info: pd.DataFrame) -> Design:
    from formulaic import model_matrix  # slow to import, and seldom needed
    from formulaic.errors import FormulaicError

    used = info.copy()
    try:
        matrix = model_matrix(formula, used, na_action="raise", context={})
    except (FormulaicError, ValueError, TypeError, KeyError) as error:
        raise ConfigError(f"formula {formula!r} cannot be used with edition_info: {error}") from error
    if not isinstance(matrix, pd.DataFrame):
        raise ConfigError(f"formula {formula!r} has two sides; difficulties are the left one already.")
    terms = matrix.drop(columns="Intercept", errors="ignore").astype(float)
    aliased = [str(terms.columns[k]) for k in _dependent(terms.to_numpy())]
    if aliased:
        raise ConfigError(
            f"{len(aliased)} term(s) of {formula!r} follow from the constant and the terms before them: "
            f"{listing(aliased)}. Leave them out."
        )
    columns = np.column_stack([np.ones(len(terms)), terms])
    basis, _ = np.linalg.qr(columns)
    return Design(units=editions, first=np.arange(len(editions)), basis=basis, terms=terms)


def _dependent(columns: Floats) -> list[int]:
    """Return which columns are combinations of the constant and of those before them."""
    whole = np.column_stack([np.ones(len(columns)), columns])
    length = np.linalg.norm(whole, axis=0)
    dependent: list[int] = []
    kept = [0]
    for k in range(1, whole.shape[1]):
        basis = qr(whole[:, kept], mode="economic")[0]
        left = whole[:, k] - basis @ (basis.T @ whole[:, k])
        if np.linalg.norm(left) <= ALIASED * max(length[k], ALIASED):
            dependent.append(k - 1)
        else:
            kept.append(k)
    return dependent
