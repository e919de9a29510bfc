"""Draws from the posterior of models of outcomes: with priors, and with effects of clusters and cells."""

import warnings
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np
import pandas as pd

from langdiff import __version__
from langdiff.base.seeds import generator
from langdiff.base.signature import join_signature, name_of_number, name_of_seed, short_hash
from langdiff.base.types import Floats
from langdiff.errors import ConfigError, ConvergenceWarning, DataError
from langdiff.regression.outcomes.checks import check_size
from langdiff.regression.outcomes.design import ItemDesign, clusters_of, design_items, rows_of
from langdiff.regression.outcomes.estimate import centring
from langdiff.regression.outcomes.priors import OutcomePriors
from langdiff.regression.stan.cmdstan import sample_cmdstan
from langdiff.regression.stan.diagnosis import diagnose
from langdiff.regression.stan.engine import Draws, Request
from langdiff.regression.stan.label import inference_data, sample_stats
from langdiff.regression.stan.programs import HERE
from langdiff.regression.stan.pystan import sample_pystan
from langdiff.regression.stan.sampling import DEPTH, LARGEST_SEED, Engine, Work, check_choice, choose_engine
from langdiff.tables.outcomes import Outcomes

if TYPE_CHECKING:
    import arviz as az

SampledModel = Literal["rasch", "beta-binomial", "slopes"]

PROGRAM = HERE / "outcomes.stan"
RADIUS = 1.0  # of uniform starts, log odds


class _Posterior(NamedTuple):
    model: SampledModel
    design: ItemDesign
    data: dict[str, Any]
    group_contrasts: Floats  # (G, G − 1); (1, 0) without groups


