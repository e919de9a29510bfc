"""The fast recipes against the published ones, in small: dev bits a character by epochs.

    OMP_NUM_THREADS=1 python benchmarks/recipes.py [--units char] [--epochs 50] [--verses 1500] [--hidden 128]

Both train on verses of one New Testament (folder LANGDIFF_DATA, ../shared/data by default) with layers of the
same small width. The published recipe gets all epochs, its decay at three and four fifths of them; the fast one
a fifth. Prints the curves, and whether the fast one reached the best of the published one.
"""

import argparse
import os
from dataclasses import replace
from pathlib import Path

import langdiff as ld
from langdiff.lm import RECIPES, Recipe

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--units", choices=RECIPES_OF, default="char")
    parser.add_argument("--edition", default="eng-web")
    parser.add_argument("--epochs", type=int, default=50)
    parser.add_argument("--verses", type=int, default=1500)
    parser.add_argument("--hidden", type=int, default=128)
    options = parser.parse_args()
    bible = ld.read_multitext(DATA / "bible" / f"{options.edition}.txt.gz", format="pbc")
    verses = bible.sel(intents=[i for i in bible.intents if str(i) >= "40001001"]).map_text(ld.tokenize)
    texts = verses.text(bible.editions[0]).to_list()
    dev, train = texts[::20][:200], [text for row, text in enumerate(texts) if row % 20][: options.verses]
    slow, fast = RECIPES_OF[options.units]
    curves = {}
    for name, epochs in ((slow, options.epochs), (fast, options.epochs // 5)):
        recipe = in_small(RECIPES[name], epochs, options.hidden)
        curves[name] = ld.train_language_model(train, dev, recipe=recipe, seed=0, device="cpu").to_frame()
    print(
        f"{options.edition}, {len(train):,} verses, {sum(map(len, train)):,} characters, hidden size {options.hidden}"
    )
    for name, curve in curves.items():
        print(f"\n{name}: {len(curve)} epochs, {curve['seconds'].sum():.0f} s")
        print(curve["dev_bits_per_character"].round(3).to_string())
    best = {name: curve["dev_bits_per_character"].min() for name, curve in curves.items()}
    reached = "reached" if best[fast] <= best[slow] else "NOT reached"
    print(f"\nbest of {slow} {best[slow]:.3f}, of {fast} in a fifth of the epochs {best[fast]:.3f}: {reached}")


if __name__ == "__main__":
    main()
