"""The Edition Atlas: what it holds, its marks, and what the page about it says."""

import numpy as np
import pandas as pd
import pytest

import langdiff as ld
from langdiff.corpora import edition_marks, same_as
from langdiff.corpora.edition_info import representative
from langdiff.datasets import edition_atlas
from langdiff.errors import ConfigError, DataError
from langdiff.tables.edition_info import spread_notes
from tests.helpers import refused


@pytest.fixture(scope="module")
def atlas():
    return edition_atlas()


@pytest.fixture(scope="module")
def three(atlas):
    """Return 6-grams of the 27 languages that New Testaments, NTREX and FLORES-200 have."""
    whole = atlas.sel(lm="kneser-ney-6", size="1300").editions
    corpora = whole.groupby("glottocode")["corpus"].nunique()
    return atlas.sel(whole.index[whole["glottocode"].map(corpora) == 3], lm="kneser-ney-6", size="1300")


def test_the_atlas_is_whole_and_small(atlas):
    nt = atlas.sel(corpus="nt", lm="kneser-ney-6", size="325")
    assert next(iter(nt.values())).bits.notna().all(axis=None)
    assert (len(nt.editions), nt.editions["glottocode"].nunique()) == (165, 43)
    assert nt.editions.query("language == 'eng' and representative == 'True'").index.tolist() == ["nt:eng-asv"]
    assert atlas["pud/kneser-ney-6/650"].intent_info["original"].value_counts(normalize=True)["en"] > 0.7
    refused(ConfigError, "no facet 'learner'", atlas.sel, learner="x")
    refused(ConfigError, "no edition 'eng'", atlas.sel, ["eng"])
    refused(ConfigError, "no table has", atlas.sel, lm="xglm-7.5b", corpus="nt")


@pytest.mark.parametrize(
    ("marked", "genre", "shares"),
    [
        (False, None, {"language": 0.51, "language:corpus": 0.21, "edition": 0.29}),
        (True, None, {"language": 0.39, "language:corpus": 0.07, "edition": 0.54}),
        (
            False,
            ["nt", "news", "news"],
            {"language": 0.43, "language:genre": 0.32, "language:corpus": 0, "edition": 0.25},
        ),
    ],
)
def test_shares_are_those_of_the_page(three, marked, genre, shares):
    kept = three.editions.index[(three.editions["marked"] == "") | marked]
    assert len(kept) == (179 if marked else 161)
    some = three.sel(kept)
    order = sorted(some.facets.index, key=lambda name: not name.startswith("nt"))
    facets = some.facets if genre is None else some.facets.loc[order].assign(genre=genre)
    found = ld.difficulty_shares(some, facets=facets)
    for component, share in shares.items():
        assert found.frame["share"][component] == pytest.approx(share, abs=0.05)


def test_shares_of_published_totals(atlas):
    goldfish = atlas.sel(lm="goldfish")
    own = {"facets": goldfish.facets, "edition_info": goldfish.editions}
    assert ld.difficulty_shares(goldfish).frame["share"].iloc[1] == pytest.approx(0.28, abs=0.01)
    two = {name: goldfish[name] for name in ("flores200/goldfish//5", "flores200/goldfish//1000")}
    assert ld.difficulty_shares(two, **own).frame["share"].iloc[1] == pytest.approx(0.54, abs=0.01)
    xglm = next(iter(atlas.sel(lm="xglm-7.5b").values()))
    tables = {"one": goldfish["flores200/goldfish//1000"][xglm.index], "two": xglm}
    facets = pd.DataFrame({"corpus": "flores200", "lm": list(tables)}, index=list(tables))
    found = ld.difficulty_shares(tables, facets=facets, edition_info=atlas.editions)
    assert found.frame["share"].iloc[1] == pytest.approx(0.43, abs=0.01)


@pytest.mark.parametrize(
    ("percent", "ratio", "larger"), [(2, 0.37, 0.60), (4, 0.74, 0.45), (6, 1.1, 0.31), (10, 1.79, 0.1)]
)
def test_spread_of_editions(percent, ratio, larger):
    row = ld.edition_spread(percent).to_frame().iloc[0]
    assert row[["of_typical", "share_larger"]].tolist() == pytest.approx([ratio, larger], abs=0.02)


def test_copies_and_editions_without_language_are_refused(three):
    table = three["ntrex/kneser-ney-6/1300"]
    twice = ld.Surprisals(bits=table.bits.assign(copy=table.bits["ntrex:deu"]), lm=table.lm)
    info = three.editions.copy()
    info.loc["copy"] = info.loc["ntrex:deu"]
    tables = {**three, "ntrex/kneser-ney-6/1300": twice}
    with pytest.raises(DataError, match="copy has the bits of ntrex:deu"):
        ld.difficulty_shares(tables, facets=three.facets, edition_info=info)
    info = three.editions.assign(
        glottocode=three.editions["glottocode"].where(three.editions.index != "nt:eng-asv", "")
    )
    with pytest.raises(ConfigError, match="languages lack 1 edition"):
        ld.difficulty_shares(dict(three), facets=three.facets, edition_info=info)
    for function in (same_as, edition_marks):
        with pytest.raises(DataError):
            function(table.bits)


