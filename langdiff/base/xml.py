"""Reading of XML as a stream of events, without expanding entities or opening other files."""

import codecs
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from langdiff.base.archives import File
from langdiff.base.io import DAMAGED, Block, is_utf16, read_blocks, read_utf16
from langdiff.errors import DataError, Fault, FaultsError

_DECLARED = re.compile(r"""<\?xml[^>]*encoding\s*=\s*["']([\w.-]+)["']""")
MAX_DEPTH = 200  # nested elements; real files have less than twenty
_FORBIDDEN = re.compile("[\x01-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")  # characters that XML cannot hold
_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_DAMAGED_END = re.compile(rf"{DAMAGED}[{DAMAGED}\s]*\Z")


class NotWellFormedError(FaultsError):
    """An XML file is not well-formed; everything before the place has been processed."""


class XmlEvents:
    """Handler of XML events; readers override `begin`, `finish` and `data`.

    Attributes
    ----------
    file : Path or Member
        The file, for messages.
    open : list of str
        The elements that are open, without their namespaces, outermost first.
    has_ended : bool
        Whether the outermost element has ended.
    """

    def __init__(self, file: File) -> None:
        self.file = file
        self.open: list[str] = []
        self.has_ended = False
        self._line: Callable[[], int] = lambda: 0

    @property
    def line(self) -> int:
        """Number of the current line, from 1."""
        return self._line()

    def follow(self, line: Callable[[], int]) -> None:
        """Let `line` be what a function returns, where the events come from something else than XML."""
        self._line = line

    def unusable(self, what: str) -> FaultsError:
        """Return an error at the current line, for a fault that makes the whole file unusable."""
        return FaultsError([Fault(str(self.file), self._line(), what)])

    def begin(self, tag: str, attributes: dict[str, str]) -> None:
        """Process the start of an element, which `open` already contains."""

    def finish(self, tag: str) -> None:
        """Process the end of an element, which `open` still contains."""

    def data(self, text: str) -> None:
        """Process text."""

    def damaged(self, line: int, what: str) -> None:
        """Process a line that is not text, before its text is passed on; by default raise an error."""
        raise FaultsError([Fault(str(self.file), line, what)])

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Receive the beginning of an element from the parser."""
        self.open.append(tag.rpartition("}")[2])
        if len(self.open) > MAX_DEPTH:
            raise self.unusable(f"more than {MAX_DEPTH} nested elements.")
        self.begin(self.open[-1], attributes)

    def end(self, _: str) -> None:
        """Receive the end of an element from the parser."""
        self.finish(self.open[-1])
        self.open.pop()
        self.has_ended = not self.open

    def close(self) -> None:
        """Process the end of the file."""


def read_xml(
    file: File,
    events: XmlEvents,
    *,
    errors: str | None = "strict",
    encoding: str = "utf-8",
    utf16: bool = False,
) -> None:
    """Read an XML file as events, never holding it in memory as a whole."""
    from defusedxml import DefusedXmlException  # type: ignore[import-untyped]
    from defusedxml.ElementTree import ParseError, XMLParser  # type: ignore[import-untyped]

    parser: Any = XMLParser(target=events)
    events._line = lambda: parser.parser.CurrentLineNumber
    try:
        if utf16 and is_utf16(file):
            blocks = read_utf16(file)
        else:
            blocks = read_blocks(file, errors=errors, on_fault=events.damaged, encoding=encoding)
        for text in _fit_for_xml(blocks, events):
            parser.feed(text)  # as str: read_blocks has decoded it, whatever the declaration says
        parser.close()
    except ParseError as error:
        row, column = error.position
        why = str(error).partition(":")[0].removeprefix("not well-formed ").strip("()")
        if events.has_ended:
            why = "the document has ended before, and what follows is not read"
        what = f"not well-formed XML in column {column + 1}: {why}."
        raise NotWellFormedError([Fault(str(file), row, what)]) from error
    except DefusedXmlException as error:
        raise events.unusable(
            f"defines entities or refers to another file ({type(error).__name__}), which can fill memory or read "
            "private files. Replace the entities by their text."
        ) from error


def _fit_for_xml(blocks: Iterator[Block], events: XmlEvents) -> Iterator[str]:
    """Yield the text of blocks with `DAMAGED` for what XML cannot hold, but without damage at the end of the file."""
    held: list[str] = []  # damage that may be the end
    for block in blocks:
        text = block.text
        if _FORBIDDEN.search(text):
            for number, line in enumerate(text.split("\n"), block.first):
                if found := _FORBIDDEN.search(line):
                    events.damaged(number, f"the character U+{ord(found[0]):04X}, which XML cannot hold.")
            text = _FORBIDDEN.sub(DAMAGED, text)
        if held and not text.strip(f"{DAMAGED} \t\r\n"):
            held.append(text)
            continue
        if held:
            yield "".join(held)
        end = _DAMAGED_END.search(text) if DAMAGED in text else None
        held = [end[0]] if end else []
        yield text[: end.start()] if end else text


def check_writable(texts: Iterable[tuple[str, str]]) -> None:
    """Check that XML can hold texts, each of which comes after its name."""
    for what, text in texts:
        if odd := _NOT_XML.search(text):
            code = f"U+{ord(odd[0]):04X}"
            raise DataError(f"{what} holds the character {code}, which XML cannot. Remove it, or use another format.")


def declared_encoding(file: File, error: FaultsError) -> str:
    """Return the encoding that the declaration names, for a file that is not UTF-8."""
    head = next(iter(read_blocks(file, encoding="latin-1"))).text[:200]
    named = _DECLARED.match(head)
    if named is None:
        what = f"{error.faults[0].fault} Or let its first line name its encoding: <?xml version='1.0' encoding='…'?>."
        raise FaultsError([error.faults[0]._replace(fault=what)])
    try:
        ascii_too = bytes(range(128)).decode(named[1]) == bytes(range(128)).decode("ascii")
        found = codecs.lookup(named[1]).name
    except (LookupError, UnicodeDecodeError):
        ascii_too, found = False, ""
    if not ascii_too or found == "utf-8":
        what = f"{error.faults[0].fault} It declares the encoding {named[1]!r}, which does not help."
        raise FaultsError([error.faults[0]._replace(fault=what)])
    return found
