"""Fit models of outcomes: arguments are checked, parameters estimated, and estimates published."""

import warnings
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import pandas as pd

from langdiff.base.signature import full_signature, name_of_seed, short_hash
from langdiff.base.types import Floats, check_resamples, generator
from langdiff.errors import ConfigError, ConvergenceWarning, DataError, LangdiffWarning, listing, option, warn
from langdiff.regression.clustering import independent_units
from langdiff.regression.formulas import columns_named
from langdiff.regression.outcomes import OutcomeModel
from langdiff.regression.outcomes.chance import Chance, attribute_used
from langdiff.regression.outcomes.columns import (
    FEWEST_COLUMNS,
    Columns,
    bounds_of_levels,
    bounds_of_sums,
    prepare_columns,
    settle_columns,
)
from langdiff.regression.outcomes.design import ItemDesign, ItemUnits, check_estimates, design_items, rows_of, units_of
from langdiff.regression.outcomes.estimate import LARGEST_SPREAD, Estimate, estimate
from langdiff.regression.outcomes.evaluation import Point
from langdiff.regression.outcomes.inference import (
    DIFFICULTY,
    ITEMS,
    SPREAD,
    ErrorRecord,
    OutcomeErrors,
    Published,
    bootstrap_covariance,
    comparable,
    compare_likelihoods,
    influences,
    interaction_test,
    publish,
    score_tests,
    variance_test,
)
from langdiff.regression.outcomes.integrals import Rows
from langdiff.regression.outcomes.likelihoods import ORDINAL, Likelihood, Structure, find_model
from langdiff.regression.outcomes.prediction import item_difficulties
from langdiff.regression.outcomes.result import OutcomeFit
from langdiff.regression.outcomes.scores import ESTIMATORS
from langdiff.tables.crossing import LEVELS
from langdiff.tables.doubtful_cells import warn_of_copies, warn_of_strangers
from langdiff.tables.effects import Effects
from langdiff.tables.influences import Covariance, Influence
from langdiff.tables.outcomes import Outcomes
from langdiff.tables.rule import Scale

FEWEST_RATINGS, MOST_RATINGS = 3, 11  # whole values that may be ratings
LARGE_RATIO = 1.5  # of standard errors to those of the information
ESTIMATED = ("difficulty", "std_dev")  # columns of items in a result


class _Options(NamedTuple):
    model: str
    structure: Structure
    errors: OutcomeErrors
    clusters: str | pd.Series | None
    source: str
    n_resamples: int
    seed: int | np.random.Generator


