"""Division of a multitext into parts, with groups of intents kept together."""

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import pandas as pd

from langdiff.base.types import Booleans, Floats, Integers
from langdiff.errors import ConfigError, DataError, listing, option
from langdiff.tables.divisions import Parts
from langdiff.tables.intent_info import label_intents
from langdiff.tables.multitext import Multitext, check_multitext


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


Incomplete = Literal["error", "drop", "test"]
Groups = str | Mapping[object, object] | pd.Series


def find_complete(multitext: Multitext, incomplete: Incomplete) -> Booleans:
    """Return which intents all editions have, shape (I,).

    Raises
    ------
    ConfigError
        If `incomplete` is not one of the three.
    DataError
        If there are none, or not all are and `incomplete` is ``"error"``.
    """
    if incomplete not in ("error", "drop", "test"):
        raise ConfigError(f"incomplete must be 'error', 'drop' or 'test', not {incomplete!r}.")
    complete: Booleans = np.logical_and.reduce(multitext.presence.to_numpy(), axis=1)
    if not complete.any():
        raise DataError(
            f"no intent is in all {len(multitext.editions):,} editions. Choose editions that share some: `select` "
            "finds them."
        )
    if incomplete == "error" and not complete.all():
        raise DataError(
            f"{(~complete).sum():,} of {len(multitext):,} intents are missing in some edition, the first "
            f"{multitext.intents[~complete][0]!r}. Choose editions that share more (select), or pass "
            f"{option('incomplete', 'drop')} to leave such intents out or {option('incomplete', 'test')} to keep them "
            "for the regression."
        )
    return complete


def groups_of(multitext: Multitext, groups: Groups) -> pd.Series:
    """Return the group of every intent; see `langdiff.tables.intent_info.label_intents`, also for the errors."""
    return label_intents(multitext.intents, multitext.intent_info, groups, "groups")


def divide_groups(
    group: pd.Series, counted: Booleans, shares: Floats, parts: Sequence[str], *, among: Booleans | None = None
) -> Integers:
    """Divide intents into parts, whole groups at a time.

    Parameters
    ----------
    group : Series, shape (I,)
        Group of every intent, in the order of the text.
    counted : ndarray of bool, shape (I,)
        Which intents make up the size of a group; only groups that have some are divided.
    shares : ndarray, shape (P,)
        Share of each part.
    parts : sequence of str
        Names of the parts, for messages.
    among : ndarray of bool, shape (I,), optional
        Intents that are divided; all by default.

    Returns
    -------
    ndarray of int, shape (I,)
        Part of each intent; -1 for those of other groups, or that are not divided.

    Raises
    ------
    DataError
        If there are fewer groups than parts, or a part has less than half of its share.
    """
    counted = counted if among is None else counted & among
    codes, names = pd.factorize(group)
    sizes = np.bincount(codes[counted], minlength=len(names))
    some = np.flatnonzero(sizes)
    if len(some) < len(parts):
        raise DataError(
            f"{len(some)} group(s) ({group.name}) with intents that all editions have cannot be divided into "
            f"{len(parts)} parts ({listing(parts)}). Give smaller groups, such as chapters in place of "
            "books."
        )
    of_group = np.full(len(names), -1)
    of_group[some] = deal_groups(sizes[some], shares)
    given = np.array([sizes[of_group == part].sum() for part in range(len(parts))])
    short = np.flatnonzero(given < 0.5 * shares * sizes.sum())
    if len(short):
        largest, part = int(np.argmax(sizes)), int(short[0])
        raise DataError(
            f"groups ({group.name}) are too few or too unequal: {parts[part]} would get {given[part]:,} of "
            f"{sizes.sum():,} intents, less than half of its share of {shares[part]:.0%}. The largest group, "
            f"{str(names[largest])!r}, has {sizes[largest]:,}. Give smaller groups, or leave it out."
        )
    found = of_group[codes]
    return found if among is None else np.where(among, found, -1)


