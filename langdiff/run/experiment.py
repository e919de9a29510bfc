"""Settings of an experiment, as its file gives them."""

from collections.abc import Callable, Collection
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, get_args

from pydantic import BeforeValidator, Discriminator, Field, Tag, create_model, field_validator, model_validator

import langdiff.run.sections  # noqa: F401 enters them into the registry
from langdiff.base.plugins import plugins
from langdiff.base.types import OnError, OwnKind, Ranges, Tokenization, WhenOutOfStep
from langdiff.corpora.formats.registry import OPTIONS, check_format_options, known_formats
from langdiff.errors import ConfigError, option
from langdiff.regression.fitting.errors import Bootstrap, Correction, Sandwich
from langdiff.regression.fitting.fit import make_settings
from langdiff.regression.fitting.integrated import Random, Sizes
from langdiff.regression.formulas import checked_formula
from langdiff.regression.kernel.optimizers import USUAL_ITERATIONS, Method, Optimizer
from langdiff.regression.records import ErrorsKind
from langdiff.regression.variants import check_name, find_variant
from langdiff.regression.variants.variant import Variant
from langdiff.run.lm_settings import LmSettings
from langdiff.run.settings import SECTIONS, Resamples, Section, Settings


def typed_clusters(clusters: Any) -> Any:
    """Return clusters as Python has them from the text of an option: ``"none"`` is None, and a comma parts two columns.

    Examples
    --------
    >>> typed_clusters("none"), typed_clusters("document,translator"), typed_clusters("auto")
    (None, ['document', 'translator'], 'auto')
    """
    if not isinstance(clusters, str):
        return clusters
    return None if clusters == "none" else clusters.split(",") if "," in clusters else clusters


def flat_arguments(
    *,
    model: str = "2",
    laplace_scale: float | None = None,
    method: Method = "auto",
    max_iterations: int = USUAL_ITERATIONS,
    intents: str = "fixed",
    sizes: Sizes = "normal",
    size_formula: str | None = None,
    errors: ErrorsKind | None = None,
    strata: str | None = None,
    correction: Correction | None = None,
    n_resamples: int = 0,
    **others: Any,
) -> dict[str, Any]:
    """Return the arguments of `langdiff.fit` that correspond to flat options.

    Examples
    --------
    >>> flat_arguments(model="1", correction="CR3", seed=1)["errors"].correction
    'CR3'
    """
    arguments = others | {
        "model": find_variant(model, laplace_scale=laplace_scale),
        "optimizer": Optimizer(method, max_iterations),
        "intents": intents,
        "errors": errors,
    }
    if "clusters" in others:
        arguments["clusters"] = typed_clusters(others["clusters"])
    if intents == "random":
        arguments["intents"] = Random(sizes, size_formula)
    elif sizes != "normal" or size_formula is not None:
        raise ConfigError(
            f"{option('sizes')} and {option('size_formula')} describe random intents: add "
            f"{option('intents', 'random')}."
        )
    if n_resamples and errors not in (None, "bootstrap"):
        raise ConfigError(
            f"{option('n_resamples', n_resamples)} contradicts {option('errors', str(errors))}; leave one of them out."
        )
    if n_resamples:
        arguments["errors"] = Bootstrap(n_resamples)
    given = {"strata": strata, "correction": correction}
    for name in (name for name, value in given.items() if value is not None):
        other = "bootstrap" if n_resamples else errors
        if other not in (None, "sandwich"):
            raise ConfigError(
                f"{option(name)} is for {option('errors', 'sandwich')}, not {other!r}: leave one of them out."
            )
        arguments["errors"] = Sandwich(correction, strata)
    return arguments


class FileCorpus(Settings):
    """``[corpus]`` read from files; relative paths start at the experiment file's folder.

    ``format``, ``edition_info``, ``edition_columns``, ``decode_errors``, ``on_error``, ``trust`` and the options
    of formats (``ranges``, ``markers``, ``vref``, ``original_language``, ``columns``, ``split``) are those of
    `langdiff.read_multitext`. Only the intents from ``first_intent`` to ``last_intent`` are kept: ``"40001001"`` to
    ``"66022021"`` is the New Testament of a Bible.
    Texts that `langdiff.corpora.check_alignment` finds out of step with other editions are reported, with ``alignment =
    "leave-out"`` made missing, too; ``"off"`` does not check.
    """

    paths: ClassVar[tuple[str, ...]] = ("edition_info", "vref", "original_language", "path")

    format: str
    path: str | list[str]
    edition_info: str | None = None
    edition_columns: dict[str, str] | None = None
    editions: list[str] | None = None
    decode_errors: Literal["strict", "replace"] = "strict"
    on_error: OnError = "raise"
    trust: tuple[str, ...] = ()
    ranges: Ranges | None = None
    markers: dict[str, OwnKind] | None = None
    vref: str | None = None
    original_language: str | None = None
    columns: dict[str, str] | None = None
    split: str | None = None
    first_intent: str | None = None
    last_intent: str | None = None
    tokenization: Tokenization = "reversible"
    alignment: WhenOutOfStep = "warn"

    def with_paths(self, resolve: Callable[[str], str]) -> Self:
        """Return the settings with `resolve` applied to each path, and `path` as a list."""
        given = super().with_paths(resolve)
        return given.model_copy(update={"path": [given.path] if isinstance(given.path, str) else given.path})

    @model_validator(mode="after")
    def _format_has_the_options(self) -> Self:
        check_format_options(self.format, [name for name in OPTIONS if getattr(self, name) is not None])
        return self


