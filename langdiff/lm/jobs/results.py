"""What is made of the results of jobs: frames, warnings, and the limit on replaced characters."""

import re
import warnings
from collections.abc import Iterable, Mapping

import pandas as pd

from langdiff.errors import ConfigError, LangdiffWarning, listing
from langdiff.lm.jobs.job import JobResult

_FIGURES = re.compile(r"[0-9]+[0-9.,]*")


def check_fraction(max_replaced: float) -> None:
    """Refuse a limit on replaced characters that is not a fraction."""
    if not 0 <= max_replaced <= 1:
        raise ConfigError(f"max_replaced is a fraction of characters, from 0 to 1; got {max_replaced!r}.")


def cautions_of(results: Mapping[str, JobResult]) -> list[tuple[str, str]]:
    """Return what readers of the surprisals should know, with the edition that it is about."""
    return [(edition, text) for edition, result in results.items() for text in (*result.damage, *result.cautions)]


def warn_of(cautions: Iterable[tuple[str, str]], *, stacklevel: int) -> None:
    """Warn once of cautions that differ in figures only, with the first editions and the figures of the first."""
    alike: dict[str, list[tuple[str, str]]] = {}
    for edition, caution in cautions:
        alike.setdefault(kind_of(caution), []).append((edition, caution))
    for each in alike.values():
        (first, caution), editions = each[0], list(dict.fromkeys(edition for edition, _ in each))
        same = "" if len({text for _, text in each}) == 1 else f" (the figures are those of {first!r})"
        of = f"{len(editions)} editions, {listing(editions)}{same}" if len(editions) > 1 else f"edition {first!r}"
        warnings.warn(f"{of}: {caution}", LangdiffWarning, stacklevel=stacklevel)


def kind_of(caution: str) -> str:
    """Return a caution without its figures.

    Examples
    --------
    >>> kind_of("2.5% of 1,000 characters")
    '#% of # characters'
    """
    return _FIGURES.sub("#", caution)


def frames_of(results: Mapping[str, JobResult]) -> dict[str, pd.DataFrame]:
    """Return the surprisals by edition."""
    return {edition: result.surprisals for edition, result in results.items()}
