"""Pictures of constructions, discourse trees, parallelism and taggers say what their tables say."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal

from langdiff.datasets import bothwell2023
from langdiff.discourse import compare_trees, evaluate_discourse, parse_discourse
from langdiff.errors import DataError
from langdiff.parallelism import Parallelism, TaggingScheme, compare_treatments, make_document, tag_transitions
from langdiff.plots import (
    plot_average_ranks,
    plot_constructions,
    plot_lexical_overlap,
    plot_scheme_scores,
    plot_tag_transitions,
    plot_tagger_training,
)
from langdiff.plots._axes import BLUE, GREEN, RUST
from tests.helpers import refused

ROWS = [
    ("vpart", "ARG2", "a", 0.9, 0.7, 1.0),
    ("vpart", "ARG2", "b", 0.6, 0.4, 0.8),
    ("rnr", "ARG2:first", "a", 0.5, 0.3, 0.7),
    ("rnr", "ARG2:first", "b", 0.4, 0.2, 0.6),
    ("rnr", "ARG2:second", "a", 0.1, 0.0, 0.3),
    ("rnr", "ARG2:second", "b", 0.0, 0.0, 0.2),
]
TABLE = pd.DataFrame(ROWS, columns=["phenomenon", "type", "parser", "recall", "low", "high"])


def test_columns_are_drawn_in_the_order_of_the_table():
    ax = plot_constructions(TABLE, title="gold")
    ticks = ax.get_xticks()
    assert ticks[2] - ticks[1] == 1 < ticks[1] - ticks[0]  # columns of a phenomenon are adjacent
    assert [text.get_text() for text in ax.texts] == ["vpart", "rnr"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b"]
    marks = {container.get_label(): container.lines[0].get_ydata().tolist() for container in ax.containers}
    assert marks == {"a": [0.9, 0.5, 0.1], "b": [0.6, 0.4, 0.0]}
    assert ax.get_title(loc="left") == "gold"


def test_intervals_are_left_out_where_there_are_none():
    ax = plot_constructions(TABLE.drop(columns=["low", "high"]))
    assert not any(container.has_yerr for container in ax.containers)


# --- Pictures of discourse trees draw what the nodes say.


TREE = parse_discourse(
    "( Root (span 1 3) ( Nucleus (leaf 1) (rel2par List) (text _!It cost $5 and $6_!) )"
    " ( Nucleus (leaf 2) (rel2par List) (text _!two_!) ) ( Nucleus (leaf 3) (rel2par List) (text _!three_!) ) )"
)
OTHER = parse_discourse("1 2 N span\n1 1 N List\n2 2 N List\n3 3 S cause", format="spans")


def texts(ax):
    return [text.get_text() for text in ax.texts]


def test_a_tree_as_it_is():
    ax = TREE.plot()
    assert texts(ax) == ["List"] * 3
    assert [label.get_text() for label in ax.get_yticklabels()] == ["three  3", "two  2", "It cost $5 and $6  1"]
    rows = [line for line in ax.lines if len(set(line.get_ydata())) == 1]
    assert_allclose([line.get_ydata()[0] for line in rows], [2, 1, 0])  # the first EDU on top
    assert all(line.get_xdata().tolist() == [0, 1] for line in rows)
    bar = next(line for line in ax.lines if len(set(line.get_ydata())) == 2)
    assert sorted(bar.get_ydata()) == [0, 2]


def test_new_nodes_of_the_binary_tree_are_dashed():
    ax = TREE.plot("binary")
    dashed = [line for line in ax.lines if line.get_linestyle() == "--"]
    assert [line.get_ydata().tolist() for line in dashed] == [[0.5, 0.5]]
    assert "new in the binary tree" in [text.get_text() for text in ax.get_legend().get_texts()]
    assert "new in the binary tree" not in [text.get_text() for text in TREE.plot().get_legend().get_texts()]


def test_decisions_stand_at_their_bars():
    ax = OTHER.plot("attachments")
    assert texts(ax) == ["NS cause", "NN List"]
    assert [text.get_position()[1] for text in ax.texts] == pytest.approx([0.81, 1.56])
    colours = [line.get_color() for line in ax.lines if len(set(line.get_ydata())) == 1]
    assert colours.count(RUST) == 1  # EDU 3


def test_two_trees_share_the_rows():
    comparison = compare_trees(TREE, OTHER)
    ax = comparison.plot(names=("gold", "parser"))
    assert [label.get_text() for label in ax.get_xticklabels()] == ["gold", "parser"]
    assert texts(ax) == ["List", "List", "List", "List", "List", "cause", "1", "2", "3"]
    rows = [line for line in ax.lines if len(set(line.get_ydata())) == 1]
    left = [line.get_color() for line in rows if max(line.get_xdata()) < 0]
    right = [line.get_color() for line in rows if min(line.get_xdata()) > 0]
    assert left == [BLUE, BLUE, GREEN]
    assert right == [RUST, BLUE, BLUE, GREEN]
    assert comparison.to_frame().query("tree == 'predicted'")["agreement"].tolist() == [
        *["same", "none", "same", "same", "span"]
    ]
    assert repr(comparison) == "TreeComparison of '': 2 of 3 nodes are the same"


def test_recall_by_relation():
    ax = evaluate_discourse({"d": TREE}, {"p": {"d": OTHER}, "q": {"d": TREE}}).plot()
    assert [label.get_text() for label in ax.get_yticklabels()] == ["list (2)"]
    assert [line.get_xdata().tolist() for line in ax.lines] == [[0.0], [100.0]]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["p", "q"]


# --- Pictures of parallelisms and of published scores draw the numbers of their tables.


BOXES = {  # published EPM: least, quartiles, largest
    "learned-word": [0.0405, 0.0510, 0.0752, 0.1040, 0.1463],
    "word2vec": [0.0518, 0.0650, 0.0766, 0.0858, 0.1605],
    "learned-subword": [0, 0.0026, 0.0106, 0.0277, 0.0650],
    "latin-bert": [0.1596, 0.2097, 0.2369, 0.3082, 0.3989],
    "latin-bert-bilstm": [0.2487, 0.3040, 0.3196, 0.3382, 0.3925],
    "latin-bert-transformer": [0.1894, 0.2599, 0.2693, 0.3183, 0.3661],
    "chinese-bert": [0.1059, 0.1983, 0.2297, 0.2753, 0.3505],
    "chinese-bert-bilstm": [0.2909, 0.3305, 0.3566, 0.3795, 0.4339],
    "chinese-bert-transformer": [0.1842, 0.2717, 0.2956, 0.3448, 0.3766],
}


def test_overlap():
    one = pd.DataFrame({"shared": [0, 3, 3, 5], "bin": [0, 3, 3, 9]})
    ax = plot_lexical_overlap({"one": one, "other": one.iloc[:1]})
    heights = np.array([bar.get_height() for bar in ax.patches]).reshape(2, 10)
    assert heights.tolist() == [[1, 0, 0, 2, 0, 0, 0, 0, 0, 1], [1, *[0] * 9]]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "one: 25.0 % without overlap",
        "other: 100.0 % without overlap",
    ]
    bars = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in ax.patches]
    assert all(k / 10 < left < right < (k + 1) / 10 for (left, right), k in zip(bars, [*range(10)] * 2, strict=True))
    refused(DataError, "no pairs of branches", plot_lexical_overlap, {"one": one.iloc[:0]})
    refused(DataError, "'one' have no column 'bin'", plot_lexical_overlap, {"one": one.drop(columns="bin")})


@pytest.mark.parametrize("corpus", ["ASP", "PSE-I"])
def test_boxes_of_published_scores(corpus):
    scores = bothwell2023().scores.query("corpus == @corpus and metric == 'EPM'")
    ax = plot_scheme_scores(scores)
    models = [label.get_text() for label in ax.get_yticklabels()][::-1]  # from the top
    assert models == list(dict.fromkeys(scores["model"]))
    lines = [line.get_path().vertices for line in ax.lines if len(line.get_xdata()) in (2, 5)]
    per_model = np.array_split(np.arange(len(lines)), len(models))  # box, two whiskers, two caps, median
    for model, places in zip(models[::-1], per_model, strict=True):
        values = scores.loc[scores["model"] == model, "f1"]
        low, first, median, third, high = BOXES[model]
        drawn = np.concatenate([lines[place][:, 0] for place in places])
        assert_allclose([values.min(), values.max()], [low, high], atol=5.1e-5)
        for wanted in (first, median, third):
            assert np.abs(drawn - wanted).min() < 5.1e-5
        inside = values[values.between(first - 1.5 * (third - first), third + 1.5 * (third - first))]
        assert_allclose([drawn.min(), drawn.max()], [inside.min(), inside.max()], atol=1e-12)
    points = np.concatenate([line.get_xdata() for line in ax.lines if line.get_marker() in ("o", "s")])
    assert_allclose(np.sort(points), np.sort(scores["f1"]))


def test_average_ranks():
    found = compare_treatments(bothwell2023().table("ASP"))
    ax = found.plot()
    points, *bars, scale = ax.lines
    assert_allclose(points.get_xdata(), found.ranks)
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert [names[int(y)] for y in points.get_ydata()] == list(found.ranks.index)
    ends = [(names[int(max(bar.get_ydata()))], names[int(min(bar.get_ydata()))]) for bar in bars]
    assert ends == [("BIOMJ-TD", "BIOE-BD"), ("BIOMJ-BD", "BIOJE-BD")]
    assert np.ptp(scale.get_xdata()) == pytest.approx(found.critical_difference)
    refused(DataError, "no ranks", plot_average_ranks, pd.DataFrame({"treatment": [], "rank": []}))
    refused(DataError, "'z' is in a group but has no rank", plot_average_ranks, found.to_frame(), [["z"]])


DOCUMENTS = [
    make_document("a", ["w"] * 12, [Parallelism(((0, 3), (4, 6))), Parallelism(((7, 9), (9, 11)))]),
    make_document("b", ["w"] * 5, [Parallelism(((1, 3), (4, 5)))]),
]


def drawn(table, **style):
    ax = plot_tag_transitions(table, **style)
    numbers = [int(text.get_text().replace(",", "")) for text in ax.texts if text.get_text()[0].isdigit()]
    return ax, numbers


@pytest.mark.parametrize("name", ["BIO-TD", "BIOMJ-TD", "BIOMJE-BD"])
def test_one_arrow_per_transition_as_wide_as_its_share(name):
    table = tag_transitions(DOCUMENTS, TaggingScheme.named(name))
    ax, numbers = drawn(table)
    counts = table.stack()
    counts = counts[counts > 0]
    assert numbers == counts.tolist()
    shares = [count / table.loc[source].sum() for (source, _), count in counts.items()]
    widths = [patch.get_linewidth() for patch in ax.patches]
    np.testing.assert_allclose(np.diff(widths), 4 * np.diff(shares), atol=1e-12)


def test_between_tags_stand_where_outside_tags_stood():
    both = [drawn(tag_transitions(DOCUMENTS, TaggingScheme(tagset, "TD")))[0] for tagset in ("BIO", "BIOM")]
    places = [{text.get_text(): text.get_position() for text in ax.texts} for ax in both]
    assert "M" in places[1]
    assert "M" not in places[0]
    for name in ("start", "B", "B-X", "I", "O", "stop"):
        assert places[0][name] == places[1][name]


def test_arrows_lead_from_tag_to_tag():
    table = pd.DataFrame(0, index=["start", "B"], columns=["B", "O"])
    table.loc["B", "O"] = 3
    ax, _ = drawn(table, color="black")
    (arrow,) = ax.patches
    places = {text.get_text(): np.array(text.get_position()) for text in ax.texts}
    path = arrow.get_path().vertices
    assert np.linalg.norm(path[0] - places["B"]) < 0.3 < np.linalg.norm(path[0] - places["O"])
    assert arrow.get_edgecolor()[:3] == to_rgba("black")[:3]


# --- The learning curve of a tagger says what its history says.


HISTORY = pd.DataFrame(
    {
        "epoch": [1, 2, 3, 4],
        "loss": [0.9, 0.5, 0.4, 0.35],
        "mbawo": [0.0, 0.2, 0.25, 0.1],
        "epm": [0.0, 0.1, 0.2, 0.05],
        "kept": [True, True, True, False],
    }
)


def test_lines_are_the_columns_and_the_kept_epoch_is_marked():
    figure = Figure()
    ax = plot_tagger_training(HISTORY, figure.subplots())
    kept, mbawo, epm = ax.get_lines()
    assert list(kept.get_xdata()) == [3, 3]
    (loss,) = figure.axes[1].get_lines()
    for line, column in ((mbawo, "mbawo"), (epm, "epm"), (loss, "loss")):
        assert_array_equal(line.get_xdata(), HISTORY["epoch"])
        assert_array_equal(line.get_ydata(), HISTORY[column])
    assert ax.get_legend().get_texts()[0].get_text() == "epoch kept: 3"