class SyntheticCorpus(Settings):
    """``[corpus]`` synthesized by a grammar, so that the true difficulties are known."""

    format: Literal["synthetic"]
    n_intents: int = Field(3000, ge=60)
    n_languages: int = Field(8, ge=2)

    @property
    def tokenization(self) -> None:
        """Tokenization of the texts: None, since synthetic texts are made of words."""
        return


class SelectionSettings(Settings):
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


class SplitSettings(Settings):
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
            raise ValueError(
                f"blocks of {self.block} leave nothing for training after {self.dev} + {self.test} for dev and test"
            )
        return self

    @model_validator(mode="after")
    def _folds_have_no_blocks(self) -> Self:
        usual = type(self).model_fields
        changed = [name for name in ("block", "dev", "test") if getattr(self, name) != usual[name].default]
        if self.folds is not None and changed:
            raise ValueError(f"with folds, every intent is tested; leave {', '.join(changed)} out")
        if self.folds is None and self.dev_share != usual["dev_share"].default:
            raise ValueError(
                "dev_share is a share of what models of folds learn from: give folds, or leave dev_share out"
            )
        return self


def _one_or_two(clusters: Any) -> Any:
    names = clusters if isinstance(clusters, list | tuple) else [clusters]
    if not (len(names) in (1, 2) and all(isinstance(name, str) for name in names)):
        raise ValueError("clusters are one column about intents, or a list of two columns")
    return names[0] if len(names) == 1 else tuple(names)


class FitSettings(Settings):
    """``[fit]``: the regression model and its standard errors; see `langdiff.fit`.

    ``clusters`` is what intents that share errors have in common: ``"document"``, ``"book"``, ``"chapter"`` or another
    column of the corpus's `intent_info`, or two of them, which cross; ``"auto"`` finds them, and ``"none"`` takes
    intents to be independent; ``strata`` is another such column, with groups of clusters that stay as they are.
    ``formula`` is over the columns of the corpus's `edition_info`; it is not Python, and nothing in it is executed.
    Editions that share a difficulty are a formula, too: ``formula = "language"``.
    """

    model: str = "2"
    method: Literal["auto", "newton", "lbfgs"] = "auto"
    formula: str | None = None
    restricted: bool | None = None
    laplace_scale: float | None = Field(None, gt=0)
    n_resamples: Resamples = 0
    errors: Literal["information", "sandwich", "bootstrap", "jackknife"] | None = None
    clusters: Annotated[str | tuple[str, str], BeforeValidator(_one_or_two)] = "auto"
    strata: str | None = None
    correction: Literal["CR0", "CR1", "CR2", "CR3"] | None = None
    intents: Literal["fixed", "random"] = "fixed"
    sizes: Literal["normal", "free"] = "normal"
    size_formula: str | None = None
    max_iterations: int = Field(USUAL_ITERATIONS, ge=1)
    dispersion: Literal["auto", "common", "edition"] | str = "auto"

    @property
    def one_clustering(self) -> str | None:
        """The clusters, where there is one kind of them, for what cannot take two; None for none."""
        return self.clusters if isinstance(self.clusters, str) and self.clusters != "none" else None

    @property
    def variant(self) -> Variant:
        """The regression model."""
        found: Variant = self.arguments()["model"]
        return found

    def arguments(self, without: Collection[str] = ()) -> dict[str, Any]:
        """Return the settings as arguments of `langdiff.fit`, except the settings named by `without`."""
        return {name: value for name, value in flat_arguments(**self.model_dump()).items() if name not in without}

    @field_validator("model")
    @classmethod
    def _is_known(cls, model: str) -> str:
        check_name(model)
        return model

    @field_validator("formula", "size_formula")
    @classmethod
    def _is_a_formula(cls, formula: str | None) -> str | None:
        if formula is not None:
            checked_formula(formula, None)  # before anything is trained; its columns are known later
        return formula

    @model_validator(mode="after")
    def _settings_agree(self) -> Self:
        arguments = self.arguments()
        names = ("model", "restricted", "intents", "dispersion", "errors", "optimizer")
        clustered = None if self.clusters == "auto" else self.clusters != "none"
        make_settings(**{name: arguments[name] for name in names}, clustered=clustered, seed=0)
        return self


