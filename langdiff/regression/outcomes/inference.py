"""From estimates to published parameters: their covariance, and tests.

Covariances are from the information, from scores of clusters (sandwich), or from samples of clusters. Published
abilities average 0, and difficulties are for the average system.
"""

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from langdiff.base.types import Floats, generator
from langdiff.errors import SolverError, option, warn
from langdiff.regression.outcomes.design import ItemDesign, ItemUnits, each_beats_all
from langdiff.regression.outcomes.estimate import LAST, Estimate, estimate
from langdiff.regression.outcomes.evaluation import Point, evaluate
from langdiff.regression.outcomes.integrals import Rows
from langdiff.regression.outcomes.likelihoods import Structure
from langdiff.tables.influences import Covariance, Influence, joint_test, sums
from langdiff.tables.pairs import holm
from langdiff.tables.rule import JointTest, likelihood_ratio

ABILITY, DIFFICULTY, PROFILE, TERM, SPREAD, LOADING = (
    "ability",
    "difficulty",
    "profile",
    "term",
    "spread",
    "loading",
)

INTERACTION = "interaction"  # of languages and systems
ITEMS, TRANSLATIONS = "items", "translations"  # that spread

OutcomeErrors = Literal["auto", "information", "sandwich", "bootstrap"]

LARGEST_LEVEL = 15.0  # log odds of an estimate in a sample that has run away
MOST_FAILED = 0.05  # of the samples
START_SPREAD = 0.3  # of a search, where the estimate is 0
MANY_CELLS = 1_000_000  # up to which marginal and conditional estimates are compared
RANK = 1e-8  # of the largest eigenvalue
ALIKE = 1e-12  # difference of shares in two estimates that is none
DOUBTFUL = 0.05  # p of the comparison of marginal and conditional estimates from which on its advice is given


@dataclass(frozen=True, kw_only=True)
class ErrorRecord:
    """Source of the standard errors of a fit.

    Attributes
    ----------
    kind : {"information", "sandwich", "bootstrap"}
        Method behind the covariance; see `langdiff.fit_outcomes`.
    units : str
        The independent units in one sentence; empty with the information.
    n_resamples : int
        Number of samples of the bootstrap that could be fitted; 0 with other methods.
    seed : str
        Seed of the samples; empty if nothing was drawn.
    ratio : float
        Median over systems of the standard error over that from the information.

    Examples
    --------
    >>> ErrorRecord(kind="sandwich", units="Independent units: 40 documents.", ratio=1.21).words
    'scores (1.21 × those of the information, design effect 1.46). Independent units: 40 documents.'
    """

    kind: str = "information"
    units: str = ""
    n_resamples: int = 0
    seed: str = ""
    ratio: float = 1.0

    @property
    def words(self) -> str:
        """Description of the source, as `OutcomeFit.summary` prints it."""
        if self.kind == "information":
            return "the information"
        found = "scores" if self.kind == "sandwich" else f"{self.n_resamples:,} samples of units"
        if np.isnan(self.ratio):  # no information to compare them with
            return f"a sandwich. {self.units}"
        return f"{found} ({self.ratio:.2f} × those of the information, design effect {self.ratio**2:.2f}). {self.units}"


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
class LikelihoodsCompared:
    """The distance between abilities by the marginal and by the conditional likelihood (after Hausman 1978).

    Attributes
    ----------
    largest : float
        Largest difference of an ability, marginal less conditional, log odds.
    system : str
        System that has it.
    test : JointTest
        Test that all differences are 0, as if items are missing independently of their difficulty.
    """

    largest: float
    system: str
    test: JointTest

    @property
    def words(self) -> str:
        """Description of the distance, with advice if it is significant."""
        found = (
            f"marginal and conditional abilities differ by up to {self.largest:+.3f} ({self.system}), "
            f"p = {self.test.p:.2g}"
        )
        if not self.test.p < DOUBTFUL:
            return found
        return f"{found}: items seem to be missing by their difficulty; trust {option('model', 'conditional')}"


def part_of(parameters: pd.DataFrame, parameter: str) -> pd.DataFrame:
    """Return the rows of one kind of parameter, indexed by name; none if there is none."""
    return parameters[parameters.index.get_level_values(0) == parameter].droplevel(0)


