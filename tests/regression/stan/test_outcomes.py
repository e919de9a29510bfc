"""The Stan twin of `fit_outcomes`: densities in NumPy, marginal likelihood, ranks of true values, separated tables."""

import json
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit
from scipy.stats import betabinom, binom, norm
from typer.testing import CliRunner

import langdiff as ld
from langdiff.cli.app import app
from langdiff.errors import ConfigError, DataError
from langdiff.regression import posterior_table
from langdiff.regression.outcomes import sampling
from langdiff.regression.stan.engines import Request, sample_pystan
from tests.helpers import refused
from tests.regression.outcomes.conftest import B_TRIALS, B, outcomes_of
from tests.regression.stan.conftest import sample_outcomes

LIMITS = {"engine": "pystan", "progress": False}
compiles = pytest.mark.slow  # a program of its own, which takes more than a minute
ROUNDING = 1e-8
PRIORS = ld.OutcomePriors()
RANKS = 9  # places among draws, so that 0 … 9


def draws_of(outcomes, *, iter_sampling=40, seed=1, **settings):
    arguments = {"model": "auto", "by": None, "formula": None, "clusters": None, "cell_noise": False, "priors": PRIORS}
    prepared = sampling._prepare(outcomes, **(arguments | settings))
    start = sampling._start(prepared, np.random.default_rng(seed))
    with tempfile.TemporaryDirectory() as folder:
        request = Request(
            program=sampling.write_program(prepared.structure.likelihood, Path(folder)),
            whitened=False,
            data=prepared.data,
            inits=[start],
            chains=1,
            iter_warmup=30,
            iter_sampling=iter_sampling,
            seed=seed,
            target_accept=0.8,
            max_treedepth=5,
            progress=False,
        )
        return prepared, {name: values[0] for name, values in sample_pystan(request).items()}


def log_density(data, draws):
    """The definition, draw by draw, with the Jacobians of σ = e^x and ρ = logistic(x)."""
    item, system = data["item"] - 1, data["system"] - 1
    found = []
    for i in range(len(draws["level"])):
        one = {name: values[i] for name, values in draws.items()}
        ability = data["centred"] @ one["a"]
        loading = np.exp(data["centred"] @ one["l"]) if data["slopes"] else np.ones(data["J"])
        deviation = one["spread"] * one["v"]
        if data["C"]:
            deviation = deviation + one["cluster_spread"][0] * one["u"][np.array(data["cluster"]) - 1]
        eta = ability[system] - (one["level"] + data["x"] @ one["slope"])[item] - loading[system] * deviation[item]
        if data["cell_noise"]:
            eta = eta - one["cell_spread"][0] * one["e"]
        s, t, p = data["successes"], data["trials"], expit(eta)
        if "correlation" in one:
            d = (1 - one["correlation"][0]) / one["correlation"][0]
            total = betabinom.logpmf(s, t, p * d, (1 - p) * d).sum()
            total += np.log(one["correlation"][0] * (1 - one["correlation"][0]))
        else:
            total = binom.logpmf(s, t, p).sum()
        total += sum(norm.logpdf(one[name]).sum() for name in ("v", "u", "e"))
        total += norm.logpdf(one["level"], 0, 1.5) + norm.logpdf(one["a"], 0, 1.5).sum()
        total += norm.logpdf(one["slope"]).sum() + norm.logpdf(one["l"], 0, 0.5).sum()
        for spread in (one["spread"], *one["cluster_spread"], *one["cell_spread"]):
            total += norm.logpdf(spread) + np.log(spread)
        found.append(total)
    return np.array(found)


@compiles
@pytest.mark.parametrize(
    "settings",
    [
        {"model": "rasch", "by": "construction"},
        {"model": "beta-binomial", "formula": "length", "clusters": "document"},
        {"model": "slopes", "clusters": "document"},
        {"cell_noise": True, "by": "construction"},
    ],
)
def test_the_program_has_the_density_of_the_model(settings):
    attributes = {"construction": ["easy"] * 3 + ["hard"] * 3, "document": list("aabbcc"), "length": [3, 5, 2, 8, 1, 4]}
    prepared, draws = draws_of(outcomes_of(B, B_TRIALS, **attributes), **settings)
    apart = draws["lp__"] - log_density(prepared.data, draws)
    assert np.ptp(draws["lp__"]) > 1
    assert_allclose(apart, apart[0], atol=ROUNDING)


@compiles
def test_means_are_those_of_the_marginal_likelihood():
    outcomes = ld.simulate_outcomes(500, 5, groups={"a": 0.0, "b": 1.0}, seed=2).outcomes
    fit = ld.fit_outcomes(outcomes, by="group")
    idata = sample_outcomes(outcomes, by="group", seed=1, chains=2, **LIMITS)
    table = posterior_table(idata)
    assert ld.diagnose(idata).good
    apart = (table["mean"].to_numpy() - fit.parameters["estimate"].to_numpy()) / table["sd"].to_numpy()
    assert np.abs(apart).max() < 0.15  # of a standard deviation: .1 and the Monte Carlo error of two chains
    assert_allclose(table["sd"], fit.parameters["std_error"], rtol=0.15)
    items = idata.posterior["item_difficulty"].mean(("chain", "draw")).to_numpy()
    assert np.corrcoef(items, fit.items["difficulty"])[0, 1] > 0.999


