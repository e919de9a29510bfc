"""The torture table: what intervals of the shortest call cover on tables of every kind that users bring.

Bits are drawn as gamma, log-normal or t5 noise around sizes times difficulties, never from a model of the package.
Prints, as Markdown, one row per kind of table: coverage of 95 % intervals for all pairs of editions and of the worst
pair, in percent, by ``fit(table, clusters=None, dispersion="common")`` and by ``fit(table)``; the median width of
the latter over that of a fit that is told the clusters and dispersions; and what the audit found.

    OMP_NUM_THREADS=1 python benchmarks/torture.py --tables 400 --jobs 2
    python benchmarks/torture.py --rows 8 9 12 --tables 40
"""

import argparse
import logging
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import t as student

import langdiff as ld
from langdiff.tables.surprisals import Surprisals

SEED = 41
MIDDLE, SPREAD, NOISE = 150.0, 0.6, 0.17  # bits of the middle size; s.d. of ln sizes; s.d. of ln bits at that size
CORRELATION = 0.1  # within clusters
PERCENT = 100
ASKED = 50  # tables that are also fitted with all that is true told
UNEQUAL = np.array([0.5, 0.7, 1.0, 1.4, 2.0])
# verses of the 27 books of the New Testament, Matthew to Revelation
BOOKS = [1071, 678, 1151, 879, 1007, 433, 437, 257, 149, 155, 104, 95, 89, 47]
BOOKS += [113, 83, 46, 25, 303, 108, 105, 61, 105, 13, 14, 25, 404]
FIRST_BOOK = 40  # Matthew, in verse ids

Groups = Callable[[np.random.Generator, int], np.ndarray]


class Row(NamedTuple):
    """One kind of table: its noise, the clusters of its intents and how these are told, and what is missing."""

    name: str
    words: str
    intents: int
    deviations: np.ndarray = np.ones(5)  # of the noise of each edition, relative
    noise: str = "gamma"
    constant: bool = False  # the noise has the same variance for all sizes
    groups: Groups | None = None
    told: str = "rows"  # how intents are named: rows, verses, column, names
    missing: str | None = None
    exchanged: float = 0.0  # share of cells
    families: int = 0
    fails: bool = False
    expected: tuple[str, ...] = ()  # what the audit should find
    tables: int | None = None  # at most


def equal(number: int) -> Groups:
    return lambda _, intents: np.arange(intents) * number // intents


def in_proportion(weights: np.ndarray, intents: int) -> np.ndarray:
    """Return the cluster of every intent, in order: sizes in proportion to weights, at least one intent each."""
    sizes = np.maximum(1, np.floor(weights / weights.sum() * intents).astype(int))
    sizes[np.argmax(sizes)] += intents - sizes.sum()
    return np.repeat(np.arange(len(weights)), sizes)


def lognormal(number: int) -> Groups:
    return lambda rng, intents: in_proportion(np.exp(rng.normal(0, 1, number)), intents)


def testament(_: np.random.Generator, intents: int) -> np.ndarray:
    return in_proportion(np.array(BOOKS, float), intents)


def documents(rng: np.random.Generator, intents: int) -> np.ndarray:
    sizes = 1 + rng.poisson(7, intents)
    return np.repeat(np.arange(intents), sizes)[:intents]


def books(number: int) -> Groups:
    return lambda rng, intents: np.sort(rng.integers(0, number, intents))


