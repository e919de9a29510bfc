r"""Items at fault: wrong keys as a mixture, and translations that are harder or easier than the item is elsewhere.

A system that would be right with probability p is, under a wrong key, counted right with :math:`(1 - p)/(k - 1)`, k the
number of choices. The likelihood of answers under right and wrong key is integrated over questions and translations as
in the fit, whose levels are held at their estimates; σ and τ, which take faults for variation, are found again.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.stats import binom, false_discovery_control

from langdiff.base.result import Result
from langdiff.base.types import Booleans, Floats, Integers
from langdiff.errors import ConfigError, DataError, option, warn
from langdiff.regression.outcomes import nested
from langdiff.regression.outcomes.design import rows_of
from langdiff.regression.outcomes.evaluation import Point, make_nest
from langdiff.regression.outcomes.integrals import Rows
from langdiff.regression.outcomes.nested import Cells, Group, Kind, Nest

if TYPE_CHECKING:
    from langdiff.regression.outcomes.result import OutcomeFit

KEY, TRANSLATION, ALL = "key", "translation", "all"
CHOICES = 4  # of answers that are not chosen from a list: so rarely is a wrong answer the one that a wrong key wants
FEWEST_OVER_LANGUAGES, FEWEST, MANY_LANGUAGES = 3, 10, 5  # systems for keys, and languages from which the first holds
START_SHARE, EM_STEPS, SAME = 0.01, 200, 1e-3  # of EM: share it starts from, steps, and gain at which it ends
ODD_SPREAD = 2.0  # log odds, of translations that are not as others
SPREAD_STEP, SAME_FIT, EVALUATIONS, LOWER = 0.03, 0.1, 30, 0.8  # of the search of σ and τ
LEAST_PROBABILITY = 0.5  # of a wrong key that is flagged
SMALL, LARGE = 0.43, 0.64  # shifts of translations in log odds: the customary classes of items
SHIFTS = np.arange(-4.0, 4.01, 0.4)  # at which the likelihood of a shift is computed
BELOW = 0.01  # p of an item whose right answers are fewer than guesses


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ItemFaults(Result):
    """Items whose answers suggest a wrong key, or a translation that is harder or easier than the item.

    Attributes
    ----------
    frame : DataFrame
        ``item``, ``language`` (``"all"`` where all languages are concerned), ``kind`` (``"key"`` or
        ``"translation"``); of keys ``probability`` that the key is wrong; of translations ``estimate``, by how many log
        odds it is harder than the item elsewhere (drawn towards 0, by a normal prior with standard deviation 1),
        ``size`` (``"small"``, ``"moderate"`` or ``"large"``, beyond .43 and .64), ``p`` and ``q`` (Benjamini and
        Hochberg); and ``flag``. What is flagged comes first.
    shares : dict of float
        Estimated shares of wrong keys, of items (``"all"``) and of items in one language (``"language"``).
    below_chance : tuple of str
        Items with fewer right answers than guesses would give (p < .01): their key is wrong, or a wrong answer is
        attractive.
    rate : float
        Rate of false discoveries that flags aim at.
    signature : str
        That of the fit.
    """

    frame: pd.DataFrame
    shares: dict[str, float]
    below_chance: tuple[str, ...]
    rate: float
    signature: str

    def to_frame(self) -> pd.DataFrame:
        """Return one row per item and language; see `frame`.

        Returns
        -------
        DataFrame
            What is flagged first.
        """
        return self.frame

    def _table(self) -> pd.DataFrame:
        flagged = self.frame[self.frame["flag"]]
        return flagged.drop(columns="flag").round(self.digits)

    def _lines(self) -> Iterator[str]:
        yield repr(self)
        for place, share in self.shares.items():
            what = "items" if place == ALL else "items in one language"
            yield f"share of wrong keys, of {what}: {share:.4f}"
        if self.below_chance:
            yield f"{len(self.below_chance):,} items are right less often than guesses: attractive wrong answer or key"

    def __repr__(self) -> str:
        """Return the numbers of flags in one line."""
        flags = self.frame[self.frame["flag"]].groupby("kind").size()
        return f"ItemFaults: {flags.get(KEY, 0):,} wrong keys, {flags.get(TRANSLATION, 0):,} translations"


class Shares(NamedTuple):
    """Shares of items whose key is wrong, and of items in a language with a wrong key or an odd translation."""

    items: float = START_SHARE
    keys: float = START_SHARE
    odd: float = START_SHARE


@dataclass(frozen=True, eq=False)
class _Part:
    """Integrals of some items: for each language the logarithms of the inner ones of its patterns, (3, K, Q).

    The first axis has three hypotheses: the right key and a usual translation; a wrong key; an odd translation, whose
    spread is larger. `there` says which items have answers in which language, (n, L).
    """

    places: Integers
    nest: Nest
    rows: Rows
    tables: list[Floats]
    there: Booleans

    @property
    def patterns(self) -> list[Integers]:
        """Pattern of each item in each language."""
        return [group.pattern for group in self.nest.groups]

    def mixed(self, shares: Shares) -> list[Floats]:
        """Return the logarithm of the mixture of hypotheses of each pattern, (K, Q) for each language."""
        weights = np.array([1 - shares.keys - shares.odd, shares.keys, shares.odd])
        found = []
        for table in self.tables:
            highest = table.max(axis=0)
            found.append(highest + np.log(np.tensordot(weights, np.exp(table - highest), axes=1)))
        return found

    def summed(self, of_patterns: list[Floats]) -> Floats:
        """Return the sum over languages, with the weight of nodes, of logarithms of patterns, shape (n, Q)."""
        total = np.tile(self.nest.log_weight, (len(self.places), 1))
        for table, pattern in zip(of_patterns, self.patterns, strict=True):
            total += table[pattern]
        return total


def items_at_fault(fit: "OutcomeFit", *, q: float, fewest: int | None) -> ItemFaults:
    """Return items whose answers suggest a wrong key or a bad translation; see `OutcomeFit.items_at_fault`."""
    keys, translations = _check(fit, q, fewest)
    outcomes = fit.outcomes
    if outcomes is None:
        raise DataError("the fit was saved without its outcomes; fit again.")
    languages = [ALL] if fit.columns is None else list(dict.fromkeys(fit.columns["language"]))
    rows = rows_of(outcomes, fit.design(outcomes.items), fit.structure, fit.chance_of(outcomes))
    found, shares = _tuned(fit, rows, keys=keys, odd=translations)
    names, there = outcomes.items.index, np.concatenate([part.there for part in found])
    order = np.argsort(np.concatenate([part.places for part in found]))
    there = there[order]
    frames, shown = [], {}
    known = there
    if keys:
        posteriors = [_posteriors(part, shares) for part in found]
        of_items = np.concatenate([everywhere for everywhere, _, _ in posteriors])[order]
        of_cells = np.concatenate([cells[0] for _, cells, _ in posteriors])[order]
        shown[ALL] = shares.items
        flag = _flagged(of_items, q)
        frames.append(_frame(names, ALL, KEY, probability=of_items, flag=flag))
        known = known & ~flag[:, None]
        if len(languages) > 1:
            shown["language"] = shares.keys
            cells = np.zeros(known.shape, dtype=bool)
            cells[known] = _flagged(of_cells[known], q)
            for k, language in enumerate(languages):
                some = known[:, k]
                frames.append(_frame(names[some], language, KEY, probability=of_cells[some, k], flag=cells[some, k]))
            known = known & ~cells
    if translations:
        frames += _translations(found, names, languages, known, shares, q)
    frame = pd.concat(frames, ignore_index=True)
    first = frame.sort_values(["flag", "probability", "p"], ascending=[False, False, True], kind="stable")
    return ItemFaults(
        frame=first.reset_index(drop=True),
        shares=shown,
        below_chance=_below_chance(rows, names),
        rate=q,
        signature=fit.signature,
    )


def _check(fit: "OutcomeFit", q: float, fewest: int | None) -> tuple[bool, bool]:
    """Return whether keys and whether translations can be judged."""
    if isinstance(q, bool) or not isinstance(q, int | float) or not 0 < q < 1:
        raise ConfigError(f"{option('q')} must be between 0 and 1, got {q!r}.")
    if fewest is not None and (isinstance(fewest, bool) or not isinstance(fewest, int) or fewest < 2):
        raise ConfigError(f"{option('fewest')} must be a whole number, at least 2, got {fewest!r}.")
    if not fit.structure.totals_suffice or fit.structure.conditional or fit.structure.likelihood.constant is not None:
        raise ConfigError(f"items at fault are found by {option('model', 'rasch')} only, not by {fit.model!r}.")
    if fit.trials != fit.cells:
        raise DataError("items at fault are found among cells of one trial only.")
    systems = len(fit.systems) if fit.columns is None else int(fit.columns["language"].value_counts().median())
    languages = 1 if fit.columns is None else fit.columns["language"].nunique()
    least = FEWEST_OVER_LANGUAGES if languages >= MANY_LANGUAGES else FEWEST
    keys = systems >= (least if fewest is None else fewest)
    translations = languages > 1 and systems >= (FEWEST if fewest is None else fewest)
    lowering = f"{option('fewest', systems)} lowers the limit" if systems > 1 else "one system never can"
    if not keys and not translations:
        wanted = f"{least} systems are needed for keys"
        raise DataError(f"{systems} system(s) cannot tell a bad item from bad luck: {wanted} ({lowering}).")
    if not translations and languages > 1:
        warn(
            f"{systems} systems cannot tell a bad translation from bad luck: {FEWEST} are needed ({lowering}). Only "
            "keys are examined."
        )
    return keys, translations


def _tuned(fit: "OutcomeFit", rows: Rows, *, keys: bool, odd: bool) -> tuple[list[_Part], Shares]:
    """Return integrals at the σ and τ, and the shares, at which the mixture of right and wrong keys is most likely.

    Those of the fit take faults for items and translations that vary.
    """
    point = fit.point
    several = fit.columns is not None and fit.columns["language"].nunique() > 1
    shares = Shares(START_SHARE * keys, START_SHARE * (keys and several), START_SHARE * odd)
    spreads: Any = np.array([point.spread, point.translation] if point.translation > 0 else [point.spread])

    def at(values: Any, *, coarse: bool = True) -> tuple[list[_Part], Shares, float]:
        moved = replace(point, spread=abs(values[0]), translation=abs(values[1]) if len(values) > 1 else 0.0)
        found = list(_parts(fit, rows, moved, coarse=coarse))
        return found, *_mixture(found, shares)

    def loss(values: Any) -> float:
        return -at(values)[2]

    if point.spread > 0:
        options: Any = {
            "xatol": SPREAD_STEP,
            "fatol": SAME_FIT,
            "maxfev": EVALUATIONS,
            "initial_simplex": _simplex(spreads),
        }
        spreads = minimize(loss, spreads, method="Nelder-Mead", options=options).x
    found, shares, _ = at(spreads, coarse=False)
    return found, shares


def _simplex(spreads: Floats) -> Floats:
    """Return corners from which a search begins: the spreads of the fit, and lower ones."""
    corners = np.tile(spreads, (len(spreads) + 1, 1))
    for k in range(len(spreads)):
        corners[k + 1, k] *= LOWER
    return corners


def _parts(fit: "OutcomeFit", rows: Rows, point: Point, *, coarse: bool) -> Iterator[_Part]:
    """Yield integrals of items of one block, as many as share tables."""
    structure = fit.structure
    if fit.columns is None:  # all columns are one group
        structure = structure._replace(languages=(0,) * len(fit.systems))
    languages = structure.groups(rows.s.shape[1])
    for block in np.unique(rows.block):
        inside = np.flatnonzero(rows.block == block)
        step = nested.items_at_once(len(inside), languages)
        for begin in range(0, len(inside), step):
            places = inside[begin : begin + step]
            some = rows.take(places)
            nest = make_nest(some, point, structure, bare=True, coarse=coarse)
            spread = float(np.hypot(point.translation, ODD_SPREAD))
            inner = nested.line(spread, float(some.t.sum(axis=1).max()) / len(nest.groups), 0.0, coarse=coarse)
            odd = replace(nest, translation=spread, inner=nested.Inner(inner.v[0], inner.log_weight[0]))
            tables = [
                np.stack([group.log, _integrals(nest, group, _of_wrong_key), _integrals(odd, group)])
                for group in nest.groups
            ]
            there = np.stack([some.t[:, group.columns].any(axis=1) for group in nest.groups], axis=1)
            yield _Part(places, nest, some, tables, there)


def _integrals(nest: Nest, group: Group, change: Callable[[Kind, Cells], Cells] | None = None) -> Floats:
    """Return the logarithm of the inner integral of each pattern, its cells changed, shape (K, Q)."""
    found = np.empty_like(group.log)
    for kind in group.kinds:
        cells = nest.cells(kind)
        found[kind.places] = nested.integrate(kind, nest, cells if change is None else change(kind, cells))[0]
    return found


def _of_wrong_key(kind: Kind, cells: Cells) -> Cells:
    """Return cells counted by a wrong key: right with (1 − p)/(k − 1)."""
    choices = np.full(len(kind.level), float(CHOICES))
    if kind.chance is not None:
        choices = np.where(kind.chance > 0, np.maximum(1 / np.maximum(kind.chance, 1e-9), 2), choices)
    log_right = cells.log_wrong - np.log(choices - 1)
    return cells._replace(log_right=log_right, log_wrong=np.log1p(-np.minimum(np.exp(log_right), 1 - 1e-12)))


def _log_sum(values: Floats) -> Floats:
    highest = values.max(axis=-1, keepdims=True)
    found: Floats = (highest + np.log(np.exp(values - highest).sum(axis=-1, keepdims=True)))[..., 0]
    return found


def _mixture(found: list[_Part], start: Shares) -> tuple[Shares, float]:
    """Return the shares of faults by EM, and the log-likelihood."""
    shares, log_likelihood = start, -np.inf
    wrong = [_log_sum(part.summed([table[1] for table in part.tables])) for part in found]
    for _ in range(EM_STEPS):
        total, counts, items, value = np.zeros(2), 0.0, 0.0, 0.0
        for part, of_wrong in zip(found, wrong, strict=True):
            everywhere, of_cells, of_item = _posteriors(part, shares, of_wrong)
            value += float(of_item.sum())
            items += float(everywhere.sum())
            total += of_cells.sum(axis=(1, 2))
            counts += float(((1 - everywhere)[:, None] * part.there).sum())
        count = sum(len(part.places) for part in found)
        done, log_likelihood = value - log_likelihood < SAME, value
        if done:
            break
        shares = Shares(items / count, float(total[0]) / counts, float(total[1]) / counts)
    return shares, log_likelihood


def _posteriors(part: _Part, shares: Shares, of_wrong: Floats | None = None) -> tuple[Floats, Floats, Floats]:
    """Return probabilities of a key that is wrong everywhere, (n,), of faults in a language, (2, n, L), and ln L, (n,).

    The faults of a language are a wrong key and an odd translation.
    """
    if of_wrong is None:
        of_wrong = _log_sum(part.summed([table[1] for table in part.tables]))
    mixed = part.mixed(shares)
    log_f = part.summed(mixed)
    right = _log_sum(log_f)
    with np.errstate(divide="ignore"):
        both = np.stack([np.log1p(-shares.items) + right, np.log(shares.items) + of_wrong], axis=1)
    of_item = _log_sum(both)
    everywhere = np.exp(both[:, 1] - of_item)
    share = np.exp(log_f - right[:, None])
    of_cells = np.zeros((2, *part.there.shape))
    for k, (table, mean, pattern) in enumerate(zip(part.tables, mixed, part.patterns, strict=True)):
        for which in (0, 1):
            of_patterns = shares[1 + which] * np.exp(np.minimum(table[1 + which] - mean, 700.0))
            of_cells[which, :, k] = (share * of_patterns[pattern]).sum(axis=1)
    of_cells *= (1 - everywhere)[:, None] * part.there
    return everywhere, of_cells, of_item


def _others(part: _Part, shares: Shares) -> list[Floats]:
    """Return the logarithm of the posterior of v given the other languages, with their faults, (n, Q) for each."""
    mixed = part.mixed(shares)
    log_f, found = part.summed(mixed), []
    for table, pattern in zip(mixed, part.patterns, strict=True):
        others = log_f - table[pattern]
        found.append(others - _log_sum(others)[:, None])
    return found


def _flagged(probability: Floats, q: float) -> Booleans:
    """Return the most probable, as long as the mean of what they are not is at most q, and each above one half."""
    order = np.argsort(-probability, kind="stable")
    false = np.cumsum(1 - probability[order]) / np.arange(1, len(order) + 1)
    chosen = (false <= q) & (probability[order] > LEAST_PROBABILITY)
    flag = np.zeros(len(probability), dtype=bool)
    flag[order[: int(np.argmin(np.append(chosen, False)))]] = True
    return flag


def _translations(
    found: list[_Part], names: pd.Index, languages: list[str], known: Booleans, shares: Shares, q: float
) -> list[pd.DataFrame]:
    """Return the test of totals in each language by the predictions of others; only of `known` cells."""
    p_values, shift = np.ones(known.shape), np.zeros(known.shape)
    for part in found:
        others = _others(part, shares)
        for k, group in enumerate(part.nest.groups):
            table, total, row = _of_totals(part.nest, group, part.rows)
            p_values[part.places, k] = _mid_p(np.exp(others[k]), table, total, row)
            shift[part.places, k] = _shifts(part.nest, group, others[k])
    adjusted = np.ones(known.shape)
    adjusted[known] = false_discovery_control(p_values[known])
    flag = known & (adjusted <= q) & (np.abs(shift) > SMALL)
    size = np.where(np.abs(shift) > LARGE, "large", np.where(np.abs(shift) > SMALL, "moderate", "small"))
    frames = []
    for k, language in enumerate(languages):
        some = known[:, k]
        values = {"estimate": shift, "p": p_values, "q": adjusted, "size": size, "flag": flag}
        frames.append(_frame(names[some], language, TRANSLATION, **{key: one[some, k] for key, one in values.items()}))
    return frames


def _of_totals(nest: Nest, group: Group, rows: Rows) -> tuple[Floats, Integers, Integers]:
    """Return probabilities of totals at the nodes, (R, Q, J + 1), the total of each item, and its row of the table."""
    t = rows.t[:, group.columns] > 0
    tables: list[Floats] = []
    place = np.zeros(len(t), dtype=int)
    weight = np.exp(nest.inner.log_weight)
    for kind in group.kinds:
        items = np.flatnonzero(np.isin(group.pattern, kind.places))
        p = np.exp(nest.cells(kind).log_right)
        for present in np.unique(t[items], axis=0):
            density = np.zeros((*p.shape[:2], len(present) + 1))
            density[:, :, 0] = 1
            for j in np.flatnonzero(present):
                moved = density[:, :, :-1] * p[:, :, j, None]
                density *= 1 - p[:, :, j, None]
                density[:, :, 1:] += moved
            place[items[(t[items] == present).all(axis=1)]] = len(tables)
            tables.append(np.einsum("quk,u->qk", density, weight))
    return np.stack(tables), rows.s[:, group.columns].sum(axis=1).astype(int), place


def _mid_p(others: Floats, table: Floats, total: Integers, place: Integers) -> Floats:
    """Return two-sided mid-p-values of totals, shape (n,)."""
    found = np.empty(len(total))
    for row in np.unique(place):
        some = place == row
        density = others[some] @ table[row]
        density /= density.sum(axis=1, keepdims=True)
        upto = np.cumsum(density, axis=1)
        n = np.arange(int(some.sum()))
        at = density[n, total[some]]
        below = upto[n, total[some]] - at / 2
        found[some] = np.clip(2 * np.minimum(below, 1 - below), 0, 1)
    return found


def _shifts(nest: Nest, group: Group, others: Floats) -> Floats:
    """Return by how many log odds each item is harder in a language than elsewhere, at the mode, shape (n,)."""
    values = np.empty((len(SHIFTS), len(others)))
    for m, shift in enumerate(SHIFTS):
        log = np.empty_like(group.log)
        for kind in group.kinds:
            moved = kind._replace(level=kind.level - shift)
            log[kind.places] = nested.integrate(moved, nest, nest.cells(moved))[0]
        values[m] = _log_sum(others + log[group.pattern]) - shift**2 / 2
    best = np.clip(values.argmax(axis=0), 1, len(SHIFTS) - 2)
    low, middle, high = (np.take_along_axis(values, (best + d)[None], axis=0)[0] for d in (-1, 0, 1))
    bend = np.minimum(low - 2 * middle + high, -1e-12)
    step = SHIFTS[1] - SHIFTS[0]
    found: Floats = SHIFTS[best] + step * np.clip((low - high) / (2 * bend), -1, 1)
    return found


def _below_chance(rows: Rows, names: pd.Index) -> tuple[str, ...]:
    """Return items with fewer right answers than guesses would give; none where chance is 0."""
    if rows.constant is None:
        return ()
    answers, right = rows.t.sum(axis=1), rows.s.sum(axis=1)
    chance = (rows.constant * rows.t).sum(axis=1) / np.maximum(answers, 1)
    low = (binom.cdf(right, answers, chance) < BELOW) & (chance > 0)
    return tuple(str(name) for name in names[low])


def _frame(
    names: pd.Index,
    language: str,
    kind: str,
    *,
    flag: Booleans,
    probability: Floats | float = np.nan,
    estimate: Floats | float = np.nan,
    p: Floats | float = np.nan,
    q: Floats | float = np.nan,
    size: object = "",
) -> pd.DataFrame:
    columns = {"item": names, "language": language, "kind": kind, "estimate": estimate, "size": size}
    return pd.DataFrame(columns | {"probability": probability, "p": p, "q": q, "flag": flag}, index=range(len(names)))
