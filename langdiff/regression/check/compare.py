"""Comparisons: fits of several models to one table, and the bits of two editions without a model."""

from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from langdiff.base.types import Floats
from langdiff.errors import ConfigError, DataError, listing, option
from langdiff.regression.clustering import AnyClusters, units_of
from langdiff.regression.result import DifficultyFit
from langdiff.regression.table import as_surprisals, hash_of_bits
from langdiff.tables.effects import Effects
from langdiff.tables.influences import Influence, sums
from langdiff.tables.rule import Contrast
from langdiff.tables.surprisals import Surprisals


def compare(fits: Mapping[str, DifficultyFit] | Iterable[DifficultyFit]) -> pd.DataFrame:
    """Compare fits: their likelihoods, their numbers of parameters, and how far their difficulties differ.

    Log-likelihoods compare only on the same cells, so that fits of different tables are refused, such as those of two
    language models, of which the worse may have the higher likelihood: see `langdiff.table`. Restricted and
    unrestricted likelihoods do not compare either, and that of model 3 is of cells and noise together. Nor does a
    higher one prove a model better, since every intent has a size of its own. `langdiff.cross_validate` is the fair
    comparison.

    Parameters
    ----------
    fits : mapping from name to DifficultyFit, or iterable of DifficultyFit
        Fits of one table; difficulties are compared with those of the first. Fits without names
        are named by their models, and from the second fit of a model on by a number as well: ``"2"``, ``"2 (2)"``.

    Returns
    -------
    DataFrame
        Indexed by name: ``model``; ``restricted``; ``cells``, the number of cells of intents with two or more;
        ``log_likelihood`` of log bits and ``log_likelihood_bits`` of bits, nats; ``parameters`` that are free
        (the scale, on which nothing depends, is not counted); ``sigma``, nats; ``converged``; ``correlation``
        (Pearson's) of difficulties with those of the first, and the ``largest_difference``, nats.

    Raises
    ------
    DataError
        If no fit is given, something is not a fit, or editions, tables or the treatment of sizes differ.

    Examples
    --------
    >>> import langdiff as ld
    >>> surprisals = ld.simulate(300, 5, seed=0).surprisals
    >>> table = compare({name: ld.fit(surprisals, model=name) for name in ("1", "2")})
    >>> bool(table.loc["2", "log_likelihood"] > table.loc["1", "log_likelihood"])
    True
    """
    named = _by_name(fits)
    if not named:
        raise DataError("no fits to compare.")
    (its_name, its_fit), *_ = named.items()
    first = its_fit.difficulty
    for name, fit in named.items():
        others = set(fit.difficulty.index) ^ set(first.index)
        if others:
            raise DataError(
                f"fit {name!r} and the first have different editions: {listing(sorted(map(str, others)))} "
                "are in one only. Fit the same editions."
            )
        one, other = hash_of_bits(its_fit.signature), hash_of_bits(fit.signature)
        if one != other:
            raise DataError(
                f"fits {its_name!r} and {name!r} are of different tables (of {its_fit.lm}, bits {one}, and of "
                f"{fit.lm}, bits {other}): their likelihoods are not comparable; ld.table compares their difficulties."
            )
        integrated = [one.intents == "random" or one.dispersions is not None for one in (its_fit, fit)]
        if integrated[0] != integrated[1]:
            without, with_sizes = (its_name, name) if integrated[1] else (name, its_name)
            raise DataError(
                f"likelihoods of fits {with_sizes!r}, with the sizes of intents integrated out, and {without!r}, with "
                "one size per intent, do not compare. Dispersions of editions and random intents integrate them out; "
                f"fit all with {option('dispersion', 'common')} and {option('intents', 'fixed')}."
            )
        if integrated[0] and fit.restricted != its_fit.restricted:
            by_restricted, by_full = (name, its_name) if fit.restricted else (its_name, name)
            raise DataError(
                f"restricted and unrestricted likelihoods of random intents do not compare: fit {by_restricted!r} is "
                f"restricted, fit {by_full!r} is not. Leave out {option('restricted', True)}."
            )
    rows = {name: _row(fit, first) for name, fit in named.items()}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("fit")


