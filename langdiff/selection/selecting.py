"""Selection of the largest complete part of a multitext, and of the most intents for each number of editions."""

import time
from collections.abc import Iterable
from typing import Literal

import numpy as np
import pandas as pd
import pulp

from langdiff.base.progress import progress_bar
from langdiff.base.types import Booleans
from langdiff.errors import ConfigError, SolverError, option, warn
from langdiff.selection.requirements import check_feasible, check_settings, name_problem
from langdiff.selection.result import ParetoFront, Selection
from langdiff.selection.search.exact import HALF, Search
from langdiff.selection.search.problem import Remainder
from langdiff.selection.search.solver import Program
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
