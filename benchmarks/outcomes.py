"""Models of outcomes: bias of joint, marginal and conditional estimates, coverage, and costs.

    OMP_NUM_THREADS=1 python benchmarks/outcomes.py [--share 1.0] [--only bias|coverage|clusters|missing|cost]

``bias``: slope of estimated on true abilities (−1 … 1) by the number of systems, 1,000 items with σ = 1.5, and the
coverage of 95 % intervals of the last system less the first. ``coverage``: 300 items of two groups, abilities and
groups. ``clusters``: 40 documents × 10 items, 3 systems, standard deviation of documents .7, of systems in documents
.5; information, scores of clusters, and samples of clusters. ``missing``: the third of three systems was run on the
harder half. ``cost``: processor time; compare ratios, not seconds. `--share` scales the number of tables.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy.special import expit, logit

import langdiff as ld
from langdiff.regression.outcomes.estimate import Estimate, estimate
from langdiff.regression.outcomes.integrals import Rows, collapse
from langdiff.regression.outcomes.likelihoods import Structure

SPREAD = 1.5
MARGINAL, CONDITIONAL = Structure(), Structure(levels="conditional")
TABLES = {2: 1000, 3: 1000, 5: 1000, 7: 500, 20: 200}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--share", type=float, default=1.0, help="share of the tables to draw")
    parser.add_argument("--only", choices=("bias", "coverage", "clusters", "missing", "cost"))
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of tables that are small on purpose
    parts: dict[str, Callable[[float], None]] = {
        "bias": print_bias,
        "coverage": print_coverage,
        "clusters": print_clusters,
        "missing": print_missing,
        "cost": print_cost,
    }
    for name, part in parts.items():
        if options.only in (None, name):
            part(options.share)


def rows_of(s: np.ndarray) -> Rows:
    """Return outcomes of one trial as arrays; NaN is a missing cell."""
    items = len(s)
    t = (~np.isnan(s)).astype(float)
    return Rows(
        s=np.nan_to_num(s), t=t, x=np.zeros((items, 0)), block=np.zeros(items, dtype=int), weight=np.ones(items)
    )


def contrast(found: Estimate, one: int, other: int) -> tuple[float, float]:
    """Return a difference of abilities and its standard error."""
    level, covariance = found.optimum.point.level[0], found.optimum.covariance
    variance = covariance[one, one] + covariance[other, other] - 2 * covariance[one, other]
    return float(level[one] - level[other]), float(np.sqrt(variance))


def joint(s: np.ndarray) -> np.ndarray:
    """Return abilities of a complete table by joint maximum likelihood, with one difficulty for each total."""
    systems = s.shape[1]
    total = s.sum(axis=1)
    counts = np.bincount(total.astype(int), minlength=systems + 1)[1:-1].astype(float)  # of items that are mixed
    mixed = s[(total > 0) & (total < systems)].sum(axis=0)
    totals = np.arange(1, systems)
    theta, b = np.zeros(systems), -logit(totals / systems)
    for _ in range(2000):
        p = expit(theta[:, None] - b)
        change = (p.sum(axis=0) - totals) / (p * (1 - p)).sum(axis=0)
        b = b + np.clip(change, -1, 1)
        p = expit(theta[:, None] - b)
        step = np.clip((mixed - p @ counts) / ((p * (1 - p)) @ counts), -1, 1)
        theta = theta + step
        theta -= theta.mean()
        if np.abs(step).max() < 1e-9 and np.abs(change).max() < 1e-9:
            break
    return theta


def print_bias(share: float) -> None:
    print("\n| J | unanimous | J/(J−1) | joint | marginal | conditional | coverage m, c | s.e. |")
    print("|---|---|---|---|---|---|---|---|")
    for systems, tables in TABLES.items():
        rng, truth = np.random.default_rng(systems), np.linspace(-1, 1, systems)
        slopes, covered, unanimous = [], [], []
        for _ in range(max(2, int(tables * share))):
            s = (rng.random((1000, systems)) < expit(truth - SPREAD * rng.normal(size=(1000, 1)))).astype(float)
            rows = rows_of(s)
            marginal, conditional = estimate(rows, MARGINAL), estimate(rows, CONDITIONAL)
            slopes.append(
                [
                    truth @ theta / (truth @ truth)
                    for theta in (joint(s), marginal.optimum.point.level[0], conditional.optimum.point.level[0])
                ]
            )
            ends = [contrast(found, -1 % systems, 0) for found in (marginal, conditional)]
            covered.append([abs(difference - 2) < 1.96 * std_error for difference, std_error in ends])
            unanimous.append(np.isin(s.sum(axis=1), (0, systems)).mean())
        mean, error = np.mean(slopes, axis=0), np.std(slopes, axis=0) / np.sqrt(len(slopes))
        hits = 100 * np.mean(covered, axis=0)
        print(
            f"| {systems} | {100 * np.mean(unanimous):.0f} % | {systems / (systems - 1):.3f} | {mean[0]:.3f} | "
            f"{mean[1]:.3f} | {mean[2]:.3f} | {hits[0]:.1f} {hits[1]:.1f} | {error.max():.3f} |"
        )


def print_coverage(share: float) -> None:
    print("\n| J | model | abilities (contrasts to the first) | group | not converged |")
    print("|---|---|---|---|---|")
    for systems in (3, 9):
        for model, settings in {
            "rasch": {},
            "conditional": {},
            "slopes": {},
            "beta-binomial": {"trials": 6, "correlation": 0.15},
        }.items():
            covered, group, failed = [], [], 0
            for seed in range(max(2, int(500 * share))):
                drawn = ld.simulate_outcomes(300, systems, groups={"a": 0.0, "b": 1.0}, seed=seed, **settings)
                by = {} if model == "conditional" else {"by": "group"}
                fit = ld.fit_outcomes(drawn.outcomes, model=model, errors="information", **by)
                if not fit.converged:
                    failed += 1
                    continue
                for name in drawn.ability.index[1:]:
                    found = fit.abilities.contrast(name, "s1")
                    covered.append(found.low < drawn.ability[name] - drawn.ability["s1"] < found.high)
                if fit.difficulties is not None:
                    found = fit.difficulties.contrast("b", "a")
                    group.append(found.low < 1 < found.high)
            share_of = f"{100 * np.mean(group):.1f}" if group else "–"
            print(f"| {systems} | {model} | {100 * np.mean(covered):.1f} | {share_of} | {failed} |")


def print_clusters(share: float) -> None:
    print("\n| errors | tables | contrast | group |")
    print("|---|---|---|---|")
    kinds = {
        "information": (500, {"errors": "information"}),
        "sandwich": (500, {"errors": "sandwich", "clusters": "document"}),
        "bootstrap": (100, {"errors": "bootstrap", "clusters": "document", "n_resamples": 100, "seed": 1}),
    }
    for kind, (tables, settings) in kinds.items():
        hits = []
        for seed in range(max(2, int(tables * share))):
            drawn = ld.simulate_outcomes(
                400, 3, abilities=[0, 0.5, 1], documents=40, document_spread=0.7, document_noise=0.5, seed=seed
            )
            halves = pd.DataFrame({"half": ["a"] * 200 + ["b"] * 200}, index=drawn.outcomes.items.index)
            fit = ld.fit_outcomes(drawn.outcomes.with_items(halves), by="half", **settings)
            one, other = fit.abilities.contrast("s3", "s1"), fit.difficulties.contrast("b", "a")
            hits.append((one.low < 1 < one.high, other.low < 0 < other.high))
        contrasts, groups = 100 * np.mean(hits, axis=0)
        print(f"| {kind} | {len(hits)} | {contrasts:.1f} | {groups:.1f} |")


def print_missing(share: float) -> None:
    print("\nThird of three systems on the harder half of 1,000 items, first less third 1")
    found = {"marginal": [], "conditional": []}
    compared = []
    for seed in range(max(2, int(200 * share))):
        drawn = ld.simulate_outcomes(1000, 3, abilities=[0.5, 0, -0.5], spread=SPREAD, seed=seed)
        successes = drawn.outcomes.successes.copy()
        successes.loc[drawn.difficulty < drawn.difficulty.median(), "s3"] = np.nan
        rows = rows_of(successes.to_numpy())
        for name, one in {"marginal": estimate(rows, MARGINAL), "conditional": estimate(rows, CONDITIONAL)}.items():
            found[name].append(contrast(one, 0, 2))
        if seed < 20:
            compared.append(ld.fit_outcomes(ld.Outcomes(successes=successes)).compared.p_value < 0.05)
    for name, values in found.items():
        estimates, errors = np.array(values).T
        covered = np.mean(np.abs(estimates - 1) < 1.96 * errors)
        error = estimates.std() / np.sqrt(len(estimates))
        print(f"{name}: {estimates.mean():.3f} ± {error:.3f}, coverage {100 * covered:.0f} %")
    print(f"the comparison of the two rejects in {100 * np.mean(compared):.0f} % of {len(compared)} tables")
    false = [
        ld.fit_outcomes(_present(ld.simulate_outcomes(300, 3, missing=0.2, seed=seed).outcomes)).compared.p_value < 0.05
        for seed in range(max(2, int(200 * share)))
    ]
    print(f"and in {100 * np.mean(false):.1f} % of {len(false)} tables of 300 × 3 with 20 % missing at random")


def _present(outcomes: ld.Outcomes) -> ld.Outcomes:
    return outcomes.sel(items=outcomes.items.index[outcomes.observed.any(axis=1)])


def plain_loop(rows: Rows) -> None:
    """Evaluate the likelihood of each item and its gradient once, at 15 nodes, item by item."""
    x, weight = np.polynomial.hermite_e.hermegauss(15)
    theta = np.zeros(rows.s.shape[1])
    for s, t in zip(rows.s, rows.t, strict=True):
        p = expit(theta - x[:, None])
        density = weight * np.prod(p**s * (1 - p) ** (t - s), axis=1)
        (density[:, None] * (s - t * p)).sum(axis=0) / density.sum()


def print_cost(share: float) -> None:
    print("\n| items × systems | missing | marginal | conditional | whole fit | one gradient by a plain loop |")
    print("|---|---|---|---|---|---|")
    for items, systems, missing in ((2000, 5, 0.0), (10_000, 20, 0.0), (10_000, 20, 0.2), (20_000, 20, 0.2)):
        outcomes = ld.simulate_outcomes(items, systems, spread=SPREAD, missing=missing, seed=1).outcomes
        rows = rows_of(outcomes.successes.to_numpy())
        times = [
            least_time(lambda rows=rows: estimate(rows, MARGINAL), share),
            least_time(lambda rows=rows: estimate(rows, CONDITIONAL), share),
            least_time(lambda outcomes=outcomes: ld.fit_outcomes(outcomes), share),
            least_time(lambda rows=rows: plain_loop(rows), 0),
        ]
        shown = " | ".join(f"{seconds:.3f} s" for seconds in times)
        print(f"| {items:,} × {systems} | {100 * missing:.0f} % | {shown} |")
    rival(share)


def rival(share: float) -> None:
    """Compare with statsmodels' ConditionalLogit, the only one of its models of the same estimates."""
    from statsmodels.discrete.conditional_models import ConditionalLogit

    outcomes = ld.simulate_outcomes(2000, 5, spread=SPREAD, seed=1).outcomes
    long = outcomes.to_frame()
    dummies = pd.get_dummies(long["system"]).to_numpy(dtype=float)[:, 1:]
    rows = rows_of(outcomes.successes.to_numpy())
    ours = least_time(lambda: estimate(rows, CONDITIONAL), share)
    theirs = least_time(
        lambda: ConditionalLogit(long["successes"].to_numpy(), dummies, groups=long["item"].to_numpy()).fit(
            method="newton", disp=0
        ),
        0,
    )
    whole, merged = len(rows.s), len(collapse(replace(rows, x=rows.x)).s)
    print(f"statsmodels ConditionalLogit at 2,000 × 5: {theirs:.1f} s, {theirs / ours:,.0f} times ours")
    print(f"rows with an integral of their own at 2,000 × 5: {merged} of {whole:,}")


def least_time(call: Callable[[], object], share: float) -> float:
    """Return the least processor time of some calls, in seconds."""
    times = []
    for _ in range(max(1, int(3 * share))):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


if __name__ == "__main__":
    main()
