"""When fixed and when random intents are right: bias and coverage under several reasons for missing cells.

Tables of 1,000 × 5 (and 100 × 21) are drawn from models 1 and 2, with ln sizes that are normal, those of real verses
(characters, from an English Bible in the folder LANGDIFF_DATA, ../shared/data by default; standard deviation .45) or
exponential. All editions but the first lose cells, with odds e² per standard deviation of what the column names,
27 to 35 % of theirs. Every entry gives the bias of contrasts to the first edition in percent of bits, and the
coverage of 95 % intervals in percent. The last column says how often the test of their distance rejects at 5 % (of
model 2 with the restricted likelihood of fixed intents).

    OMP_NUM_THREADS=1 python benchmarks/random_intents.py [--tables 400] [--few 100]
"""

import argparse
import gzip
import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from langdiff.regression.kernel.integrated.comparisons import distance_of_fits, influence_of_fixed
from langdiff.regression.kernel.integrated.random import estimate_random
from langdiff.regression.kernel.two_way import solve_two_way
from langdiff.regression.variants import find_variant

DATA = Path(os.environ.get("LANGDIFF_DATA", "../shared/data"))
SIGMA, TAU, LEVEL = 0.17, 0.6, 0.1  # noise, spread of sizes, spread of difficulties; nats
MEAN = -np.log(np.expm1(SIGMA**2))  # of μ in model 2, so that a typical cell has noise of SIGMA too
LOG_ODDS, SLOPE = -1.0, 2.0  # of a missing cell, at the mean and per standard deviation of the reason
BOOKS, OF_BOOKS = 40, 0.3  # their number, and the standard deviation of their mean sizes
SIGNIFICANT = 0.05
REASONS = ("none missing", "at random", "z of edition 0", "true size", "own z")


class Fits(NamedTuple):
    """Errors of contrasts to the first edition and whether intervals hold the truth, (J − 1,); a p-value."""

    error: np.ndarray
    covered: np.ndarray
    p_value: float = np.nan


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=400, help="tables per entry of model 1")
    parser.add_argument("--few", type=int, default=100, help="tables per entry of model 2 and of free sizes")
    parser.add_argument(
        "--only", choices=("1", "2", "books", "free"), help="a part: reasons by model, books, free sizes"
    )
    options = parser.parse_args()
    if not (DATA / "bible").is_dir():
        print(f"no real data: {DATA / 'bible'} does not exist (set LANGDIFF_DATA)")
        return
    verses = verse_sizes()
    shapes = {
        "normal": lambda rng, n: TAU * rng.normal(size=n),
        "real verses": lambda rng, n: rng.choice(verses, n),
        "exponential": lambda rng, n: TAU * (rng.exponential(size=n) - 1),
    }
    if options.only in (None, "1", "2"):
        print_reasons(shapes, options)
    if options.only in (None, "books"):
        print_books(options)
    if options.only in (None, "free"):
        print_free(shapes, options)


def verse_sizes() -> np.ndarray:
    """Return ln characters of the verses of an English Bible, less their mean."""
    path = sorted((DATA / "bible").glob("eng-*.txt.gz"))[0]
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file if "\t" in line and not line.startswith("#")]
    sizes = np.log([len(row[1]) for row in rows if len(row) == 2 and row[1].strip()])
    return sizes - sizes.mean()


