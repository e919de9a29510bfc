"""Whether a table identifies dispersions of their own, and settings are those offered."""

import numpy as np

from langdiff.base.types import Booleans, Floats, Integers
from langdiff.errors import ConfigError, DataError, option
from langdiff.regression.kernel.connected import edition_components


def check_table(
    z: Floats, model: str, group: Integers, intents: str, clusters: Integers | None, nodes: int, max_iterations: int
) -> None:
    """Check what `estimate_unequal` is given.

    Parameters
    ----------
    z, model, group, intents, clusters, nodes, max_iterations
        The same as for `langdiff.regression.kernel.unequal.estimate.estimate_unequal`.

    Raises
    ------
    ConfigError, DataError
        As there.
    """
    if model not in ("1", "2"):
        raise ConfigError(f"one dispersion per edition is offered for models '1' and '2', not {model!r}.")
    if intents not in ("flat", "normal"):
        raise ConfigError(f"unknown distribution of intents {intents!r}; use 'flat' or 'normal'.")
    if nodes < 1 or max_iterations < 1:
        raise ConfigError(f"nodes and max_iterations must be at least 1, got {nodes} and {max_iterations}.")
    numbered = [("group", "edition", group, z.shape[1])]
    if clusters is not None:
        numbered.append(("clusters", "intent", clusters, z.shape[0]))
    for what, of, labels, length in numbered:
        if labels.shape != (length,) or set(np.unique(labels)) != set(range(int(labels.max()) + 1)):
            raise ConfigError(f"{what} must number each of {length} {of}s from 0 without gaps.")
    observed = ~np.isnan(z)
    least = 1 if intents == "normal" else 2
    few = int((observed.sum(axis=1) < least).sum())
    if few:
        raise DataError(
            f"{few} of {len(z)} intents have fewer than {least} cell(s), and say nothing under a {intents} prior of "
            "sizes: leave them out."
        )
    if edition_components(observed).max() > 0:
        raise DataError("some editions have no chain of shared intents between them: fit each part on its own.")
    _check_identified(observed, group, intents)


def _check_identified(observed: Booleans, group: Integers, intents: str) -> None:
    """Refuse tables in which several sets of dispersions have the same likelihood.

    A flat prior leaves differences of cells, whose variances are sums of two dispersions; a normal one
    identifies its own variance too, as soon as two editions share an intent.
    """
    if intents == "normal":
        return  # connected, so that two editions share an intent
    shared = observed.T.astype(float) @ observed > 0
    first, second = np.nonzero(np.triu(shared, 1))
    n_groups = int(group.max()) + 1
    sums = np.zeros((len(first), n_groups))
    np.add.at(sums, (np.arange(len(first)), group[first]), 1)
    np.add.at(sums, (np.arange(len(first)), group[second]), 1)
    if np.linalg.matrix_rank(np.unique(sums, axis=0)) < n_groups:
        raise DataError(
            f"{len(group)} editions do not identify {n_groups} dispersions under a flat prior of sizes: only sums of "
            "two dispersions can be estimated. Add a third edition that shares intents with both, or give sizes a "
            f"normal prior ({option('intents', 'random')}), or take one common dispersion."
        )
