"""Open-vocabulary language models and the surprisal of texts under them.

The names below are loaded when first used: importing this package does not import torch.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what type checkers and editors see; `_HOME` is what happens
    from langdiff.lm.compute import compute_surprisals, score_multitext
    from langdiff.lm.external.compression import lzma_bits
    from langdiff.lm.external.huggingface import HuggingFaceLM
    from langdiff.lm.external.protocol import SurprisalModel, surprisals_of
    from langdiff.lm.jobs.job import read_job_states
    from langdiff.lm.jobs.logs import read_training_logs
    from langdiff.lm.lstm.model import Epoch, LanguageModel, load_language_model
    from langdiff.lm.lstm.network import AWDLSTM
    from langdiff.lm.lstm.scoring import find_device
    from langdiff.lm.lstm.training import train_language_model
    from langdiff.lm.marginal import marginal_surprisal
    from langdiff.lm.ngram.kneser_ney import KneserNey
    from langdiff.lm.ngram.model import KneserNeyModel, load_kneser_ney, train_kneser_ney
    from langdiff.lm.ngram.recipe import KneserNeyRecipe, ScoredLM, find_lm, find_scored_lm
    from langdiff.lm.recipes import RECIPES, Recipe, find_recipe
    from langdiff.lm.scoring import Scoring
    from langdiff.lm.units.alphabet import Alphabet
    from langdiff.lm.units.bytes import ByteUnits
    from langdiff.lm.units.graphemes import GraphemeUnits
    from langdiff.lm.units.subword_nmt import SubwordNMTUnits
    from langdiff.lm.units.subwords import BPEUnits, CharacterUnits, Units

_HOME = {
    "AWDLSTM": "lstm.network",
    "Alphabet": "units.alphabet",
    "BPEUnits": "units.subwords",
    "ByteUnits": "units.bytes",
    "CharacterUnits": "units.subwords",
    "Epoch": "lstm.model",
    "GraphemeUnits": "units.graphemes",
    "HuggingFaceLM": "external.huggingface",
    "KneserNey": "ngram.kneser_ney",
    "KneserNeyModel": "ngram.model",
    "KneserNeyRecipe": "ngram.recipe",
    "LanguageModel": "lstm.model",
    "RECIPES": "recipes",
    "Recipe": "recipes",
    "ScoredLM": "ngram.recipe",
    "Scoring": "scoring",
    "SubwordNMTUnits": "units.subword_nmt",
    "SurprisalModel": "external.protocol",
    "Units": "units.subwords",
    "compute_surprisals": "compute",
    "find_device": "lstm.scoring",
    "find_lm": "ngram.recipe",
    "find_recipe": "recipes",
    "find_scored_lm": "ngram.recipe",
    "load_kneser_ney": "ngram.model",
    "load_language_model": "lstm.model",
    "marginal_surprisal": "marginal",
    "lzma_bits": "external.compression",
    "read_job_states": "jobs.job",
    "read_training_logs": "jobs.logs",
    "score_multitext": "compute",
    "surprisals_of": "external.protocol",
    "train_kneser_ney": "ngram.model",
    "train_language_model": "lstm.training",
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
