"""All settings of a run."""

from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from langdiff.base.types import FormatName, OnError, Ranges, Tokenization
from langdiff.corpora.formats.registry import OPTIONS, check_format_options
from langdiff.errors import ConfigError
from langdiff.lm.language_model import ScoredLM, find_scored_lm
from langdiff.lm.scoring import split_name
from langdiff.regression.formulas import checked_formula
from langdiff.regression.kernel.estimate import USUAL_ITERATIONS, Optimizer
from langdiff.regression.options import USUAL_CORRECTION, Options, Settings, check_options
from langdiff.regression.variants import Model, find_variant
from langdiff.regression.variants.variant import Variant
from langdiff.run.own_recipes import make_recipe
from langdiff.run.sections import (
    CompareSettings,
    CorrelateSettings,
    GoodnessSettings,
    ParitySettings,
    PredictorSettings,
    SampleSettings,
    Section,
    TranslationeseSettings,
)


class FileCorpus(Section):
    """``[corpus]`` read from files; relative paths start at the experiment file's folder.

    ``format``, ``edition_info``, ``edition_columns``, ``errors``, ``on_error`` and the options of formats (``ranges``,
    ``vref``, ``original_language``) are those of `langdiff.read_multitext`. Only the intents from ``first_intent`` to
    ``last_intent`` are kept: ``"40001001"`` to ``"66022021"`` is the New Testament of a Bible.
    """

    format: FormatName
    path: str | list[str]
    edition_info: str | None = None
    edition_columns: dict[str, str] | None = None
    editions: list[str] | None = None
    errors: Literal["strict", "replace"] = "strict"
    on_error: OnError = "raise"
    ranges: Ranges | None = None
    vref: str | None = None
    original_language: str | None = None
    first_intent: str | None = None
    last_intent: str | None = None
    tokenization: Tokenization = "reversible"

    @model_validator(mode="after")
    def _format_has_the_options(self) -> Self:
        check_format_options(self.format, [name for name in OPTIONS if getattr(self, name) is not None])
        return self


class SyntheticCorpus(Section):
    """``[corpus]`` synthesized by a grammar, so that the true difficulties are known."""

    format: Literal["synthetic"]
    n_intents: int = Field(3000, ge=60)
    n_languages: int = Field(8, ge=2)


class SelectionSettings(Section):
    """``[selection]``: which editions and intents to keep; see `langdiff.select`."""

    min_intents: int = Field(1, ge=1)
    objective: Literal["cells", "languages"] = "cells"
    require: list[str] = Field([])
    n_editions: int | None = Field(None, ge=2)
    max_editions: int | None = Field(None, ge=2)
    max_editions_per_language: int | None = Field(None, ge=1)
    method: Literal["search", "direct"] = "search"
    solver: str | None = None
    time_limit: float | None = Field(None, gt=0)


class SplitSettings(Section):
    """``[split]``: see `langdiff.split`; with ``folds``, all intents are measured, see `langdiff.split_into_folds`.

    ``groups`` is what intents that stay together have in common: ``"document"``, ``"book"``, ``"chapter"`` or another
    column of the corpus's `intent_info`.
    """

    groups: str | None = None
    folds: int | None = Field(None, ge=2)
    block: int = Field(30, ge=3)
    dev: int = Field(5, ge=1)
    test: int = Field(5, ge=1)
    dev_share: float = Field(0.1, gt=0, lt=1)
    incomplete: Literal["error", "drop", "test"] = "error"

    @model_validator(mode="after")
    def _something_is_left_to_learn_from(self) -> Self:
        if self.dev + self.test >= self.block:
            raise ValueError(f"blocks of {self.block} leave nothing for training beside {self.dev} + {self.test}")
        return self

    @model_validator(mode="after")
    def _folds_have_no_blocks(self) -> Self:
        usual = type(self).model_fields
        changed = [name for name in ("block", "dev", "test") if getattr(self, name) != usual[name].default]
        if self.folds is not None and changed:
            raise ValueError(f"with folds, every intent is tested; leave {', '.join(changed)} out")
        if self.folds is None and self.dev_share != usual["dev_share"].default:
            raise ValueError("dev_share is a share of what models of folds learn from: give folds, or leave it out")
        return self


