"""Predictions of fits (of cells given their rows, of new outcomes, over all items), and simulated outcomes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.special import expit, logsumexp

from langdiff.base.types import Floats, generator
from langdiff.errors import ConfigError, DataError, listing, option, words
from langdiff.regression.outcomes import nested
from langdiff.regression.outcomes.design import rows_of
from langdiff.regression.outcomes.evaluation import (
    Point,
    cells_at,
    evaluate,
    make_nest,
    nests,
    parts,
    place_nodes,
    row_levels,
    totals_suffice,
)
from langdiff.regression.outcomes.integrals import Rows, patterns, shared_posterior
from langdiff.regression.outcomes.likelihoods import BetaBinomial, Structure
from langdiff.tables.crossing import make_columns
from langdiff.tables.outcomes import Outcomes

if TYPE_CHECKING:
    from langdiff.regression.outcomes.result import OutcomeFit

NODES, ITEM_NODES = 30, 15
AT_ONCE = 100_000  # numbers of an array


def _check(fit: "OutcomeFit", outcomes: Outcomes) -> Outcomes:
    """Return outcomes with the systems in the order of the fit."""
    if fit.structure.conditional:
        raise ConfigError(
            f"model {fit.model!r} knows no distribution of items, and predicts nothing; of successes fit "
            f"{option('model', 'rasch')} for that."
        )
    if not isinstance(outcomes, Outcomes):
        raise ConfigError(f"outcomes must be an Outcomes table, not {type(outcomes).__name__}.")
    if fit.guessing is not None:  # columns that were not fitted, since they are at chance
        others = fit.guessing.index.difference(fit.systems.index)
        outcomes = outcomes.sel(systems=outcomes.systems.index[~outcomes.systems.index.isin(others)])
    differ = fit.systems.index.symmetric_difference(outcomes.systems.index, sort=False)
    if len(differ):
        raise DataError(
            f"the fit and the outcomes have other systems: {listing(differ)}. Use "
            f"{words(python='sel(systems=...)', command='outcomes of the same systems')}."
        )
    return outcomes if outcomes.systems.index.equals(fit.systems.index) else outcomes.sel(systems=fit.systems.index)


def posterior(rows: Rows, point: Point, structure: Structure, nodes: int = NODES) -> tuple[Floats, Floats]:
    """Return nodes and probabilities of the difficulty v of each row given its outcomes, both of shape (n, Q)."""
    v, log_weight = place_nodes(rows, point, structure, nodes)
    log_f = cells_at(rows, point, structure, v).value + log_weight
    return v, np.exp(log_f - logsumexp(log_f, axis=1, keepdims=True))


def item_difficulties(rows: Rows, point: Point, structure: Structure) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of the difficulty of each item for the average system, log odds, (I,)."""
    if totals_suffice(rows, point, structure):  # it depends on the total only
        merged, place = patterns(rows)
        found = _difficulties(merged, point, structure)
        return found[0][place], found[1][place]
    return _difficulties(rows, point, structure)


def _difficulties(rows: Rows, point: Point, structure: Structure) -> tuple[Floats, Floats]:
    mean, deviation = np.empty(len(rows.s)), np.empty(len(rows.s))
    for part, shared in parts(rows, point, structure, ITEM_NODES):
        some = rows.take(part)
        if nests(rows, point, structure):
            nest = make_nest(some, point, structure, bare=True)
            v, share = nest.v, nest.share
        elif shared is None:
            v, share = posterior(some, point, structure, ITEM_NODES)
        else:
            level = row_levels(some.take(slice(1)), point)[0]
            v, share = shared.v, shared_posterior(some, level, point.spread, shared)[1]
        mean[part] = (share * v).sum(axis=1)
        deviation[part] = np.sqrt(np.maximum((share * v**2).sum(axis=1) - mean[part] ** 2, 0))
    level = row_levels(rows, point).mean(axis=1)
    return point.spread * mean - level, point.spread * deviation


