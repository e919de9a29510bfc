import json

import pytest


def test_one_paper(langdiff):
    one = langdiff("reproduce", "--paper", "xmi2020", "--json")
    assert one.code == 0
    rows = json.loads(one.out)
    assert {row["agreement"] for row in rows} == {"yes"}


@pytest.mark.slow  # fits all that Mielke et al. (2019) fitted
def test_all_papers(langdiff):
    every = json.loads(langdiff("reproduce", "--paper", "all", "--json").out)
    assert {row["paper"] for row in every} >= {"mielke2019", "xmi2020", "goldfish2024"}
    assert len(every) == 76 + 7 + 3 + 4 + 5


def test_refusals(langdiff):
    assert langdiff("reproduce", "--paper", "x").code == 1
    assert "for --paper mielke2019" in langdiff("reproduce", "--paper", "all", "--all").err
    assert "for --paper mielke2019" in langdiff("reproduce", "--paper", "xmi2020", "--out", "x").err
