"""Open-vocabulary language models and the surprisal of texts under them.

The names below are loaded when first used: importing this package does not import torch.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what type checkers and editors see; `_HOME` is what happens
    from langdiff.lm._jobs import read_job_states
    from langdiff.lm._logs import read_training_logs
    from langdiff.lm._scoring import find_device
    from langdiff.lm._surprisals import compute_surprisals, score_multitext
    from langdiff.lm._training import train_language_model
    from langdiff.lm.alphabet import Alphabet
    from langdiff.lm.awd_lstm import AWDLSTM
    from langdiff.lm.byte_units import ByteUnits
    from langdiff.lm.compression import lzma_bits
    from langdiff.lm.grapheme_units import GraphemeUnits
    from langdiff.lm.huggingface import HuggingFaceLM
    from langdiff.lm.kneser_ney import KneserNey
    from langdiff.lm.kneser_ney_model import KneserNeyModel, load_kneser_ney, train_kneser_ney
    from langdiff.lm.language_model import Epoch, LanguageModel, load_language_model
    from langdiff.lm.marginal import marginal_surprisal
    from langdiff.lm.ngrams import KneserNeyRecipe, ScoredLM, find_lm, find_scored_lm
    from langdiff.lm.presets import RECIPES, Recipe, find_recipe
    from langdiff.lm.protocol import SurprisalModel, surprisals_of
    from langdiff.lm.scoring_options import Scoring
    from langdiff.lm.subword_nmt import SubwordNMTUnits
    from langdiff.lm.units import BPEUnits, CharacterUnits, Units

_HOME = {
    "AWDLSTM": "awd_lstm",
    "Alphabet": "alphabet",
    "BPEUnits": "units",
    "ByteUnits": "byte_units",
    "CharacterUnits": "units",
    "Epoch": "language_model",
    "GraphemeUnits": "grapheme_units",
    "HuggingFaceLM": "huggingface",
    "KneserNey": "kneser_ney",
    "KneserNeyModel": "kneser_ney_model",
    "KneserNeyRecipe": "ngrams",
    "LanguageModel": "language_model",
    "RECIPES": "presets",
    "Recipe": "presets",
    "ScoredLM": "ngrams",
    "Scoring": "scoring_options",
    "SubwordNMTUnits": "subword_nmt",
    "SurprisalModel": "protocol",
    "Units": "units",
    "compute_surprisals": "_surprisals",
    "find_device": "_scoring",
    "find_lm": "ngrams",
    "find_recipe": "presets",
    "find_scored_lm": "ngrams",
    "load_kneser_ney": "kneser_ney_model",
    "load_language_model": "language_model",
    "marginal_surprisal": "marginal",
    "lzma_bits": "compression",
    "read_job_states": "_jobs",
    "read_training_logs": "_logs",
    "score_multitext": "_surprisals",
    "surprisals_of": "protocol",
    "train_kneser_ney": "kneser_ney_model",
    "train_language_model": "_training",
}

__all__ = [
    "AWDLSTM",
    "RECIPES",
    "Alphabet",
    "BPEUnits",
    "ByteUnits",
    "CharacterUnits",
    "Epoch",
    "GraphemeUnits",
    "HuggingFaceLM",
    "KneserNey",
    "KneserNeyModel",
    "KneserNeyRecipe",
    "LanguageModel",
    "Recipe",
    "ScoredLM",
    "Scoring",
    "SubwordNMTUnits",
    "SurprisalModel",
    "Units",
    "compute_surprisals",
    "find_device",
    "find_lm",
    "find_recipe",
    "find_scored_lm",
    "load_kneser_ney",
    "load_language_model",
    "lzma_bits",
    "marginal_surprisal",
    "read_job_states",
    "read_training_logs",
    "score_multitext",
    "surprisals_of",
    "train_kneser_ney",
    "train_language_model",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'langdiff.lm' has no attribute {name!r}")
    return getattr(importlib.import_module(f"langdiff.lm.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
