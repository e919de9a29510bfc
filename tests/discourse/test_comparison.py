from itertools import product

import numpy as np
import pytest

from langdiff.discourse import DiscourseTree, evaluate_discourse, parse_discourse
from langdiff.errors import ConfigError, DataError, LangdiffWarning
from tests.discourse.test_evaluation import BOTH, BOTH_PREDICTED, SHORT

WRONG = parse_discourse("1 1 S cause\n2 2 N span", format="spans")
ROUNDING = 1e-12


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
    result = evaluation(20, 60, both=20).compare(seed=1, averaging=averaging, n_draws=40_000)
    row = result.to_frame().iloc[0]
    assert row["difference"] == pytest.approx(0.2)
    assert row["std_error"] == pytest.approx(np.sqrt(0.2 * 0.8 / 100), rel=0.02)
    assert (row["low"], row["high"]) == pytest.approx((0.12, 0.28), abs=0.011)
    assert row["p_value"] < 0.001


def test_systems_that_are_equal():
    row = evaluate_discourse(BOTH, {"a": BOTH_PREDICTED["p"], "b": BOTH_PREDICTED["p"]}).compare(seed=1).table.iloc[0]
    assert row[["difference", "std_error", "low", "high"]].tolist() == [0, 0, 0, 0]
    assert row["p_value"] == 1


def test_the_weights_of_documents_follow_the_averaging():
    """Two documents, of which one is drawn twice in half of all samples: the standard errors are those of a table."""
    systems = BOTH_PREDICTED | {"gold": BOTH}
    result = evaluate_discourse(BOTH, systems)
    micro, macro = (result.compare(seed=3, averaging=each, n_draws=50_000).table.iloc[0] for each in ("micro", "macro"))
    samples = {"micro": [(2 - 4) / 4, (3 - 5) / 5, (3 - 5) / 5, 0], "macro": [-0.5, -0.25, -0.25, 0]}
    for name, row in (("micro", micro), ("macro", macro)):
        assert row["difference"] == pytest.approx(samples[name][1], abs=ROUNDING)
        assert row["std_error"] == pytest.approx(np.std(samples[name]), rel=0.02)
        assert (row["low"], row["high"]) == pytest.approx((min(samples[name]), max(samples[name])), abs=ROUNDING)


def with_texts(tree, *texts):
    return DiscourseTree(nodes=tree.nodes, texts=texts)


@pytest.mark.parametrize("averaging", ["micro", "macro"])
def test_documents_of_one_edu_in_the_reference(averaging):
    """Two documents have items, a third none in the reference and `poor`, of which a sample may consist."""
    whole = with_texts(DiscourseTree(nodes=[(1, 1, "Root", "---")]), "It rained.")
    right, wrong = (with_texts(tree, "It", "rained.") for tree in (SHORT, WRONG))
    gold = {"a": right, "b": right, "c": whole}
    systems = {"good": gold | {"c": right}, "poor": gold | {"b": wrong}}
    with pytest.warns(LangdiffWarning, match="1 document"):
        result = evaluate_discourse(gold, systems, spans="chars")
    row = result.compare(seed=1, averaging=averaging, n_draws=40_000).table.iloc[0]
    scores = result.scores("parseval", averaging)["F"]
    assert row["difference"] == pytest.approx(scores["good"] - scores["poor"], abs=ROUNDING)
    if averaging == "macro":  # as if the third were not there: means of 1 or 0 of two documents
        differences = [0, 0.5, 0.5, 1]
    else:
        differences = []
        for sample in product("abc", repeat=3):
            n = {name: sample.count(name) for name in "abc"}
            poor = 0 if n["c"] == 3 else n["a"] / (n["a"] + n["b"])
            good = 2 * (n["a"] + n["b"]) / (2 * (n["a"] + n["b"]) + n["c"])
            differences.append(good - poor)
    assert row["std_error"] == pytest.approx(np.std(differences), rel=0.02)
    assert (row["low"], row["high"]) == pytest.approx((min(differences), max(differences)), abs=ROUNDING)
    assert 0 < row["p_value"] <= 1


def test_the_seed_decides_and_is_said():
    result = evaluation(3, 5, both=4)
    one, same, other = (result.compare(seed=seed, n_draws=500) for seed in (7, 7, 8))
    assert one.table.equals(same.table)
    assert not one.table.equals(other.table)
    assert one.signature == same.signature
    assert "metric:F|averaging:micro|draws:500|seed:7" in one.signature
    assert "procedure:parseval" in one.signature
    assert one.summary().startswith("Differences in F1 in percentage points")
    assert repr(one) == "DiscourseDifferences of 1 pair(s) of systems"


def test_what_cannot_be_compared():
    result = evaluation(1, 1)
    for n_draws in (0, 2.5, True, "9"):
        with pytest.raises(ConfigError, match="n_draws must be a whole number, at least 1, got"):
            result.compare(seed=1, n_draws=n_draws)
    with pytest.raises(ConfigError, match="metric is one of"):
        result.compare(seed=1, metric="X")
    with pytest.raises(ConfigError, match="seed must be"):
        result.compare(seed=None)
    with pytest.raises(DataError, match="needs two documents with items in the reference, but there is only one"):
        evaluation(1, 0).compare(seed=1)
