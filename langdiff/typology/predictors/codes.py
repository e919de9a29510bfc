"""From names of files to languages."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from langdiff.corpora.iso639 import iso639_3
from langdiff.errors import DataError, listing

# Treebanks and lexicons of a standard language are often named by its macrolanguage: zh for cmn
STANDARD = {
    "ara": "arb",
    "aze": "azj",
    "est": "ekk",
    "fas": "pes",
    "lav": "lvs",
    "mlg": "plt",
    "mon": "khk",
    "msa": "zsm",
    "nep": "npi",
    "ori": "ory",
    "sqi": "als",
    "swa": "swh",
    "uzb": "uzn",
    "yid": "ydd",
    "zho": "cmn",
}


def files_by_edition(folder: Path, languages: Mapping[str, str | None], what: str) -> dict[str, Path]:
    """Find the file of each edition in a folder.

    A file belongs to the edition that has its name, else to the editions of the language that its name
    begins with: ``deu``, ``deu.tsv.gz``, ``de_pud.conllu``. The code of a macrolanguage stands also for its standard
    language (``zh`` for ``cmn``). Files of other languages are ignored.

    Parameters
    ----------
    folder : Path
        Folder to search.
    languages : mapping from edition to str or None
        ISO 639-3 code of each edition's language, None where unknown.
    what : str
        Kind of files, for messages.

    Returns
    -------
    dict from edition to Path
        Editions without a file are left out.

    Raises
    ------
    DataError
        If the folder cannot be read, no file fits any edition, or two fit one.
    """
    try:
        files = sorted(file for file in folder.iterdir() if file.is_file() and not file.name.startswith("."))
    except OSError as error:
        raise DataError(f"{folder}: cannot be read as a folder of {what}: {error.strerror}.") from error
    own = {file: _edition(file, languages) for file in files}
    # the parse of one Bible is not that of the language's others, unless it is called by the language alone
    shared = [file for file, edition in own.items() if edition is None or iso639_3(edition)]
    found: dict[str, Path] = {}
    for edition, language in languages.items():
        fitting = [file for file in files if own[file] == edition] or [
            file for file in shared if language is not None and language in _codes(file)
        ]
        if len(fitting) > 1:
            names = listing(file.name for file in fitting)
            raise DataError(
                f"{folder}: {len(fitting)} {what} fit edition {edition!r}: {names}. Leave one there, or in Python "
                "say which in a mapping."
            )
        if fitting:
            found[edition] = fitting[0]
    if not files:
        raise DataError(f"{folder}: holds no files of {what}.")
    if not found:
        raise DataError(
            f"{folder}: none of {len(files)} file(s), {listing(file.name for file in files)}, fits an edition or a "
            f"language of the multitext, {listing(languages)}. Name them EDITION.… or by language code, or in "
            "Python give a mapping."
        )
    return found


def _edition(file: Path, editions: Iterable[str]) -> str | None:
    """Return the edition whose name the file has, endings apart; the longest if there are several."""
    return max((edition for edition in editions if f"{file.name}.".startswith(f"{edition}.")), key=len, default=None)


def _stem(file: Path) -> str:
    return file.name.partition(".")[0]


def _codes(file: Path) -> Iterable[str]:
    code = iso639_3(_stem(file).replace("-", "_").partition("_")[0])
    return [] if code is None else [code, STANDARD.get(code, code)]
