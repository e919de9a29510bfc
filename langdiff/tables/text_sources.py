"""Where the text of an edition comes from."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import pandas as pd


class TextSource(Protocol):
    """Where the text of one edition comes from; picklable, so that workers can read it."""

    def read(self) -> pd.Series:
        """Return the texts present (str), indexed by intent."""
        ...


@dataclass(frozen=True)
class InMemoryText:
    """A source whose texts are held in memory."""

    texts: pd.Series

    def read(self) -> pd.Series:
        """Return the texts."""
        return self.texts


@dataclass(frozen=True)
class MappedText:
    """A source whose texts pass through a function when they are read."""

    source: TextSource
    function: Callable[[str], str]

    def read(self) -> pd.Series:
        """Return the texts after the function."""
        return self.map(self.source.read())

    def map(self, texts: pd.Series) -> pd.Series:
        """Return what the function makes of texts."""
        return pd.Series([self.function(text) for text in texts], index=texts.index, dtype=object)


def read_intents(source: TextSource, wanted: pd.Index) -> pd.Series:
    """Return the texts of some intents, as far as the source has them; only these pass through functions.

    Examples
    --------
    >>> source = MappedText(InMemoryText(pd.Series({"1": "a dog", "2": "a cat"})), str.upper)
    >>> read_intents(source, pd.Index(["2", "3"])).to_dict()
    {'2': 'A CAT'}
    """
    if isinstance(source, MappedText):
        return source.map(read_intents(source.source, wanted))
    texts = source.read()
    return texts[texts.index.isin(wanted)]
