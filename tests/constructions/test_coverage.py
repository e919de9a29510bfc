"""Sentences that a parser did not parse, and treebanks of which its output was not given."""

import re

import pytest

from langdiff.constructions import Parses, evaluate, mine_candidates, read_gold, read_vetted
from langdiff.constructions.target import Target
from langdiff.errors import ConfigError, DataError, LangdiffWarning

from . import trees

# two sentences of each treebank; each has the target that its first word is the subject of its second
BANKS = {"a1": "news", "a2": "news", "b1": "tales", "b2": "tales", "c1": "mail", "c2": "mail"}


@pytest.fixture
def gold(write):
    sentences, last = [], ""
    for item, bank in BANKS.items():
        sentences += [f"# treebank = {bank}"] * (bank != last) + [f"{item}\tThey sleep"]
        last = bank
    targets = "".join(f"{item}\tcontrol\t1\t1\tARG2/ARG3\t0\n" for item in BANKS)
    return read_gold(write("own.tsv", targets), write("sentences.tsv", "\n".join(sentences)))


def parser(name, items):
    return Parses(name=name, shape="triples", blocks=dict.fromkeys(items, ("1 xcomp 0",)))


def test_some_sentences_without_treebank(write):
    gold = read_gold(
        write("own.tsv", "x\tcontrol\t1\t1\tMOD\t0\ny\tcontrol\t1\t1\tMOD\t0\n"),
        write("s.tsv", "# treebank = news\nx\tThey sleep\n# treebank =\ny\tThey sleep\n"),
    )
    assert [gold.treebank_of(item) for item in "xy"] == ["news", "own"]


def test_treebanks_come_from_the_files_that_were_mined(write, tmp_path):
    path = tmp_path / "candidates.tsv"
    files = [write("en_one.conllu", trees.VPART), write("en_two.conllu", trees.CONTROL)]
    mine_candidates(files).sample(5, seed=0).save(path)
    path.write_text(path.read_text().replace("\n\t", "\nyes\t"))
    gold = read_vetted(path).gold
    assert gold.treebanks == {"vpart": "en_one", "control": "en_two"}
    gold.save(tmp_path / "t.tsv", tmp_path / "s.tsv")
    assert read_gold(tmp_path / "t.tsv", tmp_path / "s.tsv").treebanks == gold.treebanks


def test_a_treebank_that_was_not_given_is_an_error(gold):
    with pytest.raises(DataError) as raised:
        evaluate(gold, [parser("all", BANKS), parser("part", ["a1", "a2"])])
    assert str(raised.value) == (
        "parser 'part' has no parse of any sentence of 2 of 3 treebanks: tales (2 sentences), mail (2 sentences). "
        "Give its output for them, too, leave these treebanks out for all parsers (missing='skip'), or count their "
        "targets as wrong (missing='wrong')."
    )


def test_a_treebank_is_left_out_for_all_parsers(gold):
    systems = [parser("all", BANKS), parser("part", ["a1", "a2", "b1"])]
    with pytest.warns(LangdiffWarning) as said:
        scores = evaluate(gold, systems, missing="skip")
    assert [str(warning.message) for warning in said] == [
        "parser 'part' has no parse of any sentence of 1 of 3 treebanks: mail (2 sentences). These treebanks are left "
        "out for all parsers: the scores are of 4 of 6 sentences.",
        "parser 'part' has no parse of 1 of 4 sentences, whose targets count as wrong. tales: 1 of 2 ('b2'). "
        "That is more than a tenth: recall says little about this parser. Is its output complete, and of the same "
        "text?",
    ]
    assert {warning.filename for warning in said} == {__file__}
    assert scores.left_out == ("mail",)
    assert scores.to_frame().set_index("parser")[["correct", "targets", "no_parse"]].T.to_dict("list") == {
        "all": [4, 4, 0],
        "part": [3, 4, 1],
    }
    assert scores.by_parser()["no_parse"].tolist() == [0, 1]
    assert "Left out, because a parser has not parsed a single sentence: mail." in scores.summary()
    assert "Not parsed by part, and therefore wrong: 1 of 2 of tales (sentences)." in scores.summary()
    # the same as if the gold set had never had the treebank
    rest = gold.sel(items=["a1", "a2", "b1", "b2"])
    with pytest.warns(LangdiffWarning, match=r"blocks are not for items|has no parse of 1 of 4"):
        assert evaluate(rest, systems).signature == scores.signature


def test_all_targets_may_be_wrong(gold):
    with pytest.warns(LangdiffWarning, match=r"no parse of 4 of 6 .*\. tales: 2 of 2 \('b1', 'b2'\); mail: 2 of 2"):
        scores = evaluate(gold, parser("part", ["a1", "a2"]), missing="wrong")
    assert scores.to_frame()[["correct", "targets", "no_parse"]].to_numpy().tolist() == [[2, 6, 4]]
    assert scores.coverage.to_numpy().tolist() == [
        ["part", "news", 2, 0, 0, 0],
        ["part", "tales", 2, 2, 0, 0],
        ["part", "mail", 2, 2, 0, 0],
    ]


def test_parsers_that_share_no_treebank(gold):
    systems = [parser("one", ["a1", "b1"]), parser("other", ["c1"])]
    with pytest.raises(DataError, match=r"tales \(2 sentences\). Give its output for them, too, count") as raised:
        evaluate(gold, systems, missing="skip")
    assert "missing='skip'" not in str(raised.value)
    with pytest.raises(DataError, match="parser 'none' has no block for any item of 'own'"):
        evaluate(gold, Parses(name="none", shape="triples", blocks={}), missing="wrong")
    with pytest.raises(ConfigError, match="missing is one of raise, skip, wrong; got 'ignore'"):
        evaluate(gold, systems, missing="ignore")


def test_an_analysis_without_dependencies_is_a_parse(gold):
    blocks = dict.fromkeys(BANKS, ("1 xcomp 0",)) | {"c1": (), "c2": ()}
    scores = evaluate(gold, Parses(name="p", shape="triples", blocks=blocks))
    assert scores.coverage["empty"].tolist() == [0, 0, 2]
    assert re.search("Not parsed|Left out", scores.summary()) is None


def test_gold_sets_of_unknown_treebanks(gold):
    target = Target("x", "control", True, ((1,),), "ARG2/ARG3", ((0,),))
    own = type(gold)(
        name="own", origin="", sentences={"x": ("They", "sleep"), "y": ("They", "sleep")}, targets=(target,)
    )
    with pytest.warns(LangdiffWarning, match=r"no parse of 1 of 2 sentences, .*wrong\. own: 1 of 2 \('y'\)"):
        assert evaluate(own, parser("p", ["x"])).coverage["treebank"].tolist() == ["own"]
