"""Pictures of parallelisms and of published scores draw the numbers of their tables."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from langdiff.datasets import bothwell2023
from langdiff.errors import DataError
from langdiff.parallelism import compare_treatments
from langdiff.plots import plot_average_ranks, plot_lexical_overlap, plot_scheme_scores
from tests.helpers import refused

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
