import json

import pandas as pd
import pytest

import langdiff as ld
from langdiff.parallelism import Parallelism, classify_errors, make_document, score_parallelisms, write_parallelisms

TEXT = "they came , they saw , they stayed , and you left , and you wept ."
WORDS = TEXT.split()
FIRST = Parallelism(((0, 2), (3, 5), (6, 8)))
SECOND = Parallelism(((10, 12), (14, 16)))


def documents(*parallelisms):
    return {"one": make_document("one", WORDS, parallelisms), "two": make_document("two", WORDS, [FIRST])}


GOLD = documents(FIRST, SECOND)
GUESS = documents(Parallelism(((0, 2), (3, 5))), Parallelism(((9, 10), (13, 14))))


@pytest.fixture
def folders(tmp_path):
    for name, found in (("gold", GOLD), ("guess", GUESS)):
        write_parallelisms(found, tmp_path / name)
    return tmp_path


@pytest.mark.parametrize("table", ["totals", "documents", "parallelisms", "errors", "cases"])
def test_tables_are_those_of_the_functions(langdiff, folders, table):
    done = langdiff("parallelism", "score", folders / "gold", folders / "guess", "--table", table, "--json").good
    scores = score_parallelisms({"guess": GUESS}, GOLD)
    errors = classify_errors({"guess": GUESS}, GOLD)
    expected = {
        "totals": scores.to_frame(),
        "documents": scores.documents,
        "parallelisms": scores.parallelisms,
        "errors": errors.to_frame(),
        "cases": errors.cases,
    }[table]
    frame = pd.DataFrame(json.loads(done.out))
    assert list(frame) == list(expected)
    assert len(frame) == len(expected)
    for name in expected.select_dtypes("number"):
        assert frame[name].fillna(-1).round(9).tolist() == expected[name].fillna(-1).astype(float).round(9).tolist()
    assert f"[{(errors if table in ('errors', 'cases') else scores).signature}]" in done.err
    plain = langdiff("parallelism", "score", folders / "gold", f"mine={folders / 'guess'}", "--table", table).good
    assert "mine" in plain.out


def test_published_scores_are_beside_ones_own(langdiff, folders):
    asked = ["parallelism", "score", folders / "gold", f"mine={folders / 'guess'}"]
    done = langdiff(*asked, "--published", "ASP", "--json").good
    frame = pd.DataFrame(json.loads(done.out)).set_index(["system", "metric"])
    own = score_parallelisms({"mine": GUESS}, GOLD).to_frame().set_index("metric")
    assert frame.loc["mine", "f"].round(9).to_dict() == own["f"].round(9).to_dict()
    assert frame.loc["mine", "matched"].to_dict() == own["matched"].to_dict()
    # six models and four metrics; from the published table of ASP, not by the code that chooses
    assert len(frame) == len(own) + 24
    best = frame.loc[("published latin-bert-transformer/BIOME-BD", "MBAWO")]
    assert best[["precision", "recall", "f"]].round(4).tolist() == [0.5943, 0.4522, 0.5136]
    assert pd.isna(best["matched"])
    assert "published" not in langdiff(*asked).out
    shown = langdiff(*asked, "--published", "PSE-I").out
    assert "chinese-bert" in shown
    assert "latin-bert" not in shown


def test_outcomes_are_written(langdiff, folders):
    path = folders / "outcomes.csv"
    sides = [folders / "gold", f"a={folders / 'guess'}", f"b={folders / 'gold'}"]
    assert (
        langdiff("parallelism", "score", *sides, "--metric", "EPM", "--table", "errors", "--outcomes", path).code == 0
    )
    table = ld.read_outcomes(path)
    assert table.successes.loc["two/1"].to_dict() == {"a": 1, "b": 1}
    assert table.successes.loc["one/2"].to_dict() == {"a": 0, "b": 1}
