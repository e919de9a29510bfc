"""Artificial languages: the grammar of their meanings, parameters, alphabets, and the predefined languages."""

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from langdiff.base.toml import read_packaged
from langdiff.errors import ConfigError, option


class Alternatives:
    """Alternatives and their probabilities.

    Parameters
    ----------
    what : str
        Name of what is chosen, for messages.
    weights : array-like of float, shape (K,)
        Finite, not negative, not all 0; divided by their sum.

    Attributes
    ----------
    bits : tuple of float
        Information of each alternative, minus log2 of its probability; infinite if that is 0.
    cumulative : tuple of float
        Probability of an alternative up to and including each.

    Raises
    ------
    ConfigError
        If there is no alternative, or the weights are not finite, are negative or are all 0.

    Examples
    --------
    >>> Alternatives("tense", [2, 1, 1]).bits
    (1.0, 2.0, 2.0)
    """

    __slots__ = ("bits", "cumulative")

    def __init__(self, what: str, weights: npt.ArrayLike) -> None:
        values = np.asarray(weights, dtype=float)
        if values.ndim != 1 or not (np.isfinite(values) & (values >= 0)).all() or not values.any():
            raise ConfigError(f"{what}: weights must be numbers from 0 up, not all 0, got {weights!r}.")
        probabilities = values / values.sum()
        with np.errstate(divide="ignore"):
            self.bits = tuple(np.abs(np.log2(probabilities)).tolist())  # abs: no minus zero
        cumulative = probabilities.cumsum()
        cumulative[values.nonzero()[0][-1] :] = 1.0  # rounding must not leave a gap for what follows
        self.cumulative = tuple(cumulative.tolist())

    @property
    def entropy(self) -> float:
        """Mean information of a choice, in bits."""
        bits = np.array(self.bits)[np.isfinite(self.bits)]
        return float(bits @ 2.0**-bits)


class Decide(Protocol):
    """Interface of decisions: a random generator, or a test that enumerates all alternatives."""

    def __call__(self, alternatives: Alternatives) -> int:
        """Return the position of the alternative chosen."""
        ...


class RandomDecisions:
    """Random decisions, which add up the information of the alternatives chosen.

    Parameters
    ----------
    rng : Generator
        Source of random numbers.

    Attributes
    ----------
    bits : float
        Information of all choices so far.
    """

    __slots__ = ("_uniform", "bits")

    def __init__(self, rng: np.random.Generator) -> None:
        self._uniform = rng.random
        self.bits = 0.0

    def __call__(self, alternatives: Alternatives) -> int:
        """Choose an alternative at random and add its information."""
        if len(alternatives.bits) == 1:
            return 0
        chosen = bisect_right(alternatives.cumulative, self._uniform())
        self.bits += alternatives.bits[chosen]
        return chosen


class NounPhrase(NamedTuple):
    """Participant: its noun, its number, and its property if it has one."""

    noun: int
    plural: bool
    adjective: int | None


class Event(NamedTuple):
    """Event: a verb with its subject, object and recipient, as many as the verb takes."""

    tense: int
    verb: int
    participants: tuple[NounPhrase, ...]
    adverb: int | None


Intent = tuple[Event, ...]


