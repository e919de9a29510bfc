"""Logs of lm-evaluation-harness and tables of scores, one file per edition."""

import json

import numpy as np
import pandas as pd
import pytest

import langdiff as ld
from langdiff.errors import ConfigError, DataError

SCORES = {"eng": {"7": -20.5, "8": -31.25}, "ell": {"7": -22.0, "8": -40.0}}
TEXTS = {"eng": {"7": "a dog", "8": "two cats"}, "ell": {"7": "σκύλος", "8": "δύο γάτες"}}


def sample(number, text, score, *, newer):
    return {
        "doc_id": int(number) - 7,
        "doc": {"id": f"s{number}", "sentence": text},
        "arguments": {"gen_args_0": {"arg_0": text}} if newer else [[text]],
        "resps": [[str(score)]] if newer else [[score]],
        "filtered_resps": [str(score)] if newer else [score],
        "doc_hash": f"{abs(hash(text))}",
    }


def samples(folder, *, newer=True):
    files = {}
    for edition, scores in SCORES.items():
        files[edition] = folder / f"samples_flores_{edition}_2025-01-01T00-00-00.jsonl"
        rows = [sample(number, TEXTS[edition][number], score, newer=newer) for number, score in scores.items()]
        files[edition].write_text("\n".join(map(json.dumps, rows)) + "\n")
    return files


@pytest.mark.parametrize("newer", [True, False])
def test_samples_of_lm_evaluation_harness(tmp_path, newer):
    table = ld.read_logs(samples(tmp_path, newer=newer), system="mine").surprisals()
    assert table.bits.to_dict() == {
        edition: {f"s{k}": pytest.approx(-v / np.log(2)) for k, v in scores.items()}
        for edition, scores in SCORES.items()
    }
    assert table.characters["ell"].tolist() == [6, 9]
    assert table.bytes["ell"].tolist() == [12, 17]
    named = ld.read_logs(samples(tmp_path, newer=newer), item="id").surprisals()
    assert list(named.intents) == ["s7", "s8"]


def test_samples_with_one_continuation_and_missing_documents(tmp_path):
    files = samples(tmp_path)
    row = sample("7", "x", 0, newer=True) | {"filtered_resps": [["-3.5", "False"]]}
    files["ell"].write_text(json.dumps(row))
    table = ld.read_logs(files).surprisals()
    assert table.bits["ell"].isna().tolist() == [False, True]
    assert table.bits["ell"].iloc[0] == pytest.approx(3.5 / np.log(2))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"filtered_resps": [["-3", "False"], ["-4", "True"]]}, "2 log-likelihoods, of the choices of a question"),
        ({"filtered_resps": ["a dog barks"]}, "'a dog barks', not a log-likelihood"),
        ({"filtered_resps": []}, "not a log-likelihood"),
    ],
)
def test_other_samples_are_refused(tmp_path, change, message):
    files = samples(tmp_path)
    files["eng"].write_text(json.dumps(sample("7", "x", -1, newer=True) | change))
    with pytest.raises(DataError, match=message):
        ld.read_logs(files).surprisals()


def test_tables_of_texts_and_surprisals(tmp_path):
    files = {}
    for edition, scores in SCORES.items():
        files[edition] = tmp_path / f"{edition}.csv"
        lines = [f"{TEXTS[edition][number]},{-score}" for number, score in scores.items()]
        files[edition].write_text("\n".join(["text,surprisal", *lines]))
    with pytest.raises(ConfigError, match="give the unit of the logarithms"):
        ld.read_logs(files).surprisals()
    table = ld.read_logs(files, unit="nats").surprisals()
    assert list(table.intents) == ["1", "2"]
    assert table.bits["eng"].tolist() == pytest.approx([20.5 / np.log(2), 31.25 / np.log(2)])
    assert table.bytes["ell"].tolist() == [12, 17]
    files["eng"].write_text("doc_id,text,surprisal,score\n1,a,1,2\n")
    with pytest.raises(DataError, match="2 columns of scores"):
        ld.read_logs(files, unit="nats").surprisals()
    files["eng"].write_text("doc_id,surprisal\n1,1\n1,2\n")
    with pytest.raises(DataError, match="do not name their items"):
        ld.read_logs(files, unit="nats").surprisals()


def table(folder, edition, text):
    path = folder / f"{edition}.csv"
    path.write_text(text)
    return path


@pytest.mark.parametrize("score", [float("nan"), "nan", True])
def test_a_failure_of_the_model_is_not_a_missing_translation(tmp_path, score):
    files = samples(tmp_path)
    files["eng"].write_text(json.dumps(sample("7", "x", -1, newer=True) | {"filtered_resps": [score]}))
    with pytest.raises(DataError, match=r"filtered_resps are NaN|not a log-likelihood"):
        ld.read_logs(files).surprisals()


@pytest.mark.parametrize("column", ["intent", "doc_id", "verse"])
def test_rows_of_tables_are_joined_by_the_names_of_their_intents(tmp_path, column):
    files = {
        "a": table(tmp_path, "a", f"{column},surprisal\nx,1\ny,2\n"),
        "b": table(tmp_path, "b", f"{column},surprisal\ny,3\nx,4\n"),
    }
    found = ld.read_logs(files, unit="bits", item="verse" if column == "verse" else None).surprisals()
    assert found.bits.loc["x"].tolist() == [1, 4]
    with pytest.raises(DataError, match=r"a\.csv: no column 'vers' of items"):
        ld.read_logs(files, unit="bits", item="vers").surprisals()


def test_intents_of_parquet_and_csv_are_the_same(tmp_path):
    pd.DataFrame({"doc_id": [1, 2], "text": [10, 20], "score": [-1.0, -2]}).to_parquet(tmp_path / "a.parquet")
    files = {"a": tmp_path / "a.parquet", "b": table(tmp_path, "b", '"doc_id","text","score"\n2,x,-4\n1,y,-3\n')}
    found = ld.read_logs(files, unit="bits").surprisals()
    assert found.bits.loc["1"].tolist() == [1, 3]
    assert found.bytes["a"].tolist() == [2, 2]


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ("surprisal\n3\n", "files differ in length: 'a.csv: 2 rows', 'b.csv: 1 rows'"),
        ("doc_id,surprisal\n0,3\n1,4\n", "files 'a.csv' do not name their items, as others do"),
        ("doc_id,surprisal\n0,3\n,4\n", "not every row names its item"),
        ("surprisal\n", r"b\.csv: no score in 0 row"),
        ("text,surprisal\nx,\ny,\n", r"b\.csv: no score in 2 row"),
        ("text,token,surprisal\nx y,x,1\nx y,y,2\n", "files differ in length"),
    ],
)
def test_tables_whose_rows_may_not_belong_together_are_refused(tmp_path, other, message):
    files = {"a": table(tmp_path, "a", "surprisal\n1\n2\n"), "b": table(tmp_path, "b", other)}
    with pytest.raises(DataError, match=message):
        ld.read_logs(files, unit="bits").surprisals()
