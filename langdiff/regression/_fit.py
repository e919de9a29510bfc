"""Fitting by name: checks on the table, the model, and labels on what comes out."""

import logging
import warnings
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd

from langdiff import __version__
from langdiff.errors import ConfigError, ConvergenceWarning, DataError, listing
from langdiff.regression._connected import edition_components
from langdiff.regression._models import Estimate, estimate_model_1, estimate_model_2, size_of_single_cells
from langdiff.regression._two_way import solve_two_way
from langdiff.regression.result import DifficultyFit
from langdiff.surprisals import Surprisals

Floats = npt.NDArray[np.float64]
Model = Literal["1", "2"]
Method = Literal["lbfgs"]

LEAST_SIGMA = 1e-8  # residuals of log bits below it are rounding, and the likelihood is unbounded
CONSTANT_CELLS = 3  # an edition with so many cells, all equal, was not measured

log = logging.getLogger(__name__)


def fit(
    surprisals: Surprisals | pd.DataFrame,
    *,
    model: Model = "2",
    method: Method = "lbfgs",
    max_iterations: int = 1000,
) -> DifficultyFit:
    r"""Estimate how difficult each edition is.

    Parameters
    ----------
    surprisals : Surprisals or DataFrame, shape (I, J)
        Bits of intent i (row) in edition j (column); NaN where missing.
    model : {"1", "2"}
        Model 1, :math:`y_{ij} = n_i e^{d_j} e^{\epsilon}` with :math:`\epsilon \sim \mathcal{N}(0, \sigma^2)`,
        is solved exactly. In model 2 larger intents vary less: the variance of ln y is
        :math:`\ln(1 + (e^{\sigma^2} - 1) / n_i)`.
    method : {"lbfgs"}
        Optimiser of model 2.
    max_iterations : int
        After so many the optimiser gives up, with a warning.

    Returns
    -------
    DifficultyFit

    Raises
    ------
    DataError
        If a value is no surprisal, a row or column has no cell, all surprisals of an edition are
        equal, no chain of shared intents connects two editions, there are fewer than I + J cells,
        or the residuals vanish.
    ConfigError
        If `model`, `method` or `max_iterations` is not one of those offered.

    Warns
    -----
    ConvergenceWarning
        If the optimiser stopped before its criterion was met.

    References
    ----------
    Mielke, Cotterell, Gorman, Roark and Eisner (2019), "What Kind of Language Is Hard to
    Language-Model?", section 3, equations 1, 2, 5 and 6.

    Examples
    --------
    >>> bits = pd.DataFrame({"eng": [100.0, 52, 210], "deu": [110.0, 54, 230], "fin": [125.0, 66, 248]})
    >>> fit(bits, model="1").to_frame()["percent"].round(1)
    edition
    fin    11.7
    deu    -2.3
    eng    -9.4
    Name: percent, dtype: float64
    """
    _check_settings(model, method, max_iterations)
    table = _as_surprisals(surprisals)
    z = _log_bits(table)
    single = (~np.isnan(z)).sum(axis=1) == 1
    two_way = solve_two_way(z[~single] if single.any() else z)
    if np.sqrt(two_way.sum_of_squares / two_way.degrees_of_freedom) < LEAST_SIGMA:
        raise DataError(
            "the residuals vanish: every edition is an exact multiple of every other "
            f"({listing(table.editions)}), so the likelihood has no maximum. Are they copies of one another?"
        )
    estimate = estimate_model_1(two_way) if model == "1" else estimate_model_2(two_way, max_iterations=max_iterations)
    if not estimate.converged:
        warnings.warn(
            f"model {model} did not converge in {estimate.n_iterations} iterations: {estimate.message}; scaled "
            f"gradient {estimate.grad_norm:.1e}. Raise max_iterations (now {max_iterations}), look for extreme "
            "surprisals, or use model='1', which is solved exactly.",
            ConvergenceWarning,
            stacklevel=2,
        )
    sizes = np.empty(len(z))
    sizes[~single] = estimate.log_intent_size
    sizes[single] = size_of_single_cells(z[single], estimate, model)
    return _label(estimate._replace(log_intent_size=sizes), model, table, z, single)


