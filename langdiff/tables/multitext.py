"""Multitexts: the intents that each edition has, the sources of their texts, and divisions into parts and folds."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from html import escape
from itertools import pairwise
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd

from langdiff.base.cells import check_names
from langdiff.base.result import Drawn, Result
from langdiff.base.types import Booleans, Integers
from langdiff.errors import ConfigError, DataError, listing
from langdiff.tables.crossing import chosen_names
from langdiff.tables.text_features import Measured, TextFeatures, measure
from langdiff.tables.text_sources import (
    InMemoryText,
    MappedText,
    TextSource,
    explain_left_out,
    nothing_left_out,
    read_intents,
)

FAULT_COLUMNS = ("edition", "file", "line", "intent", "fault")


def _nothing_skipped() -> pd.DataFrame:
    return pd.DataFrame(columns=list(FAULT_COLUMNS), dtype=object).astype({"line": "Int64"})


@dataclass(frozen=True, kw_only=True)
class MultitextRecord:
    """A multitext with all its texts, in the form in which results save it.

    Attributes
    ----------
    texts : mapping from edition to tuple of str
        Texts of the intents that the edition has, in order.
    presence, edition_info, intent_info, skipped, left_out
        See `Multitext`.
    """

    texts: Mapping[str, tuple[str, ...]]
    presence: pd.DataFrame
    edition_info: pd.DataFrame
    intent_info: pd.DataFrame
    skipped: pd.DataFrame
    left_out: pd.DataFrame


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class Multitext:
    """The same content in many languages: intents (rows) expressed in editions (columns).

    Only the catalogue is held in memory; texts are read when needed. A multitext never changes:
    `sel`, `between`, `dropna` and `map_text` return another one.

    Attributes
    ----------
    presence : DataFrame of bool, shape (I, J)
        Whether edition j (column) has intent i (row).
    edition_info : DataFrame, J rows
        Properties of each edition; always a column ``language`` (ISO 639-3 where known).
    intent_info : DataFrame, I rows
        Properties of each intent, such as the ``document``, or ``book`` and ``chapter``, that it belongs to, or its
        ``original_language``.
    sources : mapping from edition to TextSource
        Sources of the texts.
    skipped : DataFrame
        What was left out because files are faulty (``on_error="skip"``), one row per fault: ``edition``, ``file``,
        ``line`` (NA where the whole file is meant), ``intent`` (NaN where not known) and ``fault``. Smaller multitexts
        made of this one keep all rows.
    left_out : DataFrame
        The same, one row per edition and level, whole files first: ``edition`` (NaN where a file has several),
        ``level`` (``"file"``: all that the file has of the edition; ``"book"``, ``"rest"`` of the file, ``"chapter"``,
        ``"text"``; ``"repaired"`` and ``"doubted"`` texts are still there), ``what`` (the file; or how many texts, and
        the first of them) and ``why`` (the first fault, and the number of faults; or the kind of doubt).
    features : TextFeatures, optional
        Lengths and hashes of the texts, and of others, kept while their files were read; see `measured`.

    Raises
    ------
    DataError
        If editions or intents are named twice, names of editions, languages or columns have control characters, or
        the tables do not fit together.

    Examples
    --------
    >>> import langdiff as ld
    >>> frame = pd.DataFrame({"eng": ["a dog", "a cat"], "deu": ["ein Hund", None]}, index=["1", "2"])
    >>> multitext = ld.read_frame(frame)
    >>> multitext
    Multitext: 2 intents × 2 editions (2 languages), 1 of 4 cells missing
    >>> multitext.dropna().text("deu").to_dict()
    {'1': 'ein Hund'}
    """

    presence: pd.DataFrame
    edition_info: pd.DataFrame
    intent_info: pd.DataFrame
    sources: Mapping[str, TextSource]
    skipped: pd.DataFrame = field(default_factory=_nothing_skipped)
    left_out: pd.DataFrame = field(default_factory=nothing_left_out)
    features: TextFeatures | None = None

    def __post_init__(self) -> None:
        """Check that names are unique and that the tables have the same intents and editions."""
        for what, names in (("intent", self.intents), ("edition", self.editions)):
            if not names.is_unique:  # known once for all multitexts that share an index
                twice = names[names.duplicated()].unique()
                raise DataError(f"{len(twice)} {what}(s) named twice: {listing(twice)}. Names must be unique.")
        check_names(self.editions, "edition")
        check_names([*self.edition_info, *self.intent_info], "column")
        if not self.editions.equals(self.edition_info.index):
            raise DataError("edition_info must have one row per edition, in the order of presence.columns.")
        if not self.intents.equals(self.intent_info.index):
            raise DataError("intent_info must have one row per intent, in the order of presence.index.")
        if self.intent_info.columns.has_duplicates:
            twice = self.intent_info.columns[self.intent_info.columns.duplicated()].unique()
            raise DataError(f"intent_info has several columns {listing(twice)}; keep one.")
        if "language" not in self.edition_info:
            raise DataError("edition_info needs a column 'language' (ISO 639-3 where known).")
        check_names(self.edition_info["language"], "language")
        without = [edition for edition in self.editions if edition not in self.sources]
        if without:
            raise DataError(f"no text source for {len(without)} edition(s): {listing(without)}.")

    @property
    def intents(self) -> pd.Index:
        """Ids of the intents, in order."""
        return self.presence.index

    @property
    def editions(self) -> pd.Index:
        """Names of the editions, in order."""
        return self.presence.columns

    def text(self, edition: str) -> pd.Series:
        """Read the texts of one edition.

        Parameters
        ----------
        edition : str
            Name of the edition, one of `editions`.

        Returns
        -------
        Series of str
            Indexed by intent, in the multitext's order; missing intents are left out.

        Raises
        ------
        DataError
            If the edition is unknown, or its file no longer holds what was catalogued.

        Examples
        --------
        >>> import langdiff as ld
        >>> ld.read_frame(pd.DataFrame({"eng": ["a dog", "a cat"]}, index=["1", "2"])).text("eng").to_dict()
        {'1': 'a dog', '2': 'a cat'}
        """
        chosen_names("edition", [edition], self.editions)
        wanted = self.intents[self.presence[edition].to_numpy()]
        return pick_texts(edition, wanted, read_intents(self.sources[edition], wanted))

    def sel(self, *, intents: Iterable[Any] | None = None, editions: Iterable[str] | None = None) -> "Multitext":
        """Return the multitext of some intents and editions, in the order given.

        Parameters
        ----------
        intents, editions : iterable, optional
            Names to keep; all by default.

        Returns
        -------
        Multitext
            The smaller multitext; texts come from the same sources.

        Raises
        ------
        DataError
            If a name is unknown or given twice.

        Examples
        --------
        >>> import langdiff as ld
        >>> multitext = ld.read_frame(pd.DataFrame({"eng": ["a", "b"], "deu": ["A", "B"]}, index=["1", "2"]))
        >>> multitext.sel(intents=["2"], editions=["deu", "eng"]).to_frame().values.tolist()
        [['B', 'b']]
        """
        places = (
            slice(None)
            if wanted is None
            else known.get_indexer(pd.Index(chosen_names(what, wanted, known), tupleize_cols=False))
            for what, wanted, known in (("intent", intents, self.intents), ("edition", editions, self.editions))
        )
        return self._take(*places)

    def _take(self, rows: Integers | slice, columns: Integers | slice) -> "Multitext":
        """Return the multitext of the intents and editions at given positions.

        This is faster than looking up tens of thousands of names; with ``slice(None)`` the index stays as it is, and is
        known to be unique.
        """
        return replace(
            self,
            presence=self.presence.iloc[rows, columns],
            edition_info=self.edition_info.iloc[columns],
            intent_info=self.intent_info.iloc[rows],
            sources={edition: self.sources[edition] for edition in self.editions[columns]},
        )

    def between(self, first: str | None = None, last: str | None = None) -> "Multitext":
        """Return the multitext of the intents from one to another, both included, in the multitext's order.

        Where all intents are sorted names of one length, such as the verse ids of a Bible, `first` and `last` need not
        be among them.

        Parameters
        ----------
        first, last : str, optional
            The first and the last intent to keep; by default those of the multitext.

        Returns
        -------
        Multitext
            The smaller multitext; texts come from the same sources.

        Raises
        ------
        DataError
            If `first` or `last` is not an intent, or there is no intent from one to the other.

        Examples
        --------
        >>> import langdiff as ld
        >>> verses = pd.DataFrame({"eng": ["a", "b", "c"]}, index=["39004006", "40001001", "66022021"])
        >>> list(ld.read_frame(verses).between(first="40000000").intents)
        ['40001001', '66022021']
        """
        places = [0, len(self)]
        for end, name in enumerate((first, last)):
            if name is None:
                continue
            if name in self.intents:
                places[end] = int(self.intents.get_indexer(pd.Index([name]))[0]) + end
            elif self.intents.is_monotonic_increasing and {len(str(intent)) for intent in self.intents} == {len(name)}:
                places[end] = int(self.intents.searchsorted(name))
            else:
                raise DataError(f"{name!r} is not an intent. There are {listing(self.intents)}.")
        kept = self.intents[slice(*places)]
        if not len(kept):
            ends = f"; they go from {self.intents[0]!r} to {self.intents[-1]!r}" if len(self) else ""
            raise DataError(f"no intent from {first!r} to {last!r}{ends}.")
        return self.sel(intents=kept)

    def dropna(self) -> "Multitext":
        """Return the multitext of the intents that every edition has.

        Returns
        -------
        Multitext
            A multitext without missing cells.

        Examples
        --------
        >>> import langdiff as ld
        >>> ld.read_frame(pd.DataFrame({"eng": ["a", "b"], "deu": ["A", None]}, index=["1", "2"])).dropna()
        Multitext: 1 intents × 2 editions (2 languages), 0 of 2 cells missing
        """
        return self._take(np.flatnonzero(self.presence.to_numpy().all(axis=1)), slice(None))

    def map_text(self, function: Callable[[str], str]) -> "Multitext":
        """Return the multitext with a function applied to every text when it is read.

        Parameters
        ----------
        function : callable
            Function that takes and returns a str. Worker processes can read the texts only if it is
            defined in a module.

        Returns
        -------
        Multitext
            A multitext of the same cells; nothing is read yet.

        Examples
        --------
        >>> import langdiff as ld
        >>> multitext = ld.read_frame(pd.DataFrame({"eng": ["Go!"]}, index=["1"]))
        >>> multitext.map_text(str.upper).text("eng").tolist()
        ['GO!']
        """
        sources = {name: MappedText(source, function) for name, source in self.sources.items()}
        return replace(self, sources=sources, features=None)

    def to_frame(self) -> pd.DataFrame:
        """Read all texts into a frame.

        Returns
        -------
        DataFrame of str, shape (I, J)
            Intents × editions; NaN where a text is missing.

        Examples
        --------
        >>> import langdiff as ld
        >>> ld.read_frame(pd.DataFrame({"eng": ["a dog"], "deu": ["ein Hund"]}, index=["1"])).to_frame()
               eng       deu
        intent
        1    a dog  ein Hund
        """
        frame = pd.DataFrame(index=self.intents.rename("intent"), dtype=object)
        return frame.assign(**{edition: self.text(edition) for edition in self.editions})

    def measured(self) -> TextFeatures:
        """Return lengths and hashes of the texts, reading only texts that were not measured when they were catalogued.

        Returns
        -------
        TextFeatures
            Features of the cells, in the order of the multitext.
        """
        if self.features is not None:
            return self.features.sel(self.presence)
        of_edition = {edition: measure(self.text(edition)) for edition in self.editions}
        return TextFeatures.of(self.presence, of_edition)

    def edition_sizes(self) -> pd.DataFrame:
        """Read all texts and return the size of each edition.

        Returns
        -------
        DataFrame
            One row per edition: ``language`` and, where known, ``family``; the numbers of ``intents``, of ``words``
            (what stands between white space) and of ``characters`` (code points).

        Examples
        --------
        >>> import langdiff as ld
        >>> ld.read_frame(pd.DataFrame({"eng": ["a dog", "a cat"]}, index=["1", "2"])).edition_sizes()
                language  intents  words  characters
        edition
        eng          eng        2      4          10
        """
        rows = []
        for edition in self.editions:
            texts = self.text(edition)
            rows.append((len(texts), sum(len(t.split()) for t in texts), sum(map(len, texts))))
        sizes = pd.DataFrame(rows, index=self.editions, columns=["intents", "words", "characters"])
        kept = [name for name in ("language", "family") if name in self.edition_info]
        return pd.concat([self.edition_info[kept], sizes], axis=1).rename_axis("edition")

    def describe(self) -> pd.Series:
        """Read all texts and count the whole corpus (Mielke et al. 2019, Table 1).

        Returns
        -------
        Series of int
            ``editions``, ``languages``, ``families``, ``intents``, ``cells`` (texts that are not missing), ``words``,
            ``characters`` and ``left_out`` (rows of the attribute of this name, which says what and why).

        Examples
        --------
        >>> import langdiff as ld
        >>> ld.read_frame(pd.DataFrame({"eng": ["a dog", "a cat"]}, index=["1", "2"])).describe()["words"]
        np.int64(4)
        """
        sizes = self.edition_sizes()
        counts = {
            "editions": len(self.editions),
            "languages": sizes["language"].nunique(),
            "families": sizes["family"].nunique() if "family" in sizes else 0,
            "intents": len(self.intents),
            "cells": int(sizes["intents"].sum()),
            "words": int(sizes["words"].sum()),
            "characters": int(sizes["characters"].sum()),
            "left_out": len(self.left_out),
        }
        return pd.Series(counts, name="count")

    def to_record(self) -> MultitextRecord:
        """Read all texts into a record that can be saved.

        Returns
        -------
        MultitextRecord
            Catalogue of the multitext, with the texts of every edition.
        """
        tables = {each.name: getattr(self, each.name) for each in fields(MultitextRecord) if each.name != "texts"}
        return MultitextRecord(texts={edition: tuple(self.text(edition)) for edition in self.editions}, **tables)

    @classmethod
    def from_record(cls, record: MultitextRecord) -> "Multitext":
        """Return the multitext of a record, with its texts held in memory.

        Parameters
        ----------
        record : MultitextRecord
            Catalogue and texts of a multitext, from `to_record`.

        Returns
        -------
        Multitext
            Multitext with the same intents, editions and texts.
        """
        tables = {each.name: getattr(record, each.name) for each in fields(record) if each.name != "texts"}
        sources = {}
        for edition, texts in record.texts.items():
            intents = record.presence.index[record.presence[edition].to_numpy()]
            sources[edition] = InMemoryText(pd.Series(texts, index=intents, dtype=object))
        return cls(sources=sources, **tables)

    plot_presence = Drawn("plot_presence")

    def __len__(self) -> int:
        """Return the number of intents."""
        return len(self.intents)

    def __repr__(self) -> str:
        """Return the numbers of intents, editions, languages and missing cells in one line."""
        cells = self.presence.size
        missing = cells - int(self.presence.to_numpy().sum())
        languages = self.edition_info["language"].nunique()
        skipped = f"; {len(self.skipped):,} fault(s) skipped" if len(self.skipped) else ""
        return (
            f"Multitext: {len(self):,} intents × {len(self.editions):,} editions "
            f"({languages:,} languages), {missing:,} of {cells:,} cells missing{skipped}"
        )

    def _repr_html_(self) -> str:
        have = self.presence.to_numpy().sum(axis=0)
        table = self.edition_info.assign(intents=have).to_html(escape=True, max_rows=20)
        faulty = f"<pre>{escape(explain_left_out(self.left_out))}</pre>" if len(self.left_out) else ""
        return f"<p>{self!r}</p>{table}{faulty}"


def check_multitext(given: object) -> None:
    """Check that an argument is a multitext; the error explains how to get one from a path or a frame."""
    if isinstance(given, Multitext):
        return
    advice = ""
    if isinstance(getattr(given, "multitext", None), Multitext):  # a selection
        advice = " Give its attribute multitext."
    elif isinstance(given, str | PathLike):
        advice = f" langdiff.read_multitext({str(given)!r}) reads one."
    elif isinstance(given, pd.DataFrame):
        advice = " langdiff.read_frame makes one of a frame of texts."
    raise ConfigError(f"a Multitext is needed, not {type(given).__name__}.{advice}")


def pick_texts(edition: str, wanted: pd.Index, texts: pd.Series) -> pd.Series:
    """Return those texts that belong to catalogued intents."""
    gone = wanted.difference(texts.index, sort=False)
    if len(gone):
        raise DataError(
            f"edition {edition!r}: {len(gone)} intents catalogued before are gone, "
            f"the first {gone[0]!r}. The file has changed; read the multitext again."
        )
    return texts.reindex(wanted).rename(edition).rename_axis("intent")


def multitext_from_sources(
    sources: Mapping[str, TextSource],
    present: Mapping[str, Iterable[Any]],
    *,
    intents: Iterable[Any],
    edition_info: pd.DataFrame,
    intent_info: pd.DataFrame | None = None,
    measured: Mapping[str, Measured] | None = None,
) -> Multitext:
    """Return a multitext from the intents that each edition has."""
    rows = pd.Index(list(intents), name="intent")
    matrix = np.zeros((len(rows), len(sources)), dtype=bool)
    in_order: dict[str, Measured] | None = None if measured is None else {}
    for j, edition in enumerate(sources):
        wanted = pd.Index(list(present[edition]))
        places = rows.get_indexer(wanted)
        if measured is not None and in_order is not None:
            in_order[edition] = measured[edition].take(np.argsort(places))
        if (places < 0).any():
            raise DataError(f"edition {edition!r} has intents that are not listed: {listing(wanted[places < 0])}.")
        matrix[places, j] = True
    return multitext_from_matrix(
        sources, matrix, intents=rows, edition_info=edition_info, intent_info=intent_info, measured=in_order
    )


def multitext_from_matrix(
    sources: Mapping[str, TextSource],
    matrix: Booleans,
    *,
    intents: Iterable[Any],
    edition_info: pd.DataFrame,
    intent_info: pd.DataFrame | None = None,
    measured: Mapping[str, Measured] | None = None,
) -> Multitext:
    """Return a multitext from a matrix of the intents present in each edition.

    Shapes: matrix (I, J).
    """
    rows = pd.Index(list(intents), name="intent")
    columns = pd.Index(list(sources), name="edition")
    presence = pd.DataFrame(matrix, index=rows, columns=columns, copy=False)
    return Multitext(
        presence=presence,
        edition_info=edition_info.reindex(columns),
        intent_info=pd.DataFrame(index=rows) if intent_info is None else intent_info.reindex(rows),
        sources=dict(sources),
        features=None if measured is None else TextFeatures.of(presence, measured),
    )


@dataclass(frozen=True, kw_only=True)
class Parts:
    """A multitext divided into parts for training, for tuning and for measuring.

    Attributes
    ----------
    train, dev, test : Multitext
        Disjoint sets of intents over the same editions; `train` and `dev` have no missing cell.
    """

    train: Multitext
    dev: Multitext
    test: Multitext

    @property
    def editions(self) -> pd.Index:
        """Names of the editions, in order."""
        return self.train.editions

    @property
    def measured(self) -> Multitext:
        """Texts whose surprisals are computed: `test`."""
        return self.test

    def sel(self, editions: Iterable[str]) -> "Parts":
        """Return the division with only some editions, in the order given.

        Parameters
        ----------
        editions : iterable of str
            Names of the editions to keep.

        Returns
        -------
        Parts
            The same division of the smaller multitext.

        Raises
        ------
        DataError
            If a name is unknown or given twice.

        Examples
        --------
        >>> import langdiff as ld
        >>> multitext = ld.read_frame(pd.DataFrame({"eng": ["a"] * 66, "deu": ["b"] * 66, "fra": ["c"] * 66}))
        >>> list(ld.split(multitext).sel(["fra", "eng"]).editions)
        ['fra', 'eng']
        """
        names = list(editions)
        train, dev, test = (part.sel(editions=names) for part in (self.train, self.dev, self.test))
        return Parts(train=train, dev=dev, test=test)

    def summary(self) -> str:
        """Return the number of intents in each part, as text.

        Returns
        -------
        str
            One line with the three numbers.

        Examples
        --------
        >>> import langdiff as ld
        >>> multitext = ld.read_frame(pd.DataFrame({"eng": ["a", "b", "c"]}, index=["1", "2", "3"]))
        >>> train, dev, test = (multitext.sel(intents=[name]) for name in multitext.intents)
        >>> Parts(train=train, dev=dev, test=test).summary()
        'train 1, dev 1, test 1 intents'
        """
        return f"train {len(self.train):,}, dev {len(self.dev):,}, test {len(self.test):,} intents"


def texts_by_part(parts: Parts, edition: str) -> dict[str, pd.Series]:
    """Return an edition's texts for every part, reading its file once.

    Examples
    --------
    >>> import langdiff as ld
    >>> multitext = ld.read_frame(pd.DataFrame({"eng": ["a", "b", "c"]}, index=["1", "2", "3"]))
    >>> train, dev, test = (multitext.sel(intents=[name]) for name in multitext.intents)
    >>> texts = texts_by_part(Parts(train=train, dev=dev, test=test), "eng")
    >>> {part: list(of_part) for part, of_part in texts.items()}
    {'train': ['a'], 'dev': ['b'], 'test': ['c']}
    """
    each = {"train": parts.train, "dev": parts.dev, "test": parts.test}
    source = parts.train.sources[edition]
    if any(part.sources[edition] is not source for part in each.values()):
        return {name: part.text(edition) for name, part in each.items()}
    wanted = {name: part.intents[part.presence[edition].to_numpy()] for name, part in each.items()}
    texts = read_intents(source, wanted["train"].append([wanted["dev"], wanted["test"]]))
    return {name: pick_texts(edition, intents, texts) for name, intents in wanted.items()}


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Folds(Result):
    """Cross-validation folds: each intent is measured once, by models trained on other groups.

    Attributes
    ----------
    multitext : Multitext
        All intents that are measured, in order.
    parts : tuple of Parts
        Train, dev and test of each fold; the tests are disjoint and together all intents.
    group : Series
        Group of every intent, such as its document; no group is in two parts of a fold.

    Raises
    ------
    DataError
        If there are fewer than two folds, or their tests are not the intents of the multitext.
    """

    multitext: Multitext
    parts: tuple[Parts, ...]
    group: pd.Series

    def __post_init__(self) -> None:
        """Check that every intent is measured once."""
        if len(self.parts) < 2:
            raise DataError(f"at least two folds are needed, got {len(self.parts)}.")
        for earlier, later in pairwise(self.parts):
            if not earlier.test.editions.equals(later.test.editions):
                raise DataError("all folds must have the same editions, in the same order.")
        tested = pd.Index([intent for parts in self.parts for intent in parts.test.intents])
        twice = tested[tested.duplicated()]
        if len(twice):
            raise DataError(f"{len(twice):,} intent(s) are in the test part of several folds: {listing(twice)}.")
        if len(tested) != len(self.multitext) or len(tested.difference(self.multitext.intents)):
            raise DataError("the test parts of all folds together must be the intents of the multitext.")
        if not self.group.index.equals(self.multitext.intents):
            raise DataError("group must have one row per intent of the multitext, in the same order.")

    @property
    def editions(self) -> pd.Index:
        """Names of the editions, in order."""
        return self.multitext.editions

    @property
    def fold(self) -> pd.Series:
        """Fold in which each intent is measured, ``"1"``, ``"2"``, …, as text, in the order of the intents."""
        places = pd.concat(
            [pd.Series(str(number), index=parts.test.intents) for number, parts in enumerate(self.parts, 1)]
        )
        return places[self.multitext.intents].rename("fold")

    @property
    def measured(self) -> Multitext:
        """Texts whose surprisals are computed: all, with the column ``fold`` in their `intent_info`."""
        return replace(self.multitext, intent_info=self.multitext.intent_info.assign(fold=self.fold))

    def sel(self, editions: list[str]) -> "Folds":
        """Return the division with only some editions, in the order given.

        Parameters
        ----------
        editions : list of str
            Names of the editions to keep.

        Returns
        -------
        Folds
            The same division of the smaller multitext.

        Raises
        ------
        DataError
            If a name is unknown or given twice.
        """
        kept = tuple(parts.sel(editions) for parts in self.parts)
        return Folds(multitext=self.multitext.sel(editions=editions), parts=kept, group=self.group)

    def to_frame(self) -> pd.DataFrame:
        """Return the numbers of intents and groups in each fold.

        Returns
        -------
        DataFrame, one row per fold
            Numbers of intents in ``train``, ``dev`` and ``test``, and of the ``groups`` in ``test``.
        """
        rows = {
            str(number): {name: len(getattr(parts, name)) for name in ("train", "dev", "test")}
            | {"groups": self.group[parts.test.intents].nunique()}
            for number, parts in enumerate(self.parts, 1)
        }
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("fold")

    def _lines(self) -> Iterator[str]:
        sizes = self.to_frame()
        ranges = ", ".join(f"{name} {_range(sizes[name])}" for name in ("train", "dev", "test"))
        yield (
            f"{len(self.parts)} folds of {self.group.nunique():,} groups ({self.group.name}): all "
            f"{len(self.multitext):,} intents are measured; each fold has {ranges} intents"
        )

    def __repr__(self) -> str:
        """Return the numbers of intents and groups in one line."""
        return f"Folds: {next(self._lines())}"


def _range(numbers: pd.Series) -> str:
    least, most = int(numbers.min()), int(numbers.max())
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"
