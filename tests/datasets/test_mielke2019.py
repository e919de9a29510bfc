"""The shipped figures are those of the data folder, and fit what the paper says of them."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from langdiff.datasets import mielke2019

RENAMED = {
    "iso639_3": "language",
    "difficulty_bpe": "factor_bpe",
    "difficulty_char": "factor_char",
    "difficulty_bpe_best": "factor_bpe_best",
    "char_tokens": "characters",
    "adl": "dependency_length",
}


@pytest.fixture(scope="module")
def figures():
    return mielke2019()


def test_counts_are_those_of_the_paper(figures):
    assert (len(figures.europarl), len(figures.bibles), figures.bibles["language"].nunique()) == (21, 106, 62)
    assert len(figures.claims) == 76
    families = figures.bibles.drop_duplicates("language")["family"].value_counts()
    # footnote 18
    assert families.to_dict() == {
        "Indo-European": 22,
        **dict.fromkeys(["Niger-Congo", "Mayan", "Austronesian"], 6),
        **dict.fromkeys(["Sino-Tibetan", "Quechuan", "Afro-Asiatic"], 4),
        **dict.fromkeys(["Uralic", "Creole", "Constructed", "Austro-Asiatic"], 2),
        **dict.fromkeys(["Totonacan", "Aymaran"], 1),
    }


def test_factors_average_one_and_difficulties_are_their_logarithms(figures):
    for corpus in ("europarl", "bibles"):
        factors = figures.editions(corpus).filter(like="factor_")
        assert_allclose(factors.mean(), 1, atol=1e-6)
        assert_allclose(np.exp(figures.difficulties(corpus)), factors, rtol=1e-12)
        table = figures.predictors(corpus)
        assert_allclose(table["type_token_ratio"] * table["word_tokens"], table["word_types"])
        assert table.notna().all().all()


def test_language_sets_of_wals(figures):
    counts = {name: figures.wals_features(name).count().to_dict() for name in ("iso_join", "reconstruction")}
    assert counts == {"iso_join": {"26A": 34, "81A": 40}, "reconstruction": {"26A": 30, "81A": 36}}
    without = figures.wals_features("iso_join_without_cmn")
    assert set(figures.wals_features().index) - set(without.index) == {"cmn"}
    assert list(figures.wals_features()["81A"].cat.categories) == ["SOV", "SVO", "VSO", "VOS", "No dominant order"]


@pytest.mark.real_data
def test_figures_are_those_of_the_source(figures, real_data):
    folder = real_data / "mielke2019"
    for name, key in (("europarl", "iso639_1"), ("bibles", "bible")):
        source = pd.read_csv(folder / f"{name}.csv", dtype=str).set_index(key).rename(columns=RENAMED)
        ours = figures.editions(name).drop(columns=["family", "genus"], errors="ignore")
        theirs = source[ours.columns].astype(ours.dtypes.to_dict())
        pd.testing.assert_frame_equal(ours, theirs, check_names=False, check_exact=True)
    claims = pd.read_csv(folder / "published_vs_recomputed.csv", dtype=str)
    for ours, theirs in zip(figures.claims["published"], claims["published"], strict=False):  # theirs may say of what
        assert theirs.startswith(ours)
    assert len(claims) == 62


@pytest.mark.real_data
def test_families_of_europarl_are_those_of_wals(figures, real_data):
    wals = pd.read_csv(real_data / "wals" / "languages.csv").drop_duplicates("ISO639P3code").set_index("ISO639P3code")
    table = figures.europarl.set_index("language")
    known = table.index[table.index.isin(wals.index)]
    assert len(known) >= 20
    assert (table.loc[known, "family"] == wals.loc[known, "Family"]).all()
    assert (table.loc[known, "genus"] == wals.loc[known, "Genus"]).all()
