"""Rows by family and colours by group, where what is drawn knows them; and what pictures of texts take."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

import langdiff as ld
from langdiff import plots
from langdiff.errors import DataError
from langdiff.plots._axes import GREY, SERIES

FAMILIES = {"deu": "Germanic", "eng": "Germanic", "fra": "Romance", "fin": "Uralic", "vie": ""}
VALUES = {"deu": 0.1, "eng": -0.2, "fra": 0.0, "fin": 0.3, "vie": -0.2}


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def fit():
    bits = ld.simulate(60, 5, difficulties=np.array([*VALUES.values()]), seed=1).surprisals.bits
    info = pd.DataFrame({"family": FAMILIES})
    return ld.fit(ld.Surprisals(bits=bits.set_axis([*FAMILIES], axis=1), edition_info=info))


@pytest.fixture(scope="module")
def multitext():
    texts = pd.DataFrame({"deu-a": ["ja", None, None], "deu-b": ["ja", "nein", None], "eng": ["yes", None, None]})
    made = ld.read_frame(texts)
    made.edition_info["family"] = "Germanic"
    return made


def rows(ax):
    """Return the names of the rows, the uppermost first."""
    return [label.get_text().split(" ")[0] for label in ax.get_yticklabels()][::-1]


def test_rows_stand_by_family_by_name_or_by_estimate(fit):
    estimate = list(fit.difficulty.sort_values(ascending=False).index)
    assert rows(plots.plot_difficulties(fit)) == estimate
    assert rows(plots.plot_difficulties(fit, order="name")) == sorted(FAMILIES)
    shown = rows(plots.plot_difficulties(fit, order="family"))
    families = [FAMILIES[name] for name in shown]
    assert families == [FAMILIES[name] for name in ("fin", "deu", "eng", "fra", "vie")]  # by their hardest editions
    assert shown[1:3] == ["deu", "eng"]


def test_points_have_the_colours_of_their_groups_and_the_legend_counts_them(fit):
    ax = plots.plot_difficulties(fit, color="family")
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == ["Germanic (2)", "Romance (1)", "Uralic (1)", "not known (1)"]
    drawn = {}
    for line in ax.lines[1:]:
        for y in line.get_ydata():
            drawn[rows(ax)[::-1][int(y)]] = to_hex(line.get_color())
    assert drawn["deu"] == drawn["eng"] == SERIES[0]
    assert drawn["vie"] == GREY
    assert len(set(drawn.values())) == 4


def test_points_of_two_models_have_the_colours_of_the_first(fit):
    ax = plots.plot_two_models(fit, fit.difficulty, color="family")
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == ["Germanic (2)", "Romance (1)", "Uralic (1)", "not known (1)"]
    points = {to_hex(each[0].get_color()): len(each[0].get_xdata()) for each in ax.containers}
    assert points == {SERIES[0]: 2, SERIES[1]: 1, SERIES[2]: 1, GREY: 1}


def test_more_than_seven_groups_are_others():
    names = [f"e{k}" for k in range(10)]
    info = pd.DataFrame({"family": [f"family {k}" for k in range(9)] + ["family 0"]}, names)
    bits = ld.simulate(40, 10, seed=1).surprisals.bits.set_axis(names, axis=1)
    ax = plots.plot_difficulties(ld.fit(ld.Surprisals(bits=bits, edition_info=info)), color="family")
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert len(legend) == 8
    assert (legend[0], legend[-1]) == ("family 0 (2)", "others (2)")


def test_pictures_of_corpora_take_texts_and_their_families(multitext):
    assert rows(plots.plot_intents_per_edition(multitext, order="name", color="family")) == ["deu-a", "deu-b", "eng"]
    assert rows(plots.plot_corpus_sizes(multitext)) == rows(plots.plot_corpus_sizes(multitext.edition_sizes()))
    assert rows(plots.plot_corpus_sizes(multitext, order="family"))[0] == "deu-b"


def test_a_frame_of_bits_is_drawn_as_its_surprisals_are():
    surprisals = ld.simulate(9, 3, seed=1).surprisals
    drawn = [plots.plot_multitext(each) for each in (surprisals, surprisals.bits)]
    assert [text.get_text() for text in drawn[0].texts] == [text.get_text() for text in drawn[1].texts]
    with pytest.raises(DataError, match="a frame of bits has numbers only; 'eng' has none"):
        plots.plot_multitext(pd.DataFrame({"eng": ["a text"]}))
