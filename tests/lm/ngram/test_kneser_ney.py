from collections import Counter, defaultdict
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from langdiff.lm.ngram.kneser_ney import FALLBACK, KneserNey, chen_goodman_discounts
from langdiff.lm.units.alphabet import Alphabet
from langdiff.lm.units.characters import CharacterUnits
from tests.lm.conftest import verses

ROUNDING = 1e-9  # both sides are the same sums in another order
ONE = 1e-12  # of a sum of a few probabilities
NEAR_ENTROPY = 0.02  # what 200,000 symbols leave to be learned, as a share of the entropy
BELOW_ENTROPY = 0.002  # what a model may gain on a sample of 50,000 symbols by chance
START = "start"


class Plain:
    """Modified Kneser-Ney from its definition, with tuples and dictionaries."""

    def __init__(self, intents, vocabulary_size, order):
        self.vocabulary_size, self.order = vocabulary_size, order
        occurrences = Counter()
        for line in map(self.line, intents):
            for end in range(2, len(line) + 1):
                for k in range(1, min(order, end) + 1):
                    occurrences[line[end - k : end]] += 1
        before = defaultdict(set)
        for gram in occurrences:
            before[gram[1:]].add(gram[0])
        self.count = {
            gram: number if len(gram) == order or gram[0] == START else len(before[gram])
            for gram, number in occurrences.items()
        }
        self.following = defaultdict(dict)
        for gram, number in self.count.items():
            self.following[gram[:-1]][gram[-1]] = number
        self.discounts = {k: self.estimate(k) for k in range(1, order + 1)}

    def line(self, ids):
        return (START, *map(int, ids), self.vocabulary_size - 1)

    def estimate(self, k):
        n = Counter(number for gram, number in self.count.items() if len(gram) == k)
        if not (n[1] and n[2] and n[3] and n[4]):
            return FALLBACK
        y = n[1] / (n[1] + 2 * n[2])
        d = (1 - 2 * y * n[2] / n[1], 2 - 3 * y * n[3] / n[2], 3 - 4 * y * n[4] / n[3])
        return d if all(0 < d[c] <= c + 1 for c in range(3)) else FALLBACK

    def probability(self, symbol, history):
        lower = self.probability(symbol, history[1:]) if history else 1 / self.vocabulary_size
        counts = self.following.get(history)
        if not counts:
            return lower
        taken = {s: self.discounts[len(history) + 1][min(c, 3) - 1] for s, c in counts.items()}
        direct = counts[symbol] - taken[symbol] if symbol in counts else 0
        return (direct + sum(taken.values()) * lower) / sum(counts.values())

    def score(self, ids):
        line = self.line(ids)
        bits = [-np.log2(self.probability(line[t], line[max(0, t - self.order + 1) : t])) for t in range(1, len(line))]
        return sum(bits), bits[-1]


def arrays(intents):
    return [np.array(ids, dtype=np.int64) for ids in intents]


def encoded(texts):
    units = CharacterUnits(Alphabet.from_texts(verses("eng", 300, 0), min_count=1))
    return [units.encode(units.alphabet.apply(text)) for text in texts], units.size + 1


@st.composite
def problems(draw):
    vocabulary_size = draw(st.integers(2, 5))
    intents = st.lists(st.lists(st.integers(0, vocabulary_size - 2), max_size=12), max_size=12)
    return vocabulary_size, draw(intents), draw(intents), draw(st.integers(1, 6))


@given(problem=problems())
def test_bits_against_dictionaries(problem):
    vocabulary_size, train, test, order = problem
    plain = Plain(train, vocabulary_size, order)
    bits, eos_bits = KneserNey.fit(arrays(train), vocabulary_size, order=order).score(arrays(test))
    expected = np.array([plain.score(ids) for ids in test]).reshape(-1, 2)
    assert_allclose(bits, expected[:, 0], rtol=ROUNDING, atol=ROUNDING)
    assert_allclose(eos_bits, expected[:, 1], rtol=ROUNDING, atol=ROUNDING)


