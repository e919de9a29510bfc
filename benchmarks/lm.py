"""Speed of language models on one thread: against the published training step, by length, scoring, bfloat16.

    OMP_NUM_THREADS=1 python benchmarks/lm.py [--recipe char-small] [--seconds 20]
    OMP_NUM_THREADS=1 python benchmarks/lm.py --reference [--size 128-512-128] [--streams 64] [--seconds 60]

Rates are characters a second of processor time, of steps taken in turn, so that a busy machine disturbs all alike.
The second form compares with `reference_step.py` at three sizes (widths of the embedding, then of each layer).
"""

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import torch
from reference_step import ReferenceTraining

from langdiff.lm import RECIPES
from langdiff.lm.device import one_thread
from langdiff.lm.lstm.batches import Segment, cut, lay_out, pad, rows_by_length
from langdiff.lm.lstm.gradients import accumulate_gradients
from langdiff.lm.lstm.model import build_network
from langdiff.lm.lstm.scoring import score
from langdiff.lm.units.alphabet import Alphabet
from langdiff.lm.units.bpe import BPEUnits
from langdiff.lm.units.characters import CharacterUnits

LANGUAGE_SEED = 7
# embedding and hidden size, layers; the last layer is as wide as the embedding
SIZES = {"64-64": (64, 64, 1), "128-512-128": (128, 512, 2), "200-1000-1000-200": (200, 1000, 3)}
BPTT = 100


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
    """Run each in turn for so many seconds of processor time in all; return characters a second."""
    spent, characters = dict.fromkeys(runs, 0.0), dict.fromkeys(runs, 0)
    for run in runs.values():
        run()  # warm up
    while sum(spent.values()) < seconds:
        for name, run in runs.items():
            start = time.process_time()
            characters[name] += run()
            spent[name] += time.process_time() - start
    return {name: characters[name] / spent[name] for name in runs}


class Ours:
    """Training steps of a recipe, on texts or on a stream of them."""

    def __init__(self, recipe, encoded, units):
        self.recipe, self.encoded, self.end = recipe, encoded, units.size
        self.network = build_network(recipe, units.size + 1, torch.Generator().manual_seed(0))
        self.optimizer = torch.optim.AdamW(self.network.parameters(), lr=1e-3, fused=True)
        self.generator = torch.Generator().manual_seed(0)

    def _learn(self, batch, state=None):
        self.network.train()
        self.optimizer.zero_grad(set_to_none=True)
        loss = accumulate_gradients(self.network, batch, self.recipe, self.generator, state)
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.recipe.gradient_clip)
        self.optimizer.step()
        return loss.state

    def on_batches(self, batches: Iterator[np.ndarray]) -> Callable[[], int]:
        """Learn from padded batches of texts."""

        def step() -> int:
            rows = next(batches)
            self._learn(pad([self.encoded[row] for row in rows], self.end, torch.device("cpu")))
            return sum(len(self.encoded[row]) + 1 for row in rows)

        return step

    def on_streams(self, streams: torch.Tensor, bptt: int) -> Callable[[], int]:
        """Learn from stretches of a stream, as `context="stream"` does."""
        places = endless(lambda: list(range(0, len(streams) - bptt, bptt)))
        state = None

        def step() -> int:
            nonlocal state
            place = next(places)
            batch = cut(streams, Segment(place, place + bptt, 1.0))
            state = self._learn(batch, state if place else None)
            return batch.targets.numel()

        return step


def product_rate(rows: int, hidden: int, seconds: float = 2.0) -> float:
    """Return the rate of the product that an LSTM waits for at each time, (rows, hidden) x (hidden, 4 hidden)."""
    state, weights = torch.rand(rows, hidden), torch.rand(4 * hidden, hidden)
    out = torch.empty(rows, 4 * hidden)
    times, start = 0, time.process_time()
    while time.process_time() - start < seconds:
        for _ in range(100):
            torch.mm(state, weights.T, out=out)
        times += 100
    return times * 2 * rows * hidden * 4 * hidden / (time.process_time() - start) / 1e9


