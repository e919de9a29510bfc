"""Entropies of automata: by a recursion over positions, by enumeration, and as n-grams reach them."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

import langdiff as ld
from langdiff.corpora.synthetic import Automaton
from langdiff.errors import ConfigError
from tests.helpers import refused

SIXTH_DECIMAL = 5.1e-7
ROUNDING = 1e-9
LEARNT = 0.01  # what a Kneser-Ney model of 16,000 strings may cost more than the best predictor

START = [{"a": (0.5, 1), "b": (0.5, 2)}, {"a": (0.45, 1), "b": (0.45, 2)}]
GOLDEN, EVEN = Automaton([*START, {"a": (1, 1)}]), Automaton([*START, {"b": (1, 1)}])
LOCAL = {
    "golden": (GOLDEN, [19.171079, *[14.689956] * 5]),
    "even": (EVEN, [19.171079, 18.211565, 16.668346, 16.274680, 15.580232, 15.403082]),
}


def plogp(masses):
    return -sum(mass * np.log2(mass) for mass in masses if mass > 0)


def by_recursion(automaton, m, positions=1200):
    """Return the local entropy from the distribution of (context, state) at each position."""
    now, seen = {("^", automaton.start): 1.0}, {}
    for _ in range(positions):
        after = {}
        for (context, state), mass in now.items():
            nexts = automaton.transitions[state]
            end = 1 - sum(p for p, _ in nexts.values())
            own = seen.setdefault(context, {})
            own["end"] = own.get("end", 0) + mass * max(end, 0)
            for symbol, (p, then) in nexts.items():
                own[symbol] = own.get(symbol, 0) + mass * p
                window = (context + symbol)[-(m - 1) :] if m > 1 else ""
                after[window, then] = after.get((window, then), 0) + mass * p
        now = after
    # the beginning is part of a context for as long as the window reaches it; with m = 1 it is never seen
    if m == 1:
        first = seen.pop("^")
        seen[""] = {symbol: seen.get("", {}).get(symbol, 0) + first.get(symbol, 0) for symbol in {*seen[""], *first}}
    total = 0.0
    for own in seen.values():
        mass = sum(own.values())
        total += mass * plogp([each / mass for each in own.values()])
    return total


@pytest.mark.parametrize("name", LOCAL)
def test_golden_values_two_ways(name):
    automaton, expected = LOCAL[name]
    assert automaton.length() == pytest.approx(16)
    assert automaton.entropy() == pytest.approx(
        1 + 10 * plogp([0.45, 0.45, 0.1]), abs=ROUNDING
    )  # ten visits of state 1
    for m, value in enumerate(expected, start=1):
        assert automaton.local_entropy(m) == pytest.approx(value, abs=SIXTH_DECIMAL)
        assert by_recursion(automaton, m) == pytest.approx(value, abs=SIXTH_DECIMAL)


@pytest.mark.parametrize("seed", range(3))
def test_local_entropy_of_random_automata(seed):
    automaton = Automaton.random(4, 3, end=0.2, seed=seed)
    for m in (1, 2, 3):
        assert automaton.local_entropy(m) == pytest.approx(by_recursion(automaton, m, 300), abs=1e-7)
    falling = [automaton.local_entropy(m) for m in range(1, 6)]
    assert falling == sorted(falling, reverse=True)
    assert falling[-1] >= automaton.entropy() - ROUNDING


def test_information_by_enumeration():
    """Probabilities of all strings up to a length sum to what the automaton emits by then."""
    automaton = Automaton([{"a": (0.5, 1), "b": (0.5, 1)}, {"a": (0.1, 1), "b": (0.1, 1)}])
    strings = ["".join(each) for length in range(1, 8) for each in product("ab", repeat=length)]
    bits = automaton.information(strings)
    assert (2.0**-bits).sum() == pytest.approx(1 - 0.2**7)
    np.testing.assert_allclose(automaton.local_information(strings, 2), bits)
    assert np.isinf(EVEN.information(["ba", "", "c"])).all()
    assert EVEN.information(["bba"])[0] == pytest.approx(-np.log2(0.5 * 1 * 0.45 * 0.1))


def test_strings_drawn_have_the_entropy():
    texts = EVEN.texts(4000, seed=1)
    lengths, bits = texts.str.len() + 1, EVEN.information(texts)
    for values, truth in ((lengths, 16.0), (bits, EVEN.entropy()), (EVEN.local_information(texts, 3), 16.668346)):
        assert np.mean(values) == pytest.approx(truth, abs=4 * np.std(values) / np.sqrt(4000))
    assert lengths.min() > 1
    assert EVEN.texts(5, seed=1).tolist() == texts.iloc[:5].tolist()


@pytest.mark.parametrize(("m", "above"), [(3, 0.13), (6, 0.04)])
def test_the_floor_of_an_n_gram_is_that_of_its_window(m, above):
    """The same strings: an n-gram reaches the bits of its window, which stay above those of the automaton."""
    texts = EVEN.texts(20_000, seed=0)
    parts = ld.split(ld.read_frame(pd.DataFrame({"even": texts})), dev=1, test=5)
    bits = ld.compute_surprisals(parts, lm=f"kneser-ney-{m}", progress=False).bits["even"]
    strings = texts[bits.index]
    assert bits.sum() / EVEN.local_information(strings, m).sum() == pytest.approx(1, abs=LEARNT)
    assert bits.sum() / EVEN.information(strings).sum() > 1 + above


@pytest.mark.parametrize(
    ("transitions", "message"),
    [
        ([{"a": (0.5, 0)}], "is the start and can end"),
        ([{"a": (1, 1)}, {"a": (0.5, 2)}], "there is no state 2"),
        ([{"a": (1, 1)}, {"a": (1, 1)}], "cannot end"),
        ([{"a": (1, 1)}, {}, {"a": (0.5, 1)}], "cannot be reached"),
        ([{"ab": (1, 1)}, {}], "single character"),
        ([{"a": (0.7, 1), "b": (0.7, 1)}, {}], "sum to 1.4"),
        ([{"a": (0, 1)}, {}], "above 0"),
    ],
)
def test_wrong_automata(transitions, message):
    refused(ConfigError, message, Automaton, transitions)


def test_windows_that_are_too_long(monkeypatch):
    monkeypatch.setitem(Automaton._extended.__globals__, "MOST_CONTEXTS", 1000)
    assert Automaton.random(2, 10, seed=0).local_entropy(4) > 0
    refused(ConfigError, "more than 1,000 contexts", Automaton.random(2, 10, seed=0).local_entropy, 5)
    refused(ConfigError, "from 1 up", EVEN.local_entropy, 0)
