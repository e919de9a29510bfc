"""Warnings of several trainings, given once: at the caller's line, with the names of all editions."""

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from langdiff.errors import LangdiffWarning, listing

Heard = list[tuple[str, type[Warning], str]]  # edition or "", category, text

EDITION = re.compile(r"edition '(.*?)': (.*)", re.DOTALL)
FIGURES = re.compile(r"\([^()]*[0-9][^()]*\)|[0-9][0-9.,]*")  # in brackets with what they are of, or bare


@contextmanager
def hearing(heard: Heard) -> Iterator[None]:
    """Collect the package's warnings inside the block; all others come at once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", LangdiffWarning)
        yield
    for warning in caught:
        if not issubclass(warning.category, LangdiffWarning):
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
            continue
        found = EDITION.fullmatch(str(warning.message))
        edition, text = found.groups() if found else ("", str(warning.message))
        heard.append((edition, warning.category, text))


def warn_once(heard: Heard, *, stacklevel: int) -> None:
    """Give each kind of warning once; those that differ in their figures alone are of one kind.

    Parameters
    ----------
    heard : list
        What `hearing` collected.
    stacklevel : int
        As for `warnings.warn`, seen from the caller.
    """
    kinds: dict[tuple[type[Warning], str], list[tuple[str, str]]] = {}
    for edition, category, text in heard:
        kinds.setdefault((category, FIGURES.sub("#", text)), []).append((edition, text))
    for (category, _), given in kinds.items():
        editions = dict.fromkeys(edition for edition, _ in given if edition)
        text = given[0][1]
        if len(editions) > 1:
            alike = "" if len({text for _, text in given}) == 1 else f" (the figures are those of {given[0][0]!r})"
            text = f"{len(editions)} editions, {listing(editions, len(editions))}{alike}: {text}"
        elif editions:
            text = f"edition {given[0][0]!r}: {text}"
        warnings.warn(text, category, stacklevel=stacklevel + 1)
