"""Moderated variances against limma."""

import numpy as np
import pytest

from langdiff.regression.components.outliers import moderate_variances

VARIANCES = np.array([0.02, 1.1, 5.3, 0.04, 1.7, 0.9, 3.2, 0.6, 9.3, 1.0])
SEARCH = 2e-8  # at which limma ends its search for d0


# limma 3.54: squeezeVar(variances, df)
@pytest.mark.parametrize(
    ("freedom", "prior_freedom", "prior", "first"),
    [
        (np.full(10, 6.0), 1.231710893, 0.3571342262, [0.07742097617, 0.97347449600, 4.45812707310]),
        (
            np.array([6.0, 5, 4, 8, 6, 6, 3, 7, 6, 6]),
            1.217482187,
            0.3614122860,
            [0.07759118843, 0.95537274442, 4.14759691452],
        ),
    ],
)
def test_variances_are_those_of_limma(freedom, prior_freedom, prior, first):
    found = moderate_variances(VARIANCES, freedom)
    assert found.prior_freedom == pytest.approx(prior_freedom, rel=SEARCH)
    assert found.prior == pytest.approx(prior, rel=SEARCH)
    np.testing.assert_allclose(found.variances[:3], first, rtol=SEARCH)


def test_variances_that_vary_no_more_than_samples_do_are_one():
    found = moderate_variances(np.array([0.9, 1.0, 1.1]), np.full(3, 5.0))
    assert np.isinf(found.prior_freedom)
    np.testing.assert_allclose(found.variances, 1.0)


def test_a_sample_without_freedom_takes_the_prior():
    found = moderate_variances(np.append(VARIANCES, 0.0), np.append(np.full(10, 6.0), 0.0))
    assert found.variances[-1] == pytest.approx(found.prior)
    assert found.prior_freedom == pytest.approx(1.231710893, rel=SEARCH)
