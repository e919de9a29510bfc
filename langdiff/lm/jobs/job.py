"""Job: the surprisals of one edition under one recipe, with a folder of its results."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, cast

import pandas as pd

from langdiff.base.checksums import CHECKSUMS, DamageError, read_checksums, write_checksums
from langdiff.base.io import locked, write_json
from langdiff.base.signature import full_hash
from langdiff.errors import CheckpointError, DataError, LangdiffError, listing, option
from langdiff.lm.automatic import Automatic
from langdiff.lm.checkpoint import read_recipe, remove_states
from langdiff.lm.jobs.folder import (
    COMPUTE,
    KEY,
    LOG,
    MODEL,
    TRAINED,
    is_of_table,
    job_folder,
    kept_models,
    make_ready,
    mark_used,
    model_folder,
    read_json,
    read_table,
    record_files,
    remove_tables,
    table_names,
    write_table,
)
from langdiff.lm.jobs.record import JobRecord, describe_compute, device_kind, hash_texts, versions_of
from langdiff.lm.language_model import (
    LanguageModelRecipe,
    Model,
    Report,
    TrainingPlan,
    report_nothing,
)
from langdiff.lm.scoring import Scoring
from langdiff.lm.texts import caution_about_rates, check_texts, naming
from langdiff.lm.units.alphabet import Alphabet
from langdiff.tables.multitext import Parts, texts_by_part


@dataclass(frozen=True, kw_only=True)
class Job:
    """Description of a job for a worker.

    Attributes
    ----------
    scoring : Scoring
        What the trained model does; training knows nothing of it.
    max_replaced : float
        Fraction of the test characters that may be replaced.
    parts : Parts
        Parts of this edition alone; the worker reads the texts.
    folder : Path, optional
        Where models of the edition and recipe are kept, each with its key, log and surprisals in a folder of its own.
    """

    edition: str
    parts: Parts
    recipe: LanguageModelRecipe
    scoring: Scoring
    max_replaced: float
    device: str
    seed: int
    folder: Path | None


@dataclass(frozen=True, kw_only=True)
class JobResult:
    """Result of scoring an edition.

    Attributes
    ----------
    surprisals : DataFrame
        Table of `LanguageModel.surprisal`, one row per intent that the edition has.
    part : str
        What was scored, for messages.
    scoring : Scoring
        How.
    of_model : tuple of str
        What a reader of any surprisals by this model should know.
    record : JobRecord or None
        What the surprisals depend on; None until the result is kept.
    damage : tuple of str
        What was damaged of an earlier result, and was therefore done again.
    """

    surprisals: pd.DataFrame
    part: str
    scoring: Scoring
    of_model: tuple[str, ...]
    record: JobRecord | None = None
    damage: tuple[str, ...] = ()

    @property
    def replaced_rate(self) -> float:
        """Fraction of the characters scored that were replaced; 0 without any."""
        return float(self.surprisals["replaced"].sum() / max(1, self.surprisals["characters"].sum()))

    @property
    def cautions(self) -> tuple[str, ...]:
        """Cautions for readers of these surprisals."""
        rate = caution_about_rates({self.part: self.replaced_rate}, self.scoring)
        return (*self.of_model, *filter(None, [rate]))


@dataclass(frozen=True, kw_only=True)
class Found:
    """Existing results of a job.

    Attributes
    ----------
    result : JobResult or None
        Its result; None if the model has to be trained.
    damage : tuple of str
        What was damaged, and is done again.
    """

    result: JobResult | None = None
    damage: tuple[str, ...] = ()


class ReplacedError(DataError):
    """Error for an edition with too many replaced characters."""


def explain_replaced(rates: Mapping[str, float], max_replaced: float) -> str | None:
    """Return an error for editions with more characters replaced than allowed; None if there are none."""
    high = {edition: rate for edition, rate in rates.items() if rate > max_replaced}
    if not high:
        return None
    worst = sorted(high.items(), key=lambda item: -item[1])
    shown = ", ".join(f"{edition} {rate:.1%}" for edition, rate in worst[:20]) + (", …" if len(worst) > 20 else "")
    return (
        f"{len(high)} of {len(rates)} edition(s) have more than {max_replaced:.2%} of the characters to be scored "
        f"replaced, as too rare in training: {shown}. Their bits would be those of a stand-in. Add training text, "
        "lower min_count if the recipe sets it, leave the editions out, or allow it by a higher "
        f"{option('max_replaced')}."
    )


def find_model(cache: Path, edition: str, recipe: LanguageModelRecipe, seed: int | None = None) -> Path:
    """Return the folder of the one finished model of an edition by a recipe and, if one is given, a seed."""
    folder = job_folder(cache, edition, recipe.name)
    if isinstance(recipe, Automatic):
        recipe.read(folder, device="cpu")
    found = [each for each in kept_models(cache, edition, recipe, seed) if (each / CHECKSUMS).exists()]
    if not found:
        others = [path.parent for path in folder.glob(f"*/{CHECKSUMS}")]
        why = (
            f"only of other settings or seeds: {listing([each.name for each in others])}"
            if others
            else ("training was interrupted or never begun")
        )
        raise CheckpointError(f"{folder}: no finished language model; {why}. Train it first.")
    if len(found) > 1:
        seeds = {each.name: read_json(each / KEY)["seed"] for each in found}
        told = ", ".join(f"{name} (seed {number})" for name, number in seeds.items())
        what = (
            f"say which: {option('training_seed', min(seeds.values()))}"
            if len(set(seeds.values())) == len(seeds)
            else "they learned from other texts, or in another precision: move those elsewhere that are not meant"
        )
        raise CheckpointError(f"{folder}: {len(found)} finished language models, {told}; {what}.")
    return found[0]


def load_finished(folder: Path, recipe: LanguageModelRecipe, device: str) -> Model:
    """Load a finished model by a recipe; `CheckpointError` if its files are damaged."""
    if read_recipe(folder / MODEL, recipe.kind) != recipe:
        raise CheckpointError(f"{folder}: trained by another recipe called {recipe.name!r}. Train it again.")
    return recipe.read(folder / MODEL, device=device)


def run_job(job: Job, report: Report = report_nothing) -> JobResult:
    """Return the surprisals of a job: from its folder, by its existing model, or by training.

    A training that was interrupted goes on from its last finished epoch.
    """
    with naming(job.edition):
        texts = read_texts(job)
        with claim(job, texts) as found:
            if found.result is not None:
                return found.result
            result = replace(_train_and_score(job, texts, report), damage=found.damage)
            return keep_result(job, texts, result)


def read_texts(job: Job) -> dict[str, pd.Series]:
    """Return the texts of a job by part, after checking that they can be scored and few characters are replaced."""
    names = {"train": "training part", "dev": "dev part", "test": "test part"}
    texts = {part: check_texts(read, names[part]) for part, read in texts_by_part(job.parts, job.edition).items()}
    # before training, which may take hours
    if (message := explain_replaced({job.edition: replaced_rate(job, texts)}, job.max_replaced)) is not None:
        raise ReplacedError(message)
    return texts


def replaced_rate(job: Job, texts: Mapping[str, pd.Series] | None = None) -> float:
    """Return the fraction of the test characters of a job that its model will replace."""
    train, test = (
        (getattr(job.parts, part).text(job.edition) if texts is None else texts[part]).to_list()
        for part in ("train", "test")
    )
    return Alphabet.from_texts(train, min_count=job.recipe.min_count).out_of_alphabet_rate(test)


@contextmanager
def claim(job: Job, texts: Mapping[str, pd.Series]) -> Iterator[Found]:
    """Lock the folder of a job within the block; return earlier results, or prepare the folder for new ones."""
    if job.folder is None:
        yield Found()
        return
    key = job_key(job, texts)
    folder = model_folder(job.folder, key)
    with locked(folder, "training here. Wait for it, or use another cache."):
        found = _find_result(job, folder, key, texts)
        if found.result is None:
            make_ready(folder, key)
        yield found


def find_finished(job: Job) -> JobResult | None:
    """Return the result of a job if its folder is complete, so that neither training nor scoring is left."""
    if job.folder is None or not any(job.folder.glob(f"*/{CHECKSUMS}")):
        return None
    with suppress(LangdiffError):  # which running the job tells
        texts = read_texts(job)
        key = job_key(job, texts)
        folder = model_folder(job.folder, key)
        if (folder / CHECKSUMS).exists():
            with locked(folder, "training here."):
                return _find_result(job, folder, key, texts, score=False).result
    return None


def keep_result(job: Job, texts: Mapping[str, pd.Series], result: JobResult) -> JobResult:
    """Write the result of a job and return it with its record; remove the states of its training."""
    kind = device_kind(job.recipe, job.device)
    made = {"compute": describe_compute(job.recipe, kind), "versions": versions_of(job.recipe)}
    key = job_key(job, texts)
    record = _record(key, texts, made)
    if job.folder is not None:
        folder = model_folder(job.folder, key)
        write_json(folder / COMPUTE, made)
        write_json(folder / TRAINED, result.of_model)
        write_table(folder, job.scoring, _table_key(job, key, record), result.surprisals)
        record_files(folder)
        remove_states(folder / MODEL)
    return replace(result, record=record)


def _train_and_score(job: Job, texts: Mapping[str, pd.Series], report: Report) -> JobResult:
    folder = None if job.folder is None else model_folder(job.folder, job_key(job, texts))
    plan = TrainingPlan(
        seed=job.seed,
        name=job.edition,
        device=job.device,
        log_path=None if folder is None else folder / LOG,
        directory=None if folder is None else folder / MODEL,
        report=report,
    )
    model = job.recipe.fit(texts["train"], texts["dev"], plan)
    if plan.directory is not None:
        model.save(plan.directory)
    return score_texts(model, texts["test"], "test", job.scoring)


def score_texts(model: Model, texts: pd.Series, part: str, scoring: Scoring) -> JobResult:
    """Score texts, called `part` in messages."""
    frame = model.surprisal(texts, scoring=scoring)
    return JobResult(surprisals=frame, part=part, scoring=scoring, of_model=model.cautions)


def job_key(job: Job, texts: Mapping[str, pd.Series]) -> dict[str, Any]:
    """Return everything that determines the trained model, as JSON restores it; of the device only its precision."""
    key = {
        "edition": job.edition,
        "recipe": asdict(job.recipe),
        "precision": job.recipe.precision(device_kind(job.recipe, job.device)),
        "seed": job.seed,
        "kind": job.recipe.kind,
        "training_format": job.recipe.training_format,
        "texts": {part: hash_texts(texts[part]) for part in ("train", "dev")},
    }
    return cast(dict[str, Any], json.loads(json.dumps(key)))  # no tuples


def _table_key(job: Job, key: Mapping[str, Any], record: JobRecord) -> dict[str, Any]:
    """Return everything that determines the surprisals: the model, the texts scored, and the scoring."""
    return {"model": full_hash(key), "scoring": job.scoring.key, "test": record.key["texts"]["test"]}


def _find_result(
    job: Job, folder: Path, trained: Mapping[str, Any], texts: Mapping[str, pd.Series], *, score: bool = True
) -> Found:
    """Return the results of an earlier run, or new scores by its model, if all its files are intact."""
    if not (folder / CHECKSUMS).exists():
        return Found()
    damage: tuple[str, ...] = ()
    try:
        kept = read_checksums(folder)
        damaged = kept.damage()
        if damaged and not score:
            return Found()
        if beside := [why for name, why in damaged.items() if not is_of_table(name)]:
            return Found(damage=(f"{' '.join(beside[:3])} The model is trained again.",))
        if json.loads(kept.read(KEY)) != trained:
            return Found()
        kept = remove_tables(kept, damaged)
        damage = tuple(f"{why} The text is scored again." for why in damaged.values())
        of_model = tuple(json.loads(kept.read(TRAINED)))
        record = _record(trained, texts, json.loads(kept.read(COMPUTE)))
        key = _table_key(job, trained, record)
        frame = read_table(kept, job.scoring, key, texts["test"])
        if frame is None and not score:
            return Found()
        if frame is None:
            model = job.recipe.read(folder / MODEL, device=job.device)
            frame = model.surprisal(texts["test"], scoring=job.scoring)
            write_table(folder, job.scoring, key, frame)
            write_checksums(folder, table_names(job.scoring), kept.files)
    except (DamageError, CheckpointError) as error:  # not a device that is missing
        return Found(damage=(*damage, f"{error} The model is trained again."))
    mark_used(folder)
    remove_states(folder / MODEL)
    result = JobResult(surprisals=frame, part="test", scoring=job.scoring, of_model=of_model, record=record)
    return Found(result=replace(result, damage=damage))


def _record(key: Mapping[str, Any], texts: Mapping[str, pd.Series], made: Mapping[str, Any]) -> JobRecord:
    return JobRecord(key={**key, "texts": {**key["texts"], "test": hash_texts(texts["test"])}}, **made)


def read_record(folder: Path) -> JobRecord:
    """Return the record of a finished model."""
    try:
        kept = read_checksums(folder)
        return JobRecord(key=json.loads(kept.read(KEY)), **json.loads(kept.read(COMPUTE)))
    except DamageError as error:
        raise CheckpointError(f"{error} Train the model again.") from error
