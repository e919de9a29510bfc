"""F1 of predictions, as training needs it after every epoch."""

from collections.abc import Sequence

from langdiff.parallelism.documents import Document
from langdiff.parallelism.matching import METRICS, maximum_matching, overlaps, pair_scores


def micro_f1(predicted: Sequence[Document], gold: Sequence[Document]) -> dict[str, float]:
    """PLACEHOLDER."""
    out = {}
    for k, metric in enumerate(METRICS):
        size = {"EPM": lambda x: 1, "MPBM": lambda x: len(x.branches)}.get(
            metric, lambda x: sum(e - s for s, e in x.branches)
        )
        w = n = 0
        for p, g in zip(predicted, gold, strict=True):
            n += sum(map(size, p.parallelisms)) + sum(map(size, g.parallelisms))
            edges = {
                (i, j): pair_scores(g.parallelisms[i].branches, p.parallelisms[j].branches, s)[k]
                for (i, j), s in overlaps(g.parallelisms, p.parallelisms).items()
            }
            edges = {e: v for e, v in edges.items() if v}
            w += sum(edges[e] for e in maximum_matching(edges).items())
        out[metric] = 2 * w / n if n else 0.0
    return out
