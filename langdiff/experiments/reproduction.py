"""Claims of papers about what makes a language hard, recomputed from their published figures."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

import pandas as pd

from langdiff.base.cells import guarded
from langdiff.base.io import atomic_path, write_text
from langdiff.base.result import Result, drawing, picture
from langdiff.datasets import mielke2019
from langdiff.datasets.published_figures import Corpus, Mielke2019, read_shipped
from langdiff.errors import ConfigError, listing
from langdiff.experiments.claims import (
    LATER,
    MANY_BIBLES,
    NAMES,
    UNAVAILABLE,
    Recomputed,
    check_claims,
    check_later_claims,
)
from langdiff.typology import adjust, correlate
from langdiff.typology.association.result import Correlations

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


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
                drawn = partial(DRAWN[name], figures, reproduction)
                temporary.write_bytes(picture(drawn, kind, salt="langdiff", dpi=200))
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
    found._tests()[0].plot("mcc", ax, label="morphological counting complexity (cells of inflection)")
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


MIELKE = "mielke2019"
PAPERS = (MIELKE, *LATER)
TESTED = ["bpe", "char"]  # bpe_best is also published, but not part of the families of tests


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Reproduction(Result):
    """Claims of a paper compared with values recomputed from its published figures.

    Attributes
    ----------
    paper : str
        Name of the data set.
    claims : DataFrame
        ``paper``, ``claim``, ``published`` (as printed; ``"identity"`` where figures are checked against one another),
        ``recomputed``, ``agreement`` (``"yes"``, ``"nearly"``: off by less than a unit of the last digit,
        ``"in part"``, ``"no"``, ``"cannot be recomputed"`` from the published figures), ``note`` (why it disagrees or
        cannot be recomputed). Those of Mielke et al. (2019) have a column ``where`` in the paper, too.
    pearson, spearman : Correlations, optional
        Two families of 32 tests, as Mielke et al. (2019) have them.
    wals : Correlations, optional
        Mood's tests of features 26A and 81A over the languages of their Table 2.
    """

    paper: str
    claims: pd.DataFrame
    pearson: Correlations | None = None
    spearman: Correlations | None = None
    wals: Correlations | None = None

    printing: ClassVar = {"index": False}

    def _tests(self) -> tuple[Correlations, Correlations, Correlations]:
        if self.pearson is None or self.spearman is None or self.wals is None:
            raise ConfigError(f"{self.paper} has no tests; figures and tables are made of {MIELKE} only.")
        return self.pearson, self.spearman, self.wals

    def table(self, number: Literal[1, 2, 3, 4]) -> pd.DataFrame:
        """Return Table 1 (sizes), 2 (categories), 3 (length in characters) or 4 (word inventory) of the paper of 2019.

        Parameters
        ----------
        number : {1, 2, 3, 4}
            Number of the table in the paper.

        Returns
        -------
        DataFrame
            One row per corpus and unit (Table 1: only the training texts, whose sizes are published), one row per
            category (Table 2), or one row per test of a corpus and language model (Tables 3 and 4).

        Raises
        ------
        ConfigError
            If `number` is not 1, 2, 3 or 4, or it is another paper.
        """
        pearson, spearman, wals = self._tests()
        if number == 1:
            return sizes(mielke2019())
        if number == 2:
            return wals.categories()
        if number not in (3, 4):
            raise ConfigError(f"table {number!r}: must be 1, 2, 3 or 4.")
        tests = pd.concat([pearson.tests, spearman.tests], ignore_index=True)
        wanted = tests[tests["predictor"] == ("characters" if number == 3 else "word_types")]
        columns = ["corpus", "language_model", "test", "n", "estimate", "low", "high", "p", "p_adjusted", "significant"]
        return wanted[columns].reset_index(drop=True)

    def save_figures(self, directory: str | Path, *, kind: str = "svg") -> pd.DataFrame:
        """Write Figures 3 to 5, Tables 1 to 4 (CSV), and ``index.md``, which says what each shows and what agrees.

        Parameters
        ----------
        directory : str or Path
            Folder to write to; made if it is missing.
        kind : str
            Format of the figures: ``"svg"``, ``"png"`` or ``"pdf"``.

        Returns
        -------
        DataFrame
            One row per file: ``of`` (the paper), ``file``, ``shows``, ``agreement``.

        Raises
        ------
        ConfigError
            If Matplotlib cannot write such figures, or it is another paper than that of 2019.
        OutputError
            If a file cannot be written.
        """
        self._tests()
        return save_paper(self, Path(directory), kind)

    def plot(self, ax: "Axes | None" = None, *, predictor: str = "mcc", **style: Any) -> "Axes":
        """Draw difficulty against a predictor, as in Figure 5 for MCC; see `langdiff.plots.plot_correlation`.

        Parameters
        ----------
        ax : Axes, optional
            Axes to draw in; by default a new figure.
        predictor : str
            Predictor on the horizontal axis, one of those of `pearson`.
        **style
            Options of `langdiff.plots.plot_correlation`.

        Returns
        -------
        Axes
            Axes with the drawing.

        Raises
        ------
        ConfigError
            If no test has that predictor, or it is another paper than that of 2019.
        """
        axes: Axes = self._tests()[0].plot(predictor, ax, **style)
        return axes

    def __repr__(self) -> str:
        """Count the claims that agree."""
        checked = self.claims["agreement"] != UNAVAILABLE
        agreed = int((self.claims["agreement"] == "yes").sum())
        return (
            f"{self.paper}: {agreed} of {int(checked.sum())} claims agree, {int((~checked).sum())} more cannot be "
            "recomputed"
        )


def reproduce(paper: str = MIELKE) -> Reproduction:
    """Recompute claims of a paper from its published figures, which are part of the package.

    Parameters
    ----------
    paper : str
        Name of a data set: ``"mielke2019"``, ``"belebele2024"``, ``"byte_premium2024"``, ``"goldfish2024"``,
        ``"tokenization_lengths2023"`` or ``"xmi2020"``.

    Returns
    -------
    Reproduction
        One row per claim with published and recomputed figures; claims that cannot be recomputed from published figures
        are among them. Of Mielke et al. (2019) also the tests themselves.

    Raises
    ------
    ConfigError
        If there is no such paper.
    DataError
        If the files of published figures are missing from the installed package or damaged.

    Examples
    --------
    >>> reproduce()
    mielke2019: 62 of 68 claims agree, 8 more cannot be recomputed
    >>> reproduce("xmi2020")
    xmi2020: 5 of 5 claims agree, 0 more cannot be recomputed
    """
    if paper not in PAPERS:
        raise ConfigError(f"unknown paper {paper!r}; use one of {listing(PAPERS)}.")
    if paper in LATER:
        return Reproduction(paper=paper, claims=check_later_claims(paper))
    figures = mielke2019()
    wals = correlate(
        figures.difficulties("bibles"),
        figures.wals_features("reconstruction"),
        edition_info=figures.edition_info("bibles"),
        corpus="bibles",
        tests=["mood"],
        averaging="factor",
    )
    calls = {
        test: [_correlate(figures, corpus, test) for corpus in get_args(Corpus)] for test in ("pearson", "spearman")
    }
    families = {test: adjust(results) for test, results in calls.items()}
    recomputed = Recomputed(
        figures=figures,
        tests=families,
        wals=wals.tests,
        categories=wals.categories(),
        languages=calls["pearson"][1].samples[0].predictors,
    )
    claims = check_claims(recomputed)
    claims.insert(0, "paper", paper)
    return Reproduction(paper=paper, claims=claims, **families, wals=wals)


def _correlate(figures: Mielke2019, corpus: Corpus, test: str) -> Correlations:
    chinese = figures.editions(corpus)["language"] == "cmn"  # no spaces, so no words to count
    return correlate(
        figures.difficulties(corpus).loc[~chinese, TESTED],
        figures.predictors(corpus),
        edition_info=figures.edition_info(corpus),
        corpus=corpus,
        tests=[test],  # type: ignore[list-item]
    )
