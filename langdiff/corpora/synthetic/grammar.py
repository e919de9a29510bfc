"""Grammar of events, from which intents are drawn, and the decisions that determine each intent."""

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from langdiff.errors import ConfigError


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
