"""Logs of Inspect: JSON of version 2, and archives ``.eval``."""

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast
from zipfile import ZipFile, ZipInfo

from langdiff.base.archives import Member, members_of
from langdiff.base.io import read_lines
from langdiff.base.signature import short_hash
from langdiff.errors import DataError
from langdiff.tables.logs.kind import About, Asked, Kind, Record, Row, Source, check, parsed

ZSTANDARD = 93  # number of the method of compression
LOCAL_HEADER = 30  # bytes before the name of a member
MOST = 256 << 20  # bytes that a sample may expand to

Sample = tuple[str, Any]  # where it stands, and the sample


def _tells(source: Source) -> bool:
    if source.suffix == ".eval":
        return True
    first = source.first if source.suffix == ".json" else None
    return isinstance(first, dict) and isinstance(first.get("eval"), dict)


def _read(source: Source, asked: Asked) -> tuple[list[Row], About]:
    log, samples = _opened(source)
    about = log.get("eval") if isinstance(log, dict) else None
    if not isinstance(about, dict) or not {"task", "model"} <= set(about):
        raise DataError(f"{source}: not a log of Inspect, which has a task and a model under 'eval'.")
    check(Evaluation, about, f"{source}: eval:")
    numbered = ((place, where, sample) for place, (where, sample) in enumerate(samples, 1))
    rows = asked.rows(source, numbered, _row)
    rows = [row._replace(task=about["task"], system=about["model"]) for row in rows]
    status = log.get("status", "success")
    notes = () if status == "success" else (f"the evaluation ended with status {status!r}; the samples there are read",)
    packages = about.get("packages")
    version = str(packages.get("inspect_ai", "")) if isinstance(packages, dict) else ""
    return rows, About(version=version, notes=notes)


class Evaluation(Record):
    """Fields of the head of a log."""

    task: str
    model: str


class Score(Record):
    """Fields of a score, without its value."""

    answer: str | None = None


class AnswerTo(Record):
    """Fields of a sample."""

    id: str | int
    epoch: int = 1
    scores: dict[str, Score] | None = None
    choices: list[Any] | None = None
    target: str | list[Any] | None = None
    input: str | list[Any] | None = None


def _opened(source: Source) -> tuple[Any, Iterator[Sample]]:
    """Return the log without its samples, and these."""
    if source.suffix != ".eval":
        log = parsed(source.text(), str(source))
        samples = (log.get("samples") or []) if isinstance(log, dict) else []
        if not isinstance(samples, list):
            raise DataError(f"{source}: samples are not a list, so that this is not a log of Inspect.")
        return log, ((f"{source}, sample {place}", sample) for place, sample in enumerate(samples, 1))
    if not isinstance(source.file, Path):
        raise DataError(f"{source}: an archive within an archive; unpack the outer one.")
    members = {member.inner: member for member in members_of(source.file)}
    if "header.json" not in members:
        raise DataError(
            f"{source}: has no header.json: the evaluation was not finished, or this is not a log of Inspect."
        )
    names = sorted(name for name in members if name.startswith("samples/") and name.endswith(".json"))
    return _member(members["header.json"]), ((str(members[name]), _member(members[name])) for name in names)


def _member(member: Member) -> Any:
    with ZipFile(member.archive) as opened:
        info = opened.getinfo(member.inner)
        if info.compress_type == ZSTANDARD:  # which zipfile reads from Python 3.14 on only
            return parsed(_decompressed(member, info), str(member))
    return parsed("\n".join(text for _, text in read_lines(member)), str(member))


def _decompressed(member: Member, info: ZipInfo) -> bytes:
    """Return the content of a member that was compressed by Zstandard, after comparing its checksum."""
    import pyarrow as pa  # slow to import

    try:
        with member.archive.open("rb") as stream:
            stream.seek(info.header_offset)
            head = stream.read(LOCAL_HEADER)
            stream.seek(sum(struct.unpack("<HH", head[-4:])), 1)  # name and extra field
            packed = stream.read(info.compress_size)
        with pa.CompressedInputStream(pa.BufferReader(packed), "zstd") as expanded:
            found = bytes(expanded.read(MOST + 1))
    except (OSError, struct.error) as error:  # also pyarrow's
        raise DataError(f"{member}: cannot be read: {error}.") from error
    if len(found) > MOST or zlib.crc32(found) != info.CRC:
        raise DataError(f"{member}: damaged, or expands to more than {MOST >> 20} MiB.")
    return found


def _row(sample: Any, place: int, where: str) -> Row:
    if not isinstance(sample, dict):
        raise DataError(f"{where}: not a sample of Inspect, which has an id.")
    check(AnswerTo, sample, where)
    given = {} if sample.get("error") else sample.get("scores") or {}  # a failed run is missing, not wrong
    inner = sample.get("metadata")
    chosen = {str(score["answer"]) for score in given.values() if score.get("answer") is not None}
    choices = sample.get("choices")
    target = sample.get("target")
    return Row(
        place,
        (cast(dict[str, Any], inner) if isinstance(inner, dict) else {}) | {"id": sample["id"]},
        text=_input(sample.get("input")),
        values={name: score.get("value") for name, score in given.items()},
        chance=1 / len(choices) if isinstance(choices, list) and len(choices) > 1 else 0.0,
        answer=next(iter(chosen)) if len(chosen) == 1 else None,
        target=target if isinstance(target, str) else None,
        checked=short_hash(sample["input"]) if "input" in sample else None,
        epoch=sample.get("epoch", 1),
    )


def _input(given: object) -> str | None:
    """Return the text of a question, or of the messages of one."""
    if isinstance(given, str):
        return given
    if not isinstance(given, list):
        return None
    parts = [each["content"] for each in given if isinstance(each, dict) and isinstance(each.get("content"), str)]
    return "\n".join(parts) or None


KIND: Kind = Kind(name="inspect", told="eval.task and eval.model, or an archive .eval", tells=_tells, read=_read)
