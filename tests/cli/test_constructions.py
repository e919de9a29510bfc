import json

import pandas as pd
import pytest

from langdiff import read_outcomes
from tests.constructions import trees, worked


@pytest.fixture
def files(tmp_path):
    sentences = "".join(f"{item}\t{' '.join(words)}\n" for item, words in worked.WORDS.items())
    for name, text in {
        "gold.tsv": worked.GOLD,
        "sentences.tsv": sentences,
        "cc.rules": worked.RULES,
        "cc.gr": worked.GR,
        "st.rules": worked.STANFORD_RULES,
        "st.stanford": worked.STANFORD,
        "bank.conllu": trees.ALL,
    }.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.fixture
def evaluate(langdiff, files):
    def run(*arguments):
        gold = ["constructions", "evaluate", files / "gold.tsv", "--sentences", files / "sentences.tsv"]
        return langdiff(*gold, *arguments)

    return run


def test_evaluate(evaluate, files):
    done = evaluate("--parser", f"cc={files}/cc.gr", "--rules", files / "cc.rules", "--json")
    assert done.code == 0, done.err
    frame = pd.DataFrame(json.loads(done.out))
    assert frame[["phenomenon", "type", "correct", "targets"]].to_numpy().tolist() == [
        ["absol", "ARG", 1, 1],
        ["absol", "MOD", 0, 2],
        ["itexpl", "!ARG", 1, 2],
        ["vpart", "!ARG2", 1, 2],
        ["vpart", "ARG2", 1, 2],
    ]
    told = evaluate("--parser", files / "cc.gr", "--rules", files / "cc.rules")  # a name is that of the file
    assert " cc " in told.out
    assert "1.00 [–]" in told.out
    assert "–: no interval, as all targets are in one sentence." in told.out
    assert "nan" not in told.out
    assert "weigh the same" in told.out


def test_two_parsers_with_rules_of_their_own(evaluate, files):
    own = ["--parser", f"cc={files}/cc.gr", "--rules", f"cc={files}/cc.rules"]
    other = ["--parser", f"st={files}/st.stanford", "--rules", f"st={files}/st.rules"]
    written = ["--out", files / "outcomes.tsv", "--plot", files / "recall.svg"]
    done = evaluate(*own, *other, *written, "--by", "parser", "--json")
    assert done.code == 0, done.err
    assert [(row["parser"], row["correct"]) for row in json.loads(done.out)] == [("cc", 4), ("st", 4)]
    outcomes = read_outcomes(files / "outcomes.tsv")
    assert outcomes.successes.sum().to_dict() == {"cc": 4, "st": 4}
    assert (files / "recall.svg").read_text().lstrip().startswith("<?xml")
    for by in ("phenomenon", "distance", "target"):
        assert evaluate(*own, "--by", by).code == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "give the output of a parser"),
        (["--parser", "cc.gr"], "cc.gr: no such file"),
        (["--parser", "cc={}/cc.gr", "--parser", "{}/cc.gr"], "cc.gr: a second parser 'cc'. Give each file a name"),
        (["--parser", "{}/cc.gr", "--parser", "cc={}/cc.gr"], "cc.gr: a second parser 'cc'. Give each file a name"),
        (["--parser", "cc={}/cc.rules"], "cc.rules: the ending says the shape"),
        (["--parser", "cc="], "'cc=': no file is named; write NAME=FILE"),
        (["--parser", "cc={}/cc.gr", "--rules", "cc="], "'cc=': no file is named; write NAME=FILE"),
        (["--parser", "cc=missing.gr"], "langdiff: missing.gr: no such file or directory.\n"),
        (["--parser", "cc={}/cc.gr", "--tokens", "cc=none.txt"], "langdiff: none.txt: no such file or directory.\n"),
        (["--parser", "cc={}/cc.gr", "--rules", "cc=none.rules"], "--rules cc=none.rules: no such file; rules of"),
        (["--parser", "cc={}/cc.gr", "--rules", "a" * 5000], "File name too long"),
        (["--parser", "cc={}/cc.gr", "--rules", "x={}/cc.rules"], "'x' is not a parser; parsers are cc"),
        (["--parser", "cc={}/cc.gr", "--rules", "ud", "--rules", "clearnlp"], "second rules for all parsers; give one"),
        (["--parser", "cc={}/cc.gr", *["--tokens", "cc={}/cc.gr"] * 2], "a second file for 'cc'; give one"),
        (["--parser", "cc={}/cc.gr", "--enhanced", "x"], "'x' is not a parser"),
        (["--parser", "cc={}/cc.gr", "--rules", "{}/st.stanford"], "st.stanford: 16 faults, the first in line 2: "),
        (["--parser", "cc={}/cc.gr", "--plot", "x.doc"], "unknown kind of picture"),
        (["--parser", "cc={}/cc.gr", "--rules", "spacy"], "--rules spacy: no such file; rules of the package are ud"),
    ],
)
def test_what_cannot_be_evaluated(evaluate, files, options, message):
    done = evaluate(*(option.format(files) for option in options))
    assert (done.code, done.out) == (1, "")
    assert message in done.err


def test_gold_sets_of_the_package(langdiff, files):
    assert "targets" in langdiff("constructions", "check", "constructed", "--json").out
    done = langdiff("constructions", "check", "mined")
    assert done.code == 1
    assert "targets of mined need the CoNLL-U files of the treebanks" in done.err
    done = langdiff("constructions", "check", "mined", "--sentences", files / "bank.conllu")
    assert "none of the mined sentences is in these files" in done.err
    done = langdiff("constructions", "check", files / "gold.tsv")
    assert "need the file of sentences" in done.err
    for command, parser in (("check", []), ("evaluate", ["--parser", f"cc={files}/cc.gr"])):
        done = langdiff("constructions", command, "constructed", "--sentences", files / "bank.conllu", *parser)
        assert (done.code, done.out) == (1, "")
        assert "the constructed set has its own sentences" in done.err


