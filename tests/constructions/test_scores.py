"""Scores, intervals and tests, against statsmodels; missing and empty blocks; bands; outcomes; order of columns."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar
from statsmodels.stats.proportion import proportion_confint

from langdiff.constructions import evaluate, read_gold, read_parses
from langdiff.constructions.scores import compare_parsers, order_columns, sign_flip
from langdiff.errors import DataError, LangdiffWarning
from langdiff.tables.rule import wilson

from . import worked


def table(cells):
    rows = [
        (*key.split(), parser, value)
        for key, values in cells.items()
        for parser, value in zip("ABC", values, strict=True)
    ]
    return pd.DataFrame(rows, columns=["phenomenon", "type", "parser", "recall"])


def test_easy_phenomena_and_types_come_first():
    scores = table(
        {
            "rnr ARG2:second": (0.1, 0.2, 0.3),
            "rnr ARG2:first": (0.5, 0.6, 0.1),  # higher for two of three
            "vpart !ARG2": (0.9, 0.8, 0.9),
            "vpart ARG2": (0.8, 0.9, 0.8),
            "itexpl !ARG": (0.5, 0.5, 0.5),
        }
    )
    expected = [
        ("vpart", "!ARG2"),
        ("vpart", "ARG2"),
        ("itexpl", "!ARG"),
        ("rnr", "ARG2:first"),
        ("rnr", "ARG2:second"),
    ]
    assert order_columns(scores) == expected
    for order in itertools.islice(itertools.permutations(range(len(scores))), 0, 10**6, 99_991):
        assert order_columns(scores.iloc[list(order)]) == expected


def test_the_majority_counts_before_the_mean():
    scores = table({"rnr ARG1": (0.5, 0.5, 0.9), "rnr ARG2": (0.6, 0.6, 0.0)})
    assert order_columns(scores) == [("rnr", "ARG2"), ("rnr", "ARG1")]


def test_ties_are_broken_by_mean_then_by_name():
    drawn = table({"rnr ARG1": (0.5, 0.4, 0.1), "rnr ARG2": (0.4, 0.6, 0.1)})
    assert order_columns(drawn) == [("rnr", "ARG2"), ("rnr", "ARG1")]
    equal = table({"rnr MOD": (0.5,) * 3, "rnr ARG2": (0.5,) * 3, "absol MOD": (0.5,) * 3})
    assert order_columns(equal) == [("absol", "MOD"), ("rnr", "ARG2"), ("rnr", "MOD")]


@given(targets=st.integers(1, 300), share=st.floats(0, 1))
def test_wilson_equals_statsmodels(targets, share):
    correct = round(share * targets)
    expected = proportion_confint(correct, targets, method="wilson")
    assert wilson(np.array(correct / targets), targets) == pytest.approx(expected, abs=1e-12)


def judged(first, second, per_sentence=1):
    rows = [
        {
            "target": number,
            "item": number // per_sentence,
            "phenomenon": "vpart",
            "parser": parser,
            "correct": bool(value),
        }
        for parser, values in (("a", first), ("b", second))
        for number, value in enumerate(values)
    ]
    return pd.DataFrame(rows)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60))
def test_mcnemar_equals_statsmodels(pairs):
    first, second = np.array(pairs).T
    table = [[sum(first & second), sum(first & ~second)], [sum(~first & second), sum(~first & ~second)]]
    expected = statsmodels_mcnemar(table, exact=True).pvalue
    # with no discordant pair, statsmodels gives nan in some versions and 1 in others
    expected = 1.0 if np.isnan(expected) else expected
    assert compare_parsers(judged(first, second), "a", "b")["p_mcnemar"].iloc[-1] == pytest.approx(expected)


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=10))
def test_sign_flips_equal_all_choices_of_signs(differences):
    signs = np.array(list(itertools.product([-1, 1], repeat=len(differences))))
    sums = signs @ np.array(differences)
    expected = np.mean(np.abs(sums) >= abs(sum(differences)))
    assert sign_flip(np.array(differences)) == pytest.approx(expected)


def test_one_target_per_sentence_is_mcnemar():
    first, second = np.random.default_rng(1).integers(0, 2, (2, 80))
    table = compare_parsers(judged(first, second), "a", "b")
    assert table["p_by_sentence"].tolist() == pytest.approx(table["p_mcnemar"].tolist())


def test_targets_that_are_wrong_together_count_once():
    """Six sentences of three targets each, right or wrong as a whole: one is evidence for a, five for b."""
    first, second = np.repeat([1, 0, 0, 0, 0, 0], 3), np.repeat([0, 1, 1, 1, 1, 1], 3)
    row = compare_parsers(judged(first, second, per_sentence=3), "a", "b").iloc[-1]
    assert row["p_by_sentence"] == 14 / 64
    assert row["p_mcnemar"] == pytest.approx(2 * sum(math.comb(18, k) for k in range(4)) / 2**18)


def test_the_test_by_sentences_keeps_its_level_and_that_of_targets_does_not():
    """Two parsers of equal quality; of two targets in each of 60 sentences the second mostly goes as the first."""
    rng = np.random.default_rng(2)
    draws = rng.integers(0, 2, (600, 2, 60, 2))
    draws[..., 1] = np.where(rng.random((600, 2, 60)) < 0.8, draws[..., 0], draws[..., 1])
    differences = draws[:, 0] - draws[:, 1]
    of_targets = np.array([sign_flip(draw.ravel()) for draw in differences])  # McNemar's, see above
    of_sentences = np.array([sign_flip(draw.sum(axis=1)) for draw in differences])
    assert np.mean(of_targets < 0.05) > 0.08
    assert np.mean(of_sentences < 0.05) < 0.065


def test_a_missing_block_is_wrong_and_an_empty_one_is_an_analysis(write, gold, rules):
    lines = worked.GR.replace("# v1\n(ncsubj carried_1 He_0 _)\n(ncmod prt carried_1 out_2)\n", "# v1\n")
    lines = lines.replace("(dobj carried_1 plan_4)\n(det plan_4 the_3)\n", "")
    assert "# v1\n# v2\n" in lines
    empty = evaluate(gold, read_parses(write("empty.gr", lines), "gr"), rules)
    with pytest.warns(LangdiffWarning, match=r"'missing' has no parse of 1 of 5 sentences, .* wrong. gold: 1 of 5"):
        missing = evaluate(gold, read_parses(write("missing.gr", lines.replace("# v1\n", "")), "gr"), rules)
    assert empty.judgements.loc[[3, 4], "correct"].tolist() == [False, True]
    assert missing.judgements.loc[[3, 4], "correct"].tolist() == [False, False]
    assert set(missing.judgements.loc[[3, 4], "outcome"]) == {"no parse"}
    assert empty.coverage[["no_parse", "empty"]].iloc[0].tolist() == [0, 1]
    assert missing.coverage[["no_parse", "empty"]].iloc[0].tolist() == [1, 0]


def test_nothing_was_parsed(write, gold, rules):
    with pytest.warns(match="blocks are not for items"), pytest.raises(DataError, match="no block for any item"):
        evaluate(gold, read_parses(write("x.gr", "# z\n"), "gr"), rules)


def test_bands_leave_negative_targets_out(gold, parses, rules):
    bands = evaluate(gold, parses, rules).by_distance().set_index("band")
    # distances of the positive targets: 2, 6, 9 and twice 3
    assert bands[["correct", "targets"]].to_numpy().tolist() == [[1, 1], [1, 2], [0, 2]]
    assert bands.index.tolist() == ["2", "3–5", "6–10"]


@pytest.mark.parametrize(
    ("distance", "band"),
    [(1, "1"), (1.5, "2"), (2, "2"), (2.5, "3–5"), (5, "3–5"), (5.5, "6–10"), (10, "6–10"), (11, "> 10")],
)
def test_the_edges_of_bands(distance, band, gold, parses, rules):
    scores = evaluate(gold, parses, rules)
    moved = replace(scores, judgements=scores.judgements.assign(distance=float(distance)))
    assert moved.by_distance()["band"].unique().tolist() == [band]


def test_outcomes_are_targets_by_parsers(write, gold, parses, rules):
    other = read_parses(write("none.gr", "# v1\n"), "gr")
    with pytest.warns(LangdiffWarning, match="'none' has no parse of 4 of 5 sentences"):
        scores = evaluate(gold, [parses, other], rules)
    outcomes = scores.outcomes()
    assert outcomes.successes.shape == (9, 2)
    assert outcomes.successes["cc"].astype(bool).tolist() == worked.CORRECT
    assert outcomes.totals().loc["none", ["successes", "trials"]].tolist() == [1, 9]
    assert outcomes.items["construction"].tolist() == ["absol"] * 3 + ["vpart"] * 4 + ["itexpl"] * 2
    assert outcomes.items["sentence"].nunique() == 5


def test_signatures_tell_what_differs(write, gold, parses, rules):
    scores = evaluate(gold, parses, rules)
    assert scores.signature == evaluate(gold, parses, rules).signature
    fewer = read_gold(write("fewer.tsv", "\n".join(worked.GOLD.splitlines()[:-1])), worked.WORDS, name="gold")
    with pytest.warns(match="not for items"):
        assert evaluate(fewer, parses, rules).signature != scores.signature
    assert "phenomena" in repr(scores)
    assert "weigh the same" in scores.summary()
