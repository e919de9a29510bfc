import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal, assert_series_equal

import langdiff as ld
from langdiff.corpora import read_multitext
from langdiff.errors import CheckpointError, DataError, LangdiffWarning
from langdiff.lm import KneserNeyRecipe, compute_surprisals, lzma_bits, score_multitext, train_kneser_ney
from langdiff.lm.ngram.kneser_ney import KneserNey
from langdiff.lm.ngram.recipe import KneserNeyModel
from langdiff.lm.units.alphabet import Alphabet
from langdiff.lm.units.characters import CharacterUnits
from tests.helpers import refused
from tests.lm.conftest import make_parts, read_job_states, verses

RECIPE = KneserNeyRecipe(name="test-ngrams", order=4, min_count=2)


@pytest.fixture
def ngrams():
    return train_kneser_ney(verses("eng", 200, 0), verses("eng", 40, 1), recipe=RECIPE, name="eng-test")


@pytest.fixture
def countings(monkeypatch):
    """List the editions whose grams are counted in this process."""
    counted = []
    fit = KneserNeyRecipe.fit

    def spy(recipe, train, dev, plan):
        counted.append(plan.name)
        return fit(recipe, train, dev, plan)

    monkeypatch.setattr(KneserNeyRecipe, "fit", spy)
    return counted


def test_surprisal_is_that_of_the_string_over_the_alphabet(ngrams):
    texts = pd.Series(["the cat sat", "a\tdog Ω ran"], index=["x", "y"])
    table = ngrams.surprisal(texts, scoring="unpriced")
    alphabet = Alphabet.from_texts(verses("eng", 200, 0), min_count=2)
    units = CharacterUnits(alphabet)
    kernel = KneserNey.fit([units.encode(text) for text in verses("eng", 200, 0)], units.size + 1, order=4)
    bits, eos_bits = kernel.score([units.encode("the cat sat"), units.encode("a dog ◊ ran")])
    sizes = {"characters": [11, 11], "bytes": [11, 12], "units": [11, 11], "replaced": [0, 1]}  # Ω has two bytes
    expected = pd.DataFrame({"bits": bits, "eos_bits": eos_bits, **sizes}, index=["x", "y"])
    assert_frame_equal(table, expected, check_exact=True)
    dev = ngrams.surprisal(verses("eng", 40, 1), scoring="unpriced")
    assert ngrams.dev_bits_per_character == dev["bits"].sum() / dev["characters"].sum()


