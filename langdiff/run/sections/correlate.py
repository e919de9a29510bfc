"""``[correlate]``: tests of the predictors against the difficulties."""

from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

import langdiff as ld
from langdiff.errors import DataError
from langdiff.run.analysis import Analysis, Figure, draw
from langdiff.run.sections.predictors import PredictorSettings
from langdiff.run.settings import Basis, Section, section
from langdiff.typology.association.comparison import MIN_LEVEL
from langdiff.typology.association.correlate import N_RESAMPLES, settle
from langdiff.typology.association.correlation import Test


@section(
    "correlate",
    uses=(PredictorSettings,),
    title="Correlations",
    heading="What makes a language hard?",
    explains='Predictors against difficulties, one observation per language, unless `average` is "edition". P '
    "adjusted allows for the number of tests; a p that does not may be small by chance.",
)
class CorrelateSettings(Section):
    """``[correlate]``: tests of the predictors against the difficulties of all language models together.

    Keys are those of `langdiff.correlate`; ``tree`` is the path of a family tree, along which the test ``"phylo+area"``
    is made in addition if ``tests`` are not named. Languages and families are those of the
    corpus. With ``average = "edition"``, every edition is an observation.
    """

    paths: ClassVar[tuple[str, ...]] = ("tree",)

    tests: list[Test] | None = None
    only: list[str] = Field([])
    given: list[str] = Field([])
    tree: str | None = None
    averaging: Literal["difficulty", "factor"] = "difficulty"
    average: Literal["language", "edition"] = "language"
    interval: Literal["fisher", "bootstrap"] = "fisher"
    n_resamples: int = N_RESAMPLES
    min_level: int = Field(MIN_LEVEL, ge=1)
    alpha: float = Field(0.05, gt=0, lt=1)

    @model_validator(mode="after")
    def _tests_can_be_made(self) -> Self:
        # its error is a ValueError, which Pydantic adds to its own
        settle(self.tests, self.given, self.average, self.interval, self.n_resamples, self.tree is not None)
        return self

    def depends(self, basis: Basis) -> list[Any]:
        """Return the difficulties, the predictors and the languages."""
        fits = [[lm, fit.signature] for lm, fit in basis.fits.items()]
        difficulties = [fit.difficulty for fit in basis.fits.values()]
        return [fits, *difficulties, basis.found[PredictorSettings.about.name].table, basis.info]

    def make(self, basis: Basis) -> Analysis:
        """Test the predictors."""
        predictors = basis.found[PredictorSettings.about.name].table
        if predictors.empty:
            raise DataError("there are no predictors to test; add a table [predictors] or a file of predictors.")
        result = ld.correlate(
            dict(basis.fits),
            predictors.set_index("edition"),
            edition_info=basis.multitext.edition_info,
            corpus=basis.experiment.name,
            **self.model_dump(exclude={"average", "alpha"}, exclude_none=True),
            average="language" if self.average == "language" else None,
            seed=basis.experiment.seed,
        )
        if self.alpha != result.alpha:
            result = ld.adjust([result], alpha=self.alpha)
        table = result.to_frame().sort_values("p", kind="stable").drop(columns="corpus")
        table = table[[name for name in table if name not in ("given", "reason") or table[name].str.len().any()]]
        head = (
            f"{result.family_size} tests have a p; Benjamini and Hochberg's procedure within each kind of test, at a "
            f"false discovery rate of {self.alpha:g}, finds {int(table['significant'].sum())} significant."
        )
        figures: tuple[Figure, ...] = ()
        if table["p"].notna().any():
            strongest = result.strongest()
            caption = f"Difficulty against {strongest}, the number with the smallest p."
            title = f"{strongest} has the smallest p, {table['p_adjusted'].min():.2g} when adjusted for all tests"
            part = self.about.name
            figures = (
                draw(part, caption, part, lambda ax: result.plot(strongest, ax), title=title, kind="scatter plot"),
            )
        notes = (head, f"[{result.signature}]")
        return Analysis(name=self.about.name, table=table.reset_index(drop=True), notes=notes, figures=figures)
