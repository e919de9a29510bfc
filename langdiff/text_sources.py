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
        texts = self.source.read()
        return pd.Series([self.function(text) for text in texts], index=texts.index, dtype=object)
