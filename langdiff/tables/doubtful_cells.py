"""Doubts of tables of numbers: marks for missing values, extreme cells, columns whose rows are of other items."""

from pathlib import Path

import numpy as np
import pandas as pd

from langdiff.base.types import Booleans, Floats, Integers
from langdiff.errors import DataError, warn

ROUNDED = 1e-3  # relative difference of a sum or mean from that of the cells as they are written
SAMPLED = 500  # rows from which it is told whether columns follow one another
BLOCKS = 10  # of rows, each looked at by itself
FOLLOWING = 0.3  # the least median correlation of columns at which one that does not follow is named
FOLLOWING_SOME = 0.1  # the same of answers
FAR_BELOW = 3.3  # standard errors
MOVED = 5  # rows, up to which it is tried whether a column was moved
EXTREME_MARK = np.log(5.0)  # from its row and edition, of a mark among numbers that are not whole
EXTREME = np.log(20.0)  # of 1.6 million lengths of verses in 74 Bibles 7 are farther, all in verses wrongly divided
SHORT = np.log(50.0)  # bits of texts that vary by large factors
FAR_BEYOND = 4.0  # of the range of all others, by which a mark is far
OFTEN = 0.05  # of the scores, from which −1 is a point that wrong answers cost
FAR_FROM_ALL = 20.0  # median absolute deviations, at which a score is extreme
MOST_SKIPPED = 3  # least steps between two ratings that are given
PERCENT = 20  # half of the scores of a column are above it where they are percent
FEWEST_EQUAL, RAREST = 20, 5  # items, and those of them with another outcome than most, of columns that are equal


def refuse_summaries(numbers: pd.DataFrame, path: Path) -> None:
    """Refuse a last row or column that is the sum or mean of the others, as spreadsheets have them."""
    for what, table in (("row", numbers), ("column", numbers.T)):
        others, last = table.iloc[:-1], table.iloc[-1]
        varied = len(others) > 2 and len(last) > 1 and bool((others.nunique() > 1).all())
        for called, expected in (("sum", others.sum()), ("mean", others.mean())) if varied else ():
            if np.allclose(last, expected, rtol=ROUNDED, atol=0):
                name = table.index[-1]
                raise DataError(f"{path}: the last {what}, {name!r}, is the {called} of the others: delete it.")


def doubt_bits(table: pd.DataFrame, z: Floats) -> None:
    """Refuse numbers such as 9999 that stand far from their row and edition; warn of other cells that do.

    Shapes: z (I, J), logarithms of the table.
    """
    range_of_row = np.fmax.reduce(z, axis=1) - np.fmin.reduce(z, axis=1)
    rows = np.flatnonzero((range_of_row > EXTREME_MARK) & (np.count_nonzero(~np.isnan(z), axis=1) > 2))
    if not len(rows):
        return
    centre = np.nanmedian(z, axis=0)
    expected = np.nanmedian(z[rows] - centre, axis=1, keepdims=True) + centre
    bits = table.to_numpy()[rows]
    whole = np.count_nonzero(bits == np.round(bits)) > np.count_nonzero(~np.isnan(bits)) / 2
    distance = np.abs(z[rows] - expected)
    marks = _marks(bits) & (distance > (EXTREME if whole else EXTREME_MARK))
    _refuse_marks(part := table.iloc[rows], marks)
    count, words = _words_of_cells(part, (distance > EXTREME) & (expected > SHORT), np.exp(expected))
    if count:
        warn(
            f"{count} cell(s) have over 20 times, or under a twentieth, of the bits that their intent and edition "
            f"let expect: {words}. Look at these texts; leave cells empty (NaN) that are wrong."
        )


def doubt_scores(scores: pd.DataFrame, *, whole: bool) -> None:
    """Refuse marks among scores or ratings (`whole`), and columns on another scale; warn of other odd cells.

    Shapes: scores (I, J).
    """
    scores = scores.dropna(how="all").dropna(axis=1, how="all")
    found = scores.to_numpy(dtype=float)
    marks = _marks(found) | (found == -1)
    rest = np.unique(found[~marks & ~np.isnan(found)])
    if len(rest) > 1 and rest[0] == 0 and (rest % 1 == 0).all() and np.mean(found == -1) > OFTEN:
        rest = np.insert(rest, 0, -1.0)
    if len(rest) > 2:  # neither right nor wrong, in percent
        beyond = np.maximum(rest[0] - found, found - rest[-1]) > FAR_BEYOND * np.ptp(rest)
        percent = (found >= 0) & (found <= 100) & (rest[0] >= 0) & (PERCENT < rest[-1] <= 100)
        _refuse_marks(scores, marks & ~percent & (beyond | ((found < 0) & (rest[0] >= 0))))
    if whole:
        steps = np.diff(rest)
        gaps = np.flatnonzero(steps > MOST_SKIPPED * steps.min(initial=np.inf))
        if len(gaps):
            warn(f"no rating lies between {rest[gaps[0]]:g} and {rest[gaps[0] + 1]:g}: is one of the two a mark?")
    else:
        _doubt_scales(scores)
        _warn_of_extremes(scores)
    warn_of_strangers(found, scores.index, scores.columns)


