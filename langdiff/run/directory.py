"""The run directory: ownership by one process, publication of results, provenance, log and warnings."""

import json
import logging
import os
import platform
import re
import shutil
import subprocess
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import langdiff
from langdiff.base.addresses import address_of
from langdiff.base.checksums import CHECKSUMS, hash_files, read_checksums, write_checksums
from langdiff.base.io import locked, parse_json, remove
from langdiff.errors import DataError, EditionWarning, LangdiffWarning, OutputError, warn
from langdiff.lm.jobs.folder import fold_cache
from langdiff.tables.multitext import Multitext

LOG = "run.jsonl"
EXPERIMENT = "experiment.json"
MANIFEST = "manifest.json"
REPORT = "report.html"
STAGE = ".new"
EDITIONS = "tables/editions.csv"
PRESENCE = "tables/presence.csv"
JOBS = "jobs"  # language models, one folder per edition, or in each of several folds
SCORED = "scored"  # what a given language model made of each edition
KEPT_BASELINES = f"{JOBS}/baselines.json"  # by edition, with the hash of all that they depend on
FORMAT_VERSION = 1  # of the manifest and of what it is the manifest of


def check_directory(directory: Path) -> None:
    """Refuse a directory that holds something other than a run."""
    others = [path.name for path in directory.glob("[!.]*") if path.name != LOG]
    if others and EXPERIMENT not in others:
        raise OutputError(
            f"{directory}: not empty, but without {EXPERIMENT} it is not a run directory. Choose a new name."
        )


@contextmanager
def own_directory(directory: Path) -> Iterator[None]:
    """Create the directory if it is missing and lock it against other processes."""
    check_directory(directory)
    with locked(directory, "using this run directory. Wait for it, or choose another."):
        yield


@contextmanager
def staged(directory: Path) -> Iterator[Path]:
    """Create an empty folder for the output of a run, next to that of an earlier run; it is removed at the end.

    After an error or an interruption, settings and editions stay in it until the next run.
    """
    stage = directory / STAGE
    try:
        shutil.rmtree(stage, ignore_errors=True)  # left by a process that was killed
        for part in directory.glob(".*.part"):
            part.unlink(missing_ok=True)
        stage.mkdir(exist_ok=True)
    except OSError as error:
        raise OutputError(f"{stage}: cannot be written: {error.strerror or error}.") from error
    try:
        yield stage
    except BaseException:
        for path in superfluous(stage):
            path.unlink(missing_ok=True)
        raise
    shutil.rmtree(stage, ignore_errors=True)


def superfluous(stage: Path) -> list[Path]:
    """Return the files of an interrupted run that are not needed any more; its settings and editions are kept."""
    needed = (stage / EXPERIMENT, stage / EDITIONS)
    return [path for path in sorted(stage.rglob("*")) if path.is_file() and path not in needed]


def publish(stage: Path, directory: Path, stale: Iterable[str]) -> None:
    """Replace the files of an earlier run by all files of a stage.

    The checksums, by which a run is known to be finished, are removed first and written last, so that a mixture
    of two runs is never read as one.
    """
    new = sorted(path.relative_to(stage) for path in stage.rglob("*") if path.is_file())
    write_checksums(stage, [path.as_posix() for path in new])
    old = {path.relative_to(directory) for pattern in stale for path in directory.glob(pattern)}
    try:
        for path in (Path(CHECKSUMS), Path(MANIFEST)):
            remove(directory / path)
        for path in old.difference(new):
            remove(directory / path)
        for path in (*new, Path(CHECKSUMS)):
            (directory / path).parent.mkdir(parents=True, exist_ok=True)
            if (directory / path).is_dir():
                remove(directory / path)
            (stage / path).replace(directory / path)
    except OSError as error:
        raise OutputError(f"{error.filename}: cannot be replaced: {error.strerror or error}.") from error


