import gzip
import io
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import regex
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import langdiff as ld
from langdiff.errors import CheckpointError, ConfigError, DataError, MissingExtraError
from langdiff.lm import RECIPES, train_language_model
from langdiff.lm.lstm.model import learn_units, load_units
from langdiff.lm.units.alphabet import Alphabet
from langdiff.lm.units.bpe import BPEUnits, SubwordNMTUnits, caution_about_words
from langdiff.lm.units.characters import ByteUnits, CharacterUnits, GraphemeUnits
from tests.helpers import refused

SCRIPTS = {
    "latin": "abcdeé.,-'\"e\u0301",
    "greek": "αβγάώς·",
    "cyrillic": "абвгёйЯ",
    "hebrew": "אבגשׁםְ",
    "arabic": "ابتثلإ\u200c",
    "devanagari": "कखगिीर्\u200d",
    "thai": "กขคเาั",
    "han": "天地人之𠀀",
    "hangul": "한국말가\u1112\u1161\u11ab",
    "emoji": "😀👍🏽\u200d❤\ufe0f🇩🇪",
    "reserved": "▁▅@\0<unk>/w\\#:0x41",
    "private": "\ue000\ue001\ue003ab<",
}
KINDS = {
    "bytes": {"units": "bytes"},
    "graphemes": {"units": "graphemes"},
    "subword-nmt": {"units": "bpe", "bpe_backend": "subword-nmt"},
}
ALL = {"char": {}, "sentencepiece": {"units": "bpe"}, **KINDS}


def over(letters):
    return st.text(st.sampled_from(letters + "  "), max_size=24)


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("script", SCRIPTS)
@settings(max_examples=20, deadline=None)  # SentencePiece is trained in each
@given(data=st.data())
def test_reversible_over_the_whole_alphabet_and_from_a_checkpoint(kind, script, data):
    letters = SCRIPTS[script]
    train = data.draw(st.lists(over(letters), min_size=1, max_size=10), label="train")
    assume(any(text.strip() for text in train))
    alphabet = Alphabet.from_texts([*train, letters], min_count=1)
    train = [alphabet.apply(text) for text in train]
    ratio = data.draw(st.sampled_from([0.0, 0.4, 50.0]), label="ratio")
    recipe = replace(RECIPES["char-tiny"], **ALL[kind], bpe_ratio=ratio)
    units, _ = learn_units(train, replace(alphabet, min_count=2), recipe)
    again = load_units(recipe, alphabet, units.model)
    for text in [*train, *data.draw(st.lists(over(letters + alphabet.replacement), max_size=5), label="new")]:
        ids = units.encode(text)
        assert units.decode(ids) == text
        assert all(0 <= i < units.size for i in ids)
        assert again.encode(text).tolist() == ids.tolist()


@given(st.text())
@example("")
@example("  a ")
def test_characters_are_reversible(text):
    alphabet = Alphabet.from_texts([text], min_count=1)
    units = CharacterUnits(alphabet)
    seen = alphabet.apply(text)
    ids = units.encode(seen)
    assert len(ids) == len(text)
    assert units.decode(ids) == seen
    assert units.size == len(set(seen) | {" ", alphabet.replacement})


def test_number_of_merges_is_the_ratio_of_distinct_words():
    texts = [f"{a}{b}{c} {c}{a}" for a in "abcdef" for b in "ghij" for c in "klm"] * 3
    words = {word for text in texts for word in text.split()}
    for ratio in (0.1, 0.4, 0.75):
        units = BPEUnits.train(texts, Alphabet.from_texts(texts, min_count=1), ratio=ratio)
        assert units.merges == int(ratio * len(words))


def merge_counts(texts, merges):
    """Learn byte-pair merges the slow way; return how often each was applied."""
    words = [("▁", *word) for text in texts for word in text.split(" ")]
    counts = []
    for _ in range(merges):
        pairs = Counter(pair for word in words for pair in pairwise(word))
        if not pairs:
            break
        (left, right), _ = pairs.most_common(1)[0]
        merged = []
        for word in words:
            out = []
            for piece in word:
                if out and (out[-1], piece) == (left, right):
                    out[-1] = left + right
                else:
                    out.append(piece)
            merged.append(tuple(out))
        counts.append(sum(map(len, words)) - sum(map(len, merged)))
        words = merged
    return counts


def test_merges_stop_where_no_pair_occurs_twice():
    texts = ["abc abd", "xyz", "ab"]
    alphabet = Alphabet.from_texts(texts, min_count=1)
    counts = merge_counts(texts, merges=30)
    frequent = sum(count >= 2 for count in counts)
    assert 0 < frequent < len(counts)  # else the test would not test
    assert BPEUnits.train(texts, alphabet, ratio=30.0).merges == frequent


