"""Dividing a multitext into training, development and test intents."""

from typing import Literal

import numpy as np

from langdiff._types import Booleans
from langdiff.errors import ConfigError, DataError
from langdiff.multitext import Multitext, Parts


def split(
    multitext: Multitext,
    *,
    block: int = 30,
    dev: int = 5,
    test: int = 5,
    incomplete: Literal["error", "drop", "test"] = "error",
) -> Parts:
    """Divide blocks of consecutive intents: the first few to dev, the next few to test, the rest to train.

    Thus every part samples all books and sessions alike (Mielke et al. 2019, appendices D and E). The intents that all
    editions have are counted from n = 1; dev takes those where n modulo `block` is 1 to `dev`, test those with the
    next `test` remainders, and train all others, in the multitext's order.

    Parameters
    ----------
    multitext : Multitext
        Multitext to divide.
    block : int
        Number of intents per block.
    dev, test : int
        Number of intents of each block that go to dev and to test.
    incomplete : {"error", "drop", "test"}
        Treatment of intents that some edition lacks: raise an error, leave them out, or add them to test in the
        multitext's order, where the regression can use them. Intents that no edition has are left out except with
        ``"error"``.

    Returns
    -------
    Parts
        Train, dev and test.

    Raises
    ------
    DataError
        If intents are incomplete and `incomplete` is ``"error"``, or a part would be empty.
    ConfigError
        If the numbers do not fit into a block.

    Examples
    --------
    >>> import langdiff as ld, pandas as pd
    >>> print(split(ld.read_frame(pd.DataFrame({"eng": ["text"] * 66, "deu": ["Text"] * 66}))).summary())
    train 40, dev 15, test 11 intents
    """
    if min(dev, test) < 1 or dev + test >= block:
        raise ConfigError(
            f"a block of {block} intents cannot give {dev} to dev and {test} to test: each needs at least "
            "one, and train too."
        )
    if incomplete not in ("error", "drop", "test"):
        raise ConfigError(f"incomplete must be 'error', 'drop' or 'test', not {incomplete!r}.")
    present = multitext.presence.to_numpy()
    complete: Booleans = np.logical_and.reduce(present, axis=1)
    if not complete.any():
        raise DataError(
            f"no intent is in all {len(multitext.editions):,} editions. Choose editions that share some: `select` "
            "finds them."
        )
    if incomplete == "error" and not complete.all():
        raise DataError(
            f"{(~complete).sum():,} of {len(multitext):,} intents are missing in some edition, the first "
            f"{multitext.intents[~complete][0]!r}. Choose editions that share more (select), or pass "
            "incomplete='drop' to leave such intents out or incomplete='test' to keep them for the regression."
        )
    remainder = np.cumsum(complete) % block
    in_dev = complete & (remainder >= 1) & (remainder <= dev)
    in_test = complete & (remainder > dev) & (remainder <= dev + test)
    in_train = complete & ~in_dev & ~in_test
    for name, rows in (("train", in_train), ("dev", in_dev), ("test", in_test)):
        if not rows.any():
            raise DataError(
                f"{complete.sum()} complete intents leave none for {name}; at least {dev + test + 1} are needed, "
                "or a smaller block."
            )
    if incomplete == "test":
        in_test |= ~complete & present.any(axis=1)
    train, tuned, measured = (multitext.sel(intents=multitext.intents[rows]) for rows in (in_train, in_dev, in_test))
    return Parts(train=train, dev=tuned, test=measured)
