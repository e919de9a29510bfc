"""Claims of later papers against counts made apart, and that wrong figures are seen."""

from langdiff.datasets import xmi2020
from langdiff.errors import ConfigError
from langdiff.experiments import reproduce
from langdiff.experiments.claims import LATER
from tests.helpers import refused


def claims(name):
    return reproduce(name).claims.set_index("claim")


def test_agreement():
    found = {name: reproduce(name).claims["agreement"].value_counts().to_dict() for name in LATER}
    assert found == {
        "belebele2024": {"yes": 13},
        "byte_premium2024": {"yes": 6, "no": 1},  # the factors are of other samples
        "goldfish2024": {"yes": 1, "cannot be recomputed": 2},
        "tokenization_lengths2023": {"yes": 4},
        "xmi2020": {"yes": 5},
    }


def test_figures_counted_apart():
    assert claims("goldfish2024").iloc[0]["recomputed"] == "43.4783"  # 20 of 46
    assert claims("xmi2020").loc["mean XMI from English into the languages", "recomputed"] == "102.163"
    note = claims("xmi2020").iloc[-1]["note"]
    assert "0.899 (BPE)" in note
    assert "0.625 (characters)" in note


def test_a_wrong_figure_is_seen(monkeypatch):
    def wrong():
        published = xmi2020()
        published.figures.loc["de", "xmi_into"] += 0.01
        return published

    monkeypatch.setattr("langdiff.experiments.claims.xmi2020", wrong)
    assert reproduce("xmi2020").claims["agreement"].tolist()[0] == "no"


def test_unknown_paper():
    refused(ConfigError, "unknown paper 'x'; use one of", reproduce, "x")
    assert "4 of 4 claims agree" in reproduce("tokenization_lengths2023").summary()
