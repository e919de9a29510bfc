"""Real sampling with PyStan, against answers that know nothing of the programs."""

import asyncio
import json
import re

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp
from scipy.stats import laplace, norm

from langdiff import diagnose, fit, simulate
from langdiff.errors import ConfigError, ConvergenceWarning, DataError, MissingExtraError, SolverError
from langdiff.regression.stan import engines
from langdiff.regression.stan.draws import import_arviz, posterior_table
from langdiff.regression.stan.posterior import Priors, prepare
from langdiff.regression.variants import find_variant
from tests.helpers import refused
from tests.regression.stan.conftest import sample

MONTE_CARLO_ERRORS = 3
EXACT_SPREAD_RTOL = 0.08  # sd over 4,000 draws of ESS above 1,500: relative error about 2 %, and the largest of many
LIMITS = {"progress": False, "engine": "pystan"}

az = import_arviz()
another_program = pytest.mark.slow  # to compile takes a minute and a half; the program of model 2 is enough each time
few_draws = pytest.mark.filterwarnings("ignore::langdiff.errors.ConvergenceWarning")


def errors(idata, name):
    return az.mcse(idata, var_names=name)[name].to_numpy()


def mean(idata, name):
    return idata.posterior[name].mean(("chain", "draw")).to_numpy()


@pytest.fixture(scope="module")
def incomplete():
    surprisals = simulate(40, 5, missing=0.2, seed=3).surprisals
    bits = surprisals.bits.copy()
    bits.iloc[0] = [120.0, *[np.nan] * 4]  # an intent of one cell
    return bits


@pytest.fixture(scope="module")
def whitened(incomplete):
    return sample(incomplete, seed=1, **LIMITS)


def exact_model_1(bits, draws, seed):
    """Draw from the posterior of model 1: σ² by a grid, d and m given σ² normal around OLS with dummies."""
    rng = np.random.default_rng(seed)
    rows, columns = np.nonzero(bits.notna().to_numpy())
    z = np.log(bits.to_numpy()[rows, columns])
    intents, editions = bits.shape
    design = np.zeros((len(z), intents + editions - 1))  # contrasts to the first edition
    design[np.arange(len(z)), rows] = 1
    later = columns > 0
    design[np.flatnonzero(later), intents + columns[later] - 1] = 1
    beta, *_ = np.linalg.lstsq(design, z, rcond=None)
    squares, freedom = np.sum((z - design @ beta) ** 2), len(z) - design.shape[1]
    log_kappa = np.log(np.expm1(squares / freedom)) + np.linspace(-4, 6, 4001)
    variance = np.log1p(np.exp(log_kappa))
    log_density = -0.5 * freedom * np.log(variance) - 0.5 * squares / variance
    chosen = rng.choice(log_kappa, draws, p=np.exp(log_density - logsumexp(log_density)))
    root = np.linalg.cholesky(np.linalg.inv(design.T @ design))
    noise = np.sqrt(np.log1p(np.exp(chosen)))[:, None] * (rng.standard_normal((draws, len(beta))) @ root.T)
    d = np.column_stack([np.zeros(draws), (beta + noise)[:, intents:]])
    level = logsumexp(d, axis=1) - np.log(editions)
    return d - level[:, None], (beta + noise)[:, :intents] + level[:, None], chosen


