"""Premiums and parities against counts by hand, closed forms and a slow bootstrap."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import langdiff as ld
from langdiff.errors import ConfigError, DataError, LangdiffWarning
from langdiff.parity.tokenizers import diagnose_tokens
from tests.helpers import refused

pytestmark = pytest.mark.filterwarnings("ignore:Few units")

ROUNDING = 1e-12
TEXTS = pd.DataFrame(
    {
        "eng": ["the dog barks", "a cat", "two", "old house"],
        "deu": ["der Hund bellt", "eine Katze", "zwei", "ein altes Häuschen"],
        "ell": ["ο σκύλος γαβγίζει", "μια γάτα", None, "παλιό σπίτι"],
    },
    index=["1", "2", "3", "4"],
)


class Pieces:
    """Splits words into pieces of three letters; a space goes with the word after it."""

    def encode(self, text, add_special_tokens=True):
        pieces = [word[i : i + 3] for word in text.split() for i in range(0, len(word), 3)]
        return ["<s>", *pieces, "</s>"] if add_special_tokens else pieces


def measured(**settings):
    return ld.measure_parity(ld.read_frame(TEXTS), reference="eng", **settings)


def test_premiums_are_over_shared_intents_and_factor():
    estimates = measured().estimates
    of = {name: "".join(TEXTS[name].dropna()) for name in TEXTS}
    shared = "".join(TEXTS["eng"][TEXTS["ell"].notna()])
    assert estimates.loc["deu", "byte_premium"] == len(of["deu"].encode()) / len(of["eng"].encode())
    assert estimates.loc["ell", "byte_premium"] == len(of["ell"].encode()) / len(shared.encode())
    assert estimates.loc["ell", "character_premium"] == len(of["ell"]) / len(shared)
    factors = estimates["bytes_per_character"] * estimates["character_premium"]
    assert_allclose(factors / estimates["reference_bytes_per_character"], estimates["byte_premium"], rtol=ROUNDING)


def test_tokens_without_special_ones():
    result = measured(tokenizers={"pieces": Pieces()})
    lengths = {name: [-(-len(word) // 3) for text in TEXTS[name].dropna() for word in text.split()] for name in TEXTS}
    for name, pieces in lengths.items():
        assert result.totals.loc[name, "tokens_pieces"] == sum(pieces)
        assert result.estimates.loc[name, "fertility_pieces"] == pytest.approx(np.mean(pieces))
        assert result.estimates.loc[name, "split_words_pieces"] == pytest.approx(np.mean(np.array(pieces) > 1))
    alone = diagnose_tokens([Pieces().encode(text, add_special_tokens=False) for text in TEXTS["deu"]])
    for name in ("renyi_efficiency", "shannon_efficiency", "accessor_variety"):
        assert result.estimates.loc["deu", f"{name}_pieces"] == alone[name]


def test_a_table_of_counts_is_the_same_as_its_tokenizer():
    counts = TEXTS.map(lambda text: len(Pieces().encode(text, add_special_tokens=False)), na_action="ignore")
    table = ld.measure_parity(counts.astype(float), reference="eng").estimates
    other = measured(tokenizers=Pieces()).estimates
    assert table["token_premium"].tolist() == other["token_premium"].tolist()
    beside = measured(tokenizers={"own": counts.astype(float)}).estimates
    assert beside["token_premium_own"].tolist() == table["token_premium"].tolist()


def test_words_are_not_counted_where_no_space_separates_them():
    texts = pd.DataFrame({"eng": ["in the beginning"] * 3, "zho": ["起初神创造天地起初神创造天地"] * 3})
    result = ld.measure_parity(ld.read_frame(texts), reference="eng", tokenizers=Pieces())
    assert result.estimates["fertility"].isna().tolist() == [False, True]
    assert result.estimates["token_premium"].notna().all()


@pytest.mark.slow  # imports transformers
def test_libraries_of_tokenizers():
    tokenizers = pytest.importorskip("tokenizers")
    transformers = pytest.importorskip("transformers")
    words = {word: i for i, word in enumerate(["[UNK]", "<s>", *" ".join(TEXTS["eng"]).split()])}
    inner = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="[UNK]"))
    inner.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    inner.post_processor = tokenizers.processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    outer = transformers.PreTrainedTokenizerFast(tokenizer_object=inner, unk_token="[UNK]")
    result = measured(tokenizers={"inner": inner, "outer": outer})
    n_words = sum(len(text.split()) for text in TEXTS["eng"])
    assert result.totals.loc["eng", ["tokens_inner", "tokens_outer"]].tolist() == [n_words, n_words]


def test_worked_information_parity():
    bits = pd.DataFrame({"r": [40.0, 60.0], "j": [50.0, 60.0]})
    result = ld.measure_parity(ld.Surprisals(bits=bits), reference="r", model="1").estimates.loc["j"]
    assert result["information_parity"] == pytest.approx(0.9)
    assert result["information_parity_totals"] == pytest.approx(100 / 110)
    assert result["information_parity_model"] == pytest.approx(np.sqrt(0.8))


def test_the_model_is_antisymmetric_and_the_published_parity_is_not():
    surprisals = ld.simulate(200, 3, seed=1).surprisals
    one, other = (ld.measure_parity(surprisals, reference=reference).estimates for reference in ("e1", "e2"))
    product = one.loc["e2"] * other.loc["e1"]
    assert product["information_parity_model"] == pytest.approx(1, abs=1e-9)
    assert product["information_parity"] > 1.001  # Cauchy and Schwarz
    fit = ld.fit(surprisals)
    d = fit.difficulty
    assert one.loc["e2", "information_parity_model"] == pytest.approx(np.exp(d["e1"] - d["e2"]))


def test_bits_know_sizes_and_stand_beside_texts():
    bits = TEXTS.notna() * 10.0
    sizes = TEXTS.map(len, na_action="ignore").astype(float)
    counts = ld.measure_parity(sizes, reference="eng").estimates["token_premium"]
    rng = np.random.default_rng(0)
    noisy = ld.Surprisals(
        bits=bits.where(bits > 0) * rng.uniform(0.9, 1.1, bits.shape), characters=sizes, bytes=2 * sizes
    )
    result = ld.measure_parity(noisy, reference="eng").estimates
    assert result["character_premium"].tolist() == counts.tolist()
    assert_allclose(result["bytes_per_character"], 2)
    beside = measured(surprisals=noisy).estimates
    assert beside["information_parity_model"].tolist() == result["information_parity_model"].tolist()
    assert beside.loc["ell", "bytes_per_character"] < 2  # spaces: of the texts, not of the table


def test_tokens_of_the_language_model_are_those_of_its_tokenizer():
    multitext = ld.read_frame(TEXTS)
    units = TEXTS.map(lambda text: len(Pieces().encode(text, False)), na_action="ignore").astype(float)
    bits = pd.DataFrame(np.random.default_rng(0).uniform(9, 11, TEXTS.shape), TEXTS.index, TEXTS.columns)
    surprisals = ld.Surprisals(bits=bits.where(TEXTS.notna()), units=units, lm="mine")
    columns = ["token_premium", "fertility"]
    expected = ld.measure_parity(multitext, reference="eng", tokenizers=Pieces()).estimates
    found = ld.measure_parity(multitext, reference="eng", surprisals=surprisals).estimates
    pd.testing.assert_frame_equal(found[columns], expected[columns])
    assert ld.measure_parity(surprisals, reference="eng").estimates["token_premium"].equals(expected["token_premium"])
    both = ld.measure_parity(multitext, reference="eng", surprisals=surprisals, tokenizers=Pieces())
    assert both.estimates["token_premium_mine"].equals(both.estimates["token_premium"])
    characters = replace(surprisals, characters=units)  # of a model of characters
    assert "token_premium" not in ld.measure_parity(characters, reference="eng").estimates


def test_the_worked_premiums():
    """Six documents of one text: premiums, intervals and the joint test to all digits."""
    rows = [(100, 120, 90), (210, 230, 200), (50, 66, 47), (400, 430, 410), (80, 100, 70), (160, 204, 153)]
    found = ld.measure_parity(pd.DataFrame(rows, columns=list("xyz")).astype(float).rename(index=str), clusters=None)
    expected = {
        "token_premium": [0.96422149, 1.10885472, 0.93529485],
        "token_premium_low": [0.94079991, 0.98975377, 0.84386876],
        "token_premium_high": [0.98822617, 1.24228755, 1.03662618],
    }
    for name, values in expected.items():
        assert_allclose(found.to_frame()[name], values, atol=6e-9)
    effects = found.effects("token_premium")
    contrast = effects.contrast("y", "z")
    assert_allclose([contrast.std_error, contrast.p_value], [0.07026908, 0.08819708], atol=6e-9)
    assert effects.test().p == pytest.approx(0.0515644694, abs=6e-11)
    against = ld.measure_parity(pd.DataFrame(rows, columns=list("xyz")).astype(float), reference="x", clusters=None)
    logs, part = against.effects("token_premium"), np.array(rows) / np.sum(rows, axis=0)
    share = (part[:, 0] + part[:, 1]) / 2
    error = np.sqrt(np.sum((part[:, 1] - part[:, 0]) ** 2 / (1 - share)))
    assert logs.to_frame().loc["y", "std_error"] == pytest.approx(error)
    refused(ConfigError, r"measure='x': there are errors of 'token_premium'", found.effects, "x")


def test_clusters_widen_intervals_where_intents_depend_on_one_another():
    rng = np.random.default_rng(3)
    document = np.repeat(np.arange(40), 10)
    length = np.exp(rng.normal(0, 0.5, 40))[document]
    counts = pd.DataFrame({"r": np.full(400, 20.0), "j": 20 * length})
    counts.index = counts.index.map(str)
    labels = pd.Series(document, counts.index)
    width = [ld.measure_parity(counts, reference="r", clusters=clusters) for clusters in (None, labels)]
    narrow, wide = (one.high.loc["j", "token_premium"] - one.low.loc["j", "token_premium"] for one in width)
    assert wide > 2 * narrow
    assert_allclose(width[1].low.loc["r", "token_premium"], 1)


def test_parity_is_a_table_of_predictors():
    words = [f"word{i} " * (i % 3 + 1) for i in range(6)]
    texts = pd.DataFrame({f"e{j}": [word * (j + 1) + "x" * j for word in words] for j in range(6)})
    parity = ld.measure_parity(ld.read_frame(texts), reference="e0", tokenizers=Pieces())
    difficulty = pd.Series(np.arange(6) / 10 + [0, 0.01, 0, 0.02, 0, 0.01], index=texts.columns)
    result = ld.correlate(difficulty, parity, tests=["pearson"])
    tested = set(result.tests["predictor"])
    assert {"byte_premium", "token_premium", "fertility"} <= tested
    assert not any(name.endswith(("_low", "_high")) or name == "bytes" for name in tested)
    row = result.tests.set_index("predictor").loc["byte_premium"]
    premium = parity.estimates["byte_premium"]
    assert row["estimate"] == pytest.approx(np.corrcoef(premium, difficulty)[0, 1])


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"reference": "fra"}, ConfigError, "no such edition; there are 'eng', 'deu', 'ell'"),
        ({"model": "3"}, ConfigError, "must be '1' or '2'"),
        ({"alpha": 0.0}, ConfigError, "positive and finite"),
        ({"tokenizers": len}, ConfigError, "method encode"),
        ({"tokenizers": "gpt2"}, ConfigError, "str has none"),
    ],
)
def test_bad_settings(settings, error, message):
    refused(error, message, ld.measure_parity, ld.read_frame(TEXTS), **{"reference": "eng"} | settings)


def test_bad_tables():
    class Joined:
        def encode(self, text):
            return text

    refused(DataError, "gave str, not a list", measured, tokenizers=Joined())
    with pytest.raises(DataError, match="not positive: intent 1, edition 'b' has 0"):
        ld.measure_parity(pd.DataFrame({"a": [1.0, 2], "b": [1.0, 0]}), reference="a")
    with pytest.raises(DataError, match=r"token_premium: 1 edition.* share no intent .*: 'b'"):
        ld.measure_parity(pd.DataFrame({"a": [1.0, np.nan], "b": [np.nan, 2]}), reference="a")
    with pytest.raises(ConfigError, match="tokenizers need texts"):
        ld.measure_parity(pd.DataFrame({"a": [1.0]}), reference="a", tokenizers=Pieces())
    refused(ConfigError, "not list", ld.measure_parity, [1], reference="a")
    with pytest.warns(LangdiffWarning, match=r"Few units: intervals are long and hang on single intents"):
        ld.measure_parity(pd.DataFrame({"a": [1.0, 2], "b": [1.0, 3]}), reference="a")


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        (TEXTS, "numbers, intents × editions: could not convert.*read_frame"),
        (pd.DataFrame([[1.0, 2.0]], columns=["eng", "eng"]), "1 edition.* named twice: 'eng'"),
        (pd.DataFrame({"eng": [1.0, 2.0]}, index=["x", "x"]), "1 intent.* named twice: 'x'"),
    ],
)
def test_other_tables_are_no_counts(counts, message):
    refused(DataError, message, ld.measure_parity, counts, reference="eng")


def test_two_tables_of_counts_need_names():
    counts = pd.DataFrame({"a": [1.0, 2.0], "b": [2.0, 2.0]})
    refused(ConfigError, "two tables of counts", ld.measure_parity, counts, reference="a", tokenizers=counts)
    both = ld.measure_parity(counts, reference="a", tokenizers={"x": counts * [1, 2]}).estimates
    assert both.loc["b"].tolist() == [4 / 3, 8 / 3]


def test_sizes_are_of_the_same_cells():
    bits = pd.DataFrame({"a": [10.0, 20, 30], "b": [12.0, 21, 36]})
    sizes = pd.DataFrame({"a": [5.0, 6, 7], "b": [5.0, 6, 7]})
    table = ld.Surprisals(bits=bits, characters=sizes.where(sizes < 7), bytes=2 * sizes)
    estimates = ld.measure_parity(table, reference="a").estimates
    assert estimates["bytes_per_character"].tolist() == [2, 2]


@pytest.mark.filterwarnings("ignore::langdiff.errors.LangdiffWarning")
def test_clusters_of_texts_are_those_of_counts_beside_them():
    info = pd.DataFrame({"document": ["x", "x", "y", "z"]}, index=TEXTS.index)
    texts = ld.read_frame(TEXTS, intent_info=info)
    counts = TEXTS.map(len, na_action="ignore").astype(float)
    given = {"reference": "eng"}
    found = ld.measure_parity(texts, clusters="document", tokenizers=counts, **given)
    assert found.low["token_premium"].tolist() == found.low["character_premium"].tolist()
    other = ld.measure_parity(texts, clusters=info["document"].replace("z", "y"), tokenizers=counts, **given)
    assert "clusters:document#" in found.signature
    assert found.signature != other.signature  # two ways to cluster under one name


def test_an_edition_that_shares_little_with_the_reference():
    counts = pd.DataFrame({name: np.random.default_rng(1).integers(5, 50, 300) * 1.0 for name in "ab"})
    counts["c"] = counts["a"].where(counts.index < 4) * [*range(1, 5), *[np.nan] * 296]
    with pytest.warns(LangdiffWarning, match=r"^Few units"):
        found = ld.measure_parity(counts, reference="a")
    c = found.to_frame().loc["c"]
    assert c["token_premium_low"] < c["token_premium"] < c["token_premium_high"]


@pytest.mark.parametrize("tokens", [{"input_ids": [1]}, [[1, 2]]])
def test_other_things_are_no_tokens(tokens):
    class Wrapped:
        def encode(self, text):
            return tokens

    refused(DataError, "not a list of tokens", measured, tokenizers=Wrapped())


def test_elements_of_tensors_are_equal():
    class Tensor(list):
        def __iter__(self):
            return (object() for _ in range(len(self)))  # as a tensor's elements, each equal to itself only

        def tolist(self):
            return [*self[:]]

    class OneTensor:
        def encode(self, text):
            return Tensor([7] * len(text.split()))

    assert measured(tokenizers=OneTensor()).estimates["shannon_entropy"].tolist() == [0, 0, 0]


@pytest.mark.real_data
def test_flores_exactly(real_data):
    corpus = ld.read_multitext(
        real_data / "flores200", format="moses", nfc=False, editions=["eng_Latn", "deu_Latn", "mya_Mymr", "shn_Mymr"]
    )
    totals = ld.measure_parity(corpus, reference="eng_Latn").totals
    assert totals["bytes"].tolist() == [257_386, 305_294, 909_303, 1_018_983]
    assert totals["characters"].tolist() == [257_160, 300_367, 318_872, 366_887]


def test_originals_are_named_or_found_and_marked():
    frame = pd.DataFrame({"eng": ["a b", "c", "d e"], "deu": ["a", "bc", "d"]})
    texts = ld.read_frame(
        frame, intent_info=pd.DataFrame({"original_language": ["eng", "eng", "deu"]}, index=frame.index)
    )
    found = ld.measure_parity(texts)
    assert found.originals == ("eng",)
    assert "eng is the original of the texts" in found.summary()
    assert "eng (original)" in [label.get_text() for label in found.plot().get_yticklabels()]
    assert ld.measure_parity(texts, origin=["deu"]).originals == ("deu",)
    unknown = ld.measure_parity(ld.read_frame(frame))
    assert unknown.originals == ()
    assert "original of the texts" not in unknown.summary()
    refused(ConfigError, r"origin='fra': not among the editions", ld.measure_parity, texts, origin="fra")


def test_summary_and_frame():
    surprisals = ld.simulate(50, 2, seed=1).surprisals
    result = ld.measure_parity(surprisals, reference="e1")
    frame = result.to_frame()
    assert {"information_parity_model", "information_parity_model_low", "information_parity_model_high"} <= set(frame)
    assert "information_parity_model" in result.summary()
    assert repr(result).startswith("Parity of 2 editions with e1; information parity model from")
