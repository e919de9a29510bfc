r"""Difficulties at several sizes of training data, as one result; draws of log bits, joint over editions and sizes.

Draws resample intents and add the spread of seeds.
Language models of seed r are off by :math:`l^r_k + a^r_{jk}` at size k: l for all editions, a for each. The sizes of a
seed are beginnings of one order, so that both go together over sizes. With R seeds the covariances between sizes are

.. math:: C^a = \frac{\sum_{r,j} a^r_j a^{r\top}_j}{(R - 1)(J - 1)}, \qquad C^l = \frac{\sum_r l^r l^{r\top}}{R - 1}

of one seed, and those of the mean over seeds an R-th of them.

With them come correlations between sizes, pairs of editions that change places, and the size at which a curve reaches a
value.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import false_discovery_control, rankdata

from langdiff.base.grids import Shown
from langdiff.base.result import Result, drawing, rounded
from langdiff.base.types import Booleans, Floats, Integers, generator
from langdiff.errors import ConfigError, listing
from langdiff.regression.curves.asymptotes import Asymptotes, Form, fit_asymptotes
from langdiff.tables.effects import Effects
from langdiff.tables.rule import draw_interval, freedom_of, t_p

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class SeedSpread(NamedTuple):
    """Covariances between sizes of the error of the mean over seeds, shape (K, K): per edition, and common to all."""

    of_editions: Floats
    of_level: Floats


def seed_spread(by_seed: Floats) -> SeedSpread:
    """Return the spread of the mean over seeds; zeros for one seed.

    Shapes: by_seed (R, J, K).
    """
    seeds, editions, sizes = by_seed.shape
    if seeds < 2:
        return SeedSpread(np.zeros((sizes, sizes)), np.zeros((sizes, sizes)))
    off = by_seed - by_seed.mean(axis=0)
    level = off.mean(axis=1)
    own = off - level[:, None]
    of_editions = np.einsum("rjk,rjl->kl", own, own) / ((seeds - 1) * (editions - 1))
    return SeedSpread(of_editions / seeds, level.T @ level / (seeds - 1) / seeds)


def joint_draws(
    log_bits: Floats, influence: Floats, spread: SeedSpread, n_draws: int, rng: np.random.Generator
) -> Floats:
    """Draw ln B from samples of clusters, with replacement, the same for all sizes, and from the spread of seeds.

    Shapes: log_bits (J, K); influence (G, J, K).
    """
    clusters = len(influence)
    times = rng.multinomial(clusters, np.full(clusters, 1 / clusters), size=n_draws) - 1.0
    draws: Floats = log_bits + (times @ influence.reshape(clusters, -1)).reshape(n_draws, *log_bits.shape)
    if spread.of_editions.any():
        own = rng.multivariate_normal(np.zeros(log_bits.shape[1]), spread.of_editions, (n_draws, len(log_bits)))
        draws += own - own.mean(axis=1, keepdims=True)
        draws += rng.multivariate_normal(np.zeros(log_bits.shape[1]), spread.of_level, (n_draws, 1))
    return draws


def correlations(values: Floats) -> Floats:
    """Return Pearson's correlations between sizes over editions, (..., J, K) → (..., K, K)."""
    centred = values - values.mean(axis=-2, keepdims=True)
    products = np.swapaxes(centred, -1, -2) @ centred
    scale = np.sqrt(np.diagonal(products, axis1=-2, axis2=-1))
    result: Floats = products / (scale[..., :, None] * scale[..., None, :])
    return result


def correlation_intervals(values: Floats, draws: Floats, *, ranks: bool) -> tuple[Floats, Floats, Floats]:
    """Return correlations between sizes with 95 % intervals, three of shape (K, K).

    Errors make estimates less alike than the truth is, and those of a draw come on top. The intervals are therefore
    reflected at the estimate (basic bootstrap): what a draw is below the estimate, the truth may be above it. Pearson's
    are reflected as angles between the vectors of difficulties, which errors turn by as much whether they are wide or
    narrow (Fisher's scale is for samples of editions); Spearman's, which take few values where editions are few, as
    they are.

    Shapes: values (J, K); draws (D, J, K).
    """
    if ranks:
        values, draws = rankdata(values, axis=0), rankdata(draws, axis=1)
    found = correlations(values)
    if ranks:
        low, high = np.clip(draw_interval(correlations(draws), around=found), -1, 1)
        return found, low, high
    angles = np.arccos(np.clip(correlations(draws), -1, 1))
    narrow, wide = draw_interval(angles, around=np.arccos(np.clip(found, -1, 1)))
    return found, np.cos(np.minimum(wide, np.pi)), np.cos(np.maximum(narrow, 0))


