r"""USFM (2 or 3), in which Bible translators work: one folder or archive per edition, one file per book.

The files of one folder, or of one zip archive, are one edition and named after it (``_usfm`` at the end is cut
off); a file that is alone in its folder is named after itself, or after the folder where another folder has a lone
file of the same name (``deu/MRK.usfm``, ``fin/MRK.usfm``). In a book, the text of a verse goes from its ``\v``
to the next, over as many paragraphs and lines of poetry as there are; parts of a verse (``2a``, ``2b``) are joined,
and ``\v 3-5`` is three verses that were translated together. Headings, titles, notes, cross-references, figures,
sidebars, introductions, alternative numbers and attributes of words are left out, and so are Psalm titles (``\d``,
unless a verse begins in them), the names of letters in acrostics (``\qa``) and markers of the user's own (``\z…``)
with what they hold. White space becomes single, ``~`` a no-break space and ``//`` a space.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langdiff.base.archives import File, Member, is_archive
from langdiff.base.io import read_lines
from langdiff.base.types import Ranges
from langdiff.corpora.faults import Damage, Faults
from langdiff.corpora.files import Paths, edition_of, files_in, keep, suffixes_of
from langdiff.corpora.formats.bible import Collected, Verses, VerseText, catalogue_verses, collected
from langdiff.corpora.formats.format import Format, Reading, begins_with
from langdiff.corpora.formats.usfm_markers import UsfmBook
from langdiff.errors import DataError
from langdiff.tables.multitext import Multitext

SUFFIXES = suffixes_of(".usfm", ".sfm", ".ptx")


@dataclass(frozen=True)
class UsfmText(VerseText):
    """The verses of the books of an edition.

    Attributes
    ----------
    books : tuple of Path or Member
        The files of the books; `file` is the folder or archive that they are in, or the only one of them.
    ranges : {"missing", "merge"}
        Treatment of a text that stands for several verses.
    """

    books: tuple[File, ...]
    ranges: Ranges = "missing"

    def collect(self, header: dict[str, str], faults: Faults, *, with_texts: bool) -> Collected:
        """Return what the books have."""
        verses = Verses(self.ranges, faults)
        left_out: dict[str, None] = {}
        for file in self.books:
            damage = Damage(file, faults)
            text = "\n".join(line for _, line in read_lines(file, errors=self.errors, on_fault=damage.note))
            book = UsfmBook(file, text, verses, damage)
            book.read()
            damage.close()
            left_out |= dict.fromkeys(book.left_out)
        if left_out:
            header["left_out"] = " ".join(left_out)
        return collected(verses.items(), with_texts=with_texts)


def catalogue(reading: Reading) -> Multitext:
    """Catalogue Bibles in USFM."""
    groups = keep(_groups(reading.path), reading.editions)
    books = {place: tuple(files) for place, files in groups.values()}

    def text_of(place: File, **how: Any) -> UsfmText:
        return UsfmText(place, books[place], reading.ranges, **how)

    return catalogue_verses(reading, {edition: place for edition, (place, _) in groups.items()}, text_of)


def _groups(path: Paths) -> dict[str, tuple[File, list[File]]]:
    """Return the place and the books of every edition."""
    if isinstance(path, Mapping):
        named = {str(edition): files_in(one, SUFFIXES) for edition, one in path.items()}
        return {edition: (Path(path[edition]).absolute(), files) for edition, files in named.items()}
    together: dict[Path, list[File]] = {}
    for file in dict.fromkeys(files_in(path, SUFFIXES)):
        together.setdefault(file.archive if isinstance(file, Member) else file.parent, []).append(file)
    groups: dict[str, tuple[File, list[File]]] = {}
    lone = Counter(files[0].name for files in together.values() if len(files) == 1)
    for folder, files in sorted(together.items()):
        alone = len(files) == 1 and lone[files[0].name] == 1 and not isinstance(files[0], Member)
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


FORMAT = Format(
    name="usfm",
    suffixes=SUFFIXES,
    catalogue=catalogue,
    options=("ranges",),
    beginning=begins_with(r"\\"),
)
