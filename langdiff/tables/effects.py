"""Estimates of effects with their joint covariance."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import pandas as pd

from langdiff.base.result import Drawn, Result
from langdiff.base.types import ROUNDING, Floats, Integers, check_resamples, generator
from langdiff.errors import ConfigError, DataError, listing, option
from langdiff.tables.influences import Covariance, Draws, Influence, Sampling, Units, joint_test
from langdiff.tables.pairs import Adjustment, Joint, Pairs, compare_pairs
from langdiff.tables.rule import (
    ENOUGH,
    Contrast,
    JointTest,
    Scale,
    count_ranks,
    draw_interval,
    falling,
    t_interval,
    wilson,
)

Names = str | int | Sequence[str | int]

NATS = Scale(quantity="difference")


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Effects(Result):
    """Estimates of one quantity for several editions (or systems, constructions, …), with their errors.

    Attributes
    ----------
    estimate : Series, shape (J,)
        One estimate per edition, in the unit of `scale`; indexed by name.
    influence : Influence, Covariance or Draws
        Where their errors come from: the influences of independent units, a covariance, or draws of a posterior; see
        `from_covariance` and `from_draws`.
    scale : Scale
        Quantity and unit of the estimates.
    title : str
        Name of their source in tables and plots, such as "char-lstm, model 2".
    converged : bool
        Whether the fit behind the estimates converged.
    signature : str
        Everything the estimates depend on, to be quoted with them; empty if not known.

    Raises
    ------
    DataError
        If names occur twice, an estimate is not a finite number though the fit converged, the errors are of another
        number of estimates, or a variance is negative.

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
    influence: Sampling
    scale: Scale = field(default_factory=Scale)
    title: str = ""
    converged: bool = True
    signature: str = ""

    def __post_init__(self) -> None:
        """Check that names are unique and that errors are of these estimates."""
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
        match self.influence:
            case Influence(width=count):
                pass
            case Covariance(matrix=rows) | Draws(values=rows):
                count = rows.shape[-1]
        if count != len(names):
            raise DataError(f"the errors of effects{of} are of {count} estimates, not of {len(names)}.")
        if isinstance(self.influence, Covariance):
            negative = names[np.diag(self.influence.matrix) < -ROUNDING]
            if len(negative):
                raise DataError(f"effects{of}: {len(negative)} variances are negative: {listing(negative)}.")

    @classmethod
    def from_covariance(
        cls,
        estimate: pd.Series,
        covariance: pd.DataFrame,
        freedom: float | pd.DataFrame = np.inf,
        *,
        shape: pd.DataFrame | None = None,
        scale: Scale | None = None,
        title: str = "",
        converged: bool = True,
        signature: str = "",
    ) -> Self:
        """Return effects whose errors come from no units: from the information, or plain numbers.

        Parameters
        ----------
        estimate : Series, shape (J,)
            Estimates by name.
        covariance : DataFrame, shape (J, J)
            Their covariance; NaN where it is not known.
        freedom : float or DataFrame, shape (J, J)
            Degrees of freedom: one number where one estimate of the variance is behind all errors; in a frame those of
            each estimate on the diagonal and of differences elsewhere.
        shape : DataFrame, shape (J, J), optional
            Covariance of full rank that simultaneous inference draws from, where it is another.
        scale : Scale, optional
            Quantity and unit, as of `Effects`.
        title, signature : str
            Name and origin, as of `Effects`.
        converged : bool
            Whether the fit behind the estimates converged.

        Raises
        ------
        DataError
            If a table has other names than the estimates, or a variance is negative.

        Examples
        --------
        >>> names = ["eng", "fin"]
        >>> covariance = pd.DataFrame(np.eye(2) / 100, names, names)
        >>> Effects.from_covariance(pd.Series([-0.1, 0.1], names), covariance, 9.0).contrast("fin", "eng").p_value
        0.19...
        """
        names = estimate.index
        for what, table in (("covariance", covariance), ("degrees of freedom", freedom), ("shape", shape)):
            if isinstance(table, pd.DataFrame) and not (table.index.equals(names) and table.columns.equals(names)):
                raise DataError(f"the {what} of effects must have their names, in their order, as rows and columns.")
        known = Covariance(
            covariance.to_numpy(dtype=float),
            freedom.to_numpy(dtype=float) if isinstance(freedom, pd.DataFrame) else float(freedom),
            None if shape is None else shape.to_numpy(dtype=float),
        )
        return cls(
            estimate=estimate, influence=known, scale=scale or Scale(), title=title, converged=converged,
            signature=signature,
        )  # fmt: skip

    @classmethod
    def from_draws(
        cls, draws: pd.DataFrame, *, scale: Scale | None = None, title: str = "", signature: str = ""
    ) -> Self:
        """Return the means of draws from a posterior, whose quantiles are the intervals.

        Parameters
        ----------
        draws : DataFrame, shape (n, J)
            One draw per row, one effect per column.
        scale : Scale, optional
            Quantity and unit, as of `Effects`.
        title, signature : str
            Name and origin, as of `Effects`.

        Examples
        --------
        >>> draws = pd.DataFrame({"eng": [-0.2, 0.0], "fin": [0.2, 0.0]})
        >>> Effects.from_draws(draws).estimate.to_dict()
        {'eng': -0.1, 'fin': 0.1}
        """
        sample = Draws(draws.to_numpy(dtype=float))
        return cls(estimate=draws.mean(), influence=sample, scale=scale or Scale(), title=title, signature=signature)

    @classmethod
    def of_ratios(
        cls,
        top: pd.DataFrame,
        bottom: pd.DataFrame,
        units: Units,
        scale: Scale,
        *,
        macro: bool = False,
        title: str = "",
        signature: str = "",
    ) -> Self:
        """Return ratios of sums over units, ΣX/ΣY, or the means of the ratios of units (`macro`).

        Parameters
        ----------
        top, bottom : DataFrame, shape (G, J)
            X and Y by unit and effect; Y is not negative. Means leave out units in which a Y is 0.
        units : Units
            Units of the rows, such as documents.
        scale : Scale
            Quantity and unit, as of `Effects`.
        macro : bool
            Take the mean of the ratios of units.
        title, signature : str
            Name and origin, as of `Effects`.

        Examples
        --------
        >>> from langdiff.tables.rule import shares
        >>> right, words = pd.DataFrame({"mine": [8, 3, 9]}), pd.DataFrame({"mine": [10, 6, 10]})
        >>> units, _ = Units.of("document", list("abc"))
        >>> Effects.of_ratios(right, words, units, shares("recall")).to_frame()[["recall", "low", "high"]].round(2)
                 recall   low  high
        edition
        mine       0.77  0.22  0.98
        """
        x, y = top.to_numpy(dtype=float), bottom.to_numpy(dtype=float)
        if macro:
            kept = (y > 0).all(axis=1)
            values, own = x[kept] / y[kept], replace(units, names=units.names[np.flatnonzero(kept)])
            estimate, influence = values.mean(axis=0), Influence.of_mean(values, own)
        else:
            estimate = x.sum(axis=0) / np.maximum(y.sum(axis=0), np.finfo(float).tiny)
            influence = Influence.of_ratio(x, y, units)
        known = pd.Series(estimate, top.columns, name=scale.quantity)
        return cls(estimate=known, influence=influence, scale=scale, title=title, signature=signature)

    @cached_property
    def covariance(self) -> pd.DataFrame:
        """Joint sampling covariance of the estimates, shape (J, J). It may be singular; NaN where it is not known."""
        match self.influence:
            case Covariance(matrix=found):
                pass
            case Draws(values=draws):
                found = np.atleast_2d(np.cov(draws, rowvar=False))
            case influence:
                found = influence.covariance
        return pd.DataFrame(found, self.estimate.index, self.estimate.index)

    @cached_property
    def degrees_of_freedom(self) -> float | pd.DataFrame:
        """Degrees of freedom of Student's t behind intervals and tests; infinite for the normal distribution.

        In a frame, shape (J, J), those of each estimate are on the diagonal and those of differences elsewhere.
        """
        match self.influence:
            case Covariance(freedom=float() as number):
                return number
            case Draws():
                return float("inf")
        return pd.DataFrame(self._freedom(), self.estimate.index, self.estimate.index)

    @property
    def words(self) -> str:
        """The independent units behind the errors in one sentence; empty where errors come from no units."""
        return self.influence.words if isinstance(self.influence, Influence) else ""

    @property
    def std_error(self) -> pd.Series:
        """Standard errors of the estimates, in their unit; NaN where not known."""
        if isinstance(self.influence, Influence):
            error = self.influence.errors
        else:
            error = np.sqrt(np.maximum(np.diag(self.covariance.to_numpy()), 0))  # of tied effects 0, less rounding
        return pd.Series(error, index=self.estimate.index, name="std_error")

    @cached_property
    def known(self) -> bool:
        """Whether all errors are known."""
        values = self.influence.errors if isinstance(self.influence, Influence) else self.covariance.to_numpy()
        return self.converged and bool(np.isfinite(values).all())

    @property
    def reference(self) -> pd.DataFrame | None:
        """Covariance that simultaneous inference draws from, shape (J, J); None where Bonferroni's bound is used."""
        match self.influence:
            case Influence(shape=None) as influence if not (influence.complete and influence.count >= ENOUGH):
                return None
            case Covariance(freedom=freedom, shape=None) if not isinstance(freedom, float):
                return None
            case Influence(shape=shape) | Covariance(shape=shape) if shape is not None:
                return pd.DataFrame(shape, self.estimate.index, self.estimate.index)
        return self.covariance

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
        if self.known:
            frame[["rank_low", "rank_high"]] = self._rank_sets.reindex(frame.index).to_numpy()
        if self.scale.estimand:
            frame.attrs["estimand"] = self.scale.estimand
        return frame

    def _marginal(self) -> pd.DataFrame:
        """Return the table of `to_frame` without rank sets, which need draws."""
        estimate, (low, high) = self.estimate, self._ends()
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

    def _ends(self) -> tuple[pd.Series, pd.Series]:
        """Return the ends of 95 % intervals that hold one by one."""
        value, index = self.estimate.to_numpy(dtype=float), self.estimate.index
        if isinstance(self.influence, Draws):
            low, high = draw_interval(self.influence.values)
        else:
            error = self.std_error.to_numpy()
            low, high = t_interval(value, error, np.diag(self._freedom()), ends=self.scale.ends)
            if self.scale.ends == "logit" and isinstance(self.influence, Influence):
                share = self.influence.share if self.influence.share.ndim == 2 else self.influence.share[:, None]
                same = ((value <= 0) | (value >= 1)) & (error == 0)
                ends = wilson(np.clip(value, 0, 1), 1 / (share**2).sum(axis=0))
                low, high = np.where(same, ends[0], low), np.where(same, ends[1], high)
        return pd.Series(low, index), pd.Series(high, index)

    def warn_of_few(self) -> None:
        """Warn where there are fewer than ten degrees of freedom."""
        if isinstance(self.influence, Influence):
            self.influence.warn_of_few()

    def ratio(self, one: str | int, other: str | int) -> Contrast:
        """Compare two positive effects by their ratio, on the logarithmic scale.

        Parameters
        ----------
        one, other : str
            Names of effects; for nats the ratio of their exponentials, which is `contrast`.

        Returns
        -------
        Contrast
            The logarithm of the ratio, in nats.

        Raises
        ------
        ConfigError
            If a name is unknown.
        DataError
            If one of the two is not positive.
        """
        if self.scale.ends == "identity" and self.scale.unit in ("nats", "log odds"):
            return self.contrast(one, other)
        weights, name = self._weights(one, other)
        at = np.flatnonzero(weights)
        values = self.estimate.to_numpy(dtype=float)
        if (values[at] <= 0).any():
            raise DataError(f"{name}: a ratio needs two positive effects; there are {listing(values[at])}.")
        return self._on_logs(at).contrast(one, other)

    def _on_logs(self, at: Integers) -> "Effects":
        """Return the logarithms of some positive effects."""
        values = self.estimate.to_numpy(dtype=float)[at]
        jacobian, picked = np.diag(1 / values), self.estimate.iloc[at]
        match self.influence:
            case Influence() as influence:
                sampling: Sampling = influence.pick(at).map(jacobian)
            case Draws(values=draws):
                sampling = Draws(np.log(draws[:, at]))
            case Covariance(matrix=matrix, freedom=freedom):
                own = freedom if isinstance(freedom, float) else freedom[np.ix_(at, at)]
                sampling = Covariance(jacobian @ matrix[np.ix_(at, at)] @ jacobian, own)
        return replace(self, estimate=np.log(picked), influence=sampling, scale=NATS)

    def test(self) -> JointTest:
        """Test that all effects are equal.

        Returns
        -------
        JointTest
            ``by``, ``statistic``, ``df``, ``freedom`` and ``p``: F where there are twenty degrees of freedom for each
            difference, else sign flips of the independent units; below eight units Bonferroni's bound.

        Raises
        ------
        DataError
            If the errors are not known.

        Examples
        --------
        >>> import langdiff as ld
        >>> fit = ld.fit(ld.simulate(200, 3, difficulties=[0.0, 0.2, 0.0], seed=2).surprisals)
        >>> bool(fit.effects.test().p < 0.001)
        True
        """
        count = len(self.estimate)
        centring = np.eye(count) - 1 / count
        value = centring @ self.estimate.to_numpy(dtype=float)
        if isinstance(self.influence, Influence):
            return joint_test(value, self.influence.pick(np.arange(count), np.full(count, 1 / count)), count - 1)
        freedom = self.influence.freedom if isinstance(self.influence, Covariance) else np.inf
        return joint_test(value, Covariance(centring @ self.covariance.to_numpy() @ centring, freedom), count - 1)

    def minus(self, other: "Effects") -> "Effects":
        """Return the differences of effects of two results over the same units, for the names that both have.

        What the two share cancels, unit by unit; a unit that one result lacks has no influence there.

        Parameters
        ----------
        other : Effects
            Effects on the same scale.

        Raises
        ------
        ConfigError
            If the units are of different kinds, scales differ, or no name is in both.
        DataError
            If the errors of one of them do not come from units.
        """
        names = self.estimate.index.intersection(other.estimate.index, sort=False)
        if self.scale != other.scale or not len(names):
            why = f"{self.scale.label} and {other.scale.label}" if len(names) else "no name is in both"
            raise ConfigError(f"effects of two results have no differences: {why}.")
        parts = []
        for each in (self, other):
            if not isinstance(each.influence, Influence):
                raise DataError(f"the errors of {each.title or 'effects'} come from no units: nothing cancels.")
            parts.append(each.influence.pick(each.estimate.index.get_indexer(names)))
        return Effects(
            estimate=self.estimate[names] - other.estimate[names],
            influence=parts[0].minus(parts[1]),
            scale=replace(self.scale, quantity="difference", ends="identity"),
            title=" − ".join(filter(None, (self.title, other.title))),
            converged=self.converged and other.converged,
            signature="|".join(filter(None, (self.signature, other.signature))),
        )

    def contrast(self, one: Names, other: Names) -> Contrast:
        """Compare two effects, or the means of two sets of them.

        The standard error is the difference's own, from the joint covariance. Of sets, the degrees of freedom come from
        the shares of units in all; of a fit they are the fewest of the differences between an edition of one set and
        an edition of the other.

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
        return self._contrast(*self._weights(one, other))

    def _contrast(self, weights: Floats, name: str) -> Contrast:
        """Return the contrast with some weights, shape (J,)."""
        used = weights != 0  # the covariance of effects that are not compared need not be known
        w, estimate = weights[used], float(weights @ self.estimate.to_numpy(dtype=float))
        if isinstance(self.influence, Influence) and self.influence.known is None:
            rows = self.influence.adjusted[:, used]
            variance, most = float(np.sum((rows @ w) ** 2)), float(np.sum((np.abs(rows) @ np.abs(w)) ** 2))
        else:
            covariance = self.covariance.to_numpy()[np.ix_(used, used)]
            variance, most = w @ covariance @ w, np.abs(w) @ np.abs(covariance) @ np.abs(w)
        std_error = 0.0 if variance <= ROUNDING * most + ROUNDING**2 else float(np.sqrt(variance))
        above, below = weights > 0, weights < 0
        if isinstance(self.influence, Influence) and self.influence.freedom is None:
            freedom = float(self.influence.freedom_along(weights[None])[0])
        else:
            freedom = float(self._freedom()[np.ix_(above, below)].min())
        low, high = t_interval(estimate, std_error, freedom)
        return Contrast(
            name=name,
            estimate=estimate,
            std_error=std_error,
            low=float(low),
            high=float(high),
            scale=replace(self.scale, ends="identity"),
            degrees_of_freedom=freedom,
        )

    def linear(self, jacobian: Floats, names: pd.Index, scale: Scale) -> "Effects":
        """Return linear functions of the effects under new names, with their errors.

        Parameters
        ----------
        jacobian : ndarray, shape (K, J)
            Coefficients of the functions.
        names : Index, length K
            Names of the functions.
        scale : Scale
            Quantity and unit of the functions.
        """
        match self.influence:
            case Influence() as influence:
                sampling: Sampling = influence.map(jacobian)
            case Draws(values=draws):
                sampling = Draws(draws @ jacobian.T)
            case Covariance(matrix=matrix, freedom=freedom, shape=shape):
                if not isinstance(freedom, float):
                    used = jacobian != 0
                    own = np.array([freedom[np.ix_(row, row)].min() for row in used])
                    freedom = np.minimum(own[:, None], own)
                moved = None if shape is None else jacobian @ shape @ jacobian.T
                sampling = Covariance(jacobian @ matrix @ jacobian.T, freedom, moved)
        return replace(
            self,
            estimate=pd.Series(jacobian @ self.estimate.to_numpy(dtype=float), names, name=scale.quantity),
            influence=sampling,
            scale=scale,
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
        if self.converged and isinstance(self.influence, Influence) and not self.known:
            raise DataError(f"effects cannot be compared. {self.words}")
        if not self.known:
            raise DataError(
                "effects cannot be compared together without their joint covariance: a fit that did not converge has "
                "no covariance, and plain numbers have none."
            )
        reference = self.reference
        shape = None if reference is None else reference.to_numpy(dtype=float)
        of_one = isinstance(self.influence, Covariance) and self.influence.shape is None
        shared = of_one and isinstance(self.degrees_of_freedom, float)
        # draws take effects in falling order, so that neither order nor names of editions change anything
        order = falling(self.estimate.to_numpy(dtype=float), self.estimate.index)
        both = np.ix_(order, order)
        return Joint(
            estimate=self.estimate.rename_axis(self.unit_name).iloc[order],
            covariance=covariance[both],
            freedom=self._freedom()[both],
            reference=None if shape is None else shape[both],
            shared=shared,
            scale=replace(self.scale, ends="identity"),
            title=self.title,
            signature=self.signature,
        )

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
        shape = (len(self.estimate),) * 2
        match self.influence:
            case Influence() as influence:
                return influence.freedom_of_pairs
            case Covariance(freedom=freedom):
                return np.broadcast_to(np.asarray(freedom, dtype=float), shape)
        return np.full(shape, np.inf)

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
        >>> effects = Effects.from_covariance(pd.Series([-0.1, 0.1], names), pd.DataFrame(0.0, names, names))
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
        >>> effects = Effects.from_covariance(pd.Series([-0.1, 0.1], names), pd.DataFrame(0.0, names, names))
        >>> effects.ranks(99, seed=0).loc["fin"].to_dict()
        {1: 1.0, 2: 0.0}
        """
        check_resamples("n_draws", n_draws)
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
