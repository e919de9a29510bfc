"""Conversion of named editions to a problem on arrays, and the reasons why requirements cannot be met."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from langdiff.base.types import Booleans
from langdiff.errors import ConfigError, DataError, InfeasibleError, SolverError, listing, option
from langdiff.selection.search.exact import Search
from langdiff.selection.search.problem import Problem, collapse
from langdiff.selection.search.solver import configured
from langdiff.tables.multitext import Multitext

if TYPE_CHECKING:
    import pulp


@dataclass(frozen=True, eq=False, repr=False)
class Named:
    """Problem with the names of its editions and languages.

    Attributes
    ----------
    problem : Problem
        Problem to solve.
    editions, languages : Index
        Names of the problem's editions and languages, in its order.
    dropped : Index
        Editions that cannot be selected because they have fewer than `min_intents` intents.
    have : Series of int
        Intents of each edition, the dropped ones included.
    """

    problem: Problem
    editions: pd.Index
    languages: pd.Index
    dropped: pd.Index
    have: pd.Series


def name_problem(
    multitext: Multitext,
    *,
    objective: str = "cells",
    require: Iterable[str] = (),
    min_intents: int | None = 1,
    n_editions: int | None = None,
    max_editions: int | None = None,
    max_editions_per_language: int | None = None,
) -> Named:
    """Return the problem on arrays for a multitext and the requirements of `select`."""
    least = min_intents or 1
    presence = multitext.presence.to_numpy()
    if not presence.any():
        raise DataError("no edition has any intent; there is nothing to select.")
    have = pd.Series(presence.sum(axis=0), index=multitext.editions, name="intents")
    full = (have >= least).to_numpy()
    if not full.any():
        raise InfeasibleError(
            f"{option('min_intents', least)}: the fullest edition, {have.idxmax()!r}, has {have.max():,} intents; "
            "at most that many can be asked for."
        )
    unknown = multitext.editions[multitext.edition_info["language"].isna()]
    if len(unknown) and (objective == "languages" or max_editions_per_language):
        raise DataError(f"{len(unknown)} edition(s) whose language is not known: {listing(unknown)}.")
    kinds = _requirements(multitext, require, have, least)
    editions = multitext.editions[full]
    rows, weight = collapse(presence[:, full])
    codes, uniques = pd.factorize(multitext.edition_info["language"][full], use_na_sentinel=False)
    languages = pd.Index(uniques)
    problem = Problem(
        present=rows,
        weight=weight,
        language=codes.astype(np.int64),
        count_languages=objective == "languages",
        required=editions.isin([name for name, kind in kinds.items() if kind == "edition"]),
        required_languages=tuple(list(languages).index(name) for name, kind in kinds.items() if kind == "language"),
        min_intents=least,
        n_editions=n_editions,
        max_editions=max_editions or len(editions),
        max_per_language=max_editions_per_language or len(editions),
    )
    return Named(problem, editions, languages, multitext.editions[~full], have)


def _requirements(multitext: Multitext, require: Iterable[str], have: pd.Series, min_intents: int) -> dict[str, str]:
    """Return ``"edition"`` or ``"language"`` for each required name, after checking that it has enough intents."""
    if isinstance(require, str):
        raise ConfigError(f"require takes several names: write require=[{require!r}].")
    language = multitext.edition_info["language"]
    kinds = {}
    for name in require:
        if name in multitext.editions:
            kinds[name], fullest = "edition", int(have[name])
        elif (language == name).any():
            kinds[name], fullest = "language", int(have[(language == name).to_numpy()].max())
        else:
            raise ConfigError(
                f"require: {name!r} is neither an edition ({listing(multitext.editions)}) nor a language "
                f"({listing(language.unique())})."
            )
        if fullest < min_intents:
            raise InfeasibleError(
                f"{option('min_intents', min_intents)}, but the required {kinds[name]} {name!r} has {fullest:,} "
                "intents. "
                "Ask for at most that many, or do not require it."
            )
    return kinds


def check_settings(
    limits: Mapping[str, float | None], objective: str, time_limit: float | None, solver: "pulp.LpSolver | str | None"
) -> dict[str, int | None]:
    """Return the limits as int (20_000 for 2e4), after checking them."""
    if objective not in ("cells", "languages"):
        raise ConfigError(f"objective must be 'cells' or 'languages', not {objective!r}.")
    for name, value in limits.items():
        if value is not None and not (isinstance(value, int | float | np.number) and value >= 1 and value % 1 == 0):
            raise ConfigError(f"{name} must be at least 1, and whole, got {value!r}.")
    if time_limit is not None and not (isinstance(time_limit, int | float | np.number) and time_limit > 0):
        raise ConfigError(f"{option('time_limit')} must be a positive number of seconds, got {time_limit!r}.")
    configured(solver, time_limit)
    return {name: None if value is None else int(value) for name, value in limits.items()}


def check_feasible(named: Named, solver: "pulp.LpSolver | str | None", deadline: float) -> Booleans | None:
    """Check that the requirements can be met together."""
    found = None
    problem = named.problem
    required = np.flatnonzero(problem.required).tolist()
    counts = np.bincount(problem.language[required], minlength=len(named.languages))
    others = [language for language in problem.required_languages if not counts[language]]
    _check_counts(named, counts, len(required) + len(others))
    names = [named.editions[j] for j in required] + [named.languages[language] for language in others]
    for count in range(1, len(names) + 1):
        some = np.zeros_like(problem.required)
        some[required[:count]] = True
        few = replace(problem, required=some, required_languages=tuple(others[: max(count - len(required), 0)]))
        most, found = _most_intents(few, count, solver, deadline)
        if most < problem.min_intents:
            besides = f" besides {listing(names[: count - 1])}" if count > 1 else ""
            raise InfeasibleError(
                f"{option('min_intents', problem.min_intents)}, but requiring {names[count - 1]!r}{besides} leaves at "
                "most "
                f"{most:,} shared intents. Ask for at most that many, or do not require it."
            )
    if problem.n_editions is not None:
        most, found = _most_intents(problem, problem.n_editions, solver, deadline)
        if most < problem.min_intents:
            raise InfeasibleError(
                f"{option('n_editions', problem.n_editions)}, but so many that meet the other requirements share at "
                f"most {most:,} intents, fewer than {option('min_intents', problem.min_intents)}. Ask for fewer."
            )
    return found


def _check_counts(named: Named, counts: "np.ndarray[tuple[int], np.dtype[np.int64]]", required: int) -> None:
    """Check that the limits on editions and the `required` editions, of each language `counts`, agree."""
    problem = named.problem
    if counts.max() > problem.max_per_language:
        raise InfeasibleError(
            f"{option('max_editions_per_language', problem.max_per_language)}, but {counts.max()} editions in "
            f"{named.languages[int(counts.argmax())]!r} are required."
        )
    for name, limit in (("max_editions", problem.max_editions), ("n_editions", problem.n_editions)):
        if limit is not None and required > limit:
            raise InfeasibleError(f"{option(name, limit)}, but at least {required} are required.")
    most = int(np.minimum(np.bincount(problem.language), problem.max_per_language).sum())
    if problem.n_editions is not None and problem.n_editions > most:
        raise InfeasibleError(
            f"{option('n_editions', problem.n_editions)}, but only {most} have {problem.min_intents:,} intents and are "
            "within the limit on editions of a language."
        )


def _most_intents(
    problem: Problem, n_editions: int, solver: "pulp.LpSolver | str | None", deadline: float
) -> tuple[int, Booleans | None]:
    """Return the most intents that `n` editions meeting the requirements share, 0 if none do, and the editions.

    Once the deadline has passed, fewer are enough if the problem asks for no more.
    """
    limit = None if np.isinf(deadline) else max(deadline - time.monotonic(), 0.0)
    relaxed = replace(problem, count_languages=False, n_editions=n_editions, min_intents=1)
    search = Search(relaxed, solver=solver, time_limit=limit)
    search.run()
    most, found = (search.best.intents, search.best.editions) if search.best else (0, None)
    if not search.proven and most < problem.min_intents:
        raise SolverError(
            "time was up, or the solver stopped, before it was known whether the requirements can be met. Raise "
            f"{option('time_limit')}, or relax the requirements."
        )
    return most, found
