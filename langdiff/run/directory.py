"""The run directory: one owner at a time, and a record of what made its contents."""

import json
import os
import platform
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from langdiff._io import write_text
from langdiff.errors import OutputError

EXPERIMENT = "experiment.json"
MANIFEST = "manifest.json"
JOBS = "jobs"  # language models, one folder an edition
RECORDED = ("langdiff", "torch", "sentencepiece", "numpy", "scipy", "pandas", "PuLP", "highspy")


@contextmanager
def own_directory(directory: Path) -> Iterator[None]:
    """Make the directory if need be and keep other processes out of it.

    Raises
    ------
    OutputError
        If it cannot be made or written to, holds something other than a run, or another process
        is using it.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        others = [entry.name for entry in directory.iterdir() if not entry.name.startswith(".")]
        if others and EXPERIMENT not in others:
            raise OutputError(
                f"{directory}: not empty and not a run directory (it has no {EXPERIMENT}). "
                "Choose another, or a new name."
            )
        lock = FileLock(directory / ".lock")
        lock.acquire(timeout=0)
    except Timeout as error:
        raise OutputError(
            f"{directory}: another process is using this run directory. Wait for it, or choose another."
        ) from error
    except OutputError:
        raise
    except OSError as error:
        raise OutputError(f"{directory}: cannot be written: {error.strerror or error}.") from error
    try:
        yield
    finally:
        lock.release()


def write_json(path: Path, content: Any) -> None:
    """Write JSON atomically."""
    write_text(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def environment() -> dict[str, Any]:
    """Return what a reader needs to judge the figures: versions, hardware, code revision, date."""
    import torch

    gpu = torch.cuda.get_device_name(0) if torch.cuda.is_available() else None
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "versions": {name: metadata.version(name) for name in RECORDED},
        "machine": {"system": platform.platform(), "cores": os.cpu_count(), "gpu": gpu},
        "git": _git_revision(),
    }


def _git_revision() -> str | None:
    """Revision of the code that runs, if it runs from a git checkout of its own."""
    root = Path(__file__).parents[2]
    if not (root / ".git").exists():
        return None
    command = ["git", "-C", str(root), "describe", "--always", "--dirty"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None
