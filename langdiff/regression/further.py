"""What a fit says beside its difficulties: sizes, dispersions, and what the other kind of intents would give."""

import numpy as np
import pandas as pd
from scipy.linalg import LinAlgError

from langdiff.base.seeds import generator
from langdiff.base.types import Floats
from langdiff.regression.design import Design
from langdiff.regression.estimating import Fitted, dispersion_groups
from langdiff.regression.kernel.estimate import Parameters
from langdiff.regression.kernel.random.distance import distance_of_fits, influence_of_fixed
from langdiff.regression.kernel.random.estimate import estimate_random
from langdiff.regression.kernel.two_way import solve_two_way
from langdiff.regression.kernel.unequal.estimate import UnequalEstimate
from langdiff.regression.kernel.unequal.wald import bootstrap_wald, compare_dispersions, sandwich_covariance
from langdiff.regression.options import Options
from langdiff.regression.records import Dispersions, IntentsCompared, SizeDistribution
from langdiff.regression.uncertainty import Uncertainty
from langdiff.tables.surprisals import Surprisals

MOST_COMPARED = 1_000_000  # cells
FEWEST_SAMPLES = 19  # with fewer, no p is below 5 %
LEAST_SPREAD = 0.01  # of ln n, to begin a search with


def size_distribution(fitted: Fitted, options: Options, parameters: Parameters) -> SizeDistribution | None:
    """Return the distribution of sizes in bits of an average edition; None where sizes are fixed."""
    if fitted.unequal is not None:
        if np.isnan(fitted.unequal.tau):
            return None
        shift = float(np.mean(parameters.log_intent_size - fitted.unequal.sizes))
        return SizeDistribution(mean=fitted.unequal.mean + shift, sd=fitted.unequal.tau)
    if fitted.random is None:
        return None
    shift = float(np.mean(parameters.log_intent_size - fitted.random.sizes))  # the same for all
    slopes = None
    if options.size_formula is not None:
        slopes = pd.Series(fitted.random.slopes, index=pd.Index(fitted.size_terms, name="term"), name="slope")
    return SizeDistribution(kind=options.sizes, mean=fitted.random.mean + shift, sd=fitted.random.tau, slopes=slopes)


def dispersions_of(
    fitted: Fitted,
    options: Options,
    table: Surprisals,
    edition_info: pd.DataFrame | None,
    labels: list[pd.Series],
    uncertainty: Uncertainty,
) -> Dispersions | None:
    """Return the dispersions of editions with the tests that they are equal; None if they are taken to be."""
    found = fitted.unequal
    if found is None:
        return None
    group = dispersion_groups(options, table, edition_info)
    names = pd.Index(list(pd.unique(group)), name=group.name)
    cluster = pd.factorize(labels[0][fitted.used])[0] if labels else None
    covariance = sandwich_covariance(found, cluster)
    if uncertainty.joint is not None and (len(labels) > 1 or uncertainty.source.strata):
        covariance = uncertainty.joint
    common = fitted.equal() if fitted.equal is not None else found
    n_clusters = int(fitted.used.sum()) if cluster is None else uncertainty.source.n_clusters
    test = compare_dispersions(found, common, covariance, n_clusters=n_clusters)
    by_bootstrap = cluster is None and options.bootstrap >= FEWEST_SAMPLES
    both = pd.Index([*(f"level {edition}" for edition in table.editions), *(f"ln variance {name}" for name in names)])
    variance = np.exp(found.log_variance)
    joint = found.covariance if uncertainty.joint is None else uncertainty.joint
    if fitted.found.covariance is None:  # estimates that are out of range have no errors
        joint = np.full_like(joint, np.nan)
    return Dispersions(
        group=group,
        value=pd.Series(np.expm1(variance) if found.model == "1" else variance, names, name="dispersion"),
        level=pd.Series(found.c, table.editions, name="level"),
        covariance=pd.DataFrame(joint, both, both),
        wald=test.wald,
        p_value=_bootstrap_p(fitted, options) if by_bootstrap else test.wald_p,
        test="bootstrap" if by_bootstrap else "robust",
        likelihood_ratio_p=test.likelihood_ratio_p,
        boundary=tuple(str(name) for name in names[found.boundary]),
    )


def _bootstrap_p(fitted: Fitted, options: Options) -> float:
    """Return the p of the test of equal dispersions from samples of intents."""
    rng, intents, again = generator(options.seed), int(fitted.used.sum()), fitted.unequal_again
    if fitted.unequal is None or again is None:
        return float("nan")

    def resample() -> tuple[UnequalEstimate, Floats]:
        sample = again(rng.integers(intents, size=intents))
        return sample, sandwich_covariance(sample)

    return bootstrap_wald(fitted.unequal, resample, n_resamples=options.bootstrap)


def compared_intents(
    z: Floats, fitted: Fitted, design: Design, options: Options, table: Surprisals, labels: list[pd.Series]
) -> IntentsCompared | None:
    """Return the distance between fixed and random intents; None on complete tables, where there is hardly any.

    Models 1 and 2 only, whose fits of both kinds are quick, and random sizes that are normal without a formula. The
    fixed fit of model 2 is the restricted one. None for tables above a million cells, where it would take longer than
    the fit itself.
    """
    variant, _, optimizer = options.settings
    model = "1" if variant.common_variance else "2"
    plain = options.sizes == "normal" and options.size_formula is None and not options.settings.restricted
    if not variant.has_information or options.unequal or not plain or not fitted.found.converged:
        return None
    cluster = pd.factorize(labels[0])[0] if labels else np.arange(len(z))
    enough = len(labels) < 2 and cluster.max() >= 2 * z.shape[1]  # for the variance between clusters
    if not enough or z.size > MOST_COMPARED or not np.isnan(z).any():
        return None
    used = (~np.isnan(z)).sum(axis=1) > 1
    two_way = solve_two_way(z[used], design.basis)
    # unrestricted, model 2 has a bias of its own in incomplete tables, which would be taken for a difference
    restricted = model == "2"
    iterations = optimizer.max_iterations
    try:
        fixed = fitted.found
        if fitted.random is not None or restricted:
            near = (fixed.sizes, fixed.c) if fitted.random is None else None
            fixed = variant.estimate(
                two_way, restricted=restricted, optimizer=optimizer, start=near, with_covariance=False
            )
        random = fitted.random
        if random is None:
            near_sizes = [fixed.sizes.mean(), np.log(max(fixed.sizes.std(), LEAST_SPREAD))]
            start = np.concatenate([fixed.c, near_sizes]) if model == "2" else None
            random = estimate_random(z, model=model, design=design.basis, max_iterations=iterations, start=start)
        influence = np.zeros_like(z)
        influence[used] = influence_of_fixed(two_way, model=model, c=fixed.c, sizes=fixed.sizes, restricted=restricted)
        if not (fixed.converged and random.converged):
            return None
        sums = np.zeros((2, int(cluster.max()) + 1, z.shape[1]))
        for part, of_rows in zip(sums, (influence, random.influence()), strict=True):
            np.add.at(part, cluster, of_rows)
        found = distance_of_fits(fixed.c, sums[0], random.c, sums[1])
    except LinAlgError:
        return None
    return IntentsCompared(
        difference=pd.Series(found.difference, table.editions, name="difference"),
        statistic=found.statistic,
        degrees_of_freedom=found.rank,
        p_value=found.p_value,
    )
