import json

import pytest

import langdiff as ld


@pytest.fixture
def bits(tmp_path):
    ld.simulate(80, 3, seed=0).surprisals.save(tmp_path / "bits.csv")
    return tmp_path / "bits.csv"


def test_stability_prints_and_draws(langdiff, bits, tmp_path):
    arguments = ["stability", bits, "--n-intents", "40", "--n-intents", "20", "--n-repeats", "2"]
    done = langdiff(*arguments, "--plot", tmp_path / "stability.svg")
    assert done.code == 0, done.err
    assert "IntentStability: 3 editions, 20, 40 of 80 intents, 2 repeats" in done.out
    assert b"<svg" in (tmp_path / "stability.svg").read_bytes()
    assert {row["size"] for row in json.loads(langdiff(*arguments, "--json").out)} == {20, 40, 80}
    assert "sizes must rise" in langdiff("stability", bits, "--n-intents", "99").err


def test_deletion_prints_and_draws(langdiff, bits, tmp_path):
    arguments = ["deletion", bits, "--rate", "0.2", "--n-repeats", "2", "--mechanism", "MNAR"]
    done = langdiff(*arguments, "--plot", tmp_path / "deletion.svg")
    assert done.code == 0, done.err
    assert "DeletionBias: 1 mechanism(s) × 1 rate(s) × 2 repeat(s)" in done.out
    assert b"<svg" in (tmp_path / "deletion.svg").read_bytes()
    assert {row["mechanism"] for row in json.loads(langdiff(*arguments, "--json").out)} == {"MNAR"}
    assert langdiff("deletion", bits, "--rate", "2").code == 1
