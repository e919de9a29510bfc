"""What pictures take: one clear error for everything else."""

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from typing import ParamSpec, TypeVar

import pandas as pd

from langdiff.errors import DataError

P = ParamSpec("P")
R = TypeVar("R")


def takes(
    name: str, kind: type | tuple[type, ...], what: str, *, columns: Sequence[str] = ()
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Refuse what is not of a kind, before a picture is begun; for one argument of the function decorated.

    Parameters
    ----------
    name : str
        Name of the argument; where it is optional, None is accepted.
    kind : type or tuple of types
        Classes, of which one is enough. Of a protocol the properties and methods are needed, not the class.
    what : str
        What to give, in words.
    columns : sequence of str
        Columns that a frame must have.

    Examples
    --------
    >>> @takes("counts", pd.Series, "counts of intents")
    ... def plot_counts(counts, ax=None): ...
    >>> plot_counts("counts.csv")
    Traceback (most recent call last):
    langdiff.errors.DataError: plot_counts draws counts of intents; counts is a str.
    """
    kinds = kind if isinstance(kind, tuple) else (kind,)

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)
        optional = signature.parameters[name].default is None

        @wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            value = signature.bind(*args, **kwargs).arguments.get(name)
            if not (value is None and optional) and not any(_is(value, each) for each in kinds):
                given = "None" if value is None else f"a {type(value).__name__}"
                raise DataError(f"{function.__name__} draws {what}; {name} is {given}.")
            if lacking := [column for column in columns if isinstance(value, pd.DataFrame) and column not in value]:
                raise DataError(f"{function.__name__} draws {what}; {name} has no column {lacking[0]!r}.")
            return function(*args, **kwargs)

        return checked

    return decorate


def _is(value: object, kind: type) -> bool:
    """Return whether a value is of a class or has what a protocol names, without computing its properties."""
    if not getattr(kind, "_is_protocol", False):
        return isinstance(value, kind)
    for name in (name for name in dir(kind) if not name.startswith("_")):
        wanted, found = (inspect.getattr_static(each, name, None) for each in (kind, value))
        if found is None or (isinstance(wanted, property) and inspect.isroutine(found)):
            return False
    return True
