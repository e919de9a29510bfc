"""Errors and warnings of the package: one root class, each also the builtin a caller expects.

Options are named in messages in the words of the reader: Python, the command line or an experiment file. A message is
written once: ``f"pass {option('errors', 'replace')}"`` reads ``errors='replace'`` in Python, ``--errors replace`` in a
command that has the option, and ``errors = "replace"`` while an experiment is read or run.
"""

import functools
import json
import os
import re
import sys
import sysconfig
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import FrameType, MappingProxyType
from typing import Final, Literal, NamedTuple, ParamSpec, TypeVar

SHOWN = 10  # faults that a message lists one by one; of more, it has one line per file
MAX_FILES = 30  # files that a message lists
_PACKAGE = f"{Path(__file__).parent}{os.sep}"
_STANDARD = (f"{Path(os.__file__).parent}{os.sep}", "<frozen ")
_INSTALLED = tuple(f"{sysconfig.get_path(name)}{os.sep}" for name in ("purelib", "platlib"))
_FIGURES = re.compile(r"\([^()]*[0-9][^()]*\)|[0-9][0-9.,]*")  # in brackets with what they are of, or bare


class LangdiffError(Exception):
    """Root of every error the package raises on purpose; its message says what to do."""


class DataError(LangdiffError, ValueError):
    """The input cannot be used as it is."""


class Fault(NamedTuple):
    """One thing that is wrong in a file.

    Attributes
    ----------
    file : str
        The file.
    line : int or None
        Number of its line, from 1; None where the whole file is meant.
    fault : str
        What is wrong there.
    intent : str or None
        The intent whose text is concerned, where it is known.
    edition : str or None
        The edition, where it is known.
    level : str
        What cannot be used because of it: ``"text"``, ``"chapter"``, ``"book"``, ``"rest"`` (of the file), or
        ``"file"`` for all that the file has of the edition.

    Examples
    --------
    >>> print(Fault("eng.txt", 7, "a NUL byte."))
    eng.txt, line 7: a NUL byte.
    """

    file: str
    line: int | None
    fault: str
    intent: str | None = None
    edition: str | None = None
    level: str = "text"

    def __str__(self) -> str:
        """Name file and line, then say what is wrong."""
        return f"{self.file}{'' if self.line is None else f', line {self.line}'}: {self.fault}"


class FaultsError(DataError):
    """Files are faulty; the message has the faults of whole files first, `faults` has all.

    Attributes
    ----------
    faults : tuple of Fault
        Every fault, in the order of the files.

    Examples
    --------
    >>> str(FaultsError([Fault("eng.txt", 7, "a NUL byte.")]))
    'eng.txt, line 7: a NUL byte.'
    """

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__(self.faults)  # what pickle gives back to this function

    def __str__(self) -> str:
        """Describe the only fault, or count all of them and list them or their files."""
        if len(self.faults) == 1:
            return str(self.faults[0])
        all_of_them = words(
            python="the attribute faults has all", command="langdiff corpora describe --on-error skip --json lists all"
        )
        n_files = len({fault.file for fault in self.faults})
        count = f"{len(self.faults):,} faults in {n_files:,} file(s):"
        return "\n  ".join([count, *list_faults(self.faults, all_of_them)])


def list_faults(faults: Iterable[Fault], all_of_them: str) -> list[str]:
    """Return the lines of a message: faults of whole files first, then the others, one by one or by file.

    Examples
    --------
    >>> many = [Fault("a.txt", line, "a NUL byte.") for line in range(3, 1003)]
    >>> list_faults([*many, Fault("b.txt", None, "holds no text.", level="file")], "")
    ['b.txt: holds no text.', 'a.txt: 1,000 faults, the first in line 3: a NUL byte.']
    """
    ordered = sorted(faults, key=lambda fault: fault.level != "file")
    if len(ordered) <= SHOWN:
        return [str(fault) for fault in ordered]
    by_file: dict[tuple[str, str | None], list[Fault]] = {}
    for fault in ordered:
        by_file.setdefault((fault.file, fault.edition), []).append(fault)
    lines = [str(own[0]) if len(own) == 1 else f"{file}: {summary_of(own)}" for (file, _), own in by_file.items()]
    more = len(lines) - MAX_FILES
    if more > 0:
        lines[MAX_FILES:] = [f"and {more:,} more file{'' if more == 1 else 's'}: {all_of_them}"]
    return lines


def summary_of(faults: list[Fault]) -> str:
    """Describe the first fault of a file, after the number of faults; one of the whole file, which is first, says all.

    Examples
    --------
    >>> summary_of([Fault("a.txt", 3, "a NUL byte."), Fault("a.txt", 9, "a NUL byte.")])
    '2 faults, the first in line 3: a NUL byte.'
    """
    first = faults[0]
    if len(faults) == 1 or first.level == "file":
        return first.fault if first.line is None else f"line {first.line}: {first.fault}"
    where = "" if first.line is None else f" in line {first.line}"
    return f"{len(faults):,} faults, the first{where}: {first.fault}"


