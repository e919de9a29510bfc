import warnings

import pandas as pd
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose
from pyrallelism.evaluator import evaluate_bipartite_parallelism_metric
from pyrallelism.primitives.evaluation_metric import METRIC_TABLE

import langdiff as ld
from langdiff.errors import ConfigError, DataError, LangdiffWarning
from langdiff.parallelism import Parallelism, Section, make_document, score_parallelisms
from langdiff.parallelism.matching import METRICS, match_parallelisms, overlaps
from tests.helpers import refused
from tests.parallelism.strategies import document_pairs
from tests.parallelism.test_matching import all_matchings, by_definition

P = ((0, 3), (5, 7), (9, 13))
Q = ((20, 24), (25, 29))


def document(sets, length=60, name="d", **kwargs):
    return make_document(name, [f"w{k}" for k in range(length)], [Parallelism(one) for one in sets], **kwargs)


def scores_of(predicted, gold, **kwargs):
    frame = score_parallelisms({"s": {"d": predicted}}, {"d": gold}, **kwargs).to_frame()
    return frame.set_index("metric")


def numbers(frame, metric):
    row = frame.loc[metric]
    return [row["matched"], row["hypothesis_size"], row["reference_size"], round(row["f"], 4)]


# worked out by hand: w*, both sizes and F of each metric
@pytest.mark.parametrize(
    ("predicted", "gold", "expected"),
    [
        (
            [P, ((30, 32), (33, 35))],
            [P],
            {"EPM": [1, 2, 1, 0.6667], "MPBM": [3, 5, 3, 0.75], "MBAWO": [9, 13, 9, 0.8182], "MWO": [9, 13, 9, 0.8182]},
        ),
        (
            [((0, 7), (9, 13))],
            [P],
            {"EPM": [0, 1, 1, 0], "MPBM": [0, 2, 3, 0], "MBAWO": [7, 11, 9, 0.7], "MWO": [9, 11, 9, 0.9]},
        ),
        (
            [((0, 13), (13, 14))],
            [P],
            {"EPM": [0, 1, 1, 0], "MPBM": [0, 2, 3, 0], "MBAWO": [0, 14, 9, 0], "MWO": [9, 14, 9, 0.7826]},
        ),
        (
            [((0, 3), (5, 7)), ((20, 24), (26, 29)), ((40, 42), (43, 45))],
            [P, Q],
            {
                "EPM": [0, 3, 2, 0],
                "MPBM": [2, 6, 5, 0.3636],
                "MBAWO": [12, 16, 17, 0.7273],
                "MWO": [12, 16, 17, 0.7273],
            },
        ),
        ([((0, 4), (5, 9)), ((0, 3), (5, 8))], [((0, 4), (5, 8)), ((0, 2), (5, 9))], {"MBAWO": [12, 14, 13, 0.8889]}),
    ],
)
def test_worked_examples(predicted, gold, expected):
    frame = scores_of(document(predicted), document(gold))
    assert {metric: numbers(frame, metric) for metric in expected} == expected


def test_f_weighs_recall_by_beta():
    row = scores_of(document([((0, 7), (9, 13))]), document([P]), beta=2.0).loc["MBAWO"]
    assert_allclose(row["f"], 5 * (7 / 11) * (7 / 9) / (4 * 7 / 11 + 7 / 9))


def test_without_parallelisms_scores_are_zero_and_undefined():
    empty, full = document([]), document([P])
    frame = scores_of(empty, empty)
    assert frame["undefined"].all()
    assert (frame[["matched", "precision", "recall", "f"]] == 0).all(axis=None)
    assert frame["macro_f"].isna().all()
    for one, other in ((empty, full), (full, empty)):
        frame = scores_of(one, other)
        assert not frame["undefined"].any()
        assert (frame[["matched", "precision", "recall", "f", "macro_f"]] == 0).all(axis=None)


