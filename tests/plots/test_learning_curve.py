import pandas as pd
from matplotlib.figure import Figure

from langdiff.plots import plot_learning_curves


def logs(curves):
    """Make the logs of (edition, lm, seed): bits by epoch."""
    rows = [
        {"edition": edition, "lm": lm, "seed": seed, "epoch": epoch, "dev_bits_per_character": bits}
        for (edition, lm, seed), curve in curves.items()
        for epoch, bits in enumerate(curve, start=1)
    ]
    return pd.DataFrame(rows)


def test_draws_what_the_logs_say():
    curves = {("eng", "char-small", 0): [3.0, 2.0, 2.5], ("deu", "char-small", 0): [3.5, 2.8]}
    ax = Figure().subplots()
    assert plot_learning_curves(logs(curves).sample(frac=1, random_state=0), ax) is ax
    lines = {line.get_label(): line for line in ax.get_lines() if not line.get_label().startswith("_")}
    assert lines["eng"].get_ydata().tolist() == [3.0, 2.0, 2.5]
    assert lines["deu"].get_xdata().tolist() == [1, 2]
    dots = {
        (float(line.get_xdata()[0]), float(line.get_ydata()[0])) for line in ax.get_lines() if line.get_marker() == "o"
    }
    assert dots == {(2.0, 2.0), (2.0, 2.8)}
    assert {text.get_text() for text in ax.texts} == {"eng", "deu"}


def test_names_say_what_tells_models_apart():
    curves = {("eng", "char-small", 0): [3.0], ("eng", "char-small", 7): [2.9], ("eng", "bpe-small", 7): [2.7]}
    ax = plot_learning_curves(logs(curves), Figure().subplots())
    names = {"eng char-small seed 0", "eng char-small seed 7", "eng bpe-small seed 7"}
    assert {text.get_text() for text in ax.texts} == names