def _kind_of_corpus(corpus: Any) -> Any:
    """Return "files" for a format of files, else the name of the format."""
    name = corpus.get("format") if isinstance(corpus, dict) else getattr(corpus, "format", None)
    return "files" if isinstance(name, str) and name in known_formats() else name and str(name)


class Core(Settings):
    """Keys that every experiment has; its sections are added by `experiment_type`.

    Examples
    --------
    >>> from langdiff.run import Experiment
    >>> Experiment.model_validate({"name": "tiny", "corpus": {"format": "synthetic"}}).lm.models
    ['char-residual', 'bpe-residual']
    """

    name: str = Field(min_length=1, pattern=r"^[^/\\.][^/\\]*$")
    seed: int = Field(0, ge=0)
    corpus: Annotated[
        Annotated[FileCorpus, Tag("files")] | Annotated[SyntheticCorpus, Tag("synthetic")],
        Discriminator(_kind_of_corpus),
    ]
    selection: SelectionSettings | None = None
    split: SplitSettings = SplitSettings()
    lm: LmSettings = LmSettings()
    fit: FitSettings = FitSettings()

    @model_validator(mode="before")
    @classmethod
    def _a_given_model_reads_texts_as_they_are(cls, keys: Any) -> Any:
        match keys:
            case {"lm": {"hf": str() | list()}, "corpus": {"path": _}}:
                return keys | {"corpus": {"tokenization": "as-is"} | keys["corpus"]}
        return keys

    @model_validator(mode="after")
    def _settings_agree(self) -> Self:
        if self.lm.hf is not None and self.split != SplitSettings():
            raise ValueError("the model of hf is not trained and scores all intents: leave [split] out")
        for each in self.sections().values():
            each.agrees(self)
        if self.lm.hf is not None and self.corpus.tokenization not in ("as-is", None):
            raise ValueError("the model of hf has a tokenizer of its own: leave tokenization out of [corpus]")
        return self

    def sections(self) -> dict[str, Section]:
        """Return the sections of the experiment, in the order of the report."""
        asked = {name: kind.asked_by(self) for name, kind in SECTIONS.items()}
        return {name: settings for name, settings in asked.items() if settings is not None}

    def with_paths(self, resolve: Callable[[str], str]) -> Self:
        """Return the experiment with `resolve` applied to each path."""
        tables = {key: table for key, table in self if isinstance(table, Settings)}
        return self.model_copy(update={key: table.with_paths(resolve) for key, table in tables.items()})


def experiment_type() -> type[Core]:
    """Return the class of experiments: `Core`, with a key for each section that is registered now."""
    plugins("sections", tuple(name for name, kind in SECTIONS.items() if kind.__module__.startswith("langdiff.")))
    return _experiment_type(tuple((name, kind) for name, kind in SECTIONS.items() if kind.about.in_file))


@cache
def _experiment_type(kinds: tuple[tuple[str, type[Section]], ...]) -> type[Core]:
    keys: dict[str, Any] = {name: (kind | None, None) for name, kind in kinds}
    return create_model("Experiment", __base__=Core, __module__=__name__, __doc__=Core.__doc__, **keys)


def sections_of_keys() -> dict[str, str]:
    """Return the section of every key that it alone has; sections that are optional have names of other things, too."""
    found = [
        (key, section)
        for section, field in experiment_type().model_fields.items()
        for one in (field.annotation, *get_args(field.annotation))
        for kind in (one, *get_args(one)[:1])
        if isinstance(kind, type) and issubclass(kind, Settings)
        for key in kind.model_fields
    ]
    owners = {key: {section for name, section in found if name == key} for key, _ in found}
    return {
        key: min(sections)
        for key, sections in owners.items()
        if len(sections) == 1 and sections <= set(Core.model_fields)
    }


if TYPE_CHECKING:
    Experiment = Core
else:

    def __getattr__(name: str) -> Any:
        if name == "Experiment":  # not a constant: sections may be registered later
            return experiment_type()
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def demo_experiment() -> Core:
    """Return the experiment of ``langdiff demo``, which takes minutes on two cores and whose truth is known."""
    return experiment_type()(
        name="demo",
        corpus=SyntheticCorpus(format="synthetic", n_intents=3000, n_languages=8),
        lm=LmSettings(models=["char-tiny", "bpe-tiny"], workers=2),
    )
