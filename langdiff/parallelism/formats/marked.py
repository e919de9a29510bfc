"""Branches that are marked by characters of a text, as branches of its words."""

import string
import warnings
from bisect import bisect_left
from dataclasses import dataclass, field

from langdiff.errors import LangdiffWarning, listing
from langdiff.parallelism.documents import Branch
from langdiff.parallelism.formats.branches import fault
from langdiff.parallelism.words import Word


@dataclass
class MarkedText:
    """Words of a text, and what is said about its branches.

    Attributes
    ----------
    file : str
        The file that marks the branches, for messages.
    words : list of Word
        Words of the text.
    """

    file: str
    words: list[Word]
    _cut: list[str] = field(default_factory=list)

    def branch(self, start: int, end: int, line: int, called: str) -> Branch:
        """Return the words of a branch; punctuation at its end is moved out, and a word that is cut belongs to it.

        Parameters
        ----------
        start, end : int
            Half-open span of characters.
        line : int
            Line of the file, for messages.
        called : str
            What the file calls the branch.

        Returns
        -------
        (int, int)
            Half-open span of words.

        Raises
        ------
        FaultsError
            If no word is left.
        """
        first = bisect_left(self.words, start, key=lambda word: word.end - 1)
        last = bisect_left(self.words, end, key=lambda word: word.start)
        while last > first and self.words[last - 1].token in string.punctuation:
            last -= 1
        if first >= last:
            raise fault(self.file, line, f"{called} has no words besides the punctuation at its end.")
        if self.words[first].start < start:
            self._cut.append(self.words[first].token)
        if self.words[last - 1].end > end:
            self._cut.append(self.words[last - 1].token)
        return first, last

    def warn(self) -> None:
        """Warn of words that branches cut."""
        if self._cut:
            what = f"{self.file}: {len(self._cut)} word(s) are cut by the end of a branch: {listing(self._cut)}."
            warnings.warn(f"{what} They count as words of the branch.", LangdiffWarning, stacklevel=4)
