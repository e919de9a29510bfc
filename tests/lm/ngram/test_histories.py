"""Distributions after all histories of a text: against the n-gram model, and number by number."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from langdiff.lm.lstm import features
from langdiff.lm.lstm.features import Histories, NgramFeatures
from langdiff.lm.ngram.kneser_ney import KneserNey

SINGLE = 1e-5  # single precision
SYMBOLS = 4
texts = st.lists(st.lists(st.integers(0, SYMBOLS - 1), max_size=12).map(lambda ids: np.array(ids, dtype=np.int64)))


def distributions(histories, places):
    """Return the probabilities of all symbols at some places, by all orders, (N, K, V), number by number."""
    size, found = histories.vocabulary_size, []
    probability = [list(histories.lowest[histories.asked[place]]) for place in places]
    for change in histories.changes(places):
        probability = [[p * w for p in row] for row, w in zip(probability, change.factor, strict=True)]
        for at, added in zip(change.places, change.added, strict=True):
            probability[at // size][at % size] += added
        found.append(probability)
    return np.array(found).swapaxes(0, 1)


def test_the_device_computes_the_same():
    rng = np.random.default_rng(1)
    learned, judged = ([rng.integers(0, SYMBOLS, n) for n in rng.integers(1, 30, 40)] for _ in range(2))
    model, orders = KneserNey.fit(learned, SYMBOLS + 1, order=6), [1, 2, 4, 6]
    histories = Histories(judged, SYMBOLS + 1, orders)
    histories.ask(model.levels, np.arange(len(judged)))
    rows = np.array([3, 0, 8])
    found = NgramFeatures.by(model.levels, judged, SYMBOLS + 1, orders).of(rows, torch.device("cpu")).compute()
    # time by time, intent by intent
    times = [(t, row) for t in range(histories.lengths.max()) for row in rows if t < histories.lengths[row]]
    expected = distributions(histories, np.array([histories.starts[row] + t for t, row in times]))
    np.testing.assert_allclose(found.log_probability.exp(), expected, rtol=SINGLE)


@settings(deadline=None, max_examples=30)
@given(train=texts.filter(len), judged=texts.filter(len), orders=st.sets(st.integers(1, 5), min_size=1))
def test_features_of_few_symbols_are_those_of_all(train, judged, orders):
    """Log-probabilities but for what is the same for all symbols, and entropies and maxima."""
    halves = [KneserNey.fit(half, SYMBOLS + 1, order=max(orders)) for half in (train, train[: 1 + len(train) // 2])]
    histories = Histories(judged, SYMBOLS + 1, sorted(orders))
    for number, model in enumerate(halves):
        histories.ask(model.levels, np.arange(number, len(judged), 2)) if number < len(judged) else None
    part, places = NgramFeatures(histories), np.arange(len(histories.known))
    a = torch.randn(len(places), len(orders), generator=torch.Generator().manual_seed(0))
    output, decoder = (
        torch.randn(n, 3, generator=torch.Generator().manual_seed(n)) for n in (len(places), SYMBOLS + 1)
    )
    cpu, found = torch.device("cpu"), []
    for many in (SYMBOLS + 1, SYMBOLS):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(features, "MANY", many)
            each = part.at(places, cpu)
        assert (each.few is None) == (many > SYMBOLS)
        weights = [x.clone().requires_grad_() for x in (a, output, decoder)]
        nats = -each.combine(*weights, decoder[:, 0]).log_softmax(dim=1)[:, :2].sum(dim=1)
        nats.sum().backward()
        found.append((each.summary, nats, *(x.grad for x in weights)))
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


@settings(deadline=None, max_examples=60)
@given(train=texts.filter(len), judged=texts.filter(len), order=st.integers(1, 5))
def test_the_highest_order_is_the_model(train, judged, order):
    model = KneserNey.fit(train, SYMBOLS + 1, order=order)
    histories = Histories(judged, SYMBOLS + 1, [order])
    histories.ask(model.levels, np.arange(len(judged)))
    found = distributions(histories, np.arange(len(histories.known)))[:, 0]
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=SINGLE)
    bits, eos_bits = model.score(judged)
    for row, ids in enumerate(judged):
        own = found[histories.starts[row] : histories.starts[row] + histories.lengths[row]]
        each = -np.log2(own[np.arange(len(own)), np.append(ids, SYMBOLS)])
        assert each.sum() == pytest.approx(bits[row], rel=SINGLE)
        assert each[-1] == pytest.approx(eos_bits[row], rel=SINGLE, abs=SINGLE)


def test_each_intent_is_asked_of_its_own_model():
    rng = np.random.default_rng(0)
    judged = [rng.integers(0, SYMBOLS, 20) for _ in range(10)]
    models = [KneserNey.fit([rng.integers(0, SYMBOLS, 30) for _ in range(20)], SYMBOLS + 1, order=3) for _ in range(2)]
    both = Histories(judged, SYMBOLS + 1, [1, 2, 3])
    for number, model in enumerate(models):
        both.ask(model.levels, np.arange(number, 10, 2))
    for number, model in enumerate(models):
        alone = Histories(judged, SYMBOLS + 1, [1, 2, 3])
        alone.ask(model.levels, np.arange(10))
        places = np.concatenate([both.starts[row] + np.arange(21) for row in range(number, 10, 2)])
        np.testing.assert_array_equal(distributions(both, places), distributions(alone, places))


def test_what_is_known_of_a_history():
    model = KneserNey.fit([np.array([0, 1, 2, 0, 1, 2])], SYMBOLS + 1, order=4)
    histories = Histories([np.array([0, 1, 3, 0, 1])], SYMBOLS + 1, [4])
    histories.ask(model.levels, np.array([0]))
    # start, 0, 01, 3 that was never seen, 0 after it, 01 after it
    assert histories.known.tolist() == [2, 3, 4, 2, 2, 3]
