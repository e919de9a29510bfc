"""Errors of single editions, kept until the others are finished."""

import logging
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager

from langdiff.errors import LangdiffError, TrainingError, listing

logger = logging.getLogger(__name__)


class Failures:
    """The errors of editions, which do not stop their siblings.

    Parameters
    ----------
    editions : int
        How many there are, for the message.
    at_once : bool
        Raise the first error instead of keeping it, as when what siblings finish would be lost.

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

    def __init__(self, editions: int, *, at_once: bool) -> None:
        self._editions = editions
        self._at_once = at_once
        self._errors: dict[str, Exception] = {}

    @contextmanager
    def of(self, edition: str) -> Iterator[None]:
        """Keep an error of the block; a dead worker process is not the edition's fault and is raised."""
        try:
            yield
        except BrokenProcessPool:
            raise
        except Exception as error:
            if not isinstance(error, LangdiffError):  # those name it already
                error.add_note(f"edition {edition!r}")
            if self._at_once:
                raise
            logger.error("%s", error)
            self._errors[edition] = error

    def raise_any(self) -> None:
        """Raise the error of the one edition that failed, or one error that names all that did.

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
            f"{len(errors)} of {self._editions} editions failed ({listing(self._errors, most=20)}), the others are "
            f"finished. The first error: {errors[0]}"
        ) from ExceptionGroup("editions that failed", errors)
