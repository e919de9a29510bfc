"""Plug-ins: things of a kind that other packages declare as entry points, found where a name is looked up."""

from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Literal, TypeVar

from langdiff.errors import warn

Kind = Literal["formats", "variants", "models", "likelihoods", "sections", "commands"]
T = TypeVar("T")


@cache
def plugins(kind: Kind, known: tuple[str, ...] = ()) -> Mapping[str, Any]:
    """Return what other packages declare under ``langdiff.KIND``, by name, without names that are known.

    Of two of one name the first is taken. One that is left out, or that cannot be loaded, is told by a warning.
    """
    found: dict[str, Any] = {}
    for entry in entry_points(group=f"langdiff.{kind}"):
        if entry.name in known:
            warn(f"{_named(kind, entry)} has a name of langdiff's own, which is used.")
        elif entry.name in found:
            warn(f"{_named(kind, entry)} has the name of another plug-in, which comes first and is used.")
        else:
            try:
                found[entry.name] = entry.load()
            except Exception as error:  # whatever the code of others raises
                warn(f"{_named(kind, entry)} cannot be loaded: {type(error).__name__}: {error}")
    return found


def _named(kind: Kind, entry: EntryPoint) -> str:
    package = "an unknown package" if entry.dist is None else f"{entry.dist.name} {entry.dist.version}"
    return f"plug-in {entry.name!r} ({kind}) of {package}"


def with_plugins(kind: Kind, own: Mapping[str, T]) -> dict[str, T]:
    """Return the package's own things of a kind, by name, and behind them those of plug-ins."""
    return {**own, **plugins(kind, tuple(own))}
