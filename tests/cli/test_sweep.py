import json

import numpy as np
import pandas as pd
import pytest

import langdiff as ld
from langdiff.corpora import write_multitext


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    words = {"eng": ["the", "cat", "sat", "there"], "deu": ["die", "Katze", "sass", "dort"]}
    picks = np.random.default_rng(0).integers(0, 4, (400, 7))
    frame = pd.DataFrame({e: [" ".join(w[i] for i in row) for row in picks] for e, w in words.items()})
    frame.index = [f"{40001001 + 1000 * (i // 15) + i % 15:08d}" for i in range(len(frame))]
    folder = tmp_path_factory.mktemp("corpus") / "texts"
    write_multitext(ld.read_frame(frame), folder)
    return folder


@pytest.mark.slow
def test_writes_table_picture_and_surprisals(langdiff, corpus, tmp_path):
    arguments = ["sweep", corpus, "--out", tmp_path, "--lm", "bpe-tiny", "--ratio", 0, "--ratio", 0.5]
    done = langdiff(*arguments, "--json").good
    printed = pd.DataFrame(json.loads(done.out))
    assert printed["ratio"].tolist() == [0.0, 0.5] * 2
    assert set(printed["edition"]) == {"deu", "eng"}
    pd.testing.assert_frame_equal(printed, pd.read_csv(tmp_path / "sweep.csv"), check_dtype=False, rtol=1e-9)
    assert (tmp_path / "sweep.svg").read_text().startswith("<?xml")
    assert ld.read_surprisals(tmp_path / "surprisals-bpe-tiny-best.csv").lm == "bpe-tiny-best"
    again = langdiff(*arguments)  # from the folder, for people
    assert again.out.startswith("Merges per distinct word, bpe-tiny: ")
