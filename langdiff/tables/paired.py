"""Contrasts as they are asked for, and differences between fits of the same texts, from influences that fits keep."""

from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from langdiff.base.types import Floats
from langdiff.errors import ConfigError, DataError, listing
from langdiff.tables.effects import Effects
from langdiff.tables.influences import Covariance, Influence, Sampling, Texts, among, combine
from langdiff.tables.pairs import Adjustment, compare_contrasts
from langdiff.tables.rule import ENOUGH, JointTest, Scale


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


Contrasts = str | Sequence[str | tuple[Any, Any]]


def contrasts_of(
    name: str,
    effects: Effects,
    contrasts: Contrasts,
    groups: "pd.Series[Any] | None",
    by: str | None,
    adjust: Adjustment | None,
    level: float,
    seed: int | np.random.Generator,
) -> pd.DataFrame:
    """Return the contrasts that are asked for in words, with errors and p-values that hold for all of them together."""
    if isinstance(contrasts, str) and (contrasts == "pairs" or contrasts.startswith("vs ")):
        baseline = None if contrasts == "pairs" else contrasts.removeprefix("vs ").strip()
        found = effects.pairs(adjust=adjust, baseline=baseline, level=level, seed=seed).frame
        frame = found.set_axis([f"{one} - {other}" for one, other in found.index])
    else:
        asked = [contrasts] if isinstance(contrasts, str) else list(contrasts)
        sides = [_sides(each, effects, groups, by) for each in asked]
        rows = np.array([one - other for _, one, other in sides])
        weights = pd.DataFrame(rows, [title for title, _, _ in sides], effects.estimate.index)
        frame = compare_contrasts(effects._joint, weights, adjust=adjust, level=level, seed=seed)
    frame = frame.rename_axis("row").reset_index()
    if "percent" in frame:
        frame["percent_std_error"] = 100 * np.exp(frame["estimate"]) * frame["std_error"]
    frame.insert(0, "column", name)
    return frame


def as_first(frames: list[pd.DataFrame]) -> list[pd.DataFrame]:
    """Return contrasts of several columns, each in the direction that it has in the first."""
    known = set(frames[0]["row"])
    for frame in frames[1:]:
        turned = frame["row"].map(lambda row: " - ".join(reversed(row.split(" - "))))
        away = ~frame["row"].isin(known) & turned.isin(known)
        signs = np.where(away, -1.0, 1.0)
        frame["estimate"] *= signs
        ends = frame[["low", "high"]].mul(signs, axis=0)
        frame["low"], frame["high"] = ends.min(axis=1), ends.max(axis=1)
        frame["row"] = turned.where(away, frame["row"])
        if "percent" in frame:
            frame["percent_std_error"] = 100 * np.exp(frame["estimate"]) * frame["std_error"]
            for end, source in (("percent", "estimate"), ("percent_low", "low"), ("percent_high", "high")):
                frame[end] = 100 * np.expm1(frame[source])
    return frames


def _sides(
    contrast: Any, effects: Effects, groups: "pd.Series[Any] | None", by: str | None
) -> tuple[str, Floats, Floats]:
    """Return the name of a contrast and the weights of its two sides."""
    if isinstance(contrast, str):
        parts = contrast.split(" - ")
        if len(parts) != 2:
            raise ConfigError(f"{contrast!r}: a contrast is 'a - b', with spaces around one minus sign.")
        sides = [_listed(part) for part in parts]
        title = contrast
    else:
        sides = [[side] if isinstance(side, str) else list(side) for side in contrast]
        if len(sides) != 2:
            raise ConfigError(f"{contrast!r}: a contrast has two sides.")
        title = " - ".join(str(side[0]) if len(side) == 1 else f"mean({', '.join(map(str, side))})" for side in sides)
    names: list[list[Any]] = [[], []]
    for into, side in zip(names, sides, strict=True):
        for one in side:
            into += _members(str(one).strip(), effects, groups, by)
    effects._weights(names[0], names[1])  # refuses names that are given twice
    weights: list[Floats] = []
    for members in names:
        row = pd.Series(0.0, index=effects.estimate.index)
        row[members] = 1 / len(members)
        weights.append(np.asarray(row, dtype=float))
    return title, weights[0], weights[1]


def _listed(side: str) -> list[str]:
    side = side.strip()
    if side.startswith("mean(") and side.endswith(")"):
        return [part.strip() for part in side[5:-1].split(",")]
    return [side]


def _members(name: str, effects: Effects, groups: "pd.Series[Any] | None", by: str | None) -> list[Any]:
    known = {str(each): each for each in effects.estimate.index}
    own = None if groups is None else groups.reindex(effects.estimate.index)
    if name.startswith("edition:") and name.removeprefix("edition:") in known:
        return [known[name.removeprefix("edition:")]]
    if by is not None and own is not None and name.startswith(f"{by}:"):
        name = name.removeprefix(f"{by}:")
    elif name in known:
        if own is not None and (own == name).any():
            raise ConfigError(f"{name!r} is an edition and a group: write edition:{name} or {by}:{name}.")
        return [known[name]]
    if own is not None and (own == name).any():
        return list(own.index[own == name])
    offered = [*known, *(() if own is None else map(str, own.unique()))]
    near = get_close_matches(name, offered, 1)
    advice = f" Did you mean {near[0]!r}?" if near else f" There are {listing(offered)}."
    raise ConfigError(f"not in this table: {name!r}.{advice}")