def fit_outcomes(
    outcomes: Outcomes,
    *,
    model: Literal["auto", OutcomeModel] | Likelihood = "auto",
    by: str | None = None,
    formula: str | None = None,
    interaction: str | None = None,
    chance: Chance = "auto",
    additive: bool = False,
    clusters: str | pd.Series | None = "auto",
    errors: OutcomeErrors = "auto",
    n_resamples: int = 200,
    seed: int | np.random.Generator = 0,
    allow_unlinked: bool = False,
) -> OutcomeFit:
    r"""Estimate abilities of systems and difficulties of items, or of groups of items.

    The log odds that system j succeeds in a trial of item i are
    :math:`\eta_{ij} = \theta_j - x_i^\top\beta - \lambda_j \sigma v_i` with :math:`v_i \sim \mathcal{N}(0, 1)`: items
    are random draws of their group, systems are fixed. One parameter per item beside one per system cannot be
    estimated consistently (Neyman and Scott 1948), which is why items have no dummies here.

    Where outcomes have several languages (`Outcomes.columns`), a column is one system in one language, and an item the
    same question in all of them:
    :math:`\eta_{ilm} = -d_{lm} - x_i^\top\beta - \sigma v_i - \tau u_{il}` with levels d, the spread σ of questions and
    τ of their translations, which is estimated where two systems or more answer in a language. The levels are free, and
    `OutcomeFit.two_way` splits them into languages, systems and interaction. Estimates are those of the median
    translation of the median question: what a system knows in all languages and others do not is not a term of the
    model, so that effects are averages over it, smaller by about :math:`1/\sqrt{1 + 0.346\,\omega^2}` for its standard
    deviation ω; sandwich errors, the default with languages, bear it. Where answers may be guessed with a known chance
    c, :math:`p = c + (1 - c)\,\mathrm{logistic}(\eta)`.

    Parameters
    ----------
    outcomes : Outcomes
        Successes out of trials, or scores, items × systems, or items × columns of systems in languages.
    model : {"auto", "rasch", "beta-binomial", "slopes", "conditional", "normal", "ordinal", "poisson"} or Likelihood
        Model to fit. ``"rasch"``: λ = 1, binomial trials. ``"beta-binomial"``: trials of a cell are correlated; chosen
        by ``"auto"`` if a cell has several trials. ``"slopes"``: a loading λ for each system, which says whether it
        suffers more from hard items; their geometric mean is 1. ``"conditional"``: the likelihood given the total of
        each item, which assumes nothing of the items and knows nothing of their difficulties. Or an object of a class
        that inherits `langdiff.regression.outcomes.likelihoods.Likelihood`. Of scores ``"normal"``, chosen by
        ``"auto"``: levels and fixed effects of items by least squares, on the scale of the score. ``"ordinal"``:
        ratings of 2 to 11 whole values, by cumulative logits with common thresholds and normal items.
        ``"poisson"``: counts, given the totals of items; the trials of a cell are its exposure, and levels are
        logarithms of rates. These three have errors by clusters (or items), and no other options than `clusters`.
    by : str, optional
        Attribute of items: each of its values has a difficulty.
    formula : str, optional
        Terms over attributes of items, such as ``"construction + log(length)"``. Attributes of systems belong into
        `explain`.
    interaction : str, optional
        Attribute of items in whose groups each system has a level of its own; their deviations from ability and
        difficulty are the profile, which is tested.
    chance : "auto", None, float, str or mapping
        Probability that a guess is right: a number from 0 to below 1; the name of an attribute of items (or of
        columns) that holds it; or a number for each language, or each value of the attribute ``task`` of items.
        ``"auto"`` takes the attribute ``chance``, which `read_outcomes` writes, or one over the attribute ``choices``,
        and otherwise 0. Chance is known, never estimated.
    additive : bool
        Whether the level of a column is the sum of an effect of its language and one of its system.
    clusters : str or Series, optional
        Attribute of items that depend on one another, such as ``"document"``, or the cluster of each item; None for
        none. ``"auto"`` finds them by attributes such as ``passage``, ``Doc_ID`` or ``book``, or by names of items, as
        `langdiff.fit` does.
    errors : {"auto", "information", "sandwich", "bootstrap"}
        Source of standard errors: the information; scores of clusters or items (sandwich), chosen by ``"auto"`` if
        there are clusters, languages, or cells of several trials; or samples of whole clusters or items.
    n_resamples : int
        Number of samples of the bootstrap.
    seed : int or numpy.random.Generator, optional
        Seed of the bootstrap.
    allow_unlinked : bool
        Whether systems that share no item may be compared, on the assumption that their items are draws of one
        population.

    Returns
    -------
    OutcomeFit
        Abilities that average 0; difficulties for the average system.

    Raises
    ------
    DataError
        If an estimate would be infinite or is not identified, the message naming systems, groups or terms; or chance
        is missing, or not from 0 to below 1.
    ConfigError
        If an argument is unknown or contradicts another.
    SolverError
        If hardly any sample of the bootstrap can be fitted.

    Warns
    -----
    LangdiffWarning
        If estimates rest on the normal distribution of items, there are few units, sandwich errors are
        more than 1.5 times those of the information, columns are left out, or rates of columns cluster at a reciprocal
        such as 1/4 though no chance is known.
    ConvergenceWarning
        If the search did not converge.

    References
    ----------
    Rasch (1960); Bock and Aitkin (1981) on marginal, Andersen (1970) and Fischer (1981) on conditional maximum
    likelihood; Neyman and Scott (1948) on why not joint.

    Examples
    --------
    >>> import langdiff as ld
    >>> truth = ld.simulate_outcomes(400, 3, groups={"plain": 0.0, "nested": 1.0}, seed=2)
    >>> fit = ld.fit_outcomes(truth.outcomes, by="group")
    >>> fit.difficulties.to_frame()["rank"].to_dict()
    {'nested': 1, 'plain': 2}
    """
    labels: str | pd.Series | None = clusters
    source = "as given"
    if isinstance(outcomes, Outcomes) and isinstance(clusters, str) and clusters == "auto":
        there = independent_units(outcomes.items.index, outcomes.items)
        labels = there.labels if isinstance(there.labels, pd.Series) and errors != "information" else None
        source = there.source
    options = _check_options(outcomes, model, by, formula, labels, source, errors, n_resamples, seed)
    warn_of_copies(outcomes.values)
    if not options.structure.likelihood.of_scores:
        warn_of_strangers(outcomes.rates.to_numpy(), outcomes.rates.index, outcomes.rates.columns, guesses=True)
    if options.structure.likelihood.of_scores:
        refused: dict[str, object] = {
            "by": by,
            "formula": formula,
            "interaction": interaction,
            "additive": additive or None,
        }
        refused |= {"chance": None if chance == "auto" else chance, "allow_unlinked": allow_unlinked or None}
        return _fit_scores(outcomes, options, refused)
    found_columns = prepare_columns(
        outcomes, options.structure, chance, additive=additive, interacting=interaction is not None
    )
    if found_columns.low.any() and found_columns.structure.totals_suffice and interaction is None:
        found_columns = _settled(found_columns, by, formula, additive=additive, allow_unlinked=allow_unlinked)
    outcomes, structure = found_columns.outcomes, found_columns.structure
    options = options._replace(structure=structure)
    design = design_items(outcomes.items, by, formula, interaction)
    used = {"by": by, "formula": formula, "interaction": interaction}
    attributes = _attributes(outcomes, used, structure, chance)  # an error before anything is fitted
    rows = rows_of(outcomes, design, structure, found_columns.known.values)
    check_estimates(outcomes, design, rows, structure, allow_unlinked=allow_unlinked)
    found = estimate(rows, structure)
    _check_found(found, structure)
    units = units_of(outcomes.items, options.clusters, options.source)
    point = found.optimum.point
    published = publish(point, design, outcomes.systems.index, structure)
    sampling, record = _errors(rows, found, options, published, design, units)
    levels = _levels(published, sampling, rows.s.shape[1])
    guessing = bounds_of_levels(found_columns, rows, point, levels)
    bounds = bounds_of_sums(found_columns, rows, point, levels)
    if guessing is not None:
        guessing["interaction_low"] = np.nan if bounds is None else -bounds.cells.reindex(guessing.index)
    coefficients = float(structure.likelihood.coefficients(rows.s, rows.t).sum())
    log_likelihood = found.optimum.value.log_likelihood
    return OutcomeFit(
        model=options.model,
        name=outcomes.name,
        parameters=_parameters(published, sampling, structure),
        influence=sampling,
        errors=record,
        items=_items(outcomes.items[attributes], rows, found, structure),
        systems=outcomes.systems,
        **used,
        log_likelihood=log_likelihood + coefficients,
        variation=None if structure.conditional else variance_test(log_likelihood, found.without_spread),
        translations=variance_test(log_likelihood, found.without_translation) if structure.translated else None,
        overdispersion=variance_test(log_likelihood, found.without_parameter)
        if structure.likelihood.parameters
        else None,
        interacts=interaction_test(rows, found, design, structure, published, sampling) if design.interacting else None,
        compared=compare_likelihoods(rows, found, design, units, outcomes.systems.index)
        if comparable(rows, structure)
        else None,
        profiles=_profiles(found_columns, design, units),
        cells=int(outcomes.observed.sum()),
        trials=int(rows.t.sum()),
        converged=found.optimum.converged,
        n_iterations=found.optimum.n_iterations,
        step=found.optimum.step,
        point=point,
        settings=structure.likelihood.settings,
        signature=_signature(outcomes, options, record, units, used, allow_unlinked, found_columns.known.values),
        columns=outcomes.columns,
        additive=found_columns.additive,
        chance=chance if found_columns.known.values is not None else None,
        chance_words=found_columns.known.words,
        guessing=guessing,
        bounds=None if bounds is None else bounds.systems,
        outcomes=outcomes,
    )


