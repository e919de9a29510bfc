"""Glottolog: joins by code, dialects, isolates, groups that are not families; distances on the sphere."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from langdiff.errors import ConfigError, DataError
from langdiff.typology import read_glottolog
from langdiff.typology.association.relatives import EARTH, RANGES, exponential_kernel, great_circle
from tests.helpers import refused

LANGUAGES = """Glottocode,Name,Level,ISO639P3code,Family_ID,Language_ID,Macroarea,Latitude,Longitude
indo1319,Indo-European,family,,,,,,
sout1528,South Slavic,language,hbs,indo1319,,Eurasia,44.0,17.0
croa1245,Croatian Standard,dialect,hrv,indo1319,sout1528,Eurasia,45.5,16.0
serb1264,Serbian Standard,dialect,srp,indo1319,sout1528,Eurasia,44.3,21.9
slav1255,Slavic,family,,indo1319,,,,
poli1260,Polish,language,pol,indo1319,,Eurasia,52.0,19.0
mand1415,Mandarin,language,cmn,sino1245,,Eurasia,40.0,116.2
sino1245,Sino-Tibetan,family,,,,,,
tibe1272,Tibetan,language,bod,sino1245,,Eurasia,28.4,90.2
basq1248,Basque,language,eus,,,Eurasia,43.3,-1.3
arti1236,Artificial Language,family,,,,,,
espe1235,Esperanto,language,epo,arti1236,,Eurasia,,
klin1234,Klingon,language,tlh,arti1236,,,,
"""
TREES = """#NEXUS
BEGIN TREES;
    tree indo1319 = [&R] ((sout1528:1)slav1255:1,poli1260:1)indo1319:1;
    tree sino1245 = [&R] (mand1415:1,tibe1272:1)sino1245:1;
    tree arti1236 = [&R] (espe1235:1,klin1234:1)arti1236:1;
END;
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "languages.csv").write_text(LANGUAGES, encoding="utf-8")
    (tmp_path / "classification.nex").write_text(TREES, encoding="utf-8")
    return tmp_path


def test_joins_by_code_glottocode_macrolanguage_and_what_the_user_says(folder):
    glottolog = read_glottolog(folder, same_as={"my-polish": "pol"})
    found = glottolog.find(["hrv", "poli1260", "zho", "my-polish", "xxx", "hrv"])
    assert found == {"hrv": "croa1245", "poli1260": "poli1260", "zho": "mand1415", "my-polish": "poli1260"}
    assert repr(glottolog) == "Glottolog: 7 languages, 3 family trees"
    with pytest.raises(ConfigError, match=r"Glottolog has no language of the code that 'x = polish' would be looked"):
        read_glottolog(folder, same_as={"x": "polish", "y": "pol"})


def test_dialects_are_at_their_language_isolates_and_artificial_languages_unrelated(folder):
    found = read_glottolog(folder).covariance(["hrv", "eus", "srp", "pol", "epo", "tlh", "none"])
    together = 1 / np.sqrt(3 * 2)  # one branch of three and two
    assert_allclose(
        found,
        [
            [1, 0, 1, together, 0, 0],
            [0, 1, 0, 0, 0, 0],
            [1, 0, 1, together, 0, 0],
            [together, 0, together, 1, 0, 0],
            [0, 0, 0, 0, 1, 0],
            [0, 0, 0, 0, 0, 1],
        ],
    )
    assert list(found) == ["hrv", "eus", "srp", "pol", "epo", "tlh"]
    assert read_glottolog(folder).covariance(["eus"]).to_numpy() == 1
    assert read_glottolog(folder).covariance(["none"]).empty


def test_places(folder):
    places = read_glottolog(folder).places(["hrv", "eus", "epo", "xxx"])
    assert places["family"].to_dict() == {"hrv": "Indo-European", "eus": "Basque", "epo": "Esperanto"}
    assert places.loc["hrv", ["glottocode", "latitude", "macroarea"]].tolist() == ["croa1245", 45.5, "Eurasia"]
    assert np.isnan(places.loc["epo", "latitude"])


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("languages.csv", "Macroarea", "Area", r"languages.csv: lacks column\(s\) 'Macroarea'"),
        ("languages.csv", ",pol,", ",hrv,", r"languages.csv: code occurs in several rows: 'hrv'"),
        ("languages.csv", "poli1260", "basq1248", r"glottocode occurs in several rows: 'basq1248'"),
        ("languages.csv", "52.0", "152.0", r"latitude of 'poli1260' is not a number from -90 to 90"),
        ("languages.csv", "16.0", "east", r"longitude of 'croa1245' is not a number"),
        ("classification.nex", "tibe1272:", "tibe:", r"1 node\(s\) of classification.nex are not in languages.csv"),
        ("classification.nex", ")sino1245", ")(sino1245", r"classification.nex, tree that begins in line 4"),
    ],
)
def test_broken_files(folder, name, old, new, message):
    path = folder / name
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    refused(DataError, message, read_glottolog, folder)


def test_missing_files(folder):
    (folder / "classification.nex").unlink()
    refused(DataError, r"holds no classification.nex \(nor .gz\)", read_glottolog, folder)


def test_distances():
    # London, Paris, and the antipodes of London: 344 km apart by any atlas
    km = great_circle(np.array([51.507, 48.857, -51.507]), np.array([-0.128, 2.352, 179.872]))
    assert_allclose(km[0, 1], 344, atol=1)
    assert_allclose(km[0, 2], np.pi * EARTH, rtol=1e-9)
    assert_allclose(km, km.T)


def test_the_kernel_is_a_covariance_at_every_range():
    rng = np.random.default_rng(0)
    latitude, longitude = np.degrees(np.arcsin(rng.uniform(-1, 1, 150))), rng.uniform(-180, 180, 150)
    km = great_circle(latitude, longitude)
    for range_km in RANGES:
        kernel = exponential_kernel(km, range_km)
        assert_allclose(np.diag(kernel), 1)
        assert np.linalg.eigvalsh(kernel).min() > 0


@pytest.mark.real_data
def test_the_real_classification(real_data):
    glottolog = read_glottolog(real_data / "glottolog")
    assert repr(glottolog) == "Glottolog: 8,605 languages, 247 family trees"
    codes = ["deu", "nld", "fra", "fin", "ekk", "eus", "epo", "zho", "hrv", "srp"]
    found = glottolog.covariance(codes)
    assert list(found) == codes
    assert found.loc["deu", "nld"] > found.loc["deu", "fra"] > 0 == found.loc["deu", "fin"]
    assert found.loc["hrv", "srp"] == 1
    assert (found.loc["eus"].drop("eus") == 0).all()
    assert np.linalg.eigvalsh(found.drop("srp").drop(columns="srp")).min() > 0
