import pytest

import langdiff as ld


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    ld.write_multitext(ld.synthesize(200, 2, seed=5).multitext, folder)
    return folder


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
