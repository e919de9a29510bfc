"""The picture of the first page and of the README, drawn from the table of twenty editions in results-first.md.

Run ``python docs/extensions/first_page.py`` after that table or the plots have changed.
"""

import re
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd

import langdiff as ld
from langdiff.plots import plot_difficulties, plot_two_models

DOCS = Path(__file__).resolve().parents[1]
OUT = DOCS / "images" / "first-page.svg"
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


def main() -> None:
    """Draw both panels and write the file."""
    from matplotlib.figure import Figure

    table = read_table((DOCS / "results-first.md").read_text(encoding="utf-8"))
    one, other = (effects_of(table[column], name) for column, name in zip((4, 7), MODELS.values(), strict=True))
    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(10.4, 5.4), layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=[1, 1.1])
        plot_difficulties(one, left)
        plot_two_models(one, other, right)
        right.set_title(f"Pearson's r = {one.estimate.corr(other.estimate):.2f}", loc="left")  # of rounded figures
        figure.savefig(OUT, metadata={"Date": None})


if __name__ == "__main__":
    main()
