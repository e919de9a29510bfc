"""Pictures of 106 editions, with names in several scripts: what is written can be read."""

from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axis import Axis
from matplotlib.text import Annotation, Text

import langdiff as ld
from langdiff import plots
from langdiff.tables.contrasts import Scale

NAMES = {
    "long": "eng-a-name-of-thirty-letters{:03d}",
    "Arabic": "العربية{}",
    "Devanagari": "हिन्दी{}",
    "Han": "中文譯本{}",
}
WIDEST, HIGHEST = 7.1, 9.6  # inches
LEAST = 6.0  # points


def calls(count, kind):
    """Yield the names of functions with calls that draw so many editions."""
    rng = np.random.default_rng(0)
    names = [NAMES[kind].format(k) for k in range(count)]
    first = pd.Series(rng.normal(0, 0.1, count), index=names)
    first -= first.mean()
    second = first + rng.normal(0, 0.05, count)
    covariance = pd.DataFrame(np.diag(rng.uniform(0.0003, 0.002, count)), names, names)
    effects = ld.Effects(estimate=first, covariance=covariance)
    percent = rng.uniform(0, 30, count)
    share = pd.DataFrame({"intents": 4000, "native": (40 * percent).astype(int), "native_percent": percent}, names)
    words = rng.integers(50_000, 100_000, count)
    sizes = pd.DataFrame({"intents": 4000, "words": words, "characters": 6 * words}, names)
    curve = np.array([80.0, 20, 0, 15, 40])
    bits = pd.DataFrame({name: 900 + 200 * rng.normal() + curve for name in names}, index=[0.1, 0.2, 0.4, 0.6, 1.0])
    epochs = np.arange(1, 9)
    logs = [
        pd.DataFrame({"edition": name, "lm": "char", "seed": 0, "epoch": epochs}).assign(
            dev_bits_per_character=1.5 + 0.2 * rng.normal() + 1 / epochs
        )
        for name in names
    ]
    yield "plot_difficulties", lambda: plots.plot_difficulties(effects)
    yield "plot_line_follow", lambda: plots.plot_line_follow({"ngram": first, "bpe": second, "char": first + second})
    yield "plot_two_models", lambda: plots.plot_two_models(first, second)
    yield "plot_ranks", lambda: plots.plot_ranks(effects, seed=0, n_draws=200)
    yield "plot_against_truth", lambda: plots.plot_against_truth({"char": effects}, first)
    yield "plot_native_share", lambda: plots.plot_native_share(share)
    yield "plot_corpus_sizes", lambda: plots.plot_corpus_sizes(sizes)
    sweep = SimpleNamespace(lm="bpe", dev_bits=bits, best_overall=0.4)
    yield "plot_bpe_sweep", lambda: plots.plot_bpe_sweep(sweep)
    yield "plot_learning_curves", lambda: plots.plot_learning_curves(pd.concat(logs))
    abilities = ld.Effects(estimate=8 * first, covariance=20 * covariance, scale=Scale(quantity="ability"))
    yield "plot_wright_map", lambda: plots.plot_wright_map(abilities, pd.Series(rng.normal(0, 1, 200)))


def texts_of(artist, renderer):
    """Yield the texts that are drawn."""
    for child in artist.get_children():
        if not child.get_visible():
            continue
        if isinstance(child, Axis):
            labels = [label for tick in child._update_ticks() for label in (tick.label1, tick.label2)]
            yield from (label for label in (*labels, child.label) if label.get_visible() and label.get_text().strip())
        elif isinstance(child, Text):
            hidden = isinstance(child, Annotation) and not child._check_xy(renderer)
            yield from [child] * (bool(child.get_text().strip()) and not hidden)
        else:
            yield from texts_of(child, renderer)


def faults(figure):
    """Return pairs of texts that overlap, texts that are too small, and texts that leave the figure."""
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    texts = list(dict.fromkeys(texts_of(figure, renderer)))
    boxes = np.array([Text.get_window_extent(text, renderer).extents for text in texts])
    small = [text.get_text() for text in texts if text.get_fontsize() < LEAST]
    edges = figure.bbox.extents
    outside = ((boxes[:, :2] < edges[:2] - 1) | (boxes[:, 2:] > edges[2:] + 1)).any(axis=1)
    shared = np.minimum(boxes[:, None, 2:], boxes[None, :, 2:]) - np.maximum(boxes[:, None, :2], boxes[None, :, :2])
    pairs = np.argwhere(np.triu((shared[..., 0] > 1) & (shared[..., 1] > 1.5), 1))
    overlapping = [(texts[one].get_text(), texts[other].get_text()) for one, other in pairs]
    return overlapping, small, [text.get_text() for text, out in zip(texts, outside, strict=True) if out]


@pytest.mark.filterwarnings("ignore::langdiff.errors.LangdiffWarning", "ignore:Glyph")  # fonts that are not installed
@pytest.mark.parametrize(
    ("count", "kind"),
    [(6, "long"), (20, "long"), (106, "long"), (106, "Arabic"), (106, "Devanagari"), (106, "Han")],
)
def test_what_is_written_can_be_read(count, kind):
    for name, draw in calls(count, kind):
        draw()
        figure = plt.gcf()
        assert faults(figure) == ([], [], []), name
        width, height = figure.get_size_inches()
        assert (width <= WIDEST, height <= HIGHEST) == (True, True), name
        plt.close(figure)


@pytest.mark.parametrize(("count", "columns"), [(40, 1), (80, 2), (106, 3)])
def test_each_edition_is_in_one_of_the_columns(count, columns):
    names = [f"e{k}" for k in range(count)]
    estimate = pd.Series(np.linspace(-0.5, 0.5, count), names)
    ld.Effects(estimate=estimate, covariance=pd.DataFrame(np.eye(count) * 0.01, names, names)).plot()
    axes = [ax for ax in plt.gcf().axes if ax.get_yticklabels()]
    plt.gcf().canvas.draw()
    shown = [label.get_text().split(" ")[0].strip("\u200e") for ax in axes for label in ax.get_yticklabels()]
    assert len(axes) == columns
    assert sorted(name for name in shown if name) == sorted(names)
    plt.close("all")


def test_faults_are_found():
    ax = plt.subplots()[1]
    ax.text(0.5, 0.5, "one", fontsize=5)
    ax.text(0.5, 0.5, "other")
    ax.text(1.3, 0.5, "outside of the figure")
    assert faults(ax.figure) == ([("one", "other")], ["one"], ["outside of the figure"])
    plt.close(ax.figure)
