"""Reading of TOML files, whose size is limited before they are parsed."""

import re
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

from langdiff.base.io import as_path, read_bytes
from langdiff.errors import ConfigError

# The parser of the standard library takes time in the square of the parts of a key, and of the length of a line
MAX_SIZE = 1 << 20  # bytes
MAX_LINE = 10_000  # characters
MAX_PARTS = 10  # of a dotted key
_QUOTED = r"\"[^\"\n]*\"|'[^'\n]*'"
_PART = rf"(?:[\w-]+|{_QUOTED})"
_LONG_KEY = re.compile(rf"(?:^|[\[{{,])[ \t]*{_PART}(?:[ \t]*\.[ \t]*{_PART}){{{MAX_PARTS}}}")


def read_toml(path: str | Path) -> dict[str, Any]:
    """Read a TOML file."""
    path = as_path(path)
    try:
        if path.stat().st_size > MAX_SIZE:
            raise ConfigError(
                f"{path}: {path.stat().st_size:,} bytes, but a file of settings has at most {MAX_SIZE:,}."
            )
        content = read_bytes(path)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}.") from error
    try:
        return parse_toml(content.decode())
    except ValueError as error:  # also of bytes and of numbers
        raise ConfigError(f"{path}: not a TOML file: {error}.") from error


def parse_toml(text: str) -> dict[str, Any]:
    """Parse TOML; every fault is a ValueError.

    Examples
    --------
    >>> parse_toml("a.b = 1")
    {'a': {'b': 1}}
    >>> parse_toml("a." * 10 + "b = 1")
    Traceback (most recent call last):
    ...
    ValueError: line 1 has a key of more than 10 parts
    """
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > MAX_LINE:
            raise ValueError(f"line {number} has {len(line):,} characters; at most {MAX_LINE:,} are read")
        if line.count(".") >= MAX_PARTS and _LONG_KEY.search(line):
            raise ValueError(f"line {number} has a key of more than {MAX_PARTS} parts")
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def read_packaged(package: str, name: str) -> dict[str, Any]:
    """Read a TOML file that is part of a package; its arrays become tuples.

    Examples
    --------
    >>> read_packaged("langdiff.lm.lstm", "presets.toml")["char-residual"]["ngram_orders"]
    (3, 5, 8, 16)
    """
    tables = tomllib.loads(resources.files(package).joinpath(name).read_text("utf-8"))
    return {
        table: {key: tuple(value) if isinstance(value, list) else value for key, value in settings.items()}
        for table, settings in tables.items()
    }
