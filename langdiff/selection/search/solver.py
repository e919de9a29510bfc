"""Search for selections without proof by branching: greedy heuristics, and integer programs that can be interrupted."""

import signal
import warnings
from collections.abc import Iterator
from threading import current_thread, main_thread
from typing import Any, NamedTuple

import numpy as np
import pulp

from langdiff.base.types import Booleans, Integers
from langdiff.errors import ConfigError, SolverError, words
from langdiff.selection.search.problem import Problem, Remainder, collapse, weigh

STEP = 0.9  # fewer intents than so many times those of the next fuller edition are a step down: to another canon


class InterruptibleHighs(pulp.HiGHS):  # type: ignore[misc]  # PuLP publishes no types
    """Solver HiGHS that Ctrl-C stops with the best solution so far.

    Python delivers the signal only after HiGHS is done. Therefore a handler notes it, and a callback that HiGHS calls
    from time to time stops the run.

    Attributes
    ----------
    interrupted : bool
        Whether Ctrl-C ended the last run.
    """

    interrupted = False

    def callSolver(self, lp: Any) -> None:  # noqa: N802 the name is PuLP's
        """Run HiGHS on the model that PuLP has built."""
        model = lp.solverModel
        self.interrupted = False
        model.cbSimplexInterrupt += self._answer
        model.cbIpmInterrupt += self._answer
        model.cbMipInterrupt += self._answer
        if current_thread() is not main_thread():  # only the main thread receives signals
            model.run()
            return
        usual = signal.signal(signal.SIGINT, self._note)
        try:
            model.run()
        finally:
            signal.signal(signal.SIGINT, signal.SIG_DFL if usual is None else usual)

    def _note(self, *_: Any) -> None:
        self.interrupted = True

    def _answer(self, event: Any) -> None:
        if self.interrupted:
            event.interrupt()

    def findSolutionValues(self, lp: Any) -> tuple[int, int]:  # noqa: N802 the name is PuLP's
        """Read the solution; PuLP would read one even if HiGHS was stopped before it had any."""
        import highspy  # here, because CBC is used where highspy is missing

        unsolved = (highspy.HighsModelStatus.kInterrupt, highspy.HighsModelStatus.kTimeLimit)
        if lp.solverModel.getModelStatus() in unsolved and not lp.solverModel.getSolution().value_valid:
            return pulp.LpStatusNotSolved, pulp.LpSolutionNoSolutionFound
        found: tuple[int, int] = super().findSolutionValues(lp)
        return found


def configured(solver: "pulp.LpSolver | str | None", seconds: float | None) -> pulp.LpSolver:
    """Return a solver with its settings.

    Parameters
    ----------
    solver : pulp.LpSolver, str or None
        A solver that the user configured, the name of one that PuLP knows, or None for HiGHS (CBC where highspy does
        not work).
    seconds : float or None
        Time limit; not set on a solver that the user configured.

    Raises
    ------
    ConfigError
        If PuLP does not know the name.
    SolverError
        If that solver is not installed.
    """
    if solver is None and not pulp.HiGHS(msg=False).available():
        solver = "PULP_CBC_CMD"
    if solver is None or solver == "HiGHS":
        return InterruptibleHighs(msg=False, timeLimit=seconds, gapRel=0.0, gapAbs=0.5)
    if not isinstance(solver, str):
        return solver
    try:
        with warnings.catch_warnings():  # PuLP warns that version 4 will ship CBC differently
            warnings.simplefilter("ignore", DeprecationWarning)
            named = pulp.getSolver(solver, msg=False, timeLimit=seconds)
    except pulp.PulpSolverError as error:
        known = ", ".join(pulp.listSolvers(onlyAvailable=True))
        raise ConfigError(f"unknown solver {solver!r}; PuLP finds here: {known}.") from error
    if not named.available():
        raise SolverError(
            f"PuLP cannot find the solver {solver!r}; install it, or "
            f"{words(python='use solver=None', command='leave --solver out')} (HiGHS)."
        )
    return named


class Answer(NamedTuple):
    """Answer of a solver: ``"optimal"``, ``"infeasible"`` or ``"stopped"``, with its best editions if any."""

    status: str
    value: float  # of the objective
    editions: Booleans | None
    interrupted: bool


