"""Faster than sampling: CmdStan's approximations, and its optimizer."""

import tempfile
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import pandas as pd

from langdiff.base.seeds import generator
from langdiff.base.signature import join_signature, name_of_seed
from langdiff.errors import ConfigError, listing
from langdiff.regression.stan.cmdstan import DIGITS, QUANTITIES, compiled
from langdiff.regression.stan.engine import Draws
from langdiff.regression.stan.label import label
from langdiff.regression.stan.posterior import prepare
from langdiff.regression.stan.priors import Priors
from langdiff.regression.variants import StanModel, find_variant
from langdiff.regression.variants.variant import Variant
from langdiff.tables.surprisals import Surprisals

if TYPE_CHECKING:
    import arviz as az

Algorithm = Literal["pathfinder", "laplace", "optimize"]

LARGEST_SEED = 2**31 - 1


def approximate(
    surprisals: Surprisals | pd.DataFrame,
    *,
    model: StanModel | Variant = "2",
    algorithm: Algorithm = "pathfinder",
    n_draws: int = 1000,
    seed: int | np.random.Generator = 0,
    priors: Priors | None = None,
) -> "az.InferenceData":
    """Approximate the posterior of a whitened program with CmdStan.

    Parameters
    ----------
    surprisals : Surprisals or DataFrame, shape (I, J)
        Bits of intent i (row) in edition j (column); NaN where missing.
    model : {"1", "2", "2L"} or Variant
        Regression model, as in `sample`.
    algorithm : {"pathfinder", "laplace", "optimize"}
        Method: Pathfinder (Zhang et al. 2022), draws from a normal distribution at the mode, or the mode of
        the whitened parameters as a single draw.
    n_draws : int
        Number of approximate draws; the optimizer gives one.
    seed : int or numpy.random.Generator
        Seed of everything that is drawn.
    priors : Priors, optional
        Priors of the parameters; flat by default.

    Returns
    -------
    arviz.InferenceData
        The same groups as those of `sample`, with one chain. Approximations have no R-hat: compare them with
        `sample`.

    Raises
    ------
    ConfigError
        If CmdStan is not installed, or an argument is unknown or out of range.
    DataError
        If the table cannot be fitted or flat priors give no proper posterior, as in `sample`.
    SolverError
        If CmdStan fails.

    Examples
    --------
    >>> import langdiff as ld
    >>> surprisals = ld.simulate(50, 4, seed=1).surprisals
    >>> idata = approximate(surprisals, seed=1)  # doctest: +SKIP
    >>> sorted(idata.posterior.data_vars)  # doctest: +SKIP
    ['difficulty', 'dispersion', 'intent_size', 'sigma']
    """
    rng = generator(seed)
    if algorithm not in get_args(Algorithm):
        raise ConfigError(f"unknown algorithm {algorithm!r}; use one of {listing(get_args(Algorithm))}.")
    if n_draws < 1:
        raise ConfigError(f"n_draws must be at least 1, got {n_draws!r}.")
    posterior = prepare(
        surprisals,
        variant=find_variant(model),
        priors=priors or Priors(),
        plain=False,
        save_log_lik=False,
        save_bits=False,
    )
    program = compiled(posterior.program)
    count = 1 if algorithm == "optimize" else n_draws
    named = name_of_seed(seed, rng)
    with tempfile.TemporaryDirectory(prefix="langdiff-stan-") as folder:
        settings: dict[str, Any] = {
            "data": posterior.data,
            "seed": int(rng.integers(1, LARGEST_SEED)),
            "output_dir": folder,
            "sig_figs": DIGITS,
        }
        variables = _run(program, algorithm, settings, posterior.start(None), count)
    done = {"engine": "cmdstan", "algorithm": algorithm, "draws": count, "seed": named}
    facts = {"engine": "cmdstan", "signature": f"{posterior.signature}|{join_signature(done)}"}
    return label(_one_chain(variables, count), posterior, facts)


def _run(program: Any, algorithm: str, settings: dict[str, Any], start: dict[str, Any], count: int) -> dict[str, Any]:
    match algorithm:
        case "pathfinder":
            fit = program.pathfinder(inits=start, draws=count, **settings)
        case "laplace":
            fit = program.laplace_sample(opt_args={"inits": start}, draws=count, **settings)
        case _:
            fit = program.optimize(inits=start, **settings)
    variables: dict[str, Any] = fit.stan_variables()
    return variables


def _one_chain(variables: dict[str, Any], count: int) -> Draws:
    """Return arrays of shape (1, draws, ...); the optimizer's have no axis of draws."""
    chain = {}
    for name in QUANTITIES:
        if name in variables:
            values = np.asarray(variables[name], dtype=float)
            per_draw = values.shape if count == 1 and values.shape[:1] != (1,) else values.shape[1:]
            chain[name] = values.reshape(1, count, *per_draw)
    return chain
