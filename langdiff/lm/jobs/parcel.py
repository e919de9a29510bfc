"""Jobs as they are sent to other machines: the names of the intents, which all jobs of a call share, travel once."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pandas as pd

from langdiff.lm.jobs.job import Job, JobResult
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
    """Return the intents of each part.

    Parameters
    ----------
    parts : Parts
        Parts of all jobs of a call, or of one of them.
    """
    return {name: getattr(parts, name).intents for name in _PARTS}


def pack(job: Job) -> Parcel:
    """Return a job as it is sent; `unpack` gives it back, without what a worker does not read."""
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
    """Return the job of a parcel; its multitexts know nothing of intents but their names.

    Parameters
    ----------
    parcel : Parcel
        What `pack` gave.
    catalogue : mapping from part to Index
        Intents of the parts that the job was packed with.
    """
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
    """Return the result of a job without the names of the intents, which its sender knows."""
    return replace(result, surprisals=result.surprisals.reset_index(drop=True))


def with_intents(result: JobResult, job: Job) -> JobResult:
    """Return a result of `without_intents` with the names of the intents."""
    test = job.parts.test
    intents = test.intents[test.presence[job.edition].to_numpy(dtype=bool)]
    return replace(result, surprisals=result.surprisals.set_axis(intents.rename("intent")))
