import json

import numpy as np
import pandas as pd
import pytest

import langdiff as ld
from langdiff.corpora import write_multitext
from langdiff.lm import read_training_logs


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    words = {"eng": ["the", "cat", "sat", "there"], "deu": ["die", "Katze", "sass", "dort"]}
    picks = np.random.default_rng(0).integers(0, 4, (300, 5))
    frame = pd.DataFrame({e: [" ".join(w[i] for i in row) for row in picks] for e, w in words.items()})
    frame.index = [f"{40001001 + 1000 * (i // 15) + i % 15:08d}" for i in range(len(frame))]
    folder = tmp_path_factory.mktemp("corpus") / "texts"
    write_multitext(ld.read_frame(frame), folder)
    return folder


def test_several_seeds_show_their_spread_and_can_be_scored(langdiff, corpus, tmp_path):
    done = langdiff("train", corpus, "--out", tmp_path, "--lm", "char-tiny", "--n-seeds", 2, "--json").good
    printed = pd.DataFrame(json.loads(done.out)).set_index("edition")
    tables = {path: ld.read_surprisals(path) for path in tmp_path.glob("surprisals-char-tiny-seed-*.csv")}
    assert len(tables) == 2
    bits = pd.DataFrame({path.stem: table.bits.sum() for path, table in tables.items()})
    assert bits.mean(axis=1)["eng"] == pytest.approx(printed["bits"]["eng"])
    assert bits.std(axis=1)["eng"] == pytest.approx(printed["bits_seed_sd"]["eng"])
    assert pd.read_csv(tmp_path / "replicates-char-tiny.csv")["edition"].tolist() == printed.index.tolist()
    assert (tmp_path / "learning-curves-char-tiny.svg").read_text().startswith("<?xml")
    assert read_training_logs(tmp_path)["seed"].nunique() == 2
    one = next(tmp_path.glob("seed-*"))
    scored = langdiff("score", one, corpus, "--lm", "char-tiny", "--out", tmp_path / "all.csv")
    assert scored.code == 0, scored.err


def test_one_seed_draws_its_learning_curves_and_n_grams_have_none(langdiff, corpus, tmp_path):
    done = langdiff("train", corpus, "--out", tmp_path, "--lm", "char-tiny-unpriced")
    assert done.code == 0, done.err
    assert (tmp_path / "learning-curves-char-tiny.svg").is_file()
    assert (tmp_path / "surprisals-char-tiny-unpriced.csv").is_file()
    assert langdiff("train", corpus, "--out", tmp_path, "--lm", "kneser-ney-3").code == 0
    assert not (tmp_path / "learning-curves-kneser-ney-3.svg").exists()
