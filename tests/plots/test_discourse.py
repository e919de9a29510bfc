"""Pictures of discourse trees draw what the nodes say."""

import pytest
from numpy.testing import assert_allclose

from langdiff.discourse import compare_trees, evaluate_discourse, parse_discourse
from langdiff.plots._axes import BLUE, GREEN, RUST

TREE = parse_discourse(
    "( Root (span 1 3) ( Nucleus (leaf 1) (rel2par List) (text _!It cost $5 and $6_!) )"
    " ( Nucleus (leaf 2) (rel2par List) (text _!two_!) ) ( Nucleus (leaf 3) (rel2par List) (text _!three_!) ) )"
)
OTHER = parse_discourse("1 2 N span\n1 1 N List\n2 2 N List\n3 3 S cause", format="spans")


def texts(ax):
    return [text.get_text() for text in ax.texts]


def test_a_tree_as_it_is():
    ax = TREE.plot()
    assert texts(ax) == ["List"] * 3
    assert [label.get_text() for label in ax.get_yticklabels()] == ["three  3", "two  2", "It cost $5 and $6  1"]
    rows = [line for line in ax.lines if len(set(line.get_ydata())) == 1]
    assert_allclose([line.get_ydata()[0] for line in rows], [2, 1, 0])  # the first EDU on top
    assert all(line.get_xdata().tolist() == [0, 1] for line in rows)
    bar = next(line for line in ax.lines if len(set(line.get_ydata())) == 2)
    assert sorted(bar.get_ydata()) == [0, 2]


def test_new_nodes_of_the_binary_tree_are_dashed():
    ax = TREE.plot("binary")
    dashed = [line for line in ax.lines if line.get_linestyle() == "--"]
    assert [line.get_ydata().tolist() for line in dashed] == [[0.5, 0.5]]
    assert "new in the binary tree" in [text.get_text() for text in ax.get_legend().get_texts()]
    assert "new in the binary tree" not in [text.get_text() for text in TREE.plot().get_legend().get_texts()]


def test_decisions_stand_at_their_bars():
    ax = OTHER.plot("attachments")
    assert texts(ax) == ["NS cause", "NN List"]
    assert [text.get_position()[1] for text in ax.texts] == pytest.approx([0.81, 1.56])
    colours = [line.get_color() for line in ax.lines if len(set(line.get_ydata())) == 1]
    assert colours.count(RUST) == 1  # EDU 3


def test_two_trees_share_the_rows():
    comparison = compare_trees(TREE, OTHER)
    ax = comparison.plot(names=("gold", "parser"))
    assert [label.get_text() for label in ax.get_xticklabels()] == ["gold", "parser"]
    assert texts(ax) == ["List", "List", "List", "List", "List", "cause", "1", "2", "3"]
    rows = [line for line in ax.lines if len(set(line.get_ydata())) == 1]
    left = [line.get_color() for line in rows if max(line.get_xdata()) < 0]
    right = [line.get_color() for line in rows if min(line.get_xdata()) > 0]
    assert left == [BLUE, BLUE, GREEN]
    assert right == [RUST, BLUE, BLUE, GREEN]
    assert comparison.to_frame().query("tree == 'predicted'")["agreement"].tolist() == [
        *["same", "none", "same", "same", "span"]
    ]
    assert repr(comparison) == "TreeComparison of '': 2 of 3 nodes are the same"


def test_recall_by_relation():
    ax = evaluate_discourse({"d": TREE}, {"p": {"d": OTHER}, "q": {"d": TREE}}).plot()
    assert [label.get_text() for label in ax.get_yticklabels()] == ["list (2)"]
    assert [line.get_xdata().tolist() for line in ax.lines] == [[0.0], [100.0]]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["p", "q"]
