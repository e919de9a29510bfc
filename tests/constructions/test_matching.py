"""Alternatives, joined words, any head, paths; and triples against a search that knows no regular expressions."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langdiff.constructions.rules import Rule, is_found
from langdiff.constructions.target import Target

WORDS = ["He", "carried", "out", "the", "plan"]
OBJ = Rule("vpart", "ARG2", (r"\(dobj {H} {D}\)",))


def target(heads, dependents):
    return Target("v1", "vpart", True, heads, "ARG2", dependents)


def found(one, lines, *rules, shape="gr", words=WORDS):
    own = [(place,) for place in range(len(words))]
    return is_found(one, rules, lines, shape=shape, words=words, positions=own)


def test_any_alternative_will_do():
    one = target(((1,), (2,)), ((3,), (4,)))
    assert found(one, ["(dobj out_2 plan_4)"], OBJ)
    assert found(one, ["(dobj carried_1 the_3)"], OBJ)
    assert not found(one, ["(dobj the_3 carried_1)"], OBJ)


@pytest.mark.parametrize("node", ["carried_1", "carried_out_1", "carried+out_1", "Carriedout_2", "carried-out_2"])
def test_words_of_a_predicate_may_be_joined(node):
    assert found(target(((1, 2),), ((4,),)), [f"(dobj {node} plan_4)"], OBJ)


@pytest.mark.parametrize("node", ["out_2", "carried_out_3", "carried_2", "outcarried_2", "carried_12"])
def test_other_nodes_are_not_the_predicate(node):
    assert not found(target(((1, 2),), ((4,),)), [f"(dobj {node} plan_4)"], OBJ)


@pytest.mark.parametrize(
    ("shape", "expression", "line", "longer"),
    [
        ("gr", r"\(dobj {H} {D}", "(dobj carried_1 plan_4)", "(dobj carried_1 plan_41)"),
        ("stanford", r"dobj\({H}, {D}", "dobj(carried-2, plan-5)", "dobj(carried-2, plan-51)"),
        ("triples", "{H} ARG2 {D}", "1 ARG2 4", "1 ARG2 41"),
        ("triples", "{H} ARG2 {D}", "1 ARG2 4", "11 ARG2 4"),
        ("triples", "{H} ARG2 {D}", "1 ARG2 4", "-1 ARG2 4"),  # the head of the root
        ("triples", "{H} ARG2 {D}", "1 ARG2 4", "8.1 ARG2 4"),  # an empty node
        ("triples", "{H} ARG2 {D}", "1 ARG2 4", "1 ARG2 4.1"),
    ],
)
def test_a_node_is_not_part_of_another_even_where_a_rule_does_not_say_how_it_ends(shape, expression, line, longer):
    rule = Rule("vpart", "ARG2", (expression,))
    assert found(target(((1,),), ((4,),)), [line], rule, shape=shape)
    assert not found(target(((1,),), ((4,),)), [longer], rule, shape=shape)


def test_any_head():
    assert found(target((), ((4,),)), ["(dobj whatever_3 plan_4)"], OBJ)
    assert not found(target((), ((4,),)), ["(dobj plan_4 whatever_3)"], OBJ)


def test_glued_punctuation():
    one = target(((1,),), ((4,),))
    assert found(one, ["dobj(carried,-2, plan.-5)"], Rule("vpart", "ARG2", (r"dobj\({H}, {D}\)",)), shape="stanford")


PATH = Rule("vpart", "ARG2", (r"\(iobj {H} {X}\)", r"\(dobj {X} {D}\)"))


def test_paths_share_a_node():
    one = target(((1,),), ((4,),))
    assert found(one, ["(iobj carried_1 with_3)", "(dobj with_3 plan_4)"], PATH)
    assert not found(one, ["(iobj carried_1 with_3)", "(dobj with_2 plan_4)"], PATH)
    assert not found(one, ["(iobj carried_1 with_1)", "(dobj with_11 plan_4)"], PATH)
    assert not found(one, ["(iobj carried_1 with_3)"], PATH)


edges = st.lists(
    st.tuples(st.integers(-1, 13), st.sampled_from(["obj", "nsubj", "obj:x"]), st.integers(0, 13)), max_size=8
)
alternatives = st.lists(st.integers(0, 13), min_size=1, max_size=3, unique=True)


@given(edges=edges, heads=alternatives, dependents=alternatives)
def test_triples_equal_a_search_without_expressions(edges, heads, dependents):
    one = target(tuple((h,) for h in heads), tuple((d,) for d in dependents))
    lines = [f"{head} {label} {dependent}" for head, label, dependent in edges]
    words = ["w"] * 14
    plain = Rule("vpart", "ARG2", ("{H} obj {D}",))
    expected = any(label == "obj" and h in heads and d in dependents for h, label, d in edges)
    assert found(one, lines, plain, shape="triples", words=words) == expected
    path = Rule("vpart", "ARG2", ("{X} obj {H}", "{X} nsubj {D}"))
    expected = any(
        first[1] == "obj" and second[1] == "nsubj" and first[0] == second[0] >= 0
        and first[2] in heads and second[2] in dependents
        for first, second in itertools.product(edges, edges)
    )  # fmt: skip
    assert found(one, lines, path, shape="triples", words=words) == expected
