"""The table of outcomes: what it refuses, its files, and what one outcome given another is."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import langdiff as ld
from langdiff.errors import DataError, LangdiffWarning
from tests.helpers import refused

NAN = float("nan")


def table(cells, trials=None, **more):
    items, systems = [f"i{i}" for i in range(len(cells))], [f"s{j}" for j in range(len(cells[0]))]
    trials = None if trials is None else pd.DataFrame(trials, items, systems)
    return ld.Outcomes(successes=pd.DataFrame(cells, items, systems), trials=trials, **more)


@st.composite
def outcomes(draw):
    shape = draw(st.tuples(st.integers(1, 6), st.integers(1, 4)))
    trials = draw(arrays(int, shape, elements=st.integers(0, 5)))
    share = draw(arrays(float, shape, elements=st.floats(0, 1)))
    return table(np.floor(share * trials).astype(int), trials)


def test_cells_without_trials_are_missing():
    found = table([[1, 0], [2, NAN]], [[3, 0], [2, 4]])
    assert found.observed.tolist() == [[True, False], [True, False]]
    assert found.trials.isna().equals(found.successes.isna())
    assert found.totals().loc["s0"].tolist() == [2, 5, 3, 0.6]
    assert found.totals().loc["s1", "trials"] == 0


@pytest.mark.parametrize(
    ("cells", "trials", "message"),
    [
        ([[0.5, 1]], None, r"1 of 2 successes are not whole numbers .*\(i0, s0\) = 0.5.*give successes"),
        ([[-1, 1]], None, "not whole numbers from 0 up"),
        ([["C", 1]], None, r"\(i0, s0\) = C\."),
        ([[2, 1]], None, r"more successes than trials: \(i0, s0\) = 2 of 1"),
        ([[1, 1]], [[0, 1]], r"\(i0, s0\) = 1 of 0"),
        ([[1, 1]], [[1.5, 1]], "1 of 2 trials are not whole numbers"),
    ],
)
def test_what_is_no_count_is_refused(cells, trials, message):
    refused(DataError, message, table, cells, trials)


def test_names_must_fit():
    frame = pd.DataFrame([[1, 0]], ["a"], ["x", "x"])
    refused(DataError, r"1 system\(s\) named twice: 'x'", ld.Outcomes, successes=frame)
    with pytest.raises(DataError, match="trials must have the items and systems"):
        ld.Outcomes(successes=frame.iloc[:, :1], trials=pd.DataFrame([[1]], ["b"], ["x"]))
    with pytest.raises(DataError, match="items must have one row per item"):
        table([[1, 0]], items=pd.DataFrame({"document": ["d"]}, index=["other"]))
    with pytest.raises(DataError, match=r"no row for 1 of 1 items: 'i0'"):
        table([[1, 0]]).with_items(pd.DataFrame({"document": ["d"]}, index=["other"]))
    refused(DataError, r"1 unknown item\(s\): 'zz'", table([[1, 0]]).sel, items=["zz"])


def test_given_takes_successes_as_trials():
    spans = table([[4, 2], [0, 3], [1, NAN]], [[5, 5], [5, 5], [5, 5]], name="spans")
    relations = table([[3, 2], [0, 1], [1, 1]], [[5, 5], [5, 5], [5, 5]], name="relations")
    found = relations.given(spans)
    assert found.name == "relations given spans"
    np.testing.assert_array_equal(found.successes, [[3, 2], [NAN, 1], [1, NAN]])
    np.testing.assert_array_equal(found.trials, [[4, 2], [NAN, 3], [1, NAN]])
    with pytest.raises(DataError, match=r"2 cell\(s\) have more successes than successes of relations.*\(i0, s0\) = 4"):
        spans.given(relations)
    refused(DataError, "items of relations and spans differ: 'i2'", relations.given, spans.sel(items=["i0", "i1"]))
    reordered = spans.sel(items=["i2", "i0", "i1"], systems=["s1", "s0"])
    pd.testing.assert_frame_equal(relations.given(reordered).trials, found.trials)


@given(outcomes())
def test_files_bring_back_the_table(tmp_path_factory, table):
    path = tmp_path_factory.mktemp("table") / "t.csv"
    lengths = pd.DataFrame({"length": np.arange(len(table.items)) + 0.5}, index=table.items.index)
    table = table.with_items(lengths)
    table.save(path)
    back = ld.read_outcomes(path)
    for part in ("successes", "trials", "items", "systems"):
        pd.testing.assert_frame_equal(getattr(back, part), getattr(table, part), check_index_type=False)


def test_attributes_come_from_columns(tmp_path):
    path = tmp_path / "t.tsv"
    path.write_text("item\tsystem\tsuccesses\tdocument\tsystem_size\na\tx\t1\t01\t3\nb\tx\t\t1\t3\nb\ty\t0\t1\t7\n")
    found = ld.read_outcomes(path)
    assert found.items["document"].tolist() == ["01", "1"]  # as numbers they would be the same
    assert found.systems["size"].tolist() == [3, 7]
    assert found.observed.tolist() == [[True, False], [False, True]]
    path.write_text("item\tsystem\tsuccesses\tdocument\na\tx\t1\td\na\ty\t0\te\n")
    refused(DataError, "column 'document': item 'a' has several values, 'd' and 'e'", ld.read_outcomes, path)


@pytest.mark.parametrize(
    ("text", "settings", "message"),
    [
        ("item,system,successes\na,x,1\na,x,0\n", {}, r"given twice, the first item 'a', system 'x'.*repeats='sum'"),
        ("item,system,successes\na,x,0.5\n", {}, r"t.csv, line 2, column 'successes': '0.5' is not a whole number"),
        ("item,system,successes\n,x,1\n", {}, "line 2: an item or a system without a name"),
        ("item,x,y\na,1,2/\n", {}, "line 2, column 'y': '2/' is not a whole number"),
        ("item,x,y\na,1,/2\n", {}, "line 2, column 'y': '/2' is not a whole number"),
        ("item,x,y\na,1,4/3\n", {}, "line 2, column 'y': '4/3' are more successes than trials"),
        ("item,x,y\na,1/0,1\n", {}, "line 2, column 'x': '1/0' are more successes than trials"),
        ("item,system,successes,trials\na,x,1,2\nb,x,5,0\n", {}, "line 3, column 'successes': 5 of 0 are more"),
        ("item,system,successes,trials\na,x,1,2\nb,x,1,\n", {}, "line 3, column 'trials': is empty though"),
        ("item,system,successes\na,x,2\n", {}, "line 2, column 'successes': 2 of 1 are more"),
        ("item,system,successes\n", {}, "t.csv: no rows below the header"),
        ("item,x\na,1\na,0\n", {}, "have several rows: 'a'"),
        ("item,x\na,yes\n", {}, "'yes' is not a whole number"),
        ("item\na\n", {}, "only one column"),
    ],
)
def test_faulty_files_are_refused(tmp_path, text, settings, message):
    path = tmp_path / "t.csv"
    path.write_text(text)
    refused(DataError, message, ld.read_outcomes, path, **settings)


def test_cells_of_no_trials_are_missing_in_files(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("item,x,y,z\na,1,0/0,\n")
    assert ld.read_outcomes(path).observed.tolist() == [[True, False, False]]
    path.write_text("item,system,successes,trials\na,x,1,2\na,y,0,0\na,z,,3\n")
    assert ld.read_outcomes(path).observed.tolist() == [[True, False, False]]


def test_repeats_can_be_added_up(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("item,system,successes\na,x,1\na,x,0\nb,x,1\n")
    found = ld.read_outcomes(path, repeats="sum")
    assert found.trials["x"].tolist() == [2, 1]
    assert found.successes["x"].tolist() == [1, 1]


def lm_eval(folder, model, task, rows):
    (folder / model).mkdir(exist_ok=True)
    path = folder / model / f"samples_{task}_2025-01-02T03-04-05.678901.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))


def sample(doc_id, value, *, doc_hash="h", metrics=("acc",), **more):
    row = {"doc_id": doc_id, "doc_hash": f"{doc_hash}{doc_id}", "filter": "none", "metrics": list(metrics)}
    return row | dict.fromkeys(metrics, value) | more


@pytest.mark.filterwarnings("ignore:.*all are taken as scores")
def test_metrics_that_are_scores(tmp_path):
    for model, shift in (("small", 0.0), ("large", 0.1)):
        values = [round(0.03 * i + shift, 3) for i in range(20)]
        lm_eval(tmp_path, model, "qa", [sample(i, value, metrics=("f1",)) for i, value in enumerate(values)])
    found = ld.read_outcomes(tmp_path)
    assert found.scores.loc["qa/3"].to_dict() == pytest.approx({"small": 0.09, "large": 0.19})
    logs = ld.read_logs(tmp_path)
    logs.write(tmp_path / "answers.parquet")
    pd.testing.assert_frame_equal(ld.read_outcomes(tmp_path / "answers.parquet").scores, found.scores, check_like=True)
    lm_eval(tmp_path, "small", "qa", [sample(i, 0.5 if i == 7 else 1.0, metrics=("f1",)) for i in range(40)])
    (tmp_path / "large" / "samples_qa_2025-01-02T03-04-05.678901.jsonl").unlink()
    with pytest.warns(LangdiffWarning, match=r"1 of 40 values of 'f1' are neither .* 0.5 \(.*line 8\)"):
        ld.read_outcomes(tmp_path / "small")


def test_samples_of_lm_eval(tmp_path):
    lm_eval(tmp_path, "small", "agreement", [sample(0, 1.0), sample(1, 0.0)])
    lm_eval(tmp_path, "large", "agreement", [sample(1, True), sample(2, 1)])
    found = ld.read_outcomes(tmp_path)
    assert found.items.index.tolist() == ["agreement/1", "agreement/2", "agreement/0"]
    assert found.successes["large"].tolist()[:2] == [1, 1]
    assert np.isnan(found.successes.loc["agreement/0", "large"])
    assert found.items["task"].unique().tolist() == ["agreement"]
    assert found.systems.index.tolist() == ["large", "small"]
    single = ld.read_outcomes(str(tmp_path / "*" / "samples_*.jsonl"))
    pd.testing.assert_frame_equal(single.successes, found.successes)


@pytest.mark.parametrize(
    ("rows", "settings", "message"),
    [
        ([sample(0, 1.0, doc_hash="other")], {}, r"1 item\(s\) are not the same document in all files: t/0 \("),
        ([sample(0, 1.0, metrics=("acc", "norm"))], {}, "samples have 2 metrics: 'acc', 'norm'. Choose one"),
        ([sample(0, 1.0) | {"filter": "strict"}], {}, "samples have 2 filters: 'none', 'strict'"),
        ([sample(0, 1.0)], {"metric": "f1"}, "no sample has metric 'f1'"),
        ([sample(0, 1.0) | {"acc": [["a"], "b"]}], {}, r"line 1: acc is .*score of all items together"),
        ([{"acc": 1}], {}, "line 1: doc_id is missing"),
        ([sample(0, 1.0) | {"metrics": ["f1"]}], {}, "line 1: no value of metric 'f1'"),
        ([sample(0, 1.0), sample(0, 1.0)], {}, "given twice"),
        ([sample(0, 1.0) | {"metrics": 5}], {}, "line 1: metrics is 5, not a list"),
        ([sample(0, 1.0) | {"metrics": [["acc"]]}], {}, "line 1: metrics 1 is .* not text"),
    ],
)
def test_faulty_samples_of_lm_eval(tmp_path, rows, settings, message):
    lm_eval(tmp_path, "one", "t", [sample(0, 1.0)])
    lm_eval(tmp_path, "other", "t", rows)
    refused(DataError, message, ld.read_outcomes, tmp_path, **settings)


def inspect_log(path, model, samples, task="riddles"):
    path.write_text(json.dumps({"version": 2, "eval": {"task": task, "model": model}, "samples": samples}))


def scored(key, value, epoch=1, **more):
    return {"id": key, "epoch": epoch, "input": f"question {key}", "scores": {"match": {"value": value}}} | more


@pytest.mark.filterwarnings("ignore:null")
def test_logs_of_inspect(tmp_path):
    inspect_log(tmp_path / "a.json", "lab/small", [scored(1, "C"), scored(1, "I", 2), scored(2, "N")])
    inspect_log(tmp_path / "b.json", "lab/large", [scored(1, 1), scored(2, "C", error={"message": "timeout"})])
    found = ld.read_outcomes(tmp_path)
    assert found.successes.to_dict()["lab/small"] == {"riddles/1": 1, "riddles/2": 0}
    assert found.trials["lab/small"].tolist() == [2, 1]
    assert np.isnan(found.successes.loc["riddles/2", "lab/large"])  # its run failed


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        ([scored(1, "P")], "match is 'P', not a number"),
        ([scored(1, "C", input="another")], "not the same document"),
        ([scored(1, "C"), scored(1, "C")], r"sample 2: item 'riddles/1', system 'other' is given twice; also .*sample"),
        ([{"scores": {}}], "sample 1: id is missing"),
        ([scored(1, "C") | {"scores": {"match": {"value": 1}, "model": {"value": 0}}}], "2 metrics: 'match', 'model'"),
        ([scored(1, "C", scores=[1])], "sample 1: scores is .*, not an object"),
        ([scored(1, "C", epoch=[1])], r"sample 1: epoch is \[1\], not a whole number"),
        ("none", "samples are not a list"),
    ],
)
def test_faulty_logs_of_inspect(tmp_path, samples, message):
    inspect_log(tmp_path / "a.json", "one", [scored(1, "C")])
    inspect_log(tmp_path / "b.json", "other", samples)
    refused(DataError, message, ld.read_outcomes, tmp_path)


def test_a_file_that_is_no_log(tmp_path):
    (tmp_path / "a.json").write_text("[1]")
    refused(DataError, "not a log of a known kind", ld.read_outcomes, tmp_path / "a.json")


def test_a_long_table_may_have_any_names(tmp_path):
    rows = [f"q{i},{lang},m,{'True' if i % 2 else 'False'}" for i in range(4) for lang in ("deu", "fin")]
    (tmp_path / "t.csv").write_text("\n".join(["question,lang,model,correct", *rows]))
    names = {"item": "question", "language": "lang", "system": "model"}
    for more in ({}, {"metric": "correct"}):
        found = ld.read_outcomes(tmp_path / "t.csv", **names, **more)
        assert found.successes.to_dict("list") == {"deu@m": [0, 1, 0, 1], "fin@m": [0, 1, 0, 1]}
    refused(DataError, r"several rows.*of a long table, name the columns", ld.read_outcomes, tmp_path / "t.csv")
