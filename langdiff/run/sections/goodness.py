"""``[goodness]``: how well regression models explain intents that were held out."""

from typing import TYPE_CHECKING, Any, Self

from pydantic import Field, model_validator

import langdiff as ld
from langdiff.regression.check.held_out import Fix, Sizes
from langdiff.regression.variants import COMPARED, SCALED, Model, find_variants
from langdiff.run.analysis import Analysis, Figure, draw
from langdiff.run.html import tables_by_model
from langdiff.run.settings import Basis, Section, by_model, section

if TYPE_CHECKING:
    from langdiff.run.settings import RunResult


@section(
    "goodness",
    title="Goodness of fit",
    heading="Which model explains new intents?",
    explains="Intents are dealt into subsets; in each, models are fitted to most intents and scored on the others: "
    "log-likelihood of log bits, nats per held-out cell, higher is better, and comparable within one language model "
    "only. n: sizes of held-out intents, most likely (map) or integrated out (posterior); fix: what stays as fitted.",
)
class GoodnessSettings(Section):
    """``[goodness]``: how well regression models explain intents that were held out; see `langdiff.goodness`.

    Keys are those of that function. ``n`` and ``fix`` are lists, of which every combination is computed.
    """

    models: list[Model] = Field(list(COMPARED), min_length=2)
    n_subsets: int = Field(5, ge=1)
    held_out: float = Field(0.2, gt=0, lt=1)
    n: list[Sizes] = Field(["map"], min_length=1)
    fix: list[Fix] = Field(["difficulty+dispersion"], min_length=1)
    restricted: bool = True
    laplace_scale: float | None = Field(None, gt=0)

    @model_validator(mode="after")
    def _models_can_be_compared(self) -> Self:
        if any(len(set(named)) < len(named) for named in (self.models, self.n, self.fix)):
            raise ValueError("a model, or a value of n or fix, is named twice; name each once")
        if (SCALED in self.models) != (self.laplace_scale is not None):
            raise ValueError("laplace_scale is for model '3', which needs it")
        return self

    def arguments(self) -> dict[str, Any]:
        """Return the settings as arguments of `langdiff.goodness`."""
        models = find_variants(self.models, laplace_scale=self.laplace_scale)
        return self.model_dump(exclude={"laplace_scale"}) | {"models": models}

    def make(self, basis: Basis) -> Analysis:
        """Score held-out intents of each language model."""
        tables, notes = {}, []
        figures: list[Figure] = []
        for lm, table in basis.surprisals.items():
            result = ld.goodness(table, **self.arguments(), seed=basis.experiment.seed, progress=basis.progress)
            tables[lm] = result.to_frame()
            notes.append(f"{lm}: {result!r} [{result.signature}]")
            for n, fix in result.settings:
                caption = f"Log-likelihood of held-out intents for {lm}, by subset; sizes {n}, {fix} fixed."
                name = f"{self.about.name}-{lm}-{n}-{fix.replace('+', '-')}"
                figures.append(
                    draw(name, caption, self.about.name, lambda ax, r=result, n=n, fix=fix: r.plot(ax, n=n, fix=fix))
                )
        return Analysis(name=self.about.name, table=by_model(tables), notes=tuple(notes), figures=tuple(figures))

    @classmethod
    def tables(cls, run: "RunResult") -> list[dict[str, str]]:
        """Return a table for each language model, whose likelihoods are of cells of its own."""
        return tables_by_model(run.analyses[cls.about.name].table)
