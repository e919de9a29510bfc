"""Goodness of fit: standardized residuals, and the log-likelihood of held-out intents."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import pandas as pd
from scipy.optimize import minimize_scalar

from langdiff.base.signature import full_signature, name_of_seed, short_hash
from langdiff.base.types import Floats, Integers, generator
from langdiff.errors import ConfigError, DataError, listing, words
from langdiff.regression.clustering import AnyClusters, name_of_clusters, one_clustering
from langdiff.regression.kernel.quadrature import FARTHEST, KnownEditions, SizePrior, log_marginal, most_likely_sizes
from langdiff.regression.result import DifficultyFit
from langdiff.regression.table import as_surprisals, identify_table
from langdiff.tables.effects import Effects
from langdiff.tables.influences import Units
from langdiff.tables.rule import Scale
from langdiff.tables.surprisals import Surprisals

PER_CELL = Scale(quantity="per_cell", unit="nats per cell")
Fix = Literal["difficulty+dispersion", "difficulty"]
Sizes = Literal["map", "posterior"]
FARTHEST_DISPERSION = 5.0  # nats of ln kappa from the training value, within which it is fitted anew
DISPERSION_TOLERANCE = 1e-5  # of ln kappa
LEAST_SPREAD = 1e-6  # nats of ln n: less is rounding


def standardized_residuals(fit: DifficultyFit, surprisals: Surprisals | pd.DataFrame | Floats) -> pd.DataFrame:
    r"""Return residuals of log bits over the standard deviation that the model gives them.

    .. math:: e_{ij} = \frac{z_{ij} - m_i - \delta_j - \tfrac12(\sigma^2 - v_i)}{\sqrt{v_i\,(1 - 1/J_i)\,f}}

    with :math:`v_i = \sigma^2` and no shift in model 1. :math:`1 - 1/J_i` makes up for the size of the intent,
    which is fitted to its J_i cells; f = 1 if the dispersion is free of bias (model 1, or restricted), else
    N / (N − I − J + 1), J being the number of free difficulties. In model 3 :math:`2b^2`, the variance of
    ν, is added to v; in 2C nothing is made up for.

    Parameters
    ----------
    fit : DifficultyFit
        Fit with one difficulty per edition, not per group.
    surprisals : Surprisals, DataFrame or array, shape (I, J)
        Bits of the table that was fitted; NaN where missing.

    Returns
    -------
    DataFrame, shape (I, J)
        If the model is right, about standard normal (models 1 and 2), Laplace of variance 1 (2L), or Cauchy
        (2C); NaN for missing cells and for intents with one cell, which are explained exactly.

    Raises
    ------
    DataError
        If intents or editions of the table are not in the fit, or it has all of them, in any order, with other bits.

    Examples
    --------
    >>> import langdiff as ld
    >>> surprisals = ld.simulate(400, 6, seed=0).surprisals
    >>> residuals = standardized_residuals(ld.fit(surprisals), surprisals)
    >>> bool(0.95 < residuals.to_numpy().std() < 1.05)
    True
    """
    table = as_surprisals(surprisals)
    for what, names, known in (
        ("intent", table.intents, fit.intent_size.index),
        ("edition", table.editions, fit.difficulty.index),
    ):
        unknown = [name for name in names if name not in known]
        if unknown:
            raise DataError(
                f"{len(unknown)} {what}(s) that the fit does not know: {listing(unknown)}. Give the table "
                "that was fitted; residuals need a fit with one difficulty per edition."
            )
    if table.bits.shape == (len(fit.intent_size), len(fit.difficulty)):
        in_order = table.bits.loc[list(fit.intent_size.index), list(fit.difficulty.index)]
        if f"bits:{short_hash(in_order)}" not in fit.signature:
            raise DataError("the bits are not those that were fitted. Give the table that was fitted.")
    z = np.log(table.bits.to_numpy())
    m = np.log(fit.intent_size[table.intents].to_numpy())[:, None]
    d, kappa = parameters_of(fit, table.editions)
    variance = model_variance(fit, np.exp(m), kappa)
    deviation = z - m - d - 0.5 * (np.log1p(kappa) - variance)
    cells = (~np.isnan(z)).sum(axis=1, keepdims=True)
    if fit.dispersions is None:
        spread = (variance + 2 * (fit.laplace_scale or 0.0) ** 2) * _share_left(fit, cells)
    else:  # the size of an intent is a mean of its cells, weighted by their precisions
        precision = np.nansum(np.where(np.isnan(z), np.nan, 1 / variance), axis=1, keepdims=True)
        spread = np.where((cells > 1) & ~np.isnan(z), variance - 1 / precision, np.nan)
    return pd.DataFrame(deviation / np.sqrt(spread), index=table.intents, columns=table.editions)


def _share_left(fit: DifficultyFit, cells: Integers) -> Floats:
    """Return the share of the variance that fitting leaves in the residuals of intents; NaN of those with one cell."""
    several = cells > 1
    if not fit.variant.has_variance:  # and so no correction
        return np.where(several, 1.0, np.nan)
    left: Floats = np.where(several, 1 - 1 / cells, np.nan)
    if fit.variant.common_variance or fit.restricted:
        return left
    total = int(cells[several].sum())
    return left * (total / (total - int(several.sum()) - fit.free_difficulties + 1))


def parameters_of(fit: DifficultyFit, editions: pd.Index) -> tuple[Floats, float | Floats]:
    r"""Return difficulties and dispersion of a fit as the densities of its model take them.

    There log bits have the mean :math:`\ln n + d + \frac12(\ln(1 + \kappa) - v)`. Where editions have dispersions of
    their own, difficulties are of expected bits, n is the expected bits of an edition of factor 1, and the mean is
    :math:`\ln n + \delta_j - \frac12 v_j`, so that :math:`d_j = \delta_j - \frac12 \ln(1 + \kappa_j)`.
    """
    difficulty = fit.difficulty[editions].to_numpy(dtype=float)
    if fit.dispersions is None:
        return difficulty, fit.dispersion
    kappa = fit.dispersions.value[fit.dispersions.group[editions]].to_numpy(dtype=float)
    return difficulty - 0.5 * np.log1p(kappa), kappa


def model_variance(fit: DifficultyFit, size: Floats, kappa: float | Floats) -> Floats:
    """Return the variance v of z for intents of given sizes under a fit (2C: its squared scale).

    Shapes: size (I, 1); kappa (J,).
    """
    variance: Floats = np.log1p(kappa / (np.ones_like(size) if fit.variant.common_variance else size))
    return variance


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class HeldOutLikelihood:
    """Log-likelihood of surprisals that a fit has not seen.

    Attributes
    ----------
    model, fix, n : str
        The model, and how it was applied: see `held_out_log_likelihood`.
    total, total_bits : float
        Log-likelihood of the log surprisals z = ln(bits), as in Figure 6 of Mielke et al. (2019), and of the
        bits themselves, which is lower by Σz.
    per_cell, std_error : float
        `total` over the number of cells, and its standard error, the intents, or their clusters, being the sample.
    low, high : float
        Ends of its 95 % interval.
    per_intent : Series, shape (I,)
        Log-likelihood of z, summed over the cells of each held-out intent.
    dispersion : float
        The κ that was used: that of the fit, or a new one if only difficulties were fixed; the mean of those of
        editions.
    cells : int
        Number of held-out cells.
    signature : str
        Everything the numbers depend on, to be quoted with them; after ``fit:`` comes a hash of the fit's signature.
    """

    model: str
    fix: str
    n: str
    total: float
    total_bits: float
    per_cell: float
    std_error: float
    low: float
    high: float
    per_intent: pd.Series
    dispersion: float
    cells: int
    signature: str

    def __repr__(self) -> str:
        """Return a one-line description."""
        return (
            f"HeldOutLikelihood: model {self.model}, {self.per_cell:.4f} ± {self.std_error:.4f} nats per cell of log "
            f"bits, {self.total:,.2f} in {self.cells:,} cells (fixed: {self.fix}; sizes: {self.n})"
        )


def held_out_log_likelihood(
    fit: DifficultyFit,
    held_out: Surprisals | pd.DataFrame | Floats,
    *,
    fix: Fix = "difficulty+dispersion",
    n: Sizes = "map",
    clusters: AnyClusters | None = "auto",
    seed: int | np.random.Generator = 0,
) -> HeldOutLikelihood:
    r"""Compute the log-likelihood of held-out intents under a fit.

    Difficulties, and the dispersion if `fix` says so, stay as fitted; every new intent needs a size of its own:

    * ``n="map"``: the most likely one, from the better of two starts, as Mielke et al. (2019,
      appendix C) do. It is fitted to the very cells that are scored, which flatters models that can
      explain a row by its size alone; an intent with one cell is explained exactly. Compare models on
      the same intents only, and see `langdiff.cross_validate`.
    * ``n="posterior"``: integrated out under a normal prior of ln n, whose mean and standard
      deviation are those of the intents of the fit, :math:`\ln \int p(z_i \mid n)\, p(n)\, dn`: a predictive
      density of the whole row.

    Parameters
    ----------
    fit : DifficultyFit
        Fit of other intents, with one difficulty per edition.
    held_out : Surprisals, DataFrame or array, shape (I, J)
        Bits of the held-out intents; NaN where missing. Its editions are among those of the fit.
    fix : {"difficulty+dispersion", "difficulty"}
        Parameters that stay as fitted; with ``"difficulty"`` the dispersion is fitted anew to the held-out intents.
    n : {"map", "posterior"}
        Treatment of the sizes of held-out intents, as described above.
    clusters : "auto", str, mapping, Series, DifficultyFit or None
        Clusters of the held-out intents, such as ``"document"``: a column of their `intent_info`, or the cluster of
        each intent. The standard error then takes clusters for the sample; the log-likelihood does not depend on them.
    seed : int or numpy.random.Generator
        Seed of the random starts, from which sizes of held-out intents are fitted.

    Returns
    -------
    HeldOutLikelihood
        Log-likelihood of the log surprisals and of the bits, in total, per cell and per intent.

    Raises
    ------
    DataError
        If an edition is not in the fit, there is nothing to score, sizes are to be integrated out though all those
        of the fit are equal, or an intent has no cluster, or all the same.
    ConfigError
        If `fix`, `n` or a column of clusters is unknown, or `seed` is neither a whole number nor a generator.

    References
    ----------
    Mielke, Cotterell, Gorman, Roark and Eisner (2019), section 3, appendix C and Figure 6.

    Examples
    --------
    >>> import langdiff as ld
    >>> surprisals = ld.simulate(300, 5, seed=0).surprisals
    >>> train, test = surprisals.bits.iloc[:200], surprisals.bits.iloc[200:]
    >>> for model in ("1", "2"):
    ...     print(held_out_log_likelihood(ld.fit(train, model=model), test, n="posterior", seed=0))
    HeldOutLikelihood: model 1, ... nats per cell of log bits, ... in 500 cells (fixed: difficulty+dispersion; ...)
    HeldOutLikelihood: model 2, ... nats per cell of log bits, ... in 500 cells (fixed: difficulty+dispersion; ...)
    """
    for what, given, offered in (("fix", fix, get_args(Fix)), ("n", n, get_args(Sizes))):
        if given not in offered:
            raise ConfigError(f"unknown {what} {given!r}; use one of {listing(offered)}.")
    table = as_surprisals(held_out)
    unknown = [name for name in table.editions if name not in fit.difficulty.index]
    if unknown:
        raise DataError(_unknown_editions(fit, unknown))
    z: Floats = np.log(table.bits.to_numpy())
    some = np.asarray((~np.isnan(z)).any(axis=1))
    if not some.any():
        raise DataError("no held-out surprisals: every cell is missing.")
    z = z[some]
    labels = one_clustering(table.sel(intents=table.intents[some]), clusters)
    prior = predictive_size_prior(fit) if n == "posterior" else size_prior(fit)
    rng = generator(seed)
    named = name_of_seed(seed, rng)
    editions = known_editions(fit, table.editions)
    if fix == "difficulty":
        editions = _with_new_dispersion(z, editions, prior, n, rng)
    rows = _row_log_density(z, editions, prior, n, rng)
    per_intent = pd.Series(rows, index=table.intents[some], name="log_likelihood")
    counts = (~np.isnan(z)).sum(axis=1)
    per_cell = mean_per_cell(rows, counts, labels)
    return HeldOutLikelihood(
        model=fit.model,
        fix=fix,
        n=n,
        total=float(rows.sum()),
        total_bits=float(rows.sum() - np.nansum(z)),
        per_cell=per_cell["per_cell"],
        std_error=per_cell["std_error"],
        low=per_cell["low"],
        high=per_cell["high"],
        per_intent=per_intent,
        dispersion=editions.typical,
        cells=int(counts.sum()),
        signature=full_signature(
            {
                "model": fit.model,
                "fit": short_hash(fit.signature),
                "fixed": fix,
                "sizes": n,
                "clusters": None if labels is None else name_of_clusters(labels),
                "seed": named,
                **identify_table(table),
                "cells": int(counts.sum()),
            }
        ),
    )


def known_editions(fit: DifficultyFit, editions: pd.Index) -> KnownEditions:
    """Return the parameters of a fit for some editions, in the order given."""
    prior = size_prior(fit)
    sizes = prior.mean - FARTHEST * prior.std, prior.mean + FARTHEST * prior.std
    return KnownEditions(fit.variant, *parameters_of(fit, editions), sizes)


def size_prior(fit: DifficultyFit) -> SizePrior:
    """Return the normal distribution with the mean and standard deviation of a fit's ln n."""
    m = np.log(fit.intent_size.to_numpy(dtype=float))
    return SizePrior(float(m.mean()), float(m.std(ddof=1)))


