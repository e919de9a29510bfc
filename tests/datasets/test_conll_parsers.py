"""The frozen answers of parsers: sizes, recall of the best, verdicts, and the positions of words."""

import pytest

from langdiff.datasets import conll_parsers
from langdiff.errors import ConfigError


def test_recall_of_the_five_best_parsers_of_2018():
    answers = conll_parsers()
    systems = answers.systems[answers.systems["year"] == 2018]
    best = systems["las"].nlargest(5).index
    recall = answers.successes[best].groupby(answers.items["construction"]).mean().agg(["min", "max"], axis=1).round(2)
    wanted = {
        "vger": (0.86, 0.97),
        "vpart": (0.82, 0.9),
        "barerel": (0.71, 0.93),
        "itexpl": (0.42, 0.65),
        "rnr": (0.22, 0.67),
    }
    assert {code: tuple(recall.loc[code]) for code in wanted} == wanted
    assert answers.systems["year"].value_counts().to_dict() == {2017: 27, 2018: 24}
    assert answers.successes.notna().all(axis=None)


@pytest.mark.parametrize(("treebank", "accepted", "targets"), [("en_ewt", 292, 357), ("en_gum", 78, 108)])
def test_verdicts_have_reasons_and_text_is_not_there(treebank, accepted, targets):
    answers = conll_parsers(treebank, rejected=True)
    items = answers.items
    assert answers.successes.shape == (targets, 25)
    assert len(conll_parsers(treebank).items) == (items["verdict"] == "yes").sum() == accepted
    assert ((items["verdict"] == "no") == (items["reason"] != "")).all()
    assert items[["head", "dependent"]].stack().str.fullmatch(r"\*|[\d|+]+").all()


def test_another_treebank_is_refused():
    with pytest.raises(ConfigError, match="'de_pud' is none of en_pud, en_ewt and en_gum"):
        conll_parsers("de_pud")
