"""Largest number of intents that each number of editions can share."""

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from langdiff.base.progress import progress_bar
from langdiff.base.types import Booleans
from langdiff.selection.requirements import check_feasible, check_settings, name_problem
from langdiff.selection.result import ParetoFront
from langdiff.selection.search.exact import Search
from langdiff.tables.multitext import Multitext, check_multitext

if TYPE_CHECKING:
    import pulp


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
