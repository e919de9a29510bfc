"""Known chance of a right answer: where it is given, which columns are at chance, and how far down they may be."""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from scipy.interpolate import make_interp_spline
from scipy.special import expit, logit, xlogy
from scipy.stats import beta, binom, false_discovery_control

from langdiff.base.types import ROUNDING_OF_SINGLES, Booleans, Floats
from langdiff.errors import ConfigError, DataError, listing, option, warn
from langdiff.regression.outcomes import nested
from langdiff.regression.outcomes.evaluation import Point, make_nest
from langdiff.regression.outcomes.integrals import NEGLIGIBLE, Rows, kinds
from langdiff.regression.outcomes.likelihoods import Structure
from langdiff.tables.rule import DEVIANCE

Chance = Literal["auto"] | str | float | Mapping[str, float] | None

CHANCE, CHOICES, TASK = "chance", "choices", "task"  # attributes of items or columns
LEVEL = 0.05  # of the test that all answers are guesses
ABILITIES = np.linspace(-12, 12, 9601)  # log odds that are searched; below, answers are guesses
GUESSES = -50.0  # log odds whose answers are guesses alone, the limit below all abilities
EACH = 120  # of them, at which a likelihood is computed
RECIPROCALS = range(2, 11)
FEWEST_COLUMNS = 6  # that may be said to cluster at a reciprocal
MOST_BELOW = 0.05  # of them
WIDEST = 0.075  # of what counts as near: with few items every rate is near some reciprocal
PRICES, ROUNDS = (1e-3, 1e3, 60), 3  # of deviance, least and most, and their number; rounds of search


class Known(NamedTuple):
    """Chance of the cells, shape (I, J), or None if it is 0 everywhere; and where it is from, in words."""

    values: Floats | None
    words: str = ""

    def taken(self, columns: Booleans) -> "Known":
        """Return the chance of some columns."""
        return self if self.values is None else self._replace(values=self.values[:, columns])


def chance_of(items: pd.DataFrame, systems: pd.DataFrame, languages: pd.Series | None, chance: Chance) -> Known:
    """Return the chance of a right answer in each cell."""
    shape = (len(items), len(systems))
    match chance:
        case None:
            return Known(None)
        case bool():
            raise ConfigError(f"{option('chance')} must be a number, an attribute, or a table of languages.")
        case int() | float():
            return _checked(np.full(shape, float(chance)), "as given")
        case Mapping():
            return _checked(_mapped(items, systems, languages, chance), "as given by language or task")
        case str():
            number = as_number(chance)  # as the command line gives it
            return (
                _attribute(items, systems, chance) if number is None else _checked(np.full(shape, number), "as given")
            )
    raise ConfigError(f"{option('chance')} must be a number, an attribute, or a table of languages, got {chance!r}.")


def as_number(text: str) -> float | None:
    """Return the number that a text is, or None.

    Examples
    --------
    >>> as_number("0.25"), as_number("chance")
    (0.25, None)
    """
    try:
        return float(text)
    except ValueError:
        return None


def attribute_used(items: pd.DataFrame, chance: Chance) -> list[str]:
    """Return the attribute of items from which chance is taken, in a list; none if there is none."""
    if isinstance(chance, Mapping):
        return [TASK] if TASK in items else []
    wanted = (CHANCE, CHOICES) if chance == "auto" else (chance,)
    return [name for name in wanted if isinstance(name, str) and name in items][:1]


def _attribute(items: pd.DataFrame, systems: pd.DataFrame, name: str) -> Known:
    names = (CHANCE, CHOICES) if name == "auto" else (name,)
    found = [(frame, one) for frame in (items, systems) for one in names if one in frame]
    if not found and name == "auto":
        return Known(None)
    if not found:
        raise ConfigError(
            f"{option('chance', name)} is an attribute neither of items nor of columns; give one of them, or a number."
        )
    if found[0][0] is items and found[-1][0] is systems:
        raise DataError(
            f"both items and columns have the attribute {found[0][1]!r}, so that it is not clear which holds: give "
            f"{option('chance')} as a number or by language."
        )
    frame, one = found[0]
    values = pd.to_numeric(frame[one], errors="coerce").to_numpy(dtype=float)
    what = "items" if frame is items else "columns"
    if np.isnan(values).any():
        lacking = frame.index[np.isnan(values)]
        raise DataError(f"{len(lacking):,} of {len(frame):,} {what} have no number as {one}: {listing(lacking)}.")
    if one == CHOICES:
        if (values < 1).any():
            raise DataError(f"numbers of {CHOICES} must be at least 1, got {values.min():g}.")
        values = np.where(values > 1, 1 / values, 0.0)  # of one choice nothing is known
    cells = np.broadcast_to(values[:, None] if frame is items else values, (len(items), len(systems)))
    source = "the number of choices" if one == CHOICES else f"the attribute {one}"
    return _checked(np.array(cells), f"from {source} of {what}")