def is_published(manifest: Mapping[str, Any], stage: Path, directory: Path, *, trained: Iterable[str]) -> bool:
    """Return whether a finished run already has all files of a stage, undamaged."""
    try:
        known = read_checksums(directory)
        old = parse_json(known.read(MANIFEST).decode())
    except (DataError, ValueError):  # not finished, or damaged
        return False
    new = {path.relative_to(stage).as_posix(): path for path in stage.rglob("*") if path.is_file()}
    drawn = {name for name in known.files if name == REPORT or name.startswith("figures/")}
    return (
        REPORT in drawn
        and _lasting(old, trained) == _lasting(parse_json(json.dumps(manifest)), trained)
        and set(new) == set(known.files) - drawn
        and all(hash_files(path) == known.files[name] for name, path in new.items() if name != MANIFEST)
        and not known.damage()
    )


def _lasting(manifest: Mapping[str, Any], trained: Iterable[str]) -> dict[str, Any]:
    """Return the contents of a manifest without the times of the run."""
    changing = {
        "date": "",
        "seconds": {lm: manifest["seconds"].get(lm) for lm in trained},
        "selection": re.sub(r", in [\d.]+ s", "", manifest["selection"] or ""),
    }
    return {**manifest, **changing}


def caches(directory: Path, folds: int | None) -> list[Path]:
    """Return the folders in which the language models of a run lie, one per fold."""
    jobs = directory / JOBS
    return [jobs] if folds is None else [fold_cache(jobs, number) for number in range(1, folds + 1)]


def is_finished(directory: Path) -> bool:
    """Return whether a folder holds the results of a run."""
    return (directory / CHECKSUMS).is_file()


def environment() -> dict[str, Any]:
    """Return the version of the format, versions of all packages used, hardware, revision of the code, and date."""
    gpu = None
    with suppress(ModuleNotFoundError):  # n-grams do without
        import torch

        gpu = torch.cuda.get_device_name(0) if torch.cuda.is_available() else None
    return {
        "format_version": FORMAT_VERSION,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "versions": versions(),
        "machine": {"system": platform.platform(), "cores": os.cpu_count(), "gpu": gpu},
        "git": _git_revision(),
    }


