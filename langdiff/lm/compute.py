"""Surprisals of a multitext: one language model per edition and per fold, trained in parallel on request."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import pandas as pd
from rich.progress import Progress, TaskID

from langdiff.base.progress import progress_bar
from langdiff.base.signature import short_hash
from langdiff.base.types import seed_number, seed_numbers
from langdiff.errors import ConfigError, DataError, FaultsError, LangdiffError, without_figures
from langdiff.lm.automatic import settle, tell_cost
from langdiff.lm.jobs.dask_jobs import is_dask, run_on_dask
from langdiff.lm.jobs.folder import fold_cache, job_folder
from langdiff.lm.jobs.job import Job, JobResult, ReplacedError, explain_replaced, find_finished, replaced_rate
from langdiff.lm.jobs.record import device_kind, provenance_of_parts, surprisals_of_frames
from langdiff.lm.jobs.workers import (
    Failures,
    cautions_of,
    check_fraction,
    frames_of,
    processes,
    run_here,
    run_in,
    warn_of,
)
from langdiff.lm.language_model import LanguageModelRecipe, ScoredLM, find_scored_lm
from langdiff.lm.scoring import Scoring
from langdiff.tables.long_tables import BESIDE, Provenance
from langdiff.tables.multitext import Folds, Multitext, Parts
from langdiff.tables.surprisals import Surprisals


@dataclass(frozen=True, kw_only=True)
class Compute:
    """Device, workers and cache of a training, which do not affect the results.

    Experiments that train many models take it as one argument; `langdiff.compute_surprisals` takes the same settings
    one by one.

    Attributes
    ----------
    device : str
        Device, auto (CUDA where there is one, else the CPU), ``"cpu"``, ``"cuda"``, …. Several workers on
        auto or ``"cuda"`` get the GPUs in turn.
    cache : str or Path, optional
        Folder that keeps models, logs and surprisals; what it has of the same texts is not trained again.
    workers : int
        Number of processes that train side by side, one thread each; a script that asks for more than one
        needs ``if __name__ == "__main__":``, as `multiprocessing` explains.
    executor : concurrent.futures.Executor, optional
        Where jobs run, instead of processes of this call; `cache` must then be a folder that all workers see.
    progress : bool, optional
        Whether to draw a progress bar; by default if stderr is a terminal.

    Raises
    ------
    ConfigError
        If there is less than one worker, or an executor beside several workers.

    Examples
    --------
    >>> Compute(device="cpu", cache="runs/models").inside("seed-1").cache
    PosixPath('runs/models/seed-1')
    """

    device: str = "auto"
    cache: str | Path | None = None
    workers: int = 1
    executor: Executor | None = None
    progress: bool | None = None

    def __post_init__(self) -> None:
        """Check the workers."""
        if self.workers < 1:
            raise ConfigError(f"workers must be at least 1, got {self.workers}.")
        if self.executor is not None and self.workers > 1:
            raise ConfigError("give workers or an executor, not both: the executor has workers of its own.")

    @property
    def folder(self) -> Path | None:
        """The cache as a path."""
        return None if self.cache is None else Path(self.cache)

    def inside(self, name: str) -> "Compute":
        """Return the settings with a folder inside the cache, if there is a cache.

        Parameters
        ----------
        name : str
            Path of the folder, relative to the cache.
        """
        return self if self.folder is None else replace(self, cache=self.folder / name)


def as_compute(compute: Compute | None) -> Compute:
    """Return the settings given, by default those of `Compute`."""
    match compute:
        case None:
            return Compute()
        case Compute():
            return compute
        case type():
            raise ConfigError(f"compute is the class {compute.__name__}: write {compute.__name__}().")
        case _:
            raise ConfigError(f"compute is {compute!r}; give langdiff.lm.Compute, with device, cache or workers.")


class _Scored(NamedTuple):
    """Scores of all editions by their language models.

    Attributes
    ----------
    surprisals : Surprisals
        Bits of the test intents.
    failed : dict from str to str
        What was wrong with editions that are left out.
    cautions : list of (str, str)
        Edition and what a reader of its surprisals should know.
    """

    surprisals: Surprisals
    failed: dict[str, str]
    cautions: list[tuple[str, str]]


def compute_surprisals(
    parts: Parts | Folds,
    *,
    lm: str | LanguageModelRecipe = "char-residual",
    scoring: Scoring | str | None = None,
    max_replaced: float = 0.05,
    device: str = "auto",
    seed: int | np.random.Generator = 0,
    cache: str | Path | None = None,
    workers: int = 1,
    executor: Executor | None = None,
    progress: bool | None = None,
) -> Surprisals:
    """Train one language model per edition and return the surprisals of the test intents.

    Parameters
    ----------
    parts : Parts or Folds
        What models learn from, stop by and are measured on: one division (`langdiff.split`), or several, by which every
        intent is scored by a model that has seen nothing of its document (`langdiff.split_into_folds`).
    lm : str or LanguageModelRecipe
        A name in `langdiff.lm.RECIPES`, ``"kneser-ney-N"`` for character n-grams of order N, ``"auto"`` for the
        recipe that suits the longest training part (the table names it), or a recipe of one's own. A name may end
        in ``-unpriced`` or ``-carried``, which stand for `scoring`.
    scoring : Scoring or str, optional
        How the trained models score: whether which characters were replaced as too rare is priced, as by
        default, or free (``"unpriced"``), and whether the state is carried from intent to intent
        (``"carried"``). With a cache, another way of scoring trains nothing.
    max_replaced : float
        Fraction of an edition's test characters, from 0 to 1, that may be replaced as too rare in training;
        above it there is an error, before that edition is trained.
    device : str
        Device, auto (CUDA where there is one, else the CPU), ``"cpu"``, ``"cuda"``, …. Several workers on
        auto or ``"cuda"`` get the GPUs in turn.
    seed : int or numpy.random.Generator
        Seed of every model, or from which the seeds of the folds are made. Character n-grams draw nothing at random.
    cache : str or Path, optional
        Folder that keeps models, logs and surprisals, in ``EDITION/RECIPE/``; those of folds in
        ``fold-NUMBER/EDITION/RECIPE/``. An edition whose training
        and dev texts, recipe, seed and versions are those of an earlier run is not trained again, and one
        whose training was interrupted goes on from its last state, which is a minute and an epoch old at most.
    workers : int
        Processes that train side by side, one thread each; a script that asks for more than one
        needs ``if __name__ == "__main__":``, as `multiprocessing` explains.
    executor : concurrent.futures.Executor, optional
        Where jobs run, instead of processes of this call; `cache` must then be a folder that all
        workers see. With ``Client.get_executor()`` of Dask, jobs of workers that die are done again.
    progress : bool, optional
        Draw a progress bar; by default if stderr is a terminal.

    Returns
    -------
    Surprisals
        Bits of the test intents, NaN where an edition lacks one, with their `intent_info`; the same to the last bit
        on the CPU for any number of workers and of interruptions. Of folds, those of all intents, and the fold of each
        in the column ``fold`` of `intent_info`: `langdiff.regression.compare_folds` says how much their models differ.

    Raises
    ------
    ConfigError
        If recipe, scoring, device or workers cannot be used, or the seed is None where networks are trained.
    DataError
        If more than `max_replaced` of the test characters of editions are replaced; the message names all
        of them, with their rates.
    LangdiffError
        If editions cannot be trained or scored; the message names them. With a cache, all other
        editions are finished first; without one, the first such error ends the call.

    Warns
    -----
    LangdiffWarning
        If more than 0.1 % of an edition's characters are outside the alphabet, or subwords are
        learned where words are not separated.

    Examples
    --------
    >>> import langdiff as ld
    >>> import pandas as pd
    >>> verses = {"eng": ["the cat sat", "a dog ran"] * 70, "deu": ["die Katze sass", "ein Hund lief"] * 70}
    >>> bible = ld.read_frame(pd.DataFrame(verses))
    >>> train, dev, test = (bible.intents[a:b] for a, b in ((0, 120), (120, 130), (130, 140)))
    >>> parts = ld.Parts(train=bible.sel(intents=train), dev=bible.sel(intents=dev), test=bible.sel(intents=test))
    >>> compute_surprisals(parts, lm="char-tiny", seed=0, progress=False)
    Surprisals by char-tiny: 10 intents × 2 editions, 0 of 20 cells missing

    All of the text, by five models per edition:

    >>> compute_surprisals(ld.split_into_folds(bible, 5), lm="kneser-ney-3", progress=False)
    Surprisals by kneser-ney-3: 140 intents × 2 editions, 0 of 280 cells missing
    """
    surprisals, _ = compute_where_possible(
        parts,
        lm=lm,
        scoring=scoring,
        max_replaced=max_replaced,
        seed=seed,
        compute=Compute(device=device, cache=cache, workers=workers, executor=executor, progress=progress),
    )
    return surprisals


def compute_where_possible(
    parts: Parts | Folds,
    *,
    lm: str | LanguageModelRecipe,
    scoring: Scoring | str | None = None,
    max_replaced: float = 0.05,
    seed: int | np.random.Generator | None,
    compute: Compute,
    least: int | None = None,
) -> tuple[Surprisals, dict[str, str]]:
    """Compute surprisals as `compute_surprisals` does, but leave out editions that fail."""
    if not isinstance(parts, Parts | Folds):
        raise ConfigError(
            f"parts must be Parts or Folds, not {type(parts).__name__}: divide a multitext by split or "
            "split_into_folds."
        )
    recipe, scoring = named = settle(find_scored_lm(lm, scoring), parts)
    check_fraction(max_replaced)
    # what draws nothing is kept under one seed, whatever is given
    number = seed_number(seed, "initial weights and dropout") if recipe.stochastic else 0
    if compute.executor is None:
        device_kind(recipe, compute.device)  # of this machine: better now than in every worker

    def score(parts: Parts, seed: int, cache: Path | None, label: str) -> _Scored:
        jobs = [
            Job(
                edition=edition,
                parts=_of_edition(parts, edition),
                recipe=recipe,
                scoring=scoring,
                max_replaced=max_replaced,
                device=compute.device,
                seed=seed,
                folder=None if cache is None else job_folder(cache, edition, recipe.name),
            )
            for edition in parts.train.editions
        ]
        if recipe.effort and compute.executor is None and device_kind(recipe, compute.device) == "cpu":
            left = [job.edition for job in jobs if find_finished(job) is None]
            with suppress(LangdiffError):  # which running the job tells
                tell_cost(recipe, parts.train.sel(editions=left), parts.dev.sel(editions=left), workers)
        failures = Failures(len(jobs), at_once=cache is None, lm=named.name)
        with progress_bar(progress=compute.progress, lines=True) as bar:
            task = bar.add_task(label, total=len(jobs), note="")
            with _naming_all_replaced(jobs, max_replaced):
                results = _run(jobs, pool, failures, bar, task)
                if len(results) < (len(jobs) if least is None else least):
                    failures.raise_any()
        return _scored(parts, results, failures, named)

    folder, workers = compute.folder, min(compute.workers, len(parts.editions))
    device = compute.device if recipe.uses_device else "cpu"
    with nullcontext(compute.executor) if compute.workers == 1 else processes(workers, device) as pool:
        if isinstance(parts, Folds):
            seeds = fold_seeds(recipe, number, len(parts.parts))
            found = _score_folds(
                parts,
                lambda part, fold: score(
                    part,
                    seeds[fold - 1],
                    None if folder is None else fold_cache(folder, fold),
                    f"{named.name}, fold {fold} of {len(seeds)}",
                ),
                number if recipe.stochastic else None,
            )
        else:
            found = score(parts, number, folder, named.name)
    warn_of(found.cautions)
    return found.surprisals, found.failed


def fold_seeds(recipe: LanguageModelRecipe, seed: int, folds: int) -> list[int]:
    """Return the seed of the models of each fold, derived from one seed; 0 where training is deterministic."""
    return seed_numbers(seed, folds) if recipe.stochastic else [0] * folds


@contextmanager
def _naming_all_replaced(jobs: list[Job], max_replaced: float) -> Iterator[None]:
    """Name all editions with too many replaced characters in the error about one of them."""
    try:
        yield
    except ReplacedError as error:
        message = explain_replaced({job.edition: replaced_rate(job) for job in jobs}, max_replaced)
        raise DataError(message) from error


def _run(
    jobs: list[Job], pool: Executor | None, failures: Failures, bar: Progress, task: TaskID
) -> dict[str, JobResult]:
    """Run jobs in the executor, if one is given; return the results by edition."""
    if pool is not None and is_dask(pool):
        return run_on_dask(pool, jobs, failures, bar, task)
    if pool is not None:
        return run_in(pool, jobs, failures, bar, task)
    return run_here(jobs, failures, bar, task)


def _scored(parts: Parts, results: Mapping[str, JobResult], failures: Failures, named: ScoredLM) -> _Scored:
    """Return the table of the editions that did not fail."""
    records = {edition: result.record for edition, result in results.items() if result.record is not None}
    parts = _of_editions(parts, results)
    provenance = provenance_of_parts(named.recipe, named.scoring, parts, records)
    failed = {edition: str(error) or type(error).__name__ for edition, error in failures.errors.items()}
    table = surprisals_of_frames(frames_of(results), parts.test, named.name, provenance)
    return _Scored(table, failed, cautions_of(results))


def _of_edition(parts: Parts, edition: str) -> Parts:
    return Parts(**{name: _column(getattr(parts, name), edition) for name in ("train", "dev", "test")})


def _column(multitext: Multitext, edition: str) -> Multitext:
    """Return one edition without `intent_info`, which `sel` would copy for every edition."""
    place = cast(int, multitext.editions.get_loc(edition))
    column = slice(place, place + 1)
    presence = multitext.presence.iloc[:, column]
    return replace(
        multitext,
        presence=presence,
        edition_info=multitext.edition_info.iloc[column],
        intent_info=pd.DataFrame(index=presence.index),  # the same, which is sent once
        sources={edition: multitext.sources[edition]},
        features=None,
    )


def _of_editions(parts: Parts, editions: Collection[str]) -> Parts:
    kept = [edition for edition in parts.train.editions if edition in editions]
    if len(kept) == len(parts.train.editions):
        return parts
    return parts.sel(kept)


def _score_folds(folds: Folds, score: Callable[[Parts, int], _Scored], seed: int | None) -> _Scored:
    """Train and score fold by fold; return one table of all intents.

    An edition that fails in one fold is left out of the table, and of the folds after it.
    """
    found: list[_Scored] = []
    failed: dict[str, str] = {}
    for number in range(1, len(folds.parts) + 1):
        with _naming_fold(number, len(folds.parts)):
            found.append(score(folds.parts[number - 1], number))
        new = {edition: f"fold {number}: {why}" for edition, why in found[-1].failed.items()}
        if new:
            failed |= new
            folds = folds.sel([edition for edition in folds.editions if edition not in failed])
    tables = [table.surprisals.sel(editions=folds.editions) for table in found]
    return _Scored(_join(tables, folds, seed), failed, _each_once(found, failed))


def _join(tables: Sequence[Surprisals], folds: Folds, seed: int | None) -> Surprisals:
    def join(name: str) -> pd.DataFrame:
        joined: pd.DataFrame = pd.concat([getattr(table, name) for table in tables])
        return joined.loc[folds.multitext.intents]

    known = [name for name in ("bits", *BESIDE) if getattr(tables[0], name) is not None]
    columns: dict[str, Any] = {name: join(name) for name in known}
    info = folds.multitext.intent_info.assign(fold=folds.fold)
    records = [table.provenance for table in tables if table.provenance is not None]
    kept: dict[str, Any] = {"intent_info": info, "edition_info": tables[0].edition_info, "lm": tables[0].lm}
    return Surprisals(**columns, **kept, provenance=_provenance(records, folds, seed))


def _provenance(records: Sequence[Provenance], folds: Folds, seed: int | None) -> Provenance:
    """Return the provenance of the joint table; folds differ in their texts and in seeds derived from one."""

    def joined(name: str) -> str | None:
        values = dict.fromkeys(getattr(record, name) for record in records)
        return "+".join(sorted(value for value in values if value is not None)) or None

    return Provenance(
        recipe=records[0].recipe,
        scoring=records[0].scoring,
        seed=seed,
        texts=short_hash([record.texts for record in records]),
        preparation=joined("preparation"),
        split=f"folds:{len(records)},by:{folds.group.name},measured:{len(folds.multitext)}",
        compute=joined("compute"),
        versions=joined("versions"),
    )


def _each_once(found: Sequence[_Scored], failed: dict[str, str]) -> list[tuple[str, str]]:
    """Return the cautions of all folds, each kind once regardless of its figures."""
    kinds: dict[tuple[str, str], str] = {}
    for scored in found:
        for edition, caution in scored.cautions:
            if edition not in failed:
                kinds.setdefault((edition, without_figures(caution)), caution)
    return [(edition, caution) for (edition, _), caution in kinds.items()]


@contextmanager
def _naming_fold(number: int, of: int) -> Iterator[None]:
    """Add the fold to the messages of errors."""
    try:
        yield
    except FaultsError:
        raise
    except LangdiffError as error:
        raise type(error)(f"fold {number} of {of}: {error}") from error
