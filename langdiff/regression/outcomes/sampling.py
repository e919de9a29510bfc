"""Draws from the posterior of models of outcomes: with proper priors, and with effects of clusters and cells."""

import tempfile
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np
import pandas as pd

from langdiff import __version__
from langdiff.base.signature import join_signature, name_of_number, name_of_seed, short_hash
from langdiff.base.types import Floats, generator
from langdiff.errors import ConfigError, ConvergenceWarning, DataError, listing, option, warn
from langdiff.regression.outcomes import SampledModel
from langdiff.regression.outcomes.design import ItemDesign, check_size, design_items, rows_of, units_of
from langdiff.regression.outcomes.estimate import centring
from langdiff.regression.outcomes.likelihoods import Likelihood, Structure, find_model
from langdiff.regression.stan.draws import diagnose, inference_data, sample_stats
from langdiff.regression.stan.engines import Draws, Request, sample_cmdstan, sample_pystan
from langdiff.regression.stan.posterior import HERE
from langdiff.regression.stan.sampling import DEPTH, LARGEST_SEED, Sampler, choose_engine, given_sampler
from langdiff.tables.outcomes import Outcomes

if TYPE_CHECKING:
    import arviz as az

PROGRAM = HERE / "outcomes.stan"
PARAMETERS, MODEL = "// LIKELIHOOD: parameters", "// LIKELIHOOD: model"  # lines of the program that others replace
SPREADS = ("cluster_spread", "cell_spread")
USUAL_WARMUP = 500
RADIUS = 1.0  # of uniform starts, log odds


@dataclass(frozen=True, kw_only=True)
class OutcomePriors:
    r"""Standard deviations of normal priors with mean 0, all in log odds; of σ and other spreads half of one.

    Attributes
    ----------
    level : float
        Of the difficulty of items on average over the groups.
    ability : float
        Of each system's ability, given that they average 0.
    term : float
        Of the slope of each term; of the difficulty of each group, given that they average the level.
    spread : float
        Of σ, and of the standard deviations of clusters and of cells.
    log_loading : float
        Of each system's ln λ, given that they average 0.

    Raises
    ------
    ConfigError
        If one is not positive and finite.

    Examples
    --------
    >>> str(OutcomePriors(spread=2.0))
    'level~1.5,ability~1.5,term~1,spread~2,log_loading~0.5'
    """

    level: float = 1.5
    ability: float = 1.5
    term: float = 1.0
    spread: float = 1.0
    log_loading: float = 0.5

    def __post_init__(self) -> None:
        """Check that all standard deviations are positive and finite."""
        for field, value in zip(fields(self), astuple(self), strict=True):
            if not 0 < value < np.inf:
                raise ConfigError(f"prior {field.name}={value!r}: a standard deviation must be positive and finite.")

    def to_data(self) -> dict[str, float]:
        """Return the scales by their names in the Stan program.

        Returns
        -------
        dict of float
            One scale per prior.

        Examples
        --------
        >>> OutcomePriors().to_data()["slope_scale"]
        1.0
        """
        names = ("level_scale", "ability_scale", "slope_scale", "spread_scale", "loading_scale")
        return dict(zip(names, map(float, astuple(self)), strict=True))

    def __str__(self) -> str:
        """Name all scales, for signatures."""
        return ",".join(
            f"{field.name}~{name_of_number(value)}" for field, value in zip(fields(self), astuple(self), strict=True)
        )


class _Posterior(NamedTuple):
    model: str
    structure: Structure
    design: ItemDesign
    data: dict[str, Any]
    group_contrasts: Floats  # (G, G − 1); (1, 0) without groups


