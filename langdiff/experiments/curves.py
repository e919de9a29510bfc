"""Difficulties against the size of the training data: language models trained on nested parts of it."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from langdiff.base.renamed import IN_COMPUTE, renamed
from langdiff.base.seeds import generator, seed_number, seed_numbers
from langdiff.errors import ConfigError, option
from langdiff.experiments.cautions import warns_caller
from langdiff.experiments.training_sizes import Match, check_sizes, nested_parts, size_caches, smallest_train
from langdiff.lm.compute import Compute, as_compute, compute_where_possible
from langdiff.lm.language_model import LanguageModelRecipe
from langdiff.lm.scoring import Scoring
from langdiff.regression import DifficultyCurve, fit_curve
from langdiff.regression.clustering import OneClustering, one_clustering
from langdiff.regression.curves.fitting import check_settings
from langdiff.regression.variants import PlainModel
from langdiff.tables.divisions import Folds, Parts
from langdiff.tables.surprisals import Surprisals


@renamed(sizes="train_sizes", **IN_COMPUTE)
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
    model: PlainModel = "2",
    clusters: OneClustering | None = None,
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
    model : {"1", "2", "2L", "2C"}
        Regression model fitted at each size; see `langdiff.fit`.
    clusters : str, mapping or Series, optional
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
    model: PlainModel,
    clusters: OneClustering | None,
    max_replaced: float,
    compute: Compute,
    n_draws: int = 1000,
    least: int | None = None,
) -> tuple[DifficultyCurve, dict[str, str]]:
    """Do what `difficulty_curve` does, but leave out editions that fail at a size.

    Parameters
    ----------
    parts, sizes, lm, scoring, match, n_seeds, seed, model, clusters, n_draws, max_replaced, compute
        As for `difficulty_curve`.
    least : int, optional
        Editions that must not fail at any size, by default all; with fewer, there is the error of `difficulty_curve`.

    Returns
    -------
    curve : DifficultyCurve
        Difficulties of the other editions.
    failed : dict from str to str
        What was wrong, by edition; empty without a cache, where the first error ends the call.
    """
    if n_seeds < 1:
        raise ConfigError(f"{option('n_seeds')} must be at least 1, got {n_seeds}.")
    first = seed_number(seed)
    check_sizes(sizes, smallest_train(parts), match)
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
