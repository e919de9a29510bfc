"""Columns of a table before a fit: which share a language, which are at chance, and which of them are fitted."""

from typing import Literal, NamedTuple, get_args

import numpy as np
import pandas as pd

from langdiff.base.types import Booleans, Floats
from langdiff.errors import ConfigError, DataError, listing, option, warn
from langdiff.regression.outcomes.chance import (
    Answers,
    Chance,
    Known,
    chance_of,
    columns_at_chance,
    left_out,
    level_intervals,
    warn_of_choices,
)
from langdiff.regression.outcomes.evaluation import Point
from langdiff.regression.outcomes.integrals import Rows
from langdiff.regression.outcomes.likelihoods import Structure
from langdiff.tables.effects import Effects
from langdiff.tables.outcomes import Outcomes
from langdiff.tables.rule import half_width

Kept = Literal["all", "above chance"]
LARGE_ERROR = 1.0  # log odds of a level, whose interval is then that of the likelihood ratio
MOST_LISTED = 10  # columns at chance that a summary lists
WORTH = 0.5  # difference of the two intervals, log odds, from which on the latter is shown; and error it is tried from


class Columns(NamedTuple):
    """Columns of a table that are fitted, and how.

    Attributes
    ----------
    outcomes : Outcomes
        Columns that are fitted.
    known : Known
        Their chance.
    structure : Structure
        The model, with the languages of the columns.
    guessing : DataFrame or None
        Test of all columns that their answers are guesses; None without chance.
    whole : Outcomes
        All columns.
    whole_chance : ndarray, shape (I, J), or None
        Their chance.
    """

    outcomes: Outcomes
    known: Known
    structure: Structure
    guessing: pd.DataFrame | None
    whole: Outcomes
    whole_chance: Floats | None

    @property
    def additive(self) -> bool:
        """Whether levels are sums of effects of languages and systems."""
        return bool(self.structure.additive)


def prepare_columns(
    outcomes: Outcomes, structure: Structure, chance: Chance, *, additive: bool, columns: Kept, interacting: bool
) -> Columns:
    """Find chance and languages of columns, and decide how those at chance are fitted.

    Warns
    -----
    LangdiffWarning
        If columns are left out, or rates cluster at a reciprocal though no chance is known.
    """
    if columns not in get_args(Kept):
        raise ConfigError(f"unknown {option('columns', columns)}; use one of {listing(get_args(Kept))}.")
    crossed = outcomes.columns is not None
    _check_additive(structure, additive=additive, crossed=crossed, interacting=interacting)
    known = _chance(outcomes, structure, chance)
    structure = structure._replace(languages=_codes(outcomes, "language"))
    s, t = (np.nan_to_num(frame.to_numpy(dtype=float)) for frame in (outcomes.successes, outcomes.trials))
    if known.values is None:
        if structure.likelihood.constant is None and (t.sum(axis=0) > 0).all():
            warn_of_choices(s.sum(axis=0), t.sum(axis=0))
        kept, guessing, low = np.ones(s.shape[1], dtype=bool), None, np.zeros(s.shape[1], dtype=bool)
    else:
        filled = t.any(axis=0)
        guessing = columns_at_chance(
            s[:, filled], t[:, filled], known.values[:, filled], outcomes.systems.index[filled]
        )
        low = guessing["at_chance"].reindex(outcomes.systems.index, fill_value=False).to_numpy(dtype=bool)
        kept = _kept(outcomes, low, columns)
    additive = additive or bool(crossed and (low & kept).any())
    if additive and interacting:
        raise ConfigError(
            f"{int(low.sum())} column(s) are at chance, so that levels are sums of effects of languages and systems, "
            f"without interaction: leave {option('interaction')} out, or use {option('columns', 'above chance')}."
        )
    some = outcomes if kept.all() else outcomes.sel(systems=outcomes.systems.index[kept])
    return Columns(
        outcomes=some,
        known=known.taken(kept),
        structure=structure._replace(
            languages=_codes(some, "language"), additive=_codes(some, "system") if additive else ()
        ),
        guessing=guessing,
        whole=outcomes,
        whole_chance=known.values,
    )


def _check_additive(structure: Structure, *, additive: bool, crossed: bool, interacting: bool) -> None:
    if not additive:
        return
    if not crossed:
        raise ConfigError(
            f"{option('additive', True)} is for tables of several languages and systems; this one has one level."
        )
    if structure.conditional or structure.loadings == "free" or interacting:
        raise ConfigError(f"{option('additive', True)} needs {option('model', 'rasch')} without an interaction.")


