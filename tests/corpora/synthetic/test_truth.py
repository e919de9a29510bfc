"""True information is true: over all sentences, probabilities sum to 1 and no sentence means two things."""

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import chisquare

from langdiff.corpora import SyntheticLanguage, synthesize
from langdiff.corpora.synthetic.language import DEFAULT_LANGUAGES, Alternatives, Grammar, RandomDecisions, draw_language
from langdiff.corpora.synthetic.result import Speaker, draw_lexicon

ROUNDING = 1e-9  # sums of tens of thousands of probabilities
RICH = Grammar(nouns=2, adjectives=1, adverbs=1, verbs=(1, 1, 1), tenses=(0.7, 0.3), events=(1.0,), adverbial=0.0)
JOINED = Grammar(
    nouns=2, adjectives=1, adverbs=1, verbs=(2, 1, 1), tenses=(1,), events=(0.6, 0.4), plural=0, modified=0
)
FREE = Grammar(
    nouns=2, adjectives=1, adverbs=1, verbs=(1, 1, 1), tenses=(1,), events=(1,), plural=0, modified=0.5, adverbial=0
)


class Replay:
    """Follow a path of choices, then take the first possible alternative."""

    def __init__(self, path):
        self.path, self.bits, self.options = list(path), 0.0, []

    def __call__(self, alternatives):
        possible = [k for k, bits in enumerate(alternatives.bits) if bits < np.inf]
        depth = len(self.options)
        if depth == len(self.path):
            self.path.append(possible[0])
        self.options.append(possible)
        self.bits += alternatives.bits[self.path[depth]]
        return self.path[depth]


def outcomes(program):
    """Yield (outcome, bits) of every path of choices through ``program(decide)``, depth first."""
    path = []
    while True:
        replay = Replay(path)
        yield program(replay), replay.bits
        path = replay.path
        while path and path[-1] == replay.options[len(path) - 1][-1]:
            path.pop()
        if not path:
            return
        options = replay.options[len(path) - 1]
        path[-1] = options[options.index(path[-1]) + 1]


def all_sentences(grammar, language, seed=0):
    """Return every (sentence, bits) of the whole process, from the choice of the intent on."""
    speaker = Speaker(language, draw_lexicon(language, grammar, np.random.default_rng(seed)))
    return list(outcomes(lambda decide: speaker.say(grammar.draw(decide), decide)))


def check_truth(sentences):
    texts = [text for text, _ in sentences]
    twice = [text for text, count in Counter(texts).items() if count > 1]
    assert not twice, f"{len(twice)} sentences mean two things, such as {twice[0]!r}"
    assert_allclose(math.fsum(2.0**-bits for _, bits in sentences), 1.0, rtol=ROUNDING)


def test_outcomes_finds_all_paths():
    two, three = Alternatives("two", [1, 3]), Alternatives("three", [1, 0, 1])

    def program(decide):
        return (0,) if decide(two) == 0 else (1, decide(three))

    assert dict(outcomes(program)) == pytest.approx({(0,): 2, (1, 0): 3 - math.log2(3), (1, 2): 3 - math.log2(3)})


def test_intents_of_a_grammar():
    intents = list(outcomes(RICH.draw))
    phrases = 2 * 2 * 2  # noun, number, adjective or none
    assert len(intents) == 2 * (phrases + phrases**2 + phrases**3)  # times tense
    assert len({intent for intent, _ in intents}) == len(intents)
    assert_allclose(math.fsum(2.0**-bits for _, bits in intents), 1.0, rtol=ROUNDING)


@pytest.mark.parametrize("language", DEFAULT_LANGUAGES, ids=lambda language: language.name)
@pytest.mark.parametrize("grammar", [JOINED, FREE], ids=["joined", "free"])
def test_default_languages(grammar, language):
    if grammar is JOINED:  # pairs of clauses, each with all its free choices, would be millions
        language = replace(language, synonyms=(1.0,), order=language.orders(2)[0][0])
    check_truth(all_sentences(grammar, language))


@pytest.mark.parametrize("morphology", ["isolating", "agglutinating", "fusional"])
@pytest.mark.parametrize("case", ["none", "accusative", "ergative"])
@pytest.mark.parametrize("order", ["SVO", "VSO", "OSV"])
def test_features(morphology, case, order):
    common = {"name": "test", "morphology": morphology, "case": case, "order": order}
    check_truth(all_sentences(RICH, SyntheticLanguage(**common)))
    agreeing = {"verb_agreement": True, "adjective_agreement": True, "affixes": "prefix", "adjective": "after"}
    check_truth(all_sentences(RICH, SyntheticLanguage(**common, **agreeing)))


@given(seed=st.integers(0, 2**32))
@settings(max_examples=3)
def test_random_languages(seed):
    language = draw_language("random", np.random.default_rng(seed))
    check_truth(all_sentences(FREE, language, seed))


def test_the_check_sees_a_language_that_is_ambiguous():
    language = SyntheticLanguage(name="free", order={"SVO": 1, "OVS": 1}, case="accusative")
    check_truth(all_sentences(FREE, language))
    object.__setattr__(language, "case", "none")  # which the constructor would refuse
    with pytest.raises(AssertionError, match="mean two things"):
        check_truth(all_sentences(FREE, language))


def test_sentences_occur_as_often_as_their_bits_say():
    language = SyntheticLanguage(name="free", order={"SVO": 3, "OVS": 1}, case="ergative", synonyms=(0.7, 0.3))
    grammar = replace(FREE, valencies=(1, 1, 0), modified=0)
    count = 20_000
    synthetic = synthesize(count, languages=[language], seed=3, grammar=grammar)
    bits = dict(zip(synthetic.multitext.text("free"), synthetic.information.bits["free"], strict=True))
    pairs = set(zip(synthetic.multitext.text("free"), synthetic.information.bits["free"].round(9), strict=True))
    assert len(pairs) == len(bits)  # one sentence, one information
    observed = Counter(synthetic.multitext.text("free"))
    expected = np.array([count * 2.0 ** -bits[text] for text in observed])
    assert_allclose(expected.sum(), count, rtol=ROUNDING)  # all sentences there are have occurred
    assert chisquare(list(observed.values()), expected).pvalue > 0.001


def test_mean_information_is_the_entropy_of_the_process():
    language = DEFAULT_LANGUAGES[-1]
    sentences = all_sentences(FREE, language)
    probabilities, bits = 2.0 ** -np.array([b for _, b in sentences]), np.array([b for _, b in sentences])
    entropy = probabilities @ bits
    sd = np.sqrt(probabilities @ (bits - entropy) ** 2)
    sample = synthesize(20_000, languages=[language], seed=0, grammar=FREE).information.bits.to_numpy()
    assert abs(sample.mean() - entropy) < 4 * sd / np.sqrt(20_000)  # four standard errors


def test_random_decisions_count_what_they_decide():
    language = DEFAULT_LANGUAGES[-1]
    bits = dict(all_sentences(FREE, language))
    speaker = Speaker(language, draw_lexicon(language, FREE, np.random.default_rng(0)))
    for seed in range(50):
        decisions = RandomDecisions(np.random.default_rng(seed))
        text = speaker.say(FREE.draw(decisions), decisions)
        assert_allclose(decisions.bits, bits[text], rtol=ROUNDING)