def test_the_first_merges_are_those_of_a_slow_implementation():
    rng = np.random.default_rng(0)
    texts = ["".join(rng.choice(list("aaabbc "), 30)).strip() or "a" for _ in range(40)]
    alphabet = Alphabet.from_texts(texts, min_count=1)
    units = BPEUnits.train(texts, alphabet, ratio=0.1)
    slow = merge_counts(texts, units.merges)
    total = sum(len(units.encode(text)) for text in texts)
    symbols = sum(1 + len(word) for text in texts for word in text.split(" "))
    # each merge shortens the text by its count; ties may be broken otherwise
    assert total == pytest.approx(symbols - sum(slow), rel=0.01)


def test_merges_never_cross_white_space():
    texts = ["of the"] * 50
    units = BPEUnits.train(texts, Alphabet.from_texts(texts, min_count=1), ratio=99.0)
    assert [units.decode([i]).strip() for i in units.encode("of the")] == ["of", "the"]


def test_the_name_of_the_unknown_piece_is_a_text_like_any_other():
    texts = ["<unk> <unk> a <unk>"] * 20
    units = BPEUnits.train(texts, Alphabet.from_texts(texts, min_count=1), ratio=9.0)
    assert units.decode(units.encode("<unk> a<unk>")) == "<unk> a<unk>"
    assert len(units.encode("<unk>")) == 1  # it was merged, not taken for unknown


def test_a_long_line_is_not_skipped():
    long = "ab" * 5_000  # beyond SentencePiece's default limit of 4192 bytes
    texts = [long, "cd cd"]
    units = BPEUnits.train(texts, Alphabet.from_texts(texts, min_count=1), ratio=2.0)
    assert len(units.encode(long)) < 5_000
    assert units.decode(units.encode(long)) == long


@given(st.text(max_size=30))
def test_bytes_are_those_of_utf_8(text):
    alphabet = Alphabet.from_texts([text], min_count=1)
    seen = alphabet.apply(text)
    used = sorted(set(alphabet.symbols.encode()))
    units = ByteUnits(alphabet)
    assert [used[i] for i in units.encode(seen)] == list(seen.encode())
    assert units.size == len(used)


def test_bytes_that_are_no_text_do_not_break_decoding():
    units = ByteUnits(Alphabet("é"))
    assert units.decode(units.encode("é")[:1]) == "\ufffd"


def test_frequent_clusters_are_units_and_rare_ones_are_spelt():
    family = "👨\u200d👩\u200d👧"  # one cluster of five code points
    texts = [f"é e\u0301 {family} {family} 각 n\u0303"]
    alphabet = Alphabet.from_texts(texts, min_count=1)
    units = GraphemeUnits.train(texts, alphabet, min_count=2)
    assert units.clusters == (family,)
    assert len(units.encode(family)) == 1
    assert len(units.encode("n\u0303")) == 2
    assert len(units.encode("é")) == 1  # of one code point already


def test_with_every_cluster_frequent_there_is_one_unit_a_cluster():
    texts = ["नमस्ते दुनिया", "क्षत्रिय e\u0301a"]
    alphabet = Alphabet.from_texts(texts, min_count=1)
    units = GraphemeUnits.train(texts, alphabet, min_count=1)
    for text in texts:
        assert [units.decode([i]) for i in units.encode(text)] == regex.findall(r"\X", text)


def packages_own(units, text):
    """Cut a text as subword-nmt's command does, with its marks."""
    from subword_nmt.apply_bpe import BPE

    return BPE(io.StringIO(units.model.decode())).process_line(text).split(" ")


def test_subwords_are_those_of_the_package():
    words = [f"{a}{b}{c}" for a in ["wor", "lov", "mak", "giv"] for b in ["", "ing", "er"] for c in ["", "s", "ly"]]
    texts = [" ".join(words[k:] + words[:k]) for k in range(len(words))]
    units = SubwordNMTUnits.train(texts, Alphabet.from_texts(texts, min_count=1), ratio=0.3)
    assert units.merges == int(0.3 * len(words))
    ours = [units.strings[i] for i in units.encode(texts[0])]
    theirs = [
        piece.removesuffix("@@") if piece.endswith("@@") else piece + " " for piece in packages_own(units, texts[0])
    ]
    assert ours == theirs
    assert len({len(units.encode(word)) for word in words}) > 1  # else the test would not test


def test_an_empty_text_has_no_subwords_and_the_end_of_word_mark_is_text_like_any_other():
    texts = ["x</w> </w>y x</w>"] * 4
    units = SubwordNMTUnits.train(texts, Alphabet.from_texts(texts, min_count=1), ratio=9.0)
    assert units.encode("").tolist() == []
    assert units.merges > 3
    for text in (*texts, "</w>", "x </w> y", "  ", "y</w>x"):
        assert units.decode(units.encode(text)) == text


@pytest.mark.parametrize(
    "kind",
    [
        ByteUnits,
        CharacterUnits,
        lambda a: GraphemeUnits(a, ()),
        lambda a: SubwordNMTUnits.train(["ab"], a),
        lambda a: BPEUnits.train(["ab"], a),
    ],
)
def test_a_character_outside_the_alphabet_is_an_error(kind):
    with pytest.raises(DataError, match=r"'ã' \(U\+00E3\) is outside the alphabet"):
        kind(Alphabet("abé")).encode("abã")  # all of its bytes occur in those of é and ◊


