"""Relatives and neighbours of languages: distances in the family tree and on the globe."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from langdiff.base.cells import exact_numbers
from langdiff.base.signature import short_hash
from langdiff.base.types import Booleans, Floats
from langdiff.errors import ConfigError, DataError, listing, option, words
from langdiff.typology.association.correlation import RELATED
from langdiff.typology.family_tree import LanguageTree, read_tree
from langdiff.typology.glottolog import Glottolog, read_glottolog

EARTH = 6371.0088  # kilometres, mean radius
# Ranges in kilometres among which the likelihood chooses. Left free, the range runs off: below the distance of
# neighbours the kernel is nearly the identity, which the residual has already, and above the size of continents it is
# nearly constant, which the intercept has. Factors of two, since likelihoods of a hundred languages are flat between.
RANGES = (250.0, 500.0, 1000.0, 2000.0, 4000.0)


def great_circle(latitude: Floats, longitude: Floats) -> Floats:
    """Return the distances between places along the surface of a sphere.

    Shapes: latitude, longitude (n,).

    Examples
    --------
    >>> great_circle(np.array([0.0, 0.0, 90.0]), np.array([0.0, 90.0, 0.0])).round()
    array([[    0., 10008., 10008.],
           [10008.,     0., 10008.],
           [10008., 10008.,     0.]])
    """
    phi, theta = np.radians(latitude), np.radians(longitude)
    half_phi = np.sin(np.subtract.outer(phi, phi) / 2) ** 2
    half_theta = np.sin(np.subtract.outer(theta, theta) / 2) ** 2
    haversine = np.clip(half_phi + np.outer(np.cos(phi), np.cos(phi)) * half_theta, 0, 1)
    distance: Floats = 2 * EARTH * np.arcsin(np.sqrt(haversine))
    return distance


def exponential_kernel(kilometres: Floats, range_km: float) -> Floats:
    r"""Return the covariance of places, :math:`K_{ij} = \exp(-d_{ij} / \rho)`.

    It is a covariance for every range of distances along a sphere; of the Matérn family only the members at most as
    smooth as this one are (Gneiting 2013).

    Shapes: kilometres (n, n).

    Examples
    --------
    >>> exponential_kernel(np.array([[0.0, 500.0], [500.0, 0.0]]), 500.0).round(3)
    array([[1.   , 0.368],
           [0.368, 1.   ]])
    """
    kernel: Floats = np.exp(-kilometres / range_km)
    return kernel


Tree = Glottolog | LanguageTree | str | Path
PLACE = ("latitude", "longitude")


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Relatives:
    """Relatedness and distance of languages, in the order of a sample.

    Attributes
    ----------
    languages : Index, shape (n,)
        The languages.
    phylo : ndarray, shape (n, n), or None
        Covariance along the tree, NaN for languages that are not in it; None without a tree.
    kilometres : ndarray, shape (n, n), or None
        Distances, NaN for languages without coordinates; None without any coordinates.
    source : str
        Name of the tree, with a hash of its file if it was given as one; empty without a tree.
    """

    languages: pd.Index
    phylo: Floats | None = None
    kilometres: Floats | None = None
    source: str = ""

    def hash(self) -> str | None:
        """Return a hash for signatures; None without data, as when no test needs any."""
        if self.phylo is None and self.kilometres is None:
            return None
        return short_hash(self.languages, *(np.zeros(0) if m is None else m for m in (self.phylo, self.kilometres)))

    def known(self, test: str) -> Booleans:
        """Return an indicator of languages for which a test has its data."""
        known = np.ones(len(self.languages), dtype=bool)
        for matrix in self.matrices(test):
            if matrix is not None:
                known &= np.isfinite(np.diag(matrix))
        return known

    def matrices(self, test: str) -> tuple[Floats | None, Floats | None]:
        """Return the covariance along the tree and the distances, None where a test does not use it."""
        parts = test.split("+")
        return self.phylo if "phylo" in parts else None, self.kilometres if "area" in parts else None

    def left_out(self, test: str, rows: Booleans) -> str:
        """Describe the languages among some rows for which a test lacks data; empty if there are none."""
        reasons = []
        for matrix, what in zip(self.matrices(test), ("not in the tree", "without coordinates"), strict=True):
            if matrix is not None:
                names = self.languages[rows & ~np.isfinite(np.diag(matrix))]
                if len(names):
                    reasons.append(f"{len(names)} left out, {what}: {listing(names)}")
        return "; ".join(reasons)

    def take(self, test: str, rows: Booleans) -> tuple[Floats | None, Floats | None]:
        """Return the data that a test uses, for some of the languages."""
        chosen = np.flatnonzero(rows)
        phylo, kilometres = self.matrices(test)
        return (
            None if phylo is None else phylo[np.ix_(chosen, chosen)],
            None if kilometres is None else kilometres[np.ix_(chosen, chosen)],
        )


def find_relatives(
    languages: pd.Index,
    tests: Iterable[str],
    tree: Tree | None,
    coordinates: pd.DataFrame | None,
    edition_info: pd.DataFrame | None,
) -> Relatives:
    """Look up the families, the tree and the places that tests need."""
    tests = list(tests)
    parts = {part for test in tests if test in RELATED for part in test.split("+")}
    opened = _open(tree)
    check_tree(tests, given=opened is not None, has_places=isinstance(opened, Glottolog))
    if coordinates is not None and "area" not in parts:
        raise ConfigError(
            f"coordinates are given, and none of the tests uses them: {listing(tests, 9)}. Add "
            f"{option('tests', 'area')} or {option('tests', 'phylo+area')}, or leave the coordinates out."
        )
    phylo = kilometres = None
    if opened is not None and "phylo" in parts:
        phylo = _phylo(opened, languages)
    if "area" in parts:
        kilometres = _kilometres(languages, opened, coordinates, edition_info)
    return Relatives(
        languages=languages, phylo=phylo, kilometres=kilometres, source="" if opened is None else _name(opened, tree)
    )


def has_places(tree: Tree | None, coordinates: pd.DataFrame | None, edition_info: pd.DataFrame | None) -> bool:
    """Return whether places of languages are known: from coordinates, the table of editions, or Glottolog."""
    of_editions = edition_info is not None and {"language", *PLACE} <= set(edition_info)
    glottolog = isinstance(tree, Glottolog) or (isinstance(tree, str | Path) and Path(tree).expanduser().is_dir())
    return coordinates is not None or of_editions or glottolog


def _name(opened: Glottolog | LanguageTree, tree: Tree | None) -> str:
    """Return a name of the tree for signatures, with the start of the sha256 of its file if one was given."""
    kind = "glottolog" if isinstance(opened, Glottolog) else "newick"
    if not isinstance(tree, str | Path):
        return kind
    path = Path(tree).expanduser()
    files = [path] if path.is_file() else [file for file in sorted(path.glob("classification.nex*")) if file.is_file()]
    return f"{kind}#{hashlib.sha256(files[0].read_bytes()).hexdigest()[:8]}"


def check_tree(tests: Iterable[str], *, given: bool, has_places: bool = True) -> None:
    """Check that a tree is given if, and only if, some test uses one."""
    tests = list(tests)
    along = any("phylo" in test.split("+") for test in tests)
    if along and not given:
        raise ConfigError(
            f"test 'phylo' needs a family tree: as {option('tree')} a folder with Glottolog's files, or a file in "
            "Newick's format or NEXUS."
        )
    if given and not along and not (has_places and "area" in tests):
        raise ConfigError(
            f"{option('tree')} is used by tests 'phylo' and 'phylo+area' only, and tests are {listing(tests, 9)}: add "
            f"{option('tests', 'phylo+area')}, or leave the tree out."
        )


def _open(tree: Tree | None) -> Glottolog | LanguageTree | None:
    if not isinstance(tree, str | Path):
        return tree
    path = Path(tree).expanduser()
    return read_glottolog(path) if path.is_dir() else read_tree(path)


def _phylo(tree: Glottolog | LanguageTree, languages: pd.Index) -> Floats:
    found = tree.covariance(str(name) for name in languages)
    if found.empty:
        raise DataError(
            f"none of {len(languages)} languages is in the tree: {listing(languages)}. Languages must have the names "
            "of the tree (in Glottolog ISO 639-3 codes or glottocodes): say which edition is in which language by "
            f"{option('edition_info')} with a column 'language'."
        )
    names = languages.astype(str)
    matrix: Floats = found.reindex(index=names, columns=names).to_numpy(dtype=float)
    return matrix


def _kilometres(
    languages: pd.Index,
    tree: Glottolog | LanguageTree | None,
    coordinates: pd.DataFrame | None,
    edition_info: pd.DataFrame | None,
) -> Floats:
    sources = []
    if coordinates is not None:
        sources.append(_table(coordinates, "coordinates"))
    if edition_info is not None and "language" in edition_info and set(PLACE) & set(edition_info):
        sources.append(_table(edition_info.set_index("language"), option("edition_info")))
    if isinstance(tree, Glottolog):
        sources.append(_table(tree.places(map(str, languages)), "Glottolog"))
    if not sources:
        raise ConfigError(
            "test 'area' needs places: columns 'latitude' and 'longitude' in "
            f"{words(python='coordinates, one row per language, or in edition_info', command=option('edition_info'))}; "
            f"or as {option('tree')} a folder with Glottolog's files, which have them."
        )
    places = pd.DataFrame(np.nan, languages, list(PLACE))
    for table in sources:
        places = places.fillna(table.reindex(languages))
    if places.isna().any(axis=1).all():
        raise DataError(f"none of {len(languages)} languages has coordinates: {listing(languages)}.")
    return great_circle(places["latitude"].to_numpy(), places["longitude"].to_numpy())


def _table(table: pd.DataFrame, source: str) -> pd.DataFrame:
    """Return latitude and longitude, one row per language; check them."""
    lacking = [column for column in PLACE if column not in table]
    if lacking:
        raise DataError(f"{source} lacks column(s) {listing(lacking)}; it has {listing(table.columns, 12)}.")
    given = table[list(PLACE)]
    places: pd.DataFrame = given.apply(exact_numbers)
    for column in PLACE:
        words = given.index[given[column].notna() & (given[column] != "") & places[column].isna()]
        if len(words):
            cell = given.loc[words[0], column]
            raise DataError(f"{source}: {column} of {listing(words)} is not a number of degrees, such as {cell!r}.")
    places = places.dropna()
    places = places[places.index.notna()]
    beyond = places.index[(places["latitude"].abs() > 90) | (places["longitude"].abs() > 180)]
    if len(beyond):
        raise DataError(f"{source}: coordinates of {listing(beyond)} are not degrees, −90 to 90 and −180 to 180.")
    places = places[~(places.reset_index().duplicated()).to_numpy()]
    twice = places.index[places.index.duplicated()].unique()
    if len(twice):
        raise DataError(f"{source}: {len(twice)} language(s) have several coordinates: {listing(twice)}. Give one.")
    return places
