"""Covariance of estimates: from the information, from scores of clusters, or from samples of clusters."""

import warnings
from dataclasses import replace
from typing import Literal

import numpy as np

from langdiff.base.seeds import generator
from langdiff.base.types import Floats, Integers
from langdiff.errors import LangdiffWarning, SolverError
from langdiff.regression.outcomes.estimate import Estimate, estimate, estimate_conditional
from langdiff.regression.outcomes.likelihood import evaluate
from langdiff.regression.outcomes.rows import Rows

OutcomeErrors = Literal["auto", "information", "robust", "bootstrap"]

FEW_CLUSTERS = 30
LARGEST_LEVEL = 15.0  # log odds of an estimate in a sample that has run away
MOST_FAILED = 0.05  # of the samples
START_SPREAD = 0.3  # of a search, where the estimate is 0


def influence(rows: Rows, found: Estimate, cluster: Integers, *, conditional: bool) -> Floats:
    """Return what each cluster adds to the error of the estimates, to first order: its score times H⁻¹, (C, P)."""
    total, trials = rows.s.sum(axis=1), rows.t.sum(axis=1)
    telling = (total > 0) & (total < trials) if conditional else np.ones(len(total), dtype=bool)
    some = replace(rows, x=rows.x[:, :0]) if conditional else rows
    scores = evaluate(some.take(telling), found.optimum.point, conditional=conditional, scores=True).scores
    sums = np.zeros((int(cluster.max()) + 1, len(found.optimum.free)))
    np.add.at(sums, cluster[telling], scores)
    of_clusters: Floats = sums @ found.optimum.covariance
    return of_clusters


def robust_covariance(rows: Rows, found: Estimate, cluster: Integers, *, conditional: bool) -> Floats:
    r"""Return the sandwich :math:`H^{-1} \left(\sum_c g_c g_c^\top\right) H^{-1} C / (C - 1)`, shape (P, P)."""
    of_clusters = influence(rows, found, cluster, conditional=conditional)
    clusters = len(of_clusters)
    sandwich: Floats = of_clusters.T @ of_clusters * (clusters / (clusters - 1))
    return sandwich


def bootstrap_covariance(
    rows: Rows,
    found: Estimate,
    cluster: Integers,
    *,
    conditional: bool,
    n_resamples: int,
    seed: int | np.random.Generator | None,
) -> tuple[Floats, int]:
    """Return the covariance of estimates from samples of whole clusters, and the number of samples it is from.

    Raises
    ------
    SolverError
        If hardly any sample can be fitted.

    Warns
    -----
    LangdiffWarning
        If more than one in twenty cannot be.
    """
    rng = generator(seed, "samples of clusters")
    point, free = found.optimum.point, found.optimum.free
    clusters = int(cluster.max()) + 1
    if not conditional:
        point = replace(point, spread=max(point.spread, START_SPREAD))
    draws = []
    for _ in range(n_resamples):
        times = np.bincount(rng.integers(clusters, size=clusters), minlength=clusters).astype(float)
        sample = rows.reweighted(times[cluster])
        if not sample.t.any(axis=0).all():
            continue
        with np.errstate(all="ignore"):  # of samples that run away
            again = (
                estimate_conditional(sample, start=point)
                if conditional
                else estimate(
                    sample, slopes=point.free_loadings, overdispersed=point.overdispersion is not None, start=point
                )
            ).optimum
        if again.converged and np.abs(again.point.level).max() < LARGEST_LEVEL:
            draws.append(again.point.to_vector())
    if len(draws) < max(2, n_resamples // 2):
        raise SolverError(
            f"only {len(draws)} of {n_resamples} samples of {clusters} clusters could be fitted; in the others a "
            "system or group is all right or all wrong. Use errors='robust', or larger groups."
        )
    if len(draws) < (1 - MOST_FAILED) * n_resamples:
        warnings.warn(
            f"{n_resamples - len(draws)} of {n_resamples} samples could not be fitted, since a system or group is all "
            "right or all wrong in them; standard errors are those of the others, and too small.",
            LangdiffWarning,
            stacklevel=4,
        )
    fixed = ~free.any(axis=1)
    covariance = np.cov(np.array(draws), rowvar=False)
    covariance[fixed] = 0
    covariance[:, fixed] = 0
    return covariance, len(draws)
