import re

import numpy as np
import pytest
from numpy.testing import assert_allclose

from langdiff.errors import ConfigError, DataError
from langdiff.parallelism import Parallelism, annotator_agreement, make_document, read_parallelisms, score_parallelisms
from langdiff.parallelism.agreement import align_conjunctions, merge_interlocked
from tests.helpers import refused


def document(words, *sets, kinds=None):
    kinds = kinds or [None] * len(sets)
    return make_document("d", words.split(), [Parallelism(one, kind) for one, kind in zip(sets, kinds, strict=True)])


def branches(one):
    return [parallelism.branches for parallelism in one.parallelisms]


@pytest.mark.parametrize(
    ("words", "before", "after"),
    [
        ("et a , et b", ((1, 2), (3, 5)), ((0, 2), (3, 5))),  # all have one: extended
        ("a , et b", ((0, 1), (2, 4)), ((0, 1), (3, 4))),  # the first has none: taken off
        ("x a , et b", ((1, 2), (4, 5)), ((1, 2), (4, 5))),  # none begins with one
        ("Et a , SED b", ((0, 2), (4, 5)), ((0, 2), (3, 5))),
        ("a , et", ((0, 1), (2, 3)), ((0, 1),)),  # a branch of a conjunction only is dropped
        ("et a et b c", ((0, 3), (3, 5)), ((0, 3), (3, 5))),  # the token before belongs to another branch
    ],
)
def test_conjunctions(words, before, after):
    assert branches(align_conjunctions(document(words, before))) == [after]


def test_interlocked_parallelisms_are_merged():
    words = "a et b , c d , e , f x"
    one, other = ((0, 1), (4, 5)), ((2, 3), (5, 6))
    assert branches(merge_interlocked(document(words, one, other))) == [((0, 3), (4, 6))]
    third = ((7, 8), (9, 10))  # follows in the first place only, and words lie between in the second
    assert branches(merge_interlocked(document(words, one, other, third))) == [((0, 3), (4, 6)), third]
    different = ((2, 3), (5, 6), (9, 10))  # another number of branches
    assert branches(merge_interlocked(document(words, one, different))) == [one, different]
    kinds = branches(merge_interlocked(document(words, one, other, kinds=["chiastic", "synchystic"])))
    assert kinds == [((0, 3), (4, 6))]


def test_chains_are_merged_as_one():
    sets = [((0, 1), (6, 7)), ((2, 3), (8, 9)), ((4, 5), (10, 11))]
    assert branches(merge_interlocked(document("a , b , c x d , e , f", *sets))) == [((0, 5), (6, 11))]


def test_branches_in_the_other_order_do_not_interlock():
    sets = [((0, 1), (6, 7)), ((2, 3), (4, 5))]
    assert branches(merge_interlocked(document("a , b x c , d", *sets))) == list(sets)


def test_a_group_that_repeats_a_lower_stratum_is_left_out():
    outer = ((0, 3), (4, 7))
    inner = [((0, 1), (4, 5)), ((2, 3), (6, 7))]
    assert branches(merge_interlocked(document("a , b x c , d", outer, *inner))) == [outer]


def test_clean_ups_take_branches_that_come_to_overlap():
    # the outer branches lose their conjunctions, of which the inner ones keep one
    outer, inner = ((0, 4), (5, 8)), ((0, 2), (3, 4))
    cleaned = align_conjunctions(document("et a et b , c d e", outer, inner))
    assert sorted(branches(cleaned)) == [((0, 2), (2, 4)), ((1, 4), (5, 8))]
    assert sorted(branches(merge_interlocked(cleaned))) == sorted(branches(cleaned))


ONE = {"d": document("a b c d e f g h", ((0, 2), (3, 5)))}
OTHER = {"d": document("a b c d e f g h", ((0, 2), (3, 5)), ((5, 6), (7, 8)))}


