"""Errors of jobs, kept until the other jobs are finished, and their warnings and frames."""

import logging
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager

import pandas as pd

from langdiff.base.io import LockedError
from langdiff.errors import (
    ConfigError,
    EditionWarning,
    LangdiffError,
    OutputError,
    TrainingError,
    listing,
    option,
    warn,
)
from langdiff.lm.jobs.job import JobResult

logger = logging.getLogger(__name__)


class Failures:
    """Errors of editions, which do not stop the other editions.

    Parameters
    ----------
    editions : int
        How many there are, for the message.
    at_once : bool
        Raise the first error instead of keeping it, as when what siblings finish would be lost.
    lm : str
        Name of the language model, which records of the log have beside the edition.

    Examples
    --------
    >>> from langdiff.errors import DataError
    >>> failures = Failures(3, at_once=False)
    >>> for edition in ("eng", "deu", "ell"):
    ...     with failures.of(edition):
    ...         if edition != "deu":
    ...             raise DataError(f"{edition}: no text")
    >>> failures.raise_any()
    Traceback (most recent call last):
    ...
    langdiff.errors.DataError: 2 of 3 editions failed ('eng', 'ell'), ... The first error: eng: no text
    """

    def __init__(self, editions: int, *, at_once: bool, lm: str = "") -> None:
        self._editions = editions
        self._lm = lm
        self._at_once = at_once
        self._errors: dict[str, Exception] = {}
        self._finished: set[str] = set()

    @property
    def errors(self) -> Mapping[str, Exception]:
        """The errors that were kept, by edition."""
        return self._errors

    @contextmanager
    def of(self, edition: str, *, last: bool = True) -> Iterator[None]:
        """Record an error of the block, if its cause is the edition.

        A worker process that died, or a disk that is full, would stop the other editions as well; the error is raised.

        Parameters
        ----------
        edition : str
            Edition that the block works for.
        last : bool
            Whether the edition is finished, and kept, when the block ends without an error.

        Raises
        ------
        OutputError
            If a file cannot be written; the message says how many editions are finished.
        """
        try:
            yield
        except BrokenProcessPool:
            raise
        except Exception as error:
            if not isinstance(error, LangdiffError):  # those name it already
                error.add_note(f"edition {edition!r}")
            if self._at_once:
                raise
            if isinstance(error, OutputError) and not isinstance(error, LockedError):
                raise OutputError(f"{error} {self._say_finished()}") from error
            logger.error("%s", str(error) or type(error).__name__, extra={"edition": edition, "lm": self._lm})
            logger.debug("edition %r failed", edition, exc_info=error)
            self._errors[edition] = error
        else:
            if last:
                self._finished.add(edition)

    def _say_finished(self) -> str:
        names = f" ({listing(sorted(self._finished), most=20)})" if self._finished else ""
        return (
            f"{len(self._finished)} of {self._editions} editions are finished and kept{names}; when files can be "
            "written again, the same call does the others."
        )

    def raise_any(self) -> None:
        """Raise the error of the only failed edition, or one error that names all of them.

        It is of the class of the package's errors that all have in common, else a TrainingError; what
        it comes from holds them all.
        """
        errors = list(self._errors.values())
        if not errors:
            return
        if len(errors) == 1:
            raise errors[0]
        common = type(errors[0])
        alike = issubclass(common, LangdiffError) and all(type(error) is common for error in errors)
        kind = common if alike else TrainingError
        raise kind(
            f"{len(errors)} of {self._editions} editions failed ({listing(self._errors, most=20)}), "
            f"{len(self._finished)} are finished and kept. The first error: {errors[0]}"
        ) from ExceptionGroup("editions that failed", errors)


def check_fraction(max_replaced: float) -> None:
    """Check that a limit on replaced characters is a fraction."""
    if not 0 <= max_replaced <= 1:
        raise ConfigError(f"{option('max_replaced')} is a fraction of characters, from 0 to 1; got {max_replaced!r}.")


def cautions_of(results: Mapping[str, JobResult]) -> list[tuple[str, str]]:
    """Return the cautions for readers of the surprisals, with the edition of each."""
    return [(edition, text) for edition, result in results.items() for text in (*result.damage, *result.cautions)]


def warn_of(cautions: Iterable[tuple[str, str]]) -> None:
    """Warn once of cautions that differ only in figures."""
    for warning in EditionWarning.of_each_kind(cautions):
        warn(warning)


def frames_of(results: Mapping[str, JobResult]) -> dict[str, pd.DataFrame]:
    """Return the surprisals by edition."""
    return {edition: result.surprisals for edition, result in results.items()}
