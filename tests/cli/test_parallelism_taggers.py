"""`langdiff parallelism train`, `predict` and `search`, as a user runs them."""

import json

import pytest
from typer.testing import CliRunner

from langdiff.cli.app import app
from langdiff.parallelism import Parallelism, make_document, read_parallelisms, write_parallelisms

SETTINGS = """
embedding = "learned-word"
encoder = "bilstm"
tagset = "BIO"
link = "TD"
learning_rate = 0.05
input_size = 8
hidden_size = 8
depth = 1
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    text = ["we", "sing", ",", "we", "dance", ",", "and", "they", "sleep"]
    documents = {name: make_document(name, text, [Parallelism(((0, 2), (3, 5)))]) for name in "abc"}
    write_parallelisms(documents, tmp_path / "sermons")
    (tmp_path / "parts.csv").write_text("document,part\na,training\nb,validation\nc,optimization\nd,test\n")
    (tmp_path / "settings.toml").write_text(SETTINGS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _run(*arguments):
    return CliRunner().invoke(app, ["parallelism", *arguments])


def _train(*more):
    usual = {"--parts": "parts.csv", "--out": "tagger"}
    return _run("train", "sermons", *(each for pair in usual.items() if pair[0] not in more for each in pair), *more)


@pytest.mark.filterwarnings("always::langdiff.errors.LangdiffWarning")  # the command prints it
def test_a_tagger_is_trained_and_predicts(folder):
    done = _train("--settings", "settings.toml", "--epochs", "3", "--json")
    assert done.exit_code == 0, done.stderr
    assert [row["epoch"] for row in json.loads(done.stdout)] == [1, 2, 3]
    assert "1 document(s) only in parts.csv, and left out: 'd'" in done.stderr
    files = {path.name for path in (folder / "tagger").glob("[!.]*")}
    assert files == {"model", "history.csv", "learning-curve.svg", "learning-curve.svg.json", "manifest.json"}
    manifest = json.loads((folder / "tagger" / "manifest.json").read_text())
    assert manifest["settings"]["hidden_size"] == 8
    assert manifest["epochs"] == 3
    assert manifest["data"]["training"]["documents"] == ["a"]
    done = _run("predict", "tagger", "sermons", "--out", "predicted", "--json")
    assert done.exit_code == 0, done.stderr
    predicted = read_parallelisms(folder / "predicted", predicted=True)
    counts = {row["document"]: row["parallelisms"] for row in json.loads(done.stdout)}
    assert counts == {name: len(one.parallelisms) for name, one in predicted.items()}
    again = _train("--settings", "settings.toml")
    assert again.exit_code == 1
    assert "holds a finished tagger" in again.stderr


WRONG = {
    "no settings": ([], "either --published KEY or --settings FILE"),
    "unknown settings": (["--published", "ASP/learned-word/BIO"], "no published setting"),
    "no vectors": (["--published", "ASP/word2vec/BIO-TD"], "needs vectors"),
    "vectors missing": (["--published", "ASP/word2vec/BIO-TD", "--vectors", "none.txt"], "none.txt: no such file"),
    "BERT missing": (["--published", "ASP/latin-bert/BIO-TD", "--bert", "none"], "none: no such file"),
    "no settings file": (["--settings", "none.toml"], "none.toml: no such file"),
    "no parts": (["--settings", "settings.toml", "--parts", "parts.toml"], "no column 'document'"),
    "empty part": (["--settings", "settings.toml", "--parts", "few.csv"], "is in the part 'validation'"),
    "document twice": (["--settings", "settings.toml", "--parts", "twice.csv"], "line 3: 'a' is there a second time"),
    "other folder": (["--settings", "settings.toml", "--out", "sermons"], "not the folder of a tagger"),
    "no language": (
        ["--published", "ASP/word2vec/BIO-TD", "--vectors", "v.txt", "--language", "zh"],
        "no word list of language 'zh'",
    ),
}


@pytest.mark.filterwarnings("always::langdiff.errors.LangdiffWarning")  # the command prints it
@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_done_is_said_in_one_line(case, folder):
    arguments, message = WRONG[case]
    (folder / "parts.toml").write_text("name,part\n")
    (folder / "few.csv").write_text("document,part\na,training\n")
    (folder / "twice.csv").write_text("document,part\na,training\na,validation\n")
    (folder / "v.txt").write_text("we 1 2\n")
    done = _train(*arguments)
    assert done.exit_code == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr
