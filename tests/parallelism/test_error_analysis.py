import pytest
from hypothesis import given

from langdiff.errors import DataError
from langdiff.parallelism import Parallelism, classify_errors, make_document
from tests.helpers import refused
from tests.parallelism.strategies import document_pairs

P = ((0, 3), (5, 7), (9, 13))


def document(sets, name="d"):
    return make_document(name, ["w"] * 60, [Parallelism(one) for one in sets])


def cases(predicted, gold):
    frame = classify_errors({"s": {"d": document(predicted)}}, {"d": document(gold)}).cases
    return [f"{row.granularity} {row.type}" for row in frame.itertuples()]


@pytest.mark.parametrize(
    ("predicted", "category"),
    [
        (P, "None None"),
        (((0, 3), (5, 7)), "branch FN"),
        (((0, 7), (9, 13)), "branch FN"),  # two branches as one
        (((0, 1), (2, 3), (5, 7), (9, 13)), "branch FP"),  # one branch as two
        (((0, 3), (5, 7), (9, 13), (15, 17)), "branch FP"),
        (((0, 3), (5, 7), (14, 17)), "branch FM"),
        (((0, 3), (15, 17)), "branch FM"),
        (((0, 3), (5, 7), (10, 13)), "word FN"),
        (((0, 3), (4, 7), (9, 14)), "word FP"),
        (((0, 2), (4, 7), (9, 13)), "word FM"),
        (((1, 4), (5, 7), (9, 13)), "word FM"),
        (((0, 2), (5, 7)), "branch FN"),  # the larger unit decides
    ],
)
def test_category_of_a_matched_pair(predicted, category):
    assert cases([predicted], [P]) == [category]


def test_parallelisms_without_a_match():
    assert cases([((20, 22), (23, 25))], [P]) == ["parallelism FN", "parallelism FP"]
    assert cases([], []) == []
    # both share tokens with the one reference; the one that shares more is matched
    assert cases([((0, 2), (30, 32)), ((5, 7), (9, 13))], [P]) == ["branch FN", "parallelism FP"]


def test_table_counts_categories_by_document():
    gold = {"a": document([P, ((20, 22), (23, 25))], "a"), "b": document([], "b")}
    predicted = {"a": document([P, ((20, 22), (23, 26)), ((40, 41), (42, 43))], "a"), "b": document([], "b")}
    errors = classify_errors({"s": predicted}, gold)
    frame = errors.to_frame().set_index("document")
    assert frame.loc["a", ["parallelism FP", "word FP", "total", "identical"]].tolist() == [1, 1, 2, 1]
    assert (frame.loc["b"].drop("system") == 0).all()
    assert len([name for name in frame if " " in name]) == 8
    assert errors.totals().loc[0, "total"] == 2
    assert errors.labels("s", "a") == ({2: "word FP"}, {2: "word FP", 3: "parallelism FP"})
    assert errors.labels("s", "b") == ({}, {})
    assert repr(errors) == "ParallelismErrors: 2 of 3 cases in 2 document(s)"
    refused(DataError, "t was not compared", errors.labels, "t", "a")


@given(pair=document_pairs())
def test_every_parallelism_is_in_one_case(pair):
    gold, predicted = pair
    frame = classify_errors({"s": {"d": predicted}}, {"d": gold}).cases
    assert sorted(frame["reference"].dropna()) == list(range(1, len(gold.parallelisms) + 1))
    assert sorted(frame["hypothesis"].dropna()) == list(range(1, len(predicted.parallelisms) + 1))
    for row in frame[frame["granularity"].isna()].itertuples():
        assert gold.parallelisms[row.reference - 1].branches == predicted.parallelisms[row.hypothesis - 1].branches
