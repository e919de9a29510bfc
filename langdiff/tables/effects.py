"""Estimates of effects with their joint covariance."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t as student

from langdiff.base.result import Drawn, Result
from langdiff.base.seeds import generator
from langdiff.base.types import Floats, Integers
from langdiff.errors import ConfigError, DataError, listing, option
from langdiff.tables.contrasts import Contrast, Scale, count_ranks
from langdiff.tables.pairs import Adjustment, Joint, Pairs, compare_pairs
from langdiff.tables.simultaneous import ROUNDING

Names = str | int | Sequence[str | int]

NINETY_FIVE = 0.975  # quantile of the upper end of a 95 % interval


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Effects(Result):
    """Estimates of one quantity for several editions (or systems, constructions, …), with their errors.

    Attributes
    ----------
    estimate : Series, shape (J,)
        One estimate per edition, in the unit of `scale`; indexed by name.
    covariance : DataFrame, shape (J, J)
        Their joint sampling covariance. It may be singular; NaN where it is not known.
    scale : Scale
        Quantity and unit of the estimates.
    title : str
        Name of their source in tables and plots, such as "char-lstm, model 2".
    converged : bool
        Whether the fit behind the estimates converged.
    signature : str
        Everything the estimates depend on, to be quoted with them; empty if not known.
    degrees_of_freedom : float or DataFrame, shape (J, J)
        Degrees of freedom of Student's t distribution that intervals and tests use; infinite for the normal
        distribution. In a frame, those of each estimate on the diagonal and those of the difference of two
        estimates elsewhere.
    reference : DataFrame, shape (J, J), or None
        Covariance of full rank that simultaneous inference draws from, with a variance estimate for each difference, as
        sandwiches have; see `pairs`. None where all differences share one estimate of the variance, as with errors from
        the information; `covariance` is then drawn from. None and a frame of degrees of freedom: it is not known.

    Raises
    ------
    DataError
        If names occur twice, an estimate is not a finite number though the fit converged, the covariance or the
        degrees of freedom have other names than the estimates, or a variance is negative.

    Examples
    --------
    >>> import langdiff as ld
    >>> effects = ld.as_effects(pd.Series({"eng": -0.1, "fin": 0.1}))
    >>> effects
    Effects: difficulty of 2 editions (nats), errors not known
    >>> effects.to_frame()["rank"].to_dict()
    {'fin': 1, 'eng': 2}
    """

    estimate: pd.Series
    covariance: pd.DataFrame
    scale: Scale = field(default_factory=Scale)
    title: str = ""
    converged: bool = True
    signature: str = ""
    degrees_of_freedom: float | pd.DataFrame = np.inf
    reference: pd.DataFrame | None = None

    def __post_init__(self) -> None:
        """Check that names are unique and that the tables fit together."""
        names, of = self.estimate.index, f" of {self.title}" if self.title else ""
        twice = names[names.duplicated()].unique()
        if len(twice):
            raise DataError(f"{len(twice)} effect(s){of} named twice: {listing(twice)}. Names must be unique.")
        bad = names[~np.isfinite(self.estimate.to_numpy(dtype=float))] if self.converged else names[:0]
        if len(bad):
            raise DataError(
                f"effects{of}: {len(bad)} of {len(names)} are not finite numbers: {listing(bad)}. Leave them out, or "
                "find out why their fit failed."
            )
        for what, table in (
            ("covariance", self.covariance),
            ("degrees of freedom", self.degrees_of_freedom),
            ("reference covariance", self.reference),
        ):
            named = not isinstance(table, pd.DataFrame) or (table.index.equals(names) and table.columns.equals(names))
            if not named:
                raise DataError(
                    f"the {what} of effects{of} must have their names, in their order, as rows and columns."
                )
        negative = names[np.diag(self.covariance.to_numpy(dtype=float)) < -ROUNDING]
        if len(negative):
            raise DataError(f"effects{of}: {len(negative)} variances are negative: {listing(negative)}.")

    @property
    def std_error(self) -> pd.Series:
        """Standard errors of the estimates, in their unit; NaN where not known."""
        variances = np.maximum(np.diag(self.covariance.to_numpy()), 0)  # of tied effects 0, less rounding
        return pd.Series(np.sqrt(variances), index=self.estimate.index, name="std_error")

    @property
    def unit_name(self) -> str:
        """Kind of object that has an effect: the name of the index, by default ``"edition"``."""
        name = self.estimate.index.name
        return "edition" if name is None else str(name)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per edition, the highest estimate first.

        Returns
        -------
        DataFrame
            Indexed by edition: the estimate (``difficulty`` or ``ability``), ``std_error``, ``low`` and ``high``
            (95 % interval), in the unit of the scale; for nats also ``factor`` = exp(difficulty),
            ``percent`` = 100·(factor − 1), ``percent_std_error`` (to first order, 100·factor·std_error),
            ``percent_low`` and ``percent_high`` (the ends of the interval); ``rank``, 1 the highest. Where errors are
            known also ``rank_low`` and ``rank_high``, the ends of the rank set; see `pairs`. ``attrs["estimand"]``
            tells the bits that differences are about, where that matters.

        Examples
        --------
        >>> import langdiff as ld
        >>> effects = ld.as_effects(pd.Series({"eng": -0.1, "fin": 0.1}))
        >>> effects.to_frame()[["difficulty", "percent", "rank"]].round(1)
                 difficulty  percent  rank
        edition
        fin             0.1     10.5     1
        eng            -0.1     -9.5     2
        """
        frame = self._marginal()
        if self.converged and np.isfinite(self.covariance.to_numpy(dtype=float)).all():
            frame[["rank_low", "rank_high"]] = self._rank_sets.reindex(frame.index).to_numpy()
        if self.scale.estimand:
            frame.attrs["estimand"] = self.scale.estimand
        return frame

    def _marginal(self) -> pd.DataFrame:
        """Return the table of `to_frame` without rank sets, which need draws."""
        estimate, half = self.estimate, student.ppf(NINETY_FIVE, np.diag(self._freedom())) * self.std_error
        low, high = estimate - half, estimate + half
        columns: dict[str, Any] = {self.scale.quantity: estimate, "std_error": self.std_error, "low": low, "high": high}
        if self.scale.unit == "nats":
            columns |= {
                "factor": np.exp(estimate),
                "percent": 100 * np.expm1(estimate),
                "percent_std_error": 100 * np.exp(estimate) * self.std_error,
                "percent_low": 100 * np.expm1(low),
                "percent_high": 100 * np.expm1(high),
            }
        columns["rank"] = (-estimate).rank(method="min").astype("Int64" if estimate.isna().any() else int)
        frame = pd.DataFrame(columns).rename_axis(self.unit_name)
        return frame.sort_values(self.scale.quantity, ascending=False, kind="stable")

    def contrast(self, one: Names, other: Names) -> Contrast:
        """Compare two effects, or the means of two sets of them.

        The standard error is the difference's own, from the joint covariance. Of sets, the degrees of freedom are
        the fewest of the differences between an edition of one set and an edition of the other.

        Parameters
        ----------
        one, other : str, or list of str
            Names of effects: editions, or groups where editions share difficulties.

        Returns
        -------
        Contrast
            Mean of `one` less mean of `other`, in the unit of the scale.

        Raises
        ------
        ConfigError
            If a name is unknown, named twice, or on both sides.

        Examples
        --------
        >>> import langdiff as ld
        >>> effects = ld.as_effects(pd.Series({"eng": -0.1, "fin": 0.1, "deu": 0.0}))
        >>> round(effects.contrast("fin", ["eng", "deu"]).estimate, 3)
        0.15
        """
        weights, name = self._weights(one, other)
        used = weights != 0  # the covariance of effects that are not compared need not be known
        w, covariance = weights[used], self.covariance.to_numpy()[np.ix_(used, used)]
        estimate = float(w @ self.estimate.to_numpy()[used])
        variance = w @ covariance @ w
        tied = variance <= ROUNDING * (np.abs(w) @ np.abs(covariance) @ np.abs(w)) + ROUNDING**2
        std_error = 0.0 if tied else float(np.sqrt(variance))
        freedom = float(self._freedom()[np.ix_(weights > 0, weights < 0)].min())
        half = float(student.ppf(NINETY_FIVE, freedom)) * std_error
        return Contrast(
            name=name,
            estimate=estimate,
            std_error=std_error,
            low=estimate - half,
            high=estimate + half,
            scale=self.scale,
            degrees_of_freedom=freedom,
        )

    def pairs(
        self,
        *,
        adjust: Adjustment | None = "max-t",
        baseline: str | int | None = None,
        level: float = 0.95,
        seed: int | np.random.Generator = 0,
    ) -> Pairs:
        """Compare all pairs, with intervals that hold together, or all effects with one; see `langdiff.Pairs`.

        Parameters
        ----------
        adjust : {"max-t", "holm", "bh"} or None
            Adjustment of p-values for their number: by the largest statistic, for which up to 20,000 draws are made;
            Holm's; Benjamini and Hochberg's, whose rate is that of false discoveries; or none. Intervals and rank sets
            are those of max-t; only with None, intervals hold one by one.
        baseline : str, optional
            Name of the effect that the others are compared with (Dunnett); or ``"hardest"`` or ``"easiest"``, for
            abilities ``"ablest"`` or ``"weakest"``: each is compared with the best of the others (Hsu 1996).
        level : float
            Probability that all intervals contain their difference, between .5 and 1.
        seed : int or numpy.random.Generator
            Seed of the draws.

        Returns
        -------
        Pairs
            Differences with simultaneous intervals and adjusted p-values, and the rank sets.

        Raises
        ------
        ConfigError
            If `adjust` or `baseline` is unknown, or `level` or `seed` is out of range.
        DataError
            If the covariance is not known, as where a fit did not converge, or there are fewer than two effects.

        References
        ----------
        Hsu (1996), Multiple Comparisons. Mogstad, Romano, Shaikh and Wilhelm (2024), "Inference for ranks with
        applications to mobility across neighbourhoods and academic achievement across countries", Review of Economic
        Studies 91. Klein, Wright and Wieczorek (2020), "A joint confidence region for an overall ranking of
        populations", JRSS A 183.

        Examples
        --------
        >>> import langdiff as ld
        >>> fit = ld.fit(ld.simulate(200, 3, difficulties=[0.0, 0.2, 0.0], seed=2).surprisals)
        >>> print(fit.effects.pairs().words)
        Hardest: e2 (rank 1); 2 of 3 pairs differ.
        """
        return compare_pairs(
            self._joint, lambda: self._maxima, adjust=adjust, baseline=baseline, level=level, seed=seed
        )

    @property
    def _joint(self) -> Joint:
        """Estimates with their joint distribution, as simultaneous inference takes them."""
        covariance = self.covariance.to_numpy(dtype=float)
        if not (self.converged and np.isfinite(covariance).all()):
            raise DataError(
                "effects cannot be compared together without their joint covariance: a fit that did not converge has "
                "no covariance, and plain numbers have none."
            )
        shared = self.reference is None and not isinstance(self.degrees_of_freedom, pd.DataFrame)
        reference = covariance if shared else None
        return Joint(
            estimate=self.estimate.rename_axis(self.unit_name),
            covariance=covariance,
            freedom=self._freedom(),
            reference=reference if self.reference is None else self.reference.to_numpy(dtype=float),
            shared=shared,
            scale=self.scale,
            title=self.title,
            signature=self.signature,
        )

    def _usual(self) -> Floats:
        return self._maxima

    @cached_property
    def _maxima(self) -> Floats:
        """Largest statistics over all pairs, from seed 0, which pairs, rank sets and pictures share."""
        return self._joint.all_pairs().maxima()

    @cached_property
    def _rank_sets(self) -> pd.DataFrame:
        """Rank sets at 95 %: columns ``rank_low`` and ``rank_high``, indexed by name."""
        return self._joint.rank_sets(self._maxima)

    def against_mean(self, level: float = 0.95) -> pd.DataFrame:
        """Return the intervals of all effects that hold together; those of `to_frame` hold one by one.

        Effects are relative to their average, so that the family is that of all differences from it.

        Parameters
        ----------
        level : float
            Probability that all intervals contain their effect.

        Returns
        -------
        DataFrame
            Columns ``low`` and ``high``, indexed by name, in the unit of the scale.

        Raises
        ------
        DataError
            If the covariance is not known.

        Examples
        --------
        >>> import langdiff as ld
        >>> fit = ld.fit(ld.simulate(50, 3, seed=1).surprisals)
        >>> low = fit.to_frame()["low"]
        >>> bool((fit.effects.against_mean()["low"].loc[low.index] < low).all())
        True
        """
        return self._joint.against_mean(level)

    def largest_p(self) -> float:
        """Return the p-value of the largest effect among all, relative to their average, by draws (max-t)."""
        return self._joint.largest_p()

    def _freedom(self) -> Floats:
        """Return the degrees of freedom of each estimate and of each difference of two, shape (J, J)."""
        freedom: Floats = np.broadcast_to(np.asarray(self.degrees_of_freedom, dtype=float), self.covariance.shape)
        return freedom

    def _weights(self, one: Names, other: Names) -> tuple[Floats, str]:
        """Return the weight of every estimate in a contrast, shape (J,), and the name of the contrast."""
        names = [[side] if isinstance(side, str | int | np.integer) else list(side) for side in (one, other)]
        if not all(names):
            raise ConfigError("a contrast needs a name on both sides.")
        unknown = [name for side in names for name in side if name not in self.estimate.index]
        if unknown:
            raise ConfigError(f"not in this fit: {listing(unknown)}; it has {listing(self.estimate.index)}.")
        both = set(names[0]) & set(names[1])
        if both:
            raise ConfigError(f"on both sides of the contrast: {listing(sorted(both, key=str))}.")
        twice = [name for side in names for name in dict.fromkeys(side) if side.count(name) > 1]
        if twice:
            raise ConfigError(f"named twice on a side of the contrast: {listing(twice)}.")
        weights = pd.Series(0.0, index=self.estimate.index)
        for side, sign in zip(names, (1, -1), strict=True):
            weights[side] = sign / len(side)
        named = (str(side[0]) if len(side) == 1 else f"mean({', '.join(map(str, side))})" for side in names)
        return np.asarray(weights, dtype=np.float64), " - ".join(named)

    def draws(self, n_draws: int = 4000, *, seed: int | np.random.Generator = 0) -> pd.DataFrame:
        """Draw all effects together from their joint sampling distribution.

        The distribution is normal, or Student's t with the fewest of the `degrees_of_freedom`.

        Parameters
        ----------
        n_draws : int
            Number of draws.
        seed : int or numpy.random.Generator
            Seed of the draws.

        Returns
        -------
        DataFrame, shape (n_draws, J)
            One draw per row, one edition per column; editions that cannot differ are equal in every draw.

        Raises
        ------
        DataError
            If the covariance is not known, as where a fit did not converge.
        ConfigError
            If `n_draws` or `seed` is out of range.

        Examples
        --------
        >>> names = ["eng", "fin"]
        >>> effects = Effects(estimate=pd.Series([-0.1, 0.1], names), covariance=pd.DataFrame(0.0, names, names))
        >>> effects.draws(3, seed=0).drop_duplicates().to_numpy().tolist()
        [[-0.1, 0.1]]
        """
        if isinstance(n_draws, bool) or not isinstance(n_draws, int | np.integer) or n_draws < 1:
            raise ConfigError(f"{option('n_draws')} must be a whole number, at least 1, got {n_draws!r}.")
        covariance = self.covariance.to_numpy(dtype=float)
        if not np.isfinite(covariance).all():
            raise DataError(
                "effects cannot be drawn without their joint covariance: a fit that did not converge has no "
                "covariance, and plain numbers have none."
            )
        estimate = self.estimate.to_numpy(dtype=float)
        # singular in one direction, to rounding; eigh accepts that
        rng, freedom = generator(seed), float(self._freedom().min())
        values = rng.multivariate_normal(estimate, covariance, size=n_draws, method="eigh", check_valid="ignore")
        if np.isfinite(freedom):
            values = estimate + (values - estimate) / np.sqrt(rng.chisquare(freedom, (n_draws, 1)) / freedom)
        return pd.DataFrame(values[:, _first_tied(estimate, covariance)], columns=self.estimate.index)

    def ranks(self, n_draws: int = 4000, *, seed: int | np.random.Generator = 0) -> pd.DataFrame:
        """Estimate the probability of every rank of every edition; see `rank_probabilities`.

        With eight equal editions the largest P(rank 1) averages .46: it is not evidence; see the rank sets of `pairs`.

        Parameters
        ----------
        n_draws : int
            Number of draws of all effects in which ranks are counted.
        seed : int or numpy.random.Generator
            Seed of the draws.

        Returns
        -------
        DataFrame, shape (J, J)
            One row per edition, one column per rank, 1 the highest estimate.

        Raises
        ------
        DataError
            If the covariance is not known, as where a fit did not converge.
        ConfigError
            If `n_draws` or `seed` is out of range.

        Examples
        --------
        >>> names = ["eng", "fin"]
        >>> effects = Effects(estimate=pd.Series([-0.1, 0.1], names), covariance=pd.DataFrame(0.0, names, names))
        >>> effects.ranks(10, seed=0).loc["fin"].to_dict()
        {1: 1.0, 2: 0.0}
        """
        return count_ranks(self.draws(n_draws, seed=seed))

    plot = Drawn("plot_difficulties")

    def __repr__(self) -> str:
        """Return the quantity, the number of effects, and whether their errors are known, in one line."""
        errors = "" if self.std_error.notna().all() else ", errors not known"
        state = "" if self.converged else ", NOT CONVERGED"
        title = f" by {self.title}" if self.title else ""
        return (
            f"Effects: {self.scale.quantity} of {len(self.estimate):,} {self.unit_name}s{title} "
            f"({self.scale.unit}){errors}{state}"
        )


def _first_tied(estimate: Floats, covariance: Floats) -> Integers:
    """Return for each effect the first one that always equals it, possibly itself; shape (J,)."""
    variance = np.diag(covariance)
    together = variance[:, None] + variance
    tied = together - 2 * covariance <= ROUNDING * together + ROUNDING**2
    tied &= np.abs(estimate[:, None] - estimate) <= ROUNDING
    np.fill_diagonal(tied, True)
    first: Integers = tied.argmax(axis=1)
    return first
