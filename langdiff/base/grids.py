"""Tables as they are printed, in four forms: numbers with errors, data frames, and sentences in lines of a width."""

import os
import re
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    import pandas as pd

MINUS = "\u2212"
MOST_NAME = 18  # columns of a name in a table that is too wide
MISSING = "–"
GAP = 2  # columns between two columns of a data frame
MOST_STUBS = 4  # columns of words that each block of a data frame begins with
LEAST = 16  # columns of a cell of words that is folded
_WIDTH: ContextVar[int | None] = ContextVar("width", default=None)


class Cell(NamedTuple):
    """A number as text with that of its standard error; a text alone, such as a set of ranks, has none."""

    text: str
    error: str = ""


class Line(NamedTuple):
    """A line of a table: the head of a group, which has no cells, a row, or the mean of a group."""

    kind: Literal["group", "row", "mean"]
    name: str
    cells: tuple[Cell, ...] = ()


class Column(NamedTuple):
    """A column: head of its group, its own, whether it may be moved to a block of its own, and whether it has words."""

    group: str
    head: str
    apart: bool = False
    words: bool = False


@dataclass(frozen=True)
class Grid:
    """A table as it is printed."""

    columns: list[Column]
    lines: list[Line] = field(default_factory=list)
    stub: str = ""  # head of the names

    def text(self, width: int | None = None) -> str:
        """Return the table in lines of a width, in blocks of columns where all do not fit; names cut there follow."""
        width = _WIDTH.get() or 10_000 if width is None else width
        blocks = [list(range(len(self.columns)))]
        cut = False
        if not self._fits(blocks[0], width, cut):
            near, far = ([k for k in blocks[0] if self.columns[k].apart is apart] for apart in (False, True))
            blocks = [block for block in (near, far) if block]
            if not all(self._fits(block, width, cut) for block in blocks):
                cut = not all(self._fits([k], width, cut) for block in blocks for k in block)
                blocks = [part for block in blocks for part in self._parts(block, width, cut)]
        found = "\n\n".join(self._block(block, cut, len(blocks) > 1) for block in blocks)
        names = [line.name for line in self.lines if cut and display_width(line.name) > MOST_NAME]
        return found + (f"\n\nNames in full: {'; '.join(names)}." if names else "")

    def _parts(self, block: list[int], width: int, cut: bool) -> Iterator[list[int]]:
        part: list[int] = []
        for k in block:
            if part and not self._fits([*part, k], width, cut):
                yield part
                part = []
            part.append(k)
        yield part

    def _fits(self, block: list[int], width: int, cut: bool) -> bool:
        return max(map(display_width, self._rows(block, cut)), default=0) <= width

    def _block(self, block: list[int], cut: bool, several: bool) -> str:
        lines = self._rows(block, cut)
        if several:
            numbers = f"{block[0] + 1}" if len(block) == 1 else f"{block[0] + 1}–{block[-1] + 1}"
            together = block == list(range(block[0], block[-1] + 1))
            where = numbers if together else ", ".join(str(k + 1) for k in block)
            lines = [f"  columns {where} of {len(self.columns)}", *lines]
        return "\n".join(line.rstrip() for line in lines)

    def _rows(self, block: list[int], cut: bool) -> list[str]:
        names = [line.name if not cut else shortened(line.name) for line in self.lines]
        stub = max(map(display_width, names), default=0)
        cells = [
            [_joined(line.cells[k], self._parts_of(k)) if line.cells else "" for k in block] for line in self.lines
        ]
        widths = [
            max([display_width(self.columns[k].head), *(display_width(row[i]) for row in cells)])
            for i, k in enumerate(block)
        ]
        groups = [
            (head, [i for i, _ in each]) for head, each in groupby(enumerate(block), lambda e: self.columns[e[1]].group)
        ]
        for head, own in groups:  # a head that is wider than its columns
            room = sum(widths[i] for i in own) + 3 * (len(own) - 1)
            widths[own[0]] += max(0, display_width(head) - room)
        above = "".join("   " + _right(head, sum(widths[i] for i in own) + 3 * (len(own) - 1)) for head, own in groups)
        lines = [" " * (2 + stub) + above] if any(head for head, _ in groups) else []
        lines.append(
            " " * (2 + stub) + "".join("   " + _right(self.columns[k].head, widths[i]) for i, k in enumerate(block))
        )
        for line, name, row in zip(self.lines, names, cells, strict=True):
            body = "".join("   " + _right(cell, widths[i]) for i, cell in enumerate(row)) if line.cells else ""
            lines.append("  " + _left(name, stub if line.cells else 0) + body)
        return lines

    def _parts_of(self, k: int) -> tuple[int, int]:
        own = [line.cells[k] for line in self.lines if line.cells]
        with_error = [cell for cell in own if cell.error]
        return (
            max((display_width(cell.text) for cell in with_error), default=0),
            max((display_width(cell.error) for cell in with_error), default=0),
        )

    def markdown(self) -> str:
        """Return a pipe table."""
        heads = [self.stub, *(" ".join(filter(None, (column.group, column.head))) for column in self.columns)]
        rows = [heads, ["---", *("---" if column.words else "---:" for column in self.columns)]]
        for line in self.lines:
            shown = [markdown(_plain(cell)) for cell in line.cells] or [""] * len(self.columns)
            name = markdown(line.name)
            rows.append([f"*{name}*" if line.kind != "row" and name else name, *shown])
        rows[0] = [markdown(head) for head in heads]
        return "\n".join(f"| {' | '.join(row)} |" for row in rows)

    def latex(self, *, caption: str, label: str, notes: Iterable[str]) -> str:
        """Return a ``table`` that needs the package booktabs alone."""
        named = [*self.columns, *(line.name for line in self.lines)]
        latin = all(_is_latin(str(part)) for name in named for part in ([name] if isinstance(name, str) else name[:2]))
        errors = [any(line.cells and line.cells[k].error for line in self.lines) for k in range(len(self.columns))]
        sides = ["l" if column.words else "r" for column in self.columns]
        shape = "l" + "".join(r"r@{\,$\pm$\,}r" if error else side for error, side in zip(errors, sides, strict=True))
        count = 1 + sum(2 if error else 1 for error in errors)
        out = [] if latin else ["% XeLaTeX or LuaLaTeX, and a font that has these letters"]
        out += [r"\begin{table}", r"\centering", rf"\caption{{{tex(caption)}}}", rf"\label{{{tex_label(label)}}}"]
        out += [rf"\begin{{tabular}}{{{shape}}}", r"\toprule"]
        start, heads, rules = 2, [], []
        for head, each in groupby(range(len(self.columns)), lambda k: self.columns[k].group):
            span = sum(2 if errors[k] else 1 for k in each)
            heads.append(rf"\multicolumn{{{span}}}{{c}}{{{tex(head)}}}")
            rules.append(rf"\cmidrule(lr){{{start}-{start + span - 1}}}")
            start += span
        if any(column.group for column in self.columns):
            out += [" & " + " & ".join(heads) + r" \\", " ".join(rules)]
        spans = [
            rf"\multicolumn{{{2 if errors[k] else 1}}}{{{sides[k]}}}{{{tex(c.head)}}}"
            for k, c in enumerate(self.columns)
        ]
        out += [" & ".join([tex_row(tex(self.stub)), *spans]) + r" \\", r"\midrule"]
        for place, line in enumerate(self.lines):
            if line.kind == "group":
                out += [r"\midrule"] if place else []
                out.append(rf"\multicolumn{{{count}}}{{l}}{{\emph{{{tex(line.name)}}}}} \\")
                continue
            parts = []
            for cell, error in zip(line.cells, errors, strict=True):
                if not error:
                    parts.append(tex(cell.text))
                elif cell.error:
                    parts.append(f"{tex(cell.text)} & {tex(cell.error)}")
                else:
                    parts.append(rf"\multicolumn{{2}}{{r}}{{{tex(cell.text)}}}")
            out.append(tex_row(" & ".join([tex(line.name), *parts])) + r" \\")
        out += [r"\bottomrule", r"\end{tabular}"]
        out += [rf"\par\footnotesize {tex(note)}" for note in notes]
        return "\n".join([*out, r"\end{table}"])

    def html(self, caption: str) -> str:
        """Return a ``table`` with a caption, whose text is escaped."""
        groups = [(head, len(list(each))) for head, each in groupby(self.columns, lambda column: column.group)]
        above = "".join(f'<th scope="colgroup" colspan="{count}">{escape(head)}</th>' for head, count in groups)
        looks = ["" if column.words else ' class="number"' for column in self.columns]
        named = zip(looks, self.columns, strict=True)
        heads = "".join(f'<th scope="col"{look}>{escape(column.head)}</th>' for look, column in named)
        rows = [f"<tr><td></td>{above}</tr>"] if any(head for head, _ in groups) else []
        rows.append(f"<tr><td>{escape(self.stub)}</td>{heads}</tr>")
        body = []
        for line in self.lines:
            if line.kind == "group":
                span = 1 + len(self.columns)
                body.append(f'<tr><th scope="rowgroup" colspan="{span}">{escape(line.name)}</th></tr>')
                continue
            cells = "".join(
                f"<td{look}>{escape(_plain(cell))}</td>" for look, cell in zip(looks, line.cells, strict=True)
            )
            body.append(f'<tr><th scope="row">{escape(line.name)}</th>{cells}</tr>')
        above_all = f"<caption>{escape(caption)}</caption>" if caption else ""
        return f"<table>{above_all}<thead>{''.join(rows)}</thead><tbody>{''.join(body)}</tbody></table>"


