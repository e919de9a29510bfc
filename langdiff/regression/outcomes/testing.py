"""Tests beside a fit: variances at zero, interactions, and marginal against conditional likelihood."""

from dataclasses import replace

import numpy as np
import pandas as pd
from scipy.stats import chi2
from scipy.stats import f as f_ratio

from langdiff._types import Integers
from langdiff.outcomes import Outcomes
from langdiff.regression.outcomes.checks import each_beats_all
from langdiff.regression.outcomes.design import ItemDesign
from langdiff.regression.outcomes.estimate import Estimate, estimate, estimate_conditional
from langdiff.regression.outcomes.records import LikelihoodRatio, LikelihoodsCompared
from langdiff.regression.outcomes.result import OutcomeModel
from langdiff.regression.outcomes.rows import Rows
from langdiff.regression.outcomes.uncertainty import influence

MANY_CELLS = 1_000_000  # up to which marginal and conditional estimates are compared
RANK = 1e-8  # of the largest eigenvalue


def estimate_model(rows: Rows, model: OutcomeModel) -> Estimate:
    """Maximize the likelihood of a model."""
    if model == "conditional":
        return estimate_conditional(rows)
    return estimate(rows, slopes=model == "slopes", overdispersed=model == "beta-binomial")


def variance_test(full: float, null: float) -> LikelihoodRatio:
    """Test by two log-likelihoods that a variance is 0, at the boundary: ½χ²₀ + ½χ²₁ (Self and Liang 1987)."""
    statistic = max(2 * (full - null), 0.0)
    p_value = 1.0 if statistic <= 1e-9 else float(chi2.sf(statistic, 1)) / 2
    return LikelihoodRatio(statistic=statistic, degrees_of_freedom=1, p_value=p_value)


def interaction_test(
    outcomes: Outcomes, rows: Rows, found: Estimate, design: ItemDesign, model: OutcomeModel
) -> LikelihoodRatio:
    """Test by the likelihood ratio that systems have no levels of their own in groups."""
    groups, systems = len(design.groups if design.groups is not None else ()), len(outcomes.systems)
    indicators = (rows.block[:, None] == np.arange(1, groups)).astype(float)
    without = Rows(
        s=rows.s,
        t=rows.t,
        x=np.column_stack([indicators, rows.x]),
        block=np.zeros_like(rows.block),
        weight=rows.weight,
    )
    null = estimate_model(without, model)
    statistic = max(2 * (found.optimum.value.log_likelihood - null.optimum.value.log_likelihood), 0.0)
    freedom = (groups - 1) * (systems - 1)
    return LikelihoodRatio(statistic=statistic, degrees_of_freedom=freedom, p_value=float(chi2.sf(statistic, freedom)))


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
    other = estimate_conditional(rows, start=start)
    both = [(found, False), (other, True)]
    marginal, conditional = (one.optimum.point.level[0] - one.optimum.point.level[0].mean() for one, _ in both)
    of_marginal, of_conditional = (influence(rows, one, cluster, conditional=given)[:, :systems] for one, given in both)
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
        p_value=float(
            f_ratio.sf(statistic * (clusters - freedom) / (freedom * (clusters - 1)), freedom, clusters - freedom)
        ),
    )
