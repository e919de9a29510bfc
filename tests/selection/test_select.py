"""The exact search against brute force over all subsets of editions."""

import signal
import subprocess
import sys
import time
from itertools import combinations

import numpy as np
import pandas as pd
import pulp
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import langdiff as ld
from langdiff.errors import ConfigError, DataError, InfeasibleError, LangdiffWarning, SolverError
from langdiff.selection.search.cut import Network
from langdiff.selection.search.exact import Search
from langdiff.selection.search.problem import collapse, reduce
from langdiff.selection.search.solver import levels, stages
from langdiff.selection.selecting import check_feasible, name_problem
from langdiff.tables.multitext import Multitext
from langdiff.tables.text_sources import InMemoryText
from tests.helpers import refused

MAY_BE_ONE = pytest.mark.filterwarnings("ignore:only one edition is selected")  # of random tables


def catalogue(presence, languages=None):
    """Make a multitext without any text: selection must not read it."""
    presence = np.asarray(presence, dtype=bool)
    intents = pd.Index([f"i{i}" for i in range(len(presence))], name="intent")
    editions = pd.Index([f"e{j}" for j in range(presence.shape[1])], name="edition")
    languages = [f"l{j}" for j in range(len(editions))] if languages is None else list(languages)
    return Multitext(
        presence=pd.DataFrame(presence, index=intents, columns=editions),
        edition_info=pd.DataFrame({"language": languages}, index=editions),
        intent_info=pd.DataFrame(index=intents),
        sources={edition: InMemoryText(pd.Series(dtype=object)) for edition in editions},
    )


def brute_force(
    multitext, *, min_intents, objective, require, n_editions=None, max_editions=None, max_editions_per_language=None
):
    """Return the best (value, editions) over all subsets, or None."""
    presence, language = multitext.presence.to_numpy(), multitext.edition_info["language"].to_numpy()
    names = list(multitext.editions)
    best = None
    for size in [n_editions] if n_editions else range(1, len(names) + 1):
        for chosen in combinations(range(len(names)), size):
            languages = [language[j] for j in chosen]
            met = all(name in languages or name in [names[j] for j in chosen] for name in require)
            intents = int(presence[:, list(chosen)].all(axis=1).sum())
            most = max(languages.count(one) for one in languages)
            if not met or intents < min_intents or size > (max_editions or size):
                continue
            if most > (max_editions_per_language or most):
                continue
            units = size if objective == "cells" else len(set(languages))
            best = max(best or (0, 0), (units * intents, size))
    return best


