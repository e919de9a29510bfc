"""Language models of whole Bibles on the processor: bits of the test verses, processor time and memory.

    OMP_NUM_THREADS=1 python benchmarks/whole_bibles.py --table FILE [--editions eng-kjv ...] [--lm char-once ...]

Each model, one a row, is trained on two thirds of the verses of one edition, in a process of its own; rows that the
table has are not measured again. Reads the folder LANGDIFF_DATA (../shared/data by default).
"""

import argparse
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pandas as pd
from baselines import DATA, read

import langdiff as ld
from langdiff.errors import LangdiffWarning
from langdiff.lm import ppmd_bits, train_kneser_ney

EDITIONS = ["heb-modern", "eng-kjv", "fin-pr1938"]
MODELS = ["kneser-ney-6", "kneser-ney-10", "kneser-ney-16", "ppmd", "char-residual-quick"]
COLUMNS = ["edition", "characters", "lm", "bits_per_character", "seconds", "gibibytes"]


def measure(edition: str, lm: str) -> tuple[object, ...]:
    """Train and score in this process, and return a row of the table."""
    bible = read([edition]).dropna()
    parts = ld.split(bible)
    train, test = (part.text(edition) for part in (parts.train, parts.test))
    start = time.process_time()
    if lm == "ppmd":
        # replaced characters as for n-grams, so that all figures are about the same string
        alphabet = train_kneser_ney(train, test, recipe="kneser-ney-1").alphabet
        learned, judged = ([alphabet.apply(text) for text in part] for part in (train, test))
        bits = ppmd_bits(learned, judged) + sum(map(alphabet.replaced_bits, test))
        rate = bits / test.str.len().sum()
    else:
        found = ld.compute_surprisals(parts, lm=lm, seed=1, device="cpu", progress=False)
        rate = found.bits_per_character()["bits_per_character"].iloc[0]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return edition, int(train.str.len().sum()), lm, float(rate), time.process_time() - start, peak


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--editions", nargs="+", default=EDITIONS)
    parser.add_argument("--lm", nargs="+", default=MODELS)
    parser.add_argument("--table", type=Path, required=True, help="CSV that rows are added to")
    parser.add_argument("--one", action="store_true", help="the first of both, in this process")
    options = parser.parse_args()
    if not (DATA / "bible").is_dir():
        print(f"no real data: {DATA / 'bible'} does not exist (set LANGDIFF_DATA)")
        return
    table = pd.read_csv(options.table) if options.table.exists() else pd.DataFrame(columns=COLUMNS)
    if options.one:
        table.loc[len(table)] = list(measure(options.editions[0], options.lm[0]))
        table.to_csv(options.table, index=False)
        return
    done = set(table[["edition", "lm"]].itertuples(index=False, name=None))
    for edition in options.editions:
        for lm in options.lm:
            if (edition, lm) not in done:
                command = [sys.executable, __file__, "--one", "--table", str(options.table)]
                subprocess.run([*command, "--editions", edition, "--lm", lm], check=True)
    print(
        pd.read_csv(options.table).round({"bits_per_character": 3, "seconds": 0, "gibibytes": 2}).to_string(index=False)
    )


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LangdiffWarning)  # rare characters
        main()
