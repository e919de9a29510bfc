"""The pictures of a corpus draw what is counted by hand or by a slow loop."""

import time
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.patches import Rectangle
from numpy.testing import assert_allclose

import langdiff as ld
from langdiff.corpora import native_share
from langdiff.corpora.origin import languages_per_intent
from langdiff.plots import (
    plot_corpus_sizes,
    plot_intents_per_edition,
    plot_languages_per_intent,
    plot_multitext,
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


# --- The schematic table shows the numbers of the table and of the fit, and what is missing.


FRAME = pd.DataFrame(
    {"eng": [100.0, 20.0, 3.25], "deu": [120.0, np.nan, 4.5], "fin": [90.0, 25.0, np.nan]}, index=["v1", "v2", "v3"]
)


def texts(ax):
    return {tuple(np.round(text.get_position(), 2)): text.get_text() for text in ax.texts}


def test_cells_are_the_first_ones_and_missing_ones_are_hatched():
    ax = plot_multitext(ld.Surprisals(bits=FRAME), n_editions=2)
    assert texts(ax) == {(0, 0): "100", (1, 0): "120", (0, 1): "20", (1, 1): "", (0, 2): "3.2", (1, 2): "4.5"}
    cells = [patch for patch in ax.patches if isinstance(patch, Rectangle)]
    assert [cell.get_hatch() is not None for cell in cells] == [False, False, False, True, False, False]
    assert ax.get_title(loc="left") == "bits of the first 2 of 3 editions"
    lightness = [sum(cell.get_facecolor()[:3]) for cell in cells]
    assert lightness[1] < lightness[0] < lightness[2]  # darker where there are more bits


def test_margins_are_those_of_the_fit():
    surprisals = ld.simulate(60, 3, missing=0.1, seed=0).surprisals
    fit = ld.fit(surprisals)
    ax = plot_multitext(surprisals, fit=fit, n_intents=4)
    drawn = texts(ax)
    for j, edition in enumerate(surprisals.editions):
        assert drawn[(j, 4.25)] == f"{100 * np.expm1(fit.difficulty[edition]):+z.1f}"
    # what the model expects of an edition of factor 1 is the content
    content = fit.intent_size.iloc[:4] * np.exp(fit.sigma**2 / 2)
    assert [drawn[(3.25, i)] for i in range(4)] == [f"{value:,.0f}" for value in content]
    assert ax.get_yticklabels()[-1].get_text() == "difficulty\n(%)"


def test_long_names_are_shortened_and_dollars_stay():
    long = FRAME.rename(columns={"eng": "eng-authorized-of-1769", "deu": "deu-$luther$"})
    ax = plot_multitext(ld.Surprisals(bits=long))
    authorized, *others = [label.get_text() for label in ax.get_xticklabels()]
    assert authorized.startswith("eng-auth")
    assert authorized.endswith("…")
    assert others == ["deu-$luther$", "fin"]
    ax.figure.canvas.draw()
    boxes = [label.get_window_extent() for label in ax.get_xticklabels()]
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))
