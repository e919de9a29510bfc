"""The pictures of a corpus draw what is counted by hand or by a slow loop."""

import time

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import langdiff as ld
from langdiff.corpora import native_share
from langdiff.corpora.origin import languages_per_intent
from langdiff.plots import (
    plot_corpus_sizes,
    plot_intents_per_edition,
    plot_languages_per_intent,
    plot_native_share,
    plot_presence,
)
from langdiff.tables.multitext import Multitext
from langdiff.tables.text_sources import InMemoryText


def multitext_of(have, books=None):
    """Make a multitext of a presence matrix, with no text."""
    intents = pd.Index([f"v{i}" for i in range(have.shape[0])], name="intent")
    editions = pd.Index([f"e{j}" for j in range(have.shape[1])], name="edition")
    return Multitext(
        presence=pd.DataFrame(have, index=intents, columns=editions),
        edition_info=pd.DataFrame({"language": editions}, index=editions),
        intent_info=pd.DataFrame(index=intents) if books is None else pd.DataFrame({"book": books}, index=intents),
        sources={edition: InMemoryText(pd.Series(dtype=object)) for edition in editions},
    )


@pytest.fixture
def axes():
    figure, ax = plt.subplots()
    yield ax
    plt.close(figure)


@pytest.fixture(scope="module")
def small():
    texts = {"deu-a": ["ja"] * 4, "deu-b": ["ja", "ja", None, None], "eng-c": ["yes", None, None, "well"]}
    return ld.read_frame(pd.DataFrame(texts, index=list("pqrs")))


def names(labels):
    return [label.get_text() for label in labels]


def test_presence_of_a_small_matrix_is_shown_cell_by_cell(axes, small):
    assert small.plot_presence(axes) is axes
    (image,) = axes.images
    shown = np.asarray(image.get_array())
    repeats = len(shown) // 3
    assert_allclose(shown[::repeats], [[1, 1, 1, 1], [1, 1, 0, 0], [1, 0, 0, 1]])
    assert (shown.reshape(3, repeats, 4) == shown[::repeats, None]).all()
    assert names(axes.get_yticklabels()) == ["deu-a", "deu-b", "eng-c"]
    assert axes.get_title(loc="left") == "66.7 % of 12 cells present"


def test_presence_of_a_large_matrix_is_averaged_without_losing_a_cell(axes):
    rng = np.random.default_rng(0)
    have = rng.random((7001, 130)) < rng.random(130)
    plot_presence(multitext_of(have), axes)
    shown = np.asarray(axes.images[0].get_array())[:: 2000 // 130]
    assert shown.shape == (130, 2000)
    order = np.argsort(-have.sum(axis=0), kind="stable")
    starts = [i * 7001 // 2000 for i in range(2000)] + [7001]
    for k in (0, 17, 1999):
        block = have[starts[k] : starts[k + 1], order]
        assert_allclose(shown[:, k], block.mean(axis=0), rtol=1e-6)  # of float32
    sizes = np.diff(starts)
    assert_allclose((shown * sizes).sum(axis=1), have[:, order].sum(axis=0), rtol=1e-4)
    assert names(axes.get_yticklabels())[0] != "e0"  # too many editions to name


def test_books_are_marked(axes):
    books = ["GEN"] * 50 + ["EXO"] * 40 + ["JUD"] + ["REV"] * 30
    plot_presence(multitext_of(np.ones((121, 2), dtype=bool), books), axes)
    assert list(axes.get_xticks()) == [0, 50, 90, 91]
    found = dict(zip(names(axes.get_xticklabels(minor=True)), axes.get_xticks(minor=True), strict=True))
    assert {name: found[name] for name in ("GEN", "EXO", "REV")} == {"GEN": 25, "EXO": 70, "REV": 106}


@pytest.mark.parametrize("what", ["shuffled", "unknown"])
def test_books_are_not_marked_where_intents_are_not_in_their_order(axes, what):
    books = np.random.default_rng(0).permutation(np.repeat(["GEN", "EXO", "REV"], 400)).astype(object)
    if what == "unknown":
        books[:] = np.nan
    plot_presence(multitext_of(np.ones((1200, 2), dtype=bool), books), axes)
    assert len(axes.get_xticks()) < 20  # a mark an intent takes minutes to draw
    assert names(axes.get_xticklabels(minor=True)) == ([] if what == "shuffled" else [""])


def test_a_thousand_editions_of_forty_thousand_intents_are_drawn_in_seconds():
    have = np.random.default_rng(0).random((40_000, 1000)) < 0.9
    multitext = multitext_of(have)
    start = time.process_time()
    figure = plot_presence(multitext).figure
    figure.canvas.draw()
    assert time.process_time() - start < 10  # of CPU; 1.6 measured
    plt.close(figure)


def test_languages_per_intent(axes, small):
    plot_languages_per_intent(languages_per_intent(small), axes)
    assert [bar.get_height() for bar in axes.patches] == [2, 2]
    assert axes.get_title(loc="left") == "50.0 % of 4 intents in all languages"


def test_intents_per_edition(axes, small):
    plot_intents_per_edition(small, axes)
    bars = dict(zip(names(axes.get_yticklabels()), [bar.get_width() for bar in axes.patches], strict=True))
    assert bars == {"deu-a": 4, "deu-b": 2, "eng-c": 2}
    assert names(axes.get_yticklabels())[-1] == "deu-a"  # most on top


def test_native_share(axes, small):
    origin = pd.Series({"p": "eng", "q": "deu", "r": "deu", "s": "und"})
    plot_native_share(native_share(small, origin), axes)
    bars = dict(zip(names(axes.get_yticklabels()), [bar.get_width() for bar in axes.patches], strict=True))
    assert bars == {"deu-a": 50, "deu-b": 50, "eng-c": 50}
    beside = dict(zip(names(axes.get_yticklabels()), names(axes.texts), strict=True))
    assert beside == {"deu-a": "2", "deu-b": "1", "eng-c": "1"}


def test_sizes(axes, small):
    sizes = small.edition_sizes()
    assert plot_corpus_sizes(sizes, axes) is axes
    drawn = {line.get_label(): line.get_xdata() for line in axes.lines}
    order = names(axes.get_yticklabels())
    assert order[-1] == "deu-a"
    assert_allclose(drawn["characters"], sizes["characters"][order])
    assert_allclose(drawn["words"], sizes["words"][order])
    assert axes.get_title(loc="left") == "3 editions, 2 to 4 intents: not the same texts"
