"""Benjamini and Hochberg's procedure against its definition and the loop of the published script."""

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from langdiff.errors import ConfigError, DataError
from langdiff.typology import adjust, correlate
from langdiff.typology.association.result import benjamini_hochberg
from tests.helpers import refused

P = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def definition(p, alpha):
    """Reject up to the last sorted p that is at most rank / m * alpha."""
    order, m = np.argsort(p), len(p)
    below = [i for i in range(m) if p[order[i]] <= (i + 1) / m * alpha]
    rejected = np.zeros(m, dtype=bool)
    if below:
        rejected[order[: max(below) + 1]] = True
    return rejected


@given(p=P, alpha=st.floats(0.01, 0.2))
def test_decisions_are_those_of_the_definition(p, alpha):
    p = np.array(p)
    adjusted, rejected = benjamini_hochberg(p, alpha)
    edge = np.isclose(np.sort(p), np.arange(1, len(p) + 1) / len(p) * alpha, rtol=1e-12)
    if not edge.any():  # on the threshold itself rounding decides
        assert (rejected == definition(p, alpha)).all()
    assert (adjusted >= p - 1e-12).all()
    assert adjusted.max() <= 1


def test_worked_example():
    # Benjamini and Hochberg (1995, section 3.2): 15 p-values, the four smallest are rejected at .05
    p = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528]
    p += [0.7590, 1.0]
    adjusted, rejected = benjamini_hochberg(np.array(p))
    assert rejected.tolist() == [True] * 4 + [False] * 11
    assert_allclose(adjusted[3], 15 / 4 * 0.0095)


def test_a_step_that_fails_does_not_stop_the_procedure():
    # a loop that stops at the first failure would reject none: .04 > .025 at rank 1
    assert benjamini_hochberg(np.array([0.04, 0.045]))[1].tolist() == [True, True]


def test_nan_is_outside_the_family():
    adjusted, rejected = benjamini_hochberg(np.array([0.04, np.nan]))
    assert_allclose(adjusted, [0.04, np.nan])
    assert rejected.tolist() == [True, False]
    assert benjamini_hochberg(np.array([np.nan]))[1].tolist() == [False]


def results(seed=0):
    rng = np.random.default_rng(seed)
    names = [f"l{i}" for i in range(12)]
    x = pd.DataFrame(rng.normal(size=(12, 3)), index=names, columns=list("abc"))
    d = (x["a"] + rng.normal(size=12)).rename("lm")
    return correlate(d, x, corpus="one"), correlate(-d, x, corpus="two")


def test_several_calls_become_one_family():
    one, two = results()
    both = adjust([one, two])
    for test, rows in both.tests.groupby("test"):  # several tests of one hypothesis are no family
        p = np.concatenate([result.tests.loc[result.tests["test"] == test, "p"] for result in (one, two)])
        assert_allclose(rows["p_adjusted"], benjamini_hochberg(p)[0])
    pooled, _ = benjamini_hochberg(np.concatenate([one.tests["p"], two.tests["p"]]))
    assert_allclose(adjust([one, two], within=None).tests["p_adjusted"], pooled)
    assert both.family_size == 12
    assert [sample.corpus for sample in both.samples] == ["one", "two"]
    assert len(both.points("a")) == 24
    assert adjust(iter([one])).tests.equals(one.tests)


def test_no_test_is_counted_twice_and_bad_arguments_are_named():
    one, _ = results()
    refused(DataError, r"6 test\(s\) are duplicated: a lm one pearson", adjust, [one, one])
    refused(ConfigError, "no results", adjust, [])
    refused(ConfigError, "alpha", adjust, [one], alpha=1.0)
    refused(DataError, "between 0 and 1", benjamini_hochberg, np.array([0.5, 1.5]))
