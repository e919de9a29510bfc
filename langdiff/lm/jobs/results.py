"""What is made of the results of jobs: frames, warnings, and the limit on replaced characters."""

import warnings
from collections.abc import Iterable, Mapping

import pandas as pd

from langdiff.errors import ConfigError, EditionWarning
from langdiff.lm.jobs.job import JobResult


def check_fraction(max_replaced: float) -> None:
    """Refuse a limit on replaced characters that is not a fraction."""
    if not 0 <= max_replaced <= 1:
        raise ConfigError(f"max_replaced is a fraction of characters, from 0 to 1; got {max_replaced!r}.")


def cautions_of(results: Mapping[str, JobResult]) -> list[tuple[str, str]]:
    """Return what readers of the surprisals should know, with the edition that it is about."""
    return [(edition, text) for edition, result in results.items() for text in (*result.damage, *result.cautions)]


def warn_of(cautions: Iterable[tuple[str, str]], *, stacklevel: int) -> None:
    """Warn once of cautions that differ in figures only."""
    for warning in EditionWarning.of_each_kind(cautions):
        warnings.warn(warning, stacklevel=stacklevel)


def frames_of(results: Mapping[str, JobResult]) -> dict[str, pd.DataFrame]:
    """Return the surprisals by edition."""
    return {edition: result.surprisals for edition, result in results.items()}
