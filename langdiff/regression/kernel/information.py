"""From information on all parameters to the covariance of difficulties."""

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.special import softmax

from langdiff.base.types import Floats
from langdiff.regression.kernel.two_way import TwoWay, weighted_gram


def eliminated_information(table: TwoWay, of_c: Floats, mixed: Floats, of_mu: Floats) -> Floats:
    """Eliminate the intents from an information matrix that is alike in all cells of a row.

    Parameters
    ----------
    table : TwoWay
        Says which cells there are.
    of_c, mixed, of_mu : ndarray, shape (I,)
        Information of each cell of a row on c, of each cell on μ and c together, of the row on μ.

    Returns
    -------
    ndarray, shape (J, J)
    """
    editions = len(table.edition_effect)
    if table.mask is None:
        complete: Floats = of_c.sum() * np.eye(editions) - float(np.sum(mixed**2 / of_mu))
        return complete
    information: Floats = np.diag(of_c @ table.mask) - weighted_gram(table.mask, mixed**2 / of_mu)
    return information


def inverse_information(two_way: TwoWay, information: Floats) -> Floats:
    """Return the covariance of c from the information on it, c being confined to the design.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the information is not positive definite.
    """
    free = two_way.gather(two_way.gather(information).T)
    basis = np.eye(len(free)) if two_way.design is None else two_way.design.T
    root = solve_triangular(cholesky(free, lower=True), basis, lower=True)
    covariance: Floats = root.T @ root
    return covariance


def normalized_covariance(covariance: Floats, c: Floats) -> Floats:
    r"""Return the covariance of :math:`\delta_j = c_j - \ln\frac1J\sum_k e^{c_k}` by the delta method.

    Parameters
    ----------
    covariance : ndarray, shape (J, J)
        Covariance of the estimates of c.
    c : ndarray, shape (J,)
        Difficulties up to a constant.
    """
    jacobian = np.eye(len(c)) - softmax(c)  # rows: δ_j, columns: c_k
    normalized: Floats = jacobian @ covariance @ jacobian.T
    return normalized
