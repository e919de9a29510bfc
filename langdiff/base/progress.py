"""Progress on stderr: bars in a terminal, and for long jobs lines elsewhere, as in a log file."""

import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, TypeVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Column

T = TypeVar("T")
QUIET = 10.0  # seconds of work of which nothing is told
EVERY = 60.0  # seconds between lines while nothing ends


def _write(line: str) -> None:
    Console(stderr=True).print(line, markup=False, highlight=False, soft_wrap=True)


class Lines(Progress):
    """Progress of jobs as lines: at the start, when a job ends, and once a minute; jobs of some seconds have none.

    Parameters
    ----------
    write : callable, optional
        Takes a line; by default it goes to stderr.
    clock : callable
        Returns seconds.
    """

    def __init__(self, write: Callable[[str], None] | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(disable=True)
        self._write = write or (
            lambda line: Console(stderr=True).print(line, markup=False, highlight=False, soft_wrap=True)
        )
        self._clock = clock

    def add_task(self, description: str, *args: Any, **settings: Any) -> TaskID:
        """Begin to count jobs."""
        self._begun = self._told = self._ended = self._clock()
        self._done, self._slowest = 0, 0.0
        return super().add_task(description, *args, **settings)

    def update(self, task_id: TaskID, *, measured: bool = False, **settings: Any) -> None:
        """Note the number of finished jobs, with fractions, and whether an epoch was measured."""
        super().update(task_id, **settings)
        task, now = self.tasks[task_id], self._clock()
        ended = int(task.completed) > self._done
        if (measured or ended) and task.completed > self._done:
            self._slowest = max(self._slowest, (now - self._ended) / (task.completed - self._done))
        if ended:
            self._done, self._ended = int(task.completed), now
        if now - self._begun >= QUIET and (ended or self._told == self._begun or now - self._told >= EVERY):
            self._told = now
            total = int(task.total or 0)
            left = f"left: {self._left(total - task.completed)}" if task.completed < total else ""
            told = "; ".join(filter(None, (task.fields.get("note"), left)))
            self._write(
                f"[{datetime.now():%H:%M}] {task.description}: {self._done} of {total}: {told}".removesuffix(": ")
            )

    def _left(self, jobs: float) -> str:
        """Return the time that is left: as many jobs as slow as the slowest; no number before an epoch is measured."""
        if not self._slowest:
            return "not known yet"
        seconds = jobs * self._slowest
        about = f"about {seconds / 60:.0f} min" if seconds >= 60 else "less than a minute"
        return about if self._done else about.replace("about", "at least")


@contextmanager
def progress_bar(*, progress: bool | None = None, lines: bool = False) -> Iterator[Progress]:
    """Open a progress display on stderr."""
    console = Console(stderr=True)
    if lines and progress is None and not console.is_terminal:
        yield Lines()
        return
    show = console.is_terminal if progress is None else progress
    columns = (
        TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True, min_width=11)),
        BarColumn(bar_width=16, table_column=Column(min_width=16)),
        MofNCompleteColumn(table_column=Column(no_wrap=True, min_width=5)),
        TimeRemainingColumn(table_column=Column(no_wrap=True, min_width=7)),
        # the one column that may be cut on a narrow terminal
        TextColumn(
            "{task.fields[note]}", markup=False, table_column=Column(no_wrap=True, overflow="ellipsis", ratio=1)
        ),
    )
    with Progress(*columns, console=console, disable=not show) as bar:
        yield bar


def followed(
    items: Collection[T], description: str, *, progress: bool | None = None, note: Callable[[T], str] = str
) -> Iterator[T]:
    """Yield items, with a bar that names the one that is worked on."""
    with progress_bar(progress=progress) as bar:
        task = bar.add_task(description, total=len(items), note="")
        for item in items:
            bar.update(task, note=note(item))
            yield item
            bar.advance(task)
