"""Differences between fits of the same texts, from the influences that the fits keep; nothing is fitted again."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from langdiff.base.types import Floats
from langdiff.errors import ConfigError, DataError
from langdiff.tables.contrasts import Scale
from langdiff.tables.effects import Effects
from langdiff.tables.influences import Covariance, Influence, Sampling, Texts, among, combine
from langdiff.tables.rule import ENOUGH, JointTest


class Source(NamedTuple):
    """One fit of a table: name, effects, influences, properties of editions, and errors in words."""

    name: str
    effects: Effects
    influence: Influence | None
    edition_info: pd.DataFrame | None
    errors: str
    size: str
    n_clusters: int

    @property
    def texts(self) -> Texts | None:
        """The table behind the influences."""
        return None if self.influence is None else self.influence.units.texts


class Difference(NamedTuple):
    """Difficulties by one fit less those by another, or by the mean of all."""

    name: str
    one: str
    other: str
    effects: Effects
    test: JointTest  # that all differences are 0
    notes: tuple[str, ...] = ()


def shared_texts(one: Source, other: Source) -> bool | None:
    """Return whether two fits are shown to be of the same texts; None if they share no intent."""
    a, b = one.texts, other.texts
    if a is None or b is None:
        return False
    if not len(a.intents.intersection(b.intents)):
        return None
    return a.same(b)


def difference(one: Source, others: list[Source], name: str, *, independent: bool = False) -> Difference:
    """Return the difficulties by a fit less the mean of those by others, which may contain it."""
    fits = [one, *others]
    editions = [e for e in one.effects.estimate.index if all(e in fit.effects.estimate.index for fit in others)]
    if len(editions) < 2:
        raise ConfigError(f"{name}: fewer than two editions are in both fits.")
    _check_estimands(name, fits)
    weights = [1.0, *[-1.0 / len(others)] * len(others)]
    deltas = [_centred(fit.effects, editions) for fit in fits]
    estimate = np.sum([w * delta for w, delta in zip(weights, deltas, strict=True)], axis=0)
    make = _independent if independent else _joint
    sampling = make(name, fits, weights, editions, deltas)
    notes = []
    if any(len(fit.effects.estimate) != len(editions) for fit in fits):
        notes.append(f"{name}: over the {len(editions)} editions that both have, relative to their average")
    if not independent and fits[0].texts is not None:
        apart = max(fits[0].texts.not_shared(each.texts) for each in others if each.texts is not None)
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
        influence=sampling,
        scale=Scale(quantity="difference", centre="factors"),
        title=name,
        converged=all(fit.effects.converged for fit in fits),
    )
    than = others[0].name if len(others) == 1 else "the mean of all"
    return Difference(name, one.name, than, effects, effects.test(), tuple(notes))


def _check_estimands(name: str, fits: list[Source]) -> None:
    told = {fit.effects.scale.estimand for fit in fits} - {""}
    if len(told) > 1:
        raise ConfigError(
            f"{name}: one fit is about {' and the other about '.join(sorted(told))}; fit both with one dispersion to "
            "compare them."
        )


def _centred(effects: Effects, editions: list[str]) -> Floats:
    return effects.scale.center(effects.estimate[editions].to_numpy(dtype=float))


def _joint(name: str, fits: list[Source], weights: list[float], editions: list[str], deltas: list[Floats]) -> Influence:
    parts = []
    for fit in fits:
        if fit.influence is None:
            raise DataError(
                f"{name}: {fit.name} keeps no influences of clusters (a posterior, plain numbers, clusters of two "
                "kinds), so that its errors have no joint covariance with the other's."
            )
        parts.append(fit.influence)
    named = list(map(str, editions))
    found = combine([among(part, named, delta) for part, delta in zip(parts, deltas, strict=True)], weights, name)
    drawn = found.covariance if found.count >= max(ENOUGH, len(editions)) else None
    return replace(found, shape=drawn)


def _independent(
    name: str,  # noqa: ARG001
    fits: list[Source],
    weights: list[float],
    editions: list[str],
    deltas: list[Floats],
) -> Sampling:
    total = np.zeros((len(editions), len(editions)))
    freedom = np.full(total.shape, np.inf)
    for fit, weight, delta in zip(fits, weights, deltas, strict=True):
        share = np.exp(delta) / np.exp(delta).sum()
        move = np.eye(len(editions)) - share
        covariance = fit.effects.covariance.loc[editions, editions].to_numpy(dtype=float)
        total += weight**2 * move @ covariance @ move.T
        own = pd.DataFrame(fit.effects._freedom(), fit.effects.estimate.index, fit.effects.estimate.index)
        freedom = np.minimum(freedom, own.loc[editions, editions].to_numpy())
    return Covariance(total, freedom, total)


def systems_of(source: Source, columns: pd.DataFrame, title: str) -> list[Source]:
    """Return a fit of a crossed table as one source per system, with influences of the same clusters."""
    found = []
    for system, rows in columns.groupby("system", sort=False):
        own, languages = list(rows.index), list(rows["language"])
        texts = source.texts
        if source.influence is None or texts is None:
            raise DataError(f"{title} keeps no influences of clusters, so that its systems cannot be shown apart.")
        delta = source.effects.scale.center(source.effects.estimate[own].to_numpy(dtype=float))
        at = texts.editions.get_indexer(pd.Index(own))
        moved = among(source.influence, own, delta)
        names = pd.Index(languages, name="edition")
        counts = tuple(texts.counts[k] for k in at) if texts.counts else ()
        of_own = replace(texts, editions=names, observed=texts.observed[:, at], key=texts.key or "stack", counts=counts)
        moved = replace(moved, units=replace(moved.units, texts=of_own))
        effects = replace(
            source.effects, estimate=pd.Series(delta, names, name="difficulty"), influence=moved, title=str(system)
        )
        found.append(source._replace(name=str(system), effects=effects, influence=moved))
    return found
