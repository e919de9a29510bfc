"""Scores of units: they add up to texts, prices stand where they belong, and words are those between white space."""

import csv
import warnings
from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
import torch.nn.functional as F
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import langdiff as ld
from langdiff.errors import ConfigError, DataError, LangdiffWarning
from langdiff.lm import RECIPES, read_models, token_scores, train_kneser_ney
from langdiff.lm.lstm.model import LanguageModel, build_network, learn_units
from langdiff.lm.lstm.scoring import _bits_of
from langdiff.lm.mixture import Mixture, _mix
from langdiff.lm.ngram.kneser_ney import Ngrams
from langdiff.lm.units.alphabet import Alphabet, identity_bits
from langdiff.tables.long_tables import write_table_file
from langdiff.tables.token_tables import TokenScores
from tests.cli.conftest import langdiff as langdiff
from tests.helpers import refused

SUMS = 1e-9  # bits: the same numbers added in another order
SINGLE = 1e-4  # bits: single precision
TRAIN = ["Ġesù ra lill-folla", "u tela’ fuq il-muntanja", "▁ <unk> q̈a q̈a éa 𐍈 é"] * 12
KNOWN = "Ġesùralifo ’q̈é▁<𐍈"
RARE = "猫𠀀😀жx\u0301◊\ue000"  # two- to four-byte characters, a mark, and what could be taken for stand-ins
RECIPE = replace(RECIPES["char-tiny"], embedding_size=8, hidden_size=8, layers=1, min_count=10)
NETWORKS = {
    "char": RECIPE,
    "bpe": replace(RECIPE, units="bpe", bpe_ratio=1.0),
    "subword-nmt": replace(RECIPE, units="bpe", bpe_backend="subword-nmt", bpe_ratio=1.0),
    "bytes": replace(RECIPE, units="bytes"),
    "graphemes": replace(RECIPE, units="graphemes"),
    "char-residual": replace(RECIPE, name="char-residual", ngram_orders=(2, 4)),
    "bpe-residual": replace(RECIPE, name="bpe-residual", units="bpe", ngram_orders=(1, 3)),
    "transformer": replace(RECIPE, name="char-transformer", architecture="transformer", heads=2),
}
KINDS = [*NETWORKS, "kneser-ney", "mixture"]


@cache
def model_of(kind):
    """Return a model of which nothing is trained but the n-grams; its weights are random, and far from uniform."""
    if kind == "kneser-ney":
        recipe = ld.lm.KneserNeyRecipe(name="kneser-ney-4", order=4, min_count=RECIPE.min_count)
        return train_kneser_ney(TRAIN, TRAIN[:3], recipe=recipe)
    if kind == "mixture":
        return Mixture(
            models=(model_of("char"), model_of("kneser-ney")), weights=np.array([0.3, 0.7]), dev_bits_per_character=1.0
        )
    recipe, alphabet = NETWORKS[kind], Alphabet.from_texts(TRAIN, min_count=RECIPE.min_count)
    if recipe.bpe_backend == "subword-nmt":
        pytest.importorskip("subword_nmt", reason="needs subword-nmt")
    texts = [alphabet.apply(text) for text in TRAIN]
    units, _ = learn_units(texts, alphabet, recipe)
    network = build_network(recipe, units.size + 1).eval()
    with torch.no_grad():
        for number, weights in enumerate(network.parameters()):
            weights += 0.5 * torch.randn(weights.shape, generator=torch.Generator().manual_seed(number))
    ngrams = None
    if recipe.ngram_orders:
        ngrams = Ngrams.fit([units.encode(text) for text in texts], units.size + 1, recipe.ngram_orders[-1])
    return LanguageModel(
        recipe=recipe, alphabet=alphabet, units=units, network=network, history=(), seed=0, ngrams=ngrams
    )


def multitext_of(texts):
    return ld.read_frame(
        pd.DataFrame({"mlt": texts}, index=[str(number) for number in range(len(texts))]), trust=["invisible"]
    )


def scored(model, multitext, scoring=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LangdiffWarning)  # rare characters are what is tried here
        return token_scores(model, multitext, scoring=scoring, max_replaced=1.0)


