"""Measure how hard languages are for language models, from texts that say the same thing.

The names below are loaded when first used, so that ``import langdiff`` is quick and does not
import torch.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what type checkers and editors see; `_HOME` is what happens
    from langdiff.corpora import (
        detokenize,
        read_frame,
        read_multitext,
        synthesize,
        tokenize,
        write_multitext,
    )
    from langdiff.effects import Contrast, Effects, as_effects, rank_probabilities
    from langdiff.experiments import (
        balance_by_origin,
        reproduce,
        run_balanced,
        split_by_origin,
        sweep_merges,
        translationese,
    )
    from langdiff.lm import (
        HuggingFaceLM,
        compute_surprisals,
        load_language_model,
        score_multitext,
        surprisals_of,
        train_language_model,
    )
    from langdiff.log_likelihoods import read_log_likelihoods
    from langdiff.multitext import Multitext, Parts
    from langdiff.provenance import Provenance
    from langdiff.regression import (
        DifficultyFit,
        compare,
        cross_validate,
        diagnose,
        fit,
        held_out_log_likelihood,
        sample,
        simulate,
    )
    from langdiff.run import run_experiment
    from langdiff.selection import Selection, pareto_front, select, split
    from langdiff.surprisals import Surprisals, read_surprisals
    from langdiff.treebanks import compare_treebanks, measure_treebanks, read_treebank
    from langdiff.typology import adjust, correlate, predictors

__version__ = "0.1.0"

_HOME = {
    "Multitext": "multitext",
    "Provenance": "provenance",
    "Surprisals": "surprisals",
    "read_surprisals": "surprisals",
    "read_log_likelihoods": "log_likelihoods",
    "read_multitext": "corpora",
    "read_frame": "corpora",
    "write_multitext": "corpora",
    "tokenize": "corpora",
    "detokenize": "corpora",
    "synthesize": "corpora",
    "Selection": "selection",
    "select": "selection",
    "pareto_front": "selection",
    "Parts": "multitext",
    "split": "selection",
    "compute_surprisals": "lm",
    "score_multitext": "lm",
    "surprisals_of": "lm",
    "HuggingFaceLM": "lm",
    "train_language_model": "lm",
    "load_language_model": "lm",
    "Contrast": "effects",
    "Effects": "effects",
    "as_effects": "effects",
    "rank_probabilities": "effects",
    "DifficultyFit": "regression",
    "compare": "regression",
    "cross_validate": "regression",
    "diagnose": "regression",
    "fit": "regression",
    "held_out_log_likelihood": "regression",
    "sample": "regression",
    "simulate": "regression",
    "balance_by_origin": "experiments",
    "run_balanced": "experiments",
    "split_by_origin": "experiments",
    "sweep_merges": "experiments",
    "translationese": "experiments",
    "adjust": "typology",
    "correlate": "typology",
    "run_experiment": "run",
    "reproduce": "experiments",
    "compare_treebanks": "treebanks",
    "measure_treebanks": "treebanks",
    "read_treebank": "treebanks",
    "predictors": "typology",
}

__all__ = [
    "Contrast",
    "DifficultyFit",
    "Effects",
    "HuggingFaceLM",
    "Multitext",
    "Parts",
    "Provenance",
    "Selection",
    "Surprisals",
    "__version__",
    "adjust",
    "as_effects",
    "balance_by_origin",
    "compare",
    "compare_treebanks",
    "compute_surprisals",
    "correlate",
    "cross_validate",
    "detokenize",
    "diagnose",
    "fit",
    "held_out_log_likelihood",
    "load_language_model",
    "measure_treebanks",
    "pareto_front",
    "predictors",
    "rank_probabilities",
    "read_frame",
    "read_log_likelihoods",
    "read_multitext",
    "read_surprisals",
    "read_treebank",
    "reproduce",
    "run_balanced",
    "run_experiment",
    "sample",
    "score_multitext",
    "select",
    "simulate",
    "split",
    "split_by_origin",
    "surprisals_of",
    "sweep_merges",
    "synthesize",
    "tokenize",
    "train_language_model",
    "translationese",
    "write_multitext",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'langdiff' has no attribute {name!r}")
    return getattr(importlib.import_module(f"langdiff.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