ROWS = [
    Row("1", "complete 60 × 5", 60),
    Row("2", "complete 300 × 5", 300),
    Row("3", "two editions, 300 × 2", 300, np.ones(2)),
    Row("4", "noise of constant variance, log-normal, 300 × 5", 300, noise="lognormal", constant=True),
    Row("5", "noise × .5, .7, 1, 1.4, 2, 100 × 5", 100, UNEQUAL, expected=("noise",)),
    Row("6", "noise × .5, .7, 1, 1.4, 2, 600 × 5", 600, UNEQUAL, expected=("noise",)),
    Row("7", "the same of constant variance, 300 × 5", 300, UNEQUAL, constant=True, expected=("noise",)),
    Row("8", "verse ids, 27 books, 600 × 5", 600, groups=testament, told="verses", expected=("book",)),
    Row("9", "column document, 10 equal, 600 × 5", 600, groups=equal(10), told="column", expected=("document",)),
    Row(
        "10", "names doc3_s12, 40 log-normal, 600 × 5", 600, groups=lognormal(40), told="names", expected=("document",)
    ),
    Row("11", "8 and 6 together", 600, UNEQUAL, groups=testament, told="verses", expected=("book", "noise")),
    Row("12", "rows in order, documents of 1 + Poisson(7), 300 × 5", 300, groups=documents, expected=("order",)),
    Row("13", "editions 1 to 4 lose cells by chance, 600 × 5", 600, missing="chance"),
    Row("14", "by ln size, 600 × 5", 600, missing="size"),
    Row("15", "whole books, by their mean size, 600 × 5", 600, groups=books(40), missing="books"),
    Row("16", "t5 noise, 300 × 5", 300, noise="t5"),
    Row("17", "2 % of cells exchanged, 300 × 5", 300, exchanged=0.02),
    Row("18", "12 editions in 4 families, 300 × 12", 300, np.ones(12), families=4),
    Row(
        "19", "column document, 6 log-normal, 300 × 5", 300, groups=lognormal(6), told="column", expected=("document",)
    ),
    Row("20", "8 with 20 editions", 600, np.ones(20), groups=testament, told="verses", expected=("book",), tables=100),
    Row(
        "21",
        "8, a quarter of the books missing by edition, unequal noise",
        600,
        UNEQUAL,
        groups=testament,
        told="verses",
        missing="quarter",
        expected=("book", "noise"),
    ),
    Row("22", "noise × e^−.5 to e^.5, 120 × 12", 120, np.exp(np.linspace(-0.5, 0.5, 12)), expected=("noise",)),
    Row("F1", "12 with the rows permuted", 300, groups=documents, told="permuted", fails=True),
    Row("F2", "13 by the bits of edition 0", 600, missing="first", fails=True),
    Row("F3", "13 by the cell's own bits", 600, missing="own", fails=True),
]


class Table(NamedTuple):
    """Bits with the true difficulties, and the clusters that made them."""

    surprisals: Surprisals
    truth: np.ndarray
    clusters: pd.Series | None


def difficulties(editions: int) -> np.ndarray:
    return np.resize([0.0, -0.05, 0.05, -0.1, 0.1], editions)


def noise_of(row: Row, sizes: np.ndarray, rng: np.random.Generator, *, share: float) -> np.ndarray:
    """Draw the noise of all cells, of mean 1 (t5: median 1); `share` of the variance is of the cells themselves."""
    shape = len(sizes), len(row.deviations)
    relative = np.expm1(NOISE**2) * share * row.deviations**2  # variance at the middle size
    variance = np.broadcast_to(relative if row.constant else relative * MIDDLE / sizes[:, None], shape)
    if row.noise == "gamma":
        return rng.gamma(1 / variance) * variance
    log_variance = np.log1p(variance)
    if row.noise == "lognormal":
        return np.exp(rng.normal(-log_variance / 2, np.sqrt(log_variance)))
    return np.exp(rng.standard_t(5, shape) * np.sqrt(3 / 5 * log_variance))


