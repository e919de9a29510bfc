import gzip
import sys

import pytest

from langdiff.errors import DataError, MissingExtraError
from langdiff.treebanks import dependency_length
from langdiff.treebanks.conllu import read_conllu
from langdiff.treebanks.udpipe import UDPipeParser
from tests.helpers import refused

ANIMALS, VERBS = ["dog", "cat", "bird"], ["sees", "hears", "likes"]


def sentence(one, verb, other):
    words = [("The", "DET", 2, "det"), (one, "NOUN", 3, "nsubj"), (verb, "VERB", 0, "root"), ("a", "DET", 5, "det")]
    words += [(other, "NOUN", 3, "obj"), (".", "PUNCT", 3, "punct")]
    rows = [
        f"{n}\t{form}\t{form}\t{pos}\t_\t_\t{head}\t{relation}\t_\t{'SpaceAfter=No' if n == 5 else '_'}"
        for n, (form, pos, head, relation) in enumerate(words, start=1)
    ]
    return f"# text = The {one} {verb} a {other}.\n" + "\n".join(rows) + "\n\n"


@pytest.fixture(scope="session")
def udpipe():
    return pytest.importorskip("ufal.udpipe", reason="extra udpipe is not installed")


@pytest.fixture(scope="session")
def trained(udpipe):
    """Train on every sentence of a language of eight words; seconds."""
    text = "".join(sentence(one, verb, other) for one in ANIMALS for verb in VERBS for other in ANIMALS)
    reader, problem = udpipe.InputFormat.newConlluInputFormat(), udpipe.ProcessingError()
    reader.setText(text)
    sentences = udpipe.Sentences()
    one = udpipe.Sentence()
    while reader.nextSentence(one, problem):
        sentences.append(one)
        one = udpipe.Sentence()

    def train(tokenizer="epochs=1;dimension=16;early_stopping=0", parser=True):
        tagger = "models=1;templates_1=tagger;guesser_suffix_rules_1=2;iterations_1=2;early_stopping_1=0"
        heads = (
            "iterations=4;hidden_layer=10;transition_system=projective;transition_oracle=dynamic;structured_interval=0;"
            "embedding_form=8;embedding_upostag=8;embedding_feats=0;embedding_deprel=8;early_stopping=0"
        )
        model = udpipe.Trainer.train(
            "morphodita_parsito", sentences, udpipe.Sentences(), tokenizer, tagger, heads if parser else "none", problem
        )
        assert not problem.occurred(), problem.message
        return model

    return train


@pytest.fixture(scope="session")
def model(trained, tmp_path_factory):
    path = tmp_path_factory.mktemp("udpipe") / "tiny.udpipe"
    path.write_bytes(trained())
    return path


def test_parses_what_it_was_trained_on(model):
    first, second = UDPipeParser(model).parse("The bird sees a dog. The dog likes a cat.")
    assert first.startswith("# text = The bird sees a dog.\n1\tThe\t")
    assert [row.split("\t")[6] for row in second.split("\n")[1:]] == ["2", "3", "0", "5", "3", "3"]


def test_writes_a_treebank_that_can_be_read(model, tmp_path):
    texts = [("40001001", "The bird sees a dog. The dog likes a cat."), ("40001002", "The cat hears a bird.")]
    path = tmp_path / "new" / "eng.conllu"
    assert UDPipeParser(model).write(texts, path) == 3
    lines = path.read_text(encoding="utf-8").split("\n")
    ids = [line for line in lines if line.startswith("# sent_id")]
    assert ids == [f"# sent_id = {name}" for name in ("40001001-1", "40001001-2", "40001002-1")]
    trees = list(read_conllu(path, strict=True))
    assert [len(tree) for tree in trees] == [6, 6, 6]
    assert dependency_length(trees).mean == (1 + 1 + 1 + 2) / 4


def test_odd_texts(model):
    parser = UDPipeParser(model)
    assert list(parser.parse("")) == list(parser.parse(" \n\t")) == []
    for text in ("\u2028x\u2028", "dog\tcat\x85dog", "😀 שלום", "…" * 300):
        for conllu in parser.parse(text):
            rows = conllu.split("\n")
            assert rows[0].startswith("# text")
            assert {len(row.split("\t")) for row in rows[1:]} == {10}


def test_files_that_are_no_models(udpipe, model, tmp_path):
    refused(DataError, r"nowhere: no such file. Give a UDPipe 1 model", UDPipeParser, tmp_path / "nowhere")
    broken = tmp_path / "broken.udpipe"
    for content in (b"", b"text", model.read_bytes()[:-1000], gzip.compress(model.read_bytes())):
        broken.write_bytes(content)
        refused(DataError, r"broken.udpipe: not a UDPipe 1 model, or damaged", UDPipeParser, broken)


@pytest.mark.slow
def test_models_without_a_part(trained, tmp_path):
    path = tmp_path / "part.udpipe"
    path.write_bytes(trained(tokenizer="none"))
    refused(DataError, "has no tokenizer", UDPipeParser, path)
    path.write_bytes(trained(parser=False))
    refused(DataError, r"UDPipe fails on 'The dog.': .*parser", list, UDPipeParser(path).parse("The dog."))
    out = tmp_path / "out" / "eng.conllu"
    with pytest.raises(DataError, match="UDPipe fails"):
        UDPipeParser(path).write([("1", "The dog.")], out)
    assert list(out.parent.iterdir()) == []  # nothing half-written


def test_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "ufal.udpipe", None)
    refused(MissingExtraError, r"pip install 'langdiff\[udpipe\]'", UDPipeParser, tmp_path)
