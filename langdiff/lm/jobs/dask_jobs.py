"""Jobs on a Dask cluster, to whose workers lost work is submitted again."""

import heapq
import logging
import lzma
import math
import secrets
import socket
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Literal, TypeGuard, cast

from rich.progress import Progress, TaskID

from langdiff import __version__
from langdiff.base.io import LockedError, write_text
from langdiff.errors import ConfigError, TrainingError
from langdiff.lm.jobs.job import Job, JobResult, run_job
from langdiff.lm.jobs.record import one_thread_of_torch
from langdiff.lm.jobs.workers import Failures

if TYPE_CHECKING:
    from distributed import Client, Future
    from distributed.cfexecutor import ClientExecutor
    from distributed.scheduler import KilledWorker


@dataclass(frozen=True, kw_only=True)
class Call:
    """Settings that all jobs of a call share.

    Attributes
    ----------
    work : callable
        What is done with a job.
    version : str
        Version of this package where the call was made.
    probe : Path or None
        File in the cache by which a worker knows the folder.
    """

    work: Callable[[Job], JobResult]
    version: str
    probe: Path | None


def opener() -> Callable[[bytes], Any]:
    """Return a function that is sent by value, so that the scheduler imports nothing of this package (nor torch)."""

    def open_and_work(parcel: bytes) -> Any:
        import lzma

        from distributed.protocol import pickle

        work, *arguments = pickle.loads(lzma.decompress(parcel))
        return work(*arguments)

    return open_and_work


def parcel_of(job: Job, call: Call) -> bytes:
    """Return a job as it is sent: compressed, as the names of the intents of a Bible are most of it."""
    # Dask's own way of sending, done here so that the scheduler need not import this package; nothing that is
    # pickled is ever written to a file, or read from one
    from distributed.protocol import pickle

    folder = None if job.folder is None else job.folder.absolute()  # whatever the directory of a worker
    return lzma.compress(pickle.dumps((work_on, replace(job, folder=folder), call)), preset=0)


def work_on(job: Job, call: Call) -> JobResult:
    """Run a job on a worker."""
    check_worker(call)
    one_thread_of_torch()
    return call.work(job)


def check_worker(call: Call) -> None:
    """Check that a worker's results would be the same and would be kept."""
    from distributed import get_worker

    worker = get_worker()
    where = f"Dask worker {worker.address} on {socket.gethostname()}"
    if worker.state.nthreads > 1:
        raise ConfigError(
            f"{where} has {worker.state.nthreads} threads, but language models are trained one per process: start "
            "workers with one thread (--nthreads 1, threads_per_worker=1)."
        )
    if __version__ != call.version:
        raise ConfigError(f"{where} has langdiff {__version__}, but jobs come from {call.version}; install the same.")
    if call.probe is not None and not call.probe.is_file():
        raise ConfigError(
            f"{where} does not see the cache {call.probe.parent}, or another folder of that name: give a folder that "
            "all machines share under one name."
        )


logger = logging.getLogger(__name__)

_GPU = "GPU"  # resource that workers declare, one per job
_AT_ONCE = 100  # jobs submitted between two looks at messages of the scheduler
_GIVE_UP = 300.0  # seconds without a connection, or to fetch a result
_LOOK_AGAIN = 1.0  # seconds between looks at the connection while no job ends


@dataclass(frozen=True, kw_only=True)
class Patience:
    """Number and delays of the further attempts at lost work.

    Attributes
    ----------
    lost : int
        Number of times for one job whose workers died – each time as many as the scheduler allows
        (``distributed.scheduler.allowed-failures``, 3) and one more – or whose connection was lost.
    busy : int
        Number of times for one job whose folder another process owns, such as a worker that is taken for dead.
    first, longest : float
        Seconds before the first further attempt, doubled before each one after it, and their upper limit.
    """

    lost: int = 3
    busy: int = 12
    first: float = 1.0
    longest: float = 60.0

    def delay(self, attempt: int) -> float:
        """Return the seconds before a further attempt, of which the first has number 1.

        Examples
        --------
        >>> [Patience().delay(attempt) for attempt in (1, 2, 3, 9)]
        [1.0, 2.0, 4.0, 60.0]
        """
        return float(min(self.first * 2 ** (attempt - 1), self.longest))