def _by_name(fits: object) -> dict[str, DifficultyFit]:
    if isinstance(fits, Mapping):
        named = dict(fits)
    else:
        named = {}
        counts: Counter[str] = Counter()
        for fit in fits if isinstance(fits, Iterable) else [fits]:
            model = str(getattr(fit, "model", "?"))
            counts[model] += 1
            named[model if counts[model] == 1 else f"{model} ({counts[model]})"] = fit
    others = {name: type(fit).__name__ for name, fit in named.items() if not isinstance(fit, DifficultyFit)}
    if others or isinstance(fits, DifficultyFit):
        given = ", ".join(others.values()) or type(fits).__name__
        raise DataError(f"compare takes a list of fits, or fits by name ({{'mine': ld.fit(surprisals)}}), not {given}.")
    return named


def _row(fit: DifficultyFit, first: pd.Series) -> dict[str, object]:
    difficulty = fit.difficulty[first.index]
    return {
        "model": fit.model,
        "restricted": fit.restricted,
        "cells": fit.cells - fit.single_cell_intents,
        "log_likelihood": fit.log_likelihood,
        "log_likelihood_bits": fit.log_likelihood_bits,
        "parameters": len(fit.intent_size) - fit.single_cell_intents + fit.free_difficulties,  # σ for the scale
        "sigma": fit.sigma,
        "converged": fit.converged,
        "correlation": float(np.corrcoef(difficulty, first)[0, 1]),
        "largest_difference": float((difficulty - first).abs().max()),
    }


def compare_totals(
    surprisals: Surprisals | pd.DataFrame | Floats, one: str, other: str, *, clusters: AnyClusters | None = "auto"
) -> Contrast:
    r"""Compare the total bits of two editions over the intents that both have, without a model.

    .. math:: \ln\frac{\sum_i y_{ij}}{\sum_i y_{ik}}

    This is what the contrast of expected bits in a fit estimates (`DifficultyFit.contrast`), with more noise: large
    intents count more here than a model lets them. A distance of many standard errors between the two says that the
    ratio depends on the size of the intent, which no model here allows for.

    Parameters
    ----------
    surprisals : Surprisals, DataFrame or array, shape (I, J)
        Bits of intent i in edition j; NaN where missing.
    one, other : str
        Names of the editions.
    clusters : "auto", str, mapping, Series, DifficultyFit or None
        Intents that share errors; see `langdiff.fit`.

    Returns
    -------
    Contrast
        Logarithm of the total bits of `one` less that of `other`, nats, with an error from how units vary.

    Raises
    ------
    ConfigError
        If an edition is unknown, both are the same, or clusters cannot be used.
    DataError
        If the intents that both have are fewer than two, or of fewer than two clusters.

    Examples
    --------
    >>> import langdiff as ld
    >>> table = ld.simulate(500, 3, difficulties=[0.0, 0.1, 0.0], seed=1).surprisals
    >>> total = ld.regression.compare_totals(table, "e2", "e1")
    >>> print(round(total.estimate, 2), round(ld.fit(table).contrast("e2", "e1").estimate, 2))
    0.1 0.1
    """
    table = as_surprisals(surprisals)
    unknown = [name for name in (one, other) if name not in table.editions]
    if unknown:
        raise ConfigError(f"not in this table: {listing(unknown)}; it has {listing(table.editions)}.")
    if one == other:
        raise ConfigError(f"on both sides of the comparison: {one!r}.")
    units, code = units_of(table, clusters)
    bits = table.bits[[one, other]].to_numpy(dtype=float)
    common = ~np.isnan(bits).any(axis=1)
    if len(np.unique(code[common])) < 2:
        raise DataError(f"{one} and {other} have {common.sum()} intents in common, of fewer than two {units.kind}s.")
    totals = sums(bits[common], code[common], len(units.names))
    part = totals / totals.sum(axis=0)
    names = pd.Index([one, other], name="edition")
    logs = pd.Series(np.log(totals.sum(axis=0)), names)
    return Effects(estimate=logs, influence=Influence(part, part, units)).contrast(one, other)
