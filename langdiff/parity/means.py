r"""Premiums against the mean of the editions, where cells may be missing.

Counts of intent i in edition j are taken as :math:`a_i e^{b_j}` with :math:`\sum_j b_j = 0`, fitted by the likelihood
of the Poisson distribution. The premium of edition j is :math:`e^{b_j}`: of a complete table its total over the
geometric mean of all totals. No edition has to have all intents, as a reference would. Given the total of every
intent, the likelihood is that of a multinomial logit, which is concave.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from langdiff.base.types import Floats
from langdiff.errors import DataError

MEAN = "mean"  # name of this reference
TOLERANCE = 1e-12
MOST_STEPS = 100


class Premiums(NamedTuple):
    """Logarithms of premiums and the influence of every intent on them."""

    logarithms: Floats  # (J,)
    influence: Floats  # (I, J)


def two_way_premiums(counts: Floats, known: Floats) -> Premiums:
    """Fit the logarithms of premiums against the mean.

    Parameters
    ----------
    counts : ndarray, shape (I, J)
        Counts; 0 where an edition lacks an intent.
    known : ndarray, shape (I, J)
        1 where an edition has an intent, 0 elsewhere.

    Returns
    -------
    Premiums
        Logarithms, shape (J,), of sum 0; and the influence of every intent on them, shape (I, J).

    Raises
    ------
    DataError
        If an edition has no counts, or editions share no intents, even by way of others.

    Examples
    --------
    >>> totals = two_way_premiums(np.array([[30.0, 36.0, 30.0]]), np.ones((1, 3)))
    >>> np.exp(totals.logarithms).round(7).tolist()
    [0.941036, 1.1292432, 0.941036]
    """
    editions = counts.shape[1]
    totals = counts.sum(axis=0)
    if not (totals > 0).all():
        raise DataError("an edition has no counts, so that it has no premium against the mean. Leave it out.")
    shared = csr_array(known.T @ known)
    parts, _ = connected_components(shared, directed=False)
    if parts > 1:
        raise DataError(
            f"editions are in {parts} groups that share no intents: they have no common mean. Compare one group at a "
            "time."
        )
    of_intents = counts.sum(axis=1, keepdims=True)
    b = np.log(totals) - np.log(totals).mean()
    for _ in range(MOST_STEPS):
        shares = known * np.exp(b)
        shares /= np.maximum(shares.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        scores = counts - of_intents * shares
        expected = of_intents * shares
        information = np.diag(expected.sum(axis=0)) - expected.T @ shares
        inverse = np.linalg.inv(information + totals.mean() / editions) - 1 / (totals.mean() * editions)
        step = scores.sum(axis=0) @ inverse
        b = b + step - step.mean()
        if np.abs(step).max() < TOLERANCE:
            return Premiums(b, scores @ inverse)
    raise DataError("premiums against the mean were not found: too few intents are shared. Name a reference.")
