"""Log-probabilities of prompts, as vLLM gives them, one text per line; and what llama.cpp writes, which is refused."""

import re
from collections.abc import Mapping
from typing import Any

from langdiff.errors import DataError
from langdiff.tables.logs.kind import About, Asked, Kind, Record, Row, Source, Tokens, check, json_record, names_of
from langdiff.tables.logs.openai import OURS, bodies, body_of, scored

SCORES, IDS = "prompt_logprobs", "prompt_token_ids"


def _holder(record: object) -> Mapping[str, Any] | None:
    """Return the part of a record that has the log-probabilities."""
    if not isinstance(record, dict):
        return None
    body = body_of(record)
    choice = body["choices"][0] if body is not None else None
    places = [*bodies(record), *([choice] if isinstance(choice, dict) else [])]
    return next((one for one in places if isinstance(one.get(SCORES), list)), None)


def _read(source: Source, asked: Asked) -> tuple[list[Row], About]:
    return asked.rows(source, source.lines(), _row), About(unit="nats")


class OfToken(Record):
    """A token that might stand at a place."""

    logprob: float | None = None
    decoded_token: str | None = None


class Prompt(Record):
    """Log-probabilities of the tokens of a text, and their ids."""

    prompt_logprobs: list[float | dict[str, float | OfToken | None] | None]
    prompt_token_ids: list[int] | None = None


def _row(text_of_line: str, line: int, where: str) -> Row:
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
    document = {key: value for key, value in record.items() if key not in {*OURS, SCORES, IDS, "prompt"}}
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


KIND: Kind = Kind(
    name="vllm", told="prompt_logprobs", tells=lambda source: _holder(source.first) is not None, read=_read
)
LLAMA: Kind = Kind(
    name="llama.cpp", told="only llama-cpp-python's echo=True, logprobs=1", tells=_of_llama, read=_refused
)
