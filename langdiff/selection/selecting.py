"""Selection of the largest complete part of a multitext, and of the most intents for each number of editions."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pandas as pd
import pulp

from langdiff.base.progress import progress_bar
from langdiff.base.types import Booleans
from langdiff.errors import ConfigError, DataError, InfeasibleError, SolverError, listing, option, warn
from langdiff.selection.result import ParetoFront, Selection
from langdiff.selection.search.exact import HALF, Search
from langdiff.selection.search.problem import Problem, Remainder, collapse
from langdiff.selection.search.solver import Program, configured
from langdiff.tables.multitext import Multitext, check_multitext


class Direct(Search):
    """Search by a single program, solved again with a higher cut-off until that is infeasible."""

    def _search(self) -> None:
        problem, self.best = self.problem, None  # what the other method found is not used
        everything = Remainder(
            np.ones_like(problem.weight, dtype=bool), np.ones_like(problem.required), problem.required_groups
        )
        program = Program(problem, everything, single=False)
        products = []
        for k, y in enumerate(program.y):
            y.cat = pulp.LpInteger
            products.append(program.lp.add_variable(f"t{k}", 0))
            program.lp += products[-1] <= problem.n_groups * y
            program.lp += products[-1] <= program.units
        tie = len(problem.language) + 1  # editions decide between equal values
        value = pulp.LpAffineExpression([(t, int(w)) for t, w in zip(products, program.weight, strict=True)])
        objective = tie * value + program.n_editions
        program.lp += program.intents >= problem.min_intents - HALF
        program.lp += program.n_editions >= 1
        while (answer := self._solve(program, objective)).editions is not None:
            found = problem.best_editions(problem.shared(answer.editions))
            if found is None or not self._take(answer):
                self._may_stop("there is a better selection")
                return
            program.lp += objective >= tie * found.value + found.n_editions + HALF
        if answer.status == "infeasible":
            for u in self.bounds.numbers:
                self.bounds.lower(u, self.needed(u) - 1, "program")
        else:
            self._may_stop("there is a better selection")


def select(
    multitext: Multitext,
    *,
    min_intents: int = 1,
    objective: Literal["cells", "languages"] = "cells",
    require: Iterable[str] = (),
    n_editions: int | None = None,
    max_editions: int | None = None,
    max_editions_per_language: int | None = None,
    method: Literal["search", "direct"] = "search",
    time_limit: float | None = None,
    solver: "pulp.LpSolver | str | None" = None,
    progress: bool | None = None,
) -> Selection:
    """Select the editions and intents of the largest complete part of a multitext, with proof.

    Parameters
    ----------
    multitext : Multitext
        Multitext to select from; only its catalogue is used, no text is read.
    min_intents : int
        Fewest intents to select (Mielke et al. 2019, appendix E: 20,000).
    objective : {"cells", "languages"}
        Maximize editions × intents, or languages × intents. Among equals, the selection with more editions is taken.
    require : iterable of str
        Editions or languages that must be selected; of a language (as in ``edition_info["language"]``) at least
        one edition; a name that is both means the edition.
    n_editions : int, optional
        Exact number of editions to select.
    max_editions : int, optional
        Largest number of editions to select.
    max_editions_per_language : int, optional
        Largest number of editions to select per language.
    method : {"search", "direct"}
        Way to find the selection. ``"search"`` excludes one number of editions after another by minimum cuts and, where
        these do not suffice, by integer programs. ``"direct"`` hands the whole problem to the solver as one integer
        program: an independent check, for small multitexts only.
    time_limit : float, optional
        Seconds, after which the best selection so far is returned with its proven gap; Ctrl-C has the same
        effect. HiGHS is stopped while it runs, another `solver` only between two of its runs.
    solver : pulp.LpSolver or str, optional
        Solver by PuLP's name, such as PULP_CBC_CMD, or a configured one; by default HiGHS.
    progress : bool, optional
        Whether to show on stderr how many numbers of editions are settled; by default on a terminal.

    Returns
    -------
    Selection
        The selected part; `optimal` says whether it is proven to be the largest, and `left_out` names the editions
        that were not selected.

    Raises
    ------
    InfeasibleError
        If the requirements cannot be met together; the message names the one that cannot be met.
    ConfigError
        If a setting is out of range or a required name is unknown.
    SolverError
        If the solver fails, or finds nothing in time.

    Warns
    -----
    LangdiffWarning
        If a single edition is selected though two might be: editions share so few intents, or none.

    References
    ----------
    Mielke et al. (2019), "What Kind of Language Is Hard to Language-Model?", appendix E.

    Examples
    --------
    >>> import langdiff as ld, pandas as pd
    >>> texts = {"eng": ["a", "b", "c", "d"], "deu": ["A", "B", "C", None], "fra": ["x", None, None, "y"]}
    >>> selection = select(ld.read_frame(pd.DataFrame(texts)))
    >>> selection
    Selection: 2 editions × 3 intents, optimal
    >>> selection.editions.to_list(), selection.value
    (['eng', 'deu'], 6)
    """
    check_multitext(multitext)
    started = time.monotonic()
    asked = {
        "min_intents": min_intents,
        "n_editions": n_editions,
        "max_editions": max_editions,
        "max_editions_per_language": max_editions_per_language,
    }
    limits = check_settings(asked, objective, time_limit, solver)
    if method not in ("search", "direct"):
        raise ConfigError(f"method must be 'search' or 'direct', not {method!r}.")
    if n_editions is not None and max_editions is not None and n_editions > max_editions:
        raise ConfigError(f"{option('n_editions', n_editions)} contradicts {option('max_editions', max_editions)}.")
    named = name_problem(multitext, objective=objective, require=require, **limits)
    with progress_bar(progress=progress) as bar:
        kind = {"search": Search, "direct": Direct}[method]
        search = kind(named.problem, solver=solver, time_limit=time_limit, bar=bar)
        if search.best is None:
            search.begin_with(check_feasible(named, solver, search.deadline))
        search.run()
    if search.best is None:
        raise SolverError(f"no selection was found in time; raise {option('time_limit')} or relax the requirements.")
    editions = named.editions[search.best.editions]
    if len(editions) < 2 and 1 not in (n_editions, max_editions):
        warn(_alone(multitext, editions[0], named.have))
    selected = multitext.sel(editions=editions).dropna()
    return Selection(
        multitext=selected,
        objective=objective,
        value=search.best.value,
        upper_bound=search.upper_bound,
        optimal=search.proven,
        edition_intents=named.have[editions],
        left_out=_left_out(multitext, selected, named.have),
        dropped_editions=named.dropped,
        min_intents=limits["min_intents"] or 1,
        certificate=search.certificate(),
        seconds=time.monotonic() - started,
    )


def _left_out(multitext: Multitext, selected: Multitext, have: pd.Series) -> pd.DataFrame:
    """Return the editions not selected, with their intents and the number shared with the selection."""
    others = multitext.editions.difference(selected.editions, sort=False)
    presence = multitext.presence.to_numpy().T  # one row per edition, as frames keep it
    chosen = multitext.editions.isin(selected.editions)
    shared = np.count_nonzero(presence[~chosen] & np.logical_and.reduce(presence[chosen], axis=0), axis=1)
    frame = pd.DataFrame({"intents": have[others], "shared": shared}).rename_axis("edition")
    return frame.sort_values("intents", ascending=False, kind="stable")


def _alone(multitext: Multitext, edition: str, have: pd.Series) -> str:
    """Return a caution that a selection of one edition is of little use."""
    alone = f"only one edition is selected, {edition!r} with its {have[edition]:,} intents, and nothing can be compared"
    others = multitext.presence.drop(columns=edition)
    if others.empty:
        return f"{alone}: there is no other. Add editions."
    with_it = others[multitext.presence[edition].to_numpy()].sum()
    return (
        f"{alone}: {with_it.idxmax()!r} has {with_it.max():,} of them, the most of all others. Ask for "
        f"{option('n_editions', 2)} or more, or see whether editions name their intents alike."
    )


class FrontSearch(Search):
    """Search for the most intents of every number of units, not only for the best product."""

    exact = False

    def worthwhile(self, product: int) -> bool:
        """Return whether to search for selections that improve no product: here always, for every number of units."""
        return product > 0

    def needed(self, u: int) -> int:
        """Return the fewest intents with which u units improve on the known selection of u units."""
        return self.found.get(u, 0) + 1

    def _search(self) -> None:
        self._bound_all()
        self._exchange()
        self._announce()
        if self.exact:
            self._enumerate()
        for attempt in (self._tighten, self._ask) if self.exact else ():
            for u in self._open():
                attempt(u)
                self._advance()

    def _offer(self, rows: Booleans) -> bool:
        """Update the points with the best selection that has all of some rows; fewer units share at least as many."""
        super()._offer(rows)
        found = self.problem.best_editions(rows)
        if found is None or found.intents <= self.found.get(found.units, 0):
            return False
        for u in range(self.bounds.numbers.start, found.units + 1):
            self.found[u] = max(self.found.get(u, 0), found.intents)
        return True


def pareto_front(
    multitext: Multitext,
    *,
    objective: Literal["cells", "languages"] = "cells",
    require: Iterable[str] = (),
    max_editions_per_language: int | None = None,
    exact: bool = False,
    time_limit: float | None = None,
    solver: "pulp.LpSolver | str | None" = None,
    progress: bool | None = None,
) -> ParetoFront:
    """Find the most intents that each number of editions (or languages) can share.

    Parameters
    ----------
    multitext : Multitext
        Multitext to select from; only its catalogue is used, no text is read.
    objective : {"cells", "languages"}
        Whether editions or languages are counted.
    require : iterable of str
        Editions that must be selected, and languages of which at least one edition must be.
    max_editions_per_language : int, optional
        Largest number of editions per language.
    exact : bool
        Whether every number is settled exactly. By default, bounds (the concave hull) are computed by minimum cuts, and
        selections, which may not reach the bounds, by greedy removal and exchange; that takes seconds.
    time_limit : float, optional
        Seconds, after which what is known so far is returned; Ctrl-C has the same effect.
    solver : pulp.LpSolver or str, optional
        Solver by PuLP's name, such as PULP_CBC_CMD, or a configured one; by default HiGHS.
    progress : bool, optional
        Whether to show on stderr how many numbers are settled; by default on a terminal.

    Returns
    -------
    ParetoFront
        One point per number of editions (or languages), with bounds.

    Raises
    ------
    ConfigError
        If a setting is out of range or a required name is unknown.
    InfeasibleError
        If required editions have no intent.

    Examples
    --------
    >>> import langdiff as ld, pandas as pd
    >>> texts = {"eng": ["a", "b", "c", "d"], "deu": ["A", "B", "C", None], "fra": ["x", None, None, "y"]}
    >>> pareto_front(ld.read_frame(pd.DataFrame(texts)), exact=True).to_frame()
              intents  intents_at_most  proven  lost
    editions
    1               4                4    True  <NA>
    2               3                3    True     1
    3               1                1    True     2
    """
    check_multitext(multitext)
    asked = {"max_editions_per_language": max_editions_per_language}
    limits = check_settings(asked, objective, time_limit, solver)
    started = time.monotonic()
    named = name_problem(multitext, objective=objective, require=require, **limits)
    with progress_bar(progress=progress) as bar:
        search = FrontSearch(named.problem, solver=solver, time_limit=time_limit, bar=bar)
        search.exact = exact
        if search.best is None:
            search.begin_with(check_feasible(named, solver, search.deadline))
        search.run()
    counted = "languages" if objective == "languages" else "editions"
    index = pd.Index(search.bounds.numbers, name=counted)
    found = np.array([search.found.get(u, 0) for u in search.bounds.numbers])
    at_most = np.array([search.bounds.at_most[u] for u in search.bounds.numbers])
    frame = pd.DataFrame({"intents": found, "intents_at_most": at_most, "proven": found == at_most}, index)
    return ParetoFront(points=frame, objective=objective, seconds=time.monotonic() - started)


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
