"""Outcomes with known abilities and difficulties."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit

from langdiff.base.seeds import generator
from langdiff.errors import ConfigError
from langdiff.tables.outcomes import Outcomes


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class OutcomeSimulation:
    """Outcomes and the truth behind them.

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
    seed: int | np.random.Generator,
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
        raise ConfigError("n_items and n_systems must be positive, and abilities and loadings one per system.")
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
    p = expit(ability - loading * difficulty[:, None] - noise)
    if correlation:
        total = 1 / correlation - 1
        p = rng.beta(np.maximum(p * total, 1e-12), np.maximum((1 - p) * total, 1e-12))
    systems = pd.Index([f"s{j + 1}" for j in range(n_systems)], name="system")
    successes = pd.DataFrame(rng.binomial(trials, p).astype(float), items.index, systems)
    successes = successes.mask(rng.random(successes.shape) < missing)
    counts = pd.DataFrame(float(trials), items.index, systems).where(successes.notna())
    return OutcomeSimulation(
        outcomes=Outcomes(successes=successes, trials=counts, items=items, name="simulation"),
        ability=pd.Series(ability, systems, name="ability"),
        difficulty=pd.Series(difficulty, items.index, name="difficulty"),
    )
