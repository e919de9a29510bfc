"""Dividing a multitext into training, development and test intents."""

import numpy as np

from langdiff.base.types import Booleans
from langdiff.errors import ConfigError, DataError
from langdiff.selection.grouping import Groups, Incomplete, divide_groups, find_complete, groups_of
from langdiff.tables.multitext import Multitext, check_multitext
from langdiff.tables.parts import Parts


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
