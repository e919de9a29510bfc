"""Speed of language models on one thread: what batching by length brings, and scoring against training.

Run ``python benchmarks/lm.py [RECIPE] [SECONDS]``. Ratios are of rates measured in turn in one run, so
that a busy machine disturbs both sides alike.
"""

import sys
import time
from collections.abc import Callable, Iterator

import numpy as np
import torch

from langdiff.lm import Alphabet, BPEUnits, CharacterUnits
from langdiff.lm._batches import pad, rows_by_length
from langdiff.lm._gradients import accumulate_gradients
from langdiff.lm._scoring import one_thread, score
from langdiff.lm.language_model import build_network
from langdiff.lm.presets import find_recipe

LANGUAGE_SEED = 7
ROUNDS = 5


def verses(n: int = 3000) -> list[str]:
    """Draw texts with the lengths of Bible verses (log-normal about 115 characters) and Zipfian words."""
    rng = np.random.default_rng(LANGUAGE_SEED)
    letters = np.array(list("etaoinshrdlucmfwypvbgkjqxz"))
    weights = 1 / np.arange(1, len(letters) + 1)
    words = np.array(["".join(rng.choice(letters, rng.integers(1, 9), p=weights / weights.sum())) for _ in range(9000)])
    ranks = 1 / np.arange(1, len(words) + 1)
    lengths = np.maximum(3, rng.lognormal(3.0, 0.45, n)).astype(int)
    return [" ".join(rng.choice(words, length, p=ranks / ranks.sum())) for length in lengths]


def random_rows(lengths: np.ndarray, most_units: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Divide intents into batches in random order, of as many as make most_units on average."""
    size = max(1, round(most_units / lengths.mean()))
    order = rng.permutation(len(lengths))
    return [order[start : start + size] for start in range(0, len(order), size)]


def endless(batches: Callable[[], list[np.ndarray]]) -> Iterator[np.ndarray]:
    while True:
        yield from batches()


def rates(runs: dict[str, Callable[[], int]], seconds: float) -> dict[str, float]:
    """Run each in turn, several times; return characters a second, the median of the rounds."""
    measured: dict[str, list[float]] = {name: [] for name in runs}
    for run in runs.values():
        run()  # warm up
    for _ in range(ROUNDS):
        for name, run in runs.items():
            start, characters = time.perf_counter(), 0
            while time.perf_counter() - start < seconds / ROUNDS:
                characters += run()
            measured[name].append(characters / (time.perf_counter() - start))
    return {name: float(np.median(values)) for name, values in measured.items()}


def main(recipe_name: str = "char-small", seconds: float = 20.0) -> None:
    recipe = find_recipe(recipe_name)
    texts = verses()
    alphabet = Alphabet.from_texts(texts)
    texts = [alphabet.apply(text) for text in texts]
    units = CharacterUnits(alphabet)
    if recipe.units == "bpe":
        units = BPEUnits.train(texts, alphabet, ratio=recipe.bpe_ratio)
    encoded = [units.encode(text) for text in texts]
    lengths = np.array([len(ids) + 1 for ids in encoded])
    characters = np.array([len(text) for text in texts])
    rng = np.random.default_rng(0)
    network = build_network(recipe, units, torch.Generator().manual_seed(0))
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-3, fused=True)

    def train_on(batches: Iterator[np.ndarray]) -> Callable[[], int]:
        def step() -> int:
            rows = next(batches)
            network.train()
            optimizer.zero_grad(set_to_none=True)
            batch = pad([encoded[row] for row in rows], units.size, torch.device("cpu"))
            accumulate_gradients(network, batch, recipe, None)
            optimizer.step()
            return int(characters[rows].sum())

        return step

    def score_some() -> int:
        network.eval()
        rows = rng.choice(len(encoded), 500, replace=False)
        score(network, [encoded[row] for row in rows])
        return int(characters[rows].sum())

    runs = {
        "training, by length": train_on(
            endless(lambda: rows_by_length(lengths, most_units=recipe.batch_units, rng=rng))
        ),
        "training, random batches": train_on(endless(lambda: random_rows(lengths, recipe.batch_units, rng))),
        "scoring": score_some,
    }
    with one_thread():
        measured = rates(runs, seconds)
    print(f"{recipe.name}, {len(texts):,} texts, {characters.mean():.0f} characters on average, float32, 1 thread")
    for name, rate in measured.items():
        print(f"  {name:26} {rate:10,.0f} characters/s")
    by_length = measured["training, by length"]
    print(f"  by length / random batches {by_length / measured['training, random batches']:10.2f}")
    print(f"  scoring / training         {measured['scoring'] / by_length:10.2f}")


if __name__ == "__main__":
    main(*sys.argv[1:2], *map(float, sys.argv[2:3]))
