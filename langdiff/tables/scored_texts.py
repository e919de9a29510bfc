"""Bits of texts from the logs of lm-evaluation-harness and from tables of texts and their scores."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from langdiff.base.io import read_lines
from langdiff.errors import DataError, listing
from langdiff.tables.evaluation_logs import parse_sample
from langdiff.tables.table_files import numbers_of, read_table_file

TEXTS = ("text", "sentence", "stimulus")  # columns that hold the text, by preference
SCORES = ("surprisal", "logprob", "log_prob", "log_likelihood", "loglikelihood", "score")
INTENTS = ("intent", "doc_id")  # columns that name the intents, by preference
DOCUMENT = "doc_id"  # key that names the intents in a sample
SAMPLES = (".jsonl", ".jsonl.gz")


class ScoredTexts(NamedTuple):
    """What one file says of one edition.

    Attributes
    ----------
    numbers : Series
        Surprisals or log-probabilities, indexed by intent.
    texts : Series or None
        The texts scored, if they are in the file.
    named : bool
        Whether the file names its intents; otherwise they are its rows.
    """

    numbers: pd.Series
    texts: pd.Series | None
    named: bool = True


def holds_samples(path: Path) -> bool:
    """Whether a file is a log of samples, by its name."""
    return path.name.endswith(SAMPLES)


def holds_table(path: Path) -> bool:
    """Whether a file is a table with a header that names scores."""
    if path.suffix not in (".csv", ".tsv", ".parquet"):
        return False
    if path.suffix == ".parquet":
        return True
    first = next((line for _, line in read_lines(path)), "")
    cells = first.strip().replace(";", ",").replace("\t", ",").split(",")
    return any(name.strip('\ufeff"') in SCORES for name in cells)


def read_samples(path: Path, intent: str | None) -> ScoredTexts:
    """Read log-likelihoods from samples of lm-evaluation-harness.

    Parameters
    ----------
    path : Path
        File ``samples_TASK_DATE.jsonl``, one sample per line, each with one log-likelihood: tasks of type
        ``loglikelihood_rolling``, or ``loglikelihood`` with one continuation.
    intent : str or None
        Key of a sample, or of its document, that names the intent; by default ``doc_id``.

    Raises
    ------
    DataError
        If a line is not such a sample, a log-likelihood is NaN, or two samples name one intent.
    """
    key = DOCUMENT if intent is None else intent
    numbers: dict[Any, float] = {}
    texts: dict[Any, str | None] = {}
    for line, content in read_lines(path):
        if not content.strip():
            continue
        where = f"{path}, line {line}"
        sample = parse_sample(content, where)
        name = _intent(sample, key, where)
        if name in numbers:
            raise DataError(
                f"{where}: a second sample of {key} {name!r}. Give one file per edition, of one filter, or name "
                "another key (intent=…)."
            )
        numbers[name] = _log_likelihood(sample, where)
        texts[name] = _text(sample)
    if not numbers:
        raise DataError(f"{path}: no sample.")
    known = pd.Series(texts, dtype=object)
    return ScoredTexts(pd.Series(numbers, dtype=float), known if known.notna().all() else None)


def _intent(sample: Mapping[str, Any], key: str, where: str) -> str:
    document = sample.get("doc")
    inner = document if isinstance(document, dict) else {}
    found = sample.get(key, inner.get(key))
    if found is None:
        raise DataError(f"{where}: no {key!r}; a sample has {listing(sample, 20)}, its document {listing(inner, 20)}.")
    return str(found)


def _log_likelihood(sample: Mapping[str, Any], where: str) -> float:
    found = sample.get("filtered_resps", sample.get("resps"))
    while isinstance(found, list) and len(found) == 1 and isinstance(found[0], list):
        found = found[0]
    if isinstance(found, list) and len(found) > 1 and isinstance(found[0], list):
        raise DataError(
            f"{where}: {len(found)} log-likelihoods, of the choices of a question: such a sample is right or wrong "
            "(`read_outcomes`), and has no bits of a text."
        )
    if isinstance(found, list) and found:
        found = found[0]  # with a continuation: the log-likelihood, and whether it is the likeliest
    try:
        number = np.nan if isinstance(found, bool) else float(found)  # newer versions write text
    except (TypeError, ValueError):
        number = np.nan
    if np.isnan(number):  # a failure of the model too, and not a missing translation
        raise DataError(f"{where}: the response is {found!r:.40}, not a log-likelihood. Was text generated?")
    return number


def _text(sample: Mapping[str, Any]) -> str | None:
    """Return what was scored: the last argument of the only request."""
    found = sample.get("arguments")
    while isinstance(found, dict | list) and found:
        found = list(found.values())[-1] if isinstance(found, dict) else found[-1]
    return found if isinstance(found, str) else None


def read_scored_table(path: Path, intent: str | None) -> ScoredTexts:
    """Read a table of texts with their scores, one row per intent.

    Parameters
    ----------
    path : Path
        CSV, TSV or Parquet with a column ``surprisal``, ``logprob`` or ``score``.
    intent : str or None
        Column of the intents; by default ``intent`` or ``doc_id``, and where there is neither, rows are counted from
        ``"1"``.

    Raises
    ------
    DataError
        If there is no such column, there are several columns of scores or none, a cell is not a number, or the scores
        are those of single tokens.
    """
    frame = read_table_file(path)
    if "token" in frame:
        raise DataError(f"{path}: has a column 'token'. Scores of single tokens are read by `read_token_scores`.")
    columns = [name for name in SCORES if name in frame]
    if len(columns) != 1:
        raise DataError(
            f"{path}: {len(columns)} columns of scores; there are {listing(frame.columns, 20)}. One is needed, called "
            f"{listing(SCORES, 9)}."
        )
    named = next((name for name in INTENTS if name in frame), None) if intent is None else intent
    if named is not None and named not in frame:
        raise DataError(f"{path}: no column {named!r} of intents; there are {listing(frame.columns, 20)}.")
    rows = pd.Series(range(1, len(frame) + 1)) if named is None else frame[named]
    names = pd.Index(rows.map(str, na_action="ignore"), name="intent")
    if names.isin([""]).any() or names.hasnans:
        raise DataError(f"{path}, column {named!r}: not every row names its intent.")
    numbers = numbers_of(frame[columns[0]], path).set_axis(names, axis=0)
    if numbers.isna().all():
        raise DataError(f"{path}: no score in {len(numbers):,} row(s). Leave this edition out.")
    twice = names[names.duplicated()]
    if len(twice):
        raise DataError(f"{path}: {len(twice):,} intent(s) named twice: {listing(twice.unique())}.")
    text = next((name for name in TEXTS if name in frame), None)
    texts = None if text is None else frame[text].map(str, na_action="ignore").set_axis(names, axis=0)
    return ScoredTexts(numbers, texts, named is not None)
