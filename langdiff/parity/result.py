r"""Result of the comparison of editions with a reference, and premiums against the mean of the editions.

Counts of intent i in edition j are taken as :math:`a_i e^{b_j}` with :math:`\sum_j b_j = 0`, fitted by the likelihood
of the Poisson distribution. The premium of edition j is :math:`e^{b_j}`: of a complete table its total over the
geometric mean of all totals. No edition has to have all intents, as a reference would. Given the total of every
intent, the likelihood is that of a multinomial logit, which is concave.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, reduce

import numpy as np
import pandas as pd
from scipy.special import ndtr

from langdiff.base.result import Drawn, Result
from langdiff.base.types import Floats
from langdiff.errors import ConfigError, listing, option
from langdiff.regression.result import DifficultyFit
from langdiff.tables.effects import Effects
from langdiff.tables.influences import Influence
from langdiff.tables.rule import Scale, shares

MEAN = "mean"  # name of this reference
MODEL = "information_parity_model"
MOST_BIAS = 0.25  # of Gini's coefficient by the noise of premiums, in its standard errors, for it to have errors
MOST_STEPS = 100


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Parity(Result):
    """Measures of parity, one row per edition.

    Attributes
    ----------
    reference : str
        Edition that the others are compared with, or ``"mean"``.
    totals : DataFrame
        Totals over all intents of each edition: ``characters`` (code points), ``bytes`` (UTF-8), ``bits`` and
        ``tokens``, as far as they are known.
    estimates : DataFrame
        Of texts: ``byte_premium``, ``character_premium``, ``bytes_per_character``,
        ``reference_bytes_per_character`` (of the same intents). Of tokenizers: ``token_premium``; ``fertility`` (tokens
        per white-space word) and ``split_words`` (share of words that are more than one token), NaN where a script
        separates no words; and entropies, efficiencies and accessor variety. Of
        bits: ``information_parity`` (as published), ``information_parity_totals``, ``information_parity_model``
        (recommended); above 1 where an edition takes fewer bits than the reference.
    measures : mapping from str to Effects
        Estimates with their errors by independent units, of those that have some; logarithms, but for shares.
    language : Series or None
        Language of each edition, if texts were given.
    signature : str
        All that the numbers depend on.
    originals : tuple of str
        Editions that the others were translated from, as far as they are known.
    fit : DifficultyFit or None
        Regression behind ``information_parity_model``, if bits were given.
    """

    reference: str
    totals: pd.DataFrame
    estimates: pd.DataFrame
    measures: Mapping[str, Effects]
    language: pd.Series | None
    signature: str
    originals: tuple[str, ...] = ()
    fit: DifficultyFit | None = None

    def effects(self, measure: str = "byte_premium") -> Effects:
        """Return a measure with its errors, as contrasts, pairs, ratios and tests take them.

        Parameters
        ----------
        measure : str
            Name of a column of `estimates` that has intervals. Premiums and other quotients are logarithms;
            ``"information_parity_model"`` are the difficulties of `fit`.

        Raises
        ------
        ConfigError
            If there is no such measure.
        """
        if measure == MODEL and self.fit is not None:
            return self.fit.effects
        if measure not in self.measures:
            raise ConfigError(f"{option('measure', measure)}: there are errors of {listing(self.measures)}.")
        return self.measures[measure]

    def gini(self, *measures: str) -> Effects:
        """Return Gini's coefficient of the editions: how unequal the lengths of the same content are.

        Parameters
        ----------
        *measures : str
            Premiums, such as ``"token_premium"``; by default all. Their differences are contrasts, whose errors are of
            the same texts.

        Returns
        -------
        Effects
            One coefficient per premium: 0 if all editions are equal, close to 1 if one has nearly everything. Noise of
            premiums makes it larger; where that is more than a quarter of its standard error, errors are NaN.

        Raises
        ------
        ConfigError
            If there is no such premium, or their errors have units of different kinds.

        Examples
        --------
        >>> import langdiff as ld
        >>> one = pd.DataFrame([[10, 20], [20, 40], [5, 12]] * 8, columns=["eng", "fin"])
        >>> other = pd.DataFrame([[9, 12], [19, 25], [5, 6]] * 8, columns=["eng", "fin"])
        >>> found = ld.measure_parity(one, tokenizers={"b": other}, clusters=None)
        >>> found.gini().estimate.round(3).to_dict()
        {'token_premium': 0.173, 'token_premium_b': 0.066}
        """
        names = measures or tuple(name for name in self.measures if "_premium" in name)
        if unknown := [name for name in names if name not in self.measures or "_premium" not in name]:
            known = [name for name in self.measures if "_premium" in name]
            raise ConfigError(f"{option('measures', unknown[0])}: there are premiums {listing(known)}.")
        values, parts = zip(*(_gini(self.measures[name]) for name in names), strict=True)
        estimate = pd.Series(values, pd.Index(names, name="measure"), name="gini")
        return Effects(estimate=estimate, influence=reduce(Influence.stack, parts), scale=shares("gini"), title="gini")

    def compare(self, one: str, other: str) -> Effects:
        """Return how much more one premium is than another by edition, such as those of two tokenizers.

        Parameters
        ----------
        one, other : str
            Premiums, such as ``"token_premium_new"`` and ``"token_premium_old"``, of the same texts.

        Returns
        -------
        Effects
            Differences of the logarithms of the premiums, `one` less `other`.

        Raises
        ------
        ConfigError
            If there is no such measure, or their errors have units of different kinds.
        """
        scale = Scale(quantity="difference", first="highest", centre="mean")
        first, second = (replace(self.effects(name), scale=scale) for name in (one, other))
        return replace(first.minus(second), title=f"{one} less {other}")

    @cached_property
    def low(self) -> pd.DataFrame:
        """Lower ends of 95 % intervals, of those measures that have one."""
        return self._ends("low")

    @cached_property
    def high(self) -> pd.DataFrame:
        """Upper ends of 95 % intervals, of those measures that have one."""
        return self._ends("high")

    def _ends(self, end: str) -> pd.DataFrame:
        index, found = self.estimates.index, {}
        for name, effects in self.measures.items():
            values = effects._marginal()[end]
            found[name] = (np.exp(values) if effects.scale.unit == "nats" else values).reindex(index)
        if self.fit is not None:
            found[MODEL] = pd.Series(of_model(self.fit, self.reference, index)[1 if end == "low" else 2], index)
        return pd.DataFrame(found, index=index)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per edition.

        Returns
        -------
        DataFrame
            `language` if known, totals, and every measure, followed by ``MEASURE_low`` and ``MEASURE_high`` if it has
            an interval.
        """
        columns: dict[str, pd.Series] = {} if self.language is None else {"language": self.language}
        columns |= {str(name): values for name, values in self.totals.items()}
        for name, values in self.estimates.items():
            columns[str(name)] = values
            if name in self.low:
                columns |= {f"{name}_low": self.low[name], f"{name}_high": self.high[name]}
        return pd.DataFrame(columns, index=self.estimates.index)

    def predictors(self) -> pd.DataFrame:
        """Return the measures that may predict difficulty, with `language` if known for all editions.

        `langdiff.correlate` calls this by itself.

        Returns
        -------
        DataFrame
            One row per edition, without totals, intervals and information parities, which are difficulties themselves.
        """
        table = self.estimates.loc[:, ~self.estimates.columns.str.startswith("information_parity")]
        table = table.drop(columns="reference_bytes_per_character", errors="ignore")
        known = self.language is not None and bool(self.language.notna().all())
        return table.assign(language=self.language) if known else table

    def _table(self) -> pd.DataFrame:
        """Return the measures with their intervals, most expensive editions first."""
        shown = pd.DataFrame(index=self.estimates.index)
        for name, values in self.estimates.items():
            if name == "reference_bytes_per_character" or str(name).endswith("_entropy"):
                continue
            text = values.map("{:.3f}".format)
            if name in self.low:
                text += " [" + self.low[name].map("{:.3f}".format) + ", " + self.high[name].map("{:.3f}".format) + "]"
            shown[name] = text.where(values.notna(), "–")
        order = self.estimates[self.sorting].sort_values(ascending=self.sorting.startswith("information")).index
        return shown.loc[order]

    def _notes(self) -> Iterable[str]:
        """Yield a note on the editions that the others were translated from."""
        if self.measures:
            yield next(iter(self.measures.values())).words
        if len(tokens := [name for name in self.measures if name.startswith("token_premium")]) > 1:
            gini = self.gini(*tokens)
            each = ", ".join(
                f"{name} {value:.3f} ({'not told from noise' if np.isnan(low) else f'{low:.3f} to {high:.3f}'})"
                for name, value, low, high in gini.to_frame()[["gini", "low", "high"]].itertuples(name=None)
            )
            yield f"Gini's coefficient of {each}."
            if len(tokens) == 2 and gini.known:
                yield f"Its difference: {gini.contrast(*tokens)}."
        if self.originals:
            what = "is the original" if len(self.originals) == 1 else "are originals"
            yield (
                f"{', '.join(self.originals)} {what} of the texts. Native text takes fewer bits than translations "
                "do, so that distances from it hold translation, too."
            )

    @property
    def sorting(self) -> str:
        """Measure that sorts the summary and the figure: the recommended one of those available."""
        usual = ("byte_premium", "information_parity_model")
        return next((name for name in usual if name in self.estimates), str(self.estimates.columns[0]))

    @property
    def compared_with(self) -> str:
        """What the editions are compared with, in words."""
        return self.reference if self.reference in self.estimates.index else "their mean"

    plot = Drawn("plot_parity")

    def __repr__(self) -> str:
        """Return the number of editions, the reference and the range of the first premium."""
        values = self.estimates[self.sorting].drop(self.reference, errors="ignore")
        ends = (
            ""
            if values.dropna().empty
            else (
                f"; {self.sorting.replace('_', ' ')} from {values.min():.2f} ({values.idxmin()}) to {values.max():.2f} "
                f"({values.idxmax()})"
            )
        )
        return f"Parity of {len(self.estimates)} editions with {self.compared_with}{ends}"


