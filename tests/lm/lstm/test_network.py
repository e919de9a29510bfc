import warnings
from dataclasses import replace
from math import cos, erf, sin, sqrt

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

import langdiff as ld
from langdiff.base.seeds import generator, torch_generator
from langdiff.errors import ConfigError
from langdiff.lm import RECIPES
from langdiff.lm.lstm.batches import pad
from langdiff.lm.lstm.features import NgramFeatures, ResidualTransformer
from langdiff.lm.lstm.gradients import MemoryLimit, accumulate_gradients
from langdiff.lm.lstm.network import AWDLSTM, Transformer, _no_advice_on_layout, _rotated, activation_regularization
from langdiff.lm.lstm.scoring import score
from langdiff.lm.marginal import marginal_surprisal
from langdiff.lm.ngram.kneser_ney import KneserNey

ROUNDING = 1e-10  # double precision, the same sums in another order


def network(**options):
    sizes = {"embedding_size": 5, "hidden_size": 7, "layers": 2, **options}
    return AWDLSTM(11, **sizes, generator=torch.Generator().manual_seed(0)).double()


def inputs(T=9, B=4):
    return torch.randint(0, 11, (T, B), generator=torch.Generator().manual_seed(1))


def mask(shape, p, generator):
    return torch.empty(shape, dtype=torch.float64).bernoulli_(1 - p, generator=generator) / (1 - p)


def step_by_step(net, x, generator):
    """Run the network one intent, one layer, one time step at a time; masks are drawn in its order."""
    state = net.state_dict()
    emb = state["embedding"]
    if net.dropout_embedding:
        emb = emb * mask((len(emb), 1), net.dropout_embedding, generator)
    h = emb[x]  # (T, B, E)
    T, B = x.shape
    if net.dropout_input:
        h = h * mask((1, B, h.shape[2]), net.dropout_input, generator)
    n = len(net.lstms)
    for layer in range(n):
        w = {k.split(".")[2]: v for k, v in state.items() if k.startswith(f"lstms.{layer}.")}
        if net.weight_drop:
            w["recurrent"] = w["recurrent"] * mask(w["recurrent"].shape, net.weight_drop, generator)
        size = w["recurrent"].shape[1]
        raw = torch.zeros(T, B, size, dtype=torch.float64)
        for b in range(B):
            cell, out = torch.zeros(size, dtype=torch.float64), torch.zeros(size, dtype=torch.float64)
            for t in range(T):
                gates = w["input"] @ h[t, b] + w["input_bias"] + w["recurrent"] @ out + w["recurrent_bias"]
                i, f, g, o = gates.chunk(4)
                cell = torch.sigmoid(f) * cell + torch.sigmoid(i) * torch.tanh(g)
                out = torch.sigmoid(o) * torch.tanh(cell)
                raw[t, b] = out
        p = net.dropout_output if layer == n - 1 else net.dropout_hidden
        h = raw * mask((1, B, size), p, generator) if p else raw
    return h, raw


DROPOUTS = {
    "dropout_embedding": 0.2,
    "dropout_input": 0.3,
    "dropout_hidden": 0.4,
    "dropout_output": 0.5,
    "weight_drop": 0.6,
}


@pytest.mark.parametrize(
    "options", [{}, {"layers": 1}, {"layers": 3}, DROPOUTS, *({k: v} for k, v in DROPOUTS.items())]
)
def test_training_forward_against_a_loop_over_time(options):
    net = network(**options).train()
    got = net(inputs(), torch.Generator().manual_seed(2))
    output, raw = step_by_step(net, inputs(), torch.Generator().manual_seed(2))
    assert_allclose(got.output.detach(), output, atol=ROUNDING)
    assert_allclose(got.raw.detach(), raw, atol=ROUNDING)


def test_dropout_is_off_in_evaluation():
    net, plain = network(**DROPOUTS).eval(), network().eval()
    assert torch.equal(net(inputs()).output, plain(inputs()).output)


def test_train_eval_train():
    net = network(**DROPOUTS)
    for _ in range(2):
        net.train()
        net.logits(net(inputs()).output).sum().backward()
        net.eval()
        assert torch.equal(net(inputs()).output, net(inputs()).output)
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in net.parameters())


def test_locked_dropout_has_one_mask_for_all_times():
    net = network(dropout_output=0.5).train()
    dropped = net(inputs()).output == 0  # (T, B, E)
    assert (dropped == dropped[0]).all()
    assert not (dropped == dropped[:, :1]).all()  # but another for each intent


def test_embedding_dropout_drops_whole_symbols_and_not_in_the_softmax():
    net = network(dropout_embedding=0.5).train()
    every_symbol = torch.arange(11)[None]  # (1, 11): time one, so that only the input matters
    net(every_symbol).output.sum().backward()
    dropped = net.embedding.grad == 0  # (V, E)
    assert (dropped.all(1) | ~dropped.any(1)).all()
    assert 0 < dropped.all(1).sum() < 11
    assert torch.equal(net.logits(torch.eye(5).double()), net.embedding.T + net.decoder_bias)


def test_weight_drop_differs_between_batches_and_spares_the_parameter():
    net = network(weight_drop=0.5).train()
    before = net.lstms[0].recurrent.detach().clone()
    assert not torch.equal(net(inputs()).output, net(inputs()).output)
    same = inputs(B=1).expand(-1, 3)
    output = net(same).output
    assert_allclose(output[:, 0].detach(), output[:, 2].detach(), atol=ROUNDING)  # one mask a batch
    assert torch.equal(net.lstms[0].recurrent, before)


def test_padding_on_the_right_changes_nothing_before_it():
    net, x = network().eval(), inputs()
    longer = torch.cat([x, torch.zeros(6, 4, dtype=torch.int64)])
    assert_allclose(net(longer).output[:9].detach(), net(x).output.detach(), atol=ROUNDING)


