"""Intervals of differences from several seeds: of the fit alone, with each edition's spread, and with the pooled one.

Prints as Markdown how often 95 % intervals of differences of difficulty hold the truth, if the language models
of every edition are trained from R seeds and model 1 is fitted to the mean of log bits.

    OMP_NUM_THREADS=1 python benchmarks/seeds.py
"""

import argparse
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.stats import t as student

from langdiff.regression.kernel.two_way import normalized_covariance, solve_two_way
from langdiff.regression.seeds import combine_seeds
from langdiff.regression.variants.normal import LogNormal
from langdiff.tables.effects import Effects
from langdiff.tables.surprisals import Surprisals

CASES = [(0.012, 3, 5), (0.006, 2, 2), (0.0, 3, 5)]  # standard deviation of a seed, seeds, editions
SHARED, OWN = 0.17, 0.05  # standard deviations of log bits that seeds share, and of one seed
INTENTS, TAU = 1000, 0.6


def draw(rng, seed_sd, seeds, editions):
    """Draw the tables of all seeds; editions are equally difficult."""
    shape = INTENTS, editions
    shared = rng.normal(4.5, TAU, (INTENTS, 1)) + rng.normal(0, SHARED, shape)
    tables = []
    for luck in rng.normal(0, seed_sd, (seeds, editions)):
        tables.append(Surprisals(bits=pd.DataFrame(np.exp(shared + luck + rng.normal(0, OWN, shape)))))
    return tables


def fit_model_1(table):
    """Return the effects that `langdiff.fit` gives for model 1, without its checks."""
    found = LogNormal().estimate(solve_two_way(np.log(table.bits.to_numpy())))
    difficulty = pd.Series(found.c - np.log(np.mean(np.exp(found.c))))
    return Effects.from_covariance(
        difficulty, covariance=pd.DataFrame(normalized_covariance(found.covariance, found.c))
    )


def covered(found, of_intents):
    """Return for every difference whether intervals of the fit, of own spread and of pooled spread hold 0."""
    estimates, seeds = found.effects.estimate.to_numpy(), found.n_seeds
    fit, both = found.of_intents.to_numpy(), found.effects.covariance.to_numpy()
    degrees = found.degrees_of_freedom(of_intents).to_numpy()
    rows = []
    for j, k in combinations(range(len(estimates)), 2):
        error = abs(estimates[j] - estimates[k])
        alone = fit[j, j] + fit[k, k] - 2 * fit[j, k]
        pooled = both[j, j] + both[k, k] - 2 * both[j, k]
        difference = found.by_seed.loc[j] - found.by_seed.loc[k]
        spread = difference.var(ddof=1) / seeds
        own_degrees = (alone + spread) ** 2 / (spread**2 / (seeds - 1) + alone**2 / of_intents)
        widths = [
            student.ppf(0.975, of_intents) * alone**0.5,
            student.ppf(0.975, own_degrees) * (alone + spread) ** 0.5,
            student.ppf(0.975, degrees[j, k]) * pooled**0.5,
        ]
        rows.append([error < width for width in widths])
    return np.mean(rows, axis=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    print(f"{INTENTS:,} intents, model 1, {options.tables:,} tables; coverage of 95 % intervals, %\n")
    print("| s.d. of a seed | seeds | editions | fit alone | spread of the pair, t | spread of all pooled, t |")
    print("|---:|---:|---:|---:|---:|---:|")
    for seed_sd, seeds, editions in CASES:
        of_intents = (INTENTS - 1) * (editions - 1)
        shares = [
            covered(combine_seeds(draw(rng, seed_sd, seeds, editions), fit_model_1), of_intents)
            for _ in range(options.tables)
        ]
        figures = " | ".join(f"{100 * share:.1f}" for share in np.mean(shares, axis=0))
        print(f"| {seed_sd} | {seeds} | {editions} | {figures} |", flush=True)


if __name__ == "__main__":
    main()
