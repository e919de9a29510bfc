"""Simulation-based calibration of the Stan programs of models 1 and 2 (Talts et al. 2018).

    python benchmarks/calibration.py [--sets 120] [--seed 0] [--out calibration.svg]

Parameters are drawn from proper priors, data from the parameters, and the rank of the truth among posterior
draws must be uniform. Prints a chi-squared test for each quantity, and draws the distribution of ranks if asked.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.special import logsumexp
from scipy.stats import chisquare

import langdiff as ld
from langdiff.base.progress import progress_bar
from langdiff.errors import LangdiffWarning
from langdiff.regression import Sampler
from langdiff.regression.stan.posterior import Priors

INTENTS, EDITIONS, MISSING = 12, 4, 0.15
RANKS = 100  # possible: draws thinned to 99
BINS = 10
PRIORS = {
    "1": Priors(log_size=(5.0, 0.5), difficulty=0.1, log_dispersion=(float(np.log(0.04)), 0.4)),
    "2": Priors(log_size=(5.0, 0.5), difficulty=0.1, log_dispersion=(float(np.log(4.0)), 0.4)),
}


def draw_truth(model, rng):
    """Draw difficulties, log sizes and log dispersion from the priors, and a table from them."""
    priors = PRIORS[model]
    d = rng.normal(0, priors.difficulty, EDITIONS)
    d -= logsumexp(d) - np.log(EDITIONS)  # what the prior is on, its contrasts, stay
    log_size, log_kappa = rng.normal(*priors.log_size, INTENTS), rng.normal(*priors.log_dispersion)
    surprisals = ld.simulate(
        INTENTS,
        EDITIONS,
        model=model,
        sigma=float(np.sqrt(np.log1p(np.exp(log_kappa)))),
        difficulties=d,
        intent_sizes=np.exp(log_size),
        missing=MISSING,
        seed=rng,
    ).surprisals
    return d, log_size, log_kappa, surprisals


def ranks_of_truth(model, rng):
    """Return the rank of each true quantity among thinned posterior draws; None if the table joins no editions."""
    d, log_size, log_kappa, surprisals = draw_truth(model, rng)
    try:
        idata = ld.sample(
            surprisals,
            model=model,
            priors=PRIORS[model],
            sampler=Sampler(engine="pystan", chains=2, iter_sampling=500),
            seed=rng,
            progress=False,
        )
    except ld.errors.DataError:
        return None
    posterior = idata.posterior.stack(sample=("chain", "draw")).isel(sample=slice(None, None, 10))
    first = posterior["intent"].to_numpy()[0]
    truth = {f"difficulty[{j}]": d[j] for j in range(EDITIONS)}
    draws = {f"difficulty[{j}]": posterior["difficulty"].isel(edition=j) for j in range(EDITIONS)}
    truth |= {"log dispersion": log_kappa, "log size": log_size[int(first) - 1]}
    draws |= {"log dispersion": np.log(posterior["dispersion"]), "log size": np.log(posterior["intent_size"][0])}
    return {name: int((draws[name].to_numpy()[: RANKS - 1] < truth[name]).sum()) for name in truth}


def plot(ranks, path):
    """Draw the distribution of ranks less the uniform one, with a 95 % band for each point."""
    models, names = list(ranks), list(next(iter(ranks.values())))
    figure = Figure(figsize=(2.2 * len(names), 2.2 * len(models)), layout="constrained")
    axes = figure.subplots(len(models), len(names), sharex=True, sharey=True, squeeze=False)
    for row, model in zip(axes, models, strict=True):
        for ax, name in zip(row, names, strict=True):
            x = (np.sort(ranks[model][name]) + 0.5) / RANKS
            ecdf = np.arange(1, len(x) + 1) / len(x)
            grid = np.linspace(0, 1, 101)
            band = 1.96 * np.sqrt(grid * (1 - grid) / len(x))
            ax.fill_between(grid, -band, band, color="#d5d5d5", linewidth=0)
            ax.step(x, ecdf - x, where="post", color="#2a6f97")
            ax.set_title(f"model {model}, {name}", fontsize=8)
    axes[-1][0].set(xlabel="rank of the truth", ylabel="share below, less uniform")
    figure.savefig(path)


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--sets", type=int, default=120)
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--out", type=Path, help="draw the ranks here (.svg, .png, .pdf)")
    chosen = arguments.parse_args()
    warnings.simplefilter("ignore", LangdiffWarning)  # two chains of 500: R-hat is 1.01 now and then
    ranks, worst = {}, 1.0
    for model, rng in zip(PRIORS, np.random.default_rng(chosen.seed).spawn(len(PRIORS)), strict=True):
        begin, found = time.perf_counter(), []
        with progress_bar() as bar:
            task = bar.add_task(f"model {model}", total=chosen.sets, note="")
            while len(found) < chosen.sets:
                if (rank := ranks_of_truth(model, rng)) is not None:
                    found.append(rank)
                    bar.advance(task)
        ranks[model] = pd.DataFrame(found)
        print(f"model {model}: {chosen.sets} tables of {INTENTS} x {EDITIONS}, {time.perf_counter() - begin:.0f} s")
        for name, column in ranks[model].items():
            counts = np.histogram(column, bins=BINS, range=(0, RANKS))[0]
            p = float(chisquare(counts).pvalue)
            worst = min(worst, p)
            print(f"  {name:<16} chi-squared p = {p:.3f}, mean rank {column.mean() / (RANKS - 1):.3f}", flush=True)
    if chosen.out is not None:
        plot(ranks, chosen.out)
    tests = sum(frame.shape[1] for frame in ranks.values())
    print(
        f"smallest p = {worst:.3f}; of {tests} uniform ones the smallest is below {1 - 0.99 ** (1 / tests):.4f} in 1 %"
    )
    raise SystemExit(worst < 1 - 0.99 ** (1 / tests))


if __name__ == "__main__":
    main()
