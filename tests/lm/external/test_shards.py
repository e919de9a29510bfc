"""Shares of scoring and executors, beside one call that does everything."""

import json

import numpy as np
import pandas as pd
import pytest

import langdiff as ld
from langdiff.errors import ConfigError, DataError
from langdiff.lm import merge_shards, score_shard
from tests.helpers import refused


class Bytes:
    """A model whose bits are known, and that counts its calls."""

    def __init__(self, bits=8.0):
        self.bits, self.identity, self.calls = bits, f"{bits} bits per byte", []

    def surprisal(self, texts):
        self.calls.append(len(texts))
        return pd.DataFrame({"bits": [self.bits * len(text.encode()) + 0.1 for text in texts]})


class Later:
    """A future with two methods, done from its third look on."""

    def __init__(self, call):
        self.call, self.looks = call, 0

    def done(self):
        self.looks += 1
        return self.looks > 2

    def result(self):
        return self.call()


class SubmitOnly:
    def submit(self, function, *arguments):
        return Later(lambda: function(*arguments))


@pytest.fixture
def multitext():
    rng = np.random.default_rng(0)
    texts = {name: ["x" * int(n) for n in rng.integers(1, 20, 6)] for name in ("eng", "deu", "fin", "swh", "tha")}
    texts["deu"][2] = None
    info = pd.DataFrame({"document": list("aabbcc")}, index=[f"s{i}" for i in range(6)])
    return ld.read_frame(pd.DataFrame(texts, index=info.index), intent_info=info)


def test_three_shares_are_one_run_to_the_last_bit(multitext, tmp_path):
    whole = ld.surprisals_of(Bytes(), multitext)
    models = [Bytes() for _ in range(3)]
    shares = [score_shard(model, multitext, shard=f"{k}/3", cache=tmp_path) for k, model in enumerate(models, 1)]
    assert sorted(name for share in shares for name in share) == sorted(multitext.editions)
    assert [len(model.calls) for model in models] == [len(share) for share in shares]
    merged = merge_shards(tmp_path)
    assert list(merged) == ["Bytes"]
    pd.testing.assert_frame_equal(merged["Bytes"].bits, whole.bits, check_exact=True)
    pd.testing.assert_frame_equal(merged["Bytes"].intent_info, whole.intent_info)
    again = ld.surprisals_of(Bytes(), multitext, cache=tmp_path / "other")
    assert merged["Bytes"].provenance == again.provenance


def test_several_models_share_a_cache(multitext, tmp_path):
    for bits in (8.0, 4.0):
        score_shard(Bytes(bits), multitext, shard="1/1", cache=tmp_path, lm=f"of {bits:g} bits")
    merged = merge_shards(tmp_path)
    assert list(merged) == ["of 4 bits", "of 8 bits"]
    assert (merged["of 8 bits"].bits - 2 * merged["of 4 bits"].bits).abs().max(axis=None) < 0.2


def test_missing_and_damaged_shares_are_named(multitext, tmp_path):
    mine = score_shard(Bytes(), multitext, shard="1/2", cache=tmp_path)
    others = [name for name in multitext.editions if name not in mine]
    with pytest.raises(DataError, match=f"{len(others)} of 5 editions of Bytes have no scores yet: '{others[0]}'"):
        merge_shards(tmp_path)
    score_shard(Bytes(), multitext, shard="2/2", cache=tmp_path)
    damaged = next(path for path in sorted(tmp_path.glob("*.json")) if not path.name.startswith("plan"))
    edition = json.loads(damaged.read_text(encoding="utf-8"))["edition"]
    damaged.write_text(damaged.read_text(encoding="utf-8").replace(".1", ".2", 1), encoding="utf-8")
    refused(DataError, f"1 of 5 editions of Bytes have no scores yet: '{edition}'", merge_shards, tmp_path)


@pytest.mark.parametrize("shard", ["0/3", "4/3", "1", "1/0", "-1/3", "a/b", "1/3/5", 2])
def test_bad_shares_are_refused(multitext, tmp_path, shard):
    refused(ConfigError, "give k/N, with k from 1 to N", score_shard, Bytes(), multitext, shard=shard, cache=tmp_path)
    assert not list(tmp_path.iterdir())


def test_models_without_identity_have_no_share(multitext, tmp_path):
    class Unknown:
        def surprisal(self, texts):
            return [1.0] * len(texts)

    refused(ConfigError, "an attribute identity", score_shard, Unknown(), multitext, shard="1/2", cache=tmp_path)


def test_an_executor_needs_only_submit_done_and_result(multitext, tmp_path):
    whole = ld.surprisals_of(Bytes(), multitext)
    for cache in (None, tmp_path):
        found = ld.surprisals_of(Bytes(), multitext, executor=SubmitOnly(), cache=cache)
        pd.testing.assert_frame_equal(found.bits, whole.bits, check_exact=True)


def test_an_error_on_a_worker_is_raised_and_the_others_are_cancelled(multitext):
    cancelled = []

    class Cancellable(Later):
        def cancel(self):
            cancelled.append(self)

    class Executor:
        def submit(self, function, *arguments):
            future = Cancellable(lambda: function(*arguments))
            future.looks = 9 if arguments[2] == "fin" else -9  # only this one is done at once
            return future

    class Faulty(Bytes):
        def surprisal(self, texts):
            return [float("nan")] * len(texts)

    with pytest.raises(DataError, match="edition 'fin': 6 of 6 surprisals are not positive finite bits"):
        ld.surprisals_of(Faulty(), multitext, executor=Executor())
    assert len(cancelled) == 4 + 1
