"""Estimation of difficulties: checks of the arguments, the fit, and its labelled results."""

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd

from langdiff.base.signature import full_signature
from langdiff.base.types import Floats, check_choice
from langdiff.errors import ConfigError, ConvergenceWarning, option, warn
from langdiff.regression.clustering import AnyClusters, name_of_clusters, strata_of
from langdiff.regression.design import Design, Groups, identify_design, make_design
from langdiff.regression.fitting.audit import (
    FARTHEST,
    conclude,
    doubt_units,
    find_order,
    find_units,
    missing_cells,
    residuals_of,
    test_noise,
    totals_of_two,
    unequal_noise,
    warn_of_missing,
)
from langdiff.regression.fitting.errors import Bootstrap, Errors, Jackknife, Sandwich, as_errors, find_errors
from langdiff.regression.fitting.fixed import Fitting, Fixed, Settings
from langdiff.regression.fitting.influence import kept_influences
from langdiff.regression.fitting.integrated import Dispersion, OwnDispersions, Random, RandomSizes, dispersion_groups
from langdiff.regression.fitting.sample import Sample, Uncertainty
from langdiff.regression.kernel.optimizers import USUAL_ITERATIONS, USUAL_OPTIMIZER, Optimizer
from langdiff.regression.records import Audit, ErrorsKind, IntentsCompared, NoiseTest
from langdiff.regression.result import DifficultyFit
from langdiff.regression.table import as_surprisals, hash_of_bits, identify_table, log_bits, with_edition_info
from langdiff.regression.variants import Model, find_variant, names_with, own_variant, require
from langdiff.regression.variants.variant import Variant
from langdiff.tables.long_tables import LongTable
from langdiff.tables.surprisals import Surprisals
from langdiff.tables.units import IndependentUnits

Intents = Literal["fixed", "random"]

log = logging.getLogger(__name__)


