"""Addresses of files elsewhere, such as ``https://…``: which are read, and which are refused."""

import os
import re
from pathlib import Path
from urllib.parse import urlsplit

from langdiff.errors import ConfigError, en

PROTOCOLS = ("https", "hf", "s3", "gs", "az")
_COLLAPSED = re.compile(r"([A-Za-z][A-Za-z0-9+.:-]+):/+(?=[^/])")


def address_of(path: object) -> str | None:
    """Return the address that a user's argument is; None for a path of this machine.

    `Path` makes one slash of two, which are written as two again.

    Examples
    --------
    >>> address_of("https://example.org/eng.txt"), address_of(Path("hf://datasets/a/b/eng.txt"))
    ('https://example.org/eng.txt', 'hf://datasets/a/b/eng.txt')
    >>> address_of("bible/eng.txt")
    >>> address_of("http://example.org/eng.txt")
    Traceback (most recent call last):
    ...
    langdiff.errors.ConfigError: http://example.org/eng.txt: addresses with http:// are not read, only https://, hf://, s3://, gs:// and az://. Download the file.
    """  # noqa: E501
    if not isinstance(path, str | os.PathLike):
        return None
    text = os.fspath(path)
    if isinstance(path, os.PathLike) and isinstance(text, str):
        text = _COLLAPSED.sub(r"\1://", text, count=1) if _COLLAPSED.match(text) and not Path(text).exists() else text
    if not isinstance(text, str) or not re.match(r"[A-Za-z][A-Za-z0-9+.:-]*://", text):
        return None
    protocol = text.split("://", 1)[0].lower()
    try:
        parts = urlsplit(text.replace("[", "%5B").replace("]", "%5D"))
        secret = "@" in parts.netloc
    except ValueError as error:
        raise ConfigError(f"{shown_address(text)}: not an address: {error}.") from error
    if "::" in text:
        raise ConfigError(f"{shown_address(text)}: chains of addresses (::) are not read. Download the file.")
    if secret and protocol != "hf":  # a version of a repository of the hub follows an @, and is in the path
        raise ConfigError(
            f"{shown_address(text)}: an address with a user's name or password is not read: they would be kept in "
            "records. Give them as the store asks for: in its environment variables or its file of settings."
        )
    if protocol not in PROTOCOLS:
        known = en(f"{name}://" for name in PROTOCOLS)
        raise ConfigError(
            f"{shown_address(text)}: addresses with {protocol}:// are not read, only {known}. Download the file."
        )
    return text


def refuse_address(path: object) -> None:
    """Refuse an address where only a path of this machine will do: a cache, a run, a file to be written."""
    if isinstance(path, str | os.PathLike) and (address := address_of(path)):
        raise ConfigError(f"{address}: must be a path of this machine, not an address.")


def shown_address(address: str) -> str:
    """Return an address without a password, for messages."""
    return re.sub(r"(?<=://)[^/@]*@", "…@", address)
