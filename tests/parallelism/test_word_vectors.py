"""Vectors of words from files, and subwords and vectors of frozen BERTs."""

import gzip
import struct
import sys

import numpy as np
import pytest
import torch

from langdiff.errors import CheckpointError, DataError, LangdiffWarning, MissingExtraError
from langdiff.parallelism.taggers.bert import FrozenBert, Tensor2TensorSubwords, find_cutter
from langdiff.parallelism.taggers.word_vectors import FileVectors, read_word_vectors
from langdiff.parallelism.taggers.words import find_lemmatizer, learn_subwords
from tests.helpers import refused

ROWS = {"sea": [0.5, 1.0, -2.0, 3.0], "é": [1.0, 2.0, 3.0, 4.0], "land": [0.0, 0.25, 1.0, 1.0]}


def _text(rows=ROWS, header="3 4"):
    lines = [f"{word} {' '.join(map(str, row))}" for word, row in rows.items()]
    return "\n".join(([header] if header else []) + lines) + "\n"


def _binary(rows=ROWS, announced=3, end=b"\n"):
    entries = [word.encode() + b" " + struct.pack("<4f", *row) + end for word, row in rows.items()]
    return f"{announced} 4\n".encode() + b"".join(entries)


FORMS = {
    "v.txt": _text().encode(),
    "v.vec": _text(header=None).encode(),
    "trailing.txt": _text().replace("\n", " \n").replace("3 4 \n", "3 4\n").encode(),
    "v.txt.gz": gzip.compress(_text().encode()),
    "v.bin": _binary(),
    "unbroken.bin": _binary(end=b""),
    "v.bin.gz": gzip.compress(_binary()),
}


@pytest.mark.parametrize("name", FORMS)
def test_all_forms_give_the_same_vectors_of_the_words_asked_for(name, tmp_path):
    (tmp_path / name).write_bytes(FORMS[name])
    found = read_word_vectors(tmp_path / name, ["land", "é", "sky"])
    assert found.width == 4
    assert {word: row.tolist() for word, row in found.vectors.items()} == {word: ROWS[word] for word in ("é", "land")}
    assert found.unknown_share(["land", "sky", "sky", "é"]) == 0.5