def sample_outcomes(
    outcomes: Outcomes,
    *,
    model: SampledModel | str = "auto",
    by: str | None = None,
    formula: str | None = None,
    cluster: str | None = None,
    cell_noise: bool = False,
    priors: OutcomePriors | None = None,
    engine: Engine = "auto",
    chains: int = 4,
    iter_warmup: int = 500,
    iter_sampling: int = 1000,
    seed: int | np.random.Generator,
    target_accept: float = 0.8,
    progress: bool | None = None,
) -> "az.InferenceData":
    r"""Draw from the posterior of abilities and difficulties with Stan.

    The model of `langdiff.fit_outcomes`, :math:`\eta_{ij} = \theta_j - x_i^\top\beta - \lambda_j \sigma v_i`, with
    priors, so that a system or a group that is all right or all wrong has a posterior, too. Clusters and cells may
    have random effects of their own, which a marginal likelihood would have to integrate together.

    Parameters
    ----------
    outcomes : Outcomes
        Successes out of trials, items × systems.
    model : {"auto", "rasch", "beta-binomial", "slopes"}
        Model to sample; ``"auto"`` is beta-binomial if a cell has several trials and no noise of its
        own, otherwise Rasch.
    by, formula : str, optional
        What difficulties depend on: an attribute of items, or terms over attributes.
    cluster : str, optional
        Attribute of items that depend on one another, such as ``"document"``: each of its values adds a normal effect
        to the difficulty of its items.
    cell_noise : bool
        Whether each cell has a normal effect, which several trials share; abilities are then those of a typical cell,
        farther apart than the beta-binomial model's, which are averages over cells.
    priors : OutcomePriors, optional
        Scales of the priors; that of the correlation of trials is uniform.
    engine : {"auto", "cmdstan", "pystan"}
        Engine to sample with: ``"auto"`` is CmdStan where it is installed, else PyStan.
    chains : int
        Number of Markov chains.
    iter_warmup : int
        Draws of each chain to adapt with, not kept.
    iter_sampling : int
        Draws of each chain to keep.
    seed : int or numpy.random.Generator
        Seed of everything that is drawn; a seed gives the same draws again with the same engine.
    target_accept : float
        Acceptance rate that the step size is adapted to.
    progress : bool, optional
        Whether to draw a progress bar; by default only if stderr is a terminal.

    Returns
    -------
    arviz.InferenceData
        ``posterior``, in log odds: ``ability`` (system), averaging 0; ``difficulty`` (group), for the average system
        and the median item, ``"all"`` without groups; ``term`` (term); ``spread``, σ; ``item_difficulty`` (item); and
        where the model has them ``loading`` (system), ``correlation``, ``cluster_spread``, ``cell_spread``.
        ``sample_stats`` and ``observed_data``. `langdiff.diagnose` judges it, `langdiff.regression.posterior_table`
        summarizes it.

    Raises
    ------
    DataError
        If an item or a system has no outcome, there are less than two of either, or items lack an attribute.
    ConfigError
        If an argument is unknown, out of range, or contradicts another.
    MissingExtraError
        If the engine, or ArviZ, is not installed.
    SolverError
        If Stan fails.

    Warns
    -----
    ConvergenceWarning
        If R-hat exceeds 1.01, effective draws are few, or a transition diverged.
    LangdiffWarning
        If ``engine="auto"`` falls back to PyStan since the environment variable CMDSTAN points to no CmdStan.

    References
    ----------
    Betancourt and Girolami (2015) on non-centred effects; Carpenter et al. (2017), "Stan: A Probabilistic Programming
    Language".

    Examples
    --------
    >>> import langdiff as ld
    >>> truth = ld.simulate_outcomes(100, 3, seed=1)
    >>> idata = ld.sample_outcomes(truth.outcomes, seed=1)  # doctest: +SKIP
    >>> ld.regression.posterior_table(idata).loc["ability", "mean"].idxmax()  # doctest: +SKIP
    's3'
    """
    rng = generator(seed)
    Work(chains, iter_warmup, iter_sampling, target_accept, None).check()
    check_choice("engine", engine, get_args(Engine))
    priors = priors or OutcomePriors()
    posterior = _prepare(outcomes, model, by, formula, cluster, cell_noise, priors)
    parts = {
        "model": posterior.model,
        "by": by,
        "formula": None if formula is None else f"#{short_hash(formula, outcomes.items)}",
        "cluster": cluster,
        "cell_noise": cell_noise,
        "priors": str(priors),
        "outcomes": short_hash(
            outcomes.successes, outcomes.trials, outcomes.items[[name for name in (by, cluster) if name is not None]]
        ),
        "version": __version__,
        "chains": chains,
        "warmup": iter_warmup,
        "draws": iter_sampling,
        "target_accept": name_of_number(target_accept),
        "seed": name_of_seed(seed, rng),
    }
    chosen = choose_engine(engine)
    request = Request(
        program=PROGRAM,
        whitened=False,
        data=posterior.data,
        inits=[_start(posterior.data, rng) for _ in range(chains)],
        chains=chains,
        iter_warmup=iter_warmup,
        iter_sampling=iter_sampling,
        seed=int(rng.integers(1, LARGEST_SEED)),
        target_accept=target_accept,
        max_treedepth=DEPTH,
        progress=progress,
    )
    draws = sample_cmdstan(request) if chosen == "cmdstan" else sample_pystan(request)
    idata = _label(draws, outcomes, posterior)
    idata.posterior.attrs.update(
        model=posterior.model,
        outcomes=outcomes.name,
        priors=str(priors),
        langdiff_version=__version__,
        engine=chosen,
        warmup=iter_warmup,
        signature=join_signature({"engine": chosen, **parts}),
    )
    diagnosis = diagnose(idata)
    if not diagnosis.good:
        warnings.warn(f"model {posterior.model}: {diagnosis.verdict}", ConvergenceWarning, stacklevel=2)
    named: az.InferenceData = idata
    return named


