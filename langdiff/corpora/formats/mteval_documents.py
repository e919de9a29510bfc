"""Documents of test sets of machine translation in SGML or XML, read as events tolerant of formatting errors.

Only the elements that a format names are markup; any other ``<`` is text, and so is a ``&`` that begins no known
entity. Names of elements and attributes may be in upper or lower case, values without quotation marks, end tags missing
or wrong. Well-formed XML is read as well. Nothing is read from other files, and no entity is defined by a file: there
are the numeric ones (``&#228;``) and those that HTML names (``&amp;``, ``&auml;``), with their semicolon.
"""

import html
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from html.entities import html5

from langdiff.base.archives import File
from langdiff.base.io import read_lines
from langdiff.base.iso639 import iso639_3
from langdiff.corpora.faults import Events, Faults, Place
from langdiff.corpora.formats.bible import one_spaced
from langdiff.errors import DataError

MAX_TAG = 10_000  # characters; a longer tag would have to be held in memory, and is not one
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
# to its > as long as quotation marks are in pairs, else to the first >, or to the tag after it
_REST_OF_TAG = re.compile(r"""((?:"[^"<]*"|'[^'<]*'|[^<>"'])*)>|([^<>]*)(?:>|(?=<))""")
_ATTRIBUTE = re.compile(r"""([^\s=<>"'/]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>][^\s>]*))""")
_ENDS = {"!--": "-->", "![CDATA[": "]]>"}  # of what is not a tag; of declarations and instructions it is >
_SETS = ("srcset", "refset", "tstset", "dataset")
_TEXTS = ("src", "ref", "hyp", "supplemental")  # of a <doc> of a <dataset>
_PARTS = ("mteval", "collection", "doc", "p", "hl", "h1", "seg")
# not ISO 639, but found in test sets
_NOT_ISO = {"chs": "zho", "cht": "zho", "cn": "zho", "cz": "ces", "dk": "dan", "gr": "ell", "jp": "jpn", "ua": "ukr"}
_NAMES = (  # of NIST's languages, and of those of WMT's first years
    "arabic:ara chinese:zho czech:ces dari:prs english:eng farsi:fas french:fra german:deu hindi:hin hungarian:hun "
    "korean:kor pashto:pus persian:fas russian:rus spanish:spa urdu:urd"
)
_CODES = _NOT_ISO | dict(pair.split(":") for pair in _NAMES.split())
_UNKNOWN = frozenset({"", "any", "mul", "un", "und", "xx"})
_IN_NAME = re.compile(r"\.(?!src|ref|tst)([a-z]{2,3}(?:[-_][a-z]{2,4})?)\.(?:sgml?|xml)(?:\.[a-z0-9]+)?\Z", re.I)


def read_sgml(file: File, events: Events, elements: Iterable[str], *, errors: str = "strict") -> None:
    """Parse a file line by line and call `events`, without holding the file or a comment in memory."""
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


@dataclass
class Document:
    """Document of a test set in one language, as an author or translator wrote it.

    Attributes
    ----------
    test_set, name : str
        Names of the set and of the document in it.
    language : str
        Language of the text, in ISO 639-3 if the file has a code.
    translator : str
        What the file calls the translator or the reference; ``""`` for a source whose translator is not named.
    refid : str
        Name of the refset, ``""`` if it has none or this is a source.
    is_source : bool
        Whether the text was what systems translated.
    original_language : str
        Language in which the document was first written, ``""`` if not known.
    where : Place
        File and line of the set.
    segments : dict from str to (str, int)
        Text, ``""`` if missing, and line of every segment.
    """

    test_set: str
    name: str
    language: str
    translator: str
    refid: str
    is_source: bool
    original_language: str
    where: Place
    segments: dict[str, tuple[str, int]] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, ...]:
        """Set, name, original language, language and translator, which no two documents of a file share."""
        return self.test_set, self.name, self.original_language, self.language, self.translator


def read_documents(file: File, faults: Faults, *, errors: str = "strict") -> list[Document]:
    """Return the sources and references in a file, without the output of translation systems."""
    events = _Documents(file, faults)
    read_sgml(file, events, (*_SETS, *_TEXTS, *_PARTS), errors=errors)
    return events.documents


def language_code(said: str) -> str:
    """Return the ISO 639-3 code of a test set's language, the given name if it has no code, ``""`` if none is given.

    Examples
    --------
    >>> [language_code(said) for said in ("cz", "DE", "zh-CN", "Arabic", "any", "Elvish")]
    ['ces', 'deu', 'zho', 'ara', '', 'Elvish']
    """
    code = re.split("[-_]", said.strip().lower())[0]
    if code in _UNKNOWN:
        return ""
    return _CODES.get(code) or iso639_3(code) or said.strip()


