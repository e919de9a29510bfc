"""Predictors from sources other than the text, joined by language codes; counting complexity of lexicons."""

import sys
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import numpy as np
import pandas as pd

from langdiff.base.io import read_lines
from langdiff.base.types import Booleans
from langdiff.errors import ConfigError, DataError, MissingExtraError, listing, option, warn
from langdiff.treebanks import measure_treebanks
from langdiff.typology.glottolog import files_by_edition
from langdiff.typology.predictors.wals import Wals, read_wals

COLUMNS = ["lemma", "form", "features"]

Syncretism = Literal["count", "merge"]


def read_unimorph(path: str | Path) -> pd.DataFrame:
    r"""Read an inflected lexicon in UniMorph's format.

    References
    ----------
    Batsuren et al. (2022), "UniMorph 4.0: Universal Morphology", LREC.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "eng").write_text("walk\twalks\tV;PRS;3;SG\nwalk\twalked\tV;PST\n")
    ...     read_unimorph(Path(folder, "eng"))
      lemma    form    features
    0  walk   walks  V;PRS;3;SG
    1  walk  walked       V;PST
    """
    path = Path(path).expanduser()
    rows = list(_triples(path))
    if not rows:
        raise DataError(f"{path}: holds no word; expected lines of lemma<TAB>form<TAB>features.")
    return pd.DataFrame(rows, columns=COLUMNS)


def morphological_counting_complexity(lexicon: pd.DataFrame, *, syncretism: Syncretism = "count") -> int:
    """Count the cells of a language's inflection (Sagot 2013).

    A cell is a bundle of features, part of speech included, in whatever order they are written. The count
    runs over all parts of speech of the lexicon: German nouns with 4 cases in 2 numbers are 8 cells.

    Notes
    -----
    Homographs of one part of speech are one lemma to UniMorph, their forms a set. A lexicon with more kinds of
    words (participles declined as adjectives, clitics) has more cells, so only lexicons of one make
    should be compared.

    References
    ----------
    Sagot (2013), "Comparing complexity measures"; Cotterell et al. (2018), "Are all languages equally hard to
    language-model?", section 4.

    Examples
    --------
    >>> verbs = [("sing", "sing", "V;NFIN"), ("sing", "sang", "V;PST"), ("sing", "sung", "V;V.PTCP;PST")]
    >>> verbs += [("walk", "walk", "V;NFIN"), ("walk", "walked", "V;PST"), ("walk", "walked", "V;V.PTCP;PST")]
    >>> lexicon = pd.DataFrame(verbs, columns=["lemma", "form", "features"])
    >>> morphological_counting_complexity(lexicon), morphological_counting_complexity(lexicon, syncretism="merge")
    (3, 3)
    >>> regular = lexicon[lexicon["lemma"] == "walk"]  # no verb left that tells past and participle apart
    >>> morphological_counting_complexity(regular, syncretism="merge")
    2
    """
    if syncretism not in ("count", "merge"):
        raise ConfigError(f"{option('syncretism')} must be 'count' or 'merge', got {syncretism!r}.")
    missing = [column for column in COLUMNS if column not in lexicon]
    if missing:
        raise DataError(f"the lexicon lacks column(s) {listing(missing)}; it needs {listing(COLUMNS)}.")
    if not len(lexicon):
        raise DataError("the lexicon is empty.")
    empty = lexicon[COLUMNS].isna().any(axis=1)
    if empty.any():
        raise DataError(
            f"{empty.sum():,} of {len(lexicon):,} rows of the lexicon lack a cell: {listing(empty.index[empty])}. "
            "Use read_unimorph, or read_csv with keep_default_na=False, which takes the word 'nan' for a word."
        )
    written = lexicon["features"].unique()
    bundle_of = {features: _bundle(features) for features in written}
    cells = set(bundle_of.values())
    if syncretism == "count":
        return len(cells)
    by_speech = defaultdict(list)
    for cell in sorted(cells):
        by_speech[_speech(cell)].append(cell)
    bundles = lexicon["features"].map(bundle_of)
    speech = bundles.map(_speech)
    total = 0
    for part, rows in lexicon.assign(bundle=bundles).groupby(speech, sort=False):
        total += _merged(rows, by_speech[str(part)])
    return total


