"""Whitened against plain Stan programs of model 2: time, effective draws per second, R-hat, in one run.

    python benchmarks/stan.py [--sizes 200x10 1000x21 4336x106] [--plain-seconds 120] [--seed 0] [--whitened-only]

Both programs are compiled before the clock starts. The plain one gets as many iterations as a short run says
fit into its time; what did run is measured, nothing is extrapolated. CPU seconds are those of all processes,
and say what the wall clock would on a machine with nothing else to do.
"""

import argparse
import os
import resource
import time
import warnings

import numpy as np

import langdiff as ld
from langdiff.errors import ConvergenceWarning
from langdiff.regression import Sampler
from langdiff.regression.stan.draws import posterior_table

ROW = "{:>12} {:>9} {:>12} {:>8.1f} {:>8.1f} {:>9.1f} {:>9} {:>11} {:>8.3f} {:>10.1f} {:>12.0f} {:>8.4f}"
HEAD = "{:>12} {:>9} {:>12} {:>8} {:>8} {:>9} {:>9} {:>11} {:>8} {:>10} {:>12} {:>8}".format(
    "size",
    "program",
    "iterations",
    "wall s",
    "CPU s",
    "ESS min",
    "ESS/s",
    "ESS/CPU s",
    "R-hat",
    "steps/draw",
    "CPU us/step",
    "step",
)


def measure(surprisals, *, plain, warmup, draws, chains, seed):
    begin, cpu = time.perf_counter(), children()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        idata = ld.sample(
            surprisals,
            plain=plain,
            sampler=Sampler(engine="pystan", chains=chains, iter_warmup=warmup, iter_sampling=draws),
            seed=seed,
            posterior_predictive=False,
            progress=False,
        )
    return idata, time.perf_counter() - begin, children() - cpu


def children():
    """Return CPU seconds of all processes started and ended so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def report(size, name, measured, warmup, draws, chains):
    idata, wall, cpu = measured
    table = posterior_table(idata)
    ess = float(table["ess_bulk"].min())
    steps = float(idata.sample_stats["n_steps"].mean())
    gradients = steps * (warmup + draws) * chains
    print(
        ROW.format(
            size,
            name,
            f"{chains}x({warmup}+{draws})",
            wall,
            cpu,
            ess,
            f"{ess / wall:.3g}",
            f"{ess / cpu:.3g}",
            float(ld.diagnose(idata).r_hat),
            steps,
            1e6 * cpu / gradients,  # reading the draws included
            float(idata.sample_stats["step_size"].mean()),
        ),
        flush=True,
    )
    return ess / wall, ess / cpu


def plain_iterations(surprisals, seconds, seed):
    """Return how many iterations of one chain fit into the time, by those of a short run."""
    _, wall, _ = measure(surprisals, plain=True, warmup=20, draws=4, chains=1, seed=seed)
    return int(np.clip(24 * seconds / wall, 24, 2000))


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--sizes", nargs="+", default=["200x10", "1000x21", "4336x106"])
    arguments.add_argument("--plain-seconds", type=float, default=120.0)
    arguments.add_argument("--draws", type=int, default=600)
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--whitened-only", action="store_true")
    chosen = arguments.parse_args()
    tiny = ld.simulate(20, 3, seed=1).surprisals
    for plain in (False,) if chosen.whitened_only else (False, True):
        measure(tiny, plain=plain, warmup=20, draws=10, chains=1, seed=1)  # compiles, if need be
    print(f"model 2, complete tables, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n{HEAD}", flush=True)
    for size in chosen.sizes:
        intents, editions = map(int, size.split("x"))
        surprisals = ld.simulate(intents, editions, seed=chosen.seed).surprisals
        work = {"warmup": 150, "draws": chosen.draws, "chains": 4}
        whitened = report(size, "whitened", measure(surprisals, plain=False, seed=chosen.seed, **work), **work)
        if chosen.whitened_only:
            continue
        iterations = plain_iterations(surprisals, chosen.plain_seconds, chosen.seed)
        work = {"warmup": max(20, iterations // 2), "draws": max(4, iterations - iterations // 2), "chains": 1}
        plain = report(size, "plain", measure(surprisals, plain=True, seed=chosen.seed, **work), **work)
        print(
            f"{size:>12} whitened / plain, effective draws: {whitened[0] / plain[0]:,.0f} a second, "
            f"{whitened[1] / plain[1]:,.0f} a CPU second",
            flush=True,
        )


if __name__ == "__main__":
    main()
