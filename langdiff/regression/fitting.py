"""Fitting by name: the table, the model, and labels on what comes out."""

import logging
import warnings
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from langdiff import __version__
from langdiff.base.signature import join_signature, short_hash
from langdiff.base.types import Floats
from langdiff.errors import ConfigError, ConvergenceWarning
from langdiff.regression.clustering import (
    Clusters,
    OneClustering,
    name_of_clusters,
    resolve_clusters,
    strata_of,
)
from langdiff.regression.design import Design, Groups, make_design
from langdiff.regression.estimating import Fitted, fit_fixed, fit_random, fit_unequal, sizes_of_all
from langdiff.regression.further import compared_intents, dispersions_of, size_distribution
from langdiff.regression.identity import identify_design, identify_table
from langdiff.regression.kernel.estimate import USUAL_ITERATIONS, Method, Optimizer, published_parameters
from langdiff.regression.options import (
    USUAL_CORRECTION,
    Correction,
    Dispersion,
    Intents,
    Options,
    Settings,
    Sizes,
    check_options,
)
from langdiff.regression.records import ErrorsKind
from langdiff.regression.result import DifficultyFit
from langdiff.regression.table import as_surprisals, log_bits
from langdiff.regression.uncertainty import Uncertainty, find_errors
from langdiff.regression.variants import Model, find_variant
from langdiff.regression.variants.variant import Variant
from langdiff.tables.long_tables import LongTable
from langdiff.tables.surprisals import Surprisals

FARTHEST = 5.0  # nats from the average, a factor of 148, at which a difficulty is not one of a language

log = logging.getLogger(__name__)


