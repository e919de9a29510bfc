"""Analyses of outcomes: whether models can be fitted, and cross-validation."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from langdiff.base.types import Floats, Integers, generator
from langdiff.errors import ConfigError, DataError, en, option
from langdiff.regression.outcomes import OutcomeModel, ScoreModel
from langdiff.regression.outcomes.design import check_estimates, design_items, rows_of, units_of
from langdiff.regression.outcomes.fitting import fit_outcomes
from langdiff.regression.outcomes.likelihoods import MODELS, Structure
from langdiff.regression.outcomes.prediction import held_out_log_likelihood
from langdiff.tables.effects import Effects
from langdiff.tables.influences import sums
from langdiff.tables.outcomes import Outcomes
from langdiff.tables.rule import Scale

Over = Literal["cells", "items", "clusters"]


def check_outcomes(
    outcomes: Outcomes,
    *,
    by: str | None = None,
    formula: str | None = None,
    interaction: str | None = None,
    clusters: str | None = None,
) -> pd.DataFrame:
    """Check that marginal and conditional estimates of a table of outcomes are finite, without fitting a model.

    Parameters
    ----------
    outcomes : Outcomes
        Successes out of trials, items × systems.
    by : str, optional
        Attribute of items: each of its values has a difficulty.
    formula : str, optional
        Terms over attributes of items, such as ``"construction + log(length)"``. Attributes of systems belong into
        `explain`.
    interaction : str, optional
        Attribute of items in whose groups each system has a level of its own; their deviations from ability and
        difficulty are the profile, which is tested.
    clusters : str, optional
        Attribute of items that depend on one another, such as ``"document"``.

    Returns
    -------
    DataFrame
        Rows ``marginal`` and ``conditional``, kinds of likelihood; of scores the models ``normal``,
        ``ordinal`` and ``poisson``. ``finite``: whether models of this kind can be fitted. ``message``: what
        `fit_outcomes` would say, an error or warnings; empty if nothing.

    Raises
    ------
    ConfigError
        If items have no such attribute, or arguments contradict one another.
    DataError
        If an item has no value of an attribute, or all have the same group or cluster.

    Examples
    --------
    >>> import langdiff as ld
    >>> ld.check_outcomes(ld.simulate_outcomes(100, 4, seed=1).outcomes)["finite"].to_dict()
    {'marginal': True, 'conditional': True}
    >>> ones = ld.simulate_outcomes(100, 2, abilities=[0, 50], seed=1).outcomes
    >>> ld.check_outcomes(ones).loc["marginal", "message"]
    "1 estimate(s) would be infinite: system 's2' has all 100 right. Leave it out, or pool it with another."
    """
    design = design_items(outcomes.items, by, formula, interaction)
    units_of(outcomes.items, clusters)  # its errors
    found: dict[str, tuple[bool, str]] = {}
    kinds = {"marginal": Structure(), "conditional": Structure(levels="conditional")}
    if outcomes.scores is not None:
        kinds = {name: MODELS[name] for name in get_args(ScoreModel)}
    for name, structure in kinds.items():
        with warnings.catch_warnings(record=True) as cautions:
            warnings.simplefilter("always")
            try:
                rows = rows_of(outcomes, design, structure)
                check_estimates(outcomes, design, rows, structure, allow_unlinked=False)
                found[name] = True, "; ".join(str(caution.message) for caution in cautions)
            except DataError as error:
                found[name] = False, str(error)
    return pd.DataFrame.from_dict(found, orient="index", columns=["finite", "message"])


def cross_validate_outcomes(
    outcomes: Outcomes,
    models: OutcomeModel | Sequence[OutcomeModel] = ("rasch",),
    *,
    over: Over = "items",
    n_folds: int = 10,
    clusters: str | None = None,
    by: str | None = None,
    formula: str | None = None,
    interaction: str | None = None,
    seed: int | np.random.Generator = 0,
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
    n_folds : int
        Number of folds.
    clusters : str, optional
        Attribute of items that depend on one another, whose sums the standard errors are from; required if clusters
        are held out.
    by, formula, interaction : str, optional
        What difficulties depend on; see `fit_outcomes`.
    seed : int or numpy.random.Generator
        Seed of the folds.

    Returns
    -------
    DataFrame
        One row per model: ``score``, the mean log-probability of a trial (nats; higher is better), with its
        ``std_error`` over clusters (or items), ``low`` and ``high`` (95 %); ``difference`` to the first model and
        ``difference_std_error``; ``trials``.

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
    >>> scores = ld.cross_validate_outcomes(outcomes, "rasch", over="cells", n_folds=5, seed=1)
    >>> bool(scores.loc["rasch", "score"] > -0.6931)
    True
    """
    if outcomes.scores is not None:
        raise ConfigError("models of scores are not cross-validated: this is for successes out of trials.")
    names = [models] if isinstance(models, str) else list(models)
    _check(names, over, n_folds, clusters)
    rng = generator(seed, "folds")
    fold = _folds(outcomes, over, n_folds, clusters, rng)
    units = units_of(outcomes.items, clusters)
    design: dict[str, Any] = {"by": by, "formula": formula, "interaction": interaction}
    values = np.column_stack([_score(outcomes, name, fold, n_folds, over, design) for name in names])
    trials = outcomes.trials.sum(axis=1).to_numpy(dtype=float)
    both = (values, np.repeat(trials[:, None], len(names), axis=1))
    top, bottom = (pd.DataFrame(sums(part, units.code, len(units.units.names)), columns=names) for part in both)
    each = Effects.of_ratios(top, bottom, units.units, Scale(quantity="score"))
    first = each.linear(np.eye(len(names)) - np.eye(len(names))[0], each.estimate.index, each.scale)
    frame: pd.DataFrame = each._marginal().loc[list(map(str, names))].rename_axis("model")
    frame = frame[["score", "std_error", "low", "high"]]
    frame["difference"], frame["difference_std_error"] = first.estimate, first.std_error
    return frame.assign(trials=int(trials.sum()))


