import gzip
import warnings

import conllu
import pytest
from hypothesis import given

import langdiff as ld
from langdiff.constructions.graphs import read_graphs
from langdiff.errors import ConfigError, DataError, LangdiffWarning
from langdiff.treebanks.conllu import Tree, read_conllu
from tests.helpers import refused
from tests.treebanks.strategies import trees

ROWS = """\
# sent_id = 1
# text = vámonos al mar
1-2\tvámonos\t_\t_\t_\t_\t_\t_\t_\t_
1\tvamos\tir\tVERB\t_\t_\t0\troot\t_\t_
2\tnos\tnosotros\tPRON\t_\t_\t1\tobj\t_\t_
3-4\tal\t_\t_\t_\t_\t_\t_\t_\t_
3\ta\ta\tADP\t_\t_\t5\tcase\t_\t_
4\tel\tel\tDET\t_\t_\t5\tdet\t_\t_
5\tmar\tmar\tNOUN\t_\t_\t1\tobl:arg\t_\t_
5.1\tvamos\tir\tVERB\t_\t_\t_\t_\t1:conj\t_

# sent_id = 2
1\tNew  York\tNew York\tPROPN\t_\t_\t0\troot\t_\tSpaceAfter=No
2\t.\t.\tPUNCT\t_\t_\t1\tpunct"""


def write(folder, text, name="es.conllu"):
    path = folder / name
    opened = gzip.open if name.endswith(".gz") else open
    with opened(path, "wt", encoding="utf-8", newline="") as stream:
        stream.write(text)
    return path


def row(number, head, deprel="dep", form="w", upos="X"):
    return f"{number}\t{form}\t_\t{upos}\t_\t_\t{head}\t{deprel}\t_\t_\n"