@st.composite
def instances(draw):
    """Draw a small catalogue and requirements; half of the catalogues have blocks, as real ones do."""
    n_intents, n_editions = draw(st.integers(1, 14)), draw(st.integers(1, 7))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    presence = rng.random((n_intents, n_editions)) < draw(st.sampled_from([0.4, 0.7, 0.9]))
    if draw(st.booleans()):
        presence[: n_intents // 2] |= rng.random(n_editions) < 0.6
    languages = [f"l{k}" for k in rng.integers(draw(st.integers(1, 5)), size=n_editions)]
    names = [f"e{j}" for j in range(n_editions)] + sorted(set(languages))
    n_most = draw(st.integers(1, n_editions))
    limits = {
        "min_intents": draw(st.integers(1, max(1, n_intents // 2))),
        "objective": draw(st.sampled_from(["cells", "languages"])),
        "require": draw(st.lists(st.sampled_from(names), max_size=2, unique=True)),
        **draw(st.sampled_from([{}, {"max_editions": n_most}, {"n_editions": n_most}])),
        "max_editions_per_language": draw(st.none() | st.integers(1, 2)),
    }
    return catalogue(presence, languages), limits


def check_against_brute_force(multitext, limits):
    asked = {name: value for name, value in limits.items() if name != "method"}
    expected = brute_force(multitext, **asked)
    if expected is None:
        with pytest.raises((InfeasibleError, DataError)):
            ld.select(multitext, **limits)
        return None
    selection = ld.select(multitext, **limits)
    assert (selection.value, len(selection.editions)) == expected
    assert selection.optimal
    assert selection.upper_bound == selection.value
    assert selection.gap == 0
    chosen = selection.multitext
    assert chosen.presence.to_numpy().all()
    assert brute_force(chosen, **asked) == expected  # what is returned meets the requirements by itself
    units = len(chosen.editions) if limits["objective"] == "cells" else chosen.edition_info["language"].nunique()
    assert units * len(chosen.intents) == selection.value
    return selection


@MAY_BE_ONE
@given(instances())
@settings(max_examples=220, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_agrees_with_brute_force(instance):
    check_against_brute_force(*instance)


@MAY_BE_ONE
@given(instances())
def test_one_integer_program_agrees_with_brute_force(instance):
    multitext, limits = instance
    check_against_brute_force(multitext, limits | {"method": "direct"})


@pytest.mark.slow
@MAY_BE_ONE
@given(instances())
@settings(max_examples=100, deadline=None)
def test_agrees_with_brute_force_when_greed_finds_nothing_and_bounds_are_weak(instance):
    """Integer programs alone must do: without the greedy start and without the bounds by cuts."""
    assume(brute_force(instance[0], **instance[1]) is not None)
    check_programs_alone(*instance)


def check_programs_alone(multitext, limits):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("langdiff.selection.search.exact.stages", lambda *_: [])
        for skipped in ("_bound_all", "_exchange", "_enumerate", "_relax_all"):
            patch.setattr(Search, skipped, lambda self: None)
        patch.setattr("langdiff.selection.search.exact.BRANCH_WORK", 0)
        patch.setattr("langdiff.selection.search.exact.bound", lambda *_: 10**9)
        check_against_brute_force(multitext, limits)


def test_programs_heed_the_limit_on_editions_of_a_language():
    """Without it the program takes the two editions of one language, of which only one can be kept."""
    presence = np.zeros((20, 3), dtype=bool)
    presence[:, 0], presence[:12, 1], presence[9:, 2] = True, True, True
    limits = {"min_intents": 4, "objective": "cells", "require": [], "max_editions": None}
    check_programs_alone(catalogue(presence, ["x", "x", "y"]), limits | {"max_editions_per_language": 1})


@given(instances(), st.integers(1, 50), st.integers(1, 20))
@settings(max_examples=30, deadline=None)
def test_cut_is_the_best_at_its_price(instance, p, q):
    rows, weight = collapse(instance[0].presence.to_numpy())
    assume(len(rows))
    found = Network(rows, weight).best_at_price(p, q)
    assert found.value == max(
        q * int(weight[rows[:, list(chosen)].all(axis=1)].sum()) + p * size
        for size in range(rows.shape[1] + 1)
        for chosen in combinations(range(rows.shape[1]), size)
    )
    assert found.value == q * found.intents + p * found.units
    assert found.intents == weight[found.rows].sum()


@MAY_BE_ONE
@given(instances())
def test_bounds_hold_for_every_number_of_editions(instance):
    multitext, limits = instance
    limits = {"require": [], "min_intents": limits["min_intents"], "objective": "cells"}
    assume(brute_force(multitext, **limits) is not None)
    presence = multitext.presence.to_numpy()
    certificate = ld.select(multitext, **limits).certificate
    for size, row in certificate.iterrows():
        most = max(presence[:, list(c)].all(axis=1).sum() for c in combinations(range(presence.shape[1]), size))
        if most >= limits["min_intents"]:
            assert row["intents_at_most"] >= most


def test_a_relaxation_of_what_is_left_bounds_no_selection_that_was_left_out():
    """Two editions of one language share one intent; it is the best, so nothing better is left, but it is there."""
    selection = ld.select(
        catalogue([[1, 1], [0, 0], [1, 0]], ["x", "x"]), objective="languages", n_editions=2, min_intents=1
    )
    assert (selection.value, selection.optimal) == (1, True)
    assert selection.certificate["intents_at_most"].to_dict() == {1: 1}


def test_ties_go_to_more_editions():
    selection = ld.select(catalogue([[1, 0], [1, 1], [0, 1]]))  # 1 × 2 and 2 × 1
    assert selection.value == 2
    assert list(selection.editions) == ["e0", "e1"]
    both = ld.select(catalogue([[1, 1], [1, 1]], ["x", "x"]), objective="languages")
    assert (both.value, list(both.editions)) == (2, ["e0", "e1"])


def test_order_is_that_of_the_multitext_and_identical_rows_are_all_kept():
    presence = np.zeros((50, 4), dtype=bool)
    presence[10:40] = True
    presence[:5, 2] = True
    selection = ld.select(catalogue(presence))
    assert list(selection.intents) == [f"i{i}" for i in range(10, 40)]
    assert list(selection.editions) == ["e0", "e1", "e2", "e3"]


def test_every_edition_that_is_not_selected_is_named_with_its_intents():
    presence = np.ones((40, 5), dtype=bool)
    presence[10:, 1] = False  # 10 intents: too few
    presence[:28, 3] = False  # 12: the optimizer leaves it out
    selection = ld.select(catalogue(presence), min_intents=12)
    assert list(selection.editions) == ["e0", "e2", "e4"]
    assert selection.left_out.to_dict("index") == {
        "e3": {"intents": 12, "shared": 12},
        "e1": {"intents": 10, "shared": 10},
    }
    line = "Not selected: 2 editions, 1 of them for fewer than 12 intents: e3 (12 intents), e1 (10 intents)"
    assert selection.headline().splitlines()[-1] == line
    assert line in selection.summary()
    everything = ld.select(catalogue(np.ones((4, 3), dtype=bool)))
    assert everything.left_out.empty
    assert everything.headline().endswith("Not selected: none")


@pytest.mark.parametrize("method", ["search", "direct"])
def test_editions_that_share_nothing_are_warned_of_at_the_callers_line(method):
    presence = np.zeros((7, 2), dtype=bool)
    presence[:4, 0] = presence[4:, 1] = True
    multitext = catalogue(presence)
    with pytest.warns(LangdiffWarning, match=r"only one edition is selected, 'e0' with its 4 .*'e1' has 0") as all_:
        selection = ld.select(multitext, method=method)
    assert [w.filename for w in all_] == [__file__]
    assert repr(selection) == "Selection: 1 edition × 4 intents, optimal"
    assert "Not selected: 1 edition: e1 (3 intents)" in selection.summary()
    ld.select(multitext, max_editions=1)  # as was asked for


def hard(seed=0, intents=400, editions=24):
    """Rows missing at random: bounds are weak, and integer programs needed."""
    rng = np.random.default_rng(seed)
    return catalogue(rng.random((intents, editions)) < rng.uniform(0.7, 0.98, (intents, 1)))


def test_time_limit_returns_a_proven_gap():
    selection = ld.select(hard(), min_intents=20, time_limit=1e-9)
    assert not selection.optimal
    assert selection.upper_bound > selection.value
    assert 0 < selection.gap < 20
    assert "open" in set(selection.certificate["closed"])
    assert "NOT PROVEN OPTIMAL" in selection.summary()
    assert "gap" in repr(selection)
    assert selection.multitext.presence.to_numpy().all()
    proven = ld.select(hard(intents=60, editions=10), min_intents=5)
    assert proven.optimal


def test_greed_is_not_led_astray_by_parts_of_bibles():
    """Twelve whole Bibles make the largest table; greed that begins with all editions ends among New Testaments."""
    rng = np.random.default_rng(0)
    presence = rng.random((1200, 52)) < np.repeat([0.995, 0.985], [12, 40])
    presence[300:, 12:] = False
    problem = name_problem(catalogue(presence)).problem
    largest = np.sort(presence.sum(axis=0))[::-1]
    products = largest * np.arange(1, 53)
    assert levels(problem) == [(largest[-1], products[12:].max()), (largest[11], products[:12].max())]
    parts, whole = (
        max(int(kept.sum()) * problem.intents_of(rows) for kept, rows in stages(problem, least))
        for least, _ in levels(problem)
    )
    assert whole > 1.1 * parts
    search = Search(problem)
    assert search.best.value == whole
    search.run()
    assert search.proven


def test_interrupt_returns_the_best_so_far(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Search, "_tighten", interrupted)
    selection = ld.select(hard(), min_intents=20)
    assert not selection.optimal
    assert selection.value > 0


def test_time_limit_holds_while_requirements_are_checked(monkeypatch):
    multitext = hard(intents=60, editions=10)
    monkeypatch.setattr("langdiff.selection.search.exact.stages", lambda *_: [])  # greed finds nothing
    for solve in (ld.select, ld.pareto_front):
        refused(SolverError, "time was up", solve, multitext, require=["e0", "e1"], time_limit=1e-9)


@given(instances())
def test_what_the_check_of_requirements_finds_meets_them(instance):
    multitext, limits = instance
    assume(brute_force(multitext, **limits) is not None)
    named = name_problem(multitext, **limits)
    found = check_feasible(named, None, np.inf)
    if found is not None:
        chosen = multitext.sel(editions=named.editions[found])
        assert brute_force(chosen, **limits | {"n_editions": int(found.sum())}) is not None


def test_whole_numbers_may_be_floats():
    selection = ld.select(catalogue(THREE), n_editions=2.0, max_editions=2.0, min_intents=1e0)
    assert len(selection.editions) == 2


def test_time_that_runs_out_within_enumeration_leaves_a_gap(monkeypatch):
    """One number of editions is settled just when time is up, and others are open."""
    presence = np.random.default_rng(3).random((300, 12)) < 0.5
    search = Search(name_problem(catalogue(presence)).problem, time_limit=1000)

    def last(self, u, *_):
        self.deadline = -np.inf
        return True, 1e9

    monkeypatch.setattr(Search, "_branch", last)
    search.run()
    assert not search.proven


def test_cbc_that_finds_an_integer_program_infeasible_has_answered():
    assert ld.select(catalogue(THREE), solver="PULP_CBC_CMD", method="direct").optimal


def test_solver_by_name_and_by_object_agree():
    multitext = hard(intents=40, editions=8)
    values = [
        ld.select(multitext, min_intents=3, solver=solver).value
        for solver in (None, "HiGHS", "PULP_CBC_CMD", pulp.HiGHS(msg=False, gapRel=0.0))
    ]
    assert len(set(values)) == 1
    with pytest.raises(ConfigError, match=r"unknown solver 'gurobbi'; PuLP finds here: .*HiGHS"):
        ld.select(multitext, min_intents=3, solver="gurobbi")


def test_failing_solver_is_reported(monkeypatch):
    monkeypatch.setattr("langdiff.selection.search.exact.BRANCH_WORK", 0)

    class Broken(pulp.HiGHS):
        def actualSolve(self, lp, **_):
            raise pulp.PulpSolverError("no licence")

    refused(SolverError, "Broken failed: no licence", ld.select, hard(), min_intents=20, solver=Broken())


THREE = [[1, 1, 0], [1, 1, 0], [1, 0, 1], [1, 0, 0]]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"min_intents": 5}, "min_intents=5: the fullest edition, 'e0', has 4 intents; at most"),
        ({"min_intents": 2, "require": ["e2"]}, "required edition 'e2' has 1 intents"),
        ({"min_intents": 3, "require": ["l1"]}, "required language 'l1' has 2 intents"),
        ({"require": ["e1", "e2"]}, "requiring 'e2' besides 'e1' leaves at most 0 shared"),
        ({"require": ["l1", "l2"]}, "requiring 'l2' besides 'l1' leaves at most 0 shared"),
        ({"require": ["e0", "e1"], "max_editions": 1}, "max_editions=1, but at least 2 are required"),
        ({"require": ["e0", "l1"], "max_editions": 1}, "max_editions=1, but at least 2 are required"),
        ({"require": ["e0", "e1"], "n_editions": 1}, "n_editions=1, but at least 2 are required"),
        ({"n_editions": 3}, "n_editions=3, but so many that meet the other requirements share at most 0 intents"),
        ({"n_editions": 3, "min_intents": 2}, "n_editions=3, but only 2 have 2 intents"),
    ],
)
def test_infeasible_requests_name_the_requirement(settings, message):
    refused(InfeasibleError, message, ld.select, catalogue(THREE), **settings)


def test_infeasible_cap_names_the_language():
    with pytest.raises(InfeasibleError, match="max_editions_per_language=1, but 2 editions in 'deu' are required"):
        ld.select(catalogue(THREE, ["deu", "deu", "fra"]), require=["e0", "e1"], max_editions_per_language=1)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"min_intents": 0}, "min_intents must be at least 1"),
        ({"min_intents": float("nan")}, "min_intents must be at least 1, and whole, got nan"),
        ({"n_editions": 2.5}, "n_editions must be at least 1, and whole, got 2.5"),
        ({"time_limit": "5"}, "time_limit must be a positive number of seconds, got '5'"),
        ({"max_editions": 0}, "max_editions must be at least 1"),
        ({"max_editions_per_language": -1}, "max_editions_per_language must be at least 1"),
        ({"n_editions": 0}, "n_editions must be at least 1"),
        ({"n_editions": 3, "max_editions": 2}, "n_editions=3 contradicts max_editions=2"),
        ({"method": "greedy"}, "method must be 'search' or 'direct', not 'greedy'"),
        ({"time_limit": 0}, "time_limit must be a positive"),
        ({"objective": "verses"}, "objective must be 'cells' or 'languages', not 'verses'"),
        ({"require": ["xxx"]}, "'xxx' is neither an edition"),
        ({"require": "e0"}, r"write require=\['e0'\]"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    refused(ConfigError, message, ld.select, catalogue(THREE), **settings)


def test_nothing_to_select_from():
    refused(DataError, "no edition has any intent", ld.select, catalogue(np.zeros((3, 2))))
    with pytest.raises(DataError, match=r"1 edition\(s\) whose language is not known: 'e1'"):
        ld.select(catalogue(THREE, ["deu", None, "fra"]), objective="languages")
    assert ld.select(catalogue(THREE, ["deu", None, "fra"])).optimal


@pytest.mark.real_data
def test_bibles_are_selected_with_proof(real_data):
    bibles = ld.read_multitext(real_data / "bible")
    selection = ld.select(bibles, min_intents=20_000)
    assert selection.optimal
    assert len(selection.dropped_editions) == 32
    assert (len(selection.editions), len(selection.intents)) == (42, 29_836)


SELECTS_SLOWLY = """
import sys
import numpy as np
from tests.selection.test_select import catalogue
noise = catalogue(np.random.default_rng(1).random((1500, 60)) < 0.9)  # as no corpus is: HiGHS works on it for minutes
import langdiff as ld, langdiff.selection.search.exact as search
search.FEW = search.BRANCH_WORK = 0
ask = search.Search._ask
def announced(self, u):
    print("asking", flush=True)
    ask(self, u)
search.Search._ask = announced
selection = ld.select(noise, min_intents=20)
print(selection.optimal, selection.value, selection.upper_bound, selection.multitext.presence.to_numpy().all())
"""


@pytest.mark.slow
def test_interrupt_in_the_midst_of_highs_returns_the_best_so_far(root):
    child = subprocess.Popen(
        [sys.executable, "-c", SELECTS_SLOWLY], cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert child.stdout.readline() == "asking\n"
    time.sleep(4)  # by then HiGHS is at work
    child.send_signal(signal.SIGINT)
    sent = time.monotonic()
    out, err = child.communicate(timeout=60)
    assert child.returncode == 0, err
    assert time.monotonic() - sent < 30
    optimal, value, upper, complete = out.split()[-4:]
    assert (optimal, complete) == ("False", "True")
    assert 0 < int(value) < int(upper)


@given(instances())
def test_reduction_keeps_every_selection_that_is_good_enough(instance):
    """For each number of editions and all subsets: what shares enough is possible, what must be in is in."""
    presence = instance[0].presence.to_numpy()
    assume(presence.any())
    problem = name_problem(instance[0]).problem
    shared = {
        chosen: problem.shared(np.isin(np.arange(len(problem.language)), chosen))
        for size in range(1, len(problem.language) + 1)
        for chosen in combinations(range(len(problem.language)), size)
    }
    most = {
        u: max(problem.intents_of(rows) for chosen, rows in shared.items() if len(chosen) == u)
        for u in range(1, len(problem.language) + 1)
    }
    for u, need in most.items():
        left = reduce(problem, u, max(need, 1), most.get(u + 1, -1))
        for chosen, rows in shared.items():
            if len(chosen) == u and problem.intents_of(rows) >= max(need, 1):
                assert left is not None
                assert not (rows & ~left.rows).any()
                assert left.editions[list(chosen)].all()
                assert set(np.flatnonzero(left.inside)) <= set(chosen)


def test_an_edition_that_lacks_next_to_nothing_must_be_in():
    presence = np.ones((100, 3), dtype=bool)
    presence[:1, 0], presence[:40, 1], presence[60:, 2] = False, False, False
    problem = name_problem(catalogue(presence)).problem
    left = reduce(problem, 2, 60, 20)  # all three share 20, so two with 60 but without e0 would make three with 59
    assert list(left.inside) == [True, True, False]  # and of the pairs with e0, only that with e1 shares 60


def test_progress_is_shown_on_request(capsys):
    ld.select(hard(intents=60, editions=10), min_intents=5, progress=True)
    assert "selection" in capsys.readouterr().err