class LmSettings(Section):
    """``[lm]``: language models, how they score, on which device and with how many workers they are trained.

    A name in ``models`` may end in ``-unpriced`` or ``-carried``; ``scoring`` (``"unpriced"``, ``"carried"``)
    holds for all of them. ``max_replaced`` is the fraction of an edition's test characters that may be
    replaced as too rare in training; with more, the edition is left out and named. ``baselines`` says whether to
    measure n-grams and compressors, too, and to warn where a network needs more bits than they; see
    `langdiff.lm.measure_baselines`. By default they are measured if a network can be compared with them.

    ``recipes`` are recipes of one's own, by name: each a table with ``base``, a recipe of ours, and what differs
    from it (attributes of `langdiff.lm.Recipe` or `langdiff.lm.KneserNeyRecipe`).

    With ``hf``, the folder of a causal language model of the Transformers library, nothing is trained: that model
    scores all selected intents (`langdiff.HuggingFaceLM`), on ``device``. No other key is then given.
    """

    models: list[str] = Field(["char-residual", "bpe-residual"])
    recipes: dict[str, dict[str, Any]] = Field({})
    hf: str | None = None
    scoring: str | None = None
    max_replaced: float = Field(0.05, ge=0, le=1)
    device: str = "auto"
    workers: int = Field(1, ge=1)
    baselines: bool | None = None

    @model_validator(mode="before")
    @classmethod
    def _a_given_model_trains_nothing(cls, keys: Any) -> Any:
        without = {"models": [], "baselines": False}
        return without | keys if isinstance(keys, dict) and keys.get("hf") is not None else keys

    @model_validator(mode="after")
    def _models_are_known(self) -> Self:
        for name, table in self.recipes.items():
            make_recipe(name, table)  # its error is a ValueError, which Pydantic adds to its own
        for model in self.models:
            self.find(model)
        if len(set(self.names)) < len(self.names):
            raise ValueError("a language model is named twice")
        return self

    @model_validator(mode="after")
    def _nothing_is_said_of_training(self) -> Self:
        if self.hf is None:
            if not self.models:
                raise ValueError("models is empty: name a language model, or give the folder of one as hf")
            return self
        if not Path(self.hf).name:
            raise ValueError(f"hf is the folder of a language model, not {self.hf!r}")
        usual: dict[str, Any] = {
            "models": [],
            "recipes": {},
            "scoring": None,
            "max_replaced": 0.05,
            "workers": 1,
            "baselines": False,
        }
        changed = [key for key, value in usual.items() if getattr(self, key) != value]
        if changed:
            raise ValueError(f"the model of hf is not trained: leave {', '.join(changed)} out, or hf")
        return self

    @property
    def names(self) -> list[str]:
        """Names of the models in tables, in order."""
        if self.hf is not None:
            return [Path(self.hf).name]
        return [self.find(model, self.scoring).name for model in self.models]

    @property
    def measures_baselines(self) -> bool:
        """Whether baselines are measured: as the file says, by default if a model is compared with them."""
        return any(map(self.has_baselines, self.names)) if self.baselines is None else self.baselines

    def has_baselines(self, name: str) -> bool:
        """Return whether the model of this name is compared with baselines: networks that price replaced characters."""
        recipe, scoring = self.find(name)
        return not recipe.is_baseline and scoring.price_replaced

    def find(self, lm: str, scoring: str | None = None) -> ScoredLM:
        """Return the recipe and the way of scoring that a name stands for, which may be one of `recipes`."""
        base, ending = split_name(lm)
        if base not in self.recipes:
            return find_scored_lm(lm, scoring)
        if ending is not None and scoring is not None:
            raise ConfigError(f"{lm!r} says how to score, and so does scoring: leave out one of them.")
        return find_scored_lm(make_recipe(base, self.recipes[base]), scoring if ending is None else ending)


def _one_or_two(clusters: Any) -> Any:
    names = clusters if isinstance(clusters, list | tuple) else [clusters]
    if clusters is not None and not (len(names) in (1, 2) and all(isinstance(name, str) for name in names)):
        raise ValueError("clusters are a column about intents, or a list of two")
    return names[0] if len(names) == 1 else tuple(names)


class FitSettings(Section):
    """``[fit]``: the regression model, and where its standard errors come from; see `langdiff.fit`.

    ``clusters`` is what intents that share errors have in common: ``"document"``, ``"book"``, ``"chapter"`` or another
    column of the corpus's `intent_info`, or two of them, which cross; ``strata`` is another such column, with groups of
    clusters that stay as they are. ``formula`` is over the columns of the corpus's `edition_info`; it is not Python,
    and nothing in it is executed. Editions that share a difficulty are a formula, too: ``formula = "language"``.
    """

    model: Model = "2"
    method: Literal["auto", "newton", "lbfgs"] = "auto"
    formula: str | None = None
    restricted: bool = False
    laplace_scale: float | None = Field(None, gt=0)
    bootstrap: int = Field(0, ge=0)
    errors: Literal["information", "sandwich", "bootstrap", "jackknife"] | None = None
    clusters: Annotated[str | tuple[str, str] | None, BeforeValidator(_one_or_two)] = None
    strata: str | None = None
    correction: Literal["CR0", "CR1", "CR2", "CR3"] | None = None
    intents: Literal["fixed", "random"] = "fixed"
    sizes: Literal["normal", "free"] = "normal"
    size_formula: str | None = None
    max_iterations: int = Field(USUAL_ITERATIONS, ge=1)
    dispersion: Literal["common", "edition"] | str = "common"

    @property
    def variant(self) -> Variant:
        """The regression model."""
        return find_variant(self.model, laplace_scale=self.laplace_scale)

    def arguments(self) -> dict[str, Any]:
        """Return the settings as arguments of `langdiff.fit`."""
        return self.model_dump(exclude={"laplace_scale"}) | {"model": self.variant}

    @property
    def one_clustering(self) -> str | None:
        """The clusters, where there is one kind of them, for what cannot take two."""
        return self.clusters if isinstance(self.clusters, str) else None

    @field_validator("formula", "size_formula")
    @classmethod
    def _is_a_formula(cls, formula: str | None) -> str | None:
        if formula is not None:
            checked_formula(formula, None)  # before anything is trained; its columns are known later
        return formula

    @model_validator(mode="after")
    def _settings_agree(self) -> Self:
        check_options(
            Options(
                settings=Settings(self.variant, self.restricted, Optimizer(self.method, self.max_iterations)),
                intents=self.intents,
                sizes=self.sizes,
                size_formula=self.size_formula,
                dispersion=self.dispersion,
                errors=self.errors,
                correction=self.correction or USUAL_CORRECTION,
                bootstrap=self.bootstrap,
                seed=0,
            ),
            clustered=self.clusters is not None,
            stratified=self.strata is not None,
            corrected=self.correction is not None,
        )
        return self


