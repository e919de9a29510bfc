"""Language models of a run, trained by it or given: each divides the texts and scores them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from langdiff.errors import CheckpointError, OutputError
from langdiff.lm.compute import compute_where_possible
from langdiff.lm.external.protocol import surprisals_of
from langdiff.lm.jobs.folder import join_logs, kept_models, read_job_log
from langdiff.lm.texts import note_preparation
from langdiff.regression.clustering import clusters_of, strata_of
from langdiff.run.directory import JOBS, SCORED, caches, warned_once
from langdiff.run.experiment import Core, FitSettings
from langdiff.run.settings import Training, seeds_of_folds
from langdiff.selection import split, split_into_folds
from langdiff.tables.multitext import Folds, Multitext, Parts
from langdiff.tables.surprisals import Surprisals

if TYPE_CHECKING:
    from langdiff.lm import HuggingFaceLM  # imports PyTorch

Stage = Callable[[str], AbstractContextManager[None]]


class LanguageModels(ABC):
    """Interface of the language models of an experiment, which turn its texts into bits.

    Parameters
    ----------
    experiment : Experiment
        Settings of the run.
    directory, new : Path
        The run directory, in which language models are kept, and the folder for what is published.
    progress : bool or None
        Whether to draw progress bars.

    Attributes
    ----------
    failed : dict
        Why editions were left out, by language model.
    seconds : dict
        Time of the training of each language model, whenever it was trained.
    """

    def __init__(self, experiment: Core, directory: Path, new: Path, progress: bool | None) -> None:
        self.experiment, self.directory, self.new, self.progress = experiment, directory, new, progress
        self.failed: dict[str, dict[str, str]] = {}
        self.seconds: dict[str, float] = {}

    @abstractmethod
    def divide(self, multitext: Multitext) -> Parts | Folds:
        """Divide the texts into training and test parts."""

    @abstractmethod
    def score(self, parts: Parts | Folds, stage: Stage) -> list[Surprisals]:
        """Return the surprisals of the test parts, one table per language model, and save them."""

    def describe(self) -> dict[str, str] | None:
        """Return the description in manifest and report of a model that was not trained here."""
        return None

    def _save(self, table: Surprisals) -> None:
        table.save(self.new / "surprisals" / f"{table.lm}.csv")


class TrainedModels(LanguageModels):
    """Language models of every edition, trained on part of its texts.

    Parameters
    ----------
    executor : Executor or None
        Where they are trained, if not in processes of this one.
    """

    def __init__(
        self, experiment: Core, directory: Path, new: Path, progress: bool | None, executor: Executor | None
    ) -> None:
        super().__init__(experiment, directory, new, progress)
        if executor is None and experiment.lm.device not in ("auto", "cpu"):
            from langdiff.lm.device import find_device

            find_device(experiment.lm.device)  # better refused now than after the corpus is read
        self.executor = executor
        self.caches = caches(directory, experiment.split.folds)

    def divide(self, multitext: Multitext) -> Parts | Folds:
        """Divide the texts by ``[split]``; see `langdiff.split` and `langdiff.split_into_folds`."""
        settings = self.experiment.split
        if settings.folds is not None:
            named = settings.model_dump(include={"groups", "dev_share", "incomplete"})
            return split_into_folds(multitext, settings.folds, **named)
        return split(multitext, **settings.model_dump(exclude={"folds", "dev_share"}))

    def score(self, parts: Parts | Folds, stage: Stage) -> list[Surprisals]:
        """Train and score each kind of language model."""
        for cache in self.caches:
            note_preparation(cache, self.experiment.corpus.tokenization or "as-is")
        tables = []
        with warned_once() as of_model:
            for lm in self.experiment.lm.models:
                with of_model(lm):
                    tables.append(self._score(lm, parts, stage))
        return tables

    def _score(self, lm: str, parts: Parts | Folds, stage: Stage) -> Surprisals:
        settings = self.experiment.lm
        recipe, scoring = settings.find(lm, settings.scoring)
        with stage(lm):
            table, failed = compute_where_possible(
                parts,
                lm=recipe,
                scoring=scoring,
                max_replaced=settings.max_replaced,
                seed=self.experiment.seed,
                compute=settings.compute(self.directory / JOBS, self.executor, self.progress),
                least=min(2, len(parts.editions)),
            )
        if failed:
            self.failed[table.lm] = failed
        with kept(f"The language models of {lm}"):
            self._save(table)
        found = (kept_models(cache, edition, recipe) for cache in self.caches for edition in table.editions)
        logs = join_logs(read_job_log(models[-1]) for models in found if models)
        self.seconds[lm] = round(float(logs["seconds"].sum()), 2)
        return table


class GivenModels(LanguageModels):
    """Models that score without being trained, one in memory at a time: ``hf`` of ``[lm]``.

    Raises
    ------
    MissingExtraError
        If Transformers is not installed.
    CheckpointError
        If the folder holds no model or no tokenizer that can be loaded.
    ConfigError
        If the device cannot be used, or the model cannot score texts.
    """

    def __init__(self, experiment: Core, directory: Path, new: Path, progress: bool | None) -> None:
        super().__init__(experiment, directory, new, progress)
        folders = experiment.lm.folders
        if missing := [folder for folder in folders if not Path(folder).is_dir()]:
            raise CheckpointError(f"{missing[0]}: no such folder of a language model.")
        self.model: HuggingFaceLM | None = self._load(folders[0])  # before the corpus is read
        self.described: dict[str, str] = {}

    def _load(self, folder: str) -> "HuggingFaceLM":
        from langdiff.lm import HuggingFaceLM

        return HuggingFaceLM(folder, device=self.experiment.lm.device)

    def divide(self, multitext: Multitext) -> Parts:
        """Return the division in which every intent is in the test part."""
        nothing = multitext.sel(intents=[])
        return Parts(train=nothing, dev=nothing, test=multitext)

    def score(self, parts: Parts | Folds, stage: Stage) -> list[Surprisals]:
        """Score every edition with every model."""
        tables = []
        for folder in self.experiment.lm.folders:
            model, self.model = self.model or self._load(folder), None
            name, texts = model.name, parts.measured
            with stage(name):
                table = surprisals_of(model, texts, lm=name, cache=self.directory / SCORED, progress=self.progress)
            self._save(table)
            self.described[repr(model)] = model.identity
            tables.append(table)
        return tables

    def describe(self) -> dict[str, str]:
        """Describe the models, and return the hashes of everything that their bits depend on."""
        return {"description": "; ".join(self.described), "identity": ", ".join(self.described.values())}


def open_models(
    experiment: Core, directory: Path, new: Path, progress: bool | None, executor: Executor | None
) -> LanguageModels:
    """Return the language models of an experiment."""
    if experiment.lm.hf is not None:
        return GivenModels(experiment, directory, new, progress)
    return TrainedModels(experiment, directory, new, progress, executor)


def trainings(experiment: Core, directory: Path) -> list[Training]:
    """Return all language models that a run trains, those of its sections last."""
    folds = experiment.split.folds
    recipes = {recipe.name: recipe for recipe in (experiment.lm.find(lm).recipe for lm in experiment.lm.models)}
    of_experiment = [
        Training(cache=cache, recipe=recipe, seed=seed, table="difficulties", labels={"fold": fold})
        for recipe in recipes.values()
        for fold, (cache, seed) in enumerate(
            zip(caches(directory, folds), seeds_of_folds(recipe, experiment.seed, folds), strict=True), 1
        )
    ]
    of_sections = [each for part in experiment.sections().values() for each in part.trainings(experiment, directory)]
    return of_experiment + of_sections


@contextmanager
def kept(what: str) -> Iterator[None]:
    """Add to an error of writing which language models are finished."""
    try:
        yield
    except OutputError as error:
        raise OutputError(
            f"{error} {what} are finished and kept; when files can be written again, the same command does the rest."
        ) from error


def check_clusters(parts: Parts | Folds, settings: FitSettings) -> None:
    """Check clusters and strata as the fit will, before training."""
    if settings.clusters in ("auto", "none"):
        return
    texts = parts.measured
    intents, info = texts.intents, texts.intent_info
    for name in [settings.clusters] if isinstance(settings.clusters, str) else settings.clusters:
        clusters = clusters_of(intents, info, name)
        if settings.strata is not None:
            strata_of(intents, info, clusters, settings.strata)


def sizes_of(parts: Parts | Folds) -> dict[str, int]:
    """Return the numbers of intents in train, dev and test; of folds, the means of the first two and all in test."""
    if isinstance(parts, Parts):
        return {name: len(getattr(parts, name)) for name in ("train", "dev", "test")}
    sizes = parts.to_frame()
    means = {name: round(sizes[name].mean()) for name in ("train", "dev")}
    return means | {"test": int(sizes["test"].sum()), "folds": len(sizes)}
