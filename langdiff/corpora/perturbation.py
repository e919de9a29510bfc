"""Counterfactual corpora: the same texts changed in one exact way, which the notes of `perturb` define."""

import unicodedata
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from functools import cache
from math import lgamma, log
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
import regex

from langdiff.base.types import Change, check_choice, check_choices, keyed_random, seed_number
from langdiff.errors import ConfigError, DataError, listing, option, warn
from langdiff.tables.multitext import Multitext, check_multitext
from langdiff.tables.text_sources import InMemoryText

Unit = Literal["words", "characters"]
Column = tuple[str, Change | None, pd.Series]  # base, kind and texts of an edition
ADDED_BITS = "added_bits"  # begins the column of intent_info that has them, before | and the edition
OF_WORDS = ("reverse-words", "shuffle-local", "shuffle-by-length", "shuffle", "scramble")
FEWEST_SPACES = 1 / 25  # of the characters of an edition, for kinds that move words
VOWELS = frozenset("aeiouyæœøəǝɛɔıɪɨʉʊαεηιουωаеёиоуыэюяіїєѣѵәөүұ")  # with or without marks
_CONSONANTS = frozenset("йў")  # of a vowel and a mark
_ATTEMPTS = 100  # draws of a permutation that moves something
_WORD = regex.compile(r"\P{White_Space}+")
_SPACE = regex.compile(r"\p{White_Space}")
_CHARACTER = regex.compile(r"\X")
_LETTER = regex.compile(r"\p{L}")
_WITH_VOWELS = regex.compile(r"[\p{L}&&[\p{Latin}\p{Greek}\p{Cyrillic}]]", regex.VERSION1)