class CurveSettings(Section):
    """``[curve]``: difficulties at several sizes of the training data; see `langdiff.difficulty_curve`.

    ``sizes`` are numbers of training intents. The regression model and its clusters are those of ``[fit]``, the way
    of scoring, the device and the workers those of ``[lm]``; any number of characters may be replaced, as small sizes
    know few.
    """

    sizes: list[int] = Field(min_length=2)
    lm: str = "kneser-ney-6"
    match: Literal["intents", "bytes", "characters"] = "intents"
    n_seeds: int = Field(1, ge=1)

    @field_validator("sizes")
    @classmethod
    def _sizes_rise(cls, sizes: list[int]) -> list[int]:
        if sizes[0] < 2 or any(b <= a for a, b in pairwise(sizes)):
            raise ValueError("sizes must rise, the first at least 2")
        return sizes


class Experiment(Section):
    """All settings of a run.

    Examples
    --------
    >>> Experiment.model_validate({"name": "tiny", "corpus": {"format": "synthetic"}}).lm.models
    ['char-residual', 'bpe-residual']
    """

    name: str = Field(min_length=1, pattern=r"^[^/\\.][^/\\]*$")
    seed: int = Field(0, ge=0)
    corpus: Annotated[FileCorpus | SyntheticCorpus, Field(discriminator="format")]
    selection: SelectionSettings | None = None
    split: SplitSettings = SplitSettings()
    lm: LmSettings = LmSettings()
    fit: FitSettings = FitSettings()
    curve: CurveSettings | None = None
    compare: CompareSettings | None = None
    goodness: GoodnessSettings | None = None
    sample: SampleSettings | None = None
    translationese: TranslationeseSettings | None = None
    predictors: PredictorSettings | None = None
    correlate: CorrelateSettings | None = None
    parity: ParitySettings | None = None

    @model_validator(mode="before")
    @classmethod
    def _a_given_model_reads_texts_as_they_are(cls, keys: Any) -> Any:
        match keys:
            case {"lm": {"hf": str()}, "corpus": {"path": _}}:
                return keys | {"corpus": {"tokenization": "as-is"} | keys["corpus"]}
        return keys

    @model_validator(mode="after")
    def _a_given_model_has_no_training_data(self) -> Self:
        if self.lm.hf is None:
            return self
        if self.split != SplitSettings():
            raise ValueError("the model of hf is not trained and scores all intents: leave [split] out")
        if self.curve is not None:
            raise ValueError("a curve needs language models that are trained: leave [curve] out, or hf")
        if isinstance(self.corpus, FileCorpus) and self.corpus.tokenization != "as-is":
            raise ValueError("the model of hf has a tokenizer of its own: leave tokenization out of [corpus]")
        return self

    @model_validator(mode="after")
    def _a_curve_can_be_fitted(self) -> Self:
        if self.curve is not None and isinstance(self.fit.clusters, tuple):
            raise ValueError("a curve takes one kind of clusters: name one in [fit], or leave [curve] out")
        if self.curve is not None and self.fit.model == "3":
            raise ValueError("curves are fitted with model '1', '2', '2L' or '2C', not '3'")
        if self.curve is not None:
            try:
                self.lm.find(self.curve.lm, self.lm.scoring)
            except ConfigError as error:
                raise ValueError(f"'curve.lm': {error}") from error
        return self

    @model_validator(mode="after")
    def _difficulties_are_normal(self) -> Self:
        if self.translationese is not None and self.fit.model == "3":
            raise ValueError("[translationese] needs a model of [fit] other than '3'")
        if self.translationese is not None and self.fit.formula is not None:
            raise ValueError("[translationese] divides editions, which a formula of [fit] does not know: leave one out")
        return self


def demo_experiment() -> Experiment:
    """Return the experiment of ``langdiff demo``, which takes minutes on two cores and whose truth is known."""
    return Experiment(
        name="demo",
        corpus=SyntheticCorpus(format="synthetic", n_intents=3000, n_languages=8),
        lm=LmSettings(models=["char-tiny", "bpe-tiny"], workers=2),
    )
