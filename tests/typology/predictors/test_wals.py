import gzip
import shutil

import pandas as pd
import pytest

from langdiff.errors import ConfigError, DataError
from langdiff.typology import read_wals
from tests.helpers import refused

LANGUAGES = """ID,Name,ISO639P3code,Family,ISO_codes,Samples_100,Samples_200
ger,German,deu,Indo-European,deu,true,true
gbl,German (Berlin),deu,Indo-European,deu,false,false
kol,Kölsch,deu,Indo-European,deu,false,true
fin,Finnish,fin,Uralic,fin,false,true
srb,Sorbian,,Indo-European,dsb hsb,false,false
uso,Upper Sorbian,hsb,Indo-European,hsb,false,false
scr,Serbian-Croatian,hbs,Indo-European,hbs,false,false
mute,Never Coded,aaa,,aaa,false,false
"""
PARAMETERS = (
    'ID,Name\n26A,Prefixing vs. Suffixing in Inflectional Morphology\n81A,"Order of Subject, Object and Verb"\n'
)
CODES = """ID,Parameter_ID,Name,Number
26A-1,26A,Little affixation,1
26A-2,26A,Strongly suffixing,2
81A-1,81A,SOV,1
81A-2,81A,SVO,2
81A-7,81A,No dominant order,7
"""
VALUES = """ID,Language_ID,Parameter_ID,Value,Code_ID
1,gbl,81A,2,81A-2
2,ger,81A,7,81A-7
3,kol,81A,7,81A-7
4,fin,81A,2,81A-2
5,srb,81A,1,81A-1
6,uso,81A,2,81A-2
7,gbl,26A,1,26A-1
8,kol,26A,2,26A-2
9,scr,26A,2,26A-2
"""
TABLES = {"languages": LANGUAGES, "parameters": PARAMETERS, "codes": CODES, "values": VALUES}


@pytest.fixture
def folder(tmp_path):
    for name, text in TABLES.items():
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    return tmp_path


def test_joins_by_code_and_keeps_the_order_of_categories(folder):
    wals = read_wals(folder)
    assert repr(wals) == "Wals: 2 features of 7 languages, 9 values"  # one has no value
    orders = wals.feature("81A", ["fin", "deu", "xxx", "fin"])
    assert orders["value"].astype(str).to_dict() == {"fin": "SVO", "deu": "No dominant order"}
    assert list(orders["value"].cat.categories) == ["SOV", "SVO", "No dominant order"]


def test_of_several_varieties_the_one_in_the_samples_is_taken_and_others_reported(folder):
    wals = read_wals(folder)
    german = wals.feature("81A", ["deu"]).loc["deu"]
    assert (german["wals"], german["name"]) == ("ger", "German")
    assert german["differing"] == "German (Berlin): SVO"  # Kölsch agrees
    suffixes = wals.feature("26A", ["deu"]).loc["deu"]  # German itself has no value
    assert (suffixes["wals"], suffixes["value"], suffixes["differing"]) == (
        "kol",
        "Strongly suffixing",
        "German (Berlin): Little affixation",
    )


def test_without_samples_the_best_coded_variety_is_taken(folder):
    (folder / "languages.csv").write_text(LANGUAGES.replace("true", "false"), encoding="utf-8")
    assert read_wals(folder).feature("81A", ["deu"]).loc["deu", "wals"] == "gbl"  # two features coded, as Kölsch; first


def test_a_code_of_its_own_goes_before_one_of_several(folder):
    orders = read_wals(folder).feature("81A", ["dsb", "hsb"])
    assert orders["wals"].to_dict() == {"dsb": "srb", "hsb": "uso"}


def test_codes_can_be_looked_up_as_others(folder):
    assert len(read_wals(folder).feature("26A", ["hrv"])) == 0
    with pytest.raises(ConfigError, match=r"no language of WALS has the ISO 639-3 code that 'deu = ger' would"):
        read_wals(folder, same_as={"hrv": "hbs", "deu": "ger"})  # WALS's own code
    croatian = read_wals(folder, same_as={"hrv": "hbs"}).feature("26A", ["hrv"])
    assert croatian.loc["hrv", "name"] == "Serbian-Croatian"


@pytest.mark.parametrize(
    ("feature", "message"),
    [
        ("26B", r"no feature '26B'. The most similar: 26A \(Prefixing vs. Suffixing"),
        ("81a", r"The most similar: 81A \(Order of"),
        ("suffixing", r"The most similar: 26A"),
        ("", r"no feature ''. All are in parameters.csv"),
    ],
)
def test_unknown_features_bring_similar_ones_to_mind(folder, feature, message):
    refused(ConfigError, message, read_wals(folder).feature, feature, ["deu"])


