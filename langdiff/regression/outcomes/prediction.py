"""Predictions of fits (of cells given their rows, of new outcomes, over all items), and simulated outcomes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.special import logsumexp

from langdiff.base.seeds import generator
from langdiff.base.types import Floats
from langdiff.errors import ConfigError, DataError, listing, option, words
from langdiff.regression.outcomes.design import constants_of, rows_of
from langdiff.regression.outcomes.evaluation import Point, cells_at, evaluate, parts, place_nodes, row_levels
from langdiff.regression.outcomes.inference import DIFFICULTY, part_of
from langdiff.regression.outcomes.integrals import Rows, patterns, shared_posterior
from langdiff.regression.outcomes.likelihoods import BetaBinomial, Structure
from langdiff.tables.outcomes import Outcomes

if TYPE_CHECKING:
    from langdiff.regression.outcomes.result import OutcomeFit

NODES, ITEM_NODES, RATE_NODES = 30, 15, 60
AT_ONCE = 100_000  # numbers of an array


def _check(fit: "OutcomeFit", outcomes: Outcomes) -> Outcomes:
    """Return outcomes with the systems in the order of the fit."""
    if fit.structure.conditional:
        raise ConfigError(
            "the conditional model knows no distribution of items, and predicts nothing; fit "
            f"{option('model', 'rasch')} for that."
        )
    if not isinstance(outcomes, Outcomes):
        raise ConfigError(f"outcomes must be an Outcomes table, not {type(outcomes).__name__}.")
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
    if structure.totals_suffice:  # it depends on the total only
        merged, place = patterns(rows)
        found = _difficulties(merged, point, structure)
        return found[0][place], found[1][place]
    return _difficulties(rows, point, structure)


def _difficulties(rows: Rows, point: Point, structure: Structure) -> tuple[Floats, Floats]:
    mean, deviation = np.empty(len(rows.s)), np.empty(len(rows.s))
    for part, shared in parts(rows, point, structure, ITEM_NODES):
        some = rows.take(part)
        if shared is None:
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
    rows = rows_of(outcomes, fit.design(outcomes.items), fit.structure)
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
    new = rows_of(held_out, fit.design(held_out.items), structure)
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
    old = rows_of(given, fit.design(given.items), structure)
    both = replace(old, s=new.s + old.s, t=new.t + old.t)
    if structure.likelihood.trials_depend and ((new.t > 0) & (old.t > 0)).any():
        raise DataError(f"trials of a cell are dependent: {option('held_out')} and given must have no cell in common.")
    values = (
        evaluate(both, fit.point, structure, nodes=NODES).row_log_likelihoods
        - evaluate(old, fit.point, structure, nodes=NODES).row_log_likelihoods
    )
    return pd.Series(values + coefficients, index, name="log_likelihood")


def expected_rates(fit: "OutcomeFit") -> pd.DataFrame:
    """Return success rates over all items of each group; see `OutcomeFit.expected_rates`."""
    if fit.structure.conditional:
        raise ConfigError(
            f"the conditional model knows no distribution of items; fit {option('model', 'rasch')} for that."
        )
    design = fit.design(fit.items)
    nothing = np.zeros((len(fit.items), len(fit.systems)))
    constant = constants_of(fit.items, len(fit.systems), fit.structure)
    rows = Rows(s=nothing, t=nothing, x=design.x, block=design.block, weight=np.ones(len(nothing)), constant=constant)
    merged, place = patterns(rows)  # without a formula, as many as there are groups
    level = row_levels(merged, fit.point)
    loading = fit.point.spread * np.exp(fit.point.log_loading)
    nodes, weights = np.polynomial.hermite_e.hermegauss(RATE_NODES)
    mean = fit.structure.likelihood.mean
    shares = weights / weights.sum()
    found = sum(w * mean(level - loading * v, merged.constant) for v, w in zip(nodes, shares, strict=True))
    rates = pd.DataFrame(np.asarray(found)[place], columns=fit.systems.index)
    groups = part_of(fit.parameters, DIFFICULTY).index
    group = np.zeros(len(rates), dtype=int) if design.group is None else design.group
    return rates.groupby(group).mean().set_axis(groups.rename(fit.interaction or fit.by or "items"))


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
