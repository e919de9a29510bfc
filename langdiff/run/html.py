"""Pages and tables as HTML: all text escaped, numbers to sort by, digits that their errors allow."""

import base64
import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import jinja2
import numpy as np
import pandas as pd
from markupsafe import Markup
from pandas.api.types import is_numeric_dtype

from langdiff.base.cells import drop_controls, in_format
from langdiff.base.grids import MINUS

HERE = Path(__file__).parent
DATA = ("#0062b8", "#ce4b0b", "#009e73", "#4a0070", "#b279a0", "#8388ff", "#5e3300")  # of series in pictures
COLOURS = {colour: f"var(--{colour[1:]}, {colour})" for colour in DATA}  # in the page, by those in a picture
COLOURS |= {"#333333": "currentColor", "#000000": "currentColor", "#ffffff": "var(--page, #ffffff)"}
COLOURS |= {"#aaaaaa": "var(--grey, #7c7c7c)", "#d5d5d5": "var(--guide, #d5d5d5)"}
NAMES = {"lm": "language model", "r_hat": "R-hat"}
# others are the name of the column and _std_error
ERRORS = {"held_out_log_density": "held_out_std_error", "difference": "std_error", "difficulty": "std_error"}


def render_page(template: str, **shown: Any) -> str:
    """Return a page as text, without control characters."""
    loader = jinja2.FileSystemLoader(HERE)
    pages = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    style, script = ((HERE / name).read_text(encoding="utf-8") for name in ("report.css", "report.js"))
    page = pages.get_template(template).render(
        policy=policy_for(script),
        style=Markup(style),  # noqa: S704 our own file
        script=Markup(script),  # noqa: S704 our own file
        inline_svg=inline_svg,
        **shown,
    )
    return drop_controls(page)


