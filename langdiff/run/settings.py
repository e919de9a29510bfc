"""Sections of experiments, declared once for experiment files, runs, directories and reports."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple, Self, TypeVar

import pandas as pd
from pydantic import AfterValidator, BaseModel, ConfigDict

from langdiff.base.checksums import hash_files
from langdiff.base.types import check_resamples
from langdiff.corpora.tokenizer import detokenize
from langdiff.errors import DataError
from langdiff.lm.compute import fold_seeds
from langdiff.lm.jobs.record import hash_texts
from langdiff.run.analysis import ANALYSES, Analysis, Figure, kept_or_made, read_analysis
from langdiff.run.html import tables_of
from langdiff.tables.multitext import Folds, Multitext, Parts
from langdiff.tables.surprisals import Surprisals

if TYPE_CHECKING:
    from langdiff.corpora.alignment.result import Alignment
    from langdiff.lm.language_model import LanguageModelRecipe
    from langdiff.regression import DifficultyFit
    from langdiff.run.experiment import Core as Core
    from langdiff.run.result import RunResult as RunResult


def _enough(samples: int) -> int:
    check_resamples("n_resamples", samples, or_none=True)
    return samples


Resamples = Annotated[int, AfterValidator(_enough)]


class Settings(BaseModel):
    """A table of an experiment file: unknown keys are errors, and nothing changes after reading."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    paths: ClassVar[tuple[str, ...]] = ()  # keys that are paths

    def with_paths(self, resolve: Callable[[str], str]) -> Self:
        """Return the settings with `resolve` applied to each path."""
        given = {key: getattr(self, key) for key in self.paths}
        changed: dict[str, Any] = {
            key: resolve(path) if isinstance(path, str) else [resolve(name) for name in path]
            for key, path in given.items()
            if path is not None
        }
        return self.model_copy(update=changed) if changed else self


@dataclass(frozen=True, kw_only=True)
class Basis:
    """Inputs of the sections of a run.

    Attributes
    ----------
    experiment : Experiment
        Settings of the run.
    multitext : Multitext
        Selected texts.
    parts : Parts or Folds
        How they are divided.
    surprisals, fits : dict
        Tables and fits by language model; none before the training.
    found : dict
        What earlier sections have found.
    directory : Path
        The run directory.
    progress : bool or None
        Whether to draw progress bars.
    executor : Executor or None
        Where language models are trained, if not in processes of this one.
    alignment : Alignment or None
        Which of the texts were found to be out of step; None if they were not checked.
    """

    experiment: "Core"
    multitext: Multitext
    parts: Parts | Folds
    directory: Path
    progress: bool | None
    executor: Executor | None = None
    surprisals: Mapping[str, Surprisals] = field(default_factory=dict)
    fits: Mapping[str, "DifficultyFit"] = field(default_factory=dict)
    found: dict[str, Analysis] = field(default_factory=dict)
    alignment: "Alignment | None" = None

    @property
    def texts(self) -> Multitext:
        """The selected texts as they were read, without the marks of the tokenizer that language models see."""
        return self._as_read(self.multitext)

    @property
    def learned(self) -> Multitext:
        """The texts that predictors are measured on: the training part, or all texts without one or with folds."""
        if isinstance(self.parts, Parts) and len(self.parts.train):
            return self._as_read(self.parts.train)
        return self.texts

    @property
    def info(self) -> pd.DataFrame:
        """Information on the editions, without the paths of their files."""
        return self.multitext.edition_info.drop(columns="path", errors="ignore")

    def hashes(self, texts: Multitext) -> list[str]:
        """Return the hash of each edition's texts."""
        return [hash_texts(texts.text(edition)) for edition in texts.editions]

    def tables(self) -> list[Any]:
        """Return the inputs of sections about the surprisals."""
        tables = self.surprisals.values()
        info = [table.intent_info for table in tables if table.intent_info is not None]
        bits = [table.bits for table in tables]
        return [self.experiment.fit.model_dump(mode="json"), list(self.surprisals), *bits, *info, self.info]

    def _as_read(self, texts: Multitext) -> Multitext:
        return texts.map_text(detokenize) if self.experiment.corpus.tokenization == "reversible" else texts


class Training(NamedTuple):
    """Language models of one recipe and seed, one for each edition.

    Attributes
    ----------
    cache : Path
        Folder that keeps them.
    recipe : Recipe or KneserNeyRecipe
        How they are trained.
    seed : int
        Seed of their training.
    table : str
        Name of the table of the run with a row for each edition.
    labels : dict
        What tells them from others of the recipe: ``fold``, ``size`` and ``seed``, as far as there are several.
    """

    cache: Path
    recipe: "LanguageModelRecipe"
    seed: int
    table: str
    labels: Mapping[str, int | None]


def seeds_of_folds(recipe: "LanguageModelRecipe", seed: int, folds: int | None) -> list[int]:
    """Return the seed of the models of each fold, or the only seed."""
    return [seed] if folds is None else fold_seeds(recipe, seed, folds)


class About(NamedTuple):
    """Declaration of a section; see `section`."""

    name: str
    uses: "tuple[type[Section], ...]"
    title: str
    heading: str
    explains: str
    in_file: bool
    kept: bool
    files: tuple[str, ...]


