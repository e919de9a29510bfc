"""Progress bars on stderr, drawn only in a terminal by default."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Column


@contextmanager
def progress_bar(*, progress: bool | None = None) -> Iterator[Progress]:
    """Open a progress display on stderr.

    Parameters
    ----------
    progress : bool, optional
        Whether to draw; by default only if stderr is a terminal.
    """
    console = Console(stderr=True)
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
