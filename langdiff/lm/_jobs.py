"""One job: the surprisals of one edition under one recipe, with a folder that remembers them."""

import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote, unquote

import pandas as pd
import sentencepiece
import torch
from filelock import FileLock, Timeout

from langdiff import __version__
from langdiff._io import atomic_path, write_text
from langdiff.errors import CheckpointError, MissingExtraError, OutputError
from langdiff.lm._logs import LOG, read_log
from langdiff.lm._provenance import JobRecord, describe_compute, hash_texts, training_precision
from langdiff.lm._resume import remove_states
from langdiff.lm._scoring import find_device
from langdiff.lm._trainer import Report
from langdiff.lm._training import caution_about_rates, fit_language_model, naming
from langdiff.lm.kneser_ney_model import KneserNeyModel, fit_kneser_ney, load_kneser_ney
from langdiff.lm.language_model import Epoch, LanguageModel, check_texts, load_language_model, sizes_of
from langdiff.lm.ngrams import AnyRecipe, KneserNeyRecipe
from langdiff.multitext import Parts

AnyModel = LanguageModel | KneserNeyModel

logger = logging.getLogger(__name__)

_TABLE = "surprisals.parquet"  # written last: where it is, the job is done
_MODEL = "model"
_COMPUTE = "compute.json"  # what the key leaves out, because results that differ by it are taken for the same
_COLUMNS = ["bits", "eos_bits", "units"]  # what cannot be counted again from the text


@dataclass(frozen=True, kw_only=True)
class Job:
    """What a worker needs to know.

    Attributes
    ----------
    parts : Parts
        Of this edition alone; its texts are read by the worker.
    folder : Path, optional
        Where key, model, log and surprisals are kept.
    group : int
        Networks trained as one program, of which this is one; it decides the order of sums.
    """

    edition: str
    language: str | None
    parts: Parts
    recipe: AnyRecipe
    device: str
    seed: int
    folder: Path | None
    group: int = 1

    @property
    def model_folder(self) -> Path | None:
        """Where the model is saved."""
        return None if self.folder is None else self.folder / _MODEL

    @property
    def log_path(self) -> Path | None:
        """Where the epochs are logged."""
        return None if self.folder is None else self.folder / LOG


@dataclass(frozen=True, kw_only=True)
class JobResult:
    """What scoring an edition gives.

    Attributes
    ----------
    surprisals : DataFrame
        As `LanguageModel.surprisal` gives, for the intents that the edition has.
    cautions : tuple of str
        What a reader of the surprisals should know.
    record : JobRecord or None
        What they depend on; None until the result is kept.
    """

    surprisals: pd.DataFrame
    cautions: tuple[str, ...]
    record: JobRecord | None = None


def job_folder(cache: Path, edition: str, recipe: str) -> Path:
    """Return the folder of a job; names that no folder may have are quoted."""
    return cache / _quoted(edition) / _quoted(recipe)


def load_finished(cache: Path, edition: str, recipe: AnyRecipe, device: str) -> AnyModel:
    """Load the language model of a job that was finished by this very recipe.

    Raises
    ------
    CheckpointError
        If there is none, or the files are damaged.
    """
    folder = job_folder(cache, edition, recipe.name)
    if not (folder / _TABLE).is_file():
        raise CheckpointError(f"{folder}: no finished language model here; training was interrupted or never begun.")
    model: AnyModel
    if isinstance(recipe, KneserNeyRecipe):
        model = load_kneser_ney(folder / _MODEL)
    else:
        model = load_language_model(folder / _MODEL, device=device)
    if model.recipe != recipe:
        raise CheckpointError(f"{folder}: trained by another recipe of the name {recipe.name!r}. Train it again.")
    return model


def _quoted(name: str) -> str:
    quoted = quote(name, safe=" ()+,=@")
    return quoted.replace(".", "%2E") if not name.strip(".") else quoted


def silent(_epochs: float, _last: Epoch | None) -> None:
    """Report nothing."""


