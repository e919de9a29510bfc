r"""The problem as an integer program, in PuLP.

With :math:`b_j` for "edition j is in B", :math:`y_k` for "row k is in C" and :math:`l_u` for "unit u is counted":

.. math:: y_k + b_j \le 1 \text{ where edition j lacks row k}, \qquad
          l_u \le \textstyle\sum_{j \in u} b_j,

and the limits. Only the b need be integer: y and l are then 0 or 1 at an optimum.
"""

from typing import Any, NamedTuple

import numpy as np
import pulp

from langdiff.errors import SolverError
from langdiff.selection._problem import Bools, Problem


class Answer(NamedTuple):
    """What a solver says: ``"optimal"``, ``"infeasible"`` or ``"stopped"``, with its best editions if it has any."""

    status: str
    editions: Bools | None


class Program:
    """Variables and constraints; `intents`, `n_editions` and `units` are to be used in more of them.

    Parameters
    ----------
    problem : Problem
        What to choose from.
    rows, editions : ndarray of bool, shapes (K,) and (J,)
        Which may be chosen.
    """

    def __init__(self, problem: Problem, rows: Bools, editions: Bools) -> None:
        self.problem = problem
        self._lp = pulp.LpProblem("selection", pulp.LpMaximize)
        self._b = {int(j): self._lp.add_variable(f"b{j}", 0, 1, pulp.LpInteger) for j in np.flatnonzero(editions)}
        y = {int(k): self._lp.add_variable(f"y{k}", 0, 1) for k in np.flatnonzero(rows)}
        for k, variable in y.items():
            for j in np.flatnonzero(~problem.present[k] & editions):
                self._lp += variable + self._b[int(j)] <= 1
        self.intents = pulp.LpAffineExpression([(variable, int(problem.weight[k])) for k, variable in y.items()])
        self.n_editions = pulp.lpSum(self._b.values())
        self.units = self._units() if problem.count_languages else self.n_editions
        self._limits()

    def _units(self) -> pulp.LpAffineExpression:
        units = []
        for language in np.unique(self.problem.language[list(self._b)]):
            counted = self._lp.add_variable(f"l{language}", 0, 1)
            self._lp += counted <= self._of_language(language)
            units.append(counted)
        return pulp.lpSum(units)

    def _of_language(self, language: int) -> pulp.LpAffineExpression:
        return pulp.lpSum(b for j, b in self._b.items() if self.problem.language[j] == language)

    def _limits(self) -> None:
        problem = self.problem
        for j in np.flatnonzero(problem.required):
            self._lp += self._b[int(j)] == 1
        for language in problem.required_languages:
            self._lp += self._of_language(language) >= 1
        if problem.max_editions < len(self._b):
            self._lp += self.n_editions <= problem.max_editions
        for language, count in enumerate(np.bincount(problem.language[list(self._b)])):
            if problem.max_per_language < count:
                self._lp += self._of_language(language) <= problem.max_per_language

    def add(self, constraint: Any) -> None:
        """Add a constraint."""
        self._lp += constraint

    def maximise(self, objective: Any, solver: pulp.LpSolver) -> Answer:
        """Solve for an objective in which every b occurs.

        Raises
        ------
        SolverError
            If the solver fails.
        """
        self._lp.setObjective(objective)
        try:
            self._lp.solve(solver)
        except (pulp.PulpError, OSError) as error:
            raise SolverError(f"{type(solver).__name__} failed: {error}. Try another solver.") from error
        if self._lp.sol_status == pulp.LpSolutionInfeasible:
            return Answer("infeasible", None)
        values = [b.value() for b in self._b.values()]
        editions = None
        if all(value is not None for value in values):
            editions = np.zeros(len(self.problem.language), dtype=bool)
            editions[[j for j, value in zip(self._b, values, strict=True) if value > 0.5]] = True
        return Answer("optimal" if self._lp.sol_status == pulp.LpSolutionOptimal else "stopped", editions)
