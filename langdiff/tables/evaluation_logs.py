"""Logs of language-model evaluations by lm-evaluation-harness and Inspect, as long tables."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from langdiff.base.io import parse_json, read_lines
from langdiff.base.signature import short_hash
from langdiff.errors import DataError, listing

SAMPLES = re.compile(r"samples_(.+?)(_\d{4}-\d\d-\d\dT[\d.:-]+)?$")
INSPECT_VALUES = {"C": 1.0, "I": 0.0, "N": 0.0}  # correct, incorrect, no answer


def read_lm_eval_samples(paths: Iterable[Path], *, metric: str | None, filter: str | None) -> pd.DataFrame:
    """Read samples of lm-evaluation-harness as a long table.

    Parameters
    ----------
    paths : iterable of Path
        Files ``samples_TASK_DATE.jsonl``, folders that hold some, or glob patterns. The folder of a file is the system.
    metric, filter : str or None
        Metric that tells right from wrong, and filter whose answers count; required if samples have several.

    Returns
    -------
    DataFrame
        Columns ``item`` (TASK/doc_id), ``system``, ``successes``, ``trials``, ``task``.

    Raises
    ------
    DataError
        If a file cannot be read, a value is neither right nor wrong, a metric or filter has to be chosen or is not
        there, or systems had different documents under one id.
    """
    rows: list[dict[str, Any]] = []
    for path in _files(paths, "samples_*.jsonl"):
        named = SAMPLES.fullmatch(path.name.partition(".jsonl")[0])
        task = path.stem if named is None else named[1]
        for line, text in read_lines(path):
            if text.strip():
                where = f"{path}, line {line}"
                sample = parse_sample(text, where)
                rows.append(
                    {
                        "item": f"{task}/{sample['doc_id']}",
                        "system": path.absolute().parent.name,
                        "task": task,
                        "filter": str(sample.get("filter", "none")),
                        "document": sample.get("doc_hash"),
                        "values": _metrics(sample, where),
                        "where": where,
                    }
                )
    _same_documents(rows)
    wanted = _chosen({row["filter"] for row in rows}, filter, "filter")
    rows = [row for row in rows if row["filter"] == wanted]
    return _table(rows, _chosen({name for row in rows for name in row["values"]}, metric, "metric"))


def read_inspect_logs(paths: Iterable[Path], *, scorer: str | None) -> pd.DataFrame:
    """Read the samples in JSON logs of Inspect as a long table.

    Parameters
    ----------
    paths : iterable of Path
        Files ``.json``, folders that hold some, or glob patterns.
    scorer : str or None
        Scorer that tells right from wrong; required if samples have several.

    Returns
    -------
    DataFrame
        Columns ``item`` (TASK/id), ``system`` (model), ``successes``, ``trials``, ``task``; one row per epoch.

    Raises
    ------
    DataError
        If a file cannot be read, a value is neither right nor wrong, a scorer has to be chosen or is not there, an
        epoch of a sample comes twice, or systems had different inputs under one id.
    """
    rows: list[dict[str, Any]] = []
    for path in _files(paths, "*.json"):
        log = _parsed("\n".join(text for _, text in read_lines(path)), str(path))
        about = log.get("eval") if isinstance(log, dict) else None
        if not isinstance(about, dict) or not {"task", "model"} <= set(about):
            raise DataError(f"{path}: not a log of Inspect, which has a task and a model under 'eval'.")
        samples = log.get("samples") or []
        if not isinstance(samples, list):
            raise DataError(f"{path}: samples are not a list, so that this is not a log of Inspect.")
        for place, sample in enumerate(samples):
            where = f"{path}, sample {place + 1}"
            if not isinstance(sample, dict) or "id" not in sample:
                raise DataError(f"{where}: has no id.")
            if not isinstance(sample.get("epoch", 1), int):
                raise DataError(f"{where}: epoch {sample['epoch']!r} is not a whole number.")
            scores = {} if sample.get("error") else sample.get("scores") or {}  # a failed run is missing, not wrong
            if not isinstance(scores, dict):
                raise DataError(f"{where}: scores are not named by their scorers, as Inspect names them.")
            rows.append(
                {
                    "item": f"{about['task']}/{sample['id']}",
                    "system": str(about["model"]),
                    "task": str(about["task"]),
                    "epoch": sample.get("epoch", 1),
                    "document": short_hash(sample["input"]) if "input" in sample else None,
                    "values": {name: score.get("value") for name, score in scores.items() if isinstance(score, dict)},
                    "where": where,
                }
            )
    _same_documents(rows)
    seen: dict[tuple[Any, ...], str] = {}
    for row in rows:
        before = seen.setdefault((row["item"], row["system"], row["epoch"]), row["where"])
        if before != row["where"]:
            raise DataError(
                f"{row['where']}: epoch {row['epoch']} of {row['item']} by {row['system']} is also {before}; give one "
                "log per task and model."
            )
    return _table(rows, _chosen({name for row in rows for name in row["values"]}, scorer, "metric"))


def _files(paths: Iterable[Path], pattern: str) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            found = sorted(path.rglob(pattern))
        elif path.exists():
            found = [path]
        else:
            root = Path(path.anchor) if path.is_absolute() else Path()
            found = sorted(root.glob(str(path.relative_to(path.anchor))))
        if not found:
            raise DataError(f"{path}: no file {pattern} there.")
        yield from found


def _parsed(text: str, where: str) -> Any:
    try:
        return parse_json(text)
    except ValueError as error:
        raise DataError(f"{where}: not JSON: {error}.") from error


def parse_sample(text: str, where: str) -> dict[str, Any]:
    """Return a sample of lm-evaluation-harness parsed from JSON.

    Raises
    ------
    DataError
        If the text is not JSON, or not a sample.
    """
    sample = _parsed(text, where)
    if not isinstance(sample, dict) or "doc_id" not in sample:
        raise DataError(f"{where}: not a sample of lm-evaluation-harness, which has a doc_id.")
    return sample


def _metrics(sample: dict[str, Any], where: str) -> dict[str, Any]:
    names = sample.get("metrics")
    if names is None:  # older versions do not list them
        names = [key for key, value in sample.items() if isinstance(value, bool | float)]
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise DataError(f"{where}: metrics are {names!r}, not a list of names.")
    absent = [name for name in names if name not in sample]
    if absent:
        raise DataError(f"{where}: no value of metric {listing(absent)}.")
    return {name: sample[name] for name in names}


def _chosen(there: set[str], wanted: str | None, what: str) -> str:
    names = sorted(there)
    if not names:
        raise DataError(f"no sample has a {what}: the logs hold no samples, or none was scored.")
    if wanted is None and len(names) == 1:
        return names[0]
    if wanted is None:
        raise DataError(f"samples have {len(names)} {what}s: {listing(names)}. Choose one: {what}=…")
    if wanted not in there:
        raise DataError(f"no sample has {what} {wanted!r}; there are {listing(names)}.")
    return wanted


def _same_documents(rows: list[dict[str, Any]]) -> None:
    """Check that every item was the same document for all systems."""
    first: dict[str, dict[str, Any]] = {}
    differ: dict[str, str] = {}
    for row in rows:
        if row["document"] is not None:
            one = first.setdefault(row["item"], row)
            if one["document"] != row["document"]:
                differ.setdefault(row["item"], f"{row['item']} ({one['where']}, and {row['where']})")
    if differ:
        raise DataError(
            f"{len(differ)} item(s) are not the same document in all files: {', '.join(list(differ.values())[:5])}. "
            "Versions of a task or of its data differ: run all systems on one."
        )


def _table(rows: list[dict[str, Any]], name: str) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "item": [row["item"] for row in rows],
            "system": [row["system"] for row in rows],
            "successes": pd.Series(
                [_success(row["values"].get(name), name, row["where"]) for row in rows], dtype=float
            ),
            "trials": 1.0,
            "task": [row["task"] for row in rows],
        }
    )


def _success(value: Any, name: str, where: str) -> float:
    if value is None:
        return float("nan")  # this sample was not scored
    number = INSPECT_VALUES.get(value, value) if isinstance(value, str) else value
    if isinstance(number, bool | int | float) and number in (0, 1):
        return float(number)
    raise DataError(
        f"{where}: {name} is {value!r}, neither right (1, C) nor wrong (0, I). A score between is not a success out of "
        "trials; choose a metric that tells right from wrong."
    )
