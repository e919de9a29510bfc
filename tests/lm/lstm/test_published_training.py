"""The published recipes, step for step against a plain implementation in double precision."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from langdiff.lm import RECIPES
from langdiff.lm.lstm.loop import EncodedPart, EpochLoop, Randomness, stopped_improving
from langdiff.lm.lstm.network import AWDLSTM

ROUNDING = 1e-8  # double precision, a hundred steps of the same sums in another order
SYMBOLS = 9  # the end symbol included
END = SYMBOLS - 1
SIZES = {"embedding_size": 5, "hidden_size": 7, "layers": 3, "epochs": 6, "patience": 6}
TINY = {
    "char-ptb": replace(RECIPES["char-ptb"], **SIZES, bptt=12, batch_units=36, decay_epochs=(2, 4)),
    # a rate of 30 suits a thousand units; the published interval of 5 would need more epochs
    "bpe-awd": replace(RECIPES["bpe-awd"], **SIZES, bptt=12, batch_units=36, non_monotone=1, learning_rate=3.0),
}


def intents(n, seed, step):
    """Draw walks through the symbols; another step makes another language."""
    rng = np.random.default_rng(seed)
    return [np.cumsum(rng.choice([step, step + 1], rng.integers(2, 12))) % END for _ in range(n)]


class Plain:
    """Training as the papers say it, without any of the package but its random numbers."""

    def __init__(self, network, recipe, train, seed):
        self.recipe, self.layers = recipe, recipe.layers
        self.w = {name: value.detach().numpy().copy() for name, value in network.named_parameters()}
        randomness = Randomness.from_seed(seed, torch.device("cpu"))
        self.generator, self.rng = randomness.dropout, randomness.batches
        joined = [END]
        for ids in train:
            joined += [*ids, END]
        streams = recipe.batch_units // recipe.bptt
        self.length = (len(joined) - 1) // streams
        # stream b holds the targets b * length + 1 ... (b + 1) * length, and the symbol before them
        self.text = np.array([[joined[b * self.length + t] for b in range(streams)] for t in range(self.length + 1)])
        self.m = {name: np.zeros_like(value) for name, value in self.w.items()}
        self.v = {name: np.zeros_like(value) for name, value in self.w.items()}
        self.steps = 0
        self.summed, self.averaged = None, 0

    def run_epoch(self, number):
        """Yield the weights before each step."""
        rate = self.recipe.learning_rate
        for epoch in self.recipe.decay_epochs:
            rate = rate / 10 if number > epoch else rate
        state, start = None, 0
        while start < self.length:
            yield {name: value.copy() for name, value in self.w.items()}
            bptt = self.recipe.bptt if self.rng.random() < 0.95 else self.recipe.bptt / 2
            length = max(5, int(self.rng.normal(bptt, 5)))
            gradient, state = self.gradient(self.text[start : start + length + 1], state)
            self.step(gradient, rate * length / self.recipe.bptt)
            start += length

    def step(self, gradient, rate):
        self.steps += 1
        norm = np.sqrt(sum((g**2).sum() for g in gradient.values()))
        for name, g in gradient.items():
            g = g * min(1, self.recipe.gradient_clip / (norm + 1e-6))
            g = g + self.recipe.weight_decay * self.w[name]
            if self.recipe.optimizer == "adam":
                self.m[name] = 0.9 * self.m[name] + 0.1 * g
                self.v[name] = 0.999 * self.v[name] + 0.001 * g**2
                m, v = self.m[name] / (1 - 0.9**self.steps), self.v[name] / (1 - 0.999**self.steps)
                g = m / (np.sqrt(v) + 1e-8)
            self.w[name] = self.w[name] - rate * g
        if self.summed is not None:
            self.averaged += 1
            self.summed = {name: total + self.w[name] for name, total in self.summed.items()}

    def mask(self, shape, p):
        return torch.empty(shape, dtype=torch.float64).bernoulli_(1 - p, generator=self.generator) / (1 - p)

    def gradient(self, text, state):
        """Run over time symbol by symbol; return gradients and the state that is carried on."""
        r = self.recipe
        w = {name: torch.tensor(value, requires_grad=True) for name, value in self.w.items()}
        x, y = torch.tensor(text[:-1]), torch.tensor(text[1:])
        T, B = x.shape
        embedding = w["embedding"]
        if r.dropout_embedding:
            embedding = embedding * self.mask((SYMBOLS, 1), r.dropout_embedding)
        h = [embedding[x[t]] for t in range(T)]  # T times (B, E)
        drop = self.mask((B, r.embedding_size), r.dropout_input)
        h = [v * drop for v in h]
        carried = []
        for layer in range(self.layers):
            weights = {name.split(".")[2]: v for name, v in w.items() if name.startswith(f"lstms.{layer}.")}
            recurrent = weights["recurrent"] * self.mask(weights["recurrent"].shape, r.weight_drop)
            size = recurrent.shape[1]
            zero = torch.zeros(B, size, dtype=torch.float64)
            out, cell = (zero, zero) if state is None else state[layer]
            raw = []
            for t in range(T):
                gates = h[t] @ weights["input"].T + out @ recurrent.T
                gates = gates + weights["input_bias"] + weights["recurrent_bias"]
                i, f, g, o = gates.chunk(4, dim=1)
                cell = torch.sigmoid(f) * cell + torch.sigmoid(i) * torch.tanh(g)
                out = torch.sigmoid(o) * torch.tanh(cell)
                raw.append(out)
            carried.append((out.detach(), cell.detach()))
            drop = self.mask((B, size), r.dropout_hidden if layer < self.layers - 1 else r.dropout_output)
            h = [v * drop for v in raw]
        loss = 0
        for t in range(T):
            logits = h[t] @ w["embedding"].T + w["decoder_bias"]
            loss = loss - torch.log_softmax(logits, dim=1)[torch.arange(B), y[t]].sum() / (T * B)
        loss = loss + r.activation_penalty * torch.stack(h).pow(2).mean()
        if T > 1:
            changes = torch.stack([later - now for now, later in pairwise(raw)])
            loss = loss + r.change_penalty * changes.pow(2).mean()
        gradients = torch.autograd.grad(loss, list(w.values()))
        return {name: g.numpy() for name, g in zip(w, gradients, strict=True)}, carried


def make_trainer(recipe, train, dev, seed, report):
    randomness = Randomness.from_seed(seed, torch.device("cpu"))
    options = {key: getattr(recipe, key) for key in ("embedding_size", "hidden_size", "layers", "weight_drop")}
    options |= {key: getattr(recipe, key) for key in recipe.__dataclass_fields__ if key.startswith("dropout_")}
    network = AWDLSTM(SYMBOLS, **options, generator=randomness.initial).double()
    parts = {name: EncodedPart(part, sum(map(len, part))) for name, part in (("train", train), ("dev", dev))}
    return EpochLoop(network=network, recipe=recipe, **parts, randomness=randomness, report=report)


def weights_of(network):
    return {name: value.detach().numpy().copy() for name, value in network.named_parameters()}


def assert_same(got, expected):
    assert len(got) == len(expected)
    for mine, theirs in zip(got, expected, strict=True):
        for name in theirs:
            assert_allclose(mine[name], theirs[name], rtol=ROUNDING, atol=ROUNDING, err_msg=name)


@pytest.mark.parametrize("name", [pytest.param("char-ptb", marks=pytest.mark.slow), "bpe-awd"])
def test_every_step_is_that_of_the_plain_implementation(name):
    recipe, train, dev = TINY[name], intents(40, 0, 1), intents(20, 1, 4)
    before = []  # the weights when training reports: before each step, and once at the end
    trainer = make_trainer(recipe, train, dev, 3, lambda epochs, last: before.append(weights_of(trainer.network)))
    plain = Plain(trainer.network, recipe, train, 3)
    dev_bits, switched = [], None
    for number in range(1, recipe.epochs + 1):
        before.clear()
        epoch = trainer.run_epoch()
        assert_same(before, [*plain.run_epoch(number), plain.w])
        with trainer.scored_weights():
            scored = weights_of(trainer.network)
        if plain.averaged:
            mean = {key: total / plain.averaged for key, total in plain.summed.items()}
            assert_same([scored], [mean])
        else:
            assert_same([scored], [plain.w])
        dev_bits.append(epoch.dev_bits_per_character)
        n = recipe.non_monotone
        if n and switched is None and len(dev_bits) - 1 > n and dev_bits[-1] > min(dev_bits[: -1 - n]):
            switched = number
            plain.summed = {key: np.zeros_like(value) for key, value in plain.w.items()}
    assert (switched is not None and switched < recipe.epochs) == (name == "bpe-awd")  # averaging was tested


def test_size_of_the_published_character_model():
    """The count that the spec of the paper's model gives, for 66 characters and the end symbol."""
    recipe = RECIPES["char-ptb"]
    options = {key: getattr(recipe, key) for key in ("embedding_size", "hidden_size", "layers")}
    assert sum(p.numel() for p in AWDLSTM(67, **options).parameters()) == 13_791_067


