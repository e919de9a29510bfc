import numpy as np
import pytest
from scipy.stats import t as student

from langdiff.discourse import DiscourseTree, evaluate_discourse, parse_discourse
from langdiff.errors import LangdiffWarning
from tests.discourse.test_evaluation import BOTH, BOTH_PREDICTED, SHORT

WRONG = parse_discourse("1 1 S cause\n2 2 N span", format="spans")
pytestmark = pytest.mark.filterwarnings("ignore:Few units")


def evaluation(right, wrong, both=0):
    """Documents of one decision; `good` has `right + both` of them, `poor` has `both`."""
    names = [str(number) for number in range(right + wrong + both)]
    gold = dict.fromkeys(names, SHORT)
    good = {name: SHORT if place < right + both else WRONG for place, name in enumerate(names)}
    poor = {name: SHORT if place < both else WRONG for place, name in enumerate(names)}
    return evaluate_discourse(gold, {"good": good, "poor": poor})


@pytest.mark.parametrize("averaging", ["micro", "macro"])
def test_standard_errors_are_those_of_a_mean(averaging):
    """With documents of one item, F1 is a mean over documents, whose standard error is known."""
    row = evaluation(20, 60, both=20).compare(averaging=averaging).frame.iloc[0]
    assert row["estimate"] == pytest.approx(0.2)
    assert row["std_error"] == pytest.approx(np.sqrt(0.2 * 0.8 / 99))
    assert row["df"] == pytest.approx(99)
    half = student.ppf(0.975, 99) * row["std_error"]
    assert (row["low"], row["high"]) == pytest.approx((0.2 - half, 0.2 + half))
    assert row["p"] < 0.001


def test_systems_that_are_equal():
    same = evaluate_discourse(BOTH, {"a": BOTH_PREDICTED["p"], "b": BOTH_PREDICTED["p"]})
    row = same.compare().frame.iloc[0]
    assert row[["estimate", "std_error", "low", "high", "verdict"]].tolist() == [0, 0, 0, 0, "identical"]


def with_texts(tree, *texts):
    return DiscourseTree(nodes=tree.nodes, texts=texts)


@pytest.mark.parametrize("averaging", ["micro", "macro"])
def test_documents_of_one_edu_in_the_reference(averaging):
    """Two documents have items, a third none in the reference, which a mean over documents leaves out."""
    whole = with_texts(DiscourseTree(nodes=[(1, 1, "Root", "---")]), "It rained.")
    right, wrong = (with_texts(tree, "It", "rained.") for tree in (SHORT, WRONG))
    gold = {"a": right, "b": right, "c": whole}
    systems = {"good": gold | {"c": right}, "poor": gold | {"b": wrong}}
    with pytest.warns(LangdiffWarning, match="1 document"):
        result = evaluate_discourse(gold, systems, spans="chars")
    effects = result.effects(averaging=averaging)
    assert effects.estimate.to_dict() == pytest.approx(result.scores("parseval", averaging)["F"].to_dict())
    assert len(effects.influence.values) == (2 if averaging == "macro" else 3)
    contrast = effects.contrast("good", "poor")
    row = result.compare(averaging=averaging).frame.iloc[0]
    assert row[["estimate", "std_error", "p"]].tolist() == pytest.approx(
        [contrast.estimate, contrast.std_error, contrast.p_value]
    )
