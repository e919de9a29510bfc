"""The worked example of the specification, cell by cell."""

import pytest

from langdiff.constructions import evaluate, read_gold, read_parses, read_rules

from . import worked


def correct(scores):
    return scores.judgements["correct"].tolist()


def test_every_cell(gold, parses, rules):
    scores = evaluate(gold, parses, rules)
    assert correct(scores) == worked.CORRECT
    cells = scores.to_frame().set_index(["phenomenon", "type"])[["correct", "targets"]]
    assert {key: tuple(row) for key, row in zip(cells.index, cells.to_numpy().tolist(), strict=True)} == {
        ("absol", "ARG"): (1, 1),
        ("absol", "MOD"): (0, 2),
        ("vpart", "ARG2"): (1, 2),
        ("vpart", "!ARG2"): (1, 2),
        ("itexpl", "!ARG"): (1, 2),
    }


def test_means_of_types_and_pooled(gold, parses, rules):
    table = evaluate(gold, parses, rules).by_phenomenon().set_index("phenomenon")
    assert table.loc["absol", "mean"] == 0.5
    assert table.loc["absol", "pooled"] == pytest.approx(1 / 3)
    parser = evaluate(gold, parses, rules).by_parser().iloc[0]
    assert (parser["macro"], parser["micro"]) == (0.5, pytest.approx(4 / 9))


def test_surface_distances(gold):
    distances = [target.distance for target in gold.targets]
    # the second MOD: from carried-12 to having-2, been-3 and passed-4
    assert distances == [2.0, 6.0, 9.0, 3.0, 2.0, 3.0, 2.0, None, None]


@pytest.mark.filterwarnings("ignore:.*name words that these do not have")
def test_a_position_is_never_the_beginning_of_another(write, gold, rules):
    longer = worked.GR.replace("Act_1 _)", "Act_12 _)").replace("dobj carried_1 ", "dobj carried_12 ")
    scores = evaluate(gold, read_parses(write("x.gr", longer), "gr"), rules)
    assert not scores.judgements["correct"][0]  # act-1
    assert not scores.judgements["correct"][3]  # carried-1


@pytest.mark.filterwarnings("ignore:.*name words that these do not have")
def test_out_12_is_neither_out_1_nor_out_2(write, gold):
    rules = read_rules(write("prt.rules", worked.RULES + "vpart !ARG2 \\(ncmod prt {D} {H}\\)\n"))
    text = "v1\tvpart\t0\tout-2\t!ARG2\tcarried-1\n"
    target = read_gold(write("one.tsv", text), worked.WORDS)
    for node, found in (("out_2", True), ("out_12", False), ("out_1", False), ("out_22", False)):
        parses = read_parses(write("one.gr", f"# v1\n(ncmod prt carried_1 {node})\n"), "gr")
        assert correct(evaluate(target, parses, rules)) == [not found], node


def test_positions_from_1_and_from_0_give_the_same(write, gold, parses, rules):
    other = read_parses(write("st.stanford", worked.STANFORD), "stanford")
    scores = evaluate(gold, [parses, other], {"cc": rules, "st": read_rules(write("st.rules", worked.STANFORD_RULES))})
    wide = scores.judgements.pivot(index="target", columns="parser", values="correct")
    assert wide["cc"].tolist() == wide["st"].tolist() == worked.CORRECT


def test_triples(write, gold):
    triples = "# v1\n1 ARG1 0\n1 ARG2 4\n# v2\n2 ARG2 4\n# i1\n1 ARG1 0\n# i2\n1 EXPL 0\n# a1\n4 ARG1 1\n"
    text = "\n".join(
        f"{phenomenon} {kind} {{H}} {label} {{D}}"
        for phenomenon, kind, label in [
            ("absol", "ARG", "ARG1"),
            ("absol", "MOD", "MOD"),
            ("vpart", "ARG2", "ARG2"),
            ("vpart", "!ARG2", "ARG2"),
            ("itexpl", "!ARG", "ARG1"),
        ]
    )
    scores = evaluate(gold, read_parses(write("x.triples", triples), "triples"), read_rules(write("x.rules", text)))
    assert correct(scores) == worked.CORRECT


def test_retokenized_output_is_aligned_by_characters(write, gold, parses, rules):
    """The commas stand alone, "carried on" is one word, and all later positions are others."""
    tokens = {item: " ".join(words) for item, words in worked.WORDS.items()}
    tokens["a1"] = tokens["a1"].replace(",", " ,").replace("carried on", "carriedon")
    words = write("tokens.tsv", "".join(f"{item}\t{text}\n" for item, text in tokens.items()))
    moved = worked.GR.replace("year,_7", "year_7").replace("Jessop_8", "Jessop_9").replace("withdrew,_9", "withdrew_10")
    own = read_parses(write("own.gr", moved), "gr", tokens=words)
    assert correct(evaluate(gold, own, rules)) == worked.CORRECT
    joined = moved.replace("(dobj year_7 withdrew_10)", "(xmod _ carriedon_14 passed_4)")  # the third target
    own = read_parses(write("own.gr", joined), "gr", tokens=words)
    assert correct(evaluate(gold, own, rules)) == [True, False, True, *worked.CORRECT[3:]]
