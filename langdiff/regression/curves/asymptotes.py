r"""Curves that fall to a floor as a power of the amount of training text, one exponent for all editions.

.. math:: B_j(n) = E_j + A_j n^{-\beta} \quad\text{(power)}, \qquad
          \ln B_j(n) = E_j + A_j n^{-\beta} \quad\text{(stretched)}

The second is the stretched exponential of Takahira, Tanaka-Ishii and Dębowski (2016, "Entropy rate estimates for
natural language - a new extrapolation of compressed large-scale corpora"), who find one exponent for six languages.
Given β, the others follow by weighted linear regression; what is left is a search for β alone (variable projection),
done for all samples of a bootstrap side by side.

Floors, gains and the exponent come with intervals from draws.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
import pandas as pd

from langdiff.base.result import Result, rounded
from langdiff.base.types import Booleans, Floats
from langdiff.errors import ConfigError, DataError, listing
from langdiff.tables.rule import draw_interval

LEAST, MOST, STEPS = 0.02, 3.0, 40  # of β
NARROWINGS = 32  # of a bracket by the golden section: to 1e-7 of its width
GOLDEN = (np.sqrt(5) - 1) / 2
Form = Literal["power", "stretched"]
FEWEST_SIZES = 3
CAUTION = "The floor is an extrapolation beyond the largest size, and holds only if the curve keeps its form."


class PowerFit(NamedTuple):
    r"""Parameters of D samples: `floor` E and `gain` A at the smallest size, shape (D, J); `exponent` β, shape (D,).

    `misfit` and `misfit_of_constant` are weighted sums of squares, shape (D, J). The gain is :math:`A_j n_1^{-\beta}`,
    by how much the smallest size is above the floor, in the unit of the data.
    """

    floor: Floats
    gain: Floats
    exponent: Floats
    misfit: Floats
    misfit_of_constant: Floats


def fit_power(y: Floats, sizes: Floats, weights: Floats) -> PowerFit:
    """Fit floors, gains and their common exponent by weighted least squares.

    Shapes: y (D, J, K); sizes (K,); weights (J, K).

    Examples
    --------
    >>> n = np.array([1.0, 4.0, 16.0])
    >>> found = fit_power((2 + 3 * n**-0.5)[None, None], n, np.ones((1, 3)))
    >>> found.floor.item(), found.gain.item(), found.exponent.item()  # doctest: +ELLIPSIS
    (2.00000..., 2.99999..., 0.5000...)
    """
    shares = weights / weights.sum(axis=1, keepdims=True)
    centred = y - np.einsum("djk,jk->dj", y, shares)[..., None]
    log_ratio = np.log(sizes / sizes[0])
    left = _search(centred, weights, shares, log_ratio)
    x = np.exp(-left[:, None] * log_ratio)  # (D, K)
    x_centred, slope, misfit = _project(centred, weights, shares, x)
    mean = np.einsum("djk,jk->dj", y, shares) - slope * (x[:, None] - x_centred)[..., 0]
    return PowerFit(mean, slope, left, misfit, np.einsum("djk,jk->dj", centred**2, weights))


def _project(centred: Floats, weights: Floats, shares: Floats, x: Floats) -> tuple[Floats, Floats, Floats]:
    """Regress on x, shape (D, K): return x less its mean, (D, J, K), the slopes and the sums of squares, (D, J)."""
    x_centred = x[:, None] - (x @ shares.T)[..., None]
    slope = np.einsum("djk,djk,jk->dj", centred, x_centred, weights) / np.einsum("djk,jk->dj", x_centred**2, weights)
    misfit = np.einsum("djk,jk->dj", (centred - slope[..., None] * x_centred) ** 2, weights)
    return x_centred, slope, misfit


def _search(centred: Floats, weights: Floats, shares: Floats, log_ratio: Floats) -> Floats:
    """Return the exponent with the least sum of squares of each sample, shape (D,)."""

    def cost(exponent: Floats) -> Floats:
        total: Floats = _project(centred, weights, shares, np.exp(-exponent[:, None] * log_ratio))[2].sum(axis=1)
        return total

    grid = np.geomspace(LEAST, MOST, STEPS)
    on_grid = np.array([cost(np.full(len(centred), value)) for value in grid])  # (STEPS, D)
    best = on_grid.argmin(axis=0)
    low, high = grid[np.maximum(best - 1, 0)], grid[np.minimum(best + 1, STEPS - 1)]
    for _ in range(NARROWINGS):
        inner, outer = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        lower = cost(inner) < cost(outer)
        low, high = np.where(lower, low, inner), np.where(lower, outer, high)
    middle: Floats = (low + high) / 2
    return np.where(np.isnan(cost(middle)), np.nan, middle)  # totals have no draws


def at_end(exponent: Floats) -> Floats:
    """Return an indicator of samples whose exponent is at an end of its range, shape (D,)."""
    grid = np.geomspace(LEAST, MOST, STEPS)
    ends: Floats = (exponent < (grid[0] + grid[1]) / 2) | (exponent > (grid[-2] + grid[-1]) / 2)
    return ends


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Asymptotes(Result):
    r"""Curves that fall to a floor, with one exponent; see `langdiff.regression.curves.asymptotes`.

    Attributes
    ----------
    form : str
        ``"power"``: :math:`B_j(n) = E_j + A_j n^{-\beta}`; ``"stretched"``: the same of :math:`\ln B_j(n)`.
    exponent, exponent_low, exponent_high : float
        β with its 95 % interval.
    frame : DataFrame, J rows
        See `to_frame`.
    misfit : float
        Root mean square of the relative distance between bits and curve, over editions and sizes, per degree of
        freedom.
    """

    form: str
    exponent: float
    exponent_low: float
    exponent_high: float
    frame: pd.DataFrame
    misfit: float

    def to_frame(self) -> pd.DataFrame:
        """Return one row per edition.

        Returns
        -------
        DataFrame
            Indexed by edition: ``floor``, the bits per intent that the curve falls to (:math:`E_j`, or its
            exponential in the stretched form), ``gain``, the bits by which the smallest size is above it (in the
            stretched form, of the logarithm), and ``floor_difficulty``, the difficulty in nats that the floors have
            (their factors average 1), each with ``_low`` and ``_high`` (95 %); ``coefficient``, :math:`A_j`;
            ``reason``, why numbers are NaN.
        """
        return self.frame.copy()

    def _lines(self) -> Iterator[str]:
        yield repr(self)
        yield CAUTION

    def _table(self) -> pd.DataFrame:
        known = self.frame[self.frame["reason"].eq("")].drop(columns="reason")
        return rounded(known.sort_values("floor"), self.digits)

    def _notes(self) -> Iterator[str]:
        for edition, why in self.frame.loc[self.frame["reason"].ne(""), "reason"].items():
            yield f"{edition}: {why}"
        yield f"[form:{self.form}|misfit:{self.misfit:.2e}]"

    def __repr__(self) -> str:
        """Return a one-line description."""
        ends = self.exponent_low, self.exponent_high
        return (
            f"Asymptotes ({self.form}): {int(self.frame['reason'].eq('').sum())} of {len(self.frame)} editions, "
            f"exponent {self.exponent:.3f}{'' if np.isnan(ends).any() else ' ({:.3f} to {:.3f})'.format(*ends)}"
        )


def fit_asymptotes(log_bits: pd.DataFrame, draws: Floats, form: Form) -> Asymptotes:
    """Fit curves to log bits, shape (J, K), and to their draws, shape (D, J, K)."""
    if form not in get_args(Form):
        raise ConfigError(f"unknown form {form!r}; use one of {listing(get_args(Form))}.")
    editions, sizes = log_bits.index, log_bits.columns.to_numpy(dtype=float)
    if len(sizes) < FEWEST_SIZES:
        raise ConfigError(f"a floor needs at least {FEWEST_SIZES} sizes, got {len(sizes)}.")
    y, drawn = log_bits.to_numpy(), draws
    weights = np.ones_like(y)
    if form == "power":  # errors of bits are in proportion to them
        y, drawn = np.exp(y), np.exp(drawn)
        weights = 1 / y**2
    reason = _reasons(fit_power(y[None], sizes, weights), len(sizes), form)
    used = reason == ""
    if not used.any():
        raise DataError(f"no edition has a floor: {reason[0]}, and the others likewise.")
    found = fit_power(y[None, used], sizes, weights[used])
    if at_end(found.exponent)[0]:
        raise DataError(
            f"the exponent is at an end of its range ({found.exponent[0]:.3f}): the curves do not bend enough, or too "
            "much, between these sizes to tell a floor. Use sizes further apart, or the other form."
        )
    sampled = fit_power(drawn[:, used], sizes, weights[used])
    low, high = draw_interval(sampled.exponent)
    freedom = used.sum() * (len(sizes) - 2) - 1
    return Asymptotes(
        form=form,
        exponent=float(found.exponent[0]),
        exponent_low=float(low),
        exponent_high=float(high),
        frame=_frame(editions, reason, found, sampled, sizes[0], form),
        misfit=float(np.sqrt(found.misfit.sum() / max(freedom, 1))),
    )


def _reasons(found: PowerFit, sizes: int, form: Form) -> np.ndarray:
    """Return the reason why each edition's curve has no floor; empty where it has one."""
    better: Booleans = found.misfit[0] / (sizes - 2) < found.misfit_of_constant[0] / (sizes - 1)
    conditions = [found.gain[0] <= 0, ~better]
    words = ["its bits do not fall with size", "a curve fits no better than a constant"]
    if form == "power":
        conditions.append(found.floor[0] <= 0)
        words.append("its floor would be below 0 bits")
    return np.select(conditions, words, default="")


def _frame(
    editions: pd.Index, reason: np.ndarray, found: PowerFit, sampled: PowerFit, smallest: float, form: Form
) -> pd.DataFrame:
    used = editions[reason == ""]

    def levels(fit: PowerFit) -> dict[str, Floats]:
        bits = np.exp(fit.floor) if form == "stretched" else np.maximum(fit.floor, 0.0)
        with np.errstate(divide="ignore"):  # draws without a floor above 0 have a difficulty of minus infinity
            mean = np.maximum(bits.mean(axis=1, keepdims=True), np.finfo(float).tiny)
            difficulty = np.log(bits) - np.log(mean)
        return {"floor": bits, "gain": fit.gain, "floor_difficulty": difficulty}

    columns: dict[str, Floats] = {}
    drawn = levels(sampled)
    for name, values in levels(found).items():
        ends = draw_interval(drawn[name], method="nearest")
        columns |= {name: values[0], f"{name}_low": ends[0], f"{name}_high": ends[1]}
    columns["coefficient"] = found.gain[0] * smallest ** found.exponent[0]
    frame = pd.DataFrame(columns, index=used).reindex(editions)
    frame["reason"] = reason
    return frame.rename_axis("edition")
