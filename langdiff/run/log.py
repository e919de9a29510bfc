"""The log of a run, events and times as lines of JSON, and the warnings of its language models, each once."""

import json
import logging
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import langdiff
from langdiff.errors import EditionWarning, LangdiffWarning, warn

LOG = "run.jsonl"


class RunLog:
    """Adds lines to the log of a run directory.

    What cannot be written is left out: a log must not end a run, and a full disk is told elsewhere.

    Parameters
    ----------
    directory : Path
        The run directory.
    """

    def __init__(self, directory: Path) -> None:
        self._path = directory / LOG
        with suppress(OSError):
            if self._path.is_file() and not self._path.read_bytes().endswith(b"\n"):  # cut by a kill
                with self._path.open("ab") as stream:
                    stream.write(b"\n")

    def add(self, event: str, **facts: Any) -> None:
        """Append a line with time, event and its details."""
        entry = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "event": event, **facts}
        with suppress(OSError), self._path.open("a", encoding="utf-8", newline="\n") as stream:
            stream.write(json.dumps(entry, ensure_ascii=False) + "\n")

    @contextmanager
    def of_run(self, name: str) -> Iterator[None]:
        """Log begin and end of a run, and inside the block the warnings of Python and of this package's loggers."""
        self.add("begin", name=name, version=langdiff.__version__, process=os.getpid())
        handler = _Handler(self)
        logger = logging.getLogger("langdiff")
        logger.addHandler(handler)
        try:
            with warnings.catch_warnings():
                self._copy_warnings()
                yield
        except BaseException as error:
            interrupted = not isinstance(error, Exception)
            self.add("end", state="interrupted" if interrupted else "failed", error=str(error) or type(error).__name__)
            raise
        finally:
            logger.removeHandler(handler)
        self.add("end", state="finished")

    def _copy_warnings(self) -> None:
        show = warnings.showwarning

        def both(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            self.add("warning", message=str(message), kind=category.__name__)
            show(message, category, *where, **more)

        warnings.showwarning = both


class _Handler(logging.Handler):
    """Copies warnings and errors of loggers."""

    def __init__(self, log: RunLog) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        if edition := getattr(record, "edition", None):  # of `langdiff.lm.jobs.workers`, as soon as it fails
            self._log.add("failure", lm=getattr(record, "lm", ""), edition=edition, error=record.getMessage())
            return
        self._log.add("warning" if record.levelno < logging.ERROR else "error", message=record.getMessage())


def read_run_log(directory: Path) -> list[dict[str, Any]]:
    """Return the lines of the log of a run, without lines that are cut off or damaged."""
    path = directory / LOG
    entries = []
    for line in path.read_bytes().split(b"\n") if path.is_file() else []:
        with suppress(ValueError):
            entry = json.loads(line)
            if isinstance(entry, dict):
                entries.append(entry)
    return entries


@contextmanager
def warned_once() -> Iterator[Callable[[str], AbstractContextManager[None]]]:
    """Collect the package's warnings until the block ends, then issue each once; other warnings pass."""
    found: dict[str, list[LangdiffWarning]] = {}
    try:
        yield lambda lm: _kept_in(found.setdefault(lm, []))
    finally:  # also where a later model ends in an error
        for message in _named(found):
            warn(message)  # where the block ends


@contextmanager
def _kept_in(kept: list[LangdiffWarning]) -> Iterator[None]:
    with warnings.catch_warnings():  # which also forgets what was given already: another model may say the same
        show = warnings.showwarning

        def keep(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if isinstance(message, LangdiffWarning):
                kept.append(message)
            else:
                show(message, category, *where, **more)

        warnings.showwarning = keep
        yield


def _named(found: dict[str, list[LangdiffWarning]]) -> Iterator[LangdiffWarning]:
    """Yield each warning once, with the names of its models unless all share it."""
    alike: dict[tuple[type[LangdiffWarning], str], dict[str, LangdiffWarning]] = {}
    for lm, messages in found.items():
        for message in messages:
            alike.setdefault((type(message), str(message)), {})[lm] = message
    for (kind, text), of_models in alike.items():
        message = next(iter(of_models.values()))
        if len(of_models) == len(found):
            yield message
        elif isinstance(message, EditionWarning):
            yield EditionWarning(*message.cautions, lms=tuple(of_models))
        else:
            yield kind(f"{', '.join(of_models)}: {text}")
