"""USJ, the JSON of USFM: one folder or archive per edition, one file per book.

An object has a ``type`` that is the name of an element of USX, a ``marker`` that is its style, and what it holds as
its ``content``: see `langdiff.corpora.formats.usx`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from langdiff.base.archives import File
from langdiff.base.io import read_lines, strict_json
from langdiff.corpora.faults import Faults
from langdiff.corpora.files import suffixes_of
from langdiff.corpora.formats.bible import Verses
from langdiff.corpora.formats.format import Format, begins_with
from langdiff.corpora.formats.usfm_markers import BooksText, BookText, catalogue_books
from langdiff.corpora.formats.usx import UsxEvents
from langdiff.errors import DataError

SUFFIXES = suffixes_of(".usj", ".json")
MAX_DEPTH = 100  # objects inside objects
_VERSE = re.compile(r'"type"\s*:\s*"verse"')


@dataclass(frozen=True)
class UsjText(BooksText):
    """Source of the verses in the books of an edition."""

    def read_book(self, file: File, verses: Verses, faults: Faults) -> BookText:
        """Read one file and add its verses; return the content of the book."""
        events = UsxEvents(file, verses, faults, self.markers)
        read = read_lines(file, errors=self.decode_errors, on_fault=events.damaged)
        text = "\n".join(line for _, line in read)
        try:
            content = strict_json(text)
        except ValueError as error:
            raise DataError(f"{file}: not JSON that can be read: {error}.") from error
        if not isinstance(content, dict) or content.get("type") != "USJ":
            raise DataError(f"{file}: is not USJ: the file must be one object whose type is 'USJ'.")
        lines = _lines_of_verses(text)
        line = 1

        def current() -> int:
            return line

        events.follow(current)
        for step in _walk(content, file):
            if isinstance(step, str):
                events.data(step)
            elif step is None:
                events.end("")
            else:
                tag, attributes = step
                if tag == "verse":
                    line = next(lines, line)
                events.start(tag, attributes)
        events.close()
        return events.content


def _walk(content: dict[str, Any], file: File) -> Iterator[str | tuple[str, dict[str, str]] | None]:
    """Yield the texts, and the beginnings (type and attributes) and ends (None) of objects, in the order of a file."""
    stack: list[Iterator[Any]] = [iter([content])]
    while stack:
        if len(stack) > MAX_DEPTH:
            raise DataError(f"{file}: more than {MAX_DEPTH} nested objects.")
        for part in stack[-1]:
            if isinstance(part, str):
                yield part
                continue
            if not isinstance(part, dict) or not isinstance(part.get("type"), str):
                raise DataError(f"{file}: is not USJ: {part!r:.60} is neither text nor an object with a type.")
            inside = part.get("content", [])
            if not isinstance(inside, list):
                raise DataError(f"{file}: is not USJ: the content {inside!r:.60} is not a list.")
            attributes = {name: value for name, value in part.items() if isinstance(value, str)}
            attributes["style"] = attributes.get("marker", "")
            yield part["type"].removeprefix("table:"), attributes
            stack.append(iter(inside))
            break
        else:
            stack.pop()
            if stack:
                yield None


def _lines_of_verses(text: str) -> Iterator[int]:
    """Yield the lines of the objects that are verses; quotation marks in texts are escaped, so that none match."""
    line, place = 1, 0
    for match in _VERSE.finditer(text):
        line += text.count("\n", place, match.start())
        place = match.start()
        yield line


FORMAT = Format(
    name="usj",
    suffixes=SUFFIXES,
    catalogue=partial(catalogue_books, suffixes=SUFFIXES, source=UsjText),
    options=("ranges", "markers"),
    beginning=begins_with(r'\{[^{}\[\]]*?"type"\s*:\s*"(?i:usj)"'),
)
