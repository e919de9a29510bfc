"""Floors for language models on the New Testament: Kneser-Ney 6-grams and LZMA beside the small LSTMs.

Verses and split are those of ``examples/bible-new-testament.toml``: what its twelve editions share. Reads the
folder LANGDIFF_DATA (../shared/data by default). On one idle core it takes about a minute:

    OMP_NUM_THREADS=1 python benchmarks/floors.py
"""

import os
import resource
import time
import warnings
from pathlib import Path

import numpy as np

import langdiff as ld
from langdiff.errors import LangdiffWarning
from langdiff.lm import lzma_bits, train_kneser_ney

DATA = Path(os.environ.get("LANGDIFF_DATA", "../shared/data"))
OTHERS = ["deu-luther1912", "eus-basquent", "ind-tl", "vie-cadman", "zul-zulunt"]  # which decide the verses
NEW_TESTAMENT = slice("40001001", "66022021")
WHOLE_BIBLE = "ind-tl"
LSTMS = {  # edition: bits a character of char-small and bpe-small on the same test verses (docs/results-first.md)
    "eng-web": (1.477, 1.451),
    "hun-karoli": (1.698, 1.734),
    "chr-cherokeent": (2.243, 2.377),
    "rus-synodal": (1.878, 1.955),
    "arb-svdplain": (2.268, 2.402),
    "hin-irv": (1.583, 1.555),
    "jpn-kougo": (2.600, 2.802),
}


def read(editions):
    bible = DATA / "bible"
    return ld.read_multitext(bible, metadata=bible / "metadata.csv", editions=editions).map_text(ld.tokenize)


def timed(function, *arguments, **options):
    start = time.perf_counter()
    return function(*arguments, **options), time.perf_counter() - start


def floors(parts, edition):
    """Return characters, bits a character of 6-grams, 10-grams and LZMA, and seconds: 6-grams learned, scored, LZMA."""
    train, dev, test = (getattr(parts, part).text(edition) for part in ("train", "dev", "test"))
    language = parts.train.edition_info["language"][edition]
    model, training = timed(train_kneser_ney, train, dev, language=language)
    table, scoring = timed(model.surprisal, test)
    longer = train_kneser_ney(train, dev, recipe="kneser-ney-10", language=language).surprisal(test)
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


def main():
    if not DATA.is_dir():
        print(f"no real data: {DATA} does not exist (set LANGDIFF_DATA)")
        return
    multitext = read([*LSTMS, *OTHERS])
    verses = multitext.presence.loc[NEW_TESTAMENT].index
    parts = ld.split(multitext.sel(intents=verses).dropna())
    print(f"{parts.summary()}; bits a character on test")
    columns = ["kneser-ney-6", "kneser-ney-10", "LZMA", "char-small", "bpe-small", "s: learn", "score", "LZMA"]
    print(" ".join([f"{'edition':15} characters", *(f"{column:>13}" for column in columns)]))
    for edition, lstms in LSTMS.items():
        characters, rates, seconds = floors(parts, edition)
        row = [f"{rate:13.3f}" for rate in (*rates, *lstms)] + [f"{second:13.2f}" for second in seconds]
        print(" ".join([f"{edition:15} {characters:10,}", *row]), flush=True)
    whole_bible()


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LangdiffWarning)  # rare characters outside the alphabet
        main()
