import pytest

from langdiff.constructions import (
    default_rules,
    evaluate,
    mine_candidates,
    read_gold,
    read_parses,
    read_rules,
    study_outputs,
)
from langdiff.constructions.parses import align
from langdiff.errors import ConfigError, DataError, LangdiffWarning
from tests.helpers import refused

from . import worked

ROWS = """\
# sent_id = s1
# text = She can't swim
1	She	she	PRON	PRP	Number=Sing	4	nsubj	4:nsubj	_
2-3	can't	_	_	_	_	_	_	_	_
2	ca	can	AUX	MD	_	4	aux	4:aux	_
3	n't	not	PART	RB	_	4	advmod	4:advmod	_
4	swim	swim	VERB	VB	_	0	root	0:root	_
4.1	swim	swim	VERB	VB	_	_	_	4:conj	_
"""


def test_conllu_becomes_triples_of_the_tree_or_the_graph(write):
    path = write("one.conllu", ROWS)
    basic = read_parses(path, "conllu")
    assert basic.blocks["s1"] == ("3 nsubj 0", "3 aux 1", "3 advmod 2", "-1 root 3")
    enhanced = read_parses(path, "conllu", graph="enhanced")
    assert enhanced.blocks["s1"][-2:] == ("-1 root 3", "3 conj 4.1")
    assert basic.tokens["s1"] == (("She", (0,)), ("can't", (1, 2)), ("swim", (3,)))
    assert basic.positions("s1", ("She", "can't", "swim")) == [(0,), (1, 2), (3,)]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("# sent_id = s1\n", "", "line 2: the sentence has no sent_id"),
        ("\tnsubj\t4:nsubj\t_", "\tnsubj", "line 3: 8 columns"),
        ("\t4\taux\t", "\t9\taux\t", "line 5: HEAD '9' is not the number"),
        ("4:aux", "7:aux", "line 5: DEPS names word 7"),
        ("4:aux", "aux", "line 5: DEPS 'aux' is not made of"),
        ("3\tn't", "5\tn't", "line 3: the IDs of words are not 1, 2, 3"),
    ],
)
def test_malformed_conllu_names_the_line(write, old, new, message):
    path = write("bad.conllu", ROWS.replace(old, new))
    refused(DataError, f"bad.conllu, {message}", read_parses, path, "conllu")


def test_several_files_and_some_items(write):
    first, second = write("a.gr", "# v1\n(dobj carried_1 plan_4)\n# v2\n"), write("b.gr", "# i1\n")
    assert list(read_parses([first, second], "gr").blocks) == ["v1", "v2", "i1"]
    assert list(read_parses([first, second], "gr", items={"i1"}).blocks) == ["i1"]
    refused(DataError, r"b.gr, line 1: a second block for item 'i1'", read_parses, [second, second], "gr")


def test_blocks_for_unknown_items_are_a_warning(write, gold, rules):
    parses = read_parses(write("x.gr", worked.GR + "# z9\n(dobj a_1 b_2)\n"), "gr")
    with pytest.warns(LangdiffWarning, match=r"1 blocks are not for items of 'gold' .* 'z9', the first in line 22"):
        assert evaluate(gold, parses, rules).judgements["correct"].tolist() == worked.CORRECT


def test_all_sentences_that_cannot_be_aligned_are_named(write, gold, rules):
    tokens = write("t.tsv", "v1\tHe carried out a plan\nv2\tShe looked up a word\n")
    parses = read_parses(write("x.gr", "# v1\n(dobj carried_1 plan_4)\n# v2\n"), "gr", tokens=tokens)
    with pytest.raises(DataError, match=r"parser 'x', item 'v1': .* The same is true of 1 other sentences: 'v2'\.$"):
        evaluate(gold, parses, rules)


@pytest.mark.filterwarnings("ignore:.*has no parse of:langdiff.errors.LangdiffWarning")
@pytest.mark.parametrize(
    ("name", "lines", "last"),
    [
        ("x.gr", "# v1\n(dobj carried_1 plan_5)\n", 5),
        ("x.stanford", "# v1\nobj(carried-2, plan-6)\n", 5),
        ("x.triples", "# v1\n-1 root 1\n1 ARG2 12\n", 12),
    ],
)
def test_words_that_the_sentence_does_not_have_are_said(write, gold, rules, name, lines, last):
    """He carried out the plan: words are 0 to 4; the same words within it are no fault."""
    shape = name.partition(".")[2]
    with pytest.warns(
        LangdiffWarning, match=rf"of 1 sentences name words .* first 'v1': word {last} \(from 0\) of 5\."
    ):
        evaluate(gold, read_parses(write(name, lines), shape), rules)
    inside = read_parses(write(f"in.{shape}", lines.replace("_5", "_4").replace("-6", "-5").replace("12", "4")), shape)
    assert inside.last_position("v1") == 4


