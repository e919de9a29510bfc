"""Names are drawn as they are: in every script, with dollar signs, shortened, none above another."""

import warnings
from itertools import combinations, pairwise

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import cbook, font_manager
from matplotlib.text import Text

from langdiff.cli.output import save_picture
from langdiff.errors import LangdiffWarning
from langdiff.plots import _axes, _names, _rows, plot_difficulties, plot_line_follow, plot_two_models
from langdiff.plots._names import breadth, shorten, with_note

ENDONYMS = {
    "Arabic": "العربية",
    "Hebrew": "עברית",
    "Devanagari": "हिन्दी",
    "Cherokee": "ᏣᎳᎩ",
    "Han": "中文",
    "Hangul": "한국어",
    "Thai": "ไทย",
    "Ethiopic": "አማርኛ",
}


def difficulties(names):
    return pd.Series(np.linspace(-0.1, 0.1, len(names)), list(names))


@pytest.fixture
def shipped(monkeypatch):
    """Only the fonts that Matplotlib brings, whatever is installed; no script was named before."""
    ours = mpl.get_data_path()
    entries = [font for font in font_manager.fontManager.ttflist if font.fname.startswith(ours)]
    monkeypatch.setattr(font_manager.fontManager, "ttflist", entries)
    monkeypatch.setattr(_names, "warned", set())
    yield entries
    plt.close("all")


@pytest.fixture
def font_of_endonyms(shipped, tmp_path):
    """A font that has squares for the letters of all endonyms."""
    letters = sorted(set("".join(ENDONYMS.values())))
    pen = TTGlyphPen(None)
    for move, point in ((pen.moveTo, (0, 0)), (pen.lineTo, (0, 700)), (pen.lineTo, (600, 700)), (pen.lineTo, (600, 0))):
        move(point)
    pen.closePath()
    square = pen.glyph()
    names = [".notdef", *(f"u{ord(letter):x}" for letter in letters)]
    builder = FontBuilder(1000)
    builder.setupGlyphOrder(names)
    builder.setupCharacterMap({ord(letter): name for letter, name in zip(letters, names[1:], strict=True)})
    builder.setupGlyf(dict.fromkeys(names, square))
    builder.setupHorizontalMetrics(dict.fromkeys(names, (650, 0)))
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": "Squares Sans", "styleName": "Regular"})
    builder.setupOS2()
    builder.setupPost()
    path = tmp_path / "squares.ttf"
    builder.save(path)
    font_manager.fontManager.addfont(path)


def test_an_installed_font_draws_what_the_default_lacks(font_of_endonyms):
    ax = plot_difficulties(difficulties(ENDONYMS.values()))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # Matplotlib warns of each glyph that it does not find
        ax.figure.canvas.draw()
    families = {label.get_text(): label.get_fontfamily() for label in ax.get_yticklabels()}
    assert families[ENDONYMS["Ethiopic"]][-1] == "Squares Sans"
    assert families[ENDONYMS["Ethiopic"]][:-1] == mpl.rcParams["font.family"]


