"""Difficulties against the size of the training data: language models trained on nested parts of it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from langdiff.base.types import Integers, generator, seed_number, seed_numbers
from langdiff.errors import ConfigError, DataError, listing, option, warns_caller
from langdiff.lm.automatic import settle
from langdiff.lm.compute import Compute, as_compute, compute_where_possible
from langdiff.lm.jobs.folder import fold_cache
from langdiff.lm.language_model import LanguageModelRecipe, find_scored_lm
from langdiff.lm.scoring import Scoring
from langdiff.regression import DifficultyCurve, fit_curve
from langdiff.regression.clustering import AnyClusters, one_clustering
from langdiff.regression.curves.fitting import check_settings
from langdiff.regression.variants import PlainModel
from langdiff.regression.variants.variant import Variant
from langdiff.tables.multitext import Folds, Multitext, Parts
from langdiff.tables.surprisals import Surprisals

Match = Literal["intents", "bytes", "characters"]
MATCHES = ("intents", "bytes", "characters")
LEAST_INTENTS = 2  # intents to learn from


class SizeCache(NamedTuple):
    """Seed and size of one training of every edition, and the folder that keeps its language models."""

    seed: int
    size: int
    folder: Path
    fold: int | None = None


def size_caches(
    cache: Path, sizes: Sequence[int], seed: int, n_seeds: int, folds: int | None = None
) -> list[SizeCache]:
    """Return the caches of a curve's language models, by seed, size and fold.

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
    few = editions[np.flatnonzero((read < LEAST_INTENTS).any(axis=1))]
    if len(few):
        raise DataError(
            f"with {option('match', match)} and {sizes[0]} intents, {len(few)} edition(s) would read fewer than "
            f"{LEAST_INTENTS} intents: {listing(few)}. Use larger sizes."
        )
    cut = {size: replace(parts, train=_beginning(parts.train, order, read[:, k])) for k, size in enumerate(sizes)}
    return cut, pd.DataFrame(read, index=editions, columns=pd.Index(sizes, name="size"))


