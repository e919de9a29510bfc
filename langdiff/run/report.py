"""HTML reports, of a run and of parity alone: one file that works offline, with all text escaped."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import combinations, groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from markupsafe import Markup

import langdiff
from langdiff.base.checksums import read_checksums, write_checksums
from langdiff.base.grids import MINUS
from langdiff.base.io import atomic_path, write_text
from langdiff.errors import en
from langdiff.lm.jobs.folder import join_logs, kept_models, read_job_log
from langdiff.lm.scoring import split_name
from langdiff.regression import DifficultyFit, standardized_residuals
from langdiff.run.analysis import Figure, draw, for_page
from langdiff.run.directory import JOBS
from langdiff.run.html import html_table, inline_svg, percent, render_page, tables_of
from langdiff.run.result import RunResult
from langdiff.run.settings import SECTIONS
from langdiff.tables.edition_info import spread_notes
from langdiff.tables.pairs import rank_set
from langdiff.tables.text_sources import names_left_out

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from langdiff.parity.result import Parity
    from langdiff.tables.table_result import Table


RANK_DRAWS = 4000  # ranks are counted in so many; .8 percentage points are the standard error of a half
MOST_FAULTS = 100  # that the page lists


def write_report(run: RunResult) -> Path:
    """Write ``report.html`` and the figures of a run into its directory.

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
    compared = _compared(run)
    figures = draw_all(run, compared)
    for figure in figures:
        with atomic_path(folder / "figures" / f"{figure.name}.svg") as temporary:
            temporary.write_bytes(figure.svg)
    write_text(folder / run.report.name, render_report(run, figures, compared))
    return [run.report.name, *(f"figures/{figure.name}.svg" for figure in figures)]


def _compared(run: RunResult) -> "Table":
    """Return the difficulties by all language models, by family where there are two families or more."""
    infos = [fit.edition_info for fit in run.fits.values()]
    families = {family for info in infos if info is not None and "family" in info for family in info["family"].dropna()}
    return langdiff.table(run.fits, by="family" if len(families) > 1 else None)


def render_report(run: RunResult, figures: list[Figure], compared: "Table | None" = None) -> str:
    """Return the page as text."""
    compared = _compared(run) if compared is None else compared
    first, *further = compared.sentences()
    fit = next(iter(run.fits.values()))
    return render_page(
        "report.html",
        run=run,
        figures={part: list(group) for part, group in groupby(figures, key=lambda figure: figure.part)},
        tables={
            "difficulties": html_table(_difficulties(run, compared), {"%": "{:+.1f}", "rank": "{:.0f}"}),
            "bits": html_table(_bits(run), {"intent": "{:.1f}", "character": "{:.3f}", "%": "{:.3f}"}),
            "presence": None if run.presence is None else html_table(_presence(run.presence), {"%": "{:.1f}"}),
            "editions": html_table(run.editions.reset_index()),
            "left_out": html_table(run.left_out),
            "skipped": html_table(run.skipped.head(MOST_FAULTS).astype({"line": "Int64"}), {"line": "{}"}),
            "failed": html_table(run.failed),
        },
        sections=_sections(run),
        finding=" ".join((*compared.warnings, first)),
        further=" ".join(further),
        of_editions=" ".join(spread_notes(fit.difficulty, fit.edition_info) if fit.converged else ()),
        correlations=list(run.correlations().itertuples()),
        left_out=names_left_out(run.left_out),
        most_faults=MOST_FAULTS,
        rank_draws=RANK_DRAWS,
        version=langdiff.__version__,
    )


def _sections(run: RunResult) -> list[dict[str, Any]]:
    """Return the part of the page about each section, or the sentence in its place."""
    shown = []
    for name, kind in SECTIONS.items():
        entry = {"name": name, "title": kind.about.title, "heading": kind.about.heading}
        if found := run.analyses.get(name):
            about = kind.explain(run) if not found.failure else kind.about.explains
            tables = kind.tables(run) if not found.failure else []
            shown.append(entry | {"about": about, "tables": tables, "notes": found.notes})
        elif instead := kind.instead(run):
            shown.append(entry | {"about": instead, "tables": [], "notes": ()})
    return shown


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


