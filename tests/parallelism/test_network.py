"""The conditional random field against all sequences of tags, written out."""

from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import logsumexp, softmax

from langdiff.parallelism.taggers.network import LinearChainCRF

ROUNDING = 1e-9  # double precision, sums of at most 1024 terms


def _crf(n_tags, seed, scale=1.0):
    draw = torch.Generator().manual_seed(seed)
    crf = LinearChainCRF(n_tags).double()
    with torch.no_grad():
        for weights in crf.parameters():
            weights.copy_(scale * torch.randn(weights.shape, generator=draw, dtype=torch.double))
    return crf, draw


def _all(crf, emissions):
    """Return all sequences of tags of one row, (N, T), and their scores, (N,)."""
    start, stop, moves = (getattr(crf, name).detach().numpy() for name in ("start", "stop", "transitions"))
    each = emissions.numpy()
    length, n_tags = each.shape
    sequences = np.array(list(product(range(n_tags), repeat=length)))
    scores = start[sequences[:, 0]] + stop[sequences[:, -1]] + each[np.arange(length), sequences].sum(axis=1)
    return sequences, scores + moves[sequences[:, :-1], sequences[:, 1:]].sum(axis=1)


@given(
    n_tags=st.integers(1, 4),
    lengths=st.lists(st.integers(1, 5), min_size=1, max_size=3),
    seed=st.integers(0, 999),
    scale=st.sampled_from([1.0, 1e4]),
)
def test_padded_batches_agree_with_enumeration(n_tags, lengths, seed, scale):
    crf, draw = _crf(n_tags, seed, scale)
    longest = max(lengths)
    emissions = scale * torch.randn(len(lengths), longest, n_tags, generator=draw, dtype=torch.double)
    tags = torch.randint(n_tags, (len(lengths), longest), generator=draw)
    sizes = torch.tensor(lengths)
    with torch.no_grad():
        loss, scores = crf(emissions, tags, sizes).numpy(), crf.score(emissions, tags, sizes).numpy()
    marginals, paths = crf.marginals(emissions, sizes).numpy(), crf.decode(emissions, sizes)
    for row, length in enumerate(lengths):
        sequences, each = _all(crf, emissions[row, :length])
        gold = each[(sequences == tags[row, :length].numpy()).all(axis=1)]
        assert_allclose(scores[row], gold, rtol=ROUNDING, atol=ROUNDING * scale)
        assert_allclose(loss[row], logsumexp(each) - gold, rtol=ROUNDING, atol=ROUNDING * scale)
        chosen = sequences[:, :, None] == np.arange(n_tags)  # (N, T, K)
        assert_allclose(marginals[row, :length], np.einsum("n,ntk->tk", softmax(each), chosen), atol=1e-7)
        assert not marginals[row, length:].any()
        assert paths[row] == sequences[each.argmax()].tolist()


def test_gradients_are_derivatives_of_the_loss():
    crf, draw = _crf(3, seed=5)
    emissions = torch.randn(2, 4, 3, generator=draw, dtype=torch.double, requires_grad=True)
    tags, lengths = torch.randint(3, (2, 4), generator=draw), torch.tensor([4, 2])

    def loss(emissions, *weights):
        names = [name for name, _ in crf.named_parameters()]
        return torch.func.functional_call(crf, dict(zip(names, weights, strict=True)), (emissions, tags, lengths))

    assert torch.autograd.gradcheck(loss, (emissions, *crf.parameters()))


def test_scores_of_ten_thousand_do_not_overflow_in_single_precision():
    crf = LinearChainCRF(2)
    with torch.no_grad():
        crf.transitions.copy_(torch.tensor([[1e4, -1e4], [-1e4, 1e4]]))
        crf.start.zero_()
        crf.stop.zero_()
    emissions = torch.tensor([[[1e4, -1e4]] * 3])
    loss = crf(emissions, torch.zeros(1, 3, dtype=torch.long), torch.tensor([3]))
    loss.sum().backward()
    assert float(loss.detach()) == pytest.approx(0, abs=1e-2)  # of fifty thousand, in single precision
    assert all(torch.isfinite(weights.grad).all() for weights in crf.parameters())