class ConfigError(LangdiffError, ValueError):
    """A setting is unknown, out of range or contradicts another."""


class UnknownColumnError(ConfigError):
    """What is known of intents has no column of the name given."""


class InfeasibleError(LangdiffError, ValueError):
    """No selection of editions and intents meets the requirements."""


class SolverError(LangdiffError, RuntimeError):
    """A solver or sampler stopped without a result that can be trusted."""


class TrainingError(LangdiffError, RuntimeError):
    """A language model could not be trained or scored."""


class CheckpointError(LangdiffError, ValueError):
    """Saved files are missing, truncated or from an incompatible version."""


class OutputError(LangdiffError, OSError):
    """Results cannot be written where they were asked for."""


class MissingExtraError(LangdiffError, ImportError):
    """An optional package is not installed; the message says how to install it."""


class LangdiffWarning(UserWarning):
    """Something the user should act on, though a result exists."""


class ConvergenceWarning(LangdiffWarning):
    """An optimizer stopped before its criterion was met."""


class EditionWarning(LangdiffWarning):
    """What to know of one edition, or of several of which the same can be said but for the figures.

    Attributes
    ----------
    cautions : tuple of (str, str)
        Edition and what is said of it, of every training; the message names the first editions and has the figures of
        the first.
    lms : tuple of str
        Language models that it is said of, which the message then names first; empty where there is one, or all share
        it.

    Examples
    --------
    >>> str(EditionWarning(("deu", "2 rare characters."), ("eng", "3 rare characters.")))
    "2 editions, 'deu', 'eng' (the figures are those of 'deu'): 2 rare characters."
    """

    def __init__(self, first: tuple[str, str], *others: tuple[str, str], lms: tuple[str, ...] = ()) -> None:
        self.cautions = (first, *others)
        self.lms = lms
        super().__init__(*self.cautions)

    @classmethod
    def of_each_kind(cls, cautions: Iterable[tuple[str, str]]) -> "list[EditionWarning]":
        """Return one warning for all cautions that differ in figures only.

        Examples
        --------
        >>> given = [("deu", "2 rare characters."), ("deu", "Short."), ("eng", "3 rare characters.")]
        >>> [len(warning.cautions) for warning in EditionWarning.of_each_kind(given)]
        [2, 1]
        """
        alike: dict[str, list[tuple[str, str]]] = {}
        for edition, caution in cautions:
            alike.setdefault(without_figures(caution), []).append((edition, caution))
        return [cls(*each) for each in alike.values()]

    def __str__(self) -> str:
        """Name language models and editions, then say what is to be known."""
        models = f"{', '.join(self.lms)}: " if self.lms else ""
        (first, caution), *_ = self.cautions
        editions = dict.fromkeys(edition for edition, _ in self.cautions)
        if len(editions) == 1:
            return f"{models}edition {first!r}: {caution}"
        alike = len({text for _, text in self.cautions}) == 1
        figures = "" if alike else f" (the figures are those of {first!r})"
        return f"{models}{len(editions)} editions, {listing(editions)}{figures}: {caution}"


def warn(text: str | Warning, category: type[Warning] = LangdiffWarning) -> None:
    """Issue a warning at the line outside of the package that called it, however deep the present function lies.

    Examples
    --------
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn("only 3 clusters.")
    >>> caught[0].category.__name__, caught[0].filename
    ('LangdiffWarning', '<doctest ...>')
    """
    frame = _caller(sys._getframe(1))
    module, registry = frame.f_globals.get("__name__"), frame.f_globals.setdefault("__warningregistry__", {})
    warnings.warn_explicit(text, category, frame.f_code.co_filename, frame.f_lineno, module, registry)


def _caller(frame: FrameType) -> FrameType:
    """Return the first frame outside of the package; the outermost where there is none.

    Frames of the standard library, such as decorators, are skipped, and so are those of other installed packages
    through which the package calls itself, such as a table that applies a function.
    """
    found: FrameType | None = None
    place: FrameType | None = frame
    while place is not None:
        frame, file = place, place.f_code.co_filename
        installed = file.startswith(_INSTALLED)  # which may lie below the standard library
        if file.startswith(_PACKAGE):
            found = None
        elif installed or not file.startswith(_STANDARD):
            found = found or place
            if not installed:
                break
        place = place.f_back
    return found or frame


def without_figures(text: str) -> str:
    """Return a message with its figures taken out, which is the same for all messages of its kind.

    Examples
    --------
    >>> without_figures("2 of 1,000 characters are rare (dev 2.5%).")
    '# of # characters are rare #.'
    """
    return _FIGURES.sub("#", text)


def listing(names: Iterable[object], most: int = 5) -> str:
    """Quote the first few names, for messages.

    Examples
    --------
    >>> listing(["deu", "eng", "fra"], most=2)
    "'deu', 'eng', …"
    >>> listing([])
    'none'
    """
    names = list(names)
    more = ", …" if len(names) > most else ""
    return ", ".join(repr(name) for name in names[:most]) + more or "none"