def predictive_size_prior(fit: DifficultyFit) -> SizePrior:
    """Return `size_prior` after checking that it can be used for prediction."""
    prior = size_prior(fit)
    if prior.std <= LEAST_SPREAD:
        raise DataError(
            "all intents of the fit are of one size, which says nothing of the sizes of others, and so they cannot "
            "be integrated out. Fit more intents."
        )
    return prior


def _unknown_editions(fit: DifficultyFit, unknown: list[object]) -> str:
    name = fit.difficulty.index.name
    unit = "edition" if name is None else name
    if unit != "edition":
        return (
            f"the fit has a difficulty for each {unit} ({listing(fit.difficulty.index)}), not for each edition "
            f"({listing(unknown)}). Fit without groups, or with a formula, which names editions."
        )
    return (
        f"{len(unknown)} held-out edition(s) that the fit does not know: {listing(unknown)}. "
        f"Fit them too, or leave them out{words(python=' with Surprisals.sel(editions=...)', command='')}."
    )


def mean_per_cell(rows: Floats, counts: Integers, clusters: pd.Series | None = None) -> pd.Series:
    """Return the mean per cell of sums by row, with rows or clusters of them, shape (I,), as independent units.

    Its ``std_error``, ``low`` and ``high`` are those of a ratio of sums over units; NaN for a single unit.

    Examples
    --------
    >>> mean_per_cell(np.array([1.0, 1.0, 3.0, 3.0]), np.ones(4, dtype=int), pd.Series(list("xxyy"))).round(2).tolist()
    [2.0, 1.0, -10.71, 14.71]
    """
    units, code = Units.of("intent", range(len(rows)) if clusters is None else clusters)
    sums = pd.DataFrame({"rows": rows, "counts": counts}).groupby(code).sum()
    found = Effects.of_ratios(sums[["rows"]], sums[["counts"]].set_axis(["rows"], axis=1), units, PER_CELL)
    mean: pd.Series = found.to_frame().iloc[0][["per_cell", "std_error", "low", "high"]].astype(float)
    return mean


