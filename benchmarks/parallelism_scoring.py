"""Cost of the metrics of parallelism: against their plain definition, against pyrallelism, and on large documents.

Ratios of processor times of one run. The references are the test split of the annotated sermons (ASP), the hypotheses a
seeded perturbation of them. ``LANGDIFF_DATA`` names the folder of the data; without it, documents of the same size are
made up.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from langdiff.parallelism import Document, Parallelism, make_document, read_parallelisms, score_parallelisms
from langdiff.parallelism.matching import METRICS, match_parallelisms

SEED = 1


def perturbed(document: Document, rng: np.random.Generator) -> Document:
    """Drop one parallelism in eight and move each end of a branch by a token or none."""
    kept = []
    for one in document.parallelisms:
        if rng.random() < 1 / 8:
            continue
        branches, last = [], 0
        for start, end in one.branches:
            start = max(last, start + int(rng.integers(-1, 2)))
            end = min(len(document.tokens), max(start + 1, end + int(rng.integers(-1, 2))))
            if start < end:
                branches.append((start, end))
                last = end
        kept.append(Parallelism(tuple(branches)))
    return make_document(document.name, document.tokens, kept, document.sections)


def synthetic(n_parallelisms: int, name: str = "d") -> Document:
    """Make up a document: 2 or 3 branches of about 4 tokens per parallelism, some tokens between all of them."""
    rng = np.random.default_rng(SEED)
    place, found = 0, []
    for count in rng.integers(2, 4, n_parallelisms).tolist():
        branches = []
        for length, gap in rng.integers(1, 8, (count, 2)).tolist():
            branches.append((place, place + length))
            place += length + gap
        found.append(Parallelism(tuple(branches)))
    return make_document(name, ["w"] * place, found)


def test_split(data: Path | None) -> dict[str, Document]:
    """Read the nine sermons of the published test split, or make up nine documents of their size."""
    if data is None:
        return {f"d{k}": synthetic(24, f"d{k}") for k in range(9)}
    splits = json.loads((data / "asp/published_splits.json").read_text())["files"]
    names = [one["file"] for one in splits if one["split"] == "test"]
    return read_parallelisms([data / "asp/xml/tokenized" / name for name in names])


def plain(reference: Document, hypothesis: Document) -> dict[str, int]:
    """Score as the metrics are defined: all pairs of parallelisms in a padded matrix."""
    gold, predicted = reference.parallelisms, hypothesis.parallelisms
    totals = {}
    for metric in METRICS:
        size = max(len(gold), len(predicted))
        matrix = np.zeros((size, size), dtype=int)
        for i, x in enumerate(predicted):
            for j, y in enumerate(gold):
                matrix[i, j] = plain_pair(metric, x, y)
        totals[metric] = int(matrix[linear_sum_assignment(matrix, maximize=True)].sum())
    return totals


def plain_pair(metric: str, x: Parallelism, y: Parallelism) -> int:
    if metric == "EPM":
        return int(set(x.branches) == set(y.branches))
    if metric == "MPBM":
        same = len(set(x.branches) & set(y.branches))
        return same if same > 1 else 0
    ours, theirs = ([set(range(*branch)) for branch in one.branches] for one in (x, y))
    if metric == "MWO":
        return len(set().union(*ours) & set().union(*theirs))
    size = max(len(ours), len(theirs))
    weights = np.zeros((size, size), dtype=int)
    for i, one in enumerate(ours):
        for j, other in enumerate(theirs):
            weights[i, j] = len(one & other)
    weights = weights * (size + 1) + (weights > 0)  # of equal totals, more pairs
    found = weights[linear_sum_assignment(weights, maximize=True)]
    return int(found.sum() // (size + 1)) if (found > 0).sum() > 1 else 0


def by_oracle(reference: Document, hypothesis: Document) -> dict[str, int]:
    """Score by the authors' package."""
    from pyrallelism.evaluator import evaluate_bipartite_parallelism_metric
    from pyrallelism.primitives.evaluation_metric import METRIC_TABLE

    sides = [{k: set(one.branches) for k, one in enumerate(d.parallelisms)} for d in (hypothesis, reference)]
    found = {m: evaluate_bipartite_parallelism_metric(*sides, METRIC_TABLE[m.lower()])[0] for m in METRICS}
    return {metric: int(one.score) for metric, one in found.items()}


def ours(reference: Document, hypothesis: Document) -> dict[str, int]:
    matched = match_parallelisms(reference.parallelisms, hypothesis.parallelisms)
    return {metric: sum(credit for _, credit in pairs.values()) for metric, pairs in matched.items()}


def seconds(work: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """Return the least processor time of several runs, and the last result."""
    best, result = np.inf, None
    for _ in range(repeats):
        begin = time.process_time()
        result = work()
        best = min(best, time.process_time() - begin)
    return best, result


def compare(data: Path | None) -> None:
    gold = test_split(data)
    rng = np.random.default_rng(SEED)
    predicted = {name: perturbed(one, rng) for name, one in gold.items()}
    sizes = [sum(len(one.parallelisms) for one in side.values()) for side in (predicted, gold)]
    print(f"{len(gold)} documents, {sizes[0]} parallelisms against {sizes[1]}, processor time of four metrics")
    times, results = {}, {}
    for name, work, repeats in (("plain", plain, 2), ("pyrallelism", by_oracle, 2), ("ours", ours, 9)):
        times[name], results[name] = seconds(lambda work=work: [work(gold[k], predicted[k]) for k in gold], repeats)
    times["score"], _ = seconds(lambda: score_parallelisms({"s": predicted}, gold), 9)
    times["score, totals"], _ = seconds(lambda: score_parallelisms({"s": predicted}, gold).to_frame(), 9)
    times["score, all tables"], _ = seconds(lambda: score_parallelisms({"s": predicted}, gold).parallelisms, 9)
    same = "equal" if results["plain"] == results["ours"] else "DIFFERENT"
    print(f"plain definition and ours: {same} results")
    for name, spent in times.items():
        print(f"{name:18} {spent:8.4f} s   plain / this {times['plain'] / spent:6.1f}")
    print(f"pyrallelism / ours {times['pyrallelism'] / times['ours']:.1f}")


def score_large(n_parallelisms: int) -> None:
    """Score one large document, all tables included, and print time and memory as JSON; run in a process of its own."""
    gold = synthetic(n_parallelisms)
    predicted = perturbed(gold, np.random.default_rng(SEED))
    spent, scores = seconds(lambda: score_parallelisms({"s": {"d": predicted}}, {"d": gold}), 1)
    longest, _ = seconds(lambda: scores.parallelisms, 1)
    totals = scores.to_frame()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": spent + longest, "megabytes": peak, "f": totals["f"].round(4).tolist()}))


def large() -> None:
    found = {}
    for count in (40_000, 80_000):
        command = [sys.executable, __file__, "--large", str(count)]
        found[count] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        print(f"{count:,} parallelisms a side: {found[count]}")
    print(f"time of 80,000 / time of 40,000: {found[80_000]['seconds'] / found[40_000]['seconds']:.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", type=int, help="Score one document of that many parallelisms only.")
    chosen = parser.parse_args().large
    if chosen:
        score_large(chosen)
    else:
        folder = os.environ.get("LANGDIFF_DATA")
        compare(Path(folder) if folder else None)
        large()
