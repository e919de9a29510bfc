import matplotlib.pyplot as plt
import numpy as np
import pytest

import langdiff as ld
from langdiff.plots import plot_against_truth


@pytest.fixture
def axes():
    figure, ax = plt.subplots()
    yield ax
    plt.close(figure)


def test_points_stand_where_truth_and_estimate_say(axes):
    truth = ld.simulate(200, 3, difficulties=[0.0, 0.0, 0.3], seed=1)
    surprisals = truth.surprisals
    fit = ld.fit(surprisals)
    assert plot_against_truth({"lm": fit}, truth.difficulty, axes) is axes
    x, y = axes.containers[0].lines[0].get_xydata().T
    np.testing.assert_allclose(x, 100 * np.expm1(truth.difficulty))
    np.testing.assert_allclose(y, 100 * np.expm1(fit.difficulty[truth.difficulty.index]))


def test_editions_as_hard_as_each_other_share_a_label(axes):
    truth = ld.simulate(200, 3, difficulties=[0.0, 0.0, 0.3], seed=1)
    surprisals = truth.surprisals
    plot_against_truth({"lm": ld.fit(surprisals)}, truth.difficulty, axes)
    assert [label.get_text() for label in axes.texts] == ["e1\ne2", "e3"]
