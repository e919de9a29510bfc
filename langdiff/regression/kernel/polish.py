"""From near an optimum of a likelihood of cells to the optimum itself, by Newton's method.

L-BFGS stops where every parameter is within a small part of its standard error; where exactly depends on
the order of the rows. Scores and information, and with them standard errors, would depend on it too.
"""

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from langdiff.base.types import Floats
from langdiff.regression.kernel.cell_likelihood import CellLikelihood
from langdiff.regression.kernel.row_information import second_order

MOST_STEPS = 12  # from where L-BFGS stops, three or four do; kinks of derivatives may ask for more
DONE = 1e-11  # length of a step in standard errors


def polish(likelihood: CellLikelihood, mu: Floats, c: Floats) -> tuple[Floats, Floats]:
    """Return μ and c at the optimum, or the best of the way there.

    The Hessian is diagonal in μ, so that a step needs one J × J system. A point is taken only if its
    gradient, in standard errors, is less than that of the last; where the likelihood is not concave,
    the search ends.

    Parameters
    ----------
    likelihood : CellLikelihood
        Likelihood with second derivatives.
    mu, c : ndarray, shapes (I,) and (J,)
        A point near the optimum.
    """
    table, best, least = likelihood.two_way, (mu, c), np.inf
    for _ in range(MOST_STEPS):
        try:
            rows, root = second_order(likelihood, mu, c)
            factor = cho_factor(table.gather(table.gather(rows.total).T))
        except (LinAlgError, ValueError):  # not concave; not finite
            break
        slope = likelihood.value_and_gradient(mu, c, np.zeros(len(mu))).mu
        of_c = table.gather(rows.mixed.T @ (slope / root) - rows.score.sum(axis=0))
        step = cho_solve(factor, of_c)
        length = max(float(np.sqrt(np.maximum(of_c @ step, 0.0))), float(np.abs(slope / root).max()))
        if not length < least:
            break
        best, least = (mu, c), length
        if length < DONE:
            break
        step = table.spread(step)
        mu, c = mu - (slope / root + rows.mixed @ step) / root, c - step
    return best
