"""`langdiff import`, and commands that read what it writes."""

import json
from pathlib import Path

import pytest

import langdiff as ld

REAL = Path(__file__).parents[1] / "data" / "logs" / "real"
pytestmark = pytest.mark.filterwarnings("always::langdiff.errors.LangdiffWarning")  # the command prints it


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_is_imported_is_read_by_other_commands(langdiff, folder):
    logs = REAL / "lm_eval"
    done = langdiff("import", logs, "--metric", "acc", "--out", "bits.parquet").good
    assert "72 texts and 72 answers, 3 languages × 2 systems" in done.out
    assert "a start token may have been scored" in done.err
    assert done.err.endswith("Table: bits.parquet, of bits; for the answers --as outcomes\n")
    done = langdiff("import", logs, "--metric", "acc", "--as", "outcomes", "--out", "answers.parquet", "--json").good
    assert json.loads(done.out)["pairing"] == ["link", "question_number"]
    direct = ld.read_logs(logs, metric="acc", tokenizer=None)
    assert ld.read_surprisals("bits.parquet").bits.equals(direct.stack().bits)
    assert ld.read_surprisals("bits.parquet").provenance.scoring == "lm-eval,start:as scored,end:as scored"
    assert ld.read_outcomes("answers.parquet").successes.equals(direct.outcomes().successes)
    for command in (["fit", "bits.parquet"], ["reliability", "bits.parquet"], ["outcomes", "check", "answers.parquet"]):
        done = langdiff(*command).good


def test_parity_imports_logs_by_itself(langdiff, folder):
    samples = sorted((REAL / "lm_eval" / "llama-plain" / "toy").glob("samples_*.jsonl"))
    done = langdiff("parity", *samples).good
    assert "fin_Latn" in done.out
    assert "is a log" in langdiff("parity", *samples, "--surprisals", REAL / "llama-plain.csv").err


def test_tokens_and_names(langdiff, folder):
    texts = REAL / "minicons" / "without_start" / "eng_Latn.csv"
    assert "give the unit of the logarithms: --unit nats" in langdiff("import", texts, "--out", "t.csv").err
    assert "--start drop" in langdiff("import", texts, "--unit", "nats", "--out", "t.csv").err
    given = ("--unit", "nats", "--start", "drop", "--system", "gpt2", "--language", "eng_Latn=English")
    assert langdiff("import", texts, *given, "--as", "tokens", "--out", "t.csv").code == 0
    again = ld.read_logs("t.csv").surprisals()
    assert list(again.editions) == ["English"]
    assert again.lm == "gpt2"
    assert ld.read_surprisals("t.csv").bits.equals(again.bits)
    assert json.loads(Path("t.csv.json").read_text())["logs"]["sources"][0]["kind"] == "minicons"