def check_sizes(sizes: Sequence[int], total: int, match: str) -> None:
    """Check sizes of training parts against the number of training intents."""
    if match not in MATCHES:
        raise ConfigError(f"unknown match {match!r}; use one of {listing(MATCHES)}.")
    whole = all(isinstance(size, int | np.integer) and not isinstance(size, bool) for size in sizes)
    if len(sizes) < 2 or not whole or any(b <= a for a, b in pairwise(sizes)):
        raise ConfigError(f"{option('sizes')} must be two or more whole numbers that rise, got {list(sizes)}.")
    if sizes[0] < LEAST_INTENTS or sizes[-1] > total:
        raise ConfigError(
            f"{option('sizes')} must be from {LEAST_INTENTS} to the {total:,} training intents there are, got "
            f"{sizes[0]:,} to {sizes[-1]:,}."
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
    """Return the first intents of the order, as many as each edition reads, in the order of the text."""
    most = int(read.max())
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    kept = np.sort(order[:most])
    part = train.sel(intents=train.intents[kept])
    if (read == most).all():
        return part
    presence = pd.DataFrame(rank[kept][:, None] < read, index=part.intents, columns=part.editions)
    return replace(part, presence=presence)


@warns_caller
def difficulty_curve(
    parts: Parts | Folds,
    *,
    train_sizes: Sequence[int],
    lm: str | LanguageModelRecipe = "kneser-ney-6",
    scoring: Scoring | str | None = None,
    match: Match = "intents",
    n_seeds: int = 1,
    seed: int | np.random.Generator = 0,
    model: PlainModel | Variant = "2",
    clusters: AnyClusters | None = "auto",
    n_draws: int = 1000,
    max_replaced: float = 0.05,
    compute: Compute | None = None,
) -> DifficultyCurve:
    """Train language models on several sizes of the training data, and fit difficulties at each.

    A seed draws one order of the training intents, of which every size takes the beginning; the test intents are the
    same throughout.

    Parameters
    ----------
    parts : Parts or Folds
        Texts to train on (train), to choose the best epoch by (dev) and to measure (test). Of `langdiff.Folds`, the
        training intents of each fold are cut, and all intents are measured at each size.
    train_sizes : sequence of int
        Numbers of training intents, rising; of a fold, if there are folds.
    lm : str or LanguageModelRecipe
        Language model to train; see `langdiff.compute_surprisals`.
    scoring : Scoring or str, optional
        How the trained models score; see `langdiff.lm.Scoring`.
    match : {"intents", "bytes", "characters"}
        What editions have alike at a size: the same intents, and so the same content; or as many UTF-8 bytes or
        characters as the edition that needs fewest for that number of intents, which intents they are then differs.
    n_seeds : int
        Number of seeds. Each draws an order of its own and trains models of its own; from two on, errors contain the
        spread between them.
    seed : int or numpy.random.Generator
        The first seed, from which the others are made, and that of the draws.
    model : {"1", "2", "2L", "2L-rounded", "2C"} or Variant
        Regression model fitted at each size; see `langdiff.fit`.
    clusters : "auto", str, mapping, Series, DifficultyFit or None
        Test intents that share errors, such as ``"document"``; see `langdiff.fit`.
    n_draws : int
        Number of draws that intervals come from, at least 100.
    max_replaced : float
        Fraction of an edition's test characters, from 0 to 1, that may be replaced as too rare in training; small
        sizes know fewer characters.
    compute : langdiff.lm.Compute, optional
        Device, workers and cache; the cache has a folder ``size-SIZE/`` for each size and, of further seeds,
        ``seed-SEED/size-SIZE/``.

    Returns
    -------
    DifficultyCurve
        Difficulties by size with their joint errors, correlations between sizes, pairs that change places, floors and
        rates of exchange.

    Raises
    ------
    ConfigError
        If the sizes do not rise or there are not so many training intents, or another setting cannot be used.
    LangdiffError
        If a language model cannot be trained or a fit fails.

    Warns
    -----
    LangdiffWarning
        As `langdiff.compute_surprisals` and `langdiff.fit`, each kind once for all sizes and editions.

    Examples
    --------
    >>> import langdiff as ld
    >>> corpus = ld.synthesize(n_intents=240, n_languages=3, seed=0)
    >>> difficulty_curve(ld.split(corpus.multitext), train_sizes=[40, 80, 160], lm="kneser-ney-3", seed=0)
    DifficultyCurve of kneser-ney-3: 3 editions × 3 sizes (40 to 160), 40 test intents, model 2
    """
    curve, _ = curve_where_possible(
        parts,
        sizes=train_sizes,
        lm=lm,
        scoring=scoring,
        match=match,
        n_seeds=n_seeds,
        seed=seed,
        model=model,
        clusters=clusters,
        n_draws=n_draws,
        max_replaced=max_replaced,
        compute=as_compute(compute),
    )
    return curve


@warns_caller
def curve_where_possible(
    parts: Parts | Folds,
    *,
    sizes: Sequence[int],
    lm: str | LanguageModelRecipe,
    scoring: Scoring | str | None,
    match: Match,
    n_seeds: int,
    seed: int | np.random.Generator,
    model: PlainModel | Variant,
    clusters: AnyClusters | None,
    max_replaced: float,
    compute: Compute,
    n_draws: int = 1000,
    least: int | None = None,
) -> tuple[DifficultyCurve, dict[str, str]]:
    """Compute a `difficulty_curve`, leaving out editions that fail at a size."""
    if n_seeds < 1:
        raise ConfigError(f"{option('n_seeds')} must be at least 1, got {n_seeds}.")
    first = seed_number(seed)
    check_sizes(sizes, smallest_train(parts), match)
    lm, scoring = settle(find_scored_lm(lm, scoring), parts)  # one recipe for all sizes
    check_settings(model, n_draws)  # better refused now than after the training
    one_clustering(parts.measured, clusters)
    caches = [] if compute.folder is None else size_caches(compute.folder, sizes, first, n_seeds)
    folders = {(each.seed, each.size): each.folder for each in caches}
    tables: dict[int, list[Surprisals]] = {size: [] for size in sizes}
    failed: dict[str, str] = {}
    read = None
    for number in [first, *seed_numbers(first, n_seeds - 1)]:
        cut, of_seed = nested_parts(parts, sizes, match, generator(number))
        read = of_seed if read is None else read
        for size, smaller in cut.items():
            remaining = [edition for edition in parts.editions if edition not in failed]
            table, without = compute_where_possible(
                smaller.sel(remaining) if failed else smaller,
                lm=lm,
                scoring=scoring,
                max_replaced=max_replaced,
                seed=number,
                compute=replace(compute, cache=folders.get((number, size))),
                least=least,
            )
            failed |= {edition: f"{size:,} training intents: {why}" for edition, why in without.items()}
            tables[size].append(table)
    if failed:
        kept = [edition for edition in parts.editions if edition not in failed]
        tables = {size: [table.sel(editions=kept) for table in of_size] for size, of_size in tables.items()}
        read = None if read is None else read.loc[kept]
    curve = fit_curve(tables, model=model, clusters=clusters, n_draws=n_draws, seed=first, match=match, read=read)
    return curve, failed
