"""How fast `fit` is, and what memory it needs beside the table, with others on the same problem, in one run.

Each row is a process of its own, which makes its table first. Rivals are SciPy's L-BFGS without scales, from row means
(model 2 and 2L as published; dispersions of editions with sizes integrated over 15 nodes), CmdStan's optimizer,
statsmodels' MixedLM and lme4's lmer (one variance, random intents), and two passes of BLAS over the table, which is
what reading it costs. Those that are not installed are absent. Run on an idle machine:

    OMP_NUM_THREADS=1 python benchmarks/regression.py
"""

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import expit, logsumexp

import langdiff as ld
from langdiff.errors import LangdiffError

DEFAULT = [  # intents, editions, share missing, noise
    ("testaments",),
    *((4336, 106, missing, noise) for missing in (0.0, 0.2) for noise in ("equal", "unequal")),
    *((26000, 106, 0.0, noise) for noise in ("equal", "unequal")),
    *((31102, editions, 0.2, "equal") for editions in (300, 1000)),
]
BESIDE = [  # table, ours, rivals
    ((4336, 106, 0.0, "equal"), "2", ["scipy 2", "cmdstan", "blas"]),
    (("ntrex10",), "2L", ["scipy 2L"]),
    (("testaments",), "2L", ["scipy 2L"]),
    ((4336, 106, 0.0, "2L"), "2L", ["scipy 2L"]),
    ((600, 20, 0.0, "unequal"), "edition", ["scipy 15 nodes"]),
    ((500, 20, 0.0, "model 1"), "random", ["statsmodels", "lme4"]),
]
GROWTH = {"I": [(n, 100, 0.0, "equal") for n in (2000, 4000, 8000, 16000)],
          "J": [(8000, n, 0.0, "equal") for n in (50, 100, 200, 400)]}  # fmt: skip
MOST_ITERATIONS = 300  # of L-BFGS without scales, which may not get there


def table_of(intents, editions=0, missing=0.0, noise="equal"):
    """Return the bits of a row, shape (I, J)."""
    if intents in ("testaments", "ntrex10"):
        found = getattr(ld.datasets, intents)()
        return (found[1] if intents == "ntrex10" else found).bits.to_numpy()
    model = {"2L": "2L", "model 1": "1"}.get(noise, "2")
    bits = ld.simulate(intents, editions, model=model, missing=missing, seed=0).surprisals.bits.to_numpy()
    if noise != "unequal":
        return bits
    z = np.log(bits)
    level = np.nanmean(z, axis=1, keepdims=True) + np.nanmean(z - np.nanmean(z, axis=1, keepdims=True), axis=0)
    return np.exp(level + (z - level) * np.exp(np.linspace(-0.3, 0.3, z.shape[1])))


def ours(**settings):
    return lambda bits: ld.fit(bits, **settings).log_likelihood


def published(laplace):
    """Return a fit of model 2 or 2L in m, d and ln κ, without scales."""

    def fit(bits):
        z = np.log(bits)
        rows, columns = z.shape

        def objective(x):
            m, d, log_kappa = x[:rows, None], x[rows:-1], x[-1]
            v, p = np.logaddexp(0, log_kappa - m), expit(log_kappa - m)  # p: of v in ln κ, and minus that in m
            t = (z - m - d - 0.5 * (np.logaddexp(0, log_kappa) - v)) / np.sqrt(v)
            pull = np.sqrt(2) * np.sign(t) if laplace else t
            cost = 0.5 * columns * np.log(2 * v).sum() + np.sqrt(2) * np.abs(t).sum()
            if not laplace:
                cost = 0.5 * columns * np.log(2 * np.pi * v).sum() + 0.5 * (t * t).sum()
            of_v = 0.5 * (1 - pull * t) / v + 0.5 * pull / np.sqrt(v)
            of_d = -pull / np.sqrt(v)
            of_kappa = (of_v * p).sum() + 0.5 * of_d.sum() * expit(log_kappa)
            return cost, np.concatenate([(of_d - of_v * p).sum(axis=1), of_d.sum(axis=0), [of_kappa]])

        start = np.concatenate([z.mean(axis=1), np.zeros(columns + 1)])
        return -minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": MOST_ITERATIONS}).fun

    return fit


def nodes(bits):
    """Fit one dispersion per edition with sizes integrated over 15 nodes."""
    z = np.log(bits)
    columns, m = z.shape[1], z.mean(axis=1)
    t, weights = np.polynomial.hermite.hermgauss(15)
    variance = float(np.var(z - m[:, None] - (z - m[:, None]).mean(axis=0)))
    scale = np.sqrt(2 * variance / columns)
    at = m[:, None, None] + scale * t
    log_weights = np.log(weights * scale) + t**2

    def objective(x):
        d, log_kappa = x[:columns, None], x[columns:, None]
        v, p = np.logaddexp(0, log_kappa - at), expit(log_kappa - at)
        r = z[:, :, None] - at - d + 0.5 * v
        joint = (-0.5 * np.log(2 * np.pi * v) - 0.5 * r * r / v).sum(axis=1) + log_weights
        value = logsumexp(joint, axis=1)
        posterior = np.exp(joint - value[:, None])[:, None]
        of_kappa = 0.5 * p / v * (r * r / v - 1 - r)
        return -value.sum(), -np.concatenate([(each * posterior).sum(axis=(0, 2)) for each in (r / v, of_kappa)])

    start = np.concatenate([np.zeros(columns), np.full(columns, np.median(m) + np.log(variance))])
    return -minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": MOST_ITERATIONS}).fun


