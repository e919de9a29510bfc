"""Results of sections of the experiment: tables, notes and pictures, stored until their inputs change."""

import json
import logging
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from langdiff.base.checksums import read_sealed, seal
from langdiff.base.io import write_json
from langdiff.base.result import Result, picture
from langdiff.base.signature import full_hash
from langdiff.errors import ConvergenceWarning, DataError, LangdiffError, LangdiffWarning, OutputError, merge, warn
from langdiff.run.directory import JOBS, versions

ANALYSES = "analyses"
KEPT = f"{JOBS}/{ANALYSES}"  # as soon as they are made; a run that is interrupted finds them here
FORMAT, FORMAT_VERSION = "langdiff analysis", 1
FONTS = "'Segoe UI', Roboto, 'Helvetica Neue', 'Noto Sans', 'Liberation Sans', Arial, sans-serif"  # of report.css, too
WIDTH, WIDE = 6.0, 9.0  # inches of pictures as wide as the text of the page, and wider

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Figure:
    """A picture with its caption, and the part of the page that shows it.

    Attributes
    ----------
    name, caption : str
        Name of the file, and what is drawn.
    svg : bytes
        The picture; its text is text, written in the fonts of who reads it.
    part : {"difficulties", "ranks", "agreement", "residuals", "training"} or section of the experiment
        Part of the page.
    title : str
        What is found, as computed from the data; may be empty.
    wide : bool
        Whether it is wider than the text of the page.
    kind : str
        Kind of picture, such as ``"heat map"``.
    """

    name: str
    caption: str
    svg: bytes
    part: str
    title: str = ""
    wide: bool = False
    kind: str = "plot"

    @property
    def alternative(self) -> str:
        """The picture in words, for readers who do not see it: the finding, and the kind of picture."""
        said = self.title or re.split(r"[.:;](?:\s|$)", self.caption, maxsplit=1)[0]
        return f"{said} ({self.kind})."