def en(names: Iterable[object], word: str = "and") -> str:
    """Return names as a sentence lists them.

    Examples
    --------
    >>> en(["fin", "eng", "deu"]), en(["fin"])
    ('fin, eng and deu', 'fin')
    """
    *most, last = map(str, names)
    return f"{', '.join(most)} {word} {last}" if most else last


Reader = Literal["python", "command", "experiment"]
Say = Callable[[str, object], str]
_NO_VALUE: Final = object()


def _in_python(name: str, value: object) -> str:
    return name if value is _NO_VALUE else f"{name}={value!r}"


def _in_experiment(name: str, value: object) -> str:
    if isinstance(value, Mapping):
        pairs = ", ".join(_in_experiment(str(key), one) for key, one in value.items())
        return f"{name} = {{ {pairs} }}"
    return name if value is _NO_VALUE else f"{name} = {json.dumps(value, ensure_ascii=False, default=str)}"


_READER: ContextVar[tuple[Reader, Say]] = ContextVar("reader", default=("python", _in_python))


def option(name: str, value: object = _NO_VALUE) -> str:
    """Name an option, with the value that it has or should get.

    Examples
    --------
    >>> option("errors", "replace"), option("restricted", True), option("vref")
    ("errors='replace'", 'restricted=True', 'vref')
    >>> with in_experiment():
    ...     option("errors", "replace"), option("restricted", True), option("vref")
    ('errors = "replace"', 'restricted = true', 'vref')
    >>> with in_experiment():
    ...     option("markers", {"untr": "char"})
    'markers = { untr = "char" }'
    >>> with in_command({"marker": ("--marker", "")}):
    ...     option("markers", {"untr": "char"})
    '--marker untr=char'
    >>> with in_command({"errors": ("--errors", ""), "restricted": ("--restricted", "--no-restricted")}):
    ...     option("errors", "replace"), option("restricted", True), option("restricted", False), option("vref")
    ('--errors replace', '--restricted', '--no-restricted', 'vref')
    """
    return _READER.get()[1](name, getattr(value, "item", lambda: value)())  # numbers of NumPy are shown as Python's


def words(*, python: str, command: str, experiment: str | None = None) -> str:
    """Return the words for who reads the message; in experiments, those of the command unless others are given."""
    return {"python": python, "command": command, "experiment": experiment or command}[_READER.get()[0]]


@contextmanager
def in_command(options: Mapping[str, tuple[str, str]]) -> Iterator[None]:
    """Let messages made inside the block name the options of a command."""

    def say(name: str, value: object) -> str:
        found = options.get(name) or options.get(name.removesuffix("s"))  # of several values, one at a time
        if found is None:
            return _in_python(name, value)
        on, off = found
        if value is _NO_VALUE or value is True:
            return on
        if value is False or value is None:
            return off or f"no {on}"
        if isinstance(value, Mapping):
            value = [f"{key}={one}" for key, one in value.items()]
        return " ".join(f"{on} {each}" for each in (value if isinstance(value, list | tuple) else [value]))

    token = _READER.set(("command", say))
    try:
        yield
    finally:
        _READER.reset(token)


@contextmanager
def in_experiment(sections: Mapping[str, str] = MappingProxyType({})) -> Iterator[None]:
    """Let messages made inside the block speak of the keys of an experiment file, and of their sections."""

    def say(name: str, value: object) -> str:
        return _in_experiment(name, value) + (f" in [{sections[name]}]" if name in sections else "")

    token = _READER.set(("experiment", say))
    try:
        yield
    finally:
        _READER.reset(token)


P = ParamSpec("P")
R = TypeVar("R")


@contextmanager
def missing_by_design() -> Iterator[None]:
    """Leave out the warning of a fit that difficulties depend on why cells are missing, where that is known."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r".* of the cells are missing, and fixed and random", LangdiffWarning)
        yield


def warns_caller(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function to issue each kind of the package's warnings once, at the line that called it.

    Warnings that differ only in their edition or their figures are of one kind. Warnings of other packages keep
    their place.
    """

    @functools.wraps(function)
    def warning(*args: P.args, **kwargs: P.kwargs) -> R:
        caught: list[warnings.WarningMessage] = []
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", LangdiffWarning)
                return function(*args, **kwargs)
        finally:  # also where a later edition ends in an error
            for each in caught:
                if not issubclass(each.category, LangdiffWarning):
                    warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
            for message in merge(caught):
                warn(message)

    return warning


def merge(caught: list[warnings.WarningMessage]) -> list[LangdiffWarning]:
    """Return one warning for each kind of the package's warnings, first those about editions, of all of them."""
    messages = [warning.message for warning in caught if isinstance(warning.message, LangdiffWarning)]
    cautions = [caution for each in messages if isinstance(each, EditionWarning) for caution in each.cautions]
    others: dict[tuple[type, str], LangdiffWarning] = {}
    for each in messages:
        if not isinstance(each, EditionWarning):
            others.setdefault((type(each), without_figures(str(each))), each)
    return [*EditionWarning.of_each_kind(cautions), *others.values()]
