"""The fast recipes against the published ones, in small: dev bits per character, epochs and seconds.

    OMP_NUM_THREADS=1 python benchmarks/recipes.py [--units char] [--editions eng-web rus-synodal] [--plot curves.svg]

Both train on verses of the New Testament (folder LANGDIFF_DATA, ../shared/data by default) with layers of the same
small width. The published recipe gets all epochs, its decay at three and four fifths of them; the fast one a fifth.
"""

import argparse
import os
from dataclasses import replace
from pathlib import Path

import pandas as pd

import langdiff as ld
from langdiff.lm import RECIPES, Recipe
from langdiff.plots import plot_learning_curves

DATA = Path(os.environ.get("LANGDIFF_DATA", "../shared/data"))
RECIPES_OF = {"char": ("char-ptb", "char-fast"), "bpe": ("bpe-awd", "bpe-fast")}
STREAMS = 16  # in small; more would leave too few steps an epoch


def in_small(recipe: Recipe, epochs: int, hidden: int) -> Recipe:
    """Make layers narrower, batches smaller and epochs fewer; learn faster, as narrow layers can."""
    narrow = hidden // 2 if recipe.layers > 1 else hidden  # of the embedding and so of the last layer
    changes: dict[str, object] = {"embedding_size": narrow, "hidden_size": hidden, "epochs": epochs}
    if recipe.bptt is None:
        return replace(recipe, **changes, batch_units=1024, learning_rate=2.5 * recipe.learning_rate)
    decay = tuple(epochs * epoch // recipe.epochs for epoch in recipe.decay_epochs)
    return replace(recipe, **changes, patience=epochs, decay_epochs=decay, batch_units=STREAMS * recipe.bptt)


def verses_of(edition: str, most: int) -> tuple[list[str], list[str]]:
    """Return verses of the New Testament to learn from, and every twentieth to judge by."""
    bible = ld.read_multitext(DATA / "bible" / f"{edition}.txt.gz", format="pbc")
    verses = bible.sel(intents=[i for i in bible.intents if str(i) >= "40001001"]).map_text(ld.tokenize)
    texts = verses.text(bible.editions[0]).to_list()
    return [text for row, text in enumerate(texts) if row % 20][:most], texts[::20][:200]


def curve(edition: str, recipe: Recipe, texts: tuple[list[str], list[str]]) -> pd.DataFrame:
    """Train, and return one row an epoch."""
    model = ld.train_language_model(*texts, recipe=recipe, seed=0, device="cpu")
    return model.to_frame().reset_index().assign(edition=edition, lm=recipe.name, seed=0)


def row(edition: str, slow: pd.DataFrame, fast: pd.DataFrame) -> str:
    """Return a line of the table; the fast recipe is said to be there when it is as good as the other's best."""
    best = slow["dev_bits_per_character"].min()
    there = fast.loc[fast["dev_bits_per_character"] <= best, "epoch"]
    cells = [edition]
    for epochs in (slow, fast):
        cells += [f"{epochs['dev_bits_per_character'].min():.3f}", len(epochs), f"{epochs['seconds'].sum():.0f} s"]
    cells.append(int(there.iloc[0]) if len(there) else "not reached")
    return f"| {' | '.join(map(str, cells))} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--units", choices=RECIPES_OF, default="char")
    parser.add_argument("--editions", nargs="+", default=["eng-web"])
    parser.add_argument("--epochs", type=int, default=50)
    parser.add_argument("--verses", type=int, default=1500)
    parser.add_argument("--hidden", type=int, default=128)
    parser.add_argument("--plot", type=Path, help="picture of the curves")
    options = parser.parse_args()
    if not (DATA / "bible").is_dir():
        print(f"no real data: {DATA / 'bible'} does not exist (set LANGDIFF_DATA)")
        return
    names = RECIPES_OF[options.units]
    print(f"{options.verses:,} verses, layers of {options.hidden}; dev bits per character")
    print(f"| edition | {' | '.join(f'{name} | epochs | time' for name in names)} | as good after |", flush=True)
    curves = []
    for edition in options.editions:
        texts = verses_of(edition, options.verses)
        slow, fast = (
            curve(edition, in_small(RECIPES[name], epochs, options.hidden), texts)
            for name, epochs in zip(names, (options.epochs, options.epochs // 5), strict=True)
        )
        curves += [slow, fast]
        print(row(edition, slow, fast), flush=True)
    if options.plot:
        plot_learning_curves(pd.concat(curves, ignore_index=True)).figure.savefig(options.plot)


if __name__ == "__main__":
    main()
