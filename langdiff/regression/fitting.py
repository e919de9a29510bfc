"""Fitting by name: the table, the model, and labels on what comes out."""

import logging
import warnings
from numbers import Integral, Real
from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd

from langdiff import __version__
from langdiff._random import generator
from langdiff._signature import join_signature, name_of_number, name_of_seed
from langdiff._types import Booleans, Floats, Integers, Model
from langdiff.errors import ConfigError, ConvergenceWarning, DataError, LangdiffWarning, listing
from langdiff.regression.design import Design, Groups, make_design
from langdiff.regression.identity import identify_design, identify_table
from langdiff.regression.kernel.information import normalized_covariance
from langdiff.regression.kernel.models import Estimate, Settings, estimate, published_parameters, size_of_single_cells
from langdiff.regression.kernel.resampling import bootstrap_draws, jackknife_inflation
from langdiff.regression.kernel.robust import is_unbounded
from langdiff.regression.kernel.two_way import TwoWay, solve_two_way
from langdiff.regression.result import DifficultyFit
from langdiff.regression.table import as_surprisals, log_bits
from langdiff.surprisals import Surprisals

Method = Literal["auto", "newton", "lbfgs"]

SMOOTH = ("1", "2")  # models with an observed information
FEWEST_DEVIATIONS = 20  # from which an inflation is known to about 30 %, 16 % of a standard error
USUAL_ITERATIONS = 1000
LEAST_SIGMA = 1e-8  # residuals of log bits below it are rounding, and the likelihood is unbounded

log = logging.getLogger(__name__)


class Uncertainty(NamedTuple):
    """The covariance of the units' normalized difficulties, and where it is from; see `DifficultyFit`."""

    covariance: Floats
    bootstrap: int = 0
    seed: str = ""
    inflation: float = 1.0

    @property
    def kind(self) -> str:
        """Its name in the signature."""
        if self.bootstrap:
            return f"bootstrap-{self.bootstrap},seed:{self.seed}"
        return "information" if self.inflation == 1 else "jackknifed-information"