class Published(NamedTuple):
    """Names and values of published parameters, (Q,), and their derivatives in the vector of the search, (Q, P)."""

    names: pd.MultiIndex
    estimate: Floats
    slopes: Floats


def publish(point: Point, design: ItemDesign, systems: pd.Index, structure: Structure) -> Published:
    """Return published parameters."""
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
    return Published(pd.MultiIndex.from_tuples(names, names=["parameter", "name"]), estimate, linear)


def influences(
    rows: Rows, found: Estimate, structure: Structure, published: Published, design: ItemDesign, units: ItemUnits
) -> Influence:
    """Return the influences of units of items on published parameters: their scores times H⁻¹.

    The share of a unit in the information is that of its answers, to items that tell: in the column of a level, in a
    group of items, by squares of a term, or in all.
    """
    total, trials = rows.s.sum(axis=1), rows.t.sum(axis=1)
    telling = (total > 0) & (total < trials) if structure.conditional else np.ones(len(total), dtype=bool)
    some = replace(rows, x=rows.x[:, :0]) if structure.conditional else rows
    scores = evaluate(some.take(telling), found.optimum.point, structure, scores=True).scores
    count = len(units.units.names)
    values = sums(scores, units.code[telling], count) @ found.optimum.covariance @ published.slopes.T
    answers = rows.t * telling[:, None]
    of_items = answers.sum(axis=1, keepdims=True)
    groups = np.ones((len(answers), 1))
    if design.group is not None and design.groups is not None:
        groups = (design.group[:, None] == np.arange(len(design.groups))).astype(float)
    behind = {
        ABILITY: answers,
        DIFFICULTY: of_items * groups,
        TERM: of_items * rows.x[:, design.indicators :] ** 2,
        PROFILE: (groups[:, :, None] * answers[:, None]).reshape(len(answers), -1),
        LOADING: answers,
    }
    kinds = published.names.get_level_values(0)
    parts = [behind.get(kind, np.repeat(of_items, int((kinds == kind).sum()), axis=1)) for kind in kinds.unique()]
    share = sums(np.hstack(parts), units.code, count)
    share /= share.sum(axis=0)
    return Influence(values, share[:, 0] if np.ptp(share, axis=1).max() < ALIKE else share, units.units)


def bootstrap_covariance(
    rows: Rows,
    found: Estimate,
    units: ItemUnits,
    structure: Structure,
    *,
    n_resamples: int,
    seed: int | np.random.Generator,
) -> tuple[Floats, int]:
    """Return the covariance of estimates from samples of whole units, and the number of samples it is from.

    That of G units is G/(G − 1) times the covariance of samples, since a sample varies about the mean of those there.

    Warns
    -----
    LangdiffWarning
        If more than one in twenty cannot be.
    """
    rng = generator(seed, "samples of clusters")
    point, free = found.optimum.point, found.optimum.free
    clusters = len(units.units.names)
    if not structure.conditional:
        point = replace(point, spread=max(point.spread, START_SPREAD))
    draws = []
    for _ in range(n_resamples):
        times = np.bincount(rng.integers(clusters, size=clusters), minlength=clusters).astype(float)
        sample = rows.reweighted(times[units.code])
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
    covariance = np.cov(np.array(draws), rowvar=False) * clusters / (clusters - 1)
    covariance[fixed] = 0
    covariance[:, fixed] = 0
    return covariance, len(draws)


def variance_test(full: float, null: float) -> LikelihoodRatio:
    """Test by two log-likelihoods that a variance is 0, at the boundary: ½χ²₀ + ½χ²₁ (Self and Liang 1987)."""
    found = likelihood_ratio(full, null, 1)
    p_value = 1.0 if found.statistic <= 1e-9 else found.p / 2
    return LikelihoodRatio(statistic=found.statistic, degrees_of_freedom=1, p_value=p_value)


