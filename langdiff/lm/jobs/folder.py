"""The folder of a job: its name in a cache, its files, and what they say of the state of training."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import pandas as pd
from filelock import FileLock, Timeout

from langdiff._io import write_text
from langdiff.errors import OutputError
from langdiff.lm.jobs.logs import LOG, read_log

KEY = "key.json"
TRAINED = "cautions.json"  # cautions about a model, written when it is trained
MODEL = "model"
COMPUTE = "compute.json"  # not in the key: results that differ by it only are taken for the same

_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9]) *(\..*)?")  # names of devices on Windows


def job_folder(cache: Path, edition: str, recipe: str) -> Path:
    """Return the folder of a job."""
    return cache / folder_name(edition) / folder_name(recipe)


def folder_name(name: str) -> str:
    """Return the name of the folder of an edition or recipe, which every file system accepts and keeps apart.

    Characters that some file system forbids are percent-encoded, and so are upper-case letters, as some file
    systems do not tell them from lower-case ones; the other characters stay as they are.

    Parameters
    ----------
    name : str
        Name of an edition or a recipe.

    Returns
    -------
    str
        Lower-case ASCII except for the hexadecimal digits after ``%``; `name_of_folder` gives the name back.

    Examples
    --------
    >>> folder_name("deu-x-bible"), folder_name("Deu"), folder_name("nul.txt"), folder_name("a/b.")
    ('deu-x-bible', '%44eu', '%6Eul.txt', 'a%2Fb%2E')
    """
    quoted = "".join(f"%{ord(c):02X}" if "A" <= c <= "Z" else quote(c, safe=" ()+,=@") for c in name)
    if quoted[-1:] in (".", " "):  # Windows drops them
        quoted = f"{quoted[:-1]}%{ord(quoted[-1]):02X}"
    if _RESERVED.fullmatch(quoted):
        quoted = f"%{ord(quoted[0]):02X}{quoted[1:]}"
    return quoted


def name_of_folder(folder: str) -> str:
    """Return the name that `folder_name` wrote.

    Examples
    --------
    >>> name_of_folder("%44eu")
    'Deu'
    """
    return unquote(folder)


@contextmanager
def own(folder: Path) -> Iterator[None]:
    """Keep other processes out of a job's folder."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / ".lock")
        lock.acquire(timeout=0)
    except Timeout as error:
        raise OutputError(f"{folder}: another process is training here. Wait for it, or use another cache.") from error
    except OSError as error:
        raise OutputError(f"{folder}: cannot be written: {error.strerror or error}.") from error
    try:
        yield
    finally:
        lock.release()


def read_json(path: Path) -> Any:
    """Return the content of a JSON file."""
    return json.loads(path.read_text(encoding="utf-8"))


def write_json(path: Path, content: Any) -> None:
    """Write a JSON file, replacing one that is there."""
    write_text(path, json.dumps(content, ensure_ascii=False, indent=1))


def read_compute(folder: Path) -> str | None:
    """Return the device and precision that trained a model; None if they were not kept."""
    path = folder / COMPUTE
    return str(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else None


def make_ready(folder: Path, key: dict[str, Any]) -> None:
    """Remove what another key left, or a kill in the middle of a file; then write the key."""
    stale = [folder / TRAINED, *folder.glob("surprisals*"), *folder.glob("**/.*.part")]
    try:
        same = read_json(folder / KEY) == key
    except (OSError, ValueError):
        same = False
    if not same:
        stale += [folder / LOG, *folder.glob(f"{MODEL}/*")]
    for path in stale:
        path.unlink(missing_ok=True)
    write_json(folder / KEY, key)


def read_job_states(cache: str | Path) -> pd.DataFrame:
    """List the jobs in a cache of `langdiff.compute_surprisals`.

    Parameters
    ----------
    cache : str or Path
        Folder of the cache; it may be empty or not exist yet.

    Returns
    -------
    DataFrame, one row per job
        ``edition``, ``lm`` (the recipe), ``state`` of training (``"done"``, or ``"unfinished"``: running or
        interrupted), ``epochs`` trained, best ``dev_bits_per_character`` so far and ``seconds`` spent.
    """
    rows = []
    for key in sorted(Path(cache).glob(f"*/*/{KEY}")):
        folder = key.parent
        done = (folder / TRAINED).is_file()
        log = read_log(folder / LOG)
        rows.append(
            {
                "edition": name_of_folder(folder.parent.name),
                "lm": name_of_folder(folder.name),
                "state": "done" if done else "unfinished",
                "epochs": len(log),
                "dev_bits_per_character": min((e["dev_bits_per_character"] for e in log), default=float("nan")),
                "seconds": sum(e["seconds"] for e in log),
            }
        )
    columns = ["edition", "lm", "state", "epochs", "dev_bits_per_character", "seconds"]
    return pd.DataFrame(rows, columns=columns)
