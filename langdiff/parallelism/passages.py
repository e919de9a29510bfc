"""Passages with their branches marked, as plain text and as HTML, of one or two annotations of a document."""

from collections.abc import Iterator, Mapping
from html import escape

from langdiff.errors import ConfigError, DataError
from langdiff.parallelism.documents import Document
from langdiff.parallelism.enclosing import enclosing_first, nesting

CHIASM = "χ"  # behind the number of a chiastic parallelism
COLOURS = ("#2a6f97", "#b5532a", "#5b8c3a", "#7a5195", "#b8860b", "#4aa3a2")
_CLOSING = set(",.;:?!)]}»”’，。；：？！、）")  # no space before these
_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_STYLE = """body { font: 16px/2.3 serif; max-width: 46em; margin: 2em auto; color: #222; }
h2 { font: bold 14px sans-serif; margin: 1.5em 0 0; } ul { font: 13px/1.5 sans-serif; margin: 0; padding-left: 1.2em; }
.branch { border: 2px solid; border-radius: 4px; padding: 4px 3px; } .branch .branch { padding: 0 3px; }
.chiastic { border-style: dashed; } sub { font: bold 11px sans-serif; }"""

Sides = Mapping[str, Document]
Labels = Mapping[str, Mapping[int, str]]
_Mark = tuple[str, int, bool]  # "open" or "close", number of the parallelism, whether it is chiastic


def passage_text(sides: Sides, *, section: str | None = None, labels: Labels | None = None) -> str:
    """Return a passage as plain text: branches in brackets, each with the number of its parallelism.

    Parameters
    ----------
    sides : mapping from str to Document
        One annotation of a document or two by name, such as ``{"gold": …, "predicted": …}``; they are put one above
        the other.
    section : str, optional
        Name of the section to show; by default the whole document.
    labels : mapping, optional
        Of each side, labels by number of the parallelism, such as categories of errors; listed below the passage.

    Returns
    -------
    str
        The passage. ``χ`` follows the number of a chiastic parallelism; brackets and characters that a terminal would
        act on are escaped.

    Raises
    ------
    ConfigError
        If there are not one or two sides, no section of the name, or labels of another side.
    DataError
        If the two sides have different tokens.

    Examples
    --------
    >>> from langdiff.parallelism import Parallelism, make_document
    >>> document = make_document("1", "he came , she saw".split(), [Parallelism(((0, 2), (3, 5)))])
    >>> print(passage_text({"gold": document}))
    [he came]₁, [she saw]₁
    """
    start, end = _span(sides, section, labels)
    blocks = []
    for name, document in sides.items():
        words = "".join(_text_pieces(document, start, end))
        notes = [f"  {number} {label}" for number, label in _notes(document, start, end, (labels or {}).get(name, {}))]
        blocks.append("\n".join([*([f"{_plain(name)}:"] if len(sides) > 1 else []), words, *notes]))
    return "\n".join(blocks)


def passage_html(sides: Sides, *, section: str | None = None, labels: Labels | None = None) -> str:
    """Return a passage as a page of HTML: branches in boxes, each with the colour and number of its parallelism.

    Parameters
    ----------
    sides, section, labels
        One or two annotations by name, the section to show, and labels of parallelisms; see `passage_text`.

    Returns
    -------
    str
        The page, which needs no other file. Boxes of chiastic parallelisms are dashed, with ``χ`` behind
        their numbers.

    Raises
    ------
    ConfigError
        If there are not one or two sides, no section of the name, or labels of another side.
    DataError
        If the two sides have different tokens, or branches overlap without being nested.

    Examples
    --------
    >>> from langdiff.parallelism import Parallelism, make_document
    >>> document = make_document("1", "he < she <".split(), [Parallelism(((0, 2), (2, 4)))])
    >>> page = passage_html({"gold": document})
    >>> print(page[page.index("<p>") : page.index("</span>")])
    <p><span class="branch" style="border-color: #2a6f97">he &lt;<sub>1</sub>
    """
    start, end = _span(sides, section, labels)
    body = []
    for name, document in sides.items():
        if nesting(document.parallelisms) == "overlapping":
            raise DataError(
                f"Document {document.name} ({name}): overlapping branches cannot be boxes; show it as text."
            )
        heading = f"<h2>{escape(name)}</h2>\n" if len(sides) > 1 else ""
        body.append(f"{heading}<p>{''.join(_html_pieces(document, start, end))}</p>")
        if notes := _notes(document, start, end, (labels or {}).get(name, {})):
            items = "".join(f"<li>{number} {escape(label)}</li>" for number, label in notes)
            body.append(f"<ul>{items}</ul>")
    title = escape(
        next(iter(sides.values())).name if section is None else f"{next(iter(sides.values())).name}, {section}"
    )
    head = f'<meta charset="utf-8">\n<title>{title}</title>\n<style>\n{_STYLE}\n</style>'
    return "\n".join(
        ["<!DOCTYPE html>", "<html>", f"<head>\n{head}\n</head>", "<body>", *body, "</body>", "</html>", ""]
    )


