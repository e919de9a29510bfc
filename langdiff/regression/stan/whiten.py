r"""Data of the Stan programs: the table, or sums over it around a fit that whitens the posterior.

The whitened programs sample under a linear change of variables of constant determinant. With hats for a
fit, v its variances, w = 1/v, M the mask of observed cells (1 or 0) and :math:`N_i` the cells of row i,

.. math::
    d - \bar d &= \hat d + L e, \qquad L L^\top = Q (Q^\top W Q)^{-1} Q^\top, \quad
        W = \sum_i w_i \Bigl(\operatorname{diag}(M_i) - \tfrac{1}{N_i} M_i M_i^\top\Bigr) \\
    \ln\kappa &= \hat k + s k, \qquad s^{-2} = \tfrac12 \sum_i (N_i - 1)
        \Bigl(p_i w_i \frac{1 + q/2}{1 + p_i/2}\Bigr)^2 \\
    r_i - \bar d &= \hat r_i + \frac{1}{1 + p_i/2} \Bigl( \sqrt{v_i/N_i}\, a_i
        + \bigl(1 + \tfrac q2\bigr) s k + \tfrac1{N_i} (M L e)_i \Bigr),
        \qquad r_i = \ln\kappa - \ln n_i

where Q is an orthonormal basis of the vectors with sum 0, :math:`p_i = \kappa/(n_i+\kappa)` and
:math:`q = \kappa/(1+\kappa)`. W is the information on d of the two-way layout, the rows eliminated;
the last two terms of r keep the rows' locations where the cells want them when κ or d moves. So e, a and
k have posterior scale about 1 and little correlation, and Hamiltonian Monte Carlo needs no mass
matrix. The posterior itself does not depend on the fit. Model 1 is whitened exactly; see its program.
"""

from typing import Any

import numpy as np
from scipy.linalg import cholesky, helmert, solve_triangular
from scipy.special import logsumexp

from langdiff.base.types import Floats
from langdiff.regression.kernel.likelihood import mu_at_mean

Data = dict[str, Any]  # names in the Stan programs to numbers and arrays


def long_data(z: Floats) -> Data:
    """Return the observed cells, edition by edition.

    Shapes: z (I, J).

    Examples
    --------
    >>> data = long_data(np.array([[0.1, np.nan], [0.2, 0.3]]))
    >>> data["row"].tolist(), data["first"].tolist()
    ([1, 2, 2], [1, 3, 4])
    """
    editions, rows = np.nonzero(~np.isnan(z.T))
    per_edition = np.bincount(editions, minlength=z.shape[1])
    return {
        "I": z.shape[0],
        "J": z.shape[1],
        "N": len(rows),
        "z": z[rows, editions],
        "row": rows + 1,
        "first": np.concatenate([[1], 1 + np.cumsum(per_edition)]),
    }


def information(mask: Floats, weight: Floats) -> Floats:
    """Return the information on d of a two-way layout with the rows eliminated, W of the module.

    Shapes: mask (I, J); weight (I,).

    Examples
    --------
    >>> information(np.ones((3, 2)), np.ones(3))
    array([[ 1.5, -1.5],
           [-1.5,  1.5]])
    """
    per_row = mask * (weight / mask.sum(axis=1))[:, None]
    eliminated: Floats = np.diag(weight @ mask) - mask.T @ per_row
    return eliminated


def root_of_inverse(weight: Floats) -> Floats:
    """Return L, shape (J, J − 1), columns summing to 0, with L Lᵀ the pseudo-inverse of `weight`.

    Shapes: weight (J, J).
    """
    q = helmert(len(weight)).T  # (J, J − 1), orthonormal
    lower = cholesky(q.T @ weight @ q, lower=True)
    root: Floats = solve_triangular(lower, q.T, lower=True).T
    return root


