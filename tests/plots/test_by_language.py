"""Languages of two corpora stand where their means are, and editions of chosen languages in their own colours."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from numpy.testing import assert_allclose

from langdiff.plots import plot_by_language

LANGUAGES = {"de": "deu", "en": "eng", "deu-a": "deu", "deu-b": "deu", "eng-a": "eng", "fin-a": "fin"}
X = pd.Series({"de": 0.2, "en": -0.1, "lv": 0.3}, name="one")
Y = pd.Series({"deu-a": 0.3, "deu-b": 0.1, "eng-a": -0.2, "fin-a": 0.0}, name="other")


def points(ax):
    return {line.get_label(): line.get_xydata() for line in ax.lines if line.get_linestyle() == "None"}


def centred(*values):
    return np.array(values) - np.log(np.mean(np.exp(values)))


def test_languages_of_both_stand_at_the_means_of_their_editions():
    ax = plt.subplots()[1]
    assert plot_by_language(X, Y, ax, edition_info=LANGUAGES, highlight=["eng"]) is ax
    x, y = centred(0.2, -0.1), centred(0.2, -0.2)  # deu, eng; only these two are in both
    drawn = points(ax)
    assert_allclose(drawn["eng"], [[x[1], y[1]]])
    (rest,) = [xy for label, xy in drawn.items() if label != "eng"]
    assert_allclose(rest, [[x[0], y[0]]])
    assert ax.get_title(loc="left").startswith("2 languages, ")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("difficulty, one (nats)", "difficulty, other (nats)")
    assert {text.get_text() for text in ax.texts} == {"deu", "eng"}
    segments = [segment for lines in ax.collections for segment in lines.get_segments()]
    assert any(np.allclose(segment, [[x[0], y[0] - 0.1], [x[0], y[0] + 0.1]]) for segment in segments)


def test_editions_of_one_corpus_are_coloured_by_language():
    ax = plot_by_language(
        Y, 2 * Y, edition_info=pd.DataFrame({"language": LANGUAGES}), highlight=["deu"], average=False
    )
    deu = points(ax)["deu"]
    assert_allclose(deu[:, 0], centred(*Y)[:2])
    assert_allclose(deu[:, 1], centred(*(2 * Y))[:2])
    assert ax.get_legend().get_texts()[0].get_text() == "deu"
    assert ax.get_title(loc="left").startswith("4 editions, ")
    colours = {line.get_color() for line in ax.lines if line.get_linestyle() == "None"}
    shapes = {line.get_marker() for line in ax.lines if line.get_linestyle() == "None"}
    assert len(colours) == len(shapes) == 2


def test_names_are_languages_without_a_table():
    ax = plot_by_language(X, X)
    assert ax.get_title(loc="left") == "3 languages, Pearson's r = 1.000"
    assert ax.get_legend() is None