def compare_with_reference(size: str, streams: int, seconds: float) -> None:
    """Print rates of the published step and of ours, alike in sizes, dropout, optimizer and units a batch."""
    embedding, hidden, layers = SIZES[size]
    recipe = replace(RECIPES["char-ptb"], embedding_size=embedding, hidden_size=hidden, layers=layers)
    texts = verses()
    alphabet = Alphabet.from_texts(texts)
    units = CharacterUnits(alphabet)
    encoded = [units.encode(alphabet.apply(text)) for text in texts]
    lengths, rng = np.array([len(ids) + 1 for ids in encoded]), np.random.default_rng(0)
    laid_out = lay_out(encoded, units.size, streams)

    def by_length(larger: int = 1) -> list[np.ndarray]:
        return rows_by_length(lengths, most_units=larger * streams * BPTT, rng=rng)

    single, half = (Ours(replace(recipe, half="bfloat16" if bf16 else None), encoded, units) for bf16 in (False, True))
    runs = {
        "published step": ReferenceTraining(laid_out, BPTT, units.size + 1, recipe).step,
        "ours, stream": single.on_streams(laid_out, BPTT),
        "ours, by length": single.on_batches(endless(by_length)),
        "ours, batches twice as large": single.on_batches(endless(lambda: by_length(2))),
        "ours, stream, bf16": half.on_streams(laid_out, BPTT),
        "ours, by length, bf16": half.on_batches(endless(by_length)),
    }
    intents = [len(rows) for rows in by_length()]
    with one_thread():
        measured = rates(runs, seconds)
        products = {
            rows: product_rate(rows, hidden) for rows in (streams, *np.quantile(intents, [0.1, 0.5, 0.9]).astype(int))
        }
    print(f"{size}, {streams} streams x {BPTT} units, {units.size + 1} units")
    for name, rate in measured.items():
        print(f"  {name:28} {rate:10,.0f} characters/s {rate / measured['published step']:8.2f}", flush=True)
    shapes = ", ".join(f"{rows}: {rate:.1f}" for rows, rate in products.items())
    print(f"  GFLOP/s of the product of each time, by intents (streams, and the tenths 1, 5, 9 by length): {shapes}")


def compare_ways(recipe_name: str, seconds: float) -> None:
    """Print rates of training by length and in random batches, and of scoring."""
    recipe = RECIPES[recipe_name]
    texts = verses()
    alphabet = Alphabet.from_texts(texts)
    texts = [alphabet.apply(text) for text in texts]
    units = CharacterUnits(alphabet)
    if recipe.units == "bpe":
        units = BPEUnits.train(texts, alphabet, ratio=recipe.bpe_ratio)
    encoded = [units.encode(text) for text in texts]
    lengths = np.array([len(ids) + 1 for ids in encoded])
    a_unit = sum(map(len, texts)) / lengths.sum()  # characters
    rng = np.random.default_rng(0)
    ours, single = (
        Ours(replace(recipe, half="bfloat16" if bf16 else None), encoded, units) for bf16 in (recipe.half, None)
    )

    def by_length() -> list[np.ndarray]:
        return rows_by_length(lengths, most_units=recipe.batch_units, rng=rng)

    def score_some() -> int:
        ours.network.eval()
        rows = rng.choice(len(encoded), 500, replace=False)
        score(ours.network, [encoded[row] for row in rows])
        return int(lengths[rows].sum())

    runs = {
        "training, by length": ours.on_batches(endless(by_length)),
        "training, single precision": single.on_batches(endless(by_length)),
        "training, random batches": ours.on_batches(endless(lambda: random_rows(lengths, recipe.batch_units, rng))),
        "scoring": score_some,
    }
    with one_thread():
        measured = {name: rate * a_unit for name, rate in rates(runs, seconds).items()}
    print(f"{recipe.name}, {len(texts):,} texts, {np.mean([*map(len, texts)]):.0f} characters on average, 1 thread")
    for name, rate in measured.items():
        print(f"  {name:26} {rate:10,.0f} characters/s")
    by_length = measured["training, by length"]
    print(f"  by length / random batches {by_length / measured['training, random batches']:10.2f}")
    print(f"  scoring / training         {measured['scoring'] / by_length:10.2f}")
    in_single = measured["scoring"] / measured["training, single precision"]
    print(f"  the same in single precision {in_single:8.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recipe", default="char-small")
    parser.add_argument("--reference", action="store_true")
    parser.add_argument("--size", choices=SIZES, help="one of the three; all by default")
    parser.add_argument("--streams", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=20.0)
    options = parser.parse_args()
    if not options.reference:
        compare_ways(options.recipe, options.seconds)
        return
    for size in [options.size] if options.size else SIZES:
        compare_with_reference(size, options.streams, options.seconds)


if __name__ == "__main__":
    main()