def is_dask(executor: Executor) -> TypeGuard["ClientExecutor"]:
    """Return whether an executor is that of a Dask client, without importing Dask for it."""
    cfexecutor = sys.modules.get("distributed.cfexecutor")
    return cfexecutor is not None and isinstance(executor, cfexecutor.ClientExecutor)


def run_on_dask(
    executor: "ClientExecutor",
    jobs: list[Job],
    failures: Failures,
    bar: Progress,
    task: TaskID,
    *,
    work: Callable[[Job], JobResult] = run_job,
    patience: Patience | None = None,
) -> dict[str, JobResult]:
    """Run jobs on a Dask cluster; return the results by edition, in the order of the jobs."""
    if not jobs:
        return {}
    by_edition = {job.edition: job for job in jobs}
    results = {}
    with _Submissions(executor, by_edition, work, patience or Patience()) as submissions:
        while submissions.unfinished:
            bar.update(task, completed=len(jobs) - len(submissions.unfinished))
            ended = submissions.next_ended()
            if ended is None:
                continue
            edition, future = ended
            result = None
            with failures.of(edition, last=False):
                result = submissions.result(edition, future)
            if result is not None:
                with failures.of(edition):
                    results[edition] = result
    bar.update(task, completed=len(jobs))
    return {edition: results[edition] for edition in by_edition if edition in results}


