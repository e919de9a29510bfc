"""The stages of an experiment, from the corpus to difficulties and a report."""

import json
import logging
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd

from langdiff.base.cells import guarded
from langdiff.base.io import as_path, atomic_path, parse_json, read_bytes, write_json
from langdiff.corpora import read_multitext, synthesize
from langdiff.corpora.alignment.check import checked
from langdiff.corpora.alignment.result import Alignment
from langdiff.corpora.tokenizer import prepare_text
from langdiff.errors import DataError, TrainingError, in_experiment, warn
from langdiff.lm.external.shards import share_of
from langdiff.regression import DifficultyFit, fit
from langdiff.run.analysis import ANALYSES, Analysis
from langdiff.run.directory import (
    EXPERIMENT,
    MANIFEST,
    PRESENCE,
    RunLog,
    check_directory,
    environment,
    files_of,
    hash_editions,
    is_finished,
    is_published,
    own_directory,
    publish,
    staged,
    warned_once,
)
from langdiff.run.experiment import Core, FileCorpus, sections_of_keys
from langdiff.run.experiment_file import read_experiment
from langdiff.run.language_models import check_clusters, kept, open_models, sizes_of
from langdiff.run.report import write_pages
from langdiff.run.result import RunResult
from langdiff.run.settings import SECTIONS, Basis
from langdiff.selection import select
from langdiff.tables.multitext import Folds, Multitext, Parts
from langdiff.tables.surprisals import Surprisals

logger = logging.getLogger(__name__)
OWN = ("first_intent", "last_intent", "alignment", "tokenization")  # settings of [corpus] that are for texts once read


def run_experiment(
    experiment: Core | str | Path,
    directory: str | Path,
    *,
    executor: Executor | None = None,
    progress: bool | None = None,
) -> RunResult:
    """Run all stages of an experiment; after an interruption, the same call resumes it.

    An edition that cannot be trained or scored is left out, and named in `RunResult.failed`, the manifest and the
    report, if each language model has at least two others.

    Tables, figures and report of an earlier run in the directory stay as they are until all new ones are made.

    Parameters
    ----------
    experiment : Experiment, str or Path
        Settings of the experiment, or the path of a TOML file with them.
    directory : str or Path
        Directory for language models, tables, figures and ``report.html``; made if missing.
    executor : concurrent.futures.Executor, optional
        Where language models are trained, such as ``Client.get_executor()`` of Dask, instead of the ``workers`` of the
        experiment; all of its workers must see the directory and the corpus under the same names.
    progress : bool, optional
        Whether to draw progress bars on stderr; by default if it is a terminal.

    Returns
    -------
    RunResult
        Surprisals and fits of every language model; `langdiff.run.read_run` reads them again later.

    Raises
    ------
    ConfigError
        If the experiment file or a setting cannot be used.
    DataError
        If the corpus cannot be read, has fewer than two editions, or cannot be scored, or an intent of the test part
        has no cluster of the kind that the experiment names.
    InfeasibleError
        If no selection satisfies ``[selection]``.
    MissingExtraError, CheckpointError
        If the folder of a language model, ``hf``, cannot be loaded.
    LangdiffError
        If a language model cannot be trained or scored on at least two editions; models that were finished stay in the
        directory.
    OutputError
        If the directory cannot be written, as when the disk is full, holds other files, or another process is using
        it; models that were finished stay, and the message says how many.

    Examples
    --------
    >>> import tempfile
    >>> from langdiff.run import Experiment
    >>> settings = {
    ...     "name": "small",
    ...     "corpus": {"format": "synthetic", "n_intents": 60, "n_languages": 2},
    ...     "lm": {"models": ["kneser-ney-2"], "max_replaced": 1.0},
    ... }
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = run_experiment(Experiment.model_validate(settings), folder, progress=False)
    ...     run.report.name, len(run.surprisals["kneser-ney-2"].editions)
    ('report.html', 2)
    """
    if not isinstance(experiment, Core):
        experiment = read_experiment(experiment)
    directory = as_path(directory)
    with in_experiment(sections_of_keys()), own_directory(directory):
        log = RunLog(directory)
        with log.of_run(experiment.name):
            if not is_finished(directory):  # else this would overwrite the experiment of its results
                write_json(directory / EXPERIMENT, experiment.model_dump(mode="json"))
            with staged(directory) as new:
                result = _Run(experiment, directory, new, executor, progress, log).all_stages()
                if is_published(result.manifest, new, directory, trained=result.experiment.lm.models):
                    made = parse_json(read_bytes(directory / MANIFEST))
                    result = replace(result, manifest=made)  # with the date and the times of when it was made
                else:
                    with kept("All language models"):
                        log.add("stage begins", stage="report")
                        write_pages(result, new)
                        publish(new, directory, stale())
    return result


