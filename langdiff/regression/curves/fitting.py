r"""Fit difficulty curves to tables of surprisals, one per size.

With normalized difficulties :math:`\delta_j`, whose factors average 1, and T the bits of all cells, edition j with
:math:`I_j` cells spends on an intent

.. math:: B_j = S e^{\delta_j}, \qquad S = T \Big/ \sum_j I_j e^{\delta_j},

in a complete table the mean of its bits as model 2 smooths it. Each cluster of intents moves :math:`\ln B_j` by its
influence :math:`\psi_{gj}`, to first order: that of the sandwich (CR2) for :math:`\delta`, and the ratio's own for S.
Clusters drawn with replacement :math:`w_g` times give :math:`\ln B_j + \sum_g (w_g - 1) \psi_{gj}`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from scipy.linalg import LinAlgError
from scipy.special import softmax

from langdiff.base.signature import full_signature, short_hash
from langdiff.base.types import Floats, Integers, check_resamples, seed_number
from langdiff.errors import ConfigError, ConvergenceWarning, DataError, option, warn
from langdiff.regression.clustering import AnyClusters, name_of_clusters, one_clustering
from langdiff.regression.curves.curve import DifficultyCurve
from langdiff.regression.design import make_design
from langdiff.regression.fitting.audit import residuals_of, test_noise, warn_of_noise, with_own_dispersions
from langdiff.regression.fitting.fixed import Fitting, Fixed, Settings
from langdiff.regression.fitting.influence import influence_on_c
from langdiff.regression.fitting.integrated import OwnDispersions
from langdiff.regression.kernel.clusters import sums_by_cluster
from langdiff.regression.seeds import mean_over_seeds
from langdiff.regression.table import as_surprisals, log_bits
from langdiff.regression.variants import PlainModel, find_variant, own_numbers
from langdiff.regression.variants.variant import Variant
from langdiff.tables.surprisals import Surprisals
from langdiff.tables.units import IndependentUnits


class SizeEstimate(NamedTuple):
    """ln B of every edition, shape (J,), and influences of the clusters, shape (G, J)."""

    log_bits: Floats
    influence: Floats


def fit_sizes(tables: Sequence[Surprisals], variant: Variant, units: IndependentUnits) -> list[Fitting]:
    """Fit a model to the table of each size; with a dispersion per edition at all sizes if noise differs at one.

    Noise is tested at each size, with Bonferroni's bound over sizes.

    Warns
    -----
    LangdiffWarning
        If noise differs, but dispersions cannot be fitted.
    ConvergenceWarning
        If a fit stopped before its criterion was met.
    """
    fits: list[Fitting] = []
    for table in tables:
        design = make_design(table.editions, None, None, None)
        fits.append(Fixed(log_bits(table, design), design, Settings(variant), table))
        if not fits[-1].estimate.converged:
            warn(f"{table.lm}, model {variant.name}: {fits[-1].estimate.message}.", ConvergenceWarning)
    tests = [test_noise(residuals_of(fitted), fitted, units) for fitted in fits]
    least = min(tests, key=lambda test: np.nan_to_num(test.p_value, nan=1.0))
    least = replace(least, p_value=min(1.0, len(tests) * least.p_value) if least.tested else least.p_value)
    if not least.unequal:
        return fits
    own = [with_own_dispersions(fitted) for fitted in fits]
    failed = next((found for found in own if isinstance(found, str)), None)
    if failed is None:
        return [found for found in own if not isinstance(found, str)]
    warn_of_noise(replace(least, why=f"{failed}, at one size at least"))
    return fits


def estimate_size(fitted: Fitting, cluster: Integers) -> SizeEstimate:
    """Return the bits of each edition, and the influences of clusters on them, by the fit of one size."""
    difficulty, count = fitted.difficulties, int(cluster.max()) + 1
    if fitted.settings.variant.kinked or (fitted.integrated and count == len(cluster)):
        # CR1: kinks have no information, and that of every single intent would not fit into memory
        of_c = np.zeros((count, len(difficulty)))
        try:
            np.add.at(of_c, cluster[fitted.used], fitted.row_influence() * np.sqrt(count / (count - 1)))
        except LinAlgError as error:
            raise DataError(
                f"model {fitted.settings.variant.name!r}, {fitted.table.lm}: the scores of the intents give no second "
                f"derivative. Use {option('model', '2L-rounded')}, or more intents."
            ) from error
    else:
        of_c = influence_on_c(fitted.clusters(cluster[fitted.used]), cluster, len(difficulty))
    influence = of_c - (of_c @ softmax(difficulty))[:, None]
    level, of_level = _level(fitted.table.bits, difficulty, influence, cluster)
    return SizeEstimate(level + difficulty, of_level[:, None] + influence)


def _level(bits: pd.DataFrame, difficulty: Floats, influence: Floats, cluster: Integers) -> tuple[float, Floats]:
    """Return ln S and the influence of each cluster on it, shape (G,)."""
    numbers, factor = bits.to_numpy(), np.exp(difficulty)
    totals = sums_by_cluster(np.nansum(numbers, axis=1), cluster)
    cells = sums_by_cluster((~np.isnan(numbers)).astype(float), cluster)
    content = cells @ factor  # (G,): what the bits would be with S = 1
    moved = influence @ (cells.sum(axis=0) * factor)
    of_level: Floats = totals / totals.sum() - (content + moved) / content.sum()
    return float(np.log(totals.sum() / content.sum())), of_level


def fit_curve(
    tables: Mapping[int, Surprisals | Sequence[Surprisals]],
    *,
    axis: Literal["size", "step"] = "size",
    model: PlainModel | Variant = "2",
    clusters: AnyClusters | None = "auto",
    n_draws: int = 1000,
    seed: int | np.random.Generator = 0,
    match: str = "given",
    read: pd.DataFrame | None = None,
) -> DifficultyCurve:
    """Fit difficulties at several sizes of training data, or steps of a training, to the same test intents.

    Parameters
    ----------
    tables : mapping from int to Surprisals, or to a sequence of them
        Surprisals by language models trained on each size; several if there are several seeds, in the same order at
        every size. All have the same intents, editions and missing cells. Sizes may be numbers of intents, of bytes, or
        of whatever training data are counted in.
    axis : {"size", "step"}
        Whether the numbers are sizes of training data, or steps of one training run, as `langdiff.lm.read_training` has
        them.
    model : {"1", "2", "2L", "2L-rounded", "2C"} or Variant
        Regression model fitted at each size; see `langdiff.fit`.
    clusters : "auto", str, mapping, Series, DifficultyFit or None
        Test intents that share errors: a column of `Surprisals.intent_info`, such as ``"document"``, or the cluster of
        each intent.
    n_draws : int
        Number of draws that intervals come from, at least 100.
    seed : int or numpy.random.Generator
        Seed of the draws.
    match : str
        What editions have alike at a size, for the record.
    read : DataFrame, shape (J, K), optional
        Number of training intents that every edition read at every size, for the record.

    Returns
    -------
    DifficultyCurve

    Raises
    ------
    ConfigError
        If there are fewer than two sizes, a size is not a positive whole number, `n_draws` is too small, or the model
        cannot be used.
    DataError
        If the tables differ in intents, editions, missing cells or the number of seeds, or one cannot be fitted.

    Warns
    -----
    ConvergenceWarning
        If a fit stopped before its criterion was met.

    Notes
    -----
    The bootstrap is that of influences: the estimate of every sample is linear in how often each cluster is drawn, so
    that a thousand samples need no fit of their own, and the covariance is that of `langdiff.fit` (CR2). Of totals,
    tables of one intent, difficulties are ratios without errors.

    Examples
    --------
    >>> import langdiff as ld
    >>> truth = ld.simulate(60, 3, difficulties=[-0.1, 0.0, 0.1], seed=1).surprisals
    >>> steeper = pd.Series({"e1": 0.5, "e2": 1.0, "e3": 1.5})
    >>> tables = {n: ld.Surprisals(bits=truth.bits * (1 + steeper * n**-0.5)) for n in (10, 100, 1000)}
    >>> fit_curve(tables, seed=0)
    DifficultyCurve of unknown: 3 editions × 3 sizes (10 to 1,000), 60 test intents, model 2
    """
    number = seed_number(seed, "samples of intents")
    if axis not in ("size", "step"):
        raise ConfigError(f"unknown {option('axis', axis)}; use 'size' or 'step'.")
    variant = check_settings(model, n_draws)
    by_size = _checked(tables)
    sizes, first = list(by_size), next(iter(by_size.values()))[0]
    every = [table for several in by_size.values() for table in several]
    alone = len(first.intents) == 1  # totals
    labels = None if alone else one_clustering(first, clusters, tables=every)
    units = IndependentUnits(kind="given", labels=labels)
    cluster: Integers = np.arange(len(first.intents)) if labels is None else pd.factorize(labels)[0]
    seeds = len(next(iter(by_size.values())))
    shape = (len(first.editions), len(sizes))
    log_bits, influence = np.empty(shape), np.empty((cluster.max() + 1, *shape))
    by_seed: Floats = np.empty((seeds, *shape))
    means = [several[0] if seeds == 1 else mean_over_seeds(several) for several in by_size.values()]
    fits = [] if alone else fit_sizes(means, variant, units)
    if alone:
        influence[:] = np.nan
        totals = np.array([[table.bits.to_numpy(dtype=float)[0] for table in several] for several in by_size.values()])
        by_seed[:] = np.log(totals.transpose(1, 2, 0))
        log_bits[:] = np.log(totals.mean(axis=1).T)
    for k, (several, fitted) in enumerate(zip(by_size.values(), fits, strict=False)):
        log_bits[:, k], influence[:, :, k] = estimate_size(fitted, cluster)
        for r in range(seeds):
            by_seed[r, :, k] = log_bits[:, k]
            if seeds > 1:
                by_seed[r, :, k] = estimate_size(_again(fitted, several[r]), cluster).log_bits
    observed = first.bits.notna().to_numpy()
    share = np.bincount(cluster, observed.sum(axis=1)) / observed.sum()
    return DifficultyCurve(
        log_bits=pd.DataFrame(log_bits, first.editions.rename("edition"), pd.Index(sizes, name=axis)),
        influence=influence,
        share=share,
        by_seed=by_seed,
        model=variant.name,
        lm=first.lm,
        clusters=None if labels is None else str(labels.name),
        n_intents=len(first.intents),
        match=match,
        read=read,
        n_draws=n_draws,
        seed=number,
        converged=all(fitted.estimate.converged for fitted in fits),
        signature=full_signature(
            {
                "curve": ",".join(map(str, sizes)),
                "match": match,
                "model": variant.name,
                **own_numbers([variant]),
                "lm": first.lm,
                "seeds": seeds,
                "clusters": None if labels is None else name_of_clusters(labels),
                "dispersion": "edition" if fits and fits[0].settings.own_dispersions else None,
                "axis": None if axis == "size" else axis,
                "draws": n_draws,
                "seed": number,
                "tables": short_hash(*(table.bits for several in by_size.values() for table in several)),
            }
        ),
    )


def _again(fitted: Fitting, table: Surprisals) -> Fitting:
    """Return the same model fitted to another table of the same cells."""
    z = log_bits(table, fitted.design)
    if isinstance(fitted, OwnDispersions):
        return OwnDispersions(fitted.design, fitted.settings, table, fitted.group)
    return Fixed(z, fitted.design, fitted.settings, table)


def check_settings(model: PlainModel | Variant, n_draws: int) -> Variant:
    """Return the model of a curve, after checks of it and of the number of draws."""
    variant = find_variant(model)
    check_resamples("n_draws", n_draws)
    return variant


def _checked(tables: Mapping[int, Surprisals | Sequence[Surprisals]]) -> dict[int, list[Surprisals]]:
    """Return the tables of every seed by size, rising."""
    if len(tables) < 2:
        raise ConfigError(f"a curve needs at least two sizes, got {len(tables)}.")
    if bad := [size for size in tables if not (isinstance(size, int | np.integer) and size > 0)]:
        raise ConfigError(f"sizes must be positive whole numbers, got {bad[0]!r}.")
    found: dict[int, list[Surprisals]] = {}
    for size, given in sorted(tables.items()):
        several = [given] if isinstance(given, Surprisals | pd.DataFrame | np.ndarray) else given
        found[int(size)] = [as_surprisals(table) for table in several]
        if not found[int(size)]:
            raise DataError(f"size {size:,} has no table.")
    first = next(iter(found.values()))[0]
    for size, several in found.items():
        if len(several) != len(found[next(iter(found))]):
            raise DataError(f"size {size:,} has {len(several)} table(s), the smallest {len(found[next(iter(found))])}.")
        for table in several:
            _check_alike(table, first, size)
    return found


def _check_alike(table: Surprisals, first: Surprisals, size: int) -> None:
    for what, ours, theirs in (
        ("intents", first.intents, table.intents),
        ("editions", first.editions, table.editions),
    ):
        if not ours.equals(theirs):
            raise DataError(
                f"the {what} of size {size:,} are not those of the smallest size, in the same order. Score the "
                "same test texts at every size."
            )
    if (table.bits.isna() != first.bits.isna()).to_numpy().any():
        raise DataError(f"the table of size {size:,} lacks other cells than that of the smallest size.")
