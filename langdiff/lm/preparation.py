"""What is done to a text before a language model sees it, noted beside the models so that scoring does the same."""

import warnings
from pathlib import Path

from langdiff.base.io import parse_json, write_json
from langdiff.base.types import Tokenization
from langdiff.errors import CheckpointError, ConfigError, LangdiffWarning

NOTE = "preparation.json"


def note_preparation(models: Path, tokenization: Tokenization) -> None:
    """Note how the texts of a folder of language models were prepared.

    Raises
    ------
    ConfigError
        If the folder holds models whose texts were prepared otherwise.
    OutputError
        If the note cannot be written.

    Warns
    -----
    LangdiffWarning
        If there is a note that cannot be read.
    """
    try:
        known = read_preparation(models) if (models / NOTE).is_file() else tokenization
    except CheckpointError as error:  # models of other texts are not used, whatever the note says
        warnings.warn(f"{error} The note is written again.", LangdiffWarning, stacklevel=2)
        known = tokenization
    if known != tokenization:
        raise ConfigError(
            f"{models}: holds models of text whose tokenization was {known!r}, not {tokenization!r}. "
            "Use another folder."
        )
    write_json(models / NOTE, {"tokenization": tokenization})


def read_preparation(models: Path) -> Tokenization:
    """Return how the texts of a folder of language models were prepared.

    Raises
    ------
    CheckpointError
        If there is no such note, or it cannot be read.
    """
    try:
        noted = parse_json((models / NOTE).read_text(encoding="utf-8"))["tokenization"]
    except OSError as error:
        if folds := sorted(path.name for path in models.glob("fold-*")):
            raise CheckpointError(
                f"{models}: holds the models of {len(folds)} folds. Name one of them, such as {models / folds[0]}; it "
                "has learned from all texts but those of that fold."
            ) from error
        raise CheckpointError(
            f"{models / NOTE}: cannot be read ({error.strerror}). Name a folder that `langdiff train` wrote, or "
            "jobs/ of a run."
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise CheckpointError(f"{models / NOTE}: damaged ({error}). Train the models again.") from error
    if noted not in ("reversible", "as-is"):
        raise CheckpointError(f"{models / NOTE}: unknown tokenization {noted!r}; written by another version?")
    return "reversible" if noted == "reversible" else "as-is"
