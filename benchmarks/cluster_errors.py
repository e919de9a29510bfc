"""Coverage of intervals from clusters and sandwiches, with the columns in which a method fails.

Tables of 1,000 × 5 have noise of which a share, the intraclass correlation, is common to the cells of a cluster
in an edition; of the differences to the first edition, the share of 95 % intervals that hold the truth is
printed. Model 1 is computed for all tables at once, from the shares of the clusters as complete tables allow;
the first table of each line is computed by the package too, and must agree. Then model 2, and models 2L and 2C
under three kinds of noise.

    OMP_NUM_THREADS=1 python benchmarks/cluster_errors.py --part model-1 model-2   # minutes
    OMP_NUM_THREADS=1 python benchmarks/cluster_errors.py --part robust --noise normal  # some minutes for each kind
"""

import argparse

import numpy as np
from scipy.linalg import LinAlgError
from scipy.stats import norm, t

from langdiff.regression.kernel.cells import scale_of_cells
from langdiff.regression.kernel.clusters import RowClusters, covariance_of_clusters, freedom_of_pairs
from langdiff.regression.kernel.likelihood import RowInformation, mu_at_mean
from langdiff.regression.kernel.optimizers import Estimate
from langdiff.regression.kernel.two_way import solve_two_way
from langdiff.regression.variants import find_variant
from langdiff.regression.variants.laplace import CauchyCells, Laplace, LaplaceCells
from langdiff.regression.variants.normal import Normal

INTENTS, EDITIONS, SIGMA = 1000, 5, 0.17
CLUSTERS = (10, 20, 40, 200)
CORRELATIONS = (0.0, 0.02, 0.05, 0.2)
BOTH = 0.975  # of an interval that leaves 2.5 % on each side
AGREEMENT = 1e-10
ROBUST_SHAPE = (300, 7)
BOUNDED_STEPS, NEWTON_STEPS, NEWTON_TOLERANCE = 40, 25, 1e-8
TABLES_AT_A_TIME = 25
NOISES = ("Laplace", "normal", "t3")