@dataclass(frozen=True, kw_only=True)
class Grammar:
    """Probabilities of intents.

    An intent is one event or several. An event has a tense, a verb, its participants (a subject; with a transitive verb
    an object, too; with a ditransitive one also a recipient) and perhaps an adverb; a participant is a noun, singular
    or plural, perhaps with an adjective. All choices are independent, so that the information of an intent
    is the sum of theirs.

    Attributes
    ----------
    nouns, adjectives, adverbs : int
        Sizes of the vocabularies.
    verbs : (int, int, int)
        Number of intransitive, transitive and ditransitive verbs.
    valencies : (float, float, float)
        Weights of intransitive, transitive and ditransitive events.
    tenses : tuple of float
        Weights of the tenses.
    events : tuple of float
        Weights of 1, 2, ... events in an intent.
    plural, modified, adverbial : float
        Probability that a participant is plural, that it has an adjective, and that an event has an
        adverb.
    zipf : float
        Exponent of the law by which words are chosen: the word of rank r has weight (r + 1)^-zipf.

    Raises
    ------
    ConfigError
        If a number of words, a weight or a probability is out of range.

    Examples
    --------
    >>> Grammar(nouns=100, events=(1.0,)).nouns
    100
    """

    nouns: int = 32
    adjectives: int = 10
    adverbs: int = 6
    verbs: tuple[int, int, int] = (10, 12, 6)
    valencies: tuple[float, float, float] = (0.35, 0.45, 0.2)
    tenses: tuple[float, ...] = (0.5, 0.3, 0.2)
    events: tuple[float, ...] = (0.7, 0.25, 0.05)
    plural: float = 0.25
    modified: float = 0.25
    adverbial: float = 0.2
    zipf: float = 1.0

    def __post_init__(self) -> None:
        """Check that all numbers are valid."""
        for what, size in self._sizes.items():
            if not isinstance(size, int) or size < 1:
                raise ConfigError(f"Grammar.{what} must be a whole number from 1 up, got {size!r}.")
        for what, probability in self._probabilities.items():
            if not 0 <= probability <= 1:
                raise ConfigError(f"Grammar.{what} is a probability, got {probability!r}.")
        if len(self.verbs) != 3 or len(self.valencies) != 3:
            raise ConfigError("Grammar.verbs and Grammar.valencies take three numbers, one per valency.")
        if not np.isfinite(self.zipf):
            raise ConfigError(f"Grammar.zipf must be a finite number, got {self.zipf!r}.")
        _ = self._choices  # refuses bad weights

    def draw(self, decide: Decide) -> Intent:
        """Draw an intent."""
        return tuple(self._event(decide) for _ in range(1 + decide(self._choices["events"])))

    def _event(self, decide: Decide) -> Event:
        choices = self._choices
        valency = 1 + decide(choices["valencies"])
        verb = sum(self.verbs[: valency - 1]) + decide(choices[f"verbs[{valency - 1}]"])
        tense = decide(choices["tenses"])
        adverb = decide(choices["adverbs"]) if decide(choices["adverbial"]) else None
        return Event(tense, verb, tuple(self._noun_phrase(decide) for _ in range(valency)), adverb)

    def _noun_phrase(self, decide: Decide) -> NounPhrase:
        choices = self._choices
        adjective = decide(choices["adjectives"]) if decide(choices["modified"]) else None
        return NounPhrase(decide(choices["nouns"]), bool(decide(choices["plural"])), adjective)

    @cached_property
    def _choices(self) -> dict[str, Alternatives]:
        weights: dict[str, npt.ArrayLike] = {
            what: np.arange(2, size + 2) ** -float(self.zipf) for what, size in self._sizes.items()
        }
        weights |= {what: (1 - p, p) for what, p in self._probabilities.items()}
        weights |= {what: getattr(self, what) for what in ("valencies", "tenses", "events")}
        return {what: Alternatives(f"Grammar.{what}", values) for what, values in weights.items()}

    @property
    def _sizes(self) -> dict[str, int]:
        verbs = {f"verbs[{k}]": size for k, size in enumerate(self.verbs)}
        return {"nouns": self.nouns, "adjectives": self.adjectives, "adverbs": self.adverbs, **verbs}

    @property
    def _probabilities(self) -> dict[str, float]:
        return {"plural": self.plural, "modified": self.modified, "adverbial": self.adverbial}


@dataclass(frozen=True)
class Script:
    """Letters of syllables, and the marks between and after clauses.

    Attributes
    ----------
    onsets, nuclei, codas : tuple of str
        Beginnings, middles and ends of syllables; in Unicode NFC once put together.
    comma, stop : str
        The marks.
    """

    onsets: tuple[str, ...]
    nuclei: tuple[str, ...]
    codas: tuple[str, ...]
    comma: str = ","
    stop: str = "."