@another_program
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_model_1_is_the_known_posterior(missing):
    surprisals = simulate(25, 4, model="1", missing=missing, seed=5).surprisals
    bits = surprisals.bits[surprisals.bits.notna().sum(axis=1) > 1]
    idata = sample(bits, model="1", seed=2, **LIMITS)
    difficulty, log_size, log_kappa = exact_model_1(bits, 200_000, seed=0)
    assert diagnose(idata).good
    ours = idata.posterior["difficulty"]
    miss = np.abs(mean(idata, "difficulty") - difficulty.mean(axis=0))
    assert (miss < MONTE_CARLO_ERRORS * errors(idata, "difficulty")).all()
    np.testing.assert_allclose(ours.std(("chain", "draw")), difficulty.std(axis=0), rtol=EXACT_SPREAD_RTOL)
    idata.posterior["log_kappa"] = np.log(idata.posterior["dispersion"])
    idata.posterior["log_size"] = np.log(idata.posterior["intent_size"])
    assert abs(mean(idata, "log_kappa") - log_kappa.mean()) < MONTE_CARLO_ERRORS * errors(idata, "log_kappa")
    miss = np.abs(mean(idata, "log_size") - log_size.mean(axis=0)) / errors(idata, "log_size")
    assert np.mean(miss < MONTE_CARLO_ERRORS) > 0.95  # of 25
    np.testing.assert_allclose(
        idata.posterior["log_size"].std(("chain", "draw")), log_size.std(axis=0), rtol=EXACT_SPREAD_RTOL
    )


def integrate_model_2(z, axes, log_kappa, log_size):
    """Return posterior means of the difficulties, of ln κ and of the rows' average ln n, by brute force on a grid.

    The prior is flat in two contrasts of d, ln κ and every ln n; all d under factors that average 1.
    """
    x, y = np.meshgrid(*axes, indexing="ij")
    d = np.stack([x + y, -x + y, -2 * y], axis=-1).reshape(-1, 3)
    d -= (logsumexp(d, axis=1) - np.log(3))[:, None]
    total, average = np.zeros((2, len(d), len(log_kappa)))
    for k_index, k in enumerate(log_kappa):
        v = np.log1p(np.exp(k - log_size))  # (grid of ln n,)
        location = log_size + 0.5 * (np.log1p(np.exp(k)) - v)
        for row in z:
            seen = ~np.isnan(row)
            cells = norm.logpdf(row[seen], location[:, None] + d[:, None, seen], np.sqrt(v)[:, None]).sum(axis=2)
            row_total = logsumexp(cells, axis=1)
            total[:, k_index] += row_total
            average[:, k_index] += np.exp(cells - row_total[:, None]) @ log_size / len(z)
    weight = np.exp(total - logsumexp(total))
    edge = np.concatenate([weight.sum(axis=0)[[0, -1]], weight.sum(axis=1).reshape(x.shape)[[0, -1]].sum(axis=1)])
    assert edge.max() < 1e-4  # the grid holds the posterior
    return weight.sum(axis=1) @ d, weight.sum(axis=0) @ log_kappa, np.sum(weight * average)


@pytest.mark.parametrize("plain", [False, pytest.param(True, marks=another_program)])
def test_model_2_is_the_integrated_posterior(plain):
    surprisals = simulate(12, 3, seed=11).surprisals
    bits = surprisals.bits.copy()
    bits.iloc[2, 0] = bits.iloc[5, 1] = bits.iloc[6, 2] = np.nan
    idata = sample(bits, seed=4, plain=plain, iter_warmup=500, iter_sampling=2000, **LIMITS)
    point = fit(bits)
    centre = point.difficulty.to_numpy() - point.difficulty.mean()
    axes = [at + np.linspace(-0.3, 0.3, 31) for at in ((centre[0] - centre[1]) / 2, -centre[2] / 2)]
    log_size = np.linspace(2.5, 8.5, 121)
    difficulty, log_kappa, average = integrate_model_2(
        np.log(bits.to_numpy()), axes, np.log(point.dispersion) + np.linspace(-2.2, 4, 32), log_size
    )
    miss = np.abs(mean(idata, "difficulty") - difficulty)
    assert (miss < MONTE_CARLO_ERRORS * errors(idata, "difficulty")).all()
    idata.posterior["log_kappa"] = np.log(idata.posterior["dispersion"])
    idata.posterior["average"] = np.log(idata.posterior["intent_size"]).mean("intent")
    for name, expected in (("log_kappa", log_kappa), ("average", average)):
        assert abs(mean(idata, name) - expected) < MONTE_CARLO_ERRORS * errors(idata, name)
    # sharp enough to see a program that forgets to be flat in ln κ: its mean would move by the variance
    assert 2 * MONTE_CARLO_ERRORS * errors(idata, "log_kappa") < idata.posterior["log_kappa"].var()


