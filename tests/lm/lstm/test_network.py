import warnings

import pytest
import torch
from numpy.testing import assert_allclose

from langdiff.lm.lstm.network import AWDLSTM, _no_advice_on_layout, activation_regularization

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


def test_embedding_dropout_drops_whole_symbols_and_not_in_the_softmax():
    net = network(dropout_embedding=0.5).train()
    every_symbol = torch.arange(11)[None]  # (1, 11): time one, so that only the input matters
    net(every_symbol).output.sum().backward()
    dropped = net.embedding.grad == 0  # (V, E)
    assert (dropped.all(1) | ~dropped.any(1)).all()
    assert 0 < dropped.all(1).sum() < 11
    assert torch.equal(net.logits(torch.eye(5).double()), net.embedding.T + net.decoder_bias)


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