def fit(
    surprisals: Surprisals | LongTable | npt.NDArray[np.floating],
    *,
    model: Model | Variant = "2",
    method: Method = "auto",
    groups: Groups | None = None,
    formula: str | None = None,
    edition_info: pd.DataFrame | None = None,
    intents: Intents = "fixed",
    sizes: Sizes = "normal",
    size_formula: str | None = None,
    dispersion: Dispersion = "common",
    errors: ErrorsKind | None = None,
    clusters: Clusters | None = None,
    strata: OneClustering | None = None,
    correction: Correction | None = None,
    restricted: bool = False,
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
        Bits of intent i (row) in edition j (column); NaN where missing. Or a long table, one row per cell, with columns
        ``intent``, ``edition`` and ``bits``: a DataFrame, a mapping of lists, or a table of Polars or PyArrow. Of
        other names, units and log-probabilities see `Surprisals.from_long`.
    model : {"1", "2", "2L", "2C"} or Variant
        Regression model to fit; they are defined above. 2L and 2C resist outliers, such as sloppy translations. Model 3
        needs the scale of its noise: ``langdiff.regression.Blunders(scale=0.03)``. The kink of 2L is rounded off, which
        gives it a sandwich; ``Laplace(rounding=0)`` fits the kink itself.
    method : {"auto", "newton", "lbfgs"}
        Optimizer of models 1 and 2: ``"auto"`` solves model 1 exactly and model 2 by Newton's method, with L-BFGS
        if that fails. 2L, 2C and 3 are fitted by L-BFGS.
    groups : str, mapping or Series, optional
        Editions of one group share a difficulty: a column of `edition_info`, or the group of each edition.
    formula : str, optional
        Difficulties as sums of terms, such as ``"language + lm"``, over the columns of `edition_info`
        (Wilkinson's notation). A formula is not Python; see the handbook, "The models", for what it may say.
    edition_info : DataFrame, optional
        Table of the editions, which are its index or first column; needed for a formula and for groups given as a
        column.
    intents : {"fixed", "random"}
        Sizes of intents: a parameter each, which is valid if what is missing depends on the intents only; or drawn
        from one distribution, in models 1, 2 and 2L, which is valid if it depends on observed bits only. See the
        handbook, "Standard errors and what they assume".
    sizes : {"normal", "free"}
        Distribution of ln n of random intents: normal, or any.
    size_formula : str, optional
        Mean of ln n of random intents, as a formula over `Surprisals.intent_info`, such as ``"book"``.
    dispersion : {"common", "edition"}, column, mapping or Series
        Editions that share a dispersion, in models 1 and 2: all, none, or those with the same value in a column of
        `edition_info`. Difficulties are then about expected bits; see `DifficultyFit.contrast`.
    errors : {"information", "sandwich", "bootstrap", "jackknife"}, optional
        Source of standard errors. ``"information"`` takes the model to be right and intents to be independent; the
        ``"sandwich"`` takes clusters to be independent, as do the ``"bootstrap"`` and the ``"jackknife"``, which fit
        again. By default the sandwich where there are clusters, in models 2L, 2C and 3 with fixed intents, and
        otherwise from 50 intents on (up to ten million cells; with random intents or dispersions of editions, from 50
        cells of every edition on); the information below that, and where one intent alone decides how some editions
        compare, which gives those comparisons one degree of freedom.
    clusters : str, pair of str, mapping or Series, optional
        Intents that share errors: a column of `Surprisals.intent_info`, such as ``"book"`` or ``"document"``, or the
        cluster of each intent. Two columns are clusters that cross.
    strata : str, mapping or Series, optional
        Groups of whole clusters that a claim is about as they are, such as ``"book"`` for clusters by ``"chapter"``:
        errors then say what other chapters of the same books would give, not what other books would.
    correction : {"CR2", "CR0", "CR1", "CR3"}, optional
        Small-sample correction of the sandwich; by default CR2.
    restricted : bool
        Maximize the restricted likelihood, which makes up for the many intent sizes: without it the
        dispersion of models 2, 2L and 2C is too small, and if what is missing is missing mostly from
        the same editions, their difficulties are biased by a percent or so. See the handbook, "The models". With
        random intents, in model 1, REML.
    bootstrap : int
        Number of samples of intents, or of clusters, that standard errors come from; a positive number asks for
        ``errors="bootstrap"``, which by itself takes 500.
    seed : int or numpy.random.Generator, optional
        Seed of the bootstrap, or of the groups of the jackknife; required if there is one.
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
        If the optimizer stopped before its criterion was met, or a difficulty is more than 5 nats from the average
        (a factor of 148), so that it has no standard errors.
    LangdiffWarning
        If errors come from few clusters or few intents, editions are copies of others, or single intents join
        editions.

    References
    ----------
    Mielke, Cotterell, Gorman, Roark and Eisner (2019), "What Kind of Language Is Hard to
    Language-Model?", section 3, equations 1, 2, 5 and 6, footnotes 14 and 23, appendix B. Cox and Reid
    (1987), "Parameter orthogonality and approximate conditional inference". Bell and McCaffrey (2002), "Bias
    reduction in standard errors for linear regression with multi-stage samples".

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

    Verses of a chapter may share errors:

    >>> chapter = pd.Series(np.arange(300) // 10, surprisals.intents, name="chapter")
    >>> ld.fit(surprisals, clusters=chapter).errors.words
    'a sandwich (CR2) over 30 clusters by chapter, design effect ...'
    """
    options = check_options(
        Options(
            settings=Settings(find_variant(model), restricted, Optimizer(method, max_iterations)),
            intents=intents,
            sizes=sizes,
            size_formula=size_formula,
            dispersion=dispersion,
            errors=errors,
            correction=correction or USUAL_CORRECTION,
            bootstrap=bootstrap,
            seed=seed,
        ),
        clustered=clusters is not None,
        stratified=strata is not None,
        corrected=correction is not None,
    )
    table = as_surprisals(surprisals)
    design = make_design(table.editions, groups, formula, edition_info)
    z = log_bits(table, design)
    found = resolve_clusters(table, clusters)
    labels = [] if found is None else [found] if isinstance(found, pd.Series) else [found[name] for name in found]
    labels = [column.rename("cluster") if column.name == "intent" else column for column in labels]
    if len(labels) > 1 and (bootstrap or errors in ("bootstrap", "jackknife")):
        raise ConfigError("clusters of two kinds that cross need errors='sandwich'; give one kind.")
    stratum = None
    if found is not None and strata is not None:
        stratum = strata_of(table.intents, table.intent_info, found, strata)
    if options.unequal:
        fitted = fit_unequal(z, design, options, table, edition_info)
    elif intents == "random":
        fitted = fit_random(z, design, options, table)
    else:
        fitted = fit_fixed(z, design, options, table)
    fitted = _checked(fitted, design, options, table, z)
    uncertainty = find_errors(z, table.intents, design, options, fitted, labels, stratum)
    return _label(z, fitted, options, design, table, uncertainty, labels, stratum, edition_info)


def _checked(fitted: Fitted, design: Design, options: Options, table: Surprisals, z: Floats) -> Fitted:
    """Tell of intents that were left out; warn of a search that did not converge, or went where no text is."""
    found, single, model = fitted.found, int((~fitted.used).sum()), options.settings.variant.name
    gradient = "" if np.isnan(found.grad_norm) else f"; scaled gradient {found.grad_norm:.1e}"
    if single:
        log.info("%d of %d intents have one cell only and say nothing of difficulties", single, len(fitted.used))
    if found.converged and not np.isfinite(published_parameters(found, design.first).dispersion):
        found = found._replace(converged=False, message="the dispersion is out of range")
    difficulty = published_parameters(found, design.first).difficulty
    if not (np.abs(difficulty) <= FARTHEST).all():
        found = found._replace(converged=False, covariance=None)
        warnings.warn(
            f"model {model}: some difficulties are more than {FARTHEST:g} nats from the average, a "
            f"factor of {np.exp(FARTHEST):.0f}; they are not to be used, and have no standard errors. Most extreme is "
            f"{_most_extreme(table, z, found.c)}. Are all editions in one unit? Correct the bits, or leave them out.",
            ConvergenceWarning,
            stacklevel=3,
        )
        found = found._replace(message=f"difficulties beyond {FARTHEST:g} nats")
    elif not found.converged:
        warnings.warn(
            f"model {model} did not converge in {found.n_iterations} iterations: {found.message}"
            f"{gradient}. Raise max_iterations (now {options.settings.optimizer.max_iterations}), "
            "look for extreme surprisals, or use model='1' with fixed intents, which is solved exactly.",
            ConvergenceWarning,
            stacklevel=3,
        )
    return replace(fitted, found=found)


def _most_extreme(table: Surprisals, z: Floats, c: Floats) -> str:
    """Name the edition farthest from the middle one, and its cell farthest from the middle of the intent."""
    edition = int(np.abs(c - np.median(c)).argmax())
    intent = int(np.nanargmax(np.abs(z[:, edition] - np.nanmedian(z, axis=1))))
    cell = f"({table.intents[intent]}, {table.editions[edition]}) = {table.bits.to_numpy()[intent, edition]:g}"
    return f"edition {table.editions[edition]!r}, for instance {cell} bits"


def _label(
    z: Floats,
    fitted: Fitted,
    options: Options,
    design: Design,
    table: Surprisals,
    uncertainty: Uncertainty,
    labels: list[pd.Series],
    stratum: pd.Series | None,
    edition_info: pd.DataFrame | None,
) -> DifficultyFit:
    found, settings, units = fitted.found, options.settings, design.units
    parameters = published_parameters(found, design.first)
    with np.errstate(over="ignore"):  # sizes of a fit that did not converge may be beyond any float
        sizes = np.exp(
            published_parameters(found._replace(sizes=sizes_of_all(z, fitted)), design.first).log_intent_size
        )
    cells, total = int((~np.isnan(z)).sum()), float(np.nansum(z[fitted.used]))
    freedom = uncertainty.freedom
    return DifficultyFit(
        model=settings.variant.name,
        method=found.method,
        restricted=settings.restricted,
        laplace_scale=settings.variant.laplace_scale,
        lm=table.lm,
        difficulty=pd.Series(parameters.difficulty, index=units, name="difficulty"),
        covariance=pd.DataFrame(uncertainty.covariance, index=units, columns=units),
        degrees_of_freedom=freedom if isinstance(freedom, float) else pd.DataFrame(freedom, units, units),
        errors=uncertainty.source,
        intents=options.intents,
        terms=_terms(design, found.c, uncertainty),
        intent_size=pd.Series(sizes, index=table.intents, name="intent_size"),
        dispersion=parameters.dispersion,
        log_likelihood=found.log_likelihood,
        log_likelihood_bits=found.log_likelihood - total,
        converged=found.converged and bool(np.isfinite(uncertainty.covariance).all()),
        n_iterations=found.n_iterations,
        n_evaluations=found.n_evaluations,
        grad_norm=found.grad_norm,
        message=found.message,
        cells=cells,
        free_difficulties=design.free,
        single_cell_intents=int((np.isfinite(z).sum(axis=1) == 1).sum()),
        signature=_signature(fitted, options, design, table, uncertainty, labels, stratum, cells),
        replaced_percent=_replaced_percent(table),
        sizes=size_distribution(fitted, options, parameters),
        dispersions=dispersions_of(fitted, options, table, edition_info, labels, uncertainty),
        compared=compared_intents(z, fitted, design, options, table, labels),
    )


def _signature(
    fitted: Fitted,
    options: Options,
    design: Design,
    table: Surprisals,
    uncertainty: Uncertainty,
    labels: list[pd.Series],
    stratum: pd.Series | None,
    cells: int,
) -> str:
    """Return all that the numbers depend on: fits that could differ never have the same."""
    settings, found = options.settings, fitted.found
    iterative = found.method != "exact"
    usual = settings.optimizer.max_iterations == USUAL_ITERATIONS and found.converged
    group = None if fitted.unequal is None else short_hash(fitted.unequal.group)
    parts = {
        "model": settings.variant.name,
        # "auto" tries another optimizer where Newton's method fails, in samples of intents too
        "method": f"{found.method} only" if settings.optimizer.method == "newton" else found.method,
        "restricted": settings.restricted,
        **settings.variant.signature(),
        "sizes": _name_of_sizes(options, table),
        "dispersion": None if group is None else f"#{group}",
        **identify_design(design),
        "errors": uncertainty.source.signature,
        "clusters": "+".join(map(name_of_clusters, labels)) or None,
        "strata": None if stratum is None else name_of_clusters(stratum),
        "max_iterations": settings.optimizer.max_iterations if iterative and not usual else None,
        **identify_table(table),
        "cells": cells,
        "intents": len(table.intents),
        "editions": len(table.editions),
        "version": __version__,
    }
    return join_signature(parts)


def _name_of_sizes(options: Options, table: Surprisals) -> str | None:
    """Return what a signature says of random intents; None if sizes are fixed."""
    if options.intents == "fixed":
        return None
    if options.size_formula is None:
        return options.sizes
    return f"{options.sizes},{options.size_formula}#{short_hash(table.intent_info)}"


def _replaced_percent(table: Surprisals) -> pd.Series | None:
    """Return the share of replaced characters of the editions of which it is known; None if of none."""
    if table.replaced is None or table.characters is None:
        return None
    known = table.bits_per_character()["replaced_percent"].dropna()
    return known if len(known) else None


def _terms(design: Design, c: Floats, uncertainty: Uncertainty) -> pd.DataFrame | None:
    """Return the coefficients of a formula and their standard errors."""
    if design.terms is None:
        return None
    columns = np.column_stack([np.ones(len(design.terms)), design.terms])
    solve = np.linalg.pinv(columns)[1:]
    covariance = uncertainty.covariance if uncertainty.of_c is None else uncertainty.of_c
    return pd.DataFrame(
        {"estimate": solve @ c, "std_error": np.sqrt(np.diag(solve @ covariance @ solve.T))},
        index=design.terms.columns.rename("term"),
    )
