import pytest

from langdiff.errors import ConfigError
from langdiff.lm import RECIPES, Scoring, train_kneser_ney, train_language_model
from langdiff.lm.language_model import find_scored_lm
from langdiff.lm.scoring import as_scoring, split_name

PRICES = [{}, {"price_scripts": True}, {"price_replaced": False}]
ALL = [Scoring(**price, carried=carried) for price in PRICES for carried in (False, True)]


@pytest.mark.parametrize("scoring", ALL)
def test_names_are_read_back(scoring):
    assert as_scoring(scoring.name) == as_scoring(scoring) == scoring
    assert split_name(f"char-ptb{scoring.ending}") == ("char-ptb", None if scoring == Scoring() else scoring)
    found = find_scored_lm(f"char-ptb{scoring.ending}")
    assert found == (RECIPES["char-ptb"], scoring) == find_scored_lm("char-ptb", scoring)
    assert found.name == f"char-ptb{scoring.ending}"


def test_endings_in_any_order():
    assert find_scored_lm("bpe-awd-carried-unpriced").name == "bpe-awd-unpriced-carried"


@pytest.mark.parametrize(
    ("name", "scoring", "words"),
    [
        ("char-tiny-unpriced-scripts", None, "leave out 'unpriced' or 'scripts'"),
        ("bpe-awd-carried-carried", None, "names a recipe and a way of scoring"),
        ("char-tiny-unpriced", "priced", "both say how to score"),
        ("char-tiny", "priced, unpriced", "unknown way of scoring"),
        ("char-smoll", None, "unknown language model .*'char-small'"),
        ("char-small-unpricd", None, "'char-small-unpriced'"),
        ("kneser-ney-06", None, "unknown language model .*'kneser-ney-6'"),
        ("kneser-ney-21", None, "order must be from 1 to 20"),
    ],
)
def test_names_that_are_refused(name, scoring, words):
    with pytest.raises(ConfigError, match=words):
        find_scored_lm(name, scoring)


@pytest.mark.parametrize(
    ("train", "recipe", "words"),
    [
        (train_language_model, "char-tiny-unpriced", "train 'char-tiny', and score .*scoring='unpriced'"),
        (train_language_model, "kneser-ney-6", "'kneser-ney-6' is not a network.*train_kneser_ney"),
        (train_language_model, 6, "name a recipe, or give a Recipe of a network; 6 is neither"),
        (train_kneser_ney, "kneser-ney-3-unpriced", "train 'kneser-ney-3', and score"),
        (train_kneser_ney, "char-tiny", "'char-tiny' is not an n-gram model"),
    ],
)
def test_recipes_that_a_function_does_not_train(train, recipe, words):
    settings = {} if train is train_kneser_ney else {"seed": 0, "progress": False}
    with pytest.raises(ConfigError, match=words):
        train(["ab"] * 30, ["ab"], recipe=recipe, **settings)
