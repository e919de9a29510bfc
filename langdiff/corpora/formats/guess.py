"""The format of files, recognized by their content."""

from collections.abc import Mapping, Sequence
from itertools import islice

from langdiff.base.archives import File
from langdiff.base.io import read_lines
from langdiff.corpora.files import Paths, files_in
from langdiff.corpora.formats.format import Format
from langdiff.errors import DataError, option

_HEAD = 2000  # lines of XML to look at


def guess_format(path: Paths, formats: Sequence[Format]) -> Format:
    """Return the format of the first file whose beginning is recognized, or else what lies beside the files shows.

    A README may come first. Line-aligned text is never guessed, because any text could be that; tables are, only where
    nothing else was given, because tables about editions lie beside texts.

    Parameters
    ----------
    path : str, Path, sequence of these, or mapping from edition to file
        See `langdiff.read_multitext`.
    formats : sequence of Format
        Formats to choose from.

    Raises
    ------
    DataError
        If there is no file, or no format is recognized.
    """
    suffixes = tuple(dict.fromkeys(suffix for format in formats if format.beginning for suffix in format.suffixes))
    files = files_in(list(path.values()) if isinstance(path, Mapping) else path, suffixes, tell=False)
    unreadable: DataError | None = None
    for file in files:
        try:
            if found := _of_beginning(file, formats):
                return found
        except DataError as error:
            unreadable = unreadable or error
    for format in formats:
        if format.beside is not None and format.beside(files):
            return format
    if unreadable is not None:
        raise unreadable
    known = ", ".join(format.name for format in formats if format.beginning or format.beside)
    raise DataError(
        f"{files[0]}: its beginning is that of none of the formats that can be recognized ({known}). If line k of "
        f"every file is segment k, pass {option('format', 'moses')}; a table with one column per edition is one file, "
        "*.csv or *.tsv."
    )


def _of_beginning(file: File, formats: Sequence[Format]) -> Format | None:
    """Return the format whose pattern matches the shortest beginning of a file, if any does."""
    head = _head(file)
    matches = [
        (match.end(), format) for format in formats if format.beginning and (match := format.beginning.match(head))
    ]
    return min(matches, key=lambda match: match[0])[1] if matches else None


def _head(file: File) -> str:
    """Return the lines up to the first that is neither empty nor a comment, or many lines of XML."""
    lines = (line for _, line in islice(read_lines(file, errors="replace"), _HEAD))
    head = []
    for line in lines:
        head.append(line)
        text = line.strip()
        if text.startswith("<"):
            head += lines
        elif text and not text.startswith("#"):
            break
    return "\n".join(head)
