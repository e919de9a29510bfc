"""Editions that vary unequally: what a common dispersion costs, and which test of it can be believed.

Prints, as Markdown,

* coverage of 95 % intervals and bias of the worst contrast to the first edition, if the noise of editions differs by a
  factor of 4 in standard deviation: with a common dispersion, with that and the sandwich, with one per edition;
* how often tests at the 5 % level reject a common dispersion that is true, under normal and under t5 noise;
* how often a dispersion is at the boundary;
* coverage of intervals by the usual errors and by the information where the noise of all bits has one variance, which
  Model 2 does not expect, with fixed and random intents and with a dispersion per edition.

    OMP_NUM_THREADS=1 python benchmarks/unequal_noise.py
"""

import argparse
import logging
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd

import langdiff as ld
from langdiff.regression.kernel.integrated.comparisons import (
    bootstrap_wald,
    compare_dispersions,
    sandwich_covariance,
)
from langdiff.regression.kernel.integrated.unequal import estimate_unequal
from langdiff.tables.rule import likelihood_ratio

MEAN, TAU = 4.5, 0.6  # of ln n
RATIOS = 2.0 ** np.linspace(-1, 1, 5)  # of the standard deviations of editions, .5 to 2
SIZES = [(1000, 5), (100, 5)]
NINETY_FIVE = 1.959964
PERCENT = 100


class Method(NamedTuple):
    """A way to make intervals: name, whether each edition has a dispersion, whether errors are the sandwich's."""

    name: str
    own: bool
    sandwich: bool


METHODS = [
    Method("common dispersion", own=False, sandwich=False),
    Method("common, sandwich", own=False, sandwich=True),
    Method("own", own=True, sandwich=False),
    Method("own, sandwich", own=True, sandwich=True),
]


def normal(rng, shape):
    return rng.standard_normal(shape)


def t5(rng, shape):
    return rng.standard_t(5, shape) * np.sqrt(3 / 5)  # of variance 1


NOISES = {"normal": normal, "t5": t5}


def draw(model, intents, deviations, rng, noise=normal):
    """Draw log surprisals of editions that are equally difficult: in median (model 1), in expected bits (2)."""
    m = rng.normal(MEAN, TAU, (intents, 1))
    if model == "1":
        return m + deviations * noise(rng, (intents, len(deviations)))
    v = np.log1p(np.expm1(deviations**2) * np.exp(MEAN - m))  # `deviations` at the middle size
    return m - v / 2 + np.sqrt(v) * noise(rng, v.shape)


def fits(z, model):
    """Fit with a dispersion per edition, and with a common one."""
    groups = np.arange(z.shape[1]), np.zeros(z.shape[1], int)
    return [estimate_unequal(z, model=model, group=group) for group in groups]


def worst_contrast(model, intents, deviations, tables, rng):
    """Return for each method the largest bias, and the worst coverage of contrasts to edition 0 and of all, in %."""
    pairs = np.array(list(combinations(range(len(deviations)), 2)))
    one, other = pairs.T
    errors, covered = np.empty((len(METHODS), tables, len(pairs))), np.empty((len(METHODS), tables, len(pairs)))
    for table in range(tables):
        own, common = fits(draw(model, intents, deviations, rng), model)
        for k, method in enumerate(METHODS):
            found = own if method.own else common
            covariance = sandwich_covariance(found) if method.sandwich else found.covariance
            variance = np.diag(covariance)
            contrasts = found.c[one] - found.c[other]  # medians in model 1, expected bits in model 2
            std_errors = np.sqrt(variance[one] + variance[other] - 2 * covariance[one, other])
            errors[k, table], covered[k, table] = contrasts, np.abs(contrasts) < NINETY_FIVE * std_errors
    bias, coverage = PERCENT * errors.mean(axis=1), PERCENT * covered.mean(axis=1)
    to_first = one == 0
    return np.abs(bias[:, to_first]).max(axis=1), coverage[:, to_first].min(axis=1), coverage.min(axis=1)


def coverage_table(tables, rng):
    print(f"Standard deviations {RATIOS.round(2).tolist()} times sigma, {tables} tables\n")
    print("| model | sigma | table | dispersion | largest bias, % | worst coverage, % | worst of all pairs, % |")
    print("|---|---|---|---|---:|---:|---:|")
    for model, sigma in (("1", 0.17), ("2", 0.17), ("2", 0.1)):
        for intents, editions in SIZES:
            found = worst_contrast(model, intents, sigma * RATIOS, tables, rng)
            for method, *figures in zip(METHODS, *found, strict=True):
                bias, worst, of_all = figures
                row = f"{model} | {sigma} | {intents:,} × {editions} | {method.name}"
                print(f"| {row} | {bias:.2f} | {worst:.1f} | {of_all:.1f} |", flush=True)


