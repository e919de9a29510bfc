"""Versions of one text: what a change of it costs in bits, and how far editions of one language are apart."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from langdiff.base.result import Drawn, Result
from langdiff.base.types import Booleans, Floats, Integers
from langdiff.corpora.edition_info import EditionInfo, languages_of
from langdiff.corpora.perturbation import ADDED_BITS
from langdiff.errors import DataError, listing, option
from langdiff.regression.clustering import AnyClusters, units_of
from langdiff.tables.effect_sources import EffectsLike, as_effects
from langdiff.tables.effects import NATS, Effects
from langdiff.tables.influences import Units
from langdiff.tables.surprisals import Surprisals
from langdiff.typology.association.variance import LARGEST_SHARE, OneEffect, share_interval

RANDOM_ORDER = "shuffle"  # the kind whose added bits are known


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class PerturbationContrasts(Result):
    """Costs of changes of texts, by edition and kind of change.

    Attributes
    ----------
    table : DataFrame
        The columns of `to_frame`.
    effects : Effects
        The differences in nats, named ``EDITION|KIND``; ``effects.words`` tells what errors take to be independent.
    lm : str
        Name of the language model.
    """

    table: pd.DataFrame
    effects: Effects
    lm: str

    digits = 2
    printing: ClassVar[Mapping[str, Any]] = {"index": False}

    def to_frame(self) -> pd.DataFrame:
        """Return one row per edition and kind.

        Returns
        -------
        DataFrame
            ``edition``, ``kind``, number of ``intents``; ``difference``, the mean of ln(bits changed / bits) over them,
            and its ``std_error``, in nats; ``percent`` more bits, with its 95 % interval from ``low`` to ``high``;
            ``added_bits``, the most that random orders add per intent; ``learnt``, the share of these that the language
            model needed more, and its ``learnt_std_error``. The last three are NaN but for ``"shuffle"``.
        """
        return self.table.copy()

    def by_kind(self, column: str = "percent") -> pd.DataFrame:
        """Return one column of the table with a row per kind and a column per edition.

        Parameters
        ----------
        column : str
            Column of `to_frame`.

        Returns
        -------
        DataFrame
            Values, NaN where an edition lacks a kind.
        """
        wide = self.table.pivot(index="kind", columns="edition", values=column)
        return wide.reindex(index=self.table["kind"].unique(), columns=self.table["edition"].unique())

    plot = Drawn("plot_perturbation_contrasts")

    def _lines(self) -> Iterator[str]:
        yield repr(self)
        yield f"Percent more bits for the same intents by {self.lm}. {self.effects.words}"

    def _notes(self) -> Iterator[str]:
        if self.table["learnt"].notna().any():
            yield "learnt: what the language model knew of word order, as a share of the most that orders can hold."

    def __repr__(self) -> str:
        """Return the numbers of editions and kinds."""
        editions, kinds = (self.table[name].nunique() for name in ("edition", "kind"))
        return f"PerturbationContrasts: {editions} edition(s) × {kinds} kind(s) of change, by {self.lm}"


def perturbation_contrasts(surprisals: Surprisals, *, clusters: AnyClusters | None = "auto") -> PerturbationContrasts:
    r"""Estimate how many more bits changed texts need than the same texts as they are.

    For each edition ``NAME|KIND`` of a table that also has ``NAME``, the mean over the intents of both of

    .. math:: \ln(y_{i,\text{changed}} / y_i),

    in which the size of the intent cancels out.

    Parameters
    ----------
    surprisals : Surprisals
        Surprisals of editions as `langdiff.corpora.perturb` or `langdiff.treebanks.reorder` name them.
    clusters : "auto", str, Series, mapping or None
        Intents that may vary together, as in `langdiff.fit`. By default documents, books or chapters where they are
        known; None for single intents.

    Returns
    -------
    PerturbationContrasts
        One row per edition and kind. Of ``"shuffle"`` it also has ``learnt``:

        .. math:: \sum_i (y_{i,\text{shuffled}} - y_i) / \sum_i a_i

        with the most bits a that a random order adds, the columns ``added_bits|NAME`` of the table of intents. Where
        shuffling costs all of them, the model had known the order completely; what remains is order that was free, or
        that the model does not know.

    Raises
    ------
    DataError
        If no edition stands beside its changed texts, or two have no two intents in common.
    ConfigError
        If there are no such clusters.

    Notes
    -----
    Errors are those of ratios of sums over independent units, with intervals by Student's t.

    Examples
    --------
    >>> import langdiff as ld
    >>> bits = pd.DataFrame({"eng": [100.0, 50.0], "eng|reverse": [101.0, 50.5]}, index=["1", "2"])
    >>> perturbation_contrasts(ld.Surprisals(bits=bits)).by_kind().round(2)
    edition  eng
    kind
    reverse  1.0
    """
    pairs = [
        (name, *name.rpartition("|")[::2])
        for name in map(str, surprisals.editions)
        if name.rpartition("|")[0] in surprisals.editions
    ]
    if not pairs:
        raise DataError(
            "no edition NAME|KIND stands beside its edition NAME. langdiff.corpora.perturb makes texts of both with "
            "keep_base=True, which language models then read together."
        )
    units, code = units_of(surprisals, clusters)
    bits = surprisals.bits
    changed, usual = bits[[pair[0] for pair in pairs]], bits[[pair[1] for pair in pairs]].to_numpy()
    both = changed.notna() & ~np.isnan(usual)
    for (name, edition, _), count in zip(pairs, both.sum(), strict=True):
        if count < 2:
            raise DataError(f"{name} and {edition} have {count} intents in common; 2 are needed.")
    logs = pd.DataFrame(np.log(changed.to_numpy() / usual), columns=changed.columns).where(both.to_numpy(), 0.0)
    logs, counts = logs.groupby(code).sum(), both.groupby(code).sum()
    effects = Effects.of_ratios(logs, counts, units, NATS)
    table = pd.DataFrame([{"edition": e, "kind": k, "intents": int(both[name].sum())} for name, e, k in pairs])
    frame = effects.to_frame().loc[changed.columns]
    table[["difference", "std_error"]] = frame[["difference", "std_error"]].to_numpy()
    for column, of in (("percent", "difference"), ("low", "low"), ("high", "high")):
        table[column] = 100 * np.expm1(frame[of].to_numpy())
    known = [_learnt(surprisals, *pair, code, units) for pair in pairs]
    table[[ADDED_BITS, "learnt", "learnt_std_error"]] = np.array(known)
    return PerturbationContrasts(table=table, effects=effects, lm=surprisals.lm)


def _learnt(
    surprisals: Surprisals, name: str, edition: str, kind: str, code: Integers, units: Units
) -> tuple[float, float, float]:
    """Return the most bits that random orders add per intent, the share of them that is needed, and its error."""
    info, column = surprisals.intent_info, f"{ADDED_BITS}|{edition}"
    if kind != RANDOM_ORDER or info is None or column not in info:
        return np.nan, np.nan, np.nan
    more = (surprisals.bits[name] - surprisals.bits[edition]).to_numpy()
    both = ~np.isnan(more)
    added = np.where(both, pd.to_numeric(info[column]).to_numpy(dtype=float), 0.0)
    if not added.sum() > 0:
        return np.nan, np.nan, np.nan
    sums = pd.DataFrame({"more": np.where(both, more, 0.0), "added": added}).groupby(code).sum()
    found = Effects.of_ratios(sums[["more"]], sums[["added"]].set_axis(["more"], axis=1), units, NATS)
    return float(added.sum() / both.sum()), float(found.estimate.iloc[0]), float(found.std_error.iloc[0])


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
