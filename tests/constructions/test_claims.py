"""The published statements on a made-up table where each is true, and on one where each is false."""

import pandas as pd
import pytest

from langdiff.constructions import check_claims
from langdiff.datasets import bender2011
from langdiff.errors import ConfigError, DataError
from tests.helpers import refused

PARSERS = ["Enju", "XLE", "C&J", "C&C", "MST", "Stanford", "RASP"]
TRUE = {
    "vpart ARG2": [0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.2],
    "vpart !ARG2": [0.7, 0.7, 0.7, 0.7, 0.7, 0.7, 0.3],
    "vger ARG1/ARG2": [0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.4],
    "vger ARG2/MOD": [0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.3],
    "control ARG2/ARG3": [0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.5],
    "control ARG1": [0.8, 0.8, 0.8, 0.8, 0.8, 0.0, 0.0],
    "tough ARG2:complement": [0.8, 0.5, 0.5, 0.5, 0.75, 0.7, 0.85],
    "tough ARG2:gap": [0.4, 0.6, 0, 0, 0, 0, 0],
    "rnr ARG2:first": [0.8] * 7,
    "rnr ARG2:second": [0.1, 0.3, 0.2, 0.33, 0.1, 0.1, 0.1],
    "ned MOD": [0.9] * 7,
    "ned ARG1/MOD": [0.1, 0.6, 0.1, 0.05, 0, 0, 0],
    "absol ARG1": [0.6] * 7,
    "absol MOD": [0.3, 0.3, 0.2, 0.1, 0.1, 0.1, 0.1],
    "argadj MOD": [0.8] * 7,
    "argadj ARG2/ARG3": [0.3] * 7,
    "barerel MOD": [0.6, 0.7, 0.6, 0.7, 0.6, 0.6, 0.6],
    "barerel ARG2/MOD": [0.3, 0.65, 0.5, 0.65, 0.2, 0.2, 0.1],
    "itexpl !ARG": [0.5, 0.6, 0.3, 0.3, 0.1, 0.2, 0.1],
}
FALSE = TRUE | {
    "vpart ARG2": [0.8] * 7,
    "vpart !ARG2": [0.8] * 7,
    "control ARG1": [0.8, 0.8, 0.8, 0.8, 0.0, 0.0, 0.0],
    "tough ARG2:complement": [0.8, 0.5, 0.5, 0.5, 0.75, 0.7, 0.86],
    "tough ARG2:gap": [0.4, 0.6, 0.1, 0, 0, 0, 0],
    "rnr ARG2:second": [0.7, 0.3, 0.2, 0.34, 0.1, 0.1, 0.1],
    "ned ARG1/MOD": [0.8, 0.6, 0.1, 0.05, 0, 0, 0],
    "absol MOD": [0.55, 0.3, 0.2, 0.1, 0.1, 0.1, 0.1],
    "argadj ARG2/ARG3": [0.3] * 6 + [0.8],
    "barerel ARG2/MOD": [0.3, 0.3, 0.5, 0.65, 0.2, 0.25, 0.1],
    "itexpl !ARG": [0.51, 0.6, 0.3, 0.3, 0.1, 0.2, 0.1],
}


def scores(cells):
    rows = [
        (*key.split(), parser, value) for key, own in cells.items() for parser, value in zip(PARSERS, own, strict=True)
    ]
    return pd.DataFrame(rows, columns=["phenomenon", "type", "parser", "recall"])


def test_every_published_statement_is_true_of_a_table_made_for_it():
    checked = check_claims(scores(TRUE), bender2011().claims)
    assert checked.to_frame()["true"].all(), checked.summary()
    assert repr(checked) == "CheckedClaims: 13 of 13 hold"


def test_every_published_statement_is_false_of_a_table_against_it():
    checked = check_claims(scores(FALSE), bender2011().claims)
    assert not checked.to_frame()["true"].any(), checked.summary()


def test_the_deciding_cells_are_told():
    claims = bender2011().claims.query("phenomenon == 'itexpl'")
    told = check_claims(scores(TRUE), claims).to_frame()["cells"].item()
    assert told.startswith("itexpl: Enju 0.500 no, XLE 0.600 yes")


def claim(**changes):
    usual = {"claim": "c", "phenomenon": "ned", "column": "MOD", "who": "all", "holds": "> 0.5"}
    return pd.DataFrame([usual | changes])


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"who": "all"}, True),
        ({"who": "nobody"}, False),
        ({"who": "nobody", "holds": "< 0.9"}, True),
        ({"who": "at least 7"}, True),
        ({"who": "at least 8"}, False),
        ({"who": "XLE, RASP"}, True),
        ({"who": "only XLE"}, False),
        ({"who": "all but XLE"}, False),
        ({"who": "all but XLE", "column": "ARG1/MOD", "holds": "<= 0.1"}, True),
        ({"column": "easier", "holds": ">= 0.9"}, True),
        ({"column": "harder", "holds": ">= 0.9"}, False),
        ({"column": "every", "who": "only XLE", "holds": ">= 0.6"}, True),
        ({"column": "gap", "holds": "0.29 to 0.9"}, True),
        ({"phenomenon": "ned itexpl", "column": "every", "who": "only XLE", "holds": "> 0.5"}, True),
    ],
)
def test_words_of_claims(changes, expected):
    assert check_claims(scores(TRUE), claim(**changes)).to_frame()["true"].item() == expected


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"phenomenon": "nad"}, DataError, "no scores for phenomenon 'nad'"),
        ({"column": "ARG9"}, DataError, "no scores for ned 'ARG9'; its types are MOD, ARG1/MOD"),
        ({"who": "only Malt"}, DataError, "'Malt' is not a parser"),
        ({"holds": "= 0.5"}, ConfigError, "'= 0.5' is not a condition"),
    ],
)
def test_claims_that_cannot_be_checked(changes, error, message):
    refused(error, message, check_claims, scores(TRUE), claim(**changes))
    refused(DataError, "lacks 'who'", check_claims, scores(TRUE), claim().drop(columns="who"))
