from dataclasses import replace

import pytest

from langdiff.errors import ConfigError
from langdiff.lm import RECIPES, KneserNeyRecipe, Scoring, train_kneser_ney, train_language_model
from langdiff.lm.language_model import find_lm, find_scored_lm
from langdiff.lm.scoring import as_scoring, split_name

PRICES = [{}, {"price_scripts": True}, {"price_replaced": False}]
ALL = [Scoring(**price, carried=carried) for price in PRICES for carried in (False, True)]


def test_replaced_characters_are_priced_and_no_state_is_carried_by_default():
    assert Scoring() == Scoring(price_replaced=True, carried=False) == as_scoring(None)


@pytest.mark.parametrize("scoring", ALL)
def test_names_are_read_back(scoring):
    assert as_scoring(scoring.name) == as_scoring(scoring) == scoring
    assert split_name(f"char-ptb{scoring.ending}") == ("char-ptb", None if scoring == Scoring() else scoring)
    found = find_scored_lm(f"char-ptb{scoring.ending}")
    assert found == (RECIPES["char-ptb"], scoring) == find_scored_lm("char-ptb", scoring)
    assert found.name == f"char-ptb{scoring.ending}"


def test_scripts_are_priced_with_characters_only():
    with pytest.raises(ConfigError, match="leave out 'unpriced' or 'scripts'"):
        find_scored_lm("char-tiny-unpriced-scripts")
    with pytest.raises(ConfigError, match="leave out 'unpriced' or 'scripts'"):
        Scoring.named("unpriced, scripts")


def test_endings_in_any_order_and_each_once():
    assert find_scored_lm("bpe-awd-carried-unpriced").name == "bpe-awd-unpriced-carried"
    with pytest.raises(ConfigError, match="'bpe-awd-carried' names a recipe and a way of scoring"):
        find_scored_lm("bpe-awd-carried-carried")


@pytest.mark.parametrize("name", ["", "free", "priced, unpriced", "carried, carried", "priced carried"])
def test_unknown_ways_of_scoring(name):
    with pytest.raises(ConfigError, match=r"unknown way of scoring .*: write 'priced' or 'unpriced'"):
        Scoring.named(name)


def test_n_grams_are_named_so_too():
    assert find_scored_lm("kneser-ney-4-unpriced") == (
        KneserNeyRecipe(name="kneser-ney-4", order=4),
        Scoring(price_replaced=False),
    )


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("char-smoll", "'char-small'"),
        ("kneser-ney-six", "'kneser-ney-6'"),
        ("char-smal-unpriced", "'char-small'"),
        ("char-small-unpricd", "'char-small-unpriced'"),
    ],
)
def test_unknown_names_suggest_a_known_one(wrong, right):
    with pytest.raises(ConfigError, match=f"unknown language model .*{right}"):
        find_scored_lm(wrong)


def test_how_to_score_is_said_once():
    with pytest.raises(ConfigError, match="'char-tiny-unpriced' and scoring both say how to score"):
        find_scored_lm("char-tiny-unpriced", "priced")


def test_training_knows_nothing_of_it():
    with pytest.raises(ConfigError, match=r"train 'char-tiny', and score .*scoring='unpriced'"):
        find_lm("char-tiny-unpriced")
    with pytest.raises(ConfigError, match=r"train 'char-tiny', and score .*scoring='unpriced'"):
        train_language_model(["ab"], ["ab"], recipe="char-tiny-unpriced", seed=0)
    with pytest.raises(ConfigError, match=r"train 'kneser-ney-3', and score"):
        train_kneser_ney(["ab"], ["ab"], recipe="kneser-ney-3-unpriced")
    with pytest.raises(ConfigError, match="its name ends as a way of scoring does"):
        replace(RECIPES["char-tiny"], name="mine-carried")
