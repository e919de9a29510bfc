"""The most likely sequence of offsets of an edition: in step, shifted, or fitting nothing."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

BACK = 4.0  # nats that it costs to be in step again


def cost_of_leaving(n_intents: int, n_editions: int, max_offset: int, alpha: float) -> float:
    """Return the nats of evidence that it takes to leave a state.

    As the log of all places, offsets and editions over α, about α passages are expected in a corpus without any.

    Examples
    --------
    >>> round(cost_of_leaving(31_104, 74, 3, 0.05), 4)
    19.5908
    """
    return math.log(n_intents * (2 * max_offset + 1) * n_editions / alpha)


def best_paths(evidence: NDArray[np.floating[Any]], cost: float) -> NDArray[np.int8]:
    """Return the path of states with the greatest sum of evidence, less the costs of changes (Viterbi).

    A path begins in step at no cost, in another state for `cost`. To go to another state costs as much, but to be in
    step again only `BACK`.

    Parameters
    ----------
    evidence : ndarray, shape (S, I, J)
        Evidence for each state; the middle one of all but the last is *in step*.
    cost : float
        What it costs to leave a state.

    Returns
    -------
    ndarray of int, shape (I, J)
        Numbers of states.

    Examples
    --------
    >>> evidence = np.full((4, 5, 1), -5, dtype=np.float32)  # -1, 0, 1, none
    >>> evidence[1, [0, 4]] = 0  # begins and ends in step
    >>> evidence[3, 1:4] = 0
    >>> best_paths(evidence, 8.0).ravel(), best_paths(evidence, 12.0).ravel()
    (array([1, 3, 3, 3, 1], dtype=int8), array([1, 1, 1, 1, 1], dtype=int8))
    """
    n_states, n_intents, n_editions = evidence.shape
    zero = (n_states - 2) // 2
    costs = np.full((n_states, 1), cost)
    costs[zero] = BACK
    begin = np.full((n_states, 1), cost)
    begin[zero] = 0.0
    score = evidence[:, 0].astype(float) - begin if n_intents else np.zeros((n_states, n_editions))
    came = np.zeros((n_intents, n_states, n_editions), dtype=bool)  # from another state, the best
    best = np.zeros((n_intents, n_editions), dtype=np.int8)  # state of the intent before
    columns = np.arange(n_editions)
    for i in range(1, n_intents):
        best[i] = before = score.argmax(axis=0)
        entering = score[before, columns] - costs
        np.greater(entering, score, out=came[i])
        score = np.maximum(score, entering) + evidence[:, i]
    path = np.zeros((n_intents, n_editions), dtype=np.int8)
    state = score.argmax(axis=0)
    for i in range(n_intents - 1, -1, -1):
        path[i] = state
        state = np.where(came[i, state, columns], best[i], state)
    return path
