"""Subwords that a tagger learns vectors of: byte-pair units of the training part."""

from collections.abc import Sequence

import torch

from langdiff.lm.units.alphabet import Alphabet
from langdiff.lm.units.bpe import BPE_RATIO, BPEUnits
from langdiff.parallelism.taggers.inputs import Inputs


class LearnedSubwords:
    """Ids of the subwords of each word.

    Parameters
    ----------
    units : BPEUnits
        Byte-pair units; each word is cut on its own.
    """

    def __init__(self, units: BPEUnits) -> None:
        self.units = units
        self.size = units.size
        self.width = None  # a setting
        self._cut: dict[str, list[int]] = {}

    def prepare(self, sections: Sequence[Sequence[str]]) -> list[Inputs]:
        """Return the ids of the subwords of each section."""
        return [self._inputs(words) for words in sections]

    def _inputs(self, words: Sequence[str]) -> Inputs:
        cut = [self._units_of(word) for word in words]
        ids = torch.tensor([number for units in cut for number in units])
        owners = torch.arange(len(words)).repeat_interleave(torch.tensor([len(units) for units in cut]))
        return Inputs(len(words), ids=ids, owners=owners)

    def _units_of(self, word: str) -> list[int]:
        if word not in self._cut:
            alphabet = self.units.alphabet
            text = alphabet.apply(word).strip() or alphabet.replacement  # every word has a unit
            self._cut[word] = self.units.encode(text).tolist()
        return self._cut[word]


def learn_subwords(sections: Sequence[Sequence[str]], ratio: float | None) -> LearnedSubwords:
    """Learn byte-pair units from a training part.

    Parameters
    ----------
    sections : sequence of sequence of str
        Words of each section.
    ratio : float or None
        Merges per distinct word, by default 0.4.

    Returns
    -------
    LearnedSubwords

    Raises
    ------
    ConfigError
        If the ratio is negative.
    """
    texts = [" ".join(words) for words in sections]
    alphabet = Alphabet.from_texts(texts)
    units = BPEUnits.train(
        [alphabet.apply(text) for text in texts], alphabet, ratio=BPE_RATIO if ratio is None else ratio
    )
    return LearnedSubwords(units)
