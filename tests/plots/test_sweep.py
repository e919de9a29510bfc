"""The pictures of the sweep and of difficulties across models draw what their tables say."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize

import langdiff as ld
from langdiff.experiments.bpe_sweep import SweepResult
from langdiff.plots import plot_line_follow
from langdiff.plots._places import spread


@pytest.fixture
def axes():
    figure, ax = plt.subplots()
    yield ax
    plt.close(figure)


@pytest.fixture
def sweep():
    dev_bits = pd.DataFrame(
        {"eng": [9e5, 8e5, 8.5e5], "deu": [9.5e5, 8.8e5, 8.7e5]}, index=pd.Index([0.0, 0.4, 1.0], name="ratio")
    )
    return SweepResult(lm="bpe-small", dev_bits=dev_bits, surprisals={}, seed=0)


def test_a_line_an_edition_with_its_minimum(sweep, axes):
    assert sweep.plot(axes, linewidth=2.0) is axes
    for edition, ratio, lowest in (("eng", 0.4, 800), ("deu", 1.0, 870)):
        place = [line.get_label() for line in axes.lines].index(edition)
        line, dot = axes.lines[place : place + 2]
        assert_allclose(line.get_xydata(), np.column_stack([sweep.dev_bits.index, sweep.dev_bits[edition] / 1000]))
        assert_allclose(dot.get_xydata(), [[ratio, lowest]])
        assert line.get_linewidth() == 2
    assert axes.lines[0].get_xdata() == [sweep.best_overall] * 2 == [0.4, 0.4]
    assert {text.get_text() for text in axes.texts} == {"eng", "deu"}
    assert "kbit" in axes.get_ylabel()


@pytest.fixture(scope="module")
def fits():
    return [ld.fit(ld.simulate(300, 5, seed=seed).surprisals) for seed in range(3)]


def test_lines_go_through_the_difficulties(fits, axes):
    assert plot_line_follow(dict(zip("abc", fits, strict=True)), axes) is axes
    for edition in fits[0].difficulty.index:
        (line,) = [line for line in axes.lines if line.get_label() == edition]
        assert_allclose(line.get_ydata(), [fit.difficulty[edition] for fit in fits], atol=1e-12)
    assert [label.get_text() for label in axes.get_xticklabels()] == ["a", "b", "c"]


def test_only_shared_editions_are_drawn_and_normalized(fits, axes):
    fewer = ld.fit(ld.simulate(300, 3, seed=9).surprisals)
    plot_line_follow([fits[0], fewer], axes)
    lines = [line for line in axes.lines if line.get_label() in fewer.difficulty.index]
    assert len(lines) == 3
    assert_allclose(np.exp([line.get_ydata() for line in lines]).mean(axis=0), 1)
    colours = {line.get_ydata()[1] > line.get_ydata()[0]: line.get_color() for line in lines}
    assert len(set(colours.values())) == len(colours)


@given(wanted=st.lists(st.floats(0, 1), min_size=2, max_size=6), gap=st.floats(0.01, 0.3))
def test_labels_are_spread_as_little_as_possible(wanted, gap):
    wanted = np.array(wanted)
    moved = spread(wanted, gap)
    assert (np.diff(np.sort(moved)) >= gap - 1e-9).all()
    order = np.argsort(wanted, kind="stable")
    best = minimize(
        lambda y: ((y - wanted[order]) ** 2).sum(),
        np.linspace(0, 1, len(wanted)) + gap * np.arange(len(wanted)),
        constraints={"type": "ineq", "fun": lambda y: np.diff(y) - gap},
        method="SLSQP",
        options={"maxiter": 300, "ftol": 1e-12},
    )
    assert ((moved - wanted) ** 2).sum() <= best.fun + 1e-6


@given(wanted=st.lists(st.floats(0, 1), min_size=1, max_size=6), gap=st.floats(0.01, 0.2))
def test_spread_labels_stay_within_bounds(wanted, gap):
    moved = spread(np.array(wanted), gap, 0, 1)
    assert (np.diff(np.sort(moved)) >= gap - 1e-9).all()
    assert -1e-9 <= moved.min() <= moved.max() <= 1 + 1e-9
