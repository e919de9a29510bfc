"""Names on draws: from arrays by quantity to an ArviZ InferenceData (from ArviZ 1 on: an xarray DataTree)."""

import warnings
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from langdiff import __version__
from langdiff.errors import MissingExtraError
from langdiff.regression.stan.engine import Draws
from langdiff.regression.stan.posterior import Posterior

if TYPE_CHECKING:
    import arviz as az

STATS = {  # Stan's names to ArviZ's
    "lp__": "lp",
    "accept_stat__": "acceptance_rate",
    "stepsize__": "step_size",
    "treedepth__": "tree_depth",
    "n_leapfrog__": "n_steps",
    "divergent__": "diverging",
    "energy__": "energy",
}
STAT_TYPES: dict[str, type] = {"tree_depth": int, "n_steps": int, "diverging": bool}


def import_arviz() -> ModuleType:
    """Import ArviZ without its notice of a coming version.

    Raises
    ------
    MissingExtraError
        If it is not installed.
    """
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings(
                "ignore", message=r"(?s).*ArviZ is undergoing a major refactor", category=FutureWarning
            )
            import arviz
    except ModuleNotFoundError as error:
        raise MissingExtraError("ArviZ is not installed: pip install 'langdiff[stan]'.") from error
    module: ModuleType = arviz
    return module


def label(draws: Draws, posterior: Posterior, facts: dict[str, Any]) -> "az.InferenceData":
    """Name what Stan drew.

    Parameters
    ----------
    draws : dict of ndarray, shapes (chains, draws, ...)
        Draws of an engine, by quantity.
    posterior : Posterior
        Posterior that was sampled.
    facts : dict
        Further attributes, such as the engine; they must be numbers or text, as NetCDF takes them.

    Raises
    ------
    MissingExtraError
        If ArviZ is not installed.
    """
    names = {"intent": [str(i) for i in posterior.bits.index], "edition": [str(j) for j in posterior.bits.columns]}
    dispersion = draws["dispersion"]
    groups: dict[str, Any] = {
        "posterior": {
            "difficulty": draws["difficulty"],
            "intent_size": draws["intent_size"],
            "dispersion": dispersion,
            "sigma": np.sqrt(np.log1p(dispersion)),
        },
        "sample_stats": sample_stats(draws),
        "observed_data": {"bits": posterior.bits.to_numpy()},
    }
    if posterior.random_intents:
        distribution = draws["size_distribution"]
        groups["posterior"] |= {"log_size_mean": distribution[..., 0], "log_size_std": distribution[..., 1]}
    if posterior.data["save_log_lik"]:
        groups["log_likelihood"] = {"log_surprisals": draws["log_lik"]}
    if posterior.data["save_bits"]:
        groups["posterior_predictive"] = {"bits": draws["bits"]}
    if not groups["sample_stats"]:
        del groups["sample_stats"]
    dims = {
        "difficulty": ["edition"],
        "intent_size": ["intent"],
        "log_surprisals": ["intent"],
        "bits": ["intent", "edition"],
    }
    idata: Any = inference_data(groups, dims, names)
    idata.posterior.attrs.update(
        model=posterior.variant.name,
        program=posterior.program.stem,
        lm=posterior.lm,
        priors=posterior.priors,
        single_cell_intents=posterior.single_cell_intents,
        langdiff_version=__version__,
        **facts,
    )
    named: az.InferenceData = idata
    return named


def sample_stats(draws: Draws) -> dict[str, Any]:
    """Return what Stan says of its own work, under ArviZ's names."""
    return {ours: draws[stans].astype(STAT_TYPES.get(ours, float)) for stans, ours in STATS.items() if stans in draws}


def inference_data(groups: dict[str, Any], dims: dict[str, list[str]], names: dict[str, list[str]]) -> Any:
    """Return groups of arrays with named axes.

    Raises
    ------
    MissingExtraError
        If ArviZ is not installed.
    """
    arviz = import_arviz()
    if int(arviz.__version__.partition(".")[0]) >= 1:  # a DataTree, with the same groups
        return arviz.from_dict(groups, dims=dims, coords=names)
    return arviz.from_dict(**groups, dims=dims, coords=names)
