"""What a Dask worker does with a job."""

import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from langdiff import __version__
from langdiff.base.io import LockedError
from langdiff.errors import ConfigError
from langdiff.lm.jobs.job import Job, JobResult
from langdiff.lm.jobs.parcel import Catalogue, Parcel, unpack, without_intents


@dataclass(frozen=True)
class Busy:
    """What a worker gives instead of a result if another process owns the folder of the job."""

    message: str


@dataclass(frozen=True, kw_only=True)
class Call:
    """What all jobs of a call have in common beside their intents.

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


def opener() -> Callable[[bytes, bytes], Any]:
    """Return a function that is sent by value, so that the scheduler imports nothing of this package (nor torch)."""

    def open_and_work(parcel: bytes, catalogue: bytes) -> Any:
        from distributed.protocol import pickle

        work, *arguments = pickle.loads(parcel)
        return work(*arguments, pickle.loads(catalogue))

    return open_and_work


def work_on_parcel(parcel: Parcel, call: Call, catalogue: Catalogue) -> JobResult | Busy:
    """Do a job; this runs on a worker."""
    check_worker(call)
    torch.set_num_threads(1)
    try:
        return without_intents(call.work(unpack(parcel, catalogue)))
    except LockedError as error:
        return Busy(str(error))


def check_worker(call: Call) -> None:
    """Refuse a worker whose results would differ or would not be kept.

    Raises
    ------
    ConfigError
        If it has several threads or another version, or does not see the cache.
    """
    from distributed import get_worker

    worker = get_worker()
    where = f"Dask worker {worker.address} on {socket.gethostname()}"
    if worker.state.nthreads > 1:
        raise ConfigError(
            f"{where} has {worker.state.nthreads} threads, but language models are trained one per process: start "
            "workers with one thread (--nthreads 1, threads_per_worker=1)."
        )
    if __version__ != call.version:
        raise ConfigError(f"{where} has langdiff {__version__}, but {call.version} asks for jobs; install the same.")
    if call.probe is not None and not call.probe.is_file():
        raise ConfigError(
            f"{where} does not see the cache {call.probe.parent}, or another folder of that name: give a folder that "
            "all machines share under one name."
        )
