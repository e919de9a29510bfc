r"""Information on difficulties with the sizes of intents eliminated, as an operator.

With one size per intent eliminated, the information on c is :math:`B = D - M^\top M` with a diagonal D and one row of M
for each intent. Vectors are multiplied by its inverse with a Cholesky factor of B, or, of many editions and
fewer intents, with one of :math:`K = 1 - M D^{-1} M^\top` (Woodbury):

.. math:: B^{-1} = D^{-1} + D^{-1} M^\top K^{-1} M D^{-1}

Where B vanishes along the constant, as in model 1, the products are right up to a constant, which contrasts do not see.
"""

from functools import cached_property

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from langdiff.base.types import Floats

WIDE = 2000  # editions above which no matrix of editions × editions is made
SINGULAR = 1e-10  # of the information on one edition, below which the constant has none


class EliminatedInformation:
    """Information on difficulties with the sizes of intents eliminated, as an operator.

    Parameters
    ----------
    own : ndarray, shape (J,)
        D.
    mixed : ndarray, shape (I, J)
        M.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the information is not positive definite.

    Examples
    --------
    >>> mixed = np.full((4, 3), 3**-0.5)  # four intents in three editions
    >>> found = EliminatedInformation(np.full(3, 4.0), mixed).solve(np.array([[1.0, -1.0, 0.0]]))
    >>> found.round(12).tolist()
    [[0.25, -0.25, 0.0]]
    """

    def __init__(self, own: Floats, mixed: Floats) -> None:
        self._own, self.mixed = own, mixed
        intents, editions = mixed.shape
        along = mixed.sum(axis=1)
        constant = bool(np.abs(own - mixed.T @ along).max() <= SINGULAR * own.max())
        self.by_intents = editions > WIDE and intents < editions
        if not (own > 0).all():
            raise LinAlgError("some edition has no information")
        if self.by_intents:
            matrix = -((mixed / own) @ mixed.T)
            matrix[np.diag_indices(intents)] += 1.0
            null = along / np.linalg.norm(along)
            if constant:
                matrix += np.outer(null, null)
        else:
            matrix = -(mixed.T @ mixed)
            matrix[np.diag_indices(editions)] += own
            if constant:
                matrix += own.mean() / editions
        self._factor = cho_factor(matrix, lower=True, overwrite_a=True)

    @cached_property
    def _inverse(self) -> Floats:
        """The inverse, shape (J, J) or (I, I): of many vectors one product is quicker than solving twice."""
        factor, lower = self._factor
        inverse: Floats = cho_solve((factor, lower), np.eye(len(factor)))
        return inverse

    def solve(self, vectors: Floats) -> Floats:
        """Return each vector times the inverse, (n, J) → (n, J)."""
        if not self.by_intents:
            product: Floats = vectors @ self._inverse
            return product
        found = vectors / self._own
        found += (((found @ self.mixed.T) @ self._inverse) @ self.mixed) / self._own
        return found