def _mapped(
    items: pd.DataFrame, systems: pd.DataFrame, languages: pd.Series | None, chance: Mapping[str, float]
) -> Floats:
    """Return chance by language of the column, or by task of the item."""
    known = {str(name): float(value) for name, value in chance.items()}
    labels = None if languages is None else languages.reindex(systems.index).map(str)
    if labels is not None and set(known) <= set(labels):
        lacking = sorted(set(labels) - set(known))
        values = labels.map(known).to_numpy(dtype=float)
        cells = np.broadcast_to(values, (len(items), len(systems)))
    elif TASK in items and set(known) <= set(items[TASK].map(str)):
        lacking = sorted(set(items[TASK].map(str)) - set(known))
        cells = np.broadcast_to(
            items[TASK].map(str).map(known).to_numpy(dtype=float)[:, None], (len(items), len(systems))
        )
    else:
        there = [] if labels is None else sorted(set(labels))
        raise ConfigError(
            f"{option('chance')} names what is neither a language of the columns nor a task of the items: "
            f"{listing(sorted(set(known) - set(there)) or sorted(known))}."
        )
    if lacking:
        raise ConfigError(f"{option('chance')} has no number for {listing(lacking)}; give all of them, 0 for none.")
    return np.array(cells)


def _checked(cells: Floats, words: str) -> Known:
    if not ((cells >= 0) & (cells < 1)).all():
        bad = cells[~((cells >= 0) & (cells < 1))]
        raise DataError(f"chance must be from 0 to below 1, got {bad[0]:g}.")
    if not cells.any():
        return Known(None)
    return Known(cells, f"{_spoken(cells)}, {words}")


def _spoken(cells: Floats) -> str:
    values, counts = np.unique(cells.round(6), return_counts=True)
    named = [fraction(value) for value in values]
    if len(values) == 1:
        return f"chance {named[0]} of {len(cells):,} items"
    if len(values) > 4:
        return f"chance {named[0]} to {named[-1]}"
    shares = 100 * counts / counts.sum()
    return "chance " + ", ".join(f"{name} of {share:.0f} % of cells" for name, share in zip(named, shares, strict=True))


def fraction(value: float) -> str:
    """Return a chance as text, a reciprocal of a small number as such.

    Examples
    --------
    >>> fraction(0.25), fraction(0.3)
    ('1/4', '0.3')
    """
    if value > 0 and abs(round(1 / value) - 1 / value) < 1e-4 and 1 / value < 100:
        return f"1/{round(1 / value)}"
    return f"{value:.3g}"


def warn_of_choices(s: Floats, t: Floats) -> None:
    """Warn if rates of columns cluster at a reciprocal of 2 to 10, below which hardly any lies.

    Shapes: s, t (J,).
    """
    if len(s) < FEWEST_COLUMNS:
        return
    rate = s / t
    for choices in RECIPROCALS:
        std_error = np.sqrt((1 - 1 / choices) / choices / t)
        apart = (rate - 1 / choices) / std_error
        if 2 * std_error.max() > WIDEST:
            continue
        if np.mean(np.abs(apart) < 2) > 0.5 and np.mean(apart < -2) <= MOST_BELOW:
            warn(
                f"many columns have {fraction(1 / choices)} of their answers right: are these choices? Then give "
                f"{option('chance', round(1 / choices, 6))}; without it, differences between columns are drawn "
                "together."
            )
            return


def guesses(s: Floats, t: Floats, chance: Floats) -> Floats:
    """Return the probability of as many successes or more if every answer is a guess, for each column.

    Shapes: s, t (I, J); chance (I, J).
    """
    return np.array([_tail(s[:, j].sum(), t[:, j], chance[:, j]) for j in range(s.shape[1])])


def _tail(right: float, t: Floats, chance: Floats) -> float:
    values, place = np.unique(chance, return_inverse=True)
    counts = np.bincount(place, t).astype(int)
    if len(values) == 1:
        return float(binom.sf(right - 1, counts[0], values[0]))
    density = np.ones(1)
    for value, count in zip(values, counts, strict=True):
        density = np.convolve(density, binom.pmf(np.arange(count + 1), count, value))
    return float(min(density[int(right) :].sum(), 1.0))