def _fit_scores(outcomes: Outcomes, options: _Options, refused: dict[str, object]) -> OutcomeFit:
    """Fit a model of scores, ratings or counts."""
    structure = options.structure
    if options.errors != "sandwich":
        refused["errors"] = options.errors
    for name, value in refused.items():
        if value is not None:
            raise ConfigError(f"model {options.model!r} does not take {option(name)}: leave it out.")
    design = design_items(outcomes.items, None, None, None)
    check_estimates(outcomes, design, rows_of(outcomes, design, structure), structure, allow_unlinked=False)
    units = units_of(outcomes.items, options.clusters, options.source)
    found = ESTIMATORS[options.model](outcomes, units)
    estimate, sampling = found.published(units)
    sampling.warn_of_few()
    error = np.sqrt(np.diag(sampling.covariance))
    spread = estimate.get((SPREAD, ITEMS), 0.0)
    levels = found.estimate[None, : outcomes.values.shape[1]]
    return OutcomeFit(
        model=options.model,
        name=outcomes.name,
        parameters=pd.DataFrame({"estimate": estimate, "std_error": np.where(error > 0, error, np.nan)}),
        influence=sampling,
        errors=ErrorRecord(kind="sandwich", units=sampling.words, ratio=np.nan),
        items=outcomes.items[[]],
        systems=outcomes.systems,
        log_likelihood=found.log_likelihood,
        cells=int(outcomes.observed.sum()),
        trials=int(np.nansum(outcomes.trials)),
        converged=True,
        n_iterations=found.n_iterations,
        step=0.0,
        point=Point(level=levels, slope=np.zeros(0), spread=spread, log_loading=np.zeros(levels.shape[1])),
        settings=structure.likelihood.settings,
        signature=_signature(outcomes, options, ErrorRecord(kind="sandwich"), units, {}),
        columns=outcomes.columns,
        outcomes=outcomes,
    )


