"""Words that a tagger learns vectors of, and how those seen once teach it the vector of unknown words."""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch

from langdiff.base.types import Floats
from langdiff.parallelism.taggers.inputs import Inputs

UNKNOWN = 0  # id of all words that were not seen in training


class Vocabulary(NamedTuple):
    """Words of a training part by the frequency of their types.

    Attributes
    ----------
    words : tuple of str
        Types in the order of their first occurrence; word k has id k + 1, as 0 is that of unknown words.
    once : tuple of int
        Ids of the types that occur once.
    replacement : float
        Probability with which an occurrence of such a word is replaced in training, see `replacement_probability`.
    """

    words: tuple[str, ...]
    once: tuple[int, ...]
    replacement: float


def count_words(sections: Iterable[Sequence[str]]) -> Vocabulary:
    """Return the vocabulary of a training part.

    Examples
    --------
    >>> count_words([["a", "rose", "is", "a", "rose"], ["it", "is"]])
    Vocabulary(words=('a', 'rose', 'is', 'it'), once=(4,), replacement=0.14285714285714285)
    """
    counts = Counter(word for section in sections for word in section)
    once = tuple(number for number, count in enumerate(counts.values(), 1) if count == 1)
    twice = sum(count == 2 for count in counts.values())
    return Vocabulary(tuple(counts), once, replacement_probability(len(once), twice))


def replacement_probability(once: int, twice: int) -> float:
    r"""Return the probability with which an occurrence of a singleton becomes the unknown word.

    .. math:: \lambda = n_1 / (n_1 + 2 n_2)

    Parameters
    ----------
    once, twice : int
        Numbers of types seen once and seen twice.

    Returns
    -------
    float
        The probability; 0 if no type was seen once or twice.

    Examples
    --------
    >>> round(replacement_probability(7367, 1958), 4)
    0.6529
    """
    return once / (once + 2 * twice) if once else 0.0


class LearnedWords:
    """Ids of words, of which unknown ones share one.

    Parameters
    ----------
    words : tuple of str
        Known words.
    """

    def __init__(self, words: tuple[str, ...]) -> None:
        self.words = words
        self.size = len(words) + 1
        self.width = None  # a setting

    @cached_property
    def _id_of(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words, 1)}

    def prepare(self, sections: Sequence[Sequence[str]]) -> list[Inputs]:
        """Return the ids of the words of each section."""
        return [
            Inputs(len(words), ids=torch.tensor([self._id_of.get(word, UNKNOWN) for word in words]))
            for words in sections
        ]


class SingletonReplacement:
    """Replaces words seen once by the unknown word, each occurrence anew.

    Parameters
    ----------
    vocabulary : Vocabulary
        Vocabulary of the training part.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._chance: Floats = np.zeros(len(vocabulary.words) + 1)
        self._chance[list(vocabulary.once)] = vocabulary.replacement

    def __call__(self, inputs: Inputs, rng: np.random.Generator) -> Inputs:
        """Return the inputs of a section with some words replaced."""
        if inputs.ids is None:
            return inputs
        replaced = torch.from_numpy(rng.random(len(inputs.ids)) < self._chance[inputs.ids.numpy()])
        return inputs._replace(ids=inputs.ids.masked_fill(replaced, UNKNOWN))