def perturb(
    multitext: Multitext,
    kinds: Iterable[Change],
    *,
    window: int = 3,
    unit: Unit = "words",
    keep_base: bool = True,
    seed: int | np.random.Generator = 0,
) -> Multitext:
    """Add editions whose texts are changed in one exact way, to see what makes a text hard.

    Each edition ``NAME`` stays, and gets one edition ``NAME|KIND`` for each kind.
    `langdiff.experiments.perturbation_contrasts` compares the bits of the two, paired by intent.

    Parameters
    ----------
    multitext : Multitext
        The texts, all of which are read and changed at once. Apply `langdiff.tokenize` before, with ``map_text``, if
        punctuation is to be words of its own.
    kinds : iterable of str
        ``"reverse"``, ``"reverse-words"``, ``"shuffle-local"``, ``"shuffle-by-length"``, ``"shuffle"``,
        ``"scramble"``, ``"decompose"``, ``"no-spaces"`` or ``"no-vowels"``; see Notes.
    window : int
        Number of words in a window of ``"shuffle-local"``, at least 2.
    unit : {"words", "characters"}
        What kinds that move words take for words: words, or characters, as for languages without spaces.
    keep_base : bool
        Whether the editions as they are, in NFC and with single spaces, are in the result, too.
    seed : int or numpy.random.Generator
        Seed of the permutations. What is drawn depends on the seed, the kind, and the edition and intent or the word
        alone, not on the order of intents or on other editions.

    Returns
    -------
    Multitext
        Texts are held in memory. `edition_info` has the columns ``base`` and ``perturbation`` (missing for the
        originals). With ``"shuffle"``, `intent_info` has a column ``added_bits|NAME`` for each edition: the most bits
        that a random order adds, log2(n! / Π m!) of n words of which some occur m times.

    Raises
    ------
    ConfigError
        If a kind is unknown or given twice, the window is too short, or words are to be moved in editions that are
        written without spaces.
    DataError
        If an edition already has the name of one that is to be made.

    Warns
    -----
    LangdiffWarning
        If a kind changes no text of an edition, which then is left out, or removes vowels from a script without them;
        or if characters join with others when texts are reversed, so that reversing again does not restore them.

    Notes
    -----
    A word is a maximal run of characters that are not white space; a character is an extended grapheme cluster, so that
    marks stay on their letters. Texts are normalized to NFC and have one space between words before they are changed.

    * ``reverse``: characters in reverse order. An invertible map, so that the information is the same.
    * ``reverse-words``: words in reverse order; the same.
    * ``shuffle-local``: windows of `window` words, each in one fixed order that is not the usual one; the last, shorter
      window in that of its own length. Invertible.
    * ``shuffle-by-length``: one fixed order for each number of words. Invertible.
    * ``shuffle``: a new random order for each text. Adds at most ``added_bits``.
    * ``scramble``: letters, marks and digits within each word permuted, one permutation for each word; the rest stays.
    * ``decompose``: Unicode NFD, in which letters and their marks, or the parts of Korean syllables, are characters of
      their own. Only texts read with ``nfc=False`` stay decomposed when they are written to files and read again.
    * ``no-spaces``: white space removed, and with it information.
    * ``no-vowels``: in Latin, Greek and Cyrillic script, vowels removed unless no letter of the word stands before.
      The Cyrillic letters й and ў are consonants and stay.

    References
    ----------
    Kallini, Papadimitriou, Futrell, Mahowald and Potts (2024), "Mission: Impossible Language Models", on shuffled and
    reversed English.

    Examples
    --------
    >>> import langdiff as ld
    >>> texts = ld.read_frame(pd.DataFrame({"eng": ["the dog saw a cat"]}, index=["1"]))
    >>> changed = perturb(texts, ["reverse", "reverse-words", "no-vowels"])
    >>> changed.to_frame().loc["1"].to_dict()  # doctest: +NORMALIZE_WHITESPACE
    {'eng': 'the dog saw a cat', 'eng|reverse': 'tac a was god eht',
     'eng|reverse-words': 'cat a saw dog the', 'eng|no-vowels': 'th dg sw a ct'}
    """
    check_multitext(multitext)
    chosen = _check(kinds, window, unit)
    number = seed_number(seed)
    texts = {edition: multitext.text(edition).map(_tidy) for edition in multitext.editions}
    moving = [kind for kind in chosen if kind in OF_WORDS]
    if unit == "words" and moving and (without := [name for name, own in texts.items() if _lacks_spaces(own)]):
        raise ConfigError(
            f"{listing(moving)}: {len(without)} edition(s) have less than one space in 25 characters: "
            f"{listing(without)}. Leave them out, or take characters for words: {option('unit', 'characters')}."
        )
    taken = [name for edition in texts for kind in chosen if (name := f"{edition}|{kind}") in texts]
    if taken:
        raise DataError(f"{len(taken)} edition(s) that are to be made are there already: {listing(taken)}.")
    columns: dict[str, Column] = {name: (name, None, own) for name, own in texts.items()} if keep_base else {}
    added: dict[str, pd.Series] = {}
    for edition, own in texts.items():
        change = Perturbation(edition, window=window, unit=unit, seed=number)
        for kind in chosen:
            changed = change.all(kind, own)
            if changed is not None:
                columns[f"{edition}|{kind}"] = (edition, kind, changed)
        if f"{edition}|shuffle" in columns:
            added[f"{ADDED_BITS}|{edition}"] = own.map(lambda text, split=change.split: added_bits(split(text)))
    return _with_editions(multitext, columns, added)


def added_bits(units: Iterable[Hashable]) -> float:
    """Return the most bits that a random order of some words adds: log2 of the number of their different orders.

    Examples
    --------
    >>> round(added_bits(["a", "b", "a"]), 4)  # aab, aba, baa: log2(3)
    1.585
    """
    counts = Counter(units)
    nats = lgamma(counts.total() + 1) - sum(lgamma(count + 1) for count in counts.values())
    return abs(nats) / log(2)  # abs: no minus zero


