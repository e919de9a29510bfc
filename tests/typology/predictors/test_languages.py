"""Languages found by codes and names, joined with WALS and Glottolog."""

import os
from pathlib import Path

import pandas as pd
import pytest

import langdiff as ld
from langdiff.errors import ConfigError, DataError
from langdiff.typology.predictors.languages import language_table
from tests.helpers import refused

DATA = Path(os.environ.get("LANGDIFF_DATA", Path(ld.__file__).parents[2] / "shared/data"))
GLOTTOLOG = """Glottocode,Name,Level,ISO639P3code,Family_ID,Language_ID,Macroarea,Latitude,Longitude
indo1319,Indo-European,family,,,,,,
stan1295,German,language,deu,indo1319,,Eurasia,48.6,12.5
colo1234,Colognian,dialect,ksh,indo1319,stan1295,Eurasia,,
norw1259,Norwegian Bokmål,language,nob,indo1319,,Eurasia,61.1,8.9
mand1415,Mandarin Chinese,language,cmn,,,Eurasia,40.0,116.2
"""
WALS = {
    "languages": "ID,Name,ISO639P3code,Glottocode,Family\nger,German,deu,stan1295,Indo-European\n"
    "gbt,German (Berlin),deu,stan1295,Indo-European\nnor,Norwegian,nor,norw1258,Indo-European\n"
    "mnd,Mandarin,cmn,mand1415,Sino-Tibetan\n",
    "parameters": "ID,Name\n26A,Affixes\n81A,Order\n",
    "codes": "ID,Parameter_ID,Name,Number\n26A-1,26A,Suffixes,1\n81A-1,81A,SOV,1\n81A-2,81A,SVO,2\n",
    "values": "Language_ID,Parameter_ID,Code_ID\ngbt,81A,81A-1\nger,81A,81A-2\nger,26A,26A-1\nnor,81A,81A-2\n"
    "mnd,81A,81A-2\n",
}


@pytest.fixture
def folders(tmp_path):
    for name in ("wals", "glottolog"):
        (tmp_path / name).mkdir()
    for name, text in WALS.items():
        (tmp_path / "wals" / f"{name}.csv").write_text(text, encoding="utf-8")
    (tmp_path / "glottolog/languages.csv").write_text(GLOTTOLOG, encoding="utf-8")
    tree = "#NEXUS\nBEGIN TREES;\ntree indo1319 = [&R] (stan1295:1,norw1259:1)indo1319:1;\nEND;\n"
    (tmp_path / "glottolog/classification.nex").write_text(tree, encoding="utf-8")
    return {"wals": tmp_path / "wals", "glottolog": tmp_path / "glottolog"}


@pytest.mark.parametrize(
    ("name", "matched_by", "code"),
    [
        ("stan1295", "glottocode", "deu"),
        ("deu", "iso639_3", "deu"),
        ("zho", "iso639_3", "cmn"),
        ("de", "iso639_1", "deu"),
        ("ger", "iso639_2", "deu"),
        ("gbt", "wals", "deu"),
        ("de-AT", "edition", "deu"),
        ("deu_Latn", "edition", "deu"),
        ("nob.1930", "edition", "nob"),
        ("GERMAN", "name", "deu"),
        ("german (berlin)", "name", "deu"),
    ],
)
def test_a_name_is_tried_as_code_then_edition_then_english_name(folders, name, matched_by, code):
    row = language_table([name], **folders).table.loc[name]
    assert (row["matched_by"], row["iso639_3"]) == (matched_by, code)


def test_families_and_unknown_names_are_listed_with_a_suggestion_each(folders):
    found = language_table(["deu", "indo1319", "Deutsch", "Mandarn"], **folders)
    assert found.unmatched.set_index("name")["suggestion"].to_dict() == {
        "indo1319": "",
        "Deutsch": "German (deu)",
        "Mandarn": "Mandarin Chinese (cmn)",
    }
    assert (
        "Not matched, 3 of 4 names: indo1319; Deutsch: German (deu)?; Mandarn: Mandarin Chinese (cmn)?"
        in found.summary()
    )
    row = found.table.loc["Deutsch"]
    assert (row["name"], row["matched_by"], row["81A"]) == ("", "", None) or pd.isna(row["81A"])
    many = language_table(["deu", *(f"x{n}" for n in range(25))], **folders)
    assert "x19; and 5 more" in many.summary()
    with pytest.raises(DataError, match=r"none of 1 names is a language: 'Deutsch' \(German \(deu\)\?\)"):
        language_table(["Deutsch"], **folders)