def _characters(first: int, last: int) -> tuple[str, ...]:
    return tuple(map(chr, range(first, last + 1)))


SCRIPTS = {
    "latin": Script(tuple("ptkbdgmnslrfvzh"), tuple("aeiou"), tuple("nsrlk")),
    "greek": Script(tuple("πτκβδγμνσλρφθχ"), tuple("αεηιοωυ"), tuple("νσρλ"), stop="·"),
    "cyrillic": Script(tuple("птквдгмнслрзжшч"), tuple("аеиоуыя"), tuple("нсрлкй")),
    "hebrew": Script(tuple("בגדהזחטכלמנסעפצקרשת"), tuple("אוי"), tuple("נרסלת")),  # right to left
    "devanagari": Script(  # vowels and virama are combining marks
        tuple("कगचजटतदनपबमरलवसह"), ("\u093e", "\u093f", "\u0941", "\u0947", "\u094b"), ("ं", "र्", "न्"), stop="।"
    ),
    "hangul": Script(  # conjoining jamo: NFC makes one block of each syllable
        _characters(0x1100, 0x1112), ("\u1161", "\u1165", "\u1169", "\u116e", "\u1175"), ("\u11ab", "\u11af", "\u11bc")
    ),
    "deseret": Script(  # beyond the Basic Multilingual Plane
        _characters(0x10439, 0x10448), _characters(0x10428, 0x1042D), _characters(0x1044A, 0x1044D)
    ),
}


_CHOICES = {
    "morphology": ("isolating", "agglutinating", "fusional"),
    "affixes": ("suffix", "prefix"),
    "case": ("none", "accusative", "ergative"),
    "adjective": ("before", "after"),
    "script": tuple(SCRIPTS),
}


