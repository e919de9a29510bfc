"""Contrasts of a table as they are asked for: all pairs, a baseline, or names with one minus sign between them."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np
import pandas as pd

from langdiff.base.types import Floats
from langdiff.errors import ConfigError, listing
from langdiff.tables.effects import Effects
from langdiff.tables.pairs import Adjustment, compare_contrasts

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
