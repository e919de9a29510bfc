"""The front of editions against intents, point by point against brute force, and its picture."""

from itertools import combinations

import numpy as np
from hypothesis import assume, given

import langdiff as ld
from langdiff.errors import InfeasibleError
from langdiff.plots import plot_certificate, plot_pareto_front
from langdiff.selection.search.solver import stages
from langdiff.selection.selecting import name_problem
from tests.helpers import refused
from tests.selection.test_select import catalogue, hard, instances


def most_intents(multitext, objective, most_of_a_language, require=()):
    """Return the most intents for every number of units that some allowed subset makes, by trying all."""
    presence, language = multitext.presence.to_numpy(), multitext.edition_info["language"].to_numpy()
    front = {}
    for size in range(1, presence.shape[1] + 1):
        for chosen in combinations(range(presence.shape[1]), size):
            languages = [language[j] for j in chosen]
            met = all(name in languages or name in multitext.editions[list(chosen)] for name in require)
            if met and max(languages.count(one) for one in languages) <= (most_of_a_language or size):
                units = size if objective == "cells" else len(set(languages))
                front[units] = max(front.get(units, 0), int(presence[:, list(chosen)].all(axis=1).sum()))
    return front


@given(instances())
def test_every_point_agrees_with_brute_force(instance):
    multitext, limits = instance
    assume(multitext.presence.to_numpy().any())
    objective, cap = limits["objective"], limits["max_editions_per_language"]
    expected = most_intents(multitext.sel(editions=multitext.editions[multitext.presence.any()]), objective, cap)
    asked = {"objective": objective, "max_editions_per_language": cap}
    exact = ld.pareto_front(multitext, exact=True, **asked).points
    assert exact["intents"].to_dict() == expected
    assert exact["proven"].all()
    hull = ld.pareto_front(multitext, **asked).points
    assert (hull["intents"] <= exact["intents"]).all()
    assert (exact["intents"] <= hull["intents_at_most"]).all()


def test_no_point_has_fewer_editions_than_are_required():
    multitext = catalogue([[1, 1, 1, 0], [1, 1, 0, 1], [1, 0, 1, 1]], ["x", "x", "y", "z"])
    for require in (["x", "y"], ["e1", "x", "y"], ["e0", "e1"], ["e0", "e1", "z"]):
        for objective in ("cells", "languages"):
            front = ld.pareto_front(multitext, require=require, objective=objective, exact=True).points
            expected = most_intents(multitext, objective, None, require)
            assert front["intents"].to_dict() == expected
            assert front["proven"].all()


def test_the_best_point_is_what_select_finds():
    multitext = hard(intents=80, editions=9)
    front = ld.pareto_front(multitext, exact=True)
    for least in (1, 25, 40):
        selection = ld.select(multitext, min_intents=least)
        assert front.best(least) == (len(selection.editions), len(selection.intents))
    refused(InfeasibleError, "no selection with 1,000 intents; the most are", front.best, 1000)


def test_picture_says_what_the_frame_says():
    front = ld.pareto_front(hard(intents=80, editions=8), exact=True)
    ax = front.plot()
    dots = next(line for line in ax.lines if line.get_label() == "proven best")
    np.testing.assert_array_equal(dots.get_ydata(), front.points["intents"])
    most, shared = front.best(30)
    assert plot_pareto_front(front, ax, min_intents=30) is ax
    assert f"largest product: {most} × {shared}" in [line.get_label() for line in ax.lines]


def test_picture_of_the_certificate():
    selection = ld.select(hard(intents=100, editions=10), min_intents=5)
    ax = plot_certificate(selection)
    assert selection.plot(ax) is ax
    drawn = sum(len(line.get_xdata()) for line in ax.lines if str(line.get_label()).startswith("closed by"))
    assert drawn == 2 * len(selection.certificate)  # drawn twice


def test_numbers_beyond_the_best_product_begin_with_greed_as_well():
    """The best product is made of twelve whole Bibles; the front goes on to all forty-two editions."""
    presence = np.random.default_rng(0).random((1200, 42)) < np.repeat([0.995, 0.985], [12, 30])
    presence[300:, 12:] = False
    intents = ld.pareto_front(catalogue(presence)).points["intents"]
    problem = name_problem(catalogue(presence)).problem
    for kept, rows in stages(problem):
        assert intents[kept.sum()] >= problem.intents_of(rows)
