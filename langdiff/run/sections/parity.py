"""``[parity]``: bytes, characters and bits of the same content in every edition."""

from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

import langdiff as ld
from langdiff.errors import DataError, listing
from langdiff.parity.result import MEAN
from langdiff.run.analysis import Analysis, Figure, draw
from langdiff.run.html import tables_of
from langdiff.run.settings import Basis, Section, by_model, section
from langdiff.tables.multitext import Folds

if TYPE_CHECKING:
    from langdiff.run.settings import RunResult

# columns of texts, which are the same for every language model
OF_TEXTS = ("characters", "bytes", "byte_premium", "character_premium", "bytes_per_character", "reference_bytes")


@section(
    "parity",
    title="Parity",
    heading="What does the same content take?",
    explains="Premiums are bytes and characters of all selected texts, as they were read, in units of those of the "
    "reference, which is the mean of all editions unless one is named. Bits are those of the measured intents. "
    "Information parity is above 1 where an edition takes fewer bits than the reference: as published (a mean of "
    "quotients), of totals, and by the regression model, which is recommended. Below the numbers: 95 % intervals.",
)
class ParitySettings(Section):
    """``[parity]``: bytes, characters and bits of the same content; see `langdiff.measure_parity`."""

    reference: str = MEAN
    model: Literal["1", "2"] = "2"

    def needs(self, basis: Basis) -> None:
        """Check that the reference was selected."""
        if self.reference != MEAN and self.reference not in basis.multitext.editions:
            known = listing(basis.multitext.editions, most=20)
            raise DataError(f"reference = {self.reference!r} in [parity] is not a selected edition; there are {known}.")

    def depends(self, basis: Basis) -> list[Any]:
        """Return the tables and the texts."""
        return [*basis.tables(), basis.hashes(basis.texts)]

    def make(self, basis: Basis) -> Analysis:
        """Measure texts and bits of each language model."""
        tables, notes = {}, []
        figures: list[Figure] = []
        for lm, table in basis.surprisals.items():
            scored = self.reference == MEAN or self.reference in table.editions
            if not scored:
                notes.append(f"{lm}: {self.reference} could not be scored, so that there are no bits to compare with.")
            result = ld.measure_parity(
                basis.texts,
                surprisals=table if scored else None,
                clusters=_clusters_of_intents(basis),
                reference=self.reference,
                model=self.model,
            )
            tables[lm] = result.to_frame().rename_axis("edition").reset_index()
            notes.append(f"{lm}: [{result.signature}]")
            if not figures:  # bytes are the same for all language models
                unit = result.compared_with
                caption = f"Bytes of the same content, in units of those of {unit}, with 95 % intervals."
                name, rows = self.about.name, len(result.estimates)
                premium = result.estimates["byte_premium"]
                title = f"{premium.idxmax()} takes {premium.max():.2f} times the bytes of {unit}"
                figures.append(
                    draw(
                        name,
                        caption,
                        name,
                        lambda ax, r=result: r.plot("byte_premium", ax),
                        rows=rows,
                        title=title,
                        kind="dot plot",
                    )
                )
        return Analysis(name=self.about.name, table=by_model(tables), notes=tuple(notes), figures=tuple(figures))

    @classmethod
    def tables(cls, run: "RunResult") -> list[dict[str, str]]:
        """Return a table of texts, and one of bits by language model."""
        table = run.analyses[cls.about.name].table
        of_texts = [column for column in table if str(column).startswith(OF_TEXTS)]
        texts = table[["edition", *of_texts]].drop_duplicates("edition")
        bits = table.drop(columns=[*of_texts, "language"], errors="ignore")
        return [*tables_of(texts, "Texts"), *tables_of(bits, "Bits")]


def _clusters_of_intents(basis: Basis) -> str | pd.Series | None:
    """Return the clusters of the fit, also for texts, whose folds are not recorded."""
    clusters = basis.experiment.fit.one_clustering
    return basis.parts.fold if clusters == "fold" and isinstance(basis.parts, Folds) else clusters
