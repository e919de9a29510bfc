import itertools

import pandas as pd
import pytest

from langdiff.constructions import order_columns
from langdiff.errors import DataError


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


def test_tables_that_cannot_be_ordered():
    scores = table({"rnr ARG1": (0.5,) * 3, "rnr ARG2": (0.4,) * 3})
    with pytest.raises(DataError, match="lacks 'recall'"):
        order_columns(scores.drop(columns="recall"))
    with pytest.raises(DataError, match="no recall of 'C' for rnr ARG2"):
        order_columns(scores.iloc[:-1])
    with pytest.raises(DataError, match="has rnr ARG1 A twice"):
        order_columns(pd.concat([scores, scores.iloc[:1]]))
