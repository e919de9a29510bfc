"""How the lengths of texts fit their editions: lengths to be expected, evidence of translation, and lines lost.

Of the logarithm of the length of a text, a part is the edition's (its language and script), a part the intent's (how
much is said), and the rest is the translator's. What the others have beside their own part is the *content* of an
intent; an edition whose lengths do not follow it is out of step.

The ranks of an edition's lengths and those of the contents are turned into normal scores, z and c. Where both are of
one content, they are taken to be bivariate normal with the edition's correlation ρ; where not, independent. The log of
the ratio of the two densities is bounded below, so that a free translation of one text does not matter.

Lengths of translations of one text go together. For every line, the evidence that its length and the usual one are
those of one content, not of two, is a log-likelihood ratio; the line that is missing is where the sum of the evidence
is largest if all lines before it fit the same line of the other files, and all others the next one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from langdiff.base.types import Booleans, Floats, Integers

Numbers = NDArray[np.floating[Any]]  # of 32 bits, where there are many

_CLIPPED = 3  # spreads from the typical length, beyond which a text has no more weight
_HEAVIEST = 3  # times the typical weight of an edition
_LEAST_SPREAD = 1e-3  # of an edition whose texts are copies of others
NORMAL = 1.4826  # median absolute deviation to standard deviation
WORST = -2.0  # nats of evidence against an offset that one text can have
_PIECE = 200  # intents whose correlation is taken at once
LEAST, GREATEST = 0.5, 0.98  # correlation that is used
_ENOUGH = 20  # texts of a piece
_ENOUGH_EDITIONS = 20  # editions whose language is known, for the others to be judged by them
_NARROWEST, _WIDEST = 0.02, 0.06  # spread of the differences; beyond the latter, texts are too different to be judged
NOTED, WARNED = 3.5, 5.0  # robust standard scores
LEAST_LINES = 100  # of which lengths tell anything
CERTAIN = 3.0  # nats by which the lines named are likelier than all others
MOST_LINES = 50  # that are named; if more are as likely, the lengths do not tell
ALPHA = 0.05


@dataclass(frozen=True)
class Consensus:
    """Lengths without the part of the edition, and what all editions together say of the intents.

    Attributes
    ----------
    level : ndarray, shape (J,)
        The part of each edition, b.
    rest : ndarray, shape (I, J)
        Lengths without it, r.
    typical : ndarray, shape (I,)
        Median of these, a.
    spread : ndarray, shape (J,)
        How far the texts of an edition are from what is typical, s.
    """

    level: Numbers
    rest: Numbers
    typical: Numbers
    spread: Numbers
    _weights: Numbers
    _clipped: Numbers  # times weights, 0 where missing
    _has: Booleans
    _sums: tuple[Numbers, Numbers]

    def content(self, editions: Integers | slice) -> Numbers:
        """Return what the other editions say of each intent; NaN where none of them has it."""
        has = self._has[:, editions]
        weights = self._weights[editions] * has
        total = self._sums[1][:, None] - weights
        others = total > 1e-9 * self._weights.max(initial=1.0)
        content = np.full(has.shape, np.nan, dtype=self.rest.dtype)
        np.divide(self._sums[0][:, None] - self._clipped[:, editions], total, out=content, where=others)
        return content


def consensus_of(lengths: Numbers, used: Booleans | None = None) -> Consensus:
    """Return the consensus of a table of logarithms of lengths.

    Shapes: lengths (I, J); used (I, J).

    Examples
    --------
    >>> lengths = np.log([[20.0, 10, 15], [200, 100, 150], [40, 20, 10]])
    >>> consensus = consensus_of(lengths)
    >>> np.exp(consensus.content(slice(0, 1))).ravel().round(1)  # the second and the third, the third less
    array([0.5, 5. , 1. ])
    """
    counted = lengths if used is None else np.where(used, lengths, np.nan)
    level = medians(counted, axis=0)
    typical = medians(counted - level, axis=1)
    level = level + medians(counted - level - typical[:, None], axis=0)
    rest = lengths - level
    typical = medians(counted - level, axis=1)
    distance = rest - typical[:, None]
    spread = NORMAL * medians(np.abs(distance if used is None else np.where(used, distance, np.nan)), axis=0)
    spread = np.where(np.isfinite(spread), np.maximum(spread, _LEAST_SPREAD), 1.0).astype(rest.dtype)
    precision = spread**-2
    weights = np.minimum(precision, _HEAVIEST * np.median(precision))
    has = np.isfinite(counted) & np.isfinite(typical)[:, None]
    clipped = typical[:, None] + np.clip(distance, -_CLIPPED * spread, _CLIPPED * spread)
    clipped = np.where(has, weights * clipped, 0)
    sums: tuple[Numbers, Numbers] = clipped.sum(axis=1), np.asarray(has @ weights)
    return Consensus(level, rest, typical, spread, weights, clipped, has, sums)


def medians(values: Numbers, axis: int) -> Numbers:
    """Return medians without NaN; NaN where there is nothing else.

    Examples
    --------
    >>> medians(np.array([[1.0, 5.0, np.nan], [np.nan, np.nan, np.nan]]), axis=1)
    array([ 3., nan])
    """
    ordered = np.sort(values, axis=axis)
    counts = np.isfinite(ordered).sum(axis=axis, keepdims=True)
    middle = [np.take_along_axis(ordered, np.maximum(at, 0), axis=axis) for at in ((counts - 1) // 2, counts // 2)]
    found: Numbers = np.where(counts > 0, (middle[0] + middle[1]) / 2, np.nan).squeeze(axis)
    return found


def normal_scores(values: Numbers) -> Numbers:
    """Return the normal scores of the ranks in each column, NaN where a value is missing.

    Examples
    --------
    >>> normal_scores(np.array([[3.0], [np.nan], [1.0], [2.0]])).round(3).ravel()
    array([ 0.967,    nan, -0.967,  0.   ])
    """
    from scipy.special import ndtri  # formats of corpora load this file, and never come here

    scores = np.full(values.shape, np.nan, dtype=values.dtype)
    for column in range(values.shape[1]):
        has = np.isfinite(values[:, column])
        if has.any():
            scores[has, column] = ndtri((pd.Series(values[has, column]).rank() - 0.5) / has.sum())
    return scores


def standardized(content: Numbers, own: Numbers) -> Numbers:
    """Return normal scores of contents with mean 0 and variance 1 over the intents that the edition has.

    Shapes: content, own (I, J).
    """
    scores = normal_scores(content)
    among = np.where(np.isfinite(own) & np.isfinite(scores), scores, np.nan)
    count = np.maximum(np.isfinite(among).sum(axis=0), 1)
    mean = np.nansum(among, axis=0) / count
    deviation = np.sqrt(np.nansum((among - mean) ** 2, axis=0) / count)
    found: Numbers = (scores - mean) / np.where(deviation > 0, deviation, 1)
    return found


def log_ratio(z: Numbers, c: Numbers, correlation: Numbers | float) -> Numbers:
    """Return how much likelier two scores are as those of one content than of two, in nats.

    Examples
    --------
    >>> log_ratio(np.array([1.0, 0.0, 1.0]), np.array([1.0, 0.0, -1.0]), 0.9).round(6)
    array([ 1.30405 ,  0.830366, -2.      ])
    """
    square = 1 - np.square(correlation)
    joint = np.square(correlation) * (z * z + c * c) - 2 * correlation * z * c
    ratio = -0.5 * np.log(square) - joint / (2 * square)
    found: Numbers = np.where(np.isnan(ratio), 0.0, np.maximum(ratio, WORST))
    return found


def shifted(values: Numbers, offset: int) -> Numbers:
    """Return a table whose row i is row i + offset of another, NaN beyond its ends."""
    found = np.full_like(values, np.nan)
    if abs(offset) < len(values):
        to = slice(max(-offset, 0), len(values) - max(offset, 0))
        found[to] = values[max(offset, 0) : len(values) - max(-offset, 0)]
    return found


def correlations(z: Numbers, c: Numbers, max_offset: int) -> Numbers:
    """Return the correlation of each edition with the others, where it is in step.

    It is the median over pieces of about 200 of its texts; if that is less than one half, the largest over all offsets,
    because all of the edition may be out of step.

    Shapes: z, c (I, J).
    """
    found = np.array([_correlation(z[:, j], c[:, j]) for j in range(z.shape[1])], dtype=z.dtype)
    for j in np.flatnonzero(~(found >= LEAST)).tolist():
        others = [shifted(c[:, j], offset) for offset in range(-max_offset, max_offset + 1)]
        found[j] = np.nanmax([_correlation(z[:, j], other) for other in others] + [LEAST])
    return np.clip(found, LEAST, GREATEST)


def _correlation(z: Numbers, c: Numbers) -> float:
    both = np.flatnonzero(np.isfinite(z) & np.isfinite(c))
    if len(both) < _ENOUGH:
        return np.nan
    pieces = np.array_split(both, max(round(len(both) / _PIECE), 1))
    found = [one for piece in pieces if not np.isnan(one := correlation(z[piece], c[piece]))]
    return float(np.median(found)) if found else np.nan


def correlation(one: Numbers, other: Numbers) -> float:
    """Return the correlation of two arrays without missing values; NaN if one of them is constant."""
    one, other = one - one.mean(), other - other.mean()
    scale = float(np.sqrt((one @ one) * (other @ other)))
    return float(one @ other) / scale if scale > 0 else np.nan


def evidence(z: Numbers, c: Numbers, correlation: Numbers, max_offset: int) -> Numbers:
    """Return the log ratio of every text for every offset, and 0 for the state that fits nothing."""
    found = np.zeros((2 * max_offset + 2, *z.shape), dtype=np.float32)
    for state, offset in enumerate(range(-max_offset, max_offset + 1)):
        found[state] = log_ratio(z, shifted(c, offset), correlation)
    return found


def levels_of(level: Numbers, languages: pd.Series) -> pd.DataFrame:
    """Return how much longer editions are than their languages in FLORES-200.

    Shapes: level (J,).

    Examples
    --------
    >>> levels_of(np.array([0.0, 0.1]), pd.Series(["deu", "xxx"], index=["a", "b"])).values.tolist()
    [[0.0, nan], [nan, nan]]
    """
    sizes = _sizes()
    names = [str(name) if str(name) in sizes else language for name, language in languages.items()]
    expected = np.array([np.log(sizes[name]) if name in sizes else np.nan for name in names])
    difference = level - expected
    known = np.isfinite(difference)
    centred = difference - (np.median(difference[known]) if known.any() else np.nan)
    spread = NORMAL * float(np.median(np.abs(centred[known]))) if known.any() else np.nan
    judged = known.sum() >= _ENOUGH_EDITIONS and spread <= _WIDEST
    score = centred / max(spread, _NARROWEST) if judged else np.full(len(level), np.nan)
    return pd.DataFrame({"level": centred, "level_z": score}, index=languages.index)


@cache
def _sizes() -> dict[str, int]:
    """Return the number of characters of FLORES-200 by edition, language and other codes; the first counts."""
    found: dict[str, int] = {}
    file = Path(__file__).parents[1] / "flores200_sizes.txt"
    for line in file.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            edition, size, *others = line.split()
            for name in (edition, edition.partition("_")[0], *others):
                found.setdefault(name, int(size))
    return found


def advice(lengths: Floats, others: Sequence[Floats], unit: str = "line") -> str:
    """Return which line seems to be missing from a file, or to be one too many, as a sentence.

    Shapes: lengths (n,); others (n + 1,).

    Examples
    --------
    >>> rng = np.random.default_rng(2)
    >>> usual = np.exp(rng.normal(4, 0.6, 300)).round()
    >>> others = [(usual * rng.uniform(0.97, 1.03, 300)).round() for _ in range(4)]
    >>> advice(np.delete(usual, 119), others)
    'Lines from 120 on fit one later: line 120 seems to be missing.'
    >>> advice(np.insert(usual, 199, 31.0), others)
    'Lines from 201 on fit one earlier: line 200 seems to be one too many.'
    """
    step = len(others[0]) - len(lengths) if others else 0
    if abs(step) != 1 or len(lengths) < LEAST_LINES:
        return ""
    own = _scores(np.where(lengths > 0, lengths, np.nan))
    theirs = np.array([_scores(np.where(each > 0, each, np.nan)) for each in others])
    with np.errstate(invalid="ignore"):  # where no file has a text
        usual = _scores(np.nansum(theirs, axis=0) / np.isfinite(theirs).sum(axis=0))
    n = min(len(own), len(usual))
    here, later = (usual[:n], usual[1 : n + 1]) if step > 0 else (usual[:n], usual[:n])
    own_later = own[:n] if step > 0 else own[1 : n + 1]
    total, rho = np.zeros(n + 1), LEAST
    for _ in range(2):  # the correlation is known better when the place is
        fits, fits_later = log_ratio(own[:n], here, rho), log_ratio(own_later, later, rho)
        total = np.append(0.0, np.cumsum(fits)) + np.append(np.cumsum(fits_later[::-1])[::-1], 0.0)
        place = int(total.argmax())
        rho = _correlation_to(np.append(own[:place], own_later[place:]), np.append(here[:place], later[place:]))
    if total.max() < np.log(len(lengths) / ALPHA):
        return ""
    likely = np.flatnonzero(total >= total.max() - CERTAIN) + 1
    first, last = int(likely[0]), int(likely[-1])
    if last - first >= MOST_LINES:
        return ""
    which = f"{unit} {first:,} seems" if first == last else f"one of the {unit}s {first:,} to {last:,} seems"
    if step > 0:
        return f"{unit.capitalize()}s from {last:,} on fit one later: {which} to be missing."
    return f"{unit.capitalize()}s from {last + 1:,} on fit one earlier: {which} to be one too many."


def _scores(values: Floats) -> Floats:
    """Return normal scores of the lengths of a file, NaN where they are."""
    scores: Floats = np.asarray(normal_scores(values[:, None])[:, 0], dtype=float)
    return scores


def _correlation_to(own: Floats, usual: Floats) -> float:
    """Return the correlation of two arrays, within bounds."""
    both = np.isfinite(own) & np.isfinite(usual)
    found = correlation(own[both], usual[both]) if both.sum() >= LEAST_LINES else np.nan
    return LEAST if np.isnan(found) else float(np.clip(found, LEAST, GREATEST))
