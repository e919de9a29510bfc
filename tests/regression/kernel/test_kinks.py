"""Model 2L at its kinks: worked numbers, certificates, and errors against independent searches."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.stats import laplace

import langdiff as ld
from langdiff.errors import ConfigError, ConvergenceWarning, LangdiffWarning
from langdiff.regression import Laplace, Optimizer
from langdiff.regression.kernel import kinks as kinks_module
from langdiff.regression.kernel.cells import CellLikelihood
from langdiff.regression.kernel.kinks import CERTIFIED, Kinks
from langdiff.regression.kernel.likelihood import mu_at_mean
from langdiff.regression.kernel.two_way import solve_two_way
from langdiff.regression.variants.laplace import LaplaceCells, _RowCosts, influences_at_kinks
from langdiff.tables.rule import freedom_of

T = np.array([[100, 120, 90], [40, 52, 50], [220, 230, 180], [75, 70, 88], [150, 190, 140], [60, 63, 49]], float)
HOLES = T.copy()
HOLES[1, 2] = HOLES[5, 0] = np.nan
NTREX = [-0.056446, 0.048553, -0.056059, 0.013507, 0.011430, 0.056632, 0.004353, 0.031214, -0.002772, -0.058702]
ERRORS = [0.0083, 0.0066, 0.0071, 0.0086, 0.0065, 0.0087, 0.0062, 0.0067, 0.0061, 0.0068]


def search(bits, *, restricted=False, design=None):
    kinks = Kinks(solve_two_way(np.log(bits), design), LaplaceCells, restricted=restricted)
    return kinks, kinks.maximize([kinks.likelihood(0.0).start(), kinks.medians()])


def normalized(c):
    return c - np.log(np.mean(np.exp(c)))


@pytest.mark.parametrize(
    ("bits", "log_likelihood", "difficulty"),
    [
        (T, 20.7015861386, [-0.0165293, 0.1232326, -0.1218898]),  # also by enumeration of kinks
        (HOLES, 21.2916056546, [-0.0434851, 0.1388364, -0.1124780]),  # also by Nelder-Mead on the profile
    ],
)
def test_worked_tables(bits, log_likelihood, difficulty):
    kinks, found = search(bits)
    assert found.optimum.log_likelihood == pytest.approx(log_likelihood, abs=1e-9)
    assert_allclose(normalized(found.optimum.c), difficulty, atol=6e-8)
    assert found.rest <= CERTIFIED
    assert found.kinks == 8 + (bits is HOLES)
    if bits is T:
        _, _, u = kinks.certificate(found.optimum.sizes, found.optimum.c)
        assert np.abs(u[np.isfinite(u)]).max() == pytest.approx(0.962491, abs=1e-6)


def test_ntrex_and_its_errors():
    table = ld.datasets.ntrex10()[1]
    found = ld.fit(table, model="2L", clusters=None)
    assert found.log_likelihood == pytest.approx(2557.490452, abs=1e-6)
    assert found.kinks == 341
    assert found.converged
    assert_allclose(found.difficulty, NTREX, atol=6e-7)
    assert_allclose(found.std_error.reindex(found.difficulty.index), ERRORS, rtol=0.02)  # ties move them by 1 %
    assert found.degrees_of_freedom == 334
    again = ld.fit(table.bits.iloc[::-1], model="2L", clusters=None)  # ties hang on no order of rows
    assert_allclose(again.std_error.reindex(found.std_error.index), found.std_error, rtol=1e-4)
    assert found.influence is not None
    rounded = ld.fit(table, model="2L-rounded", clusters=None)
    assert rounded.model == Laplace(rounding=0.3).name == "2L-rounded"
    assert rounded.log_likelihood == pytest.approx(2531.068, abs=1e-3)
    assert "model:2L-rounded|" in rounded.signature
    assert rounded.kinks is None


def test_testaments():
    _, found = search(ld.datasets.testaments().bits.to_numpy())
    assert found.optimum.log_likelihood == pytest.approx(14664.302071, abs=1e-6)
    assert (found.kinks, found.rest <= CERTIFIED) == (1305, True)


def test_the_density_is_that_of_the_paper():
    _, found = search(HOLES)
    v = np.logaddexp(0.0, -found.optimum.sizes)[:, None]
    h = found.optimum.sizes[:, None] - 0.5 * v
    value = np.nansum(laplace.logpdf(np.log(HOLES) - found.optimum.c, h, np.sqrt(v / 2)))
    assert found.optimum.log_likelihood == pytest.approx(value, abs=1e-10)


@pytest.mark.parametrize("restricted", [False, True])
@pytest.mark.parametrize("groups", [None, [0, 0, 1, 2, 2, 3]])
@pytest.mark.parametrize("missing", [0.0, 0.25])
def test_no_neighbour_is_higher(restricted, groups, missing):
    """Random steps of many lengths, of μ and c together, from certified maxima."""
    rng = np.random.default_rng(5)
    bits = np.exp(rng.normal(4.5, 0.6, (60, 1)) + rng.laplace(0, 0.15, (60, 6)))
    bits[rng.random(bits.shape) < missing] = np.nan
    bits = bits[(~np.isnan(bits)).sum(axis=1) > 1]
    design = None if groups is None else np.eye(4)[groups] / np.sqrt(np.bincount(groups))
    kinks, found = search(bits, restricted=restricted, design=design)
    assert found.rest <= CERTIFIED
    likelihood = CellLikelihood(kinks.table, LaplaceCells(), restricted)
    best = likelihood.intent_values(found.optimum.sizes, found.optimum.c)
    for step in np.geomspace(1e-7, 1e-1, 250):
        mu = found.optimum.sizes + step * rng.normal(size=len(bits)) * (rng.random(len(bits)) < 0.2)
        c = found.optimum.c + step * kinks.basis @ rng.normal(size=kinks.basis.shape[1])
        assert np.sum(likelihood.intent_values(mu, c) - best) > -1e-10


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_scores_are_slopes_of_the_best_costs_of_rows(missing):
    """A slow profile of every row over a fine grid of sizes, at steps of one difficulty."""
    rng = np.random.default_rng(2)
    bits = np.exp(rng.normal(4.5, 0.6, (30, 1)) + rng.laplace(0, 0.15, (30, 4)))
    bits[rng.random(bits.shape) < missing] = np.nan
    bits = bits[(~np.isnan(bits)).sum(axis=1) > 1]
    kinks, found = search(bits)
    c = found.optimum.c + rng.normal(0, 0.02, 4)  # where no row has two cells at their kinks
    grid, h = np.linspace(-1, 9, 4001), 1e-6

    def cost(moved):
        x = np.log(bits) - moved
        mu = np.hstack([np.broadcast_to(grid, (len(x), len(grid))), mu_at_mean(x)])
        v = np.logaddexp(0.0, -mu)
        distance = np.nansum(np.abs(x[:, :, None] - (mu - v / 2)[:, None]), axis=1)
        return np.nanmin(0.5 * kinks.weight[:, None] * np.log(2 * v) + np.sqrt(2 / v) * distance, axis=1)

    with np.errstate(invalid="ignore"):
        rows = _RowCosts(np.log(bits) - c, kinks.weight, np.zeros(bits.shape), found.optimum.sizes)
        influence = influences_at_kinks(kinks, found.optimum.sizes, found.optimum.c)
        for j, step in ((0, 0.02), (1, -0.03), (3, 0.05)):
            there, has = c + step * np.eye(4)[j], ~np.isnan(bits[:, j])
            slopes = [(cost(there + h * e) - cost(there - h * e))[has].sum() / (2 * h) for e in np.eye(4)]
            assert_allclose(rows.moved(j, step), slopes, atol=0.1)  # of slopes of 10 to 100, by a grid
    assert_allclose(influence.sum(axis=0), 0, atol=1e-12)
    assert_allclose(influence.sum(axis=1), 0, atol=1e-12)


@pytest.mark.parametrize("seed", [20073, 20089])
def test_a_cell_whose_kink_the_others_forbid_keeps_its_sign(seed):
    """Of 27 books: four rows have two cells at their kinks, and a cell 1e-5 beside its own would be one too many."""
    rng = np.random.default_rng(seed)
    chapters = [28, 16, 24, 21, 28, 16, 16, 13, 6, 6, 4, 4, 5, 3, 6, 4, 3, 1, 13, 5, 5, 3, 5, 1, 1, 1, 22]
    book = np.repeat(np.arange(27), np.maximum(3, np.round(540 * np.divide(chapters, 260))).astype(int))
    n, d = np.exp(rng.normal(np.log(120), 0.6, len(book))), rng.normal(0, 0.05, 5)
    v = np.log1p(4.33 / n)[:, None]
    noise = np.sqrt(0.1) * rng.normal(size=(27, 5))[book] + np.sqrt(0.9) * rng.laplace(size=(len(book), 5)) / np.sqrt(2)
    _, found = search(np.exp(np.log(n)[:, None] + normalized(d) - 0.5 * v + np.sqrt(v) * noise))
    assert found.rest <= CERTIFIED


def test_the_published_route_stops_short():
    with pytest.warns(ConvergenceWarning, match=r"L-BFGS stops at a kink, 0\.\d+ nats below the maximum"):
        found = ld.fit(ld.datasets.ntrex10()[1], model="2L", clusters=None, optimizer=Optimizer("lbfgs"))
    assert not found.converged
    assert 2556.5 < found.log_likelihood < 2557.3
    assert_allclose(found.difficulty, NTREX, atol=3e-4)


@pytest.mark.parametrize("correction", ["CR2", "CR3"])
def test_what_kinks_do_not_have_is_said(monkeypatch, correction):
    table = ld.simulate(60, 3, model="2L", seed=1).surprisals
    with pytest.raises(ConfigError, match=f"'{correction}' is not for model '2L'.*use correction='CR1'"):
        ld.fit(table, model="2L", errors=ld.Sandwich(correction))
    monkeypatch.setattr(kinks_module, "CERTIFIED", -1.0)
    with pytest.warns(ConvergenceWarning, match=r"stopped at a kink; rest \d"):
        assert not ld.fit(table, model="2L", clusters=None).converged


def test_few_clusters_are_left_out_one_by_one_and_many_are_summed():
    table = ld.simulate(300, 4, model="2L", seed=3).surprisals
    by = {n: ld.fit(table, model="2L", clusters={k: int(k) % n for k in table.intents}) for n in (12, 60)}
    assert [by[n].errors.kind for n in by] == ["jackknife", "sandwich"]
    for n, found in by.items():  # of clusters alike in size, of which some have shorter intents
        assert 0.8 * (n - 1) < np.min(found.degrees_of_freedom) <= np.max(found.degrees_of_freedom) <= n - 1
    sizes = np.repeat(np.arange(12), [60, 60, 40, 40, 30, 20, 10, 10, 10, 8, 6, 6])
    unequal = ld.fit(table, model="2L", clusters=pd.Series(sizes, table.intents, name="book"))
    share = np.bincount(sizes) / 300
    assert np.max(unequal.degrees_of_freedom) == pytest.approx(float(freedom_of(share)), rel=0.1)
    assert by[12].std_error.mean() == pytest.approx(by[60].std_error.mean(), rel=0.4)
    for found in by.values():  # influences reach the record, also of the jackknife
        assert_allclose(found.influence.values.T @ found.influence.values, found.covariance, rtol=1e-9, atol=1e-16)
    same = ld.table({"a": by[12], "b": by[12]}, paired=True).differences
    assert_allclose(same["std_error"], 0, atol=1e-12)


def test_a_fit_whose_scores_give_no_information_is_saved(tmp_path):
    rng = np.random.default_rng(53)
    bits = np.exp(rng.normal(4, 0.5, (25, 1)) + np.linspace(-0.1, 0.2, 5) + rng.normal(0, 0.15, (25, 5)))
    bits[rng.random(bits.shape) < 0.25] = np.nan
    table = pd.DataFrame(bits, [f"i{i}" for i in range(25)], list("abcde")).dropna(how="all")
    with pytest.warns(LangdiffWarning, match="no second derivative"):
        found = ld.fit(ld.Surprisals(bits=table), model="2L")
    found.save(tmp_path / "fit.json")
    assert_allclose(ld.read(tmp_path / "fit.json").std_error, found.std_error)


def test_the_rounded_model_is_another():
    with pytest.raises(ConfigError, match=r"^intents='random' is for model '2L', whose density it has"):
        ld.fit(T, model="2L-rounded", intents="random")


def test_tables_of_heavy_tails_are_fitted():
    """A size with next to no curvature on its way once sent the search out of all bounds."""
    rng = np.random.default_rng([77, 29, 300, 5])
    n = np.exp(rng.normal(np.log(120), 0.6, 300))[:, None]
    v = np.log1p(4.33 / n)
    z = np.log(n) + np.linspace(-0.1, 0.1, 5) - v / 2 + np.sqrt(v / 3) * rng.standard_t(3, (300, 5))
    found = Laplace().estimate(solve_two_way(z))
    assert found.converged
    assert "certified" in found.message
