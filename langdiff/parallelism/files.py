"""Reading and writing annotated documents, and passages of them as plain text and as HTML.

XML of words, and the exchange table of pyrallelism, name parallelisms by identifiers. Words carry
``parallelism_id_k`` and ``branch_id_k`` for stratum k, from 1; -1 stands for none. A word is the attribute ``cont``
or, where that is missing, the text of the element. Sections are ``section`` and ``para``.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Literal, get_args
from xml.sax.saxutils import quoteattr

from langdiff.base.archives import File, unpacked
from langdiff.base.io import as_paths, file_names, files_of, name_of_file, read_blocks, read_lines, write_texts
from langdiff.base.suspicion import Doubts, report
from langdiff.base.types import check_choice, check_kind
from langdiff.base.xml import XmlEvents, read_xml
from langdiff.errors import ConfigError, DataError, listing, option, warn
from langdiff.parallelism.branches import MAX_STRATA, NONE, TokenList, check_characters, identifiers
from langdiff.parallelism.documents import Document, enclosing_first, nesting
from langdiff.parallelism.running_text import brat_texts, read_brat, read_text_xml, write_text_xml

_IDENTIFIER = re.compile(r"(parallelism|branch)_id_(.*)", re.DOTALL)
_WHOLE = re.compile(r"-1|[0-9]{1,9}")
SECTIONS = ("section", "para")
_DECLARATION = '<?xml version="1.0" encoding="utf-8"?>'


def read_word_xml(file: File, name: str, *, predicted: bool) -> Document:
    """Return the document of a file."""
    events = _Words(file)
    read_xml(file, events, errors=None)
    return events.found.document(name, predicted=predicted)


class _Words(XmlEvents):
    """Collects words."""

    def __init__(self, file: File) -> None:
        super().__init__(file)
        self.found = TokenList(str(file))
        self._section = ""
        self._strata = MAX_STRATA
        self._text: list[str] | None = None  # of the open word
        self._attributes: dict[str, str] = {}

    def begin(self, tag: str, attributes: dict[str, str]) -> None:
        if self._text is not None and tag in (*SECTIONS, "word"):
            raise self.unusable(f"<{tag}> inside of a <word>.")
        if len(self.open) == 1 and (count := attributes.get("stratum_count")) is not None:
            if not _WHOLE.fullmatch(count) or not 0 <= int(count) <= MAX_STRATA:
                raise self.unusable(f"stratum_count is a number from 0 to {MAX_STRATA}; got {count!r}.")
            self._strata = int(count)
        if tag in SECTIONS:
            self.found.end_section("")  # of words before the first section
            self._section = attributes.get("id", "")
        elif tag == "word":
            self._text, self._attributes = [], attributes
        elif tag == "parallelism":
            raise self.unusable("<parallelism> in a file of words; branches are attributes of the words there.")

    def data(self, text: str) -> None:
        if self._text is not None and self.open[-1] == "word":
            self._text.append(text)

    def finish(self, tag: str) -> None:
        if tag in SECTIONS:
            self.found.end_section(self._section)
        elif tag == "word":
            token = self._attributes.get("cont", "".join(self._text or ()).strip())
            self.found.add(token, self._identifiers(), self.line)
            self._text = None

    def _identifiers(self) -> dict[int, tuple[int, int]]:
        """Return the identifiers of parallelism and branch by stratum."""
        found: dict[int, dict[str, int]] = {}
        for key, value in self._attributes.items():
            if not (match := _IDENTIFIER.fullmatch(key)):
                continue
            unit, stratum = match.groups()
            if not _WHOLE.fullmatch(stratum) or not 1 <= int(stratum) <= self._strata:
                raise self.unusable(f"the attribute {key!r} does not name a stratum from 1 to {self._strata}.")
            if not _WHOLE.fullmatch(value):
                raise self.unusable(f"{key} is a whole number, or -1 for none; got {value!r}.")
            found.setdefault(int(stratum), {})[unit] = int(value)
        return {
            stratum: (units.get("parallelism", NONE), units.get("branch", NONE)) for stratum, units in found.items()
        }


def write_word_xml(document: Document) -> str:
    """Return the XML of a document as a tokenised sermon, or for pyrallelism, which needs the number of strata."""
    n_strata, by_token = identifiers(document)
    check_characters(document)
    lines = [_DECLARATION, f'<sermon id={quoteattr(document.name)} stratum_count="{n_strata}">']
    for section in document.sections:
        lines.append(f"\t<section id={quoteattr(section.name)}>")
        for number, place in enumerate(range(section.start, section.end), 1):
            cont = quoteattr(document.tokens[place])
            lines.append(f'\t\t<word id="{number}" cont={cont}{_attributes(by_token[place])}/>')
        lines.append("\t</section>")
    return "\n".join([*lines, "</sermon>", ""])


def write_essay_xml(document: Document) -> str:
    """Return the XML of a document as an essay; every paragraph is written as one sentence."""
    _, by_token = identifiers(document)
    check_characters(document)
    lines = [_DECLARATION, "<doc>"]
    for section in document.sections:
        cont = quoteattr("".join(document.tokens[section.start : section.end]))
        lines += [f"\t<para id={quoteattr(section.name)}>", f'\t\t<sent id="0" cont={cont}>']
        for number, place in enumerate(range(section.start, section.end)):
            attributes = _attributes(by_token[place], first=0)
            lines.append(f'\t\t\t<word id="{number}"{attributes}>{escape(document.tokens[place], quote=False)}</word>')
        lines += ["\t\t</sent>", "\t</para>"]
    return "\n".join([*lines, "</doc>", ""])


def _attributes(own: dict[int, tuple[int, int]], *, first: int = 1) -> str:
    return "".join(
        f' parallelism_id_{stratum + 1}="{number - 1 + first}" branch_id_{stratum + 1}="{branch}"'
        for stratum, (number, branch) in sorted(own.items())
    )


def read_token_table(path: Path, name: str, *, predicted: bool) -> Document:
    """Return the document of a file; the table has no sections."""
    found = TokenList(str(path))
    columns = 0
    for line, row in read_lines(path):
        token, *cells = row.split("\t")
        if line == 1:
            columns = len(cells)
            if columns % 2 or columns > 2 * MAX_STRATA:
                what = (
                    f"{columns} columns besides the token; there are two per stratum, of at most {MAX_STRATA} strata."
                )
                raise found.fault(line, what)
            continue
        if len(cells) != columns:
            what = f"{len(cells)} identifiers, but line 1 names {columns} (two per stratum)."
            raise found.fault(line, what)
        if odd := [cell for cell in cells if not _WHOLE.fullmatch(cell)]:
            raise found.fault(line, f"identifiers are whole numbers, or {NONE} for none; got {odd[0]!r}.")
        numbers = [int(cell) for cell in cells]
        pairs = zip(numbers[::2], numbers[1::2], strict=True)
        found.add(token, dict(enumerate(pairs, 1)), line)
    return found.document(name, predicted=predicted)


def write_token_table(document: Document) -> str:
    """Return the table of a document."""
    n_strata, by_token = identifiers(document)
    names = [f"{unit}_id_{k}" for k in range(1, n_strata + 1) for unit in ("parallelism", "branch")]
    lines = ["\t".join(["token", *names])]
    for token, own in zip(document.tokens, by_token, strict=True):
        cells = [str(one) for k in range(n_strata) for one in own.get(k, (NONE, NONE))]
        lines.append("\t".join([token, *cells]))
    return "\n".join([*lines, ""])


ParallelismFormat = Literal["brat", "text-xml", "word-xml", "essay-xml", "tsv"]
ParallelismSource = str | Path | Iterable[str | Path]

ENDINGS = (".ann", ".xml", ".tsv")
_FIRST = re.compile(r"<(word|parallelism)[\s/>]")
_ANNOTATED = "_annotated"  # at the end of names of the published files; not part of the document's name
_READERS: dict[str, Callable[..., Document]] = {
    "brat": read_brat,
    "text-xml": read_text_xml,
    "word-xml": read_word_xml,
    "essay-xml": read_word_xml,
    "tsv": read_token_table,
}
_WRITERS: dict[str, Callable[[Document], str]] = {
    "text-xml": write_text_xml,
    "word-xml": write_word_xml,
    "essay-xml": write_essay_xml,
    "tsv": write_token_table,
}
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


def read_parallelisms(
    source: ParallelismSource,
    *,
    format: ParallelismFormat | None = None,
    predicted: bool = False,
    trust: Sequence[str] = (),
) -> dict[str, Document]:
    r"""Read annotated documents, one per file.

    Parameters
    ----------
    source : str, Path or several of them
        Files, or folders of files, plain or compressed (``.gz``, ``.bz2``, ``.xz``).
    format : {"brat", "text-xml", "word-xml", "essay-xml", "tsv"}, optional
        Format of all files: pairs of ``.ann`` and ``.txt``; XML of running text; XML of words as that of tokenised
        sermons, of essays, and of pyrallelism (these two are read alike); the table of pyrallelism. By default the
        ending of a file says it, and of XML what is in it.
    predicted : bool
        Whether parallelisms of a single branch are taken, as predictions have them; by default they are an error.
    trust : sequence of str
        Kinds of doubt not to raise: ``brat_lines``, lines of brat that say nothing of parallelisms and are skipped.

    Returns
    -------
    dict from str to Document
        Documents by name (the name of the file without its ending and ``_annotated``), sorted.

    Raises
    ------
    ConfigError
        If the format or a kind of doubt is unknown.
    DataError
        If a file cannot be read or does not hold an annotated document (the message names file and line), there is
        none, or two files have one name.

    Warns
    -----
    LangdiffWarning
        If branches of brat annotation are in no relation, or texts of a folder have no annotation, and are left out, or
        lines of brat are skipped.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "1.tsv").write_text("token\tp\tb\nhe\t1\t1\nran\t1\t1\nshe\t1\t2\nsat\t1\t2\n")
    ...     read_parallelisms(folder)["1"].parallelisms
    (Parallelism(branches=((0, 2), (2, 4)), kind=None),)
    """
    if format is not None and format not in get_args(ParallelismFormat):
        raise ConfigError(
            f"{option('format')} is None or one of {', '.join(get_args(ParallelismFormat))}; got {format!r}."
        )
    doubts = Doubts(trust)
    found: dict[str, tuple[Path, Document]] = {}
    for path in _files(source):
        name = document_name(path)
        if name in found:
            raise DataError(f"{path} and {found[name][0]} are both of document {name!r}; give one file per document.")
        kind = format or _format(path)
        options = {"doubts": doubts} if kind == "brat" else {}
        found[name] = (path, _READERS[kind](path, name, predicted=predicted, **options))
    if not found:
        where = ", ".join(map(str, as_paths(source)))
        raise DataError(f"{where}: no files of annotated documents ({', '.join(ENDINGS)}).")
    report(doubts.judged())
    return {name: document for name, (_, document) in sorted(found.items())}


def write_parallelisms(
    documents: Mapping[str, Document], directory: str | Path, *, format: ParallelismFormat = "word-xml"
) -> list[Path]:
    r"""Write annotated documents, one per file; only brat keeps their kinds, and the table has no sections.

    Parameters
    ----------
    documents : mapping from str to Document
        Documents by name, which is that of the file.
    directory : str or Path
        Folder of the files; it is made if it is missing.
    format : {"brat", "text-xml", "word-xml", "essay-xml", "tsv"}
        Format of all files; see `read_parallelisms`.

    Returns
    -------
    list of Path
        Files written.

    Raises
    ------
    ConfigError
        If the format is unknown.
    DataError
        If a format cannot hold a document, or the name of a document is not that of a file. Nothing is written then.
    OutputError
        If a file cannot be written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from langdiff.parallelism import Parallelism, make_document
    >>> document = make_document("1", ["he", "ran", ",", "she", "sat"], [Parallelism(((0, 2), (3, 5)))])
    >>> with TemporaryDirectory() as folder:
    ...     _, path = write_parallelisms({"1": document}, folder, format="brat")
    ...     path.name, path.read_text().splitlines()[1:]
    ('1.ann', ['T2\tParallelArm 9 16\tshe sat', 'R1\tParallel Arg1:T1 Arg2:T2\t'])
    """
    check_choice("format", format, get_args(ParallelismFormat))
    check_kind(documents, Mapping, "documents are given by name, {'1': …}")
    texts: dict[str, str] = {}
    for (_, name), document in zip(file_names(documents, "document(s)").items(), documents.values(), strict=True):
        if format == "brat":
            texts[f"{name}.txt"], texts[f"{name}.ann"] = brat_texts(document)
        else:
            texts[f"{name}.{'tsv' if format == 'tsv' else 'xml'}"] = _WRITERS[format](document)
    return write_texts(directory, texts)


def document_name(path: Path) -> str:
    """Return the name of the document that a file holds.

    Examples
    --------
    >>> document_name(Path("tokenized/18_annotated.xml.gz"))
    '18'
    """
    stem = name_of_file(unpacked(path).stem)
    return stem.removesuffix(_ANNOTATED) or stem


def _format(path: Path) -> ParallelismFormat:
    ending = unpacked(path).suffix
    if ending in (".ann", ".txt"):
        return "brat"
    if ending == ".tsv":
        return "tsv"
    if ending != ".xml":
        raise DataError(f"{path}: the ending {ending!r} names no format. Name it: {option('format', 'word-xml')}.")
    for block in read_blocks(path, errors=None):
        if first := _FIRST.search(block.text):
            return "word-xml" if first[1] == "word" else "text-xml"
    return "text-xml"  # of a text without any parallelism


def _files(source: ParallelismSource) -> list[Path]:
    """Return the files of a source, with only the annotation of each pair of text and annotation in a folder."""
    for folder in filter(Path.is_dir, as_paths(source)):
        files = files_of(folder, wanted=lambda file: unpacked(file).suffix in (".ann", ".txt"))
        annotated = {unpacked(file).stem for file in files if unpacked(file).suffix == ".ann"}
        lone = [file.name for file in files if unpacked(file).stem not in annotated]
        if annotated and lone:
            warn(f"{folder}: {len(lone)} text(s) have no annotation and are not read: {listing(lone)}.")
    return files_of(source, wanted=lambda file: unpacked(file).suffix in ENDINGS)


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
    """Yield the tokens of a span, each with the branches that open before and close after it, inner ones first."""
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