@pytest.mark.filterwarnings("ignore:.*has no parse of:langdiff.errors.LangdiffWarning")
def test_output_without_any_dependency_is_said(write, gold, rules):
    with pytest.warns(LangdiffWarning, match="parser 'x': all blocks are without dependencies"):
        evaluate(gold, read_parses(write("x.gr", "# v1\n# v2\n"), "gr"), rules)


def test_brackets_and_quotes_of_the_penn_treebank():
    tokens = [(word, (place,)) for place, word in enumerate(["``", "Yes", "''", "-LRB-", "he", "said", "-RRB-"])]
    forms = [word for word, _ in tokens]
    assert align("q", ["“Yes”", "(he", "said)"], tokens, forms) == [(0, 1, 2), (3, 4), (5, 6)]


def test_words_of_a_token_that_do_not_add_up_to_it():
    """French "du" is "de" and "le": each stands for the whole token."""
    tokens = [("bord", (0,)), ("du", (1, 2)), ("lac", (3,))]
    assert align("f", ["bord", "du", "lac"], tokens, ["bord", "de", "le", "lac"]) == [(0,), (1, 2), (3,)]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda w: read_parses(w("(dobj a_1 b_2)\n# v1\n"), "gr"), DataError, "a dependency before the first line"),
        (lambda w: read_parses(w("#\n"), "gr"), DataError, "line 1: no item after"),
        (lambda w: read_parses(w("# v1\n# v1\n"), "gr"), DataError, "a second block for item 'v1'"),
        (lambda w: read_parses(w(ROWS + "\n" + ROWS), "conllu"), DataError, "line 12: a second block for item 's1'"),
        (lambda w: read_parses(w(ROWS), "xml"), ConfigError, "unknown shape 'xml'"),
        (lambda w: read_parses(w(ROWS), "conllu", graph="deep"), ConfigError, "unknown graph"),
        (lambda w: read_parses(w(ROWS), "conllu", tokens=w(ROWS)), ConfigError, "leave tokens out"),
        (lambda w: read_parses(w(worked.GR), "gr", tokens=w("v2\tShe\n", "t.tsv")), DataError, "no words for"),
        (lambda w: read_rules(w("# none\n")), DataError, "the file has no rules"),
        (lambda w: default_rules("penn"), ConfigError, "unknown scheme 'penn'"),
        (lambda w: read_gold(w("# none\n", "g.tsv"), worked.WORDS), DataError, "the file has no targets"),
        (lambda w: mine_candidates(w(ROWS), phenomena=["net"]), ConfigError, "unknown phenomena 'net'"),
        (lambda w: mine_candidates(w("")), DataError, "the files have no sentences"),
        (lambda w: mine_candidates([w(ROWS), w(ROWS, "b.conllu")]), DataError, "sent_id 's1' comes twice"),
        (lambda w: study_outputs(w(ROWS), {"a": w(ROWS)}, on_error="ignore"), ConfigError, "must be 'raise' or 'skip'"),
        (
            lambda w: study_outputs(w(ROWS), {"a": w(ROWS)}, pairs=True),
            ConfigError,
            "abilities and pairs are of targets",
        ),
    ],
)
def test_what_cannot_be_read_or_mined(write, call, error, words):
    refused(error, words, call, lambda text, name="a.conllu": write(name, text))


def test_what_cannot_be_evaluated(gold, parses, rules):
    scores = evaluate(gold, parses, rules)
    for call, words in (
        (lambda: evaluate(gold, parses, {"other": rules}), "parser 'cc' has no rules"),
        (lambda: evaluate(gold, [parses, parses], rules), "different names"),
        (lambda: evaluate(gold, [], rules), "no parser is given"),
        (lambda: scores.compare("cc", "rasp"), "two different parsers of cc are needed"),
    ):
        refused(ConfigError, words, call)
