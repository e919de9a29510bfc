"""Dependency length, against worked examples and slow counting, and tables of measures."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given

import langdiff as ld
from langdiff.errors import ConfigError, DataError
from langdiff.treebanks import dependency_length, head_pos_entropy
from langdiff.treebanks.conllu import Tree, read_conllu, with_function_heads
from langdiff.treebanks.treebank import blocks_of
from tests.helpers import refused
from tests.treebanks.strategies import A, B, corpora, tree, trees

IN_LONDON = tree(
    "he PRON 2 nsubj; lives VERB 0 root; in ADP 5 case; big ADJ 5 amod; London PROPN 2 obl; . PUNCT 2 punct"
)


def moved(text):
    after = with_function_heads(tree(text))
    return after.heads, after.deprels


def test_adposition_takes_the_place_of_its_object():
    after = with_function_heads(IN_LONDON)
    assert after.heads == (2, 0, 2, 5, 3, 2)  # big stays with London
    assert after.deprels == ("nsubj", "root", "obl", "amod", "case", "punct")
    assert (after.forms, after.upos) == (IN_LONDON.forms, IN_LONDON.upos)


def test_subordinator_is_above_adposition_and_takes_the_root():
    # that in London: a clause whose predicate is a place
    assert moved("that SCONJ 3 mark; in ADP 3 case; London PROPN 0 root") == ((0, 1, 2), ("root", "mark", "case"))
    assert moved("say VERB 0 root; that SCONJ 4 mark; he PRON 4 nsubj; came VERB 1 ccomp") == (
        (0, 1, 4, 2),
        ("root", "ccomp", "nsubj", "mark"),
    )


def test_the_nearer_is_below_the_farther():
    assert moved("from ADP 3 case; under ADP 3 case; beds NOUN 0 root")[0] == (0, 1, 2)
    assert moved("beds NOUN 0 root; under ADP 1 case; from ADP 1 case:x")[0] == (2, 3, 0)
    assert moved("von ADP 2 case; hier ADV 0 root; an ADP 2 case")[0] == (0, 3, 1)  # the right one below


def test_adpositions_of_adpositions():
    # because(case of rain) with its own "of": of takes the place of because, which took that of rain
    assert moved("go VERB 0 root; of ADP 3 case; because ADP 4 case; rain NOUN 1 obl")[0] == (0, 1, 2, 3)
    assert moved("rain NOUN 4 obl; because ADP 1 case; of ADP 2 case; go VERB 0 root")[0] == (2, 3, 4, 0)


@pytest.mark.parametrize(
    "text",
    [
        "to PART 2 mark; go VERB 0 root",  # an infinitive's marker is not a subordinator
        "he PRON 3 nmod; 's PART 1 case; hat NOUN 0 root",
        "up ADP 2 advmod; go VERB 0 root",
        "of ADP 0 root; course ADV 1 fixed",
    ],
)
def test_what_is_not_moved(text):
    assert with_function_heads(tree(text)) == tree(text)


def test_what_is_attached_to_an_adposition_moves_with_it():
    assert moved("out ADP 3 case; of ADP 1 fixed; it PRON 0 root")[0] == (0, 1, 1)


@given(tree=trees())
def test_conversion_gives_trees(tree):
    after = with_function_heads(tree)  # a Tree checks itself
    assert sorted(after.deprels) == sorted(tree.deprels)
    moves = [
        word
        for word, (head, upos, deprel) in enumerate(zip(tree.heads, tree.upos, tree.deprels, strict=True), start=1)
        if head and upos == "ADP" and deprel in ("case", "mark")
    ]
    if not moves:
        assert after is tree
    for word in moves:  # from being below to being above
        head, above = tree.heads[word - 1], []
        while head:
            above.append(head)
            head = after.heads[head - 1]
        assert word in above


@given(tree=trees())
def test_identity_without_adpositions_and_subordinators(tree):
    plain = dataclasses.replace(tree, upos=tuple("NOUN" if upos == "ADP" else upos for upos in tree.upos))
    assert with_function_heads(plain) is plain


def test_a_comma_between():
    comma = tree("now ADV 3 advmod; , PUNCT 3 punct; go VERB 0 root")
    lengths = {kind: dependency_length([comma], punctuation=kind).mean for kind in (False, True)}
    assert lengths == {False: 1, True: 1.5}
    assert dependency_length([comma]).mean == 1


@given(trees=corpora)
def test_against_a_matrix_of_distances(trees):
    distances = []
    for one in trees:
        places = np.array([word for word in range(1, len(one) + 1) if one.heads[word - 1]], dtype=int)
        heads = np.array(one.heads)[places - 1]
        distances.append(heads - places)
    distances = np.concatenate(distances)
    if not len(distances):
        refused(DataError, "No dependency to measure", dependency_length, trees, punctuation=True)
        return
    ours = dependency_length(trees, punctuation=True)
    assert ours.mean == pytest.approx(np.abs(distances).mean())
    assert ours.head_final == pytest.approx((distances > 0).mean())
    assert ours.dependencies == len(distances)


@pytest.mark.real_data
def test_head_final_languages_show_with_function_heads(real_data):
    share = {
        language: dependency_length(real_data / "pud" / f"{language}_pud.conllu.gz", heads="function").head_final
        for language in ("ja", "id")
    }
    assert share["ja"] > 0.75
    assert share["id"] < 0.35


def test_one_row_a_treebank():
    measures = ld.measure_treebanks({"a": A, "b": B}, progress=False)
    frame = measures.to_frame().set_index("treebank")
    assert frame.index.tolist() == ["a", "b"]
    assert frame.loc["b", ["sentences", "words", "words_per_sentence"]].tolist() == [2, 10, 5]
    entropy = head_pos_entropy(B)
    assert frame.loc["b", ["hpe_mean", "hpe_skew"]].tolist() == pytest.approx([entropy.mean, entropy.skew], nan_ok=True)
    assert frame.at["b", "dependency_length"] == dependency_length(B).mean
    assert frame.at["b", "head_final_function"] == dependency_length(B, heads="function").head_final
    assert repr(measures) == "TreebankMeasures of 2 treebanks, 18 words"
    assert measures.summary().split("\n")[4].startswith("a ")
    assert measures.summary().endswith("[hpe_over:tokens|punctuation:hpe]")


MEASURES = ["hpe_mean", "hpe_skew", "dependency_length", "head_final", "dependency_length_function"]


def named_blocks(documents):
    """Return trees of documents of unequal length, with the places of each."""
    rng, found = np.random.default_rng(7), []
    places = np.split(np.arange(120), np.sort(rng.choice(np.arange(1, 120), documents - 1, replace=False)))
    for place in places:
        for k in place:
            heads = [0, *(int(rng.integers(1, i)) for i in range(2, int(rng.integers(4, 9))))]
            forms, upos = rng.choice(list("abcd"), len(heads)), rng.choice(["NOUN", "VERB", "ADP"], len(heads))
            order = heads if k % 3 else [h and len(heads) + 1 - h for h in reversed(heads)]
            rels = ["dep" if h else "root" for h in order]
            found.append(Tree(tuple(forms), tuple(upos), tuple(order), tuple(rels), opens=bool(k == place[0])))
    return found, places


@pytest.mark.parametrize(("documents", "units"), [(9, "9 documents from # newdoc"), (1, "50 blocks of neighbouring")])
def test_errors_are_those_of_leaving_each_document_out(documents, units):
    trees, places = named_blocks(documents)
    measures = ld.measure_treebanks({"a": trees, "b": A, "one": A[:1]}, progress=False)
    assert units in measures.summary()
    if documents == 1:
        places = [np.flatnonzero(np.arange(120) * 50 // 120 == block) for block in range(50)]
    left = [[one for k, one in enumerate(trees) if k not in part] for part in places]
    without = ld.measure_treebanks({str(k): part for k, part in enumerate(left)}, progress=False).table
    for name in MEASURES:
        values, count = without[name].to_numpy(), len(places)
        error = np.sqrt((count - 1) / count * ((values - values.mean()) ** 2).sum())
        assert measures.effects(name).std_error["a"] == pytest.approx(error)
        assert np.isnan(measures.to_frame().set_index("treebank").at["one", f"{name}_low"])
    row = measures.to_frame().iloc[0]
    assert all(row[f"{name}_low"] < row[name] < row[f"{name}_high"] for name in MEASURES)
    refused(DataError, "no treebank has an error", ld.measure_treebanks({"one": A[:1]}, progress=False).effects)


@pytest.mark.real_data
def test_errors_are_near_those_of_a_bootstrap_of_the_same_blocks(real_data):
    trees = list(read_conllu(real_data / "pud" / "en_pud.conllu.gz"))[:400]
    blocks = blocks_of([one.opens for one in trees]).of
    rng, drawn = np.random.default_rng(1), []
    for _ in range(40):
        own = [trees[k] for unit in rng.integers(50, size=50) for k in np.flatnonzero(blocks == unit)]
        drawn.append(dependency_length(own).mean)
    error = ld.measure_treebanks({"en": trees}, progress=False).effects("dependency_length").std_error["en"]
    assert error == pytest.approx(np.std(drawn, ddof=1), rel=0.35)  # three errors of forty draws


@pytest.mark.parametrize("punctuation", [True, False])
def test_punctuation_is_one_option_for_all_measures(punctuation):
    measures = ld.measure_treebanks({"a": A}, punctuation=punctuation, progress=False)
    row = measures.table.loc["a"]
    assert row["words"] == (8 if punctuation else 7)
    assert row["hpe_mean"] == head_pos_entropy(A, punctuation=punctuation).mean
    for heads, name in (("content", "dependency_length"), ("function", "dependency_length_function")):
        assert row[name] == dependency_length(A, heads=heads, punctuation=punctuation).mean
    assert measures.summary().endswith(f"|punctuation:{'yes' if punctuation else 'no'}]")
    default = ld.measure_treebanks({"a": A}, progress=False).table.loc["a"]
    assert default["hpe_mean"] == head_pos_entropy(A, punctuation=True).mean
    assert default["dependency_length"] == dependency_length(A, punctuation=False).mean


def test_names(tmp_path):
    (tmp_path / "deep").mkdir()
    for name in ("x.conllu", "deep/x.conllu", "y.v2.conllu"):
        (tmp_path / name).write_text("1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n2\tb\t_\tX\t_\t_\t1\tdep\t_\t_\n")
    measures = ld.measure_treebanks([tmp_path / "x.conllu", str(tmp_path / "y.v2.conllu")])
    assert measures.table.index.tolist() == ["x", "y.v2"]
    assert ld.measure_treebanks(tmp_path / "x.conllu").table.index.tolist() == ["x"]
    with pytest.raises(ConfigError, match="several treebanks are called 'x'; rename files"):
        ld.measure_treebanks([tmp_path / "x.conllu", tmp_path / "deep/x.conllu"])
    with pytest.raises(DataError, match="Treebank 'none': There are no tokens to measure"):
        ld.measure_treebanks({"a": A, "none": []}, progress=False)
    refused(ConfigError, "no treebank is given", ld.measure_treebanks, [])
