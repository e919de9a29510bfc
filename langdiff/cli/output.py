"""How commands print: data on stdout, a table for people or JSON for machines."""

import inspect
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from langdiff.base.cells import escape_controls
from langdiff.base.grids import MISSING, Shown, filled
from langdiff.base.saving import FRAMES, TEXTS, write_manifest
from langdiff.base.saving import check_ending as check_ending
from langdiff.base.saving import flat as flat
from langdiff.base.saving import write_frame as write_frame

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

TABLE = FRAMES
RESULT = (".json (the result)", *FRAMES[:2], ".parquet (its table)", *TEXTS)
Out = Annotated[
    Path | None,
    typer.Option("--out", "-o", help="Write the table here (.csv, .tsv, .parquet).", rich_help_panel="Output"),
]
Saved = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        help="Save here: the result (.json), its table (.csv, .tsv, .parquet), or .md, .tex, .html, .txt.",
        rich_help_panel="Output",
    ),
]
Plot = Annotated[Path | None, typer.Option("--plot", rich_help_panel="Output")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.", rich_help_panel="Output")]


@dataclass(frozen=True)
class Output:
    """Where a result goes: a file, a picture, and stdout as text or JSON."""

    out: Saved = None
    plot: Plot = None
    as_json: Json = False

    @classmethod
    def options(cls, offers: Collection[str]) -> Iterator[inspect.Parameter]:
        """Yield the options for a result whose class defines these names."""
        for one in inspect.signature(cls).parameters.values():
            if one.name == "out" and "save" not in offers:
                yield one.replace(annotation=Out)
            elif one.name != "plot" or "plot" in offers:
                yield one

    def check(self, offers: Collection[str]) -> None:
        """Refuse, before any work is done, names of files that a result with these methods is not written to."""
        saved = "save" in offers
        check_ending(self.out, RESULT if saved else TABLE, "file" if saved else "table")
        check_picture_name(self.plot)

    def show(self, result: Any, *, draw: "Callable[[], Axes] | None" = None, shown: Any = None) -> None:
        """Write the files that were asked for, and print the result; another one may say what people read of it."""
        shown = result if shown is None else shown
        if self.out is not None and hasattr(result, "save"):
            (result if self.out.suffix == ".json" else shown).save(self.out)
        elif self.out is not None:
            write_frame(flat(result.to_frame()), self.out)
        if self.plot is not None:
            save_picture(draw or result.plot, self.plot)
        if self.as_json:
            print_json(flat(shown.to_frame()))
        else:
            echo(shown.summary())


class EscapedStream:
    r"""A stream to which control characters are written as ``\x1b``: titles and metadata do not command the terminal.

    Parameters
    ----------
    stream : file
        Where the text goes; Rich, which colours tables and moves progress bars, writes there directly.
    """

    def __init__(self, stream: TextIO) -> None:
        self.rich_proxied_file = stream  # as Rich calls what it is to write to instead

    def write(self, text: str) -> int:
        """Write a text; characters that the encoding of a console lacks, such as cp1252, become signs or escapes."""
        text, encoding = escape_controls(text), getattr(self.rich_proxied_file, "encoding", None) or "utf-8"
        try:
            text.encode(encoding)
        except UnicodeEncodeError:
            text = text.replace("−", "-").encode(encoding, "backslashreplace").decode(encoding)
        return self.rich_proxied_file.write(text)

    def __getattr__(self, name: str) -> Any:
        """Be the stream in all other respects."""
        return getattr(self.rich_proxied_file, name)


@contextmanager
def escaped_streams() -> Iterator[None]:
    """Escape control characters in all output to stdout and stderr inside the block; see `EscapedStream`."""
    before = sys.stdout, sys.stderr
    escaped: Any = [stream and EscapedStream(stream) for stream in before]  # None where there is no terminal
    sys.stdout, sys.stderr = escaped
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def echo(text: str, *, err: bool = False) -> None:
    """Print a text whose sentences go on in the next line where they are longer than the terminal is wide."""
    typer.echo(filled(text), err=err)


def print_frame(
    frame: "pd.DataFrame", title: str, formats: "Mapping[str, str] | None" = None, as_json: bool = False
) -> None:
    """Print a frame without its index below a title, or as JSON."""
    if as_json:
        print_json(frame)
        return
    echo(f"{title}\n")
    typer.echo(shown_frame(frame, "", formats).text() if len(frame) else "no rows")
    if "low" in frame and frame["low"].isna().any():
        echo(f"\n{MISSING}: no interval from a single independent unit.")


def shown_frame(frame: "pd.DataFrame", title: str, formats: "Mapping[str, str] | None" = None) -> Shown:
    """Return a frame without its index as a table with a caption."""
    looks = {name: partial(_shown, template=look) for name, look in (formats or {}).items() if name in frame}
    return Shown(frame, caption=title, printing={"index": False, "formatters": looks})


def _shown(value: Any, template: str) -> str:
    import pandas as pd

    from langdiff.base.cells import in_format

    return MISSING if value is None or pd.isna(value) else in_format(value, template)


def print_json(frame: "pd.DataFrame") -> None:
    """Print a frame as a list of records."""
    typer.echo(frame.to_json(orient="records", double_precision=15, force_ascii=False, indent=2))


def print_tables(frames: "dict[str, pd.DataFrame]") -> None:
    """Print several frames as one object, each as a list of records."""
    import json

    records = {name: json.loads(frame.to_json(orient="records", double_precision=15)) for name, frame in frames.items()}
    typer.echo(json.dumps(records, ensure_ascii=False, indent=2))


def check_picture_name(path: Path | None) -> None:
    """Refuse, before any work is done, a name that `save_picture` would refuse."""
    if path is None:
        return
    from matplotlib.figure import Figure

    from langdiff.errors import ConfigError

    if path.suffix.lstrip(".") not in Figure().canvas.get_supported_filetypes():
        raise ConfigError(f"{path}: unknown kind of picture {path.suffix!r}; use .svg, .png or .pdf.")


def save_picture(draw: "Callable[[], Axes]", path: Path) -> None:
    """Write a picture in the format that the ending of its name says; the text of an SVG stays text."""
    import matplotlib as mpl

    from langdiff.base.io import atomic_path
    from langdiff.base.result import picture

    check_picture_name(path)
    mpl.use("agg")  # no window, whatever the user's settings
    with atomic_path(path) as temporary:
        temporary.write_bytes(picture(draw, path.suffix.lstrip("."), salt=path.stem))
    write_manifest(path)
