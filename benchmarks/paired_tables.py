"""Paired differences in `table`: level of the joint test and coverage of a contrast, two fits of the same texts.

OMP_NUM_THREADS=1 python benchmarks/paired_tables.py [--tables 400] [--clusters 12 20 40 150]
"""

import argparse
import warnings

import numpy as np
import pandas as pd

import langdiff as ld
from langdiff.errors import LangdiffWarning

INTENTS, EDITIONS = 200, list("abcdef")
NOISE, SHARED, INTRACLASS = 0.17, 0.8, 0.1


def drawn(clusters, seed):
    """Return the table of one simulated pair of fits that have the same difficulties."""
    rng = np.random.default_rng([clusters, seed])
    book = np.sort(np.concatenate([np.arange(clusters), rng.integers(0, clusters, INTENTS - clusters)]))
    size = 150 * rng.lognormal(0, 0.6, (INTENTS, 1))

    def noise():
        own, of_book = (rng.normal(size=(rows, len(EDITIONS))) for rows in (INTENTS, clusters))
        return np.sqrt(1 - INTRACLASS) * own + np.sqrt(INTRACLASS) * of_book[book]

    shared, fits = np.sqrt(SHARED) * noise(), {}
    for name in "AB":
        bits = pd.DataFrame(size * np.exp(NOISE * (shared + np.sqrt(1 - SHARED) * noise())), columns=EDITIONS)
        options = {"clusters": pd.Series(book, name="book"), "dispersion": "common", "errors": "sandwich"}
        fits[name] = ld.fit(bits, model="1", **options)
    return ld.table(fits, paired=True, contrasts=["a - b"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=400)
    parser.add_argument("--clusters", type=int, nargs="+", default=[12, 20, 40, 150])
    options = parser.parse_args()
    warnings.simplefilter("ignore", LangdiffWarning)  # few clusters
    for clusters in options.clusters:
        rejected, covered = [], []
        for seed in range(options.tables):
            made = drawn(clusters, seed)
            rejected.append(made.tests["p"].iloc[0] < 0.05)
            row = made.contrasts[made.contrasts["column"] == "A − B"].iloc[0]
            covered.append(row["low"] <= 0 <= row["high"])
        print(
            f"{clusters} clusters: the joint test rejects {100 * np.mean(rejected):.1f} %, a contrast is covered in "
            f"{100 * np.mean(covered):.1f} % of {options.tables} tables",
            flush=True,
        )


if __name__ == "__main__":
    main()
