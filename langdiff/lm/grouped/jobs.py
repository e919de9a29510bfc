"""Jobs of one recipe side by side in one process: their networks are trained as one program."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import cast

import pandas as pd

from langdiff.errors import LangdiffError
from langdiff.lm.device import one_thread
from langdiff.lm.grouped.gradients import GroupedGradients
from langdiff.lm.grouped.training import run_epochs
from langdiff.lm.jobs.failures import Failures
from langdiff.lm.jobs.job import Job, JobResult, claim, keep_result, read_texts, score_texts, training_plan
from langdiff.lm.lstm.model import Epoch
from langdiff.lm.lstm.network import AWDLSTM
from langdiff.lm.lstm.training import KeptTraining, begin_training
from langdiff.lm.recipes import Recipe
from langdiff.lm.texts import naming

EditionReport = Callable[[str, float, Epoch | None], None]  # the edition, and as for Report

_IN_FLIGHT = 4  # times as many editions as are computed at once: among them, some have like batches


@dataclass(frozen=True, kw_only=True)
class _Running:
    """A job whose training has begun."""

    job: Job
    texts: Mapping[str, pd.Series]
    training: KeptTraining
    damage: tuple[str, ...]


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
                _train_group(running, recipe, size, failures, results)
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

        with failures.of(job.edition, last=False), naming(job.edition):
            texts = read_texts(job)
            found = claims.enter_context(claim(job, texts))
            if found.result is None:
                training = begin_training(texts["train"], texts["dev"], training_plan(job, recipe, told))
                running.append(_Running(job=job, texts=texts, training=training, damage=found.damage))
            else:
                with failures.of(job.edition):
                    results[job.edition] = found.result
                report(job.edition, recipe.epochs, None)
    return running


def _train_group(
    running: list[_Running], recipe: Recipe, size: int, failures: Failures, results: dict[str, JobResult]
) -> None:
    """Train until every job is done or has failed."""
    if not running:
        return
    networks = [cast(AWDLSTM, each.training.loop.network) for each in running]  # other recipes are refused
    gradients = GroupedGradients(networks, recipe, size)
    while running := _end_finished(running, failures, results):
        with naming(None):
            outcomes = run_epochs([each.training.loop for each in running], gradients)
        going = []
        for each, outcome in zip(running, outcomes, strict=True):
            with failures.of(each.job.edition, last=False), naming(each.job.edition):
                if isinstance(outcome, LangdiffError):
                    raise outcome
                each.training.keep(outcome)
                going.append(each)
        running = going


def _end_finished(running: list[_Running], failures: Failures, results: dict[str, JobResult]) -> list[_Running]:
    """Score and keep what is finished; return the others."""
    for each in running:
        if each.training.loop.finished:
            with failures.of(each.job.edition), naming(each.job.edition):
                result = score_texts(each.training.finish(), each.texts["test"], "test", each.job.scoring)
                results[each.job.edition] = keep_result(each.job, each.texts, replace(result, damage=each.damage))
    return [each for each in running if not each.training.loop.finished]