def clusters_of(rng, n_clusters, sizes, tables):
    """Draw the cluster of each row, sorted, shape (tables, I); sizes are equal or log-normal of s.d. 1."""
    if sizes == "equal":
        return np.broadcast_to(np.arange(INTENTS) * n_clusters // INTENTS, (tables, INTENTS))
    bounds = np.cumsum(np.exp(rng.normal(size=(tables, n_clusters))), axis=1)
    at = (np.arange(INTENTS) + 0.5) / INTENTS
    return np.array([np.searchsorted(bound, at * bound[-1]) for bound in bounds])


def noise_of(rng, cluster, n_clusters, correlation):
    """Draw noise of variance 1, shape (tables, I, J)."""
    tables = len(cluster)
    shared = rng.normal(size=(tables, n_clusters, EDITIONS))[np.arange(tables)[:, None], cluster]
    own = rng.normal(size=shared.shape)
    return np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own


def sums_by_cluster(values, cluster, n_clusters):
    """Sum over the rows of each cluster, (tables, I, …) → (tables, G, …)."""
    tables, intents = cluster.shape
    code = (np.arange(tables)[:, None] * n_clusters + cluster).ravel()
    flat = values.reshape(tables * intents, -1)
    sums = [np.bincount(code, column, minlength=tables * n_clusters) for column in flat.T]
    return np.array(sums).T.reshape(tables, n_clusters, -1)


def differences(covariance):
    return np.diag(covariance)[1:] + covariance[0, 0] - 2 * covariance[0, 1:]


def check_first(residual, cluster, variances, nu):
    """Compare the first table with what the package makes of it."""
    ones = np.ones_like(residual)
    clusters = RowClusters(RowInformation(residual, ones, ones / np.sqrt(EDITIONS)), cluster)
    for kind, expected in variances.items():
        np.testing.assert_allclose(differences(covariance_of_clusters(clusters, kind)), expected, rtol=AGREEMENT)
    freedom = freedom_of_pairs(clusters, np.full(EDITIONS, 1 / EDITIONS))
    np.testing.assert_allclose(freedom.values[0, 1:], nu, rtol=1e-8)


def coverage_of_model_1(rng, n_clusters, sizes, correlation, tables):
    """Return shares of intervals that hold the truth, by kind, and the median degrees of freedom."""
    cluster = clusters_of(rng, n_clusters, sizes, tables)
    noise = SIGMA * noise_of(rng, cluster, n_clusters, correlation)
    errors = (noise[:, :, 1:] - noise[:, :, :1]).mean(axis=1)
    residual = noise - noise.mean(axis=1, keepdims=True) - noise.mean(axis=2, keepdims=True)
    residual += noise.mean(axis=(1, 2), keepdims=True)
    of_differences = residual[:, :, 1:] - residual[:, :, :1]
    sums = sums_by_cluster(of_differences, cluster, n_clusters) / INTENTS
    shares = sums_by_cluster(np.ones((*cluster.shape, 1)), cluster, n_clusters)[:, :, 0] / INTENTS
    number = (shares > 0).sum(axis=1)
    left = (1 - shares)[:, :, None]
    squares = sums**2
    ratio = shares**2 / (1 - shares)
    nu = 1 / (np.sum(shares**2, axis=1) + ratio.sum(axis=1) ** 2 - np.sum(ratio**2, axis=1))
    freedom = (INTENTS - 1) * (EDITIONS - 1)
    information = 2 / INTENTS * np.sum(residual**2, axis=(1, 2)) / freedom
    variances = {
        "CR0": squares.sum(axis=1),
        "CR1": squares.sum(axis=1) * (number / (number - 1))[:, None],
        "CR2": np.sum(squares / left, axis=1),
        "CR3": np.sum(squares / left**2, axis=1),
    }
    first = {kind: values[0] for kind, values in variances.items()}
    check_first(residual[0], cluster[0], first, nu[0])
    plain = np.sum((of_differences / INTENTS) ** 2, axis=1)
    intervals = {
        "information": (information[:, None], np.full(tables, freedom)),
        "plain sandwich": (plain, np.full(tables, INTENTS - 1)),
        "CR0, z": (variances["CR0"], np.full(tables, np.inf)),
        "CR1, t(G-1)": (variances["CR1"], number - 1),
        "CR2, t(ν)": (variances["CR2"], nu),
        "CR3, t(G-1)": (variances["CR3"], number - 1),
    }
    covered = {
        name: np.mean(np.abs(errors) < t.ppf(BOTH, df)[:, None] * np.sqrt(variance))
        for name, (variance, df) in intervals.items()
    }
    return covered, float(np.median(nu))


def model_1(tables):
    names = ["information", "plain sandwich", "CR0, z", "CR1, t(G-1)", "CR2, t(ν)", "CR3, t(G-1)"]
    print(f"\nModel 1, {INTENTS} × {EDITIONS}, {tables} tables a line, coverage in %\n")
    print("| sizes | G | correlation | " + " | ".join(names) + " | median ν |")
    print("|---|---:|---:|" + "---:|" * (len(names) + 1))
    rng = np.random.default_rng(0)
    for sizes in ("equal", "log-normal"):
        for n_clusters in CLUSTERS:
            for correlation in CORRELATIONS:
                covered, nu = coverage_of_model_1(rng, n_clusters, sizes, correlation, tables)
                shares = " | ".join(f"{100 * covered[name]:.1f}" for name in names)
                print(f"| {sizes} | {n_clusters} | {correlation} | {shares} | {nu:.1f} |", flush=True)


def intervals_of_model_2(z, cluster):
    """Return differences to the first edition, and variance and degrees of freedom by kind."""
    two_way = solve_two_way(z)
    found = Normal().estimate(two_way)
    rows = Normal().rows(two_way, found)
    clusters, number = RowClusters(rows, cluster), len(np.unique(cluster))
    freedom = freedom_of_pairs(clusters, np.full(EDITIONS, 1 / EDITIONS)).values[0, 1:]
    plain = covariance_of_clusters(RowClusters(rows, np.arange(len(z))), "CR1")
    return found.c[1:] - found.c[0], {
        "information": (differences(found.covariance), np.inf),
        "plain sandwich": (differences(plain), np.inf),
        "CR1, t(G-1)": (differences(covariance_of_clusters(clusters, "CR1")), number - 1),
        "CR2, t(ν)": (differences(covariance_of_clusters(clusters, "CR2")), freedom),
    }


def model_2(tables):
    """Noise as the model has it, or of one variance whatever the size."""
    names = ["information", "plain sandwich", "CR1, t(G-1)", "CR2, t(ν)"]
    print(f"\nModel 2, {INTENTS} × {EDITIONS}, {tables} tables a line, coverage in %\n")
    print("| noise | sizes | G | correlation | missing, % | " + " | ".join(names) + " |")
    print("|---|---|---:|---:|---:|" + "---:|" * len(names))
    rng = np.random.default_rng(1)
    lines = [
        ("model 2", "equal", 20, 0.2, 0.0),
        ("model 2", "equal", 40, 0.2, 0.3),
        ("model 2", "equal", 200, 0.2, 0.0),
        ("model 2", "log-normal", 20, 0.05, 0.3),
        ("one variance", "equal", 200, 0.0, 0.0),
    ]
    for kind, sizes, n_clusters, correlation, missing in lines:
        covered = {name: [] for name in names}
        for _ in range(tables):
            cluster = clusters_of(rng, n_clusters, sizes, 1)
            noise = noise_of(rng, cluster, n_clusters, correlation)[0]
            mu = rng.normal(3.5, 0.6, INTENTS)
            v = np.logaddexp(0.0, -mu)
            spread = np.sqrt(v) if kind == "model 2" else np.full(INTENTS, SIGMA)
            z = (mu - v / 2)[:, None] + spread[:, None] * noise
            z[rng.random(z.shape) < missing] = np.nan
            kept = (~np.isnan(z)).sum(axis=1) > 1
            error, intervals = intervals_of_model_2(z[kept], cluster[0][kept])
            for name, (variance, df) in intervals.items():
                covered[name].append(np.abs(error) < t.ppf(BOTH, df) * np.sqrt(variance))
        shares = " | ".join(f"{100 * np.mean(covered[name]):.1f}" for name in names)
        print(f"| {kind} | {sizes} | {n_clusters} | {correlation} | {100 * missing:.0f} | {shares} |", flush=True)


def draw_noise(rng, kind, shape):
    """Return noise of variance 1."""
    if kind == "Laplace":
        return rng.laplace(scale=np.sqrt(0.5), size=shape)
    if kind == "normal":
        return rng.normal(size=shape)
    return rng.standard_t(3, size=shape) / np.sqrt(3)


def by_newton(z, cells, mu, c):
    """Fit all tables at once from a start near by, z (tables, I, J); return estimates and the rows' information.

    First come steps with the parabolas that bound the cost of each cell from above, which cannot go far astray,
    then Newton's. The information is that of the last point, as `Variant.rows` has it.
    """
    tables, intents, editions = z.shape
    for iteration in range(BOUNDED_STEPS + NEWTON_STEPS):
        x, size = (z - c[:, None, :]).reshape(-1, editions), mu.reshape(-1, 1)
        first = cells.cells(x, size)
        v, _, slope, narrowing = scale_of_cells(size)
        if iteration < BOUNDED_STEPS:
            bound = np.sqrt(2) / np.sqrt((x - size + v / 2) ** 2 / v + 0.09) / v
            weight = cells.curvature(x, size) if isinstance(cells, CauchyCells) else bound
            mixed, of_mu = -slope * weight, slope**2 * weight + 2 * narrowing**2
        else:
            weight, mixed, of_mu = cells.second_derivatives(x, size)
        curvature, expected = of_mu.sum(axis=1), (editions * slope**2 / v)[:, 0]
        root = np.sqrt(np.where(curvature > 0.01 * expected, curvature, expected))
        pull = (first.of_mu.sum(axis=1) / root).reshape(tables, intents)
        score, weight = first.of_x.reshape(z.shape), weight.reshape(z.shape)
        mixed = (mixed / root[:, None]).reshape(z.shape)
        information = weight.sum(axis=1)[:, :, None] * np.eye(editions) - mixed.transpose(0, 2, 1) @ mixed
        gradient = np.einsum("tij,ti->tj", mixed, pull) - score.sum(axis=1)
        step = np.linalg.solve(information, gradient[:, :, None])[:, :, 0]
        length = np.maximum(np.abs(gradient * step).sum(axis=1), np.abs(pull).max(axis=1))
        if iteration >= BOUNDED_STEPS and (length < NEWTON_TOLERANCE).all():
            break
        step = np.clip(step, -0.5, 0.5)
        root = root.reshape(tables, intents)
        move = np.clip(pull / root, -0.1, 0.1) + np.einsum("tij,tj->ti", mixed, step) / root
        mu, c = mu - np.clip(move, -0.5, 0.5), c - step
    concave = (curvature.reshape(tables, intents) > 0).all(axis=1)
    return mu, c, RowInformation(score, weight, mixed), concave & (length < NEWTON_TOLERANCE)


def best_sizes(z, cells, mu, c):
    """Return the sizes moved to a likelier mode near one of the row's quantiles, where there is one."""
    x, best = (z - c[:, None, :]).reshape(-1, z.shape[2]), mu.reshape(-1, 1)
    least = cells.cells(x, best).value.sum(axis=1) - 1e-3
    for quantile in (0.0, 0.25, 0.5, 0.75, 1.0):
        candidate = mu_at_mean(np.quantile(x, quantile, axis=1))[:, None]
        value = cells.cells(x, candidate).value.sum(axis=1)
        best = np.where((value < least)[:, None], candidate, best)
        least = np.minimum(value, least)
    return best.reshape(mu.shape)


def line_of_robust(name, noise, results, unusable):
    errors, sandwich, information = np.array(results).transpose(1, 0, 2)
    spread = np.sqrt(np.mean(errors**2))
    covered = [np.mean(np.abs(errors) < norm.ppf(BOTH) * np.sqrt(v)) for v in (sandwich, information)]
    ratio = np.sqrt(sandwich).mean() / spread
    print(
        f"| {name} | {noise} | {len(errors)} | {100 * spread:.2f} | {ratio:.2f} | {100 * covered[0]:.1f} "
        f"| {100 * covered[1]:.1f} | {unusable} |",
        flush=True,
    )


def variances_of_robust(two_way, model, mu, c, rows):
    """Return the variances of differences by the sandwich and by the information."""
    sandwich = covariance_of_clusters(RowClusters(rows, np.arange(len(mu))), "CR2")
    optimum = Estimate(mu, c, 0.0, True, 0, 0, 0.0, "")
    return differences(sandwich), differences(find_variant(model).covariance(two_way, optimum, restricted=False))


def of_package(z, model, rounding=0.3):
    """Fit one table; return the errors of differences, and their variances by the sandwich and the information.

    The exact kink has scores ±√2 and no information: those of the rounded one at its estimate take their place.
    """
    two_way, rounded = solve_two_way(z), find_variant(model)
    found = (rounded if rounding else Laplace(rounding=0)).estimate(two_way)
    rows = rounded.rows(two_way, found)
    return found.c[1:] - found.c[0], *variances_of_robust(two_way, model, found.sizes, found.c, rows)


def of_batch(z, model, cells, start, check):
    """Do the same for all tables at once; return how many did not converge, and are left out, too."""
    mu, c, rows, usable = by_newton(z, cells, *start)
    for _ in range(2 if model == "2C" else 0):
        mu, c, rows, usable = by_newton(z, cells, best_sizes(z, cells, mu, c), c)
    results = []
    for k in np.flatnonzero(usable):
        information = RowInformation(*(part[k] for part in rows))
        variances = variances_of_robust(solve_two_way(z[k]), model, mu[k], c[k], information)
        results.append((c[k, 1:] - c[k, 0], *variances))
    if not check:
        return results, int((~usable).sum()), (mu, c)
    first = int(np.argmax(usable))  # the likelihood of 2C has several maxima, which may differ in a row or two
    tolerance = {"2L": 1e-7, "2C": 2e-3}[model]
    for ours, theirs in zip(results[0], of_package(z[first], model), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=tolerance)
    return results, int((~usable).sum()), (mu, c)


def robust(tables, exact, noises):
    """Print lines for 2L rounded off and 2C, all tables at once, and for the exact kink, table by table."""
    print(f"\nModels 2L and 2C, {ROBUST_SHAPE[0]} × {ROBUST_SHAPE[1]}, one intent per cluster\n")
    print("| fit | noise | tables | s.d. of differences, % | s.e./s.d. | sandwich | information | left out |")
    print("|---|---|---:|---:|---:|---:|---:|---:|")
    for noise in noises:
        rng = np.random.default_rng(NOISES.index(noise))
        results, left_out = {"2L, rounded at 0.3": [], "2C": [], "2L, exact, scores rounded": []}, [0, 0, 0]
        for first in range(0, tables, TABLES_AT_A_TIME):
            shape = (min(TABLES_AT_A_TIME, tables - first), *ROBUST_SHAPE)
            mu = rng.normal(3.8, 0.6, shape[:2])
            v = np.logaddexp(0.0, -mu)
            z = (mu - v / 2)[:, :, None] + np.sqrt(v)[:, :, None] * draw_noise(rng, noise, shape)
            start = mu, np.zeros((shape[0], shape[2]))
            for place, (model, cells) in enumerate((("2L", LaplaceCells(0.3)), ("2C", CauchyCells()))):
                found, failed, start = of_batch(z, model, cells, start, check=first == 0)
                list(results.values())[place].extend(found)
                left_out[place] += failed
            for table in z[: max(0, exact - first)]:
                try:
                    results["2L, exact, scores rounded"].append(of_package(table, "2L", 0.0))
                except LinAlgError:
                    left_out[2] += 1
        for (name, found), failed in zip(results.items(), left_out, strict=True):
            if found:
                line_of_robust(name, noise, found, failed)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=400)
    parser.add_argument("--exact", type=int, default=20, help="tables of the exact kink of 2L, a second each")
    parser.add_argument("--noise", nargs="*", choices=NOISES, default=NOISES, help="of models 2L and 2C")
    parser.add_argument("--part", nargs="*", choices=["model-1", "model-2", "robust"])
    options = parser.parse_args()
    parts = options.part or ["model-1", "model-2", "robust"]
    if "model-1" in parts:
        model_1(options.tables)
    if "model-2" in parts:
        model_2(options.tables)
    if "robust" in parts:
        robust(options.tables, options.exact, options.noise)


if __name__ == "__main__":
    main()
