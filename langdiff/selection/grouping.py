"""Groups of intents that stay together when a multitext is divided."""

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import pandas as pd

from langdiff.base.types import Booleans, Floats, Integers
from langdiff.errors import ConfigError, DataError, listing, option
from langdiff.selection.dealing import deal_groups
from langdiff.tables.intent_info import label_intents
from langdiff.tables.multitext import Multitext

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
