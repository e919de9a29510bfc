"""From estimates to published parameters: their covariance, and tests.

Covariances are from the information, from scores of clusters (sandwich), or from samples of clusters. Published
abilities average 0, and difficulties are for the average system.
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pandas as pd
from scipy.stats import chi2
from scipy.stats import f as f_ratio

from langdiff.base.seeds import generator
from langdiff.base.types import Floats, Integers
from langdiff.errors import SolverError, option, warn
from langdiff.regression.outcomes.design import ItemDesign, each_beats_all
from langdiff.regression.outcomes.estimate import Estimate, estimate
from langdiff.regression.outcomes.evaluation import Point, evaluate
from langdiff.regression.outcomes.integrals import Rows
from langdiff.regression.outcomes.likelihoods import Structure

ABILITY, DIFFICULTY, PROFILE, TERM, SPREAD, LOADING = (
    "ability",
    "difficulty",
    "profile",
    "term",
    "spread",
    "loading",
)

ITEMS, TRANSLATIONS = "items", "translations"  # that spread

OutcomeErrors = Literal["auto", "information", "sandwich", "bootstrap"]

FEW_CLUSTERS = 30
LARGEST_LEVEL = 15.0  # log odds of an estimate in a sample that has run away
MOST_FAILED = 0.05  # of the samples
START_SPREAD = 0.3  # of a search, where the estimate is 0
MANY_CELLS = 1_000_000  # up to which marginal and conditional estimates are compared
RANK = 1e-8  # of the largest eigenvalue
DOUBTFUL = 0.05  # p of the comparison of marginal and conditional estimates from which on its advice is given


@dataclass(frozen=True, kw_only=True)
class ErrorRecord:
    """Source of the standard errors of a fit.

    Attributes
    ----------
    kind : {"information", "sandwich", "bootstrap"}
        Method behind the covariance; see `langdiff.fit_outcomes`.
    clusters : str
        What was taken to be independent: ``"item"``, or the attribute that items share in a cluster.
    n_clusters : int
        Number of clusters.
    n_resamples : int
        Number of samples of the bootstrap that could be fitted; 0 with other methods.
    seed : str
        Seed of the samples; empty if nothing was drawn.
    ratio : float
        Median over systems of the standard error over that from the information.

    Examples
    --------
    >>> ErrorRecord(kind="sandwich", clusters="document", n_clusters=40, ratio=1.21).words
    'scores of 40 clusters by document (1.21 × those of the information, design effect 1.46)'
    """

    kind: str = "information"
    clusters: str = "item"
    n_clusters: int = 0
    n_resamples: int = 0
    seed: str = ""
    ratio: float = 1.0

    @property
    def words(self) -> str:
        """Description of the source, as `OutcomeFit.summary` prints it."""
        if self.kind == "information":
            return "the information"
        of = (
            f"{self.n_clusters:,} items"
            if self.clusters == "item"
            else f"{self.n_clusters:,} clusters by {self.clusters}"
        )
        found = f"scores of {of}" if self.kind == "sandwich" else f"{self.n_resamples:,} samples of {of}"
        return f"{found} ({self.ratio:.2f} × those of the information, design effect {self.ratio**2:.2f})"


@dataclass(frozen=True, kw_only=True)
class LikelihoodRatio:
    """A likelihood-ratio test.

    Attributes
    ----------
    statistic : float
        Twice the difference of log-likelihoods.
    degrees_of_freedom : int
        Number of parameters that are tested; 1 for a variance, half of whose null distribution is at 0.
    p_value : float
        Probability of such a statistic if they are 0.
    """

    statistic: float
    degrees_of_freedom: int
    p_value: float


@dataclass(frozen=True, kw_only=True)
class ProfileTest:
    """A test of the interaction of systems and groups of items.

    Attributes
    ----------
    kind : {"likelihood ratio", "Wald"}
        Method: the likelihood ratio takes items to be independent; Wald's test is from the covariance of the fit, that
        of clusters.
    statistic : float
        Twice the difference of log-likelihoods, or the squared distance of the profile from 0 in standard errors.
    degrees_of_freedom : int
        Number of differences that are free.
    p_value : float
        Probability of such a statistic if the profile is flat; of Wald's by Hotelling's distribution.
    """

    statistic: float
    degrees_of_freedom: int
    p_value: float
    kind: str = "likelihood ratio"


@dataclass(frozen=True, kw_only=True)
class LikelihoodsCompared:
    """The distance between abilities by the marginal and by the conditional likelihood (after Hausman 1978).

    Attributes
    ----------
    largest : float
        Largest difference of an ability, marginal less conditional, log odds.
    system : str
        System that has it.
    statistic : float
        Squared distance in units of its sampling error, which is that of the difference of influences of items.
    degrees_of_freedom : int
        Number of differences that are free.
    p_value : float
        Probability of such a distance, by Hotelling's distribution, if items are missing independently of their
        difficulty.
    """

    largest: float
    system: str
    statistic: float
    degrees_of_freedom: int
    p_value: float

    @property
    def words(self) -> str:
        """Description of the distance, with advice if it is significant."""
        found = (
            f"marginal and conditional abilities differ by up to {self.largest:+.3f} ({self.system}), "
            f"p = {self.p_value:.2g}"
        )
        if self.p_value >= DOUBTFUL:
            return found
        return f"{found}: items seem to be missing by their difficulty; trust {option('model', 'conditional')}"


def part_of(parameters: pd.DataFrame, parameter: str) -> pd.DataFrame:
    """Return the rows of one kind of parameter, indexed by name; none if there is none."""
    return parameters[parameters.index.get_level_values(0) == parameter].droplevel(0)


def publish(
    point: Point, covariance: Floats, design: ItemDesign, systems: pd.Index, structure: Structure
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return published parameters and their joint covariance.

    Shapes: covariance (P, P).
    """
    blocks, J = point.level.shape
    K, P = len(point.slope), len(point.to_vector())
    vector = point.to_vector()
    names: list[tuple[str, str]] = [(ABILITY, str(name)) for name in systems]
    by_block = np.eye(P)[: blocks * J].reshape(blocks, J, P)  # picks m
    ability = by_block.mean(axis=0) - by_block.mean(axis=(0, 1))
    rows = [ability]
    slopes = np.eye(P)[blocks * J : blocks * J + K]
    if not structure.conditional:
        level = -by_block.mean(axis=1)  # of each block
        if design.groups is None:
            names.append((DIFFICULTY, "all"))
        else:
            names += [(DIFFICULTY, str(group)) for group in design.groups]
            if not design.interacting:
                level = level + np.vstack([np.zeros(P), slopes[: design.indicators]])
        rows += [level, slopes[design.indicators :]]
        names += [(TERM, term) for term in design.terms]
    if design.interacting and design.groups is not None:
        centred = by_block - by_block.mean(axis=0) - by_block.mean(axis=1)[:, None] + by_block.mean(axis=(0, 1))
        rows.append(-centred.reshape(-1, P))
        names += [(PROFILE, f"{system}: {group}") for group in design.groups for system in systems]
    linear = np.vstack(rows)
    estimate = linear @ vector
    if not structure.conditional:
        names.append((SPREAD, ITEMS))
        linear = np.vstack([linear, np.eye(P)[-J - 2]])
        estimate = np.append(estimate, point.spread)
        if structure.translated:
            names.append((SPREAD, TRANSLATIONS))
            linear = np.vstack([linear, np.eye(P)[-J - 3]])
            estimate = np.append(estimate, point.translation)
        if structure.loadings == "free":
            names += [(LOADING, str(name)) for name in systems]
            loading = np.exp(point.log_loading)
            linear = np.vstack([linear, loading[:, None] * np.eye(P)[-J - 1 : -1]])
            estimate = np.append(estimate, loading)
        for parameter in structure.likelihood.parameters:
            value, slope = structure.likelihood.publish(float(vector[-1]))
            names.append((parameter.name, parameter.of))
            linear = np.vstack([linear, slope * np.eye(P)[-1]])
            estimate = np.append(estimate, value)
    index = pd.MultiIndex.from_tuples(names, names=["parameter", "name"])
    found = linear @ covariance @ linear.T
    bounded = [SPREAD, *(parameter.name for parameter in structure.likelihood.parameters)]
    boundary = (np.diag(found) == 0) & np.isin(index.get_level_values(0), bounded)
    found[boundary], found[:, boundary] = np.nan, np.nan  # an estimate of 0 has no normal error
    std_error = np.sqrt(np.maximum(np.diag(found), 0))
    parameters = pd.DataFrame({"estimate": estimate, "std_error": std_error}, index=index)
    return parameters, pd.DataFrame(found, index=index, columns=index)