class Program:
    """Integer program, whose callers build further constraints from `intents`, `n_editions` and `units`.

    Parameters
    ----------
    problem : Problem
        Problem to choose from.
    left : Remainder
        Editions that may be chosen, and units that must be chosen.
    single : bool
        Whether each unit is one edition.
    """

    def __init__(self, problem: Problem, left: Remainder, *, single: bool) -> None:
        self.problem, self.single = problem, single
        self.columns = np.flatnonzero(left.editions)
        table = problem.present[np.ix_(left.rows, left.editions)]
        self.present, self.weight = collapse(table, problem.weight[left.rows])
        self.lp = pulp.LpProblem("selection", pulp.LpMaximize)
        self.b = [self.lp.add_variable(f"b{j}", 0, 1, pulp.LpInteger) for j in self.columns]
        self.y = [self.lp.add_variable(f"y{k}", 0, 1) for k in range(len(self.weight))]
        self.members = [np.flatnonzero(problem.group[self.columns] == g) for g in range(problem.n_groups)]
        self._incompatible()
        self.intents = pulp.LpAffineExpression([(y, int(w)) for y, w in zip(self.y, self.weight, strict=True)])
        self.n_editions = pulp.lpSum(self.b)
        beyond = int(problem.required.sum()) - len(np.unique(problem.group[problem.required]))
        self.units = self.n_editions - beyond if single else self._units()
        self._limits(left.inside)

    def _incompatible(self) -> None:
        """Add the constraint that a row excludes the editions that lack it."""
        for members in self.members if self.single else [np.array([j]) for j in range(len(self.columns))]:
            for k in np.flatnonzero(~self.present[:, members].all(axis=1)):
                self.lp += self.y[k] + pulp.lpSum(self.b[j] for j in members if not self.present[k, j]) <= 1

    def _units(self) -> pulp.LpAffineExpression:
        counted = []
        for g, members in enumerate(self.members):
            if len(members):
                counted.append(self.lp.add_variable(f"l{g}", 0, 1))
                self.lp += counted[-1] <= self._of(members)
        return pulp.lpSum(counted)

    def _limits(self, inside: Booleans) -> None:
        """Add the constraints of the requirements and the limits on editions."""
        problem = self.problem
        required, language = problem.required[self.columns], problem.language[self.columns]
        for j in np.flatnonzero(required):
            self.lp += self.b[j] == 1
        for members in self.members:
            if self.single and len(members) > max(required[members].sum(), 1):
                self.lp += self._of(members) <= 1
        for g in np.flatnonzero(inside):
            self.lp += self._of(self.members[g]) >= 1
        for one in problem.required_languages:
            self.lp += self._of(np.flatnonzero(language == one)) >= 1
        if problem.n_editions is not None:
            self.lp += self.n_editions == problem.n_editions
        else:
            self.lp += self.n_editions <= problem.max_editions
        for capped in np.flatnonzero(np.bincount(language) > problem.max_per_language):
            self.lp += self._of(np.flatnonzero(language == capped)) <= problem.max_per_language

    def _of(self, columns: Integers) -> pulp.LpAffineExpression:
        return pulp.lpSum(self.b[j] for j in columns)

    def maximize(self, objective: Any, solver: pulp.LpSolver, *, relaxed: bool = False) -> Answer:
        """Solve for an objective; if `relaxed`, solve the linear relaxation and round the editions.

        Raises
        ------
        SolverError
            If the solver fails.
        """
        self.lp.setObjective(objective)
        for b in self.b:
            b.cat = pulp.LpContinuous if relaxed else pulp.LpInteger
        try:
            self.lp.solve(solver)
        except (pulp.PulpError, OSError) as error:
            raise SolverError(f"{type(solver).__name__} failed: {error}. Try another solver.") from error
        interrupted = getattr(solver, "interrupted", False)
        refuted = isinstance(solver, pulp.COIN_CMD) and self.lp.status == pulp.LpStatusInfeasible
        if refuted or self.lp.sol_status == pulp.LpSolutionInfeasible:  # CBC says "Integer infeasible" by the first
            return Answer("infeasible", -np.inf, None, interrupted)
        values = [b.value() for b in self.b]
        if any(value is None for value in values):
            return Answer("stopped", np.inf, None, interrupted)
        editions = np.zeros(len(self.problem.language), dtype=bool)
        editions[self.columns[np.array(values) > 0.5]] = True
        status = "optimal" if self.lp.sol_status == pulp.LpSolutionOptimal else "stopped"
        return Answer(status, float(pulp.value(objective)), editions, interrupted)


def representatives(problem: Problem) -> Booleans:
    """Return all editions, or, where one per unit is enough, the fullest of each unit and those required."""
    candidates = problem.candidates
    if problem.group is not problem.language or not problem.single:
        return candidates
    chosen = problem.required.copy()
    order = np.lexsort((-problem.totals, problem.group))
    order = order[candidates[order]]
    _, first = np.unique(problem.group[order], return_index=True)
    chosen[order[first]] = True
    return chosen


