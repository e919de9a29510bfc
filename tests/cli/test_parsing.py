import json
from pathlib import Path

import pandas as pd
import pytest

import langdiff as ld
from langdiff.corpora import write_multitext

TEXTS = {"eng-a": ["The dog sees.", "A cat."], "deu-a": ["Der Hund.", None], "fra-a": ["Le chien.", "Un chat."]}


class Parser:
    """Stands in for UDPipe, whose models take seconds to train: see tests/treebanks/test_udpipe.py."""

    def __init__(self, model):
        self.model = model

    def write(self, texts, path):
        lines = [f"{intent} {text}" for intent, text in texts]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join([self.model.name, *lines]))
        return len(lines)


@pytest.fixture
def corpus(tmp_path):
    folder = tmp_path / "texts"
    write_multitext(ld.read_frame(pd.DataFrame(TEXTS, index=["40001001", "40001002"])), folder)
    return folder


@pytest.fixture(autouse=True)
def models(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("en.udpipe", "x=y.udpipe"):
        Path(name).touch()


@pytest.fixture
def fake(monkeypatch):
    monkeypatch.setattr("langdiff.treebanks.udpipe.UDPipeParser", Parser)


@pytest.mark.filterwarnings("always::langdiff.errors.LangdiffWarning")  # the command prints it
@pytest.mark.usefixtures("fake")
def test_each_edition_is_parsed_by_its_model(langdiff, corpus, tmp_path):
    out = tmp_path / "parsed"
    models = ["--udpipe", "eng=en.udpipe", "--udpipe", "deu-a=x=y.udpipe"]
    done = langdiff("treebanks", "parse", corpus, *models, "--out", out, "--json").good
    assert "No model for 1 edition(s), which are left out: 'fra-a'" in done.err
    rows = {row["edition"]: (row["intents"], row["sentences"]) for row in json.loads(done.out)}
    assert rows == {"deu-a": (1, 1), "eng-a": (2, 2)}
    assert (out / "eng-a.conllu").read_text() == "en.udpipe\n40001001 The dog sees.\n40001002 A cat."
    assert (out / "deu-a.conllu").read_text() == "x=y.udpipe\n40001001 Der Hund."


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("en.udpipe", "--udpipe en.udpipe: write NAME=FILE"),
        ("eng=", "'eng=': no file is named; write NAME=FILE"),
        ("en=en.udpipe", "'en' is neither an edition nor a language; there are 'deu', 'eng', 'fra'"),
    ],
)
def test_models_must_be_named_after_what_is_there(langdiff, corpus, tmp_path, model, message):
    done = langdiff("treebanks", "parse", corpus, "--udpipe", model, "--out", tmp_path / "parsed")
    assert done.code == 1
    assert message in done.err
    assert not (tmp_path / "parsed").exists()
