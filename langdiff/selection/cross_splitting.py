"""Dividing a multitext several times, so that every intent is measured."""

import numpy as np
import pandas as pd

from langdiff.base.types import Booleans, Integers
from langdiff.errors import ConfigError, DataError
from langdiff.selection.splits import Groups, Incomplete, deal_groups, divide_groups, find_complete, groups_of
from langdiff.tables.divisions import Folds, Parts
from langdiff.tables.multitext import Multitext, check_multitext

TOGETHER = 5  # consecutive intents in a group where none are given, as in the test part of `split`


def split_into_folds(
    multitext: Multitext,
    n_folds: int = 5,
    *,
    groups: Groups | None = None,
    dev_share: float = 0.1,
    incomplete: Incomplete = "error",
) -> Folds:
    """Divide whole documents or books into folds, each of which is measured once and otherwise trained on.

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
        raise ConfigError(f"n_folds must be a whole number from 2 up, got {n_folds!r}.")
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
    """Return the fold of every intent, -1 for those that are not measured.

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
