"""Named draws, replicated bits, diagnostics and summaries of posteriors (from ArviZ 1 on an xarray DataTree)."""

import warnings
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from langdiff import __version__
from langdiff.base.types import Floats
from langdiff.errors import DataError, MissingExtraError, option
from langdiff.regression.kernel.integrated.quadrature import RowData, row_posterior
from langdiff.regression.stan.engines import Draws
from langdiff.regression.stan.posterior import Posterior
from langdiff.regression.variants.variant import Variant
from langdiff.tables.rule import draw_interval

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
LARGEST_R_HAT = 1.01  # Vehtari et al. (2021)
LEAST_ESS_PER_CHAIN = 100  # below it, effective sample sizes are themselves estimated badly
ESS_OF = {"ess_bulk": "bulk", "ess_tail": "tail", "ess_sd": "sd"}  # our names, and ArviZ's methods
QUANTITIES = ("difficulty", "dispersion")  # that are judged
OF_OUTCOMES = ("ability", "difficulty", "term", "spread", "loading", "correlation", "cluster_spread", "cell_spread")
MOST_CELLS = 200_000  # of a table of which bits are replicated
MOST_DRAWS = 400  # in which they are, of all chains together
NODES = 15  # of the quadrature over the size of an intent


class Replicated(NamedTuple):
    """Bits drawn from the posterior predictive distribution.

    Attributes
    ----------
    bits : ndarray of float32, shape (chains, draws, I, J)
        Replicated bits of the observed cells; NaN where the table has none.
    missing : ndarray of float32, shape (chains, draws, M)
        Predicted bits of the M missing cells, row by row.
    every : int
        Which draws were used: every first, second, ….
    """

    bits: np.ndarray
    missing: np.ndarray
    every: int

    @property
    def note(self) -> str:
        """Sentence on which draws were used."""
        if self.every == 1:
            return "bits of every draw"
        return f"bits of every {self.every}th draw of each chain, so that they take less memory"


def import_arviz() -> ModuleType:
    """Import ArviZ without its notice of a coming version."""
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings(
                "ignore", message=r"(?s).*ArviZ is undergoing a major refactor", category=FutureWarning
            )
            import arviz
    except ModuleNotFoundError as error:
        raise MissingExtraError("ArviZ is not installed: pip install 'langdiff[stan]'.") from error
    return arviz


