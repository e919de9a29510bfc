import sys

import numpy as np
import pytest

from langdiff.errors import ConfigError, MissingExtraError
from langdiff.typology.predictors.external import lang2vec_features
from tests.helpers import refused


@pytest.fixture
def package():
    try:
        lang2vec_features(["syntax_wals:S_SVO"], [])
    except MissingExtraError as error:
        pytest.skip(str(error))


@pytest.mark.usefixtures("package")
def test_known_word_orders():
    table = lang2vec_features(["syntax_wals:S_SVO", "syntax_wals:S_SOV"], ["fin", "jpn", "tur", "eng"])
    assert table["syntax_wals:S_SVO"].tolist() == [1, 0, 0, 1]
    assert table["syntax_wals:S_SOV"].tolist() == [0, 1, 1, 0]


@pytest.mark.usefixtures("package")
def test_what_is_not_known_is_nan_and_predicted_sets_fill_it():
    table = lang2vec_features(["syntax_sswl:S_SVO", "syntax_knn:S_SVO"], ["gug", "xxx", "lzh"])
    assert np.isnan(table["syntax_sswl:S_SVO"]).all()
    assert table["syntax_knn:S_SVO"].notna().to_dict() == {"gug": True, "xxx": False, "lzh": False}
    assert lang2vec_features(["syntax_knn:S_SVO"], []).shape == (0, 1)


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize(
    ("feature", "message"),
    [
        ("S_SVO", "feature 'S_SVO': write SET:FEATURE"),
        ("syntax_walz:S_SVO", "no set 'syntax_walz'. The most similar: 'syntax_wals'"),
        ("syntax_wals:S_SVX", "'syntax_wals' of lang2vec has no feature 'S_SVX'. The most similar: 'S_VOX', 'S_SVO'"),
        ("syntax_wals:?", "has no feature '.'. It has 'S_SVO'"),
        ("learned:LEARNED_000", "stored as a pickle"),
    ],
)
def test_unknown_features(feature, message):
    refused(ConfigError, message, lang2vec_features, [feature], ["deu"])


@pytest.mark.parametrize("absent", ["lang2vec.lang2vec", "lang2vec"])
def test_says_what_to_install(monkeypatch, absent):
    monkeypatch.setitem(sys.modules, absent, None)
    refused(MissingExtraError, r"pip install 'langdiff\[lang2vec\]'", lang2vec_features, ["syntax_wals:S_SVO"], ["deu"])


@pytest.mark.slow
@pytest.mark.usefixtures("package")
def test_the_script_of_the_same_name_is_passed_over(monkeypatch, tmp_path):
    (tmp_path / "lang2vec.py").write_text("raise FileNotFoundError('data/letter_codes.json')")
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.partition(".")[0] == "lang2vec"]:
        monkeypatch.delitem(sys.modules, name)
    assert lang2vec_features(["syntax_wals:S_SVO"], ["fin"]).loc["fin"].tolist() == [1]
    assert sys.path[0] == str(tmp_path)
