"""Comparison of two trees of one document."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import pandas as pd

from langdiff.base.result import Result, drawing
from langdiff.base.types import check_kind
from langdiff.discourse.documents import without_detached
from langdiff.discourse.tree import WANTED, DiscourseTree
from langdiff.errors import DataError

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
    for tree in (reference, predicted):
        check_kind(tree, DiscourseTree, WANTED)
    sides = [("the reference", reference), ("the prediction", predicted)]
    reference, predicted = without_detached(sides, "edus")
    if reference.nodes[0][:2] != predicted.nodes[0][:2]:
        raise DataError(f"the reference has {reference.nodes[0]}, the prediction {predicted.nodes[0]}.")
    return TreeComparison(reference=reference, predicted=predicted)