def whiten_model_1(z: Floats, difficulty: Floats, log_size: Floats) -> Data:
    """Return the data of ``model_1.stan``.

    Shapes: z (I, J); difficulty, log_size (J,).
    """
    observed = ~np.isnan(z)
    mask = observed.astype(float)
    cells = mask.sum(axis=1)
    d_hat, m_hat = difficulty - difficulty.mean(), log_size + difficulty.mean()
    residual = np.where(observed, z - m_hat[:, None] - d_hat, 0.0)
    squares = np.einsum("ij,ij->i", residual, residual)
    freedom = float(cells.sum() - z.shape[0] - z.shape[1] + 1)
    variance = squares.sum() / freedom
    k_hat = float(np.log(np.expm1(variance)))
    slope = -np.expm1(-variance) / variance  # of ln σ² in ln κ
    root = root_of_inverse(information(mask, np.ones(len(z))))
    return {
        "I": z.shape[0],
        "J": z.shape[1],
        "d_hat": d_hat,
        "d_root": root,
        "m_hat": m_hat,
        "k_hat": k_hat,
        "k_scale": float(np.sqrt(2 / freedom) / slope),
        "cells": cells,
        "sum_of_squares": float(squares.sum()),
        "degrees_of_freedom": freedom,
        "incomplete": int(not mask.all()),
        "mask_root": np.empty((0, root.shape[1])) if mask.all() else mask @ root,
    }


def whiten(z: Floats, difficulty: Floats, log_size: Floats, log_kappa: float) -> Data:
    """Return the data of a fit that the whitened programs of models 2, 2L and 3 take.

    Shapes: z (I, J); difficulty, log_size (J,).
    """
    observed = ~np.isnan(z)
    mask = observed.astype(float)
    cells = mask.sum(axis=1)
    d_hat, m_fit = difficulty - difficulty.mean(), log_size + difficulty.mean()
    level = float(logsumexp(d_hat) - np.log(len(d_hat)))
    location = m_fit + 0.5 * (np.logaddexp(0, log_kappa) - np.logaddexp(0, log_kappa - log_size))
    freedom = cells.sum() - z.shape[0] - z.shape[1] + 1
    k = log_kappa + float(np.log(cells.sum() / freedom)) / (1 - 0.5 * float(np.expm1(-np.logaddexp(0, log_kappa))))
    sigma_square = float(np.logaddexp(0, k))
    log_size = mu_at_mean(location + level - 0.5 * sigma_square - k) + k  # the same locations, at the new κ
    ratio = k - log_size
    v, p, q = np.logaddexp(0, ratio), 1 / (1 + np.exp(-ratio)), -np.expm1(-sigma_square)
    slope = 1 + p / 2  # of a location, less ln κ, in −r
    r_on_k = (1 + q / 2) / slope
    root = root_of_inverse(information(mask, 1 / v))
    residual = np.where(observed, z - location[:, None] - d_hat, 0.0)
    return {
        "I": z.shape[0],
        "J": z.shape[1],
        "d_hat": d_hat,
        "d_root": root,
        "r_hat": ratio + level,
        "r_scale": np.sqrt(v / cells) / slope,
        "r_on_k": r_on_k,
        "r_on_row": 1 / (cells * slope),
        "k_hat": k,
        "k_scale": float(np.sum(0.5 * (cells - 1) * (r_on_k * p / v) ** 2) ** -0.5),
        "location_hat": location,
        "cells": cells,
        **_mask_data(mask, root),
        "residual_sum": residual.sum(axis=1),
        "residual_square": np.einsum("ij,ij->i", residual, residual),
        "residual_root": residual @ root,
        "row_variance": v,
    }


def whiten_sizes(log_size: Floats | None) -> Data:
    """Return the data of the distribution of sizes that the programs take.

    Shapes: log_size (I,).
    """
    if log_size is None:
        hats = (0.0, 0.0, 0.0, 0.0)
    else:
        spread, intents = float(np.std(log_size)), len(log_size)
        hats = (
            float(np.mean(log_size)),
            spread / np.sqrt(intents),
            float(np.log(spread)),
            float((2 * intents) ** -0.5),
        )
    names = ("size_mean_hat", "size_mean_scale", "log_spread_hat", "log_spread_scale")
    return {"random_intents": int(log_size is not None), **dict(zip(names, hats, strict=True))}


def _mask_data(mask: Floats, root: Floats) -> Data:
    if mask.all():
        return {"incomplete": 0, "mask": np.empty((0, mask.shape[1])), "mask_root": np.empty((0, root.shape[1]))}
    return {"incomplete": 1, "mask": mask, "mask_root": mask @ root}
