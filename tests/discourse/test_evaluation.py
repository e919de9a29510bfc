import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from langdiff.discourse import (
    DiscourseTree,
    attachments_of,
    binarize,
    discourse_similarity,
    evaluate_discourse,
    parse_discourse,
    tree_of_attachments,
)
from langdiff.discourse.evaluation import error_reduction
from langdiff.errors import ConfigError, DataError, LangdiffWarning
from tests.discourse.strategies import pairs
from tests.helpers import refused

METRICS = ["S", "N", "R", "F"]
GOLD = "1 1 S attribution\n2 4 N span\n2 2 N List\n3 3 N List\n4 4 N List\n5 5 S evidence"
PREDICTED = (
    "1 1 S attribution\n2 5 N span\n2 3 N span\n2 2 N List\n3 3 N List\n4 5 S evidence\n4 4 N span\n"
    "5 5 S elaboration-additional"
)
SHORT = parse_discourse("1 1 N span\n2 2 S evidence", format="spans")
ONE_EDU = DiscourseTree(nodes=[(1, 1, "Root", "---")])
ONE = {"one": parse_discourse(GOLD, format="spans")}
ONE_PREDICTED = {"one": parse_discourse(PREDICTED, format="spans")}
BOTH = ONE | {"two": SHORT}
BOTH_PREDICTED = {"p": ONE_PREDICTED | {"two": SHORT}}


def f1(evaluation, procedure, averaging, system="p"):
    return evaluation.scores(procedure, averaging).loc[system].round(4).tolist()


# worked examples; true positives of S, N, R, F and number of items
@pytest.mark.parametrize(
    ("mode", "procedure", "counts", "items"),
    [
        ("right", "rst-parseval", [6, 6, 4, 4], 8),
        ("right", "parseval", [2, 2, 2, 2], 4),
        ("right_mixed", "rst-parseval", [5, 5, 3, 3], 8),
        ("right_mixed", "parseval", [1, 0, 0, 0], 4),
    ],
)
def test_worked_counts(mode, procedure, counts, items):
    row = evaluate_discourse(ONE, {"p": ONE_PREDICTED}, binarization=mode).counts().loc[(procedure, "p", "one")]
    assert row[METRICS].tolist() == counts
    assert row["gold"] == row["predicted"] == items


def test_worked_counts_without_binarization():
    with pytest.warns(LangdiffWarning, match="the reference has 6 items, p 8"):
        result = evaluate_discourse(ONE, {"p": ONE_PREDICTED}, binarization="none", procedures=["rst-parseval"])
    assert f1(result, "rst-parseval", "micro") == [0.7143, 0.7143, 0.4286, 0.4286]
    row = result.to_frame().iloc[0]
    assert (row["precision"], row["recall"]) == (5 / 8, 5 / 6)
    assert result.counts().iloc[0].tolist() == [5, 5, 3, 3, 6, 8]
    with pytest.raises(ConfigError, match=r"has 3 children; .* binary first \(binarization right, .*left\)\.$"):
        evaluate_discourse(ONE, {"p": ONE_PREDICTED}, binarization="none")


@pytest.mark.parametrize(
    ("mode", "procedure", "averaging", "expected"),
    [
        ("right", "rst-parseval", "micro", [0.8, 0.8, 0.6, 0.6]),
        ("right", "rst-parseval", "macro", [0.875, 0.875, 0.75, 0.75]),
        ("right", "parseval", "micro", [0.6, 0.6, 0.6, 0.6]),
        ("right", "parseval", "macro", [0.75, 0.75, 0.75, 0.75]),
        ("right_mixed", "rst-parseval", "micro", [0.7, 0.7, 0.5, 0.5]),
        ("right_mixed", "rst-parseval", "macro", [0.8125, 0.8125, 0.6875, 0.6875]),
        ("right_mixed", "parseval", "micro", [0.4, 0.2, 0.2, 0.2]),
        ("right_mixed", "parseval", "macro", [0.625, 0.5, 0.5, 0.5]),
    ],
)
def test_worked_averages(mode, procedure, averaging, expected):
    assert f1(evaluate_discourse(BOTH, BOTH_PREDICTED, binarization=mode), procedure, averaging) == expected


