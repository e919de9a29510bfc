"""Small recipes and their rivals on New Testaments: dev bits per character and processor time, one training a row.

    OMP_NUM_THREADS=1 python benchmarks/small_recipes.py [--recipes char-residual char-transformer] \
        [--editions eng-web heb-modern] [--seeds 1 2] [--table FILE]

Verses and split are those of ``examples/bible-new-testament.toml``; the test part is not looked at. Reads the folder
LANGDIFF_DATA (../shared/data by default). With --table, rows that the file has are not trained again.
"""

import argparse
import time
import warnings
from dataclasses import asdict, replace
from pathlib import Path

import pandas as pd
from baselines import DATA, EXPERIMENT, NEW_TESTAMENT, read

import langdiff as ld
from langdiff.errors import LangdiffWarning
from langdiff.lm import RECIPES, Recipe

# five scripts; from hardly any inflection to agglutination
EDITIONS = ["arb-svdplain", "chr-cherokeent", "deu-luther1912", "eng-web"]
EDITIONS += ["fin-pr1938", "heb-modern", "jpn-kougo", "zul-zulunt"]
COLUMNS = ["recipe", "edition", "seed", "dev_bits_per_character", "seconds"]


def rivals() -> dict[str, Recipe]:
    """Return recipes that were tried beside those of the package, by name."""
    char, bpe = RECIPES["char-residual"], RECIPES["bpe-residual"]
    blocks, of_subwords = (
        {key: value for key, value in asdict(RECIPES[name]).items() if key not in ("name", "ngram_orders")}
        for name in ("char-transformer", "bpe-transformer")
    )
    found = [
        replace(char, name="char-residual-transformer", **(blocks | {"dropout_input": 0.0, "epochs": 6})),
        replace(char, name="char-residual-large-batches", batch_units=2304, learning_rate=6e-3),
        replace(bpe, name="bpe-residual-0.1", bpe_ratio=0.1),
        replace(bpe, name="bpe-residual-0.02", bpe_ratio=0.02),
        replace(bpe, name="bpe-residual-transformer", **of_subwords),
        replace(bpe, name="bpe-lstm", ngram_orders=()),
    ]
    return {recipe.name: recipe for recipe in found}


def read_parts(editions: list[str]) -> ld.Parts:
    """Return the parts of some editions: verses that all twenty editions have, in one split."""
    bible = read(EXPERIMENT["corpus"]["editions"])
    verses = bible.presence.loc[NEW_TESTAMENT].index
    return ld.split(bible.sel(intents=verses).dropna()).sel(editions)


def train(recipe: Recipe, parts: ld.Parts, edition: str, seed: int) -> tuple[object, ...]:
    """Train one model on the processor, and return a row of the table."""
    start = time.process_time()
    model = ld.train_language_model(
        parts.train.text(edition), parts.dev.text(edition), recipe=recipe, seed=seed, device="cpu"
    )
    return recipe.name, edition, seed, model.dev_bits_per_character, time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = RECIPES | rivals()
    parser.add_argument("--recipes", nargs="+", choices=list(known), default=["char-small", "char-residual"])
    parser.add_argument("--editions", nargs="+", default=EDITIONS)
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--table", type=Path, help="CSV that rows are added to")
    options = parser.parse_args()
    if not (DATA / "bible").is_dir():
        print(f"no real data: {DATA / 'bible'} does not exist (set LANGDIFF_DATA)")
        return
    parts = read_parts(options.editions)
    found = options.table is not None and options.table.exists()
    table = pd.read_csv(options.table) if found else pd.DataFrame(columns=COLUMNS)
    done = set(table[COLUMNS[:3]].itertuples(index=False, name=None))
    for seed in options.seeds:
        for edition in options.editions:
            for name in options.recipes:
                if (name, edition, seed) in done:
                    continue
                row = train(known[name], parts, edition, seed)
                print("{} {} {} {:.4f} {:.0f} s".format(*row), flush=True)
                table.loc[len(table)] = list(row)
                if options.table is not None:
                    table.to_csv(options.table, index=False)
    shown = table[table["recipe"].isin(options.recipes)].astype({"dev_bits_per_character": float, "seconds": float})
    means = shown.groupby(["edition", "recipe"])[["dev_bits_per_character", "seconds"]].mean().unstack("recipe")
    print(means.round({"seconds": 0}).round(3).to_string())


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LangdiffWarning)  # rare characters outside the alphabet
        main()
