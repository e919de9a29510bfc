"""Sentences of a gold set in output that divides the text in another way: by characters, against the original trees."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langdiff.constructions import default_rules, evaluate, read_gold, read_parses
from langdiff.constructions.rules import read_rules
from langdiff.errors import DataError, FaultsError, LangdiffWarning
from tests.helpers import refused


def sentence(*rows, name=None):
    """Return CoNLL-U of words "form head relation"."""
    cells = [row.split() for row in rows]
    lines = [f"{k}\t{form}\t_\tX\t_\t_\t{head}\t{kind}\t_\t_" for k, (form, head, kind) in enumerate(cells, 1)]
    return "\n".join([*([f"# sent_id = {name}"] if name else []), *lines, "", ""])


A = ("Dogs", "bark", "!")
B = ("Cats", "do", "not", ".")
GOLD = {"a": A, "b": B}


def read(write, text, items=GOLD, **options):
    return read_parses(write("mine.conllu", text), items=items, **options)


def test_sentences_are_found_by_text_whatever_they_are_called(write):
    one, other = sentence("Dogs 2 nsubj", "bark 0 root", "! 2 punct"), sentence("Cats 0 root", "don't 1 x", ". 1 punct")
    text = one + other.replace("don't", "do\u00a0not")
    for numbers in (("", ""), ("# sent_id = 1\n", "# sent_id = 2\n"), ("# sent_id = b\n", "# sent_id = a\n")):
        parses = read(write, numbers[0] + one + numbers[1] + text.removeprefix(one))
        assert parses.blocks["a"] == ("1 nsubj 0", "-1 root 1", "1 punct 2")
        assert parses.positions("b", B) == [(0,), (1,), (1,), (2,)]
        assert parses.by_text == {"a", "b"}


def test_what_has_its_name_and_words_is_not_searched_for(write):
    parses = read(write, sentence("Dogs 2 nsubj", "bark 0 root", "! 2 punct", name="a"))
    assert (set(parses.blocks), parses.by_text) == ({"a"}, frozenset())


def test_sentences_of_the_parser_are_joined(write):
    parses = read(write, sentence("Dogs 0 root") + sentence("bark 0 root", "! 1 punct"), items={"a": A})
    assert parses.blocks["a"] == ("-1 root 0", "-1 root 1", "1 punct 2")


def test_a_sentence_of_the_parser_is_cut_and_no_edge_leads_across(write):
    rows = ("Dogs 2 nsubj", "bark 0 root", "! 5 punct", "Cats 2 nsubj", "do 6 aux", "not 2 advmod", ". 2 punct")
    parses = read(write, sentence(*rows))
    assert parses.blocks["a"] == ("1 nsubj 0", "-1 root 1", "-2 punct 2")
    assert parses.blocks["b"] == ("-2 nsubj 0", "2 aux 1", "-2 advmod 2", "-2 punct 3")
    # of a target with any head, no word is the head
    gold = read_gold(write("g.tsv", "b\titexpl\t0\t*\t!ARG\t0\n"), {"b": B})
    rules = read_rules(write("r.rules", r"itexpl !ARG {H} nsubj {D}"))
    assert evaluate(gold, read(write, sentence(*rows), {"b": B}), rules).to_frame()["recall"].tolist() == [1.0]


def test_ranges_and_the_enhanced_graph_are_moved_along(write):
    text = (
        "1\tDogs\t_\tX\t_\t_\t2\tnsubj\t2:nsubj\t_\n2\tbark\t_\tX\t_\t_\t0\troot\t0:root\t_\n"
        "3\t!\t_\tX\t_\t_\t2\tpunct\t2:punct\t_\n4\tCats\t_\tX\t_\t_\t2\tconj\t2:conj|4.1:obj\t_\n"
        "4.1\tE\t_\tX\t_\t_\t_\t_\t5:x\t_\n5-6\tdon't\t_\t_\t_\t_\t_\t_\t_\t_\n5\tdo\t_\tX\t_\t_\t4\taux\t4:aux\t_\n"
        "6\tn't\t_\tX\t_\t_\t4\tadvmod\t4:advmod\t_\n7\t.\t_\tX\t_\t_\t4\tpunct\t4:punct\t_\n\n"
    )
    parses = read(write, text, {"b": ("Cats", "don't", ".")}, graph="enhanced")
    assert parses.blocks["b"][:3] == ("-2 conj 0", "1.1 obj 0", "0 aux 1")
    assert "1 x 1.1" in parses.blocks["b"]
    assert parses.positions("b", ("Cats", "don't", ".")) == [(0,), (1, 2), (3,)]


def test_equal_sentences_are_paired_in_order_or_by_what_comes_before(write):
    twice = sentence("Yes 0 one") + sentence("Yes 0 two")
    parses = read(write, twice, {"x": ("Yes",), "y": ("Yes",)})
    assert (parses.blocks["x"], parses.blocks["y"]) == (("-1 one 0",), ("-1 two 0",))
    dogs = sentence("Dogs 2 nsubj", "bark 0 root", "! 2 punct")
    parses = read(write, sentence("Yes 0 one") + dogs + sentence("Yes 0 two"), {"a": A, "y": ("Yes",)})
    assert parses.blocks["y"] == ("-1 two 0",)
    # one of two, with nothing before it, is not guessed, but for equal analyses
    with pytest.warns(LangdiffWarning, match="item 'y' stands 2 times in the output, with unlike analyses"):
        assert read(write, twice + dogs, {"y": ("Yes",), "a": A}).blocks.keys() == {"a"}
    assert read(write, 2 * sentence("Yes 0 one") + dogs, {"y": ("Yes",), "a": A}).blocks["y"] == ("-1 one 0",)


def test_a_short_sentence_is_not_found_within_a_word_or_sentence(write):
    parses = read(
        write,
        sentence("Nothing 0 root", "no 1 x", "! 1 punct") + sentence("No 0 root", "! 1 punct"),
        {"n": ("No", "!")},
    )
    assert parses.blocks["n"] == ("-1 root 0", "0 punct 1")


def test_a_sentence_left_out_is_not_found_within_a_longer_one(write):
    short, longer, last = ("Stop", "!"), ("He", "said", ":", "Stop", "!"), ("Yes",)
    own = sentence("He 2 nsubj", "said 0 root", ": 2 punct", "Stop 2 ccomp", "! 4 punct")
    for items in ({"s1": short, "s2": longer}, {"s2": longer, "s1": short}):
        assert set(read(write, own, items).blocks) == {"s2"}
        both = read(write, own + sentence("Stop 0 root", "! 1 punct"), items)
        assert both.blocks["s1"] == ("-1 root 0", "0 punct 1")
        assert both.blocks["s2"][3:] == ("1 ccomp 3", "3 punct 4")
    # nor does what follows it in the gold set follow the longer one
    items = {"s1": short, "s3": last, "s2": longer, "s4": last}
    assert set(read(write, own + sentence("Yes 0 four"), items).blocks) == {"s2", "s4"}
    # the longer one has its name and words: only the other is searched for
    assert set(read(write, own.replace("1\t", "# sent_id = s2\n1\t", 1), {"s1": short, "s2": longer}).blocks) == {"s2"}


def test_what_cannot_be_matched_is_named(write):
    gold = read_gold(write("g.tsv", "a\tcontrol\t1\t1\tMOD\t0\nb\tcontrol\t1\t1\tMOD\t0\n"), GOLD)
    with pytest.warns(LangdiffWarning, match=r"no parse of 1 of 2 .*\('b'\)\. That is more than a tenth"):
        scores = evaluate(gold, read(write, sentence("Dogs 2 nsubj", "bark 0 root", "! 2 punct")))
    assert scores.coverage[["no_parse", "by_text"]].to_numpy().tolist() == [[1, 1]]
    # a word that reaches across the boundary belongs to neither sentence
    rows = ("Dogs 2 nsubj", "bark 0 root", "!Cats 2 x", "do 2 x", "not 2 x", ". 2 x")
    assert not read(write, sentence(*rows)).blocks
    refused(DataError, "has no sent_id", read_parses, write("mine.conllu", sentence("Dogs 0 root")))


@given(data=st.data())
def test_any_division_of_the_text_gives_the_same_words(data, tmp_path_factory):
    """Sentences are joined and cut at random: the pieces have the edges of the original within them, and no others."""
    lengths = data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=6))
    total = sum(lengths)
    words = [f"w{number}." for number in range(total)]
    ends = sorted(data.draw(st.sets(st.integers(1, total))) | {total})
    heads, starts = [], [0, *ends[:-1]]
    for start, end in zip(starts, ends, strict=True):
        heads += [data.draw(st.integers(-1, end - start - 1)) for _ in range(start, end)]
    text = "".join(
        sentence(*(f"{words[k]} {heads[k] + 1} r" for k in range(start, end)))
        for start, end in zip(starts, ends, strict=True)
    )
    firsts = [sum(lengths[:k]) for k in range(len(lengths))]
    items = {str(k): tuple(words[first : first + n]) for k, (first, n) in enumerate(zip(firsts, lengths, strict=True))}
    path = tmp_path_factory.mktemp("cut") / "mine.conllu"
    path.write_text(text)
    blocks = read_parses(path, items=items).blocks
    assert list(blocks) == list(items)
    own = {k: start for start, end in zip(starts, ends, strict=True) for k in range(start, end)}
    for k, (first, n) in enumerate(zip(firsts, lengths, strict=True)):
        expected = []
        for place in range(first, first + n):
            head = heads[place] + own[place] if heads[place] >= 0 else None
            inside = head is not None and first <= head < first + n
            expected.append(f"{-1 if head is None else head - first if inside else -2} r {place - first}")
        assert list(blocks[str(k)]) == expected


def test_types_that_a_tree_cannot_express_have_no_recall(write):
    gold = read_gold(write("g.tsv", "a\tcontrol\t1\t1\tARG1\t0\na\tcontrol\t1\t1\tARG2/ARG3\t2\n"), {"a": A})
    tree = sentence("Dogs 2 nsubj", "bark 0 root", "! 2 xcomp", name="a")
    scores = evaluate(gold, [read(write, tree), read_parses(write("t.triples", "# a\n1 nsubj 0\n"), name="graph")])
    cells = scores.to_frame().set_index(["type", "parser"])[["correct", "targets", "recall"]]
    assert cells.loc[("ARG1", "mine"), ["correct", "targets"]].tolist() == [0, 0]
    assert cells["recall"].isna().sum() == 1
    means = scores.by_parser().set_index("parser")
    assert means["macro"].to_dict() == {"mine": 1.0, "graph": 0.5}
    assert means["targets"].to_dict() == {"mine": 1, "graph": 2}
    assert "n/a" in scores.summary()
    assert scores.outcomes().successes["mine"].isna().sum() == 1
    assert scores.compare("mine", "graph")["targets"].tolist() == [1, 1]
    assert default_rules().graph_only == default_rules("clearnlp").graph_only


def test_types_that_a_tree_cannot_express_have_none_in_sentences_that_were_not_parsed(write):
    rows = "a\tcontrol\t1\t1\tARG1\t0\na\tcontrol\t1\t1\tARG2/ARG3\t2\n"
    gold = read_gold(write("g.tsv", rows + rows.replace("a", "b").replace("bRG", "ARG")), {"a": A, "b": A})
    tree = sentence("Dogs 2 nsubj", "bark 0 root", "! 2 xcomp", name="a")
    with pytest.warns(LangdiffWarning, match="no parse of 1 of 2 sentences"):
        scores = evaluate(gold, read(write, tree))
    cells = scores.to_frame().set_index("type")
    assert cells.loc["ARG1", "targets"] == 0
    assert cells.loc["ARG2/ARG3", ["correct", "targets"]].tolist() == [1, 2]
    assert scores.by_parser()["macro"].tolist() == [0.5]  # with ARG1 as wrong, it would be .25


def test_faults_of_lines_that_name_such_types(write):
    for line, message in (("@graph control", "two cells"), ("@graph x ARG1", "unknown phenomenon 'x'")):
        refused(FaultsError, re.escape(message), read_rules, write("r.rules", f"control ARG1 {{H}} x {{D}}\n{line}\n"))
