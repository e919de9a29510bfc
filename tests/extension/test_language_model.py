"""A kind of language model of one's own, defined in this file alone and used through the public functions."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from pandas.testing import assert_frame_equal

import langdiff as ld
from langdiff.errors import CheckpointError, ConfigError, LangdiffWarning
from langdiff.lm import (
    LanguageModelRecipe,
    Scoring,
    fit_mixture,
    read_models,
    read_training_logs,
    score_multitext,
    surprisals_of,
    token_scores,
)
from langdiff.lm.checkpoint import Checkpoint, read_checkpoint, read_model, write_checkpoint
from langdiff.lm.texts import learn_alphabet, surprisal_table
from langdiff.lm.units.alphabet import Alphabet
from langdiff.run import Experiment, run_experiment
from langdiff.run.upkeep import read_status
from tests.helpers import refused

EXACT = 1e-12  # one product either way


@dataclass(frozen=True)
class UniformModel:
    """Every symbol of the alphabet, and the end, is as probable as any other."""

    recipe: "Uniform"
    alphabet: Alphabet
    cautions: tuple[str, ...] = ()

    def surprisal(self, texts, *, scoring=None):
        series = texts if isinstance(texts, pd.Series) else pd.Series(list(texts))
        each = self.symbol_bits(series)
        bits, end = np.array([bits.sum() for bits in each]), np.array([bits[-1] for bits in each])
        return surprisal_table(series, self.alphabet, scoring or Scoring(), bits, end, [len(b) - 1 for b in each])

    def symbol_bits(self, texts, *, boundaries=False):
        symbol = np.log2(len(self.alphabet.symbols) + 1)
        return [np.full(len(text) + 1, symbol) for text in texts]

    def save(self, directory):
        settings = {"kind": "uniform", "recipe": asdict(self.recipe), "alphabet": asdict(self.alphabet)}
        write_checkpoint(Path(directory), Checkpoint(settings=settings, weights={}, subwords=None))


@dataclass(frozen=True, kw_only=True)
class Uniform(LanguageModelRecipe):
    kind: ClassVar[str] = "uniform"
    stochastic: ClassVar[bool] = False

    @classmethod
    def named(cls, name):
        return cls(name=name, min_count=1) if name == "uniform" else None

    def fit(self, train, dev, plan):
        return UniformModel(self, learn_alphabet(list(train), self.min_count))

    def read(self, directory, *, device):
        return UniformModel(self, Alphabet(**read_checkpoint(directory).settings["alphabet"]))


@pytest.fixture(scope="module")
def multitext():
    return ld.synthesize(60, 2, seed=0).multitext


@pytest.fixture(scope="module")
def parts(multitext):
    return ld.split(multitext)


def compute(parts, lm="uniform", **options):
    return ld.compute_surprisals(parts, lm=lm, progress=False, **options)


def expected(parts, edition):
    symbols = len(learn_alphabet(list(parts.train.text(edition)), 1).symbols) + 1
    return (parts.test.text(edition).str.len() + 1) * np.log2(symbols)


def test_it_goes_through_the_whole_computation(parts):
    table = compute(parts, scoring="unpriced")
    for edition in parts.editions:
        assert_allclose(table.bits[edition], expected(parts, edition), rtol=EXACT)
    assert table.lm == "uniform-unpriced"
    assert table.provenance.seed is None  # nothing is drawn
    assert table.provenance.compute == "cpu"


def test_a_cache_keeps_it(parts, tmp_path, monkeypatch):
    first = compute(parts, cache=tmp_path)
    assert_frame_equal(first.bits, compute(parts).bits, check_exact=True)
    monkeypatch.setattr(Uniform, "fit", lambda *_: pytest.fail("trained again"))
    again = compute(parts, cache=tmp_path)
    assert_frame_equal(again.bits, first.bits, check_exact=True)
    assert again.provenance == first.provenance
    assert compute(parts, scoring="unpriced", cache=tmp_path).lm == "uniform-unpriced"
    assert read_training_logs(tmp_path).empty


def test_what_the_cache_keeps_can_be_read(parts, tmp_path):
    table = compute(parts, cache=tmp_path)
    edition = parts.editions[0]
    (folder,) = tmp_path.glob(f"{edition}/uniform/*/model")
    model = read_model(folder)
    assert model.recipe == Uniform(name="uniform", min_count=1)
    assert_allclose(model.surprisal(parts.test.text(edition))["bits"], table.bits[edition], rtol=EXACT)
    models = read_models(tmp_path, parts.editions, lm="uniform")
    assert_frame_equal(surprisals_of(models, parts.test).bits, table.bits)
    assert_frame_equal(score_multitext(parts.test, tmp_path, lm="uniform", progress=False).bits, table.bits)
    assert ld.read(folder).recipe == model.recipe
    refused(ConfigError, "a UniformModel gives no scores of units", token_scores, models, parts.test)
    refused(ConfigError, "a UniformModel cannot be mixed", fit_mixture, [model, model], parts.dev.text(edition))


def test_another_recipe_of_the_name_is_another_model(parts, tmp_path):
    compute(parts, cache=tmp_path)
    with pytest.warns(LangdiffWarning, match="too rare in training"):
        other = compute(parts, Uniform(name="uniform", min_count=9), max_replaced=1.0, cache=tmp_path)
    assert not other.bits.equals(compute(parts).bits)
    assert len(list(tmp_path.glob("*/uniform/*/key.json"))) == 2 * len(parts.editions)
    found = read_models(tmp_path, parts.editions, lm="uniform")
    assert {model.recipe.min_count for model in found.values()} == {1}
    with pytest.raises(CheckpointError, match="no finished language model; only of other settings or seeds"):
        read_models(tmp_path, parts.editions, lm=Uniform(name="uniform", min_count=3))


@dataclass(frozen=True, kw_only=True)
class Other(Uniform):
    kind: ClassVar[str] = "other"


def test_another_kind_with_the_same_settings_is_another_model(parts, tmp_path):
    compute(parts, Uniform(name="mine", min_count=1), cache=tmp_path)
    compute(parts, Other(name="mine", min_count=1), cache=tmp_path)
    assert len(list(tmp_path.glob("*/mine/*/key.json"))) == 2 * len(parts.editions)


def test_folds_and_experiments_know_it(multitext, tmp_path):
    folds = ld.split_into_folds(multitext, 2)
    assert len(compute(folds).bits) == len(multitext.intents)
    experiment = {
        "name": "uniform",
        "corpus": {"format": "synthetic", "n_intents": 60, "n_languages": 2},
        "lm": {"models": ["uniform"], "max_replaced": 1.0},
        "fit": {"clusters": "none"},
    }
    run = run_experiment(Experiment.model_validate(experiment), tmp_path / "run", progress=False)
    assert list(run.surprisals) == ["uniform"]
    assert read_status(tmp_path / "run")["state"].tolist() == ["done", "done"]


def test_an_unknown_name_is_still_refused():
    refused(ConfigError, "unknown language model 'uniformly'", read_models, ".", ["eng"], lm="uniformly")
