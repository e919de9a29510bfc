import pandas as pd

from langdiff.plots import plot_constructions

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
