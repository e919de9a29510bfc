"""Speed of reading, tokenising and inventing multitexts: ``python benchmarks/corpora.py [DATA]``."""

import os
import resource
import sys
import tempfile
import time
from pathlib import Path

from langdiff.corpora import detokenize, read_multitext, synthesize, tokenize, write_multitext


def timed(function):
    start = time.perf_counter()
    result = function()
    return result, time.perf_counter() - start


def peak_mib():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def tokenizer(texts, what):
    tokenize("")  # builds its table of characters once
    size = sum(len(text.encode()) for text in texts) / 1e6
    tokens, forth = timed(lambda: [tokenize(text) for text in texts])
    again, back = timed(lambda: [detokenize(text) for text in tokens])
    assert again == texts
    print(f"tokenize, {what:<18} {size / forth:8.1f} MB/s   detokenize {size / back:8.1f} MB/s")


def synthetic(intents, languages):
    made, seconds = timed(lambda: synthesize(intents, languages, seed=0))
    print(f"synthesize {intents:,} intents × {languages} languages: {seconds:.2f} s")
    return made


def bibles(folder):
    read, seconds = timed(lambda: read_multitext(folder))
    cells = int(read.presence.to_numpy().sum())
    print(f"catalogue {len(read.editions)} editions, {cells:,} verses: {seconds:.1f} s, {peak_mib():.0f} MiB")
    sizes, seconds = timed(read.edition_sizes)
    print(f"read and count all texts, {sizes['characters'].sum():,} characters: {seconds:.1f} s, {peak_mib():.0f} MiB")
    for edition in ("eng-kjv", "rus-synodal", "hin-irv", "cmn-cuvsimp"):
        if edition in read.editions:
            tokenizer(read.text(edition).tolist(), edition)
    with tempfile.TemporaryDirectory() as copy:
        _, seconds = timed(lambda: write_multitext(read, copy))
        print(f"write all: {seconds:.1f} s")
        again, seconds = timed(lambda: read_multitext(copy))
        assert again.presence.equals(read.presence)
        assert all(again.text(edition).equals(read.text(edition)) for edition in read.editions)
        print(f"catalogue the copy: {seconds:.1f} s; all texts are the same")


def main():
    tokenizer(synthetic(10_000, 10).multitext.text("agglutinating-sov").tolist(), "short sentences")
    tokenizer(["a, b. " * 1_000_000], "one long line")
    root = Path(__file__).resolve().parents[1]
    data = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("LANGDIFF_DATA", root.parent / "shared" / "data")
    folder = Path(data) / "bible"
    if folder.is_dir():
        bibles(folder)
    else:
        print(f"no Bibles: {folder} does not exist")


if __name__ == "__main__":
    main()
