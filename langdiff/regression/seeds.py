r"""Difficulties from language models that were trained several times, from different seeds.

With seed r the estimate of edition j is :math:`\delta^r_j = \delta_j + u_j + a^r_j + e^r_j`: u from the sample of
intents, which all seeds share; a from the seed, with variance b; e from what both do to single intents. The mean of
z = ln(bits) over R seeds is fitted, whose covariance :math:`\bar C` contains u + e/R, and the seeds add theirs:

.. math:: \mathrm{Cov}(\bar\delta) = \bar C + \frac bR\Bigl(I - \frac{11^\top}J\Bigr), \qquad
          b = \frac{\sum_r |\delta^r - \bar\delta|^2}{(R - 1)(J - 1)}

Deviations are relative to their mean over editions, as only differences of difficulties have a meaning; this is
why J − 1 of J count. e/R counts twice, as b contains e: the covariance errs on the safe side.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from langdiff.errors import ConfigError, DataError, listing
from langdiff.regression.records import Audit
from langdiff.tables.effect_sources import HasEffects, as_effects
from langdiff.tables.effects import Effects
from langdiff.tables.long_tables import join_provenance
from langdiff.tables.surprisals import Surprisals

ENOUGH_SEEDS = 10  # from which each edition has a variance of its own


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SeedEffects:
    r"""Effects of the mean over seeds, their covariance that of intents and of seeds.

    Attributes
    ----------
    effects : Effects
        Difficulties from the mean of log bits over seeds, with the covariance :math:`\mathrm{Cov}(\bar\delta)`.
    of_intents : DataFrame, shape (J, J)
        Covariance of the same estimates without the part of the seeds, nats squared.
    by_seed, std_errors : DataFrame, shape (J, R)
        Difficulties from the table of each seed and their standard errors over samples of intents, nats.
    variance : float
        b, the variance of a difficulty between seeds, pooled over editions, nats squared.
    variances : Series, shape (J,)
        Variance of each edition that the covariance is made with: b, and from ten seeds its own.
    audit : Audit or None
        What the fit to the mean over seeds found out; None if what was estimated is not a fit.
    """

    effects: Effects
    of_intents: pd.DataFrame
    by_seed: pd.DataFrame
    std_errors: pd.DataFrame
    variance: float
    variances: pd.Series
    audit: Audit | None = None

    @property
    def n_seeds(self) -> int:
        """Number of seeds, R."""
        return self.by_seed.shape[1]

    def degrees_of_freedom(self, of_intents: float | pd.DataFrame = np.inf) -> pd.DataFrame:
        r"""Return the degrees of freedom of t for every difference of two editions (Satterthwaite).

        With C the variance of the difference over samples of intents, that is

        .. math:: \nu = \frac{(C + 2b/R)^2}{(2b/R)^2 / ((R-1)(J-1)) + C^2/\nu_C}

        From ten seeds on, where each edition has its own variance, :math:`b_j + b_k` stands for 2b, and
        :math:`(b_j^2 + b_k^2)/(R^2(R-1))` for the first term of the denominator.

        Shapes: of_intents (J, J).
        """
        if not np.all(np.asarray(of_intents) > 0):
            raise ConfigError(f"degrees of freedom must be positive, got {of_intents!r}.")
        covariance, b = self.of_intents.to_numpy(), self.variances.to_numpy() / self.n_seeds
        variance = np.diag(covariance)[:, None] + np.diag(covariance) - 2 * covariance
        of_seeds = b[:, None] + b
        if self.n_seeds < ENOUGH_SEEDS:
            spread = of_seeds**2 / ((self.n_seeds - 1) * (len(b) - 1))
        else:
            spread = (b[:, None] ** 2 + b**2) / (self.n_seeds - 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            degrees = (variance + of_seeds) ** 2 / (spread + variance**2 / np.asarray(of_intents))
        np.fill_diagonal(degrees, np.nan)
        return pd.DataFrame(degrees, index=self.variances.index, columns=self.variances.index)


def mean_over_seeds(tables: Sequence[Surprisals]) -> Surprisals:
    """Return the geometric mean of the bits of every cell, whose logarithm is the mean of z over seeds.

    Examples
    --------
    >>> tables = [Surprisals(bits=pd.DataFrame({"eng": [bits], "deu": [bits + 5]})) for bits in (10.0, 40.0)]
    >>> mean_over_seeds(tables).bits["eng"].round(6).tolist()
    [20.0]
    """
    if len(tables) < 2:
        raise ConfigError(f"a mean over seeds needs at least two tables, got {len(tables)}.")
    first = tables[0]
    missing = first.bits.isna().to_numpy()
    for number, table in enumerate(tables[1:], start=2):
        for what, ours, theirs in (
            ("intents", first.intents, table.intents),
            ("editions", first.editions, table.editions),
        ):
            if not ours.equals(theirs):
                others = theirs.symmetric_difference(ours)
                raise DataError(
                    f"the {what} of table {number} of {len(tables)} are not those of the first, in the same order "
                    f"({listing(others) if len(others) else 'only the order differs'}). Score the same texts "
                    "with the models of every seed."
                )
        if (table.bits.isna().to_numpy() != missing).any():
            raise DataError(
                f"table {number} of {len(tables)} lacks other cells than the first. Score the same texts with the "
                "models of every seed, or set cells to NaN that a table lacks."
            )
        if table.lm != first.lm:
            raise DataError(
                f"table {number} of {len(tables)} is by {table.lm!r}, the first by {first.lm!r}: seeds are to be the "
                "only difference. Fit each language model on its own."
            )
    seeds = [table.provenance.seed for table in tables if table.provenance is not None]
    twice = sorted({seed for seed in seeds if seed is not None and seeds.count(seed) > 1})
    if twice:
        raise DataError(f"two tables are of seed {listing(twice)}; give one table per seed.")
    with np.errstate(invalid="ignore"):
        bits = np.exp(np.mean([np.log(table.bits.to_numpy()) for table in tables], axis=0))
    return Surprisals(
        bits=pd.DataFrame(bits, index=first.intents, columns=first.editions),
        lm=first.lm,
        provenance=join_provenance([table.provenance for table in tables], first.lm),
        intent_info=first.intent_info,
    )


def seed_variance(by_seed: pd.DataFrame) -> float:
    """Return b, the variance of a difficulty between seeds, pooled over editions.

    Shapes: by_seed (J, R).

    Examples
    --------
    >>> round(seed_variance(pd.DataFrame({1: [0.2, -0.2], 2: [0.0, 0.0]})), 12)
    0.04
    """
    return float(centred_variances(by_seed).sum() / (len(by_seed) - 1))


def centred_variances(by_seed: pd.DataFrame) -> pd.Series:
    """Return the variance between seeds of each difficulty relative to the mean over editions.

    Shapes: by_seed (J, R).

    Examples
    --------
    >>> centred_variances(pd.DataFrame({1: [0.2, -0.2], 2: [0.0, 0.0]})).round(12).tolist()
    [0.02, 0.02]
    """
    editions, seeds = by_seed.shape
    if min(editions, seeds) < 2:
        raise ConfigError(f"the spread between seeds needs two seeds and two editions, got {seeds} and {editions}.")
    return (by_seed - by_seed.mean()).var(axis=1, ddof=1)


def _variances(by_seed: pd.DataFrame) -> pd.Series:
    """Return the variance of each edition between seeds: pooled, or from ten seeds its own."""
    editions, seeds = by_seed.shape
    pooled = seed_variance(by_seed)
    if seeds < ENOUGH_SEEDS or editions == 2:  # of two editions, only the difference is known
        return pd.Series(pooled, index=by_seed.index)
    own = (centred_variances(by_seed) - pooled / editions) / (1 - 2 / editions)
    return own.clip(lower=0.0)


def combine_seeds(
    tables: Sequence[Surprisals],
    estimate: Callable[[Surprisals], Effects | HasEffects],
    *,
    seeds: Sequence[int] | None = None,
) -> SeedEffects:
    """Estimate difficulties from the tables of several seeds, with errors of intents and of seeds.

    Examples
    --------
    >>> import langdiff as ld
    >>> truth = ld.simulate(200, 3, seed=1).surprisals.bits
    >>> luck = np.random.default_rng(1).normal(0, 0.05, (4, 3))
    >>> tables = [Surprisals(bits=truth * np.exp(row)) for row in luck]
    >>> found = combine_seeds(tables, ld.fit)
    >>> bool((found.effects.std_error > 1.5 * ld.fit(truth).std_error).all())
    True
    """
    of_mean = estimate(mean_over_seeds(tables))
    mean, audit = as_effects(of_mean), getattr(of_mean, "audit", None)
    names = mean.estimate.index
    seeds = range(len(tables)) if seeds is None else seeds
    each = {seed: as_effects(estimate(table)) for seed, table in zip(seeds, tables, strict=True)}
    by_seed = pd.DataFrame({seed: effects.estimate for seed, effects in each.items()}, index=names)
    variances = _variances(by_seed)
    centring = np.eye(len(names)) - 1 / len(names)
    of_seeds = centring @ np.diag(variances.to_numpy() / len(tables)) @ centring
    freedom = mean.degrees_of_freedom
    reference = mean.reference
    found = SeedEffects(
        effects=mean,
        of_intents=mean.covariance,
        by_seed=by_seed,
        std_errors=pd.DataFrame({seed: effects.std_error for seed, effects in each.items()}, index=names),
        variance=seed_variance(by_seed),
        variances=variances,
        audit=None if audit is None else replace(audit, also="other seeds"),
    )
    degrees = found.degrees_of_freedom(freedom)
    degrees = degrees.fillna(degrees.min().min()) if degrees.notna().any(axis=None) else degrees.fillna(np.inf)
    combined = Effects.from_covariance(
        mean.estimate,
        mean.covariance + of_seeds,
        degrees,
        shape=None if reference is None else reference + of_seeds,
        scale=mean.scale,
        title=f"{mean.title}, mean of {len(tables)} seeds".removeprefix(", "),
        converged=mean.converged,
        signature=f"{mean.signature}|seeds:{len(tables)}".removeprefix("|"),
    )
    return replace(found, effects=combined)