class Shown(NamedTuple):
    """A table of a result as all forms show it: a frame or a grid with its name, a caption of 40 words, and notes."""

    content: "pd.DataFrame | Grid | None" = None
    name: str = ""
    caption: str = ""
    notes: Iterable[str] = ()
    printing: Mapping[str, Any] = {}

    def text(self) -> str:
        """Return caption, table and notes below one another."""
        body = "" if self.content is None else self._body()
        table = "\n".join(filter(None, [self.caption, body]))
        return ("\n\n" if body else "\n").join(filter(None, [table, "\n".join(self.notes)]))

    def _body(self) -> str:
        content: Any = self.content
        return content.text() if isinstance(content, Grid) else frame_text(content, **self.printing)

    @property
    def grid(self) -> Grid | None:
        """The table with its cells as they are printed."""
        if self.content is None or isinstance(self.content, Grid):
            return self.content
        return grid_of(self.content, **self.printing)


def grid_of(frame: "pd.DataFrame", **printing: Any) -> Grid:
    """Return a data frame as a grid, with the cells that `frame_text` prints.

    Examples
    --------
    >>> import pandas as pd
    >>> grid_of(pd.DataFrame({"nats": [0.1, -0.25]}, pd.Index(["deu", "fra"]))).lines[0]
    Line(kind='row', name='deu', cells=(Cell(text='0.10', error=''),))
    """
    import pandas as pd  # slow to import

    indexed = printing.pop("index", True)
    printing.pop("index_names", None)
    levels = frame.index.nlevels if indexed else 0
    table = frame.reset_index(allow_duplicates=True) if indexed else frame
    heads = [_head(name) for name in table]
    heads[:levels] = [str(name or "") for name in frame.index.names[:levels]]
    cells = [_texts(table.iloc[:, [k]], printing) for k in range(table.shape[1] if len(table) else 0)]
    columns = []
    for k, name in list(enumerate(table))[1:]:
        group, head = (str(name[0]), _head(name[1:])) if isinstance(name, tuple) and k >= levels else ("", heads[k])
        columns.append(Column(group, head, words=not pd.api.types.is_numeric_dtype(table.dtypes.iloc[k])))
    lines = [Line("row", name, tuple(map(Cell, row))) for name, *row in zip(*cells, strict=True)]
    return Grid(columns, lines, heads[0] if heads else "")


