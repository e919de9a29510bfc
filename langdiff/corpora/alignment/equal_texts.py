"""Texts that are equal: repeated in an edition, or copied from another one. Only their hashes are compared."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from langdiff.base.types import Booleans, Integers

_LONG = 20  # characters of texts that are compared; shorter ones are often equal by chance
_RUN = 3  # texts that are repeated one after the other
_GAP = 2  # rows from one to the next: one may be skipped
_LONG_RUN = 10  # texts of a run that is a warning
_OTHERS = 0.1  # share of other editions that may repeat there: what is said twice is a repetition in all of them
_OFTEN = 50  # a text is compared with so many further occurrences at most
_NOTED, _WARNED = 0.005, 0.05  # share of cells equal to those of another edition
_UNTRANSLATED = 6  # consecutive equal texts, the mark of a passage that was not translated

REPEATS = ("edition", "first", "last", "equals_first", "equals_last", "texts", "severity")
COPIES = ("edition", "other", "equal", "texts", "percent", "longest_run", "first", "last", "severity")


def long_texts(lengths: NDArray[np.float32]) -> Booleans:
    """Return whether texts are long enough to be compared, given the logarithms of their lengths."""
    with np.errstate(invalid="ignore"):
        found: Booleans = lengths >= np.float32(np.log(_LONG) - 1e-4)
    return found


def repeats_of(
    hashes: NDArray[np.uint64], long: Booleans, intents: pd.Index, editions: pd.Index, fit: NDArray[np.float32]
) -> pd.DataFrame:
    """Return the runs of texts that an edition repeats and others do not.

    Shapes: hashes (I, J); long (I, J); fit (I, J).

    Examples
    --------
    >>> hashes = np.array([[1, 1], [2, 2], [3, 3], [1, 4], [2, 5], [3, 6]], dtype=np.uint64)
    >>> names = pd.Index([*"abcdef"]), pd.Index(["eng", "deu"])
    >>> found = repeats_of(hashes, hashes > 0, *names, np.zeros((6, 2), dtype=np.float32))
    >>> found.drop(columns="severity").values.tolist()
    [['eng', 'd', 'f', 'a', 'c', 3]]
    """
    rows = []
    for j, edition in enumerate(editions):
        told = np.zeros(len(hashes), dtype=bool)
        for earlier, later in sorted(_runs(hashes[:, j], long[:, j]), key=lambda run: -len(run[0])):
            if told[later].mean() >= 0.5:  # a part of a longer run, or the same one at another distance
                continue
            told[later] = True
            others = np.delete(np.arange(hashes.shape[1]), j)
            one, other = hashes[np.ix_(earlier, others)], hashes[np.ix_(later, others)]
            both = (one != 0) & (other != 0)
            n_both = both.sum(axis=0)
            repeat = ((one == other) & both).sum(axis=0) >= 0.5 * n_both
            if (n_both > 0).any() and repeat[n_both > 0].mean() >= _OTHERS:
                continue
            fits = float(fit[earlier, j].mean()), float(fit[later, j].mean())
            wrong, right = (earlier, later) if fits[0] < fits[1] else (later, earlier)
            severity = "warning" if len(later) >= _LONG_RUN and min(fits) <= 0 else "note"
            ends = (wrong[0], wrong[-1], right[0], right[-1])
            rows.append((edition, *(intents[place] for place in ends), len(later), severity))
    return pd.DataFrame(rows, columns=list(REPEATS))


def _runs(hashes: NDArray[np.uint64], long: Booleans) -> Iterator[tuple[Integers, Integers]]:
    """Yield rows of consecutive texts, and those of the equal ones that follow at one distance."""
    places = np.flatnonzero(long)
    order = places[np.argsort(hashes[places], kind="stable")]
    ordered = hashes[order]
    pairs = []
    at = np.arange(len(order))
    for step in range(1, _OFTEN + 1):
        at = at[at + step < len(order)]
        at = at[ordered[at] == ordered[at + step]]
        if not len(at):
            break
        pairs.append(np.column_stack([order[at], order[at + step] - order[at]]))
    if not pairs:
        return
    every = np.concatenate(pairs)
    earlier, distance = every[np.lexsort(every.T)].T
    breaks = np.flatnonzero((np.diff(distance) != 0) | (np.diff(earlier) > _GAP)) + 1
    begins, ends = np.append(0, breaks), np.append(breaks, len(earlier))
    for run in np.flatnonzero(ends - begins >= _RUN).tolist():
        own = slice(begins[run], ends[run])
        yield earlier[own], earlier[own] + distance[own]


def copies_of(
    hashes: NDArray[np.uint64], long: Booleans, intents: pd.Index, editions: pd.Index, languages: pd.Series
) -> pd.DataFrame:
    """Return the pairs of editions that have equal texts of the same intents."""
    keyed = np.where(long, hashes, 0)
    order = np.argsort(keyed, axis=1)
    ordered = np.take_along_axis(keyed, order, axis=1)
    found = []
    for step in range(1, keyed.shape[1]):
        equal = (ordered[:, step:] == ordered[:, :-step]) & (ordered[:, step:] != 0)
        rows, columns = np.nonzero(equal)
        if not len(rows):
            break
        ends = np.sort(np.column_stack([order[rows, columns], order[rows, columns + step]]), axis=1)
        found.append(np.column_stack([ends, rows]))
    cells = np.concatenate(found) if found else np.zeros((0, 3), dtype=int)
    cells = cells[np.lexsort(cells.T[::-1])]
    has = hashes != 0
    result = []
    for pair in np.split(cells, np.flatnonzero((np.diff(cells[:, :2], axis=0) != 0).any(axis=1)) + 1):
        if not len(pair):
            continue
        one, other, _ = pair[0].tolist()
        n_texts = int((has[:, one] & has[:, other]).sum())
        run = max(np.split(pair[:, 2], np.flatnonzero(np.diff(pair[:, 2]) != 1) + 1), key=len)
        share = len(pair) / n_texts
        if share < _NOTED and len(run) < _UNTRANSLATED:
            continue
        foreign = languages.iloc[one] != languages.iloc[other]
        severity = "warning" if foreign and (share >= _WARNED or len(run) >= _UNTRANSLATED) else "note"
        first, last = intents[run[0]], intents[run[-1]]
        result.append(
            (editions[one], editions[other], len(pair), n_texts, 100 * share, len(run), first, last, severity)
        )
    return pd.DataFrame(result, columns=list(COPIES)).sort_values("percent", ascending=False, ignore_index=True)