def _check_settings(model: str, method: str, max_iterations: int) -> None:
    for what, given, offered in (("model", model, get_args(Model)), ("method", method, get_args(Method))):
        if given not in offered:
            raise ConfigError(f"unknown {what} {given!r}; use one of {listing(offered)}.")
    if max_iterations < 1:
        raise ConfigError(f"max_iterations must be at least 1, got {max_iterations!r}.")


def _as_surprisals(table: object) -> Surprisals:
    if isinstance(table, Surprisals):
        return table
    if isinstance(table, pd.DataFrame):
        return Surprisals(bits=table)
    raise DataError(
        f"surprisals must be a Surprisals or a DataFrame of bits, intents × editions, not {type(table).__name__}."
    )


def _log_bits(table: Surprisals) -> Floats:
    """Return z = ln(bits), shape (I, J), of a table that can be fitted."""
    bits = table.bits.to_numpy()
    intents, editions = bits.shape
    if min(bits.shape) < 2:
        raise DataError(f"{intents} intent(s) × {editions} edition(s): comparing needs at least two of each.")
    observed = ~np.isnan(bits)
    empty = {
        "intent": table.intents[~observed.any(axis=1)],
        "edition": table.editions[~observed.any(axis=0)],
    }
    for what, names in empty.items():
        if len(names):
            raise DataError(f"{len(names)} {what}(s) without any surprisal: {listing(names)}. Leave them out.")
    _check_variation(table, bits, observed)
    _check_connected(table, observed)
    cells = int(observed.sum())
    if cells < intents + editions:
        raise DataError(
            f"{cells:,} cells for {intents:,} intents and {editions:,} editions: at least "
            f"{intents + editions:,} are needed to tell differences from noise. Add intents that several editions have."
        )
    single = int((observed.sum(axis=1) == 1).sum())
    if single:
        log.info("%d of %d intents have one cell only and say nothing of difficulties", single, intents)
    z: Floats = np.log(bits)
    return z


def _check_variation(table: Surprisals, bits: Floats, observed: npt.NDArray[np.bool_]) -> None:
    low = np.where(observed, bits, np.inf).min(axis=0)
    high = np.where(observed, bits, -np.inf).max(axis=0)
    constant = (low == high) & (observed.sum(axis=0) >= CONSTANT_CELLS)
    if constant.any():
        raise DataError(
            f"{constant.sum()} edition(s) whose surprisals are all equal: {listing(table.editions[constant])}. "
            "Such numbers were not measured; leave them out."
        )


def _check_connected(table: Surprisals, observed: npt.NDArray[np.bool_]) -> None:
    component = edition_components(observed)
    if component.max() == 0:
        return
    sizes = ", ".join(str(size) for size in np.bincount(component))
    one, other = table.editions[component == 0][0], table.editions[component == 1][0]
    raise DataError(
        f"the editions fall into {component.max() + 1} groups (of {sizes} editions) that share no intent; for "
        f"one, no chain of shared intents leads from {one!r} to {other!r}, so their difficulties cannot be "
        "compared. Fit each group on its own, or add intents that join them."
    )


def _label(
    estimate: Estimate, model: str, table: Surprisals, z: Floats, single: npt.NDArray[np.bool_]
) -> DifficultyFit:
    editions, intents = table.editions, table.intents
    cells = int((~np.isnan(z)).sum())
    signature = (
        f"model:{model}|method:{estimate.method}|lm:{table.lm}|cells:{cells}|intents:{len(intents)}"
        f"|editions:{len(editions)}|version:{__version__}"
    )
    return DifficultyFit(
        model=model,
        method=estimate.method,
        lm=table.lm,
        difficulty=pd.Series(estimate.difficulty, index=editions, name="difficulty"),
        covariance=pd.DataFrame(estimate.covariance, index=editions, columns=editions),
        intent_size=pd.Series(np.exp(estimate.log_intent_size), index=intents, name="intent_size"),
        dispersion=estimate.dispersion,
        log_likelihood=estimate.log_likelihood,
        log_likelihood_bits=estimate.log_likelihood - float(np.nansum(z[~single])),
        converged=estimate.converged,
        n_iterations=estimate.n_iterations,
        n_evaluations=estimate.n_evaluations,
        grad_norm=estimate.grad_norm,
        message=estimate.message,
        cells=cells,
        single_cell_intents=int(single.sum()),
        signature=signature,
    )
