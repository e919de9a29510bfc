"""The pictures of a report, drawn from what a run found."""

from collections.abc import Iterable
from itertools import combinations

from langdiff.lm.jobs.folder import job_folder, join_logs, read_job_log
from langdiff.lm.scoring import split_name
from langdiff.regression import standardized_residuals
from langdiff.run.directory import JOBS
from langdiff.run.figure import Figure, draw
from langdiff.run.result import RunResult

RANK_DRAWS = 4000  # ranks are counted in so many; .8 percentage points are the standard error of a half


def draw_all(run: RunResult) -> list[Figure]:
    """Draw all pictures of a run."""
    of_part = (_difficulties, _ranks, _agreement, _curve, _residuals, _training, _analyses)
    return [figure for figures in of_part for figure in figures(run)]


def _analyses(run: RunResult) -> Iterable[Figure]:
    for analysis in run.analyses.values():
        yield from analysis.figures


def _difficulties(run: RunResult) -> Iterable[Figure]:
    from langdiff.plots import plot_difficulties

    for lm, fit in run.fits.items():
        caption = f"Difficulty of each edition for {lm}, in percent of the average, with 95 % intervals."
        rows = len(fit.difficulty)
        yield draw(
            f"difficulties-{lm}", caption, "difficulties", lambda ax, fit=fit: plot_difficulties(fit, ax), rows=rows
        )


def _ranks(run: RunResult) -> Iterable[Figure]:
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
        )


def _agreement(run: RunResult) -> Iterable[Figure]:
    from langdiff.plots import plot_against_truth, plot_two_models

    for x, y in combinations(run.fits, 2):
        if len(run.fits[x].difficulty.index.intersection(run.fits[y].difficulty.index)) < 2:
            continue  # after failures
        yield draw(
            f"{x}-against-{y}",
            f"Difficulties for {x} against those for {y}; the line is where both agree.",
            "agreement",
            lambda ax, x=x, y=y: plot_two_models(run.fits[x], run.fits[y], ax),
        )
    if run.truth is None:
        return
    everywhere = [e for e in run.truth.index if all(e in fit.difficulty.index for fit in run.fits.values())]
    if everywhere:
        known = run.truth[everywhere]
        caption = "Estimated difficulty against the true one of the synthetic languages; the line is where both agree."
        yield draw("truth", caption, "agreement", lambda ax: plot_against_truth(run.fits, known, ax))


def _curve(run: RunResult) -> Iterable[Figure]:
    from langdiff.plots import plot_difficulty_curves, plot_rank_changes, plot_size_correlations

    curve = run.curve
    if curve is None:
        return
    drawn = {
        "curve": (plot_difficulty_curves, "Difficulty by size of the training data, with bands of 95 %."),
        "curve-ranks": (plot_rank_changes, "Ranks by size of the training data; lines that cross change places."),
        "curve-correlations": (plot_size_correlations, "Spearman's correlation between sizes, with 95 % intervals."),
    }
    for name, (plot, caption) in drawn.items():
        yield draw(name, caption, "curve", lambda ax, plot=plot: plot(curve, ax))


def _residuals(run: RunResult) -> Iterable[Figure]:
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
        )


def _training(run: RunResult) -> Iterable[Figure]:
    """Draw the learning curves of the run's models whose logs still exist; n-grams have none."""
    from langdiff.plots import plot_learning_curves

    recipes = {split_name(lm)[0]: list(fit.difficulty.index) for lm, fit in run.fits.items()}
    folders = [job_folder(run.directory / JOBS, e, lm) for lm, editions in recipes.items() for e in editions]
    there = [read_job_log(folder) for folder in folders if folder.is_dir()]
    logs = join_logs(there).dropna(subset="train_bits_per_unit")
    for lm in recipes:
        curves = logs[logs["lm"] == lm]
        if len(curves):
            yield draw(
                f"learning-curves-{lm}",
                f"How {lm} learned: bits of the part to tune on by epoch; the dot is the epoch that was kept.",
                "training",
                lambda ax, curves=curves: plot_learning_curves(curves, ax),
                rows=max(12, curves["edition"].nunique()),
            )