@dataclass
class Perturbation:
    """Changes of the texts of one edition.

    Attributes
    ----------
    edition : str
        Its name, on which random orders depend.
    window, unit, seed
        See `perturb`.
    orders : dict
        Fixed permutations, by kind and length; each is the positions in the original. Drawn when they are first needed.
    """

    edition: str
    window: int = 3
    unit: Unit = "words"
    seed: int = 0
    orders: dict[tuple[str, int], list[int]] = field(default_factory=dict)
    _scrambled: dict[str, str] = field(default_factory=dict)

    def all(self, kind: Change, texts: pd.Series) -> pd.Series | None:
        """Return all texts changed, or None, with a warning, if the kind leaves them as they are."""
        column = f"{self.edition}|{kind}"
        if kind == "no-vowels" and not _has_vowels(texts):
            warn(f"{column} is left out: most letters of {self.edition} are not Latin, Greek or Cyrillic.")
            return None
        change = self.function(kind)
        changed = pd.Series(
            [change(text, intent) for intent, text in texts.items()], index=texts.index, dtype=object, name=texts.name
        )
        if changed.tolist() == texts.tolist():
            warn(f"{column} is left out: {kind} changes no text of {self.edition}.")
            return None
        if kind == "reverse":
            self._tell_of_joined(column, changed, texts)
        return changed

    def function(self, kind: Change) -> Callable[[str, Hashable], str]:
        """Return the function that changes a text, given its intent."""
        changes: dict[str, Callable[[str, Hashable], str]] = {
            "reverse": lambda text, _: "".join(reversed(characters(text))),
            "reverse-words": lambda text, _: self._join(reversed(self.split(text))),
            "shuffle-local": lambda text, _: self._in_windows(text),
            "shuffle-by-length": lambda text, _: self._by_length(text),
            "shuffle": self._shuffled,
            "scramble": lambda text, _: " ".join(map(self._scramble, text.split(" "))),
            "decompose": lambda text, _: unicodedata.normalize("NFD", text),
            "no-spaces": lambda text, _: text.replace(" ", ""),
            "no-vowels": lambda text, _: " ".join(map(_without_vowels, text.split(" "))),
        }
        return changes[kind]

    def split(self, text: str) -> list[str]:
        """Return the units of a tidy text that are moved."""
        return text.split(" ") if self.unit == "words" else characters(text)

    def _join(self, units: Iterable[str]) -> str:
        return (" " if self.unit == "words" else "").join(units)

    def _in_windows(self, text: str) -> str:
        units = self.split(text)
        windows = (units[start : start + self.window] for start in range(0, len(units), self.window))
        return self._join(
            some[place] for some in windows for place in self._order("shuffle-local", len(some), moves=True)
        )

    def _by_length(self, text: str) -> str:
        units = self.split(text)
        return self._join(units[place] for place in self._order("shuffle-by-length", len(units), moves=False))

    def _shuffled(self, text: str, intent: Hashable) -> str:
        units = self.split(text)
        rng = keyed_random(self.seed, "shuffle", self.edition, str(intent))
        return self._join(rng.sample(units, len(units)))

    def _order(self, kind: Change, length: int, *, moves: bool) -> list[int]:
        """Return the fixed permutation of a length; with `moves`, one that is not the identity."""
        if (kind, length) not in self.orders:
            rng = keyed_random(self.seed, kind, str(length))
            usual = list(range(length))
            draws = (rng.sample(usual, length) for _ in range(_ATTEMPTS))
            self.orders[kind, length] = next((each for each in draws if not moves or each != usual), usual)
        return self.orders[kind, length]

    def _scramble(self, word: str) -> str:
        """Return a word with its letters, marks and digits permuted."""
        if word not in self._scrambled:
            parts = characters(word)
            places = [place for place, part in enumerate(parts) if _is_of_word(part[0])]
            own = [parts[place] for place in places]
            drawn = keyed_random(self.seed, "scramble", "".join(own)).sample(own, len(own))
            for place, part in zip(places, drawn, strict=True):
                parts[place] = part
            self._scrambled[word] = "".join(parts)
        return self._scrambled[word]

    def _tell_of_joined(self, column: str, changed: pd.Series, texts: pd.Series) -> None:
        back = ["".join(reversed(characters(text))) for text in changed]
        lost = [intent for intent, text, again in zip(texts.index, texts, back, strict=True) if text != again]
        if lost:
            warn(
                f"{column}: characters of {len(lost):,} of {len(texts):,} texts join with others when they are "
                f"reversed, so that reversing again does not restore them: {listing(lost)}."
            )


