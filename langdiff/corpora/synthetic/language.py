"""How an artificial language says things: its typology as parameters."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from langdiff.corpora.synthetic.choice import Alternatives
from langdiff.corpora.synthetic.scripts import SCRIPTS
from langdiff.errors import ConfigError, option

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
        """Check every parameter, and that no two meanings can share a sentence."""
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
