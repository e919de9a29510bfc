"""The synthetic multitext as a whole, and the parameters it refuses."""

import unicodedata

import numpy as np
import pytest
from numpy.testing import assert_allclose
from pandas.testing import assert_frame_equal, assert_series_equal

from langdiff.corpora import SyntheticLanguage, read_multitext, synthesize, write_multitext
from langdiff.corpora.synthetic.language import DEFAULT_LANGUAGES, Grammar
from langdiff.errors import ConfigError
from tests.helpers import refused


@pytest.fixture(scope="module")
def synthetic():
    return synthesize(1500, seed=7)


def test_deterministic(synthetic):
    again = synthesize(1500, seed=7)
    assert_frame_equal(again.multitext.to_frame(), synthetic.multitext.to_frame())
    assert_frame_equal(again.information.bits, synthetic.information.bits)
    other = synthesize(1500, seed=8)
    assert not other.multitext.to_frame().equals(synthetic.multitext.to_frame())
    generator = synthesize(1500, seed=np.random.default_rng(7))
    assert_frame_equal(generator.information.bits, synthetic.information.bits)


def test_more_languages_or_intents_change_none_before(synthetic):
    more = synthesize(1600, 10, seed=7)
    editions = list(synthetic.multitext.editions)
    texts = more.multitext.to_frame().loc[synthetic.multitext.intents, editions]
    assert_frame_equal(texts, synthetic.multitext.to_frame(), check_names=False)
    assert synthesize(10, 12, seed=7).languages["random-9"] == more.languages["random-9"]


def test_difficulty_is_what_it_is_said_to_be(synthetic):
    totals = {edition: sum(synthetic.information.bits[edition]) for edition in synthetic.multitext.editions}
    mean = sum(totals.values()) / len(totals)
    for edition, total in totals.items():
        assert_allclose(synthetic.difficulty[edition], np.log(total / mean), rtol=1e-9)
    assert_allclose(np.exp(synthetic.difficulty).mean(), 1.0, rtol=1e-12)


def test_languages_without_free_choice_are_equally_hard(synthetic):
    own = synthetic.multitext.intent_info["bits"]
    for edition in ("agglutinating-sov", "isolating-svo", "prefixing-vso"):
        assert_series_equal(synthetic.information.bits[edition], own, check_names=False)
    lengths = synthetic.information.characters[["agglutinating-sov", "isolating-svo"]].mean()
    assert lengths.iloc[0] != lengths.iloc[1]  # though not equally long


def test_free_choices_cost_what_they_should(synthetic):
    # isolating, no case: the only free choice is between two words for each noun, verb, adjective and adverb
    free = synthetic.information.bits["synonyms-svo"] - synthetic.multitext.intent_info["bits"]
    assert_allclose(free, free.round(), atol=1e-9)  # one bit a word
    assert free.min() == pytest.approx(2)  # subject and verb


def test_texts(synthetic):
    texts = synthetic.multitext.to_frame()
    characters = texts.map(len)
    assert_frame_equal(synthetic.information.characters, characters.astype(float), check_names=False)
    for edition in texts:
        joined = "".join(texts[edition])
        assert unicodedata.is_normalized("NFC", joined)
        assert "  " not in joined
    assert all(ord(character) > 0xFFFF for character in texts["fusional-concord"].iloc[0] if character.isalpha())
    assert len(set(texts["synonyms-svo"])) > 1000


def test_codes_and_typology(synthetic):
    info = synthetic.multitext.edition_info
    assert list(info["language"][:3]) == ["qaa", "qab", "qac"]
    assert info.loc["free-order", "order"] == "free: SOV SVO OSV OVS VSO VOS"
    assert info.loc["fusional-concord", "agreement"] == "verb adjective"
    assert synthesize(2, 27, seed=0).multitext.edition_info["language"].iloc[-1] == "qba"


def test_missing_sentences():
    whole, holes = synthesize(2000, 4, seed=1), synthesize(2000, 4, seed=1, missing=0.3)
    there = holes.multitext.presence
    assert abs(there.to_numpy().mean() - 0.7) < 4 * np.sqrt(0.21 / 8000)  # four standard errors
    assert_frame_equal(holes.information.bits.notna(), there, check_names=False)
    assert_series_equal(holes.difficulty, whole.difficulty)
    assert_frame_equal(holes.information.bits, whole.information.bits.where(there))
    assert_frame_equal(holes.information.characters.notna(), there, check_names=False)
    assert holes.multitext.to_frame().notna().equals(there)


def test_comes_back_from_files(synthetic, tmp_path):
    write_multitext(synthetic.multitext, tmp_path)
    again = read_multitext(tmp_path)
    assert_frame_equal(again.to_frame(), synthetic.multitext.to_frame())
    info = synthetic.multitext.edition_info
    assert_frame_equal(again.edition_info[list(info)], info, check_dtype=False, check_column_type=False)