def _chance(outcomes: Outcomes, structure: Structure, chance: Chance) -> Known:
    """Return the chance of the cells, refused where the model has a place for it."""
    if structure.likelihood.constant is not None:  # a likelihood of one's own
        return Known(None)
    languages = None if outcomes.columns is None else outcomes.columns["language"]
    known = chance_of(outcomes.items, outcomes.systems, languages, chance)
    if known.values is None:
        return known
    if not structure.likelihood.guessed:
        if isinstance(chance, str) and chance == "auto":
            return Known(None)
        raise ConfigError(f"model {structure.likelihood.name!r} has no chance: leave {option('chance')} out.")
    if structure.conditional:
        raise ConfigError(
            "the conditional likelihood rests on totals, which do not suffice where answers may be guesses: use "
            f"{option('model', 'rasch')}, or {option('chance', None)}."
        )
    return known


def _codes(outcomes: Outcomes, level: str) -> tuple[int, ...]:
    if outcomes.columns is None:
        return ()
    return tuple(pd.factorize(outcomes.columns[level])[0].tolist())


def _kept(outcomes: Outcomes, low: Booleans, columns: Kept) -> Booleans:
    """Return which columns are fitted."""
    names = outcomes.systems.index
    if not low.any():
        return ~low
    if outcomes.columns is None:
        kept = ~low
        said = "Their ability has no lower end, so that they are left out of the fit"
    elif columns == "above chance":
        kept = ~low
        said = "They are left out, which selects by what is measured: the others are those that happened to do well"
    else:
        languages, systems = (np.array(_codes(outcomes, level)) for level in ("language", "system"))
        kept = ~left_out(low, languages, systems)
        said = "All columns of their language or their system are, so that these have bounds only"
    if kept.sum() < 2:
        raise DataError(
            f"{int(low.sum())} of {len(low)} columns are at chance ({listing(names[low])}): too few are left."
        )
    if not kept.all():
        warn(
            f"{int((~kept).sum())} column(s) are at chance: {listing(names[~kept])}. {said}; see `guessing` of the fit."
        )
    return kept


def bounds_of_levels(found: Columns, rows: Rows, point: Point, levels: Effects) -> pd.DataFrame | None:
    """Return the test of guesses, and levels with intervals (by likelihood ratio) of columns at or near chance."""
    if found.guessing is None or found.whole_chance is None:
        return None
    frame = found.guessing.assign(level=np.nan, level_low=np.nan, level_high=np.nan)
    if len(point.level) > 1 or not found.structure.totals_suffice:
        return frame
    fitted, index = found.outcomes.systems.index, list(found.whole.systems.index)
    errors = levels.std_error * (np.nan if found.additive else 1.0)
    wide = pd.Series(half_width(errors.to_numpy(), np.diag(levels._freedom())), fitted)
    near = errors.reindex(frame.index).fillna(0) > WORTH
    names = frame.index[frame["at_chance"] | near]
    answers = [_answers(found, index.index(name)) for name in names]
    places = [list(fitted).index(name) if name in fitted else None for name in names]
    ends = level_intervals(rows, point, found.structure, answers, places, levels.covariance.to_numpy())
    for name, place, (estimate, low, high) in zip(names, places, ends, strict=True):
        wald = np.inf if place is None else wide[name]
        apart = max(abs(high - estimate - wald), abs(estimate - low - wald)) if np.isfinite(wald) else np.inf
        if frame.at[name, "at_chance"] or errors[name] > LARGE_ERROR or apart > WORTH:
            frame.loc[name, ["level", "level_low", "level_high"]] = -estimate, -high, -low
    return frame


def _answers(found: Columns, place: int) -> Answers:
    table, fitted = found.whole, found.outcomes.columns
    language = -1
    if table.columns is not None and fitted is not None:
        own = table.columns["language"].iloc[place]
        inside = np.flatnonzero(fitted["language"].to_numpy() == own)
        language = found.structure.languages[int(inside[0])] if len(inside) else -1
    s, t = (np.nan_to_num(frame.iloc[:, place].to_numpy(dtype=float)) for frame in (table.successes, table.trials))
    chance = np.zeros(len(s)) if found.whole_chance is None else found.whole_chance[:, place]
    return Answers(s, t, chance, language)


def words_of_chance(guessing: pd.DataFrame | None, known: str, *, additive: bool) -> list[str]:
    """Return what a summary says of chance: where it is from, which columns are at chance, and how they are treated."""
    lines = [str(known)] if known else []
    if guessing is None:
        return lines
    low = guessing[guessing["at_chance"]]
    if low.empty:
        return [*lines, "no column is at chance"]
    shown = [
        f"{name}: {row['rate']:.3f} right, at chance: level above {row['level_low']:.2f}"
        for name, row in low.iterrows()
    ]
    more = [f"… and {len(shown) - MOST_LISTED} more"] if len(shown) > MOST_LISTED else []
    how = "; levels are sums of languages and systems, without interaction" if additive else ""
    return [*lines, f"{len(low)} of {len(guessing)} columns are at chance{how}", *shown[:MOST_LISTED], *more]