def levels(problem: Problem) -> list[tuple[int, int]]:
    """Return the starting points of removals: the numbers of intents at large steps in their order, and all.

    Removal sees one edition at a time. Beside many New Testaments it gives up whole Bibles before the last of them,
    whose removal alone would free the Old Testament; hence it also begins with whole Bibles alone.

    Returns
    -------
    list of (int, int)
        The fewest intents of an edition to begin with, and what no selection whose emptiest edition is between the step
        before and this one can exceed; by the latter, the largest first.
    """
    totals = np.sort(problem.totals[representatives(problem)])[::-1]
    rank = np.arange(1, len(totals) + 1)
    last = np.append(totals[1:] < STEP * totals[:-1], True)
    units = np.where(rank < max(problem.fewest_units, problem.n_editions or 1), 0, np.minimum(rank, problem.most_units))
    products = units * np.minimum(totals, problem.intents_of(problem.shared(problem.required)))
    most = np.maximum.reduceat(products, np.append(0, np.flatnonzero(last)[:-1] + 1))
    return sorted(zip(totals[last].tolist(), most.tolist(), strict=True), key=lambda level: -level[1])


def stages(problem: Problem, least: int = 0) -> Iterator[tuple[Booleans, Booleans]]:
    """Remove editions one by one, each time the one whose removal frees the most intents.

    Parameters
    ----------
    problem : Problem
        Problem to choose from.
    least : int
        Fewest intents of the editions to begin with; those required are among them in any case.

    Yields
    ------
    kept, rows : ndarray of bool, shapes (J,) and (K,)
        Editions left at each stage, and the rows that all of them have.
    """
    kept = representatives(problem) & ((problem.totals >= least) | problem.required)
    absent = ~problem.present
    lacking = absent[:, kept].sum(axis=1)  # how many of the kept editions lack each row
    while kept.any():
        yield kept.copy(), lacking == 0
        removable = np.flatnonzero(kept & ~problem.required)
        if not len(removable):
            return
        almost = lacking == 1
        freed = weigh(problem.weight[almost], absent[np.ix_(almost, removable)])
        gone = removable[np.lexsort((problem.totals[removable], -freed))[0]]
        kept[gone] = False
        lacking -= absent[:, gone]


def without_worst(problem: Problem, kept: Booleans) -> Booleans:
    """Remove the edition whose removal frees the most intents."""
    absent, removable = ~problem.present, np.flatnonzero(kept & ~problem.required)
    if not len(removable):
        return kept
    almost = absent[:, kept].sum(axis=1) == 1
    fewer = kept.copy()
    fewer[removable[weigh(problem.weight[almost], absent[np.ix_(almost, removable)]).argmax()]] = False
    return fewer


def exchange(problem: Problem, kept: Booleans, allowed: Booleans) -> Booleans:
    """Exchange editions, the best exchange first, until the number of shared intents no longer increases.

    Parameters
    ----------
    problem : Problem
        Problem whose editions are exchanged.
    kept : ndarray of bool, shape (J,)
        Editions to begin with.
    allowed : ndarray of bool, shape (J,)
        Editions that may come in.

    Returns
    -------
    ndarray of bool, shape (J,)
        The same number of editions.
    """
    kept, absent = kept.copy(), ~problem.present
    while True:
        inside, outside = np.flatnonzero(kept & ~problem.required), np.flatnonzero(allowed & ~kept)
        if not len(inside) or not len(outside):
            return kept
        lacking = absent[:, kept].sum(axis=1)
        shared, almost = lacking == 0, lacking == 1
        lost = weigh(problem.weight[shared], absent[np.ix_(shared, outside)])
        freed = absent[np.ix_(almost, inside)] * problem.weight[almost, None].astype(np.float64)  # rows × inside
        both = freed.T @ absent[np.ix_(almost, outside)].astype(np.float64)
        gain = freed.sum(axis=0)[:, None] - lost - both
        gain[~_may_swap(problem, kept, inside, outside)] = -1
        i, j = np.unravel_index(gain.argmax(), gain.shape)
        if gain[i, j] <= 0:
            return kept
        kept[inside[i]], kept[outside[j]] = False, True


def _may_swap(problem: Problem, kept: Booleans, inside: np.ndarray, outside: np.ndarray) -> Booleans:
    """Return an indicator of the exchanges that the limits allow, shape (inside, outside)."""
    taken = np.bincount(problem.language[kept], minlength=int(problem.language.max()) + 1)
    same: Booleans = problem.language[inside][:, None] == problem.language[outside]
    if problem.group is problem.language:
        free = taken[problem.language[outside]] == 0
    else:
        free = taken[problem.language[outside]] < problem.max_per_language
    last = np.isin(problem.language[inside], problem.required_languages) & (taken[problem.language[inside]] == 1)
    may: Booleans = same | (free & ~last[:, None])
    return may
