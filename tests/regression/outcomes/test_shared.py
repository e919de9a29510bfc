"""Rows that share their nodes against the same rows one by one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import langdiff as ld
from langdiff.regression.outcomes import evaluation
from langdiff.regression.outcomes.evaluation import Point, evaluate, parts
from langdiff.regression.outcomes.integrals import Rows, kinds
from langdiff.regression.outcomes.likelihoods import Structure
from langdiff.regression.outcomes.prediction import item_difficulties

MARGINAL, CONDITIONAL = Structure(), Structure(levels="conditional")

SAME = 1e-8  # of two ways to integrate, each row


def table(systems, trials, spread, *, groups=1, seed=0, items=600):
    rng = np.random.default_rng(seed)
    group = np.arange(items) % groups
    t = rng.integers(0, trials + 1, (items, systems)).astype(float)
    t[:, 0] = np.maximum(t[:, 0], 1)
    p = 1 / (1 + np.exp(-np.linspace(-1, 1, systems) + 0.5 * group[:, None] + spread * rng.normal(size=(items, 1))))
    x = (group[:, None] == np.arange(1, groups)).astype(float)
    s = rng.binomial(t.astype(int), p).astype(float)
    rows = Rows(s=s, t=t, x=x, block=np.zeros(items, dtype=int), weight=rng.integers(1, 4, items).astype(float))
    level = np.linspace(-0.8, 1.1, systems)[None]
    return rows, Point(level=level, slope=np.full(groups - 1, 0.4), spread=spread, log_loading=np.zeros(systems))


def one_by_one(monkeypatch, call):
    with monkeypatch.context() as patched:
        patched.setattr(evaluation, "FEWEST_ROWS", 10**9)
        return call()


@pytest.mark.parametrize(("systems", "trials", "spread", "groups"), [(2, 1, 1.5, 1), (5, 1, 0.3, 3), (4, 6, 1.2, 2)])
def test_marginal_likelihood(monkeypatch, systems, trials, spread, groups):
    rows, point = table(systems, trials, spread, groups=groups)
    assert all(shared is not None for _, shared in parts(rows, point, MARGINAL, 30))
    found = evaluate(rows, point, scores=True)
    other = one_by_one(monkeypatch, lambda: evaluate(rows, point, nodes=60, scores=True))
    assert_allclose(found.row_log_likelihoods, other.row_log_likelihoods, atol=SAME)
    assert_allclose(found.scores, other.scores, atol=SAME)
    assert_allclose(found.gradient, other.gradient, atol=SAME * len(rows.s))
    assert_allclose(found.hessian, other.hessian, atol=SAME * len(rows.s))
    assert_allclose(rows.weight @ found.scores, found.gradient, atol=SAME)
    rough = evaluate(rows, point, coarse=True)
    assert rough.log_likelihood == pytest.approx(found.log_likelihood, rel=1e-5)
    means, deviations = item_difficulties(rows, Point(**vars(point)), MARGINAL)
    of_rows = one_by_one(monkeypatch, lambda: item_difficulties(rows, point, MARGINAL))  # with 15 nodes
    assert_allclose(means, of_rows[0], atol=1e-4)
    assert_allclose(deviations, of_rows[1], atol=1e-4)


@pytest.mark.parametrize(("systems", "trials"), [(2, 1), (6, 1), (4, 6)])
def test_conditional_likelihood(monkeypatch, systems, trials):
    rows, point = table(systems, trials, 1.0)
    rows = rows.take((rows.s.sum(axis=1) > 0) & (rows.s.sum(axis=1) < rows.t.sum(axis=1)))
    assert all(shared is not None for _, shared in parts(rows, point, CONDITIONAL, 30))
    found = evaluate(rows, point, CONDITIONAL, scores=True)
    other = one_by_one(monkeypatch, lambda: evaluate(rows, point, CONDITIONAL, scores=True))
    for name in ("row_log_likelihoods", "gradient", "hessian", "scores"):
        assert_allclose(getattr(found, name), getattr(other, name), atol=SAME, err_msg=name)


def test_no_spread_and_too_many_trials(monkeypatch):
    rows, point = table(3, 1, 0.0)
    found = evaluate(rows, point)
    other = one_by_one(monkeypatch, lambda: evaluate(rows, point))
    assert_allclose(found.hessian, other.hessian, atol=SAME)  # of σ, too, which is the score of a variance at zero
    rows, point = table(3, 100_000, 2.0, items=150)
    assert all(shared is None for _, shared in parts(rows, point, MARGINAL, 30))
    assert np.isfinite(evaluate(rows, point).log_likelihood)


def test_fits_are_the_same(monkeypatch):
    outcomes = ld.simulate_outcomes(800, 6, groups={"a": 0.0, "b": 1.0}, missing=0.3, seed=1).outcomes
    outcomes = outcomes.sel(items=outcomes.items.index[outcomes.observed.any(axis=1)])
    for settings in ({"by": "group"}, {"interaction": "group"}, {"model": "conditional"}):
        found = ld.fit_outcomes(outcomes, **settings)
        other = one_by_one(monkeypatch, lambda settings=settings: ld.fit_outcomes(outcomes, **settings))
        assert found.converged
        assert_allclose(found.parameters.to_numpy(), other.parameters.to_numpy(), atol=SAME)
        assert found.log_likelihood == pytest.approx(other.log_likelihood, abs=1e-7)


def test_kinds_are_equal_rows():
    values = np.array([[1.0, 0.0, 2.0], [1.0, -0.0, 2.0], [0.0, 3.0, 2.0], [1.0, 0.0, 2.0]])
    place = kinds(values)
    assert place[0] == place[1] == place[3] != place[2]
    assert kinds(np.zeros((3, 0))).tolist() == [0, 0, 0]