def columns_at_chance(s: Floats, t: Floats, chance: Floats, names: pd.Index) -> pd.DataFrame:
    """Return a test of each column that all its answers are guesses, with Benjamini and Hochberg's rate at 5 %."""
    trials = t.sum(axis=0)
    p = guesses(s, t, chance)
    q = false_discovery_control(p)
    guessed = (chance * t).sum(axis=0) / trials
    found = pd.DataFrame({"rate": s.sum(axis=0) / trials, "chance": guessed, "p": p, "q": q}, index=names)
    found["at_chance"] = (q > LEVEL) & (guessed > 0)
    found["p_below"] = 1 - np.array([_tail(s[:, j].sum() + 1, t[:, j], chance[:, j]) for j in range(s.shape[1])])
    found["below"] = false_discovery_control(found["p_below"]) <= LEVEL
    return found


class Answers(NamedTuple):
    """Answers to all items in one column, shape (I,) each, and the number of its language."""

    s: Floats
    t: Floats
    chance: Floats
    language: int


def level_intervals(
    rows: Rows,
    point: Point,
    structure: Structure,
    answers: Sequence[Answers],
    places: Sequence[int | None] | None,
) -> Floats:
    """Return estimate, lower and upper end of the ability of columns.

    The interval is that of the likelihood ratio, 95 %, given the others: their levels and the spreads are at their
    estimates. Where neither items nor translations vary, the ends are Clopper and Pearson's for the rate. Places are
    those among the columns of the fit, None for columns that are not.
    """
    if point.spread == 0 and point.translation == 0:
        return np.array([_exact(one) for one in answers]).reshape(-1, 3)
    nest = make_nest(rows, point, structure, bare=True)
    found = []
    for one, place in zip(answers, places or [None] * len(answers), strict=True):
        found.append(_interval(_Answering(nest, rows, point, structure, one, place).curve()))
    return np.array(found).reshape(-1, 3)


def deviances(rows: Rows, point: Point, structure: Structure, answers: Sequence[Answers]) -> list[Floats]:
    """Return twice the fall of the log-likelihood of columns that are not fitted, at each of `ABILITIES`."""
    if point.spread == 0 and point.translation == 0:
        right = [one.chance + (1 - one.chance) * expit(ABILITIES)[:, None] for one in answers]
        curves = [
            xlogy(one.s, p).sum(1) + xlogy(one.t - one.s, 1 - p).sum(1) for one, p in zip(answers, right, strict=True)
        ]
    else:
        nest = make_nest(rows, point, structure, bare=True)
        curves = [_Answering(nest, rows, point, structure, one, None).curve() for one in answers]
    return [2 * (curve.max() - curve) for curve in curves]


def bound_of_sum(rest: float, std_error: float, weight: float, curves: list[Floats], most: float = DEVIANCE) -> float:
    """Return the highest sum of a normal rest and of levels of columns, each by `weight`, that answers allow (95 %).

    That is where the deviances of the columns and the squared distance of the rest, in standard errors, sum to 3.84,
    or another `most`; a price shares them out.
    """
    if len(curves) == 1:
        left = most - curves[0]
        value = rest + weight * ABILITIES + std_error * np.sqrt(np.maximum(left, 0))
        top = int(np.argmax(np.where(left >= 0, value, -np.inf)))
        before, at, after = value[max(top - 1, 0)], value[top], value[min(top + 1, len(value) - 1)]
        bend = 2 * at - before - after
        return float(at + (after - before) ** 2 / (8 * bend)) if bend > 0 and left[top + 1 :][:1] > 0 else float(at)
    best, prices = (-np.inf, 1.0), np.geomspace(*PRICES)
    for _ in range(ROUNDS):  # about the best price of the last round
        for price in prices:
            places = [int(np.argmax(weight * ABILITIES - curve / price)) for curve in curves]
            left = most - sum(curve[place] for curve, place in zip(curves, places, strict=True))
            if left >= 0:
                found = rest + std_error * float(np.sqrt(left)) + weight * float(ABILITIES[places].sum())
                best = max(best, (found, price))
        step = prices[1] / prices[0]
        prices = np.geomspace(best[1] / step, best[1] * step, len(prices))
    return best[0]


def error_at_end(curve: Floats) -> float:
    """Return the error of a normal level whose deviance is as steep at its upper end (95 %) as that of a column."""
    end = int(np.flatnonzero(curve <= DEVIANCE)[-1])
    slope = (curve[end + 1] - curve[end]) / (ABILITIES[1] - ABILITIES[0]) if end + 1 < len(curve) else 0.0
    return float(2 * np.sqrt(DEVIANCE) / slope) if slope > 0 else np.inf