@pytest.mark.parametrize("order", [1, 3, 5])
def test_bits_against_dictionaries_where_discounts_are_estimated(order):
    rng = np.random.default_rng(0)
    weights = 1 / np.arange(1, 31)
    train, test = ([rng.choice(30, 20, p=weights / weights.sum()) for _ in range(n)] for n in (300, 40))
    plain = Plain(train, 33, order)  # 30 and 31 never occur
    model = KneserNey.fit(train, 33, order=order)
    assert_allclose(np.transpose(model.score(test)), [plain.score(ids) for ids in test], rtol=ROUNDING)
    estimated = [k for k, discounts in plain.discounts.items() if discounts != FALLBACK]
    assert estimated == [2, 3, 4, 5][: order - 1], plain.discounts


def test_discounts():
    # by hand: n = 100, 40, 20, 10; Y = 100 / 180
    counts = np.repeat([1, 2, 3, 4, 17], [100, 40, 20, 10, 99])
    assert_allclose(chen_goodman_discounts(counts), [0, 5 / 9, 2 - 5 / 6, 3 - 10 / 9], rtol=ROUNDING)
    assert chen_goodman_discounts(np.repeat([1, 2, 3], 5)).tolist() == [0, *FALLBACK]  # no count is 4
    assert chen_goodman_discounts(np.repeat([1, 2, 3, 4], [9, 1, 9, 1])).tolist() == [0, *FALLBACK]  # D_2 is negative
    assert chen_goodman_discounts(np.array([], dtype=np.int64)).tolist() == [0, *FALLBACK]


@pytest.mark.parametrize("order", [1, 2, 4])
def test_probabilities_of_the_next_symbol_sum_to_one_after_every_history(order):
    rng = np.random.default_rng(0)
    train = [rng.choice(3, n, p=[0.7, 0.25, 0.05]) for n in rng.integers(0, 9, 60)]  # 3 never occurs
    model = KneserNey.fit(train, 5, order=order)
    histories = arrays(h for n in range(6) for h in product(range(4), repeat=n))  # most of them unseen
    bits, eos_bits = model.score(histories)
    total = 2.0**-eos_bits
    for symbol in range(4):
        longer, longer_eos = model.score([np.append(h, symbol) for h in histories])
        total += 2.0 ** -((longer - longer_eos) - (bits - eos_bits))
    assert_allclose(total, 1, atol=len(histories[-1]) * ONE)


def test_bits_do_not_depend_on_order_or_neighbours():
    train, vocabulary_size = encoded(verses("eng", 200, 0))
    test, _ = encoded(verses("eng", 50, 1))
    model = KneserNey.fit(train, vocabulary_size)
    alone = np.array([model.score([ids])[0][0] for ids in test])
    order = np.random.default_rng(0).permutation(len(test))
    assert model.score([test[i] for i in order])[0].tolist() == alone[order].tolist()
    again = KneserNey.fit([train[i] for i in np.random.default_rng(1).permutation(len(train))], vocabulary_size)
    assert again.score(test)[0].tolist() == alone.tolist()


def test_no_intents_and_no_text():
    model = KneserNey.fit([], 4)
    assert [len(bits) for bits in model.score([])] == [0, 0]
    assert_allclose(model.score(arrays([[], [0, 1, 2]]))[0], [2, 8])  # nothing learned: all four alike


def draw_intents(transitions, symbols, rng):
    """Draw intents from a Markov chain whose last state is the end (and the start); give their true bits."""
    end = len(transitions) - 1
    steps, logs = transitions.cumsum(axis=1), np.log2(np.maximum(transitions, 1e-300))
    intents, bits, drawn = [], 0.0, 0
    while drawn < symbols:
        state, ids = end, []
        while True:
            before, state = state, int(np.searchsorted(steps[state], rng.random()))
            bits -= logs[before, state]
            if state == end:
                break
            ids.append(state)
        intents.append(np.array(ids, dtype=np.int64))
        drawn += len(ids) + 1
    return intents, bits


@pytest.mark.parametrize("source", ["independent", "markov"])
def test_bits_approach_the_entropy_and_stay_above(source):
    rng = np.random.default_rng(3)
    if source == "independent":
        transitions = np.tile([0.5, 0.2, 0.15, 0.1, 0.05], (5, 1))
    else:
        transitions = rng.dirichlet(np.full(5, 0.4), size=5) * 0.95 + 0.01
    train, _ = draw_intents(transitions, 200_000, rng)
    test, true_bits = draw_intents(transitions, 50_000, rng)
    for order in (2, 6):
        ratio = KneserNey.fit(train, 5, order=order).score(test)[0].sum() / true_bits
        assert 1 - BELOW_ENTROPY < ratio < 1 + NEAR_ENTROPY, order
