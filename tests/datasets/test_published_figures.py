"""Figures of later papers, and that they are those of the texts they were counted on."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import langdiff as ld
from langdiff.datasets import belebele2024, byte_premium2024, goldfish2024, tokenization_lengths2023, xmi2020
from langdiff.experiments import reproduce


@pytest.mark.parametrize(
    ("function", "shape"),
    [
        (belebele2024, (122, 6)),
        (byte_premium2024, (1318, 13)),
        (goldfish2024, (204, 13)),
        (tokenization_lengths2023, (204, 28)),
        (xmi2020, (20, 8)),
    ],
)
def test_tables_are_whole_and_say_where_they_come_from(function, shape):
    published = function()
    assert published.figures.shape == shape
    assert published.figures.index.is_unique
    assert published.figures.index.notna().all()
    assert published.licence in published.summary()
    assert repr(published).startswith(function.__name__)


def test_answers_to_belebele_against_chance():
    table = belebele2024().figures.drop(columns="goldfish_used")
    assert table.to_numpy().min() > 150
    assert binom.sf(247, 900, 0.25) == pytest.approx(0.0427, abs=5e-5)  # the smallest below .05
    claims = reproduce("belebele2024").claims.set_index("claim")
    assert (claims["agreement"] == "yes").all()
    assert claims.loc["scores above chance at p < .05, of 610", "note"] == "by model 85 101 99 98 103"
    by_rate = "scores above chance at a false discovery rate of .05"
    assert claims.loc[by_rate, "note"] == "by model 79 101 98 96 103"
    none = "arb_latn bod_tibt fuv_latn hau_latn nso_latn nya_latn shn_mymr som_latn yor_latn"
    assert claims.loc["languages in which no model is above chance", "note"] == none


@pytest.mark.real_data
def test_they_are_the_published_files(real_data):
    for function, ending, separator in (
        (byte_premium2024, "tsv", "\t"),
        (goldfish2024, "tsv", "\t"),
        (tokenization_lengths2023, "csv", ","),
        (xmi2020, "csv", ","),
    ):
        name = function.__name__
        file = real_data / "published" / f"{name}.{ending}"
        there = pd.read_csv(file, sep=separator, keep_default_na=False, na_values=[""], index_col=0)
        ours = function().figures
        assert list(ours.index) == list(there.index)
        for column in there.select_dtypes("number"):
            assert np.array_equal(ours[column].to_numpy(), there[column].to_numpy(), equal_nan=True), (name, column)


@pytest.mark.real_data
def test_byte_and_character_models_count_bytes_and_characters(real_data):
    sizes = pd.read_csv(real_data / "flores200" / "sizes.csv", index_col="edition")
    counts = tokenization_lengths2023().figures.loc[sizes.index]
    assert len(sizes) == 164
    assert (counts["ByT5"] - sizes["bytes"] == 2010).all()
    assert (counts["CANINE"] - sizes["characters"] == 2010).all()


@pytest.mark.real_data
def test_byte_premiums_are_those_of_all_sentences(real_data):
    corpus = real_data / "flores200"
    editions = ["eng_Latn", "deu_Latn", "mya_Mymr", "zho_Hant", "fin_Latn", "tha_Thai"]
    texts = ld.read_multitext(corpus, format="moses", nfc=False, editions=editions)
    ours = ld.measure_parity(texts, reference="eng_Latn").estimates["byte_premium"]
    theirs = byte_premium2024().figures["byte_coef_flores_2000lines"].loc[[name.lower() for name in editions]]
    assert np.median(np.abs(ours[editions].to_numpy() - theirs.to_numpy())) < 0.01