TEXTS = st.lists(
    st.text(st.sampled_from(KNOWN + RARE + "   \t\u00a0"), min_size=1, max_size=14).filter(str.strip),
    min_size=1,
    max_size=6,
)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=4, deadline=None)
@given(texts=TEXTS)
@example(texts=["  Ġ\tq̈猫  𠀀 ", "😀", "▁ <x\u0301"])
def test_units_and_words_add_up_to_texts(kind, texts):
    model, multitext = model_of(kind), multitext_of(texts)
    given_texts = multitext.text("mlt")
    tables = {scoring: scored(model, multitext, scoring) for scoring in ("priced", "unpriced")}
    for scoring, scores in tables.items():
        expected = model.surprisal(given_texts, scoring=scoring)
        added = scores.surprisals()
        assert_allclose(added.bits["mlt"], expected["bits"], rtol=0, atol=SUMS)
        assert_allclose(added.eos_bits["mlt"], expected["eos_bits"], rtol=0, atol=SUMS)
        assert added.units["mlt"].tolist() == expected["units"].tolist()
        words = scores.words()
        for column in ("bits", "corrected_bits"):
            sums = words.groupby("intent", sort=False)[column].sum()
            assert_allclose(sums[given_texts.index], expected["bits"], rtol=0, atol=SUMS)
        for intent, text in given_texts.items():
            assert words.loc[words["intent"] == intent, "word"].tolist() == [*model.alphabet.normal(text).split(), ""]
    rows = tables["priced"].tokens
    for intent, text in given_texts.items():
        own = rows[rows["intent"] == intent]
        assert "".join(own["text"]) == model.alphabet.normal(text)
        if kind not in ("bpe", "bpe-residual", "bytes"):
            assert "".join(own["token"]).removesuffix(" " * (kind == "subword-nmt")) == model.alphabet.apply(text)
    replaced = [sum(identity_bits(c) for c in text if model.alphabet.count_replaced(c)) for text in rows["text"]]
    assert_allclose(rows["bits"] - tables["unpriced"].tokens["bits"], replaced, rtol=0, atol=SUMS)


TEXT = "Ġesù q̈a  éa ra"


@pytest.mark.parametrize("kind", ["char", "kneser-ney", "mixture"])
def test_a_boundary_is_the_space_or_the_end(kind):
    """Against texts that do end there, or go on with a space."""
    model = model_of(kind)
    rows = scored(model, multitext_of([TEXT])).tokens
    for place in range(1, len(TEXT) + 1):
        ended, spaced = model.symbol_bits([TEXT[:place], TEXT[:place] + " "])
        p = 2 ** -ended[-1] + 2 ** -spaced[place]
        assert rows["boundary_bits"][place - 1] == pytest.approx(-np.log2(p), abs=SINGLE)
    assert np.isnan(rows["boundary_bits"].iloc[-1])


@torch.no_grad()
@pytest.mark.parametrize("kind", ["bpe", "bytes", "graphemes", "subword-nmt"])
def test_a_boundary_sums_over_all_units_that_begin_with_a_space(kind):
    model = model_of(kind)
    units, end = model.units, model.units.size
    a = units.encode("a")
    written = [units.decode([*a, number, *a]).removeprefix(units.decode(a)) for number in range(end)]
    begins = [number for number, string in enumerate(written) if string.startswith(" ")] + [end]
    if kind == "subword-nmt":  # whose "a" is a word already, with the space after it
        begins = [units.encode(" a")[0], end]
    ids = units.encode(TEXT)
    output = model.network(torch.tensor([end, *ids])[:, None]).output[:, 0]
    p = F.softmax(model.network.logits(output).double(), dim=1)[:, begins].sum(dim=1).numpy()
    rows = scored(model, multitext_of([TEXT])).tokens
    expected = -np.log2(p[1:])
    if kind == "subword-nmt":
        expected[[token.endswith(" ") and token != " " for token in rows["token"][:-1]]] = 0
        assert (expected == 0).sum() == len(TEXT.split())
    assert_allclose(rows["boundary_bits"][:-1], expected, atol=SINGLE)


def test_a_boundary_that_is_certain_has_no_negative_bits():
    """In single precision, the sum over a few symbols may come out larger than that over all."""
    logits = torch.randn((2000, 60), generator=torch.Generator().manual_seed(0)) - 30
    logits[:, 1::3] += 30
    network = SimpleNamespace(embedding=range(60), logits=lambda output, _: output)
    _, boundaries = _bits_of(network, logits, torch.zeros(2000, dtype=torch.int64), others=np.arange(1, 60, 3))
    assert 0 <= boundaries.min() <= boundaries.max() < SINGLE


def test_a_mixture_of_what_is_certain_has_no_negative_bits():
    weights = np.array([0.1, 0.7, 0.2]) + 1e-16
    mixed = _mix(np.zeros((3, 2, 5)), np.nextafter(weights / weights.sum(), 1))
    assert (mixed == 0).all()


