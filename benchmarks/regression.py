"""How fast `fit` is: model 2 against SciPy's L-BFGS on the same likelihood as published, not scaled.

The reference has the parameters of the paper (m, d, ln kappa), analytic gradients, row means for a
start, and SciPy's default stopping rule; it makes a few I × J temporaries a step. Run on an idle machine:

    OMP_NUM_THREADS=1 python benchmarks/regression.py
"""

import argparse
import time

import numpy as np
from scipy.optimize import minimize

import langdiff as ld

SIZES = [(500, 20), (4336, 106), (26000, 106)]
MOST_ITERATIONS = 300  # of the reference, which may not get there


def reference(z):
    """Fit model 2 without scaling; return SciPy's result."""
    rows, columns = z.shape

    def objective(x):
        m, d, log_kappa = x[:rows, None], x[rows:-1], x[-1]
        odds = np.exp(log_kappa - m)
        v = np.log1p(odds)
        r = z - m - d - 0.5 * (np.logaddexp(0, log_kappa) - v)
        dv = -odds / (1 + odds)  # in m; minus that in ln kappa
        of_v = 0.5 * (1 / v - (r / v) ** 2) - 0.5 * r / v
        of_m = -r / v + of_v * dv
        of_kappa = -(of_v * dv).sum() - 0.5 * (r / v).sum() / (1 + np.exp(-log_kappa))
        value = 0.5 * (columns * np.log(2 * np.pi * v).sum() + (r**2 / v).sum())
        return value, np.concatenate([of_m.sum(axis=1), -(r / v).sum(axis=0), [of_kappa]])

    start = np.concatenate([z.mean(axis=1), np.zeros(columns + 1)])
    with np.errstate(all="ignore"):
        return minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": MOST_ITERATIONS})


def timed(function):
    started = time.perf_counter()
    result = function()
    return result, time.perf_counter() - started


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5, help="runs of fit, of which the fastest counts")
    repeats = parser.parse_args().repeats
    print("intents × editions  missing      fit  evaluations  reference  evaluations   ratio  log-likelihood gained")
    for intents, editions in SIZES:
        for missing in (0.0, 0.2):
            _, surprisals = ld.simulate(intents, editions, missing=missing, seed=0)
            runs = [timed(lambda table=surprisals: ld.fit(table)) for _ in range(repeats)]
            fit, seconds = runs[0][0], min(run[1] for run in runs)
            line = f"{intents:7,} × {editions:<8} {missing:8.0%} {seconds:7.3f}s {fit.n_evaluations:12}"
            if not missing:  # the reference knows complete tables only
                other, slow = timed(lambda table=surprisals: reference(np.log(table.bits.to_numpy())))
                gained = fit.log_likelihood + other.fun
                line += f" {slow:9.3f}s {other.nfev:12} {slow / seconds:7.1f}  {gained:.4f}"
            print(line)


if __name__ == "__main__":
    main()
