import json
import warnings

import pandas as pd
import pytest

import langdiff as ld
from langdiff.discourse import evaluate_discourse, read_discourse

pytestmark = pytest.mark.filterwarnings("ignore:Few units")

GOLD = "1 1 S attribution\n2 4 N span\n2 2 N List\n3 3 N List\n4 4 N List\n5 5 S evidence\n"
PREDICTED = (
    "1 1 S attribution\n2 5 N span\n2 3 N span\n2 2 N List\n3 3 N List\n4 5 S evidence\n4 4 N span\n"
    "5 5 S elaboration-additional\n"
)
SHORT = "1 1 N span\n2 2 S evidence\n"
DIS = (
    "( Root (span 1 2) ( Nucleus (leaf 1) (rel2par span) (text _!It (still) rains_!) )"
    " ( Satellite (leaf 2) (rel2par cause) (text _!because it began_!) ) )"
)


@pytest.fixture
def trees(tmp_path):
    for folder, one in (("gold", GOLD), ("parser", PREDICTED)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "one.spans").write_text(one)
        (tmp_path / folder / "two.spans").write_text(SHORT)
    return tmp_path


def test_evaluate(langdiff, trees):
    done = langdiff("discourse", "evaluate", trees / "gold", trees / "parser").good
    assert "parser 60.0 60.0 60.0 60.0      5" in done.out
    done = langdiff("discourse", "evaluate", trees / "gold", f"p={trees / 'parser'}", "--json")
    frame = pd.DataFrame(json.loads(done.out))
    gold, parser = (read_discourse(trees / name) for name in ("gold", "parser"))
    expected = evaluate_discourse(gold, {"p": parser}).to_frame()
    pd.testing.assert_frame_equal(frame, expected, check_dtype=False, rtol=1e-12)
    assert "[binarization:right|relations:fine|spans:edus|documents:2#" in done.err
    (trees / "parser").rename(trees / "lr=0.1")  # the name ends at the first equals sign, paths may have more
    again = langdiff("discourse", "evaluate", trees / "gold", f"p={trees / 'lr=0.1'}", "--json")
    assert again.out == done.out


@pytest.mark.parametrize(
    ("table", "columns"),
    [
        ("details", ["procedure", "averaging", "system", "metric", "precision", "recall", "f1"]),
        ("averagings", ["procedure", "system", "metric", "micro", "macro", "difference"]),
        ("procedures", ["averaging", "system", "metric", "rst-parseval", "parseval", "difference"]),
        ("relations", ["system", "relation", "precision", "recall", "f1", "true_positives", "gold"]),
        ("differences", ["one", "other", "estimate", "std_error", "df", "low", "high", "p", "p_adjusted", "verdict"]),
        ("similarity", ["against", "reference", "p", "q"]),
    ],
)
def test_every_table(langdiff, trees, table, columns):
    systems = [f"p={trees / 'parser'}", f"q={trees / 'gold'}"]
    options = f"--table {table} --classes rst-dt"
    arguments = ["discourse", "evaluate", trees / "gold", *systems, *options.split()]
    done = langdiff(*arguments, "--json").good
    assert list(json.loads(done.out)[0])[: len(columns)] == columns
    shown = langdiff(*arguments).good
    assert all(name in shown.out for name in columns)
    assert "relations:rst-dt" in shown.err


def test_every_option_arrives(langdiff, trees):
    (trees / "classes.csv").write_text("relation,class\nlist,many\n")
    options = "--binarization right_mixed --metric R --format spans --collapse-unary --table relations"
    files = ["--classes", trees / "classes.csv", "--outcomes", trees / "o.tsv"]
    done = langdiff("discourse", "evaluate", trees / "gold", trees / "parser", *options.split(), *files).good
    assert "many" in done.out
    assert "[binarization:right_mixed|relations:own#" in done.err
    outcomes = ld.read_outcomes(trees / "o.tsv")
    assert outcomes.successes.shape == (5, 1)  # decisions on attachment
    assert set(outcomes.items["document"]) == {"one", "two"}


def test_convert_and_back(langdiff, trees):
    (trees / "rain.dis").write_text(DIS)
    for to in ("rs3", "spans", "attachments", "dis"):
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            done = langdiff("discourse", "convert", trees / "rain.dis", "--to", to, "--out", trees / to)
        assert done.code == 0, done.err
        assert "1 tree(s)" in done.err
        assert ("no place for texts" in done.err) == (to in ("spans", "attachments"))
        back = read_discourse(trees / to)["rain"]
        assert back.nodes == read_discourse(trees / "rain.dis")["rain"].nodes
    done = langdiff("discourse", "convert", trees / "gold", "--to", "attachments", "--out", trees / "a")
    assert (done.code, "EDUs 2–4 has 3 children" in done.err or "EDUs 1–5 has 3 children" in done.err) == (1, True)
    assert not (trees / "a").exists()
    for own in (trees / "gold", trees / "gold" / "one.spans"):
        lost = langdiff("discourse", "convert", own, "--out", trees / "gold")
        assert (lost.code, "its files are read, and would be overwritten" in lost.err) == (1, True), lost.err
    done = langdiff(
        *["discourse", "convert", trees / "gold", "--to", "attachments", "--out", trees / "a"],
        *["--binarization", "right", "--classes", "rst-dt"],
    )
    assert (trees / "a" / "two.attachments").read_text() == "1 1 2 NS explanation\n"
