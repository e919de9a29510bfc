import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from langdiff.errors import ConfigError
from langdiff.lm.device import find_device, one_thread
from langdiff.lm.lstm import scoring
from langdiff.lm.lstm.batches import rows_by_length
from langdiff.lm.lstm.gradients import judging
from langdiff.lm.lstm.network import AWDLSTM
from langdiff.lm.lstm.scoring import judge, score, score_symbols

SINGLE_PRECISION = 1e-3  # bits per intent: what rounding in float32 may move
V = 6  # symbols, the last is the end symbol


def network(V=V, scale=8.0):
    """Make a network whose predictions depend strongly on what was before."""
    net = AWDLSTM(V, embedding_size=6, hidden_size=9, layers=2, generator=torch.Generator().manual_seed(3))
    with torch.no_grad():
        for weights in net.parameters():
            weights.mul_(scale)
    return net.eval()


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def one_by_one(net, ids):
    """Score one intent in double precision, without batch, padding or torch's LSTM."""
    state = {name: value.double().numpy() for name, value in net.state_dict().items()}
    end = len(state["embedding"]) - 1
    layers = []
    while f"lstms.{len(layers)}.input" in state:
        prefix = f"lstms.{len(layers)}."
        layers.append([state[prefix + k] for k in ("input", "recurrent", "input_bias", "recurrent_bias")])
    memory = [(np.zeros(w[1].shape[1]), np.zeros(w[1].shape[1])) for w in layers]
    bits = []
    for before, target in zip([end, *ids], [*ids, end], strict=True):
        x = state["embedding"][before]
        for k, (w, u, b, c) in enumerate(layers):
            h, cell = memory[k]
            i, f, g, o = np.split(w @ x + b + u @ h + c, 4)
            cell = sigmoid(f) * cell + sigmoid(i) * np.tanh(g)
            x = sigmoid(o) * np.tanh(cell)
            memory[k] = (x, cell)
        logits = state["embedding"] @ x + state["decoder_bias"]
        bits.append((np.logaddexp.reduce(logits) - logits[target]) / np.log(2))
    return sum(bits), bits[-1]


INTENTS = st.lists(st.lists(st.integers(0, V - 2), max_size=40), min_size=1, max_size=12)


@settings(max_examples=40, deadline=None)
@given(intents=INTENTS, batch_size=st.one_of(st.none(), st.integers(1, 5)))
def test_bits_against_one_intent_at_a_time_in_double_precision(intents, batch_size):
    net = network()
    bits, eos = score(net, [np.array(ids, dtype=np.int64) for ids in intents], batch_size=batch_size)
    expected = np.array([one_by_one(net, ids) for ids in intents])
    assert_allclose(bits, expected[:, 0], atol=SINGLE_PRECISION)
    assert_allclose(eos, expected[:, 1], atol=SINGLE_PRECISION)


def test_bits_do_not_depend_on_order_neighbours_or_batch_size():
    rng = np.random.default_rng(0)
    net = network()
    intents = [rng.integers(0, V - 1, n) for n in rng.integers(0, 400, 60)]
    alone = np.array([score(net, [ids])[0][0] for ids in intents])
    for batch_size in (1, 7, None):
        order = rng.permutation(60)
        bits, _ = score(net, [intents[i] for i in order], batch_size=batch_size)
        assert_allclose(bits, alone[order], atol=SINGLE_PRECISION)
    assert alone.std() > 10  # the intents do differ


@pytest.mark.parametrize(("limit", "value"), [("_LOGITS_AT_ONCE", 4 * V), ("STRETCH", 8)])
def test_slices_and_stretches_give_the_same(monkeypatch, limit, value):
    net = network()
    intents = [np.arange(30) % 5, np.arange(17) % 3]
    whole = score(net, intents), *score_symbols(net, intents)
    monkeypatch.setattr(scoring, limit, value)
    for found, expected in zip((score(net, intents), *score_symbols(net, intents)), whole, strict=True):
        assert_allclose(found, expected, atol=0.1 * SINGLE_PRECISION)


