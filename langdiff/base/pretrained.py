"""Models and tokenizers of the Transformers library, from local folders."""

from pathlib import Path
from typing import Any

from safetensors import SafetensorError

from langdiff.base.types import import_extra
from langdiff.errors import CheckpointError


def load_local(kind: str, path: Path, *, download: bool = False, **settings: Any) -> Any:
    """Load with a class of Transformers, from a local folder unless told otherwise, without progress bars."""
    transformers = import_extra("transformers", "Transformers is not installed: pip install 'langdiff[hf]'.")
    if not path.is_dir() and not download:
        raise CheckpointError(
            f"{path}: no such folder. Give a local folder of a model; nothing is downloaded unless download=True."
        )
    logs = transformers.utils.logging
    shown = logs.is_progress_bar_enabled()
    logs.disable_progress_bar()
    try:
        return getattr(transformers, kind).from_pretrained(
            str(path), local_files_only=not download, trust_remote_code=False, **settings
        )
    except (OSError, ValueError, KeyError, RuntimeError, ImportError, SafetensorError) as error:
        reason = str(error).strip().split("\n")[0]
        raise CheckpointError(f"{path}: cannot be loaded by {kind}: {reason}") from error
    finally:
        if shown:
            logs.enable_progress_bar()
