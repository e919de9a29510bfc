"""Editions of one language, fewer intents, missing cells and goodness of fit, on Bibles and on simulated tables.

    OMP_NUM_THREADS=1 python benchmarks/experiments.py [--out runs/experiments] [--lm kneser-ney-6]

The verses of the New Testament that 67 editions share, character n-grams, model 2. Reads the folder LANGDIFF_DATA
(../shared/data by default); without it only what needs no texts is printed. Some minutes of one core; models and
surprisals are kept under --out, and an interrupted run goes on.
"""

import argparse
import os
from pathlib import Path

import numpy as np

import langdiff as ld
from langdiff.datasets import mielke2019
from langdiff.experiments import deletion_bias, intent_stability, spread_within_languages

DATA = Path(os.environ.get("LANGDIFF_DATA", "../shared/data"))
NEW_TESTAMENT = 40  # the number of its first book
GLOSSED = "deu-menge1939"  # with explanations in brackets


def published():
    """Print the spread within and between languages of the paper's Bibles."""
    figures = mielke2019()
    for lm in ("bpe", "char"):
        print(spread_within_languages(figures.difficulties("bibles")[lm], figures.edition_info("bibles")).summary())


def missing_cells():
    """Print the bias under three mechanisms on a simulated table, with fixed and with random intents."""
    whole = ld.simulate(1000, 6, seed=0).surprisals
    for intents in ("fixed", "random"):
        print(deletion_bias(whole, rates=[0.1, 0.3, 0.5, 0.7], n_repeats=10, intents=intents, seed=1).summary())


def tables_with_cells_missing_at_random():
    """Print the bias of the first edition against the truth under MAR at rate .5, averaged over simulated tables."""
    found = {"fixed": [], "random": []}
    for number in range(24):
        drawn = ld.simulate(500, 6, seed=100 + number)
        settings = {"rates": [0.5], "mechanisms": "MAR", "n_repeats": 2, "truth": drawn.difficulty, "seed": number}
        for intents, values in found.items():
            bias = deletion_bias(drawn.surprisals, intents=intents, **settings)
            values.append(bias.overall()["bias_of_first"][0])
    for intents, values in found.items():
        error = np.std(values, ddof=1) / np.sqrt(len(values))
        print(
            f"MAR, rate .5, 24 tables, {intents} intents: first edition biased by {np.mean(values):+.4f} ± {error:.4f}"
        )


def bibles(out, lm):
    """Print the spread of own Bibles, how stable it is in the number of verses, and which model fits best."""
    corpus = ld.read_multitext(DATA / "bible")
    verses = corpus.sel(intents=[verse for verse in corpus.intents if int(verse[:2]) >= NEW_TESTAMENT])
    chosen = ld.select(verses, min_intents=6000).multitext.dropna()
    parts = ld.split(chosen)
    print(f"{chosen!r}: {parts.summary()}", flush=True)
    surprisals = ld.compute_surprisals(parts, lm=lm, seed=0, cache=out)
    fit = ld.fit(surprisals, clusters="chapter")
    print(spread_within_languages(fit, chosen.edition_info).summary(), flush=True)
    others = surprisals.sel(editions=[edition for edition in surprisals.editions if edition != GLOSSED])
    print(f"without {GLOSSED}:")
    print(spread_within_languages(ld.fit(others, clusters="chapter"), chosen.edition_info).summary(), flush=True)
    print(intent_stability(surprisals, n_repeats=10, seed=0).summary(), flush=True)
    both = {"n": ("map", "posterior"), "fix": ("difficulty+dispersion", "difficulty")}
    print(ld.goodness(surprisals, ["1", "2", "2L"], n_subsets=5, seed=0, cache=out, **both).summary())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("runs/experiments"))
    parser.add_argument("--lm", default="kneser-ney-6")
    options = parser.parse_args()
    published()
    missing_cells()
    tables_with_cells_missing_at_random()
    if (DATA / "bible").is_dir():
        bibles(options.out, options.lm)
    else:
        print(f"no Bibles in {DATA}: set LANGDIFF_DATA")


if __name__ == "__main__":
    main()