def rejections(model, intents, editions, noise, tables, resamples, rng):
    """Return the shares of tables in which likelihood ratio, Wald test and bootstrap reject at 5 %."""
    p_values = []
    for _ in range(tables):
        z = draw(model, intents, np.full(editions, 0.17), rng, noise)
        own, common = fits(z, model)
        found = compare_dispersions(own)
        ratio_p = likelihood_ratio(own.log_likelihood, common.log_likelihood, found.degrees).p
        p_values.append([ratio_p, found.wald_p, np.nan])
        if resamples:

            def resample(z=z):
                again = estimate_unequal(z[rng.integers(intents, size=intents)], model=model, group=np.arange(editions))
                return again, sandwich_covariance(again)

            p_values[-1][2] = bootstrap_wald(own, resample, n_resamples=resamples)
    return PERCENT * np.mean(np.array(p_values) < 0.05, axis=0)


def rejection_table(tables, few, resamples, rng):
    print(f"\nTests of a common dispersion that is true, 5 % level; model 1 {tables} tables, model 2 {few};")
    print(f"bootstrap {few} tables of {resamples} samples of intents\n")
    print("| model | table | noise | likelihood ratio, % | Wald, % | Wald by bootstrap, % |")
    print("|---|---|---|---:|---:|---:|")
    for model in ("1", "2"):
        for intents, editions in SIZES:
            for name, noise in NOISES.items():
                drawn = tables if model == "1" else few
                ratio, wald, _ = rejections(model, intents, editions, noise, drawn, 0, rng)
                last = "–"
                if (model, intents) == ("1", 100):
                    last = f"{rejections(model, intents, editions, noise, few, resamples, rng)[2]:.1f}"
                size = f"{intents:,} × {editions}"
                print(f"| {model} | {size} | {name} | {ratio:.1f} | {wald:.1f} | {last} |", flush=True)


def boundary_table(tables, rng):
    print(f"\nA dispersion at the boundary, 100 × 3, model 1, {tables} tables\n")
    print("| standard deviations | at the boundary, % | a moment estimate is negative, % |")
    print("|---|---:|---:|")
    for deviations in ([0.5, 1, 2], [1, 1, 1], [0.5, 1.25, 2], [1, 1, 4], [1, 4, 4], [0.7, 1, 1.4]):
        at_boundary = negative = 0
        for _ in range(tables):
            z = draw("1", 100, 0.17 * np.array(deviations), rng)
            at_boundary += estimate_unequal(z, model="1", group=np.arange(3)).boundary.any()
            products = [np.cov(z[:, j] - z[:, j - 1], z[:, j] - z[:, j - 2])[0, 1] for j in range(3)]
            negative += min(products) < 0  # the estimate of Grubbs
        shares = f"{PERCENT * at_boundary / tables:.1f} | {PERCENT * negative / tables:.1f}"
        print(f"| {deviations} | {shares} |", flush=True)


def gamma(rng, shape):
    variance = np.expm1(0.17**2)
    return rng.gamma(1 / variance, variance, shape)


def lognormal(rng, shape):
    return np.exp(rng.normal(-(0.17**2) / 2, 0.17, shape))


def constant_table(tables, seed):
    print(f"\nNoise .17 of one variance, sizes of 150 bits and s.d. .6, Model 2, 300 × 5, all pairs, {tables} tables\n")
    print("| bits | fit | errors | covered, % | worst pair, % |")
    print("|---|---|---|---:|---:|")
    truth, pairs = np.array([0, -0.05, 0.05, -0.1, 0.1]), list(combinations(range(5), 2))
    for noise in (gamma, lognormal):
        for settings in ({}, {"intents": "random"}, {"dispersion": "edition"}):
            for errors in ("information", None):
                covered = np.empty((tables, len(pairs)))
                for table in range(tables):
                    rng = np.random.default_rng([seed, table])
                    bits = np.exp(rng.normal(np.log(150), TAU, (300, 1)) + truth) * noise(rng, (300, 5))
                    fit = ld.fit(pd.DataFrame(bits), errors=errors, **settings)
                    for k, (one, other) in enumerate(pairs):
                        contrast = fit.contrast(one, other)
                        covered[table, k] = contrast.low <= truth[one] - truth[other] <= contrast.high
                mean, spread = covered.mean(), covered.mean(axis=1).std(ddof=1) / np.sqrt(tables)
                named = ", ".join(f"{key} {value}" for key, value in settings.items()) or "default"
                row = (
                    f"| {noise.__name__} | {named} | {fit.errors.kind} | {PERCENT * mean:.1f} ± {PERCENT * spread:.1f}"
                )
                print(f"{row} | {PERCENT * covered.mean(axis=0).min():.1f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    known = ["coverage", "boundary", "tests", "constant"]
    parser.add_argument("parts", nargs="*", default=known, help=f"{', '.join(known)}; by default all")
    parser.add_argument("--tables", type=int, default=400)
    parser.add_argument("--few", type=int, default=100, help="tables of what is slow: tests of model 2, bootstrap")
    parser.add_argument("--resamples", type=int, default=99)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if unknown := set(options.parts) - {*known}:
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    if "coverage" in options.parts:
        coverage_table(options.tables, np.random.default_rng(options.seed))
    if "boundary" in options.parts:
        boundary_table(options.tables, np.random.default_rng(options.seed))
    if "tests" in options.parts:
        rejection_table(options.tables, options.few, options.resamples, np.random.default_rng(options.seed))
    if "constant" in options.parts:
        logging.disable(logging.INFO)
        constant_table(options.tables, options.seed)


if __name__ == "__main__":
    main()
