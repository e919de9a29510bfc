"""Whole distributions of n-grams against the probabilities that the n-gram model gives to single symbols."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langdiff.lm.ngram.distributions import Histories
from langdiff.lm.ngram.kneser_ney import KneserNey

SINGLE = 1e-5  # single precision
SYMBOLS = 4
texts = st.lists(st.lists(st.integers(0, SYMBOLS - 1), max_size=12).map(lambda ids: np.array(ids, dtype=np.int64)))


@settings(deadline=None, max_examples=60)
@given(train=texts.filter(len), judged=texts.filter(len), order=st.integers(1, 5))
def test_the_highest_order_is_the_model(train, judged, order):
    model = KneserNey.fit(train, SYMBOLS + 1, order=order)
    histories = Histories(judged, SYMBOLS + 1, [order])
    histories.ask(model, np.arange(len(judged)))
    found = histories.distributions(np.arange(len(histories.known)))[:, 0]
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
        both.ask(model, np.arange(number, 10, 2))
    for number, model in enumerate(models):
        alone = Histories(judged, SYMBOLS + 1, [1, 2, 3])
        alone.ask(model, np.arange(10))
        places = np.concatenate([both.starts[row] + np.arange(21) for row in range(number, 10, 2)])
        np.testing.assert_array_equal(both.distributions(places), alone.distributions(places))


def test_what_is_known_of_a_history():
    model = KneserNey.fit([np.array([0, 1, 2, 0, 1, 2])], SYMBOLS + 1, order=4)
    histories = Histories([np.array([0, 1, 3, 0, 1])], SYMBOLS + 1, [4])
    histories.ask(model, np.array([0]))
    # start, 0, 01, 3 that was never seen, 0 after it, 01 after it
    assert histories.known.tolist() == [2, 3, 4, 2, 2, 3]