def fit(
    surprisals: Surprisals | Mapping[str, Surprisals] | LongTable | npt.NDArray[np.floating],
    *,
    model: Model | Variant = "2",
    restricted: bool | None = None,
    intents: Intents | Random = "fixed",
    dispersion: Dispersion = "auto",
    formula: str | None = None,
    groups: Groups | None = None,
    edition_info: pd.DataFrame | None = None,
    errors: ErrorsKind | Errors | None = None,
    clusters: AnyClusters | None = "auto",
    optimizer: Optimizer | Literal["auto"] = "auto",
    seed: int | np.random.Generator = 0,
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
        Bits of intent i (row) in edition j (column); NaN where missing. Or the tables of several language models by
        name, which are stacked (`langdiff.stack`): the fit then has `DifficultyFit.two_way`. Or a long table,
        one row per cell, with columns ``intent``, ``edition`` and ``bits``: a DataFrame, a mapping of lists, or a table
        of Polars or PyArrow. Of other names, units and log-probabilities see `Surprisals.from_long`.
    model : {"1", "2", "2L", "2L-rounded", "2C"} or Variant
        Regression model to fit, as defined above. 2L and 2C resist outliers, such as sloppy translations. Model 3 needs
        the scale of its noise: ``langdiff.regression.Blunders(scale=0.03)``. 2L-rounded is 2L without its kink.
    restricted : bool, optional
        Maximize the restricted likelihood, which makes up for the many intent sizes: without it the
        dispersion of models 2, 2L and 2C is too small, and if what is missing is missing mostly from
        the same editions, their difficulties are biased by a percent or so. By default in model 2 with fixed intents
        and a common dispersion if cells are missing. See the handbook, "The models". With random intents, in model 1,
        REML.
    intents : {"fixed", "random"} or Random
        Sizes of intents: a parameter each, which is valid if what is missing depends on the intents only; or drawn
        from one distribution, in models 1, 2 and 2L, which is valid if it depends on observed bits only. ``"random"``
        takes ln n to be normal; other distributions are ``Random(sizes="free")``, or ``Random(formula="book")``. See
        the handbook, "Standard errors and what they assume".
    dispersion : {"auto", "common", "edition", "system"}, column, mapping or Series
        Editions that share a dispersion, in models 1 and 2: all, none, those of one system of a stack, or those with
        the same value in a column of `edition_info`. Difficulties are then about expected bits; see
        `DifficultyFit.contrast`. ``"auto"`` is none if noise differs between editions by a score test (p < 0.01), and
        otherwise all; in a stack, one for each system if noise differs between systems, up to some hundred columns.
    formula : str, optional
        Difficulties as sums of terms, such as ``"language + lm"``, over the columns of `edition_info`
        (Wilkinson's notation). A formula is not Python; see the handbook, "The models", for what it may say.
    groups : str, mapping or Series, optional
        Editions of one group share a difficulty: a column of `edition_info`, or the group of each edition.
    edition_info : DataFrame, optional
        Properties of the editions, indexed by edition; needed for a formula and for groups given as a column, unless
        the table has `Surprisals.edition_info`.
    errors : {"information", "sandwich", "bootstrap", "jackknife"} or Errors, optional
        Source of standard errors. ``"information"`` takes the model to be right and intents to be independent; the
        ``"sandwich"`` takes clusters to be independent, as do the ``"bootstrap"`` and the ``"jackknife"``, which fit
        again. What qualifies them is written ``Sandwich(correction="CR3", strata="book")`` or ``Bootstrap(200)``, which
        otherwise takes 500 samples. By default the sandwich where there are clusters, in models 2L, 2C and 3 with fixed
        intents, and otherwise from 50 intents on (up to ten million cells; with random intents or dispersions of
        editions, from 50 cells of every edition on); the information below that, and where one intent alone decides how
        some editions compare, which gives those comparisons one degree of freedom.
    clusters : "auto", str, pair of str, mapping, Series, DifficultyFit or None
        Intents that share errors: a column of `Surprisals.intent_info`, such as ``"book"`` or ``"document"``, or the
        cluster of each intent. Two columns are clusters that cross. ``"auto"`` looks for them in the attributes book,
        document and chapter, in verse ids and in names such as ``doc3_s12``, and takes ten blocks of rows if neighbours
        are alike. A fit stands for the clusters of its audit, and None for independent intents.
    optimizer : Optimizer or "auto"
        Search for the estimates, where it is not the usual one: ``langdiff.regression.Optimizer(max_iterations=5000)``.
    seed : int or numpy.random.Generator
        Seed of the bootstrap, or of the groups of the jackknife.

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
        editions; if cells are extreme, or the rows of an edition seem to belong to other intents.

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
    settings = make_settings(
        model=model,
        restricted=restricted,
        intents=intents,
        dispersion=dispersion,
        errors=errors,
        clustered=None if isinstance(clusters, str) and clusters == "auto" else clusters is not None,
        optimizer=optimizer,
        seed=seed,
    )
    table = as_surprisals(surprisals)
    table, edition_info = with_edition_info(table, edition_info)
    design = make_design(table.editions, groups, formula, edition_info)
    z = log_bits(table, design)
    units = find_units(table, design, z, clusters)
    _check_errors(settings, units)
    fitting: Fitting
    if settings.own_dispersions:
        group = dispersion_groups(dispersion, table, edition_info)
        fitting = OwnDispersions(design, settings, table, group)
    elif settings.random is not None:
        fitting = RandomSizes(z, design, settings, table)
    else:
        usual = restricted is None and settings.variant.restricted_usually and bool(np.isnan(z).any())
        fitting = Fixed(z, design, settings._replace(restricted=usual or settings.restricted), table)
    _check_estimate(fitting)
    return _audited(fitting, units, automatic=isinstance(dispersion, str) and dispersion == "auto")


def _check_errors(settings: Settings, units: IndependentUnits) -> None:
    """Check the source of errors against units that were found by default."""
    errors = settings.errors
    if units.kind == "given" and len(units.columns) > 1 and isinstance(errors, Bootstrap | Jackknife):
        raise ConfigError(f"clusters of two kinds that cross need {option('errors', 'sandwich')}; give one kind.")
    if errors is not None and units.kind != "given":
        errors.check(settings, clustered=bool(units.columns) and errors.kind != "information")


def _audited(common: Fitting, units: IndependentUnits, *, automatic: bool) -> DifficultyFit:
    """Audit a fit, fit again with dispersions of editions if need be, and return the result."""
    residuals = residuals_of(common)
    units, order = find_order(residuals, common, units)
    units = doubt_units(residuals, common, units)
    labels, fitting = units.columns, common
    compared = common.compare(labels)
    if common.settings.own_dispersions:
        noise = NoiseTest(fitted="given")
    else:
        noise = test_noise(residuals, common, units)
        if noise.unequal:
            fitting, noise = unequal_noise(residuals, common, units, noise, automatic=automatic)
        elif len(common.table.editions) == 2 and common.estimate.converged and not noise.tested:
            noise = replace(noise, totals=totals_of_two(common, units))
    stratum = _stratum(fitting, units)
    sample = Sample(fitting, labels, stratum)
    uncertainty = find_errors(sample)
    missing = missing_cells(common, compared)
    if missing.differ:
        warn_of_missing(missing)
    audit = conclude(fitting, uncertainty, replace(units, strata=stratum), order, noise, missing)
    found = _label(fitting, uncertainty, audit, compared)
    influence = kept_influences(sample, uncertainty, units.source, hash_of_bits(found.signature))
    return replace(found, influence=influence, edition_info=fitting.table.edition_info)


def _stratum(fitting: Fitting, units: IndependentUnits) -> pd.Series | None:
    """Return the strata that errors take as they are: those asked for, or those found by default."""
    errors, table, kinked = fitting.settings.errors, fitting.table, fitting.settings.variant.kinked
    if errors is None:
        return None if kinked else units.strata
    if not isinstance(errors, Sandwich) or units.labels is None:
        return None
    if errors.strata is None:
        return units.strata
    return strata_of(table.intents, table.intent_info, units.labels, errors.strata)


def make_settings(
    *,
    model: Model | Variant = "2",
    restricted: bool | None = None,
    intents: object = "fixed",
    dispersion: Dispersion = "auto",
    errors: object = None,
    clustered: bool | None = None,
    optimizer: object = "auto",
    seed: int | np.random.Generator | None = None,
) -> Settings:
    """Return the settings of a fit after checking that they agree with one another."""
    settings = Settings(
        variant=find_variant(model),
        restricted=bool(restricted),
        optimizer=_as_optimizer(optimizer),
        random=_as_random(intents),
        own_dispersions=not (isinstance(dispersion, str) and dispersion in ("auto", "common")),
        errors=as_errors(errors),
        seed=seed,
    )
    _check_settings(settings)
    if isinstance(settings.errors, Sandwich) and settings.errors.strata is not None:
        settings.errors.check(settings, clustered=bool(clustered))
    if settings.errors is not None and clustered is not None:
        settings.errors.check(settings, clustered=clustered)
    return settings


def _as_optimizer(optimizer: object) -> Optimizer:
    if isinstance(optimizer, str) and optimizer == "auto":
        return USUAL_OPTIMIZER
    if optimizer is Optimizer:
        raise ConfigError("optimizer is the class Optimizer: write Optimizer().")
    if not isinstance(optimizer, Optimizer):
        raise ConfigError(f"{option('optimizer', optimizer)}: must be 'auto' or langdiff.regression.Optimizer(...).")
    return optimizer


def _as_random(intents: object) -> Random | None:
    """Return the distribution of random sizes; None if sizes are fixed."""
    if isinstance(intents, type) and issubclass(intents, Random):
        raise ConfigError("intents is the class Random: write Random().")
    if isinstance(intents, Random):
        return intents
    check_choice("intents", intents, get_args(Intents))
    return Random() if intents == "random" else None


def _check_settings(settings: Settings) -> None:
    variant, method, random = settings.variant, settings.optimizer.method, settings.random
    if method != "auto" and not variant.has_information and not (method == "lbfgs" and variant.kinked):
        raise ConfigError(
            f"{option('method', method)} is a choice for models {names_with('has_information')}; model "
            f"{variant.name!r} has one way: use {option('method', 'auto')}."
        )
    if random is not None:
        require(variant, "random_sizes", "intents='random'")
    if settings.own_dispersions and not variant.has_information:
        known = names_with("has_information")
        raise ConfigError(f"dispersions of editions are for models {known}, not {variant.name!r}.")
    if method != "auto" and (random is not None or settings.own_dispersions):
        raise ConfigError(
            f"random intents and dispersions of editions are fitted in one way: use {option('method', 'auto')}."
        )
    if settings.own_dispersions and random not in (None, Random()):
        raise ConfigError("with dispersions of their own, editions have normal sizes without a formula.")
    if settings.restricted and random is None:
        require(variant, "restrictable", "restricted=True")
    if settings.restricted and (settings.own_dispersions or (random is not None and not variant.common_variance)):
        raise ConfigError(
            f"{option('restricted', True)} makes up for one size fitted per intent; where sizes are integrated out "
            "there are none: leave it out."
        )


def _check_estimate(fitting: Fitting) -> None:
    """Check an estimate: log intents that were left out, and warn if it did not converge or is extreme."""
    found, single, settings = fitting.estimate, int((~fitting.used).sum()), fitting.settings
    gradient = "" if np.isnan(found.grad_norm) else f"; scaled gradient {found.grad_norm:.1e}"
    model, most = settings.variant.name, settings.optimizer.max_iterations
    if single:
        log.info("%d of %d intents have one cell only and say nothing of difficulties", single, len(fitting.used))
    if found.converged and not np.isfinite(fitting.parameters.dispersion):
        found = found._replace(converged=False, message="the dispersion is out of range")
    if not (np.abs(fitting.difficulties) <= FARTHEST).all():
        found = found._replace(converged=False, covariance=None)
        warn(
            f"model {model}: some difficulties are more than {FARTHEST:g} nats from the average, a "
            f"factor of {np.exp(FARTHEST):.0f}; they are not to be used, and have no standard errors. Most extreme is "
            f"{_most_extreme(fitting)}. Are all editions in one unit? Correct the bits, or leave them out.",
            ConvergenceWarning,
        )
        found = found._replace(message=f"difficulties beyond {FARTHEST:g} nats")
    elif not found.converged:
        warn(
            f"model {model} did not converge in {found.n_iterations} iterations: {found.message}{gradient}. Raise "
            f"{option('max_iterations')} (now {most}), look for extreme surprisals, or use {option('model', '1')} with "
            "fixed intents, which is solved exactly.",
            ConvergenceWarning,
        )
    fitting.estimate = found


def _most_extreme(fitting: Fitting) -> str:
    """Return a description of the most extreme edition and of its most extreme cell."""
    table, z, c = fitting.table, fitting.z, fitting.estimate.c
    edition = int(np.abs(c - np.median(c)).argmax())
    intent = int(np.nanargmax(np.abs(z[:, edition] - np.nanmedian(z, axis=1))))
    cell = f"({table.intents[intent]}, {table.editions[edition]}) = {table.bits.to_numpy()[intent, edition]:g}"
    return f"edition {table.editions[edition]!r}, for instance {cell} bits"


def _label(fitting: Fitting, uncertainty: Uncertainty, audit: Audit, compared: IntentsCompared | None) -> DifficultyFit:
    found, settings, table, units = fitting.estimate, fitting.settings, fitting.table, fitting.design.units
    parameters, observed = fitting.parameters, fitting.observed
    with np.errstate(over="ignore"):  # sizes of a fit that did not converge may be beyond any float
        sizes = np.exp(fitting.sizes())
    freedom = uncertainty.freedom
    return DifficultyFit(
        model=settings.variant.name,
        method=found.method,
        restricted=settings.restricted,
        laplace_scale=settings.variant.laplace_scale,
        lm=table.lm,
        difficulty=pd.Series(parameters.difficulty, index=units, name="difficulty"),
        covariance=_of_units(uncertainty.covariance, units),
        degrees_of_freedom=freedom if isinstance(freedom, float) else pd.DataFrame(freedom, units, units),
        errors=uncertainty.source,
        intents="fixed" if settings.random is None else "random",
        terms=_terms(fitting.design, found.c, uncertainty),
        intent_size=pd.Series(sizes, index=table.intents, name="intent_size"),
        dispersion=parameters.dispersion,
        log_likelihood=found.log_likelihood,
        log_likelihood_bits=found.log_likelihood - fitting.total,
        converged=found.converged and bool(np.isfinite(uncertainty.covariance).all()),
        n_iterations=found.n_iterations,
        n_evaluations=found.n_evaluations,
        kinks=found.kinks,
        grad_norm=found.grad_norm,
        message=found.message,
        cells=int(observed.sum()),
        free_difficulties=fitting.design.free,
        single_cell_intents=int((observed.sum(axis=1) == 1).sum()),
        signature=_signature(fitting, uncertainty, audit.clusters, int(observed.sum())),
        replaced_percent=_replaced_percent(table),
        reference=None if uncertainty.reference is None else _of_units(uncertainty.reference, units),
        columns=table.columns if len(units) == len(table.editions) else None,
        compared=compared,
        audit=audit,
        own_variant=own_variant(settings.variant),
        **fitting.records(audit.clusters.columns, uncertainty),
    )


def _of_units(matrix: Floats, units: pd.Index) -> pd.DataFrame:
    """Return a matrix of units × units as a frame; an empty one if it is not computed."""
    names = units if len(matrix) else units[:0]
    return pd.DataFrame(matrix, index=names, columns=names)


def _signature(fitting: Fitting, uncertainty: Uncertainty, clusters: IndependentUnits, cells: int) -> str:
    """Return the signature of a fit, which differs between fits whose numbers could differ."""
    settings, found, table = fitting.settings, fitting.estimate, fitting.table
    iterative = found.method != "exact"
    usual = settings.optimizer.max_iterations == USUAL_ITERATIONS and found.converged
    parts = {
        "model": settings.variant.name,
        # "auto" tries another optimizer where Newton's method fails, in samples of intents too
        "method": f"{found.method} only" if settings.optimizer.method == "newton" else found.method,
        "restricted": settings.restricted,
        **settings.variant.signature(),
        **fitting.signature(),
        **identify_design(fitting.design),
        "errors": uncertainty.source.signature,
        "clusters": "+".join(map(name_of_clusters, clusters.columns)) or None,
        "strata": None if clusters.strata is None else name_of_clusters(clusters.strata),
        "max_iterations": settings.optimizer.max_iterations if iterative and not usual else None,
        **identify_table(table),
        "cells": cells,
        "intents": len(table.intents),
        "editions": len(table.editions),
    }
    return full_signature(parts)


def _replaced_percent(table: Surprisals) -> pd.Series | None:
    """Return the percentage of replaced characters in each edition where it is known; None if in none."""
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
