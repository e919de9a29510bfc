"""A network that corrects n-grams: where it begins, what it may know, and that it is a model like the others."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import langdiff as ld
from langdiff.base.types import generator
from langdiff.lm import RECIPES
from langdiff.lm.device import torch_generator
from langdiff.lm.lstm import features, loop, scoring
from langdiff.lm.lstm.batches import pad
from langdiff.lm.lstm.features import FOLDS, RUN, Histories, NgramFeatures, ResidualLSTM
from langdiff.lm.lstm.gradients import accumulate_gradients
from langdiff.lm.lstm.scoring import MemoryLimit, score
from langdiff.lm.ngram.kneser_ney import KneserNey
from tests.lm.ngram.test_histories import distributions

CPU = torch.device("cpu")
ORDERS = (2, 4)
SYMBOLS = 5
SINGLE = 1e-5  # single precision, relative
TINY = replace(RECIPES["char-tiny"], name="char-residual-tiny", ngram_orders=ORDERS, epochs=2)


def draw(n_intents, seed):
    """Return intents of a Markov source."""
    rng = np.random.default_rng(seed)
    table = rng.dirichlet(np.full(SYMBOLS, 0.3), SYMBOLS)
    intents = []
    for length in rng.integers(1, 40, n_intents):
        ids = [int(rng.integers(SYMBOLS))]
        while len(ids) < length:
            ids.append(int(rng.choice(SYMBOLS, p=table[ids[-1]])))
        intents.append(np.array(ids))
    return intents


@pytest.fixture(scope="module")
def ngrams():
    return KneserNey.fit(draw(60, 0), SYMBOLS + 1, order=ORDERS[-1])


@pytest.fixture
def network():
    return ResidualLSTM(
        SYMBOLS + 1, orders=ORDERS, embedding_size=8, hidden_size=8, layers=1, generator=torch_generator(generator(1))
    )


def disturbed(network):
    with torch.no_grad():
        for number, weights in enumerate(network.parameters()):
            weights += 0.3 * torch.randn(weights.shape, generator=torch.Generator().manual_seed(number))
    return network


def test_untrained_it_is_the_ngram_model(network, ngrams):
    judged = draw(20, 1)
    bits, eos_bits = score(
        network.eval(), judged, features=NgramFeatures.by(ngrams.levels, judged, SYMBOLS + 1, ORDERS)
    )
    expected, expected_eos = ngrams.score(judged)
    np.testing.assert_allclose(bits, expected, rtol=SINGLE)
    np.testing.assert_allclose(eos_bits, expected_eos, rtol=10 * SINGLE)


def test_probabilities_of_the_next_symbol_sum_to_one(network, ngrams):
    network = disturbed(network).eval()
    history = draw(1, 3)[0][:10]
    total = 0.0
    for symbol in range(SYMBOLS):
        longer = np.append(history, symbol)
        asked = [NgramFeatures.by(ngrams.levels, [ids], SYMBOLS + 1, ORDERS) for ids in (longer, history)]
        with_next, eos = score(network, [longer], features=asked[0])
        without, eos_without = score(network, [history], features=asked[1])
        total += 2 ** -(with_next[0] - eos[0] - (without[0] - eos_without[0]))
    assert total + 2 ** -eos_without[0] == pytest.approx(1, rel=SINGLE)


def test_training_features_know_nothing_of_the_intents_they_are_for():
    intents = draw(200, 4)
    changed = list(intents)
    own = np.flatnonzero(np.arange(200) // RUN % FOLDS == 3)
    for row in own:
        changed[row] = np.full(len(intents[row]), row % SYMBOLS)
    found = [
        [NgramFeatures.out_of_fold(text, SYMBOLS + 1, ORDERS).of(np.array([row]), CPU).compute() for row in (own[0], 0)]
        for text in (intents, changed)
    ]
    # the first symbol has the same history in both: only its models could differ
    own, other = ([distributions(of_text[k], 2) for of_text in found] for k in range(2))
    np.testing.assert_allclose(own[0][0], own[1][0], rtol=SINGLE)
    assert not np.array_equal(*other)


@pytest.mark.parametrize("orders", [(1,), (1, 2), (2, 4), (3, 5, 9)])
def test_counted_once_the_folds_are_those_counted_without_each_other(orders):
    intents = draw(120, 6)
    fold = np.arange(120) // RUN % FOLDS
    one_by_one, at_once = (Histories(intents, SYMBOLS + 1, orders) for _ in range(2))
    at_once.ask_others(fold)
    for number in range(FOLDS):
        others = [ids for ids, own in zip(intents, fold, strict=True) if own != number]
        model = KneserNey.fit(others, SYMBOLS + 1, order=orders[-1])
        one_by_one.ask(model.levels, np.flatnonzero(fold == number))
    places = np.arange(len(at_once.known))
    for name in ("known", "asked", "lowest"):
        np.testing.assert_array_equal(getattr(at_once, name), getattr(one_by_one, name))
    found, expected = (
        distributions(NgramFeatures(each).at(places, CPU), len(orders)) for each in (at_once, one_by_one)
    )
    np.testing.assert_array_equal(found, expected)


def test_if_memory_runs_out_the_batch_goes_in_pieces_with_their_features(network, ngrams):
    intents = draw(6, 5)
    batch = pad(intents, SYMBOLS, CPU)
    batch = batch._replace(features=NgramFeatures.by(ngrams.levels, intents, SYMBOLS + 1, ORDERS).of(np.arange(6), CPU))
    network = disturbed(network)
    found = []
    for limit in (MemoryLimit(), MemoryLimit(units=len(batch.inputs) * 2)):
        network.zero_grad(set_to_none=True)
        nats = accumulate_gradients(network, batch, TINY, None, limit=limit).nats
        found.append((float(nats), [weights.grad.clone() for weights in network.parameters()]))
    assert found[0][0] == pytest.approx(found[1][0], rel=SINGLE)
    for one, other in zip(found[0][1], found[1][1], strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("architecture", ["lstm", "transformer"])
def test_long_intents_are_trained_in_stretches(architecture, monkeypatch):
    """A step for each, of which all symbols are predicted once and the state is carried on; bits stay the sum."""
    heads = {"heads": 2, "architecture": "transformer"} if architecture == "transformer" else {}
    recipe = replace(TINY, epochs=1, **heads)
    texts, seen = [" ".join(TEXTS[:20]), *TEXTS[20:60]], []
    accumulate = loop.accumulate_gradients

    def watched(network, batch, recipe, generator, state, **options):
        seen.append((len(batch.inputs), int(batch.lengths.sum()), state is not None))
        return accumulate(network, batch, recipe, generator, state, **options)

    whole = ld.train_language_model(texts, texts[:3], recipe=recipe, seed=0, progress=False)
    monkeypatch.setattr(loop, "accumulate_gradients", watched)
    for module in (loop, scoring):
        monkeypatch.setattr(module, "STRETCH" if architecture == "lstm" else "WINDOW", 100)
    model = ld.train_language_model(texts, texts[:3], recipe=recipe, seed=0, progress=False)
    lengths, symbols, carried = zip(*seen, strict=True)
    assert max(lengths) <= 100
    assert sum(symbols) == sum(len(text) + 1 for text in texts)
    assert any(carried) == (architecture == "lstm")
    bits = model.surprisal(texts)["bits"]
    assert [each.sum() for each in model.symbol_bits(texts)] == pytest.approx(list(bits), rel=SINGLE)
    assert bits[0] < 1.2 * whole.surprisal(texts)["bits"][0]
    monkeypatch.setattr(features, "AT_ONCE", 150)  # symbols of which n-grams are asked at once
    found = list(model.surprisal(texts)["bits"]), [each.sum() for each in model.symbol_bits(texts)]
    assert found == (pytest.approx(list(bits), rel=SINGLE), pytest.approx(list(bits), rel=SINGLE))
    if architecture == "lstm":
        monkeypatch.setattr(scoring, "STRETCH", 1 << 12)
        assert list(model.surprisal(texts)["bits"]) == pytest.approx(list(bits), rel=SINGLE)


TEXTS = [f"the cat sat on mat {k % 7}{'!' * (k % 3)}" for k in range(300)]


@pytest.mark.parametrize("units", ["char", "bpe"])
def test_it_is_trained_saved_and_read_like_the_others(units, tmp_path):
    recipe = replace(TINY, units=units)
    model = ld.train_language_model(TEXTS[:250], TEXTS[250:], recipe=recipe, seed=0, progress=False)
    ngrams = ld.lm.train_kneser_ney(TEXTS[:250], TEXTS[250:], recipe=f"kneser-ney-{ORDERS[-1]}")
    assert model.dev_bits_per_character < ngrams.dev_bits_per_character
    model.save(tmp_path)
    again = ld.read(tmp_path)
    assert again.surprisal(TEXTS[:20]).equals(model.surprisal(TEXTS[:20]))


@pytest.mark.parametrize("count", [1, 5])
def test_few_long_texts_are_divided_among_folds(count):
    """Grams of no text at all say nothing, and a network would learn to trust none."""
    rng = np.random.default_rng(1)
    steps = rng.choice(3, 6000, p=[0.9, 0.05, 0.05])
    texts = np.split((1 + steps).cumsum() % SYMBOLS, count)
    found = NgramFeatures.out_of_fold(texts, SYMBOLS + 1, [2]).of(np.array([0]), CPU).compute()
    targets = torch.from_numpy(np.append(texts[0], SYMBOLS))
    bits = -np.log2(distributions(found, 1)[np.arange(len(targets)), 0, targets]).mean()
    assert bits < 0.75  # the source has 0.57
