"""The folder of a job: its name in a cache, its files, and what they say of the state of training."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

from langdiff.base.checksums import CHECKSUMS, Checksums, write_checksums
from langdiff.base.io import LOCK, parse_json, remove, write_json
from langdiff.lm.lstm.resume import is_state

KEY = "key.json"
LOG = "log.jsonl"
TRAINED = "cautions.json"  # cautions about a model, written when it is trained
MODEL = "model"
COMPUTE = "compute.json"  # not in the key: results that differ by it only are taken for the same

_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9]) *(\..*)?")  # names of devices on Windows


def job_folder(cache: Path, edition: str, recipe: str) -> Path:
    """Return the folder of a job."""
    return cache / folder_name(edition) / folder_name(recipe)


def fold_cache(cache: Path, fold: int) -> Path:
    """Return the part of a cache that has the models of one fold, whose number counts from 1."""
    return cache / f"fold-{fold}"


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
        Lower-case ASCII except for the hexadecimal digits after ``%``; `urllib.parse.unquote` gives the name back.

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


def read_json(path: Path) -> Any:
    """Return the content of a JSON file."""
    return parse_json(path.read_text(encoding="utf-8"))


def record_files(folder: Path) -> Checksums:
    """Record what the files of a finished job hold; from then on it is taken for finished.

    Raises
    ------
    OutputError
        If a file cannot be read, or the record cannot be written.
    """
    found = (path for path in folder.glob("**/*") if path.is_file() and not is_state(path))
    names = (path.relative_to(folder) for path in found if path.name not in (LOCK, CHECKSUMS))
    return write_checksums(folder, [name.as_posix() for name in names if not name.name.startswith(".")])


def make_ready(folder: Path, key: dict[str, Any]) -> None:
    """Remove what another key left, or a kill in the middle of a file; then write the key."""
    remove(folder / CHECKSUMS)  # first: what it names is about to go
    stale = [folder / TRAINED, *folder.glob("surprisals*"), *folder.glob("**/.*.part")]
    stale += [path for path in folder.glob("**/*.*") if path.is_dir()]  # in the place of files
    try:
        same = read_json(folder / KEY) == key
    except (OSError, ValueError):
        same = False
    if not same:
        stale += [folder / LOG, *folder.glob(f"{MODEL}/*")]
    for path in stale:
        remove(path)
    write_json(folder / KEY, key)
