"""Log-probabilities of completions, as the interface of OpenAI gives them, and of prompts, as vLLM does; one per line.

llama-cpp-python and others write the former; what llama.cpp writes is refused.
"""

import re
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


SCORES, IDS = "prompt_logprobs", "prompt_token_ids"


def _holder(record: object) -> Mapping[str, Any] | None:
    """Return the part of a record that has the log-probabilities."""
    if not isinstance(record, dict):
        return None
    body = body_of(record)
    choice = body["choices"][0] if body is not None else None
    places = [*bodies(record), *([choice] if isinstance(choice, dict) else [])]
    return next((one for one in places if isinstance(one.get(SCORES), list)), None)


def _read_prompts(source: Source, asked: Asked) -> tuple[list[Row], About]:
    return asked.rows(source, source.lines(), _row_of_prompt), About(unit="nats")


class OfToken(Record):
    """A token that might stand at a place."""

    logprob: float | None = None
    decoded_token: str | None = None


class Prompt(Record):
    """Log-probabilities of the tokens of a text, and their ids."""

    prompt_logprobs: list[float | dict[str, float | OfToken | None] | None]
    prompt_token_ids: list[int] | None = None


def _row_of_prompt(text_of_line: str, line: int, where: str) -> Row:
    record = json_record(text_of_line, where)
    holder = _holder(record)
    if holder is None or not holder[SCORES]:
        raise DataError(f"{where}: no {SCORES}. Leave the line out, or ask for prompt_logprobs=0.")
    check(Prompt, holder, where)
    body = body_of(record) or {}
    chain = [holder, *bodies(record), body]
    ids = next((one[IDS] for one in chain if isinstance(one.get(IDS), list)), None)
    if ids is not None and len(ids) != len(holder[SCORES]):
        raise DataError(f"{where}: {len(holder[SCORES])} log-probabilities of {len(ids)} tokens.")
    found = [
        _token(each, None if ids is None else ids[place], f"{where}, token {place + 1}")
        for place, each in enumerate(holder[SCORES])
    ]
    bits, unscored = scored([score for _, _, score in found], SCORES, where)
    text = next((one["prompt"] for one in chain if isinstance(one.get("prompt"), str)), None)
    tokens = Tokens([name for name, _, _ in found], bits, ids=[number for _, number, _ in found])
    document = {key: value for key, value in record.items() if key not in {*OURS, SCORES, IDS, "prompt"} - {"id"}}
    return Row(line, document, text=text, tokens=tokens, unscored=unscored)._replace(
        **names_of([record, *bodies(record)])
    )


def _token(each: Any, wanted: int | None, where: str) -> tuple[str | None, int | None, float | None]:
    """Return the string, id and log-probability of the token of the text, among those reported at its place."""
    if each is None:
        return None, wanted, None
    if isinstance(each, int | float):
        return None, wanted, float(each)
    if not each:
        raise DataError(f"{where}: no token.")
    if wanted is None and len(each) > 1:
        raise DataError(
            f"{where}: {len(each)} ids, and no {IDS} to tell the one of the text. Score with prompt_logprobs=0, or "
            "return token ids."
        )
    key = next(iter(each)) if wanted is None else str(wanted)
    if key not in each:
        raise DataError(f"{where}: the id {wanted} of the text is not among those with a log-probability.")
    value = each[key]
    if isinstance(value, dict):
        name = value.get("decoded_token")
        score = value.get("logprob")
    else:
        name, score = None, value
    number = int(key) if key.isascii() and key.isdigit() else None
    return name, number, None if score is None else float(score)


def _of_llama(source: Source) -> bool:
    first = source.first
    if isinstance(first, dict):
        return any("completion_probabilities" in one for one in bodies(first))
    return re.match(r"perplexity:|main: build|llama_|build:|\[1\]\d", source.head) is not None


def _refused(source: Source, _: Asked) -> tuple[list[Row], About]:
    what = (
        "completion_probabilities of llama.cpp's server are of answers that the model generated"
        if isinstance(source.first, dict)
        else "llama-perplexity prints means over chunks of a file"
    )
    raise DataError(
        f"{source}: {what}, not log-probabilities of texts. Score each text by llama-cpp-python: "
        "model.create_completion(text, echo=True, logprobs=1, max_tokens=0), one JSON record per line."
    )


VLLM: Kind = Kind(
    name="vllm", told="prompt_logprobs", tells=lambda source: _holder(source.first) is not None, read=_read_prompts
)
LLAMA: Kind = Kind(
    name="llama.cpp", told="only llama-cpp-python's echo=True, logprobs=1", tells=_of_llama, read=_refused
)