def _texts(column: "pd.DataFrame", printing: Mapping[str, Any]) -> list[str]:
    """Return the cells of a column as they are printed."""
    import pandas as pd  # slow to import

    with pd.option_context("display.unicode.east_asian_width", True):
        cells = column.to_string(**{"na_rep": MISSING, **printing, "index": False, "header": False})
        return [text.strip() for text in cells.split("\n")]


def display_width(text: str) -> int:
    """Return the columns that a text takes on a terminal: East Asian wide letters two, combining ones none.

    Examples
    --------
    >>> display_width("汉语"), display_width("e\u0301")
    (4, 1)
    """
    if text.isascii():
        return len(text)
    return sum(
        0
        if unicodedata.category(letter) in ("Mn", "Me", "Cf")
        else 2
        if unicodedata.east_asian_width(letter) in "WF"
        else 1
        for letter in text
    )


def line_width() -> int:
    """Return the columns of the terminal, at least 60; 80 where output goes elsewhere."""
    return row_width() or 80


def row_width() -> int | None:
    """Return the columns of the terminal, at least 60; None where output goes elsewhere, so that rows stay whole."""
    stream = getattr(sys.stdout, "rich_proxied_file", sys.stdout)
    if "COLUMNS" not in os.environ and not (stream and stream.isatty()):
        return None
    return max(60, shutil.get_terminal_size((80, 24)).columns)


