"""Where a line-aligned file that is one line shorter or longer than the others has lost or gained it.

Lengths of translations of one text go together. For every line, the evidence that its length and the usual one are
those of one content, not of two, is a log-likelihood ratio; the line that is missing is where the sum of the evidence
is largest if all lines before it fit the same line of the other files, and all others the next one.
"""

from collections.abc import Sequence

import numpy as np

from langdiff.base.types import Floats
from langdiff.corpora.alignment.lengths import GREATEST, LEAST, correlation, log_ratio, normal_scores

LEAST_LINES = 100  # of which lengths tell anything
CERTAIN = 3.0  # nats by which the lines named are likelier than all others
MOST_LINES = 50  # that are named; if more are as likely, the lengths do not tell
ALPHA = 0.05


def advice(lengths: Floats, others: Sequence[Floats], unit: str = "line") -> str:
    """Return which line seems to be missing from a file, or to be one too many, as a sentence.

    Parameters
    ----------
    lengths : ndarray of float, shape (n,)
        Numbers of characters of the lines; 0 where a line is empty.
    others : sequence of ndarray of float, shape (n + 1,) or (n - 1,)
        The same of other files, which all have as many lines.
    unit : str
        What a line is called.

    Returns
    -------
    str
        Empty if the lengths do not tell.

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
        rho = _correlation(np.append(own[:place], own_later[place:]), np.append(here[:place], later[place:]))
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


def _correlation(own: Floats, usual: Floats) -> float:
    """Return the correlation of two arrays, within bounds."""
    both = np.isfinite(own) & np.isfinite(usual)
    found = correlation(own[both], usual[both]) if both.sum() >= LEAST_LINES else np.nan
    return LEAST if np.isnan(found) else float(np.clip(found, LEAST, GREATEST))
