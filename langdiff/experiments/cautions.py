"""Warnings of several trainings and fits, given once: at the caller's line, with the names of all editions."""

import functools
import re
import warnings
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from langdiff.errors import LangdiffWarning

P = ParamSpec("P")
R = TypeVar("R")

NAME = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""  # as repr writes it
EDITION = re.compile(rf"edition ({NAME}): (.*)", re.DOTALL)
EDITIONS = re.compile(  # one warning of a training of them all, as warn_of of langdiff.lm.jobs.results writes it
    rf"([0-9]+) editions, {NAME}(?:, {NAME})*(?:, …)?(?: \(the figures are those of {NAME}\))?: (.*)", re.DOTALL
)
FIGURES = re.compile(r"\([^()]*[0-9][^()]*\)|[0-9][0-9.,]*")  # in brackets with what they are of, or bare


def warns_caller(function: Callable[P, R]) -> Callable[P, R]:
    """Make a function give each kind of the package's warnings once, when it ends, at the line that called it.

    Warnings that differ only in their edition or their figures are of one kind. Warnings of other packages keep
    their place.

    Parameters
    ----------
    function : callable
        A function that trains or fits several times.

    Returns
    -------
    callable
        The function with the same signature.
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
            for category, text in merge(caught):
                warnings.warn(text, category, stacklevel=2)

    return warning


def merge(caught: list[warnings.WarningMessage]) -> list[tuple[type[Warning], str]]:
    """Return category and text of each kind of the package's warnings, with the names of all its editions."""
    kinds: dict[tuple[type[Warning], str], list[tuple[str, str]]] = {}
    whole: dict[tuple[type[Warning], str], list[tuple[int, str]]] = {}
    for warning in caught:
        if not issubclass(warning.category, LangdiffWarning):
            continue
        text = str(warning.message)
        if of_several := EDITIONS.fullmatch(text):
            alike = FIGURES.sub("#", of_several[2])
            whole.setdefault((warning.category, alike), []).append((int(of_several[1]), text))
        else:
            found = EDITION.fullmatch(text)
            edition, text = found.groups() if found else ("", text)
            kinds.setdefault((warning.category, FIGURES.sub("#", text)), []).append((edition, text))
    merged: list[tuple[type[Warning], str]] = []
    for kind, trainings in whole.items():
        others = len(trainings) - 1 + len(kinds.pop(kind, []))
        text = max(trainings, key=lambda training: training[0])[1]  # the first of those with most editions
        more = f" {others} more warning(s) of this kind, of other trainings, are left out." if others else ""
        merged.append((kind[0], text + more))
    for (category, _), given in kinds.items():
        editions = dict.fromkeys(edition for edition, _ in given if edition)
        text = given[0][1]
        if len(editions) > 1:
            alike = "" if len({text for _, text in given}) == 1 else f" (the figures are those of {given[0][0]})"
            text = f"{len(editions)} editions, {', '.join(editions)}{alike}: {text}"
        elif editions:
            text = f"edition {given[0][0]}: {text}"
        merged.append((category, text))
    return merged
