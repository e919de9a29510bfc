"""Synthetic multitexts: sentences of words of artificial languages, with their true surprisals and difficulties."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar
from unicodedata import normalize

import numpy as np
import pandas as pd

from langdiff.base.result import Result
from langdiff.base.types import generator
from langdiff.corpora.frame import read_frame
from langdiff.corpora.synthetic.language import (
    DEFAULT_LANGUAGES,
    SCRIPTS,
    Alternatives,
    Decide,
    Event,
    Grammar,
    Intent,
    NounPhrase,
    RandomDecisions,
    SyntheticLanguage,
    draw_language,
)
from langdiff.corpora.versifications import VERSIFICATIONS, tables
from langdiff.errors import ConfigError, listing, option
from langdiff.tables.multitext import Multitext
from langdiff.tables.surprisals import Surprisals

T = TypeVar("T")
R = TypeVar("R")
_BOOKS_WITHOUT_NAME = range(87, 100)  # of which nothing is known
_MOST_INTENTS = 990_000
_MOST_LANGUAGES = 20 * 26  # qaa to qtz, the codes ISO 639-3 leaves for private use


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class SyntheticMultitext(Result):
    """A multitext whose true surprisals and difficulties are known.

    Attributes
    ----------
    multitext : Multitext
        The sentences. `intent_info` has the intent's own information (``bits``) and the number of
        its ``events``.
    information : Surprisals
        True bits of every sentence: its surprisal under a model that knows the grammar and the language. They are
        the bits of the intent plus those of the language's free choices.
    difficulty : Series
        True difficulty in nats, by edition: ln of its bits over all intents, missing sentences
        included, less ln of the editions' mean. Its factors, exp(difficulty), average 1.
    languages : mapping from edition to SyntheticLanguage
        The parameters.
    grammar : Grammar
        Distribution from which intents were drawn.
    """

    multitext: Multitext
    information: Surprisals
    difficulty: pd.Series
    languages: Mapping[str, SyntheticLanguage]
    grammar: Grammar

    digits = 3

    def to_frame(self) -> pd.DataFrame:
        """Return one row per edition, hardest first.

        Columns: ``difficulty`` (nats), ``percent``, ``bits_per_intent``, ``free_bits_per_intent`` (what
        free choices add), ``characters_per_intent``, then the typology in words.
        """
        bits = self.information.bits
        own = self.multitext.intent_info["bits"]
        characters = self.information.characters
        columns = {
            "difficulty": self.difficulty,
            "percent": 100 * np.expm1(self.difficulty),
            "bits_per_intent": bits.mean(),
            "free_bits_per_intent": bits.sub(own, axis=0).mean(),
            "characters_per_intent": np.nan if characters is None else characters.mean(),
        }
        typology = self.multitext.edition_info[["order", "morphology", "case", "script"]]
        frame = pd.DataFrame(columns).join(typology)
        return frame.rename_axis("edition").sort_values("difficulty", ascending=False)

    def _lines(self) -> Iterator[str]:
        own = self.multitext.intent_info["bits"]
        low, high = own.quantile([0.05, 0.95])
        yield f"Synthetic {self.multitext!r}"
        yield f"Information of intents: mean {own.mean():.1f} bits, 90 % between {low:.1f} and {high:.1f}"

    def __repr__(self) -> str:
        """Return the size and the range of the difficulties in one line."""
        percent = 100 * np.expm1(self.difficulty)
        return f"Synthetic {self.multitext!r}, true difficulty {percent.min():+.1f} % to {percent.max():+.1f} %"


def synthesize(
    n_intents: int = 3000,
    n_languages: int = 8,
    *,
    languages: Sequence[SyntheticLanguage] | None = None,
    seed: int | np.random.Generator = 0,
    grammar: Grammar | None = None,
    missing: float = 0.0,
) -> SyntheticMultitext:
    """Synthesize a multitext in artificial languages, with the true information of every sentence.

    Intents are drawn independently from a grammar of events; each language says each of them in its own words and
    order. Sentence and (intent, free choices of the language) determine each other, so that a sentence has probability
    2^-bits, where bits is the information of the intent and of the choices. Languages differ in length, alphabet and
    morphology, but in difficulty only by what they leave free: estimated difficulties can be compared with the truth.

    Parameters
    ----------
    n_intents : int
        Number of intents to draw, up to 990,000; some short ones are drawn more than once.
    n_languages : int
        Number of languages, at most 520: the eight ready-made ones first, then random ones.
    languages : sequence of SyntheticLanguage, optional
        The languages, in place of `n_languages` ready-made and random ones.
    seed : int or numpy.random.Generator
        Seed that determines everything. Intents and their sentences in one language do not depend on which
        languages come after it.
    grammar : Grammar, optional
        Probabilities of intents (`langdiff.corpora.synthetic.Grammar`); ``Grammar()`` by default.
    missing : float
        Probability that a sentence is missing, independently of everything, below 1.

    Returns
    -------
    SyntheticMultitext
        Intents are named like the verses of an English Bible (``01001001``; beyond its 31,104, like those of a book
        87), languages by the codes ``qaa``, ``qab``, ... that ISO 639-3 leaves for private use.

    Raises
    ------
    ConfigError
        If a number is out of range or two languages have the same name.

    Examples
    --------
    >>> synthetic = synthesize(n_intents=200, n_languages=4, seed=1)
    >>> synthetic.multitext
    Multitext: 200 intents × 4 editions (4 languages), 0 of 800 cells missing
    >>> factors = np.exp(synthetic.difficulty)
    >>> float(factors.mean().round(9))
    1.0
    """
    _check(n_intents, missing)
    grammar = Grammar() if grammar is None else grammar
    for_intents, for_missing, for_languages = generator(seed).spawn(3)
    meanings, own_bits = _decided(lambda _, decide: grammar.draw(decide), range(n_intents), for_intents)
    chosen = _choose_languages(n_languages, languages, for_languages)
    sentences, bits = {}, {}
    for language, rng in zip(chosen, for_languages.spawn(len(chosen)), strict=True):
        for_words, for_choices = rng.spawn(2)
        speaker = Speaker(language, draw_lexicon(language, grammar, for_words))
        sentences[language.name], free_bits = _decided(speaker.say, meanings, for_choices)
        bits[language.name] = own_bits + free_bits
    index = pd.Index(list(islice(_verse_ids(), n_intents)), name="intent")
    present = for_missing.random((n_intents, len(chosen))) >= missing
    texts = pd.DataFrame(sentences, index=index, dtype=object).where(present)
    information = pd.DataFrame(bits, index=index)
    total = information.sum().rename_axis("edition")
    about = pd.DataFrame({"bits": own_bits, "events": [len(m) for m in meanings]}, index=index)
    return SyntheticMultitext(
        multitext=read_frame(
            texts,
            edition_info=_describe(chosen),
            intent_info=about,
        ),
        information=Surprisals(
            bits=information.where(present),
            characters=texts.map(len, na_action="ignore").astype(float),
            intent_info=about,
            lm="truth",
        ),
        difficulty=np.log(total / total.mean()).rename("difficulty"),
        languages={language.name: language for language in chosen},
        grammar=grammar,
    )


def _check(n_intents: int, missing: float) -> None:
    if not isinstance(n_intents, (int, np.integer)) or not 1 <= n_intents <= _MOST_INTENTS:
        raise ConfigError(
            f"{option('n_intents')} must be a whole number from 1 to {_MOST_INTENTS:,}, got {n_intents!r}."
        )
    if not 0 <= missing < 1:
        raise ConfigError(f"missing must be a probability below 1, got {missing!r}.")


def _choose_languages(
    n_languages: int, languages: Sequence[SyntheticLanguage] | None, rng: np.random.Generator
) -> list[SyntheticLanguage]:
    count = n_languages if languages is None else len(languages)
    if not isinstance(count, (int, np.integer)) or not 1 <= count <= _MOST_LANGUAGES:
        raise ConfigError(f"the number of languages must be 1 to {_MOST_LANGUAGES}, got {count!r}.")
    if languages is None:
        more = range(len(DEFAULT_LANGUAGES) + 1, count + 1)
        return [*DEFAULT_LANGUAGES, *(draw_language(f"random-{k}", rng) for k in more)][:count]
    chosen = list(languages)
    names = [language.name for language in chosen]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ConfigError(f"two languages have the same name: {listing(twice)}. Give each its own.")
    return chosen


def _decided(
    act: Callable[[T, RandomDecisions], R], items: Sequence[T], rng: np.random.Generator
) -> tuple[list[R], np.ndarray]:
    """Apply a function with random decisions to every item; return the results, and the bits of the decisions."""
    results, bits = [], np.empty(len(items))
    for number, item in enumerate(items):
        decisions = RandomDecisions(rng)
        results.append(act(item, decisions))
        bits[number] = decisions.bits
    return results, bits


def _verse_ids() -> Iterator[str]:
    """Yield verse ids of an English Bible, then ids of unnamed books with any chapters and verses."""
    last = tables()[VERSIFICATIONS.index("eng"), : 67 * 1000]  # to the Revelation
    for chapter in np.flatnonzero(last > 0).tolist():
        for verse in range(1, int(last[chapter]) + 1):
            yield f"{chapter:05d}{verse:03d}"
    for book in _BOOKS_WITHOUT_NAME:
        for chapter in range(1, 1000):
            for verse in range(1, 101):
                yield f"{book}{chapter:03d}{verse:03d}"


def _describe(languages: Sequence[SyntheticLanguage]) -> pd.DataFrame:
    rows = {}
    for number, language in enumerate(languages):
        order = language.order if isinstance(language.order, str) else "free: " + " ".join(language.order)
        agreeing = {"verb": language.verb_agreement, "adjective": language.adjective_agreement}
        rows[language.name] = {
            "language": "q" + chr(ord("a") + number // 26) + chr(ord("a") + number % 26),
            "language_name": language.name,
            "family": "Synthetic",
            "order": order,
            "morphology": language.morphology,
            "affixes": language.affixes,
            "case": language.case,
            "agreement": " ".join(word for word, agrees in agreeing.items() if agrees) or "none",
            "synonyms": str(len(language.synonyms)),
            "script": language.script,
        }
    return pd.DataFrame.from_dict(rows, orient="index")


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