def _row_log_density(
    z: Floats, editions: KnownEditions, prior: SizePrior, n: Sizes, rng: np.random.Generator
) -> Floats:
    if n == "posterior":
        return log_marginal(z, editions, prior, rng)
    return editions.rows(z, most_likely_sizes(z, editions, prior, rng))


def _with_new_dispersion(
    z: Floats, editions: KnownEditions, prior: SizePrior, n: Sizes, rng: np.random.Generator
) -> KnownEditions:
    """Return the same difficulties with the most likely κ; every κ tried gets the same random starts.

    The dispersions of editions keep their ratios, and their difficulties stay those of expected bits.
    """
    seed = int(rng.integers(2**32))

    def with_kappa(log_kappa: float) -> KnownEditions:
        if isinstance(editions.kappa, float):
            return editions._replace(kappa=float(np.exp(log_kappa)))
        kappa = editions.kappa * float(np.exp(log_kappa)) / editions.typical
        difficulty = editions.difficulty + 0.5 * (np.log1p(editions.kappa) - np.log1p(kappa))
        return editions._replace(kappa=kappa, difficulty=difficulty)

    def minus_log_likelihood(log_kappa: float) -> float:
        return -float(_row_log_density(z, with_kappa(log_kappa), prior, n, generator(seed)).sum())

    start = np.log(editions.typical)
    bounds = (start - FARTHEST_DISPERSION, start + FARTHEST_DISPERSION)
    found = minimize_scalar(
        minus_log_likelihood, bounds=bounds, method="bounded", options={"xatol": DISPERSION_TOLERANCE}
    )
    return with_kappa(float(found.x))