def test_worked_items():
    tree = binarize(ONE["one"])
    assert [tuple(each) for each in attachments_of(tree)] == [
        (1, 1, 5, "SN", "attribution"),
        (2, 4, 5, "NS", "evidence"),
        (2, 2, 4, "NN", "List"),
        (3, 3, 4, "NN", "List"),
    ]
    mixed = attachments_of(binarize(ONE["one"], "right_mixed"))
    assert [tuple(each) for each in mixed][:2] == [(1, 4, 5, "NS", "evidence"), (1, 1, 4, "SN", "attribution")]
    assert [tuple(each) for each in attachments_of(ONE_PREDICTED["one"])] == [
        (1, 1, 5, "SN", "attribution"),
        (2, 3, 5, "NS", "evidence"),
        (2, 2, 3, "NN", "List"),
        (4, 4, 5, "NS", "elaboration-additional"),
    ]


def recount(gold, predicted, procedure):
    """Count matches one by one: every item of the reference against every item predicted."""
    if procedure == "rst-parseval":
        items = [[(n.first, n.last, n.nuclearity, n.relation.lower()) for n in t.nodes[1:]] for t in (gold, predicted)]
    else:
        items = [[(a[0], a[2], a[3], a[4].lower()) for a in attachments_of(t)] for t in (gold, predicted)]
    places = {"S": (0, 1), "N": (0, 1, 2), "R": (0, 1, 3), "F": (0, 1, 2, 3)}
    return [
        sum(any(all(g[i] == p[i] for i in places[metric]) for p in items[1]) for g in items[0]) for metric in METRICS
    ]


@given(pair=pairs(), mode=st.sampled_from(["right", "left"]))
def test_counts_are_those_of_a_recount(pair, mode):
    gold, predicted = (binarize(tree, mode) for tree in pair)
    result = evaluate_discourse({"d": pair[0]}, {"p": {"d": pair[1]}}, binarization=mode)
    for procedure, items in (("rst-parseval", 2 * gold.n_edus - 2), ("parseval", gold.n_edus - 1)):
        row = result.counts().loc[(procedure, "p", "d")]
        assert row[METRICS].tolist() == recount(gold, predicted, procedure)
        assert row["gold"] == row["predicted"] == items
        s, n, r, f = row[METRICS]
        assert s >= n >= f
        assert s >= r >= f
    frame = result.to_frame()
    assert_allclose(frame["precision"], frame["f1"])
    assert_allclose(frame["recall"], frame["f1"])


def test_documents_of_one_edu_are_left_out_and_said():
    with pytest.warns(LangdiffWarning, match=r"1 document\(s\) of one EDU have no items.*'tiny'"):
        result = evaluate_discourse(BOTH | {"tiny": ONE_EDU}, {"p": BOTH_PREDICTED["p"] | {"tiny": ONE_EDU}})
    assert result.skipped == ("tiny",)
    assert f1(result, "parseval", "macro") == [0.75] * 4
    assert "Means without the 1 document(s) of one EDU in the reference." in result.summary()


def test_documents_are_paired_by_name_and_all_that_are_missing_are_named():
    gold = dict.fromkeys("abc", SHORT)
    swapped = {"b": SHORT, "c": SHORT, "a": ONE["one"]}
    with pytest.raises(DataError, match=r"p, a: the reference has EDUs 1–2, p has EDUs 1–5\.\n.*spans='chars'"):
        evaluate_discourse(gold, {"p": swapped})
    with pytest.raises(DataError, match=r"3 of 4 documents .*:\n  p, b, c: no prediction\.\n  p, d: no reference\.\n"):
        evaluate_discourse(gold, {"p": {"a": SHORT, "d": SHORT}})
    from_zero = tree_of_attachments([(0, 0, 1, "NS", "evidence")])
    with pytest.raises(DataError, match="a: the reference has EDUs 1–2, p has EDUs 0–1"):
        evaluate_discourse({"a": SHORT}, {"p": {"a": from_zero}})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"binarization": "up"}, "binarization is one of"),
        ({"spans": "words"}, "spans is one of edus, chars"),
        ({"procedures": ["both"]}, "procedures: 'both' is not known"),
        ({"procedures": ["parseval", "parseval"]}, "procedures: name at least one, and each once"),
        ({"classes": {"Evidence-e": "x", "evidence": "y"}}, "classes: 'evidence' is in 'x' and in 'y'"),
        ({"classes": {"span": "x"}}, "classes: 'span' cannot be in 'x': 'span' is not a relation"),
        ({"classes": {"evidence": ""}}, "classes: a relation or its class is empty"),
        ({"classes": "none"}, "classes are 'rst-dt', 'gum' or a mapping"),
    ],
)
def test_settings_are_checked(settings, message):
    refused(ConfigError, message, evaluate_discourse, ONE, {"p": ONE_PREDICTED}, **settings)


