"""Differences between fits of the same texts, from the influences that the fits keep; nothing is fitted again."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from langdiff.base.types import Floats
from langdiff.errors import ConfigError, DataError
from langdiff.tables.contrasts import Scale
from langdiff.tables.effects import Effects
from langdiff.tables.influences import Influences, joint_test, matched

ENOUGH_CLUSTERS = 50  # whose influences simultaneous inference draws from


class Source(NamedTuple):
    """One fit of a table: name, effects, influences, properties of editions, and errors in words."""

    name: str
    effects: Effects
    influence: Influences | None
    edition_info: pd.DataFrame | None
    errors: str
    size: str
    n_clusters: int


class Difference(NamedTuple):
    """Difficulties by one fit less those by another, or by the mean of all."""

    name: str
    one: str
    other: str
    effects: Effects
    test: tuple[float, float, float, float]  # F, its degrees of freedom, p
    notes: tuple[str, ...] = ()


def shared_texts(one: Source, other: Source) -> bool | None:
    """Return whether two fits are shown to be of the same texts; None if they share no intent."""
    a, b = one.influence, other.influence
    if a is None or b is None:
        return False
    if not len(a.intents.intersection(b.intents)):
        return None
    return a.same_texts(b)


def difference(one: Source, others: list[Source], name: str, *, independent: bool = False) -> Difference:
    """Return the difficulties by a fit less the mean of those by others, which may contain it.

    Parameters
    ----------
    one : Source
        The fit.
    others : list of Source
        The other fits, of equal weight.
    name : str
        Name of the difference.
    independent : bool
        Whether the fits are of other texts, so that their covariances are added.

    Raises
    ------
    ConfigError
        If fewer than two editions are in all fits, or the fits estimate different things.
    DataError
        If a fit keeps no influences, or clusters differ.
    """
    fits = [one, *others]
    editions = [e for e in one.effects.estimate.index if all(e in fit.effects.estimate.index for fit in others)]
    if len(editions) < 2:
        raise ConfigError(f"{name}: fewer than two editions are in both fits.")
    _check_estimands(name, fits)
    weights = [1.0, *[-1.0 / len(others)] * len(others)]
    deltas = [_centred(fit.effects, editions) for fit in fits]
    estimate = np.sum([w * delta for w, delta in zip(weights, deltas, strict=True)], axis=0)
    if independent:
        covariance, freedom, known = _independent(fits, weights, editions, deltas)
    else:
        covariance, freedom, known = _joint(name, fits, weights, editions, deltas)
    notes = []
    if any(len(fit.effects.estimate) != len(editions) for fit in fits):
        notes.append(f"{name}: over the {len(editions)} editions that both have, relative to their average")
    if not independent and fits[0].influence is not None:
        apart = max(fits[0].influence.not_shared(each.influence) for each in others if each.influence is not None)
        if apart > 0:
            notes.append(f"{name}: {100 * apart:.1f} % of cells are in one of the tables only")
    resampled = [fit.name for fit in fits if not fit.errors.startswith("a sandwich (CR2)")]
    if resampled and not independent:
        notes.append(
            f"{name}: standard errors are CR2, also where those of {' and '.join(dict.fromkeys(resampled))} are not"
        )
    names = pd.Index(editions, name="edition")
    effects = Effects(
        estimate=pd.Series(estimate, names, name="difference"),
        covariance=pd.DataFrame(covariance, names, names),
        scale=Scale(quantity="difference", centre="factors"),
        title=name,
        converged=all(fit.effects.converged for fit in fits),
        degrees_of_freedom=pd.DataFrame(freedom, names, names),
        reference=pd.DataFrame(covariance, names, names) if known else None,
    )
    test = joint_test(estimate, covariance, float(freedom.min()))
    return Difference(
        name, one.name, others[0].name if len(others) == 1 else "the mean of all", effects, test, tuple(notes)
    )


def _check_estimands(name: str, fits: list[Source]) -> None:
    told = {fit.effects.scale.estimand for fit in fits} - {""}
    if len(told) > 1:
        raise ConfigError(
            f"{name}: one fit is about {' and the other about '.join(sorted(told))}; fit both with one dispersion to "
            "compare them."
        )


def _centred(effects: Effects, editions: list[str]) -> Floats:
    return effects.scale.center(effects.estimate[editions].to_numpy(dtype=float))


def _joint(
    name: str, fits: list[Source], weights: list[float], editions: list[str], deltas: list[Floats]
) -> tuple[Floats, Floats, bool]:
    parts = []
    for fit in fits:
        if fit.influence is None:
            raise DataError(
                f"{name}: {fit.name} keeps no influences of clusters (a posterior, plain numbers, or clusters of "
                "two kinds), so that its errors have no joint covariance with the other's."
            )
        parts.append(fit.influence)
    moved = [part.among(list(map(str, editions)), delta) for part, delta in zip(parts, deltas, strict=True)]
    rows = matched(parts, moved)
    apart = np.sum([w * each for w, each in zip(weights, rows, strict=True)], axis=0)
    places = [part.editions.get_indexer(pd.Index(list(map(str, editions)))) for part in parts]
    freedom = np.minimum.reduce([part.freedom[np.ix_(at, at)] for part, at in zip(parts, places, strict=True)])
    return apart.T @ apart, freedom, len(apart) >= max(ENOUGH_CLUSTERS, len(editions))


def _independent(
    fits: list[Source], weights: list[float], editions: list[str], deltas: list[Floats]
) -> tuple[Floats, Floats, bool]:
    total = np.zeros((len(editions), len(editions)))
    freedom = np.full(total.shape, np.inf)
    for fit, weight, delta in zip(fits, weights, deltas, strict=True):
        share = np.exp(delta) / np.exp(delta).sum()
        move = np.eye(len(editions)) - share
        covariance = fit.effects.covariance.loc[editions, editions].to_numpy(dtype=float)
        total += weight**2 * move @ covariance @ move.T
        own = pd.DataFrame(fit.effects._freedom(), fit.effects.estimate.index, fit.effects.estimate.index)
        freedom = np.minimum(freedom, own.loc[editions, editions].to_numpy())
    return total, freedom, True


def systems_of(source: Source, columns: pd.DataFrame, title: str) -> list[Source]:
    """Return a fit of a crossed table as one source per system, with influences of the same clusters."""
    found = []
    for system, rows in columns.groupby("system", sort=False):
        own, languages = list(rows.index), list(rows["language"])
        if source.influence is None:
            raise DataError(f"{title} keeps no influences of clusters, so that its systems cannot be shown apart.")
        delta = source.effects.scale.center(source.effects.estimate[own].to_numpy(dtype=float))
        at = source.influence.editions.get_indexer(pd.Index(own))
        freedom = source.influence.freedom[np.ix_(at, at)]
        moved = source.influence.among(own, delta)
        names = pd.Index(languages, name="edition")
        effects = replace(
            source.effects,
            estimate=pd.Series(delta, names, name="difficulty"),
            covariance=pd.DataFrame(moved.T @ moved, names, names),
            degrees_of_freedom=pd.DataFrame(freedom, names, names),
            reference=pd.DataFrame(moved.T @ moved, names, names) if len(moved) >= ENOUGH_CLUSTERS else None,
            title=str(system),
        )
        counts = tuple(source.influence.counts[k] for k in at) if source.influence.counts else ()
        influence = replace(
            source.influence,
            values=moved,
            freedom=freedom,
            editions=names,
            observed=source.influence.observed[:, at],
            texts=source.influence.texts or "stack",
            counts=counts,
        )
        found.append(source._replace(name=str(system), effects=effects, influence=influence))
    return found
