"""The five tables, against the worked example and against slow counting with dictionaries."""

import math
from collections import Counter

import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose

from langdiff.treebanks import SimilaritySettings
from langdiff.treebanks.chains import cooccurrences, width_costs
from langdiff.treebanks.conllu import Tree
from langdiff.treebanks.profile import profile_treebank
from langdiff.treebanks.tables import ROW, leaf_costs, shared_names, tables
from langdiff.treebanks.treebank import Treebank
from tests.helpers import refused
from tests.treebanks import oracle
from tests.treebanks.strategies import SAW, SLEEP, A, B, corpora

ROUNDING = 1e-9  # sums of logarithms, and logarithms of products


def bank(trees, name="corpus"):
    return Treebank.from_trees(trees, name=name)


def table(profile, metric):
    return {key: int(count) for key, count in profile.bins[metric].items()}


@pytest.fixture
def a():
    return profile_treebank(bank(A, "A"))


@pytest.fixture
def b():
    return profile_treebank(bank(B, "B"))


def test_worked_matrix(a, b):
    cells = {key: int(count) for key, count in a.cooccurrences.items()}
    of_root = {key[1:]: count for key, count in cells.items() if key[0] == "root"}
    assert of_root == {
        ("BOS", "nsubj"): 2, ("BOS", "obj"): 1, ("BOS", "punct"): 1,
        ("nsubj", "obj"): 1, ("nsubj", "punct"): 1, ("obj", "punct"): 1,
        ("nsubj", "EOS"): 2, ("obj", "EOS"): 1, ("punct", "EOS"): 1,
    }  # fmt: skip
    for kind in ("nsubj", "obj"):
        assert {key[1:]: n for key, n in cells.items() if key[0] == kind} == {("BOS", "det"): 1, ("det", "EOS"): 1}
    assert {key[1:]: n for key, n in cells.items() if key[0] == "BOS"} == {("BOS", "root"): 2, ("root", "EOS"): 2}
    other = b.cooccurrences["root"]
    assert (other["BOS", "advmod"], other["nsubj", "advmod"], other["advmod", "advmod"]) == (2, 2, 1)
    assert table(a, "matrix") == {k: n for k, n in cells.items() if k[1] != "BOS" and k[2] != "EOS"}


def test_normalized_matrices(a, b):
    by_columns = b.matrix("root")
    assert (by_columns.loc["BOS"] == 1).all()
    assert by_columns.at["advmod", "advmod"] == 0.5
    assert by_columns.at["nsubj", "advmod"] == 1
    by_rows = b.matrix("root", by="rows")
    assert (by_rows["EOS"] == 1).all()
    assert by_rows.at["nsubj", "advmod"] == 1  # two adverbs follow one of two subjects
    refused(ValueError, "no word of relation 'punct' has children in 'A'", a.matrix, "punct")


LEVELS = ("separate", "pooled", "context")
LABELS = ("upos+deprel", "deprel", "upos")


@settings(max_examples=20)  # of each of 27 combinations
@given(trees=corpora)
@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("ancestors", [0, 1, 2])
@pytest.mark.parametrize("label", LABELS)
def test_depth_against_direct_counting(trees, levels, ancestors, label):
    options = SimilaritySettings(levels=levels, ancestors=ancestors, label=label)
    ours = leaf_costs(bank(trees), options, bank(trees))
    expected = oracle.depth_costs(trees, levels=levels, ancestors=ancestors, label=label)
    # sentence by sentence, leaves in text order: the same order
    assert_allclose(ours, expected, atol=ROUNDING)


