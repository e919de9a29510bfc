"""From the parameters of a search to published ones: abilities that average 0, difficulties for the average system."""

import numpy as np
import pandas as pd

from langdiff.base.types import Floats
from langdiff.regression.outcomes.design import ItemDesign
from langdiff.regression.outcomes.likelihood import Point

ABILITY, DIFFICULTY, PROFILE, TERM, SPREAD, CORRELATION, LOADING = (
    "ability",
    "difficulty",
    "profile",
    "term",
    "spread",
    "correlation",
    "loading",
)


def part_of(parameters: pd.DataFrame, parameter: str) -> pd.DataFrame:
    """Return the rows of one kind of parameter, indexed by name; none if there is none."""
    return parameters[parameters.index.get_level_values(0) == parameter].droplevel(0)


def publish(
    point: Point, covariance: Floats, design: ItemDesign, systems: pd.Index, *, conditional: bool
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return published parameters and their joint covariance.

    Parameters
    ----------
    point : Point
        Estimates.
    covariance : ndarray, shape (P, P)
        Their covariance; 0 for what is fixed.
    design : ItemDesign
        Groups and terms of the items.
    systems : Index
        Names of the systems.
    conditional : bool
        Whether difficulties were conditioned on, so that there are none.

    Returns
    -------
    DataFrame
        Columns ``estimate`` and ``std_error``, indexed by (parameter, name).
    DataFrame
        Covariance, with the same index on both axes.
    """
    blocks, J = point.level.shape
    K, P = len(point.slope), len(point.to_vector())
    vector = point.to_vector()
    names: list[tuple[str, str]] = [(ABILITY, str(name)) for name in systems]
    by_block = np.eye(P)[: blocks * J].reshape(blocks, J, P)  # picks m
    ability = by_block.mean(axis=0) - by_block.mean(axis=(0, 1))
    rows = [ability]
    slopes = np.eye(P)[blocks * J : blocks * J + K]
    if not conditional:
        level = -by_block.mean(axis=1)  # of each block
        if design.groups is None:
            names.append((DIFFICULTY, "all"))
        else:
            names += [(DIFFICULTY, str(group)) for group in design.groups]
            if not design.interacting:
                level = level + np.vstack([np.zeros(P), slopes[: design.indicators]])
        rows += [level, slopes[design.indicators :]]
        names += [(TERM, term) for term in design.terms]
    if design.interacting and design.groups is not None:
        centred = by_block - by_block.mean(axis=0) - by_block.mean(axis=1)[:, None] + by_block.mean(axis=(0, 1))
        rows.append(-centred.reshape(-1, P))
        names += [(PROFILE, f"{system}: {group}") for group in design.groups for system in systems]
    linear = np.vstack(rows)
    estimate = linear @ vector
    if not conditional:
        names.append((SPREAD, "items"))
        linear = np.vstack([linear, np.eye(P)[-J - 2]])
        estimate = np.append(estimate, point.spread)
        if point.free_loadings:
            names += [(LOADING, str(name)) for name in systems]
            loading = np.exp(point.log_loading)
            linear = np.vstack([linear, loading[:, None] * np.eye(P)[-J - 1 : -1]])
            estimate = np.append(estimate, loading)
        if point.overdispersion is not None:
            names.append((CORRELATION, "trials"))
            linear = np.vstack([linear, np.eye(P)[-1] / (1 + point.overdispersion) ** 2])
            estimate = np.append(estimate, point.overdispersion / (1 + point.overdispersion))
    index = pd.MultiIndex.from_tuples(names, names=["parameter", "name"])
    found = linear @ covariance @ linear.T
    boundary = (np.diag(found) == 0) & np.isin(index.get_level_values(0), [SPREAD, CORRELATION])
    found[boundary], found[:, boundary] = np.nan, np.nan  # an estimate of 0 has no normal error
    std_error = np.sqrt(np.maximum(np.diag(found), 0))
    parameters = pd.DataFrame({"estimate": estimate, "std_error": std_error}, index=index)
    return parameters, pd.DataFrame(found, index=index, columns=index)
