"""Least squares of levels on languages and systems, as a projection that many vectors share."""

from collections.abc import Sequence
from functools import cached_property
from typing import Literal

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from langdiff.base.types import Floats
from langdiff.errors import DataError, listing
from langdiff.tables.crossing import LEVELS

ROWS = 256  # of many vectors that are projected at once


class Projection:
    """Least squares of vectors over columns on dummies of languages and systems.

    Parameters
    ----------
    columns : DataFrame, P rows
        ``language`` and ``system`` of each column.
    weight : ndarray, shape (P,), optional
        Weights of the columns; by default all are equal.

    Raises
    ------
    DataError
        If no chain of columns leads from some of them to others, so that their means cannot be compared.

    Examples
    --------
    >>> columns = pd.DataFrame({"language": ["a", "b", "a"], "system": ["x", "x", "y"]})
    >>> Projection(columns).means(np.array([1.0, 3.0, 2.0]), "languages").round(12).tolist()
    [-1.0, 1.0]
    """

    def __init__(self, columns: pd.DataFrame, weight: Floats | None = None) -> None:
        codes, self._names = [], []
        for level in LEVELS:
            code, names = pd.factorize(columns[level])
            codes.append(code)
            self._names.append(list(names))
        self._count = len(self._names[0])
        p = np.arange(len(columns))
        places = np.concatenate([p, p]), np.concatenate([codes[0], self._count + codes[1]])
        self._dummies = csr_array((np.ones(2 * len(p)), places))
        _check_connected(codes, self._names)
        weighted = self._dummies if weight is None else csr_array(self._dummies * weight[:, None])
        self._weighted = weighted
        gram = (self._dummies.T @ weighted).toarray()
        self._solve: Floats = np.asarray(np.linalg.pinv(gram, hermitian=True), dtype=np.float64)

    def names(self, of: Literal["languages", "systems"] | str) -> Sequence[str]:
        """Return the names of languages or systems, in order of appearance."""
        return self._names[of == "systems"]

    @cached_property
    def _centred(self) -> Floats:
        """Rows that give centred languages and systems from weighted sums, shape (N + M, N + M)."""
        solve = self._solve.copy()
        for part in (slice(0, self._count), slice(self._count, None)):
            solve[part] -= solve[part].mean(axis=0)
        return solve

    def means(self, rows: Floats, of: str) -> Floats:
        """Return the effects of languages or systems of each row, centred, (…, P) → (…, N) or (…, M)."""
        part = slice(0, self._count) if of == "languages" else slice(self._count, None)
        return np.asarray((rows @ self._weighted) @ self._centred[part].T)

    def weights(self, of: str) -> Floats:
        """Return the weights of the columns in each effect, shape (N, P) or (M, P)."""
        part = slice(0, self._count) if of == "languages" else slice(self._count, None)
        return np.asarray(self._weighted @ self._centred[part].T).T

    def residual(self, rows: Floats) -> Floats:
        """Return the residual of each row, (…, P) → (…, P)."""
        if rows.ndim == 1:
            alone: Floats = self.residual(rows[None])[0]
            return alone
        found = np.empty_like(rows)
        for start in range(0, len(rows), ROWS):
            block = rows[start : start + ROWS]
            found[start : start + ROWS] = block - (block @ self._weighted @ self._solve) @ self._dummies.T
        return found

    @property
    def dummies(self) -> csr_array:
        """Indicators of languages and systems, shape (P, N + M)."""
        return self._dummies


def _check_connected(codes: list[np.ndarray], names: list[list[str]]) -> None:
    """Check that chains of columns connect all languages and systems."""
    counts = [len(each) for each in names]
    edges = csr_array((np.ones(len(codes[0])), (codes[0], counts[0] + codes[1])), shape=(sum(counts), sum(counts)))
    parts, part = connected_components(edges, directed=False)
    if parts == 1:
        return
    shown = []
    for number in range(parts):
        languages = [name for name, own in zip(names[0], part[: counts[0]], strict=True) if own == number]
        systems = [name for name, own in zip(names[1], part[counts[0] :], strict=True) if own == number]
        shown.append(f"{listing(languages, 5)} under {listing(systems, 5)}")
    raise DataError(
        f"languages and systems fall into {parts} parts that no column connects, so that their means cannot be "
        f"compared: {'; '.join(shown)}. Add a language that systems of several parts have, or compare each part by "
        "itself."
    )
