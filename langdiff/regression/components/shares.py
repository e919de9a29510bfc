r"""Shares of the variance of difficulties: the language's own, and what changes with corpus, language model and others.

A cell is one table: a corpus, scored by a language model of some size. With :math:`d_{lg}` the difficulty of language l
in cell g, its mean of ln bits less that of all languages, and :math:`E_{gh}` the covariance that common test intents
give to cells g and h,

.. math:: S_{gh} = \frac{\sum_l d_{lg} d_{lh}}{L - 1} - E_{gh}

estimates the covariance of the cells. Its mean over the pairs of cells that agree on a set A of facets, and on no
other, is the sum of the components of language × B over all subsets B of A; components follow, the smallest sets first.
Of complete tables these are the estimators of the analysis of variance (Koch 1967, "A general approach to the
estimation of variance components"; Brennan 2001). Language models share the test intents of a corpus, so that E is
not zero between them.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit, logit

from langdiff.base.types import Booleans, Floats, Integers
from langdiff.errors import DataError, listing
from langdiff.tables.rule import t_interval

CLIPPED = 0.001  # share, and one less a share, of whose logit the jackknife is taken
LEVEL = 0.95
LANGUAGE = "language"


class Cells(NamedTuple):
    """Difficulties of languages in all cells, and what their errors are made of.

    Attributes
    ----------
    difficulty : ndarray, shape (L, G)
        Means of ln bits, or ln of bits; not centred.
    corpora : list of (list of int, ndarray of shape (n, L, C))
        For each corpus, its n cells that have intents, and for each of these, language and cluster of intents, the sum
        of deviations from the language's mean, so scaled that cross-products over clusters add up to covariances of
        means.
    """

    difficulty: Floats
    corpora: list[tuple[list[int], Floats]]

    def take(self, languages: Booleans) -> "Cells":
        """Return some of the languages."""
        return Cells(self.difficulty[languages], [(cells, z[:, languages]) for cells, z in self.corpora])

    def errors(self) -> Floats:
        """Return E, shape (G, G): mean covariances of errors of difficulties, 0 for tables without intents."""
        found: Floats = self._of_errors().sum(axis=0) / (len(self.difficulty) - 1)
        return found

    def covariances(self) -> Floats:
        """Return S, shape (G, G)."""
        found: Floats = self._products().sum(axis=0) / (len(self.difficulty) - 1)
        return found

    def covariances_without_each(self) -> Floats:
        """Return S without each language in turn, shape (L, G, G)."""
        products, count = self._products(), len(self.difficulty)
        found: Floats = (products.sum(axis=0) - products * count / (count - 1)) / (count - 2)
        return found

    def _products(self) -> Floats:
        """Return what each language adds to S, times L - 1, shape (L, G, G)."""
        centred = self.difficulty - self.difficulty.mean(axis=0)
        found: Floats = centred[:, :, None] * centred[:, None, :] - self._of_errors()
        return found

    def _of_errors(self) -> Floats:
        count, size = self.difficulty.shape
        found = np.zeros((count, size, size))
        for cells, z in self.corpora:
            centred = z - z.mean(axis=1, keepdims=True)
            found[np.ix_(range(count), cells, cells)] = centred.transpose(1, 0, 2) @ centred.transpose(1, 2, 0)
        return found


def deviations(log_bits: Floats, clusters: Integers) -> Floats:
    """Return deviations of clusters of intents from the means of languages, as `Cells` has them.

    Parameters
    ----------
    log_bits : ndarray, shape (I, L)
        ln bits, none missing.
    clusters : ndarray of int, shape (I,)
        Cluster of each intent, from 0.

    Returns
    -------
    ndarray, shape (L, C)
    """
    count = int(clusters.max()) + 1
    apart = log_bits - log_bits.mean(axis=0)
    summed = np.zeros((count, apart.shape[1]))
    np.add.at(summed, clusters, apart)
    found: Floats = summed.T * np.sqrt(count / (count - 1)) / len(log_bits)
    return found


def classes_of(facets: pd.DataFrame) -> dict[tuple[str, ...], Booleans]:
    """Return which pairs of cells agree on each set of facets and on no other, the smallest sets first.

    Raises
    ------
    DataError
        If there are none for a set, so that facets cannot be told apart.
    """
    names = [str(name) for name in facets]
    codes = [pd.factorize(facets[name])[0] for name in names]
    agrees = [code[:, None] == code for code in codes]
    found = {}
    for size in range(len(names) + 1):
        for wanted in combinations(names, size):
            parts = [same if name in wanted else ~same for name, same in zip(names, agrees, strict=True)]
            inside = np.logical_and.reduce(parts)
            if not inside.any():
                differ = listing(name for name in names if name not in wanted)
                agree = f"agree on {listing(wanted)} and " if wanted else ""
                raise DataError(
                    f"no two tables {agree}differ in {differ}, so that these facets cannot be told apart. Give tables "
                    "in which they are crossed, or leave one out of the facets."
                )
            found[wanted] = inside
    return found


def components_of(covariances: Floats, classes: dict[tuple[str, ...], Booleans]) -> Floats:
    """Return the variance components of the classes, in their order, negative ones as they are.

    Examples
    --------
    >>> facets = pd.DataFrame({"corpus": ["a", "b"]})
    >>> components_of(np.array([[3.0, 1.0], [1.0, 3.0]]), classes_of(facets))
    array([1., 2.])
    """
    found: dict[tuple[str, ...], float] = {}
    for wanted, inside in classes.items():
        below = sum(value for other, value in found.items() if set(other) < set(wanted))
        found[wanted] = float(covariances[inside].mean()) - below
    return np.array(list(found.values()))


def shares_of(components: Floats) -> Floats:
    """Return components over their sum, negative ones counted as 0."""
    positive = np.maximum(components, 0)
    found: Floats = positive / max(positive.sum(), np.finfo(float).tiny)
    return found


def jackknife(values: Floats, without: Floats) -> tuple[Floats, Floats]:
    """Return both ends of intervals by leaving out one language at a time.

    Parameters
    ----------
    values : ndarray, shape (K,)
        Estimates, on a scale on which they are about normal.
    without : ndarray, shape (L, K)
        The same without each language.
    """
    count = len(without)
    pseudo = count * values - (count - 1) * without
    return t_interval(pseudo.mean(axis=0), pseudo.std(axis=0, ddof=1) / np.sqrt(count), count - 1, level=LEVEL)


def table_of_shares(
    cells: Cells, classes: dict[tuple[str, ...], Booleans], families: Sequence[str] | None
) -> pd.DataFrame:
    """Return components and shares with intervals by leaving out languages, and their ranges without each family.

    Parameters
    ----------
    cells : Cells
        Difficulties and their errors.
    classes : dict
        As `classes_of` returns them.
    families : sequence of str or None, length L
        Families of the languages, if they are known.
    """

    def shares(languages: Booleans) -> Floats:
        return shares_of(components_of(cells.take(languages).covariances(), classes))

    def logits(values: Floats) -> Floats:
        found: Floats = logit(np.clip(values, CLIPPED, 1 - CLIPPED))
        return found

    everyone = np.ones(len(cells.difficulty), dtype=bool)
    components = components_of(cells.covariances(), classes)
    without = np.array([logits(shares_of(components_of(s, classes))) for s in cells.covariances_without_each()])
    share = shares_of(components)
    low, high = (expit(limit) for limit in jackknife(logits(share), without))
    # Shares below the clip are not told apart: an interval that reaches it begins at 0. Pseudo-values may leave out a
    # share close to it, so that every interval is made to hold its estimate.
    low, high = np.minimum(np.where(low <= CLIPPED, 0.0, low), share), np.maximum(high, share)
    frame = pd.DataFrame(
        {"variance": components, "share": share, "low": low, "high": high},
        index=pd.Index([component_name(wanted) for wanted in classes], name="component"),
    )
    if families is not None and len(set(families)) > 1:
        named = np.array(families, dtype=object)
        each = np.array([shares(everyone & (named != family)) for family in dict.fromkeys(families)])
        frame["family_low"], frame["family_high"] = each.min(axis=0), each.max(axis=0)
    return frame


def component_name(facets: Iterable[str]) -> str:
    """Return the name of the component of language and some facets.

    Examples
    --------
    >>> component_name(["corpus", "lm"])
    'language:corpus:lm'
    """
    return ":".join([LANGUAGE, *facets])
