"""Jobs in this process or on workers, of this machine or of Dask, and the errors of editions that failed."""

import logging
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Executor, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from multiprocessing.queues import SimpleQueue
from typing import Any

import pandas as pd
from rich.progress import Progress, TaskID

from langdiff.base.io import LockedError
from langdiff.base.types import import_extra
from langdiff.errors import (
    ConfigError,
    EditionWarning,
    LangdiffError,
    OutputError,
    TrainingError,
    listing,
    option,
    warn,
)
from langdiff.lm.jobs.folder import LOG, read_log
from langdiff.lm.jobs.job import Job, JobResult, find_finished, run_job
from langdiff.lm.jobs.record import one_thread_of_torch
from langdiff.lm.language_model import Epoch, describe

logger = logging.getLogger(__name__)

LOCAL = "local"
_HOST = "127.0.0.1"  # other machines cannot connect
_VISIBLE = "CUDA_VISIBLE_DEVICES"  # which GPUs CUDA shows to a process
_ANY_GPU = ("auto", "cuda")  # devices that leave open which GPU is meant
_QUIET = logging.WARNING  # of what Dask says of workers of this machine
MEMORY_PER_WORKER = 3 << 29  # bytes; 1.4 GiB is the peak of `bpe-awd` on a whole Bible (docs/benchmarks.md)


class Failures:
    """Errors of editions, which do not stop the other editions.

    Parameters
    ----------
    editions : int
        How many there are, for the message.
    at_once : bool
        Raise the first error instead of keeping it, as when what siblings finish would be lost.
    lm : str
        Name of the language model, which records of the log have beside the edition.

    Examples
    --------
    >>> from langdiff.errors import DataError
    >>> failures = Failures(3, at_once=False)
    >>> for edition in ("eng", "deu", "ell"):
    ...     with failures.of(edition):
    ...         if edition != "deu":
    ...             raise DataError(f"{edition}: no text")
    >>> failures.raise_any()
    Traceback (most recent call last):
    ...
    langdiff.errors.DataError: 2 of 3 editions failed ('eng', 'ell'), ... The first error: eng: no text
    """

    def __init__(self, editions: int, *, at_once: bool, lm: str = "") -> None:
        self._editions = editions
        self._lm = lm
        self._at_once = at_once
        self._errors: dict[str, Exception] = {}
        self._finished: set[str] = set()

    @property
    def errors(self) -> Mapping[str, Exception]:
        """The errors that were kept, by edition."""
        return self._errors

    @contextmanager
    def of(self, edition: str, *, last: bool = True) -> Iterator[None]:
        """Record an error of the block, if its cause is the edition.

        A worker process that died, or a disk that is full, would stop the other editions as well; the error is raised.
        """
        try:
            yield
        except BrokenProcessPool:
            raise
        except Exception as error:
            if not isinstance(error, LangdiffError):  # those name it already
                error.add_note(f"edition {edition!r}")
            if self._at_once:
                raise
            if isinstance(error, OutputError) and not isinstance(error, LockedError):
                raise OutputError(f"{error} {self._say_finished()}") from error
            logger.error("%s", str(error) or type(error).__name__, extra={"edition": edition, "lm": self._lm})
            logger.debug("edition %r failed", edition, exc_info=error)
            self._errors[edition] = error
        else:
            if last:
                self._finished.add(edition)

    def _say_finished(self) -> str:
        names = f" ({listing(sorted(self._finished), most=20)})" if self._finished else ""
        return (
            f"{len(self._finished)} of {self._editions} editions are finished and kept{names}; when files can be "
            "written again, the same call does the others."
        )

    def raise_any(self) -> None:
        """Raise the error of the only failed edition, or one error that names all of them.

        It is of the class of the package's errors that all have in common, else a TrainingError; what
        it comes from holds them all.
        """
        errors = list(self._errors.values())
        if not errors:
            return
        if len(errors) == 1:
            raise errors[0]
        common = type(errors[0])
        alike = issubclass(common, LangdiffError) and all(type(error) is common for error in errors)
        kind = common if alike else TrainingError
        raise kind(
            f"{len(errors)} of {self._editions} editions failed ({listing(self._errors, most=20)}), "
            f"{len(self._finished)} are finished and kept. The first error: {errors[0]}"
        ) from ExceptionGroup("editions that failed", errors)


def check_fraction(max_replaced: float) -> None:
    """Check that a limit on replaced characters is a fraction."""
    if not 0 <= max_replaced <= 1:
        raise ConfigError(f"{option('max_replaced')} is a fraction of characters, from 0 to 1; got {max_replaced!r}.")


def cautions_of(results: Mapping[str, JobResult]) -> list[tuple[str, str]]:
    """Return the cautions for readers of the surprisals, with the edition of each."""
    return [(edition, text) for edition, result in results.items() for text in (*result.damage, *result.cautions)]


def warn_of(cautions: Iterable[tuple[str, str]]) -> None:
    """Warn once of cautions that differ only in figures."""
    for warning in EditionWarning.of_each_kind(cautions):
        warn(warning)


def frames_of(results: Mapping[str, JobResult]) -> dict[str, pd.DataFrame]:
    """Return the surprisals by edition."""
    return {edition: result.surprisals for edition, result in results.items()}


_LOOK_AGAIN = 1.0  # seconds between looks at the logs of running jobs