class Changes(NamedTuple):
    """Pairs of editions, j before k, and whether they change places between two sizes; all of shape (P,)."""

    one: Integers
    other: Integers
    before: Floats  # difference of difficulties, one less other
    after: Floats
    p: Floats
    p_adjusted: Floats

    @property
    def observed(self) -> Booleans:
        """Whether the estimates change places."""
        changed: Booleans = self.before * self.after < 0
        return changed


def find_changes(
    before: Floats, after: Floats, covariances: tuple[Floats, Floats], freedom: tuple[Floats, Floats]
) -> Changes:
    """Test for every pair of editions whether their order changes between two sizes.

    Both differences must be told from 0, and have opposite signs: p is the larger of the two two-sided p-values
    (intersection-union test), and 1 where the signs are alike. Adjusted by Benjamini and Hochberg over all pairs.

    Shapes: before, after (J,); covariances (J, J); freedom (J, J).
    """
    one, other = np.triu_indices(len(before), 1)
    differences, p_values = [], []
    for values, covariance, degrees in zip((before, after), covariances, freedom, strict=True):
        difference = values[one] - values[other]
        variance = np.diag(covariance)[one] + np.diag(covariance)[other] - 2 * covariance[one, other]
        p = t_p(difference, np.sqrt(np.maximum(variance, 0)), degrees[one, other])
        differences.append(difference)
        p_values.append(np.where(np.isnan(p), 1.0, p))
    p = np.where(differences[0] * differences[1] < 0, np.maximum(*p_values), 1.0)
    return Changes(one, other, differences[0], differences[1], p, false_discovery_control(p))


def sizes_reached(log_bits: Floats, log_sizes: Floats, target: Floats) -> Floats:
    """Return the logarithm of the first size at which log bits are as low as a target.

    Shapes: log_bits (..., K); log_sizes (K,); target (...).

    Examples
    --------
    >>> sizes_reached(np.array([2.0, 1.0, 0.0]), np.array([0.0, 1.0, 3.0]), np.array(0.5)).item()
    2.0
    """
    reached = np.where(log_bits[..., 0] <= target, -np.inf, np.inf)
    for k in range(1, len(log_sizes)):
        before, after = log_bits[..., k - 1], log_bits[..., k]
        here = np.isposinf(reached) & (after <= target)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = (before - target) / (before - after)
        reached = np.where(here, log_sizes[k - 1] + share * (log_sizes[k] - log_sizes[k - 1]), reached)
    return reached


def value_at(log_bits: Floats, log_sizes: Floats, log_size: float) -> Floats:
    """Return log bits at a size between the sizes, (..., K) → (...)."""
    k = int(np.clip(np.searchsorted(log_sizes, log_size) - 1, 0, len(log_sizes) - 2))
    share = (log_size - log_sizes[k]) / (log_sizes[k + 1] - log_sizes[k])
    value: Floats = (1 - share) * log_bits[..., k] + share * log_bits[..., k + 1]
    return value


