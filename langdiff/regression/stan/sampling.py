"""Sampling by name (the model, the table, the engine), and CmdStan's faster approximations and optimizer."""

import logging
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import pandas as pd

from langdiff.base.signature import join_signature, name_of_number, name_of_seed
from langdiff.base.types import check_choice, check_resamples, check_share, generator
from langdiff.errors import ConfigError, ConvergenceWarning, option, warn
from langdiff.regression.stan.draws import (
    MOST_CELLS,
    diagnose,
    label,
    log_density_of_intents,
    offers_log_density,
    replicate_bits,
)
from langdiff.regression.stan.engines import (
    DIGITS,
    OF_DIFFICULTIES,
    Draws,
    Request,
    compiled,
    sample_cmdstan,
    sample_pystan,
    why_no_cmdstan,
)
from langdiff.regression.stan.posterior import Posterior, Priors, prepare
from langdiff.regression.variants import StanModel, find_variant
from langdiff.regression.variants.variant import Variant
from langdiff.tables.surprisals import Surprisals

if TYPE_CHECKING:
    import arviz as az

Engine = Literal["auto", "cmdstan", "pystan"]
Inits = Literal["map", "random"]
Intents = Literal["fixed", "random"]
LogLik = Literal["intents"]

USUAL_WARMUP = 200
LEAST_WARMUP = 20  # with fewer Stan adapts nothing
LEAST_TURN = 1.2  # radians; a quarter turn, π/2, forgets most, and twice this is still far from half a turn
USUAL_STEP = 1.45  # times (number of parameters) ** -1/4: the step size that warm-up finds on such a posterior
DEPTH = 10  # Stan's own
LARGEST_SEED = 2**31 - 1
Algorithm = Literal["pathfinder", "laplace", "optimize"]

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Sampler:
    """Settings of sampling with Stan: engine, chains, and steps.

    Attributes
    ----------
    engine : {"auto", "cmdstan", "pystan"}
        Engine to sample with: ``"auto"`` is CmdStan where it is installed, else PyStan.
    chains : int
        Number of Markov chains.
    iter_warmup : int or None
        Draws of each chain to adapt with, not kept; None for as many as usual.
    iter_sampling : int
        Draws of each chain to keep.
    target_accept : float
        Acceptance rate that the step size is adapted to.
    max_treedepth : int or None
        Trajectories have at most two to the power of this many steps. None for 10 or, for the whitened programs of
        models 1 and 2, about as many as make a quarter turn, the best length on a normal posterior of scale 1, so that
        nearly every trajectory has the most steps allowed.
    inits : {"map", "random"} or None
        Start of the chains: all at the fit that whitens the posterior, or each at a random point as far from it as the
        posterior reaches; None for what is usual.

    Raises
    ------
    ConfigError
        If a choice is unknown or a number out of range.

    Examples
    --------
    >>> Sampler(engine="pystan", chains=2).iter_sampling
    1000
    """

    engine: Engine = "auto"
    chains: int = 4
    iter_warmup: int | None = None
    iter_sampling: int = 1000
    target_accept: float = 0.8
    max_treedepth: int | None = None
    inits: Inits | None = None

    def __post_init__(self) -> None:
        """Check the numbers of chains and iterations and the other settings."""
        check_choice("engine", self.engine, get_args(Engine))
        check_choice("inits", self.inits, (*get_args(Inits), None))
        least = {"chains": 1, "iter_warmup": LEAST_WARMUP, "iter_sampling": 4, "max_treedepth": 1}
        for name, at_least in least.items():
            given = getattr(self, name)
            if given is not None and given < at_least:
                raise ConfigError(f"{name} must be at least {at_least}, got {given!r}.")
        check_share("target_accept", self.target_accept)


