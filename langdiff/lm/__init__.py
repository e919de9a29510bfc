"""Open-vocabulary language models and the surprisal of texts under them.

The names below are loaded when first used: importing this package does not import torch.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what type checkers and editors see; `_HOME` is what happens
    from langdiff.lm._jobs import read_job_states
    from langdiff.lm._scoring import find_device
    from langdiff.lm._surprisals import compute_surprisals, score_multitext
    from langdiff.lm._training import train_language_model
    from langdiff.lm.alphabet import Alphabet
    from langdiff.lm.awd_lstm import AWDLSTM
    from langdiff.lm.language_model import Epoch, LanguageModel, load_language_model
    from langdiff.lm.presets import RECIPES, Recipe, find_recipe
    from langdiff.lm.units import BPEUnits, CharacterUnits, Units

_HOME = {
    "AWDLSTM": "awd_lstm",
    "Alphabet": "alphabet",
    "BPEUnits": "units",
    "CharacterUnits": "units",
    "Epoch": "language_model",
    "LanguageModel": "language_model",
    "RECIPES": "presets",
    "Recipe": "presets",
    "Units": "units",
    "compute_surprisals": "_surprisals",
    "find_device": "_scoring",
    "find_recipe": "presets",
    "load_language_model": "language_model",
    "read_job_states": "_jobs",
    "score_multitext": "_surprisals",
    "train_language_model": "_training",
}

__all__ = [
    "AWDLSTM",
    "RECIPES",
    "Alphabet",
    "BPEUnits",
    "CharacterUnits",
    "Epoch",
    "LanguageModel",
    "Recipe",
    "Units",
    "compute_surprisals",
    "find_device",
    "find_recipe",
    "load_language_model",
    "read_job_states",
    "score_multitext",
    "train_language_model",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'langdiff.lm' has no attribute {name!r}")
    return getattr(importlib.import_module(f"langdiff.lm.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
