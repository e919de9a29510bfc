"""Segments without a relation: an error, dropped or attached; what one side drops is dropped from all."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langdiff.discourse import binarize, compare_trees, evaluate_discourse, read_discourse, write_discourse
from langdiff.discourse.documents import _pruned
from langdiff.errors import ConfigError, DataError, LangdiffWarning
from tests.discourse.strategies import LEAF, nodes_of, shapes, size, tree_of
from tests.helpers import refused

pytestmark = pytest.mark.filterwarnings("ignore:(detached|span_group). doc")
HEAD = '<rst><header><relations><rel name="cause" type="rst"/><rel name="joint" type="multinuc"/></relations></header>'


def file_of(*rows):
    """XML of rows (id, parent, relation, text), or (id, parent, relation) for a group of type span."""
    body = []
    for name, parent, relation, *text in rows:
        upward = f' parent="{parent}" relname="{relation}"' if parent else ""
        end = f">{text[0]}</segment>" if text else ' type="span"/>'
        body.append(f'<{"segment" if text else "group"} id="{name}"{upward}{end}')
    return f"{HEAD}<body>{''.join(body)}</body></rst>"


HEADLINE = file_of((1, "", "", "Head"), (2, 9, "span", "it rained"), (3, 2, "cause", "all day"), (9, "", ""))
INSIDE = file_of((1, 9, "span", "it rained"), (2, "", "", "Photo: A"), (3, 1, "cause", "all day"), (9, "", ""))
LONE = file_of((1, "", "", "one"), (2, "", "", "two"))
JOINED = file_of((1, 9, "joint", "it rained"), (2, 9, "joint", "it blew"), (3, 9, "cause", "all day"), (9, "", ""))
NESTED = file_of((1, 7, "joint", "a"), (2, 7, "joint", "b"), (3, 9, "span", "c"), (7, 3, "cause"), (9, "", ""))


@pytest.fixture
def read(tmp_path):
    def reading(text, **options):
        (tmp_path / "doc.rs3").write_text(text)
        return read_discourse(tmp_path / "doc.rs3", **options)["doc"]

    return reading


@pytest.mark.parametrize(
    ("text", "nodes", "texts", "dropped"),
    [
        (HEADLINE, ["Root --- 1 2", "Nucleus span 1 1", "Satellite cause 2 2"], "it rained|all day", (1, "Head")),
        (INSIDE, ["Root --- 1 2", "Nucleus span 1 1", "Satellite cause 2 2"], "it rained|all day", (2, "Photo: A")),
    ],
)
def test_the_largest_tree_is_kept_and_renumbered(read, text, nodes, texts, dropped):
    tree = read(text, detached="drop")
    assert [f"{node.nuclearity} {node.relation} {node.first} {node.last}" for node in tree.nodes] == nodes
    assert (tree.texts, tree.dropped) == (tuple(texts.split("|")), (dropped,))


def test_all_are_attached_to_a_new_root(read):
    tree = read(HEADLINE, detached="attach")
    assert tree.nodes[1:3] == ((1, 1, "Nucleus", "detached"), (2, 3, "Nucleus", "detached"))
    assert (tree.n_edus, tree.dropped) == (3, ())


@pytest.mark.parametrize(
    ("text", "detached", "message"),
    [
        (HEADLINE, "error", r"line 1: 2 elements have no parent: '1' \(line 1\), '9'.*detached='drop'.*'attach'"),
        (LONE, "drop", "several of their trees have 1 EDU"),
        (INSIDE, "attach", "EDU 2, below '2', lies inside the tree of '9'.*detached='drop'"),
        (HEADLINE, "keep", "detached is one of error, drop, attach; got 'keep'"),
    ],
)
def test_what_cannot_be_read(read, text, detached, message):
    refused((DataError, ConfigError), message, read, text, detached=detached)


@pytest.mark.parametrize(
    ("text", "children"),
    [
        (JOINED, [(1, 2, "Nucleus", "span"), (3, 3, "Satellite", "cause")]),
        (NESTED, [(1, 2, "Satellite", "cause"), (3, 3, "Nucleus", "span")]),
    ],
)
def test_groups_of_several_nuclei_that_are_written_as_spans(read, text, children):
    tree = read(text)
    assert [tuple(tree.nodes[place]) for place in tree.children[0]] == children
    assert [node.nuclearity for node in tree.nodes if node.relation == "joint"] == ["Nucleus", "Nucleus"]


def test_what_was_dropped_or_repaired_is_named(read, tmp_path):
    """Once a kind, in a warning and in `left_out`; what is trusted is neither repaired nor named."""
    (tmp_path / "z").mkdir()
    (tmp_path / "z" / "a.rs3").write_text(HEADLINE)
    (tmp_path / "z" / "b.rs3").write_text(INSIDE)
    (tmp_path / "z" / "c.rs3").write_text(JOINED)
    with pytest.warns(LangdiffWarning, match="a: 1 of 3 EDUs are in no relation|c: 1 group") as said:
        found = read_discourse(tmp_path / "z", detached="drop")
    assert [str(one.message).partition(":")[0] for one in said] == ["detached", "span_group"]
    assert found.left_out[["edition", "level", "what"]].to_numpy().tolist() == [
        ["a", "doubted", "1 EDU"],
        ["b", "doubted", "1 EDU"],
        ["c", "repaired", "1 group"],
    ]
    refused(DataError, "group '9' has no nucleus", read, JOINED, trust=["span_group"])
    assert read(HEADLINE, detached="drop", trust="detached").n_edus == 2


def pruned(shape, gone, first=1):
    """The shape without some EDUs, by the definition: None where nothing is left."""
    if shape == LEAF:
        return None if first in gone else LEAF
    kind, relations, children = shape
    left = []
    for place, (relation, child) in enumerate(zip(relations, children, strict=True)):
        if (kept := pruned(child, gone, first)) is not None:
            left.append((place, relation, kept))
        first += size(child)
    if len(left) < 2:
        return left[0][2] if left else None
    if kind != -1:  # the nucleus, or the satellite that is the nearest, to the right if there is one
        kind = min(range(len(left)), key=lambda number: (left[number][0] < kind, abs(left[number][0] - kind)))
    return kind, tuple(relation for _, relation, _ in left), tuple(child for _, _, child in left)


@given(shapes(), st.data())
def test_pruning_is_what_its_definition_says(shape, data):
    n = size(shape)
    kept = sorted(data.draw(st.sets(st.integers(1, n), min_size=1)))
    tree = tree_of(shape)
    found = _pruned(tree, kept)
    expected = pruned(shape, set(range(1, n + 1)) - set(kept))
    assert [tuple(node) for node in found.nodes] == nodes_of(expected)
    assert found.texts == tuple(tree.texts[edu - 1] for edu in kept)
    assert _pruned(binarize(tree), kept) == binarize(found)  # the order makes no difference


@given(shapes(), st.data())
def test_sides_are_compared_without_what_either_dropped(shape, data):
    """Two files of one document with other segments detached: a tree is itself, whichever side has dropped what."""
    n = size(shape)
    whole = tree_of(shape)
    gone = [sorted(data.draw(st.sets(st.integers(1, n), max_size=n // 2))) for _ in range(2)]
    kept = [edu for edu in range(1, n + 1) if edu not in {*gone[0], *gone[1]}]
    if len(kept) < 2:
        return
    one, other = (_dropping(whole, own) for own in gone)
    for spans in ("edus", "chars"):
        result = evaluate_discourse({"d": one}, {"p": {"d": other}, "q": {"d": whole}}, spans=spans)
        assert result.items["S"].groupby(result.items["system"]).size().nunique() == 1
        same = _pruned(one, _left(one, kept)) == _pruned(whole, kept)
        assert result.scores("parseval").loc["q"].eq(1).all() == same
        assert result.dropped == ({"d": n - len(kept)} if len(kept) < n else {})
    assert compare_trees(one, other).reference.n_edus == len(kept)


def _left(tree, kept):
    gone = {number for number, _ in tree.dropped}
    numbers = [number for number in range(1, tree.n_edus + len(gone) + 1) if number not in gone]
    return [place for place, number in enumerate(numbers, start=1) if number in kept]


def _dropping(tree, gone):
    """The tree as a file gives it in which some EDUs are detached."""
    kept = [edu for edu in range(1, tree.n_edus + 1) if edu not in gone]
    return replace(_pruned(tree, kept), dropped=tuple((edu, tree.texts[edu - 1]) for edu in gone))


def test_a_parser_that_never_saw_the_headline(read, tmp_path):
    gold = read(HEADLINE, detached="drop")
    write_discourse({"doc": gold}, tmp_path / "parser")
    result = evaluate_discourse({"doc": gold}, {"p": tmp_path / "parser"})
    assert result.scores("parseval").eq(1).all(axis=None)
    assert "Dropped on all sides: 1 detached EDU(s) of 1 document(s)." in result.summary()


def test_a_segment_that_is_in_part_detached(read, tmp_path):
    gold = read(HEADLINE, detached="drop")
    other = {"doc": read(file_of((1, 2, "cause", "Head it"), (2, 9, "span", "rained all day"), (9, "", "")))}
    with pytest.raises(DataError, match="EDU 1 of p is in part text that another side has detached"):
        evaluate_discourse({"doc": gold}, {"p": other}, spans="chars")


def test_detached_in_evaluation(read, tmp_path):
    read(HEADLINE, detached="drop")
    file = tmp_path / "doc.rs3"
    refused(DataError, "detached='drop'", evaluate_discourse, file, {"p": file})
    assert evaluate_discourse(file, {"p": file}, detached="attach").dropped == {}
    assert evaluate_discourse(file, {"p": file}, detached="drop").dropped == {"doc": 1}