@contextmanager
def in_lines(width: int | None) -> Iterator[None]:
    """Print tables in blocks of columns that fit lines of a width, inside the block; None for rows as they are."""
    token = _WIDTH.set(width)
    try:
        yield
    finally:
        _WIDTH.reset(token)


def folded(text: str, width: int) -> list[str]:
    """Return a text in lines of a width; a word that is longer, such as a path, has a line of its own.

    A signature that is longer is broken at its bars.

    Examples
    --------
    >>> folded("no word is broken", 10)
    ['no word is', 'broken']
    """
    lines = [""]
    for word in text.split():
        parts = [word] if display_width(word) <= width else re.findall(r"[^|]*\||[^|]+$", word)
        for k, part in enumerate(parts):
            space = " " if lines[-1] and k == 0 else ""
            if lines[-1] and display_width(f"{lines[-1]}{space}{part}") > width:
                lines.append("")
                space = ""
            lines[-1] += space + part
    return lines


def filled(text: str, width: int | None = None) -> str:
    """Return a text whose sentences go on in the next line where they are longer than a line; rows of tables stay.

    Examples
    --------
    >>> print(filled("a sentence that goes on", 16))
    a sentence that
    goes on
    """
    width = line_width() if width is None else width
    found = []
    for line in text.split("\n"):
        words = line.strip()
        if display_width(line) <= width or "  " in words:
            found.append(line)
        else:
            indent = line[: len(line) - len(line.lstrip())]
            found += [indent + part for part in folded(words, width - len(indent))]
    return "\n".join(found)


def frame_text(frame: "pd.DataFrame", width: int | None = None, **printing: Any) -> str:
    """Return a data frame as text, in blocks of columns below one another where it is wider than a line.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"nats": [0.1, -0.1], "percent": [10.5, -9.5]}, pd.Index(["deu", "fra"]))
    >>> print(frame_text(frame, width=14))
         nats
    deu   0.1
    fra  -0.1
    <BLANKLINE>
         percent
    deu     10.5
    fra     -9.5
    """
    import pandas as pd  # slow to import

    width = _WIDTH.get() if width is None else width
    with pd.option_context("display.unicode.east_asian_width", True, "display.multi_sparse", False):
        whole: str = frame.to_string(**{"na_rep": MISSING, **printing})
    if width is None or all(display_width(line) <= width for line in whole.split("\n")):
        return whole
    return filled(whole, width) if frame.empty else frame_blocks(frame, width, **printing)


