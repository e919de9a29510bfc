"""Arguments of a wrong kind, complex numbers, and standard errors that a test does not use: each is said."""

import numpy as np
import pandas as pd
import pytest

import langdiff as ld
from langdiff import discourse, parallelism, typology
from langdiff.errors import ConfigError, DataError
from langdiff.treebanks.profile import profile_treebank
from langdiff.typology.association.result import benjamini_hochberg
from tests.helpers import refused

D = pd.Series(np.sin(np.arange(8.0)), index=list("abcdefgh"), name="difficulty")
X = pd.Series(np.cos(np.arange(8.0)), index=D.index, name="x")
DOCUMENT = parallelism.make_document("1", ["a", "b", "c", "d"], [parallelism.Parallelism(((0, 1), (2, 3)))])
TREE = discourse.parse_discourse("1 1 N span\n2 2 S cause", format="spans")
BITS = pd.DataFrame(np.arange(12.0).reshape(4, 3) + 1)


@pytest.mark.parametrize(
    "call",
    [
        lambda: parallelism.score_parallelisms({"1": DOCUMENT}, {"1": DOCUMENT}),
        lambda: parallelism.score_parallelisms("tagger", {"1": DOCUMENT}),
        lambda: parallelism.score_parallelisms({"tagger": {"1": DOCUMENT}}, DOCUMENT),
        lambda: parallelism.score_parallelisms({"tagger": {"1": "1.tsv"}}, {"1": DOCUMENT}),
        lambda: parallelism.write_parallelisms(DOCUMENT, "folder"),
        lambda: profile_treebank("x.conllu"),
        lambda: ld.compare_treebanks(None),
        lambda: ld.xmi(ld.Surprisals(bits=BITS), None),
        lambda: ld.xmi(BITS, BITS),
        lambda: discourse.evaluate_discourse({"rain": "rain.dis"}, {"p": {"rain": TREE}}),
        lambda: discourse.compare_trees("a.dis", "b.dis"),
        lambda: discourse.binarize("a.dis"),
        lambda: discourse.attachments_of({"rain": TREE}),
        lambda: discourse.write_discourse(TREE, "folder"),
    ],
)
def test_an_argument_of_a_wrong_kind_is_named(call):
    refused(ConfigError, r"; got .+, of type \w+\.", call)


@pytest.mark.parametrize(
    "call",
    [
        lambda: ld.Surprisals(bits=BITS + 1j),
        lambda: ld.Surprisals(bits=(BITS + 1j).astype(object)),
        lambda: ld.Outcomes(successes=(BITS > 5) + 0j),
        lambda: ld.correlate(D + 1j, X),
        lambda: ld.correlate(D, X + 1j),
        lambda: ld.table(D + 1j),
        lambda: benjamini_hochberg(np.array([0.1 + 1j, 0.2])),
    ],
)
def test_complex_numbers_are_refused(call):
    refused(DataError, "complex numbers are no measurements", call)


def test_standard_errors_are_used_or_said_not_to_be():
    table = pd.DataFrame({"difficulty": D, "std_error": 0.1})
    first = ld.correlate(table, X, tests="pearson").summary().splitlines()[0]
    assert first == "std_error, the errors of difficulties, are not used; langdiff.typology.propagate_errors uses them"
    assert "std_error" not in ld.correlate(table[["difficulty"]], X, tests="pearson").summary()
    used = typology.propagate_errors(table, X, tests="pearson").to_frame().loc[0]
    assert used["estimate"] == pytest.approx(np.corrcoef(D, X)[0, 1])
    assert used["reliability"] == pytest.approx(1 - 0.1**2 / D.var(), abs=0.002)  # 4,000 draws of 8 values
    less = typology.propagate_errors(table.assign(std_error=1e-6), X, tests="pearson").to_frame().loc[0]
    assert less["reliability"] == pytest.approx(1)
    assert less["high"] - less["low"] < used["high"] - used["low"]
