"""Files of results, whose kind is the ending of their name."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from langdiff.base.cells import guarded
from langdiff.base.io import atomic_path, write_text
from langdiff.errors import ConfigError

if TYPE_CHECKING:
    import pandas as pd

FRAMES = (".csv", ".tsv", ".parquet")
TEXTS = (".md", ".tex", ".html", ".txt")
ENDINGS = (".json", *FRAMES, *TEXTS)


class EndingError(ConfigError):
    """A name of a file has an ending that stands for no kind of file."""


def check_ending(path: str | Path | None, endings: Iterable[str] = ENDINGS, what: str = "file") -> None:
    """Refuse, before any work is done, a name whose ending is none of those offered; nothing if no name is given.

    Examples
    --------
    >>> check_ending("x.cvs")
    Traceback (most recent call last):
    langdiff.base.saving.EndingError: x.cvs: unknown kind of file '.cvs'; use .json, .csv, .tsv, .parquet, .md, ...
    """
    endings = list(endings)
    if path is not None and Path(path).suffix not in [ending.split()[0] for ending in endings]:
        *most, last = endings
        offered = f"{', '.join(most)} or {last}" if most else last
        raise EndingError(f"{path}: unknown kind of {what} {Path(path).suffix!r}; use {offered}.")


def flat(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return a frame whose index, if it has one of names, is its first column."""
    import pandas as pd  # slow to import

    return frame if isinstance(frame.index, pd.RangeIndex) else frame.reset_index()


def write_frame(frame: "pd.DataFrame", path: Path) -> None:
    """Write a frame without its index as CSV, TSV or Parquet, by the ending of the name; all digits are kept."""
    check_ending(path, FRAMES, "table")
    with atomic_path(path) as temporary:
        if path.suffix == ".parquet":
            import pyarrow as pa  # slow to import
            from pyarrow import parquet

            parquet.write_table(pa.Table.from_pandas(frame, preserve_index=False), temporary, write_page_checksum=True)
        else:
            guarded(frame).to_csv(temporary, index=False, sep="\t" if path.suffix == ".tsv" else ",")


def write_lines(text: str, path: Path) -> None:
    """Write a text that ends with a line end."""
    write_text(path, text.rstrip("\n") + "\n")