def fit(
    surprisals: Surprisals | pd.DataFrame | npt.NDArray[np.floating],
    *,
    model: Model = "2",
    method: Method = "auto",
    groups: Groups | None = None,
    formula: str | None = None,
    edition_info: pd.DataFrame | None = None,
    restricted: bool = False,
    laplace_scale: float | None = None,
    bootstrap: int = 0,
    seed: int | np.random.Generator | None = None,
    max_iterations: int = USUAL_ITERATIONS,
) -> DifficultyFit:
    r"""Estimate how difficult each edition is.

    With z = ln y, intent sizes n and difficulties d, the models of Mielke et al. (2019) say

    .. math:: z_{ij} = \ln n_i + d_j + \tfrac12(\sigma^2 - \sigma_i^2) + \epsilon_{ij}, \quad
              \sigma_i^2 = \ln(1 + \kappa / n_i), \quad \kappa = e^{\sigma^2} - 1

    in which ε has mean 0 and variance :math:`\sigma_i^2`: larger intents vary less. ε is normal in model
    2, Laplace in 2L, and Cauchy of scale :math:`\sigma_i` in 2C. Model 1 has :math:`\sigma_i = \sigma`
    for all intents. Model 3 is model 2 with noise of each cell's own, :math:`\nu_{ij} \sim
    \mathrm{Laplace}(0, b)`, added to :math:`\ln n_i`.

    Parameters
    ----------
    surprisals : Surprisals, DataFrame, array or tensor, shape (I, J)
        Bits of intent i (row) in edition j (column); NaN where missing.
    model : {"1", "2", "2L", "2C", "3"}
        Regression model to fit, as defined above. 2L and 2C resist outliers, such as sloppy translations.
    method : {"auto", "newton", "lbfgs"}
        Optimizer of model 2: ``"auto"`` is Newton's method, with L-BFGS if that fails. Model 1 is
        solved exactly; 2L, 2C and 3 by L-BFGS on likelihoods that approach theirs.
    groups : str, mapping or Series, optional
        Editions of one group share a difficulty: a column of `edition_info`, or the group of each edition.
    formula : str, optional
        Difficulties as sums of terms, such as ``"language + lm"``, over the columns of `edition_info`
        (Wilkinson's notation, read by formulaic). It may contain Python, so use only formulas that you trust.
    edition_info : DataFrame, optional
        Properties of the editions, indexed by edition; needed for a formula and for groups given as a column.
    restricted : bool
        Maximize the restricted likelihood, which makes up for the many intent sizes: without it the
        dispersion of models 2, 2L and 2C is too small, and if what is missing is missing mostly from
        the same editions, their difficulties are biased by a percent or so. See the handbook, "The models".
    laplace_scale : float, optional
        b of model 3, nats; it cannot be estimated, and must be well below the standard deviation of z.
    bootstrap : int
        Number of samples of intents that standard errors come from; 500 is a good number. With 0, the
        default, they come from the information matrix, which for models 2L, 2C and 3 is multiplied by what
        leaving out groups of intents shows to be missing.
    seed : int or numpy.random.Generator, optional
        Seed of the bootstrap; required if `bootstrap` is positive.
    max_iterations : int
        Number of iterations after which the optimizer stops, with a warning.

    Returns
    -------
    DifficultyFit
        Difficulties by edition (or by group) with their covariance, and the facts needed to trust them.

    Raises
    ------
    DataError
        If a value is not a surprisal, a row or column has no cell, all surprisals of an edition are
        equal, no chain of shared intents connects two editions, there are too few cells, or the
        residuals vanish.
    ConfigError
        If a setting is not one of those offered, or contradicts another; if terms of a formula are
        aliased.

    Warns
    -----
    ConvergenceWarning
        If the optimizer stopped before its criterion was met.
    LangdiffWarning
        If there are too few intents to check the standard errors of models 2L, 2C and 3.

    References
    ----------
    Mielke, Cotterell, Gorman, Roark and Eisner (2019), "What Kind of Language Is Hard to
    Language-Model?", section 3, equations 1, 2, 5 and 6, footnotes 14 and 23, appendix B. Cox and Reid
    (1987), "Parameter orthogonality and approximate conditional inference".

    Examples
    --------
    >>> bits = pd.DataFrame({"eng": [100.0, 52, 210], "deu": [110.0, 54, 230], "fin": [125.0, 66, 248]})
    >>> fit(bits, model="1").to_frame()[["percent", "percent_std_error"]].round(1)  # doctest: +NORMALIZE_WHITESPACE
             percent  percent_std_error
    edition
    fin         11.7                1.6
    deu         -2.3                1.5
    eng         -9.4                1.5

    Editions of a language that share a difficulty:

    >>> import langdiff as ld
    >>> truth = ld.simulate(300, 4, difficulties=[0.0, 0.0, 0.1, 0.1], seed=1)
    >>> surprisals = truth.surprisals
    >>> language = {"e1": "eng", "e2": "eng", "e3": "deu", "e4": "deu"}
    >>> ld.fit(surprisals, groups=language).to_frame()["difficulty"].round(2).to_dict()
    {'deu': 0.04, 'eng': -0.05}
    """
    _check_settings(Settings(model, method, restricted, laplace_scale, max_iterations), bootstrap, seed)
    bootstrap, b = int(bootstrap), None if laplace_scale is None else float(laplace_scale)
    settings = Settings(model, method, bool(restricted), b, int(max_iterations))
    table = as_surprisals(surprisals)
    design = make_design(table.editions, groups, formula, edition_info)
    z = log_bits(table, design)
    single = (~np.isnan(z)).sum(axis=1) == 1
    if single.any():
        log.info("%d of %d intents have one cell only and say nothing of difficulties", single.sum(), len(z))
    shared = z[~single] if single.any() else z
    two_way = _solve(shared, design, settings, table)
    found = estimate(two_way, settings)
    if found.converged and not np.isfinite(published_parameters(found, design.first).dispersion):
        found = found._replace(converged=False, message="the dispersion is out of range")
    if not found.converged:
        _warn(found, settings)
    if bootstrap:
        rng = generator(seed)
        named = name_of_seed(seed, rng)
        covariance = _bootstrap(shared, design, settings, found, bootstrap, rng)
        uncertainty = Uncertainty(covariance, bootstrap=bootstrap, seed=named)
    else:
        uncertainty = Uncertainty(_covariance(found, design))
        if model not in SMOOTH and found.converged:
            order = np.argsort(np.array(table.intents, dtype=str)[~single], kind="stable")
            uncertainty = _inflated(shared, design, settings, found, uncertainty.covariance, order)
    sizes = np.empty(len(z))
    sizes[~single] = found.sizes
    sizes[single] = size_of_single_cells(z[single], found.c, found)
    return _label(found._replace(sizes=sizes), settings, design, table, two_way, single, uncertainty)


