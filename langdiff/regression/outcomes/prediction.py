"""What a fit expects: of a cell given its row, of new outcomes, and of systems that meet every item."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.special import expit, logsumexp

from langdiff.base.types import Floats
from langdiff.errors import ConfigError, DataError, listing
from langdiff.regression.outcomes.cells import log_coefficients
from langdiff.regression.outcomes.design import rows_of
from langdiff.regression.outcomes.integrals import cells_at
from langdiff.regression.outcomes.likelihood import Point, evaluate, parts, place_nodes, row_levels
from langdiff.regression.outcomes.publish import DIFFICULTY, part_of
from langdiff.regression.outcomes.rows import Rows, patterns
from langdiff.regression.outcomes.shared import shared_posterior
from langdiff.tables.outcomes import Outcomes

if TYPE_CHECKING:
    from langdiff.regression.outcomes.result import OutcomeFit

NODES, ITEM_NODES, RATE_NODES = 30, 15, 60
AT_ONCE = 100_000  # numbers of an array


def _check(fit: "OutcomeFit", outcomes: Outcomes) -> Outcomes:
    """Return outcomes with the systems in the order of the fit."""
    if fit.model == "conditional":
        raise ConfigError(
            "the conditional model knows no distribution of items, and predicts nothing; fit model='rasch' for that."
        )
    if not isinstance(outcomes, Outcomes):
        raise ConfigError(f"outcomes must be an Outcomes table, not {type(outcomes).__name__}.")
    differ = fit.systems.index.symmetric_difference(outcomes.systems.index, sort=False)
    if len(differ):
        raise DataError(f"the fit and the outcomes have other systems: {listing(differ)}. Use sel(systems=...).")
    return outcomes if outcomes.systems.index.equals(fit.systems.index) else outcomes.sel(systems=fit.systems.index)


def posterior(rows: Rows, point: Point, nodes: int = NODES) -> tuple[Floats, Floats]:
    """Return nodes and probabilities of the difficulty v of each row given its outcomes, both of shape (n, Q)."""
    v, log_weight = place_nodes(rows, point, nodes, conditional=False)
    log_f = _row_values(rows, point, v) + log_weight
    return v, np.exp(log_f - logsumexp(log_f, axis=1, keepdims=True))


def _row_values(rows: Rows, point: Point, v: Floats) -> Floats:
    values: Floats = cells_at(
        row_levels(rows, point), point.spread * np.exp(point.log_loading), v, rows.s, rows.t, point.overdispersion
    ).value
    return values


def item_difficulties(rows: Rows, point: Point) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of the difficulty of each item for the average system, log odds, (I,)."""
    if point.overdispersion is None and not point.free_loadings:  # it depends on the total only
        merged, place = patterns(rows)
        found = _difficulties(merged, point)
        return found[0][place], found[1][place]
    return _difficulties(rows, point)


def _difficulties(rows: Rows, point: Point) -> tuple[Floats, Floats]:
    mean, deviation = np.empty(len(rows.s)), np.empty(len(rows.s))
    for part, shared in parts(rows, point, ITEM_NODES):
        some = rows.take(part)
        if shared is None:
            v, share = posterior(some, point, ITEM_NODES)
        else:
            level = row_levels(some.take(slice(1)), point)[0]
            v, share = shared.v, shared_posterior(some, level, point.spread, shared)[1]
        mean[part] = (share * v).sum(axis=1)
        deviation[part] = np.sqrt(np.maximum((share * v**2).sum(axis=1) - mean[part] ** 2, 0))
    level = row_levels(rows, point).mean(axis=1)
    return point.spread * mean - level, point.spread * deviation


def predict(fit: "OutcomeFit", outcomes: Outcomes) -> pd.DataFrame:
    """Predict every cell given the outcomes of its row; see `OutcomeFit.predict`."""
    outcomes = _check(fit, outcomes)
    rows = rows_of(outcomes, fit.design(outcomes.items))
    loading = fit.point.spread * np.exp(fit.point.log_loading)
    found = np.empty(rows.s.shape)
    step = max(1, AT_ONCE // (NODES * rows.s.shape[1]))
    for start in range(0, len(found), step):
        some = rows.take(slice(start, start + step))
        v, share = posterior(some, fit.point)
        p = expit(row_levels(some, fit.point)[:, None, :] - v[:, :, None] * loading)
        found[start : start + step] = (share[:, None, :] @ p)[:, 0]
    return pd.DataFrame(found, index=outcomes.items.index, columns=outcomes.systems.index)


def held_out_log_likelihood(fit: "OutcomeFit", held_out: Outcomes, given: Outcomes | None) -> pd.Series:
    """Return the log-probability of new outcomes by item; see `OutcomeFit.held_out_log_likelihood`."""
    held_out = _check(fit, held_out)
    new = rows_of(held_out, fit.design(held_out.items))
    coefficients = log_coefficients(new.s, new.t).sum(axis=1)
    index = held_out.items.index
    if given is None:
        values = evaluate(new, fit.point, nodes=NODES).row_log_likelihoods
        return pd.Series(values + coefficients, index, name="log_likelihood")
    given = _check(fit, given)
    if not given.items.index.equals(index):
        raise DataError("held_out and given must have the same items, in the same order; use sel(items=...).")
    old = rows_of(given, fit.design(given.items))
    both = Rows(s=new.s + old.s, t=new.t + old.t, x=old.x, block=old.block, weight=old.weight)
    if fit.point.overdispersion is not None and ((new.t > 0) & (old.t > 0)).any():
        raise DataError("trials of a cell are dependent: held_out and given must have no cell in common.")
    values = (
        evaluate(both, fit.point, nodes=NODES).row_log_likelihoods
        - evaluate(old, fit.point, nodes=NODES).row_log_likelihoods
    )
    return pd.Series(values + coefficients, index, name="log_likelihood")


def expected_rates(fit: "OutcomeFit") -> pd.DataFrame:
    """Return success rates over all items of each group; see `OutcomeFit.expected_rates`."""
    if fit.model == "conditional":
        raise ConfigError("the conditional model knows no distribution of items; fit model='rasch' for that.")
    design = fit.design(fit.items)
    nothing = np.zeros((len(fit.items), len(fit.systems)))
    rows = Rows(s=nothing, t=nothing, x=design.x, block=design.block, weight=np.ones(len(nothing)))
    merged, place = patterns(rows)  # without a formula, as many as there are groups
    level = row_levels(merged, fit.point)
    loading = fit.point.spread * np.exp(fit.point.log_loading)
    nodes, weights = np.polynomial.hermite_e.hermegauss(RATE_NODES)
    found = sum(w * expit(level - loading * v) for v, w in zip(nodes, weights / weights.sum(), strict=True))
    rates = pd.DataFrame(np.asarray(found)[place], columns=fit.systems.index)
    groups = part_of(fit.parameters, DIFFICULTY).index
    group = np.zeros(len(rates), dtype=int) if design.group is None else design.group
    return rates.groupby(group).mean().set_axis(groups.rename(fit.interaction or fit.by or "items"))
