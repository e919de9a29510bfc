"""Selection by name: requirements, what makes them impossible, and labels on what comes out."""

import time
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from langdiff.errors import ConfigError, DataError, InfeasibleError, SolverError, listing
from langdiff.multitext import Multitext
from langdiff.selection._problem import Problem, collapse
from langdiff.selection._search import Search
from langdiff.selection.result import Selection

if TYPE_CHECKING:
    import pulp


def select(
    multitext: Multitext,
    *,
    min_intents: int = 1,
    objective: Literal["cells", "languages"] = "cells",
    require: Iterable[str] = (),
    max_editions: int | None = None,
    max_editions_per_language: int | None = None,
    time_limit: float | None = None,
    solver: "pulp.LpSolver | str | None" = None,
) -> Selection:
    """Select editions and intents without a missing cell, as many as possible, and prove it.

    Parameters
    ----------
    multitext : Multitext
        What to select from; only its catalogue is used, no text is read.
    min_intents : int
        Select at least so many intents (Mielke et al. 2019, appendix E: 20,000).
    objective : {"cells", "languages"}
        Maximise editions × intents, or languages × intents. Of equals, more editions win.
    require : iterable of str
        Editions that must be selected, and languages (as in ``edition_info["language"]``) of which at
        least one edition must be; a name that is both means the edition.
    max_editions, max_editions_per_language : int, optional
        Select no more.
    time_limit : float, optional
        Seconds, after which the best selection so far is returned with its proven gap. A `solver` of
        your own is stopped only between two of its runs.
    solver : pulp.LpSolver or str, optional
        A configured solver, or the name of one that PuLP knows; by default HiGHS.

    Returns
    -------
    Selection
        With `optimal` saying whether it is proven best.

    Raises
    ------
    InfeasibleError
        If the requirements cannot be met together; the message names the one that makes it impossible.
    ConfigError
        If a setting is out of range or a required name is unknown.
    SolverError
        If the solver fails, or finds nothing in time.

    References
    ----------
    Mielke et al. (2019), "What Kind of Language Is Hard to Language-Model?", appendix E.

    Examples
    --------
    >>> import langdiff as ld
    >>> texts = {"eng": ["a", "b", "c", "d"], "deu": ["A", "B", "C", None], "fra": ["x", None, None, "y"]}
    >>> selection = select(ld.read_frame(pd.DataFrame(texts)))
    >>> selection
    Selection: 2 editions × 3 intents, optimal
    >>> selection.editions.to_list(), selection.value
    (['eng', 'deu'], 6)
    """
    started = time.monotonic()
    _check_settings(min_intents, objective, max_editions, max_editions_per_language, time_limit)
    presence = multitext.presence.to_numpy()
    if not presence.any():
        raise DataError("no edition has any intent; there is nothing to select.")
    have = pd.Series(presence.sum(axis=0), index=multitext.editions, name="intents")
    kept = multitext.editions[have >= min_intents]
    if not len(kept):
        raise InfeasibleError(
            f"min_intents={min_intents:,}: the fullest edition, {have.idxmax()!r}, has {have.max():,} intents; "
            "at most that many can be asked for."
        )
    unknown = multitext.editions[multitext.edition_info["language"].isna()]
    if len(unknown) and (objective == "languages" or max_editions_per_language):
        raise DataError(f"{len(unknown)} edition(s) whose language is not known: {listing(unknown)}.")
    requirements = _requirements(multitext, require, have, min_intents)
    rows, weight = collapse(multitext.presence[kept].to_numpy())
    codes, languages = pd.factorize(multitext.edition_info.loc[kept, "language"], use_na_sentinel=False)
    problem = Problem(
        present=rows,
        weight=weight,
        language=codes.astype(np.int64),
        count_languages=objective == "languages",
        required=kept.isin([name for name, kind in requirements.items() if kind == "edition"]),
        required_languages=tuple(
            int(languages.get_loc(name)) for name, kind in requirements.items() if kind == "language"
        ),
        min_intents=min_intents,
        max_editions=max_editions or len(kept),
        max_per_language=max_editions_per_language or len(kept),
    )
    search = Search(problem, solver=solver, time_limit=time_limit)
    if search.best is None:
        _check_feasible(search, list(kept), list(languages))
    certificate = search.run()
    if search.best is None:
        raise SolverError(f"no selection was found within {time_limit} s; give more time or ask for less.")
    editions = kept[search.best.editions]
    return Selection(
        multitext=multitext.sel(editions=editions).dropna(),
        objective=objective,
        value=search.best.value,
        upper_bound=search.upper_bound,
        optimal="open" not in certificate["closed"].to_numpy(),
        edition_intents=have[editions],
        dropped_editions=multitext.editions[have < min_intents],
        min_intents=min_intents,
        certificate=certificate,
        seconds=time.monotonic() - started,
    )


def _check_settings(
    min_intents: int,
    objective: str,
    max_editions: int | None,
    max_editions_per_language: int | None,
    time_limit: float | None,
) -> None:
    if objective not in ("cells", "languages"):
        raise ConfigError(f"objective must be 'cells' or 'languages', not {objective!r}.")
    at_least_one = {
        "min_intents": min_intents,
        "max_editions": max_editions,
        "max_editions_per_language": max_editions_per_language,
    }
    for name, value in at_least_one.items():
        if value is not None and value < 1:
            raise ConfigError(f"{name} must be at least 1, got {value!r}.")
    if time_limit is not None and not time_limit > 0:
        raise ConfigError(f"time_limit must be a positive number of seconds, got {time_limit!r}.")


def _requirements(multitext: Multitext, require: Iterable[str], have: pd.Series, min_intents: int) -> dict[str, str]:
    """Return what each required name is, ``"edition"`` or ``"language"``, all being full enough by themselves."""
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
                f"min_intents={min_intents:,}, but the required {kinds[name]} {name!r} has {fullest:,} intents. "
                "Ask for at most that many, or do not require it."
            )
    return kinds


def _check_feasible(search: Search, editions: list[str], languages: list[str]) -> None:
    """Raise if the requirements cannot be met together, naming the first that is too much."""
    problem = search.problem
    required = np.flatnonzero(problem.required)
    counts = np.bincount(problem.language[required], minlength=len(languages))
    if counts.max() > problem.max_per_language:
        raise InfeasibleError(
            f"max_editions_per_language={problem.max_per_language}, but {counts.max()} editions in "
            f"{languages[int(counts.argmax())]!r} are required."
        )
    others = [language for language in problem.required_languages if not counts[language]]
    if len(required) + len(others) > problem.max_editions:
        raise InfeasibleError(
            f"max_editions={problem.max_editions}, but at least {len(required) + len(others)} are required."
        )
    names = [editions[j] for j in required] + [languages[language] for language in others]
    for count in range(1, len(names) + 1):
        some = np.zeros_like(problem.required)
        some[required[:count]] = True
        most = search.most_intents(
            replace(
                problem,
                required=some,
                required_languages=tuple(others[: max(count - len(required), 0)]),
                min_intents=1,
            )
        )
        if most < problem.min_intents:
            besides = f" besides {listing(names[: count - 1])}" if count > 1 else ""
            raise InfeasibleError(
                f"min_intents={problem.min_intents:,}, but requiring {names[count - 1]!r}{besides} leaves at most "
                f"{most:,} shared intents. Ask for at most that many, or do not require it."
            )