def _triples(path: Path) -> Iterator[tuple[str, str, str]]:
    for number, line in read_lines(path):
        if not line.strip():
            continue
        cells = line.split("\t")
        if len(cells) < 3 or not all(cell.strip() for cell in cells[:3]):
            raise DataError(
                f"{path}, line {number}: expected lemma<TAB>form<TAB>features, got {line[:60]!r}. "
                "Fill in or delete the line."
            )
        yield cells[0].strip(), cells[1].strip(), cells[2].strip()


def _bundle(features: str) -> tuple[str, ...]:
    """Return the part of speech, which UniMorph writes first, then the other features in order."""
    speech, *others = features.split(";")
    return (speech, *sorted(set(others)))


def _speech(cell: tuple[str, ...]) -> str:
    return cell[0].partition(".")[0]  # participles, V.PTCP, are in the paradigm of verbs


def _merged(rows: pd.DataFrame, cells: list[tuple[str, ...]]) -> int:
    """Count the cells of one part of speech, merging cells that no lemma distinguishes."""
    place = {cell: index for index, cell in enumerate(cells)}
    apart = np.zeros((len(cells), len(cells)), dtype=bool)
    together = np.zeros_like(apart)
    places = [place[cell] for cell in rows["bundle"]]
    for paradigm in _paradigms(rows["lemma"], rows["form"], places):
        filled = np.fromiter(paradigm, dtype=np.intp)
        ids: dict[frozenset[str], int] = {}
        forms = np.array([ids.setdefault(frozenset(paradigm[cell]), len(ids)) for cell in paradigm])
        together[np.ix_(filled, filled)] = True
        apart[np.ix_(filled, filled)] |= forms[:, None] != forms
    return _classes(apart, together)


def _paradigms(lemmas: Iterable[str], forms: Iterable[str], places: Iterable[int]) -> Iterable[dict[int, set[str]]]:
    by_lemma: dict[str, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
    for lemma, form, cell in zip(lemmas, forms, places, strict=True):
        by_lemma[lemma][cell].add(form)
    return by_lemma.values()


def _classes(apart: Booleans, together: Booleans) -> int:
    """Count classes of cells: the same row of `apart`, and a chain of lemmas that have two of them."""
    from scipy.sparse.csgraph import connected_components

    twins = defaultdict(list)
    for cell, row in enumerate(apart):
        twins[row.tobytes()].append(cell)  # twins are never told apart: no cell is so from itself
    return sum(int(connected_components(together[np.ix_(cells, cells)])[0]) for cells in twins.values())


def lang2vec_features(features: Sequence[str], languages: Iterable[str]) -> pd.DataFrame:
    """Look up features of languages in URIEL (Littell et al. 2017).

    References
    ----------
    Littell et al. (2017), "URIEL and lang2vec", EACL.

    Examples
    --------
    The package lang2vec is an extra that may not be installed, so this example is not run as a test.

    >>> lang2vec_features(["syntax_wals:S_SVO"], ["eng", "jpn"])  # doctest: +SKIP
          syntax_wals:S_SVO
    code
    eng                 1.0
    jpn                 0.0
    """
    package = _import_lang2vec()
    codes = list(dict.fromkeys(languages))
    known = [code for code in codes if code in package.URIEL_LANGUAGES]
    columns = {}
    for name in features:
        collection, _, feature = name.partition(":")
        _check_set(name, collection, feature, package)
        # an unknown language is an error there, and none at all too: a known one stands in for the names
        values = package.get_features(known or ["eng"], collection, header=True)
        names = [str(known_name) for known_name in values["CODE"]]
        if feature not in names:
            raise ConfigError(_unknown(f"the set {collection!r} of lang2vec has no feature", feature, names))
        column = names.index(feature)
        columns[name] = {code: _number(values[code][column]) for code in known}
    return pd.DataFrame(columns, index=pd.Index(codes, name="code"), columns=list(features), dtype=np.float64)


def _import_lang2vec() -> ModuleType:
    # lang2vec also installs a script lang2vec.py beside the other commands, a folder that is searched first when
    # one of these runs, such as langdiff; it is not the package
    path = sys.path
    sys.path = [folder for folder in path if not Path(folder, "lang2vec.py").is_file()]
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="pkg_resources is deprecated", category=UserWarning)
            warnings.filterwarnings("ignore", message="Deprecated call to `pkg_resources", category=DeprecationWarning)
            import lang2vec.lang2vec as package
    except ImportError as error:
        raise MissingExtraError(
            f"lang2vec cannot be imported ({error}). Install it: pip install 'langdiff[lang2vec]', which also "
            "keeps setuptools below 81, as lang2vec needs."
        ) from error
    finally:
        sys.path = path
    return package  # type: ignore[no-any-return]


