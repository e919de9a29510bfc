"""Samples of lm-evaluation-harness: ``samples_TASK_DATE.jsonl``, and ``results_DATE.json`` in the same folder."""

import math
import re
from collections.abc import Mapping, Sequence
from reprlib import repr as short
from typing import Any

import numpy as np

from langdiff.base.io import read_lines
from langdiff.errors import DataError, listing
from langdiff.tables.logs.kind import (
    MOST_EXACT,
    About,
    Asked,
    Kind,
    Record,
    Row,
    Source,
    check,
    in_bits,
    json_record,
    parsed,
)

SAMPLES = re.compile(r"samples_(.+?)(?:_(\d{4}-\d\d-\d\dT[\d.:-]+))?")
RESULTS = "results_*.json"


def task_of(source: Source) -> tuple[str, str]:
    """Return the task and the date in the name of a file of samples; the date may be empty."""
    stem = source.file.name.partition(".jsonl")[0]
    found = SAMPLES.fullmatch(stem)
    return (stem, "") if found is None else (found[1], found[2] or "")


def _tells(source: Source) -> bool:
    first = source.first
    if isinstance(first, dict) and {"doc_id", "filtered_resps"} <= set(first):
        return True
    named = source.file.name.startswith("samples_") and source.suffix == ".jsonl"
    return named and not (isinstance(first, dict) and "bits" in first)


def _read(source: Source, asked: Asked) -> tuple[list[Row], About]:
    task, date = task_of(source)
    results = _results(source, date)
    system = _system(source, results)

    def read(text: str, line: int, where: str) -> Row:
        return _row(json_record(text, where), Row(line, task=task, system=system), where)

    return asked.rows(source, source.lines(), read), _about(results, task)


class Sample(Record):
    """Fields of a sample, without the values of its metrics."""

    doc_id: str | int
    filter: str = "none"
    metrics: list[str] | None = None
    doc_hash: str | None = None
    arguments: list[Any] | dict[str, Any] | None = None


def _row(sample: Mapping[str, Any], row: Row, where: str) -> Row:
    """Return a sample; one scored text has bits, an answer has the values of its metrics."""
    check(Sample, sample, where)
    inner = sample.get("doc")
    document = {**(inner if isinstance(inner, Mapping) else {}), "doc_id": sample["doc_id"]}
    requests = _requests(sample)
    options = [request[1] for request in requests if len(request) > 1 and isinstance(request[1], str)]
    scores = sample.get("filtered_resps", sample.get("resps"))
    half = len(options) // 2
    if half > 1 and options[:half] == options[half:] and not any(request[0] for request in requests[half:]):
        options = options[:half]  # with acc_mutual_info each choice is scored again without its question
        scores = scores[:half] if isinstance(scores, list) else scores
    known: dict[str, Any] = {
        "document": document,
        "text": _text(document, requests),
        "filter": str(sample.get("filter", "none")),
        "checked": None if sample.get("doc_hash") is None else str(sample["doc_hash"]),
    }
    rolling = bool(requests) and len(requests[0]) == 1
    values = {} if rolling else _metrics(sample, where)
    if rolling or (len(options) == 1 and not _is_answer(requests[0], values)):
        number, text = _log_likelihood(scores, where), requests[0][-1]
        if not isinstance(text, str):
            raise DataError(f"{where}: the argument is {short(text)}, not text.")
        known |= {"bits": float(in_bits([number], "nats")[0]), "text": text}
        known["unscored"] = "filtered_resps" if np.isnan(number) else ""
        if rolling:
            return row._replace(**known)
    many = len(options) > 1
    likely = _numbers(scores) if many else []
    if any(map(math.isnan, likely)):
        known["unscored"] = "filtered_resps"
    return row._replace(
        values=values,
        chance=1 / len(options) if many else 0.0,
        answer=str(likely.index(max(likely))) if many and len(likely) == len(options) else None,
        target=None if sample.get("target") is None else str(sample["target"]),
        **known,
    )


def _is_answer(request: Sequence[Any], values: Mapping[str, Any]) -> bool:
    """Return whether a continuation completes a context, rightly or wrongly, so that it is not a text of its own."""
    return bool(str(request[0]).strip()) and any(value in (0, 1) for value in values.values())


