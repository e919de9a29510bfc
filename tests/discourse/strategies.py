"""Random discourse trees, drawn as nested tuples, and slow ways to do with them what the package does."""

from hypothesis import strategies as st

from langdiff.discourse import DiscourseTree

RELATIONS = ("joint", "cause", "List", "elaboration-additional", "same-unit")
LEAF = ()
SIZES = st.integers(2, 12)


@st.composite
def shapes(draw, n_edus=SIZES, most_children=4):
    """Nested (kind, relations, children): kind is the place of the nucleus, or -1 for several nuclei."""
    return _shape(draw, draw(n_edus), most_children)


def _shape(draw, n, most):
    if n == 1:
        return LEAF
    count = draw(st.integers(2, min(n, most)))
    cuts = sorted(draw(st.lists(st.integers(1, n - 1), min_size=count - 1, max_size=count - 1, unique=True)))
    sizes = [high - low for low, high in zip([0, *cuts], [*cuts, n], strict=True)]
    kind = draw(st.integers(-1, count - 1))
    several = draw(st.sampled_from(RELATIONS))
    relations = [several if kind == -1 else draw(st.sampled_from(RELATIONS)) for _ in sizes]
    return kind, tuple(relations), tuple(_shape(draw, size, most) for size in sizes)


def size(shape):
    return 1 if shape == LEAF else sum(map(size, shape[2]))


def nodes_of(shape, first=1, nuclearity="Root", relation="---"):
    nodes = [(first, first + size(shape) - 1, nuclearity, relation)]
    if shape != LEAF:
        kind, relations, children = shape
        for place, (own, child) in enumerate(zip(relations, children, strict=True)):
            satellite = kind not in (-1, place)
            label = "span" if kind == place else own
            nodes += nodes_of(child, first, "Satellite" if satellite else "Nucleus", label)
            first += size(child)
    return nodes


def tree_of(shape, document="d", texts=True):
    words = tuple(f"words of {edu} (all)" for edu in range(1, size(shape) + 1)) if texts else None
    return DiscourseTree(nodes=nodes_of(shape), document=document, texts=words)


def binary(shape, mode):
    """The shape made binary as the definition says: children first, then one child is split off at a time."""
    if shape == LEAF:
        return LEAF
    kind, relations, children = shape
    parts = [binary(child, mode) for child in children]
    if kind == -1:
        if len(parts) == 2:
            return kind, relations, tuple(parts)
        if mode == "left":
            inner = binary((-1, relations[:-1], tuple(parts[:-1])), mode)
            return -1, relations[-2:], (inner, parts[-1])
        inner = binary((-1, relations[1:], tuple(parts[1:])), mode)
        return -1, relations[:2], (parts[0], inner)
    whole = parts[kind]
    right = [(1, place) for place in range(kind + 1, len(parts))]
    left = [(0, place) for place in range(kind - 1, -1, -1)]
    for to_the_right, place in right + left if mode == "right" else left + right:
        if to_the_right:
            whole = (0, ("span", relations[place]), (whole, parts[place]))
        else:
            whole = (1, (relations[place], "span"), (parts[place], whole))
    return whole


@st.composite
def binary_trees(draw, n_edus=SIZES):
    return tree_of(draw(shapes(n_edus, most_children=2)))


@st.composite
def pairs(draw):
    """Two n-ary trees of the same EDUs."""
    n = draw(st.integers(2, 10))
    return tuple(tree_of(draw(shapes(st.just(n)))) for _ in range(2))
