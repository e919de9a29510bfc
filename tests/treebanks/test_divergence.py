import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats
from scipy.spatial.distance import jensenshannon

from langdiff.treebanks.chains import Counts, divergence
from tests.treebanks.oracle import kullback_leibler

ROUNDING = 1e-9
counted = st.dictionaries(st.integers(0, 8), st.integers(1, 50), min_size=1)
alphas = st.sampled_from([0.01, 0.5, 3.0])


def counts(table):
    return Counts(np.array(sorted(table)), np.array([table[key] for key in sorted(table)]))


def smoothed(one, other, alpha):
    bins = sorted(set(one) | set(other))
    return [np.array([table.get(b, 0) + alpha for b in bins]) for table in (one, other)]


@given(r=counted, c=counted, alpha=alphas)
def test_against_other_ways(r, c, alpha):
    p, q = smoothed(r, c, alpha)
    one, other = counts(r), counts(c)
    forth = divergence(one, other, alpha=alpha)
    assert_allclose(forth, kullback_leibler(r, c, alpha), atol=ROUNDING)
    assert_allclose(forth, stats.entropy(p, q), atol=ROUNDING)
    assert_allclose(divergence(one, other, alpha=alpha, base=2), stats.entropy(p, q, base=2), atol=ROUNDING)
    back = divergence(other, one, alpha=alpha)
    assert_allclose(divergence(one, other, alpha=alpha, kind="symmetric"), (forth + back) / 2, atol=ROUNDING)
    js = divergence(one, other, alpha=alpha, kind="js")
    assert_allclose(js, jensenshannon(p, q) ** 2, atol=ROUNDING)
    assert js <= math.log(2) + ROUNDING


@given(r=counted, c=counted, empty=st.integers(0, 20))
def test_correlation_over_a_box(r, c, empty):
    bins = sorted(set(r) | set(c))
    padded = [np.array([table.get(b, 0) for b in bins] + [0] * empty) for table in (r, c)]
    ours = divergence(counts(r), counts(c), kind="correlation", box=len(bins) + empty)
    if min(map(np.ptp, padded)) > 0:
        assert ours == pytest.approx(1 - stats.pearsonr(*padded).statistic, abs=1e-6)
    else:
        assert ours in (0, 1)


def test_no_bin_in_common():
    r, c = counts({1: 4}), counts({2: 4})
    assert divergence(r, c) == pytest.approx(0.8 * math.log(9))  # p = (.9, .1), q = (.1, .9)
    for kind in ("kl", "symmetric"):
        assert divergence(r, c, kind=kind, alpha=0) == math.inf
    assert divergence(r, c, kind="js", alpha=0) == pytest.approx(math.log(2))
    assert divergence(r, c, kind="correlation") == pytest.approx(2)


def test_infinite_in_one_direction_only():
    more, less = counts({1: 2, 2: 2}), counts({1: 4})
    assert divergence(more, less, alpha=0) == math.inf
    assert divergence(less, more, alpha=0) == pytest.approx(math.log(2))


def test_empty_tables():
    none, some = counts({}), counts({1: 2, 2: 3})
    assert divergence(none, none) == divergence(none, none, alpha=0) == 0
    assert divergence(none, some) == pytest.approx(kullback_leibler({}, {1: 2, 2: 3}))
    assert divergence(none, some, alpha=0) == divergence(some, none, alpha=0) == math.inf
    assert divergence(some, none, kind="correlation") == 1


def test_a_bin_of_probability_zero_is_a_bin():
    r, c = counts({1.0: 2}), counts({1.0: 1, math.inf: 1})
    assert divergence(r, c) == pytest.approx(kullback_leibler({1: 2}, {1: 1, math.inf: 1}))
