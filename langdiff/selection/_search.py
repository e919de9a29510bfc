r"""Exact search: bounds for every number of units at once, then integer programs where they leave room.

Write c(u) for the most intents that u units (editions, or languages) can share. For any price λ = p/q

.. math:: z(\lambda) = \max_{B, C} |C| + \lambda\,\mathrm{units}(B)

is a minimum cut (`_cut`), and :math:`c(u) \le z(\lambda) - \lambda u`. A few prices, each the slope between two
solutions already found, give the best such bound for all u: the concave hull of c. (Limits on editions
are left out of the cut, and a language there counts as one edition that has whatever any of its
editions has: both only raise the bound.) Only those u where u·⌊bound⌋ beats the best known solution
need an integer program: with so many units, on what that leaves of rows and editions, is there
anything better? Every improvement is followed by the same question, until the answer is no.
"""

import logging
import time

import numpy as np
import pandas as pd
import pulp

from langdiff.errors import ConfigError, SolverError
from langdiff.selection._cut import Priced, best_at_price
from langdiff.selection._problem import Bools, Problem, Solution, greedy
from langdiff.selection._program import Program

HALF = 0.5  # objectives are whole numbers; a solver's tolerance must not cut off the one that is needed

log = logging.getLogger(__name__)


class Search:
    """State of the search: the incumbent, and a bound on c(u) for every u.

    Parameters
    ----------
    problem : Problem
        What to solve.
    solver : pulp.LpSolver, str or None
        None for HiGHS.
    time_limit : float or None
        Seconds from now.
    """

    def __init__(self, problem: Problem, *, solver: pulp.LpSolver | str | None, time_limit: float | None) -> None:
        self.problem = problem
        self.solver = solver
        self.deadline = np.inf if time_limit is None else time.monotonic() + time_limit
        self.best: Solution | None = greedy(problem)
        every = np.ones(len(problem.language), dtype=bool)
        most = min(problem.count(every), problem.max_editions)
        coverage = problem.coverage(every)
        self.at_most = np.array([int(problem.weight[coverage >= u].sum()) for u in range(1, most + 1)])
        self.closed = ["bound"] * most

    def run(self) -> pd.DataFrame:
        """Search until proven or out of time; return the certificate, one row a number of units."""
        try:
            self._bound_all()
            while (u := self._most_promising()) is not None and time.monotonic() < self.deadline:
                self._solve(u)
        except KeyboardInterrupt:
            if self.best is None:
                raise
            log.warning("interrupted; the best selection so far is returned, with its proven gap")
        for u in range(1, len(self.at_most) + 1):
            if self.closed[u - 1] == "bound" and self._can_improve(u):
                self.closed[u - 1] = "open"
        counted = "languages" if self.problem.count_languages else "editions"
        index = pd.RangeIndex(1, len(self.at_most) + 1, name=counted)
        bound = index.to_numpy() * self.at_most
        return pd.DataFrame({"intents_at_most": self.at_most, "bound": bound, "closed": self.closed}, index=index)

    @property
    def upper_bound(self) -> int:
        """Return what no solution exceeds."""
        rest = [u * int(self.at_most[u - 1]) for u, closed in enumerate(self.closed, start=1) if closed == "open"]
        return max([*rest, self.best.value if self.best else 0])

    def most_intents(self, problem: Problem) -> int:
        """Return how many intents a selection that meets the requirements can have at most."""
        if not problem.required_languages:
            return int(problem.weight[problem.shared(problem.required)].sum())
        program = Program(problem, np.ones_like(problem.weight, dtype=bool), np.ones_like(problem.required))
        answer = program.maximise(
            program.intents + program.n_editions / (len(problem.language) + 1), self._configured()
        )
        if answer.status == "stopped":
            raise SolverError("the solver stopped before it was known whether the requirements can be met.")
        return 0 if answer.editions is None else int(problem.weight[problem.shared(answer.editions)].sum())

    def needed(self, u: int) -> tuple[int, int]:
        """Return the least (intents, editions) with which u units beat the incumbent.

        More intents than the first, or as many and at least as many editions as the second.
        """
        least = self.problem.min_intents
        if self.best is None:
            return least, 1
        intents = -(-self.best.value // u)
        if intents < least:
            return least, 1
        if intents * u > self.best.value:
            return intents, 1
        return intents, self.best.n_editions + 1  # a tie, decided by more editions

    def _can_improve(self, u: int) -> bool:
        intents, editions = self.needed(u)
        if not self.problem.count_languages and editions > u:
            intents += 1  # the units are the editions
        return bool(self.at_most[u - 1] >= intents)

    def _most_promising(self) -> int | None:
        open_units = [
            u for u in range(1, len(self.at_most) + 1) if self.closed[u - 1] == "bound" and self._can_improve(u)
        ]
        return max(open_units, key=lambda u: u * self.at_most[u - 1], default=None)

    def _offer(self, rows: Bools) -> None:
        """Take the best selection with all of some rows as incumbent, if it is better."""
        found = self.problem.best_editions(rows)
        if found is not None and (self.best is None or found.rank > self.best.rank):
            log.info("%d editions × %d intents: objective %d", found.n_editions, found.intents, found.value)
            self.best = found

    def _configured(self) -> pulp.LpSolver:
        remaining = self.deadline - time.monotonic()
        if self.solver is None:
            limit = None if np.isinf(remaining) else max(remaining, 0.01)
            return pulp.HiGHS(msg=False, timeLimit=limit, gapRel=0.0, gapAbs=0.5)
        if not isinstance(self.solver, str):
            return self.solver
        try:
            solver = pulp.getSolver(self.solver, msg=False)
        except pulp.PulpSolverError as error:
            known = ", ".join(pulp.listSolvers(onlyAvailable=True))
            raise ConfigError(f"unknown solver {self.solver!r}; PuLP finds here: {known}.") from error
        if not solver.available():
            raise SolverError(f"PuLP cannot find the solver {self.solver!r}; install it, or use solver=None (HiGHS).")
        return solver

    def _bound_all(self) -> None:
        """Bound c(u) for all u at a few prices, from the two ends inwards."""
        problem = self.problem
        rows = problem.shared(problem.required)
        present = problem.unit_presence(np.ones_like(problem.required))[rows]
        for language in problem.required_languages:
            having: Bools = np.logical_or.reduce(problem.present[:, problem.language == language], axis=1)
            present, rows = present[having[rows]], rows & having
        where, weight = np.flatnonzero(rows), problem.weight[rows]

        def at_price(p: int, q: int) -> Priced:
            priced = best_at_price(present, weight, p, q)
            u = np.arange(1, len(self.at_most) + 1)
            self.at_most = np.minimum(self.at_most, (priced.value - p * u) // q)
            chosen = np.zeros(len(rows), dtype=bool)
            chosen[where[priced.rows]] = True
            self._offer(chosen)
            return priced

        units = present.shape[1]
        segments = [(at_price(1, units + 1), at_price(int(weight.sum()) + 1, 1))]
        while segments and time.monotonic() < self.deadline:
            left, right = segments.pop()
            inside = range(max(left.units, 1), min(right.units, len(self.at_most)) + 1)
            if right.units - left.units < 2 or not any(self._can_improve(u) for u in inside):
                continue
            p, q = left.intents - right.intents, right.units - left.units
            middle = at_price(p, q)
            if middle.value > q * left.intents + p * left.units:
                segments += [(left, middle), (middle, right)]

    def _peel(self, u: int, intents: int) -> tuple[Bools, Bools]:
        """Drop rows that fewer than u units have, and editions that have too few of the rows left, in turn."""
        problem = self.problem
        rows = problem.shared(problem.required)
        editions = np.ones(len(problem.language), dtype=bool)
        while True:
            keep_rows: Bools = rows & (problem.coverage(editions) >= u)
            keep_editions: Bools = editions & ((problem.weight * keep_rows) @ problem.present >= intents)
            if (keep_rows == rows).all() and (keep_editions == editions).all():
                return rows, editions
            rows, editions = keep_rows, keep_editions

    def _solve(self, u: int) -> None:
        """Settle whether u units can beat the incumbent, by an integer program on what peeling leaves."""
        problem = self.problem
        intents, least_editions = self.needed(u)
        if not problem.count_languages and least_editions > u:
            intents, least_editions = intents + 1, 1
        rows, editions = self._peel(u, intents)
        self.closed[u - 1] = "program"
        if (problem.required & ~editions).any() or problem.weight[rows].sum() < intents or problem.count(editions) < u:
            self.at_most[u - 1 :] = np.minimum(self.at_most[u - 1 :], intents - 1)
            self.closed[u - 1] = "bound"
            return
        program = Program(problem, rows, editions)
        program.add(program.units >= u)
        tie = len(problem.language) + 1 if problem.count_languages else 0  # editions break ties between languages
        objective = max(tie, 1) * program.intents + (program.n_editions if tie else 0)
        program.add(objective >= max(tie, 1) * intents + (least_editions if tie else 0) - HALF)
        answer = program.maximise(objective, self._configured())
        before = self.best
        if answer.editions is not None and answer.editions.any():
            self._offer(problem.shared(answer.editions))
        if answer.status == "infeasible":
            self.at_most[u - 1 :] = np.minimum(self.at_most[u - 1 :], intents - (0 if least_editions > 1 else 1))
        elif self.best is not before:
            self.closed[u - 1] = "bound"  # to be asked for more: only "infeasible" is proof, whatever the solver's gap
        else:
            self.closed[u - 1] = "open"
