"""Morphological counting complexity of an inflected lexicon."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from langdiff.base.io import read_lines
from langdiff.base.types import Booleans
from langdiff.errors import ConfigError, DataError, listing, option

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