def run_here(jobs: list[Job], failures: Failures, bar: Progress, task: TaskID) -> dict[str, JobResult]:
    """Run jobs in this process, one after the other; return the results by edition."""
    results = {}
    for number, job in enumerate(jobs):

        def report(epochs: float, last: Epoch | None, number: int = number, job: Job = job) -> None:
            done = number + epochs / job.recipe.max_epochs
            bar.update(task, completed=done, note=f"{job.edition} {describe(last)}", measured=last is not None)

        with failures.of(job.edition):
            results[job.edition] = run_job(job, report)
        bar.update(task, completed=number + 1, note=job.edition)
    return results


def run_in(
    executor: Executor, jobs: list[Job], failures: Failures, bar: Progress, task: TaskID
) -> dict[str, JobResult]:
    """Run unfinished jobs in an executor; return all results by edition, in the order of the jobs."""
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
            bar.update(task, completed=len(jobs) - len(running) + done, note=note, measured=done > 0)
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
    kept = ((job.edition, job.folder) for job in unfinished if job.folder is not None)
    paths = ((edition, path) for edition, folder in kept for path in folder.glob(f"*/{LOG}"))
    logs = {edition: read_log(path) for edition, path in paths if path.stat().st_mtime >= start}
    done = sum(len(logs[job.edition]) / job.recipe.max_epochs for job in unfinished if job.edition in logs)
    edition = max(logs, key=lambda edition: len(logs[edition]), default=None)
    if edition is None or "characters_per_second" not in (logs[edition] or [{}])[-1]:
        return done, ""
    return done, f"{edition} {describe(Epoch(**logs[edition][-1]))}"


@contextmanager
def processes(workers: int, device: str = "cpu") -> Iterator[ProcessPoolExecutor]:
    """Start worker processes; after an error or Ctrl-C in the block, end them at once."""
    context = multiprocessing.get_context("spawn")  # a forked torch can hang
    try:
        gpus = context.SimpleQueue()
    except OSError as error:  # without shared memory there are no semaphores
        raise ConfigError(
            f"{option('workers', workers)}: processes need shared memory, and /dev/shm cannot be used here "
            f"({error.strerror or error}). Mount it (docker run --shm-size=1g), or use {option('workers', 1)}."
        ) from error
    for gpu in _gpus_in_turn(device, workers):
        gpus.put(gpu)
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_start_worker, initargs=(gpus,))
    try:
        yield pool
    except BaseException:
        for process in list((pool._processes or {}).values()):  # public only from Python 3.14 on
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _start_worker(gpus: "SimpleQueue[str | None]") -> None:
    gpu = gpus.get()
    if gpu is not None:  # before CUDA starts, with the first job
        os.environ[_VISIBLE] = gpu
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent, which ends us
    one_thread_of_torch()
    threading.Thread(target=_die_with_parent, daemon=True).start()


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextmanager
def dask_executor(address: str, *, device: str = "auto", workers: int | None = None) -> Iterator[Executor]:
    """Connect to a Dask cluster inside the block, for the `executor` of `langdiff.compute_surprisals`."""
    distributed = import_extra("distributed", "Dask is not installed: pip install 'langdiff[cluster]'.")
    with ExitStack() as stack:
        if address == LOCAL:
            from langdiff.lm.device import find_device

            find_device(device)  # better now than in every worker
            cluster = distributed.SpecCluster(
                scheduler={
                    "cls": distributed.Scheduler,
                    "options": {"host": _HOST, "port": 0, "dashboard": False, "dashboard_address": f"{_HOST}:0"},
                },
                workers={
                    number: {"cls": distributed.Nanny, "options": options}
                    for number, options in enumerate(local_workers(device, workers))
                },
                silence_logs=_QUIET,
            )
            target = {"address": stack.enter_context(cluster)}
        else:
            target = {"scheduler_file" if address.endswith(".json") else "address": address}
        try:
            client = stack.enter_context(distributed.Client(**target))
        except (OSError, ValueError) as error:
            raise ConfigError(
                f"there is no Dask scheduler at {address!r} ({error}). Start one (`dask scheduler`) and give the "
                "address that it prints, or 'local' for workers of this machine."
            ) from error
        yield client.get_executor()


def local_workers(device: str = "auto", workers: int | None = None) -> list[dict[str, Any]]:
    """Return the options of each worker process of this machine."""
    from dask.system import CPU_COUNT  # of this process, which may be allowed fewer than the machine has
    from distributed.system import MEMORY_LIMIT

    if workers is None:
        gpus = _visible_gpus() if device in _ANY_GPU else []
        workers = max(1, min(len(gpus) or CPU_COUNT, MEMORY_LIMIT // MEMORY_PER_WORKER))
    options = {"host": _HOST, "nthreads": 1, "memory_limit": MEMORY_LIMIT // workers, "silence_logs": _QUIET}
    return [options | {"env": {} if gpu is None else {_VISIBLE: gpu}} for gpu in _gpus_in_turn(device, workers)]


def _gpus_in_turn(device: str, workers: int) -> list[str | None]:
    """Return the GPU of each worker; None where there is none, or the device names one."""
    gpus = _visible_gpus() if device in _ANY_GPU else []
    return [gpus[number % len(gpus)] if gpus else None for number in range(workers)]


def _visible_gpus() -> list[str]:
    """Return the names by which CUDA_VISIBLE_DEVICES selects the GPUs that this process may use."""
    import torch

    named = os.environ.get(_VISIBLE)
    count = torch.cuda.device_count()
    return named.split(",")[:count] if named else [str(number) for number in range(count)]
