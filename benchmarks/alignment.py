"""What the check of alignment finds in real corpora, and of defects planted there.

python benchmarks/alignment.py DATA [--repeats N]

DATA holds the folders ``bible``, ``ntrex`` and ``flores200``. Printed are the findings; the share of planted defects
that are found, with false passages in the editions left alone; passages in tables whose residuals are permuted inside
each edition, where none should be; and processor seconds and memory for the Bibles.
"""

import argparse
import resource
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

import langdiff as ld
from langdiff.base.suspicion import SUSPICIONS
from langdiff.corpora.alignment.lengths import consensus_of
from langdiff.corpora.alignment.result import WRONG
from langdiff.tables.multitext import Multitext

SHIFTS = (8, 12, 20, 50, 200)
DEFECTS = (
    *((f"shift {n}", "shift", n) for n in SHIFTS),
    *((f"swap {n}+{n}", "swap", n) for n in (10, 20)),
    *((f"moved {n}", "moved", n) for n in (20, 50)),
    *((f"unrelated {n}", "unrelated", n) for n in (20, 50)),
    ("one line lost", "lost", 0),
    ("wrong file", "wrong", 0),
)
NEAR = 3  # lines by which the ends of a shift may be missed


def memory() -> float:
    """Return the greatest memory used so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def changed(multitext: Multitext, lengths: np.ndarray) -> Multitext:
    """Return a multitext of whose texts only lengths are known."""
    features = replace(multitext.measured(), lengths=lengths.astype(np.float32), striking=())
    presence = pd.DataFrame(np.isfinite(lengths), index=multitext.intents, columns=multitext.editions)
    hashes = np.arange(1, lengths.size + 1, dtype=np.uint64).reshape(lengths.shape)
    features = replace(features, intents=presence.index, editions=presence.columns, hashes=hashes)
    return replace(multitext, presence=presence, features=features)


def plant(lengths: np.ndarray, kind: str, size: int, column: int, random: np.random.Generator) -> tuple[int, int]:
    """Change the lengths of an edition; return the rows from the first changed to the last."""
    own = np.flatnonzero(np.isfinite(lengths[:, column]))
    values = lengths[own, column].copy()
    n, span = len(own), max(size, 1)
    start = int(random.integers(5, n - 2 * span - 10)) if kind not in ("lost", "wrong") else 0
    here = np.arange(start, start + span)
    if kind == "shift":
        values[here] = values[here + int(random.choice([1, -1]))]
    elif kind == "swap":
        values[start : start + 2 * span] = np.concatenate([values[here + span], values[here]])
        here = np.arange(start, start + 2 * span)
    elif kind in ("moved", "unrelated"):
        far = int(random.integers(0, n - span))
        values[here] = values[far : far + span] if kind == "moved" else random.permutation(values)[:span]
    elif kind == "lost":
        values, here = np.append(values[1:], values[-1]), np.arange(n)
    else:
        values, here = random.permutation(values), np.arange(n)
    lengths[own, column] = values
    return int(own[here[0]]), int(own[here[-1]])


def planted(name: str, multitext: Multitext, repeats: int) -> None:
    """Print the share of defects found, with the ends of shifts and false passages."""
    random = np.random.default_rng(0)
    before = ld.corpora.check_alignment(multitext, progress=False).passages
    known = {(row.edition, row.first) for row in before.itertuples()}
    at = {intent: row for row, intent in enumerate(multitext.intents)}
    n_false = n_scans = n_near = n_shifts = 0
    found_of = {}
    for title, kind, size in DEFECTS:
        n_found = n_planted = 0
        for _ in range(repeats):
            lengths = multitext.measured().lengths.astype(float)
            n_editions = lengths.shape[1]
            chosen = random.choice(n_editions, max(n_editions // 8, 1), replace=False)
            places = {multitext.editions[j]: plant(lengths, kind, size, j, random) for j in chosen}
            passages = ld.corpora.check_alignment(changed(multitext, lengths), progress=False).passages
            passages = passages[passages["kind"].isin(WRONG)]
            for edition, (first, last) in places.items():
                own = passages[passages["edition"] == edition]
                ends = [(at[row.first], at[row.last]) for row in own.itertuples()]
                hits = [end for end in ends if end[0] <= last and end[1] >= first]
                n_planted += 1
                n_found += bool(hits)
                if kind == "shift" and hits:
                    n_shifts += 1
                    n_near += any(abs(one - first) <= NEAR and abs(two - last) <= NEAR for one, two in hits)
            others = passages[~passages["edition"].isin(list(places))]
            n_false += sum((row.edition, row.first) not in known for row in others.itertuples())
            n_scans += n_editions - len(places)
        found_of[title] = n_found / n_planted
    print(f"\n{name}: share of planted defects found, {repeats} times {len(places)} editions each")
    print("; ".join(f"{title} {share:.2f}" for title, share in found_of.items()))
    print(f"false passages: {n_false} in {n_scans:,} scans; ends of shifts within {NEAR}: {n_near} of {n_shifts}")


def permuted(name: str, multitext: Multitext, n_tables: int) -> None:
    """Print the number of passages in tables whose residuals are permuted inside each edition."""
    random = np.random.default_rng(1)
    lengths = multitext.measured().lengths.astype(float)
    consensus = consensus_of(lengths)
    residuals = consensus.rest - consensus.typical[:, None]
    counts = []
    for _ in range(n_tables):
        table = lengths - residuals
        for j in range(lengths.shape[1]):
            own = np.flatnonzero(np.isfinite(residuals[:, j]))
            table[own, j] += random.permutation(residuals[own, j])
        passages = ld.corpora.check_alignment(changed(multitext, table), progress=False).passages
        counts.append(int(passages["kind"].isin((*WRONG, "level")).sum()))
    print(f"{name}: {sum(counts)} passages in {n_tables} tables with permuted residuals")


def main() -> None:
    """Print all of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--corpus", choices=("ntrex", "flores200", "bible"), action="append")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in given.corpus or ("ntrex", "flores200", "bible"):
        multitext = ld.read_multitext(
            given.data / name, format="pbc" if name == "bible" else "moses", progress=False, trust=SUSPICIONS
        )
        before, start = memory(), time.process_time()
        found = ld.corpora.check_alignment(multitext, progress=False)
        seconds = time.process_time() - start
        print(f"\n{found.headline()}")
        for row in found.passages.itertuples():
            print(f"  {row.edition}: {row.says} [{row.gain:.0f} nats]")
        print(f"{name}: {seconds:.1f} s of processor time after reading, {memory() - before:.0f} MiB more memory")
        permuted(name, multitext, 2 if name == "bible" else 6 if name == "flores200" else 20)
        planted(name, multitext, given.repeats)


if __name__ == "__main__":
    main()