class Section(Settings):
    """A section of an experiment: its settings, its result, its files and its part of the report."""

    about: ClassVar[About]

    @classmethod
    def asked_by(cls, experiment: "Core") -> Self | None:
        """Return the settings of the section in an experiment: given, default if other sections need them, or None.

        Parameters
        ----------
        experiment : Experiment
            The experiment, which has all sections.
        """
        given: Self | None = getattr(experiment, cls.about.name, None)
        users = (kind for kind in SECTIONS.values() if cls in kind.about.uses)
        if given is None and any(kind.asked_by(experiment) is not None for kind in users):
            return cls()
        return given

    def agrees(self, experiment: "Core") -> None:
        """Check that other settings of the experiment do not contradict these; raise a ValueError if so.

        Parameters
        ----------
        experiment : Experiment
            The experiment, which has all sections.
        """

    def needs(self, basis: Basis) -> None:
        """Check, before training, that the selected texts have the data that these settings name.

        Parameters
        ----------
        basis : Basis
            Texts, surprisals and fits of the run.
        """

    def check_paths(self) -> None:
        """Check, before training, that all paths exist.

        Raises
        ------
        DataError
            If a file or folder is missing.
        """
        for key in self.paths:
            path = getattr(self, key)
            if path is not None and not Path(path).exists():
                raise DataError(f"{path}: no such file or directory ({key} in [{self.about.name}]).")

    def depends(self, basis: Basis) -> list[Any]:
        """Return the data that the result depends on, in addition to the settings and the files that they name.

        Parameters
        ----------
        basis : Basis
            Texts, surprisals and fits of the run.
        """
        return basis.tables()

    @abstractmethod
    def make(self, basis: Basis) -> Analysis:
        """Compute the result of the section.

        Parameters
        ----------
        basis : Basis
            Texts, surprisals and fits of the run.
        """

    def find(self, basis: Basis, new: Path) -> Analysis:
        """Return the stored result if its inputs are unchanged, else compute it; publish it in `new`.

        Parameters
        ----------
        basis : Basis
            Texts, surprisals and fits of the run.
        new : Path
            Folder in which the result is published.
        """
        if not self.about.kept:
            return self.make(basis)
        return kept_or_made(
            self.about.name,
            partial(self._key, basis),
            partial(self.make, basis),
            basis.directory,
            new,
        )

    def _key(self, basis: Basis) -> list[Any]:
        key: list[Any] = [basis.experiment.seed]
        if getattr(basis.experiment, self.about.name, None) is not None:
            paths = [getattr(self, key) for key in self.paths]
            key += [self.model_dump(mode="json"), [hash_files(Path(path)) for path in paths if path is not None]]
        return [*key, *self.depends(basis)]

    def trainings(self, experiment: "Core", directory: Path) -> list[Training]:  # noqa: ARG002 for those that train
        """Return the language models that the section trains, in addition to those of the experiment.

        Parameters
        ----------
        experiment : Experiment
            The experiment, which has all sections.
        directory : Path
            Directory of the run.
        """
        return []

    @classmethod
    def read(cls, directory: Path) -> Analysis | None:
        """Return the result in the directory of a finished run, or None if there is none.

        Parameters
        ----------
        directory : Path
            Directory of the run.
        """
        path = directory / ANALYSES / f"{cls.about.name}.json"
        return read_analysis(path)[0] if path.is_file() else None

    @classmethod
    def explain(cls, run: "RunResult") -> str:  # noqa: ARG003 for those that have more to say
        """Return the first paragraph of the section in the report.

        Parameters
        ----------
        run : RunResult
            The finished run.
        """
        return cls.about.explains

    @classmethod
    def tables(cls, run: "RunResult") -> list[dict[str, str]]:
        """Return the tables of the section in the report; see `langdiff.run.html.tables_of`.

        Parameters
        ----------
        run : RunResult
            The finished run.
        """
        return tables_of(run.analyses[cls.about.name].table)

    @classmethod
    def pictures(cls, run: "RunResult") -> Iterable[Figure]:
        """Return the pictures of the section.

        Parameters
        ----------
        run : RunResult
            The finished run.
        """
        return run.analyses[cls.about.name].figures

    @classmethod
    def instead(cls, run: "RunResult") -> str:  # noqa: ARG003
        """Return the sentence of the report for experiments without the section; nothing if it is empty.

        Parameters
        ----------
        run : RunResult
            The finished run.
        """
        return ""


S = TypeVar("S", bound=Section)
SECTIONS: dict[str, type[Section]] = {}  # in the order of experiment files and reports: that of their imports


def section(
    name: str,
    *,
    uses: Iterable[type[Section]] = (),
    title: str,
    heading: str,
    explains: str = "",
    in_file: bool = True,
    kept: bool = True,
    files: Iterable[str] = (),
) -> Callable[[type[S]], type[S]]:
    """Enter a class as a section of experiment files and reports.

    Parameters
    ----------
    name : str
        Name of the table in the file, and of the result.
    uses : iterable of type
        Sections whose results it needs; they are made, too.
    title, heading : str
        Title in lists, and heading in the report.
    explains : str
        Sentence below the heading.
    in_file : bool
        Whether files can have it.
    kept : bool
        Whether its result is kept from one run to the next.
    files : iterable of str
        Further files that it writes.

    Returns
    -------
    callable
        Decorator of a class that inherits `Section`.

    Examples
    --------
    >>> @section("vowels", title="Vowels", heading="How many vowels are there?")
    ... class Vowels(Section):
    ...     letters: str = "aeiou"
    >>> SECTIONS.pop("vowels").about.title
    'Vowels'
    """

    def enter(kind: type[S]) -> type[S]:
        kind.about = About(name, tuple(uses), title, heading, explains, in_file, kept, tuple(files))
        SECTIONS[name] = kind
        return kind

    return enter


def by_model(lms: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Join the tables of language models, whose names become the first column."""
    return pd.concat([rows.assign(lm=lm)[["lm", *rows.columns]] for lm, rows in lms.items()], ignore_index=True)