def _span(sides: Sides, section: str | None, labels: Labels | None) -> tuple[int, int]:
    """Return the tokens to show, after checks."""
    if not 1 <= len(sides) <= 2:
        raise ConfigError(f"a passage has one or two sides; got {len(sides)}.")
    if unknown := set(labels or {}) - set(sides):
        raise ConfigError(f"there are labels of {sorted(unknown)[0]!r}, but the sides are {', '.join(sides)}.")
    first, *others = sides.values()
    for other in others:
        if other.tokens != first.tokens:
            raise DataError(
                f"Document {first.name}: the two sides have different tokens ({len(first.tokens):,} and "
                f"{len(other.tokens):,}). Show two annotations of one text."
            )
    if section is None:
        return 0, len(first.tokens)
    for one in first.sections:
        if one.name == section:
            return one.start, one.end
    known = ", ".join(repr(one.name) for one in first.sections[:10])
    raise ConfigError(f"Document {first.name} has no section {section!r}; the first are {known}.")


def _marks(document: Document, start: int, end: int) -> Iterator[tuple[list[_Mark], str, list[_Mark]]]:
    """Yield the tokens of a span, each with what opens before it and what closes behind it, inner branches first."""
    opening: dict[int, list[_Mark]] = {}
    closing: dict[int, list[_Mark]] = {}
    for begin, stop, number in enclosing_first(document.parallelisms):
        if begin < end and stop > start:
            chiastic = document.parallelisms[number].kind == "chiastic"
            opening.setdefault(max(begin, start), []).append(("open", number + 1, chiastic))
            closing.setdefault(min(stop, end) - 1, []).insert(0, ("close", number + 1, chiastic))
    for place in range(start, end):
        yield opening.get(place, []), document.tokens[place], closing.get(place, [])


def _text_pieces(document: Document, start: int, end: int) -> Iterator[str]:
    for place, (opened, token, closed) in enumerate(_marks(document, start, end)):
        yield " " if place and (opened or token not in _CLOSING) else ""
        yield "[" * len(opened) + _plain(token)
        for _, number, chiastic in closed:
            yield "]" + str(number).translate(_SUBSCRIPTS) + CHIASM * chiastic


def _html_pieces(document: Document, start: int, end: int) -> Iterator[str]:
    for place, (opened, token, closed) in enumerate(_marks(document, start, end)):
        yield " " if place and (opened or token not in _CLOSING) else ""
        for _, number, chiastic in opened:
            kind = "branch chiastic" if chiastic else "branch"
            yield f'<span class="{kind}" style="border-color: {COLOURS[(number - 1) % len(COLOURS)]}">'
        yield escape(_printable(token))
        for _, number, chiastic in closed:
            yield f"<sub>{number}{CHIASM * chiastic}</sub></span>"


def _notes(document: Document, start: int, end: int, labels: Mapping[int, str]) -> list[tuple[int, str]]:
    """Return numbers and labels of the parallelisms that have a branch in a span."""
    shown = [
        number
        for number, one in enumerate(document.parallelisms, 1)
        if any(begin < end and stop > start for begin, stop in one.branches)
    ]
    return [(number, labels[number]) for number in shown if number in labels]


def _printable(text: str) -> str:
    return "".join(each if each.isprintable() else f"\\u{ord(each):04x}" for each in text)


def _plain(text: str) -> str:
    return _printable(text).replace("[", "\\[").replace("]", "\\]")