@another_program
def test_whitened_and_plain_programs_have_one_posterior(incomplete, whitened):
    plain = sample(incomplete, seed=8, plain=True, iter_warmup=700, **LIMITS)
    for name in ("difficulty", "dispersion", "intent_size"):
        one, other = np.atleast_1d(mean(whitened, name)), np.atleast_1d(mean(plain, name))
        error = np.hypot(errors(whitened, name), errors(plain, name))
        assert np.mean(np.abs(one - other) < MONTE_CARLO_ERRORS * error) > 0.95
        spread = [np.atleast_1d(i.posterior[name].std(("chain", "draw"))) for i in (whitened, plain)]
        np.testing.assert_allclose(spread[0], spread[1], rtol=2 * EXACT_SPREAD_RTOL)


def log_density(idata, bits):
    """Return the log-density of all cells by the paper's formula, cell by cell."""
    posterior = idata.posterior
    z = np.log(bits.loc[[*posterior["intent"].to_numpy()]].to_numpy())
    n, kappa = posterior["intent_size"].to_numpy()[..., None], posterior["dispersion"].to_numpy()[..., None, None]
    v = np.log1p(kappa) + 0 * n if posterior.attrs["model"] == "1" else np.log1p(kappa / n)
    location = np.log(n) + posterior["difficulty"].to_numpy()[:, :, None] + 0.5 * (np.log1p(kappa) - v)
    if posterior.attrs["model"] == "2L":
        return np.nansum(laplace.logpdf(z, location, np.sqrt(v / 2)), axis=(-2, -1))
    return np.nansum(norm.logpdf(z, location, np.sqrt(v)), axis=(-2, -1))


@few_draws
@pytest.mark.parametrize(
    ("model", "missing"), [("2", 0.0), ("2", 0.25), pytest.param("2L", 0.25, marks=pytest.mark.slow)]
)
def test_the_target_is_the_density_of_the_cells(model, missing):
    """Of 2L, whose maximum the fit finds at kinks, no draw is higher."""
    surprisals = simulate(30, 4, missing=missing, seed=9).surprisals
    bits = surprisals.bits[surprisals.bits.notna().sum(axis=1) > 1]
    idata = sample(bits, seed=3, chains=2, iter_sampling=200, model=model, **LIMITS)
    density = log_density(idata, bits)
    assert density.max() < fit(bits, model=model, restricted=False, clusters=None, dispersion="common").log_likelihood
    difference = density - idata.sample_stats["lp"].to_numpy()
    np.testing.assert_allclose(difference, difference[0, 0], atol=1e-6)  # a constant: flat priors, constant Jacobian


def test_names_and_facts(incomplete, whitened):
    posterior = whitened.posterior
    assert list(posterior["edition"].to_numpy()) == list(incomplete.columns)
    assert list(posterior["intent"].to_numpy()) == list(incomplete.index[incomplete.notna().sum(axis=1) > 1])
    assert posterior["difficulty"].dims == ("chain", "draw", "edition")
    assert posterior["intent_size"].dims == ("chain", "draw", "intent")
    assert posterior.sizes["chain"] == 4
    assert posterior.attrs["single_cell_intents"] == 1 + (incomplete.iloc[1:].notna().sum(axis=1) == 1).sum()
    assert {"model:2", "engine:pystan", "seed:1", "priors:flat"} <= set(posterior.attrs["signature"].split("|"))
    np.testing.assert_allclose(np.exp(posterior["difficulty"]).mean("edition"), 1, rtol=1e-12)
    np.testing.assert_allclose(np.expm1(posterior["sigma"] ** 2), posterior["dispersion"], rtol=1e-12)
    table = posterior_table(whitened)
    assert table["difficulty"].is_monotonic_decreasing
    assert ((table["low"] < table["difficulty"]) & (table["difficulty"] < table["high"])).all()