def predict(fit: "OutcomeFit", outcomes: Outcomes) -> pd.DataFrame:
    """Predict every cell given the outcomes of its row; see `OutcomeFit.predict`."""
    outcomes = _check(fit, outcomes)
    rows = rows_of(outcomes, fit.design(outcomes.items), fit.structure, fit.chance_of(outcomes))
    if nests(rows, fit.point, fit.structure):
        rates = np.empty(rows.s.shape)
        for part, _ in parts(rows, fit.point, fit.structure, NODES):
            rates[part] = nested.rates(make_nest(rows.take(part), fit.point, fit.structure, bare=True))
        return pd.DataFrame(rates, index=outcomes.items.index, columns=outcomes.systems.index)
    loading = fit.point.spread * np.exp(fit.point.log_loading)
    found = np.empty(rows.s.shape)
    step = max(1, AT_ONCE // (NODES * rows.s.shape[1]))
    for start in range(0, len(found), step):
        some = rows.take(slice(start, start + step))
        v, share = posterior(some, fit.point, fit.structure)
        eta = row_levels(some, fit.point)[:, None, :] - v[:, :, None] * loading
        p = fit.structure.likelihood.mean(eta, None if some.constant is None else some.constant[:, None, :])
        found[start : start + step] = (share[:, None, :] @ p)[:, 0]
    return pd.DataFrame(found, index=outcomes.items.index, columns=outcomes.systems.index)


def held_out_log_likelihood(fit: "OutcomeFit", held_out: Outcomes, given: Outcomes | None) -> pd.Series:
    """Return the log-probability of new outcomes by item; see `OutcomeFit.held_out_log_likelihood`."""
    held_out = _check(fit, held_out)
    structure = fit.structure
    new = rows_of(held_out, fit.design(held_out.items), structure, fit.chance_of(held_out))
    coefficients = structure.likelihood.coefficients(new.s, new.t).sum(axis=1)
    index = held_out.items.index
    if given is None:
        values = evaluate(new, fit.point, structure, nodes=NODES).row_log_likelihoods
        return pd.Series(values + coefficients, index, name="log_likelihood")
    given = _check(fit, given)
    if not given.items.index.equals(index):
        raise DataError(
            f"{option('held_out')} and given must have the same items, in the same order; use sel(items=...)."
        )
    old = rows_of(given, fit.design(given.items), structure, fit.chance_of(given))
    both = replace(old, s=new.s + old.s, t=new.t + old.t)
    if structure.likelihood.trials_depend and ((new.t > 0) & (old.t > 0)).any():
        raise DataError(f"trials of a cell are dependent: {option('held_out')} and given must have no cell in common.")
    values = (
        evaluate(both, fit.point, structure, nodes=NODES).row_log_likelihoods
        - evaluate(old, fit.point, structure, nodes=NODES).row_log_likelihoods
    )
    return pd.Series(values + coefficients, index, name="log_likelihood")


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class OutcomeSimulation:
    """Simulated outcomes with their true parameters.

    Attributes
    ----------
    outcomes : Outcomes
        The table; items have the attribute ``group`` if there are groups, and ``document`` if there are documents.
    ability : Series, shape (J,)
        Abilities of the systems, log odds.
    difficulty : Series, shape (I,)
        Difficulties of the items, those of their groups and documents included, log odds.
    """

    outcomes: Outcomes
    ability: pd.Series
    difficulty: pd.Series

    def __repr__(self) -> str:
        """Return the size of the table."""
        return f"OutcomeSimulation: {self.outcomes!r}"


def simulate_outcomes(
    n_items: int,
    n_systems: int,
    *,
    abilities: Sequence[float] | None = None,
    groups: Mapping[str, float] | None = None,
    spread: float = 1.0,
    loadings: Sequence[float] | None = None,
    trials: int = 1,
    correlation: float = 0.0,
    documents: int = 0,
    document_spread: float = 0.0,
    document_noise: float = 0.0,
    missing: float = 0.0,
    seed: int | np.random.Generator = 0,
) -> OutcomeSimulation:
    """Draw outcomes of systems on items.

    Parameters
    ----------
    n_items, n_systems : int
        Numbers of items and systems; items are called i1, i2, …, systems s1, s2, ….
    abilities : sequence of float, optional
        Abilities of the systems, log odds; by default evenly spaced from −1 to 1.
    groups : mapping from str to float, optional
        Difficulty of each group of items, log odds; items are of the groups in turn.
    spread : float
        Standard deviation of difficulties within a group, log odds.
    loadings : sequence of float, optional
        How much each system suffers from hard items; by default 1.
    trials : int
        Number of trials of each cell.
    correlation : float
        Correlation of the trials of a cell, from 0 and below 1.
    documents : int
        Number of documents, which have equal numbers of items; 0 for none.
    document_spread, document_noise : float
        Standard deviations of what a document adds to the difficulty of its items, for all systems and for each.
    missing : float
        Share of cells that are missing at random.
    seed : int or numpy.random.Generator
        Seed of all draws.

    Returns
    -------
    OutcomeSimulation
        The table and the truth.

    Raises
    ------
    ConfigError
        If an argument is out of range, or sequences are not as long as there are systems.

    Examples
    --------
    >>> simulate_outcomes(20, 3, groups={"plain": 0.0, "nested": 1.0}, seed=1)
    OutcomeSimulation: Outcomes of simulation: 20 items × 3 systems, 60 trials, 0 of 60 cells missing
    """
    rng = generator(seed)
    ability = np.linspace(-1, 1, n_systems) if abilities is None else np.array(abilities, dtype=float)
    loading = np.ones(n_systems) if loadings is None else np.array(loadings, dtype=float)
    if n_items < 1 or n_systems < 1 or len(ability) != n_systems or len(loading) != n_systems:
        raise ConfigError(
            f"{option('n_items')} and n_systems must be positive, and abilities and loadings one per system."
        )
    if not (0 <= correlation < 1 and 0 <= missing < 1 and spread >= 0 and trials >= 1):
        raise ConfigError("correlation and missing must be from 0 and below 1, spread from 0, trials from 1.")
    items = pd.DataFrame(index=pd.Index([f"i{i + 1}" for i in range(n_items)], name="item"))
    difficulty = spread * rng.normal(size=n_items)
    noise = np.zeros((n_items, n_systems))
    if groups:
        names = list(groups)
        items["group"] = [names[i % len(names)] for i in range(n_items)]
        difficulty = difficulty + np.array([groups[name] for name in items["group"]])
    if documents:
        document = np.arange(n_items) * documents // n_items
        items["document"] = [f"d{d + 1}" for d in document]
        difficulty = difficulty + (document_spread * rng.normal(size=documents))[document]
        noise = (document_noise * rng.normal(size=(documents, n_systems)))[document]
    drawn = BetaBinomial().draw(rng, ability - loading * difficulty[:, None] - noise, trials, correlation)
    systems = pd.Index([f"s{j + 1}" for j in range(n_systems)], name="system")
    successes = pd.DataFrame(drawn, items.index, systems)
    successes = successes.mask(rng.random(successes.shape) < missing)
    counts = pd.DataFrame(float(trials), items.index, systems).where(successes.notna())
    return OutcomeSimulation(
        outcomes=Outcomes(successes=successes, trials=counts, items=items, name="simulation"),
        ability=pd.Series(ability, systems, name="ability"),
        difficulty=pd.Series(difficulty, items.index, name="difficulty"),
    )


def simulate_crossed_outcomes(
    n_items: int,
    languages: int | Mapping[str, float],
    systems: int | Mapping[str, float],
    *,
    spread: float = 1.5,
    translation_spread: float = 0.5,
    system_spread: float = 0.0,
    chance: float = 0.0,
    passages: int = 0,
    passage_spread: float = 0.0,
    missing: float = 0.0,
    seed: int | np.random.Generator = 0,
) -> OutcomeSimulation:
    """Draw right and wrong answers of systems to the same questions in several languages.

    Parameters
    ----------
    n_items : int
        Number of questions, which are called i1, i2, ….
    languages : int or mapping from str to float
        Difficulty of each language, log odds; a number for so many, l1, l2, …, evenly spaced from −.5 to .5.
    systems : int or mapping from str to float
        Ability of each system, log odds; a number for so many, s1, s2, …, evenly spaced from −1 to 1.
    spread, translation_spread, system_spread : float
        Standard deviations, in log odds, of questions, of their translations, and of what a system knows of a question
        in all languages.
    chance : float
        Probability that a guess is right.
    passages : int
        Number of passages, the attribute ``passage``, which have equal numbers of questions; 0 for none.
    passage_spread : float
        Standard deviation of what a passage adds to the difficulty of its questions.
    missing : float
        Share of cells that are missing at random.
    seed : int or numpy.random.Generator
        Seed of all draws.

    Returns
    -------
    OutcomeSimulation
        The table, with the attribute ``chance`` of items if it is not 0; `ability` is that of columns.

    Raises
    ------
    ConfigError
        If an argument is out of range.

    Examples
    --------
    >>> drawn = simulate_crossed_outcomes(50, {"eng": -0.5, "yor": 0.5}, 3, seed=1)
    >>> drawn
    OutcomeSimulation: Outcomes of simulation: 50 items × 2 languages × 3 systems, 300 trials, 0 of 300 cells missing
    >>> drawn.outcomes.columns["language"].unique().tolist()
    ['eng', 'yor']
    """
    rng = generator(seed)
    if isinstance(languages, int):
        languages = {f"l{i + 1}": float(d) for i, d in enumerate(np.linspace(-0.5, 0.5, languages))}
    if isinstance(systems, int):
        systems = {f"s{j + 1}": float(a) for j, a in enumerate(np.linspace(-1, 1, systems))}
    spreads = (spread, translation_spread, system_spread, passage_spread)
    if n_items < 1 or not languages or not systems or min(spreads) < 0 or not (0 <= chance < 1 and 0 <= missing < 1):
        raise ConfigError(
            f"{option('n_items')}, languages and systems must be at least 1, spreads from 0, chance and missing from 0 "
            "and below 1."
        )
    columns = make_columns((language, system) for language in languages for system in systems)
    language, system = (pd.factorize(columns[level])[0] for level in ("language", "system"))
    items = pd.DataFrame(index=pd.Index([f"i{i + 1}" for i in range(n_items)], name="item"))
    difficulty = spread * rng.normal(size=n_items)
    if passages:
        passage = np.arange(n_items) * passages // n_items
        items["passage"] = [f"p{p + 1}" for p in passage]
        difficulty = difficulty + (passage_spread * rng.normal(size=passages))[passage]
    if chance:
        items["chance"] = chance
    ability = np.array(list(systems.values()))[system] - np.array(list(languages.values()))[language]
    of_translation = translation_spread * rng.normal(size=(n_items, len(languages)))
    of_system = system_spread * rng.normal(size=(n_items, len(systems)))
    eta = ability - difficulty[:, None] - of_translation[:, language] - of_system[:, system]
    p = chance + (1 - chance) * expit(eta)
    successes = pd.DataFrame((rng.random(p.shape) < p).astype(float), items.index, columns.index)
    successes = successes.mask(rng.random(p.shape) < missing)
    return OutcomeSimulation(
        outcomes=Outcomes(successes=successes, items=items, columns=columns, name="simulation"),
        ability=pd.Series(ability, columns.index, name="ability"),
        difficulty=pd.Series(difficulty, items.index, name="difficulty"),
    )
