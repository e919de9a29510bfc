"""Completions with log-probabilities, as OpenAI's interface, llama-cpp-python and others give them, one per line."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from langdiff.errors import DataError
from langdiff.tables.logs.kind import About, Asked, Kind, Row, Source, Tokens, in_bits, names_of

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


def _read(source: Source, _: Asked) -> tuple[list[Row], About]:
    rows = [_row(record, line, f"{source}, line {line}") for line, record in source.records()]
    return rows, About(unit="nats")


def _row(record: Mapping[str, Any], line: int, where: str) -> Row:
    found, body = _logprobs(record), body_of(record)
    if found is None or body is None:
        failed = record.get("error") or next((one["error"] for one in bodies(record) if one.get("error")), None)
        reason = f": the request failed ({failed!r:.60})" if failed else ""
        raise DataError(f"{where}: no log-probabilities{reason}. Leave the line out, or ask for logprobs=1.")
    if "content" in found:
        raise DataError(f"{where}: log-probabilities of a chat: answers, not texts. Use completions: {ADVICE}.")
    names, scores = found.get("tokens"), found.get("token_logprobs")
    if not isinstance(names, list) or not isinstance(scores, list) or len(names) != len(scores) or not names:
        raise DataError(f"{where}: tokens and token_logprobs are not two lists of one length.")
    starts = found.get("text_offset")
    starts = list(starts) if isinstance(starts, list) and len(starts) == len(names) else None
    text = body["choices"][0].get("text")
    prompt = next((one["prompt"] for one in bodies(record) if isinstance(one.get("prompt"), str)), None)
    bits = in_bits(scores, "nats")
    if np.isnan(bits[1:]).any():
        raise DataError(f"{where}: token {int(np.isnan(bits[1:]).argmax()) + 2} has no log-probability.")
    tokens = Tokens([str(name) for name in names], bits, starts=starts)
    tokens, text = _without_generated(tokens, text, prompt, body.get("usage"), where)
    names_there = names_of([record, *bodies(record)])
    document = {key: value for key, value in record.items() if key not in OURS}
    row = Row(line, document, text=text if isinstance(text, str) else prompt, tokens=tokens)
    return row._replace(**names_there)


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
