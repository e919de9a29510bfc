"""Nested parts of the training intents: the same order for all sizes, every size its beginning."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from langdiff.base.seeds import seed_numbers
from langdiff.base.types import Integers
from langdiff.errors import ConfigError, DataError, listing, option
from langdiff.lm.jobs.folder import fold_cache
from langdiff.tables.divisions import Folds, Parts
from langdiff.tables.multitext import Multitext

Match = Literal["intents", "bytes", "characters"]
MATCHES = ("intents", "bytes", "characters")
FEWEST = 2  # intents to learn from


class SizeCache(NamedTuple):
    """Seed and size of one training of every edition, and the folder that keeps its language models."""

    seed: int
    size: int
    folder: Path
    fold: int | None = None


def size_caches(
    cache: Path, sizes: Sequence[int], seed: int, n_seeds: int, folds: int | None = None
) -> list[SizeCache]:
    """Return where a curve keeps its language models: seed by seed, size by size and fold by fold.

    Examples
    --------
    >>> [each.folder.as_posix() for each in size_caches(Path("curve"), [40, 80], 7, 2)]
    ['curve/size-40', 'curve/size-80', 'curve/seed-2083679832/size-40', 'curve/seed-2083679832/size-80']
    """
    whole = [
        SizeCache(number, size, (cache if number == seed else cache / f"seed-{number}") / f"size-{size}")
        for number in [seed, *seed_numbers(seed, n_seeds - 1)]
        for size in sizes
    ]
    if folds is None:
        return whole
    return [each._replace(folder=fold_cache(each.folder, k), fold=k) for each in whole for k in range(1, folds + 1)]


def smallest_train(parts: Parts | Folds) -> int:
    """Return the number of training intents, of the fold that has fewest if there are folds."""
    return min(len(each.train) for each in ([parts] if isinstance(parts, Parts) else parts.parts))


def nested_parts(
    parts: Parts | Folds, sizes: Sequence[int], match: Match, rng: np.random.Generator
) -> tuple[Mapping[int, Parts | Folds], pd.DataFrame]:
    """Draw one order of the training intents and cut it at several sizes.

    Parameters
    ----------
    parts : Parts or Folds
        Division whose training intents are cut; dev and test stay as they are. Each fold draws an order of its own.
    sizes : sequence of int
        Numbers of training intents, rising.
    match : {"intents", "bytes", "characters"}
        What editions have alike at a size: the intents; or the UTF-8 bytes or code points of the text, as far as
        whole intents allow. The amount is then that of the edition that needs fewest for the first n intents of the
        order, and every other edition reads only as many intents as fit into it.
    rng : numpy.random.Generator
        Source of the order.

    Returns
    -------
    parts : mapping from int to Parts or Folds
        Parts with a smaller train, by size, its intents in the order of the text. With bytes or characters, cells that
        an edition does not read are missing.
    read : DataFrame, shape (J, K)
        Number of intents that every edition reads at every size; of folds the mean, rounded.

    Raises
    ------
    ConfigError
        If the sizes do not rise, are too small or too large, or `match` is unknown.
    DataError
        If an edition would read fewer than two intents.

    Examples
    --------
    >>> import langdiff as ld
    >>> bible = ld.read_frame(pd.DataFrame({"eng": ["a dog"] * 40, "deu": ["ein Hund"] * 40}))
    >>> train, dev, test = (bible.sel(intents=bible.intents[a:b]) for a, b in ((0, 20), (20, 30), (30, 40)))
    >>> parts = ld.Parts(train=train, dev=dev, test=test)
    >>> nested_parts(parts, [8, 16], "bytes", np.random.default_rng(0))[1].to_numpy().tolist()
    [[8, 16], [5, 10]]
    """
    check_sizes(sizes, smallest_train(parts), match)
    if isinstance(parts, Parts):
        return _nested(parts, sizes, match, rng)
    by_fold = [_nested(each, sizes, match, rng) for each in parts.parts]
    cut = {size: replace(parts, parts=tuple(smaller[size] for smaller, _ in by_fold)) for size in sizes}
    read = pd.concat([counts for _, counts in by_fold]).groupby(level=0, sort=False).mean()
    return cut, read.round().astype(np.int64)


def _nested(
    parts: Parts, sizes: Sequence[int], match: Match, rng: np.random.Generator
) -> tuple[dict[int, Parts], pd.DataFrame]:
    total = len(parts.train)
    order = rng.permutation(total)
    editions = parts.train.editions
    if match == "intents":
        read = np.tile(np.asarray(sizes), (len(editions), 1))
    else:
        amounts = _cumulative(parts.train, order, match)
        budget = amounts[:, np.asarray(sizes) - 1].min(axis=0)  # (K,)
        read = np.array([np.searchsorted(of_edition, budget, side="right") for of_edition in amounts])
    few = editions[np.flatnonzero((read < FEWEST).any(axis=1))]
    if len(few):
        raise DataError(
            f"with {option('match', match)} and {sizes[0]} intents, {len(few)} edition(s) would read fewer than "
            f"{FEWEST} intents: {listing(few)}. Use larger sizes."
        )
    cut = {size: replace(parts, train=_beginning(parts.train, order, read[:, k])) for k, size in enumerate(sizes)}
    return cut, pd.DataFrame(read, index=editions, columns=pd.Index(sizes, name="size"))


def check_sizes(sizes: Sequence[int], total: int, match: str) -> None:
    """Refuse sizes that cannot be cut from a number of training intents.

    Raises
    ------
    ConfigError
        If they are not at least two rising whole numbers from 2 to `total`, or `match` is unknown.
    """
    if match not in MATCHES:
        raise ConfigError(f"unknown match {match!r}; use one of {listing(MATCHES)}.")
    whole = all(isinstance(size, int | np.integer) and not isinstance(size, bool) for size in sizes)
    if len(sizes) < 2 or not whole or any(b <= a for a, b in pairwise(sizes)):
        raise ConfigError(f"sizes must be two or more whole numbers that rise, got {list(sizes)}.")
    if sizes[0] < FEWEST or sizes[-1] > total:
        raise ConfigError(
            f"sizes must be from {FEWEST} to the {total:,} training intents there are, got {sizes[0]:,} to "
            f"{sizes[-1]:,}."
        )


def _cumulative(train: Multitext, order: Integers, match: str) -> Integers:
    """Return the bytes or characters of the first 1, 2, … intents of the order, shape (J, I)."""
    amounts = np.empty((len(train.editions), len(order)), dtype=np.int64)
    for j, edition in enumerate(train.editions):
        texts = train.text(edition)
        lengths = [len(text.encode()) if match == "bytes" else len(text) for text in texts]
        amounts[j] = np.cumsum(np.array(lengths)[order])
    return amounts


def _beginning(train: Multitext, order: Integers, read: Integers) -> Multitext:
    """Keep the first intents of the order, as many as each edition reads, in the order of the text."""
    most = int(read.max())
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    kept = np.sort(order[:most])
    part = train.sel(intents=train.intents[kept])
    if (read == most).all():
        return part
    presence = pd.DataFrame(rank[kept][:, None] < read, index=part.intents, columns=part.editions)
    return replace(part, presence=presence)
