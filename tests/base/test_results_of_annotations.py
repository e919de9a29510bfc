"""Results on annotated texts: files give them back, and notebooks and papers show them."""

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

import langdiff as ld
from langdiff import constructions, discourse, parallelism, treebanks
from langdiff.parallelism import Parallelism, make_document
from langdiff.treebanks.profile import profile_treebank
from langdiff.treebanks.tree import Tree
from langdiff.treebanks.treebank import Treebank

SING = Tree(("I", "sing"), ("PRON", "VERB"), (2, 0), ("nsubj", "root"))
SLEEP = Tree(("they", "sleep", "here"), ("PRON", "VERB", "ADV"), (2, 0, 2), ("nsubj", "root", "advmod"))
BANKS = [
    Treebank.from_trees([SING, SLEEP] * 5, name="a_b & <i>"),
    Treebank.from_trees([SLEEP, SING, SING] * 4, name="b"),
]
TREES = {
    name: discourse.parse_discourse("1 1 S cause\n2 3 N span\n2 2 N list\n3 3 N list", format="spans", document=name)
    for name in ("rain", "snow", "hail", "sun")
}
WORDS = ["we", "came", ",", "we", "saw", ",", "we", "stayed"]
GOLD = {"1": make_document("1", WORDS, [Parallelism(((0, 2), (3, 5), (6, 8)))]), "2": make_document("2", WORDS, [])}
GUESS = {"1": make_document("1", WORDS, [Parallelism(((0, 2), (3, 5)))]), "2": make_document("2", WORDS, [])}


def parses():
    gold = constructions.constructed_gold()
    blocks = dict.fromkeys(gold.sentences, ("1 obj 4",))
    return gold, constructions.Parses(name="mine", shape="triples", blocks=blocks)


def evaluation():
    other = {name: discourse.binarize(tree, "left") for name, tree in TREES.items()}
    other["rain"] = discourse.parse_discourse("1 2 S cause\n3 3 N span\n1 1 N list\n2 2 N list", format="spans")
    return discourse.evaluate_discourse(TREES, {"one": other, "two": TREES})


MAKERS = {
    "TreebankComparison": lambda: ld.compare_treebanks(BANKS, seed=0),
    "TreebankMeasures": lambda: ld.measure_treebanks({"one": [SING], "two": [SLEEP, SING]}),
    "TreebankProfile": lambda: profile_treebank(BANKS[0]),
    "PerturbationCurve": lambda: treebanks.perturbation_curve(BANKS[0], rates=[0, 0.5], seed=0),
    "GoldTargets": constructions.constructed_gold,
    "ConstructionScores": lambda: constructions.evaluate(*parses()),
    "Agreement": lambda: constructions.compare_annotators(*[constructions.constructed_gold()] * 2),
    "CheckedClaims": lambda: constructions.check_claims(
        pd.DataFrame({"phenomenon": ["ned"], "type": ["MOD"], "parser": ["XLE"], "recall": [0.6]}),
        pd.DataFrame(
            {"claim": ["XLE alone"], "phenomenon": ["ned"], "column": ["MOD"], "who": ["all"], "holds": ["> 0.1"]}
        ),
    ),
    "DiscourseTree": lambda: TREES["rain"],
    "DiscourseEvaluation": evaluation,
    "DiscourseDifferences": lambda: evaluation().compare(seed=0, n_draws=9),
    "TreeComparison": lambda: discourse.compare_trees(TREES["rain"], discourse.binarize(TREES["rain"], "left")),
    "AnnotatorAgreement": lambda: parallelism.annotator_agreement(GOLD, GUESS, seed=0, n_draws=9),
    "ParallelismErrors": lambda: parallelism.classify_errors({"guess": GUESS}, GOLD),
    "ParallelismScores": lambda: parallelism.score_parallelisms({"guess": GUESS}, GOLD),
    "ParallelismStatistics": lambda: parallelism.parallelism_statistics(GOLD),
    "RankComparison": lambda: parallelism.compare_treatments(
        pd.DataFrame({"a": [3, 5, 4], "b": [2, 4, 3], "c": [1, 2, 1]})
    ),
    "DocumentSplit": lambda: parallelism.split_documents(parallelism.tag_counts(GOLD), {"training": 0.5, "test": 0.5}),
}


@pytest.mark.filterwarnings("ignore:.*rules .* find no target:langdiff.errors.LangdiffWarning")
@pytest.mark.parametrize("name", MAKERS)
def test_a_file_gives_the_result_back(name, tmp_path):
    result = MAKERS[name]()
    result.save(tmp_path / "result.json")
    again = ld.read(tmp_path / "result.json")
    assert (type(again), type(again).__name__) == (type(result), name)
    assert_frame_equal(again.to_frame(), result.to_frame())
    assert (repr(again), again.summary(), again.to_json()) == (repr(result), result.summary(), result.to_json())


@pytest.mark.filterwarnings("ignore:.*rules .* find no target:langdiff.errors.LangdiffWarning")
@pytest.mark.parametrize("name", MAKERS)
def test_notebooks_and_papers_show_it(name):
    result = MAKERS[name]()
    assert "<table" in (html := result._repr_html_())
    assert "<i>" not in html
    assert r"\bottomrule" in result.to_latex()


def test_a_table_made_when_it_is_asked_for_is_in_the_file(tmp_path):
    scores = MAKERS["ParallelismScores"]()
    scores.save(tmp_path / "scores.json")
    assert_frame_equal(ld.read(tmp_path / "scores.json").parallelisms, scores.parallelisms)
