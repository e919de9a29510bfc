"""Log-probabilities of prompts, as vLLM gives them, one text per line; and what llama.cpp writes, which is refused."""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from langdiff.errors import DataError
from langdiff.tables.logs.kind import About, Asked, Kind, Row, Source, Tokens, in_bits, names_of
from langdiff.tables.logs.openai import OURS, bodies, body_of

SCORES, IDS = "prompt_logprobs", "prompt_token_ids"


def _holder(record: object) -> Mapping[str, Any] | None:
    """Return the part of a record that has the log-probabilities."""
    if not isinstance(record, dict):
        return None
    body = body_of(record)
    choice = body["choices"][0] if body is not None else None
    places = [*bodies(record), *([choice] if isinstance(choice, dict) else [])]
    return next((one for one in places if isinstance(one.get(SCORES), list)), None)


def _read(source: Source, _: Asked) -> tuple[list[Row], About]:
    rows = [_row(record, line, f"{source}, line {line}") for line, record in source.records()]
    return rows, About(unit="nats")


def _row(record: Mapping[str, Any], line: int, where: str) -> Row:
    holder = _holder(record)
    if holder is None or not holder[SCORES]:
        raise DataError(f"{where}: no {SCORES}. Leave the line out, or ask for prompt_logprobs=0.")
    body = body_of(record) or {}
    chain = [holder, *bodies(record), body]
    ids = next((one[IDS] for one in chain if isinstance(one.get(IDS), list)), None)
    if ids is not None and len(ids) != len(holder[SCORES]):
        raise DataError(f"{where}: {len(holder[SCORES])} log-probabilities of {len(ids)} tokens.")
    found = [
        _token(each, None if ids is None else ids[place], f"{where}, token {place + 1}")
        for place, each in enumerate(holder[SCORES])
    ]
    bits = in_bits([score for _, _, score in found], "nats")
    if np.isnan(bits[1:]).any():
        raise DataError(f"{where}: token {int(np.isnan(bits[1:]).argmax()) + 2} has no log-probability.")
    text = next((one["prompt"] for one in chain if isinstance(one.get("prompt"), str)), None)
    tokens = Tokens([name for name, _, _ in found], bits, ids=[number for _, number, _ in found])
    document = {key: value for key, value in record.items() if key not in {*OURS, SCORES, IDS, "prompt"}}
    return Row(line, document, text=text, tokens=tokens)._replace(**names_of([record, *bodies(record)]))


def _token(each: Any, wanted: int | None, where: str) -> tuple[str | None, int | None, float | None]:
    """Return the string, id and log-probability of the token of the text, among those reported at its place."""
    if each is None:
        return None, wanted, None
    if isinstance(each, int | float) and not isinstance(each, bool):
        return None, wanted, float(each)
    if not isinstance(each, dict) or not each:
        raise DataError(f"{where}: {each!r:.40} is not a log-probability.")
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
    if score is None or isinstance(score, bool) or not isinstance(score, int | float):
        raise DataError(f"{where}: {score!r:.40} is not a log-probability.")
    number = int(key) if key.lstrip("-").isdigit() else None
    return None if name is None else str(name), number, float(score)


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


KIND: Kind = Kind(
    name="vllm", told="prompt_logprobs", tells=lambda source: _holder(source.first) is not None, read=_read
)
LLAMA: Kind = Kind(
    name="llama.cpp", told="only llama-cpp-python's echo=True, logprobs=1", tells=_of_llama, read=_refused
)
