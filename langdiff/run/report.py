"""The HTML report of a run: one file that works offline, with all text escaped."""

import warnings
from itertools import groupby
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd

import langdiff
from langdiff.base.checksums import read_checksums, write_checksums
from langdiff.base.io import atomic_path, write_text
from langdiff.errors import LangdiffWarning
from langdiff.regression import DifficultyCurve
from langdiff.run.analysis import Analysis
from langdiff.run.figure import Figure
from langdiff.run.html_tables import html_table, tables_of_analysis, with_error
from langdiff.run.page import render_page
from langdiff.run.pictures import RANK_DRAWS, draw_all
from langdiff.run.result import RunResult
from langdiff.tables.text_sources import names_left_out

MOST_FAULTS = 100  # that the page lists
# of the analyses: the entry of the contents, the heading, and what is shown
HEADINGS = {
    "compare": (
        "Models",
        "Which regression model?",
        "The same surprisals under several models of the regression. Correlation and largest difference (nats) are "
        "those of the difficulties with the first model's. Likelihoods compare within one language model only; those "
        "of model 3 do not compare with others.",
    ),
    "goodness": (
        "Goodness of fit",
        "Which model explains new intents?",
        "Intents are dealt into subsets; in each, models are fitted to most intents and scored on the others: "
        "log-likelihood of log bits, nats per held-out cell, higher is better, and comparable within one language "
        "model only. n: sizes of held-out intents, most likely (map) or integrated out (posterior); fix: what stays "
        "as fitted.",
    ),
    "sample": (
        "Posterior",
        "What does the posterior say?",
        "Difficulties in nats, drawn by Stan: posterior mean, standard deviation and central 95 % interval, beside the "
        "estimate of the fit. R-hat should be at most 1.01, and effective sample sizes (ess) at least 100 per chain.",
    ),
    "translationese": (
        "Translationese",
        "Are native texts harder than translated ones?",
        "Difficulty of native minus that of translated texts of the same edition, in nats; percent is that in bits. "
        "Detectable: the difference in nats that four of five such samples would show to be significant. "
        "A language model trained mostly on translated text may find native text harder for that reason only.",
    ),
    "predictors": (
        "Predictors",
        "What are the texts like?",
        "Measured on the texts to learn from, or looked up.",
    ),
    "correlate": (
        "Correlations",
        "What makes a language hard?",
        "Predictors against difficulties, one observation per language, unless the unit is the edition. P adjusted "
        "allows for the number of tests; a p that does not may be small by chance.",
    ),
    "parity": (
        "Parity",
        "What does the same content take?",
        "Premiums are bytes and characters of all selected texts, as they were read, in units of those of the "
        "reference. Bits are those of the measured intents. Information parity is above 1 where an edition takes fewer "
        "bits than the reference: as published (a mean of quotients), of totals, and by the regression model, which is "
        "recommended. Below the numbers: 95 % intervals.",
    ),
}


def write_report(run: RunResult) -> Path:
    """Write ``report.html`` and the figures of a run into its directory.

    Parameters
    ----------
    run : RunResult
        Result of `langdiff.run_experiment` or `langdiff.run.read_run`.

    Returns
    -------
    Path
        Path of the report.

    Raises
    ------
    DataError
        If a training log is damaged.
    OutputError
        If the directory cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from langdiff.run import Experiment, run_experiment
    >>> settings = {
    ...     "name": "small",
    ...     "corpus": {"format": "synthetic", "n_intents": 60, "n_languages": 2},
    ...     "lm": {"models": ["kneser-ney-2"], "max_replaced": 1.0},
    ... }
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(run_experiment(Experiment.model_validate(settings), folder, progress=False)).name
    'report.html'
    """
    known = read_checksums(run.directory).files
    write_checksums(run.directory, write_pages(run, run.directory), known)
    return run.report


def write_pages(run: RunResult, folder: Path) -> list[str]:
    """Write the report and the figures of a run into a folder; return their names."""
    figures = draw_all(run)
    for figure in figures:
        with atomic_path(folder / "figures" / f"{figure.name}.svg") as temporary:
            temporary.write_bytes(figure.svg)
    write_text(folder / run.report.name, render_report(run, figures))
    return [run.report.name, *(f"figures/{figure.name}.svg" for figure in figures)]


