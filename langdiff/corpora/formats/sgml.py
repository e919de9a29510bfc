r"""Reading of SGML as used in test sets of machine translation, as a stream of events tolerant of formatting errors.

Only the elements that a format names are markup; any other ``<`` is text, and so is a ``&`` that begins no known
entity. Names of elements and attributes may be in upper or lower case, values without quotation marks, end tags missing
or wrong. Well-formed XML is read as well. Nothing is read from other files, and no entity is defined by a file: there
are the numeric ones (``&#228;``) and those that HTML names (``&amp;``, ``&auml;``), with their semicolon.
"""

import html
import re
from collections.abc import Iterable
from html.entities import html5

from langdiff.base.archives import File
from langdiff.base.io import read_lines
from langdiff.corpora.faults import Events

MAX_TAG = 10_000  # characters; a longer tag would have to be held in memory, and is not one
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
# to its > as long as quotation marks are in pairs, else to the first >, or to the tag after it
_REST_OF_TAG = re.compile(r"""((?:"[^"<]*"|'[^'<]*'|[^<>"'])*)>|([^<>]*)(?:>|(?=<))""")
_ATTRIBUTE = re.compile(r"""([^\s=<>"'/]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>][^\s>]*))""")
_ENDS = {"!--": "-->", "![CDATA[": "]]>"}  # of what is not a tag; of declarations and instructions it is >


def read_sgml(file: File, events: Events, elements: Iterable[str], *, errors: str = "strict") -> None:
    """Parse a file line by line and call `events`, without holding the file or a comment in memory.

    Parameters
    ----------
    file : Path or Member
        The file.
    events : Events
        Handler of the tags and the text: `begin` and `finish` are called once per tag, with its name in lower case,
        whether or not the tags match one another; `close` at the end of the file.
    elements : iterable of str
        Names, in lower case, of the elements that are markup.
    errors : {"strict", "replace"}
        Whether bytes that are not UTF-8 are an error or become U+FFFD.

    Raises
    ------
    FaultsError
        If it cannot be read, has a tag of more than `MAX_TAG` characters, ends within a tag, comment or declaration,
        or declares entities; the message names file and line.
    """
    scanner = _Scanner(events, elements)
    events._line = lambda: scanner.line
    try:
        for number, line in read_lines(file, errors=errors, on_fault=events.damage.note):
            scanner.line = number
            scanner.feed(line + "\n")
        scanner.finish()
        events.close()
    finally:
        events.damage.close()


class _Scanner:
    """Scanner that divides lines into tags, text, and parts without text."""

    def __init__(self, events: Events, elements: Iterable[str]) -> None:
        self.line = 0
        self._events = events
        names = "|".join(map(re.escape, elements))
        self._markup = re.compile(rf"<(?:(!--|!\[CDATA\[|!(?=[A-Za-z])|\?(?=[A-Za-z]))|(/?)({names})(?=[\s/<>]))", re.I)
        self._tag = ""  # beginning of a tag that goes on in the next line
        self._within: tuple[str, int] | None = None  # what is not a tag and has not ended, and the line where it began

    def feed(self, line: str) -> None:
        text, self._tag = self._tag + line, ""
        at = 0
        while at < len(text):
            if self._within:
                at = self._pass_over(text, at)
                continue
            match = self._markup.search(text, at)
            if match is None:
                self._add(text[at:])
                return
            self._add(text[at : match.start()])
            if match[1]:
                self._within, at = (match[1], self.line), match.end()
                continue
            rest = _REST_OF_TAG.match(text, match.end())
            if rest is None:
                self._tag = self._short(text[match.start() :])
                return
            self._call(match[3].lower(), bool(match[2]), rest[1] or rest[2] or "")
            at = rest.end()

    def finish(self) -> None:
        if self._tag or self._within:
            what, line = self._within or (self._tag[1:20].strip(), self.line)
            raise self._events.unusable(f"ends within the <{what} of line {line}. It may have been cut off.")

    def _pass_over(self, text: str, at: int) -> int:
        """Skip a comment or declaration, or pass on the text of a CDATA section; return the position of its end."""
        opening = self._within[0] if self._within else ""
        close = _ENDS.get(opening, ">")
        end = text.find(close, at)
        inside = text[at : end if end >= 0 else None]
        if opening == "![CDATA[":
            self._events.data(inside)
        elif opening == "!" and ("[" in inside or inside[:6].upper() == "ENTITY"):
            raise self._events.unusable(
                "declares entities or elements of its own, which can fill memory or read private files. "
                "Replace entities by their text and remove the declaration."
            )
        if end < 0:
            return len(text)
        self._within = None
        return end + len(close)

    def _add(self, text: str) -> None:
        if text:
            self._events.data(unescape(text))

    def _short(self, tag: str) -> str:
        if len(tag) > MAX_TAG:
            raise self._events.unusable(f"a tag of more than {MAX_TAG:,} characters: {tag[:20]!r} ….")
        return tag

    def _call(self, name: str, is_end: bool, attributes: str) -> None:
        is_empty = attributes.endswith("/")
        if not is_end:
            found: dict[str, str] = {}
            for key, double, single, bare in _ATTRIBUTE.findall(self._short(attributes.removesuffix("/"))):
                found.setdefault(key.lower(), unescape(double or single or bare))
            self._events.begin(name, found)
        if is_end or is_empty:
            self._events.finish(name)


def unescape(text: str) -> str:
    """Return the text with numeric entities and those of HTML replaced; others are left unchanged.

    Examples
    --------
    >>> unescape("AT&T &amp; M&uuml;ller &lt;&#97;&gt; R&D; &notit;")
    'AT&T & Müller <a> R&D; &notit;'
    """
    return _ENTITY.sub(_character, text) if "&" in text else text


def _character(entity: re.Match[str]) -> str:
    name = entity[0][1:]
    return html.unescape(entity[0]) if name.startswith("#") else html5.get(name, entity[0])
