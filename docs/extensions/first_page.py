"""The pictures of the first page and of the README, drawn from the table of twenty editions in results-first.md.

Run ``python docs/extensions/first_page.py`` after that table or the plots have changed.
"""

import re
from collections.abc import Callable
from functools import partial
from io import StringIO
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import langdiff as ld
from langdiff.plots import plot_difficulties, plot_two_models

DOCS = Path(__file__).resolve().parents[1]
OUT = DOCS / "images" / "first-page.svg"
HTML = OUT.with_suffix(".html")
MODELS = {"char-residual": "characters", "bpe-residual": "BPE"}
LANGUAGES = {
    "hun": "Hungarian", "fin": "Finnish", "ell": "Greek", "eus": "Basque", "rus": "Russian", "chr": "Cherokee",
    "deu": "German", "fra": "French", "jpn": "Japanese", "vie": "Vietnamese", "hin": "Hindi", "ind": "Indonesian",
    "spa": "Spanish", "zul": "Zulu", "mri": "Māori", "arb": "Arabic", "quw": "Quichua", "heb": "Hebrew",
    "eng-kjv": "English (KJV)", "eng-web": "English (WEB)",
}  # fmt: skip
SETTINGS = {"svg.fonttype": "none", "svg.hashsalt": "first page"}  # text stays text, ids stay the same


def read_table(page: str) -> pd.DataFrame:
    """Return the rows of the table of editions, cells as they are written."""
    start = page.index("| edition | language, family |")
    lines = page[start : page.index("\n\n", start)].splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    table = pd.DataFrame(cells[2:]).set_index(0)
    table.index = [LANGUAGES.get(edition) or LANGUAGES[edition.split("-")[0]] for edition in table.index]
    return table.rename_axis("edition")


def effects_of(cells: pd.Series, title: str) -> ld.Effects:
    """Return the difficulties of a column such as ``+10.7 ± 0.4`` (percent), in nats."""
    numbers = [re.fullmatch(r"([+−]?[\d.]+) ± ([\d.]+)", cell) for cell in cells]
    percent, half = np.array([(float(n[1].replace("−", "-")), float(n[2])) for n in numbers if n]).T
    variances = pd.DataFrame(np.diag((half / (100 + percent)) ** 2), cells.index, cells.index)
    return ld.Effects(estimate=pd.Series(np.log1p(percent / 100), cells.index), covariance=variances, title=title)


def finding(one: pd.Series, other: pd.Series) -> str:
    """Return a title: which languages are at the ends under both models."""
    hardest, easiest = ({one.idxmax(), other.idxmax()}, {one.idxmin(), other.idxmin()})
    if len(hardest) > 1 or len(easiest) > 1:
        return f"{' and '.join(sorted(hardest))} are hardest, {' and '.join(sorted(easiest))} easiest"
    return f"{hardest.pop()} is hardest and {easiest.pop()} easiest under both models"


def draw(size: tuple[float, float], picture: Callable[[Axes], Axes]) -> str:
    """Return a picture as SVG without a header, its title left to the page."""
    figure = Figure(figsize=size, layout="constrained")
    picture(figure.subplots()).set_title("", loc="left")
    text = StringIO()
    figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    return text.getvalue()[text.getvalue().index("<svg") :]


def main() -> None:
    """Draw both pictures: in one file for the README, and in two with titles for the first page."""
    table = read_table((DOCS / "results-first.md").read_text(encoding="utf-8"))
    one, other = (effects_of(table[column], name) for column, name in zip((4, 7), MODELS.values(), strict=True))
    r = one.estimate.corr(other.estimate)  # of rounded figures
    titles = finding(one.estimate, other.estimate), f"Models of characters and of BPE units nearly agree: r = {r:.2f}"
    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(10.4, 5.4), layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=[1, 1.1])
        plot_difficulties(one, left).set_title(titles[0], loc="left", pad=16)
        plot_two_models(one, other, right).set_title(titles[1], loc="left")
        figure.savefig(OUT, metadata={"Date": None})
    drawn = {"forest": partial(plot_difficulties, one), "models": partial(plot_two_models, one, other)}
    pictures = []
    for name, picture in drawn.items():
        with mpl.rc_context(SETTINGS | {"svg.hashsalt": name}):  # ids differ, since both are in one page
            pictures.append(draw((5.2, 5.2), picture))
    blocks = [f"<div><h2>{title}</h2>\n{svg}</div>" for title, svg in zip(titles, pictures, strict=True)]
    HTML.write_text("<div>\n" + "\n".join(blocks) + "\n</div>\n", encoding="utf-8")


if __name__ == "__main__":
    main()