def test_finds_tables_packed_and_below_cldf(folder, tmp_path):
    below = tmp_path / "wals-2020.4" / "cldf"
    below.mkdir(parents=True)
    for name in TABLES:
        shutil.move(folder / f"{name}.csv", below / f"{name}.csv")
    (below / "values.csv.gz").write_bytes(gzip.compress((below / "values.csv").read_bytes()))
    (below / "values.csv").unlink()
    assert len(read_wals(tmp_path / "wals-2020.4").values) == 9


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("codes", None, r"holds no codes.csv \(nor .gz\)"),
        ("languages", LANGUAGES.replace("ISO639P3code", "iso"), r"languages.csv: lacks column.s. 'ISO639P3code'"),
        ("values", VALUES + "10,nop,81A,1,81A-1\n", r"Language_ID of 1 value.s. is not in languages.csv: 'nop'"),
        ("values", VALUES + "10,fin,99Z,1,81A-1\n", r"Parameter_ID of 1 value.s. is not in parameters.csv: '99Z'"),
        ("values", VALUES + "10,fin,26A,1,\n", r"Code_ID of 1 value.s. is not in codes.csv: ''"),
        ("codes", CODES.replace(",SOV,1", ",SOV,one"), r"codes.csv gives no whole Number to 1 code.s.: '81A-1'"),
        ("values", "", r"values.csv: cannot be read as a table"),
        ("values", VALUES + "a,b,c,d,e,f,g\n", r"values.csv: cannot be read as a table"),
    ],
)
def test_broken_tables(folder, name, text, message):
    path = folder / f"{name}.csv"
    if text is None:
        path.unlink()
    else:
        path.write_text(text, encoding="utf-8")
    refused(DataError, message, read_wals, folder)


def test_files_that_are_no_text(folder):
    (folder / "codes.csv").write_bytes(b"ID,Name\n\xff\xfe,x\n")
    refused(DataError, r"codes.csv: cannot be read", read_wals, folder)
    (folder / "codes.csv").unlink()
    (folder / "codes.csv.gz").write_bytes(gzip.compress(CODES.encode())[:-12])
    refused(DataError, r"codes.csv.gz: cannot be read", read_wals, folder)


def test_places(folder):
    table = pd.read_csv(folder / "languages.csv", dtype=str, keep_default_na=False)
    table["Latitude"], table["Longitude"] = ["52", "52.5", "51", "62", "51.8", "51.3", "44.5", ""], "10"
    table["Glottocode"], table["Macroarea"] = "code" + table["ID"], "Eurasia"
    table.to_csv(folder / "languages.csv", index=False)
    places = read_wals(folder, same_as={"hrv": "hbs"}).places(["hrv", "deu", "xxx", "hsb"])
    assert places["latitude"].to_dict() == {"hrv": 44.5, "deu": 52.0, "hsb": 51.3}
    assert places.loc["deu", ["glottocode", "macroarea", "wals"]].tolist() == ["codeger", "Eurasia", "ger"]


def test_places_may_be_unknown(folder):
    places = read_wals(folder).places(["fin"])
    assert places["latitude"].isna().all()
    assert places["macroarea"].tolist() == [""]


@pytest.fixture(scope="module")
def atlas(real_data):
    return read_wals(real_data / "wals")


@pytest.mark.real_data
def test_real_categories_have_their_published_sizes(atlas):
    rows = atlas.values[atlas.values["feature"] == "81A"]
    assert rows["label"].value_counts()[["SOV", "SVO", "VSO", "VOS"]].tolist() == [564, 488, 95, 25]
    assert len(atlas.values) == 76_475


@pytest.mark.real_data
def test_real_bibles_join_as_published(atlas, real_data):
    published = pd.read_csv(real_data / "mielke2019" / "wals_categories.csv")
    for feature, rows in published[published["in_iso_join"] == 1].groupby("feature"):
        table = atlas.feature(feature, rows["iso639_3"])
        assert table["value"].astype(str).tolist() == rows["value_name"].tolist()
        # Welsh is in the atlas twice, and has the same order both times
        assert (table["wals"].to_numpy() != rows["wals_id"].to_numpy()).sum() == (1 if feature == "81A" else 0)


@pytest.mark.real_data
def test_real_albanian_is_a_macrolanguage(real_data):
    wals = read_wals(real_data / "wals", same_as={"aln": "sqi"})
    assert wals.feature("26A", ["aln", "sqi"])["name"].tolist() == ["Albanian", "Albanian"]


@pytest.mark.real_data
def test_real_places(atlas):
    places = atlas.places(["deu", "jpn", "eng"])
    assert places["glottocode"].tolist() == ["stan1295", "nucl1643", "stan1293"]
    assert places["macroarea"].tolist() == ["Eurasia"] * 3
    assert places.loc["jpn", ["latitude", "longitude"]].tolist() == [37.0, 140.0]
