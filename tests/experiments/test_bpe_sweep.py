from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

import langdiff as ld
from langdiff.errors import ConfigError
from langdiff.experiments import sweep_merges
from langdiff.experiments.bpe_sweep import SweepResult
from langdiff.lm import RECIPES, Compute
from langdiff.lm.jobs import job
from langdiff.tables.multitext import Parts

RATIOS = [0.0, 0.5, 1.0]
ROUNDING = 1e-9  # bits per character times characters, against the sum of bits


@pytest.fixture(scope="module")
def recipe():
    return replace(RECIPES["bpe-tiny"], name="sweep-bpe", embedding_size=12, hidden_size=12, epochs=2, min_count=1)


@pytest.fixture(scope="module")
def parts():
    rng = np.random.default_rng(0)
    words = {
        "eng": ["the", "cat", "sat", "there", "a", "mat"],
        "deu": ["die", "Katze", "sass", "dort", "eine", "Matte"],
    }
    picks = rng.integers(0, 6, (160, 6))
    bible = ld.read_frame(pd.DataFrame({e: [" ".join(w[i] for i in row) for row in picks] for e, w in words.items()}))
    train, dev, test = (bible.sel(intents=bible.intents[a:b]) for a, b in ((0, 120), (120, 140), (140, 160)))
    return Parts(train=train, dev=dev, test=test)


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def result(parts, recipe, cache):
    return sweep_merges(parts, ratios=reversed(RATIOS), lm=recipe, compute=Compute(cache=cache, progress=False), seed=0)


def model_of(cache, edition, ratio):
    (folder,) = (cache / edition / f"sweep-bpe-{ratio:g}").iterdir()
    return folder / "model"


def test_dev_bits_are_those_of_the_models_that_were_kept(result, parts, cache):
    assert result.dev_bits.index.tolist() == RATIOS
    merges = []
    for ratio in RATIOS:
        for edition in ("eng", "deu"):
            model = ld.read(model_of(cache, edition, ratio))
            bits = model.surprisal(parts.dev.text(edition))["bits"].sum()
            assert result.dev_bits.loc[ratio, edition] == pytest.approx(bits, rel=ROUNDING)
            assert_frame_equal(
                result.surprisals[ratio].sel(editions=[edition]).bits,
                model.surprisal(parts.test.text(edition))[["bits"]].set_axis([edition], axis=1),
                check_names=False,
            )
            merges.append(model.units.merges)
    assert merges == [0, 0, 3, 3, 6, 6]


def test_only_the_ratio_differs(recipe, cache, result):
    first, last = (ld.read(model_of(cache, "eng", ratio)).recipe for ratio in (0, 1))
    assert replace(first, name="sweep-bpe-1", bpe_ratio=1.0) == last
    assert replace(recipe, name="sweep-bpe-0", bpe_ratio=0.0) == first


def test_finished_models_are_not_trained_again(result, parts, recipe, cache, monkeypatch):
    monkeypatch.setattr(job, "_train_and_score", None)
    again = sweep_merges(parts, ratios=RATIOS, lm=recipe, compute=Compute(cache=cache, progress=False), seed=0)
    assert_frame_equal(again.dev_bits, result.dev_bits)


def table(values, ratio):
    return ld.Surprisals(bits=pd.DataFrame(values, index=["i", "k"]), lm=f"bpe-{ratio:g}")


@pytest.fixture
def known():
    """Give a result whose minima differ: 0.5 and 0; one for all is 0, though 0.5 has fewer bits in all."""
    dev_bits = pd.DataFrame(
        {"eng": [1010.0, 1000.0, 1030.0], "deu": [10.0, 11.0, 11.0]}, index=pd.Index(RATIOS, name="ratio")
    ).rename_axis(columns="edition")
    tables = {r: table({"eng": [1 + r, 2 + r], "deu": [3 + r, 4 + r]}, r) for r in RATIOS}
    return SweepResult(lm="bpe", dev_bits=dev_bits, surprisals=tables, seed=0)


def test_best_ratios(known):
    assert known.best.to_dict() == {"eng": 0.5, "deu": 0.0}
    assert known.best_overall == 0.0
    assert known.best_surprisals().bits.to_dict("list") == {"eng": [1.5, 2.5], "deu": [3.0, 4.0]}
    assert known.best_surprisals().lm == "bpe-best"
    assert repr(known) == "SweepResult of bpe: 3 ratios × 2 editions, best overall 0"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"lm": "char-tiny"}, "'char-tiny' predicts characters"),
        ({"lm": "bytes-small"}, "'bytes-small' predicts bytes"),
        ({"lm": "kneser-ney-6"}, "'kneser-ney-6' predicts characters"),
        ({"ratios": []}, "at least one ratio"),
        ({"ratios": [0.4, 0.4]}, "each once"),
        ({"ratios": [-1]}, "bpe_ratio = -1"),
        ({"lm": "bpe-tinny"}, "Did you mean 'bpe-tiny'"),
    ],
)
def test_bad_settings(parts, settings, message):
    with pytest.raises(ConfigError, match=message):
        sweep_merges(parts, **({"lm": "bpe-tiny", "seed": 0} | settings))
