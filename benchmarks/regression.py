"""How fast `fit` is, and what memory it needs, beside others on the same problem, in one run.

Rivals: SciPy's L-BFGS on model 2 as published (unscaled, row means for a start, analytic gradients, a few
I × J temporaries per step); statsmodels' least squares with a dummy per intent and edition for model 1, where
that is feasible; CmdStan's optimizer on the plain program, where CmdStan is installed. Each measurement is
a process of its own, so that peak memory is its own, the table included. Run on an idle machine:

    OMP_NUM_THREADS=1 python benchmarks/regression.py
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

import langdiff as ld
from langdiff.regression import Optimizer

SIZES = [(500, 20), (4336, 106), (26000, 106), (31102, 1000)]
DUMMIES = 600  # parameters that statsmodels' dense design can have
MOST_ITERATIONS = 300  # of the unscaled reference, which may not get there
MOST_CELLS = 3_000_000  # for which the reference is run


def unscaled(bits):
    """Fit model 2 without scaling; return the log-likelihood and the number of evaluations."""
    from scipy.optimize import minimize

    z = np.log(bits)
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
        found = minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": MOST_ITERATIONS})
    return -found.fun, found.nfev


def dummies(bits):
    """Fit model 1 by statsmodels."""
    import statsmodels.formula.api as smf

    frame = pd.DataFrame(bits).stack().rename("bits").rename_axis(["intent", "edition"]).reset_index()
    fit = smf.ols("np.log(bits) ~ C(intent) + C(edition)", frame).fit()
    return float(fit.llf), 1


def ours(bits, **settings):
    fit = ld.fit(bits, **settings)
    return fit.log_likelihood, fit.n_evaluations


def equal_clusters(bits, count):
    return pd.Series(np.arange(len(bits)) * min(count, len(bits) // 2) // len(bits), name="cluster")


WAYS = {
    "default": lambda bits: ours(bits),
    "newton": lambda bits: ours(bits, optimizer=Optimizer("newton"), errors="information"),
    "lbfgs": lambda bits: ours(bits, optimizer=Optimizer("lbfgs"), errors="information"),
    "model 1": lambda bits: ours(bits, model="1", errors="information"),
    "restricted": lambda bits: ours(bits, restricted=True, errors="information"),
    "sandwich": lambda bits: ours(bits, errors="sandwich"),
    "27 clusters": lambda bits: ours(bits, clusters=equal_clusters(bits, 27)),
    "260 clusters": lambda bits: ours(bits, clusters=equal_clusters(bits, 260)),
    "random intents": lambda bits: ours(bits, intents="random"),
    "2L": lambda bits: ours(bits, model="2L"),
    "unscaled L-BFGS": unscaled,
    "statsmodels": dummies,
}


def noisier(bits):
    """Return a table whose editions differ in noise, from e^-.3 to e^.3 of what it was."""
    z = np.log(bits)
    level = np.nanmean(z, axis=1, keepdims=True) + np.nanmean(z - np.nanmean(z, axis=1, keepdims=True), axis=0)
    return np.exp(level + (z - level) * np.exp(np.linspace(-0.3, 0.3, z.shape[1])))


def default_calls(folder):
    """Print the first table of the page: processor time of `ld.fit(bits)`."""
    print("| intents × editions | missing | noise | CPU s |\n|---|---:|---|---:|")
    tables = {"1,305 × 20, New Testaments": (ld.datasets.testaments().bits.to_numpy(), "0 %", "unequal")}
    for intents, editions, missing in ((4336, 106, 0.0), (4336, 106, 0.2), (26000, 106, 0.0), (31102, 300, 0.2)):
        bits = ld.simulate(intents, editions, missing=missing, seed=0).surprisals.bits.to_numpy()
        for noise, table in (("equal", bits), ("unequal", noisier(bits)))[: 1 + (intents < 30_000)]:
            tables[f"{intents:,} × {editions}{' ' * len(tables)}"] = table, f"{missing:.0%}", noise
    for name, (bits, missing, noise) in tables.items():
        np.save(folder / "bits.npy", bits)
        seconds, _, _, _ = in_process("default", folder / "bits.npy", 1)
        print(f"| {name.strip()} | {missing} | {noise} | {seconds:.2f} |", flush=True)


def measure(way, path, repeats):
    """Run one way in this process and print what it took."""
    bits = np.load(path)
    WAYS[way](bits[:50, :5])  # imports
    seconds = []
    for _ in range(repeats):
        started = time.process_time()
        log_likelihood, evaluations = WAYS[way](bits)
        seconds.append(time.process_time() - started)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps([min(seconds), log_likelihood, evaluations, peak]))


def in_process(way, path, repeats):
    command = [sys.executable, __file__, "--way", way, "--table", str(path), "--repeats", str(repeats)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def ways_for(intents, editions, missing):
    ways = ["newton", "lbfgs", "model 1", "restricted"]
    if intents * editions <= MOST_CELLS:
        ways += ["sandwich", "27 clusters", "260 clusters", "random intents", "2L"]
        if not missing:
            ways.append("unscaled L-BFGS")  # complete tables only
    if intents + editions <= DUMMIES and not missing:
        ways.append("statsmodels")
    return ways


def compare(intents, editions, missing, folder, repeats):
    path = folder / "bits.npy"
    drawing = (
        f"import langdiff as ld, numpy as np\n"
        f"drawn = ld.simulate({intents}, {editions}, missing={missing}, seed=0).surprisals;"
        f"np.save({str(path)!r}, drawn.bits.to_numpy())"
    )
    subprocess.run([sys.executable, "-c", drawing], check=True)
    print(f"\n{intents:,} intents × {editions:,} editions, {missing:.0%} missing")
    print("                     seconds  evaluations  peak MiB   log-likelihood  times newton")
    base = None
    for way in ways_for(intents, editions, missing):
        seconds, log_likelihood, evaluations, peak = in_process(way, path, repeats if intents < 20000 else 1)
        base = base or seconds
        print(f"{way:18} {seconds:9.4f} {evaluations:12} {peak:9.0f} {log_likelihood:16,.3f} {seconds / base:13.2f}")


def stan():
    """Time CmdStan's optimizer on the plain program of model 2 at the paper's size, if it is there."""
    from langdiff.errors import LangdiffError
    from langdiff.regression import approximate

    surprisals = ld.simulate(4336, 106, seed=0).surprisals
    try:
        started = time.perf_counter()
        approximate(surprisals, model="2", algorithm="optimize", seed=1)
        print(f"\nCmdStan's optimizer, 4,336 × 106: {time.perf_counter() - started:.2f} s (compilation included)")
    except LangdiffError as error:
        print(f"\nCmdStan's optimizer was not run: {error}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5, help="runs, of which the fastest counts")
    parser.add_argument("--way", choices=list(WAYS), help=argparse.SUPPRESS)
    parser.add_argument("--table", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.way:
        measure(options.way, options.table, options.repeats)
        return
    with tempfile.TemporaryDirectory() as folder:
        default_calls(Path(folder))
        for intents, editions in SIZES:
            for missing in (0.0, 0.2):
                compare(intents, editions, missing, Path(folder), options.repeats)
    stan()


if __name__ == "__main__":
    main()
