"""The picture of recall by construction, drawn from the table of parsers in evidence/constructions.md.

Run ``python docs/extensions/constructions_picture.py`` after that table or the plots have changed.
"""

import re
from pathlib import Path

import matplotlib as mpl
import pandas as pd
from statsmodels.stats.proportion import proportion_confint

from langdiff.plots import plot_constructions

DOCS = Path(__file__).resolve().parents[1]
OUT = DOCS / "images" / "constructions.svg"
SETTINGS = {"svg.fonttype": "none", "svg.hashsalt": "constructions"}  # text stays text, ids stay the same
CELL = re.compile(r"([\d.]+)(?: \(([\d.]+)–([\d.]+)\))?")  # .75 (.47–.91)
EXACT = ("tree", "graph")  # scored once, so that an interval follows from recall and number; damage is drawn 20 times


def read_table(page: str) -> pd.DataFrame:
    """Return one row per type and parser with recall and interval, if any; parsers that lack a type are left out."""
    start = page.index("| phenomenon | type | targets |")
    lines = page[start : page.index("\n\n", start)].splitlines()
    head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    whole = [parser for place, parser in enumerate(head) if place > 2 and all(row[place] != "–" for row in rows)]
    found = []
    for phenomenon, kind, targets, *cells in rows:
        for parser, cell in zip(head[3:], cells, strict=True):
            if parser not in whole:
                continue
            values = (None,) * 3 if cell == "n/a" else CELL.fullmatch(cell).groups()  # not in a basic tree
            recall, low, high = (float(part) if part else float("nan") for part in values)
            if parser in EXACT and cell != "n/a":
                n = int(targets)
                low, high = proportion_confint(round(recall * n), n, method="wilson")
            found.append((phenomenon, kind, parser, recall, low, high))
    return pd.DataFrame(found, columns=["phenomenon", "type", "parser", "recall", "low", "high"])


def main() -> None:
    """Draw the table and write the file."""
    with mpl.rc_context(SETTINGS):
        ax = plot_constructions(read_table((DOCS / "evidence" / "constructions.md").read_text(encoding="utf-8")))
        ax.get_figure().savefig(OUT, metadata={"Date": None})


if __name__ == "__main__":
    main()
