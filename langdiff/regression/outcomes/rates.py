r"""Expected rates of success over all items, chance included, with errors by the delta method.

.. math:: c + (1 - c) \int \mathrm{logistic}\big(\theta - x^\top\beta - \sqrt{\sigma^2\lambda^2 + \tau^2}\, z\big)
    \varphi(z)\, dz
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import norm

from langdiff.base.types import Floats
from langdiff.errors import ConfigError, option
from langdiff.regression.outcomes.design import ItemDesign, rows_of
from langdiff.regression.outcomes.evaluation import row_levels
from langdiff.regression.outcomes.inference import (
    ABILITY,
    DIFFICULTY,
    ITEMS,
    LOADING,
    PROFILE,
    SPREAD,
    TERM,
    TRANSLATIONS,
    part_of,
)
from langdiff.regression.outcomes.integrals import patterns
from langdiff.tables.outcomes import Outcomes

if TYPE_CHECKING:
    from langdiff.regression.outcomes.result import OutcomeFit

NODES = 60
HALF = float(norm.ppf(0.975))


class Rates(NamedTuple):
    """Rates by group of items, (G, J), and their derivatives in the published parameters, (G, J, P)."""

    values: Floats
    slopes: Floats
    groups: pd.Index


def expected_rates(fit: "OutcomeFit", *, errors: bool = False) -> pd.DataFrame:
    """Return success rates over all items of each group; see `OutcomeFit.expected_rates`."""
    found = rates_of(fit)
    if not errors:
        return pd.DataFrame(found.values, index=found.groups, columns=fit.systems.index)
    std_error = std_errors(fit, found.slopes)
    names = pd.MultiIndex.from_product([found.groups, fit.systems.index])
    frame = pd.DataFrame({"rate": found.values.ravel(), "std_error": std_error.ravel()}, index=names)
    for end, sign in (("low", -1), ("high", 1)):
        frame[end] = (frame["rate"] + sign * HALF * frame["std_error"]).clip(0, 1)
    return frame


def std_errors(fit: "OutcomeFit", slopes: Floats) -> Floats:
    """Return standard errors of functions with given derivatives in the published parameters, shape (..., P) → (...).

    A spread that is estimated as 0 has no error of its own.
    """
    covariance = np.nan_to_num(fit.covariance.to_numpy(dtype=float))
    variance = np.einsum("...p,pq,...q->...", slopes, covariance, slopes, optimize=True)
    found: Floats = np.sqrt(np.maximum(variance, 0))
    return found


def rates_of(fit: "OutcomeFit") -> Rates:
    """Return rates by group with their derivatives.

    Raises
    ------
    ConfigError
        If the model is conditional.
    """
    if fit.structure.conditional:
        raise ConfigError(
            f"the conditional model knows no distribution of items; fit {option('model', 'rasch')} for that."
        )
    design, systems = fit.design(fit.items), fit.systems.index
    nothing = pd.DataFrame(np.nan, fit.items.index, systems)
    empty = Outcomes(successes=nothing, items=fit.items, systems=fit.systems, columns=fit.columns)
    rows = rows_of(empty, design, fit.structure, fit.chance_of(empty))
    merged, place = patterns(rows)  # without a formula, as many as there are groups
    level, chance = row_levels(merged, fit.point), merged.constant
    own = fit.point.spread * np.exp(fit.point.log_loading)
    loading = np.sqrt(own**2 + fit.point.translation**2)
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    mean = fit.structure.likelihood.mean
    values, slope, along = (np.zeros(level.shape) for _ in range(3))
    for z, weight in zip(nodes, weights / weights.sum(), strict=True):
        eta = level - loading * z
        values += weight * mean(eta, chance)
        density = weight * expit(eta) * expit(-eta) * (1 if chance is None else 1 - chance)
        slope += density
        along -= z * density
    groups = part_of(fit.parameters, DIFFICULTY).index
    group = np.zeros(len(place), dtype=int) if design.group is None else design.group
    shares = (group == np.arange(len(groups))[:, None]).astype(float)
    shares /= shares.sum(axis=1, keepdims=True)
    by_pattern = np.stack([np.bincount(place, one, minlength=len(values)) for one in shares]).astype(float)
    slopes = _chain(fit, design, by_pattern, (slope, along, own / np.where(loading > 0, loading, 1)), merged.x)
    named = groups.rename(fit.interaction or fit.by or "items")
    return Rates(by_pattern @ values, slopes, named)


def _chain(
    fit: "OutcomeFit", design: ItemDesign, shares: Floats, slopes: tuple[Floats, Floats, Floats], x: Floats
) -> Floats:
    """Return derivatives of rates in the published parameters, shape (G, J, P)."""
    slope, along, of_spread = slopes
    index = fit.parameters.index
    systems = len(fit.systems)
    found = np.zeros((len(shares), systems, len(index)))
    of_level, of_loading = shares @ slope, shares @ along
    place = {pair: k for k, pair in enumerate(index)}
    kind = index.get_level_values(0)
    ability = np.flatnonzero(kind == ABILITY)
    j = np.arange(systems)
    found[:, j, ability] = of_level
    groups = np.flatnonzero(kind == DIFFICULTY)
    for g, at in enumerate(groups):
        found[g, :, at] = -of_level[g]
    profile = np.flatnonzero(kind == PROFILE)
    if len(profile):
        for g, some in enumerate(profile.reshape(len(groups), systems)):
            found[g, j, some] = -of_level[g]
    for k, at in enumerate(np.flatnonzero(kind == TERM)):
        found[:, :, at] = -(shares * x[:, design.indicators + k]) @ slope
    loading = np.exp(fit.point.log_loading)
    if (SPREAD, ITEMS) in place:
        found[:, :, place[SPREAD, ITEMS]] = of_loading * of_spread * loading
    if (SPREAD, TRANSLATIONS) in place and fit.point.translation > 0:
        total = np.sqrt((fit.point.spread * loading) ** 2 + fit.point.translation**2)
        found[:, :, place[SPREAD, TRANSLATIONS]] = of_loading * (fit.point.translation / total)
    loadings = np.flatnonzero(kind == LOADING)
    if len(loadings):
        found[:, j, loadings] = of_loading * of_spread * fit.point.spread
    return found