def run_job(job: Job, report: Report = silent) -> JobResult:
    """Give the surprisals of a job, from its folder if they are there, else by training.

    A training that was interrupted goes on from its last finished epoch.

    Raises
    ------
    LangdiffError
        As `langdiff.lm.train_language_model`; the message names the edition.
    """
    with naming(job.edition):
        texts = read_texts(job)
        with claim(job, texts) as known:
            if known is None:
                known = keep_result(job, texts, _train_and_score(job, texts, report))
        return known


def read_texts(job: Job) -> dict[str, pd.Series]:
    """Return the texts of a job by part, refusing what has no surprisal."""
    return {
        part: check_texts(multitext.text(job.edition), what)
        for part, what, multitext in (
            ("train", "training part", job.parts.train),
            ("dev", "dev part", job.parts.dev),
            ("test", "test part", job.parts.test),
        )
    }


@contextmanager
def claim(job: Job, texts: Mapping[str, pd.Series]) -> Iterator[JobResult | None]:
    """Own the folder of a job inside the block; give what an earlier run left there, else make it ready."""
    if job.folder is None:
        yield None
        return
    key = job_key(job, texts)
    with _own(job.folder):
        known = _read_result(job.folder, key, texts["test"])
        if known is None:
            _make_ready(job.folder, key)
        else:
            remove_states(job.folder / _MODEL)
        yield known


def keep_result(job: Job, texts: Mapping[str, pd.Series], result: JobResult) -> JobResult:
    """Write the result of a job and return it with its record; the states of its training are of no use any more."""
    compute = describe_compute(job.recipe, find_device(job.device), job.group)
    if job.folder is not None:
        write_text(job.folder / _COMPUTE, json.dumps(compute))
        _write_result(job.folder, result)
        remove_states(job.folder / _MODEL)
    return replace(result, record=JobRecord(key=job_key(job, texts), compute=compute))


@contextmanager
def _own(folder: Path) -> Iterator[None]:
    """Keep other processes out of a job's folder."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / ".lock")
        lock.acquire(timeout=0)
    except Timeout as error:
        raise OutputError(f"{folder}: another process is training here. Wait for it, or use another cache.") from error
    except OSError as error:
        raise OutputError(f"{folder}: cannot be written: {error.strerror or error}.") from error
    try:
        yield
    finally:
        lock.release()


def _train_and_score(job: Job, texts: Mapping[str, pd.Series], report: Report) -> JobResult:
    if isinstance(job.recipe, KneserNeyRecipe):
        ngrams = fit_kneser_ney(
            texts["train"],
            texts["dev"],
            recipe=job.recipe,
            language=job.language,
            name=job.edition,
            directory=job.model_folder,
            log_path=job.log_path,
        )
        return score_texts(ngrams, texts["test"], "test")
    model = fit_language_model(
        texts["train"],
        texts["dev"],
        recipe=job.recipe,
        language=job.language,
        name=job.edition,
        device=job.device,
        seed=job.seed,
        log_path=job.log_path,
        directory=job.model_folder,
        report=report,
    )
    return score_texts(model, texts["test"], "test")


def score_texts(model: AnyModel, texts: pd.Series, part: str) -> JobResult:
    """Score texts, and add to the model's cautions one about their rate of unknown characters."""
    rate = caution_about_rates({part: model.alphabet.out_of_alphabet_rate(texts.to_list())})
    return JobResult(surprisals=model.surprisal(texts), cautions=(*model.cautions, *filter(None, [rate])))


def job_key(job: Job, texts: Mapping[str, pd.Series]) -> dict[str, Any]:
    """Return everything that the surprisals depend on, as JSON gives it back; of the device only its precision."""
    key = {
        "edition": job.edition,
        "language": job.language,
        "recipe": asdict(job.recipe) | {"min_count": job.recipe.minimum_count(job.language)},
        "precision": training_precision(job.recipe, find_device(job.device)),
        "seed": job.seed,
        "group": job.group,
        "texts": {part: hash_texts(series) for part, series in texts.items()},
        "versions": {
            "langdiff": __version__,
            "sentencepiece": sentencepiece.__version__,
            "torch": str(torch.__version__),
            **_versions_of_units(job.recipe),
        },
    }
    return cast(dict[str, Any], json.loads(json.dumps(key)))  # no tuples