def _check_set(name: str, collection: str, feature: str, package: ModuleType) -> None:
    if not feature:
        raise ConfigError(f"feature {name!r}: write SET:FEATURE, such as 'syntax_wals:S_SVO'.")
    if collection == "learned":
        raise ConfigError(f"feature {name!r}: the set 'learned' is stored as a pickle, which is not read.")
    if collection not in package.FEATURE_SETS:
        raise ConfigError(_unknown("lang2vec has no set", collection, package.FEATURE_SETS))


def _unknown(what: str, wanted: str, names: Sequence[str]) -> str:
    close = get_close_matches(wanted, names, n=3, cutoff=0.5)
    return f"{what} {wanted!r}. " + (f"The most similar: {listing(close)}." if close else f"It has {listing(names)}.")


def _number(value: object) -> float:
    return float("nan") if value == "--" else float(value)  # type: ignore[arg-type]


Treebanks = str | Path | Mapping[str, Any]  # file or files, by edition or language
Lexicons = str | Path | Mapping[str, str | Path | pd.DataFrame]
Codes = Mapping[str, str | None]  # ISO 639-3 by edition

NO_CODE = "no ISO 639-3 code"
_TREEBANK_UNITS = {"hpe_mean": "bits", "hpe_skew": "", "dependency_length": "words"}


@dataclass(frozen=True, kw_only=True)
class Column:
    """One predictor: for each edition a value, or the reason why it is missing."""

    name: str
    unit: str
    source: str
    values: Mapping[str, Any]
    missing: Mapping[str, str]
    categories: Sequence[str] | None = None  # of a categorical predictor, in order

    def series(self, editions: pd.Index) -> pd.Series:
        """Return the values, NaN where one is missing."""
        values = [self.values.get(edition) for edition in editions]
        if self.categories is None:
            return pd.Series(values, index=editions, dtype="float64")
        return pd.Series(pd.Categorical(values, categories=list(self.categories)), index=editions)


def wals_columns(wals: str | Path | Wals, features: Sequence[str], codes: Codes) -> list[Column]:
    """Look up features of WALS."""
    atlas = wals if isinstance(wals, Wals) else read_wals(wals)
    known = {code for several in atlas.languages["codes"] for code in several}
    columns = []
    for feature in features:
        table = atlas.feature(feature, [code for code in codes.values() if code is not None])
        _warn_of_varieties(feature, table)
        value_of = table["value"].astype(object).to_dict()
        columns.append(
            Column(
                name=feature,
                unit=str(atlas.features[feature]),
                source="WALS",
                values={edition: value_of[code] for edition, code in codes.items() if code in value_of},
                missing={
                    edition: _reason(code, atlas.same_as.get(code or "", code) in known, "WALS")
                    for edition, code in codes.items()
                    if code not in value_of
                },
                categories=list(table["value"].cat.categories),
            )
        )
    return columns


def lang2vec_columns(features: Sequence[str], codes: Codes) -> list[Column]:
    """Look up features of URIEL."""
    table = lang2vec_features(features, [code for code in codes.values() if code is not None])
    columns = []
    for feature in features:
        value_of = table[feature].dropna().to_dict()
        columns.append(
            Column(
                name=feature,
                unit="",
                source="lang2vec",
                values={edition: value_of[code] for edition, code in codes.items() if code in value_of},
                missing={
                    edition: _reason(code, known=True, source="lang2vec")
                    for edition, code in codes.items()
                    if code not in value_of
                },
            )
        )
    return columns


