"""Figures 3 to 5 and Tables 1 to 4 of Mielke et al. (2019), redrawn from the published figures."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from langdiff.base.cells import guarded
from langdiff.base.io import atomic_path, write_text
from langdiff.base.result import drawing
from langdiff.datasets import mielke2019
from langdiff.datasets.mielke_et_al_2019 import Mielke2019
from langdiff.datasets.published_figures import read_shipped
from langdiff.errors import ConfigError
from langdiff.experiments.claims import MANY_BIBLES, NAMES, UNAVAILABLE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from langdiff.experiments.reproduction import Reproduction

LMS = ["bpe", "char"]


def save_paper(reproduction: "Reproduction", directory: Path, kind: str) -> pd.DataFrame:
    """Write figures, tables and ``index.md`` into a folder; see `Reproduction.save_figures`."""
    from matplotlib.figure import Figure

    if kind not in Figure().canvas.get_supported_filetypes():
        raise ConfigError(f"unknown kind of picture {kind!r}; use svg, png or pdf.")
    figures = mielke2019()
    entries = read_shipped("mielke2019_figures.csv")
    index = entries[entries["name"].notna()].reset_index(drop=True)
    files = [f"{name}.{kind if name in DRAWN else 'csv'}" for name in index["name"]]
    for name, file in zip(index["name"], files, strict=True):
        with atomic_path(directory / file) as temporary:
            if name in DRAWN:
                _draw(DRAWN[name], figures, reproduction, temporary, kind)
            else:
                number: Any = int(name[-1])
                guarded(reproduction.table(number)).to_csv(temporary, index=False)
    agreement = [_agreement(reproduction.claims, pattern) for pattern in index["claims"]]
    index = index.assign(file=files, agreement=agreement)[["of", "file", "shows", "agreement"]]
    write_text(directory / "index.md", _markdown(index, entries[entries["name"].isna()]))
    return index


def sizes(figures: Mielke2019) -> pd.DataFrame:
    """Return mean, least and greatest size of the training texts, one row per corpus and unit."""
    tables = []
    for corpus, name in NAMES.items():
        editions = figures.editions(corpus)
        table = editions[["characters", "bpe_tokens", "word_tokens", "word_types"]].agg(["mean", "min", "max"]).T
        tables.append(table.rename_axis("unit").reset_index().assign(corpus=name, editions=len(editions)))
    return pd.concat(tables, ignore_index=True)[["corpus", "editions", "unit", "mean", "min", "max"]]


def _draw(
    draw: "Callable[[Mielke2019, Reproduction], Figure]",
    figures: Mielke2019,
    found: "Reproduction",
    path: Path,
    kind: str,
) -> None:
    from matplotlib import rc_context

    # the same figures give the same bytes, and text that can be read and searched
    with rc_context({"svg.hashsalt": "langdiff", "svg.fonttype": "none"}):
        metadata: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind, {})
        draw(figures, found).savefig(path, format=kind, dpi=200, metadata=metadata)


def _figure(columns: int, width: float, height: float) -> "tuple[Figure, Any]":
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")  # without pyplot, which would keep it
    return figure, figure.subplots(ncols=columns)


def _figure_3(figures: Mielke2019, _: "Reproduction") -> "Figure":
    figure, ax = _figure(1, 6.6, 4.8)
    order = {"bpe_best": "BPE, merges by language", "bpe": "BPE, 0.4 merges per word type", "char": "characters"}
    drawing("plot_line_follow")(figures.difficulties("europarl")[list(order)].rename(columns=order), ax)
    return figure


def _figure_4(figures: Mielke2019, _: "Reproduction") -> "Figure":
    figure, (left, middle, right) = _figure(3, 16.5, 5.6)
    info = pd.concat([figures.edition_info(corpus) for corpus in NAMES])
    means = []
    for (corpus, name), ax in zip(NAMES.items(), (left, right), strict=True):
        table = figures.difficulties(corpus)[LMS]
        means.append(table.mean(axis=1).rename(name))
        x, y = (table[lm].rename(f"{name}, {lm}") for lm in LMS)
        drawing("plot_by_language")(x, y, ax, edition_info=info, highlight=MANY_BIBLES, average=False)
    drawing("plot_by_language")(means[0], means[1], middle, edition_info=info, highlight=MANY_BIBLES)
    return figure


def _figure_5(_: Mielke2019, found: "Reproduction") -> "Figure":
    figure, ax = _figure(1, 7.0, 4.6)
    found.pearson.plot("mcc", ax, label="morphological counting complexity (cells of inflection)")
    return figure


DRAWN: "dict[str, Callable[[Mielke2019, Reproduction], Figure]]" = {
    "figure3": _figure_3,
    "figure4": _figure_4,
    "figure5": _figure_5,
}


def _agreement(claims: pd.DataFrame, pattern: str) -> str:
    """Return lines with the number of claims that agree, and the others."""
    rows = claims[claims["claim"].str.contains(pattern)]
    checked = rows[rows["agreement"] != UNAVAILABLE]
    if checked.empty:
        return "; ".join(f"{row.claim}: {UNAVAILABLE} ({row.note})" for row in rows.itertuples())
    met = int((checked["agreement"] == "yes").sum())
    differing = [
        f"{row.claim}: published {row.published}, recomputed {row.recomputed} ({row.agreement})"
        for row in checked[checked["agreement"] != "yes"].itertuples()
    ]
    return ". ".join([f"{met} of {len(checked)} claims of the paper agree", *differing])


def _markdown(index: pd.DataFrame, not_drawn: pd.DataFrame) -> str:
    lines = [
        "# Figures and tables of Mielke et al. (2019)",
        "",
        "Redrawn by langdiff from the published difficulties and predictors "
        "([arXiv 1906.04726](https://arxiv.org/abs/1906.04726)). Claims of the paper that do not agree are named.",
        "",
        "| of the paper | file | shows | claims of the paper |",
        "|---|---|---|---|",
        *(
            f"| {row.of} | [{row.file}]({row.file}) | {_cell(row.shows)} | {_cell(row.agreement)} |"
            for row in index.itertuples()
        ),
        "",
        "Not drawn, since the numbers are not published:",
        "",
        *(f"* {row.of}: {row.shows}." for row in not_drawn.itertuples()),
    ]
    return "\n".join(lines) + "\n"


def _cell(text: object) -> str:
    return str(text).replace("|", "\\|")