def characters(text: str) -> list[str]:
    """Return the extended grapheme clusters of a text.

    Examples
    --------
    >>> characters("ne\N{COMBINING DIAERESIS}e") == ["n", "e\N{COMBINING DIAERESIS}", "e"]
    True
    """
    found: list[str] = list(text) if text.isascii() and "\r" not in text else _CHARACTER.findall(text)
    return found


def _tidy(text: str) -> str:
    """Return a text in NFC with one space between words and none at the ends."""
    return " ".join(_WORD.findall(unicodedata.normalize("NFC", text)))


def _without_vowels(word: str) -> str:
    kept, seen = [], False
    for character in characters(word):
        letter = character[0].isalpha()
        if not (letter and seen and _is_vowel(character[0])):
            kept.append(character)
        seen = seen or letter
    return "".join(kept)


@cache
def _is_vowel(letter: str) -> bool:
    return letter.lower() not in _CONSONANTS and unicodedata.normalize("NFD", letter)[0].lower() in VOWELS


@cache
def _is_of_word(character: str) -> bool:
    """Return whether a character is a letter, mark or digit."""
    category = unicodedata.category(character)
    return category[0] in "LM" or category == "Nd"


def _lacks_spaces(texts: pd.Series) -> bool:
    total = sum(map(len, texts))
    return total > 0 and sum(text.count(" ") for text in texts) < FEWEST_SPACES * total


def _has_vowels(texts: pd.Series) -> bool:
    """Return whether most letters are of scripts whose vowels are known."""
    together = "\n".join(texts)
    return 2 * len(_WITH_VOWELS.findall(together)) > len(_LETTER.findall(together))


def _check(kinds: Iterable[Change], window: int, unit: str) -> list[Change]:
    if isinstance(kinds, str):
        raise ConfigError(f"kinds must be a list of kinds, such as [{kinds!r}], not a str.")
    chosen = list(kinds)
    check_choices("kinds", chosen, get_args(Change))
    if isinstance(window, bool) or not isinstance(window, (int, np.integer)) or window < 2:
        raise ConfigError(f"{option('window')} must be a whole number from 2 up, got {window!r}.")
    check_choice("unit", unit, get_args(Unit))
    return chosen


def _with_editions(multitext: Multitext, columns: dict[str, Column], added: dict[str, pd.Series]) -> Multitext:
    """Return a multitext of the editions named, each with its base, its kind and its texts."""
    if not columns:
        raise ConfigError("no kind changes any text of these editions: there is nothing to compare.")
    bases = [base for base, _, _ in columns.values()]
    presence = multitext.presence[bases].set_axis(list(columns), axis=1)
    about: dict[str, Any] = {"base": bases, "perturbation": [kind for _, kind, _ in columns.values()]}
    info = multitext.edition_info.loc[bases].set_axis(list(columns), axis=0).assign(**about)
    bits = pd.DataFrame({name: own.astype(float).reindex(multitext.intents) for name, own in added.items()})
    intent_info = multitext.intent_info.drop(columns=bits.columns, errors="ignore")
    return Multitext(
        presence=presence,
        edition_info=info,
        intent_info=intent_info.join(bits) if len(added) else intent_info,
        sources={name: InMemoryText(texts) for name, (_, _, texts) in columns.items()},
        skipped=multitext.skipped,
        left_out=multitext.left_out,
    )