Kind = Literal["curves", "ranks", "correlations"]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class DifficultyCurve(Result):
    r"""Difficulties of editions at K sizes of training data, measured on the same test intents.

    Everything else follows from `log_bits` and what each cluster of test intents does to them: errors are those of one
    sample of intents that all sizes share, and with several seeds also those of the seeds; see
    `langdiff.regression.curves.fitting`.

    Attributes
    ----------
    log_bits : DataFrame, shape (J, K)
        :math:`\ln B_j(n)`, the natural logarithm of the bits that edition j (row) spends on an intent at size n
        (column).
    influence : ndarray, shape (G, J, K)
        Influence of each cluster of test intents on `log_bits`, in nats.
    share : ndarray, shape (G,)
        Share of each cluster in the cells.
    by_seed : ndarray, shape (R, J, K)
        `log_bits` from the tables of each seed.
    model, lm : str
        Regression model and language model.
    clusters : str or None
        Name of the clusters of intents; None if each intent is one.
    n_intents : int
        Number of test intents, I.
    match : str
        What editions have alike at a size: ``"intents"``, ``"bytes"`` or ``"characters"``; ``"given"`` if the tables
        were given.
    read : DataFrame or None
        Number of training intents that every edition reads at every size, shape (J, K); None if the tables were given.
    n_draws, seed : int
        Number and seed of the draws that intervals come from.
    converged : bool
        Whether all fits converged.
    signature : str
        All that the numbers depend on.
    """

    log_bits: pd.DataFrame
    influence: Floats
    share: Floats
    by_seed: Floats
    model: str
    lm: str
    clusters: str | None
    n_intents: int
    match: str
    read: pd.DataFrame | None
    n_draws: int
    seed: int
    converged: bool
    signature: str

    digits: ClassVar[int] = 1

    @property
    def editions(self) -> pd.Index:
        """Names of the editions."""
        return self.log_bits.index

    @property
    def axis(self) -> str:
        """What difficulties are given at: ``"size"`` of the training data, or ``"step"`` of one training."""
        return str(self.log_bits.columns.name)

    @property
    def sizes(self) -> list[int]:
        """Sizes of the training data, or steps of the training, rising."""
        return [int(size) for size in self.log_bits.columns]

    @property
    def difficulty(self) -> pd.DataFrame:
        """Difficulties in nats, shape (J, K); their factors average 1 at every size."""
        difficulty: pd.DataFrame = self.log_bits - np.log(self.log_bits.apply(np.exp).mean())
        return difficulty

    @property
    def n_seeds(self) -> int:
        """Number of seeds, R."""
        return len(self.by_seed)

    @property
    def spread(self) -> SeedSpread:
        """Spread of the mean over seeds."""
        return seed_spread(self.by_seed)

    @cached_property
    def draws(self) -> Floats:
        """Draws of `log_bits` from the joint distribution of their errors, shape (D, J, K)."""
        rng = generator(self.seed)
        return joint_draws(self.log_bits.to_numpy(), self.influence, self.spread, self.n_draws, rng)

    def covariance(self, size: int, other: int | None = None) -> pd.DataFrame:
        """Return the covariance of the difficulties at a size, or between those at two sizes, nats squared, (J, J).

        Parameters
        ----------
        size, other : int
            Sizes of the training data; by default twice the same.
        """
        places = [self._place(each) for each in (size, size if other is None else other)]
        one, two = (self._of_difficulty(place) for place in places)
        centring = np.eye(len(self.editions)) - 1 / len(self.editions)
        of_seeds = self.spread.of_editions[places[0], places[1]] * centring
        return pd.DataFrame(one.T @ two + of_seeds, self.editions, self.editions)

    def _of_difficulty(self, place: int) -> Floats:
        """Return the influences on the difficulties at a size, shape (G, J)."""
        factor = np.exp(self.difficulty.to_numpy()[:, place])
        influence = self.influence[:, :, place]
        centred: Floats = influence - (influence @ factor / len(factor))[:, None]
        return centred

    def _degrees_of_freedom(self, size: int) -> pd.DataFrame:
        """Return the degrees of freedom of t at a size (Satterthwaite), (J, J); seeds have few.

        Of differences between editions, and in the diagonal, of each edition from the average.
        """
        place = self._place(size)
        of_intents = self._of_difficulty(place)
        covariance = of_intents.T @ of_intents
        variances = np.diag(covariance)
        intents = variances[:, None] + variances - 2 * covariance
        np.fill_diagonal(intents, variances)
        seeds = np.full_like(intents, 2 * self.spread.of_editions[place, place])
        np.fill_diagonal(seeds, (1 - 1 / len(self.editions)) * self.spread.of_editions[place, place])
        of_seeds = max((self.n_seeds - 1) * (len(self.editions) - 1), 1)
        with np.errstate(invalid="ignore"):  # of editions that are alike
            freedom = (intents + seeds) ** 2 / (intents**2 / self._own_freedom + seeds**2 / of_seeds)
        return pd.DataFrame(freedom, self.editions, self.editions)

    @property
    def _own_freedom(self) -> float:
        """Degrees of freedom of the clusters of intents alone, by their shares."""
        return float(freedom_of(self.share))

    def _place(self, size: int) -> int:
        if size not in self.log_bits.columns:
            raise ConfigError(f"{size!r} is not a {self.axis} of this curve; it has {listing(self.sizes)}.")
        return self.sizes.index(int(size))

    def effects(self, size: int) -> Effects:
        """Return the difficulties at one size with their covariance, for all functions that take a fit.

        Parameters
        ----------
        size : int
            Size of the training data.

        Raises
        ------
        ConfigError
            If the curve has no such size.
        """
        covariance, alone = self.covariance(size), self._own_freedom
        freedom: float | pd.DataFrame = alone
        if self.n_seeds > 1:
            freedom = self._degrees_of_freedom(size)
        elif self.clusters is not None:
            freedom = pd.DataFrame(alone, self.editions, self.editions)
        return Effects.from_covariance(
            self.difficulty.iloc[:, self._place(size)].rename("difficulty"),
            covariance,
            freedom,
            title=f"{self.lm}, {size:,}, model {self.model}",
            converged=self.converged,
            signature=f"{self.signature}|{self.axis}:{size}",
            shape=covariance if self.clusters is None else None,  # of clusters the rank may be low
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row per edition and size.

        Returns
        -------
        DataFrame
            ``edition``, ``size`` (or ``step``); ``bits``, bits per test intent, with ``bits_low`` and ``bits_high``;
            ``difficulty`` in nats, its ``std_error``, ``low`` and ``high``; ``rank``, 1 the hardest. Intervals of 95 %.
            Those of bits contain what all editions and sizes share, above all how long the intents happen to be.
        """
        ends = draw_interval(self.draws)
        low, high = (pd.DataFrame(part, index=self.editions, columns=self.log_bits.columns) for part in ends)
        rows = []
        for size in self.sizes:
            table = self.effects(size).to_frame().loc[self.editions, ["difficulty", "std_error", "low", "high", "rank"]]
            bits = pd.DataFrame({"bits": self.log_bits[size], "bits_low": low[size], "bits_high": high[size]})
            rows.append(bits.apply(np.exp).join(table).assign(**{self.axis: size}).rename_axis("edition").reset_index())
        frame = pd.concat(rows, ignore_index=True)
        return frame[["edition", self.axis, *frame.columns.drop(["edition", self.axis])]]

    def asymptotes(self, form: Form = "power") -> Asymptotes:
        """Fit curves that fall to a floor, with one exponent; see `Asymptotes`.

        Parameters
        ----------
        form : {"power", "stretched"}
            Whether bits or their logarithms fall to a floor.

        Raises
        ------
        ConfigError
            If there are fewer than three sizes or `form` is unknown.
        DataError
            If the curves do not tell an exponent, or none of them is better than a constant.
        """
        return fit_asymptotes(self.log_bits, self.draws, form)

    def exchange_rate(
        self, reference: str, size: float, *, content_ratio: Mapping[str, float] | None = None
    ) -> pd.DataFrame:
        r"""Return the size at which each edition is as good as a reference at a size of its own.

        Edition j is as good as the reference at :math:`n_0` where it spends as many bits on the same content,
        :math:`B_j(n_j) = r_j B_\mathrm{ref}(n_0)`, with :math:`r_j = 1` unless a `content_ratio` says that edition j
        has more or less to say. Between the sizes, ln B is a straight line in ln n.

        Parameters
        ----------
        reference : str
            Edition that the others are compared with.
        size : float
            :math:`n_0`, from the smallest size to the largest; it need not be one of them.
        content_ratio : mapping from str to float, optional
            :math:`r_j` by edition, such as bits at the floor over those of the reference; 1 where there is none.

        Returns
        -------
        DataFrame
            Indexed by edition: ``size``, ``low`` and ``high`` (95 %), and ``reason`` where the size is NaN because the
            curve does not cross within the sizes. Ends of intervals are at most the smallest or the largest size where
            draws do not cross.

        Raises
        ------
        ConfigError
            If the reference is unknown, the size out of range, or a ratio is not positive or of no edition here.
        """
        if reference not in self.editions:
            raise ConfigError(f"{reference!r} is not an edition of this curve; it has {listing(self.editions)}.")
        first, last = self.sizes[0], self.sizes[-1]
        if not first <= size <= last:
            raise ConfigError(f"the size of the reference must be from {first:,} to {last:,}, got {size!r}.")
        given = pd.Series(dict(content_ratio or {}), dtype=float)
        if absent := [name for name in given.index if name not in self.editions]:
            raise ConfigError(f"content ratios of editions that this curve has not: {listing(absent)}.")
        if not (given > 0).all():
            raise ConfigError(f"content ratios must be positive: {listing(given.index[~(given > 0)])}.")
        ratio = given.reindex(self.editions, fill_value=1.0)
        log_sizes, place = np.log(self.sizes), self.editions.get_loc(reference)

        def reached(log_bits: Floats) -> Floats:
            target = value_at(log_bits[..., place, :], log_sizes, float(np.log(size)))
            return sizes_reached(log_bits, log_sizes, target[..., None] + np.log(ratio.to_numpy()))

        found = reached(self.log_bits.to_numpy())
        drawn = np.where(np.isnan(self.draws).any(axis=-1), np.nan, reached(self.draws))  # NaN of totals
        ends = draw_interval(np.clip(drawn, log_sizes[0], log_sizes[-1]))
        frame = pd.DataFrame({"size": np.exp(found), "low": np.exp(ends[0]), "high": np.exp(ends[1])}, self.editions)
        frame["reason"] = np.select(
            [np.isneginf(found), np.isposinf(found)], [f"fewer than {first:,}", f"more than {last:,}"], default=""
        )
        frame.loc[~np.isfinite(found), "size"] = np.nan
        return frame.rename_axis("edition")

    def correlations(self) -> pd.DataFrame:
        """Return the correlations of difficulties between every two sizes.

        Returns
        -------
        DataFrame
            One row per pair of sizes: ``size``, ``other``; ``pearson`` and ``spearman`` over editions, each with
            ``_low`` and ``_high``, 95 % intervals of what other test intents (and seeds) would give, the editions held
            fixed, and corrected for what errors take from a correlation.
        """
        values, draws = self.log_bits.to_numpy(), self.draws
        found = {
            name: correlation_intervals(values, draws, ranks=name == "spearman") for name in ("pearson", "spearman")
        }
        rows = []
        for k, size in enumerate(self.sizes):
            for other in range(k + 1, len(self.sizes)):
                row: dict[str, float] = {"size": size, "other": self.sizes[other]}
                for name, (estimate, low, high) in found.items():
                    row |= {name: estimate[k, other], f"{name}_low": low[k, other], f"{name}_high": high[k, other]}
                rows.append(row)
        return pd.DataFrame(rows)

    def changes(self, size: int | None = None, other: int | None = None, *, q: float = 0.05) -> pd.DataFrame:
        """Return the pairs of editions that change places between two sizes.

        Parameters
        ----------
        size, other : int, optional
            Sizes to compare; by default the smallest and the largest.
        q : float
            False discovery rate over all pairs (Benjamini and Hochberg).

        Returns
        -------
        DataFrame
            One row per pair whose estimates change places, the surest first: ``harder_at_size``, ``harder_at_other``,
            their differences of difficulty there, ``difference_at_size`` and ``difference_at_other`` (nats, both
            positive), ``p`` (the larger of the p-values of the two), ``p_adjusted``, ``significant``.

        Raises
        ------
        ConfigError
            If a size is unknown, or q is not between 0 and 1.
        """
        if not 0 < q < 1:
            raise ConfigError(f"q must be between 0 and 1, got {q!r}.")
        pair = [self.sizes[0] if size is None else size, self.sizes[-1] if other is None else other]
        values = [self.difficulty.to_numpy()[:, self._place(each)] for each in pair]
        covariances = (self.covariance(pair[0]).to_numpy(), self.covariance(pair[1]).to_numpy())
        freedom = (self._degrees_of_freedom(pair[0]).to_numpy(), self._degrees_of_freedom(pair[1]).to_numpy())
        found = find_changes(values[0], values[1], covariances, freedom)
        first_harder = found.before > 0
        frame = pd.DataFrame(
            {
                "harder_at_size": self.editions[np.where(first_harder, found.one, found.other)],
                "harder_at_other": self.editions[np.where(first_harder, found.other, found.one)],
                "difference_at_size": np.abs(found.before),
                "difference_at_other": np.abs(found.after),
                "p": found.p,
                "p_adjusted": found.p_adjusted,
                "significant": found.p_adjusted <= q,
            }
        )
        return frame[found.observed].sort_values("p", kind="stable").reset_index(drop=True)

    def _table(self) -> pd.DataFrame:
        hardest = self.effects(self.sizes[-1]).to_frame().index
        return rounded((100 * self.difficulty.apply(np.expm1)).loc[hardest], self.digits)

    def _notes(self) -> Iterator[str]:
        if np.isnan(self.influence).all():
            yield "Totals: differences have no errors."
            return
        errors = pd.DataFrame({size: self.effects(size).std_error for size in self.sizes})
        yield f"Median standard error: {', '.join(f'{100 * error:.2f}' for error in errors.median())} percent"
        changes = self.changes()
        pairs = len(self.editions) * (len(self.editions) - 1) // 2
        yield (
            f"From {self.sizes[0]:,} to {self.sizes[-1]:,}, {int(changes['significant'].sum()):,} of {pairs:,} pairs "
            f"of editions change places at a false discovery rate of 5 % ({len(changes):,} do in the estimates)."
        )

    def tables(self) -> list[Shown]:
        """Return difficulties by size, the correlations between sizes and the pairs that change places."""
        errors, *changes = self._notes()
        caption = f"Difficulty in percent by {self.axis} of the training{' data' * (self.axis == 'size')}"
        found = [Shown(self._table(), "difficulties", caption, (errors,))]
        if changes:
            alike = self.correlations().set_index(["size", "other"]).round(3)
            caption = f"Correlations between {self.axis}s, with 95 % intervals"
            found.append(Shown(alike, "correlations", caption, changes))
        return found

    def plot(self, kind: Kind = "curves", ax: "Axes | None" = None, **style: Any) -> "Axes":
        """Draw difficulties against size, ranks against size, or the matrix of correlations.

        See `langdiff.plots.plot_difficulty_curves`, `plot_rank_changes` and `plot_size_correlations`.

        Parameters
        ----------
        kind : {"curves", "ranks", "correlations"}
            Picture to draw.
        ax : Axes, optional
            Axes to draw on; by default those of a new figure.
        **style
            Options of Matplotlib, passed to the function that draws.

        Raises
        ------
        ConfigError
            If `kind` is unknown.
        """
        kinds = {
            "curves": "plot_difficulty_curves",
            "ranks": "plot_rank_changes",
            "correlations": "plot_size_correlations",
        }
        if kind not in kinds:
            raise ConfigError(f"unknown kind of picture {kind!r}; use one of {listing(kinds)}.")
        return drawing(kinds[kind])(self, ax, **style)

    def __repr__(self) -> str:
        """Return a one-line description."""
        state = "" if self.converged else ", NOT CONVERGED"
        seeds = f", {self.n_seeds} seeds" if self.n_seeds > 1 else ""
        return (
            f"DifficultyCurve of {self.lm}: {len(self.editions)} editions × {len(self.sizes)} {self.axis}s "
            f"({self.sizes[0]:,} to {self.sizes[-1]:,}){seeds}, {self.n_intents:,} test intents, "
            f"model {self.model}{state}"
        )