def sample(
    surprisals: Surprisals | pd.DataFrame,
    *,
    model: StanModel | Variant = "2",
    intents: Intents = "fixed",
    priors: Priors | None = None,
    log_lik: LogLik | None = None,
    posterior_predictive: bool = True,
    plain: bool = False,
    sampler: Sampler | Literal["auto"] = "auto",
    seed: int | np.random.Generator = 0,
    progress: bool | None = None,
) -> "az.InferenceData":
    r"""Draw from the posterior of a model with Stan.

    Priors are flat by default (see `Priors`), so that the posterior is the normalized likelihood.
    Intents with one observed cell say nothing of difficulties and are left out, as `langdiff.fit` keeps
    them out of the likelihood, unless intents are random.

    Parameters
    ----------
    surprisals : Surprisals or DataFrame, shape (I, J)
        Bits of intent i (row) in edition j (column); NaN where missing.
    model : {"1", "2", "2L"} or Variant
        Regression model to sample; 2C has no Stan program.
    intents : {"fixed", "random"}
        Prior of the intents' ln n: that of `priors`, or a normal one whose mean and standard deviation are estimated
        under flat priors. Then intents of one cell are kept. For models 1, 2 and 2L.
    priors : Priors, optional
        Priors of the parameters; flat by default.
    log_lik : {"intents"}, optional
        Log-density of every intent's cells of z = ln(bits), its size integrated out, in every draw, to be added as
        group ``log_likelihood``, for ArviZ's ``loo``. For models 1 and 2 with random intents.
    posterior_predictive : bool
        Whether to draw bits of every cell in up to 400 of the draws, for posterior predictive checks such as ArviZ's
        ``plot_ppc``. Tables of more than 200,000 cells have none, which the attributes of the posterior say.
    plain : bool
        Whether to run the program that reads as the paper does: the same posterior, a hundred times slower.
    sampler : "auto" or Sampler
        Engine, chains and draws; see `Sampler`. By default with 200 draws of warm-up; chains start at the fit that
        whitens the posterior.
    seed : int or numpy.random.Generator
        Seed of everything that is drawn; a seed gives the same draws again with the same engine.
    progress : bool, optional
        Whether to draw a progress bar; by default only if stderr is a terminal.

    Returns
    -------
    arviz.InferenceData
        ``posterior``: ``difficulty`` (edition), nats, normalized so that factors average 1;
        ``intent_size`` (intent); ``dispersion``, κ; ``sigma``; with random intents ``log_size_mean`` and
        ``log_size_std``, of ln n. ``sample_stats``; ``observed_data`` and ``posterior_predictive`` with ``bits``
        (intent, edition), NaN where missing; ``predictions`` with ``missing_bits`` (cell) if cells are missing; and
        ``log_likelihood`` if asked for. Attributes of the posterior: model, engine, lm, priors, signature, and
        ``independence``, what `langdiff.fit` finds of clusters of intents.

    Raises
    ------
    DataError
        If the table cannot be fitted (see `langdiff.fit`), or if flat priors give an improper posterior, as
        they do where N − I − J + 1 is below 3.
    ConfigError
        If an argument is unknown or out of range.
    MissingExtraError
        If the engine, or ArviZ, is not installed.
    SolverError
        If Stan fails.

    Warns
    -----
    ConvergenceWarning
        If R-hat of a difficulty or of the dispersion exceeds 1.01, or a transition diverged.
    LangdiffWarning
        If ``engine="auto"`` falls back to PyStan since the environment variable CMDSTAN points to no CmdStan; or if
        `langdiff.fit` finds clusters of intents, which the posterior takes as independent.

    References
    ----------
    Mielke et al. (2019), sections 3 and 6; Carpenter et al. (2017), "Stan: A Probabilistic Programming
    Language".

    Examples
    --------
    >>> import langdiff as ld
    >>> truth = ld.simulate(50, 4, seed=1)
    >>> surprisals = truth.surprisals
    >>> idata = ld.sample(surprisals, seed=1)  # doctest: +SKIP
    >>> ld.diagnose(idata).good  # doctest: +SKIP
    True
    """
    rng = generator(seed)
    work = given_sampler(sampler)
    warmup, inits = USUAL_WARMUP if work.iter_warmup is None else work.iter_warmup, work.inits or "map"
    check_choice("intents", intents, get_args(Intents))
    if not isinstance(priors, Priors | None):
        raise ConfigError(f"priors must be Priors(...), not {type(priors).__name__}: see langdiff.regression.Priors.")
    variant = find_variant(model)
    _check_log_lik(log_lik, variant, intents)
    posterior = prepare(
        surprisals,
        variant=variant,
        priors=priors or Priors(),
        plain=plain,
        random_intents=intents == "random",
    )
    if "design effect" in posterior.independence:
        warn(posterior.independence)
    work_done = {
        "chains": work.chains,
        "warmup": warmup,
        "draws": work.iter_sampling,
        "inits": None if inits == "map" else inits,
        "target_accept": name_of_number(work.target_accept),
        "max_treedepth": _depth(work, posterior),
        "seed": name_of_seed(seed, rng),
    }
    chosen = choose_engine(work.engine)
    request = Request(
        program=posterior.program,
        whitened=not plain,
        data=posterior.data,
        inits=[posterior.start(rng if inits == "random" else None) for _ in range(work.chains)],
        chains=work.chains,
        iter_warmup=warmup,
        iter_sampling=work.iter_sampling,
        seed=int(rng.integers(1, LARGEST_SEED)),
        target_accept=work.target_accept,
        max_treedepth=_depth(work, posterior),
        progress=progress,
    )
    draws = sample_cmdstan(request) if chosen == "cmdstan" else sample_pystan(request)
    facts = {
        "engine": chosen,
        "warmup": warmup,
        "signature": f"{posterior.signature}|{join_signature({'engine': chosen, **work_done})}",
    }
    replicated = None
    if posterior_predictive and posterior.bits.size <= MOST_CELLS:
        replicated = replicate_bits(draws, posterior, rng)
    elif posterior_predictive:
        facts["posterior_predictive"] = f"not drawn: {posterior.bits.size:,} cells, more than {MOST_CELLS:,}"
        log.info("no posterior predictive bits of %s cells", f"{posterior.bits.size:,}")
    log_density = log_density_of_intents(draws, posterior) if log_lik else None
    idata = label(draws, posterior, facts, replicated=replicated, log_density=log_density)
    diagnosis = diagnose(idata)
    if not diagnosis.good:
        warn(f"model {model}: {diagnosis.verdict}", ConvergenceWarning)
    return idata


