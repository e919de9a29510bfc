"""Parameters and alphabets of artificial languages, and the predefined languages."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import Any, Literal

import numpy as np

from langdiff.base.toml import read_packaged
from langdiff.corpora.synthetic.grammar import Alternatives
from langdiff.errors import ConfigError, option


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
