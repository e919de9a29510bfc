"""Codes of languages in Glottolog, their places and their family tree."""

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas as pd

from langdiff.base.cells import exact_numbers
from langdiff.base.io import as_path
from langdiff.base.iso639 import iso639_3
from langdiff.errors import ConfigError, DataError, listing, option, words
from langdiff.typology.family_tree import LanguageTree, read_tree

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
                f"{folder}: {len(fitting)} {what} fit edition {edition!r}: {names}. Leave one there"
                f"{words(python=', or say which in a mapping', command='')}."
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


def _codes(file: Path) -> Iterable[str]:
    code = iso639_3(file.name.partition(".")[0].replace("-", "_").partition("_")[0])
    return [] if code is None else [code, STANDARD.get(code, code)]


EXPECTED = (
    "Glottolog's languages.csv and classification.nex, or, for a tree of your own, its file in Newick's format or NEXUS"
)
COLUMNS = {
    "Glottocode": "glottocode",
    "Name": "name",
    "Level": "level",
    "ISO639P3code": "code",
    "Family_ID": "family",
    "Language_ID": "language",
    "Macroarea": "macroarea",
    "Latitude": "latitude",
    "Longitude": "longitude",
}
# Top-level groups that are not families: their languages have no common ancestor
NOT_FAMILIES = {
    "Artificial Language",
    "Bookkeeping",
    "Mixed Language",
    "Pidgin",
    "Sign Language",
    "Speech Register",
    "Unattested",
    "Unclassifiable",
}


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class Glottolog:
    """Glottolog's languages and its family trees, joined by ISO 639-3 code or glottocode.

    Attributes
    ----------
    languages : DataFrame
        Indexed by glottocode: ``name``, ``level`` (``"language"``, ``"dialect"`` or ``"family"``), ``code`` (ISO
        639-3), ``family`` (glottocode of the top-level family), ``language`` (that of the language of a dialect),
        ``macroarea``, ``latitude`` and ``longitude`` (degrees). What is not known is "" or NaN.
    tree : LanguageTree
        One tree per top-level family, all branches of length 1; its nodes are glottocodes. Groups that are not
        families, such as artificial languages and pidgins, are not in it.
    same_as : mapping from str to str
        Codes to be looked up as others; see `read_glottolog`.
    """

    languages: pd.DataFrame
    tree: LanguageTree
    same_as: Mapping[str, str] = field(default_factory=dict)

    def find(self, languages: Iterable[str]) -> dict[str, str]:
        """Return the glottocode of each language; languages that are not known are left out."""
        by_code = self.languages.index[self.languages["code"] != ""]
        glottocodes = dict(zip(self.languages.loc[by_code, "code"], by_code, strict=True))
        found = {}
        for language in dict.fromkeys(languages):
            code = self.same_as.get(language, language)
            for name in (code, glottocodes.get(code), glottocodes.get(STANDARD.get(code, ""))):
                if name in self.languages.index:
                    found[language] = str(name)
                    break
        return found

    def places(self, languages: Iterable[str]) -> pd.DataFrame:
        """Look up the family and the coordinates of languages."""
        found = self.find(languages)
        rows = self.languages.loc[list(found.values())]
        grouped = self.languages["name"].reindex(rows["family"]).isin(NOT_FAMILIES).to_numpy()
        family = rows["family"].where((rows["family"] != "") & ~grouped, rows.index.to_series())
        table = rows[["name", "macroarea", "latitude", "longitude"]].assign(
            family=self.languages["name"].reindex(family).to_numpy(), glottocode=rows.index
        )
        columns = ["glottocode", "name", "family", "macroarea", "latitude", "longitude"]
        return table[columns].set_axis(pd.Index(list(found), name="language", dtype=object))

    def covariance(self, languages: Iterable[str]) -> pd.DataFrame:
        """Return the covariance of a trait along the classification; see `LanguageTree.covariance`."""
        found = self.find(languages)
        above = self.languages["language"]
        nodes = {
            name: above[code] if code not in self.tree.places and above[code] else code for name, code in found.items()
        }
        of_nodes = self.tree.covariance(nodes.values())
        all_nodes = pd.Index(nodes.values())
        covariance = of_nodes.reindex(index=all_nodes.unique(), columns=all_nodes.unique(), fill_value=0.0)
        np.fill_diagonal(filled := covariance.to_numpy(copy=True), 1.0)  # isolates have no tree
        places = all_nodes.unique().get_indexer(all_nodes)
        return pd.DataFrame(filled[np.ix_(places, places)], list(found), list(found))

    def __repr__(self) -> str:
        """Return a one-line description with the numbers of languages and trees."""
        languages = (self.languages["level"] == "language").sum()
        return f"Glottolog: {languages:,} languages, {self.tree.parents.count(-1):,} family trees"


