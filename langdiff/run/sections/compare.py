"""``[compare]``: the same surprisals under several regression models."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Self

import numpy as np
import pandas as pd
from pydantic import Field, model_validator

import langdiff as ld
from langdiff.regression import DifficultyFit
from langdiff.regression.variants import COMPARED, SCALED, Model, find_variants
from langdiff.regression.variants.variant import Variant
from langdiff.run.analysis import Analysis
from langdiff.run.html import tables_by_model
from langdiff.run.settings import Basis, Section, by_model, section
from langdiff.tables.surprisals import Surprisals

if TYPE_CHECKING:
    from langdiff.run.settings import RunResult


@section(
    "compare",
    title="Models",
    heading="Which regression model?",
    explains="The same surprisals under several models of the regression. Correlation and largest difference (nats) "
    "are those of the difficulties with the first model's. Likelihoods compare within one language model only; those "
    "of model 3 do not compare with others.",
)
class CompareSettings(Section):
    """``[compare]``: other regression models in addition to that of ``[fit]``; see `langdiff.compare`.

    With ``n_folds``, they are also compared by how well they predict cells that were left out, in so many folds
    (`langdiff.cross_validate`). Where ``[fit]`` asks for the restricted likelihood, all are fitted by it if all have
    one.
    """

    models: list[Model] = Field(list(COMPARED), min_length=2)
    n_folds: int = Field(0, ge=0)
    laplace_scale: float | None = Field(None, gt=0)

    @model_validator(mode="after")
    def _models_can_be_compared(self) -> Self:
        if len(set(self.models)) < len(self.models):
            raise ValueError("a model is named twice; name each once")
        if self.n_folds == 1:
            raise ValueError("n_folds = 1 leaves nothing to fit: give at least 2, or 0 for no cross-validation")
        if (SCALED in self.models) != (self.laplace_scale is not None):
            raise ValueError("laplace_scale is for model '3', which needs it")
        return self

    @property
    def variants(self) -> tuple[Variant, ...]:
        """The models."""
        return find_variants(self.models, laplace_scale=self.laplace_scale)

    def make(self, basis: Basis) -> Analysis:
        """Fit all models to the table of each language model."""
        asked = bool(basis.experiment.fit.restricted)
        # those of others do not compare with them
        restricted = asked and all(variant.restrictable for variant in self.variants)
        tables = {lm: self._compared(table, basis, restricted) for lm, table in basis.surprisals.items()}
        notes = ["A higher likelihood does not prove a model better, since every intent has a size of its own."]
        if self.n_folds:
            notes = [
                f"Held out: mean log density per cell that was left out, in nats, in {self.n_folds} folds of the cells."
            ]
        if asked and not restricted:
            notes.append(
                "Fitted here by the unrestricted likelihood, unlike in [fit]: not all of these models have a "
                "restricted one, and the two do not compare."
            )
        if len(basis.surprisals) > 1:
            notes.append(_total_bits(basis.surprisals))
        return Analysis(name=self.about.name, table=by_model(tables), notes=tuple(notes))

    def _compared(self, table: Surprisals, basis: Basis, restricted: bool) -> pd.DataFrame:
        seed = basis.experiment.seed
        fits: dict[str, DifficultyFit] = {
            variant.name: ld.fit(
                table, model=variant, restricted=restricted, clusters=None, dispersion="common", seed=seed
            )
            for variant in self.variants
        }
        rows = ld.compare(fits).drop(columns="model").rename_axis("model")
        if self.n_folds:
            held_out = ld.cross_validate(
                table,
                self.variants,
                n_folds=self.n_folds,
                clusters=basis.experiment.fit.one_clustering,
                seed=seed,
                progress=basis.progress,
            )
            columns = ["log_density", "std_error", "difference", "difference_std_error"]
            rows = rows.join(held_out.to_frame()[columns].add_prefix("held_out_"))
        return rows.reset_index()

    @classmethod
    def tables(cls, run: "RunResult") -> list[dict[str, str]]:
        """Return a table for each language model, whose likelihoods are of cells of its own."""
        return tables_by_model(run.analyses[cls.about.name].table)


def _total_bits(surprisals: Mapping[str, Surprisals]) -> str:
    """Return the bits of the cells that all language models have, as a comparison of these."""
    tables = [table.bits for table in surprisals.values()]
    intents = [name for name in tables[0].index if all(name in table.index for table in tables)]
    editions = [name for name in tables[0].columns if all(name in table.columns for table in tables)]
    bits = np.array([table.loc[intents, editions].to_numpy() for table in tables])
    known = ~np.isnan(bits).any(axis=0)
    totals = ", ".join(f"{lm} {of[known].sum():,.0f}" for lm, of in zip(surprisals, bits, strict=True))
    return (
        "Likelihoods of different language models do not compare; bits do. Total bits of the "
        f"{int(known.sum()):,} cells that all have: {totals}."
    )
