"""A multitext divided into parts to learn from, to tune on and to measure."""

from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

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

    def sel(self, editions: Iterable[str]) -> "Parts":
        """Keep some editions, in the order given.

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
        """Return how many intents each part has.

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
    """Return the texts of an edition in all parts, for which its file is read once.

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
