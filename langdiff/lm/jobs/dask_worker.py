"""Work of Dask workers, and its transfer: the names of intents, shared by all jobs, are sent once."""

import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from langdiff import __version__
from langdiff.base.io import LockedError
from langdiff.errors import ConfigError
from langdiff.lm.jobs.job import Job, JobResult
from langdiff.lm.jobs.record import one_thread_of_torch
from langdiff.tables.divisions import Parts
from langdiff.tables.multitext import Multitext
from langdiff.tables.text_sources import TextSource

Catalogue = Mapping[str, pd.Index]
"""Intents of each part, present in an edition or not."""
_PARTS = ("train", "dev", "test")


@dataclass(frozen=True, kw_only=True)
class Parcel:
    """A job without the names of its intents.

    Attributes
    ----------
    settings : mapping
        Fields of the job other than its parts.
    language : str
        Language of the edition.
    presence : mapping from part to bytes
        Whether the edition has each intent, one bit per intent.
    sources : mapping from part to TextSource
        Sources of the texts.
    """

    settings: Mapping[str, Any]
    language: str
    presence: Mapping[str, bytes]
    sources: Mapping[str, TextSource]


def catalogue_of(parts: Parts) -> Catalogue:
    """Return the intents of each part."""
    return {name: getattr(parts, name).intents for name in _PARTS}


def pack(job: Job) -> Parcel:
    """Return a job as it is sent; `unpack` restores it, without the parts that a worker does not read."""
    parts: dict[str, Multitext] = {name: getattr(job.parts, name) for name in _PARTS}
    return Parcel(
        settings={field.name: getattr(job, field.name) for field in fields(job) if field.name != "parts"},
        language=str(job.parts.train.edition_info["language"][job.edition]),
        presence={
            name: np.packbits(part.presence[job.edition].to_numpy(dtype=bool)).tobytes() for name, part in parts.items()
        },
        sources={name: part.sources[job.edition] for name, part in parts.items()},
    )


def unpack(parcel: Parcel, catalogue: Catalogue) -> Job:
    """Return the job of a parcel, whose multitexts have only the names of intents."""
    edition = parcel.settings["edition"]
    parts = {}
    for name, intents in catalogue.items():
        bits = np.frombuffer(parcel.presence[name], dtype=np.uint8)
        present = np.unpackbits(bits, count=len(intents)).astype(bool)
        parts[name] = Multitext(
            presence=pd.DataFrame({edition: present}, index=intents),
            edition_info=pd.DataFrame({"language": [parcel.language]}, index=[edition]),
            intent_info=pd.DataFrame(index=intents),
            sources={edition: parcel.sources[name]},
        )
    return Job(parts=Parts(**parts), **parcel.settings)


def without_intents(result: JobResult) -> JobResult:
    """Return the result of a job without the names of the intents, which its sender has."""
    return replace(result, surprisals=result.surprisals.reset_index(drop=True))


def with_intents(result: JobResult, job: Job) -> JobResult:
    """Return a result of `without_intents` with the names of the intents."""
    test = job.parts.test
    intents = test.intents[test.presence[job.edition].to_numpy(dtype=bool)]
    return replace(result, surprisals=result.surprisals.set_axis(intents.rename("intent")))


@dataclass(frozen=True)
class Busy:
    """Result of a worker if another process holds the folder of the job."""

    message: str


@dataclass(frozen=True, kw_only=True)
class Call:
    """Settings that all jobs of a call share, in addition to their intents.

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
    """Run a job on a worker."""
    check_worker(call)
    one_thread_of_torch()
    try:
        return without_intents(call.work(unpack(parcel, catalogue)))
    except LockedError as error:
        return Busy(str(error))


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