BROKEN = {
    "wide.txt": (_text().replace("-2.0", "-2.0 7").encode(), "line 2: 5 numbers after the word, but 4"),
    "header.txt": (_text(header="3 5").encode(), "line 2: 4 numbers after the word, but 5"),
    "rows.txt": (_text({"sea": [1, 2], "land": [1]}, header=None).encode(), "line 2: 1 numbers after the word, but 2"),
    "nan.txt": (
        _text().replace("0.25", "nan").encode(),
        "line 4: the vector of 'land' has a number that is not finite",
    ),
    "word.txt": (_text().replace("0.25", "x").encode(), "line 4: not all that follows 'land' is numbers"),
    "few.txt": (_text(header="4 4").encode(), "3 words, but line 1 announces 4"),
    "utf.txt": (_text().encode("latin-1"), "line 3: not UTF-8"),
    "empty.txt": (b"", "no vectors"),
    "none.txt": (b"3 0\n", "a width of 0"),
    "cut.bin": (_binary()[:-6], "byte 45: ends after 2 words, but 3 are announced"),
    "few.bin": (_binary(announced=5), "ends after 3 words, but 5"),
    "utf.bin": (_binary().replace("é".encode(), b"\xe9"), "byte 25: not UTF-8"),
    "inf.bin": (_binary({"sea": [1, np.inf, 0, 0]}, 1), "byte 4: the vector of 'sea' has a number that is not finite"),
    "text.bin": (_text(header=None).encode(), "byte 0: the binary form begins with"),
    "long.bin": (b"3 4\n" + b"x" * 70_000, "byte 4: no word ends here"),
    "empty.bin": (b"", "byte 0: the binary form begins with"),
    "damaged.txt.gz": (gzip.compress(_text().encode())[:-9], "cannot be read"),
    "damaged.bin.gz": (gzip.compress(_binary() * 99)[:40], "cannot be read"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_are_refused_with_their_place(name, tmp_path):
    content, message = BROKEN[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=message) as error:
        read_word_vectors(tmp_path / name, ["sea", "land"])
    assert name in str(error.value)


def test_a_repeated_word_counts_once_with_one_warning(tmp_path):
    (tmp_path / "v.txt").write_text("sea 1 2\nsea 3 4\nland 5 6\nland 7 8\n")
    with pytest.warns(LangdiffWarning, match="2 word.s. are there twice, 'sea' first") as caught:
        found = read_word_vectors(tmp_path / "v.txt", ["sea", "land"])
    assert len(caught) == 1
    assert [row.tolist() for row in found.vectors.values()] == [[1, 2], [5, 6]]


def test_unknown_words_are_zero_and_counted(vectors):
    source = FileVectors(vectors)
    assert source.width == 4
    (inputs,) = source.prepare([["we", "sleep", "we"]])
    assert inputs.vectors[1].tolist() == [0] * 4
    assert inputs.vectors[0].tolist() == inputs.vectors[2].tolist() != [0] * 4
    assert source.unknown_share(["we", "sleep", "we"]) == 1 / 3


@pytest.fixture(scope="module")
def frozen(bert):
    return FrozenBert(bert, "mean")


def test_every_word_has_subwords_and_vectors_are_blended_by_word(frozen):
    ids, owners = frozen.subwords(["We", "dance", "\u200b", "xyz", "."])
    names = dict(enumerate((frozen.folder / "vocab.txt").read_text().split()))
    assert [names[i] for i in ids] == ["we", "dan", "##ce", "[UNK]", "[UNK]", "."]  # lower case by default
    assert owners == [0, 1, 1, 2, 3, 4]
    (inputs,) = frozen.prepare([["we", "dance"]])
    row = torch.tensor([[2, *frozen.subwords(["we", "dance"])[0], 3]])
    with torch.no_grad():
        hidden = frozen.model(input_ids=row).last_hidden_state[0]
    expected = torch.stack([hidden[1], (hidden[2] + hidden[3]) / 2])
    torch.testing.assert_close(inputs.vectors, expected)


def test_a_long_section_is_its_pieces_encoded_apart(frozen):
    ids = ([5, 6, 7, 8, 9] * 120)[:600]
    with torch.no_grad():
        first = frozen.model(input_ids=torch.tensor([[2, *ids[:511]]])).last_hidden_state[0, 1:]
        second = frozen.model(input_ids=torch.tensor([[*ids[511:], 3]])).last_hidden_state[0, :-1]
    torch.testing.assert_close(frozen.encode(ids), torch.cat([first, second]))


def test_the_model_is_frozen(frozen):
    assert not frozen.model.training
    assert not any(weights.requires_grad for weights in frozen.model.parameters())
    one, other = (frozen.prepare([["we", "sing"]])[0].vectors for _ in range(2))
    assert torch.equal(one, other)
    assert not one.requires_grad


def test_a_fast_tokenizer_cuts_as_the_vocabulary_does(frozen, tmp_path):
    transformers = pytest.importorskip("transformers")
    transformers.AutoTokenizer.from_pretrained(frozen.folder).save_pretrained(tmp_path)
    words = ["we", "dance", "\u200b", "xyz", "."]
    fast = find_cutter(tmp_path)
    assert fast.specials == frozen.cutter.specials
    assert fast.cut(words) == tuple(map(list, frozen.cutter.cut(words)))


def test_case_is_kept_if_the_configuration_says_so(frozen, tmp_path):
    (tmp_path / "vocab.txt").write_bytes((frozen.folder / "vocab.txt").read_bytes())
    (tmp_path / "tokenizer_config.json").write_text('{"do_lower_case": false}')
    names = (tmp_path / "vocab.txt").read_text().split()
    assert [names[i] for i in find_cutter(tmp_path).cut(["We", "we"])[0]] == ["We", "we"]


@pytest.fixture
def subwords(tmp_path):
    lines = ["'<pad>_'", "'<EOS>_'", "'da'", "'dan'", "'ce_'", "'c'", "'e_'", "'._'", '"\'_"', "'\\'", "'u'", "'_'"]
    lines += [f"'{character}'" for character in "0123456789;"]
    path = tmp_path / "latin.subword.encoder"
    path.write_text("\n".join(lines) + "\n")
    return Tensor2TensorSubwords(path), [line[1:-1] for line in lines]


@pytest.mark.parametrize(
    ("word", "pieces"),
    [
        ("dance", ["dan", "ce_"]),  # the longest first
        ("dace.", ["da", "ce_", "._"]),  # letters meet other characters
        ("'", ["'_"]),
        ("_", ["\\", "u", "_"]),
        ("é", ["\\", "2", "3", "3", ";", "_"]),
    ],
)
def test_subwords_of_tensor2tensor(subwords, word, pieces):
    cutter, names = subwords
    ids, owners = cutter.cut([word, word])
    assert [names[i - 5] for i in ids] == pieces * 2
    assert owners == [0] * len(pieces) + [1] * len(pieces)
    assert cutter.specials == (1, 2, 3)


def test_folders_without_a_model_or_tokenizer_say_what_is_wanted(bert, tmp_path):
    refused(CheckpointError, "no such folder", FrozenBert, tmp_path / "absent", "mean")
    refused(CheckpointError, "cannot be loaded", FrozenBert, tmp_path, "mean")
    refused(CheckpointError, r"tokenizer.json is needed, or vocab.txt", find_cutter, tmp_path)
    (tmp_path / "vocab.txt").write_text("we\n[UNK]\n")
    refused(CheckpointError, r"vocab.txt: has no \[CLS\], \[SEP\]", find_cutter, tmp_path)
    for name in ("config.json", "model.safetensors"):
        (tmp_path / name).write_bytes((bert / name).read_bytes())
    (tmp_path / "vocab.txt").write_text((bert / "vocab.txt").read_text() + "more\n")
    refused(CheckpointError, "do not belong together", FrozenBert, tmp_path, "mean")


def test_learned_subwords_stay_within_words():
    source = learn_subwords([["low", "lower", "lowest"], ["slow", "slower"]] * 9, 1.0)
    (inputs,) = source.prepare([["lowest", "slow", "☃"]])
    assert set(inputs.owners.tolist()) == {0, 1, 2}
    one = source.prepare([["slow"]])[0].ids.tolist()
    assert inputs.ids[inputs.owners == 1].tolist() == one


@pytest.mark.slow
def test_latin_lemmata_are_found_although_v_is_written_u():
    lemma = find_lemmatizer("la")
    assert [lemma(word) for word in ("uitam", "nouum", "uiuunt", "sermones")] == ["uita", "nouus", "uiuo", "sermo"]
    assert find_lemmatizer(str.upper)("uita") == "UITA"
    refused(ValueError, "no word list of language 'zh'", find_lemmatizer, "zh")


@pytest.mark.parametrize("package", ["simplemma", "transformers"])
def test_a_missing_extra_is_named(package, bert, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=r"pip install 'langdiff\[(lemmas|hf)\]'"):
        find_lemmatizer("la") if package == "simplemma" else FrozenBert(bert, "mean")
