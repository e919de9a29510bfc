"""Whether an analysis contains a dependency: rules with the positions of a target put in."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from langdiff.constructions.parses import SHAPES, Shape
from langdiff.constructions.rules import Rule, fill
from langdiff.constructions.target import Node, Target

JOINTS = "[+_~-]?"  # between the words of a predicate that a parser writes as one


def is_found(
    target: Target,
    rules: Iterable[Rule],
    lines: Sequence[str],
    *,
    shape: str,
    words: Sequence[str],
    positions: Sequence[tuple[int, ...]],
) -> bool:
    r"""Return whether some rule finds some pair of alternatives in an analysis.

    Parameters
    ----------
    target : Target
        The dependency that is looked for.
    rules : iterable of Rule
        Rules that serve it.
    lines : sequence of str
        The parser's lines for the sentence.
    shape : str
        Shape of the lines, a key of `SHAPES`.
    words : sequence of str
        Words of the sentence.
    positions : sequence of tuple of int
        Positions of the parser's words for each of them.

    Returns
    -------
    bool

    Examples
    --------
    >>> target = Target("v1", "vpart", True, ((1, 2),), "ARG2", ((4,),))
    >>> words = ["He", "carried", "out", "the", "plan"]
    >>> rule = Rule("vpart", "ARG2", (r"\(dobj {H} {D}\)",))
    >>> own = [(place,) for place in range(5)]
    >>> is_found(target, [rule], ["(dobj carried_1 plan_4)"], shape="gr", words=words, positions=own)
    True
    """
    form = SHAPES[shape]
    nodes = {
        "{H}": _any_of(target.heads, form, words, positions),
        "{D}": _any_of(target.dependents, form, words, positions),
    }
    for rule in rules:
        steps = [fill(step, nodes) for step in rule.steps]
        if len(steps) == 1:
            if any(map(_compiled(steps[0]).search, lines)):
                return True
        elif _has_path(steps, lines, form):
            return True
    return False


def _any_of(nodes: Sequence[Node], shape: Shape, words: Sequence[str], positions: Sequence[tuple[int, ...]]) -> str:
    """Return the expression that matches any of the alternatives; of any word, if there are none."""
    if not nodes:
        return shape.node.replace("#", r"\d+")
    accepted = []
    for node in nodes:
        accepted += [shape.node.replace("#", str(place + shape.first)) for place in positions[node[0]]]
        if len(node) > 1 and shape.joined is not None:
            word = JOINTS.join(re.escape(words[place]) for place in node)
            places = "|".join(str(own + shape.first) for place in node for own in positions[place])
            accepted.append(shape.joined.replace("@", f"(?i:{word})").replace("#", f"(?:{places})"))
    return "|".join(dict.fromkeys(accepted))


def _has_path(steps: Sequence[str], lines: Sequence[str], shape: Shape) -> bool:
    """Return whether two lines match the two steps with the same node in place of ``{X}``."""
    any_node = {"{X}": shape.node.replace("#", r"\d+")}
    candidates = [[line for line in lines if _compiled(fill(step, any_node)).search(line)] for step in steps]
    if not all(candidates):
        return False
    shared = set.intersection(*({*re.findall(r"\d+", " ".join(lines_of))} for lines_of in candidates))
    for position in sorted(shared):
        node = {"{X}": shape.node.replace("#", position)}
        if all(any(map(_compiled(fill(step, node)).search, own)) for step, own in zip(steps, candidates, strict=True)):
            return True
    return False


@lru_cache(maxsize=4096)
def _compiled(expression: str) -> re.Pattern[str]:
    return re.compile(expression)
