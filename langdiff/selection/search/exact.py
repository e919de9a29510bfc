r"""Exact search: bounds for every number of units at once, then tighter ones where these are not conclusive.

Write c(u) for the most intents that u units (editions, or languages) share. Minimum cuts (`cut`) bound c
by its concave hull. Only those u where u·⌊bound⌋ beats the best known selection are examined again, the largest
first: what such a selection can be made of is reduced (`reduction`), with the help of the bound on c(u + 1), and
cut again. What then is still open is asked of an integer program (`program`): with u units, is there anything
better? Every improvement is followed by the same question, until the answer is no.
"""

import logging
import math
import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
import pulp
from rich.progress import Progress, TaskID

from langdiff.base.types import Booleans
from langdiff.errors import SolverError, option
from langdiff.selection.search.branch import Branching
from langdiff.selection.search.cut import sweep
from langdiff.selection.search.problem import (
    NEVER,
    Problem,
    Remainder,
    Solution,
    bound,
    by_unit,
    collapse,
    first_bounds,
    reduce,
    weigh,
)
from langdiff.selection.search.solver import Answer, Program, configured, exchange, levels, stages, without_worst

FEW = 5  # units of which all choices may be tried
FEW_WORK = 2e11  # floating-point operations for that: about ten seconds
BRANCH_WORK = 1e11  # and for one number of units, before an integer program is tried
TIES_WORK = 2e9  # and for ties: what this does not settle is mostly quick for an integer program
HALF = 0.5  # objectives are whole numbers; a solver's tolerance must not cut off the one that is needed

log = logging.getLogger(__name__)


