"""Training and scoring where alphabets or single texts are large: characters a second of processor time, and memory.

    OMP_NUM_THREADS=1 python benchmarks/large_texts.py [--symbols 46 5000 20000] [--recipe char-residual]
    OMP_NUM_THREADS=1 python benchmarks/large_texts.py --line 1000000 [--recipe char-transformer]

The first form trains one epoch on 50,000 characters with Zipfian symbols, 100 characters a text; its rival is a plain
`nn.LSTM` with a softmax of the same sizes, whose steps on the same batches are timed in the same process. The second
trains one epoch on one text of so many characters and scores it. Every row is measured in a process of its own.
"""

import argparse
import resource
import subprocess
import sys
import time
import warnings
from dataclasses import replace

import numpy as np
import torch
import torch.nn.functional as F

import langdiff as ld
from langdiff.lm import RECIPES
from langdiff.lm.lstm.batches import pad, rows_by_length
from langdiff.lm.lstm.loop import EpochLoop

CHARACTERS, LENGTH, CPU = 50_000, 100, torch.device("cpu")


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20  # GiB


def texts_of(symbols, characters, length, seed=0):
    """Draw texts of a Markov source: a symbol follows from the one before in half of the cases."""
    rng = np.random.default_rng(seed)
    letters = [chr(code) for code in range(0x4E00, 0x4E00 + symbols)]
    weights = 1 / np.arange(1, symbols + 1)
    drawn = rng.choice(symbols, characters, p=weights / weights.sum())
    follows = rng.random(characters) < 0.5
    for place in range(1, characters):
        if follows[place]:
            drawn[place] = (drawn[place - 1] * 31 + 7) % symbols
    drawn[rng.choice(characters, min(symbols, characters), replace=False)] = np.arange(min(symbols, characters))
    joined = "".join(letters[number] for number in drawn)
    return [joined[start : start + length] for start in range(0, characters, length)]


def plain_rate(encoded, size, recipe, seconds=10.0):
    """Return the characters a second of a plain LSTM on batches of the recipe."""
    embedding = torch.nn.Embedding(size, recipe.embedding_size)
    lstm = torch.nn.LSTM(recipe.embedding_size, recipe.hidden_size, recipe.layers)
    decoder = torch.nn.Linear(recipe.hidden_size, size)
    weights = [*embedding.parameters(), *lstm.parameters(), *decoder.parameters()]
    optimizer = torch.optim.AdamW(weights, lr=1e-3, fused=True)
    lengths = np.array([len(ids) + 1 for ids in encoded])
    batches = rows_by_length(lengths, most_units=recipe.batch_units, rng=np.random.default_rng(0))
    done, start = 0, time.process_time()
    for rows in batches:
        batch = pad([encoded[row] for row in rows], size - 1, CPU)
        optimizer.zero_grad(set_to_none=True)
        logits = decoder(lstm(embedding(batch.inputs))[0]).flatten(0, 1)
        F.cross_entropy(logits, batch.targets.flatten()).backward()
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        done += int(lengths[rows].sum())
        if time.process_time() - start > seconds:
            break
    return done / (time.process_time() - start)


def measure(symbols, recipe, line):
    """Train and score in this process, and print what it took."""
    texts = texts_of(symbols, line or CHARACTERS, line or LENGTH)
    dev = texts_of(symbols, 2_000, LENGTH, seed=1)
    spent, train_once = [], EpochLoop.train_once

    def timed(loop, number):
        spent.append((time.process_time(), loop.train.intents, loop._end + 1))
        bits = train_once(loop, number)
        spent.append(time.process_time())
        return bits

    EpochLoop.train_once = timed
    before, start = peak(), time.process_time()
    model = ld.train_language_model(
        texts, dev, recipe=replace(recipe, epochs=1, min_count=1), seed=0, device="cpu", progress=False
    )
    trained = time.process_time()
    (begun, encoded, size), ended = spent
    row = [f"{recipe.name}, {size - 1:,} symbols, texts of {len(texts[0]):,}: epoch {ended - begun:.1f} s of CPU"]
    row += [f"{sum(map(len, texts)) / (ended - begun):,.0f} characters/s, all of training {trained - start:.1f} s"]
    if line:
        bits = model.surprisal(texts)["bits"].sum()
        row.append(f"scoring {time.process_time() - trained:.1f} s, {bits / line:.3f} bits/character")
    row.append(f"peak {peak():.2f} GiB, {before:.2f} before")
    if not line:
        row.append(f"{sum(map(len, texts)) / (ended - begun) / plain_rate(encoded, size, recipe):.2f} of nn.LSTM")
    print("; ".join(row), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--symbols", type=int, nargs="+", default=[46, 5_000, 20_000])
    parser.add_argument("--line", type=int, help="characters of the only text")
    parser.add_argument("--recipe", default="char-residual")
    options = parser.parse_args()
    symbols = [46] if options.line else options.symbols
    if len(symbols) == 1:
        warnings.simplefilter("ignore")
        torch.set_num_threads(1)
        measure(symbols[0], RECIPES[options.recipe], options.line)
        return
    for each in symbols:
        subprocess.run([sys.executable, __file__, "--symbols", str(each), "--recipe", options.recipe], check=True)


if __name__ == "__main__":
    main()