def draw(model: str, size: np.ndarray, editions: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return a complete table of log surprisals for ln sizes less their mean, and the difficulties."""
    c = rng.normal(0, LEVEL, editions)
    mu = MEAN + size
    v = np.full(len(mu), SIGMA**2) if model == "1" else np.logaddexp(0, -mu)
    location = mu if model == "1" else mu - 0.5 * v
    return location[:, None] + c + np.sqrt(v)[:, None] * rng.normal(size=(len(mu), editions)), c


def lose(z: np.ndarray, reason: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the table without cells that went missing for a reason, (I,) or (I, J); the first edition is whole."""
    reason = np.broadcast_to(reason if reason.ndim == 2 else reason[:, None], z.shape)
    x = (reason - reason.mean(axis=0)) / np.maximum(reason.std(axis=0), 1e-12)
    gone = rng.random(z.shape) < expit(LOG_ODDS + SLOPE * x)
    gone[:, 0] = False
    return np.where(gone, np.nan, z)


def with_gaps(z: np.ndarray, reason: str, size: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    match reason:
        case "none missing":
            return z
        case "at random":
            return lose(z, np.zeros(len(z)), rng)
        case "z of edition 0":
            return lose(z, z[:, 0], rng)
        case "true size":
            return lose(z, size, rng)
        case _:
            return lose(z, z, rng)


def judge(c: np.ndarray, covariance: np.ndarray, truth: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return errors of contrasts to the first edition and whether 95 % intervals hold the truth."""
    variance = np.diag(covariance)[1:] + covariance[0, 0] - 2 * covariance[0, 1:]
    error = (c[1:] - c[0]) - (truth[1:] - truth[0])
    return error, np.abs(error) <= 1.96 * np.sqrt(variance)


def fit_both(model: str, z: np.ndarray, truth: np.ndarray, books: np.ndarray | None = None) -> tuple[Fits, Fits]:
    """Fit with fixed and with random intents; the latter keeps the p-value of the distance."""
    shared = (~np.isnan(z)).sum(axis=1) > 1
    table = solve_two_way(z[shared])
    fixed = find_variant(model).estimate(table)
    tested = fixed if model == "1" else find_variant(model).estimate(table, restricted=True)
    random = estimate_random(z, model=model, covariates=books, max_iterations=200)
    influence = np.zeros(z.shape)
    influence[shared] = influence_of_fixed(table, model=model, c=tested.c, sizes=tested.sizes, restricted=model != "1")
    apart = distance_of_fits(tested.c, influence, random.c, random.influence())
    return (
        Fits(*judge(fixed.c, fixed.covariance, truth)),
        Fits(*judge(random.c, random.covariance, truth), apart.p_value),
    )


def entry(fits: list[Fits]) -> str:
    error, covered = np.mean([fit.error for fit in fits]), np.mean([fit.covered for fit in fits])
    return f"{100 * error:+.2f}, {100 * covered:.0f}"


def rejected(fits: list[Fits]) -> str:
    return f"{100 * np.mean([fit.p_value < SIGNIFICANT for fit in fits]):.1f}"


def repeat(tables: int, seed: int, once: Callable[[np.random.Generator], tuple[Fits, ...]]) -> list[list[Fits]]:
    """Return the fits of each kind over tables drawn anew, from a seed of their own each."""
    generators = np.random.default_rng(seed).spawn(tables)
    return [list(kind) for kind in zip(*(once(rng) for rng in generators), strict=True)]


def print_reasons(shapes: dict, options: argparse.Namespace) -> None:
    print("Bias (% of bits), coverage (%): fixed | random intents\n")
    print("| model, sizes, table | " + " | ".join(REASONS) + " | distance rejects, in the order of columns |")
    print("|---" * (len(REASONS) + 2) + "|")
    rows = [("1", name, 1000, 5, options.tables) for name in shapes]
    rows += [("1", "normal", 100, 21, options.tables)]
    rows += [("2", name, 1000, 5, options.few) for name in shapes]
    rows += [("2", "normal", 100, 21, options.few)]
    for model, name, intents, editions, tables in rows:
        if options.only not in (None, model):
            continue
        cells, tests = [], []
        for number, reason in enumerate(REASONS):

            def once(
                rng: np.random.Generator, reason=reason, name=name, model=model, shape=(intents, editions)
            ) -> tuple[Fits, Fits]:
                size = shapes[name](rng, shape[0])
                z, truth = draw(model, size, shape[1], rng)
                return fit_both(model, with_gaps(z, reason, size, rng), truth)

            fixed, random = repeat(tables, number, once)
            cells.append(f"{entry(fixed)} \\| {entry(random)}")
            tests.append(rejected(random) if reason != "none missing" or model == "2" else "–")
        label = f"{model}, {name}, {intents:,} × {editions}"
        print(f"| {label} | " + " | ".join(cells) + f" | {', '.join(tests)} |", flush=True)


def print_books(options: argparse.Namespace) -> None:
    """Whole books missing, the likelier the larger their mean size: model 1."""

    def once(rng: np.random.Generator) -> tuple[Fits, ...]:
        book = np.repeat(np.arange(BOOKS), 1000 // BOOKS)
        mean = rng.normal(0, OF_BOOKS, BOOKS)
        size = mean[book] + rng.normal(0, np.sqrt(TAU**2 - OF_BOOKS**2), len(book))
        z, truth = draw("1", size, 5, rng)
        lost = np.isnan(lose(np.zeros((BOOKS, 5)), mean, rng))
        z = np.where(lost[book], np.nan, z)
        dummies = (book[:, None] == np.arange(1, BOOKS)).astype(float)
        return *fit_both("1", z, truth), fit_both("1", z, truth, dummies)[1]

    fixed, random, with_books = repeat(options.tables, 7, once)
    print(f"\nWhole books missing by their mean size ({BOOKS} books), model 1\n")
    print("| fixed | random | random, book in w | distance rejects: without, with book |\n|---|---|---|---|")
    tests = f"{rejected(random)}, {rejected(with_books)}"
    print(f"| {entry(fixed)} | {entry(random)} | {entry(with_books)} | {tests} |", flush=True)


def print_free(shapes: dict, options: argparse.Namespace) -> None:
    """Cells missing by z of edition 0: sizes normal, and free on a grid."""
    print("\nMissing by z of edition 0, random intents: normal sizes | free sizes\n")
    print("| model, sizes | normal | free |\n|---|---|---|")
    for model, name in (("1", "exponential"), ("1", "real verses"), ("2", "exponential"), ("2", "real verses")):

        def once(rng: np.random.Generator, name=name, model=model) -> tuple[Fits, Fits]:
            size = shapes[name](rng, 1000)
            z, truth = draw(model, size, 5, rng)
            z = with_gaps(z, "z of edition 0", size, rng)
            kinds = [estimate_random(z, model=model, sizes=kind, max_iterations=200) for kind in ("normal", "free")]
            return tuple(Fits(*judge(found.c, found.covariance, truth)) for found in kinds)

        normal, free = repeat(options.few, 2, once)
        print(f"| {model}, {name} | {entry(normal)} | {entry(free)} |", flush=True)


if __name__ == "__main__":
    main()