def _requests(sample: Mapping[str, Any]) -> list[list[Any]]:
    """Return the arguments of each request: a text, or a context and its continuation."""
    found = sample.get("arguments")
    if isinstance(found, dict):
        return [list(each.values()) if isinstance(each, dict) else [each] for each in found.values()]
    if isinstance(found, list):
        return [list(each) if isinstance(each, list) else [each] for each in found]
    return []


def _text(document: Mapping[str, Any], requests: Sequence[Sequence[Any]]) -> str | None:
    """Return what a question says, without examples before it: all texts of its document, or the context."""
    parts = [value for value in document.values() if isinstance(value, str)]
    if parts:
        return "\n".join(parts)
    return requests[0][0] if requests and isinstance(requests[0][0], str) else None


def _log_likelihood(found: Any, where: str) -> float:
    if isinstance(found, list) and len(found) > 1 and isinstance(found[0], list):
        raise DataError(
            f"{where}: {len(found)} log-likelihoods, of the choices of a question, but one text: arguments and "
            "responses do not go together."
        )
    while isinstance(found, list) and found:
        found = found[0]  # with a continuation: the log-likelihood, and whether it is the likeliest
    number = _number(found)
    if number is None:  # a failure of the model too, and not a missing translation
        raise DataError(f"{where}: the response is {short(found)}, not a log-likelihood.")
    return number


def _number(found: Any) -> float | None:
    """Return a log-likelihood, which newer versions write as text; None if it is none."""
    if isinstance(found, bool) or not isinstance(found, str | int | float):
        return None
    try:
        number = float(found)
    except (ValueError, OverflowError):
        return None
    return None if isinstance(found, int) and abs(found) > MOST_EXACT else number


def _numbers(scores: Any) -> list[float]:
    """Return the log-likelihoods of options; [] if the sample does not have them."""
    if not isinstance(scores, list):
        return []
    found = [_number(each[0]) if isinstance(each, list) and each else None for each in scores]
    return [] if None in found else found  # type: ignore[return-value]  # numbers only


def _metrics(sample: Mapping[str, Any], where: str) -> dict[str, Any]:
    names = sample.get("metrics")
    if names is None:  # older versions do not list them
        names = [key for key, value in sample.items() if isinstance(value, bool | float)]
    absent = [name for name in names if name not in sample]
    if absent:
        raise DataError(f"{where}: no value of metric {listing(absent)}.")
    return {name: sample[name] for name in names}


def _results(source: Source, date: str) -> dict[str, Any]:
    """Return the results in the folder of samples: those of the same date, or the only ones."""
    files = source.beside(RESULTS)
    of_date = [file for file in files if date and date in file.name]
    chosen = of_date[0] if of_date else files[0] if len(files) == 1 else None
    if chosen is None:
        return {}
    found = parsed("\n".join(text for _, text in read_lines(chosen)), f"{chosen} (without it the samples can be read)")
    return found if isinstance(found, dict) else {}


def _system(source: Source, results: Mapping[str, Any]) -> str:
    """Return the name of the model, which may be a path; without results, that of the folder, which may be one, too."""
    folder = source.file.parent.absolute().name
    return str(results.get("model_name") or (folder.replace("__", "/") if folder.startswith("__") else folder))


def _about(results: Mapping[str, Any], task: str) -> About:
    if not results:
        return About(start="unknown", unit="nats", notes=("no results file beside the samples: start token unknown",))
    config = results.get("config")
    arguments = config.get("model_args") if isinstance(config, dict) else None
    spelt = (
        arguments
        if isinstance(arguments, dict)
        else dict(part.split("=", 1) for part in str(arguments or "").split(",") if "=" in part)
    )
    without = str(spelt.get("add_bos_token", "")).lower() == "false"
    bos = results.get("tokenizer_bos_token")
    shots = results.get("n-shot")
    return About(
        version=str(results.get("lm_eval_version") or ""),
        start="possible" if bos and bos[0] is not None and not without else "none",
        shots=str(shots.get(task, "")) if isinstance(shots, dict) else "",
        unit="nats",
    )


KIND: Kind = Kind(name="lm-eval", told="doc_id and filtered_resps in each line", tells=_tells, read=_read)
