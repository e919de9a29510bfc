"""Tables of surprisals of one's own, drawn, and refused if they are not what was saved."""

import json
from dataclasses import replace

import pytest

import langdiff as ld
from langdiff.tables.long_tables import Provenance


def test_fit_of_a_log_with_its_own_names(langdiff, tmp_path):
    path = tmp_path / "scores.csv"
    rows = [f"{i};{lang};-{10 + 7 * i % 13 + shift},5" for i in range(8) for lang, shift in (("eng", 0), ("deu", 2))]
    path.write_text("\n".join(["doc_id;lang;logprob", *rows]) + "\n")
    names = ["--intent-column", "doc_id", "--edition-column", "lang", "--bits-column", "logprob"]
    done = langdiff("fit", path, *names, "--unit", "nats", "--json")
    assert done.code == 0, done.err
    assert [row["edition"] for row in json.loads(done.out)] == ["deu", "eng"]
    refused = langdiff("fit", path, *names)
    assert refused.code == 1
    assert "look like log-probabilities" in refused.err


def test_a_table_of_surprisals_is_drawn_with_its_fit(langdiff, tmp_path):
    path = tmp_path / "bits.csv"
    ld.simulate(30, 3, seed=0).surprisals.save(path)
    assert langdiff("plot", "table", path, "--out", tmp_path / "table.svg").code == 0
    assert b"<svg" in (tmp_path / "table.svg").read_bytes()
    refused = langdiff("plot", "table", path, path, "--out", tmp_path / "table.svg")
    assert (refused.code, "one table of surprisals, got 2 files" in refused.err) == (1, True)


@pytest.mark.parametrize("command", ["fit", "compare-models", "reliability", "plot table"])
def test_commands_refuse_altered_bits(langdiff, tmp_path, command):
    table = ld.simulate(40, 5, model="1", sigma=0.2, seed=0).surprisals
    path = tmp_path / "s.csv"
    replace(table, provenance=Provenance(recipe="mine#1")).save(path)
    first, cells, *others = path.read_text(encoding="utf-8").split("\n")
    intent, edition, bits, lm = cells.split(",")
    path.write_text("\n".join([first, f"{intent},{edition},1{bits},{lm}", *others]), encoding="utf-8")
    arguments = [*command.split(), path, *(["--out", tmp_path / "t.svg"] if command == "plot table" else [])]
    refused = langdiff(*arguments)
    assert refused.code == 1
    assert f"{path}: not what was saved" in refused.err
    assert "--no-verify" in refused.err
    assert "not what was saved" not in langdiff(*arguments, "--no-verify").err


@pytest.mark.parametrize(
    ("kind", "said"), [((), "difficulty"), (("--kind", "forest"), "difficulty"), (("--kind", "ranks"), "rank (1 is")]
)
def test_a_saved_result_is_drawn_by_its_kind(langdiff, tmp_path, kind, said):
    ld.fit(ld.simulate(30, 3, seed=0).surprisals).save(tmp_path / "fit.json")
    assert langdiff("plot", "result", tmp_path / "fit.json", *kind, "--out", tmp_path / "picture.svg").code == 0
    assert said in (tmp_path / "picture.svg").read_text(encoding="utf-8")