def test_the_posterior_is_where_the_fit_is(incomplete, whitened):
    point = fit(incomplete)
    assert (np.abs(mean(whitened, "difficulty") - point.difficulty) < 0.2 * point.std_error).all()
    ratio = whitened.posterior["difficulty"].std(("chain", "draw")) / point.std_error.to_numpy()
    assert float(np.abs(ratio - 1).max()) < 0.1  # the specification's agreement of standard errors


def test_predicted_bits_look_like_the_observed(incomplete, whitened):
    predicted, seen = whitened.posterior_predictive["bits"], whitened.observed_data["bits"]
    assert predicted.dims == ("chain", "draw", "intent", "edition")
    assert (predicted.sizes["chain"], predicted.sizes["draw"]) == (4, 100)  # of 1,000
    assert predicted.dtype == np.float32
    assert whitened.posterior_predictive.attrs["note"].startswith("bits of every 10th draw")
    known = seen.notnull().to_numpy()
    assert np.isnan(predicted.to_numpy()[:, :, ~known]).all()
    below = (predicted < seen).mean(("chain", "draw")).to_numpy()[known]
    assert 0.02 < np.mean((below > 0.05) & (below < 0.95)) <= 1
    assert abs(below.mean() - 0.5) < 0.05
    missing = whitened.predictions["missing_bits"]
    assert missing.sizes["cell"] == np.sum(~known)
    sizes = whitened.posterior["intent_size"].mean(("chain", "draw"))
    rows = np.argwhere(~known)[:, 0]
    assert np.corrcoef(np.log(missing.mean(("chain", "draw"))), np.log(sizes[rows]))[0, 1] > 0.9


@pytest.mark.filterwarnings("ignore:Passing a dict or None as alias_mapping")  # of Matplotlib, to ArviZ
def test_arviz_draws_a_posterior_predictive_check(whitened):
    axes = az.plot_ppc(whitened, num_pp_samples=20)
    observed = [line for line in axes.get_lines() if line.get_label() == "Observed"]
    assert len(axes.get_lines()) > 20
    assert observed
    plt.close("all")


@pytest.mark.slow
@few_draws
def test_a_seed_gives_the_same_draws_again(incomplete):
    short = {"chains": 2, "iter_sampling": 100, **LIMITS}
    one, same, other = (sample(incomplete, seed=seed, **short) for seed in (6, 6, 7))
    assert one.posterior["difficulty"].identical(same.posterior["difficulty"])
    assert not np.array_equal(one.posterior["difficulty"], other.posterior["difficulty"])
    assert not np.array_equal(one.posterior["difficulty"][0], one.posterior["difficulty"][1])  # nor do chains agree


@pytest.mark.slow
def test_strong_priors_rule(incomplete):
    priors = Priors(difficulty=1e-4, log_dispersion=(np.log(2.0), 1e-3), log_size=(5.0, 1e-3))
    idata = sample(incomplete, seed=1, priors=priors, inits="random", iter_warmup=500, max_treedepth=8, **LIMITS)
    assert np.abs(mean(idata, "difficulty")).max() < 1e-3
    assert mean(idata, "dispersion") == pytest.approx(2.0, rel=0.01)
    assert "difficulty~N(0,0.0001)" in idata.posterior.attrs["signature"]


@few_draws
@pytest.mark.parametrize(("depth", "steps"), [(2, 3), (None, 7)])
def test_trajectories_are_as_long_as_asked(incomplete, depth, steps):
    idata = sample(incomplete, seed=1, chains=2, iter_sampling=100, max_treedepth=depth, **LIMITS)
    assert int(idata.sample_stats["n_steps"].max()) == steps  # of about 0.5: a quarter turn


