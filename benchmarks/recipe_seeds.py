"""Difficulties of New Testaments under one recipe from several seeds: what their errors are made of.

    OMP_NUM_THREADS=1 python benchmarks/recipe_seeds.py --cache DIR [--recipe bpe-residual] [--seeds 3]

Verses and split are those of ``examples/bible-new-testament.toml``, whose folder LANGDIFF_DATA is read; the eight
editions are those of `small_recipes.py`. An interrupted run goes on. On two cores a seed takes about fifteen minutes.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from small_recipes import DATA, EDITIONS, read_parts

import langdiff as ld
from langdiff.errors import LangdiffWarning
from langdiff.regression.seeds import combine_seeds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, help="folder of the trained models")
    parser.add_argument("--recipe", default="bpe-residual")
    parser.add_argument("--editions", nargs="+", default=EDITIONS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    if not (DATA / "bible").is_dir():
        print(f"no real data: {DATA / 'bible'} does not exist (set LANGDIFF_DATA)")
        return
    if options.cache is None:
        print("nothing is trained without --cache")
        return
    parts = read_parts(options.editions)
    tables = []
    for seed in range(options.seeds):
        cache = options.cache / f"seed-{seed}"
        tables.append(
            ld.compute_surprisals(
                parts, lm=options.recipe, seed=seed, device="cpu", cache=cache, workers=options.workers
            )
        )
    found = combine_seeds(tables, lambda table: ld.fit(table, model="2").effects)
    percent = 100 * np.expm1(found.by_seed)
    errors = {
        "of intents": np.sqrt(np.diag(found.of_intents)),
        "in all": np.sqrt(np.diag(found.effects.covariance)),
    }  # of nats, hence in percent of the factor
    factor = np.exp(found.effects.estimate)
    mean = 100 * (factor - 1)
    shown = pd.DataFrame({"mean": mean, **{name: 100 * error * factor for name, error in errors.items()}}).join(percent)
    print(shown.sort_values("mean", ascending=False).round(2).to_string())
    print(f"standard deviation of a difficulty between seeds: {100 * found.variance**0.5:.2f} %")
    print(found.by_seed.corr().round(4).to_string())


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LangdiffWarning)  # rare characters outside the alphabet
        main()