def test_rarity_follows_the_text():
    text = [*verses("eng", 300, 0), "the cat ξ sat on a mat ξ"]
    characters = sum(map(len, text))
    for rare, kept in ((characters // 1000 - 3, False), (characters // 1000 + 3, True)):
        model = train_kneser_ney([*text, "ξ" * rare], text[:9], recipe=KneserNeyRecipe(order=2))
        assert ("ξ" in model.alphabet.characters) == kept
    assert "ξ" in train_kneser_ney(text, text[:9], recipe=KneserNeyRecipe(order=2, min_count=2)).alphabet.characters


def test_saved_and_loaded(ngrams, tmp_path):
    ngrams.save(tmp_path)
    again = ld.read(tmp_path)
    texts = [*verses("eng", 30, 2), "Ω zebra"]
    assert_frame_equal(again.surprisal(texts), ngrams.surprisal(texts), check_exact=True)
    for field in ("recipe", "alphabet", "dev_bits_per_character", "name", "out_of_alphabet", "cautions"):
        assert getattr(again, field) == getattr(ngrams, field)
    assert repr(again) == repr(ngrams)
    assert repr(ngrams).startswith("KneserNeyModel test-ngrams of eng-test: ")


def test_damaged_or_another_kind_of_model(ngrams, model, tmp_path):
    ngrams.save(tmp_path / "ngrams")
    model.save(tmp_path / "lstm")
    with pytest.raises(DataError, match="lstm: not a saved KneserNeyModel; it holds a LanguageModel"):
        ld.read(tmp_path / "lstm", KneserNeyModel)
    (weights,) = (tmp_path / "ngrams").glob("*.safetensors")
    weights.write_bytes(weights.read_bytes()[:-1])
    refused(CheckpointError, "truncated", ld.read, tmp_path / "ngrams")


@pytest.mark.parametrize(
    ("train", "dev", "message"),
    [
        ([], ["a"], r"training part: 0 character"),
        (["aaa"] * 9, ["a"], r"1 character\(s\) occur 25 times"),
        (["ab"] * 30, [], "dev part: no text"),
        (["ab", " "], ["a"], "training part: intent 1 is empty"),
        (["ab"] * 30, ["a", None], "dev part: intent 1 is None"),
    ],
)
def test_too_little_text(train, dev, message):
    refused(DataError, message, train_kneser_ney, train, dev)
    refused(DataError, f"^edition 'eng': .*{message}", train_kneser_ney, train, dev, name="eng")


def test_a_threshold_that_is_given_is_kept_to():
    with pytest.raises(DataError, match=r"0 character\(s\) occur 25 times"):
        train_kneser_ney(["abc"] * 9, ["a"], recipe=KneserNeyRecipe(min_count=25))
    assert train_kneser_ney(["abc"] * 9, ["a"]).alphabet.characters == "abc"


def test_rare_characters_are_a_warning():
    with pytest.warns(LangdiffWarning, match=r"edition 'eng': many characters .*\(dev 20\.00%\)"):
        model = train_kneser_ney(["abab"] * 30, ["ababΩ"], name="eng")
    assert len(model.cautions) == 1
    with pytest.warns(LangdiffWarning, match="^many characters"):
        train_kneser_ney(["abab"] * 30, ["Ω"])


def test_surprisals_of_every_edition_are_kept_in_the_cache(tmp_path, countings):
    parts = make_parts(missing=[("ell", "test3")])
    first = compute_surprisals(parts, lm=RECIPE, cache=tmp_path, progress=False)
    assert countings == ["eng", "ell"]
    assert first.lm == "test-ngrams"
    assert [(e, i) for i, e in first.bits.isna().stack()[lambda s: s].index] == [("ell", "test3")]
    model = train_kneser_ney(parts.train.text("ell"), parts.dev.text("ell"), recipe=RECIPE)
    expected = model.surprisal(parts.test.text("ell")).reindex(parts.test.intents)
    for field in ("bits", "eos_bits", "characters"):
        assert_series_equal(
            getattr(first, field)["ell"], expected[field].astype(float), check_names=False, check_exact=True
        )
    for again in (
        compute_surprisals(parts, lm=RECIPE, cache=tmp_path, progress=False),
        score_multitext(parts.test, tmp_path, lm=RECIPE, progress=False),
    ):
        assert_frame_equal(again.bits, first.bits, check_exact=True)
    assert countings == ["eng", "ell"]
    states = read_job_states(tmp_path).set_index("edition")
    assert states[["lm", "state", "epochs"]].to_numpy().tolist() == [["test-ngrams", "done", 1]] * 2
    assert states.loc["ell", "dev_bits_per_character"] == model.dev_bits_per_character
    compute_surprisals(parts, lm=replace(RECIPE, order=3), cache=tmp_path, progress=False)
    assert countings == ["eng", "ell"] * 2
    assert_frame_equal(score_multitext(parts.test, tmp_path, lm=RECIPE, progress=False).bits, first.bits)


def test_another_way_of_scoring_counts_nothing_again(tmp_path, countings):
    parts = make_parts()
    options = {"lm": replace(RECIPE, min_count=60), "cache": tmp_path, "max_replaced": 1, "progress": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LangdiffWarning)  # many rare characters, as is wanted here
        priced = compute_surprisals(parts, **options)
        free = compute_surprisals(parts, scoring="unpriced", **options)
    assert countings == ["eng", "ell"]
    assert (priced.lm, free.lm) == ("test-ngrams", "test-ngrams-unpriced")
    some = priced.replaced > 0
    assert some.to_numpy().any()
    assert (priced.bits[some] > free.bits[some] + 1)[some].stack().all()
    assert_frame_equal(priced.bits[~some], free.bits[~some], check_exact=True)


@pytest.mark.real_data
def test_on_a_new_testament_it_lies_where_6_grams_lie(real_data):
    multitext = read_multitext(
        real_data / "bible", format="pbc", edition_info=real_data / "bible/metadata.csv", editions=["eng-web"]
    )
    texts = multitext.text("eng-web").loc["40001001":]
    train, test = texts[np.arange(len(texts)) % 6 > 0], texts[::6]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LangdiffWarning)
        model = train_kneser_ney(train, test)
    by_lzma = lzma_bits(*([model.alphabet.apply(text) for text in part] for part in (train, test)))
    bits_per_character = model.dev_bits_per_character
    assert 1.4 < bits_per_character < 1.9
    assert bits_per_character < by_lzma / test.str.len().sum()
