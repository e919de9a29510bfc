"""Coverage of all pairs of equal editions together: intervals of max-t, adjusted p-values and rank sets.

Bits are log-normal around sizes of 150 bits (s.d. .6), with noise of s.d. .17 at 150 bits. Books have the sizes of
those of the New Testament. Run ``python benchmarks/all_pairs.py [--tables 200] [--editions 8]``.
"""

import argparse
import warnings

import numpy as np
import pandas as pd

import langdiff as ld
from langdiff.errors import LangdiffWarning

BOOKS = (1071, 678, 1151, 879, 1007, 433, 437, 257, 149, 155, 104, 95, 89, 47, 113, 83, 46, 25, 303, 108, 105, 61, 105)
BOOKS += (13, 14, 25, 404)  # verses
NOISE, SIZE, SPREAD, SHARED = 0.17, 150.0, 0.6, 0.1


def draw(intents: int, editions: int, seed: int, *, by_book: bool) -> tuple[pd.DataFrame, pd.Series | None]:
    """Draw a table of equal editions, and the book of each intent."""
    rng = np.random.default_rng([5, seed])
    names = [f"i{row}" for row in range(intents)]
    sizes = SIZE * np.exp(rng.normal(0, SPREAD, intents))
    noise, clusters = rng.normal(0, 1, (intents, editions)), None
    if by_book:
        counts = np.maximum(np.round(intents * np.array(BOOKS) / sum(BOOKS)), 1).astype(int)
        book = np.resize(np.repeat(np.arange(len(BOOKS)), counts), intents)
        shared = rng.normal(0, 1, (len(BOOKS), editions))
        noise = np.sqrt(1 - SHARED) * noise + np.sqrt(SHARED) * shared[book]
        clusters = pd.Series(book.astype(str), names, name="book")
    bits = sizes[:, None] * np.exp(NOISE * np.sqrt(SIZE / sizes)[:, None] * noise)
    return pd.DataFrame(bits, names, [f"e{place}" for place in range(editions)]), clusters


def main() -> None:
    """Print one line per kind of table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--editions", type=int, default=8)
    given = parser.parse_args()
    warnings.simplefilter("ignore", LangdiffWarning)
    for name, intents, by_book in (("80 intents", 80, False), ("600 intents", 600, False), ("27 books", 600, True)):
        rows = []
        for seed in range(given.tables):
            bits, clusters = draw(intents, given.editions, seed, by_book=by_book)
            fit = ld.fit(bits, clusters=clusters, errors="sandwich", dispersion="common")
            pairs = fit.pairs()
            frame, whole = pairs.frame, (pairs.ranks["rank_high"] - pairs.ranks["rank_low"] == given.editions - 1)
            inside = ((frame["low"] <= 0) & (frame["high"] >= 0)).all()
            rejected = [(frame[column] < 0.05).any() for column in ("p", "p_adjusted")]
            rows.append([inside, *rejected, whole.all(), pairs.critical, fit.effects.ranks()[1].max()])
        covered, single, adjusted, ranks, critical, highest = np.mean(rows, axis=0)
        print(
            f"{name}: all pairs covered {100 * covered:.1f}, some p < .05 {100 * single:.1f}, some adjusted "
            f"{100 * adjusted:.1f}, all rank sets right {100 * ranks:.1f}, critical value {critical:.2f}, mean of the "
            f"largest P(rank 1) {highest:.2f}"
        )


if __name__ == "__main__":
    main()
