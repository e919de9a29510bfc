"""Tables of the report: digits, intervals, and what is the same in all rows."""

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from langdiff.run.analysis import Analysis
from langdiff.run.experiment import SECTIONS
from langdiff.run.html import html_table, tables_of


def cells(html):
    """Return the texts of all cells, row by row, the head first."""
    rows = re.findall("<tr>(.*?)</tr>", str(html))
    return [[re.sub("<br>", " | ", cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)] for row in rows]


def plain(html):
    return [[re.sub("</?small>", "", cell) for cell in row] for row in cells(html)]


def of_section(name, table):
    """Return the tables that the report has of a section."""
    return SECTIONS[name].tables(SimpleNamespace(analyses={name: Analysis(name=name, table=table)}))


def test_errors_stand_beside_what_they_are_of_with_two_digits_of_them():
    table = pd.DataFrame(
        {
            "lm": ["a", "b", "c"],
            "edition": ["eng", "deu", "fin"],
            "difference": [0.12345, -0.5, np.nan],
            "difference_std_error": [0.0321, 0.0456, np.nan],
            "premium": [1.0, 1.23456, 2.5],
            "premium_low": [1.0, 1.21, 2.41],
            "premium_high": [1.0, 1.25, 2.59],
            "estimate": [0.1, 0.2, 0.3],
            "low": [0.01, 0.11, np.nan],
            "high": [0.19, 0.29, np.nan],
            "p": [0.00012345, 0.25, 1.0],
            "cells": [1000, 1000, 1000],
            "converged": [True, True, True],
            "r_hat": [1.0012, 1.0, 1.0173],
        }
    )
    (found,) = tables_of(table)
    assert found["same"] == "In all rows: cells 1,000; converged yes."
    head, *rows = plain(found["table"])
    names = ["language model", "edition", "difference", "premium", "estimate", "95 % interval", "p", "R-hat"]
    assert head == names
    assert rows == [
        ["a", "eng", "0.123 ± 0.032", "1.000 | 1.000 to 1.000", "0.100", "0.010 to 0.190", "0.00012", "1.001"],
        ["b", "deu", "−0.500 ± 0.046", "1.235 | 1.210 to 1.250", "0.200", "0.110 to 0.290", "0.25", "1.000"],
        ["c", "fin", "–", "2.500 | 2.410 to 2.590", "0.300", "–", "1", "1.017"],
    ]
    assert "data-value='-0.5'" in found["table"]  # sorted by the number, whatever is shown


@pytest.mark.parametrize("name", ["compare", "goodness"])
def test_likelihoods_of_two_language_models_never_share_a_column(name):
    """The worse model of two may have the higher likelihood: its cells are others."""
    likelihoods = [3321.0, 3300.0, 3432.0, 3400.0]
    table = pd.DataFrame({"lm": ["a", "a", "b", "b"], "model": ["1", "2"] * 2, "log_likelihood": likelihoods})
    shown = of_section(name, table)
    assert [each["caption"] for each in shown] == ["a", "b"]
    assert [plain(each["table"])[1:] for each in shown] == [
        [["1", "3,321"], ["2", "3,300"]],
        [["1", "3,432"], ["2", "3,400"]],
    ]
    (alone,) = of_section(name, table[:2])
    assert alone["same"] == "In all rows: language model a."


def test_parity_has_a_table_of_texts_and_one_of_bits():
    table = pd.DataFrame(
        {
            "lm": ["a", "a", "b", "b"],
            "edition": ["eng", "deu"] * 2,
            "language": ["eng", "deu"] * 2,
            "bytes": [10.0, 12.0] * 2,
            "byte_premium": [1.0, 1.2] * 2,
            "bits": [100.0, 110.0, 90.0, 95.0],
        }
    )
    texts, bits = of_section("parity", table)
    assert plain(texts["table"]) == [["edition", "bytes", "byte premium"], ["eng", "10", "1.00"], ["deu", "12", "1.20"]]
    assert [row[:2] for row in plain(bits["table"])[1:]] == [["a", "eng"], ["a", "deu"], ["b", "eng"], ["b", "deu"]]


@pytest.mark.parametrize("rows", [0, 1])
def test_a_table_of_one_row_keeps_its_columns(rows):
    found = of_section("compare", pd.DataFrame({"model": ["1"], "cells": [7]})[:rows])
    assert [plain(each["table"])[1:] for each in found] == [[["1", "7"]]] * rows


def test_folds_have_difficulties_with_their_errors():
    table = pd.DataFrame({"lm": ["a", "a"], "difficulty": [0.0899, -0.0127], "std_error": [0.0057, 0.0044]})
    table = table.assign(p_value=[0.898, 0.0271], model_sd=[0.002209, 0.002209])
    (found,) = tables_of(table)
    assert found["same"] == "In all rows: language model a; model sd 0.00221."
    rows = [["difficulty", "p value"], ["0.0899 ± 0.0057", "0.9"], ["−0.0127 ± 0.0044", "0.027"]]
    assert plain(found["table"]) == rows


def test_what_is_rounded_to_zero_has_no_minus():
    table = pd.DataFrame({"edition": ["eng", "deu"], "percent": [-0.04, -0.06], "cost": [-0.0001, 2.5]})
    shown = plain(html_table(table, {"percent": "{:+.1f}", "cost": "{:.3f}"}))[1:]
    assert shown == [["eng", "+0.0", "0.000"], ["deu", "−0.1", "2.500"]]
    pairs = pd.DataFrame({"edition": ["a", "b"], "difference": [-0.00001, 1.0], "difference_std_error": [0.1, 0.1]})
    assert plain(tables_of(pairs)[0]["table"])[1] == ["a", "0.00 ± 0.10"]


@pytest.mark.parametrize("error", [0.0, np.nan])
def test_numbers_without_errors_keep_their_digits(error):
    table = pd.DataFrame({"edition": ["a", "b"], "difference": [0.12345, -0.2], "difference_std_error": [error] * 2})
    table = table.assign(premium=[1.0549, 1.0], premium_low=[1.0549 - error, 1.0], premium_high=[1.0549, 1.0 + error])
    shown = plain(tables_of(table)[0]["table"])[1:]
    found = [[re.split(" ± | \\| ", cell)[0] for cell in row] for row in shown]
    assert found == [["a", "0.123", "1.05"], ["b", "−0.200", "1.00"]]
    assert all(("±" in row[1]) == (error == 0) for row in shown)