@given(pair=document_pairs())
def test_no_matching_has_a_larger_total(pair):
    gold, predicted = (one.parallelisms for one in pair)
    edges = [by_definition(y.branches, x.branches) for y in gold for x in predicted]
    matched = match_parallelisms(gold, predicted)
    for place, metric in enumerate(METRICS):
        cells = {divmod(k, len(predicted)): scores[place] for k, scores in enumerate(edges) if scores[place]}
        best = max((sum(cells[pair] for pair in pairs.items()) for pairs in all_matchings(cells)), default=0)
        assert sum(credit for _, credit in matched[metric].values()) == best


@given(pair=document_pairs())
def test_published_implementation_differs_by_ties_only(pair):
    reference, hypothesis = pair
    frame = scores_of(hypothesis, reference)
    sets = [{k: set(one.branches) for k, one in enumerate(side.parallelisms)} for side in (hypothesis, reference)]
    for metric in METRICS:
        theirs, components = evaluate_bipartite_parallelism_metric(*sets, METRIC_TABLE[metric.lower()])
        ours = frame.loc[metric]
        assert [theirs.hypothesis_count, theirs.reference_count] == list(ours[["hypothesis_size", "reference_size"]])
        if metric != "MBAWO":
            assert theirs.score == ours["matched"]
            continue
        assert theirs.score <= ours["matched"]
        for (i, j), shared in overlaps(reference.parallelisms, hypothesis.parallelisms).items():
            y, x = reference.parallelisms[i].branches, hypothesis.parallelisms[j].branches
            cell = components["scoring_matrix"][j][i]
            if cell != by_definition(y, x)[2]:
                edges = {(one.ours, one.theirs): one.tokens for one in shared}
                most = max(sum(edges[p] for p in pairs.items()) for pairs in all_matchings(edges))
                counts = {len(m) for m in all_matchings(edges) if sum(edges[p] for p in m.items()) == most}
                assert cell == 0
                assert min(counts) < 2 <= max(counts)


@settings(max_examples=6)  # each makes all tables twice
@given(first=document_pairs(), second=document_pairs())
def test_sums_over_the_finer_tables_are_the_coarser(first, second):
    names = ["a", "b"]
    gold = {name: pair[0] for name, pair in zip(names, (first, second), strict=True)}
    predicted = {name: pair[1] for name, pair in zip(names, (first, second), strict=True)}
    scores = score_parallelisms({"s": predicted, "gold": gold}, gold)
    documents = scores.documents.set_index(["system", "document", "metric"])
    sums = scores.parallelisms.groupby(["side", "system", "document", "metric"])[["credit", "size"]].sum()
    for side in {"reference", "hypothesis"} & set(scores.parallelisms["side"]):
        own = sums.loc[side]
        assert (own["credit"] == documents["matched"].loc[own.index]).all()
        assert (own["size"] == documents[f"{side}_size"].loc[own.index]).all()
    columns = ["matched", "hypothesis_size", "reference_size"]
    totals = scores.to_frame().set_index(["system", "metric"])[columns]
    assert (documents.groupby(["system", "metric"])[columns].sum() == totals.sort_index()).all(axis=None)
    credited = scores.parallelisms["credit"] > 0
    assert (credited == scores.parallelisms["partner"].notna()).all()


GOLD = {
    "a": document([P, Q], name="a", sections=[Section("I", 0, 18), Section("II", 18, 60)]),
    "b": document([((1, 2), (4, 5))], name="b"),
    "c": document([], name="c"),
}
CLOSE = {"a": document([P, ((20, 24), (26, 29))], name="a"), "b": document([], name="b"), "c": document([], name="c")}
FAR = {"a": document([((1, 3), (5, 6))], name="a")}


