"""Which model of outcomes predicts: cross-validation over cells, items or clusters of items."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from langdiff.base.seeds import generator
from langdiff.base.types import Floats, Integers
from langdiff.errors import ConfigError, DataError
from langdiff.regression.outcomes.design import clusters_of
from langdiff.regression.outcomes.fitting import fit_outcomes
from langdiff.regression.outcomes.prediction import held_out_log_likelihood
from langdiff.regression.outcomes.result import OutcomeModel
from langdiff.tables.outcomes import Outcomes

Over = Literal["cells", "items", "clusters"]


def cross_validate_outcomes(
    outcomes: Outcomes,
    models: OutcomeModel | Sequence[OutcomeModel] = ("rasch",),
    *,
    over: Over = "items",
    k: int = 10,
    cluster: str | None = None,
    by: str | None = None,
    formula: str | None = None,
    interaction: str | None = None,
    seed: int | np.random.Generator,
) -> pd.DataFrame:
    """Score models by how well they predict outcomes that they were not fitted to.

    Parameters
    ----------
    outcomes : Outcomes
        Successes out of trials, items × systems.
    models : str or sequence of str
        Models to fit: ``"rasch"``, ``"beta-binomial"``, ``"slopes"``.
    over : {"cells", "items", "clusters"}
        What is held out together: cells, which are predicted given the others of their item; items, of which nothing
        else is known; or whole clusters of items.
    k : int
        Number of folds.
    cluster : str, optional
        Attribute of items that depend on one another, whose sums the standard errors are from; required if clusters
        are held out.
    by, formula, interaction : str, optional
        What difficulties depend on; see `fit_outcomes`.
    seed : int or numpy.random.Generator
        Seed of the folds.

    Returns
    -------
    DataFrame
        One row per model: ``score``, the mean log-probability of a trial (nats; higher is better), ``std_error`` over
        clusters (or items), ``difference`` to the first model and ``difference_std_error``; ``trials``.

    Raises
    ------
    ConfigError
        If an argument is unknown, a model is conditional (it predicts nothing), or there are more folds than units.
    DataError
        If a fold cannot be fitted, see `fit_outcomes`; or all items are in one cluster.

    Examples
    --------
    >>> import langdiff as ld
    >>> outcomes = ld.simulate_outcomes(200, 4, seed=1).outcomes
    >>> scores = ld.cross_validate_outcomes(outcomes, "rasch", over="cells", k=5, seed=1)
    >>> bool(scores.loc["rasch", "score"] > -0.6931)
    True
    """
    names = [models] if isinstance(models, str) else list(models)
    _check(names, over, k, cluster)
    rng = generator(seed, "folds")
    fold = _folds(outcomes, over, k, cluster, rng)
    codes = clusters_of(outcomes.items, cluster)[0]
    design: dict[str, Any] = {"by": by, "formula": formula, "interaction": interaction}
    values = {name: _score(outcomes, name, fold, k, over, design) for name in names}
    trials = outcomes.trials.sum(axis=1).to_numpy(dtype=float)
    first = values[names[0]]
    rows = []
    for name in names:
        score, std_error = _mean_per_trial(values[name], trials, codes)
        difference, of_difference = _mean_per_trial(values[name] - first, trials, codes)
        rows.append((name, score, std_error, difference, of_difference, int(trials.sum())))
    columns = ["model", "score", "std_error", "difference", "difference_std_error", "trials"]
    return pd.DataFrame(rows, columns=columns).set_index("model")


def _check(names: Sequence[str], over: str, k: int, cluster: str | None) -> None:
    unknown = [name for name in names if name not in ("rasch", "beta-binomial", "slopes")]
    if unknown or not names:
        raise ConfigError(f"models to cross-validate are 'rasch', 'beta-binomial' and 'slopes'; got {unknown!r}.")
    if over not in ("cells", "items", "clusters"):
        raise ConfigError(f"unknown over={over!r}; use 'cells', 'items' or 'clusters'.")
    if over == "clusters" and cluster is None:
        raise ConfigError("over='clusters' needs the attribute that clusters share: cluster='document'.")
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 2:
        raise ConfigError(f"k must be a whole number, at least 2, got {k!r}.")


def _folds(outcomes: Outcomes, over: str, k: int, cluster: str | None, rng: np.random.Generator) -> Integers:
    """Return the fold of every cell, shape (I, J); −1 where it is missing."""
    observed = outcomes.observed
    if over == "cells":
        count = int(observed.sum())
        fold = np.full(observed.shape, -1)
        fold[observed] = rng.permutation(np.arange(count) % k)
    else:
        codes = clusters_of(outcomes.items, cluster if over == "clusters" else None)[0]
        count = int(codes.max()) + 1
        fold = np.where(observed, rng.permutation(np.arange(count) % k)[codes][:, None], -1)
    if k > count:
        raise ConfigError(f"k={k} folds of {count} {over}: give no more folds than there are {over}.")
    return fold


def _score(
    outcomes: Outcomes, model: OutcomeModel, fold: Integers, k: int, over: str, design: dict[str, Any]
) -> Floats:
    """Return the log-probability of the held-out outcomes of every item, summed over the folds, shape (I,)."""
    total = np.zeros(len(fold))
    for f in range(k):
        held = fold == f
        rest = _masked(outcomes, (fold >= 0) & ~held)
        filled = rest.observed.any(axis=1)
        try:
            fit = fit_outcomes(
                rest.sel(items=outcomes.items.index[np.flatnonzero(filled)]),
                model=model,
                errors="information",
                **design,
            )
        except DataError as error:
            raise DataError(f"fold {f + 1} of {k} cannot be fitted: {error}") from error
        given = rest if over == "cells" else None
        total += held_out_log_likelihood(fit, _masked(outcomes, held), given).to_numpy()
    return total


def _masked(outcomes: Outcomes, kept: Any) -> Outcomes:
    return replace(outcomes, successes=outcomes.successes.where(kept), trials=outcomes.trials.where(kept))


def _mean_per_trial(values: Floats, trials: Floats, codes: Integers) -> tuple[float, float]:
    """Return the mean per trial and its standard error over clusters, a ratio of sums."""
    sums, counts = np.bincount(codes, values), np.bincount(codes, trials)
    mean = float(sums.sum() / counts.sum())
    clusters = len(sums)
    left = sums - mean * counts
    return mean, float(np.sqrt(clusters / (clusters - 1) * np.sum(left**2)) / counts.sum())
