"""Lemmata of words, by the word lists of simplemma or by a function of the user's own."""

import importlib
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from langdiff.errors import ConfigError, MissingExtraError

Lemmatizer = Callable[[str], str]

# u for the consonant v, as in critical editions of Latin: at the start before a vowel, and between vowels
_CONSONANT_U = re.compile(r"(?:^|(?<=[aeiouy]))u(?=[aeiouy])")
_CACHED = 1 << 18  # words


def find_lemmatizer(given: str | Lemmatizer) -> Lemmatizer:
    """Return a function from word to lemma.

    Parameters
    ----------
    given : str or callable
        Language of simplemma's word lists (``"la"``), or the function itself. Latin is taken to be written with u for
        v: v is looked up, and u written in the lemma.

    Returns
    -------
    callable

    Raises
    ------
    ConfigError
        If simplemma has no words of the language.
    MissingExtraError
        If simplemma is not installed.

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