def test_spread_of_all_editions_and_what_cannot_be():
    both = [ld.edition_spread(), ld.edition_spread(marked=True)]
    assert [each.sd for each in both] == pytest.approx([0.0376, 0.0604], abs=2e-4)
    assert [each.editions["language"].nunique() for each in both] == [33, 34]
    assert ld.edition_spread().share_larger(-4) > ld.edition_spread().share_larger(4.2)
    for wrong in ({"corpus": "ntrex"}, {"percent": -100}, {"percent": "4"}, {"percent": float("nan")}):
        with pytest.raises(ConfigError):
            ld.edition_spread(**wrong)


def test_a_users_table_is_set_beside_editions():
    difficulty = pd.Series({"eng-a": 0.0, "eng-b": 0.5, "fra": np.log(1.04), "klingon": np.log(1.04)})
    largest, median = spread_notes(difficulty)
    assert largest.startswith("Largest difference of two languages: 59 % is 8.7 times")  # not that of eng-a and eng-b
    assert median.startswith("Median difference: 4 % is .7 of it; 45 % of such pairs")
    assert spread_notes(difficulty[:2]) == []
    assert spread_notes(difficulty[1:3], pd.DataFrame({"language": ["x", "x"]}, index=["eng-b", "fra"])) == []
    fit = ld.fit(ld.simulate(100, 4, seed=1).surprisals)
    assert "two translations of one book" in fit.summary()
    assert "two translations of one book" in ld.table(fit).text(200)
    assert "two translations of one book" not in ld.table(fit, note_editions=False).text(200)


MADE = {"one": "abc def ghi", "two": "abd def ghj", "three": "abc deg ghk"}


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("abc def gh", ""),
        ("абв где жзи", "script"),
        ("a\u0301\u0323bc def g", "pointed"),
        ("abc [def] ghi", "brackets length"),
        ("abc def 23i", "digits"),
        ("abc", "length"),
    ],
)
def test_marks(text, marked):
    texts = ld.read_frame(pd.DataFrame({**MADE, "other": text}, index=["1", "2"]))
    found = edition_marks(texts, languages=dict.fromkeys([*MADE, "other"], "x"))["marked"]
    assert found.to_dict() == {**dict.fromkeys(MADE, ""), "other": marked}


def test_marks_of_chinese_and_of_editions_without_language():
    texts = ld.read_frame(
        pd.DataFrame({"zho-a": ["起初神创造天地"], "zho-b": ["起初神創造天地"], "zho-c": ["太初神創造天地"]})
    )
    found = edition_marks(texts)
    assert found["script"].tolist() == ["Hans", "Hant", "Hant"]
    assert found["marked"].tolist() == ["", "script", "script"]
    refused(DataError, "language of 1 edition", edition_marks, texts, languages={"zho-a": "zho", "zho-b": "zho"})


@pytest.mark.filterwarnings("ignore::langdiff.errors.LangdiffWarning")  # rare characters
def test_copies_are_found_and_others_are_not(real_data):
    codes = ["spa", "spa_ref2", "spa-MX", "eng", "eng-GB", "deu", "fin", "hun", "zho-CN", "zho-TW"]
    texts = ld.read_multitext([real_data / "ntrex" / f"{code}.txt.gz" for code in codes], format="moses")
    parts = ld.split(texts.sel(intents=texts.intents[:400]))
    table = ld.compute_surprisals(parts, lm="kneser-ney-3", max_replaced=1.0)
    assert same_as(table).to_dict() == {"spa_ref2": "spa", "eng-GB": "eng"}  # a light revision; not that of Mexico
    two = ld.Surprisals(bits=table.bits[["spa"]].assign(again=2 * table.bits["spa"]), lm="x")
    assert same_as(two).to_dict() == {"again": "spa"}
    languages = {code: code[:3] for code in codes}
    marked = edition_marks(parts.test, languages=languages)["marked"]
    assert marked[marked != ""].to_dict() == {"zho-TW": "script"}


def test_representatives():
    info = pd.DataFrame(
        {
            "language": ["a", "a", "a", "a", "b", "b", "c"],
            "year": ["1611", "1899, 1950", "not known", "1900", "", "unknown", "1900"],
            "marked": ["", "", "", "script", "", "", "length"],
            "verses": [100, 96, 100, 100, 100, 94, 100],
            "text": "yes",
        },
        index=list("pqrstuv"),
    )
    assert representative(info).loc[lambda chosen: chosen].index.tolist() == ["q", "t"]
    assert representative(info.assign(text=["yes", "no", *["yes"] * 5])).idxmax() == "p"
    refused(DataError, "no columns language and year", representative, info[["marked"]])
