"""Parity by command: from texts, from a log, with tokenizers, to a page."""

import json

import numpy as np
import pytest

import langdiff as ld

SENTENCES = ["the dog barks", "a cat sleeps", "two birds sing", "the old house", "rain falls"]


@pytest.fixture
def corpus(tmp_path):
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "eng.txt").write_text("\n".join(SENTENCES * 6) + "\n")
    (folder / "ell.txt").write_text("\n".join(["ο σκύλος γαβγίζει"] * 30) + "\n")
    return folder


def test_texts_as_they_are(langdiff, corpus, tmp_path):
    done = langdiff(
        *("parity", corpus, "--format", "moses", "--reference", "eng", "--json"),
        *("--out", tmp_path / "t.csv", "--plot", tmp_path / "p.svg"),
    ).good
    rows = {row["edition"]: row for row in json.loads(done.out)}
    assert rows["ell"]["bytes"] == 30 * len("ο σκύλος γαβγίζει".encode())
    assert rows["ell"]["byte_premium_low"] < rows["ell"]["byte_premium"] < rows["ell"]["byte_premium_high"]
    assert (tmp_path / "t.csv").read_text().startswith("edition,language,characters,bytes")
    assert (tmp_path / "p.svg").stat().st_size > 1000


def test_tokenizers_from_files(langdiff, corpus, tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    model = tokenizers.Tokenizer(tokenizers.models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    model.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    model.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "lr=0.1.csv").write_text("line,eng,ell\n" + "".join(f"{i},2,4\n" for i in range(30)))
    base = ["parity", corpus, "--format", "moses", "--reference", "eng"]
    done = langdiff(
        *base,
        "--json",
        "--tokenizer",
        f"words={tmp_path / 'tokenizer.json'}",
        "--tokenizer",
        f"own={tmp_path}/lr=0.1.csv",
    )
    rows = {row["edition"]: row for row in json.loads(done.out)}
    assert rows["ell"]["token_premium_words"] == pytest.approx(90 / (6 * sum(len(s.split()) for s in SENTENCES)))
    assert rows["ell"]["token_premium_own"] == 2
    assert "NAME=FILE" in langdiff(*base, "--tokenizer", "gpt2").err
    assert "no such file" in langdiff(*base, "--tokenizer", "x=none.model").err
    (tmp_path / "bad.json").write_text("{}")
    assert "tokenizers cannot read it" in langdiff(*base, "--tokenizer", f"x={tmp_path}/bad.json").err


def test_a_log_becomes_a_page(langdiff, tmp_path, monkeypatch):
    long = ld.simulate(60, 3, seed=1).surprisals.to_frame()
    long["bits"] *= -np.log(2)
    long.to_csv(tmp_path / "scores.csv", index=False)
    page = tmp_path / "parity.html"
    monkeypatch.setattr(ld, "fit", None)  # the difficulties are those that parity has
    done = langdiff("parity", tmp_path / "scores.csv", "--unit", "nats", "--reference", "e1", "--report", page).good
    assert "information_parity_model" in done.out
    text = page.read_text()
    assert "<h2>Difficulties</h2>" in text
    assert text.count('<svg role="img"') == 4
    assert "http://" not in text.replace("http://www.w3.org", "")
