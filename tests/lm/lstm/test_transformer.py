"""The Transformer: against a plain loop in double precision, and what every language model must do."""

from dataclasses import replace
from math import cos, erf, sin, sqrt

import numpy as np
import pytest
import torch

import langdiff as ld
from langdiff.base.types import generator
from langdiff.errors import ConfigError
from langdiff.lm import RECIPES
from langdiff.lm.device import torch_generator
from langdiff.lm.lstm import scoring
from langdiff.lm.lstm.batches import pad
from langdiff.lm.lstm.features import NgramFeatures, ResidualTransformer
from langdiff.lm.lstm.gradients import accumulate_gradients
from langdiff.lm.lstm.network import Transformer
from langdiff.lm.lstm.scoring import MemoryLimit, score, score_symbols
from langdiff.lm.marginal import marginal_surprisal
from langdiff.lm.ngram.kneser_ney import KneserNey
from tests.helpers import refused

CPU = torch.device("cpu")
SYMBOLS, SIZE, HIDDEN, LAYERS, HEADS = 7, 12, 20, 2, 3
SIZES = {"embedding_size": SIZE, "hidden_size": HIDDEN, "layers": LAYERS}
SINGLE = 1e-5  # single precision, relative
TINY = replace(
    RECIPES["char-tiny"],
    name="char-transformer-tiny",
    architecture="transformer",
    embedding_size=32,
    hidden_size=64,
    layers=2,
    heads=2,
    learning_rate=3e-3,
    dropout_hidden=0.1,
    epochs=3,
)


@pytest.fixture
def network():
    network = Transformer(SYMBOLS, heads=HEADS, **SIZES, generator=torch_generator(generator(1)))
    with torch.no_grad():
        for number, weights in enumerate(network.parameters()):
            weights += 0.3 * torch.randn(weights.shape, generator=torch.Generator().manual_seed(number))
    return network.eval()


def draw(n_intents, seed):
    rng = np.random.default_rng(seed)
    return [rng.integers(0, SYMBOLS - 1, length) for length in rng.integers(1, 30, n_intents)]


def normalized(x, scale):
    return (x - x.mean()) / sqrt(x.var() + 1e-5) * scale


def rotated(x, position):
    half = len(x) // 2
    turned = np.empty_like(x)
    for pair in range(half):
        angle = position * 10_000.0 ** (-pair / half)
        turned[pair] = x[pair] * cos(angle) - x[pair + half] * sin(angle)
        turned[pair + half] = x[pair] * sin(angle) + x[pair + half] * cos(angle)
    return turned


def plain_output(network, symbols):
    """Compute the outputs of one intent symbol by symbol, in double precision, from the definition."""
    weights = {name: value.double().numpy() for name, value in network.state_dict().items()}
    width = SIZE // HEADS
    x = [weights["embedding"][symbol] * sqrt(SIZE) for symbol in symbols]
    for number in range(LAYERS):
        block = {name.split(".")[-1]: value for name, value in weights.items() if name.startswith(f"blocks.{number}.")}
        mixed = [block["attention_input"] @ normalized(each, block["before_attention"]) for each in x]
        for now in reversed(range(len(x))):  # each needs its own past only, as it was before this block
            found = []
            for head in range(HEADS):
                own = slice(head * width, (head + 1) * width)
                query = rotated(mixed[now][:SIZE][own], now)
                weight = np.exp(
                    [query @ rotated(mixed[then][SIZE : 2 * SIZE][own], then) / sqrt(width) for then in range(now + 1)]
                )
                values = np.array([mixed[then][2 * SIZE :][own] for then in range(now + 1)])
                found.append(weight @ values / weight.sum())
            x[now] = x[now] + block["attention_output"] @ np.concatenate(found)
        for now, each in enumerate(x):
            inner = block["hidden_input"] @ normalized(each, block["before_hidden"]) + block["hidden_bias"]
            inner *= [0.5 * (1 + erf(value / sqrt(2))) for value in inner]
            x[now] = each + block["hidden_output"] @ inner
    return np.array([normalized(each, weights["before_softmax"]) for each in x])


def test_it_computes_its_definition(network):
    symbols = np.random.default_rng(0).integers(0, SYMBOLS, 11)
    with torch.no_grad():
        found = network.double()(torch.from_numpy(symbols)[:, None]).output[:, 0].numpy()
    np.testing.assert_allclose(found, plain_output(network, symbols), rtol=1e-6, atol=1e-9)


