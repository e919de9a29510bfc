"""Floors for language models on the New Testament: Kneser-Ney n-grams and LZMA beside the small LSTMs.

Editions, verses and split are those of ``examples/bible-new-testament.toml``; the LSTMs' bits are read from the
run of that experiment, if there is one (``runs/bible-new-testament``, or another folder as the argument). Reads
the folder LANGDIFF_DATA (../shared/data by default). On one idle core it takes about three minutes:

    OMP_NUM_THREADS=1 python benchmarks/floors.py [RUN]
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
from langdiff.lm import lzma_bits, train_kneser_ney

DATA = Path(os.environ.get("LANGDIFF_DATA", "../shared/data"))
EXPERIMENT = tomllib.loads(Path("examples/bible-new-testament.toml").read_text())
NEW_TESTAMENT = slice("40001001", "66022021")
WHOLE_BIBLE = "ind-tl"


def read(editions):
    bible = DATA / "bible"
    return ld.read_multitext(bible, edition_info=bible / "metadata.csv", editions=editions).map_text(ld.tokenize)


def timed(function, *arguments, **options):
    start = time.perf_counter()
    return function(*arguments, **options), time.perf_counter() - start


def floors(parts, edition):
    """Return characters, bits per character of 6-grams, 10-grams and LZMA, and seconds to learn, score and compress."""
    train, dev, test = (getattr(parts, part).text(edition) for part in ("train", "dev", "test"))
    model, training = timed(train_kneser_ney, train, dev)
    table, scoring = timed(model.surprisal, test)
    longer = train_kneser_ney(train, dev, recipe="kneser-ney-10").surprisal(test)
    same = [[model.alphabet.apply(text) for text in part] for part in (train, test)]
    lzma, compressing = timed(lzma_bits, *same)
    characters = table["characters"].sum()
    rates = [total / characters for total in (table["bits"].sum(), longer["bits"].sum(), lzma)]
    return characters, rates, (training, scoring, compressing)


def whole_bible():
    """Count the 6-grams of a whole Bible, score all of it, and print what that takes."""
    texts = read([WHOLE_BIBLE]).text(WHOLE_BIBLE)
    learned = np.arange(len(texts)) % 10 > 0
    model, training = timed(train_kneser_ney, texts[learned], texts[~learned])
    _, scoring = timed(model.surprisal, texts)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    print(f"{WHOLE_BIBLE}, {texts.str.len().sum():,} characters, nine tenths to learn from: {model!r}")
    print(f"learned in {training:.1f} s, all scored in {scoring:.1f} s, at the peak {peak:,.0f} MiB")


def lstm_rates(run, editions):
    """Return bits per character on test, editions × recipes, of a run; no columns if it is not there."""
    paths = [path for path in sorted((run / "surprisals").glob("*.csv")) if not path.stem.startswith("kneser-ney")]
    tables = {path.stem: ld.read_surprisals(path) for path in paths}
    rates = {lm: table.bits_per_character()["bits_per_character"] for lm, table in tables.items()}
    return pd.DataFrame(rates, index=editions)


def main():
    if not DATA.is_dir():
        print(f"no real data: {DATA} does not exist (set LANGDIFF_DATA)")
        return
    multitext = read(EXPERIMENT["corpus"]["editions"])
    run = Path(sys.argv[1] if len(sys.argv) > 1 else "runs/bible-new-testament")
    lstms = lstm_rates(run, multitext.editions)
    verses = multitext.presence.loc[NEW_TESTAMENT].index
    parts = ld.split(multitext.sel(intents=verses).dropna())
    print(f"{parts.summary()}; bits per character on test")
    columns = ["6-grams", "10-grams", "LZMA", *lstms.columns, "s: learn", "score", "LZMA"]
    print(" ".join([f"{'edition':20} characters", *(f"{column:>10}" for column in columns)]))
    for edition in multitext.editions:
        characters, rates, seconds = floors(parts, edition)
        row = [f"{rate:10.3f}" for rate in (*rates, *lstms.loc[edition])] + [f"{second:10.2f}" for second in seconds]
        print(" ".join([f"{edition:20} {characters:10,}", *row]), flush=True)
    whole_bible()


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LangdiffWarning)  # rare characters outside the alphabet
        main()