def test_regularization_against_loops():
    net = network(dropout_output=0.5).train()
    activations = net(inputs())
    lengths = [9, 1, 4, 6]
    real = torch.arange(9)[:, None] < torch.tensor(lengths)
    squares, changes = [], []
    for b, length in enumerate(lengths):
        for t in range(length):
            squares += [v**2 for v in activations.output[t, b].tolist()]
            if t + 1 < length:
                later, now = activations.raw[t + 1, b].tolist(), activations.raw[t, b].tolist()
                changes += [(x - y) ** 2 for x, y in zip(later, now, strict=True)]
    expected = 2 * sum(squares) / len(squares) + 3 * sum(changes) / len(changes)
    got = activation_regularization(activations, real, alpha=2, beta=3)
    assert got.item() == pytest.approx(expected, rel=ROUNDING)


def test_no_two_times_no_change_to_penalize():
    activations = network().eval()(inputs(T=1))
    got = activation_regularization(activations, torch.ones(1, 4, dtype=torch.bool), alpha=0, beta=3)
    assert got.item() == 0


def test_a_carried_state_makes_two_halves_one():
    net, x = network().eval(), inputs()
    whole, first = net(x), net(x[:4])
    second = net(x[4:], state=first.state)
    assert_allclose(torch.cat([first.output, second.output]).detach(), whole.output.detach(), atol=ROUNDING)
    for got, expected in zip(second.state, whole.state, strict=True):
        for part in (0, 1):
            assert_allclose(got[part].detach(), expected[part].detach(), atol=ROUNDING)


def test_initial_weights():
    net = AWDLSTM(300, embedding_size=40, hidden_size=100, layers=2, generator=torch.Generator().manual_seed(0))
    bounds = {"embedding": 0.1, "lstms.0": 100**-0.5, "lstms.1": 40**-0.5}
    for name, weights in net.named_parameters():
        if name == "decoder_bias":
            assert (weights == 0).all()
            continue
        bound = next(b for prefix, b in bounds.items() if name.startswith(prefix))
        assert 0.97 * bound < weights.abs().max() <= bound
        # a uniform distribution on ±bound has the standard deviation bound / sqrt(3)
        assert weights.std().item() == pytest.approx(bound / 3**0.5, rel=0.1)


def test_advice_of_cudnn_on_weights_that_were_just_dropped_is_silenced_and_no_other():
    with _no_advice_on_layout():
        warnings.warn(
            "RNN module weights are not part of single contiguous chunk of memory. This means they need to be "
            "compacted at every call (Triggered internally at RNN.cpp)",
            stacklevel=1,
        )
        with pytest.warns(UserWarning, match="another"):
            warnings.warn("another", stacklevel=1)
    with pytest.warns(UserWarning, match="RNN module"):
        warnings.warn("RNN module weights are not part of single contiguous chunk", stacklevel=1)


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


def test_bits_do_not_depend_on_neighbours(network):
    judged = draw(20, 1)
    together = score(network, judged)[0]
    alone = [score(network, [ids])[0][0] for ids in judged]
    np.testing.assert_allclose(together, alone, rtol=SINGLE)


def test_attention_depends_on_distances_only(network):
    queries = torch.randn(2, 9, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    network = network.double()
    rotation = network._rotation(12, queries)
    products = [
        _rotated(queries[:1], rotation[:, start : start + 9]) @ _rotated(queries[1:], rotation[:, start : start + 9]).mT
        for start in (0, 3)
    ]
    torch.testing.assert_close(products[0], products[1])


def test_probabilities_of_the_next_symbol_sum_to_one(network):
    history = draw(1, 3)[0][:10]
    without, eos_without = score(network, [history])
    total = 2 ** -eos_without[0]
    for symbol in range(SYMBOLS - 1):
        bits, eos = score(network, [np.append(history, symbol)])
        total += 2 ** -(bits[0] - eos[0] - (without[0] - eos_without[0]))
    assert total == pytest.approx(1, rel=SINGLE)


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


def test_there_is_no_state_to_carry(network):
    with pytest.raises(ValueError, match="no state"):
        network(torch.zeros(2, 1, dtype=torch.int64), state=[])


def test_correcting_ngrams_it_begins_at_them():
    learned, judged, orders = draw(60, 0), draw(20, 1), (2, 4)
    ngrams = KneserNey.fit(learned, SYMBOLS, order=4)
    network = ResidualTransformer(SYMBOLS, orders=orders, heads=HEADS, **SIZES).eval()
    bits, _ = score(network, judged, features=NgramFeatures.by(ngrams, judged, orders))
    np.testing.assert_allclose(bits, ngrams.score(judged)[0], rtol=SINGLE)


@pytest.mark.parametrize("units", ["char", "bpe"])
def test_it_learns_and_is_read_back_as_it_was(tmp_path, units):
    texts = ["the cat sat on the mat", "the dog lay on the log", "a bird sang in a tree"] * 40
    recipe = replace(TINY, units=units)
    model = ld.train_language_model(texts, texts[:9], recipe=recipe, seed=0, progress=False, directory=tmp_path)
    assert model.history[-1].dev_bits_per_character < 0.8 * model.history[0].dev_bits_per_character
    bits = model.surprisal(texts[:3])
    assert ld.read_language_model(tmp_path).surprisal(texts[:3]).equals(bits)
    with pytest.raises(ConfigError, match="carried"):
        model.surprisal(texts[:3], scoring="carried")
    if units == "bpe":
        with pytest.raises(ConfigError, match="not an LSTM"):
            marginal_surprisal(model, texts[:1], samples=2, seed=0)


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
    with pytest.raises(ConfigError, match=message):
        replace(TINY, **change)