def _check_settings(settings: Settings, bootstrap: object, seed: object) -> None:
    model, method, restricted, b, max_iterations, _ = settings
    for what, given, offered in (("model", model, get_args(Model)), ("method", method, get_args(Method))):
        if given not in offered:
            raise ConfigError(f"unknown {what} {given!r}; use one of {listing(offered)}.")
    if method != "auto" and model != "2":
        raise ConfigError(f"method={method!r} is a choice for model '2'; model {model!r} has one way: use 'auto'.")
    if restricted and model in ("1", "3"):
        why = "its variance is unbiased already" if model == "1" else "its density is not a likelihood of z"
        raise ConfigError(f"restricted=True is for models '2', '2L' and '2C'; of model {model!r} {why}.")
    if (b is None) == (model == "3"):
        raise ConfigError(
            "model '3' needs laplace_scale=b, nats (try 0.02 to 0.05): it cannot be estimated."
            if b is None
            else f"laplace_scale is for model '3', not {model!r}."
        )
    _check_numbers(b, max_iterations, bootstrap, seed)


def _check_numbers(b: object, max_iterations: object, bootstrap: object, seed: object) -> None:
    if b is not None and not (isinstance(b, Real) and 0 < float(b) < np.inf):
        raise ConfigError(f"laplace_scale must be a positive number, got {b!r}.")
    if not isinstance(max_iterations, Integral) or max_iterations < 1:
        raise ConfigError(f"max_iterations must be at least 1, got {max_iterations!r}.")
    if not isinstance(bootstrap, Integral) or bootstrap < 0 or bootstrap == 1:
        raise ConfigError(f"bootstrap must be 0 or at least 2 samples, got {bootstrap!r}.")
    if bootstrap:
        generator(seed, "bootstrap samples")


def _solve(z: Floats, design: Design, settings: Settings, table: Surprisals) -> TwoWay:
    two_way = solve_two_way(z, design.basis)
    if _vanishes(two_way):
        raise DataError(
            "the residuals vanish: every edition is an exact multiple of every other "
            f"({listing(table.editions)}), so the likelihood has no maximum. Are they copies of one another?"
        )
    if settings.model == "2C" and not settings.restricted and is_unbounded(two_way):
        raise DataError(
            "(nearly) all intents have two cells only: then the likelihood of model 2C has no maximum. Use "
            "restricted=True, or model='2L'."
        )
    return two_way


def _vanishes(two_way: TwoWay) -> bool:
    return two_way.degrees_of_freedom < 1 or two_way.sum_of_squares < LEAST_SIGMA**2 * two_way.degrees_of_freedom


def _warn(found: Estimate, settings: Settings) -> None:
    warnings.warn(
        f"model {settings.model} did not converge in {found.n_iterations} iterations: {found.message}; scaled "
        f"gradient {found.grad_norm:.1e}. Raise max_iterations (now {settings.max_iterations}), look for extreme "
        "surprisals, or use model='1', which is solved exactly.",
        ConvergenceWarning,
        stacklevel=3,
    )


def _bootstrap(
    z: Floats, design: Design, settings: Settings, found: Estimate, replicates: int, rng: np.random.Generator
) -> Floats:
    """Return the covariance of the units' normalized difficulties over samples of intents, shape (U, U)."""
    again = _Again(z, design, settings, found)
    draws = bootstrap_draws(design.observed(~np.isnan(z)), again, replicates=replicates, rng=rng)
    again.warn("bootstrap samples")
    covariance: Floats = np.cov(draws, rowvar=False)
    return covariance


def _inflated(
    z: Floats, design: Design, settings: Settings, found: Estimate, covariance: Floats, order: Integers
) -> Uncertainty:
    """Make the covariance as large as leaving out intents shows it to be.

    Medians of few cells vary more, and other residuals than the model's make them vary otherwise still.
    """
    again = _Again(z, design, settings, found)
    of_units, pooled, deviations = jackknife_inflation(
        design.observed(~np.isnan(z)), again, covariance, order=order, rng=np.random.default_rng(0)
    )
    again.warn("parts of the table")
    if deviations < FEWEST_DEVIATIONS:
        of_units, pooled = np.maximum(1.0, of_units), max(1.0, pooled)
        warnings.warn(
            f"too few intents ({len(z)}) to check the standard errors of model {settings.model} by leaving some out; "
            "they may be far too small. Use model='2', whose errors do not need it, or more intents.",
            LangdiffWarning,
            stacklevel=3,
        )
    root = np.sqrt(of_units)
    inflated = normalized_covariance(root[:, None] * covariance * root, found.c[design.first])
    return Uncertainty(inflated, inflation=pooled)