def test_bad_questions_to_a_result():
    result = evaluate_discourse(ONE, {"p": ONE_PREDICTED}, procedures=["parseval"])
    for ask in (
        lambda: result.scores("rst-parseval"),
        lambda: result.scores("parseval", "mean"),
        lambda: result.relations("parseval", "S"),
        lambda: result.outcomes("parseval", "X"),
        result.between_procedures,
        lambda: evaluate_discourse(ONE, {}),
        lambda: discourse_similarity({}),
        lambda: error_reduction(50, 51, ceiling=50),
    ):
        with pytest.raises(ConfigError):
            ask()


def with_texts(rows, *texts):
    tree = parse_discourse(rows, format="spans")
    return DiscourseTree(nodes=tree.nodes, texts=texts)


def test_spans_of_characters_compare_different_segmentations():
    gold = with_texts("1 1 N span\n2 2 S cause", "It rained", "so we stayed")
    finer = with_texts("1 2 N span\n1 1 N span\n2 2 S background\n3 3 S cause", "It ", "rained ", " so we stayed")
    result = evaluate_discourse({"d": gold}, {"p": {"d": finer}}, spans="chars")
    row = result.counts().loc[("rst-parseval", "p", "d")]
    assert row.tolist() == [2, 2, 2, 2, 2, 4]  # (1–8) and (9–18) of 4 predicted
    assert result.items.query("procedure == 'parseval'")[["first", "last"]].to_numpy().tolist() == [[1, 18]]
    frame = result.to_frame().iloc[0]
    assert (frame["precision"], frame["recall"], round(frame["f1"], 4)) == (0.5, 1.0, 0.6667)
    other = with_texts("1 1 N span\n2 2 S cause", "It rained", "and we stayed")
    with pytest.raises(DataError, match=r"differ first in character 9 .*: 'andwestayed', not 'sowestayed'"):
        evaluate_discourse({"d": gold}, {"p": {"d": other}}, spans="chars")
    for texts in (("It rained", ""), None):
        bare = DiscourseTree(nodes=gold.nodes, texts=texts)
        with pytest.raises(DataError, match="has no text, so that spans of characters are not known"):
            evaluate_discourse({"d": bare}, {"p": {"d": bare}}, spans="chars")


@pytest.mark.parametrize("trivial", [False, True])
def test_a_score_does_not_depend_on_the_other_systems(trivial):
    """The reference and `a` have one EDU where `b` has two: `a` is the reference, and stays perfect beside `b`."""
    whole = DiscourseTree(nodes=[(1, 1, "Root", "---")], texts=("It rained, so we stayed.",))
    halves = with_texts("1 1 N span\n2 2 S cause", "It rained,", "so we stayed.")
    gold = {"one": whole, "two": halves}
    for others in ({}, {"b": {"one": halves, "two": halves}}):
        with pytest.warns(LangdiffWarning, match=r"1 document\(s\) of one EDU have no items in the reference.*'one'"):
            result = evaluate_discourse(gold, {"a": gold, **others}, spans="chars", trivial_spans=trivial)
        assert result.skipped == ("one",)
        for procedure in result.procedures:
            for averaging in ("micro", "macro"):
                assert f1(result, procedure, averaging, "a") == [1] * 4
    assert f1(result, "parseval", "macro", "b") == [1] * 4
    assert f1(result, "parseval", "micro", "b") == [0.6667] * 4  # what it predicts in the other document is wrong
    assert result.counts().loc[("rst-parseval", "b", "one")].tolist() == [0, 0, 0, 0, 0, 2]


def test_a_reference_without_items_is_refused():
    whole = DiscourseTree(nodes=[(1, 1, "Root", "---")], texts=("It rained, so we stayed.",))
    halves = with_texts("1 1 N span\n2 2 S cause", "It rained,", "so we stayed.")
    for predicted in (halves, whole):
        with pytest.raises(DataError, match="the reference has no items: none of its documents has more than one EDU"):
            evaluate_discourse({"d": whole}, {"p": {"d": predicted}}, spans="chars")


def test_trivial_spans_add_three_right_items_to_every_document():
    plain = evaluate_discourse(BOTH, BOTH_PREDICTED)
    added = evaluate_discourse(BOTH, BOTH_PREDICTED, trivial_spans=True)
    difference = added.counts() - plain.counts()
    assert (difference.loc["rst-parseval"] == 3).all(axis=None)
    assert (difference.loc["parseval"] == 0).all(axis=None)
    assert "trivial_spans:yes" in added.signature