def _prepare(
    outcomes: Outcomes,
    model: str,
    by: str | None,
    formula: str | None,
    cluster: str | None,
    cell_noise: bool,
    priors: OutcomePriors,
) -> _Posterior:
    """Return the data of the program, with groups as contrasts, so that priors treat them alike."""
    if not isinstance(outcomes, Outcomes):
        raise ConfigError(f"outcomes must be an Outcomes table, not {type(outcomes).__name__}; see read_outcomes.")
    check_choice("model", model, ("auto", *get_args(SampledModel)))
    several = bool(np.nanmax(outcomes.trials.to_numpy(dtype=float), initial=1) > 1)
    chosen: Any = ("beta-binomial" if several and not cell_noise else "rasch") if model == "auto" else model
    if cell_noise and chosen == "beta-binomial":
        raise ConfigError("a beta-binomial cell has noise already; leave cell_noise out, or use model='rasch'.")
    if cell_noise and not several:
        raise DataError("all cells have one trial, which says nothing of noise that trials of a cell share.")
    design = design_items(outcomes.items, by, formula, None)
    rows = rows_of(outcomes, design)
    check_size(outcomes, rows, conditional=False, overdispersed=chosen == "beta-binomial")
    codes = None if cluster is None else clusters_of(outcomes.items, cluster)[0] + 1
    item, system = np.nonzero(rows.t)
    contrasts = np.zeros((1, 0)) if design.groups is None else centring(len(design.groups))
    group = np.zeros(len(rows.s), dtype=int) if design.group is None else design.group
    x = np.column_stack([contrasts[group], design.x[:, design.indicators :]])
    items, systems = rows.s.shape
    data = {
        **{"I": items, "J": systems, "N": len(item), "K": x.shape[1], "C": 0 if codes is None else int(codes.max())},
        "item": item + 1,
        "system": system + 1,
        "successes": rows.s[item, system].astype(int),
        "trials": rows.t[item, system].astype(int),
        "x": x,
        "cluster": [] if codes is None else codes,
        "centred": centring(systems),
        "slopes": int(chosen == "slopes"),
        "overdispersed": int(chosen == "beta-binomial"),
        "cell_noise": int(cell_noise),
        **priors.to_data(),
    }
    return _Posterior(chosen, design, data, contrasts)


def _start(data: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Return a random start of every parameter."""

    def near(size: int) -> Floats:
        return rng.uniform(-RADIUS, RADIUS, size)

    clusters, noisy = int(data["C"]), bool(data["cell_noise"])
    return {
        "level": float(near(1)[0]),
        "a": near(data["J"] - 1),
        "slope": near(data["K"]),
        "spread": float(np.exp(near(1)[0])),
        "v": near(data["I"]),
        "l": near((data["J"] - 1) * data["slopes"]) / 2,
        "correlation": rng.uniform(0.1, 0.5, data["overdispersed"]),
        "cluster_spread": np.exp(near(int(clusters > 0))),
        "u": near(clusters),
        "cell_spread": np.exp(near(int(noisy))),
        "e": near(data["N"] * noisy),
    }


def _label(draws: Draws, outcomes: Outcomes, posterior: _Posterior) -> Any:
    """Return the draws on the published scale, with names."""
    design, slope = posterior.design, draws["slope"]
    level, free = draws["level"][..., None], posterior.group_contrasts.shape[1]
    quantities = {
        "ability": draws["ability"],
        "difficulty": level + slope[..., :free] @ posterior.group_contrasts.T,
        "spread": draws["spread"],
        "item_difficulty": level + slope @ posterior.data["x"].T + draws["deviation"],
    }
    if design.terms:
        quantities["term"] = slope[..., free:]
    if posterior.model == "slopes":
        quantities["loading"] = draws["loading"]
    for name in ("correlation", "cluster_spread", "cell_spread"):
        if draws[name].shape[-1:] == (1,) and draws[name].ndim == 3:
            quantities[name] = draws[name][..., 0]
    groups = pd.Index(["all"]) if design.groups is None else design.groups
    names = {
        "item": [str(name) for name in outcomes.items.index],
        "system": [str(name) for name in outcomes.systems.index],
        "group": [str(name) for name in groups],
        "term_name": list(design.terms),
    }
    dims = {
        "ability": ["system"],
        "loading": ["system"],
        "difficulty": ["group"],
        "term": ["term_name"],
        "item_difficulty": ["item"],
        "successes": ["item", "system"],
        "trials": ["item", "system"],
    }
    groups_of_arrays = {
        "posterior": quantities,
        "sample_stats": sample_stats(draws),
        "observed_data": {"successes": outcomes.successes.to_numpy(), "trials": outcomes.trials.to_numpy()},
    }
    return inference_data(groups_of_arrays, dims, names)