def run_shard(
    experiment: Core | str | Path, directory: str | Path, shard: str, *, progress: bool | None = None
) -> list[str]:
    """Train and score one machine's share of the editions of an experiment, and keep it in the run directory.

    Run it with the same arguments and each of ``"1/N"`` to ``"N/N"``, at once or not, on machines that see one
    directory. `run_experiment` then finds all language models there, and does the rest. Nothing is locked, since no two
    shares train the same edition; `run_experiment` itself must wait until they have ended.

    Examples
    --------
    >>> import tempfile
    >>> from langdiff.run import Experiment
    >>> settings = {
    ...     "name": "small",
    ...     "corpus": {"format": "synthetic", "n_intents": 60, "n_languages": 3},
    ...     "lm": {"models": ["kneser-ney-2"], "max_replaced": 1.0},
    ... }
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [run_shard(Experiment.model_validate(settings), folder, f"{k}/2", progress=False) for k in (1, 2)]
    [['agglutinating-sov', 'isolating-svo'], ['free-order']]
    """
    if not isinstance(experiment, Core):
        experiment = read_experiment(experiment)
    directory = as_path(directory)
    share_of([], shard)  # refuse a wrong one before anything is read
    check_directory(directory)
    with in_experiment(sections_of_keys()), TemporaryDirectory() as elsewhere:
        if not is_finished(directory):
            write_json(directory / EXPERIMENT, experiment.model_dump(mode="json"))
        shared = _Run(experiment, directory, Path(elsewhere), None, progress, RunLog(Path(elsewhere)))
        multitext, _ = shared.choose(shared.open_corpus()[0])
        parts = shared.models.divide(multitext)
        shared.settle(parts)
        mine = share_of(list(multitext.editions), shard)
        if mine:
            shared.models.score(parts.sel([name for name in multitext.editions if name in mine]), shared.stage)
    if failed := {name: why for editions in shared.models.failed.values() for name, why in editions.items()}:
        raise TrainingError("; ".join(f"{name}: {why}" for name, why in failed.items()))
    return [str(name) for name in multitext.editions if name in mine]