def influence(rows: Rows, found: Estimate, cluster: Integers, structure: Structure) -> Floats:
    """Return the influence of each cluster on the estimates, to first order: its score times H⁻¹, (C, P)."""
    conditional = structure.conditional
    total, trials = rows.s.sum(axis=1), rows.t.sum(axis=1)
    telling = (total > 0) & (total < trials) if conditional else np.ones(len(total), dtype=bool)
    some = replace(rows, x=rows.x[:, :0]) if conditional else rows
    scores = evaluate(some.take(telling), found.optimum.point, structure, scores=True).scores
    sums = np.zeros((int(cluster.max()) + 1, len(found.optimum.free)))
    np.add.at(sums, cluster[telling], scores)
    of_clusters: Floats = sums @ found.optimum.covariance
    return of_clusters


def sandwich_covariance(rows: Rows, found: Estimate, cluster: Integers, structure: Structure) -> Floats:
    r"""Return the sandwich :math:`H^{-1} \left(\sum_c g_c g_c^\top\right) H^{-1} C / (C - 1)`, shape (P, P)."""
    of_clusters = influence(rows, found, cluster, structure)
    clusters = len(of_clusters)
    sandwich: Floats = of_clusters.T @ of_clusters * (clusters / (clusters - 1))
    return sandwich