@pytest.mark.parametrize("precision", ["bfloat16", "tf32", "float32"])
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_epochs_are_judged_in_the_precision_of_training_on_a_gpu_alone(precision, device):
    how = judging(precision, device)
    half, tf32 = device == "cuda" and precision == "bfloat16", device == "cuda" and precision == "tf32"
    assert (how.dtype, how.tf32) == (torch.bfloat16 if half else None, tf32)
    assert how.most_units == (1 << 17 if device == "cuda" else 1 << 12)
    rng, net = np.random.default_rng(0), network(scale=4.0)
    intents = [rng.integers(0, V - 1, n) for n in rng.integers(1, 40, 60)]
    exact = score(net, intents)[0].sum()
    found = judge(net, intents, None, how)
    assert found == pytest.approx(exact, rel=5e-3 if half else 1e-6)
    assert half == (abs(found / exact - 1) > 1e-6)


def test_probabilities_of_the_next_symbol_sum_to_one_at_every_position():
    net = network()
    text = np.random.default_rng(0).integers(0, V - 1, 25)
    prefixes = [text[:n] for n in range(26)]
    bits, eos = score(net, prefixes)
    for prefix, total, end in zip(prefixes, bits, eos, strict=True):
        longer, longer_end = score(net, [np.append(prefix, symbol) for symbol in range(V - 1)])
        probabilities = 2.0 ** -((longer - longer_end) - (total - end))
        assert probabilities.sum() + 2.0**-end == pytest.approx(1, abs=1e-5)


@given(
    lengths=st.lists(st.integers(1, 90), max_size=60),
    most_units=st.integers(1, 300),
    most_intents=st.one_of(st.none(), st.integers(1, 8)),
    seed=st.one_of(st.none(), st.integers(0, 99)),
)
def test_batches_hold_each_intent_once_and_keep_the_limits(lengths, most_units, most_intents, seed):
    lengths = np.array(lengths, dtype=np.int64)
    rng = None if seed is None else np.random.default_rng(seed)
    batches = rows_by_length(lengths, most_units=most_units, most_intents=most_intents, rng=rng)
    assert sorted(np.concatenate([*batches, np.array([], dtype=int)])) == list(range(len(lengths)))
    for rows in batches:
        assert len(rows)
        assert len(rows) == 1 or lengths[rows].max() * len(rows) <= most_units
        assert most_intents is None or len(rows) <= most_intents


def test_batches_waste_little_and_are_mixed():
    rng = np.random.default_rng(0)
    lengths = rng.integers(20, 400, 3000)
    first, second = (rows_by_length(lengths, most_units=4000, rng=rng) for _ in range(2))
    padded = sum(lengths[rows].max() * len(rows) for rows in first)
    assert padded < 1.1 * lengths.sum()
    assert {tuple(sorted(rows)) for rows in first} != {tuple(sorted(rows)) for rows in second}
    means = np.array([lengths[rows].mean() for rows in first])
    assert abs(np.corrcoef(means, np.arange(len(means)))[0, 1]) < 0.3  # not from short to long


def test_a_device_of_another_kind_is_refused():
    with pytest.raises(ConfigError, match="'meta': networks are trained and scored on CPUs and on CUDA devices only"):
        find_device("meta")
    assert find_device("meta", any_kind=True).type == "meta"


def test_if_memory_runs_out_batches_are_halved(monkeypatch, caplog):
    rng, net = np.random.default_rng(0), network()
    intents = [rng.integers(0, V - 1, n) for n in rng.integers(1, 40, 60)]
    expected = score(net, intents)
    forward, sizes = AWDLSTM.forward, []

    def limited(self, inputs, *args, **options):
        sizes.append(inputs.numel())
        if inputs.numel() > 200:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return forward(self, inputs, *args, **options)

    monkeypatch.setattr(AWDLSTM, "forward", limited)
    with caplog.at_level("WARNING", logger="langdiff.lm"):
        found = score(net, intents)
    assert_allclose(found, expected, atol=SINGLE_PRECISION)
    lines = [record.getMessage() for record in caplog.records]
    assert lines[-1].startswith("out of memory (CUDA out of memory.): scoring at most ")
    assert sum(size > 200 for size in sizes) == len(lines) <= 4  # what did not fit is not tried again
    with pytest.raises(torch.OutOfMemoryError):
        score(net, [np.zeros(300, dtype=np.int64)])


def test_one_thread_is_undone_even_by_an_interrupt():
    def interrupted():
        with one_thread():
            assert torch.get_num_threads() == 1
            raise KeyboardInterrupt

    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        with pytest.raises(KeyboardInterrupt):
            interrupted()
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)