def records_of(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table as JSON has them."""
    found: list[dict[str, Any]] = json.loads(table.to_json(orient="records"))
    return found


def stale() -> list[str]:
    """Return patterns of the files that only some runs write."""
    of_sections = [name for kind in SECTIONS.values() for name in (f"tables/{kind.about.name}.csv", *kind.about.files)]
    return [
        *("tables/truth.csv", "tables/selection.csv", PRESENCE, f"{ANALYSES}/*"),
        *("figures/*.svg", "surprisals/*", "fits/*.json"),
        *of_sections,
    ]


class _Run:
    """One pass through the stages, noting how long each took.

    Parameters
    ----------
    directory, new : Path
        The run directory, in which only the language models are written, and the folder for everything else.
    executor : Executor or None
        Where language models are trained, if not in processes of this one.
    """

    def __init__(
        self,
        experiment: Core,
        directory: Path,
        new: Path,
        executor: Executor | None,
        progress: bool | None,
        log: RunLog,
    ) -> None:
        self.experiment, self.directory, self.new = experiment, directory, new
        self.executor, self.progress, self.log = executor, progress, log
        self.seconds: dict[str, float] = {}
        self.models = open_models(experiment, directory, new, progress, executor)  # fails before the corpus is read
        self.corpus_intents = 0
        self.presence: pd.DataFrame | None = None
        self.alignment: Alignment | None = None

    def all_stages(self) -> RunResult:
        write_json(self.new / EXPERIMENT, self.experiment.model_dump(mode="json"))
        with self.stage("corpus"):
            multitext, truth = self.open_corpus()
        with self.stage("selection"):
            self.corpus_intents = len(multitext)
            multitext, notes = self.choose(multitext)
            if len(multitext.editions) < 2:
                raise DataError(
                    f"there is only one edition, {multitext.editions[0]!r}: difficulties compare at least two "
                    "editions. Add files, or loosen [selection]."
                )
            parts = self.models.divide(multitext)
            self.settle(parts)
            check_clusters(parts, self.experiment.fit)
            basis = Basis(
                experiment=self.experiment,
                multitext=multitext,
                parts=parts,
                directory=self.directory,
                progress=self.progress,
                executor=self.executor,
                alignment=self.alignment,
            )
            for part in self.experiment.sections().values():
                part.check_paths()
                part.needs(basis)
            editions = multitext.edition_sizes()
            self.save_table("editions", editions)
        tables = self.models.score(parts, self.stage)
        self.seconds |= self.models.seconds
        with kept("All language models"):
            return self.compare({table.lm: table for table in tables}, basis, editions, truth, notes)

    def settle(self, parts: Parts | Folds) -> None:
        """Name, in the experiment, the recipes that ``"auto"`` chose for the texts, as tables and caches do."""
        lm = self.experiment.lm.settled(parts)
        if lm is self.experiment.lm:
            return
        self.experiment = self.models.experiment = self.experiment.model_copy(update={"lm": lm})
        self.log.add("chosen", models=lm.models)
        unfinished = [] if is_finished(self.directory) else [self.directory]
        for folder in [self.new, *unfinished]:
            write_json(folder / EXPERIMENT, self.experiment.model_dump(mode="json"))

    def compare(
        self,
        surprisals: dict[str, Surprisals],
        basis: Basis,
        editions: pd.DataFrame,
        truth: pd.Series | None,
        notes: str | None,
    ) -> RunResult:
        """Estimate difficulties and write everything that follows from the surprisals."""
        multitext = basis.multitext
        with self.stage("regression"):
            fits = self.fit_all(surprisals, multitext.edition_info)
        if truth is not None:
            truth = truth[multitext.editions]  # of those selected, whose factors average 1 as estimates do
            truth = truth - np.log(np.exp(truth).mean())
            self.save_table("truth", truth.rename("truth").rename_axis("edition").to_frame())
        found = self.analyse(replace(basis, surprisals=surprisals, fits=fits))
        manifest = environment() | {
            "data": hash_editions(multitext),
            "files": files_of(multitext),
            "left_out": records_of(multitext.left_out),
            "skipped": records_of(multitext.skipped),
            "alignment": None if self.alignment is None else records_of(self.alignment.passages),
            "corpus_intents": self.corpus_intents,
            "selection": notes,
            "parts": sizes_of(basis.parts),
            "given_model": self.models.describe(),
            "failed": self.models.failed,
            "folds_not_compared": {},
            "not_done": {name: analysis.failure for name, analysis in found.items() if analysis.failure},
            "seconds": self.seconds,
        }
        for analysis in found.values():
            manifest |= analysis.facts
            manifest["failed"] |= analysis.failed
        result = RunResult(
            directory=self.directory,
            experiment=self.experiment,
            editions=editions,
            surprisals=surprisals,
            fits=fits,
            truth=truth,
            manifest=manifest,
            presence=self.presence,
            analyses=found,
        )
        self.save_table("difficulties", result.to_frame().set_index("edition"))
        write_json(self.new / MANIFEST, manifest)
        return result

    def fit_all(self, surprisals: Mapping[str, Surprisals], info: pd.DataFrame) -> dict[str, DifficultyFit]:
        """Fit the regression to each table; a dispersion may be named by the columns of `info`."""
        fits = {}
        with warned_once() as of_model:
            for lm, table in surprisals.items():
                with of_model(lm):
                    settings = self.experiment.fit.arguments()
                    fits[lm] = fit(table, **settings, seed=self.experiment.seed, edition_info=info)
                fits[lm].save(self.new / "fits" / f"{lm}.json")
        return fits

    def analyse(self, basis: Basis) -> dict[str, Analysis]:
        """Compute the results of the sections of the experiment in order; stored results are not computed again."""
        for name, part in self.experiment.sections().items():
            with self.stage(name):
                found = basis.found[name] = part.find(basis, self.new)
            if found.failure or len(found.table.columns):
                self.save_table(name, found.table, index=False)
        return basis.found

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Log and time a stage."""
        logger.info("%s", name)
        self.log.add("stage begins", stage=name)
        start = time.perf_counter()
        yield
        self.seconds[name] = round(time.perf_counter() - start, 2)
        self.log.add("stage ends", stage=name, seconds=self.seconds[name])

    def open_corpus(self) -> tuple[Multitext, pd.Series | None]:
        """Read or synthesize the multitext; return the true difficulties, too, if it is synthetic."""
        corpus = self.experiment.corpus
        if not isinstance(corpus, FileCorpus):
            made = synthesize(corpus.n_intents, corpus.n_languages, seed=self.experiment.seed)
            return made.multitext, made.difficulty
        how = {name: getattr(corpus, name) for name in FileCorpus.model_fields if name not in OWN}
        multitext = read_multitext(**how, progress=self.progress)
        multitext = multitext.between(corpus.first_intent, corpus.last_intent)
        multitext, self.alignment = checked(multitext, corpus.alignment)
        if self.alignment is not None and not self.alignment.is_clean:
            warn(self.alignment.headline())
        return prepare_text(multitext, corpus.tokenization), None

    def choose(self, multitext: Multitext) -> tuple[Multitext, str | None]:
        """Select editions and intents if the experiment asks for it."""
        settings = self.experiment.selection
        if settings is None:
            return multitext, None
        selection = select(multitext, **settings.model_dump())
        has = multitext.presence.sum()
        self.presence = pd.DataFrame(
            {
                "language": multitext.edition_info["language"],
                "intents": has,
                "percent": 100 * has / len(multitext),
                "selected": has.index.isin(selection.editions),
            }
        ).rename_axis("edition")
        self.save_table("presence", self.presence)
        self.save_table("selection", selection.to_frame())
        return selection.multitext, selection.headline()

    def save_table(self, name: str, table: pd.DataFrame, *, index: bool = True) -> None:
        """Write a table as CSV."""
        with atomic_path(self.new / "tables" / f"{name}.csv") as temporary:
            guarded(table).to_csv(temporary, index=index)
