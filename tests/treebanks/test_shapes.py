"""Scores of trees by the shapes of their sub-trees."""

import math

import pytest

from langdiff.errors import ConfigError, DataError
from langdiff.treebanks import score_trees
from langdiff.treebanks.measures import ShapeCounts
from tests.helpers import refused
from tests.treebanks.strategies import BARK, SAW, SLEEP, A, tree

RUN = tree("I PRON 2 nsubj; run VERB 0 root")


def test_probability_by_hand():
    """One tree "nsubj HEAD" under root and a leaf: 5 transitions among nsubj, HEAD (twice) and EOS (twice)."""
    anywhere = {"nsubj": 2 / 9, "HEAD": 3 / 9, "EOS": 3 / 9}
    root = math.prod((1 + anywhere[symbol]) / 2 for symbol in ("nsubj", "HEAD", "EOS"))
    leaf = math.prod((1 + anywhere[symbol]) / 2 for symbol in ("HEAD", "EOS"))
    assert ShapeCounts([RUN]).log_probability(RUN) == pytest.approx(math.log((1 + root) / 2 * (1 + leaf) / 2))


def test_leave_one_out_equals_counting_without_the_tree():
    trees = [*A, SLEEP]
    scores = score_trees(trees)["log_probability"]
    for place, one in enumerate(trees):
        others = trees[:place] + trees[place + 1 :]
        assert scores.iloc[place] == pytest.approx(ShapeCounts(others).log_probability(one))


def test_scores_are_sums_over_words_and_ignore_forms():
    frame = score_trees([SAW, BARK], [tree("x DET 2 det; y NOUN 3 nsubj; z VERB 0 root"), BARK])
    assert list(frame.index) == [1, 2]
    assert list(frame["words"]) == [3, 2]
    assert frame["per_word"].tolist() == pytest.approx((frame["log_probability"] / frame["words"]).tolist())


def test_relations_never_seen_have_a_finite_score():
    assert -100 < ShapeCounts([RUN]).log_probability(tree("a X 2 new; b X 3 other; c X 0 root")) < 0


def test_what_cannot_be_scored_is_told():
    refused(DataError, "reference has no tree", score_trees, [])
    refused(DataError, "no tree to score", score_trees, [RUN], [])
    same = [RUN]
    refused(ConfigError, "leave it out", score_trees, same, same)
