"""Native against translated texts: the first experiment of section 6 of Mielke et al. (2019)."""

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd
from scipy.stats import norm

from langdiff.base.result import Drawn, Result
from langdiff.corpora.edition_info import EditionInfo
from langdiff.errors import ConfigError, LangdiffWarning, listing
from langdiff.experiments.cautions import warns_caller
from langdiff.experiments.native import (
    NATIVE,
    TRANSLATED,
    USUAL_MIN_NATIVE,
    Origins,
    choose_editions,
    divide_by_origin,
    find_origins,
)
from langdiff.regression import DifficultyFit, fit
from langdiff.tables.contrasts import Contrast
from langdiff.tables.surprisals import Surprisals

if TYPE_CHECKING:
    pass

NINETY_FIVE = float(norm.ppf(0.975))
DETECTABLE = NINETY_FIVE + float(norm.ppf(0.8))  # standard errors: found at 5 % in four of five repetitions


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class TranslationeseResult(Result):
    """How much harder native texts are than translated ones, by edition.

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
        state = "converged" if self.fit.converged else f"NOT CONVERGED ({self.fit.message})"
        unknown = f"; {self.unknown_intents:,} intents of unknown origin" if self.unknown_intents else ""
        yield f"Native - translated, nats: model {self.fit.model}, {state}; {self.fit.cells:,} cells{unknown}"

    def _notes(self) -> Iterator[str]:
        mean = self.mean
        yield (
            f"Mean over {len(self.cells)} edition(s) {mean.estimate:+.4f}, standard error {mean.std_error:.4f}"
            f"{self._spread()}"
        )
        if len(self.whole):
            yield f"Left whole, which biases the differences (native intents): {counted(self.whole)}"
        yield f"[experiment:translationese|{self.fit.signature}]"

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
    TranslationeseResult: native - translated -0.0047 nats on average over 3 edition(s), standard deviation 0.0068
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
        remedy = "Lower min_native to 1" if languages is None else "Name these languages, too"
        warnings.warn(
            f"{len(whole)} edition(s) with native intents are left whole, as {reason}: {counted(whole)}. This is a "
            "bias: if their native texts differ from their translations, part of that difference is attributed to the "
            f"divided editions. {remedy}, and report the languages of interest.",
            LangdiffWarning,
            stacklevel=2,
        )
    cells = pd.DataFrame(
        {
            "language": origins.language[chosen],
            "native": origins.native[chosen].sum(),
            "translated": origins.translated[chosen].sum(),
        }
    )
    return TranslationeseResult(
        fit=fit(divide_by_origin(surprisals, origins, chosen), **fit_settings),
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


def counted(numbers: pd.Series) -> str:
    """Return editions with their numbers, for messages; the first ten."""
    shown = ", ".join(f"'{edition}' ({number:,})" for edition, number in numbers.head(10).items())
    return shown + (", …" if len(numbers) > 10 else "")
