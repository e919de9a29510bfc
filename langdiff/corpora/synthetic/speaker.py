"""From an intent to a sentence, so that the sentence tells the intent and every choice made."""

from langdiff.corpora.synthetic.choice import Alternatives, Decide
from langdiff.corpora.synthetic.grammar import Event, Intent, NounPhrase
from langdiff.corpora.synthetic.language import SyntheticLanguage
from langdiff.corpora.synthetic.lexicon import Lexicon, Paradigm
from langdiff.corpora.synthetic.scripts import SCRIPTS

_CASES = {  # case of subject, object and recipient, by valency
    "none": {1: (0,), 2: (0, 0), 3: (0, 0, 0)},
    "accusative": {1: (0,), 2: (0, 1), 3: (0, 1, 2)},
    "ergative": {1: (0,), 2: (1, 0), 3: (1, 0, 2)},
}
_ROLES = {"S": 0, "O": 1, "R": 2}  # position among the participants of an event


class Speaker:
    """Says intents in one language.

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
        """Return the sentence for an intent.

        Parameters
        ----------
        intent : tuple of Event
            Intent to express.
        decide : callable
            Makes the free choices: the order of each clause, the synonym of each word.

        Returns
        -------
        str
            The sentence.
        """
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
