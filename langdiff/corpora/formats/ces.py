"""The XML Bibles of Christodoulopoulos & Steedman: one file an edition, one ``<seg>`` a verse."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from langdiff._archives import File
from langdiff.corpora.files import Paths, find_files, suffixes_of
from langdiff.corpora.formats.bible import (
    NUMBERS,
    UNNUMBERED,
    VerseFile,
    Verses,
    catalogue_verses,
    check_options,
    verse_id,
)
from langdiff.corpora.formats.xml import Events, read_xml
from langdiff.corpora.iso639 import iso639_3
from langdiff.corpora.metadata import find_metadata
from langdiff.errors import DataError
from langdiff.multitext import Multitext

SUFFIXES = suffixes_of(".xml")
_ID = re.compile(r"b\.([A-Za-z0-9]{3})\.([0-9]{1,3})\.([0-9]{1,3})")
_SAID = {"h.title": "title", "availability": "licence", "language": "language_name"}
_USFM = {  # the corpus's own codes: those of USFM
    "SON": "SNG", "EZE": "EZK", "JOE": "JOL", "NAH": "NAM", "MAR": "MRK", "JOH": "JHN", "PHI": "PHP", "PHL": "PHP",
    "PLM": "PHM", "JAM": "JAS", "1JO": "1JN", "2JO": "2JN", "3JO": "3JN",
}  # fmt: skip


@dataclass(frozen=True)
class CesText(VerseFile):
    """The verses of one file."""

    def verses(self, header: dict[str, str]) -> Iterator[tuple[str, str | None]]:
        """Yield (id, text or None if missing); put what the header says into `header`."""
        events = _CesEvents(self.file)
        read_xml(self.file, events, errors=self.errors)
        header.update(events.header())
        yield from events.verses.items()


def read_ces(
    path: Paths,
    *,
    metadata: str | Path | None = None,
    editions: Iterable[str] | None = None,
    nfc: bool = True,
    errors: str = "strict",
    progress: bool | None = None,
) -> Multitext:
    r"""Catalogue Bibles in the Corpus Encoding Standard; the texts stay in their files until asked for.

    A file is XML in UTF-8 with one ``<seg id="b.GEN.1.1" type="verse">`` a verse. Its header gives
    language (``<language iso639="deu">``), title and licence. Books have the codes of USFM, or those
    of this corpus where they differ (``b.MAR`` is Mark). White space, which the files use for
    indentation, becomes single. Notes are left out.

    Parameters
    ----------
    path, metadata, editions, nfc, errors, progress
        As for `read_pbc`; files end in ``.xml``, ``.xml.gz``, ``.xml.bz2`` or ``.xml.xz``.

    Returns
    -------
    Multitext
        Its intents are verse ids as of `read_pbc`. Verses of books that have no number there are
        left out; the column ``left_out`` of `edition_info` names these books.

    Raises
    ------
    DataError
        If a file is not well-formed XML, defines entities, or has a verse whose id is malformed, out
        of range or there twice; otherwise as `read_pbc`.
    ConfigError
        If `errors` is unknown.

    References
    ----------
    Christodoulopoulos & Steedman (2015), "A massively parallel corpus: the Bible in 100 languages",
    Language Resources and Evaluation.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "German.xml").write_text(
    ...         '<cesDoc><text><seg id="b.MAR.1.1" type="verse">\n  Dies ist\n</seg></text></cesDoc>'
    ...     )
    ...     print(read_ces(folder).text("German").to_dict())
    {'41001001': 'Dies ist'}
    """
    check_options(errors)
    files = find_files(path, SUFFIXES, editions)
    texts = {edition: CesText(file, nfc=nfc, errors=errors) for edition, file in files.items()}
    table = find_metadata(files, metadata)
    return catalogue_verses(texts, table, in_order_of_metadata=editions is None, progress=progress)


class _CesEvents(Events):
    """Gathers verses, and what the header says of the edition."""

    def __init__(self, file: File) -> None:
        super().__init__(file)
        self.verses = Verses("missing")
        self.left_out: dict[str, None] = {}
        self._said: dict[str, list[str]] = {}
        self._language: str | None = None
        self._verse: tuple[str | None, str] | None = None  # id (None: of a book without number), where
        self._text: list[str] = []
        self._depth = 0  # of the verse

    def header(self) -> dict[str, str]:
        said = {column: " ".join("".join(pieces).split()) for column, pieces in self._said.items()}
        said["language"] = self._language or ""
        said["left_out"] = " ".join(self.left_out)
        return {column: value for column, value in said.items() if value}

    def begin(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "language" and "cesHeader" in self.open and self._language is None:
            self._language = iso639_3(attributes.get("iso639"))
        if tag != "seg" or attributes.get("type") != "verse":
            return
        if self._verse is not None:
            raise DataError(f"{self.where()}: a verse in the verse of {self._verse[1]}.")
        self._verse = self._id(attributes.get("id", "")), self.where()
        self._text, self._depth = [], len(self.open)

    def data(self, text: str) -> None:
        if self._verse is not None:
            if "note" not in self.open:
                self._text.append(text)
        elif self.open and self.open[-1] in _SAID and "cesHeader" in self.open:
            self._said.setdefault(_SAID[self.open[-1]], []).append(text)

    def finish(self, _: str) -> None:
        if self._verse is not None and len(self.open) == self._depth:
            verse, where = self._verse
            if verse is not None:
                self.verses.add([verse], "".join(self._text), where)
            self._verse = None

    def _id(self, given: str) -> str | None:
        match = _ID.fullmatch(given)
        if not match:
            raise DataError(f"{self.where()}: expected the id of a verse as 'b.GEN.1.1', got {given[:40]!r}.")
        book = _USFM.get(match[1].upper(), match[1].upper())
        if book in UNNUMBERED:
            self.left_out[book] = None
            return None
        verse = verse_id(book, int(match[2]), int(match[3]))
        if verse is None:
            what = "is out of range (chapter 1-151, verse 0-176)" if book in NUMBERS else "is of an unknown book"
            raise DataError(f"{self.where()}: verse {given!r} {what}.")
        return verse