class _Again:
    """The fit of other rows of the same table, and how often it stopped short."""

    def __init__(self, z: Floats, design: Design, settings: Settings, found: Estimate) -> None:
        self.z, self.design, self.settings, self.found = z, design, settings, found
        self.fits = self.stopped = 0

    def __call__(self, rows: Integers) -> Floats | None:
        """Return the normalized difficulties of the units, shape (U,); None if no residuals are left."""
        two_way = solve_two_way(self.z[rows], self.design.basis)
        if _vanishes(two_way):
            return None
        part = estimate(
            two_way,
            self.settings,
            start=(self.found.sizes[rows], self.found.c),
            with_covariance=False,
        )
        self.fits += 1
        self.stopped += not part.converged
        return published_parameters(part, self.design.first).difficulty

    def warn(self, what: str) -> None:
        if self.stopped:
            warnings.warn(
                f"the fit of {self.stopped} of {self.fits} {what} did not converge; do not trust the standard errors.",
                ConvergenceWarning,
                stacklevel=4,
            )


def _label(
    found: Estimate,
    settings: Settings,
    design: Design,
    table: Surprisals,
    two_way: TwoWay,
    single: Booleans,
    uncertainty: Uncertainty,
) -> DifficultyFit:
    units, parameters = design.units, published_parameters(found, design.first)
    cells = two_way.cells + int(single.sum())
    with np.errstate(over="ignore"):  # sizes of a fit that did not converge may be beyond any float
        sizes = np.exp(parameters.log_intent_size)
    return DifficultyFit(
        model=settings.model,
        method=found.method,
        restricted=settings.restricted,
        laplace_scale=settings.laplace_scale,
        lm=table.lm,
        difficulty=pd.Series(parameters.difficulty, index=units, name="difficulty"),
        covariance=pd.DataFrame(uncertainty.covariance, index=units, columns=units),
        bootstrap=uncertainty.bootstrap,
        inflation=uncertainty.inflation,
        terms=_terms(design, found),
        intent_size=pd.Series(sizes, index=table.intents, name="intent_size"),
        dispersion=parameters.dispersion,
        log_likelihood=found.log_likelihood,
        log_likelihood_bits=found.log_likelihood - two_way.total,
        converged=found.converged,
        n_iterations=found.n_iterations,
        n_evaluations=found.n_evaluations,
        grad_norm=found.grad_norm,
        message=found.message,
        cells=cells,
        free_difficulties=design.free,
        single_cell_intents=int(single.sum()),
        signature=_signature(found, settings, design, table, uncertainty, cells),
        replaced_percent=_replaced_percent(table),
    )


def _signature(
    found: Estimate, settings: Settings, design: Design, table: Surprisals, uncertainty: Uncertainty, cells: int
) -> str:
    """Return all that the numbers depend on: fits that could differ never have the same."""
    iterative = settings.model != "1"
    usual = settings.max_iterations == USUAL_ITERATIONS and found.converged
    parts = {
        "model": settings.model,
        # "auto" tries another optimizer where Newton's method fails, in samples of intents too
        "method": f"{found.method} only" if settings.method == "newton" else found.method,
        "restricted": settings.restricted,
        "laplace_scale": None if settings.laplace_scale is None else name_of_number(settings.laplace_scale),
        **identify_design(design),
        "errors": uncertainty.kind,
        "max_iterations": settings.max_iterations if iterative and not usual else None,
        **identify_table(table),
        "cells": cells,
        "intents": len(table.intents),
        "editions": len(table.editions),
        "version": __version__,
    }
    return join_signature(parts)


def _replaced_percent(table: Surprisals) -> pd.Series | None:
    """Return the share of replaced characters of the editions of which it is known; None if of none."""
    if table.replaced is None or table.characters is None:
        return None
    known = table.bits_per_character()["replaced_percent"].dropna()
    return known if len(known) else None


def _covariance(found: Estimate, design: Design) -> Floats:
    """Return the covariance of the units' difficulties from the information, shape (U, U)."""
    first = design.first
    if found.covariance is None:
        return np.full((len(first), len(first)), np.nan)
    return normalized_covariance(found.covariance[np.ix_(first, first)], found.c[first])


def _terms(design: Design, found: Estimate) -> pd.DataFrame | None:
    """Return the coefficients of a formula and their standard errors from the information."""
    if design.terms is None or found.covariance is None:
        return None
    columns = np.column_stack([np.ones(len(design.terms)), design.terms])
    solve = np.linalg.pinv(columns)[1:]
    return pd.DataFrame(
        {
            "estimate": solve @ found.c,
            "std_error": np.sqrt(np.diag(solve @ found.covariance @ solve.T)),
        },
        index=design.terms.columns.rename("term"),
    )
