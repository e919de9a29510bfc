"""What one more edition costs: the most intents that each number of editions can share."""

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from langdiff._progress import progress_bar
from langdiff.errors import ConfigError
from langdiff.multitext import Multitext
from langdiff.selection.pareto import ParetoFront
from langdiff.selection.requirements import check_feasible, name_problem
from langdiff.selection.search.exact import Search
from langdiff.selection.search.problem import Bools
from langdiff.selection.search.solver import configured

if TYPE_CHECKING:
    import pulp


class FrontSearch(Search):
    """Search that takes whatever beats what was found with as many units, not only the best product."""

    exact = False

    def needed(self, u: int) -> int:
        """Return the least intents with which u units beat what was found with so many."""
        return self.found.get(u, 0) + 1

    def _search(self) -> None:
        self._bound_all()
        self._exchange()
        self._announce()
        for attempt in (self._tighten, self._ask) if self.exact else ():
            for u in self._open():
                attempt(u)
                self._advance()

    def _offer(self, rows: Bools) -> bool:
        """Note the intents of the best selection with all of some rows; fewer units share at least as many."""
        super()._offer(rows)
        found = self.problem.best_editions(rows)
        if found is None or found.intents <= self.found.get(found.units, 0):
            return False
        for u in range(self.range.start, found.units + 1):
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
    """Trade editions (or languages) for intents: for each number of them, the most intents they can share.

    Parameters
    ----------
    multitext : Multitext
        What to select from; only its catalogue is used, no text is read.
    objective : {"cells", "languages"}
        Count editions, or languages.
    require, max_editions_per_language
        As in `select`.
    exact : bool
        By default, bounds (the concave hull) are computed by minimum cuts, and selections that may not reach them by
        greed and exchange: seconds. If True, every number is settled exactly, which takes longer.
    time_limit : float, optional
        Seconds, after which what is known so far is returned; Ctrl-C has the same effect, as in `select`.
    solver : pulp.LpSolver or str, optional
        As in `select`.
    progress : bool, optional
        Show how many numbers are settled; by default on a terminal.

    Returns
    -------
    ParetoFront

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
    if objective not in ("cells", "languages"):
        raise ConfigError(f"objective must be 'cells' or 'languages', not {objective!r}.")
    if time_limit is not None and not time_limit > 0:
        raise ConfigError(f"time_limit must be a positive number of seconds, got {time_limit!r}.")
    cap = max_editions_per_language
    if cap is not None and not (cap >= 1 and cap % 1 == 0):
        raise ConfigError(f"max_editions_per_language must be at least 1, and whole, got {cap!r}.")
    configured(solver, time_limit)  # an unknown name is an error even where no program is needed
    started = time.monotonic()
    named = name_problem(
        multitext, objective=objective, require=require, max_editions_per_language=max_editions_per_language
    )
    with progress_bar(progress=progress) as bar:
        search = FrontSearch(named.problem, solver=solver, time_limit=time_limit, bar=bar)
        search.exact = exact
        if search.best is None:
            search.begin_with(check_feasible(named, solver, search.deadline))
        search.run()
    counted = "languages" if objective == "languages" else "editions"
    index = pd.Index(search.range, name=counted)
    found = np.array([search.found.get(u, 0) for u in search.range])
    at_most = np.array([search.at_most[u] for u in search.range])
    frame = pd.DataFrame({"intents": found, "intents_at_most": at_most, "proven": found == at_most}, index)
    return ParetoFront(points=frame, objective=objective, seconds=time.monotonic() - started)
