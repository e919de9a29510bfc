"""The experiment file: a TOML file with all settings of a run."""

import difflib
import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from pydantic import ValidationError

from langdiff.base.addresses import address_of
from langdiff.base.io import as_path, parse_json
from langdiff.base.remote import local_copies
from langdiff.base.toml import read_toml
from langdiff.base.types import FormatName
from langdiff.errors import ConfigError, in_experiment, listing, words

if TYPE_CHECKING:
    from langdiff.run.experiment import Core
    from langdiff.run.settings import Settings


def read_experiment(path: str | Path, *, remote: bool = False) -> "Core":
    r"""Read and check an experiment file; environment variables in its paths are filled in.

    Parameters
    ----------
    path : str or Path
        Path of a TOML file; relative paths in it start at its folder.
    remote : bool
        Whether addresses in it, such as ``https://…``, are brought into the user's cache and read; else they are
        refused, so that a file made by others makes no requests by itself.

    Returns
    -------
    Experiment
        The settings, with defaults filled in and absolute paths.

    Raises
    ------
    ConfigError
        If the file cannot be read or is not TOML, a key is unknown (the message names the nearest known one),
        a value is out of range, or a path names an environment variable that is not set.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "small.toml"
    ...     _ = path.write_text('name = "small"\ncorpus = {format = "synthetic"}')
    ...     read_experiment(path).corpus.n_languages
    8
    """
    path = as_path(path)
    table = read_toml(path)
    from langdiff.run.experiment import experiment_type  # slow to import, and the file may be none

    try:
        with in_experiment():
            experiment = experiment_type().model_validate(table)
    except ValidationError as error:
        raise ConfigError(_explain(error, path)) from error
    return experiment.with_paths(lambda name: _resolve(name, path, remote))


def parse_settings(text: str | bytes) -> "Core":
    """Return the settings of a run directory from JSON."""
    from langdiff.run.experiment import experiment_type

    return experiment_type().model_validate_json(json.dumps(parse_json(text)))


def _resolve(name: str, file: Path, remote: bool) -> str:
    if address := address_of(name):
        if not remote:
            raise ConfigError(
                f"{file}: {address} is an address of the network. If you trust the file, let it be read: "
                f"{words(python='read_experiment(…, remote=True)', command='--remote')}."
            )
        found = local_copies(address)
        if isinstance(found, list):
            return str(found[0].parent / "*")  # the folder holds nothing else
        return str(found)
    filled = os.path.expandvars(name)
    if unset := re.search(r"\$\{?(\w+)", filled):
        raise ConfigError(
            f"{file}: the path {name!r} needs the environment variable {unset[1]}, which is not set; "
            f"for example: {unset[1]}=path/to/data langdiff run {file}"
        )
    return os.path.abspath(file.parent / Path(filled).expanduser())  # noqa: PTH100 links keep their names


def _explain(error: ValidationError, path: Path) -> str:
    """Format Pydantic's findings, one line each, with a suggestion for a misspelt key."""
    lines = []
    formats = [*get_args(FormatName), "synthetic"]
    for finding in error.errors():
        place = [str(part) for part in _without_format(finding["loc"])]
        where = ".".join(place)
        match finding["type"]:
            case "extra_forbidden":
                section = _class_at(finding["loc"][:-1])
                known = list(section.model_fields)
                near = difflib.get_close_matches(place[-1], known, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"known here: {', '.join(known)}."
                lines.append(f"unknown key {where!r}; {hint}")
            case "missing":
                lines.append(f"{where!r} is missing.")
            case "union_tag_not_found":
                lines.append(f"[corpus]: format is missing; one of {listing(formats, most=20)}.")
            case "union_tag_invalid":
                tag = finding["ctx"]["tag"]
                near = difflib.get_close_matches(tag, formats, n=1)
                hint = f"did you mean {near[0]!r}? " if near else ""
                lines.append(f"'corpus': unknown format {tag!r}; {hint}known: {listing(formats, most=20)}.")
            case _:
                message = finding["msg"].removeprefix("Value error, ").removesuffix(".")
                given = "" if isinstance(finding["input"], dict) else f" (given: {finding['input']!r})"
                end = "" if message.endswith("?") and not given else "."
                lines.append(f"{f'{where!r}: ' if where else ''}{message[:1].lower()}{message[1:]}{given}{end}")
    return f"{path}: " + "\n  ".join(lines)


def _without_format(location: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """Remove the format that Pydantic writes after ``corpus``, which is not a key."""
    return (*location[:1], *location[2:]) if location[:1] == ("corpus",) else location


def _class_at(location: tuple[int | str, ...]) -> "type[Settings]":
    """Return the class of the settings at a place in the file."""
    from langdiff.run.experiment import FileCorpus, SyntheticCorpus, experiment_type
    from langdiff.run.settings import Settings

    if location[:1] == ("corpus",):  # there are two kinds; the second part says which
        return SyntheticCorpus if location[1] == "synthetic" else FileCorpus
    section: type[Settings] = experiment_type()
    for part in location:
        annotation: Any = section.model_fields[str(part)].annotation
        options = [annotation, *getattr(annotation, "__args__", ())]
        section = next((o for o in options if isinstance(o, type) and issubclass(o, Settings)), section)
    return section
