"""The shipped figures agree with what the paper says of them."""

import pytest

from langdiff.datasets import morey2017
from langdiff.discourse.evaluation import error_reduction
from langdiff.errors import ConfigError

FIRST = ["HHN16 HILDA", "SHV15 D", "JCN15 1S-1S", "FH14 gCRF"]
SECOND = ["BPS16", "LLC16", "BCS17 mono", "BCS17 cross+dev", "JE14 DPLP"]


@pytest.fixture(scope="module")
def figures():
    return morey2017()


def test_ten_rows_a_table_with_marks(figures):
    for number in (2, 4):
        assert figures.table(number).index.tolist() == [*FIRST, *SECOND, "human"]
    by_group = figures.scores.groupby("reported_averaging")["system"].unique()
    assert by_group["micro"].tolist() == FIRST
    assert by_group["macro"].tolist() == SECOND
    confirmed = figures.scores.query("source == 'confirmed'")
    assert (confirmed["table"] == 2).all()
    assert confirmed["system"].tolist() == ["HHN16 HILDA", "SHV15 D", "BPS16", "LLC16", "BCS17 cross+dev", "JE14 DPLP"]
    assert set(figures.scores["source"]) == {"confirmed", "memory"}
    assert set(figures.scores.query("asterisks == '**'")["system"]) == {"JE14 DPLP"}
    with pytest.raises(ConfigError, match="tables 2 and 4 are known"):
        figures.table(3)


def test_scores_are_in_the_order_that_counting_implies(figures):
    scores = figures.scores
    assert (scores["S"] >= scores[["N", "R"]].max(axis=1)).all()
    assert (scores["F"] <= scores[["N", "R"]].min(axis=1)).all()
    systems = [*FIRST, *SECOND]
    assert (figures.table(4).loc[systems] < figures.table(2).loc[systems]).all(axis=None)  # Parseval is stricter
    assert (figures.table(2).loc["human"] > figures.table(2).loc[systems].max()).all()


def test_claims_of_the_paper(figures):
    table = figures.table(4)
    assert table.loc[SECOND, "F"].max() == 46.3  # the best system
    best = {metric: (table.loc[FIRST, metric].max(), table.loc[SECOND, metric].max()) for metric in "SNRF"}
    assert best["S"][0] > best["S"][1]  # the first group is better
    assert best["N"][0] > best["N"][1]
    reductions = [100 * error_reduction(*best[metric], ceiling=table.at["human", metric]) for metric in "RF"]
    assert [round(each, 1) for each in reductions] == [8.8, 16.3]


def test_nothing_is_claimed_as_computed(figures):
    text = figures.summary()
    assert "not computed here" in text
    assert "m: from memory, not checked" in text
    assert text.count("\n") == 29
