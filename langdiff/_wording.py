"""Options named in messages, in the words of who reads them: Python, the command line or an experiment file.

A message is made once: ``f"pass {option('errors', 'replace')}"`` says ``errors="replace"`` in Python,
``--errors replace`` in a command that has the option, and ``errors = "replace"`` while an experiment is read or run.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal

Reader = Literal["python", "command", "experiment"]
Say = Callable[[str, str | None], str]


def _in_python(name: str, value: str | None) -> str:
    return name if value is None else f'{name}="{value}"'


def _in_experiment(name: str, value: str | None) -> str:
    return name if value is None else f'{name} = "{value}"'


_READER: ContextVar[tuple[Reader, Say]] = ContextVar("reader", default=("python", _in_python))


def option(name: str, value: str | None = None) -> str:
    """Name an option, with the value that it should get.

    Parameters
    ----------
    name : str
        Name of the argument in Python.
    value : str, optional
        Value to give it; by default only the option is named.

    Examples
    --------
    >>> option("errors", "replace"), option("vref")
    ('errors="replace"', 'vref')
    >>> with in_experiment():
    ...     option("errors", "replace")
    'errors = "replace"'
    """
    return _READER.get()[1](name, value)


def words(*, python: str, command: str, experiment: str | None = None) -> str:
    """Return the words for who reads the message; in experiments, those of the command unless others are given."""
    return {"python": python, "command": command, "experiment": experiment or command}[_READER.get()[0]]


@contextmanager
def in_command(say: Say) -> Iterator[None]:
    """Let messages made inside the block speak of a command's options, which `say` names."""
    token = _READER.set(("command", say))
    try:
        yield
    finally:
        _READER.reset(token)


@contextmanager
def in_experiment() -> Iterator[None]:
    """Let messages made inside the block speak of the keys of an experiment file."""
    token = _READER.set(("experiment", _in_experiment))
    try:
        yield
    finally:
        _READER.reset(token)
