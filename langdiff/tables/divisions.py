"""Divisions of a multitext into parts for training, tuning and measuring, once or in several folds."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import pandas as pd

from langdiff.base.result import Result
from langdiff.errors import DataError, listing
from langdiff.tables.multitext import Multitext, pick_texts
from langdiff.tables.text_sources import read_intents


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
