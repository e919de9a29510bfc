import json

import pytest
from numpy.testing import assert_array_equal

import langdiff as ld


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    ld.write_multitext(ld.synthesize(200, 2, seed=5).multitext, folder)
    return folder


def test_trained_and_scored_like_any_other_language_model(langdiff, corpus, tmp_path):
    models, table = tmp_path / "models", tmp_path / "all.csv"
    trained = langdiff("train", corpus, "--lm", "kneser-ney-4", "--out", models, "--json")
    assert trained.code == 0, trained.err
    rates = [row["bits_per_character"] for row in json.loads(trained.out)]
    assert len(rates) == 2
    assert all(1 < rate < 4 for rate in rates)
    assert langdiff("score", models, corpus, "--lm", "kneser-ney-4", "--out", table).code == 0
    test_part, everything = ld.read_surprisals(models / "surprisals-kneser-ney-4.csv"), ld.read_surprisals(table)
    assert test_part.lm == everything.lm == "kneser-ney-4"
    assert everything.bits.shape == (200, 2)
    assert_array_equal(everything.bits.loc[test_part.intents, test_part.editions], test_part.bits)
    assert langdiff("fit", table).code == 0


def test_another_way_of_scoring_needs_no_training(langdiff, corpus, tmp_path):
    models = tmp_path / "models"
    assert langdiff("train", corpus, "--lm", "kneser-ney-2", "--out", models).code == 0
    written = {path: path.stat().st_mtime_ns for path in models.glob("*/*/*/model/*")}
    assert langdiff("train", corpus, "--lm", "kneser-ney-2", "--out", models, "--scoring", "unpriced").code == 0
    assert {path: path.stat().st_mtime_ns for path in models.glob("*/*/*/model/*")} == written
    assert ld.read_surprisals(models / "surprisals-kneser-ney-2-unpriced.csv").lm == "kneser-ney-2-unpriced"
    for options in (("--lm", "kneser-ney-2", "--scoring", "unpriced"), ("--lm", "kneser-ney-2-unpriced")):
        table = tmp_path / "all.csv"
        assert langdiff("score", models, corpus, *options, "--out", table).code == 0
        assert ld.read_surprisals(table).lm == "kneser-ney-2-unpriced"