class Search:
    """Search with its state: the incumbent, and an upper bound on c(u) for every u.

    Parameters
    ----------
    problem : Problem
        Problem to solve.
    solver : pulp.LpSolver, str or None
        Solver of the integer programs; None means HiGHS.
    time_limit : float or None
        Seconds from now after which to stop; None means no limit.
    bar : Progress, optional
        Progress bar of the numbers u that are settled.

    Attributes
    ----------
    best : Solution or None
        The incumbent: the best selection found so far.
    bounds : Bounds
        Bounds on c(u).
    found : dict from int to int
        Intents shared by so many units, where a whole front is searched.
    stages : dict from int to ndarray of bool
        Editions that make so many units, from which an exchange begins.
    deadline : float
        When to stop, on the monotonic clock.
    ties_open : bool
        Whether as good a selection with more editions may exist.
    """

    def __init__(
        self,
        problem: Problem,
        *,
        solver: pulp.LpSolver | str | None = None,
        time_limit: float | None = None,
        bar: Progress | None = None,
    ) -> None:
        self.problem = problem
        self.solver = solver
        self.deadline = np.inf if time_limit is None else time.monotonic() + time_limit
        self.best: Solution | None = None
        self.found: dict[int, int] = {}
        self.stages: dict[int, Booleans] = {}
        self.bounds = first_bounds(problem)
        self.ties_open = False
        self._bar, self._task = bar, TaskID(0)
        self._start: dict[int, Remainder] = {}
        for least, product in levels(problem):
            if self.worthwhile(product):
                self._remove(least)

    def run(self) -> None:
        """Search until the optimum is proven, time is up or the user interrupts."""
        try:
            self._search()
        except KeyboardInterrupt:
            if self.best is None:
                raise
            log.warning("interrupted; the best selection so far is returned, with its proven gap")

    def begin_with(self, editions: Booleans | None) -> None:
        """Set editions that meet the requirements as incumbent, if there are any."""
        if editions is not None:
            self._offer(self.problem.shared(editions))

    def _search(self) -> None:
        self._bound_all()
        if self.problem.choice and any(self._open()):
            self._offer_hull()
        self._exchange()
        self._announce()
        self._enumerate()
        self._relax_all()
        for attempt in (self._tighten, self._ask):
            for u in self._open():
                attempt(u)
                self._advance()
        if self.problem.count_languages and self.problem.single and self.proven:
            self._break_ties()

    @property
    def proven(self) -> bool:
        """Return whether the incumbent is proven optimal."""
        return not self.ties_open and not any(self.can_improve(u) for u in self.bounds.numbers)

    @property
    def upper_bound(self) -> int:
        """Return an upper bound on the value of all solutions."""
        rest = [u * self.bounds.at_most[u] for u in self.bounds.numbers if self.can_improve(u)]
        return max([*rest, self.best.value if self.best else 0])

    def certificate(self) -> pd.DataFrame:
        """Return one row per number of units: the bounds, and the method that closed it."""
        index = pd.Index(self.bounds.numbers, name="languages" if self.problem.count_languages else "editions")
        at_most = np.array([self.bounds.at_most[u] for u in self.bounds.numbers])
        closed = ["open" if self.can_improve(u) else self.bounds.closed[u] for u in self.bounds.numbers]
        frame = pd.DataFrame({"intents_at_most": at_most, "bound": index.to_numpy() * at_most, "closed": closed}, index)
        if self.ties_open and self.best is not None:
            frame.loc[self.best.units, "closed"] = "open"
        return frame

    def worthwhile(self, product: int) -> bool:
        """Return whether to search for selections up to an upper bound on their product."""
        return product > (0 if self.best is None else self.best.value)

    def needed(self, u: int) -> int:
        """Return the fewest intents with which u units improve on the incumbent and meet `min_intents`."""
        if self.best is None:
            return self.problem.min_intents
        intents, rest = divmod(self.best.value, u)
        wins_tie = rest == 0 and not self.problem.count_languages and u > self.best.units
        return max(self.problem.min_intents, intents if wins_tie else intents + 1)

    def can_improve(self, u: int) -> bool:
        """Return whether u units may still improve on the incumbent."""
        return self.bounds.at_most[u] >= self.needed(u)

    def _open(self) -> Iterator[int]:
        """Yield the open numbers of units, the largest first, while there is time."""
        for u in reversed(self.bounds.numbers):
            if self.can_improve(u) and time.monotonic() < self.deadline:
                yield u

    def _offer(self, rows: Booleans) -> bool:
        """Update the incumbent with the best selection that has all of some rows; return whether it improves."""
        found = self.problem.best_editions(rows)
        if found is None or (self.best is not None and found.rank <= self.best.rank):
            return False
        log.info("%d editions × %d intents: objective %d", found.n_editions, found.intents, found.value)
        self.best = found
        return True

    def _remove(self, least: int) -> None:
        """Update the incumbent by greedy removal, starting from editions with at least `n` intents."""
        problem = self.problem
        for editions, rows in stages(problem, least):
            units, intents = len(np.unique(problem.group[editions])), problem.intents_of(rows)
            if units not in self.stages or intents > problem.intents_of(problem.shared(self.stages[units])):
                self.stages[units] = editions
            if problem.most_units > 0 and intents >= self.needed(min(units, problem.most_units)):
                self._offer(rows)

    def _bound_all(self) -> None:
        """Bound c by minimum cuts, for each run of open numbers of units."""
        runs: list[list[int]] = []
        for u in self.bounds.numbers:
            if self.can_improve(u):
                if runs and runs[-1][-1] == u - 1:
                    runs[-1].append(u)
                else:
                    runs.append([u])
        for run in runs:
            left = reduce(self.problem, run[0], self.needed(run[-1]), NEVER)
            if left is None:
                for u in run:
                    self.bounds.lower(u, self.needed(run[-1]) - 1)
            elif time.monotonic() < self.deadline:
                self._start.update(dict.fromkeys(run, left))
                self._cut(left, run)

    def _cut(self, left: Remainder, run: list[int]) -> None:
        """Bound c(u) for a run of u, and one more, by the concave hull of the reduced problem."""
        problem = self.problem
        units, _ = by_unit(problem.present[np.ix_(left.rows, left.editions)], problem.group[left.editions])
        packed, weight = collapse(units, problem.weight[left.rows])

        def wanted(low: int, high: int) -> bool:
            inside = [u for u in run if low < u < high]
            return time.monotonic() < self.deadline and any(self.can_improve(u) for u in inside)

        least = self.needed(run[-1]) - 1  # of selections with fewer intents the reduction says nothing
        for found in sweep(packed, weight, wanted):
            for u in (*run, run[-1] + 1):
                if u <= problem.n_groups:
                    self.bounds.lower(u, max(found.bound(u), least))
            rows = left.rows.copy()
            rows[left.rows] = np.logical_and.reduce(units[:, packed[found.rows].all(axis=0)], axis=1)
            self._offer(rows)

    def _offer_hull(self) -> None:
        """Update the incumbent with the best editions at every price, where cuts do not choose between editions."""
        for found in sweep(self.problem.present, self.problem.weight, lambda *_: time.monotonic() < self.deadline):
            self._offer(found.rows)

    def _exchange(self) -> None:
        """Improve the results of greedy removal by exchange, at every open number of units."""
        problem, chain = self.problem, None
        for u in self._open():
            left = reduce(problem, u, self.needed(u), NEVER, self._start.get(u))
            if left is None:
                self.bounds.lower(u, self.needed(u) - 1, "reduction")
                continue
            chain = self._improve(u, chain if chain is None else without_worst(problem, chain), left.editions)

    def _improve(self, u: int, other: Booleans | None, allowed: Booleans) -> Booleans | None:
        """Exchange editions, from the best known u units or better others; return the editions found."""
        problem = self.problem
        start = [editions for editions in (self.stages.get(u), other) if editions is not None]
        if not start:
            return None
        begin = max(start, key=lambda editions: problem.intents_of(problem.shared(editions)))
        self.stages[u] = exchange(problem, begin, allowed)
        self._offer_editions(self.stages[u])
        return self.stages[u]

    def _enumerate(self) -> None:
        """Compute c(u) for a few units by enumeration, from the smallest open u up; more units share no more."""
        problem, work = self.problem, FEW_WORK
        taken = len(np.unique(problem.group[problem.required]))
        for u in reversed(list(self._open())):
            if u - taken > FEW or not self.can_improve(u):
                continue
            least = min(self.needed(other) for other in self.bounds.numbers if self.can_improve(other))
            known = problem.intents_of(problem.shared(self.stages[u])) if u in self.stages else 0
            done, work = self._branch(u, max(least, known + 1), NEVER, work)
            if not done:
                return

    def _branch(self, u: int, need: int, above: int, work: float) -> tuple[bool, float]:
        """Branch for u units that share more than any known; return whether it ended, and the work left."""
        left = reduce(self.problem, u, need, above)
        search = Branching(self.problem, u, need, above, self._offer_editions, deadline=self.deadline, work=work)
        if left is not None and not search.run(left):
            return False, search.work
        open_before = [other for other in self.bounds.numbers if other >= u and self.can_improve(other)]
        for other in self.bounds.at_most:
            if other >= u:  # of more units some share at least as many
                self.bounds.lower(other, search.need - 1)
        for other in open_before:
            if not self.can_improve(other):
                self.bounds.closed[other] = "branching"
        return True, search.work

    def _relax_all(self) -> None:
        """Bound all c(u) at once by a linear program, where that is tighter than a cut.

        The price is the incumbent's intents per unit: a line that touches the hyperbola of selections as good as
        the incumbent. If no other point reaches the line, everything is closed.
        """
        improved = self.problem.choice
        while improved and self.best is not None and (run := list(self._open())):
            left = reduce(self.problem, run[-1], self.needed(run[0]), NEVER)
            if left is None:
                return  # `_tighten` finds that too
            p, q = self.best.intents, self.best.units
            program = Program(self.problem, left, single=self.problem.single)
            answer = self._solve(program, q * program.intents + p * program.units, relaxed=True)
            least = self.needed(run[0]) - 1
            improved = self._take(answer)
            for u in run if answer.status == "optimal" else []:
                most = max(math.floor((answer.value - p * u) / q + HALF), least)
                self.bounds.lower(u, most)
                if not self.can_improve(u):
                    self.bounds.closed[u] = "relaxation"

    def _tighten(self, u: int) -> Remainder | None:
        """Bound c(u) by reduction and minimum cuts; return the problem that remains."""
        need = self.needed(u)
        left = reduce(self.problem, u, need, self.bounds.at_most[u + 1], self._start.get(u))
        most = -1 if left is None else bound(self.problem, left, u, need)
        self.bounds.lower(u, max(most, need - 1), "reduction" if most < need else None)
        return left if self.can_improve(u) else None

    def _ask(self, u: int) -> None:
        """Decide whether u units can improve on the incumbent, by a linear program, branching or an integer program."""
        relaxed = not self.problem.choice  # where each unit is one edition, the cut is as good
        work = BRANCH_WORK
        while self.can_improve(u) and time.monotonic() < self.deadline:
            if relaxed and work > 0:  # branching begins with the reduction and a cut of its own
                done, work = self._branch(u, self.needed(u), self.bounds.at_most[u + 1], work)
                work = work if done and not self.can_improve(u) else -1
                continue
            left = self._tighten(u)
            if left is None:
                return
            if not relaxed:
                relaxed = True
                program = Program(self.problem, left, single=self.problem.single)
                program.lp += program.units >= u
                self._relax(u, program)
            elif not self._ask_program(u, left):
                return

    def _ask_program(self, u: int, left: Remainder) -> bool:
        """Solve an integer program for u units that improve on the incumbent; return whether its answer was usable."""
        need = self.needed(u)
        for solver in self._solvers():
            program = Program(self.problem, left, single=self.problem.single)
            program.lp += program.units >= u
            program.lp += program.intents >= need - HALF
            answer = self._solve(program, program.intents, solver=solver)
            if answer.status == "infeasible":
                self.bounds.lower(u, need - 1, "program")
                return True
            if self._take(answer):
                return True
            if self._limited:
                return False
            log.warning("%s stopped without an answer for %d units (%s)", solver, u, answer.status)
        done, _ = self._branch(u, need, self.bounds.at_most[u + 1], np.inf)
        if not done or self.can_improve(u):
            self._may_stop(f"{u} units share {need:,} intents")
        return done

    def _relax(self, u: int, program: Program) -> None:
        """Bound c(u) by the linear relaxation of the program."""
        need = self.needed(u)  # of selections with fewer intents the program, made of a reduction, says nothing
        answer = self._solve(program, program.intents, relaxed=True)
        if answer.status != "stopped":
            most = -1 if answer.status == "infeasible" else math.floor(answer.value + HALF)
            self.bounds.lower(u, max(most, need - 1), "relaxation" if most < need else None)
        self._take(answer)

    def _offer_editions(self, editions: Booleans) -> bool:
        return self._offer(self.problem.shared(editions))

    def _take(self, answer: Answer) -> bool:
        """Update the incumbent with the answer of a solver; return whether it improves."""
        editions = answer.editions
        return editions is not None and bool(editions.any()) and self._offer(self.problem.shared(editions))

    @property
    def _limited(self) -> bool:
        """Return whether a solver may stop without an answer, because of time or a limit set by the user."""
        return not np.isinf(self.deadline) or isinstance(self.solver, pulp.LpSolver)

    def _solvers(self) -> Iterator[pulp.LpSolver | str | None]:
        """Yield the solver and, if that had no reason to stop, alternative ones."""
        yield self.solver
        if not self._limited:
            others = ["PULP_CBC_CMD" if self.solver in (None, "HiGHS") else "HiGHS"]
            yield from set(others) & set(pulp.listSolvers(onlyAvailable=True))

    def _solve(
        self,
        program: Program,
        objective: pulp.LpAffineExpression,
        *,
        relaxed: bool = False,
        solver: pulp.LpSolver | str | None = None,
    ) -> Answer:
        remaining = self.deadline - time.monotonic()
        limit = None if np.isinf(remaining) else max(remaining, 0.01)
        answer = program.maximize(objective, configured(solver or self.solver, limit), relaxed=relaxed)
        if answer.interrupted:
            self._take(answer)
            raise KeyboardInterrupt
        return answer

    def _break_ties(self) -> None:
        """Search, among selections of equal value, for one with more editions of the same languages."""
        self.ties_open = True
        settled = [self._settle_ties(u) for u in self.bounds.numbers]
        self.ties_open = not all(settled)

    def _settle_ties(self, u: int) -> bool:
        """Find equally good selections of u languages with more editions; return whether no further ones can exist."""
        problem = self.problem
        while self.best is not None and self.best.value % u == 0:
            intents = self.best.value // u
            if self.bounds.at_most[u] < intents or intents < problem.min_intents:
                return True
            left = reduce(problem, u, intents, self.bounds.at_most[u + 1])
            if left is None:
                return True
            full: Booleans = problem.required | (weigh(problem.weight * left.rows, problem.present) >= intents)
            if min(int(full.sum()), problem.max_editions) <= self.best.n_editions:
                return True
            if time.monotonic() >= self.deadline:
                return False
            if self._branch_ties(u, intents, left, TIES_WORK):
                return True
            program = Program(problem, replace(left, editions=full), single=False)
            program.lp += program.units >= u
            program.lp += program.intents >= intents - HALF
            program.lp += program.n_editions >= self.best.n_editions + HALF
            answer = self._solve(program, program.n_editions)
            if answer.status == "infeasible":
                return True
            if self._take(answer):
                continue
            if self._branch_ties(u, intents, left, BRANCH_WORK):
                return True
            self._may_stop(f"{u} units share {intents:,} intents in more than {self.best.n_editions} editions")
            return False
        return True

    def _branch_ties(self, u: int, intents: int, left: Remainder, work: float) -> bool:
        """Find equally good selections of u languages with more editions; return whether branching ended."""
        above, offer = self.bounds.at_most[u + 1], self._offer_editions
        search = Branching(self.problem, u, intents, above, offer, deadline=self.deadline, work=work, every=True)
        return self.problem.single and search.run(left)

    def _may_stop(self, unknown: str) -> None:
        """Raise a SolverError if a question stays open though nothing limited the solver."""
        if not self._limited:
            raise SolverError(
                f"no solver can tell whether {unknown}, though none had a limit. Pass another one as "
                f"{option('solver')}, or accept an unproven result with {option('time_limit')}."
            )

    def _announce(self) -> None:
        """Open the progress display of the open numbers of units."""
        if self._bar is not None:
            self._task = self._bar.add_task("selection", total=len(list(self._open())), note=self._note())

    def _advance(self) -> None:
        if self._bar is not None:
            total = self._bar.tasks[self._bar.task_ids.index(self._task)].total or 0
            left = len(list(self._open()))
            self._bar.update(self._task, completed=total - left, note=self._note())

    def _note(self) -> str:
        if self.best is None:
            return "nothing yet"
        gap = self.upper_bound / self.best.value - 1
        return f"{self.best.n_editions:,} editions × {self.best.intents:,} intents, at most {100 * gap:.2f} % more"
