"""Scoring in shares: jobs of models × editions on executors, and on machines that have nothing but a folder in common.

A job is one model with the texts of one edition, and knows of no other. Its key, a hash of both, names the file of its
scores in the cache. Machine k of N does the jobs whose place in the sorted list of keys is k − 1 modulo N; no two
machines write one file, so that there is nothing to lock. A plan beside the scores tells which table they make.
"""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pandas as pd

from langdiff.base.checksums import is_whole, read_sealed, seal
from langdiff.base.encoding import decode_fields, encode_fields
from langdiff.base.io import parse_json, read_bytes, write_json
from langdiff.base.signature import full_hash
from langdiff.errors import ConfigError, DataError, listing, option, warn
from langdiff.tables.long_tables import Provenance

PLAN = "plan of scores"
VERSION = 1
_SHARD = re.compile(r"([0-9]{1,6})/([0-9]{1,6})")
FIRST_LOOK, LONGEST_LOOK = 0.1, 5.0  # seconds between looks at futures that say only whether they are done


@dataclass(frozen=True, kw_only=True, eq=False)
class Plan:
    """What a table of scores is made of.

    Attributes
    ----------
    lm : str
        Name of the language model.
    keys : Series of str
        Key of the job of each edition.
    presence : DataFrame of bool, shape (I, J)
        Which texts each edition has.
    intent_info : DataFrame
        What is known of the intents.
    provenance : Provenance
        Origin of the scores.
    """

    lm: str
    keys: pd.Series
    presence: pd.DataFrame
    intent_info: pd.DataFrame
    provenance: Provenance

    def write(self, folder: Path) -> None:
        """Write the plan to the folder of the scores; all shares of a job write the same file."""
        document = {"format": PLAN, "format_version": VERSION, **encode_fields(self)}
        write_json(folder / f"plan-{full_hash(self.lm, list(self.keys))[:16]}.json", seal(document))


def read_plans(folder: Path) -> list[Plan]:
    """Return the plans of a folder of scores, in the order of the names of their language models."""
    paths = sorted(folder.glob("plan-*.json"))
    if not paths:
        raise DataError(f"{folder}: no plan of scores. It is written by langdiff score --shard k/N --cache {folder}.")
    plans = []
    for path in paths:
        document = read_sealed(path, kind=PLAN, version=VERSION, what="a plan of scores")
        fields = {name: value for name, value in document.items() if name not in ("format", "format_version", "sha256")}
        plans.append(decode_fields(Plan, fields))
    return sorted(plans, key=lambda plan: plan.lm)


def share_of(keys: Sequence[str], shard: str) -> set[str]:
    """Return the keys of the jobs that are the share of one machine.

    Examples
    --------
    >>> sorted(share_of(["d", "a", "c", "b"], "2/3"))
    ['b']
    """
    found = _SHARD.fullmatch(shard.strip()) if isinstance(shard, str) else None
    k, n = (int(number) for number in found.groups()) if found else (0, 0)
    if not 1 <= k <= n:
        raise ConfigError(f"{option('shard', shard)}: give k/N, with k from 1 to N, such as 2/3.")
    return set(sorted(set(keys))[k - 1 :: n])


def file_of(key: str) -> str:
    """Return the name of the file of a job's scores."""
    return f"{key[:32]}.json"


def read_scores(path: Path, key: str) -> dict[str, Any] | None:
    """Return the content of a file of scores; None if it is missing, damaged, or of another job."""
    try:
        document = parse_json(read_bytes(path))
    except (OSError, ValueError):
        return None
    whole = isinstance(document, dict) and "sha256" in document and is_whole(document)
    return document if whole and document.get("key") == key else None


def frames_of_plan(plan: Plan, folder: Path) -> dict[str, pd.DataFrame]:
    """Return the scores of all editions of a plan."""
    kept = {edition: read_scores(folder / file_of(key), key) for edition, key in plan.keys.items()}
    missing = [str(edition) for edition, document in kept.items() if document is None]
    if missing:
        raise DataError(
            f"{folder}: {len(missing)} of {len(kept)} editions of {plan.lm} have no scores yet: {listing(missing, 20)}."
            " Run the shares that are missing."
        )
    for message in dict.fromkeys(text for document in kept.values() for text in (document or {}).get("warnings", [])):
        warn(message)
    return {
        str(edition): pd.DataFrame(document["columns"]).set_axis(plan.presence.index[plan.presence[edition]], axis=0)
        for edition, document in kept.items()
        if document is not None
    }


class Future(Protocol):
    """What an executor's ``submit`` returns: two methods are enough."""

    def done(self) -> bool:
        """Return whether there is a result, or an error."""

    def result(self) -> Any:
        """Return the result, or raise the error."""


class Submits(Protocol):
    """Executor: one method is enough, as Dask's, submitit's and those of the standard library have."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future:
        """Begin a call elsewhere."""


def collect(futures: Mapping[str, Future], report: Callable[[str], None]) -> dict[str, Any]:
    """Wait for futures by looking at them again and again; return their results by name."""
    results: dict[str, Any] = {}
    pause = FIRST_LOOK
    try:
        while len(results) < len(futures):
            ended = [name for name, future in futures.items() if name not in results and future.done()]
            for name in ended:
                results[name] = futures[name].result()
                report(name)
            if len(results) < len(futures):
                pause = FIRST_LOOK if ended else min(2 * pause, LONGEST_LOOK)
                time.sleep(pause)
    except BaseException:
        for name in futures.keys() - results.keys():
            getattr(futures[name], "cancel", lambda: None)()
        raise
    return {name: results[name] for name in futures}
