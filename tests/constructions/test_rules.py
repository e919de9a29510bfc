import re
import warnings

import pytest

from langdiff.constructions import default_rules, evaluate, read_gold, read_parses, read_rules
from langdiff.constructions.rules import lexical_words
from langdiff.constructions.target import PHENOMENA, types_of_rules
from langdiff.errors import ConfigError, DataError, FaultsError, LangdiffWarning

from . import worked


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("vpart ARG2", "a rule is: phenomenon, type, regular expression"),
        (r"particle ARG2 \(dobj {H} {D}\)", "unknown phenomenon 'particle'"),
        (r"vpart OBJ \(dobj {H} {D}\)", "unknown type 'OBJ'"),
        (r"vpart ARG2 \(dobj {H} _\)", "{D} must be in one expression"),
        (r"vpart ARG2 \(dobj _ {D}\)", "{H} must be in one expression"),
        (r"vpart ARG2 (dobj {H} {D}", "not a regular expression: missing"),
        (r"vpart ARG2 {H} a {X} ; {X} b {X} ; {X} c {D}", "3 steps; a path has two at most"),
        (r"vpart ARG2 {H} a {X} ; b {D}", "{X}, the node that two steps share, must be in both"),
        (r"vpart ARG2 {H} {X} {D}", "{X}, the node that two steps share"),
        (r"vpart ARG2 {H} {D} {X} ; {X} {D}", "{D} must be in one expression"),
    ],
)
def test_a_fault_has_its_line(write, line, message):
    path = write("bad.rules", f"# rules\n{worked.RULES.splitlines()[1]}\n{line}\n")
    with pytest.raises(FaultsError, match=re.escape(f"bad.rules, line 3: {message}")):
        read_rules(path)


def test_no_rules(write):
    with pytest.raises(DataError, match="there are no rules"):
        read_rules(write("empty.rules", "# none\n"))


def test_a_negative_type_needs_a_rule(write, gold, parses):
    some = "\n".join(line for line in worked.RULES.splitlines() if "!ARG2" not in line)
    with pytest.raises(DataError, match=r"no rule for vpart !ARG2, of which gold line 6 has a negative target"):
        evaluate(gold, parses, read_rules(write("some.rules", some)))


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


def test_an_unknown_scheme():
    with pytest.raises(ConfigError, match="unknown scheme 'penn'"):
        default_rules("penn")


def test_parsers_need_rules_and_names(gold, parses, rules):
    with pytest.raises(ConfigError, match="parser 'cc' has no rules"):
        evaluate(gold, parses, {"other": rules})
    with pytest.raises(ConfigError, match="different names"):
        evaluate(gold, [parses, parses], rules)
    with pytest.raises(ConfigError, match="no parser is given"):
        evaluate(gold, [], rules)


def test_rules_for_another_shape_are_warned_of(gold, parses):
    with pytest.warns(
        LangdiffWarning, match=r"rules 'ud' \(ud.rules\) find no target at all in the output of parser 'cc'"
    ):
        evaluate(gold, parses)
