"""Tables of scores while they are made: rows by document, and by parallelism and metric."""

import math
from bisect import bisect_right
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pandas as pd

from langdiff._types import Integers
from langdiff.parallelism.documents import Document
from langdiff.parallelism.enclosing import depths
from langdiff.parallelism.matching import METRICS, match_parallelisms, sizes
from langdiff.parallelism.scores import FEATURES, SIDES, SUMS
from langdiff.parallelism.statistics import shared_tokens

_KEYS = ("system", "document", "side", "number")
_TYPES: dict[str, str] = {"stratum": "int64", "distance": "Int64", "kind": "object"}


class ScoreTable:
    """Scores of pairs of documents, which may be added one after the other."""

    def __init__(self) -> None:
        self._documents: list[tuple[Any, ...]] = []
        self._rows: list[tuple[Any, ...]] = []  # one per parallelism
        self._cells: list[Integers] = [
            np.zeros((0, 3, len(METRICS)), dtype=int)
        ]  # credits, sizes, partners of the rows
        self._known: dict[str, list[tuple[Any, ...]]] = {}  # features of the references

    def add(self, system: str, name: str, reference: Document, hypothesis: Document) -> None:
        """Score a hypothesis against the reference of its document."""
        if name not in self._known:
            self._known[name] = features(reference)
        sides = reference.parallelisms, hypothesis.parallelisms
        ours, theirs = (np.zeros((len(side), 3, len(METRICS)), dtype=int) for side in sides)
        for cells, side in zip((ours, theirs), sides, strict=True):
            cells[:, 1] = np.array([sizes(one) for one in side], dtype=int).reshape(-1, len(METRICS))
        for place, matched in enumerate(match_parallelisms(*sides).values()):
            for row, (column, credit) in matched.items():
                ours[row, ::2, place] = credit, column + 1
                theirs[column, ::2, place] = credit, row + 1
        found = (self._known[name], features(hypothesis))
        for what, cells, rows in zip(SIDES, (ours, theirs), found, strict=True):
            self._rows += [(system, name, what, number, *row) for number, row in enumerate(rows, 1)]
            self._cells.append(cells)
        sums = zip(*(one.tolist() for one in (ours[:, 0].sum(0), theirs[:, 1].sum(0), ours[:, 1].sum(0))), strict=True)
        self._documents += [(system, name, metric, *row) for metric, row in zip(METRICS, sums, strict=True)]

    def documents(self) -> pd.DataFrame:
        """Return one row per system, document and metric, with w* and the two sizes."""
        return pd.DataFrame(self._documents, columns=["system", "document", "metric", *SUMS])

    def parallelisms(self) -> pd.DataFrame:
        """Return one row per system, document, side, parallelism and metric."""
        wide = pd.DataFrame(self._rows, columns=[*_KEYS, *FEATURES]).astype(_TYPES)
        cells = np.concatenate(self._cells)  # (N, 3, 4)
        long = wide.loc[np.repeat(np.arange(len(wide)), len(METRICS))].reset_index(drop=True)
        credit, size, partner = (cells[:, place].ravel() for place in range(3))
        at = len(_KEYS)
        long.insert(at, "partner", pd.Series(partner, dtype="Int64").mask(partner == 0))
        long.insert(at, "size", size)
        long.insert(at, "credit", credit)
        long.insert(at, "metric", np.tile(np.array(METRICS, dtype=object), len(wide)))
        return long


def features(document: Document) -> list[tuple[Any, ...]]:
    """Return what may explain how well each parallelism of a document is found, named by `FEATURES`.

    Examples
    --------
    >>> from langdiff.parallelism import Parallelism, make_document
    >>> features(make_document("1", "we came , we saw".split(), [Parallelism(((0, 2), (3, 5)))]))
    [(0, None, 2, 4, 0.3333333333333333, 2, '1', 0.0)]
    """
    starts = [section.start for section in document.sections]
    rows = []
    for one, depth in zip(document.parallelisms, depths(document), strict=True):
        _, branches, tokens, _ = sizes(one)
        pairs = [shared_tokens(document, *pair) for pair in combinations(one.branches, 2)]
        overlap = sum(shared / joint for shared, joint in pairs) / len(pairs) if pairs else math.nan
        distance = max((other[0] - before[1] + 1 for before, other in pairwise(one.branches)), default=None)
        first = one.branches[0][0]
        section = document.sections[max(bisect_right(starts, first) - 1, 0)].name
        rows.append((depth, one.kind, branches, tokens, overlap, distance, section, first / len(document.tokens)))
    return rows
