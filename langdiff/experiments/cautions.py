"""Merging of warnings of several trainings and fits, issued once at the caller's line."""

import functools
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

from langdiff.errors import EditionWarning, LangdiffWarning, warn, without_figures

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
