"""The report for who does not see it, or sees it in other colours: names of pictures, heads of tables, contrasts."""

import re
from html.parser import HTMLParser

import pytest
from matplotlib.colors import to_rgb

from langdiff.plots._axes import INK, SERIES
from langdiff.run import Experiment, run_experiment
from langdiff.run.html import COLOURS, DATA, HERE, inline_svg

PAGES = {"light": "#ffffff", "dark": "#1b1b1f"}
LEAST = 3.0  # of pictures with the page; WCAG 2.2, success criterion 1.4.11
LEAST_OF_TEXT = 4.5  # success criterion 1.4.3
OF_TEXT = ("--ink", "--soft", "--easier", "--harder")


class Tree(HTMLParser):
    """Pictures with the captions of their figures, and cells of tables."""

    def __init__(self, text):
        super().__init__()
        self.labels, self.captions, self.cells, self.open = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        if tag == "svg":
            self.labels.append(dict(attrs))
        if tag in ("td", "th"):
            self.cells.append((tag, dict(attrs).get("scope"), "thead" in self.open))
        if tag == "figcaption":
            self.captions.append("")

    def handle_endtag(self, tag):
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data):
        if self.open and self.open[-1] == "figcaption":
            self.captions[-1] += data


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    settings = {
        "name": "seen",
        "corpus": {"format": "synthetic", "n_intents": 100, "n_languages": 3},
        "lm": {"models": ["kneser-ney-2", "kneser-ney-3"], "max_replaced": 1.0, "baselines": False},
    }
    run = run_experiment(Experiment.model_validate(settings), tmp_path_factory.mktemp("run"), progress=False)
    return run.report.read_text(encoding="utf-8")


def contrast(one, other):
    """Return the contrast of two colours, by the definition of WCAG 2.2."""
    light = []
    for colour in (one, other):
        parts = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in to_rgb(colour)]
        light.append(sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True)) + 0.05)
    return max(light) / min(light)


def scheme(name):
    """Return the custom properties of the style sheet in light or dark pages."""
    sheet = (HERE / "report.css").read_text(encoding="utf-8")
    light, dark = sheet.split("@media (prefers-color-scheme: dark)")[:2]
    known = dict.fromkeys((f"--{colour[1:]}" for colour in DATA), None)
    known = {key: f"#{key[2:]}" for key in known}
    for part in (light, dark)[: 1 + (name == "dark")]:
        known |= dict(re.findall(r"(--[\w-]+): (#\w+)", part))
    return known


def test_every_picture_says_its_finding_and_its_kind_and_not_its_caption(page):
    tree = Tree(page)
    assert len(tree.labels) == len(tree.captions) >= 6
    for attributes, caption in zip(tree.labels, tree.captions, strict=True):
        assert attributes["role"] == "img"
        assert re.fullmatch(r".{10,} \([a-z ]+\)\.", attributes["aria-label"])
        assert attributes["aria-label"].strip(".") not in caption
    assert len({each["aria-label"] for each in tree.labels}) == len(tree.labels)


def test_cells_that_are_heads_have_a_scope(page):
    cells = Tree(page).cells
    assert {(tag, scope) for tag, scope, of_head in cells if of_head} == {("th", "col")}
    assert {(tag, scope) for tag, scope, of_head in cells if not of_head} == {("th", "row"), ("td", None)}


def test_colours_of_pictures_are_those_of_series_and_follow_the_page(page):
    assert set(DATA) == set(SERIES) - {INK}
    pictures = re.findall(r"<svg role=.*?</svg>", page, re.DOTALL)
    for colour, value in COLOURS.items():
        assert not any(f": {colour};" in picture or f': {colour}"' in picture for picture in pictures), colour
        assert value == "currentColor" or value.startswith("var(--")
    assert any("var(--0062b8, #0062b8)" in picture for picture in pictures)


@pytest.mark.parametrize("name", PAGES)
def test_data_and_text_stand_out_from_the_page(name):
    colours = scheme(name)
    assert contrast(colours["--page"], PAGES[name]) == 1
    for colour in (*(f"--{each[1:]}" for each in DATA), "--grey"):
        assert contrast(colours[colour], PAGES[name]) >= LEAST, colour
    for colour in OF_TEXT:
        assert contrast(colours[colour], PAGES[name]) >= LEAST_OF_TEXT, colour


def test_contrast_is_that_of_the_definition():
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)  # just below what text needs


def test_numbers_have_a_minus_sign_not_a_hyphen(page):
    shown = re.sub(r"<svg.*?</svg>|<script.*?</script>|<style.*?</style>", "", page, flags=re.DOTALL)
    cells = re.findall(r"<td class='number[^>]*>([^<]*)<", shown)
    assert any(cell.startswith("−") for cell in cells)
    assert not any("-" in cell for cell in cells)


def test_a_hostile_label_is_text():
    made = inline_svg("a", '<svg viewBox="0 0 1 1"></svg>', '"><script>')
    assert made == '<svg role="img" aria-label="&#34;&gt;&lt;script&gt;" viewBox="0 0 1 1"></svg>'