def _difficulties(run: RunResult, compared: "Table") -> pd.DataFrame:
    """Return percent above average, standard error and rank for every model, and differences of two, by edition."""
    columns: dict[str, pd.Series] = {}
    own = compared.lines[compared.lines["kind"] == "edition"].set_index("row")
    if (compared.lines["kind"] == "group").any():
        columns["family"] = own["group"].map(str)
    for lm, fit in run.fits.items():
        rows = fit.to_frame()
        columns |= {f"{lm}: %": percent(rows), f"{lm}: rank": rows["rank"]}
        if "rank_low" in rows:
            sets = [rank_set(*ends) for ends in zip(rows["rank_low"], rows["rank_high"], strict=True)]
            columns[f"{lm}: rank set"] = pd.Series(sets, rows.index)
    differences = compared.differences[compared.differences["kind"] == "edition"]
    for pair, rows in differences.groupby("column"):
        columns[f"{pair}: %"] = percent(rows.set_index("row"))
    if run.truth is not None:
        columns["truth: %"] = 100 * np.expm1(run.truth)
    table = pd.DataFrame(columns)
    first = next(name for name in table.columns if name != "family")
    return table.sort_values(first, ascending=False).rename_axis("edition").reset_index()


def draw_all(run: RunResult, compared: "Table") -> list[Figure]:
    """Draw all pictures of a run."""
    of_part = (
        partial(_draw_difficulties, compared),
        _draw_ranks,
        _draw_agreement,
        _draw_residuals,
        _draw_training,
        _draw_sections,
    )
    return [figure for figures in of_part for figure in figures(run)]


def _draw_sections(run: RunResult) -> Iterable[Figure]:
    for name in run.analyses:
        yield from SECTIONS[name].pictures(run)


def _draw_difficulties(compared: "Table", run: RunResult) -> Iterable[Figure]:
    if not run.fits:
        return
    lm, fit = next(iter(run.fits.items()))
    groups = " Rows are grouped by family." if "group" in set(compared.lines["kind"]) else ""
    right = " Right: the difference between the two language models." if len(run.fits) == 2 else ""
    yield draw(
        "difficulties",
        f"Difficulties by each language model, in percent of the average edition, with 95 % intervals.{groups}{right}",
        "difficulties",
        lambda ax: compared.plot(ax),
        rows=int((compared.lines["kind"] != "mean").sum() * (1 + 0.2 * (len(run.fits) - 1))),
        title=_spread_title(fit, lm),
        wide=True,
        kind="forest plot",
    )


def _draw_ranks(run: RunResult) -> Iterable[Figure]:
    from langdiff.plots import plot_ranks

    for lm, fit in run.fits.items():
        if not fit.converged:  # its covariance may not exist
            continue
        caption = f"Probability of each rank for {lm}: a dark diagonal means that the order is sure."
        yield draw(
            f"ranks-{lm}",
            caption,
            "ranks",
            lambda ax, fit=fit: plot_ranks(fit, ax, n_draws=RANK_DRAWS, seed=run.experiment.seed),
            rows=len(fit.difficulty),
            title=_order_title(fit, lm),
            kind="heat map",
        )


def _draw_agreement(run: RunResult) -> Iterable[Figure]:
    from langdiff.plots import plot_against_truth, plot_two_models

    for x, y in combinations(run.fits, 2):
        if len(run.fits[x].difficulty.index.intersection(run.fits[y].difficulty.index)) < 2:
            continue  # after failures
        yield draw(
            f"{x}-against-{y}",
            f"Difficulties for {x} against those for {y}; the line is where both agree.",
            "agreement",
            lambda ax, x=x, y=y: plot_two_models(run.fits[x], run.fits[y], ax),
            title=_agreement_title(run.fits[x].difficulty, run.fits[y].difficulty, (x, y)),
            kind="scatter plot",
        )
    if run.truth is None:
        return
    everywhere = [e for e in run.truth.index if all(e in fit.difficulty.index for fit in run.fits.values())]
    if everywhere:
        known = run.truth[everywhere]
        caption = "Estimated difficulty against the true one of the synthetic languages; the line is where both agree."
        title = _truth_title(run.fits, known)
        shown = partial(plot_against_truth, run.fits, known)
        yield draw("truth", caption, "agreement", shown, title=title, kind="scatter plot")


def _draw_residuals(run: RunResult) -> Iterable[Figure]:
    from langdiff.plots import plot_residuals

    for lm, fit in run.fits.items():
        residuals = standardized_residuals(fit, run.surprisals[lm])
        caption = (
            f"What the regression leaves unexplained for {lm}. Left: quantiles against those that the model assumes. "
            "Right: spread against the size of intents; it is 1 everywhere if the model is right."
        )
        yield draw(
            f"residuals-{lm}",
            caption,
            "residuals",
            lambda pair, fit=fit, residuals=residuals: plot_residuals(fit, residuals, pair),
            rows=8,
            columns=2,
            title=_residuals_title(residuals, lm),
            wide=True,
            kind="quantile plot and spread by size",
        )