def test_mine_then_vet(langdiff, files):
    out = files / "candidates.tsv"
    done = langdiff("constructions", "mine", files / "bank.conllu", "--out", out, "--seed", 3, "--json").good
    assert {row["phenomenon"]: row["sentences"] for row in json.loads(done.out)}["control"] == 2
    out.write_text(out.read_text().replace("\n\t", "\nyes\t"))
    done = langdiff("constructions", "check", out, "--vetted", "--out", files / "own", "--json")
    assert sum(row["accepted"] for row in json.loads(done.out)) == 12
    gold = [files / "own" / "targets.tsv", "--sentences", files / "own" / "sentences.tsv"]
    done = langdiff(
        "constructions", "evaluate", *gold, "--parser", f"tree={files}/bank.conllu", "--parser",
        f"graph={files}/bank.conllu", "--enhanced", "graph", "--by", "phenomenon", "--json",
    )  # fmt: skip
    pooled = {(row["phenomenon"], row["parser"]): row["pooled"] for row in json.loads(done.out)}
    assert (pooled["rnr", "graph"], pooled["control", "graph"]) == (0.5, 1.0)
    assert pooled["control", "tree"] == 1.0  # of the one type that a tree expresses


def test_check(langdiff, files):
    gold = [files / "gold.tsv", "--sentences", files / "sentences.tsv"]
    done = langdiff("constructions", "check", *gold).good
    assert "5 items, 9 targets (4 negative)" in done.out
    (files / "bad.tsv").write_text(worked.GOLD.replace("plan-4", "plan-9"))
    done = langdiff("constructions", "check", files / "bad.tsv", *gold[1:])
    assert (done.code, done.out) == (1, "")
    assert "2 faults in 1 file(s):" in done.err
    assert "bad.tsv, line 5: position 9 is outside the sentence" in done.err
    assert "--out is for --vetted: give" in langdiff("constructions", "check", *gold, "--out", files).said


def test_attachment(langdiff, files):
    bank, parser = files / "bank.conllu", ["--parser", f"one={files}/bank.conllu"]
    done = langdiff("constructions", "attachment", bank, *parser, "--json", "--out", files / "scores.json").good
    assert {row["metric"]: row["f1"] for row in json.loads(done.out)} == dict.fromkeys(
        ["uas", "las", "clas", "mlas"], 1
    )
    assert (files / "scores.json").is_file()
    two = [*parser, "--parser", f"two={files}/bank.conllu"]
    pair = json.loads(langdiff("constructions", "attachment", bank, *two, "--by", "pair", "--json").out)
    assert (pair[0]["estimate"], pair[0]["verdict"]) == (0, "identical")
    for by in ("relation", "length", "construction", "sentence"):
        done = langdiff("constructions", "attachment", bank, *two, "--by", by, "--out", files / "table.csv").good
    assert "give the output of a parser" in langdiff("constructions", "attachment", bank).err


@pytest.mark.filterwarnings("ignore:no ability is estimated", "default:1 of 4 outputs cannot be used")
def test_study(langdiff, files):
    folder = files / "outputs"
    folder.mkdir()
    bank = "".join(trees.ALL.replace("# sent_id = ", f"# sent_id = {copy}-") for copy in range(4))
    for path, text in {
        "gold": bank,
        "outputs/right": bank,
        "outputs/wrong": bank.replace("\tobj\t", "\tobl\t"),
        "outputs/other": bank.replace("\txcomp\t", "\tdep\t"),
    }.items():
        (files / f"{path}.conllu").write_text(text)
    asked = ["constructions", "study", folder, "--gold", files / "gold.conllu"]
    refused = langdiff(*asked)
    assert refused.code == 1
    assert "gold.conllu: none of the mined sentences is in these files" in refused.err
    assert "Of other treebanks use --targets candidates or none." in refused.err
    done = langdiff(*asked, "--targets", "candidates", "--out", files / "study.csv").good
    assert "Study of 3 parsers" in done.out
    table = pd.read_csv(files / "study.csv").set_index("parser")
    assert table.loc["right", ["las", "recall", "recall_vpart"]].tolist() == [1, 1, 1]
    assert table.loc["wrong", "recall_vpart"] == 0.5
    assert table["ability"].notna().to_dict() == {"right": False, "wrong": True, "other": True}
    bare = langdiff(*asked, "--targets", "none", "--json")
    assert [row["parser"] for row in json.loads(bare.out)] == table.index.tolist()
    assert "recall" not in json.loads(bare.out)[0]
    (folder / "nine.conllu").write_text(bank.replace("\t_\n", "\n", 1))
    refused = langdiff(*asked, "--targets", "none")
    assert refused.code == 1
    assert "1 of 4 outputs cannot be used:" in refused.err
    assert "leave them out: --on-error skip." in refused.err
    skipped = langdiff(*asked, "--targets", "none", "--json", "--on-error", "skip")
    assert json.loads(skipped.out) == json.loads(bare.out)
    assert "nine.conllu, line 2: 9 columns" in skipped.err
    refused = langdiff(*asked, "--targets", "none", "--queries", files / "gold.tsv")
    assert "--queries is for --targets candidates: give that, too" in refused.said