class _Documents(Events):
    """Handler of XML events that collects the documents of a file."""

    def __init__(self, file: File, faults: Faults) -> None:
        super().__init__(file, faults)
        self.documents: list[Document] = []
        self._set: tuple[str, Place, dict[str, str]] | None = None  # kind, where, attributes
        self._has_sets = False
        self._refsets: dict[tuple[str, str], Place] = {}  # where the refset of each set and refid is
        self._attributes: dict[str, str] = {}  # of the document that is open
        self._document: Document | None = None
        self._owners: dict[tuple[str, ...], Document] = {}  # what holds each segment of each text
        self._segment: tuple[str, Place] | None = None  # its name and where it is
        self._text: list[str] = []

    def begin(self, tag: str, attributes: dict[str, str]) -> None:
        if tag in ("p", "hl", "h1"):
            self.data(" ")
            return
        self._end_segment()
        if tag in _SETS:
            self._begin_set(tag, attributes)
        elif self._set is not None and self._set[0] != "tstset":
            if tag == "doc":
                self._begin_document(attributes)
            elif tag in _TEXTS and self._set[0] == "dataset":
                self._begin_text(tag, attributes)
            elif tag == "seg":
                self._begin_segment(attributes)

    def data(self, text: str) -> None:
        if self._segment is not None:
            self._text.append(text)

    def finish(self, tag: str) -> None:
        if tag in ("p", "hl", "h1"):
            self.data(" ")
            return
        self._end_segment()
        if tag in _SETS:
            self._set = self._document = None
        elif tag == "doc":
            self._document, self._attributes = None, {}
        elif tag in _TEXTS and self._set is not None and self._set[0] == "dataset":
            self._document = None

    def close(self) -> None:
        if self._set is not None:
            kind, where, _ = self._set
            raise self.unusable(f"ends within the <{kind}> of line {where.line}. It may have been cut off.")
        if not self._has_sets:
            raise DataError(f"{self.file}: holds no <srcset>, <refset> or <dataset>, so that it is not a test set.")

    def _begin_set(self, tag: str, attributes: dict[str, str]) -> None:
        if self._set is not None:
            raise self.unusable(f"a {tag} in the {self._set[0]} of line {self._set[1].line}.")
        if tag == "refset" and "refid" in attributes:
            refid = attributes["refid"].strip()
            if not refid:
                raise self.unusable("a <refset> has no refid. Add the name of the reference.")
            first = self._refsets.setdefault((attributes.get("setid", ""), refid), self.where())
            if first != self.where():
                raise self.unusable(f"refset {refid!r} is there twice, first in line {first.line}.")
        self._set, self._has_sets = (tag, self.where(), attributes), True
        self._document, self._attributes = None, {}

    def _begin_document(self, attributes: dict[str, str]) -> None:
        kind, _, of_set = self._set or ("", "", {})
        self._attributes = attributes
        self._document = None
        if kind != "dataset":
            refid = of_set.get("refid", "").strip() if kind == "refset" else ""
            translator = refid or attributes.get("refid") or attributes.get("sysid") or "reference"
            said = of_set.get("trglang" if kind == "refset" else "srclang", "")
            self._open(kind == "srcset", said, "" if kind == "srcset" else translator.strip(), refid)

    def _begin_text(self, tag: str, attributes: dict[str, str]) -> None:
        self._document = None
        if tag in ("src", "ref"):
            self._open(tag == "src", attributes.get("lang", ""), attributes.get("translator", "").strip(), "")

    def _open(self, is_source: bool, said: str, translator: str, refid: str) -> None:
        """Continue the document with these attributes, or begin a new one."""
        of_set = self._set[2] if self._set else {}
        name = (self._attributes.get("docid") or self._attributes.get("id") or "").strip()
        if not name:
            self.fault("a <doc> without docid, so that it is left out.")
            return
        language = language_code(said) or self._language_of_name()
        if not language and not refid:
            raise self.unusable(
                f"the language of this text is given neither here ({said!r}) nor in the file's name. Rename the "
                "file to NAME.LANGUAGE.sgm."
            )
        original = self._attributes.get("origlang") or of_set.get("srclang", "")
        self._document = Document(
            test_set=(of_set.get("setid") or of_set.get("id") or "").strip(),
            name=name,
            language=language,
            translator=translator,
            refid=refid,
            is_source=is_source,
            original_language=language_code(original),
            where=self._set[1] if self._set else self.where(),
        )
        self.documents.append(self._document)

    def _language_of_name(self) -> str:
        match = _IN_NAME.search(self.file.name)
        return language_code(match[1]) if match else ""

    def _begin_segment(self, attributes: dict[str, str]) -> None:
        name = attributes.get("id", "").strip()
        if self._document is None:
            # others are of a system, or of a document without name, which is a fault already
            if self._set is not None and self._set[0] != "dataset" and not self._attributes:
                self.fault("a <seg> outside of <doc>.", name or None)
        elif not name:
            self.fault("a <seg> without id.")
        else:
            self._segment, self._text = (name, self.where()), []

    def _end_segment(self) -> None:
        if self._segment is None or self._document is None:
            return
        document, (name, where) = self._document, self._segment
        self._segment = None
        intent, text = f"{document.name}/{name}", "".join(self._text)
        first = self._owners.setdefault((*document.key, str(document.is_source), name), document)
        if name in first.segments:
            line = first.segments[name][1]
            what = f"segment {intent!r} is there twice, first in line {line}; it is not known which text is right, and "
            self.faults.add(self.file, where.line, what + "neither is used.", intent=intent)
            first.segments[name] = "", line
            return
        if self.damage.is_in(text, where, intent) or not text.strip():
            text = ""
        document.segments[name] = one_spaced(text), where.line
