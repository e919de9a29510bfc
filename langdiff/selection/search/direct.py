r"""The whole problem as one integer program: slow, and the independent check on small instances.

One binary variable per row and per edition; the product of intents and units is linearized as
:math:`\sum_k w_k t_k` with :math:`t_k \le U y_k` and :math:`t_k \le \sum_g l_g`, so that :math:`t_k` is the number of
units if row k is chosen, else 0.
"""

import numpy as np
import pulp

from langdiff.selection.search.exact import HALF, Search
from langdiff.selection.search.program import Program
from langdiff.selection.search.reduction import Remainder


class Direct(Search):
    """Search by one program, solved again with a higher cut-off until that is infeasible."""

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
