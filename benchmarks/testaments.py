"""How long sixty New Testaments take: five epochs each of a network of one layer of 64, two workers.

    OMP_NUM_THREADS=1 python benchmarks/testaments.py [--editions 60]

Takes the editions that have most of the New Testament (folder LANGDIFF_DATA, ../shared/data by default) and the
verses that all of them have, two thirds of them to learn from.
"""

import argparse
import os
import time
import warnings
from dataclasses import replace
from pathlib import Path

import langdiff as ld
from langdiff.errors import LangdiffWarning
from langdiff.lm import RECIPES

DATA = Path(os.environ.get("LANGDIFF_DATA", "../shared/data"))
FIRST = "40001001"  # Matthew 1:1
SMALLEST = replace(
    RECIPES["char-small"], name="char-64", embedding_size=64, hidden_size=64, layers=1, epochs=5, patience=5
)
MOST_MINUTES, TESTAMENTS = 45, 60


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--editions", type=int, default=TESTAMENTS)
    options = parser.parse_args()
    if not (DATA / "bible").is_dir():
        print(f"no real data: {DATA / 'bible'} does not exist (set LANGDIFF_DATA)")
        return
    bibles = ld.read_multitext(DATA / "bible", edition_info=DATA / "bible" / "metadata.csv")
    verses = bibles.presence.loc[FIRST:]
    most = verses.sum().sort_values(ascending=False, kind="stable").index[: options.editions]
    testaments = bibles.sel(intents=verses.index, editions=sorted(most)).map_text(ld.tokenize).dropna()
    parts = ld.split(testaments)
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LangdiffWarning)  # rare characters outside the alphabet
        surprisals = ld.compute_surprisals(parts, lm=SMALLEST, workers=2, device="cpu", seed=0)
    minutes = (time.perf_counter() - start) / 60
    rates = surprisals.bits_per_character()["bits_per_character"]
    print(f"{len(most)} editions x {len(testaments.intents):,} verses, {SMALLEST.epochs} epochs: {minutes:.1f} minutes")
    print(f"bits per character, least, median, most: {rates.min():.3f}, {rates.median():.3f}, {rates.max():.3f}")
    for_all = minutes * TESTAMENTS / len(most)
    print(f"for {TESTAMENTS}: {for_all:.1f} minutes ({'within' if for_all <= MOST_MINUTES else 'NOT within'} 45)")


if __name__ == "__main__":
    main()
