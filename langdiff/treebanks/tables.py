"""The five tables of counts by which treebanks are compared (Zykova, section 2)."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from langdiff.base.types import Floats, Integers
from langdiff.treebanks import horizontal, vertical
from langdiff.treebanks.counts import Counts
from langdiff.treebanks.settings import SimilaritySettings
from langdiff.treebanks.shape import combine, depths, leaves
from langdiff.treebanks.treebank import Treebank

Metric = Literal["size", "depth", "width", "length", "matrix"]
AVERAGED: tuple[Metric, ...] = ("size", "depth", "width", "length")  # those of the paper's Figure 4
METRICS: tuple[Metric, ...] = (*AVERAGED, "matrix")
COST_BIN = 0.25  # decimal digits
ROUNDING = 1e-9  # a cost on the edge of two bins belongs to the upper
ROW = 2**32  # bins of Size are depth * ROW + length


def tables(treebank: Treebank, settings: SimilaritySettings, reference: Treebank | None = None) -> dict[Metric, Counts]:
    """Count the bins of each metric.

    Parameters
    ----------
    treebank : Treebank
        Treebank in which bins are counted.
    settings : SimilaritySettings
        Settings of the metrics.
    reference : Treebank, optional
        Treebank from which the probabilities of Depth and Width are taken; by default `treebank` itself. It must
        have the same lists of label names.

    Returns
    -------
    mapping from metric to Counts
        Bins of Size are ``depth * ROW + length``, those of Depth and Width numbers of bins of `COST_BIN` (inf for
        probability 0), those of Length numbers of children, those of Matrix as in `cooccurrences`, without
        BOS and EOS.
    """
    source = treebank if reference is None else reference
    relations = len(treebank.deprel_names)
    together = horizontal.cooccurrences(source.parents, source.deprels, relations)
    across = horizontal.chain_costs(
        treebank.parents, treebank.deprels, relations, together, normalize=settings.width_by
    )
    return {
        "size": Counts.of(size_bins(treebank, settings.size_bin)),
        "depth": Counts.of(cost_bins(leaf_costs(treebank, settings, source))),
        "width": Counts.of(cost_bins(across)),
        "length": Counts.of(horizontal.chain_lengths(treebank.parents)),
        "matrix": _pairs(treebank, settings.adjacent),
    }


def mean_depths(treebank: Treebank) -> Floats:
    """Return the mean depth of the leaves of every sentence, in edges from the root word; shape (S,)."""
    leaf = leaves(treebank.parents).astype(float)
    start = treebank.starts[:-1]
    result: Floats = np.add.reduceat(leaf * depths(treebank.parents), start) / np.add.reduceat(leaf, start)
    return result


def size_bins(treebank: Treebank, width: float) -> Integers:
    """Return the bin of Size of every sentence, depth and length in one number; shape (S,)."""
    return np.floor(mean_depths(treebank) / width + 0.5).astype(np.int64) * ROW + treebank.lengths


def leaf_costs(treebank: Treebank, settings: SimilaritySettings, source: Treebank) -> Floats:
    """Return the cost of the chain from the root word to every leaf, by the statistics of `source`."""
    parents, labels = treebank.parents, _labels(treebank, settings)
    learn = np.ones(len(parents), dtype=np.bool_)
    if source is not treebank:  # put the two one after the other, and learn from the first
        offset = source.words
        parents = np.concatenate([source.parents, np.where(parents < 0, -1, parents + offset)])
        labels = np.concatenate([_labels(source, settings), labels])
        learn = np.arange(len(parents)) < offset
    costs = vertical.chain_costs(parents, labels, learn, ancestors=settings.ancestors, levels=settings.levels)
    return costs[-treebank.words :][leaves(treebank.parents)]


def cost_bins(costs: Floats) -> Floats:
    """Return the bins of costs; inf stays.

    Examples
    --------
    >>> cost_bins(np.array([0, 0.24, 0.25, np.inf]))
    array([ 0.,  0.,  1., inf])
    """
    result: Floats = np.floor(costs / COST_BIN + ROUNDING)
    return result


def distinct_keys(treebank: Treebank, settings: SimilaritySettings) -> int:
    """Return the number of counts that Depth needs: of distinct keys, at each depth apart unless pooled."""
    keys, _ = vertical.edge_keys(treebank.parents, _labels(treebank, settings), settings.ancestors)
    cells = keys if settings.levels == "pooled" else combine(depths(treebank.parents), keys)
    return len(np.unique(cells[treebank.parents >= 0]))


def _labels(treebank: Treebank, settings: SimilaritySettings) -> Integers:
    upos, deprels = treebank.upos.astype(np.int64), treebank.deprels.astype(np.int64)
    if settings.label == "upos":
        return upos
    return deprels if settings.label == "deprel" else upos * len(treebank.deprel_names) + deprels


def _pairs(treebank: Treebank, adjacent: bool) -> Counts:
    relations = len(treebank.deprel_names)
    counts = horizontal.cooccurrences(treebank.parents, treebank.deprels, relations, adjacent=adjacent)
    _, earlier, later = split_cells(counts.bins, relations)
    inside = (earlier != relations) & (later != relations)
    return Counts(counts.bins[inside], counts.counts[inside])


def split_cells(cells: npt.NDArray[np.number], relations: int) -> tuple[Integers, Integers, Integers]:
    """Return the relations t, x and y of cells of Matrix."""
    rest, later = np.divmod(cells.astype(np.int64), relations + 1)
    kind, earlier = np.divmod(rest, relations + 1)
    return kind, earlier, later


def box(metric: Metric, both: Sequence[Counts], relations: int) -> int:
    """Return the number of bins of the smallest box around all that occur, empty ones included."""
    bins = np.unique(np.concatenate([counts.bins for counts in both]))
    if metric == "size":
        depth, length = np.divmod(bins.astype(np.int64), ROW)
        return int((np.ptp(depth) + 1) * (np.ptp(length) + 1))
    if metric == "matrix":
        return int(np.prod([len(np.unique(column)) for column in split_cells(bins, relations)]))
    finite = bins[np.isfinite(bins)]
    within = int(np.ptp(finite)) + 1 if len(finite) else 0
    return within + len(bins) - len(finite)


def shared_names(treebanks: Sequence[Treebank]) -> list[Treebank]:
    """Return the treebanks with labels numbered alike in all of them."""
    upos = sorted({name for treebank in treebanks for name in treebank.upos_names})
    deprels = sorted({name for treebank in treebanks for name in treebank.deprel_names})
    return [treebank.with_names(upos, deprels) for treebank in treebanks]
