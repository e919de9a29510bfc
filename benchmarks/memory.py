"""Peak memory of training a BPE model of 25,000 units on a whole Bible, each recipe in a process of its own.

    python benchmarks/memory.py [--units 25000] [--steps 3] [--edition rus-synodal] [--verses 9000] [--recipe R]

All of `train_language_model` runs – alphabet, merges, encoding, steps, scoring of the dev part, saving model and
state – but the epoch ends after a few steps: no batch has more units than the recipe says, so that more steps take no
more memory. Reads the folder LANGDIFF_DATA (../shared/data by default).
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from dataclasses import replace
from itertools import islice
from pathlib import Path

import langdiff as ld
from langdiff.errors import LangdiffWarning
from langdiff.lm import RECIPES
from langdiff.lm.lstm.loop import EpochLoop

DATA = Path(os.environ.get("LANGDIFF_DATA", "../shared/data"))


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20  # GiB


def train(options):
    """Train in this process, and print what it took."""
    bible = ld.read_multitext(DATA / "bible" / f"{options.edition}.txt.gz", format="pbc").map_text(ld.tokenize)
    texts = bible.text(bible.editions[0]).to_list()[: options.verses]
    dev, learned = texts[::100], [text for row, text in enumerate(texts) if row % 100]
    words = len({word for text in learned for word in text.split()})
    recipe = RECIPES[options.recipe]
    recipe = replace(recipe, epochs=1, decay_epochs=(), bpe_ratio=options.units / words, min_count=25)
    steps = EpochLoop._steps
    EpochLoop._steps = lambda trainer: islice(steps(trainer), options.steps)
    before, start = peak(), time.process_time()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", LangdiffWarning)
        model = ld.train_language_model(
            learned, dev, recipe=recipe, seed=0, device="cpu", progress=False, directory=folder
        )
    weights = sum(matrix.numel() for matrix in model.network.parameters())
    print(
        f"{options.recipe}, {options.edition}: {len(learned):,} verses, {sum(map(len, learned)):,} characters, "
        f"{words:,} words, {model.units.size:,} units, {weights:,} weights; {options.steps} steps, "
        f"{time.process_time() - start:.0f} s of CPU: peak {peak():.2f} GiB, {before:.2f} of it before training",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--units", type=int, default=25_000)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--edition", default="rus-synodal")
    parser.add_argument("--verses", type=int, help="the first of the edition; all by default")
    parser.add_argument("--recipe", choices=RECIPES, help="in this process; by default all that are measured")
    options = parser.parse_args()
    if not (DATA / "bible").is_dir():
        print(f"no real data: {DATA / 'bible'} does not exist (set LANGDIFF_DATA)")
        return
    if options.recipe:
        train(options)
        return
    for recipe in ("bpe-small", "bpe-awd"):
        subprocess.run([sys.executable, *sys.argv, "--recipe", recipe], check=True)


if __name__ == "__main__":
    main()