@cache
def versions() -> dict[str, str]:
    """Return the versions of this package and of all that it depends on, optional ones where they are installed."""
    found = {"langdiff": langdiff.__version__}
    for requirement in metadata.requires("langdiff") or []:
        name = re.split(r"[^\w.-]", requirement, maxsplit=1)[0]
        if re.search(r"extra == .(dev|docs|all)\b", requirement):  # no result depends on these
            continue
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def _git_revision() -> str | None:
    """Return the revision of the running code, if it runs from its own git checkout."""
    root = Path(__file__).parents[2]
    if not (root / ".git").exists():
        return None
    command = ["git", "-C", str(root), "describe", "--always", "--dirty"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def hash_editions(multitext: Multitext) -> dict[Hashable, str]:
    """Return the SHA-256 of each edition's file, of its zip archive, or of all files in its folder."""
    if "path" not in multitext.edition_info:
        return {}
    paths = multitext.edition_info["path"].dropna()
    known = dict(multitext.edition_info.get("sha256", {}))  # of files elsewhere
    return {
        edition: str(known[edition]) if address_of(path) else hash_files(_archive_of(Path(path)))
        for edition, path in paths.items()
    }


def files_of(multitext: Multitext) -> dict[Hashable, str]:
    """Return the absolute path of what each edition was read from, but for addresses."""
    paths: Any = multitext.edition_info["path"].dropna() if "path" in multitext.edition_info else {}
    return {edition: str(_archive_of(Path(path)).absolute()) for edition, path in paths.items() if not address_of(path)}


def _archive_of(path: Path) -> Path:
    return next((folder for folder in path.parents if folder.suffix.lower() == ".zip" and folder.is_file()), path)


class RunLog:
    """Adds lines to the log of a run directory.

    What cannot be written is left out: a log must not end a run, and a full disk is told elsewhere.

    Parameters
    ----------
    directory : Path
        The run directory.
    """

    def __init__(self, directory: Path) -> None:
        self._path = directory / LOG
        with suppress(OSError):
            if self._path.is_file() and not self._path.read_bytes().endswith(b"\n"):  # cut by a kill
                with self._path.open("ab") as stream:
                    stream.write(b"\n")

    def add(self, event: str, **facts: Any) -> None:
        """Append a line with time, event and its details."""
        entry = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "event": event, **facts}
        with suppress(OSError), self._path.open("a", encoding="utf-8", newline="\n") as stream:
            stream.write(json.dumps(entry, ensure_ascii=False) + "\n")

    @contextmanager
    def of_run(self, name: str) -> Iterator[None]:
        """Log begin and end of a run, and inside the block the warnings of Python and of this package's loggers."""
        self.add("begin", name=name, version=langdiff.__version__, process=os.getpid())
        handler = _Handler(self)
        logger = logging.getLogger("langdiff")
        logger.addHandler(handler)
        try:
            with warnings.catch_warnings():
                self._copy_warnings()
                yield
        except BaseException as error:
            interrupted = not isinstance(error, Exception)
            self.add("end", state="interrupted" if interrupted else "failed", error=str(error) or type(error).__name__)
            raise
        finally:
            logger.removeHandler(handler)
        self.add("end", state="finished")

    def _copy_warnings(self) -> None:
        show = warnings.showwarning

        def both(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            self.add("warning", message=str(message), kind=category.__name__)
            show(message, category, *where, **more)

        warnings.showwarning = both


class _Handler(logging.Handler):
    """Copies warnings and errors of loggers."""

    def __init__(self, log: RunLog) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        if edition := getattr(record, "edition", None):  # of `langdiff.lm.jobs.workers`, as soon as it fails
            self._log.add("failure", lm=getattr(record, "lm", ""), edition=edition, error=record.getMessage())
            return
        self._log.add("warning" if record.levelno < logging.ERROR else "error", message=record.getMessage())


def read_run_log(directory: Path) -> list[dict[str, Any]]:
    """Return the lines of the log of a run, without lines that are cut off or damaged."""
    path = directory / LOG
    entries = []
    for line in path.read_bytes().split(b"\n") if path.is_file() else []:
        with suppress(ValueError):
            entry = json.loads(line)
            if isinstance(entry, dict):
                entries.append(entry)
    return entries


@contextmanager
def warned_once() -> Iterator[Callable[[str], AbstractContextManager[None]]]:
    """Collect the package's warnings until the block ends, then issue each once; other warnings pass."""
    found: dict[str, list[LangdiffWarning]] = {}
    try:
        yield lambda lm: _kept_in(found.setdefault(lm, []))
    finally:  # also where a later model ends in an error
        for message in _named(found):
            warn(message)  # where the block ends


@contextmanager
def _kept_in(kept: list[LangdiffWarning]) -> Iterator[None]:
    with warnings.catch_warnings():  # which also forgets what was given already: another model may say the same
        show = warnings.showwarning

        def keep(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if isinstance(message, LangdiffWarning):
                kept.append(message)
            else:
                show(message, category, *where, **more)

        warnings.showwarning = keep
        yield


def _named(found: dict[str, list[LangdiffWarning]]) -> Iterator[LangdiffWarning]:
    """Yield each warning once, with the names of its models unless all share it."""
    alike: dict[tuple[type[LangdiffWarning], str], dict[str, LangdiffWarning]] = {}
    for lm, messages in found.items():
        for message in messages:
            alike.setdefault((type(message), str(message)), {})[lm] = message
    for (kind, text), of_models in alike.items():
        message = next(iter(of_models.values()))
        if len(of_models) == len(found):
            yield message
        elif isinstance(message, EditionWarning):
            yield EditionWarning(*message.cautions, lms=tuple(of_models))
        else:
            yield kind(f"{', '.join(of_models)}: {text}")