def _check_log_lik(log_lik: object, variant: Variant, intents: str) -> None:
    if log_lik is None:
        return
    check_choice("log_lik", log_lik, get_args(LogLik))
    if intents != "random":
        raise ConfigError(
            f"{option('log_lik', 'intents')} integrates the size of an intent over its distribution: it needs "
            f"{option('intents', 'random')}. With fixed intents compare models by cross_validate."
        )
    if not offers_log_density(variant):
        raise ConfigError(f"{option('log_lik', 'intents')} is for models '1' and '2', not {variant.name!r}.")


def choose_engine(engine: str) -> str:
    """Return the engine named, or the one chosen by "auto"."""
    if engine != "auto":
        return engine
    why = why_no_cmdstan()
    if why.startswith("CMDSTAN "):  # somebody wanted it
        warn(f"{why}. PyStan is used instead.")
    return "pystan" if why else "cmdstan"


def given_sampler(sampler: object) -> Sampler:
    """Return the sampler given, or the one chosen by "auto"."""
    if sampler == "auto":
        return Sampler()
    if sampler is Sampler:
        raise ConfigError("sampler is the class Sampler: write Sampler().")
    if not isinstance(sampler, Sampler):
        raise ConfigError(f"sampler must be 'auto' or Sampler(...), got {sampler!r}: see langdiff.regression.Sampler.")
    return sampler


def _depth(sampler: Sampler, posterior: Posterior) -> int:
    """Return the tree depth whose trajectories turn by a quarter; a tree of depth t averages 2 ** (t − 1) steps."""
    if sampler.max_treedepth is not None:
        return sampler.max_treedepth
    # a Laplace density has a kink, at which steps must be shorter, by how much is not known before
    if not posterior.whitened or not posterior.variant.has_information:
        return DEPTH
    steps = LEAST_TURN / (USUAL_STEP * posterior.dimension**-0.25)
    return max(2, 1 + int(np.ceil(np.log2(steps))))


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
    check_choice("algorithm", algorithm, get_args(Algorithm))
    check_resamples("n_draws", n_draws)
    posterior = prepare(
        surprisals,
        variant=find_variant(model),
        priors=priors or Priors(),
        plain=False,
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
    for name in OF_DIFFICULTIES:
        if name in variables:
            values = np.asarray(variables[name], dtype=float)
            per_draw = values.shape if count == 1 and values.shape[:1] != (1,) else values.shape[1:]
            chain[name] = values.reshape(1, count, *per_draw)
    return chain
