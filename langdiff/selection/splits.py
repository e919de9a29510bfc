"""Division of a multitext into parts, once or in several folds, with groups of intents kept together."""

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import pandas as pd

from langdiff.base.types import Booleans, Floats, Integers
from langdiff.errors import ConfigError, DataError, listing, option
from langdiff.tables.intent_info import label_intents
from langdiff.tables.multitext import Folds, Multitext, Parts, check_multitext


def deal_groups(sizes: Integers, shares: Floats) -> Integers:
    r"""Assign each group to the part that is furthest below its share of the text so far.

    Group g, which brings the text to :math:`N_g` intents, goes to

    .. math:: \arg\max_p \; w_p N_g - n_p

    where w is the share of part p and n the number of intents that it has. Parts that would remain empty then get the
    group whose size is nearest to their share, from a part that has several.

    Shapes: sizes (G,); shares (P,).

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
    """Return an indicator of the intents that all editions have, shape (I,)."""
    if incomplete not in ("error", "drop", "test"):
        raise ConfigError(f"{option('incomplete', incomplete)}: must be 'error', 'drop' or 'test'.")
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

    Shapes: group (I,); counted (I,); shares (P,); among (I,).
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


TOGETHER = 5  # consecutive intents in a group where none are given, as in the test part of `split`


def split_into_folds(
    multitext: Multitext,
    n_folds: int = 5,
    *,
    groups: Groups | None = None,
    dev_share: float = 0.1,
    incomplete: Incomplete = "error",
) -> Folds:
    """Divide whole documents or books into folds, each measured once and otherwise used for training.

    In the order of the text, each group goes to the fold that is furthest behind, so that folds have about the same
    number of intents and sample the text alike. Of the groups outside of a fold, some are its dev part.

    Parameters
    ----------
    multitext : Multitext
        Multitext to divide.
    n_folds : int
        Number of folds.
    groups : str, mapping or Series, optional
        Intents that stay together: a column of `intent_info`, such as ``"document"`` or ``"book"``, or the group of
        each intent; by default every five consecutive intents.
    dev_share : float
        Share of the intents outside of a fold that are its dev part.
    incomplete : {"error", "drop", "test"}
        Treatment of intents that some edition lacks: raise an error, leave them out, or measure them in the fold of
        their group without training on them. Intents that no edition has are left out except with ``"error"``.

    Returns
    -------
    Folds
        Parts of every fold, for `langdiff.compute_surprisals`.

    Raises
    ------
    ConfigError
        If a number is out of range, or `groups` is not a column of `intent_info`.
    DataError
        If intents are incomplete and `incomplete` is ``"error"``, have a column ``"fold"`` already, or have no group,
        or if groups are too few or too unequal to give every part of every fold at least half of its share.

    Examples
    --------
    >>> import langdiff as ld
    >>> bible = ld.read_frame(pd.DataFrame({"eng": ["text"] * 66, "deu": ["Text"] * 66}))
    >>> document = pd.Series([f"d{i // 3}" for i in range(66)], index=bible.intents, name="document")
    >>> folds = split_into_folds(bible, 3, groups=document)
    >>> folds
    Folds: 3 folds of 22 groups (document): all 66 intents are measured; each fold has train 39 to 42, dev 3, test 21 \
to 24 intents
    >>> document[folds.parts[0].test.intents].unique().tolist()[:3]
    ['d0', 'd3', 'd6']
    """
    check_multitext(multitext)
    if not isinstance(n_folds, int) or n_folds < 2:
        raise ConfigError(f"{option('n_folds')} must be a whole number from 2 up, got {n_folds!r}.")
    if not isinstance(dev_share, int | float) or not 0 < dev_share < 1:
        raise ConfigError(f"dev_share is a share of intents, between 0 and 1; got {dev_share!r}.")
    if "fold" in multitext.intent_info:
        raise DataError("the intents have a column 'fold' already, which would be replaced by these folds; rename it.")
    complete = find_complete(multitext, incomplete)
    present: Booleans = np.logical_or.reduce(multitext.presence.to_numpy(), axis=1)
    measured = complete if incomplete == "drop" else present
    group = _consecutive(complete, multitext.intents) if groups is None else groups_of(multitext, groups)
    fold = _assign(group, complete, measured, n_folds)
    parts = []
    for number in range(n_folds):
        tested = fold == number
        shares = np.array([1 - dev_share, dev_share])
        of_rest = divide_groups(group, complete, shares, ("train", "dev"), among=~tested)
        rows = (complete & (of_rest == 0), complete & (of_rest == 1), tested & measured)
        train, dev, test = (multitext.sel(intents=multitext.intents[part]) for part in rows)
        parts.append(Parts(train=train, dev=dev, test=test))
    kept = multitext.sel(intents=multitext.intents[measured])
    return Folds(multitext=kept, parts=tuple(parts), group=group[kept.intents])


def _assign(group: pd.Series, complete: Booleans, measured: Booleans, n_folds: int) -> Integers:
    """Return the fold of every intent, -1 for intents that are not measured.

    Groups with complete intents are dealt by their number, so that all folds train on as much text; the other groups,
    on which nothing is trained, by the number of all their intents.
    """
    shares = np.full(n_folds, 1 / n_folds)
    names = [f"fold {number}" for number in range(1, n_folds + 1)]
    fold = divide_groups(group, complete, shares, names)
    rest = measured & (fold == -1)
    if rest.any():
        codes, _ = pd.factorize(group[rest])
        fold[rest] = deal_groups(np.bincount(codes), shares)[codes]
    return np.where(measured, fold, -1)


def _consecutive(complete: Booleans, intents: pd.Index) -> pd.Series:
    """Return groups of consecutive intents, a fixed number of which are complete."""
    number = (np.cumsum(complete) - 1).clip(min=0) // TOGETHER
    return pd.Series(number, index=intents, name="five consecutive intents")
