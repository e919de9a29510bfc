"""The words of an artificial language, each form of each different from all others."""

from dataclasses import dataclass
from unicodedata import normalize

import numpy as np

from langdiff.corpora.synthetic.grammar import Grammar
from langdiff.corpora.synthetic.language import SyntheticLanguage
from langdiff.corpora.synthetic.scripts import SCRIPTS
from langdiff.errors import ConfigError

_ATTEMPTS = 2_000  # draws of a word before giving up
Paradigm = list[str]  # forms of one stem
Markers = tuple[str, ...]  # what a form adds to the stem, from there outwards
_UNMARKED: list[Markers] = [()]


@dataclass(frozen=True)
class Lexicon:
    """All forms of all words; each list of paradigms has one per synonym.

    Attributes
    ----------
    nouns, adjectives : list of list of Paradigm
        By noun, by synonym: forms, the one of case c and number n at 2 c + n.
    verbs : list of list of Paradigm
        By verb, by synonym: forms, the one of tense t and number n of the subject at 2 t + n.
    adverbs : list of list of Paradigm
        By adverb, by synonym: one form.
    conjunction : str
        The word between events.
    """

    nouns: list[list[Paradigm]]
    adjectives: list[list[Paradigm]]
    verbs: list[list[Paradigm]]
    adverbs: list[list[Paradigm]]
    conjunction: str


def draw_lexicon(language: SyntheticLanguage, grammar: Grammar, rng: np.random.Generator) -> Lexicon:
    """Invent the words of a language.

    Parameters
    ----------
    language : SyntheticLanguage
        Language whose morphology and script are used.
    grammar : Grammar
        How many words are needed.
    rng : Generator
        Source of random numbers.

    Returns
    -------
    Lexicon
        No word form occurs twice in it, whatever the word, so that a sentence tells which words it
        is made of.

    Raises
    ------
    ConfigError
        If the syllables allowed do not make enough different words.
    """
    coiner = _Coiner(language, rng)
    nominal = coiner.markers(1 if language.case == "none" else 3, 2)
    verbal = coiner.markers(len(grammar.tenses), 2 if language.verb_agreement else 1)
    if not language.verb_agreement:
        verbal = [markers for markers in verbal for _ in range(2)]
    attributive = nominal if language.adjective_agreement else _UNMARKED * len(nominal)
    return Lexicon(
        nouns=coiner.lexemes(grammar.nouns, nominal),
        adjectives=coiner.lexemes(grammar.adjectives, attributive),
        verbs=[lexeme for size in grammar.verbs for lexeme in coiner.lexemes(size, verbal)],
        adverbs=coiner.lexemes(grammar.adverbs, _UNMARKED),
        conjunction=coiner.coin(1, _UNMARKED)[0],
    )


class _Coiner:
    """Makes up words and remembers which are taken."""

    def __init__(self, language: SyntheticLanguage, rng: np.random.Generator) -> None:
        self.language, self.script, self.rng = language, SCRIPTS[language.script], rng
        self.taken: set[str] = set()

    def coin(self, syllables: int, markers: list[Markers]) -> Paradigm:
        """Return the forms of a new stem, one per tuple of markers; no form was taken before."""
        for _ in range(_ATTEMPTS):
            stem = self._word(syllables)
            forms = [self._inflect(stem, marker) for marker in markers]
            new = {stem} if self.language.morphology == "isolating" else set(forms)
            if not new & self.taken:
                self.taken |= new
                return forms
        raise ConfigError(
            f"language {self.language.name!r}: {len(self.taken)} word forms, and no new one found in {_ATTEMPTS:,} "
            f"attempts at {syllables} syllable(s). Raise syllables={self.language.syllables}, or use fewer words."
        )

    def markers(self, outer: int, inner: int) -> list[Markers]:
        """Return markers of two features, those of values o (outer) and i (inner) at o * inner + i."""
        while True:
            if self.language.morphology == "fusional":
                table: list[Markers] = [(self._marker(),) for _ in range(outer * inner)]
            else:  # the first value, such as the singular, goes unmarked
                of_inner = ["", *(self._marker() for _ in range(inner - 1))]
                of_outer = ["", *(self._marker() for _ in range(outer - 1))]
                table = [(i, o) for o in of_outer for i in of_inner]
            if len({"".join(markers) for markers in table}) == len(table):
                return table

    def lexemes(self, count: int, markers: list[Markers]) -> list[list[Paradigm]]:
        """Return paradigms by lexeme, the frequent ones first and no longer than the rare, and by synonym."""
        lengths = np.linspace(*self.language.syllables, count).round().astype(int).tolist()
        return [[self.coin(length, markers) for _ in self.language.synonyms] for length in lengths]

    def _marker(self) -> str:
        return self.coin(1, _UNMARKED)[0]

    def _inflect(self, stem: str, markers: Markers) -> str:
        parts = [stem, *(marker for marker in markers if marker)]
        if self.language.affixes == "prefix":
            parts.reverse()
        return (" " if self.language.morphology == "isolating" else "").join(parts)

    def _word(self, syllables: int) -> str:
        letters = ""
        for _ in range(syllables):
            letters += self._pick(self.script.onsets) + self._pick(self.script.nuclei)
            if self.rng.random() < self.language.closed:
                letters += self._pick(self.script.codas)
        return normalize("NFC", letters)

    def _pick(self, letters: tuple[str, ...]) -> str:
        return letters[self.rng.integers(len(letters))]