@compiles
@pytest.mark.filterwarnings("ignore::langdiff.errors.ConvergenceWarning")  # short chains
def test_ranks_of_true_values_are_uniform():
    """Talts et al. (2018), with parameters from the priors; few tables, so that gross errors only are found."""
    ranks = []
    for seed in range(24):
        rng = np.random.default_rng(seed)
        ability = rng.normal(0, 1.5, 3)
        level, spread = rng.normal(0, 1.5), abs(rng.normal())
        truth = ability - ability.mean()
        drawn = ld.simulate_outcomes(
            40, 3, abilities=list(truth), groups={"only": level}, spread=spread, trials=3, seed=rng
        )
        _, draws = draws_of(drawn.outcomes, model="rasch", iter_sampling=270, seed=seed)
        for name, true in (("level", level), ("spread", spread)):
            ranks.append(int((draws[name][RANKS * 3 :: 27] < true).sum()))
        ranks += [int((draws["ability"][RANKS * 3 :: 27, j] < truth[j]).sum()) for j in (0, 1)]
    counts = np.bincount(ranks, minlength=RANKS + 1)
    expected = len(ranks) / (RANKS + 1)
    assert ((counts - expected) ** 2 / expected).sum() < 35  # χ² of 9 degrees of freedom; ranks of a table depend


@compiles
def test_a_separated_table_has_a_posterior(tmp_path):
    cells = pd.DataFrame(ld.simulate_outcomes(40, 3, seed=1).outcomes.successes)
    cells["s3"] = 1.0  # it is always right
    refused(DataError, "'s3' has all 40 right", ld.fit_outcomes, ld.Outcomes(successes=cells))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        idata = sample_outcomes(ld.Outcomes(successes=cells), seed=1, **LIMITS)
    assert ld.diagnose(idata).divergences == 0
    assert posterior_table(idata).loc["ability", "mean"].idxmax() == "s3"
    path = tmp_path / "cells.csv"
    ld.Outcomes(successes=cells).save(path)
    run = ["outcomes", "sample", str(path), "--engine", "pystan", "--seed", "1"]
    ran = CliRunner().invoke(app, [*run, "--json", "--out", str(tmp_path / "draws.nc")])
    assert ran.exit_code == 0, ran.output
    found = pd.DataFrame(json.loads(ran.stdout))
    assert_allclose(found["mean"], posterior_table(idata)["mean"])
    assert (tmp_path / "draws.nc").stat().st_size > 1000


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": "conditional"}, "unknown model 'conditional'"),
        ({"model": "beta-binomial", "cell_noise": True}, "has noise already"),
        ({"clusters": "document"}, "not an attribute"),
        ({"chains": 0}, "chains must be at least 1"),
        ({"engine": "jags"}, "engine is one of"),
    ],
)
def test_options_that_do_not_fit_are_refused(settings, message):
    refused(ConfigError, message, sample_outcomes, outcomes_of(B, B_TRIALS), seed=1, **settings)


def test_what_cannot_be_sampled_is_said():
    single = ld.simulate_outcomes(20, 3, seed=1).outcomes
    refused(DataError, "nothing of noise", sample_outcomes, single, cell_noise=True, seed=1)
    refused(ConfigError, "prior spread=0", ld.OutcomePriors, spread=0)


def test_draws_are_named_and_on_the_published_scale():
    """Made-up draws: groups by contrasts, items by what covariates say and their deviation."""
    outcomes = outcomes_of(B, B_TRIALS, construction=["easy"] * 3 + ["hard"] * 3, length=[3, 5, 2, 8, 1, 4])
    settings = {"formula": "length", "clusters": None, "cell_noise": False, "priors": PRIORS}
    prepared = sampling._prepare(outcomes, "rasch", None, **settings)
    rng = np.random.default_rng(0)
    shapes = {"ability": (3,), "loading": (3,), "level": (), "slope": (1,), "spread": (), "deviation": (6,)}
    shapes |= dict.fromkeys(("correlation", "cluster_spread", "cell_spread"), (0,))
    draws = {name: rng.normal(size=(2, 50, *shape)) for name, shape in shapes.items()}
    idata = sampling._label(draws, outcomes, prepared)
    assert set(idata.posterior.data_vars) == {"ability", "difficulty", "term", "spread", "item_difficulty"}
    length = outcomes.items["length"] - outcomes.items["length"].mean()
    item = draws["level"][..., None] + draws["slope"] * length.to_numpy() + draws["deviation"]
    assert_allclose(idata.posterior["item_difficulty"], item)
    grouped = sampling._prepare(outcomes, "rasch", "construction", None, None, False, PRIORS)
    by_group = sampling._label(draws, outcomes, grouped).posterior["difficulty"]
    assert_allclose(by_group.mean("group"), draws["level"])
    assert by_group["group"].to_numpy().tolist() == ["easy", "hard"]
    table = posterior_table(idata)
    assert table.index.names == ["parameter", "name"]
    assert table.loc[("term", "length"), "mean"] == pytest.approx(draws["slope"].mean())
    judged = {"spread", "difficulty[all]", "term[length]", *(f"ability[s{j}]" for j in (1, 2, 3))}
    assert ld.diagnose(idata).worst in judged
