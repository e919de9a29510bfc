"""Base class of results: summary, tables for notebooks and LaTeX, figures, and saving and reading."""

import importlib
import io
import json
import pkgutil
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import pandas as pd

from langdiff import __version__
from langdiff.base.cells import drop_controls
from langdiff.base.checksums import format_of, read_sealed, seal
from langdiff.base.encoding import decode_fields, encode_fields
from langdiff.base.grids import Shown, filled, in_lines, line_width, markdown, tex
from langdiff.base.io import as_path, write_text
from langdiff.base.saving import check_ending, flat, origin_of, write_frame, write_lines
from langdiff.errors import CheckpointError, ConfigError, DataError, LangdiffWarning

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LONGEST_CAPTION = 40  # words
PREFIX = "langdiff."  # of the formats of files; the name of the class follows


def drawing(function: str) -> "Callable[..., Axes]":
    """Return a function of `langdiff.plots`, importing Matplotlib only when it is called.

    Examples
    --------
    >>> drawing("plot_parity").__name__
    'plot_parity'
    """
    draw: Callable[..., Axes] = getattr(importlib.import_module("langdiff.plots"), function)
    return draw


def picture(draw: "Callable[[], Axes | Figure]", kind: str, *, salt: str, **settings: Any) -> bytes:
    """Return a picture in a format of Matplotlib: the same one has the same bytes, and text in an SVG stays text."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    stream = io.BytesIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": salt}), warnings.catch_warnings():
        # our own warning names the script; Matplotlib before 3.11 warns twice of some
        for message in ("Glyph .* missing from", "Matplotlib currently does not support"):
            warnings.filterwarnings("ignore", message, UserWarning)
        if kind == "svg":  # drawn in the fonts of who reads it
            warnings.filterwarnings("ignore", "no installed font has", LangdiffWarning)
        figure: Any = draw().get_figure(root=True)
        undated: Any = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
        try:
            figure.savefig(stream, format=kind, metadata=undated.get(kind), **settings)
        finally:
            plt.close(figure)
    made = stream.getvalue()
    return drop_controls(made.decode()).encode() if kind == "svg" else made  # XML has no control characters


class Drawn:
    """A function of `langdiff.plots` as a method: ``plot = Drawn("plot_parity")``.

    Parameters
    ----------
    function : str
        Name of the function, whose signature and docstring the method has.
    of : callable, optional
        What the function is to draw of a result; by default the result itself.
    """

    def __init__(self, function: str, of: Callable[[Any], Any] = lambda result: result) -> None:
        self.function = function
        self.of = of

    def __get__(self, result: Any, owner: type) -> Any:
        """Return the plotting function, bound to the object that it draws."""
        draw = drawing(self.function)
        return draw if result is None else draw.__get__(self.of(result))


class Tabular:
    """Dataclass with a tidy table."""

    def to_frame(self) -> pd.DataFrame:
        """Return the result as a tidy table, whose numbers are not rounded: its first attribute that is a frame."""
        values = (getattr(self, each.name) for each in fields(self))  # type: ignore[arg-type]  # a dataclass
        return next(value for value in values if isinstance(value, pd.DataFrame)).copy()


class Result(Tabular):
    """Immutable result with tables, which all forms show, and a file format.

    A class that inherits is a frozen dataclass and defines ``__repr__``, and `to_frame` unless its first field that is
    a frame is the table; where the rest should differ, it also defines `_lines`, `_table` and `_notes`, or `tables` if
    it has several. If it has a field `signature`, the summary ends with it.
    """

    digits: ClassVar[int] = 4
    """Decimals of numbers in tables; frames are never rounded."""
    printing: ClassVar[Mapping[str, Any]] = {}
    """Options of ``DataFrame.to_string``, for the table."""
    between: ClassVar[str] = "\n"
    """What stands between sentences above the tables."""
    format_version: ClassVar[int] = 1
    """Version of the saved file."""
    classes: ClassVar[dict[str, type["Result"]]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        """Register the class under the format name of its files."""
        super().__init_subclass__(**options)
        Result.classes[f"{PREFIX}{cls.__name__}"] = cls

    def _lines(self) -> Iterable[str]:
        """Yield the sentences above the tables."""
        yield repr(self)

    def _table(self) -> pd.DataFrame:
        """Return the table as displayed, with rounded numbers."""
        return rounded(self.to_frame(), self.digits)

    def _notes(self) -> Iterable[str]:
        """Yield the lines below the table."""
        return ()

    def tables(self) -> list[Shown]:
        """Return the tables that are printed and written as Markdown, LaTeX and HTML, the most important first.

        Returns
        -------
        list of Shown
            Each a frame or grid, or nothing but notes: ``content``, ``name``, ``caption`` (of up to 40 words),
            ``notes``, and ``printing``, the options of ``DataFrame.to_string``.

        Examples
        --------
        >>> import langdiff as ld
        >>> [shown.name for shown in ld.fit(ld.simulate(50, 3, seed=1).surprisals).tables()]
        ['difficulties', 'details']
        """
        return [Shown(self._table(), notes=tuple(self._notes()), printing=self.printing)]

    def _signed(self) -> list[str]:
        return [f"[{signature}]"] if (signature := getattr(self, "signature", "")) else []

    def _captioned(self) -> list[Shown]:
        """Return the tables; of one without a caption, sentences of up to 40 words are it, and others are notes."""
        first, *others = self.tables() or [Shown()]
        words = 0
        said = {True: [first.caption] if first.caption else [], False: list[str]()}
        for line in filter(None, self._lines()):
            words += len(line.split())
            said[not first.caption and words <= LONGEST_CAPTION].append(line)
        caption = " ".join(said[True]) or first.name.capitalize()
        return [first._replace(caption=caption, notes=(*said[False], *first.notes)), *others]

    def summary(self) -> str:
        """Return the result as text: sentences, tables with their notes, and signature."""
        blocks = [self.between.join(self._lines()), *(shown.text() for shown in self.tables()), *self._signed()]
        return "\n\n".join(block for block in blocks if block)

    def text(self, width: int | None = None) -> str:
        """Return the result as text, as `summary` does, in lines of a width.

        Parameters
        ----------
        width : int, optional
            Columns of a line: those of the terminal, at least 60; 80 where there is none.
        """
        width = line_width() if width is None else max(int(width), 40)
        with in_lines(width):
            return filled(self.summary(), width)

    def to_markdown(self) -> str:
        """Return the sentences, the tables as pipe tables, and notes as lists."""
        parts = [self.between.join(map(markdown, self._lines()))]
        for shown in (*self.tables(), Shown(notes=self._signed())):
            grid = shown.grid
            parts += [markdown(shown.caption), "" if grid is None else grid.markdown()]
            parts.append("\n".join(f"* {markdown(note)}" for note in shown.notes if note))
        return "\n\n".join(filter(None, parts))

    def to_html(self) -> str:
        """Return the sentences, the tables and notes as HTML, as notebooks show them."""
        parts = [f"<p>{'<br>'.join(map(escape, self._lines()))}</p>"]
        for shown in (*self.tables(), Shown(notes=self._signed())):
            grid, notes = shown.grid, "".join(f"<li>{escape(note)}</li>" for note in shown.notes if note)
            parts.append(f"<p>{escape(shown.caption)}</p>" if grid is None else grid.html(shown.caption))
            parts.append(f"<ul class='notes'>{notes}</ul>" if notes else "")
        return "".join(parts).replace("<p></p>", "")

    def _repr_html_(self) -> str:
        return self.to_html()

    def to_latex(self, *, caption: str = "", label: str = "") -> str:
        r"""Return each table as a ``table`` with caption, label and notes, which needs the package booktabs alone.

        Parameters
        ----------
        caption, label : str
            Those of the first table, in place of its own.

        Returns
        -------
        str
            Tables whose text is escaped; sentences are the caption of the first, or its notes.

        Examples
        --------
        >>> import langdiff as ld
        >>> fit = ld.fit(ld.simulate(50, 3, seed=1).surprisals)
        >>> print(fit.to_latex(caption="Difficulties").splitlines()[3])
        \caption{Difficulties}
        """
        parts = [r"% \usepackage{booktabs}"]
        for place, shown in enumerate(self._captioned()):
            own, notes = shown.caption if place else caption or shown.caption, filter(None, shown.notes)
            named = label or getattr(self, "label", "") or f"tab:{type(self).__name__.lower()}"
            named = "-".join(filter(None, [named, shown.name])) if place else named
            if (grid := shown.grid) is None:
                parts += [rf"\par\footnotesize {tex(note)}" for note in filter(None, [own, *notes])]
            else:
                parts.append(grid.latex(caption=own, label=named, notes=notes))
        return "\n".join([*parts, *(f"% {line}" for line in self._signed())])

    def save(self, path: str | Path) -> None:
        """Write the result in the form that the ending of the name says.

        Parameters
        ----------
        path : str or Path
            File to write; one that exists is replaced once all is written. ``.json`` holds the result with a hash that
            reveals damage, and `langdiff.read` reads it again; ``.csv``, ``.tsv`` and ``.parquet`` hold `to_frame` with
            all digits; ``.md``, ``.tex``, ``.html`` and ``.txt`` what the result prints.

        Raises
        ------
        ConfigError
            If the name has another ending.
        DataError
            If the result holds something that has no place in a file.
        OutputError
            If the file cannot be written.
        """
        path = as_path(path)
        check_ending(path)
        known = {"signature": signature} if (signature := getattr(self, "signature", "")) else {}
        match path.suffix:
            case ".json":
                write_text(path, f"{self._json(origin_of(path))}\n")
            case ".md":
                write_lines(self.to_markdown(), path, known)
            case ".tex":
                write_lines(self.to_latex(), path, known)
            case ".html":
                write_lines(f'<!doctype html><meta charset="utf-8">{self.to_html()}', path, known)
            case ".txt":
                write_lines(self.text(80), path, known)
            case _:
                write_frame(flat(self.to_frame()), path, known)

    def to_json(self) -> str:
        """Return the JSON text that `save` writes.

        Raises
        ------
        DataError
            If the result holds something that has no place in a file.
        """
        return self._json({})

    def _json(self, origin: Mapping[str, Any]) -> str:
        head = {"format": f"{PREFIX}{type(self).__name__}", "format_version": self.format_version}
        manifest = {"manifest": {"versions": {"langdiff": __version__}, **origin}}
        return json.dumps(seal(head | manifest | encode_fields(self)), ensure_ascii=False, allow_nan=False)

    @classmethod
    def _read(cls, path: Path) -> Self:
        """Read a result from a file written by `save`; numbers keep all digits."""
        document = read_sealed(
            path, kind=f"{PREFIX}{cls.__name__}", version=cls.format_version, what=f"saved {cls.__name__}"
        )
        try:
            return decode_fields(cls, document)
        except DataError as error:
            raise DataError(f"{path}: {error}") from error
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise DataError(f"{path}: damaged: {type(error).__name__}: {error}.") from error


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Printed(Result):
    """What people read of a result, where a command adds to it: sentences, and tables with notes."""

    of: Any
    shown: Iterable[Shown]
    lines: Iterable[str] | None = None
    frame: pd.DataFrame | None = None
    contrasts: pd.DataFrame | None = None

    def to_frame(self) -> pd.DataFrame:
        """Return the frame, by default that of the result; contrasts follow, told from it by the column ``table``."""
        frame: pd.DataFrame = self.of.to_frame() if self.frame is None else self.frame
        if self.contrasts is None:
            return frame
        parts = {type(self.of).__name__: flat(frame), "contrasts": flat(self.contrasts)}
        return pd.concat(parts, names=["table"]).reset_index("table").reset_index(drop=True)

    def _lines(self) -> Iterable[str]:
        return self.of._lines() if self.lines is None else self.lines

    def tables(self) -> list[Shown]:
        """Return the tables."""
        return list(self.shown)

    @property
    def between(self) -> str:  # type: ignore[override]  # as the result has it
        """What stands between sentences."""
        return str(self.of.between)

    @property
    def signature(self) -> str:
        """That of the result."""
        return str(getattr(self.of, "signature", ""))

    def __repr__(self) -> str:
        """Return that of the result."""
        return repr(self.of)


TABLES = (".csv", ".tsv", ".parquet")
READABLE = (*TABLES, ".json")  # endings by which a text is taken for a path


def read(path: str | Path, kind: type | None = None, **how: Any) -> Any:
    """Read a result, a table or a trained model that was saved by its method `save`.

    Parameters
    ----------
    path : str or Path
        File of a result; CSV, TSV or Parquet file of surprisals or outcomes; or folder of a language model or tagger.
    kind : class, optional
        Class that it must be of, such as `DifficultyFit`; by default it may be of any.
    **how
        Of models: ``device`` to compute on (``"auto"``, ``"cpu"``, ``"cuda"``, …); of taggers also ``vectors``,
        ``bert`` and ``lemmatizer``, where the files are now and the function that the tagger was trained with.

    Returns
    -------
    Result, Surprisals, Outcomes, LanguageModel or Tagger
        Equal to the one saved; numbers keep all digits.

    Raises
    ------
    ConfigError
        If `how` is given for what is no model.
    DataError
        If the file cannot be read, is damaged, holds nothing that langdiff has saved, or something else than `kind`.
    CheckpointError
        If the files of a model are missing or damaged.

    Examples
    --------
    >>> import tempfile
    >>> import langdiff as ld
    >>> fit = ld.fit(ld.simulate(50, 3, seed=1).surprisals)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     fit.save(f"{folder}/fit.json")
    ...     ld.read(f"{folder}/fit.json").difficulty.equals(fit.difficulty)
    True
    """
    path = as_path(path)
    if how and not path.is_dir():
        raise ConfigError(f"{path}: {', '.join(how)}: for folders of models, and this is none. Leave it out.")
    if path.is_dir():
        found = _read_model(path, how)
    elif path.suffix.lower() in TABLES:
        found = _read_table(path, importlib.import_module("langdiff"))
    elif kind is not None and issubclass(kind, Result):
        return kind._read(path)
    else:
        named = format_of(path)
        result = _class_of(named) if named is not None else None
        if result is None:
            raise DataError(f"{path}: not a file that a result of langdiff has saved.")
        found = result._read(path)
    if kind is not None and not isinstance(found, kind):
        raise DataError(f"{path}: not a saved {kind.__name__}; it holds a {type(found).__name__}.")
    return found


def opened(source: Any) -> Any:
    """Return what a file holds, where a path of a result or table stands for it; anything else as it is.

    Examples
    --------
    >>> opened({"deu": 0.1}), opened("deu")
    ({'deu': 0.1}, 'deu')
    """
    is_file = isinstance(source, Path) or (isinstance(source, str) and Path(source).suffix.lower() in READABLE)
    return read(source) if is_file else source


def _class_of(kind: str) -> type[Result] | None:
    """Return the result class of a file format, importing its package if needed; None if there is none."""
    name = kind.removeprefix(PREFIX)
    places = (each.name for each in pkgutil.iter_modules([str(Path(__file__).parents[1])], PREFIX) if each.ispkg)
    for place in ("langdiff", *places):
        if kind not in Result.classes and name in getattr(importlib.import_module(place), "__all__", ()):
            getattr(importlib.import_module(place), name)  # imports it
    return Result.classes.get(kind)


def _read_model(folder: Path, how: dict[str, Any]) -> Any:
    """Read a trained model of the kind that its index file gives."""
    index = folder / "model.json"
    if not index.is_file():
        raise CheckpointError(
            f"{index}: cannot be read: there is no saved model. Runs are read by langdiff.run.read_run."
        )
    kind = format_of(index, "kind")
    readers = {
        "parallelism-tagger": "parallelism.taggers.tagger:read_tagger",
        "mixture": "lm.mixture:read_mixture",
    }
    module, _, function = readers.get(str(kind), "lm.checkpoint:read_model").partition(":")
    return getattr(importlib.import_module(f"{PREFIX}{module}"), function)(folder, **how)


def _read_table(path: Path, package: Any) -> Any:
    """Read a long table of surprisals or outcomes, identified by its columns."""
    columns = _columns(path)
    if {"intent", "edition", "bits"} <= columns or {"item", "language", "bits"} <= columns:
        return package.read_surprisals(path)
    if {"item", "system", "successes"} <= columns:
        return package.read_outcomes(path)
    raise DataError(
        f"{path}: not a table that langdiff has saved. langdiff.read_surprisals and langdiff.read_outcomes also read "
        "tables made elsewhere."
    )


def _columns(path: Path) -> set[str]:
    try:
        if path.suffix.lower() == ".parquet":
            import pyarrow.parquet  # only for such files

            return set(pyarrow.parquet.read_schema(path).names)
        separator = "," if path.suffix.lower() == ".csv" else "\t"
        return set(pd.read_csv(path, sep=separator, nrows=0).columns)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}.") from error
    except ValueError as error:  # broken UTF-8, an empty file, not Parquet
        raise DataError(f"{path}: not a table: {error}.") from error


def rounded(table: pd.DataFrame, digits: int) -> pd.DataFrame:
    """Return a table with rounded numbers, without minus signs before zeros.

    Examples
    --------
    >>> rounded(pd.DataFrame({"edition": ["eng"], "difficulty": [-0.00001]}), 4)
      edition  difficulty
    0     eng         0.0
    """
    shown = table.round(digits)
    for place, kind in enumerate(shown.dtypes):
        if getattr(kind, "kind", "") == "f":
            shown.isetitem(place, shown.iloc[:, place].to_numpy() + 0.0)
    return shown
