"""Simultaneous inference in `table`, on simulated tables.

``--part joint``: level of the joint test of two fits of the same texts, and coverage of a contrast between them.
``--part family``: how often a list of contrasts, or all differences of means of groups, has an interval that misses the
truth; 8 editions × 80 intents in 3 families.

OMP_NUM_THREADS=1 python benchmarks/paired_tables.py [--part joint] [--tables 400] [--clusters 12 20 40 150]
OMP_NUM_THREADS=1 python benchmarks/paired_tables.py --part family [--tables 400] [--model 2]
"""

import argparse
import re
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


FAMILIES = dict(zip("abcdefgh", [*"XXX", *"YYY", *"ZZ"], strict=True))
TRUE = dict(zip("abcdefgh", np.linspace(-0.1, 0.1, 8)[[3, 0, 6, 5, 1, 7, 2, 4]], strict=True))
CONTRASTS = ["a - b", "c - mean(a, b)", "d - h", "g - mean(e, f)", "X - Y", "X - Z", "Y - Z"]
CHAPTERS = [28, 16, 24, 21, 28, 16, 16, 13, 6, 6, 4, 4, 5, 3, 6, 4, 3, 1, 13, 5, 5, 3, 5, 1, 1, 1, 22]  # New Testament
OF_20 = [1] * 20


def truth(text):
    """Return the true value of a contrast."""
    names = [re.findall(r"\b[a-hXYZ]\b", part) for part in text.split(" - ")]
    one, other = ([edition for edition in TRUE if edition in part or FAMILIES[edition] in part] for part in names)
    return np.mean([TRUE[edition] for edition in one]) - np.mean([TRUE[edition] for edition in other])


def misses(weights, seed, model):
    """Return whether an interval of the list misses, and whether one of the differences of groups does."""
    rng = np.random.default_rng([len(weights), seed, 2])
    count, shares = len(weights), np.array(weights) / np.sum(weights)
    book = np.sort(np.concatenate([np.arange(count), rng.choice(count, 80 - count, p=shares)]))
    own, of_book = (rng.normal(size=(rows, len(TRUE))) for rows in (80, count))
    noise = np.sqrt(1 - INTRACLASS) * own + np.sqrt(INTRACLASS) * of_book[book]
    size = 150 * rng.lognormal(0, 0.6, (80, 1))
    bits = pd.DataFrame(size * np.exp(list(TRUE.values()) + NOISE * noise), columns=list(TRUE))
    info = pd.DataFrame({"family": FAMILIES}).rename_axis("edition")
    fit = ld.fit(bits, model=model, clusters=pd.Series(book, name="book"), dispersion="common", errors="sandwich")
    found = []
    for rows, contrasts in (("editions", CONTRASTS), ("groups", "pairs")):
        made = ld.table(fit, by="family", rows=rows, contrasts=contrasts, edition_info=info).contrasts
        names = made["row"].str.replace("−", "-")
        true = np.array([truth(name) for name in names])
        found.append(bool(((true < made["low"]) | (true > made["high"])).any()))
    return found


def family(tables, model):
    for name, weights in (("20 equal clusters", OF_20), ("27 books of unequal sizes", CHAPTERS)):
        of_list, of_groups = np.mean([misses(weights, seed, model) for seed in range(tables)], axis=0)
        print(
            f"{name}, model {model}: {100 * of_list:.1f} % of {tables} tables have an interval of {len(CONTRASTS)} "
            f"contrasts that misses, {100 * of_groups:.1f} % one of the 3 differences of groups",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=["joint", "family"], default="joint")
    parser.add_argument("--model", default="2", help="of --part family")
    parser.add_argument("--tables", type=int, default=400)
    parser.add_argument("--clusters", type=int, nargs="+", default=[12, 20, 40, 150])
    options = parser.parse_args()
    warnings.simplefilter("ignore", LangdiffWarning)  # few clusters
    if options.part == "family":
        family(options.tables, options.model)
        return
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
