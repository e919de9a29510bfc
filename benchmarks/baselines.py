"""Baselines for language models on the New Testament: n-grams and compressors beside the networks of finished runs.

Editions, verses and split are those of ``examples/bible-new-testament.toml``; the networks' bits are read from runs of
that experiment under any recipes, if folders are given. Reads the folder LANGDIFF_DATA (../shared/data by default).
On one idle core it takes about five minutes:

    OMP_NUM_THREADS=1 python benchmarks/baselines.py [RUN ...]
"""

import os
import resource
import sys
import time
import tomllib
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import langdiff as ld
from langdiff.errors import LangdiffWarning
from langdiff.lm import compare_with_baselines, measure_baselines, train_kneser_ney

DATA = Path(os.environ.get("LANGDIFF_DATA", "../shared/data"))
EXPERIMENT = tomllib.loads(Path("examples/bible-new-testament.toml").read_text())
NEW_TESTAMENT = slice("40001001", "66022021")
WHOLE_BIBLE = "ind-tl"


def read(editions):
    bible = DATA / "bible"
    return ld.read_multitext(bible, edition_info=bible / "metadata.csv", editions=editions).map_text(ld.tokenize)


def whole_bible():
    """Count the 6-grams of a whole Bible, score all of it, and print what that takes."""
    texts = read([WHOLE_BIBLE]).text(WHOLE_BIBLE)
    learned = np.arange(len(texts)) % 10 > 0
    start = time.process_time()
    model = train_kneser_ney(texts[learned], texts[~learned])
    training = time.process_time() - start
    model.surprisal(texts)
    scoring = time.process_time() - start - training
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    print(f"{WHOLE_BIBLE}, {texts.str.len().sum():,} characters, nine tenths to learn from: {model!r}")
    print(f"learned in {training:.1f} s of processor time, all scored in {scoring:.1f} s, at the peak {peak:,.0f} MiB")


def main():
    if not DATA.is_dir():
        print(f"no real data: {DATA} does not exist (set LANGDIFF_DATA)")
        return
    multitext = read(EXPERIMENT["corpus"]["editions"])
    verses = multitext.presence.loc[NEW_TESTAMENT].index
    parts = ld.split(multitext.sel(intents=verses).dropna())
    print(f"{parts.summary()}; bits per character on test")
    start = time.process_time()
    table = measure_baselines(parts)
    print(f"baselines: {time.process_time() - start:.0f} s of processor time")
    paths = [path for run in sys.argv[1:] for path in sorted(Path(run, "surprisals").glob("*.csv"))]
    networks = [ld.read_surprisals(path) for path in paths if not path.stem.startswith("kneser-ney")]
    rates = {each.lm: each.bits_per_character()["bits_per_character"] for each in networks}
    with pd.option_context("display.width", 160, "display.max_columns", None):
        print(table.assign(**rates).round(3).to_string())
        if networks:
            against = compare_with_baselines(networks, table)
            print(against.pivot(index="edition", columns="lm", values=["baseline", "percent"]).round(1).to_string())
            for lm, rate in rates.items():
                below = 100 * (1 - rate / table["kneser-ney-10"].reindex(rate.index))
                print(f"{lm}: below 10-grams by {below.min():.1f} to {below.max():.1f} %, mean {below.mean():.1f} %")
    whole_bible()


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LangdiffWarning)  # rare characters; networks above their baselines
        main()