def test_numbers_of_the_published_recipes():
    """A second copy of the table, so that none of it changes by accident."""
    char, bpe = RECIPES["char-ptb"], RECIPES["bpe-awd"]
    assert (char.bptt, char.batch_units // char.bptt, char.epochs, char.decay_epochs) == (150, 128, 500, (300, 400))
    assert (bpe.bptt, bpe.batch_units // bpe.bptt, bpe.epochs, bpe.non_monotone) == (70, 40, 200, 5)
    dropouts = ("dropout_embedding", "dropout_hidden", "dropout_input", "dropout_output", "weight_drop")
    assert [getattr(char, key) for key in dropouts] == [0, 0.25, 0.1, 0.1, 0.5]
    assert [getattr(bpe, key) for key in dropouts] == [0.1, 0.2, 0.65, 0.4, 0.5]
    assert [(r.optimizer, r.learning_rate, r.weight_decay) for r in (char, bpe)] == [
        ("adam", 2e-3, 1.2e-6),
        ("sgd", 30, 1.2e-6),
    ]
    assert [(r.activation_penalty, r.change_penalty, r.gradient_clip) for r in (char, bpe)] == [
        (0, 0, 0.25),
        (2, 1, 0.25),
    ]
    assert [r.context for r in (char, bpe)] == ["stream", "stream"]


@given(dev_bits=st.lists(st.integers(1, 6).map(float), min_size=1, max_size=12), interval=st.integers(1, 4))
def test_the_switch_to_averaging_is_that_of_algorithm_1(dev_bits, interval):
    """Merity, Keskar & Socher (2018): logs of the validation, t of them so far, n the non-monotone interval."""
    logs, triggered = [], False
    for t, v in enumerate(dev_bits):
        triggered = t > interval and v > min(logs[at] for at in range(t - interval))
        logs.append(v)
    assert stopped_improving(dev_bits, interval) == triggered