def test_of_several_rows_of_wals_the_one_with_most_features_is_taken_and_told(folders):
    both = language_table(["deu"], **folders)
    assert both.table.loc["deu", ["26A", "81A"]].tolist() == ["Suffixes", "SVO"]
    assert both.remarks == ("deu: row ger of WALS, not gbt.",)
    one = language_table(["deu"], **folders, features="81A")  # as many in both rows: the first by code
    assert one.table.loc["deu", "81A"] == "SOV"
    assert one.remarks == ("deu: row gbt of WALS, not ger.",)


def test_a_language_without_a_row_has_that_of_its_group(folders):
    found = language_table(["nob"], **folders)
    assert found.table.loc["nob", ["name", "81A"]].tolist() == ["Norwegian Bokmål", "SVO"]
    assert found.remarks == ("nob: row nor of WALS (the group nor).",)


def test_each_source_is_enough(folders):
    without_wals = language_table(["deu", "ger"], glottolog=folders["glottolog"])
    assert without_wals.table.columns[-1] == "matched_by"
    assert without_wals.table["family"].tolist() == ["Indo-European"] * 2
    without_glottolog = language_table(["de"], wals=folders["wals"], features=["81A"])
    assert without_glottolog.table.loc["de", ["family", "81A"]].tolist() == ["Indo-European", "SOV"]
    refused(ConfigError, "nothing to look names up in", language_table, ["deu"])
    with pytest.raises(ConfigError, match="features are of WALS"):
        language_table(["deu"], glottolog=folders["glottolog"], features="83A")
    refused(ConfigError, "no feature '81B'", language_table, ["deu"], **folders, features="81B")


def test_correlate_joins_editions_by_their_languages_and_leaves_codes_untested(folders):
    names = ["deu-a", "deu-b", "nob", "zho", "x"]
    table = language_table(names, **folders, features=()).to_frame()
    table["number"] = [1.0, 3.0, 5.0, 2.0, 4.0]
    difficulties = pd.DataFrame({"lm": [0.1, 0.3, 0.4, -0.1, 0.0]}, index=names)
    result = ld.correlate(difficulties, table, tests="pearson")
    assert result.to_frame()["predictor"].tolist() == ["number"]
    expected = pd.Series([0.2, 0.4, -0.1, 0.0]).corr(pd.Series([2.0, 5.0, 2.0, 4.0]))
    assert result.to_frame()["estimate"].item() == pytest.approx(expected, abs=1e-12)


@pytest.mark.skipif(not (DATA / "mielke2019").exists(), reason="needs the data folder named by LANGDIFF_DATA")
@pytest.mark.parametrize(
    ("feature", "n", "df", "figures"),  # F, degrees of freedom of the residuals and p by language model
    [
        ("81A", 40, 4, {"bpe": (0.904645, 31.681, 0.473037), "char": (1.005434, 31.380, 0.419482)}),
        ("26A", 30, 1, {"bpe": (3.116791, 22.200, 0.091242), "char": (1.536878, 28, 0.225373)}),
    ],
)
def test_word_order_and_affixes_of_published_difficulties(feature, n, df, figures):
    """Figures of R 4.2 (nlme, ape), with p by our own denominator; difficulties of Mielke et al. (2019)."""
    rows = pd.read_csv(DATA / "mielke2019/wals_categories.csv", keep_default_na=False)
    rows = rows[(rows["feature"] == feature) & (rows["in_iso_join"] == 1)].set_index("iso639_3")
    found = language_table(rows.index, wals=DATA / "wals", glottolog=DATA / "glottolog", features=feature)
    assert (found.table[feature].astype(str) == rows["value_name"]).all()
    y = pd.DataFrame({name: rows[f"mean_log_difficulty_{name}"].astype(float) for name in figures})
    tested = (
        ld.correlate(y, found.to_frame(), tests="phylo", tree=DATA / "glottolog").to_frame().set_index("language_model")
    )
    for name, (statistic, df_residual, p) in figures.items():
        result = tested.loc[name]
        assert (result["n"], result["df"]) == (n, df)
        assert result["estimate"] == pytest.approx(statistic, abs=2e-5)
        assert result["df_residual"] == pytest.approx(df_residual, abs=2e-2)
        assert result["p"] == pytest.approx(p, abs=2e-5)


@pytest.mark.skipif(not (DATA / "wals").is_dir(), reason="needs WALS in the data folder")
def test_codes_of_iso_are_no_codes_of_wals_and_groups_are_found():
    found = language_table(["nob", "lat", "ell", "ger"], wals=DATA / "wals", features="81A")
    assert found.table["matched_by"].to_dict() == {"nob": "group", "lat": "", "ell": "iso639_3", "ger": "iso639_2"}
    assert found.table.loc["ell", ["glottocode", "81A"]].tolist() == ["mode1248", "No dominant order"]
    assert found.table.at["nob", "name"] == "Norwegian"  # not Nobiin, whose code in WALS is nob