def test_damaged_models():
    alphabet = Alphabet("ab")
    for model in (b"\xff", b"a", b"ab\nab", b"ax"):
        refused(CheckpointError, "damaged", GraphemeUnits.from_model, alphabet, model)
    for model in (b"", b"\xff", b"#version: 0.2\na b c\n", b"#version: 0.2\na x\n", b"a b\n"):
        refused(CheckpointError, "damaged", SubwordNMTUnits, alphabet, model)
    subwords = BPEUnits.train(["ab ab"], alphabet)
    refused(CheckpointError, "damaged", BPEUnits, alphabet, b"this is no model")
    refused(CheckpointError, "lacks 1 of 5 symbols", BPEUnits, Alphabet("abc"), subwords.model)
    refused(CheckpointError, "missing", load_units, RECIPES["graphemes-small"], alphabet, None)


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "subword_nmt.learn_bpe", None)
    refused(MissingExtraError, r"langdiff\[subword-nmt\]", SubwordNMTUnits.train, ["ab ab"], Alphabet("ab"), ratio=1.0)


@pytest.fixture(scope="module")
def models():
    texts = [f"{a} ne\u0301{b} {c}" for a in ("un", "deux") for b in ("e", "s") for c in ("jour", "an")] * 12
    small = replace(RECIPES["char-tiny"], embedding_size=16, epochs=2, min_count=2)
    recipes = [small, *(replace(small, name=kind, **changes) for kind, changes in KINDS.items())]
    return {r.name: train_language_model(texts, texts[:8], recipe=r, progress=False, seed=0) for r in recipes}


def test_all_kinds_price_the_same_string(models):
    strings = {
        model.units.decode(model.units.encode(model.alphabet.apply("un né jamais"))) for model in models.values()
    }
    assert strings == {models["char-tiny"].alphabet.apply("un né jamais")}
    frames = {kind: model.surprisal(["un ne\u0301e jour", "deux jours"]) for kind, model in models.items()}
    assert len({tuple(frame["characters"]) for frame in frames.values()}) == 1
    assert frames["bytes"]["units"][0] == len("un ne\u0301e jour".encode())
    assert frames["graphemes"]["units"][0] == len("un née jour")
    assert all((frame["bits"] > frame["eos_bits"]).all() for frame in frames.values())


def cut_by(units, words):
    return {word: [units.decode([i]).strip() for i in units.encode(word)] for word in words}


@pytest.mark.slow
@pytest.mark.real_data
def test_agreement_of_the_two_libraries_on_a_real_bible(real_data):
    bible = ld.read_multitext(real_data / "bible" / "eng-web.txt.gz", format="pbc").map_text(ld.tokenize)
    texts = bible.text(bible.editions[0]).iloc[-1500:]
    alphabet = Alphabet.from_texts(texts)
    texts = [alphabet.apply(text) for text in texts]
    paper, ours = (kind.train(texts, alphabet) for kind in (SubwordNMTUnits, BPEUnits))
    assert [paper.decode(paper.encode(text)) for text in texts] == texts
    assert paper.merges == ours.merges
    tokens = [word for text in texts for word in text.split()]
    words = set(tokens)
    a, b = cut_by(paper, words), cut_by(ours, words)
    alike = sum(a[word] == b[word] for word in tokens) / len(tokens)
    assert 0.75 < alike < 1  # the one marks where words end, the other where they begin


def test_caution_where_words_are_not_separated():
    assert caution_about_words(["起初神创造天地地是空虚混沌渊面黑暗"]) is not None
    assert caution_about_words(["in the beginning God created the heaven and the earth"]) is None
    assert caution_about_words([]) is None


@pytest.mark.real_data
@pytest.mark.parametrize("language", ["eng", "cop", "heb", "hin", "mya", "cmn", "jpn"])
def test_real_verses_are_reversible(language, real_data):
    path = sorted((real_data / "bible").glob(f"{language}-*.txt.gz"))[0]
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        verses = [line.rstrip("\n").partition("\t")[2] for line in lines if line[:1] in "456"][:1500]
    alphabet = Alphabet.from_texts(verses, min_count=3)
    texts = [alphabet.apply(verse) for verse in verses]
    units = BPEUnits.train(texts[:1000], alphabet)
    assert units.merges == int(0.4 * len({word for text in texts[:1000] for word in text.split()}))
    assert [units.decode(units.encode(text)) for text in texts] == texts


@pytest.mark.parametrize(
    ("texts", "ratio", "error", "message"),
    [
        (["abc"], 0.4, DataError, "'c'.*outside the alphabet"),
        (["", " "], 0.4, DataError, "no words"),
        (["ab"], -0.1, ConfigError, "bpe_ratio"),
        (["ab"], float("nan"), ConfigError, "bpe_ratio"),
    ],
)
def test_subwords_that_cannot_be_learned(texts, ratio, error, message):
    refused(error, message, BPEUnits.train, texts, Alphabet("ab"), ratio=ratio)
