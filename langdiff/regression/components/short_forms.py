r"""Short forms: small sets of intents that reproduce the difficulties from all intents.

With residuals :math:`r_{ij}` of model 1, which sum to 0 over all I intents, the difficulty from k of them, S, is off by
:math:`\frac1k \sum_{i \in S} r_{ij}`. Chosen are intents for which the sum of two mean squares is least: that error
over the editions chosen on, and what it would be in others, of which nothing is known but that intents vary by as much:
:math:`\bigl(\frac1k - \frac2I\bigr) \frac1k \sum_{i \in S} \overline{r_i^2}` and a constant (the intents are among all,
so that their errors are in both). The first alone takes intents whose errors happen to cancel in these editions.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from langdiff.base.result import Result
from langdiff.base.types import Floats, Integers, generator
from langdiff.errors import ConfigError, DataError, listing, option
from langdiff.regression.kernel.two_way import solve_two_way
from langdiff.regression.table import as_surprisals
from langdiff.tables.surprisals import Surprisals

ROUNDS = 3  # of exchanging each intent for a better one
FEWEST_EDITIONS = 3  # to choose on, and to judge on: a correlation needs them
RANDOM_FORMS = 500

FIRST = 10  # intents that a summary shows


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ShortForm(Result):
    """A short form of a multitext, validated on editions that it was not chosen on.

    Attributes
    ----------
    intents : Index, shape (k,)
        Names of the intents, in the order of the table.
    chosen_on, judged_on : tuple of str
        Editions.
    correlation : float
        Pearson's correlation of the difficulties from these intents with those from all, over the editions judged on.
    error : float
        Root mean square of the difference between the two, nats, both relative to their mean.
    random : DataFrame
        ``correlation`` and ``error`` of 500 random choices of as many intents, judged on the same editions.
    bits_share : float
        Share of all bits of the table judged on that these intents have: long intents are better and cost more.
    """

    intents: pd.Index
    chosen_on: tuple[str, ...]
    judged_on: tuple[str, ...]
    correlation: float
    error: float
    random: pd.DataFrame
    bits_share: float

    def to_frame(self) -> pd.DataFrame:
        """Return one row per intent: its name as ``intent``."""
        return pd.DataFrame({"intent": self.intents})

    def _table(self) -> pd.DataFrame:
        return self.to_frame().head(FIRST)

    def _notes(self) -> Iterator[str]:
        if len(self.intents) > FIRST:
            yield f"The first {FIRST} of {len(self.intents):,} intents."

    def _lines(self) -> Iterator[str]:
        low, high = self.random["correlation"].quantile([0.05, 0.95])
        yield repr(self)
        yield (
            f"chosen on {len(self.chosen_on)} editions; random choices: r = {self.random['correlation'].mean():.3f} "
            f"(90 % from {low:.3f} to {high:.3f}), error {self.random['error'].mean():.4f} nats"
        )
        yield f"share of all bits: {100 * self.bits_share:.1f} %"

    def __repr__(self) -> str:
        """Return a one-line description with the correlation and the error."""
        return (
            f"ShortForm of {len(self.intents)} intents: r = {self.correlation:.3f} with all, "
            f"error {self.error:.4f} nats, on {len(self.judged_on)} other editions"
        )


def short_form(
    surprisals: Surprisals,
    n_items: int,
    *,
    judge: Surprisals | None = None,
    chosen_on: Sequence[str] | None = None,
    seed: int | np.random.Generator = 0,
) -> ShortForm:
    """Choose the intents that best reproduce the difficulties from all, and validate them on other editions.

    Parameters
    ----------
    surprisals : Surprisals, shape (I, J)
        Table to choose on, complete but for editions that are not chosen on.
    n_items : int
        Number of intents to choose.
    judge : Surprisals, optional
        Table of the same intents to judge on, such as that of another language model; by default `surprisals`. It is
        complete in the editions judged on.
    chosen_on : sequence of str, optional
        Editions to choose on; the others are judged on. By default a half drawn at random.
    seed : int or numpy.random.Generator
        Seed of that half and of the random choices that the form is compared with.

    Returns
    -------
    ShortForm

    Raises
    ------
    ConfigError
        If `n_items` is not from 2 to the number of intents less 1, or an edition is unknown.
    DataError
        If there are fewer than three editions to choose or to judge on, cells are missing, or the tables differ in
        their intents.

    Examples
    --------
    >>> import langdiff as ld
    >>> table = ld.simulate(200, 12, seed=1).surprisals
    >>> form = ld.short_form(table, 20, seed=0)
    >>> len(form.intents), bool(form.correlation > form.random["correlation"].mean())
    (20, True)
    """
    surprisals = as_surprisals(surprisals)
    judge = surprisals if judge is None else as_surprisals(judge)
    if not judge.intents.equals(surprisals.intents):
        raise DataError("the table to judge on has other intents than that to choose on, or another order of them.")
    if n_items not in range(2, len(surprisals.intents)):
        raise ConfigError(f"{option('n_items', n_items)}: must be from 2 to {len(surprisals.intents) - 1}.")
    rng = generator(seed)
    editions = surprisals.editions
    if chosen_on is None:
        drawn = rng.permutation(len(editions))[: len(editions) // 2]
        chosen_on = list(editions[np.sort(drawn)])
    if unknown := [name for name in chosen_on if name not in editions]:
        raise ConfigError(f"unknown edition(s) to choose on: {listing(unknown)}.")
    if len(set(chosen_on)) < len(chosen_on):
        raise ConfigError(f"an edition to choose on is named twice: {listing(chosen_on)}.")
    judged_on = [name for name in judge.editions if name not in set(chosen_on)]
    for what, names in (("choose", chosen_on), ("judge", judged_on)):
        if len(names) < FEWEST_EDITIONS:
            raise DataError(f"{len(names)} edition(s) to {what} on; at least {FEWEST_EDITIONS} are needed.")
    chosen = _chosen(_residuals(surprisals, chosen_on), n_items)
    z = np.log(judge.bits[judged_on].to_numpy())
    _check_complete(z, "judge")
    rows = np.array([rng.permutation(len(z))[:n_items] for _ in range(RANDOM_FORMS)])
    of_form, of_random = _judged(z, chosen[None]), _judged(z, rows)
    return ShortForm(
        intents=surprisals.intents[chosen],
        chosen_on=tuple(map(str, chosen_on)),
        judged_on=tuple(map(str, judged_on)),
        correlation=float(of_form["correlation"].iloc[0]),
        error=float(of_form["error"].iloc[0]),
        random=of_random,
        bits_share=float(np.exp(z[chosen]).sum() / np.exp(z).sum()),
    )


def _residuals(table: Surprisals, editions: Sequence[str]) -> Floats:
    z = np.log(table.bits[list(editions)].to_numpy())
    _check_complete(z, "choose")
    return solve_two_way(z).residual


def _check_complete(z: Floats, what: str) -> None:
    missing = int(np.isnan(z).sum())
    if missing:
        raise DataError(f"{missing:,} cells are missing in the editions to {what} on. Keep the intents that all have.")


def _chosen(residual: Floats, k: int) -> Integers:
    """Return rows with a small sum of both errors, by forward selection and exchanges until none improves."""
    # |r_i|² counts in the error made, and in that expected elsewhere
    own = (1 + (1 - 2 * k / len(residual))) * (residual**2).mean(axis=1)
    products = 2 * residual @ residual.T / residual.shape[1]
    chosen = np.zeros(len(residual), dtype=bool)

    def best() -> int:
        cost = own + products @ chosen
        return int(np.where(chosen, np.inf, cost).argmin())

    for _ in range(k):
        chosen[best()] = True
    for _ in range(ROUNDS):
        before = chosen.copy()
        for row in np.flatnonzero(before):
            chosen[row] = False
            chosen[best()] = True
        if (chosen == before).all():
            break
    return np.flatnonzero(chosen)


def _judged(z: Floats, forms: Integers) -> pd.DataFrame:
    """Return correlation and error of the difficulties from each form, shape (F, k), with those from all."""
    of_all = z.mean(axis=0) - z.mean()
    of_form = z[forms].mean(axis=1)
    of_form = of_form - of_form.mean(axis=1, keepdims=True)
    scale = np.sqrt((of_form**2).sum(axis=1) * (of_all**2).sum())
    error = np.sqrt(((of_form - of_all) ** 2).mean(axis=1))
    return pd.DataFrame({"correlation": of_form @ of_all / scale, "error": error})