def _interval(curve: Floats) -> tuple[float, float, float]:
    """Return where a log-likelihood over `ABILITIES` is largest, and where it has fallen by half a quantile."""
    top = int(curve.argmax())
    estimate, best = float(ABILITIES[top]), float(curve[top])
    if curve[0] >= best - ROUNDING_OF_SINGLES:
        estimate, top = -np.inf, 0
    inside = 2 * (best - curve) - DEVIANCE  # negative in the interval

    def end(place: int, step: int, limit: float) -> float:
        while 0 <= place + step < len(inside):
            if inside[place + step] > 0:
                share = inside[place] / (inside[place] - inside[place + step])
                return float(ABILITIES[place] + share * (ABILITIES[place + step] - ABILITIES[place]))
            place += step
        return limit

    return estimate, end(top, -1, -np.inf), end(top, 1, np.inf)


def _exact(one: Answers) -> Floats:
    right, trials = one.s.sum(), one.t.sum()
    chance = float((one.chance * one.t).sum() / trials)
    ends = [
        right / trials,
        beta.ppf(0.025, right, trials - right + 1) if right else 0.0,
        beta.ppf(0.975, right + 1, trials - right) if right < trials else 1.0,
    ]
    found: Floats = logit(np.clip((np.array(ends) - chance) / (1 - chance), 0, 1))
    return found


class _Answering:
    """Log-likelihood of the answers of one column, given those of others, as a function of its ability.

    What the other columns of its language say of a translation is kept for each distinct set of their answers, and
    what all others say of an item as the probability of each node of v that matters.
    """

    def __init__(
        self, nest: nested.Nest, rows: Rows, point: Point, structure: Structure, one: Answers, place: int | None
    ) -> None:
        languages = structure.groups(rows.s.shape[1])
        inside = np.flatnonzero(languages == one.language) if structure.languages else np.arange(0)
        inside = inside if structure.languages or place is None else np.array([place])
        others = nest.log_f.copy()
        for group in nest.groups:
            if len(inside) and group.columns[0] == inside[0]:
                others -= group.log_of_items
        inside = inside if place is None else inside[inside != place]
        levels = point.level[rows.block][:, inside] - (rows.x @ point.slope)[:, None]
        chance = np.zeros_like(levels) if rows.constant is None else rows.constant[:, inside]
        s, f = rows.s[:, inside], (rows.t - rows.s)[:, inside]
        own = np.column_stack([one.s, one.t - one.s, one.chance, rows.x @ point.slope])
        pattern = kinds(np.column_stack([own, s, f, chance, levels]))
        first = np.zeros(pattern.max() + 1, dtype=int)
        first[pattern[::-1]] = np.arange(len(pattern))[::-1]
        self.own, of_pattern = np.unique(own[first], axis=0, return_inverse=True)
        self.of_pattern, self.shift = of_pattern.ravel(), nest.shift
        self.inner = np.empty((len(first), *nest.shift.shape))
        for k, i in enumerate(first):
            cells = nested.cells_at(levels[i], chance[i], nest.shift)
            self.inner[k] = cells.log_right @ s[i] + cells.log_wrong @ f[i] + nest.inner.log_weight
        highest = self.inner.max(axis=2)
        np.exp(self.inner - highest[:, :, None], out=self.inner)
        others += highest[pattern]
        others -= others.max(axis=1, keepdims=True)
        self.items, self.nodes = np.nonzero(others > -NEGLIGIBLE)
        self.starts = np.flatnonzero(np.diff(self.items, prepend=-1))
        self.weight, self.pattern = np.exp(others[self.items, self.nodes]), pattern[self.items]

    def log_likelihood(self, ability: float) -> float:
        """Return the log-likelihood of the column's answers, but for a constant, at an ability."""
        table = np.empty(self.inner.shape[:2])
        for a, (s, f, chance, shift) in enumerate(self.own):
            cells = nested.cells_at(np.array([ability - shift]), np.array([chance]), self.shift)
            of_answer = np.exp(s * cells.log_right[:, :, 0] + f * cells.log_wrong[:, :, 0])
            some = self.of_pattern == a
            table[some] = np.einsum("kqu,qu->kq", self.inner[some], of_answer)
        integrals = np.add.reduceat(self.weight * table[self.pattern, self.nodes], self.starts)
        return float(np.log(np.maximum(integrals, np.finfo(float).tiny)).sum())

    def curve(self) -> Floats:
        """Return the log-likelihood at `ABILITIES`, by a spline through some of them."""
        few = ABILITIES[::EACH]
        found: Floats = make_interp_spline(few, [self.log_likelihood(x) for x in few], k=5)(ABILITIES)
        found[0] = self.log_likelihood(GUESSES)
        return found
