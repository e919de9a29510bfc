"""The stages of an experiment, from the corpus to difficulties and a report."""

import json
import logging
import time
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from langdiff.base.cells import guarded
from langdiff.base.io import as_path, atomic_path, parse_json, write_json
from langdiff.corpora import read_multitext, synthesize
from langdiff.corpora.tokenizer import prepare_text
from langdiff.errors import DataError, OutputError, in_experiment
from langdiff.experiments.curves import curve_where_possible
from langdiff.experiments.training_sizes import check_sizes, smallest_train
from langdiff.lm.compute import Compute, compute_where_possible
from langdiff.lm.device import find_device
from langdiff.lm.external.huggingface import HuggingFaceLM
from langdiff.lm.external.protocol import surprisals_of
from langdiff.lm.jobs.folder import job_folder, join_logs, read_job_log
from langdiff.lm.texts import note_preparation
from langdiff.regression import DifficultyCurve, fit
from langdiff.run.analyses import Basis, analyse, check_sections
from langdiff.run.analysis import ANALYSES
from langdiff.run.baselines import BASELINES, BASELINES_BEFORE, baselines_of_run
from langdiff.run.directory import (
    CURVE,
    CURVE_JOBS,
    EXPERIMENT,
    FOLDS,
    JOBS,
    MANIFEST,
    PRESENCE,
    SCORED,
    caches,
    environment,
    is_finished,
    is_published,
    own_directory,
    publish,
    staged,
)
from langdiff.run.dividing import check_clusters, compare_all_folds, divide, sizes_of
from langdiff.run.experiment import Experiment, FileCorpus
from langdiff.run.experiment_file import read_experiment
from langdiff.run.given_model import describe_given, load_given, measure_all
from langdiff.run.hashes import hash_editions
from langdiff.run.log import RunLog
from langdiff.run.model_warnings import warned_once
from langdiff.run.report import write_pages
from langdiff.run.result import RunResult
from langdiff.run.sections import SECTIONS
from langdiff.selection import select
from langdiff.tables.divisions import Folds, Parts
from langdiff.tables.multitext import Multitext
from langdiff.tables.surprisals import Surprisals

# files that only some runs write
STALE = (
    *("tables/truth.csv", "tables/selection.csv", "tables/curve.csv", CURVE, FOLDS, PRESENCE),
    *(BASELINES, BASELINES_BEFORE),
    *(f"tables/{name}.csv" for name in SECTIONS),
    f"{ANALYSES}/*",
    *("figures/*.svg", "surprisals/*", "fits/*.json"),
)

logger = logging.getLogger(__name__)