@given(trees=corpora)
@pytest.mark.parametrize("adjacent", [True, False])
def test_matrix_against_direct_counting(trees, adjacent):
    corpus = bank(trees)
    size = len(corpus.deprel_names)
    counts = cooccurrences(corpus.parents, corpus.deprels, size, adjacent=adjacent)
    before, after = [*corpus.deprel_names, "BOS"], [*corpus.deprel_names, "EOS"]
    ours = {
        (before[code // (size + 1) ** 2], before[code // (size + 1) % (size + 1)], after[code % (size + 1)]): int(n)
        for code, n in zip(counts.bins, counts.counts, strict=True)
    }
    assert ours == oracle.matrices(trees, adjacent)


@given(trees=corpora)
@pytest.mark.parametrize("by", ["columns", "rows"])
def test_width_against_direct_counting(trees, by):
    corpus = bank(trees)
    size = len(corpus.deprel_names)
    counts = cooccurrences(corpus.parents, corpus.deprels, size)
    ours = width_costs(corpus.parents, corpus.deprels, size, counts, normalize=by)
    assert_allclose(ours, oracle.width_costs(trees, by=by), atol=ROUNDING)


@given(trees=corpora)
def test_size_and_length_against_direct_counting(trees):
    counts = tables(bank(trees), SimilaritySettings(size_bin=0.5))
    size = {divmod(int(b), ROW): int(n) for b, n in zip(*counts["size"], strict=True)}
    assert size == oracle.size(trees, width=0.5)
    assert dict(zip(*counts["length"], strict=True)) == oracle.lengths(trees)


@given(trees=corpora, learn=corpora)
def test_statistics_of_a_reference(trees, learn):
    corpus, reference = shared_names([bank(trees), bank(learn)])
    ours = leaf_costs(corpus, SimilaritySettings(), reference)
    assert_allclose(ours, oracle.depth_costs(trees, learn), atol=ROUNDING)
    relations = len(corpus.deprel_names)
    counts = cooccurrences(reference.parents, reference.deprels, relations)
    ours = width_costs(corpus.parents, corpus.deprels, relations, counts)
    assert_allclose(ours, oracle.width_costs(trees, learn), atol=ROUNDING)


@given(trees=corpora)
def test_neither_order_of_sentences_nor_forms_matter(trees):
    renamed = [Tree(("x",) * len(one), one.upos, one.heads, one.deprels) for one in reversed(trees)]
    one, other = shared_names([bank(trees), bank(renamed)])
    first, second = tables(one, SimilaritySettings()), tables(other, SimilaritySettings())
    for metric, counts in first.items():
        assert Counter(dict(zip(*counts, strict=True))) == Counter(dict(zip(*second[metric], strict=True)))


def test_one_word():
    profile = profile_treebank(bank([Tree(("yes",), ("INTJ",), (0,), ("root",))] * 3))
    assert table(profile, "size") == {(0, 1): 3}
    assert table(profile, "depth") == {0.0: 3}  # probability 1
    assert table(profile, "width") == table(profile, "length") == table(profile, "matrix") == {}
    assert profile.sizes["depth_keys"] == 0


def test_thirty_children():
    flat = Tree(("w",) * 31, ("X",) * 31, (0, *[1] * 30), ("root", *[f"r{i % 10}" for i in range(30)]))
    profile = profile_treebank(bank([flat]))
    assert table(profile, "length") == {30: 1}
    assert dict(profile.cooccurrences.items()) == oracle.matrices([flat])
    # each relation thrice: the later of a pair has seen the earlier, once not
    assert profile.matrix("root").at["r9", "r0"] == pytest.approx(2 / 3)
    assert table(profile, "width") == {0.25 * b: n for b, n in oracle.binned(oracle.width_costs([flat])).items()}


def chain(depth, relation):
    size = depth + 1
    return Tree(("w",) * size, ("X",) * size, tuple(range(size)), ("root", *[relation(i) for i in range(depth)]))


def test_a_chain_of_depth_sixty():
    trees = [chain(60, lambda i: f"r{i % 7}"), SAW, SLEEP]
    costs = leaf_costs(bank(trees), SimilaritySettings(levels="pooled"), bank(trees))
    assert_allclose(costs, oracle.depth_costs(trees, levels="pooled"), atol=ROUNDING)
    assert 50 < costs[0] < 65


def test_probabilities_beyond_floats_do_not_underflow():
    corpus = bank([chain(2000, lambda i: f"r{i}")])
    cost = leaf_costs(corpus, SimilaritySettings(levels="pooled"), corpus)[0]
    assert cost == pytest.approx(2000 * math.log10(2000))  # 10 ** -6602


def test_labels_of_the_two_examples_differ_by_option():
    # deprel alone cannot tell these apart
    verb, noun = SLEEP, Tree(SLEEP.forms, ("NOUN", "NOUN", "ADV", "ADV"), SLEEP.heads, SLEEP.deprels)
    keys = {label: profile_treebank(bank([verb, noun]), SimilaritySettings(label=label)) for label in LABELS}
    assert [keys[label].sizes["depth_keys"] for label in LABELS] == [6, 3, 6]
    assert profile_treebank(bank([SAW]), SimilaritySettings(levels="pooled")).sizes["depth_keys"] == 5
