"""Sections of the experiment file about what is found beside difficulties."""

from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from langdiff.regression.check.held_out import Fix, Sizes
from langdiff.regression.variants import COMPARED, SCALED, Model, StanModel, find_variant, find_variants
from langdiff.regression.variants.variant import Variant
from langdiff.typology.association.correlate import N_RESAMPLES, settle
from langdiff.typology.association.correlation import Test


class Section(BaseModel):
    """A section: unknown keys are errors, and nothing changes after reading."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class CompareSettings(Section):
    """``[compare]``: other regression models beside that of ``[fit]``; see `langdiff.compare`.

    With ``k``, they are also compared by how well they predict cells that were left out, in k folds of the cells
    (`langdiff.cross_validate`). Where ``[fit]`` asks for the restricted likelihood, all are fitted by it if all have
    one.
    """

    models: list[Model] = Field(list(COMPARED), min_length=2)
    k: int = Field(0, ge=0)
    laplace_scale: float | None = Field(None, gt=0)

    @model_validator(mode="after")
    def _models_can_be_compared(self) -> Self:
        if len(set(self.models)) < len(self.models):
            raise ValueError("a model is named twice")
        if self.k == 1:
            raise ValueError("k = 1 leaves nothing to fit: give at least 2, or 0 for no cross-validation")
        if (SCALED in self.models) != (self.laplace_scale is not None):
            raise ValueError("laplace_scale is for model '3', which needs it")
        return self

    @property
    def variants(self) -> tuple[Variant, ...]:
        """The models."""
        return find_variants(self.models, laplace_scale=self.laplace_scale)


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
            raise ValueError("a model, or a value of n or fix, is named twice")
        if (SCALED in self.models) != (self.laplace_scale is not None):
            raise ValueError("laplace_scale is for model '3', which needs it")
        return self

    def arguments(self) -> dict[str, Any]:
        """Return the settings as arguments of `langdiff.goodness`."""
        models = find_variants(self.models, laplace_scale=self.laplace_scale)
        return self.model_dump(exclude={"laplace_scale"}) | {"models": models}


class SampleSettings(Section):
    """``[sample]``: the posterior of the difficulties; see `langdiff.sample`. Clusters have no part in it."""

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
        from langdiff.regression import Sampler  # a command that reads experiments needs no sampler

        variant = find_variant(self.model, laplace_scale=self.laplace_scale)
        sampler = Sampler(**self.model_dump(exclude={"model", "laplace_scale", "intents"}))
        return {"model": variant, "intents": self.intents, "sampler": sampler}


class TranslationeseSettings(Section):
    """``[translationese]``: native beside translated texts; see `langdiff.translationese`.

    ``origins`` is the path of a table with the original language of each intent; without it, the corpus must know them.
    Model and clusters are those of ``[fit]``.
    """

    origins: str | None = None
    languages: list[str] | None = Field(None, min_length=1)
    min_native: int | None = Field(None, ge=1)


class PredictorSettings(Section):
    """``[predictors]``: what may make an edition hard, from its training text and other sources.

    Keys are those of `langdiff.predictors`; ``treebanks``, ``lexicons`` and ``wals`` are paths of folders. ``same_as``
    has codes that WALS is to look up under others, such as ``{ zho = "cmn" }``; see `langdiff.typology.read_wals`.
    """

    entropy: Literal["plug-in", "miller-madow", "chao-shen"] = "plug-in"
    compressor: Literal["lzma", "zlib"] = "lzma"
    treebanks: str | None = None
    lexicons: str | None = None
    syncretism: Literal["count", "merge"] = "count"
    wals: str | None = None
    features: list[str] | None = None
    same_as: dict[str, str] | None = None
    lang2vec: list[str] = []

    @model_validator(mode="after")
    def _sources_are_given(self) -> Self:
        for key in ("features", "same_as"):
            if getattr(self, key) is not None and self.wals is None:
                raise ValueError(f"{key} is for WALS: give its folder as wals, too")
        if self.features == []:
            raise ValueError("features names none: name some, or leave wals out")
        if self.syncretism != "count" and self.lexicons is None:
            raise ValueError("syncretism is for lexicons: give their folder as lexicons, too")
        return self


class CorrelateSettings(Section):
    """``[correlate]``: tests of the predictors against the difficulties of all language models together.

    Keys are those of `langdiff.correlate`; ``tree`` is the path of a family tree, along which the test ``"phylo"`` is
    made in addition if ``tests`` are not named. Languages and families are those of the corpus.
    """

    tests: list[Test] | None = None
    only: list[str] = []
    given: list[str] = []
    tree: str | None = None
    averaging: Literal["difficulty", "factor"] = "difficulty"
    unit: Literal["language", "edition"] = "language"
    interval: Literal["fisher", "bootstrap"] = "fisher"
    n_resamples: int = Field(N_RESAMPLES, ge=99)
    alpha: float = Field(0.05, gt=0, lt=1)

    @model_validator(mode="after")
    def _tests_can_be_made(self) -> Self:
        # its error is a ValueError, which Pydantic adds to its own
        settle(self.tests, self.given, self.unit, self.interval, self.n_resamples, self.tree is not None)
        return self


class ParitySettings(Section):
    """``[parity]``: bytes, characters and bits of all editions beside those of one; see `langdiff.measure_parity`."""

    reference: str
    model: Literal["1", "2"] = "2"
    bootstrap: int = Field(1000, ge=0)


# in the order of the report; each is the name of a key of `langdiff.run.Experiment`
SECTIONS: tuple[str, ...] = ("compare", "goodness", "sample", "translationese", "predictors", "correlate", "parity")
PATHS: dict[str, tuple[str, ...]] = {  # keys that are paths, by section
    "translationese": ("origins",),
    "predictors": ("treebanks", "lexicons", "wals"),
    "correlate": ("tree",),
}
