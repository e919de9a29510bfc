"""Coverage of the differences between two language models, whose noise is correlated by .6, against independent errors.

    python benchmarks/compare_lms.py [--tables 100] [--seed 41]

Bits are log-normal around n·exp(d), not drawn by `langdiff.simulate`: noise with standard deviation .17 of a text of
150 bits, of which the two language models share the part that correlates them; ln n with standard deviation .6;
difficulties 0, ±.05, ±.1 by one and half of these by the other. With books, a share of .1 of the noise is that of the
book in an edition.
"""

import argparse
import time
import warnings

import numpy as np
import pandas as pd

import langdiff as ld
from langdiff.errors import LangdiffWarning

DIFFICULTIES = {"A": np.array([0.0, -0.05, 0.05, -0.1, 0.1]), "B": np.array([0.0, -0.025, 0.025, -0.05, 0.05])}
SHARED, INTRACLASS = 0.6, 0.1
# verses of the books of the New Testament, from which 600 are drawn
BOOKS = [1071, 678, 1151, 879, 1007, 433, 437, 256, 149, 155, 104, 95, 89, 47, 113, 83, 46, 25, 303, 108, 105, 61]
BOOKS += [105, 13, 15, 25, 405]


def draw(rng, *, intents, missing=0.0, books=False):
    """Return the tables of two language models, and the book of each intent."""
    size = 150 * rng.lognormal(0, 0.6, (intents, 1))
    book = np.sort(rng.choice(len(BOOKS), intents, p=np.array(BOOKS) / sum(BOOKS)))

    def noise():
        own = rng.normal(size=(intents, 5))
        if not books:
            return own
        return np.sqrt(1 - INTRACLASS) * own + np.sqrt(INTRACLASS) * rng.normal(size=(len(BOOKS), 5))[book]

    both = noise()
    variance = np.log1p(0.17**2 * 150 / size)
    tables = {}
    for name, difficulty in DIFFICULTIES.items():
        mixed = np.sqrt(SHARED) * both + np.sqrt(1 - SHARED) * noise()
        bits = size * np.exp(difficulty + np.sqrt(variance) * mixed - variance / 2)
        tables[name] = pd.DataFrame(np.where(rng.random(bits.shape) < missing, np.nan, bits), columns=list("abcde"))
    return tables, pd.Series(book, name="book") if books else None


def covered(tables, clusters):
    """Return which pairs are covered by joint and by independent errors, and the ratio of their lengths."""
    truth = DIFFICULTIES["A"] - DIFFICULTIES["B"]
    found = ld.compare_lms(tables, clusters=clusters)
    known = {name: table.dropna(how="all") for name, table in tables.items()}
    fits = [ld.fit(table, errors="sandwich", clusters=clusters, restricted=True) for table in known.values()]
    joint, independent = [], []
    names = list("abcde")
    for j in range(5):
        for k in range(j):
            pair = found.effects.contrast(names[j], names[k])
            apart = truth[j] - truth[k]
            joint.append(pair.low <= apart <= pair.high)
            longer = np.hypot(*(fit.contrast(names[j], names[k]).std_error for fit in fits)) / pair.std_error
            half = (pair.high - pair.low) / 2 * longer
            independent.append(abs(pair.estimate - apart) <= half)
    return joint, independent, found.ratio["B"], found.level.low <= LEVEL <= found.level.high


LEVEL = float(np.log(np.exp(DIFFICULTIES["A"]).sum() / np.exp(DIFFICULTIES["B"]).sum()))


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--tables", type=int, default=100)
    arguments.add_argument("--seed", type=int, default=41)
    chosen = arguments.parse_args()
    rows = {
        "300 × 5": {"intents": 300},
        "20 % missing": {"intents": 300, "missing": 0.2},
        "27 books, ICC .1": {"intents": 600, "books": True},
    }
    print(f"{chosen.tables} tables; coverage of 95 % intervals of pairs, in per cent\n")
    print("| table | joint: mean ± error (worst pair) | as if independent | its errors are longer by | level |")
    print("|---|---|---|---|---|", flush=True)
    for name, settings in rows.items():
        begin, joint, independent, ratio, level = time.process_time(), [], [], [], []
        for table in range(chosen.tables):
            tables, book = draw(np.random.default_rng([chosen.seed, table]), **settings)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", LangdiffWarning)
                one, other, times, total = covered(tables, book)
            joint.append(one), independent.append(other), ratio.append(times), level.append(total)
        mean = 100 * np.mean(joint, axis=1)
        print(
            f"| {name} | {mean.mean():.1f} ± {mean.std(ddof=1) / len(mean) ** 0.5:.1f} "
            f"({100 * np.mean(joint, axis=0).min():.0f}) | {100 * np.mean(independent):.1f} | {np.mean(ratio):.2f} | "
            f"{100 * np.mean(level):.0f} |  <!-- {time.process_time() - begin:.0f} s -->",
            flush=True,
        )


if __name__ == "__main__":
    main()
