"""Native against translated texts, under one language model or several (Mielke et al. 2019, section 6)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from langdiff.base.grids import Shown
from langdiff.base.result import Drawn, Result, rounded
from langdiff.corpora.edition_info import EditionInfo
from langdiff.errors import ConfigError, DataError, listing, missing_by_design, option, warn, warns_caller
from langdiff.experiments.native import (
    NATIVE,
    TRANSLATED,
    USUAL_MIN_NATIVE,
    Origins,
    choose_editions,
    counted,
    divide_by_origin,
    find_origins,
)
from langdiff.regression import DifficultyFit, fit
from langdiff.tables.rule import Contrast, half_width
from langdiff.tables.surprisals import Surprisals

# standard errors: found at 5 % in four of five repetitions
DETECTABLE = float(half_width(1.0, np.inf) + half_width(1.0, np.inf, 0.6))


def in_words(mean: Contrast) -> str:
    """Return a difference of native and translated texts as the beginning of a sentence."""
    shown = np.isfinite(mean.low) and (mean.low > 0 or mean.high < 0)
    how = ("harder" if mean.estimate > 0 else "easier") if shown else "not shown to be harder or easier"
    return f"Native texts were {how} than translated ones: {_percent(mean)}"


def _percent(mean: Contrast) -> str:
    return f"{mean.percent:+.1f} % ({100 * np.expm1(mean.low):+.1f} to {100 * np.expm1(mean.high):+.1f})"


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class TranslationeseResult(Result):
    """Differences in difficulty between native and translated texts, by edition.

    Attributes
    ----------
    fit : DifficultyFit
        Fit of all editions, the divided ones as ``EDITION:native`` and ``EDITION:translated``.
    cells : DataFrame, one row per divided edition
        ``language``, and the numbers of ``native`` and ``translated`` intents.
    unknown_intents : int
        Intents whose original language is not known; they are in no divided edition.
    whole : Series of int
        Number of native intents of each edition that could have been divided and was not; by these, the differences
        are biased.
    """

    fit: DifficultyFit
    cells: pd.DataFrame
    unknown_intents: int
    whole: pd.Series

    @property
    def mean(self) -> Contrast:
        """Mean difference over the divided editions; its standard error does not extend to other languages."""
        return self.fit.contrast(
            *([f"{edition}:{part}" for edition in self.cells.index] for part in (NATIVE, TRANSLATED))
        )

    @property
    def standard_deviation(self) -> float:
        """Sample standard deviation of the differences over editions, nats, as the paper gives after ±.

        It includes both differences between languages and errors of measurement; NaN for one edition.
        """
        return float(self.to_frame()["difference"].std(ddof=1))

    def to_frame(self) -> pd.DataFrame:
        """Return one row per divided edition, in the order of the table.

        Returns
        -------
        DataFrame
            ``language``; numbers of ``native`` and ``translated`` intents; the ``difference``, its
            ``std_error``, ``low`` and ``high`` (95 % interval), in nats; ``percent`` more bits for native
            texts; ``detectable``, the difference in nats that would be found significant (at 5 %, two-sided) in
            four of five such samples.
        """
        found = [self.fit.contrast(f"{e}:{NATIVE}", f"{e}:{TRANSLATED}") for e in self.cells.index]
        return self.cells.assign(
            difference=[contrast.estimate for contrast in found],
            std_error=[contrast.std_error for contrast in found],
            low=[contrast.low for contrast in found],
            high=[contrast.high for contrast in found],
            percent=[contrast.percent for contrast in found],
            detectable=[DETECTABLE * contrast.std_error for contrast in found],
        )

    def _lines(self) -> Iterator[str]:
        if not self.fit.converged:
            yield f"NOT CONVERGED ({self.fit.message})"
        yield f"{in_words(self.mean)} on average over {len(self.cells)} edition(s)."

    def tables(self) -> list[Shown]:
        """Return the differences by edition, and what they depend on."""
        mean = self.mean
        notes = [
            f"Mean over {len(self.cells)} edition(s) {mean.estimate:+.4f}, standard error {mean.std_error:.4f}"
            f"{self._spread()}"
        ]
        if len(self.whole):
            notes.append(f"Left whole, which biases the differences (native intents): {counted(self.whole)}")
        unknown = f"; {self.unknown_intents:,} intents of unknown origin" if self.unknown_intents else ""
        notes.append(f"Model {self.fit.model}; {self.fit.cells:,} cells{unknown}.")
        caption = "Native less translated texts, nats, with 95 % intervals"
        return [Shown(rounded(self.to_frame(), self.digits), "differences", caption, notes)]

    @property
    def signature(self) -> str:
        """Everything the numbers depend on."""
        return f"experiment:translationese|{self.fit.signature}"

    plot = Drawn("plot_translationese")

    def __repr__(self) -> str:
        """Return the mean difference and the number of editions."""
        return (
            f"TranslationeseResult: native - translated {self.mean.estimate:+.4f} nats on average over "
            f"{len(self.cells)} edition(s){self._spread()}"
        )

    def _spread(self) -> str:
        return f", standard deviation {self.standard_deviation:.4f}" if len(self.cells) > 1 else ""


@warns_caller
def translationese(
    surprisals: Surprisals,
    original_language: pd.Series | None = None,
    *,
    languages: Iterable[str] | None = None,
    min_native: int | None = None,
    edition_info: EditionInfo | None = None,
    **fit_settings: Any,
) -> TranslationeseResult:
    r"""Estimate how much harder native texts are than translated ones of the same language.

    Every chosen edition is divided by origin (`split_by_origin`) and all are fitted together, so that
    the size of an intent, which all its cells share, does not enter the difference

    .. math:: \delta_{j,\text{native}} - \delta_{j,\text{translated}}.

    Parameters
    ----------
    surprisals : Surprisals, shape (I, J)
        Surprisals of native and translated texts.
    original_language : Series of str, optional
        Code of the original language of each intent; see `split_by_origin`.
    languages : iterable of str, optional
        Languages whose editions are divided; by default those with at least `min_native` (500) native intents.
    min_native : int, optional
        Least number of native intents of an edition that is divided; see `split_by_origin`.
    edition_info : DataFrame, Series or mapping from edition to language, optional
        Languages of editions in the codes of `original_language`; see `split_by_origin`.
    **fit_settings
        Settings of `langdiff.fit`, such as ``model="1"`` or ``restricted=True``; not ``groups`` or ``formula``,
        which tie difficulties.

    Returns
    -------
    TranslationeseResult
        The fit of the divided editions, and the numbers of intents behind each difference.

    Raises
    ------
    DataError
        If the table cannot be divided or fitted.
    ConfigError
        If a setting is out of range, or ties difficulties.

    Warns
    -----
    LangdiffWarning
        If editions with native intents are left whole, because `languages` do not name theirs or they have fewer than
        `min_native`, or as `langdiff.fit` warns.

    Notes
    -----
    The bits of an edition that is not divided count towards an intent's size, also where the edition is native. If
    native texts of such an edition k differ from its translations by :math:`\tau_k`, a divided edition appears to
    differ in the same direction: by :math:`p_k \tau_k / (J - 1)` if it is the only one divided, in Model 1 and
    without missing cells, where :math:`p_k` is the share of its translated intents whose original language is that
    of k. So divide all languages that have native intents (``min_native=1``), and report those of interest.

    A language model trained mostly on translated text may find native text harder for that reason only: the
    difference is one between texts only if the model was trained on equal amounts of both (section 6).

    References
    ----------
    Mielke, Cotterell, Gorman, Roark and Eisner (2019), "What Kind of Language Is Hard to
    Language-Model?", section 6: 0.027 ± 0.023 over 8 languages of Europarl.

    Examples
    --------
    >>> import langdiff as ld
    >>> surprisals = ld.simulate(900, 3, seed=1).surprisals
    >>> origin = pd.Series(["e1", "e2", "e3"] * 300, index=surprisals.intents)
    >>> result = translationese(surprisals, origin, min_native=300)
    >>> result
    TranslationeseResult: native - translated -0.0047 nats on average over 3 edition(s), standard deviation 0.0069
    >>> bool((result.to_frame()["difference"].abs() < 4 * result.to_frame()["std_error"]).all())
    True
    """
    tying = [name for name in ("groups", "formula") if fit_settings.get(name) is not None]
    if tying:
        raise ConfigError(
            f"translationese cannot take {listing(tying)}: each divided edition needs a native and a translated "
            "difficulty. Divide with split_by_origin and fit that."
        )
    origins = find_origins(surprisals, original_language, edition_info)
    chosen = choose_editions(origins, languages, min_native)
    whole = _left_whole(origins, chosen)
    if len(whole):
        least = USUAL_MIN_NATIVE if min_native is None else min_native
        reason = f"they have fewer than {least:,} native intents" if languages is None else "they are not named"
        remedy = f"Lower {option('min_native')} to 1" if languages is None else "Name these languages, too"
        warn(
            f"{len(whole)} edition(s) with native intents are left whole, as {reason}: {counted(whole)}. This is a "
            "bias: if their native texts differ from their translations, part of that difference is attributed to the "
            f"divided editions. {remedy}, and report the languages of interest."
        )
    cells = pd.DataFrame(
        {
            "language": origins.language[chosen],
            "native": origins.native[chosen].sum(),
            "translated": origins.translated[chosen].sum(),
        }
    )
    with missing_by_design():  # by the language that an intent was written in
        found = fit(divide_by_origin(surprisals, origins, chosen), **fit_settings)
    return TranslationeseResult(
        fit=found,
        cells=cells.rename_axis("edition"),
        unknown_intents=int(origins.source.isna().sum()),
        whole=whole,
    )


def _left_whole(origins: Origins, chosen: Iterable[str]) -> pd.Series:
    """Return the numbers of native intents of the editions that could have been divided, most first."""
    native = origins.native.sum()
    divisible = native[(native > 0) & origins.translated.any()]
    left = divisible.drop(list(chosen), errors="ignore").sort_values(ascending=False, kind="stable")
    return left.astype(int).rename("native").rename_axis("edition")


LENGTH = "length"


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class TranslationeseByModel(Result):
    """Differences between native and translated texts that several language models find in the same intents.

    Attributes
    ----------
    results : mapping from str to TranslationeseResult
        Result of each language model, from the most bits per character to the fewest.
    lengths : TranslationeseResult
        The same analysis of the characters of each cell instead of its bits: what a model finds that gives every
        character the same bits.
    bits_per_character : DataFrame, shape (divided editions, models)
        Bits per character of each edition, end symbols priced but not counted as characters.
    """

    results: dict[str, TranslationeseResult]
    lengths: TranslationeseResult
    bits_per_character: pd.DataFrame

    printing: ClassVar = {"na_rep": ""}

    @property
    def slope(self) -> pd.Series:
        """Change of each edition's difference with the bits per character of models, nats per bit (least squares)."""
        frame = self.to_frame()
        slopes = {
            edition: np.polyfit(rows["bits_per_character"], rows["difference"], 1)[0]
            for edition, rows in frame[frame["lm"] != LENGTH].groupby("edition", sort=False)
        }
        return pd.Series(slopes, name="slope").rename_axis("edition")

    def to_frame(self) -> pd.DataFrame:
        """Return one row per language model × divided edition, and one per edition for lengths.

        Returns
        -------
        DataFrame
            ``lm``, which is ``"length"`` for the lengths in characters; ``edition``; ``bits_per_character``, NaN for
            lengths; and ``difference`` and ``std_error`` of native less translated texts, nats.
        """
        tables = []
        for lm, result in {LENGTH: self.lengths, **self.results}.items():
            found = result.to_frame()[["difference", "std_error"]]
            rates = np.nan if lm == LENGTH else self.bits_per_character[lm]
            tables.append(found.assign(lm=lm, bits_per_character=rates).reset_index())
        columns = ["lm", "edition", "bits_per_character", "difference", "std_error"]
        return pd.concat(tables, ignore_index=True)[columns]

    def _lines(self) -> Iterator[str]:
        best = next(reversed(self.results.values()))
        yield f"{in_words(best.mean)} under {next(reversed(self.results))}, by lengths {_percent(self.lengths.mean)}."

    def tables(self) -> list[Shown]:
        """Return differences and bits per character, one row per language model."""
        frame, values = self.to_frame(), ["bits_per_character", "difference", "std_error"]
        table = frame.pivot(index="lm", columns="edition", values=values)
        columns = [(value, name) for value in values for name in self.bits_per_character.index]
        table = rounded(table.loc[list(dict.fromkeys(frame["lm"])), columns], self.digits)
        slopes = ", ".join(f"{edition} {slope:+.4f}" for edition, slope in self.slope.items())
        notes = (f"Change with the bits per character of models, nats per bit: {slopes}",)
        caption = "Native less translated texts, nats, by language model and for lengths in characters"
        return [Shown(table, "differences", caption, notes, self.printing)]

    plot = Drawn("plot_translationese_by_model", lambda found: found.to_frame())

    def __repr__(self) -> str:
        """Return the numbers of models and editions, and the slopes."""
        slopes = ", ".join(f"{edition} {slope:+.3f}" for edition, slope in self.slope.items())
        return f"TranslationeseByModel: {len(self.results)} models, nats per bit per character: {slopes}"


