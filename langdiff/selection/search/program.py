r"""The problem as integer programs, in PuLP.

With :math:`b_j` for "edition j is in B", :math:`y_k` for "row k is in C" and :math:`l_g` for "unit g is counted":

.. math:: y_k + b_j \le 1 \text{ where edition j lacks row k}, \qquad
          l_g \le \textstyle\sum_{j \in g} b_j,

and the limits. Where one edition per unit is enough, :math:`\sum_{j \in g} b_j = l_g`, and the tighter
:math:`y_k + \sum_{j \in g,\; j \text{ lacks } k} b_j \le 1` takes the place of the first. Only the b need be
integer: y and l are then 0 or 1 at an optimum.
"""

from typing import Any, NamedTuple

import numpy as np
import pulp

from langdiff.base.types import Booleans, Integers
from langdiff.errors import SolverError
from langdiff.selection.search.problem import Problem, collapse
from langdiff.selection.search.reduction import Remainder


class Answer(NamedTuple):
    """The answer of a solver: ``"optimal"``, ``"infeasible"`` or ``"stopped"``, with its best editions if any."""

    status: str
    value: float  # of the objective
    editions: Booleans | None
    interrupted: bool


class Program:
    """Variables and constraints; callers build further constraints from `intents`, `n_editions` and `units`.

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
        """Forbid a row together with the editions that lack it."""
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
        """Keep to the requirements and to the limits on editions."""
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
        """Solve for an objective; if `relaxed`, variables need not be whole numbers, and the editions are rounded.

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