@few_draws
def test_inside_a_running_event_loop_and_silently(incomplete, capfd):
    async def notebook():
        return sample(incomplete, seed=1, chains=2, iter_sampling=100, **LIMITS)

    assert asyncio.run(notebook()).posterior.sizes["draw"] == 100
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_in_a_notebook():
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    cell = (
        "import json, langdiff as ld\n"
        "sampler = ld.regression.Sampler(chains=2, engine='pystan')\n"
        "idata = ld.sample(ld.simulate(30, 3, seed=1).surprisals, sampler=sampler, seed=1, progress=False)\n"
        "print(json.dumps(dict(idata.posterior.sizes)))"
    )
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell)])
    nbclient.NotebookClient(notebook, timeout=800, kernel_name="python3").execute()
    # stderr is left aside: whether R-hat of these few draws exceeds its limit depends on the processor
    printed = [output["text"] for output in notebook.cells[0].outputs if output.get("name") == "stdout"]
    assert json.loads("".join(printed)) == {"chain": 2, "draw": 1000, "edition": 3, "intent": 30}


def test_too_few_draws_are_not_called_good(incomplete):
    with pytest.warns(ConvergenceWarning, match=r"R-hat of .* is .*, above 1.01: the chains do not agree"):
        idata = sample(incomplete, seed=1, iter_warmup=20, iter_sampling=4, **LIMITS)
    assert not diagnose(idata).good


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": "2C"}, "no Stan program of model '2C'"),
        ({"engine": "jags"}, "engine is one of auto, cmdstan, pystan; got 'jags'"),
        ({"inits": "zero"}, "inits is one of .*'zero'"),
        ({"priors": {"difficulty": 1.0}}, r"priors must be Priors\(...\), not dict"),
        ({"chains": 0}, "chains must be at least 1, got 0"),
        ({"iter_warmup": 5}, "iter_warmup must be at least 20, got 5"),
        ({"target_accept": 1.0}, "target_accept must be between 0 and 1"),
        ({"model": "3"}, r"model '3' needs model=Blunders\(scale=b\)"),
        ({"log_lik": True}, "log_lik is one of intents.*; got True"),
        ({"log_lik": "intents"}, "needs intents='random'"),
        ({"model": "2L", "intents": "random", "log_lik": "intents"}, "is for models '1' and '2', not '2L'"),
    ],
)
def test_settings_out_of_range(incomplete, settings, message):
    refused(ConfigError, message, sample, incomplete, seed=1, **settings)


def test_improper_posteriors_are_refused():
    bits = pd.DataFrame({"a": [100.0, 52.0, 210.0], "b": [110.0, 54.0, 230.0]})
    refused(DataError, r"2 degree\(s\) of freedom .* needs at least 3", sample, bits, seed=1)


def test_missing_extra(incomplete, monkeypatch):
    monkeypatch.setattr(engines, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"PyStan is not installed: pip install 'langdiff\[stan\]'"):
        sample(incomplete, seed=1, **LIMITS)


def test_what_stan_refuses_comes_in_a_line(incomplete, monkeypatch):
    from langdiff.regression.stan.posterior import Posterior

    monkeypatch.setattr(Posterior, "start", lambda self, rng: {"a": [np.nan]})
    refused(SolverError, r"PyStan could not sample model_2.stan: [^\n]+$", sample, incomplete, seed=1, **LIMITS)


def test_what_a_fit_finds_of_clusters_is_told():
    rng = np.random.default_rng(0)
    names = [f"doc{document}_s{sentence}" for document in range(30) for sentence in range(10)]
    shared = np.repeat(rng.normal(0, 0.1, (30, 4)), 10, axis=0)
    bits = pd.DataFrame(150 * np.exp(shared + rng.normal(0, 0.1, (300, 4))), index=names, columns=list("abcd"))
    told = prepare(bits, variant=find_variant("2"), priors=Priors(), plain=False).independence
    effect = float(re.search(r"design effect of ([0-9.]+) by document: multiply", told)[1])
    assert effect == pytest.approx(1 + 9 * 0.5, rel=0.25)  # intraclass correlation .5, ten sentences a document
    apart = prepare(
        bits.sample(frac=1, random_state=0).set_axis(range(300)),
        variant=find_variant("2"),
        priors=Priors(),
        plain=False,
    )
    assert apart.independence == "intents are taken as independent, and langdiff.fit finds nothing against it"