def run_experiment(
    experiment: Experiment | str | Path,
    directory: str | Path,
    *,
    executor: Executor | None = None,
    progress: bool | None = None,
) -> RunResult:
    """Run all stages of an experiment; after an interruption, the same call does only what is missing.

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
    if not isinstance(experiment, Experiment):
        experiment = read_experiment(experiment)
    directory = as_path(directory)
    with in_experiment(), own_directory(directory):
        log = RunLog(directory)
        with log.of_run(experiment.name):
            if executor is None:
                find_device(experiment.lm.device)  # better refused now than after the corpus is read
            if not is_finished(directory):  # else this would overwrite the experiment of its results
                write_json(directory / EXPERIMENT, experiment.model_dump(mode="json"))
            with staged(directory) as new:
                result = _Run(experiment, directory, new, executor, progress, log).all_stages()
                if is_published(result.manifest, new, directory, trained=experiment.lm.models):
                    made = parse_json((directory / MANIFEST).read_text(encoding="utf-8"))
                    result = replace(result, manifest=made)  # with the date and the times of when it was made
                else:
                    with kept("All language models"):
                        log.add("stage begins", stage="report")
                        write_pages(result, new)
                        publish(new, directory, STALE)
    return result


@contextmanager
def kept(what: str) -> Iterator[None]:
    """Say in an error of writing what is finished."""
    try:
        yield
    except OutputError as error:
        raise OutputError(
            f"{error} {what} are finished and kept; when files can be written again, the same command does the rest."
        ) from error


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
        experiment: Experiment,
        directory: Path,
        new: Path,
        executor: Executor | None,
        progress: bool | None,
        log: RunLog,
    ) -> None:
        self.experiment, self.directory, self.new = experiment, directory, new
        self.executor, self.progress, self.log = executor, progress, log
        self.seconds: dict[str, float] = {}
        self.failed: dict[str, dict[str, str]] = {}
        self.given: HuggingFaceLM | None = None
        self.corpus_intents = 0
        self.presence: pd.DataFrame | None = None

    def all_stages(self) -> RunResult:
        write_json(self.new / EXPERIMENT, self.experiment.model_dump(mode="json"))
        self.given = load_given(self.experiment.lm)  # better refused now than after the corpus is read
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
            parts = divide(multitext, self.experiment.split) if self.given is None else measure_all(multitext)
            check_clusters(parts, self.experiment.fit)
            check_sections(self.experiment, multitext)
            if self.experiment.curve is not None:
                check_sizes(self.experiment.curve.sizes, smallest_train(parts), self.experiment.curve.match)
            editions = multitext.edition_sizes()
            self.save_table("editions", editions)
        tables = self.train_all(parts) if self.given is None else [self.score_given(self.given, multitext)]
        with kept("All language models"):
            baselines = self.measure_baselines(tables, parts)
            return self.compare(tables, multitext, editions, truth, notes, parts, baselines)

    def measure_baselines(self, tables: list[Surprisals], parts: Parts | Folds) -> pd.DataFrame | None:
        """Measure what n-grams and compressors make of the editions that any language model has scored."""
        if not self.experiment.lm.measures_baselines:
            return None
        with self.stage("baselines"):
            editions = list(dict.fromkeys(edition for table in tables for edition in table.editions))
            baselines = baselines_of_run(parts, editions, self.directory, self.progress)
            self.save_table("baselines", baselines)
        return baselines

    def compare(
        self,
        tables: list[Surprisals],
        multitext: Multitext,
        editions: pd.DataFrame,
        truth: pd.Series | None,
        notes: str | None,
        parts: Parts | Folds,
        baselines: pd.DataFrame | None,
    ) -> RunResult:
        """Estimate difficulties and write everything that follows from the surprisals."""
        surprisals = {table.lm: table for table in tables}
        with self.stage("regression"):
            settings = self.experiment.fit.arguments() | {
                "seed": self.experiment.seed,
                "edition_info": multitext.edition_info,  # a dispersion may be named by its columns
            }
            fits = {}
            with warned_once() as of_model:
                for lm, table in surprisals.items():
                    with of_model(lm):
                        fits[lm] = fit(table, **settings)
                    fits[lm].save(self.new / "fits" / f"{lm}.json")
            folds: pd.DataFrame | None = None
            not_compared: dict[str, str] = {}
            if isinstance(parts, Folds):
                folds, not_compared = compare_all_folds(surprisals, self.experiment, multitext.edition_info)
                if folds is not None:
                    self.save_table("folds", folds)
                    folds = folds.reset_index()
        if truth is not None:
            truth = truth[multitext.editions]  # of those selected, whose factors average 1 as estimates do
            truth = truth - np.log(np.exp(truth).mean())
            self.save_table("truth", truth.rename("truth").rename_axis("edition").to_frame())
        curve = self.measure_curve(parts)
        basis = Basis(
            experiment=self.experiment,
            multitext=multitext,
            parts=parts,
            surprisals=surprisals,
            fits=fits,
            progress=self.progress,
        )
        analyses = analyse(basis, self.directory, self.new, self.stage)
        for name, analysis in analyses.items():
            self.save_table(name, analysis.table, index=False)
        manifest = environment() | {
            "data": hash_editions(multitext),
            "left_out": json.loads(multitext.left_out.to_json(orient="records")),
            "skipped": json.loads(multitext.skipped.to_json(orient="records")),
            "corpus_intents": self.corpus_intents,
            "selection": notes,
            "parts": sizes_of(parts),
            "given_model": describe_given(self.given),
            "failed": self.failed,
            "folds_not_compared": not_compared,
            "not_done": {name: analysis.notes[0] for name, analysis in analyses.items() if analysis.table.empty},
            "seconds": self.seconds,
        }
        result = RunResult(
            directory=self.directory,
            experiment=self.experiment,
            editions=editions,
            surprisals=surprisals,
            fits=fits,
            truth=truth,
            manifest=manifest,
            presence=self.presence,
            baselines=baselines,
            folds=folds,
            curve=curve,
            analyses=analyses,
        )
        if baselines is not None:
            result.against_baselines()  # warns of networks that have learned less
        self.save_table("difficulties", result.to_frame().set_index("edition"))
        write_json(self.new / MANIFEST, manifest)
        return result

    def measure_curve(self, parts: Parts | Folds) -> DifficultyCurve | None:
        """Train on several sizes of the training data, if the experiment asks for it."""
        settings = self.experiment.curve
        if settings is None:
            return None
        with self.stage("curve"):
            curve, failed = curve_where_possible(
                parts,
                **settings.model_dump() | {"lm": self.experiment.lm.find(settings.lm).recipe},
                model=self.experiment.fit.model,  # type: ignore[arg-type]  # `Experiment` saw to it
                clusters=self.experiment.fit.one_clustering,
                seed=self.experiment.seed,
                scoring=self.experiment.lm.scoring,
                max_replaced=1.0,  # small sizes know few characters, which is part of what they show
                compute=self.compute(self.directory / CURVE_JOBS),
                least=2,
            )
            if failed:
                self.failed[f"{curve.lm} (curve)"] = failed
            curve.save(self.new / CURVE)
            self.save_table("curve", curve.to_frame().set_index("edition"))
        return curve

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
        multitext = read_multitext(
            corpus.path,
            format=corpus.format,
            edition_info=corpus.edition_info,
            edition_columns=corpus.edition_columns,
            editions=corpus.editions,
            decode_errors=corpus.errors,
            on_error=corpus.on_error,
            ranges=corpus.ranges,
            vref=corpus.vref,
            original_language=corpus.original_language,
            progress=self.progress,
        )
        multitext = multitext.between(corpus.first_intent, corpus.last_intent)
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

    @property
    def caches(self) -> list[Path]:
        """Folders of the language models, one per fold."""
        return caches(self.directory, self.experiment.split.folds)

    def score_given(self, model: HuggingFaceLM, multitext: Multitext) -> Surprisals:
        """Score every edition with a model that needs no training."""
        with self.stage(model.name):
            table = surprisals_of(
                model, multitext, lm=model.name, cache=self.directory / SCORED, progress=self.progress
            )
        table.save(self.new / "surprisals" / f"{table.lm}.csv")
        return table

    def train_all(self, parts: Parts | Folds) -> list[Surprisals]:
        """Train and score each kind of language model."""
        corpus = self.experiment.corpus
        tokenization = corpus.tokenization if isinstance(corpus, FileCorpus) else "as-is"
        for cache in self.caches:
            note_preparation(cache, tokenization)
        tables = []
        with warned_once() as of_model:
            for lm in self.experiment.lm.models:
                with of_model(lm):
                    tables.append(self.score(lm, parts))
        return tables

    def score(self, lm: str, parts: Parts | Folds) -> Surprisals:
        """Train and score one kind of language model on every edition."""
        settings = self.experiment.lm
        recipe, scoring = settings.find(lm, settings.scoring)
        with self.stage(lm):
            table, failed = compute_where_possible(
                parts,
                lm=recipe,
                scoring=scoring,
                max_replaced=settings.max_replaced,
                seed=self.experiment.seed,
                compute=self.compute(self.directory / JOBS),
                least=2,
            )
        if failed:
            self.failed[table.lm] = failed
        with kept(f"The language models of {lm}"):
            table.save(self.new / "surprisals" / f"{table.lm}.csv")
        folders = (job_folder(cache, edition, recipe.name) for cache in self.caches for edition in table.editions)
        logs = join_logs(map(read_job_log, folders))
        self.seconds[lm] = round(float(logs["seconds"].sum()), 2)  # of training, also if it was done in an earlier run
        return table

    def compute(self, cache: Path) -> Compute:
        """Return where language models are trained, and kept."""
        settings = self.experiment.lm
        workers = settings.workers if self.executor is None else 1
        return Compute(
            device=settings.device, cache=cache, workers=workers, executor=self.executor, progress=self.progress
        )

    def save_table(self, name: str, table: pd.DataFrame, *, index: bool = True) -> None:
        """Write a table as CSV."""
        with atomic_path(self.new / "tables" / f"{name}.csv") as temporary:
            guarded(table).to_csv(temporary, index=index)
