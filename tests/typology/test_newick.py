"""Newick's format: every tree that can be written is read back, and what is wrong is said with its position."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langdiff.errors import DataError
from langdiff.typology.family_tree import parse_newick

# a backslash before a quotation mark escapes it, as Glottolog writes names
NAMES = st.text(st.characters(exclude_characters="\0\n\r\\", exclude_categories=["Cs"]), max_size=6)
TREES = st.recursive(
    st.tuples(NAMES, st.none() | st.floats(0, 100), st.just(())),
    lambda children: st.tuples(NAMES, st.none() | st.floats(0, 100), st.lists(children, min_size=1, max_size=4)),
    max_leaves=12,
)


def write(tree):
    name, length, children = tree
    inside = f"({','.join(map(write, children))})" if children else ""
    quoted = "'" + name.replace("'", "''") + "'" if name else ""
    return f"{inside}{quoted}" + ("" if length is None else f" [a comment]:{length!r}")


def flatten(tree, rows):
    """Return the position of a node, after those of its descendants."""
    name, length, children = tree
    places = [flatten(child, rows) for child in children]
    rows.append([name, -1, length])
    for place in places:
        rows[place][1] = len(rows) - 1
    return len(rows) - 1


@given(tree=TREES)
def test_what_is_written_is_read(tree):
    rows = []
    flatten(tree, rows)
    nodes = parse_newick(write(tree) + ";\n")
    assert [list(row) for row in zip(*nodes, strict=True)] == rows


def test_names_may_be_missing_and_comments_stand_anywhere():
    nodes = parse_newick("[&R] (,a_b,('c\\'\\'',)[x]:2e-1)'it''s';")
    assert nodes.names == ["", "a_b", "c''", "", "", "it's"]
    assert nodes.parents == [5, 5, 4, 4, 5, -1]
    assert nodes.lengths == [None, None, None, None, 0.2, None]


def test_deep_trees_are_no_problem():
    depth = 20_000
    nodes = parse_newick("(" * depth + "a" + ")" * depth)
    assert nodes.parents == [*range(1, depth + 1), -1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(a,b));", "line 1, character 6: no group is open, after '\\(a,b\\)'"),
        ("((a,b),\n(c", r"line 2, character 3: the tree ends, and 2 group\(s\) are not closed"),
        ("(a:,b);", "character 4: ',' is not expected"),
        ("(a:x,b);", "character 4: 'x' is not the length of a branch"),
        ("(a:-1,b);", "character 4: '-1' is not the length"),
        ("(a:nan,b);", "'nan' is not the length"),
        ("(a b);", "character 4: 'b' is not expected"),
        ("(a)(b);", r"character 4: '\(' is not expected"),
        ("a,b;", "character 2: a second tree begins"),
        ("(a,b);(c,d);", r"character 7: '\(' is not expected"),
        ("('a,b);", 'character 2: "\'" is not closed'),
    ],
)
def test_what_is_wrong_is_said_with_its_position(text, message):
    with pytest.raises(DataError, match=message):
        parse_newick(text)