@pytest.mark.parametrize("name", ["es.conllu", "es.conllu.gz"])
@pytest.mark.parametrize("end", ["", "\n", "\n\n\n"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_ranges_empty_nodes_comments_and_missing_blank_lines(tmp_path, name, end, newline):
    first, second = read_conllu(write(tmp_path, (ROWS + end).replace("\n", newline), name))
    assert first == Tree(
        ("vamos", "nos", "a", "el", "mar"),
        ("VERB", "PRON", "ADP", "DET", "NOUN"),
        (0, 1, 5, 5, 1),
        ("root", "obj", "case", "det", "obl:arg"),
        line=3,
    )
    assert second.forms == ("New York", ".")  # two blanks in a word shift no column; eight columns are enough
    assert second.line == 13


def test_rows_are_those_of_the_package_conllu(tmp_path):
    ids = ["1-2", "1", "2", "2.1", "3", "4"]
    features = ["_", "Mood=Imp|VerbForm=Fin", "Case=Acc,Dat|Typo=_", "_", "_", "Number[psor]=Plur"]
    edges = ["_", "0:root", "1:obj|2.1:nmod:de", "0:dep", "2:case|4:nsubj:pass", "1:obl"]
    rows = zip(ids, features, edges, strict=True)
    text = "\n".join(
        f"{one}\tw{one}\tl\tX\t_\t{two}\t{'_' if '.' in one else 0}\tdep\t{three}\t_" for one, two, three in rows
    )
    path = write(tmp_path, f"# sent_id = s1\n{text}\n")
    (ours,), (theirs,) = read_graphs(path), conllu.parse(path.read_text())
    tokens = [token for token in theirs if isinstance(token["id"], int)]
    assert [word.form for word in ours.words] == [token["form"] for token in tokens]
    assert [word.features for word in ours.words] == [
        {name: value or "" for name, value in (token["feats"] or {}).items()} for token in tokens
    ]
    names = {None: "-1"} | {token["id"]: str(place) for place, token in enumerate(tokens)} | {0: "-1"}
    deps = [[(names.get(head) or "".join(map(str, head)), name) for name, head in token["deps"]] for token in tokens]
    assert [list(word.enhanced) for word in ours.words] == deps


def test_options(tmp_path):
    path = write(tmp_path, ROWS)
    assert [len(tree) for tree in read_conllu(path, punctuation=False)] == [5, 1]
    assert next(read_conllu(path, strip_subtypes=True)).deprels[-1] == "obl"


def test_children_of_punctuation_go_to_its_head():
    tree = Tree(("a", "(", "b", ")", "c"), ("X",) * 5, (5, 5, 2, 3, 0), ("dep", "punct", "dep", "punct:x", "root"))
    assert tree.without_punctuation() == Tree(("a", "b", "c"), ("X",) * 3, (3, 3, 0), ("dep", "dep", "root"))
    dots = Tree(("...", "!"), ("PUNCT",) * 2, (0, 1), ("root", "punct"))
    assert dots.without_punctuation().forms == ("...",)


@given(tree=trees())
def test_without_punctuation_is_a_tree_of_the_rest(tree):
    rest = tree.without_punctuation()  # a Tree checks itself
    assert not any(rest.is_punctuation(word) for word, head in enumerate(rest.heads, start=1) if head)
    assert [f for f, d in zip(tree.forms, tree.deprels, strict=True) if d != "punct"] == list(rest.forms)
    assert rest.without_punctuation() is rest


BAD_ROWS = {
    row(1, 0) + row(2, "x"): r"line 2: HEAD 'x' is not an integer; 0 marks the root",
    row(1, 0) + row(2, "_"): r"line 2: HEAD '_' is not an integer",
    row(1, 0) + row(2, "1.5"): r"line 2: HEAD '1.5' is not an integer",
    row(1, 0) + "2\tw\t_\tX\n": r"line 2: 4 column\(s\) separated by tabs",
    row(1, 0) + "2 w _ X _ _ 1 dep _ _\n": r"line 2: 1 column\(s\) separated by tabs",
    row(1, 0) + row(2, 1)[:-1] + "\t_\n": r"line 2: 11 column\(s\) separated by tabs; CoNLL-U has 10",
    row(1, 0) + row(1, 0): r"line 2: ID '1' where 2 is next; IDs are 1, 2, 3, … \(is a blank line missing\?\)",
    row(1, 0) + row("2-3", "_") + row(3, 1): r"line 3: ID '3' where 2 is next; .* \(is a row missing\?\)",
    row(0, 0): r"line 1: ID '0' where 1 is next",
    row("_", 0): r"line 1: '_' is not a valid ID",
    "\n# c\n" + row("one", 0): r"line 3: 'one' is not a valid ID",
    row(1, 0) + row(2, "9" * 5000): r"line 2: HEAD '9{20}' is not an integer",
    row("9" * 5000, 0): r"line 1: .*digits",
    row("2-1", 0): r"line 1: '2-1' is not a valid ID",
}


@pytest.mark.parametrize(("text", "message"), BAD_ROWS.items())
@pytest.mark.parametrize("strict", [True, False])
def test_rows_that_cannot_be_read_name_file_and_line(tmp_path, text, message, strict):
    path = write(tmp_path, text)
    refused(DataError, f"es.conllu, {message}", list, read_conllu(path, strict=strict))


GOOD = row(1, 0, "root") + row(2, 1) + "\n"
BAD_TREES = {
    row(1, 0) + row(2, 0): r"2 roots \(words 1, 2\)",
    row(1, 2) + row(2, 1): r"0 roots",
    row(1, 0) + row(2, 3) + row(3, 2): r"word [23] is its own ancestor",
    row(1, 0) + row(2, 2): r"word 2 is its own ancestor",
    row(1, 0) + row(2, 9): r"the head of word 2 does not exist",
    row(1, 0) + row(2, -1): r"the head of word 2 does not exist",
}


@pytest.mark.parametrize(("text", "message"), BAD_TREES.items())
def test_sentences_that_are_no_trees_are_counted_or_stop(tmp_path, text, message):
    path = write(tmp_path, GOOD + "# newdoc\n" + text + "\n" + GOOD * 2)
    with pytest.warns(LangdiffWarning, match=rf"es.conllu: 1 of 4 sentences left out: line 5: .*{message}"):
        assert [tree.opens for tree in read_conllu(path)] == [False, True, False]
    refused(DataError, f"es.conllu, line 5: .*{message}", list, read_conllu(path, strict=True))
    with pytest.warns(LangdiffWarning):
        left_out = ld.read_treebank(path).left_out
    assert left_out.drop(columns="why").to_numpy().tolist() == [["es", "sentence", f"{path}, line 5"]]


def test_what_is_there_twice_is_named(tmp_path):
    """Names within a file, sentences of ten words or more in all files; what is trusted is not named."""
    long = "".join(row(place, place - 1) for place in range(1, 11)) + "\n"
    files = [
        write(tmp_path, f"# sent_id = a\n{GOOD}#sent_id=b \n{long}" + GOOD * 50, f"{name}.conllu") for name in "xyz"
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(ld.read_treebank(files).left_out) == 0  # two are few
        assert len(ld.read_treebank(files + files[:1], trust=["sent_id_twice", "sentence_twice"]).left_out) == 0
    with pytest.warns(LangdiffWarning) as said:
        treebank = ld.read_treebank([*files, files[0]], name="all")
    assert [str(one.message).partition(",")[0] for one in said] == [
        "sent_id_twice: all: 2 of 8 sentences have a sent_id that another has",
        "sentence_twice: all: 3 of 4 sentences of ten words or more are given again",
    ]
    assert treebank.left_out[["edition", "level", "what"]].to_numpy().tolist() == [
        ["all", "doubted", "2 sentences (a, b)"],
        ["all", "doubted", "3 sentences (w w w w w w w w w w)"],
    ]


def test_empty_small_and_unreadable_corpora(tmp_path):
    empty = write(tmp_path, "# nothing\n\n", "empty.conllu")
    refused(DataError, "Treebank 'empty' has no usable sentence", ld.read_treebank, empty)
    refused(ConfigError, "no file is given", ld.read_treebank, [])
    refused(DataError, r"nowhere\.conllu: cannot be read: No such file", ld.read_treebank, tmp_path / "nowhere.conllu")
    with pytest.warns(LangdiffWarning, match="has 49 sentences; statistics of fewer than 50 say little"):
        ld.read_treebank(write(tmp_path, GOOD * 49))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ld.read_treebank(write(tmp_path, GOOD * 50)).sentences == 50