def bootstrap_covariance(
    rows: Rows,
    found: Estimate,
    cluster: Integers,
    structure: Structure,
    *,
    n_resamples: int,
    seed: int | np.random.Generator,
) -> tuple[Floats, int]:
    """Return the covariance of estimates from samples of whole clusters, and the number of samples it is from.

    Warns
    -----
    LangdiffWarning
        If more than one in twenty cannot be.
    """
    rng = generator(seed, "samples of clusters")
    point, free = found.optimum.point, found.optimum.free
    clusters = int(cluster.max()) + 1
    if not structure.conditional:
        point = replace(point, spread=max(point.spread, START_SPREAD))
    draws = []
    for _ in range(n_resamples):
        times = np.bincount(rng.integers(clusters, size=clusters), minlength=clusters).astype(float)
        sample = rows.reweighted(times[cluster])
        if not sample.t.any(axis=0).all():
            continue
        with np.errstate(all="ignore"):  # of samples that run away
            again = estimate(sample, structure, start=point).optimum
        if again.converged and np.abs(again.point.level).max() < LARGEST_LEVEL:
            draws.append(again.point.to_vector())
    if len(draws) < max(2, n_resamples // 2):
        raise SolverError(
            f"only {len(draws)} of {n_resamples} samples of {clusters} clusters could be fitted; in the others a "
            f"system or group is all right or all wrong. Use {option('errors', 'sandwich')}, or larger groups."
        )
    if len(draws) < (1 - MOST_FAILED) * n_resamples:
        warn(
            f"{n_resamples - len(draws)} of {n_resamples} samples could not be fitted, since a system or group is all "
            "right or all wrong in them; standard errors are those of the others, and too small."
        )
    fixed = ~free.any(axis=1)
    covariance = np.cov(np.array(draws), rowvar=False)
    covariance[fixed] = 0
    covariance[:, fixed] = 0
    return covariance, len(draws)


def variance_test(full: float, null: float) -> LikelihoodRatio:
    """Test by two log-likelihoods that a variance is 0, at the boundary: ½χ²₀ + ½χ²₁ (Self and Liang 1987)."""
    statistic = max(2 * (full - null), 0.0)
    p_value = 1.0 if statistic <= 1e-9 else float(chi2.sf(statistic, 1)) / 2
    return LikelihoodRatio(statistic=statistic, degrees_of_freedom=1, p_value=p_value)


def interaction_test(
    rows: Rows,
    found: Estimate,
    design: ItemDesign,
    structure: Structure,
    errors: ErrorRecord,
    published: tuple[pd.DataFrame, pd.DataFrame],
) -> ProfileTest:
    """Test the interaction of systems and groups, by the covariance if it is from clusters.

    The likelihood ratio takes items to be independent: with 40 documents it rejects 12 % of true hypotheses at 5 %. It
    remains where there are no more clusters than differences.
    """
    groups, systems = len(design.groups if design.groups is not None else ()), rows.s.shape[1]
    freedom = (groups - 1) * (systems - 1)
    units = min(errors.n_clusters, errors.n_resamples or errors.n_clusters)
    if errors.kind != "information" and units > freedom:
        parameters, joint = published
        profile = np.flatnonzero(parameters.index.get_level_values(0) == PROFILE).reshape(groups, systems)
        free = profile[:-1, :-1].ravel()  # the others follow from them
        differences = parameters["estimate"].to_numpy()[free]
        distance = float(differences @ np.linalg.solve(joint.to_numpy()[np.ix_(free, free)], differences))
        p_value = _hotelling(distance, freedom, units)
        return ProfileTest(kind="Wald", statistic=distance, degrees_of_freedom=freedom, p_value=p_value)
    indicators = (rows.block[:, None] == np.arange(1, groups)).astype(float)
    without = replace(rows, x=np.column_stack([indicators, rows.x]), block=np.zeros_like(rows.block))
    null = estimate(without, structure)
    statistic = max(2 * (found.optimum.value.log_likelihood - null.optimum.value.log_likelihood), 0.0)
    return ProfileTest(statistic=statistic, degrees_of_freedom=freedom, p_value=float(chi2.sf(statistic, freedom)))


def _hotelling(statistic: float, freedom: int, units: int) -> float:
    return float(f_ratio.sf(statistic * (units - freedom) / (freedom * (units - 1)), freedom, units - freedom))


def comparable(rows: Rows, structure: Structure) -> bool:
    """Return whether the conditional likelihood is of the same model: without chance, and no translations."""
    return structure.totals_suffice and not structure.conditional and rows.constant is None and not structure.languages


def compare_likelihoods(
    rows: Rows, found: Estimate, design: ItemDesign, cluster: Integers, names: pd.Index
) -> LikelihoodsCompared | None:
    """Compare abilities with the conditional ones, where cells are missing and the latter exist.

    The covariance of the difference is that of the differences of influence, by cluster. Hausman's own, the difference
    of the two covariances, is that of nearly equal numbers: it rejects 11 to 20 % of true hypotheses at 5 %.
    """
    whole = bool((rows.t > 0).all())
    if whole or design.interacting or rows.t.size > MANY_CELLS or not found.optimum.converged:
        return None
    if not each_beats_all(rows):
        return None
    point, systems = found.optimum.point, rows.s.shape[1]
    start = replace(point, level=point.level - point.level.mean(), slope=np.zeros(0), spread=0.0)
    conditioned = Structure(levels="conditional")
    other = estimate(rows, conditioned, start=start)
    both = [(found, Structure()), (other, conditioned)]
    marginal, conditional = (one.optimum.point.level[0] - one.optimum.point.level[0].mean() for one, _ in both)
    of_marginal, of_conditional = (influence(rows, one, cluster, structure)[:, :systems] for one, structure in both)
    clusters = len(of_marginal)
    apart = (of_marginal - of_conditional) @ (np.eye(systems) - 1 / systems)
    eigenvalues, vectors = np.linalg.eigh(apart.T @ apart * (clusters / (clusters - 1)))
    kept = eigenvalues > RANK * np.abs(eigenvalues).max()
    freedom = int(kept.sum())
    if not other.optimum.converged or freedom == 0 or clusters <= freedom:
        return None
    difference = marginal - conditional
    statistic = float(np.sum((vectors[:, kept].T @ difference) ** 2 / eigenvalues[kept]))
    place = int(np.argmax(np.abs(difference)))
    return LikelihoodsCompared(
        largest=float(difference[place]),
        system=str(names[place]),
        statistic=statistic,
        degrees_of_freedom=freedom,
        p_value=_hotelling(statistic, freedom, clusters),
    )