class _Submissions:
    """Jobs of one call on a cluster, each either submitted or due to be submitted again.

    Parameters
    ----------
    executor : distributed.cfexecutor.ClientExecutor
        Executor that names client and options.
    jobs : dict from edition to Job
        Jobs to do.
    work : callable
        What is done with a job.
    patience : Patience
        How often lost work is submitted again.
    """

    def __init__(
        self, executor: "ClientExecutor", jobs: dict[str, Job], work: Callable[[Job], JobResult], patience: Patience
    ) -> None:
        self.unfinished = set(jobs)
        self._jobs, self._patience = jobs, patience
        self._client: Client = executor._client  # the executor's own `submit` would hash every job to name it
        self._options = _resources(self._client, jobs.values()) | executor._kwargs
        self._name = secrets.token_hex(4)
        folder = next(iter(jobs.values())).folder  # in the cache, below those of edition and recipe
        probe = None if folder is None else folder.absolute().parents[1] / f".seen-{self._name}"
        self._call = Call(work=work, version=__version__, probe=probe)
        self._futures: dict[str, Future[Any]] = {}
        self._ended: SimpleQueue[tuple[str, Future[Any]]] = SimpleQueue()
        self._last_seen = time.monotonic()  # when the scheduler was connected
        self._said = -math.inf  # when a lost connection was last logged
        self._opener = opener()  # one for all jobs: functions sent by value are told apart
        self._due: list[tuple[float, str]] = []  # a heap of (time, edition)
        self._attempts: Counter[str] = Counter()
        self._causes: Counter[tuple[str, str]] = Counter()  # of (edition, cause)

    def __enter__(self) -> "_Submissions":
        """Submit all jobs."""
        if self._call.probe is not None:
            write_text(self._call.probe, "")
        self._submit(self._jobs)
        return self

    def __exit__(self, *_: object) -> None:
        """Cancel jobs that have not begun; workers finish those in progress."""
        if self._call.probe is not None:
            self._call.probe.unlink(missing_ok=True)
        if self._client.status == "running" and self._futures:
            self._client.cancel(list(self._futures.values()))

    def _submit(self, editions: Iterable[str]) -> None:
        """Submit jobs in the thread of the connection, which could otherwise be lost and restored meanwhile."""

        async def submit(batch: list[str]) -> None:
            for edition in batch:
                self._submit_one(edition)

        editions = list(editions)
        for start in range(0, len(editions), _AT_ONCE):
            self._client.sync(submit, editions[start : start + _AT_ONCE])

    def _submit_one(self, edition: str) -> None:
        self._attempts[edition] += 1
        future = self._client.submit(
            self._opener,
            parcel_of(self._jobs[edition], self._call),
            # one group of tasks, so that they queue in the scheduler and not at workers that may die
            key=(f"job-{self._name}", edition, self._attempts[edition]),
            pure=False,
            **self._options,
        )
        self._futures[edition] = future
        future.add_done_callback(lambda done: self._ended.put((edition, done)))

    def next_ended(self) -> "tuple[str, Future[Any]] | None":
        """Submit the jobs that are due, and wait briefly for one to end."""
        now, running = time.monotonic(), self._client.status == "running"
        if running:
            self._last_seen = now
        elif self._client.status in ("closed", "closing") or now > self._last_seen + _GIVE_UP:
            raise TrainingError(
                f"the connection to the Dask scheduler was lost with {len(self.unfinished)} edition(s) unfinished. "
                "Start it again; with a cache, the same command then continues from what was finished."
            )
        due = []
        while running and self._due and self._due[0][0] <= now:
            due.append(heapq.heappop(self._due)[1])
        self._submit(due)
        wait = self._due[0][0] - time.monotonic() if self._due else _LOOK_AGAIN
        try:
            edition, future = self._ended.get(timeout=min(max(wait, 0.01), _LOOK_AGAIN))
        except Empty:
            return None
        return edition, future

    def result(self, edition: str, future: "Future[Any]") -> JobResult | None:
        """Return the result of a finished job, or None if it will be done again."""
        from distributed.scheduler import KilledWorker

        del self._futures[edition]
        try:
            outcome = future.result(timeout=_GIVE_UP)
        except LockedError as error:
            self._again(edition, "busy", error, self._patience.busy)
            return None
        except KilledWorker as error:
            message = f"edition {edition!r}: {_explain(error)}"
            self._again(edition, "lost", TrainingError(message), self._patience.lost)
            return None
        except Exception as error:
            if future.status == "error":  # the job's own
                self.unfinished.discard(edition)
                raise
            message = f"edition {edition!r}: the connection to the Dask scheduler or worker was lost ({error})."
            self._say_lost()
            self._again(edition, "lost", TrainingError(message), self._patience.lost, logging.INFO)
            return None
        finally:
            future.release()  # now: an error that is kept would keep it on the cluster
        self.unfinished.discard(edition)
        return cast(JobResult, outcome)

    def _say_lost(self) -> None:
        """Log once a statement common to all unfinished jobs."""
        now = time.monotonic()
        if now > self._said + _GIVE_UP:
            logger.warning("The connection to the Dask scheduler was lost; unfinished editions are submitted again.")
        self._said = now

    def _again(
        self, edition: str, cause: Literal["lost", "busy"], error: Exception, limit: int, level: int = logging.WARNING
    ) -> None:
        self._causes[edition, cause] += 1
        attempt = self._causes[edition, cause]
        if attempt > limit:
            self.unfinished.discard(edition)
            raise error
        delay = self._patience.delay(attempt)
        logger.log(level, "%s Trying again in %g s (%d of %d).", error, delay, attempt, limit)
        heapq.heappush(self._due, (time.monotonic() + delay, edition))


def _resources(client: "Client", jobs: Iterable[Job]) -> dict[str, Any]:
    """Return a request for one GPU where workers declare such a resource and jobs may use it."""
    if all(job.device == "cpu" for job in jobs):
        return {}
    workers = client.scheduler_info()["workers"].values()
    return {"resources": {_GPU: 1}} if any(_GPU in worker["resources"] for worker in workers) else {}


def _explain(error: "KilledWorker") -> str:
    deaths = error.allowed_failures + 1
    return (
        f"{deaths} Dask worker(s) died while they had it, the last at {error.last_worker.address}, as when memory "
        "runs out or their time is over. Give workers more memory, or the scheduler more allowed-failures."
    )
