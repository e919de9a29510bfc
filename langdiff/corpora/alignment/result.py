"""The result of a check of alignment, with its passages in words."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from langdiff.base.grids import Shown
from langdiff.base.result import Drawn, Result
from langdiff.base.suspicion import LEFT_OUT_COLUMNS
from langdiff.corpora.alignment.lengths import NOTED, WARNED
from langdiff.corpora.versifications import BOOKS
from langdiff.errors import ConfigError, DataError, listing
from langdiff.tables.multitext import Multitext

_VERSE = re.compile(r"[0-9]{8}")
_NAMES = (
    "Genesis,Exodus,Leviticus,Numbers,Deuteronomy,Joshua,Judges,Ruth,1 Samuel,2 Samuel,1 Kings,2 Kings,1 Chronicles,"
    "2 Chronicles,Ezra,Nehemiah,Esther,Job,Psalm,Proverbs,Ecclesiastes,Song of Songs,Isaiah,Jeremiah,Lamentations,"
    "Ezekiel,Daniel,Hosea,Joel,Amos,Obadiah,Jonah,Micah,Nahum,Habakkuk,Zephaniah,Haggai,Zechariah,Malachi,Matthew,Mark,"
    "Luke,John,Acts,Romans,1 Corinthians,2 Corinthians,Galatians,Ephesians,Philippians,Colossians,1 Thessalonians,"
    "2 Thessalonians,1 Timothy,2 Timothy,Titus,Philemon,Hebrews,James,1 Peter,2 Peter,1 John,2 John,3 John,Jude,"
    "Revelation"
)
_BOOKS = dict(enumerate(_NAMES.split(","), start=1))
WRONG = ("shifted", "moved", "unrelated", "placeholder")  # kinds of passages that are out of step
APPLIED = (*WRONG, "repeated", "no words")
_FOUND = (*APPLIED, "cut")  # what can be left out
_NAMED = 3  # editions that the headline names


def are_verses(intents: pd.Index) -> bool:
    """Return whether names of intents are verse ids, judged by the first and the last."""
    ends = [str(intent) for intent in (*intents[:1], *intents[-1:])]
    return all(_VERSE.fullmatch(end) and int(end[:2]) <= len(BOOKS) for end in ends)


def rows_of(table: pd.DataFrame) -> Iterator[Any]:
    """Yield the rows of a table, whose cells are attributes of any type."""
    return iter(table.itertuples())


def in_words(first: object, last: object) -> str:
    """Return the name of a passage.

    Examples
    --------
    >>> in_words("45008020", "45008038"), in_words("19050022", "19055001"), in_words("42024040", "43001001")
    ('Romans 8:20–38', 'Psalm 50:22–55:1', 'Luke 24:40 – John 1:1')
    >>> in_words("411", "431"), in_words("7", "7")
    ('411–431', '7')
    """
    one, other = str(first), str(last)
    if not (_VERSE.fullmatch(one) and _VERSE.fullmatch(other)):
        between = "–" if len(one) + len(other) < 12 else " – "
        return one if one == other else f"{one}{between}{other}"
    begin, end = _verse(one), _verse(other)
    if one == other:
        return begin
    if one[:2] != other[:2]:
        return f"{begin} – {end}"
    return f"{begin}–{int(other[5:])}" if one[:5] == other[:5] else f"{begin}–{int(other[2:5])}:{int(other[5:])}"


def _verse(verse: str) -> str:
    number = int(verse[:2])
    book = _BOOKS.get(number) or (BOOKS[number - 1] if number <= len(BOOKS) else verse[:2])
    return f"{book} {int(verse[2:5])}:{int(verse[5:])}"


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Alignment(Result):
    """Where the texts of a multitext do not say the same as those of most editions.

    Attributes
    ----------
    passages : DataFrame
        Passages that do not fit: ``edition``, ``first`` and ``last`` intent, ``texts``, ``kind``, ``offset`` (intents
        from where a text stands to where it fits), ``fits_first`` and ``fits_last`` (where it fits), ``gain`` (evidence
        in nats), ``correlation`` of lengths and contents, ``factor`` (how much longer than in the rest of the edition),
        ``first_document`` and ``last_document``, and ``says``, the finding in words. The kinds are ``"shifted"``;
        ``"moved"``, to another place of the corpus; ``"unrelated"``, fitting nothing; ``"placeholder"``, a note in
        place of each text; and ``"level"``, in step but longer or shorter than elsewhere, which is not an error.
    fit : DataFrame, editions × documents
        Mean evidence of the texts for being in step, in nats; more than 0 is better than chance.
    editions : DataFrame
        One row per edition: ``language``, ``correlation`` of its lengths with those of others, number of ``intents``,
        ``level`` (logarithm of the length beside that of the language in FLORES-200), ``level_z`` (the same in standard
        deviations, NaN if it cannot be judged), the numbers of findings ``n_…`` of each kind, and ``worst``, the
        largest gain.
    repeats : DataFrame
        Runs of texts that an edition has twice: ``first`` to ``last`` are equal to ``equals_first`` to ``equals_last``.
    copies : DataFrame
        Pairs of editions with equal texts; which was copied is not known.
    cells : DataFrame
        Single texts: ``what`` is ``"cut"`` (as long as the longest of the edition, to which others were cut),
        ``"no words"``, ``"script"`` (in another script than the edition) or ``"short"``; with ``severity`` and, where
        they are few, the ``text``.
    options : dict
        Arguments of the check.
    """

    passages: pd.DataFrame
    fit: pd.DataFrame
    editions: pd.DataFrame
    repeats: pd.DataFrame
    copies: pd.DataFrame
    cells: pd.DataFrame
    options: dict[str, Any]

    printing: ClassVar[Mapping[str, Any]] = {"index": False}

    plot = Drawn("plot_alignment")

    @property
    def is_clean(self) -> bool:
        """Whether nothing was found that is a warning."""
        counts = [self.passages["kind"].isin(WRONG), *((t["severity"] == "warning") for t in self._tables())]
        return not any(count.any() for count in counts) and not (self.editions["level_z"].abs() >= WARNED).any()

    def headline(self) -> str:
        """Return the findings in one sentence.

        Examples
        --------
        >>> import langdiff as ld
        >>> multitext = ld.corpora.synthesize(200, 3, seed=1).multitext
        >>> print(ld.corpora.check_alignment(multitext).headline())
        Alignment: nothing is wrong in 3 editions.
        """
        wrong = self.passages[self.passages["kind"].isin(WRONG)]
        counts = wrong["edition"].value_counts()
        said = []
        if len(counts):
            named = ", ".join(f"{edition} {count}" for edition, count in counts.iloc[:_NAMED].items())
            more = ", …" if len(counts) > _NAMED else ""
            have = "have passages that do" if len(counts) > 1 else "has passages that do"
            said.append(f"{len(counts)} {have} not fit ({named}{more})")
        repeats, copies, cells = (table[table["severity"] == "warning"] for table in self._tables())
        for table, *phrase in (
            (cells[cells["what"] == "cut"], "is cut off", "are cut off"),
            (cells[cells["what"] == "no words"], "is without words in places", "are without words in places"),
            (cells[cells["what"] == "script"], "is in two scripts", "are in two scripts"),
            (repeats, "repeats passages", "repeat passages"),
        ):
            if len(names := table["edition"].unique()):
                said.append(_some(names, phrase[len(names) > 1]))
        if n_pairs := len(copies):
            said.append(f"{n_pairs} pair{'s' * (n_pairs > 1)} of editions share{'s' * (n_pairs == 1)} texts")
        short = self.editions.index[self.editions["level_z"].abs() >= WARNED]
        if len(short):
            said.append(_some(short, "of unusual length"))
        n = len(self.editions)
        return (
            f"Alignment: of {n} editions {', '.join(said)}."
            if said
            else f"Alignment: nothing is wrong in {n} editions."
        )

    def applied(self, multitext: Multitext, kinds: Iterable[str] = APPLIED) -> Multitext:
        """Return a multitext without the texts that do not belong where they stand.

        Parameters
        ----------
        multitext : Multitext
            The multitext that was checked, or some of its editions.
        kinds : iterable of str
            Findings to leave out: kinds of passages, ``"repeated"``, ``"no words"`` or ``"cut"``. Of the runs repeated,
            warnings alone count, and of two equal ones that which fits less.

        Returns
        -------
        Multitext
            The same with these cells missing; its table `skipped` has a row for each, and `left_out` one per passage.

        Raises
        ------
        ConfigError
            If a kind is unknown.
        DataError
            If the multitext lacks intents where a finding begins or ends.

        Examples
        --------
        >>> import langdiff as ld
        >>> multitext = ld.corpora.synthesize(200, 3, seed=1).multitext
        >>> ld.corpora.check_alignment(multitext).applied(multitext)
        Multitext: 200 intents × 3 editions (3 languages), 0 of 600 cells missing
        """
        kinds = list(kinds)
        if unknown := [kind for kind in kinds if kind not in _FOUND]:
            raise ConfigError(f"kinds: {listing(unknown)} cannot be left out; there are {listing(_FOUND, most=9)}.")
        presence = multitext.presence.copy()
        skipped, left_out = [], []
        for edition, first, last, why in self._faulty(kinds):
            if edition not in presence:
                continue
            ends = multitext.intents.get_indexer(pd.Index([first, last]))
            if (ends < 0).any():
                raise DataError(
                    f"there is no intent {first!r} or {last!r}; check the alignment of this multitext anew."
                )
            own = presence[edition].to_numpy().copy()
            gone = [row for row in range(ends[0], ends[1] + 1) if own[row]]
            own[gone] = False
            presence[edition] = own
            file = str(multitext.edition_info["path"].get(edition, "")) if "path" in multitext.edition_info else ""
            skipped += [(edition, file, None, multitext.intents[row], why) for row in gone]
            if gone:
                what = f"{len(gone):,} text{'s' * (len(gone) > 1)} ({in_words(first, last)})"
                left_out.append((edition, "text", what, why))
        if not skipped:
            return multitext
        rows = pd.DataFrame(skipped, columns=list(multitext.skipped), dtype=object).astype({"line": "Int64"})
        whats = pd.DataFrame(left_out, columns=list(LEFT_OUT_COLUMNS), dtype=object)
        return replace(
            multitext,
            presence=presence,
            skipped=pd.concat([multitext.skipped, rows], ignore_index=True) if len(multitext.skipped) else rows,
            left_out=pd.concat([multitext.left_out, whats], ignore_index=True) if len(multitext.left_out) else whats,
        )

    def _faulty(self, kinds: list[str]) -> Iterator[tuple[str, str, str, str]]:
        """Yield the edition, the first and the last intent and the reason for each passage to be left out."""
        for row in rows_of(self.passages[self.passages["kind"].isin(kinds)]):
            yield row.edition, row.first, row.last, f"does not fit: {row.says}"
        if "repeated" in kinds:
            for row in rows_of(self.repeats[self.repeats["severity"] == "warning"]):
                yield row.edition, row.first, row.last, f"repeats {in_words(row.equals_first, row.equals_last)}"
        for row in rows_of(self.cells[self.cells["what"].isin(kinds)]):
            why = "is as long as the longest texts, to which others were cut" if row.what == "cut" else "has no words"
            yield row.edition, row.intent, row.intent, why

    def _tables(self) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
        return self.repeats, self.copies, self.cells

    def _lines(self) -> Iterator[str]:
        yield self.headline()
        if majority := self.options.get("majority", ""):
            yield majority

    def tables(self) -> list[Shown]:
        """Return the passages, and the findings as lines, the worst edition first."""
        found = [Shown(self._table(), "passages", printing=self.printing)] if len(self.passages) else []
        order = self.editions.sort_values("worst", ascending=False, kind="stable").index
        for edition in map(str, order):
            if lines := [f"  {line}" for line in self.findings(edition)]:
                found.append(Shown(notes=(f"{edition} ({self._about(edition)})", *lines)))
        if notes := [f"  {line}" for line in _copied(self.copies)]:
            found.append(Shown(notes=("Equal texts of two editions (which was copied is not known)", *notes)))
        return found

    def findings(self, edition: str) -> Iterator[str]:
        """Yield what was found in an edition, one line each.

        Parameters
        ----------
        edition : str
            Name of the edition.
        """
        row = self.editions.loc[edition]
        if abs(row["level_z"]) >= NOTED:
            percent = 100 * abs(np.expm1(row["level"]))
            longer = "longer" if row["level"] > 0 else "shorter"
            asked = ": is part of every sentence left out?" if row["level_z"] <= -WARNED else "."
            yield f"{percent:.0f} % {longer} than its language is elsewhere{asked}"
        own = self.passages[self.passages["edition"] == edition]
        yield from own["says"]
        for repeat in rows_of(self.repeats[self.repeats["edition"] == edition]):
            yield _repeated(repeat)
        cells = self.cells[self.cells["edition"] == edition]
        for what, group in cells.groupby("what", sort=False):
            yield _said_of_cells(str(what), group, self._n_texts(edition))

    def warnings(self) -> Iterator[tuple[str, str]]:
        """Yield each warning that is about an edition or single texts, with its edition."""
        for edition, row in self.editions.iterrows():
            if abs(row["level_z"]) >= WARNED:
                yield str(edition), next(self.findings(str(edition)))
        for repeat in rows_of(self.repeats[self.repeats["severity"] == "warning"]):
            yield repeat.edition, _repeated(repeat)
        cells = self.cells[self.cells["severity"] == "warning"]
        for edition, own in cells.groupby("edition", sort=False):
            for what, group in own.groupby("what", sort=False):
                yield str(edition), _said_of_cells(str(what), group, self._n_texts(str(edition)))
        copies = self.copies[self.copies["severity"] == "warning"]
        for edition, line in zip(copies["edition"], _copied(copies), strict=True):
            yield edition, line

    def _about(self, edition: str) -> str:
        row = self.editions.loc[edition]
        return f"{row['language']}, correlation {row['correlation']:.2f}, {self._n_texts(edition):,} texts"

    def _n_texts(self, edition: str) -> int:
        return int(self.editions["intents"].to_dict()[edition])

    def _table(self) -> pd.DataFrame:
        return self.passages[["edition", "kind", "says", "gain"]].round({"gain": 1})

    def __repr__(self) -> str:
        """Return the findings in one sentence."""
        return self.headline()


def _some(names: Iterable[object], what: str) -> str:
    names = list(names)
    return f"{len(names)} {what} ({', '.join(map(str, names[:_NAMED]))}{', …' if len(names) > _NAMED else ''})"


def _repeated(row: Any) -> str:
    where, there = in_words(row.first, row.last), in_words(row.equals_first, row.equals_last)
    return f"{where} ({row.texts} texts) is equal to {there}{'' if row.severity == 'warning' else ', a note'}"


def _copied(copies: pd.DataFrame) -> list[str]:
    return [
        f"{row.edition} and {row.other}: {row.equal:,} of {row.texts:,} texts are equal, at most {row.longest_run} in "
        f"succession ({in_words(row.first, row.last)}){'' if row.severity == 'warning' else ', a note'}"
        for row in rows_of(copies)
    ]


def _said_of_cells(what: str, cells: pd.DataFrame, n_texts: int) -> str:
    some = ", ".join(
        in_words(row.intent, row.intent) + (f" {row.text!r:.60}" if isinstance(row.text, str) and row.text else "")
        for row in cells.iloc[:5].itertuples()
    ) + (", …" if len(cells) > 5 else "")
    match what:
        case "cut":
            return f"{len(cells):,} of {n_texts:,} texts are exactly as long as the longest: cut off ({some})"
        case "no words":
            return f"{len(cells)} without words, where others have some: {some}"
        case "script":
            return f"{len(cells)} in another script: {some}"
        case _:
            return f"{len(cells)} very short, a note: {some}"
