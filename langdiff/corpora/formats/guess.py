"""Which format files are in, told by their content."""

import re
from collections.abc import Iterator, Mapping
from itertools import islice

from langdiff._archives import File
from langdiff._io import read_lines
from langdiff.corpora.files import Paths, files_in
from langdiff.corpora.formats import ces, costep, ebible, moses, mteval, osis, pbc, usfm
from langdiff.corpora.formats.bible import VERSE_ID
from langdiff.errors import DataError

_SUFFIXES = tuple(
    dict.fromkeys(
        suffix for module in (pbc, ebible, usfm, osis, ces, costep, mteval, moses) for suffix in module.SUFFIXES
    )
)
_HEAD = 2000  # lines to look at
_ELEMENTS = {
    re.compile(r"<osis\b"): "osis",
    re.compile(r"<(mteval|refset)\b", re.I): "mteval",
    re.compile(r"<session\b"): "costep",
    re.compile(r"<cesDoc\b|<seg\b[^>]*\btype=.verse"): "ces",
}


def guess_format(path: Paths) -> str:
    """Return the format of the first file that a path means, or if it cannot be told, of the next where it can.

    A README may come first. Line-aligned text is never guessed: any text could be that.

    Raises
    ------
    DataError
        If there is no file, or it is in none of the other formats.
    """
    files = files_in(list(path.values()) if isinstance(path, Mapping) else path, _SUFFIXES)
    is_listed = any(file.name == ebible.VREF for file in files)
    file, *others = [file for file in files if file.name != ebible.VREF] or files[:1]
    found = _of_file(file)
    if found is None and (is_listed or ebible.find_vref([file])):
        found = "ebible"
    if found is None:
        found = next(filter(None, map(_of_file, others)), None)
    if found is None:
        raise DataError(
            f"{file}: its beginning is of none of the formats that can be told by it (pbc, ebible, usfm, osis, ces, "
            "costep, mteval). If line k of every file is segment k, pass format='moses'; otherwise see "
            "read_frame(...)."
        )
    return found


def _of_file(file: File) -> str | None:
    return _of_lines(line for _, line in islice(read_lines(file, errors="replace"), _HEAD))


def _of_lines(lines: Iterator[str]) -> str | None:
    for line in lines:
        text = line.strip()
        if text.startswith("<"):
            head = "\n".join([line, *lines])
            places = {found.start(): name for element, name in _ELEMENTS.items() if (found := element.search(head))}
            return places[min(places)] if places else None
        if text.startswith("\\"):
            return "usfm"
        if VERSE_ID.fullmatch(line.partition("\t")[0]):
            return "pbc"
        if text and not text.startswith("#"):
            return None
    return None