def render_report(run: RunResult, figures: list[Figure]) -> str:
    """Return the page as text."""
    return render_page(
        "report.html",
        run=run,
        figures={part: list(group) for part, group in groupby(figures, key=lambda figure: figure.part)},
        tables={
            "difficulties": html_table(_difficulties(run), {"%": "{:+.1f}", "rank": "{:.0f}"}),
            "bits": html_table(_bits(run), {"intent": "{:.1f}", "character": "{:.3f}", "%": "{:.3f}"}),
            "presence": None if run.presence is None else html_table(_presence(run.presence), {"%": "{:.1f}"}),
            "editions": html_table(run.editions.reset_index()),
            "left_out": html_table(run.left_out),
            "skipped": html_table(run.skipped.head(MOST_FAULTS).astype({"line": "Int64"}), {"line": "{}"}),
            "failed": html_table(run.failed),
            "folds": [] if run.folds is None else tables_of_analysis("folds", run.folds.set_index("lm").reset_index()),
            "curve": None if run.curve is None else html_table(_curve(run.curve)),
            "baselines": None if run.baselines is None else html_table(_baselines(run), {"%": "{:+.1f}", "": "{:.3f}"}),
        },
        analyses=[_section(analysis) for analysis in run.analyses.values()],
        correlations=list(run.correlations().itertuples()),
        left_out=names_left_out(run.left_out),
        most_faults=MOST_FAULTS,
        rank_draws=RANK_DRAWS,
        version=langdiff.__version__,
    )


def _section(analysis: Analysis) -> dict[str, Any]:
    """Return what the page says of an analysis."""
    short, title, about = HEADINGS[analysis.name]
    return {
        "name": analysis.name,
        "short": short,
        "title": title,
        "about": about,
        "tables": tables_of_analysis(analysis.name, analysis.table),
        "notes": analysis.notes,
    }


def _bits(run: RunResult) -> pd.DataFrame:
    """Return bits per intent and per character of every model, and the share replaced, one row per edition."""
    columns = {}
    for lm, table in run.surprisals.items():
        totals = table.bits_per_character()
        columns[f"{lm}: bits per intent"] = totals["bits_per_intent"]
        columns[f"{lm}: bits per character"] = totals["bits_per_character"]
        if totals["replaced_percent"].notna().any():
            columns[f"{lm}: replaced, %"] = totals["replaced_percent"]
    return pd.DataFrame(columns).rename_axis("edition").reset_index()


def _presence(presence: pd.DataFrame) -> pd.DataFrame:
    """Return the intents of each edition of the corpus, and whether it was selected, in words."""
    words = presence["selected"].map({True: "yes", False: "no"})
    return presence.assign(selected=words).rename(columns={"percent": "of all intents, %"}).reset_index()


def _curve(curve: DifficultyCurve) -> pd.DataFrame:
    """Return percent above average and standard error at every size, one row per edition."""
    columns: dict[str, pd.Series] = {}
    for size in curve.sizes:
        rows = curve.effects(size).to_frame()
        columns[f"{size:,}: %"] = _percent(rows)
    table = pd.DataFrame(columns)
    return table.sort_values(f"{curve.sizes[-1]:,}: %", ascending=False).rename_axis("edition").reset_index()


def _percent(rows: pd.DataFrame) -> pd.Series:
    """Return percent above average with its standard error, if that is known."""
    values = zip(rows["percent"], rows["percent_std_error"], strict=True)
    cells = [
        with_error(percent, f"{percent:+z.1f}", "–" if np.isnan(error) else f"{error:.1f}") for percent, error in values
    ]
    return pd.Series(cells, rows.index)


def _baselines(run: RunResult) -> pd.DataFrame:
    """Return, one row per edition, the baselines and by how many percent each network is below the lowest."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LangdiffWarning)  # the page says it
        compared = run.against_baselines()
    below = compared.pivot(index="edition", columns="lm", values="percent")
    below = below[list(dict.fromkeys(compared["lm"]))]  # in their order
    table = cast(pd.DataFrame, run.baselines).join(below.add_suffix(": below the lowest, %"))
    return table.rename_axis("edition").reset_index()


def _difficulties(run: RunResult) -> pd.DataFrame:
    """Return percent above average, standard error and rank for every model, one row per edition."""
    columns: dict[str, pd.Series] = {}
    for lm, fit in run.fits.items():
        rows = fit.to_frame()
        columns |= {f"{lm}: %": _percent(rows), f"{lm}: rank": rows["rank"]}
    if run.truth is not None:
        columns["truth: %"] = 100 * np.expm1(run.truth)
    table = pd.DataFrame(columns)
    return table.sort_values(table.columns[0], ascending=False).rename_axis("edition").reset_index()
