"""Comparisons: two trees of one document, and systems over documents by a paired bootstrap."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from langdiff.base.grids import frame_text
from langdiff.base.result import Result, drawing
from langdiff.base.seeds import generator
from langdiff.base.signature import join_signature, name_of_seed
from langdiff.base.types import Floats
from langdiff.discourse.detached import without_detached
from langdiff.discourse.items import METRICS
from langdiff.discourse.tree import DiscourseTree
from langdiff.errors import ConfigError, DataError, option

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_CELLS = 1 << 22  # of the table of samples × documents that is drawn at once

_PERCENT = ("difference", "std_error", "low", "high")


@dataclass(frozen=True, kw_only=True, repr=False)
class TreeComparison(Result):
    """Nodes that two trees of one document share.

    Attributes
    ----------
    reference, predicted : DiscourseTree
        The two trees.
    """

    printing: ClassVar[Mapping[str, Any]] = {"index": False}

    reference: DiscourseTree
    predicted: DiscourseTree

    def to_frame(self) -> pd.DataFrame:
        """Return the nodes of both trees, with ``tree`` (``reference`` or ``predicted``) and ``agreement``.

        Agreement is ``same`` if the other tree has the node with its labels, in either case, ``span`` if it has the
        span only, and ``none`` if it does not have it.
        """
        return pd.concat(
            {"reference": self._nodes(self.reference), "predicted": self._nodes(self.predicted)}
        ).reset_index(names=["tree", "node"])

    def _nodes(self, tree: DiscourseTree) -> pd.DataFrame:
        other = self.predicted if tree is self.reference else self.reference
        labels = {(node.first, node.last): (node.nuclearity, node.relation.lower()) for node in other.nodes}
        agreement = []
        for node in tree.nodes:
            there = labels.get((node.first, node.last))
            same = there == (node.nuclearity, node.relation.lower())
            agreement.append("same" if same else "none" if there is None else "span")
        return tree.to_frame().assign(agreement=agreement)

    def _table(self) -> pd.DataFrame:
        frame = self.to_frame()
        different = frame[frame["agreement"] != "same"].sort_values(["first", "last", "tree"], kind="stable")
        return different[["first", "last", "tree", "nuclearity", "relation", "agreement"]]

    def summary(self) -> str:
        """Return the nodes that are not the same in both trees as text, in text order."""
        different = self._table()
        return "\n".join([repr(self), *([frame_text(different, index=False)] if len(different) else [])])

    def plot(self, ax: "Axes | None" = None, **options: Any) -> "Axes":
        """Draw both trees; see `langdiff.plots.plot_discourse_comparison`.

        Parameters
        ----------
        ax : Axes, optional
            Axes to draw on; by default those of a new figure.
        **options
            Options of the function that draws.

        Returns
        -------
        Axes
            The axes drawn on.
        """
        texts = self.reference.leaf_texts() or self.predicted.leaf_texts()
        frames = (self._nodes(self.reference), self._nodes(self.predicted))
        return drawing("plot_discourse_comparison")(*frames, ax, **({"texts": texts} | options))

    def __repr__(self) -> str:
        """Return a line with the number of reference nodes, below the root, that are in the other tree."""
        nodes = self._nodes(self.reference).iloc[1:]
        same = int((nodes["agreement"] == "same").sum())
        return f"TreeComparison of {self.reference.document!r}: {same:,} of {len(nodes):,} nodes are the same"


def compare_trees(reference: DiscourseTree, predicted: DiscourseTree) -> TreeComparison:
    r"""Compare two trees of one document, as they are.

    Parameters
    ----------
    reference, predicted : DiscourseTree
        Trees of the same EDUs; what the file of one has detached is dropped from both. To compare them as an
        evaluation does, make them binary first; see `binarize`.

    Returns
    -------
    TreeComparison
        Both trees, to be listed or drawn.

    Raises
    ------
    DataError
        If the EDUs are not the same.

    Examples
    --------
    >>> from langdiff.discourse import parse_discourse
    >>> one, other = (parse_discourse(f"1 1 N span\n2 2 S {name}", format="spans") for name in ("cause", "result"))
    >>> print(compare_trees(one, other).summary())
    TreeComparison of '': 1 of 2 nodes are the same
     first  last      tree nuclearity relation agreement
         2     2 predicted  Satellite   result      span
         2     2 reference  Satellite    cause      span
    """
    sides = [("the reference", reference), ("the prediction", predicted)]
    reference, predicted = without_detached(sides, "edus")
    if reference.nodes[0][:2] != predicted.nodes[0][:2]:
        raise DataError(f"the reference has {reference.nodes[0]}, the prediction {predicted.nodes[0]}.")
    return TreeComparison(reference=reference, predicted=predicted)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class DiscourseDifferences(Result):
    """Differences in F1 between all pairs of systems.

    Samples of documents are drawn with replacement, the same for both systems of a pair, because some documents are
    harder than others for all systems. With macro averages, documents of one EDU in the reference are not drawn.

    Attributes
    ----------
    table : DataFrame
        One row per pair: ``system``, ``other``, ``difference`` (F1 of the first minus that of the second),
        ``std_error``, ``low``, ``high`` (95 % percentile interval), ``p_value`` (two-sided, not adjusted for the
        number of pairs).
    signature : str
        Settings, to be quoted with the numbers.
    """

    printing: ClassVar[Mapping[str, Any]] = {
        "index": False,
        "formatters": dict.fromkeys(_PERCENT, "{:.1f}".format) | {"p_value": "{:.4f}".format},
    }

    table: pd.DataFrame
    signature: str

    def to_frame(self) -> pd.DataFrame:
        """Return the table."""
        return self.table.copy()

    def _lines(self) -> Iterator[str]:
        yield "Differences in F1 in percentage points, paired bootstrap over documents"

    def _table(self) -> pd.DataFrame:
        percent = {name: 100 * self.table[name] for name in _PERCENT}
        return self.table.assign(**percent)

    def __repr__(self) -> str:
        """Return a line with the number of pairs."""
        return f"DiscourseDifferences of {len(self.table)} pair(s) of systems"


def compare_systems(
    counts: pd.DataFrame, metric: str, averaging: str, n_draws: int, seed: int | np.random.Generator, signature: str
) -> DiscourseDifferences:
    """Compare systems by their counts, indexed by system and document; see `DiscourseEvaluation.compare`."""
    systems = list(dict.fromkeys(counts.index.get_level_values("system")))
    if metric not in METRICS:
        raise ConfigError(f"{option('metric')} is one of {', '.join(METRICS)}; got {metric!r}.")
    if len(systems) < 2:
        raise ConfigError("a comparison needs two systems, but only one is given.")
    if isinstance(n_draws, bool) or not isinstance(n_draws, int | np.integer) or n_draws < 1:
        raise ConfigError(f"{option('n_draws')} must be a whole number, at least 1, got {n_draws!r}.")
    with_items = counts["gold"] > 0
    if averaging == "macro":
        counts = counts[with_items]
    hits = counts[metric].unstack("system")[systems].to_numpy(float)  # (D, J)
    sizes = (counts["gold"] + counts["predicted"]).unstack("system")[systems].to_numpy(float)
    if with_items.sum() < 2 * len(systems):
        raise DataError(
            "a bootstrap over documents needs two documents with items in the reference, but there is only one."
        )
    rng = generator(seed, "samples of documents")
    seed_name = name_of_seed(seed, rng)
    observed = _f1(np.ones((1, len(hits))), hits, sizes, averaging)[0]  # (J,)
    drawn = _draws(hits, sizes, averaging, n_draws, rng)  # (B, J)
    rows = []
    for one, other in combinations(range(len(systems)), 2):
        differences = drawn[:, one] - drawn[:, other]
        low, high = np.quantile(differences, [0.025, 0.975])
        below, above = (1 + np.sum(differences <= 0)) / (n_draws + 1), (1 + np.sum(differences >= 0)) / (n_draws + 1)
        pair = (systems[one], systems[other], observed[one] - observed[other])
        rows.append((*pair, differences.std(), low, high, min(1.0, 2 * min(below, above))))
    columns = ["system", "other", "difference", "std_error", "low", "high", "p_value"]
    parts = {"metric": metric, "averaging": averaging, "draws": n_draws, "seed": seed_name}
    return DiscourseDifferences(
        table=pd.DataFrame(rows, columns=columns), signature=f"{signature}|{join_signature(parts)}"
    )


def _draws(hits: Floats, sizes: Floats, averaging: str, n_draws: int, rng: np.random.Generator) -> Floats:
    documents = len(hits)
    step = max(1, _CELLS // documents)
    parts = []
    for start in range(0, n_draws, step):
        some = min(step, n_draws - start)
        weights = rng.multinomial(documents, np.full(documents, 1 / documents), size=some).astype(float)
        parts.append(_f1(weights, hits, sizes, averaging))
    return np.concatenate(parts)


def _f1(weights: Floats, hits: Floats, sizes: Floats, averaging: str) -> Floats:
    """Return F1 of every sample and system, shape (B, J), from `weights`, the counts of each document, (B, D).

    Of a sample without items on either side F1 is 0, as it is of a document.
    """
    if averaging == "macro":
        means: Floats = weights @ (2 * hits / sizes) / weights.sum(axis=1, keepdims=True)
        return means
    sums = weights @ sizes
    ratios: Floats = np.divide(2 * (weights @ hits), sums, out=np.zeros_like(sums), where=sums > 0)
    return ratios