def draw(
    name: str,
    caption: str,
    part: str,
    plot: Any,
    rows: int = 16,
    columns: int = 1,
    *,
    title: str = "",
    wide: bool = False,
    kind: str = "plot",
) -> Figure:
    """Draw a picture on axes of its own."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as Canvas

    def drawn() -> Any:
        figure = Canvas(figsize=(WIDE if wide else WIDTH, max(2.4, 1.2 + 0.26 * rows)), layout="constrained")
        FigureCanvasSVG(figure)
        plot(axes := figure.subplots(ncols=columns))
        return np.ravel(axes)[0]

    return Figure(name, caption, for_page(drawn, name).encode(), part, title, wide, kind)


def for_page(draw: Callable[[], Any], salt: str) -> str:
    """Return a picture as SVG, whose text is written in the fonts of the page, and dollar signs are dollar signs."""
    import matplotlib as mpl

    with mpl.rc_context({"text.parse_math": False}):
        svg = picture(draw, "svg", salt=salt, transparent=True).decode()
    # all fonts of the page are narrower than Matplotlib's, by which room was made
    svg = re.sub(r"(font: (?:bold )?[\d.]+px) [^;\"]*", rf"\1 {FONTS}", svg)
    return re.sub(r"font-family: [^;\"]*", f"font-family: {FONTS}", svg)


@dataclass(frozen=True, kw_only=True, eq=False)
class Analysis(Result):
    """Result of a section of the experiment.

    Attributes
    ----------
    name : str
        The section, such as ``"correlate"``.
    table : DataFrame
        What was found; no rows if it could not be made.
    notes : tuple of str
        What a reader should know beside the table, such as warnings, convergence and signature, or why there is none.
    figures : tuple of Figure
        Pictures.
    failure : str
        Why it could not be made; empty if it was.
    result : object
        What the function of the section returned, where it is kept in a file of its own.
    failed : dict
        Editions that had to be left out, and why, by the name of the language models concerned.
    facts : dict
        What the section adds to the manifest of the run.
    """

    printing: ClassVar[Mapping[str, Any]] = {"index": False}

    name: str
    table: pd.DataFrame
    notes: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
    failure: str = ""
    result: Any = None
    failed: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)

    def _lines(self) -> Iterator[str]:
        yield f"[{self.name}]"

    def _table(self) -> pd.DataFrame:
        return self.table

    def _notes(self) -> tuple[str, ...]:
        return self.notes

    def to_json(self) -> str:
        """Return the table, the notes and the pictures; `result` has a file of its own."""
        return Result.to_json(replace(self, result=None)) if self.result is not None else super().to_json()

    def __repr__(self) -> str:
        """Return a one-line description with the section and the size of the table."""
        return f"Analysis [{self.name}]: {len(self.table):,} rows × {self.table.shape[1]} columns"


def write_analysis(analysis: Analysis, key: str, path: Path) -> None:
    """Write a result to JSON, with the hash of its inputs."""
    table = analysis.table.astype(object).where(analysis.table.notna(), None)
    document = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "name": analysis.name,
        "key": key,
        "columns": [str(name) for name in table.columns],
        "kinds": [kind.kind for kind in analysis.table.dtypes],
        "rows": table.to_numpy().tolist(),
        "notes": list(analysis.notes),
        "figures": [asdict(figure) | {"svg": figure.svg.decode()} for figure in analysis.figures],
    }
    write_json(path, seal(json.loads(json.dumps(document))))


def read_analysis(path: Path) -> tuple[Analysis, str]:
    """Read a result that `write_analysis` wrote; return it with the hash of its inputs."""
    document = read_sealed(path, kind=FORMAT, version=FORMAT_VERSION, what="saved analysis")
    table = pd.DataFrame(document["rows"], columns=document["columns"], dtype=object)
    types = {"f": float, "i": int, "b": bool}
    numbers: dict[str, Any] = {
        name: types[kind] for name, kind in zip(table.columns, document["kinds"], strict=True) if kind in types
    }
    numbers |= {name: "Int64" for name, kind in numbers.items() if kind is int and table[name].isna().any()}
    figures = tuple(Figure(**figure | {"svg": figure["svg"].encode()}) for figure in document["figures"])
    notes = tuple(document["notes"])
    failure = notes[0] if table.empty else ""
    name = document["name"]
    found = Analysis(name=name, table=table.astype(numbers), notes=notes, figures=figures, failure=failure)
    return found, document["key"]


def kept_or_made(
    name: str,
    depends: Callable[[], Sequence[Any]],
    make: Callable[[], Analysis],
    directory: Path,
    new: Path,
) -> Analysis:
    """Return the stored result of a section if its inputs are unchanged; else compute and store it."""
    kept = directory / KEPT / f"{name}.json"
    try:
        key = full_hash(name, versions(), *depends())
        if _key_of(kept) != key:
            write_analysis(_with_warnings(make), key, kept)
    except OutputError:  # a full disk has nothing to do with the section
        raise
    except LangdiffError as error:  # difficulties can be had all the same
        logger.warning("[%s] could not be done: %s", name, error, extra={"section": name})
        failure = f"This could not be done: {error}"
        found = Analysis(name=name, table=pd.DataFrame(), notes=(failure,), failure=failure)
        write_analysis(found, "", new / ANALYSES / kept.name)
        return found
    found, _ = read_analysis(kept)  # the same numbers, whether they are new or not
    write_analysis(found, key, new / ANALYSES / kept.name)
    return found


def _with_warnings(make: Callable[[], Analysis]) -> Analysis:
    """Add warnings to the notes, so that the report repeats them whenever it is written."""
    found, caught = _caught(make)
    notes = " ".join(found.notes)
    told = [
        text
        for message in caught
        for text in [str(message)]
        # the verdict on chains is in the note on them, whatever model it begins with
        if not (isinstance(message, ConvergenceWarning) and (text.partition(": ")[2] or text) in notes)
    ]
    return replace(found, notes=tuple(dict.fromkeys([*found.notes, *(f"Warning: {text}" for text in told)])))


def _caught(make: Callable[[], Analysis]) -> tuple[Analysis, list[LangdiffWarning]]:
    """Return the result with the package's warnings, and issue one of each kind again; others pass."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", LangdiffWarning)
        found = make()
    for each in caught:
        if not issubclass(each.category, LangdiffWarning):
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    merged = merge(caught)
    for message in merged:
        warn(message)  # at the caller of `kept_or_made`
    return found, merged


def _key_of(path: Path) -> str | None:
    """Return the key of a stored result; None if the file is missing or damaged."""
    try:
        return read_analysis(path)[1]
    except DataError:
        return None