@warns_caller
def translationese_by_model(
    tables: Sequence[Surprisals],
    original_language: pd.Series | None = None,
    **settings: Any,
) -> TranslationeseByModel:
    """Estimate how much harder native texts are than translated ones under several language models.

    Native texts may be shorter than translations of the same content. A model that predicts characters badly gives
    bits that follow length, so that its estimate is near that of lengths; where better models move away from it, an
    estimate is one of the model as much as of the texts.

    Parameters
    ----------
    tables : sequence of Surprisals
        Surprisals of the same intents in the same editions, one table per language model, with their characters.
    original_language : Series of str, optional
        Code of the original language of each intent; see `langdiff.split_by_origin`.
    **settings
        Settings of `langdiff.translationese`, such as ``min_native=1`` or ``clusters="document"``.

    Returns
    -------
    TranslationeseByModel
        The differences under each model and of lengths, beside the bits per character.

    Raises
    ------
    DataError
        If there are fewer than two tables, they are not of the same intents and editions, or do not know their
        characters, two are of one model, or they cannot be divided or fitted.
    ConfigError
        As `langdiff.translationese`.

    Warns
    -----
    LangdiffWarning
        As `langdiff.translationese`, each kind once for all tables.

    Examples
    --------
    >>> import langdiff as ld
    >>> simulated = ld.simulate(600, 3, seed=1).surprisals
    >>> origin = pd.Series(["e1", "e2", "e3"] * 200, index=simulated.intents)
    >>> length = simulated.bits.round() + 1
    >>> good, bad = (
    ...     ld.Surprisals(bits=simulated.bits * factor + length * (2 - factor), characters=length, lm=lm)
    ...     for factor, lm in ((1, "good"), (0.5, "bad"))
    ... )
    >>> found = translationese_by_model([good, bad], origin, min_native=200)
    >>> list(found.results), len(found.to_frame())
    (['bad', 'good'], 9)
    """
    tables = list(tables)
    _check_alike(tables)
    rates = {table.lm: table.bits_per_character()["bits_per_character"] for table in tables}
    ordered = sorted(tables, key=lambda table: -rates[table.lm].mean())
    first = tables[0]
    if first.characters is None:
        raise DataError(f"{first.lm!r}: the table has no numbers of characters, from which lengths are computed.")
    of_lengths = replace(
        first, bits=first.characters.where(first.bits.notna()), eos_bits=None, provenance=None, lm=LENGTH
    )
    results = {table.lm: translationese(table, original_language, **settings) for table in ordered}
    lengths = translationese(of_lengths, original_language, **settings)
    return TranslationeseByModel(
        results=results,
        lengths=lengths,
        bits_per_character=pd.DataFrame(rates)[list(results)].loc[lengths.cells.index],
    )


def _check_alike(tables: Sequence[Surprisals]) -> None:
    if len(tables) < 2:
        raise DataError(f"at least two tables are needed, one for each language model; got {len(tables)}.")
    names = [table.lm for table in tables]
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice or LENGTH in names:
        raise DataError(f"tables need different names (lm), none of them {LENGTH!r}; got {listing(twice or [LENGTH])}.")
    first = tables[0]
    for table in tables[1:]:
        same = table.intents.equals(first.intents) and table.editions.equals(first.editions)
        if not same or (table.bits.isna() != first.bits.isna()).to_numpy().any():
            raise DataError(
                f"{table.lm!r} and {first.lm!r} do not have the same cells. Score the same intents of the same "
                "editions with each model, or keep those that all tables have."
            )
