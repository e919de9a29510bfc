"""Tables of scores while they are made: rows by document, and by parallelism and metric."""

import math
from bisect import bisect_right
from itertools import combinations, pairwise
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from langdiff.base.types import Integers
from langdiff.parallelism.documents import Document
from langdiff.parallelism.enclosing import depths
from langdiff.parallelism.matching import METRICS, Metric, match_parallelisms, sizes
from langdiff.parallelism.statistics import shared_tokens

Side = Literal["reference", "hypothesis"]
SIDES: tuple[Side, ...] = get_args(Side)
SUMS = ("matched", "hypothesis_size", "reference_size")
FEATURES = ("stratum", "kind", "branches", "tokens", "overlap", "distance", "section", "position")
_KEYS = ("system", "document", "side", "number")
_TYPES: dict[str, str] = {"stratum": "int64", "distance": "Int64", "kind": "object"}


class ScoreTable:
    """Scores of pairs of documents, which may be added one after the other."""

    def __init__(self) -> None:
        self._pairs: list[tuple[str, str, Document, Document, dict[Metric, dict[int, tuple[int, int]]]]] = []

    def add(self, system: str, name: str, reference: Document, hypothesis: Document) -> None:
        """Score a hypothesis against the reference of its document."""
        matched = match_parallelisms(reference.parallelisms, hypothesis.parallelisms)
        self._pairs.append((system, name, reference, hypothesis, matched))

    def documents(self) -> dict[str, list[Any]]:
        """Return columns of a table with one row per system, document and metric, with w* and the two sizes."""
        columns: dict[str, list[Any]] = {name: [] for name in ("system", "document", "metric", *SUMS)}
        for system, name, reference, hypothesis, matched in self._pairs:
            columns["system"] += [system] * len(METRICS)
            columns["document"] += [name] * len(METRICS)
            columns["metric"] += METRICS
            columns["matched"] += [sum(credit for _, credit in pairs.values()) for pairs in matched.values()]
            columns["hypothesis_size"] += _total_sizes(hypothesis)
            columns["reference_size"] += _total_sizes(reference)
        return columns

    def parallelisms(self) -> pd.DataFrame:
        """Return one row per system, document, side, parallelism and metric."""
        known: dict[str, list[tuple[Any, ...]]] = {}  # features of the references
        rows: list[tuple[Any, ...]] = []  # one per parallelism
        cells = [np.zeros((0, 3, len(METRICS)), dtype=int)]  # credits, sizes, partners of the rows
        for system, name, reference, hypothesis, matched in self._pairs:
            if name not in known:
                known[name] = features(reference)
            sides = [np.zeros((len(side.parallelisms), 3, len(METRICS)), dtype=int) for side in (reference, hypothesis)]
            for side, own in zip((reference, hypothesis), sides, strict=True):
                own[:, 1] = np.array([sizes(one) for one in side.parallelisms], dtype=int).reshape(-1, len(METRICS))
            for place, pairs in enumerate(matched.values()):
                for row, (column, credit) in pairs.items():
                    sides[0][row, ::2, place] = credit, column + 1
                    sides[1][column, ::2, place] = credit, row + 1
            for what, found in zip(SIDES, (known[name], features(hypothesis)), strict=True):
                rows += [(system, name, what, number, *row) for number, row in enumerate(found, 1)]
            cells += sides
        return _long(pd.DataFrame(rows, columns=[*_KEYS, *FEATURES]).astype(_TYPES), np.concatenate(cells))


def _total_sizes(document: Document) -> tuple[int, int, int, int]:
    """Return the size of all parallelisms by each metric."""
    lengths = [end - start for one in document.parallelisms for start, end in one.branches]
    return len(document.parallelisms), len(lengths), sum(lengths), sum(lengths)


def _long(wide: pd.DataFrame, cells: Integers) -> pd.DataFrame:
    """Return one row per parallelism and metric; credits, sizes and partners have shape (N, 3, 4)."""
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