def _check_options(
    outcomes: Outcomes,
    model: str | Likelihood,
    by: str | None,
    formula: str | None,
    clusters: str | pd.Series | None,
    source: str,
    errors: OutcomeErrors,
    n_resamples: int,
    seed: int | np.random.Generator,
) -> _Options:
    if not isinstance(outcomes, Outcomes):
        raise ConfigError(f"outcomes must be an Outcomes table, not {type(outcomes).__name__}; see read_outcomes.")
    several = bool(np.nanmax(outcomes.trials.to_numpy(dtype=float), initial=1) > 1)
    name, structure = find_model(model, several=several, scores=outcomes.scores is not None)
    if model == "auto" and outcomes.scores is not None:
        _warn_of_ratings(outcomes.values)
    if errors not in get_args(OutcomeErrors):
        raise ConfigError(f"unknown errors {errors!r}; use one of {', '.join(get_args(OutcomeErrors))}.")
    if structure.conditional and not structure.likelihood.of_scores and (by is not None or formula is not None):
        raise ConfigError(
            "the conditional model takes no difficulties of items to explain: by and formula need "
            f"{option('model', 'rasch')}."
        )
    if structure.loadings == "free" and outcomes.values.shape[1] < 3:
        raise ConfigError("slopes need at least 3 systems: with two, items tell their order only.")
    if errors == "auto":
        robust = clusters is not None or several or outcomes.columns is not None or structure.likelihood.of_scores
        errors = "sandwich" if robust else "information"
    if errors == "information" and clusters is not None:
        raise ConfigError(
            f"{option('errors', 'information')} takes items to be independent; leave {option('clusters')} out, or use "
            f"{option('errors', 'sandwich')}."
        )
    if errors == "bootstrap":
        generator(seed, "samples of clusters")
        check_resamples("n_resamples", n_resamples)
    return _Options(name, structure, errors, clusters, source, n_resamples, seed)


