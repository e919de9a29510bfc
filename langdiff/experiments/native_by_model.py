"""Native against translated texts under several language models, beside the lengths of the texts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from langdiff.base.result import Drawn, Result, rounded
from langdiff.errors import DataError, listing
from langdiff.experiments.cautions import warns_caller
from langdiff.experiments.native_and_translated import TranslationeseResult, translationese
from langdiff.tables.surprisals import Surprisals

if TYPE_CHECKING:
    pass

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
        yield "Native - translated, nats, by language model and for lengths in characters"

    def _table(self) -> pd.DataFrame:
        """Return differences and bits per character, one row per language model."""
        frame, values = self.to_frame(), ["bits_per_character", "difference", "std_error"]
        table = frame.pivot(index="lm", columns="edition", values=values)
        columns = [(value, name) for value in values for name in self.bits_per_character.index]
        return rounded(table.loc[list(dict.fromkeys(frame["lm"])), columns], self.digits)

    def _notes(self) -> Iterator[str]:
        slopes = ", ".join(f"{edition} {slope:+.4f}" for edition, slope in self.slope.items())
        yield f"Change with the bits per character of models, nats per bit: {slopes}"

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
        raise DataError(f"{first.lm!r}: the table has no characters, so that nothing is known of lengths.")
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
        raise DataError(f"at least two tables are needed, one per language model; got {len(tables)}.")
    names = [table.lm for table in tables]
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice or LENGTH in names:
        raise DataError(f"tables need names of their own, and not {LENGTH!r}: {listing(twice or [LENGTH])}.")
    first = tables[0]
    for table in tables[1:]:
        same = table.intents.equals(first.intents) and table.editions.equals(first.editions)
        if not same or (table.bits.isna() != first.bits.isna()).to_numpy().any():
            raise DataError(
                f"{table.lm!r} and {first.lm!r} are not about the same cells. Score the same intents of the same "
                "editions with each model, or keep those that all tables have."
            )