def test_errors_are_by_document_or_as_published():
    many = {f"d{k}": ONE["d"] for k in range(6)}
    result = annotator_agreement(many, {name: OTHER["d"] if k % 2 else ONE["d"] for k, name in enumerate(many)})
    row = result.to_frame().set_index("metric").loc["EPM"]
    assert row[["matched", "size_a", "size_b"]].tolist() == [6, 6, 9]
    share = np.array([2, 3] * 3) / 15  # of documents in both sizes; F is 2 · 6 / 15
    error = np.sqrt(np.sum((np.full(6, 2) / 15 - 0.8 * share) ** 2 / (1 - share)))
    assert row["std_error"] == pytest.approx(error)
    assert 0 < row["low"] < row["f"] < row["high"] < 1
    with pytest.raises(DataError, match="one document: errors say nothing of others"):
        score_parallelisms({"a": ONE, "b": OTHER}, ONE).effects().pairs()
    result = annotator_agreement(ONE, OTHER)
    assert result.to_frame()["std_error"].isna().all()
    published = annotator_agreement(ONE, OTHER, seed=3, n_draws=4000, as_published=True)
    row = published.to_frame().set_index("metric").loc["EPM"]
    assert_allclose(row["mean"], 1 / 2, atol=0.02)  # both items have sizes (1, 1)
    assert_allclose(row["high"] - row["low"], 2 * 1.96 * row["std_error"] / 2**0.5)
    assert published.signature != result.signature


def test_bad_input():
    refused(DataError, "only one annotator: x", annotator_agreement, ONE, ONE | {"x": ONE["d"]}, seed=0)
    with pytest.raises(DataError, match="agreement is undefined"):
        annotator_agreement({"d": document("a b")}, {"d": document("a b")}, seed=0)
    refused(ConfigError, r"n_draws=98: .* at least 99", annotator_agreement, ONE, OTHER, seed=0, n_draws=98)


# w* and F of EPM, then of MPBM; recorded, except those of the published pipeline
AS_PUBLISHED = (106, 0.4520, 262, 0.5010)
WHOLE_WORDS = {
    (True, True): (107, 0.4563, 266, 0.5086),
    (True, False): (109, 0.4378, 274, 0.4964),
    (False, True): (105, 0.4478, 260, 0.4971),
    (False, False): (106, 0.4257, 266, 0.4819),
}


def found(sides, settings):
    result = annotator_agreement(*sides, seed=0, conjunctions=settings[0], interlocks=settings[1])
    rows = result.to_frame().set_index("metric")
    assert ((rows["low"] < rows["f"]) & (rows["f"] < rows["high"])).all()
    return tuple(
        value for name in ("EPM", "MPBM") for value in (rows.loc[name, "matched"], round(rows.loc[name, "f"], 4))
    )


@pytest.mark.filterwarnings("ignore:.*cut by the end of a branch")
def test_seven_sermons(real_data, tmp_path):
    study = real_data / "asp" / "agreement-study"
    sides = [read_parallelisms(study / f"annotator-{side}") for side in "ab"]
    assert {settings: found(sides, settings) for settings in WHOLE_WORDS} == WHOLE_WORDS
    # one annotator cut off the last letter of a word, which the published pipeline took for a word of its own
    changes = [("</section></sermon>", " t</section></sermon>"), (r"</parallelism>(?=\w)", "</parallelism> ")]
    for side, documents, change in zip("ab", sides, changes, strict=True):
        text = (study / f"annotator-{side}" / "176_annotated.xml").read_text(encoding="utf-8")
        path = tmp_path / side / "176.xml"
        path.parent.mkdir()
        path.write_text(re.sub(*change, text), encoding="utf-8")
        documents |= read_parallelisms(path)
    assert found(sides, (True, True)) == AS_PUBLISHED
    scores = annotator_agreement(*sides, seed=0).scores.documents
    rows = scores[scores["metric"] == "EPM"].set_index("document")[["matched", "hypothesis_size", "reference_size"]]
    assert rows.T.to_dict("list") == {
        "147": [9, 14, 16],
        "149": [9, 30, 23],
        "15": [23, 56, 39],
        "175": [17, 30, 46],
        "176": [10, 22, 31],
        "18": [9, 22, 20],
        "180": [29, 62, 58],
    }
