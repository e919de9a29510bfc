"""Passages out of step, by the most likely sequence of offsets; texts that repeat or copy others, by their hashes."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from langdiff.base.types import Booleans, Integers
from langdiff.corpora.alignment.lengths import Numbers, correlation, log_ratio, shifted

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
BACK = 4.0  # nats that it costs to be in step again
KINDS = ("shifted", "moved", "unrelated", "placeholder", "level")  # of passages
_EQUAL = 0.8  # share of texts that are equal up to digits, in a placeholder
_ALIKE = 3  # characters by which the lengths of such texts differ at most
_IN_STEP, _SURE = 0.4, 2.5  # correlation inside a passage; its distance from 0 in standard errors
_MOVED = 0.7  # correlation of a moved passage
_MARGIN = 3.0  # nats between the best place and the second
_DIVIDED = 40  # intents of a passage whose documents may have been moved to different places
_SAMPLE = 1000  # intents of a passage that are compared with every place
_WHOLE = 0.9  # share of an edition's texts that counts as all of it


def cost_of_leaving(n_intents: int, n_editions: int, max_offset: int, alpha: float) -> float:
    """Return the nats of evidence that it takes to leave a state.

    As the log of all places, offsets and editions over α, about α passages are expected in a corpus without any.

    Examples
    --------
    >>> round(cost_of_leaving(31_104, 74, 3, 0.05), 4)
    19.5908
    """
    return math.log(n_intents * (2 * max_offset + 1) * n_editions / alpha)


def best_paths(evidence: NDArray[np.floating[Any]], cost: float) -> NDArray[np.int8]:
    """Return the path of states with the greatest sum of evidence, less the costs of changes (Viterbi).

    A path begins in step at no cost, in another state for `cost`. To go to another state costs as much, but to be in
    step again only `BACK`.

    Shapes: evidence (S, I, J).

    Examples
    --------
    >>> evidence = np.full((4, 5, 1), -5, dtype=np.float32)  # -1, 0, 1, none
    >>> evidence[1, [0, 4]] = 0  # begins and ends in step
    >>> evidence[3, 1:4] = 0
    >>> best_paths(evidence, 8.0).ravel(), best_paths(evidence, 12.0).ravel()
    (array([1, 3, 3, 3, 1], dtype=int8), array([1, 1, 1, 1, 1], dtype=int8))
    """
    n_states, n_intents, n_editions = evidence.shape
    zero = (n_states - 2) // 2
    costs = np.full((n_states, 1), cost)
    costs[zero] = BACK
    begin = np.full((n_states, 1), cost)
    begin[zero] = 0.0
    score = evidence[:, 0].astype(float) - begin if n_intents else np.zeros((n_states, n_editions))
    came = np.zeros((n_intents, n_states, n_editions), dtype=bool)  # from another state, the best
    best = np.zeros((n_intents, n_editions), dtype=np.int8)  # state of the intent before
    columns = np.arange(n_editions)
    for i in range(1, n_intents):
        best[i] = before = score.argmax(axis=0)
        entering = score[before, columns] - costs
        np.greater(entering, score, out=came[i])
        score = np.maximum(score, entering) + evidence[:, i]
    path = np.zeros((n_intents, n_editions), dtype=np.int8)
    state = score.argmax(axis=0)
    for i in range(n_intents - 1, -1, -1):
        path[i] = state
        state = np.where(came[i, state, columns], best[i], state)
    return path


@dataclass(frozen=True)
class Passage:
    """Passage of an edition.

    Attributes
    ----------
    edition : int
        Column of the edition.
    places : ndarray of int
        Rows of its texts.
    kind : str
        One of `KINDS`; empty as long as it is not known.
    offset : int or None
        Rows from the place of a text to where it fits; None if it fits nothing.
    gain : float
        Evidence for it, in nats.
    correlation : float
        Of lengths and contents, where it fits.
    factor : float
        Length, relative to what is expected in its place.
    whole : bool
        Whether it is all of the edition.
    """

    edition: int
    places: Integers
    kind: str
    offset: int | None
    gain: float
    correlation: float = math.nan
    factor: float = math.nan
    whole: bool = False


@dataclass(frozen=True)
class Track:
    """Lengths of an edition along the intents, and its path.

    Attributes
    ----------
    edition : int
        Column of the edition.
    lengths : ndarray, shape (I,)
        Logarithms of lengths.
    beyond : ndarray, shape (I,)
        What of these is neither the part of the edition nor what the others say of the intent.
    z, c : ndarray, shape (I,)
        Scores of these.
    correlation : float
        Of the scores, where the edition is in step.
    path : ndarray of int, shape (I,)
        Offsets; `max_offset` + 1 for *none*.
    """

    edition: int
    lengths: Numbers
    beyond: Numbers
    z: Numbers
    c: Numbers
    correlation: float
    path: NDArray[np.int8]


def passages_of(track: Track, max_offset: int) -> list[Passage]:
    """Return the maximal runs outside offset 0, trimmed to texts that the edition has."""
    path, has = track.path, np.isfinite(track.z)
    found = []
    in_step = log_ratio(track.z, track.c, track.correlation)
    for rows in np.split(np.arange(len(path)), np.flatnonzero(np.diff(path)) + 1):
        places = rows[has[rows]]
        offset = int(path[rows[0]]) if len(rows) else 0
        if offset == 0 or not len(places):
            continue
        none = offset > max_offset
        there = 0.0 if none else float(_fit(track, places, offset).sum())
        gain = there - float(in_step[places].sum())
        own = None if none else offset
        whole = len(places) >= _WHOLE * has.sum()
        found.append(Passage(track.edition, places, "" if none else "shifted", own, gain, whole=whole))
    return found


def named(
    passage: Passage, track: Track, documents: Integers, threshold: float, texts: Callable[[], pd.Series]
) -> list[Passage]:
    """Return a passage with its kind, or its parts, if these were moved to different places.

    Shapes: documents (I,).
    """
    z, c = track.z[passage.places], track.c[passage.places]
    both = np.isfinite(c)
    within = correlation(z[both], c[both]) if both.sum() > 1 else math.nan
    if passage.offset is not None:
        there = _values(track.c, passage.places + passage.offset)
        both = np.isfinite(there)
        return [replace(passage, correlation=correlation(z[both], there[both]) if both.sum() > 1 else math.nan)]
    if _may_be_placeholder(track.lengths[passage.places]) and len(own := _equal(texts(), passage.places)):
        return [replace(passage, kind="placeholder", correlation=within, places=own)]
    if within >= _IN_STEP and math.atanh(min(within, 1 - 1e-9)) * math.sqrt(max(both.sum() - 3, 0)) >= _SURE:
        factor = math.exp(float(np.nanmedian(track.beyond[passage.places])))
        return [replace(passage, kind="level", correlation=within, factor=factor)]
    unrelated = replace(passage, kind="unrelated", correlation=within)
    if found := _moved(unrelated, track, threshold):
        return [found]
    if len(passage.places) < _DIVIDED or passage.whole:
        return [unrelated]
    parts = [_moved(part, track, threshold) or part for part in _by_document(unrelated, documents, track)]
    return list(_joined(parts))


def _fit(track: Track, places: Integers, offset: int) -> Numbers:
    return log_ratio(track.z[places], shifted(track.c, offset)[places], track.correlation)


def _values(values: Numbers, places: Integers) -> Numbers:
    """Return the values at some places, NaN beyond the ends."""
    inside = (places >= 0) & (places < len(values))
    found: Numbers = np.where(inside, values[np.where(inside, places, 0)], np.nan)
    return found


def _may_be_placeholder(lengths: Numbers) -> bool:
    """Return whether most lengths are nearly equal, so that texts need to be read only then."""
    characters = np.sort(np.exp(lengths))
    width = max(math.ceil(_EQUAL * len(characters)), 2)
    if len(characters) < width:
        return False
    span = characters[width - 1 :] - characters[: len(characters) - width + 1]
    return bool((span <= _ALIKE).any())


def _equal(texts: pd.Series, places: Integers) -> Integers:
    """Return the places from the first to the last text of the commonest form; none if it is not that of most."""
    forms = np.array([re.sub(r"\d+", "", text).strip() for text in texts], dtype=object)
    form, count = Counter(forms).most_common(1)[0]
    if count < _EQUAL * len(forms):
        return places[:0]
    own = np.flatnonzero(forms == form)
    return places[own[0] : own[-1] + 1]


def _moved(passage: Passage, track: Track, threshold: float) -> Passage | None:
    """Return the passage with the offset to where it fits, or None if it fits nowhere, or in several places."""
    places = passage.places
    if len(places) > _SAMPLE:
        places = places[np.linspace(0, len(places) - 1, _SAMPLE).astype(int)]
    offsets = np.arange(-places[0], len(track.c) - places[-1])
    sums = np.full(len(offsets), -np.inf)
    step = max(2_000_000 // len(places), 1)
    for start in range(0, len(offsets), step):
        there = track.c[places[:, None] + offsets[None, start : start + step]]
        sums[start : start + step] = log_ratio(track.z[places, None], there, track.correlation).sum(axis=0)
    best = int(sums.argmax())
    second = float(np.delete(sums, best).max(initial=-np.inf))
    if sums[best] < threshold or sums[best] - second < _MARGIN or offsets[best] == 0:
        return None
    offset = int(offsets[best])
    there = _values(track.c, passage.places + offset)
    both = np.isfinite(there)
    agreement = correlation(track.z[passage.places][both], there[both])
    if not agreement >= _MOVED:
        return None
    return replace(passage, kind="moved", offset=offset, correlation=agreement)


def _by_document(passage: Passage, documents: Integers, track: Track) -> list[Passage]:
    own = documents[passage.places]
    parts = np.split(passage.places, np.flatnonzero(np.diff(own)) + 1)
    in_step = log_ratio(track.z, track.c, track.correlation)
    return [replace(passage, places=places, gain=-float(in_step[places].sum())) for places in parts]


def _joined(parts: list[Passage]) -> Iterator[Passage]:
    """Yield passages, neighbours of one kind and offset as one."""
    before: Passage | None = None
    for part in parts:
        if before is not None and (part.kind, part.offset) == (before.kind, before.offset):
            weights = len(before.places), len(part.places)
            before = replace(
                before,
                places=np.concatenate([before.places, part.places]),
                gain=before.gain + part.gain,
                correlation=float(np.average([before.correlation, part.correlation], weights=weights)),
            )
            continue
        if before is not None:
            yield before
        before = part
    if before is not None:
        yield before


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
