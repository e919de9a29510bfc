"""``[translationese]``: the difficulty of native and of translated texts of the same edition."""

from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

import langdiff as ld
from langdiff.errors import DataError
from langdiff.experiments import read_origins
from langdiff.run.analysis import Analysis, Figure, draw
from langdiff.run.settings import Basis, Section, by_model, section

if TYPE_CHECKING:
    from langdiff.run.settings import Core


@section(
    "translationese",
    title="Translationese",
    heading="Are native texts harder than translated ones?",
    explains="Difficulty of native minus that of translated texts of the same edition, in nats; percent is that in "
    "bits. Detectable: the difference in nats that four of five such samples would show to be significant. A language "
    "model trained mostly on translated text may find native text harder for that reason only.",
)
class TranslationeseSettings(Section):
    """``[translationese]``: native and translated texts compared; see `langdiff.translationese`.

    ``origins`` is the path of a table with the original language of each intent; without it, the corpus must know them.
    Model and clusters are those of ``[fit]``.
    """

    paths: ClassVar[tuple[str, ...]] = ("origins",)

    origins: str | None = None
    languages: list[str] | None = Field(None, min_length=1)
    min_native: int | None = Field(None, ge=1)

    def agrees(self, experiment: "Core") -> None:
        """Check that the comparison can use the regression of ``[fit]``."""
        if experiment.fit.model == "3":
            raise ValueError("[translationese] needs a model of [fit] other than '3'")
        if experiment.fit.formula is not None:
            raise ValueError("[translationese] divides editions, which a formula of [fit] does not know: leave one out")

    def needs(self, basis: Basis) -> None:
        """Check that the original language of the texts is known."""
        if self.origins is None and "original_language" not in basis.multitext.intent_info:
            raise DataError(
                "[translationese] needs the original language of each intent, which this corpus does not tell: give a "
                "table as origins, or original_language in [corpus] for the format 'moses'."
            )

    def make(self, basis: Basis) -> Analysis:
        """Compare native and translated texts for each language model."""
        origins = None if self.origins is None else read_origins(self.origins)
        tables, notes = {}, []
        figures: list[Figure] = []
        for lm, table in basis.surprisals.items():
            result = ld.translationese(
                table,
                origins,
                languages=self.languages,
                min_native=self.min_native,
                edition_info=basis.multitext.edition_info,
                **basis.experiment.fit.arguments(without=("formula",)),
                seed=basis.experiment.seed,
            )
            tables[lm] = result.to_frame().reset_index()
            notes.append(f"{lm}: {result!r} [{result.fit.signature}]")
            caption = f"Native minus translated texts for {lm}, in nats, with 95 % intervals."
            name, rows = f"{self.about.name}-{lm}", 4 + len(result.cells)
            figures.append(
                draw(name, caption, self.about.name, lambda ax, r=result: r.plot(ax), rows=rows, kind="dot plot")
            )
        return Analysis(name=self.about.name, table=by_model(tables), notes=tuple(notes), figures=tuple(figures))
