"""The annotated sermons; a tiny BERT, a file of vectors, and made-up documents for the tests of taggers."""

import pytest

from langdiff.parallelism import Parallelism, Section, make_document, read_parallelisms

TEXT = "we sing , we dance , and they sleep . he came and he saw . they run , they play , they rest ."
WIDTH = 4
VOCABULARY = "[PAD] [UNK] [CLS] [SEP] [MASK] we sing dan ##ce and they sleep he came saw run play rest , . We"


@pytest.fixture(scope="session")
def sermons(real_data):
    folder = real_data / "asp/xml/tokenized"
    if not folder.is_dir():
        pytest.skip(f"no annotated parallelisms: {folder} does not exist")
    return read_parallelisms(folder)


@pytest.fixture(scope="session")
def document():
    """Three flat sections."""
    branches = [((0, 2), (3, 5)), ((10, 12), (13, 15)), ((16, 18), (19, 21), (22, 24))]
    parts = [Section("1", 0, 10), Section("2", 10, 16), Section("3", 16, 25)]
    return make_document("1", TEXT.split(), [Parallelism(one) for one in branches], parts)


@pytest.fixture(scope="session")
def vectors(tmp_path_factory):
    """A file of word2vec, in the text form, without some of the words."""
    path = tmp_path_factory.mktemp("vectors") / "vectors.txt"
    words = sorted(set(TEXT.split()) - {"sleep", "rest"})
    rows = [f"{word} {' '.join(str((3 * i + 5 * k) % 7 - 3) for k in range(WIDTH))}" for i, word in enumerate(words)]
    path.write_text("\n".join([f"{len(rows)} {WIDTH}", *rows]) + "\n")
    return path


@pytest.fixture(scope="session")
def bert(tmp_path_factory):
    """Folder of a BERT of two layers and random weights, with a vocabulary of WordPiece."""
    transformers = pytest.importorskip("transformers")
    import torch

    folder = tmp_path_factory.mktemp("bert")
    (folder / "vocab.txt").write_text(VOCABULARY.replace(" ", "\n") + "\n")
    config = transformers.BertConfig(
        vocab_size=len(VOCABULARY.split()),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        transformers.BertModel(config).save_pretrained(folder)
    return folder
