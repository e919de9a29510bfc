"""Spread of difficulties within and between languages with several editions (section 4.4)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from langdiff.base.result import Drawn, Result
from langdiff.base.types import Booleans, Floats
from langdiff.corpora.edition_info import EditionInfo, languages_of
from langdiff.errors import DataError, listing, option
from langdiff.tables.effect_sources import EffectsLike, as_effects
from langdiff.tables.effects import Effects
from langdiff.typology.association.variance import LARGEST_SHARE, OneEffect, share_interval

EQUAL = 1e-9  # share of the squares that lies within languages if there is nothing but errors of rounding


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class LanguageSpread(Result):
    r"""Spread of difficulties within and between languages.

    The variance components are those of :math:`\delta_e = \mu + b_{\ell(e)} + w_e` with a random effect of the language
    of edition e, by restricted maximum likelihood.

    Attributes
    ----------
    editions : DataFrame
        One row per edition: ``language`` and ``difficulty`` in nats.
    within_sd : float
        Sample standard deviation within languages, pooled over those with two editions or more, nats.
    sampling_sd : float
        The part of `within_sd` that errors of the estimates alone would give, from their covariance; NaN if that is not
        known.
    between_variance, within_variance : float
        Variance of b and of w, nats squared; NaN if there is one language only.
    between_share : float
        :math:`\sigma^2_b / (\sigma^2_b + \sigma^2_w)`, the share of the variance that lies between languages.
    between_share_low, between_share_high : float
        Ends of its 95 % interval by profile likelihood.
    title : str
        Name of the source of the difficulties.
    """

    editions: pd.DataFrame
    within_sd: float
    sampling_sd: float
    between_variance: float
    within_variance: float
    between_share: float
    between_share_low: float
    between_share_high: float
    title: str

    @property
    def between_sd(self) -> float:
        """Sample standard deviation of the means of languages, nats; NaN if there is one language only."""
        return float(self.to_frame()["mean"].std(ddof=1))

    def to_frame(self) -> pd.DataFrame:
        """Return one row per language, hardest first.

        Returns
        -------
        DataFrame
            Indexed by language: number of ``editions``, ``mean`` difficulty and sample standard deviation ``sd``, nats
            (NaN for one edition), and the ``easiest`` and ``hardest`` edition.
        """
        groups = self.editions.groupby("language")["difficulty"]
        columns = {
            "editions": groups.size(),
            "mean": groups.mean(),
            "sd": groups.std(ddof=1),
            "easiest": groups.idxmin(),
            "hardest": groups.idxmax(),
        }
        return pd.DataFrame(columns).sort_values("mean", ascending=False)

    def _notes(self) -> Iterator[str]:
        sampling = "not known" if np.isnan(self.sampling_sd) else f"{self.sampling_sd:.4f}"
        overall = self.editions["difficulty"].std(ddof=1)
        yield (
            f"sample standard deviation, nats: {overall:.4f} over all editions, {self.within_sd:.4f} within languages "
            f"(errors of the estimates alone: {sampling}), {self.between_sd:.4f} between means of languages"
        )
        if not np.isnan(self.between_share):
            yield (
                f"variance components: {self.between_variance:.6f} between, {self.within_variance:.6f} within; "
                f"{self.between_share:.0%} between languages (95 % interval {self.between_share_low:.0%} to "
                f"{self.between_share_high:.0%})"
            )

    def _table(self) -> pd.DataFrame:
        """Return the languages with several editions."""
        table = super()._table()
        return table[table["editions"] > 1]

    plot = Drawn("plot_within_languages")

    def __repr__(self) -> str:
        """Return a one-line description with the numbers of editions and languages."""
        counts = self.editions["language"].value_counts()
        source = f" by {self.title}" if self.title else ""
        return (
            f"LanguageSpread of {len(self.editions)} editions in {len(counts)} languages{source}, "
            f"{int((counts > 1).sum())} with several editions"
        )


def spread_within_languages(source: EffectsLike, edition_info: EditionInfo) -> LanguageSpread:
    """Compare the spread of difficulties within languages with that between them.

    Parameters
    ----------
    source : DifficultyFit, Effects, Series or DataFrame
        Fit, or table of difficulties of editions; as `langdiff.as_effects` takes them.
    edition_info : DataFrame, Series or mapping
        Table of the editions with a column language; or the language of every edition.

    Returns
    -------
    LanguageSpread
        Sample standard deviations and variance components.

    Raises
    ------
    DataError
        If an edition has no language, no language has two editions, or those of each language are equally difficult.

    References
    ----------
    Mielke, Cotterell, Gorman, Roark and Eisner (2019), section 4.4; Searle, Casella and McCulloch (1992), "Variance
    Components", on the restricted likelihood of the one-way model.

    Examples
    --------
    >>> from langdiff.datasets import mielke2019
    >>> figures = mielke2019()
    >>> spread = spread_within_languages(figures.difficulties("bibles")["bpe"], figures.edition_info("bibles"))
    >>> spread
    LanguageSpread of 106 editions in 62 languages by bpe, 18 with several editions
    >>> spread.to_frame()["sd"][["deu", "fra", "eng"]].round(2).to_dict()
    {'deu': 0.05, 'fra': 0.05, 'eng': 0.02}
    """
    effects = as_effects(source)
    names = effects.estimate.index
    languages = languages_of(edition_info, names)
    missing = [name for name in names if name not in languages]
    if missing:
        raise DataError(
            f"{len(missing)} edition(s) without a language: {listing(missing)}. Name it in {option('edition_info')}."
        )
    codes, known = pd.factorize(pd.Series([languages[str(name)] for name in names]))
    counts = np.bincount(codes)
    if counts.max() < 2:
        raise DataError(
            "no language has two editions, so that no spread within languages can be estimated; add editions."
        )
    y = effects.estimate.to_numpy(dtype=float)
    freedom = len(y) - len(counts)
    means = np.bincount(codes, y) / counts
    squares = float(((y - means[codes]) ** 2).sum())
    if squares <= EQUAL * float(((y - y.mean()) ** 2).sum()):
        raise DataError(
            "the editions of each language are equally difficult, so that nothing varies within a language."
        )
    same = codes[:, None] == codes
    between, within, share, low, high = _components(y, same)
    return LanguageSpread(
        editions=pd.DataFrame({"language": known[codes], "difficulty": y}, index=names.rename("edition")),
        within_sd=float(np.sqrt(squares / freedom)),
        sampling_sd=_sampling_sd(effects, same, freedom),
        between_variance=between,
        within_variance=within,
        between_share=share,
        between_share_low=low,
        between_share_high=high,
        title=effects.title,
    )


def _sampling_sd(effects: Effects, same: Booleans, freedom: int) -> float:
    """Return the root of the expected mean square within languages of the errors of the estimates."""
    covariance = effects.covariance.to_numpy(dtype=float)
    within = np.eye(len(same)) - same / same.sum(axis=0)  # takes from each estimate the mean of its language
    return float(np.sqrt(np.trace(within @ covariance) / freedom)) if np.isfinite(covariance).all() else float("nan")


def _components(y: Floats, same: Booleans) -> tuple[float, float, float, float, float]:
    """Return both variance components, the share between languages and the ends of its interval."""
    if same.all():
        return (float("nan"),) * 5
    model = OneEffect(np.ones((len(y), 1)), y, same.astype(float))
    share = model.share()
    low, high = share_interval(lambda at: model.profile(at)[0], share, LARGEST_SHARE)
    between, within = model.variances()
    return float(between), float(within), share, low, 1.0 if high == LARGEST_SHARE else high