def _warn_of_ratings(scores: pd.DataFrame) -> None:
    """Warn of scores that look like ratings."""
    values = np.unique(scores.to_numpy(dtype=float))
    values = values[~np.isnan(values)]
    if FEWEST_RATINGS <= len(values) <= MOST_RATINGS and (values % 1 == 0).all():
        warn(
            f"Scores are whole values from {values[0]:g} to {values[-1]:g}. If they are ratings, whose steps need not "
            f"be equal, use {option('model', ORDINAL)}; here they are taken as numbers."
        )


def _check_found(found: Estimate, structure: Structure) -> None:
    point = found.optimum.point
    if point.spread > LARGEST_SPREAD:
        raise DataError(
            f"the difficulties of items spread without bound (sigma {point.spread:.1f} log odds): systems agree on "
            "nearly all items. More items, or systems that fail on different items, are needed."
        )
    if structure.loadings == "free" and point.spread == 0:
        raise DataError(
            "no variation between items beyond chance, so that it cannot be told who suffers more from hard items; "
            f"use {option('model', 'rasch')}."
        )
    if not found.optimum.converged:
        warn(
            f"the search did not converge in {found.optimum.n_iterations} iterations (last step "
            f"{found.optimum.step:.1e} standard errors); a term may separate right from wrong, or too few outcomes may "
            "bear on it.",
            ConvergenceWarning,
        )


def _errors(
    rows: Rows, found: Estimate, options: _Options, published: Published, design: ItemDesign, units: ItemUnits
) -> tuple[Influence | Covariance, ErrorRecord]:
    """Return where the errors of published parameters come from."""
    information = found.optimum.covariance
    plain = published.slopes @ information @ published.slopes.T
    if options.errors == "information" or not np.isfinite(information).all():
        return Covariance(plain), ErrorRecord()
    by_units = influences(rows, found, options.structure, published, design, units)
    sampling: Influence | Covariance = by_units
    samples, seed = 0, ""
    if options.errors == "bootstrap":
        rng = generator(options.seed, "samples of clusters")
        seed = name_of_seed(options.seed, rng)
        covariance, samples = bootstrap_covariance(
            rows, found, units, options.structure, n_resamples=options.n_resamples, seed=rng
        )
        sampling = Covariance(published.slopes @ covariance @ published.slopes.T, by_units.freedom_of_pairs)
    by_units.warn_of_few()
    variance = np.diag(sampling.covariance if isinstance(sampling, Influence) else sampling.matrix)
    systems = rows.s.shape[1]
    ratio = float(np.median(np.sqrt(variance[:systems] / np.diag(plain)[:systems])))
    if ratio > LARGE_RATIO:
        warn(
            f"standard errors of abilities are {ratio:.2f} times those of the information: outcomes depend on one "
            "another more than the model says."
        )
    return sampling, ErrorRecord(kind=options.errors, units=by_units.words, n_resamples=samples, seed=seed, ratio=ratio)


def _settled(first: Columns, by: str | None, formula: str | None, *, additive: bool, allow_unlinked: bool) -> Columns:
    """Return the columns that are fitted, by a fit of free levels without columns that may be guesses."""
    design = design_items(first.outcomes.items, by, formula, None)
    rows = rows_of(first.outcomes, design, first.structure, first.known.values)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LangdiffWarning)  # said of the fit that follows
        check_estimates(first.outcomes, design, rows, first.structure, allow_unlinked=allow_unlinked)
    return settle_columns(first, rows, estimate(rows, first.structure).optimum.point, additive=additive)


def _profiles(found: Columns, design: ItemDesign, units: ItemUnits) -> pd.DataFrame | None:
    """Return the score tests of languages and systems, where chance is known and there are several of both."""
    columns, structure = found.outcomes.columns, found.structure
    if found.known.values is None or columns is None or design.interacting or not structure.totals_suffice:
        return None
    if any(columns[level].nunique() < FEWEST_COLUMNS for level in LEVELS) or found.whole.columns is None:
        return None
    measured = [found.whole.columns[level].isin(columns[level]) for level in LEVELS]
    table = found.without(~(measured[0] & measured[1]).to_numpy(), additive=True)
    rows = rows_of(table.outcomes, design, table.structure, table.known.values)
    return score_tests(rows, table.structure, found.whole.columns.loc[table.outcomes.systems.index], units)


