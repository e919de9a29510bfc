import numpy as np
import pandas as pd
import pytest

import langdiff as ld


@pytest.fixture
def corpus(tmp_path):
    words = {"eng": ["the", "cat", "sat", "there"], "deu": ["die", "Katze", "sass", "dort"]}
    picks = np.random.default_rng(0).integers(0, 4, (240, 5))
    frame = pd.DataFrame({e: [" ".join(w[i] for i in row) for row in picks] for e, w in words.items()})
    frame.index = [f"{40001001 + 1000 * (i // 10) + i % 10:08d}" for i in range(len(frame))]
    frame.loc["40001003", "deu"] = None
    ld.write_multitext(ld.read_frame(frame), tmp_path / "texts")
    return tmp_path / "texts"


@pytest.mark.filterwarnings("ignore:in single folds")  # eight chapters in each
def test_all_of_the_text_is_scored_and_the_folds_are_compared(langdiff, corpus, tmp_path):
    out = tmp_path / "models"
    done = langdiff("train", corpus, "--lm", "kneser-ney-3", "--folds", 3, "--groups", "chapter", "--out", out).good
    assert "3 folds of 24 groups (chapter): all 240 intents are measured" in done.err
    path = out / "surprisals-kneser-ney-3.csv"
    table = ld.read_surprisals(path)
    assert table.bits.notna().sum().to_dict() == {"deu": 239, "eng": 240}
    assert langdiff("score", out / "fold-2", corpus, "--lm", "kneser-ney-3", "--out", tmp_path / "all.csv").code == 0


def test_chapters_stay_whole_without_folds(langdiff, corpus, tmp_path):
    assert (
        langdiff("train", corpus, "--lm", "kneser-ney-3", "--groups", "chapter", "--out", tmp_path / "models").code == 0
    )
    tested = ld.read_surprisals(tmp_path / "models" / "surprisals-kneser-ney-3.csv").intents
    assert tested.str[:5].value_counts().drop("40001", errors="ignore").eq(10).all()
    wrong = langdiff("train", corpus, "--groups", "document", "--out", tmp_path / "models")
    assert (wrong.code, wrong.out) == (1, "")
    assert (
        "--groups document: no such column about intents. There are 'book', 'chapter'; name one of them." in wrong.err
    )
    assert langdiff("train", corpus, "--folds", 1, "--out", tmp_path / "models").code == 2