def _doubt_scales(scores: pd.DataFrame) -> None:
    """Refuse a column in percent among scores up to 1; warn of one up to 1 among those in percent."""
    found = scores.to_numpy(dtype=float)
    largest, middle = np.fmax.reduce(found, axis=0), np.nanmedian(found, axis=0)
    for j in range(len(largest) if np.nanmin(found) >= 0 and len(largest) > 1 else 0):
        name = scores.columns[j]
        if np.delete(largest, j).max() <= 1 < middle[j]:
            reach = f"scores of {name!r} reach {largest[j]:g}, those of all others at most 1"
            if largest[j] > PERCENT:
                divide = "Bring all to one scale, for instance by dividing percent by 100."
                raise DataError(f"{reach}: they are on another scale. {divide}")
            warn(f"{reach}: are they on one scale?")
        if 0 < largest[j] <= 1 and np.delete(middle, j).min() > PERCENT:
            warn(f"scores of {name} are at most {largest[j]:g}, others mostly above {PERCENT}: are they on one scale?")


def _warn_of_extremes(scores: pd.DataFrame) -> None:
    """Warn of scores that are far from what their item and system let expect."""
    found = scores.to_numpy(dtype=float)
    residual = found - np.nanmedian(found, axis=1, keepdims=True)
    residual -= np.nanmedian(residual, axis=0)
    size, least = np.abs(residual), np.nanmin(np.abs(found), axis=1, keepdims=True)
    usual = np.nanmedian(size)
    rising = np.nanmedian(size / np.where(least > 0, least, np.inf)) * least  # as log-probabilities vary
    far = (size > FAR_FROM_ALL * np.fmax(usual, rising)) & (usual > 0)
    count, words = _words_of_cells(scores, far, found - residual)
    if count:
        warn(
            f"{count} score(s) are over {FAR_FROM_ALL:g} times the usual distance from what their item and system "
            f"let expect: {words}. Leave cells empty that are wrong."
        )


def _marks(numbers: Floats) -> Booleans:
    """Return which numbers, or the same in nats, are powers of ten from 100 on, or one less, with either sign."""
    powers = 10.0 ** np.arange(2, 13)
    marks = np.concatenate([powers, powers - 1])
    size = np.abs(numbers)
    found = np.zeros(numbers.shape, dtype=bool)
    for mark in np.concatenate([marks, marks / np.log(2.0)]):
        found |= np.isclose(size, mark, rtol=1e-7, atol=0)
    return found


def _words_of_cells(table: pd.DataFrame, which: Booleans, expected: Floats | None = None) -> tuple[int, str]:
    """Return how many cells there are, and the first three in words."""
    rows, columns = np.nonzero(which)  # not where NaN
    found = table.to_numpy(dtype=float)
    words = [
        f"({table.index[i]}, {table.columns[j]}) = {found[i, j]:.7g}"
        + ("" if expected is None else f", not about {expected[i, j]:.3g}")
        for i, j in zip(rows[:3], columns[:3], strict=True)
    ]
    return len(rows), "; ".join(words)


def _refuse_marks(table: pd.DataFrame, marks: Booleans) -> None:
    count, words = _words_of_cells(table, marks)
    if count:
        raise DataError(
            f"{count} cell(s) hold a mark for a missing value: {words}, far from all that their row and column let "
            "expect. Leave such cells empty (NaN)."
        )


def refuse_far_marks(name: str, column: pd.Series) -> None:
    """Refuse 99, 999 and so on, and below 0 their negatives and powers of ten, that are far from all other numbers."""
    found = column.to_numpy(dtype=float)
    nines = np.isin(np.abs(found), 10.0 ** np.arange(2, 13) - 1)
    rest = found[~_marks(found) & ~np.isnan(found)]
    if len(rest) > 2:
        beyond = np.maximum(rest.min() - found, found - rest.max()) > FAR_BEYOND * np.ptp(rest)
        below = _marks(found) & (found < 0) & (rest.min() >= 0)
        _refuse_marks(column.to_frame(name), ((nines & beyond) | below)[:, None])


