import json

import pandas as pd

import langdiff as ld


def test_the_command_writes_table_and_picture_and_goes_on(langdiff, tmp_path):
    ld.simulate(60, 5, seed=3).surprisals.save(tmp_path / "bits.csv")
    arguments = [
        "goodness",
        tmp_path / "bits.csv",
        "--model",
        "1",
        "--model",
        "2",
        "--n-subsets",
        "2",
        "--sizes",
        "map",
        "--sizes",
        "posterior",
    ]
    arguments += ["--out", tmp_path / "out"]
    done = langdiff(*arguments)
    assert done.code == 0, done.err
    assert "Goodness of 2 models over 2 subsets of intents, 2 setting(s)" in done.out
    assert len(pd.read_csv(tmp_path / "out" / "goodness.csv")) == 8
    assert b"<svg" in (tmp_path / "out" / "goodness.svg").read_bytes()
    stored = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").glob("goodness-*.json")}
    machine = langdiff(*arguments, "--json")
    assert {row["n"] for row in json.loads(machine.out)} == {"map", "posterior"}
    assert stored == {path: path.stat().st_mtime_ns for path in (tmp_path / "out").glob("goodness-*.json")}
    assert langdiff("goodness", tmp_path / "bits.csv", "--model", "9", "--out", tmp_path).code == 2
