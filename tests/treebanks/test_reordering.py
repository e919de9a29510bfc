"""Sentences of treebanks in other orders."""

from collections import Counter

import pytest

from langdiff.errors import ConfigError, DataError
from langdiff.treebanks import reorder
from tests.helpers import refused

SENTENCE = """# sent_id = a1
1-2	Theold	_	_	_	_	_	_	_	_
1	The	the	DET	_	_	3	det	_	_
2	old	_	ADJ	_	_	3	amod	_	_
3	dogs	dog	NOUN	_	_	4	nsubj:pass	_	_
4	were	be	AUX	_	_	0	root	_	_
5	at	at	ADP	_	_	6	case	_	_
6	home	home	NOUN	_	_	4	obl	_	_

# sent_id = a2
1	Go	go	VERB	_	_	0	root	_	_

"""
ORDERS = ("head-final", "head-initial", "random-grammar")


@pytest.fixture
def bank(tmp_path):
    path = tmp_path / "eng.conllu"
    path.write_text(SENTENCE, encoding="utf-8")
    return path


def test_texts_by_hand(bank):
    made = reorder(bank, ["forms", "head-final", "head-initial", "lemmas"])
    assert made.to_frame().loc["a1"].to_dict() == {
        "eng": "The old dogs were at home",
        "eng|head-final": "The old dogs at home were",
        "eng|head-initial": "were dogs The old home at",
        "eng|lemmas": "the old dog be at home",
    }
    assert made.intents.tolist() == ["a1", "a2"]
    assert made.edition_info["base"].tolist() == ["eng"] * 4


def linearized(words, heads, deprels, weights, head=0):
    """The definition, recursively."""
    own = [place for place, parent in enumerate(heads, start=1) if parent == head]
    own.sort(key=lambda place: weights[deprels[place - 1]])
    sides = {
        side: [word for place in own if (weights[deprels[place - 1]] < 0) == side
               for word in linearized(words, heads, deprels, weights, place)]
        for side in (True, False)
    }  # fmt: skip
    return [*sides[True], *([words[head - 1]] if head else []), *sides[False]]


@pytest.mark.parametrize("seed", range(5))
def test_a_random_grammar_is_one_for_all(bank, seed):
    from langdiff.base.types import keyed_random

    words, heads = ["The", "old", "dogs", "were", "at", "home"], (3, 3, 4, 0, 6, 4)
    deprels = ("det", "amod", "nsubj", "root", "case", "obl")
    weights = {each: keyed_random(seed, "random-grammar", each).uniform(-1, 1) for each in deprels}
    text = reorder(bank, "random-grammar", seed=seed).to_frame().iloc[0, 0]
    assert text.split() == linearized(words, heads, deprels, weights)


def test_words_are_kept(bank):
    texts = reorder(bank, ["forms", *ORDERS], name="x").to_frame()
    for kind in ORDERS:
        for one, other in zip(texts["x"], texts[f"x|{kind}"], strict=True):
            assert Counter(one.split(" ")) == Counter(other.split(" "))


def test_what_is_refused(bank, tmp_path):
    refused(ConfigError, "'head-middle' is not known", reorder, bank, "head-middle")
    refused(ConfigError, "each once", reorder, bank, ["forms", "forms"])
    (tmp_path / "empty.conllu").write_text("", encoding="utf-8")
    refused(DataError, r"empty\.conllu: no sentence", reorder, tmp_path / "empty.conllu", "forms")
