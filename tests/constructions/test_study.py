"""A study from a folder of outputs: each column against the call that computes it, and what is refused."""

import math

import pandas as pd
import pytest

import langdiff as ld
from langdiff.constructions import evaluate, evaluate_attachment, mine_candidates, read_parses, study_outputs
from langdiff.errors import DataError

from . import trees

# statistics of fewer than 50 sentences are warned of
BANK = "".join(trees.ALL.replace("# sent_id = ", f"# sent_id = {copy}-") for copy in range(4))


@pytest.fixture
def outputs(tmp_path):
    """Outputs of three parsers: one without faults, and two with different faults."""
    folder = tmp_path / "outputs"
    folder.mkdir()
    faults = {"v1.2": [("obj", "obl")], "worst": [("xcomp", "dep"), ("4\tnsubj", "1\tdep"), ("root", "dep")]}
    texts = {"right": BANK}
    for name, pairs in faults.items():
        texts[name] = BANK
        for one, other in pairs:
            texts[name] = texts[name].replace(f"\t{one}\t", f"\t{other}\t")
    for name, text in texts.items():
        (folder / f"{name}.conllu").write_text(text)
    (folder / "notes.txt").write_text("not an output")
    return folder


def test_each_column_is_that_of_the_call_that_computes_it(write, outputs):
    gold = write("gold.conllu", BANK)
    targets = mine_candidates(gold).gold()
    files = {name: outputs / f"{name}.conllu" for name in ("right", "v1.2", "worst")}
    scores = evaluate(
        targets, [read_parses(file, "conllu", name=name, items=targets.sentences) for name, file in files.items()]
    )
    with pytest.warns(ld.errors.LangdiffWarning, match="all targets right or none: 'right'"):
        found = study_outputs(gold, outputs, targets=targets, fit=ld.fit_outcomes)
    assert found["parser"].tolist() == ["right", "v1.2", "worst"]
    table = found.set_index("parser")
    las = evaluate_attachment(gold, files).to_frame().query("metric == 'las'").set_index("parser")["f1"]
    assert table["las"].to_dict() == las.to_dict()
    assert table["las"].is_monotonic_decreasing
    assert table.loc["right", ["matched", "las", "parsed", "recall"]].tolist() == [1, 1, 1, 1]
    pd.testing.assert_series_equal(table["recall_error"], scores.effects().std_error, check_names=False)
    errors = evaluate_attachment(gold, files).effects().std_error
    pd.testing.assert_series_equal(table["las_error"], errors, check_names=False)
    assert table["targets"].unique().tolist() == [len(scores.outcomes().items)]  # without those trees cannot express
    assert table["recall"].to_dict() == scores.outcomes().successes.mean().to_dict()
    judged = scores.judgements.query("phenomenon == 'vpart' and parser == 'v1.2'")
    assert table.loc["v1.2", "recall_vpart"] == judged["correct"].mean() == 0.5  # its particle has no object
    others = scores.outcomes().sel(systems=["v1.2", "worst"])
    fitted = ld.fit_outcomes(others, clusters="sentence").abilities.to_frame()
    pd.testing.assert_series_equal(table["ability"].drop("right"), fitted["ability"], check_names=False)
    assert math.isnan(table.loc["right", "ability"])


def test_pairs_are_tested_on_all_targets_and_on_constructions_that_have_enough(write, outputs):
    gold = write("gold.conllu", 4 * BANK)
    gold.write_text("".join(BANK.replace("# sent_id = ", f"# sent_id = {copy}-") for copy in range(4)))
    for file in outputs.glob("*.conllu"):
        text = file.read_text()
        file.write_text("".join(text.replace("# sent_id = ", f"# sent_id = {copy}-") for copy in range(4)))
    targets = mine_candidates(gold).gold()
    table = study_outputs(gold, outputs, targets=targets, pairs=True)
    files = [read_parses(file, "conllu", items=targets.sentences) for file in sorted(outputs.glob("*.conllu"))]
    scores = evaluate(targets, files)
    judged = scores.judgements[scores.judgements["outcome"] != "not expressible"]
    sizes = judged.groupby("phenomenon")[["target", "item"]].nunique().min(axis=1)
    assert set(table["construction"]) == {"all", *sizes.index[sizes >= 30]} < {"all", *sizes.index}
    for code, own in table.groupby("construction"):
        part = judged if code == "all" else judged[judged["phenomenon"] == code]
        recall = part.groupby("parser")["correct"].mean()
        assert own["estimate"].tolist() == pytest.approx(
            [recall[one] - recall[other] for one, other in own[["one", "other"]].to_numpy()]
        )
        assert set(own["targets"]) == {part["target"].nunique()}