def _versions_of_units(recipe: AnyRecipe) -> dict[str, str]:
    """Name the library that cuts the text, where it is not everyone's."""
    if isinstance(recipe, KneserNeyRecipe):
        return {}
    libraries = {"graphemes": "regex", "subword-nmt": "subword-nmt"}
    used = [libraries[kind] for kind in (recipe.units, recipe.bpe_backend) if kind in libraries]
    try:
        return {library: version(library) for library in used}
    except PackageNotFoundError as error:
        raise MissingExtraError(f"{error.name} is not installed: pip install 'langdiff[{error.name}]'.") from error


def _read_result(folder: Path, key: dict[str, Any], texts: pd.Series) -> JobResult | None:
    """Return what an earlier run left, if it is whole and of the same key."""
    table = folder / _TABLE
    try:
        if not table.is_file() or _read_key(folder) != key:
            return None
        cautions = tuple(json.loads((folder / "cautions.json").read_text(encoding="utf-8")))
        frame = pd.read_parquet(table)[_COLUMNS].set_axis(texts.index).assign(**sizes_of(texts))
        record = JobRecord(key=key, compute=_read_compute(folder))
    except (OSError, ValueError, KeyError) as error:  # pyarrow's and JSON's errors are ValueErrors
        logger.warning("%s: damaged (%s); training again", folder, error)
        return None
    return JobResult(surprisals=frame, cautions=cautions, record=record)


def read_record(cache: Path, edition: str, recipe: str) -> JobRecord:
    """Return what the finished model of a job depends on.

    Raises
    ------
    CheckpointError
        If it cannot be read.
    """
    folder = job_folder(cache, edition, recipe)
    try:
        return JobRecord(key=_read_key(folder), compute=_read_compute(folder))
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{folder}: its key cannot be read ({error}). Train it again.") from error


def _read_compute(folder: Path) -> str | None:
    path = folder / _COMPUTE
    return str(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else None


def _read_key(folder: Path) -> Any:
    return json.loads((folder / "key.json").read_text(encoding="utf-8"))


def _make_ready(folder: Path, key: dict[str, Any]) -> None:
    """Remove what another key left, or a kill in the middle of a file; then write the key."""
    stale = [folder / _TABLE, *folder.glob("**/.*.part")]
    try:
        same = _read_key(folder) == key
    except (OSError, ValueError):
        same = False
    if not same:
        stale += [folder / LOG, *folder.glob(f"{_MODEL}/*")]
    for path in stale:
        path.unlink(missing_ok=True)
    write_text(folder / "key.json", json.dumps(key, ensure_ascii=False, indent=1))


def _write_result(folder: Path, result: JobResult) -> None:
    """Write the surprisals last: where they are, the job is done."""
    write_text(folder / "cautions.json", json.dumps(result.cautions, ensure_ascii=False, indent=1))
    frame = result.surprisals
    intents = pd.Series(frame.index.map(str), name="intent")
    with atomic_path(folder / _TABLE) as temporary:
        pd.concat([intents, frame.reset_index(drop=True)], axis=1).to_parquet(temporary, index=False)


def read_job_states(cache: str | Path) -> pd.DataFrame:
    """List the jobs in a cache of `langdiff.compute_surprisals`.

    Parameters
    ----------
    cache : str or Path
        Its folder; may be empty or not there yet.

    Returns
    -------
    DataFrame, one row a job
        ``edition``, ``lm``, ``state`` (``"done"`` or ``"unfinished"``: running or interrupted),
        ``epochs`` trained, best ``dev_bits_per_character`` so far and ``seconds`` spent.
    """
    rows = []
    for key in sorted(Path(cache).glob("*/*/key.json")):
        folder = key.parent
        done = (folder / _TABLE).is_file()
        log = read_log(folder / LOG)
        rows.append(
            {
                "edition": unquote(folder.parent.name),
                "lm": unquote(folder.name),
                "state": "done" if done else "unfinished",
                "epochs": len(log),
                "dev_bits_per_character": min((e["dev_bits_per_character"] for e in log), default=float("nan")),
                "seconds": sum(e["seconds"] for e in log),
            }
        )
    columns = ["edition", "lm", "state", "epochs", "dev_bits_per_character", "seconds"]
    return pd.DataFrame(rows, columns=columns)
