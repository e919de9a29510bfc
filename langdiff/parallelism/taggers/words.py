"""Learned vectors of words, of lemmata and of subwords."""

import importlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
import torch

from langdiff.base.types import Floats
from langdiff.errors import ConfigError, MissingExtraError
from langdiff.lm.units.alphabet import Alphabet
from langdiff.lm.units.bpe import BPE_RATIO, BPEUnits
from langdiff.parallelism.taggers.inputs import Inputs

Lemmatizer = Callable[[str], str]

# u for the consonant v, as in critical editions of Latin: at the start before a vowel, and between vowels
_CONSONANT_U = re.compile(r"(?:^|(?<=[aeiouy]))u(?=[aeiouy])")
_CACHED = 1 << 18  # words
UNKNOWN = 0  # id of all words that were not seen in training


def find_lemmatizer(given: str | Lemmatizer) -> Lemmatizer:
    """Return a function from word to lemma.

    Examples
    --------
    >>> lemma = find_lemmatizer("la")
    >>> [lemma(word) for word in "uidit uitam uiuunt".split()]
    ['uideo', 'uita', 'uiuo']
    """
    if callable(given):
        return given
    try:
        simplemma: Any = importlib.import_module("simplemma")
    except ModuleNotFoundError as error:
        if error.name != "simplemma":
            raise
        raise MissingExtraError("simplemma is not installed: pip install 'langdiff[lemmas]'.") from error
    try:
        simplemma.lemmatize("a", lang=given)
    except ValueError as error:
        raise ConfigError(
            f"simplemma has no word list of language {given!r}: give a language that it has, or a function from word "
            "to lemma, or settings with lemmatize = False."
        ) from error

    @lru_cache(_CACHED)
    def lemma(word: str) -> str:
        if given != "la":
            return str(simplemma.lemmatize(word, lang=given))
        return str(simplemma.lemmatize(_CONSONANT_U.sub("v", word), lang="la")).replace("v", "u")

    return lemma


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
    """Learn byte-pair units from a training part."""
    texts = [" ".join(words) for words in sections]
    alphabet = Alphabet.from_texts(texts)
    units = BPEUnits.train(
        [alphabet.apply(text) for text in texts], alphabet, ratio=BPE_RATIO if ratio is None else ratio
    )
    return LearnedSubwords(units)
