"""Native against translated sentences of Europarl under models trained on equal amounts of both, and under others.

Draws `DRAWS` samples per language from the English-French sample of LANGDIFF_DATA (../shared/data by default),
balanced (`langdiff.balance_by_origin`) and, for comparison, of as many intents whatever their origin; trains character
n-grams on two thirds of each and compares native with translated sentences of a sixth. Some minutes:

    OMP_NUM_THREADS=1 python benchmarks/balanced.py
"""

import gzip
import os
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import langdiff as ld
from langdiff.corpora import native_share
from langdiff.corpora.origin import origin_accounting
from langdiff.errors import LangdiffWarning

DATA = Path(os.environ.get("LANGDIFF_DATA", "../shared/data"))
DRAWS, BUDGET, LM = 8, 13_000, "kneser-ney-6"
ISO = {"en": "eng", "fr": "fra", "de": "deu", "es": "spa", "it": "ita"}


def europarl():
    folder = DATA / "europarl"
    texts = {
        ISO[code]: gzip.decompress((folder / f"{code}.txt.gz").read_bytes()).decode().split("\n")[:-1]
        for code in ("en", "fr")
    }
    multitext = ld.read_frame(pd.DataFrame(texts)).map_text(ld.tokenize)
    codes = gzip.decompress((folder / "original_language.txt.gz").read_bytes()).decode().split()
    return multitext, pd.Series(codes, index=multitext.intents).replace(ISO)


def difference(sample, origin, language):
    """Return native - translated and its standard error, under models trained on the sample."""
    surprisals = ld.compute_surprisals(ld.split(sample), lm=LM, progress=False, seed=0)
    row = ld.translationese(surprisals, origin, min_native=1).to_frame().loc[language]  # both languages are divided
    return row["difference"], row["std_error"]


def main():
    if not (DATA / "europarl").is_dir():
        print(f"no real data: {DATA / 'europarl'} does not exist (set LANGDIFF_DATA)")
        return
    multitext, origin = europarl()
    print(native_share(multitext, origin).round(1).to_string())
    print(origin_accounting(multitext, origin).round(1).to_string())
    known = origin.index[origin != "und"]
    for language in ("eng", "fra"):
        start = time.process_time()
        found = {"balanced": [], "as it comes": []}
        for seed in range(DRAWS):
            rng = np.random.default_rng(seed)
            sample = ld.balance_by_origin(multitext, language, budget_words=BUDGET, seed=rng, original_language=origin)
            drawn = rng.choice(known, len(sample), replace=False)
            found["balanced"].append(difference(sample, origin, language))
            found["as it comes"].append(difference(multitext.sel(intents=drawn), origin, language))
        parts = sample.intent_info["origin"].value_counts()
        print(
            f"\n{language}: the last sample has {parts['native']} native and {parts['translated']} translated intents"
        )
        for how, pairs in found.items():
            values, errors = np.array(pairs).T
            print(
                f"{how}: native - translated {values.mean():+.4f} on average over {DRAWS} draws (s.d. between draws "
                f"{values.std(ddof=1):.4f}, standard error of one {errors.mean():.4f})"
            )
        print(f"{time.process_time() - start:.0f} s of CPU", flush=True)


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LangdiffWarning)  # rare characters outside the alphabet
        main()
