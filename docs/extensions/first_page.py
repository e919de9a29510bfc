"""The picture and the figures of the first page and of the README, from the bits that the package ships.

Run ``python docs/extensions/first_page.py`` after `ld.datasets.three_corpora` or the plots have changed: it draws the
picture and rewrites the paragraph of both pages that begins with "Of what distinguishes".
"""

import dataclasses
import re
import textwrap
from collections.abc import Callable
from functools import partial
from io import StringIO
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import langdiff as ld
from langdiff.plots import plot_shares

DOCS = Path(__file__).resolve().parents[1]
OUT = DOCS / "images" / "first-page.svg"
HTML = OUT.with_suffix(".html")
PAGES = DOCS / "index.md", DOCS.parent / "README.md"
BEGINNING = "Of what distinguishes "
CORPORA = {"nt": "New Testament", "ntrex": "NTREX", "flores200": "FLORES-200"}
ONE_TABLE = "char-residual-quick", "1300"  # of each corpus, where one stands for all
LANGUAGES = {
    "basq1248": "Basque", "croa1245": "Croatian", "czec1258": "Czech", "dani1285": "Danish", "dutc1256": "Dutch",
    "esto1258": "Estonian", "finn1318": "Finnish", "hebr1245": "Hebrew", "hind1269": "Hindi", "hung1274": "Hungarian",
    "indo1316": "Indonesian", "mala1464": "Malayalam", "mand1415": "Mandarin", "mode1248": "Greek",
    "nucl1310": "Burmese", "nucl1643": "Japanese", "roma1327": "Romanian", "russ1263": "Russian",
    "stan1288": "Spanish", "stan1290": "French", "stan1293": "English", "stan1295": "German", "telu1262": "Telugu",
    "tosk1239": "Albanian", "ukra1253": "Ukrainian", "west2369": "Persian", "zulu1248": "Zulu",
}  # fmt: skip
SETTINGS = {"svg.fonttype": "none", "svg.hashsalt": "first page"}  # text stays text, ids stay the same


def named(shares: ld.DifficultyShares) -> ld.DifficultyShares:
    """Return the same with languages and corpora by name."""
    facets = shares.facets.assign(corpus=shares.facets["corpus"].map(CORPORA))
    return dataclasses.replace(shares, difficulties=shares.difficulties.rename(index=LANGUAGES), facets=facets)


def number(value: float) -> str:
    """Return a number below 1 as the handbook writes it."""
    return f"{value:.2f}".removeprefix("0")


def paragraph(shares: ld.DifficultyShares) -> str:
    """Return what the first page says of the shares."""
    own = shares.to_frame().loc["language"]
    table = shares.correlations
    chosen = table[(table["lm"] == ONE_TABLE[0]) & (table["size"].astype(str) == ONE_TABLE[1])]
    low, high = (chosen.loc[getattr(chosen["pearson"], side)()] for side in ("idxmin", "idxmax"))
    one, other = (
        f"{number(row['pearson'])} ({CORPORA[row['one']]} and {CORPORA[row['other']]})" for row in (low, high)
    )
    return (
        f"{BEGINNING}{len(shares.difficulties)} languages in bits for the same content, {number(own['share'])} "
        f"({number(own['low'])} to {number(own['high'])}) is the same in a New Testament, in news (NTREX) and in "
        "FLORES-200 (Wikinews, Wikijunior, Wikivoyage), with one translation of each: what changes with the corpus is "
        f"the translation's as well. Difficulties from two corpora correlate at {one} to {other}. A difficulty is "
        "printed with its corpus, its learner and its size."
    )


def with_paragraph(page: str, text: str) -> str:
    """Return a page with the paragraph in place of its own."""
    lines = textwrap.fill(text, 120, break_on_hyphens=False)
    found, count = re.subn(rf"^{BEGINNING}.*?(?=\n\n)", lambda _: lines, page, count=1, flags=re.DOTALL | re.MULTILINE)
    if not count:
        raise ValueError(f"the page has no paragraph that begins with {BEGINNING!r}.")
    return found


def draw(size: tuple[float, float], picture: Callable[..., Axes]) -> str:
    """Return a picture as SVG without a header, its title left to the page."""
    figure = Figure(figsize=size, layout="constrained")
    picture(ax=figure.subplots()).set_title("", loc="left")
    text = StringIO()
    figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    return text.getvalue()[text.getvalue().index("<svg") :]


def main() -> None:
    """Draw both pictures, in one file for the README and in two with titles for the first page; write the figures."""
    tables = ld.datasets.three_corpora()
    shares = ld.difficulty_shares(tables)
    two = [name for name, corpus in tables.facets["corpus"].items() if corpus != "nt"]
    of_two = ld.difficulty_shares(
        {name: tables[name] for name in two}, languages=tables.languages, facets=tables.facets.loc[two]
    )
    bars = {"all three": shares, "NTREX and\nFLORES-200": of_two}
    own, count = shares.to_frame().loc["language", "share"], len(shares.difficulties)
    titles = (
        f"{100 * own:.0f} % of what distinguishes {count} languages is the same in three corpora",
        "The same languages have other ranks in other corpora",
    )
    drawn = {"shares": partial(plot_shares, bars, "stacked"), "ranks": partial(plot_shares, named(shares), "ranks")}
    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(10.4, 5.4), layout="constrained")
        for ax, title, picture in zip(figure.subplots(1, 2), titles, drawn.values(), strict=True):
            pad = 84 if "%" in title else None  # room for the legend
            picture(ax=ax).set_title(textwrap.fill(title, 48), loc="left", pad=pad)
        figure.savefig(OUT, metadata={"Date": None})
    pictures = []
    for (name, picture), height in zip(drawn.items(), (3.0, 5.4), strict=True):
        with mpl.rc_context(SETTINGS | {"svg.hashsalt": name}):  # ids differ, since both are in one page
            pictures.append(draw((5.2, height), picture))
    blocks = [f"<div><h2>{title}</h2>\n{svg}</div>" for title, svg in zip(titles, pictures, strict=True)]
    HTML.write_text("<div>\n" + "\n".join(blocks) + "\n</div>\n", encoding="utf-8")
    text = paragraph(shares)
    for page in PAGES:
        page.write_text(with_paragraph(page.read_text(encoding="utf-8"), text), encoding="utf-8")


if __name__ == "__main__":
    main()