def test_labels_that_differ_in_case_or_embedding_are_the_same():
    one = parse_discourse("1 1 N Same-Unit\n2 2 N Same-Unit", format="spans")
    other = parse_discourse("1 1 N same-unit-e\n2 2 N same-unit-e", format="spans")
    assert (evaluate_discourse({"d": one}, {"p": {"d": other}}).to_frame()["f1"] == 1).all()


def test_relations_are_counted_apart():
    table = evaluate_discourse(ONE, {"p": ONE_PREDICTED}).relations().set_index("relation")
    assert table["gold"].tolist() == [2, 1, 1, 0]  # list, attribution, evidence; elaboration-additional is not there
    assert table.loc["list"].drop("system").tolist() == [0, 0, 0, 0, 2, 1, 0]
    assert table.loc["evidence", ["precision", "recall", "f1", "span_recall"]].tolist() == [1, 1, 1, 1]
    assert table.loc["elaboration-additional", ["gold", "predicted", "precision"]].tolist() == [0, 1, 0]
    assert pd.isna(table.at["elaboration-additional", "span_recall"])


def test_outcomes_are_items_by_systems():
    systems = {"p": ONE_PREDICTED, "self": ONE}
    result = evaluate_discourse(ONE, systems)
    outcomes = result.outcomes("parseval", "F")
    assert outcomes.name == "parseval F"
    assert outcomes.successes["p"].to_dict() == {"one/1-5": 1, "one/2-5": 1, "one/2-4": 0, "one/3-4": 0}
    assert outcomes.successes["self"].eq(1).all()
    assert outcomes.trials.eq(1).all(axis=None)
    assert outcomes.items.loc["one/2-4"].tolist() == ["one", "list", "NN", 3]
    assert outcomes.successes["p"].sum() == result.counts().loc[("parseval", "p", "one"), "F"]
    spans = result.outcomes("rst-parseval", "S").given(result.outcomes("rst-parseval", "S"))
    assert spans.successes["p"].sum() == 6


def test_ranks_that_change_are_marked():
    """One long document that `a` does better, and a short one that `b` does."""
    gold = {"long": ONE["one"], "x": SHORT}
    wrong = parse_discourse("1 1 S cause\n2 2 N span", format="spans")
    a = {"long": ONE["one"], "x": wrong}
    b = {"long": ONE_PREDICTED["one"], "x": SHORT}
    result = evaluate_discourse(gold, {"a": a, "b": b})
    table = result.averagings().query("procedure == 'parseval' and metric == 'F'").set_index("system")
    assert table.loc["a", ["micro", "macro", "rank_micro", "rank_macro"]].tolist() == [4 / 5, 1 / 2, 1, 2]
    assert table["rank_changes"].all()
    assert "Ranks that differ between the two averagings: a (N)" in result.summary()
    between = result.between_procedures().query("averaging == 'micro' and metric == 'F'").set_index("system")
    assert between.loc["b", ["rst-parseval", "parseval"]].tolist() == [6 / 10, 3 / 5]


def test_similarity_is_symmetric_and_one_with_itself():
    systems = {
        "gold": BOTH,
        "p": BOTH_PREDICTED["p"],
        "mixed": {n: binarize(t, "right_mixed") for n, t in BOTH.items()},
    }
    matrix = discourse_similarity(systems, metric="R", procedure="rst-parseval")
    assert_allclose(matrix, matrix.T)
    assert_allclose(np.diag(matrix), 1)
    assert matrix.at["gold", "p"] == 0.6


def test_error_reduction_of_the_paper():
    assert round(100 * error_reduction(45.8, 46.8, ceiling=57.1), 1) == 8.8
    assert round(100 * error_reduction(44.6, 46.3, ceiling=55.0), 1) == 16.3
    assert round(100 * error_reduction(44.6, 46.3, ceiling=100), 1) == 3.1


def test_summary_states_what_was_done():
    text = evaluate_discourse(BOTH, BOTH_PREDICTED, classes="rst-dt").summary()
    assert "F1 in percent, parseval, macro (mean over documents)" in text
    assert "p 60.0 60.0 60.0 60.0      5" in text
    assert re.search(r"\[binarization:right\|relations:rst-dt\|spans:edus\|documents:2#\w{8}\|version:", text)
    own = evaluate_discourse(BOTH, BOTH_PREDICTED, classes={"List": "joint"})
    assert "relations:own#" in own.signature
    assert "joint" in set(own.items["relation"])
