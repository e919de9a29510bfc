import pytest
from hypothesis import given
from hypothesis import strategies as st

from langdiff.constructions import read_gold, read_vetted
from langdiff.constructions.target import read_nodes, write_nodes
from langdiff.errors import DataError, FaultsError, LangdiffWarning
from tests.helpers import refused

from . import trees, worked

GOOD = "v1\tvpart\t1\tcarried-1+out-2\tARG2\tplan-4\n"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("v1\tvpart\t1\tcarried-1\tARG2", "5 cells"),
        ("v1\tparticle\t1\tcarried-1\tARG2\tplan-4", "unknown phenomenon 'particle'"),
        ("v1\tvpart\t1\tcarried-1\tARG5\tplan-4", "unknown type 'ARG5'"),
        ("v1\tvpart\t1\tcarried-1\t!ARG2\tplan-4", "polarity '1' contradicts type '!ARG2'"),
        ("v1\tvpart\tyes\tcarried-1\tARG2\tplan-4", "polarity 'yes'"),
        ("v1\tvpart\t1\tcarried-5\tARG2\tplan-4", "position 5 is outside the sentence, whose words are 0 to 4"),
        ("v1\tvpart\t1\tcarried\tARG2\tplan-4", "not made of word-position"),
        ("v1\tvpart\t1\tcarried-1\tARG2\t*", "only the head may be"),
        ("v1\tvpart\t1\t\tARG2\tplan-4", "the cell is empty"),
        ("v9\tvpart\t1\tcarried-1\tARG2\tplan-4", "item 'v9' has no sentence"),
        (GOOD.strip(), "the same target as in line 1"),
    ],
)
def test_a_fault_has_its_line(write, line, message):
    path = write("gold.tsv", f"{GOOD}# a comment\n\n{line}\n")
    with pytest.raises(FaultsError, match=r"gold.tsv, line 4: ") as raised:
        read_gold(path, worked.WORDS)
    assert message in str(raised.value)


def test_the_same_target_with_alternatives_in_another_order(write):
    lines = "a1\tabsol\t1\thaving-2|been-3\tARG\tact-1\na1\tabsol\t1\tbeen-3|having-2\tARG\tact-1\n"
    refused(FaultsError, "line 2: the same target as in line 1", read_gold, write("gold.tsv", lines), worked.WORDS)


def test_other_words_are_a_warning_only(write):
    path = write("gold.tsv", "a1\tabsol\t1\tyear-7\tMOD\tACT-1\nv1\tvpart\t1\tcaried-1\tARG2\tplan-4\n")
    with pytest.warns(LangdiffWarning, match="1 words are not those .* line 2: 'caried' for 'carried'"):
        read_gold(path, worked.WORDS)


@pytest.mark.parametrize(
    ("sentences", "message"),
    [
        ("v1\tHe carried out the plan\nv1\tHe\n", "sentences.tsv, line 2: item 'v1' comes twice"),
        ("v1 He carried out\n", "sentences.tsv, line 1: not an item, a tab"),
        ("v1\tHe carried out the plan\nv2\tShe looked\n", "sentences.tsv: item 'v2' has no target"),
    ],
)
def test_files_of_sentences_are_checked(write, sentences, message):
    refused(FaultsError, message, read_gold, write("gold.tsv", GOOD), write("sentences.tsv", sentences))


def test_positions_alone_are_enough(write):
    with_words = read_gold(write("gold.tsv", GOOD), worked.WORDS)
    without = read_gold(write("bare.tsv", "v1\tvpart\t1\t1+2\tARG2\t4\n"), worked.WORDS)
    assert with_words.digest == without.digest
    assert with_words.to_frame()["head"].item() == "carried-1+out-2"


def test_distances_by_type(gold):
    table = gold.distances().set_index(["phenomenon", "type"])
    assert table.loc[("absol", "MOD"), ["targets", "average", "maximum"]].tolist() == [2, 7.5, 9.0]
    assert table.loc[("itexpl", "!ARG"), ["average"]].isna().all()
    assert "absol" in gold.summary()


places = st.lists(st.lists(st.integers(0, 30), min_size=1, max_size=3).map(tuple), min_size=1, max_size=4).map(tuple)


words = st.sampled_from(["a", "C++", "x-3", "year,", "|", "a|b", "1"])


@given(nodes=places, words=st.lists(words, min_size=31, max_size=31))
def test_cells_are_read_as_they_are_written(nodes, words):
    assert read_nodes(write_nodes(nodes)) == (nodes, [])
    named = [(place, words[place]) for node in nodes for place in node]
    assert read_nodes(write_nodes(nodes, words)) == (nodes, named)


def test_positions_and_words_may_be_mixed():
    assert read_nodes("1|been-3") == (((1,), (3,)), [(3, "been")])


@pytest.mark.parametrize("name", ["gold.conllu", "gold.conllu.gz"])
def test_a_treebank_is_not_a_file_of_targets(write, name):
    bank = write(name, trees.VPART)
    targets = write("t.tsv", "v1\tvpart\t1\t1\tARG2\t4\n")
    said = r"gold\.conllu.* is a treebank, .*mined_gold\('.*'\) has the mined set, mine_candidates finds"
    for read in (lambda: read_gold(bank, {}), lambda: read_gold(targets, bank), lambda: read_vetted(bank)):
        refused(DataError, said, read)
