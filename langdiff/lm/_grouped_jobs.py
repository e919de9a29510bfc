"""Jobs of one recipe side by side in one process: their networks are trained as one program."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import pandas as pd

from langdiff.errors import LangdiffError
from langdiff.lm._failures import Failures
from langdiff.lm._grouped import GroupedGradients
from langdiff.lm._grouped_training import run_epochs, where_to_go_on
from langdiff.lm._jobs import Job, JobResult, begin_grouped, claim, keep_result, read_texts, score_texts
from langdiff.lm._scoring import one_thread
from langdiff.lm._training import Training, naming
from langdiff.lm.language_model import Epoch
from langdiff.lm.presets import Recipe

EditionReport = Callable[[str, float, Epoch | None], None]  # the edition, and as for Report

_IN_FLIGHT = 4  # times as many editions as are computed at once: among them, some have like batches
_WRITING = 0.05  # of the time, at most, goes into states to go on from


@dataclass(frozen=True, kw_only=True)
class _Running:
    """A job whose training has begun."""

    job: Job
    texts: Mapping[str, pd.Series]
    training: Training


def run_jobs_together(
    jobs: Sequence[Job], recipe: Recipe, size: int, failures: Failures, report: EditionReport
) -> dict[str, JobResult]:
    """Do what `run_job` does for every job, training several networks at once.

    Parameters
    ----------
    jobs : sequence of Job
        All of the recipe and the device.
    size : int
        Networks computed at once; more are in training at a time.
    failures : Failures
        Takes the errors of single editions.
    report : callable
        Told the epochs done of an edition.
    """
    results: dict[str, JobResult] = {}
    step = size * _IN_FLIGHT
    with one_thread():
        for start in range(0, len(jobs), step):
            with ExitStack() as claims:
                running = _begin(jobs[start : start + step], recipe, claims, failures, report, results)
                for positions, epoch in where_to_go_on([each.training for each in running]):
                    group = [running[position] for position in positions]
                    for each in group:
                        each.training.go_on(each.training.states.read(epoch), each.job.log_path)
                    _train_group(group, recipe, size, failures, results)
    return {job.edition: results[job.edition] for job in jobs if job.edition in results}


def _begin(
    jobs: Sequence[Job],
    recipe: Recipe,
    claims: ExitStack,
    failures: Failures,
    report: EditionReport,
    results: dict[str, JobResult],
) -> list[_Running]:
    """Begin the jobs that are not done; their folders are ours until `claims` is closed."""
    running = []
    for job in jobs:

        def told(epochs: float, last: Epoch | None, edition: str = job.edition) -> None:
            report(edition, epochs, last)

        with failures.of(job.edition), naming(job.edition):
            texts = read_texts(job)
            known = claims.enter_context(claim(job, texts))
            if known is None:
                training = begin_grouped(job, recipe, texts, told)
                running.append(_Running(job=job, texts=texts, training=training))
            else:
                results[job.edition] = known
                report(job.edition, recipe.epochs, None)
    return running


def _train_group(
    running: list[_Running], recipe: Recipe, size: int, failures: Failures, results: dict[str, JobResult]
) -> None:
    """Train until every job is done or has failed."""
    gradients: GroupedGradients | None = None
    schedule = _Schedule()
    while running := _end_finished(running, failures, results):
        trainers = [each.training.trainer for each in running]
        networks = [trainer.network for trainer in trainers]
        if gradients is None or not gradients.suits(networks):
            gradients = GroupedGradients(networks, recipe, size if gradients is None else gradients.size)
        with naming(None):
            outcomes = run_epochs(trainers, gradients)
        going: list[_Running] = []
        for each, outcome in zip(running, outcomes, strict=True):
            with failures.of(each.job.edition), naming(each.job.edition):
                if isinstance(outcome, LangdiffError):
                    raise outcome
                each.training.note(outcome)
                going.append(each)
        # the others must be able to come back to this epoch before one of them is gone
        some_leave = len(going) < len(running) or any(each.training.trainer.finished for each in going)
        if some_leave or schedule.is_due:
            with schedule.writing():
                going = _keep(going, failures)
        running = going


def _end_finished(running: list[_Running], failures: Failures, results: dict[str, JobResult]) -> list[_Running]:
    """Score and keep what is finished; return the others."""
    for each in running:
        if each.training.trainer.finished:
            with failures.of(each.job.edition), naming(each.job.edition):
                result = score_texts(each.training.finish(), each.texts["test"], "test", each.job.scoring)
                keep_result(each.job, each.texts, result)
                results[each.job.edition] = result
    return [each for each in running if not each.training.trainer.finished]


def _keep(running: list[_Running], failures: Failures) -> list[_Running]:
    """Keep on disk where each goes on from; return those of which it could be kept."""
    kept = []
    for each in running:
        with failures.of(each.job.edition), naming(each.job.edition):
            each.training.keep()
            kept.append(each)
    return kept


class _Schedule:
    """Says when states are due, so that writing them takes little of the time."""

    def __init__(self) -> None:
        self._ended = time.monotonic()
        self._lasted = 0.0

    @property
    def is_due(self) -> bool:
        return (time.monotonic() - self._ended) * _WRITING >= self._lasted

    @contextmanager
    def writing(self) -> Iterator[None]:
        start = time.monotonic()
        yield
        self._ended = time.monotonic()
        self._lasted = self._ended - start