def sample_outcomes(
    outcomes: Outcomes,
    *,
    model: Literal["auto", SampledModel] | Likelihood = "auto",
    by: str | None = None,
    formula: str | None = None,
    clusters: str | None = None,
    cell_noise: bool = False,
    priors: OutcomePriors | None = None,
    sampler: Sampler | Literal["auto"] = "auto",
    seed: int | np.random.Generator = 0,
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
    model : {"auto", "rasch", "beta-binomial", "slopes"} or Likelihood
        Model to sample; ``"auto"`` is beta-binomial if a cell has several trials and no noise of its
        own, otherwise Rasch.
    by, formula : str, optional
        What difficulties depend on: an attribute of items, or terms over attributes.
    clusters : str, optional
        Attribute of items that depend on one another, such as ``"document"``: each of its values adds a normal effect
        to the difficulty of its items.
    cell_noise : bool
        Whether each cell has a normal effect, which several trials share; abilities are then those of a typical cell,
        farther apart than the beta-binomial model's, which are averages over cells.
    priors : OutcomePriors, optional
        Scales of the priors; that of the correlation of trials is uniform.
    sampler : "auto" or Sampler
        Engine, chains and draws; see `langdiff.regression.Sampler`. By default with 500 draws of warm-up; chains
        start at random points.
    seed : int or numpy.random.Generator
        Seed of everything that is drawn; a seed gives the same draws again with the same engine.
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
    work = given_sampler(sampler)
    if work.inits == "map":
        raise ConfigError("posteriors of outcomes are sampled from random starts: leave inits out.")
    warmup = USUAL_WARMUP if work.iter_warmup is None else work.iter_warmup
    priors = priors or OutcomePriors()
    posterior = _prepare(outcomes, model, by, formula, clusters, cell_noise, priors)
    parts = {
        "model": posterior.model,
        "by": by,
        "formula": None if formula is None else f"#{short_hash(formula, outcomes.items)}",
        "cluster": clusters,
        "cell_noise": cell_noise,
        "priors": str(priors),
        "outcomes": short_hash(
            outcomes.values, outcomes.trials, outcomes.items[[name for name in (by, clusters) if name is not None]]
        ),
        "version": __version__,
        "chains": work.chains,
        "warmup": warmup,
        "draws": work.iter_sampling,
        "target_accept": name_of_number(work.target_accept),
        "max_treedepth": work.max_treedepth,
        "seed": name_of_seed(seed, rng),
    }
    chosen = choose_engine(work.engine)
    with tempfile.TemporaryDirectory(prefix="langdiff-stan-") as folder:
        request = Request(
            program=write_program(posterior.structure.likelihood, Path(folder)),
            whitened=False,
            data=posterior.data,
            inits=[_start(posterior, rng) for _ in range(work.chains)],
            chains=work.chains,
            iter_warmup=warmup,
            iter_sampling=work.iter_sampling,
            seed=int(rng.integers(1, LARGEST_SEED)),
            target_accept=work.target_accept,
            max_treedepth=work.max_treedepth or DEPTH,
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
        warmup=warmup,
        signature=join_signature({"engine": chosen, **parts}),
    )
    diagnosis = diagnose(idata)
    if not diagnosis.good:
        warn(f"model {posterior.model}: {diagnosis.verdict}", ConvergenceWarning)
    named: az.InferenceData = idata
    return named


def write_program(likelihood: Likelihood, folder: Path) -> Path:
    """Write the Stan program with the lines of a likelihood, and return its path."""
    if likelihood.stan is None:
        raise ConfigError(f"model {likelihood.name!r} has no lines of Stan, so that it cannot be sampled.")
    program = PROGRAM.read_text(encoding="utf-8")
    path = folder / PROGRAM.name
    path.write_text(
        program.replace(PARAMETERS, likelihood.stan.parameters).replace(MODEL, likelihood.stan.model), encoding="utf-8"
    )
    return path


def _prepare(
    outcomes: Outcomes,
    model: str | Likelihood,
    by: str | None,
    formula: str | None,
    clusters: str | None,
    cell_noise: bool,
    priors: OutcomePriors,
) -> _Posterior:
    """Return the data of the program, with groups as contrasts, so that priors treat them alike."""
    if not isinstance(outcomes, Outcomes):
        raise ConfigError(f"outcomes must be an Outcomes table, not {type(outcomes).__name__}; see read_outcomes.")
    several = bool(np.nanmax(outcomes.trials.to_numpy(dtype=float), initial=1) > 1)
    chosen, structure = find_model(model, several=several and not cell_noise)
    if structure.conditional:
        raise ConfigError(f"unknown model {chosen!r}; use one of {listing(('auto', *get_args(SampledModel)))}.")
    if cell_noise and structure.likelihood.trials_depend:
        raise ConfigError(
            f"a {chosen} cell has noise already; leave {option('cell_noise')} out, or use {option('model', 'rasch')}."
        )
    if cell_noise and not several:
        raise DataError("all cells have one trial, which says nothing of noise that trials of a cell share.")
    design = design_items(outcomes.items, by, formula, None)
    rows = rows_of(outcomes, design)
    check_size(outcomes, rows, structure)
    codes = None if clusters is None else units_of(outcomes.items, clusters).code + 1
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
        "slopes": int(structure.loadings == "free"),
        "cell_noise": int(cell_noise),
        **priors.to_data(),
    }
    return _Posterior(chosen, structure, design, data, contrasts)


def _start(posterior: _Posterior, rng: np.random.Generator) -> dict[str, Any]:
    """Return a random start of every parameter."""

    def near(size: int) -> Floats:
        return rng.uniform(-RADIUS, RADIUS, size)

    data = posterior.data
    clusters, noisy = int(data["C"]), bool(data["cell_noise"])
    parameters = posterior.structure.likelihood.parameters
    return {
        "level": float(near(1)[0]),
        "a": near(data["J"] - 1),
        "slope": near(data["K"]),
        "spread": float(np.exp(near(1)[0])),
        "v": near(data["I"]),
        "l": near((data["J"] - 1) * data["slopes"]) / 2,
        **{parameter.name: rng.uniform(0.1, 0.5, 1) for parameter in parameters},
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
    if posterior.structure.loadings == "free":
        quantities["loading"] = draws["loading"]
    for name in (*(parameter.name for parameter in posterior.structure.likelihood.parameters), *SPREADS):
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
        "observed_data": {"successes": outcomes.values.to_numpy(), "trials": outcomes.trials.to_numpy()},
    }
    return inference_data(groups_of_arrays, dims, names)
