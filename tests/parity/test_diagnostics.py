"""Entropies of tokens against SciPy, closed forms and the published example."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy

from langdiff.errors import ConfigError, DataError
from langdiff.parity.tokenizers import diagnose_tokens, renyi_entropy
from tests.helpers import refused

COUNTS = st.lists(st.integers(1, 1000), min_size=2, max_size=30)


def test_worked_example():
    found = diagnose_tokens([["pick", "@@ed", "pick", "@@l", "@@ed", "pick", "@@les"]])
    assert found["renyi_entropy"] == pytest.approx(1.6530, abs=5e-5)
    assert found["renyi_efficiency"] == pytest.approx(0.82651, abs=5e-6)
    assert found["shannon_efficiency"] == pytest.approx(0.92119, abs=5e-6)


@given(COUNTS)
def test_shannon_is_scipys_and_the_limit_of_renyi(counts):
    named = dict(enumerate(counts))
    assert renyi_entropy(named, 1) == pytest.approx(entropy(counts, base=2))
    assert renyi_entropy(named, 1 + 1e-7) == pytest.approx(renyi_entropy(named, 1), abs=1e-5)


@given(COUNTS, st.floats(0.1, 5), st.floats(0.1, 5))
def test_renyi_falls_with_its_order(counts, one, other):
    low, high = sorted([one, other])
    named = dict(enumerate(counts))
    assert renyi_entropy(named, high) <= renyi_entropy(named, low) + 1e-9
    assert renyi_entropy(named, low) <= np.log2(len(counts)) + 1e-9


def test_renyi_near_its_limits():
    counts = {"a": 2, "b": 1, **{str(i): 1 for i in range(100)}}
    assert renyi_entropy(counts, 1 + 1e-15) == pytest.approx(renyi_entropy(counts, 1))
    assert renyi_entropy(counts, 1 - 1e-9) == pytest.approx(renyi_entropy(counts, 1))
    assert renyi_entropy(counts, 2000) == pytest.approx(-np.log2(2 / 103), rel=1e-3)  # of the commonest token


def test_accessor_variety_is_the_mean_number_of_neighbours():
    texts = [list("abcab"), list("ad")]
    right = {"a": {"b", "d"}, "b": {"c"}, "c": {"a"}, "d": set()}
    assert diagnose_tokens(texts)["accessor_variety"] == np.mean([len(after) for after in right.values()])


def test_one_type_has_no_efficiency():
    found = diagnose_tokens([["a", "a"]])
    assert found["renyi_entropy"] == 0
    assert np.isnan(found["renyi_efficiency"])


def test_refusals():
    refused(DataError, "there is no token", diagnose_tokens, [[]])
    refused(DataError, "'a text' is not a sequence", diagnose_tokens, ["a text"])
    refused(DataError, "1 is not a sequence", diagnose_tokens, [1, 2])
    refused(ConfigError, "positive and finite", diagnose_tokens, [["a"]], alpha=-1)
