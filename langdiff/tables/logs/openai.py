"""Completions with log-probabilities, as OpenAI's interface, llama-cpp-python and others give them, one per line."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from langdiff.base.types import Floats
from langdiff.errors import DataError
from langdiff.tables.logs.kind import (
    About,
    Asked,
    Kind,
    Record,
    Row,
    Source,
    Tokens,
    check,
    in_bits,
    json_record,
    names_of,
)

ADVICE = "score the texts again with echo=True, max_tokens=0"
OURS = {"response", "body", "choices", "usage", "id", "object", "created", "error"}  # what is not of the document


def bodies(record: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield a record and the answers within it, as batches wrap them."""
    for key in (None, "response", "body"):
        if key is not None:
            inner = record.get(key)
            if not isinstance(inner, dict):
                continue
            record = inner
        yield record


def body_of(record: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the part of a record that has choices; None if there is none."""
    return next((one for one in bodies(record) if isinstance(one.get("choices"), list) and one["choices"]), None)


def _logprobs(record: object) -> Mapping[str, Any] | None:
    body = body_of(record) if isinstance(record, dict) else None
    found = body["choices"][0].get("logprobs") if body and isinstance(body["choices"][0], dict) else None
    return found if isinstance(found, dict) else None


def _tells(source: Source) -> bool:
    found = _logprobs(source.first)
    return found is not None and ("tokens" in found or "content" in found)


def _read(source: Source, asked: Asked) -> tuple[list[Row], About]:
    return asked.rows(source, source.lines(), _row), About(unit="nats")


class Probabilities(Record):
    """Tokens of a text, their log-probabilities and first characters."""

    tokens: list[str] | None = None
    token_logprobs: list[float | None] | None = None
    text_offset: list[int] | None = None


class Choice(Record):
    """A text with its tokens."""

    text: str | None = None
    logprobs: Probabilities | None = None


class Usage(Record):
    """Numbers of tokens."""

    prompt_tokens: int | None = None


class Completion(Record):
    """Fields of an answer."""

    choices: list[Choice]
    usage: Usage | None = None


def _row(text_of_line: str, line: int, where: str) -> Row:
    record = json_record(text_of_line, where)
    found, body = _logprobs(record), body_of(record)
    if found is None or body is None:
        failed = record.get("error") or next((one["error"] for one in bodies(record) if one.get("error")), None)
        reason = f": the request failed ({failed!r:.60})" if failed else ""
        raise DataError(f"{where}: no log-probabilities{reason}. Leave the line out, or ask for logprobs=1.")
    if "content" in found:
        raise DataError(f"{where}: log-probabilities of a chat: answers, not texts. Use completions: {ADVICE}.")
    check(Completion, body, where)
    names, scores = found.get("tokens"), found.get("token_logprobs")
    if not names or not scores or len(names) != len(scores):
        raise DataError(f"{where}: tokens and token_logprobs are not two lists of one length.")
    starts = found.get("text_offset")
    starts = starts if starts and len(starts) == len(names) else None
    text = body["choices"][0].get("text")
    prompt = next((one["prompt"] for one in bodies(record) if isinstance(one.get("prompt"), str)), None)
    bits, unscored = scored(scores, "token_logprobs", where)
    tokens = Tokens(names, bits, starts=starts)
    tokens, text = _without_generated(tokens, text, prompt, body.get("usage"), where)
    names_there = names_of([record, *bodies(record)])
    document = {key: value for key, value in record.items() if key not in OURS}
    row = Row(line, document, text=text if isinstance(text, str) else prompt, tokens=tokens, unscored=unscored)
    return row._replace(**names_there)


def scored(scores: list[float | None], name: str, where: str) -> tuple[Floats, str]:
    """Return log-probabilities of tokens in bits, and the name of the scores if some are NaN."""
    bits = in_bits(scores, "nats")
    absent = np.flatnonzero(np.isnan(bits))
    lacking = [place for place in absent if scores[place] is None]
    if len(lacking) < len(absent):
        return bits, name
    if len(lacking) and lacking[-1] > 0:
        raise DataError(f"{where}: token {(lacking[0] or lacking[1]) + 1} has no log-probability.")
    return bits, ""


def _without_generated(
    tokens: Tokens, text: str | None, prompt: str | None, usage: object, where: str
) -> tuple[Tokens, str | None]:
    """Return the tokens of the prompt, without generated ones."""
    read = usage.get("prompt_tokens") if isinstance(usage, dict) else None
    n = len(tokens.names)
    echoed = np.isnan(tokens.bits[0]) or (isinstance(text, str) and prompt is not None and text.startswith(prompt))
    if not echoed and read != n:
        raise DataError(f"{where}: these are tokens that the model generated, not those of the text: {ADVICE}.")
    if prompt is not None and tokens.starts is not None:
        base = tokens.starts[0] or 0
        inside = sum((start or 0) - base < len(prompt) for start in tokens.starts)
        return tokens.without(slice(0, inside)), prompt
    if isinstance(read, int) and read < n:
        raise DataError(
            f"{where}: {n - read} tokens were generated after the text, and where they begin is not told: {ADVICE}."
        )
    return tokens, text


KIND: Kind = Kind(name="openai", told="choices[0].logprobs.tokens", tells=_tells, read=_read)