def split(
    multitext: Multitext,
    *,
    groups: Groups | None = None,
    block: int = 30,
    dev: int = 5,
    test: int = 5,
    incomplete: Incomplete = "error",
) -> Parts:
    """Divide blocks of consecutive intents: the first few to dev, the next few to test, the rest to train.

    Thus every part samples all books and sessions alike (Mielke et al. 2019, appendices D and E). The intents that all
    editions have are counted from n = 1; dev takes those where n modulo `block` is 1 to `dev`, test those with the
    next `test` remainders, and train all others, in the multitext's order.

    With `groups`, whole documents or books are divided instead: in the order of the text, each goes to the part that is
    furthest behind its share, so that parts have about their share of the intents and sample the text alike.

    Parameters
    ----------
    multitext : Multitext
        Multitext to divide.
    groups : str, mapping or Series, optional
        Intents that stay together: a column of `intent_info`, such as ``"document"`` or ``"book"``, or the group of
        each intent. Without them, sentences of one document are in several parts.
    block : int
        Number of intents per block. With `groups`, ``dev / block`` and ``test / block`` are the shares of the intents.
    dev, test : int
        Number of intents of each block that go to dev and to test.
    incomplete : {"error", "drop", "test"}
        Treatment of intents that some edition lacks: raise an error, leave them out, or add them to test in the
        multitext's order, where the regression can use them. Intents that no edition has are left out except with
        ``"error"``. With `groups`, incomplete intents whose group is in train or dev are left out.

    Returns
    -------
    Parts
        Train, dev and test.

    Raises
    ------
    DataError
        If intents are incomplete and `incomplete` is ``"error"``, a part would be empty, an intent has no group, or
        groups are too few or too unequal to give every part at least half of its share.
    ConfigError
        If the numbers do not fit into a block, or `groups` is not a column of `intent_info`.

    Examples
    --------
    >>> import langdiff as ld, pandas as pd
    >>> bible = ld.read_frame(pd.DataFrame({"eng": ["text"] * 66, "deu": ["Text"] * 66}))
    >>> print(split(bible).summary())
    train 40, dev 15, test 11 intents
    >>> document = pd.Series([f"d{i // 3}" for i in range(66)], index=bible.intents)
    >>> parts = split(bible, groups=document)
    >>> print(parts.summary())
    train 45, dev 12, test 9 intents
    >>> document[parts.test.intents].unique().tolist()
    ['d4', 'd10', 'd16']
    """
    check_multitext(multitext)
    if min(dev, test) < 1 or dev + test >= block:
        raise ConfigError(
            f"a block of {block} intents cannot give {dev} to dev and {test} to test: each needs at least "
            "one, and train too."
        )
    complete = find_complete(multitext, incomplete)
    present: Booleans = np.logical_or.reduce(multitext.presence.to_numpy(), axis=1)
    if groups is None:
        remainder = np.cumsum(complete) % block
        in_dev = complete & (remainder >= 1) & (remainder <= dev)
        in_test = complete & (remainder > dev) & (remainder <= dev + test)
        in_train = complete & ~in_dev & ~in_test
        others = ~complete & present
    else:
        shares = np.array([block - dev - test, dev, test]) / block
        part = divide_groups(groups_of(multitext, groups), complete, shares, ("train", "dev", "test"))
        in_train, in_dev, in_test = (complete & (part == number) for number in range(3))
        others = ~complete & present & ((part == 2) | (part == -1))
    for name, rows in (("train", in_train), ("dev", in_dev), ("test", in_test)):
        if not rows.any():
            raise DataError(
                f"{complete.sum()} complete intents leave none for {name}; at least {dev + test + 1} are needed, "
                "or a smaller block."
            )
    if incomplete == "test":
        in_test |= others
    train, tuned, measured = (multitext.sel(intents=multitext.intents[rows]) for rows in (in_train, in_dev, in_test))
    return Parts(train=train, dev=tuned, test=measured)