def lexicon_column(lexicons: Lexicons, syncretism: Syncretism, codes: Codes) -> Column:
    """Count the cells of lexicons."""
    cells: dict[int, int] = {}  # several editions may share a lexicon, which is counted once
    values = {}
    lexicon_of = _by_edition(lexicons, codes, "lexicons")
    for edition, lexicon in lexicon_of.items():
        if id(lexicon) not in cells:
            frame = lexicon if isinstance(lexicon, pd.DataFrame) else read_unimorph(lexicon)
            cells[id(lexicon)] = morphological_counting_complexity(frame, syncretism=syncretism)
        values[edition] = cells[id(lexicon)]
    missing = {edition: "no lexicon" for edition in codes if edition not in values}
    return Column(name="mcc", unit="cells", source=f"lexicons, {syncretism}", values=values, missing=missing)


def treebank_columns(treebanks: Treebanks, codes: Codes, progress: bool | None) -> list[Column]:
    """Measure treebanks."""
    treebank_of = _by_edition(treebanks, codes, "treebanks")
    representative: dict[int, str] = {}  # several editions may share a treebank, which is measured once
    for edition, treebank in treebank_of.items():
        representative.setdefault(id(treebank), edition)
    table = measure_treebanks({e: treebank_of[e] for e in representative.values()}, progress=progress).table
    columns = []
    for name, unit in _TREEBANK_UNITS.items():
        column = table[name].astype(float).to_dict()
        measured = {edition: column[representative[id(file)]] for edition, file in treebank_of.items()}
        undefined = {edition: "not defined for so little" for edition, value in measured.items() if value != value}
        values = {edition: value for edition, value in measured.items() if edition not in undefined}
        missing = undefined | {edition: "no treebank" for edition in codes if edition not in measured}
        columns.append(Column(name=name, unit=unit, source="treebanks", values=values, missing=missing))
    return columns


def _by_edition(source: str | Path | Mapping[str, Any], codes: Codes, what: str) -> dict[str, Any]:
    """Return the entry of each edition in a mapping or folder; names of editions precede names of languages."""
    if not isinstance(source, Mapping):
        return dict(files_by_edition(Path(source).expanduser(), codes, what))
    unknown = [name for name in source if name not in codes and name not in codes.values()]
    if unknown or not source:
        languages = sorted({code for code in codes.values() if code is not None})
        raise ConfigError(
            f"{what}: {len(unknown)} of {len(source)} names are neither an edition nor a language of the multitext: "
            f"{listing(unknown)}. Its languages: {listing(languages)}."
        )
    found = {edition: source.get(edition, source.get(code) if code else None) for edition, code in codes.items()}
    return {edition: value for edition, value in found.items() if value is not None}


def _reason(code: str | None, known: bool, source: str) -> str:
    if code is None:
        return NO_CODE
    return f"no value in {source}" if known else f"language not in {source}"


def _warn_of_varieties(feature: str, table: pd.DataFrame) -> None:
    differing = table[table["differing"] != ""]
    if len(differing):
        chosen = [
            f"{code}: {row['name']} ({row['value']}) but {row['differing']}" for code, row in differing.iterrows()
        ]
        warn(
            f"{feature}: WALS has varieties of {len(chosen)} language(s) with different values: {listing(chosen)}. "
            "The first is taken."
        )


def check_codes(codes: Codes) -> None:
    """Check that some language is known; warn of editions whose language is unknown."""
    without = [edition for edition, code in codes.items() if code is None]
    advice = f"Give a column 'language' or 'iso639_3' in {option('edition_info')}."
    if len(without) == len(codes):
        raise DataError(
            f"no edition has an ISO 639-3 code, such as {listing(without)}; nothing can be joined. {advice}"
        )
    if without:
        warn(
            f"{len(without)} edition(s) have no ISO 639-3 code: {listing(without)}; predictors joined by language "
            f"are missing there. {advice}"
        )