def _check(names: Sequence[str], over: str, n_folds: int, clusters: str | None) -> None:
    offered = [name for name, structure in MODELS.items() if not structure.conditional]
    unknown = [name for name in names if name not in offered]
    if unknown or not names:
        raise ConfigError(f"models to cross-validate are {en(map(repr, offered))}; got {unknown!r}.")
    if over not in ("cells", "items", "clusters"):
        raise ConfigError(f"unknown {option('over', over)}; use 'cells', 'items' or 'clusters'.")
    if over == "clusters" and clusters is None:
        raise ConfigError(
            f"{option('over', 'clusters')} needs the attribute that clusters share: {option('clusters', 'document')}."
        )
    if isinstance(n_folds, bool) or not isinstance(n_folds, int | np.integer) or n_folds < 2:
        raise ConfigError(f"{option('n_folds')} must be a whole number, at least 2, got {n_folds!r}.")


def _folds(outcomes: Outcomes, over: str, n_folds: int, clusters: str | None, rng: np.random.Generator) -> Integers:
    """Return the fold of every cell, shape (I, J); −1 where it is missing."""
    observed = outcomes.observed
    if over == "cells":
        count = int(observed.sum())
        fold = np.full(observed.shape, -1)
        fold[observed] = rng.permutation(np.arange(count) % n_folds)
    else:
        codes = units_of(outcomes.items, clusters if over == "clusters" else None).code
        count = int(codes.max()) + 1
        fold = np.where(observed, rng.permutation(np.arange(count) % n_folds)[codes][:, None], -1)
    if n_folds > count:
        raise ConfigError(
            f"{option('n_folds', n_folds)} folds of {count} {over}: give no more folds than there are {over}."
        )
    return fold


def _score(
    outcomes: Outcomes, model: OutcomeModel, fold: Integers, n_folds: int, over: str, design: dict[str, Any]
) -> Floats:
    """Return the log-probability of the held-out outcomes of every item, summed over the folds, shape (I,)."""
    total = np.zeros(len(fold))
    for f in range(n_folds):
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
            raise DataError(f"fold {f + 1} of {n_folds} cannot be fitted: {error}") from error
        given = rest if over == "cells" else None
        total += held_out_log_likelihood(fit, _masked(outcomes, held), given).to_numpy()
    return total


def _masked(outcomes: Outcomes, kept: Any) -> Outcomes:
    return replace(outcomes, successes=outcomes.values.where(kept), trials=outcomes.trials.where(kept))
