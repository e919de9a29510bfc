import pytest
from hypothesis import given
from numpy.testing import assert_array_equal

from langdiff.discourse import DiscourseTree, attachments_of, binarize, parse_discourse, tree_of_attachments
from langdiff.errors import ConfigError, DataError, LangdiffWarning
from tests.discourse.strategies import binary, binary_trees, nodes_of, shapes, tree_of
from tests.helpers import refused


def chain(n, to="right"):
    """A tree as deep as can be."""
    spans = [(i, i, n) for i in range(1, n)] if to == "right" else [(1, i, i + 1) for i in range(1, n)]
    return tree_of_attachments([(*span, "NS", "elaboration") for span in spans])


@given(shape=shapes())
def test_nodes_come_in_text_order_with_their_children(shape):
    expected = nodes_of(shape)  # by recursion, parents first
    tree = DiscourseTree(nodes=expected[::-1])
    assert [tuple(node) for node in tree.nodes] == expected
    frame = tree.to_frame()
    for place, own in enumerate(tree.children):
        assert (frame.loc[list(own), "parent"] == place).all()
        assert (frame.loc[list(own), "depth"] == frame.at[place, "depth"] + 1).all()
    assert tree.summary().count("\n") == len(expected)


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([], "there is no node"),
        ([(1, 1, "Nucleus", "span")], "the top node is Root"),
        ([(1, 2, "Root", "---")], "EDUs 1–2 has no children, and is not a single EDU"),
        ([(1, 2, "Root", "---"), (1, 1, "Nucleus", "span")], "EDUs 1–2 has a single child"),
        ([(1, 2, "Root", "---"), (1, 2, "Nucleus", "a")], "EDUs 1–2 is there twice"),
        ([(1, 2, "Root", "---"), (3, 3, "Nucleus", "a")], "EDU 3 and EDUs 1–2 are both top nodes"),
        ([(1, 2, "Root", "---"), (2, 3, "Nucleus", "a")], "EDUs 2–3 and EDUs 1–2 cross"),
        (
            [(1, 2, "Root", "---"), (1, 1, "Satellite", "a"), (2, 2, "Satellite", "a")],
            "has no nucleus, only satellites",
        ),
        ([(1, 2, "Root", "---"), (1, 1, "Root", "a"), (2, 2, "Nucleus", "a")], "EDU 1 is 'Root'"),
        ([(1, 2, "Root", "---"), (1, 1, "Nucleus", "span"), (2, 2, "Satellite", "Span")], "EDU 2 carries 'span'"),
        ([(1, 2, "Root", "---"), (1, 1, "Nucleus", "span"), (2, 2, "Nucleus", "a")], "EDU 1 carries 'span'"),
        ([(1, 4, "Root", "---"), (1, 1, "Nucleus", "a"), (3, 4, "Nucleus", "a")], "the children of EDUs 1–4 do not"),
        (
            [(1, 3, "Root", "---"), (1, 1, "Nucleus", "a"), (2, 2, "Nucleus", "a"), (3, 3, "Satellite", "b")],
            r"several nuclei and a satellite \(EDU 3\)",
        ),
    ],
)
def test_what_is_no_tree_is_refused(nodes, message):
    refused(DataError, message, DiscourseTree, nodes=nodes)


def test_texts_are_those_of_the_edus():
    refused(DataError, "2 texts for 1 EDUs", DiscourseTree, nodes=[(7, 7, "Root", "---")], texts=("a", "b"))
    excerpt = parse_discourse("( Root (span 7 8) ( Nucleus (leaf 7) (rel2par span) (text _!a_!) )"
                              " ( Satellite (leaf 8) (rel2par cause) ) )")  # fmt: skip
    assert excerpt.leaf_texts() == {7: "a", 8: ""}
    assert excerpt.n_edus == 2


@given(shape=shapes())
def test_binarization_is_that_of_the_definition(shape):
    tree = tree_of(shape)
    for mode in ("right", "right_mixed", "left"):
        ours = binarize(tree, mode)
        assert [tuple(node) for node in ours.nodes] == nodes_of(binary(shape, mode)), mode
        assert len(ours.nodes) == 2 * tree.n_edus - 1
        assert set(tree.nodes) <= set(ours.nodes)
        assert ours.texts == tree.texts
    assert binarize(tree, "none") is tree


def test_nuclei_with_different_relations_are_named():
    tree = parse_discourse("1 1 N list\n2 2 N joint\n3 3 N list", format="spans", document="rain")
    with pytest.warns(LangdiffWarning, match="rain: the nuclei of EDUs 1–3 carry different relations"):
        decided = binarize(tree)
    with pytest.warns(LangdiffWarning, match=r"2 other node\(s\) are lost|1 other node\(s\) are lost"):
        assert [decision.relation for decision in attachments_of(decided)] == ["list", "joint"]  # of the left ones
    refused(ConfigError, "mode is one of right", binarize, tree, "up")


@given(tree=binary_trees())
def test_attachments_and_marcus_encoding_say_the_same(tree):
    decisions = attachments_of(tree)
    assert len(decisions) == tree.n_edus - 1
    assert "span" not in {decision.relation for decision in decisions}
    assert tree_of_attachments(decisions[::-1], document="d", texts=tree.texts) == tree
    assert attachments_of(tree_of_attachments(decisions)) == decisions


@pytest.mark.parametrize(
    ("decisions", "message"),
    [
        ([], "a document of one EDU"),
        ([(1, 1, 2, "SS", "a")], "nuclearity is NS, SN or NN; got 'SS'"),
        ([(1, 2, 2, "NS", "a")], "2 does not divide EDUs 1–2"),
        ([(1, 1, 3, "NS", "a")], r"no decision divides 1 unit\(s\): \(2, 3\)"),
        ([(1, 1, 3, "NS", "a"), (2, 2, 3, "NS", "a"), (1, 1, 2, "NS", "a")], "EDUs 1–2 are not a part"),
        ([(1, 1, 2, "NS", "a"), (1, 1, 2, "NS", "a")], "EDUs 1–2 are divided a second time"),
    ],
)
def test_attachments_that_are_no_tree(decisions, message):
    refused(DataError, message, tree_of_attachments, decisions)


@pytest.mark.parametrize("to", ["right", "left"])
def test_depth_has_no_limit(to):
    tree = chain(5001, to)
    assert tree.to_frame()["depth"].max() == 5000
    assert binarize(tree) == tree
    assert len(attachments_of(tree)) == 5000
    assert repr(tree) == "DiscourseTree '': 5,001 EDUs, depth 5,000"
    assert_array_equal(tree.to_frame()[["first", "last"]].iloc[0], [1, 5001])
    assert hash(tree) == hash(chain(5001, to))


def test_width_has_no_limit():
    wide = parse_discourse("\n".join(f"{edu} {edu} N list" for edu in range(1, 5002)), format="spans")
    assert binarize(wide).to_frame()["depth"].max() == 5000
