"""What makes a language hard: predictors, and tests of them against difficulties.

The names below are loaded when first used.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what type checkers and editors see; `_HOME` is what happens
    from langdiff.typology._adjust import adjust, benjamini_hochberg
    from langdiff.typology._association import correlation
    from langdiff.typology._categories import category_means, compare_categories
    from langdiff.typology._correlate import correlate
    from langdiff.typology._correlations import Correlations
    from langdiff.typology._draws import PropagatedCorrelations, propagate_errors
    from langdiff.typology._family import mixed_slope, permute_within_families
    from langdiff.typology._lang2vec import lang2vec_features
    from langdiff.typology._lexicon import morphological_counting_complexity, read_unimorph
    from langdiff.typology._power import detectable_correlation, power_of_correlation
    from langdiff.typology._predictors import Predictors, predictors
    from langdiff.typology._regression import MultipleRegression, regress
    from langdiff.typology._text import compressed_bits, count_words, separates_words, type_token_ratio, unigram_entropy
    from langdiff.typology.wals import Wals, read_wals

_HOME = {
    "Correlations": "_correlations",
    "MultipleRegression": "_regression",
    "Predictors": "_predictors",
    "PropagatedCorrelations": "_draws",
    "Wals": "wals",
    "adjust": "_adjust",
    "benjamini_hochberg": "_adjust",
    "category_means": "_categories",
    "compare_categories": "_categories",
    "compressed_bits": "_text",
    "correlate": "_correlate",
    "correlation": "_association",
    "count_words": "_text",
    "detectable_correlation": "_power",
    "lang2vec_features": "_lang2vec",
    "mixed_slope": "_family",
    "morphological_counting_complexity": "_lexicon",
    "permute_within_families": "_family",
    "power_of_correlation": "_power",
    "predictors": "_predictors",
    "propagate_errors": "_draws",
    "read_unimorph": "_lexicon",
    "read_wals": "wals",
    "regress": "_regression",
    "separates_words": "_text",
    "type_token_ratio": "_text",
    "unigram_entropy": "_text",
}

__all__ = [
    "Correlations",
    "MultipleRegression",
    "Predictors",
    "PropagatedCorrelations",
    "Wals",
    "adjust",
    "benjamini_hochberg",
    "category_means",
    "compare_categories",
    "compressed_bits",
    "correlate",
    "correlation",
    "count_words",
    "detectable_correlation",
    "lang2vec_features",
    "mixed_slope",
    "morphological_counting_complexity",
    "permute_within_families",
    "power_of_correlation",
    "predictors",
    "propagate_errors",
    "read_unimorph",
    "read_wals",
    "regress",
    "separates_words",
    "type_token_ratio",
    "unigram_entropy",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'langdiff.typology' has no attribute {name!r}")
    return getattr(importlib.import_module(f"langdiff.typology.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
