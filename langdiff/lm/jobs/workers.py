"""Jobs in this process or in worker processes, which are started, monitored by their logs, and ended with it."""

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager

import torch
from rich.progress import Progress, TaskID

from langdiff.errors import TrainingError
from langdiff.lm.jobs.failures import Failures
from langdiff.lm.jobs.folder import LOG, read_log
from langdiff.lm.jobs.job import Job, JobResult, find_finished, run_job
from langdiff.lm.language_model import Epoch, describe

_LOOK_AGAIN = 1.0  # seconds between looks at the logs of running jobs


def run_here(jobs: list[Job], failures: Failures, bar: Progress, task: TaskID) -> dict[str, JobResult]:
    """Run jobs in this process, one after the other; return the results by edition."""
    results = {}
    for number, job in enumerate(jobs):

        def report(epochs: float, last: Epoch | None, number: int = number, job: Job = job) -> None:
            done = number + epochs / job.recipe.max_epochs
            bar.update(task, completed=done, note=f"{job.edition} {describe(last)}")

        with failures.of(job.edition):
            results[job.edition] = run_job(job, report)
        bar.update(task, completed=number + 1, note=job.edition)
    return results


def run_in(
    executor: Executor, jobs: list[Job], failures: Failures, bar: Progress, task: TaskID
) -> dict[str, JobResult]:
    """Run unfinished jobs in an executor; return all results by edition, in the order of the jobs.

    Raises
    ------
    TrainingError
        If a worker process died.
    """
    results = {job.edition: found for job in jobs if (found := find_finished(job)) is not None}
    futures = {executor.submit(run_job, job): job.edition for job in jobs if job.edition not in results}
    job_of = {job.edition: job for job in jobs}
    running, start = set(futures), time.time()
    try:
        while running:
            finished, running = wait(running, timeout=_LOOK_AGAIN, return_when=FIRST_COMPLETED)
            for future in finished:
                edition = futures[future]
                with failures.of(edition):
                    results[edition] = future.result()
            done, note = _look([job_of[futures[future]] for future in running], start)
            bar.update(task, completed=len(jobs) - len(running) + done, note=note)
    except BrokenProcessPool as error:
        unfinished = [edition for edition in futures.values() if edition not in results]
        raise TrainingError(
            f"a worker process died with {len(unfinished)} edition(s) unfinished, as when memory runs out or a "
            'script starts workers outside `if __name__ == "__main__":`. Use fewer workers.'
        ) from error
    finally:
        for future in futures:
            future.cancel()
    # not in the order in which they ended
    return {job.edition: results[job.edition] for job in jobs if job.edition in results}


def _look(unfinished: list[Job], start: float) -> tuple[float, str]:
    """Return the number of jobs' worth of epochs done by others, and the progress of the job furthest ahead.

    A log that was not touched since the start is that of a job which waits, and may be of another key.
    """
    paths = {job.edition: job.folder / LOG for job in unfinished if job.folder is not None}
    logs = {
        edition: read_log(path) for edition, path in paths.items() if path.is_file() and path.stat().st_mtime >= start
    }
    done = sum(len(logs[job.edition]) / job.recipe.max_epochs for job in unfinished if job.edition in logs)
    edition = max(logs, key=lambda edition: len(logs[edition]), default=None)
    if edition is None or "characters_per_second" not in (logs[edition] or [{}])[-1]:
        return done, ""
    return done, f"{edition} {describe(Epoch(**logs[edition][-1]))}"


@contextmanager
def processes(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Start worker processes; after an error or Ctrl-C in the block, end them at once."""
    context = multiprocessing.get_context("spawn")  # a forked torch can hang
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_start_worker)
    try:
        yield pool
    except BaseException:
        for process in list((pool._processes or {}).values()):  # public only from Python 3.14 on
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _start_worker() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent, which ends us
    torch.set_num_threads(1)
    threading.Thread(target=_die_with_parent, daemon=True).start()


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
