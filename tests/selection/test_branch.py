"""The depth-first search against brute force, and what becomes of a solver that does not answer."""

from contextlib import contextmanager
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import langdiff as ld
from langdiff.errors import InfeasibleError, SolverError
from langdiff.selection.search.branch import Branching
from langdiff.selection.search.exact import Search
from langdiff.selection.search.problem import NEVER, Remainder
from langdiff.selection.search.solver import Answer, Program
from langdiff.selection.selecting import name_problem
from tests.selection.test_select import MAY_BE_ONE, brute_force, catalogue, check_against_brute_force, instances

CHOICES = st.sampled_from([0, 2e6])  # never, or on these instances always, all choices at once


@contextmanager
def trying_all(choices):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("langdiff.selection.search.branch.CHOICES", choices)
        yield


def families(seed, n_intents, n_families, n_each, share=0.5, flip=0.03):
    """Draw families of nearly identical editions, each family a language."""
    rng = np.random.default_rng(seed)
    presence = np.repeat(rng.random((n_intents, n_families)) < share, n_each, axis=1)
    return catalogue(
        presence ^ (rng.random(presence.shape) < flip), [f"l{k}" for k in np.repeat(range(n_families), n_each)]
    )


def most_intents(problem):
    """Return the most intents that each number of units shares, by trying all subsets.

    Units that are required are in; a required language is only where languages are units, as in `Branching`.
    """
    most = {}
    for size in range(1, len(problem.language) + 1):
        for chosen in combinations(range(len(problem.language)), size):
            editions = np.isin(np.arange(len(problem.language)), chosen)
            of_a_language = np.bincount(problem.language[editions]).max()
            if (problem.required & ~editions).any() or of_a_language > max(problem.max_per_language, 1):
                continue
            if problem.required_groups[np.setdiff1d(problem.group, problem.group[editions])].any():
                continue
            u = len(np.unique(problem.group[editions]))
            most[u] = max(most.get(u, 0), problem.intents_of(problem.shared(editions)))
    return most


@given(instances(), st.integers(-3, 1), st.booleans(), CHOICES)
@settings(max_examples=25, deadline=None)
def test_branching_finds_the_most_intents_of_each_number_of_units(instance, ask_for, bounded_above, choices):
    multitext, limits = instance
    assume(multitext.presence.to_numpy().any())
    try:
        problem = name_problem(multitext, **limits | {"min_intents": 1}).problem
    except InfeasibleError:
        return
    caps = problem.group is not problem.language and problem.max_per_language < len(problem.language)
    most = most_intents(problem)
    for u in range(problem.fewest_units, problem.most_units + 1):
        if not most.get(u):
            continue
        need = max(most[u] + ask_for, 1)
        above = most.get(u + 1, -1) if bounded_above and not caps else NEVER
        found = []
        search = Branching(problem, u, need, above, found.append)
        rows = problem.shared(problem.required)
        with trying_all(choices):
            assert search.run(Remainder(rows, problem.candidates, problem.required_groups))
        assert search.need == max(need, most[u] + 1)
        if most[u] >= need:
            assert problem.intents_of(problem.shared(found[-1])) == most[u]
            assert len(np.unique(problem.group[found[-1]])) == u
        else:
            assert not found


@given(st.integers(0, 2**32 - 1), st.integers(2, 3), st.integers(1, 3), st.sampled_from([0.0, 0.03, 0.2]), CHOICES)
@settings(max_examples=30, deadline=None)
def test_every_best_choice_of_families_is_offered(seed, n_families, n_each, flip, choices):
    """As sets of shared intents: of editions with the same intents one is enough."""
    multitext = families(seed, 12, n_families, n_each, share=0.7, flip=flip)
    problem = name_problem(multitext, objective="languages").problem
    members = [np.flatnonzero(problem.language == k) for k in range(problem.n_groups)]
    u = problem.n_groups
    shared = [problem.shared(np.isin(np.arange(len(problem.language)), one)) for one in product(*members)]
    most = max(problem.intents_of(rows) for rows in shared)
    assume(most > 0)
    found = []
    everything = Remainder(np.ones_like(problem.weight, dtype=bool), problem.candidates, problem.required_groups)
    with trying_all(choices):
        assert Branching(problem, u, most, NEVER, found.append, every=True).run(everything)
    expected = {rows.tobytes() for rows in shared if problem.intents_of(rows) == most}
    assert {problem.shared(editions).tobytes() for editions in found} == expected


