"""Columns of a table before a fit: which share a language, which are at chance, and which of them are fitted."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from langdiff.base.grids import signed
from langdiff.base.types import Booleans, Floats
from langdiff.errors import ConfigError, DataError, listing, option, warn
from langdiff.regression.outcomes.chance import (
    Answers,
    Chance,
    Known,
    bound_of_sum,
    chance_of,
    columns_at_chance,
    deviances,
    error_at_end,
    level_intervals,
    warn_of_choices,
)
from langdiff.regression.outcomes.evaluation import Point
from langdiff.regression.outcomes.integrals import Rows
from langdiff.regression.outcomes.likelihoods import Structure
from langdiff.tables.effects import Effects
from langdiff.tables.outcomes import Outcomes
from langdiff.tables.rule import DEVIANCE, half_width
from langdiff.tables.simultaneous import largest_together

LARGE_ERROR = 1.0  # log odds of a level, whose interval is then that of the likelihood ratio
MOST_LISTED = 10  # columns at chance that a summary lists
DOUBTFUL = 0.005  # p that all answers are guesses above which a column is left out of the first fit
FEWEST_COLUMNS = 2  # columns of a fit
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

    def without(self, low: Booleans, *, additive: bool) -> "Columns":
        """Return columns of which some are not fitted."""
        names = self.whole.systems.index
        if low.any() and (~low).sum() < FEWEST_COLUMNS:
            raise DataError(
                f"{int(low.sum())} of {len(low)} columns are at chance ({listing(names[low])}): too few are left, so "
                "that nothing can be told from guessing."
            )
        some = self.whole.sel(systems=names[~low]) if low.any() else self.whole
        languages, systems = _codes(some, "language"), _codes(some, "system")
        guessing = self.guessing
        if guessing is not None:
            guessing = guessing.assign(at_chance=pd.Series(low, names).reindex(guessing.index))
        return self._replace(
            outcomes=some,
            known=Known(self.whole_chance, self.known.words).taken(~low),
            structure=self.structure._replace(languages=languages, additive=systems if additive else ()),
            guessing=guessing,
        )

    @property
    def low(self) -> Booleans:
        """Which of all columns are not fitted, shape (J,)."""
        return ~self.whole.systems.index.isin(self.outcomes.systems.index)


def prepare_columns(
    outcomes: Outcomes, structure: Structure, chance: Chance, *, additive: bool, interacting: bool
) -> Columns:
    """Find chance and languages of columns, and leave columns that may be guesses out of a first fit of free levels.

    Warns
    -----
    LangdiffWarning
        If rates cluster at a reciprocal though no chance is known.
    """
    _check_additive(structure, additive=additive, crossed=outcomes.columns is not None, interacting=interacting)
    known = _chance(outcomes, structure, chance)
    structure = structure._replace(languages=_codes(outcomes, "language"))
    found = Columns(outcomes, known, structure, None, outcomes, known.values)
    s, t = (np.nan_to_num(frame.to_numpy(dtype=float)) for frame in (outcomes.values, outcomes.trials))
    low = np.zeros(s.shape[1], dtype=bool)
    if known.values is None:
        if structure.likelihood.constant is None and (t.sum(axis=0) > 0).all():
            warn_of_choices(s.sum(axis=0), t.sum(axis=0))
        return found.without(low, additive=additive)
    filled = t.any(axis=0)
    guessing = columns_at_chance(s[:, filled], t[:, filled], known.values[:, filled], outcomes.systems.index[filled])
    told = structure.totals_suffice and not interacting  # by intervals of levels
    doubtful = guessing["p"] > DOUBTFUL if told else guessing["at_chance"]
    doubtful &= guessing["chance"] > 0
    if (~doubtful).sum() < FEWEST_COLUMNS:
        doubtful = guessing["at_chance"]
    low[filled] = doubtful
    return found._replace(guessing=guessing).without(low, additive=False if told and low.any() else additive)


def settle_columns(first: Columns, rows: Rows, point: Point, *, additive: bool) -> Columns:
    """Return the columns that are fitted after a first fit: those whose interval has a lower end of ability.

    Warns
    -----
    LangdiffWarning
        If columns have none, which are bounds.
    """
    names = first.whole.systems.index
    low = first.low.copy()
    ends = level_intervals(
        rows, point, first.structure, [_answers(first, k) for k in np.flatnonzero(low).tolist()], None
    )
    low[low] = np.isneginf(ends[:, 1])
    if low.any():
        warn(
            f"{int(low.sum())} column(s) cannot be told from guessing: {listing(names[low])}. Their levels have no "
            "lower end of ability and are bounds; see `guessing` of the fit."
        )
    return first.without(low, additive=additive)


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


def bounds_of_levels(found: Columns, rows: Rows, point: Point, levels: Effects) -> pd.DataFrame | None:
    """Return the test of guesses, and levels with intervals (by likelihood ratio) of columns at or near chance."""
    if found.guessing is None or found.whole_chance is None:
        return None
    frame = found.guessing.assign(level=np.nan, level_low=np.nan, level_high=np.nan)
    if len(point.level) > 1 or not found.structure.totals_suffice:
        return frame
    fitted, index = found.outcomes.systems.index, list(found.whole.systems.index)
    errors = levels.std_error * (np.nan if found.additive else 1.0)
    centre = float(levels.estimate.mean())  # abilities average 0
    wide = pd.Series(half_width(errors.to_numpy(), np.diag(levels._freedom())), fitted)
    near = errors.reindex(frame.index).fillna(0) > WORTH
    names = frame.index[frame["at_chance"] | near]
    answers = [_answers(found, index.index(name)) for name in names]
    places = [list(fitted).index(name) if name in fitted else None for name in names]
    ends = level_intervals(rows, point, found.structure, answers, places)
    for name, place, (estimate, low, high) in zip(names, places, ends, strict=True):
        wald = np.inf if place is None else wide[name]
        apart = max(abs(high - estimate - wald), abs(estimate - low - wald)) if np.isfinite(wald) else np.inf
        if frame.at[name, "at_chance"] or errors[name] > LARGE_ERROR or apart > WORTH:
            frame.loc[name, ["level", "level_low", "level_high"]] = centre - np.array([estimate, high, low])
    return frame


class Bounds(NamedTuple):
    """Highest abilities (95 %) of columns at chance, beyond their levels."""

    systems: pd.Series  # mean of each system with such columns, less that of all systems without
    cells: pd.Series  # interaction of each column, by its name; those of several hold together


def bounds_of_sums(found: Columns, rows: Rows, point: Point, levels: Effects) -> Bounds | None:
    """Return what columns at chance leave possible of means of systems, and of the interaction."""
    columns, low = found.whole.columns, found.low
    if columns is None or not low.any() or not found.structure.totals_suffice or len(point.level) > 1:
        return None
    names = columns.index[low]
    answers = [_answers(found, int(place)) for place in np.flatnonzero(low)]
    curves = dict(zip(names, deviances(rows, point, found.structure, answers), strict=True))
    fitted = found.outcomes.systems.index

    covariance, estimate = levels.covariance.to_numpy(), levels.estimate.to_numpy()

    def measured(weight: pd.Series) -> Floats:  # levels of columns at chance follow the mean of the others
        own = weight.reindex(fitted, fill_value=0.0).to_numpy()
        return own + weight.reindex(names, fill_value=0.0).sum() / len(fitted)

    def highest(weight: pd.Series, most: float = DEVIANCE) -> float:
        own, shared = weight.reindex(fitted, fill_value=0.0).to_numpy(), measured(weight)
        guessed = [name for name in names if weight.get(name, 0.0)]
        error = float(np.sqrt(max(shared @ covariance @ shared, 0)))
        apart = [curves[name] for name in guessed]
        return bound_of_sum(float(own @ estimate), error, float(weight[guessed[0]]), apart, most)

    told, of_system = (columns[level].isin(columns.loc[~low, level]).to_numpy() for level in ("language", "system"))
    systems = {name: highest(weight) for name, weight in _of_systems(columns[told], low[told]).items()}
    told = told & of_system  # neither of a language nor of a system that is wholly at chance
    cells, most = _of_cells(columns[told], low[told]), DEVIANCE
    if len(cells) > 1:  # each is the sum of a measured part, which they share, and of its own level
        shared = np.stack([measured(weight) for weight in cells.values()])
        own = np.array([weight[name] * error_at_end(curves[name]) for name, weight in cells.items()])
        most = largest_together(shared @ covariance @ shared.T + np.diag(own**2)) ** 2
    return Bounds(
        pd.Series(systems, name="high", dtype=float),
        pd.Series({name: highest(weight, most) for name, weight in cells.items()}, name="high", dtype=float),
    )


def _of_systems(columns: pd.DataFrame, low: Booleans) -> dict[str, pd.Series]:
    """Return the weights of columns in the mean of each system at chance, less that of all others, where there are."""
    low_systems, found = columns.loc[low, "system"].unique(), {}
    measured = columns[~columns["system"].isin(low_systems)]
    for name in low_systems if len(measured) else ():
        both = pd.concat([measured, columns[columns["system"] == name]])
        counts = both["language"].value_counts()
        inside = both[both["language"].map(counts) == counts.max()]
        size, weight = inside["language"].nunique(), pd.Series(0.0, columns.index)
        weight[inside.index] = -1 / size / max(inside["system"].nunique() - 1, 1)
        weight[inside.index[inside["system"] == name]] = 1 / size
        if weight[low].any():
            found[str(name)] = weight
    return found


def _of_cells(columns: pd.DataFrame, low: Booleans) -> dict[str, pd.Series]:
    """Return the weights of columns in the interaction of each one at chance whose language and system have others.

    That is its level less the mean of its language over systems without columns at chance, less that of its system
    over languages without, plus the mean over both; nothing unless these systems have all languages concerned.
    """
    guessed = [columns[level].isin(columns.loc[low, level].unique()) for level in ("system", "language")]
    found, of_rest = {}, ~guessed[0] & ~guessed[1]
    for name, (language, system) in columns.loc[low, ["language", "system"]].iterrows():
        here = ~guessed[0] & (columns["language"] == language)
        own = ~guessed[1] & (columns["system"] == system)
        rest = of_rest & columns["language"].isin(columns.loc[own, "language"])
        if not (here.sum() * own.sum() == rest.sum() > 0):
            continue
        weight = rest / rest.sum() - here / here.sum() - own / own.sum()
        weight[name] += 1
        found[str(name)] = weight
    return found


def _answers(found: Columns, place: int) -> Answers:
    table, fitted = found.whole, found.outcomes.columns
    language = -1
    if table.columns is not None and fitted is not None:
        own = table.columns["language"].iloc[place]
        inside = np.flatnonzero(fitted["language"].to_numpy() == own)
        language = found.structure.languages[int(inside[0])] if len(inside) else -1
    s, t = (np.nan_to_num(frame.iloc[:, place].to_numpy(dtype=float)) for frame in (table.values, table.trials))
    chance = np.zeros(len(s)) if found.whole_chance is None else found.whole_chance[:, place]
    return Answers(s, t, chance, language)


def words_of_chance(guessing: pd.DataFrame | None, known: str) -> list[str]:
    """Return what a summary says of chance: where it is from, which columns are at chance, and how they are treated."""
    lines = [str(known)] if known else []
    if guessing is None:
        return lines
    low = guessing[guessing["at_chance"]]
    if low.empty:
        return [*lines, "no column is at chance"]
    shown = [
        f"{name}: ability < {signed(-row['level_low'], 2)}; "
        + (
            f"below chance ({row['rate']:.3g} of {row['chance']:.3g}, p = {row['p_below']:.1g}): not guessing; look at "
            "extraction of answers, order of options, key"
            if row["below"]
            else f"at chance, {row['rate']:.3f} right"
        )
        for name, row in low.iterrows()
    ]
    more = [f"… and {len(shown) - MOST_LISTED} more"] if len(shown) > MOST_LISTED else []
    count = f"{len(low)} of {len(guessing)} columns cannot be told from chance or are below: their levels are bounds"
    return [*lines, count, *shown[:MOST_LISTED], *more]
