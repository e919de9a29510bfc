"""The check of alignment: from lengths and hashes of texts to passages that do not fit."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from langdiff.base.progress import progress_bar
from langdiff.base.types import Booleans, Integers, WhenOutOfStep
from langdiff.corpora.alignment.lengths import (
    Consensus,
    Numbers,
    consensus_of,
    correlations,
    evidence,
    levels_of,
    normal_scores,
    standardized,
)
from langdiff.corpora.alignment.passages import (
    KINDS,
    Passage,
    Track,
    best_paths,
    copies_of,
    cost_of_leaving,
    long_texts,
    named,
    passages_of,
    repeats_of,
)
from langdiff.corpora.alignment.result import WRONG, Alignment, are_verses, in_words, rows_of
from langdiff.errors import ConfigError, DataError, option
from langdiff.tables.multitext import Multitext, check_multitext
from langdiff.tables.text_features import CUT, NO_WORDS, SCRIPT, TextFeatures

FEWEST_INTENTS, FEWEST_EDITIONS = 100, 2  # with fewer, nothing can be said
_BLOCK = 48  # editions whose evidence is held at once
_DOCUMENT = 100  # lines that count as a document where none is known
_PIECE = 20  # lines that may have been moved, where no document is known
_SHORT, _VERY_SHORT = 0.9, 8  # how much shorter than expected a very short text is: logarithm, spreads of the edition
_MOST_HAVE = 0.9  # share of editions with words, where a text without any is wrong
_SCRIPT_RUN, _SCRIPT_SHARE = 3, 0.005  # texts in another script in succession, or of all, that are a warning
_SHOWN = 1_000_000  # cells of a multitext whose very short texts are read to be shown
_PASSAGES = (
    *("edition", "first", "last", "texts", "kind", "offset", "fits_first", "fits_last", "gain", "correlation"),
    *("factor", "first_document", "last_document"),
)
_CELLS = ("edition", "intent", "what", "severity", "text")


def check_alignment(
    multitext: Multitext, *, max_offset: int = 3, alpha: float = 0.05, progress: bool | None = None
) -> Alignment:
    """Find passages, editions and texts that are out of step with the other editions.

    Nothing is read for it but what was kept when the files were catalogued: the length of every text and a hash. What
    an intent says makes its texts long or short in every language alike, so that lengths tell which intents a passage
    fits. Of each edition the most likely sequence of offsets is found (Viterbi), of which each change costs as much
    evidence as makes `alpha` false passages in the whole corpus likely.

    Parameters
    ----------
    multitext : Multitext
        At least two editions and 100 intents.
    max_offset : int
        Greatest number of intents by which a passage may be shifted to be found as such; passages from farther away are
        ``"moved"``.
    alpha : float
        About how many passages are found in a corpus where there are none.
    progress : bool, optional
        Whether to draw a progress bar on stderr; by default only if it is a terminal.

    Returns
    -------
    Alignment
        Passages, fit of every document, equal texts, and single texts that are wrong by themselves. With two editions a
        passage is one of the pair, and named under the first.

    Raises
    ------
    DataError
        If there are fewer than two editions or 100 intents.
    ConfigError
        If `multitext` is not one, or `max_offset` or `alpha` is out of range.

    Notes
    -----
    Not found are shifts of few texts (8 in NTREX: 4 of 10 are), passages that are translated freely at the same
    length, and errors that most editions share.

    Examples
    --------
    >>> import langdiff as ld
    >>> texts = ld.corpora.synthesize(300, 6, seed=1).multitext.to_frame()
    >>> texts.iloc[100:200, 2] = texts.iloc[101:201, 2].to_numpy()  # a line is lost, and another is there twice
    >>> found = check_alignment(ld.read_frame(texts))
    >>> found.passages[["kind", "offset"]].values.tolist()
    [['shifted', 1]]
    """
    check_multitext(multitext)
    if not 1 <= max_offset <= 20:
        raise ConfigError(f"{option('max_offset')} must be from 1 to 20, got {max_offset!r}.")
    if not 0 < alpha < 1:
        raise ConfigError(f"alpha must be between 0 and 1, got {alpha!r}.")
    if not can_be_checked(multitext):
        n_intents, n_editions = multitext.presence.shape
        raise DataError(
            f"alignment is checked from {FEWEST_INTENTS} intents and {FEWEST_EDITIONS} editions on, got {n_intents:,} "
            f"and {n_editions}."
        )
    return _Check(multitext, max_offset, alpha, progress).result()


def checked(multitext: Multitext, when_out_of_step: WhenOutOfStep) -> tuple[Multitext, Alignment | None]:
    """Check a multitext as `langdiff select` and `langdiff run` do."""
    if when_out_of_step == "off" or not can_be_checked(multitext):
        return multitext, None
    alignment = check_alignment(multitext, progress=False)
    return (alignment.applied(multitext) if when_out_of_step == "leave-out" else multitext), alignment


def can_be_checked(multitext: Multitext) -> bool:
    """Return whether a multitext has enough intents and editions."""
    n_intents, n_editions = multitext.presence.shape
    return n_intents >= FEWEST_INTENTS and n_editions >= FEWEST_EDITIONS


@dataclass
class _Scan:
    """Lengths of editions along the intents, in a block of editions or all of them."""

    editions: list[int]
    z: Numbers
    c: Numbers
    content: Numbers
    correlation: Numbers
    path: NDArray[np.int8]
    in_step: NDArray[np.float32]  # evidence for offset 0

    def track(self, column: int, consensus: Consensus, max_offset: int) -> Track:
        edition = self.editions[column]
        return Track(
            edition,
            consensus.rest[:, edition] + consensus.level[edition],
            consensus.rest[:, edition] - self.content[:, column],
            self.z[:, column],
            self.c[:, column],
            float(self.correlation[column]),
            self.path[:, column] - np.int8(max_offset),
        )


class _Check:
    """One check of a multitext."""

    def __init__(self, multitext: Multitext, max_offset: int, alpha: float, progress: bool | None) -> None:
        self.multitext, self.max_offset, self.alpha, self.progress = multitext, max_offset, alpha, progress
        self.features = multitext.measured()
        self.lengths = self.features.lengths
        self.has: Booleans = np.isfinite(self.lengths)
        n_intents, n_editions = self.lengths.shape
        self.cost = cost_of_leaving(n_intents, n_editions, max_offset, alpha)
        self.documents, self.names = _documents(multitext)
        self._texts: dict[str, pd.Series] = {}

    def result(self) -> Alignment:
        consensus = consensus_of(self.lengths)
        fit = np.zeros(self.lengths.shape, dtype=np.float32)
        correlation = np.full(len(self.multitext.editions), np.nan)
        found: list[Passage] = []
        second = self._scan(consensus, list(range(len(self.multitext.editions))), fit, correlation, found)
        if second and len(self.multitext.editions) > 2:
            used = self.has.copy()
            for passage in found:
                used[passage.places, passage.edition] = False
            consensus, found = consensus_of(self.lengths, used), []
            self._scan(consensus, second, fit, correlation, found)
        passages = self._frame(found)
        hashes, long = self.features.hashes, long_texts(self.features.lengths)
        names = self.multitext.intents, self.multitext.editions
        repeats = repeats_of(hashes, long, *names, fit)
        copies = copies_of(hashes, long, *names, self.multitext.edition_info["language"])
        cells = self._cells(consensus)
        levels = levels_of(consensus.level, self.multitext.edition_info["language"])
        return Alignment(
            passages=passages,
            fit=self._fit(fit),
            editions=_editions(self.multitext, correlation, levels, passages, repeats, cells),
            repeats=repeats,
            copies=copies,
            cells=cells,
            options={
                "max_offset": self.max_offset,
                "alpha": self.alpha,
                "cost": self.cost,
                "majority": self._majority(found),
            },
        )

    def _scan(
        self,
        consensus: Consensus,
        editions: list[int],
        fit: NDArray[np.float32],
        correlation: Numbers,
        found: list[Passage],
    ) -> list[int]:
        """Find the passages of some editions, and the fit of all their texts; return the editions that have any."""
        with_passages = []
        with progress_bar(progress=self.progress) as bar:
            task = bar.add_task("checking alignment", total=len(editions), note="")
            for start in range(0, len(editions), _BLOCK):
                block = editions[start : start + _BLOCK]
                scan = self._block(consensus, block)
                fit[:, block], correlation[block] = scan.in_step, scan.correlation
                for column, edition in enumerate(block):
                    if len(self.multitext.editions) == 2 and edition == 1:
                        continue  # what does not fit is the pair
                    track = scan.track(column, consensus, self.max_offset)
                    if own := passages_of(track, self.max_offset):
                        with_passages.append(edition)
                        found += [part for passage in own for part in self._named(passage, track)]
                bar.advance(task, len(block))
        return with_passages

    def _block(self, consensus: Consensus, editions: list[int]) -> _Scan:
        content = consensus.content(np.array(editions))
        z = normal_scores(self.lengths[:, editions])
        c = standardized(content, z)
        correlation = correlations(z, c, self.max_offset)
        support = evidence(z, c, correlation, self.max_offset)
        path = best_paths(support, self.cost)
        return _Scan(editions, z, c, content, correlation, path, support[self.max_offset].copy())

    def _named(self, passage: Passage, track: Track) -> list[Passage]:
        threshold = math.log(100 * len(self.multitext) / self.alpha)

        def texts() -> pd.Series:
            return self._text(passage.edition).reindex(self.multitext.intents[passage.places]).dropna()

        return named(passage, track, self.documents, threshold, texts)

    def _text(self, edition: int) -> pd.Series:
        name = self.multitext.editions[edition]
        if name not in self._texts:
            self._texts[name] = self.multitext.text(name)
        return self._texts[name]

    def _frame(self, found: list[Passage]) -> pd.DataFrame:
        """Return the passages as a table, with what they are in words."""
        intents = self.multitext.intents
        rows = []
        for one in found:
            first, last = one.places[0], one.places[-1]
            fits: tuple[object, object] = (None, None)
            if one.offset is not None:
                fits = tuple(intents[min(max(end + one.offset, 0), len(intents) - 1)] for end in (first, last))
            offset = pd.NA if one.offset is None else one.offset
            name = self.multitext.editions[one.edition]
            rows.append((name, intents[first], intents[last], len(one.places), one.kind, offset, *fits, one.gain))
            documents = (self.names[self.documents[end]] for end in (first, last))
            rows[-1] += (one.correlation, one.factor, *documents)
        table = pd.DataFrame(rows, columns=list(_PASSAGES)).astype({"offset": "Int64"})
        pair = self.multitext.editions
        both = f"{pair[0]} and {pair[1]}: " if len(pair) == 2 else ""
        exchanged = [any(_are_exchanged(one, other) for other in found) for one in found]
        says = [both + _in_words(*each) for each in zip(rows_of(table), found, exchanged, strict=True)]
        return table.assign(says=pd.Series(says, dtype=object))

    def _fit(self, fit: NDArray[np.float32]) -> pd.DataFrame:
        counted = self.has.astype(float)
        sums = np.zeros((len(self.names), fit.shape[1]))
        numbers = np.zeros_like(sums)
        np.add.at(sums, self.documents, fit)
        np.add.at(numbers, self.documents, counted)
        mean = np.divide(sums, numbers, out=np.full_like(sums, np.nan), where=numbers > 0)
        return pd.DataFrame(mean.T, index=self.multitext.editions, columns=pd.Index(self.names, name="document"))

    def _cells(self, consensus: Consensus) -> pd.DataFrame:
        """Return the texts that are wrong by themselves, with their texts where these are few."""
        rows: list[tuple[int, int, str, str]] = []
        with_words = self.has.copy()
        for row, column, what in self.features.striking:
            with_words[row, column] &= what != NO_WORDS
        others = np.maximum(self.has.sum(axis=1) - 1, 1)  # beside a text without words
        shares = with_words.sum(axis=1) / others
        of_script = _warned_of_scripts(self.features)
        for row, column, what in self.features.striking:
            if what == NO_WORDS and (shares[row] < _MOST_HAVE or self.has[row].sum() < 2):
                continue
            severity = "note" if what == SCRIPT and column not in of_script else "warning"
            rows.append((column, row, what, severity))
        least = np.maximum(_SHORT, _VERY_SHORT * consensus.spread)
        with np.errstate(invalid="ignore"):
            short = np.argwhere(consensus.rest - consensus.typical[:, None] < -least)
        known = {(column, row) for column, row, *_ in rows}
        rows += [(column, row, "short", "note") for row, column in short.tolist() if (column, row) not in known]
        rows.sort(key=lambda cell: (cell[0], cell[2] != CUT, cell[2], cell[1]))
        shown = {column for column, _, what, _ in rows if what != CUT}
        read = shown if self.lengths.size <= _SHOWN else {c for c, _, what, _ in rows if what in (NO_WORDS, SCRIPT)}
        intents, editions = self.multitext.intents, self.multitext.editions
        table = []
        for column, row, what, severity in rows:
            text = self._text(column).get(intents[row], "")[:200] if column in read and what != CUT else None
            table.append((editions[column], intents[row], what, severity, text))
        return pd.DataFrame(table, columns=list(_CELLS), dtype=object)

    def _majority(self, found: list[Passage]) -> str:
        """Return the sentence on places where most editions are out of step; nothing if there are none."""
        out = np.zeros(self.lengths.shape, dtype=bool)
        for one in found:
            if one.kind in WRONG:
                out[one.places, one.edition] = True
        most = np.flatnonzero(2 * out.sum(axis=1) > self.has.sum(axis=1))
        if not len(most) or len(self.multitext.editions) == 2:
            return ""
        where = in_words(self.multitext.intents[most[0]], self.multitext.intents[most[-1]])
        return f"Of {len(most):,} intents ({where}) more than half of the texts are out of step: which, is not known."


def _documents(multitext: Multitext) -> tuple[Integers, list[str]]:
    """Return the number of the document of each intent, and the names of the documents."""
    info = multitext.intent_info
    for column in ("document", "chapter"):
        if column in info and info[column].notna().all():
            codes, names = pd.factorize(info[column])
            if column == "chapter" and "book" in info and are_verses(multitext.intents):
                books = info["book"].iloc[np.unique(codes, return_index=True)[1]]
                return codes, [f"{book} {int(str(name)[2:])}" for book, name in zip(books, names, strict=True)]
            return codes, [str(name) for name in names]
    codes = np.arange(len(multitext)) // _DOCUMENT
    firsts = multitext.intents[::_DOCUMENT]
    return codes, [str(first) for first in firsts]


def _warned_of_scripts(features: TextFeatures) -> set[int]:
    """Return the editions with texts in another script in succession, or with many of them."""
    rows: dict[int, list[int]] = {}
    for row, column, what in features.striking:
        if what == SCRIPT:
            rows.setdefault(column, []).append(row)
    return {
        column
        for column, own in rows.items()
        if len(own) >= _SCRIPT_SHARE * np.isfinite(features.lengths[:, column]).sum()
        or max(map(len, np.split(np.sort(own), np.flatnonzero(np.diff(np.sort(own)) != 1) + 1))) >= _SCRIPT_RUN
    }


def _in_words(row: Any, passage: Passage, exchanged: bool) -> str:
    """Return what a passage is in words, given its row of the table."""
    where = f"{in_words(row.first, row.last)} ({row.texts:,} texts)"
    there = "" if row.fits_first is None else in_words(row.fits_first, row.fits_last)
    match row.kind:
        case "shifted" if passage.whole:
            which, what = ("next", "lost") if row.offset > 0 else ("previous", "added")
            which = (
                f"{which} one"
                if abs(row.offset) == 1
                else f"one {abs(row.offset)} lines {'on' if row.offset > 0 else 'back'}"
            )
            return f"every text fits the {which}: was a line {what} at the top?"
        case "shifted":
            return f"{where} fits {there} of the others"
        case "unrelated" if passage.whole:
            return "no passage fits: this is not the same text"
        case "unrelated":
            return f"{where} fits nothing"
        case "placeholder":
            return f"{where} has one note in place of each text"
        case "level":
            return f"{where} is in step, but ×{row.factor:.2f} as long as elsewhere, a note"
        case _:
            return f"{where} fits {there}{', exchanged with it' if exchanged else ''}"


def _are_exchanged(one: Passage, other: Passage) -> bool:
    """Return whether two moved passages fit each other's place, at least in half of their texts."""
    if (one.kind, other.kind, one.edition) != ("moved", "moved", other.edition) or one.offset is None:
        return False
    return one.offset == -(other.offset or 0) and bool(np.isin(one.places + one.offset, other.places).mean() >= 0.5)


def _editions(
    multitext: Multitext,
    correlation: Numbers,
    levels: pd.DataFrame,
    passages: pd.DataFrame,
    repeats: pd.DataFrame,
    cells: pd.DataFrame,
) -> pd.DataFrame:
    """Return the table of editions, with the numbers of findings."""
    table = pd.DataFrame(
        {
            "language": multitext.edition_info["language"],
            "correlation": correlation,
            "intents": multitext.presence.sum(axis=0),
        },
        index=multitext.editions,
    ).join(levels)
    kinds = {kind: passages["edition"][passages["kind"] == kind] for kind in KINDS}
    kinds |= {"repeated": repeats["edition"]}
    kinds |= {what: cells["edition"][cells["what"] == what] for what in (CUT, NO_WORDS, SCRIPT, "short")}
    for kind, editions in kinds.items():
        counts = editions.value_counts().reindex(table.index).fillna(0).astype(int)
        table[f"n_{kind.replace(' ', '_')}"] = counts
    wrong = passages[passages["kind"].isin(WRONG)]
    return table.assign(worst=wrong.groupby("edition")["gain"].max().reindex(table.index).fillna(0.0)).rename_axis(
        "edition"
    )
