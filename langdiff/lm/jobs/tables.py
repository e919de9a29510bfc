"""Tables of surprisals in the folder of a job: one per way of scoring, beside what it depends on."""

import io
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from langdiff.base.checksums import Checksums, write_checksums
from langdiff.base.io import atomic_path, remove, write_json
from langdiff.lm.scoring import Scoring
from langdiff.lm.texts import sizes_of

_STEM = "surprisals"
_COLUMNS = ["bits", "eos_bits", "units", "replaced"]  # what cannot be counted again from the text alone


def table_names(scoring: Scoring) -> tuple[str, str]:
    """Return the names of a table and of the file with what it depends on."""
    return f"{_STEM}{scoring.ending}.parquet", f"{_STEM}{scoring.ending}.json"


def read_table(kept: Checksums, scoring: Scoring, key: Mapping[str, Any], texts: pd.Series) -> pd.DataFrame | None:
    """Return the surprisals of texts that an earlier run left; None if there are none of this key.

    Raises
    ------
    DamageError
        If a file is not as it was written.
    """
    table, beside = table_names(scoring)
    if not {table, beside} <= kept.files.keys() or json.loads(kept.read(beside)) != key:
        return None
    frame = pd.read_parquet(io.BytesIO(kept.read(table)))
    return frame[_COLUMNS].set_axis(texts.index).assign(**sizes_of(texts))


def write_table(folder: Path, scoring: Scoring, key: Mapping[str, Any], frame: pd.DataFrame) -> None:
    """Write surprisals, and what they depend on.

    Raises
    ------
    OutputError
        If a file cannot be written.
    """
    table, beside = table_names(scoring)
    write_json(folder / beside, key)
    intents = pd.Series(frame.index.map(str), name="intent")
    with atomic_path(folder / table) as temporary:
        pd.concat([intents, frame.reset_index(drop=True)], axis=1).to_parquet(temporary, index=False)


def remove_tables(kept: Checksums, damaged: Iterable[str]) -> Checksums:
    """Remove the tables that damaged files belong to, and record what is left.

    Raises
    ------
    OutputError
        If the record cannot be written.
    """
    stems = {Path(name).stem for name in damaged if is_of_table(name)}
    if not stems:
        return kept
    gone = [name for name in kept.files if is_of_table(name) and Path(name).stem in stems]
    for name in gone:
        remove(kept.folder / name)
    return write_checksums(kept.folder, [], {name: hash for name, hash in kept.files.items() if name not in gone})


def is_of_table(name: str) -> bool:
    """Return whether a file of a job belongs to a table."""
    return name.startswith(_STEM) and "/" not in name