@pytest.mark.slow
@MAY_BE_ONE
@given(st.integers(0, 2**32 - 1), st.integers(2, 4), st.sampled_from([0.0, 0.05, 0.2]), CHOICES, st.data())
@settings(max_examples=100, deadline=None)
def test_languages_of_nearly_identical_editions_agree_with_brute_force(seed, n_families, flip, choices, data):
    multitext = families(seed, 14, n_families, 2, share=0.6, flip=flip)
    assume(multitext.presence.to_numpy().any())
    n = 2 * n_families
    limits = {
        "min_intents": data.draw(st.integers(1, 4)),
        "objective": data.draw(st.sampled_from(["languages", "cells"])),
        "require": data.draw(st.lists(st.sampled_from(["e0", "e3", "l1"]), max_size=1)),
        **data.draw(st.sampled_from([{}, {"max_editions": n - 1}, {"n_editions": 3}])),
        "max_editions_per_language": data.draw(st.sampled_from([None, 1])),
    }
    with trying_all(choices):
        check_against_brute_force(multitext, limits)


@pytest.mark.slow
@MAY_BE_ONE
@given(instances(), CHOICES)
@settings(max_examples=100, deadline=None)
def test_branching_alone_agrees_with_brute_force(instance, choices):
    """No greedy start, no bounds by cuts, and an integer program only where branching cannot heed all limits."""
    multitext, limits = instance
    assume(brute_force(multitext, **limits) is not None)
    with trying_all(choices), pytest.MonkeyPatch.context() as patch:
        patch.setattr("langdiff.selection.search.exact.stages", lambda *_: [])
        for skipped in ("_bound_all", "_exchange", "_relax_all"):
            patch.setattr(Search, skipped, lambda self: None)
        patch.setattr("langdiff.selection.search.exact.bound", lambda *_: 10**9)
        check_against_brute_force(multitext, limits)


def test_families_are_proven_without_a_solver(monkeypatch):
    """All 80,000 triples of five languages of twenty editions, and pairs, by matrix products."""
    monkeypatch.setattr(Program, "maximize", lambda *_, **__: pytest.fail("a solver was asked"))
    multitext = families(0, 2000, 5, 20, share=0.7, flip=0.003)
    selection = ld.select(multitext, objective="languages")
    assert selection.optimal
    presence, language = multitext.presence.to_numpy(), np.repeat(range(5), 20)
    best = 0
    for i in range(100):
        has = presence[presence[:, i]].astype(float)
        products = np.where(language[:, None] == language, 0, has.T @ has)[language != language[i]][
            :, language != language[i]
        ]
        best = max(best, 2 * has[:, language != language[i]].sum(axis=0).max(), 3 * products.max())
    best = max(best, presence.sum(axis=0).max())
    assert selection.value >= best
    assert selection.value == best or len(set(selection.to_frame()["language"])) > 3


def test_the_best_pair_and_triple_of_noise_are_found():
    presence = np.random.default_rng(3).random((1500, 40)) < 0.5
    pairs = presence.T.astype(float) @ presence
    triple = max(
        np.triu(presence[presence[:, i]].T.astype(float) @ presence[presence[:, i]], 1)[i + 1 :, i + 1 :].max(initial=0)
        for i in range(40)
    )
    selection = ld.select(catalogue(presence), max_editions=3)
    assert selection.optimal
    assert selection.value == max(2 * np.triu(pairs, 1).max(), 3 * triple, presence.sum(axis=0).max())
    assert selection.certificate["intents_at_most"][3] >= triple


def stopped(*_, **__):
    return Answer("stopped", np.inf, None, False)


def test_what_a_solver_leaves_open_is_settled_without_it(monkeypatch):
    rng = np.random.default_rng(2)
    multitext = catalogue(rng.random((40, 9)) < 0.8)
    monkeypatch.setattr(Program, "maximize", stopped)
    monkeypatch.setattr("langdiff.selection.search.exact.BRANCH_WORK", 0)
    for skipped in ("_bound_all", "_exchange", "_enumerate"):
        monkeypatch.setattr(Search, skipped, lambda self: None)
    monkeypatch.setattr("langdiff.selection.search.exact.bound", lambda *_: 10**9)
    selection = ld.select(multitext)
    assert selection.optimal
    expected = brute_force(multitext, min_intents=1, objective="cells", require=[])
    assert (selection.value, len(selection.editions)) == expected
    assert "branching" in set(selection.certificate["closed"])


def test_a_question_that_nothing_answers_is_an_error(monkeypatch):
    monkeypatch.setattr(Program, "maximize", stopped)
    multitext = families(1, 200, 3, 3, flip=0.2)
    with pytest.raises(SolverError, match="no solver can tell whether there is a better selection, though none had"):
        ld.select(multitext, method="direct")
