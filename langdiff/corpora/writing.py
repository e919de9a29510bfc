"""Functions shared by writers: safe names and directories, and atomic writing of several files."""

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path

from langdiff.base.io import atomic_path
from langdiff.errors import DataError, OutputError, listing, option, words
from langdiff.tables.multitext import Multitext


def text_files(
    multitext: Multitext, directory: Path, suffixes: Sequence[str], beside: Iterable[str] = ()
) -> dict[str, str]:
    """Return the name of each edition's file.

    Parameters
    ----------
    multitext : Multitext
        Multitext to write.
    directory : Path
        Folder to write to.
    suffixes : sequence of str
        Endings of the names of files that a reader of the format would read.
    beside : iterable of str
        Names of other files that are to be written.

    Returns
    -------
    dict from edition to str

    Raises
    ------
    DataError
        If an edition's name cannot be that of a file.
    OutputError
        If the directory holds other files that would be read with these.
    """
    for edition in multitext.editions:
        name = str(edition)
        if not name or name.startswith(".") or not name.isprintable() or "/" in name or "\\" in name:
            raise DataError(f"edition {edition!r} cannot be the name of a file. Rename it.")
    files = {edition: f"{edition}.txt" for edition in multitext.editions}
    ours = {*files.values(), *beside}
    there = sorted(file.name for file in directory.iterdir()) if directory.is_dir() else []
    others = [name for name in there if name.lower().endswith(tuple(suffixes)) and name not in ours]
    if others:
        raise OutputError(
            f"{directory}: holds {len(others)} other file(s) that would be read with the ones to write: "
            f"{listing(others)}. Choose an empty directory."
        )
    return files


def writable_texts(
    multitext: Multitext, edition: str, unwritable: re.Pattern[str], is_missing: Callable[[str], bool]
) -> dict[str, str]:
    """Return the texts of an edition by intent, after checking that a format can hold them.

    Parameters
    ----------
    multitext : Multitext
        Multitext to write.
    edition : str
        One of its editions.
    unwritable : Pattern
        Finds characters that the format cannot hold.
    is_missing : callable
        Whether a reader of the format would take a text for missing.

    Raises
    ------
    DataError
        If there is no text, or a text cannot be held or would be read as missing.
    """
    texts = {str(intent): text for intent, text in multitext.text(edition).items()}
    if not texts:
        raise DataError(
            f"edition {edition!r} has no text at all; leave it out: name the others as {option('editions')}."
        )
    for intent, text in texts.items():
        found = unwritable.search(text)
        if found or is_missing(text):
            why = f"{found[0]!r} at position {found.start()}" if found else "would be read as missing"
            raise DataError(
                f"edition {edition!r}, intent {intent!r}: the format cannot hold this text: {why}. "
                f"Change such texts {words(python='with multitext.map_text(...)', command='in their file')}."
            )
    return texts


def write_files(directory: Path, contents: Iterable[tuple[str, str]]) -> list[Path]:
    """Write files into a directory, either all of them or none.

    Parameters
    ----------
    directory : Path
        The directory, made if it is not there.
    contents : iterable of (str, str)
        Name and content of each file; only one content is held in memory at a time.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    OutputError
        If the directory cannot be written to.
    """
    written = []
    with ExitStack() as stack:  # renames all files once every one is complete
        for name, content in contents:
            temporary = stack.enter_context(atomic_path(directory / name))
            temporary.write_text(content, encoding="utf-8", newline="\n")
            written.append(directory / name)
    return written
