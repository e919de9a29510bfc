"""``[sample]``: the posterior of the difficulties."""

from typing import Any, Literal, Self

import numpy as np
from pydantic import Field, model_validator

import langdiff as ld
from langdiff.regression import Sampler, posterior_table
from langdiff.regression.variants import SCALED, StanModel, find_variant
from langdiff.run.analysis import Analysis
from langdiff.run.settings import Basis, Section, by_model, section


@section(
    "sample",
    title="Posterior",
    heading="What does the posterior say?",
    explains="Difficulties in nats, drawn by Stan: posterior mean, standard deviation and central 95 % interval, "
    "beside the estimate of the fit. R-hat should be at most 1.01, and effective sample sizes (ess) at least 100 per "
    "chain.",
)
class SampleSettings(Section):
    """``[sample]``: the posterior of the difficulties, without clusters; see `langdiff.sample`."""

    model: StanModel = "2"
    laplace_scale: float | None = Field(None, gt=0)
    intents: Literal["fixed", "random"] = "fixed"
    engine: Literal["auto", "cmdstan", "pystan"] = "auto"
    chains: int = Field(4, ge=1)
    iter_warmup: int = Field(200, ge=1)
    iter_sampling: int = Field(1000, ge=4)
    target_accept: float = Field(0.8, gt=0, lt=1)

    @model_validator(mode="after")
    def _model_3_has_a_scale(self) -> Self:
        if (self.model == SCALED) != (self.laplace_scale is not None):
            raise ValueError("laplace_scale is for model '3', which needs it")
        return self

    def arguments(self) -> dict[str, Any]:
        """Return the settings as arguments of `langdiff.sample`."""
        variant = find_variant(self.model, laplace_scale=self.laplace_scale)
        sampler = Sampler(**self.model_dump(exclude={"model", "laplace_scale", "intents"}))
        return {"model": variant, "intents": self.intents, "sampler": sampler}

    def make(self, basis: Basis) -> Analysis:
        """Draw from the posterior of each language model's difficulties."""
        tables, notes = {}, []
        for lm, table in basis.surprisals.items():
            draws = ld.sample(table, **self.arguments(), seed=basis.experiment.seed, progress=basis.progress)
            rows = posterior_table(draws)
            estimate = basis.fits[lm].to_frame()
            rows.insert(0, "estimate", estimate["difficulty"] if estimate.index.name == "edition" else np.nan)
            tables[lm] = rows.reset_index()
            notes.append(f"{lm}: {ld.diagnose(draws).summary()} [{draws['posterior'].attrs['signature']}]")
        return Analysis(name=self.about.name, table=by_model(tables), notes=tuple(notes))
