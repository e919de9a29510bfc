"""The picture and the figures of the first page, of the README and of the paper, from the bits that the package ships.

Run ``python docs/extensions/first_page.py`` after `ld.datasets.edition_atlas` or the plots have changed: it draws
``texts.svg`` and rewrites the paragraph of both pages that begins with "Two translations of one New Testament".
"""

import dataclasses
import re
import textwrap
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import langdiff as ld
from langdiff.plots import plot_shares

DOCS = Path(__file__).resolve().parents[1]
OUT = DOCS / "images" / "texts.svg"
PAGES = DOCS / "index.md", DOCS.parent / "README.md"
BEGINNING = "Two translations of one New Testament "
CORPORA = {"nt": "New Testament", "ntrex": "NTREX", "flores200": "FLORES-200"}
NEWS = ("NTREX", "FLORES-200")
SIZES = {"5": "5 MB", "10": "10 MB", "100": "100 MB", "1000": "1 GB"}
SETTINGS = {"svg.fonttype": "none", "svg.hashsalt": "texts"}  # text stays text, ids stay the same
CAPTION = (
    "New Testaments, news and FLORES-200 in 27 languages, one dot per edition, and how well texts and sizes agree on "
    "which languages are hard."
)


def tables(marked: bool = False, representative: bool = False) -> ld.datasets.Measurements:
    """Return 6-grams of the languages that New Testaments, NTREX and FLORES-200 have."""
    whole = ld.datasets.edition_atlas().sel(lm="kneser-ney-6", size="1300")
    info = whole.editions
    corpora = info.groupby("glottocode")["corpus"].nunique()
    kept = info["glottocode"].map(corpora) == len(CORPORA)
    kept &= (info["marked"] == "") | marked
    kept &= (info["representative"] == "True") | (not representative)
    return whole.sel(info.index[kept])


def with_genre(of: ld.datasets.Measurements) -> ld.DifficultyShares:
    """Return the shares of some tables, NTREX and FLORES-200 being of one genre."""
    genre = ["testament" if corpus == "nt" else "news" for corpus in of.facets["corpus"]]
    return ld.difficulty_shares(of, facets=of.facets.assign(genre=genre))


def of_testaments(shares: ld.DifficultyShares) -> tuple[str, str]:
    """Return the shares of the language and of the edition among New Testaments."""
    own = shares.by_corpus().query("corpus == 'nt'").set_index("component")["share"]
    return number(own["language"]), number(own["edition"])


def named(shares: ld.DifficultyShares) -> ld.DifficultyShares:
    """Return the same with languages, corpora and sizes by name."""
    info = ld.datasets.edition_atlas().editions
    languages = info[info["name"] != ""].drop_duplicates("glottocode").set_index("glottocode")["name"]
    words = CORPORA | SIZES
    facets = shares.facets.map(lambda value: words.get(value, value))
    agreement = shares.agreement.replace({"one": words, "other": words})
    of_editions = shares.editions.replace({"corpus": CORPORA})
    of_editions["language"] = of_editions["language"].map(languages)
    return dataclasses.replace(shares, facets=facets, agreement=agreement, editions=of_editions)


def number(value: float) -> str:
    """Return a number below 1 as the handbook writes it."""
    return f"{value:.2f}".removeprefix("0")


def paragraph() -> str:
    """Return what the first page says of editions, corpora, sizes and learners."""
    unmarked = tables()
    texts = named(ld.difficulty_shares(unmarked)).texts()
    language, edition = of_testaments(with_genre(unmarked))
    of_all = of_testaments(with_genre(tables(marked=True)))
    atlas = ld.datasets.edition_atlas()
    totals = {name: atlas[f"flores200/{name}"] for name in ("goldfish//5", "goldfish//1000", "xglm-7.5b/")}
    small, large, other = totals.values()
    size, learner = (
        shares_of_totals(one, two, atlas.editions) for one, two in ((small, large), (large[other.index], other))
    )
    each = ld.difficulty_shares(tables(representative=True))
    typical = 100 * np.expm1(ld.edition_spread().rms)
    return (
        f"{BEGINNING}into one language typically differ by {typical:.1f} %. Two corpora of news agree better "
        f"({number(texts.loc[NEWS])}) on which languages are hard than two translators of one book "
        f"({number(texts.iloc[0, 0])}). Of the variance among New Testaments {language} is the language's in other "
        f"corpora too, {edition} the edition's ({of_all[0]} and {of_all[1]} with pointed, annotated and paraphrased "
        f"ones). In FLORES-200, 5 MB against 1 GB of training text account for {size}, the learner for {learner}. "
        f"Three corpora distinguish {100 * each.pairs_expected():.0f} % of pairs of languages; half would take "
        f"{each.corpora_needed(0.5)} corpora."
    )


def shares_of_totals(one: pd.Series, two: pd.Series, info: pd.DataFrame) -> str:
    """Return the share of what differs between two tables of totals."""
    facets = pd.DataFrame({"corpus": "flores200", "lm": ["a", "b"]}, index=["a", "b"])
    found = ld.difficulty_shares({"a": one, "b": two}, facets=facets, edition_info=info)
    return number(found.frame["share"].iloc[1])


def with_paragraph(page: str, text: str) -> str:
    """Return a page with the paragraph in place of its own."""
    lines = textwrap.fill(text, 120, break_on_hyphens=False)
    found, count = re.subn(rf"^{BEGINNING}.*?(?=\n\n)", lambda _: lines, page, count=1, flags=re.DOTALL | re.MULTILINE)
    if not count:
        raise ValueError(f"the page has no paragraph that begins with {BEGINNING!r}.")
    return found


def draw() -> Figure:
    """Return the picture: editions at the left, how well texts and sizes agree at the right."""
    shares = named(ld.difficulty_shares(tables()))
    sizes = named(ld.difficulty_shares(ld.datasets.edition_atlas().sel(lm="goldfish")))
    figure = Figure(figsize=(9.6, 6.2), layout="constrained")
    grid = figure.add_gridspec(2, 2, width_ratios=(1.35, 1))
    plot_shares(shares, "editions", figure.add_subplot(grid[:, 0]))
    for row, (found, title) in enumerate(
        ((shares, "Agreement of texts"), (sizes, "Agreement of sizes, Goldfish models"))
    ):
        plot_shares(found, "texts", figure.add_subplot(grid[row, 1])).set_title(title, loc="left")
    return figure


def main() -> None:
    """Draw the picture and write the figures."""
    with mpl.rc_context(SETTINGS):
        draw().savefig(OUT, metadata={"Date": None})
    text = paragraph()
    for page in PAGES:
        page.write_text(with_paragraph(page.read_text(encoding="utf-8"), text), encoding="utf-8")


if __name__ == "__main__":
    main()