def read_glottolog(path: str | Path, *, same_as: Mapping[str, str] | None = None) -> Glottolog:
    r"""Read Glottolog's table of languages and its classification.

    Parameters
    ----------
    path : str or Path
        Folder with ``languages.csv`` and ``classification.nex`` (each may end in ``.gz``): the table of languages of
        the CLDF release at github.com/glottolog/glottolog-cldf, and one tree per top-level family.
    same_as : mapping from str to str, optional
        Codes that are to be looked up under others, as ``{"nor": "nob"}``.

    Returns
    -------
    Glottolog
        Languages and trees, for ``tree=`` of `langdiff.correlate` and the functions beside it.

    Raises
    ------
    DataError
        If a file is missing or cannot be read, columns are missing, a code occurs twice, a place is not on Earth, or
        the classification has a node that the table lacks.
    ConfigError
        If `same_as` names a code to look up that Glottolog does not have.

    References
    ----------
    Hammarström, Forkel, Haspelmath & Bank (2024), "Glottolog 5.1".

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "languages.csv").write_text(
    ...         "Glottocode,Name,Level,ISO639P3code,Family_ID,Language_ID,Macroarea,Latitude,Longitude\n"
    ...         "indo1319,Indo-European,family,,,,,,\n"
    ...         "stan1293,English,language,eng,indo1319,,Eurasia,53.0,-1.0\n"
    ...         "dutc1256,Dutch,language,nld,indo1319,,Eurasia,52.0,5.0\n"
    ...         "basq1248,Basque,language,eus,,,Eurasia,43.3,-1.3\n"
    ...     )
    ...     _ = Path(folder, "classification.nex").write_text(
    ...         "#NEXUS\nBEGIN TREES;\ntree indo1319 = [&R] (stan1293:1,dutc1256:1)indo1319:1;\nEND;\n"
    ...     )
    ...     glottolog = read_glottolog(folder)
    >>> glottolog.covariance(["eng", "nld", "eus"])
         eng  nld  eus
    eng  1.0  0.5  0.0
    nld  0.5  1.0  0.0
    eus  0.0  0.0  1.0
    """
    folder = as_path(path).expanduser()
    table = _read_languages(file_in(folder, "languages.csv"))
    tree = read_tree(file_in(folder, "classification.nex"))
    unknown = [name for name in tree.places if name not in table.index]
    if unknown:
        raise DataError(
            f"{folder}: {len(unknown)} node(s) of classification.nex are not in languages.csv: {listing(unknown)}. "
            "Take both files from one release."
        )
    groups = table.index[table["name"].isin(NOT_FAMILIES)]
    related = set(table.index[~table["family"].isin(groups)]) - set(groups)
    tree = replace(tree, places={name: place for name, place in tree.places.items() if name in related})
    glottolog = Glottolog(languages=table, tree=tree)
    known = glottolog.find((same_as or {}).values())
    lost = [f"{code} = {other}" for code, other in (same_as or {}).items() if other not in known]
    if lost:
        raise ConfigError(
            f"{option('same_as')}: Glottolog has no language of the code that {listing(lost)} would be looked up under."
        )
    return replace(glottolog, same_as=dict(same_as or {}))


def file_in(folder: Path, name: str, expected: str = EXPECTED) -> Path:
    """Return the path of a file in a folder, compressed or not."""
    for ending in ("", ".gz"):
        if (file := folder / f"{name}{ending}").is_file():
            return file
    raise DataError(f"{folder}: holds no {name} (nor .gz). Name the folder with {expected}.")


def read_columns(path: Path, columns: Iterable[str]) -> pd.DataFrame:
    """Return a table of text that has some columns."""
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
    except (OSError, EOFError, zlib.error, ValueError) as error:  # ValueError: pandas' and UTF-8's errors
        raise DataError(f"{path}: cannot be read as a table: {error}.") from error
    missing = [column for column in columns if column not in table]
    if missing:
        raise DataError(f"{path}: lacks column(s) {listing(missing)}; it has {listing(table.columns, 20)}.")
    return table


def _read_languages(path: Path) -> pd.DataFrame:
    table = read_columns(path, COLUMNS)[list(COLUMNS)].rename(columns=COLUMNS)
    for column in ("glottocode", "code"):
        named = table.loc[table[column] != "", column]
        if named.duplicated().any():
            raise DataError(f"{path}: {column} occurs in several rows: {listing(named[named.duplicated()].unique())}.")
    for column, most in (("latitude", 90), ("longitude", 180)):
        numbers = exact_numbers(table[column])
        wrong = table["glottocode"][(table[column] != "") & ~(numbers.abs() <= most)]
        if len(wrong):
            raise DataError(f"{path}: {column} of {listing(wrong)} is not a number from -{most} to {most}.")
        table[column] = numbers
    return table.set_index("glottocode")
