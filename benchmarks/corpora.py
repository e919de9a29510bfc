"""Speed of reading, tokenizing and inventing multitexts: ``python benchmarks/corpora.py [DATA]``.

``python benchmarks/corpora.py --scale`` catalogues and draws 1,000 made-up editions of 40,000 verses instead (1.5 GB of
files in the temporary folder while it runs).
"""

import gzip
import lzma
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from langdiff.corpora import detokenize, read_multitext, synthesize, tokenize, write_multitext
from langdiff.errors import DataError

EXTREME = {  # lines of the length of a verse
    "marks": ".?!" * 40,
    "marks and letters": "a," * 40,
    "pictographs": "\U0001f600 " * 40,
    "no spaces": "abcdefghij" * 12,
    "spaces": " " * 120,
}


def timed(function, clock=time.perf_counter):
    start = clock()
    result = function()
    return result, clock() - start


def peak_mib():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def tokenizer(texts, what):
    tokenize("")  # builds its table of characters once
    size = sum(len(text.encode()) for text in texts) / 1e6
    tokens, forth = timed(lambda: [tokenize(text) for text in texts], time.process_time)
    again, back = timed(lambda: [detokenize(text) for text in tokens], time.process_time)
    assert again == texts
    print(f"tokenize, {what:<18} {size / forth:8.1f} MB/s of CPU   detokenize {size / back:8.1f} MB/s")


def synthetic(intents, languages):
    made, seconds = timed(lambda: synthesize(intents, languages, seed=0))
    print(f"synthesize {intents:,} intents × {languages} languages: {seconds:.2f} s")
    return made


def bibles(folder):
    files = sorted(folder.glob("*.txt.gz"))
    read, seconds = timed(lambda: read_multitext(folder), time.process_time)
    _, bare = timed(lambda: [len(gzip.decompress(file.read_bytes()).decode()) for file in files], time.process_time)
    cells = int(read.presence.to_numpy().sum())
    print(
        f"catalogue {len(read.editions)} editions, {cells:,} verses: {seconds:.1f} s of CPU, {seconds / bare:.2f} "
        f"times what decompressing and decoding alone take ({bare:.1f} s); {peak_mib():.0f} MiB"
    )
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


def made_up(folder, editions, verses):
    """Write files of the Parallel Bible Corpus; three in four have the last fifth of the verses alone."""
    # of books that may have any chapters and verses
    ids = [f"{87 + n // 10_000}{1 + n % 10_000 // 100:03}{1 + n % 100:03}" for n in range(verses)]
    lines = [f"{verse}\tand it was verse {verse} of all\n" for verse in ids]
    rng = np.random.default_rng(0)
    for j in range(editions):
        have = rng.random(verses) < 0.98
        have[: 4 * verses // 5] &= j % 4 == 0
        Path(folder, f"{'abcdefghij'[j % 10]}aa-edition{j:04}.txt").write_text(
            "".join(line if here else f"{verse}\t\n" for verse, line, here in zip(ids, lines, have, strict=True))
        )


def scale(editions=1000, verses=40_000):
    with tempfile.TemporaryDirectory() as folder:
        made_up(folder, editions, verses)
        before = peak_mib()
        read, seconds = timed(lambda: read_multitext(folder, progress=True))
        print(f"{read!r}: {seconds:.0f} s, peak {peak_mib():.0f} MiB ({before:.0f} before)")
        kept, seconds = timed(lambda: read.sel(editions=read.editions[::4]).dropna())
        print(f"sel and dropna, {len(kept):,} intents left: {seconds:.2f} s, peak {peak_mib():.0f} MiB")


def small_bombs():
    """Read small files that expand to many lines, which is refused."""
    for ending, pack in {"gz": gzip.compress, "xz": lzma.compress}.items():
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, f"deu-a.txt.{ending}")
            file.write_bytes(pack(b"\n" * (8 << 20)))
            begin = time.process_time()
            try:
                read_multitext(file, format="pbc")
            except DataError as error:
                seconds = time.process_time() - begin
                print(f"{file.stat().st_size:,} bytes of .{ending} with 8 MiB of line ends: {seconds:.2f} s; {error}")


def main():
    if sys.argv[1:] == ["--scale"]:
        scale()
        return
    tokenizer(synthetic(10_000, 10).multitext.text("agglutinating-sov").tolist(), "short sentences")
    tokenizer(["a, b. " * 1_000_000], "line of 6 MB")
    for what, line in EXTREME.items():
        tokenizer([line] * 2000, what)
    small_bombs()
    root = Path(__file__).resolve().parents[1]
    data = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("LANGDIFF_DATA", root.parent / "shared" / "data")
    folder = Path(data) / "bible"
    if folder.is_dir():
        bibles(folder)
    else:
        print(f"no Bibles: {folder} does not exist")


if __name__ == "__main__":
    main()
