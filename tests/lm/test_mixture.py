"""Mixtures: against a grid of weights, and as language models like the others."""

from dataclasses import replace

import numpy as np
import pytest

import langdiff as ld
from langdiff.errors import CheckpointError, ConfigError, DataError
from langdiff.lm import RECIPES, fit_mixture, train_kneser_ney
from langdiff.lm.mixture import Mixture, _learn_weights
from langdiff.lm.ngram.kneser_ney import KneserNey
from langdiff.lm.units.characters import CharacterUnits
from tests.helpers import refused

FAST = replace(RECIPES["char-tiny"], epochs=2, min_count=None)  # the alphabet of the n-grams


@pytest.fixture(scope="module")
def parts():
    return ld.split(ld.synthesize(300, 2, seed=3).multitext)


@pytest.fixture(scope="module")
def texts(parts):
    edition = parts.train.editions[0]
    return {name: getattr(parts, name).text(edition) for name in ("train", "dev", "test")}


@pytest.fixture(scope="module")
def models(texts):
    ngrams = [train_kneser_ney(texts["train"], texts["dev"], recipe=name) for name in ("kneser-ney-2", "kneser-ney-6")]
    return [ld.train_language_model(texts["train"], texts["dev"], recipe=FAST, seed=0, progress=False), *ngrams]


def encoded(model, texts):
    units = CharacterUnits(model.alphabet)
    return [units.encode(model.alphabet.apply(text)) for text in texts]


@pytest.fixture(scope="module")
def mixture(models, texts):
    return fit_mixture(models, texts["dev"], name="first")


def test_bits_of_symbols_add_up_to_those_of_texts(models, texts):
    for model in models:
        frame = model.surprisal(texts["test"], scoring="unpriced")
        by_symbol = model.symbol_bits(texts["test"])
        np.testing.assert_allclose([bits.sum() for bits in by_symbol], frame["bits"], rtol=1e-12)
        np.testing.assert_allclose([bits[-1] for bits in by_symbol], frame["eos_bits"], rtol=1e-12)
        assert [len(bits) - 1 for bits in by_symbol] == frame["units"].to_list()


def test_a_text_has_the_mean_of_the_probabilities_of_its_symbols(mixture, models, texts):
    some = texts["test"].iloc[:5]
    frame = mixture.surprisal(some, scoring="unpriced")
    by_model = [model.symbol_bits(some) for model in models]
    for row in range(len(some)):
        p = sum(w * 2 ** -bits[row] for w, bits in zip(mixture.weights, by_model, strict=True))
        assert frame["bits"].iloc[row] == pytest.approx(-np.log2(p).sum(), rel=1e-12)
        assert frame["eos_bits"].iloc[row] == pytest.approx(-np.log2(p[-1]), rel=1e-12)
    priced = mixture.surprisal(some)
    prices = [mixture.alphabet.replaced_bits(text) for text in some]
    np.testing.assert_allclose(priced["bits"] - frame["bits"], prices, atol=1e-9)


def test_it_is_no_worse_on_dev_than_any_of_its_models(mixture, models, texts):
    assert mixture.weights.sum() == pytest.approx(1)
    assert mixture.dev_bits_per_character < min(model.dev_bits_per_character for model in models) + 1e-6
    # n-grams of the two halves of the text know different things
    half = len(texts["train"]) // 2
    halves = [texts["train"].iloc[:half], texts["train"].iloc[half:]]
    whole = models[-1]
    known = [
        replace(whole, ngrams=KneserNey.fit(encoded(whole, own), whole.ngrams.vocabulary_size, order=6))
        for own in halves
    ]
    alone = [model.surprisal(texts["dev"], scoring="unpriced")["bits"].sum() for model in known]
    mixed = fit_mixture(known, texts["dev"]).dev_bits_per_character * texts["dev"].str.len().sum()
    assert mixed < 0.98 * min(alone)


@pytest.mark.parametrize("seed", range(3))
def test_weights_are_the_best_of_a_grid(seed):
    bits = np.random.default_rng(seed).gamma(2.0, 1.0, (2, 400))
    found = _learn_weights(bits)
    grid = np.linspace(0, 1, 2001)
    losses = [-np.log2(w * 2.0 ** -bits[0] + (1 - w) * 2.0 ** -bits[1]).sum() for w in grid]
    assert found[0] == pytest.approx(grid[np.argmin(losses)], abs=2e-3)


def test_symbols_that_all_models_find_impossible_do_not_overflow():
    bits = np.array([[3000.0, 1.0], [3001.0, 2.0]])
    assert np.isfinite(_learn_weights(bits)).all()


def test_it_scores_a_multitext_like_any_model(mixture, parts, texts):
    edition = parts.train.editions[0]
    table = ld.surprisals_of({edition: mixture}, parts.test.sel(editions=[edition]), lm="mixture", progress=False)
    np.testing.assert_allclose(table.bits[edition], mixture.surprisal(texts["test"])["bits"], rtol=1e-12)


def test_it_is_read_back_as_it_was(tmp_path, mixture, texts):
    mixture.save(tmp_path)
    again = ld.read(tmp_path)
    assert again.surprisal(texts["test"]).equals(mixture.surprisal(texts["test"]))
    assert repr(again) == repr(mixture)
    refused(DataError, "not a saved Mixture; it holds a ", ld.read, tmp_path / "0", Mixture)
    (tmp_path / "1" / "model.json").unlink()
    refused(CheckpointError, r"1/model\.json", ld.read, tmp_path)


def test_what_cannot_be_mixed_is_refused(models, texts):
    refused(ConfigError, "at least two", fit_mixture, models[:1], texts["dev"])
    other = train_kneser_ney(["another text entirely"] * 50, ["another text"])
    refused(ConfigError, "different alphabets", fit_mixture, [models[0], other], texts["dev"])
    subwords = ld.train_language_model(
        texts["train"], texts["dev"], recipe=replace(RECIPES["bpe-tiny"], epochs=1), seed=0, progress=False
    )
    refused(ConfigError, r"alphabets|char and bpe", fit_mixture, [models[0], subwords], texts["dev"])
    with pytest.raises(ConfigError, match="a Mixture cannot be mixed"):
        fit_mixture([models[0], fit_mixture(models, texts["dev"])], texts["dev"])
    refused(DataError, "no text", fit_mixture, models, [])
    refused(DataError, "empty", fit_mixture, models, [" "])
    with pytest.raises(ConfigError, match="carried"):
        fit_mixture(models, texts["dev"]).surprisal(texts["test"], scoring="carried")