def shared_noise(row: Row, groups: np.ndarray | None, rng: np.random.Generator) -> np.ndarray:
    """Draw what cells of an edition and a cluster, or of an intent and a family of editions, have in common, in ln."""
    editions = len(row.deviations)
    if row.families:
        of_family = rng.normal(0, 0.12, (row.intents, row.families))
        return of_family[:, np.arange(editions) * row.families // editions]
    if groups is None or row.missing == "books":
        return np.zeros((row.intents, editions))
    variance = CORRELATION * NOISE**2 * row.deviations**2
    drawn = rng.normal(-variance / 2, np.sqrt(variance), (groups.max() + 1, editions))
    return drawn[groups]


def lost(row: Row, sizes: np.ndarray, bits: np.ndarray, groups: np.ndarray | None, rng: np.random.Generator):
    """Return which cells are missing; edition 0 loses none, but where books are missing by edition."""
    shape = bits.shape
    if row.missing is None:
        return np.zeros(shape, bool)
    if row.missing == "quarter":
        of_book = np.array([rng.permutation(groups.max() + 1) for _ in range(shape[1])]).T
        return of_book[groups] < (groups.max() + 1) / 4
    by = {
        "chance": lambda: rng.standard_normal((shape[0], 1)),
        "size": lambda: np.log(sizes)[:, None],
        "books": lambda: pd.Series(np.log(sizes)).groupby(groups).transform("mean").to_numpy()[:, None],
        "first": lambda: np.log(bits[:, :1]),
        "own": lambda: np.log(bits),
    }[row.missing]()
    x = (by - by.mean(axis=0)) / by.std(axis=0)
    chance = rng.random(shape)
    if row.missing == "books":
        chance = rng.random((groups.max() + 1, shape[1]))[groups]
    missing = chance < 1 / (1 + np.exp(1.6 - 2 * x))
    missing[:, 0] = False
    return missing


def named(row: Row, groups: np.ndarray | None) -> tuple[list[str], pd.DataFrame | None]:
    """Return the names of the intents, and their attributes, as far as the table tells its clusters."""
    within = pd.Series(groups).groupby(groups).cumcount() if groups is not None else None
    if row.told == "verses":
        names = [f"{FIRST_BOOK + g:02}{1 + k // 30:03}{1 + k % 30:03}" for g, k in zip(groups, within, strict=True)]
        return names, None
    if row.told == "names":
        return [f"doc{g}_s{k + 1}" for g, k in zip(groups, within, strict=True)], None
    names = [str(k) for k in range(row.intents)]
    if row.told == "column":
        return names, pd.DataFrame({"document": [f"d{g}" for g in groups]}, index=names)
    return names, None


def draw(row: Row, table: int) -> Table:
    """Draw one table of a row."""
    rng = np.random.default_rng([SEED, table])
    truth = difficulties(len(row.deviations))
    groups = None if row.groups is None else row.groups(rng, row.intents)
    sizes = MIDDLE * np.exp(rng.normal(0, SPREAD, row.intents))
    if row.missing == "books":
        sizes *= np.exp(rng.normal(0, SPREAD / 2, groups.max() + 1))[groups]
    together = shared_noise(row, groups, rng)
    share = 1 - (0.12 / NOISE) ** 2 if row.families else 1 - CORRELATION * bool(together.any())
    bits = sizes[:, None] * np.exp(truth + together) * noise_of(row, sizes, rng, share=share)
    if row.exchanged:
        exchange(bits, row.exchanged, rng)
    bits[lost(row, sizes, bits, groups, rng)] = np.nan
    names, info = named(row, groups)
    clusters = None if not together.any() or row.families else pd.Series(groups, index=names, name="true")
    frame = pd.DataFrame(bits, index=names, columns=[f"e{j:02}" for j in range(len(truth))])
    if row.told == "permuted":
        frame = frame.iloc[rng.permutation(len(frame))]
    frame = frame[frame.notna().any(axis=1)]
    return Table(Surprisals(bits=frame, intent_info=info), truth, clusters)


def exchange(bits: np.ndarray, share: float, rng: np.random.Generator) -> None:
    """Exchange cells of the same edition, in place."""
    for column in bits.T:
        chosen = rng.permutation(len(column))[: 2 * round(share * len(column) / 2)]
        column[chosen] = column[np.roll(chosen, len(chosen) // 2)]


class Found(NamedTuple):
    """What fits of one table say: pairs covered by both calls, width over the oracle's, what the audit found."""

    today: np.ndarray
    naive: np.ndarray
    width: float  # NaN where the oracle was not asked
    found: frozenset[str]


def covered(fit, truth: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return for every pair whether its 95 % interval holds the true difference, and its width."""
    one, other = np.triu_indices(len(truth), 1)
    estimate, covariance = fit.difficulty.to_numpy(), fit.covariance.to_numpy()
    freedom = np.broadcast_to(fit.degrees_of_freedom, covariance.shape)[one, other]
    variances = np.diag(covariance)
    half = np.sqrt(variances[one] + variances[other] - 2 * covariance[one, other]) * student.ppf(0.975, freedom)
    return np.abs(estimate[one] - estimate[other] - (truth[one] - truth[other])) <= half, 2 * half


def found_by(fit) -> frozenset[str]:
    """Return what the audit of a fit found: the kind of clusters, order, noise."""
    units, found = fit.audit.clusters, set()
    if units.kind != "intents":
        found.add("order" if units.kind == "blocks" else units.name)
    if fit.audit.noise.unequal:
        found.add("noise")
    return frozenset(found)


def one_table(row: Row, table: int) -> Found:
    """Fit one table by the former call, by the shortest call and with all that is true told."""
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    drawn = draw(row, table)
    naive = ld.fit(drawn.surprisals)
    held, widths = covered(naive, drawn.truth)
    today, _ = covered(ld.fit(drawn.surprisals, clusters=None, dispersion="common"), drawn.truth)
    width = np.nan
    if table < ASKED:
        unequal = bool(np.ptp(row.deviations)) and len(row.deviations) > 2
        oracle = ld.fit(drawn.surprisals, clusters=drawn.clusters, dispersion="edition" if unequal else "common")
        width = float(np.median(widths) / np.median(covered(oracle, drawn.truth)[1]))
    return Found(today, held, width, found_by(naive))


def summarize(row: Row, found: Sequence[Found], seconds: float) -> str:
    """Return one line of the table."""
    cells = [f"{row.name} | {row.words}"]
    for kind in ("today", "naive"):
        held = np.array([getattr(one, kind) for one in found])
        error = held.mean(axis=1).std(ddof=1) / np.sqrt(len(found))
        mean, worst = PERCENT * held.mean(), PERCENT * held.mean(axis=0).min()
        text = f"{mean:.1f} ± {PERCENT * error:.1f} ({worst:.0f})"
        cells.append(f"*{text}*" if not 92 <= mean <= 98 else text)
    cells.append(f"{np.nanmedian([one.width for one in found]):.2f}")
    kinds = sorted({kind for one in found for kind in one.found})
    shares = [f"{kind} {PERCENT * np.mean([kind in one.found for one in found]):.0f}" for kind in kinds]
    cells += [", ".join(shares) or "–", f"{len(found)}", f"{1000 * seconds / len(found):.0f}"]
    return f"| {' | '.join(cells)} |"


def timed(position: int, table: int) -> tuple[Found, float]:
    """Return what the fits of one table of ``ROWS[position]`` say, and the processor time of all of them."""
    start = time.process_time()
    return one_table(ROWS[position], table), time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=400, help="tables per row")
    parser.add_argument("--rows", nargs="*", metavar="ROW", help="names of rows, such as 8 F1; all by default")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    asked = parser.parse_args()
    rows = [row for row in ROWS if not asked.rows or row.name in asked.rows]
    print(
        "| row | table | without audit: mean (worst) | shortest call: mean (worst) | width | found, % | tables | ms |"
    )
    print("|---|---|---:|---:|---:|---|---:|---:|")
    total = 0.0
    with ProcessPoolExecutor(asked.jobs) as pool:
        for row in rows:
            tables = min(asked.tables, row.tables or asked.tables)
            results = list(pool.map(partial(timed, ROWS.index(row)), range(tables), chunksize=max(1, tables // 20)))
            seconds = sum(second for _, second in results)
            total += seconds
            print(summarize(row, [found for found, _ in results], seconds), flush=True)
    print(f"\n{total / 60:.1f} minutes of processor time")


if __name__ == "__main__":
    main()