def _levels(published: Published, sampling: Influence | Covariance, systems: int) -> Effects:
    """Return the levels of columns, shape (J,): abilities less the difficulty of items, of the first group."""
    jacobian = np.zeros((systems, len(published.estimate)))
    jacobian[np.arange(systems), np.arange(systems)] = 1.0
    jacobian[:, np.flatnonzero(published.names.get_level_values(0) == DIFFICULTY)[:1]] = -1.0
    names = published.names.get_level_values(1)[:systems]
    estimate = pd.Series(published.estimate, published.names)
    return Effects(estimate=estimate, influence=sampling, converged=False).linear(jacobian, names, Scale())


def _parameters(published: Published, sampling: Influence | Covariance, structure: Structure) -> pd.DataFrame:
    """Return estimates and standard errors; a variance that is estimated as 0 has no normal error."""
    variance = np.diag(sampling.covariance if isinstance(sampling, Influence) else sampling.matrix)
    bounded = [SPREAD, *(parameter.name for parameter in structure.likelihood.parameters)]
    boundary = (variance == 0) & published.names.get_level_values(0).isin(bounded)
    error = np.where(boundary, np.nan, np.sqrt(np.maximum(variance, 0)))
    return pd.DataFrame({"estimate": published.estimate, "std_error": error}, index=published.names)


def _items(attributes: pd.DataFrame, rows: Rows, found: Estimate, structure: Structure) -> pd.DataFrame:
    """Return difficulties of items, and the attributes from which the design can be rebuilt."""
    if structure.conditional:
        return attributes
    mean, deviation = item_difficulties(rows, found.optimum.point, structure)
    columns = pd.DataFrame({"difficulty": mean, "std_dev": deviation}, index=attributes.index)
    return columns.join(attributes)


def _attributes(outcomes: Outcomes, used: dict[str, Any], structure: Structure, chance: Chance) -> list[str]:
    """Return the attributes of items that a design and a likelihood need."""
    wanted = {used["interaction"], used["by"], structure.likelihood.constant, *attribute_used(outcomes.items, chance)}
    if used["formula"] is not None:
        wanted |= set(columns_named(used["formula"], outcomes.items.columns))
    names = [str(name) for name in outcomes.items if name in wanted]
    taken = [name for name in names if name in ESTIMATED]
    if taken:
        raise ConfigError(f"an attribute called {listing(taken)} would hide what is estimated of items; rename it.")
    return names


def _signature(
    outcomes: Outcomes,
    options: _Options,
    record: ErrorRecord,
    units: ItemUnits,
    used: dict[str, Any],
    allow_unlinked: bool = False,
    chance: Floats | None = None,
) -> str:
    by, formula, interaction = (used.get(name) for name in ("by", "formula", "interaction"))
    grouping = interaction or by
    constant = options.structure.likelihood.constant
    named = options.clusters if isinstance(options.clusters, str) else None
    attributes = [name for name in (grouping, named, constant) if name is not None]
    found = [] if named or options.clusters is None else [units.code]
    kind = "robust" if record.kind == "sandwich" else record.kind  # the word of signatures since 0.1.0
    errors = kind if units.name == "item" else f"{kind}({units.name})"
    parts: dict[str, object] = {
        "model": f"{options.model}{str(options.structure.likelihood).removeprefix(options.structure.likelihood.name)}",
        "by": by,
        "formula": None if formula is None else f"#{short_hash(formula, outcomes.items)}",
        "interaction": interaction,
        "chance": None if chance is None else short_hash(pd.DataFrame(chance)),
        "additive": bool(options.structure.additive) or None,
        "errors": errors,
        "resamples": record.n_resamples or None,
        "seed": record.seed or None,
        "unlinked": allow_unlinked,
        "outcomes": short_hash(outcomes.values, outcomes.trials, outcomes.items[attributes], *found),
    }
    return full_signature(parts)
