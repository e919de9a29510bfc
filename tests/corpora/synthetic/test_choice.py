"""Choices and their information."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import chisquare, entropy

from langdiff.corpora.synthetic.language import Alternatives, RandomDecisions
from langdiff.errors import ConfigError

ROUNDING = 1e-12  # the same numbers, normalized by another program
weights = st.lists(st.floats(0, 1e6), min_size=1, max_size=9).filter(lambda values: sum(values) > 1e-6)


@given(weights)
def test_bits_and_entropy(values):
    alternatives = Alternatives("test", values)
    probabilities = np.array(values) / np.sum(values)
    assert_allclose(2.0 ** -np.array(alternatives.bits), probabilities, rtol=ROUNDING, atol=ROUNDING)
    assert_allclose(alternatives.entropy, entropy(probabilities, base=2), rtol=1e-9, atol=ROUNDING)


@given(weights, st.integers(0, 2**32))
def test_what_cannot_be_is_never_chosen(values, seed):
    alternatives = Alternatives("test", values)
    decisions = RandomDecisions(np.random.default_rng(seed))
    chosen = [decisions(alternatives) for _ in range(20)]
    assert all(alternatives.bits[k] < np.inf for k in chosen)
    assert_allclose(decisions.bits, sum(alternatives.bits[k] for k in chosen), rtol=1e-9, atol=1e-9)


def test_frequencies_are_the_probabilities():
    weights = np.array([5, 0, 3, 1, 1])
    alternatives, decisions = Alternatives("test", weights), RandomDecisions(np.random.default_rng(0))
    counts = np.bincount([decisions(alternatives) for _ in range(20_000)], minlength=5)
    assert counts[1] == 0
    possible = weights > 0
    assert chisquare(counts[possible], 20_000 * weights[possible] / 10).pvalue > 0.001


@pytest.mark.parametrize("values", [[], [0, 0], [-1, 2], [np.nan], [np.inf], [[1, 2]]])
def test_bad_weights(values):
    with pytest.raises(ConfigError, match="tense: weights must be numbers from 0 up, not all 0"):
        Alternatives("tense", values)


class Stuck:
    """A generator that gives the largest number below 1, as a real one does once in 2^53 draws."""

    def random(self):
        return np.nextafter(1.0, 0.0)


@pytest.mark.parametrize("values", [[0.1] * 10, [0.1] * 10 + [0.0]])
def test_rounding_leaves_no_gap_at_the_end(values):
    assert np.cumsum(np.array(values) / np.sum(values))[-1] < 1
    assert RandomDecisions(Stuck())(Alternatives("test", values)) == 9