def warn_of_strangers(z: Floats, rows: pd.Index, columns: pd.Index, *, guesses: bool = False) -> None:
    """Warn of columns that do not follow the others from row to row, in all rows or in a tenth of them.

    Where columns may be guesses, only those are named that run against the others. Shapes: z (I, J).
    """
    everywhere = np.arange(len(z))
    strange = _strangers(z, guesses=guesses)
    places = {int(j): everywhere for j in np.flatnonzero(strange)}
    for block in () if guesses else np.array_split(everywhere, BLOCKS):
        for j in np.flatnonzero(_strangers(z[block]) & ~strange):
            places[int(j)] = np.append(places.get(int(j), block[:0]), block)
    if places:
        what = "column" if columns.name is None else columns.name
        unit = "row" if rows.name is None else rows.name
        words = [f"{columns[j]}{_words_of_stranger(z, j, where, rows)}" for j, where in places.items()]
        turned = (
            " Of columns that run against the others the scale may be turned round." if "against" in str(words) else ""
        )
        warn(
            f"{len(places)} {what}(s) hardly follow the others from {unit} to {unit}: {'; '.join(words[:3])}. Rows may "
            f"belong to other {unit}s: compare names with what they stand for.{turned}"
        )


def warn_of_copies(table: pd.DataFrame) -> None:
    """Warn of columns of outcomes that are equal in all rows."""
    found = table.to_numpy(dtype=float)
    rarer = [len(column) - np.unique(column, return_counts=True)[1].max() for column in found.T]
    hashes = pd.Series([column.tobytes() for column in found.T], table.columns)
    copies = hashes[(np.array(rarer) >= RAREST) & hashes.duplicated(keep=False)]
    if len(copies) and len(found) >= FEWEST_EQUAL:
        groups = [" = ".join(map(str, same.index)) for _, same in copies.groupby(copies, sort=False)]
        warn(f"outcomes are equal in all items: {'; '.join(groups)}. Is one file given twice?")


def _strangers(z: Floats, *, guesses: bool = False) -> Booleans:
    """Return the columns whose correlation with the others is shown to be below half of the median; shape (J,).

    Where columns may be guesses, below 0.
    """
    correlation, cells = _following(z)
    highest = correlation + FAR_BELOW / np.sqrt(cells)
    if not guesses:
        usual = _usual(correlation)
        return np.asarray((highest < usual / 2) & (usual >= FOLLOWING))
    against: Booleans = highest < 0
    others = z[:, ~against]
    follow = against.any() and others.shape[1] > 1 and _usual(_following(others)[0]) >= FOLLOWING_SOME
    return against & follow


def _usual(correlation: Floats) -> float:
    """Return the median correlation of the columns that vary where others have cells, too."""
    known = correlation[~np.isnan(correlation)]
    return float(np.median(known)) if len(known) else 0.0


def _following(z: Floats) -> tuple[Floats, Integers]:
    """Return the correlation of each column with the mean of the others, and their common rows; shapes (J,), (J,).

    The correlation is NaN where a column has no cells or all are equal.
    """
    sample = z[:: max(1, len(z) // SAMPLED)]
    known = ~np.isnan(sample)
    joined = known & (known.sum(axis=1, keepdims=True) > 1)
    cells = np.maximum(joined.sum(axis=0), 1)
    own = _centred(sample, joined, cells)
    rest = (own.sum(axis=1, keepdims=True) - own) / np.maximum(joined.sum(axis=1, keepdims=True) - 1, 1)
    rest = _centred(rest, joined, cells)
    size = np.sqrt((own**2).sum(axis=0) * (rest**2).sum(axis=0))
    correlation = np.divide((own * rest).sum(axis=0), size, out=np.full(len(size), np.nan), where=size > 0)
    return correlation, cells


def _centred(numbers: Floats, observed: Booleans, cells: Integers) -> Floats:
    """Return numbers less the means of their columns, 0 where they are not observed."""
    filled = np.where(observed, numbers, 0.0)
    return np.where(observed, filled - filled.sum(axis=0) / cells, 0.0)


def _words_of_stranger(z: Floats, j: int, rows: Integers, names: pd.Index) -> str:
    """Return the rows of a column, its correlation with the mean of the others, and by how many rows it was moved."""
    rest = pd.DataFrame(np.delete(z, j, axis=1))
    others, own = (rest - rest.mean()).mean(axis=1), pd.Series(z[:, j])
    moved = {k: float(others[rows].corr(own.shift(k)[rows])) for k in range(-MOVED, MOVED + 1)}
    best = max(moved, key=lambda k: np.nan_to_num(moved[k]))
    where = "" if len(rows) == len(z) else f" from {names[rows[0]]} to {names[rows[-1]]}"
    hint = f"; moved by {best:+d} row(s) {moved[best]:.2f}" if moved[best] > max(0.5, 2 * moved[0]) else ""
    hint += "; against them" if not hint and moved[0] < -FAR_BELOW / np.sqrt(len(rows)) else ""
    return f"{where} (correlation {moved[0]:.2f}{hint})"