def long_of(bits):
    wide = pd.DataFrame(np.log(bits)).rename_axis("intent")
    return wide.melt(ignore_index=False, var_name="edition", value_name="z").reset_index()


def statsmodels(bits):
    import statsmodels.formula.api as smf

    return float(smf.mixedlm("z ~ C(edition)", frame := long_of(bits), groups=frame["intent"]).fit(reml=True).llf)


def lme4(bits):
    """Fit by R, whose time is its own."""
    program = (
        "f <- read.csv(commandArgs(TRUE)[1]); library(lme4); t <- proc.time()[1];"
        "m <- lmer(z ~ factor(edition) + (1 | intent), f); cat(proc.time()[1] - t, logLik(m))"
    )
    with tempfile.TemporaryDirectory() as folder:
        long_of(bits).to_csv(path := Path(folder) / "long.csv", index=False)
        done = subprocess.run(["Rscript", "-e", program, path], check=True, capture_output=True, text=True)
    return tuple(map(float, done.stdout.split()))


def cmdstan(bits):
    ld.regression.approximate(bits, model="2", algorithm="optimize", seed=1)
    return float("nan")


def blas(bits):
    z, ones = np.log(bits), np.ones(bits.shape[1])
    return float((z @ ones + (z @ ones)).sum()) * float("nan")


WAYS = {
    "default": ours(),
    "2": ours(clusters=None, dispersion="common", errors="information"),
    "2L": ours(model="2L", clusters=None),
    "edition": ours(dispersion="edition", clusters=None),
    "random": ours(model="1", intents="random", restricted=True, clusters=None, dispersion="common"),
    "scipy 2": published(laplace=False),
    "scipy 2L": published(laplace=True),
    "scipy 15 nodes": nodes,
    "cmdstan": cmdstan,
    "statsmodels": statsmodels,
    "lme4": lme4,
    "blas": blas,
}


def memory(which):
    """Return the memory of this process in MiB: now (VmRSS) or at most (VmHWM)."""
    try:
        return next(int(line.split()[1]) for line in Path("/proc/self/status").open() if line.startswith(which)) / 1024
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(way, path):
    """Run one row in this process, and print seconds, log-likelihood and memory."""
    if way == "lme4" and shutil.which("Rscript") is None:
        print("null")
        return
    warnings.simplefilter("ignore")
    bits, fit = np.load(path), WAYS[way]
    if way != "cmdstan":
        fit(bits[:60, :5])  # imports
    if Path("/proc/self/clear_refs").exists():
        Path("/proc/self/clear_refs").write_text("5")
    before, started = memory("VmRSS"), time.process_time()
    try:
        value = fit(bits)
    except (LangdiffError, ImportError, subprocess.CalledProcessError):
        print("null")
        return
    seconds, value = value if isinstance(value, tuple) else (time.process_time() - started, value)
    print(json.dumps([seconds, value, memory("VmHWM") - before, bits.nbytes / 2**20]))


def in_process(way, table):
    """Return what `measure` prints in a process of its own; None where the program is absent."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "bits.npy")  # made in another process, whose memory is its own
        for given in (["--table", json.dumps(table), "--save", path], ["--way", way, "--save", path]):
            done = subprocess.run([sys.executable, __file__, *given], check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def name_of(intents, editions=0, missing=0.0, noise=""):
    return f"`{intents}`" if editions == 0 else f"{intents:,} × {editions:,}, {missing:.0%} missing, {noise}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--way", choices=list(WAYS), help=argparse.SUPPRESS)
    for hidden in ("--table", "--save"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.table:
        np.save(options.save, table_of(*json.loads(options.table)))
        return
    if options.way:
        measure(options.way, options.save)
        return
    print("| table | program | CPU s | times ours | MiB beside the table | times the table | nats short of ours |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for table in DEFAULT:
        seconds, _, beside, size = in_process("default", table)
        print(f"| {name_of(*table)} | `fit` | {seconds:.2f} | | {beside:.0f} | {beside / size:.1f} | |", flush=True)
    for table, way, rivals in BESIDE:
        own = in_process(way, table)
        for row in (way, *rivals):
            found = own if row == way else in_process(row, table)
            if found is None:
                print(f"| {name_of(*table)} | {row} | absent | | | | |", flush=True)
                continue
            ratio, short = ("1", "") if row == way else (f"{found[0] / own[0]:.3g}", f"{own[1] - found[1]:.2g}")
            label = f"`fit`, {way}" if row == way else row
            cells = [name_of(*table), label, f"{found[0]:.3f}", ratio, f"{found[2]:.0f}", f"{found[2] / found[3]:.1f}"]
            print(f"| {' | '.join([*cells, short.replace('nan', '')])} |", flush=True)
    for axis, tables in GROWTH.items():
        seconds = [in_process("default", table)[0] for table in tables]
        sizes = [table[axis == "J"] for table in tables]
        slope = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
        print(
            f"\nGrowth in {axis} ({sizes}): {', '.join(f'{s:.3f}' for s in seconds)} s, slope {slope:.2f}", flush=True
        )


if __name__ == "__main__":
    main()
