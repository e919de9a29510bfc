"""What n-grams say after all histories of a text, against the n-gram model, symbol by symbol."""

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
CPU = torch.device("cpu")
texts = st.lists(st.lists(st.integers(0, SYMBOLS - 1), max_size=12).map(lambda ids: np.array(ids, dtype=np.int64)))


def distributions(found, orders):
    """Return the probabilities of all symbols by all orders, (N, K, V): those of an output of 0 and of one order."""
    n, size = len(found.row), found.table.shape[1]
    nothing = torch.zeros(n, 1), torch.zeros(size, 1), torch.zeros(size)
    alone = (torch.arange(orders) <= k for k in range(orders))  # weights of this order and those above, summed
    each = [found.combine(own.float().expand(n, orders), *nothing).softmax(dim=1) for own in alone]
    return torch.stack(each, dim=1).numpy()


def by_models(models, judged, orders):
    """Return the same by the models of each intent, (N, K, V), asked of one symbol after the other."""
    found = []
    for number, ids in enumerate(judged):
        model = models[number % len(models)]
        of_orders = [KneserNey(SYMBOLS + 1, model.grams[:k]) for k in orders]
        each = [
            [lower.score_symbols([ids], others=np.array([v]))[0] for v in range(SYMBOLS + 1)] for lower in of_orders
        ]
        found.append(2 ** -np.array(each).transpose(2, 0, 1))
    return np.concatenate(found)


@settings(deadline=None, max_examples=40)
@given(
    train=texts.filter(len),
    judged=texts.filter(len),
    orders=st.sets(st.integers(1, 6), min_size=1).map(sorted),
    table=st.sampled_from([0, features.TABLE]),
)
def test_features_are_what_the_models_say(train, judged, orders, table):
    """Distributions, their entropies and maxima, and the longest history, each intent of a model of its own."""
    models = [KneserNey.fit(half, SYMBOLS + 1, order=orders[-1]) for half in (train, train[: 1 + len(train) // 2])]
    histories = Histories(judged, SYMBOLS + 1, orders)
    for number, model in enumerate(models[: len(judged)]):
        histories.ask(model.levels, np.arange(number, len(judged), 2))
    known = histories.known
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(features, "TABLE", table)
        part = NgramFeatures(histories)
    found = part.at(np.arange(len(known)), CPU)
    expected = by_models(models, judged, orders)
    np.testing.assert_allclose(distributions(found, len(orders)), expected, rtol=SINGLE)
    entropy, highest = -(expected * np.log(expected)).sum(axis=2), np.log(expected.max(axis=2))
    summary = np.column_stack([entropy / np.log(SYMBOLS + 1), highest / np.log(SYMBOLS + 1), known / orders[-1]])
    np.testing.assert_allclose(found.summary, summary, rtol=SINGLE, atol=SINGLE)


@pytest.mark.parametrize("table", [0, features.TABLE])
def test_symbols_of_a_batch_are_those_of_the_text(table, monkeypatch):
    monkeypatch.setattr(features, "TABLE", table)
    rng = np.random.default_rng(1)
    learned, judged = ([rng.integers(0, SYMBOLS, n) for n in rng.integers(1, 30, 40)] for _ in range(2))
    model, orders = KneserNey.fit(learned, SYMBOLS + 1, order=6), [1, 2, 4, 6]
    rows = np.array([3, 0, 8])
    found = NgramFeatures.by(model.levels, judged, SYMBOLS + 1, orders).of(rows, CPU).compute()
    alone = by_models([model], [judged[row] for row in rows], orders)
    # time by time, intent by intent
    ends = np.cumsum([len(judged[row]) + 1 for row in rows])
    times = [(t, k) for t in range(30) for k, row in enumerate(rows) if t <= len(judged[row])]
    expected = alone[[ends[k] - len(judged[rows[k]]) - 1 + t for t, k in times]]
    np.testing.assert_allclose(distributions(found, len(orders)), expected, rtol=SINGLE)


@settings(deadline=None, max_examples=60)
@given(train=texts.filter(len), judged=texts.filter(len), order=st.integers(1, 5))
def test_the_highest_order_is_the_model(train, judged, order):
    model = KneserNey.fit(train, SYMBOLS + 1, order=order)
    part = NgramFeatures.by(model.levels, judged, SYMBOLS + 1, [order])
    bits, eos_bits = model.score(judged)
    for row, ids in enumerate(judged):
        own = distributions(part.of(np.array([row]), CPU).compute(), 1)[:, 0]
        each = -np.log2(own[np.arange(len(own)), np.append(ids, SYMBOLS)])
        assert each.sum() == pytest.approx(bits[row], rel=SINGLE)
        assert each[-1] == pytest.approx(eos_bits[row], rel=SINGLE, abs=SINGLE)


def test_what_is_known_of_a_history():
    model = KneserNey.fit([np.array([0, 1, 2, 0, 1, 2])], SYMBOLS + 1, order=4)
    histories = Histories([np.array([0, 1, 3, 0, 1])], SYMBOLS + 1, [4])
    histories.ask(model.levels, np.array([0]))
    # start, 0, 01, 3 that was never seen, 0 after it, 01 after it
    assert histories.known.tolist() == [2, 3, 4, 2, 2, 3]