def frame_blocks(frame: "pd.DataFrame", width: int, **printing: Any) -> str:
    """Return a data frame with rows as text in lines of a width, words on the left and numbers on the right.

    Parameters and blocks are those of `frame_text`; cells of words are folded where one does not fit.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"name": ["deu", "eng"], "n": [10, 9], "what": ["a text", "another text"]})
    >>> print(frame_blocks(frame, 22, index=False))
    name   n  what
    deu   10  a text
    eng    9  another text
    """
    indexed = printing.pop("index", True)
    stubs = frame.index.nlevels if indexed else _telling(frame)
    named = printing.pop("index_names", True) and any(frame.index.names)
    table = frame.reset_index(allow_duplicates=True) if indexed else frame
    heads = [_head(name) if k >= stubs or named or not indexed else "" for k, name in enumerate(table)]
    columns = [_filled_cells(table.iloc[:, [k]], head, width, printing) for k, head in enumerate(heads)]
    if sum(map(_width, columns)) + GAP * (len(columns) - 1) <= width:
        return _side_by_side(columns)
    room = max(LEAST, width // (2 * stubs) - GAP)
    names = [_filled_cells(table.iloc[:, [k]], heads[k], room, printing) for k in range(stubs)]
    room = max(LEAST, width - sum(_width(each) + GAP for each in names))
    blocks: list[list[list[list[str]]]] = []
    used = width
    for k in range(stubs, len(heads)):
        column = _filled_cells(table.iloc[:, [k]], heads[k], room, printing)
        if used + GAP + _width(column) > width:
            blocks.append(names)
            used = sum(map(_width, names)) + GAP * (stubs - 1)
        blocks[-1] = [*blocks[-1], column]
        used += GAP + _width(column)
    return "\n\n".join(map(_side_by_side, blocks or [names]))


def _telling(frame: "pd.DataFrame") -> int:
    """Return how many of the first columns, all of words, tell the rows apart; 1 if they do not."""
    import pandas as pd  # slow to import

    for count in range(1, min(MOST_STUBS, frame.shape[1] - 1) + 1):
        if pd.api.types.is_numeric_dtype(frame.dtypes.iloc[count - 1]):
            break
        if not frame.iloc[:, :count].duplicated().any():
            return count
    return 1


def _head(name: Any) -> str:
    parts = name if isinstance(name, tuple) else (name,)
    return " ".join(str(part) for part in parts if part is not None and str(part))


def _filled_cells(column: "pd.DataFrame", head: str, room: int, printing: dict[str, Any]) -> list[list[str]]:
    """Return the head and the cells of a column, each as lines of one width; words are folded, numbers stand right."""
    import pandas as pd  # slow to import

    place = _right if pd.api.types.is_numeric_dtype(column.dtypes.iloc[0]) else _left
    texts = _texts(column, printing)
    cells = [folded(text, room) if display_width(text) > room else [text] for text in (head, *texts)]
    width = max(display_width(line) for cell in cells for line in cell)
    return [[place(line, width) for line in cell] for cell in cells]


def _width(column: list[list[str]]) -> int:
    return display_width(column[0][0])


def _side_by_side(columns: list[list[list[str]]]) -> str:
    lines = []
    for row in zip(*columns, strict=True):
        for k in range(max(map(len, row))):
            parts = [cell[k] if k < len(cell) else " " * display_width(cell[0]) for cell in row]
            lines.append((" " * GAP).join(parts).rstrip())
    return "\n".join(lines)


def shortened(name: str, most: int = MOST_NAME) -> str:
    """Return a name cut to some columns, with an ellipsis.

    Examples
    --------
    >>> shortened("a name that is too long")
    'a name that is to…'
    """
    if display_width(name) <= most:
        return name
    while display_width(name) > most - 1:
        name = name[:-1]
    return f"{name}…"


def signed(value: float, digits: int) -> str:
    """Return a number with its sign; the minus sign is U+2212.

    Examples
    --------
    >>> signed(-0.04, 1), signed(8.54, 1)
    ('+0.0', '+8.5')
    """
    return f"{value:+z.{digits}f}".replace("-", MINUS)


def tex(text: str) -> str:
    r"""Return a text with the characters escaped that LaTeX reads as commands.

    Examples
    --------
    >>> tex("50 % of a_b")
    '50 \\% of a\\_b'
    """
    marks = {
        "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
        "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
        "|": r"\textbar{}", "±": r"$\pm$", MINUS: r"$-$", "–": "--", "×": r"$\times$",
        "∞": r"$\infty$", "…": r"\ldots{}",
    }  # fmt: skip
    apart = re.sub(r"([-'`])(?=\1)|([?!])(?=`)", "\\g<0>\0", text)  # two of these would be one letter
    return "".join(marks.get(letter, letter) for letter in apart).replace("\0", "{}")


def tex_row(row: str) -> str:
    r"""Return a row of a table in LaTeX, which the command before it cannot take for an argument.

    Examples
    --------
    >>> tex_row("[deu] & 1"), tex_row("deu & 1")
    ('{}[deu] & 1', 'deu & 1')
    """
    return f"{{}}{row}" if row.startswith(("[", "*")) else row


def tex_label(text: str) -> str:
    """Return a label that LaTeX accepts: other characters than letters, digits and a few marks become hyphens."""
    return re.sub(r"[^\w:.+/ -]", "-", text)


def markdown(text: str) -> str:
    r"""Return a text as Markdown shows it: no HTML, no link, no code and no cell of a table begins in it.

    Examples
    --------
    >>> markdown("[l](x) <b> a|b")
    '\\[l\\](x) &lt;b> a\\|b'
    """
    text = re.sub(r"&(?=#?\w+;)", "&amp;", text).replace("<", "&lt;")  # what looks like an entity is none
    return re.sub(r"([\\|*_`\[\]])", r"\\\1", text).replace("\n", " ")


def _plain(cell: Cell) -> str:
    return f"{cell.text} ± {cell.error}" if cell.error else cell.text


def _joined(cell: Cell, parts: tuple[int, int]) -> str:
    if not cell.error:
        return cell.text
    return f"{_right(cell.text, parts[0])} ±{_left(cell.error, parts[1])}"


def _right(text: str, width: int) -> str:
    return " " * (width - display_width(text)) + text


def _left(text: str, width: int) -> str:
    return text + " " * (width - display_width(text))


def _is_latin(text: str) -> bool:
    return all(not letter.isalpha() or "LATIN" in unicodedata.name(letter, "") for letter in text)
