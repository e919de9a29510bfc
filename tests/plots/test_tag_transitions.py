import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgba

from langdiff.parallelism import Parallelism, TaggingScheme, make_document, tag_transitions
from langdiff.plots import plot_tag_transitions

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
