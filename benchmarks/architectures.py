"""LSTMs, Transformers and n-grams on New Testaments: bits against training size, and whose difficulties they give.

    OMP_NUM_THREADS=1 python benchmarks/architectures.py sizes difficulties --cache DIR [--workers 2]

Networks over the subwords of ``bpe-residual`` and over characters, and character n-grams. ``sizes`` trains them on
nested parts of the training verses of the eight editions of `small_recipes.py`, ``difficulties`` on all of them in the
twenty editions of ``examples/bible-new-testament.toml``. Reads the folder LANGDIFF_DATA; an interrupted run goes on.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from baselines import EXPERIMENT
from small_recipes import DATA, EDITIONS, read_parts, rivals

import langdiff as ld
from langdiff.errors import LangdiffWarning
from langdiff.experiments.curves import nested_parts
from langdiff.lm import RECIPES
from langdiff.regression import fit_curve

SEED = 0
SIZES = 330, 1315, 5260  # the last is all there is
LSTM, TRANSFORMER = "bpe-lstm", "bpe-transformer"
NETWORKS = LSTM, TRANSFORMER, "bpe-residual", "char-small", "char-residual"
NGRAMS = "kneser-ney-6", "kneser-ney-10", "kneser-ney-16"


def compute(parts: ld.Parts, lm: str, options: argparse.Namespace) -> ld.Surprisals:
    """Return the surprisals of a recipe's models, trained or read from the cache."""
    recipe = (RECIPES | rivals()).get(lm, lm)
    cache = options.cache / f"train-{len(parts.train.intents)}"
    return ld.compute_surprisals(
        parts, lm=recipe, seed=SEED, device="cpu", cache=cache, workers=options.workers, max_replaced=1.0
    )


def sizes(options: argparse.Namespace) -> None:
    """Print bits per character by language model and number of training verses."""
    cut, _ = nested_parts(read_parts(EDITIONS), SIZES, "intents", np.random.default_rng(SEED))
    rows = {}
    for size, parts in cut.items():
        for lm in (*NGRAMS, *NETWORKS):
            start = time.monotonic()
            rows[size, lm] = compute(parts, lm, options).bits_per_character()["bits_per_character"]
            print(f"{size:,} verses, {lm}: {time.monotonic() - start:.0f} s", flush=True)
    table = pd.DataFrame(rows).T.rename_axis(["verses", "lm"])
    for lm in NETWORKS:
        tables = {size: compute(parts, lm, options) for size, parts in cut.items()}
        curve = fit_curve(tables, seed=SEED)
        print(f"{lm}: difficulties by size\n{curve.correlations().round(3).to_string(index=False)}")
    print(table.assign(mean=table.mean(axis=1)).round(3).to_string())
    relative = 100 * (table / table.xs("kneser-ney-10", level="lm").reindex(table.index, level="verses") - 1)
    print(f"per cent above or below kneser-ney-10:\n{relative.assign(mean=relative.mean(axis=1)).round(1).to_string()}")


def difficulties(options: argparse.Namespace) -> None:
    """Print the difficulties by LSTMs and by Transformers, their correlation and who changes places.

    Difficulties and their errors are in percent, shifts and the errors of these in hundredths of a nat.
    """
    parts = read_parts(EXPERIMENT["corpus"]["editions"])
    tables = [compute(parts, lm, options) for lm in (LSTM, TRANSFORMER)]
    # tables of the same intents, fitted side by side: here 1 and 2 are architectures rather than sizes
    both = fit_curve(dict(enumerate(tables, start=1)), seed=SEED)
    errors = pd.DataFrame({k: both.effects(k).std_error for k in both.sizes})
    shift = both.difficulty[2] - both.difficulty[1]
    shared = np.diag(both.covariance(1, 2))
    shown = pd.DataFrame(
        {
            **{
                f"bits_{lm}": table.bits_per_character()["bits_per_character"]
                for lm, table in zip((LSTM, TRANSFORMER), tables, strict=True)
            },
            LSTM: 100 * np.expm1(both.difficulty[1]),
            "error": both.effects(1).to_frame()["percent_std_error"],
            "rank": both.difficulty[1].rank(ascending=False).astype(int),
            TRANSFORMER: 100 * np.expm1(both.difficulty[2]),
            "error_2": both.effects(2).to_frame()["percent_std_error"],
            "rank_2": both.difficulty[2].rank(ascending=False).astype(int),
            "shift": 100 * shift,
            "error_of_shift": 100 * np.sqrt(errors[1] ** 2 + errors[2] ** 2 - 2 * shared),
        }
    )
    with pd.option_context("display.width", 160, "display.max_columns", None):
        print(shown.sort_values(LSTM, ascending=False).round(3).to_string())
    print(both.correlations().round(4).to_string(index=False))
    changes = both.changes()
    print(
        f"{len(changes)} pairs change places, {changes['significant'].sum()} of them at a false discovery rate of 5 %"
    )
    print(changes.head(8).round(4).to_string(index=False))
    ngrams = ld.fit(compute(parts, "kneser-ney-6", options), model="2").difficulty
    print("r with 6-grams:", both.difficulty.corrwith(ngrams).round(3).to_dict())


PARTS = {"sizes": sizes, "difficulties": difficulties}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=list(PARTS), help="sizes, difficulties; by default both")
    parser.add_argument("--cache", type=Path, help="folder of the trained models")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    if unknown := set(options.parts) - {*PARTS}:
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    if not (DATA / "bible").is_dir():
        print(f"no real data: {DATA / 'bible'} does not exist (set LANGDIFF_DATA)")
        return
    if options.cache is None:
        print("nothing is trained without --cache")
        return
    for part in options.parts:
        PARTS[part](options)


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LangdiffWarning)  # rare characters outside the alphabet
        main()