def label(
    draws: Draws,
    posterior: Posterior,
    facts: dict[str, Any],
    *,
    replicated: Replicated | None = None,
    log_density: Floats | None = None,
) -> "az.InferenceData":
    """Label the draws of Stan with the names of editions, intents and parameters.

    Shapes: draws (chains, draws, ...); log_density (chains, draws, I).
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
    if log_density is not None:
        groups["log_likelihood"] = {"log_surprisals": log_density}
    if replicated is not None:
        groups["posterior_predictive"] = {"bits": replicated.bits}
        if replicated.missing.size:
            gone = posterior.bits.isna().to_numpy()
            names["cell"] = [f"{names['intent'][i]}, {names['edition'][j]}" for i, j in np.argwhere(gone)]
            groups["predictions"] = {"missing_bits": replicated.missing}
    if not groups["sample_stats"]:
        del groups["sample_stats"]
    dims = {
        "difficulty": ["edition"],
        "intent_size": ["intent"],
        "log_surprisals": ["intent"],
        "bits": ["intent", "edition"],
        "missing_bits": ["cell"],
    }
    idata: Any = inference_data(groups, dims, names)
    idata.posterior.attrs.update(
        model=posterior.variant.name,
        program=posterior.program.stem,
        lm=posterior.lm,
        priors=posterior.priors,
        single_cell_intents=posterior.single_cell_intents,
        independence=posterior.independence,
        langdiff_version=__version__,
        **facts,
    )
    if replicated is not None:
        idata.posterior_predictive.attrs["note"] = replicated.note
    named: az.InferenceData = idata
    return named


def sample_stats(draws: Draws) -> dict[str, Any]:
    """Return Stan's statistics of its sampler, under ArviZ's names."""
    return {ours: draws[stans].astype(STAT_TYPES.get(ours, float)) for stans, ours in STATS.items() if stans in draws}


def inference_data(groups: dict[str, Any], dims: dict[str, list[str]], names: dict[str, list[str]]) -> Any:
    """Return groups of arrays with named axes."""
    arviz = import_arviz()
    axes = {"dims": dims, "coords": names}
    if "predictions" in groups:
        axes |= {"pred_dims": dims, "pred_coords": names}
    if int(arviz.__version__.partition(".")[0]) >= 1:  # a DataTree, with the same groups
        return arviz.from_dict(groups, **axes)
    return arviz.from_dict(**groups, **axes)


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """Convergence of Markov chains, as Vehtari et al. (2021) judge it.

    Attributes
    ----------
    r_hat : float
        The largest rank-normalized split R-hat.
    ess_bulk, ess_tail, ess_sd : float
        The smallest effective sample sizes: of the mean of the ranks, of the 5 % and 95 % quantiles, and of the
        standard deviation. Draws that alternate around the centre, as those of long trajectories do, make the
        first larger than the number of draws, and say nothing of the others.
    divergences : int
        Number of divergent transitions.
    chains, draws : int
        Number of chains, and of draws of each.
    worst : str
        The quantity with the largest R-hat.
    """

    r_hat: float
    ess_bulk: float
    ess_tail: float
    ess_sd: float
    divergences: int
    chains: int
    draws: int
    worst: str

    @property
    def good(self) -> bool:
        """Whether R-hat is at most 1.01, no transition diverged, and each ESS is at least 100 per chain."""
        return self.r_hat <= LARGEST_R_HAT and not self.divergences and not self._too_few

    @property
    def _too_few(self) -> dict[str, float]:
        """Effective sample sizes that are too small (or not known), by quantity."""
        sizes = {"the middle": self.ess_bulk, "the tails": self.ess_tail, "the standard deviation": self.ess_sd}
        return {of: size for of, size in sizes.items() if not size >= LEAST_ESS_PER_CHAIN * self.chains}  # NaN too

    @property
    def verdict(self) -> str:
        """One line: the problem and what to do, or that none was found."""
        wrong = []
        if self.chains < 2:
            wrong.append("a single chain cannot be compared with another: run at least two")
        elif not self.r_hat <= LARGEST_R_HAT:  # NaN too
            wrong.append(
                f"R-hat of {self.worst} is {self.r_hat:.5f}, above {LARGEST_R_HAT}: the chains do not agree. Draw more "
                f"({option('iter_sampling')}), and if it stays, look for rows that fit badly"
            )
        if self.divergences:
            wrong.append(
                f"{self.divergences} of {self.chains * self.draws} transitions diverged: the draws miss part of the "
                f"posterior. Raise {option('target_accept')}, give priors, or leave out rows that fit badly"
            )
        if self._too_few:
            sizes = ", ".join(f"{size:,.0f} of {of}" for of, size in self._too_few.items())
            wrong.append(
                f"effective draws are few, {sizes}, where {LEAST_ESS_PER_CHAIN} per chain are needed: draw more "
                f"({option('iter_sampling')})"
            )
        return "; ".join(wrong) + "." if wrong else "no sign of trouble."

    def summary(self) -> str:
        """Format the diagnosis in two lines.

        Examples
        --------
        >>> facts = {"r_hat": 1.002, "ess_bulk": 1800.0, "ess_tail": 1500.0, "ess_sd": 900.0, "divergences": 0}
        >>> print(Diagnosis(**facts, chains=4, draws=1000, worst="dispersion").summary())
        4 chains of 1,000 draws: no sign of trouble.
        largest R-hat 1.0020 (dispersion), smallest ESS 1,800 (bulk), 1,500 (tail) and 900 (SD), 0 divergences
        """
        return (
            f"{self.chains} chains of {self.draws:,} draws: {self.verdict}\n"
            f"largest R-hat {self.r_hat:.4f} ({self.worst}), smallest ESS {self.ess_bulk:,.0f} (bulk), "
            f"{self.ess_tail:,.0f} (tail) and {self.ess_sd:,.0f} (SD), {self.divergences} divergences"
        )


def diagnose(idata: "az.InferenceData") -> Diagnosis:
    """Diagnose convergence from the difficulties and the dispersion, or from all but the items of outcomes.

    Sizes of intents and difficulties of items are not judged: of thousands of quantities some exceed any limit by
    chance.

    Parameters
    ----------
    idata : arviz.InferenceData
        Draws, as `sample` or `langdiff.sample_outcomes` returns them.

    Returns
    -------
    Diagnosis
        Convergence of the chains, with a verdict.

    Raises
    ------
    DataError
        If there is no posterior of difficulties.
    MissingExtraError
        If ArviZ is not installed.

    References
    ----------
    Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021), "Rank-normalization, folding, and
    localization: An improved R-hat for assessing convergence of MCMC".

    Examples
    --------
    >>> import langdiff as ld
    >>> idata = ld.sample(ld.simulate(50, 4, seed=1).surprisals, seed=1)  # doctest: +SKIP
    >>> print(diagnose(idata).verdict)  # doctest: +SKIP
    no sign of trouble.
    """
    arviz = import_arviz()
    posterior = _judged(idata)
    chains = posterior.sizes["chain"]
    r_hat = _flat(arviz.rhat(posterior)) if chains > 1 else pd.Series(np.nan, index=["every quantity"])
    stats = getattr(idata, "sample_stats", None)
    return Diagnosis(
        r_hat=float(r_hat.max(skipna=False)),
        **{
            name: float(_flat(arviz.ess(posterior, method=method)).min(skipna=False)) for name, method in ESS_OF.items()
        },
        divergences=0 if stats is None or "diverging" not in stats else int(stats["diverging"].sum()),
        chains=chains,
        draws=posterior.sizes["draw"],
        worst=str(r_hat.idxmax()) if r_hat.notna().any() else "every quantity",
    )


def posterior_table(idata: "az.InferenceData") -> pd.DataFrame:
    """Summarize the posterior: one row per edition, hardest first, or one row per parameter of outcomes.

    Parameters
    ----------
    idata : arviz.InferenceData
        Draws, as `sample` or `langdiff.sample_outcomes` returns them.

    Returns
    -------
    DataFrame
        Indexed by edition: ``difficulty`` (posterior mean), ``sd``, ``low`` and ``high`` (central 95 %
        interval), all in nats; ``percent`` = 100·(mean factor − 1); ``r_hat``, ``ess_bulk``, ``ess_tail`` and
        ``ess_sd``, as in `Diagnosis`. Of outcomes: indexed by ``parameter`` and ``name``, with ``mean`` in
        place of ``difficulty``, in log odds, and without ``percent``.

    Raises
    ------
    DataError
        If there is no posterior of difficulties.
    MissingExtraError
        If ArviZ is not installed.

    Examples
    --------
    >>> import langdiff as ld
    >>> idata = ld.sample(ld.simulate(50, 4, seed=1).surprisals, seed=1)  # doctest: +SKIP
    >>> posterior_table(idata).index.name  # doctest: +SKIP
    'edition'
    """
    judged = _judged(idata)
    if "ability" in judged:
        tables = {name: _summaries(judged[[name]]).rename_axis("name") for name in judged.data_vars}
        by_parameter: pd.DataFrame = pd.concat(tables, names=["parameter"])
        return by_parameter
    table = _summaries(judged[["difficulty"]]).rename(columns={"mean": "difficulty"}).rename_axis("edition")
    factors = np.exp(judged["difficulty"]).mean(("chain", "draw")).to_numpy()
    table.insert(4, "percent", 100 * (factors - 1))
    return table.sort_values("difficulty", ascending=False, kind="stable")


def _summaries(variable: Any) -> pd.DataFrame:
    """Return one row per value of the variable of a data set."""
    arviz = import_arviz()
    values = next(iter(variable.data_vars.values()))
    draws = values.to_numpy().reshape(values.sizes["chain"] * values.sizes["draw"], -1)
    low, high = draw_interval(draws)
    by_name = {"r_hat": arviz.rhat(variable) if values.sizes["chain"] > 1 else None}
    by_name |= {name: arviz.ess(variable, method=method) for name, method in ESS_OF.items()}
    return pd.DataFrame(
        {
            "mean": draws.mean(axis=0),
            "sd": draws.std(axis=0, ddof=1),
            "low": low,
            "high": high,
            **{name: np.nan if of is None else _flat(of).to_numpy() for name, of in by_name.items()},
        },
        index=_labels(values),
    )


def _judged(idata: "az.InferenceData") -> Any:
    """Return the quantities that are judged, as an xarray Dataset, which the posterior is not under ArviZ 1."""
    posterior: Any = getattr(idata, "posterior", None)
    if hasattr(posterior, "to_dataset"):
        posterior = posterior.to_dataset()
    variables = [] if posterior is None else list(posterior.data_vars)
    if "ability" in variables:
        return posterior[[name for name in OF_OUTCOMES if name in variables]]
    if not set(QUANTITIES) <= set(variables):
        raise DataError(
            "there is no posterior of difficulties and dispersion in it; give what langdiff.sample returned."
        )
    return posterior[list(QUANTITIES)]


def _labels(values: Any) -> list[str]:
    """Return the names along the one axis that is neither of chains nor of draws; its own name without such an axis."""
    axes = [axis for axis in values.dims if axis not in ("chain", "draw")]
    return [str(label) for label in values[axes[0]].to_numpy()] if axes else [str(values.name)]


def _flat(of: Any) -> pd.Series:
    """Name the values of a data set of statistics: ``difficulty[deu]``, ``dispersion``."""
    named = {}
    for name, values in of.data_vars.items():
        for label, value in zip(_labels(values), np.ravel(values.to_numpy()), strict=True):
            named[name if values.ndim == 0 else f"{name}[{label}]"] = float(value)
    return pd.Series(named, dtype=float)


def replicate_bits(draws: Draws, posterior: Posterior, rng: np.random.Generator) -> Replicated:
    """Draw bits of every cell given the parameters of at most 400 draws.

    Shapes: draws (chains, draws, ...).
    """
    chains, per_chain = draws["dispersion"].shape
    every = max(1, -(-per_chain * chains // MOST_DRAWS))
    chosen = {name: draws[name][:, ::every] for name in ("difficulty", "intent_size", "dispersion")}
    sigma, log_size = np.sqrt(np.log1p(chosen["dispersion"])), np.log(chosen["intent_size"])
    missing = posterior.bits.isna().to_numpy()
    bits = np.empty((*sigma.shape, *missing.shape), dtype=np.float32)
    for place in np.ndindex(sigma.shape):
        noise = posterior.variant.noise(rng, float(sigma[place]), log_size[place], missing.shape[1])
        bits[place] = np.exp(log_size[place][:, None] + chosen["difficulty"][place] + noise)
    predicted = bits[:, :, missing]
    bits[:, :, missing] = np.nan
    return Replicated(bits, predicted, every)


def log_density_of_intents(draws: Draws, posterior: Posterior) -> Floats:
    r"""Return the log-density of each row of z = ln(bits), its size integrated out, in every draw.

    With x = z − δ, S and Q its sum and sum of squares over the :math:`J_i` cells of row i after subtracting the mean a
    of ln n, model 1 has, with :math:`W_i = \sigma^2 + J_i\tau^2`,

    .. math:: -\tfrac12\bigl[J_i\ln 2\pi + (J_i - 1)\ln\sigma^2 + \ln W_i + (Q_i - \tau^2 S_i^2 / W_i)/\sigma^2\bigr]

    and model 2 is integrated by Gauss–Hermite quadrature with 15 nodes around the mode.

    Shapes: draws (chains, draws, ...).
    """
    z = np.log(posterior.bits.to_numpy())
    return log_density_of_draws(z, draws, common_variance=posterior.variant.common_variance)


def log_density_of_draws(z: Floats, draws: Draws, *, common_variance: bool) -> Floats:
    """Return the log-density of each row of log bits in every draw, in model 1 if the variance is common, or in 2.

    Shapes: z (I, J).
    """
    kappa, sizes = draws["dispersion"], draws["size_distribution"]
    density = np.empty((*kappa.shape, len(z)))
    for place in np.ndindex(kappa.shape):
        mean, spread = (float(value) for value in sizes[place])
        x = z - draws["difficulty"][place]
        if common_variance:
            density[place] = _of_model_1(x - mean, float(np.log1p(kappa[place])), spread)
        else:
            density[place] = _of_model_2(x, float(kappa[place]), mean, spread)
    return density


def _of_model_1(r: Floats, variance: float, spread: float) -> Floats:
    cells, sums, squares = (~np.isnan(r)).sum(axis=1), np.nansum(r, axis=1), np.nansum(r**2, axis=1)
    total = variance + cells * spread**2
    distance = (squares - spread**2 * sums**2 / total) / variance
    density: Floats = -0.5 * (cells * np.log(2 * np.pi) + (cells - 1) * np.log(variance) + np.log(total) + distance)
    return density


def _of_model_2(x: Floats, kappa: float, mean_size: float, sd_size: float) -> Floats:
    """Return log-densities; in scale-free parameters z − δ is around μ − v/2 + ln κ + σ²/2 with μ = ln(n/κ)."""
    x = x - np.log(kappa) - 0.5 * np.log1p(kappa)
    mean = np.nanmean(x, axis=1)
    spread = np.nansum((x - mean[:, None]) ** 2, axis=1)
    expected = np.full(len(x), mean_size - np.log(kappa))
    data = RowData((~np.isnan(x)).sum(axis=1).astype(float), mean, spread, expected)
    unknown = np.full(len(x), np.nan)  # a row may have two modes, of which either may be the higher in another draw
    return row_posterior(data, sd_size, unknown, NODES).values


def offers_log_density(variant: Variant) -> bool:
    """Return whether the log-density of an intent is known: in models 1 and 2, whose noise is normal."""
    return variant.has_information