def test_no_ability_is_estimated_of_few_targets(write, outputs):
    gold = write("gold.conllu", BANK)
    targets = mine_candidates(gold, phenomena=["vpart"]).gold()
    with pytest.warns(ld.errors.LangdiffWarning, match="fewer than 30 targets, or as few sentences"):
        table = study_outputs(gold, outputs, targets=targets, fit=ld.fit_outcomes)
    assert table["ability"].isna().all()


def test_a_construction_that_trees_cannot_express_has_no_recall(write, outputs):
    gold = write("gold.conllu", BANK)
    text = """[rnr]
pattern = ["V -[obj]-> O", "V -[conj]-> W", "V < W", "W < O"]
targets = ["W ARG2:second O"]
[vpart]
pattern = ["V -[compound:prt]-> P", "V -[obj]-> O"]
targets = ["V+P ARG2 O"]
"""
    targets = mine_candidates(gold, queries=write("own.toml", text)).gold()
    table = study_outputs(gold, {"right": outputs / "right.conllu"}, targets=targets).set_index("parser")
    assert math.isnan(table.loc["right", "recall_rnr"])
    assert table.loc["right", ["recall", "recall_vpart"]].tolist() == [1, 1]
    assert "ability" not in table


def test_without_targets_there_is_no_recall(write, outputs):
    table = study_outputs(write("gold.conllu", BANK), {"one": outputs / "worst.conllu"})
    assert table.columns.tolist() == ["parser", "matched", "las", "las_error"]


def test_sentences_that_an_output_lacks(write, outputs):
    gold = write("gold.conllu", BANK)
    (outputs / "part.conllu").write_text(BANK.replace("persuaded\tpersuade", "urged\turge", 1))
    with pytest.warns(ld.errors.LangdiffWarning, match="characters differ"):
        table = study_outputs(gold, outputs).set_index("parser")
    assert table.loc["part", "matched"] == 63 / 64
    assert table.loc["right", "matched"] == 1


@pytest.mark.filterwarnings("ignore:no ability is estimated")
def test_outputs_that_cannot_be_used(write, outputs):
    gold = write("gold.conllu", BANK)
    targets = mine_candidates(gold).gold()
    expected = study_outputs(gold, outputs, targets=targets, fit=ld.fit_outcomes)
    lines = BANK.splitlines(keepends=True)
    place = next(number for number, line in enumerate(lines) if line.startswith("2\t"))
    nine = [*lines[:place], lines[place].rpartition("\t")[0] + "\n", *lines[place + 1 :]]
    (outputs / "nine.conllu").write_text("".join(nine))
    (outputs / "other.conllu").write_text(trees.ALL)  # a quarter of the text
    (outputs / "words.conllu").write_text(BANK.replace("carried\tcarry", "bore\tcarry"))  # with the sent_id of a target
    said = rf"""3 of 6 outputs cannot be used{{}}:
  .*nine.conllu, line {place + 1}: 9 columns separated by tabs; CoNLL-U has 10.
  parser 'other': 16 of 64 sentences .*
  parser 'words', item .*: the parser's words are not those of the sentence; .*"""
    with pytest.raises(DataError, match=said.format("") + r"\nMend them, or leave them out: on_error='skip'\."):
        study_outputs(gold, outputs, targets=targets)
    with pytest.warns(ld.errors.LangdiffWarning, match=said.format(" and are left out")):
        found = study_outputs(gold, outputs, targets=targets, fit=ld.fit_outcomes, on_error="skip")
    pd.testing.assert_frame_equal(found, expected)
    with pytest.raises(DataError, match=rf"^\S+nine.conllu, line {place + 1}: 9 columns .* has 10\.$"):
        study_outputs(gold, {"nine": outputs / "nine.conllu"}, on_error="skip")
    with pytest.raises(DataError, match="2 of 2 outputs cannot be used:\n"):
        study_outputs(gold, {name: outputs / f"{name}.conllu" for name in ("nine", "other")}, on_error="skip")


def test_two_outputs_of_one_parser_are_refused_and_other_files_left(tmp_path):
    rows = "1 Dogs _ NOUN _ _ 2 nsubj _ _\n2 bark _ VERB _ _ 0 root _ _\n\n".replace(" ", "\t")
    gold, outputs = tmp_path / "gold.conllu", tmp_path / "outputs"
    gold.write_text(60 * rows)
    outputs.mkdir()
    (outputs / "mine.conllu").write_text(60 * rows)
    (outputs / "mine.conllu.bak").write_text("another")
    assert study_outputs(gold, outputs)["parser"].tolist() == ["mine"]
    (outputs / "mine.conllu.gz").write_bytes(b"")
    with pytest.raises(DataError, match=r"mine\.conllu\.gz: a second output of 'mine', beside mine\.conllu"):
        study_outputs(gold, outputs)