def test_probabilities_of_the_next_symbol_sum_to_one(network):
    history = draw(1, 3)[0][:10]
    without, eos_without = score(network, [history])
    total = 2 ** -eos_without[0]
    for symbol in range(SYMBOLS - 1):
        bits, eos = score(network, [np.append(history, symbol)])
        total += 2 ** -(bits[0] - eos[0] - (without[0] - eos_without[0]))
    assert total == pytest.approx(1, rel=SINGLE)


def test_long_texts_are_read_in_windows(network, monkeypatch):
    text = np.random.default_rng(7).integers(0, SYMBOLS - 1, 29)
    whole = score_symbols(network, [text])[0]
    monkeypatch.setattr(scoring, "WINDOW", 12)
    found, symbols = score_symbols(network, [text])[0], [*text, SYMBOLS - 1]
    np.testing.assert_allclose(found[:12], whole[:12], rtol=SINGLE)
    assert not np.allclose(found[12:], whole[12:], rtol=0.01)
    for begin in range(6, 24, 6):  # each window as a text of its own, of which the second half is new
        alone = score_symbols(network, [np.array(symbols[begin : begin + 12][:12])])[0]
        stop = min(12, len(symbols) - begin)
        np.testing.assert_allclose(found[begin + 6 : begin + stop], alone[6:stop], rtol=SINGLE)
    bits, eos_bits = score(network, [text])
    assert (bits[0], eos_bits[0]) == pytest.approx((found.sum(), found[-1]), rel=SINGLE)


def test_dropout_is_drawn_once_for_all_pieces_of_a_batch(network):
    network.train()
    network.dropout_hidden = network.dropout_input = network.dropout_output = 0.3
    batch = pad(draw(6, 5), SYMBOLS - 1, CPU)
    found = []
    for limit in (MemoryLimit(), MemoryLimit(units=len(batch.inputs) * 2)):
        network.zero_grad(set_to_none=True)
        drawn = torch.Generator().manual_seed(3)
        nats = accumulate_gradients(network, batch, TINY, drawn, limit=limit).nats
        found.append((float(nats), [weights.grad.clone() for weights in network.parameters()]))
    assert found[0][0] == pytest.approx(found[1][0], rel=SINGLE)
    for one, other in zip(found[0][1], found[1][1], strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-6)


def test_correcting_ngrams_it_begins_at_them():
    learned, judged, orders = draw(60, 0), draw(20, 1), (2, 4)
    ngrams = KneserNey.fit(learned, SYMBOLS, order=4)
    network = ResidualTransformer(SYMBOLS, orders=orders, heads=HEADS, **SIZES).eval()
    bits, _ = score(network, judged, features=NgramFeatures.by(ngrams.levels, judged, SYMBOLS, orders))
    np.testing.assert_allclose(bits, ngrams.score(judged)[0], rtol=SINGLE)


@pytest.mark.parametrize("units", ["char", "bpe"])
def test_it_learns_and_is_read_back_as_it_was(tmp_path, units):
    texts = ["the cat sat on the mat", "the dog lay on the log", "a bird sang in a tree"] * 40
    recipe = replace(TINY, units=units)
    model = ld.train_language_model(texts, texts[:9], recipe=recipe, seed=0, progress=False, directory=tmp_path)
    assert model.history[-1].dev_bits_per_character < 0.8 * model.history[0].dev_bits_per_character
    bits = model.surprisal(texts[:3])
    assert ld.read(tmp_path).surprisal(texts[:3]).equals(bits)
    refused(ConfigError, "carried", model.surprisal, texts[:3], scoring="carried")
    if units == "bpe":
        refused(ConfigError, "not a plain LSTM", marginal_surprisal, model, texts[:1], samples=2, seed=0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"heads": None}, "heads must be given"),
        ({"architecture": "lstm"}, "for no other network"),
        ({"heads": 5}, "twice the heads"),
        ({"weight_drop": 0.5}, "for LSTMs"),
        ({"context": "stream", "bptt": 128}, "for LSTMs"),
        ({"architecture": "rnn"}, "'lstm' or 'transformer'"),
    ],
)
def test_recipes_that_contradict_themselves_are_refused(change, message):
    refused(ConfigError, message, replace, TINY, **change)
