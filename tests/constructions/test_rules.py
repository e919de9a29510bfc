"""Rules: reading them, the targets that they find, and words that they must not name."""

import itertools
import re
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langdiff.constructions import default_rules, evaluate, read_gold, read_parses, read_rules
from langdiff.constructions.rules import Rule, is_found, lexical_words
from langdiff.constructions.target import PHENOMENA, Target, types_of_rules
from langdiff.errors import FaultsError, LangdiffWarning
from tests.helpers import refused

from . import worked


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("vpart ARG2", "a rule needs three cells: phenomenon, type, regular expression"),
        (r"particle ARG2 \(dobj {H} {D}\)", "unknown phenomenon 'particle'"),
        (r"vpart OBJ \(dobj {H} {D}\)", "unknown type 'OBJ'"),
        (r"vpart ARG2 \(dobj {H} _\)", "{D} must be in one expression"),
        (r"vpart ARG2 \(dobj _ {D}\)", "{H} must be in one expression"),
        (r"vpart ARG2 (dobj {H} {D}", "not a regular expression: missing"),
        (r"vpart ARG2 {H} a {X} ; {X} b {X} ; {X} c {D}", "3 steps; a path has two at most"),
        (r"vpart ARG2 {H} a {X} ; b {D}", "{X}, the node that two steps share, must be in both"),
    ],
)
def test_a_fault_has_its_line(write, line, message):
    path = write("bad.rules", f"# rules\n{worked.RULES.splitlines()[1]}\n{line}\n")
    refused(FaultsError, re.escape(f"bad.rules, line 3: {message}"), read_rules, path)


def test_a_positive_type_without_a_rule_is_wrong_and_told(write, gold, parses):
    some = "\n".join(line for line in worked.RULES.splitlines() if " MOD " not in line)
    scores = evaluate(gold, parses, read_rules(write("some.rules", some)))
    cell = scores.to_frame().set_index(["phenomenon", "type"]).loc[("absol", "MOD")]
    assert (cell["correct"], cell["mapped"]) == (0, False)
    assert set(scores.judgements.loc[[1, 2], "outcome"]) == {"not mapped"}
    assert "not mapped" in scores.summary()


def test_rules_of_one_type_serve_targets_of_several(write):
    assert types_of_rules("ARG2/MOD") == ("ARG2/MOD", "ARG2", "MOD")
    assert types_of_rules("!ARG1/ARG2") == ("!ARG1/ARG2", "!ARG1", "!ARG2")
    assert types_of_rules("ARG2:gap") == ("ARG2:gap",)


def test_words_of_the_sentences_in_rules_are_warned_of(write, gold, parses):
    lexical = read_rules(write("lex.rules", worked.RULES + "vpart ARG2 \\(dobj {H} plan_\\d+\\).*{D}\n"))
    assert lexical_words(lexical, gold, parses) == {7: ["plan"]}
    with pytest.warns(LangdiffWarning, match=r"name words of the sentences, .* line 7: plan"):
        evaluate(gold, parses, lexical)


def test_labels_of_the_shipped_rules_are_no_words(write):
    sentence = {"v1": ("He", "carried", "out", "the", "plan", "in", "this", "case")}
    gold = read_gold(write("gold.tsv", "v1\tvpart\t1\tcarried-1+out-2\tARG2\tplan-4\n"), sentence)
    parses = read_parses(write("x.triples", "# v1\n-1 root 1\n1 obj 4\n"), "triples")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert evaluate(gold, parses).judgements["correct"].all()
    own = read_rules(write("own.rules", "vpart  ARG2  {H} (obj|case) {D}\n"))
    with pytest.warns(LangdiffWarning, match="line 1: case"):
        evaluate(gold, parses, own)


def test_labels_may_be_words_of_the_sentences(write, gold, rules):
    parses = read_parses(write("x.gr", worked.GR.replace("(det plan_4", "(word plan_4")), "gr")
    own = read_rules(write("own.rules", worked.RULES + "vpart ARG2 \\(word {H} {D}\\)\n"))
    assert lexical_words(own, gold, parses) == {}


@pytest.mark.parametrize("scheme", ["ud", "clearnlp"])
def test_default_rules_serve_every_phenomenon(scheme):
    assert {rule.phenomenon for rule in default_rules(scheme).rules} == set(PHENOMENA)


def test_rules_for_another_shape_are_warned_of(gold, parses):
    with pytest.warns(LangdiffWarning, match=r"rules 'ud' \(ud.rules\) find no target in the output of parser 'cc'"):
        evaluate(gold, parses)


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