def policy_for(script: str) -> str:
    """Return the Content-Security-Policy of a page that loads nothing, and executes one script only."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; base-uri 'none'; "
        "form-action 'none'"
    )


def inline_svg(name: str, svg: str, label: str) -> Markup:
    """Return a picture by Matplotlib as an element of a page, with the page's letters and colours.

    Text and axes have the colour of the page's text, data the colours that report.css gives to `DATA` in light and dark
    pages.

    Examples
    --------
    >>> inline_svg("a", '<?xml version="1.0"?><svg viewBox="0 0 1 1"><path style="fill: #0062b8"/></svg>', "A path.")
    Markup('<svg role="img" aria-label="A path." viewBox="0 0 1 1"><path style="fill: var(--0062b8, #0062b8)"/></svg>')
    """
    shown = re.sub(
        r"<metadata>.*?</metadata>|<style.*?</style>|<!--.*?-->", "", svg[svg.index("<svg") :], flags=re.DOTALL
    )
    shown = re.sub(r'^(<svg[^>]*?) width="[^"]*"', r"\1", re.sub(r'^(<svg[^>]*?) height="[^"]*"', r"\1", shown))
    own = f"p{hashlib.sha256(name.encode()).hexdigest()[:8]}-"
    for before in (' id="', 'href="#', "url(#"):
        shown = shown.replace(before, before + own)
    for colour, value in COLOURS.items():
        shown = shown.replace(f": {colour}", f": {value}")
    return Markup('<svg role="img" aria-label="{}"{}').format(label, Markup(shown.removeprefix("<svg")))  # noqa: S704 made here


class Measured(NamedTuple):
    """A number with the text of its error, which may be on a line of its own."""

    value: float
    text: str
    below: str = ""
    meaning: str = ""  # a class of the style, such as "harder"


def html_table(frame: pd.DataFrame, formats: Mapping[str, str] = MappingProxyType({})) -> Markup:
    """Format a frame whose cells are text, numbers or `Measured`; numbers align right, all text is escaped."""
    looks = [
        formats.get(str(name)) or next((f for end, f in formats.items() if str(name).endswith(end)), "{:,}")
        for name in frame.columns
    ]
    kinds = ["number" if _is_number(column) else "" for _, column in frame.items()]
    head = Markup().join(
        Markup("<th scope='col' class='{}'>{}</th>").format(kind, name)
        for name, kind in zip(frame.columns, kinds, strict=True)
    )
    rows = Markup().join(
        Markup("<tr>{}</tr>").format(_with_scope(Markup().join(map(_cell, row, looks, kinds))))
        for row in frame.itertuples(index=False, name=None)
    )
    return Markup("<table class='sortable'><thead><tr>{}</tr></thead><tbody>{}</tbody></table>").format(head, rows)


def _with_scope(cells: Markup) -> Markup:
    """Turn the first cell of a row into its head."""
    first, _, others = cells.partition("</td>")
    return Markup("<th scope='row'{}</th>{}").format(Markup(first.removeprefix("<td")), Markup(others))  # noqa: S704 escaped


def _is_number(column: pd.Series) -> bool:
    return is_numeric_dtype(column) or bool(column.map(lambda cell: isinstance(cell, Measured)).any())


def _cell(value: Any, look: str, kind: str) -> Markup:
    if isinstance(value, Measured):
        below = Markup("<br><small>{}</small>").format(value.below.replace("-", MINUS)) if value.below else ""
        kind = f"number {value.meaning}".rstrip()
        text = value.text.replace("-", MINUS)
        return Markup("<td class='{}' data-value='{:.9g}'>{}{}</td>").format(kind, value.value, text, below)
    if isinstance(value, str):  # a name is not broken, a sentence is
        return Markup("<td class='{}'>{}</td>").format("" if " " in value or len(value) > 40 else "name", value)
    if pd.isna(value):
        return Markup("<td class='{}'>–</td>").format(kind)
    # nine digits are enough to sort by, and do not depend on the order of summation
    return Markup("<td class='number' data-value='{:.9g}'>{}</td>").format(
        value, in_format(value, look).replace("-", MINUS)
    )


def tables_of(table: pd.DataFrame, caption: str = "") -> list[dict[str, str]]:
    """Return the caption, a sentence and the HTML of a table for a report; nothing if the table has no rows.

    Intervals and standard errors are put beside what they belong to, with two digits of the error; columns with the
    same value in all rows become a sentence.
    """
    if table.empty:
        return []
    words = _with_errors(table).rename(columns=lambda name: NAMES.get(name, str(name).replace("_", " ")))
    looks = {str(name): _look(str(name), words[name]) for name in words if is_numeric_dtype(words[name])}
    same = [name for name in words if len(words) > 1 and words[name].nunique(dropna=False) == 1][: words.shape[1] - 1]
    values = [f"{name} {_in_words(words[name].iloc[0], looks.get(str(name), '{}'))}" for name in same]
    return [
        {
            "caption": caption,
            "same": f"In all rows: {'; '.join(values)}." if values else "",
            "table": html_table(words.drop(columns=same), looks),
        }
    ]


def tables_by_model(table: pd.DataFrame) -> list[dict[str, str]]:
    """Return a table for each language model, as `tables_of`: for numbers that compare within one only."""
    if "lm" not in table or table["lm"].nunique() < 2:
        return tables_of(table)
    parts = table.groupby("lm", sort=False)
    return [shown for lm, rows in parts for shown in tables_of(rows.drop(columns="lm"), str(lm))]


def percent(rows: pd.DataFrame) -> pd.Series:
    """Return percent above average with its standard error, if that is known."""
    values = zip(rows["percent"], rows["percent_std_error"], strict=True)
    cells = [
        with_error(
            value,
            f"{value:+z.1f}",
            "–" if np.isnan(error) else f"{error:.1f}",
            "harder" if value > 0 else "easier",
        )
        for value, error in values
    ]
    return pd.Series(cells, rows.index)


def _in_words(value: Any, look: str) -> str:
    if isinstance(value, Measured):
        return (f"{value.text} ({value.below})" if value.below else value.text).replace("-", MINUS)
    if pd.isna(value):
        return "–"
    text = in_format(value, look)
    return text if isinstance(value, str) else text.replace("-", MINUS)


def _with_errors(table: pd.DataFrame) -> pd.DataFrame:
    """Join each number with its interval or its standard error, and replace truth values by yes and no."""
    columns: dict[str, Any] = {}
    done: set[str] = set()
    for name in map(str, table.columns):
        low, high = (f"{name}_low", f"{name}_high")
        error = f"{name}_std_error" if f"{name}_std_error" in table else ERRORS.get(name, "")
        if name in done:
            continue
        if low in table and high in table:
            columns[name] = [_interval(*row) for row in _rounded(table, [name, low, high], table[high] - table[low])]
            done |= {low, high}
        elif name == "low" and "high" in table:
            rows = _rounded(table, ["low", "high"], table["high"] - table["low"])
            columns["95 % interval"] = [
                Measured(low, f"{left} to {right}") if left != "–" else np.nan for low, left, right in rows
            ]
            done.add("high")
        elif error in table:
            rows = _rounded(table, [name, error], 2 * table[error])
            columns[name] = [with_error(*row) for row in rows]
            done.add(error)
        else:
            columns[name] = table[name].map(_yes_or_no)
    return pd.DataFrame(columns, index=table.index)


def _yes_or_no(cell: Any) -> Any:
    return ("yes" if cell else "no") if isinstance(cell, bool | np.bool_) else cell


def with_error(value: float, text: str, error: str, meaning: str = "") -> Any:
    """Return a number with its standard error; NaN where it is missing, and a dash for an unknown error."""
    if text == "–":
        return np.nan
    return Measured(value, text if error == "–" else f"{text} ± {error}", meaning=meaning)


def _interval(value: float, text: str, low: str, high: str) -> Any:
    if text == "–":
        return np.nan
    return Measured(value, text, "" if low == "–" else f"{low} to {high}")


def _rounded(table: pd.DataFrame, names: list[str], width: pd.Series) -> list[tuple[Any, ...]]:
    """Return, row by row, the first of the columns, and all of them as text with two digits of half the width.

    Where no width is known, or all are zero, they have three digits of the numbers.
    """
    known = (np.isfinite(width) & (width > 0)).any()
    digits = _decimals(width / 2, 2) if known else _decimals(table[names[0]].astype(float), 3)
    texts = [
        ["–" if np.isnan(x) else in_format(x, f"{{:,.{digits}f}}") for x in table[name].astype(float)] for name in names
    ]
    return list(zip(table[names[0]].astype(float), *texts, strict=True))


def _look(name: str, numbers: pd.Series) -> str:
    """Return a format for a column of which no error is known: whole numbers, two digits of a p, or three."""
    values = numbers.dropna().to_numpy(dtype=float)
    if name in ("p", "p adjusted", "p value", "p value of all"):
        return "{:.2g}"
    if (values == np.round(values)).all():
        return "{:,.0f}"
    near_one = name in ("R-hat", "reference bytes per character")
    return f"{{:,.{3 if near_one else _decimals(numbers, 3)}f}}"


def _decimals(numbers: pd.Series, digits: int) -> int:
    """Return the number of decimals with which the median number has the given number of digits."""
    sizes = np.abs(numbers.to_numpy(dtype=float))
    sizes = sizes[np.isfinite(sizes) & (sizes > 0)]
    return int(np.clip(digits - 1 - np.floor(np.log10(np.median(sizes))), 0, 6)) if len(sizes) else 0
