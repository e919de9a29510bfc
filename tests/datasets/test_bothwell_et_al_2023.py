"""The shipped figures are those of the paper, and the settings lie in its search space."""

import numpy as np
import pytest

from langdiff.datasets import bothwell2023
from langdiff.errors import ConfigError
from tests.helpers import refused

ROUNDING = 6e-5  # published to four decimals
BEST = {  # EPM: scheme, precision, recall, F1, mean and standard deviation over the schemes
    "learned-word": ("BIOMJ-TD", 0.1205, 0.1860, 0.1463, 0.0822, 0.0336),
    "word2vec": ("BIOMJE-BD", 0.2385, 0.1209, 0.1605, 0.0800, 0.0250),
    "learned-subword": ("BIOMJ-TD", 0.0578, 0.0744, 0.0650, 0.0170, 0.0191),
    "latin-bert": ("BIOMJ-TD", 0.5147, 0.3256, 0.3989, 0.2580, 0.0685),
    "latin-bert-bilstm": ("BIOMJ-TD", 0.4650, 0.3395, 0.3925, 0.3192, 0.0365),
    "latin-bert-transformer": ("BIOME-BD", 0.4437, 0.3116, 0.3661, 0.2838, 0.0465),
    "chinese-bert": ("BIOM-BD", 0.3009, 0.4198, 0.3505, 0.2365, 0.0669),
    "chinese-bert-bilstm": ("BIOMJ-TD", 0.3796, 0.5062, 0.4339, 0.3610, 0.0391),
    "chinese-bert-transformer": ("BIOME-TD", 0.3973, 0.3580, 0.3766, 0.2995, 0.0510),
}
BEST_BY_METRIC = {
    "MPBM": [("latin-bert-bilstm", "BIOMJ-TD", 0.4709), ("chinese-bert-bilstm", "BIOMJ-TD", 0.5489)],
    "MBAWO": [("latin-bert-transformer", "BIOME-BD", 0.5136), ("chinese-bert-transformer", "BIOME-TD", 0.6847)],
    "MWO": [("latin-bert-transformer", "BIOME-BD", 0.5328), ("chinese-bert-transformer", "BIOME-TD", 0.7197)],
}
HIDDEN = {
    "bilstm": {32, 48, 64, 96, 128, 192, 256, 384, 512},
    "transformer": {256, 384, 512, 768, 1024, 1280, 1536, 1792, 2048},
}
INPUT = {"learned-word": {64, 96, 128, 192, 256, 384, 512, 768}, "word2vec": {300}}
INPUT["learned-subword"] = {128, 192, 256, 384, 512, 768, 1024}


@pytest.fixture(scope="module")
def figures():
    return bothwell2023()


def test_best_scheme_of_every_model(figures):
    best = figures.best().set_index("model")
    assert best.index.tolist() == list(BEST)
    for model, (scheme, *numbers) in BEST.items():
        assert best.at[model, "scheme"] == scheme
        found = best.loc[model, ["precision", "recall", "f1", "mean", "std"]].astype(float)
        np.testing.assert_allclose(found, numbers, atol=ROUNDING)


@pytest.mark.parametrize("metric", BEST_BY_METRIC)
def test_best_model_by_metric(figures, metric):
    best = figures.best(metric)
    rows = best.loc[best.groupby("corpus")["f1"].idxmax()]
    for row, (model, scheme, f1) in zip(rows.itertuples(), BEST_BY_METRIC[metric], strict=True):
        assert (row.model, row.scheme) == (model, scheme)
        assert row.f1 == pytest.approx(f1, abs=ROUNDING)


def test_learned_words_by_metric(figures):
    rows = figures.scores[figures.scores["model"] == "learned-word"].set_index(["scheme", "metric"])
    wanted = {
        ("BIO-TD", "EPM"): (0.1588, 0.1256, 0.1403),
        ("BIO-TD", "MBAWO"): (0.2980, 0.1971, 0.2373),
        ("BIOMJ-TD", "MPBM"): (0.1769, 0.2722, 0.2145),
        ("BIOMJ-TD", "MWO"): (0.2878, 0.3913, 0.3317),
    }
    for key, numbers in wanted.items():
        np.testing.assert_allclose(rows.loc[key, ["precision", "recall", "f1"]].astype(float), numbers, atol=ROUNDING)


def test_f1_follows_from_precision_and_recall(figures):
    scores = figures.scores
    both = scores["precision"] + scores["recall"]
    f1 = (2 * scores["precision"] * scores["recall"] / both).where(both > 0, 0.0)
    np.testing.assert_allclose(scores["f1"], f1, atol=2e-6)


def test_settings_lie_in_the_search_space(figures):
    settings = figures.to_frame().drop_duplicates(["model", "scheme"])
    assert figures.settings["corpus"].value_counts().to_dict() == {"ASP": 96, "PSE-I": 48}
    assert not figures.settings.duplicated(["model", "scheme"]).any()
    assert len(settings) == 144  # keys of scores and settings match one to one
    steps = settings["learning_rate"] * 10_000
    assert ((steps - steps.round()).abs() < 1e-9).all()
    assert settings["learning_rate"].between(0.0001, 0.01).all()
    assert set(settings["activation"].dropna()) == {"relu", "gelu"}
    assert set(settings["blending"].dropna()) == {"mean", "sum", "first"}
    assert set(settings["depth"].dropna()) == {1, 2, 3, 4}
    assert set(settings["heads"].dropna()) == {1, 2, 4, 8}
    for encoder, allowed in HIDDEN.items():
        assert set(settings.loc[settings["encoder"] == encoder, "hidden_size"]) <= allowed
    for row in settings.itertuples():
        assert row.input_size in INPUT.get(row.model, {768}) or row.model not in INPUT
    recurrent = settings[settings["encoder"] == "bilstm"]
    assert len(recurrent) == 64
    assert (recurrent["hidden_size"] <= recurrent["input_size"].fillna(768)).all()
    lemmatized = settings.groupby("model")["lemmatized"].sum()
    assert lemmatized["learned-word"] == 3
    assert lemmatized["word2vec"] == 16


def test_settings_by_name(figures):
    first = figures.setting("ASP/learned-word/BIO-TD")
    wanted = {"depth": 3, "hidden_size": 384, "input_size": 512, "lemmatized": False, "learning_rate": 0.0013}
    assert {name: first[name] for name in wanted} == wanted
    second = figures.setting("ASP/learned-word/BIOMJ-TD")
    wanted = {"depth": 4, "hidden_size": 96, "input_size": 512, "lemmatized": False, "learning_rate": 0.0052}
    assert {name: second[name] for name in wanted} == wanted
    refused(ConfigError, "no published setting 'ASP/x/BIO-TD'", figures.setting, "ASP/x/BIO-TD")
    refused(ConfigError, "corpora are ASP and PSE-I", figures.table, "ASP", "F1")
    refused(ConfigError, "metrics are EPM", figures.best, "F1")
