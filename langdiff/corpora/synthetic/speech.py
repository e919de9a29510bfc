"""Words of artificial languages, and the sentences formed of them."""

from dataclasses import dataclass
from unicodedata import normalize

import numpy as np

from langdiff.corpora.synthetic.grammar import Alternatives, Decide, Event, Grammar, Intent, NounPhrase
from langdiff.corpora.synthetic.language import SCRIPTS, SyntheticLanguage
from langdiff.errors import ConfigError, option

_ATTEMPTS = 2_000  # draws of a word before giving up
Paradigm = list[str]  # forms of one stem
Markers = tuple[str, ...]  # what a form adds to the stem, from there outwards
_UNMARKED: list[Markers] = [()]


@dataclass(frozen=True)
class Lexicon:
    """Forms of all words; each list of paradigms has one per synonym.

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
    """Draw the words of a language at random."""
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
    """Generator of words without homonyms."""

    def __init__(self, language: SyntheticLanguage, rng: np.random.Generator) -> None:
        self.language, self.script, self.rng = language, SCRIPTS[language.script], rng
        self.taken: set[str] = set()

    def coin(self, syllables: int, markers: list[Markers]) -> Paradigm:
        """Return the forms of a new stem, one per tuple of markers, none of them used before."""
        for _ in range(_ATTEMPTS):
            stem = self._word(syllables)
            forms = [self._inflect(stem, marker) for marker in markers]
            new = {stem} if self.language.morphology == "isolating" else set(forms)
            if not new & self.taken:
                self.taken |= new
                return forms
        raise ConfigError(
            f"language {self.language.name!r}: {len(self.taken)} word forms, and no new one found in {_ATTEMPTS:,} "
            f"attempts at {syllables} syllable(s). Raise {option('syllables', self.language.syllables)}, or use fewer "
            "words."
        )

    def markers(self, outer: int, inner: int) -> list[Markers]:
        """Return markers of two features; the marker of values o (outer) and i (inner) has index o * inner + i."""
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
        """Return paradigms by lexeme and synonym, the frequent lexemes first and no longer than the rare."""
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


_CASES = {  # case of subject, object and recipient, by valency
    "none": {1: (0,), 2: (0, 0), 3: (0, 0, 0)},
    "accusative": {1: (0,), 2: (0, 1), 3: (0, 1, 2)},
    "ergative": {1: (0,), 2: (1, 0), 3: (1, 0, 2)},
}
_ROLES = {"S": 0, "O": 1, "R": 2}  # position among the participants of an event


class Speaker:
    """Generator of the sentences of one language.

    The map from (intent, choices of the speaker) to sentence is one to one: the words of a lexicon
    are all different, a clause has its one verb, adjectives stand on one side of their noun, and
    participants are known by case, or by an order that is the same throughout. Hence the
    probability of a sentence is that of the intent times that of the choices.

    Parameters
    ----------
    language : SyntheticLanguage
        Word order, case and script.
    lexicon : Lexicon
        Words of the language.
    """

    def __init__(self, language: SyntheticLanguage, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self._adjective_first = language.adjective == "before"
        self._cases = _CASES[language.case]
        self._synonyms = Alternatives("synonyms", language.synonyms)
        self._orders = {valency: language.orders(valency) for valency in (1, 2, 3)}
        self._order_choices = {v: Alternatives("order", weights) for v, (_, weights) in self._orders.items()}
        script = SCRIPTS[language.script]
        self._between, self._stop = f"{script.comma} {lexicon.conjunction} ", script.stop

    def say(self, intent: Intent, decide: Decide) -> str:
        """Return the sentence that expresses an intent."""
        return self._between.join([self._clause(event, decide) for event in intent]) + self._stop

    def _clause(self, event: Event, decide: Decide) -> str:
        valency = len(event.participants)
        order = self._orders[valency][0][decide(self._order_choices[valency])]
        words = []
        if event.adverb is not None:
            words.append(self._form(self.lexicon.adverbs[event.adverb], 0, decide))
        for role in order:
            if role == "V":
                form = 2 * event.tense + event.participants[0].plural
                words.append(self._form(self.lexicon.verbs[event.verb], form, decide))
            else:
                position = _ROLES[role]
                case = self._cases[valency][position]
                words.append(self._noun_phrase(event.participants[position], case, decide))
        return " ".join(words)

    def _noun_phrase(self, phrase: NounPhrase, case: int, decide: Decide) -> str:
        form = 2 * case + phrase.plural
        noun = self._form(self.lexicon.nouns[phrase.noun], form, decide)
        if phrase.adjective is None:
            return noun
        adjective = self._form(self.lexicon.adjectives[phrase.adjective], form, decide)
        return f"{adjective} {noun}" if self._adjective_first else f"{noun} {adjective}"

    def _form(self, synonyms: list[Paradigm], form: int, decide: Decide) -> str:
        return synonyms[decide(self._synonyms)][form]
