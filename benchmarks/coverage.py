"""Bias and coverage of every kind of interval, under every model, right and wrong: the table of the handbook.

For each pair of a true model and a fitted one, many tables are drawn and fitted. Printed are, over the
differences of difficulty to the first edition: the mean error in percent of bits (bias), the ratio of the
mean standard error to the spread of the errors (1 is right), and the share of 95 % intervals that hold the
truth.

    OMP_NUM_THREADS=1 python benchmarks/coverage.py            # the usual errors (sandwich), minutes
    OMP_NUM_THREADS=1 python benchmarks/coverage.py --errors information    # of models 1 and 2
    OMP_NUM_THREADS=1 python benchmarks/coverage.py --bootstrap 100 --tables 100
    OMP_NUM_THREADS=1 python benchmarks/coverage.py --posterior --tables 50   # needs the extra `stan`
"""

import argparse
import logging
import warnings
from typing import NamedTuple

import numpy as np

import langdiff as ld
from langdiff.errors import ConvergenceWarning
from langdiff.regression.variants import find_variant

INTENTS, EDITIONS = 300, 6
LAPLACE_SCALE = 0.03
MISSING = {"complete": 0.0, "20 % at random": 0.2, "half in two editions": 0.0}
PAIRS = [  # true model, fitted model, restricted
    ("1", "1", False), ("2", "2", False), ("2", "2", True), ("2L", "2", False), ("2L", "2", True), ("2C", "2", False),
    ("3", "2", False), ("1", "2", False), ("2", "1", False), ("2L", "1", False),
    ("2L", "2L", False), ("2L", "2L", True), ("2", "2L", False), ("2C", "2C", False), ("2", "2C", False),
    ("3", "3", False), ("2", "3", False),
]  # fmt: skip
FAST = ("1", "2")  # models for which all tables are fitted; a third for the others
POSTERIORS = [("1", "1"), ("2", "2"), ("2L", "2L"), ("2L", "2")]


class Result(NamedTuple):
    """Errors and standard errors of differences to the first edition, shape (tables, J − 1)."""

    errors: np.ndarray
    std_errors: np.ndarray

    def line(self) -> str:
        """Format bias, ratio of standard errors and coverage."""
        covered = np.abs(self.errors) < 1.959964 * self.std_errors
        share = covered.mean()
        spread = covered.mean(axis=1).std(ddof=1) / np.sqrt(len(covered))
        bias, noise = 100 * self.errors.mean(), 100 * self.errors.mean(axis=1).std(ddof=1) / np.sqrt(len(self.errors))
        ratio = self.std_errors.mean() / self.errors.std(axis=0, ddof=1).mean()
        return f"{bias:+.2f} ± {noise:.2f} | {ratio:.2f} | {100 * share:.1f} ± {100 * spread:.1f}"


def variant_of(model):
    return find_variant(model, laplace_scale=LAPLACE_SCALE if model == "3" else None)


def draw(true_model, missing, seed):
    truth = ld.simulate(
        INTENTS,
        EDITIONS,
        model=variant_of(true_model),
        missing=MISSING[missing],
        seed=seed,
    )
    surprisals = truth.surprisals
    bits = surprisals.bits
    if missing == "half in two editions":
        bits.iloc[: INTENTS // 2, 2:] = np.nan
    return truth.difficulty.to_numpy(), bits


def fitted(bits, model, restricted, bootstrap, errors, seed):
    fit = ld.fit(
        bits,
        model=variant_of(model),
        restricted=restricted,
        errors=ld.Bootstrap(bootstrap) if bootstrap else errors,
        seed=seed,
    )
    return fit.difficulty.to_numpy(), fit.covariance.to_numpy()


def sampled(bits, model, seed):
    posterior = ld.sample(bits, model=model, seed=seed, progress=False).posterior["difficulty"]
    draws = posterior.transpose("chain", "draw", "edition").to_numpy().reshape(-1, bits.shape[1])
    return draws.mean(axis=0), np.cov(draws, rowvar=False)


def measure(true_model, missing, tables, estimate):
    errors, std_errors = [], []
    for seed in range(tables):
        truth, bits = draw(true_model, missing, seed)
        difficulty, covariance = estimate(bits, seed)
        errors.append((difficulty - difficulty[0] - truth + truth[0])[1:])
        variances = np.diag(covariance) + covariance[0, 0] - 2 * covariance[0]
        std_errors.append(np.sqrt(variances[1:]))
    return Result(np.array(errors), np.array(std_errors))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--bootstrap", type=int, default=0, help="samples of intents; 0: none")
    parser.add_argument("--errors", choices=["information", "sandwich"], help="source of errors; the usual by default")
    parser.add_argument("--posterior", action="store_true", help="intervals from Stan")
    parser.add_argument("--missing", nargs="*", choices=list(MISSING), default=list(MISSING))
    options = parser.parse_args()
    logging.disable(logging.INFO)
    warnings.simplefilter("ignore", ConvergenceWarning)
    print(f"{INTENTS} × {EDITIONS}")
    print("| truth | fitted | missing | tables | bias, % of bits | standard error, mean / true | covered, % |")
    print("|---|---|---|---:|---:|---:|---:|")
    for missing in options.missing:
        if options.posterior:
            for true_model, model in POSTERIORS:

                def estimate(bits, seed, model=model):
                    return sampled(bits, model, seed)

                result = measure(true_model, missing, options.tables, estimate)
                line = f"| {true_model} | {model}, posterior | {missing} | {options.tables} | {result.line()} |"
                print(line, flush=True)
            continue
        for true_model, model, restricted in PAIRS:
            if options.errors == "information" and model not in FAST:
                continue

            def estimate(bits, seed, model=model, restricted=restricted):
                return fitted(bits, model, restricted, options.bootstrap, options.errors, seed)

            tables = options.tables if model in FAST else options.tables // 3
            result = measure(true_model, missing, tables, estimate)
            name = f"{model}, restricted" if restricted else model
            print(f"| {true_model} | {name} | {missing} | {tables} | {result.line()} |", flush=True)


if __name__ == "__main__":
    main()
