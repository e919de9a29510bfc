"""Leave-one-out by importance sampling (ArviZ's loo) against exact refits, and Pareto k: model 2 with random intents.

    python benchmarks/leave_one_out.py [--refits 40x4] [--k 300x6] [--seed 1]

Each refit leaves one intent out and averages its density, its size integrated out, over the draws of the others.
"""

import argparse
import time
import warnings

import numpy as np
from scipy.special import logsumexp

import langdiff as ld
from langdiff.errors import ConvergenceWarning
from langdiff.regression import Sampler
from langdiff.regression.stan.draws import import_arviz, log_density_of_draws


def sample(bits, seed, **sampler):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        chosen = Sampler(engine="pystan", **sampler)
        return ld.sample(
            bits,
            intents="random",
            log_lik="intents",
            posterior_predictive=False,
            sampler=chosen,
            seed=seed,
            progress=False,
        )


def table(size, seed):
    intents, editions = map(int, size.split("x"))
    return ld.simulate(intents, editions, seed=seed).surprisals.bits


def left_out(bits, intent, seed):
    """Return the log-density of an intent given all others."""
    posterior = sample(bits.drop(index=intent), seed, chains=2, iter_sampling=500).posterior
    draws = {name: posterior[name].to_numpy() for name in ("difficulty", "dispersion")}
    draws["size_distribution"] = np.stack([posterior[f"log_size_{of}"].to_numpy() for of in ("mean", "std")], axis=-1)
    density = log_density_of_draws(np.log(bits.loc[[intent]].to_numpy()), draws, common_variance=False)
    return float(logsumexp(density) - np.log(density.size))


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--refits", default="40x4")
    arguments.add_argument("--k", default="300x6")
    arguments.add_argument("--seed", type=int, default=1)
    chosen = arguments.parse_args()
    az = import_arviz()
    found = az.loo(sample(table(chosen.k, chosen.seed), chosen.seed), pointwise=True)
    k = found.pareto_k.to_numpy()
    print(
        f"{chosen.k}: Pareto k below .7 in {100 * np.mean(k < 0.7):.1f} % of intents, largest {k.max():.2f}", flush=True
    )
    bits, begin = table(chosen.refits, chosen.seed), time.process_time()
    by_sampling = float(az.loo(sample(bits, chosen.seed)).elpd_loo)
    exact = [left_out(bits, intent, chosen.seed) for intent in bits.index]
    print(
        f"{chosen.refits}: loo {by_sampling:.2f}, {len(exact)} refits {sum(exact):.2f} "
        f"(apart {by_sampling - sum(exact):+.2f}); {time.process_time() - begin:.0f} s here, without the chains"
    )


if __name__ == "__main__":
    main()