def test_how_units_are_written():
    tokens = {kind: scored(model_of(kind), multitext_of(["q̈ 猫é"])).tokens for kind in KINDS}
    assert tokens["char"]["token"].tolist() == ["q", "̈", " ", "◊", "é", ""]
    assert tokens["char"]["text"].tolist() == ["q", "̈", " ", "猫", "é", ""]
    assert tokens["graphemes"]["token"].tolist() == ["q̈", " ", "◊", "é", ""]
    assert tokens["bytes"]["token"].tolist() == [
        *["q", "<0xCC>", "<0x88>", " ", "<0xE2>", "<0x97>", "<0x8A>", "<0xC3>", "<0xA9>", ""]
    ]
    assert tokens["bytes"]["text"].tolist() == ["q", "", "̈", " ", "", "", "猫", "", "é", ""]
    bpe = tokens["bpe"]
    assert "".join(bpe["token"]) == "▁q̈▁◊é"
    assert bpe.loc[bpe["token"].str.contains("◊"), "text"].str.contains("猫").all()


@pytest.mark.parametrize("kind", ["char", "bpe", "bytes", "subword-nmt"])
@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet"])
def test_a_table_is_read_back_with_its_words(kind, ending, tmp_path):
    scores = scored(model_of(kind), multitext_of([TEXT, '\t"猫" \r\n,Ġ ', "Ġ NA"]))
    write_table_file(scores.to_frame(), tmp_path / f"tokens{ending}")
    read = ld.read_logs(tmp_path / f"tokens{ending}", unit="bits").tokens()
    pd.testing.assert_frame_equal(read.words(), scores.words(), check_dtype=False)


def test_a_table_that_tells_words_badly():
    table = pd.DataFrame({"intent": ["1"] * 2, "edition": "x", "token": ["a", ""], "bits": 1.0})
    with pytest.raises(DataError, match="'begins_word' is true or false, not 'perhaps'"):
        ld.read_logs(table.assign(begins_word=["True", "perhaps"]), unit="bits").tokens()
    words = ld.read_logs(table.assign(text="something else"), unit="bits").tokens().words()
    assert words["word"].tolist() == ["a", ""]  # only beside begins_word is it what tokens cover


def test_a_letter_that_marks_spaces_elsewhere_stays_in_words():
    rows = pd.DataFrame({"intent": "1", "edition": "mlt", "token": ["ĠĠ", "esù"], "text": [" Ġ", "esù"], "bits": 1.0})
    assert TokenScores(tokens=rows).words()["word"].tolist() == ["Ġesù"]


def test_refusals_and_warnings():
    model, multitext = model_of("char"), multitext_of(["ra 猫"])
    refused(ConfigError, "leave 'carried' out", token_scores, model, multitext, scoring="carried")
    refused(ConfigError, r"no language model for 1 edition\(s\): .*mlt", token_scores, {"eng": model}, multitext)
    refused(ConfigError, "edition 'mlt': a str gives no scores of units", token_scores, "models", multitext)
    refused(DataError, r"more than 5\.00% of the characters", token_scores, model, multitext)
    refused(DataError, "no edition to score", token_scores, model, multitext.sel(editions=[]))
    refused(DataError, "no text to score", token_scores, model, multitext.sel(intents=[]))
    refused(ConfigError, "several names; got one string", read_models, "models", "mlt")
    refused(ConfigError, "max_replaced is a fraction", token_scores, model, multitext, max_replaced=5)
    with pytest.warns(LangdiffWarning, match=r"'mlt': many characters are too rare .*scored 25.00%"):
        token_scores({"mlt": model}, multitext, max_replaced=0.5)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Return a corpus, and the folder of models of it."""
    folder = tmp_path_factory.mktemp("trained")
    ld.write_multitext(ld.synthesize(60, 1, seed=5).multitext, folder / "corpus")
    return folder / "corpus", folder / "models"


def test_the_command_writes_tokens_or_words(langdiff, trained, tmp_path):
    corpus, models = trained
    lm = ("--lm", "kneser-ney-2")
    assert langdiff("train", corpus, *lm, "--out", models).code == 0
    found = {}
    for per in ("text", "token", "word"):
        table = tmp_path / f"{per}.csv"
        assert langdiff("score", models, corpus, *lm, "--per", per, "--out", table).code == 0
        with table.open(encoding="utf-8", newline="") as stream:
            found[per] = list(csv.DictReader(stream))
    texts = ld.read_surprisals(tmp_path / "text.csv").bits.sum().sum()
    for per in ("token", "word"):
        assert sum(float(row["bits"]) for row in found[per]) == pytest.approx(texts)
    assert set(found["token"][0]) == {"intent", "edition", "token", "text", "begins_word", "bits", "boundary_bits"}
    assert any("↹" in row["word"] for row in found["word"])  # tokenized as for training
    score = ("score", models, corpus, "--per", "word", "--out", tmp_path / "x.csv")
    assert "Leave 'carried' out" in langdiff(*score, "--lm", "kneser-ney-2-carried").err
    assert "no finished language model" in langdiff(*score, "--lm", "kneser-ney-3").err
