"""Experiment files that `langdiff init` writes are read, and say what was not known."""

import json

import pytest
from typer.testing import CliRunner

from langdiff import synthesize
from langdiff.cli.app import app
from langdiff.run import run_experiment
from langdiff.run.experiment_file import read_experiment

MADE = synthesize(120, 3, seed=1).multitext.to_frame()
LINES = {code: list(MADE[name]) for code, name in zip(("deu", "eng", "unknown"), MADE, strict=True)}


def _lines(folder):
    for code, lines in LINES.items():
        (folder / f"{code}.txt").write_text("\n".join(lines) + "\n", "utf-8")
    (folder / "fin.txt").write_text("\n".join(LINES["deu"][:-1]) + "\n", "utf-8")


def _named(folder):
    for name, lines in zip(("German", "welsh_cym", "Vulgate"), LINES.values(), strict=True):
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n", "utf-8")


def _verses(folder):
    for code, lines in {"deu-a": LINES["deu"], "eng-b": LINES["eng"]}.items():
        rows = [f"40{1 + k // 15:03}{1 + k % 15:03}\t{text}" for k, text in enumerate(lines)]
        (folder / f"{code}.txt").write_text("\n".join(rows) + "\n", "utf-8")


def _table(folder):
    pairs = zip(LINES["deu"], LINES["eng"], strict=True)
    rows = ["id\tdeu\teng", *(f"{k}\t{one}\t{other if k else ''}" for k, (one, other) in enumerate(pairs))]
    (folder / "texts.tsv").write_text("\n".join(rows) + "\n", "utf-8")


FOUND = {
    _lines: ("moses", ["fin: has 119 lines", "language not known: unknown", "deu = German", "documents are known"]),
    _named: (
        "moses",
        ["English names: German = deu, welsh_cym = cym.", "known: Vulgate."],
    ),
    _verses: ("pbc", ["eng-b = English", "which is known"]),
    _table: ("table", ["[selection]", "min_intents = 119"]),
}


def _init(*arguments):
    return CliRunner().invoke(app, ["init", *map(str, arguments)])


@pytest.mark.filterwarnings("ignore")  # of texts that are alike
@pytest.mark.parametrize("write", FOUND)
def test_a_file_is_written_for_what_is_there(tmp_path, write):
    format, said = FOUND[write]
    (tmp_path / "texts").mkdir()
    write(tmp_path / "texts")
    out = tmp_path / "texts.toml"
    assert _init(tmp_path / "texts", "--out", out).exit_code == 0
    text = out.read_text("utf-8")
    assert [each for each in said if each not in text] == []
    assert "seconds of one core" in text
    experiment = read_experiment(out)
    assert experiment.corpus.format == format
    run = run_experiment(experiment, tmp_path / "run", progress=False)
    assert run.surprisals
    again = _init(tmp_path / "texts", "--out", out)
    assert (again.exit_code, out.read_text("utf-8")) == (1, text)


def test_logs_need_none_and_nothing_is_an_error(tmp_path):
    assert "neither texts nor logs" in _init(tmp_path, "--out", tmp_path / "a.toml").stderr
    for code in ("deu", "fin"):
        rows = [{"doc_id": k, "doc": {"id": f"q{k}"}, "acc": float(k % 3 > 0), "task": "qa"} for k in range(20)]
        file = tmp_path / f"samples_qa_{code}_2024-01-01T00-00-00.jsonl"
        file.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    found = _init(tmp_path, "--out", tmp_path / "a.toml")
    assert "langdiff import" in found.stdout
    assert "langdiff outcomes fit logs.parquet" in found.stdout
    assert not (tmp_path / "a.toml").exists()