def _draw_training(run: RunResult) -> Iterable[Figure]:
    """Draw the learning curves of the run's models whose logs still exist; n-grams have none."""
    from langdiff.plots import plot_learning_curves

    recipes = {split_name(lm)[0]: list(fit.difficulty.index) for lm, fit in run.fits.items()}
    found = [kept_models(run.directory / JOBS, e, lm) for lm, editions in recipes.items() for e in editions]
    logs = join_logs(read_job_log(models[-1]) for models in found if models).dropna(subset="train_bits_per_unit")
    for lm in recipes:
        curves = logs[logs["lm"] == lm]
        if len(curves):
            yield draw(
                f"learning-curves-{lm}",
                f"How {lm} learned: bits of the part to tune on by epoch; the dot is the epoch that was kept.",
                "training",
                lambda ax, curves=curves: plot_learning_curves(curves, ax),
                rows=max(12, curves["edition"].nunique()),
                title=_training_title(curves, lm),
                kind="learning curves",
            )


def write_parity_report(parity: "Parity", path: Path, *, fit: DifficultyFit | None = None) -> Path:
    """Write a page with difficulties, measures of parity and a picture of each."""
    shown = [name for name in parity.estimates if name in parity.low or parity.low.empty]
    pictures = {} if fit is None else {"difficulties": _picture("difficulties", fit.plot)}
    pictures |= {
        (words := str(name).replace("_", " ")): _picture(words, partial(parity.plot, str(name)))
        for name in shown
        if parity.estimates[name].notna().any()
    }
    columns = ["percent", "percent_std_error", "rank"]
    text = render_page(
        "parity.html",
        parity=parity,
        fit=fit,
        words="" if fit is None else f"model {fit.model}, errors from {fit.errors.words}",
        difficulties=[] if fit is None else tables_of(fit.to_frame()[columns].reset_index()),
        measures=tables_of(parity.to_frame().rename_axis("edition").reset_index()),
        pictures=pictures,
    )
    write_text(path, text)
    return path


def _picture(name: str, draw: Callable[[], "Axes"]) -> Markup:
    return inline_svg(name, for_page(draw, "langdiff"), f"{name} of each edition, with intervals (dot plot).")


AGREEING, ALIKE = 0.9, 0.5  # correlations from which models agree, or agree in part


def _spread_title(fit: DifficultyFit, lm: str) -> str:
    """Describe how many more or fewer bits than the average the hardest and the easiest edition need."""
    percent = 100 * np.expm1(fit.difficulty.sort_values())
    return (
        f"For {lm}, {percent.index[-1]} needs {percent.iloc[-1]:.0f} % more bits than the average, "
        f"{percent.index[0]} {-percent.iloc[0]:.0f} % fewer"
    )


def _order_title(fit: DifficultyFit, lm: str) -> str:
    """Describe how many ranks are known, by the rank sets."""
    rows = fit.to_frame()
    return f"For {lm}, {int((rows['rank_low'] == rows['rank_high']).sum())} of {len(rows)} ranks are known"


def _agreement_title(x: pd.Series, y: pd.Series, names: tuple[str, str]) -> str:
    """Describe how well two language models agree, and on which edition least."""
    both = pd.concat([x, y], axis=1, join="inner")
    centred = both - both.mean()
    r = float(both.corr().to_numpy()[0, 1])
    how = "agree" if r >= AGREEING else "agree in part" if r >= ALIKE else "disagree"
    apart = (centred.iloc[:, 0] - centred.iloc[:, 1]).abs().idxmax()
    return f"{names[0]} and {names[1]} {how}, r = {r:.2f}; least on {apart}".replace("r = -", f"r = {MINUS}")


def _truth_title(fits: Mapping[str, DifficultyFit], known: pd.Series) -> str:
    """Describe how far estimates are from the true difficulties, in percent of bits."""
    gaps = {lm: 100 * np.expm1((fit.difficulty[known.index] - known).abs()).mean() for lm, fit in fits.items()}
    return "Estimates are off the truth by " + en(f"{gap:.1f} % ({lm})" for lm, gap in gaps.items()) + " on average"


def _residuals_title(values: pd.DataFrame, lm: str) -> str:
    """Describe how many residuals are larger than a normal distribution would give."""
    known = np.abs(values.to_numpy(dtype=float))
    share = float((known[~np.isnan(known)] > 1.96).mean())
    return f"{lm}: {100 * share:.1f} % of residuals are beyond ±1.96, of normal ones 5 % would be"


def _training_title(logs: pd.DataFrame, lm: str) -> str:
    """Describe whether training stopped while language models were still improving."""
    runs = logs.groupby("edition")
    last = runs["epoch"].max()
    best = logs.loc[runs["dev_bits_per_character"].idxmin()].set_index("edition")["epoch"]
    improving = int((best == last).sum())
    if not improving:
        return f"No model of {lm} was still improving when its training ended"
    return f"{improving} of {len(last)} models of {lm} were still improving when their training ended"