def interaction_test(
    rows: Rows,
    found: Estimate,
    design: ItemDesign,
    structure: Structure,
    published: Published,
    sampling: Influence | Covariance,
) -> JointTest:
    """Test the interaction of systems and groups by the errors of the fit, or, of the information, by the likelihood.

    The likelihood ratio takes items to be independent: with 40 documents it rejects 12 % of true hypotheses at 5 %.
    """
    groups, systems = len(design.groups if design.groups is not None else ()), rows.s.shape[1]
    freedom = (groups - 1) * (systems - 1)
    inside = np.flatnonzero(published.names.get_level_values(0) == PROFILE)
    if isinstance(sampling, Influence):
        return joint_test(published.estimate[inside], sampling.pick(inside), freedom)
    if not isinstance(sampling.freedom, float):
        both = np.ix_(inside, inside)
        of_profile = Covariance(sampling.matrix[both], sampling.freedom[both])
        return joint_test(published.estimate[inside], of_profile, freedom)
    indicators = (rows.block[:, None] == np.arange(1, groups)).astype(float)
    without = replace(rows, x=np.column_stack([indicators, rows.x]), block=np.zeros_like(rows.block))
    null = estimate(without, structure)
    return likelihood_ratio(found.optimum.value.log_likelihood, null.optimum.value.log_likelihood, freedom)


def score_tests(rows: Rows, structure: Structure, columns: pd.DataFrame, units: ItemUnits) -> pd.DataFrame:
    r"""Test at an additive fit whether levels are sums of languages and systems: all, and those of each system.

    With the scores s of units and the information J there, a direction ψ beside the additive ones α has the efficient
    scores :math:`e_g = s_{g\psi} - J_{\psi\alpha} J_{\alpha\alpha}^{-1} s_{g\alpha}`. The statistic is
    :math:`U^\top J^{-1} U` with their sum U and their information: finite also where levels are not.
    """
    names = columns["system"]
    found = estimate(rows, structure).optimum
    value = evaluate(rows, found.point, structure, nodes=LAST, scores=True)
    scores = sums(value.scores, units.code, len(units.units.names))
    share = sums(rows.t.sum(axis=1) / rows.t.sum(), units.code, len(scores))
    information, alpha = -value.hessian, found.free
    project = alpha @ np.linalg.solve(alpha.T @ information @ alpha, alpha.T @ information)
    found_tests = {}
    for name in (INTERACTION, *names.unique()):
        psi = np.eye(len(information))[:, np.flatnonzero((names == name) | (name == INTERACTION))]
        psi = psi - project @ psi
        values, axes = np.linalg.eigh(psi.T @ information @ psi)
        kept = values > RANK * values[-1]
        efficient = scores @ psi @ axes[:, kept] / np.sqrt(values[kept])
        total = efficient.sum(axis=0)
        sampling = Influence(efficient - share[:, None] * total, share, units.units)
        found_tests[name] = joint_test(total, sampling, int(kept.sum()))
    frame = pd.DataFrame.from_dict(found_tests, orient="index", columns=JointTest._fields)
    return frame.assign(p_holm=[np.nan, *holm(frame["p"].to_numpy()[1:])])


def comparable(rows: Rows, structure: Structure) -> bool:
    """Return whether the conditional likelihood is of the same model: without chance, and no translations."""
    return structure.totals_suffice and not structure.conditional and rows.constant is None and not structure.languages


def compare_likelihoods(
    rows: Rows, found: Estimate, design: ItemDesign, units: ItemUnits, names: pd.Index
) -> LikelihoodsCompared | None:
    """Compare abilities with the conditional ones, where cells are missing and the latter exist.

    The influences of the difference are the differences of influences, by unit. Hausman's own covariance, the
    difference of the two, is that of nearly equal numbers: it rejects 11 to 20 % of true hypotheses at 5 %.
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
    if not other.optimum.converged:
        return None
    both = [publish(one.optimum.point, design, names, of) for one, of in ((found, Structure()), (other, conditioned))]
    parts = [
        influences(rows, one, of, each, design, units).pick(np.arange(systems))
        for one, of, each in zip((found, other), (Structure(), conditioned), both, strict=True)
    ]
    difference = both[0].estimate[:systems] - both[1].estimate[:systems]
    apart = parts[0].minus(parts[1])
    eigenvalues = np.linalg.eigvalsh(apart.covariance)
    freedom = int((eigenvalues > RANK * np.abs(eigenvalues).max()).sum())
    if freedom == 0:
        return None
    place = int(np.argmax(np.abs(difference)))
    test = joint_test(difference, apart, freedom)
    return LikelihoodsCompared(largest=float(difference[place]), system=str(names[place]), test=test)