@pytest.mark.parametrize("script", ["Devanagari", "Cherokee", "Han", "Hangul", "Thai", "Ethiopic"])  # not in DejaVu
def test_a_script_without_a_font_is_named_once(shipped, script):
    names = [ENDONYMS[script], "English"]
    with pytest.warns(LangdiffWarning, match=f"no installed font has the {script} letters of .*Noto Sans") as found:
        plot_difficulties(difficulties(names))
    assert len(found) == 1
    assert found[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plot_difficulties(difficulties(names))


def test_pictures_of_commands_keep_text_as_text(shipped, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # whoever reads an SVG has fonts of their own
        for name in ("one", "two"):
            save_picture(lambda: plot_difficulties(difficulties(ENDONYMS.values())), tmp_path / name / "picture.svg")
    svg = (tmp_path / "one" / "picture.svg").read_text(encoding="utf-8")
    assert all(f">{name}</text>" in svg for name in ENDONYMS.values())
    assert svg == (tmp_path / "two" / "picture.svg").read_text(encoding="utf-8")


def test_dollar_signs_begin_no_formula():
    names = ["$a$", "1 $ and 2 $", "plain", "$\\frac$"]
    table = pd.DataFrame({"$x$": difficulties(names), "$z_1$": difficulties(names) ** 2})
    drawn = [plot_difficulties(table["$x$"]), plot_two_models(table["$x$"], table["$z_1$"]), plot_line_follow(table)]
    for ax in drawn:
        legend = ax.get_legend()
        shown = [*ax.get_xticklabels(), *ax.get_yticklabels(), *ax.texts, ax.xaxis.label, ax.yaxis.label]
        shown += [] if legend is None else legend.get_texts()
        dollars = [text for text in shown if "$" in text.get_text()]
        assert dollars
        assert not any(text.get_parse_math() for text in dollars)
        assert all(text.get_parse_math() for text in shown if "$" not in text.get_text())
    plt.close("all")


def test_powers_of_ten_stay_formulas():
    ax = plt.subplots()[1]
    ax.set(xscale="log", xlim=(1, 1e6))
    _names.show_names(ax)
    ax.figure.canvas.draw()
    powers = [label for label in ax.get_xticklabels() if "10" in label.get_text()]
    assert powers
    assert all(label.get_parse_math() and cbook.is_math_text(label.get_text()) for label in powers)
    plt.close("all")


@given(st.lists(st.text("ab ́ä中", max_size=12), max_size=8), st.integers(3, 8))
def test_shortened_names_differ_where_names_do(names, most):
    short = shorten(names, most)
    for name, shown in zip(names, short, strict=True):
        first, _, last = shown.partition("…")
        assert shown == name or (name.startswith(first) and name.endswith(last))
    assert len(set(short)) == len(set(names))


def test_long_names_are_cut_at_the_end_and_keep_their_accents():
    assert shorten(["fra-bible-de-jerusalem"], 10) == ["fra-bible…"]
    assert shorten(["ab\u0301c\u0301d", "x"], 3) == ["ab\u0301…", "x"]
    assert shorten(["short"], 5) == ["short"]


@pytest.mark.parametrize(("editions", "height"), [(6, 2.4), (106, 4)])
def test_a_column_of_a_page_has_room_for_names_and_labels(editions, height):
    names = [f"edition-with-a-long-name-{k}" for k in range(editions)]
    figure, ax = plt.subplots(figsize=(3.3, height), layout="constrained")
    plot_difficulties(difficulties(names), ax)
    figure.canvas.draw()
    labels = ax.get_yticklabels()
    boxes = [label.get_window_extent() for label in labels]
    assert all(below.y1 <= above.y0 + 0.5 for below, above in pairwise(boxes))
    assert all(label.get_fontsize() >= 4 for label in labels)
    assert len({label.get_text() for label in labels}) == len(labels) > 5
    texts = [ax.xaxis.label, ax.child_axes[0].xaxis.label, *labels]
    for text in texts:
        box = text.get_window_extent()
        assert -1 <= box.x0 < box.x1 <= figure.bbox.width + 1, text.get_text()
    assert ax.get_window_extent().width > figure.bbox.width / 3
    plt.close(figure)


def test_numbers_after_arabic_and_hebrew_names_keep_their_order():
    """Marks of direction before and after the name make the text one from left to right (UAX 9, rules P2 and N1)."""
    for script in ("Arabic", "Hebrew"):
        assert with_note(ENDONYMS[script], " (20 + 130)") == f"\u200e{ENDONYMS[script]}\u200e (20 + 130)"
    for script in ("Han", "Devanagari", "Cherokee"):
        assert with_note(ENDONYMS[script], " (20 + 130)") == f"{ENDONYMS[script]} (20 + 130)"


@given(st.lists(st.text("ab中文かな한국", max_size=12), unique=True), st.integers(3, 12))
def test_wide_letters_count_twice(names, most):
    # names that begin alike keep more, and a wide letter with the ellipsis takes three
    alike = len({name[:1] for name in names}) < len(names)
    for name, short in zip(names, shorten(names, most), strict=True):
        assert short == name if breadth(name) <= most else alike or breadth(short) <= most


# --- Names beside points and at the ends of lines do not cover each other, measured on the letters that are drawn.


COVERED = 0.3  # of the smaller of two names, at most: twice `MOST_COVERED`, as widths are estimated before drawing
NAMES = [f"ed-{number:02d}" for number in range(24)]


def covered(ax):
    """Return the largest share of a name that another covers, by the boxes of the text that Matplotlib draws."""
    figure = ax.get_figure(root=True)
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    # of the letters alone, without the white behind them and the line to the point
    boxes = [Text.get_window_extent(text, renderer) for text in ax.texts if text.get_text()]
    shares = [0.0]
    for one, other in combinations(boxes, 2):
        width = min(one.x1, other.x1) - max(one.x0, other.x0)
        height = min(one.y1, other.y1) - max(one.y0, other.y0)
        if width > 0 and height > 0:
            shares.append(width * height / min(one.width * one.height, other.width * other.height))
    return max(shares), len(boxes)


def crowd(seed):
    """Draw difficulties, most of which are alike."""
    rng = np.random.default_rng(seed)
    spread = np.where(np.arange(len(NAMES)) < 4, 0.3, 0.05)
    return [pd.Series(rng.normal(0, spread), NAMES) for _ in "xy"]


def two_models(seed):
    x, y = crowd(seed)
    return plot_two_models(x, x + 0.3 * y)


def points(seed):
    x, y = crowd(seed)
    ax = plt.subplots(layout="constrained")[1]
    ax.plot(x, y, "o")
    ax.set(xlim=(-1, 1), ylim=(-1, 1))
    _rows.name_points(ax, x.to_numpy(), y.to_numpy(), NAMES)
    return ax


def lines(seed):
    x, y = crowd(seed)
    return plot_line_follow({"one": x, "other": y})


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("draw", [two_models, points, lines])
def test_names_do_not_cover_each_other(draw, seed):
    share, count = covered(draw(seed))
    assert share <= (0.02 if draw is lines else COVERED)
    assert count >= len(NAMES) / 2  # leaving names out is the last resort


@pytest.mark.parametrize("draw", [two_models, points, lines])
def test_without_placement_they_would(monkeypatch, draw):
    monkeypatch.setattr(_axes, "_part_names", lambda ax, names: False)
    monkeypatch.setattr(_rows, "spread", lambda wanted, *_: wanted)
    monkeypatch.setattr(_rows, "SIDES", _rows.SIDES[:1])
    monkeypatch.setattr(_rows, "MOST_COVERED", np.inf)
    assert all(covered(draw(seed))[0] > COVERED for seed in range(3))