def _gini(premiums: Effects) -> tuple[float, Influence]:
    """Return Gini's coefficient of the exponentials of effects, and the influences of units on it."""
    t = np.exp(premiums.estimate.to_numpy(dtype=float))
    apart = t[:, None] - t
    found = float(np.abs(apart).sum() / (2 * len(t) * t.sum()))
    if not isinstance(premiums.influence, Influence):
        raise ConfigError(f"{premiums.title}: no errors by units, which Gini's coefficient needs.")
    slope = t * (np.sign(apart).sum(axis=1) / len(t) - found) / t.sum()  # by the logarithms
    influence = premiums.influence.map(slope[None, :])
    covariance = premiums.influence.covariance * np.outer(t, t)
    error = np.sqrt(np.maximum(np.diag(covariance)[:, None] + np.diag(covariance) - 2 * covariance, 1e-300))
    z = np.abs(apart) / error
    folded = error * (np.sqrt(2 / np.pi) * np.exp(-(z**2) / 2) - 2 * z * ndtr(-z))  # by which noise lengthens each
    bias = float(folded[~np.eye(len(t), dtype=bool)].sum() / (2 * len(t) * t.sum()))
    if bias > MOST_BIAS * float(np.sqrt(influence.covariance[0, 0])):
        influence = replace(influence, share=np.ones_like(influence.share))  # errors are not known
    return found, influence


def of_model(fitted: DifficultyFit, reference: str, editions: pd.Index) -> list[Floats]:
    """Return exp(d_r − d_j) and the ends of its interval, each of shape (J,)."""
    rows = []
    if reference == MEAN and MEAN not in editions:
        shown = fitted.to_frame().reindex(editions)
        return [np.exp(-shown[name].to_numpy()) for name in ("difficulty", "high", "low")]
    for edition in editions:
        if edition == reference or edition not in fitted.difficulty.index:
            rows.append([1.0] * 3 if edition == reference else [np.nan] * 3)
            continue
        contrast = fitted.contrast(reference, edition)
        rows.append([contrast.estimate, contrast.low, contrast.high])
        rows[-1] = list(np.exp(rows[-1]))
    return list(np.array(rows).T)
