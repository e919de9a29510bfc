import json

import pandas as pd
import pytest

from langdiff.errors import DataError
from langdiff.parallelism import (
    Parallelism,
    make_document,
    parallelism_statistics,
    passage_text,
    read_error_labels,
    read_parallelisms,
    write_parallelisms,
)
from tests.helpers import refused

WORDS = ["he", "came", ",", "she", "saw", ";", "they", "went", "and", "he", "left", "and", "she", "slept", "."]
GOLD = make_document("1", WORDS, [Parallelism(((0, 2), (3, 5), (6, 8))), Parallelism(((9, 11), (12, 14)))])
PREDICTED = make_document("1", WORDS, [Parallelism(((0, 2), (3, 5))), Parallelism(((12, 14),))])


@pytest.fixture
def folders(tmp_path):
    other = make_document("2", WORDS, [Parallelism(((0, 1), (3, 4)))])
    write_parallelisms({"1": GOLD, "2": other}, tmp_path / "gold")
    write_parallelisms({"1": PREDICTED}, tmp_path / "guess", format="tsv")
    return tmp_path


def test_stats(langdiff, folders):
    done = langdiff("parallelism", "stats", folders / "gold").good
    assert done.out.startswith("2 flat document(s)\n")
    found = pd.DataFrame(json.loads(langdiff("parallelism", "stats", folders / "gold", "--json").out))
    expected = parallelism_statistics(read_parallelisms(folders / "gold"))
    pd.testing.assert_frame_equal(found, expected.to_frame(), check_dtype=False)
    pairs = json.loads(langdiff("parallelism", "stats", folders / "gold", "--table", "pairs", "--json").out)
    assert len(pairs) == len(expected.pairs) == 5
    assert "overlap" in langdiff("parallelism", "stats", folders / "gold", "--table", "pairs").out
    refused = langdiff("parallelism", "stats", folders / "guess")
    assert refused.code == 1
    assert "parallelism 2 has one branch only" in refused.err


def test_split(langdiff, folders):
    shares = ["--share", "many=0.7", "--share", "few=0.3"]
    done = langdiff("parallelism", "split", folders / "gold", *shares, "--table", "documents", "--json").good
    assert [(row["document"], row["inner"], row["part"]) for row in json.loads(done.out)] == [
        ("1", 10, "many"),
        ("2", 2, "many"),
    ]
    shown = langdiff("parallelism", "split", folders / "gold", *shares)
    assert "inner_share" in shown.out
    assert "Mean squared errors of the shares: inner" in shown.err
    assert "–" in langdiff("parallelism", "split", folders / "gold", *shares, "--table", "tests").out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["split", "{gold}", "--share", "test"], "a share is written NAME=NUMBER, such as test=0.1; got 'test'"),
        (["ranks", "{bad}"], "bad.csv, line 2, column 'inner': 'x' is not a number"),
        (["split", "{gold}", "--share", "a=0.5", "--share", "a=0.5"], "every part has a name of its own"),
    ],
)
def test_what_is_refused(langdiff, folders, arguments, message):
    (folders / "bad.csv").write_text("document,inner,outer\n1,x,5\n")
    names = {"gold": folders / "gold", "bad": folders / "bad.csv"}
    done = langdiff("parallelism", *(argument.format(**names) for argument in arguments))
    assert done.code == 1
    assert message in done.err
    assert done.out == ""


def test_ranks(langdiff, tmp_path):
    done = langdiff("parallelism", "ranks").good
    assert "Friedman: chi-squared 38.91, 15 degrees of freedom, p = 0.00066 (6 blocks)" in done.out
    (tmp_path / "scores.csv").write_text("model,a,b,c\none,1,2,3\ntwo,1,3,4\n")
    found = json.loads(langdiff("parallelism", "ranks", tmp_path / "scores.csv", "--json").out)
    assert found == [{"treatment": "c", "rank": 1.0}, {"treatment": "b", "rank": 2.0}, {"treatment": "a", "rank": 3.0}]
    pairs = langdiff("parallelism", "ranks", "--corpus", "PSE-I", "--metric", "MWO", "--table", "pairs")
    assert "p_value" in pairs.out


def test_cases_are_labels_of_passages(langdiff, folders):
    (folders / "gold/2.xml").unlink()
    cases = langdiff("parallelism", "score", folders / "gold", folders / "guess", "--table", "cases", "--json")
    (folders / "cases.json").write_text(cases.out)
    sides = {"gold": GOLD, "predicted": PREDICTED}
    labels = read_error_labels(folders / "cases.json", sides)
    assert passage_text(sides, labels=labels).splitlines() == [
        "gold:",
        "[he came]₁, [she saw]₁; [they went]₁ and [he left]₂ and [she slept]₂.",
        "  1 branch FN",
        "  2 branch FN",
        "predicted:",
        "[he came]₁, [she saw]₁; they went and he left and [she slept]₂.",
        "  1 branch FN",
        "  2 branch FN",
    ]


@pytest.mark.parametrize(
    ("systems", "document", "message"),
    [("", "1", "not the cases that"), ("ab", "1", "there are cases of 2 systems"), ("a", "2", "no cases of document")],
)
def test_labels_are_of_one_system_and_this_document(tmp_path, systems, document, message):
    case = {"document": "1", "reference": 1, "hypothesis": None, "granularity": "parallelism", "type": "FN"}
    text = json.dumps([case | {"system": name} for name in systems]) if systems else "document,inner\n1,x\n"
    (tmp_path / "cases.json").write_text(text)
    side = make_document(document, WORDS, PREDICTED.parallelisms)
    refused(DataError, message, read_error_labels, tmp_path / "cases.json", {"gold": side, "predicted": side})