def test_parallelisms_say_what_may_explain_their_credit():
    rows = score_parallelisms({"close": CLOSE}, GOLD).parallelisms
    row = rows[(rows["side"] == "reference") & (rows["number"] == 2) & (rows["metric"] == "MWO")].iloc[0]
    columns = ["credit", "size", "partner", "stratum", "branches", "tokens", "distance"]
    assert row[columns].tolist() == [7, 8, 2, 0, 2, 8, 2]
    assert (row["section"], row["position"], row["overlap"]) == ("II", 20 / 60, 0)
    assert row["kind"] is None


def test_overlap_is_that_of_multisets():
    gold = make_document("d", list("aab,abb"), [Parallelism(((0, 3), (4, 7)))])
    rows = score_parallelisms({"s": {"d": gold}}, {"d": gold}).parallelisms
    assert set(rows["overlap"]) == {2 / 4}


def test_predictions_may_overlap_in_any_way():
    predicted = document([((0, 4), (8, 9)), ((2, 6), (9, 10)), ((3, 4), (20, 21))])
    rows = score_parallelisms({"s": {"d": predicted}}, {"d": document([P])}).parallelisms
    rows = rows[(rows["side"] == "hypothesis") & (rows["metric"] == "EPM")]
    assert rows["stratum"].tolist() == [0, 0, 2]


def test_outcomes_of_recall_have_the_same_items_for_all_systems(tmp_path):
    with pytest.warns(LangdiffWarning, match="far lacks 2 of 3 document"):
        scores = score_parallelisms({"close": CLOSE, "far": FAR}, GOLD)
    table = scores.outcomes("MBAWO")
    assert table.successes["close"].tolist() == [9, 7, 0]
    assert table.trials["close"].tolist() == [9, 8, 2]
    assert table.successes["far"].tolist()[:2] == [3, 0]
    assert table.successes["far"].isna().tolist() == [False, False, True]
    assert list(table.items.index) == ["a/1", "a/2", "b/1"]
    assert table.items["document"].tolist() == ["a", "a", "b"]
    table.save(tmp_path / "outcomes.csv")
    again = ld.read_outcomes(tmp_path / "outcomes.csv")
    pd.testing.assert_frame_equal(again.successes, table.successes)


def test_outcomes_of_precision_are_by_document():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LangdiffWarning)
        table = score_parallelisms({"close": CLOSE, "far": FAR}, GOLD).outcomes("MWO", side="hypothesis")
    assert list(table.items.index) == ["a"]  # nothing is predicted elsewhere
    assert table.successes.loc["a"].to_dict() == {"close": 16, "far": 3}
    assert table.trials.loc["a"].to_dict() == {"close": 16, "far": 3}


@pytest.mark.parametrize(
    ("hypotheses", "references", "error", "message"),
    [
        ({}, GOLD, ConfigError, "no systems"),
        ({"s": CLOSE}, {}, DataError, "no reference documents"),
        ({"s": {}}, GOLD, DataError, "s has no documents"),
        ({"s": {"z": GOLD["a"]}}, GOLD, DataError, "not among the references: 'z'"),
        ({"s": {"a": document([P], 59)}}, GOLD, DataError, "59 tokens in s and 60 in the reference.*from token 59 on"),
    ],
)
def test_documents_that_cannot_be_compared(hypotheses, references, error, message):
    refused(error, message, score_parallelisms, hypotheses, references)


def test_settings_out_of_range():
    for beta in (0.0, -1.0, float("nan"), float("inf")):
        refused(ConfigError, "beta is a positive number", score_parallelisms, {"s": CLOSE}, GOLD, beta=beta)
    scores = score_parallelisms({"s": CLOSE}, GOLD)
    refused(ConfigError, "metric is one of", scores.outcomes, "F1")
    refused(ConfigError, "side is", scores.outcomes, "EPM", side="both")
    nothing = {"c": GOLD["c"]}
    with pytest.raises(DataError, match="no parallelisms on the hypothesis side"):
        score_parallelisms({"s": nothing}, nothing).outcomes("EPM", side="hypothesis")
