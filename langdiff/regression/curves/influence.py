r"""Log bits of every edition at one size, and what each cluster of intents does to them.

With normalized difficulties :math:`\delta_j`, whose factors average 1, and T the bits of all cells, edition j with
:math:`I_j` cells spends on an intent

.. math:: B_j = S e^{\delta_j}, \qquad S = T \Big/ \sum_j I_j e^{\delta_j},

in a complete table the mean of its bits as model 2 smooths it. Each cluster of intents moves :math:`\ln B_j` by its
influence :math:`\psi_{gj}`, to first order: that of the sandwich (CR2) for :math:`\delta`, and the ratio's own for S.
Clusters drawn with replacement :math:`w_g` times give :math:`\ln B_j + \sum_g (w_g - 1) \psi_{gj}`.
"""

import warnings
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import softmax

from langdiff.base.types import Floats, Integers
from langdiff.errors import ConvergenceWarning
from langdiff.regression.design import make_design
from langdiff.regression.estimating import fit_fixed
from langdiff.regression.kernel.clusters import adjusted
from langdiff.regression.kernel.estimate import published_parameters
from langdiff.regression.options import USUAL_CORRECTION, Options, Settings, check_options
from langdiff.regression.table import log_bits
from langdiff.regression.variants import PlainModel, find_variant
from langdiff.tables.surprisals import Surprisals


class SizeEstimate(NamedTuple):
    """ln B of every edition, shape (J,), influences of the clusters, shape (G, J), and whether the fit converged."""

    log_bits: Floats
    influence: Floats
    converged: bool


def estimate_size(table: Surprisals, model: PlainModel, cluster: Integers) -> SizeEstimate:
    """Fit a model to the table of one size.

    Parameters
    ----------
    table : Surprisals, shape (I, J)
        Bits by language models trained on one amount of text.
    model : {"1", "2", "2L", "2C"}
        Regression model; see `langdiff.fit`.
    cluster : ndarray of int, shape (I,)
        Cluster of each intent, from 0 to G - 1.

    Raises
    ------
    DataError
        If the table cannot be fitted, or a cluster has all the information on some difference.

    Warns
    -----
    ConvergenceWarning
        If the fit stopped before its criterion was met.
    """
    settings = Settings(find_variant(model))
    options = check_options(
        Options(settings, "fixed", "normal", None, "common", "sandwich", USUAL_CORRECTION, 0, None), clustered=True
    )
    design = make_design(table.editions, None, None, None)
    z = log_bits(table, design)
    fitted = fit_fixed(z, design, options, table)
    if not fitted.found.converged:
        warnings.warn(f"{table.lm}, model {model}: {fitted.found.message}.", ConvergenceWarning, stacklevel=3)
    difficulty = published_parameters(fitted.found, design.first).difficulty
    clusters = fitted.clusters(cluster[fitted.used])
    of_c = np.zeros((cluster.max() + 1, len(difficulty)))
    of_c[clusters.numbers] = adjusted(clusters, clusters.scores, options.correction) @ clusters.root.T
    influence = of_c - (of_c @ softmax(difficulty))[:, None]
    level, of_level = _level(table.bits, difficulty, influence, cluster)
    return SizeEstimate(level + difficulty, of_level[:, None] + influence, fitted.found.converged)


def _level(bits: pd.DataFrame, difficulty: Floats, influence: Floats, cluster: Integers) -> tuple[float, Floats]:
    """Return ln S and the influence of each cluster on it, shape (G,)."""
    numbers, factor = bits.to_numpy(), np.exp(difficulty)
    shape = (cluster.max() + 1, numbers.shape[1])
    totals, cells = np.zeros(shape[0]), np.zeros(shape)
    np.add.at(totals, cluster, np.nansum(numbers, axis=1))
    np.add.at(cells, cluster, (~np.isnan(numbers)).astype(float))
    content = cells @ factor  # (G,): what the bits would be with S = 1
    moved = influence @ (cells.sum(axis=0) * factor)
    of_level: Floats = totals / totals.sum() - (content + moved) / content.sum()
    return float(np.log(totals.sum() / content.sum())), of_level
