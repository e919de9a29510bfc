"""Cells that spreadsheets take for formulas get an apostrophe in CSV and TSV, which our readers remove again."""

import csv
import json
from dataclasses import replace

import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

import langdiff as ld
from langdiff.base.cells import guard, guarded, unguard, unguarded
from langdiff.run import Experiment, read_run, run_experiment, verify_run
from langdiff.tables.long_tables import Provenance

EVIL = "=cmd|'calc'!A1"
STARTS = ("=", "+", "-", "@", "\t", "\r")
CELLS = st.text(st.sampled_from([*"=+-@'\t\r\n\",;.0123456789eE", "a", "é"]), max_size=8)


def is_formula(cell):
    """As a spreadsheet sees it: by its first character, unless it is a number."""
    try:
        float(cell)
    except ValueError:
        return cell.startswith(STARTS) and not set(cell) <= set("+-0123456789.,eE")
    return False


@given(CELLS)
@settings(max_examples=500)
def test_no_cell_is_a_formula_and_each_comes_back(cell):
    assert not is_formula(guard(cell))
    assert unguard(guard(cell)) == cell
    assert guard(cell) == cell or cell.lstrip("'").startswith(STARTS)


NAMES = st.text(st.sampled_from("=+-@'ab1,;\""), min_size=1, max_size=5)


@given(
    intents=st.lists(CELLS.filter(lambda c: c.strip()), min_size=2, max_size=2, unique=True),
    editions=st.lists(NAMES, min_size=2, max_size=2, unique=True),
    book=CELLS,
    kind=st.sampled_from(["csv", "tsv", "parquet"]),
)
def test_tables_come_back(tmp_path_factory, intents, editions, book, kind):
    bits = pd.DataFrame([[1.5, 2.0], [3.0, 4.0]], index=intents, columns=editions)
    info = pd.DataFrame({"book": [book, "x"]}, index=intents)
    path = tmp_path_factory.mktemp("tables") / f"s.{kind}"
    ld.Surprisals(bits=bits, intent_info=info).save(path)
    read = ld.read_surprisals(path)
    assert read.intents.tolist() == intents
    assert read.editions.tolist() == editions
    if book:
        assert read.intent_info["book"].tolist() == [book, "x"]
    if kind != "parquet":
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file, delimiter="," if kind == "csv" else "\t"))
        assert not any(is_formula(cell) for row in rows for cell in row)


def test_a_run_and_a_corpus_come_back(tmp_path):
    made = ld.synthesize(80, 2, seed=1).multitext
    first, second = made.editions
    frame = made.to_frame().rename(columns={first: "=eng", second: "deu"})
    info = pd.DataFrame({"language": ["eng", "deu"], "title": [EVIL, "'=x"]}, index=["=eng", "deu"])
    ld.write_multitext(ld.read_frame(frame, edition_info=info), tmp_path / "corpus")
    corpus = ld.read_multitext(tmp_path / "corpus")
    assert corpus.edition_info["title"].to_dict() == info["title"].to_dict()
    settings = {
        "name": "guarded",
        "corpus": {"format": "pbc", "path": str(tmp_path / "corpus")},
        "lm": {"models": ["kneser-ney-2"], "max_replaced": 1.0, "baselines": False},
    }
    run = run_experiment(Experiment.model_validate(settings), tmp_path / "run", progress=False)
    assert "=eng" in run.editions.index
    again = read_run(tmp_path / "run")
    pd.testing.assert_frame_equal(again.editions, run.editions, check_dtype=False)
    assert (verify_run(tmp_path / "run")["state"] == "whole").all()
    for path in (tmp_path / "run").rglob("*.csv"):
        with path.open(encoding="utf-8", newline="") as file:
            assert not [cell for row in csv.reader(file) for cell in row if is_formula(cell)], path


def test_frames_keep_what_is_not_text():
    frame = pd.DataFrame({"=a": [1.5, None], "b": ["=x", None], "c": pd.Categorical(["-y", "z"]), "d": [True, False]})
    frame.index = pd.MultiIndex.from_tuples([("@x", 1), ("y", -2)], names=["n", "m"])
    written = guarded(frame)
    assert written.columns.tolist() == ["'=a", "b", "c", "d"]
    assert written.index.tolist() == [("'@x", 1), ("y", -2)]
    assert written["c"].tolist() == ["'-y", "z"]
    assert written["'=a"].equals(frame["=a"].set_axis(written.index))
    back = unguarded(written)
    pd.testing.assert_frame_equal(back, frame, check_dtype=False, check_categorical=False)
    pd.testing.assert_frame_equal(guarded(pd.DataFrame({"a": [1]})), pd.DataFrame({"a": [1]}))


def test_texts_of_a_corpus_are_not_touched(tmp_path):
    path = tmp_path / "t.tsv"
    path.write_text("id\teng\n1\t'-Yes', she said\n2\t=\n", encoding="utf-8")
    assert ld.read_multitext(path, format="table").text("eng").tolist() == ["'-Yes', she said", "="]


def test_replaced_tables_keep_their_hash(tmp_path):
    bits = pd.DataFrame({EVIL: [10.0, 20.0], "-b": [11.0, 22.0]}, index=["=1", "'=1"])
    table = replace(ld.Surprisals(bits=bits), provenance=Provenance(recipe="x"))
    table.save(tmp_path / "s.csv")
    assert ld.read_surprisals(tmp_path / "s.csv").provenance == table.provenance


def test_parquet_and_json_are_as_they_were(tmp_path):
    table = ld.Surprisals(bits=pd.DataFrame({EVIL: [10.0, 20.0, 31.0], "b": [11.0, 22.0, 30.0]}))
    table.save(tmp_path / "s.parquet")
    assert set(pd.read_parquet(tmp_path / "s.parquet")["edition"]) == {EVIL, "b"}
    ld.fit(table, model="1").save(tmp_path / "fit.json")
    assert EVIL in json.loads((tmp_path / "fit.json").read_text())["difficulty"]["names"]


def test_outcomes_come_back(tmp_path):
    successes = pd.DataFrame({EVIL: [1, 0], "@b": [0, 1]}, index=["-x", "+y"])
    items = pd.DataFrame({"=kind": ["'-", "-"], "number": [-1.5, 2.0]}, index=["-x", "+y"])
    ld.Outcomes(successes=successes, items=items).save(tmp_path / "o.csv")
    read = ld.read_outcomes(tmp_path / "o.csv")
    pd.testing.assert_frame_equal(read.items, items, check_dtype=False, check_index_type=False, check_names=False)
    assert read.systems.index.tolist() == [EVIL, "@b"]
