"""The five tables of counts by which treebanks are compared (Zykova, section 2), and their settings."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from langdiff.base.signature import name_of_number
from langdiff.base.types import ROUNDING_OF_SUMS, Floats, Integers
from langdiff.errors import ConfigError, option
from langdiff.treebanks.chains import (
    Counts,
    Kind,
    Levels,
    Normalizer,
    chain_lengths,
    combine,
    cooccurrences,
    depth_costs,
    depths,
    edge_keys,
    leaves,
    width_costs,
)
from langdiff.treebanks.treebank import Treebank

Label = Literal["upos+deprel", "deprel", "upos"]
Statistics = Literal["own", "reference"]
Metric = Literal["size", "depth", "width", "length", "matrix"]
AVERAGED: tuple[Metric, ...] = ("size", "depth", "width", "length")  # those of the paper's Figure 4
METRICS: tuple[Metric, ...] = (*AVERAGED, "matrix")
COST_BIN = 0.25  # decimal digits
ROW = 2**32  # bins of Size are depth * ROW + length


@dataclass(frozen=True, kw_only=True)
class SimilaritySettings:
    """Choices that the metrics of Zykova leave open; the defaults are those of the documentation.

    Attributes
    ----------
    size_bin : float
        Size: width of the bins of the mean depth of leaves.
    label : {"upos+deprel", "deprel", "upos"}
        Depth: labels of a word that its key holds.
    levels : {"separate", "pooled", "context"}
        Depth: count keys at each depth separately; or at all depths together; or divide by the count of keys
        whose triples above are the same, which gives a probability of transition.
    ancestors : {0, 1, 2}
        Depth: number of ancestors of a word that its key holds.
    statistics : {"own", "reference"}
        Depth and Width: probabilities from each treebank itself, or from the reference for both; what the
        reference lacks then has probability 0 and a bin of its own.
    adjacent : bool
        Matrix: count only children that are neighbours. (Width needs all pairs and keeps them.)
    width_by : {"columns", "rows"}
        Width: divide co-occurrences by how often the later child occurs, or the earlier.
    divergence : {"kl", "js", "symmetric", "correlation"}
        Measure of divergence: Kullback–Leibler, Jensen–Shannon, the mean of Kullback–Leibler in both directions, 1 -
        Pearson's r.
    alpha : float
        Number added to every bin that occurs in either treebank; without effect on the correlation.
    base : float
        Base of the logarithm in divergences; e gives nats, 2 gives bits.
    rescale : bool
        Divide each metric's matrix by its largest value before the mean over metrics.

    Raises
    ------
    ConfigError
        If a setting is unknown or out of range.

    Examples
    --------
    >>> SimilaritySettings(divergence="js", base=2).signature
    'size_bin:1|label:upos+deprel|levels:separate|ancestors:2|statistics:own|adjacent:no|width_by:columns|divergence:js|alpha:0.5|base:2|rescale:no'
    """

    size_bin: float = 1.0
    label: Label = "upos+deprel"
    levels: Levels = "separate"
    ancestors: int = 2
    statistics: Statistics = "own"
    adjacent: bool = False
    width_by: Normalizer = "columns"
    divergence: Kind = "kl"
    alpha: float = 0.5
    base: float = math.e
    rescale: bool = False

    def __post_init__(self) -> None:
        known: dict[str, tuple[Any, ...]] = {
            "label": get_args(Label),
            "levels": get_args(Levels),
            "ancestors": (0, 1, 2),
            "statistics": get_args(Statistics),
            "width_by": get_args(Normalizer),
            "divergence": get_args(Kind),
        }
        for name, values in known.items():
            if getattr(self, name) not in values:
                raise ConfigError(f"{name} is one of {', '.join(map(str, values))}; got {getattr(self, name)!r}.")
        for name, low in (("size_bin", 0), ("base", 1)):
            if not low < getattr(self, name) < np.inf:
                raise ConfigError(f"{name} must be finite and above {low}; got {getattr(self, name)!r}.")
        if not 0 <= self.alpha < np.inf:
            raise ConfigError(f"{option('alpha')} must be finite and not negative; got {self.alpha!r}.")

    @property
    def signature(self) -> str:
        """All settings in one line."""
        return "|".join(f"{field.name}:{_short(getattr(self, field.name))}" for field in fields(self))


def _short(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return "e" if value == math.e else name_of_number(value)
    return str(value)


def tables(treebank: Treebank, settings: SimilaritySettings, reference: Treebank | None = None) -> dict[Metric, Counts]:
    """Count the bins of each metric."""
    source = treebank if reference is None else reference
    relations = len(treebank.deprel_names)
    together = cooccurrences(source.parents, source.deprels, relations)
    across = width_costs(treebank.parents, treebank.deprels, relations, together, normalize=settings.width_by)
    return {
        "size": Counts.of(size_bins(treebank, settings.size_bin)),
        "depth": Counts.of(cost_bins(leaf_costs(treebank, settings, source))),
        "width": Counts.of(cost_bins(across)),
        "length": Counts.of(chain_lengths(treebank.parents)),
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
    costs = depth_costs(parents, labels, learn, ancestors=settings.ancestors, levels=settings.levels)
    return costs[-treebank.words :][leaves(treebank.parents)]


def cost_bins(costs: Floats) -> Floats:
    """Return the bins of costs; inf stays.

    Examples
    --------
    >>> cost_bins(np.array([0, 0.24, 0.25, np.inf]))
    array([ 0.,  0.,  1., inf])
    """
    result: Floats = np.floor(costs / COST_BIN + ROUNDING_OF_SUMS)
    return result


def distinct_keys(treebank: Treebank, settings: SimilaritySettings) -> int:
    """Return the number of counts that Depth needs: of distinct keys, at each depth apart unless pooled."""
    keys, _ = edge_keys(treebank.parents, _labels(treebank, settings), settings.ancestors)
    cells = keys if settings.levels == "pooled" else combine(depths(treebank.parents), keys)
    return len(np.unique(cells[treebank.parents >= 0]))


def _labels(treebank: Treebank, settings: SimilaritySettings) -> Integers:
    upos, deprels = treebank.upos.astype(np.int64), treebank.deprels.astype(np.int64)
    if settings.label == "upos":
        return upos
    return deprels if settings.label == "deprel" else upos * len(treebank.deprel_names) + deprels


def _pairs(treebank: Treebank, adjacent: bool) -> Counts:
    relations = len(treebank.deprel_names)
    counts = cooccurrences(treebank.parents, treebank.deprels, relations, adjacent=adjacent)
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
