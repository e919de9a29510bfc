"""USFM, in which Bible translators work: one folder or archive an edition, one file a book."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from langdiff._archives import File, Member, is_archive
from langdiff._io import read_lines
from langdiff.corpora.files import Paths, edition_of, files_in, keep, suffixes_of
from langdiff.corpora.formats.bible import Ranges, Verses, VerseText, catalogue_verses, check_options
from langdiff.corpora.formats.usfm_markers import UsfmBook
from langdiff.corpora.metadata import find_metadata
from langdiff.errors import DataError
from langdiff.multitext import Multitext

SUFFIXES = suffixes_of(".usfm", ".sfm", ".ptx")


@dataclass(frozen=True)
class UsfmText(VerseText):
    """The verses of the books of an edition.

    Attributes
    ----------
    place : Path or Member
        What the edition is named after: the folder or archive of the books, or the only file.
    files : tuple of Path or Member
        The books.
    ranges : {"missing", "merge"}
        What becomes of a text that stands for several verses.
    """

    place: File
    files: tuple[File, ...]
    ranges: str = "missing"

    def path(self) -> object:
        """Return the folder, archive or file."""
        return self.place

    def verses(self, header: dict[str, str]) -> Iterator[tuple[str, str | None]]:
        """Yield (id, text or None if missing), book by book."""
        verses = Verses(self.ranges)
        left_out: dict[str, None] = {}
        for file in self.files:
            text = "\n".join(line for _, line in read_lines(file, errors=self.errors))
            book = UsfmBook(file, text, verses)
            book.read()
            left_out |= dict.fromkeys(book.left_out)
        if left_out:
            header["left_out"] = " ".join(left_out)
        yield from verses.items()


def read_usfm(
    path: Paths,
    *,
    metadata: str | Path | None = None,
    editions: Iterable[str] | None = None,
    nfc: bool = True,
    errors: str = "strict",
    ranges: Ranges = "missing",
    progress: bool | None = None,
) -> Multitext:
    r"""Catalogue Bibles in USFM (Unified Standard Format Markers, 2 or 3); texts stay in their files until asked for.

    The files of one folder, or of one zip archive, are one edition and named after it (``_usfm`` at
    the end is cut off); a file that is alone in its folder is named after itself. In a book, the text
    of a verse goes from its ``\v`` to the next, over as many paragraphs and lines of poetry as there
    are. Headings, titles, notes, cross-references, figures, sidebars, introductions, alternative
    numbers and words' attributes are left out, so are Psalm titles (``\d``) and the names of the
    letters in acrostics (``\qa``); markers of one's own (``\z…``) are left out with what they hold.
    White space becomes single, ``~`` a no-break space and ``//`` a space.

    Parameters
    ----------
    path : str, Path, sequence of these, or mapping
        Folders of ``.usfm``, ``.sfm`` or ``.ptx`` files (plain or compressed), zip archives, globs of
        files, or a mapping from edition to one of these.
    metadata, editions, nfc, errors, progress
        As for `read_pbc`; the column ``file`` of the metadata names the folder or archive.
    ranges : {"missing", "merge"}
        What is numbered ``\v 3-5`` are three verses translated together: all of them are missing, or
        the first has the text and the others are missing. The parts of a verse (``2a``, ``2b``) are joined.

    Returns
    -------
    Multitext
        Its intents are verse ids as of `read_pbc`. Verses of books that have no number there are
        left out; the column ``left_out`` of `edition_info` names these books.

    Raises
    ------
    DataError
        If a marker in a verse is unknown, a note has no end, a verse is malformed, out of range or there twice;
        otherwise as `read_pbc`.
    ConfigError
        If an option is unknown.

    References
    ----------
    Unified Standard Format Markers 3.1, docs.usfm.bible.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "eng-a.usfm").write_text(
    ...         "\\id PSA\n\\c 1\n\\q1\n\\v 1 Blessed is\\f + \\ft Or: happy\\f*\n\\q2 the \\add man\\add*\n"
    ...     )
    ...     print(read_usfm(folder).text("eng-a").to_dict())
    {'19001001': 'Blessed is the man'}
    """
    check_options(errors, ranges)
    groups = keep(_groups(path), editions)
    table = find_metadata({edition: place for edition, (place, _) in groups.items()}, metadata)
    texts = {
        edition: UsfmText(place, tuple(files), ranges, nfc=nfc, errors=errors)
        for edition, (place, files) in groups.items()
    }
    return catalogue_verses(texts, table, in_order_of_metadata=editions is None, progress=progress)


def _groups(path: Paths) -> dict[str, tuple[File, list[File]]]:
    """Return the place and the books of every edition."""
    if isinstance(path, Mapping):
        named = {str(edition): files_in(one, SUFFIXES) for edition, one in path.items()}
        return {edition: (Path(path[edition]).absolute(), files) for edition, files in named.items()}
    together: dict[Path, list[File]] = {}
    for file in dict.fromkeys(files_in(path, SUFFIXES)):
        together.setdefault(file.archive if isinstance(file, Member) else file.parent, []).append(file)
    groups: dict[str, tuple[File, list[File]]] = {}
    for folder, files in sorted(together.items()):
        alone = len(files) == 1 and not isinstance(files[0], Member)
        place = files[0] if alone else folder
        name = edition_of(place, (*SUFFIXES, ".zip")) if alone or is_archive(place) else folder.name
        edition = name.removesuffix("_usfm")
        if edition in groups:
            raise DataError(
                f"two places are edition {edition!r}: {groups[edition][0]} and {place}. "
                "Rename one, or give the places by edition, as a mapping."
            )
        groups[edition] = place, files
    return dict(sorted(groups.items()))