def test_ids_are_those_of_verses():
    small = Grammar(nouns=1, adjectives=1, adverbs=1, verbs=(1, 1, 1))
    ids = synthesize(31_205, 1, seed=0, grammar=small).multitext.intents
    # as English Bibles count: the hundredth verse is Genesis 4:20, the 200th 8:16, the 2,000th Exodus 17:16
    assert list(ids[[0, 99, 199, 1_999]]) == ["01001001", "01004020", "01008016", "02017016"]
    assert list(ids[[31_103, 31_104, 31_203, 31_204]]) == ["66022021", "87001001", "87001100", "87002001"]
    assert ids.is_unique
    assert ids.is_monotonic_increasing


def test_table_summary_and_repr(synthetic):
    frame = synthetic.to_frame()
    assert frame.index[0] == "free-order-synonyms"
    assert frame["difficulty"].is_monotonic_decreasing
    assert_allclose(frame["percent"], 100 * (np.exp(frame["difficulty"]) - 1))
    own = synthetic.multitext.intent_info["bits"].mean()
    assert_allclose(frame["free_bits_per_intent"], frame["bits_per_intent"] - own, atol=1e-9)
    assert "free-order-synonyms" in synthetic.summary()
    assert repr(synthetic).startswith("Synthetic Multitext: 1,500 intents × 8 editions (8 languages)")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_intents": 0}, "n_intents must be a whole number from 1 to 990,000, got 0"),
        ({"n_languages": 0}, "the number of languages must be 1 to 520, got 0"),
        ({"n_languages": 521}, "the number of languages must be 1 to 520, got 521"),
        ({"n_languages": [DEFAULT_LANGUAGES[0]]}, "the number of languages must be 1 to 520"),
        ({"languages": [DEFAULT_LANGUAGES[0]] * 2}, "two languages have the same name: 'agglutinating-sov'"),
        ({"missing": 1.0}, "missing must be a probability below 1, got 1.0"),
        ({"missing": float("nan")}, "missing must be"),
        ({"seed": -1}, "seed must be a whole number from 0 up or a numpy Generator.* got -1"),
        ({"seed": "today"}, "seed must be"),
    ],
)
def test_bad_arguments(arguments, message):
    refused(ConfigError, message, synthesize, **{"n_intents": 5, "n_languages": 1, "seed": 0, **arguments})


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"order": "SVV"}, "order must be S, O and V once each, got 'SVV'"),
        ({"order": {"SOV": 0.0}}, "order: weights must be numbers from 0 up, not all 0"),
        ({"order": {"SOV": 1, "OSV": 1}}, "without case it could not be"),
        ({"morphology": "polysynthetic"}, "morphology must be one of isolating, agglutinating, fusional"),
        ({"script": "linear-a"}, "script must be one of latin, greek"),
        ({"syllables": (2, 1)}, "syllables must be"),
        ({"closed": 1.5}, "closed is a probability"),
        ({"synonyms": ()}, "synonyms: weights must be"),
    ],
)
def test_bad_languages(parameters, message):
    refused(ConfigError, message, SyntheticLanguage, name="bad", **parameters)


def test_orders_that_agree_need_no_case():
    language = SyntheticLanguage(name="free", order={"SVO": 1, "VSO": 2, "OVS": 0})
    assert language.orders(3) == (("SVRO", "VSRO"), pytest.approx((1 / 3, 2 / 3)))


def test_orders_merge_without_an_object():
    language = SyntheticLanguage(name="free", order={"SVO": 1, "SOV": 2, "VSO": 1}, case="accusative")
    assert language.orders(1) == (("SV", "VS"), (0.75, 0.25))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"nouns": 0}, "Grammar.nouns must be a whole number from 1 up, got 0"),
        ({"verbs": (1, 1)}, "three numbers, one per valency"),
        ({"verbs": (1, 1, 0)}, r"Grammar.verbs\[2\] must be"),
        ({"plural": -0.1}, "Grammar.plural is a probability, got -0.1"),
        ({"modified": float("nan")}, "Grammar.modified is a probability"),
        ({"tenses": ()}, "Grammar.tenses: weights must be"),
        ({"events": (0.0,)}, "Grammar.events: weights must be"),
        ({"zipf": float("inf")}, "Grammar.zipf must be a finite number"),
    ],
)
def test_bad_grammars(parameters, message):
    refused(ConfigError, message, Grammar, **parameters)


def test_too_few_syllables_for_the_words():
    tiny = SyntheticLanguage(name="tiny", syllables=(1, 1), closed=0.0)
    with pytest.raises(ConfigError, match=r"language 'tiny': \d+ word forms, and no new one .* Raise syllables=\(1"):
        synthesize(5, languages=[tiny], seed=0, grammar=Grammar(nouns=200))
