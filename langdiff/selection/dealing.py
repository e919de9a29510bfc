"""Dealing groups of unequal size to parts, so that every part samples the text alike."""

import numpy as np

from langdiff.base.types import Floats, Integers


def deal_groups(sizes: Integers, shares: Floats) -> Integers:
    r"""Give each group to the part that is furthest behind its share of the text so far.

    Group g, which brings the text to :math:`N_g` intents, goes to

    .. math:: \arg\max_p \; w_p N_g - n_p

    where w is the share of part p and n the number of intents that it has. Parts that would remain empty then get the
    group whose size is nearest to their share, from a part that has several.

    Parameters
    ----------
    sizes : ndarray of int, shape (G,)
        Number of intents of each group, in the order of the text.
    shares : ndarray, shape (P,)
        Share of each part; they sum to 1.

    Returns
    -------
    ndarray of int, shape (G,)
        Part of each group, from 0. A part is empty only if there are fewer groups than parts.

    Examples
    --------
    >>> deal_groups(np.ones(9, dtype=int), np.array([2 / 3, 1 / 3]))
    array([0, 1, 0, 0, 1, 0, 0, 1, 0])
    >>> deal_groups(np.array([50, 3, 4]), np.array([0.8, 0.1, 0.1]))
    array([0, 1, 2])
    """
    part = np.zeros(len(sizes), dtype=np.int_)
    given = np.zeros(len(shares))
    for group, (size, total) in enumerate(zip(sizes, np.cumsum(sizes), strict=True)):
        behind = shares * total - given
        part[group] = int(np.argmax(behind.round(9)))  # ties are not left to rounding
        given[part[group]] += size
    for empty in np.setdiff1d(np.arange(len(shares)), part)[: max(0, len(sizes) - len(np.unique(part)))]:
        counts = np.bincount(part, minlength=len(shares))
        spare = np.flatnonzero(counts[part] > 1)
        distance = np.abs(sizes[spare] - shares[empty] * sizes.sum())
        part[spare[int(np.argmin(distance))]] = empty
    return part