@dataclass(frozen=True, kw_only=True)
class SyntheticLanguage:
    """Parameters of an artificial language.

    Only `order` and `synonyms` can leave the speaker a free choice, and so add information to that
    of the intent; the others change how a sentence looks, not how much it says.

    Attributes
    ----------
    name : str
        Name of the edition.
    order : str or mapping from str to float
        Order of subject, object and verb, such as ``"SOV"``, or the weights of several among which
        speakers choose. A recipient stands before the object; without an object the rest remains.
    morphology : {"isolating", "agglutinating", "fusional"}
        Whether markers of number, case and tense are words of their own, affixes one after the
        other, or one affix for all of a word.
    affixes : {"suffix", "prefix"}
        Whether markers stand after or before.
    case : {"none", "accusative", "ergative"}
        Participants that are marked: none; objects and recipients; subjects of verbs that take an
        object, and recipients. Where orders differ in the order of subject and object, case is needed.
    verb_agreement, adjective_agreement : bool
        Whether verbs repeat the number of the subject, and adjectives number and case of the noun.
    adjective : {"before", "after"}
        Position of adjectives.
    synonyms : tuple of float
        Weights of the words among which speakers choose for one meaning; with ``(1.0,)`` there is one word for each.
    script : str
        ``"latin"``, ``"greek"``, ``"cyrillic"``, ``"hebrew"``, ``"devanagari"``, ``"hangul"`` or ``"deseret"``.
    syllables : (int, int)
        Syllables of the most frequent and of the rarest stem.
    closed : float
        Probability that a syllable ends in a consonant.

    Raises
    ------
    ConfigError
        If a parameter is unknown or out of range, or two meanings could be the same sentence.

    Examples
    --------
    >>> SyntheticLanguage(name="free", case="accusative", order={"SOV": 3, "OSV": 1}).orders(2)
    (('SOV', 'OSV'), (0.75, 0.25))
    """

    name: str
    order: str | Mapping[str, float] = "SVO"
    morphology: Literal["isolating", "agglutinating", "fusional"] = "agglutinating"
    affixes: Literal["suffix", "prefix"] = "suffix"
    case: Literal["none", "accusative", "ergative"] = "none"
    verb_agreement: bool = False
    adjective_agreement: bool = False
    adjective: Literal["before", "after"] = "before"
    synonyms: tuple[float, ...] = (1.0,)
    script: str = "latin"
    syllables: tuple[int, int] = (1, 3)
    closed: float = 0.3

    def __post_init__(self) -> None:
        """Check every parameter, and that no two meanings share a sentence."""
        for what, known in _CHOICES.items():
            if getattr(self, what) not in known:
                raise ConfigError(
                    f"language {self.name!r}: {what} must be one of {', '.join(known)}, got {getattr(self, what)!r}."
                )
        low, high = self.syllables
        if not 1 <= low <= high:
            raise ConfigError(f"language {self.name!r}: syllables must be 1 or more, rising, got {self.syllables!r}.")
        if not 0 <= self.closed <= 1:
            raise ConfigError(f"language {self.name!r}: closed is a probability, got {self.closed!r}.")
        Alternatives(f"language {self.name!r}, synonyms", self.synonyms)
        for order in self._weights:
            if sorted(order) != ["O", "S", "V"]:
                raise ConfigError(f"language {self.name!r}: order must be S, O and V once each, got {order!r}.")
        Alternatives(f"language {self.name!r}, order", list(self._weights.values()))
        nominals = {order.replace("V", "") for order in self.orders(2)[0]}
        if self.case == "none" and len(nominals) > 1:
            raise ConfigError(
                f"language {self.name!r}: subject and object come in either order, and without case it could not be "
                f"known which is which. Choose {option('case', 'accusative')} or 'ergative', or orders that agree."
            )

    def orders(self, valency: int) -> tuple[tuple[str, ...], tuple[float, ...]]:
        """Return the orders of a clause and their probabilities.

        Parameters
        ----------
        valency : int
            Participants of the verb, 1 to 3.

        Returns
        -------
        orders : tuple of str
            Different orders of S, O, R (recipient) and V; orders that differ only in the place of an object are one
            where there is none.
        probabilities : tuple of float
            Their probabilities, which sum to 1.
        """
        objects = {1: "", 2: "O", 3: "RO"}[valency]
        merged: dict[str, float] = {}
        for order, weight in self._weights.items():
            clause = order.replace("O", objects)
            if weight > 0:
                merged[clause] = merged.get(clause, 0.0) + weight
        total = sum(merged.values())
        return tuple(merged), tuple(weight / total for weight in merged.values())

    @property
    def _weights(self) -> dict[str, float]:
        return {self.order: 1.0} if isinstance(self.order, str) else dict(self.order)


DEFAULT_LANGUAGES = tuple(
    SyntheticLanguage(name=name, **settings)
    for name, settings in read_packaged("langdiff.corpora.synthetic", "languages.toml").items()
)


def draw_language(name: str, rng: np.random.Generator) -> SyntheticLanguage:
    """Draw the parameters of a language at random."""

    def pick(*values: Any) -> Any:
        return values[rng.integers(len(values))]

    orders = ["".join(order) for order in permutations("SOV")]
    fixed = pick(*orders)
    case = pick("none", "accusative", "ergative")
    free = case != "none" and rng.random() < 0.5
    synonyms = pick(1, 1, 2, 3)
    return SyntheticLanguage(
        name=name,
        order=dict(zip(orders, rng.dirichlet(np.ones(6)).tolist(), strict=True)) if free else fixed,
        morphology=pick("isolating", "agglutinating", "fusional"),
        affixes=pick("suffix", "prefix"),
        case=case,
        verb_agreement=pick(True, False),
        adjective_agreement=pick(True, False),
        adjective=pick("before", "after"),
        synonyms=tuple(rng.dirichlet(np.ones(synonyms)).tolist()),
        script=pick(*SCRIPTS),
        closed=float(rng.random()),
    )
