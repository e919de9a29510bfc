"""How long `select` takes to prove its optimum, and what memory, beside the whole problem as one integer program.

Presence is simulated at the size of Mielke et al. (2019, appendix E: 131 candidate editions, 43,904 verse ids) and
beyond, and read from real Bibles where LANGDIFF_DATA names them. Each measurement is a process of its own, so that
peak memory is its own. Seconds are of processor time: they do not depend on what else the machine does.

    OMP_NUM_THREADS=1 python benchmarks/selection.py
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

import langdiff as ld
from langdiff.multitext import InMemoryText, Multitext

OLD, NEW, DEUTEROCANON = 23145, 7957, 5700  # verses; the other ids are numberings of other traditions
VERSES_A_CHAPTER, VERSES_A_BOOK = 26, 470


def simulate_presence(editions, *, intents=43904, new_testament_only=0.0, seed=0):
    """Draw which verse ids Bibles have: canons, numberings, books and chapters not translated, verses merged.

    Returns
    -------
    presence : ndarray of bool, shape (intents, editions)
    languages : ndarray of int, shape (editions,)
    """
    rng = np.random.default_rng(seed)
    part = np.repeat([0, 1, 2, 3], [OLD, NEW, DEUTEROCANON, intents - OLD - NEW - DEUTEROCANON])
    chapter, book = np.arange(intents) // VERSES_A_CHAPTER, np.arange(intents) // VERSES_A_BOOK
    renumbered = rng.random(chapter.max() + 1) < 0.06
    by_whom = rng.integers(1, 4, chapter.max() + 1)  # the tradition that counts a chapter otherwise
    merging = rng.gamma(0.6, 1.0, intents)  # some verses are merged with others more often
    presence = np.zeros((intents, editions), dtype=bool)
    for j in range(editions):
        tradition = rng.choice(4, p=[0.72, 0.12, 0.10, 0.06])
        here = part <= 1
        if tradition and rng.random() < 0.6:
            here |= part == 2
        if rng.random() < new_testament_only:
            here = part == 1
        elif rng.random() < 0.12:
            not_yet = rng.random(book.max() + 1) < rng.uniform(0.02, 0.4)
            here &= ~(not_yet[book] & (part != 1))
        if tradition:
            own = by_whom[chapter] == tradition
            here = (here & ~(renumbered[chapter] & own)) | ((part == 3) & own & here[0])
        merged = rng.random(intents) < np.minimum(10 ** rng.uniform(-4, -1.4) * merging, 1)
        lost = rng.random(chapter.max() + 1) < 10 ** rng.uniform(-4, -1.8)
        presence[:, j] = here & ~merged & ~lost[chapter]
    return presence, np.minimum(rng.geometric(0.012, editions), 400)


def catalogue(presence, languages):
    """Make a multitext without any text: selection does not read it."""
    intents = pd.RangeIndex(len(presence), name="intent")
    editions = pd.Index([f"e{j}" for j in range(presence.shape[1])], name="edition")
    return Multitext(
        presence=pd.DataFrame(presence, index=intents, columns=editions),
        edition_info=pd.DataFrame({"language": [f"l{one}" for one in languages]}, index=editions),
        intent_info=pd.DataFrame(index=intents),
        sources={edition: InMemoryText(pd.Series(dtype=object)) for edition in editions},
    )


def multitext(size, seed):
    if size == "bibles":
        return ld.read_multitext(Path(os.environ["LANGDIFF_DATA"]) / "bible")
    editions, intents, share = {"paper": (131, 43904, 0.0), "thousand": (1000, 43904, 0.8), "sixty": (60, 43904, 0.0)}[
        size
    ]
    return catalogue(*simulate_presence(editions, intents=intents, new_testament_only=share, seed=seed))


def measure(size, seed, objective, settings):
    """Run in this process and print what it took."""
    table = multitext(size, seed)
    started, clock = time.process_time(), time.monotonic()
    selection = ld.select(table, objective=objective, progress=False, **settings)
    seconds, elapsed = time.process_time() - started, time.monotonic() - clock
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    units = selection.value // len(selection.intents)
    closed = ", ".join(f"{name} {count}" for name, count in selection.certificate["closed"].value_counts().items())
    print(json.dumps([seconds, elapsed, peak, units, len(selection.intents), 100 * selection.gap, closed]))


def row(size, seed, objective, **settings):
    command = [sys.executable, __file__, "--size", size, "--seed", str(seed), "--objective", objective]
    done = subprocess.run([*command, "--settings", json.dumps(settings)], check=True, capture_output=True, text=True)
    seconds, elapsed, peak, units, intents, gap, closed = json.loads(done.stdout.splitlines()[-1])
    state = "optimal" if gap == 0 else f"gap {gap:.2f} %"
    print(
        f"{size:9} {seed:4} {objective:10} {seconds:8.2f} {elapsed:8.2f} {peak:9.0f} {units:6} {intents:8,} "
        f"{state:12} {closed}",
        flush=True,
    )
    return seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=["paper", "thousand", "bibles", "direct"], help="one part of the table")
    parser.add_argument("--size", help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--objective", help=argparse.SUPPRESS)
    parser.add_argument("--settings", default="{}", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.size:
        measure(options.size, options.seed, options.objective, json.loads(options.settings))
        return
    print("size      seed objective   CPU (s) wall (s)  peak MiB  units  intents state        closed by")
    for objective in ("cells", "languages"):
        if options.only in (None, "paper"):
            for seed in range(3):
                row("paper", seed, objective, min_intents=20000, time_limit=600)
        if options.only in (None, "bibles") and "LANGDIFF_DATA" in os.environ:
            row("bibles", 0, objective, min_intents=20000)
        if options.only in (None, "direct"):
            ours = row("sixty", 0, objective, min_intents=20000)
            whole = row("sixty", 0, objective, min_intents=20000, method="direct", time_limit=300)
            print(f"  the second is one integer program: {whole / ours:,.0f} times as long")
    if options.only in (None, "thousand"):
        row("thousand", 0, "cells", min_intents=1, time_limit=300)


if __name__ == "__main__":
    main()
